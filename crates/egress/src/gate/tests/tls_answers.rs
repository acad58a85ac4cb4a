//! What a client may say after its first hello, before and after the server has answered.

use super::made::{SpoiledHello, message, record, records, server_hello};
use super::{Client, GateEvent, GateOutcome, NAME, ProtocolGate, RefusalReason, Server, https, outcome, tcp};

/// SHA-256 of `HelloRetryRequest`, written down once more: a slip in the gate would not be found by the gate's own copy.
pub(super) const RETRY: [u8; 32] = *b"\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91\
    \xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c";

fn retry() -> Vec<u8> {
    server_hello(RETRY)
}

fn hello() -> GateEvent {
    Client(SpoiledHello::new().bytes())
}

fn evil() -> GateEvent {
    Client(SpoiledHello::named("evil.test").bytes())
}

fn accepts() -> GateEvent {
    Server(records(&server_hello([8; 32]), 1 << 14))
}

fn asks_again() -> GateEvent {
    Server(records(&retry(), 1 << 14))
}

fn sends(kind: u8, body: &[u8]) -> GateEvent {
    Client(record(kind, body))
}

fn said(events: &[GateEvent]) -> usize {
    events.iter().map(|event| if let Client(bytes) = event { bytes.len() } else { 0 }).sum()
}

fn each(events: &[GateEvent], check: impl Fn(GateOutcome)) {
    for gate in [https as fn() -> ProtocolGate, tcp] {
        check(outcome(gate, events));
    }
}

/// All passes, and the gate is open or not.
fn passes(what: &str, events: &[GateEvent], open: bool) {
    each(events, |outcome| {
        assert_eq!(
            (outcome.refused, outcome.passed.len(), outcome.open),
            (None, said(events), open),
            "{what}"
        );
    });
}

/// All passes but the last event.
fn stops(what: &str, events: &[GateEvent], reason: &RefusalReason) {
    let before = said(&events[..events.len() - 1]);
    each(events, |outcome| {
        assert_eq!((outcome.refused.as_ref(), outcome.passed.len()), (Some(reason), before), "{what}");
        assert!(!outcome.open, "{what}");
    });
}

fn fronting() -> RefusalReason {
    RefusalReason::OtherServerName("evil.test".to_owned())
}

#[test]
fn honest_handshakes_end_open() {
    let finished = || sends(23, &[1; 53]);
    let compat = || sends(20, &[1]);
    let key_exchange = || Client(records(&message(16, &[7; 33]), 1 << 14));
    passes("TLS 1.3", &[hello(), accepts(), finished()], true);
    passes("TLS 1.3 with a change of ciphers", &[hello(), accepts(), compat(), finished()], true);
    passes("asked again", &[hello(), asks_again(), compat(), hello(), accepts(), finished()], true);
    passes("early data", &[hello(), compat(), sends(23, &[0; 99]), accepts(), sends(23, &[0; 9])], true);
    passes(
        "early data, asked again",
        &[hello(), sends(23, &[0; 99]), asks_again(), hello(), accepts(), finished()],
        true,
    );
    let encrypted = Client(vec![22, 3, 3, 0, 2, 0xde, 0xad]);
    passes("TLS 1.2", &[hello(), accepts(), key_exchange(), compat(), encrypted.clone()], true);
    passes("TLS 1.2, resumed", &[hello(), accepts(), compat(), encrypted.clone()], true);
    let certificate = Client(records(&message(11, &vec![3; 100_000]), 1 << 14));
    passes(
        "a long certificate",
        &[hello(), accepts(), certificate, key_exchange(), compat(), encrypted],
        true,
    );
    let both = [message(11, &[0, 0, 0]), message(16, &[7; 33])].concat();
    passes("two messages in a record", &[hello(), accepts(), sends(22, &both), compat()], true);
    passes(
        "messages in records of one byte",
        &[hello(), accepts(), Client(records(&both, 1)), compat()],
        true,
    );
    passes("an alert", &[hello(), accepts(), sends(21, &[2, 40])], false);
}

