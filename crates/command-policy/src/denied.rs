//! What is decided, and what is said of a refusal.

use std::borrow::Cow;
use std::fmt;

use skillsandbox_text::shorten_line;

/// What a policy says of a command line. The strictest of several is the greatest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[must_use]
pub enum CommandDecision {
    /// Every check was made and passed.
    Allowed,
    /// Nothing was checked, because the policy was built with `dangerously_bypass`.
    Bypassed,
    /// It may not run.
    Denied(CommandDenial),
}

impl CommandDecision {
    /// Whether the command may be started: also when nothing was checked.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        !matches!(self, Self::Denied(_))
    }

    /// The refusal, where it is one.
    #[must_use]
    pub fn denied(&self) -> Option<&CommandDenial> {
        match self {
            Self::Denied(denied) => Some(denied),
            Self::Allowed | Self::Bypassed => None,
        }
    }
}

/// Why a command line may not run, in words that its author can act on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct CommandDenial {
    /// The rule that decided.
    pub rule: CommandRule,
    /// What was seen, such as `&&` or `find -exec`; without control characters, and cut where it is long.
    pub construct: String,
    /// Where it was seen.
    pub position: DenialPosition,
    /// Why it is refused.
    pub reason: Cow<'static, str>,
    /// What to write instead.
    pub hint: Cow<'static, str>,
}

impl CommandDenial {
    pub(crate) fn new(
        rule: CommandRule,
        construct: impl AsRef<[u8]>,
        position: DenialPosition,
        reason: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        let construct = shown(construct.as_ref());
        Self { rule, construct, position, reason: reason.into(), hint: hint.into() }
    }
}

impl fmt::Display for CommandDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "command refused: `{}` at {}: {}; {}",
            self.construct, self.position, self.reason, self.hint
        )
    }
}

impl std::error::Error for CommandDenial {}

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DenialPosition {
    /// A byte of the command line, counted from 0.
    Byte(usize),
    /// An element of the argv, counted from 0: for calls that were never a command line.
    Argument(usize),
}

impl fmt::Display for DenialPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(at) => write!(f, "byte {at}"),
            Self::Argument(index) => write!(f, "argument {index}"),
        }
    }
}

/// The rules, in the order in which a line meets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CommandRule {
    /// Longer than a system would take.
    TooLong,
    /// No command in it.
    Empty,
    /// A line end: one call is one line.
    Newline,
    /// A control character, or one that hides or reorders what a reader sees.
    ControlCharacter,
    /// `&&`, `||`, `|`, `|&`, `;`, `&`, `(`, `)`, and the definition of a function.
    Operator,
    /// `$( )`, backticks, `$(( ))`, `<( )`, `>( )`.
    Substitution,
    /// `$VAR`, `${ }`, `$1`, `$"…"`, and `$'…'` where not every shell knows it.
    Expansion,
    /// `<`, `>`, and all that is made of them.
    Redirection,
    /// `*`, `?`, `[`.
    Glob,
    /// `{a,b}`, `{1..9}`.
    Brace,
    /// `~`.
    Tilde,
    /// `!word`, `^old^new`.
    History,
    /// A quote or an escape that does not end, or that shells read differently.
    Quote,
    /// `NAME=value command`.
    Environment,
    /// `if`, `time`, `!`, `{`, and the others.
    ReservedWord,
    /// `eval`, `cd`, `export`: they exist in a shell only.
    Builtin,
    /// An empty name, or one that begins with `-`.
    CommandName,
    /// `..`.
    ParentDirectory,
    /// A path that leads out of the root.
    OutsideRoot,
    /// What the embedder's own path rules refuse, symbolic links among them.
    PathRules,
    /// Not covered by the list of allowed tools.
    AllowedTools,
    /// The program is not in the list of commands.
    Commands,
    /// The sub-command is not in the list for this program.
    AllowedArgs,
    /// The argument is in the list of forbidden ones.
    ForbiddenArgs,
    /// The allowed command would run another one; the name of the entry in the table ([`crate::escapes`]).
    RunsOthers(&'static str),
}

impl CommandRule {
    /// Its name, for logs and for programs in other languages.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::Empty => "empty",
            Self::Newline => "newline",
            Self::ControlCharacter => "control-character",
            Self::Operator => "operator",
            Self::Substitution => "substitution",
            Self::Expansion => "expansion",
            Self::Redirection => "redirection",
            Self::Glob => "glob",
            Self::Brace => "brace",
            Self::Tilde => "tilde",
            Self::History => "history",
            Self::Quote => "quote",
            Self::Environment => "environment",
            Self::ReservedWord => "reserved-word",
            Self::Builtin => "builtin",
            Self::CommandName => "command-name",
            Self::ParentDirectory => "parent-directory",
            Self::OutsideRoot => "outside-root",
            Self::PathRules => "path-rules",
            Self::AllowedTools => "allowed-tools",
            Self::Commands => "commands",
            Self::AllowedArgs => "allowed-args",
            Self::ForbiddenArgs => "forbidden-args",
            Self::RunsOthers(name) => name,
        }
    }
}

impl fmt::Display for CommandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Longest piece of a command line that a message repeats.
const SHOWN: usize = 60;

/// Text of unknown origin, fit for a log or a terminal. Backslashes and quotes stay as they were written.
pub(crate) fn shown(bytes: &[u8]) -> String {
    shorten_line(&String::from_utf8_lossy(bytes), SHOWN)
}
