//! The command to confine, and what becomes of its input and output.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use crate::observe::Observer;
use skillsandbox_terms::ObserveLevel;

/// The command to confine: a program and its arguments, each one string, never read by a shell.
#[derive(Clone)]
pub struct Command {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) stdin: StdinMode,
    pub(crate) stdout: OutputMode,
    pub(crate) stderr: OutputMode,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) observe_level: ObserveLevel,
    pub(crate) observe_required: bool,
    pub(crate) last_check: Option<LastCheck>,
    pub(crate) terminal: Option<TerminalSize>,
}

/// What is asked once more when every layer is in place: whether the program may be executed, or why not.
pub(crate) type LastCheck = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;

impl Command {
    /// A program by name, looked for in `PATH`, or by its path.
    #[must_use]
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            stdin: StdinMode::Empty,
            stdout: OutputMode::Inherited,
            stderr: OutputMode::Inherited,
            observer: None,
            observe_level: ObserveLevel::default(),
            observe_required: false,
            last_check: None,
            terminal: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Where its standard input comes from.
    #[must_use]
    pub fn stdin(mut self, input: StdinMode) -> Self {
        self.stdin = input;
        self
    }

    /// Where its standard output goes.
    #[must_use]
    pub fn stdout(mut self, output: OutputMode) -> Self {
        self.stdout = output;
        self
    }

    /// Where its standard error goes.
    #[must_use]
    pub fn stderr(mut self, output: OutputMode) -> Self {
        self.stderr = output;
        self
    }

    /// Gives it a terminal of its own, which is its standard input, output and error and its controlling terminal: see
    /// [`RunningCommand::terminal`](crate::RunningCommand::terminal). What was said of the three streams does not count then.
    #[must_use]
    pub fn terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// The observer that is told what the command tries, as it happens. Files and programs are observed only where there is one.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How much is observed; everything unless set.
    #[must_use]
    pub fn observe_level(mut self, observe_level: ObserveLevel) -> Self {
        self.observe_level = observe_level;
        self
    }

    /// Ends the run if something cannot be reported to the observer.
    #[must_use]
    pub fn observe_required(mut self) -> Self {
        self.observe_required = true;
        self
    }

    /// Asks once more when every layer is in place, mounts among them: where the answer is a reason, the run ends with
    /// [`Error::Refused`](crate::Error::Refused). Where programs are observed, nothing has been executed by then; else it is ended at once.
    #[must_use]
    pub fn last_check(mut self, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.last_check = Some(Arc::new(check));
        self
    }

    /// What is really observed: without an observer, files are not.
    pub(crate) fn effective_level(&self) -> ObserveLevel {
        if self.observer.is_some() {
            self.observe_level
        } else {
            self.observe_level.min(ObserveLevel::Violations)
        }
    }

    /// The program and its arguments, as texts, for a record of the run.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Captures both outputs, at most so many bytes of each.
    #[must_use]
    pub fn captured(self, bytes: usize) -> Self {
        self.stdout(OutputMode::Captured(bytes)).stderr(OutputMode::Captured(bytes))
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            arguments,
            stdin,
            stdout,
            stderr,
            observer,
            observe_level,
            observe_required,
            last_check,
            terminal,
        } = self;
        f.debug_struct("Command")
            .field("program", program)
            .field("arguments", arguments)
            .field("stdin", stdin)
            .field("stdout", stdout)
            .field("stderr", stderr)
            .field("observed", &observer.is_some())
            .field("observe_level", observe_level)
            .field("observe_required", observe_required)
            .field("checked_last", &last_check.is_some())
            .field("terminal", terminal)
            .finish()
    }
}

/// How large a terminal is, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    /// 80 by 24, as terminals were.
    fn default() -> Self {
        Self { rows: 24, columns: 80 }
    }
}

/// Where standard input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdinMode {
    /// There is none: `/dev/null`.
    Empty,
    /// A pipe, written to through [`RunningCommand::stdin`](crate::RunningCommand::stdin).
    Piped,
    /// The launching program's own. Its descriptor can be used like any other: prefer a pipe to a terminal.
    Inherited,
}

/// Where standard output or standard error goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputMode {
    /// Nowhere: `/dev/null`.
    Discarded,
    /// The launching program's own.
    Inherited,
    /// A pipe, read from through [`RunningCommand::stdout`](crate::RunningCommand::stdout).
    Piped,
    /// The [`RunOutcome`](crate::RunOutcome), at most so many bytes. What comes after is counted and thrown away.
    Captured(usize),
}
