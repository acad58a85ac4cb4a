//! Which other skills a skill calls, read from its text: cheap enough to be done for every skill of a tree before any is judged.
//!
//! Names are kept as hashes, and only turn out to be skills' names when all are known; most are names of something else.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use serde::{Deserialize, Serialize};
use skillsandbox_manifest::SkillDoc;

use crate::kind::FileKind;
use crate::skill::SkillFiles;

/// Most names that one skill is followed to. Whoever names more than this is told so.
const MAX_CALLS: usize = 4096;
/// How far behind a verb its object may stand.
const REACH: usize = 96;
/// Words of a name that is written out: "the weather lookup skill".
const MAX_WORDS: usize = 4;
/// Longest name.
const MAX_NAME: usize = 80;

/// What one skill is called, where it lies, and whom it calls.
///
/// What is serialized is for the same build of this crate only: names are hashes of no fixed kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkillCalls {
    pub(crate) skill: String,
    /// Its folder.
    pub(crate) place: Box<str>,
    /// What others may call it: its front matter's name, its folder's.
    pub(crate) names: Vec<u64>,
    /// Whom it calls, each once.
    pub(crate) others: Vec<FoundCall>,
    /// Files that hold calls.
    pub(crate) files: Vec<Box<str>>,
    /// Whether there were more than are kept.
    pub(crate) cut: bool,
}

/// One name that is called, and where.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FoundCall {
    pub(crate) name: u64,
    /// Whether it is a call in form (`Skill(x)`), not in words.
    pub(crate) formal: bool,
    /// Whether it is an order without a condition, or a call in form. "For tables, use the x skill" only says where to find something.
    pub(crate) is_order: bool,
    pub(crate) file: u16,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) range: (u32, u32),
}

impl SkillCalls {
    /// What a skill says. `place` is where it lies, in whatever terms the caller has for it; of several skills of one name, the
    /// one that lies nearest is meant.
    #[must_use]
    pub fn find(skill: &SkillFiles, place: &str) -> Self {
        let document = skill.find_document();
        let mut calls = Self {
            skill: skill.name.clone(),
            place: place.into(),
            names: Vec::new(),
            others: Vec::new(),
            files: Vec::new(),
            cut: false,
        };
        calls.names.extend(fold(&skill.name));
        let mut known = HashMap::new();
        for (number, file) in skill.files.iter().enumerate() {
            if !matches!(file.kind, FileKind::Markdown | FileKind::Text) {
                continue;
            }
            let text = String::from_utf8_lossy(&file.bytes);
            let mut reader = CallReader::new(&mut calls, &mut known, &file.path, &text);
            if Some(number) == document {
                reader.read_front_matter();
            }
            reader.read_forms();
            reader.read_words();
            reader.read_commands();
        }
        calls.names.sort_unstable();
        calls.names.dedup();
        calls
    }
}

/// A name as people and models take it: letters and digits, whatever the case and whatever stands between.
fn fold(name: &str) -> Option<u64> {
    let mut hash = DefaultHasher::new();
    let mut length = 0;
    for c in name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase) {
        c.hash(&mut hash);
        length += 1;
    }
    (length >= 2).then(|| hash.finish())
}

/// The name in what was written: `plugin:name`, `system/skills/name.manifest.md`, `../name/SKILL.md`.
fn last_part(written: &str) -> &str {
    let path = written.trim_matches(|c: char| !c.is_alphanumeric());
    let strip = |text: &str, ending: &str| {
        let start = text.len().checked_sub(ending.len())?;
        text.get(start..)?.eq_ignore_ascii_case(ending).then(|| text.get(..start).map(str::len)).flatten()
    };
    let path = strip(path, "/skill.md").and_then(|end| path.get(..end)).unwrap_or(path);
    let last = path.rsplit(['/', ':', '\\']).next().unwrap_or(path);
    let last = strip(last, ".md").and_then(|end| last.get(..end)).unwrap_or(last);
    strip(last, ".manifest").and_then(|end| last.get(..end)).unwrap_or(last)
}

