//! Limits against a run that means to exceed them, with a control group and without one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::time::Duration;

use common::{Builder, output, plan};
use skillsandbox_enforcer::{Command, EndCause, LimitMechanism, RunLimit, RunOutcome, SyscallProfile};

fn perl(plan: Builder, script: &str) -> RunOutcome {
    common::run(plan, &Command::new("/usr/bin/perl").args(["-e", script]))
}

fn hit(outcome: &RunOutcome, limit: RunLimit) -> bool {
    outcome.limits_hit.iter().any(|hit| hit.limit == limit)
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

/// Runs a helper of this file where there are no control groups: an ordinary user has none, and from root they are hidden.
fn without_groups(helper: &str) {
    let hidden = "mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\"";
    let mut command = std::process::Command::new(if is_root() { "unshare" } else { "sh" });
    if is_root() {
        command.args(["--mount", "sh", "-c", hidden]);
    } else {
        command.args(["-c", "exec \"$0\" \"$@\""]);
    }
    let command = command.arg(std::env::current_exe().unwrap());
    let ran = command.args([helper, "--exact", "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let complained = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}\n{complained}");
}

fn assert_supervised(outcome: &RunOutcome) {
    assert_eq!(outcome.mechanism, LimitMechanism::Supervised, "{outcome:?}");
}

/// Starts processes, or threads, that stay until one is refused, and says how many there were.
const CROWD: &str = "my $n = 0; for (1..600) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } $n++ } print $n; \
                     kill 9, -1;";

#[test]
fn the_limit_on_processes_holds_root_too_without_a_control_group() {
    without_groups("helper_processes");
}

#[test]
#[ignore = "run by another test, without control groups"]
fn helper_processes() {
    let control = perl(plan().processes(700), CROWD);
    assert_supervised(&control);
    assert_eq!(control.stdout.text(), "600", "{}", control.stderr.text());
    for limit in [2, 20, 64] {
        let outcome =
            perl(plan().processes(limit), &CROWD.replace("kill 9, -1;", "$| = 1; print ''; sleep 1;"));
        assert_eq!(
            outcome.end,
            EndCause::Itself,
            "no more than {limit}, so nothing had to be ended: {outcome:?}"
        );
        let lived: u32 = outcome.stdout.text().parse().unwrap();
        assert_eq!(lived, limit - 1, "with the one that started them: {outcome:?}");
        assert!(hit(&outcome, RunLimit::Processes), "{outcome:?}");
    }
    // A number that was given back can be had again.
    let again = "for (1..2000) { my $p = fork; die \"$_: $!\" unless defined $p; exit if !$p; waitpid($p, 0) } print 'all'";
    assert_eq!(perl(plan().processes(3), again).stdout.text(), "all");
    // Process 2 stays what `strict` takes it for.
    let own = perl(
        plan().processes(8).syscalls(SyscallProfile::Strict),
        "$| = 1; print $$; $SIG{USR1} = sub {}; kill 'USR1', $$;",
    );
    assert_eq!(own.stdout.text(), "2");
    assert!(own.refused.is_empty(), "{own:?}");
}

/// Burns so many seconds of processor time.
fn burn(seconds: f64) -> String {
    format!(
        "my $t = (times)[0] + (times)[1]; while ((times)[0] + (times)[1] < $t + {seconds}) {{ 1 for 1..10000 }}"
    )
}

/// Processes that do nothing but let each other, and themselves, go on: whoever is just being stopped while a signal to go on is sent is
/// not stopped after all.
const UNDO: &str = "for (1..3) { last if !fork } while (1) { kill 'CONT', $$; kill 'CONT', -1 }";

#[test]
fn a_run_that_lets_itself_go_on_gets_no_more_than_its_share() {
    without_groups("helper_pause");
}

#[test]
#[ignore = "run by another test, without control groups"]
fn helper_pause() {
    let short = Duration::from_secs(2);
    let control = perl(plan().cpu_percent(100_000).timeout(short), UNDO);
    assert_supervised(&control);
    assert!(control.usage.cpu.unwrap() > Duration::from_millis(500), "it uses what it can: {control:?}");
    let outcome = perl(plan().cpu_percent(10).timeout(Duration::from_secs(20)), UNDO);
    assert!(matches!(outcome.end, EndCause::CpuTime | EndCause::Timeout), "{outcome:?}");
    assert!(hit(&outcome, RunLimit::Cpu), "{outcome:?}");
    let share = outcome.duration.mul_f64(0.1);
    // What it may be ahead, and a look.
    let cores = u32::try_from(std::thread::available_parallelism().unwrap().get()).unwrap();
    let ahead = Duration::from_millis(1500) + Duration::from_millis(250) * cores;
    assert!(outcome.usage.cpu.unwrap() < share + ahead, "{outcome:?}");
    // Who only works is slowed down, and not ended.
    let outcome = perl(plan().cpu_percent(50), &format!("{} print 'burnt'", burn(1.0)));
    assert_eq!((outcome.stdout.text().as_ref(), outcome.end), ("burnt", EndCause::Itself), "{outcome:?}");
}

fn processor_time_is_bounded() {
    // Four processes, one after the other: none of them reaches the limit by itself.
    let script = format!(
        "for (1..4) {{ my $p = fork; if (!$p) {{ {}; exit }} waitpid($p, 0) }} print 'all'",
        burn(0.6)
    );
    let control = perl(plan().cpu_time(Duration::from_secs(30)), &script);
    assert_eq!((control.stdout.text().as_ref(), control.end), ("all", EndCause::Itself), "{control:?}");
    assert!(!hit(&control, RunLimit::CpuTime), "{control:?}");
    let outcome = perl(plan().cpu_time(Duration::from_secs(1)), &script);
    assert_eq!((outcome.stdout.text().as_ref(), outcome.end), ("", EndCause::CpuTime), "{outcome:?}");
    assert!(hit(&outcome, RunLimit::CpuTime), "{outcome:?}");
    // Side by side, with a share that holds them back.
    let script =
        format!("for (1..4) {{ if (!fork) {{ {}; exit }} }} 1 while wait > 0; print 'all'", burn(0.6));
    let outcome = perl(plan().cpu_time(Duration::from_secs(1)).cpu_percent(150).memory(256 << 20), &script);
    assert_eq!((outcome.stdout.text().as_ref(), outcome.end), ("", EndCause::CpuTime), "{outcome:?}");
}

#[test]
fn max_cpu_seconds_are_counted_over_all_processes() {
    processor_time_is_bounded();
}

#[test]
fn max_cpu_seconds_are_counted_without_a_control_group() {
    without_groups("helper_processor_time");
}

#[test]
#[ignore = "run by another test, without control groups"]
fn helper_processor_time() {
    processor_time_is_bounded();
}

#[test]
fn each_process_has_a_limit_on_its_time_too() {
    assert_eq!(output(plan().cpu_time(Duration::from_secs(7)), "ulimit -t"), "9\n");
}

#[test]
fn the_limit_on_core_dumps_cannot_be_changed() {
    // setrlimit and prlimit64, of the process itself and by its number; lowered to 0, and to what it is.
    let script = "my $zero = pack('QQ', 0, 0); my $one = pack('QQ', 1, 1); my $old = pack('QQ', 9, 9); \
                  for my $limit ($zero, $one) { for my $call ([160, 4, $limit], [302, 0, 4, $limit, 0], [302, $$, 4, $limit, 0], \
                  [302, 0, 4 + (1 << 32), $limit, 0]) { \
                  my $done = syscall($call->[0], @$call[1..$#$call]); print $done, ' ', $! + 0, \"\\n\" } } \
                  syscall(302, 0, 4, 0, $old); print join(' ', unpack('QQ', $old)), \"\\n\"; \
                  my $files = pack('QQ', 32, 32); print syscall(160, 7, $files), \"\\n\"";
    for profile in SyscallProfile::ALL {
        let outcome = perl(plan().syscalls(profile), script);
        let expected = format!("{}1 1\n0\n", format!("-1 {}\n", libc::EINVAL).repeat(8));
        assert_eq!(outcome.stdout.text(), expected, "{profile}: {}", outcome.stderr.text());
        assert!(outcome.refused.iter().any(|call| call.name == "prlimit64"), "{profile}: {outcome:?}");
    }
    // The control: outside, it can be lowered.
    let control =
        std::process::Command::new("sh").args(["-c", "ulimit -S -c 0 && ulimit -c"]).output().unwrap();
    assert_eq!(control.stdout, b"0\n");
}

#[test]
fn large_pages_which_no_limit_counts_are_refused() {
    let script = "my $name = 'x'; syscall(9, 0, 1 << 21, 3, 0x40022, -1, 0); print $! + 0, ' '; \
                  syscall(29, 0, 1 << 21, 06600 | 01000); print $! + 0, ' '; syscall(319, $name, 4); print $! + 0;";
    for profile in SyscallProfile::ALL {
        let outcome = perl(plan().syscalls(profile), script);
        let expected = [libc::ENOMEM; 3].map(|errno| errno.to_string()).join(" ");
        let said = outcome.stdout.text().into_owned();
        let names: Vec<_> = outcome.refused.iter().map(|call| call.name.as_str()).collect();
        assert!(names.contains(&"mmap") && names.contains(&"memfd_create"), "{profile}: {names:?}");
        assert_eq!(said, expected, "{profile}: {outcome:?}");
    }
}

/// Message queues, semaphores and segments that nobody holds, of so many MiB.
const OBJECTS: &str = "my ($made, $why) = (0, ''); for my $n (1..400) { \
     my $q = msgget(IPC_PRIVATE(), 0600); unless (defined $q) { $why = $! + 0; last } \
     for (1..2) { msgsnd($q, pack('l! a8000', 1, 'x'), 2048) or last; $made += 8000 } \
     my $s = semget(IPC_PRIVATE(), 8000, 0600); unless (defined $s) { $why = $! + 0; last } \
     my $m = shmget(IPC_PRIVATE(), 1 << 20, 0600); unless (defined $m) { $why = $! + 0; last } \
     shmwrite($m, 'x' x (1 << 20), 0, 1 << 20); $made += 1 << 20 } print $made >> 20, ' ', $why;";

#[test]
fn system_v_objects_are_counted_by_a_group_and_refused_without_one() {
    without_groups("helper_objects");
    if is_root() {
        let script = format!("use IPC::SysV 'IPC_PRIVATE'; {OBJECTS}");
        let control = perl(plan(), &script);
        assert_eq!(control.stdout.text(), "406 ", "{control:?}");
        let outcome = perl(plan().memory(64 << 20), &script);
        if outcome.mechanism != LimitMechanism::Supervised {
            assert_eq!(outcome.end, EndCause::Memory, "{outcome:?}");
        }
    }
}

#[test]
#[ignore = "run by another test, without control groups"]
fn helper_objects() {
    let script = format!("use IPC::SysV 'IPC_PRIVATE'; {OBJECTS}");
    let control = perl(plan(), &script);
    assert_supervised(&control);
    assert_eq!(control.stdout.text(), "406 ", "{control:?}");
    let outcome = perl(plan().memory(64 << 20), &script);
    assert_eq!(outcome.stdout.text(), format!("0 {}", libc::ENOSYS), "{outcome:?}");
    for call in ["semget", "shmget"] {
        let arguments = if call == "semget" { "0, 1, 0600" } else { "0, 4096, 0600" };
        let outcome =
            perl(plan().memory(64 << 20), &format!("print defined {call}({arguments}) ? 'made' : $! + 0"));
        assert_eq!(outcome.stdout.text(), libc::ENOSYS.to_string(), "{call}");
    }
}

#[test]
fn buffers_of_connections_are_bounded_where_memory_is() {
    let script = "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem";
    let held = "4096\t65536\t262144\n";
    assert_eq!(output(plan().memory(256 << 20), script), held.repeat(2));
    assert_ne!(output(plan(), script), held.repeat(2), "control: it is another number otherwise");
    // And nobody inside can raise them again.
    let outcome =
        common::sh(plan().memory(256 << 20), "echo 4096 65536 6291456 > /proc/sys/net/ipv4/tcp_rmem");
    assert!(!outcome.success(), "{outcome:?}");
}
