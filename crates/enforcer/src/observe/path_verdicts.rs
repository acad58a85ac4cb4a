//! What comes of an access: the rules of the run, asked again, and what is there.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::path_resolver::{Found, Inside, Lead, plain};
use super::syscall_record::RawPath;
use super::{Access, Actor, Operation};
use crate::layers::mounts::{HOME, RUNTIME_DIR, TMP};
use crate::prepare::executable::Executable;
use crate::prepare::grants::{self, Grants, Source, is_within};

/// Folders that every run has for itself, to write in.
const PRIVATE: [&str; 5] = [HOME, TMP, RUNTIME_DIR, "/dev/shm", "/dev/pts"];

const NOT_GRANTED: &str = "not granted";

/// What a run may do with files.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    grants: Grants,
    /// Where not every program may be executed.
    executable: Option<Executable>,
    inside: Inside,
}

/// What there is to say of a path.
#[derive(Debug)]
pub(super) struct Judged {
    /// As it was named, from the root on.
    pub(super) path: PathBuf,
    /// Where it leads, if elsewhere.
    pub(super) real: Option<PathBuf>,
    pub(super) verdict: Access,
}

impl Paths {
    pub(crate) fn new(grants: Grants, executable: Option<Executable>) -> Self {
        let inside = Inside::new(&grants);
        Self { grants, executable, inside }
    }

    /// What another thread needs to find out where paths lead.
    pub(crate) fn inside(&self) -> Inside {
        self.inside.clone()
    }

    /// The same of a program that is executed.
    pub(super) fn judge_program(&self, raw: &RawPath, actor: Option<&Actor>) -> Judged {
        let judged = self.judge(Operation::Read, raw, actor);
        let (Some(executable), Access::Allowed(_)) = (&self.executable, &judged.verdict) else {
            return judged;
        };
        let lead = raw.lead.clone().or_else(|| self.inside.lead(raw, actor));
        if lead.is_some_and(|lead| executable.covers(&lead.path)) {
            return judged;
        }
        Judged { verdict: Access::Denied("not among the programs that may be executed"), ..judged }
    }

    /// The path from the root on, and what comes of the access.
    pub(super) fn judge(&self, operation: Operation, raw: &RawPath, actor: Option<&Actor>) -> Judged {
        let path = whole(raw, actor);
        // What cannot change was not looked at while its caller waited. Its links are those of the system, and tell nothing.
        let lead = raw.lead.clone();
        let is_settled = lead.is_none();
        let lead = lead.or_else(|| self.inside.lead(raw, actor));
        let lead = lead.unwrap_or_else(|| Lead { path: path.clone(), found: Found::Nothing });
        let verdict = match self.access(operation, &lead, raw.makes, actor) {
            // A link that the system has put there, to something that is not in every sandbox: the program asked for a file of the system.
            Access::Denied(NOT_GRANTED) if is_settled && operation == Operation::Read => Access::NotThere,
            verdict => verdict,
        };
        let real = (!is_settled && lead.path != path).then_some(lead.path);
        Judged { path, real, verdict }
    }

    fn access(&self, operation: Operation, lead: &Lead, makes: bool, actor: Option<&Actor>) -> Access {
        let (real, found) = (&*lead.path, lead.found);
        if self.grants.masks.iter().any(|(mask, _)| is_within(real, mask)) {
            return Access::Denied("forbidden");
        }
        // The sandbox's first process is hidden from the others, though not from here.
        if real.starts_with("/proc/1") {
            return Access::Denied("another process");
        }
        // No read-only mount keeps anybody from a socket.
        let writes = !matches!(operation, Operation::Read | Operation::Connect);
        let is_there = found == Found::There || (makes && found == Found::Folder);
        let own = PRIVATE.iter().find(|private| real.starts_with(private));
        let grant = self.grants.deciding(real);
        // Of two that hold it the nearer one decides: a folder below /tmp may be granted.
        let own = own.filter(|own| !grant.is_some_and(|grant| is_within(&grant.path, Path::new(own))));
        match (own, grant) {
            (Some(own), _) if is_there => Access::Allowed(format!("{own}, private to the run")),
            (_, Some(grant)) if writes && grant.access == grants::Access::Read => Access::Denied("read-only"),
            (_, Some(grant)) if is_there => Access::Allowed(named(grant)),
            (None, None) if found == Found::There => of_the_sandbox(operation, real),
            (None, None) if real.starts_with("/proc") => in_proc(real, writes, actor),
            (None, None) if writes => Access::Denied(NOT_GRANTED),
            (None, None) if is_on_host(real) => Access::Denied(NOT_GRANTED),
            _ => Access::NotThere,
        }
    }
}

/// What the sandbox has put there, and what has no place in the file system: pipes, and files without a name.
fn of_the_sandbox(operation: Operation, real: &Path) -> Access {
    let is_device = real.starts_with("/dev") && real != Path::new("/dev");
    let is_nameless = real.to_str().is_some_and(|path| path.ends_with(" (deleted)")) || is_descriptor(real);
    match operation {
        Operation::Read | Operation::Connect => Access::Allowed("of the sandbox itself".to_owned()),
        Operation::Write if is_device => Access::Allowed("a device of the sandbox".to_owned()),
        _ if is_nameless => Access::Allowed("a descriptor of its own".to_owned()),
        _ => Access::Denied("read-only"),
    }
}

fn in_proc(path: &Path, writes: bool, actor: Option<&Actor>) -> Access {
    let own = actor.and_then(|actor| actor.inner_pid).map(|own| format!("/proc/{own}"));
    if writes {
        Access::Denied("read-only")
    } else if own.is_some_and(|own| path.starts_with(own)) {
        Access::NotThere
    } else {
        hidden_process(path)
    }
}

/// One of the descriptors in a process's folder.
fn is_descriptor(path: &Path) -> bool {
    let mut parts = path.components().map(Component::as_os_str);
    parts.nth(1).is_some_and(|part| part == "proc") && parts.any(|part| part == "fd")
}

/// Whether the host has something of this name. What is not for us to look at counts as something.
fn is_on_host(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
        ),
        Ok(_) => true,
    }
}

/// Processes of the host are not in the sandbox's /proc; what a program wants of them is known by the name.
fn hidden_process(path: &Path) -> Access {
    let number = path.components().nth(2).and_then(|part| part.as_os_str().to_str());
    match number {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => Access::Denied("another process"),
        _ => Access::NotThere,
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
    let whole = plain(&base.join(text));
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

/// What a symbolic link says, from the root on.
pub(super) fn below(link: &Path, says: &RawPath) -> PathBuf {
    let base = link.parent().unwrap_or(link).as_os_str().as_bytes().to_owned();
    whole(&RawPath::new(says.text.clone(), Some(base), true, false), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str, base: Option<&str>) -> RawPath {
        RawPath::new(text.into(), base.map(Into::into), true, false)
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
