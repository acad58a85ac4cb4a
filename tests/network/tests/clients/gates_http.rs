//! What a rule for HTTP lets through, end to end: a sink outside says what came.

use skillsandbox_enforcer::CommandStatus;
use skillsandbox_enforcer::egress::{AttemptEnd, Protocol, RefusalReason};

use crate::run::{NAME, Run, has};
use crate::servers::Server;

/// A run in which the name means the server by this protocol, with what is to be sent in the file `data`.
fn run(server: &Server, protocol: Protocol, data: &str) -> Run {
    let run = Run::new().served(NAME, 80, protocol, server);
    run.file("raw.py", include_str!("scripts/raw.py")).file("data", data)
}

fn other_host() -> RefusalReason {
    RefusalReason::OtherHost("evil.test".to_owned())
}

/// curl, inside as it is given and outside with everything led to the sink.
#[track_caller]
fn curl_is_refused(arguments: &[&str], reason: &RefusalReason) {
    let sink = Server::sink();
    let all = [&["-sSk", "--noproxy", "", "--max-time", "100"][..], arguments].concat();
    let seen = run(&sink, Protocol::Http, "").go("curl", &all);
    // A failure to receive, to send, or of a handshake.
    assert!(matches!(seen.outcome.status, CommandStatus::Exited(56 | 55 | 35)), "{}", seen.told());
    seen.refused(NAME, 80, reason);
    sink.saw_nothing();

    let seen = run(&sink, Protocol::Tcp, "").go("curl", &all);
    assert_ne!(sink.connections(), 0, "the control, where anything may be spoken: {}", seen.told());
    seen.allowed(NAME, 80);
    assert_ne!(sink.bytes(), b"", "the control: {}", seen.told());
}

#[test]
fn requests_of_curl_for_another_host() {
    if !has(["curl"]) {
        return;
    }
    let url = "http://api.weather.test/";
    curl_is_refused(&["-H", "Host: evil.test", url], &other_host());
    curl_is_refused(&["-H", "Host: evil.test:80", url], &RefusalReason::OtherHost("evil.test:80".into()));
    curl_is_refused(
        &["--connect-to", "evil.test:80:api.weather.test:80", "http://evil.test/"],
        &other_host(),
    );
    curl_is_refused(&["-x", "http://api.weather.test:80", "http://evil.test/"], &other_host());
    curl_is_refused(&["--request-target", "http://evil.test/", url], &other_host());
    curl_is_refused(
        &["-H", "Host: api.weather.test.evil.test", url],
        &RefusalReason::OtherHost("api.weather.test.evil.test".into()),
    );
    // By its address, which stands for the name: the host is the address then.
    curl_is_refused(&["http://198.18.0.1/"], &RefusalReason::OtherHost("198.18.0.1".into()));
    curl_is_refused(&["-H", "Host:", url], &RefusalReason::NoHost);
}

#[test]
fn other_protocols_of_curl() {
    if !has(["curl"]) {
        return;
    }
    let url = "http://api.weather.test/";
    curl_is_refused(&["--http2-prior-knowledge", url], &RefusalReason::Http2);
    curl_is_refused(&["--http2", url], &RefusalReason::Http2);
    curl_is_refused(
        &["-p", "-x", "http://api.weather.test:80", "http://evil.test/"],
        &RefusalReason::NotHttp,
    );
    curl_is_refused(&["https://api.weather.test:80/"], &RefusalReason::NotHttp);
}

/// Bytes, sent as they are: what the sandbox says, and that the sink got nothing; then the same without a sandbox.
#[test]
fn requests_that_can_be_read_in_two_ways() {
    if !has(["python3"]) {
        return;
    }
    let host = "Host: api.weather.test\r\n";
    let cases = [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), RefusalReason::NoHost),
        (format!("GET / HTTP/1.1\r\n{host}Host: evil.test\r\n\r\n"), RefusalReason::NoHost),
        (format!("GET / HTTP/1.1\r\n{host} evil.test\r\n\r\n"), RefusalReason::NotHttp),
        ("GET / HTTP/1.1\nHost: api.weather.test\n\n".to_owned(), RefusalReason::NotHttp),
        (format!("GET http://evil.test/ HTTP/1.1\r\n{host}\r\n"), other_host()),
        (format!("GET evil.test HTTP/1.1\r\n{host}\r\n"), RefusalReason::NotHttp),
        (
            format!(
                "POST / HTTP/1.1\r\n{host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
            ),
            RefusalReason::NotHttp,
        ),
        ("SSH-2.0-client\r\n\r\n".to_owned(), RefusalReason::NotHttp),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), RefusalReason::Http2),
    ];
    for (data, reason) in cases {
        let sink = Server::sink();
        let http = run(&sink, Protocol::Http, &data);
        let control = http.outside("python3", &["raw.py", "127.0.0.1", &sink.port(), "data"]);
        assert_eq!(
            (control.as_str(), sink.bytes()),
            ("answered\n", data.clone().into_bytes()),
            "the control"
        );
        let sink = Server::sink();
        let seen = run(&sink, Protocol::Http, &data).go("python3", &["raw.py", NAME, "80", "data"]);
        seen.prints("reset\n").refused(NAME, 80, &reason);
        sink.saw_nothing();
    }
}

