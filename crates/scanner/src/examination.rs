//! One skill under examination: every check over every file.

// A rule and a role are the two things a finding is about.
#![allow(clippy::similar_names)]

use std::borrow::Cow;
use std::ops::Range;

use skillsandbox_manifest::{AllowedTool, FrontMatter, SkillDoc, Spanned};

use crate::Scanner;
use crate::checks::{
    binaries, delegation, dependencies, fetched_hosts, front_matter, installers, obfuscation, secret_flow,
    spoofing, tools,
};
use crate::engine::Found;
use crate::finding::{Finding, snippet};
use crate::kind::FileKind;
use crate::rule::{CheckId, Rule, Scope, Status};
use crate::signals::Signals;
use crate::skill::{Skill, SkillFile};
use crate::text::{self, Block, Role};
use crate::{hidden, polarity};

/// One scan under way.
pub(crate) struct Examination<'s> {
    scanner: &'s Scanner,
    skill: &'s Skill,
    pub(crate) findings: Vec<Finding>,
    /// Whether the skill says that it is about security.
    security: bool,
    /// What the skill says it is for: its names, description and title.
    purpose: String,
}

impl<'s> Examination<'s> {
    pub(crate) fn new(scanner: &'s Scanner, skill: &'s Skill) -> Self {
        Self { scanner, skill, findings: Vec::new(), security: false, purpose: String::new() }
    }

    /// All checks over all files; the skill's name.
    pub(crate) fn all(&mut self) -> String {
        let document = self.skill.document();
        let text = document.and_then(|at| self.skill.files.get(at)).map(|file| as_text(&file.bytes));
        let text = text.unwrap_or_default();
        let doc = SkillDoc::parse(&text);
        let front = doc.front_matter.as_ref();
        let name = front
            .and_then(|front| front.name.as_ref())
            .map_or_else(|| self.skill.name.clone(), |name| name.value.clone());
        let description = front
            .and_then(|front| front.description.as_ref())
            .map(|text| text.value.clone())
            .unwrap_or_default();
        let title: String =
            doc.body(&text).lines().find(|line| line.starts_with('#')).unwrap_or_default().to_owned();
        self.security = polarity::is_about_security(&format!("{name} {description} {title}"));
        self.purpose = format!("{name} {} {description} {title}", self.skill.name);

        if let Some(file) = document.and_then(|at| self.skill.files.get(at)) {
            self.document(file, &text, &doc, &name);
        }
        for (at, file) in self.skill.files.iter().enumerate() {
            if file.is_text() {
                self.text_file(file, (Some(at) == document).then_some(doc.body_start));
            }
        }
        self.binaries();
        name
    }

    fn document(&mut self, file: &SkillFile, text: &str, doc: &SkillDoc, name: &str) {
        for (rule, status, why, at) in front_matter::judge(doc, text) {
            if status > Status::Pass {
                self.note(
                    file,
                    at..at,
                    Role::Data,
                    Note {
                        check: CheckId::FrontMatter,
                        rule,
                        status,
                        why,
                        advice: "Ask the author to mend the front matter.",
                    },
                );
            }
        }
        let has_scripts = self.skill.files.iter().any(|file| file.kind == FileKind::Script);
        if let Some(front) = &doc.front_matter {
            for ((rule, status, why), tool) in tools::judge(front, has_scripts, doc.body(text)) {
                let advice = "Verify the tool list with the author.";
                self.note(
                    file,
                    tool.span.range(),
                    Role::Data,
                    Note { check: CheckId::Tools, rule, status, why, advice },
                );
            }
        }
        if let Some((tool, network)) = doc.front_matter.as_ref().and_then(|front| self.undeclared(front)) {
            let why =
                format!("{network} uses the network, and the tools it declares do not ({})", tool.value);
            let advice = "Ask which tool the skill means to use for it.";
            let (check, rule, status) = (CheckId::Tools, "undeclared-network", Status::Warn);
            self.note(file, tool.span.range(), Role::Data, Note { check, rule, status, why, advice });
        }
        self.names(file, text, name);
    }

