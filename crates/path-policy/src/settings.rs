//! The choices a policy is made of.

use std::fmt;

/// What is to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Its content, or that it exists, is looked at.
    Read,
    /// It is made, changed, moved or removed.
    Write,
    /// Both.
    ReadWrite,
}

impl AccessKind {
    pub(crate) fn writes(self) -> bool {
        self != Self::Read
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "read and write",
        })
    }
}

/// What a tool may do once its paths have been found to be inside. The stricter is the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolMode {
    /// It runs.
    #[default]
    Allow,
    /// Somebody is asked. Without a prompter nobody can be, and the call is denied.
    Prompt,
    /// It does not run.
    Deny,
}

/// What happens to a call of a tool that is in no table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum UnknownTools {
    /// It is not looked at. Only for runtimes whose unknown tools cannot touch files.
    Ignore,
    /// Arguments that look like paths, by their key or by their value, are checked for reading and writing.
    #[default]
    Check,
    /// It is denied.
    Deny,
}

/// How a name is compared with a forbidden one.
///
/// It only ever makes a policy stricter. Roots are always compared byte by byte: to take `/WS` for `/ws` on a
/// file system that tells them apart would let a path out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CaseHandling {
    /// `Secret` and `secret` are two names, as on most Linux file systems.
    #[default]
    Sensitive,
    /// They are one: for ext4 and f2fs folders with casefold, exFAT, NTFS, CIFS and shared folders of virtual machines.
    Insensitive,
}

/// What happens when a tool that reads the files below a folder (`Grep`) is pointed at one with a forbidden path somewhere
/// below it. Tools that only list names (`Glob`, `LS`) are not concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ForbiddenBelow {
    /// It is denied: the tool would walk into the forbidden path by itself, where this policy does not see it.
    #[default]
    Deny,
    /// It is allowed. Only for tools that leave forbidden paths out themselves, by asking
    /// [`PathPolicy::check`](crate::PathPolicy::check) for each file they meet.
    Allow,
}
