//! Install, update, remove, list.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_manifest::{FrontMatter, Manifest, PermissionDiff, PermissionSet, SkillDoc};
use skillsandbox_run::{PrivateMemory, UserPolicy};
use skillsandbox_scanner::{ScanReport, ScanVerdict, SkillJudge};

use crate::commit::{StoreChange, StoreGuard};
use crate::error::Error;
use crate::fetch::{self, DOCUMENT, FetchedSkill, MANIFEST};
use crate::git::{Git, NoGit};
use crate::layout::StoreLayout;
use crate::lock_text::LockText;
use crate::lockfile::{LockEntry, PackagesLock, SecurityScan};
use crate::own_manifest::{self, OwnManifest};
use crate::source::SkillSource;
use crate::tree::{self, SkillTree};
use crate::{audit_memory, folder, judge, names, reports};

/// A folder of installed skills, and the account of them.
pub struct Store {
    pub(crate) layout: StoreLayout,
    pub(crate) policy: UserPolicy,
    git: Box<dyn Git + Send + Sync>,
    judge: Option<Box<dyn SkillJudge>>,
    pub(crate) memory: Option<PrivateMemory>,
    longest_wait: Option<Duration>,
    waiting: Option<Box<dyn Fn() + Send + Sync>>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("layout", &self.layout).finish_non_exhaustive()
    }
}

/// Confirms an installation, and is told what happens.
pub trait Reviewer {
    /// Whether to go on with a skill that the scanner warns of, or that wants more than the installed version did. Who cannot be asked
    /// says no.
    fn approve(&mut self, review: &InstallReview<'_>) -> bool;

    /// Somebody else is working on the store, and is waited for.
    fn waiting(&mut self) {}

    /// The source is being fetched.
    fn fetching(&mut self, _source: &str) {}
}

/// Declines everything that a person would have to confirm.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeclineReviewer;

impl Reviewer for DeclineReviewer {
    fn approve(&mut self, _: &InstallReview<'_>) -> bool {
        false
    }
}

/// What a person has to confirm before a skill is installed.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstallReview<'a> {
    /// The name it would have.
    pub name: &'a str,
    /// What the scanner says.
    pub report: &'a ScanReport,
    /// What it would get that the installed version did not; `None` where none is installed.
    pub diff: Option<&'a PermissionDiff>,
    /// All that it declares.
    pub permissions: &'a PermissionSet,
}

/// Whether a question counts as confirmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// The reviewer is asked.
    #[default]
    Ask,
    /// It is; the lock says so. What is BLOCKED stays so.
    Forced,
}

/// What became of an install or an update.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InstallResult {
    /// The skill's name.
    pub name: String,
    /// What was done.
    pub done: InstallOutcome,
    /// What the scanner said.
    pub report: ScanReport,
    /// The report's page.
    pub page: PathBuf,
    /// What changed in its declaration, where a version was installed.
    pub diff: Option<PermissionDiff>,
    /// The user's own manifest for it, beside this version, where there is one and a version was installed.
    pub own_manifest: Option<OwnManifest>,
}

/// What was done with a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallOutcome {
    /// It is installed.
    Installed,
    /// A version was there, and was replaced.
    Updated,
    /// It is there already, with these bytes.
    Unchanged,
    /// The scanner, or the policy's `fail_on`, refuses it. What was there is unchanged.
    Blocked,
    /// Not confirmed: declined, or there was nobody to ask. What was there is unchanged.
    Declined,
}

/// A skill that was fetched and understood.
struct Candidate {
    fetched: FetchedSkill,
    /// What it is called in the lock.
    name: String,
    version: String,
    permissions: PermissionSet,
    report: ScanReport,
    page: String,
}

impl Store {
    /// A store at these places. Nothing is made before something is installed.
    #[must_use]
    pub fn new(layout: StoreLayout) -> Self {
        Self {
            layout,
            policy: UserPolicy::none(),
            git: Box::new(NoGit),
            judge: None,
            memory: None,
            longest_wait: None,
            waiting: None,
        }
    }

    /// Waits no longer than this for somebody else who works on the store. Without it, as long as that takes.
    #[must_use]
    pub fn wait_at_most(mut self, longest: Duration) -> Self {
        self.longest_wait = Some(longest);
        self
    }

    /// Is told, once for each time, that somebody else is waited for.
    #[must_use]
    pub fn on_waiting(mut self, told: impl Fn() + Send + Sync + 'static) -> Self {
        self.waiting = Some(Box::new(told));
        self
    }

