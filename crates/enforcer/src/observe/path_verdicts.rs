//! Judges an access by the rules of the run and by what is there.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::local_walk::{WalkEnd, walk};
use super::mount_table::MountTable;
use super::path_resolver::{PathPresence, ResolvedPath, SandboxPathResolver, join_base, normalise};
use super::sandbox_root::MountPlace;
use super::syscall_record::CallerPath;
use super::{AccessVerdict, Actor};
use crate::layers::landlock;
use crate::layers::mounts::{HOME, RUNTIME_DIR, TMP};
use crate::plan::PathAccess;
use crate::prepare::executable::AllowedPrograms;
use crate::prepare::grants::{Grant, GrantSource, Grants, is_within};
use skillsandbox_terms::FileOperation;

/// Folders that every run has for itself, to write in.
const PRIVATE: [&str; 5] = [HOME, TMP, RUNTIME_DIR, "/dev/shm", "/dev/pts"];

const NOT_GRANTED: &str = "not granted";
const NAMELESS: &str = "what is executed has no name, and rules about programs go by names";
const NOT_ASKED: &str = "it lies on a file system that others answer for, and they were not asked";
const MOUNTED_LATER: &str = "it lies on a mount that was made while the run went on";
const CAME_LATER: &str = "it has the name of something forbidden, and was not there when the run began";
const UNCOVERED: &str =
    "the host has put something else in the place of what was hidden, or might only be read";
const REMOVED_FOLDER: &str = "it begins in a folder that was removed, and has no name";
const REMOVED_FILE: &str = "it was removed, and what has its name now may be another";
const WRITABLE: &str = "what can be written may not be executed";
const NOT_EXECUTABLE: &str = "not among the programs that may be executed";

/// What a run may do with files.
#[derive(Debug, Default)]
pub(crate) struct PathJudge {
    grants: Grants,
    /// Where not every program may be executed.
    executable: Option<AllowedPrograms>,
    /// Whether what can be written may not be executed.
    no_exec: bool,
    resolver: SandboxPathResolver,
    settled: Mutex<SettledPaths>,
    /// Made when it is needed.
    host: Mutex<Option<HostView>>,
}

/// Where paths of the system led a moment ago. Every program begins with the same few, and nobody inside can change them.
#[derive(Debug, Default)]
struct SettledPaths {
    known: HashMap<Vec<u8>, (ResolvedPath, Instant)>,
}

impl SettledPaths {
    /// How long they count: the host may change them.
    const VALID_FOR: Duration = Duration::from_secs(1);

    /// Paths that are remembered. The names are a skill's to choose.
    const MOST: usize = 256;

    fn get_or(
        &mut self,
        text: &[u8],
        now: Instant,
        resolve: impl FnOnce() -> Option<ResolvedPath>,
    ) -> Option<ResolvedPath> {
        let is_recent = |since: &Instant| now.duration_since(*since) < Self::VALID_FOR;
        if let Some((path, _)) = self.known.get(text).filter(|(_, since)| is_recent(since)) {
            return Some(path.clone());
        }
        let path = resolve()?;
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(text.to_owned(), (path.clone(), now));
        Some(path)
    }
}

/// A path and the verdict on it.
#[derive(Debug)]
pub(super) struct JudgedPath {
    /// As it was named, from the root on.
    pub(super) path: PathBuf,
    /// Where it leads, if elsewhere.
    pub(super) real: Option<PathBuf>,
    pub(super) verdict: AccessVerdict,
}

impl PathJudge {
    pub(crate) fn new(grants: Grants, executable: Option<AllowedPrograms>, no_exec: bool) -> Self {
        let resolver = SandboxPathResolver::new(&grants);
        Self { grants, executable, no_exec, resolver, settled: Mutex::default(), host: Mutex::default() }
    }

    /// What another thread needs to find out where paths lead.
    pub(crate) fn resolver(&self) -> SandboxPathResolver {
        self.resolver.clone()
    }

