//! Changes of the store, each whole or not at all.
//!
//! A change is prepared in a folder of its own: the new files, and the new lock. Then a journal is put in place by one rename: from
//! there on the change will happen, and before it has not. What follows are renames that can be done again, so whoever comes next
//! finishes what a crash cut short, or throws away what was not yet decided. A lock file keeps two programs from doing so at once.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{
    CWD, FlockOperation, Mode, OFlags, RenameFlags, flock, mkdirat, openat, renameat_with, syncfs,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use skillsandbox_path_policy::{OpenOptions as Opening, PathPolicy};

use crate::error::{Error, IoErrorAt as _};
use crate::layout::StoreLayout;
use crate::lock_text::LockText;
use crate::state_file;
use crate::tree::SkillTree;

/// The store, held against others until this is dropped.
#[derive(Debug)]
pub(crate) struct StoreGuard<'l> {
    layout: &'l StoreLayout,
    /// The folder for what is only there meanwhile, as it was opened: no link was followed below the root.
    work: OwnedFd,
    /// The kernel lets go of it when the program ends, however it does.
    _file: File,
}

/// What is to become of a skill's place.
#[derive(Debug)]
pub(crate) enum StoreChange<'t> {
    /// A folder with these files.
    Folder(&'t SkillTree),
    /// A file with these bytes.
    Document(&'t [u8]),
    /// Nothing is left there.
    Gone,
}

/// A change that was decided.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    /// The folder it was prepared in.
    staged: String,
    /// The skill's place, from the root.
    target: String,
    /// The inode of the new files: once they are at the target, that step is done. `None` where something is removed.
    new: Option<u64>,
}

/// Up to so many files are put on the disk one by one; for more, all that waits to be written is, other programs' files with it.
const ONE_BY_ONE: usize = 64;

/// How long to wait before the next look at a lock that somebody else has.
const PAUSE: Duration = Duration::from_millis(50);
/// Largest journal that is read: one is some 200 bytes.
const MAX_JOURNAL: u64 = 64 << 10;

const STAGING: &str = "staging";
const QUARANTINE: &str = "quarantine";

