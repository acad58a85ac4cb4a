//! # CHECK-05: obfuscation
//!
//! ## What it looks for
//! Text that hides what it says: encodings, invisible or look-alike characters, escapes, reversed or spaced letters, hidden HTML. What
//! is found is decoded and scanned again, until nothing is left to decode. Also files in disguise: a picture or a text that is a program, a
//! script or an archive; data behind the end of a picture; an archive that two programs unpack differently; a script in an SVG. An archive that
//! stands in a text as Base64 or hexadecimal is not opened, and said to be unread.
//! A text is scanned in every reading that a program could take: UTF-16 with its mark and the plain letters behind it, UTF-16 without one, without zero bytes
//! (shells drop them), and a Python source in the encoding that it names (UTF-7, Latin-1). A source in any other encoding that is not plain text counts as unread.
//!
//! ## Why it matters
//! Models read through most of these; people and pattern matchers do not.
//!
//! ## Flagged
//! An instruction in Base64, tag characters or variation selectors behind a sentence, fillers between letters, `іgnore` with a Cyrillic letter.
//!
//! ## Not flagged
//! Archives and Office documents that could be read: what is in them is scanned like the rest. Images as data, hashes, emoji, right-to-left languages.
//!
//! ## Blind spots
//! Encryption, compressed data without a header, encodings made up for one skill, and data in the dots of a picture.
//!
//! ## References
//! MITRE ATT&CK T1027, T1140.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;
use skillsandbox_text::{is_invisible, is_tag, is_variation_selector};

use crate::checks::{Check, CheckInfo, binaries};
use crate::engine::SearchResult;
use crate::finding::{Finding, snippet};
use crate::hidden::{self, SELECTORS_IN_A_ROW, from_base64, is_look_alike, is_misplaced};
use crate::instructions;
use crate::kind::FileKind;
use crate::prefilter::TextSignals;
use crate::rule::CheckId::Obfuscation;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::{FindingStatus, RuleFamily, RuleInfo, code_rules};
use crate::runs::{foreign, runs, word_at};
use crate::scan_context::{ScanContext, ScanSubject, ScannedText};
use crate::text::{self, PassageRole};

/// The rules about ways of hiding.
const SIGN: RuleFamily =
    RuleFamily { check: Obfuscation, advice: "Ask what is hidden, and why.", techniques: &["T1027"] };

/// The rules about files in disguise: `binaries.rs`.
const DISGUISE: RuleFamily = RuleFamily {
    check: Obfuscation,
    advice: "Ask what is carried there, and why unseen.",
    techniques: &["T1027"],
};

