//! Requests, right ones and those that two servers would read in two ways.

use super::{Client, HttpGate, MOST_HELD, NAME, RefusalReason, http, outcome, refused};

/// A head with these lines after the request line; the host is added.
fn get(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: {NAME}\r\n{lines}\r\n")
}

fn post(lines: &str, body: &str) -> String {
    format!("POST /x HTTP/1.1\r\nHost: {NAME}\r\n{lines}\r\n{body}")
}

fn chunked(body: &str) -> String {
    post("Transfer-Encoding: chunked\r\n", body)
}

/// The request line alone.
fn line(line: &str) -> String {
    format!("{line}\r\nHost: {NAME}\r\n\r\n")
}

fn hosts(lines: &str) -> String {
    format!("GET / HTTP/1.1\r\n{lines}\r\n")
}

/// What a smuggler wants to be read as a request.
const SMUGGLED: &str = "GET /secret HTTP/1.1\r\nHost: evil.test\r\n\r\n";

fn passes(cases: &[(&str, String)]) {
    for (what, request) in cases {
        // Twice: the second is found where the first ends.
        let events = [Client(request.repeat(2).into_bytes())];
        let outcome = outcome(http, &events);
        assert_eq!(refused(&outcome), None, "{what}");
        assert_eq!(outcome.passed.len(), 2 * request.len(), "{what}");
        assert!(!outcome.open, "{what}");
        // And then one for another host is refused.
        let events = [Client([request, SMUGGLED].concat().into_bytes())];
        let outcome = super::outcome(http, &events);
        assert_eq!(refused(&outcome), Some(&RefusalReason::OtherHost("evil.test".to_owned())), "{what}");
        assert_eq!(outcome.passed.len(), request.len(), "{what}");
    }
}

/// Refused before anything passes, and likewise after an honest request.
fn stops(reason: &RefusalReason, cases: &[(&str, String)]) {
    for (what, request) in cases {
        for before in
            [String::new(), get(""), post("Content-Length: 3\r\n", "abc"), chunked("3\r\nabc\r\n0\r\n\r\n")]
        {
            let events = [Client([before.as_str(), request].concat().into_bytes())];
            let outcome = outcome(http, &events);
            assert_eq!(refused(&outcome), Some(reason), "{what}");
            assert_eq!(outcome.passed.len(), before.len(), "{what}");
        }
    }
}

#[test]
fn honest_requests_pass() {
    passes(&[
        ("plain", get("")),
        ("with headers", get("Accept: */*\r\nUser-Agent: curl/8\r\nX-Empty:\r\nX-Tab: a\tb \r\n")),
        ("HTTP/1.0", format!("GET / HTTP/1.0\r\nHost: {NAME}\r\n\r\n")),
        ("a query", line("GET /a/b?c=%20&d=[]{}|^\"\\ HTTP/1.1")),
        ("two slashes", line("GET //evil.test/x HTTP/1.1")),
        ("capitals", hosts("HOST: API.Weather.Test\r\n")),
        ("without a space", hosts("Host:api.weather.test\r\n")),
        ("with the port", hosts("Host: api.weather.test:80\r\n")),
        ("all of the server", line("OPTIONS * HTTP/1.1")),
        ("absolute", line("GET http://api.weather.test/x HTTP/1.1")),
        ("absolute with a port", line("GET HTTP://API.weather.test:80 HTTP/1.1")),
        ("absolute with a query", line("GET http://api.weather.test?x=/ HTTP/1.1")),
        ("another method", line("M-SEARCH /x HTTP/1.1")),
        ("a length", post("Content-Length: 5\r\n", "hello")),
        ("a length of nothing", post("content-length: 0\r\n", "")),
        ("a body like a request", post(&format!("Content-Length: {}\r\n", SMUGGLED.len()), SMUGGLED)),
        ("no body of a GET", get("Content-Length: 0\r\n")),
        ("a body of a DELETE", line("DELETE /x HTTP/1.1\r\nContent-Length: 2") + "{}"),
        ("chunks", chunked("5\r\nhello\r\n1F\r\n0123456789012345678901234567890\r\n0\r\n\r\n")),
        ("a chunk with zeros", chunked("0005\r\nhello\r\n000\r\n\r\n")),
        ("a chunk with line ends", chunked("4\r\n\r\n\r\n\r\n0\r\n\r\n")),
        ("an extension", chunked("5;name=value;other\r\nhello\r\n0;last\r\n\r\n")),
        ("trailers", chunked("1\r\nx\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n")),
        ("expects", post("Expect: 100-continue\r\nContent-Length: 1\r\n", "x")),
        ("closing", get("Connection: keep-alive, close\r\n")),
        (
            "other places for a host",
            get("X-Forwarded-Host: evil.test\r\nForwarded: host=evil.test\r\nX-Host: evil.test\r\n"),
        ),
        ("another encoding of content", get("Content-Encoding: chunked\r\nTE: chunked\r\n")),
        ("a long header", get(&format!("X-Long: {}\r\n", "x".repeat(60_000)))),
    ]);
}