/// The first request passes, and the second, for another host, does not: on its own, behind a body, and in the same breath.
#[test]
fn a_second_request_for_another_host_is_cut_off() {
    if !has(["python3"]) {
        return;
    }
    let host = "Host: api.weather.test\r\n";
    let evil = "GET /secret HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    for first in [
        format!("GET / HTTP/1.1\r\n{host}\r\n"),
        format!("POST / HTTP/1.1\r\n{host}Content-Length: 5\r\n\r\nhello"),
        format!("POST / HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    ] {
        let server = Server::http();
        let apart = run(&server, Protocol::Http, &first).file("evil", evil);
        let seen = apart.go("python3", &["raw.py", NAME, "80", "data", "hear", "evil"]);
        seen.prints("answered, then reset\n");
        let attempt = seen.cut(NAME, 80, &other_host());
        assert_eq!(attempt.sent, first.len() as u64, "{}", seen.told());
        assert_eq!(server.bytes(), first.as_bytes());

        let server = Server::http();
        let together = run(&server, Protocol::Http, &format!("{first}{evil}"));
        let seen = together.go("python3", &["raw.py", NAME, "80", "data"]);
        let attempt = seen.cut(NAME, 80, &other_host());
        assert_eq!(attempt.sent, first.len() as u64, "{}", seen.told());
        assert_eq!(server.bytes(), first.as_bytes());

        // The control: where anything may be spoken, both come.
        let server = Server::http();
        let open = run(&server, Protocol::Tcp, &format!("{first}{evil}"));
        open.go("python3", &["raw.py", NAME, "80", "data", "end"]).prints("answered\n");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_second_request_of_curl_for_another_host_is_cut_off() {
    if !has(["curl"]) {
        return;
    }
    let arguments = [
        "-sS",
        "http://api.weather.test/",
        "--next",
        "-sS",
        "-H",
        "Host: evil.test",
        "http://api.weather.test/",
    ];
    let server = Server::http();
    let seen = run(&server, Protocol::Http, "").go("curl", &arguments);
    seen.fails();
    assert_eq!(seen.stdout(), "hello from api.weather.test\n", "{}", seen.told());
    // curl tries a connection that was broken off once more, on a new one.
    let mut reasons: Vec<String> = seen.reached().map(|attempt| format!("{:?}", attempt.verdict)).collect();
    reasons.dedup();
    assert_eq!(
        reasons,
        ["Cut(OtherHost(\"evil.test\"))", "Refused(OtherHost(\"evil.test\"))"],
        "{}",
        seen.told()
    );
    let hosts: Vec<String> = server.requests().into_iter().map(|request| request.host).collect();
    assert_eq!(hosts, [NAME]);
    let server = Server::http();
    run(&server, Protocol::Tcp, "")
        .go("curl", &arguments)
        .prints("hello from api.weather.test\nhello from evil.test\n");
}

/// What is not complete is not passed on, and neither is a connection over which nothing is said: that one was made is a message too.
#[test]
fn what_says_not_yet_whom_it_wants_reaches_nobody() {
    if !has(["python3"]) {
        return;
    }
    for (protocol, data) in [
        (Protocol::Http, "GET /secret HTTP/1.1\r\nX-Secret: 1\r\n"),
        (Protocol::Http, "GET /secret"),
        (Protocol::Http, ""),
        (Protocol::Https, ""),
    ] {
        let sink = Server::sink();
        let seen = run(&sink, protocol, data).go("python3", &["raw.py", NAME, "80", "data", "end"]);
        assert!(["closed\n", "reset\n"].contains(&seen.stdout().as_str()), "{}", seen.told());
        sink.saw_nothing();
        if data.is_empty() {
            assert_eq!(seen.allowed(NAME, 80).end, Some(AttemptEnd::Closed), "{}", seen.told());
        }
    }
    let sink = Server::sink();
    let data = "GET /secret";
    run(&sink, Protocol::Tcp, data)
        .go("python3", &["raw.py", NAME, "80", "data", "end"])
        .prints("answered\n");
    assert_eq!(sink.bytes(), data.as_bytes(), "the control");
}

/// As it is by default, this client asks for HTTP/2 where there is no TLS; it has to be told not to, or granted TCP.
#[test]
fn java_asks_for_http2_by_default() {
    if !has(["java", "javac"]) {
        return;
    }
    let text = "import java.net.URI;\nimport java.net.http.*;\nclass Main { public static void main(String[] a) throws Exception { \
                System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(\"http://api.weather.test/\"))\
                .build(), HttpResponse.BodyHandlers.ofString()).body()); } }\n";
    let server = Server::http();
    let seen =
        run(&server, Protocol::Http, "").file("Main.java", text).go("java", &["-Xmx256m", "Main.java"]);
    seen.fails();
    let attempt = seen.refused(NAME, 80, &RefusalReason::Http2);
    assert!(attempt.to_string().contains("HTTP/2 without TLS"), "{attempt}");
    assert_eq!(RefusalReason::Http2.advice(), "grant the name with `protocol: tcp`");
    server.saw_nothing();
    let seen = run(&server, Protocol::Tcp, "").file("Main.java", text).go("java", &["-Xmx256m", "Main.java"]);
    seen.prints("hello from api.weather.test\n");
}
