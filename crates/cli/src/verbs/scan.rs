//! `skillsandbox scan`: is this skill malicious?

pub(super) mod output;
mod places;

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use skillsandbox_manifest::{FailOn, LoadError, Policy, ScanPolicy, SkillDoc};
use skillsandbox_scanner::{
    Calls, Date, Idle, Links, Report, Scanner, ScannerBuilder, Skill, Suppressions, Verdict, system_names,
};

use crate::output::{Answer, error, message, visible};
use crate::render;

/// Judge skills before they are installed or run
///
/// A path is a skill's folder, a file, or a tree of skills: every folder with a SKILL.md or a skillsandbox.yaml is one. Nothing
/// in them is executed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox scan skills/weather
  skillsandbox scan --format ndjson skills/ | jq 'select(.verdict == \"BLOCKED\") | .path'
  skillsandbox scan --fail-on warning skills/weather && echo installable
  skillsandbox scan --policy policy.yaml skills/
  skillsandbox scan --reports scan_reports skills/
  curl -s https://skills.example/weather/SKILL.md | skillsandbox scan --stdin

Exit codes: 0 below the threshold, 1 at or above it, 2 an error.")]
pub(crate) struct Scan {
    /// Skills, files, or trees of skills
    #[arg(required_unless_present = "stdin", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Read the text of one SKILL.md from standard input
    #[arg(long, conflicts_with = "paths")]
    stdin: bool,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// From which verdict on the exit code is 1; `blocked` where neither this nor a policy says so
    #[arg(long, value_name = "VERDICT")]
    fail_on: Option<Threshold>,

    /// Write a page for each skill into this folder: {skill}_{time}.md
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,

    /// A policy file, whose `scan` section holds settings and reviewed suppressions
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// A blocklist.md with domains that no skill may name
    #[arg(long, value_name = "FILE")]
    blocklist: Option<PathBuf>,

    /// A tree whose system skills' names others may not take: system/skills/**/*.manifest.md, system/agents/*.md
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,

    /// Where the skills come from, such as github:owner/repo
    #[arg(long, value_name = "SOURCE", default_value = "")]
    source: String,

    /// How many threads; as many as there are cores when left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One array
    Json,
    /// One object a line, one line a skill
    Ndjson,
    /// A page a skill
    Markdown,
    /// SARIF 2.1.0, for code hosts
    Sarif,
    /// `JUnit` XML, for pipelines
    Junit,
}

