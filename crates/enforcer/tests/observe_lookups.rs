//! What the observer looks up for its record asks nobody but this kernel, and is never what keeps a run from ending.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

use common::plan;
use skillsandbox_enforcer::{
    AccessVerdict, Command, ObserveLevel, ObservedAction, ObservedEvent, Observer, PlanBuilder,
};

#[derive(Default)]
struct Notes(Mutex<Vec<ObservedEvent>>);

impl Observer for Notes {
    fn observed(&self, observed: &ObservedEvent) {
        self.0.lock().unwrap().push(observed.clone());
    }
}

fn observed(plan: PlanBuilder, script: &str, arguments: &[&Path]) -> Vec<ObservedEvent> {
    let notes = Arc::new(Notes::default());
    let command = Command::new("python3")
        .args(["-c", script])
        .args(arguments)
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(ObserveLevel::Full);
    let outcome = common::run(plan, &command);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let mut events = notes.0.lock().unwrap();
    std::mem::take(&mut *events)
}

fn verdict(events: &[ObservedEvent], path: &Path) -> AccessVerdict {
    let of = |event: &ObservedEvent| match &event.tried {
        ObservedAction::File(file) if file.path == path => Some(file.verdict.clone()),
        _ => None,
    };
    events.iter().find_map(of).unwrap_or_else(|| panic!("{} is not told", path.display()))
}

/// Only root can mount an automounter.
fn may_mount() -> bool {
    rustix::process::geteuid().is_root() || skillsandbox_test_support::missing::skip(&["root"])
}

/// An automounter of which the other end of the pipe is ours: what the kernel asks it for is a name that somebody looked up.
struct Automounter {
    folder: std::path::PathBuf,
    asked: OwnedFd,
    /// A process of another group than everybody else: who is not in the daemon's group is made to wait for it.
    daemon: std::process::Child,
}

impl Automounter {
    /// In a mount namespace that the calling thread has for itself. `None` where this user may not.
    fn at(folder: &Path) -> Option<Self> {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).ok()?;
        let private =
            rustix::mount::MountPropagationFlags::REC | rustix::mount::MountPropagationFlags::PRIVATE;
        rustix::mount::mount_change("/", private).ok()?;
        Self::mount(folder)
    }

    /// In the mount namespace of the calling thread, whosever that is.
    fn mount(folder: &Path) -> Option<Self> {
        let (asked, tells) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).ok()?;
        let daemon = std::process::Command::new("/bin/sleep").arg("120").process_group(0).spawn().unwrap();
        let made = Self { folder: folder.to_owned(), asked, daemon };
        let (fd, group) = (tells.as_raw_fd(), made.daemon.id());
        let options = format!("fd={fd},pgrp={group},minproto=5,maxproto=5,indirect");
        let options = std::ffi::CString::new(options).unwrap();
        rustix::mount::mount("test", folder, "autofs", rustix::mount::MountFlags::empty(), &*options).ok()?;
        // It stays in use as long as it is mounted.
        std::mem::forget(tells);
        Some(made)
    }

    /// Whether the kernel has asked for anything.
    fn was_asked(&self) -> bool {
        let mut file = std::fs::File::from(self.asked.try_clone().unwrap());
        file.read(&mut [0; 512]).is_ok_and(|count| count > 0)
    }
}

