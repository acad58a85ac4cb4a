//! No Unix socket of the host is reached unless the plan names it, however its name came to be in a granted folder.
//!
//! Unsafe code: a filter of another supervisor, around the sandbox.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

mod common;
#[allow(dead_code)] // Other tests use the rest.
mod under_filter;

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use common::{Folder, plan, run};
use skillsandbox_enforcer::{
    AccessVerdict, Command, FileOperation, ObserveLevel, ObservedAction, ObservedEvent, Observer, Plan,
    PlanBuilder, RunOutcome, SyscallProfile,
};

/// A server of the host's that counts who reached it.
struct HostServer {
    reached: Arc<AtomicUsize>,
}

impl HostServer {
    fn on(listener: UnixListener) -> Self {
        let reached = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&reached);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                counter.fetch_add(1, Ordering::SeqCst);
                let _ = std::io::Write::write_all(&mut stream.unwrap(), b"secret");
            }
        });
        Self { reached }
    }

    fn at(path: &Path) -> Self {
        Self::on(UnixListener::bind(path).unwrap())
    }

    fn count(&self) -> usize {
        self.reached.load(Ordering::SeqCst)
    }
}

/// Connects to a path in the ways there are, and prints what came of it: the number of the error, or what was received.
const REACH: &str = r"
import socket, sys, os
def reach(path, kind=socket.SOCK_STREAM):
    try:
        with socket.socket(socket.AF_UNIX, kind) as s:
            s.settimeout(20); s.connect(path); return s.recv(6).decode()
    except OSError as e: return e.errno
";

fn python(plan: PlanBuilder, script: &str, arguments: &[&Path], level: ObserveLevel) -> RunOutcome {
    let command = Command::new("python3").args(["-c", &format!("{REACH}\n{script}")]).args(arguments);
    run(plan, &command.observe_level(level))
}

fn printed(outcome: &RunOutcome) -> String {
    assert!(outcome.success(), "{outcome:?}\n{}", outcome.stderr.text());
    outcome.stdout.text().trim().to_owned()
}

/// The same outside: the socket is there, and answers.
fn control(path: &Path) {
    let script = format!("{REACH}\nprint(reach(sys.argv[1]))");
    let output = std::process::Command::new("python3").args(["-c", &script]).arg(path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "secret", "{}", path.display());
}

const EVERY_LEVEL: [ObserveLevel; 3] = [ObserveLevel::Off, ObserveLevel::Violations, ObserveLevel::Full];

