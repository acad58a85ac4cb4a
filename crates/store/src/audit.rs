//! Are the installed skills still what was installed, and what would the scanner say of them today?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;
use skillsandbox_scanner::{ScanReport, ScanVerdict, Scanner, SkillCalls, SkillLinks};

use crate::audit_memory::{AuditMemory, RememberedSkill};
use crate::error::Error;
use crate::folder::{self, FolderContents};
use crate::lockfile::{LockEntry, PackagesLock};
use crate::store::Store;
use crate::{judge, reports, tree};

/// What is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuditScope {
    /// Everything in the lock, and whatever else lies among the skills.
    Everything,
    /// One skill of the lock.
    One(String),
}

/// What an audit came to.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// Whether every skill is as it was installed, and the policy refuses none.
    pub clean: bool,
    /// What is wrong with the store itself.
    pub problems: Vec<String>,
    /// Each skill.
    pub skills: Vec<AuditedSkill>,
}

/// One skill, looked at again.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditedSkill {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Where it came from; empty for what the lock knows nothing of.
    pub source: String,
    /// Whether the lock knows of it.
    pub listed: bool,
    /// Files that are not the ones that were installed.
    pub changed: Vec<String>,
    /// Files that are gone.
    pub missing: Vec<String>,
    /// Files that were not installed.
    pub added: Vec<String>,
    /// Whatever else is not as it should be.
    pub problems: Vec<String>,
    /// Whether the user's policy refuses what the scanner says: a run and an install would be refused.
    pub refused: bool,
    /// What the scanner says today; `None` where there was nothing to read.
    pub report: Option<ScanReport>,
    /// The report's page.
    pub page: Option<PathBuf>,
    /// Whether the report is that of an earlier audit: the files, which were read and compared now, are the same, and so are rules and policy.
    pub remembered: bool,
}

impl AuditedSkill {
    /// One that nobody has looked at yet.
    pub(crate) fn unread(name: String, path: PathBuf) -> Self {
        Self {
            name,
            path,
            source: String::new(),
            listed: false,
            changed: Vec::new(),
            missing: Vec::new(),
            added: Vec::new(),
            problems: Vec::new(),
            refused: false,
            report: None,
            page: None,
            remembered: false,
        }
    }

    /// What no installed skill has: links, devices, odd modes, git's own folder.
    pub(crate) fn add_oddities(&mut self, found: &FolderContents) {
        for odd in found.odd.iter().chain(&found.modes) {
            self.problems.push(format!("{}: {}", odd.path, odd.why));
        }
        if found.git {
            self.problems.push(".git: it is git's own, and git would act on it".to_owned());
        }
    }

    /// Whether it is as it was installed, and not refused.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let same = self.changed.is_empty() && self.missing.is_empty() && self.added.is_empty();
        same && self.problems.is_empty() && !self.refused
    }

    /// What the scanner says today.
    #[must_use]
    pub fn verdict(&self) -> Option<ScanVerdict> {
        self.report.as_ref().map(|report| report.verdict)
    }
}

/// A skill that was looked at by itself.
struct LookedSkill {
    skill: AuditedSkill,
    calls: SkillCalls,
    /// The hash of all its files, and of each.
    tree: String,
    files: Vec<(String, [u8; 32])>,
    /// The page of its report, where that is remembered.
    page: Option<String>,
}

impl LookedSkill {
    fn unread(skill: AuditedSkill) -> Self {
        Self { skill, calls: SkillCalls::default(), tree: String::new(), files: Vec::new(), page: None }
    }
}

/// Something to look at: an entry of the lock, or a folder that has none.
enum Subject<'e> {
    Listed(&'e LockEntry),
    Unlisted(String, PathBuf),
}

