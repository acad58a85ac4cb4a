//! `SKILL.md`: its front matter, and where its body begins.
//!
//! Unlike a manifest, a `SKILL.md` is read in whatever state it is in, because what is wrong with it is for a
//! scanner to judge: reading never fails, what cannot be understood is listed, and nothing is dropped.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::MAX_BYTES;
use crate::decode::{Decode, Decoder};
use crate::diagnostic::{Code, Diagnostic, Sink, Span, Spanned};
use crate::yaml::{self, Kind, Node};

/// A `SKILL.md` taken apart.
///
/// ```
/// use skillsandbox_manifest::SkillDoc;
///
/// let doc = SkillDoc::parse("---\nname: git-stats\nallowed-tools: Bash(git:*) Read\n---\n# Stats\n");
/// let front = doc.front_matter.as_ref().unwrap();
/// assert_eq!(front.name.as_ref().unwrap().value, "git-stats");
/// assert_eq!(front.allowed_tools.as_ref().unwrap()[0].name, "Bash");
/// assert_eq!(front.allowed_tools.as_ref().unwrap()[0].argument.as_deref(), Some("git:*"));
/// assert_eq!((doc.body_start, doc.body_line), (56, 5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SkillDoc {
    /// What stands between the two `---` lines; `None` if there is no such block or it is not closed.
    pub front_matter: Option<FrontMatter>,
    /// The byte at which the body begins.
    pub body_start: usize,
    /// The line of that byte, counted from 1.
    pub body_line: usize,
    /// What could not be understood, in the order of the text.
    pub problems: Vec<Diagnostic>,
}

/// The front matter of a `SKILL.md`. Spans are places in the whole text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FrontMatter {
    /// The skill's name.
    pub name: Option<Spanned<String>>,
    /// What it does and when to use it.
    pub description: Option<Spanned<String>>,
    /// Its licence.
    pub license: Option<Spanned<String>>,
    /// What it needs to work.
    pub compatibility: Option<Spanned<String>>,
    /// The tools it may use, as written: a list, or text with spaces or commas.
    #[serde(rename = "allowed-tools")]
    pub allowed_tools: Option<Vec<Spanned<ToolSpec>>>,
    /// The tools it declares (`SkillOS`).
    pub tools: Option<Vec<Spanned<ToolSpec>>>,
    /// What it is: a skill, an agent (`SkillOS`).
    #[serde(rename = "type")]
    pub kind: Option<Spanned<String>>,
    /// Its version.
    pub version: Option<Spanned<String>>,
    /// Where it came from.
    pub source: Option<Spanned<String>>,
    /// The skill it builds on.
    pub extends: Option<Spanned<String>>,
    /// Free-form entries of its author.
    pub metadata: Vec<(Spanned<String>, Value)>,
    /// Keys that none of the above is for, in their order.
    pub other: Vec<(Spanned<String>, Value)>,
    /// The block between the two `---` lines.
    pub span: Span,
    /// Whether it is not valid YAML and was read line by line instead, as `key: value`.
    pub recovered: bool,
}

/// One entry of a list of tools: `Read`, or with an argument `Bash(git:*)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The tool's name.
    pub name: String,
    /// What stands in its parentheses.
    pub argument: Option<String>,
}

impl fmt::Display for ToolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.argument {
            Some(argument) => write!(f, "({argument})"),
            None => Ok(()),
        }
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl SkillDoc {
    /// The name of the file in a skill's folder.
    pub const FILE_NAME: &'static str = "SKILL.md";

    /// Takes a text apart. Line ends may be LF, CRLF or CR; a byte order mark is passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut sink = Sink::default();
        let whole = Self { body_line: 1, body_start: bom(text), ..Self::default() };
        let doc = match block(text) {
            Block::None => whole,
            Block::Open(fence) => {
                let message = "the front matter opened here is not closed by a `---` line";
                sink.push(
                    Diagnostic::new(Code::Unterminated, fence, message).help("close it with a line `---`"),
                );
                whole
            }
            Block::Closed { inner, body_start } => Self {
                body_start,
                body_line: 1 + line_breaks(text.get(..body_start).unwrap_or_default()),
                front_matter: FrontMatter::read(text, inner, &mut sink),
                problems: Vec::new(),
            },
        };
        Self { problems: sink.finish(text).0, ..doc }
    }

    /// The body of the text this was read from.
    #[must_use]
    pub fn body<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.body_start..).unwrap_or_default()
    }
}

