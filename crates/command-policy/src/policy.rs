//! The policy: what it is built from, and the order in which it asks.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::allowed_tools::{AllowedTools, OtherTools};
use crate::arguments::ArgumentLists;
use crate::command_name;
use crate::denied::{CommandDecision, CommandDenial, CommandRule, DenialPosition};
use crate::escapes::{self, CommandEscape, escapes};
use crate::lexer::{Dialect, GlobHandling, LexerSettings, MAX_LINE, lex};
use crate::paths::{self, AllowedRoots, ParentDots, PathRules};
use crate::words::CommandWords;

/// How long a command may run when nothing else was said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Says of a command line whether it may run, and turns one that may into an argv. See the [crate's page](crate).
#[derive(Clone)]
pub struct CommandPolicy {
    root: PathBuf,
    roots: AllowedRoots,
    settings: LexerSettings,
    dots: ParentDots,
    tools: Option<AllowedTools>,
    commands: Option<Vec<String>>,
    arguments: ArgumentLists,
    allowed_escapes: Vec<String>,
    rules: Option<Arc<dyn PathRules>>,
    refuse_project_code: bool,
    bypass: bool,
    pub(crate) timeout: Duration,
    #[cfg_attr(not(all(unix, feature = "run")), expect(dead_code, reason = "only `run` reads it"))]
    pub(crate) variables: Vec<OsString>,
}

impl fmt::Debug for CommandPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandPolicy")
            .field("root", &self.root)
            .field("tools", &self.tools)
            .field("commands", &self.commands)
            .field("bypass", &self.bypass)
            .finish_non_exhaustive()
    }
}

impl CommandPolicy {
    /// A policy for the current directory, with nothing but the checks of the text.
    pub fn builder() -> CommandPolicyBuilder {
        CommandPolicyBuilder::default()
    }

    /// The directory that commands run in and may name paths of.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// How long a command may run.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether nothing is checked.
    #[must_use]
    pub fn is_bypassed(&self) -> bool {
        self.bypass
    }

