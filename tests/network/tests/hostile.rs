//! A program that means harm to the broker harms itself: the launching program's memory and descriptors stay bounded, and what was
//! granted works when it has calmed down.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use skillsandbox_enforcer::egress::{NetworkRule, Protocol};
use skillsandbox_enforcer::{PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    Server, attempts, descriptors, echo, highest_resident, on_stage, plan, python, resident, said, threads,
    until,
};

/// What the broker may hold of a program's making, in bytes and in descriptors: 256 connections with two sockets and, each way, a
/// pipe; datagrams; a few of its own.
const MEMORY: u64 = 64 << 20;
const DESCRIPTORS: usize = 256 * 6 + 400;

fn granted() -> PlanBuilder {
    let mut plan = plan().open_files(8192);
    for (port, protocol) in
        [(8080, Protocol::Tcp), (443, Protocol::Https), (80, Protocol::Http), (4433, Protocol::Udp)]
    {
        plan = plan
            .egress(NetworkRule::domain("api.weather.test").unwrap().ports([port]).protocol(protocol))
            .pin("api.weather.test", port, "9.9.0.1:8080".parse().unwrap());
    }
    plan
}

/// Runs a script, after which what was granted must work, and watches what the launching program uses meanwhile.
/// After so long, what is left is told.
const LONG: Duration = Duration::from_secs(30);

/// What the descriptors of this process are of.
fn files() -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    entries.filter_map(|entry| std::fs::read_link(entry.path()).ok()).collect()
}

/// The names of its threads.
fn names() -> Vec<String> {
    let entries = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok()).collect()
}

