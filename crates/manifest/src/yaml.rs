//! Text to a tree of values with their places, within fixed bounds. The only module that knows the YAML library.
//!
//! The tree is built from parser events and not by deserialising, because serde stops at the first error, and
//! hides tags and duplicate keys; see docs/adr/0001-yaml-parser.md. YAML's features that make one text mean
//! another (anchors, aliases, merge keys, tags, directives, several documents) are refused, not interpreted.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{
    ErrorKind, Event, Parser, ScalarStyle, ScanError, Span as ParserSpan, StrInput, options,
};

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Span, printable, quoted};

/// Values may nest this deep. The deepest valid manifest has 6 levels.
const MAX_DEPTH: usize = 24;
/// A text may hold this many values. The largest sane manifest has some hundreds; at about 100 bytes each this
/// bounds the tree to about 1 MiB whatever the text does.
const MAX_NODES: usize = 10_000;

/// One value of the tree.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) kind: NodeKind<'a>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum NodeKind<'a> {
    Scalar { text: Cow<'a, str>, plain: bool },
    List(Vec<Node<'a>>),
    Map(Vec<(Key<'a>, Node<'a>)>),
}

#[derive(Debug)]
pub(crate) struct Key<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) span: Span,
}

/// What a scalar means by YAML 1.2's core schema. Quoted text is always text.
#[derive(Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(&'a str),
}

impl Node<'_> {
    pub(crate) fn scalar(&self) -> Option<Scalar<'_>> {
        match &self.kind {
            NodeKind::Scalar { text, plain: true } => Some(resolve(text)),
            NodeKind::Scalar { text, plain: false } => Some(Scalar::Text(text)),
            NodeKind::List(_) | NodeKind::Map(_) => None,
        }
    }

    /// The node in words, for "expected a list, found …".
    pub(crate) fn describe(&self) -> &'static str {
        match self.scalar() {
            Some(Scalar::Null) => "nothing",
            Some(Scalar::Bool(_)) => "true or false",
            Some(Scalar::Integer(_) | Scalar::Float(_)) => "a number",
            Some(Scalar::Text(_)) => "text",
            None if matches!(self.kind, NodeKind::List(_)) => "a list",
            None => "a map",
        }
    }
}

/// Reads one document. `None` means that the sink says why there is no tree to look at.
pub(crate) fn read<'a>(text: &'a str, sink: &mut DiagnosticSink) -> Option<Node<'a>> {
    if let Some(at) = text.find('\0') {
        let message = "the text holds a NUL byte, so it is not YAML";
        sink.push(Diagnostic::new(Code::ForbiddenCharacter, Span::new(at, at + 1), message));
        return None;
    }
    let options = options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        emit_comments: false,
        disallow_directives: true,
        flow_nesting_limit: MAX_DEPTH + 8,
        block_nesting_limit: MAX_DEPTH + 8,
    };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder { text, parser, sink, nodes: 0 };
    match builder.document() {
        Ok(node) => Some(node),
        Err(Stop(diagnostic)) => {
            builder.sink.push(*diagnostic);
            None
        }
    }
}

/// The parse ends here: what follows cannot be trusted to mean anything.
struct Stop(Box<Diagnostic>);

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Stop(Box::new(diagnostic))
    }
}

struct Builder<'a, 's> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    sink: &'s mut DiagnosticSink,
    nodes: usize,
}

