//! A text as blocks with roles: prose, fenced code, quotation, comment, table, front matter. One pass over the lines.

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

/// What a piece of text is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PassageRole {
    /// Tells the agent or the user what to do.
    Instruction,
    /// Quotes, forbids or describes what somebody else might do.
    Quotation,
    /// A program or a command.
    Code,
    /// A comment in code or HTML.
    Comment,
    /// Keys and values: front matter, configuration.
    Data,
    /// Came out of an encoding.
    Decoded,
}

/// A stretch of text that is looked at as one: a paragraph, a list item, a fenced block, a script's passage.
#[derive(Clone, Debug)]
pub(crate) struct TextBlock {
    pub(crate) range: Range<usize>,
    /// What is looked at: the block, and where a longer one was cut, some of its neighbours.
    pub(crate) window: Range<usize>,
    pub(crate) role: PassageRole,
    /// The heading it stands under, as an index into the text.
    pub(crate) heading: Range<usize>,
    /// Whether it is the document's front matter.
    pub(crate) front_matter: bool,
    /// Whether it is fenced or indented code in a document, as against a script of its own.
    pub(crate) fenced: bool,
}

/// Largest block: longer ones are cut at line ends, so that a pattern's window is bounded.
const MAX_BLOCK: usize = 2048;

/// How far one looks across a cut: no rule's match is longer.
pub(crate) const OVERLAP: usize = 768;

/// Cuts a markdown text into blocks.
pub(crate) fn split_markdown(text: &[u8], body_start: usize) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    if body_start > 0 {
        // What it says is put before the model, like the body.
        push(&mut blocks, text, 0..body_start, PassageRole::Instruction, &(0..0), false);
        for block in &mut blocks {
            block.front_matter = true;
        }
    }
    let mut heading = 0..0;
    let mut open: Option<(Range<usize>, PassageRole)> = None;
    let mut fence: Option<(u8, usize, usize, PassageRole)> = None;
    let mut comment: Option<usize> = None;
    for line in lines(text, body_start) {
        let content = text.get(line.clone()).unwrap_or_default();
        let trimmed = content.trim_ascii();
        if let Some((mark, width, start, role)) = fence {
            if trimmed.len() >= width && trimmed.iter().all(|b| *b == mark) {
                push(&mut blocks, text, start..line.start, role, &heading, true);
                fence = None;
            }
            continue;
        }
        if let Some(start) = comment {
            if memchr::memmem::find(content, b"-->").is_some() {
                push(&mut blocks, text, start..line.end, PassageRole::Comment, &heading, false);
                comment = None;
            }
            continue;
        }
        let mut close = |open: &mut Option<(Range<usize>, PassageRole)>| {
            if let Some((range, role)) = open.take() {
                push(&mut blocks, text, range, role, &heading, false);
            }
        };
        let mark = trimmed.first().copied().unwrap_or(0);
        if matches!(mark, b'`' | b'~') {
            let width = trimmed.iter().take_while(|b| **b == mark).count();
            let info = trimmed.get(width..).unwrap_or_default();
            if width >= 3 && !info.contains(&b'`') {
                close(&mut open);
                fence = Some((mark, width, line.end, fenced_role(info)));
                continue;
            }
        }
        if trimmed.is_empty() {
            close(&mut open);
            continue;
        }
        if mark == b'#' {
            close(&mut open);
            let start = heading.start.max(line.start);
            heading = start..line.end;
            push(&mut blocks, text, line.clone(), PassageRole::Instruction, &(0..0), false);
            continue;
        }
        if let Some(at) = find_comment(content)
            && memchr::memmem::find(content.get(at..).unwrap_or_default(), b"-->").is_none()
        {
            close(&mut open);
            comment = Some(line.start);
            continue;
        }
        let role = match mark {
            b'>' | b'|' => PassageRole::Quotation,
            _ => PassageRole::Instruction,
        };
        let item = matches!(mark, b'-' | b'*' | b'+')
            || (mark.is_ascii_digit()
                && trimmed.get(1..3).is_some_and(|t| t.contains(&b'.') || t.contains(&b')')));
        match &mut open {
            Some((range, same)) if *same == role && !item && role != PassageRole::Quotation => {
                range.end = line.end;
            }
            Some((range, same)) if *same == role && role == PassageRole::Quotation => range.end = line.end,
            _ => {
                close(&mut open);
                open = Some((line.clone(), role));
            }
        }
    }
    let rest = fence
        .map(|(.., start, role)| (start..text.len(), role))
        .or_else(|| comment.map(|start| (start..text.len(), PassageRole::Comment)));
    if let Some((range, role)) = rest.or(open) {
        let fenced = role == PassageRole::Code;
        push(&mut blocks, text, range, role, &heading, fenced);
    }
    join_windows(text, &mut blocks);
    blocks
}

