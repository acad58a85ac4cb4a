//! What a program says to a destination before it is passed on.

pub(crate) mod http;
pub(crate) mod tls;

use crate::attempt::Reason;

/// How far the bytes that a gate was shown may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passage {
    /// So many of the bytes may be sent on. They are not shown again; the others are, with those that come after them.
    pub(crate) bytes: usize,
    /// Whatever comes from now on, in either direction, need not be shown.
    pub(crate) open: bool,
}

/// Most bytes that a gate may hold back.
pub(crate) const MOST_HELD: usize = 64 << 10;

pub(crate) type Judged = Result<Passage, Reason>;