impl Store {
    /// Compares installed skills with the lock, and scans them with today's rules, policy and blocklist. `tick` is called after each.
    ///
    /// # Errors
    /// A lock or a store that cannot be read. What is wrong with a skill is an answer, not an error.
    pub fn audit(
        &self,
        scope: &AuditScope,
        total: &(dyn Fn(usize) + Sync),
        tick: &(dyn Fn() + Sync),
    ) -> Result<AuditReport, Error> {
        let _guard = self.hold(None)?;
        let lock = self.list()?;
        let subjects = self.subjects(scope, &lock)?;
        total(subjects.len());
        let builder = judge::scanner_builder(&self.layout, &self.policy)?;
        let memory = self.memory.as_ref().and_then(|kept| AuditMemory::load(kept, &self.layout, &builder));
        let installed = lock.entries().map(|entry| (entry.name.clone(), entry.source.clone()));
        let scanner = builder.installed(installed).build();
        let one = |subject: &Subject<'_>| {
            let looked = self.look(subject, &scanner, &lock, memory.as_ref());
            tick();
            looked
        };
        let mut looked: Vec<LookedSkill> = subjects.par_iter().map(one).collect();
        // Who calls whom is known when all are read.
        let calls: Vec<SkillCalls> =
            looked.iter_mut().map(|looked| std::mem::take(&mut looked.calls)).collect();
        let links = SkillLinks::new(&calls);
        let mut skills = Vec::with_capacity(looked.len());
        // An audit of one skill says nothing of the others.
        let mut known = match (&memory, scope) {
            (Some(memory), AuditScope::One(_)) => memory.skills(),
            (Some(_), AuditScope::Everything) | (None, _) => BTreeMap::new(),
        };
        let (mut is_new, mut is_written) = (false, false);
        for (number, (looked, calls)) in looked.into_iter().zip(calls).enumerate() {
            let LookedSkill { mut skill, tree, files, page, .. } = looked;
            if let Some(mut report) = skill.report.take() {
                scanner.add_links(&links, number, &mut report);
                let page = if let Some(page) = page.filter(|_| report.findings.is_empty()) {
                    page
                } else {
                    skill.remembered = false;
                    is_written = true;
                    report = judge::stamped(report);
                    reports::write(&self.layout, &report)?
                };
                skill.page = Some(self.layout.root().join(&page));
                skill.refused = self.policy.refuses_report(&report);
                let path = skill.path.to_str().filter(|_| memory.is_some());
                if let Some(path) = path {
                    is_new |= !skill.remembered;
                    match RememberedSkill::new(&lock, tree, &files, &report, calls, page) {
                        Some(clean) => known.insert(path.to_owned(), clean),
                        None => known.remove(path),
                    };
                }
                skill.report = Some(report);
            }
            skills.push(skill);
        }
        if let (Some(memory), Some(kept)) = (memory, &self.memory) {
            memory.keep(kept, &self.layout, known, is_new);
        }
        if is_written {
            let named = reports::named_pages(&lock);
            reports::prune(&self.layout, None, &|page| named.contains(page), reports::KEEP_REPORTS)?;
        }
        let problems =
            if *scope == AuditScope::Everything { self.problems(&lock, &skills)? } else { Vec::new() };
        let clean = problems.is_empty() && skills.iter().all(AuditedSkill::is_clean);
        Ok(AuditReport { clean, problems, skills })
    }

    fn subjects<'l>(&self, scope: &AuditScope, lock: &'l PackagesLock) -> Result<Vec<Subject<'l>>, Error> {
        if let AuditScope::One(name) = scope {
            let entry = lock.get(name).ok_or_else(|| Error::NotInstalled { name: name.clone() })?;
            return Ok(vec![Subject::Listed(entry)]);
        }
        let mut subjects: Vec<_> = lock.entries().map(Subject::Listed).collect();
        let known: BTreeSet<PathBuf> = lock.entries().map(|entry| entry.path(&self.layout)).collect();
        for dir in [self.layout.skills(), self.layout.agents()] {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io(&dir, error)),
            };
            let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry?.path())).collect();
            let mut paths = paths.map_err(|error| Error::io(&dir, error))?;
            paths.sort();
            for path in paths.into_iter().filter(|path| !known.contains(path)) {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                subjects.push(Subject::Unlisted(name.unwrap_or_default(), path));
            }
        }
        Ok(subjects)
    }

    /// What is wrong with the store itself: a lock that says nothing of what lies there, and places that every user can change.
    fn problems(&self, lock: &PackagesLock, skills: &[AuditedSkill]) -> Result<Vec<String>, Error> {
        let mut problems = Vec::new();
        let path = self.layout.lock_file();
        // A tree of a system has skills of its own, and no lock until something is installed. One that is there and blank was emptied: we write `[]`.
        let is_blank = fs::symlink_metadata(&path).is_ok_and(|found| found.len() == 0);
        if lock.entries().len() == 0 && !skills.is_empty() && (is_blank || !self.layout.is_system()) {
            let how = if path.exists() { "is empty" } else { "is missing" };
            problems.push(format!(
                "packages.lock {how}, and {} skills lie here: nobody can say whether they are what was installed. Restore it from a copy, or install \
                 them again",
                skills.len()
            ));
        }
        for place in [self.layout.root().to_owned(), self.layout.skills(), self.layout.agents(), path] {
            match fs::symlink_metadata(&place) {
                Ok(found) if found.mode() & 0o002 != 0 && !found.is_symlink() => {
                    problems
                        .push(format!("{}: every user can change it; take that right away", place.display()));
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io(&place, error)),
            }
        }
        Ok(problems)
    }

    fn look(
        &self,
        subject: &Subject<'_>,
        scanner: &Scanner,
        lock: &PackagesLock,
        memory: Option<&AuditMemory>,
    ) -> LookedSkill {
        let (name, path, source, found) = match subject {
            Subject::Listed(entry) => {
                (entry.name.clone(), entry.path(&self.layout), entry.source.clone(), self.on_disk(entry))
            }
            Subject::Unlisted(name, path) => {
                let is_dir = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
                let found = if is_dir { folder::read(path) } else { folder::document(path) };
                // A system's own skill, if it is one, may have its own name.
                let source = if self.layout.is_system() { "local:" } else { "" };
                (name.clone(), path.clone(), source.to_owned(), found)
            }
        };
        let mut skill = AuditedSkill::unread(name, path);
        skill.source = source;
        skill.listed = matches!(subject, Subject::Listed(_));
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                skill.problems.push(format!("it cannot be read: {error}"));
                return LookedSkill::unread(skill);
            }
        };
        skill.add_oddities(&found);
        let files = found.tree.hash_files();
        let hashes = tree::in_hex(&files);
        match subject {
            Subject::Listed(entry) => compare(&mut skill, entry, &found, &hashes),
            // A tree of a system has skills of its own. Nobody but us writes to a store of ours.
            Subject::Unlisted(..) if !self.layout.is_system() => {
                skill.problems.push("packages.lock knows nothing of it".to_owned());
            }
            Subject::Unlisted(..) => {}
        }
        let tree = tree::whole(&hashes);
        let find = |memory: &AuditMemory| {
            let known = memory.find(lock, skill.path.to_str()?, &skill.source, &tree)?.clone();
            // Its page is part of what an audit leaves.
            let page = self.layout.root().join(&known.page);
            page.symlink_metadata().is_ok_and(|found| found.is_file()).then_some(known)
        };
        if let Some(RememberedSkill { report, calls, page, .. }) = memory.and_then(find) {
            skill.report = Some(report.to_report(&files));
            skill.remembered = true;
            return LookedSkill { skill, calls, tree, files, page: Some(page) };
        }
        let read = found.tree.skill(&skill.name, &skill.source);
        let calls = SkillCalls::find(&read, &skill.path.to_string_lossy());
        skill.report = Some(scanner.scan(&read));
        LookedSkill { skill, calls, tree, files, page: None }
    }
}