/// Bound by a relative name, as tmux does; linked into place, as ssh does; bound in another mount namespace's name for it; renamed into
/// place; in a read grant and in a write grant.
#[test]
fn row_172_sockets_of_the_host_are_out_of_reach_however_they_were_bound() {
    let folder = Folder::new();
    let (read, write, elsewhere) =
        (folder.folder("read"), folder.folder("write"), folder.folder("elsewhere"));
    let mut servers = Vec::new();
    let mut paths = Vec::new();
    for granted in [&read, &write] {
        servers.push(HostServer::at(&granted.join("plain.sock")));
        // Its name in /proc/net/unix is not where it is.
        let bound = elsewhere.join(format!("bound-{}", paths.len()));
        servers.push(HostServer::at(&bound));
        std::fs::hard_link(&bound, granted.join("linked.sock")).unwrap();
        let moved = elsewhere.join(format!("moved-{}", paths.len()));
        servers.push(HostServer::at(&moved));
        std::fs::rename(&moved, granted.join("moved.sock")).unwrap();
        let script = "import socket, sys, os\nos.chdir(sys.argv[1])\ns = socket.socket(socket.AF_UNIX); s.bind('relative.sock'); s.listen()\nprint(flush=True)\nwhile True:\n  c = s.accept()[0]; c.send(b'secret'); c.close()";
        let mut child = std::process::Command::new("python3")
            .args(["-c", script])
            .arg(granted)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(&mut child.stdout.take().unwrap(), &mut [0]).unwrap();
        servers.push(HostServer { reached: Arc::default() });
        for name in ["plain.sock", "linked.sock", "moved.sock", "relative.sock"] {
            paths.push((granted.join(name), child.id()));
        }
        std::mem::forget(child);
    }
    for (path, _) in &paths {
        control(path);
    }
    let before: Vec<_> = servers.iter().map(HostServer::count).collect();
    let script = "
for path in sys.argv[1:]:
    print(reach(path), reach(path, socket.SOCK_SEQPACKET))
    os.chdir(os.path.dirname(path)); print(reach(os.path.basename(path)))
    os.symlink(path, '/tmp/link'); print(reach('/tmp/link')); os.unlink('/tmp/link')
    at = os.open(os.path.dirname(path), os.O_PATH); print(reach('/proc/self/fd/%d/%s' % (at, os.path.basename(path))))
    fd = os.open(path, os.O_PATH); print(reach('/proc/self/fd/%d' % fd))
";
    let arguments: Vec<&Path> = paths.iter().map(|(path, _)| path.as_path()).collect();
    for level in EVERY_LEVEL {
        for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
            let outcome =
                python(plan().read(&read).write(&write).syscalls(profile), script, &arguments, level);
            let text = printed(&outcome);
            assert!(outcome.supervises_sockets);
            assert_eq!(text.split_whitespace().count(), paths.len() * 6, "{text}");
            let denied = libc::EACCES.to_string();
            assert!(text.split_whitespace().all(|word| word == denied), "{level:?}, {profile}: {text}");
        }
    }
    assert_eq!(before, servers.iter().map(HostServer::count).collect::<Vec<_>>());
    for pid in paths.iter().map(|(_, pid)| *pid).collect::<std::collections::BTreeSet<_>>() {
        let pid = rustix_pid(pid);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        nix::sys::wait::waitpid(pid, None).unwrap();
    }
}

fn rustix_pid(pid: u32) -> nix::unistd::Pid {
    nix::unistd::Pid::from_raw(pid.try_into().unwrap())
}

