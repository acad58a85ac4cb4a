//! An installed skill on its way into a run: by its name, and only as it was installed.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::HEXLOWER;
use skillsandbox_run::{InstallationCheck, InstalledSkill, InstalledSkills};
use skillsandbox_scanner::{EntryKind, FolderSnapshot, SnapshotEntry};

use crate::audit::{AuditedSkill, compare};
use crate::error::Error;
use crate::folder;
use crate::layout::StoreLayout;
use crate::lock_text::LockText;
use crate::lockfile::{LockEntry, PackagesLock};
use crate::store::Store;
use crate::tree;

/// Most names that are offered for one that is not installed.
const MAX_NEAR: usize = 3;

impl Store {
    /// Where an installed skill lies, and what [`LoadChoice`](skillsandbox_run::LoadChoice) needs to know of it.
    ///
    /// # Errors
    /// A lock that cannot be read; a skill that is not installed, or is one document without a folder.
    pub fn installed(&self, name: &str) -> Result<(PathBuf, InstalledSkill), Error> {
        let entry = LockText::read(&self.layout)?.get(name)?;
        let entry = entry.ok_or_else(|| Error::NotInstalled { name: name.to_owned() })?;
        if entry.is_document(self.layout()) {
            let why = "it is one document for agents to read, and has nothing that could be run".to_owned();
            return Err(Error::NotASkill { what: name.to_owned(), why });
        }
        Ok((entry.path(self.layout()), entry.to_installed(self.layout())))
    }
}

/// Knows which folders are skills of a store, by its lock as it is when it is asked.
#[derive(Debug)]
pub struct StoreSkills {
    layout: StoreLayout,
    /// The lock as it was last read, and by what it is known to be the same still.
    read: Mutex<Option<(LockIdentity, Arc<LockText>)>>,
}

/// A lock file that was not replaced or written since: device, inode number, length, and when it was changed.
type LockIdentity = (u64, u64, u64, i64, i64);

impl StoreSkills {
    /// Those of this store.
    #[must_use]
    pub fn new(layout: StoreLayout) -> Self {
        Self { layout, read: Mutex::new(None) }
    }

    /// The lock: a list of skills asks for each of them, and reading it takes a while.
    fn lock(&self) -> Result<Arc<LockText>, Error> {
        let identity = std::fs::symlink_metadata(self.layout.lock_file())
            .ok()
            .map(|found| (found.dev(), found.ino(), found.len(), found.ctime(), found.ctime_nsec()));
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(identity), Some((before, lock))) = (identity, read.as_ref())
            && identity == *before
        {
            return Ok(Arc::clone(lock));
        }
        let lock = Arc::new(LockText::read(&self.layout)?);
        *read = identity.map(|identity| (identity, Arc::clone(&lock)));
        Ok(lock)
    }
}

impl InstalledSkills for StoreSkills {
    fn installed_at(&self, folder: &Path) -> Result<Option<InstalledSkill>, String> {
        let skills = self.layout.skills();
        let place = skills.canonicalize().unwrap_or(skills);
        let Ok(below) = folder.strip_prefix(&place) else { return Ok(None) };
        let lock = self.lock().map_err(|error| error.to_string())?;
        let entry = below.to_str().map(|name| lock.get(name)).transpose();
        let entry = entry.map_err(|error| error.to_string())?.flatten();
        let unknown = || format!("{}: packages.lock knows nothing of it", folder.display());
        let entry = entry.filter(|entry| !entry.is_document(&self.layout)).ok_or_else(unknown)?;
        Ok(Some(entry.to_installed(&self.layout)))
    }
}

impl LockEntry {
    /// What a run needs to know of it.
    #[must_use]
    pub fn to_installed(&self, layout: &StoreLayout) -> InstalledSkill {
        let check = InstalledFiles { entry: self.clone(), path: self.path(layout) };
        InstalledSkill { name: self.name.clone(), source: self.source.clone(), check: Arc::new(check) }
    }
}

