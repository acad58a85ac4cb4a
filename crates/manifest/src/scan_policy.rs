//! The `scan` section of a user's policy: what the scanner is told by whom it works for, never by the skill it judges.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use skillsandbox_terms::FailOn;

use crate::diagnostic::{Code, DiagnosticSink, Fault, Spanned, lines_of, quoted};
use crate::domain::DomainPattern;
use crate::judge_policy::JudgePolicy;
use crate::raw;

/// What a policy says about scanning.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ScanPolicy {
    /// From which verdict on a scan is refused.
    pub fail_on: Option<FailOn>,
    /// Domains that no skill may name, nor anything below them.
    pub blocklist: Vec<String>,
    /// Sources whose skills may have any name; a `*` at the end stands for the rest.
    pub trusted_sources: Vec<String>,
    /// Names of system skills that others may not take.
    pub system_names: Vec<String>,
    /// Findings that somebody has looked at.
    pub suppressions: Vec<Suppression>,
    /// Who is asked for a second opinion, without being told to on the command line.
    pub judge: Option<JudgePolicy>,
}

impl ScanPolicy {
    pub(crate) fn lower(raw: &raw::ScanPolicy, sink: &mut DiagnosticSink, text: &str) -> Self {
        let fail_on = raw
            .fail_on
            .as_ref()
            .and_then(|word| sink.check(word, format_args!("scan.fail_on"), |w| w.parse()));
        let mut texts =
            |slots: &raw::Slots<Spanned<String>>, key: &str, check: fn(&str) -> Result<String, Fault>| {
                let checked =
                    sink.check_all(raw::entries(slots.as_ref()), &format!("scan.{key}"), |text| check(text));
                checked.into_iter().map(|text| text.value).collect()
            };
        let blocklist = texts(&raw.blocklist, "blocklist", domain);
        let trusted_sources = texts(&raw.trusted_sources, "trusted_sources", source);
        let system_names = texts(&raw.system_names, "system_names", |text| not_empty("name", text));
        let entries = || raw::entries(raw.suppressions.as_ref());
        let lines = lines_of(text, entries().map(|(_, entry)| entry.span.start));
        let suppressions = entries()
            .zip(lines)
            .filter_map(|((number, entry), line)| Suppression::lower(entry, number, line, sink))
            .collect();
        let fail_on = fail_on.map(|word| word.value);
        let judge = raw.judge.as_ref().map(|raw| JudgePolicy::lower(raw, sink));
        Self { fail_on, blocklist, trusted_sources, system_names, suppressions, judge }
    }
}

pub(crate) fn not_empty(what: &str, text: &str) -> Result<String, Fault> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Fault::new(Code::EmptyValue, format!("an empty {what}"))
            .help("write one, or leave the entry out"));
    }
    Ok(trimmed.to_owned())
}

/// A domain as blocklists have it: what lies below it is meant too.
fn domain(text: &str) -> Result<String, Fault> {
    if text.contains('*') {
        let fault = Fault::new(Code::InvalidWildcard, format!("{} is not a domain", quoted(text)));
        return Err(fault.help("write the domain alone; what lies below it is blocked with it"));
    }
    text.parse::<DomainPattern>().map(|domain| domain.to_string())
}

/// A source that is trusted whole would be every source.
fn source(text: &str) -> Result<String, Fault> {
    let source = not_empty("source", text)?;
    let stem = source.trim_end_matches('*');
    if stem.is_empty() || stem.contains('*') {
        let fault = Fault::new(Code::InvalidWildcard, format!("{} covers too much", quoted(text)));
        return Err(fault.help("write a source such as github:owner/*, with `*` only at its end"));
    }
    Ok(source)
}

/// A finding that somebody has looked at and lets stand: which, where, why, and until when.
///
/// It stays in the report and is marked there; it only stops counting for the verdict. A `skill` is a name, and a name is
/// what the skill says of itself; a `digest` holds for these bytes of a skill and no others, a `file_digest` for those of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Suppression {
    /// The rule (`CHECK-04/dns-exfil`), or a whole check (`CHECK-04`).
    pub rule: String,
    /// Only in the skill of this name.
    pub skill: Option<String>,
    /// Only in the skill with this digest, as its report has it.
    pub digest: Option<String>,
    /// Only in this file, or below this folder of the skill.
    pub path: Option<String>,
    /// Only while the file that the finding is in has this SHA-256.
    pub file_digest: Option<String>,
    /// Why it may stand.
    pub reason: String,
    /// The last day on which it holds.
    pub expires: Date,
    /// The line of the policy it stands in; 0 for one that no file holds.
    pub line: usize,
}

