//! Reads every fuzz seed, and every input that once broke something (fuzz/crashes), as the fuzz target does.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_test_support::small_trace;
use std::fs;
use std::path::Path;

#[test]
fn seeds_and_former_crashes_are_read() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let (mut intact, mut refused) = (0, 0);
    for folder in ["seeds/trace", "crashes"] {
        for entry in fs::read_dir(fuzz.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let bytes = fs::read(entry.unwrap().path()).unwrap();
            match small_trace::verify_bytes(&bytes) {
                Ok(_) => intact += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(intact >= 2 && refused >= 1, "{intact} seeds are traces, {refused} are none");
}
