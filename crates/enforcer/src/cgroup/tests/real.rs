//! The kernel of this machine. Processes that the tests start are this program again, with the name of a [`helper`] in the environment;
//! they join by writing to the very files that [`ControlGroup::join`] hands out, which they inherit as standard input, output and error.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;

const MIB: u64 = 1 << 20;
const HELPER: &str = "SKILLSANDBOX_TEST_HELPER";
const ANSWER: &str = "SKILLSANDBOX_TEST_ANSWER";

/// What a helper does, by its name in the environment.
#[test]
#[ignore = "the tests beside it start it as a process of its own"]
fn helper() {
    let answer = |text: String| fs::write(env::var(ANSWER).unwrap(), text).unwrap();
    match env::var(HELPER).as_deref() {
        Ok("allocate 256 MiB") => {
            let mut kept = Vec::new();
            for _ in 0..256 {
                kept.push(std::hint::black_box(vec![1_u8; 1 << 20]));
            }
            answer(kept.len().to_string());
        }
        Ok("start 32 processes") => {
            let started: Vec<EndedWithTest> = (0..32)
                .map_while(|_| Command::new("sleep").arg("60").spawn().ok().map(EndedWithTest))
                .collect();
            answer(started.len().to_string());
        }
        Ok("be busy") => {
            let start = Instant::now();
            while start.elapsed() < Duration::from_millis(600) {
                std::hint::black_box((0..10_000_u64).sum::<u64>());
            }
        }
        Ok("make a group and wait") => {
            let group =
                ControlGroup::create(&GroupLimits { processes: Some(8), ..GroupLimits::default() }).unwrap();
            let member = env::var(ANSWER).unwrap().ends_with("busy").then(|| {
                let mut command = joining(&group);
                command.args(["sleep", "60"]).spawn().unwrap()
            });
            let folders: Vec<_> = group.folders().iter().map(|folder| folder.display().to_string()).collect();
            let member = member.map_or(0, |child| child.id());
            answer(format!("{member}\n{}", folders.join("\n")));
            std::thread::sleep(Duration::from_mins(1));
        }
        Ok("ask for a group") => {
            let unavailable = ControlGroup::create(&LIMITS).unwrap_err();
            let mut out = io::stdout();
            writeln!(out, "<{unavailable}> cure <{}>", unavailable.cure()).unwrap();
        }
        _ => {}
    }
}

const LIMITS: GroupLimits =
    GroupLimits { memory: Some(64 * MIB), processes: Some(64), cpu_percent: Some(100), counts_cpu: false };

/// A process of ours, which ends with the test whatever becomes of it.
struct EndedWithTest(Child);

