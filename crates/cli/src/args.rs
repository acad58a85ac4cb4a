//! The command line: what every verb has in common, and the list of verbs.

use std::ffi::{OsStr, OsString};

use clap::builder::styling::{AnsiColor, Styles};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::output::ExitAnswer;
use crate::verbs;

/// What the command is called, in whatever file it is.
const NAME: &str = "skillsandbox";

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
#[command(name = NAME, version, styles = STYLES, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 fine, 1 the answer is no, 2 wrong usage or an internal error.\n\
Results go to standard output, everything else to standard error.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: CommonFlags,

    #[command(subcommand)]
    pub(crate) verb: CliVerb,
}

// Not a doc comment: it would become the description of the command.
// Flags that stand before the verb or behind it.
#[derive(Debug, Args)]
pub(crate) struct CommonFlags {
    /// When to use colours; `NO_COLOR` is honoured too
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: ColorWhen,
}

impl Cli {
    /// Takes the words of a command line apart.
    ///
    /// To describe thirty verbs to clap takes most of the time of a short command, so only the one that is called is described. Whatever is
    /// then not right, or asks for help, is read again by the whole description: every answer about the command line comes from there.
    pub(crate) fn matches(words: &[OsString]) -> Result<ArgMatches, clap::Error> {
        if let Some(command) = words.get(1).and_then(|first| describe_alone(first)) {
            match command.try_get_matches_from(words) {
                Ok(matches) => return Ok(matches),
                Err(error) if error.kind() == ErrorKind::DisplayVersion => return Err(error),
                Err(_) => {}
            }
        }
        Self::command().try_get_matches_from(words)
    }
}

