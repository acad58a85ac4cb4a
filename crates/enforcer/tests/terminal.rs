//! A terminal of its own for a command.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Read as _;

use skillsandbox_enforcer::{Command, CommandStatus, Plan, TerminalSize};

/// What a script shows on its terminal, and its exit code.
fn shown(script: &str, typed: &[u8]) -> (String, CommandStatus) {
    let plan = Plan::builder().build().unwrap();
    let command = Command::new("sh").args(["-c", script]).terminal(TerminalSize { rows: 17, columns: 71 });
    let mut running = plan.spawn(&command).unwrap();
    assert!(running.stdin().is_none() && running.stdout().is_none() && running.stderr().is_none());
    let terminal = running.terminal().unwrap();
    assert!(running.terminal().is_none());
    let mut output = terminal.output().unwrap();
    let control = terminal.control();
    assert_eq!(control.type_bytes(typed).unwrap(), typed.len());
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        output.read_to_end(&mut all).unwrap();
        String::from_utf8_lossy(&all).into_owned()
    });
    let outcome = running.wait().unwrap();
    (reader.join().unwrap(), outcome.status)
}

#[test]
fn it_is_the_controlling_terminal_and_lies_in_the_sandboxs_own_folder() {
    let (text, status) = shown("tty; stty size; echo through > /dev/tty; echo /dev/pts/*; exit 9", b"");
    assert_eq!(text, "/dev/pts/0\r\n17 71\r\nthrough\r\n/dev/pts/0 /dev/pts/ptmx\r\n");
    assert_eq!(status, CommandStatus::Exited(9));
}

#[test]
fn what_is_typed_arrives_and_ctrl_c_is_a_signal_inside() {
    let (text, status) = shown("read line; echo \"got $line\"; exit 3", b"some words\r");
    assert!(text.contains("got some words"), "{text}");
    assert_eq!(status, CommandStatus::Exited(3));
    // Typed before anybody reads: the terminal itself makes a signal of it.
    let (_, status) = shown("trap 'exit 5' INT; while :; do sleep 0.05; done", b"\x03");
    assert!(matches!(status, CommandStatus::Exited(5) | CommandStatus::Signalled(2)), "{status:?}");
}

#[test]
fn without_it_there_is_no_terminal_and_no_name_for_one() {
    let plan = Plan::builder().build().unwrap();
    let command = Command::new("sh").args(["-c", "tty; ls /dev/tty; : < /dev/tty"]).captured(1 << 16);
    let outcome = plan.spawn(&command).unwrap().wait().unwrap();
    assert_eq!(outcome.stdout.text(), "not a tty\n");
    assert!(outcome.stderr.text().contains("No such file"), "{}", outcome.stderr.text());
}
