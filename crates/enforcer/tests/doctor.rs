//! Looking at a host tells the truth: one thing is taken away at a time, and exactly that is said, with a cure, by the look and
//! by a run.
// A test may fail by panicking.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use landlock::{ABI, Access as _, AccessFs, PathBeneath, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use serde_json::{Value, json};
use skillsandbox_enforcer::{Command, Error, HostSupport, OutputMode, Plan};

const FILTER: &str = "SKILLSANDBOX_TEST_FILTER";
const FOLDER: &str = "SKILLSANDBOX_TEST_FOLDER";
const LANDLOCKED: &str = "SKILLSANDBOX_TEST_LANDLOCKED";

/// What a filter does to one call.
#[derive(Debug, Clone)]
struct Refuse {
    call: i64,
    /// Only where this argument is that, or is not.
    only: Option<(u8, SeccompCmpOp, u64)>,
    /// The error to answer with; 0 ends the process instead.
    errno: i32,
}

impl Refuse {
    fn call(call: i64, errno: i32) -> Self {
        Self { call, only: None, errno }
    }

    fn only(call: i64, argument: u8, value: u64, errno: i32) -> Self {
        Self { call, only: Some((argument, SeccompCmpOp::Eq, value)), errno }
    }

    fn encode(&self) -> String {
        let (argument, is, value) = match &self.only {
            Some((argument, SeccompCmpOp::Ne, value)) => (i32::from(*argument), "not", *value),
            Some((argument, _, value)) => (i32::from(*argument), "is", *value),
            None => (-1, "is", 0),
        };
        format!("{} {argument} {is} {value} {}", self.call, self.errno)
    }

    fn program(text: &str) -> BpfProgram {
        let words: Vec<&str> = text.split(' ').collect();
        let argument: i32 = words[1].parse().unwrap();
        let operator = if words[2] == "not" { SeccompCmpOp::Ne } else { SeccompCmpOp::Eq };
        let rules = match u8::try_from(argument) {
            Ok(argument) => {
                let value = words[3].parse().unwrap();
                let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value);
                vec![SeccompRule::new(vec![condition.unwrap()]).unwrap()]
            }
            Err(_) => Vec::new(),
        };
        let action = match words[4].parse().unwrap() {
            0 => SeccompAction::KillProcess,
            errno => SeccompAction::Errno(errno),
        };
        let rules = BTreeMap::from([(words[0].parse().unwrap(), rules)]);
        let target = std::env::consts::ARCH.try_into().unwrap();
        SeccompFilter::new(rules, SeccompAction::Allow, action, target).unwrap().try_into().unwrap()
    }
}

/// Not a test: what the tests run in a process of its own, because a filter cannot be taken off again.
#[test]
#[ignore = "the other tests start it, in a process of its own"]
fn look_and_run() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    if let Ok(filter) = std::env::var(FILTER) {
        seccompiler::apply_filter(&Refuse::program(&filter)).unwrap();
    }
    if std::env::var_os(LANDLOCKED).is_some() {
        landlocked();
    }
    let support = HostSupport::probe();
    let plan = Plan::builder().write(&folder).build().unwrap();
    let marker = folder.join("marker");
    let command = Command::new("/bin/sh").args(["-c", &format!("echo ran > {}", marker.display())]);
    let run = plan.spawn(&command.stdout(OutputMode::Discarded));
    let run = match run {
        Ok(running) => json!({ "ended": running.wait().unwrap().success() }),
        Err(Error::Layer { layer, step, source, cure }) => {
            json!({ "layer": layer, "step": step, "source": source.to_string(), "cure": cure })
        }
        Err(error) => json!({ "error": error.to_string() }),
    };
    let numbers =
        fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let processes = numbers.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).count();
    let ready = support.is_ready();
    let refuses = plan.resolve(&support).refuses().map(|resolved| resolved.layer);
    let report = json!({
        "support": support, "ready": ready, "refuses": refuses, "run": run, "processes": processes,
    });
    fs::write(folder.join("report.json"), report.to_string()).unwrap();
}