code_rules! {
    ZERO_WIDTH = SIGN.code("zero-width", Warn, "Zero-width characters hide in the text");
    BIDI_CONTROLS = SIGN
        .code("bidi-controls", Block, "Characters reorder the text that people see")
        .techniques(&["T1036.002"]);
    TAG_CHARACTERS =
        SIGN.code("tag-characters", Block, "Invisible tag characters spell a text that models read").fact();
    VARIATION_SELECTORS = SIGN
        .code("variation-selectors", Block, "Invisible variation selectors spell a text that models read")
        .fact();
    LOOK_ALIKES = SIGN
        .code("look-alikes", Warn, "Letters of another alphabet stand in for Latin ones")
        .techniques(&["T1036"]);
    CONTROL_CHARACTERS = SIGN.code("control-characters", Warn, "Control characters stand in the text");
    PADDING = SIGN.code("padding", Warn, "A flood of blank lines pushes text out of sight");
    BASE64 = SIGN.code("base64", Warn, "A long Base64 run stands outside code");
    HIDDEN_HTML = SIGN.code("hidden-html", Warn, "Much of the text is hidden when it is shown");
    HIDDEN_PAYLOAD = SIGN
        .code("hidden-payload", Block, "What was encoded or disguised breaks a rule once it is made readable")
        .advice("Do not install it: nobody hides a passage like this for a good reason.")
        .role(PassageRole::Decoded)
        .techniques(&["T1027", "T1140"]);
    COMBINED = SIGN
        .code("combined", Block, "Several techniques of hiding stand together in one text")
        .advice("Do not install it.");
    TOO_MUCH = SIGN
        .code("too-much", Warn, "There is more than is looked at, so some of it was not judged")
        .advice("Ask what so much of it is for.")
        .fact();
    ENCODED_ARCHIVE = SIGN
        .code("encoded-archive", Warn, "An archive stands in the text as Base64 or hexadecimal; it is not opened")
        .advice("Unpack it, and ship the files.")
        .techniques(&["T1027", "T1140"])
        .fact();
    SVG_SCRIPT = DISGUISE
        .code("svg-script", Warn, "A picture in SVG carries a script, which runs where the picture is opened")
        .advice("Ship a picture without it.")
        .techniques(&["T1027.017"]);
    AMBIGUOUS_ARCHIVE = DISGUISE.code(
        "ambiguous-archive",
        Warn,
        "Two programs would unpack an archive differently: names, sizes or members that only one of them sees",
    );
    FAKE_EXTENSION = DISGUISE
        .code(
            "fake-extension",
            Warn,
            "A file's name says picture, sound, font, document or text, and its bytes are a program, a script or an archive",
        )
        .advice("Ask why it is disguised.")
        .techniques(&["T1036.008"]);
    POLYGLOT = DISGUISE
        .code("polyglot", Warn, "A file is of one kind at its beginning and an archive at its end")
        .techniques(&["T1036.008"]);
    TRAILING_DATA = DISGUISE
        .code("trailing-data", Warn, "Data stands behind the end of a picture, or between the members of an archive")
        .techniques(&["T1027.003"]);
}

/// CHECK-05: what a text hides, and files in disguise.
pub(crate) struct ObfuscationCheck;

static INFO: CheckInfo = CheckInfo {
    id: Obfuscation,
    source: include_str!("obfuscation.rs"),
    pattern_rules: &[],
    code_rules: &[CODE_RULES],
};

impl Check for ObfuscationCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, context: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        match subject {
            ScanSubject::Document(_) | ScanSubject::AgentDocument(_) | ScanSubject::Code(_) => {}
            ScanSubject::Text(text) => judge_hiding(context, text, findings),
            ScanSubject::Files(judged) => {
                binaries::add_findings(Obfuscation, context.skill, judged, findings);
            }
        }
    }
}

/// Files with hashes and drawings by the thousand, in which signs of hiding are chance. What they hide is read all the same.
const PASSED_OVER: &[&str] = &[".lock", "package-lock.json", ".svg", ".ipynb"];

/// Signs of hiding; and what is hidden, read again by all the rules.
fn judge_hiding(context: &ScanContext<'_>, subject: &ScannedText<'_>, findings: &mut Vec<Finding>) {
    let ScannedText { file, text, blocks, signals, .. } = *subject;
    let name = file.path.to_ascii_lowercase();
    if let Some(range) = find_svg_script(&name, text) {
        findings.push(Finding::in_file(&SVG_SCRIPT, file, range, SVG_SCRIPT.summary));
    }
    if let Some((range, archive)) = hidden::find_archive(text) {
        let why = format!("An archive ({archive}) stands in the text, encoded; what is in it was not read");
        findings.push(Finding::in_file(&ENCODED_ARCHIVE, file, range, why));
    }
    if PASSED_OVER.iter().any(|ending| name.ends_with(ending)) {
        read_hidden(context, subject, usize::MAX, findings);
        return;
    }
    let code: Vec<_> = text::code_ranges(blocks).collect();
    let mut techniques: Vec<&'static str> = Vec::new();
    for HidingSign { rule, range } in find_signs(text, file.kind == FileKind::Markdown, signals, &code) {
        techniques.push(rule.id);
        let status = status_in(rule, file.kind);
        findings.push(Finding::in_file(rule, file, range, rule.summary).with_status(status));
    }
    let was_read = read_hidden(context, subject, hidden::MAX_PIECES, findings);
    techniques.dedup();
    if techniques.len() >= 2 && !was_read {
        let why = format!("Several techniques of hiding together: {}", techniques.join(", "));
        findings.push(Finding::in_file(&COMBINED, file, 0..0, why));
    }
}

