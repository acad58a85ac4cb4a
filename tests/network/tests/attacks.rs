//! What hostile code does with the network that it has: to get somewhere else, to hide what it did, and to hold up whoever launched
//! it. Nothing here leaves the loopback interface, or the namespace of a sandbox.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use skillsandbox_enforcer::egress::{
    Attempt, AttemptAction, AttemptVerdict, NetworkRule, Protocol, Transport,
};
use skillsandbox_enforcer::{Command, EndCause, ObservedEvent, Observer, Plan, PlanBuilder, RunOutcome};

/// A plan that ends by itself.
fn plan() -> PlanBuilder {
    Plan::builder().timeout(Duration::from_mins(1))
}

/// Runs a command under a plan and captures what it says.
fn run(plan: PlanBuilder, command: &Command) -> RunOutcome {
    let running =
        plan.build().unwrap().spawn(&command.clone().captured(1 << 20)).expect("the sandbox stands");
    running.wait().expect("the run is watched to its end")
}

/// Needed by every attack here.
const PYTHON: &str = "/usr/bin/python3";

fn python(script: &str) -> Command {
    assert!(std::path::Path::new(PYTHON).exists(), "these tests need {PYTHON}");
    Command::new(PYTHON).args(["-c", script])
}

/// One name on one port, which leads nowhere.
fn granted() -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([443]).protocol(Protocol::Https))
}

/// Runs an attack that is to be ended by its time limit. Waits far longer than that before it says that it was not.
fn ended(plan: PlanBuilder, command: &Command) -> RunOutcome {
    let running = plan.build().unwrap().spawn(&command.clone().captured(1 << 20)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !running.is_finished() {
        if Instant::now() > deadline {
            // To drop it would be to wait for it.
            std::mem::forget(running);
            panic!("the launching program is held up by what it runs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    running.wait().unwrap()
}

/// Whoever looks at a socket has a reference to it, and if that is the last one, closing it can take as long as the program has
/// chosen (`SO_LINGER`). So children are killed while their socket is looked at.
#[test]
fn a_socket_that_takes_an_hour_to_close_does_not_hold_the_supervisor_up() {
    let script = "
import os, random, signal, socket, struct, threading, time
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(('127.0.0.1', 18181))
server.listen(64)
def never_closed():
    s = socket.create_connection(('127.0.0.1', 18181))
    s.setblocking(False)
    try:
        while True: s.send(bytes(65536))
    except BlockingIOError: pass
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 3600))
    return s
def insist(s):
    while True: s.connect_ex(('9.9.9.9', 443))
peers = []
while True:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        server.close()
        sockets = [never_closed() for _ in range(4)]
        os.write(go, b'x')
        for s in sockets: threading.Thread(target=insist, args=(s,)).start()
        time.sleep(600)
    peers += [server.accept() for _ in range(4)]
    os.read(ready, 1)
    time.sleep(0.002 + random.random() / 500)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(go)
";
    for plan in [granted(), plan()] {
        let outcome = ended(plan.timeout(Duration::from_secs(3)), &python(script));
        assert_eq!(outcome.end, EndCause::Timeout, "{}", outcome.stderr.text());
        assert!(!outcome.network.attempts.is_empty(), "it did try");
    }
}

/// A server outside that accepts one connection, and tells all that it heard.
fn sink() -> (SocketAddr, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let mut heard = Vec::new();
        let (mut connection, _) = listener.accept().unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = connection.read_to_end(&mut heard);
        heard
    });
    (address, thread)
}

/// `api.weather.test:8443` over TCP, which is this address outside.
fn leading_to(address: SocketAddr) -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8443])).pin(
        "api.weather.test",
        8443,
        address,
    )
}

fn attack(plan: PlanBuilder, script: &str) -> RunOutcome {
    let outcome = run(plan, &python(script));
    assert!(outcome.success(), "{outcome:?}\n{}", outcome.stderr.text());
    outcome
}

