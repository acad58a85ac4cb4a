//! A conversation with a server, and what a gate lets pass of it.

use skillsandbox_egress::RefusalReason;
use skillsandbox_egress::hostile::FuzzGate;

pub const NAME: &str = "api.weather.test";

/// Divides what is said by turns: first the client, then the server, then the client. Rare in what clients say.
const TURN: &[u8] = b"\xff\xfe\xfd\xfc";

#[derive(Debug)]
pub enum Said<'a> {
    Client(&'a [u8]),
    Server(&'a [u8]),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub passed: Vec<u8>,
    pub refused: Option<RefusalReason>,
    pub open: bool,
}

pub fn conversation(mut bytes: &[u8]) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    loop {
        let end = bytes.windows(TURN.len()).position(|window| window == TURN);
        let turn = &bytes[..end.unwrap_or(bytes.len())];
        said.push(if said.len() % 2 == 0 { Said::Client(turn) } else { Said::Server(turn) });
        let Some(end) = end else { return said };
        bytes = &bytes[end + TURN.len()..];
    }
}

pub fn pass(mut gate: FuzzGate, said: &[Said<'_>], size: usize) -> Outcome {
    let mut outcome = Outcome { passed: Vec::new(), refused: None, open: false };
    let mut held: Vec<u8> = Vec::new();
    for turn in said {
        let (Said::Client(turn_bytes) | Said::Server(turn_bytes)) = turn;
        for piece in turn_bytes.chunks(size) {
            match turn {
                Said::Client(_) => held.extend_from_slice(piece),
                Said::Server(_) => gate.observe_server(piece),
            }
            loop {
                match gate.judge_client(&held) {
                    Ok(0) => {
                        assert!(outcome.refused.is_none() && held.len() < 64 << 10);
                        break;
                    }
                    Ok(count) => outcome.passed.extend(held.drain(..count)),
                    Err(reason) => {
                        outcome.refused = Some(reason);
                        break;
                    }
                }
            }
        }
    }
    outcome.open = gate.is_open();
    outcome
}
