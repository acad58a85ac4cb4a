//! Programs in the sandbox, and what is known of them afterwards.

use std::time::Duration;

use skillsandbox_enforcer::egress::{Attempt, AttemptVerdict};
use skillsandbox_enforcer::{Command, Plan, PlanBuilder, RunOutcome};

/// What scripts need, and what most of them do.
const PRELUDE: &str = "
import errno, os, socket, struct, sys, threading, time, zlib
socket.setdefaulttimeout(60)
def dial(host, port, family=0):
    return socket.create_connection((host, port)) if not family else direct(family, host, port)
def direct(family, host, port, kind=socket.SOCK_STREAM):
    s = socket.socket(family, kind); s.connect((host, port)); return s
def all_of(s):
    parts = []
    while (part := s.recv(1 << 16)): parts.append(part)
    return b''.join(parts)
def tried(what, *more):
    'The outcome of a call, or the name of its error.'
    try: return what(*more)
    except socket.gaierror as e: return 'gaierror %d' % e.errno
    except OSError as e: return errno.errorcode.get(e.errno, str(e))
";

/// A plan that ends by itself.
#[must_use]
pub fn plan() -> PlanBuilder {
    Plan::builder().timeout(Duration::from_mins(2))
}

/// Runs a script of Python under a plan and captures what it says.
#[must_use]
pub fn python(plan: PlanBuilder, script: &str) -> RunOutcome {
    let plan = plan.build().expect("the plan is sound");
    let running = plan.spawn(&command(script)).expect("the sandbox stands");
    running.wait().expect("the run is watched to its end")
}

/// The command that [`python`] runs.
#[must_use]
pub fn command(script: &str) -> Command {
    Command::new("/usr/bin/python3").args(["-I", "-c", &format!("{PRELUDE}{script}")]).captured(1 << 20)
}

/// What the same script says outside the sandbox, in the network of the test: the control.
#[must_use]
pub fn outside(script: &str) -> String {
    let mut command = std::process::Command::new("/usr/bin/python3");
    let output = command.args(["-I", "-c", &format!("{PRELUDE}{script}")]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a script said, provided that it ended well.
#[must_use]
pub fn said(outcome: &RunOutcome) -> String {
    let RunOutcome { status, end, stderr, .. } = outcome;
    assert!(outcome.success(), "{status:?} {end:?}\n{}{}", stderr.text(), attempts(outcome));
    outcome.stdout.text().into_owned()
}

/// Everything that was tried, as a person would be told.
#[must_use]
pub fn attempts(outcome: &RunOutcome) -> String {
    outcome.network.attempts.iter().map(|attempt| format!("{attempt}\n")).collect()
}

/// Attempts that something was let through for: connections and datagrams, not lookups.
pub fn reached(outcome: &RunOutcome) -> impl Iterator<Item = &Attempt> {
    outcome.network.attempts.iter().filter(|attempt| attempt.dialled.is_some())
}

/// Attempts that were refused.
pub fn refused(outcome: &RunOutcome) -> impl Iterator<Item = &Attempt> {
    let is_refused = |attempt: &&Attempt| matches!(attempt.verdict, AttemptVerdict::Refused(_));
    outcome.network.attempts.iter().filter(is_refused)
}