    /// Judges a program that is executed.
    pub(super) fn judge_program(&self, raw: &CallerPath, actor: Option<&Actor>) -> JudgedPath {
        let judged = self.judge(FileOperation::Read, raw, actor);
        let AccessVerdict::Allowed(_) = &judged.verdict else { return judged };
        let Some(reason) = self.keeps_from_executing(raw, actor) else { return judged };
        JudgedPath { verdict: reason, ..judged }
    }

    /// The verdict on executing what may be read, where that is not allowed.
    fn keeps_from_executing(&self, raw: &CallerPath, actor: Option<&Actor>) -> Option<AccessVerdict> {
        if !self.no_exec {
            return None;
        }
        let resolved = raw.resolved.clone().or_else(|| self.resolve_later(raw, actor));
        let Some(resolved) = resolved else { return Some(AccessVerdict::Unknown(NAMELESS)) };
        let place = self.mount_place(&resolved).ok()?;
        let lies = LiesOn { real: &resolved.path, place, resolver: &self.resolver };
        let reason = match &self.executable {
            Some(executable) if executable.paths.iter().any(|path| lies.is_in(path)) => return None,
            Some(_) => NOT_EXECUTABLE,
            None => match self.holders(&lies) {
                (Some(_), _) => WRITABLE,
                (None, Some(grant)) if grant.access == PathAccess::Write => WRITABLE,
                (None, _) => return None,
            },
        };
        // No rule about files holds what has no place among them.
        Some(match place {
            None if is_nameless(&resolved.path) => AccessVerdict::Unknown(NAMELESS),
            _ => AccessVerdict::Denied(reason),
        })
    }

    /// The path from the root on, and what comes of the access.
    pub(super) fn judge(
        &self,
        operation: FileOperation,
        raw: &CallerPath,
        actor: Option<&Actor>,
    ) -> JudgedPath {
        let path = absolute_path(raw, actor);
        // What cannot change was not looked at while its caller waited. Its links are those of the system, and tell nothing.
        let is_settled = raw.resolved.is_none();
        let looked_up = is_settled.then(|| self.resolve_later(raw, actor)).flatten();
        let nothing;
        let resolved = if let Some(resolved) = raw.resolved.as_ref().or(looked_up.as_ref()) {
            resolved
        } else {
            nothing = ResolvedPath { path: path.clone(), found: PathPresence::Nothing, mount: None };
            &nothing
        };
        let verdict = match self.judge_access(operation, resolved, raw.makes, actor) {
            // A link that the system has put there, to something that is not in every sandbox: the program asked for a file of the system.
            AccessVerdict::Denied(NOT_GRANTED) if is_settled && operation == FileOperation::Read => {
                AccessVerdict::NotThere
            }
            verdict => verdict,
        };
        let real =
            (!is_settled && resolved.path.as_os_str() != path.as_os_str()).then(|| resolved.path.clone());
        JudgedPath { path, real, verdict }
    }

    /// Where a path leads that was not looked at while its caller waited.
    fn resolve_later(&self, raw: &CallerPath, actor: Option<&Actor>) -> Option<ResolvedPath> {
        if !raw.follows || !self.resolver.is_settled(raw) {
            return self.resolver.resolve(raw, actor);
        }
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        settled.get_or(&raw.text, Instant::now(), || self.resolver.resolve(raw, actor))
    }

    fn judge_access(
        &self,
        operation: FileOperation,
        resolved: &ResolvedPath,
        makes: bool,
        actor: Option<&Actor>,
    ) -> AccessVerdict {
        let (real, found) = (&*resolved.path, resolved.found);
        match found {
            PathPresence::NotAsked => return AccessVerdict::Unknown(NOT_ASKED),
            PathPresence::Unnamed => return AccessVerdict::Unknown(REMOVED_FOLDER),
            PathPresence::There | PathPresence::Folder | PathPresence::Nothing => {}
        }
        let Ok(place) = self.mount_place(resolved) else { return AccessVerdict::Unknown(MOUNTED_LATER) };
        let lies = LiesOn { real, place, resolver: &self.resolver };
        let verdict = self.judge_place(operation, found, makes, &lies, actor);
        // What was removed lies where it lay, and its name may be another's by now.
        let is_by_name = place.is_none() && found == PathPresence::There && is_nameless(real);
        match verdict {
            AccessVerdict::Denied(_) if is_by_name => AccessVerdict::Unknown(REMOVED_FILE),
            verdict => verdict,
        }
    }

