//! HTTP without TLS, by whatever a skill may fetch with.

use skillsandbox_enforcer::egress::Protocol;

use crate::missing;
use crate::run::{NAME, Run, Seen, has};
use crate::servers::Server;

fn run(server: &Server) -> Run {
    Run::new().served(NAME, 80, Protocol::Http, server)
}

const HELLO: &str = "hello from api.weather.test\n";

/// It printed this, the server saw these requests for the name, and the record has what went to and fro.
#[track_caller]
fn worked(seen: &Seen, printed: &str, server: &Server, requests: &[&str]) {
    seen.prints(printed);
    let came = server.requests();
    let lines: Vec<&str> = came.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, requests, "{}", seen.told());
    assert!(came.iter().all(|request| request.host == NAME), "{came:?}");
    let attempt = seen.allowed(NAME, 80);
    assert_eq!(attempt.dialled, Some(server.address()));
    let sent: u64 = seen.reached().map(|attempt| attempt.sent).sum();
    assert_eq!(sent, server.bytes().len() as u64, "what the record counts is what came\n{}", seen.told());
    assert!(attempt.process.as_ref().is_some_and(|process| process.binary.is_some()), "{}", seen.told());
}

#[test]
fn curl() {
    if !has(["curl"]) {
        return;
    }
    for how in ["-sS", "-sS4", "-sS6", "-sS0"] {
        let server = Server::http();
        let seen = run(&server).go("curl", &[how, "http://api.weather.test/"]);
        let line = if how == "-sS0" { "GET / HTTP/1.0" } else { "GET / HTTP/1.1" };
        // A client of HTTP/1.0 waits for the end of the connection only where no length is said.
        worked(&seen, HELLO, &server, &[line]);
    }
}

#[test]
fn curl_to_a_server_with_ipv6_only() {
    let Some(server) = Server::http_v6() else {
        missing::skip(&["IPv6"]);
        return;
    };
    if has(["curl"]) {
        for how in ["-sS4", "-sS6"] {
            run(&server).go("curl", &[how, "http://api.weather.test/"]).prints(HELLO);
        }
        assert_eq!(server.request_lines().len(), 2);
    }
}

/// Two addresses, one connection.
#[test]
fn curl_keeps_a_connection_for_two_requests() {
    if !has(["curl"]) {
        return;
    }
    let server = Server::http();
    let arguments = ["-sS", "http://api.weather.test/", "http://api.weather.test/two"];
    let seen = run(&server).go("curl", &arguments);
    worked(
        &seen,
        "hello from api.weather.test\nnothing here\n",
        &server,
        &["GET / HTTP/1.1", "GET /two HTTP/1.1"],
    );
    assert_eq!(server.connections(), 1);
    assert_eq!(seen.reached().map(|attempt| attempt.count).sum::<u64>(), 1, "{}", seen.told());
}

/// Large enough for `Expect: 100-continue`, and for many reads.
#[test]
fn curl_uploads() {
    if !has(["curl"]) {
        return;
    }
    for how in [
        &["--data-binary", "@data"][..],
        &["-T", "data"],
        &["-T", "data", "-H", "Transfer-Encoding: chunked"],
    ] {
        let server = Server::http();
        let run = run(&server).file("data", &"x".repeat(3 << 20));
        let seen = run.go("curl", &[&["-sS"][..], how, &["http://api.weather.test/up"]].concat());
        seen.prints("3145728 bytes came\n");
        assert_eq!(server.requests()[0].body, 3 << 20, "{}", seen.told());
        assert!(seen.allowed(NAME, 80).sent > 3 << 20, "{}", seen.told());
    }
}

#[test]
fn curl_downloads_what_is_large() {
    if !has(["curl", "sha256sum"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..8_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(folder.path().join("large"), &bytes).unwrap();
    let server = Server::files(folder.path().to_owned());
    let script = "set -e; curl -sS -o got http://api.weather.test/large; wc -c < got; sha256sum < got";
    let run = run(&server);
    let outside = run.outside("sh", &["-c", &format!("sha256sum < {}/large", folder.path().display())]);
    let seen = run.go("sh", &["-c", script]);
    seen.prints(&format!("8388608\n{outside}"));
    assert!(seen.allowed(NAME, 80).received > 8 << 20);
}

#[test]
fn wget() {
    if !has(["wget"]) {
        return;
    }
    for how in ["-4", "-6", "--no-config"] {
        let server = Server::http();
        let seen = run(&server).go("wget", &[how, "-qO-", "http://api.weather.test/"]);
        worked(&seen, HELLO, &server, &["GET / HTTP/1.1"]);
    }
}

#[test]
fn python_urllib() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let text = "import urllib.request\nprint(urllib.request.urlopen('http://api.weather.test/').read().decode(), end='')\n";
    worked(&run(&server).go("python3", &["-c", text]), HELLO, &server, &["GET / HTTP/1.1"]);
}

#[test]
fn python_http_client_keeps_its_connection() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let text = "import http.client\nc = http.client.HTTPConnection('api.weather.test')\nfor i in range(3):\n    \
                c.request('GET', '/')\n    print(c.getresponse().read().decode(), end='')\n\
                c.request('POST', '/', iter([b'abc', b'de']), encode_chunked=True, headers={'Transfer-Encoding': 'chunked'})\n\
                print(c.getresponse().read().decode(), end='')\n";
    let seen = run(&server).go("python3", &["-c", text]);
    let lines = ["GET / HTTP/1.1", "GET / HTTP/1.1", "GET / HTTP/1.1", "POST / HTTP/1.1"];
    worked(&seen, &format!("{}5 bytes came\n", HELLO.repeat(3)), &server, &lines);
    assert_eq!(server.connections(), 1);
}

