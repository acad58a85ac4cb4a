//! A judge behind TLS: only one that the system's certificates vouch for is asked.
#![cfg(all(target_os = "linux", feature = "judge"))]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, Stream};
use sandboxed::{Stage, text};
use serde_json::Value;
use skillsandbox_test_support::judge_server::{JudgeServer, Reply, read_question};
use skillsandbox_test_support::missing;

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An authority made for one test, with a certificate for a name that it vouches for.
fn vouch(folder: &Path, name: &str, for_whom: &str) -> (PathBuf, PathBuf) {
    let path = |end: &str| folder.join(format!("{name}.{end}"));
    let (ca, ca_key) = (folder.join("ca.pem"), folder.join("ca.key"));
    if !ca.exists() {
        let mut command = Command::new("openssl");
        command.args([
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=an authority of a test",
        ]);
        succeed(command.arg("-keyout").arg(&ca_key).arg("-out").arg(&ca));
    }
    let mut command = Command::new("openssl");
    command.args(["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a test"]);
    succeed(command.arg("-keyout").arg(path("key")).arg("-out").arg(path("csr")));
    std::fs::write(path("ext"), format!("basicConstraints=CA:FALSE\nsubjectAltName={for_whom}\n")).unwrap();
    let mut command = Command::new("openssl");
    command.args(["x509", "-req", "-days", "2", "-CAcreateserial"]).arg("-in").arg(path("csr"));
    command.arg("-CA").arg(&ca).arg("-CAkey").arg(&ca_key).arg("-extfile").arg(path("ext"));
    succeed(command.arg("-out").arg(path("crt")));
    (path("crt"), path("key"))
}

/// A judge behind TLS that sees no harm in anything.
struct TlsJudge {
    address: SocketAddr,
    questions: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TlsJudge {
    fn new((certificate, key): (PathBuf, PathBuf)) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let chain = vec![CertificateDer::from_pem_file(certificate).unwrap()];
        let key = PrivateKeyDer::from_pem_file(key).unwrap();
        let config = Arc::new(builder.unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (questions, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = std::thread::spawn({
            let (questions, stop) = (Arc::clone(&questions), Arc::clone(&stop));
            move || {
                for socket in listener.incoming() {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    let mut socket = socket.unwrap();
                    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                    let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                    let mut stream = Stream::new(&mut connection, &mut socket);
                    let Some(question) = read_question(&mut stream) else { continue };
                    questions.fetch_add(1, Ordering::SeqCst);
                    let Reply::Bytes(answer) = question.safe() else { continue };
                    let _ = stream.write_all(&answer);
                    connection.send_close_notify();
                    let _ = connection.complete_io(&mut socket);
                }
            }
        });
        Self { address, questions, stop, thread: Some(thread) }
    }
}

impl Drop for TlsJudge {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn a_judge_is_asked_only_where_a_certificate_vouches_for_it() {
    if !missing::outside(["openssl"]).is_empty() && !missing::skip(&["openssl"]) {
        return;
    }
    let stage = Stage::new();
    let folder = stage.home();
    let right = TlsJudge::new(vouch(&folder, "right", "IP:127.0.0.1"));
    let other = TlsJudge::new(vouch(&folder, "other", "DNS:somebody.else.test"));
    let plain = JudgeServer::safe();
    let skill =
        stage.write("skills/notes/SKILL.md", "---\nname: notes\ntype: skill\ndescription: d\n---\nHello.\n");
    let ca = folder.join("ca.pem");
    let ask = |port: u16, trusted: Option<&Path>| {
        let policy = format!(
            "scan: {{ judge: {{ url: \"https://127.0.0.1:{port}/v1\", model: m, timeout_seconds: 3 }} }}\n"
        );
        stage.write("home/.config/skillsandbox/policy.yaml", &policy);
        let mut command =
            stage.command(&["scan", "--format", "json", skill.parent().unwrap().to_str().unwrap()]);
        command.envs(trusted.map(|file| ("SSL_CERT_FILE", file)));
        let output = command.output().unwrap();
        let reports: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        reports[0].clone()
    };
    // A stranger's authority, the system's own list, another name, and no TLS at all.
    for (port, trusted) in [
        (right.address.port(), Some(folder.join("other.crt"))),
        (right.address.port(), None),
        (other.address.port(), Some(ca.clone())),
        (plain.port(), Some(ca.clone())),
    ] {
        let report = ask(port, trusted.as_deref());
        assert_eq!(
            (report["verdict"].as_str(), report["judge"]["outcome"].as_str()),
            (Some("WARNING"), Some("not-had")),
            "{}",
            report["judge"]
        );
    }
    let questions = |judge: &TlsJudge| judge.questions.load(Ordering::SeqCst);
    assert_eq!((questions(&right), questions(&other), plain.questions().len()), (0, 0, 0));
    let report = ask(right.address.port(), Some(&ca));
    assert_eq!((report["verdict"].as_str(), questions(&right)), (Some("SAFE"), 1), "{}", report["judge"]);
}
