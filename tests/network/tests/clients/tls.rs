//! Servers that speak TLS, with a certificate of their own, behind a server that counts.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::missing;
use crate::servers::Server;

/// The names that the certificate is for. It is its own authority.
const NAMES: &str = "subjectAltName=DNS:api.weather.test,DNS:eu.api.weather.test,DNS:evil.test,DNS:localhost";

/// A server of TLS, until it is dropped.
pub(crate) struct Tls {
    child: Child,
    folder: TempDir,
    /// What clients connect to.
    pub(crate) front: Server,
}

impl Tls {
    /// HTTP/1.1 over TLS, by Python: `/` tells which server name was sent, and other files are those of `files` in its folder.
    /// `None`, and it is said, where a program is missing.
    pub(crate) fn http1() -> Option<Self> {
        Self::start("python3", "server.py", include_str!("scripts/tls_server.py"))
    }

    /// HTTP/2 over TLS, and no other, by Node.
    pub(crate) fn http2() -> Option<Self> {
        Self::start("node", "server.js", include_str!("scripts/http2_server.js"))
    }

    fn start(interpreter: &str, name: &str, text: &str) -> Option<Self> {
        let missing = missing::outside([interpreter, "openssl"]);
        if !missing.is_empty() {
            missing::skip(&missing);
            return None;
        }
        let folder = tempfile::Builder::new().prefix("tls-").tempdir().unwrap();
        make_certificate(folder.path());
        std::fs::create_dir(folder.path().join("files")).unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let mut command = Command::new(interpreter);
        command.arg(name).current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let port: u16 = port.trim().parse().expect("the server says its port");
        let front = Server::before(([127, 0, 0, 1], port).into());
        Some(Self { child, folder, front })
    }

    /// The certificate, for clients.
    pub(crate) fn certificate(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("cert.pem")).unwrap()
    }

    /// The folder whose files it hands out.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn make_certificate(folder: &Path) {
    let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=api.weather.test \
                     -keyout key.pem -out cert.pem -addext";
    let mut command = Command::new("openssl");
    command.args(arguments.split_whitespace()).arg(NAMES).current_dir(folder).stdin(Stdio::null());
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
