//! `wrap`: MCP servers that others wrote, confined. `cargo xtask test` installs them; where that could not be, their tests are skipped, loudly.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod sandboxed;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use sandboxed::Stage;
use serde_json::{Value, json};
use skillsandbox_test_support::missing;

/// A program of the servers that `cargo xtask test` installs.
fn server(name: &str, program: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_skillsandbox")).ancestors().nth(2).unwrap().join("mcp-clients");
    let folder = std::env::var_os("SKILLSANDBOX_MCP_CLIENTS").map_or(built, PathBuf::from);
    let program = folder.join(program);
    if program.exists() {
        return Some(program);
    }
    missing::skip(&[name]);
    None
}

/// A client that speaks with a wrapped server.
struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Client {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout, next: 0 }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The result of a request. Every line on the way has to be JSON-RPC.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.stdout.read_line(&mut line).unwrap(), 0, "it ended: {}", self.rest_of_errors());
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(answer["jsonrpc"], "2.0", "{line}");
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{line}");
                return answer["result"].clone();
            }
        }
    }

    /// Shakes hands, and returns the names of the tools.
    fn open(&mut self) -> Vec<String> {
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let result = self.request("initialize", &hello);
        assert!(result["serverInfo"]["name"].is_string(), "{result}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let tools = self.request("tools/list", &json!({}));
        tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// A tool's text, and whether it failed.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (text, result["isError"] == true)
    }

    fn rest_of_errors(&mut self) -> String {
        let mut text = Vec::new();
        self.child.stderr.take().unwrap().read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Ends the conversation: the exit code, what was left on standard output, and standard error.
    fn close(mut self) -> (Option<i32>, String, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let errors = self.rest_of_errors();
        (self.child.wait().unwrap().code(), rest, errors)
    }
}

#[test]
fn row_168_a_server_from_npm_runs_confined() {
    let main = "servers-npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
    let Some(main) = server("mcp-server-filesystem", main) else { return };
    if !missing::inside(["node"]).is_empty() {
        missing::skip(&["node"]);
        return;
    }
    let stage = Stage::new();
    let (shown, secret) = (stage.write("shown/a.txt", "for all"), stage.write("hidden/b.txt", "a secret"));
    let installed = main.ancestors().nth(5).unwrap().to_str().unwrap();
    let [shown_folder, hidden_folder] =
        [&shown, &secret].map(|file| file.parent().unwrap().to_str().unwrap());
    // The server itself would show both.
    let command = stage.command(&[
        "wrap",
        "--read",
        shown_folder,
        "--read",
        installed,
        "--",
        "node",
        main.to_str().unwrap(),
        shown_folder,
        hidden_folder,
    ]);
    let mut client = Client::start(command);
    assert!(client.open().contains(&"read_text_file".to_owned()));
    assert_eq!(client.call("read_text_file", &json!({ "path": shown })), ("for all".to_owned(), false));
    let (text, failed) = client.call("read_text_file", &json!({ "path": secret }));
    assert!(failed && !text.contains("a secret"), "{text}");
    let new = shown.with_file_name("new.txt");
    let (_, failed) = client.call("write_file", &json!({ "path": new, "content": "x" }));
    assert!(failed && !new.exists(), "it was only granted to be read");
    let (code, rest, errors) = client.close();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{errors}");
    assert!(errors.contains("trace: "), "{errors}");
}

#[test]
fn row_168_a_server_from_pypi_runs_confined() {
    // Its Python may be one of somebody else's home.
    if server("mcp-server-git", "servers-python/bin/python").is_none() {
        return;
    }
    let Some(program) = server("mcp-server-git", "servers-python/bin/mcp-server-git") else { return };
    if !missing::inside(["git"]).is_empty() {
        missing::skip(&["git"]);
        return;
    }
    let stage = Stage::new();
    let repository = |name: &str| {
        let file = stage.write(&format!("{name}/readme.md"), "text");
        let folder = file.parent().unwrap().to_owned();
        let git = |arguments: &[&str]| {
            let own = ["-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "init.defaultBranch=main"];
            let run = Command::new("git")
                .current_dir(&folder)
                .args(own)
                .args(arguments)
                .env("HOME", stage.home())
                .output();
            assert!(run.unwrap().status.success());
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", &format!("the first of {name}")]);
        folder
    };
    let (open, shut) = (repository("open"), repository("shut"));
    let [open, shut] = [&open, &shut].map(|folder| folder.to_str().unwrap());
    let safe = ["GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"];
    let mut words = vec!["wrap", "--read", open];
    for set in safe {
        words.extend(["--env", set]);
    }
    words.extend(["--", program.to_str().unwrap()]);
    let mut client = Client::start(stage.command(&words));
    assert!(client.open().contains(&"git_log".to_owned()));
    let (text, failed) = client.call("git_log", &json!({ "repo_path": open }));
    assert!(!failed && text.contains("the first of open"), "{text}");
    let (text, failed) = client.call("git_log", &json!({ "repo_path": shut }));
    assert!(failed && !text.contains("the first of shut"), "{text}");
    let (code, rest, errors) = client.close();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{errors}");
}

#[test]
fn row_168_bytes_pass_unchanged_and_at_once() {
    let stage = Stage::new();
    let mut client = Client::start(stage.command(&["wrap", "--", "cat"]));
    // Neither a line nor text: it still comes back before the input ends.
    let bytes: Vec<u8> = (0..=255_u8).cycle().take(70_000).filter(|byte| *byte != b'\n').collect();
    client.stdin.as_mut().unwrap().write_all(&bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    client.stdout.read_exact(&mut back).unwrap();
    assert_eq!(back, bytes);
    let (code, rest, errors) = client.close();
    assert_eq!((code, rest.as_str()), (Some(0), ""), "{errors}");
}

#[test]
fn a_server_that_outlives_its_client_is_ended_with_all_its_processes() {
    let stage = Stage::new();
    // Seconds that nobody else sleeps for.
    let mark = format!("{}", 700_000_000 + std::process::id());
    let script = format!(
        "trap '' TERM HUP PIPE; setsid sleep {mark} & (setsid sleep {mark} &) & echo up; exec sleep {mark}"
    );
    let mut client = Client::start(stage.command(&["wrap", "--", "sh", "-c", &script]));
    let mut line = String::new();
    client.stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    let (code, rest, _) = client.close();
    assert_ne!(code, Some(0));
    assert_eq!(rest, "");
    assert_eq!(processes_with(&mark), Vec::<PathBuf>::new());
}

/// Processes with a word among their arguments.
fn processes_with(word: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let has = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    entries.filter(has).collect()
}

#[test]
fn it_ends_with_the_server_while_the_client_still_listens() {
    let stage = Stage::new();
    let mut client = Client::start(stage.command(&["wrap", "-q", "--", "sh", "-c", "echo bye; exit 7"]));
    let mut out = String::new();
    client.stdout.read_to_string(&mut out).unwrap();
    assert_eq!(out, "bye\n");
    assert_eq!(client.child.wait().unwrap().code(), Some(7));
    assert_eq!(client.rest_of_errors(), "");
}

#[test]
fn nothing_but_the_servers_own_words_is_on_standard_output() {
    let stage = Stage::new();
    // It floods standard error, and tries to reach what it was not granted.
    let script =
        "head -c 30000000 /dev/zero | tr '\\0' x >&2; cat /etc/shadow; echo done > /dev/tty; echo answer";
    let mut client = Client::start(stage.command(&["wrap", "--", "sh", "-c", script]));
    let mut errors = client.child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).unwrap();
        text
    });
    let mut out = String::new();
    client.stdout.read_to_string(&mut out).unwrap();
    assert_eq!(out, "answer\n");
    // A log takes all that it is given: what is handed on has a bound, and says so once.
    let errors = reader.join().unwrap();
    assert!((16 << 20..17 << 20).contains(&errors.len()), "{}", errors.len());
    assert_eq!(errors.matches("skillsandbox: there is more of this than is handed on").count(), 1);
    for refused in [&["wrap", "--", "no-such-server"][..], &["wrap", "--manifest", "/no/such", "--", "cat"]] {
        let output = stage.run(refused);
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{refused:?}");
        assert!(matches!(output.status.code(), Some(125..=127)), "{refused:?}: {:?}", output.status);
    }
}

#[test]
fn a_wrapped_server_has_no_variables_no_network_and_a_record() {
    let stage = Stage::new();
    let mut command = stage.command(&[
        "wrap",
        "-q",
        "--env",
        "GIVEN",
        "--",
        "sh",
        "-c",
        "env; cat /proc/net/dev | grep -c : ",
    ]);
    let output = command.env("GIVEN", "yes").env("API_TOKEN", "hidden").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("GIVEN=yes") && !text.contains("hidden"), "{text}");
    let history = stage.run(&["history", "--format", "json"]);
    let history = String::from_utf8(history.stdout).unwrap();
    assert!(history.contains("\"wrap\"") && !history.contains("hidden"), "{history}");
}

#[test]
fn a_manifest_grants_what_it_declares_and_no_more() {
    let stage = Stage::new();
    let shown = stage.write("shown/a.txt", "for all\n");
    let hidden = stage.write("hidden/b.txt", "a secret\n");
    let grant = shown.parent().unwrap().display();
    let text = format!(
        "skill: {{ name: my-server, version: \"1\" }}\npermissions: {{ filesystem: {{ read: [\"{grant}\"] }} }}\nresources: {{ max_runtime_seconds: 1 }}\n"
    );
    let manifest = stage.write("servers/my-server.yaml", &text);
    let script = format!("cat {}; cat {}; echo end", shown.display(), hidden.display());
    let output =
        stage.run(&["wrap", "-q", "--manifest", manifest.to_str().unwrap(), "--", "sh", "-c", &script]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "for all\nend\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // A second is a skill's limit, and not a server's.
    let slow = [
        "wrap",
        "-q",
        "--manifest",
        manifest.to_str().unwrap(),
        "--",
        "sh",
        "-c",
        "sleep 1.5; echo still here",
    ];
    assert_eq!(stage.command(&slow).output().unwrap().stdout, b"still here\n");
}
