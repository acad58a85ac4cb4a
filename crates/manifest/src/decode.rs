//! Tree to raw form: types and known keys, nothing about meaning. Everything that is wrong is reported, and
//! reading goes on behind it.
//!
//! [`section!`] declares a map of the manifest once; its struct, its decoder, its list of known keys and its JSON
//! Schema all come from that one declaration.

use std::borrow::Cow;
use std::fmt::Write as _;

use skillsandbox_text::is_deceptive;

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Span, Spanned, quoted};
use crate::suggestion::{list, nearest, suggest};
use crate::yaml::{Node, NodeKind, Scalar};

/// Longest list or map anywhere; see `yaml::MAX_NODES` for the whole.
const MAX_ITEMS: usize = 1024;
/// Unknown keys that are looked at as misspellings of a missing one.
const MAX_SUGGESTED: usize = 8;
/// Longest text value. Bounds every later step that looks at one.
const MAX_TEXT: usize = 16 * 1024;

/// A type that can be read from a node. `None` means that the sink knows why not.
pub(crate) trait Decode: Sized {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self>;

    /// What stands for a key that is not there; `None` where the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// What stands for a value that was refused, so that the rest can still be read; the text is refused anyway.
    fn refused() -> Option<Self> {
        None
    }
}

/// A value that must be there. Empty only in a text that was refused.
#[derive(Debug)]
pub(crate) struct Required<T>(pub(crate) Option<T>);

impl<T: Decode> Decode for Required<T> {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        Some(Self(T::decode(node, cx)))
    }

    fn refused() -> Option<Self> {
        Some(Self(None))
    }
}

/// Where in the manifest decoding is, and where its complaints go.
#[derive(Debug)]
pub(crate) struct Decoder<'s> {
    sink: &'s mut DiagnosticSink,
    path: String,
    /// The key that introduced the current value: where "a key is missing" points.
    owner: Span,
    /// Whether text is taken as it is, whatever it holds.
    lenient: bool,
}

impl<'s> Decoder<'s> {
    pub(crate) fn new(sink: &'s mut DiagnosticSink) -> Self {
        Self { sink, path: String::new(), owner: Span::default(), lenient: false }
    }

    /// For texts that others judge: nothing in them is dropped.
    pub(crate) fn lenient(sink: &'s mut DiagnosticSink) -> Self {
        Self { lenient: true, ..Self::new(sink) }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        let path = self.path.clone();
        self.sink.push(diagnostic.at(path));
    }

    fn wrong_type(&mut self, node: &Node<'_>, expected: &str) -> Diagnostic {
        let message = format!("{}expected {expected}, found {}", self.subject(), node.describe());
        Diagnostic::new(Code::WrongType, self.place(node), message)
    }

    /// A node's place; for one without any width, such as a map in block style, that of its key.
    fn place(&self, node: &Node<'_>) -> Span {
        if node.span.start == node.span.end { self.owner } else { node.span }
    }

    /// "`memory_mb`: " for messages, nothing at the root.
    fn subject(&self) -> String {
        // A key in backquotes may hold dots of its own.
        let last = match self.path.strip_suffix('`') {
            Some(path) => path.rsplit_once('`').map_or("", |(_, key)| key),
            None => self.path.rsplit('.').next().unwrap_or_default(),
        };
        if last.is_empty() { String::new() } else { format!("`{last}`: ") }
    }

    fn too_many(&mut self, number: usize) {
        let message = format!("{}{number} entries; at most {MAX_ITEMS} are accepted", self.subject());
        self.report(Diagnostic::new(Code::TooMany, self.owner, message));
    }

    /// Whether a text, a value or a key, is one that may be: not too long, nothing in it that deceives.
    fn takes(&mut self, text: &str, span: Span) -> bool {
        if self.lenient {
            return true;
        }
        if text.len() > MAX_TEXT {
            let message = format!("{}{} bytes; at most {MAX_TEXT} are accepted", self.subject(), text.len());
            self.report(Diagnostic::new(Code::TooMany, span, message));
            return false;
        }
        if let Some(c) = text.chars().find(|c| is_deceptive(*c)) {
            let message =
                format!("{}holds the character U+{:04X}, which no value may", self.subject(), u32::from(c));
            let help = "control characters and ones that hide or reorder text are refused everywhere";
            self.report(Diagnostic::new(Code::ForbiddenCharacter, span, message).help(help));
            return false;
        }
        true
    }

    fn within<T>(&mut self, step: PathStep<'_>, owner: Span, f: impl FnOnce(&mut Self) -> T) -> T {
        let (length, outer) = (self.path.len(), self.owner);
        match step {
            PathStep::Key(key) => {
                if !self.path.is_empty() {
                    self.path.push('.');
                }
                self.path.push_str(&plain(key));
            }
            PathStep::Index(index) => {
                let _ = write!(self.path, "[{index}]");
            }
        }
        self.owner = owner;
        let result = f(self);
        self.path.truncate(length);
        self.owner = outer;
        result
    }
}

