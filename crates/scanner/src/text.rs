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
    /// The paragraph that introduces the list, the table or the fenced block it is in; empty where there is none.
    pub(crate) introduction: Range<usize>,
    /// Whether it is the document's front matter.
    pub(crate) front_matter: bool,
    /// Whether it is fenced or indented code in a document, as against a script of its own.
    pub(crate) fenced: bool,
}

/// Largest block: longer ones are cut at line ends, so that a pattern's window is bounded.
const MAX_BLOCK: usize = 2048;

/// How far one looks across a cut: no rule's match is longer.
pub(crate) const OVERLAP: usize = 768;

/// What a passage of a document looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockShape {
    Paragraph,
    ListItem,
    Quotation,
    Table,
}

/// Cuts a markdown text into blocks. A quotation is read like the text around it, without its marks: the model that reads it is told the same.
pub(crate) fn split_markdown(text: &[u8], body_start: usize) -> Vec<TextBlock> {
    let mut splitter = MarkdownSplitter { text, blocks: Vec::new(), open: None, introduction: 0..0 };
    if body_start > 0 {
        // What it says is put before the model, like the body.
        splitter.push(0..body_start, PassageRole::Instruction, 0..0, false);
        for block in &mut splitter.blocks {
            block.front_matter = true;
        }
    }
    let mut fence: Option<(u8, usize, usize, PassageRole)> = None;
    let mut comment: Option<usize> = None;
    for line in lines(text, body_start) {
        let content = text.get(line.clone()).unwrap_or_default();
        let (trimmed, is_quotation) = strip_quotation(content);
        if let Some((mark, width, start, role)) = fence {
            if trimmed.len() >= width && trimmed.iter().all(|b| *b == mark) {
                splitter.push(start..line.start, role, splitter.introduction.clone(), true);
                fence = None;
            }
            continue;
        }
        if let Some(start) = comment {
            if memchr::memmem::find(content, b"-->").is_some() {
                splitter.push(start..line.end, PassageRole::Comment, 0..0, false);
                comment = None;
            }
            continue;
        }
        let mark = trimmed.first().copied().unwrap_or(0);
        if matches!(mark, b'`' | b'~') {
            let width = trimmed.iter().take_while(|b| **b == mark).count();
            let info = trimmed.get(width..).unwrap_or_default();
            if width >= 3 && !info.contains(&b'`') {
                splitter.close();
                // Indented so far, or quoted, it may be no fence to whoever else reads it, or end with what it stands in.
                let indent = content.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
                let is_plain = indent <= 3 && !is_quotation && content.first() != Some(&b'\t');
                let role = if is_plain { fenced_role(info) } else { PassageRole::Comment };
                fence = Some((mark, width, line.end, role));
                continue;
            }
        }
        if trimmed.is_empty() {
            splitter.close();
            continue;
        }
        if mark == b'#' {
            splitter.close();
            splitter.push(line.clone(), PassageRole::Instruction, 0..0, false);
            splitter.introduction = 0..0;
            continue;
        }
        if let Some(at) = find_comment(content)
            && memchr::memmem::find(content.get(at..).unwrap_or_default(), b"-->").is_none()
        {
            splitter.close();
            comment = Some(line.start);
            continue;
        }
        splitter.add_line(line, find_shape(trimmed, is_quotation));
    }
    splitter.close();
    let rest = fence
        .map(|(.., start, _)| (start..text.len(), PassageRole::Comment))
        .or_else(|| comment.map(|start| (start..text.len(), PassageRole::Comment)));
    if let Some((range, role)) = rest {
        splitter.push(range, role, splitter.introduction.clone(), fence.is_some());
    }
    let mut blocks = splitter.blocks;
    join_windows(text, &mut blocks);
    blocks
}

/// A line without the marks of a quotation, and whether it had some.
fn strip_quotation(line: &[u8]) -> (&[u8], bool) {
    let mut rest = line.trim_ascii();
    let mut is_quotation = false;
    while let Some(after) = rest.strip_prefix(b">") {
        (rest, is_quotation) = (after.trim_ascii_start(), true);
    }
    (rest, is_quotation)
}

/// What a line begins or goes on with.
fn find_shape(trimmed: &[u8], is_quotation: bool) -> BlockShape {
    let mark = trimmed.first().copied().unwrap_or(0);
    let is_numbered = mark.is_ascii_digit()
        && trimmed.get(1..3).is_some_and(|next| next.contains(&b'.') || next.contains(&b')'));
    match mark {
        b'|' => BlockShape::Table,
        b'-' | b'*' | b'+' if matches!(trimmed.get(1), None | Some(b' ' | b'\t')) => BlockShape::ListItem,
        _ if is_numbered => BlockShape::ListItem,
        _ if is_quotation => BlockShape::Quotation,
        _ => BlockShape::Paragraph,
    }
}

