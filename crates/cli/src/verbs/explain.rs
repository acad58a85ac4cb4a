//! `skillsandbox explain`: what a check or a rule means.

use clap::Args;
use skillsandbox_scanner::{CheckId, RuleInfo, explain_rule};

use crate::output::{self, ExitAnswer, visible};

/// Explain a check of the scanner, or one of its rules
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox explain CHECK-05
  skillsandbox explain CHECK-04/dns-exfil")]
pub(crate) struct ExplainArgs {
    /// CHECK-01 … CHECK-08, or a rule as a report names it
    #[arg(value_name = "CHECK[/RULE]")]
    name: String,
}

impl ExplainArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let text =
            CheckId::from_name(&self.name).map(CheckId::documentation).or_else(|| explain_rule(&self.name));
        let text = text.ok_or_else(|| {
            let meant = RuleInfo::suggest(&self.name);
            let meant = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            anyhow::anyhow!("there is no check or rule `{}`{meant}", visible(&self.name))
        })?;
        output::result(&text)?;
        Ok(ExitAnswer::Yes)
    }
}