    fn judge_place(
        &self,
        operation: FileOperation,
        found: PathPresence,
        makes: bool,
        lies: &LiesOn<'_>,
        actor: Option<&Actor>,
    ) -> AccessVerdict {
        let real = lies.real;
        if self.grants.masks.iter().any(|(mask, _)| lies.is_in(mask)) {
            return AccessVerdict::Denied("forbidden");
        }
        let (own, grant) = self.holders(lies);
        if grant.is_some_and(|grant| self.is_uncovered(grant, lies)) {
            return AccessVerdict::Unknown(UNCOVERED);
        }
        if found == PathPresence::There && self.grants.left_out.iter().any(|name| is_within(real, name)) {
            return AccessVerdict::Unknown(CAME_LATER);
        }
        // The sandbox's first process is hidden from the others, though not from here.
        if real.starts_with("/proc/1") {
            return AccessVerdict::Denied("another process");
        }
        // No read-only mount keeps anybody from a socket.
        let writes = !matches!(operation, FileOperation::Read | FileOperation::Connect);
        let is_there = found == PathPresence::There || (makes && found == PathPresence::Folder);
        match (own, grant) {
            (Some(own), _) if is_there => AccessVerdict::Allowed(format!("{own}, private to the run")),
            (_, Some(grant)) if writes && grant.access == PathAccess::Read => {
                AccessVerdict::Denied("read-only")
            }
            (_, Some(_)) if is_there && self.is_unreadable_program(real) => {
                AccessVerdict::Denied(NOT_EXECUTABLE)
            }
            (_, Some(grant)) if is_there => AccessVerdict::Allowed(describe_grant(grant)),
            (None, None) if found == PathPresence::There => judge_own_file(operation, real),
            (None, None) if real.starts_with("/proc") => judge_proc(real, writes, actor),
            (None, None) if writes => AccessVerdict::Denied(NOT_GRANTED),
            (None, None) if self.is_on_host(real) => AccessVerdict::Denied(NOT_GRANTED),
            _ => AccessVerdict::NotThere,
        }
    }
}

/// A mount was made while the run went on: what it holds is not known.
struct MountedLater;

/// Where something lies: by the mount it is on, where that is known, and only then by its name. A folder above a mount can be moved
/// inside, another one can be made in its place, and the host can take a mount away by putting another file where it is.
struct LiesOn<'a> {
    real: &'a Path,
    /// The place that its mount had when the run began.
    place: Option<&'a Path>,
    resolver: &'a SandboxPathResolver,
}

impl LiesOn<'_> {
    /// Whether it lies in what had this path when the run began.
    fn is_in(&self, path: &Path) -> bool {
        match self.place {
            Some(place) if is_within(place, path) => true,
            Some(place) => is_within(self.real, path) && self.resolver.was_on_mount(path, place),
            None => is_within(self.real, path),
        }
    }
}

impl PathJudge {
    /// The place that the mount of something had when the run began, where that is known; an error where the mount came later.
    fn mount_place(&self, resolved: &ResolvedPath) -> Result<Option<&Path>, MountedLater> {
        match resolved.mount.and_then(|mount| self.resolver.mount_place(mount)) {
            Some(MountPlace::First(place)) => Ok(Some(place)),
            // What is in memory, or was removed, may lie on a mount that is in no place.
            Some(MountPlace::Later) if is_nameless(&resolved.path) => Ok(None),
            Some(MountPlace::Later) => Err(MountedLater),
            None => Ok(None),
        }
    }

