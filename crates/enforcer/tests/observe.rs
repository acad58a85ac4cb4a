//! What a run tries is seen, told with who it was and what came of it, and costs nobody a call that fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use skillsandbox_enforcer::{
    AccessVerdict, Command, CommandStatus, EndCause, Execution, FileOperation, ObserveLevel, ObservedAction,
    ObservedEvent, ObservedFile, Observer, Plan, PlanBuilder, RunOutcome,
};

#[derive(Default)]
struct Notes {
    observed: Mutex<Vec<ObservedEvent>>,
    /// How long it takes to write the first one down.
    slowness: Duration,
}

impl Observer for Notes {
    fn observed(&self, observed: &ObservedEvent) {
        let mut notes = self.observed.lock().unwrap();
        if notes.is_empty() {
            std::thread::sleep(self.slowness);
        }
        notes.push(observed.clone());
    }
}

fn plan() -> PlanBuilder {
    Plan::builder().env("LANG", "C.UTF-8").timeout(Duration::from_mins(1))
}

fn run(plan: PlanBuilder, command: Command) -> (RunOutcome, Vec<ObservedEvent>) {
    let notes = Arc::new(Notes::default());
    let command = command.observer(Arc::clone(&notes) as Arc<dyn Observer>).captured(1 << 20);
    let outcome = plan.build().unwrap().spawn(&command).unwrap().wait().unwrap();
    let observed = std::mem::take(&mut *notes.observed.lock().unwrap());
    (outcome, observed)
}

fn python(script: &str) -> Command {
    Command::new("python3").args(["-c", script])
}

fn files(observed: &[ObservedEvent]) -> Vec<&ObservedFile> {
    let file = |observed: &ObservedEvent| matches!(observed.tried, ObservedAction::File(_));
    let files = observed.iter().filter(|observed| file(observed));
    files
        .map(|observed| if let ObservedAction::File(file) = &observed.tried { file } else { unreachable!() })
        .collect()
}

fn programs(observed: &[ObservedEvent]) -> Vec<&Execution> {
    observed
        .iter()
        .filter_map(
            |observed| if let ObservedAction::Exec(exec) = &observed.tried { Some(exec) } else { None },
        )
        .collect()
}

#[track_caller]
fn find<'a>(observed: &'a [ObservedEvent], operation: FileOperation, path: &str) -> &'a ObservedFile {
    let all = files(observed);
    let found = all.iter().find(|file| file.operation == operation && file.path == Path::new(path));
    found.unwrap_or_else(|| {
        let end = &all[all.len().saturating_sub(20)..];
        panic!("no {operation:?} of {path} among {end:#?}")
    })
}

fn is_allowed(access: &AccessVerdict) -> bool {
    matches!(access, AccessVerdict::Allowed(_))
}

#[test]
fn row_140_what_is_done_with_files_is_seen_with_its_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let granted = folder.path().canonicalize().unwrap();
    std::fs::write(granted.join("there"), "x").unwrap();
    std::fs::create_dir(granted.join("secret")).unwrap();
    std::fs::write(granted.join("secret/key"), "x").unwrap();
    let script = "
import os, sys
g = sys.argv[1]
os.chdir(g)
open(g + '/there').read()
open('made', 'w').write('x')
os.rename('made', 'renamed')
os.link('renamed', 'linked')
os.symlink('/etc/shadow', 'pointer')
os.mkdir('folder')
os.chmod('renamed', 0o600)
os.truncate('renamed', 0)
os.mkfifo('pipe')
fd = os.open('folder', os.O_RDONLY)
os.close(os.open('below', os.O_WRONLY | os.O_CREAT, dir_fd=fd))
os.unlink('linked')
os.rmdir
def tries(what, *args):
    try: what(*args); print('worked', args)
    except OSError: pass
