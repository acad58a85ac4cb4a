//! `SKILL.md`: its front matter, and where its body begins.
//!
//! Unlike a manifest, a `SKILL.md` is read in whatever state it is in, because what is wrong with it is for a
//! scanner to judge: reading never fails, and what cannot be understood is listed. Other readers may see the block begin or
//! end elsewhere; where that is possible it is listed too, and a scanner should look at the whole text.

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Span};
use crate::front_matter::FrontMatter;
use crate::{MAX_BYTES, front_matter};

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
    /// What stands between the two `---` lines; `None` if there is no such block, or it is not closed, or too large. Then
    /// the body is the whole text.
    pub front_matter: Option<FrontMatter>,
    /// The byte at which the body begins.
    pub body_start: usize,
    /// The line of that byte, counted from 1.
    pub body_line: usize,
    /// What could not be understood, in the order of the text.
    pub problems: Vec<Diagnostic>,
    /// How many further problems were counted but not kept.
    pub more: usize,
}

impl SkillDoc {
    /// The name of the file in a skill's folder.
    pub const FILE_NAME: &'static str = "SKILL.md";

    /// Takes a text apart. Line ends may be LF, CRLF or CR; a byte order mark is passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut sink = DiagnosticSink::default();
        let whole = Self { body_line: 1, body_start: bom(text), ..Self::default() };
        let doc = match block(text) {
            Block::None => {
                report_near_fence(text, &mut sink);
                whole
            }
            Block::Open(fence) => {
                let message = "the front matter opened here is not closed by a `---` line";
                let diagnostic = Diagnostic::new(Code::Unterminated, fence, message);
                sink.push(diagnostic.help("close it with a line `---`"));
                whole
            }
            Block::Closed { inner, .. } if inner.end - inner.start > MAX_BYTES => {
                let message = format!("the front matter is larger than {MAX_BYTES} bytes");
                sink.push(Diagnostic::new(Code::TooLarge, inner, message));
                whole
            }
            Block::Closed { inner, body_start } => {
                report_inner_fence(text, inner, &mut sink);
                Self {
                    body_start,
                    body_line: 1 + line_breaks(text.get(..body_start).unwrap_or_default()),
                    front_matter: Some(front_matter::read(text, inner, &mut sink)),
                    ..Self::default()
                }
            }
        };
        let (problems, more) = sink.finish(text);
        Self { problems, more, ..doc }
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

/// A text that begins almost like front matter: blank lines or more dashes first, or a language behind the dashes.
fn report_near_fence(text: &str, sink: &mut DiagnosticSink) {
    let Some(line) = lines(text, bom(text)).find(|line| !line.text.trim().is_empty()) else { return };
    if line.text.trim_start().starts_with("---") {
        let message = "some readers take this line for the beginning of front matter";
        let span = Span::new(line.start, line.start + line.text.len());
        sink.push(
            Diagnostic::new(Code::AmbiguousFence, span, message).help("begin the text with a line `---`"),
        );
    }
}

/// `---` inside the block: some readers close it there, so that what follows is body to them.
fn report_inner_fence(text: &str, inner: Span, sink: &mut DiagnosticSink) {
    let Some(at) = text.get(inner.range()).and_then(|source| source.find("---")) else { return };
    let span = Span::new(inner.start + at, inner.start + at + 3);
    let message = "some readers take this for the end of the front matter";
    sink.push(Diagnostic::new(Code::AmbiguousFence, span, message).help("write it without three dashes"));
}

pub(crate) struct Line<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: usize,
    pub(crate) next: usize,
}

