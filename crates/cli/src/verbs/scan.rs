//! `skillsandbox scan`: is this skill malicious?

use std::fmt::Write as _;
use std::fs;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde_json::{Value, json};
use skillsandbox_scanner::{Report, ScanStamp, Scanner, Skill, Status, Verdict, to_junit, to_sarif};

use crate::output::{self, Answer, visible};

/// Judge skills before they are installed or run
///
/// A path is a skill's folder, a file, or a tree of skills: every folder with a SKILL.md or a skillsandbox.yaml is one. Nothing
/// in them is executed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox scan skills/weather
  skillsandbox scan --format ndjson skills/ | jq 'select(.verdict == \"BLOCKED\") | .path'
  skillsandbox scan --fail-on warning skills/weather && echo installable

Exit codes: 0 below the threshold, 1 at or above it, 2 an error.")]
pub(crate) struct Scan {
    /// Skills, files, or trees of skills
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// From which verdict on the exit code is 1
    #[arg(long, value_name = "VERDICT", default_value = "blocked")]
    fail_on: Threshold,

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Threshold {
    Warning,
    Blocked,
}

/// A skill's path, and what became of it.
type Scanned = (PathBuf, anyhow::Result<Report>);

/// Skills that are scanned before the next are begun; what is printed comes in this measure.
const CHUNK: usize = 256;

impl Scan {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let scanner = self.scanner()?;
        let mut places = Vec::new();
        for path in &self.paths {
            find(path, &mut places, 0).with_context(|| format!("cannot read {}", path.display()))?;
        }
        let progress = Self::progress(places.len());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.jobs).build()?;
        let scan = |path: &PathBuf| {
            let skill = if path.is_dir() { Skill::from_dir(path) } else { Skill::from_file(path) };
            let report = skill.map(|skill| scanner.scan(&skill.with_source(&self.source)));
            progress.inc(1);
            (path.clone(), report.map_err(anyhow::Error::from))
        };
        // What is printed skill by skill need not be kept.
        let streams = matches!(self.format, Format::Text | Format::Ndjson | Format::Markdown);
        let mut kept: Vec<Scanned> = Vec::new();
        let mut worst = Verdict::Safe;
        let mut unread = 0;
        for chunk in places.chunks(CHUNK) {
            let done: Vec<Scanned> = pool.install(|| chunk.par_iter().map(scan).collect());
            for (_, report) in &done {
                match report {
                    Ok(report) => worst = worst.max(report.verdict),
                    Err(error) => {
                        unread += 1;
                        progress.suspend(|| output::error(error));
                    }
                }
            }
            if streams {
                progress.suspend(|| self.show(&done))?;
            } else {
                kept.extend(done);
            }
        }
        progress.finish_and_clear();
        if !streams {
            self.show(&kept)?;
        }
        anyhow::ensure!(unread == 0, "{unread} of {} could not be read", places.len());
        let limit = match self.fail_on {
            Threshold::Warning => Verdict::Warning,
            Threshold::Blocked => Verdict::Blocked,
        };
        Ok(if worst >= limit { Answer::No } else { Answer::Yes })
    }

    fn scanner(&self) -> anyhow::Result<Scanner> {
        let mut builder = Scanner::builder();
        if let Some(file) = &self.blocklist {
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            builder = builder.blocklist(&text);
        }
        if let Some(dir) = &self.system_dir {
            let mut names = Vec::new();
            system_names(&dir.join("system/skills"), ".manifest.md", &mut names, 0);
            system_names(&dir.join("system/agents"), ".md", &mut names, 0);
            builder = builder.system_names(names);
        }
        Ok(builder.build())
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

    fn show(&self, reports: &[Scanned]) -> anyhow::Result<()> {
        let done = || reports.iter().filter_map(|(path, report)| Some((path, report.as_ref().ok()?)));
        match self.format {
            Format::Text => {
                let text: String = done().map(|(path, report)| as_text(path, report)).collect();
                output::result(&text)
            }
            Format::Json => {
                output::json(&Value::Array(done().map(|(path, report)| as_json(path, report)).collect()))
            }
            Format::Markdown => {
                let pages = done().map(|(_, report)| report.to_markdown(&stamp()));
                output::result(&pages.collect::<Vec<_>>().join("\n"))
            }
            Format::Sarif => {
                let named: Vec<_> =
                    done().map(|(path, report)| (path.display().to_string(), report)).collect();
                output::json(&to_sarif(named.iter().map(|(path, report)| (path.as_str(), *report))))
            }
            Format::Junit => {
                let named: Vec<_> =
                    done().map(|(path, report)| (path.display().to_string(), report)).collect();
                output::result(&to_junit(named.iter().map(|(path, report)| (path.as_str(), *report))))
            }
            Format::Ndjson => {
                let mut text = String::new();
                for (path, report) in done() {
                    text.push_str(&output::escaped(&as_json(path, report).to_string()));
                    text.push('\n');
                }
                output::result(&text)
            }
        }
    }
}

