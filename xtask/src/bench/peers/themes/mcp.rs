//! `run_skill` of a server that runs, beside `run` of the same skill.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::super::lineup::{Entry, gather_runs, run};
use super::super::options::NamedCommand;
use super::super::stage::SKILL;
use super::super::table::{Column, Table, TableRow, Target};
use super::super::tools::Setup;
use super::super::turns::{After, in_turns};
use super::{Bench, ratio};

/// Beside `run`, and the slowest of a hundred beside the middle.
const BESIDE_RUN: f64 = 1.2;
const SLOWEST_BESIDE_MIDDLE: f64 = 3.0;
/// Lines of a server that are no answer, before it is given up.
const MOST_OTHER_LINES: usize = 1000;

/// A server on its standard input and output; ends with its input.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl Server {
    fn start(command: &NamedCommand, setup: &Setup) -> anyhow::Result<Self> {
        let mut serve = Command::new(&command.path);
        serve.args(["serve", "--root"]).arg(&setup.skills).env("HOME", &command.home);
        serve.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = serve.spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().context("no standard output")?);
        let mut server = Self { child, input, output, asked: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        server.ask("initialize", &hello)?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the server's input is closed")?;
        input.write_all(format!("{message}\n").as_bytes())?;
        Ok(input.flush()?)
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        for _ in 0..MOST_OTHER_LINES {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server ended");
            }
            let mut answer: Value =
                serde_json::from_str(&line).context("the server did not answer in JSON")?;
            if answer["id"] == id {
                return match answer.get("error") {
                    Some(error) => bail!("the server answered {error}"),
                    None => Ok(answer["result"].take()),
                };
            }
        }
        bail!("the server does not answer")
    }

    fn run_skill(&mut self) -> anyhow::Result<()> {
        let call = json!({ "name": "run_skill", "arguments": { "skill": SKILL } });
        let result = self.ask("tools/call", &call)?;
        if result["isError"] == true || result["structuredContent"]["exit_code"] != 0 {
            bail!("run_skill did not run it: {result}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

pub(in super::super) fn measure(bench: &mut Bench<'_>) -> Vec<Table> {
    let (runs, mut notes) = gather_runs(bench.setup, bench.commands);
    let mut servers = Vec::new();
    for entry in runs {
        let command = bench.commands.iter().find(|command| command.row("run") == entry.name);
        match command.map(|command| anyhow::Ok((command, Server::start(command, bench.setup)?))) {
            Some(Ok((command, server))) => servers.push((entry, command, server)),
            Some(Err(error)) => notes.push(format!("{}: no server: {error:#}", entry.name)),
            None => {}
        }
    }
    let calls = bench.runs.saturating_mul(2);
    // By turns: the run of the first, the call of the first, and so on.
    let times = in_turns(servers.len() * 2, calls, &mut bench.shuffle, After::Nothing, |at| {
        let (entry, _, server): &mut (Entry, _, Server) = &mut servers[at / 2];
        let done = if at.is_multiple_of(2) { run(entry) } else { server.run_skill() };
        done.map(|()| None)
    });
    let mut rows = Vec::new();
    for ((entry, command, _), pair) in servers.iter().zip(times.chunks(2)) {
        let [by_run, by_call] = pair else { continue };
        if let Some(why) = by_run.failure.as_ref().or(by_call.failure.as_ref()) {
            notes.push(format!("{} failed while it was measured: {why}", entry.name));
            continue;
        }
        let beside = by_run.wall.median();
        for (name, times, is_call) in [
            (command.row("run"), by_run, false),
            (format!("`run_skill` of {}", command.row("serve")), by_call, true),
        ] {
            let [middle, slowest] = [times.wall.median(), times.wall.percentile(99)];
            let times_run = ratio(middle, Some(beside));
            let targets = if is_call {
                vec![
                    Target::at_most(BESIDE_RUN, "x `run`", times_run),
                    Target::at_most(SLOWEST_BESIDE_MIDDLE, "x p50 for p99", Some(slowest / middle)),
                ]
            } else {
                Vec::new()
            };
            let figures = vec![
                Some(middle),
                Some(times.wall.percentile(90)),
                Some(slowest),
                times_run,
                Some(slowest / middle),
            ];
            rows.push(TableRow { name, figures, targets });
        }
    }
    vec![Table {
        key: "mcp",
        title: format!("a trivial skill over MCP, {calls} calls of one server"),
        is_about_time: true,
        columns: vec![
            Column { key: "p50_ms", title: "p50 ms", decimals: 2 },
            Column { key: "p90_ms", title: "p90", decimals: 2 },
            Column { key: "p99_ms", title: "p99", decimals: 2 },
            Column { key: "times_run", title: "x `run`", decimals: 2 },
            Column { key: "p99_times_p50", title: "p99 x p50", decimals: 2 },
        ],
        rows,
        notes,
    }]
}
