//! The rows of docs/behaviours.md that are about what a client reaches.

use std::net::TcpListener;

use skillsandbox_enforcer::egress::{AttemptVerdict, NetworkRule, Protocol, RefusalReason, Transport};

use crate::missing;
use crate::run::{NAME, Run, has};
use crate::servers::Server;
use crate::tls::Tls;

#[test]
fn row_091_a_declared_port_of_a_declared_domain_works_and_no_other_port_does() {
    if !has(["curl"]) {
        return;
    }
    let (server, sink) = (Server::http(), Server::http());
    // The name means a server on the other port too, so that only the grant stands between them.
    let run = || Run::new().served(NAME, 80, Protocol::Tcp, &server).pin(NAME, 8080, &sink);
    for how in ["-sS4", "-sS6"] {
        let seen = run().go("curl", &[how, "http://api.weather.test/"]);
        seen.prints("hello from api.weather.test\n").allowed(NAME, 80);
        let seen = run().go("curl", &[how, "http://api.weather.test:8080/"]);
        seen.fails().refused(NAME, 8080, &RefusalReason::NotGranted);
        // "Failed to connect to host."
        assert_eq!(seen.outcome.status, skillsandbox_enforcer::CommandStatus::Exited(7), "{}", seen.told());
    }
    assert_eq!(server.request_lines().len(), 2);
    sink.saw_nothing();

    // A port that another name was granted is open to that name only.
    let both = run().served("other.test", 8080, Protocol::Tcp, &server);
    both.go("curl", &["-sS", "http://api.weather.test:8080/"]).fails().refused(
        NAME,
        8080,
        &RefusalReason::NotGranted,
    );
    sink.saw_nothing();

    // The control: granted, it works.
    let rule = NetworkRule::domain(NAME).unwrap().ports([80, 8080]);
    let seen = run().grant(rule).go("curl", &["-sS", "http://api.weather.test:8080/"]);
    seen.prints("hello from api.weather.test:8080\n");
    assert_eq!(sink.request_lines(), ["GET / HTTP/1.1"]);
}

/// A client: its program, and arguments in which `HOST` and `PORT` stand for whom to fetch from.
const CLIENTS: &[(&str, &[&str])] = &[
    ("curl", &["-sS", "http://HOST:PORT/"]),
    ("wget", &["-qO-", "--tries=1", "http://HOST:PORT/"]),
    (
        "python3",
        &["-c", "import urllib.request as r; print(r.urlopen('http://HOST:PORT/').read().decode(), end='')"],
    ),
    (
        "python3",
        &[
            "-c",
            "import http.client; c = http.client.HTTPConnection('HOST', PORT); c.request('GET', '/')\n\
                 print(c.getresponse().read().decode(), end='')",
        ],
    ),
    (
        "python3",
        &[
            "-c",
            "import socket\ns = socket.socket(); s.connect(('HOST', PORT))\n\
                 s.sendall(b'GET / HTTP/1.0\\r\\nHost: HOST:PORT\\r\\n\\r\\n')\nf = s.makefile()\n\
                 while f.readline().strip(): pass\nprint(f.readline(), end='')",
        ],
    ),
    (
        "node",
        &[
            "-e",
            "fetch('http://HOST:PORT/').then((r) => r.text()).then((text) => process.stdout.write(text))",
        ],
    ),
    ("node", &["-e", "require('node:http').get('http://HOST:PORT/', (r) => r.pipe(process.stdout))"]),
    (
        "perl",
        &[
            "-e",
            "use HTTP::Tiny; my $r = HTTP::Tiny->new->get('http://HOST:PORT/'); print $r->{content}; exit !$r->{success}",
        ],
    ),
    (
        "perl",
        &[
            "-e",
            "use IO::Socket::INET; my $s = IO::Socket::INET->new('HOST:PORT') or die $!; \
                 print $s \"GET / HTTP/1.0\\r\\nHost: HOST:PORT\\r\\n\\r\\n\"; $s->flush; \
                 while (<$s> =~ /\\S/) {} print scalar <$s>;",
        ],
    ),
    (
        "bash",
        &[
            "-c",
            "exec 3<>/dev/tcp/HOST/PORT || exit 1; printf 'GET / HTTP/1.0\\r\\nHost: HOST:PORT\\r\\n\\r\\n' >&3; \
                 for _ in 1 2 3 4; do read -r line <&3; done; echo \"$line\"",
        ],
    ),
];

