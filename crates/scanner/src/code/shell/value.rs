//! What is known of a value while a script is read: its text as far as that can be told, and where it comes from.

use std::rc::Rc;

/// Stands in a text for what only running the script would tell.
pub(super) const UNKNOWN: &str = "\u{fffc}";
/// Longest text of a value; what is longer is cut, its marks stay.
const MAX_TEXT: usize = 64 * 1024;
/// Most secrets that one value is said to hold: enough to name them.
const MAX_SOURCES: usize = 6;

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Secrets, by their number in the reader.
    pub(super) sources: Vec<usize>,
    /// The address that it was fetched from.
    pub(super) fetched: Option<Rc<str>>,
    /// The host at the other end of an open connection.
    pub(super) remote: Option<Rc<str>>,
    /// Whether it was decoded, deciphered or put together.
    pub(super) is_decoded: bool,
    /// Whether a shell wrote it that reads commands as they come.
    pub(super) is_shell_output: bool,
    /// Whether it comes out of a named pipe.
    pub(super) is_pipe: bool,
}

impl Marks {
    /// Adds what is known of another value.
    pub(super) fn add(&mut self, other: &Self) {
        for source in &other.sources {
            if self.sources.len() < MAX_SOURCES && !self.sources.contains(source) {
                self.sources.push(*source);
            }
        }
        if self.fetched.is_none() {
            self.fetched.clone_from(&other.fetched);
        }
        if self.remote.is_none() {
            self.remote.clone_from(&other.remote);
        }
        self.is_decoded |= other.is_decoded;
        self.is_shell_output |= other.is_shell_output;
        self.is_pipe |= other.is_pipe;
    }
}

/// A value: a word, a variable, the contents of a file, the output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) marks: Marks,
}

impl Value {
    /// A text that is known.
    pub(super) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), marks: Marks::default() }
    }

    /// Something of which only the marks are known.
    pub(super) fn marked(marks: Marks) -> Self {
        Self { text: UNKNOWN.to_owned(), marks }
    }

    /// What a command writes of which nothing is known.
    pub(super) fn unknown() -> Self {
        Self::known(UNKNOWN)
    }

    /// Whether the text is whole: nothing in it is left open.
    pub(super) fn is_known(&self) -> bool {
        !self.text.is_empty() && !self.text.contains(UNKNOWN)
    }

    /// Adds another value's text behind this one, and its marks.
    pub(super) fn append(&mut self, other: &Self) {
        let room = MAX_TEXT.saturating_sub(self.text.len());
        let mut end = other.text.len().min(room);
        while !other.text.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(other.text.get(..end).unwrap_or_default());
        self.marks.add(&other.marks);
    }

    /// Adds another value on a line of its own.
    pub(super) fn append_line(&mut self, other: &Self) {
        if !self.text.is_empty() && !other.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.append(other);
    }

    /// The same marks with another text.
    pub(super) fn with_text(&self, text: impl Into<String>) -> Self {
        Self { text: text.into(), marks: self.marks.clone() }
    }
}