fn bom(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

enum Block {
    None,
    Open(Span),
    Closed { inner: Span, body_start: usize },
}

/// Finds the block between two `---` lines at the very beginning.
fn block(text: &str) -> Block {
    let start = bom(text);
    let mut lines = lines(text, start);
    let Some(first) = lines.next().filter(|line| line.text.trim_end() == "---") else {
        return Block::None;
    };
    for line in lines {
        if line.text.trim_end() == "---" {
            return Block::Closed { inner: Span::new(first.next, line.start), body_start: line.next };
        }
    }
    Block::Open(Span::new(first.start, first.start + 3))
}

struct Line<'t> {
    text: &'t str,
    start: usize,
    next: usize,
}

/// The lines from a byte on, whatever ends them.
fn lines(text: &str, mut at: usize) -> impl Iterator<Item = Line<'_>> {
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        let width = if tail.starts_with("\r\n") { 2 } else { usize::from(!tail.is_empty()) };
        let start = at;
        at += end + width;
        Some(Line { text: line, start, next: at })
    })
}

/// Line breaks, counting CRLF once.
fn line_breaks(text: &str) -> usize {
    text.bytes().filter(|b| matches!(b, b'\n' | b'\r')).count() - text.matches("\r\n").count()
}

impl FrontMatter {
    fn read(text: &str, inner: Span, sink: &mut Sink) -> Option<Self> {
        let source = text.get(inner.range())?;
        if source.len() > MAX_BYTES {
            let message = format!("the front matter is larger than {MAX_BYTES} bytes");
            sink.push(Diagnostic::new(Code::TooLarge, inner, message));
            return None;
        }
        let mut front = Self { span: inner, ..Self::default() };
        let mut inner_sink = Sink::default();
        let tree = yaml::read(source, &mut inner_sink);
        match tree.as_ref().map(|tree| &tree.kind) {
            Some(Kind::Map(entries)) => {
                let mut cx = Decoder::lenient(&mut inner_sink);
                for (key, value) in entries {
                    let key = Spanned::new(key.text.clone().into_owned(), key.span.shifted(inner.start));
                    front.take(key, value, source, inner.start, &mut cx);
                }
            }
            Some(_) => {
                let message = "the front matter is not a map of keys and values";
                inner_sink.push(Diagnostic::new(Code::WrongType, Span::default(), message));
                front.recover(source, inner.start);
            }
            None if inner_sink.holds(Code::Empty) => {}
            None => front.recover(source, inner.start),
        }
        let (found, _) = inner_sink.finish(source);
        for mut diagnostic in found {
            diagnostic.span = diagnostic.span.shifted(inner.start);
            if let Some(related) = &mut diagnostic.related {
                related.span = related.span.shifted(inner.start);
            }
            sink.push(diagnostic);
        }
        Some(front)
    }

    fn take(
        &mut self,
        key: Spanned<String>,
        value: &Node<'_>,
        source: &str,
        offset: usize,
        cx: &mut Decoder<'_>,
    ) {
        let span = value.span.shifted(offset);
        if let Some(slot) = self.slot(&key.value) {
            if let Kind::Scalar { text, .. } = &value.kind {
                *slot = Some(Spanned::new(text.clone().into_owned(), span));
                return;
            }
            let message = format!("`{}`: expected text, found {}", key.value, value.describe());
            cx.report(Diagnostic::new(Code::WrongType, key.span.unshifted(offset), message));
        }
        match (key.value.as_str(), &value.kind) {
            ("allowed-tools" | "tools", kind) => {
                let tools = match kind {
                    Kind::Scalar { .. } => {
                        let written = source.get(value.span.range()).unwrap_or_default();
                        split_tools(written, span.start)
                    }
                    Kind::List(items) => items.iter().filter_map(|item| tool_item(item, offset)).collect(),
                    Kind::Map(_) => {
                        let message = format!("`{}`: expected a list or text, found a map", key.value);
                        cx.report(Diagnostic::new(Code::WrongType, key.span.unshifted(offset), message));
                        Vec::new()
                    }
                };
                if key.value == "tools" {
                    self.tools = Some(tools);
                } else {
                    self.allowed_tools = Some(tools);
                }
            }
            ("metadata", Kind::Map(entries)) => {
                for (name, value) in entries {
                    let name = Spanned::new(name.text.clone().into_owned(), name.span.shifted(offset));
                    self.metadata.extend(Value::decode(value, cx).map(|value| (name, value)));
                }
            }
            _ => self.other.extend(Value::decode(value, cx).map(|value| (key, value))),
        }
    }

