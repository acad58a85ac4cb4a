//! The command line: what every verb has in common, and the list of verbs.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

use crate::output::ExitAnswer;
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
    pub(crate) color: ColorWhen,

    #[command(subcommand)]
    pub(crate) verb: CliVerb,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal
    Auto,
    Always,
    Never,
}

impl ColorWhen {
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliVerb {
    Validate(verbs::validate::ValidateArgs),
    Inspect(verbs::inspect::InspectArgs),
    Scan(verbs::scan::ScanArgs),
    Allow(verbs::allow::AllowArgs),
    Explain(verbs::explain::ExplainArgs),
    #[cfg(target_os = "linux")]
    Install(verbs::install::InstallArgs),
    #[cfg(target_os = "linux")]
    Update(verbs::update::UpdateArgs),
    #[cfg(target_os = "linux")]
    Remove(verbs::remove::RemoveArgs),
    #[cfg(target_os = "linux")]
    List(verbs::list::ListArgs),
    #[cfg(target_os = "linux")]
    Audit(verbs::audit::AuditArgs),
    #[cfg(target_os = "linux")]
    Reports(verbs::reports::ReportsArgs),
    Init(verbs::init::InitArgs),
    Learn(verbs::learn::LearnArgs),
    Convert(verbs::convert::ConvertArgs),
    Run(verbs::run::RunArgs),
    Exec(verbs::exec::ExecArgs),
    Wrap(verbs::wrap::WrapArgs),
    #[cfg(target_os = "linux")]
    Serve(verbs::serve::ServeArgs),
    #[cfg(target_os = "linux")]
    CheckPath(verbs::check_path::CheckPathArgs),
    CheckCommand(verbs::check_command::CheckCommandArgs),
    #[cfg(target_os = "linux")]
    Hook(verbs::hook::HookArgs),
    #[cfg(target_os = "linux")]
    Discover(verbs::discover::DiscoverArgs),
    Doctor(verbs::doctor::DoctorArgs),
    Trace(verbs::trace::TraceArgs),
    History(verbs::history::HistoryArgs),
    Key(verbs::key::KeyArgs),
    Schema(verbs::schema::SchemaArgs),
    Completions(verbs::completions::CompletionsArgs),
    Man(verbs::man::ManArgs),
}

impl CliVerb {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        match self {
            Self::Validate(verb) => verb.run(),
            Self::Inspect(verb) => verb.run(),
            Self::Scan(verb) => verb.run(),
            Self::Allow(verb) => verb.run(),
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
            Self::Init(verb) => verb.run(),
            Self::Learn(verb) => verb.run(),
            Self::Convert(verb) => verb.run(),
            Self::Run(verb) => verb.run(),
            Self::Exec(verb) => verb.run(),
            Self::Wrap(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Serve(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::CheckPath(verb) => verb.run(),
            Self::CheckCommand(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Hook(verb) => verb.run(),
            #[cfg(target_os = "linux")]
            Self::Discover(verb) => verb.run(),
            Self::Doctor(verb) => verb.run(),
            Self::Trace(verb) => verb.run(),
            Self::History(verb) => verb.run(),
            Self::Key(verb) => verb.run(),
            Self::Schema(verb) => verb.run(),
            Self::Completions(verb) => verb.run(),
            Self::Man(verb) => verb.run(),
        }
    }
}