impl<'l> StoreGuard<'l> {
    /// Waits for the store, as long as is said at most, and finishes or undoes what a crash left. `waits` is told once if somebody else has it.
    pub(crate) fn take(
        layout: &'l StoreLayout,
        longest: Option<Duration>,
        waits: impl FnOnce(),
    ) -> Result<Self, Error> {
        refuse_links(layout)?;
        let work = open_work(layout)?;
        let path = layout.work().join("lock");
        // A pipe in its place would be waited for, and a link followed.
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&work, "lock", flags, Mode::RUSR | Mode::WUSR).at(&path)?);
        if !file.metadata().at(&path)?.is_file() {
            return Err(Error::State { path, why: "it is not a plain file".to_owned() });
        }
        hold(&file, &path, longest, waits)?;
        let guard = Self { layout, work, _file: file };
        guard.recover()?;
        Ok(guard)
    }

    /// A folder for what nobody has looked at yet. It is removed when it is dropped, or by who comes after a crash.
    pub(crate) fn quarantine(&self) -> Result<Quarantine, Error> {
        let dir = self.layout.work().join(QUARANTINE).join(uuid::Uuid::new_v4().to_string());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).at(&dir)?;
        Ok(Quarantine(dir))
    }

    /// Puts a change and the lock that tells of it in place, both or neither.
    pub(crate) fn commit(
        &self,
        target: &str,
        change: &StoreChange<'_>,
        lock: &LockText,
    ) -> Result<(), Error> {
        let work = self.layout.work();
        let name = uuid::Uuid::new_v4().to_string();
        let staged = work.join(STAGING).join(&name);
        let decided = self.decide(&work, &name, &staged, target, change, lock);
        if decided.is_err() {
            // Nothing was decided, so nothing is lost with it.
            let _ = fs::remove_dir_all(&staged);
        }
        let journal = decided?;
        let done = self.carry_out(&journal);
        if done.is_err() {
            // Better the old state than a store that nobody can use until the cause is found.
            self.undo(&journal);
        }
        done
    }

    /// Takes a decision back, if nothing came of it yet: the new files are still where they were made, or the old ones where they were.
    fn undo(&self, journal: &Journal) {
        let work = self.layout.work();
        let staged = work.join(STAGING).join(&journal.staged);
        let (target, old) = (self.layout.root().join(&journal.target), staged.join("old"));
        let placed =
            journal.new.is_some() && !matches!(inode(&staged.join("new")), Ok(now) if now == journal.new);
        if placed || !staged.join("packages.lock").exists() {
            return;
        }
        if old.exists() && (target.exists() || fs::rename(&old, &target).is_err()) {
            return;
        }
        if fs::remove_file(work.join("journal")).is_ok() {
            let _ = fs::remove_dir_all(&staged);
        }
    }

    fn decide(
        &self,
        work: &Path,
        name: &str,
        staged: &Path,
        target: &str,
        change: &StoreChange<'_>,
        lock: &LockText,
    ) -> Result<Journal, Error> {
        fs::create_dir_all(staged).at(staged)?;
        let new = staged.join("new");
        match change {
            StoreChange::Folder(tree) => write_tree(&new, tree)?,
            StoreChange::Document(bytes) => write(&new, bytes)?,
            StoreChange::Gone => {}
        }
        let new = match change {
            StoreChange::Gone => None,
            _ => Some(fs::symlink_metadata(&new).at(&new)?.ino()),
        };
        write(&staged.join("packages.lock"), lock.to_yaml().as_bytes())?;
        let target_path = self.layout.root().join(target);
        if let Some(parent) = target_path.parent() {
            fs::create_dir_all(parent).at(parent)?;
        }
        let journal = Journal { staged: name.to_owned(), target: target.to_owned(), new };
        let text = serde_json::to_vec(&journal).map_err(|error| Error::io(staged, error.into()))?;
        write(&staged.join("journal"), &text)?;
        // All that the journal speaks of is on the disk before it is.
        sync(staged)?;
        sync(&work.join(STAGING))?;
        fs::rename(staged.join("journal"), work.join("journal")).at(work)?;
        sync(work)?;
        Ok(journal)
    }

    /// The steps of a change that was decided. Each can be done again.
    fn carry_out(&self, journal: &Journal) -> Result<(), Error> {
        let work = self.layout.work();
        let staged = work.join(STAGING).join(&journal.staged);
        let target = self.layout.root().join(&journal.target);
        let new = staged.join("new");
        match journal.new {
            Some(inode) if self::inode(&new)? == Some(inode) => place(&new, &target, &staged.join("old"))?,
            Some(_) => {}
            None => move_away(&target, &staged.join("old"))?,
        }
        let lock = staged.join("packages.lock");
        match fs::rename(&lock, self.layout.lock_file()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => other.at(&lock)?,
        }
        for changed in [target.parent(), self.layout.lock_file().parent()].into_iter().flatten() {
            sync(changed)?;
        }
        let path = work.join("journal");
        fs::remove_file(&path).at(&path)?;
        // What is left is swept by whoever comes next, should it not be possible now.
        let _ = fs::remove_dir_all(&staged);
        Ok(())
    }

    /// Finishes what was decided, and sweeps away the rest.
    fn recover(&self) -> Result<(), Error> {
        let work = self.layout.work();
        let path = work.join("journal");
        if let Some(file) = state_file::open(&path).at(&path)? {
            let mut bytes = Vec::new();
            file.take(MAX_JOURNAL).read_to_end(&mut bytes).at(&path)?;
            let why = |error: serde_json::Error| Error::State { path: path.clone(), why: error.to_string() };
            let journal: Journal = serde_json::from_slice(&bytes).map_err(why)?;
            let target = self.layout.root().join(&journal.target);
            let in_place = [self.layout.skills(), self.layout.agents()]
                .iter()
                .any(|folder| target.parent() == Some(folder.as_path()));
            let plain = uuid::Uuid::parse_str(&journal.staged).is_ok()
                && crate::names::unfit(&journal.target).is_none();
            if !plain || !in_place {
                let why = "it leads out of the store".to_owned();
                return Err(Error::State { path, why });
            }
            self.carry_out(&journal)?;
        }
        // By the folder that was opened: whatever its name means by now, nothing is removed elsewhere.
        let opened = PathBuf::from(format!("/proc/self/fd/{}", self.work.as_raw_fd()));
        for left in [STAGING, QUARANTINE] {
            match fs::remove_dir_all(opened.join(left)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io(&work.join(left), error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Refuses a store whose own folders are links: what is moved, removed or written there would be somewhere else. The store itself may be
/// reached through one.
fn refuse_links(layout: &StoreLayout) -> Result<(), Error> {
    let work = layout.work();
    let own = [work.join(STAGING), work.join(QUARANTINE), work.join("journal"), work.join("lock")];
    let account = [layout.lock_file(), layout.reports(), layout.index()];
    // The folders that these lie in, too, as far as they are the store's.
    let above = layout.folders_above();
    let places = above.into_iter().chain([work, layout.skills(), layout.agents()]).chain(account);
    for path in places.chain(own) {
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
            let why = "it is a symbolic link, and the store changes only what is its own".to_owned();
            return Err(Error::State { path, why });
        }
    }
    Ok(())
}

/// Opens the folder for what is only there meanwhile, and makes it where it is not there. Below the root, no link is followed.
fn open_work(layout: &StoreLayout) -> Result<OwnedFd, Error> {
    let root = layout.root();
    fs::DirBuilder::new().recursive(true).mode(0o700).create(root).at(root)?;
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, root, flags, Mode::empty()).at(root)?;
    let work = layout.work();
    for name in work.strip_prefix(root).unwrap_or(&work).components() {
        let name = name.as_os_str();
        match mkdirat(&folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(other) => return Err(Error::io(&work, other.into())),
        }
        folder = openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty()).at(&work)?;
    }
    Ok(folder)
}

/// Waits for a lock. `waits` is told once if somebody else has it.
fn hold(file: &File, path: &Path, longest: Option<Duration>, waits: impl FnOnce()) -> Result<(), Error> {
    let begin = Instant::now();
    let mut waits = Some(waits);
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => {}
            Err(other) => return Err(Error::io(path, other.into())),
        }
        if longest.is_some_and(|longest| begin.elapsed() >= longest) {
            return Err(Error::Busy { path: path.to_owned() });
        }
        if let Some(waits) = waits.take() {
            waits();
        }
        std::thread::sleep(PAUSE);
    }
}

