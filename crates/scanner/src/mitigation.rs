//! Is it said, or is it only spoken of? A deny-list, a quotation or a lesson about attacks is not an attack.
//!
//! What decides is how the passage is put before the model that reads it: whether its own sentence forbids it or reports it of somebody else,
//! whether it is quoted inside a sentence about it, whether the sentence that introduces its list or block says that attacks follow, and
//! whether it could work at all (`ATTACKER_IP` is no host). What a skill says of itself, a heading, a quotation mark at the start of a line or a
//! table decide nothing: an author adds those freely, and the model reads the passage all the same.
//!
//! A sign makes a finding one step milder, and no number of signs makes it two: what would be blocked is warned of, what would be warned of is
//! still listed.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::engine::PatternHit;
use crate::kind::FileKind;
use crate::rule::{CheckId, FindingStatus, RuleScope};
use crate::skill::SkillFile;
use crate::text::{PassageRole, TextBlock};

/// What a match amounts to in its place.
pub(crate) struct WeighedMatch {
    pub(crate) status: FindingStatus,
    pub(crate) role: PassageRole,
    /// What made it milder, by name.
    pub(crate) signs: Vec<&'static str>,
}

/// Weighs a match by where it stands; `is_example` where that is among tests or examples that nobody is sent to.
pub(crate) fn weigh(file: &SkillFile, hit: &PatternHit, block: &TextBlock, is_example: bool) -> WeighedMatch {
    let (range, scope, most) = (&hit.range, hit.rule.scope, hit.rule.info.status);
    let text = file.bytes.as_slice();
    // Code is run or it is not: words round it in the same file say little. A document that shows code introduces it.
    // Any program may run a file that is no document, whatever stands above the command in it.
    let is_program = (block.role == PassageRole::Code && !block.fenced)
        || (scope == RuleScope::Code && file.kind != FileKind::Markdown);
    let mut signs = Vec::new();
    if !is_program && !block.front_matter {
        signs = find_signs(text, block, range, scope);
        // Whoever quotes a thing and then says to do it does not quote.
        if !signs.is_empty() && is_told_to_be_done(text, block, range) {
            signs.clear();
        }
    }
    if scope == RuleScope::Code && has_placeholder(text, block, range) {
        signs.push("written with a placeholder");
    }
    // `base64 -d \\| bash` is a pattern that looks for the command.
    if scope == RuleScope::Code
        && memchr::memmem::find(text.get(range.clone()).unwrap_or_default(), b"\\|").is_some()
    {
        signs.push("written as a pattern");
    }
    if scope == RuleScope::Anywhere
        && hit.rule.info.check == CheckId::Injection
        && block.role == PassageRole::Code
    {
        signs.push("a text in a program");
    }
    // A program may run any file that is no document, and a folder's name does not tell that it is not: `. ./tests/notes.txt`.
    if is_example && (scope != RuleScope::Code || file.kind == FileKind::Markdown) {
        signs.push("in a test or an example");
    }
    let role = match block.role {
        PassageRole::Instruction if signs.contains(&"quoted in a sentence") => PassageRole::Quotation,
        role => role,
    };
    let status = if signs.is_empty() { most } else { most.milder() };
    WeighedMatch { status, role, signs }
}

/// Words in front of a passage, in its own sentence, that forbid it.
const FORBIDDING: &[&str] = &[
    "never",
    "not ",
    "n't ",
    "n\u{2019}t ",
    "avoid",
    "refuse",
    "reject",
    "prevent",
    "deny",
    "forbid",
    "prohibit",
    "instead of",
    "beware",
    "stop and",
    "\u{274c}",
    "\u{1f6ab}",
    "\u{26d4}",
];

