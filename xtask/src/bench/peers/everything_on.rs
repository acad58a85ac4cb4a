//! Whether the command does all that it is known for while it is measured: a run is in the history, and its trace says which file was opened.
//! A figure of a command with something switched off would be no figure of it.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::options::NamedCommand;

/// What the run reads, and nothing else would.
const READ: &str = "/usr/bin/true";

pub(super) fn check(command: &NamedCommand) -> anyhow::Result<()> {
    look(command).with_context(|| format!("{} does not do everything", command.row("exec")))
}

fn look(command: &NamedCommand) -> anyhow::Result<()> {
    let start = |words: &[&str]| {
        let mut start = Command::new(&command.path);
        start.args(words).env("HOME", &command.home).stdin(Stdio::null()).output()
    };
    let run = start(&["exec", "--", "/bin/cat", READ])?;
    if !run.status.success() {
        bail!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr).trim());
    }
    let history = start(&["history", "--format", "json"])?;
    let trace = recorded_trace(&history.stdout)?;
    let trace = fs::read_to_string(&trace).with_context(|| format!("cannot read {trace}"))?;
    if !observes_read(&serde_json::from_str(&trace)?) {
        bail!("its trace does not say that {READ} was opened");
    }
    Ok(())
}

/// Where the trace of the newest run is, by the history.
fn recorded_trace(history: &[u8]) -> anyhow::Result<String> {
    let history: Value = serde_json::from_slice(history).context("the history is not readable")?;
    let newest = &history[0];
    let arguments = newest["arguments"].as_array().context("the history has no record of a run")?;
    if arguments.last().and_then(Value::as_str) != Some(READ) {
        bail!("the newest run of the history is another one");
    }
    Ok(newest["trace"].as_str().context("the record names no trace")?.to_owned())
}

/// Whether a file event of its own says so: the command line names the file, too.
fn observes_read(trace: &Value) -> bool {
    let events = trace["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_read =
        |event: &Value| event["kind"] == "file" && event["operation"] == "read" && event["path"] == READ;
    events.iter().any(is_read)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_that_is_not_recorded_or_not_observed_is_told_from_one_that_is() {
        let record = json!([{ "arguments": ["/bin/cat", READ], "trace": "/t.json" }, { "arguments": [] }]);
        assert_eq!(recorded_trace(record.to_string().as_bytes()).unwrap(), "/t.json");
        for history in ["", "[]", r#"[{"arguments":["/bin/cat"],"trace":"/t.json"}]"#] {
            recorded_trace(history.as_bytes()).unwrap_err();
        }
        let started = json!({ "kind": "run_started", "command": ["/bin/cat", READ] });
        let read = json!({ "kind": "file", "operation": "read", "path": READ });
        assert!(observes_read(&json!({ "events": [started, read] })));
        assert!(!observes_read(&json!({ "events": [started] })));
        assert!(!observes_read(&json!({})));
    }
}
