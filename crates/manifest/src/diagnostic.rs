//! What is wrong with a text, where, and what to write instead.
//!
//! The library prints nothing: a [`Diagnostic`] is a value, and [`Invalid`] carries all of them with the text
//! they point into, so that a caller can render snippets, JSON or a language server's squiggles.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use skillsandbox_text::shorten_line;

pub(crate) use crate::span::{LineCounter, lines_of};
pub use crate::span::{Span, Spanned};

/// How many diagnostics one text can produce. A hostile file of 256 KiB could otherwise hold tens of thousands;
/// nobody reads past the first screen. The rest is counted in [`Invalid::more`].
pub(crate) const MAX_DIAGNOSTICS: usize = 50;

macro_rules! codes {
    ($( $(#[doc = $doc:literal])+ $variant:ident = $text:literal, )+) => {
        /// The kind of a [`Diagnostic`]: stable, for programs that sort or suppress.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $( $(#[doc = $doc])+ $variant, )+ }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Code] = &[ $( Code::$variant, )+ ];

            /// The code as it is printed and serialised: lower case, with hyphens.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $( Code::$variant => $text, )+ }
            }
        }
    };
}

codes! {
    /// The text is not YAML.
    Syntax = "syntax",
    /// The text is larger than [`crate::MAX_BYTES`].
    TooLarge = "too-large",
    /// Values are nested deeper than any manifest needs.
    TooDeep = "too-deep",
    /// There are more values, or longer lists, than any manifest needs.
    TooMany = "too-many",
    /// The text or a value holds NUL, a control character, or one that reorders or hides text.
    ForbiddenCharacter = "forbidden-character",
    /// `&anchor`: what is granted must be readable where it is granted.
    Anchor = "anchor",
    /// `*alias`.
    Alias = "alias",
    /// `!tag`: a manifest is plain data.
    Tag = "tag",
    /// `<<`, the merge key.
    MergeKey = "merge-key",
    /// `%YAML` or another directive.
    Directive = "directive",
    /// A second document after `---` or `...`.
    SeveralDocuments = "several-documents",
    /// There is nothing in the text.
    Empty = "empty",
    /// A key that is itself a list or a map.
    ComplexKey = "complex-key",
    /// The same key twice in one map.
    DuplicateKey = "duplicate-key",
    /// An unknown key.
    UnknownKey = "unknown-key",
    /// A required key is not there.
    MissingKey = "missing-key",
    /// A list where a map belongs, a number where text belongs, and so on.
    WrongType = "wrong-type",
    /// A word that is not among the accepted ones.
    UnknownValue = "unknown-value",
    /// A value that must not be empty is.
    EmptyValue = "empty-value",
    /// A number or size outside its bounds, 0 where 0 would mean nothing.
    OutOfRange = "out-of-range",
    /// The same thing granted or named twice.
    Repeated = "repeated",
    /// A skill's name or version that cannot be one.
    InvalidName = "invalid-name",
    /// A host name that is none, or an address where a name belongs.
    InvalidDomain = "invalid-domain",
    /// A wildcard that is not the whole first label, or that covers other people's names.
    InvalidWildcard = "invalid-wildcard",
    /// Not an address range.
    InvalidCidr = "invalid-cidr",
    /// Not an address of a resolver.
    InvalidResolver = "invalid-resolver",
    /// Both `domain` and `cidr`, or neither, or a protocol that does not go with them.
    InvalidRule = "invalid-rule",
    /// A path that cannot be granted.
    InvalidPath = "invalid-path",
    /// A grant that would let the skill change its own declaration, or that covers too much.
    UnsafeGrant = "unsafe-grant",
    /// Not a name, or pattern of names, of environment variables.
    InvalidVariable = "invalid-variable",
    /// Not a program's name.
    InvalidCommand = "invalid-command",
    /// A parameter whose rules contradict each other or its type.
    InvalidParameter = "invalid-parameter",
    /// Two parts of the manifest that cannot both be meant.
    Contradiction = "contradiction",
    /// A line in or before front matter that some readers take for its end or its beginning.
    AmbiguousFence = "ambiguous-fence",
    /// `---` at the start of SKILL.md that nothing closes.
    Unterminated = "unterminated",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing that is wrong, with its place and, where there is one, the cure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Its kind.
    pub code: Code,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// Where in the manifest: `permissions.network.egress[0].ports[1]`. Empty for the text as a whole.
    pub path: String,
    /// Where in the text.
    pub span: Span,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// A second place that explains the first, such as the other of two equal keys.
    pub related: Option<Related>,
    /// What to write instead.
    pub help: Option<String>,
}

/// A second place in the text that a [`Diagnostic`] refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// Where in the text.
    pub span: Span,
    /// What stands there.
    pub label: String,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            path: String::new(),
            span,
            line: 0,
            column: 0,
            related: None,
            help: None,
        }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    #[must_use]
    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some(Related { span, label: label.into() });
        self
    }
}

impl Diagnostic {
    /// The same in a text that has `offset` more bytes in front.
    #[must_use]
    pub(crate) fn shifted(mut self, offset: usize) -> Self {
        self.span = self.span.shifted(offset);
        if let Some(related) = &mut self.related {
            related.span = related.span.shifted(offset);
        }
        self
    }

