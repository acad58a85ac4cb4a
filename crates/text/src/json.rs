//! JSON that does nothing to a person who looks at it.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::ser::Formatter;

use crate::characters::{is_deceptive, is_hidden};

/// Writes a part of a JSON string in which characters of a kind are `\uNNNN`: the same value to every reader of JSON.
///
/// It is what a [`Formatter`] calls for the parts that JSON itself does not escape.
pub fn write_json_fragment<W: ?Sized + Write>(
    writer: &mut W,
    fragment: &str,
    is_escaped: impl Fn(char) -> bool,
) -> io::Result<()> {
    let mut rest = fragment;
    while let Some(at) = rest.find(&is_escaped) {
        let (before, from) = rest.split_at(at);
        writer.write_all(before.as_bytes())?;
        let mut chars = from.chars();
        if let Some(c) = chars.next() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        rest = chars.as_str();
    }
    writer.write_all(rest.as_bytes())
}

/// JSON that was written already, with every deceptive character as `\uNNNN`: the same value to every reader. Such characters
/// stand in strings only.
///
/// ```
/// use skillsandbox_text::escape_json;
///
/// assert_eq!(escape_json("{\"name\": \"a\u{202e}b\"}"), "{\"name\": \"a\\u202eb\"}");
/// ```
#[must_use]
pub fn escape_json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_deceptive(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a text cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// A [`Formatter`] that writes characters that hide, reorder or end things as `\uNNNN`: the same value to every reader of JSON.
///
/// Beyond what is hidden on a terminal: `<`, `>` and `&`, with which text in a page of HTML would begin to be a page, and the
/// two separators that end a line in JavaScript.
#[derive(Debug)]
pub struct EscapedJson<F> {
    inner: F,
}

impl<F: Formatter> EscapedJson<F> {
    /// With the layout of another formatter.
    pub fn new(inner: F) -> Self {
        Self { inner }
    }
}

fn is_active(c: char) -> bool {
    matches!(c, '<' | '>' | '&') || is_hidden(c)
}

macro_rules! delegate {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $kind)*) -> io::Result<()> {
            self.inner.$name(writer $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for EscapedJson<F> {
    delegate! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_json_fragment(writer, fragment, is_active)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize as _;
    use serde_json::Serializer;
    use serde_json::ser::PrettyFormatter;

    use super::{EscapedJson, is_active};

    proptest! {
        #[test]
        fn the_value_is_the_same_and_nothing_in_it_is_active(text in "(\\PC|[<>&\u{2028}\u{202e}\u{0}\"\\\\]|.){0,40}") {
            let value = serde_json::json!({ text.clone(): [text.clone(), 1, null, { "a": text }] });
            let mut out = Vec::new();
            value.serialize(&mut Serializer::with_formatter(&mut out, EscapedJson::new(PrettyFormatter::new()))).unwrap();
            let out = String::from_utf8(out).unwrap();
            prop_assert!(!out.chars().any(|c| c != '\n' && is_active(c)), "{out}");
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap(), value);
        }
    }
}
