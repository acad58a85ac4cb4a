//! The gates, for the fuzz targets.
#![allow(missing_docs, missing_debug_implementations, unreachable_pub)]

use super::http::HttpGate;
use super::tls::TlsGate;
use crate::attempt::RefusalReason;

pub struct FuzzGate(super::ProtocolGate);

impl FuzzGate {
    #[must_use]
    pub fn tls(name: Option<&str>, required: bool) -> Self {
        Self(super::ProtocolGate::Tls(TlsGate::new(name.map(str::to_owned), required)))
    }

    #[must_use]
    pub fn http(name: &str, port: u16) -> Self {
        Self(super::ProtocolGate::Http(HttpGate::new(name.to_owned(), port)))
    }

    /// How many bytes pass.
    pub fn judge_client(&mut self, bytes: &[u8]) -> Result<usize, RefusalReason> {
        self.0.judge_client(bytes).map(|passage| passage.bytes)
    }

    pub fn observe_server(&mut self, bytes: &[u8]) {
        self.0.observe_server(bytes);
    }

    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }
}
