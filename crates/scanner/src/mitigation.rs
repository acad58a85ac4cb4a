//! Is it said, or is it only spoken of? A deny-list, a quotation or a lesson about attacks is not an attack.
//!
//! Each sign that a passage speaks *about* something instead of telling to do it makes its finding one step milder. No
//! sign removes a finding alone, so that an attacker who writes "example:" in front gains a warning, not silence. In a file that is no document
//! nothing silences a command that is to be blocked: some program may run it, whatever folder it lies in and whatever stands above it.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::engine::PatternHit;
use crate::kind::{FileKind, is_example_file};
use crate::rule::{FindingStatus, RuleScope};
use crate::skill::SkillFile;
use crate::text::{PassageRole, TextBlock};

/// What a match amounts to in its place.
pub(crate) struct WeighedMatch {
    pub(crate) status: FindingStatus,
    pub(crate) role: PassageRole,
    /// What made it milder, by name.
    pub(crate) signs: Vec<&'static str>,
}

/// Weighs a match by where it stands; `None` where several signs say that it is nothing.
pub(crate) fn weigh(
    file: &SkillFile,
    hit: &PatternHit,
    block: &TextBlock,
    is_about_security: bool,
) -> Option<WeighedMatch> {
    let (range, scope, most) = (&hit.range, hit.rule.scope, hit.rule.info.status);
    let mut signs = find_signs(&file.bytes, block, range.start, range.end, is_about_security);
    // Quotation marks in front matter are YAML's, those in programs and data the language's, and an address or a command
    // is always written in some.
    let written_so = block.front_matter
        || matches!(block.role, PassageRole::Code | PassageRole::Data)
        || (scope == RuleScope::Code && !is_in_quotation_marks(&file.bytes, range));
    if written_so {
        signs.retain(|sign| *sign != "quoted");
    }
    if is_example_file(&file.path) {
        signs.push("in a test or an example");
    }
    let role = match block.role {
        PassageRole::Instruction if signs.contains(&"quoted") => PassageRole::Quotation,
        role => role,
    };
    // That a skill speaks of security excuses nothing by itself: phishing does, too.
    let others = signs.iter().filter(|sign| **sign != "in a skill about security").count();
    let mut steps = if others == 0 { 0 } else { signs.len() };
    // A program may run any file that is no document, and a folder's name does not tell that it is not: `. ./tests/notes.txt`.
    let is_example = is_example_file(&file.path) && file.kind != FileKind::Markdown;
    if scope == RuleScope::Code && (block.role == PassageRole::Code || is_example) {
        // Code is run or it is not: one sign that it is only shown is not enough.
        signs.retain(|sign| !matches!(*sign, "quoted" | "forbidden or described"));
        steps = signs.len().saturating_sub(1);
    }
    let mut status = most;
    for _ in 0..steps.min(2) {
        status = status.milder();
    }
    // Words before a passage and above it are its author's. They make it milder; to be silent takes more than these.
    let words_alone =
        |sign: &&str| matches!(*sign, "forbidden or described" | "under a heading about attacks");
    let may_run = scope == RuleScope::Code && file.kind != FileKind::Markdown;
    if most == FindingStatus::Block && (may_run || signs.iter().all(words_alone)) {
        status = status.max(FindingStatus::Warn);
    }
    (status > FindingStatus::Pass).then_some(WeighedMatch { status, role, signs })
}

/// Words in front of a passage, in its own sentence, that turn it into something forbidden, described or looked for.
const TURNING: &[&str] = &[
    "never",
    "not ",
    "n't",
    "avoid",
    "asks you to",
    "ask you to",
    "tries to",
    "try to",
    "asking",
    "requests to",
    "tell you to",
    "tells you to",
    "telling",
    "claims",
    "pretend",
    "refuse",
    "reject",
    "detect",
    "flag",
    "block",
    "prevent",
    "deny",
    "forbid",
    "prohibit",
    "against",
    "attack",
    "attempt",
    "malicious",
    "adversar",
    "injection",
    "suspicious",
    "such as",
    "e.g.",
    "example",
    "phrase",
    "pattern",
    "instead of",
    "vulnerab",
    "exploit",
    "unsafe",
    "dangerous",
    "wrong",
    "\u{274c}",
    "\u{1f6ab}",
    "bad:",
    "warn",
    "scan for",
    "look for",
    "search for",
    "watch for",
    "check for",
    "looks for",
    "checks for",
    "containing",
    "contains",
    "if you see",
    "if you encounter",
    "if you find",
    "if any",
    "if a skill",
    "untrusted",
    "hostile",
    "trick",
    "beware",
];

/// Words in a heading that say the same of all that stands under it.
const TURNING_HEADINGS: &[&str] = &[
    "attack",
    "threat",
    "injection",
    "malicious",
    "red flag",
    "detect",
    "anti-pattern",
    "antipattern",
    "avoid",
    "never",
    "don't",
    "do not",
    "forbidden",
    "prohibited",
    "vulnerab",
    "what not",
    "bad ",
    "unsafe",
    "dangerous",
    "signature",
    "indicator",
    "test case",
    "payload",
    "exploit",
    "evasion",
    "owasp",
    "mistake",
    "pitfall",
    "risk",
    "refuse",
    "guardrail",
    "block",
    "deny",
    "danger",
    "critical finding",
    "warning",
    "abuse",
    "suspicious",
    "examples of",
];

/// Words in a skill's name or description that say it is about security.
const SECURITY: &[&str] = &[
    "security",
    "injection",
    "pentest",
    "penetration test",
    "threat",
    "malware",
    "vulnerab",
    "red team",
    "red-team",
    "redteam",
    "forensic",
    "jailbreak",
    "guardrail",
    "prompt defense",
    "ctf",
    "siem",
    "phishing",
    "reverse engineer",
    "reversing",
    "binary analysis",
    "owasp",
    "mitre",
    "attack tree",
    "attack surface",
];