/// One that is bound after the run has begun is no other.
#[test]
fn row_172_a_socket_that_is_bound_later_is_out_of_reach() {
    let folder = Folder::new();
    let read = folder.folder("read");
    let path = read.join("later.sock");
    let script = "
import time
print('ready', flush=True); sys.stdin.readline()
print(reach(sys.argv[1]))
";
    let command = Command::new("python3")
        .args(["-c", &format!("{REACH}\n{script}")])
        .arg(&path)
        .stdin(skillsandbox_enforcer::StdinMode::Piped)
        .stdout(skillsandbox_enforcer::OutputMode::Piped);
    let mut running = plan().read(&read).build().unwrap().spawn(&command).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stdout().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let server = HostServer::at(&path);
    control(&path);
    std::io::Write::write_all(&mut running.stdin().unwrap(), b"\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), libc::EACCES.to_string());
    assert!(running.wait().unwrap().success());
    assert_eq!(server.count(), 1, "the control");
}

/// Only what the plan names, and not what takes its place.
#[test]
fn row_172_a_declared_socket_is_reached_and_no_other() {
    let folder = Folder::new();
    let (read, other) = (folder.folder("read"), folder.folder("other"));
    let servers = [read.join("declared.sock"), read.join("beside.sock"), other.join("declared.sock")]
        .map(|path| (HostServer::at(&path), path));
    let script = "print([reach(path) for path in sys.argv[1:]])";
    let arguments: Vec<&Path> = servers.iter().map(|(_, path)| path.as_path()).collect();
    for level in EVERY_LEVEL {
        let plan = plan().read(&read).unix_socket(&servers[0].1).unix_socket(&servers[2].1);
        let text = printed(&python(plan, script, &arguments, level));
        assert_eq!(text, format!("['secret', {}, 'secret']", libc::EACCES), "{level:?}");
    }
    let inspected =
        plan().unix_socket(&servers[2].1).build().unwrap().inspect(&Command::new("true")).unwrap();
    assert_eq!(inspected.unix_sockets, [servers[2].1.clone()]);
    // Whoever made a link would choose the server.
    let link = folder.path().join("link.sock");
    std::os::unix::fs::symlink(&servers[2].1, &link).unwrap();
    std::os::unix::fs::symlink(&other, folder.path().join("link")).unwrap();
    for path in [link, folder.path().join("link/declared.sock")] {
        let refused = plan().unix_socket(path).build().unwrap().spawn(&Command::new("true"));
        assert!(refused.unwrap_err().to_string().contains("is a link"));
    }
}

/// What takes the place of a declared socket is another one, during a run and for the next.
#[test]
fn row_172_a_declared_socket_cannot_be_replaced() {
    let folder = Folder::new();
    let (read, write) = (folder.folder("read"), folder.folder("write"));
    let path = read.join("declared.sock");
    let first = HostServer::at(&path);
    let script = "
print(reach(sys.argv[1]), flush=True); sys.stdin.readline(); print(reach(sys.argv[1]))
";
    let command = Command::new("python3")
        .args(["-c", &format!("{REACH}\n{script}")])
        .arg(&path)
        .stdin(skillsandbox_enforcer::StdinMode::Piped)
        .stdout(skillsandbox_enforcer::OutputMode::Piped);
    let mut running = plan().read(&read).unix_socket(&path).build().unwrap().spawn(&command).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stdout().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "secret");
    std::fs::remove_file(&path).unwrap();
    let second = HostServer::at(&path);
    std::io::Write::write_all(&mut running.stdin().unwrap(), b"\n").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), libc::EACCES.to_string());
    assert!(running.wait().unwrap().success());
    assert_eq!((first.count(), second.count()), (1, 0));
    // A run could put another where it may write, so none is taken from there.
    let inside = write.join("declared.sock");
    let _server = HostServer::at(&inside);
    let refused = plan().write(&write).unix_socket(&inside).build().unwrap().spawn(&Command::new("true"));
    assert!(refused.unwrap_err().to_string().contains("folder that the run may write"));
    for (wrong, says) in [(folder.file("file", ""), "not a Unix socket"), (folder.path().join("absent"), "")]
    {
        let refused = plan().unix_socket(wrong).build().unwrap().spawn(&Command::new("true"));
        assert!(refused.unwrap_err().to_string().contains(says));
    }
}

/// A run's own servers, in its private folders and by abstract names, blocking and not, with more callers than a server has room for.
#[test]
fn sockets_that_a_run_binds_in_its_private_folders_work() {
    let folder = Folder::new();
    let write = folder.folder("write");
    let script = r"
import threading, select, errno, time, faulthandler
faulthandler.dump_traceback_later(45, exit=True)
def serve(address, kind=socket.SOCK_STREAM, backlog=8):
    s = socket.socket(socket.AF_UNIX, kind); s.bind(address); s.listen(backlog)
    def loop():
        while True:
            c = s.accept()[0]; c.send(b'answer'); c.close()
    threading.Thread(target=loop, daemon=True).start()
    return s
home = os.environ['HOME']
for n, address in enumerate(['/tmp/own', home + '/own', '/dev/shm/own', '\0own', os.environ['XDG_RUNTIME_DIR'] + '/own']):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        name = address + str(int(kind)); serve(name, kind); assert reach(name, kind) == 'answer', name
# By relative name, by link, and by a descriptor of the folder.
os.chdir('/tmp'); assert reach('own1') == 'answer'
os.symlink('/tmp/own1', '/dev/shm/link'); assert reach('/dev/shm/link') == 'answer'
at = os.open('/tmp', os.O_PATH); assert reach('/proc/self/fd/%d/own1' % at) == 'answer'
# What is not there, what is no socket, and where nobody listens.
open('/tmp/file', 'w').close()
dead = socket.socket(socket.AF_UNIX); dead.bind('/tmp/dead')
assert [reach(p) for p in ('/tmp/absent', '/tmp/file/x', '/tmp/file', '/tmp/dead', '\0absent')] == [errno.ENOENT, errno.ENOTDIR, errno.ECONNREFUSED, errno.ECONNREFUSED, errno.ECONNREFUSED]
# Without room: a caller that waits does, the others are told; what they set is as they set it.
full = socket.socket(socket.AF_UNIX); full.bind('/tmp/full'); full.listen(0)
first = socket.socket(socket.AF_UNIX); first.connect('/tmp/full')
other = socket.socket(socket.AF_UNIX); other.setblocking(False)
assert other.connect_ex('/tmp/full') == errno.EAGAIN and not other.getblocking()
waits = socket.socket(socket.AF_UNIX); got = []
thread = threading.Thread(target=lambda: got.append(waits.connect_ex('/tmp/full'))); thread.start()
limited = socket.socket(socket.AF_UNIX); limited.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, (0).to_bytes(8, 'little') + (50000).to_bytes(8, 'little'))
assert limited.connect_ex('/tmp/full') in (errno.EAGAIN, errno.EINPROGRESS)
assert thread.is_alive() and not got
full.accept(); thread.join(); assert got == [0] and waits.getblocking()
assert os.get_blocking(waits.fileno())
full.accept(); assert waits.connect_ex('/tmp/full') == errno.EISCONN
# An address that is none, a descriptor that is none.
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def raw(fd, address, length):
    return ctypes.get_errno() if libc.connect(fd, address, length) else 0