    /// A list of tools without any that reaches the network, beside a script that does.
    fn undeclared(&self, front: &FrontMatter) -> Option<(Spanned<AllowedTool>, String)> {
        let tools = || front.tools.iter().chain(&front.allowed_tools).flatten();
        let first = tools().next()?.clone();
        if tools().any(|tool| tools::reaches_the_network(&tool.value)) {
            return None;
        }
        let mut scripts = self.skill.files.iter().filter(|file| file.kind == FileKind::Script);
        let script =
            scripts.find(|file| !is_example_file(&file.path) && tools::uses_the_network(&file.bytes))?;
        Some((first, script.path.clone()))
    }

    /// What only a skill's main document is asked: where it fetches from, and whom it starts.
    fn instructions(&mut self, file: &SkillFile, text: &str, signals: Signals, body_start: usize) {
        if signals.has(Signals::FETCH)
            && let Some((range, host)) = fetched_hosts::unrelated(text, &self.purpose)
        {
            let why = format!("It fetches from {host}, which nothing else in the skill speaks of");
            let advice = "Ask what is fetched there, and why the address is fixed.";
            let (check, rule, status) = (CheckId::Exfiltration, "unknown-host", Status::Warn);
            self.note(file, range, Role::Code, Note { check, rule, status, why, advice });
        }
        let body = text.get(body_start..).unwrap_or_default();
        if let Some(calls) = signals.has(Signals::AGENTS).then(|| delegation::fan_out(body)).flatten() {
            let (rule, status, why, advice) = delegation::FAN_OUT;
            let why = format!("{why} ({calls} calls)");
            let note = Note { check: CheckId::Delegation, rule, status, why, advice };
            self.note(file, 0..0, Role::Instruction, note);
        }
    }

    /// CHECK-02, and CHECK-08 where a name is taken already.
    fn names(&mut self, file: &SkillFile, text: &str, name: &str) {
        let external = !self.skill.source.starts_with("local:");
        if external && self.scanner.system_names.iter().any(|known| known == name) {
            let why = format!("It would overwrite the system skill {name} from an external source");
            self.note(
                file,
                0..0,
                Role::Data,
                Note {
                    check: CheckId::SupplyChain,
                    rule: "overwrites-system",
                    status: Status::Block,
                    why,
                    advice: "Install it only under another name.",
                },
            );
        }
        let other = self
            .scanner
            .installed
            .iter()
            .find(|(known, source)| known == name && *source != self.skill.source);
        if let Some((_, source)) = other {
            let why = format!("already installed from {source}");
            self.note(
                file,
                0..0,
                Role::Data,
                Note {
                    check: CheckId::SupplyChain,
                    rule: "other-source",
                    status: Status::Warn,
                    why,
                    advice: "Decide which of the two is meant.",
                },
            );
        }
        if !self.scanner.is_trusted(&self.skill.source) {
            if let Some((rule, status, why)) = spoofing::judge(name, &self.scanner.system_names) {
                self.note(
                    file,
                    0..0,
                    Role::Data,
                    Note {
                        check: CheckId::Spoofing,
                        rule,
                        status,
                        why,
                        advice: "Install it only under another name.",
                    },
                );
            }
            if let Some((rule, status, why)) = spoofing::borrowed(name, || spoofing::claims_authority(text)) {
                self.note(
                    file,
                    0..0,
                    Role::Data,
                    Note { check: CheckId::Spoofing, rule, status, why, advice: "Check who publishes it." },
                );
            }
            if spoofing::mixed_script(name) {
                let why = format!("The name mixes alphabets to look like {}", spoofing::folded(name));
                self.note(
                    file,
                    0..0,
                    Role::Data,
                    Note {
                        check: CheckId::Spoofing,
                        rule: "mixed-script",
                        status: Status::Block,
                        why,
                        advice: "Install it only under another name.",
                    },
                );
            }
        }
    }

