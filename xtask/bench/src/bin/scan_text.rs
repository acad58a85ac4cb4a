//! Scans one made text, so that its instructions can be counted: `clean`, `hostile`, or `start` for nothing but the start.

use skillsandbox_benches::{clean_skill, hostile_texts};
use skillsandbox_scanner::{Scanner, SkillFiles};

fn main() {
    let scanner = Scanner::new();
    let texts = match std::env::args().nth(1).as_deref() {
        Some("clean") => vec![clean_skill(1 << 20)],
        Some("hostile") => hostile_texts(64 << 10).into_iter().map(|(_, text)| text).collect(),
        _ => vec![clean_skill(1 << 10)],
    };
    for text in texts {
        std::hint::black_box(scanner.scan(&SkillFiles::from_skill_md("text", text)));
    }
}
