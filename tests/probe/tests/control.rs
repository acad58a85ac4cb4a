//! The control: without a sandbox the techniques must get through, or they would prove nothing inside one. And: a technique that is
//! refused or killed must say so.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use skillsandbox_probe::{Control, Planted, Report, Verdict, all, reports};
use tempfile::TempDir;

/// The probe. A variable names it where this test was copied away from the folder that cargo built it in.
static PROBE: LazyLock<PathBuf> = LazyLock::new(|| {
    let copied = std::env::var_os("SKILLSANDBOX_PROBE").map(PathBuf::from);
    copied.unwrap_or_else(|| env!("CARGO_BIN_EXE_skillsandbox-probe").into())
});

/// What must get through on every host there is, be it a container: if one of these is held, the probe is broken.
const CORE: &[&str] = &[
    "read-ssh-key",
    "read-by-planted-link",
    "read-by-climbing",
    "list-home",
    "victim-environ",
    "victim-visible",
    "signal-kill",
    "signal-by-pipe",
    "launcher-environ",
    "unix-path",
    "unix-abstract",
    "unix-datagram",
    "unix-granted-relative",
    "unix-granted-linked",
    "unix-granted-later",
    "unix-granted-own-link",
    "unix-granted-renamed",
    "unix-granted-sendmsg",
    "unix-granted-pair",
    "unix-readonly",
    "read-by-shipped-link",
    "link-shipped",
    "core-limit-lower",
    "tcp",
    "udp",
    "write-append",
    "write-create",
    "link-made",
    "link-hard",
    "rename-in",
    "rename-out",
    "meta-chmod",
    "meta-utimes",
    "skill-write-manifest",
    "skill-replace-manifest",
    "readonly-write",
    "trace-truncate",
    "exec-granted",
    "cap-bounding",
    "dev-nodes",
];

/// Capabilities that `Control::Root` speaks of: what a container's root has not got, a sandbox's control does not need.
const ROOT: u64 = 1 << 2 | 1 << 13 | 1 << 18 | 1 << 19 | 1 << 21 | 1 << 22 | 1 << 23 | 1 << 25 | 1 << 27;

struct Stage {
    planted: Planted,
    dir: PathBuf,
    _folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("victim");
        Self { planted: Planted::start(&PROBE, &dir).unwrap(), dir, _folder: folder }
    }

    /// An environment of its own, so that there is something to find in the launcher's.
    fn attack(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROBE.as_path());
        command.args(["attack", "--context", &self.planted.context().to_json()]).args(arguments);
        command.env_clear().stdin(Stdio::null());
        command
    }

    fn reports(&self, arguments: &[&str]) -> BTreeMap<String, Report> {
        by_name(&self.attack(arguments).output().unwrap())
    }
}

fn by_name(output: &Output) -> BTreeMap<String, Report> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let reports = reports(&String::from_utf8_lossy(&output.stdout)).unwrap();
    reports.into_iter().map(|report| (report.technique.clone(), report)).collect()
}

