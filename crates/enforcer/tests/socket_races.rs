//! What others do to sockets while they are granted and connected changes nothing but their own run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

mod common;

use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use common::{Folder, plan, run};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use skillsandbox_enforcer::Command;

/// Somebody who may write where a declared socket lies exchanges it for a link to another, all the while.
#[test]
fn row_172_a_link_that_is_raced_into_the_place_of_a_declared_socket_grants_nothing() {
    const ROUNDS: usize = 1500;
    let folder = Folder::new();
    let (shared, private) = (folder.folder("shared"), folder.folder("private"));
    let (declared, link, victim) = (shared.join("s.sock"), shared.join("link"), private.join("victim.sock"));
    let _servers = [&declared, &victim].map(|path| UnixListener::bind(path).unwrap());
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    let built = plan().unix_socket(&declared).build().unwrap();
    let command = Command::new("/bin/true");
    assert_eq!(built.inspect(&command).unwrap().unix_sockets, std::slice::from_ref(&declared), "the control");
    let is_over = AtomicBool::new(false);
    let (mut granted, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                renameat_with(CWD, &declared, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut others = Vec::new();
        for _ in 0..ROUNDS {
            match built.inspect(&command) {
                Ok(inspected) if inspected.unix_sockets == std::slice::from_ref(&declared) => granted += 1,
                Ok(inspected) => others.push(inspected.unix_sockets),
                Err(_) => refused += 1,
            }
        }
        is_over.store(true, Ordering::Release);
        assert!(others.is_empty(), "{} of {ROUNDS}: {:?}", others.len(), others.first());
    });
    assert!(granted > 0 && refused > 0, "both were met: {granted} granted, {refused} refused");
}

/// A socket whose wait is switched on behind the supervisor's back, to a server that is full and that only this socket keeps alive.
const HOLD: &str = r"
import socket, os, fcntl, array
server = socket.socket(socket.AF_UNIX); server.bind('/tmp/full'); server.listen(0)
kept = []
while True:
    one = socket.socket(socket.AF_UNIX); one.setblocking(False); kept.append(one)
    try: one.connect('/tmp/full')
    except BlockingIOError: break
mine, other = socket.socketpair()
other.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [server.fileno()]))])
def child(work):
    if os.fork() == 0:
        try: work()
        finally: os._exit(0)
def flip():
    while True: fcntl.fcntl(mine.fileno(), fcntl.F_SETFL, os.O_RDWR)
def connect():
    while True:
        try: mine.connect('/tmp/full')
        except OSError: pass
for _ in range(3): child(flip)
for _ in range(12): child(connect)
# Somebody else of the run is served meanwhile, again and again.
for _ in range(400):
    probe = socket.socket(socket.AF_UNIX); probe.setblocking(False)
    try: probe.connect('/tmp/full')
    except BlockingIOError: pass
print('served')
";

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn connecting_threads() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let name =
        |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    threads.map(name).filter(|name| name.starts_with("sandbox-")).count()
}

#[test]
fn a_connection_that_is_made_to_wait_holds_up_nobody_and_keeps_nothing_when_its_run_has_ended() {
    // What is made once for all runs.
    assert!(run(plan(), &Command::new("/bin/true")).success());
    let before = open_descriptors();
    for _ in 0..3 {
        let outcome = run(plan(), &Command::new("python3").args(["-c", HOLD]));
        assert_eq!(outcome.stdout.text().trim(), "served", "{outcome:?}\n{}", outcome.stderr.text());
    }
    // What is closed is closed by threads that nobody waits for.
    for _ in 0..1000 {
        if connecting_threads() == 0 && open_descriptors() <= before {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{} threads, {} descriptors, {before} before", connecting_threads(), open_descriptors());
}

/// To connect a datagram socket waits for nothing, so nothing is switched off for others who wait on it.
#[test]
fn a_datagram_socket_waits_as_before_while_it_is_connected() {
    let script = r"
import socket, os, fcntl, signal
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); server.bind(('127.0.0.1', 0))
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ready, begun = os.pipe()
looks = os.fork()
if looks == 0:
    os.write(begun, b'x')
    while True:
        if fcntl.fcntl(one, fcntl.F_GETFL) & os.O_NONBLOCK: os._exit(1)
os.read(ready, 1)
for _ in range(3000): one.connect(server.getsockname())
os.kill(looks, signal.SIGKILL)
print(os.waitstatus_to_exitcode(os.waitpid(looks, 0)[1]))
";
    let outcome = run(plan(), &Command::new("python3").args(["-c", script]));
    assert_eq!(outcome.stdout.text().trim(), "-9", "{outcome:?}\n{}", outcome.stderr.text());
}

/// A netlink socket without a name gets one when it is connected, and who connects it is the launching program.
#[test]
fn a_netlink_socket_is_named_after_who_connects_it_inside() {
    let script = r"
import socket, os
def name():
    one = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); one.connect((0, 0)); return one, one.getsockname()[0]
first, own = name(); second, other = name()
print(own == os.getpid(), other not in (0, own))
bound = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); bound.bind((77, 0)); bound.connect((0, 0)); print(bound.getsockname()[0])
print(other)
";
    let outcome = run(plan(), &Command::new("python3").args(["-c", script]));
    let text = outcome.stdout.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["True True", "77"], "{outcome:?}\n{}", outcome.stderr.text());
    assert_ne!(lines[2], std::process::id().to_string());
}
