//! Whatever is said, in whatever pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::made::{SpoiledHello, message, record, records, server_hello};
use super::tls_answers::RETRY;
use super::{Client, GateEvent, NAME, ProtocolGate, Server, cut, http, https, run, tcp, to_address};

const GATES: [fn() -> ProtocolGate; 4] = [https, tcp, to_address, http];

/// Something that means something to one of the gates.
fn phrase() -> impl Strategy<Value = Vec<u8>> {
    let tls = select(vec![
        SpoiledHello::new().bytes(),
        records(&SpoiledHello::new().message(), 7),
        SpoiledHello::named("evil.test").bytes(),
        SpoiledHello::with(vec![(0xfe0d, vec![1])]).bytes(),
        SpoiledHello::with(vec![]).bytes(),
        record(20, &[1]),
        record(21, &[1, 0]),
        record(23, &[0; 20]),
        record(22, &message(16, &[1; 20])),
        record(22, &message(11, &[1; 20])),
        record(22, &[]),
        include_bytes!("../../../tests/data/hello/openssl-post-quantum.bin").to_vec(),
    ]);
    let http = select(vec![
        format!("GET / HTTP/1.1\r\nHost: {NAME}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {NAME}\r\nUpgrade: websocket\r\n\r\n"),
        format!("POST / HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 9\r\n\r\n"),
        format!("POST / HTTP/1.1\r\nHost: {NAME}\r\nTransfer-Encoding: chunked\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned(),
        "5\r\nhello\r\n".to_owned(),
        "0\r\n\r\n".to_owned(),
        "0\r\nX: y\r\n\r\n".to_owned(),
        "\r\n".to_owned(),
    ]);
    prop_oneof![tls, http.prop_map(String::into_bytes), vec(any::<u8>(), 0..40)]
}

fn answer() -> impl Strategy<Value = Vec<u8>> {
    let known = select(vec![
        records(&server_hello([3; 32]), 1 << 14),
        records(&server_hello([3; 32]), 5),
        records(&server_hello(RETRY), 1 << 14),
        record(20, &[1]),
        record(21, &[1, 112]),
        b"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n".to_vec(),
        b"HTTP/1.1 103 X\r\n\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
    ]);
    prop_oneof![known, vec(any::<u8>(), 0..40)]
}

/// What may happen on a connection: phrases, of which some bytes were changed, left out or put in.
fn events() -> impl Strategy<Value = Vec<GateEvent>> {
    let spoils = vec((any::<Index>(), any::<u8>(), 0..3_u8), 0..3);
    let client = (vec(phrase(), 1..4), prop_oneof![3 => Just(Vec::new()), 2 => spoils]).prop_map(
        |(phrases, spoils)| {
            let mut bytes = phrases.concat();
            for (place, byte, how) in spoils {
                if !bytes.is_empty() {
                    let at = place.index(bytes.len());
                    match how {
                        0 => bytes[at] = byte,
                        1 => drop(bytes.remove(at)),
                        _ => bytes.insert(at, byte),
                    }
                }
            }
            Client(bytes)
        },
    );
    vec(prop_oneof![3 => client, 1 => answer().prop_map(Server)], 1..6)
}

fn pieces() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![0..8_usize, 1..300_usize], 1..8)
        .prop_filter("something", |sizes| sizes.iter().any(|size| *size > 0))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// [`run`] also checks what a gate promises: a prefix passes, little is held, what is settled stays so.
    #[test]
    fn the_pieces_make_no_difference(events in events(), sizes in pieces()) {
        for gate in GATES {
            prop_assert_eq!(run(gate(), &events), run(gate(), &cut(&events, &sizes)));
        }
    }

    #[test]
    fn no_bytes_are_too_wild(client in vec(vec(any::<u8>(), 0..200), 0..8), server in vec(any::<u8>(), 0..200)) {
        let mut events: Vec<GateEvent> = client.into_iter().map(Client).collect();
        events.insert(events.len() / 2, Server(server));
        for gate in GATES {
            prop_assert_eq!(run(gate(), &events), run(gate(), &cut(&events, &[1])));
        }
    }

    /// A hello that passes holds the name where a hello has it, and no other, wherever a byte was changed.
    #[test]
    fn a_changed_byte_does_not_change_the_name(place in any::<Index>(), byte: u8, size in 1..400_usize) {
        let mut message = SpoiledHello::new().message();
        let at = place.index(message.len());
        message[at] = byte;
        let passed = run(https(), &[Client(records(&message, size))]).passed;
        let named = String::from_utf8_lossy(&message).to_ascii_lowercase().contains(NAME);
        prop_assert!(passed.is_empty() || named);
    }
}

/// Asked again with more, a gate does not look at all the rest again: it does not see that it was changed. So what a client sends
/// in small pieces costs no more than what it sends at once.
#[test]
fn nothing_is_looked_at_twice() {
    let head = format!("GET / HTTP/1.1\r\nHost: {NAME}\r\nX: {}", "x".repeat(60_000));
    let mut hello = SpoiledHello::new();
    hello.extensions.push((21, vec![0; 60_000]));
    let hello = records(&hello.message(), 1000);
    for (gate, said) in [(http as fn() -> ProtocolGate, head.as_bytes()), (https, &hello[..hello.len() - 1])]
    {
        let mut gate = gate();
        let (known, last) = said.split_at(said.len() - 1);
        assert!(gate.judge_client(known).is_ok_and(|passage| passage.bytes == 0));
        // All but the few bytes that tell what it is, and the record that is not yet complete.
        let mut changed = known.to_vec();
        changed[6..known.len() - 1005].fill(0);
        changed.extend(last);
        assert!(gate.judge_client(&changed).is_ok_and(|passage| passage.bytes == 0));
    }
}
