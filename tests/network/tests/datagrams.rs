//! Datagrams: refused like connections, and exchanged where they are granted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_enforcer::PlanBuilder;
use skillsandbox_enforcer::egress::{AttemptVerdict, NetworkRule, Protocol, Transport};
use skillsandbox_network_tests::{
    DatagramSink, Reply, Resolver, Sink, attempts, datagrams, descriptors, echo_datagrams, on_stage, plan,
    python, reached, refused, resident, said, until,
};

fn udp(name: &str, port: u16) -> PlanBuilder {
    plan().egress(NetworkRule::domain(name).unwrap().ports([port]).protocol(Protocol::Udp)).pin(
        name,
        port,
        format!("9.9.0.1:{port}").parse().unwrap(),
    )
}

const UDP: &str = "
def udp(host, port, family=socket.AF_INET):
    u = socket.socket(family, socket.SOCK_DGRAM); u.settimeout(20); u.connect((host, port)); return u
";

#[test]
fn the_time_is_told() {
    on_stage("the_time_is_told", || {
        // 48 bytes of NTP: mode 3 is answered with mode 4, and the time of the question is given back.
        datagrams("9.9.0.1:123", |asked| {
            assert_eq!(asked.len(), 48);
            let mut reply = asked.to_vec();
            reply[0] = 0x24;
            reply[24..32].copy_from_slice(&asked[40..48]);
            reply[40..44].copy_from_slice(&3_000_000_000_u32.to_be_bytes());
            vec![reply]
        });
        let script = format!(
            "{UDP}
u = udp('time.weather.test', 123); u.send(b'\\x23' + bytes(39) + b'sometime'); r = u.recv(100)
print(r[0], r[24:32], struct.unpack('>I', r[40:44]))"
        );
        let outcome = python(udp("time.weather.test", 123), &script);
        assert_eq!(said(&outcome), "36 b'sometime' (3000000000,)\n", "{}", attempts(&outcome));
        let attempt = reached(&outcome).next().unwrap();
        assert_eq!((attempt.sent, attempt.received), (48, 48));
        assert!(matches!(attempt.verdict, AttemptVerdict::Allowed(_)));
    });
}

#[test]
fn a_long_exchange_of_full_datagrams_loses_nothing_when_each_is_waited_for() {
    on_stage("a_long_exchange_of_full_datagrams_loses_nothing_when_each_is_waited_for", || {
        // Like QUIC: 1200 bytes both ways, a few for each that is sent.
        datagrams("9.9.0.1:4433", |asked| (0..3).map(|number| [&[number], &asked[1..]].concat()).collect());
        let script = format!(
            "{UDP}
a, b = udp('api.weather.test', 4433), udp('api.weather.test', 4433)
wrong = 0
for n in range(500):
    for tag, u in ((b'a', a), (b'b', b)): u.send(b'?' + tag + struct.pack('>I', n) + bytes(1194))
    for tag, u in ((b'a', a), (b'b', b)):
        got = sorted(u.recv(2000) for _ in range(3))
        wrong += got != [bytes([k]) + tag + struct.pack('>I', n) + bytes(1194) for k in range(3)]
print(wrong)"
        );
        let outcome = python(udp("api.weather.test", 4433), &script);
        assert_eq!(said(&outcome), "0\n", "{}", attempts(&outcome));
        assert_eq!(reached(&outcome).map(|attempt| attempt.sent).sum::<u64>(), 2 * 500 * 1200);
        assert_eq!(reached(&outcome).map(|attempt| attempt.received).sum::<u64>(), 2 * 500 * 3600);
    });
}

#[test]
fn large_and_empty_datagrams_keep_their_size() {
    on_stage("large_and_empty_datagrams_keep_their_size", || {
        let _ = echo_datagrams("9.9.0.1:4433");
        let script = format!(
            "{UDP}
for family in (socket.AF_INET, socket.AF_INET6):
    u = udp(socket.getaddrinfo('api.weather.test', 4433, family)[0][4][0], 4433, family)
    for size in (0, 1, 512, 1472, 9000, 65507):
        m = os.urandom(size); u.send(m); print(u.recv(70000) == m, end=' ')"
        );
        let outcome = python(udp("api.weather.test", 4433), &script);
        assert_eq!(said(&outcome).trim(), ["True"; 12].join(" "), "{}", attempts(&outcome));
    });
}

#[test]
fn answers_come_from_whom_was_asked_and_from_nobody_else() {
    on_stage("answers_come_from_whom_was_asked_and_from_nobody_else", || {
        let server = std::net::UdpSocket::bind("9.9.0.1:4433").unwrap();
        let stranger = std::net::UdpSocket::bind("9.9.0.2:4433").unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 100];
            let (count, from) = server.recv_from(&mut buffer).unwrap();
            // Somebody else answers first.
            stranger.send_to(b"forged", from).unwrap();
            server.send_to(&buffer[..count], from).unwrap();
        });
        let script = format!(
            "{UDP}
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20)
host = socket.gethostbyname('api.weather.test')
u.sendto(b'hello', (host, 4433)); m, source = u.recvfrom(100); print(m, source == (host, 4433))
u.settimeout(.3); print(tried(u.recv, 100))"
        );
        let outcome = python(udp("api.weather.test", 4433), &script);
        assert_eq!(said(&outcome), "b'hello' True\ntimed out\n", "{}", attempts(&outcome));
    });
}

