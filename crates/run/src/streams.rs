//! What a run prints, and where that goes.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Where output goes, besides the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputTarget {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To the same output of this program, as it is.
    Own,
    /// To the same output of this program, which is a terminal: what would control it is shown instead of done.
    Terminal,
    /// To this program's standard output, a terminal, from a terminal of the run's own: drawing passes, and what the user's terminal would
    /// answer, or do elsewhere than on the screen, is left out.
    Screen,
    /// Into the result, as it is.
    Kept,
    /// To this program's standard error, as it is.
    Error,
}

/// What was printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintedOutput {
    /// The bytes, where they were to be kept: the first of them, where only so many were.
    pub kept: Vec<u8>,
    /// How many there were in all.
    pub total: u64,
    /// How many of them were thrown away, for the limit.
    pub omitted: u64,
    /// Why no more could be handed on, where it could not: somebody closed the pipe ([`io::ErrorKind::BrokenPipe`]), or the disk is full. The
    /// run's own end of it was closed then.
    pub failed: Option<io::ErrorKind>,
}

/// A terminal of its own for a run, in the place of its three streams. Clones are the same terminal.
///
/// What this program reads from its standard input is typed there, and what the run shows goes where [`RunStreams::stdout`] says.
///
/// [`RunStreams::stdout`]: crate::RunStreams::stdout
#[derive(Clone)]
pub struct RunTerminal(Arc<Mutex<TerminalState>>);

struct TerminalState {
    rows: u16,
    columns: u16,
    tell: Option<Box<dyn Fn(u16, u16) + Send>>,
}

impl RunTerminal {
    /// One of this size.
    #[must_use]
    pub fn new(rows: u16, columns: u16) -> Self {
        Self(Arc::new(Mutex::new(TerminalState { rows, columns, tell: None })))
    }

    /// The user's window has this size from now on.
    pub fn resize(&self, rows: u16, columns: u16) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.rows, state.columns) = (rows, columns);
        if let Some(tell) = &state.tell {
            tell(rows, columns);
        }
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn size(&self) -> (u16, u16) {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (state.rows, state.columns)
    }

    /// Who is told of a new size, and of the one that it has by now.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn on_resize(&self, tell: impl Fn(u16, u16) + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tell(state.rows, state.columns);
        state.tell = Some(Box::new(tell));
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nothing runs there yet"))]
    pub(crate) fn ended(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tell = None;
    }
}

impl fmt::Debug for RunTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("RunTerminal")
            .field("rows", &state.rows)
            .field("columns", &state.columns)
            .finish_non_exhaustive()
    }
}
