//! Attributes of spans: bounded, and harmless wherever they are shown.

use opentelemetry::{Array, KeyValue, StringValue, Value};
use skillsandbox_text::{Escape, Glyphs, is_hidden, truncate_bytes};

/// The longest text of an attribute, in bytes: a longest path.
const MAX_VALUE: usize = 4096;
/// The most bytes of all texts of a list. Command lines are longer than anything else, and say most at their beginning.
const MAX_LIST: usize = 16 * 1024;
/// What an attribute takes besides its text, about.
const OVERHEAD: usize = 48;

/// How many attributes there may be, and how long.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttributeLimits {
    pub(super) attributes: usize,
    /// In characters, where the user has said so.
    pub(super) value: Option<usize>,
}

/// Attributes of a span or of an event of one. Those that matter most come first: the last ones are left out where there are too many.
#[derive(Debug)]
pub(super) struct SpanAttributes {
    limits: AttributeLimits,
    list: Vec<KeyValue>,
    dropped: u32,
    bytes: usize,
}

impl SpanAttributes {
    pub(super) fn new(limits: AttributeLimits) -> Self {
        Self { limits, list: Vec::new(), dropped: 0, bytes: 0 }
    }

    fn push(&mut self, key: impl Into<opentelemetry::Key>, value: Value, bytes: usize) {
        if self.list.len() >= self.limits.attributes {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.bytes += bytes + OVERHEAD;
        self.list.push(KeyValue::new(key, value));
    }

    pub(super) fn text(&mut self, key: impl Into<opentelemetry::Key>, text: &str) -> &mut Self {
        let text = self.fitting(text);
        let bytes = text.len();
        self.push(key, Value::String(text.into()), bytes);
        self
    }

    pub(super) fn maybe(&mut self, key: &'static str, text: Option<&str>) -> &mut Self {
        if let Some(text) = text {
            self.text(key, text);
        }
        self
    }

    /// OTLP has no numbers above 2⁶³.
    pub(super) fn number(
        &mut self,
        key: impl Into<opentelemetry::Key>,
        number: impl TryInto<i64>,
    ) -> &mut Self {
        self.push(key, Value::I64(number.try_into().unwrap_or(i64::MAX)), 8);
        self
    }

    pub(super) fn flag(&mut self, key: &'static str, flag: bool) -> &mut Self {
        self.push(key, Value::Bool(flag), 1);
        self
    }

    pub(super) fn numbers(&mut self, key: &'static str, numbers: impl IntoIterator<Item = u64>) -> &mut Self {
        let numbers: Vec<i64> =
            numbers.into_iter().map(|number| number.try_into().unwrap_or(i64::MAX)).collect();
        let bytes = numbers.len() * 8;
        self.push(key, Value::Array(Array::I64(numbers)), bytes);
        self
    }

    /// A list of texts, with a note for those that do not fit.
    pub(super) fn texts<'t>(
        &mut self,
        key: &'static str,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> &mut Self {
        let mut list: Vec<StringValue> = Vec::new();
        let mut bytes = 0;
        let mut more = 0_u64;
        for text in texts {
            let text = self.fitting(text);
            if bytes + text.len() > MAX_LIST {
                more += 1;
                continue;
            }
            bytes += text.len() + OVERHEAD;
            list.push(text.into());
        }
        if more > 0 {
            list.push(format!("[... {more} more]").into());
        }
        self.push(key, Value::Array(Array::String(list)), bytes);
        self
    }

    /// The attributes, how many were left out, and about how many bytes they take.
    pub(super) fn done(self) -> (Vec<KeyValue>, u32, usize) {
        (self.list, self.dropped, self.bytes)
    }

    /// A stranger's text. Backends and logs show it on pages and terminals: what moves a cursor, turns text round or cannot be seen
    /// is escaped, as it is in the live view. Any other text stays as it is, so that a path can be searched for.
    fn fitting(&self, text: &str) -> String {
        let mut text = if text.chars().any(is_hidden) {
            Escape::text(Glyphs::Unicode).whole(text)
        } else {
            text.to_owned()
        };
        if let Some((end, _)) = self.limits.value.and_then(|most| text.char_indices().nth(most)) {
            text.truncate(end);
        }
        truncate_bytes(&mut text, MAX_VALUE);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, value: Option<usize>) -> String {
        let mut attributes = SpanAttributes::new(AttributeLimits { attributes: 9, value });
        attributes.text("k", text);
        attributes.done().0.remove(0).value.as_str().into_owned()
    }

    #[test]
    fn texts_are_bounded_and_harmless() {
        assert_eq!(one("/tmp/a b\\c/Köln", None), "/tmp/a b\\c/Köln");
        assert_eq!(one("a\u{1b}[2J\u{202e}\\", None), "a\\u{1b}[2J\\u{202e}\\\\");
        assert_eq!(one("Köln", Some(2)), "Kö");
        assert_eq!(one("Köln", Some(0)), "");
        assert_eq!(one("Köln", Some(4)), "Köln");
        let long = one(&"é".repeat(MAX_VALUE), None);
        assert!(long.len() <= MAX_VALUE && long.ends_with(" bytes more]"), "{}", long.len());
    }

    #[test]
    fn lists_and_numbers_of_attributes_are_bounded() {
        let mut attributes = SpanAttributes::new(AttributeLimits { attributes: 2, value: None });
        let argument = "a".repeat(MAX_VALUE);
        attributes
            .texts("argv", std::iter::repeat_n(argument.as_str(), 300))
            .number("n", u64::MAX)
            .flag("f", true);
        let (list, dropped, bytes) = attributes.done();
        assert_eq!((list.len(), dropped), (2, 1));
        assert!(bytes < MAX_LIST + 1000);
        let Value::Array(Array::String(argv)) = &list[0].value else { panic!("{list:?}") };
        assert_eq!((argv.len(), argv.last().unwrap().as_str()), (4, "[... 297 more]"));
        assert_eq!(list[1].value, Value::I64(i64::MAX));
    }
}