impl Drop for Automounter {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(&self.folder, rustix::mount::UnmountFlags::DETACH);
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

/// A name that the skill chose, in a folder that is not granted and that a daemon answers for: it is told as not granted, and the daemon
/// is never asked for it.
#[test]
fn names_that_a_skill_chose_are_not_asked_for_at_an_automounter() {
    if !may_mount() {
        return;
    }
    // Not below /tmp, which every run has for itself.
    let folder = tempfile::tempdir_in("/mnt").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let net = top.join("net");
    std::fs::create_dir(&net).unwrap();
    let secret = net.join("attacker.invalid/secret-data");
    // In a thread of its own, whose mounts are nobody else's.
    let told = std::thread::spawn(move || {
        let automounter = Automounter::at(&net).expect("root can mount an automounter");
        let script = "
import sys
for path in sys.argv[1:]:
    try: open(path)
    except OSError: pass
";
        let absent = top.join("absent");
        let events = observed(plan(), script, &[&secret, &absent]);
        assert!(!automounter.was_asked(), "the automounter was asked for a name that the skill chose");
        assert_eq!(verdict(&events, &secret), AccessVerdict::Denied("not granted"));
        assert_eq!(verdict(&events, &absent), AccessVerdict::NotThere);
        // The same, asked as it was before: the daemon hears of it. Nobody answers, so whoever asked is ended.
        let mut control = std::process::Command::new("/usr/bin/stat").arg(&secret).spawn().unwrap();
        while !automounter.was_asked() {
            assert_eq!(control.try_wait().unwrap(), None, "control: it waits for the daemon");
            std::thread::yield_now();
        }
        // To take the mount away is to answer.
        drop(automounter);
        let _ = control.kill();
        control.wait().unwrap();
    });
    told.join().unwrap();
}

/// A granted folder in which a daemon that never answers has a mount: the skill waits for it, and is ended by its time limit. What looks
/// on does not wait.
#[test]
fn a_mount_that_never_answers_holds_up_the_skill_and_not_the_launcher() {
    if !may_mount() {
        return;
    }
    let folder = tempfile::tempdir_in("/mnt").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let net = top.join("net");
    std::fs::create_dir(&net).unwrap();
    std::fs::write(top.join("file"), "x").unwrap();
    let told = std::thread::spawn(move || {
        let automounter = Automounter::at(&net).expect("root can mount an automounter");
        let notes = Arc::new(Notes::default());
        let script = "import sys; open(sys.argv[1]).close(); open(sys.argv[2])";
        let command = Command::new("python3")
            .args(["-c", script])
            .args([&top.join("file"), &net.join("slow")])
            .observer(Arc::clone(&notes) as Arc<dyn Observer>)
            .observe_level(ObserveLevel::Full);
        let outcome = common::run(plan().read(&top).timeout(std::time::Duration::from_secs(2)), &command);
        assert_eq!(outcome.end, skillsandbox_enforcer::EndCause::Timeout, "{}", outcome.stderr.text());
        assert!(automounter.was_asked(), "control: the skill asked");
        let events = notes.0.lock().unwrap();
        assert!(matches!(verdict(&events, &net.join("slow")), AccessVerdict::Unknown(_)));
        assert!(matches!(verdict(&events, &top.join("file")), AccessVerdict::Allowed(_)));
    });
    told.join().unwrap();
}

/// The same mount, put into the run's own namespace while it goes on. Paths are looked up in what the kernel knows, without a look at the
/// mounts before each; who made the kernel ask is the skill, and nobody else waits for the answer.
#[test]
fn a_mount_that_came_later_and_never_answers_holds_up_the_skill_and_not_the_launcher() {
    if !may_mount() {
        return;
    }
    let folder = tempfile::tempdir_in("/mnt").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (net, go) = (top.join("net"), top.join("go"));
    std::fs::create_dir(&net).unwrap();
    let notes = Arc::new(Notes::default());
    let script = "
import os, sys, time
open(sys.argv[1])
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
open(sys.argv[2]).close()
open(sys.argv[3])
";
    std::fs::write(top.join("first"), "x").unwrap();
    let command = Command::new("python3")
        .args(["-c", script])
        .args([&top.join("first"), &go, &net.join("slow")])
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(ObserveLevel::Full);
    let plan = plan().read(&top).timeout(std::time::Duration::from_secs(5)).build().unwrap();
    let running = plan.spawn(&command).unwrap();
    let first = top.join("first");
    let is_first =
        |event: &&ObservedEvent| matches!(&event.tried, ObservedAction::File(file) if file.path == first);
    let pid = (0..10_000).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        let notes = notes.0.lock().unwrap();
        notes.iter().find(is_first).map(|event| event.actor.as_ref().unwrap().pid)
    });
    let pid = pid.expect("it has begun");
    // A thread that leaves the others' root and namespace.
    let automounter = std::thread::spawn(move || {
        let namespace = std::fs::File::open(format!("/proc/{pid}/ns/mnt")).unwrap();
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_FS).unwrap();
        nix::sched::setns(namespace, nix::sched::CloneFlags::CLONE_NEWNS).unwrap();
        Automounter::mount(&net).expect("root can mount an automounter")
    });
    let automounter = automounter.join().unwrap();
    std::fs::write(&go, "x").unwrap();
    let outcome = running.wait().unwrap();
    assert_eq!(outcome.end, skillsandbox_enforcer::EndCause::Timeout);
    assert!(automounter.was_asked(), "control: the skill asked");
    let events = notes.0.lock().unwrap();
    let slow = verdict(&events, &top.join("net/slow"));
    assert!(matches!(slow, AccessVerdict::Unknown(_)), "{slow:?}");
    assert!(matches!(verdict(&events, &go), AccessVerdict::Allowed(_)));
}