fn withstands(script: &str) -> (RunOutcome, Server) {
    let server = echo("9.9.0.1:8080");
    let (memory, open, tasks) = (resident(), descriptors(), threads());
    let (most, over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
    let (highest, stop) = (Arc::clone(&most), Arc::clone(&over));
    let watch = std::thread::spawn(move || {
        while !stop.load(Ordering::SeqCst) {
            highest.fetch_max(descriptors(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let script = format!(
        "
host = socket.gethostbyname('api.weather.test')
def hello():
    s = dial('api.weather.test', 8080); s.send(b'hello'); return s.recv(10)
{script}
print(tried(hello))"
    );
    let outcome = python(granted(), &script);
    over.store(true, Ordering::SeqCst);
    watch.join().unwrap();
    let text = said(&outcome);
    assert!(text.ends_with("b'hello'\n"), "{text}\n{}", attempts(&outcome));
    // The echo server is in this process: each of its connections is one of the descriptors.
    let most = most.load(Ordering::SeqCst);
    assert!(most < open + DESCRIPTORS + 256, "{most} descriptors");
    assert!(highest_resident() < memory + MEMORY, "{} after {memory}", highest_resident());
    assert!(outcome.network.attempts.len() <= 1024);
    let begin = std::time::Instant::now();
    until("nothing is left", || {
        let is_left = descriptors() > open || threads() > tasks;
        assert!(!is_left || begin.elapsed() < LONG, "what is left: {:?}, {:?}", files(), names());
        !is_left
    });
    (outcome, server)
}

#[test]
fn ten_thousand_connections_in_a_loop() {
    on_stage("ten_thousand_connections_in_a_loop", || {
        let script = "
linger = struct.pack('ii', 1, 0)
for n in range(10000):
    s = socket.socket(); s.connect((host, 8080))
    # Some end well, some do not.
    if n % 2: s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    s.close()";
        let (outcome, _) = withstands(script);
        let told: u64 = outcome.network.attempts.iter().map(|attempt| attempt.count).sum();
        assert!(told + outcome.network.unrecorded >= 5000, "{}", attempts(&outcome));
    });
}

#[test]
fn those_who_connect_and_never_speak() {
    on_stage("those_who_connect_and_never_speak", || {
        let script = "
idle = []
for n in range(600):
    s = socket.socket(); s.settimeout(5); s.connect((host, (443, 80, 8080)[n % 3])); idle.append(s)
# Names are still answered.
print(socket.gethostbyname('api.weather.test') == host)
time.sleep(.3)
for s in idle: s.close()";
        let (outcome, _) = withstands(script);
        assert!(said(&outcome).starts_with("True\n"));
    });
}

#[test]
fn those_who_begin_a_sentence_and_never_end_it() {
    on_stage("those_who_begin_a_sentence_and_never_end_it", || {
        // Heads and greetings that grow and grow: each is held until it is refused.
        let script = "
hello = b'\\x16\\x03\\x01\\x40\\x00\\x01\\x00\\x3f\\xfc\\x03\\x03' + bytes(20000)
kept = []
for n in range(240):
    s = socket.socket(); s.settimeout(5); s.connect((host, 80)); kept.append(s)
    tried(s.send, b'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\nX: ' + b'a' * 60000)
for s in kept: tried(s.send, b'a' * 60000)
for s in kept: s.close()
kept = []
for n in range(240):
    s = socket.socket(); s.settimeout(5); s.connect((host, 443)); kept.append(s)
    tried(s.send, hello)
for s in kept: tried(s.send, bytes(60000))
for s in kept: s.close()
del hello
def hello():
    s = dial('api.weather.test', 8080); s.send(b'hello'); return s.recv(10)";
        withstands(script);
    });
}

#[test]
fn half_open_connections_by_the_thousand() {
    on_stage("half_open_connections_by_the_thousand", || {
        let script = "
many = []
for n in range(6000):
    s = socket.socket(); s.setblocking(False); s.connect_ex((host, 8080)); many.append(s)
for s in many: s.close()";
        withstands(script);
    });
}

#[test]
fn a_flood_of_questions() {
    on_stage("a_flood_of_questions", || {
        // Answers are not read; connections ask without end, or a byte at a time, or not at all.
        let script = "
q = b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x03%03d\\x04evil\\x04test\\0\\0\\x01\\0\\x01'
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(30000): u.sendto(q % (n % 1000), ('9.9.53.1', 53))
framed = b''.join(struct.pack('>H', len(q) - 1) + q % n for n in range(1000))
kept = []
for n in range(200):
    s = socket.socket(); s.settimeout(5); s.connect(('9.9.53.1', 53)); s.setblocking(False); kept.append(s)
    tried(s.send, (framed, b'\\xff\\xff' + bytes(65000), b'\\0', b'')[n % 4])
s = socket.socket(); s.connect(('9.9.53.1', 53))
for byte in framed[:200]: tried(s.send, bytes([byte]))
# Each of these ends the one that is oldest.
for n in range(2000):
    s = socket.socket(); s.settimeout(5); s.connect(('9.9.53.1', 53)); s.close()";
        withstands(script);
    });
}

#[test]
fn a_flood_of_datagrams() {
    on_stage("a_flood_of_datagrams", || {
        let script = "
for n in range(1000):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for _ in range(5): u.sendto(bytes(1200), (host, 4433)); u.sendto(bytes(1200), ('9.9.%d.%d' % (n % 250, n // 250), 4433)); u.sendto(b'x', ('9.9.0.7', n + 10000))
    u.close()";
        withstands(script);
    });
}

#[test]
fn bytes_one_by_one() {
    on_stage("bytes_one_by_one", || {
        let script = "
s = dial('api.weather.test', 8080); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
message = os.urandom(20000)
def talk():
    for byte in message: s.send(bytes([byte]))
    s.shutdown(socket.SHUT_WR)
t = threading.Thread(target=talk); t.start()
print(all_of(s) == message)
request = b'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\n\\r\\n'
s = dial('api.weather.test', 80); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for byte in request: s.send(bytes([byte]))
got = b''
while len(got) < len(request): got += s.recv(100)
print(got == request)";
        let (outcome, _) = withstands(script);
        assert!(said(&outcome).starts_with("True\nTrue\n"), "{}", attempts(&outcome));
    });
}

/// Names of processes and calls do not grow without bound either: a new destination each time.
#[test]
fn ever_new_destinations() {
    on_stage("ever_new_destinations", || {
        let script = "
refused = 0
for n in range(10000):
    s = socket.socket(); refused += s.connect_ex(('9.9.%d.%d' % (n >> 8 & 127, n & 255), 8080 if n % 2 else 7000 + n % 1000)) == errno.ECONNREFUSED; s.close()
print(refused)";
        let (outcome, server) = withstands(script);
        let refused: usize = said(&outcome).lines().next().unwrap().parse().unwrap();
        assert_eq!(refused, 10_000, "{}", attempts(&outcome));
        assert!(outcome.network.unrecorded > 0);
        assert_eq!(server.accepted(), 1);
    });
}