/// What is different from the lock.
pub(crate) fn compare(
    skill: &mut AuditedSkill,
    entry: &LockEntry,
    found: &FolderContents,
    now: &BTreeMap<String, String>,
) {
    if entry.files.is_empty() && !entry.hash.starts_with("sha256:") {
        let kind = entry.hash.split(':').next().unwrap_or_default();
        skill.problems.push(format!(
            "the lock has only a hash of the kind {kind}, which proves nothing; install it again"
        ));
        return;
    }
    if tree::whole(&entry.files) != entry.hash {
        skill.problems.push("the lock contradicts itself: its hash is not that of its files".to_owned());
    }
    for (path, hash) in &entry.files {
        match now.get(path) {
            None => skill.missing.push(path.clone()),
            Some(now) if now != hash => skill.changed.push(path.clone()),
            Some(_) => {}
        }
    }
    skill.added.extend(now.keys().filter(|path| !entry.files.contains_key(*path)).cloned());
    let executable = found.tree.executables();
    for path in entry.files.keys().filter(|path| now.contains_key(*path)) {
        if executable.contains(path) != entry.executable.contains(path) {
            let how =
                if executable.contains(path) { "may be executed now" } else { "may no longer be executed" };
            skill.problems.push(format!("{path}: it {how}"));
        }
    }
}
