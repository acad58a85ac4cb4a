//! How busy other programs keep the machine, by what its processors did while nothing was measured.

use std::fs;
use std::time::Duration;

/// How long is looked.
const LOOK: Duration = Duration::from_secs(1);
/// In percent; more than this moves figures.
const MOST: u64 = 10;

/// What is said of figures that were taken on a busy machine.
pub(super) const BUSY: &str = "**Other programs kept the machine busy: of these figures only memory and the times on the \
                               processors compare, and whether targets of time are reached is not known.**";

/// Percent of the time of all processors, now.
pub(super) fn look() -> Option<u64> {
    let before = Processors::read()?;
    std::thread::sleep(LOOK);
    Processors::read()?.busy_since(&before)
}

/// Unknown counts as busy: a figure has to be known to be good.
pub(super) fn is_busy(percent: Option<u64>) -> bool {
    percent.is_none_or(|percent| percent > MOST)
}

/// Ticks since the start of the machine.
#[derive(Debug)]
struct Processors {
    all: u64,
    idle: u64,
}

impl Processors {
    fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line (`proc_stat(5)`): user, nice, system, idle, iowait, irq, softirq, steal; then guests, which are in user already.
    fn parse(text: &str) -> Option<Self> {
        let ticks = text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().take(8);
        let ticks: Vec<u64> = ticks.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self { all: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)? })
    }

    fn busy_since(&self, before: &Self) -> Option<u64> {
        let all = self.all.checked_sub(before.all)?;
        let idle = self.idle.checked_sub(before.idle)?;
        (all.saturating_sub(idle) * 100).checked_div(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_told_from_a_quiet_one() {
        let parse = |text: &str| Processors::parse(text).unwrap();
        let before = parse("cpu  100 0 100 1000 50 0 0 0 7 0\ncpu0 1 2 3\n");
        let quiet = parse("cpu  104 0 102 1190 54 0 0 0 7 0\n");
        assert_eq!(quiet.busy_since(&before), Some(3));
        let busy = parse("cpu  200 0 150 1040 60 0 0 0 7 0\n");
        assert_eq!(busy.busy_since(&before), Some(75));
        assert!(!is_busy(Some(3)) && !is_busy(Some(10)) && is_busy(Some(11)) && is_busy(None));
        assert_eq!(before.busy_since(&before), None);
        assert_eq!(before.busy_since(&quiet), None);
        for text in ["", "cpu  1 2 3\n", "cpu  1 2 x 4 5 6 7 8\n", "intr 1\n"] {
            assert!(Processors::parse(text).is_none(), "{text}");
        }
    }
}
