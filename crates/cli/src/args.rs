//! The command line: what every verb has in common, and the list of verbs.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

use crate::output::Answer;
use crate::verbs;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Don't trust the code: constrain what it can do, and record what it tried.
///
/// Agent skills declare what they need in skillsandbox.yaml; these verbs check and show such declarations, judge skills, install
/// those that pass, and run them held to what they declare.
#[derive(Debug, Parser)]
#[command(name = "skillsandbox", version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 fine, 1 the answer is no, 2 wrong usage or an internal error.\n\
Results go to standard output, everything else to standard error.")]
pub(crate) struct Cli {
    /// When to use colours; `NO_COLOR` is honoured too
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    Always,
    Never,
}

impl Color {
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Validate(verbs::validate::Validate),
    Inspect(verbs::inspect::Inspect),
    Scan(verbs::scan::Scan),
    Explain(verbs::explain::Explain),
    #[cfg(target_os = "linux")]
    Install(verbs::install::Install),
    #[cfg(target_os = "linux")]
    Update(verbs::update::Update),
    #[cfg(target_os = "linux")]
    Remove(verbs::remove::Remove),
    #[cfg(target_os = "linux")]
    List(verbs::list::List),
    #[cfg(target_os = "linux")]
    Audit(verbs::audit::Audit),
    #[cfg(target_os = "linux")]
    Reports(verbs::reports::Reports),
    Run(verbs::run::Run),
    Exec(verbs::exec::Exec),
    #[cfg(target_os = "linux")]
    Serve(verbs::serve::Serve),
    #[cfg(target_os = "linux")]
    CheckPath(verbs::check_path::CheckPath),
    CheckCommand(verbs::check_command::CheckCommand),
    Doctor(verbs::doctor::Doctor),
    Trace(verbs::trace::Trace),
    History(verbs::history::History),
    Schema(verbs::schema::Schema),
    Completions(verbs::completions::Completions),
    Man(verbs::man::Man),
}

impl Verb {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match self {
            Self::Validate(verb) => verb.run(),
            Self::Inspect(verb) => verb.run(),
            Self::Scan(verb) => verb.run(),
            Self::Explain(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Install(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Update(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Remove(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::List(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Audit(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Reports(verb) => verb.run(),
            Self::Run(verb) => verb.run(),
            Self::Exec(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Serve(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::CheckPath(verb) => verb.run(),
            Self::CheckCommand(verb) => verb.run(),
            Self::Doctor(verb) => verb.run(),
            Self::Trace(verb) => verb.run(),
            Self::History(verb) => verb.run(),
            Self::Schema(verb) => verb.run(),
            Self::Completions(verb) => verb.run(),
            Self::Man(verb) => verb.run(),
        }
    }
}
