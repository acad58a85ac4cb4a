//! Words, and what is worth knowing of their bytes.

use crate::denied::DenialPosition;

/// Notes on a word, so that most words need no second look.
pub(crate) const SLASH: u8 = 1;
pub(crate) const DOT: u8 = 2;
/// A character that programs expand on their own: `~`, `$`, `%`.
pub(crate) const EXPANDS: u8 = 4;
pub(crate) const COLON: u8 = 8;
/// Ends a run of plain text, of text in single quotes, in double quotes.
pub(crate) const PLAIN: u8 = 0x80;
pub(crate) const SINGLE: u8 = 0x40;
pub(crate) const DOUBLE: u8 = 0x20;

#[allow(clippy::indexing_slicing)] // at compile time
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = class_of(byte);
        byte += 1;
    }
    class
};

const fn class_of(byte: usize) -> u8 {
    // There are 256 of them; the tab stands before its neighbours.
    #[allow(clippy::cast_possible_truncation, clippy::match_same_arms)]
    match byte as u8 {
        b'\t' | b' ' => PLAIN,
        0..=0x1f | 0x7f..=0xff => PLAIN | SINGLE | DOUBLE,
        b'\'' => PLAIN | SINGLE,
        b'"' | b'\\' | b'`' | b'!' => PLAIN | DOUBLE,
        b'$' => PLAIN | DOUBLE | EXPANDS,
        b'~' => PLAIN | EXPANDS,
        b'#' | b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')' | b'{' | b'*' | b'?' | b'[' => PLAIN,
        b'/' => SLASH,
        b'.' => DOT,
        b'%' => EXPANDS,
        b':' => COLON,
        _ => 0,
    }
}

pub(crate) fn class(byte: u8) -> u8 {
    CLASS.get(usize::from(byte)).copied().unwrap_or(PLAIN | SINGLE | DOUBLE)
}

/// Words, one after the other in one buffer.
#[derive(Debug, Default)]
pub(crate) struct CommandWords {
    text: Vec<u8>,
    spans: Vec<WordSpan>,
    /// Whether they were never a line, and are known by their numbers.
    listed: bool,
}

#[derive(Clone, Copy, Debug)]
struct WordSpan {
    start: u32,
    end: u32,
    /// Where it begins in the line.
    at: u32,
    notes: u8,
}

impl CommandWords {
    /// Words that were never a line.
    pub(crate) fn from_argv<'a>(argv: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut words = Self { listed: true, ..Self::default() };
        for word in argv {
            let notes = word.iter().fold(0, |notes, byte| notes | class(*byte));
            let start = words.text.len();
            words.push(word);
            words.end(start, 0, notes);
        }
        words
    }

    pub(crate) fn with_capacity(bytes: usize) -> Self {
        // Words of an agent's commands are longer than four bytes.
        Self { text: Vec::with_capacity(bytes), spans: Vec::with_capacity(bytes / 4 + 1), listed: false }
    }

    /// Adds to the word that is being read.
    pub(crate) fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// What there is of all words so far.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Ends the word that began at this byte of the buffer.
    pub(crate) fn end(&mut self, start: usize, at: usize, notes: u8) {
        // Lines are bounded far below; a longer list would find its words empty, and is refused.
        let number = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        self.spans.push(WordSpan {
            start: number(start),
            end: number(self.text.len()),
            at: number(at),
            notes,
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    /// A word, or nothing beyond the last.
    pub(crate) fn get(&self, index: usize) -> Option<&[u8]> {
        self.spans.get(index).map(|word| self.slice(word))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.spans.iter().map(|word| self.slice(word))
    }

    /// Each word with its number, and its notes.
    pub(crate) fn noted(&self) -> impl Iterator<Item = (usize, &[u8], u8)> {
        self.spans.iter().enumerate().map(|(index, word)| (index, self.slice(word), word.notes))
    }

    /// The arguments with their numbers: every word but the first.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.iter().enumerate().skip(1)
    }

    pub(crate) fn position(&self, index: usize) -> DenialPosition {
        if self.listed {
            return DenialPosition::Argument(index);
        }
        DenialPosition::Byte(self.spans.get(index).map_or(0, |word| word.at as usize))
    }

    fn slice(&self, word: &WordSpan) -> &[u8] {
        self.text.get(word.start as usize..word.end as usize).unwrap_or_default()
    }
}
