//! Over TLS: to whom a certificate vouches for, and to nobody else.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, Stream};

use super::collector::{OK, request};
use super::missing;
use super::{export, settings};
use skillsandbox_test_support::small_trace::{events, header};

use skillsandbox_tracer::otel::DeliveryReport;

const LONG: Duration = Duration::from_secs(30);

/// An authority made for one test, and what it vouches for.
struct Authority {
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let authority = Self { folder: tempfile::tempdir().unwrap() };
        authority.openssl(
            &["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"],
            "ca",
            &["-subj", "/CN=an authority of a test"],
        );
        authority
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn openssl(&self, first: &[&str], name: &str, last: &[&str]) {
        let mut command = Command::new("openssl");
        command.args(first).arg("-keyout").arg(self.path(&format!("{name}.key")));
        command.arg("-out").arg(self.path(&format!("{name}.pem"))).args(last);
        succeed(&mut command);
    }

    /// A certificate for a name, and its key.
    fn vouch(&self, name: &str, for_whom: &str) -> (PathBuf, PathBuf) {
        self.openssl(&["req", "-newkey", "rsa:2048", "-nodes"], name, &["-subj", "/CN=a test"]);
        let extensions = self.path("extensions");
        std::fs::write(&extensions, format!("basicConstraints=CA:FALSE\nsubjectAltName={for_whom}\n"))
            .unwrap();
        let asked = self.path(&format!("{name}.pem"));
        let made = self.path(&format!("{name}.crt"));
        let mut command = Command::new("openssl");
        command.args(["x509", "-req", "-days", "2", "-CAcreateserial"]).arg("-in").arg(asked);
        command.arg("-CA").arg(self.path("ca.pem")).arg("-CAkey").arg(self.path("ca.key"));
        command.arg("-extfile").arg(extensions).arg("-out").arg(&made);
        succeed(&mut command);
        (made, self.path(&format!("{name}.key")))
    }
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A collector behind TLS.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// With a certificate and a key; and, if asked for, only for those that this authority vouches for.
    fn new((certificate, key): (PathBuf, PathBuf), asks: Option<&Path>) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
        let builder = match asks {
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(CertificateDer::from_pem_file(authority).unwrap()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
                builder.unwrap().with_client_cert_verifier(verifier.unwrap())
            }
            None => builder.unwrap().with_no_client_auth(),
        };
        let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
        let config = builder.with_single_cert(chain, PrivateKeyDer::from_pem_file(key).unwrap()).unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            move || {
                for socket in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let Ok(mut socket) = socket else { continue };
                    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                    let mut stream = Stream::new(&mut connection, &mut socket);
                    if let Some(request) = request(&mut stream) {
                        requests.lock().unwrap().push(request.head);
                        let _ = stream.write_all(OK);
                        connection.send_close_notify();
                        let _ = connection.complete_io(&mut socket);
                    }
                }
            }
        });
        Self { address, requests, stop, thread: Some(thread) }
    }

    fn endpoint(&self) -> String {
        format!("https://127.0.0.1:{}", self.address.port())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What becomes of a run with this endpoint, and these files by their variables.
fn sent(endpoint: &str, files: &[(&str, &Path)], patience: Duration) -> DeliveryReport {
    let files: Vec<(&str, String)> =
        files.iter().map(|(name, path)| (*name, path.display().to_string())).collect();
    let mut variables = vec![("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)];
    variables.extend(files.iter().map(|(name, path)| (*name, path.as_str())));
    export(settings(&variables).patience(patience), &header(), events()).1
}

fn has_openssl() -> bool {
    missing::outside(["openssl"]).is_empty() || missing::skip(&["openssl"])
}

const CA: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";

/// An endpoint, files by their variables, how long to wait, and what is said to it.
type Wrong<'w> = (&'w str, &'w [(&'w str, &'w Path)], Duration, &'w str);

#[test]
fn spans_go_only_to_whom_a_certificate_vouches_for() {
    if !has_openssl() {
        return;
    }
    let authority = Authority::new();
    let ca = authority.path("ca.pem");
    let server = Server::new(authority.vouch("right", "IP:127.0.0.1"), None);
    let delivered = sent(&server.endpoint(), &[(CA, &ca)], LONG);
    assert_eq!((delivered.spans, delivered.warning()), (8, None));
    assert_eq!(server.requests.lock().unwrap().len(), 1);

    // Somebody else's name, an authority that is not ours, the system's own list; and no TLS at all, which waits for an end of the line.
    let other = Server::new(authority.vouch("other", "DNS:somebody.else.test"), None);
    let stranger = Authority::new();
    let plain = super::Collector::good();
    let plainly = plain.endpoint().replace("http://", "https://");
    let wrong: [Wrong<'_>; 4] = [
        (&other.endpoint(), &[(CA, &ca)], LONG, "certificate"),
        (&server.endpoint(), &[(CA, &stranger.path("ca.pem"))], LONG, "certificate"),
        (&server.endpoint(), &[], LONG, "certificate"),
        (&plainly, &[(CA, &ca)], Duration::from_millis(500), "in time"),
    ];
    for (endpoint, files, patience, expected) in wrong {
        let delivered = sent(endpoint, files, patience);
        assert_eq!((delivered.spans, delivered.dropped), (0, 8), "{files:?}");
        let error = delivered.error.unwrap();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(server.requests.lock().unwrap().len(), 1);
    assert!(other.requests.lock().unwrap().is_empty() && plain.requests().is_empty());
}

#[test]
fn a_collector_that_asks_who_comes_is_told() {
    if !has_openssl() {
        return;
    }
    let authority = Authority::new();
    let ca = authority.path("ca.pem");
    let server = Server::new(authority.vouch("server", "IP:127.0.0.1"), Some(&ca));
    let (certificate, key) = authority.vouch("client", "DNS:client.test");
    let delivered = sent(&server.endpoint(), &[(CA, &ca)], LONG);
    assert_eq!((delivered.spans, delivered.dropped), (0, 8));
    let files = [
        (CA, ca.as_path()),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", certificate.as_path()),
        ("OTEL_EXPORTER_OTLP_CLIENT_KEY", key.as_path()),
    ];
    let delivered = sent(&server.endpoint(), &files, LONG);
    assert_eq!((delivered.spans, delivered.warning()), (8, None));
}