/// Words in front of a passage, in its own sentence, that report it of somebody else or look for it.
const REPORTING: &[&str] = &[
    "asks you to",
    "ask you to",
    "wants you to",
    "want you to",
    "that tell",
    "tells an agent",
    "tells the agent",
    "tell an agent",
    "instructs you",
    "instruct you",
    "says to",
    "if a page",
    "if the page",
    "if an email",
    "if a document",
    "if content",
    "if someone",
    "if somebody",
    "content that",
    "text that",
    "pages that",
    "asking you",
    "tell you to",
    "tells you to",
    "telling you",
    "tries to",
    "try to",
    "trying to",
    "attempts to",
    "attempting",
    "attempt to",
    "claims to",
    "detect",
    "flag ",
    "flags ",
    "flagged",
    "against",
    "attack",
    "malicious",
    "adversar",
    "injection",
    "suspicious",
    "vulnerab",
    "exploit",
    "unsafe",
    "dangerous",
    "red flag",
    "reverse shell",
    "obfuscat",
    "exfiltrat",
    "backdoor",
    "malware",
    "phishing",
    "scan for",
    "look for",
    "search for",
    "watch for",
    "check for",
    "looks for",
    "checks for",
    "scans for",
    "if you see",
    "if you encounter",
    "if you find",
    "if a skill",
    "if any skill",
    "untrusted",
    "hostile",
    "trick",
    "patterns like",
    "pattern:",
    "patterns:",
    "phrases like",
    "such as \"",
    "bad:",
    "wrong:",
    "anti-pattern",
    "antipattern",
];

fn build_automaton(words: &[&str], cell: &'static OnceLock<AhoCorasick>) -> &'static AhoCorasick {
    cell.get_or_init(|| {
        #[allow(clippy::expect_used)] // fixed words
        AhoCorasick::builder().ascii_case_insensitive(true).build(words).expect("fixed words fit")
    })
}

fn forbids(text: &[u8]) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    build_automaton(FORBIDDING, &WORDS).find_iter(text).any(|found| {
        // "Do not forget to", "never skip": what must not be left out is ordered.
        let behind = text.get(found.end()..text.len().min(found.end() + 12)).unwrap_or_default();
        let behind = String::from_utf8_lossy(behind).to_ascii_lowercase();
        let behind = behind.trim_start();
        !OMITTING.iter().any(|word| behind.starts_with(word))
    })
}

/// Verbs whose negation is an order.
const OMITTING: &[&str] =
    &["forget", "fail", "hesitate", "skip", "miss", "omit", "neglect", "leave", "wait", "worry"];

fn reports(text: &[u8]) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    build_automaton(REPORTING, &WORDS).is_match(text)
}

/// Signs that a passage is spoken of, by name.
fn find_signs(text: &[u8], block: &TextBlock, range: &Range<usize>, scope: RuleScope) -> Vec<&'static str> {
    let mut signs = Vec::new();
    let lead = find_lead(text, block, range.start);
    if !block.fenced && forbids(lead) {
        signs.push("forbidden in its sentence");
    }
    if !block.fenced && (reports(lead) || find_row(text, range).is_some_and(reports)) {
        signs.push("reported in its sentence");
    }
    // Commands are always written in some marks.
    if scope != RuleScope::Code && block.role != PassageRole::Data && is_quoted_in_sentence(text, range) {
        signs.push("quoted in a sentence");
    }
    if block.fenced && scope != RuleScope::Code && count_quoted_lines(text, block) >= QUOTED_LINES {
        signs.push("one of several quotations");
    }
    let introduction = text.get(block.introduction.clone()).unwrap_or_default();
    if !introduction.is_empty() && introduces_attacks(introduction) {
        signs.push("introduced as an attack");
    }
    signs
}

/// So many quoted lines of one block are a collection, not something that is said.
const QUOTED_LINES: usize = 3;

/// Lines of a block that are nothing but a quotation.
fn count_quoted_lines(text: &[u8], block: &TextBlock) -> usize {
    let is_quoted = |line: &&[u8]| {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"- ").unwrap_or(line);
        line.len() > 2 && line.starts_with(b"\"") && line.strip_suffix(b",").unwrap_or(line).ends_with(b"\"")
    };
    text.get(block.window.clone()).unwrap_or_default().split(|b| *b == b'\n').filter(is_quoted).count()
}