/// What a command line can hold that begins with this word; `None` for words that name no verb.
fn describe_alone(first: &OsStr) -> Option<Command> {
    let root = Command::new(NAME).version(env!("CARGO_PKG_VERSION"));
    if first == "--version" || first == "-V" {
        return Some(root);
    }
    let verb = CliVerb::describe(first)?;
    Some(CommonFlags::augment_args(root).subcommand(verb))
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

/// Makes of the one list of verbs: the enum, what each does, and how one is described alone.
macro_rules! verbs {
    ($($(#[$where:meta])* $name:literal = $verb:ident($args:ty);)+) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum CliVerb {
            $($(#[$where])* #[command(name = $name)] $verb($args),)+
        }

        impl CliVerb {
            pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
                match self {
                    $($(#[$where])* Self::$verb(verb) => verb.run(),)+
                }
            }

            /// What one verb takes.
            fn describe(name: &OsStr) -> Option<Command> {
                match name.to_str()? {
                    $($(#[$where])* $name => Some(<$args>::augment_args(Command::new($name))),)+
                    _ => None,
                }
            }
        }

        #[cfg(test)]
        const VERB_NAMES: &[&str] = &[$($(#[$where])* $name),+];
    };
}

verbs! {
    "validate" = Validate(verbs::validate::ValidateArgs);
    "inspect" = Inspect(verbs::inspect::InspectArgs);
    "scan" = Scan(verbs::scan::ScanArgs);
    "allow" = Allow(verbs::allow::AllowArgs);
    "explain" = Explain(verbs::explain::ExplainArgs);
    #[cfg(target_os = "linux")]
    "install" = Install(verbs::install::InstallArgs);
    #[cfg(target_os = "linux")]
    "update" = Update(verbs::update::UpdateArgs);
    #[cfg(target_os = "linux")]
    "remove" = Remove(verbs::remove::RemoveArgs);
    #[cfg(target_os = "linux")]
    "list" = List(verbs::list::ListArgs);
    #[cfg(target_os = "linux")]
    "audit" = Audit(verbs::audit::AuditArgs);
    #[cfg(target_os = "linux")]
    "reports" = Reports(verbs::reports::ReportsArgs);
    "init" = Init(verbs::init::InitArgs);
    "learn" = Learn(verbs::learn::LearnArgs);
    "convert" = Convert(verbs::convert::ConvertArgs);
    "run" = Run(verbs::run::RunArgs);
    "exec" = Exec(verbs::exec::ExecArgs);
    "wrap" = Wrap(verbs::wrap::WrapArgs);
    #[cfg(target_os = "linux")]
    "serve" = Serve(verbs::serve::ServeArgs);
    #[cfg(target_os = "linux")]
    "check-path" = CheckPath(verbs::check_path::CheckPathArgs);
    "check-command" = CheckCommand(verbs::check_command::CheckCommandArgs);
    #[cfg(target_os = "linux")]
    "hook" = Hook(verbs::hook::HookArgs);
    #[cfg(target_os = "linux")]
    "discover" = Discover(verbs::discover::DiscoverArgs);
    "doctor" = Doctor(verbs::doctor::DoctorArgs);
    "trace" = Trace(verbs::trace::TraceArgs);
    "history" = History(verbs::history::HistoryArgs);
    "key" = Key(verbs::key::KeyArgs);
    "schema" = Schema(verbs::schema::SchemaArgs);
    "completions" = Completions(verbs::completions::CompletionsArgs);
    "man" = Man(verbs::man::ManArgs);
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    /// All that a verb and its own verbs take. Not how help looks, which the whole description shows.
    fn describe(verb: &Command) -> Vec<String> {
        let mut all = vec![verb.get_name().to_owned()];
        all.extend(verb.get_arguments().map(|argument| format!("{argument:?}")));
        all.extend(verb.get_groups().map(|group| format!("{group:?}")));
        all.extend(verb.get_subcommands().flat_map(describe));
        all
    }

    /// What both descriptions make of a command line.
    fn readings(line: &str) -> [String; 2] {
        let show =
            |read: Result<ArgMatches, clap::Error>| match read.and_then(|it| Cli::from_arg_matches(&it)) {
                Ok(cli) => format!("{cli:?}"),
                Err(error) => error.render().ansi().to_string(),
            };
        [show(Cli::matches(&words(line))), show(Cli::command().try_get_matches_from(words(line)))]
    }

    #[test]
    fn a_verb_described_alone_is_the_one_of_the_whole_description() {
        let mut whole = Cli::command();
        whole.build();
        let names: Vec<_> = whole.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names.split_last().unwrap(), (&"help", VERB_NAMES));
        for name in VERB_NAMES {
            let mut alone = describe_alone(OsStr::new(name)).unwrap();
            alone.build();
            let taken = |command: &Command| describe(command.find_subcommand(name).unwrap());
            assert_eq!(taken(&alone), taken(&whole), "{name}");
        }
    }

    #[test]
    fn every_answer_is_that_of_the_whole_description() {
        for line in [
            "skillsandbox",
            "skillsandbox --version",
            "skillsandbox -V",
            "skillsandbox -V exec",
            "skillsandbox --version --nonsense",
            "skillsandbox --help",
            "skillsandbox help exec",
            "skillsandbox exec --version",
            "skillsandbox exec --help",
            "skillsandbox exec -h",
            "skillsandbox exec",
            "skillsandbox exec --nonsense true",
            "skillsandbox exec --tiemout 3 true",
            "skillsandbox exec -- /bin/true --help",
            "skillsandbox exec --color never --read . true -V",
            "skillsandbox --color never exec true",
            "skillsandbox exec --color purple true",
            "skillsandbox --color purple exec true",
            "skillsandbox exce true",
            "skillsandbox history list --help",
            "skillsandbox history",
            "skillsandbox key nonsense",
            "skillsandbox trace",
            "skillsandbox check-command ls",
            "skillsandbox CHECK-COMMAND ls",
            "skillsandbox -- exec true",
        ] {
            let [found, expected] = readings(line);
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(readings("skillsandbox exec true").map(|text| text.starts_with("Cli ")), [true; 2]);
    }
}