    fn slot(&mut self, key: &str) -> Option<&mut Option<Spanned<String>>> {
        Some(match key {
            "name" => &mut self.name,
            "description" => &mut self.description,
            "license" => &mut self.license,
            "compatibility" => &mut self.compatibility,
            "type" => &mut self.kind,
            "version" => &mut self.version,
            "source" => &mut self.source,
            "extends" => &mut self.extends,
            _ => return None,
        })
    }

    /// Reads `key: value` line by line, as lenient agents do with text that is not YAML.
    fn recover(&mut self, source: &str, offset: usize) {
        self.recovered = true;
        for line in lines(source, 0) {
            let Some((key, value)) = line.text.split_once(':') else {
                continue;
            };
            let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            if key.is_empty() || !key.chars().all(word) {
                continue;
            }
            let start = offset + line.start;
            let value_start = start + key.len() + 1 + (value.len() - value.trim_start().len());
            let value = value.trim();
            let key = Spanned::new(key.to_owned(), Span::new(start, start + key.len()));
            let span = Span::new(value_start, value_start + value.len());
            let unquoted = value.trim_matches(['"', '\'']);
            match key.value.as_str() {
                "allowed-tools" => self.allowed_tools = Some(split_tools(value, value_start)),
                "tools" => self.tools = Some(split_tools(value, value_start)),
                name => match self.slot(name) {
                    Some(slot) => *slot = Some(Spanned::new(unquoted.to_owned(), span)),
                    None => self.other.push((key, Value::String(unquoted.to_owned()))),
                },
            }
        }
    }
}

fn tool_item(item: &Node<'_>, offset: usize) -> Option<Spanned<ToolSpec>> {
    let span = item.span.shifted(offset);
    match &item.kind {
        Kind::Scalar { text, .. } => Some(Spanned::new(tool(text.trim()), span)),
        // `- Bash: git` and the like: keep the name rather than lose it.
        Kind::Map(entries) => entries.first().map(|(key, _)| Spanned::new(tool(key.text.trim()), span)),
        Kind::List(_) => None,
    }
}

fn tool(text: &str) -> ToolSpec {
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, argument)) => {
            ToolSpec { name: name.trim().to_owned(), argument: Some(argument.to_owned()) }
        }
        None => ToolSpec { name: text.to_owned(), argument: None },
    }
}