    /// Entries of the list of tools that are not about commands, where [`OtherTools::PassThrough`] lets them pass.
    pub fn other_tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().flat_map(|tools| &tools.others).map(String::as_str)
    }

    /// Says whether a command line may run.
    pub fn check(&self, line: &str) -> CommandDecision {
        if self.bypass {
            return CommandDecision::Bypassed;
        }
        match self.words(line) {
            Ok(_) => CommandDecision::Allowed,
            Err(denied) => CommandDecision::Denied(denied),
        }
    }

    /// Turns a command line that may run into the program and its arguments, so that no shell is needed.
    ///
    /// A bypassed policy has checked nothing, so only a shell can tell what the line means: `sh -c LINE`.
    pub fn parse(&self, line: &str) -> Result<Vec<OsString>, CommandDenial> {
        if self.bypass {
            if line.contains('\0') {
                let reason = "no program can be given it";
                return Err(CommandDenial::new(
                    CommandRule::ControlCharacter,
                    "NUL",
                    DenialPosition::Byte(0),
                    reason,
                    "remove it",
                ));
            }
            return Ok(vec!["/bin/sh".into(), "-c".into(), line.into()]);
        }
        Ok(self.words(line)?.iter().map(|word| paths::to_path(word).into_os_string()).collect())
    }

    /// The words that a shell would read in a line, where it is one program with plain arguments. Nothing else is judged: the words of a
    /// line that may not run are told too.
    pub fn split(&self, line: &str) -> Result<Vec<OsString>, CommandDenial> {
        let words = lex(line, self.settings)?;
        Ok(words.iter().map(|word| paths::to_path(word).into_os_string()).collect())
    }

    /// Says whether a program may be started with these arguments, for runtimes whose tools are called with a list. No shell reads
    /// it, so shell syntax is plain text; everything else holds.
    pub fn check_argv<S: AsRef<OsStr>>(&self, argv: impl IntoIterator<Item = S>) -> CommandDecision {
        if self.bypass {
            return CommandDecision::Bypassed;
        }
        let argv: Vec<S> = argv.into_iter().collect();
        match self.judge_argv(&argv) {
            Ok(()) => CommandDecision::Allowed,
            Err(denied) => CommandDecision::Denied(denied),
        }
    }

    fn judge_argv<S: AsRef<OsStr>>(&self, argv: &[S]) -> Result<(), CommandDenial> {
        let argv = || argv.iter().map(|word| word.as_ref().as_encoded_bytes());
        let size: usize = argv().map(<[u8]>::len).sum();
        if size > MAX_LINE {
            let reason = format!("{size} bytes are more than the {MAX_LINE} that are read");
            let hint = "put the data into a file";
            return Err(CommandDenial::new(
                CommandRule::TooLong,
                "",
                DenialPosition::Argument(0),
                reason,
                hint,
            ));
        }
        let words = &CommandWords::from_argv(argv());
        if let Some(index) = words.iter().position(|word| word.contains(&0)) {
            let reason = "no program can be given it";
            return Err(CommandDenial::new(
                CommandRule::ControlCharacter,
                "NUL",
                words.position(index),
                reason,
                "remove it",
            ));
        }
        self.judge(words)
    }

    fn words(&self, line: &str) -> Result<CommandWords, CommandDenial> {
        let words = lex(line, self.settings)?;
        self.judge(&words)?;
        Ok(words)
    }

    /// Everything that is asked of words.
    fn judge(&self, words: &CommandWords) -> Result<(), CommandDenial> {
        if words.len() == 0 {
            let hint = "begin with the name of a program";
            return Err(CommandDenial::new(
                CommandRule::Empty,
                "",
                words.position(0),
                "there is no command",
                hint,
            ));
        }
        command_name::check(words)?;
        self.check_text(words)?;
        let spelled = self.tools.as_ref().map(|tools| (tools, tools.spelled(words)));
        if let Some((tools, None)) = spelled {
            let name = words.get(0).unwrap_or_default();
            let reason = "the list of allowed tools does not cover it";
            let hint = format!("allowed: {}", tools.shown());
            return Err(CommandDenial::new(CommandRule::AllowedTools, name, words.position(0), reason, hint));
        }
        if let Some(commands) = &self.commands
            && !self.is_listed(words)
        {
            let name = words.get(0).unwrap_or_default();
            let hint = format!("allowed: {}", commands.join(", "));
            let reason = "it is not among the allowed commands";
            return Err(CommandDenial::new(CommandRule::Commands, name, words.position(0), reason, hint));
        }
        self.arguments.check(words)?;
        let listed = usize::from(self.commands.is_some() && self.is_listed(words));
        let spelled = spelled.and_then(|(_, spelled)| spelled).unwrap_or_default().max(listed);
        let spelled = if self.refuse_project_code { 0 } else { spelled };
        if let Some((escape, index)) = escapes::find(words, &self.allowed_escapes, spelled) {
            return Err(runs_others(escape, words, index));
        }
        self.check_disk(words)
    }

    /// Whether the embedder's own list names the program.
    fn is_listed(&self, words: &CommandWords) -> bool {
        let name = words.get(0).unwrap_or_default();
        self.commands.iter().flatten().any(|command| command.as_bytes() == name)
    }

    fn check_text(&self, words: &CommandWords) -> Result<(), CommandDenial> {
        for (index, word, notes) in words.noted() {
            let Some(offence) = paths::offence(word, notes, &self.roots, self.dots) else { continue };
            // A program that the embedder named by its path may lie anywhere.
            if index == 0 && offence.rule == CommandRule::OutsideRoot && self.is_listed(words) {
                continue;
            }
            let construct = word.get(offence.from..).unwrap_or_default();
            let (reason, hint): (Cow<'static, str>, &'static str) = if offence.rule
                == CommandRule::ParentDirectory
            {
                ("`..` leads out of a directory".into(), "use a path below the root")
            } else {
                let reason = format!("it may lead out of the root, {}", self.root.display());
                (reason.into(), "use a path relative to the root; if it is not a path, write it another way")
            };
            return Err(CommandDenial::new(offence.rule, construct, words.position(index), reason, hint));
        }
        Ok(())
    }

    /// Last, because it may cost more than all the rest.
    fn check_disk(&self, words: &CommandWords) -> Result<(), CommandDenial> {
        let Some(rules) = &self.rules else { return Ok(()) };
        for (index, word) in words.iter().enumerate() {
            // A program without a slash is looked up in PATH; one that was listed by its path may lie anywhere.
            if index == 0 && (!word.contains(&b'/') || self.is_listed(words)) {
                continue;
            }
            for candidate in paths::candidates(word) {
                if let Err(reason) = rules.check(&paths::to_path(candidate)) {
                    let hint = "use a path that stays in the root";
                    return Err(CommandDenial::new(
                        CommandRule::PathRules,
                        candidate,
                        words.position(index),
                        reason,
                        hint,
                    ));
                }
            }
        }
        Ok(())
    }
}