fn status(name: &str) -> String {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
    line.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn without_a_sandbox_the_techniques_get_through_and_the_victim_says_the_same() {
    let stage = Stage::new();
    let reports = stage.reports(&["--no-bombs"]);

    let tried: Vec<_> = all().filter(|technique| !matches!(technique.control, Control::Skipped(_))).collect();
    assert_eq!(reports.len(), tried.len());
    for name in CORE {
        assert_eq!(reports[*name].verdict, Verdict::Through, "{:?}", reports[*name]);
    }
    // A filter of somebody else's, as containers have, is a sandbox too: then only the core can be expected.
    let unfiltered = status("Seccomp") == "0";
    let capabilities = u64::from_str_radix(&status("CapEff"), 16).unwrap();
    let is_root = capabilities & ROOT == ROOT;
    let mut wrong = Vec::new();
    for technique in tried {
        let report = &reports[technique.name];
        let through = report.verdict == Verdict::Through;
        let expected = match technique.control {
            Control::User if unfiltered => Some(true),
            Control::Root if unfiltered && is_root => Some(true),
            Control::Root if capabilities == 0 => Some(false),
            Control::Never(_) => Some(false),
            _ => None,
        };
        if expected.is_some_and(|expected| expected != through) {
            wrong.push(format!("{:?}: {report:?}", technique.control));
        }
    }
    assert!(wrong.is_empty(), "not what `list` promises:\n{}", wrong.join("\n"));

    let dev_shm = stage.planted.context().ipc.dev_shm.clone();
    let dir = stage.dir.clone();
    let witness = stage.planted.finish().unwrap();
    assert!(!witness.untouched());
    for socket in ["stream", "datagram", "abstract", "granted", "tcp", "udp"] {
        assert!(witness.reached[socket] > 0, "{socket}: {witness:?}");
    }
    assert!(witness.signals > 0 && !witness.hostname_changed, "{witness:?}");
    if unfiltered {
        assert!(witness.memory_written && witness.messages_taken > 0, "{witness:?}");
    }
    let changes = [
        "outside/appended has",
        "outside/removed is gone",
        "outside/new-file is new",
        "outside/chmod has another mode",
        "outside/utimes was changed",
        "outside/linked has",
        "skill/skillsandbox.yaml has another content",
        "readonly/written has",
        "trace/trace.json is gone",
    ];
    for change in changes {
        assert!(witness.changed.iter().any(|seen| seen.contains(change)), "{change}: {witness:?}");
    }
    assert!(!dir.exists(), "the victim leaves nothing behind");
    assert!(dev_shm.is_none_or(|path| !path.exists()));
}

#[test]
fn a_victim_that_nobody_attacked_saw_nothing() {
    let stage = Stage::new();
    let context = stage.planted.context().to_json();
    let mut grants = Command::new(PROBE.as_path());
    let grants = grants.args(["grants", "--context", &context]).status().unwrap();
    assert!(grants.success());
    assert!(!context.contains("ssbx-canary-"), "a secret is in the context");
    let witness = stage.planted.finish().unwrap();
    assert!(witness.untouched(), "{witness:?}");
}

#[test]
fn grants_that_do_not_work_are_an_error() {
    let mut stage = Stage::new();
    stage.planted.context_mut().readonly = "/nonexistent".into();
    let context = stage.planted.context().to_json();
    let mut grants = Command::new(PROBE.as_path());
    let output = grants.args(["grants", "--context", &context]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("readonly"));
}

/// A filter on this thread is inherited by what it starts.
#[test]
fn a_kill_and_a_refusal_are_held_and_the_rest_goes_on() {
    let stage = Stage::new();
    let names = "victim-ptrace,unshare-user,read-ssh-key,seccomp-mode,no-new-privileges,setuid-known";
    let mut command = stage.attack(&["--only", names]);
    let output = std::thread::spawn(move || {
        let refuse = |call: i64, action| {
            let rules = BTreeMap::from([(call, Vec::new())]);
            let arch = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch).unwrap();
            seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        };
        refuse(libc::SYS_ptrace, SeccompAction::KillProcess);
        refuse(libc::SYS_unshare, SeccompAction::Errno(1));
        command.output().unwrap()
    });
    let reports = by_name(&output.join().unwrap());
    let seen = |name: &str| (reports[name].verdict, reports[name].detail.as_str());
    assert_eq!(seen("victim-ptrace"), (Verdict::Held, "killed by SIGSYS"));
    assert_eq!(seen("unshare-user"), (Verdict::Held, "EPERM"));
    assert_eq!(seen("seccomp-mode"), (Verdict::Held, "2"));
    assert_eq!(seen("no-new-privileges"), (Verdict::Held, "1"));
    assert_ne!(seen("setuid-known").0, Verdict::Through);
    assert_eq!(seen("read-ssh-key").0, Verdict::Through);
}

#[test]
fn without_a_fork_one_technique_runs_in_the_process_itself() {
    let stage = Stage::new();
    let reports = stage.reports(&["--only", "read-aws", "--no-fork"]);
    assert_eq!(reports["read-aws"].verdict, Verdict::Through);
    assert!(!stage.attack(&["--only", "read-aws,read-env", "--no-fork"]).status().unwrap().success());
}

