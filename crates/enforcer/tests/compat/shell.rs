//! Shells.

use crate::case::Case;

/// What `scripts/plain.sh` prints in every shell.
const PLAIN: &str = "pipeline 3\nhere-doc: expanded 3\nhere-doc: $literal\nsubstitution 42\nbackground 0\nstatus 7\n\
                     fifo through\nread one|two three\nfunction 6\nredirected out err\nloop 1 2 3\n\
                     subshell inner outer\ntrapped TERM\nglob a.txt b.txt\ncase match\numask 600\nexit trap\n";

#[test]
fn bash_and_dash_do_what_every_shell_does() {
    for shell in ["bash", "dash", "sh"] {
        Case::script(shell, "plain.sh", include_str!("scripts/plain.sh")).prints(PLAIN);
    }
}

#[test]
fn busybox_does_it_too() {
    let case = Case::new("busybox").file("plain.sh", include_str!("scripts/plain.sh"));
    case.args(["sh", "plain.sh"]).prints(PLAIN);
}

#[test]
fn what_only_bash_has() {
    let expected = "process substitution 2a3\nhere-string HELLO\narray 3 two\nmap blue\ncoprocess 42\n\
                    pipe status 1 0\nwait -n 5\nregex 2024\npipefail 1\nmapfile 3\ntee both both\njobs 2\n\
                    monitor off\ndevice fd text\nchildren gone\n";
    Case::script("bash", "bash.sh", include_str!("scripts/bash.sh")).prints(expected);
}

#[test]
fn a_program_reads_what_is_written_to_it() {
    use std::io::Write as _;

    use skillsandbox_enforcer::{Command, Plan, StdinMode};

    let plan = Plan::builder().timeout(std::time::Duration::from_mins(5)).build().unwrap();
    let command = Command::new("sh").args(["-c", "while read -r line; do echo \"<$line>\"; done"]);
    let mut running = plan.spawn(&command.stdin(StdinMode::Piped).captured(1000)).unwrap();
    running.stdin().unwrap().write_all(b"one\ntwo\n").unwrap();
    let outcome = running.wait().unwrap();
    assert_eq!((outcome.stdout.text().as_ref(), outcome.success()), ("<one>\n<two>\n", true));
}
