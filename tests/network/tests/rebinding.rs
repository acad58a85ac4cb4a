//! A granted name leads to addresses of everybody's and to no other, whatever its owner lets it resolve to.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::net::IpAddr;

use skillsandbox_enforcer::egress::{AttemptVerdict, NetworkRule, Protocol, RefusalReason};
use skillsandbox_enforcer::{PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    DatagramSink, Reply, Resolver, Sink, attempts, echo, ip, on_stage, plan, python, reached, refused, said,
};

fn granted(resolver: &Resolver) -> PlanBuilder {
    let rule = || NetworkRule::domain("api.weather.test").unwrap();
    plan()
        .egress(rule().ports([8080]))
        .egress(rule().ports([8080]).protocol(Protocol::Udp))
        .egress(rule().ports([443]).protocol(Protocol::Https))
        .egress(rule().ports([80]).protocol(Protocol::Http))
        .resolver(resolver.address)
}

const HELLO: &str = "
# A sink says nothing: whoever reached one would wait.
socket.setdefaulttimeout(5)
def hello():
    s = dial('api.weather.test', 8080); s.send(b'hello'); return s.recv(10)
print(tried(hello))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(.3); u.sendto(b'hello', ('api.weather.test', 8080)); print(tried(u.recv, 10))
s = dial('api.weather.test', 80); s.send(b'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\n\\r\\n'); print(tried(s.recv, 10))
";

fn special(outcome: &RunOutcome) -> Vec<(IpAddr, &'static str)> {
    let reasons = refused(outcome).filter_map(|attempt| match &attempt.verdict {
        AttemptVerdict::Refused(RefusalReason::Special { address, kind }) => Some((*address, *kind)),
        _ => None,
    });
    reasons.collect()
}

#[test]
fn row_098_a_name_does_not_lead_to_a_special_address() {
    on_stage("row_098_a_name_does_not_lead_to_a_special_address", || {
        ip("-4 addr add 9.9.200.1/32 dev lo");
        // What the name says, where a listener waits, and what it is said to be.
        let cases = [
            ("127.0.0.1", "127.0.0.1", "a loopback address"),
            ("127.1.2.3", "127.1.2.3", "a loopback address"),
            ("::1", "::1", "a loopback address"),
            ("0.0.0.0", "127.0.0.1", "an address of this host"),
            ("::", "::1", "an address of this host"),
            ("10.1.2.3", "10.1.2.3", "a private address"),
            ("172.20.0.1", "172.20.0.1", "a private address"),
            ("192.168.1.1", "192.168.1.1", "a private address"),
            ("fd12::1", "fd12::1", "a private address"),
            ("169.254.1.1", "169.254.1.1", "a link-local address"),
            ("169.254.169.254", "169.254.169.254", "a cloud metadata address"),
            ("fd00:ec2::254", "fd00:ec2::254", "a cloud metadata address"),
            ("100.64.1.1", "100.64.1.1", "a carrier-grade NAT address"),
            ("100.100.100.200", "100.100.100.200", "a cloud metadata address"),
            ("::ffff:10.1.2.3", "10.1.2.3", "a private address"),
            ("::ffff:127.0.0.1", "127.0.0.1", "a loopback address"),
            ("::127.0.0.1", "127.0.0.1", "an IPv4 address written as IPv6"),
            ("64:ff9b::10.1.2.3", "64:ff9b::10.1.2.3", "a private address"),
            ("64:ff9b::169.254.169.254", "64:ff9b::169.254.169.254", "a cloud metadata address"),
            ("2002:a01:203::1", "2002:a01:203::1", "an address of the 6to4 translation"),
            ("198.18.0.1", "127.0.0.1", "an address reserved for network tests"),
            ("9.9.200.1", "9.9.200.1", "an address of this machine"),
        ];
        let mut homes: Vec<&str> = cases.iter().map(|(_, home, _)| *home).collect();
        homes.sort_unstable();
        homes.dedup();
        let at = |home: &str, port| {
            if home.contains(':') { format!("[{home}]:{port}") } else { format!("{home}:{port}") }
        };
        let listeners: Vec<_> = homes
            .iter()
            .map(|home| {
                (Sink::new(&at(home, 8080)), Sink::new(&at(home, 80)), DatagramSink::new(&at(home, 8080)))
            })
            .collect();
        let now = std::sync::Arc::<std::sync::Mutex<String>>::default();
        let says = std::sync::Arc::clone(&now);
        let resolver = Resolver::new("9.9.53.1", move |_, _| Reply::one(&says.lock().unwrap()));
        for (address, _, kind) in cases {
            address.clone_into(&mut now.lock().unwrap());
            let outcome = python(granted(&resolver), HELLO);
            let said = said(&outcome);
            assert!(!said.contains("hello"), "{address}: {said}");
            assert!(said.starts_with("ECONN"), "{address}: {said}");
            let special = special(&outcome);
            assert!(special.len() >= 3, "{address}\n{}", attempts(&outcome));
            let meant = special
                .iter()
                .all(|one| one.0 == address.parse::<IpAddr>().unwrap().to_canonical() && one.1 == kind);
            assert!(meant, "{address}\n{}", attempts(&outcome));
            assert_eq!(reached(&outcome).count(), 0, "{address}\n{}", attempts(&outcome));
        }
        for (home, (tcp, http, udp)) in homes.iter().zip(&listeners) {
            assert_eq!((tcp.strangers(), http.strangers(), udp.strangers()), (0, 0, 0), "{home}");
        }
        // The control: a public address is reached in the same way.
        "9.9.0.1".clone_into(&mut now.lock().unwrap());
        let sinks = (Sink::new("9.9.0.1:8080"), Sink::new("9.9.0.1:80"), DatagramSink::new("9.9.0.1:8080"));
        let outcome =
            python(granted(&resolver), &HELLO.replace("dial(", "socket.setdefaulttimeout(.3) or dial("));
        assert_eq!(
            (sinks.0.strangers(), sinks.1.strangers(), sinks.2.strangers()),
            (1, 1, 1),
            "{}",
            attempts(&outcome)
        );
    });
}

