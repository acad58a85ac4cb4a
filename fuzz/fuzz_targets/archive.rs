//! Any bytes are opened as a file of a skill: nothing panics, and what is unpacked stays within its bounds.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skillsandbox_scanner::{Scanner, SkillFiles};

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

fuzz_target!(|bytes: &[u8]| {
    let skill = SkillFiles::from_memory("fuzz", [("payload.bin", bytes)]);
    // Reading is what is tested; judging megabytes of it would only take time.
    if bytes.len() < 4096 {
        let report = SCANNER.scan(&skill);
        assert!(report.scanned.bytes <= bytes.len() + (64 << 20));
    }
});
