//! Any bytes are either a trace that verifies, and then is exactly what is written for it, or refused with a line of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_tracer::{Error, Reader, verify_from};

fuzz_target!(|bytes: &[u8]| {
    let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
    let events = Reader::new(bytes).map_or(0, |reader| reader.map_while(Result::ok).count());
    match Reader::new(bytes).and_then(verify_from) {
        Ok(verified) => {
            assert_eq!(verified.summary.events, events as u64);
            // One byte less, or one more, is another file.
            assert!(Reader::new(&bytes[..bytes.len() - 1]).and_then(verify_from).is_err());
            let more = [bytes, b"\n"].concat();
            assert!(Reader::new(more.as_slice()).and_then(verify_from).is_err());
        }
        Err(Error::Tampered(tampered)) => {
            assert!(tampered.line <= lines, "{tampered}");
            assert!(tampered.to_string().len() < 1000);
        }
        Err(error) => assert!(error.to_string().len() < 1000),
    }
});