/// Where a comment begins in a line. Few lines have the first byte of it.
fn find_comment(line: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', line).find(|at| line.get(*at..).is_some_and(|rest| rest.starts_with(b"<!--")))
}

/// How far a sentence may go on in the next list item or paragraph.
const CONTINUED: usize = 160;

/// Lets a passage of prose that ends within a sentence see the beginning of the next: it may be spread over list items.
fn join_windows(text: &[u8], blocks: &mut [TextBlock]) {
    // From the last to the first, so that a sentence may go on in several.
    for at in (1..blocks.len()).rev() {
        let Some([one, next]) = blocks.get_mut(at - 1..=at) else { continue };
        let prose = one.role == PassageRole::Instruction && next.role == PassageRole::Instruction;
        let last = text.get(one.range.clone()).unwrap_or_default().trim_ascii_end().last();
        let unfinished = last.is_some_and(|last| last.is_ascii_alphanumeric() || *last == b',');
        let whole = one.window.end == one.range.end && one.range.end == next.range.start;
        if prose && unfinished && whole && !one.front_matter {
            one.window.end = next.window.end.min(one.range.end + CONTINUED);
        }
    }
}

/// What a fenced block is by the word behind its fence. One without a language may hold anything, commands or sentences.
fn fenced_role(info: &[u8]) -> PassageRole {
    let language = info
        .trim_ascii()
        .split(|b| !b.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match language.as_slice() {
        b"" | b"text" | b"txt" | b"md" | b"markdown" | b"plain" | b"plaintext" | b"prompt" | b"yaml"
        | b"yml" => PassageRole::Comment,
        _ => PassageRole::Code,
    }
}

/// Cuts a script, configuration or other text into blocks at blank lines.
pub(crate) fn split_plain(text: &[u8], role: PassageRole) -> Vec<TextBlock> {
    let mut blocks = Vec::new();
    push(&mut blocks, text, 0..text.len(), role, &(0..0), false);
    blocks
}

/// Adds a block, cut at line ends where it is too long.
fn push(
    blocks: &mut Vec<TextBlock>,
    text: &[u8],
    range: Range<usize>,
    role: PassageRole,
    heading: &Range<usize>,
    fenced: bool,
) {
    let mut start = range.start;
    while start < range.end {
        let mut end = range.end;
        if end - start > MAX_BLOCK {
            let window = text.get(start..start + MAX_BLOCK).unwrap_or_default();
            end = start + memchr::memrchr(b'\n', window).map_or(MAX_BLOCK, |at| at + 1);
        }
        let window = start.saturating_sub(OVERLAP).max(range.start)..range.end.min(end + OVERLAP);
        blocks.push(TextBlock {
            range: start..end,
            window,
            role,
            heading: heading.clone(),
            front_matter: false,
            fenced,
        });
        start = end;
    }
}

/// The lines from a byte on, each with its end.
pub(crate) fn lines(text: &[u8], mut at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = at + memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = at..end;
        at = end;
        Some(line)
    })
}

/// Line and column (characters) of a byte, both from 1.
pub(crate) fn locate(text: &[u8], at: usize) -> (usize, usize) {
    let before = text.get(..at.min(text.len())).unwrap_or_default();
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let column = before.get(start..).unwrap_or_default().iter().filter(|b| **b & 0xc0 != 0x80).count() + 1;
    (line, column)
}

/// Bytes as text, with a mark in place of each byte that is none, so that places stay where they are.
pub(crate) fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(out)
}

/// The places of code in a text.
pub(crate) fn code_ranges(blocks: &[TextBlock]) -> impl Iterator<Item = Range<usize>> {
    let is_code = |block: &&TextBlock| block.role == PassageRole::Code || block.fenced;
    blocks.iter().filter(is_code).map(|block| block.range.clone())
}

/// Code blocks that stand together count as one piece: what one reads, the next may send.
pub(crate) fn joined_code(blocks: &[TextBlock]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for range in code_ranges(blocks) {
        match pieces.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => pieces.push(range),
        }
    }
    pieces
}
