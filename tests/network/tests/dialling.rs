//! A granted name is reached at whichever of its addresses answers, as often as it is wanted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use skillsandbox_enforcer::egress::{AttemptEnd, NetworkRule};
use skillsandbox_enforcer::{PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    Reply, Resolver, Sink, attempts, command, descriptors, echo, ip, limit_descriptors, on_stage, plan,
    python, reached, said, serve, threads, until,
};

/// A name that a resolver of the stage knows.
fn resolved(resolver: &Resolver) -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).resolver(resolver.address)
}

const HELLO: &str = "
def hello():
    s = dial('api.weather.test', 8080); s.send(b'hello'); return s.recv(10)
print(tried(hello))";

fn dialled(outcome: &RunOutcome) -> Vec<SocketAddr> {
    reached(outcome).filter_map(|attempt| attempt.dialled).collect()
}

/// Takes packets and says nothing: a queue that is full, and nobody who empties it.
fn silent(address: &str) -> Vec<OwnedFd> {
    let address: SocketAddr = address.parse().unwrap();
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = |flags| socket_with(family, SocketType::STREAM, flags, None).unwrap();
    let listener = socket(SocketFlags::empty());
    rustix::net::bind(&listener, &address).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let mut all = vec![listener];
    for _ in 0..4 {
        let guest = socket(SocketFlags::NONBLOCK);
        let _ = rustix::net::connect(&guest, &address);
        all.push(guest);
    }
    let waits =
        TcpStream::connect_timeout(&address, Duration::from_millis(300)).map_err(|error| error.kind());
    assert_eq!(waits.err(), Some(ErrorKind::TimedOut), "{address} is not silent");
    all
}

#[test]
fn the_address_that_answers_is_taken_whichever_is_dead() {
    on_stage("the_address_that_answers_is_taken_whichever_is_dead", || {
        let _servers = [echo("9.9.0.1:8080"), echo("[2600:9::1]:8080")];
        // Four ways to be dead: an error at once, from the kernel or from a router; nobody there; silence.
        ip("-4 route add unreachable 9.8.1.0/24");
        ip("-6 route add unreachable 2600:8:1::/48");
        ip("-4 route add prohibit 9.8.2.0/24");
        ip("-6 route add prohibit 2600:8:2::/48");
        let _silent = [silent("9.9.4.1:8080"), silent("9.9.4.2:8080"), silent("[2600:9::4]:8080")];
        let cases: [(&[&str], &str); 8] = [
            (&["2600:8:1::1", "9.9.0.1"], "9.9.0.1:8080"),
            (&["2600:8:2::1", "9.9.0.1"], "9.9.0.1:8080"),
            (&["2600:9::dead", "9.9.0.1"], "9.9.0.1:8080"),
            (&["9.8.1.1", "2600:9::1"], "[2600:9::1]:8080"),
            (&["9.9.0.9", "2600:9::1"], "[2600:9::1]:8080"),
            (&["9.8.1.1", "9.8.2.1", "9.9.0.9", "9.9.0.1"], "9.9.0.1:8080"),
            (&["9.9.4.1", "9.9.4.2", "9.9.0.1"], "9.9.0.1:8080"),
            (&["2600:9::4", "9.9.4.1", "2600:9::1"], "[2600:9::1]:8080"),
        ];
        let resolver = Resolver::new("9.9.53.1", move |name, _| {
            let number: usize = name.split('.').next().unwrap().trim_start_matches('n').parse().unwrap();
            Reply::all(cases[number].0)
        });
        for (number, (addresses, expected)) in cases.iter().enumerate() {
            let name = format!("n{number}.weather.test");
            let plan =
                plan().egress(NetworkRule::domain(&name).unwrap().ports([8080])).resolver(resolver.address);
            let outcome = python(plan, &HELLO.replace("api.weather.test", &name));
            assert_eq!(said(&outcome), "b'hello'\n", "{addresses:?}\n{}", attempts(&outcome));
            assert_eq!(dialled(&outcome), [expected.parse().unwrap()], "{addresses:?}");
        }
    });
}

#[test]
fn a_name_of_which_every_address_is_dead_is_an_error_and_is_said_to_be() {
    on_stage("a_name_of_which_every_address_is_dead_is_an_error_and_is_said_to_be", || {
        ip("-4 route add unreachable 9.8.1.0/24");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::all(&["9.8.1.1", "9.9.0.9", "2600:9::dead"]));
        let outcome = python(resolved(&resolver), HELLO);
        let said = said(&outcome);
        assert!(["ECONNREFUSED\n", "ECONNRESET\n", "EPIPE\n"].contains(&said.as_str()), "{said}");
        let ends: Vec<_> =
            outcome.network.attempts.iter().filter_map(|attempt| attempt.end.clone()).collect();
        assert!(
            !ends.is_empty() && ends.iter().all(|end| matches!(end, AttemptEnd::NotConnected(_))),
            "{ends:?}"
        );
    });
}

#[test]
fn many_connections_one_after_the_other_lose_nothing_and_leave_nothing() {
    on_stage("many_connections_one_after_the_other_lose_nothing_and_leave_nothing", || {
        let server = echo("9.9.0.1:8080");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let (before, tasks) = (descriptors(), threads());
        let script = "
wrong = 0
for n in range(500):
    s = dial('api.weather.test', 8080); m = b'%d' % n; s.send(m); s.shutdown(socket.SHUT_WR)
    wrong += all_of(s) != m; s.close()
print(wrong)";
        let outcome = python(resolved(&resolver), script);
        assert_eq!(said(&outcome), "0\n");
        assert_eq!(server.accepted(), 500);
        let counted: u64 = reached(&outcome).map(|attempt| attempt.count).sum();
        assert_eq!(counted, 500, "{}", attempts(&outcome));
        assert_eq!(reached(&outcome).count(), 1, "the same, folded");
        assert!(resolver.asked().len() <= 4, "{:?}", resolver.asked());
        until("nothing is left", || server.served() == 500 && descriptors() == before && threads() == tasks);
    });
}

