//! `skillsandbox scan`: is this skill malicious?

pub(super) mod output;
mod skill_folders;

use std::collections::HashSet;
use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use skillsandbox_manifest::SkillDoc;
use skillsandbox_run::UserPolicy;
use skillsandbox_scanner::{
    IdleReason, ScanReport, ScanVerdict, Scanner, SkillCalls, SkillFiles, SkillLinks, system_names,
};

use super::policy::PolicyArgs;
use crate::output::{ExitAnswer, error, message, visible};

/// Judge skills before they are installed or run
///
/// A path is a skill's folder, a file, or a tree of skills: every folder with a SKILL.md or a skillsandbox.yaml is one. Nothing
/// in them is executed. Your policy applies as it does to `run` and `install`: its `scan` section has settings, reviewed
/// suppressions, and from which verdict on a skill is refused.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox scan skills/weather
  skillsandbox scan --format ndjson skills/ | jq 'select(.verdict == \"BLOCKED\") | .path'
  skillsandbox scan --fail-on warning skills/weather && echo installable
  skillsandbox scan --policy policy.yaml skills/
  skillsandbox scan --reports scan_reports skills/
  curl -s https://skills.example/weather/SKILL.md | skillsandbox scan --stdin

Exit codes: 0 below the threshold, 1 at or above it, 2 an error.")]
pub(crate) struct ScanArgs {
    /// Skills, files, or trees of skills
    #[arg(required_unless_present = "stdin", value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Read the text of one SKILL.md from standard input
    #[arg(long, conflicts_with = "paths")]
    stdin: bool,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ReportFormat,

    /// From which verdict on the exit code is 1; `blocked` where neither this nor a policy says so
    #[arg(long, value_name = "VERDICT")]
    fail_on: Option<FailThreshold>,

    /// Write a page for each skill into this folder: {skill}_{time}.md
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,

    #[command(flatten)]
    policy: PolicyArgs,

    /// A blocklist.md with domains that no skill may name
    #[arg(long, value_name = "FILE")]
    blocklist: Option<PathBuf>,

    /// A tree whose system skills' names others may not take: system/skills/**/*.manifest.md, system/agents/*.md
    #[arg(long, value_name = "DIR")]
    system_dir: Option<PathBuf>,

    /// Where the skills come from, such as github:owner/repo
    #[arg(long, value_name = "SOURCE", default_value = "")]
    source: String,

    /// How many threads, at most four for each core; as many as there are cores when left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    jobs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
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

impl ReportFormat {
    /// Whether it can be printed skill by skill, so that nothing need be kept.
    fn streams(self) -> bool {
        matches!(self, Self::Text | Self::Ndjson | Self::Markdown)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailThreshold {
    Warning,
    Blocked,
}

/// A skill's path, and what became of it.
type ScannedSkill = (PathBuf, anyhow::Result<ScanReport>);

/// Skills that are scanned before the next are begun; what is printed comes in this measure.
const CHUNK: usize = 256;
/// Most findings of all reports together that are kept until who calls whom is known, a report counting for one more: about 30 MB.
const MAX_KEPT: usize = 40_000;
/// Most bytes that are read from standard input, as of any other file.
const MAX_STDIN: u64 = 8 << 20;
/// What stands for a path where the text came in by standard input.
const STDIN: &str = "stdin";

impl ScanArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut found = Vec::new();
        for path in &self.paths {
            skill_folders::find(path, &mut found)
                .with_context(|| format!("cannot read {}", path.display()))?;
        }
        let policy = self.policy.load(&found)?;
        let scanner = self.scanner(&policy)?;
        let mut outcome = ScanRun::new(self.format, self.reports.clone());
        if self.stdin {
            let skill = read_stdin()?.with_source(&self.source);
            let report =
                scanner.scan_all(std::slice::from_ref(&skill)).pop().context("nothing was scanned")?;
            outcome.take(vec![(PathBuf::from(STDIN), Ok(report))], &ProgressBar::hidden())?;
        } else {
            self.scan_paths(&scanner, &found, &mut outcome)?;
        }
        let worst = outcome.finish(&scanner)?;
        Ok(if worst >= self.refused_from(&policy) { ExitAnswer::No } else { ExitAnswer::Yes })
    }

