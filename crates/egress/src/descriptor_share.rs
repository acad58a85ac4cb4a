//! How many of the launching program's descriptors a run may take. They are the program's own: with none left, it could not even
//! start another run.

use nix::sys::resource::{Resource, getrlimit};

/// The most connections that are relayed at a time, and the most conversations of datagrams.
const MOST: usize = 256;

/// Enough for a browser's page, however few descriptors there are. Then they may all be taken.
const FEWEST: usize = 8;

/// What a run may have at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DescriptorShare {
    /// Each has two sockets.
    pub(crate) connections: usize,
    /// Each has one.
    pub(crate) flows: usize,
    /// Each has two ends. Connections without one copy.
    pub(crate) pipes: usize,
}

impl DescriptorShare {
    /// Half of what the launching program may have, or less.
    pub(crate) fn new() -> Self {
        let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((1024, 1024));
        Self::of(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    fn of(limit: usize) -> Self {
        let most = |part: usize| (limit / part).clamp(FEWEST, MOST);
        Self { connections: most(8), flows: most(8), pipes: most(16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_no_more_than_half() {
        for limit in [256, 1024, 4096, 1 << 20, usize::MAX] {
            let share = DescriptorShare::of(limit);
            assert!(share.connections * 2 + share.flows + share.pipes * 2 <= limit / 2, "{limit}: {share:?}");
        }
        assert_eq!(
            DescriptorShare::of(1 << 20),
            DescriptorShare { connections: MOST, flows: MOST, pipes: MOST }
        );
        assert_eq!(
            DescriptorShare::of(0),
            DescriptorShare { connections: FEWEST, flows: FEWEST, pipes: FEWEST }
        );
    }
}