/// Whether the sentence in front of a list, a table or a block says that what follows is not to be done.
fn introduces_attacks(introduction: &[u8]) -> bool {
    let trimmed = introduction.trim_ascii();
    // Of a paragraph, its last sentence; of a table, its first row.
    let last = trimmed.windows(2).rposition(|pair| matches!(pair, b". " | b".\n" | b"! " | b"? "));
    let sentence = trimmed.get(last.map_or(0, |at| at + 2)..).unwrap_or_default();
    reports(sentence) || forbids(sentence)
}

/// Words that stand for a host or an address that somebody is to fill in: what is written with them does nothing.
const PLACEHOLDERS: &[&str] = &[
    "attacker_ip",
    "attacker-ip",
    "attackerip",
    "<attacker",
    "{attacker",
    "$attacker",
    "attacker:",
    "attacker/",
    "attacker port",
    "\"attacker\"",
    "'attacker'",
    "lhost",
    "rhost",
    "<ip>",
    "<ip ",
    "<ip:",
    "<your",
    "<host",
    "<target",
    "<c2",
    "<lport",
    "<port>",
    "your_ip",
    "your-ip",
    "your_server",
    "your-server",
    "yourip",
    "target_ip",
    "$target",
    "$ip/",
    "$ip ",
    "$rhost",
    "kali_ip",
    "127.0.0.1",
    "localhost",
    "//0.0.0.0",
    "//example.com",
    "//www.example.",
    "//api.example.",
    "[ip]",
    "/ip/port",
    "[host]",
    "{ip}",
    "{host}",
    "{{",
];

/// Whether what a command talks to is left for somebody to fill in, or the machine itself.
fn has_placeholder(text: &[u8], block: &TextBlock, range: &Range<usize>) -> bool {
    let line_start =
        memchr::memrchr(b'\n', text.get(..range.start).unwrap_or_default()).map_or(0, |at| at + 1);
    let rest = text.get(range.end..).unwrap_or_default();
    let line_end = range.end + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    names_placeholder(text, &(line_start.max(block.window.start)..line_end.min(block.window.end)))
}

/// Whether one of these stands on the first line of a range.
fn names_placeholder(text: &[u8], range: &Range<usize>) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    let passage = text.get(range.clone()).unwrap_or_default();
    let line = passage.get(..memchr::memchr(b'\n', passage).unwrap_or(passage.len())).unwrap_or_default();
    build_automaton(PLACEHOLDERS, &WORDS).is_match(line)
}

/// Signs that a piece of code at a place is spoken of, by name: in a fence, by what introduces it; in a sentence, by what that says before it.
pub(crate) fn find_code_signs(text: &[u8], range: &Range<usize>) -> Vec<&'static str> {
    let mut signs = Vec::new();
    let line_start =
        memchr::memrchr(b'\n', text.get(..range.start).unwrap_or_default()).map_or(0, |at| at + 1);
    let lead = text.get(line_start..range.start).unwrap_or_default();
    let is_inline = memchr::memchr_iter(b'`', lead).count() % 2 == 1;
    if is_inline {
        if forbids(lead) {
            signs.push("forbidden in its sentence");
        }
        if reports(lead) {
            signs.push("reported in its sentence");
        }
    } else if is_introduced_as_attack(text, range.start) {
        signs.push("introduced as an attack");
    }
    if names_placeholder(text, &(line_start..text.len().min(range.end.max(range.start + 1) + 160))) {
        signs.push("written with a placeholder");
    }
    signs
}