/// Verbs that set a skill to work.
static VERBS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let verbs = [
        "use",
        "using",
        "invok",
        "call",
        "run",
        "load",
        "activat",
        "execut",
        "launch",
        "trigger",
        "delegat",
        "hand off",
        "hand over",
        "handoff",
        "start",
        "spawn",
        "follow",
        "apply",
        "switch to",
        "continue with",
        "chain",
        "pass to",
        "forward",
        "return to",
        "go back to",
    ];
    build(&verbs)
});

/// Calls in form.
static FORMS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    build(&[
        "skill(",
        "task(",
        "agent(",
        "subagent_type",
        "/skill.md",
        "invoke_skill(",
        "load_skill(",
        "run_skill(",
    ])
});

fn build(literals: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(literals)
        .ok()
}

/// One file under reading.
struct CallReader<'c, 't> {
    calls: &'c mut SkillCalls,
    /// Where in the list a name stands.
    known: &'c mut HashMap<u64, usize>,
    path: &'t str,
    text: &'t str,
    file: Option<u16>,
    /// How far lines were counted.
    counted: usize,
    line: u32,
    line_start: usize,
}

impl<'c, 't> CallReader<'c, 't> {
    fn new(
        calls: &'c mut SkillCalls,
        known: &'c mut HashMap<u64, usize>,
        path: &'t str,
        text: &'t str,
    ) -> Self {
        Self { calls, known, path, text, file: None, counted: 0, line: 1, line_start: 0 }
    }

    fn read_front_matter(&mut self) {
        let Some(front) = SkillDoc::parse(self.text).front_matter else { return };
        if let Some(name) = &front.name {
            self.calls.skill.clone_from(&name.value);
            self.calls.names.extend(fold(&name.value));
        }
        if let Some(extends) = &front.extends {
            self.call(&extends.value, extends.span.start, true);
        }
    }

