//! What a run prints, and where that goes.

/// Where output goes, besides the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputTarget {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To the same output of this program, as it is.
    Own,
    /// To the same output of this program, which is a terminal: what would control it is shown instead of done.
    Terminal,
    /// Into the result, as it is.
    Kept,
    /// To this program's standard error, as it is.
    Error,
}

/// What was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintedOutput {
    /// The bytes, where they were to be kept: the first of them, where only so many were.
    pub kept: Vec<u8>,
    /// How many there were in all.
    pub total: u64,
    /// How many of them were thrown away, for the limit.
    pub omitted: u64,
}