/// A folder inside that is moved takes the grants in it along: they are still the host's, and forbidden is still forbidden.
#[test]
fn a_moved_parent_does_not_make_host_data_private() {
    let folder = tempfile::Builder::new().prefix("moved").tempdir_in("/tmp").unwrap();
    let top = folder.path().canonicalize().unwrap();
    let (grant, secret) = (top.join("a/grant"), top.join("a/grant/secret"));
    std::fs::create_dir_all(&grant).unwrap();
    std::fs::write(grant.join("file"), "x").unwrap();
    std::fs::write(&secret, "x").unwrap();
    let script = "
import os, sys
top = sys.argv[1]
os.rename(top, '/tmp/moved-away')
for path in ('file', 'secret', 'new'):
    for mode in ('r', 'w'):
        try: open('/tmp/moved-away/a/grant/' + path, mode).close()
        except OSError: pass
open('/tmp/moved-away/own', 'w').close()
";
    let events = observed(plan().read(&grant).forbid(&secret), script, &[&top]);
    let moved = Path::new("/tmp/moved-away/a/grant");
    assert_eq!(verdict(&events, &moved.join("file")), AccessVerdict::Allowed(grant.display().to_string()));
    assert_eq!(verdict(&events, &moved.join("secret")), AccessVerdict::Denied("forbidden"));
    let writes: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.tried {
            ObservedAction::File(file) if file.path.starts_with(moved) => Some(file),
            _ => None,
        })
        .filter(|file| file.operation == skillsandbox_enforcer::FileOperation::Write)
        .collect();
    assert_eq!(writes.len(), 3);
    assert!(writes.iter().all(|file| matches!(file.verdict, AccessVerdict::Denied(_))), "{writes:?}");
    assert!(matches!(verdict(&events, Path::new("/tmp/moved-away/own")), AccessVerdict::Allowed(_)));
}

/// A program without a name, under a rule about programs, is not said to be prevented by a rule that cannot hold it.
#[test]
fn row_177_a_program_without_a_name_is_not_said_to_be_denied() {
    let script = "
import os, sys, ctypes
# Where memory cannot be executed, a file that has no name.
try: fd = os.memfd_create('x')
except OSError: fd = os.open('/tmp', os.O_TMPFILE | os.O_RDWR, 0o755)
data = open('/usr/bin/python3', 'rb').read()
while data: data = data[os.write(fd, data):]
pid = os.fork()
if pid == 0:
    try: os.execve(fd, ['/usr/bin/python3', '-c', 'pass'], {})
    except OSError: os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";
    let notes = Arc::new(Notes::default());
    let command = Command::new("/usr/bin/python3")
        .args(["-c", script])
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(ObserveLevel::Full);
    let outcome = common::run(plan().programs(["/usr/bin/python3"]), &command);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let has_run = outcome.stdout.text().trim() == "0";
    let events = notes.0.lock().unwrap();
    let executed: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.tried {
            ObservedAction::Exec(exec) => Some(exec),
            _ => None,
        })
        .collect();
    let last = executed.last().unwrap();
    let is_denied = matches!(last.verdict, AccessVerdict::Denied(_));
    assert!(!(has_run && is_denied), "it ran, and is told as {:?}", last.verdict);
}