    /// `Skill(name)`, `Task(subagent_type="name")`, `../name/SKILL.md`.
    fn read_forms(&mut self) {
        self.rewind();
        let Some(forms) = &*FORMS else { return };
        for found in forms.find_iter(self.text) {
            let (start, end) = (found.start(), found.end());
            if self.text.get(start..end).is_some_and(|form| form.starts_with('/')) {
                if let Some((word, before)) = self.document_before(end) {
                    let rest = self.text.get(end..floor(self.text, end + REACH)).unwrap_or_default();
                    self.note_call(word, start, true, is_document_order(before, rest));
                }
                continue;
            }
            let rest = self.text.get(end..floor(self.text, end + REACH)).unwrap_or_default();
            let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '=' | ':' | '('));
            // `skill: "name"`, `name="name"`.
            let keyed = ["skill", "name", "command", "subagent_type", "agent"]
                .iter()
                .find_map(|key| rest.strip_prefix(key)?.trim_start().strip_prefix(['=', ':']));
            // What a task is called is not who does it.
            let task = self.text.get(start..end).is_some_and(|form| form.eq_ignore_ascii_case("task("));
            let formal = keyed.is_some() || !task;
            let rest = keyed.unwrap_or(rest).trim_start();
            let name: &str = match rest.strip_prefix(['"', '\'', '`']) {
                Some(quoted) => quoted.split(['"', '\'', '`', '\n']).next().unwrap_or_default(),
                None => {
                    rest.split(|c: char| c.is_whitespace() || ",)".contains(c)).next().unwrap_or_default()
                }
            };
            self.call(name, start, formal);
        }
    }

    /// Another skill's document, named as a path that ends here, if it is to be read: a link to it is none.
    fn document_before(&self, end: usize) -> Option<(&'t str, &'t str)> {
        let near = self.text.get(floor(self.text, end.saturating_sub(MAX_NAME * 2))..end)?;
        let near = near.rsplit('\n').next().unwrap_or(near);
        let word = near.rsplit(|c: char| c.is_whitespace() || "`\"'()[]<>*".contains(c)).next()?;
        let whole = near.get(..near.len() - word.len())?;
        let before = whole.rsplit(['.', ';', '—']).next().unwrap_or(whole).to_ascii_lowercase();
        let told = ["read", "follow", "load", "open", "execut", "run", "use", "invok", "cat "];
        // A path of the skill's own, or of every skill, names none.
        (word.starts_with("..") && !is_negated(&before) && told.iter().any(|verb| before.contains(verb)))
            .then_some((word, whole))
    }

    /// "Invoke the weather skill", "hand off to `weather`", "then run /weather".
    fn read_words(&mut self) {
        self.rewind();
        let Some(verbs) = &*VERBS else { return };
        for found in verbs.find_iter(self.text) {
            let before = self.text.get(..found.start()).unwrap_or_default();
            if before.chars().next_back().is_some_and(char::is_alphanumeric) || is_negated(before) {
                continue;
            }
            let rest = self.text.get(found.end()..floor(self.text, found.end() + REACH)).unwrap_or_default();
            // The rest of the verb: "invok-ing".
            let rest = rest.trim_start_matches(|c: char| c.is_alphabetic());
            for (name, at) in find_objects(rest) {
                let at = self.text.len().min(found.end() + at);
                let rest = self.text.get(at..floor(self.text, at + REACH)).unwrap_or_default();
                self.call_in_words(&name, at, is_order(before, rest));
            }
        }
    }

    /// A line that is nothing but `/name`, as one types it.
    fn read_commands(&mut self) {
        self.rewind();
        let mut at = 0;
        for line in self.text.split_inclusive('\n') {
            if let Some(command) = line.trim().strip_prefix('/') {
                let name = command.split_whitespace().next().unwrap_or_default();
                if !name.contains(['/', '.']) {
                    self.call_in_words(name, at, false);
                }
            }
            at += line.len();
        }
    }

    fn call(&mut self, written: &str, at: usize, formal: bool) {
        self.note_call(written, at, formal, formal);
    }

    fn call_in_words(&mut self, written: &str, at: usize, is_order: bool) {
        self.note_call(written, at, false, is_order);
    }

    fn note_call(&mut self, written: &str, at: usize, formal: bool, is_order: bool) {
        let name = last_part(written);
        let Some(hash) = (name.len() <= MAX_NAME).then(|| fold(name)).flatten() else { return };
        // In words, a skill speaks of itself to say how it is used.
        if !formal && self.calls.names.contains(&hash) {
            return;
        }
        if let Some(call) = self.known.get(&hash).and_then(|at| self.calls.others.get_mut(*at)) {
            call.formal |= formal;
            call.is_order |= is_order;
            return;
        }
        if self.calls.others.len() >= MAX_CALLS {
            self.calls.cut = true;
            return;
        }
        let (line, column) = self.place(at);
        let Some(file) = self.file() else { return };
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let range = (small(at), small(at + written.len()));
        self.known.insert(hash, self.calls.others.len());
        self.calls.others.push(FoundCall { name: hash, formal, is_order, file, line, column, range });
    }

    fn file(&mut self) -> Option<u16> {
        if self.file.is_none() {
            self.file = u16::try_from(self.calls.files.len()).ok();
            self.calls.files.push(self.path.into());
        }
        self.file
    }

    fn rewind(&mut self) {
        (self.counted, self.line, self.line_start) = (0, 1, 0);
    }

    /// The line and column of a byte; asked for rising bytes, it walks the text once.
    fn place(&mut self, at: usize) -> (u32, u32) {
        if at < self.counted {
            self.rewind();
        }
        for newline in
            memchr::memchr_iter(b'\n', self.text.as_bytes().get(self.counted..at).unwrap_or_default())
        {
            self.line = self.line.saturating_add(1);
            self.line_start = self.counted + newline + 1;
        }
        self.counted = at;
        let column = self.text.get(self.line_start..at).map_or(0, |line| line.chars().take(10_000).count());
        (self.line, u32::try_from(column).unwrap_or(0) + 1)
    }
}

/// The boundary of a character at or before a byte.
fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// Whether what stands before a verb turns it round: "never use the x skill".
fn is_negated(before: &str) -> bool {
    let near = before.get(floor(before, before.len().saturating_sub(24))..).unwrap_or_default();
    let clause = near.rsplit(['.', '\n', ';', ':', ',']).next().unwrap_or(near).to_ascii_lowercase();
    ["not ", "n't ", "never ", "without ", "instead of ", "rather than "]
        .iter()
        .any(|word| clause.contains(word))
}

