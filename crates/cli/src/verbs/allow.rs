//! `skillsandbox allow`: a finding that somebody has looked at may stand.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use skillsandbox_manifest::{Date, Suppression};
use skillsandbox_run::{PolicyFile, UserPolicy};
use skillsandbox_scanner::{Finding, FindingStatus, RuleInfo, ScanReport, ScanTree};

use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};

/// Let a finding stand that you have looked at: for one file as it is, with a reason, for a time
///
/// `scan`, `install` and `run` print this command with each finding that stops something. It adds a suppression to your policy; the rest of
/// the file stays as it is. It holds while the file has the same bytes, and until its last day.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox allow CHECK-04/dns-exfil --skill skills/resolver --file tests/dns.py --reason \"the resolver's own tests\"
  skillsandbox allow CHECK-01/override --skill skills/lessons --reason 'a lesson about attacks' --days 30 --even-blocked
  skillsandbox allow --list
  skillsandbox allow --remove 2

Exit codes: 0 it is written, 1 there is no such finding, 2 an error.")]
pub(crate) struct AllowArgs {
    /// The rule, as the report has it: CHECK-04/dns-exfil
    #[arg(value_name = "RULE", required_unless_present_any = ["list", "remove"])]
    rule: Option<String>,

    /// The skill: its folder, or with --digest its name
    #[arg(long, value_name = "NAME-OR-PATH", required_unless_present_any = ["list", "remove"])]
    skill: Option<String>,

    /// The file of the skill that the finding is in; needed where the rule was met in several
    #[arg(long, value_name = "FILE")]
    file: Option<String>,

    /// The SHA-256 of the file, or without --file the digest of the skill, as a report has it; nothing is read then
    #[arg(long, value_name = "SHA256", requires = "skill")]
    digest: Option<String>,

    /// Why it may stand
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["list", "remove"])]
    reason: Option<String>,

    /// The last day on which it holds: 2027-01-31
    #[arg(long, value_name = "DATE", conflicts_with = "days")]
    expires: Option<String>,

    /// For how many days it holds
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DAYS, value_parser = clap::value_parser!(u32).range(1..=MAX_DAYS))]
    days: u32,

    /// Allow a finding that blocks, too
    #[arg(long)]
    even_blocked: bool,

    /// Show what is allowed
    #[arg(long, conflicts_with_all = ["rule", "remove", "skill"])]
    list: bool,

    /// Take back what is allowed, by its number in --list
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["rule", "skill"])]
    remove: Option<usize>,

    /// A policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

/// How long a finding may stand where nobody says so: a quarter.
const DEFAULT_DAYS: u32 = 90;
/// The longest: what was looked at ten years ago was not looked at.
const MAX_DAYS: i64 = 3650;

/// What is to be allowed.
struct AllowedFinding {
    skill: String,
    file: Option<String>,
    /// Of the file, or of the skill where there is none.
    digest: String,
    /// Whether it blocks, or may.
    blocks: bool,
}

