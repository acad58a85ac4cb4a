//! `--tty`: a terminal of its own for what is run, driven as a person would.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use sandboxed::{Stage, code, text, trace};
use serde_json::{Value, json};
use skillsandbox_test_support::missing;

/// What came of a command on a terminal.
struct Driven {
    output: String,
    code: i64,
    is_cooked: bool,
}

/// Types into `skillsandbox` with these arguments: each step waits for a text and then does something.
fn drive(stage: &Stage, arguments: &[&str], steps: &[(&str, &str, Value)]) -> Option<Driven> {
    let wanted = missing::inside(["python3", "bash", "stty"]);
    if !wanted.is_empty() {
        missing::skip(&wanted);
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal/drive.py");
    let program = std::env::var("SKILLSANDBOX").unwrap_or_else(|_| env!("CARGO_BIN_EXE_skillsandbox").into());
    let argv: Vec<&str> = [program.as_str()].into_iter().chain(arguments.iter().copied()).collect();
    let request = json!({
        "argv": argv, "steps": steps, "rows": 33, "columns": 101,
        "env": { "HOME": stage.home(), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "xterm-256color", "PS1": "" },
    });
    let mut python = Command::new("python3");
    let mut child = python
        .arg(script)
        .current_dir(stage.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["steps_left"], 0, "{answer:#}");
    Some(Driven {
        output: answer["output"].as_str().unwrap().to_owned(),
        code: answer["code"].as_i64().unwrap(),
        is_cooked: answer["is_cooked"].as_bool().unwrap(),
    })
}

const SHELL: [&str; 6] = ["exec", "-t", "bash", "--norc", "--noprofile", "-i"];

#[test]
fn a_shell_has_a_terminal_of_its_own_of_the_size_of_the_users() {
    let stage = Stage::new();
    let steps = [
        ("$ ", "type", json!("tty; stty size; echo $TERM; echo on${X}e\r")),
        ("\none", "resize", json!([40, 132])),
        ("$ ", "type", json!("until stty size | grep '40 132'; do sleep 0.1; done; echo tw${X}o\r")),
        ("\ntwo", "type", json!("exit 7\r")),
    ];
    let Some(driven) = drive(&stage, &SHELL, &steps) else { return };
    for text in ["/dev/pts/0\r\n33 101\r\nxterm-256color\r\none", "40 132\r\ntwo"] {
        assert!(driven.output.contains(text), "{text}: {}", driven.output);
    }
    assert_eq!(driven.code, 7, "{}", driven.output);
    assert!(driven.is_cooked, "the user's terminal is as it was");
    // What was shown is in the trace, as output of every run is.
    let recorded = trace(&stage.traces()[0]).to_string();
    assert!(recorded.contains("33 101"), "{recorded}");
}

#[test]
fn ctrl_c_goes_to_the_program_inside_and_not_to_the_run() {
    let stage = Stage::new();
    let script = "
import sys, time
try:
    print('rea' + 'dy', flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    print('interrupted')
    sys.exit(5)
";
    let steps = [("ready", "type", json!("\u{3}"))];
    let Some(driven) = drive(&stage, &["exec", "-t", "-q", "python3", "-c", script], &steps) else { return };
    assert!(driven.output.contains("interrupted"), "{}", driven.output);
    assert_eq!(driven.code, 5, "{}", driven.output);
    assert!(driven.is_cooked);
}

#[test]
fn a_signal_to_the_command_ends_the_run_and_gives_the_terminal_back() {
    for (number, wanted) in [(15, 143), (1, 129), (2, 130)] {
        let stage = Stage::new();
        let steps =
            [("$ ", "type", json!("echo beg${X}un; sleep 1000\r")), ("begun", "signal", json!(number))];
        let Some(driven) = drive(&stage, &SHELL, &steps) else { return };
        assert_eq!(driven.code, wanted, "{}", driven.output);
        assert!(driven.is_cooked, "{number}");
    }
}

#[test]
fn programs_of_the_screen_work() {
    let stage = Stage::new();
    let steps = [
        (">>> ", "type", json!("import os; print(6 * 7, os.isatty(0))\r")),
        ("42 True", "type", json!("")),
        // Only at the next prompt: what is typed while the interpreter sets its terminal up may be thrown away.
        (">>> ", "type", json!("\u{4}")),
    ];
    let Some(driven) = drive(&stage, &["exec", "-t", "python3", "-q", "-i"], &steps) else { return };
    assert_eq!(driven.code, 0, "{}", driven.output);
    if !missing::inside(["less"]).is_empty() {
        missing::skip(&["less"]);
        return;
    }
    let script = "for n in $(seq 200); do echo line $n; done | less";
    let steps = [("line 30", "type", json!("G")), ("line 200", "type", json!("q"))];
    let driven = drive(&stage, &["exec", "-t", "sh", "-c", script], &steps).unwrap();
    assert_eq!(driven.code, 0, "{}", driven.output);
    // It reads its keys from /dev/tty, and leaves the second screen.
    assert!(
        driven.output.contains("\u{1b}[?1049h") && driven.output.contains("\u{1b}[?1049l"),
        "{}",
        driven.output
    );
    assert!(driven.is_cooked);
}

/// Sequences that a terminal answers: the answer would be typed into the user's shell when the run has ended.
const QUESTIONS: &str = r"\033[c\033[>c\033[6n\033[5n\033[18t\033[21t\033]52;c;?\007\033]10;?\033\\\033P+q544e\033\\\033[?1000h\033Z";

#[test]
fn nothing_that_the_users_terminal_would_answer_reaches_it() {
    let stage = Stage::new();
    let script = format!("printf 'before{QUESTIONS}after\\n'");
    let Some(driven) = drive(&stage, &["exec", "-t", "-q", "bash", "-c", &script], &[]) else { return };
    let shown: String = driven.output.split("after").next().unwrap().to_owned();
    assert_eq!(shown, "before", "{:?}", driven.output);
    // The control: the user can ask for all of it.
    let raw = drive(&stage, &["exec", "-t", "-q", "--raw", "bash", "-c", &script], &[]).unwrap();
    assert!(raw.output.contains("\u{1b}[6n") && raw.output.contains("\u{1b}]52;c;?"), "{:?}", raw.output);
}

#[test]
fn what_was_typed_and_not_read_is_thrown_away_at_the_end() {
    let stage = Stage::new();
    // As an answer of the terminal would be, it comes when nobody inside reads any more.
    let steps = [("ready", "type", json!("touch pwned\r"))];
    let Some(driven) =
        drive(&stage, &["exec", "-t", "-q", "bash", "-c", "stty -echo; echo ready; sleep 0.5"], &steps)
    else {
        return;
    };
    assert_eq!(driven.code, 0, "{}", driven.output);
    assert!(!driven.output.contains("pwned"), "{}", driven.output);
}

#[test]
fn nothing_can_be_typed_into_the_users_terminal_from_inside() {
    let stage = Stage::new();
    // TIOCSTI and TIOCLINUX, on each of its streams and on /dev/tty; and no descriptor but those of its own terminal.
    let script = "
import fcntl, os
for fd in (0, 1, 2, os.open('/dev/tty', os.O_RDWR)):
    for number in (0x5412, 0x541c):
        try:
            fcntl.ioctl(fd, number, b'x')
            print('TYPED')
        except OSError as error:
            print('refused', error.errno)
    print(os.ttyname(fd) if fd < 3 else 'tty')
print(sorted(os.listdir('/dev/pts')), sorted(os.listdir('/proc/self/fd')))
";
    let Some(driven) = drive(&stage, &["exec", "-t", "-q", "python3", "-c", script], &[]) else { return };
    assert!(!driven.output.contains("TYPED"), "{}", driven.output);
    assert_eq!(driven.output.matches("refused 1").count(), 8, "{}", driven.output);
    assert_eq!(driven.output.matches("/dev/pts/0").count(), 3, "{}", driven.output);
    assert!(driven.output.contains("['0', 'ptmx'] ['0', '1', '2', '3', '4']"), "{}", driven.output);
}

#[test]
fn whoever_keeps_the_terminal_open_does_not_keep_the_run() {
    let stage = Stage::new();
    let script = "echo begun; (trap '' HUP TERM INT; exec sleep 1000) & disown; setsid sleep 1000 & exit 3";
    let Some(driven) = drive(&stage, &["exec", "-t", "-q", "bash", "-c", script], &[]) else { return };
    assert_eq!(driven.code, 3, "{}", driven.output);
    // One that closes its terminal goes on, and can open it again.
    let script = "exec 0<&- 1>&- 2>&-; sleep 0.3; echo again > /dev/tty; exit 4";
    let driven = drive(&stage, &["exec", "-t", "-q", "bash", "-c", script], &[]).unwrap();
    assert!(driven.code == 4 && driven.output.contains("again"), "{} {}", driven.code, driven.output);
}

#[test]
fn much_output_and_many_sizes_lose_nothing() {
    let stage = Stage::new();
    let steps = [("line 5000\r", "resize-often", json!(2000)), ("line 60000\r", "resize", json!([24, 80]))];
    let script = "seq -f 'line %.0f' 100000; stty size; echo end";
    let Some(driven) = drive(&stage, &["exec", "-t", "-q", "bash", "-c", script], &steps) else { return };
    assert_eq!(driven.code, 0);
    let lines = driven.output.lines().filter(|line| line.starts_with("line ")).count();
    assert_eq!(lines, 100_000);
    assert!(driven.output.contains("\nend\r\n"));
}

#[test]
fn without_a_terminal_it_is_an_error_that_says_so() {
    let stage = Stage::new();
    let output = stage.run(&["exec", "-t", "true"]);
    assert_eq!(code(&output), 2);
    let said = text(&output.stderr);
    assert!(said.contains("--tty needs a terminal, and standard input is not one"), "{said}");
    assert!(stage.traces().is_empty(), "nothing was run");
    for flags in [["--format", "json"].as_slice(), &["--watch"], &["--stdin"]] {
        let arguments = [&["exec", "-t"], flags, &["true"]].concat();
        assert_eq!(code(&stage.run(&arguments)), 2, "{flags:?}");
    }
}

#[test]
fn a_skill_can_have_one_too() {
    let stage = Stage::new();
    let skill = stage.shell_skill("", "tty; test -t 0 && test -t 1 && test -t 2 && echo all three; exit 6\n");
    let Some(driven) = drive(&stage, &["run", "-t", "-q", skill.to_str().unwrap()], &[]) else { return };
    assert!(driven.output.contains("/dev/pts/0\r\nall three"), "{}", driven.output);
    assert_eq!(driven.code, 6);
}

#[test]
fn without_the_flag_there_is_no_terminal_inside() {
    let stage = Stage::new();
    let script = "tty; ls /dev/tty; test -t 0 || test -t 1 || test -t 2 || echo none";
    let Some(driven) = drive(&stage, &["exec", "-q", "sh", "-c", script], &[]) else { return };
    assert!(driven.output.contains("not a tty") && driven.output.contains("none"), "{}", driven.output);
    assert!(driven.output.contains("No such file"), "{}", driven.output);
}

#[test]
fn ctrl_c_without_a_terminal_of_its_own_is_130() {
    let stage = Stage::new();
    let steps = [("begun", "type", json!("\u{3}"))];
    let Some(driven) = drive(&stage, &["exec", "-q", "sh", "-c", "echo begun; sleep 1000"], &steps) else {
        return;
    };
    assert_eq!(driven.code, 130, "{}", driven.output);
}
