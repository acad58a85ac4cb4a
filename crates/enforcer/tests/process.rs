//! What a confined process is, and what it may do to others.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{output, plan, sh};
use skillsandbox_enforcer::{Command, ObserveLevel, SyscallProfile};

#[test]
fn row_108_the_default_profile_is_in_force_for_the_command_and_what_it_starts() {
    let status = "grep -E '^(Seccomp|NoNewPrivs|CapInh|CapPrm|CapEff|CapBnd|CapAmb):' /proc/self/status";
    let nothing = "0000000000000000";
    let expected = format!(
        "CapInh:\t{nothing}\nCapPrm:\t{nothing}\nCapEff:\t{nothing}\nCapBnd:\t{nothing}\nCapAmb:\t{nothing}\nNoNewPrivs:\t1\nSeccomp:\t2\n"
    );
    assert_eq!(output(plan(), status), expected);
    assert_eq!(output(plan(), &format!("sh -c \"sh -c \\\"{status}\\\"\"")), expected);
}

#[test]
fn row_108_calls_that_change_the_system_or_others_fail() {
    for (name, call) in [
        ("unshare", "unshare -U true"),
        ("unshare of mounts", "unshare -m true"),
        ("mount", "mount -t tmpfs none /tmp"),
        ("chroot", "chroot /tmp true"),
        ("nsenter", "nsenter -t $$ -n true"),
        ("personality", "setarch -R true"),
        ("dmesg", "dmesg"),
    ] {
        let outcome = sh(plan(), call);
        assert!(!outcome.success(), "{name}: {outcome:?}");
    }
}

#[test]
fn row_109_strict_has_no_new_processes_and_no_sockets() {
    let strict = || plan().syscalls(SyscallProfile::Strict);
    assert_eq!(output(strict(), "echo alone"), "alone\n");
    assert!(!sh(strict(), "/bin/true; /bin/true").success(), "no new process");
    let socket = Command::new("/usr/bin/perl").args([
        "-MSocket",
        "-e",
        "socket(my $s, AF_INET, SOCK_STREAM, 0) or exit 3",
    ]);
    assert!(common::run(plan(), &socket).success(), "control: the default profile has sockets");
    assert!(!common::run(strict(), &socket).success());
    let signal = Command::new("/usr/bin/perl").args(["-e", "exit 0 if kill 0, $$; exit 3"]);
    assert!(common::run(strict(), &signal).success(), "a process may signal itself");
    let other = Command::new("/usr/bin/perl").args(["-e", "exit 0 if kill 0, 1; exit 3"]);
    assert!(!common::run(strict(), &other).success());
}

#[test]
fn row_111_threads_and_processes_run_under_the_default_profile() {
    let script = "perl -e 'my @p; for (1..20) { my $p = fork; if (!$p) { exit 0 } push @p, $p } waitpid($_, 0) for @p; print \"done\\n\"'";
    assert_eq!(output(plan(), script), "done\n");
    if std::path::Path::new("/usr/bin/python3").exists() {
        let script = "import threading\nt=[threading.Thread(target=lambda: sum(range(1000))) for _ in range(20)]\n\
                      [x.start() for x in t]\n[x.join() for x in t]\nprint('done')";
        let outcome = common::run(plan(), &Command::new("/usr/bin/python3").args(["-c", script]));
        assert_eq!(outcome.stdout.text(), "done\n", "{}", outcome.stderr.text());
    } else {
        eprintln!("SKIPPED: there is no /usr/bin/python3 for the threads of Python");
    }
}

#[test]
fn row_116_other_processes_are_neither_seen_nor_signalled() {
    let own = std::process::id();
    let text = output(plan(), "ls -d /proc/[0-9]* | wc -l; echo $$; ps -e 2>/dev/null | wc -l");
    let mut lines = text.lines();
    assert!(lines.next().unwrap().parse::<u32>().unwrap() <= 3, "{text}");
    assert_eq!(lines.next(), Some("2"), "{text}");
    let outcome = sh(
        plan(),
        &format!("kill -0 {own} && echo seen; kill -0 1 && echo init; ls /proc/{own} && echo listed; true"),
    );
    assert_eq!(outcome.stdout.text(), "");
}

#[test]
fn the_init_cannot_be_looked_into() {
    let script = "for f in environ maps mem fd root cwd exe stack auxv; do ls -l /proc/1/$f && cat /proc/1/$f; done 2>/dev/null; \
                  test -e /proc/1 && echo visible; true";
    assert_eq!(output(plan(), script), "");
}