s = socket.socket(socket.AF_UNIX)
assert raw(s.fileno(), b'\1\0', 2) == errno.EINVAL and raw(s.fileno(), b'\1\0/', 200) == errno.EINVAL
assert raw(s.fileno(), ctypes.c_void_p(8), 10) == errno.EFAULT
assert raw(999, b'\1\0/x', 4) == errno.EBADF and raw(0, b'\1\0/x', 4) == errno.ENOTSOCK
# TCP: made and refused, blocking and not, and what waits for it.
t = socket.create_server(('127.0.0.1', 0)); port = t.getsockname()[1]
c = socket.create_connection(('127.0.0.1', port)); c.close()
c = socket.socket(); c.setblocking(False); poller = select.epoll(); poller.register(c, select.EPOLLOUT)
assert c.connect_ex(('127.0.0.1', port)) in (0, errno.EINPROGRESS); assert poller.poll(20)
t.close()
c = socket.socket(); assert c.connect_ex(('127.0.0.1', port)) == errno.ECONNREFUSED
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.connect(('127.0.0.1', 9)); assert raw(u.fileno(), b'\0' * 16, 16) == 0
# A shared folder is also how two skills meet: nobody connects there.
serve(sys.argv[1] + '/shared'); print(reach(sys.argv[1] + '/shared'))
pid = os.getpid()
s = serve('/tmp/who'); c = socket.socket(socket.AF_UNIX); c.connect('/tmp/who')
import struct
pid, uid, gid = struct.unpack('3i', c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)); assert uid == os.getuid()
";
    for level in EVERY_LEVEL {
        let outcome = python(plan().write(&write), script, &[&write], level);
        assert_eq!(printed(&outcome), libc::EACCES.to_string(), "{level:?}");
        std::fs::remove_file(write.join("shared")).unwrap();
    }
}

