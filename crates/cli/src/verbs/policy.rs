//! The user's policy, for verbs that judge skills and run none.

use std::path::{Path, PathBuf};

use clap::Args;
use skillsandbox_run::{Refusal, UserPolicy};

use crate::output::message;
use crate::render;

/// Which policy.
#[derive(Debug, Clone, Args)]
pub(super) struct PolicyArgs {
    /// A policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Use no policy, not the user's own either
    #[arg(long, conflicts_with = "policy")]
    no_policy: bool,
}

impl PolicyArgs {
    /// Whether it is the user's own that is used.
    #[cfg(target_os = "linux")]
    pub(super) fn is_own(&self) -> bool {
        self.policy.is_none() && !self.no_policy
    }

    /// The policy to judge these skills by.
    pub(super) fn find<P: AsRef<Path>>(
        &self,
        judged: impl IntoIterator<Item = P>,
    ) -> Result<UserPolicy, Refusal> {
        if self.no_policy { Ok(UserPolicy::none()) } else { UserPolicy::load(self.policy.as_deref(), judged) }
    }

    /// The same, where a policy that is not valid is an error, shown with its lines.
    pub(super) fn load<P: AsRef<Path>>(
        &self,
        judged: impl IntoIterator<Item = P>,
    ) -> anyhow::Result<UserPolicy> {
        shown(self.find(judged))
    }
}

/// The policy that is named, or the user's own. One that is not valid is shown with its lines.
#[cfg(target_os = "linux")]
pub(super) fn load_policy<P: AsRef<Path>>(
    named: Option<&Path>,
    judged: impl IntoIterator<Item = P>,
) -> anyhow::Result<UserPolicy> {
    shown(UserPolicy::load(named, judged))
}

fn shown(loaded: Result<UserPolicy, Refusal>) -> anyhow::Result<UserPolicy> {
    match loaded {
        Err(Refusal::Policy(error)) => {
            message(&render::load_error(&error));
            anyhow::bail!("the policy cannot be used, so nothing was done")
        }
        other => Ok(other?),
    }
}
