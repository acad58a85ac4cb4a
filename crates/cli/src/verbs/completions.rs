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

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use crate::args::Cli;

    /// The generator for fish puts the help of values between double quotes as it is.
    fn check(command: &Command) {
        for argument in command.get_arguments() {
            for value in argument.get_possible_values() {
                let help = value.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(!help.contains(['$', '"', '\\']), "{} {argument}: {help}", command.get_name());
            }
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn no_help_of_a_value_has_a_character_that_breaks_a_completion_script() {
        let mut command = Cli::command();
        command.build();
        check(&command);
    }
}