    fn scan_paths(&self, scanner: &Scanner, found: &[PathBuf], outcome: &mut ScanRun) -> anyhow::Result<()> {
        let progress = progress(found.len());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads(self.jobs)).build()?;
        // Who calls whom must be known of all before the first is printed. Until then reports are kept, up to a bound; what is beyond that is
        // read and scanned again. What cannot be read is told below.
        let apart: HashSet<&Path> = found.iter().map(PathBuf::as_path).collect();
        let kept_findings = AtomicUsize::new(0);
        let scan = |path: &PathBuf| {
            read(path, &apart).map(|skill| {
                let skill = skill.with_source(&self.source);
                (SkillCalls::find(&skill, &path.to_string_lossy()), scanner.scan(&skill))
            })
        };
        let first = |path: &PathBuf| {
            let (calls, report) = match scan(path) {
                Ok((calls, report)) => (calls, Ok(report)),
                Err(error) => (SkillCalls::default(), Err(error)),
            };
            progress.inc(1);
            let size = 1 + report.as_ref().map_or(0, |report| report.findings.len());
            let is_kept = kept_findings.fetch_add(size, Ordering::Relaxed) + size <= MAX_KEPT;
            (calls, is_kept.then_some(report))
        };
        let (calls, mut kept): (Vec<_>, Vec<_>) = pool.install(|| found.par_iter().map(first).unzip());
        let links = SkillLinks::new(&calls);
        drop(calls);
        let finish = |(number, (path, kept)): (usize, (&PathBuf, &mut Option<_>))| {
            let mut report = kept.take().unwrap_or_else(|| scan(path).map(|(_, report)| report));
            if let Ok(report) = &mut report {
                scanner.add_links(&links, number, report);
            }
            (path.clone(), report)
        };
        for (number, (paths, kept)) in found.chunks(CHUNK).zip(kept.chunks_mut(CHUNK)).enumerate() {
            let numbered = paths.par_iter().zip(kept).enumerate();
            let numbered = numbered.map(|(at, skill)| finish((number * CHUNK + at, skill)));
            let done: Vec<ScannedSkill> = pool.install(|| numbered.collect());
            pool.install(|| outcome.take(done, &progress))?;
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// From which verdict on the answer is no. What the command line says wins over the policy.
    fn refused_from(&self, policy: &UserPolicy) -> ScanVerdict {
        match self.fail_on {
            Some(FailThreshold::Warning) => ScanVerdict::Warning,
            Some(FailThreshold::Blocked) => ScanVerdict::Blocked,
            None => policy.refused_from(),
        }
    }

    fn scanner(&self, policy: &UserPolicy) -> anyhow::Result<Scanner> {
        let mut builder = policy.scanner_builder()?;
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
struct ScanRun {
    format: ReportFormat,
    /// Where a page for each skill is written.
    reports: Option<PathBuf>,
    /// What is printed at the end.
    kept: Vec<ScannedSkill>,
    worst: ScanVerdict,
    seen: usize,
    unread: usize,
}

impl ScanRun {
    fn new(format: ReportFormat, reports: Option<PathBuf>) -> Self {
        Self { format, reports, kept: Vec::new(), worst: ScanVerdict::Safe, seen: 0, unread: 0 }
    }

    /// Takes the next skills in, and prints them where that can be done already.
    fn take(&mut self, done: Vec<ScannedSkill>, progress: &ProgressBar) -> anyhow::Result<()> {
        let mut stamped = Vec::with_capacity(done.len());
        for (path, report) in done {
            self.seen += 1;
            let report = report.map(|report| report.stamped(output::stamp()));
            stamped.push((path, report));
        }
        for (_, report) in &mut stamped {
            match report {
                Ok(report) => {
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
    fn finish(self, scanner: &Scanner) -> anyhow::Result<ScanVerdict> {
        if !self.format.streams() {
            output::show(self.format, &self.kept)?;
        }
        for (entry, why) in scanner.idle_suppressions() {
            let why = match why {
                IdleReason::Expired => format!("expired on {}; not applied", entry.expires),
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

/// Most threads for each core: a few wait for the disk, more are only in each other's way.
const THREADS_PER_CORE: usize = 4;

/// How many threads; 0 is as many as there are cores.
fn threads(asked: usize) -> usize {
    let most = std::thread::available_parallelism().map_or(1, usize::from) * THREADS_PER_CORE;
    if asked > most {
        message(&format!("--jobs {asked} is more than this machine has use for; taken as {most}"));
    }
    asked.min(most)
}

/// A skill without those below it that are scanned by themselves.
fn read(path: &Path, apart: &HashSet<&Path>) -> anyhow::Result<SkillFiles> {
    Ok(if path.is_dir() {
        SkillFiles::from_dir_without(path, |below| apart.contains(below))
    } else {
        SkillFiles::from_file(path)
    }?)
}

/// One SKILL.md, with the name that its front matter gives it.
fn read_stdin() -> anyhow::Result<SkillFiles> {
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
    Ok(SkillFiles::from_skill_md(name, bytes))
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