fn runs_others(escape: &CommandEscape, words: &CommandWords, index: usize) -> CommandDenial {
    let mut construct = words.get(0).unwrap_or_default().to_vec();
    if index > 0 {
        construct.push(b' ');
        construct.extend_from_slice(words.get(index).unwrap_or_default());
    }
    CommandDenial::new(
        CommandRule::RunsOthers(escape.name),
        construct,
        words.position(index),
        escape.reason,
        escape.instead,
    )
}

/// Builds a [`CommandPolicy`].
#[derive(Clone, Default)]
#[must_use]
pub struct CommandPolicyBuilder {
    root: Option<PathBuf>,
    also: Vec<PathBuf>,
    settings: LexerSettings,
    dots: ParentDots,
    tools: Option<String>,
    no_tools: bool,
    other_tools: OtherTools,
    commands: Option<Vec<String>>,
    arguments: ArgumentLists,
    allowed_escapes: Vec<String>,
    rules: Option<Arc<dyn PathRules>>,
    refuse_project_code: bool,
    bypass: bool,
    timeout: Option<Duration>,
    variables: Vec<OsString>,
}

impl fmt::Debug for CommandPolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandPolicyBuilder").field("root", &self.root).finish_non_exhaustive()
    }
}

impl CommandPolicyBuilder {
    /// The directory that commands run in, and that absolute paths have to lie in: the skill's folder. The current directory when
    /// left out.
    pub fn root(mut self, dir: impl Into<PathBuf>) -> Self {
        self.root = Some(dir.into());
        self
    }