#[test]
fn a_range_grants_what_a_name_does_not() {
    on_stage("a_range_grants_what_a_name_does_not", || {
        let cases = [
            ("127.0.0.1", "127.0.0.1", 32),
            ("10.1.2.3", "10.0.0.0", 8),
            ("10.1.2.3", "10.1.2.3", 32),
            ("169.254.169.254", "169.254.169.254", 32),
            ("100.64.1.1", "100.64.0.0", 10),
            ("fd12::1", "fd12::", 16),
            ("::1", "::1", 128),
            ("::ffff:10.1.2.3", "10.1.0.0", 16),
        ];
        let _servers =
            ["127.0.0.1:8080", "10.1.2.3:8080", "169.254.169.254:8080", "100.64.1.1:8080"].map(echo);
        let _v6 = ["[fd12::1]:8080", "[::1]:8080"].map(echo);
        let now = std::sync::Arc::<std::sync::Mutex<String>>::default();
        let says = std::sync::Arc::clone(&now);
        let resolver = Resolver::new("9.9.53.1", move |_, _| Reply::one(&says.lock().unwrap()));
        for (address, range, prefix) in cases {
            address.clone_into(&mut now.lock().unwrap());
            let name = || {
                plan()
                    .egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080]))
                    .resolver(resolver.address)
            };
            let range = || NetworkRule::cidr(range.parse().unwrap(), prefix).unwrap();
            let script = "
def hello():
    s = dial('api.weather.test', 8080); s.send(b'hello'); return s.recv(10)
print(tried(hello))";
            let outcome = python(name().egress(range().ports([8080])), script);
            assert_eq!(said(&outcome), "b'hello'\n", "{address}\n{}", attempts(&outcome));
            // For another port, or for UDP, it is another grant.
            for other in [range().ports([8081]), range().ports([8080]).protocol(Protocol::Udp)] {
                let outcome = python(name().egress(other), script);
                assert!(said(&outcome).starts_with("ECONN"), "{address}\n{}", attempts(&outcome));
                assert_eq!(reached(&outcome).count(), 0);
            }
        }
        // A range that only happens to hold private addresses does not mean them.
        "10.1.2.3".clone_into(&mut now.lock().unwrap());
        let outcome = python(
            plan()
                .egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080]))
                .egress(NetworkRule::cidr([8, 0, 0, 0].into(), 6).unwrap().ports([8080]))
                .egress(NetworkRule::cidr([0, 0, 0, 0].into(), 0).unwrap().ports([8080]))
                .resolver(resolver.address),
            "print(tried(lambda: dial('api.weather.test', 8080).recv(1)), tried(lambda: dial('10.1.2.3', 8080).recv(1)))",
        );
        let said = said(&outcome);
        assert_eq!(said.matches("ECONN").count(), 2, "{said}");
        assert_eq!(reached(&outcome).count(), 0, "{}", attempts(&outcome));
    });
}

