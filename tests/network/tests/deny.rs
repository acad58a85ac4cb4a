//! What is not granted is not there, whatever it is called and however it is asked for.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_enforcer::egress::{AttemptAction, AttemptVerdict, NetworkRule, RefusalReason, Transport};
use skillsandbox_enforcer::{PlanBuilder, RunOutcome};
use skillsandbox_network_tests::{
    DatagramSink, Sink, attempts, echo, on_stage, outside, plan, python, refused, said,
};

/// One name is granted, so that there is a network to get out of.
fn granted() -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).pin(
        "api.weather.test",
        8080,
        "9.9.0.1:8080".parse().unwrap(),
    )
}

fn was_refused(outcome: &RunOutcome, transport: Transport, target: &str) -> bool {
    refused(outcome).any(|attempt| {
        attempt.action == AttemptAction::Reach(transport)
            && attempt.target() == target
            && attempt.verdict == AttemptVerdict::Refused(RefusalReason::NotGranted)
    })
}

/// Connects and sends to each of these, outside the sandbox and inside it.
fn nothing_reaches(family: &str, public: &str, private: &str, loopback: &str) {
    let server = echo("9.9.0.1:8080");
    let targets: Vec<(String, Sink, DatagramSink)> = [public, private, loopback]
        .into_iter()
        .flat_map(|host| [(host, 8080), (host, 443), (host, 9999)])
        // The one that is served.
        .filter(|target| *target != ("9.9.0.1", 8080))
        .map(|(host, port)| {
            let at = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
            (at.clone(), Sink::new(&at), DatagramSink::new(&at))
        })
        .collect();
    let list: Vec<_> = targets
        .iter()
        .map(|(_, sink, _)| format!("('{}', {})", sink.address().ip(), sink.address().port()))
        .collect();
    let script = format!(
        "
targets = [{}]
for host, port in targets:
    print(host, port, tried(lambda: direct(socket.{family}, host, port) and 'reached'), end=' ')
    u = socket.socket(socket.{family}, socket.SOCK_DGRAM)
    u.connect((host, port))
    u.settimeout(20)
    u.send(b'secret')
    print(tried(lambda: u.recv(100)))
    tried(lambda: socket.socket(socket.{family}, socket.SOCK_DGRAM).sendto(b'secret', (host, port)))
print(dial('api.weather.test', 8080).send(b'x'))
",
        list.join(", ")
    );
    let outcome = python(granted(), &script);
    let said = said(&outcome);
    for (_, sink, datagrams) in &targets {
        let (host, port) = (sink.address().ip(), sink.address().port());
        let expected = format!("{host} {port} ECONNREFUSED ECONNREFUSED\n");
        assert!(said.contains(&expected), "{expected}{said}\n{}", attempts(&outcome));
        assert_eq!(sink.strangers(), 0, "{host} {port}");
        assert_eq!(datagrams.strangers(), 0, "{host} {port}");
    }
    for (at, sink, _) in &targets {
        // What goes to loopback is a program's own business, but for a port that is served.
        if !sink.address().ip().is_loopback() {
            assert!(was_refused(&outcome, Transport::Tcp, at), "{at}\n{}", attempts(&outcome));
            assert!(was_refused(&outcome, Transport::Udp, at), "{at}\n{}", attempts(&outcome));
        }
    }
    assert_eq!(server.accepted(), 1, "what was granted is reached");
    // Without any grant it is the kernel that knows no way.
    let none = python(plan(), &script.replace("print(dial", "0 and print(dial"));
    assert!(!none.stdout.text().contains("reached"), "{}", none.stdout.text());
    for (at, sink, datagrams) in &targets {
        assert_eq!((sink.strangers(), datagrams.strangers()), (0, 0), "{at}");
    }
    // The control: the same script outside reaches everything.
    let said = outside(
        &script.replace("print(dial", "0 and print(dial").replace("settimeout(20)", "settimeout(.01)"),
    );
    assert_eq!(said.matches("reached").count(), targets.len(), "{said}");
    for (at, sink, datagrams) in &targets {
        assert_eq!((sink.strangers(), datagrams.strangers()), (1, 2), "{at}: the control does not reach it");
    }
}

#[test]
fn row_089_an_undeclared_host_is_unreachable_over_ipv4() {
    on_stage("row_089_an_undeclared_host_is_unreachable_over_ipv4", || {
        nothing_reaches("AF_INET", "9.9.0.2", "10.0.0.1", "127.0.0.1");
    });
}