    /// Another directory, or file such as `/dev/null`, that absolute paths may lie in.
    pub fn also_allow_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.also.push(path.into());
        self
    }

    /// The `allowed-tools` of a skill: `Bash(git:*) Bash(npm run:*)`. A line has to begin with the words of one of them. When left
    /// out, any program may be called.
    pub fn allowed_tools(mut self, list: impl Into<String>) -> Self {
        self.tools = Some(list.into());
        self
    }

    /// Allows no command at all, as a skill does whose `allowed-tools` are an empty list.
    pub fn allow_no_tools(mut self) -> Self {
        self.no_tools = true;
        self
    }

    /// What that list may hold beside `Bash(command:*)`.
    pub fn other_tools(mut self, other: OtherTools) -> Self {
        self.other_tools = other;
        self
    }

    /// The programs that may be called, each exactly as the line has to name it. One that is listed by its path may lie outside the
    /// root.
    pub fn commands<S: Into<String>>(mut self, programs: impl IntoIterator<Item = S>) -> Self {
        self.commands.get_or_insert_default().extend(programs.into_iter().map(Into::into));
        self
    }

    /// The sub-commands that a program may be given: its first argument has to be one of them.
    pub fn allowed_args<S: Into<String>>(
        mut self,
        program: impl Into<String>,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        let list = self.arguments.allowed.entry(program.into()).or_default();
        list.extend(args.into_iter().map(Into::into));
        self
    }

    /// Arguments that a program may not be given, in any spelling: `--token` is also `--token=x` and `--tok`, `-t` also `-xt`.
    pub fn forbidden_args<S: Into<String>>(
        mut self,
        program: impl Into<String>,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        let list = self.arguments.forbidden.entry(program.into()).or_default();
        list.extend(args.into_iter().map(Into::into));
        self
    }

    /// What an unquoted `*`, `?` or `[` is.
    pub fn globs(mut self, globs: GlobHandling) -> Self {
        self.settings.globs = globs;
        self
    }

    /// Which shells have to read a line alike.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = dialect;
        self
    }

    /// Where `..` is refused.
    pub fn parent_dots(mut self, dots: ParentDots) -> Self {
        self.dots = dots;
        self
    }

    /// Rules that are asked of every name of a file: [`crate::RealPaths`], or the embedder's own.
    pub fn path_rules(mut self, rules: impl PathRules + 'static) -> Self {
        self.rules = Some(Arc::new(rules));
        self
    }

    /// Lets an entry of the table of commands that run others pass, by its name ([`crate::escapes`]): `npm/run`. What the
    /// command then runs is not checked by anything here.
    pub fn dangerously_allow(mut self, escape: impl Into<String>) -> Self {
        self.allowed_escapes.push(escape.into());
        self
    }

    /// Refuses programs whose work is to run the project's own code (`make`, `npm run`, `pytest`) even if a list names them: for lists that
    /// come from whoever is not trusted.
    pub fn refuse_project_code(mut self) -> Self {
        self.refuse_project_code = true;
        self
    }

    /// Turns every check off, for debugging on one's own machine. Working directory and timeout of [`CommandPolicy::run`] still hold,
    /// and every decision says that it was bypassed.
    pub fn dangerously_bypass(mut self) -> Self {
        self.bypass = true;
        self
    }

    /// How long a command may run; [`DEFAULT_TIMEOUT`] when left out.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Variables of our environment that a command gets to see, beside the few it needs to start.
    pub fn keep_variables<S: Into<OsString>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.variables.extend(names.into_iter().map(Into::into));
        self
    }

    /// The policy, if all of it makes sense.
    pub fn build(self) -> Result<CommandPolicy, CommandPolicyError> {
        let root = self.root.unwrap_or_else(|| PathBuf::from("."));
        let root = std::path::absolute(&root).map_err(|_| CommandPolicyError::Root(root))?;
        let mut roots = AllowedRoots::default();
        roots.add(&root)?;
        for path in &self.also {
            roots.add(path)?;
        }
        for name in &self.allowed_escapes {
            if !escapes().any(|escape| escape.name == name) {
                return Err(CommandPolicyError::UnknownEscape(name.clone()));
            }
        }
        let tools = self.tools.map(|list| AllowedTools::read(&list, self.other_tools)).transpose()?;
        let tools = if self.no_tools { Some(AllowedTools::default()) } else { tools };
        Ok(CommandPolicy {
            root,
            roots,
            settings: self.settings,
            dots: self.dots,
            tools,
            commands: self.commands,
            arguments: self.arguments,
            allowed_escapes: self.allowed_escapes,
            rules: self.rules,
            refuse_project_code: self.refuse_project_code,
            bypass: self.bypass,
            timeout: self.timeout.unwrap_or(DEFAULT_TIMEOUT),
            variables: self.variables,
        })
    }
}

/// A policy that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandPolicyError {
    /// The list of allowed tools names one that is not about commands.
    UnsupportedTool(String),
    /// `Bash` without parentheses.
    BashWithoutCommand,
    /// What stands in the parentheses is not `command:*`.
    InvalidPattern(String),
    /// The list of allowed tools is empty.
    NoTools,
    /// No entry of the table has this name.
    UnknownEscape(String),
    /// A directory has no absolute path, or climbs with `..` and does not exist.
    Root(PathBuf),
}

impl fmt::Display for CommandPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use crate::denied::shown;
        match self {
            Self::UnsupportedTool(name) => {
                write!(f, "Unsupported tool: {} (only `Bash(command:*)` is)", shown(name.as_bytes()))
            }
            Self::BashWithoutCommand => {
                f.write_str("Unsupported tool: Bash (arguments required: write `Bash(command:*)`)")
            }
            Self::InvalidPattern(text) => {
                let text = shown(text.as_bytes());
                write!(
                    f,
                    "`{text}` is not a pattern for commands: write `Bash(command:*)`, such as `Bash(git status:*)`"
                )
            }
            Self::NoTools => {
                f.write_str("the list of allowed tools is empty: leave it out, or name a command")
            }
            Self::UnknownEscape(name) => {
                let name = shown(name.as_bytes());
                write!(f, "`{name}` is not in the table of commands that run others; `escapes()` lists them")
            }
            Self::Root(path) => {
                write!(
                    f,
                    "{} leads nowhere: give an absolute path without `..`, or one that exists",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for CommandPolicyError {}