/// A key as a path shows it: as it is, or shortened and escaped where it is not a plain word.
pub(crate) fn plain(key: &str) -> Cow<'_, str> {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if key.len() <= 64 && key.chars().all(word) { Cow::Borrowed(key) } else { Cow::Owned(quoted(key)) }
}

#[derive(Clone, Copy)]
enum PathStep<'k> {
    Key(&'k str),
    Index(usize),
}

/// The entries of one map, taken key by key.
pub(crate) struct Entries<'n, 'a> {
    entries: &'n [(crate::yaml::Key<'a>, Node<'a>)],
    known: &'static [&'static str],
}

impl<'n, 'a> Entries<'n, 'a> {
    /// The entries of `node`, with every key that is not in `known` reported.
    pub(crate) fn of(
        node: &'n Node<'a>,
        known: &'static [&'static str],
        cx: &mut Decoder<'_>,
    ) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let diagnostic = cx.wrong_type(node, "a map");
            cx.report(diagnostic.help(format!("its keys are {}", list(known))));
            return None;
        };
        if entries.len() > MAX_ITEMS && !cx.lenient {
            cx.too_many(entries.len());
            return None;
        }
        for (key, _) in entries {
            if !known.contains(&&*key.text) {
                let message = format!("unknown key {}", quoted(&key.text));
                let diagnostic = Diagnostic::new(Code::UnknownKey, key.span, message);
                // Past the bound only the count matters; a suggestion would be work for nothing.
                let diagnostic =
                    if cx.sink.is_full() { diagnostic } else { diagnostic.help(suggest(&key.text, known)) };
                cx.within(PathStep::Key(&key.text), key.span, |cx| cx.report(diagnostic));
            }
        }
        Some(Self { entries, known })
    }

    /// Whether a key that nobody knows is most likely this one, misspelt.
    fn is_misspelt(&self, name: &str) -> bool {
        let mut unknown =
            self.entries.iter().filter(|(key, _)| !self.known.contains(&&*key.text)).take(MAX_SUGGESTED);
        unknown.any(|(key, _)| nearest(&key.text, self.known) == Some(name))
    }

    /// The value of a key. One that is required and missing, or wrong, is reported.
    pub(crate) fn field<T: Decode>(&self, name: &str, cx: &mut Decoder<'_>) -> Option<T> {
        if let Some((key, value)) = self.entries.iter().find(|(key, _)| key.text == name) {
            return cx.within(PathStep::Key(name), key.span, |cx| T::decode(value, cx)).or_else(T::refused);
        }
        T::absent().or_else(|| {
            if self.is_misspelt(name) {
                return T::refused();
            }
            let owner = cx.owner;
            cx.within(PathStep::Key(name), owner, |cx| {
                let message = format!("`{}` is missing", cx.path);
                cx.report(Diagnostic::new(Code::MissingKey, owner, message).help(format!("add `{name}:`")));
            });
            T::refused()
        })
    }
}

/// Declares a map of the manifest: a struct, and how it is read.
macro_rules! section {
    (
        $(#[$meta:meta])*
        $name:ident { $( $(#[$field_meta:meta])* $field:ident $( = $key:literal )? : $type:ty, )* }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
        pub(crate) struct $name {
            $(
                $(#[$field_meta])*
                $( #[cfg_attr(feature = "schema", schemars(rename = $key))] )?
                pub(crate) $field: $type,
            )*
        }

        impl $crate::decode::Decode for $name {
            fn decode(node: &$crate::yaml::Node<'_>, cx: &mut $crate::decode::Decoder<'_>) -> Option<Self> {
                const KEYS: &[&str] = &[ $( $crate::decode::key!($field $($key)?), )* ];
                let entries = $crate::decode::Entries::of(node, KEYS, cx)?;
                // All fields are read before any is given up, so that all their errors are seen.
                $( let $field = entries.field::<$type>($crate::decode::key!($field $($key)?), cx); )*
                Some(Self { $( $field: $field?, )* })
            }
        }
    };
}

macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

pub(crate) use {key, section};

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        T::decode(node, cx).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn refused() -> Option<Self> {
        Some(None)
    }
}

impl<T: Decode> Decode for Spanned<T> {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        let span = cx.place(node);
        T::decode(node, cx).map(|value| Spanned::new(value, span))
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        let NodeKind::List(items) = &node.kind else {
            let diagnostic = cx.wrong_type(node, "a list");
            let wants_brackets = matches!(node.scalar(), Some(Scalar::Text(_) | Scalar::Integer(_)));
            cx.report(if wants_brackets { diagnostic.help("write `[…]` around it") } else { diagnostic });
            return None;
        };
        if items.len() > MAX_ITEMS && !cx.lenient {
            cx.too_many(items.len());
            return None;
        }
        let decode = |(index, item): (usize, &Node<'_>)| {
            cx.within(PathStep::Index(index), item.span, |cx| T::decode(item, cx)).or_else(T::refused)
        };
        Some(items.iter().enumerate().filter_map(decode).collect())
    }
}

/// A map with keys of the author's choosing, in the author's order.
#[derive(Debug)]
pub(crate) struct Table<T>(pub(crate) Vec<(Spanned<String>, T)>);

impl<T: Decode> Decode for Table<T> {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        let NodeKind::Map(entries) = &node.kind else {
            let diagnostic = cx.wrong_type(node, "a map");
            cx.report(diagnostic);
            return None;
        };
        if entries.len() > MAX_ITEMS && !cx.lenient {
            cx.too_many(entries.len());
            return None;
        }
        let mut decoded = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if !cx.takes(&key.text, key.span) {
                continue;
            }
            let value = cx.within(PathStep::Key(&key.text), key.span, |cx| T::decode(value, cx));
            let key = Spanned::new(key.text.clone().into_owned(), key.span);
            decoded.extend(value.map(|value| (key, value)));
        }
        Some(Self(decoded))
    }
}

impl Decode for String {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        let Some(Scalar::Text(text)) = node.scalar() else {
            let mut diagnostic = cx.wrong_type(node, "text");
            // `~` alone is YAML's word for nothing, and people mean their home by it.
            if let NodeKind::Scalar { text, .. } = &node.kind
                && !text.is_empty()
            {
                let example = if text.len() <= 40 { format!(": \"{text}\"") } else { String::new() };
                diagnostic = diagnostic.help(format!("put it in quotes{example}"));
            }
            cx.report(diagnostic);
            return None;
        };
        cx.takes(text, node.span).then(|| text.to_owned())
    }
}

impl Decode for bool {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        if let Some(Scalar::Bool(value)) = node.scalar() {
            return Some(value);
        }
        let diagnostic = cx.wrong_type(node, "true or false");
        cx.report(diagnostic.help("only `true` and `false` count, not `yes`, `on` or 1"));
        None
    }
}