/// The first thing in an SVG that runs: a script, a handler of an event, an address that is code. By its name or by its beginning.
fn find_svg_script(name: &str, text: &str) -> Option<Range<usize>> {
    static PATTERN: OnceLock<Option<Regex>> = OnceLock::new();
    let head = text.get(..text.floor_char_boundary(1024)).unwrap_or_default();
    let named = std::path::Path::new(name).extension().is_some_and(|extension| extension == "svg");
    if !named && !head.trim_start().starts_with("<svg") {
        return None;
    }
    let pattern = PATTERN.get_or_init(|| {
        Regex::new(
            r#"(?i)<(?:[a-z]+:)?script[\s>/]|<(?:[a-z]+:)?(?:foreignObject|iframe|embed)[\s>][^<]*<(?:[a-z]+:)?script|\son[a-z]{3,24}\s*=\s*["']|(?:href|src|values|to|from)\s*=\s*["']\s*(?:javascript|data:text/html)"#,
        )
        .ok()
    });
    Some(pattern.as_ref()?.find(text.as_bytes())?.range())
}

/// Characters that turn the direction have an honest use outside of programs.
fn status_in(rule: &RuleInfo, kind: FileKind) -> FindingStatus {
    if *rule == BIDI_CONTROLS && kind != FileKind::Script { Warn } else { rule.status }
}

/// Ways of writing that honest texts have by chance. What comes to light by undoing these has to be certain; whoever went to the trouble of
/// encoding a text gets no such doubt.
const NATURAL: &[&str] =
    &["emphasis within words", "url encoding", "split strings", "defanged address", hidden::SHELL];

/// Makes readable what is hidden, and judges that; whether anything came to light.
fn read_hidden(
    context: &ScanContext<'_>,
    subject: &ScannedText<'_>,
    most_words: usize,
    findings: &mut Vec<Finding>,
) -> bool {
    let ScannedText { file, text, signals, .. } = *subject;
    let engine = &context.scanner.engine;
    let mut results = Vec::new();
    let (uncovered, complete) = hidden::uncover(text, most_words, signals, |hidden| {
        // What a shell would put together is a command, not a sentence.
        let role =
            if hidden.chain.contains(&hidden::SHELL) { PassageRole::Code } else { PassageRole::Instruction };
        let inner = text::split_plain(hidden.text.as_bytes(), role);
        let result = engine.search(hidden.text.as_bytes(), &inner);
        let signals = result.signals;
        results.push(result);
        signals
    });
    if !complete {
        let why = "It holds more encoded text than is decoded, so some was not read";
        findings.push(Finding::in_file(&TOO_MUCH, file, 0..0, why));
    }
    let mut was_read = false;
    for (hidden, SearchResult { hits, complete, told, signals: given }) in uncovered.into_iter().zip(results)
    {
        if !complete {
            let why =
                "A rule matches decoded text more often than is looked at, so some passages were not judged";
            findings.push(Finding::in_file(&TOO_MUCH, file, 0..0, why));
        }
        if let Some((_, archive)) = hidden::find_archive(&hidden.text) {
            let why = format!("An archive ({archive}) is encoded more than once; what is in it was not read");
            findings.push(Finding::in_file(&ENCODED_ARCHIVE, file, hidden.range.clone(), why));
        }
        let is_read_so = hidden.chain.iter().all(|how| NATURAL.contains(how));
        let mut broken_rules: Vec<_> = hits.iter().map(|hit| (&hit.rule.info, hit.range.clone())).collect();
        if !is_read_so {
            let blocks = text::split_plain(hidden.text.as_bytes(), PassageRole::Instruction);
            let inner = ScannedText {
                file,
                text: &hidden.text,
                blocks: &blocks,
                signals: given,
                told: &told,
                is_example: subject.is_example,
                body_start: None,
            };
            let mut sentences = Vec::new();
            instructions::judge_text(&inner, &mut sentences);
            broken_rules.extend(sentences.iter().map(|told| (told.info(), told.range.0..told.range.1)));
        }
        for (broken, range) in broken_rules {
            // What stands in the open was judged there; only what came to light by decoding counts here.
            let passage = hidden.text.get(range).unwrap_or_default();
            let times = |text: &str| text.matches(passage).count();
            let written = text.get(hidden.range.clone()).filter(|text| !text.is_empty()).unwrap_or(text);
            if (broken.status < Block && is_read_so)
                || passage.is_empty()
                || times(&hidden.text) <= times(written)
            {
                continue;
            }
            was_read = true;
            let why = format!("{} (hidden by {})", broken.summary, hidden.chain.join(", then "));
            let mut finding = Finding::in_file(&HIDDEN_PAYLOAD, file, hidden.range.clone(), why);
            finding.snippet = snippet(passage.as_bytes());
            finding.decoded_from = hidden.chain.iter().map(|how| (*how).to_owned()).collect();
            findings.push(finding.with_advice(broken.advice));
        }
    }
    was_read
}