#[test]
fn python_asyncio() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let text = include_str!("scripts/streams.py");
    let seen = run(&server).file("streams.py", text).go("python3", &["streams.py", "80"]);
    // One by one, for both families, and as happy eyeballs has it.
    worked(&seen, &HELLO.repeat(4), &server, &["GET / HTTP/1.1"; 4]);
}

/// What `requests` is made of lies in pip, where that is installed.
#[test]
fn python_requests() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let text = "import importlib.util, sys\n\
                sys.exit(77) if importlib.util.find_spec('pip') is None else None\n\
                from pip._vendor import requests\nsession = requests.Session()\n\
                print(session.get('http://api.weather.test/').text, end='')\n\
                print(session.post('http://api.weather.test/', data={'a': 'b'}).text, end='')\n\
                try:\n    session.get('http://webhook.test/')\nexcept requests.ConnectionError as e:\n    print('no webhook')\n";
    let seen = run(&server).go("python3", &["-c", text]);
    if seen.outcome.status == skillsandbox_enforcer::CommandStatus::Exited(77) {
        missing::skip(&["pip"]);
        return;
    }
    let lines = ["GET / HTTP/1.1", "POST / HTTP/1.1"];
    worked(&seen, &format!("{HELLO}3 bytes came\nno webhook\n"), &server, &lines);
    seen.unknown("webhook.test");
    assert_eq!(server.connections(), 1);
}

#[test]
fn node_fetch_and_http() {
    if !has(["node"]) {
        return;
    }
    let server = Server::http();
    let seen = run(&server).file("fetch.js", include_str!("scripts/fetch.js")).go("node", &["fetch.js"]);
    let printed = format!(
        "fetch {HELLO}http {HELLO}http4 {HELLO}http6 {HELLO}fetch webhook ENOTFOUND\n\
                           http 81 ECONNREFUSED\n"
    );
    seen.prints(&printed);
    assert_eq!(server.request_lines(), ["GET / HTTP/1.1"; 4]);
    seen.unknown("webhook.test");
}

#[test]
fn perl_http_tiny() {
    if !has(["perl"]) {
        return;
    }
    let server = Server::http();
    let text = "use HTTP::Tiny; my $h = HTTP::Tiny->new; print $h->get('http://api.weather.test/')->{content}; \
                print $h->post_form('http://api.weather.test/', {a => 'b'})->{content};";
    let seen = run(&server).go("perl", &["-e", text]);
    worked(&seen, &format!("{HELLO}3 bytes came\n"), &server, &["GET / HTTP/1.1", "POST / HTTP/1.1"]);
}

#[test]
fn bash_by_itself() {
    if !has(["bash", "cat"]) {
        return;
    }
    let server = Server::http();
    let text = "exec 3<>/dev/tcp/api.weather.test/80; printf 'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\n\\r\\n' >&3; \
                for _ in 1 2 3 4; do read -r line <&3; done; echo \"$line\"";
    worked(&run(&server).go("bash", &["-c", text]), HELLO, &server, &["GET / HTTP/1.1"]);
}

#[test]
fn java_http_client() {
    if !has(["java", "javac"]) {
        return;
    }
    let server = Server::http();
    let run = run(&server).file("Fetch.java", include_str!("scripts/Fetch.java"));
    let seen = run.go("java", &["-Xmx256m", "Fetch.java"]);
    seen.prints(&format!("new {HELLO}old {HELLO}socket true\nwebhook java.net.ConnectException\n"));
    seen.allowed(NAME, 80);
    seen.unknown("webhook.test");
    assert_eq!(server.request_lines(), ["GET / HTTP/1.1"; 2]);
}

#[test]
fn go_net_http() {
    if !has(["go"]) {
        return;
    }
    let server = Server::http();
    let run = run(&server).file("fetch.go", include_str!("scripts/fetch.go"));
    let built = run.outside("go", &["build", "-o", "fetch", "fetch.go"]);
    assert!(run.path("fetch").is_file(), "{built}");
    let seen = run.go("./fetch", &[]);
    seen.prints(&format!("{HELLO}{HELLO}no webhook\n"));
    seen.allowed(NAME, 80);
    seen.unknown("webhook.test");
    assert_eq!(server.request_lines(), ["GET / HTTP/1.1"; 2]);
}