#[test]
fn of_mixed_answers_only_the_public_ones_are_dialled() {
    on_stage("of_mixed_answers_only_the_public_ones_are_dialled", || {
        let sinks = ["10.1.2.3:8080", "127.0.0.1:8080", "[::1]:8080", "169.254.169.254:8080"].map(Sink::new);
        let _server = echo("9.9.0.1:8080");
        let mixed = ["10.1.2.3", "127.0.0.1", "::1", "169.254.169.254", "9.9.0.1", "::ffff:127.0.0.1"];
        let resolver = Resolver::new("9.9.53.1", move |name, _| match name {
            "api.weather.test" => Reply::all(&mixed),
            // The public one is dead.
            _ => Reply::all(&["10.1.2.3", "9.9.0.9", "127.0.0.1", "::1"]),
        });
        let plan = granted(&resolver).egress(NetworkRule::domain("dead.weather.test").unwrap().ports([8080]));
        let script = "
for name in ('api.weather.test', 'dead.weather.test'):
    def hello():
        s = dial(name, 8080); s.send(b'hello'); return s.recv(10)
    print(tried(hello))";
        let outcome = python(plan, script);
        let said = said(&outcome);
        assert!(said.starts_with("b'hello'\nECONN"), "{said}");
        assert_eq!(sinks.map(|sink| sink.strangers()), [0; 4]);
        let dialled: Vec<_> = reached(&outcome).filter_map(|attempt| attempt.dialled).collect();
        assert_eq!(dialled, ["9.9.0.1:8080".parse().unwrap()], "{}", attempts(&outcome));
    });
}