/// A sign of hiding that means something by itself.
#[derive(Clone, Debug)]
struct HidingSign {
    rule: &'static RuleInfo,
    range: Range<usize>,
}

/// Signs of hiding that are worth a look even where nothing could be read.
fn find_signs(text: &str, is_markdown: bool, signals: TextSignals, code: &[Range<usize>]) -> Vec<HidingSign> {
    let mut found = Vec::new();
    let mut sign = |rule, range| found.push(HidingSign { rule, range });
    if !text.is_ascii() {
        let mut invisible = None;
        let mut bidi = None;
        let mut tags = None;
        let mut selectors = None;
        let mut row = Row::default();
        for (at, c) in foreign(text).filter(|(_, c)| is_invisible(*c)) {
            let previous = text.get(..at).and_then(|before| before.chars().next_back()).unwrap_or(' ');
            let next = text.get(at + c.len_utf8()..).and_then(|after| after.chars().next()).unwrap_or(' ');
            let spells = |c: char| is_tag(c) && c != '\u{e007f}';
            if matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
                bidi.get_or_insert(at);
            } else if is_tag(c) {
                // Behind a black flag they spell a region, and the last one ends it.
                if spells(c) && !spells(previous) && previous != '\u{1f3f4}' {
                    tags.get_or_insert(at);
                }
            } else if is_variation_selector(c) && row.goes_on(at, c) {
                selectors.get_or_insert(row.start);
            } else if c == '\u{feff}' {
                // At the beginning of a text it is the byte order mark.
                invisible = invisible.or((at > 0).then_some(at));
            } else if is_misplaced(previous, c, next) {
                invisible.get_or_insert(at);
            }
        }
        if let Some(at) = invisible {
            sign(&ZERO_WIDTH, at..at);
        }
        if let Some(at) = bidi {
            sign(&BIDI_CONTROLS, at..at);
        }
        if let Some(at) = tags {
            sign(&TAG_CHARACTERS, at..at);
        }
        if let Some(at) = selectors {
            sign(&VARIATION_SELECTORS, at..at);
        }
        if let Some(at) = mixed_word(text) {
            sign(&LOOK_ALIKES, at.clone());
        }
    }
    if let Some(at) = control_character(text) {
        sign(&CONTROL_CHARACTERS, at..at + 1);
    }
    if let Some(run) = runs(text.as_bytes(), 60, |b| b == b'\n').next() {
        sign(&PADDING, run.start..run.start);
    }
    if is_markdown {
        if let Some(range) = long_base64(text, code) {
            sign(&BASE64, range);
        }
        let shown = |at: usize| !code.iter().any(|range| range.contains(&at));
        if (signals.has(TextSignals::COMMENT)
            && text.match_indices("<!--").filter(|(at, _)| shown(*at)).count() >= 6)
            || (signals.has(TextSignals::STYLE) && hidden_style(text).is_some_and(shown))
        {
            let at = text.find("<!--").or_else(|| text.find("display:")).unwrap_or(0);
            sign(&HIDDEN_HTML, at..at);
        }
    }
    found
}