    /// Programs, disguises and archives.
    fn binaries(&mut self) {
        for binaries::Judgement { path, check, rule, status, why, advice } in binaries::judge(self.skill) {
            let named = self.skill.files.iter().find(|file| file.path == path);
            let unnamed = SkillFile::data(path, Vec::new());
            self.note(named.unwrap_or(&unnamed), 0..0, Role::Data, Note { check, rule, status, why, advice });
        }
    }

    fn text_file(&mut self, file: &SkillFile, body_start: Option<usize>) {
        let blocks = match file.kind {
            FileKind::Markdown => text::markdown(&file.bytes, body_start.unwrap_or(0)),
            FileKind::Script => text::plain(&file.bytes, Role::Code),
            FileKind::Config => text::plain(&file.bytes, Role::Data),
            _ => text::plain(&file.bytes, Role::Instruction),
        };
        let Found { hits, complete, signals } = self.scanner.engine.search(&file.bytes, &blocks);
        if !complete {
            self.incomplete(
                file,
                "A rule matches more often than is looked at, so some passages were not judged",
            );
        }
        for hit in hits {
            let Some(block) = blocks.get(hit.block) else { continue };
            self.weigh(file, &hit.range, hit.rule, block);
        }
        let text = as_text(&file.bytes);
        if let Some(start) = body_start {
            self.instructions(file, &text, signals, start);
        }
        self.hidden(file, &text, signals, &blocks);
        for (name, popular) in dependencies::typosquats(&file.path, &text) {
            let at = text.find(&name).unwrap_or(0);
            let why = format!("The package `{name}` is one letter off `{popular}`");
            self.note(
                file,
                at..at + name.len(),
                Role::Data,
                Note {
                    check: CheckId::SupplyChain,
                    rule: "typosquat",
                    status: Status::Block,
                    why,
                    advice: "Check the name.",
                },
            );
        }
        if signals.has(Signals::SECRETS) {
            self.flows(file, &text, &blocks);
        }
        self.blocked_hosts(file, &text);
    }

    /// Turns a match into a finding, as grave as its role makes it.
    fn weigh(&mut self, file: &SkillFile, range: &Range<usize>, rule: &'static Rule, block: &Block) {
        let mut signs = polarity::signs(&file.bytes, block, range.start, range.end, self.security);
        // Quotation marks in front matter are YAML's, those in programs and data the language's, and an address or a command
        // is always written in some.
        let written_so = block.front_matter
            || matches!(block.role, Role::Code | Role::Data)
            || (rule.scope == Scope::Code && !polarity::is_in_quotation_marks(&file.bytes, range));
        if written_so {
            signs.retain(|sign| *sign != "quoted");
        }
        let example = is_example_file(&file.path);
        if example {
            signs.push("in a test or an example");
        }
        let role = match block.role {
            Role::Instruction if signs.contains(&"quoted") => Role::Quotation,
            role => role,
        };
        // That a skill speaks of security excuses nothing by itself: phishing does, too.
        let others = signs.iter().filter(|sign| **sign != "in a skill about security").count();
        let mut weight = if others == 0 { 0 } else { signs.len() };
        if rule.scope == Scope::Code && block.role == Role::Code {
            // Code is run or it is not: one sign that it is only shown is not enough.
            signs.retain(|sign| !matches!(*sign, "quoted" | "forbidden or described"));
            weight = signs.len().saturating_sub(1);
        }
        if installers::is_known_installer(rule.id, file.bytes.get(range.clone()).unwrap_or_default()) {
            return;
        }
        let mut status = rule.status;
        for _ in 0..weight.min(2) {
            status = status.milder();
        }
        // Words before a passage and above it are its author's. They make it milder; to be silent takes more than these.
        let words_alone =
            |sign: &&str| matches!(*sign, "forbidden or described" | "under a heading about attacks");
        if rule.status == Status::Block && signs.iter().all(words_alone) {
            status = status.max(Status::Warn);
        }
        if status == Status::Pass {
            return;
        }
        let mut finding = finding(
            file,
            range.clone(),
            role,
            Note { check: rule.check, rule: rule.id, status, why: rule.why.to_owned(), advice: rule.advice },
        );
        finding.mitigations = signs;
        finding.techniques = rule.techniques.to_vec();
        self.findings.push(finding);
    }