tries(open, '/etc/shadow')
tries(open, '/etc/no-such-file')
tries(open, g + '/secret/key')
tries(open, '/usr/bin/made', 'w')
tries(open, '/proc/1/environ')
tries(open, os.path.expanduser('~/.aws/credentials'))
tries(open, '../../../../../../etc/passwd-')
tries(os.unlink, '/usr/bin/env')
tries(open, 'pointer')
tries(os.rename, 'renamed', '/usr/renamed')
open('/proc/self/status').read()
";
    let plan = plan().write(&granted).forbid(granted.join("secret"));
    let (outcome, observed) = run(plan, python(script).arg(&granted));
    assert_eq!(outcome.stderr.text(), "");
    assert_eq!(outcome.stdout.text(), "");
    assert_eq!((outcome.observe_level, outcome.lost), (ObserveLevel::Full, 0));
    let at = |name: &str| granted.join(name).to_str().unwrap().to_owned();
    for (operation, name) in [
        (FileOperation::Read, "there"),
        (FileOperation::Write, "made"),
        (FileOperation::Rename, "made"),
        (FileOperation::Link, "renamed"),
        (FileOperation::Symlink, "pointer"),
        (FileOperation::MakeFolder, "folder"),
        (FileOperation::ChangeMode, "renamed"),
        (FileOperation::Truncate, "renamed"),
        (FileOperation::MakeNode, "pipe"),
        (FileOperation::Write, "folder/below"),
        (FileOperation::Remove, "linked"),
    ] {
        let file = find(&observed, operation, &at(name));
        assert!(is_allowed(&file.verdict), "{file:?}");
    }
    assert_eq!(
        find(&observed, FileOperation::Rename, &at("made")).to.as_deref(),
        Some(&*granted.join("renamed"))
    );
    let denied = |operation, path: &str| {
        let file = find(&observed, operation, path);
        assert!(matches!(file.verdict, AccessVerdict::Denied(_)), "{file:?}");
    };
    denied(FileOperation::Read, "/etc/shadow");
    denied(FileOperation::Read, &at("secret/key"));
    denied(FileOperation::Write, "/usr/bin/made");
    denied(FileOperation::Read, "/proc/1/environ");
    denied(FileOperation::Remove, "/usr/bin/env");
    denied(FileOperation::Rename, &at("renamed"));
    let not_there = |path: &str| {
        assert_eq!(find(&observed, FileOperation::Read, path).verdict, AccessVerdict::NotThere);
    };
    not_there("/etc/no-such-file");
    not_there("/home/skill/.aws/credentials");
    // A link to what is not granted.
    denied(FileOperation::Read, &at("pointer"));
    let pointer = find(&observed, FileOperation::Read, &at("pointer"));
    assert_eq!(pointer.real.as_deref(), Some(Path::new("/etc/shadow")));
    let status = files(&observed).into_iter().find(|file| file.path.ends_with("status")).unwrap();
    assert!(is_allowed(&status.verdict) && status.path != Path::new("/proc/self/status"), "{status:?}");
}

#[test]
fn row_140_programs_are_seen_with_their_arguments_and_their_parents() {
    let script = "
import os, subprocess
subprocess.run(['sh', '-c', 'true; /bin/echo one \"two three\"'], check=True)
os.posix_spawn('/bin/true', ['true', 'spawned'], {})
os.wait()
try: subprocess.run(['/opt/no/such/program'])
except OSError: pass
long = 'x' * 5000
subprocess.run(['/bin/true', long] + ['y'] * 100)
os.execv('/bin/echo', ['echo', 'last'])
";
    let (outcome, observed) = run(plan(), python(script));
    assert_eq!(outcome.stdout.text(), "one two three\nlast\n", "{}", outcome.stderr.text());
    let all = programs(&observed);
    let with = |arguments: &[&str]| {
        all.iter()
            .find(|exec| exec.arguments == arguments)
            .unwrap_or_else(|| panic!("{arguments:?} in {all:#?}"))
    };
    assert!(is_allowed(&with(&["/bin/echo", "one", "two three"]).verdict));
    assert!(is_allowed(&with(&["true", "spawned"]).verdict));
    assert_eq!(with(&["/opt/no/such/program"]).verdict, AccessVerdict::NotThere);
    let long = all.iter().find(|exec| exec.arguments.len() == 102).expect("all of them");
    assert_eq!((long.arguments[1].len(), long.are_cut), (5000, false));
    // Who it was: by both numbers, and by the program that it executed before.
    let echo = observed
        .iter()
        .find(|one| matches!(&one.tried, ObservedAction::Exec(exec) if exec.arguments[0] == "/bin/echo"));
    let shell = echo.unwrap().actor.as_ref().unwrap();
    assert!(
        shell.pid > 1 && shell.inner_pid.is_some_and(|inner| inner > 2 && inner < shell.pid),
        "{shell:?}"
    );
    assert!(shell.binary.as_ref().unwrap().ends_with("sh"), "{shell:?}");
    let last = observed
        .iter()
        .rev()
        .find(|one| matches!(&one.tried, ObservedAction::File(file) if file.path.ends_with("libc.so.6")));
    assert!(last.unwrap().actor.as_ref().unwrap().binary.as_ref().unwrap().ends_with("echo"), "{last:?}");
    let times: Vec<_> = observed.iter().map(|one| one.instant).collect();
    assert!(times.is_sorted(), "in their order");
}

