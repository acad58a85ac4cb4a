//! How much of the machine a run may use.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::Duration;

use common::{Folder, output, plan, sh};
use skillsandbox_enforcer::{Command, CommandStatus, EndCause, LimitMechanism, RunLimit, RunOutcome};

/// Touches so many MiB, one by one, and says so. In Perl, which every Debian has.
fn hog(mebibytes: u32) -> Command {
    let script = format!(
        "my @x; for (1..{mebibytes}) {{ push @x, 'x' x (1 << 20); }} print 'had ', scalar(@x), qq(\\n);"
    );
    Command::new("/usr/bin/perl").args(["-e", &script])
}

fn hit(outcome: &RunOutcome, limit: RunLimit) -> bool {
    outcome.limits_hit.iter().any(|hit| hit.limit == limit)
}

#[test]
fn row_114_memory_over_the_limit_ends_the_run() {
    let control = common::run(plan().memory(512 << 20), &hog(100));
    assert_eq!(control.stdout.text(), "had 100\n", "{control:?}");
    assert!(control.limits_hit.is_empty(), "{control:?}");
    let outcome = common::run(plan().memory(64 << 20), &hog(400));
    assert_eq!(outcome.end, EndCause::Memory, "{outcome:?}");
    assert!(hit(&outcome, RunLimit::Memory));
    assert_eq!(outcome.stdout.text(), "");
}

#[test]
fn row_114_memory_is_counted_over_all_processes() {
    let script =
        "for i in 1 2 3 4 5 6 7 8; do perl -e 'my $x = \"x\" x (24 << 20); sleep 3' & done; wait; echo all";
    assert_eq!(output(plan().memory(1 << 30), script), "all\n");
    let outcome = sh(plan().memory(96 << 20), script);
    assert!(hit(&outcome, RunLimit::Memory), "{outcome:?}");
}

#[test]
fn row_114_a_crash_is_not_taken_for_too_much_memory() {
    let outcome = sh(plan().memory(256 << 20), "kill -KILL $$");
    assert_eq!((outcome.end, outcome.status), (EndCause::Itself, CommandStatus::Signalled(9)));
    assert!(!hit(&outcome, RunLimit::Memory));
}

#[test]
fn row_115_the_share_of_the_processor_is_held() {
    // Half a second of work takes at least a second at a quarter of a core, less what may be used at once.
    let work = "perl -e 'my $n = 0; while ((times)[0] + (times)[1] < 0.5) { $n++ for 1..10000 }'";
    let outcome = sh(plan().cpu_percent(25), work);
    assert!(outcome.success(), "{outcome:?}");
    assert!(hit(&outcome, RunLimit::Cpu), "{outcome:?}");
    assert!(outcome.duration >= Duration::from_secs(1), "{:?}", outcome.duration);
}

/// Starts processes that stay, until one is refused or there are enough, and says how many there were.
fn crowd(wanted: u32) -> Command {
    let script = format!(
        "my @p; for (1..{wanted}) {{ my $p = fork; last unless defined $p; if (!$p) {{ sleep 30; exit }} push @p, $p }} \
         print scalar(@p); $| = 1; select(undef, undef, undef, 0.3); kill 9, @p;"
    );
    Command::new("/usr/bin/perl").args(["-e", &script])
}

#[test]
fn the_number_of_processes_is_held_and_the_outcome_says_so() {
    let control = common::run(plan().processes(200), &crowd(60));
    assert_eq!(control.stdout.text(), "60", "{control:?}");
    assert!(!hit(&control, RunLimit::Processes), "{control:?}");
    let outcome = common::run(plan().processes(20), &crowd(60));
    assert!(hit(&outcome, RunLimit::Processes), "{outcome:?}");
    if outcome.end == EndCause::Itself {
        let lived: u32 = outcome.stdout.text().parse().unwrap();
        assert!((10..20).contains(&lived), "{lived}: {outcome:?}");
    }
}

#[test]
fn a_fork_bomb_is_held_and_ends_with_the_run() {
    // Each process makes two and waits, or stays where it may not: a look of the supervisor finds them all there.
    // It is bounded in depth, should nothing hold it: that would be 2,047 processes.
    let bomb = "sub bomb { my $d = shift; return sleep 20 if $d == 0; for (1, 2) { my $p = fork; return sleep 20 unless defined $p; \
                if (!$p) { bomb($d - 1); exit } } wait; wait } bomb(10);";
    let plan = plan().processes(32).timeout(Duration::from_secs(3));
    let outcome = common::run(plan, &Command::new("/usr/bin/perl").args(["-e", bomb]));
    assert!(hit(&outcome, RunLimit::Processes), "{outcome:?}");
    assert_eq!(output(common::plan(), "echo fine"), "fine\n");
}

