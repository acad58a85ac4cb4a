//! Any text is scanned as a document, a script and a configuration: nothing panics, places lie within the text, the same text
//! gives the same report.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use skillsandbox_scanner::{Scanner, SkillFiles};

static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

fuzz_target!(|bytes: &[u8]| {
    for name in ["SKILL.md", "run.sh", "config.json"] {
        let skill = SkillFiles::from_memory("fuzz", [(name, bytes)]);
        let report = SCANNER.scan(&skill);
        for finding in &report.findings {
            assert!(finding.range.0 <= finding.range.1, "{finding:?}");
        }
        assert_eq!(report, SCANNER.scan(&skill));
    }
});
