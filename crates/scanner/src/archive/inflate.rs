//! DEFLATE within bounds.

use flate2::{Decompress, FlushDecompress, Status};

use super::MAX_RATIO;

/// So much may be unpacked whatever it came from.
pub(super) const FREE: usize = 1 << 20;

/// What came out, and how it ended.
pub(super) struct InflatedBytes {
    pub(super) bytes: Vec<u8>,
    /// How many packed bytes were read.
    pub(super) read: usize,
    pub(super) end: StreamEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    /// The stream said that it was over.
    Complete,
    /// More would have come than may.
    TooLarge,
    /// Far more came out than went in.
    Bomb,
    /// The stream is wrong, or cut.
    Damaged,
}

impl StreamEnd {
    /// Why not everything was read.
    pub(super) fn reason(self) -> Option<&'static str> {
        match self {
            Self::Complete => None,
            Self::TooLarge => Some("too large"),
            Self::Bomb => Some("it unpacks to far more than it seems"),
            Self::Damaged => Some("damaged"),
        }
    }
}

/// Whether so much may not come from so little.
pub(super) fn is_bomb(out: usize, packed: usize) -> bool {
    out > FREE && out / MAX_RATIO > packed
}

/// Unpacks a raw stream, up to `limit` bytes.
pub(super) fn inflate(packed: &[u8], limit: usize) -> InflatedBytes {
    let mut state = Decompress::new(false);
    let mut chunk = vec![0; (32 << 10).min(packed.len() * 4 + 64)];
    let mut bytes = Vec::new();
    let mut read = 0;
    let end = loop {
        let before = state.total_out();
        let rest = packed.get(read..).unwrap_or_default();
        let status = state.decompress(rest, &mut chunk, FlushDecompress::None);
        let consumed = usize::try_from(state.total_in()).unwrap_or(usize::MAX);
        let stuck = consumed == read && state.total_out() == before;
        let made = usize::try_from(state.total_out() - before).unwrap_or(0);
        read = consumed;
        bytes.extend_from_slice(chunk.get(..made).unwrap_or_default());
        if bytes.len() > limit {
            bytes.truncate(limit);
            break StreamEnd::TooLarge;
        }
        if is_bomb(bytes.len(), read) {
            break StreamEnd::Bomb;
        }
        match status {
            Ok(Status::StreamEnd) => break StreamEnd::Complete,
            Err(_) => break StreamEnd::Damaged,
            Ok(_) if stuck => break StreamEnd::Damaged,
            Ok(_) => {}
        }
    };
    InflatedBytes { bytes, read, end }
}
