//! `skillsandbox run`: a skill in the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use skillsandbox_run::{Admission, Call, Refusal, Skill, read_parameters, run_skill, scan_note, user_policy};

use super::running::{self, flags::Flags, past::Asked};
use crate::output::Answer;

/// Run a skill in the sandbox, held to what it declares, and record what it really tries
#[derive(Debug, Args)]
#[command(
    after_help = "The skill's own output goes to standard output and standard error, unchanged; a summary follows on standard error.

Parameters reach the skill as variables: SKILL_PARAM_CITY for `city`, and all of them as one JSON object in SKILL_PARAMETERS.

Exit codes: the skill's own; 124 its time was up, 125 refused or the sandbox failed, 126 the entrypoint cannot be executed,
127 it is not there, 128+n ended by signal n.

Examples:
  skillsandbox run --dry-run examples/skills/weather
  skillsandbox run examples/skills/weather --set city=Oslo
  skillsandbox run --watch skills/report -- --verbose
  skillsandbox run --format json skills/weather --set city=Oslo | jq .denials"
)]
pub(crate) struct Run {
    /// A folder that holds a skillsandbox.yaml
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The value of a parameter: a text as it is, anything else as JSON
    #[arg(long = "set", value_name = "NAME=VALUE")]
    values: Vec<String>,

    /// Narrow by this policy file instead of ~/.config/skillsandbox/policy.yaml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Run it even if the scanner blocks it; the trace says so
    #[arg(long)]
    skip_scan: bool,

    #[command(flatten)]
    flags: Flags,

    /// Arguments that come after the manifest's own
    #[arg(value_name = "ARGS", last = true)]
    arguments: Vec<OsString>,
}

impl Run {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let mut asked = Asked::new("run", &self.arguments);
        match self.prepared(&mut asked) {
            Ok(answer) => answer,
            Err(refusal) => {
                asked.refused(&self.flags, &self.dir, &refusal);
                running::show_refusal(&self.flags, &refusal)?;
                Ok(Answer::Code(refusal.exit_code()))
            }
        }
    }

    fn prepared(&self, asked: &mut Asked) -> Result<anyhow::Result<Answer>, Refusal> {
        let values = || self.values.iter().map(String::as_str);
        let loaded = user_policy(self.policy.as_deref(), Path::new(&self.dir))
            .and_then(|policy| Ok((Skill::load(&self.dir, policy.as_ref())?, policy)));
        asked.values(values(), loaded.as_ref().ok().map(|(skill, _)| skill.manifest()));
        let (skill, policy) = loaded?;
        let parameters = read_parameters(skill.manifest(), values())?;
        asked.read(&parameters);
        let call = Call { arguments: self.arguments.clone(), parameters };
        let mut admission = Admission::default();
        (admission.policy, admission.skip_scan) = (policy.as_ref(), self.skip_scan);
        if self.flags.dry_run {
            let mut job = skill.job(&call)?;
            job.notes.push(("scan".to_owned(), scan_note(&skill, &admission)?));
            self.flags.apply(&mut job, None);
            return Ok(running::dry_run(&self.flags, &job));
        }
        let kept = match self.flags.keep_tmp() {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        Ok(running::run(&self.flags, asked, |options| {
            run_skill(&skill, &call, &admission, |job| self.flags.apply(job, kept.as_ref()), options)
        }))
    }
}