/// `Bash(git add:*), Read Write` as three tools: spaces and commas separate, but not inside parentheses.
fn split_tools(written: &str, offset: usize) -> Vec<Spanned<ToolSpec>> {
    let mut tools = Vec::new();
    let mut depth = 0_usize;
    let mut start = None;
    let trailing = [(written.len(), ' ')];
    for (i, c) in written.char_indices().chain(trailing) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let separates = c.is_whitespace() || matches!(c, ',' | '"' | '\'' | '[' | ']' | '|' | '>');
        if (depth == 0 && separates) || i == written.len() {
            if let Some(text) =
                start.take().and_then(|start: usize| written.get(start..i).map(|text| (start, text)))
            {
                tools.push(Spanned::new(tool(text.1), Span::new(text.0, i).shifted(offset)));
            }
        } else if start.is_none() {
            start = Some(i);
        }
    }
    tools
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: Option<&Vec<Spanned<ToolSpec>>>) -> Vec<String> {
        tools.into_iter().flatten().map(ToString::to_string).collect()
    }

    #[test]
    fn tools_come_as_text_or_list() {
        for (written, expected) in [
            ("Bash(git:*) Bash(jq:*)", &["Bash(git:*)", "Bash(jq:*)"][..]),
            (
                "Read, Write,Bash(git add:*, git commit:*)",
                &["Read", "Write", "Bash(git add:*, git commit:*)"],
            ),
            ("\"Read Write\"", &["Read", "Write"]),
            ("[Read, 'Bash(ls:*)']", &["Read", "Bash(ls:*)"]),
            ("\n  - Read\n  - Bash(ls -l:*)", &["Read", "Bash(ls -l:*)"]),
            ("Bash(((", &["Bash((("]),
            ("\"*\"", &["*"]),
            ("\"\"", &[]),
        ] {
            let doc = SkillDoc::parse(&format!("---\nallowed-tools: {written}\n---\n"));
            let front = doc.front_matter.unwrap();
            assert_eq!(names(front.allowed_tools.as_ref()), expected, "{written}");
        }
    }

    #[test]
    fn spans_and_body_are_places_in_the_whole_text() {
        for end in ["\n", "\r\n", "\r"] {
            for bom in ["", "\u{feff}"] {
                let text = format!("{bom}---\nname: é-skill\ntools: [Read]\n---  \nbody\n---\nmore\n")
                    .replace('\n', end);
                let doc = SkillDoc::parse(&text);
                assert_eq!(doc.problems, [], "{text:?}");
                let front = doc.front_matter.as_ref().unwrap();
                let name = front.name.as_ref().unwrap();
                assert_eq!((name.value.as_str(), &text[name.span.range()]), ("é-skill", "é-skill"));
                assert_eq!(&text[front.tools.as_ref().unwrap()[0].span.range()], "Read");
                assert!(doc.body(&text).starts_with("body"), "{text:?}");
                assert_eq!(doc.body_line, 5, "{text:?}");
            }
        }
    }

    #[test]
    fn no_or_broken_front_matter_keeps_the_body() {
        for text in ["# Title\n", "", "\n---\nname: x\n---\n", "----\nname: x\n", "text\n---\n"] {
            let doc = SkillDoc::parse(text);
            assert_eq!((doc.front_matter, doc.body_start, doc.problems.len()), (None, 0, 0), "{text:?}");
        }
        let doc = SkillDoc::parse("---\nname: x\nbody\n");
        assert_eq!(doc.problems[0].code, Code::Unterminated);
        assert_eq!((doc.front_matter, doc.body_start), (None, 0));
    }

    #[test]
    fn text_that_is_not_yaml_is_read_line_by_line_and_reported() {
        let text = "---\nname: deploy\ndescription: Use when: you deploy\nx-run: \"a: b: c\nallowed-tools: Bash(make:*), Read\n---\nbody";
        let doc = SkillDoc::parse(text);
        let front = doc.front_matter.unwrap();
        assert!(front.recovered);
        assert_eq!(front.description.unwrap().value, "Use when: you deploy");
        assert_eq!(names(front.allowed_tools.as_ref()), ["Bash(make:*)", "Read"]);
        assert_eq!(front.other[0].0.value, "x-run");
        assert_eq!((doc.problems[0].code, doc.problems[0].line), (Code::Syntax, 3));
    }

    #[test]
    fn an_empty_block_is_a_block() {
        for inner in ["", "\n", "# only a comment\n"] {
            let doc = SkillDoc::parse(&format!("---\n{inner}---\nbody"));
            assert_eq!((doc.problems.len(), doc.problems[0].code), (1, Code::Empty), "{inner:?}");
            assert!(!doc.front_matter.unwrap().recovered);
        }
    }

    #[test]
    fn unknown_keys_and_odd_values_are_kept() {
        let doc = SkillDoc::parse(
            "---\nname: [a]\nversion: 1.10\nhooks: {pre: ./x.sh}\nmetadata: {a: 1}\nextends: ~\n---\n",
        );
        let front = doc.front_matter.unwrap();
        assert_eq!(front.version.unwrap().value, "1.10");
        assert_eq!(front.name, None);
        let other: Vec<_> = front.other.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(other, ["name", "hooks"]);
        assert_eq!(front.metadata[0].0.value, "a");
        assert_eq!((doc.problems[0].code, doc.problems[0].line), (Code::WrongType, 2));
    }
}
