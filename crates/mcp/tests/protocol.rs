//! What clients do that an honest one would not, on streams that the test holds at both ends.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skillsandbox_mcp::{McpServer, ServerSettings};
use skillsandbox_run::Unrecorded;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// What the streams hold before somebody has to wait.
const STREAM: usize = 16 * 1024;

fn server() -> (tempfile::TempDir, McpServer) {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("s");
    std::fs::create_dir(&skill).unwrap();
    let manifest = "skill: { name: s, version: \"1\" }\nentrypoint: { command: sh }\n";
    std::fs::write(skill.join("skillsandbox.yaml"), manifest).unwrap();
    let server =
        McpServer::new(&ServerSettings::new([folder.path().to_owned()]), Arc::new(Unrecorded)).unwrap();
    (folder, server)
}

struct Ends {
    output: WriteHalf<DuplexStream>,
    input: BufReader<ReadHalf<DuplexStream>>,
    ended: tokio::task::JoinHandle<Result<(), skillsandbox_mcp::ServerError>>,
}

fn serve(server: &McpServer) -> Ends {
    let (ours, theirs) = tokio::io::duplex(STREAM);
    let (read, write) = tokio::io::split(theirs);
    let server = server.clone();
    let ended = tokio::spawn(async move { server.serve(read, write).await });
    let (input, output) = tokio::io::split(ours);
    Ends { output, input: BufReader::new(input), ended }
}

async fn line(input: &mut BufReader<ReadHalf<DuplexStream>>) -> Option<Value> {
    let mut line = String::new();
    let count = input.read_line(&mut line).await.unwrap();
    (count > 0).then(|| serde_json::from_str(&line).unwrap())
}

fn request(id: usize, method: &str, params: &Value) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

async fn begin(ends: &mut Ends) {
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    ends.output.write_all(request(0, "initialize", &hello).as_bytes()).await.unwrap();
    assert_eq!(line(&mut ends.input).await.unwrap()["result"]["serverInfo"]["name"], "skillsandbox");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_read_is_not_read_from() {
    let (_folder, server) = server();
    let mut ends = serve(&server);
    begin(&mut ends).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let Ends { mut output, mut input, ended } = ends;
    let all = 1_000;
    let writer = tokio::spawn(async move {
        for id in 1..=all {
            // Answers of some kilobytes each.
            output.write_all(request(id, "tools/list", &json!({})).as_bytes()).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
        }
        output
    });
    // This clock moves on when nobody has anything left to do.
    tokio::time::sleep(Duration::from_mins(1)).await;
    let before = asked.load(Ordering::SeqCst);
    // What is under way, and what the streams and the reader's buffer hold.
    assert!(
        before < 64 + 2 * STREAM / 60 + 200,
        "{before} requests were taken from somebody who reads no answer"
    );
    // Whoever reads again gets all of them.
    let mut answered = 0;
    while answered < all {
        let answer = line(&mut input).await.unwrap();
        assert!(answer["result"]["tools"].is_array(), "{answer}");
        answered += 1;
    }
    drop(writer.await.unwrap());
    drop(input);
    ended.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_given_up_at_once_do_not_pile_up() {
    let (_folder, server) = server();
    let mut ends = serve(&server);
    begin(&mut ends).await;
    for id in 1..=500 {
        let call = request(id, "tools/call", &json!({ "name": "scan_skill", "arguments": { "skill": "s" } }));
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        ends.output.write_all(format!("{call}{cancel}\n").as_bytes()).await.unwrap();
    }
    let last =
        request(9_999, "tools/call", &json!({ "name": "validate_skill", "arguments": { "skill": "s" } }));
    ends.output.write_all(last.as_bytes()).await.unwrap();
    loop {
        let answer = line(&mut ends.input).await.unwrap();
        if answer["id"] == 9_999 {
            assert_eq!(answer["result"]["structuredContent"]["valid"], true, "{answer}");
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_id_for_many_requests_confuses_nobody() {
    let (_folder, server) = server();
    let mut ends = serve(&server);
    begin(&mut ends).await;
    for _ in 0..200 {
        ends.output.write_all(request(7, "tools/list", &json!({})).as_bytes()).await.unwrap();
    }
    ends.output.write_all(request(8, "tools/list", &json!({})).as_bytes()).await.unwrap();
    while line(&mut ends.input).await.unwrap()["id"] != 8 {}
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_it_is_told_to_and_when_the_client_goes() {
    let (_folder, server) = server();
    // Before the client has said anything, and after.
    let ends = serve(&server);
    tokio::task::yield_now().await;
    drop((ends.output, ends.input));
    ends.ended.await.unwrap().unwrap();
    let (_folder, server) = self::server();
    let mut ends = serve(&server);
    begin(&mut ends).await;
    server.shutdown().close();
    assert_eq!(line(&mut ends.input).await, None);
    ends.ended.await.unwrap().unwrap();
}
