//! Sockets, used in every way that they can be: a way around `connect` is no way out.

use skillsandbox_enforcer::egress::{AttemptVerdict, Protocol};

use crate::run::{NAME, Run, has};
use crate::servers::Server;

/// Ways that may not be there: a kernel without them, or a filter that has them not, says so in these words.
const ABSENT: [&str; 5] = ["EPROTONOSUPPORT", "ENOPROTOOPT", "EPERM", "EOPNOTSUPP", "ENOTSUP"];

#[test]
fn every_way_to_connect() {
    if !has(["python3"]) {
        return;
    }
    for protocol in [Protocol::Tcp, Protocol::Http] {
        let server = Server::http();
        let run = Run::new()
            .served(NAME, 80, protocol, &server)
            .file("sockets.py", include_str!("scripts/sockets.py"));
        let seen = run.go("python3", &["sockets.py", "198.18.0.1", "198.51.100.7", "80"]);
        assert!(seen.outcome.success(), "{}", seen.told());
        let printed = seen.stdout();
        let mut answered = 0;
        for line in printed.lines() {
            let (way, result) = line.rsplit_once(' ').unwrap();
            match (way.ends_with("granted"), result) {
                (true, "answered") => answered += 1,
                (true, other) => assert!(ABSENT.contains(&other), "{line}\n{}", seen.told()),
                (false, other) => {
                    assert!(!["answered", "nothing"].contains(&other), "{line}\n{}", seen.told());
                }
            }
        }
        assert_eq!(printed.lines().count(), 20, "{}", seen.told());
        // The first of them work everywhere.
        for way in ["plain", "mapped", "waiting", "from_elsewhere", "twice"] {
            assert!(printed.contains(&format!("{way} granted answered\n")), "{}", seen.told());
        }
        assert_eq!(server.requests().len(), answered, "{}", seen.told());
        let others: Vec<_> = seen.reached().filter(|one| one.name.is_none()).collect();
        assert!(!others.is_empty(), "{}", seen.told());
        for attempt in others {
            assert!(
                matches!(attempt.verdict, AttemptVerdict::Refused(_)) && attempt.dialled.is_none(),
                "{attempt}"
            );
        }
    }
}

/// A program that asks for another protocol in the way that HTTP has for that, and gets it.
#[test]
fn a_web_socket_opens() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::upgrading();
    let text = "import socket\ns = socket.create_connection(('api.weather.test', 80))\n\
                s.sendall(b'GET /chat HTTP/1.1\\r\\nHost: api.weather.test\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n')\nf = s.makefile('rb')\n\
                print(f.readline().decode().strip())\nwhile f.readline().strip(): pass\ns.sendall(bytes([0x81, 0x80, 1, 2, 3, 4]))\n\
                print(f.read(6))\n";
    let seen = Run::new().served(NAME, 80, Protocol::Http, &server).go("python3", &["-c", text]);
    seen.prints("HTTP/1.1 101 Switching Protocols\nb'\\x81\\x80\\x01\\x02\\x03\\x04'\n").allowed(NAME, 80);
}

/// A program's own servers, on ports that nobody was granted, are its own affair, also where something is granted.
#[test]
fn a_program_talks_to_itself_as_ever() {
    if !has(["python3"]) {
        return;
    }
    let text = "import socket, threading\n\
                for family, bound, addresses in ((socket.AF_INET, '127.0.0.1', ['127.0.0.1', 'localhost']), \
                (socket.AF_INET6, '::1', ['::1']), (socket.AF_INET, '0.0.0.0', ['127.0.0.1', '127.7.7.7', '0.0.0.0']), \
                (socket.AF_INET6, '::', ['::1', '127.0.0.1'])):\n    \
                server = socket.create_server((bound, 0), family=family, dualstack_ipv6=bound == '::')\n    \
                port = server.getsockname()[1]\n    \
                for address in addresses:\n        \
                client = socket.create_connection((address, port), 60)\n        \
                peer, _ = server.accept()\n        client.sendall(b'hello')\n        print(address, peer.recv(5).decode())\n\
                a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in 'ab')\nb.bind(('127.0.0.1', 0))\n\
                a.sendto(b'datagram', b.getsockname())\nprint(b.recv(100).decode())\n\
                one, two = socket.socketpair()\none.sendall(b'pair')\nprint(two.recv(10).decode())\n\
                named = socket.socket(socket.AF_UNIX)\nnamed.bind('/tmp/own')\nnamed.listen()\n\
                other = socket.socket(socket.AF_UNIX)\nother.connect('/tmp/own')\nother.sendall(b'unix')\n\
                print(named.accept()[0].recv(10).decode())\n";
    let server = Server::http();
    let seen = Run::new().served(NAME, 80, Protocol::Http, &server).go("python3", &["-c", text]);
    seen.prints(
        "127.0.0.1 hello\nlocalhost hello\n::1 hello\n127.0.0.1 hello\n127.7.7.7 hello\n0.0.0.0 hello\n::1 hello\n\
         127.0.0.1 hello\ndatagram\npair\nunix\n",
    );
    assert!(seen.outcome.network.attempts.is_empty(), "{}", seen.told());
    server.saw_nothing();
}
