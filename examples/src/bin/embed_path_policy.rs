//! A small agent runtime with two file tools, kept inside the folder it is given.
//!
//! `cargo run -p skillsandbox-examples --bin embed_path_policy -- DIR` and then calls on standard input, one a line, as
//! `{"tool": "read_file", "args": {"path": "notes.md"}}`.
#![allow(clippy::print_stdout)] // it is a command

use std::io::{Read as _, Write as _};

use serde_json::Value;
use skillsandbox_path_policy::{OpenError, OpenOptions, PathPolicy, PromptRequest, ToolMode, strict_json};

/// Shows more than this of no file.
const MOST: u64 = 64 * 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let policy = PathPolicy::builder()
        .root(root)
        .forbid(".git")
        .mode("write_file", ToolMode::Prompt)
        .mode("delete_file", ToolMode::Deny)
        // A real runtime asks its user; this one lets small texts through.
        .prompter(|request: &PromptRequest<'_>| {
            request.arguments["content"].as_str().is_some_and(|text| text.len() < 1000)
        })
        .build()?;
    println!("tools work inside {}", policy.root().display());
    for line in std::io::stdin().lines() {
        match strict_json(&line?) {
            Ok(call) => println!("{}", answer(&policy, &call)),
            Err(error) => println!("not a call: {error}"),
        }
    }
    Ok(())
}

fn answer(policy: &PathPolicy, call: &Value) -> String {
    let tool = call["tool"].as_str().unwrap_or_default();
    let arguments = &call["args"];
    // First the decision, which the model gets to read …
    let decision = policy.validate_call(tool, arguments);
    if !decision.is_allowed() {
        return decision.reason();
    }
    // … then the work, by the same policy, so that nothing comes between the two.
    let path = arguments["path"].as_str().unwrap_or_default();
    let done = match tool {
        "read_file" => read(policy, path),
        "write_file" => write(policy, path, arguments["content"].as_str().unwrap_or_default()),
        _ => return format!("there is no tool {tool:?} here"),
    };
    done.unwrap_or_else(|error| error.to_string())
}

fn read(policy: &PathPolicy, path: &str) -> Result<String, std::io::Error> {
    let mut text = String::new();
    policy.open(path, &OpenOptions::reading())?.take(MOST).read_to_string(&mut text)?;
    Ok(text)
}

fn write(policy: &PathPolicy, path: &str, content: &str) -> Result<String, std::io::Error> {
    let mut file = policy.create(path).map_err(|error: OpenError| std::io::Error::from(error))?;
    file.write_all(content.as_bytes())?;
    Ok(format!("{} bytes written", content.len()))
}