    /// CHECK-05: what is hidden, read again by all the rules.
    fn hidden(&mut self, file: &SkillFile, text: &str, signals: Signals, blocks: &[Block]) {
        // Hashes and drawings by the thousand, and nothing a model reads.
        let name = file.path.to_ascii_lowercase();
        let skipped =
            [".lock", "package-lock.json", ".svg", ".ipynb"].iter().any(|ending| name.ends_with(ending));
        if skipped {
            return;
        }
        let code: Vec<_> = blocks
            .iter()
            .filter(|block| block.role == Role::Code || block.fenced)
            .map(|block| block.range.clone())
            .collect();
        let mut techniques: Vec<&'static str> = Vec::new();
        for sign in obfuscation::signs(text, file.kind == FileKind::Markdown, signals, &code) {
            techniques.push(sign.technique);
            let status = if is_clear(sign.technique, file.kind) { Status::Block } else { Status::Warn };
            self.note(
                file,
                sign.range,
                Role::Data,
                Note {
                    check: CheckId::Obfuscation,
                    rule: sign.technique,
                    status,
                    why: sign.why.to_owned(),
                    advice: "Ask what is hidden, and why.",
                },
            );
        }
        let mut read = false;
        let (uncovered, complete) = hidden::uncover(text, signals, |text| self.scanner.engine.signals(text));
        if !complete {
            self.incomplete(file, "It holds more encoded text than is decoded, so some was not read");
        }
        for hidden in uncovered {
            // What a shell would put together is a command, not a sentence.
            let role = if hidden.chain.contains(&hidden::SHELL) { Role::Code } else { Role::Instruction };
            let inner = text::plain(hidden.text.as_bytes(), role);
            for hit in self.scanner.engine.search(hidden.text.as_bytes(), &inner).hits {
                if hit.rule.status < Status::Block {
                    continue;
                }
                // What stands in the open was judged there; only what came to light by decoding counts here.
                let passage = hidden.text.get(hit.range.clone()).unwrap_or_default();
                let times = |text: &str| text.matches(passage).count();
                let written =
                    text.get(hidden.range.clone()).filter(|written| !written.is_empty()).unwrap_or(text);
                if passage.is_empty() || times(&hidden.text) <= times(written) {
                    continue;
                }
                read = true;
                let why = format!("{} (hidden by {})", hit.rule.why, hidden.chain.join(", then "));
                let status = Status::Block;
                let mut finding = finding(
                    file,
                    hidden.range.clone(),
                    Role::Decoded,
                    Note {
                        check: CheckId::Obfuscation,
                        rule: "hidden-payload",
                        status,
                        why,
                        advice: hit.rule.advice,
                    },
                );
                finding.snippet = snippet(passage.as_bytes());
                finding.decoded_from = hidden.chain.iter().map(|how| (*how).to_owned()).collect();
                self.findings.push(finding);
            }
        }
        techniques.dedup();
        if techniques.len() >= 2 && !read {
            let why = format!("Several techniques of hiding together: {}", techniques.join(", "));
            self.note(
                file,
                0..0,
                Role::Data,
                Note {
                    check: CheckId::Obfuscation,
                    rule: "combined",
                    status: Status::Block,
                    why,
                    advice: "Do not install it.",
                },
            );
        }
    }

    fn flows(&mut self, file: &SkillFile, text: &str, blocks: &[Block]) {
        let pieces: Vec<Range<usize>> = match file.kind {
            FileKind::Script => std::iter::once(0..text.len()).collect(),
            FileKind::Markdown => joined_code(blocks),
            _ => return,
        };
        for piece in pieces {
            let Some(code) = text.get(piece.clone()) else { continue };
            for flow in secret_flow::follow(code, piece.start) {
                let mut status = flow.status;
                if is_example_file(&file.path) {
                    status = status.milder();
                }
                self.note(
                    file,
                    flow.range,
                    Role::Code,
                    Note {
                        check: CheckId::Exfiltration,
                        rule: flow.rule,
                        status,
                        why: flow.why,
                        advice: "Find out where the secret goes, and why.",
                    },
                );
            }
        }
    }

