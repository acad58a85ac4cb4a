//! HTTP/1.
