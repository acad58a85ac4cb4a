//! The wire format of DNS.
