//! What a hostile program may try with a gate.

mod any;
mod clients;
mod http;
mod http_answers;
mod made;
mod tls;
mod tls_answers;

use super::http::HttpGate;
use super::tls::TlsGate;
use super::{MOST_HELD, ProtocolGate};
use crate::attempt::RefusalReason;

/// The name that connections are made for.
const NAME: &str = "api.weather.test";

/// What happens on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GateEvent {
    Client(Vec<u8>),
    Server(Vec<u8>),
}

use GateEvent::{Client, Server};

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GateOutcome {
    passed: Vec<u8>,
    refused: Option<RefusalReason>,
    open: bool,
}

fn https() -> ProtocolGate {
    ProtocolGate::Tls(TlsGate::new(Some(NAME.to_owned()), true))
}

fn tcp() -> ProtocolGate {
    ProtocolGate::Tls(TlsGate::new(Some(NAME.to_owned()), false))
}

fn to_address() -> ProtocolGate {
    ProtocolGate::Tls(TlsGate::new(None, false))
}

fn http() -> ProtocolGate {
    ProtocolGate::Http(HttpGate::new(NAME.to_owned(), 80))
}

/// Does what a broker does, and checks that the gate keeps its side of the contract.
fn run(mut gate: ProtocolGate, events: &[GateEvent]) -> GateOutcome {
    let mut outcome = GateOutcome { passed: Vec::new(), refused: None, open: false };
    let mut held = Vec::new();
    for event in events {
        match event {
            Client(bytes) => held.extend_from_slice(bytes),
            Server(bytes) => gate.observe_server(bytes),
        }
        loop {
            match gate.judge_client(&held) {
                Ok(passage) => {
                    assert_eq!(outcome.refused, None, "after a refusal nothing passes");
                    assert!(passage.bytes <= held.len());
                    assert_eq!(passage.open, gate.is_open());
                    assert!(passage.open || !outcome.open, "what is open stays open");
                    outcome.open = passage.open;
                    outcome.passed.extend(held.drain(..passage.bytes));
                    if passage.bytes == 0 {
                        assert!(held.is_empty() || !passage.open);
                        assert!(held.len() < MOST_HELD, "held {}", held.len());
                        break;
                    }
                }
                Err(reason) => {
                    assert!(outcome.refused.is_none_or(|before| before == reason));
                    assert!(!gate.is_open());
                    outcome.refused = Some(reason);
                    break;
                }
            }
        }
    }
    outcome
}

/// The same in pieces of these sizes, again and again; 0 is an empty piece.
fn cut(events: &[GateEvent], sizes: &[usize]) -> Vec<GateEvent> {
    let mut sizes = sizes.iter().copied().cycle();
    let mut pieces = Vec::new();
    for event in events {
        let (Client(bytes) | Server(bytes)) = event;
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(sizes.next().unwrap().min(rest.len()));
            rest = after;
            pieces.push(match event {
                Client(_) => Client(piece.to_vec()),
                Server(_) => Server(piece.to_vec()),
            });
        }
    }
    pieces
}

/// What comes of it, in one piece or in many.
fn outcome(gate: fn() -> ProtocolGate, events: &[GateEvent]) -> GateOutcome {
    let whole = run(gate(), events);
    for sizes in [&[1][..], &[2], &[3, 1, 7], &[0, 5], &[1400], &[4096, 1]] {
        // One byte at a time is tried where it does not take all day.
        let pieces = cut(events, sizes);
        if pieces.len() < 20_000 {
            assert_eq!(run(gate(), &pieces), whole, "in pieces of {sizes:?}");
        }
    }
    let said: Vec<u8> = events
        .iter()
        .flat_map(|event| match event {
            Client(bytes) => bytes.clone(),
            Server(_) => Vec::new(),
        })
        .collect();
    assert!(said.starts_with(&whole.passed), "what passes is what was said");
    whole
}

fn refused(outcome: &GateOutcome) -> Option<&RefusalReason> {
    outcome.refused.as_ref()
}
