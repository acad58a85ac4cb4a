//! Addresses that stand for names.
