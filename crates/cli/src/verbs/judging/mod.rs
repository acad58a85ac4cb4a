//! `--judge`: a second opinion from a language model, where the user asks for one, on the command line or in the policy. Nothing else switches it on.

#[cfg(feature = "judge")]
mod open;
#[cfg(not(feature = "judge"))]
mod without;

use std::path::PathBuf;

use clap::Args;
use skillsandbox_run::UserPolicy;

use crate::output::message;

#[cfg(feature = "judge")]
pub(super) use open::{OpenJudge, PreparedQuestion};
#[cfg(not(feature = "judge"))]
pub(super) use without::{OpenJudge, PreparedQuestion};

/// Who is asked for a second opinion.
#[derive(Debug, Args)]
#[command(next_help_heading = "Second opinion")]
pub(super) struct JudgeArgs {
    /// Ask a language model, too: an OpenAI-compatible endpoint, or without URL your policy's, or the one on this machine at port 11434. The skill's text
    /// is sent there, secrets masked. It can only make a verdict worse; put it behind the paths, or write --judge=URL
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "", value_parser = parse_place)]
    judge: Option<JudgePlace>,

    /// The model, as the endpoint calls it
    #[arg(long, value_name = "NAME")]
    judge_model: Option<String>,

    /// The environment variable that holds the endpoint's key
    #[arg(long, value_name = "VARIABLE", conflicts_with = "judge_key_file")]
    judge_key_env: Option<String>,

    /// A file that holds the endpoint's key, and nothing else
    #[arg(long, value_name = "FILE")]
    judge_key_file: Option<PathBuf>,

    /// Let skills and the key go to another machine without encryption
    #[arg(long)]
    dangerously_plain_judge: bool,
}

/// Where a judge is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum JudgePlace {
    /// Where the policy says, or on this machine.
    Usual,
    /// At this address.
    At(String),
}

/// Whether a question is asked, or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sending {
    /// It is asked, with the key.
    Asked,
    /// Nothing is sent, and no key is needed.
    OnlyShown,
}

impl JudgeArgs {
    /// The judge that the command line or the policy names; `None` where neither does.
    pub(super) fn open(&self, policy: &UserPolicy, sending: Sending) -> anyhow::Result<Option<OpenJudge>> {
        // A policy that is named may have come with the skills: it may say who is asked, but not that somebody is.
        let asks = policy.judge().is_some() && policy.is_own();
        if self.judge.is_none() && !asks {
            if policy.judge().is_some() && sending == Sending::Asked {
                message("`scan.judge` of a policy that is named holds only with --judge; nobody was asked");
            }
            let given = self.judge_model.is_some()
                || self.judge_key_env.is_some()
                || self.judge_key_file.is_some()
                || self.dangerously_plain_judge;
            anyhow::ensure!(
                !given && sending == Sending::Asked,
                "nobody is asked for a second opinion: add --judge, or `scan.judge` to your policy"
            );
            return Ok(None);
        }
        OpenJudge::open(self, policy.judge(), sending).map(Some)
    }
}

/// An address, or nothing. A path that stands behind `--judge` is not taken for one.
fn parse_place(text: &str) -> Result<JudgePlace, String> {
    if text.is_empty() {
        return Ok(JudgePlace::Usual);
    }
    if text.starts_with("https://") || text.starts_with("http://") {
        return Ok(JudgePlace::At(text.to_owned()));
    }
    Err("this is not an address that begins with https:// or http://; where it is a path, put --judge behind the paths".to_owned())
}