    /// The private folder and the grant that something lies in. Of two that hold it the nearer one decides: a folder below /tmp may be granted.
    fn holders(&self, lies: &LiesOn<'_>) -> (Option<&'static str>, Option<&Grant>) {
        let grant = self.grants.all.iter().rev().find(|grant| lies.is_in(&grant.path));
        let own = PRIVATE.into_iter().find(|private| lies.is_in(Path::new(private)));
        (own.filter(|own| !grant.is_some_and(|grant| is_within(&grant.path, Path::new(own)))), grant)
    }

    /// Whether something has the name of what is covered below this grant, by a mask or by a grant that is narrower, and is not under the cover.
    fn is_uncovered(&self, grant: &Grant, lies: &LiesOn<'_>) -> bool {
        let narrower = self.grants.all.iter().filter(|other| other.access != grant.access);
        let masks = self.grants.masks.iter().map(|(mask, _)| mask);
        let mut covers = masks.chain(narrower.map(|other| &other.path));
        covers.any(|cover| {
            cover != &grant.path
                && is_within(cover, &grant.path)
                && is_within(lies.real, cover)
                && !lies.is_in(cover)
        })
    }

    /// Where only some programs may be executed, the others of the system may not be read either.
    fn is_unreadable_program(&self, real: &Path) -> bool {
        let Some(executable) = &self.executable else { return false };
        let is_granted = |grant: &Grant| grant.source != GrantSource::System && is_within(real, &grant.path);
        real.ancestors().skip(1).any(landlock::is_program_folder)
            && !executable.covers(real)
            && !self.grants.all.iter().any(is_granted)
            && !self.resolver.is_folder(real)
    }
}

/// The host's own root and mounts.
#[derive(Debug)]
struct HostView {
    root: OwnedFd,
    mounts: MountTable,
}

impl HostView {
    fn open() -> Option<Self> {
        let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Self {
            root, // Of this thread: an embedding program may have put it into another namespace than its first.
            mounts: MountTable::of("thread-self")?,
        })
    }
}

impl PathJudge {
    /// Whether the host has something of this name. What is not for us to look at counts as something, and so does what only another
    /// machine, a daemon or a program could tell: the skill chose the name, and they would be told it.
    fn is_on_host(&self, path: &Path) -> bool {
        let mut host = self.host.lock().unwrap_or_else(PoisonError::into_inner);
        if host.is_none() {
            *host = HostView::open();
        }
        let Some(view) = host.as_mut() else { return true };
        walk(view.root.as_fd(), &mut view.mounts, path) != WalkEnd::Absent
    }
}

/// What the sandbox has put there, and what has no place in the file system: pipes, and files without a name.
fn judge_own_file(operation: FileOperation, real: &Path) -> AccessVerdict {
    let is_device = real.starts_with("/dev") && real != Path::new("/dev");
    let is_nameless = is_nameless(real);
    match operation {
        FileOperation::Read | FileOperation::Connect => {
            AccessVerdict::Allowed("of the sandbox itself".to_owned())
        }
        FileOperation::Write if is_device => AccessVerdict::Allowed("a device of the sandbox".to_owned()),
        _ if is_nameless => AccessVerdict::Allowed("a descriptor of its own".to_owned()),
        _ => AccessVerdict::Denied("read-only"),
    }
}

fn judge_proc(path: &Path, writes: bool, actor: Option<&Actor>) -> AccessVerdict {
    let own = actor.and_then(|actor| actor.inner_pid).map(|own| format!("/proc/{own}"));
    if writes {
        AccessVerdict::Denied("read-only")
    } else if own.is_some_and(|own| path.starts_with(own)) {
        AccessVerdict::NotThere
    } else {
        judge_other_process(path)
    }
}