impl<'a> Builder<'a, '_> {
    fn document(&mut self) -> Result<Node<'a>, Stop> {
        let mut root = None;
        loop {
            let (event, span) = self.next_node_or_end()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                Event::DocumentStart(..) => {
                    if root.is_some() {
                        let message = "a second document begins here; a file holds one";
                        return Err(Diagnostic::new(Code::SeveralDocuments, self.place(&span), message)
                            .help("remove it, with the `---` line")
                            .into());
                    }
                }
                event => root = Some(self.node(event, &span, 0)?),
            }
        }
        let root = root.filter(|node| node.scalar() != Some(Scalar::Null));
        root.ok_or_else(|| Diagnostic::new(Code::Empty, Span::new(0, 0), "there is nothing in it").into())
    }

    fn next(&mut self) -> Result<(Event<'a>, ParserSpan), Stop> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(self.syntax(&error).into()),
            None => Ok((Event::StreamEnd, ParserSpan::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: &ParserSpan, depth: usize) -> Result<Node<'a>, Stop> {
        let place = self.place(span);
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values; a manifest needs far fewer");
            return Err(Diagnostic::new(Code::TooMany, place, message).into());
        }
        if depth > MAX_DEPTH {
            let message = format!("values are nested more than {MAX_DEPTH} deep");
            return Err(Diagnostic::new(Code::TooDeep, place, message).into());
        }
        if let Some(tag) = event.tag() {
            let at = span.tag_span().map_or(place, |tag| self.place(&tag));
            let message =
                format!("the tag {} is not accepted: a manifest is plain data", quoted(&tag.original()));
            self.sink
                .push(Diagnostic::new(Code::Tag, at, message).help("remove it, or put the value in quotes"));
        }
        let kind = match event {
            Event::Scalar(text, style, ..) => NodeKind::Scalar { text, plain: style == ScalarStyle::Plain },
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let message = "aliases (`*name`) are not accepted";
                let help = "write the value out; a value that begins with `*` needs quotes";
                self.sink.push(Diagnostic::new(Code::Alias, place, message).help(help));
                NodeKind::Scalar { text: Cow::Borrowed(""), plain: false }
            }
            other => {
                let message = format!("unexpected {other:?}");
                return Err(Diagnostic::new(Code::Syntax, place, message).into());
            }
        };
        Ok(Node { kind, span: place })
    }

    /// The next event that is a node or the end of a collection; anchors on the way are reported.
    fn next_node_or_end(&mut self) -> Result<(Event<'a>, ParserSpan), Stop> {
        loop {
            let (event, span) = self.next()?;
            if let Event::Anchor(_, name) = &event {
                let message = format!("anchors ({}) are not accepted", quoted(&format!("&{name}")));
                let help = "write the value out, so that a reader sees what is granted where it is granted";
                self.sink.push(Diagnostic::new(Code::Anchor, self.place(&span), message).help(help));
                continue;
            }
            return Ok((event, span));
        }
    }

    fn list(&mut self, depth: usize) -> Result<NodeKind<'a>, Stop> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next_node_or_end()?;
            if event == Event::SequenceEnd {
                return Ok(NodeKind::List(items));
            }
            items.push(self.node(event, &span, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<NodeKind<'a>, Stop> {
        let mut entries: Vec<(Key<'a>, Node<'a>)> = Vec::new();
        let mut seen: HashMap<Cow<'a, str>, Span> = HashMap::new();
        loop {
            let (event, span) = self.next_node_or_end()?;
            if event == Event::MappingEnd {
                return Ok(NodeKind::Map(entries));
            }
            let key = self.node(event, &span, depth + 1)?;
            let (event, span) = self.next_node_or_end()?;
            let value = self.node(event, &span, depth + 1)?;
            let NodeKind::Scalar { text, plain } = key.kind else {
                let message = "a key must be a word, not a list or a map";
                self.sink.push(Diagnostic::new(Code::ComplexKey, key.span, message));
                continue;
            };
            if plain && text == "<<" {
                let message = "the merge key `<<` is not accepted";
                self.sink.push(Diagnostic::new(Code::MergeKey, key.span, message).help("write the keys out"));
                continue;
            }
            if let Some(first) = seen.get(&text) {
                let message = format!("the key {} is written twice", quoted(&text));
                self.sink.push(
                    Diagnostic::new(Code::DuplicateKey, key.span, message)
                        .related(*first, "first written here")
                        .help("keep one of them"),
                );
            } else {
                seen.insert(text.clone(), key.span);
            }
            entries.push((Key { text, span: key.span }, value));
        }
    }

    fn place(&self, span: &ParserSpan) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        let end = range.end.min(self.text.len());
        let start = range.start.min(end);
        // A block scalar's or a plain scalar's span may take in the line break and comment lines after it.
        let slice = self.text.get(start..end).unwrap_or_default();
        Span::new(start, start + slice.trim_end().len())
    }

    fn syntax(&self, error: &ScanError) -> Diagnostic {
        let marker = error.marker();
        let start = marker.byte_offset().unwrap_or_else(|| self.byte_at(marker.line(), marker.col()));
        let start = self.text.floor_char_boundary(start);
        let width = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        let info = error.info();
        let (code, message) = match error.kind() {
            ErrorKind::RecursionLimitExceeded => {
                (Code::TooDeep, format!("values are nested more than {MAX_DEPTH} deep"))
            }
            ErrorKind::DirectiveDisallowed => {
                (Code::Directive, "a YAML directive (`%…`) is not accepted".to_owned())
            }
            _ => (Code::Syntax, format!("not valid YAML: {}", printable(&info))),
        };
        let diagnostic = Diagnostic::new(code, Span::new(start, start + width), message);
        if *error.kind() == ErrorKind::InvalidSimpleKey || info.contains("mapping values") {
            return diagnostic.help("a value that contains `: ` needs quotes; or the indentation is off");
        }
        diagnostic
    }

    /// The byte at a line (from 1) and a column (characters, from 0).
    fn byte_at(&self, line: usize, column: usize) -> usize {
        let mut start = 0;
        for (number, content) in self.text.split_inclusive('\n').enumerate() {
            if number + 1 == line {
                return start + content.chars().take(column).map(char::len_utf8).sum::<usize>();
            }
            start += content.len();
        }
        self.text.len()
    }
}

