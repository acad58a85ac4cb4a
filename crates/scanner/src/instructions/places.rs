//! Where a sentence stands: in plain sight, in a comment, in a value, in code. A text is cut into passages, each with its place.

use std::borrow::Cow;
use std::ops::Range;

use crate::kind::FileKind;
use crate::scan_context::ScannedText;
use crate::text::{PassageRole, TextBlock};

/// What a passage stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Prose.
    Body,
    /// A list item, a table row, a quotation: it may be one of several examples.
    Item,
    /// Text in a fence.
    Fenced,
    /// A comment in a document, which readers do not see.
    HiddenComment,
    /// An attribute: alternative text, a title, a label.
    Attribute,
    /// A value of a data file.
    Value,
    /// A comment in code.
    CodeComment,
    /// A text in code.
    CodeText,
    /// The name of a file.
    FileName,
}

impl Place {
    /// Whether a person who looks at the rendered text does not see it.
    pub(crate) fn is_hidden(self) -> bool {
        matches!(self, Self::HiddenComment | Self::Attribute | Self::FileName)
    }

    /// Whether it is part of a program, whose comments and texts speak about itself.
    pub(crate) fn is_code(self) -> bool {
        matches!(self, Self::CodeComment | Self::CodeText)
    }
}

/// A piece of text that is read by itself.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) range: Range<usize>,
    pub(crate) place: Place,
    /// The number of its block.
    pub(crate) block: usize,
}

/// How far a block that was cut within a line is read on.
const GOES_ON: usize = 240;

/// The passages of one block.
pub(crate) fn split_block(text: &ScannedText<'_>, number: usize, block: &TextBlock, out: &mut Vec<Passage>) {
    // A long line is cut anywhere; the sentence that is cut is read to its end.
    let start = text.text.floor_char_boundary(block.range.start);
    let is_cut = text.text.as_bytes().get(block.range.end.wrapping_sub(1)) != Some(&b'\n');
    let end = if is_cut { block.window.end.min(block.range.end + GOES_ON) } else { block.range.end };
    let Some(raw) = text.text.get(start..text.text.floor_char_boundary(end)) else { return };
    let mut push = |range: Range<usize>, place: Place| {
        out.push(Passage { range: start + range.start..start + range.end, place, block: number });
    };
    let is_markup = is_markup_file(&text.file.path);
    match (text.file.kind, block.role) {
        _ if is_markup => split_markup(raw, true, &mut push),
        (FileKind::Markdown, PassageRole::Code) | (FileKind::Script, _) => split_code(raw, &mut push),
        (FileKind::Config, _) => split_values(raw, &mut push),
        (FileKind::Markdown, PassageRole::Comment) if !raw.contains("<!--") => {
            push(0..raw.len(), Place::Fenced);
        }
        (FileKind::Markdown, _) => split_markup(raw, false, &mut push),
        _ => push(0..raw.len(), Place::Body),
    }
}

/// Whether a file is HTML or a drawing.
fn is_markup_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".html", ".htm", ".svg", ".xhtml"].iter().any(|ending| lower.ends_with(ending))
}

/// Whether a line begins an item of a list, a row of a table or a quotation.
pub(crate) fn is_item(raw: &str) -> bool {
    let line = raw.trim_start();
    let mut bytes = line.bytes();
    match bytes.next() {
        Some(b'|' | b'>') => true,
        Some(b'-' | b'*' | b'+') => bytes.next() == Some(b' '),
        Some(b'0'..=b'9') => matches!(bytes.find(|b| !b.is_ascii_digit()), Some(b'.' | b')')),
        _ => line.starts_with('•'),
    }
}

