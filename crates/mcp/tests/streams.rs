//! Standard output is the protocol's, whatever else in the process prints.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stdout, reason = "to see where it goes")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use skillsandbox_mcp::{McpServer, ServerSettings};
use skillsandbox_run::Unrecorded;

/// Tells this test program to be the server.
const CHILD: &str = "SKILLSANDBOX_TEST_NOISY_SERVER";

/// Not a test by itself: the other one runs it in a process of its own. It prints, reads and panics beside the server.
#[test]
fn noisy_server() {
    let Some(root) = std::env::var_os(CHILD) else { return };
    let server = McpServer::new(&ServerSettings::new([root.into()]), Arc::new(Unrecorded)).unwrap();
    let (noise, quiet) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        for _ in 0..1_000 {
            println!("a library that prints");
            let _ = std::io::stdout().write_all(b"and one that does so in pieces");
            let _ = std::io::stdout().flush();
            // It would take the client's words away; once the server has the streams there is nothing to take.
            if std::fs::read_link("/proc/self/fd/0").is_ok_and(|input| input.as_os_str() == "/dev/null") {
                let mut stolen = String::new();
                let _ = std::io::stdin().read_line(&mut stolen);
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        drop(noise);
        panic!("and one that panics");
    });
    server.serve_stdio().unwrap();
    let _ = quiet.recv();
}

#[test]
fn whatever_else_prints_stdout_carries_json_rpc_only() {
    let root = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "noisy_server", "--nocapture"])
        .env(CHILD, root.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ask = |id: u32, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{message}").unwrap();
    };
    ask(
        1,
        "initialize",
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    );
    // Before the server took the streams, others may have printed: what the test runner says of itself, and the first lines of the noise.
    let mut line = String::new();
    let first: Value = loop {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "it ended: {}", errors.join().unwrap());
        if let Some(at) = line.find("{\"jsonrpc\"") {
            break serde_json::from_str(&line[at..]).unwrap();
        }
    };
    assert_eq!(first["result"]["serverInfo"]["name"], "skillsandbox");
    for id in 2..500 {
        ask(id, "tools/call", json!({ "name": "list_skills", "arguments": {} }));
        line.clear();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line:?}"));
        assert_eq!(answer["id"], id, "{answer}");
    }
    drop(input);
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "", "after the end");
    child.wait().unwrap();
    let errors = errors.join().unwrap();
    assert!(
        errors.contains("a library that prints") && errors.contains("and one that panics"),
        "the control: {errors}"
    );
}
