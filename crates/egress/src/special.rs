//! Addresses of a special kind.
