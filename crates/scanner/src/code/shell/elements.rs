//! Simple commands: their words, assignments and redirections.

use std::cell::OnceCell;
use std::rc::Rc;

use super::super::objects::classify_path;
use super::parser::{ListEnd, Parser, PendingDocument};
use super::tree::{Assignment, Node, Part, Redirect, RedirectKind, RedirectTarget, SimpleCommand, Word};
use super::words::WordMode;

/// Most words of one command.
const MAX_WORDS: usize = 4000;

impl Parser<'_> {
    /// A command of words.
    pub(super) fn read_simple(&mut self, start: usize) -> Option<Node> {
        let mut command = SimpleCommand::default();
        loop {
            self.skip_blanks();
            if let Some(redirect) = self.read_redirect() {
                command.redirects.push(redirect);
                continue;
            }
            match self.peek(0) {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'#') if self.at == start || self.is_behind_blank() => {
                    self.skip_comment();
                    break;
                }
                Some(b'(') => {
                    if self.rest().starts_with("()")
                        && let [word] = command.words.as_slice()
                        && let Some(name) = word.plain_text()
                    {
                        self.at += 2;
                        return Some(self.read_function(name));
                    }
                    // Nothing that a shell would take; perhaps what stands in it is good.
                    self.at += 1;
                }
                Some(b'<' | b'>') if self.peek(1) == Some(b'(') => {
                    let word = self.read_process_word();
                    command.words.push(word);
                }
                Some(b'<') if self.is_placeholder_here() => {
                    let start = self.at;
                    self.at += memchr::memchr(b'>', self.rest().as_bytes()).map_or(1, |end| end + 1);
                    let text = self.text.get(start..self.at).unwrap_or_default().to_owned();
                    let mut word = self.read_word(WordMode::Bare);
                    word.parts.insert(0, Part::Quoted(text));
                    command.words.push(word);
                }
                Some(b'<' | b'>') => self.at += 1,
                Some(_) => self.read_element(&mut command),
            }
        }
        command.range = self.range_of(start..self.at);
        let is_empty =
            command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty();
        (!is_empty).then_some(Node::Simple(command))
    }

    /// Whether a blank stands before this place.
    pub(super) fn is_behind_blank(&self) -> bool {
        self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)).is_none_or(u8::is_ascii_whitespace)
    }

    /// One word of a command, or an assignment before it.
    pub(super) fn read_element(&mut self, command: &mut SimpleCommand) {
        if command.words.len() >= MAX_WORDS {
            self.is_cut = true;
            self.skip_comment();
            return;
        }
        let declares = command.words.first().and_then(Word::bare_text).is_some_and(|name| {
            matches!(name, "export" | "declare" | "local" | "readonly" | "typeset" | "alias" | "set" | "setx")
        });
        if (command.words.is_empty() || declares)
            && let Some((name, is_added, width)) = self.assignment_here()
        {
            self.at += width;
            let values = if self.peek(0) == Some(b'(') {
                self.read_elements()
            } else {
                vec![self.read_word(WordMode::Bare)]
            };
            command.assignments.push(Assignment { name, values, is_added });
            return;
        }
        let word = self.read_word(WordMode::Bare);
        // A prompt before the command, as documents show it.
        if command.words.is_empty() && matches!(word.bare_text(), Some("$" | "%" | "PS>" | "❯" | "➜")) {
            return;
        }
        command.words.push(word);
    }

    /// The name of an assignment that begins here, whether it adds, and how long that is with the sign.
    pub(super) fn assignment_here(&self) -> Option<(String, bool, usize)> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let name = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if name == 0 || bytes.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut at = name;
        if bytes.get(at) == Some(&b'[') {
            at += bytes.iter().skip(at).take(64).position(|byte| *byte == b']')? + 1;
        }
        let is_added = bytes.get(at) == Some(&b'+');
        at += usize::from(is_added);
        (bytes.get(at) == Some(&b'='))
            .then(|| (rest.get(..name).unwrap_or_default().to_owned(), is_added, at + 1))
    }

    /// The elements of a list in parentheses.
    pub(super) fn read_elements(&mut self) -> Vec<Word> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.peek(0) {
                None => break,
                Some(b')') => {
                    self.at += 1;
                    break;
                }
                Some(b';' | b'&' | b'|' | b'<' | b'>' | b'(') => self.at += 1,
                Some(_) if words.len() < MAX_WORDS => words.push(self.read_word(WordMode::Bare)),
                Some(_) => {
                    self.is_cut = true;
                    break;
                }
            }
        }
        words
    }

    /// A redirection, if one begins here.
    pub(super) fn read_redirect(&mut self) -> Option<Redirect> {
        let bytes = self.rest().as_bytes();
        let digits = bytes.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
        let both = bytes.first() == Some(&b'&') && bytes.get(1) == Some(&b'>');
        let at = if both { 1 } else { digits };
        let mark = *bytes.get(at)?;
        if !matches!(mark, b'<' | b'>') || (digits > 0 && !self.is_behind_blank()) {
            return None;
        }
        if mark == b'<' && at == 0 && self.is_placeholder_here() {
            return None;
        }
        let after = bytes.get(at + 1..).unwrap_or_default();
        let descriptor = self.rest().get(..digits).and_then(|digits| digits.parse().ok());
        let (kind, width) = match (mark, after.first(), after.get(1)) {
            (b'<', Some(b'<'), Some(b'<')) => {
                self.at += at + 3;
                self.skip_blanks();
                let text = self.read_word(WordMode::Bare);
                return Some(Redirect {
                    descriptor,
                    kind: RedirectKind::Read,
                    target: RedirectTarget::Text(text),
                });
            }
            (b'<', Some(b'<'), third) => {
                let strips_tabs = third == Some(&b'-');
                self.at += at + 2 + usize::from(strips_tabs);
                self.skip_blanks();
                return Some(self.open_document(descriptor, strips_tabs));
            }
            (b'<', Some(b'>'), _) => (RedirectKind::Both, 2),
            (_, Some(b'&'), _) => (RedirectKind::Duplicate, 2),
            (b'>', Some(b'>'), _) => (RedirectKind::Append, 2),
            (b'>', Some(b'|'), _) => (RedirectKind::Write, 2),
            // A process substitution is a word.
            (_, Some(b'('), _) if digits == 0 => return None,
            (b'<', ..) => (RedirectKind::Read, 1),
            _ => (RedirectKind::Write, 1),
        };
        // `<&3` reads.
        let is_copied_input = kind == RedirectKind::Duplicate && mark == b'<';
        let descriptor = descriptor.or(is_copied_input.then_some(0));
        self.at += at + width;
        self.skip_blanks();
        let word = match self.peek(0) {
            Some(b'<' | b'>') if self.peek(1) == Some(b'(') => self.read_process_word(),
            _ => self.read_word(WordMode::Bare),
        };
        Some(Redirect { descriptor, kind, target: RedirectTarget::Word(word) })
    }

    /// Whether `<name>` stands here for something that the reader of a document fills in.
    pub(super) fn is_placeholder_here(&self) -> bool {
        let inside = self.rest().get(1..).unwrap_or_default();
        let width = inside
            .bytes()
            .take(60)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ' | b'|'))
            .count();
        let name = inside.get(..width).unwrap_or_default();
        let after = inside.as_bytes().get(width + 1).copied().unwrap_or(b' ');
        let is_closed = inside.as_bytes().get(width) == Some(&b'>');
        is_closed
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && !name.ends_with(' ')
            && !after.is_ascii_alphanumeric()
            && !matches!(after, b'&' | b'>' | b'~' | b'$')
            && classify_path(name).is_none()
    }

    /// `<( … )` or `>( … )` as a word.
    pub(super) fn read_process_word(&mut self) -> Word {
        let start = self.at;
        let parts = vec![self.read_process()];
        Word { parts, range: self.range_of(start..self.at) }
    }

    /// `<( … )` or `>( … )`.
    pub(super) fn read_process(&mut self) -> Part {
        let is_output = self.peek(0) == Some(b'>');
        self.at += 2;
        let body = if self.depth < super::MAX_DEPTH {
            self.read_inner(ListEnd::Parenthesis)
        } else {
            self.is_cut = true;
            Vec::new()
        };
        self.at += usize::from(self.peek(0) == Some(b')'));
        Part::Process { body: body.into(), is_output }
    }

    /// A here document, whose lines come later.
    pub(super) fn open_document(&mut self, descriptor: Option<u32>, strips_tabs: bool) -> Redirect {
        let word = self.read_word(WordMode::Bare);
        let is_literal = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
        let body = Rc::new(OnceCell::new());
        let delimiter = word.plain_text().unwrap_or_default();
        self.pending.push(PendingDocument { delimiter, is_literal, strips_tabs, body: Rc::clone(&body) });
        Redirect { descriptor, kind: RedirectKind::Read, target: RedirectTarget::Document(body) }
    }
}