/// Under rules that allow every access to every file. The kernel refuses mounts to whoever is under any rules at all.
fn landlocked() {
    let all = AccessFs::from_all(ABI::V1);
    let everything = PathBeneath::new(fs::File::open("/").unwrap(), all);
    let ruleset = Ruleset::default().handle_access(all).unwrap().create().unwrap();
    ruleset.add_rule(everything).unwrap().restrict_self().unwrap();
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum User {
    Own,
    /// An ordinary user, where the tests are run by root.
    Ordinary,
}

/// Everybody whom these tests can be.
fn users() -> Vec<User> {
    if rustix::process::geteuid().is_root() { vec![User::Own, User::Ordinary] } else { vec![User::Own] }
}

/// The numbers of the user `tester`, where there is one; otherwise of nobody.
fn ordinary() -> (u32, u32) {
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let line = passwd.lines().find(|line| line.starts_with("tester:"));
    let number = |index| line.and_then(|line| line.split(':').nth(index)).and_then(|text| text.parse().ok());
    (number(2).unwrap_or(65534), number(3).unwrap_or(65534))
}

/// A copy of this program that every user may execute; gone with the value.
struct Program(tempfile::TempDir);

impl Program {
    fn copy() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = Self(folder);
        // By another process: what another thread forks meanwhile would hold the file open for writing, and no file that is
        // can be executed.
        let mut copy = process::Command::new("cp");
        copy.arg(std::env::current_exe().unwrap()).arg(program.path());
        assert!(copy.status().unwrap().success());
        fs::set_permissions(program.path(), fs::Permissions::from_mode(0o755)).unwrap();
        program
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("doctor-test")
    }
}

struct Looked {
    report: Value,
    /// Whether the command of the run was executed.
    marker: bool,
}

impl Looked {
    fn state(&self, layer: &str) -> &Value {
        let layers = self.report["support"]["layers"].as_array().unwrap();
        layers.iter().find(|entry| entry["layer"] == layer).unwrap()
    }

    fn in_state(&self, state: &str) -> Vec<&str> {
        let layers = self.report["support"]["layers"].as_array().unwrap();
        let there = layers.iter().filter(|entry| entry["state"] == state);
        there.map(|entry| entry["layer"].as_str().unwrap()).collect()
    }

    fn check(&self, name: &str) -> &Value {
        let checks = self.report["support"]["checks"].as_array().unwrap();
        checks.iter().find(|entry| entry["name"] == name).unwrap()
    }
}

/// Looks and runs as somebody, in a place that `prefix` makes: a command that ends by executing what comes after it.
fn look(program: &Program, user: User, filter: Option<&Refuse>, prefix: &[&str]) -> Looked {
    let folder = tempfile::tempdir().unwrap();
    let path = program.path();
    let own: [&OsStr; 4] =
        [path.as_os_str(), "--exact".as_ref(), "look_and_run".as_ref(), "--ignored".as_ref()];
    let words: Vec<&OsStr> = prefix.iter().map(OsStr::new).chain(own).collect();
    let mut command = process::Command::new(words[0]);
    command.args(&words[1..]).current_dir("/").env(FOLDER, folder.path());
    if let Some(filter) = filter {
        command.env(FILTER, filter.encode());
    }
    if user == User::Ordinary {
        let (uid, gid) = ordinary();
        std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).unwrap();
        command.uid(uid).gid(gid);
    }
    let output = command.output().unwrap();
    let report = fs::read_to_string(folder.path().join("report.json"));
    let report = report.unwrap_or_else(|error| {
        let said = [output.stdout, output.stderr].concat();
        panic!("{user:?} {filter:?}: {error}\n{}", String::from_utf8_lossy(&said))
    });
    Looked { report: serde_json::from_str(&report).unwrap(), marker: folder.path().join("marker").exists() }
}

#[test]
fn where_nothing_is_taken_away_all_is_there_and_a_run_starts() {
    let program = Program::copy();
    for user in users() {
        let looked = look(&program, user, None, &[]);
        assert_eq!(looked.in_state("missing"), [""; 0], "{user:?} {:#}", looked.report);
        assert_eq!(looked.in_state("untried"), [""; 0], "{user:?}");
        assert_eq!(looked.report["support"]["trial"]["result"], "ran", "{user:?} {:#}", looked.report);
        assert_eq!(looked.report["ready"], true);
        assert_eq!(looked.report["refuses"], Value::Null);
        assert_eq!(looked.report["run"], json!({ "ended": true }), "{user:?}");
        assert!(looked.marker, "{user:?}");
        let root = user == User::Own && rustix::process::geteuid().is_root();
        assert_eq!(looked.report["support"]["facts"]["is_root"], root);
    }
}

