//! Shell and the small languages: which files, fences and commands in sentences are in them, and what those do.

use std::borrow::Cow;
use std::ops::Range;

use crate::code::capability::{CapabilityUse, CodeFacts, SecretFlow};
use crate::code::plain::{PlainLanguage, read_plain};
use crate::code::shell::read_shell;
use crate::kind::FileKind;
use crate::skill::SkillFile;

/// How far fences may stand from each other to count as one script: a heading and a paragraph.
const NEAR_FENCES: usize = 600;
/// Most fences and commands of one document that are read.
const MAX_PIECES: usize = 400;
/// Shortest command in a sentence that is read.
const MIN_COMMAND: usize = 12;
/// Longest command in a sentence.
const MAX_COMMAND: usize = 4096;

/// A language of these readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SmallLanguage {
    Shell,
    Plain(PlainLanguage),
}

/// A piece of code that is read by itself: parts of one file that stand near each other.
#[derive(Debug)]
pub(crate) struct SmallPiece {
    language: SmallLanguage,
    /// Where its parts stand in the file.
    parts: Vec<Range<usize>>,
    /// Whether it stands in a document.
    pub(crate) is_fenced: bool,
}

/// The language of a file by its name, or by the interpreter that it names.
fn language_of(file: &SkillFile, text: &str) -> Option<SmallLanguage> {
    let lower = file.path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if let Some((_, ending)) = name.rsplit_once('.') {
        match ending {
            "sh" | "bash" | "zsh" | "ksh" | "fish" | "command" => return Some(SmallLanguage::Shell),
            _ => {
                if let Some(language) = PlainLanguage::from_ending(ending) {
                    return Some(SmallLanguage::Plain(language));
                }
            }
        }
    }
    if matches!(name, "makefile" | "justfile" | "dockerfile") {
        return Some(SmallLanguage::Shell);
    }
    let first = text.lines().next().unwrap_or_default();
    if file.kind != FileKind::Script || !first.starts_with("#!") {
        return None;
    }
    let program = |names: &[&str]| names.iter().any(|name| first.contains(name));
    match () {
        () if program(&["ruby"]) => Some(SmallLanguage::Plain(PlainLanguage::Ruby)),
        () if program(&["perl"]) => Some(SmallLanguage::Plain(PlainLanguage::Perl)),
        () if program(&["php"]) => Some(SmallLanguage::Plain(PlainLanguage::Php)),
        () if program(&["pwsh", "powershell"]) => Some(SmallLanguage::Plain(PlainLanguage::PowerShell)),
        () if program(&["osascript"]) => Some(SmallLanguage::Plain(PlainLanguage::AppleScript)),
        () if program(&["sh"]) => Some(SmallLanguage::Shell),
        () => None,
    }
}

/// The language that a word behind a fence names. A fence without one may well hold commands.
fn fence_language(info: &str) -> Option<SmallLanguage> {
    let word = info
        .trim()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    match word.as_str() {
        "" | "sh" | "bash" | "shell" | "zsh" | "console" | "terminal" | "shellsession" | "cmdline"
        | "text" | "txt" => Some(SmallLanguage::Shell),
        "ruby" => Some(SmallLanguage::Plain(PlainLanguage::Ruby)),
        "perl" => Some(SmallLanguage::Plain(PlainLanguage::Perl)),
        "powershell" | "pwsh" => Some(SmallLanguage::Plain(PlainLanguage::PowerShell)),
        "golang" => Some(SmallLanguage::Plain(PlainLanguage::Go)),
        "batch" => Some(SmallLanguage::Plain(PlainLanguage::Batch)),
        word => PlainLanguage::from_ending(word).map(SmallLanguage::Plain),
    }
}

/// The pieces of these languages in a text of a skill.
pub(crate) fn find_small_pieces(file: &SkillFile, text: &str) -> Vec<SmallPiece> {
    if let Some(language) = language_of(file, text) {
        let whole = std::iter::once(0..text.len()).collect();
        return vec![SmallPiece { language, parts: whole, is_fenced: false }];
    }
    if file.kind == FileKind::Markdown { find_in_document(text) } else { Vec::new() }
}