/// The lines from a byte on, whatever ends them.
pub(crate) fn lines(text: &str, mut at: usize) -> impl Iterator<Item = Line<'_>> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Spanned;
    use crate::front_matter::AllowedTool;

    fn names(tools: Option<&Vec<Spanned<AllowedTool>>>) -> Vec<String> {
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
        for text in ["# Title\n", "", "text\n---\n"] {
            let doc = SkillDoc::parse(text);
            assert_eq!((doc.front_matter, doc.body_start, doc.problems.len()), (None, 0, 0), "{text:?}");
        }
        // Other readers may see front matter here.
        for text in
            ["\n---\nname: x\n---\n", "----\nname: x\n----\n", "---json\n{}\n---\n", "  ---\nname: x\n---\n"]
        {
            let doc = SkillDoc::parse(text);
            assert_eq!((doc.front_matter, doc.body_start), (None, 0), "{text:?}");
            assert_eq!(doc.problems[0].code, Code::AmbiguousFence, "{text:?}");
        }
        // Or see it end here.
        for inner in ["description: nice ---\n# SYSTEM\n", "---foo\nx: 1\n", "a: |\n  ---\n"] {
            let doc = SkillDoc::parse(&format!("---\nname: x\n{inner}---\nbody"));
            assert!(
                doc.problems.iter().any(|p| p.code == Code::AmbiguousFence),
                "{inner:?}: {:?}",
                doc.problems
            );
        }
        let doc = SkillDoc::parse("---\nname: x\nbody\n");
        assert_eq!(doc.problems[0].code, Code::Unterminated);
        assert_eq!((doc.front_matter, doc.body_start), (None, 0));
    }

    #[test]
    fn text_that_is_not_yaml_is_mended_and_reported() {
        let text = "---\nname: deploy\ndescription: It's for: you #1\nallowed-tools:\n  - Bash(make:*)\n  - Read\nhooks:\n  pre: [./x.sh]\n---\nbody";
        let doc = SkillDoc::parse(text);
        let front = doc.front_matter.unwrap();
        assert!(front.recovered);
        let description = front.description.unwrap();
        assert_eq!(description.value, "It's for: you #1");
        assert_eq!(&text[description.span.range()], "It's for: you #1");
        assert_eq!(names(front.allowed_tools.as_ref()), ["Bash(make:*)", "Read"]);
        assert_eq!(&text[front.allowed_tools.unwrap()[0].span.range()], "Bash(make:*)");
        assert_eq!(front.other[0].1, serde_json::json!({ "pre": ["./x.sh"] }));
        assert_eq!((doc.problems[0].code, doc.problems[0].line), (Code::Syntax, 3));
    }

    #[test]
    fn text_that_cannot_be_mended_is_read_line_by_line() {
        let text = "---\nname: deploy\nx-run: \"a: b: c\n\"allowed-tools\" : [Bash(make:*)\n  Read\n- Write\nhooks:\n  PreToolUse:\n    - command: curl\n---\nbody";
        let front = SkillDoc::parse(text).front_matter.unwrap();
        assert!(front.recovered);
        assert_eq!(names(front.allowed_tools.as_ref()), ["Bash(make:*)", "Read", "Write"]);
        let hooks = front.other.iter().find(|(key, _)| key.value == "hooks").unwrap();
        assert!(hooks.1.as_str().unwrap().contains("command: curl"), "{hooks:?}");
    }

    #[test]
    fn tools_are_read_as_they_are_meant_and_none_is_lost() {
        for (written, expected) in [
            ("\"B\\x61sh(*)\"", &["Bash(*)"][..]),
            ("\"Ba\\\n  sh(*)\"", &["Bash(*)"]),
            ("[\"Read, Bash(*)\"]", &["Read", "Bash(*)"]),
            ("[[Bash(*)], Read]", &["Bash(*)", "Read"]),
            ("[{Read: a, Bash: '*'}]", &["Read(a)", "Bash(*)"]),
            ("{Bash: [x]}", &["Bash", "x"]),
            ("Read( Bash(*) Write", &["Read(", "Bash(*)", "Write"]),
        ] {
            let front =
                SkillDoc::parse(&format!("---\nallowed-tools: {written}\n---\n")).front_matter.unwrap();
            assert_eq!(names(front.allowed_tools.as_ref()), expected, "{written}");
        }
        let doc = SkillDoc::parse("---\nname: a\ntools: Read\ntools: Bash\nname: b\n---\n");
        let front = doc.front_matter.unwrap();
        assert_eq!(names(front.tools.as_ref()), ["Read", "Bash"]);
        assert_eq!((front.name.unwrap().value.as_str(), front.other.len()), ("a", 1));
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
