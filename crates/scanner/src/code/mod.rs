//! What code does: its capabilities, and the secrets that it sends away.

pub(crate) mod capability;
