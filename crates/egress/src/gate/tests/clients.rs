//! What real clients send first. How it was recorded is told beside it.

use super::{Client, NAME, ProtocolGate, RefusalReason, https, outcome, refused, run, tcp, to_address};
use crate::gate::tls::TlsGate;

const CLIENTS: [(&str, &[u8]); 8] = [
    ("curl", include_bytes!("../../../tests/data/hello/curl.bin")),
    ("gnutls", include_bytes!("../../../tests/data/hello/gnutls.bin")),
    ("go", include_bytes!("../../../tests/data/hello/go.bin")),
    ("node", include_bytes!("../../../tests/data/hello/node.bin")),
    ("openssl", include_bytes!("../../../tests/data/hello/openssl.bin")),
    ("openssl-tls12", include_bytes!("../../../tests/data/hello/openssl-tls12.bin")),
    ("python", include_bytes!("../../../tests/data/hello/python.bin")),
    ("rustls", include_bytes!("../../../tests/data/hello/rustls.bin")),
];
const POST_QUANTUM: &[u8] = include_bytes!("../../../tests/data/hello/openssl-post-quantum.bin");
const NO_NAME: &[u8] = include_bytes!("../../../tests/data/hello/openssl-no-name.bin");
const GREASED: &[u8] = include_bytes!("../../../tests/data/hello/chrome-like-greased-ech.bin");

#[test]
fn real_clients_pass_for_their_name_and_for_no_other() {
    assert!(POST_QUANTUM.len() > 1500, "more than one packet");
    for (client, hello) in CLIENTS.into_iter().chain([("openssl-post-quantum", POST_QUANTUM)]) {
        for gate in [https, tcp] {
            let right = outcome(gate, &[Client(hello.to_vec())]);
            assert_eq!((refused(&right), right.passed.as_slice()), (None, hello), "{client}");
            assert!(!right.open, "{client}: a second hello may come");
        }
        for required in [true, false] {
            let mut other = TlsGate::new(Some("other.test".to_owned()), required);
            assert_eq!(
                other.judge_client(hello),
                Err(RefusalReason::OtherServerName(NAME.to_owned())),
                "{client}"
            );
        }
        let mut address = TlsGate::new(None, false);
        assert!(
            address.judge_client(hello).is_ok_and(|passage| passage.open && passage.bytes == hello.len())
        );
        assert_eq!(address.server_name(), Some(NAME), "{client}");
        assert!(outcome(to_address, &[Client(hello.to_vec())]).open);
    }
}

#[test]
fn a_real_client_without_a_name_passes_only_where_tls_is_not_required() {
    assert_eq!(refused(&outcome(https, &[Client(NO_NAME.to_vec())])), Some(&RefusalReason::NoServerName));
    assert_eq!(outcome(tcp, &[Client(NO_NAME.to_vec())]).passed, NO_NAME);
}

#[test]
fn a_hidden_name_is_refused_even_if_it_is_only_grease() {
    for gate in [https, tcp] {
        assert_eq!(
            refused(&outcome(gate, &[Client(GREASED.to_vec())])),
            Some(&RefusalReason::HiddenServerName)
        );
    }
    let mut gate = TlsGate::new(None, false);
    assert!(gate.judge_client(GREASED).is_ok_and(|passage| passage.open));
    assert_eq!(gate.server_name(), Some(NAME));
}

#[test]
fn the_name_is_told_for_the_record() {
    let mut gate = https();
    assert_eq!(gate.server_name(), None);
    assert!(gate.judge_client(POST_QUANTUM).is_ok());
    assert_eq!(gate.server_name(), Some(NAME));
    let other = TlsGate::new(Some("other.test".to_owned()), true);
    let mut other = ProtocolGate::Tls(other);
    assert!(other.judge_client(POST_QUANTUM).is_err());
    assert_eq!(other.server_name(), Some(NAME), "of a refusal, too");
    assert!(run(ProtocolGate::Open, &[Client(GREASED.to_vec())]).open);
}
