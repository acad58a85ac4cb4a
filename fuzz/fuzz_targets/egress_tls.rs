//! Any bytes are shown to the TLS gates, whole and in pieces: the same passes, and what passes names no other server to rustls.
#![no_main]

mod gates;

use gates::{NAME, conversation, pass};
use libfuzzer_sys::fuzz_target;
use rustls::server::Acceptor;
use skillsandbox_egress::hostile::FuzzGate;

fuzz_target!(|bytes: &[u8]| {
    let said = conversation(bytes);
    for required in [true, false] {
        let whole = pass(FuzzGate::tls(Some(NAME), required), &said, usize::MAX);
        for size in [1, 3, 64] {
            assert_eq!(pass(FuzzGate::tls(Some(NAME), required), &said, size), whole);
        }
        match server_name(&whole.passed) {
            Seen::Name(name) => assert!(name.eq_ignore_ascii_case(NAME), "{name}"),
            Seen::NoName => assert!(!required),
            Seen::Nothing => {}
        }
    }
    let to_address = pass(FuzzGate::tls(None, false), &said, 5);
    assert_eq!(to_address.refused, None);
});

enum Seen {
    Nothing,
    NoName,
    Name(String),
}

/// What another reader makes of it.
fn server_name(mut bytes: &[u8]) -> Seen {
    let mut acceptor = Acceptor::default();
    while !bytes.is_empty() {
        if acceptor.read_tls(&mut bytes).is_err() {
            return Seen::Nothing;
        }
        match acceptor.accept() {
            Ok(Some(accepted)) => {
                return accepted.client_hello().server_name().map_or(Seen::NoName, |name| Seen::Name(name.to_owned()));
            }
            Ok(None) => {}
            Err(_) => return Seen::Nothing,
        }
    }
    Seen::Nothing
}