#[test]
fn row_092_it_holds_for_any_http_library_curl_and_raw_sockets() {
    // Two of them at least; others are told of as they are missed.
    if !has(["curl", "python3"]) {
        return;
    }
    for (program, arguments) in CLIENTS {
        if !has([*program]) {
            continue;
        }
        let (server, sink) = (Server::http(), Server::http());
        let address = sink.address().ip().to_string();
        let fetch = |run: Run, host: &str, port: &str| {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| argument.replace("HOST", host).replace("PORT", port))
                .collect();
            run.go(program, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let run = || {
            let run = Run::new().served(NAME, 8080, Protocol::Tcp, &server);
            run.pin("webhook.test", 8080, &sink).pin(NAME, 8081, &sink)
        };
        fetch(run(), NAME, "8080").prints("hello from api.weather.test:8080\n");
        assert_eq!(server.requests().len(), 1);

        // By name, by another port, by the sink's own address, by one that is granted to nobody.
        fetch(run(), "webhook.test", "8080").fails().unknown("webhook.test");
        fetch(run(), NAME, "8081").fails().refused(NAME, 8081, &RefusalReason::NotGranted);
        fetch(run(), &address, &sink.port()).fails();
        let seen = fetch(run(), "198.51.100.7", "8080");
        seen.fails().refused_at("198.51.100.7:8080".parse().unwrap(), Transport::Tcp);
        let seen = fetch(run(), "127.0.0.1", "8080");
        seen.fails().refused_at("127.0.0.1:8080".parse().unwrap(), Transport::Tcp);
        sink.saw_nothing();

        // The control: the same client, where that is granted.
        let seen = fetch(run().served("webhook.test", 8080, Protocol::Tcp, &sink), "webhook.test", "8080");
        seen.prints("hello from webhook.test:8080\n");
        assert_eq!(sink.requests().len(), 1);
    }
}

#[test]
fn row_097_wildcards_grant_what_lies_below_and_nothing_else() {
    if !has(["curl"]) {
        return;
    }
    let (server, sink) = (Server::http(), Server::http());
    let fetch = |rule: NetworkRule, name: &str, to: &Server| {
        Run::new().grant(rule.ports([80])).pin(name, 80, to).go("curl", &["-sS", &format!("http://{name}/")])
    };
    let below = || NetworkRule::domain("*.weather.test").unwrap();
    for name in ["api.weather.test", "eu.api.weather.test", "www.weather.test"] {
        let seen = fetch(below(), name, &server);
        seen.prints(&format!("hello from {name}\n"));
        assert_eq!(
            seen.allowed(name, 80).verdict,
            AttemptVerdict::Allowed("*.weather.test port 80 tcp".into())
        );
    }
    assert_eq!(server.requests().len(), 3);
    for name in ["weather.test", "evilweather.test", "api.weather.test.evil.test", "evil.test", "test"] {
        fetch(below(), name, &sink).fails().unknown(name);
    }
    sink.saw_nothing();
    for name in ["weather.test", "evilweather.test", "api.weather.test.evil.test", "evil.test"] {
        fetch(NetworkRule::domain(name).unwrap(), name, &sink).prints(&format!("hello from {name}\n"));
    }
    assert_eq!(sink.requests().len(), 4, "the control");
}

#[test]
fn row_097_ranges_of_addresses_are_granted_with_their_ports() {
    if !has(["curl"]) {
        return;
    }
    // Loopback has room for two networks.
    let (server, other) = (Server::http_at([127, 97, 0, 7]), Server::http_at([127, 98, 0, 7]));
    let port = server.address().port();
    let beside = Server::http_at([127, 97, 0, 7]);
    let range =
        |ports: &[u16]| NetworkRule::cidr([127, 97, 0, 0].into(), 16).unwrap().ports(ports.iter().copied());
    let fetch = |rule: NetworkRule, to: &Server| {
        Run::new().grant(rule).go("curl", &["-sS", &format!("http://{}/", to.address())])
    };
    let seen = fetch(range(&[port]), &server);
    seen.prints(&format!("hello from 127.97.0.7:{port}\n"));
    let attempt = seen.reached().next().unwrap();
    assert_eq!(
        attempt.verdict,
        AttemptVerdict::Allowed(format!("127.97.0.0/16 port {port} tcp")),
        "{}",
        seen.told()
    );
    assert_eq!((attempt.dialled, &attempt.name), (Some(server.address()), &None));
    assert_eq!(server.requests().len(), 1);

    // Another port of the same address; another network with the port; a range that means the Internet; a name.
    fetch(range(&[port]), &beside).fails();
    let seen = fetch(range(&[port, other.address().port()]), &other);
    seen.fails().refused_at(other.address(), Transport::Tcp);
    let all = NetworkRule::cidr([0, 0, 0, 0].into(), 0).unwrap().ports([other.address().port()]);
    fetch(all, &other).fails().refused_at(other.address(), Transport::Tcp);
    let name = NetworkRule::domain(NAME).unwrap().ports([other.address().port()]);
    fetch(name, &other).fails().refused_at(other.address(), Transport::Tcp);
    beside.saw_nothing();
    other.saw_nothing();

    let one = NetworkRule::cidr([127, 98, 0, 7].into(), 32).unwrap().ports([other.address().port()]);
    fetch(one, &other).prints(&format!("hello from {}\n", other.address()));
    assert_eq!(other.requests().len(), 1, "the control");
}

#[test]
fn row_097_ranges_of_ipv6_addresses_are_granted() {
    let Some(server) = Server::http_v6() else {
        missing::skip(&["IPv6"]);
        return;
    };
    if !has(["curl"]) {
        return;
    }
    let port = server.address().port();
    let url = format!("http://[::1]:{port}/");
    let fetch = |rule: NetworkRule| Run::new().grant(rule.ports([port])).go("curl", &["-sSg", &url]);
    let nowhere = NetworkRule::cidr("2001:db8::".parse().unwrap(), 32).unwrap();
    fetch(nowhere).fails().refused_at(server.address(), Transport::Tcp);
    let all = NetworkRule::cidr("::".parse().unwrap(), 0).unwrap();
    fetch(all).fails().refused_at(server.address(), Transport::Tcp);
    server.saw_nothing();
    let one = NetworkRule::cidr("::1".parse().unwrap(), 128).unwrap();
    fetch(one).prints(&format!("hello from [::1]:{port}\n"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn row_097_https_only_means_tls_for_that_server() {
    if !has(["curl"]) {
        return;
    }
    let Some(server) = Tls::http1() else { return };
    let fetch = |protocol: Protocol, arguments: &[&str]| {
        let run =
            Run::new().served(NAME, 443, protocol, &server.front).file("cert.pem", &server.certificate());
        run.go("curl", &[&["-sS", "--cacert", "cert.pem"], arguments].concat())
    };
    let plain = fetch(Protocol::Https, &["http://api.weather.test:443/"]);
    plain.fails().refused(NAME, 443, &RefusalReason::NotTls);
    let other = ["--connect-to", "evil.test:443:api.weather.test:443", "https://evil.test/"];
    let seen = fetch(Protocol::Https, &other);
    seen.fails().refused(NAME, 443, &RefusalReason::OtherServerName("evil.test".into()));
    let tls = fetch(Protocol::Http, &["https://api.weather.test/"]);
    tls.fails().refused(NAME, 443, &RefusalReason::NotHttp);
    server.front.saw_nothing();
    let seen = fetch(Protocol::Https, &["https://api.weather.test/"]);
    seen.prints("hello api.weather.test from api.weather.test\n").allowed(NAME, 443);
    assert_eq!(server.front.connections(), 1);
}

#[test]
fn row_099_without_egress_there_is_no_network_at_all() {
    if !has(["python3"]) {
        return;
    }
    let sink = Server::sink();
    let port = sink.port();
    let look = |run: Run| run.file("network.py", include_str!("scripts/network.py"));
    let seen =
        look(Run::new()).go("python3", &["network.py", "127.0.0.1", &port, "198.51.100.7", "2001:db8::7"]);
    seen.prints(
        "interfaces: lo\n\
         routes beyond loopback: none\n\
         listening: none\n\
         connect 127.0.0.1: ECONNREFUSED\n\
         send 127.0.0.1: sent\n\
         connect 198.51.100.7: ENETUNREACH\n\
         send 198.51.100.7: ENETUNREACH\n\
         connect 2001:db8::7: ENETUNREACH\n\
         send 2001:db8::7: ENETUNREACH\n\
         look up api.weather.test: no\n\
         look up localhost: yes\n",
    );
    sink.saw_nothing();
    // What was tried is told all the same.
    for address in ["198.51.100.7", "2001:db8::7"] {
        let to = (address.parse::<std::net::IpAddr>().unwrap(), sink.address().port()).into();
        seen.refused_at(to, Transport::Tcp);
        seen.refused_at(to, Transport::Udp);
    }
    let allowed = |verdict: &AttemptVerdict| matches!(verdict, AttemptVerdict::Allowed(_));
    assert!(!seen.outcome.network.attempts.iter().any(|one| allowed(&one.verdict)), "{}", seen.told());

    // The controls: outside, the sink is reached; and where something is granted, the same look sees what is there then.
    let run = look(Run::new());
    let outside = run.outside("python3", &["network.py", "127.0.0.1", &port]);
    assert!(outside.contains("connect 127.0.0.1: connected\n"), "{outside}");
    assert_ne!(sink.connections(), 0);
    let server = Server::http();
    let granted = look(Run::new().served(NAME, 80, Protocol::Http, &server)).go("python3", &["network.py"]);
    let printed = granted.stdout();
    // 6 and 17 are the raw sockets that see what nobody serves, by their protocols.
    for line in ["listening: 6 17 53 80\n", "routes beyond loopback: ", "look up api.weather.test: yes\n"] {
        assert!(printed.contains(line), "{line}{}", granted.told());
    }
    assert!(!printed.contains("beyond loopback: none"), "{}", granted.told());
}

/// Every client there is, at once: none finds anything.
#[test]
fn row_099_without_egress_no_client_reaches_anything() {
    if !has(["curl", "python3"]) {
        return;
    }
    let sink = Server::sink();
    for (program, arguments) in CLIENTS {
        if !has([*program]) {
            continue;
        }
        for (host, port) in
            [("127.0.0.1", sink.port()), ("api.weather.test", "80".into()), ("198.51.100.7", "80".into())]
        {
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| argument.replace("HOST", host).replace("PORT", &port))
                .collect();
            // Pinned, and so it would be known where it is; but not granted.
            let run = Run::new().pin(NAME, 80, &sink);
            run.go(program, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).fails();
        }
    }
    sink.saw_nothing();
    let control = Run::new().outside("curl", &["-sS", &format!("http://{}/", sink.address())]);
    assert_eq!((control.as_str(), sink.connections()), ("sunk\n", 1));
}

/// A socket that was made before belongs to the host's network: none is handed on.
#[test]
fn row_099_no_socket_of_the_launching_program_is_inherited() {
    if !has(["sh", "ls"]) {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let _own = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let seen = Run::new().go("sh", &["-c", "ls -l /proc/self/fd"]);
    assert!(seen.outcome.success() && !seen.stdout().contains("socket:"), "{}", seen.told());
}
