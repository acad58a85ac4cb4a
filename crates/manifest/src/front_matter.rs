//! The front matter of a `SKILL.md`: its fields, read from YAML, or from what is left of it.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::decode::{Decode, Decoder};
use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Span, Spanned};
use crate::skill_doc::lines;
use crate::yaml::{self, Node, NodeKind, Scalar};

/// The keys whose values are lists of tools.
const TOOLS: &str = "tools";
const ALLOWED_TOOLS: &str = "allowed-tools";
const DISALLOWED_TOOLS: &str = "disallowed-tools";

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
    pub allowed_tools: Option<Vec<Spanned<AllowedTool>>>,
    /// The tools it declares (`SkillOS`).
    pub tools: Option<Vec<Spanned<AllowedTool>>>,
    /// The tools it may not use.
    #[serde(rename = "disallowed-tools", skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<Spanned<AllowedTool>>>,
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
pub struct AllowedTool {
    /// The tool's name.
    pub name: String,
    /// What stands in its parentheses.
    pub argument: Option<String>,
}

impl fmt::Display for AllowedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.argument {
            Some(argument) => write!(f, "({argument})"),
            None => Ok(()),
        }
    }
}

impl Serialize for AllowedTool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads the block between the two `---` lines of a text.
pub(crate) fn read(text: &str, inner: Span, sink: &mut DiagnosticSink) -> FrontMatter {
    let source = text.get(inner.range()).unwrap_or_default();
    let mut front = FrontMatter { span: inner, ..FrontMatter::default() };
    let mut own = DiagnosticSink::default();
    let tree = yaml::read(source, &mut own);
    let is_map = tree.as_ref().is_some_and(|tree| matches!(tree.kind, NodeKind::Map(_)));
    if tree.is_some() && !is_map {
        let message = "the front matter is not a map of keys and values";
        own.push(Diagnostic::new(Code::WrongType, Span::default(), message));
    }
    if let Some(Node { kind: NodeKind::Map(entries), .. }) = &tree {
        let mut reader =
            Reader { front: &mut front, source, place: &|span: Span| span, cx: Decoder::lenient(&mut own) };
        reader.take_all(entries);
    } else if !own.holds(Code::Empty) {
        front.recovered = true;
        recover(&mut front, source, &mut own);
    }
    front.shift(inner.start);
    let (found, more) = own.finish(source);
    for diagnostic in found {
        sink.push(diagnostic.shifted(inner.start));
    }
    sink.count(more);
    front
}

/// What agents do with text that is not YAML: put quotes round the values that break it and try again; failing that, read
/// it line by line as `key: value`.
fn recover(front: &mut FrontMatter, source: &str, own: &mut DiagnosticSink) {
    let (quoted, inserted) = requoted(source);
    let place = |span: Span| Span::new(original(&inserted, span.start), original(&inserted, span.end));
    // Its complaints are about a text that nobody wrote.
    let mut scratch = DiagnosticSink::default();
    if let Some(Node { kind: NodeKind::Map(entries), .. }) = &yaml::read(&quoted, &mut scratch) {
        Reader { front, source, place: &place, cx: Decoder::lenient(own) }.take_all(entries);
        return;
    }
    for (key, value) in line_by_line(source) {
        front.take_text(key, &value);
    }
}

/// Moves the entries of a YAML map into their fields.
struct Reader<'f, 's, 'r> {
    front: &'f mut FrontMatter,
    source: &'r str,
    /// Where in the block a span of the tree lies.
    place: &'r dyn Fn(Span) -> Span,
    cx: Decoder<'s>,
}