/// The fences of a document, those near each other together, and the commands in its sentences.
fn find_in_document(text: &str) -> Vec<SmallPiece> {
    let mut pieces: Vec<SmallPiece> = Vec::new();
    let mut open: Option<(&str, usize, usize, Option<SmallLanguage>)> = None;
    let mut at = 0;
    let add_fence = |range: Range<usize>, language: SmallLanguage, pieces: &mut Vec<SmallPiece>| {
        let near = |piece: &&mut SmallPiece| {
            let end = piece.parts.last().map_or(0, |part| part.end);
            piece.language == language && range.start.saturating_sub(end) < NEAR_FENCES
        };
        match pieces.iter_mut().rev().find(|piece| piece.is_fenced && piece.parts.len() < 64).filter(near) {
            Some(piece) => piece.parts.push(range),
            None => pieces.push(SmallPiece { language, parts: vec![range], is_fenced: true }),
        }
    };
    let mut commands = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim().trim_start_matches(['>', ' ']);
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let width = trimmed.bytes().take_while(|b| matches!(b, b'`' | b'~')).count();
        match (open, mark) {
            (None, Some(mark)) => {
                open = Some((mark, width, at, fence_language(trimmed.trim_start_matches(['`', '~']))));
            }
            // What closes is as wide as what opened, and has nothing behind it.
            (Some((opened, wide, from, language)), Some(mark))
                if opened == mark && width >= wide && width == trimmed.len() =>
            {
                open = None;
                if let Some(language) = language.filter(|_| pieces.len() < MAX_PIECES && from < start) {
                    add_fence(from..start, language, &mut pieces);
                }
            }
            (None, None) => find_commands(line, start, &mut commands),
            (Some(_), _) => {}
        }
    }
    // A fence that nobody closed goes on to the end.
    if let Some((.., from, Some(language))) = open
        && from < text.len()
    {
        add_fence(from..text.len(), language, &mut pieces);
    }
    pieces.extend(commands.into_iter().take(MAX_PIECES).map(|range| SmallPiece {
        language: SmallLanguage::Shell,
        parts: std::iter::once(range).collect(),
        is_fenced: true,
    }));
    pieces
}

/// Commands between backquotes in a line.
fn find_commands(line: &str, start: usize, out: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(open) = line.get(at..).and_then(|rest| rest.find('`')) {
        let open = at + open;
        let marks = line.get(open..).unwrap_or_default().bytes().take_while(|b| *b == b'`').count();
        let from = open + marks;
        let Some(close) = line.get(from..).and_then(|rest| rest.find(&"`".repeat(marks))) else { return };
        let inner = line.get(from..from + close).unwrap_or_default();
        if (MIN_COMMAND..MAX_COMMAND).contains(&inner.len()) && inner.trim().contains([' ', '|']) {
            out.push(start + from..start + from + close);
        }
        at = from + close + marks;
    }
}

impl SmallPiece {
    /// Its code: the parts one after the other.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.parts.as_slice() {
            [one] => Cow::Borrowed(text.get(one.clone()).unwrap_or_default()),
            parts => {
                let mut code = String::new();
                for part in parts {
                    code.push_str(text.get(part.clone()).unwrap_or_default());
                    code.push('\n');
                }
                Cow::Owned(code)
            }
        }
    }

    /// What it does, at its places in the file.
    pub(crate) fn read(&self, code: &str) -> CodeFacts {
        let facts = match self.language {
            SmallLanguage::Shell => read_shell(&strip_prompts(code)),
            SmallLanguage::Plain(language) => read_plain(language, code),
        };
        let place = |found: CapabilityUse| CapabilityUse { range: self.place(&found.range), ..found };
        CodeFacts {
            uses: facts.uses.into_iter().map(place).collect(),
            flows: facts
                .flows
                .into_iter()
                .map(|flow| SecretFlow { source: place(flow.source), sender: place(flow.sender), ..flow })
                .collect(),
            is_cut: facts.is_cut,
        }
    }

    /// A place in the code as a place in the file.
    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let mut before = 0;
        for part in &self.parts {
            let length = part.len();
            if range.start <= before + length {
                let start = part.start + (range.start - before);
                let end = part.start + range.end.saturating_sub(before).min(length);
                return start..end.max(start);
            }
            before += length + 1;
        }
        self.parts.last().cloned().unwrap_or_default()
    }
}

/// A transcript without the prompts in front of its commands, each byte in its place.
fn strip_prompts(code: &str) -> Cow<'_, str> {
    let has_prompt = |line: &str| line.trim_start().starts_with("$ ") || line.trim_start().starts_with("> ");
    if !code.lines().any(has_prompt) {
        return Cow::Borrowed(code);
    }
    let mut out = String::with_capacity(code.len());
    for line in code.split_inclusive('\n') {
        if has_prompt(line) {
            let mark = line.len() - line.trim_start().len();
            out.push_str(line.get(..mark).unwrap_or_default());
            out.push(' ');
            out.push_str(line.get(mark + 1..).unwrap_or_default());
        } else {
            out.push_str(line);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_sentences_and_fences_are_pieces() {
        let text = "Run `cat ~/.ssh/id_rsa | head` now, or `short`.\n\n```bash\n$ A=1\n```\n\nThen\n\n```\necho $A\n```\n\n```ruby\nputs 1\n```\n";
        let pieces = find_in_document(text);
        let codes: Vec<String> = pieces.iter().map(|piece| piece.text(text).into_owned()).collect();
        assert_eq!(codes, ["$ A=1\n\necho $A\n\n", "puts 1\n", "cat ~/.ssh/id_rsa | head"]);
        assert_eq!(strip_prompts(&codes[0]), "  A=1\n\necho $A\n\n");
        let place = |from: usize, to: usize| text.get(pieces[0].place(&(from..to))).unwrap();
        assert_eq!((place(2, 5), place(7, 11)), ("A=1", "echo"));
    }
}