/// Words that may stand between the start of a sentence and its order.
const ORDER_WORDS: &[&str] = &[
    "then",
    "next",
    "finally",
    "now",
    "always",
    "and",
    "must",
    "please",
    "first",
    "afterwards",
    "you",
    "immediately",
    "done",
    "that",
    "it",
    "after",
    "step",
    "agent",
    "the",
    "this",
    "skill",
    "will",
    "should",
    "to",
    "when",
    "finished",
    "ready",
    "complete",
];

/// Whether another skill's document is ordered to be read, and without a condition: the sentence begins with the verb, and is no answer to a
/// question.
fn is_document_order(before: &str, rest: &str) -> bool {
    let clause = before.rsplit(['.', '\n', ';', ':', '!', '|']).next().unwrap_or(before);
    let clause = clause.trim_end_matches(|c: char| !c.is_alphanumeric());
    let verb = clause.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    !before.contains('?') && is_order(clause.strip_suffix(verb).unwrap_or(clause), rest)
}

/// Whether a verb orders something, and without a condition: it begins its sentence, but for "then" and the like, and no "if" or "for" follows.
fn is_order(before: &str, rest: &str) -> bool {
    let near = before.get(floor(before, before.len().saturating_sub(80))..).unwrap_or_default();
    let clause =
        near.rsplit(['.', '\n', ';', ':', '!', '?', '|']).next().unwrap_or(near).to_ascii_lowercase();
    let words = clause.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_plain = words.filter(|word| word.parse::<u32>().is_err()).all(|word| ORDER_WORDS.contains(&word));
    let sentence = rest.split(['.', '\n', ';', '!', '?', '|']).next().unwrap_or(rest).to_ascii_lowercase();
    let conditions = [
        " if ",
        " when ",
        " whenever ",
        " for ",
        " unless ",
        " instead",
        " where ",
        " in case",
        " needed",
        " — ",
    ];
    is_plain && !conditions.iter().any(|word| sentence.contains(word))
}

/// Words between a verb and its object.
const FILLERS: &[&str] = &[
    "the", "a", "an", "to", "with", "then", "next", "our", "named", "called", "off", "over", "on",
    "directly", "again", "it", "work", "control", "task", "back", "into", "by", "running", "calling",
    "invoking",
];
/// What makes a bare word a skill's name.
const KINDS: &[&str] =
    &["skill", "skills", "agent", "agents", "sub-skill", "subskill", "sub-agent", "subagent"];

