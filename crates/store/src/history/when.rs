//! Times as people type them.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Timestamp, Zoned};

/// Which end of a day is meant by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Its beginning: from this day on.
    Since,
    /// Its end: up to this day, and with it.
    Until,
}

/// A text that is no time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time; write a day (2026-01-31), a time (2026-01-31T10:30, 2026-01-31T10:30:00Z) or how long ago (90s, 30m, 2h, 7d, 2w)"
)]
pub struct NoTime(String);

/// The moment that a text means: a day or a time of the clock of `now`'s time zone, a timestamp with an offset, or how long before `now`.
///
/// ```
/// use skillsandbox_store::history::{Edge, moment};
///
/// let now: jiff::Zoned = "2026-02-01T12:00:00+00:00[UTC]".parse()?;
/// assert_eq!(moment("7d", &now, Edge::Since)?.to_string(), "2026-01-25T12:00:00Z");
/// assert_eq!(moment("2026-01-31", &now, Edge::Until)?.to_string(), "2026-02-01T00:00:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn moment(text: &str, now: &Zoned, edge: Edge) -> Result<Timestamp, NoTime> {
    let wrong = || NoTime(text.chars().take(60).collect());
    let text = text.trim();
    if let Some(ago) = ago(text) {
        return now.timestamp().checked_sub(ago).map_err(|_| wrong());
    }
    // With an offset, it is what it is wherever it is read.
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Ok(timestamp);
    }
    let zone = now.time_zone();
    let zoned = if text.contains([':', 'T', 't']) {
        let time: DateTime = text.parse().map_err(|_| wrong())?;
        zone.to_zoned(time)
    } else {
        let day: Date = text.parse().map_err(|_| wrong())?;
        let day = match edge {
            Edge::Since => day,
            Edge::Until => day.tomorrow().map_err(|_| wrong())?,
        };
        day.to_zoned(zone.clone())
    };
    Ok(zoned.map_err(|_| wrong())?.timestamp())
}

/// `90s`, `30m`, `2h`, `7d`, `2w`.
fn ago(text: &str) -> Option<SignedDuration> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let number = text.get(..text.len() - 1)?;
    if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    Some(SignedDuration::from_secs(number.parse::<i64>().ok()?.checked_mul(unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, edge: Edge) -> Option<String> {
        let now: Zoned = "2026-02-01T12:00:00+01:00[Europe/Oslo]".parse().unwrap();
        moment(text, &now, edge).ok().map(|moment| moment.to_string())
    }

    #[test]
    fn days_times_and_durations() {
        for (text, since, until) in [
            ("2024-01-31", "2024-01-30T23:00:00Z", "2024-01-31T23:00:00Z"),
            ("2024-01-31T10:30", "2024-01-31T09:30:00Z", "2024-01-31T09:30:00Z"),
            ("2024-01-31 10:30:05", "2024-01-31T09:30:05Z", "2024-01-31T09:30:05Z"),
            ("2024-01-31T10:30:00Z", "2024-01-31T10:30:00Z", "2024-01-31T10:30:00Z"),
            ("2024-01-31T10:30:00+05:00", "2024-01-31T05:30:00Z", "2024-01-31T05:30:00Z"),
            ("90s", "2026-02-01T10:58:30Z", "2026-02-01T10:58:30Z"),
            ("30m", "2026-02-01T10:30:00Z", "2026-02-01T10:30:00Z"),
            ("2h", "2026-02-01T09:00:00Z", "2026-02-01T09:00:00Z"),
            ("7d", "2026-01-25T11:00:00Z", "2026-01-25T11:00:00Z"),
            (" 2w ", "2026-01-18T11:00:00Z", "2026-01-18T11:00:00Z"),
        ] {
            assert_eq!(at(text, Edge::Since).as_deref(), Some(since), "{text}");
            assert_eq!(at(text, Edge::Until).as_deref(), Some(until), "{text}");
        }
    }

    #[test]
    fn nothing_else_is_a_time() {
        for text in [
            "",
            " ",
            "d",
            "-1d",
            "1.5h",
            "7 days ago",
            "2024-02-30",
            "2024-13-01",
            "yesterday",
            "99999999999999999999d",
            "9223372036854775807w",
            "99999999999w",
            "2024-01-31T25:00",
            "２d",
            "1d\n2",
            "9999-12-31x",
        ] {
            assert_eq!(at(text, Edge::Since), None, "{text}");
        }
        let long = "x".repeat(10_000);
        let now = Zoned::now();
        assert!(moment(&long, &now, Edge::Since).unwrap_err().to_string().len() < 300);
    }
}
