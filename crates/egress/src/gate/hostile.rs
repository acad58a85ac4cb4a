//! The gates, for the fuzz targets.
#![allow(missing_docs, missing_debug_implementations, unreachable_pub)]

use super::http::HttpGate;
use super::tls::TlsGate;
use crate::attempt::Reason;

pub struct Gate(super::Gate);

impl Gate {
    #[must_use]
    pub fn tls(name: Option<&str>, required: bool) -> Self {
        Self(super::Gate::Tls(TlsGate::new(name.map(str::to_owned), required)))
    }

    #[must_use]
    pub fn http(name: &str, port: u16) -> Self {
        Self(super::Gate::Http(HttpGate::new(name.to_owned(), port)))
    }

    /// How many bytes pass.
    pub fn client(&mut self, bytes: &[u8]) -> Result<usize, Reason> {
        self.0.client(bytes).map(|passage| passage.bytes)
    }

    pub fn server(&mut self, bytes: &[u8]) {
        self.0.server(bytes);
    }

    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }
}
