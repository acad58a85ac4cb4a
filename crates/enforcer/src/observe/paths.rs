//! What comes of an access: the rules of the run, asked again, and what is there.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

use super::raw::RawPath;
use super::root::Root;
use super::{Access, Actor, Operation};
use crate::grants::{self, Grants, Source, is_within};
use crate::layers::mounts::{HOME, RUNTIME_DIR, TMP};

/// Folders that every run has for itself, to write in.
const PRIVATE: [&str; 4] = [HOME, TMP, RUNTIME_DIR, "/dev"];

/// What a run may do with files.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    grants: Grants,
    /// The root of the sandbox, once one of its processes could be asked for it.
    root: Root,
}

impl Paths {
    pub(crate) fn new(grants: Grants) -> Self {
        Self { grants, root: Root::default() }
    }

    /// For whoever can take hold of it.
    pub(crate) fn root(&self) -> Root {
        self.root.clone()
    }

    /// The path from the root on, and what comes of the access.
    pub(super) fn judge(
        &self,
        operation: Operation,
        path: &RawPath,
        actor: Option<&Actor>,
    ) -> (PathBuf, Access) {
        let path = whole(path, actor);
        let access = self.access(operation, &path, actor);
        (path, access)
    }

    fn access(&self, operation: Operation, path: &Path, actor: Option<&Actor>) -> Access {
        if self.grants.masks.iter().any(|(mask, _)| is_within(path, mask)) {
            return Access::Denied("forbidden");
        }
        // The sandbox's first process is hidden from the others, though not from here.
        if path.starts_with("/proc/1") {
            return Access::Denied("another process");
        }
        let found = self.find(path);
        // Links are followed inside: what counts is where they lead.
        let real = found.as_deref().unwrap_or(path);
        if self.grants.masks.iter().any(|(mask, _)| is_within(real, mask)) {
            return Access::Denied("forbidden");
        }
        let writes = operation != Operation::Read;
        let own = PRIVATE.iter().find(|private| real.starts_with(private));
        let grant = self.grants.deciding(real);
        match (found.is_some(), own, grant) {
            (_, Some(own), _) if writes || found.is_some() => {
                Access::Allowed(format!("{own}, private to the run"))
            }
            (_, _, Some(grant)) if writes => match grant.access {
                grants::Access::Write => Access::Allowed(named(grant)),
                grants::Access::Read => Access::Denied("read-only"),
            },
            (true, _, Some(grant)) => Access::Allowed(named(grant)),
            (true, ..) if writes => Access::Denied("read-only"),
            (true, ..) => Access::Allowed("of the sandbox itself".to_owned()),
            (false, ..) if path.starts_with("/proc") => self.hidden_process(path, actor),
            (false, None, None) if writes => Access::Denied("not granted"),
            (false, None, None) if path.symlink_metadata().is_ok() => Access::Denied("not granted"),
            (false, ..) => Access::NotThere,
        }
    }

    /// Processes of the host are not in the sandbox's /proc; what a program wants of them is known by the name.
    fn hidden_process(&self, path: &Path, actor: Option<&Actor>) -> Access {
        let number = path.components().nth(2).and_then(|part| part.as_os_str().to_str());
        let Some(number) = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit())) else {
            return Access::NotThere;
        };
        let is_own = actor.and_then(|actor| actor.inner_pid).is_some_and(|own| own.to_string() == number);
        if !is_own {
            return Access::Denied("another process");
        }
        // Its own files are there as long as it is. If it is gone by now, they were when it asked.
        match self.find(&Path::new("/proc").join(number)) {
            Some(_) => Access::NotThere,
            None => Access::Allowed("of the sandbox itself".to_owned()),
        }
    }

    /// Where a path leads inside, if there is something.
    fn find(&self, path: &Path) -> Option<PathBuf> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let inside =
            openat2(self.root.descriptor()?, path, flags, Mode::empty(), ResolveFlags::IN_ROOT).ok()?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&inside);
        let link = rustix::fs::readlinkat(CWD, format!("/proc/self/fd/{number}"), Vec::new()).ok()?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(link.into_bytes())))
    }
}

fn named(grant: &grants::Grant) -> String {
    let path = grant.path.display();
    match grant.source {
        Source::System => format!("{path}, of the system"),
        Source::Program(reason) => format!("{path}: {reason}"),
        Source::Plan => path.to_string(),
    }
}

/// From the root on, with `.` and `..` taken out as far as that can be done by their names. A program's own /proc is called by its number.
fn whole(raw: &RawPath, actor: Option<&Actor>) -> PathBuf {
    let text = Path::new(OsStr::from_bytes(&raw.text));
    let base = raw.base.as_deref().map_or(Path::new("/"), |base| Path::new(OsStr::from_bytes(base)));
    let mut whole = PathBuf::from("/");
    for part in base.join(text).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::Normal(part) => whole.push(part),
            _ => {}
        }
    }
    let own = actor.and_then(|actor| actor.inner_pid);
    match (whole.strip_prefix("/proc/self"), own) {
        (Ok(rest), Some(own)) => {
            let rest = rest.to_owned();
            let mut whole = PathBuf::from(format!("/proc/{own}"));
            if rest.components().next().is_some() {
                whole.push(rest);
            }
            whole
        }
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str, base: Option<&str>) -> RawPath {
        RawPath { text: text.into(), base: base.map(Into::into) }
    }

    #[test]
    fn paths_are_told_from_the_root_on() {
        for (text, base, expected) in [
            ("/a/b", None, "/a/b"),
            ("/a//b/./c/", None, "/a/b/c"),
            ("/a/../../b", None, "/b"),
            ("b", Some("/a"), "/a/b"),
            ("../b", Some("/a/c"), "/a/b"),
            ("", Some("/a/c"), "/a/c"),
            ("/b", Some("/a"), "/b"),
            ("b", None, "/b"),
        ] {
            assert_eq!(whole(&raw(text, base), None), Path::new(expected), "{text}");
        }
        let actor = Actor { pid: 4711, thread: 4711, inner_pid: Some(7), parent: None, binary: None };
        assert_eq!(whole(&raw("/proc/self/environ", None), Some(&actor)), Path::new("/proc/7/environ"));
        assert_eq!(whole(&raw("/proc/self", None), Some(&actor)), Path::new("/proc/7"));
        assert_eq!(whole(&raw("/proc/selfish", None), Some(&actor)), Path::new("/proc/selfish"));
    }
}