    /// Whether nothing is added by `other`: what an alias would have stood for is not known, and a character that was
    /// refused once need not be refused again by the parser or by the value that holds it.
    fn says_enough_for(&self, other: &Self) -> bool {
        let inside = other.span.start <= self.span.start && self.span.end <= other.span.end;
        match self.code {
            Code::Alias => self.span == other.span,
            Code::Tag => self.span.start <= other.span.start && other.span.start <= self.span.end + 1,
            Code::ForbiddenCharacter => {
                self.span.start == other.span.start || (inside && other.code == self.code)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// Why a single value is refused: a [`Diagnostic`] that does not know its place yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Its kind.
    pub code: Code,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why a text is refused: every diagnostic, and the text they point into.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invalid {
    /// The text that was read.
    pub source: String,
    /// What is wrong with it, in the order of the text; at least one, at most 50.
    pub diagnostics: Vec<Diagnostic>,
    /// How many further diagnostics were counted but not kept.
    pub more: usize,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                f.write_str("; ")?;
            }
            diagnostic.fmt(f)?;
        }
        if self.more > 0 {
            write!(f, "; and {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for Invalid {}

/// Collects diagnostics while a text is read.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticSink {
    diagnostics: Vec<Diagnostic>,
    more: usize,
}

impl DiagnosticSink {
    /// Keeps a diagnostic, unless it is about a whole of which a part was refused already: an entry without a
    /// destination is no news where the destination is misspelt.
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        let whole = diagnostic.path.as_str();
        let inside = |part: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with(['.', '[']));
        if !whole.is_empty() && self.diagnostics.iter().any(|earlier| inside(&earlier.path)) {
            return;
        }
        if self.diagnostics.iter().any(|earlier| earlier.says_enough_for(&diagnostic)) {
            return;
        }
        self.diagnostics.push(diagnostic);
    }

    /// Checks one written value; a fault becomes a diagnostic at its place.
    pub(crate) fn check<T, U, E: Into<Fault>>(
        &mut self,
        written: &Spanned<T>,
        path: fmt::Arguments<'_>,
        check: impl FnOnce(&T) -> Result<U, E>,
    ) -> Option<Spanned<U>> {
        match check(&written.value).map_err(Into::into) {
            Ok(value) => Some(Spanned::new(value, written.span)),
            Err(fault) => {
                let diagnostic =
                    Diagnostic::new(fault.code, written.span, fault.message).at(path.to_string());
                self.push(Diagnostic { help: fault.help, ..diagnostic });
                None
            }
        }
    }

    /// Checks a list of written values one by one, and refuses one that says the same as an earlier one. Empty slots are
    /// values that were refused already; they keep the others' numbers true.
    pub(crate) fn check_all<'w, T: 'w, U: Eq + std::hash::Hash + Clone>(
        &mut self,
        written: impl IntoIterator<Item = (usize, &'w Spanned<T>)>,
        path: &str,
        check: impl Fn(&T) -> Result<U, Fault>,
    ) -> Vec<Spanned<U>> {
        let mut seen: HashMap<U, Span> = HashMap::new();
        let mut checked = Vec::new();
        for (i, item) in written {
            let Some(value) = self.check(item, format_args!("{path}[{i}]"), &check) else { continue };
            if let Some(first) = seen.get(&value.value) {
                let diagnostic = Diagnostic::new(Code::Repeated, item.span, "the same as an earlier entry");
                let diagnostic = diagnostic.related(*first, "first written here").help("keep one of them");
                self.push(diagnostic.at(format!("{path}[{i}]")));
                continue;
            }
            seen.insert(value.value.clone(), value.span);
            checked.push(value);
        }
        checked
    }

    /// Whether further diagnostics are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.diagnostics.is_empty()
    }

    /// Counts diagnostics that another sink could not keep.
    pub(crate) fn count(&mut self, more: usize) {
        self.more += more;
    }

    pub(crate) fn holds(&self, code: Code) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.code == code)
    }

    /// Sorts what was found into the text's order and gives each its line and column.
    pub(crate) fn finish(mut self, source: &str) -> (Vec<Diagnostic>, usize) {
        self.diagnostics.sort_by_key(|d| d.span.start);
        let mut place = LineCounter::new(source);
        for diagnostic in &mut self.diagnostics {
            (diagnostic.line, diagnostic.column) = place.advance_to(diagnostic.span.start);
        }
        (self.diagnostics, self.more)
    }

    pub(crate) fn into_invalid(self, source: &str) -> Invalid {
        let (diagnostics, more) = self.finish(source);
        Invalid { source: source.to_owned(), diagnostics, more }
    }
}

/// A short, printable form of untrusted text for a message, in backquotes.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shorten_line(text, 60))
}

/// A message that another library made of untrusted text.
pub(crate) fn printable(text: &str) -> String {
    shorten_line(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let source = "\u{feff}aé\r\nb\u{1f600}c\r";
        let mut sink = DiagnosticSink::default();
        for start in [source.find('c').unwrap(), 3, source.len()] {
            sink.push(Diagnostic::new(Code::Syntax, Span::new(start, start), "x"));
        }
        let (found, _) = sink.finish(source);
        let places: Vec<_> = found.iter().map(|d| (d.line, d.column)).collect();
        assert_eq!(places, [(1, 1), (2, 3), (3, 1)]);
    }

    #[test]
    fn keeps_a_bounded_number_and_counts_the_rest() {
        let mut sink = DiagnosticSink::default();
        for _ in 0..MAX_DIAGNOSTICS + 7 {
            sink.push(Diagnostic::new(Code::Syntax, Span::default(), "x"));
        }
        let invalid = sink.into_invalid("x");
        assert_eq!((invalid.diagnostics.len(), invalid.more), (MAX_DIAGNOSTICS, 7));
    }

    #[test]
    fn quoting_escapes_what_would_move_the_cursor() {
        assert_eq!(quoted("a\u{1b}[2J\u{202e}b"), r"`a\u{1b}[2J\u{202e}b`");
        assert!(quoted(&"x".repeat(500)).chars().count() < 70);
    }

    #[test]
    fn codes_are_unique() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
    }
}
