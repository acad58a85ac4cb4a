//! Statements of a shell script, one after the other. It never refuses: what it cannot read it passes over, as somebody who
//! pastes broken lines into a shell finds that the good ones ran.
//!
//! Depth and number of commands are bounded; nothing is looked at more often than its depth.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

use super::super::objects::classify_path;
use super::tree::{
    Assignment, Block, BlockKind, Node, Part, Redirect, RedirectKind, RedirectTarget, SimpleCommand, Word,
};
use super::words::WordMode;

/// Most commands that are joined by `|`; nobody writes more.
const MAX_STAGES: usize = 200;
/// Most words of one command.
const MAX_WORDS: usize = 4000;

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
struct PendingDocument {
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
    body: Rc<OnceCell<Word>>,
}

/// Reads a text.
pub(super) struct Parser<'a> {
    text: &'a str,
    pub(super) at: usize,
    pub(super) depth: u32,
    /// What every place is said to be, of a text that stands for a part of another.
    place: Option<Range<usize>>,
    pending: Vec<PendingDocument>,
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
    fn complete_line(&mut self, node: Node) -> Node {
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
    fn skip_character(&mut self) {
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    /// Whether a list ends here.
    fn is_at_end(&self, end: ListEnd) -> bool {
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
    fn closing_word(&self) -> Option<&'static str> {
        ["done", "fi", "esac", "}", "then", "else", "elif", "do"]
            .into_iter()
            .find(|word| self.is_word_here(word))
    }

    /// Whether a word stands here by itself.
    fn is_word_here(&self, word: &str) -> bool {
        self.rest().strip_prefix(word).is_some_and(|rest| {
            rest.bytes().next().is_none_or(|byte| {
                matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
            })
        })
    }

    /// Passes over blanks, and over lines that are continued.
    fn skip_blanks(&mut self) {
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
    fn skip_separators(&mut self, end: ListEnd) {
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
    fn skip_comment(&mut self) {
        let rest = self.rest();
        self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
    }

    /// Passes over a line's end, and over the here documents that follow it.
    fn end_line(&mut self) {
        self.at += 1;
        for document in std::mem::take(&mut self.pending) {
            self.read_document(&document);
        }
    }

    /// Reads the lines of a here document.
    fn read_document(&mut self, document: &PendingDocument) {
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
    fn read_pipeline(&mut self) -> Option<Node> {
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
    fn read_command(&mut self) -> Option<Node> {
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

    /// How long the word is that begins here, in letters.
    fn word_width(&self) -> usize {
        self.rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'{' | b'('))
            .count()
    }

    /// A list that stands deeper than this one.
    fn read_inner(&mut self, end: ListEnd) -> Vec<Node> {
        self.depth += 1;
        let body = self.read_list(end);
        self.depth -= 1;
        body
    }

    /// Everything up to a closing word, over the words that divide it.
    fn read_divided(&mut self, closing: &str) -> Vec<Node> {
        let mut body = Vec::new();
        loop {
            body.append(&mut self.read_inner(ListEnd::Word));
            match self.closing_word() {
                Some(word) if word == closing => {
                    self.at += word.len();
                    return body;
                }
                Some(word @ ("then" | "else" | "elif" | "do")) if closing != "}" => self.at += word.len(),
                // Another statement's end: this one was not closed.
                _ => return body,
            }
        }
    }

    /// `for NAME in words; do … done`.
    fn read_for(&mut self, start: usize) -> Node {
        self.at += self.word_width();
        self.skip_blanks();
        if self.rest().starts_with("((") {
            self.skip_arithmetic();
        }
        let name = self.read_word(WordMode::Bare).plain_text().unwrap_or_default();
        self.skip_lines();
        let mut words = Vec::new();
        if self.is_word_here("in") {
            self.at += 2;
            loop {
                self.skip_blanks();
                if matches!(self.peek(0), None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'))
                {
                    break;
                }
                words.push(self.read_word(WordMode::Bare));
            }
        } else {
            let expansion =
                super::tree::Expansion { name: "@".to_owned(), is_list: true, ..Default::default() };
            let part = Part::Variable { expansion: Rc::new(expansion), is_quoted: true };
            words.push(Word { parts: vec![part], range: self.range_of(start..self.at) });
        }
        let body = self.read_divided("done");
        self.finish_block(BlockKind::For { name, words }, body, start)
    }

    /// Passes over blanks and line ends.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek(0) {
                Some(b'\n') => self.end_line(),
                Some(b'#') => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// `case word in pattern) … ;; esac`.
    fn read_case(&mut self, start: usize) -> Node {
        self.at += "case".len();
        self.skip_blanks();
        let _subject = self.read_word(WordMode::Bare);
        self.skip_lines();
        if self.is_word_here("in") {
            self.at += 2;
        }
        let mut body = Vec::new();
        while self.at < self.text.len() && self.commands_left > 0 {
            self.skip_lines();
            if self.is_word_here("esac") {
                self.at += "esac".len();
                break;
            }
            self.at += usize::from(self.peek(0) == Some(b'('));
            // The patterns.
            let before = self.at;
            while self.at < self.text.len() && self.peek(0) != Some(b')') {
                self.skip_blanks();
                match self.peek(0) {
                    Some(b'|') => self.at += 1,
                    None | Some(b')' | b'\n' | b';' | b'&' | b'(' | b'<' | b'>') => break,
                    Some(_) => {
                        self.read_word(WordMode::Bare);
                    }
                }
            }
            self.at += usize::from(self.peek(0) == Some(b')'));
            self.commands_left = self.commands_left.saturating_sub(1);
            body.append(&mut self.read_inner(ListEnd::Case));
            while self.peek(0) == Some(b';') || self.rest().starts_with("&\n") {
                self.at += 1;
            }
            if self.at == before || self.closing_word().is_some_and(|word| word != "esac") {
                break;
            }
        }
        self.finish_block(BlockKind::Once, body, start)
    }

    /// The body of a function.
    fn read_function(&mut self, name: String) -> Node {
        self.skip_lines();
        let body: Vec<Node> = if self.depth < super::MAX_DEPTH {
            self.depth += 1;
            let body = self.read_command();
            self.depth -= 1;
            body.into_iter().collect()
        } else {
            self.is_cut = true;
            Vec::new()
        };
        Node::Function { name, body: body.into() }
    }

    /// A block and the redirections behind it.
    fn finish_block(&mut self, kind: BlockKind, body: Vec<Node>, start: usize) -> Node {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.read_redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Node::Block(Block { kind, body, redirects, range: self.range_of(start..self.at) })
    }

    /// `(( … ))`, passed over. Says whether it was one.
    fn skip_arithmetic(&mut self) -> bool {
        let window = self.rest().as_bytes();
        let window = window.get(..window.len().min(256)).unwrap_or_default();
        let Some(end) = memchr::memmem::find(window, b"))") else { return false };
        self.at += end + 2;
        true
    }

    /// A command of words.
    fn read_simple(&mut self, start: usize) -> Option<Node> {
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
    fn is_behind_blank(&self) -> bool {
        self.at
            .checked_sub(1)
            .and_then(|at| self.text.as_bytes().get(at))
            .is_none_or(|byte| byte.is_ascii_whitespace())
    }

    /// One word of a command, or an assignment before it.
    fn read_element(&mut self, command: &mut SimpleCommand) {
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
    fn assignment_here(&self) -> Option<(String, bool, usize)> {
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
    fn read_elements(&mut self) -> Vec<Word> {
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
    fn read_redirect(&mut self) -> Option<Redirect> {
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
    fn is_placeholder_here(&self) -> bool {
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
    fn read_process_word(&mut self) -> Word {
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
    fn open_document(&mut self, descriptor: Option<u32>, strips_tabs: bool) -> Redirect {
        let word = self.read_word(WordMode::Bare);
        let is_literal = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
        let body = Rc::new(OnceCell::new());
        let delimiter = word.plain_text().unwrap_or_default();
        self.pending.push(PendingDocument { delimiter, is_literal, strips_tabs, body: Rc::clone(&body) });
        Redirect { descriptor, kind: RedirectKind::Read, target: RedirectTarget::Document(body) }
    }
}