#[test]
fn ignored_and_blocked_signals_are_not_inherited() {
    // This thread blocks and ignores; what the command gets is fresh.
    let inner = "exec grep -E '^Sig(Blk|Ign|Pnd)' /proc/self/status";
    let mut again = std::process::Command::new("/bin/sh");
    let program = std::env::current_exe().unwrap();
    let arguments = "helper_print_signals --exact --ignored --nocapture";
    again
        .args(["-c", &format!("trap '' PIPE HUP USR1 TERM INT; exec '{}' {arguments}", program.display())])
        .env("SCRIPT", inner);
    let said = again.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("outside: SigIgn"), "{text}");
    let control = text.lines().find(|line| line.starts_with("outside: SigIgn")).unwrap();
    assert!(!control.ends_with("0000000000000000"), "control: {text}");
    for name in ["SigBlk", "SigIgn", "SigPnd"] {
        assert!(text.contains(&format!("{name}:\t0000000000000000")), "{name}: {text}");
    }
}

#[test]
#[ignore = "run by another test, with signals ignored"]
fn helper_print_signals() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find(|line| line.starts_with("SigIgn")).unwrap();
    println!("outside: {ignored}");
    println!("{}", output(plan(), &std::env::var("SCRIPT").unwrap()));
}

#[test]
fn descriptors_are_not_inherited() {
    use std::os::fd::AsRawFd as _;
    let folder = common::Folder::new();
    let secret = std::fs::File::open(folder.file("secret", "canary")).unwrap();
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    // As a careless program would: open across exec.
    let inherit = |fd: &dyn std::os::fd::AsFd| {
        rustix::io::fcntl_setfd(fd.as_fd(), rustix::io::FdFlags::empty()).unwrap();
    };
    inherit(&secret);
    inherit(&socket);
    let control = std::process::Command::new("/bin/ls")
        .arg(format!("/proc/self/fd/{}", secret.as_raw_fd()))
        .output()
        .unwrap();
    assert!(control.status.success(), "control: another child does inherit it");
    let text = output(plan(), "exec ls /proc/self/fd");
    assert_eq!(
        text.lines().collect::<Vec<_>>(),
        ["0", "1", "2", "3"],
        "the last one is the folder being listed"
    );
}

#[test]
fn there_is_no_terminal_and_the_session_is_its_own() {
    let text = output(
        plan(),
        "cut -d' ' -f5,6,7 /proc/self/stat; test -e /dev/tty && echo tty; cat /proc/sys/kernel/hostname; id -u; id -g; id -G",
    );
    // The process group is the shell's, the session the command's, and there is no terminal.
    let first: Vec<&str> = text.lines().next().unwrap().split(' ').collect();
    assert_eq!(first[2], "0", "{text}");
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["skillsandbox", "1000", "1000", "1000"], "{text}");
}

#[test]
fn the_network_is_nothing_but_its_own_loopback() {
    let host = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = host.local_addr().unwrap().port();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok(), "control");
    let connect = |to: &str| {
        format!(
            "use IO::Socket::INET; my $s = IO::Socket::INET->new(PeerAddr => '{to}', Timeout => 2); print $s ? 'connected' : \"refused\";"
        )
    };
    let command = Command::new("/usr/bin/perl").args(["-e", &connect(&format!("127.0.0.1:{port}"))]);
    assert_eq!(common::run(plan(), &command).stdout.text(), "refused");
    let devices =
        output(plan(), "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; wc -l < /proc/net/route");
    assert_eq!(devices, "lo\n1\n");
    // A program can still talk to itself.
    let own = "use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1) or die; \
               my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $l->sockport) or die; print 'spoke';";
    assert_eq!(common::run(plan(), &Command::new("/usr/bin/perl").args(["-e", own])).stdout.text(), "spoke");
}

#[test]
fn row_110_permissive_refuses_nothing_and_reports() {
    let plan = plan().syscalls(SyscallProfile::Permissive);
    // Allowed by the filter; the other walls hold it all the same.
    let outcome = sh(
        plan,
        "setarch -R /bin/true && echo passed; unshare -U true; mount -t tmpfs none /tmp; echo went on",
    );
    assert_eq!(outcome.stdout.text(), "passed\nwent on\n", "{}", outcome.stderr.text());
    let tried: Vec<&str> = outcome.refused.iter().map(|call| call.name.as_str()).collect();
    for name in ["personality", "unshare"] {
        assert!(tried.contains(&name), "{name} in {:?}", outcome.refused);
    }
    assert!(
        outcome.refused.iter().all(|call| call.errno.is_none() && call.count > 0 && call.pid > 1),
        "{:?}",
        outcome.refused
    );
    assert!(outcome.reports_refusals);
    let nothing = sh(common::plan(), "echo nothing");
    assert!(nothing.reports_refusals && nothing.refused.is_empty(), "{:?}", nothing.refused);
}

