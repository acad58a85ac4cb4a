//! `--otel`: a collector on loopback gets the spans of a run, and one that is not there is a warning.
#![cfg(all(target_os = "linux", feature = "otel"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use sandboxed::{Stage, code, text};

#[test]
fn row_144_a_run_is_sent_to_a_collector() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "cat /etc/shadow; exit 4");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
            head += &line;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        reader.get_mut().write_all(answer).unwrap();
        (head, body)
    });
    let mut command = stage.command(&["run", "--otel", "--skip-scan", skill.to_str().unwrap()]);
    let output = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).output().unwrap();
    assert_eq!(code(&output), 4, "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains("warning"), "{}", text(&output.stderr));
    let (head, body) = collector.join().unwrap();
    assert!(head.starts_with("POST /v1/traces "), "{head}");
    let body = text(&body);
    for name in ["sandbox.run", "sandbox.exec", "sandbox.fs.violation", "/etc/shadow"] {
        assert!(body.contains(name), "{name}");
    }
}

#[test]
fn a_collector_that_is_not_there_is_a_warning() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "echo fine");
    // A port that was free a moment ago.
    let endpoint = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let mut command = stage.command(&["run", "--otel", skill.to_str().unwrap()]);
    let output = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).output().unwrap();
    assert_eq!((code(&output), text(&output.stdout).as_str()), (0, "fine\n"));
    assert!(text(&output.stderr).contains("were not delivered"), "{}", text(&output.stderr));
    assert_eq!(stage.traces().len(), 1);
    // What is asked for and makes no sense is no run at all.
    let mut command = stage.command(&["run", "--otel", skill.to_str().unwrap()]);
    let output = command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://127.0.0.1").output().unwrap();
    assert_eq!(code(&output), 2, "{}", text(&output.stderr));
    assert!(output.stdout.is_empty());
}
