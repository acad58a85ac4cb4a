//! Clients that others wrote. `cargo xtask test` installs them; where that could not be, these tests are skipped, loudly.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::World;
use skillsandbox_test_support::missing;

/// The folder of the clients, if this one is there.
fn client(name: &str, program: &str) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_skillsandbox")).ancestors().nth(2).unwrap().join("mcp-clients");
    let folder = std::env::var_os("SKILLSANDBOX_MCP_CLIENTS").map_or(built, PathBuf::from);
    let program = folder.join(program);
    if program.exists() {
        return Some(program);
    }
    missing::skip(&[name]);
    None
}

fn world() -> World {
    let world = World::new();
    std::fs::write(world.path("secret"), "of somebody").unwrap();
    world.skill("works", "", "echo \"works: $1\"");
    world.skill("fails", "", &format!("cat {}; exit 7", world.path("secret").display()));
    world.skill("slow", "resources: { max_runtime_seconds: 100 }", "sleep $1");
    world
}

fn environment(world: &World) -> Value {
    json!({ "HOME": world.path("home"), "XDG_STATE_HOME": world.path("state"), "XDG_CONFIG_HOME": world.path("config"),
        "PATH": std::env::var("PATH").unwrap() })
}

fn python(mode: &str) {
    let Some(python) = client("mcp-python", "python/bin/python") else { return };
    let world = world();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/serve/client.py");
    let output = Command::new(python)
        .arg(script)
        .args([env!("CARGO_BIN_EXE_skillsandbox"), world.root().to_str().unwrap()])
        .args([environment(&world).to_string().as_str(), mode])
        .output()
        .unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.ends_with("ok\n"), "{out}{error}");
}

#[test]
fn row_147_the_python_sdk_speaks_with_it() {
    python("legacy");
}

#[test]
fn row_147_the_python_sdk_speaks_with_it_as_the_newest_protocol_does() {
    python("auto");
}

#[test]
fn row_147_the_inspector_speaks_with_it() {
    let Some(inspector) = client("mcp-inspector", "npm/node_modules/.bin/mcp-inspector") else { return };
    let world = world();
    let ask = |arguments: &[&str]| {
        let mut command = Command::new(&inspector);
        command.args([
            "--cli",
            env!("CARGO_BIN_EXE_skillsandbox"),
            "serve",
            "--root",
            world.root().to_str().unwrap(),
        ]);
        // It keeps a catalogue of servers in its home.
        command.env("HOME", world.path("home")).env("MCP_CATALOG_PATH", world.path("home/catalogue.json"));
        for (name, value) in environment(&world).as_object().unwrap() {
            command.arg("-e").arg(format!("{name}={}", value.as_str().unwrap()));
        }
        let output = command.args(arguments).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{arguments:?}: {}{error}", String::from_utf8_lossy(&output.stdout)));
        (answer, output.status.code(), error)
    };
    // It also says where a schema would not be understood by every client.
    let (tools, code, said) = ask(&["--method", "tools/list", "--strict"]);
    assert_eq!((tools["tools"].as_array().unwrap().len(), code), (9, Some(0)), "{said}");
    assert!(!said.contains("Warning") && !said.contains("unknown format"), "{said}");

    let call = ["--method", "tools/call", "--tool-name", "run_skill", "--tool-arg"];
    let (worked, code, said) = ask(&[&call[..], &["skill=works", "--tool-arg", "args=[\"x\"]"]].concat());
    assert_eq!((&worked["structuredContent"]["stdout"], code), (&json!("works: x\n"), Some(0)), "{said}");
    let (failed, code, _) = ask(&[&call[..], &["skill=fails"]].concat());
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]["exit_code"]),
        (&json!(true), &json!(7)),
        "{failed}"
    );
    // Its own code for an answer with isError.
    assert_eq!(code, Some(5));
    let uri = failed["structuredContent"]["trace_uri"].as_str().unwrap();
    let (trace, _, said) = ask(&["--method", "resources/read", "--uri", uri]);
    assert!(trace["contents"][0]["text"].as_str().unwrap().contains("policy_violations"), "{trace} {said}");
    let (refused, ..) = ask(&[&call[..], &["skill=../outside"]].concat());
    assert_eq!(refused["isError"], true, "{refused}");
}
