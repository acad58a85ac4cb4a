//! `skillsandbox history verify`: is every record what was recorded?

use clap::Args;
use skillsandbox_store::history::ChainCheck;

use super::{open, whole};
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, message};

/// Check the chain of all records: an edit, a removal and an insertion are found
///
/// The chain has no key: somebody who can write the history can write all of it anew. Then its head, which is printed here and is a part of every
/// signature, is another one: keep it elsewhere, or sign runs.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox history verify
  skillsandbox history verify --head 5f1e…            # and the head that was noted is still in it

Exit codes: 0 whole, 1 not, 2 an error.")]
pub(super) struct HistoryVerifyArgs {
    /// A head that was noted before, which has to be in the chain still
    #[arg(long, value_name = "HEX")]
    head: Option<String>,

    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl HistoryVerifyArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let Some(history) = open()? else {
            message("nothing was recorded yet");
            if self.format == OutputFormat::Json {
                output::json(&serde_json::json!({ "runs": 0, "intact": self.head.is_none() }))?;
            }
            return Ok(if self.head.is_some() { ExitAnswer::No } else { ExitAnswer::Yes });
        };
        let check = history.check_chain(self.head.as_deref())?;
        let is_whole = check.wrong.is_none() && check.has_head != Some(false);
        match self.format {
            OutputFormat::Json => {
                let mut value = serde_json::to_value(&check)?;
                if let Some(object) = value.as_object_mut() {
                    object.insert("intact".to_owned(), is_whole.into());
                }
                output::json(&value)?;
            }
            OutputFormat::Text => tell(&check)?,
        }
        Ok(if is_whole { ExitAnswer::Yes } else { ExitAnswer::No })
    }
}

fn tell(check: &ChainCheck) -> anyhow::Result<()> {
    if let Some(wrong) = &check.wrong {
        let at = wrong.execution_id.as_deref().map(|id| format!(" at {}", whole(id))).unwrap_or_default();
        message(&format!("the history is not what was recorded{at}: {}", whole(&wrong.what)));
        return Ok(());
    }
    if check.has_head == Some(false) {
        message(
            "the history fits together, but the head that was noted is not in it: it was written anew, or that run is gone",
        );
        return Ok(());
    }
    let earlier = match check.earlier {
        0 => String::new(),
        earlier => format!(
            "; {earlier} more are from before the chain: what they were when it was made, and nothing is known of the time before"
        ),
    };
    let removed = match check.removed {
        0 => String::new(),
        removed => format!("; the oldest {removed} were removed to make room"),
    };
    let head = check.head.as_deref().map(|head| format!("head {head}\n")).unwrap_or_default();
    output::result(&format!("intact, {} runs{earlier}{removed}\n{head}", check.runs))
}
