mod answer;
mod client;
mod hostile;
mod stubs;

use crate::policy::EgressPolicy;
use crate::rule::NetworkRule;
use crate::synthetic_addresses::SyntheticAddresses;

fn names() -> SyntheticAddresses {
    let mut policy = EgressPolicy::new();
    for name in ["api.weather.test", "*.cdn.test", "deep.in.the.tree.invalid"] {
        policy.allow(NetworkRule::domain(name).unwrap()).unwrap();
    }
    SyntheticAddresses::new(&policy)
}

/// A name in labels. `%` stands for a dot in a label.
fn wire(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for label in name.split('.').filter(|label| !label.is_empty()) {
        out.push(u8::try_from(label.len()).unwrap());
        out.extend(label.bytes().map(|byte| if byte == b'%' { b'.' } else { byte }));
    }
    out.push(0);
    out
}

/// A message with one question and whatever else.
fn message(flags: u16, counts: [u16; 4], rest: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![0xab, 0xcd];
    out.extend_from_slice(&flags.to_be_bytes());
    out.extend(counts.iter().flat_map(|count| count.to_be_bytes()));
    out.extend(rest.concat());
    out
}

fn question(name: &str, kind: u16, class: u16) -> Vec<u8> {
    [wire(name), kind.to_be_bytes().to_vec(), class.to_be_bytes().to_vec()].concat()
}

/// What a stub resolver sends.
fn query(name: &str, kind: u16) -> Vec<u8> {
    message(0x0100, [1, 0, 0, 0], &[&question(name, kind, 1)])
}

/// A record with its owner as it is written.
fn record(owner: &[u8], kind: u16, class: u16, ttl: u32, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    let mut out = owner.to_vec();
    for word in [kind.to_be_bytes(), class.to_be_bytes()] {
        out.extend_from_slice(&word);
    }
    out.extend_from_slice(&ttl.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(data);
    out
}
