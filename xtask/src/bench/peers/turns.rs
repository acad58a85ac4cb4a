//! Things done in turns, shuffled anew each time, so that whatever else the machine does hits all alike; and what is said of the times.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

/// How long processes may outlive what started them before the next turn.
const LONGEST_AFTER: Duration = Duration::from_secs(2);
/// Done and not counted: caches fill, and what is made once is made.
const WARM_UP: usize = 3;

/// Random numbers that are the same for the same seed (`SplitMix64`).
#[derive(Debug)]
pub(super) struct Shuffle(u64);

impl Shuffle {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The numbers below `count` in an order that is as likely as any other (Fisher and Yates).
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for at in (1..count).rev() {
            let other = self.next() % (at as u64 + 1);
            order.swap(at, usize::try_from(other).unwrap_or(0));
        }
        order
    }
}

/// Figures of one row, in the order in which they were taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures(Vec<f64>);

impl Figures {
    pub(super) fn push(&mut self, figure: f64) {
        self.0.push(figure);
    }

    pub(super) fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The least figure that so many of a hundred are not above (nearest rank).
    pub(super) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
    }
}

/// What one row took, in milliseconds, unless it measured something else itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Times {
    pub(super) wall: Figures,
    /// Of the processors, for all processes of it, also those that end after it: what a busy machine changes least.
    pub(super) processor: Figures,
    /// Why one of them did not do what it should; its row is then worth nothing.
    pub(super) failure: Option<String>,
}

/// What happens after each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// All that it left behind ends before the next one, and is not timed ([`adopt_orphans`]).
    WaitForOrphans,
    /// Nothing: some of the children last.
    Nothing,
}

/// Does each of so many things by turns. One that fails is not done again. One that measured itself says what it found, instead of being timed.
pub(super) fn in_turns(
    count: usize,
    runs: usize,
    shuffle: &mut Shuffle,
    after: After,
    mut run: impl FnMut(usize) -> anyhow::Result<Option<f64>>,
) -> Vec<Times> {
    let mut times = vec![Times::default(); count];
    for turn in 0..runs + WARM_UP {
        for at in shuffle.order(count) {
            let Some(times) = times.get_mut(at).filter(|times| times.failure.is_none()) else { continue };
            let processor = processor_time_of_children();
            let start = Instant::now();
            let result = run(at);
            let wall = milliseconds(start.elapsed());
            match after {
                After::WaitForOrphans => wait_for_orphans(),
                After::Nothing => {}
            }
            match result {
                Err(error) => times.failure = Some(format!("{error:#}")),
                Ok(own) if turn >= WARM_UP => {
                    times.wall.push(own.unwrap_or(wall));
                    let used = processor_time_of_children().saturating_sub(processor);
                    times.processor.push(milliseconds(used));
                }
                Ok(_) => {}
            }
        }
    }
    times
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Makes this process the parent of orphans, so that none of one turn is still at work in the next.
pub(super) fn adopt_orphans() -> nix::Result<()> {
    nix::sys::prctl::set_child_subreaper(true)
}

/// Until no child is left.
fn wait_for_orphans() {
    let start = Instant::now();
    while start.elapsed() < LONGEST_AFTER {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => std::thread::sleep(Duration::from_micros(100)),
            Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn processor_time_of_children() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else { return Duration::ZERO };
    [usage.user_time(), usage.system_time()]
        .into_iter()
        .map(|time| {
            let seconds = Duration::from_secs(time.tv_sec().try_into().unwrap_or(0));
            seconds + Duration::from_micros(time.tv_usec().try_into().unwrap_or(0))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: impl IntoIterator<Item = u32>) -> Figures {
        Figures(values.into_iter().map(f64::from).collect())
    }

    #[test]
    fn percentiles_are_figures_that_were_taken() {
        let hundred = figures((1..=100).rev());
        for percent in [1, 50, 90, 99, 100] {
            assert!((hundred.percentile(percent) - f64::from(u32::try_from(percent).unwrap())).abs() < 1e-9);
        }
        assert!((figures([3, 1, 2]).median() - 2.0).abs() < 1e-9);
        assert!((figures([4, 1, 2, 3]).median() - 2.0).abs() < 1e-9);
        assert!((figures([7]).percentile(90) - 7.0).abs() < 1e-9);
        assert!((figures([5, 9]).percentile(100) - 9.0).abs() < 1e-9);
        assert!(figures([]).median().is_nan());
    }

    #[test]
    fn a_shuffle_holds_everything_once_and_is_the_same_for_the_same_seed() {
        let orders = |seed| {
            let mut shuffle = Shuffle::new(seed);
            (0..20).map(|_| shuffle.order(9)).collect::<Vec<_>>()
        };
        for order in orders(1) {
            let mut sorted = order;
            sorted.sort_unstable();
            assert_eq!(sorted, (0..9).collect::<Vec<_>>());
        }
        assert_eq!(orders(1), orders(1));
        assert_ne!(orders(1), orders(2));
        assert!(orders(1).windows(2).any(|pair| pair[0] != pair[1]));
        assert!(Shuffle::new(1).order(0).is_empty());
    }

    #[test]
    fn each_is_done_as_often_as_the_others_and_one_that_fails_no_more() {
        let mut done = [0; 3];
        let times = in_turns(3, 10, &mut Shuffle::new(1), After::Nothing, |at| {
            done[at] += 1;
            match at {
                0 => Ok(Some(7.0)),
                1 if done[at] == 5 => anyhow::bail!("broken"),
                _ => Ok(None),
            }
        });
        assert_eq!(done, [13, 5, 13]);
        assert_eq!(times[0].wall.0, [7.0; 10]);
        assert_eq!(times[2].processor.0.len(), 10);
        assert_eq!(times[1].failure.as_deref(), Some("broken"));
        assert!(times[0].failure.is_none());
    }
}
