//! `--tty`: the user's terminal while a run has one of its own.

use std::io::{IsTerminal as _, stdin, stdout};

use anyhow::{Context as _, ensure};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use skillsandbox_run::RunTerminal;

/// Longest name of a kind of terminal.
const MAX_KIND: usize = 64;

/// The user's terminal passes every key on, Ctrl-C too, until this goes out of scope: at the end of a run, after an error or a panic.
pub(super) struct RawTerminal {
    before: Termios,
}

impl RawTerminal {
    /// Needs a terminal on both sides.
    pub(super) fn enter() -> anyhow::Result<Self> {
        check_terminals()?;
        let before = tcgetattr(stdin()).context("cannot read the state of the terminal")?;
        let mut raw = before.clone();
        cfmakeraw(&mut raw);
        tcsetattr(stdin(), SetArg::TCSADRAIN, &raw).context("cannot change the state of the terminal")?;
        Ok(Self { before })
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // What was typed and not read is thrown away: an answer of the terminal to the run must not become a command of the user's shell.
        let _ = tcsetattr(stdin(), SetArg::TCSAFLUSH, &self.before);
    }
}

/// Before anything is made for the run.
pub(super) fn check_terminals() -> anyhow::Result<()> {
    ensure!(stdin().is_terminal(), "--tty needs a terminal, and standard input is not one: leave it out");
    ensure!(stdout().is_terminal(), "--tty needs a terminal, and standard output is not one: leave it out");
    Ok(())
}

/// A terminal for the run, as large as the user's.
pub(super) fn run_terminal() -> RunTerminal {
    let (rows, columns) = size().unwrap_or((24, 80));
    RunTerminal::new(rows, columns)
}

/// Lines and columns of the user's terminal.
pub(super) fn size() -> Option<(u16, u16)> {
    let (width, height) = terminal_size::terminal_size()?;
    Some((height.0, width.0))
}

/// The kind of the user's terminal, for programs inside: a name of letters, digits and `-+._`.
pub(super) fn kind() -> String {
    let is_plain = |name: &String| {
        !name.is_empty()
            && name.len() <= MAX_KIND
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte))
    };
    std::env::var("TERM").ok().filter(is_plain).unwrap_or_else(|| "xterm".to_owned())
}
