//! A passage as sentences, each with its place in the text.

use std::ops::Range;

/// Longest sentence: what is longer is cut, and read in pieces that overlap.
const MAX_SENTENCE: usize = 800;
/// How much of a cut sentence the next piece repeats.
const OVERLAP: usize = 200;

/// Words before a full stop that end no sentence.
const ABBREVIATIONS: &[&str] = &["e.g", "i.e", "etc", "vs", "approx", "z.b", "no", "cf", "p.ej"];

/// The sentences of a passage.
pub(crate) fn split_sentences(text: &str, range: Range<usize>, mut found: impl FnMut(Range<usize>)) {
    let Some(raw) = text.get(range.clone()) else { return };
    let mut start = 0;
    let mut push = |from: usize, to: usize| {
        let Some(piece) = raw.get(from..to) else { return };
        let lead = piece.len() - piece.trim_start().len();
        let piece = piece.trim();
        if piece.len() < 6 {
            return;
        }
        let (mut at, end) = (from + lead, from + lead + piece.len());
        while end - at > MAX_SENTENCE {
            let cut = raw.floor_char_boundary(at + MAX_SENTENCE);
            found(range.start + at..range.start + cut);
            at = raw.floor_char_boundary(cut - OVERLAP);
        }
        found(range.start + at..range.start + end);
    };
    let bytes = raw.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let ends = match byte {
            b'.' | b'!' | b'?' => ends_sentence(raw, start, at).then_some(at + 1),
            b'\n' => is_line_end(raw, at).then_some(at + 1),
            0xe3 if raw.get(at..).is_some_and(|rest| rest.starts_with('。')) => Some(at + 3),
            0xef if raw.get(at..).is_some_and(|rest| rest.starts_with(['！', '？', '；'])) => Some(at + 3),
            b';' => bytes.get(at + 1).is_some_and(|next| *next == b' ').then_some(at + 1),
            _ => None,
        };
        if let Some(end) = ends {
            push(start, end);
            start = end;
        }
        at += 1;
    }
    push(start, raw.len());
}

/// Whether a mark ends a sentence: a space or the end follows, and no abbreviation or number stands before.
fn ends_sentence(raw: &str, start: usize, at: usize) -> bool {
    let rest = raw.get(at + 1..).unwrap_or_default();
    let rest = rest.trim_start_matches(['"', '\'', '*', '_', ')', '`', '”', '»']);
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) && !rest.starts_with("\\n") {
        return false;
    }
    let before = raw.get(start..at).unwrap_or_default();
    // A sentence that quotes several goes on to the end of the quotation, and one that goes on behind it, too.
    let open = memchr::memchr_iter(b'"', before.as_bytes()).count() % 2 == 1;
    let behind = raw.get(at + 1..raw.floor_char_boundary(at + 300)).unwrap_or_default();
    if open && behind.get(1..).is_some_and(|behind| behind.contains('"')) && at - start < 400 {
        return false;
    }
    let next = rest.trim_start();
    let after_mark = raw.get(at + 1..).is_some_and(|all| all.len() > rest.len());
    if after_mark && next.starts_with(|c: char| matches!(c, '—' | '–' | '-') || c.is_lowercase()) {
        return false;
    }
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    if ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known)) {
        return false;
    }
    // "1. Read": the number of an item.
    !(word.len() <= 3
        && !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_digit())
        && before.trim_start() == word)
}

/// Whether a line's end ends a sentence: an empty line follows, or one that begins something.
fn is_line_end(raw: &str, at: usize) -> bool {
    let next = raw.get(at + 1..).unwrap_or_default().lines().next().unwrap_or_default();
    let next = next.trim_start_matches([' ', '\t', '>']);
    let mut bytes = next.bytes();
    match bytes.next() {
        None | Some(b'|' | b'#' | b'=') => true,
        Some(b'-' | b'*' | b'+') => matches!(bytes.next(), None | Some(b' ' | b'\t' | b'-' | b'*')),
        Some(b'`') => next.starts_with("```"),
        Some(b'0'..=b'9') => matches!(bytes.find(|b| !b.is_ascii_digit()), Some(b'.' | b')')),
        // A key and its value.
        Some(_) => next.split_once(':').is_some_and(|(key, value)| {
            !key.is_empty() && key.len() < 24 && !key.contains(' ') && !value.starts_with("//")
        }),
    }
}