/// Prose with comments, pictures, links and elements in it.
fn split_markup(raw: &str, is_file: bool, push: &mut impl FnMut(Range<usize>, Place)) {
    let place = if is_item(raw) { Place::Item } else { Place::Body };
    let place = if is_file { Place::Value } else { place };
    let mut shown = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'<', b'[', b'"', raw.as_bytes().get(at..).unwrap_or_default()) {
        let here = at + found;
        let rest = raw.get(here..).unwrap_or_default();
        at = here + 1;
        if rest.starts_with("<!--") {
            let end = rest.find("-->").map_or(raw.len(), |end| here + end);
            push(shown..here, place);
            push((here + 4).min(end)..end, Place::HiddenComment);
            shown = (end + 3).min(raw.len());
            at = shown;
        } else if rest.starts_with('<')
            && rest.as_bytes().get(1).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'/')
        {
            let end = rest.find('>').map_or(raw.len(), |end| here + end + 1);
            push_attributes(raw, here..end, push);
            if is_file {
                push(shown..here, place);
                shown = end;
            }
            at = end;
        } else if rest.starts_with("[//]: #") || rest.starts_with("[comment]:") {
            let end = rest.find('\n').map_or(raw.len(), |end| here + end);
            push(here..end, Place::HiddenComment);
            shown = end;
            at = end;
        } else if rest.starts_with('[') && raw.get(..here).is_some_and(|before| before.ends_with('!')) {
            if let Some(end) = rest.find("](") {
                push(here + 1..here + end, Place::Attribute);
            }
        } else if rest.starts_with('"') && is_link_title(raw, here) {
            let end = rest.get(1..).and_then(|rest| rest.find('"')).map_or(raw.len(), |end| here + 1 + end);
            push(here + 1..end, Place::Attribute);
            at = end + 1;
        }
    }
    push(shown.min(raw.len())..raw.len(), place);
}

/// Whether a quotation mark begins the title of a link: `](target "title")`.
fn is_link_title(raw: &str, at: usize) -> bool {
    let before = raw.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.rfind("](").is_some_and(|open| !line.get(open..).unwrap_or_default().contains(')'))
}

/// The values of an element's attributes that hold sentences.
fn push_attributes(raw: &str, tag: Range<usize>, push: &mut impl FnMut(Range<usize>, Place)) {
    let text = raw.get(tag.clone()).unwrap_or_default();
    let mut at = 0;
    while let Some(open) = text.get(at..).and_then(|rest| rest.find("=\"")) {
        let start = at + open + 2;
        let end = text.get(start..).and_then(|rest| rest.find('"')).map_or(text.len(), |end| start + end);
        if text.get(start..end).is_some_and(has_words) {
            push(tag.start + start..tag.start + end, Place::Attribute);
        }
        at = end + 1;
    }
}

/// Whether a text has enough words to tell something. Letters that need no spaces count as words.
fn has_words(text: &str) -> bool {
    let spaces = memchr::memchr_iter(b' ', text.as_bytes()).take(2).count();
    spaces >= 2 || (!text.is_ascii() && text.chars().filter(|c| *c >= '\u{2e80}').take(6).count() >= 6)
}

/// Comments and texts of a program.
fn split_code(raw: &str, push: &mut impl FnMut(Range<usize>, Place)) {
    // Lines of comment that follow each other are one passage.
    let mut comment: Option<Range<usize>> = None;
    let mut long: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in raw.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let trimmed = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some((close, from)) = long {
            if let Some(found) = line.find(close) {
                push(from..start + found, Place::CodeComment);
                long = None;
            }
            continue;
        }
        let marked = ["#", "//", "--", ";", "%", "rem ", "*"].iter().find(|mark| trimmed.starts_with(**mark));
        if let Some(mark) = marked.filter(|_| !trimmed.starts_with("#!")) {
            let from = start + indent + mark.len();
            comment = Some(comment.map_or(from, |open| open.start)..end);
            continue;
        }
        if let Some(range) = comment.take() {
            push(range, Place::CodeComment);
        }
        for (open, close) in
            [("\"\"\"", "\"\"\""), ("'''", "'''"), ("/*", "*/"), ("<!--", "-->"), ("<#", "#>")]
        {
            if let Some(found) = line.find(open) {
                let from = found + open.len();
                match line.get(from..).and_then(|rest| rest.find(close)) {
                    Some(length) => push(start + from..start + from + length, Place::CodeComment),
                    None => long = Some((close, start + from)),
                }
                break;
            }
        }
        if long.is_none() {
            push_texts(line, start, Place::CodeText, push);
            let tail =
                line.find(" # ").map(|found| found + 3).or_else(|| line.find(" // ").map(|found| found + 4));
            if let Some(from) = tail {
                push(start + from..end, Place::CodeComment);
            }
        }
    }
    if let Some(range) = comment {
        push(range, Place::CodeComment);
    }
    if let Some((_, from)) = long {
        push(from..raw.len(), Place::CodeComment);
    }
}