#[test]
fn what_is_inherited_is_found_read_climbed_from_and_sent_to() {
    let mut stage = Stage::new();
    stage.planted.context_mut().launcher.open_files = 3;
    let context = stage.planted.context().clone();
    let names = ["fd-inherited", "fd-read", "fd-climb", "fd-send"];
    // `dup` gives copies that are inherited; only this command is to see them.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let file = fs::File::open(context.home.join(".env")).unwrap();
    let folder = fs::File::open(&context.home).unwrap();
    let handed: Vec<_> = [
        nix::unistd::dup(&file).unwrap(),
        nix::unistd::dup(&folder).unwrap(),
        nix::unistd::dup(&theirs).unwrap(),
    ]
    .into_iter()
    .collect();
    let reports = stage.reports(&["--group", "inherited"]);
    drop((handed, theirs));
    for name in names {
        assert_eq!(reports[name].verdict, Verdict::Through, "{:?}", reports[name]);
    }
    let mut came = [0; 5];
    std::io::Read::read_exact(&mut &ours, &mut came).unwrap();
    assert_eq!(&came, b"probe");
}

/// The copies that run as somebody else lie where every user of the host can start them.
#[test]
fn a_copy_with_the_rights_of_another_user_says_who_it_is_and_nothing_else() {
    let stage = Stage::new();
    let context = stage.planted.context();
    if context.setuid.is_empty() {
        println!("not tried: only root can plant programs that run as another user");
        return;
    }
    let borrowed = context.setuid.iter().find(|path| path.ends_with("setuid-nobody")).unwrap();
    let output = Command::new(borrowed).args(["helper", "read", "/proc/self/status"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    // Where the file system ignores the bit, the copy is an ordinary program.
    assert!(said.starts_with("0 65534 65534\n") || said.starts_with("ran\n"), "{said}");
    assert_eq!(said.lines().count() == 2, said.starts_with("0 65534"), "{said}");
}

#[test]
fn the_list_names_every_technique_and_unknown_ones_are_errors() {
    let output = Command::new(PROBE.as_path()).args(["list", "--json"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines.lines().count(), all().count());
    for line in lines.lines() {
        let technique: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(technique["control"].is_string() && technique["group"].is_string(), "{line}");
    }
    let stage = Stage::new();
    assert!(!stage.attack(&["--only", "no-such-thing"]).status().unwrap().success());
    assert!(!stage.attack(&["--group", "no-such-group"]).status().unwrap().success());
}

#[test]
fn a_home_with_something_in_it_is_not_planted_over() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join(".env"), "real").unwrap();
    let mut command = Command::new(PROBE.as_path());
    command.arg("plant").arg("--dir").arg(folder.path().join("victim")).arg("--home").arg(&home);
    command.stderr(Stdio::null());
    assert!(Planted::start_with(command).is_err());
    assert_eq!(fs::read_to_string(home.join(".env")).unwrap(), "real");
    let left: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".env"]);
}

#[test]
fn a_home_elsewhere_is_planted_and_tidied() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join(".ssh/known_hosts"), "real").unwrap();
    let mut command = Command::new(PROBE.as_path());
    command.arg("plant").arg("--dir").arg(folder.path().join("victim")).arg("--home").arg(&home);
    let planted = Planted::start_with(command).unwrap();
    assert!(home.join(".ssh/id_ed25519").exists());
    planted.finish().unwrap();
    assert!(home.join(".ssh/known_hosts").exists() && !home.join(".ssh/id_ed25519").exists());
    assert!(!home.join("project").exists() && !folder.path().join("victim").exists());
}

#[test]
fn a_daemon_goes_on_after_its_parent_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lines");
    let mut command = Command::new(PROBE.as_path());
    assert!(command.arg("daemonise").arg("2").arg(&file).status().unwrap().success());
    let lines = || fs::read_to_string(&file).unwrap_or_default().lines().count();
    let at_first = lines();
    let grew = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        lines() > at_first + 2
    });
    assert!(grew, "{at_first} lines and no more");
}

#[test]
fn a_flood_is_eight_mebibytes_on_each_side() {
    let output = Command::new(PROBE.as_path()).arg("flood").output().unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len()), (8 << 20, 8 << 20));
}