/// YAML 1.2.2, section 10.3.2, without octal and hexadecimal numbers: those stay text, and a field that wants a
/// number says so.
fn resolve(text: &str) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !digits.ends_with(|c: char| c.is_ascii_digit() || c == '.')
    {
        return Scalar::Text(text);
    }
    if digits.len() > 1 && digits.bytes().all(|b| b.is_ascii_digit()) && digits.starts_with('0') {
        // 443 to one reader, 291 to another: text, so that a field that wants a number refuses it.
        return Scalar::Text(text);
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        // Longer than 38 digits does not fit; such a number is in no field's range, and float shows it.
        return match text.parse() {
            Ok(integer) => Scalar::Integer(integer),
            Err(_) => Scalar::Float(text.parse().unwrap_or(f64::INFINITY)),
        };
    }
    let float_like =
        digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'));
    match text.parse::<f64>() {
        Ok(float) if float_like => Scalar::Float(float),
        _ => Scalar::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_resolve_by_the_core_schema() {
        let table = [
            ("~", Scalar::Null),
            ("", Scalar::Null),
            ("true", Scalar::Bool(true)),
            ("yes", Scalar::Text("yes")),
            ("on", Scalar::Text("on")),
            ("12", Scalar::Integer(12)),
            ("-3", Scalar::Integer(-3)),
            ("+3", Scalar::Integer(3)),
            ("0x10", Scalar::Text("0x10")),
            ("0o17", Scalar::Text("0o17")),
            ("1_000", Scalar::Text("1_000")),
            ("0443", Scalar::Text("0443")),
            ("0", Scalar::Integer(0)),
            ("0.10", Scalar::Float(0.1)),
            ("1e3", Scalar::Float(1000.0)),
            ("1.2.3", Scalar::Text("1.2.3")),
            ("2020-01-01", Scalar::Text("2020-01-01")),
            (".inf", Scalar::Text(".inf")),
            (".", Scalar::Text(".")),
            ("-", Scalar::Text("-")),
            ("1-1", Scalar::Text("1-1")),
            ("128M", Scalar::Text("128M")),
        ];
        for (text, expected) in table {
            assert_eq!(resolve(text), expected, "{text}");
        }
    }

    fn walk<'t>(node: &Node<'_>, text: &'t str, seen: &mut Vec<&'t str>) {
        match &node.kind {
            NodeKind::Scalar { .. } => seen.push(&text[node.span.range()]),
            NodeKind::List(items) => items.iter().for_each(|item| walk(item, text, seen)),
            NodeKind::Map(entries) => {
                for (key, value) in entries {
                    seen.push(&text[key.span.range()]);
                    walk(value, text, seen);
                }
            }
        }
    }

    #[test]
    fn spans_cover_exactly_what_is_written() {
        let text = "a: 1\nb: [x, 'y é', \"z\"]\nc:\n  d: plain text # comment\n  e: |\n    block\n";
        let mut sink = DiagnosticSink::default();
        let node = read(text, &mut sink).unwrap();
        let mut seen = Vec::new();
        walk(&node, text, &mut seen);
        assert_eq!(seen, ["a", "1", "b", "x", "'y é'", "\"z\"", "c", "d", "plain text", "e", "block"]);
    }

    #[test]
    fn refused_features_are_all_reported_at_once() {
        let text = "a: &x 1\nb: *x\nc: !!str 2\n<<: {d: 1}\na: 3\n? [k]\n: 4\n";
        let mut sink = DiagnosticSink::default();
        assert!(read(text, &mut sink).is_some());
        let (found, _) = sink.finish(text);
        let codes: Vec<_> = found.iter().map(|d| (d.line, d.code)).collect();
        assert_eq!(
            codes,
            [
                (1, Code::Anchor),
                (2, Code::Alias),
                (3, Code::Tag),
                (4, Code::MergeKey),
                (5, Code::DuplicateKey),
                (6, Code::ComplexKey)
            ]
        );
    }
}