/// What the broker serves, the routes and the interface belong to nobody inside.
#[test]
fn sockets_of_the_broker_are_not_taken_over_nor_the_namespace_changed() {
    let script = "
import errno, fcntl, socket, struct
def tried(what, call, *allowed):
    try: result = call()
    except OSError as error: result = errno.errorcode[error.errno]
    if result not in allowed: print(what, result)
def bound(family, kind, address, port, device):
    s = socket.socket(family, kind)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT): s.setsockopt(socket.SOL_SOCKET, option, 1)
    if device: s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
    s.bind((address, port))
    if kind == socket.SOCK_STREAM: s.listen()
    return 'taken over'
for port, kinds in (8443, [1]), (5000, [2]), (53, [1, 2]):
    for kind in kinds:
        for family, address in (2, '0.0.0.0'), (2, '127.0.0.1'), (2, '198.18.0.1'), (2, '9.9.9.9'), (10, '::'), (10, '::1'), (10, '::ffff:198.18.0.1'):
            for device in False, True:
                tried(f'bind {address} {port} {kind}', lambda: bound(family, kind, address, port, device), 'EADDRINUSE', 'EACCES')
def option(level, name, value, kind=2, family=2):
    socket.socket(family, kind).setsockopt(level, name, value)
    return 'set'
tried('IP_TRANSPARENT', lambda: option(0, 19, 1), 'EPERM')
tried('SO_MARK', lambda: option(1, 36, 1), 'EPERM')
tried('IP_OPTIONS', lambda: option(0, 4, bytes([131, 7, 4, 9, 9, 9, 9, 0]), 1), 'EPERM')
tried('TCP_REPAIR', lambda: option(6, 19, 1, 1), 'EPERM')
tried('IPV6_HOPOPTS', lambda: option(41, 54, bytes(8), 2, 10), 'EPERM')
def netlink(kind, payload):
    s = socket.socket(16, 3, 0)
    s.send(struct.pack('=IHHII', 16 + len(payload), kind, 0x605, 1, 0) + payload)
    return errno.errorcode.get(-struct.unpack('=i', s.recv(65536)[16:20])[0], 'done')
tried('new link', lambda: netlink(16, struct.pack('=BxHiII', 0, 0, 0, 1, 0xffffffff)), 'EPERM')
tried('delete the route', lambda: netlink(25, struct.pack('=BBBBBBBBI', 2, 0, 0, 0, 255, 3, 254, 2, 0)), 'EPERM')
tried('new address', lambda: netlink(20, struct.pack('=BBBBIHH4s', 2, 32, 0, 0, 1, 8, 2, bytes(4))), 'EPERM')
tried('switch off', lambda: fcntl.ioctl(socket.socket(2, 2), 0x8914, struct.pack('16sH14x', b'lo', 0)), 'EPERM')
for family, kind, protocol in (40, 1, 0), (2, 2, 136), (2, 1, 132), (2, 2, 1), (10, 2, 58), (2, 3, 6), (17, 3, 0), (2, 1, 262), (16, 3, 4), (38, 5, 0):
    tried(f'socket {family} {kind} {protocol}', lambda: socket.socket(family, kind, protocol), 'EPERM', 'EAFNOSUPPORT', 'EPROTONOSUPPORT')
print('all tried')
";
    let udp = NetworkRule::domain("time.test").unwrap().ports([5000]).protocol(Protocol::Udp);
    let outcome = attack(leading_to("127.0.0.1:9".parse().unwrap()).egress(udp), script);
    assert_eq!(outcome.stdout.text(), "all tried\n");
}

/// Some packets the kernel drops before anything can see them.
#[test]
fn datagrams_to_groups_and_to_everybody_are_on_record() {
    let script = "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for to in ('239.1.2.3', 1900), ('224.0.0.251', 5353), ('255.255.255.255', 1235), ('10.255.255.255', 1236): s.sendto(b'x', to)
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('ff05::2', 1237))
";
    for plan in [granted(), plan()] {
        let outcome = run(plan, &python(script));
        let seen = |to: &str| {
            let to: SocketAddr = to.parse().unwrap();
            let is_it = |one: &&Attempt| one.address == Some(to.ip()) && one.port == to.port();
            let found = outcome.network.attempts.iter().find(is_it);
            found.is_some_and(|one| {
                one.action == AttemptAction::Reach(Transport::Udp)
                    && matches!(one.verdict, AttemptVerdict::Refused(_))
            })
        };
        assert!(seen("239.1.2.3:1900"), "{:?}", outcome.network);
        if outcome.success() {
            for to in ["224.0.0.251:5353", "255.255.255.255:1235", "10.255.255.255:1236", "[ff05::2]:1237"] {
                assert!(seen(to), "{to}: {:?}", outcome.network);
            }
        }
    }
}