/// A name and a time for a report that is printed.
fn stamp() -> ScanStamp {
    ScanStamp {
        scan_id: uuid::Uuid::new_v4().to_string(),
        scanned_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

/// Skills at or below a path.
fn find(path: &Path, found: &mut Vec<PathBuf>, depth: usize) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let is_skill = ["SKILL.md", "skillsandbox.yaml"].iter().any(|name| path.join(name).is_file());
    let mut below = Vec::new();
    if depth < 16 {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
                below.push(entry.path());
            }
        }
    }
    below.sort();
    let before = found.len();
    if is_skill {
        found.push(path.to_owned());
    }
    for dir in below {
        find(&dir, found, depth + 1)?;
    }
    // A folder that was named is scanned, whatever it holds.
    if depth == 0 && found.len() == before {
        found.push(path.to_owned());
    }
    Ok(())
}

fn system_names(dir: &Path, ending: &str, names: &mut Vec<String>, depth: usize) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && depth < 8 {
            system_names(&entry.path(), ending, names, depth + 1);
        } else if let Some(stem) = name.strip_suffix(ending) {
            names.push(stem.to_owned());
        }
    }
}

fn as_json(path: &Path, report: &Report) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_else(|_| json!({}));
    if let Some(object) = value.as_object_mut() {
        object.insert("path".to_owned(), json!(path.display().to_string()));
    }
    value
}

const RESET: &str = "\u{1b}[0m";

fn colour(status: Status) -> &'static str {
    match status {
        Status::Pass => "\u{1b}[32m",
        Status::Warn => "\u{1b}[33m",
        Status::Block => "\u{1b}[1;31m",
    }
}

fn as_text(path: &Path, report: &Report) -> String {
    let status = match report.verdict {
        Verdict::Safe => Status::Pass,
        Verdict::Warning => Status::Warn,
        Verdict::Blocked => Status::Block,
    };
    let mut out = format!(
        "{}{}{RESET}  {}  ({})\n",
        colour(status),
        report.verdict.as_str(),
        visible(&report.skill),
        visible(&path.display().to_string())
    );
    for finding in &report.findings {
        let place = if finding.line > 0 {
            format!("{}:{}", visible(&finding.file), finding.line)
        } else {
            visible(&finding.file)
        };
        let _ = write!(
            out,
            "  {}{:<5}{RESET} {}  {place}\n        {}\n",
            colour(finding.status),
            format!("{:?}", finding.status).to_uppercase(),
            finding.rule,
            visible(&finding.why)
        );
        if !finding.snippet.is_empty() {
            let _ = writeln!(out, "        > {}", visible(&finding.snippet));
        }
        if !finding.mitigations.is_empty() {
            let _ = writeln!(out, "        milder, because it is {}", finding.mitigations.join(", "));
        }
    }
    for unread in &report.unread {
        let _ = writeln!(out, "  not scanned: {} ({})", visible(&unread.path), visible(&unread.reason));
    }
    out
}