/// Whether something that is open has no place in a file system any more, or never had one.
fn is_nameless(real: &Path) -> bool {
    real.to_str().is_some_and(|path| path.ends_with(" (deleted)")) || is_descriptor(real)
}

/// One of the descriptors in a process's folder.
fn is_descriptor(path: &Path) -> bool {
    let mut parts = path.components().map(Component::as_os_str);
    parts.nth(1).is_some_and(|part| part == "proc") && parts.any(|part| part == "fd")
}

/// Processes of the host are not in the sandbox's /proc; what a program wants of them is known by the name.
fn judge_other_process(path: &Path) -> AccessVerdict {
    let number = path.components().nth(2).and_then(|part| part.as_os_str().to_str());
    match number {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            AccessVerdict::Denied("another process")
        }
        _ => AccessVerdict::NotThere,
    }
}

fn describe_grant(grant: &Grant) -> String {
    let path = grant.path.display();
    match grant.source {
        GrantSource::System => format!("{path}, of the system"),
        GrantSource::Program(reason) => format!("{path}: {reason}"),
        GrantSource::Plan => path.to_string(),
    }
}

/// From the root on, with `.` and `..` taken out as far as that can be done by their names. A program's own /proc is called by its number.
fn absolute_path(raw: &CallerPath, actor: Option<&Actor>) -> PathBuf {
    let absolute = normalise(&join_base(raw));
    let own = actor.and_then(|actor| actor.inner_pid);
    match (absolute.strip_prefix("/proc/self"), own) {
        (Ok(rest), Some(own)) => {
            let rest = rest.to_owned();
            let mut own_path = PathBuf::from(format!("/proc/{own}"));
            if rest.components().next().is_some() {
                own_path.push(rest);
            }
            own_path
        }
        _ => absolute,
    }
}

/// What a symbolic link says, from the root on.
pub(super) fn link_target(link: &Path, says: &CallerPath) -> PathBuf {
    let base = link.parent().unwrap_or(link).as_os_str().as_bytes().to_owned();
    absolute_path(&CallerPath::new(says.text.clone(), Some(base), true, false), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str, base: Option<&str>) -> CallerPath {
        CallerPath::new(text.into(), base.map(Into::into), true, false)
    }

    #[test]
    fn paths_of_the_system_are_looked_up_again_after_a_second_and_few_are_kept() {
        let mut settled = SettledPaths::default();
        let now = Instant::now();
        let mut looked_up = 0;
        let mut ask = |settled: &mut SettledPaths, text: &str, now| {
            let path = settled.get_or(text.as_bytes(), now, || {
                looked_up += 1;
                Some(ResolvedPath { path: text.into(), found: PathPresence::There, mount: Some(looked_up) })
            });
            path.unwrap().mount.unwrap()
        };
        assert_eq!((ask(&mut settled, "/usr/a", now), ask(&mut settled, "/usr/b", now)), (1, 2));
        let later = now + Duration::from_millis(999);
        assert_eq!((ask(&mut settled, "/usr/b", later), ask(&mut settled, "/usr/a", later)), (2, 1));
        assert_eq!(ask(&mut settled, "/usr/a", now + SettledPaths::VALID_FOR), 3);
        for number in 0..2 * SettledPaths::MOST {
            ask(&mut settled, &format!("/usr/{number}"), now);
            assert!(settled.known.len() <= SettledPaths::MOST);
        }
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
            assert_eq!(absolute_path(&raw(text, base), None), Path::new(expected), "{text}");
        }
        let actor = Actor { pid: 4711, thread: 4711, inner_pid: Some(7), parent: None, binary: None };
        assert_eq!(
            absolute_path(&raw("/proc/self/environ", None), Some(&actor)),
            Path::new("/proc/7/environ")
        );
        assert_eq!(absolute_path(&raw("/proc/self", None), Some(&actor)), Path::new("/proc/7"));
        assert_eq!(absolute_path(&raw("/proc/selfish", None), Some(&actor)), Path::new("/proc/selfish"));
    }
}