/// A filter that refuses nothing of ours changes nothing: the other tests are about the refusals, not about being filtered.
#[test]
fn an_unrelated_filter_takes_nothing_away_and_is_counted() {
    let program = Program::copy();
    let looked = look(&program, User::Own, Some(&Refuse::call(libc::SYS_acct, libc::EPERM)), &[]);
    assert_eq!(looked.in_state("missing"), [""; 0], "{:#}", looked.report);
    assert_eq!(looked.report["ready"], true);
    let before =
        look(&program, User::Own, None, &[]).report["support"]["facts"]["seccomp_filters"].as_u64().unwrap();
    assert_eq!(looked.report["support"]["facts"]["seccomp_filters"], before + 1);
    assert!(looked.marker);
}

/// What is refused, and the layer that is then missing.
fn refusals() -> Vec<(&'static str, Refuse, &'static str)> {
    use libc::{EINVAL, ENOSYS, EOPNOTSUPP, EPERM};
    let prctl = |option: i32| Refuse::only(libc::SYS_prctl, 0, u64::try_from(option).unwrap(), EPERM);
    let interface = Refuse::only(libc::SYS_ioctl, 1, libc::SIOCSIFFLAGS, EPERM);
    let set_limit = Refuse { call: libc::SYS_prlimit64, only: Some((2, SeccompCmpOp::Ne, 0)), errno: EPERM };
    vec![
        ("clone3", Refuse::call(libc::SYS_clone3, ENOSYS), "namespaces"),
        ("keyctl", Refuse::call(libc::SYS_keyctl, EPERM), "namespaces"),
        ("sethostname", Refuse::call(libc::SYS_sethostname, EPERM), "namespaces"),
        ("fsopen", Refuse::call(libc::SYS_fsopen, EPERM), "mounts"),
        ("fsconfig", Refuse::call(libc::SYS_fsconfig, EPERM), "mounts"),
        ("fsmount", Refuse::call(libc::SYS_fsmount, ENOSYS), "mounts"),
        ("move_mount", Refuse::call(libc::SYS_move_mount, EPERM), "mounts"),
        ("open_tree", Refuse::call(libc::SYS_open_tree, ENOSYS), "mounts"),
        ("mount_setattr", Refuse::call(libc::SYS_mount_setattr, ENOSYS), "mounts"),
        ("openat2", Refuse::call(libc::SYS_openat2, ENOSYS), "mounts"),
        ("pivot_root", Refuse::call(libc::SYS_pivot_root, EPERM), "mounts"),
        ("umount2", Refuse::call(libc::SYS_umount2, EPERM), "mounts"),
        ("SIOCSIFFLAGS", interface, "network"),
        ("PR_SET_PDEATHSIG", prctl(libc::PR_SET_PDEATHSIG), "lifetime"),
        ("PR_SET_DUMPABLE", prctl(libc::PR_SET_DUMPABLE), "lifetime"),
        ("setsid", Refuse::call(libc::SYS_setsid, EPERM), "fds"),
        ("close_range", Refuse::call(libc::SYS_close_range, ENOSYS), "fds"),
        ("setrlimit", set_limit, "rlimits"),
        ("capset", Refuse::call(libc::SYS_capset, EPERM), "caps"),
        ("PR_CAPBSET_DROP", prctl(libc::PR_CAPBSET_DROP), "caps"),
        ("PR_SET_SECUREBITS", prctl(libc::PR_SET_SECUREBITS), "caps"),
        ("PR_SET_NO_NEW_PRIVS", prctl(libc::PR_SET_NO_NEW_PRIVS), "no_new_privs"),
        ("landlock not built", Refuse::call(libc::SYS_landlock_create_ruleset, ENOSYS), "landlock"),
        ("landlock off", Refuse::call(libc::SYS_landlock_create_ruleset, EOPNOTSUPP), "landlock"),
        ("landlock_restrict_self", Refuse::call(libc::SYS_landlock_restrict_self, EPERM), "landlock"),
        ("seccomp", Refuse::call(libc::SYS_seccomp, EINVAL), "seccomp"),
    ]
}

