//! Any bytes are shown to the HTTP gate, whole and in pieces: the same passes, and httparse finds one right host in the head.
#![no_main]

mod gates;

use gates::{NAME, conversation, pass};
use libfuzzer_sys::fuzz_target;
use skillsandbox_egress::hostile::FuzzGate;

fuzz_target!(|bytes: &[u8]| {
    let said = conversation(bytes);
    let whole = pass(FuzzGate::http(NAME, 80), &said, usize::MAX);
    for size in [1, 3, 64] {
        assert_eq!(pass(FuzzGate::http(NAME, 80), &said, size), whole);
    }
    if !whole.open {
        check(&whole.passed);
    }
});

/// Reads all requests as another reader does, one after the other.
fn check(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let mut headers = vec![httparse::EMPTY_HEADER; bytes.len() / 4];
        let mut request = httparse::Request::new(&mut headers);
        let Ok(httparse::Status::Complete(end)) = request.parse(bytes) else {
            panic!("{:?}", String::from_utf8_lossy(bytes))
        };
        bytes = &bytes[end..];
        let values = |name: &str| -> Vec<&[u8]> {
            request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value).collect()
        };
        let [host] = values("host")[..] else { panic!("not one host") };
        let host = host.to_ascii_lowercase();
        assert!(host == NAME.as_bytes() || host == format!("{NAME}:80").as_bytes());
        match (&values("content-length")[..], &values("transfer-encoding")[..]) {
            ([], []) => {}
            ([length], []) => {
                let length: usize = std::str::from_utf8(length).unwrap().parse().unwrap();
                bytes = bytes.get(length..).unwrap_or_default();
            }
            ([], [b"chunked"]) => bytes = after_chunks(bytes),
            other => panic!("{other:?}"),
        }
    }
}

fn after_chunks(mut bytes: &[u8]) -> &[u8] {
    loop {
        match httparse::parse_chunk_size(bytes).expect("a size") {
            httparse::Status::Partial => return &[],
            httparse::Status::Complete((line, 0)) => {
                bytes = &bytes[line..];
                if let Some(rest) = bytes.strip_prefix(b"\r\n") {
                    return rest;
                }
                let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
                return end.map_or(&[], |end| &bytes[end + 4..]);
            }
            httparse::Status::Complete((line, size)) => {
                let end = usize::try_from(size).unwrap().saturating_add(line);
                let Some(rest) = bytes.get(end..) else { return &[] };
                match rest {
                    [] | [b'\r'] => return &[],
                    [b'\r', b'\n', rest @ ..] => bytes = rest,
                    _ => panic!("no line end after a chunk"),
                }
            }
        }
    }
}
