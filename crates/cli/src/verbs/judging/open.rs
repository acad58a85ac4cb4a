//! With the feature `judge`.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::path::Path;

use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::json;
use skillsandbox_judge::{DEFAULT_URL, Judge, JudgeRequest, JudgeSettings, JudgeUrl};
use skillsandbox_manifest::{JudgePolicy, user_folders};
use skillsandbox_scanner::{JudgeOpinion, ScanReport, Scanner, SkillFiles, SkillJudge};
use skillsandbox_text::{Secret, is_secret_name};

use super::{JudgeArgs, JudgePlace, Sending};
use crate::output::{self, message, visible};

/// Longest file of a key.
const MAX_KEY_FILE: u64 = 4096;

/// A judge that can be asked.
pub(in crate::verbs) struct OpenJudge {
    judge: Judge,
    /// Where the key comes from, for `--show-prompt`.
    key_from: Option<String>,
}

/// A question that is ready to be asked.
pub(in crate::verbs) type PreparedQuestion = JudgeRequest;

impl OpenJudge {
    /// The command line wins over the policy. A key of the policy goes to the policy's own address only.
    pub(super) fn open(
        args: &JudgeArgs,
        policy: Option<&JudgePolicy>,
        sending: Sending,
    ) -> anyhow::Result<Self> {
        let usual = policy.cloned().unwrap_or_default();
        let usual_text = usual.url.as_deref().unwrap_or(DEFAULT_URL);
        let usual_url = parse_url(usual_text, args.dangerously_plain_judge || usual.dangerously_plain_http);
        let (url, is_usual) = match &args.judge {
            Some(JudgePlace::At(text)) => {
                let url = parse_url(text, args.dangerously_plain_judge)?;
                let is_usual = usual_url.is_ok_and(|usual| usual.is_same_origin(&url));
                (url, is_usual)
            }
            Some(JudgePlace::Usual) | None => (usual_url?, true),
        };
        let model = args.judge_model.clone().or(usual.model).context(
            "the judge's model is not named: add --judge-model NAME, or `scan.judge.model` to your policy",
        )?;
        let key_env = args.judge_key_env.clone().or_else(|| usual.key_env.filter(|_| is_usual));
        let mut settings = JudgeSettings::new(url, model).secrets(environment_secrets());
        let mut key_from = None;
        if let Some(file) = &args.judge_key_file {
            key_from = Some(format!("file {}", file.display()));
            if sending == Sending::Asked {
                settings = settings.key(read_key_file(file)?);
            }
        } else if let Some(name) = key_env {
            if sending == Sending::Asked {
                let key = std::env::var(&name).ok().filter(|key| !key.is_empty()).map(Secret::from);
                settings = settings.key(key.with_context(|| {
                    format!("the variable {} that should hold the judge's key is not set", visible(&name))
                })?);
            }
            key_from = Some(format!("variable {name}"));
        }
        if let Some(most) = usual.max_bytes {
            settings = settings.max_bytes(usize::try_from(most)?);
        }
        if let Some(timeout) = usual.timeout {
            settings = settings.timeout(timeout);
        }
        if usual.may_block {
            settings = settings.may_block();
        }
        if let Some(folder) = user_folders::judge_answers() {
            settings = settings.answers(folder);
        }
        Ok(Self { judge: Judge::new(settings)?, key_from })
    }

    /// The question about a skill, made while its files are at hand.
    pub(in crate::verbs) fn prepare(&self, skill: &SkillFiles, digest: &str) -> PreparedQuestion {
        self.judge.prepare(skill, digest)
    }

    /// Asks about several skills, and adds what is said to their reports.
    pub(in crate::verbs) fn add_opinions(
        &self,
        scanner: &Scanner,
        asked: Vec<(&mut ScanReport, PreparedQuestion)>,
        progress: &ProgressBar,
    ) {
        let (reports, questions): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let opinions = self.judge.ask_all(&questions, &|| progress.inc(1));
        for (report, opinion) in reports.into_iter().zip(opinions) {
            scanner.add_opinion(opinion, report);
        }
    }

    /// Prints what would be sent about a skill.
    pub(in crate::verbs) fn show_question(&self, path: &Path, skill: &SkillFiles) -> anyhow::Result<()> {
        let question = self.judge.prepare(skill, &skill.digest_without(&[]));
        output::json(&json!({
            "path": path.display().to_string(),
            "url": self.judge.url(),
            "key": self.key_from,
            "sent_bytes": question.sent_bytes(),
            "masked_secrets": question.masked_secrets(),
            "not_sent": question.not_sent(),
            "body": question.body(),
        }))
    }
}

/// For installing, one skill at a time.
impl SkillJudge for OpenJudge {
    fn ask_about(&self, skill: &SkillFiles, report: &ScanReport) -> JudgeOpinion {
        if std::io::stderr().is_terminal() {
            message(&format!("asking {} for a second opinion", visible(self.judge.url())));
        }
        self.judge.ask_about(skill, report)
    }
}

fn parse_url(text: &str, plain: bool) -> anyhow::Result<JudgeUrl> {
    let parsed = if plain { JudgeUrl::dangerously_plain(text) } else { JudgeUrl::parse(text) };
    parsed.map_err(|error| match error {
        skillsandbox_judge::SettingsError::PlainHttp { url } => anyhow::anyhow!(
            "{} leads to another machine without encryption; use https, or --dangerously-plain-judge",
            visible(&url)
        ),
        other => other.into(),
    })
}

/// Values of the environment whose names say that they are secrets: a skill may have one in it, and it is not sent on.
fn environment_secrets() -> Vec<(String, Secret)> {
    let named = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let secret = named.filter(|(name, _)| is_secret_name(name));
    secret.filter_map(|(name, value)| Some((name, Secret::from(value.into_string().ok()?)))).collect()
}

/// A key that is all of a small file.
fn read_key_file(path: &Path) -> anyhow::Result<Secret> {
    let failed = || format!("cannot read the judge's key in {}", path.display());
    anyhow::ensure!(
        path.metadata().with_context(failed)?.is_file(),
        "{} is not a plain file",
        path.display()
    );
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_KEY_FILE + 1).read_to_string(&mut text))
        .with_context(failed)?;
    anyhow::ensure!(text.len() as u64 <= MAX_KEY_FILE, "{} is too long for a key", path.display());
    Ok(Secret::from(text.trim()))
}
