//! `skillsandbox man`: the manual page.

use clap::{Args, CommandFactory};

use crate::args::Cli;
use crate::output::{self, ExitAnswer};

/// Print a manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox man | man -l -
  skillsandbox man validate > skillsandbox-validate.1")]
pub(crate) struct ManArgs {
    /// The verb to describe; without it, the whole command
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

impl ManArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut command = Cli::command();
        // Gives each verb its full name, `skillsandbox-validate`.
        command.build();
        let command = match &self.verb {
            None => command,
            Some(verb) => {
                let found = command.get_subcommands().find(|candidate| candidate.get_name() == verb).cloned();
                found.ok_or_else(|| anyhow::anyhow!("there is no verb `{}`", output::visible(verb)))?
            }
        };
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output::result(&String::from_utf8(page)?)?;
        Ok(ExitAnswer::Yes)
    }
}
