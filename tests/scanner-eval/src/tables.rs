//! What is printed: how the scanner does on each corpus, as it is and out of source, beside the targets.

use skillsandbox_scanner::ScanVerdict;

use crate::corpus::share;
use crate::judged::JudgedSkill;

/// Most lines of a list, unless all are asked for.
const SHOWN: usize = 15;

/// A question about a skill: a row of a table.
type RowFilter = (&'static str, fn(&JudgedSkill) -> bool, &'static str);

/// The rows, each with its target out of source: BLOCKED / WARNING or worse.
const ROWS: &[RowFilter] = &[
    ("malicious", |skill| skill.is_malicious && !skill.is_contested, ""),
    ("malicious, clear payloads", JudgedSkill::is_clear, "at least 80 / 92 %"),
    ("malicious, contested sources", |skill| skill.is_malicious && skill.is_contested, ""),
    ("benign", |skill| !skill.is_malicious, "at most 1 / 8 %"),
    ("benign, official vendors", JudgedSkill::is_official, "0 / -"),
    ("benign, about security", JudgedSkill::is_about_security, "at most 3 / - %"),
];

/// Skills with two verdicts each: as the scanner is, and out of source.
#[derive(Clone, Copy)]
pub(crate) struct TableInput<'e> {
    pub(crate) skills: &'e [JudgedSkill],
    pub(crate) out_of_source: &'e [ScanVerdict],
    pub(crate) is_markdown: bool,
    pub(crate) lists_all: bool,
}

/// Blocked, and warned of or blocked, of how many.
#[derive(Clone, Copy, Default)]
struct VerdictCount {
    all: usize,
    blocked: usize,
    warned: usize,
}

impl VerdictCount {
    fn add(&mut self, verdict: ScanVerdict) {
        self.all += 1;
        self.blocked += usize::from(verdict == ScanVerdict::Blocked);
        self.warned += usize::from(verdict > ScanVerdict::Safe);
    }
}

/// A line of a table: cells, the first wide.
pub(crate) fn print_row(is_markdown: bool, cells: &[String]) {
    if is_markdown {
        println!("| {} |", cells.join(" | "));
    } else {
        let line: String = cells
            .iter()
            .enumerate()
            .map(|(at, cell)| if at == 0 { format!("{cell:<46}") } else { format!(" {cell:>22}") })
            .collect();
        println!("{}", line.trim_end());
    }
}

/// The head of a table.
pub(crate) fn print_head(is_markdown: bool, cells: &[&str]) {
    print_row(is_markdown, &cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>());
    if is_markdown {
        println!("|{}", "---|".repeat(cells.len()));
    }
}

/// A heading.
pub(crate) fn print_title(is_markdown: bool, title: &str) {
    println!("\n{}{title}{}", if is_markdown { "### " } else { "" }, if is_markdown { "\n" } else { "" });
}

impl<'e> TableInput<'e> {
    /// The skills with both verdicts.
    fn both(self) -> impl Iterator<Item = (&'e JudgedSkill, ScanVerdict)> {
        self.skills.iter().zip(self.out_of_source.iter().copied())
    }

    /// As it is and out of source, of the skills that a question picks.
    fn count(self, filter: impl Fn(&JudgedSkill) -> bool) -> (VerdictCount, VerdictCount) {
        let (mut fitted, mut outside) = (VerdictCount::default(), VerdictCount::default());
        for (skill, verdict) in self.both().filter(|(skill, _)| filter(skill)) {
            fitted.add(skill.verdict);
            outside.add(verdict);
        }
        (fitted, outside)
    }

    fn print_counts(self, name: &str, target: &str, filter: impl Fn(&JudgedSkill) -> bool) {
        let (fitted, outside) = self.count(filter);
        if fitted.all > 0 {
            let cells = [
                name.to_owned(),
                fitted.all.to_string(),
                share(fitted.blocked, fitted.all),
                share(outside.blocked, outside.all),
                share(fitted.warned, fitted.all),
                share(outside.warned, outside.all),
                target.to_owned(),
            ];
            print_row(self.is_markdown, &cells);
        }
    }

    fn print_columns(self, first: &str) {
        let cells = [
            first,
            "of",
            "BLOCKED",
            "out of source",
            "WARNING or worse",
            "out of source",
            "target out of source",
        ];
        print_head(self.is_markdown, &cells);
    }

    /// The rows of one corpus, or of all.
    pub(crate) fn print_corpora(self) {
        let mut corpora: Vec<&str> = self.skills.iter().map(|skill| skill.corpus.as_str()).collect();
        corpora.dedup();
        let together = (corpora.len() > 1).then_some("");
        for corpus in together.into_iter().chain(corpora) {
            print_title(self.is_markdown, if corpus.is_empty() { "together" } else { corpus });
            self.print_columns("");
            for (name, filter, target) in ROWS {
                self.print_counts(name, target, |skill| {
                    filter(skill) && (corpus.is_empty() || skill.corpus == corpus)
                });
            }
        }
    }

    /// Each family and category by itself.
    pub(crate) fn print_parts(self) {
        type SkillKey = fn(&JudgedSkill) -> &str;
        let keys: [(&str, SkillKey); 3] = [
            ("family", |skill| &skill.family),
            ("source", |skill| &skill.source),
            ("category", |skill| &skill.category),
        ];
        for is_malicious in [true, false] {
            for (name, key) in keys {
                let class = if is_malicious { "malicious" } else { "benign" };
                print_title(self.is_markdown, &format!("{class} by {name}"));
                self.print_columns(name);
                let of_class = self.skills.iter().filter(|skill| skill.is_malicious == is_malicious);
                let mut groups: Vec<&str> = of_class.map(key).collect();
                groups.sort_unstable();
                groups.dedup();
                for group in groups {
                    self.print_counts(group, "", |skill| {
                        skill.is_malicious == is_malicious && key(skill) == group
                    });
                }
            }
        }
    }

    /// Every false block, with what it is for; and what was missed.
    pub(crate) fn print_errors(self) {
        let false_blocks =
            self.skills.iter().filter(|skill| !skill.is_malicious && skill.verdict == ScanVerdict::Blocked);
        print_title(self.is_markdown, "false blocks");
        for skill in false_blocks {
            println!("- {} {} ({})", skill.corpus, skill.path, skill.category);
            let blocks = skill.fires.iter().filter(|fire| fire.status == skill.fires[0].status).take(3);
            for fire in blocks {
                let how = if skill.alone == ScanVerdict::Blocked { "" } else { "added up: " };
                println!("    {how}{} {}: {}", fire.rule.name(), fire.file, fire.snippet.escape_debug());
            }
        }
        let most = if self.lists_all { usize::MAX } else { SHOWN };
        for (title, verdict) in
            [("missed altogether", ScanVerdict::Safe), ("only warned of", ScanVerdict::Warning)]
        {
            let missed: Vec<_> =
                self.skills.iter().filter(|skill| skill.is_clear() && skill.verdict == verdict).collect();
            print_title(self.is_markdown, &format!("clear payloads {title}: {}", missed.len()));
            for skill in missed.iter().take(most) {
                let rules: Vec<String> = skill.fires.iter().map(|fire| fire.rule.name()).collect();
                println!("- {} {} ({}): {}", skill.corpus, skill.path, skill.category, rules.join(" "));
            }
            if missed.len() > most {
                println!("- and {} more; --all lists them", missed.len() - most);
            }
        }
    }
}
