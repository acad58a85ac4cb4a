//! `skillsandbox scan`: is this skill malicious?

mod capabilities;
pub(super) mod output;

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
    IdleReason, ReadError, ScanReport, ScanTree, ScanVerdict, Scanner, SkillCalls, SkillFiles, SkillLinks,
    TreeSubject, system_names,
};

use super::judging::{JudgeArgs, OpenJudge, PreparedQuestion, Sending};
use super::policy::PolicyArgs;
use crate::output::{ExitAnswer, error, message, visible};

/// Judge skills before they are installed or run
///
/// A path is a skill's folder, a file, a plugin, or a tree of skills: every folder with a SKILL.md or a skillsandbox.yaml is one. What agents
/// obey outside of skills (commands, agents, hooks, settings, servers, instructions) is judged with the plugin or the tree, and
/// what is judged by nobody is listed. Nothing in them is executed. Your policy applies as it does to `run` and `install`: its `scan` section has settings, reviewed
/// suppressions, and from which verdict on a skill is refused. Nothing is sent anywhere, unless --judge or the policy's `scan.judge` asks for a
/// second opinion.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox scan skills/weather
  skillsandbox scan --format ndjson skills/ | jq 'select(.verdict == \"BLOCKED\") | .path'
  skillsandbox scan --fail-on warning skills/weather && echo installable
  skillsandbox scan --policy policy.yaml skills/
  skillsandbox scan --reports scan_reports skills/
  skillsandbox scan --capabilities skills/weather      # what its code can do, beside what it says
  skillsandbox scan skills/weather --judge --judge-model llama3.1        # a second opinion, from a model on this machine
  skillsandbox scan skills/weather --judge --judge-model llama3.1 --show-prompt
  curl -s https://skills.example/weather/SKILL.md | skillsandbox scan --stdin

Exit codes: 0 below the threshold, 1 at or above it, 2 an error, or nothing to judge. A second opinion that was asked for and not had is a WARNING.")]
pub(crate) struct ScanArgs {
    /// Skills, files, plugins, or trees of skills
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

    /// Show what the code of each skill can do, where, and whether the skill says so; other formats have it always
    #[arg(long)]
    capabilities: bool,

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

    /// Print what --judge would send, skill by skill as JSON, and send nothing
    #[arg(long, help_heading = "Second opinion")]
    show_prompt: bool,