#[test]
fn the_host_is_the_one_that_is_meant() {
    let other =
        |host: &str, request: String| stops(&RefusalReason::OtherHost(host.to_owned()), &[(host, request)]);
    for host in [
        "evil.test",
        "api.weather.test.evil.test",
        "x.api.weather.test",
        "weather.test",
        "api.weather.tes",
        "api.weather.test.",
        "api.weather.test.:80",
        "api.weather.test:8080",
        "api.weather.test:080",
        "api.weather.test:+80",
        "api.weather.test:",
        "api.weather.test:80:80",
        "api.weather.test:80@evil.test",
        "evil.test@api.weather.test",
        "api.weather.test@evil.test",
        "api.weather.test, evil.test",
        "api.weather.test evil.test",
        "api.weather.test/",
        "api.weather.test#evil.test",
        "api.weather.test?evil.test",
        "http://api.weather.test",
        "127.0.0.1",
        "[::1]:80",
        "*",
    ] {
        other(host, hosts(&format!("Host: {host}\r\n")));
    }
    for host in [
        "evil.test",
        "evil.test:80",
        "api.weather.test:81",
        "api.weather.test@evil.test",
        "api.weather.test:80@evil.test",
        "x@api.weather.test",
        "api.weather.test.",
    ] {
        other(host, line(&format!("GET http://{host}/ HTTP/1.1")));
        other(host, line(&format!("GET http://{host} HTTP/1.1")));
    }
    // A right target does not excuse a wrong host.
    other("evil.test", "GET http://api.weather.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned());
    let long = "a".repeat(3000);
    other(&long[..255], hosts(&format!("Host: {long}\r\n")));
    stops(
        &RefusalReason::NoHost,
        &[
            ("none", hosts("Accept: */*\r\n")),
            ("none of HTTP/1.0", "GET / HTTP/1.0\r\n\r\n".to_owned()),
            ("none but in the target", "GET http://api.weather.test/ HTTP/1.1\r\n\r\n".to_owned()),
            ("empty", hosts("Host:\r\n")),
            ("empty with a space", hosts("Host: \r\n").replace("Host: ", "Host:")),
            ("twice", hosts("Host: api.weather.test\r\nHost: evil.test\r\n")),
            ("twice, the other way", hosts("Host: evil.test\r\nhost: api.weather.test\r\n")),
            ("twice the same", hosts("Host: api.weather.test\r\nhOST: api.weather.test\r\n")),
            ("an empty authority", line("GET http:///x HTTP/1.1")),
        ],
    );
    let mut gate = HttpGate::new(NAME.to_owned(), 8080);
    assert!(
        gate.judge_client(hosts("Host: api.weather.test:8080\r\n").as_bytes())
            .is_ok_and(|passage| passage.bytes > 0)
    );
    assert_eq!(
        gate.judge_client(hosts("Host: api.weather.test:80\r\n").as_bytes()),
        Err(RefusalReason::OtherHost("api.weather.test:80".to_owned()))
    );
}

#[test]
fn request_lines_can_be_read_in_one_way_only() {
    let cases = [
        "GET /",
        "GET",
        "GET / ",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        " GET / HTTP/1.1",
        "\tGET / HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\tHTTP/1.1",
        "GET /a b HTTP/1.1",
        "GET /a\tb HTTP/1.1",
        "GET / HTTP/1.1 HTTP/1.1",
        "GET / HTTP/1.2",
        "GET / HTTP/0.9",
        "GET / HTTP/2.0",
        "GET / HTTP/3",
        "GET / HTTP/1.10",
        "GET / HTTP/01.1",
        "GET / http/1.1",
        "GET / HTTP/1.1\u{b}",
        "GET / ICY/1.1",
        "G(T / HTTP/1.1",
        "GET: / HTTP/1.1",
        "GET api.weather.test HTTP/1.1",
        "GET evil.test:80 HTTP/1.1",
        "GET * HTTP/1.1",
        "GET x HTTP/1.1",
        "GET ?x HTTP/1.1",
        "GET \\\\evil.test HTTP/1.1",
        "GET https://api.weather.test/ HTTP/1.1",
        "GET ftp://api.weather.test/ HTTP/1.1",
        "GET http:api.weather.test HTTP/1.1",
        "GET http:/api.weather.test HTTP/1.1",
        "GET http://api.weather.test\\@evil.test/ HTTP/1.1",
        "GET http://api.weather.test#@evil.test/ HTTP/1.1",
        "CONNECT api.weather.test:80 HTTP/1.1",
        "CONNECT evil.test:443 HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "connect / HTTP/1.1",
        "CONNECT http://api.weather.test/ HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\u{85} HTTP/1.1",
        "GET /\u{a0}HTTP/1.1",
        "GET /\u{7f} HTTP/1.1",
        "",
        "\r\nGET / HTTP/1.1",
        "\nGET / HTTP/1.1",
        "\u{16}\u{3}\u{1}\0\u{5}",
        "SSH-2.0-x",
    ];
    for case in cases {
        stops(&RefusalReason::NotHttp, &[(case, line(case))]);
    }
    stops(
        &RefusalReason::Http2,
        &[
            ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
            (
                "an upgrade to it",
                get("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"),
            ),
            ("without settings", get("Upgrade: h2c\r\n")),
            ("in capitals", get("Upgrade: H2C\r\n")),
            ("in a list", get("Upgrade: websocket, h2c\r\n")),
            ("by its older name", get("Upgrade: HTTP/2.0\r\n")),
            ("only the settings", get("HTTP2-Settings: AAMAAABk\r\n")),
        ],
    );
}

#[test]
fn headers_can_be_read_in_one_way_only() {
    let cases = [
        " X: folded\r\n",
        "\tX: folded\r\n",
        "X: a\r\n folded: b\r\n",
        "X: a\r\n\tfolded\r\n",
        "X : a\r\n",
        "X\t: a\r\n",
        "X Y: a\r\n",
        ": a\r\n",
        "X\r\n",
        "X\0: a\r\n",
        "X: a\0b\r\n",
        "X: a\nHost: evil.test\r\n",
        "X: a\rHost: evil.test\r\n",
        "X: a\r\r\n",
        "X: a\n\r\n",
        "X: a\u{b}Host: evil.test\r\n",
        "X: a\u{c}Host: evil.test\r\n",
        "X: a\u{1c}Host: evil.test\r\n",
        "X: a\u{85}Host: evil.test\r\n",
        "X: a\u{2028}Host: evil.test\r\n",
        "X: \u{7f}\r\n",
        "X\u{e4}: a\r\n",
        "(X): a\r\n",
        "\"X\": a\r\n",
        "[X]: a\r\n",
        "Connection: Host\r\n",
        "Connection: close, content-length\r\n",
        "Connection: close,\tTransfer-Encoding\r\n",
        "Upgrade: TLS/1.2\r\n",
        "Upgrade: websocket\r\nUpgrade: x\r\n",
        "Upgrade:\r\n",
    ];
    for case in cases {
        stops(&RefusalReason::NotHttp, &[(case, get(case))]);
    }
    for case in [
        "Host : api.weather.test\r\n",
        "Host: api.weather.test \r\n",
        "Host:\tapi.weather.test\r\n",
        "Host: api.weather.test\r\n x\r\n",
        " Host: api.weather.test\r\n",
    ] {
        stops(&RefusalReason::NotHttp, &[(case, hosts(case))]);
    }
}

/// After the collections of smuggled requests: lengths against chunks, chunks against lengths, and chunks in disguise.
#[test]
fn where_a_body_ends_can_be_read_in_one_way_only() {
    let framings = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 5,6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 05\r\n",
        "Content-Length: 00\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5.0\r\n",
        "Content-Length: 5 \r\n",
        "Content-Length: 5;\r\n",
        "Content-Length: 5 6\r\n",
        "Content-Length:\t5\r\n",
        "Content-Length:\r\n",
        "Content-Length: \"5\"\r\n",
        "Content-Length: 1e1\r\n",
        "Content-Length: 18446744073709551621\r\n",
        "Content-Length: 9999999999999999999\r\n",
        "Content-Length\u{b}: 5\r\n",
        "Content-Length : 5\r\n",
        "Content-Length abc: 5\r\n",
        "Content_Length: 5\r\n",
        "Content-Length: 5\r\nContent_Length: 5\r\n",
        "Transfer_Encoding: chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunkedx\r\n",
        "Transfer-Encoding: x\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked,\r\n",
        "Transfer-Encoding: ,chunked\r\n",
        "Transfer-Encoding: Chunked\r\n",
        "Transfer-Encoding: CHUNKED\r\n",
        "Transfer-Encoding: chunked \r\n",
        "Transfer-Encoding: chunked\t\r\n",
        "Transfer-Encoding:\tchunked\r\n",
        "Transfer-Encoding: \tchunked\r\n",
        "Transfer-Encoding:\u{b}chunked\r\n",
        "Transfer-Encoding: \u{b}chunked\r\n",
        "Transfer-Encoding: \"chunked\"\r\n",
        "Transfer-Encoding: 'chunked'\r\n",
        "Transfer-Encoding: chunked;q=1\r\n",
        "Transfer-Encoding: c\u{17f}hunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding\t: chunked\r\n",
        " Transfer-Encoding: chunked\r\n",
        "\u{b}Transfer-Encoding: chunked\r\n",
        "X: X\nTransfer-Encoding: chunked\r\n",
        "X: X\rTransfer-Encoding: chunked\r\n",
        "X: X\r\n\rTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding\r\n: chunked\r\n",
        "Transfer-Encoding\n: chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "Transfer-Encoding: chunked\r\n identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n",
        "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-encoding: chunked\r\n",
        "Transfer-Encoding:\r\n",
        "Transfer-Encoding: chunked\0\r\n",
        "Transfer-Encoding: \0chunked\r\n",
        "Transfer-Encoding: \u{a0}chunked\r\n",
        "Transfer-Encoding: \u{feff}chunked\r\n",
    ];
    for framing in framings {
        stops(&RefusalReason::NotHttp, &[(framing, post(framing, &format!("0\r\n\r\n{SMUGGLED}")))]);
    }
    // Many servers do not read a body where they expect none.
    for method in ["GET", "HEAD", "TRACE", "get"] {
        let length = format!("{method} / HTTP/1.1\r\nContent-Length: {}", SMUGGLED.len());
        let chunks = format!("{method} / HTTP/1.1\r\nTransfer-Encoding: chunked");
        stops(
            &RefusalReason::NotHttp,
            &[(method, line(&length) + SMUGGLED), (method, line(&chunks) + "0\r\n\r\n")],
        );
    }
    // Some servers do not read a body after they were asked whether to send it.
    for expect in
        ["y 100-continue", "100-continue, x", "100-Continue", "100-continue ", "200-ok", "", "\t100-continue"]
    {
        let lines = format!("Expect: {expect}\r\nContent-Length: 1\r\n");
        stops(&RefusalReason::NotHttp, &[(expect, post(&lines, "x"))]);
    }
    let twice = "Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 1\r\n";
    stops(
        &RefusalReason::NotHttp,
        &[("asked twice", post(twice, "x")), ("without a body", post("Expect: 100-continue\r\n", ""))],
    );
    let old = "POST / HTTP/1.0\r\nHost: api.weather.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    stops(&RefusalReason::NotHttp, &[("chunks before there were any", old.to_owned())]);
}