/// While one thread connects to a socket of its own, another changes the address and what is under the descriptor.
#[test]
fn row_172_a_call_that_is_changed_while_it_is_looked_at_reaches_nothing() {
    let folder = Folder::new();
    let read = folder.folder("read");
    let server = HostServer::at(&read.join("s"));
    control(&read.join("s"));
    let script = r"
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
own = socket.socket(socket.AF_UNIX); own.bind('/tmp/own'); own.listen(4096)
t = socket.create_server(('127.0.0.1', 0), backlog=4096)
inet = b'\2\0' + t.getsockname()[1].to_bytes(2, 'big') + bytes([127, 0, 0, 1]) + b'\0' * 8
def unix(path): return b'\1\0' + path.encode() + b'\0'
good, bad = unix('/tmp/own'), unix(sys.argv[1])
size = max(len(good), len(bad), len(inet))
memory = ctypes.create_string_buffer(size)
stop = False
def swap():
    a, b, c = (x.ljust(size, b'\0') for x in (good, bad, inet))
    while not stop:
        for x in (a, b, c): ctypes.memmove(memory, x, size)
threading.Thread(target=swap, daemon=True).start()
number = socket.socket(socket.AF_UNIX).detach()
def under():
    while not stop:
        for family in (socket.AF_UNIX, socket.AF_INET):
            with socket.socket(family) as s: os.dup2(s.fileno(), number)
threading.Thread(target=under, daemon=True).start()
for _ in range(3000):
    for length in (len(good), len(bad), len(inet)): libc.connect(number, memory, length)
stop = True
";
    let outcome = python(plan().read(&read), script, &[&read.join("s")], ObserveLevel::Violations);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    assert_eq!(server.count(), 1, "the control");
}

/// Datagrams name whom they are for in memory, so there are no such sockets; nor is there another way to send one.
#[test]
fn row_172_there_are_no_unix_datagrams_to_send_to_the_host() {
    let folder = Folder::new();
    let read = folder.folder("read");
    let server = std::os::unix::net::UnixDatagram::bind(read.join("d")).unwrap();
    server.set_nonblocking(true).unwrap();
    let script = r"
import ctypes
def tried(what):
    try: return what() and 'done'
    except OSError as e: return e.errno
def send(kind):
    s = socket.socket(socket.AF_UNIX, kind)
    try: return s.sendto(b'x', sys.argv[1])
    except OSError: return s.sendmsg([b'x'], [], 0, sys.argv[1])
def pair(kind):
    s = socket.socketpair(socket.AF_UNIX, kind)[0]; return s.sendto(b'x', sys.argv[1])
kinds = (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
print([tried(lambda: send(k)) for k in kinds], [tried(lambda: pair(k)) for k in kinds[:3]])
libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(425, 8, ctypes.create_string_buffer(120)))
";
    let outside = format!("{REACH}\n{script}");
    let outside =
        std::process::Command::new("python3").args(["-c", &outside]).arg(read.join("d")).output().unwrap();
    let outside = String::from_utf8_lossy(&outside.stdout);
    assert!(outside.starts_with("['done', 'done', "), "control: {outside}");
    while server.recv(&mut [0; 8]).is_ok() {}
    for level in EVERY_LEVEL {
        for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
            let plan = plan().read(&read).syscalls(profile);
            let text = printed(&python(plan, script, &[&read.join("d")], level));
            assert!(!text.contains("done") && text.ends_with("-1"), "{level:?}, {profile}: {text}");
        }
    }
    assert!(server.recv(&mut [0; 8]).is_err(), "nothing came");
}

#[derive(Default)]
struct Notes(Mutex<Vec<ObservedEvent>>);

impl Observer for Notes {
    fn observed(&self, observed: &ObservedEvent) {
        self.0.lock().unwrap().push(observed.clone());
    }
}

/// What was tried is told with what came of it: of sockets of the host, of the run's own, of declared ones, and of abstract names.
#[test]
fn row_177_connections_to_unix_sockets_are_told_as_they_ended() {
    let folder = Folder::new();
    let read = folder.folder("read");
    let [host, declared] = ["host", "declared"].map(|name| read.join(name));
    let servers = [HostServer::at(&host), HostServer::at(&declared)];
    let name = format!("skillsandbox-test-{}", std::process::id());
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name);
    let _abstract = HostServer::on(UnixListener::bind_addr(&address.unwrap()).unwrap());
    let script = "