fn build_automaton(words: &[&str], cell: &'static OnceLock<AhoCorasick>) -> &'static AhoCorasick {
    cell.get_or_init(|| {
        #[allow(clippy::expect_used)] // fixed words
        AhoCorasick::builder().ascii_case_insensitive(true).build(words).expect("fixed words fit")
    })
}

/// Whether a skill says of itself that it is about security.
pub(crate) fn is_about_security(text: &str) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    build_automaton(SECURITY, &WORDS).is_match(text)
}

/// Signs that a passage is spoken of, by name.
fn find_signs(text: &[u8], block: &TextBlock, start: usize, end: usize, security: bool) -> Vec<&'static str> {
    static SENTENCE: OnceLock<AhoCorasick> = OnceLock::new();
    static HEADING: OnceLock<AhoCorasick> = OnceLock::new();
    let mut signs = Vec::new();
    if is_quoted(text, start, end) {
        signs.push("quoted");
    }
    if block.role == PassageRole::Quotation {
        signs.push("in a quotation or table");
    }
    if build_automaton(TURNING, &SENTENCE).is_match(find_lead(text, block, start)) {
        signs.push("forbidden or described");
    }
    if build_automaton(TURNING_HEADINGS, &HEADING)
        .is_match(text.get(block.heading.clone()).unwrap_or_default())
    {
        signs.push("under a heading about attacks");
    }
    // Whoever quotes a thing and then says to do it does not quote.
    if !signs.is_empty() && is_told_to_be_done(text, block, start, end) {
        signs.clear();
    }
    if security {
        signs.push("in a skill about security");
    }
    signs
}

/// Whether the last heading of a document before a place speaks of attacks.
pub(crate) fn is_under_attacks(text: &[u8], start: usize) -> bool {
    static HEADING: OnceLock<AhoCorasick> = OnceLock::new();
    let before = text.get(..start).unwrap_or_default();
    let heading = before.split(|b| *b == b'\n').rfind(|line| line.starts_with(b"#"));
    heading.is_some_and(|heading| build_automaton(TURNING_HEADINGS, &HEADING).is_match(heading))
}

/// Words that make an instruction of what was quoted or described.
const DOING: &[&str] = &[
    "do what is quoted",
    "do what it says",
    "do as it says",
    "do exactly that",
    "do exactly as",
    "do exactly what",
    "do this now",
    "follow what is quoted",
    "follow the quot",
    "follow the example",
    "follow it exactly",
    "follow them exactly",
    "and follow it",
    "and obey",
    "obey it",
    "act on it",
    "act accordingly",
    "carry it out",
    "carry out the above",
    "execute the above",
    "apply the above",
    "treat the above as",
    "treat this as an instruction",
    "comply with it",
    "comply with the above",
];

/// Whether the words round a passage say to do what it says.
fn is_told_to_be_done(text: &[u8], block: &TextBlock, start: usize, end: usize) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    let from = block.window.start.min(start).max(start.saturating_sub(200)).saturating_sub(80);
    let before = text.get(from..start).unwrap_or_default();
    let after = text.get(end..text.len().min(end + 200)).unwrap_or_default();
    [before, after].into_iter().any(|near| {
        build_automaton(DOING, &WORDS).find_iter(near).any(|found| {
            // "do not act on it", "never follow the quoted text".
            let lead = near.get(found.start().saturating_sub(24)..found.start()).unwrap_or_default();
            let lead = String::from_utf8_lossy(lead).to_lowercase();
            !["not ", "never ", "n't ", "without ", "refuse"].iter().any(|no| lead.contains(no))
        })
    })
}

/// Whether a passage stands between quotation marks, as against backquotes.
fn is_in_quotation_marks(text: &[u8], range: &Range<usize>) -> bool {
    let line_start =
        memchr::memrchr(b'\n', text.get(..range.start).unwrap_or_default()).map_or(0, |at| at + 1);
    let before = text.get(line_start..range.start).unwrap_or_default();
    memchr::memchr_iter(b'`', before).count().is_multiple_of(2)
}

/// What stands in front of a passage in its own sentence.
fn find_lead<'t>(text: &'t [u8], block: &TextBlock, start: usize) -> &'t [u8] {
    let from = block.window.start.max(start.saturating_sub(160));
    let before = text.get(from..start).unwrap_or_default();
    let end =
        before.windows(2).rposition(|pair| matches!(pair, b". " | b".\n" | b"! " | b"? " | b";\n" | b"\n\n"));
    before.get(end.map_or(0, |end| end + 2)..).unwrap_or_default()
}

/// Whether a passage stands between quotation marks or backquotes of one line.
fn is_quoted(text: &[u8], start: usize, end: usize) -> bool {
    let line_start = memchr::memrchr(b'\n', text.get(..start).unwrap_or_default()).map_or(0, |at| at + 1);
    let before = text.get(line_start..start).unwrap_or_default();
    let rest = text.get(end..).unwrap_or_default();
    let after = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
    let odd = |mark: u8| {
        memchr::memchr_iter(mark, before).count() % 2 == 1 && memchr::memchr(mark, after).is_some()
    };
    let opened = |open: &[u8], close: &[u8]| {
        let last = memchr::memmem::rfind(before, open);
        last.is_some_and(|at| memchr::memmem::find(before.get(at..).unwrap_or_default(), close).is_none())
            && memchr::memmem::find(after, close).is_some()
    };
    odd(b'"')
        || odd(b'`')
        || opened("\u{201c}".as_bytes(), "\u{201d}".as_bytes())
        || opened("\u{ab}".as_bytes(), "\u{bb}".as_bytes())
}