#[test]
fn row_090_an_undeclared_host_is_unreachable_over_ipv6() {
    on_stage("row_090_an_undeclared_host_is_unreachable_over_ipv6", || {
        nothing_reaches("AF_INET6", "2600:9::2", "fd00::1", "::1");
    });
}

#[test]
fn an_address_is_the_same_in_every_spelling() {
    on_stage("an_address_is_the_same_in_every_spelling", || {
        let (v4, v6) = (echo("9.9.0.1:8080"), echo("[2600:9::1]:8080"));
        let (other, private) = (Sink::new("9.9.0.2:8080"), Sink::new("10.0.0.1:8080"));
        let plan = plan()
            .egress(NetworkRule::cidr("9.9.0.1".parse().unwrap(), 32).unwrap().ports([8080]))
            .egress(NetworkRule::cidr("2600:9::1".parse().unwrap(), 128).unwrap().ports([8080]));
        let script = "
def say(family, host):
    def go():
        s = direct(family, host, 8080); s.send(b'hello'); return s.recv(10)
    print(host, tried(go))
say(socket.AF_INET, '9.9.0.1')
say(socket.AF_INET6, '2600:9::1')
say(socket.AF_INET6, '::ffff:9.9.0.1')
say(socket.AF_INET6, '64:ff9b::909:1')
say(socket.AF_INET6, '::9.9.0.1')
say(socket.AF_INET6, '::ffff:9.9.0.2')
say(socket.AF_INET6, '::ffff:10.0.0.1')
say(socket.AF_INET6, '2002:909:1::')
say(socket.AF_INET, '0.0.0.0')
say(socket.AF_INET6, '::')
";
        let outcome = python(plan, script);
        let expected = "9.9.0.1 b'hello'\n2600:9::1 b'hello'\n::ffff:9.9.0.1 b'hello'\n64:ff9b::909:1 ECONNREFUSED\n\
                        ::9.9.0.1 ECONNREFUSED\n::ffff:9.9.0.2 ECONNREFUSED\n::ffff:10.0.0.1 ECONNREFUSED\n\
                        2002:909:1:: ECONNREFUSED\n0.0.0.0 ECONNREFUSED\n:: ECONNREFUSED\n";
        assert_eq!(said(&outcome), expected, "{}", attempts(&outcome));
        assert_eq!((v4.accepted(), v6.accepted()), (2, 1));
        assert_eq!((other.strangers(), private.strangers()), (0, 0));
        assert!(was_refused(&outcome, Transport::Tcp, "9.9.0.2:8080"), "{}", attempts(&outcome));
    });
}

#[test]
fn a_program_talks_to_its_own_servers_and_to_nobody_elses_on_loopback() {
    on_stage("a_program_talks_to_its_own_servers_and_to_nobody_elses_on_loopback", || {
        let server = echo("9.9.0.1:8080");
        let sinks = [Sink::new("127.0.0.1:7000"), Sink::new("[::1]:7000"), Sink::new("127.0.0.1:8080")];
        let script = "
own = socket.create_server(('127.0.0.1', 7001))
def serve():
    c, _ = own.accept(); c.sendall(b'own ' + c.recv(10)); c.close()
threading.Thread(target=serve).start()
s = dial('127.0.0.1', 7001); s.send(b'hello'); print(all_of(s))
print(tried(dial, '127.0.0.1', 7000), tried(dial, '::1', 7000), tried(dial, 'localhost', 7000))
print(tried(dial, '127.0.0.1', 8080))
";
        let outcome = python(granted(), script);
        let expected = "b'own hello'\nECONNREFUSED ECONNREFUSED ECONNREFUSED\nECONNREFUSED\n";
        assert_eq!(said(&outcome), expected, "{}", attempts(&outcome));
        assert_eq!(sinks.each_ref().map(Sink::strangers), [0, 0, 0]);
        let own = outcome.network.attempts.iter().any(|attempt| matches!(attempt.port, 7000 | 7001));
        assert!(!own, "its own business\n{}", attempts(&outcome));
        assert!(was_refused(&outcome, Transport::Tcp, "127.0.0.1:8080"), "{}", attempts(&outcome));
        assert_eq!(server.accepted(), 0);
        // One address of the host's loopback, granted as such.
        let plan = plan().egress(NetworkRule::cidr([127, 0, 0, 1].into(), 32).unwrap().ports([7000]));
        let outcome = python(plan, "print(dial('127.0.0.1', 7000).send(b'hello'))");
        assert_eq!(said(&outcome), "5\n");
        assert_eq!(sinks.each_ref().map(Sink::strangers), [1, 0, 0]);
    });
}

