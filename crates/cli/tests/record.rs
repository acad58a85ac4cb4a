//! The record of a run: told from one that was written anew, bounded under a flood, and never forged on a terminal.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use sandboxed::{Stage, code, text, trace};
use serde_json::Value;
use skillsandbox_test_support::small_trace::chained_anew;

fn verify(stage: &Stage, arguments: &[&str]) -> (Value, i32) {
    let output = stage.run(&[&["trace", "verify", "--format", "json"], arguments].concat());
    let report =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
    (report, code(&output))
}

/// A run, and its trace.
fn ran(stage: &Stage, flags: &[&str]) -> PathBuf {
    let skill = stage.shell_skill("", "cat /etc/shadow; exit 0");
    let skill = skill.to_str().unwrap();
    let output = stage.run(&[&["run", "--skip-scan", skill], flags].concat());
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    stage.traces().into_iter().find(is_trace).unwrap()
}

/// Says of the run that it was another one, with hashes that fit.
fn write_anew(path: &PathBuf) {
    let before = fs::read_to_string(path).unwrap();
    let edited = before.replacen("\"exit_code\":0", "\"exit_code\":7", 1);
    assert_ne!(edited, before);
    fs::write(path, chained_anew(&edited)).unwrap();
}

#[test]
fn row_180_a_trace_that_was_chained_anew_is_told_from_the_recorded_one() {
    let stage = Stage::new();
    let path = ran(&stage, &[]);
    let name = path.to_str().unwrap();
    let output = stage.run(&["trace", "verify", name]);
    assert!(
        text(&output.stdout).contains("intact, unsigned, recorded in the history"),
        "{}",
        text(&output.stdout)
    );
    let (report, code) = verify(&stage, &[name]);
    assert_eq!(
        (code, &report["recorded"], &report["signature"]),
        (0, &"recorded".into(), &"unsigned".into())
    );

    write_anew(&path);
    let (report, code) = verify(&stage, &[name]);
    assert_eq!(
        (code, &report["intact"], &report["how"]),
        (1, &false.into(), &"other_than_recorded".into()),
        "{report}"
    );
    let output = stage.run(&["trace", "verify", name]);
    assert!(text(&output.stderr).contains("not the one that was recorded"), "{}", text(&output.stderr));

    // A trace that the history does not know is intact, and that is said.
    let other = Stage::new();
    let foreign = ran(&other, &["--no-history"]);
    let output = other.run(&["trace", "verify", foreign.to_str().unwrap()]);
    assert_eq!(sandboxed::code(&output), 0);
    assert!(
        text(&output.stdout).contains("intact, unsigned, not in the history"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn row_180_a_signed_head_verifies_and_a_history_that_was_written_anew_does_not() {
    let stage = Stage::new();
    // Without a key nothing is run.
    let skill = stage.shell_skill("", "exit 0");
    let refused = stage.run(&["run", "--skip-scan", "--sign", skill.to_str().unwrap()]);
    assert_eq!(code(&refused), 2);
    assert!(text(&refused.stderr).contains("skillsandbox key create"), "{}", text(&refused.stderr));
    assert!(stage.traces().is_empty());

    let made = stage.run(&["key", "create"]);
    assert_eq!(code(&made), 0, "{}", text(&made.stderr));
    let key = text(&made.stdout).trim().to_owned();
    assert_eq!(text(&stage.run(&["key", "show"]).stdout).trim(), key);
    assert_eq!(code(&stage.run(&["key", "create"])), 2, "a key is never replaced");
    let file = stage.home().join(".local/state/skillsandbox/signing.key");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, 0o600);

    let path = ran(&stage, &["--sign"]);
    let name = path.to_str().unwrap();
    let (report, code) = verify(&stage, &[name]);
    assert_eq!(
        (code, &report["signature"], &report["key"]),
        (0, &"signed".into(), &key.as_str().into()),
        "{report}"
    );
    assert_eq!(verify(&stage, &[name, "--key", &key]).1, 0);
    assert_eq!(verify(&stage, &[name, "--key", &"00".repeat(32)]).1, 1);

    // Another implementation, written from docs/trace.md, agrees.
    let python = |file: &str, key: &str| {
        Command::new("python3")
            .args(["-c", include_str!("../../tracer/tests/verify.py"), file, key])
            .output()
            .unwrap()
            .status
            .success()
    };
    assert!(python(name, &key) && !python(name, &"00".repeat(32)));
    let beside = fs::read_to_string(format!("{name}.sig")).unwrap();
    let forged = stage.write("home/forged.json", &fs::read_to_string(&path).unwrap());
    let link = beside.split("\"history\": \"").nth(1).unwrap().split('"').next().unwrap();
    stage.write("home/forged.json.sig", &beside.replace(link, &"00".repeat(32)));
    let forged = forged.to_str().unwrap();
    assert!(!python(forged, &key));
    assert_eq!(verify(&stage, &[forged]).1, 1);

    // Elsewhere, with the public key alone: the signature lies beside the trace.
    let elsewhere = Stage::new();
    let copy = elsewhere.write("home/copy.json", &fs::read_to_string(&path).unwrap());
    elsewhere.write("home/copy.json.sig", &beside);
    let copy = copy.to_str().unwrap();
    assert_eq!(verify(&elsewhere, &[copy, "--key", &key]).0["signature"], "signed");
    assert_eq!(verify(&elsewhere, &[copy]).0["signature"], "unchecked");
    let unsigned = elsewhere.write("home/unsigned.json", &fs::read_to_string(&path).unwrap());
    assert_eq!(verify(&elsewhere, &[unsigned.to_str().unwrap(), "--key", &key]).1, 1);

    // Another one in its place, also where the history goes along.
    write_anew(&path);
    let digest = trace(&path)["digest"].as_str().unwrap().to_owned();
    let database = stage.home().join(".local/state/skillsandbox/history.db");
    let script = format!(
        "import sqlite3; c = sqlite3.connect({:?}); c.execute('UPDATE runs SET digest = ?', ({digest:?},)); c.commit()",
        database.to_str().unwrap()
    );
    assert!(Command::new("python3").args(["-c", &script]).status().unwrap().success());
    let (report, code) = verify(&stage, &[name]);
    assert_eq!((code, &report["how"]), (1, &"signature".into()), "{report}");
    let history = stage.run(&["history", "verify"]);
    assert_eq!(sandboxed::code(&history), 1, "{}", text(&history.stdout));
}

#[test]
fn row_180_no_run_can_read_the_key_or_write_beside_it() {
    let stage = Stage::new();
    assert_eq!(code(&stage.run(&["key", "create"])), 0);
    let home = stage.home();
    let declaration =
        format!("permissions: {{ filesystem: {{ read: [\"{0}\"], write: [\"{0}\"] }} }}\n", home.display());
    let skill = stage.shell_skill(
        &declaration,
        "cat \"$1\" && echo READ; echo x >> \"$1\" && echo WRITTEN; mv \"$1\" \"$1.old\" && echo MOVED; echo y > \"$2/mine\" && echo CONTROL; exit 0",
    );
    let file = home.join(".local/state/skillsandbox/signing.key");
    let before = fs::read(&file).unwrap();
    let arguments =
        ["run", "--skip-scan", skill.to_str().unwrap(), "--", file.to_str().unwrap(), home.to_str().unwrap()];
    // `own` is the first argument of the manifest's own.
    let script = fs::read_to_string(skill.join("main.sh")).unwrap();
    fs::write(skill.join("main.sh"), format!("shift; {script}")).unwrap();
    let output = stage.run(&arguments);
    let printed = text(&output.stdout);
    assert!(printed.contains("CONTROL"), "{printed} {}", text(&output.stderr));
    assert!(
        !printed.contains("READ") && !printed.contains("WRITTEN") && !printed.contains("MOVED"),
        "{printed}"
    );
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn row_178_a_flood_leaves_the_launcher_small_and_the_trace_within_its_limit() {
    let stage = Stage::new();
    // Long names that are all different, arguments of 60 KiB, and output: 96 MiB of each at most, so that it ends.
    let skill = stage.shell_skill("resources: { max_output_bytes: 128M }\n", "exec python3 flood.py\n");
    let flood = "import os, sys, subprocess
for number in range(24000):
    try: os.open('/root/%d/' % number + '/'.join(['x' * 250] * 15), os.O_RDONLY)
    except OSError: pass
for number in range(300):
    subprocess.run(['/bin/true', '%d' % number] + ['y' * 4000] * 15)
for number in range(6000): print('z' * 15000)
print('done', file=sys.stderr)
";
    fs::write(skill.join("flood.py"), flood).unwrap();
    let mut running = stage
        .command(&["run", "--skip-scan", "--quiet", "--timeout", "600", skill.to_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", running.id());
    let mut peak = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let figure = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .and_then(|rest| rest.split_whitespace().next());
        peak = peak.max(figure.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0));
        if running.try_wait().unwrap().is_some() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut told = String::new();
    running.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert!(told.contains("done"), "{told}");
    let path = stage.traces().remove(0);
    let bytes = fs::metadata(&path).unwrap().len();
    println!("peak {peak} KiB, trace {bytes} bytes");
    assert!(peak > 0 && peak < 256 << 10, "the launcher had {peak} KiB");
    assert!(bytes <= 64 << 20, "the trace has {bytes} bytes");
    let trace = trace(&path);
    let summary = &trace["violation_summary"];
    assert_eq!(summary["complete"], false);
    assert!(summary["lost"].as_u64().unwrap() > 0, "{summary}");
    let because = summary["incomplete_because"].to_string();
    assert!(because.contains("limit"), "{because}");
    let last = trace["events"].as_array().unwrap().last().unwrap();
    let ended = trace["events"].as_array().unwrap().iter().any(|event| event["kind"] == "run_ended");
    assert!(ended, "{last}");
    assert_eq!(verify(&stage, &[path.to_str().unwrap()]).1, 0);
}

#[test]
fn row_178_a_smaller_limit_is_held_and_said_in_the_trace() {
    let stage = Stage::new();
    let skill = stage.shell_skill(
        "resources: { max_output_bytes: 64M }\n",
        "i=0; while [ $i -lt 400 ]; do printf '%016000d\\n' $i; i=$((i+1)); done; cat /etc/shadow; exit 0",
    );
    let output =
        stage.run(&["run", "--skip-scan", "--quiet", "--trace-limit", "4M", skill.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let path = stage.traces().remove(0);
    assert!(fs::metadata(&path).unwrap().len() <= 4 << 20);
    let trace = trace(&path);
    assert_eq!(trace["violation_summary"]["complete"], false);
    // What was denied after the noise is in it.
    let shadow =
        trace["events"].as_array().unwrap().iter().find(|event| event["path"] == "/etc/shadow").unwrap();
    assert_eq!(shadow["verdict"], "denied");
    assert_eq!(code(&stage.run(&["run", "--trace-limit", "1M", skill.to_str().unwrap()])), 2);
}

#[test]
fn row_178_the_folder_of_traces_is_kept_within_its_budget_and_pinned_ones_stay() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "exit 0");
    let run = || assert_eq!(code(&stage.run(&["run", "--skip-scan", "--quiet", skill.to_str().unwrap()])), 0);
    for _ in 0..4 {
        run();
    }
    let history = stage.run(&["history", "--format", "json"]);
    let history: Value = serde_json::from_slice(&history.stdout).unwrap();
    let oldest = &history.as_array().unwrap().last().unwrap();
    let (id, pinned) = (oldest["execution_id"].as_str().unwrap(), oldest["trace"].as_str().unwrap());
    assert_eq!(code(&stage.run(&["history", "pin", id])), 0);
    let shown = stage.run(&["trace", "prune", "--keep", "2", "--dry-run"]);
    assert_eq!((code(&shown), stage.traces().len()), (0, 4), "{}", text(&shown.stderr));
    assert_eq!(code(&stage.run(&["trace", "prune", "--keep", "2"])), 0);
    assert_eq!(stage.traces().len(), 2);
    assert!(fs::exists(pinned).unwrap());
    // The history says what became of the others, and is whole.
    assert_eq!(code(&stage.run(&["history", "verify"])), 0);
}

/// Runs the command on a terminal of its own, and returns what that was sent.
fn on_a_terminal(stage: &Stage, arguments: &[&str]) -> String {
    let pty = "import os, pty, sys
seen = b''
def read(fd):
    global seen
    data = os.read(fd, 65536)
    seen += data
    return data
status = pty.spawn(sys.argv[1:], read)
";
    let command = stage.command(arguments);
    let mut python = Command::new("python3");
    python.args(["-c", pty]).arg(command.get_program()).args(command.get_args());
    python.env("HOME", stage.home()).env("TERM", "xterm").env("NO_COLOR", "1").stdin(Stdio::null());
    text(&python.output().unwrap().stdout)
}

#[test]
fn watch_on_a_terminal_passes_nothing_that_forges_a_line_or_clears_the_screen() {
    let stage = Stage::new();
    let forged = "[00:00:00.000] ALLOWED read /forged";
    let script = format!(
        "printf '\\033[2J\\033[H'; echo '{forged}'; printf '\\033[1A\\033]0;title\\007' >&2; echo '{forged}' >&2; printf 'partial'; exit 0"
    );
    let skill = stage.shell_skill("", &script);
    let skill = skill.to_str().unwrap();
    let watched = on_a_terminal(&stage, &["run", "--skip-scan", "--watch", skill]);
    assert!(watched.contains("/forged"), "{watched}");
    for line in watched.lines().filter(|line| line.contains("/forged")) {
        // It is shown as output, behind a time and a word of ours.
        assert!(line.contains("OUTPUT"), "{line:?}\n{watched}");
    }
    let plain = on_a_terminal(&stage, &["run", "--skip-scan", skill]);
    assert!(plain.contains("/forged") && plain.contains("\\u{1b}[2J"), "{plain}");
    for shown in [&watched, &plain] {
        for raw in ["\u{1b}[2J", "\u{1b}[H", "\u{1b}[1A", "\u{1b}]0;", "\u{7}"] {
            assert!(!shown.contains(raw), "{raw:?}: {shown:?}");
        }
    }
    // What a person asks for is passed on, and so is what goes to a file.
    assert!(on_a_terminal(&stage, &["run", "--skip-scan", "--raw", skill]).contains("\u{1b}[2J"));
    let output = stage.run(&["run", "--skip-scan", skill]);
    assert!(text(&output.stdout).contains("\u{1b}[2J"));
}

#[test]
fn watch_never_mixes_raw_output_into_the_stream_of_the_view() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "echo '[00:00:00.000] ALLOWED forged' >&2; echo to-stdout; exit 0");
    let output = stage.run(&["run", "--skip-scan", "--watch", skill.to_str().unwrap()]);
    assert!(text(&output.stdout).contains("to-stdout"), "another file is as it was");
    for line in text(&output.stderr).lines().filter(|line| line.contains("forged")) {
        assert!(line.contains("OUTPUT"), "{line}");
    }
    // One file for both.
    let file = fs::File::create(stage.home().join("both")).unwrap();
    let mut command = stage.command(&["run", "--skip-scan", "--watch", skill.to_str().unwrap()]);
    command.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
    let both = fs::read_to_string(stage.home().join("both")).unwrap();
    for line in both.lines().filter(|line| line.contains("to-stdout") || line.contains("forged")) {
        assert!(line.contains("OUTPUT"), "{line}");
    }
}

#[test]
fn the_trace_keeps_no_more_of_an_argument_than_the_history() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "/bin/true --token swordfish-and-more API_KEY=hunter-of-two; exit 0");
    let output = stage.run(&[
        "run",
        "--skip-scan",
        "--quiet",
        skill.to_str().unwrap(),
        "--",
        "--password",
        "open-sesame-7",
    ]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let written = fs::read_to_string(stage.traces().remove(0)).unwrap();
    for secret in ["swordfish-and-more", "hunter-of-two", "open-sesame-7"] {
        assert!(!written.contains(secret), "{secret}");
    }
    assert!(written.contains("--token") && written.contains("[REDACTED]"));
}

#[test]
fn a_pipe_in_the_place_of_a_trace_is_not_waited_for() {
    let stage = Stage::new();
    let path = ran(&stage, &[]);
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let output = stage.run(&["trace", "verify", path.to_str().unwrap()]);
    assert_eq!(code(&output), 2);
    assert!(text(&output.stderr).contains("not a plain file"), "{}", text(&output.stderr));
}
