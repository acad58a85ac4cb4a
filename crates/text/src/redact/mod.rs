//! Secrets taken out of text before anybody sees it: by value, where the value is known; by shape, where it is not; and, where asked
//! for, by the name before it.
//!
//! A known value is found as it is, in capitals or not, backwards, turned by 13 or 47 letters, in base64, base85 and base32 wherever it lies in the encoded text and
//! across its line ends, in hexadecimal, as octal and decimal numbers, in UTF-16, quoted-printable, percent-encoded and with the backslashes of JSON, shells
//! and C. What is not found: a value that was compressed (gzip in base64), encrypted, cut into pieces by other text, or encoded twice.

mod base85;
mod forms;
mod named;
mod numbers;
mod shapes;
mod views;

use std::borrow::Cow;
use std::fmt;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use forms::{Forms, Pattern};
pub use named::{NextWord, redact_named_values};
use views::View;

/// Why a [`Redactor`] could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The search for the values could not be built.
    #[error("cannot search for this many secrets: {0}; hand over fewer or shorter ones")]
    TooMuch(#[from] aho_corasick::BuildError),
}

/// A value that is not looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unused {
    /// The name of the secret.
    pub name: String,
    /// Why.
    pub reason: &'static str,
}

/// Takes secrets out of text: values that are known, in many forms, and what has the shape of a secret.
///
/// A known value is found as it is, in capitals or not, backwards, turned by 13 or 47 letters, in base64, base85 and base32 wherever it lies in the encoded text and
/// across its line ends, in hexadecimal, as octal and decimal numbers, in UTF-16, quoted-printable, percent-encoded, and with the escapes of JSON, HTML, C and
/// shells. It is not found where it was compressed, encrypted, encoded twice in ways that hide each other, or cut into pieces by other text. A value of fewer than eight
/// bytes is not always found in base85, which hides up to three bytes at either end.
///
/// ```
/// use skillsandbox_text::Redactor;
///
/// let redactor = Redactor::new([("API_KEY", "correct horse")])?;
/// assert_eq!(redactor.redact("key=correct%20horse"), "key=[REDACTED:API_KEY]");
/// assert_eq!(redactor.redact("Y29ycmVjdCBob3JzZQ=="), "[REDACTED:API_KEY]");
/// # Ok::<(), skillsandbox_text::RedactError>(())
/// ```
pub struct Redactor {
    /// Values as they are, backwards and in base64.
    values: Option<Search>,
    names: Vec<String>,
    unused: Vec<Unused>,
}

/// Bytes of all forms together that the faster kind of search is made for: those of some ten tokens, and at most 16 MiB of memory.
const MOST_FAST: usize = 16 * 1024;

/// A search for many patterns at once, and what each stands for.
struct Search {
    automaton: AhoCorasick,
    patterns: Vec<Pattern>,
}

/// A part of a text that is to be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretSpan {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    label: Label,
}

/// Names only: the search for a value would show it.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("names", &self.names)
            .field("unused", &self.unused)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    /// The value of this secret.
    Value(usize),
    /// Something of this shape.
    Shape(&'static str),
}

impl Redactor {
    /// Looks for these values, each with the name that is put in its place, and for every known shape.
    ///
    /// Values that are shorter than six bytes, or that any text may have in it, are not looked for: they would tear holes into
    /// honest text. [`Self::unused`] says which those are.
    pub fn new<N, V>(secrets: impl IntoIterator<Item = (N, V)>) -> Result<Self, RedactError>
    where
        N: Into<String>,
        V: AsRef<[u8]>,
    {
        let mut forms = Forms::default();
        let (mut names, mut unused) = (Vec::new(), Vec::new());
        for (name, value) in secrets {
            let name = shown(&name.into());
            match forms.add(names.len(), value.as_ref()) {
                Ok(()) => names.push(name),
                Err(reason) => unused.push(Unused { name, reason }),
            }
        }
        Ok(Self { values: Search::new(forms.patterns)?, names, unused })
    }

    /// Looks for shapes only.
    pub fn of_shapes() -> Result<Self, RedactError> {
        Self::new(std::iter::empty::<(String, String)>())
    }

    /// The values that are not looked for, and why.
    #[must_use]
    pub fn unused(&self) -> &[Unused] {
        &self.unused
    }