    #[command(flatten)]
    judge: JudgeArgs,

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
/// The same where a judge is asked about each: its questions are kept until they are asked, and people wait for the first.
const JUDGED_CHUNK: usize = 8;
/// Most findings of all reports together that are kept until who calls whom is known, a report counting for one more: about 30 MB.
const MAX_KEPT: usize = 40_000;
/// Most bytes that are read from standard input, as of any other file.
const MAX_STDIN: u64 = 8 << 20;
/// What stands for a path where the text came in by standard input.
const STDIN: &str = "stdin";

impl ScanArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let unread = |error: ReadError| anyhow::anyhow!("cannot read {error}");
        let tree = ScanTree::find(&self.paths).map_err(unread)?;
        let policy = self.policy.load(judged_paths(&tree))?;
        let scanner = self.scanner(&policy)?;
        let sending = if self.show_prompt { Sending::OnlyShown } else { Sending::Asked };
        let judge = self.judge.open(&policy, sending)?;
        if let Some(judge) = judge.as_ref().filter(|_| self.show_prompt) {
            return self.show_prompts(judge, &tree);
        }
        let refused_from = self.refused_from(&policy);
        let view = ReportView { policy: &policy, refused_from, capabilities: self.capabilities };
        let mut outcome = ScanRun::new(self.format, self.reports.clone(), view);
        if self.stdin {
            let skill = read_stdin()?.with_source(&self.source);
            let mut report =
                scanner.scan_all(std::slice::from_ref(&skill)).pop().context("nothing was scanned")?;
            if let Some(judge) = &judge {
                let question = judge.prepare(&skill, &report.digest);
                judge.add_opinions(&scanner, vec![(&mut report, question)], &ProgressBar::hidden());
            }
            outcome.take(vec![(PathBuf::from(STDIN), Ok(report))], &ProgressBar::hidden())?;
        } else {
            self.scan_tree(&scanner, judge.as_ref(), &tree, &mut outcome)?;
        }
        let worst = outcome.finish(&scanner)?;
        Ok(if worst >= refused_from { ExitAnswer::No } else { ExitAnswer::Yes })
    }

    fn scan_tree(
        &self,
        scanner: &Scanner,
        judge: Option<&OpenJudge>,
        tree: &ScanTree,
        outcome: &mut ScanRun<'_>,
    ) -> anyhow::Result<()> {
        let subjects = tree.subjects();
        let progress = progress(subjects.len(), judge.is_some());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads(self.jobs)).build()?;
        // Who calls whom must be known of all before the first is printed. Until then reports are kept, up to a bound; what is beyond that is
        // read and scanned again. What cannot be read is told below.
        let kept_findings = AtomicUsize::new(0);
        let scan = |number: usize, subject: &TreeSubject| {
            let skill = tree.read(number)?.with_source(&self.source);
            let calls = SkillCalls::find(&skill, &subject.path.to_string_lossy());
            let mut report = scanner.scan(&skill);
            report.outside = subject.outside().cloned();
            anyhow::Ok((calls, report, skill))
        };
        let first = |(number, subject): (usize, &TreeSubject)| {
            let (calls, report) = match scan(number, subject) {
                Ok((calls, report, _)) => (calls, Ok(report)),
                Err(error) => (SkillCalls::default(), Err(error)),
            };
            if judge.is_none() {
                progress.inc(1);
            }
            let size = 1 + report.as_ref().map_or(0, |report| report.findings.len());
            let is_kept = kept_findings.fetch_add(size, Ordering::Relaxed) + size <= MAX_KEPT;
            // A judge is asked about the very bytes that were scanned, and those are too much to be kept.
            (calls, (is_kept && judge.is_none()).then_some(report))
        };
        let (calls, mut kept): (Vec<_>, Vec<_>) =
            pool.install(|| subjects.par_iter().enumerate().map(first).unzip());
        let links = SkillLinks::new(&calls);
        drop(calls);
        let finish = |number: usize, subject: &TreeSubject, kept: &mut Option<anyhow::Result<ScanReport>>| {
            let scanned_skill = match kept.take() {
                Some(report) => report.map(|report| (report, None)),
                None => scan(number, subject).map(|(_, report, skill)| {
                    let question = judge.map(|judge| judge.prepare(&skill, &report.digest));
                    (report, question)
                }),
            };
            let linked = scanned_skill.map(|(mut report, question)| {
                scanner.add_links(&links, number, &mut report);
                (report, question)
            });
            (subject.path.clone(), linked)
        };
        let size = if judge.is_some() { JUDGED_CHUNK } else { CHUNK };
        for (number, (chunk, kept)) in subjects.chunks(size).zip(kept.chunks_mut(size)).enumerate() {
            let numbered = chunk.par_iter().zip(kept).enumerate();
            let numbered = numbered.map(|(at, (subject, kept))| finish(number * size + at, subject, kept));
            let unjudged: Vec<UnjudgedSkill> = pool.install(|| numbered.collect());
            let judged = add_opinions(scanner, judge, unjudged, &progress);
            pool.install(|| outcome.take(judged, &progress))?;
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// Prints what would be sent. Nothing is scanned, since nothing is judged.
    fn show_prompts(&self, judge: &OpenJudge, tree: &ScanTree) -> anyhow::Result<ExitAnswer> {
        if self.stdin {
            judge.show_question(Path::new(STDIN), &read_stdin()?)?;
        }
        for (number, subject) in tree.subjects().iter().enumerate() {
            judge.show_question(&subject.path, &tree.read(number)?)?;
        }
        Ok(ExitAnswer::Yes)
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
        if self.capabilities {
            builder = builder.list_capabilities();
        }
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

/// A skill that was scanned, with the question about it where one is to be asked.
type UnjudgedSkill = (PathBuf, anyhow::Result<(ScanReport, Option<PreparedQuestion>)>);

/// The reports with what the judge said, where there is one.
fn add_opinions(
    scanner: &Scanner,
    judge: Option<&OpenJudge>,
    unjudged: Vec<UnjudgedSkill>,
    progress: &ProgressBar,
) -> Vec<ScannedSkill> {
    let (mut done, mut questions) = (Vec::with_capacity(unjudged.len()), Vec::new());
    for (path, result) in unjudged {
        let report = result.map(|(report, question)| {
            questions.extend(question);
            report
        });
        done.push((path, report));
    }
    if let Some(judge) = judge {
        let reports = done.iter_mut().filter_map(|(_, report)| report.as_mut().ok());
        judge.add_opinions(scanner, reports.zip(questions).collect(), progress);
    }
    done
}

/// What a policy must not be part of: skills, and the files of plugins and trees.
fn judged_paths(tree: &ScanTree) -> Vec<PathBuf> {
    let paths = |subject: &TreeSubject| match subject.listed_files() {
        Some(files) => files.collect(),
        None => vec![subject.path.clone()],
    };
    tree.subjects().iter().flat_map(paths).collect()
}

/// What of a report a person is shown besides its findings.
#[derive(Clone, Copy)]
pub(super) struct ReportView<'v> {
    /// The policy that a finding can be allowed in.
    pub(super) policy: &'v UserPolicy,
    /// From which verdict on something is stopped: findings that do are shown with the command that allows them.
    pub(super) refused_from: ScanVerdict,
    /// Whether what the code can do is shown.
    pub(super) capabilities: bool,
}

/// What became of all the skills.
struct ScanRun<'v> {
    format: ReportFormat,
    view: ReportView<'v>,
    /// Where a page for each skill is written.
    reports: Option<PathBuf>,
    /// What is printed at the end.
    kept: Vec<ScannedSkill>,
    worst: ScanVerdict,
    seen: usize,
    unread: usize,
    /// Those in which there was nothing to judge.
    nothing: Vec<PathBuf>,
}