/// Variation selectors that follow each other.
#[derive(Default)]
struct Row {
    start: usize,
    end: usize,
    count: usize,
}

impl Row {
    /// Takes the next selector; whether there are now more in a row than any character has.
    fn goes_on(&mut self, at: usize, c: char) -> bool {
        if at != self.end {
            (self.start, self.count) = (at, 0);
        }
        self.count += 1;
        self.end = at + c.len_utf8();
        self.count >= SELECTORS_IN_A_ROW
    }
}

/// A character that moves a cursor or says nothing. Most texts have none, which is seen at a glance.
fn control_character(text: &str) -> Option<usize> {
    let fine = |b: u8| b >= 0x20 && b != 0x7f || matches!(b, b'\n' | b'\r' | b'\t' | 0xc | 0x1b);
    let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}');
    let suspicious =
        text.as_bytes().chunks(256).any(|piece| piece.iter().fold(false, |some, b| some | !fine(*b)));
    if !suspicious && text.is_ascii() {
        return None;
    }
    if !suspicious {
        return foreign(text).find(|(_, c)| c.is_control()).map(|(at, _)| at);
    }
    text.char_indices().find(|(_, c)| is_control(*c)).map(|(at, _)| at)
}

fn mixed_word(text: &str) -> Option<Range<usize>> {
    let cyrillic = |c: char| is_look_alike(c) && matches!(c, '\u{370}'..='\u{52f}');
    foreign(text).filter(|(_, c)| cyrillic(*c)).find_map(|(at, _)| {
        let word = word_at(text, at);
        let others = word.chars().any(|c| !c.is_ascii() && !is_look_alike(c));
        let mixed = word.bytes().any(|b| b.is_ascii_alphabetic()) && !others && word.chars().count() >= 4;
        mixed.then(|| at..at + 1)
    })
}

/// A style that makes text invisible, in an element.
fn hidden_style(text: &str) -> Option<usize> {
    const STYLES: &[&str] = &[
        "display:none",
        "display: none",
        "font-size:0",
        "font-size: 0",
        "visibility:hidden",
        "opacity:0;",
        "color:white",
        "color: white",
        "color:#fff\"",
    ];
    let lower = text.to_ascii_lowercase();
    let in_element = |at: &usize| {
        lower
            .get(at.saturating_sub(120)..*at)
            .is_some_and(|before| before.contains("style=") && before.contains('<'))
    };
    STYLES.iter().filter_map(|style| lower.find(style)).find(in_element)
}

/// A run of 60 or more Base64 characters outside code, links and images.
fn long_base64(text: &str, code: &[Range<usize>]) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    for run in runs(bytes, 60, part) {
        let (start, end) = (run.start, run.end);
        if code.iter().any(|range| range.contains(&start)) {
            continue;
        }
        let word = text.get(start..end)?;
        let before = text.get(start.saturating_sub(40)..start).unwrap_or_default();
        let kinds = [
            word.bytes().any(|b| b.is_ascii_uppercase()),
            word.bytes().any(|b| b.is_ascii_lowercase()),
            word.bytes().any(|b| b.is_ascii_digit()),
        ];
        // A commit in an address.
        if word.split('/').any(|part| part.len() >= 32 && part.bytes().all(|b| b.is_ascii_hexdigit())) {
            continue;
        }
        let slashes = word.matches('/').count();
        let address = before.contains("://")
            || before.contains("base64,")
            || before.contains("sha")
            || before.contains("](")
            || slashes * 12 > word.len();
        if kinds.iter().all(|kind| *kind) && !address && from_base64(word).is_some() {
            return Some(start..end);
        }
    }
    None
}