impl Reader<'_, '_, '_> {
    fn take_all(&mut self, entries: &[(yaml::Key<'_>, Node<'_>)]) {
        for (key, value) in entries {
            let key = Spanned::new(key.text.clone().into_owned(), (self.place)(key.span));
            self.take(key, value);
        }
    }

    fn take(&mut self, key: Spanned<String>, value: &Node<'_>) {
        let span = (self.place)(value.span);
        if let Some(slot) = self.front.slot(&key.value).filter(|slot| slot.is_none()) {
            match (&value.kind, value.scalar()) {
                (_, Some(Scalar::Null)) => return,
                (NodeKind::Scalar { text, .. }, _) => {
                    *slot = Some(Spanned::new(text.clone().into_owned(), span));
                    return;
                }
                _ => {
                    let message = format!("`{}`: expected text, found {}", key.value, value.describe());
                    self.cx.report(Diagnostic::new(Code::WrongType, key.span, message));
                }
            }
        }
        match (key.value.as_str(), &value.kind) {
            (TOOLS | ALLOWED_TOOLS | DISALLOWED_TOOLS, _) => {
                let mut tools = Vec::new();
                self.tools(value, &key, &mut tools);
                if let Some(list) = self.front.tools_mut(&key.value) {
                    list.get_or_insert_default().extend(tools);
                }
            }
            ("metadata", NodeKind::Map(entries)) => {
                for (name, value) in entries {
                    let name = Spanned::new(name.text.clone().into_owned(), (self.place)(name.span));
                    self.front.metadata.extend(Value::decode(value, &mut self.cx).map(|value| (name, value)));
                }
            }
            _ => self.front.other.extend(Value::decode(value, &mut self.cx).map(|value| (key, value))),
        }
    }

    /// The tools of a value of any shape; an odd shape is reported, and no name in it is lost.
    fn tools(&mut self, value: &Node<'_>, key: &Spanned<String>, found: &mut Vec<Spanned<AllowedTool>>) {
        let span = (self.place)(value.span);
        match &value.kind {
            NodeKind::Scalar { text, .. } => {
                // Places inside the value are known only where it is written as it is meant.
                let exact = self.source.get(span.range()) == Some(text);
                for (tool, at) in split_tools(text) {
                    let place = if exact { at.shifted(span.start) } else { span };
                    found.push(Spanned::new(tool, place));
                }
            }
            NodeKind::List(items) => {
                for item in items {
                    if !matches!(item.kind, NodeKind::Scalar { .. }) {
                        self.odd_tools(key);
                    }
                    self.tools(item, key, found);
                }
            }
            NodeKind::Map(entries) => {
                self.odd_tools(key);
                for (name, value) in entries {
                    let argument = value.scalar().and_then(|scalar| match scalar {
                        Scalar::Text(text) => Some(text.to_owned()),
                        _ => None,
                    });
                    let tool = AllowedTool { name: name.text.trim().to_owned(), argument };
                    found.push(Spanned::new(tool, (self.place)(name.span)));
                    if value.scalar().is_none() {
                        self.tools(value, key, found);
                    }
                }
            }
        }
    }

    fn odd_tools(&mut self, key: &Spanned<String>) {
        let message = format!("`{}`: expected a list of words or a text", key.value);
        self.cx.report(Diagnostic::new(Code::WrongType, key.span, message));
    }
}

impl FrontMatter {
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

    /// The list of tools that a key is for.
    fn tools_mut(&mut self, key: &str) -> Option<&mut Option<Vec<Spanned<AllowedTool>>>> {
        match key {
            TOOLS => Some(&mut self.tools),
            ALLOWED_TOOLS => Some(&mut self.allowed_tools),
            DISALLOWED_TOOLS => Some(&mut self.disallowed_tools),
            _ => None,
        }
    }

    /// Takes a value that is known as text only.
    fn take_text(&mut self, key: Spanned<String>, value: &Spanned<String>) {
        if let Some(list) = self.tools_mut(&key.value) {
            let tools = split_tools(value).into_iter().filter(|(tool, _)| tool.name != "-");
            let tools = tools.map(|(tool, at)| Spanned::new(tool, at.shifted(value.span.start)));
            list.get_or_insert_default().extend(tools);
            return;
        }
        let unquoted = value.value.trim_matches(['"', '\'']).to_owned();
        match self.slot(&key.value).filter(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(Spanned::new(unquoted, value.span)),
            None => self.other.push((key, Value::String(unquoted))),
        }
    }

    /// Moves every place from the block into the whole text.
    fn shift(&mut self, offset: usize) {
        let texts = [&mut self.name, &mut self.description, &mut self.license, &mut self.compatibility];
        let more = [&mut self.kind, &mut self.version, &mut self.source, &mut self.extends];
        for text in texts.into_iter().chain(more).flatten() {
            text.span = text.span.shifted(offset);
        }
        let tools = self.tools.iter_mut().chain(&mut self.allowed_tools).chain(&mut self.disallowed_tools);
        for tool in tools.flatten() {
            tool.span = tool.span.shifted(offset);
        }
        for (key, _) in self.metadata.iter_mut().chain(&mut self.other) {
            key.span = key.span.shifted(offset);
        }
    }
}