impl Suppression {
    /// A suppression that holds for every skill until it is narrowed by [`skill`](Self::skill), [`digest`](Self::digest) or
    /// [`path`](Self::path).
    pub fn new(rule: &str, reason: &str, expires: Date) -> Result<Self, Fault> {
        let reason = not_empty("reason", reason)?;
        let rule = rule_name(rule)?;
        Ok(Self { rule, skill: None, digest: None, path: None, file_digest: None, reason, expires, line: 0 })
    }

    /// Only in the skill of this name.
    pub fn skill(mut self, name: &str) -> Result<Self, Fault> {
        self.skill = Some(not_empty("name", name)?);
        Ok(self)
    }

    /// Only in the skill with this digest.
    pub fn digest(mut self, digest: &str) -> Result<Self, Fault> {
        self.digest = Some(hash(digest)?);
        Ok(self)
    }

    /// Only in this file, or below this folder.
    pub fn path(mut self, path: &str) -> Result<Self, Fault> {
        self.path = Some(prefix(path)?);
        Ok(self)
    }

    /// Only while the file that the finding is in has this SHA-256, in hexadecimal.
    pub fn file_digest(mut self, digest: &str) -> Result<Self, Fault> {
        self.file_digest = Some(hash(digest)?);
        Ok(self)
    }

    /// Whether it is about the same findings as another, whatever the reason and the last day.
    #[must_use]
    pub fn covers_same(&self, other: &Self) -> bool {
        let key = |entry: &Self| {
            let Self { rule, skill, digest, path, file_digest, reason: _, expires: _, line: _ } =
                entry.clone();
            (rule, skill, digest, path, file_digest)
        };
        key(self) == key(other)
    }

    fn lower(raw: &raw::Suppression, number: usize, line: usize, sink: &mut DiagnosticSink) -> Option<Self> {
        let at = |key: &str| format!("scan.suppressions[{number}].{key}");
        let mut check = |written: &Spanned<String>, key: &str, check: fn(&str) -> Result<String, Fault>| {
            sink.check(written, format_args!("{}", at(key)), |text| check(text)).map(|text| text.value)
        };
        let rule = check(&raw.rule, "rule", rule_name);
        let skill = raw.skill.as_ref().map(|text| check(text, "skill", |text| not_empty("name", text)));
        let digest = raw.digest.as_ref().map(|text| check(text, "digest", hash));
        let path = raw.path.as_ref().map(|text| check(text, "path", prefix));
        let file_digest = raw.file_digest.as_ref().map(|text| check(text, "file_digest", hash));
        let reason = check(&raw.reason, "reason", |text| not_empty("reason", text));
        let expires = sink.check(&raw.expires, format_args!("{}", at("expires")), |text| text.parse());
        // A narrowing that was refused must not leave a wider entry behind; the text is refused anyway.
        Some(Self {
            rule: rule?,
            skill: skill.map_or(Some(None), |text| text.map(Some))?,
            digest: digest.map_or(Some(None), |text| text.map(Some))?,
            path: path.map_or(Some(None), |text| text.map(Some))?,
            file_digest: file_digest.map_or(Some(None), |text| text.map(Some))?,
            reason: reason?,
            expires: expires?.value,
            line,
        })
    }
}

/// `CHECK-01` … `CHECK-08`, with or without a rule of it.
fn rule_name(text: &str) -> Result<String, Fault> {
    const HELP: &str =
        "write a rule as the report has it, such as CHECK-04/dns-exfil, or a check, such as CHECK-04";
    let (check, rule) = text.split_once('/').map_or((text, None), |(check, rule)| (check, Some(rule)));
    let number = check.strip_prefix("CHECK-0").filter(|rest| rest.len() == 1);
    let known = number.is_some_and(|rest| rest.bytes().all(|byte| (b'1'..=b'8').contains(&byte)));
    let word = |rule: &str| {
        !rule.is_empty() && rule.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    if known && rule.is_none_or(word) {
        return Ok(text.to_owned());
    }
    Err(Fault::new(Code::UnknownValue, format!("{} is not a rule", quoted(text))).help(HELP))
}

/// A digest as reports print it.
fn hash(text: &str) -> Result<String, Fault> {
    if text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        return Ok(text.to_owned());
    }
    let fault = Fault::new(Code::UnknownValue, format!("{} is not a digest", quoted(text)));
    Err(fault.help("copy `digest` from the report: 64 characters, 0 to 9 and a to f"))
}