impl Format {
    /// Whether it can be printed skill by skill, so that nothing need be kept.
    fn streams(self) -> bool {
        matches!(self, Self::Text | Self::Ndjson | Self::Markdown)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Threshold {
    Warning,
    Blocked,
}

/// A skill's path, and what became of it.
type Scanned = (PathBuf, anyhow::Result<Report>);

/// Skills that are scanned before the next are begun; what is printed comes in this measure.
const CHUNK: usize = 256;
/// Most bytes that are read from standard input, as of any other file.
const MAX_STDIN: u64 = 8 << 20;
/// What stands for a path where the text came in by standard input.
const STDIN: &str = "stdin";

impl Scan {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let policy = match self.policy.as_ref().map(Policy::load).transpose() {
            Ok(policy) => policy.map(|policy| policy.scan().clone()).unwrap_or_default(),
            Err(invalid @ LoadError::Invalid { .. }) => {
                message(&render::load_error(&invalid));
                anyhow::bail!("the policy is not valid, so nothing was scanned");
            }
            Err(other) => return Err(other.into()),
        };
        let scanner = self.scanner(&policy)?;
        let mut outcome = Outcome::new(self.format, self.reports.clone(), &policy);
        if self.stdin {
            let skill = read_stdin()?.with_source(&self.source);
            let report =
                scanner.scan_all(std::slice::from_ref(&skill)).pop().context("nothing was scanned")?;
            outcome.take(vec![(PathBuf::from(STDIN), Ok(report))], &ProgressBar::hidden())?;
        } else {
            self.scan_paths(&scanner, &mut outcome)?;
        }
        let worst = outcome.finish()?;
        let limit = match self.threshold(&policy) {
            Threshold::Warning => Verdict::Warning,
            Threshold::Blocked => Verdict::Blocked,
        };
        Ok(if worst >= limit { Answer::No } else { Answer::Yes })
    }

    fn scan_paths(&self, scanner: &Scanner, outcome: &mut Outcome) -> anyhow::Result<()> {
        let mut found = Vec::new();
        for path in &self.paths {
            places::find(path, &mut found, 0).with_context(|| format!("cannot read {}", path.display()))?;
        }
        if let Some(policy) = &self.policy {
            outside(policy, &found)?;
        }
        let progress = progress(found.len());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        // Who calls whom must be known of all before the first is printed. It is little, and read a skill at a time; what cannot
        // be read is told below.
        let calls = |path: &PathBuf| {
            read(path).map_or_else(|_| Calls::default(), |skill| Calls::of(&skill, &path.to_string_lossy()))
        };
        let links = Links::new(&pool.install(|| found.par_iter().map(calls).collect::<Vec<_>>()));
        let scan = |(number, path): (usize, &PathBuf)| {
            let mut report = read(path).map(|skill| scanner.scan(&skill.with_source(&self.source)));
            if let Ok(report) = &mut report {
                links.apply(number, report);
            }
            progress.inc(1);
            (path.clone(), report)
        };
        for (number, chunk) in found.chunks(CHUNK).enumerate() {
            let numbered = chunk.par_iter().enumerate().map(|(at, path)| (number * CHUNK + at, path));
            let done: Vec<Scanned> = pool.install(|| numbered.map(scan).collect());
            outcome.take(done, &progress)?;
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// What the command line says wins over the policy.
    fn threshold(&self, policy: &ScanPolicy) -> Threshold {
        self.fail_on.unwrap_or(match policy.fail_on {
            Some(FailOn::Warning) => Threshold::Warning,
            Some(FailOn::Blocked) | None => Threshold::Blocked,
        })
    }

    fn scanner(&self, policy: &ScanPolicy) -> anyhow::Result<Scanner> {
        let mut builder: ScannerBuilder = Scanner::builder()
            .blocked_domains(&policy.blocklist)
            .trusted_sources(policy.trusted_sources.iter().cloned())
            .system_names(policy.system_names.iter().cloned());
        if let Some(file) = &self.blocklist {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            builder = builder.blocklist(&text);
        }
        if let Some(dir) = &self.system_dir {
            builder = builder.system_names(system_names(dir, &|_| false));
        }
        Ok(builder.build())
    }
}

/// What became of all the skills.
struct Outcome {
    format: Format,
    /// Where a page for each skill is written.
    reports: Option<PathBuf>,
    suppressions: Suppressions,
    today: Date,
    /// What is printed at the end.
    kept: Vec<Scanned>,
    worst: Verdict,
    seen: usize,
    unread: usize,
}

impl Outcome {
    fn new(format: Format, reports: Option<PathBuf>, policy: &ScanPolicy) -> Self {
        Self {
            format,
            reports,
            suppressions: Suppressions::new(policy.suppressions.iter().cloned()),
            today: Date::today(),
            kept: Vec::new(),
            worst: Verdict::Safe,
            seen: 0,
            unread: 0,
        }
    }

    /// Takes the next skills in, and prints them where that can be done already.
    fn take(&mut self, done: Vec<Scanned>, progress: &ProgressBar) -> anyhow::Result<()> {
        let mut stamped = Vec::with_capacity(done.len());
        for (path, report) in done {
            self.seen += 1;
            let report = report.map(|report| report.stamped(output::stamp()));
            stamped.push((path, report));
        }
        for (_, report) in &mut stamped {
            match report {
                Ok(report) => {
                    self.suppressions.apply(report, self.today);
                    self.worst = self.worst.max(report.verdict);
                    if let Some(dir) = &self.reports {
                        let failed = || format!("cannot write a page into {}", dir.display());
                        report.write_page(dir).with_context(failed)?;
                    }
                }
                Err(unread) => {
                    self.unread += 1;
                    progress.suspend(|| error(unread));
                }
            }
        }
        if self.format.streams() {
            progress.suspend(|| output::show(self.format, &stamped))
        } else {
            self.kept.extend(stamped);
            Ok(())
        }
    }

    /// Prints the rest; the worst verdict.
    fn finish(self) -> anyhow::Result<Verdict> {
        if !self.format.streams() {
            output::show(self.format, &self.kept)?;
        }
        for (entry, why) in self.suppressions.idle(self.today) {
            let why = match why {
                Idle::Expired => format!("expired on {}; not applied", entry.expires),
                _ => "matched no finding".to_owned(),
            };
            message(&format!(
                "the suppression of {} in line {} of the policy {why}",
                visible(&entry.rule),
                entry.line
            ));
        }
        anyhow::ensure!(self.unread == 0, "{} of {} could not be read", self.unread, self.seen);
        Ok(self.worst)
    }
}

/// What may stand is for others to say than the skill that is judged: a policy that lies in it is its own word.
fn outside(policy: &Path, skills: &[PathBuf]) -> anyhow::Result<()> {
    let policy = policy.canonicalize().with_context(|| format!("cannot read {}", policy.display()))?;
    for skill in skills {
        // A document stands for the folder it describes.
        let whole = if skill.ends_with("SKILL.md") { skill.parent().unwrap_or(skill) } else { skill };
        let whole = if whole.as_os_str().is_empty() { Path::new(".") } else { whole };
        let inside = whole.canonicalize().is_ok_and(|skill| policy.starts_with(skill));
        anyhow::ensure!(
            !inside,
            "the policy lies in the skill {} that it would judge; keep it outside of every skill",
            visible(&skill.display().to_string())
        );
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Skill> {
    Ok(if path.is_dir() { Skill::from_dir(path) } else { Skill::from_file(path) }?)
}

/// One SKILL.md, with the name that its front matter gives it.
fn read_stdin() -> anyhow::Result<Skill> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_STDIN + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    anyhow::ensure!(bytes.len() as u64 <= MAX_STDIN, "standard input holds more than {MAX_STDIN} bytes");
    anyhow::ensure!(
        !bytes.is_empty(),
        "there is nothing on standard input; pipe the text of a SKILL.md into it"
    );
    let front = SkillDoc::parse(&String::from_utf8_lossy(&bytes)).front_matter;
    let name = front.and_then(|front| front.name).map_or_else(|| STDIN.to_owned(), |name| name.value);
    Ok(Skill::from_skill_md(name, bytes))
}

fn progress(total: usize) -> ProgressBar {
    if total < 50 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} skills, {per_sec}") {
        bar.set_style(style);
    }
    bar
}