/// Who did something is asked for in numbers, and kept for a while; the numbers inside come round again within that while, since few
/// processes may be there at a time. What is told is what each of them says of itself.
#[test]
fn processes_and_threads_are_told_by_the_numbers_they_know_themselves_by() {
    let script = "
import os, threading
def mark(kind):
    try: os.close(os.open(f'/tmp/{kind}-{os.getpid()}-{os.getppid()}', os.O_RDONLY))
    except OSError: pass
def threads(count):
    for _ in range(count):
        thread = threading.Thread(target=mark, args=('thread',)); thread.start(); thread.join()
mark('leader')
threads(20)
for _ in range(60):
    child = os.fork()
    if child == 0:
        mark('child'); threads(2); os._exit(0)
    os.waitpid(child, 0)
";
    let (outcome, observed) = run(plan().processes(16), python(script));
    assert_eq!((outcome.status, outcome.lost), (CommandStatus::Exited(0), 0), "{}", outcome.stderr.text());
    let marks: Vec<_> = observed
        .iter()
        .filter_map(|event| {
            let ObservedAction::File(file) = &event.tried else { return None };
            let mut words = file.path.to_str()?.strip_prefix("/tmp/")?.split('-');
            let (kind, own, parent) =
                (words.next()?, words.next()?.parse().ok()?, words.next()?.parse::<u32>().ok()?);
            Some((kind, own, parent, event.actor.as_deref().expect("it is known who it was")))
        })
        .collect();
    let leader = marks.iter().find(|(kind, ..)| *kind == "leader").unwrap().3;
    let mut children = std::collections::BTreeSet::new();
    for (kind, own, parent, actor) in &marks {
        assert_eq!(actor.inner_pid, Some(*own), "{kind}: {actor:?}");
        assert_eq!(actor.thread != actor.pid, *kind == "thread", "{actor:?}");
        assert_eq!(actor.parent == Some(leader.pid), leader.inner_pid == Some(*parent), "{kind}: {actor:?}");
        assert!(actor.binary.as_ref().is_some_and(|binary| binary.contains("python3")), "{actor:?}");
        children.extend((*kind == "child").then_some(actor.pid));
    }
    assert_eq!((marks.len(), children.len()), (1 + 20 + 60 * 3, 60), "all were seen, and each is another");
}

#[test]
fn sixty_four_threads_open_files_at_once_and_all_are_seen() {
    let script = "
import threading
def work(n):
    for i in range(50): open('/tmp/f-%d-%d' % (n, i), 'w').close()
threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
[t.start() for t in threads]; [t.join() for t in threads]
";
    let (outcome, observed) = run(plan().processes(200), python(script));
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let mut seen: Vec<_> =
        files(&observed).iter().filter(|file| file.path.starts_with("/tmp")).map(|f| &f.path).collect();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 64 * 50);
    let actors: std::collections::BTreeSet<_> = observed
        .iter()
        .filter(|one| matches!(&one.tried, ObservedAction::File(file) if file.path.starts_with("/tmp")))
        .map(|one| one.actor.as_ref().unwrap().pid)
        .collect();
    assert_eq!(actors.len(), 1, "threads of one process");
}

/// A call that is looked at is not interrupted by signals, and who is killed meanwhile holds nobody up.
#[test]
fn signals_do_not_disturb_calls_that_are_looked_at() {
    let script = "
import os, signal, time
count = 0
def alarm(*_):
    global count
    count += 1
signal.signal(signal.SIGALRM, alarm)
signal.siginterrupt(signal.SIGALRM, True)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
end = time.time() + 1
while time.time() < end:
    fd = os.open('/etc/ld.so.cache', os.O_RDONLY); os.close(fd)
signal.setitimer(signal.ITIMER_REAL, 0)
assert count > 50, count
children = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        while True: os.close(os.open('/etc/ld.so.cache', os.O_RDONLY))
    children.append(pid)
time.sleep(0.2)
for pid in children: os.kill(pid, signal.SIGKILL)
for pid in children: os.waitpid(pid, 0)
open('/tmp/after', 'w').close()
print('done')
";
    let (outcome, observed) = run(plan(), python(script));
    assert_eq!(outcome.stdout.text(), "done\n", "{}", outcome.stderr.text());
    find(&observed, FileOperation::Write, "/tmp/after");
}