/// A file or a folder below the skill's, named whole: no patterns, nothing that leads elsewhere.
fn prefix(text: &str) -> Result<String, Fault> {
    let path = text.strip_suffix('/').unwrap_or(text);
    let strange = |part: &str| matches!(part, "" | "." | "..");
    if path.split('/').any(strange) || path.contains(['*', '?', '[', ']', '{', '}', '\\']) {
        let fault =
            Fault::new(Code::InvalidPath, format!("{} is not a file or folder of a skill", quoted(text)));
        return Err(
            fault.help("write it from the skill's folder, such as tests/data; patterns are not understood")
        );
    }
    Ok(path.to_owned())
}

/// A day of the calendar, written as `2027-01-31` and in no other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(jiff::civil::Date);

impl Date {
    /// Today, in UTC: the same day wherever a policy is read.
    ///
    /// ```
    /// use skillsandbox_manifest::Date;
    ///
    /// assert!(Date::today() > "2026-01-01".parse()?);
    /// # Ok::<(), skillsandbox_manifest::Fault>(())
    /// ```
    #[must_use]
    pub fn today() -> Self {
        Self(jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date())
    }
}

impl Date {
    /// The day that comes this many days later; `None` where no calendar has it.
    #[must_use]
    pub fn after(self, days: u32) -> Option<Self> {
        self.0.checked_add(jiff::Span::new().try_days(days).ok()?).ok().map(Self)
    }
}

impl FromStr for Date {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        const HELP: &str = "write it as year-month-day, such as 2027-01-31";
        let no_date = || Fault::new(Code::WrongType, format!("{} is not a date", quoted(text))).help(HELP);
        let digits = |from: usize, to: usize| -> Option<u16> {
            let part = text.get(from..to)?;
            part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?
        };
        let dashes = text.len() == 10 && text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let parts = (digits(0, 4), digits(5, 7), digits(8, 10));
        let (true, (Some(year), Some(month), Some(day))) = (dashes, parts) else { return Err(no_date()) };
        // Four digits, two and two: only a day that does not exist is left to be refused.
        let number = |number: u16| i8::try_from(number).map_err(|_| no_date());
        let year = i16::try_from(year).map_err(|_| no_date())?;
        jiff::civil::Date::new(year, number(month)?, number(day)?)
            .map(Self)
            .map_err(|_| Fault::new(Code::OutOfRange, format!("there is no day {}", quoted(text))).help(HELP))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Date {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_that_exist() {
        for day in ["2026-01-31", "2024-02-29", "2000-02-29", "9999-12-31"] {
            assert_eq!(day.parse::<Date>().unwrap().to_string(), day);
        }
        for none in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
            "2026-1-1",
            "26-01-01",
            "2026-01-01T00:00:00Z",
            "2026/01/01",
            "+026-01-01",
            "2026-+1-01",
            "",
            "tomorrow",
            "２026-01-01",
            "2026-01-0é",
        ] {
            assert!(none.parse::<Date>().is_err(), "{none}");
        }
        let day = |text: &str| text.parse::<Date>().unwrap();
        assert!(day("2026-12-31") < day("2027-01-01") && day("2026-02-01") > day("2026-01-31"));
    }

    #[test]
    fn a_path_is_a_place_below_the_skill() {
        for (path, expected) in [("tests", "tests"), ("tests/", "tests"), ("a/b.md", "a/b.md")] {
            assert_eq!(prefix(path).unwrap(), expected);
        }
        for path in
            ["", "/", "/etc", "..", "a/../b", "a//b", "./a", "a/.", "*", "tests/*.md", "a\\b", "{a,b}", "a?"]
        {
            assert!(prefix(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_rule_is_one_of_eight_checks_or_below_it() {
        for rule in ["CHECK-01", "CHECK-08", "CHECK-04/dns-exfil"] {
            assert!(rule_name(rule).is_ok(), "{rule}");
        }
        for rule in [
            "",
            "CHECK",
            "CHECK-09",
            "CHECK-00",
            "check-01",
            "CHECK-01/",
            "CHECK-01/*",
            "CHECK-01/a/b",
            "*",
            "CHECK-011",
        ] {
            assert!(rule_name(rule).is_err(), "{rule}");
        }
    }
}
