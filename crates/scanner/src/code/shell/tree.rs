//! The tree of a shell script: commands, what holds them, and the words they are made of.

use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;

/// One statement.
#[derive(Debug)]
pub(super) enum Node {
    /// A command with its words.
    Simple(SimpleCommand),
    /// Commands that are joined by `|`.
    Pipeline(Vec<Node>),
    /// Everything that holds other statements.
    Block(Block),
    /// `name() { … }`.
    Function { name: String, body: Rc<[Node]> },
}

/// A command, its assignments and its redirections.
#[derive(Debug, Default)]
pub(super) struct SimpleCommand {
    pub(super) assignments: Vec<Assignment>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) range: Range<usize>,
}

/// `NAME=value`.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    /// One word, or the elements of a list.
    pub(super) values: Vec<Word>,
    /// Whether it is `+=`.
    pub(super) is_added: bool,
}

/// A statement that holds others.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// Conditions and bodies, in the order in which they are written.
    pub(super) body: Vec<Node>,
    pub(super) redirects: Vec<Redirect>,
    pub(super) range: Range<usize>,
}

/// What kind of statement holds others.
#[derive(Debug)]
pub(super) enum BlockKind {
    /// `{ … }`, `( … )`, `if`, `while`, `case`: all of it is walked through once.
    Once,
    /// `for NAME in words`.
    For { name: String, words: Vec<Word> },
}

/// Where a command reads or writes.
#[derive(Debug)]
pub(super) struct Redirect {
    /// The descriptor, where it is written.
    pub(super) descriptor: Option<u32>,
    pub(super) kind: RedirectKind,
    pub(super) target: RedirectTarget,
}

/// Which way a redirection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Read,
    Write,
    Append,
    /// `<>`.
    Both,
    /// `<&`, `>&`, where a number follows.
    Duplicate,
}

/// What a redirection leads to.
#[derive(Debug)]
pub(super) enum RedirectTarget {
    /// A file, or a descriptor where it is duplicated.
    Word(Word),
    /// A here string.
    Text(Word),
    /// A here document, which is filled in when its lines are reached.
    Document(Rc<OnceCell<Word>>),
}

/// One word before it is expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
    pub(super) range: Range<usize>,
}

/// A piece of a word.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Text without quotes.
    Bare(String),
    /// Text in quotes, or behind a backslash.
    Quoted(String),
    /// `$name`, `${name…}`.
    Variable { expansion: Rc<Expansion>, is_quoted: bool },
    /// `$( … )` and backquotes.
    Command { body: Rc<[Node]>, is_quoted: bool },
    /// `<( … )` and `>( … )`.
    Process { body: Rc<[Node]>, is_output: bool },
}

/// A variable with what is done to it.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    pub(super) name: String,
    /// Whether the name is in another variable: `${!x}`.
    pub(super) is_indirect: bool,
    /// Whether only the length is asked for.
    pub(super) is_length: bool,
    /// Whether all elements of a list are meant, or one that is named.
    pub(super) is_list: bool,
    /// The operator, such as `:-` or `//`; empty if there is none.
    pub(super) operator: &'static str,
    pub(super) operand: Word,
}

impl Word {
    /// The word's text, where nothing in it is expanded.
    pub(super) fn plain_text(&self) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Bare(text) | Part::Quoted(text) => out.push_str(text),
                Part::Variable { .. } | Part::Command { .. } | Part::Process { .. } => return None,
            }
        }
        Some(out)
    }

    /// The word's text, where all of it is written without quotes: only so a shell takes it as a reserved word.
    pub(super) fn bare_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }
}
