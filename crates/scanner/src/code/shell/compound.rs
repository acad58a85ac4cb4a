//! Statements that hold others: loops, conditions, cases and functions.

use std::rc::Rc;

use super::parser::{ListEnd, Parser};
use super::tree::{Block, BlockKind, Expansion, Node, Part, Word};
use super::words::WordMode;

impl Parser<'_> {
    /// How long the word is that begins here, in letters.
    pub(super) fn word_width(&self) -> usize {
        self.rest()
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'{' | b'('))
            .count()
    }

    /// A list that stands deeper than this one.
    pub(super) fn read_inner(&mut self, end: ListEnd) -> Vec<Node> {
        self.depth += 1;
        let body = self.read_list(end);
        self.depth -= 1;
        body
    }

    /// Everything up to a closing word, over the words that divide it.
    pub(super) fn read_divided(&mut self, closing: &str) -> Vec<Node> {
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
    pub(super) fn read_for(&mut self, start: usize) -> Node {
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
            let expansion = Expansion { name: "@".to_owned(), is_list: true, ..Default::default() };
            let part = Part::Variable { expansion: Rc::new(expansion), is_quoted: true };
            words.push(Word { parts: vec![part], range: self.range_of(start..self.at) });
        }
        let body = self.read_divided("done");
        self.finish_block(BlockKind::For { name, words }, body, start)
    }

    /// Passes over blanks and line ends.
    pub(super) fn skip_lines(&mut self) {
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
    pub(super) fn read_case(&mut self, start: usize) -> Node {
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
    pub(super) fn read_function(&mut self, name: String) -> Node {
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
    pub(super) fn finish_block(&mut self, kind: BlockKind, body: Vec<Node>, start: usize) -> Node {
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
    pub(super) fn skip_arithmetic(&mut self) -> bool {
        let window = self.rest().as_bytes();
        let window = window.get(..window.len().min(256)).unwrap_or_default();
        let Some(end) = memchr::memmem::find(window, b"))") else { return false };
        self.at += end + 2;
        true
    }
}