#[test]
fn every_way_to_connect_and_to_send_is_the_same_to_the_policy() {
    on_stage("every_way_to_connect_and_to_send_is_the_same_to_the_policy", || {
        let server = echo("9.9.0.1:8080");
        let (sink, datagrams) = (Sink::new("9.9.0.2:8080"), DatagramSink::new("9.9.0.2:8080"));
        let bystander = Sink::new("9.9.0.2:9000");
        let script = "
MSG_FASTOPEN, FASTOPEN_CONNECT, MPTCP = 0x20000000, 30, 262
def fastopen(host, port):
    s = socket.socket(); s.sendto(b'hello', MSG_FASTOPEN, (host, port)); return s.recv(10)
def fastopen_connect(host, port):
    s = socket.socket(); s.setsockopt(socket.IPPROTO_TCP, FASTOPEN_CONNECT, 1); s.connect((host, port))
    s.send(b'hello'); return s.recv(10)
def mptcp(host, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, MPTCP); s.connect((host, port)); s.send(b'hello'); return s.recv(10)
def nonblocking(host, port):
    s = socket.socket(); s.setblocking(False); e = s.connect_ex((host, port))
    import select
    if e == errno.EINPROGRESS: select.select([], [s], [], 30); e = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if e: raise OSError(e, '')
    s.setblocking(True); s.send(b'hello'); return s.recv(10)
def bound(host, port):
    s = socket.socket(); s.setsockopt(socket.SOL_IP, 15, 1); s.bind((host, 0)); s.connect((host, port)); s.send(b'hello'); return s.recv(10)
def again(host, port):
    s = socket.socket(); tried(s.connect, (host, 9000)); s.connect((host, port)); s.send(b'hello'); return s.recv(10)
def device(host, port):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo'); s.connect((host, port)); s.send(b'hello'); return s.recv(10)
for how in (fastopen, fastopen_connect, mptcp, nonblocking, bound, again, device):
    granted, other = tried(how, name, 8080), tried(how, '9.9.0.2', 8080)
    print(how.__name__, granted, other)
def datagram(how):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.settimeout(1); return tried(how, u)
to = ('9.9.0.2', 8080)
print('sendto', datagram(lambda u: u.sendto(b'x', to)), 'sendmsg', datagram(lambda u: u.sendmsg([b'x'], [], 0, to)))
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
class Iov(ctypes.Structure): _fields_ = [('base', ctypes.c_char_p), ('len', ctypes.c_size_t)]
class Msg(ctypes.Structure): _fields_ = [('name', ctypes.c_char_p), ('namelen', ctypes.c_uint), ('iov', ctypes.POINTER(Iov)), ('iovlen', ctypes.c_size_t), ('control', ctypes.c_void_p), ('controllen', ctypes.c_size_t), ('flags', ctypes.c_int)]
class MMsg(ctypes.Structure): _fields_ = [('hdr', Msg), ('len', ctypes.c_uint)]
address = struct.pack('=HHL8s', socket.AF_INET, socket.htons(8080), struct.unpack('=L', socket.inet_aton('9.9.0.2'))[0], b'')
iov = Iov(b'secret', 6)
many = (MMsg * 8)(*[MMsg(Msg(address, 16, ctypes.pointer(iov), 1, None, 0, 0)) for _ in range(8)])
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print('sendmmsg', libc.sendmmsg(u.fileno(), many, 8, 0))
";
        let inside = format!("name = socket.gethostbyname('api.weather.test'){script}");
        let outcome = python(granted(), &inside);
        let said = said(&outcome);
        for how in ["fastopen", "fastopen_connect", "mptcp", "nonblocking", "again", "device"] {
            // A kernel or a profile without one of these may refuse it for both; but never let only the other through.
            let line = said.lines().find(|line| line.starts_with(&format!("{how} "))).unwrap();
            let works = line == format!("{how} b'hello' ECONNREFUSED");
            let is_refused = ["EPERM", "ENOPROTOOPT", "EPROTONOSUPPORT", "ENOTSUP", "EINVAL"]
                .iter()
                .any(|error| line == format!("{how} {error} {error}"));
            assert!(works || is_refused, "{line}");
            assert!(works || matches!(how, "mptcp" | "device" | "fastopen" | "fastopen_connect"), "{line}");
        }
        assert!(said.contains("sendmmsg"), "{said}");
        assert_eq!((sink.strangers(), bystander.strangers(), datagrams.strangers()), (0, 0, 0), "{said}");
        assert!(was_refused(&outcome, Transport::Udp, "9.9.0.2:8080"), "{}", attempts(&outcome));
        // The control.
        let said =
            outside(&format!("name = '9.9.0.1'{script}").replace("return s.recv(10)", "return 'sent'"));
        assert!(sink.strangers() >= 5, "{said}");
        assert_eq!(datagrams.strangers(), 10, "{said}");
        assert!(server.accepted() >= 8);
    });
}

