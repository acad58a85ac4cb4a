//! A client that looks at every line, and a small world to serve.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// So long that only something that hangs takes longer.
const PATIENCE: Duration = Duration::from_mins(2);

/// A folder with skills, a home and a state folder.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        // Not in /tmp: a skill has one of its own, where nobody's files are to be had.
        let world = Self { folder: tempfile::tempdir_in("/var/tmp").unwrap() };
        for folder in ["skills", "home", "state", "config"] {
            fs::create_dir(world.path(folder)).unwrap();
        }
        world
    }

    /// A path in it, without links.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("skills")
    }

    /// A skill that is a shell script, below the root.
    pub(crate) fn skill(&self, name: &str, manifest: &str, script: &str) -> PathBuf {
        skill_in(&self.root().join(name), manifest, script)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skillsandbox"));
        command.args(arguments).env("HOME", self.path("home")).env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command
    }

    /// A server over the skills, and a client that has begun.
    pub(crate) fn serve(&self, more: &[&str]) -> Client {
        let root = self.root();
        let arguments = [&["serve", "--root", root.to_str().unwrap()], more].concat();
        Client::begin(&mut self.command(&arguments))
    }
}

/// A skill that is a shell script. `manifest` is what stands between its name and its entrypoint.
pub(crate) fn skill_in(folder: &Path, manifest: &str, script: &str) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let text = format!(
        "skill: {{ name: {name}, version: \"1.0\" }}\n{manifest}\nentrypoint: {{ command: sh, args: [main.sh] }}\n"
    );
    fs::write(folder.join("skillsandbox.yaml"), text).unwrap();
    fs::write(folder.join("main.sh"), script).unwrap();
    folder.to_owned()
}

/// Speaks to a server, and insists that every line it prints is JSON-RPC.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// What came besides the answers that were waited for.
    pub(crate) aside: Vec<Value>,
}

impl Client {
    pub(crate) fn begin(command: &mut Command) -> Self {
        let mut client = Self::start(command);
        let info = client.request("initialize", &hello());
        assert_eq!(info["result"]["serverInfo"]["name"], "skillsandbox", "{info}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.split(b'\n') {
                let line = String::from_utf8(line.unwrap()).unwrap();
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next: 0, aside: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and does not wait. Its id comes back.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn ask_tool(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        let params = json!({ "requestId": id, "reason": "a test" });
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }

    /// The next message; `None` when the server has closed its output.
    pub(crate) fn message(&mut self) -> Option<Value> {
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("the server says nothing"),
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "not JSON-RPC: {line}");
        Some(message)
    }

    /// The answer to a request; whatever else comes before it is kept aside.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.aside.iter().position(|message| message["id"] == id) {
            return self.aside.remove(at);
        }
        loop {
            let message = self.message().expect("the server has gone");
            if message["id"] == id {
                return message;
            }
            self.aside.push(message);
        }
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id)
    }

    /// Calls a tool. That it answers with a protocol error fails the test.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Called {
        let id = self.ask_tool(tool, arguments);
        self.called(id)
    }

    pub(crate) fn called(&mut self, id: u64) -> Called {
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{answer}");
        Called(answer["result"].clone())
    }

    pub(crate) fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// What is still printed until the output is closed, and the exit code.
    pub(crate) fn end(mut self) -> (Vec<Value>, Option<i32>) {
        self.close_stdin();
        let mut rest = std::mem::take(&mut self.aside);
        while let Some(message) = self.message() {
            rest.push(message);
        }
        let code = self.child.wait().unwrap().code();
        (rest, code)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Ours, by its handle; one that has ended already is left alone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Called(pub(crate) Value);

impl Called {
    pub(crate) fn failed(&self) -> bool {
        self.0["isError"] == true
    }

    pub(crate) fn text(&self) -> &str {
        self.0["content"][0]["text"].as_str().unwrap()
    }

    pub(crate) fn data(&self) -> &Value {
        &self.0["structuredContent"]
    }

    pub(crate) fn stdout(&self) -> &str {
        self.data()["stdout"].as_str().unwrap_or_else(|| panic!("{}", self.0))
    }
}

pub(crate) fn hello() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "a test", "version": "1" },
    })
}