#[test]
fn a_second_hello_is_judged_like_the_first() {
    stops("after a retry", &[hello(), asks_again(), evil()], &fronting());
    stops(
        "after a retry and a change of ciphers",
        &[hello(), asks_again(), sends(20, &[1]), evil()],
        &fronting(),
    );
    stops("before any answer", &[hello(), evil()], &fronting());
    stops("after early data", &[hello(), sends(23, &[0; 300]), evil()], &fronting());
    stops(
        "after early data and a retry",
        &[hello(), sends(23, &[0; 300]), asks_again(), evil()],
        &fronting(),
    );
    stops("after an alert", &[hello(), sends(21, &[1, 0]), evil()], &fronting());
    stops("a third one", &[hello(), asks_again(), hello(), evil()], &fronting());
    stops("after a second retry", &[hello(), asks_again(), hello(), asks_again(), evil()], &fronting());
    stops("instead of a key exchange", &[hello(), accepts(), evil()], &fronting());
    let in_bytes = Client(records(&SpoiledHello::named("evil.test").message(), 1));
    stops("in records of one byte", &[hello(), asks_again(), in_bytes], &fronting());
    let mut hidden = SpoiledHello::new();
    hidden.extensions.push((0xfe0d, vec![0; 9]));
    stops("with ECH", &[hello(), asks_again(), Client(hidden.bytes())], &RefusalReason::HiddenServerName);
}

#[test]
fn a_second_hello_waits_until_it_is_complete() {
    let Client(bytes) = evil() else { unreachable!() };
    let (first, second) = bytes.split_at(60);
    // The server accepts the first one meanwhile.
    let events = [hello(), Client(first.to_vec()), accepts(), Client(second.to_vec())];
    each(&events, |outcome| {
        assert_eq!(outcome.passed.len(), said(&[hello()]));
        assert_eq!(outcome.refused, Some(fronting()));
    });
    each(&[hello(), asks_again(), Client(first.to_vec())], |outcome| {
        assert_eq!((outcome.passed.len(), outcome.refused), (said(&[hello()]), None));
    });
}

#[test]
fn a_second_hello_must_name_the_server_where_the_first_must() {
    let nameless = Client(SpoiledHello::with(vec![(43, vec![2, 3, 4])]).bytes());
    let events = [hello(), asks_again(), nameless];
    assert_eq!(outcome(https, &events).refused, Some(RefusalReason::NoServerName));
    assert_eq!(outcome(tcp, &events).refused, None);
}

#[test]
fn only_a_server_hello_is_an_answer() {
    let hidden_by = |what: &str, server: Vec<u8>| {
        stops(what, &[hello(), Server(server.clone()), evil()], &fronting());
        passes(what, &[hello(), Server(server), sends(20, &[1]), sends(23, &[0; 40])], false);
    };
    hidden_by("a warning", record(21, &[1, 112]));
    hidden_by("a fatal alert", record(21, &[2, 40]));
    hidden_by("a change of ciphers", record(20, &[1]));
    hidden_by("a request for a hello", record(22, &message(0, &[])));
    hidden_by("a page", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec());
    hidden_by("data", record(23, &[0; 40]));
    hidden_by("a certificate", record(22, &message(11, &[0; 40])));
    hidden_by("a short server hello", record(22, &message(2, &[3, 3, 0])));
    hidden_by("an empty record", record(22, &[]));
    hidden_by("half a server hello", record(22, &server_hello([8; 32])[..37]));
    hidden_by("a retry in records of one byte", records(&retry(), 1));
    hidden_by("a warning and a retry", [record(21, &[1, 112]), record(22, &retry())].concat());
    hidden_by("a retry and what comes with it", [record(22, &retry()), record(20, &[1])].concat());
    let Server(accept) = accepts() else { unreachable!() };
    let pieces = records(&server_hello([8; 32]), 1);
    for answer in [accept.clone(), pieces, [record(21, &[1, 112]), accept.clone()].concat()] {
        passes("an answer", &[hello(), Server(answer), sends(23, &[0; 40])], true);
    }
    let late = [record(22, &[message(0, &[]), server_hello([8; 32])].concat()), record(22, &[1; 9])].concat();
    passes("an answer and more", &[hello(), Server(late), sends(23, &[0; 40])], true);
    // What the server said before it was spoken to answers nothing.
    passes("far too early", &[Server(accept.clone()), hello(), sends(23, &[0; 40])], false);
    stops("too early", &[Server(accept), hello(), evil()], &fronting());
    // One byte off: the random of an ordinary answer.
    let mut near = retry();
    near[37] ^= 1;
    passes("nearly a retry", &[hello(), Server(record(22, &near)), sends(23, &[0; 40])], true);
}

