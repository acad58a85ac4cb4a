//! Any bytes are either a trace that verifies, or refused with a line of it. Also behind the hashes: an attacker can compute them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sha2::{Digest as _, Sha256};
use skillsandbox_tracer::{TraceError, TraceReader, verify_trace_from};

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    check(&rechained(bytes));
});

fn check(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    let events = TraceReader::new(bytes).map_or(0, |reader| reader.map_while(Result::ok).count());
    match TraceReader::new(bytes).and_then(verify_trace_from) {
        Ok(verified) => {
            assert_eq!(verified.summary.events, events as u64);
            // One byte less, or one more, is another file.
            assert!(TraceReader::new(&bytes[..bytes.len() - 1]).and_then(verify_trace_from).is_err());
            let more = [bytes, b"\n"].concat();
            assert!(TraceReader::new(more.as_slice()).and_then(verify_trace_from).is_err());
        }
        Err(TraceError::Tampered(tampered)) => {
            assert!(tampered.line <= lines, "{tampered}");
            assert!(tampered.to_string().len() < 1000);
        }
        Err(error) => assert!(error.to_string().len() < 1000),
    }
}

/// The same with every hash put right.
fn rechained(bytes: &[u8]) -> Vec<u8> {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut out = Vec::new();
    let mut hash = Vec::new();
    let mut tail: Option<Vec<u8>> = None;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if hash.is_empty() && line.starts_with(b"  \"hash\": \"") {
            hash = Sha256::digest(&out).to_vec();
            out.extend(format!("  \"hash\": \"{}\",\n", hex(&hash)).bytes());
        } else if line.starts_with(b"  \"digest\": \"") {
            let tail = tail.take().unwrap_or_default();
            hash = Sha256::digest([hash, tail].concat()).to_vec();
            out.extend(format!("  \"digest\": \"{}\"\n", hex(&hash)).bytes());
        } else if let (None, Some(at)) = (&tail, line.windows(9).rposition(|window| window == b",\"hash\":\"")) {
            hash = Sha256::digest([&hash, &line[..at]].concat()).to_vec();
            let end = if line.ends_with(b",\n") { ",\n" } else { "\n" };
            out.extend_from_slice(&line[..at]);
            out.extend(format!(",\"hash\":\"{}\"}}{end}", hex(&hash)).bytes());
        } else {
            match &mut tail {
                Some(tail) => tail.extend_from_slice(line),
                None if line == b"  ],\n" => tail = Some(Vec::new()),
                None => {}
            }
            out.extend_from_slice(line);
        }
    }
    out
}
