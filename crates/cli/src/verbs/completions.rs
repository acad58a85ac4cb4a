//! `skillsandbox completions`: completion scripts for shells.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::output::{self, ExitAnswer};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox completions bash > ~/.local/share/bash-completion/completions/skillsandbox
  skillsandbox completions zsh > ~/.zfunc/_skillsandbox
  skillsandbox completions fish > ~/.config/fish/completions/skillsandbox.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "skillsandbox", &mut script);
        output::result(&String::from_utf8(script)?)?;
        Ok(ExitAnswer::Yes)
    }
}
