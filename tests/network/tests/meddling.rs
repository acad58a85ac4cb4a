//! A program cannot remove or change what holds it: not the routes, not the listeners, not the resolver.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_enforcer::PlanBuilder;
use skillsandbox_enforcer::egress::NetworkRule;
use skillsandbox_network_tests::{Sink, attempts, echo, on_stage, outside, plan, python, said};

fn granted() -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).pin(
        "api.weather.test",
        8080,
        "9.9.0.1:8080".parse().unwrap(),
    )
}

/// What still must hold after everything else: the granted name is reached, another is not.
const STILL: &str = "
def still():
    s = dial('api.weather.test', 8080); s.send(b'hello')
    return s.recv(10), tried(dial, '9.9.0.2', 8080), tried(socket.gethostbyname, 'evil.test')
print(still(), flush=True)
";
const AS_BEFORE: &str = "(b'hello', 'ECONNREFUSED', 'gaierror -2')\n";

/// Changes to routes, addresses, links, rules and neighbours by netlink; interfaces by ioctl; settings by files. Each says what came
/// of it.
const CHANGES: &str = "
import fcntl
RTM = dict(NEWLINK=16, DELLINK=17, SETLINK=19, NEWADDR=20, DELADDR=21, NEWROUTE=24, DELROUTE=25, NEWNEIGH=28, NEWRULE=32, DELRULE=33, NEWQDISC=36)
def attribute(kind, data): return struct.pack('HH', 4 + len(data), kind) + data + bytes(-len(data) % 4)
def netlink(kind, body, flags=0x5 | 0x400, family=0):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, family); s.bind((0, 0))
    s.send(struct.pack('=IHHII', 16 + len(body), kind, flags, 1, 0) + body)
    answer = s.recv(4096)
    error = -struct.unpack('=i', answer[16:20])[0]
    if error: raise OSError(error, '')
    return 'done'
def rtmsg(family, bits, table, kind, scope=0): return struct.pack('=BBBBBBBBI', family, bits, 0, 0, table, 3, scope, kind, 0)
lo = attribute(4, struct.pack('=I', 1))
ways = {
    'del-local-4': lambda: netlink(RTM['DELROUTE'], rtmsg(2, 0, 255, 2, 254) + lo),
    'del-local-6': lambda: netlink(RTM['DELROUTE'], rtmsg(10, 0, 255, 2) + lo),
    'del-any-4': lambda: netlink(RTM['DELROUTE'], rtmsg(2, 0, 255, 0, 255)),
    'new-route': lambda: netlink(RTM['NEWROUTE'], rtmsg(2, 32, 254, 1) + attribute(1, bytes([9, 9, 7, 7])) + lo),
    'new-local': lambda: netlink(RTM['NEWROUTE'], rtmsg(2, 32, 255, 2, 254) + attribute(1, bytes([9, 9, 7, 7])) + lo),
    'new-rule': lambda: netlink(RTM['NEWRULE'], rtmsg(2, 0, 254, 1)),
    'new-address': lambda: netlink(RTM['NEWADDR'], struct.pack('=BBBBI', 2, 32, 0, 254, 1) + attribute(2, bytes([9, 9, 7, 7])) + attribute(1, bytes([9, 9, 7, 7]))),
    'del-address': lambda: netlink(RTM['DELADDR'], struct.pack('=BBBBI', 2, 8, 0, 254, 1) + attribute(2, bytes([127, 0, 0, 1]))),
    'link-down': lambda: netlink(RTM['NEWLINK'], struct.pack('=BBHiII', 0, 0, 0, 1, 0, 1), 0x5),
    'new-dummy': lambda: netlink(RTM['NEWLINK'], struct.pack('=BBHiII', 0, 0, 0, 0, 0, 0) + attribute(18, attribute(1, b'dummy\\0'))),
    'new-veth': lambda: netlink(RTM['NEWLINK'], struct.pack('=BBHiII', 0, 0, 0, 0, 0, 0) + attribute(18, attribute(1, b'veth\\0'))),
    'nftables': lambda: netlink(0x0a00, struct.pack('=BBH', 1, 0, 0) + attribute(1, b'x\\0'), 0x5 | 0x400, 12),
    'ioctl-down': lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8914, struct.pack('16sH14s', b'lo', 0, b'')) and 'done',
    'ioctl-address': lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x8916, struct.pack('16sHH4s8s', b'lo:1', 2, 0, bytes([9, 9, 7, 8]), b'')) and 'done',
    'ioctl-route': lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0x890c, bytes(120)) and 'done',
    'tun': lambda: fcntl.ioctl(os.open('/dev/net/tun', os.O_RDWR), 0x400454ca, struct.pack('16sH22s', b'tun0', 1, b'')) and 'done',
    'sysctl-forward': lambda: open('/proc/sys/net/ipv4/ip_forward', 'w').write('1') and 'done',
    'sysctl-nonlocal': lambda: open('/proc/sys/net/ipv6/ip_nonlocal_bind', 'w').write('1') and 'done',
    'sysctl-ports': lambda: open('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'w').write('0') and 'done',
    'raw-4': lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 255) and 'done',
    'raw-icmp': lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) and 'done',
    'raw-6': lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58) and 'done',
    'packet': lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300) and 'done',
    'packet-dgram': lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300) and 'done',
    'transparent': lambda: socket.socket().setsockopt(socket.SOL_IP, 19, 1) or 'done',
    'transparent-6': lambda: socket.socket(socket.AF_INET6).setsockopt(41, 75, 1) or 'done',
    'mark': lambda: socket.socket().setsockopt(socket.SOL_SOCKET, 36, 1) or 'done',
    'new-namespace': lambda: os.unshare(0x40000000) or 'done' if hasattr(os, 'unshare') else unshare(0x40000000),
    'new-user-namespace': lambda: unshare(0x10000000 | 0x40000000),
    'enter-namespace': lambda: setns(os.open('/proc/1/ns/net', os.O_RDONLY)),
}
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result: raise OSError(ctypes.get_errno(), '')
    return 'done'