#[test]
fn row_118_the_private_folders_and_the_largest_file_are_bounded() {
    let script = "for d in /tmp \"$HOME\" /dev/shm; do head -c 3000000 /dev/zero > $d/a && echo fits; rm -f $d/a; \
                  head -c 9000000 /dev/zero > $d/b || echo full; rm -f $d/b; done 2>/dev/null; \
                  for i in 1 2 3 4; do head -c 3000000 /dev/zero > /tmp/$i || echo together; done 2>/dev/null";
    let text = output(plan().disk(8 << 20), &format!("{script}; true"));
    assert_eq!(text.matches("fits").count(), 3, "{text}");
    assert_eq!(text.matches("full").count(), 3, "{text}");
    assert!(text.contains("together"), "{text}");
    let folder = Folder::new();
    let script = format!("head -c 9000000 /dev/zero > '{}/big'; true", folder.path().display());
    sh(plan().disk(8 << 20).write(folder.path()), &script);
    assert!(std::fs::metadata(folder.path().join("big")).unwrap().len() <= 8 << 20);
}

#[test]
fn open_files_are_bounded() {
    assert_eq!(output(plan().open_files(64), "ulimit -n"), "64\n");
    let script = "perl -e 'my @f; while (open(my $f, \"<\", \"/dev/null\")) { push @f, $f; last if @f > 5000 } print scalar(@f)'";
    let count: u32 = output(plan().open_files(64), script).parse().unwrap();
    assert!(count < 64, "{count}");
}

#[test]
fn row_119_there_are_no_core_dumps() {
    let folder = Folder::new();
    let script = format!(
        "cd '{}'; ulimit -c unlimited 2>/dev/null; ulimit -S -c unlimited 2>/dev/null; sh -c 'kill -ABRT $$'; sh -c 'kill -SEGV $$'; \
         cat /proc/self/limits | grep -i core",
        folder.path().display()
    );
    let text = output(plan().write(folder.path()), &script);
    // 1, not 0: a program that core_pattern pipes to gets the memory at 0 as well.
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words[words.len() - 3..], ["1", "1", "bytes"], "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_outcome_says_what_held_the_limits_and_what_was_used() {
    let outcome =
        sh(plan().memory(512 << 20).processes(100), "perl -e 'my $x = \"x\" x (32 << 20); sleep 1'");
    assert!(outcome.success(), "{outcome:?}");
    assert!(outcome.usage.peak_memory.unwrap() > 32 << 20, "{:?}", outcome.usage);
    let root = is_root();
    if root && std::path::Path::new("/sys/fs/cgroup/memory").exists() {
        assert_eq!(outcome.mechanism, LimitMechanism::CgroupV1);
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) == 0)
}

/// What the kernel counts for the user as a whole: a run uses up its own share of watches, and no more.
#[test]
fn inotify_instances_and_watches_of_a_run_are_bounded() {
    let script = r"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def fill(make, most):
    for count in range(most):
        if make(count) < 0: return count, ctypes.get_errno()
    return most, 0
for n in range(5000): os.mkdir('/tmp/%d' % n)
instances = fill(lambda _: libc.inotify_init(), 200)
first = 3
while True:
    try:
        if 'inotify' in os.readlink('/proc/self/fd/%d' % first): break
    except OSError: pass
    first += 1
print(*instances, *fill(lambda n: libc.inotify_add_watch(first, b'/tmp/%d' % n, 2), 5000))
";
    let command = Command::new("python3").args(["-c", script]);
    let outcome = common::run(plan(), &command);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let expected = format!("16 {} 4096 {}", libc::EMFILE, libc::ENOSPC);
    assert_eq!(outcome.stdout.text().trim(), expected);
}

/// Descriptors that nobody has received yet count for the user, too: a run has no more of them than it may have open, and one message.
#[test]
fn descriptors_on_their_way_are_bounded_by_the_open_files_of_a_run() {
    let script = r"
import socket, array
sent, pairs = 0, []
try:
    while sent < 5000:
        a, b = socket.socketpair(); pairs.append((a, b))
        for _ in range(4):
            a.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [0] * 50))]); sent += 50
except OSError as e: print(sent, e.errno)
";
    let command = Command::new("python3").args(["-c", script]);
    let outcome = common::run(plan().open_files(128), &command);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let text = outcome.stdout.text();
    let (sent, errno) = text.trim().split_once(' ').unwrap();
    assert!(sent.parse::<u32>().unwrap() <= 128 + 253, "{text}");
    assert!(
        [libc::ETOOMANYREFS, libc::EMFILE].map(|errno| errno.to_string()).contains(&errno.to_owned()),
        "{text}"
    );
}