#[test]
fn what_is_taken_away_is_named_by_the_look_and_by_a_run_and_nothing_is_executed() {
    let program = Program::copy();
    let mut wrong = Vec::new();
    for user in users() {
        for (name, refuse, layer) in refusals() {
            let looked = look(&program, user, Some(&refuse), &[]);
            let state = looked.state(layer);
            let run = &looked.report["run"];
            let checks = [
                ("one layer is missing", looked.in_state("missing") == [layer]),
                ("it has a cure", state["cure"]["what"].as_str().is_some_and(|what| what.len() > 20)),
                ("the look is not ready", looked.report["ready"] == false),
                ("the plan is refused for it", looked.report["refuses"] == layer),
                ("the trial names it", looked.report["support"]["trial"]["layer"] == layer),
                ("a run names it", run["layer"] == layer),
                ("a run has a cure", run["cure"].as_str().is_some_and(|cure| cure.len() > 20)),
                ("nothing was executed", !looked.marker),
            ];
            for (what, _) in checks.iter().filter(|(_, holds)| !holds) {
                let missing = looked.in_state("missing");
                wrong.push(format!(
                    "{user:?} {name}: not so: {what}; missing {missing:?}; {state}; run {run}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A filter may end the process instead of answering.
#[test]
fn a_call_that_kills_is_found_out_without_harm_to_who_looks() {
    let program = Program::copy();
    let looked = look(&program, User::Own, Some(&Refuse::call(libc::SYS_mount_setattr, 0)), &[]);
    assert_eq!(looked.in_state("missing"), ["mounts"], "{:#}", looked.report);
    let reason = looked.state("mounts")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("mount_setattr") && reason.contains("signal 31"), "{reason}");
    assert_eq!(looked.report["support"]["trial"]["result"], "refused", "{:#}", looked.report);
    assert_eq!(looked.report["ready"], false);
    assert!(!looked.marker);
}

/// A run would start, and could not be ended in time.
#[test]
fn a_run_that_could_not_be_ended_is_not_called_ready() {
    let program = Program::copy();
    let refuse = Refuse::call(libc::SYS_pidfd_send_signal, libc::EPERM);
    let looked = look(&program, User::Own, Some(&refuse), &[]);
    assert_eq!(looked.in_state("missing"), ["lifetime"], "{:#}", looked.report);
    assert_eq!(looked.report["support"]["trial"]["result"], "ran");
    assert_eq!(looked.report["ready"], false);
}

/// What the parts say and what a run meets are not the same; the run counts.
#[test]
fn a_run_that_is_refused_overrules_what_its_parts_say() {
    let program = Program::copy();
    // `symlinkat` is the run's alone.
    let looked = look(&program, User::Own, Some(&Refuse::call(libc::SYS_symlinkat, libc::EPERM)), &[]);
    assert_eq!(looked.in_state("missing"), ["mounts"], "{:#}", looked.report);
    let reason = looked.state("mounts")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("a run was refused"), "{reason}");
    assert_eq!(looked.report["ready"], false);
    assert_eq!(looked.report["run"]["layer"], "mounts");
    assert!(!looked.marker);
}

/// What no layer is to blame for.
#[test]
fn a_program_that_cannot_be_executed_is_no_ready_host() {
    let program = Program::copy();
    let looked = look(&program, User::Own, Some(&Refuse::call(libc::SYS_execve, libc::EACCES)), &[]);
    assert_eq!(looked.in_state("missing"), ["env"], "{:#}", looked.report);
    assert_eq!(looked.report["ready"], false);
    assert!(!looked.marker);
}

/// Without any filter: the kernel itself refuses, in a user namespace that may have no others in it.
#[test]
fn a_host_that_allows_no_user_namespaces_is_told_how_to_allow_them() {
    let program = Program::copy();
    for user in users() {
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
        let looked =
            look(&program, user, None, &["unshare", "--user", "--map-root-user", "sh", "-c", script]);
        assert_eq!(looked.in_state("missing"), ["namespaces"], "{user:?} {:#}", looked.report);
        assert_eq!(looked.in_state("untried"), ["mounts", "network", "caps"], "{user:?}");
        assert_eq!(looked.check("clone3")["result"], "worked");
        assert_eq!(looked.check("user namespace")["result"], "failed");
        let cure = looked.state("namespaces")["cure"]["lines"][0].as_str().unwrap().to_owned();
        assert!(cure.contains("user.max_user_namespaces"), "{cure}");
        let run = &looked.report["run"];
        assert_eq!(run["layer"], "namespaces", "{run}");
        assert!(run["cure"].as_str().unwrap().contains("user.max_user_namespaces"), "{run}");
        assert!(!looked.marker);
    }
}

/// As container runtimes do: something is mounted over a part of /proc.
#[test]
fn a_covered_proc_is_found_and_its_cure_named() {
    let program = Program::copy();
    for user in users() {
        // One that is not covered anywhere would do for the kernel, so every one is.
        let script = "while read -r _ at kind _; do [ \"$kind\" != proc ] || echo \"$at\"; done < /proc/mounts \
            | while read -r at; do mount -t tmpfs none \"$at/sys\" || exit 1; done && exec \"$0\" \"$@\"";
        let looked = look(
            &program,
            user,
            None,
            &["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        );
        assert_eq!(looked.in_state("missing"), ["mounts"], "{user:?} {:#}", looked.report);
        assert_eq!(looked.check("a fresh /proc")["result"], "failed", "{user:?}");
        assert_eq!(looked.check("pivot_root")["result"], "worked", "{user:?}");
        let run = &looked.report["run"];
        assert_eq!(run["layer"], "mounts", "{run}");
        assert!(run["step"].as_str().unwrap().contains("/proc"), "{run}");
        assert!(run["cure"].as_str().unwrap().contains("/proc"), "{run}");
        assert!(!looked.marker);
    }
}

/// Inside a sandbox of somebody else's: no filter is in the way, and no file, but mounts are refused.
#[test]
fn inside_a_landlock_sandbox_mounts_are_missing() {
    let program = Program::copy();
    for user in users() {
        let looked = look(&program, user, None, &["env", &format!("{LANDLOCKED}=1")]);
        assert_eq!(looked.in_state("missing"), ["mounts"], "{user:?} {:#}", looked.report);
        assert!(looked.state("mounts")["cure"]["what"].is_string(), "{user:?}");
        assert_eq!(looked.report["run"]["layer"], "mounts", "{user:?}");
        assert_eq!(looked.report["ready"], false);
        assert!(!looked.marker);
    }
}

/// Whichever wall of the outer sandbox it is that refuses.
#[test]
fn inside_a_sandbox_of_our_own_the_cure_is_to_start_from_outside() {
    let program = Program::copy();
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan::builder()
        .read(program.0.path())
        .write(folder.path())
        .env(FOLDER, folder.path())
        .timeout(Duration::from_mins(2))
        .build()
        .unwrap();
    let command = Command::new(program.path()).args(["--exact", "look_and_run", "--ignored"]);
    let outcome = plan.spawn(&command.captured(64 << 10)).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}{}", outcome.stdout.text(), outcome.stderr.text());
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["support"]["facts"]["is_own_sandbox"], true, "{report:#}");
    assert_eq!(report["ready"], false, "{report:#}");
    let cure = report["run"]["cure"].as_str().unwrap_or_else(|| panic!("{report:#}"));
    assert!(cure.contains("cannot start another one inside"), "{cure}");
    assert!(!folder.path().join("marker").exists());
}

/// As the init of a container, which orphans come to, and nobody collects but who looks.
#[test]
fn looking_leaves_no_process_behind() {
    let program = Program::copy();
    let prefix = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    for user in users() {
        let looked = look(&program, user, None, &prefix);
        assert_eq!(looked.report["ready"], true, "{user:?} {:#}", looked.report);
        assert!(looked.marker, "{user:?}");
        assert_eq!(looked.report["processes"], 1, "{user:?}");
    }
}