/// A folder that goes with its owner.
#[derive(Debug)]
pub(crate) struct Quarantine(PathBuf);

impl Quarantine {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn inode(path: &Path) -> Result<Option<u64>, Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, error)),
    }
}

/// Puts new files in the place of old ones. Where the file system can, the place is never empty in between.
fn place(new: &Path, target: &Path, old: &Path) -> Result<(), Error> {
    if inode(target)?.is_none() {
        return fs::rename(new, target).at(target);
    }
    match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            move_away(target, old)?;
            fs::rename(new, target).at(target)
        }
        Err(other) => Err(Error::io(target, other.into())),
    }
}

fn move_away(target: &Path, old: &Path) -> Result<(), Error> {
    match fs::rename(target, old) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.at(target),
    }
}

/// Writes a skill's files below a new folder, through the policy that keeps every path in it.
fn write_tree(dir: &Path, tree: &SkillTree) -> Result<(), Error> {
    fs::create_dir(dir).at(dir)?;
    let policy =
        PathPolicy::new(dir).map_err(|error| Error::io(dir, std::io::Error::other(error.to_string())))?;
    let refused = |path: &str, error: skillsandbox_path_policy::OpenError| match error {
        skillsandbox_path_policy::OpenError::Io { error, .. } => Error::io(&dir.join(path), error),
        other => Error::hostile(path, other.to_string()),
    };
    let mut made = std::collections::BTreeSet::new();
    for (path, file) in tree.files() {
        for (at, _) in path.match_indices('/') {
            let folder = path.get(..at).unwrap_or_default();
            if made.insert(folder) {
                policy.create_dir(folder).map_err(|error| refused(folder, error))?;
            }
        }
        let permissions = if file.executable { 0o755 } else { 0o644 };
        let opening = Opening::writing().create_new().mode(permissions);
        let mut to = policy.open(path, &opening).map_err(|error| refused(path, error))?;
        let at = dir.join(path);
        to.write_all(&file.bytes).at(&at)?;
        if tree.len() <= ONE_BY_ONE {
            to.sync_all().at(&at)?;
        }
    }
    if tree.len() > ONE_BY_ONE {
        return syncfs(File::open(dir).at(dir)?).at(dir);
    }
    for folder in made {
        sync(&dir.join(folder))?;
    }
    sync(dir)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut file = File::create_new(path).at(path)?;
    file.write_all(bytes).at(path)?;
    file.sync_all().at(path)
}

/// Puts the names in a folder on the disk.
fn sync(dir: &Path) -> Result<(), Error> {
    File::open(dir).at(dir)?.sync_all().at(dir)
}

#[cfg(test)]
mod tests;