s = socket.socket(socket.AF_UNIX); s.bind('/tmp/own'); s.listen()
a = socket.socket(socket.AF_UNIX); a.bind('\\0own'); a.listen()
for path in (sys.argv[1], sys.argv[2], '/tmp/absent', '\\0' + sys.argv[3], '\\0absent'): reach(path)
for path in ('/tmp/own', '\\0own'): socket.socket(socket.AF_UNIX).connect(path)
";
    let notes = Arc::new(Notes::default());
    let command = Command::new("python3")
        .args(["-c", &format!("{REACH}\n{script}")])
        .args([&host, &declared, &PathBuf::from(&name)])
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(ObserveLevel::Violations);
    let outcome = run(plan().read(&read).unix_socket(&declared), &command);
    assert!(outcome.success(), "{}", outcome.stderr.text());
    assert_eq!((servers[0].count(), servers[1].count(), outcome.lost), (0, 1, 0));
    let told = notes.0.lock().unwrap();
    let verdict = |path: &Path| {
        let of = |event: &ObservedEvent| match &event.tried {
            ObservedAction::File(file) if file.path == path => {
                assert_eq!(file.operation, FileOperation::Connect);
                Some(file.verdict.clone())
            }
            _ => None,
        };
        told.iter().find_map(of).unwrap_or_else(|| panic!("{} is not told: {told:?}", path.display()))
    };
    assert!(matches!(verdict(&host), AccessVerdict::Denied(_)));
    assert!(matches!(verdict(&declared), AccessVerdict::Allowed(_)));
    assert!(matches!(verdict(Path::new("/tmp/own")), AccessVerdict::Allowed(_)));
    assert_eq!(verdict(Path::new("/tmp/absent")), AccessVerdict::NotThere);
    assert!(matches!(verdict(Path::new("@own")), AccessVerdict::Allowed(_)));
    assert_eq!(verdict(Path::new("@absent")), AccessVerdict::NotThere);
    assert!(matches!(verdict(Path::new(&format!("@{name}"))), AccessVerdict::Denied(_)));
}

/// A caller that waits for a server without room, and for one that never answers, does not hold up the end of its run.
#[test]
fn a_connection_that_is_never_made_ends_with_its_run() {
    let folder = Folder::new();
    let read = folder.folder("read");
    let full = read.join("full");
    // Nobody ever takes anything from it.
    let server =
        rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&server, &rustix::net::SocketAddrUnix::new(&full).unwrap()).unwrap();
    rustix::net::listen(&server, 0).unwrap();
    let script = "
import threading
def wait():
    while True: socket.socket(socket.AF_UNIX).connect(sys.argv[1])
threads = [threading.Thread(target=wait, daemon=True) for _ in range(8)]
for thread in threads: thread.start()
t = socket.socket(); t.bind(('127.0.0.1', 0)); t.listen(0)
def dial():
    while True: socket.socket().connect(t.getsockname())
for _ in range(8): threading.Thread(target=dial, daemon=True).start()
print('waits', flush=True)
for thread in threads: thread.join()
";
    let command = Command::new("python3")
        .args(["-c", &format!("{REACH}\n{script}")])
        .arg(&full)
        .stdout(skillsandbox_enforcer::OutputMode::Piped);
    let plan: Plan = plan().read(&read).unix_socket(&full).build().unwrap();
    let mut running = plan.spawn(&command).unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stdout().unwrap()));
    assert_eq!(lines.next().unwrap().unwrap(), "waits");
    running.kill();
    assert!(!running.wait().unwrap().success());
}