#[test]
fn real_servers_are_understood() {
    let accept = include_bytes!("../../../tests/data/answer/openssl-accept.bin");
    passes("OpenSSL", &[hello(), Server(accept.to_vec()), sends(23, &[0; 40])], true);
    let retries: [&[u8]; 2] = [
        include_bytes!("../../../tests/data/answer/openssl-retry.bin"),
        include_bytes!("../../../tests/data/answer/gnutls-warning-and-retry.bin"),
    ];
    for retry in retries {
        let retry = || Server(retry.to_vec());
        stops("another name", &[hello(), retry(), evil()], &fronting());
        stops("another name after that", &[hello(), retry(), sends(20, &[1]), hello(), evil()], &fronting());
        passes("not yet", &[hello(), retry(), sends(20, &[1]), sends(23, &[0; 40])], false);
        passes("honest", &[hello(), retry(), sends(20, &[1]), hello(), accepts(), sends(23, &[0; 40])], true);
    }
}

#[test]
fn other_records_are_refused_until_the_client_encrypts() {
    let stop = |what: &str, last: GateEvent| {
        stops(what, &[hello(), last.clone()], &RefusalReason::BadHello);
        stops(what, &[hello(), asks_again(), last], &RefusalReason::BadHello);
    };
    stop("plain text", Client(b"GET / HTTP/1.1\r\n".to_vec()));
    stop("a heartbeat", sends(24, &[1, 0, 0]));
    stop("an empty handshake record", sends(22, &[]));
    stop("empty data", sends(23, &[]));
    stop("too much data", sends(23, &vec![0; (1 << 14) + 257]));
    stop("a long change of ciphers", sends(20, &[1, 1]));
    stop("a long alert", sends(21, &[1, 0, 0]));
    stop("a key exchange before its time", sends(22, &message(16, &[0; 9])));
    stop("another version", Client(vec![23, 2, 0, 0, 1, 0]));
    let Client(evil) = evil() else { unreachable!() };
    let both = [SpoiledHello::new().message(), evil[5..].to_vec()].concat();
    stop("two hellos in one record", sends(22, &both));
}

#[test]
fn a_hello_is_found_behind_other_messages() {
    let key = message(16, &[7; 33]);
    let hidden = [key.clone(), SpoiledHello::new().message()].concat();
    let events = [hello(), accepts(), sends(22, &hidden)];
    each(&events, |outcome| {
        assert_eq!(outcome.refused, Some(RefusalReason::BadHello));
        assert_eq!(outcome.passed.len(), said(&[hello()]) + 5 + key.len(), "as far as it is right");
    });
    // The kind of a message in one record, the rest in the next.
    let split = [hello(), accepts(), sends(22, &[16, 0, 0]), sends(22, &[1, 9]), evil()];
    stops("after a message in pieces", &split, &fronting());
    let inside =
        [hello(), accepts(), sends(22, &[16, 0, 0]), sends(22, &[2, 1]), sends(22, &[1]), sends(20, &[1])];
    passes("a one within a message is no hello", &inside, true);
}

#[test]
fn an_address_opens_at_the_first_hello() {
    let outcome = outcome(super::to_address, &[hello(), evil()]);
    assert!(outcome.open);
    assert_eq!(outcome.passed.len(), said(&[hello(), evil()]));
    let mut gate = super::to_address();
    let Client(bytes) = hello() else { unreachable!() };
    assert!(gate.judge_client(&bytes).is_ok());
    assert_eq!(gate.server_name(), Some(NAME));
}