impl Decode for u64 {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        let Some(Scalar::Integer(value)) = node.scalar() else {
            let diagnostic = cx.wrong_type(node, "a whole number");
            cx.report(diagnostic);
            return None;
        };
        u64::try_from(value).map_err(|_| out_of_range(node, cx)).ok()
    }
}

fn out_of_range(node: &Node<'_>, cx: &mut Decoder<'_>) {
    let message = format!("{}the number is out of range", cx.subject());
    cx.report(Diagnostic::new(Code::OutOfRange, node.span, message));
}

/// A number, or a number with a unit: `128`, `"128M"`, `30s`, `50%`.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub(crate) enum Amount {
    /// A whole number in the field's own unit.
    Number(u64),
    /// A number with a unit.
    Text(String),
}

impl Decode for Amount {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        match node.scalar() {
            Some(Scalar::Integer(_)) => u64::decode(node, cx).map(Amount::Number),
            Some(Scalar::Text(_)) => String::decode(node, cx).map(Amount::Text),
            Some(Scalar::Float(_)) => {
                let message = format!("{}expected a whole number or one with a unit", cx.subject());
                cx.report(Diagnostic::new(Code::WrongType, node.span, message));
                None
            }
            _ => {
                let diagnostic = cx.wrong_type(node, "a number");
                cx.report(diagnostic);
                None
            }
        }
    }
}

/// A finite number, whole or not.
impl Decode for f64 {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        match node.scalar() {
            // Exact up to 2^53; larger bounds lose nothing that a JSON number could still tell apart.
            #[allow(clippy::cast_precision_loss)]
            Some(Scalar::Integer(value)) => Some(value as f64),
            Some(Scalar::Float(value)) if value.is_finite() => Some(value),
            Some(Scalar::Float(_)) => {
                out_of_range(node, cx);
                None
            }
            _ => {
                let diagnostic = cx.wrong_type(node, "a number");
                cx.report(diagnostic);
                None
            }
        }
    }
}

impl Decode for serde_json::Value {
    fn decode(node: &Node<'_>, cx: &mut Decoder<'_>) -> Option<Self> {
        match (&node.kind, node.scalar()) {
            (NodeKind::List(_), _) => Vec::decode(node, cx).map(Self::Array),
            (NodeKind::Map(_), _) => {
                let Table(entries) = Table::decode(node, cx)?;
                Some(Self::Object(entries.into_iter().map(|(key, value)| (key.value, value)).collect()))
            }
            (_, Some(Scalar::Text(_))) => String::decode(node, cx).map(Self::String),
            (_, Some(Scalar::Bool(value))) => Some(Self::Bool(value)),
            (_, Some(Scalar::Integer(value))) => {
                let number = i64::try_from(value).map(serde_json::Number::from);
                let number = number.or_else(|_| u64::try_from(value).map(serde_json::Number::from));
                number.map(Self::Number).map_err(|_| out_of_range(node, cx)).ok()
            }
            (_, Some(Scalar::Float(_))) => {
                let value = f64::decode(node, cx)?;
                serde_json::Number::from_f64(value).map(Self::Number)
            }
            (_, Some(Scalar::Null) | None) => Some(Self::Null),
        }
    }
}
