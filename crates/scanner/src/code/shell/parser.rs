//! Statements of a shell script, one after the other. It never refuses: what it cannot read it passes over, as somebody who
//! pastes broken lines into a shell finds that the good ones ran.
//!
//! Depth and number of commands are bounded; nothing is looked at more often than its depth.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::tree::{Block, BlockKind, Node, Part, Word};
use super::words::WordMode;

/// Most commands that are joined by `|`; nobody writes more.
const MAX_STAGES: usize = 200;

/// Where a list of statements ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// At the end of the text.
    Text,
    /// At a closing parenthesis.
    Parenthesis,
    /// At a word such as `done`, `fi` or `}`.
    Word,
    /// At `;;`, or `esac`.
    Case,
}

/// A here document whose lines are still to come.
pub(super) struct PendingDocument {
    pub(super) delimiter: String,
    pub(super) is_literal: bool,
    pub(super) strips_tabs: bool,
    pub(super) body: Rc<OnceCell<Word>>,
}

/// Reads a text.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: u32,
    /// What every place is said to be, of a text that stands for a part of another.
    place: Option<Range<usize>>,
    pub(super) pending: Vec<PendingDocument>,
    /// Quotation marks that are not closed in what is left.
    pub(super) unclosed: Vec<u8>,
    /// How many commands may still be read.
    pub(super) commands_left: usize,
    pub(super) is_cut: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, place: Option<Range<usize>>, depth: u32, commands_left: usize) -> Self {
        let (pending, unclosed) = (Vec::new(), Vec::new());
        Self { text, at: 0, depth, place, pending, unclosed, commands_left, is_cut: false }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// A byte from here on.
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// A place in the text that was handed in first.
    pub(super) fn range_of(&self, range: Range<usize>) -> Range<usize> {
        self.place.clone().unwrap_or(range)
    }

    /// The next statement of the whole text.
    pub(super) fn next_statement(&mut self) -> Option<Node> {
        loop {
            self.skip_separators(ListEnd::Text);
            if self.at >= self.text.len() {
                return None;
            }
            if self.commands_left == 0 {
                self.is_cut = true;
                return None;
            }
            let before = self.at;
            // A word that closes something that is not open.
            if self.closing_word().is_some() {
                self.at += self.closing_word().map_or(1, str::len);
                continue;
            }
            if let Some(node) = self.read_pipeline() {
                return Some(self.complete_line(node));
            }
            if self.at == before {
                self.skip_character();
            }
        }
    }

    /// A statement with the rest of its line, where here documents are to follow that.
    pub(super) fn complete_line(&mut self, node: Node) -> Node {
        if self.pending.is_empty() {
            return node;
        }
        let start = self.at;
        let mut body = vec![node];
        while !self.pending.is_empty() && self.at < self.text.len() && self.commands_left > 0 {
            self.skip_separators(ListEnd::Text);
            if self.pending.is_empty() {
                break;
            }
            let before = self.at;
            body.extend(self.read_pipeline());
            if self.at == before {
                self.skip_character();
            }
        }
        let range = self.range_of(start..self.at);
        Node::Block(Block { kind: BlockKind::Once, body, redirects: Vec::new(), range })
    }

    /// Statements up to an end, which is left where it is.
    pub(super) fn read_list(&mut self, end: ListEnd) -> Vec<Node> {
        let mut nodes = Vec::new();
        loop {
            self.skip_separators(end);
            if self.at >= self.text.len() || self.is_at_end(end) {
                return nodes;
            }
            if self.commands_left == 0 {
                self.is_cut = true;
                self.at = self.text.len();
                return nodes;
            }
            let before = self.at;
            if let Some(node) = self.read_pipeline() {
                nodes.push(node);
            }
            if self.at == before {
                self.skip_character();
            }
        }
    }

    /// Passes over one character, whatever it is.
    pub(super) fn skip_character(&mut self) {
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    /// Whether a list ends here.
    pub(super) fn is_at_end(&self, end: ListEnd) -> bool {
        match end {
            ListEnd::Text => false,
            ListEnd::Parenthesis => self.peek(0) == Some(b')'),
            ListEnd::Word => self.peek(0) == Some(b')') || self.closing_word().is_some(),
            ListEnd::Case => {
                self.peek(0) == Some(b')') || self.rest().starts_with(";;") || self.closing_word().is_some()
            }
        }
    }

    /// The word here, if it closes or divides a statement.
    pub(super) fn closing_word(&self) -> Option<&'static str> {
        ["done", "fi", "esac", "}", "then", "else", "elif", "do"]
            .into_iter()
            .find(|word| self.is_word_here(word))
    }

    /// Whether a word stands here by itself.
    pub(super) fn is_word_here(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|rest| {
            rest.bytes().next().is_none_or(|byte| {
                matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            })
        })
    }

    /// Passes over blanks, and over lines that are continued.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.peek(1) == Some(b'\r') && self.peek(2) == Some(b'\n') => self.at += 3,
                _ => return,
            }
        }
    }

    /// Passes over everything between two statements.
    pub(super) fn skip_separators(&mut self, end: ListEnd) {
        loop {
            self.skip_blanks();
            match self.peek(0) {
                Some(b'\n') => self.end_line(),
                Some(b';') if end == ListEnd::Case && self.peek(1) == Some(b';') => return,
                Some(b'&') if self.peek(1) == Some(b'>') => return,
                Some(b';' | b'&' | b'|') => self.at += 1,
                Some(b')') if end == ListEnd::Text => self.at += 1,
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Passes over a comment, up to its line's end.
    pub(super) fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
    }

    /// Passes over a line's end, and over the here documents that follow it.
    pub(super) fn end_line(&mut self) {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.read_document(&document);
        }
    }

    /// Reads the lines of a here document.
    pub(super) fn read_document(&mut self, document: &PendingDocument) {
        let start = self.at;
        let mut end = self.text.len();
        let mut next = end;
        let mut at = start;
        for line in self.rest().split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            let bare = if document.strips_tabs { bare.trim_start_matches('\t') } else { bare };
            if bare == document.delimiter {
                end = at;
                next = at + line.len();
                break;
            }
            at += line.len();
        }
        let inside = self.text.get(start..end).unwrap_or_default();
        let range = self.range_of(start..end);
        let word = if document.is_literal {
            Word { parts: vec![Part::Quoted(inside.to_owned())], range }
        } else {
            let mut inner = Parser::new(inside, Some(range.clone()), self.depth + 1, self.commands_left);
            let mut word = inner.read_word(WordMode::Document);
            word.range = range;
            self.commands_left = inner.commands_left;
            self.is_cut |= inner.is_cut;
            word
        };
        // Each is filled once.
        let _ = document.body.set(word);
        self.at = next;
    }

    /// Commands that are joined by `|`; one alone is returned as it is.
    pub(super) fn read_pipeline(&mut self) -> Option<Node> {
        let mut stages = Vec::new();
        loop {
            if let Some(node) = self.read_command() {
                if stages.len() < MAX_STAGES {
                    stages.push(node);
                } else {
                    self.is_cut = true;
                }
            }
            self.skip_blanks();
            if self.peek(0) != Some(b'|') || self.peek(1) == Some(b'|') {
                break;
            }
            self.at += if self.peek(1) == Some(b'&') { 2 } else { 1 };
            // The next command may stand on another line.
            loop {
                self.skip_blanks();
                match self.peek(0) {
                    Some(b'\n') => self.end_line(),
                    Some(b'#') => self.skip_comment(),
                    _ => break,
                }
            }
        }
        if stages.len() > 1 { Some(Node::Pipeline(stages)) } else { stages.pop() }
    }

    /// One command, simple or not.
    pub(super) fn read_command(&mut self) -> Option<Node> {
        self.skip_blanks();
        self.commands_left = self.commands_left.saturating_sub(1);
        let start = self.at;
        while ["!", "time", "coproc"].iter().any(|word| self.is_word_here(word)) {
            self.at += if self.peek(0) == Some(b'!') { 1 } else { self.word_width() };
            self.skip_blanks();
        }
        if self.depth >= super::MAX_DEPTH {
            let opens = self.peek(0) == Some(b'(')
                || ["if", "while", "until", "for", "select", "case", "{", "function"]
                    .iter()
                    .any(|word| self.is_word_here(word));
            if opens {
                self.is_cut = true;
                self.at += self.word_width().max(1);
                return None;
            }
        }
        if self.peek(0) == Some(b'(') {
            if self.peek(1) == Some(b'(') && self.skip_arithmetic() {
                return None;
            }
            self.at += 1;
            let body = self.read_inner(ListEnd::Parenthesis);
            self.at += usize::from(self.peek(0) == Some(b')'));
            return Some(self.finish_block(BlockKind::Once, body, start));
        }
        for (word, closing) in [("if", "fi"), ("while", "done"), ("until", "done"), ("{", "}")] {
            if self.is_word_here(word) {
                self.at += word.len();
                let body = self.read_divided(closing);
                return Some(self.finish_block(BlockKind::Once, body, start));
            }
        }
        if self.is_word_here("for") || self.is_word_here("select") {
            return Some(self.read_for(start));
        }
        if self.is_word_here("case") {
            return Some(self.read_case(start));
        }
        if self.is_word_here("function") {
            self.at += "function".len();
            self.skip_blanks();
            let name = self.read_word(WordMode::Bare).plain_text().unwrap_or_default();
            self.skip_blanks();
            if self.rest().starts_with("()") {
                self.at += 2;
            }
            return Some(self.read_function(name));
        }
        self.read_simple(start)
    }
}