impl<'v> ScanRun<'v> {
    fn new(format: ReportFormat, reports: Option<PathBuf>, view: ReportView<'v>) -> Self {
        let worst = ScanVerdict::Safe;
        Self { format, view, reports, kept: Vec::new(), worst, seen: 0, unread: 0, nothing: Vec::new() }
    }

    /// Takes the next skills in, and prints them where that can be done already.
    fn take(&mut self, done: Vec<ScannedSkill>, progress: &ProgressBar) -> anyhow::Result<()> {
        let mut stamped = Vec::with_capacity(done.len());
        for (path, report) in done {
            self.seen += 1;
            let report = report.map(|report| report.stamped(output::stamp()));
            stamped.push((path, report));
        }
        for (path, report) in &mut stamped {
            match report {
                Ok(report) => {
                    if report.has_nothing_to_judge() {
                        self.nothing.push(path.clone());
                    }
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
            progress.suspend(|| output::show(self.format, &stamped, self.view))
        } else {
            self.kept.extend(stamped);
            Ok(())
        }
    }

    /// Prints the rest; the worst verdict.
    fn finish(self, scanner: &Scanner) -> anyhow::Result<ScanVerdict> {
        if !self.format.streams() {
            output::show(self.format, &self.kept, self.view)?;
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
        if let Some(first) = self.nothing.first() {
            let others = match self.nothing.len() {
                1 => String::new(),
                several => format!(" and {} more", several - 1),
            };
            anyhow::bail!("nothing to judge: {}{others}", first.display());
        }
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

/// A bar for people, where it takes long enough to look at.
fn progress(total: usize, is_judged: bool) -> ProgressBar {
    if (total < 50 && !is_judged) || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} skills, {per_sec}") {
        bar.set_style(style);
    }
    bar
}