impl Drop for EndedWithTest {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A group of this host, or a loud word that there is none. `SKILLSANDBOX_REQUIRE=cgroup` makes that a failure.
fn group(wanted: &GroupLimits) -> Option<ControlGroup> {
    match ControlGroup::create(wanted) {
        Ok(group) => Some(group),
        Err(unavailable) => {
            let required = env::var("SKILLSANDBOX_REQUIRE").is_ok_and(|list| list.contains("cgroup"));
            assert!(!required, "{unavailable}");
            // Not by a macro: the test harness would keep it to itself.
            let _ = writeln!(io::stderr(), "SKIPPED: {unavailable}; {}", unavailable.cure());
            None
        }
    }
}

/// A shell that joins and becomes the program in its arguments.
fn joining(group: &ControlGroup) -> Command {
    let mut command = Command::new("sh");
    let count = group.join().len();
    assert!((1..=3).contains(&count));
    let joins: String = (0..count).map(|fd| format!("echo 0 >&{fd} && ")).collect();
    command.arg("-c").arg(format!("{joins}exec \"$@\" </dev/null >/dev/null 2>/dev/null")).arg("sh");
    let mut files = group.join().iter().map(|file| Stdio::from(file.try_clone().unwrap()));
    let mut next = || files.next().unwrap_or_else(Stdio::null);
    command.stdin(next()).stdout(next()).stderr(next());
    command
}

/// This program as a helper, started by `command` (a shell that joins first) or by itself.
fn as_helper(command: Option<Command>, what: &str, answer: &Path) -> Command {
    let program = env::current_exe().unwrap();
    let mut command = if let Some(mut joining) = command {
        joining.arg(program);
        joining
    } else {
        let mut plain = Command::new(program);
        plain.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        plain
    };
    command.args(["--exact", "cgroup::tests::real::helper", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(HELPER, what).env(ANSWER, answer);
    command
}

fn gone(folders: &[PathBuf]) -> bool {
    folders.iter().all(|folder| !folder.exists())
}

#[test]
fn a_tree_over_its_memory_is_ended_and_one_without_a_group_is_not() {
    let Some(group) = group(&GroupLimits { memory: Some(64 * MIB), ..GroupLimits::default() }) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let (held, free) = (folder.path().join("held"), folder.path().join("free"));
    let status = as_helper(Some(joining(&group)), "allocate 256 MiB", &held).status().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
    assert!(!held.exists());
    assert_eq!(group.hits().memory, 1);
    if let Some(peak) = group.usage().peak_memory {
        assert!(peak > 32 * MIB && peak <= 64 * MIB, "{peak}");
    }
    // The control.
    let status = as_helper(None, "allocate 256 MiB", &free).status().unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(free).unwrap(), "256");
    assert_eq!(group.hits().memory, 1);

    let folders = group.folders().to_vec();
    drop(group);
    assert!(gone(&folders));
}

#[test]
fn the_number_of_processes_holds() {
    let Some(group) = group(&GroupLimits { processes: Some(8), ..GroupLimits::default() }) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (held, free) = (folder.path().join("held"), folder.path().join("free"));
    assert!(as_helper(Some(joining(&group)), "start 32 processes", &held).status().unwrap().success());
    let started: u32 = fs::read_to_string(held).unwrap().parse().unwrap();
    assert!((1..8).contains(&started), "{started}");
    assert!(group.hits().processes >= 1);
    assert!(as_helper(None, "start 32 processes", &free).status().unwrap().success());
    assert_eq!(fs::read_to_string(free).unwrap(), "32");
}

#[test]
fn processor_time_is_held_back() {
    let Some(tight) = group(&GroupLimits { cpu_percent: Some(20), ..GroupLimits::default() }) else { return };
    let Some(wide) = group(&GroupLimits { cpu_percent: Some(100_000), ..GroupLimits::default() }) else {
        return;
    };
    for group in [&tight, &wide] {
        assert!(
            as_helper(Some(joining(group)), "be busy", Path::new("/dev/null")).status().unwrap().success()
        );
    }
    assert!(tight.hits().cpu_throttled > 0, "{:?}", tight.hits());
    assert_eq!(wide.hits().cpu_throttled, 0);
}

#[test]
fn all_limits_at_once() {
    let Some(group) = group(&LIMITS) else { return };
    let status =
        as_helper(Some(joining(&group)), "allocate 256 MiB", Path::new("/dev/null")).status().unwrap();
    assert_eq!(status.signal(), Some(9));
    assert_eq!(group.hits().memory, 1);
}

#[test]
fn a_group_that_goes_takes_its_processes_along() {
    let Some(group) = group(&LIMITS) else { return };
    let mut children: Vec<EndedWithTest> =
        (0..8).map(|_| EndedWithTest(joining(&group).args(["sleep", "60"]).spawn().unwrap())).collect();
    let mut outside = EndedWithTest(Command::new("sleep").arg("60").spawn().unwrap());
    wait_until(|| members(&group) == 8);
    let mut group = group;
    let pid = |child: &EndedWithTest| i32::try_from(child.0.id()).unwrap();
    for child in &children {
        group.adopt(pid(child)).unwrap();
    }
    assert!(group.adopt(pid(&outside)).unwrap_err().to_string().contains("is not in the group"));
    let folders = group.folders().to_vec();
    drop(group);
    for child in &mut children {
        assert_eq!(child.0.wait().unwrap().signal(), Some(9));
    }
    assert!(gone(&folders));
    assert!(outside.0.try_wait().unwrap().is_none());
}

/// The processes in the part of a group that has the fewest: a child joins one hierarchy after the other.
fn members(group: &ControlGroup) -> usize {
    let parts =
        if group.mechanism() == LimitMechanism::CgroupV1 { group.folders() } else { &group.folders()[..1] };
    let count = |folder: &PathBuf| fs::read_to_string(folder.join("cgroup.procs")).unwrap().lines().count();
    parts.iter().map(count).min().unwrap()
}

fn wait_until(done: impl Fn() -> bool) {
    for _ in 0..3000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came");
}

#[test]
fn the_next_supervisor_removes_what_a_killed_one_left_unless_somebody_is_in_it() {
    if group(&LIMITS).is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sweep = || drop(ControlGroup::create(&LIMITS).unwrap());
    for (name, is_busy) in [("empty", false), ("busy", true)] {
        let answer = folder.path().join(name);
        let mut supervisor =
            EndedWithTest(as_helper(None, "make a group and wait", &answer).spawn().unwrap());
        wait_until(|| fs::read_to_string(&answer).is_ok_and(|text| text.contains('/')));
        let text = fs::read_to_string(&answer).unwrap();
        let mut lines = text.lines();
        let member = rustix::process::Pid::from_raw(lines.next().unwrap().parse().unwrap());
        let folders: Vec<PathBuf> = lines.map(PathBuf::from).collect();
        assert!(!folders.is_empty());
        if is_busy {
            wait_until(|| {
                fs::read_to_string(folders[0].join("cgroup.procs")).is_ok_and(|text| !text.is_empty())
            });
        }
        let there = || folders.iter().all(|folder| folder.exists());
        sweep();
        assert!(there(), "its supervisor lives");
        supervisor.0.kill().unwrap();
        supervisor.0.wait().unwrap();
        assert!(there(), "nobody could remove it");
        sweep();
        assert_eq!(there(), is_busy);
        assert_eq!(gone(&folders), !is_busy);
        if is_busy {
            // Not our child, so nobody waits for it here; it is in the group as long as it is one.
            rustix::process::kill_process(member.unwrap(), rustix::process::Signal::KILL).unwrap();
            wait_until(|| {
                sweep();
                gone(&folders)
            });
        }
    }
}

#[test]
fn sixty_four_at_once() {
    if group(&LIMITS).is_none() {
        return;
    }
    let groups: Vec<ControlGroup> = std::thread::scope(|scope| {
        let threads: Vec<_> = (1..=64)
            .map(|count| {
                scope.spawn(move || {
                    ControlGroup::create(&GroupLimits {
                        memory: Some(count * MIB),
                        processes: Some(8),
                        cpu_percent: None,
                        counts_cpu: false,
                    })
                    .unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: Vec<PathBuf> = groups.iter().flat_map(|group| group.folders().to_vec()).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
    for (index, group) in groups.iter().enumerate() {
        let limit = group.folders().iter().find_map(|folder| {
            ["memory.max", "memory.limit_in_bytes"].iter().find_map(|file| read(&folder.join(file)).ok())
        });
        assert_eq!(limit.unwrap().trim(), ((index as u64 + 1) * MIB).to_string());
    }
    // What happens in one is not seen in the others.
    let mut groups = groups;
    let status =
        as_helper(Some(joining(&groups[40])), "allocate 256 MiB", Path::new("/dev/null")).status().unwrap();
    assert_eq!(status.signal(), Some(9));
    let hit: Vec<usize> = (0..64).filter(|index| groups[*index].hits().memory > 0).collect();
    assert_eq!(hit, [40]);
    drop(groups.remove(40));
    assert!(groups.iter().all(|group| group.folders().iter().all(|folder| folder.exists())));
    drop(groups);
    assert!(gone(&all));
}

#[test]
fn who_is_not_root_is_told_why_and_what_to_do() {
    if !rustix::process::geteuid().is_root() {
        let _ = writeln!(io::stderr(), "SKIPPED: only root can become nobody");
        return;
    }
    // The program itself may be in a folder that nobody else may enter.
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("helper");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "cgroup::tests::real::helper", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(HELPER, "ask for a group").uid(65534).gid(65534).current_dir("/").stdout(Stdio::piped());
    let mut child = EndedWithTest(command.spawn().unwrap());
    let mut text = String::new();
    child.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("no control group can hold the limits: cgroup v2: "), "{text}");
    assert!(text.contains("; cgroup v1: "), "{text}");
    assert!(text.contains("cure <start it by `systemd-run --user --scope"), "{text}");
}

#[test]
#[ignore = "tries to take controllers away from the groups of this host; for a machine of its own, with version 2"]
fn controllers_stay_as_long_as_a_group_needs_them() {
    let group = ControlGroup::create(&LIMITS).unwrap();
    assert_eq!(group.mechanism(), LimitMechanism::CgroupV2);
    let file = group.folders()[1].parent().unwrap().join("cgroup.subtree_control");
    for controller in ["memory", "pids", "cpu"] {
        let taken = fs::write(&file, format!("-{controller}")).unwrap_err();
        assert_eq!(taken.raw_os_error(), Some(rustix::io::Errno::BUSY.raw_os_error()), "{controller}");
    }
    drop(group);
    // The control: it was the group that kept them.
    fs::write(&file, "-cpu").unwrap();
}

#[cfg(feature = "systemd")]
#[test]
#[ignore = "for a user whose manager runs, in a group that is not theirs"]
fn a_scope_of_the_real_manager_holds() {
    let mut group = ControlGroup::create(&LIMITS).unwrap();
    assert_eq!(group.mechanism(), LimitMechanism::CgroupV2Systemd);
    let mut command = Command::new("sh");
    command.args(["-c", "read go && exec \"$@\"", "sh"]);
    let mut command = as_helper(Some(command), "allocate 256 MiB", Path::new("/dev/null"));
    let mut child = EndedWithTest(command.stdin(Stdio::piped()).spawn().unwrap());
    group.adopt(i32::try_from(child.0.id()).unwrap()).unwrap();
    child.0.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(child.0.wait().unwrap().signal(), Some(9));
    assert_eq!(group.hits().memory, 1);
    let folders = group.folders().to_vec();
    drop(group);
    assert!(gone(&folders));
}