/// A program of somebody else's that may be executed and not read hides its memory, and so where it connects to: it does not connect, and
/// that is counted. It takes two users, so root makes the program, and runs this again as nobody.
#[test]
fn connections_of_programs_that_hide_their_memory_are_refused_and_counted() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const HIDDEN: &str = "SKILLSANDBOX_TEST_HIDDEN";
    let Some(hidden) = std::env::var_os(HIDDEN).map(PathBuf::from) else {
        if !rustix::process::geteuid().is_root() {
            eprintln!("SKIPPED: only root can make a program that others may not read");
            return;
        }
        let folder = Folder::new();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let (hidden, test) = (folder.path().join("perl"), folder.path().join("test"));
        std::fs::copy("/usr/bin/perl", &hidden).unwrap();
        std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o111)).unwrap();
        std::fs::copy(std::env::current_exe().unwrap(), &test).unwrap();
        let name = "connections_of_programs_that_hide_their_memory_are_refused_and_counted";
        let mut again = std::process::Command::new(&test);
        again
            .args(["--exact", name])
            .env(HIDDEN, &hidden)
            .env("HOME", "/")
            .current_dir("/")
            .uid(65534)
            .gid(65534);
        let output = again.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && printed.contains("1 passed"),
            "{printed}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        return;
    };
    let script = format!(
        "exec {} -e 'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; connect(S, pack_sockaddr_un(\"/tmp/x\")); print $!+0'",
        hidden.display()
    );
    let notes = Arc::new(Notes::default());
    let command = Command::new("/bin/sh")
        .args(["-c", &script])
        .observer(Arc::clone(&notes) as Arc<dyn Observer>)
        .observe_level(ObserveLevel::Violations);
    let outcome = run(plan().read(&hidden), &command);
    assert_eq!(printed(&outcome), libc::EACCES.to_string());
    assert_eq!(outcome.lost, 1);
}

/// Inside another supervised sandbox nobody can be asked: there are no Unix sockets that could connect, and the outcome says so.
#[test]
fn row_172_without_a_supervisor_there_are_no_sockets_to_connect() {
    const NEW_LISTENER: libc::c_ulong = 8;
    // Lets everything through; that it has a listener is enough for there to be no other.
    const ALLOW: [u8; 8] = [0x06, 0, 0, 0, 0, 0, 0xff, 0x7f];
    let folder = Folder::new();
    let read = folder.folder("read");
    let server = HostServer::at(&read.join("s"));
    let script = "print(reach(sys.argv[1]), [s.close() for s in socket.socketpair()])";
    for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
        for level in EVERY_LEVEL {
            let nested = || {
                under_filter::Filter::new(&ALLOW).install_with(NEW_LISTENER).unwrap();
                python(plan().read(&read).syscalls(profile), script, &[&read.join("s")], level)
            };
            let outcome = std::thread::scope(|scope| scope.spawn(nested).join().unwrap());
            assert!(!outcome.supervises_sockets && !outcome.reports_refusals);
            assert_eq!(printed(&outcome), format!("{} [None, None]", libc::EACCES), "{profile}, {level:?}");
        }
    }
    assert_eq!(server.count(), 0);
}

/// The launching program connects, so a server of the run's own can ask the kernel for a handle of it. Neither signals, nor its descriptors,
/// memory or namespaces are to be had by that, in the profile that refuses nothing either.
#[test]
fn a_handle_of_the_launching_program_is_of_no_use() {
    let script = r"
import ctypes, fcntl, signal
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    result = libc.syscall(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    return 0 if result >= 0 else ctypes.get_errno()
s = socket.socket(socket.AF_UNIX); s.bind('/tmp/s'); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect('/tmp/s'); a = s.accept()[0]
try: peer = int.from_bytes(a.getsockopt(socket.SOL_SOCKET, 77, 4), 'little')
except OSError as e: print('none', e.errno); sys.exit()
done = [('signal', call(424, peer, 0, 0, 0)), ('kill', call(424, peer, signal.SIGCONT, 0, 0))]
done += [('descriptor %d' % n, call(438, peer, n, 0)) for n in range(8)]
done += [('namespace %x' % flag, call(308, peer, flag)) for flag in (0x20000, 0x40000000, 0x10000000, 0x20000000)]
for request in range(1, 12):
    try: done.append(('ioctl %d' % request, 0 if fcntl.ioctl(peer, 0xff00 | request, 0) >= 0 else 1))
    except OSError as e: done.append(('ioctl', e.errno))
done.append(('memory', call(440, peer, ctypes.create_string_buffer(16), 1, 21, 0)))
done.append(('wait', call(247, 3, peer, ctypes.create_string_buffer(128), 4, 0)))
print([name for name, errno in done if errno == 0])
";
    for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
        let text = printed(&python(plan().syscalls(profile), script, &[], ObserveLevel::Violations));
        assert!(text == "[]" || text.starts_with("none"), "{profile}: {text}");
    }
}