/// Whether a fenced block of a document that holds a place is introduced as an attack, or as what is not to be done.
fn is_introduced_as_attack(text: &[u8], start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let fence = ["```", "~~~"].iter().filter_map(|mark| memchr::memmem::rfind(before, mark.as_bytes())).max();
    let before = before.get(..fence.unwrap_or(0)).unwrap_or_default().trim_ascii_end();
    let paragraph = memchr::memmem::rfind(before, b"\n\n").map_or(0, |at| at + 2);
    let paragraph = before.get(paragraph..).unwrap_or_default();
    !paragraph.is_empty() && !paragraph.starts_with(b"#") && introduces_attacks(paragraph)
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
fn is_told_to_be_done(text: &[u8], block: &TextBlock, range: &Range<usize>) -> bool {
    static WORDS: OnceLock<AhoCorasick> = OnceLock::new();
    let (start, end) = (range.start, range.end);
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

/// What stands behind a passage in its row of a table: often what it is.
fn find_row<'t>(text: &'t [u8], range: &Range<usize>) -> Option<&'t [u8]> {
    let before = text.get(..range.start)?;
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let rest = text.get(range.end..)?;
    let is_row = text.get(line_start..)?.trim_ascii_start().starts_with(b"|");
    is_row.then(|| rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len()))).flatten()
}

/// How far behind a comma a list still goes on.
const LIST_GAP: usize = 24;

/// Whether what stands before a comma is a list already, or quotes.
fn is_list(sentence: &[u8]) -> bool {
    memchr::memchr_iter(b',', sentence).count() >= 2 || memchr::memchr2(b'`', b'"', sentence).is_some()
}

/// What stands in front of a passage in its own sentence.
fn find_lead<'t>(text: &'t [u8], block: &TextBlock, start: usize) -> &'t [u8] {
    let from = block.window.start.max(start.saturating_sub(160));
    let before = text.get(from..start).unwrap_or_default();
    let end =
        before.windows(2).rposition(|pair| matches!(pair, b". " | b".\n" | b"! " | b"? " | b";\n" | b"\n\n"));
    let sentence = before.get(end.map_or(0, |end| end + 2)..).unwrap_or_default();
    // A clause that a comma ends governs nothing behind it, unless a list goes on there: "never run a, b or `c`".
    match memchr::memmem::rfind(sentence, b", ") {
        Some(comma)
            if sentence.len() - comma > LIST_GAP || sentence.len() - comma <= 3 && !is_list(sentence) =>
        {
            sentence.get(comma + 2..).unwrap_or_default()
        }
        _ => sentence,
    }
}

/// Fewest letters outside the marks of a sentence that quotes something.
const SENTENCE_LETTERS: usize = 12;

/// Whether a passage stands between quotation marks or backquotes of one line that has words of its own. A line that is nothing but a quotation
/// is put before the model like any other.
fn is_quoted_in_sentence(text: &[u8], range: &Range<usize>) -> bool {
    let line_start =
        memchr::memrchr(b'\n', text.get(..range.start).unwrap_or_default()).map_or(0, |at| at + 1);
    let before = text.get(line_start..range.start).unwrap_or_default();
    let rest = text.get(range.end..).unwrap_or_default();
    let after = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
    let letters = |bytes: &[u8]| bytes.iter().filter(|b| b.is_ascii_alphabetic() || !b.is_ascii()).count();
    // What stands before the opening mark and behind the closing one.
    let outside = |open: usize, close: usize| {
        letters(before.get(..open).unwrap_or_default()) + letters(after.get(close..).unwrap_or_default())
            >= SENTENCE_LETTERS
    };
    let odd = |mark: u8| {
        let open = memchr::memrchr(mark, before)?;
        let close = memchr::memchr(mark, after)?;
        (memchr::memchr_iter(mark, before).count() % 2 == 1).then_some((open, close))
    };
    let paired = |open: &str, close: &str| {
        let at = memchr::memmem::rfind(before, open.as_bytes())?;
        let is_open = memchr::memmem::find(before.get(at..)?, close.as_bytes()).is_none();
        let end = memchr::memmem::find(after, close.as_bytes())?;
        is_open.then_some((at, end))
    };
    [
        odd(b'"'),
        odd(b'`'),
        paired("\u{201c}", "\u{201d}"),
        paired("\u{ab}", "\u{bb}"),
        paired("\u{201e}", "\u{201c}"),
        paired("\u{300c}", "\u{300d}"),
    ]
    .into_iter()
    .flatten()
    .any(|(open, close)| outside(open, close))
}