/// What is let through is on record, whatever else there is.
#[test]
fn a_flood_of_made_up_names_does_not_hide_a_connection() {
    let (address, sink) = sink();
    let script = "
import socket
def ask(number):
    name = b'x%d' % number
    s.send(number.to_bytes(2, 'big') + bytes([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, len(name)]) + name + b'\\4test\\0\\0\\1\\0\\1')
    s.recv(512)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('192.0.2.53', 53))
for number in range(2000): ask(number)
socket.create_connection(('api.weather.test', 8443)).sendall(b'secret')
";
    let outcome = attack(leading_to(address), script);
    assert_eq!(sink.join().unwrap(), b"secret");
    let sent = outcome.network.attempts.iter().find(|one| one.action == AttemptAction::Reach(Transport::Tcp));
    assert_eq!(sent.map(|one| one.sent), Some(6), "{} others", outcome.network.attempts.len());
    assert!(outcome.network.unrecorded > 0);
}

/// An observer is the embedding program's code. Its mistakes end neither the run nor the record.
#[test]
fn an_observer_that_panics_ends_nothing() {
    struct Panics;
    impl Observer for Panics {
        fn observed(&self, _: &ObservedEvent) {
            panic!("an observer's own mistake");
        }
    }
    let script = "
import socket
for to in ('9.9.9.9', 8443), ('9.9.9.9', 80):
    try: socket.create_connection(to)
    except OSError: pass
try: socket.create_connection(('api.weather.test', 8443)).sendall(b'hello')
except OSError: pass
";
    let (address, sink) = sink();
    for plan in [leading_to(address), plan()] {
        let command = python(script).observer(Arc::new(Panics)).captured(1 << 20);
        let outcome = plan.build().unwrap().spawn(&command).unwrap().wait().unwrap();
        assert!(outcome.success(), "{}", outcome.stderr.text());
        let refused = |one: &&Attempt| matches!(one.verdict, AttemptVerdict::Refused(_));
        assert!(outcome.network.attempts.iter().filter(refused).count() >= 2, "{:?}", outcome.network);
    }
    assert_eq!(sink.join().unwrap(), b"hello");
}

/// Urgent data stops `splice`; nothing is lost by it but its urgency, and the connection goes on.
#[test]
fn urgent_data_does_not_stop_a_connection() {
    let (address, sink) = sink();
    let script = "
import socket
s = socket.create_connection(('api.weather.test', 8443))
for _ in range(20):
    s.sendall(bytes(1 << 18))
    s.send(b'!', socket.MSG_OOB)
s.sendall(b'end')
";
    let outcome = attack(leading_to(address), script);
    let heard = sink.join().unwrap();
    assert!(heard.ends_with(b"end"), "{} bytes, {:?}", heard.len(), outcome.network);
    assert!(heard.len() >= 20 << 18);
}

/// What is tried in the last moment of a run is on record as well.
#[test]
fn a_burst_at_the_end_is_on_record() {
    let script = "
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(150): s.sendmsg([b'x'], [], 0, ('192.0.2.1', 2000 + number))
for number in range(150):
    name = b'x%d' % number
    question = bytes([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, len(name)]) + name + b'\\4test\\0\\0\\1\\0\\1'
    s.sendmsg([question], [], 0, ('192.0.2.53', 53))
os._exit(0)
";
    let outcome = attack(granted(), script);
    let count = |action| outcome.network.attempts.iter().filter(|one| one.action == action).count();
    assert_eq!((count(AttemptAction::Reach(Transport::Udp)), count(AttemptAction::LookUp)), (150, 150));
}
