//! # CHECK-05: obfuscation
//!
//! ## What it looks for
//! Text that hides what it says: encodings, invisible or look-alike characters, escapes, reversed or spaced letters, hidden HTML. What
//! is found is decoded and scanned again, until nothing is left to decode. Also files in disguise: a picture or a text that is a program, a
//! script or an archive; data behind the end of a picture; an archive that two programs unpack differently.
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
//! Encryption, encodings made up for one skill, and data in the dots of a picture.
//!
//! ## References
//! MITRE ATT&CK T1027, T1140.

use std::ops::Range;

use skillsandbox_text::{is_invisible, is_tag, is_variation_selector};

use crate::hidden::{SELECTORS_IN_A_ROW, from_base64, is_look_alike, is_misplaced};
use crate::runs::{foreign, runs, word_at};
use crate::signals::Signals;

/// A sign of hiding that means something by itself.
#[derive(Clone, Debug)]
pub(crate) struct Sign {
    pub(crate) technique: &'static str,
    pub(crate) range: Range<usize>,
    pub(crate) why: &'static str,
}

/// Signs of hiding that are worth a look even where nothing could be read.
pub(crate) fn signs(text: &str, is_markdown: bool, signals: Signals, code: &[Range<usize>]) -> Vec<Sign> {
    let mut found = Vec::new();
    let mut sign = |technique, range, why| found.push(Sign { technique, range, why });
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
            sign("zero-width", at..at, "Zero-width characters hide in the text");
        }
        if let Some(at) = bidi {
            sign("bidi-controls", at..at, "Characters reorder the text that people see");
        }
        if let Some(at) = tags {
            sign("tag-characters", at..at, "Invisible tag characters spell a text that models read");
        }
        if let Some(at) = selectors {
            sign(
                "variation-selectors",
                at..at,
                "Invisible variation selectors spell a text that models read",
            );
        }
        if let Some(at) = mixed_word(text) {
            sign("look-alikes", at.clone(), "Letters of another alphabet stand in for Latin ones");
        }
    }
    if let Some(at) = control_character(text) {
        sign("control-characters", at..at + 1, "Control characters stand in the text");
    }
    if let Some(run) = runs(text.as_bytes(), 60, |b| b == b'\n').next() {
        sign("padding", run.start..run.start, "A flood of blank lines pushes text out of sight");
    }
    if is_markdown {
        if let Some(range) = long_base64(text, code) {
            sign("base64", range, "A long Base64 run stands outside code");
        }
        let shown = |at: usize| !code.iter().any(|range| range.contains(&at));
        if (signals.has(Signals::COMMENT)
            && text.match_indices("<!--").filter(|(at, _)| shown(*at)).count() >= 6)
            || (signals.has(Signals::STYLE) && hidden_style(text).is_some_and(shown))
        {
            let at = text.find("<!--").or_else(|| text.find("display:")).unwrap_or(0);
            sign("hidden-html", at..at, "Much of the text is hidden when it is shown");
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