#[test]
fn a_slow_observer_does_not_stop_a_run_and_what_is_lost_is_counted() {
    let script = "
import os
for _ in range(80000): os.close(os.open('/etc/ld.so.cache', os.O_RDONLY))
";
    let notes = Arc::new(Notes { slowness: Duration::from_secs(3), ..Notes::default() });
    let command = python(script).observer(Arc::clone(&notes) as Arc<dyn Observer>).captured(1 << 20);
    let outcome = plan().build().unwrap().spawn(&command).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let observed = notes.observed.lock().unwrap();
    let lost: u64 = observed
        .iter()
        .filter_map(|one| if let ObservedAction::Lost(n) = one.tried { Some(n) } else { None })
        .sum();
    let told = observed.iter().filter(|one| !matches!(one.tried, ObservedAction::Lost(_))).count() as u64;
    assert_eq!(outcome.lost, lost, "and the observer is told how many");
    assert!(told + lost > 80_000, "{told} and {lost}");

    let stuck = Arc::new(Stuck::default());
    let shared = Arc::clone(&stuck) as Arc<dyn Observer>;
    let command = python(script).observer(shared).observe_required().captured(1 << 20);
    let running = plan().build().unwrap().spawn(&command).unwrap();
    stuck.0.set(running.pid()).unwrap();
    let outcome = running.wait().unwrap();
    assert_eq!(outcome.end, EndCause::Unobserved);
    assert_eq!(outcome.status, CommandStatus::Signalled(9));
}

/// Takes no note of anything until the run's init, which it has the number of, is gone; but no longer than a minute.
#[derive(Default)]
struct Stuck(OnceLock<i32>);

impl Observer for Stuck {
    fn observed(&self, _: &ObservedEvent) {
        let start = Instant::now();
        let init = self.0.wait();
        while Path::new(&format!("/proc/{init}")).exists() && start.elapsed() < Duration::from_mins(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Whoever tells of it may be slower than the program: what it did is judged by what there was then, not by what is left of it.
#[test]
fn what_was_done_by_a_program_that_is_gone_is_judged_as_it_was() {
    let notes = Arc::new(Notes { slowness: Duration::from_secs(1), ..Notes::default() });
    let script = "read line </etc/passwd; read line </proc/self/status; echo x >/tmp/made; read line </tmp/made; \
                  cat /etc/shadow /etc/no-such-file /usr/bin/../lib/os-release; read line </proc/1/environ; true";
    let command = Command::new("/bin/sh").args(["-c", script]);
    let command = command.observer(Arc::clone(&notes) as Arc<dyn Observer>).captured(1 << 20);
    let outcome = plan().build().unwrap().spawn(&command).unwrap().wait().unwrap();
    assert_eq!(outcome.status, CommandStatus::Exited(0));
    let observed = std::mem::take(&mut *notes.observed.lock().unwrap());
    let read = |end: &str| {
        let all = files(&observed);
        let mut matching = all.iter().filter(|file| {
            file.operation == FileOperation::Read && file.path.to_string_lossy().ends_with(end)
        });
        matching.next().unwrap_or_else(|| panic!("no {end} in {all:#?}")).verdict.clone()
    };
    // Libraries are found over links: `/lib` is one to `/usr/lib`.
    for end in ["/libc.so.6", "/etc/passwd", "/status", "/tmp/made", "/usr/lib/os-release"] {
        assert!(is_allowed(&read(end)), "{end}: {:?}", read(end));
    }
    assert_eq!(read("/etc/shadow"), AccessVerdict::Denied("not granted"));
    assert_eq!(read("/etc/no-such-file"), AccessVerdict::NotThere);
    assert_eq!(read("/proc/1/environ"), AccessVerdict::Denied("another process"));
}

#[test]
fn levels_see_what_they_say() {
    let script = "
import ctypes, socket
open('/etc/ld.so.cache').close()
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
try: socket.create_connection(('192.0.2.1', 80), 1)
except OSError: pass
";
    for observe_level in ObserveLevel::ALL {
        let (outcome, observed) = run(plan(), python(script).observe_level(observe_level));
        assert!(outcome.success(), "{}", outcome.stderr.text());
        let kinds =
            |kind: fn(&ObservedAction) -> bool| observed.iter().filter(|one| kind(&one.tried)).count();
        let files = kinds(|tried| matches!(tried, ObservedAction::File(_) | ObservedAction::Exec(_)));
        let refused = kinds(|tried| matches!(tried, ObservedAction::Refused(call) if call.name == "ptrace"));
        let network = kinds(|tried| matches!(tried, ObservedAction::Network(_)));
        assert_eq!(outcome.observe_level, observe_level);
        assert_eq!(files > 0, observe_level == ObserveLevel::Full, "{observe_level:?}: {files}");
        assert_eq!(refused > 0, observe_level != ObserveLevel::Off, "{observe_level:?}: {refused}");
        assert_eq!(network > 0, observe_level != ObserveLevel::Off, "{observe_level:?}: {network}");
        assert_eq!(outcome.refused.is_empty(), observe_level == ObserveLevel::Off);
    }
}

/// Without somebody to be told, files are not looked at, and cost nothing.
#[test]
fn without_an_observer_files_are_not_looked_at() {
    let outcome = plan().build().unwrap().spawn(&Command::new("/bin/true")).unwrap().wait().unwrap();
    assert_eq!(outcome.observe_level, ObserveLevel::Violations);
}