#[test]
fn row_112_refused_calls_are_reported_with_name_reason_and_count() {
    let script = "for i in 1 2 3; do unshare -U true; done; setarch -R true; true";
    for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
        let script = if profile == SyscallProfile::Strict { "exec setarch -R true" } else { script };
        let outcome = sh(plan().syscalls(profile), script);
        let find = |name: &str| outcome.refused.iter().find(|call| call.name == name);
        let personality = find("personality").unwrap_or_else(|| panic!("{profile}: {:?}", outcome.refused));
        assert_eq!(personality.errno, Some(1));
        assert!(!personality.reason.is_empty());
        if profile == SyscallProfile::Default {
            assert_eq!(find("unshare").unwrap().count, 3, "{:?}", outcome.refused);
        }
    }
}

#[test]
fn row_112_a_storm_of_refused_calls_is_counted_and_ends() {
    let script = "use POSIX; my $n = 0; for (1..20000) { $n++ if syscall(272, 0x10000000) == -1 } print $n;";
    let outcome = common::run(plan(), &Command::new("/usr/bin/perl").args(["-e", script]));
    assert_eq!(outcome.stdout.text(), "20000", "{}", outcome.stderr.text());
    if cfg!(target_arch = "x86_64") {
        assert_eq!(
            outcome.refused.iter().map(|call| call.count).sum::<u64>(),
            20000,
            "{:?}",
            outcome.refused
        );
    }
}

/// The system's programs are the same files inside and outside, and where root runs a skill they are its own: a lease on one
/// would make everybody outside wait who starts it. `permissive` has no other wall here, so it refuses this too.
#[test]
fn a_lease_on_a_file_of_the_host_is_refused_in_every_profile() {
    let folder = common::Folder::new();
    let file = folder.file("read-by-others", "x");
    // F_SETLEASE with F_WRLCK, which also keeps readers waiting.
    let script = "open(F, '<', $ARGV[0]) or die $!; print fcntl(F, 1024, 1) ? 'held' : \"refused: $!\";";
    let command = Command::new("/usr/bin/perl").args(["-e", script]).arg(file);
    for profile in [SyscallProfile::Default, SyscallProfile::Permissive, SyscallProfile::Strict] {
        let outcome = common::run(plan().read(folder.path()).syscalls(profile), &command);
        assert_eq!(
            outcome.stdout.text(),
            "refused: Permission denied",
            "{profile}: {}",
            outcome.stderr.text()
        );
    }
}

#[allow(clippy::large_stack_arrays, reason = "the room is what is tested")]
fn deep_check() -> Result<(), String> {
    let room = std::hint::black_box([1_u8; 2 << 20]);
    if room.iter().all(|byte| *byte == 1) { Ok(()) } else { Err("never".to_owned()) }
}

/// The caller's check may need as much room as any of the caller's code: reading an archive takes more than the supervisor's thread has.
#[test]
fn the_last_check_has_the_room_of_an_ordinary_thread() {
    let checked = Command::new("/bin/true").last_check(deep_check);
    assert!(common::run(plan(), &checked).success());
    let panicking = Command::new("/bin/true").last_check(|| panic!("a check that fails"));
    let refused = plan().build().unwrap().spawn(&panicking).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|why| why.contains("the last check before the run failed")));
}

/// At every level: a program whose calls nobody is told of would not wait by itself.
#[test]
fn nothing_is_executed_before_the_last_check_has_answered() {
    for level in ObserveLevel::ALL {
        for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
            for is_refused in [true, false] {
                let folder = tempfile::tempdir().unwrap();
                let mark = folder.path().join("ran");
                let seen = mark.clone();
                let check = move || {
                    std::thread::sleep(std::time::Duration::from_millis(200));
                    let was_early = seen.exists();
                    if is_refused || was_early { Err(format!("early: {was_early}")) } else { Ok(()) }
                };
                let command = Command::new("/bin/sh").arg("-c").arg(format!("echo > {}", mark.display()));
                let command = command.observe_level(level).last_check(check);
                let spawned = plan().syscalls(profile).write(folder.path()).build().unwrap().spawn(&command);
                match spawned {
                    Ok(running) => {
                        assert!(!is_refused && running.wait().unwrap().success(), "{level:?} {profile:?}");
                        assert!(mark.exists());
                    }
                    Err(error) => {
                        assert!(
                            is_refused && error.to_string().contains("early: false"),
                            "{level:?}: {error}"
                        );
                        assert!(!mark.exists(), "{level:?} {profile:?}");
                    }
                }
            }
        }
    }
}