    /// The text with `[REDACTED:NAME]` for each secret value, and `[REDACTED:kind]` for what has the shape of one.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A span can begin in the middle of a letter only where a value is no text.
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// The same for bytes, which need not be text.
    #[must_use]
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = 0;
        for span in spans {
            out.extend_from_slice(bytes.get(rest..span.start).unwrap_or_default());
            out.extend_from_slice(self.replacement(span).as_bytes());
            rest = span.end;
        }
        out.extend_from_slice(bytes.get(rest..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The same for a command line, an address or an argument, from which values go with the name that gives them away, too:
    /// `--token x`, `API_KEY=x`, `https://user:x@host`. `next` says what the text before ended in.
    ///
    /// ```
    /// use skillsandbox_text::{NextWord, Redactor};
    ///
    /// let redactor = Redactor::of_shapes()?;
    /// let mut next = NextWord::Plain;
    /// assert_eq!(redactor.redact_named("--token", &mut next), "--token");
    /// assert_eq!(redactor.redact_named("hunter2", &mut next), "[REDACTED]");
    /// # Ok::<(), skillsandbox_text::RedactError>(())
    /// ```
    #[must_use]
    pub fn redact_named(&self, text: &str, next: &mut NextWord) -> String {
        self.redact(&redact_named_values(text, next)).into_owned()
    }

    /// What is put in the place of a part.
    #[must_use]
    pub fn replacement(&self, span: SecretSpan) -> String {
        let label = match span.label {
            Label::Value(index) => self.names.get(index).map_or("secret", String::as_str),
            Label::Shape(kind) => kind,
        };
        format!("[REDACTED:{label}]")
    }

    /// The parts to be replaced, in order, without overlaps.
    #[must_use]
    pub fn spans(&self, bytes: &[u8]) -> Vec<SecretSpan> {
        let mut found = Vec::new();
        if let Some(values) = &self.values {
            values.find(&View::raw(bytes), &mut found);
            views::each_decoded(bytes, |view| values.find(view, &mut found));
        }
        shapes::find(bytes, &mut found);
        merged(found)
    }
}

impl Search {
    fn new(patterns: Vec<(Vec<u8>, Pattern)>) -> Result<Option<Self>, RedactError> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let (texts, patterns): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        let size: usize = texts.iter().map(Vec::len).sum();
        // The faster kind needs up to a kilobyte for each byte it looks for; the other is linear in what it holds.
        let kind = if size <= MOST_FAST { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
        let automaton = AhoCorasick::builder()
            .kind(Some(kind))
            // Names of DNS and of headers come back in other letters than they were given in.
            .ascii_case_insensitive(true)
            .build(texts)?;
        Ok(Some(Self { automaton, patterns }))
    }

    fn find(&self, view: &View<'_>, found: &mut Vec<SecretSpan>) {
        for hit in self.automaton.find_overlapping_iter(view.bytes()) {
            let Some(pattern) = self.patterns.get(hit.pattern().as_usize()) else { continue };
            let (start, end) = pattern.widened(view.bytes(), hit.start(), hit.end());
            let (start, end) = view.original(start, end);
            found.push(SecretSpan { start, end, label: Label::Value(pattern.secret) });
        }
    }
}

/// Parts that touch or overlap become one, with the label of the longest.
fn merged(mut found: Vec<SecretSpan>) -> Vec<SecretSpan> {
    found.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut out: Vec<(SecretSpan, usize)> = Vec::with_capacity(found.len());
    for span in found {
        let length = span.end - span.start;
        match out.last_mut() {
            Some((last, longest))
                if span.start < last.end || (span.start == last.end && span.label == last.label) =>
            {
                last.end = last.end.max(span.end);
                if length > *longest {
                    (*longest, last.label) = (length, span.label);
                }
            }
            _ => out.push((span, length)),
        }
    }
    out.into_iter().map(|(span, _)| span).collect()
}

/// A name as it may be put into a text: nothing in it that could be mistaken for the text around.
fn shown(name: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let name: String = name.chars().filter(|letter| safe(*letter)).take(64).collect();
    if name.is_empty() { "secret".to_owned() } else { name }
}

#[cfg(test)]
mod tests;
