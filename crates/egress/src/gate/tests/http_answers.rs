//! Requests for another protocol, and what the server answers.

use super::{Client, GateEvent, GateOutcome, NAME, RefusalReason, Server, http, outcome};

fn upgrade(lines: &str) -> GateEvent {
    let head = format!(
        "GET /chat HTTP/1.1\r\nHost: {NAME}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{lines}\r\n"
    );
    Client(head.into_bytes())
}

fn says(text: &str) -> GateEvent {
    Client(text.as_bytes().to_vec())
}

fn answers(text: &str) -> GateEvent {
    Server(text.as_bytes().to_vec())
}

fn request(host: &str) -> GateEvent {
    says(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"))
}

fn said(events: &[GateEvent]) -> usize {
    events.iter().map(|event| if let Client(bytes) = event { bytes.len() } else { 0 }).sum()
}

/// (refused, bytes held, open)
fn result(events: &[GateEvent]) -> (Option<RefusalReason>, usize, bool) {
    let GateOutcome { refused, passed, open } = outcome(http, events);
    (refused, said(events) - passed.len(), open)
}

const AGREES: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";

#[test]
fn another_protocol_passes_when_the_server_agrees() {
    let frame = || says("\u{1}\u{2}\u{3}not HTTP");
    assert_eq!(result(&[upgrade("")]), (None, 0, false));
    assert_eq!(result(&[upgrade(""), frame()]), (None, 11, false), "held until it is known");
    assert_eq!(result(&[upgrade(""), frame(), answers(AGREES)]), (None, 0, true));
    assert_eq!(result(&[upgrade(""), answers(AGREES), frame()]), (None, 0, true));
    assert_eq!(result(&[upgrade("Content-Length: 0\r\n"), answers(AGREES), frame()]), (None, 0, true));
    assert_eq!(
        result(&[upgrade(""), answers("HTTP/1.1 101\r\nX: y\r\nupgrade:websocket\r\n\r\n"), frame()]),
        (None, 0, true)
    );
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100\r\n\r\n";
    assert_eq!(result(&[upgrade(""), answers(interim), frame()]), (None, 11, false));
    assert_eq!(result(&[upgrade(""), answers(interim), answers(AGREES), frame()]), (None, 0, true));
}

#[test]
fn when_the_server_does_not_agree_it_stays_http() {
    let other = Some(RefusalReason::OtherHost("evil.test".to_owned()));
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        // Some servers give any status that they are asked for, and go on as before.
        "HTTP/1.1 101 SWITCHING PROTOCOLS\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 X\r\n\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 X\r\nX-Upgrade: websocket\r\nUpgrade\r\n\r\n",
        "HTTP/1.1 101 Upgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 X\r\nUpg\rrade: websocket\r\n\r\n",
        "HTTP/1.1 103 X\r\nUpgrade: websocket\r\n\r\nHTTP/1.1 101 X\r\n\r\n",
        "HTTP/1.1 426 Upgrade Required\r\n\r\n",
        "HTTP/1.0 200 101\r\n\r\n",
        "HTTP/1.1 1010 X\r\n\r\n",
        "HTTP/1.1 10 X\r\n\r\n",
        "HTTP/1.1  101 X\r\n\r\n",
        "HTTP/2 101 X\r\n\r\n",
        "http/1.1 101 X\r\n\r\n",
        "101\r\n\r\n",
        "\r\nHTTP/1.1 101 X\r\n\r\n",
        "HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 X\r\n\r\n",
    ] {
        let evil = said(&[request("evil.test")]);
        assert_eq!(result(&[upgrade(""), answers(answer), request(NAME)]), (None, 0, false), "{answer:?}");
        assert_eq!(result(&[upgrade(""), request(NAME), answers(answer)]), (None, 0, false), "{answer:?}");
        assert_eq!(
            result(&[upgrade(""), answers(answer), request("evil.test")]),
            (other.clone(), evil, false),
            "{answer:?}"
        );
        assert_eq!(
            result(&[upgrade(""), request("evil.test"), answers(answer)]),
            (other.clone(), evil, false),
            "{answer:?}"
        );
        // And no second try.
        assert_eq!(
            result(&[upgrade(""), answers(answer), upgrade(""), answers(AGREES)]).0,
            Some(RefusalReason::NotHttp)
        );
    }
    // An interim answer does not agree, whatever is in its head.
    let sly = "HTTP/1.1 103 HTTP/1.1 101 X\r\nX: HTTP/1.1 101 X\r\nHTTP/1.1 101 X\r\n\r\n";
    assert!(!outcome(http, &[upgrade(""), answers(sly), request("evil.test")]).open);
}

#[test]
fn only_the_first_request_may_ask_and_only_its_answer_counts() {
    let refused =
        |events: &[GateEvent]| assert_eq!(result(events).0, Some(RefusalReason::NotHttp), "{events:?}");
    refused(&[request(NAME), upgrade("")]);
    refused(&[request(NAME), answers("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), upgrade("")]);
    // What was said before the request is no answer to it.
    refused(&[answers(AGREES), upgrade("")]);
    refused(&[answers("H"), upgrade(""), answers(&AGREES[1..])]);
    // A body would have to be sent before the answer.
    refused(&[upgrade("Content-Length: 1\r\n")]);
    refused(&[upgrade("Transfer-Encoding: chunked\r\n")]);
    for framing in ["Content-Length: 1", "Transfer-Encoding: chunked"] {
        refused(&[says(&format!("POST / HTTP/1.1\r\nHost: {NAME}\r\nUpgrade: x\r\n{framing}\r\n\r\n"))]);
    }
    // Nobody asked.
    assert!(!result(&[request(NAME), answers(AGREES), request("evil.test")]).2);
    assert_eq!(result(&[request(NAME), answers(AGREES), says("\u{1}")]).0, Some(RefusalReason::NotHttp));
}

#[test]
fn half_an_agreement_is_none() {
    for end in 0..AGREES.len() {
        assert_eq!(
            result(&[upgrade(""), answers(&AGREES[..end]), says("\u{1}")]),
            (None, 1, false),
            "{end} bytes"
        );
    }
    // A long answer, with other headers before.
    let long = format!("HTTP/1.1 101 X\r\nX: {}\r\nUpgrade: websocket\r\n\r\n", "upgrade: x".repeat(9000));
    assert_eq!(result(&[upgrade(""), answers(&long), says("\u{1}")]), (None, 0, true));
}

#[test]
fn a_flood_before_the_answer_is_refused() {
    let flood = Client(vec![1; super::MOST_HELD]);
    assert_eq!(result(&[upgrade(""), flood, answers(AGREES)]).0, Some(RefusalReason::NotHttp));
    let most = Client(vec![1; super::MOST_HELD - 1]);
    assert_eq!(result(&[upgrade(""), most, answers(AGREES)]), (None, 0, true));
}