    fn blocked_hosts(&mut self, file: &SkillFile, text: &str) {
        if self.scanner.blocklist.is_empty() {
            return;
        }
        // Defanged spellings: hxxp, [.], (dot).
        let lower = text
            .to_lowercase()
            .replace("[.]", ".")
            .replace("(.)", ".")
            .replace("[dot]", ".")
            .replace("(dot)", ".")
            .replace('\u{3002}', ".");
        for word in lower.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-'))) {
            let host = word.trim_matches('.');
            let Some(ascii) = host.contains('.').then(|| idna::domain_to_ascii(host).ok()).flatten() else {
                continue;
            };
            if let Some(blocked) = self.scanner.blocklist.iter().find(|blocked| {
                ascii == **blocked
                    || ascii.strip_suffix(blocked.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }) {
                let at = text.find(host).unwrap_or(0);
                let why = format!("It names {blocked}, which is on the blocklist");
                self.note(
                    file,
                    at..at + 1,
                    Role::Data,
                    Note {
                        check: CheckId::Exfiltration,
                        rule: "blocklisted",
                        status: Status::Block,
                        why,
                        advice: "Do not install it.",
                    },
                );
                return;
            }
        }
    }

    /// A bound was met: what lies behind it was not judged, so the skill cannot be safe.
    fn incomplete(&mut self, file: &SkillFile, why: &str) {
        let (check, advice) = (CheckId::Obfuscation, "Ask what so much of it is for.");
        let note = Note { check, rule: "too-much", status: Status::Warn, why: why.to_owned(), advice };
        self.note(file, 0..0, Role::Data, note);
    }

    fn note(&mut self, file: &SkillFile, range: Range<usize>, role: Role, note: Note<'_>) {
        self.findings.push(finding(file, range, role, note));
    }
}

/// What is said of a passage.
struct Note<'n> {
    check: CheckId,
    rule: &'n str,
    status: Status,
    why: String,
    advice: &'n str,
}

/// A passage of a file, and what is said of it.
fn finding(file: &SkillFile, range: Range<usize>, role: Role, note: Note<'_>) -> Finding {
    let (line, column) = text::place(&file.bytes, range.start);
    Finding {
        file: file.path.clone(),
        line,
        column,
        snippet: snippet(file.bytes.get(range.clone()).unwrap_or_default()),
        range: (range.start, range.end),
        role,
        ..Finding::whole(note.check, note.rule, note.status, note.why, note.advice)
    }
}

/// Bytes as text, with a mark in place of each byte that is none, so that places stay where they are.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(out)
}

/// Whether a way of hiding has no honest use: tags nowhere, characters that turn the direction not in a program.
fn is_clear(technique: &str, kind: FileKind) -> bool {
    technique == "tag-characters" || (technique == "bidi-controls" && kind == FileKind::Script)
}

/// Whether a path says that it holds tests, fixtures or examples.
fn is_example_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.split('/').any(|part| {
        matches!(part, "tests" | "test" | "fixtures" | "__tests__" | "testdata" | "evals" | "test_data")
            || part.starts_with("test_")
            || part.ends_with("_test.py")
            || part.contains(".test.")
            || part.contains(".spec.")
    })
}

/// Code blocks that stand together count as one piece: what one reads, the next may send.
fn joined_code(blocks: &[Block]) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for block in blocks.iter().filter(|block| block.role == Role::Code || block.fenced) {
        match pieces.last_mut() {
            Some(last) if last.end == block.range.start => last.end = block.range.end,
            _ => pieces.push(block.range.clone()),
        }
    }
    pieces
}
