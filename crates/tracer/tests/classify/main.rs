//! What sequences of events amount to: attacks by a table, honest programs as they were recorded.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod attacks;
mod bounds;
mod false_accusations;
mod honest;
mod script;
mod table;