#[test]
fn row_098_a_name_that_changes_its_mind_never_leads_to_loopback() {
    on_stage("row_098_a_name_that_changes_its_mind_never_leads_to_loopback", || {
        let inside = [Sink::new("127.0.0.1:8080"), Sink::new("[::1]:8080"), Sink::new("10.0.0.1:8080")];
        let server = echo("9.9.0.1:8080");
        // Public when it is asked for the first time, and then not, with nought seconds to keep it: a rebinding attack.
        let resolver = Resolver::new("9.9.53.1", |name, before| match (name, before) {
            ("api.weather.test", 0) | ("fails.weather.test", 1) => Reply::one("9.9.0.1"),
            ("fails.weather.test", 0) => Reply::NoSuchName,
            _ => Reply::all(&["127.0.0.1", "::1", "10.0.0.1"]),
        });
        let plan =
            granted(&resolver).egress(NetworkRule::domain("fails.weather.test").unwrap().ports([8080]));
        let script = "
def hello(name):
    s = dial(name, 8080); s.send(b'hello'); return s.recv(10)
first = tried(hello, 'api.weather.test')
rest = [tried(hello, 'api.weather.test') for _ in range(50)]
print(first, set(rest) <= {b'hello', 'ECONNRESET', 'ECONNREFUSED'})
# A failure is kept for a second only: by then it is another name server's answer.
seen = set()
for _ in range(8): seen.add(str(tried(hello, 'fails.weather.test'))); time.sleep(.35)
print(seen <= {\"b'hello'\", 'ECONNRESET', 'ECONNREFUSED', 'gaierror -2'})
";
        let outcome = python(plan, script);
        assert_eq!(said(&outcome), "b'hello' True\nTrue\n", "{}", attempts(&outcome));
        assert!(server.accepted() >= 1);
        assert!(
            resolver.asked().iter().filter(|name| name.starts_with("fails.")).count() >= 4,
            "{:?}",
            resolver.asked()
        );
        assert_eq!(inside.each_ref().map(Sink::strangers), [0; 3], "{}", attempts(&outcome));
        // Each run asks anew: now the name is one of the other kind, and the control shows that the answer is the evil one.
        let outcome =
            python(granted(&resolver), "print(tried(lambda: dial('api.weather.test', 8080).recv(1)))");
        assert!(said(&outcome).starts_with("ECONN"));
        assert!(!special(&outcome).is_empty(), "{}", attempts(&outcome));
        assert_eq!(inside.each_ref().map(Sink::strangers), [0; 3]);
    });
}

/// The resolver is the one that was set; the skill can neither choose nor reach one.
#[test]
fn row_098_the_resolver_is_the_one_that_was_set() {
    on_stage("row_098_the_resolver_is_the_one_that_was_set", || {
        let server = echo("9.9.0.1:8080");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let evil = Resolver::new("9.9.66.6", |_, _| Reply::one("9.9.66.6"));
        let sink = Sink::new("9.9.66.6:8080");
        let script = "
os.environ['RES_OPTIONS'] = 'nameserver:9.9.66.6'; os.environ['LOCALDOMAIN'] = 'evil.test'
print(tried(open, '/etc/resolv.conf', 'w'))
q = b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x03api\\x07weather\\x04test\\0\\0\\x01\\0\\x01'
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20)
u.sendto(q, ('9.9.66.6', 53)); reply, source = u.recvfrom(1000)
told = socket.inet_ntoa(reply[-4:])
print(source, told == socket.gethostbyname('api.weather.test'), told)
s = dial(told, 8080); s.send(b'hello'); print(s.recv(10))";
        let outcome = python(granted(&resolver), script);
        let said = said(&outcome);
        assert!(said.ends_with("('9.9.66.6', 53) True 198.18.0.1\nb'hello'\n"), "{said}");
        assert_eq!(server.accepted(), 1);
        assert_eq!((evil.asked().len(), sink.strangers()), (0, 0));
        assert!(!resolver.asked().is_empty());
    });
}

#[test]
fn a_range_of_all_addresses_means_those_of_everybody() {
    on_stage("a_range_of_all_addresses_means_those_of_everybody", || {
        ip("-4 addr add 9.9.200.1/32 dev lo");
        ip("-6 addr add 2600:9::200/128 dev lo");
        let _servers = (echo("9.9.0.1:8080"), echo("[2600:9::1]:8080"));
        // This machine and its network, by every name that it has.
        let inside = [
            "127.0.0.1",
            "10.1.2.3",
            "169.254.169.254",
            "100.64.1.1",
            "192.168.1.1",
            "9.9.200.1",
            "::1",
            "fd12::1",
            "2600:9::200",
            "64:ff9b::a01:203",
            "2002:a01:203::1",
        ];
        let at =
            |host: &str| if host.contains(':') { format!("[{host}]:8080") } else { format!("{host}:8080") };
        let sinks = inside.map(|host| (Sink::new(&at(host)), DatagramSink::new(&at(host))));
        let mut plan = plan();
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            for any in ["0.0.0.0", "::"] {
                plan = plan.egress(
                    NetworkRule::cidr(any.parse().unwrap(), 0).unwrap().ports([8080]).protocol(protocol),
                );
            }
        }
        let script = format!(
            "
def hello(host):
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    u = socket.socket(family, socket.SOCK_DGRAM); tried(u.sendto, b'hello', (host, 8080))
    s = direct(family, host, 8080); s.send(b'hello'); return s.recv(10)
for host in {inside:?} + ['0.0.0.0', '::', '::ffff:127.0.0.1', '::ffff:10.1.2.3', '::ffff:9.9.200.1']: print(host, tried(hello, host))
print(hello('9.9.0.1'), hello('2600:9::1'))"
        );
        let outcome = python(plan, &script);
        let said = said(&outcome);
        assert!(said.ends_with("b'hello' b'hello'\n"), "{said}");
        assert_eq!(said.matches("hello").count(), 2, "{said}");
        for (host, (tcp, udp)) in inside.iter().zip(&sinks) {
            assert_eq!((tcp.strangers(), udp.strangers()), (0, 0), "{host}");
        }
        // This machine's own address, granted as that address.
        let one = NetworkRule::cidr("9.9.200.1".parse().unwrap(), 32).unwrap().ports([8080]);
        let outcome =
            python(skillsandbox_network_tests::plan().egress(one), "dial('9.9.200.1', 8080).send(b'hello')");
        assert!(outcome.success(), "{}", attempts(&outcome));
        assert_eq!(sinks[5].0.strangers(), 1, "{}", attempts(&outcome));
    });
}
