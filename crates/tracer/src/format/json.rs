//! JSON as a trace has it: one event a line, and nothing in it that a terminal or an eye could take for something else.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use skillsandbox_text::{is_deceptive, write_json_fragment};

/// A value in one line.
pub(crate) fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    written(value, JsonLayout { depth: 0, broken: 0, indent: 0, has_value: false })
}

/// The same, behind what is there already.
pub(crate) fn append_line(out: &mut Vec<u8>, value: &impl Serialize) -> io::Result<()> {
    append(out, value, JsonLayout { depth: 0, broken: 0, indent: 0, has_value: false })
}

/// A value whose outer `broken` levels have a line for each thing in them, for a person. `indent` is the level it stands at.
pub(crate) fn lines(value: &impl Serialize, broken: usize, indent: usize) -> io::Result<Vec<u8>> {
    written(value, JsonLayout { depth: 0, broken, indent, has_value: false })
}

fn written(value: &impl Serialize, layout: JsonLayout) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(512);
    append(&mut out, value, layout)?;
    Ok(out)
}

fn append(out: &mut Vec<u8>, value: &impl Serialize, layout: JsonLayout) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, layout))?;
    Ok(())
}

struct JsonLayout {
    depth: usize,
    broken: usize,
    indent: usize,
    has_value: bool,
}

impl JsonLayout {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_value = false;
        writer.write_all(bracket)
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let broken = self.is_broken() && self.has_value;
        self.depth -= 1;
        if broken {
            self.new_line(writer)?;
        }
        self.has_value = true;
        writer.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.is_broken() {
            self.new_line(writer)?;
        }
        Ok(())
    }

    fn is_broken(&self) -> bool {
        self.depth <= self.broken
    }

    fn new_line<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth + self.indent).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for JsonLayout {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.is_broken() { b": " } else { b":" })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_value = true;
        Ok(())
    }

    /// What JSON itself does not escape, and a terminal obeys or an eye does not see.
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return writer.write_all(fragment.as_bytes());
        }
        write_json_fragment(writer, fragment, is_deceptive)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_deceives_is_escaped_and_reads_as_it_was() {
        let text = "a\u{202e}b\u{9b}31m\u{7f}\n\u{1b}[2J\"\\é漢\u{e0041}🙂\u{2028}";
        let written = String::from_utf8(line(&text).unwrap()).unwrap();
        assert_eq!(written, r#""a\u202eb\u009b31m\u007f\n\u001b[2J\"\\é漢\udb40\udc41🙂\u2028""#);
        assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
    }

    #[test]
    fn lines_are_broken_as_deep_as_asked() {
        let value = json!({ "a": { "b": [1, { "c": 2 }], "d": [], "e": {} }, "f": "g" });
        let text = |written: Vec<u8>| String::from_utf8(written).unwrap();
        assert_eq!(text(line(&value).unwrap()), r#"{"a":{"b":[1,{"c":2}],"d":[],"e":{}},"f":"g"}"#);
        let broken = text(lines(&value, 2, 0).unwrap());
        let expected = "{\n  \"a\": {\n    \"b\": [1,{\"c\":2}],\n    \"d\": [],\n    \"e\": {}\n  },\n  \"f\": \"g\"\n}";
        assert_eq!(broken, expected);
        assert_eq!(serde_json::from_str::<Value>(&text(lines(&value, 9, 3).unwrap())).unwrap(), value);
    }
}
