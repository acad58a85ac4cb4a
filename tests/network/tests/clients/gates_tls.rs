//! What a rule for TLS lets through, end to end, and what of TLS a rule for anything does.

use std::sync::OnceLock;

use skillsandbox_enforcer::CommandStatus;
use skillsandbox_enforcer::egress::{Protocol, RefusalReason};

use crate::missing;
use crate::run::{NAME, Run, has};
use crate::servers::Server;
use crate::tls::Tls;

fn other_name() -> RefusalReason {
    RefusalReason::OtherServerName("evil.test".to_owned())
}

/// A run in which the name means the server, with the beginnings of TLS for it and for another in files.
fn run(server: &Server, protocol: Protocol) -> Run {
    let run = Run::new().served(NAME, 443, protocol, server).file("raw.py", include_str!("scripts/raw.py"));
    for (name, bytes) in beginnings() {
        std::fs::write(run.path(name), bytes).unwrap();
    }
    run
}

/// Made once: `evil` is for another server, and all others are for the one that is granted.
fn beginnings() -> &'static [(String, Vec<u8>)] {
    static MADE: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    MADE.get_or_init(|| {
        let run = Run::new().file("hello.py", include_str!("scripts/hello.py"));
        assert_eq!(run.outside("python3", &["hello.py", "evil.test"]), "");
        std::fs::rename(run.path("hello"), run.path("evil")).unwrap();
        assert_eq!(run.outside("python3", &["hello.py", NAME]), "");
        let files = std::fs::read_dir(run.path("")).unwrap().map(Result::unwrap);
        files
            .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
            .collect()
    })
}

/// Whether what makes those files is there.
fn has_python_and<'a>(programs: impl IntoIterator<Item = &'a str>) -> bool {
    let missing = missing::outside(["python3"]);
    (missing.is_empty() || missing::skip(&missing)) && has(programs)
}

#[track_caller]
fn is_refused(program: &str, arguments: &[&str], reason: &RefusalReason) {
    let sink = Server::sink();
    let seen = run(&sink, Protocol::Https).go(program, arguments);
    if program == "curl" {
        // A failure to receive, to send, or of a handshake.
        assert!(matches!(seen.outcome.status, CommandStatus::Exited(56 | 55 | 35)), "{}", seen.told());
    }
    seen.refused(NAME, 443, reason);
    sink.saw_nothing();
}

/// The same client, where the name means a sink by way of its own: what it sends can be seen.
#[track_caller]
fn comes_outside(program: &str, arguments: &[&str]) {
    let sink = Server::sink();
    let port = sink.port();
    let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("PORT", &port)).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let said = run(&sink, Protocol::Https).outside(program, &arguments);
    assert_ne!(sink.bytes(), b"", "the control, outside: {said}");
}

#[test]
fn curl_for_another_server() {
    if !has_python_and(["curl"]) {
        return;
    }
    let common = ["-sSk", "--max-time", "100"];
    let inside =
        |more: &[&str], reason: &RefusalReason| is_refused("curl", &[&common, more].concat(), reason);
    inside(&["--connect-to", "evil.test:443:api.weather.test:443", "https://evil.test/"], &other_name());
    inside(&["--resolve", "evil.test:443:198.18.0.1", "https://evil.test/"], &other_name());
    inside(&["--resolve", "evil.test:443:[fd53:6b69:6c6c::1]", "https://evil.test/"], &other_name());
    // To an address, no server name is sent.
    inside(&["https://198.18.0.1/"], &RefusalReason::NoServerName);
    inside(&["http://api.weather.test:443/"], &RefusalReason::NotTls);
    inside(&["--http2-prior-knowledge", "http://api.weather.test:443/"], &RefusalReason::NotTls);
    for url in ["https://evil.test/", "http://evil.test:443/"] {
        comes_outside("curl", &[&common[..], &["--connect-to", "::127.0.0.1:PORT", url]].concat());
    }
}

#[test]
fn tls_without_a_server_name() {
    if !has_python_and(["openssl", "python3"]) {
        return;
    }
    let python = "import socket, ssl, sys\ncontext = ssl.create_default_context()\ncontext.check_hostname = False\n\
                  context.verify_mode = ssl.CERT_NONE\n\
                  context.wrap_socket(socket.create_connection((sys.argv[1], int(sys.argv[2]))))\n";
    is_refused("python3", &["-c", python, NAME, "443"], &RefusalReason::NoServerName);
    comes_outside("python3", &["-c", python, "127.0.0.1", "PORT"]);
    is_refused(
        "openssl",
        &["s_client", "-noservername", "-connect", "api.weather.test:443"],
        &RefusalReason::NoServerName,
    );
    comes_outside("openssl", &["s_client", "-noservername", "-connect", "127.0.0.1:PORT"]);
    let other = ["s_client", "-servername", "evil.test", "-connect"];
    is_refused("openssl", &[&other[..], &["api.weather.test:443"]].concat(), &other_name());
}

