//! A real collector.
