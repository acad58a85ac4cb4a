//! Datagrams to a name that is granted for them.

use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;

use skillsandbox_enforcer::egress::{AttemptVerdict, NetworkRule, Protocol, RefusalReason, Transport};

use crate::run::{NAME, Run, has};
use crate::servers::DEADLINE;

/// Answers each datagram with what it said, and tells of it, until nothing has come for long.
fn echo(address: &str) -> Option<(std::net::SocketAddr, mpsc::Receiver<Vec<u8>>)> {
    let socket = UdpSocket::bind(address).ok()?;
    let at = socket.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut bytes = [0; 2048];
        while let Ok((count, from)) = socket.recv_from(&mut bytes) {
            let _ = socket.send_to(&bytes[..count], from);
            if tell.send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    Some((at, told))
}

/// By both families, with every call that sends.
#[test]
fn go_there_and_back() {
    if !has(["python3"]) {
        return;
    }
    let (at, told) = echo("127.0.0.1:0").unwrap();
    let rule = NetworkRule::domain(NAME).unwrap().ports([5000]).protocol(Protocol::Udp);
    let text = "import socket\nfor family in (socket.AF_INET, socket.AF_INET6):\n    \
                to = socket.getaddrinfo('api.weather.test', 5000, family, socket.SOCK_DGRAM)[0][4]\n    \
                s = socket.socket(family, socket.SOCK_DGRAM)\n    s.settimeout(60)\n    \
                s.sendto(b'one', to)\n    data, sender = s.recvfrom(100)\n    print(data, sender[:2] == to[:2])\n    \
                s.sendmsg([b't', b'wo'], [], 0, to)\n    print(s.recv(100))\n    \
                s.connect(to)\n    s.send(b'three')\n    print(s.recv(100))\n";
    let seen = Run::new().grant(rule).pin_to(NAME, 5000, at).go("python3", &["-c", text]);
    seen.prints(&"b'one' True\nb'two'\nb'three'\n".repeat(2));
    let came: Vec<Vec<u8>> = told.try_iter().collect();
    assert_eq!(came, [&b"one"[..], b"two", b"three", b"one", b"two", b"three"]);
    let attempt = seen.allowed(NAME, 5000);
    assert_eq!((attempt.sent, attempt.received), (11, 11), "{}", seen.told());
}

/// A port that is granted for connections takes no datagrams, and the other way round.
#[test]
fn are_not_connections() {
    if !has(["python3"]) {
        return;
    }
    let (at, told) = echo("127.0.0.1:0").unwrap();
    let grant = |protocol| {
        let rule = NetworkRule::domain(NAME).unwrap().ports([5000]).protocol(protocol);
        Run::new().grant(rule).pin_to(NAME, 5000, at)
    };
    let send = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                s.connect(socket.getaddrinfo('api.weather.test', 5000, socket.AF_INET)[0][4])\ns.send(b'data')\n\
                try:\n    s.recv(100)\nexcept ConnectionRefusedError:\n    print('refused')\n";
    let seen = grant(Protocol::Tcp).go("python3", &["-c", send]);
    seen.prints("refused\n");
    seen.refused(NAME, 5000, &RefusalReason::NotGranted);
    let dial = "import socket\ntry:\n    socket.create_connection(('api.weather.test', 5000))\n\
                except ConnectionRefusedError:\n    print('refused')\n";
    let seen = grant(Protocol::Udp).go("python3", &["-c", dial]);
    seen.prints("refused\n");
    seen.refused(NAME, 5000, &RefusalReason::NotGranted);
    // Nobody: not the name on another port, not an address.
    let other = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nfor to in (('198.51.100.1', 5000), \
                 ('api.weather.test', 5001)):\n    s.sendto(b'data', to)\nprint('sent')\n";
    let seen = grant(Protocol::Udp).go("python3", &["-c", other]);
    seen.prints("sent\n");
    seen.refused(NAME, 5001, &RefusalReason::NotGranted);
    seen.refused_at("198.51.100.1:5000".parse().unwrap(), Transport::Udp);
    assert!(
        seen.reached().all(|attempt| attempt.verdict == AttemptVerdict::Refused(RefusalReason::NotGranted)),
        "{}",
        seen.told()
    );
    assert_eq!(told.try_iter().count(), 0);
    // The control: the same datagram outside the sandbox comes.
    let port = at.port().to_string();
    let text = "import socket, sys\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'data', ('127.0.0.1', int(sys.argv[1])))\n";
    Run::new().outside("python3", &["-c", text, &port]);
    assert_eq!(told.recv_timeout(DEADLINE).unwrap(), b"data");
}