def unshare(flags): return call(libc.unshare(flags))
def setns(fd): return call(libc.setns(fd, 0x40000000))
def all_ways():
    # A child for each, so that one that works changes nothing for the next.
    for name, way in ways.items():
        if not os.fork():
            print(name, tried(way), flush=True); os._exit(0)
        os.wait()
";

#[test]
fn row_094_routes_addresses_and_links_cannot_be_changed() {
    on_stage("row_094_routes_addresses_and_links_cannot_be_changed", || {
        let server = echo("9.9.0.1:8080");
        let sink = Sink::new("9.9.0.2:8080");
        let outcome = python(granted(), &format!("{CHANGES}{STILL}all_ways()\n{STILL}"));
        let said = said(&outcome);
        let told = said.strip_prefix(AS_BEFORE).and_then(|said| said.strip_suffix(AS_BEFORE));
        let told = told.unwrap_or_else(|| panic!("{said}\n{}", attempts(&outcome)));
        assert!(!told.contains(" done"), "{told}");
        assert!(told.lines().count() >= 30, "{told}");
        // Not for a reason that has nothing to do with who asks.
        for line in told.lines() {
            let (name, why) = line.split_once(' ').unwrap();
            let known = ["EPERM", "EACCES", "EAFNOSUPPORT", "ENOENT", "EPROTONOSUPPORT", "EROFS"];
            assert!(known.contains(&why), "{name}: {why}");
        }
        assert_eq!((server.accepted(), sink.strangers()), (2, 0));
        // The control: whoever is root of a network of their own does most of it. In one of their own, so that this one stays.
        let control = format!("{CHANGES}unshare(0x10000000 | 0x40000000)\nall_ways()");
        let control = outside(&control);
        let done = control.lines().filter(|line| line.ends_with(" done")).count();
        assert!(done >= 12, "{control}");
    });
}