#[test]
fn one_socket_speaks_to_several_and_each_answers_for_itself() {
    on_stage("one_socket_speaks_to_several_and_each_answers_for_itself", || {
        datagrams("9.9.0.1:4433", |asked| vec![[b"one ", asked].concat()]);
        datagrams("[2600:9::2]:4433", |asked| vec![[b"two ", asked].concat()]);
        let resolver = Resolver::new("9.9.53.1", |name, _| {
            Reply::one(if name == "one.weather.test" { "9.9.0.1" } else { "2600:9::2" })
        });
        let rule = |name| NetworkRule::domain(name).unwrap().ports([4433]).protocol(Protocol::Udp);
        let plan = plan()
            .egress(rule("one.weather.test"))
            .egress(rule("two.weather.test"))
            .egress(
                NetworkRule::cidr("2600:9::2".parse().unwrap(), 128)
                    .unwrap()
                    .ports([4433])
                    .protocol(Protocol::Udp),
            )
            .resolver(resolver.address);
        let script = "
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20)
one, two = socket.gethostbyname('one.weather.test'), socket.gethostbyname('two.weather.test')
u.sendto(b'a', (one, 4433)); u.sendto(b'b', (two, 4433))
print(sorted(u.recvfrom(100) for _ in range(2)) == [(b'one a', (one, 4433)), (b'two b', (two, 4433))])
v = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); v.settimeout(20)
v.sendto(b'c', ('2600:9::2', 4433)); m, source = v.recvfrom(100); print(m, source[:2])
v.sendto(b'd', ('::ffff:' + one, 4433)); print(v.recvfrom(100)[0])";
        let outcome = python(plan, script);
        assert_eq!(
            said(&outcome),
            "True\nb'two c' ('2600:9::2', 4433)\nb'one d'\n",
            "{}",
            attempts(&outcome)
        );
    });
}

#[test]
fn what_is_granted_for_tcp_is_not_for_udp_and_the_other_way_round() {
    on_stage("what_is_granted_for_tcp_is_not_for_udp_and_the_other_way_round", || {
        let (tcp, by_udp) = (Sink::new("9.9.0.1:4433"), DatagramSink::new("9.9.0.1:8080"));
        let plan = udp("api.weather.test", 4433)
            .egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080]))
            .pin("api.weather.test", 8080, "9.9.0.1:8080".parse().unwrap());
        let script = format!(
            "{UDP}
print(tried(dial, 'api.weather.test', 4433))
u = udp('api.weather.test', 8080); u.send(b'x'); print(tried(u.recv, 10))
u = udp('9.9.0.2', 4433); u.settimeout(.3); u.send(b'x'); print(tried(u.recv, 10))"
        );
        let other = DatagramSink::new("9.9.0.2:4433");
        let outcome = python(plan, &script);
        let said = said(&outcome);
        assert!(said.starts_with("ECONNREFUSED\nECONNREFUSED\n"), "{said}");
        assert_eq!((tcp.strangers(), by_udp.strangers(), other.strangers()), (0, 0, 0));
        let targets: Vec<_> = refused(&outcome).map(|attempt| (attempt.action, attempt.target())).collect();
        let reach = skillsandbox_enforcer::egress::AttemptAction::Reach;
        for expected in [
            (reach(Transport::Tcp), "api.weather.test:4433"),
            (reach(Transport::Udp), "api.weather.test:8080"),
            (reach(Transport::Udp), "9.9.0.2:4433"),
        ] {
            assert!(targets.iter().any(|(action, to)| (*action, to.as_str()) == expected), "{targets:?}");
        }
    });
}

#[test]
fn ever_new_conversations_are_bounded() {
    on_stage("ever_new_conversations_are_bounded", || {
        let _ = echo_datagrams("9.9.0.1:4433");
        let (before, memory) = (descriptors(), resident());
        let script = format!(
            "{UDP}
answered = 0
for n in range(3000):
    u = udp(host, 4433); u.send(b'%d' % n); answered += u.recv(10) == b'%d' % n
print(answered, flush=True); sys.stdin.readline()"
        );
        let script = format!("host = socket.gethostbyname('api.weather.test'){script}");
        let command = skillsandbox_network_tests::command(&script)
            .stdin(skillsandbox_enforcer::StdinMode::Piped)
            .stdout(skillsandbox_enforcer::OutputMode::Piped);
        let mut running = udp("api.weather.test", 4433).build().unwrap().spawn(&command).unwrap();
        let stdin = running.stdin();
        let mut stdout = running.stdout().unwrap();
        let mut line = [0; 5];
        std::io::Read::read_exact(&mut stdout, &mut line).unwrap();
        assert_eq!(&line, b"3000\n");
        assert!(descriptors() < before + 300, "{} after {before}", descriptors());
        assert!(resident() < memory + (32 << 20));
        drop((stdin, stdout));
        let outcome = running.wait().unwrap();
        assert!(outcome.success());
        let counted: u64 = reached(&outcome).map(|attempt| attempt.count).sum();
        // A port that is used again goes on with the conversation that it had.
        assert!(counted > 2000 && counted <= 3000, "{}", attempts(&outcome));
        until("nothing is left", || descriptors() == before);
    });
}