/// The text with single quotes round every value that YAML would trip over, and where characters were put in.
fn requoted(source: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(source.len() + 64);
    let mut inserted = Vec::new();
    for line in lines(source, 0) {
        let end = line.start + line.text.trim_end().len();
        let whole = source.get(line.start..line.next).unwrap_or_default();
        let value = key_and_value(line.text).map(|(_, value)| line.start + value).filter(|start| {
            let value = source.get(*start..end).unwrap_or_default();
            let special = value.starts_with(['@', '`', '%', '*', '&', '!']);
            let quoted = value.starts_with(['"', '\'', '[', '{', '|', '>']);
            special || (!quoted && (value.contains(": ") || value.ends_with(':') || value.contains(" #")))
        });
        let Some(start) = value else {
            out.push_str(whole);
            continue;
        };
        out.push_str(source.get(line.start..start).unwrap_or_default());
        let mut put = |out: &mut String| {
            inserted.push(out.len());
            out.push('\'');
        };
        put(&mut out);
        for c in source.get(start..end).unwrap_or_default().chars() {
            if c == '\'' {
                put(&mut out);
            }
            out.push(c);
        }
        put(&mut out);
        out.push_str(source.get(end..line.next).unwrap_or_default());
    }
    (out, inserted)
}

/// Where a byte of the requoted text stands in the original.
fn original(inserted: &[usize], at: usize) -> usize {
    at - inserted.partition_point(|place| *place < at)
}

/// The key of a line and where its value begins, if it looks like `key: value`.
fn key_and_value(line: &str) -> Option<(&str, usize)> {
    let colon = line.find(':')?;
    let (key, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    let bare = key.trim().trim_start_matches("- ").trim_matches(['"', '\'']);
    let word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain =
        !bare.is_empty() && bare.chars().all(word) && (value.is_empty() || value.starts_with([' ', '\t']));
    plain.then(|| (bare, colon + 1 + (value.len() - value.trim_start().len())))
}

/// `key: value` line by line; lines that are indented deeper, begin with `- ` or have no key belong to the key above.
fn line_by_line(source: &str) -> Vec<(Spanned<String>, Spanned<String>)> {
    let mut found: Vec<(Spanned<String>, Spanned<String>)> = Vec::new();
    let mut margin = None;
    for line in lines(source, 0).filter(|line| !line.text.trim().is_empty()) {
        let text = line.text.trim_start_matches('\u{feff}');
        let indent = text.len() - text.trim_start().len();
        let own = key_and_value(text)
            .filter(|_| !text.trim_start().starts_with("- ") && indent <= *margin.get_or_insert(indent));
        let skipped = line.text.len() - text.len();
        let end = line.start + line.text.trim_end().len();
        match (own, found.last_mut()) {
            (Some((key, value)), _) => {
                let start = line.start + skipped + indent;
                let value_start = (line.start + skipped + value).min(end);
                let value = source.get(value_start..end).unwrap_or_default().to_owned();
                let key = Spanned::new(key.to_owned(), Span::new(start, start + key.len()));
                found.push((key, Spanned::new(value, Span::new(value_start, end))));
            }
            (None, Some((_, value))) => {
                value.span.end = end;
                source.get(value.span.range()).unwrap_or_default().clone_into(&mut value.value);
            }
            (None, None) => {
                let span = Span::new(line.start, end);
                found.push((
                    Spanned::new(String::new(), span),
                    Spanned::new(text.trim_end().to_owned(), span),
                ));
            }
        }
    }
    found
}

/// `Bash(git add:*), Read Write` as three tools: spaces and commas separate, but not inside parentheses.
fn split_tools(text: &str) -> Vec<(AllowedTool, Span)> {
    // Parentheses that do not pair up would swallow all that follows.
    let balanced = text.matches('(').count() == text.matches(')').count();
    let mut tools = Vec::new();
    let mut depth = 0_usize;
    let mut start = None;
    for (i, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match c {
            '(' if balanced => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let separates = c.is_whitespace() || matches!(c, ',' | '"' | '\'' | '[' | ']');
        if (depth == 0 && separates) || i == text.len() {
            if let Some(begin) = start.take() {
                let word: Cow<'_, str> = text.get(begin..i).unwrap_or_default().trim().into();
                tools.push((tool(&word), Span::new(begin, i)));
            }
        } else if start.is_none() {
            start = Some(i);
        }
    }
    tools
}

fn tool(text: &str) -> AllowedTool {
    match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((name, argument)) => {
            AllowedTool { name: name.trim().to_owned(), argument: Some(argument.to_owned()) }
        }
        None => AllowedTool { name: text.to_owned(), argument: None },
    }
}