#[test]
fn row_094_listeners_cannot_be_taken_over() {
    on_stage("row_094_listeners_cannot_be_taken_over", || {
        let server = echo("9.9.0.1:8080");
        let script = "
host = socket.gethostbyname('api.weather.test')
host6 = socket.getaddrinfo('api.weather.test', 8080, socket.AF_INET6)[0][4][0]
REUSEPORT, FREEBIND, FREEBIND6 = 15, 15, 78
def take(family, kind, at, port, *options):
    s = socket.socket(family, kind)
    for level, option in options: s.setsockopt(level, option, 1)
    s.bind((at, port))
    if kind == socket.SOCK_STREAM: s.listen()
    return s
reuse = [(socket.SOL_SOCKET, socket.SO_REUSEADDR), (socket.SOL_SOCKET, socket.SO_REUSEPORT)]
kept = []
for port, kind in ((8080, socket.SOCK_STREAM), (53, socket.SOCK_STREAM), (53, socket.SOCK_DGRAM)):
    for family, at in ((socket.AF_INET, '0.0.0.0'), (socket.AF_INET, '127.0.0.1'), (socket.AF_INET, host), (socket.AF_INET, '9.9.53.1'), (socket.AF_INET6, '::'), (socket.AF_INET6, '::1'), (socket.AF_INET6, host6), (socket.AF_INET6, '::ffff:' + host)):
        for options in ([], reuse, reuse[:1], reuse[1:], [(socket.SOL_IP, FREEBIND)] if family == socket.AF_INET else [(41, FREEBIND6)]):
            def go():
                kept.append(take(family, kind, at, port, *options)); return 'taken'
            print(port, at, tried(go))
";
        let outcome = python(granted(), &format!("{script}{STILL}"));
        let said = said(&outcome);
        let told = said.strip_suffix(AS_BEFORE).unwrap_or_else(|| panic!("{said}\n{}", attempts(&outcome)));
        assert!(!told.contains("taken"), "{told}");
        assert_eq!(server.accepted(), 1);
    });
}

/// Taking an address that a name stands for, on a port that is not served, is a program's own business: nothing leaves.
#[test]
fn row_094_a_programs_own_servers_on_any_address_lead_nowhere() {
    on_stage("row_094_a_programs_own_servers_on_any_address_lead_nowhere", || {
        let _server = echo("9.9.0.1:8080");
        let sink = Sink::new("9.9.0.2:9000");
        let script = "
for at in ('127.0.0.1', '9.9.0.2', socket.gethostbyname('api.weather.test')):
    def own():
        with socket.create_server((at, 9000)) as server:
            s = dial(at, 9000); c, _ = server.accept(); c.send(b'own'); return s.recv(10)
    print(at, tried(own))
";
        let outcome = python(granted(), &format!("{script}{STILL}"));
        let said = said(&outcome);
        assert!(said.starts_with("127.0.0.1 b'own'\n9.9.0.2 "), "{said}");
        assert!(said.ends_with(AS_BEFORE), "{said}");
        assert_eq!(sink.strangers(), 0, "{said}");
    });
}

/// The sockets of the broker and the processes of the launching program are not to be had.
#[test]
fn row_094_nothing_of_the_broker_is_in_the_sandbox() {
    on_stage("row_094_nothing_of_the_broker_is_in_the_sandbox", || {
        let _server = echo("9.9.0.1:8080");
        let script = "
seen = 0
for pid in (p for p in os.listdir('/proc') if p.isdigit()):
    try: numbers = os.listdir('/proc/%s/fd' % pid)
    except OSError: continue
    seen += 1
    for number in numbers:
        to = str(tried(os.readlink, '/proc/%s/fd/%s' % (pid, number)))
        if to.startswith('socket:'): print(pid, number, to)
print(seen > 0)
s = dial('api.weather.test', 8080)
print(tried(os.readlink, '/proc/self/fd/%d' % s.fileno()).startswith('socket:'))
";
        let outcome = python(granted(), script);
        assert_eq!(said(&outcome), "True\nTrue\n");
        let outcome = python(granted(), STILL);
        assert_eq!(said(&outcome), AS_BEFORE);
    });
}