/// The quoted texts of a line that hold words.
fn push_texts(line: &str, start: usize, place: Place, push: &mut impl FnMut(Range<usize>, Place)) {
    let bytes = line.as_bytes();
    let mut open: Option<(u8, usize)> = None;
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (byte, open) {
            (b'\\', _) => escaped = true,
            (b'"' | b'\'' | b'`', None) => {
                // An apostrophe within a word opens nothing.
                let inside = at
                    .checked_sub(1)
                    .and_then(|before| bytes.get(before))
                    .is_some_and(u8::is_ascii_alphanumeric);
                if *byte != b'\'' || !inside {
                    open = Some((*byte, at + 1));
                }
            }
            (byte, Some((quote, from))) if *byte == quote => {
                if line.get(from..at).is_some_and(has_words) {
                    push(start + from..start + at, place);
                }
                open = None;
            }
            _ => {}
        }
    }
}

/// The values of a data file: quoted texts, else what stands behind a key, else cells.
fn split_values(raw: &str, push: &mut impl FnMut(Range<usize>, Place)) {
    let mut at = 0;
    for line in raw.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if !has_words(line) {
            continue;
        }
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        if trimmed.starts_with('#') || trimmed.starts_with("//") || trimmed.starts_with(';') {
            push(start + indent + 1..at, Place::CodeComment);
        } else if line.contains('"') {
            push_texts(line, start, Place::Value, push);
        } else if let Some(colon) = line.find(": ").or_else(|| line.find(" = ")) {
            push(start + colon + 2..at, Place::Value);
        } else {
            push(start..at, Place::Value);
        }
    }
}

/// A sentence without the marks of markdown: list and quotation marks, emphasis, targets of links.
pub(crate) fn clean(raw: &str) -> Cow<'_, str> {
    let marks = |byte: u8| matches!(byte, b'>' | b'*' | b'_' | b'[' | b'\\' | b'#' | b'|');
    if !raw.bytes().any(marks) && !is_item(raw) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    for line in raw.split_inclusive('\n') {
        let mut line = line.trim_start_matches([' ', '\t', '>']);
        if let Some(rest) =
            line.strip_prefix("- ").or_else(|| line.strip_prefix("+ ")).or_else(|| line.strip_prefix("* "))
        {
            line = rest.strip_prefix("[ ] ").or_else(|| rest.strip_prefix("[x] ")).unwrap_or(rest);
        } else if let Some(digits) =
            line.find(|c: char| !c.is_ascii_digit()).filter(|digits| (1..4).contains(digits))
        {
            line = line
                .get(digits..)
                .and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
                .unwrap_or(line);
        }
        let line = line.trim_start_matches('#');
        let mut previous = ' ';
        for c in line.chars() {
            match c {
                '*' | '\u{feff}' | '[' | ']' => {}
                '_' if previous == ' ' => out.push(' '),
                '|' => out.push_str(" | "),
                '\\' => out.push(' '),
                c => out.push(c),
            }
            previous = c;
        }
        out.push(' ');
    }
    Cow::Owned(out)
}