/// The names that may be a verb's object, with their places in the text behind it. Of "the new weather skill" the whole and its
/// endings: `new weather`, `weather`.
fn find_objects(rest: &str) -> Vec<(String, usize)> {
    const MARKS: &[char] = &['`', '"', '\'', '*', '_', '[', '“', '‘', '@', '/'];
    let mut found = Vec::new();
    let mut bare: Vec<&str> = Vec::new();
    let mut kind_before = false;
    let mut at = 0;
    let mut skipped = 0;
    for word in rest.split_inclusive(char::is_whitespace) {
        let start = at;
        at += word.len();
        let trimmed = word.trim();
        if trimmed.is_empty() {
            continue;
        }
        if trimmed.starts_with(MARKS) && bare.is_empty() {
            // In quotation marks, bold, or with a slash before it: up to where that ends.
            let inner = rest.get(start..).unwrap_or_default().trim_start_matches(|c| MARKS.contains(&c));
            let end = inner.find(['`', '"', '\'', '*', ']', '”', '’', '\n', ',']).unwrap_or(inner.len());
            let quoted = inner.get(..end).unwrap_or_default();
            // Something of the skill's: "use `x`'s rule".
            let behind = inner.get(end..).unwrap_or_default().trim_start_matches(['`', '"', '*', ']', '”']);
            if ["'s", "’s"].iter().any(|genitive| behind.starts_with(genitive)) {
                return found;
            }
            let slash = trimmed.trim_start_matches(['`', '"', '\'', '*']).starts_with(['/', '@']);
            let name = if slash { quoted.split_whitespace().next().unwrap_or_default() } else { quoted };
            // A path is no command.
            if !(slash && name.contains('/')) {
                found.push((name.to_owned(), start));
            }
            return found;
        }
        let plain = trimmed.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
        if KINDS.contains(&plain.as_str()) {
            if bare.is_empty() {
                kind_before = true;
                continue;
            }
            for from in 0..bare.len() {
                found.push((bare.get(from..).unwrap_or_default().join("-"), start));
            }
            return found;
        }
        if kind_before && bare.is_empty() && !FILLERS.contains(&plain.as_str()) {
            // "the skill weather".
            found.push((trimmed.to_owned(), start));
            return found;
        }
        if bare.is_empty() && FILLERS.contains(&plain.as_str()) {
            skipped += 1;
        } else {
            bare.push(trimmed);
        }
        let ends = trimmed.ends_with(['.', '!', '?', ';', ':', ',']);
        if bare.len() > MAX_WORDS || skipped > MAX_WORDS || ends {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_in_every_form() {
        for text in [
            "Invoke the weather-lookup skill.",
            "then invoke the Weather Lookup skill",
            "use the new weather-lookup skill for it",
            "Use `weather-lookup` next",
            "hand off to **weather-lookup**",
            "Delegate the task to the weather-lookup agent",
            "run /weather-lookup",
            "Run `/weather-lookup Oslo`",
            "load the skill \"weather-lookup\"",
            "load the skill weather_lookup",
            "Using plugins:weather-lookup skill",
            "Skill(weather-lookup)",
            "Skill(skill=\"weather-lookup\", args=\"x\")",
            "Skill(\"tools:weather-lookup\")",
            "Task(subagent_type=\"weather-lookup\")",
            "subagent_type: weather-lookup",
            "Read ../weather-lookup/SKILL.md and do what it says",
            "Now follow [the other](../weather-lookup/SKILL.md)",
            "cat ../weather-lookup/SKILL.md",
            "/weather-lookup Oslo\n",
            "USE THE WEATHER-LOOKUP SKILL",
        ] {
            let skill = SkillFiles::from_skill_md("x", format!("---\nname: x\n---\n{text}\n"));
            let calls = SkillCalls::find(&skill, "");
            let wanted = fold("weather-lookup").unwrap();
            assert!(
                calls.others.iter().any(|call| call.name == wanted && call.line == 4),
                "{text}: {calls:?}"
            );
        }
    }

    #[test]
    fn what_is_no_call_is_none() {
        for text in [
            "Never use the weather-lookup skill.",
            "Do not invoke `weather-lookup`.",
            "Instead of using the weather-lookup skill, ask.",
            "The weather-lookup skill is by somebody else.",
            "See https://x.test/weather-lookup for more.",
            "cat /usr/share/weather-lookup",
            "because weather-lookup is slow",
            "- [weather-lookup](../weather-lookup/SKILL.md): before one goes out",
            "Use `weather-lookup`'s table of codes.",
            "See ../weather-lookup/SKILL.md.",
            "Do not read ../weather-lookup/SKILL.md.",
        ] {
            let skill = SkillFiles::from_skill_md("x", format!("---\nname: x\n---\n{text}\n"));
            let calls = SkillCalls::find(&skill, "");
            let name = fold("weather-lookup").unwrap();
            assert!(calls.others.iter().all(|call| call.name != name), "{text}: {calls:?}");
        }
    }

    #[test]
    fn names_are_folded_and_paths_taken_apart() {
        for (written, name) in [
            ("system/skills/foo.manifest.md", "foo"),
            ("../Foo/SKILL.md", "Foo"),
            ("a:b:foo", "foo"),
            ("foo", "foo"),
            ("`foo`", "foo"),
        ] {
            assert_eq!(last_part(written), name);
        }
        assert_eq!(fold("Weather_Lookup"), fold("weather lookup"));
        assert_ne!(fold("weather"), fold("weathers"));
        assert_eq!(fold("-"), None);
    }

    #[test]
    fn places_are_right() {
        let text = "---\nname: x\n---\nü\nThen use `other`.\nSkill(third)\n";
        let calls = SkillCalls::find(&SkillFiles::from_skill_md("x", text), "");
        let mut places: Vec<_> = calls.others.iter().map(|call| (call.line, call.column)).collect();
        places.sort_unstable();
        assert_eq!(places, [(5, 10), (6, 1)]);
    }
}