    /// The store, held against others.
    pub(crate) fn hold(&self, reviewer: Option<&mut dyn Reviewer>) -> Result<StoreGuard<'_>, Error> {
        StoreGuard::take(&self.layout, self.longest_wait, || match (reviewer, &self.waiting) {
            (Some(reviewer), _) => reviewer.waiting(),
            (None, Some(told)) => told(),
            (None, None) => {}
        })
    }

    /// Under the user's policy: how skills are scanned, and which verdicts are refused.
    #[must_use]
    pub fn with_policy(mut self, policy: UserPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// With somebody who runs git confined, such as [`ConfinedGit`](skillsandbox_run::ConfinedGit). Without, repositories are refused.
    #[must_use]
    pub fn with_git(mut self, git: impl Git + Send + Sync + 'static) -> Self {
        self.git = Box::new(git);
        self
    }

    /// With somebody who is asked for a second opinion on every skill that is installed or updated. It can only make a verdict worse.
    #[must_use]
    pub fn with_judge(mut self, judge: impl SkillJudge + 'static) -> Self {
        self.judge = Some(Box::new(judge));
        self
    }

    /// Remembers in this folder what audits found nothing in, or in the user's state folder: such a skill is not scanned again while its files,
    /// the rules and the policy are the same. Without it, every audit scans everything.
    #[must_use]
    pub fn remember_audits(mut self, memory: Option<PrivateMemory>) -> Self {
        self.memory = memory.or_else(|| PrivateMemory::open(audit_memory::FOLDER));
        self
    }

    /// The policy that it goes by.
    #[must_use]
    pub fn policy(&self) -> &UserPolicy {
        &self.policy
    }

    /// Where everything is.
    #[must_use]
    pub fn layout(&self) -> &StoreLayout {
        &self.layout
    }

    /// What is installed.
    ///
    /// # Errors
    /// A lock that cannot be read.
    pub fn list(&self) -> Result<PackagesLock, Error> {
        PackagesLock::read(&self.layout)
    }

    /// Fetches a skill, scans it, and only then installs it.
    ///
    /// # Errors
    /// What cannot be fetched, is not a skill, or attacks the program that unpacks it. That the scanner blocks it is an outcome, not an error.
    pub fn install(
        &self,
        source: SkillSource,
        approval: Approval,
        reviewer: &mut dyn Reviewer,
    ) -> Result<InstallResult, Error> {
        let source = source.absolute()?;
        let guard = self.hold(Some(reviewer))?;
        self.fetch_and_install(&guard, &source, None, approval, reviewer)
    }

    /// Fetches an installed skill again, scans it, and replaces the installed version. What it wants more than before is asked about.
    ///
    /// # Errors
    /// As for [`install`](Self::install), and a skill that is not installed, or is another one now.
    pub fn update(
        &self,
        name: &str,
        approval: Approval,
        reviewer: &mut dyn Reviewer,
    ) -> Result<InstallResult, Error> {
        let guard = self.hold(Some(reviewer))?;
        let entry = LockText::read(&self.layout)?.get(name)?;
        let entry = entry.ok_or_else(|| Error::NotInstalled { name: name.to_owned() })?;
        let source: SkillSource = entry.source.parse()?;
        self.fetch_and_install(&guard, &source, Some(name), approval, reviewer)
    }

    /// Removes an installed skill. Its reports stay.
    ///
    /// # Errors
    /// A skill that is not installed.
    pub fn remove(&self, name: &str) -> Result<LockEntry, Error> {
        let guard = self.hold(None)?;
        let mut lock = LockText::read(&self.layout)?;
        let entry = lock.get(name)?.ok_or_else(|| Error::NotInstalled { name: name.to_owned() })?;
        lock.remove(name);
        guard.commit(&entry.installed_to, &StoreChange::Gone, &lock)?;
        Ok(entry)
    }

    /// Removes all but the newest reports of each skill; those that the lock names stay. How many went.
    ///
    /// # Errors
    /// Reports or a lock that cannot be read.
    pub fn prune_reports(&self, keep: usize) -> Result<usize, Error> {
        let _guard = self.hold(None)?;
        let lock = self.list()?;
        let named = reports::named_pages(&lock);
        reports::prune(&self.layout, None, &|page| named.contains(page), keep)
    }

    fn fetch_and_install(
        &self,
        guard: &StoreGuard<'_>,
        source: &SkillSource,
        expected: Option<&str>,
        approval: Approval,
        reviewer: &mut dyn Reviewer,
    ) -> Result<InstallResult, Error> {
        let mut lock = LockText::read(&self.layout)?;
        reviewer.fetching(&source.to_string());
        let candidate = self.examine(guard, source, &lock)?;
        if let Some(name) = expected.filter(|name| *name != candidate.name) {
            let (name, found) = (name.to_owned(), candidate.name);
            return Err(Error::Renamed { name, found, source_: source.to_string() });
        }
        let old = lock.get(&candidate.name)?;
        let diff = old
            .as_ref()
            .map(|old| old.permissions.clone().unwrap_or_default().compare(&candidate.permissions));
        let mut moved = None;
        let done = match self.decide(&candidate, source, old.as_ref(), diff.as_ref(), approval, reviewer) {
            InstallDecision::Proceed { forced } => {
                moved = old.as_ref().map(|old| self.keep_hand_written(old)).transpose()?.flatten();
                self.commit_candidate(guard, &mut lock, source, &candidate, forced)?;
                if old.is_some() { InstallOutcome::Updated } else { InstallOutcome::Installed }
            }
            InstallDecision::Stop(done) => done,
        };
        let own_manifest = match &old {
            Some(old) => {
                let ships = manifest(&candidate.fetched.tree)?;
                let own = own_manifest::compare_own(old, &candidate.fetched.tree, ships.as_ref())?;
                own.map(|own| OwnManifest { moved: moved.is_some(), ..own })
            }
            None => None,
        };
        Ok(InstallResult {
            done,
            own_manifest,
            name: candidate.name,
            page: self.layout.root().join(&candidate.page),
            report: candidate.report,
            diff,
        })
    }

    /// Fetches and scans. The report is on the disk whatever follows from it; the quarantine is not.
    fn examine(
        &self,
        guard: &StoreGuard<'_>,
        source: &SkillSource,
        lock: &LockText,
    ) -> Result<Candidate, Error> {
        let quarantine = guard.quarantine()?;
        let mut fetched = fetch::fetch(source, self.git.as_ref(), quarantine.path())?;
        drop(quarantine);
        let manifest = manifest(&fetched.tree)?;
        let front = front_matter(&fetched.tree);
        if let Some(manifest) = &manifest {
            fetched.name.clone_from(&manifest.skill().name.value);
        }
        let skill = fetched.tree.skill(&fetched.name, &source.to_string());
        // Of what is installed, only one of its own name has to do with it.
        let namesake = lock.get(&skill.said_name())?.map(|entry| (entry.name, entry.source));
        let scanner = judge::scanner_builder(&self.layout, &self.policy)?.installed(namesake).build();
        let mut report = scanner.scan(&skill);
        if let Some(judge) = &self.judge {
            scanner.add_opinion(judge.ask_about(&skill, &report), &mut report);
        }
        let report = judge::stamped(report);
        let page = reports::write(&self.layout, &report)?;
        reports::prune(&self.layout, Some(&page), &|page| lock.mentions(page), reports::KEEP_REPORTS)?;
        // The name that was judged is the name that is installed, and the one that a run will go by.
        let name = names::of_skill(&report.skill)?;
        let declared = manifest.as_ref().map(|manifest| &manifest.skill().name.value);
        if let Some(declared) = declared.filter(|declared| names::folded(&name) != names::folded(declared)) {
            return Err(Error::TwoNames { document: report.skill, manifest: declared.clone() });
        }
        fetched.document &= self.layout.is_system()
            && front.as_ref().and_then(|front| front.kind.as_ref()).is_some_and(|kind| kind.value == "agent");
        if fetched.document {
            let bytes = fetched.tree.bytes(DOCUMENT).unwrap_or_default().to_vec();
            fetched.tree = SkillTree::default();
            fetched.tree.insert(&format!("{name}.md"), bytes, false)?;
        }
        let version = manifest.as_ref().map(|manifest| &manifest.skill().version.value);
        let version = version.or_else(|| Some(&front.as_ref()?.version.as_ref()?.value));
        Ok(Candidate {
            version: version.map_or_else(|| "unknown".to_owned(), |version| one_line(version)),
            permissions: PermissionSet::declared(manifest.as_ref(), front.as_ref()),
            fetched,
            name,
            report,
            page,
        })
    }

    /// Whether to install: by the scanner's verdict, the policy, and then the review.
    fn decide(
        &self,
        candidate: &Candidate,
        source: &SkillSource,
        old: Option<&LockEntry>,
        diff: Option<&PermissionDiff>,
        approval: Approval,
        reviewer: &mut dyn Reviewer,
    ) -> InstallDecision {
        let Candidate { report, name, permissions, .. } = candidate;
        if self.policy.refuses_report(report) {
            return InstallDecision::Stop(InstallOutcome::Blocked);
        }
        let unchanged = |old: &&LockEntry| {
            old.source == source.to_string()
                && old.hash == tree::whole(&candidate.fetched.tree.hashes())
                && old.installed_to == self.target(candidate)
                && self
                    .on_disk(old)
                    .is_ok_and(|found| found.is_plain() && !found.git && found.tree == candidate.fetched.tree)
        };
        if old.as_ref().is_some_and(unchanged) {
            return InstallDecision::Stop(InstallOutcome::Unchanged);
        }
        if report.verdict == ScanVerdict::Safe && !diff.is_some_and(PermissionDiff::widens) {
            return InstallDecision::Proceed { forced: false };
        }
        if approval == Approval::Forced {
            return InstallDecision::Proceed { forced: true };
        }
        let approved = reviewer.approve(&InstallReview { name, report, diff, permissions });
        if approved {
            InstallDecision::Proceed { forced: false }
        } else {
            InstallDecision::Stop(InstallOutcome::Declined)
        }
    }

    /// Writes a skill and its entry, both or neither.
    fn commit_candidate(
        &self,
        guard: &StoreGuard<'_>,
        lock: &mut LockText,
        source: &SkillSource,
        candidate: &Candidate,
        forced: bool,
    ) -> Result<(), Error> {
        let Candidate { fetched, name, report, .. } = candidate;
        let target = self.target(candidate);
        let path = self.layout.root().join(&target);
        // What the lock knows nothing of is somebody else's, under whatever spelling.
        let known = lock.like(name).map(|known| lock.get(known)).transpose()?.flatten();
        if known.as_ref().is_some_and(|known| known.name != *name || known.installed_to != target)
            || (known.is_none() && std::fs::symlink_metadata(&path).is_ok())
        {
            return Err(Error::Occupied { path });
        }
        let stamp = report.stamp.clone();
        let (scan_id, scanned_at) = stamp.map(|stamp| (stamp.scan_id, stamp.scanned_at)).unwrap_or_default();
        let files = fetched.tree.hashes();
        lock.insert(&LockEntry {
            name: name.clone(),
            version: candidate.version.clone(),
            source: source.to_string(),
            installed_to: target.clone(),
            hash: tree::whole(&files),
            installed_at: judge::rfc3339(jiff::Timestamp::now()),
            security_scan: SecurityScan {
                verdict: report.verdict.as_str().to_owned(),
                scan_id,
                report_path: candidate.page.clone(),
                scanned_at,
            },
            resolved: fetched.resolved.clone(),
            forced,
            suppressed: judge::suppressed(report),
            permissions: Some(candidate.permissions.clone()),
            executable: fetched.tree.executables().into_iter().collect(),
            files,
            other: BTreeMap::new(),
        })?;
        let change = match fetched.tree.bytes(&format!("{name}.md")).filter(|_| fetched.document) {
            Some(bytes) => StoreChange::Document(bytes),
            None => StoreChange::Folder(&fetched.tree),
        };
        guard.commit(&target, &change, lock)
    }

    /// Where a skill goes, from the root.
    fn target(&self, candidate: &Candidate) -> String {
        let name = &candidate.name;
        let place =
            if candidate.fetched.document { format!("agents/{name}.md") } else { format!("skills/{name}") };
        self.layout.relative(&place)
    }

    /// An installed skill as it lies there now.
    pub(crate) fn on_disk(&self, entry: &LockEntry) -> Result<folder::FolderContents, Error> {
        let path = entry.path(&self.layout);
        if entry.is_document(&self.layout) { folder::document(&path) } else { folder::read(&path) }
    }
}

/// What follows from the scan and the review.
enum InstallDecision {
    Proceed { forced: bool },
    Stop(InstallOutcome),
}

pub(crate) fn manifest(tree: &SkillTree) -> Result<Option<Manifest>, Error> {
    let Some(bytes) = tree.bytes(MANIFEST) else { return Ok(None) };
    let text = String::from_utf8_lossy(bytes);
    Manifest::parse(&text).map(Some).map_err(|invalid| Error::Manifest(Box::new(invalid)))
}

/// Of the document that an agent reads, in whatever case its name is written.
fn front_matter(tree: &SkillTree) -> Option<FrontMatter> {
    let (_, file) = tree.files().find(|(path, _)| path.eq_ignore_ascii_case(DOCUMENT))?;
    SkillDoc::parse(&String::from_utf8_lossy(&file.bytes)).front_matter
}

/// A version is the skill's word, and is shown beside ours.
fn one_line(text: &str) -> String {
    let plain = |c: &char| !c.is_control() && !skillsandbox_text::is_deceptive(*c);
    text.chars().filter(plain).take(64).collect()
}