/// What is looked at when a program connects may be another thing a moment later: it is not what decides.
#[test]
fn an_address_that_changes_while_it_is_looked_at_leads_nowhere_else() {
    on_stage("an_address_that_changes_while_it_is_looked_at_leads_nowhere_else", || {
        let _server = echo("9.9.0.1:8080");
        let sinks = [Sink::new("9.9.0.2:8080"), Sink::new("9.9.0.2:7000"), Sink::new("127.0.0.1:8080")];
        let datagrams = DatagramSink::new("9.9.0.2:8080");
        let script = "
import ctypes, random
libc = ctypes.CDLL(None, use_errno=True)
def address(host, port): return struct.pack('=HH4s8s', socket.AF_INET, socket.htons(port), socket.inet_aton(host), b'')
good = address(socket.gethostbyname('api.weather.test'), 8080)
others = [address('9.9.0.2', 8080), address('9.9.0.2', 7000), address('127.0.0.1', 8080), address('9.9.0.2', 53)]
buffer = ctypes.create_string_buffer(good, 16)
over = False
def flip():
    while not over:
        ctypes.memmove(buffer, random.choice(others), 16); ctypes.memmove(buffer, good, 16)
sys.setswitchinterval(1e-5)
t = threading.Thread(target=flip); t.start()
results = {}
for n in range(3000):
    s = socket.socket() if n % 2 else socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(None)
    r = libc.connect(s.fileno(), buffer, 16) and errno.errorcode[ctypes.get_errno()]
    results[str(r)] = results.get(str(r), 0) + 1
    tried(s.send, b'secret')
    s.close()
over = True; t.join()
print(sorted(results))
s = dial('api.weather.test', 8080); s.send(b'hello'); print(s.recv(10))
";
        let outcome = python(granted(), script);
        let said = said(&outcome);
        // Both happened, so there was a race; neither let it win.
        assert_eq!(said, "['0', 'ECONNREFUSED']\nb'hello'\n", "{}", attempts(&outcome));
        assert_eq!(sinks.each_ref().map(Sink::strangers), [0; 3]);
        assert_eq!(datagrams.strangers(), 0);
    });
}

/// A network namespace does not hold these: some lead to the hypervisor or to other hosts whatever the routes are.
#[test]
fn families_of_addresses_that_are_not_of_ip_cannot_be_had() {
    on_stage("families_of_addresses_that_are_not_of_ip_cannot_be_had", || {
        let _server = echo("9.9.0.1:8080");
        let script = "
had = []
for family in range(3, 64):
    if family in (socket.AF_INET6, socket.AF_NETLINK): continue
    for kind in (1, 2, 3, 4, 5):
        try: socket.socket(family, kind, 0); had.append((family, kind))
        except OSError: pass
for protocol in (33, 132, 136, 142, 1, 58):
    for family in (socket.AF_INET, socket.AF_INET6):
        for kind in (1, 2, 3, 5, 6):
            try: socket.socket(family, kind, protocol); had.append((family, kind, protocol))
            except OSError: pass
print(had)";
        let outcome = python(granted(), script);
        assert_eq!(said(&outcome), "[]\n");
        let outcome = python(plan(), script);
        assert_eq!(said(&outcome), "[]\n");
        // The control: there are some on any kernel.
        assert_ne!(outside(script), "[]\n");
    });
}
