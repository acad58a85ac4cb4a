//! Places in a text: ranges of bytes, values with the range they were read from, lines and columns.

use std::fmt;
use std::ops::{Deref, Range};

use serde::Serialize;

/// A half-open byte range in the source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The same span in a text that has `offset` more bytes in front.
    #[must_use]
    pub(crate) fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// The span as a range, as most rendering crates want it.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A value together with the place it was written at.
///
/// Two are equal when their values are: where something was written does not change what it means.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands in the source. Empty at 0 for values that no source holds, such as defaults.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl<T> From<T> for Spanned<T> {
    fn from(value: T) -> Self {
        Self { value, span: Span::default() }
    }
}

impl<T> Deref for Spanned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Spanned<T> {}

impl<T: std::hash::Hash> std::hash::Hash for Spanned<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// The line of each of some rising byte offsets.
pub(crate) fn lines_of(
    source: &str,
    offsets: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = usize> {
    let mut place = LineCounter::new(source);
    offsets.into_iter().map(move |offset| place.advance_to(offset).0)
}

/// Walks a text once, forwards, to turn rising byte offsets into lines and columns.
pub(crate) struct LineCounter<'a> {
    source: &'a str,
    offset: usize,
    line: usize,
    line_start: usize,
}

impl<'a> LineCounter<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        Self { source, offset: 0, line: 1, line_start: 0 }
    }

    /// The line and the column of an offset.
    pub(crate) fn advance_to(&mut self, target: usize) -> (usize, usize) {
        let target = self.source.floor_char_boundary(target);
        let passed = self.source.get(self.offset..target).unwrap_or_default();
        for (i, _) in passed.match_indices(['\n', '\r']) {
            // Of CRLF, the LF ends the line.
            let at = self.offset + i;
            if self.source.get(at..at + 2) != Some("\r\n") {
                self.line += 1;
                self.line_start = at + 1;
            }
        }
        self.offset = self.offset.max(target);
        let before = self.source.get(self.line_start..target).unwrap_or_default();
        // A byte order mark has no width and no column.
        let column = before.trim_start_matches('\u{feff}').chars().count() + 1;
        (self.line, column)
    }
}
