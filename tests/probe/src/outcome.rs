//! What became of an attempt.

use std::fmt::Display;
use std::io;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// The judgement on one technique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was tried and refused.
    Held,
    /// It was tried and its effect was seen.
    Through,
    /// It could not be tried here.
    Unable,
}

/// One line of `attack`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Its name.
    pub technique: String,
    /// The group it belongs to.
    pub group: String,
    /// What became of it.
    pub verdict: Verdict,
    /// The error, the signal or the effect.
    pub detail: String,
}

/// Reads what `attack` printed. A line that is no report is an error: a probe that was cut off must not look like one that held.
pub fn reports(printed: &str) -> serde_json::Result<Vec<Report>> {
    printed.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str).collect()
}

/// An attempt: what was achieved, or what stopped it.
pub type Tried = Result<String, Stopped>;

/// Why an attempt achieved nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Something refused.
    Held(String),
    /// It cannot be tried here.
    Unable(String),
}

impl Stopped {
    pub(crate) fn held(why: impl Into<String>) -> Self {
        Self::Held(why.into())
    }

    pub(crate) fn unable(why: impl Into<String>) -> Self {
        Self::Unable(why.into())
    }
}

/// A call that failed was refused, unless the technique says otherwise.
impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Held(shown(&error))
    }
}

impl From<Errno> for Stopped {
    fn from(errno: Errno) -> Self {
        Self::Held(name(errno))
    }
}

/// An error by the name its manual page knows it by.
pub(crate) fn shown(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), |code| name(Errno::from_raw(code)))
}

fn name(errno: Errno) -> String {
    format!("{errno:?}")
}

/// The number of an error of either library.
pub(crate) fn code(error: impl Into<io::Error>) -> Errno {
    Errno::from_raw(error.into().raw_os_error().unwrap_or_default())
}

/// What the kernel says before it looks at arguments: it may not be, it is not there, or nothing here may be written.
const REFUSALS: &[Errno] = &[Errno::EPERM, Errno::EACCES, Errno::ENOSYS, Errno::EROFS];

/// Judges a call made with arguments that cannot work. Refused for who made it: held. Refused for its arguments: it got past every
/// check of permission, and with better ones would have worked.
pub(crate) fn reached<T>(result: Result<T, impl Into<io::Error>>) -> Tried {
    reached_unless(result, &[])
}

/// The same, where other errors mean a refusal too.
pub(crate) fn reached_unless<T>(result: Result<T, impl Into<io::Error>>, refusals: &[Errno]) -> Tried {
    match result.map_err(code) {
        Ok(_) => Ok("the call succeeded".into()),
        Err(errno) if REFUSALS.contains(&errno) || refusals.contains(&errno) => Err(errno.into()),
        Err(errno) => Ok(format!("the call was let in and failed only for its arguments ({})", name(errno))),
    }
}

/// Several attempts at one thing: through if any was, held if any was really refused.
pub(crate) fn any_of<N: Display>(attempts: impl IntoIterator<Item = (N, Tried)>) -> Tried {
    let (mut through, mut held, mut unable) = (Vec::new(), Vec::new(), Vec::new());
    for (what, tried) in attempts {
        match tried {
            Ok(detail) => through.push(format!("{what}: {detail}")),
            Err(Stopped::Held(why)) => held.push(format!("{what}: {why}")),
            Err(Stopped::Unable(why)) => unable.push(format!("{what}: {why}")),
        }
    }
    match (through.is_empty(), held.is_empty()) {
        (false, _) => Ok(through.join("; ")),
        (true, false) => Err(Stopped::Held(held.join("; "))),
        (true, true) => Err(Stopped::Unable(unable.join("; "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_for_permission_holds_and_one_for_arguments_does_not() {
        let judged = |errno: Errno| reached::<()>(Err(errno));
        for errno in [Errno::EPERM, Errno::EACCES, Errno::ENOSYS, Errno::EROFS] {
            assert_eq!(judged(errno), Err(Stopped::Held(format!("{errno:?}"))));
        }
        for errno in [Errno::EINVAL, Errno::EFAULT, Errno::EBADF, Errno::ENOEXEC] {
            assert!(judged(errno).is_ok(), "{errno:?}");
        }
        assert!(reached::<()>(Ok::<(), Errno>(())).is_ok());
        assert!(reached_unless::<()>(Err(Errno::ESRCH), &[Errno::ESRCH]).is_err());
    }

    #[test]
    fn of_several_attempts_the_worst_counts() {
        let held = || Err(Stopped::held("EPERM"));
        let unable = || Err(Stopped::unable("not here"));
        assert_eq!(any_of([("a", held()), ("b", Ok("read".into()))]), Ok("b: read".into()));
        assert_eq!(any_of([("a", unable()), ("b", held())]), Err(Stopped::held("b: EPERM")));
        assert_eq!(any_of([("a", unable())]), Err(Stopped::unable("a: not here")));
        assert_eq!(any_of::<&str>([]), Err(Stopped::unable("")));
    }

    #[test]
    fn half_a_line_is_an_error() {
        let line = r#"{"technique":"a","group":"b","verdict":"held","detail":"EPERM"}"#;
        assert_eq!(reports(&format!("{line}\n\n{line}\n")).unwrap().len(), 2);
        assert!(reports(&format!("{line}\n{}", line.get(..20).unwrap())).is_err());
    }
}
