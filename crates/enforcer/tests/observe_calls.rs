//! What observation costs, in system calls of ours. Times depend on the machine; these numbers do not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use skillsandbox_enforcer::{Command, CommandStatus, ObservedEvent, Observer, Plan};
use skillsandbox_test_support::missing;

/// The script that [`works_under_strace`] runs, and the folder that it may read.
const SCRIPT: &str = "OBSERVE_CALLS_SCRIPT";
const FOLDER: &str = "OBSERVE_CALLS_FOLDER";

struct Nobody;

impl Observer for Nobody {
    fn observed(&self, _: &ObservedEvent) {}
}

/// What the tests below start themselves, with strace around it.
#[test]
#[ignore = "started by the other tests of this file"]
fn works_under_strace() {
    let (script, folder) = (std::env::var(SCRIPT).unwrap(), std::env::var(FOLDER).unwrap());
    let command = Command::new("python3").args(["-S", "-c", &script]).observer(Arc::new(Nobody));
    let plan = Plan::builder().read(&folder).build().unwrap();
    let outcome = plan.spawn(&command).unwrap().wait().unwrap();
    assert_eq!((outcome.status, outcome.lost), (CommandStatus::Exited(0), 0));
}

/// The calls that the thread made which answers the notifications of a run of this script, by name. Those that wait for other threads
/// depend on who is faster, and are left out.
fn calls_of(script: &str, folder: &Path) -> BTreeMap<String, i64> {
    let logs = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("strace")
        .args(["-ff", "-qq", "-o"])
        .arg(logs.path().join("log"))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "works_under_strace", "--ignored"])
        .envs([(SCRIPT, script.as_ref()), (FOLDER, folder.as_os_str())])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let logs = std::fs::read_dir(logs.path()).unwrap().map(|log| std::fs::read(log.unwrap().path()).unwrap());
    let listener = logs
        .map(|log| String::from_utf8_lossy(&log).into_owned())
        .find(|log| log.contains("SECCOMP_IOCTL_NOTIF_RECV"))
        .expect("a thread that answers");
    let mut calls = BTreeMap::new();
    for line in listener.lines() {
        let Some((name, rest)) = line.split_once('(').filter(|(name, _)| *name != "futex") else { continue };
        let request = rest.split([' ', ',']).nth(2).filter(|_| name == "ioctl").unwrap_or_default();
        let name = if request.starts_with("SECCOMP") { request } else { name };
        *calls.entry(name.to_owned()).or_default() += 1;
    }
    calls
}

/// How many calls of each name `more` repetitions of something take, beside so many fewer.
fn calls_of_more(script: impl Fn(i64) -> String, folder: &Path, more: i64) -> BTreeMap<String, i64> {
    let few = calls_of(&script(20), folder);
    let mut many = calls_of(&script(20 + more), folder);
    for (name, count) in few {
        *many.entry(name).or_default() -= count;
    }
    many
}

fn is_here() -> bool {
    let gone = missing::outside(["strace", "python3"]);
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit()).map(str::parse::<u32>);
    let release = (numbers.next().unwrap().unwrap(), numbers.next().unwrap().unwrap());
    if !gone.is_empty() {
        return missing::skip(&gone);
    }
    // Older kernels are asked in more words.
    release >= (6, 13) || missing::skip(&["Linux 6.13"])
}

/// The calls that are made for each of `count`, rounded up: a few more are made now and then, since nothing is known for ever.
#[track_caller]
fn at_most(calls: &BTreeMap<String, i64>, count: i64, expected: &[(&str, i64)]) {
    for (name, made) in calls {
        let find = |name: &str| expected.iter().find(|(allowed, _)| *allowed == name);
        // The standard library looks whether a descriptor is open before it closes it, where its own checks are on.
        let found = if name == "fcntl" && cfg!(debug_assertions) { find("close") } else { find(name) };
        let allowed = found.map_or(0, |(_, allowed)| *allowed);
        let some_more = count / 10;
        assert!(*made <= allowed * count + some_more, "{name}: {made} for {count}; all: {calls:?}");
    }
}

/// An open is received and answered, its path read, and looked up with nothing but what the kernel knows: open, which mount, close.
#[test]
fn an_observed_open_takes_six_calls_of_ours() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("file"), "x").unwrap();
    let at = path.join("file");
    let script =
        |count| format!("import os\nfor _ in range({count}): os.close(os.open({at:?}, os.O_RDONLY))");
    let calls = calls_of_more(script, &path, 200);
    assert!(calls["SECCOMP_IOCTL_NOTIF_SEND"] >= 200, "control: they were observed: {calls:?}");
    let expected = [
        ("SECCOMP_IOCTL_NOTIF_RECV", 1),
        ("process_vm_readv", 1),
        ("openat2", 1),
        ("statx", 1),
        ("close", 1),
        ("SECCOMP_IOCTL_NOTIF_SEND", 1),
    ];
    at_most(&calls, 200, &expected);
}

/// A new process is asked for once, and after it has executed its program only for that; no signal is sent to find out whose it is.
#[test]
fn an_observed_spawn_asks_once_who_it_is() {
    if !is_here() {
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = folder.path().canonicalize().unwrap();
    let script = |count| {
        format!(
            "import os\nfor _ in range({count}): os.waitpid(os.posix_spawn('/bin/true', ['true', 'a', 'b'], {{}}), 0)"
        )
    };
    let calls = calls_of_more(script, &path, 60);
    let observed = calls["SECCOMP_IOCTL_NOTIF_SEND"];
    assert!(observed >= 60, "control: they were observed: {calls:?}");
    // What a program opens before it begins depends on the system.
    let each = (observed + 59) / 60;
    let expected = [
        ("SECCOMP_IOCTL_NOTIF_RECV", each),
        // The path of each, the pointers to the arguments, and all arguments.
        ("process_vm_readv", each + 2),
        // The numbers of the process, here and inside.
        ("pidfd_open", 1),
        ("ioctl", 3),
        ("close", 1),
        // Its program before, and after.
        ("readlinkat", 2),
        ("SECCOMP_IOCTL_NOTIF_SEND", each),
    ];
    at_most(&calls, 60, &expected);
}