#[test]
fn chunks_can_be_read_in_one_way_only() {
    // What passes before it is refused: the head, and chunks that are right.
    let cases = [
        ("", "x\r\n"),
        ("", "\r\n"),
        ("", " 5\r\nhello\r\n"),
        ("", "5 \r\nhello\r\n"),
        ("", "+5\r\nhello\r\n"),
        ("", "-1\r\n"),
        ("", "0x5\r\nhello\r\n"),
        ("", "5\nhello\r\n"),
        ("", "5\rhello\r\n"),
        ("", "5\r\r\nhello"),
        ("", "\n5\r\nhello\r\n"),
        ("", "5\t;x\r\nhello\r\n"),
        ("", "5 ;x\r\nhello\r\n"),
        ("", "5; x\r\nhello\r\n"),
        ("", "5;x=\"y\"\r\nhello\r\n"),
        ("", "5;x\nhello\r\n"),
        ("", "5;x\rhello\r\n"),
        ("", "5;\0\r\nhello\r\n"),
        ("", "5,x\r\nhello\r\n"),
        ("", "5_0\r\nhello\r\n"),
        ("", "FFFFFFFFFFFFFFFF\r\n"),
        ("", "10000000000000005\r\nhello\r\n"),
        ("", "0000000000000005\r\nhello\r\n"),
        ("5\r\nhello", "6\r\n"),
        ("5\r\nhello", "\n5\r\nhello"),
        ("5\r\nhello", "\r5\r\nhello"),
        ("5\r\nhello", "0\r\n\r\n"),
        ("5\r\nhello\r\n", "\r\n0\r\n\r\n"),
        ("0\r\n", "\n"),
        ("0\r\n", "\rX"),
        ("0\r\n", " X: folded\r\n\r\n"),
        ("0\r\n", "X : y\r\n\r\n"),
        ("0\r\n", "GET /secret HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
        ("0\r\n", "Host: evil.test\r\n\r\n"),
        ("0\r\n", "Host: api.weather.test\r\n\r\n"),
        ("0\r\n", "Content-Length: 5\r\n\r\n"),
        ("0\r\n", "transfer-encoding: chunked\r\n\r\n"),
        ("0\r\n", "Transfer_Encoding: chunked\r\n\r\n"),
        ("0\r\n", "Upgrade: x\r\n\r\n"),
        ("0\r\n", "Connection: host\r\n\r\n"),
        ("0\r\n", "X: a\nHost: evil.test\r\n\r\n"),
    ];
    for (right, wrong) in cases {
        let right = chunked(right);
        let outcome = outcome(http, &[Client([right.as_str(), wrong].concat().into_bytes())]);
        assert_eq!(refused(&outcome), Some(&RefusalReason::NotHttp), "{wrong:?}");
        assert_eq!(outcome.passed.len(), right.len(), "{wrong:?}");
    }
    // A twice ended body: what follows is a request of its own.
    let twice = [chunked("0\r\n\r\n"), "0\r\n\r\n".to_owned()].concat();
    assert_eq!(refused(&outcome(http, &[Client(twice.into_bytes())])), Some(&RefusalReason::NotHttp));
}

#[test]
fn a_head_passes_when_it_is_complete_and_a_body_as_it_comes() {
    let head = post("Content-Length: 100000\r\n", "");
    for len in 0..head.len() {
        let part = outcome(http, &[Client(head.as_bytes()[..len].to_vec())]);
        assert_eq!((refused(&part), part.passed.len()), (None, 0), "{len} bytes");
    }
    let with = outcome(http, &[Client([head.as_bytes(), &vec![0; 70_000]].concat())]);
    assert_eq!(with.passed.len(), head.len() + 70_000);
    let huge = chunked("fffffffffffffff\r\n") + "abc";
    assert_eq!(outcome(http, &[Client(huge.clone().into_bytes())]).passed.len(), huge.len());
}

#[test]
fn no_more_is_held_than_may_be() {
    let padded = |len: usize| {
        let frame = get("X: \r\n").len();
        get(&format!("X: {}\r\n", "x".repeat(len - frame)))
    };
    let fits = padded(MOST_HELD);
    assert_eq!(fits.len(), MOST_HELD);
    assert_eq!(outcome(http, &[Client(fits.into_bytes())]).passed.len(), MOST_HELD);
    let long = |request: String| {
        let outcome = outcome(http, &[Client(request.into_bytes())]);
        assert_eq!(refused(&outcome), Some(&RefusalReason::NotHttp));
    };
    long(padded(MOST_HELD + 1));
    long("G".repeat(MOST_HELD));
    long(format!("GET / HTTP/1.1\r\n{}", "X: y\r\n".repeat(20_000)));
    long(chunked(&format!("5;{}\r\n", "x".repeat(600))));
    long(chunked(&format!("0\r\n{}", "X: y\r\n".repeat(2000))));
}