#[test]
fn beginnings_that_hide_a_name() {
    if !has_python_and(["python3"]) {
        return;
    }
    for (file, reason) in [
        ("evil", other_name()),
        ("ech", RefusalReason::HiddenServerName),
        ("esni", RefusalReason::HiddenServerName),
        ("second-name", RefusalReason::BadHello),
        ("second-name-first", RefusalReason::BadHello),
        ("short", RefusalReason::BadHello),
        ("nonsense", RefusalReason::NotTls),
        ("old", RefusalReason::NotTls),
    ] {
        let sink = Server::sink();
        let seen = run(&sink, Protocol::Https).go("python3", &["raw.py", NAME, "443", file]);
        seen.prints("reset\n").refused(NAME, 443, &reason);
        sink.saw_nothing();
        comes_outside("python3", &["raw.py", "127.0.0.1", "PORT", file]);
    }
    // Not complete: nothing is said to anybody.
    let sink = Server::sink();
    let seen = run(&sink, Protocol::Https).go("python3", &["raw.py", NAME, "443", "half", "end"]);
    assert_ne!(seen.stdout(), "answered\n", "{}", seen.told());
    sink.saw_nothing();
    comes_outside("python3", &["raw.py", "127.0.0.1", "PORT", "half", "end"]);
}

/// In many records, the right name is as good as in one: the control of the cases above is a server that answers.
#[test]
fn beginnings_in_pieces_pass() {
    if !has_python_and(["python3"]) {
        return;
    }
    for file in ["hello", "pieces"] {
        let Some(server) = Tls::http1() else { return };
        let seen =
            run(&server.front, Protocol::Https).go("python3", &["raw.py", NAME, "443", file, "hear", "end"]);
        assert!(seen.stdout().starts_with("answered"), "{}", seen.told());
        assert_eq!(seen.allowed(NAME, 443).server_name.as_deref(), Some(NAME));
        assert_eq!(server.front.connections(), 1);
    }
}

/// A second beginning, as a server may ask for, is looked at like the first.
#[test]
fn a_second_beginning_for_another_server_is_cut_off() {
    if !has_python_and(["python3"]) {
        return;
    }
    let sink = Server::sink();
    let run = run(&sink, Protocol::Https);
    let first = std::fs::read(run.path("hello")).unwrap();
    let seen = run.go("python3", &["raw.py", NAME, "443", "hello", "evil"]);
    let attempt = seen.cut(NAME, 443, &other_name());
    assert_eq!(attempt.sent, first.len() as u64);
    assert_eq!(sink.bytes(), first, "{}", seen.told());
}

/// Where TCP is granted, whatever is TLS must still not be for another server.
#[test]
fn tcp_takes_no_tls_for_another_server() {
    if !has_python_and(["curl", "openssl", "sh", "python3"]) {
        return;
    }
    for arguments in [
        ["--connect-to", "evil.test:443:api.weather.test:443", "https://evil.test/"],
        ["--resolve", "evil.test:443:198.18.0.1", "https://evil.test/"],
    ] {
        let sink = Server::sink();
        let seen = run(&sink, Protocol::Tcp).go("curl", &[&["-sSk"], &arguments[..]].concat());
        seen.fails();
        let tried: Vec<String> = seen.reached().map(ToString::to_string).collect();
        assert!(tried.iter().all(|told| told.contains("TLS for another server, evil.test")), "{tried:?}");
        // The connection is made at once, since the server may be the one to speak; nothing of the client's comes.
        assert_eq!(sink.bytes(), b"", "{}", seen.told());
    }
    let sink = Server::sink();
    let seen = run(&sink, Protocol::Tcp).go("python3", &["raw.py", NAME, "443", "ech"]);
    assert_eq!(sink.bytes(), b"", "{}", seen.told());
    seen.prints("reset\n");
    let Some(server) = Tls::http1() else { return };
    let fetch = |more: &str| {
        let text = format!(
            "printf 'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client \
                            -quiet {more} -connect api.weather.test:443 2> /dev/null | tail -n 1"
        );
        run(&server.front, Protocol::Tcp).go("sh", &["-c", &text])
    };
    fetch("-servername api.weather.test").prints("hello api.weather.test from api.weather.test\n");
    // TLS that names nobody does not name another.
    fetch("-noservername").prints("hello None from api.weather.test\n");
}

/// Whoever speaks first, and whatever it is.
#[test]
fn tcp_takes_any_other_protocol() {
    if !has(["python3", "bash"]) {
        return;
    }
    let text = "import socket\ns = socket.create_connection(('api.weather.test', 25))\nf = s.makefile('rb')\n\
                print(f.readline())\ns.sendall(b'HELO me\\r\\n')\nprint(f.readline())\ns.sendall(bytes(range(256)) + b'\\n')\n\
                print(len(f.readline()) + len(f.readline()))\ns.shutdown(socket.SHUT_WR)\nprint(f.read())\n";
    let server = Server::greeting();
    let grant = |protocol| Run::new().served(NAME, 25, protocol, &server);
    let seen = grant(Protocol::Tcp).go("python3", &["-c", text]);
    seen.prints("b'220 ready\\r\\n'\nb'HELO me\\r\\n'\n257\nb''\n");
    let attempt = seen.allowed(NAME, 25);
    assert_eq!((attempt.sent, attempt.received), (266, 277), "{}", seen.told());
    assert_eq!(server.bytes().len(), 266);
    // Nobody is greeted where something else was granted.
    let before = server.connections();
    for protocol in [Protocol::Https, Protocol::Http] {
        let text = "import socket\ns = socket.create_connection(('api.weather.test', 25))\ns.sendall(b'HELO me\\r\\n\\r\\n')\n\
                    try:\n    print(s.recv(100))\nexcept ConnectionResetError:\n    print('reset')\n";
        let seen = grant(protocol).go("python3", &["-c", text]);
        let reason = if protocol == Protocol::Http { RefusalReason::NotHttp } else { RefusalReason::NotTls };
        seen.prints("reset\n").refused(NAME, 25, &reason);
    }
    assert_eq!(server.connections(), before);
}