#[test]
fn many_connections_at_once_lose_nothing_and_leave_nothing() {
    on_stage("many_connections_at_once_lose_nothing_and_leave_nothing", || {
        let server = echo("9.9.0.1:8080");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let before = descriptors();
        // More than are relayed at a time: the others wait for their turn.
        let script = "
host = socket.gethostbyname('api.weather.test')
def burst(count):
    all = [dial(host, 8080) for _ in range(count)]
    for n, s in enumerate(all): s.sendall(b'%d' % n * 1000); s.shutdown(socket.SHUT_WR)
    return sum(all_of(s) != b'%d' % n * 1000 for n, s in enumerate(all))
print(burst(200), burst(400))";
        let outcome = python(resolved(&resolver), script);
        assert_eq!(said(&outcome), "0 0\n", "{}", attempts(&outcome));
        assert_eq!(server.accepted(), 600);
        until("nothing is left", || server.served() == 600 && descriptors() == before);
    });
}

/// A launching program that has hardly a descriptor left serves what it can, and all of it once it has some again.
#[test]
fn without_descriptors_connections_wait() {
    on_stage("without_descriptors_connections_wait", || {
        // Its own descriptors are those of the launching program too: the server is in a process of its own.
        let mut server = std::process::Command::new("/usr/bin/python3")
            .args(["-I", "-c", SERVER])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut up = [0; 3];
        server.stdout.take().unwrap().read_exact(&mut up).unwrap();
        let script = "
host = socket.gethostbyname('api.weather.test')
def hello():
    s = dial(host, 8080); s.send(b'hello'); return s.recv(10) == b'hello'
print(hello(), flush=True); sys.stdin.readline()
results = []
def one(): results.append(tried(hello))
ts = [threading.Thread(target=one) for _ in range(40)]
[t.start() for t in ts]
print('started', flush=True); sys.stdin.readline()
[t.join() for t in ts]
print(len(results), set(results), flush=True)
print(all(hello() for _ in range(20)))";
        let plan = plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).pin(
            "api.weather.test",
            8080,
            "9.9.0.1:8080".parse().unwrap(),
        );
        let command = command(script).stdin(skillsandbox_enforcer::StdinMode::Piped);
        let mut running =
            plan.build().unwrap().spawn(&command.stdout(skillsandbox_enforcer::OutputMode::Piped)).unwrap();
        let (mut stdin, mut stdout) = (running.stdin().unwrap(), running.stdout().unwrap());
        let mut line = [0; 5];
        stdout.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"True\n");
        let before = descriptors();
        // Room for three more.
        let mut held = Vec::new();
        let most = u64::try_from(before).unwrap() + 8;
        limit_descriptors(Some(most));
        while let Ok(one) = std::fs::File::open("/dev/null") {
            held.push(one);
        }
        held.truncate(held.len() - 3);
        stdin.write_all(b"\n").unwrap();
        let mut started = [0; 8];
        stdout.read_exact(&mut started).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        drop(held);
        limit_descriptors(None);
        stdin.write_all(b"\n").unwrap();
        drop(stdin);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!(rest, "40 {True}\nTrue\n", "{}\n{}", outcome.stderr.text(), attempts(&outcome));
        drop(stdout);
        until("nothing is left", || descriptors() <= before);
        server.kill().unwrap();
        server.wait().unwrap();
    });
}

const SERVER: &str = "
import os, socket, sys, threading
# Gone with whoever started it.
threading.Thread(target=lambda: sys.stdin.read() or os._exit(0), daemon=True).start()
l = socket.create_server(('9.9.0.1', 8080), backlog=1000)
print('up', flush=True)
def serve(c):
    while (d := c.recv(65536)): c.sendall(d)
    c.close()
while True: threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
";

#[test]
fn other_ports_and_other_names_of_the_same_server_are_not_granted() {
    on_stage("other_ports_and_other_names_of_the_same_server_are_not_granted", || {
        let server = serve("9.9.0.1:8080", |mut stream| stream.write_all(b"hello").unwrap());
        let sink = Sink::new("9.9.0.1:8081");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let script = "
for name, port in (('api.weather.test', 8080), ('API.Weather.Test.', 8080), ('api.weather.test', 8081), ('weather.test', 8080), ('x.api.weather.test', 8080), ('9.9.0.1', 8080)):
    print(name, port, tried(lambda: dial(name, port).recv(10)))";
        let outcome = python(resolved(&resolver), script);
        assert_eq!(
            said(&outcome),
            "api.weather.test 8080 b'hello'\nAPI.Weather.Test. 8080 b'hello'\napi.weather.test 8081 ECONNREFUSED\n\
             weather.test 8080 gaierror -5\nx.api.weather.test 8080 gaierror -2\n9.9.0.1 8080 ECONNREFUSED\n",
            "{}",
            attempts(&outcome)
        );
        assert_eq!((server.accepted(), sink.strangers()), (2, 0));
        let asked = resolver.asked();
        assert!(asked.iter().all(|name| name.starts_with("api.weather.test ")), "{asked:?}");
    });
}
