//! Why a program cannot be started, and what to do about it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Why a name does not lead to a program that can be started inside.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// Not a name at all.
    #[error("{name:?} cannot be the name of a program: {why}")]
    BadName { name: OsString, why: &'static str },
    /// In none of the folders of the PATH.
    #[error("no program {name:?} in {}{}", folders(searched, *ignored), hint(near.as_deref(), refused.as_ref()))]
    NotOnPath {
        name: OsString,
        searched: Vec<PathBuf>,
        /// Entries that would have meant the current folder.
        ignored: usize,
        near: Option<String>,
        /// A file of that name that may not be executed.
        refused: Option<PathBuf>,
    },
    /// No such file.
    #[error("there is no {}{}; a name with a slash is taken from the working folder", shown(path), hint(near.as_deref(), None))]
    Missing { path: PathBuf, near: Option<String> },
    /// A folder where a program was expected.
    #[error("{} is a directory, not a program; name a file in it", shown(.0))]
    Directory(PathBuf),
    /// A FIFO, a socket, a device.
    #[error("{} is not a regular file, so it cannot be a program", shown(.0))]
    NotAFile(PathBuf),
    /// No permission to execute it.
    #[error(
        "{0} may not be executed; `chmod +x {1}`, or name the interpreter as the command and the file as its argument",
        shown(path),
        typed(path)
    )]
    NotExecutable { path: PathBuf },
    /// The disk said no.
    #[error("{} cannot be looked at: {source}", shown(path))]
    Io { path: PathBuf, source: io::Error },
    /// snap programs start through a set-user-id helper.
    #[error(
        "{} is a snap; snaps start through a set-user-id program, which gains nothing in a sandbox. Install it another way, by the distribution's packages or from its authors",
        shown(.0)
    )]
    Snap(PathBuf),
    /// A place no program is taken from.
    #[error("{} is not a folder that programs may be started from: {why}", shown(path))]
    Place { path: PathBuf, why: &'static str },
    /// A version manager's stand-in that leads nowhere.
    #[error("{manager} answers for {program:?}, but {why}; {cure}")]
    Shim { manager: &'static str, program: OsString, why: String, cure: String },
    /// A file in the skill's own folder points out of it, to no installation.
    #[error(
        "{} leads out of the skill's own folder to {}, which is not a known installation here; name that program as the command instead",
        shown(from),
        shown(to)
    )]
    LeadsOut { from: PathBuf, to: PathBuf },
    /// The Python a virtual environment was made from.
    #[error(
        "{} names {home:?} as the Python it was made from, and {why}; make the environment again with a Python that is installed",
        shown(cfg)
    )]
    VenvBase { cfg: PathBuf, home: String, why: &'static str },
    /// The kernel would answer ENOEXEC.
    #[error("{} {why}", shown(path))]
    Format { path: PathBuf, why: &'static str },
    /// The interpreter a script names cannot be had.
    #[error("{}: its first line names {interpreter:?}: {source}", shown(script))]
    Interpreter { script: PathBuf, interpreter: OsString, source: Box<Self> },
    /// The interpreter exists, but under another path inside.
    #[error(
        "{}: its first line names {}, which stands in for {}; write `#!/usr/bin/env {}`, or name the interpreter as the command",
        shown(script), shown(interpreter), shown(real), shown(Path::new(interpreter.file_name().unwrap_or_default()))
    )]
    StandIn { script: PathBuf, interpreter: PathBuf, real: PathBuf },
    /// Scripts run by scripts, or links without an end.
    #[error("{} goes through too many links or scripts (the limit is {limit})", shown(path))]
    TooDeep { path: PathBuf, limit: usize },
}

impl ProgramError {
    /// Whether nothing of that name is there, rather than something that cannot be used.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::NotOnPath { refused: None, .. } | Self::Missing { .. })
    }
}

fn folders(searched: &[PathBuf], ignored: usize) -> String {
    let mut text = match searched {
        [] => "the PATH, which names no folder".to_owned(),
        [one] => shown(one),
        many => {
            let names: Vec<String> = many.iter().take(8).map(|folder| shown(folder)).collect();
            let rest = many.len().saturating_sub(names.len());
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        }
    };
    if ignored > 0 {
        text += " (empty and relative entries of the PATH mean the current folder and are not searched)";
    }
    text
}

fn hint(near: Option<&str>, refused: Option<&PathBuf>) -> String {
    match (refused, near) {
        (Some(path), _) => {
            format!("; {} may not be executed: `chmod +x {}`", shown(path), typed(path))
        }
        (None, Some(near)) => format!("; did you mean {near:?}?"),
        (None, None) => "; install it, or give its full path".to_owned(),
    }
}

/// A path for a message: names come from strangers, and a terminal obeys what it is shown.
fn shown(path: &Path) -> String {
    skillsandbox_text::escape_line(&path.to_string_lossy())
}

/// A path for a command in a message: pasted into a shell, it is that path and nothing else.
fn typed(path: &Path) -> String {
    shown(Path::new(&skillsandbox_text::quote_word(&path.to_string_lossy())))
}