impl AllowArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        if self.list {
            return self.show_list();
        }
        let file = PolicyFile::read(self.policy.as_deref())?;
        if let Some(number) = self.remove {
            return remove_entry(file, number);
        }
        let rule = self.rule.as_deref().unwrap_or_default();
        let Some(info) = RuleInfo::find(rule) else {
            let meant = RuleInfo::suggest(rule).filter(|meant| meant.contains('/'));
            let help = meant.map_or_else(
                || "copy `rule` from the report".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            anyhow::bail!("there is no rule `{rule}`; {help}");
        };
        anyhow::ensure!(info.can_be_allowed(), "{rule}: where nothing was judged there is nothing to allow");
        let found = match &self.digest {
            Some(digest) => self.take_named(digest, info),
            None => match self.look_up(rule)? {
                Ok(found) => found,
                Err(why) => {
                    return output::answer_no("NOTHING_TO_ALLOW", &visible(&why));
                }
            },
        };
        anyhow::ensure!(
            !found.blocks || self.even_blocked,
            "{rule} blocks, so that nobody allows it by accident: add --even-blocked after a review"
        );
        let entry = self.entry(rule, &found)?;
        // Twice the same is once; a later day is a new entry.
        let is_same = |known: &Suppression| known.expires >= entry.expires && known.covers_same(&entry);
        if let Some(known) = file.scan_policy()?.suppressions.iter().find(|known| is_same(known)) {
            return self.tell(file.path(), known);
        }
        let written = file.add_entry(&entry)?;
        self.tell(&written, &entry)
    }

    /// What the command line says, without a look at the skill.
    fn take_named(&self, digest: &str, info: &RuleInfo) -> AllowedFinding {
        AllowedFinding {
            skill: self.skill.clone().unwrap_or_default(),
            file: self.file.clone(),
            digest: digest.to_owned(),
            blocks: info.status == FindingStatus::Block,
        }
    }

    /// Scans the skill for the finding; why there is none.
    fn look_up(&self, rule: &str) -> anyhow::Result<Result<AllowedFinding, String>> {
        let named = self.skill.as_deref().unwrap_or_default();
        let path = find_skill(named)?;
        let tree = ScanTree::find([&path])?;
        let policy = UserPolicy::load(self.policy.as_deref().filter(|file| file.exists()), [&path])?;
        let scanner = policy.scanner_builder()?.build();
        let mut found: Vec<(ScanReport, String, FindingStatus)> = Vec::new();
        for number in 0..tree.subjects().len() {
            let report = scanner.scan(&tree.read(number)?);
            let is_meant = |finding: &&Finding| {
                finding.rule == rule
                    && finding.counts()
                    && self.file.as_ref().is_none_or(|file| *file == finding.file)
            };
            let mut files: Vec<(String, FindingStatus)> = Vec::new();
            for finding in report.findings.iter().filter(is_meant) {
                match files.iter_mut().find(|(file, _)| *file == finding.file) {
                    Some((_, status)) => *status = finding.status.max(*status),
                    None => files.push((finding.file.clone(), finding.status)),
                }
            }
            found.extend(files.into_iter().map(|(file, status)| (report.clone(), file, status)));
        }
        let place = self.file.as_ref().map_or_else(|| named.to_owned(), |file| format!("{file} of {named}"));
        let (report, file, status) = match found.len() {
            0 => return Ok(Err(format!("{rule} is not found in {place}, so there is nothing to allow"))),
            1 => found.remove(0),
            _ => {
                let places: Vec<String> =
                    found.iter().map(|(report, file, _)| format!("{file} of {}", report.skill)).collect();
                return Ok(Err(format!(
                    "{rule} is found in {}; name one with --skill and --file",
                    places.join(", ")
                )));
            }
        };
        let spans_files = RuleInfo::find(rule).is_some_and(RuleInfo::spans_files);
        let digest = report.file_digest(&file).filter(|_| !spans_files);
        let (file, digest) = match digest {
            Some(digest) => (Some(file), digest),
            None if report.unread.is_empty() => (None, report.digest.clone()),
            None => {
                return Ok(Err(format!("{rule} is about all of {named}, of which not everything was read")));
            }
        };
        Ok(Ok(AllowedFinding {
            skill: report.skill.clone(),
            file,
            digest,
            blocks: status == FindingStatus::Block,
        }))
    }

    fn entry(&self, rule: &str, found: &AllowedFinding) -> anyhow::Result<Suppression> {
        let today = Date::today();
        let expires = match &self.expires {
            Some(day) => day.parse::<Date>()?,
            None => today.after(self.days).context("no calendar has that day")?,
        };
        anyhow::ensure!(expires >= today, "{expires} is over, so it would allow nothing");
        let reason = self.reason.as_deref().unwrap_or_default();
        anyhow::ensure!(
            visible(reason) == reason,
            "the reason holds characters that cannot be seen, or several lines"
        );
        let entry = Suppression::new(rule, reason, expires)?.skill(&found.skill)?;
        Ok(match &found.file {
            Some(file) => entry.path(file)?.file_digest(&found.digest)?,
            None => entry.digest(&found.digest)?,
        })
    }

    fn tell(&self, written: &Path, entry: &Suppression) -> anyhow::Result<ExitAnswer> {
        if self.format == OutputFormat::Json {
            output::json(&json!({ "policy": written, "suppression": entry }))?;
            return Ok(ExitAnswer::Yes);
        }
        output::result(&format!(
            "allowed until {}: {}\nwritten to {}\n",
            entry.expires,
            one_line(entry),
            visible(&written.display().to_string())
        ))?;
        Ok(ExitAnswer::Yes)
    }

    fn show_list(&self) -> anyhow::Result<ExitAnswer> {
        let file = PolicyFile::read(self.policy.as_deref())?;
        let entries = file.scan_policy()?.suppressions;
        if self.format == OutputFormat::Json {
            output::json(&json!({ "policy": file.path(), "suppressions": entries }))?;
            return Ok(ExitAnswer::Yes);
        }
        let mut text = String::new();
        for (number, entry) in entries.iter().enumerate() {
            let expired = if entry.expires < Date::today() { "expired on" } else { "until" };
            let _ = writeln!(
                text,
                "{:>3}  {expired} {}  {}\n     {}",
                number + 1,
                entry.expires,
                one_line(entry),
                visible(&entry.reason)
            );
        }
        if entries.is_empty() {
            let _ = writeln!(text, "nothing is allowed in {}", visible(&file.path().display().to_string()));
        }
        output::result(&text)?;
        Ok(ExitAnswer::Yes)
    }
}

/// Takes an entry out, by its number from 1.
fn remove_entry(file: PolicyFile, number: usize) -> anyhow::Result<ExitAnswer> {
    let entries = file.scan_policy()?.suppressions;
    let at = number.checked_sub(1).filter(|at| *at < entries.len());
    let at =
        at.with_context(|| format!("there is no number {number}; `skillsandbox allow --list` shows them"))?;
    let written = file.remove_entry(at)?;
    let gone = entries.get(at).map(one_line).unwrap_or_default();
    output::result(&format!(
        "no longer allowed: {gone}\nwritten to {}\n",
        visible(&written.display().to_string())
    ))?;
    Ok(ExitAnswer::Yes)
}

/// What an entry allows, and where.
fn one_line(entry: &Suppression) -> String {
    let file = entry.path.as_ref().map(|path| format!(" in {}", visible(path))).unwrap_or_default();
    let skill = entry.skill.as_ref().map(|skill| format!(" of {}", visible(skill))).unwrap_or_default();
    let digest = entry.file_digest.as_ref().or(entry.digest.as_ref());
    let pinned =
        digest.and_then(|digest| digest.get(..12)).map(|digest| format!(" ({digest}…)")).unwrap_or_default();
    format!("{}{file}{skill}{pinned}", visible(&entry.rule))
}

/// The folder or file of a skill: a path, or the name of an installed one.
fn find_skill(named: &str) -> anyhow::Result<PathBuf> {
    let path = Path::new(named);
    if path.exists() {
        return Ok(path.to_owned());
    }
    #[cfg(target_os = "linux")]
    if let Some(layout) = skillsandbox_store::StoreLayout::user() {
        let lock = skillsandbox_store::Store::new(layout.clone()).list()?;
        if let Some(entry) = lock.get(named) {
            return Ok(entry.path(&layout));
        }
    }
    anyhow::bail!(
        "{named} is neither a path nor an installed skill; name its folder, or add --digest from the report"
    )
}