/// A document that is being cut into blocks.
struct MarkdownSplitter<'t> {
    text: &'t [u8],
    blocks: Vec<TextBlock>,
    /// The passage that the last lines belong to, and where its first line ends.
    open: Option<(Range<usize>, BlockShape, usize)>,
    /// The paragraph that introduces what comes next.
    introduction: Range<usize>,
}

impl MarkdownSplitter<'_> {
    /// Adds a line to the passage it belongs to, or begins one with it.
    fn add_line(&mut self, line: Range<usize>, shape: BlockShape) {
        match &mut self.open {
            // A list item goes on in lines without a mark of their own.
            Some((range, same, _))
                if (*same == shape && shape != BlockShape::ListItem)
                    || (*same == BlockShape::ListItem && shape == BlockShape::Paragraph) =>
            {
                range.end = line.end;
            }
            _ => {
                self.close();
                self.open = Some((line.clone(), shape, line.end));
            }
        }
    }

    /// Ends the passage that is open.
    fn close(&mut self) {
        let Some((range, shape, first_line)) = self.open.take() else { return };
        let introduction = match shape {
            BlockShape::Paragraph => 0..0,
            BlockShape::ListItem | BlockShape::Quotation => self.introduction.clone(),
            // What its columns are.
            BlockShape::Table if self.introduction.is_empty() => range.start..first_line,
            BlockShape::Table => self.introduction.start..first_line,
        };
        let last = self.text.get(range.clone()).unwrap_or_default().iter().rev();
        let ends_open = last.clone().find(|b| !b.is_ascii_whitespace() && **b != b'*') == Some(&b':');
        if shape == BlockShape::Paragraph || (shape == BlockShape::ListItem && ends_open) {
            self.introduction = range.clone();
        }
        self.push(range, PassageRole::Instruction, introduction, false);
    }

    /// Adds a block.
    fn push(&mut self, range: Range<usize>, role: PassageRole, introduction: Range<usize>, fenced: bool) {
        push(&mut self.blocks, self.text, range, role, &introduction, fenced);
    }
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
    let is_code = std::str::from_utf8(&language).is_ok_and(|language| CODE_FENCES.contains(&language));
    if is_code { PassageRole::Code } else { PassageRole::Comment }
}

/// Words behind a fence that say that a program stands in it. Behind any other a sentence is read as one.
const CODE_FENCES: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "shell",
    "console",
    "fish",
    "powershell",
    "pwsh",
    "ps1",
    "bat",
    "batch",
    "cmd",
    "python",
    "python3",
    "py",
    "js",
    "javascript",
    "mjs",
    "cjs",
    "node",
    "ts",
    "typescript",
    "tsx",
    "jsx",
    "ruby",
    "rb",
    "go",
    "golang",
    "rust",
    "rs",
    "java",
    "kotlin",
    "kt",
    "swift",
    "c",
    "cpp",
    "h",
    "hpp",
    "cs",
    "csharp",
    "fsharp",
    "vb",
    "php",
    "perl",
    "pl",
    "lua",
    "r",
    "julia",
    "sql",
    "html",
    "css",
    "scss",
    "less",
    "dockerfile",
    "makefile",
    "cmake",
    "graphql",
    "gql",
    "proto",
    "protobuf",
    "hcl",
    "terraform",
    "tf",
    "diff",
    "patch",
    "nginx",
    "vue",
    "svelte",
    "astro",
    "dart",
    "scala",
    "groovy",
    "gradle",
    "elixir",
    "ex",
    "erlang",
    "haskell",
    "hs",
    "ocaml",
    "clojure",
    "clj",
    "lisp",
    "solidity",
    "sol",
    "zig",
    "nim",
    "matlab",
    "glsl",
    "wgsl",
    "hlsl",
    "asm",
    "wasm",
    "vim",
    "viml",
    "awk",
    "sed",
    "jq",
    "bicep",
    "kql",
    "dax",
    "m",
    "objc",
    "razor",
    "liquid",
    "jinja",
    "jinja2",
    "twig",
    "handlebars",
    "hbs",
    "prisma",
    "cypher",
    "sparql",
    "verilog",
    "vhdl",
    "tcl",
    "applescript",
    "json",
    "jsonc",
    "json5",
    "xml",
];

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
    introduction: &Range<usize>,
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
            introduction: introduction.clone(),
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