impl PackagesLock {
    /// Installed skills that somebody who wrote this name may have meant.
    #[must_use]
    pub fn near_names(&self, name: &str) -> Vec<String> {
        // A longer one is no skill's, and distance on it is work for nothing.
        if name.len() > 64 {
            return Vec::new();
        }
        let asked = name.to_lowercase();
        let distance = |known: &str| {
            let known = known.to_lowercase();
            let is_part = asked.len() >= 3 && (known.contains(&asked) || asked.contains(&known));
            if is_part { 0 } else { strsim::damerau_levenshtein(&asked, &known) }
        };
        let mut near: Vec<(usize, &str)> = self
            .entries()
            .map(|entry| (distance(&entry.name), entry.name.as_str()))
            .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
            .collect();
        near.sort_unstable();
        near.into_iter().take(MAX_NEAR).map(|(_, name)| name.to_owned()).collect()
    }
}

/// A folder, and the entry of the lock that says what it should hold.
#[derive(Debug)]
struct InstalledFiles {
    entry: LockEntry,
    path: PathBuf,
}

impl InstallationCheck for InstalledFiles {
    fn differences(&self, writable: &[String]) -> Result<Vec<String>, String> {
        let mut found = folder::read(&self.path).map_err(|error| error.to_string())?;
        let is_own = |path: &str| is_in(path, writable);
        found.odd.retain(|odd| !is_own(&odd.path));
        found.modes.retain(|odd| !is_own(&odd.path));
        let mut skill = AuditedSkill::unread(self.entry.name.clone(), self.path.clone());
        skill.add_oddities(&found);
        compare(&mut skill, &self.entry, &found, &found.tree.hashes());
        let AuditedSkill { changed, missing, added, problems, .. } = skill;
        // Each begins with the path that it is about; no file of a skill has a colon in its name.
        let is_others = |problem: &String| problem.split_once(": ").is_none_or(|(path, _)| !is_own(path));
        let mut differences: Vec<String> = problems.into_iter().filter(is_others).collect();
        for (paths, what) in [(changed, "changed"), (missing, "missing"), (added, "added")] {
            let told = paths.iter().filter(|path| !is_own(path)).map(|path| format!("{path} ({what})"));
            differences.extend(told.collect::<Vec<_>>());
        }
        Ok(differences)
    }

    fn is_installed(&self, read: &FolderSnapshot, writable: &[String]) -> bool {
        let LockEntry { files, hash, executable, .. } = &self.entry;
        let is_folder = std::fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_dir());
        // What it does not know for sure is looked at more closely, and told in words.
        if !is_folder || read.has_git() || !read.is_whole() || tree::whole(files) != *hash {
            return false;
        }
        let is_listed = |entry: &SnapshotEntry| match entry.kind {
            EntryKind::Folder => {
                let below = if entry.path.is_empty() { String::new() } else { format!("{}/", entry.path) };
                let next = files.range(below.clone()..).next();
                entry.mode & 0o002 == 0 && next.is_some_and(|(path, _)| path.starts_with(&below))
            }
            EntryKind::File(bytes) => {
                let is_same = files.get(&entry.path).is_some_and(|hash| *hash == HEXLOWER.encode(&bytes));
                let may_execute = entry.mode & 0o111 != 0;
                is_same && entry.mode & 0o6002 == 0 && may_execute == executable.contains(&entry.path)
            }
            EntryKind::Link { .. } => false,
        };
        let mut others = read.entries().iter().filter(|entry| !is_in(&entry.path, writable));
        if !others.all(is_listed) {
            return false;
        }
        let read_files: BTreeSet<&str> = read.entries().iter().map(|entry| entry.path.as_str()).collect();
        files.keys().all(|path| is_in(path, writable) || read_files.contains(path.as_str()))
    }
}

/// Whether a path is one of these, or lies below one.
fn is_in(path: &str, places: &[String]) -> bool {
    places.iter().any(|place| {
        let rest = path.strip_prefix(place.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
