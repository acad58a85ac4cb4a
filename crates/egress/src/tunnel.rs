//! Names that are data.
