//! From what was seen to what would be granted: never more than a named generalisation of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use skillsandbox_manifest::{DomainPattern, Protocol};
use skillsandbox_run::real_path;
use skillsandbox_tracer::sensitive_place;

use crate::never_granted::{is_of_kernel, why_never};
use crate::observation::{FileUse, HostUse, Observations, SeenHost};
use crate::places::LearnPlaces;

/// Most names that one line of evidence tells.
const MOST_NAMED: usize = 3;
/// Largest folder whose siblings are compared.
const MOST_SIBLINGS: usize = 1024;
/// Written by interpreters wherever they may, and done without where they may not.
const LEFT_BEHIND: [&str; 2] = ["__pycache__", ".pytest_cache"];

/// A file or folder that would be granted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileGrant {
    /// To be read.
    Read(PathBuf),
    /// To be read and written.
    Write(PathBuf),
}

impl FileGrant {
    /// Which.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Read(path) | Self::Write(path) => path,
        }
    }

    /// Whether it may be written.
    #[must_use]
    pub fn writes(&self) -> bool {
        matches!(self, Self::Write(_))
    }

    /// Whether it gives all that another one does.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        other.path().starts_with(self.path()) && (self.writes() || !other.writes())
    }
}

/// How much more than what was seen a grant gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantWidth {
    /// Nothing.
    Exact,
    /// All of a folder that the run itself made.
    MadeByRun,
    /// All of a folder of which every file was read.
    EverySibling,
    /// All of the folder that the person handed over.
    Workspace,
    /// All of a folder that the person named to be read.
    NamedFolder,
    /// All of a folder that was listed, or in which names were made: no narrower grant would do. So many entries of it were not touched.
    WholeFolder(usize),
}

impl GrantWidth {
    /// In words, for a person who decides.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Exact => "exactly what was seen".to_owned(),
            Self::MadeByRun => "a folder that the run itself makes".to_owned(),
            Self::EverySibling => "every file in it was read".to_owned(),
            Self::Workspace => "the workspace that you named".to_owned(),
            Self::NamedFolder => "the folder that you named".to_owned(),
            Self::WholeFolder(0) => "the whole folder, since names in it are listed or made".to_owned(),
            Self::WholeFolder(others) => {
                format!("the whole folder, since names in it are listed or made: {others} more than was seen")
            }
        }
    }

    /// Whether it gives something that was neither seen nor handed over.
    #[must_use]
    pub fn is_wider(self) -> bool {
        matches!(self, Self::WholeFolder(1..))
    }
}

/// A grant of files that is proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileProposal {
    /// What would be granted.
    pub grant: FileGrant,
    /// How a manifest names it.
    pub spelling: String,
    /// How much more than what was seen.
    pub width: GrantWidth,
    /// What was seen.
    pub evidence: Vec<String>,
}

/// A grant of a destination that is proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostProposal {
    /// Where it leads.
    pub to: SeenHost,
    /// What may be spoken.
    pub protocol: Protocol,
    /// What was seen.
    pub evidence: Vec<String>,
    /// It was granted in the rehearsal already.
    pub is_granted: bool,
}

/// Something that was wanted and is not proposed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct LearnFinding {
    /// What was wanted.
    pub what: String,
    /// Why it is not granted.
    pub why: String,
}

/// All that is proposed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proposals {
    /// Files and folders.
    pub files: Vec<FileProposal>,
    /// Destinations.
    pub hosts: Vec<HostProposal>,
    /// What is not proposed.
    pub findings: Vec<LearnFinding>,
    /// Folders that are there, and that a program tried to make on its way: a rehearsal shows them, so that it goes on. Nothing of them is
    /// proposed.
    pub(crate) ways: Vec<PathBuf>,
}

/// What was seen for a grant, before it is put into words.
#[derive(Debug, Default)]
struct GrantEvidence {
    width: Option<GrantWidth>,
    reads: BTreeSet<PathBuf>,
    changes: BTreeSet<PathBuf>,
    programs: BTreeSet<String>,
}

impl Proposals {
    /// Of what was seen.
    #[must_use]
    pub fn of(seen: &Observations, places: &LearnPlaces) -> Self {
        let mut proposals = Self::default();
        proposals.propose_files(&seen.files, places);
        for (host, seen) in &seen.hosts {
            proposals.propose_host(host, seen);
        }
        for name in seen.names.keys() {
            let is_connected = seen.hosts.keys().any(|host| host.is_name && same_name(&host.host, name));
            if !is_connected && name != "localhost" {
                proposals.finding(
                    name.clone(),
                    "looked up and never connected to; nothing is proposed".to_owned(),
                );
            }
        }
        proposals.findings.sort();
        proposals.findings.dedup();
        proposals
    }

    fn finding(&mut self, what: String, why: String) {
        self.findings.push(LearnFinding { what, why });
    }

    fn propose_files(&mut self, files: &BTreeMap<PathBuf, FileUse>, places: &LearnPlaces) {
        let mut grants: BTreeMap<FileGrant, GrantEvidence> = BTreeMap::new();
        let reads: BTreeSet<&Path> =
            files.iter().filter(|(_, seen)| seen.is_read).map(|(path, _)| path.as_path()).collect();
        for (path, seen) in files {
            if path.components().any(|part| LEFT_BEHIND.iter().any(|name| part.as_os_str() == *name)) {
                continue;
            }
            // Programs make all folders on the way; one that is there is only not seen yet.
            if seen.is_made_folder && seen.is_denied && !seen.is_changed && !seen.is_renamed && path.is_dir()
            {
                self.ways.push(path.clone());
                continue;
            }
            // It is always there to be read.
            if !seen.writes() && path.starts_with(&places.skill) {
                continue;
            }
            if is_of_kernel(path) && !is_sensitive_of_kernel(path, seen) {
                continue;
            }
            let exact = FileGrant::Read(path.clone());
            if let Some(why) = why_never_one(&exact, places) {
                self.finding(path.display().to_string(), why);
                continue;
            }
            let (grant, width) = if seen.writes() {
                write_grant(path, seen, places)
            } else {
                read_grant(path, &reads, places)
            };
            let chosen = match why_never(&grant, places) {
                None => Some((grant, width)),
                // What was seen of it may do, where all of it may not be had.
                Some(_) if !grant.writes() && path.is_file() => Some((exact, GrantWidth::Exact)),
                // Of what the run makes, the outermost folder that may be had.
                Some(why) if width == GrantWidth::MadeByRun => {
                    let inner = made_within(path, grant.path(), seen, places);
                    if inner.is_none() {
                        self.finding(grant.path().display().to_string(), why);
                    }
                    inner.map(|inner| (inner, width))
                }
                Some(why) => {
                    self.finding(grant.path().display().to_string(), why);
                    None
                }
            };
            let Some((grant, width)) = chosen else { continue };
            let known = grants.entry(grant).or_default();
            known.width = known.width.max(Some(width));
            known.programs.extend(seen.programs.iter().cloned());
            if seen.writes() {
                known.changes.insert(path.clone());
            }
            if seen.is_read {
                known.reads.insert(path.clone());
            }
        }
        self.keep_widest(grants, places);
    }

    /// Drops what another grant gives already, and puts the rest into words.
    fn keep_widest(&mut self, mut grants: BTreeMap<FileGrant, GrantEvidence>, places: &LearnPlaces) {
        let all: Vec<FileGrant> = grants.keys().cloned().collect();
        for grant in &all {
            let above =
                all.iter().find(|other| *other != grant && other.covers(grant) && !grant.covers(other));
            let Some(above) = above else { continue };
            if let Some(covered) = grants.remove(grant)
                && let Some(kept) = grants.get_mut(above)
            {
                kept.reads.extend(covered.reads);
                kept.changes.extend(covered.changes);
                kept.programs.extend(covered.programs);
            }
        }
        for (grant, evidence) in grants {
            let Some(spelling) = places.spell(grant.path()) else {
                self.finding(grant.path().display().to_string(), "a manifest cannot name it".to_owned());
                continue;
            };
            let width = evidence.width.unwrap_or(GrantWidth::Exact);
            self.files.push(FileProposal { grant, spelling, width, evidence: evidence.lines(places) });
        }
    }

    fn propose_host(&mut self, host: &SeenHost, seen: &HostUse) {
        let shown = format!("{}:{}", host.host, host.port);
        if host.is_name {
            if host.host.parse::<DomainPattern>().is_err() {
                return self.finding(shown, "it is not a host name that a manifest can grant".to_owned());
            }
        } else {
            let Ok(address) = host.host.parse::<IpAddr>() else {
                return self.finding(shown, "it is not an address".to_owned());
            };
            if let Some(why) = why_never_address(address) {
                return self.finding(shown, why.to_owned());
            }
        }
        let protocol = match (host.is_udp, host.is_name, host.port) {
            (true, ..) => Protocol::Udp,
            (false, true, 443) if seen.is_tls || !seen.is_allowed => Protocol::Https,
            (false, true, 80) if !seen.is_allowed => Protocol::Http,
            (false, ..) => Protocol::Tcp,
        };
        let times = if seen.count == 1 { "once".to_owned() } else { format!("{} times", seen.count) };
        let what = if seen.is_allowed { "connected to" } else { "tried to connect to" };
        let evidence = vec![format!("{what} {shown} {times}{}", by(&seen.programs))];
        self.hosts.push(HostProposal { to: host.clone(), protocol, evidence, is_granted: seen.is_allowed });
    }
}

/// A single place is judged without looking into it.
fn why_never_one(grant: &FileGrant, places: &LearnPlaces) -> Option<String> {
    if grant.path().is_dir() { None } else { why_never(grant, places) }
}

/// Whether a finding should tell of a file of the kernel. Programs look at many of them, find the sandbox's own or nothing, and go on.
fn is_sensitive_of_kernel(path: &Path, seen: &FileUse) -> bool {
    let says = path.to_str().and_then(sensitive_place);
    let is_switch = path.starts_with("/sys") || path.starts_with("/proc/sys");
    says.is_some() && (seen.writes() || !is_switch)
}

/// Addresses that lead to the machine itself, or to what only it should reach.
fn why_never_address(address: IpAddr) -> Option<&'static str> {
    let metadata = ["169.254.169.254", "fd00:ec2::254", "169.254.170.2"];
    if metadata.iter().any(|one| one.parse() == Ok(address)) {
        return Some("it hands out the credentials of a cloud's machine");
    }
    match address {
        IpAddr::V4(v4) if v4.is_link_local() || v4.is_multicast() || v4.is_broadcast() => {
            Some("it is not the address of a server")
        }
        _ if address.is_unspecified() || address.is_loopback() || address.is_multicast() => {
            Some("it is not the address of a server")
        }
        _ => None,
    }
}

fn same_name(one: &str, other: &str) -> bool {
    one.trim_end_matches('.').eq_ignore_ascii_case(other.trim_end_matches('.'))
}

/// The least that lets a path be changed as it was.
fn write_grant(path: &Path, seen: &FileUse, places: &LearnPlaces) -> (FileGrant, GrantWidth) {
    let is_there = fs::symlink_metadata(path).is_ok();
    if is_there && !seen.is_renamed {
        return (FileGrant::Write(path.to_owned()), GrantWidth::Exact);
    }
    // What the run makes itself is its own, from the first folder on that was not there.
    let absent = path.ancestors().take_while(|above| fs::symlink_metadata(above).is_err()).last();
    match absent {
        // A grant of a folder that is not there makes it before the run, and what would make it finds it there. The workspace is there.
        Some(made) if made != path || seen.is_made_folder => {
            if let Some(workspace) =
                places.workspace.as_deref().filter(|workspace| made.starts_with(workspace))
            {
                return (FileGrant::Write(workspace.to_owned()), GrantWidth::Workspace);
            }
            (FileGrant::Write(made.to_owned()), GrantWidth::MadeByRun)
        }
        // A file can only be made, removed or replaced in a folder that may be changed.
        _ => {
            let folder = path.parent().unwrap_or(Path::new("/"));
            let others = count_entries(folder).saturating_sub(usize::from(is_there));
            (FileGrant::Write(folder.to_owned()), GrantWidth::WholeFolder(others))
        }
    }
}

/// The outermost folder within one that the run makes, on the way to a path, that may be granted.
fn made_within(path: &Path, made: &Path, seen: &FileUse, places: &LearnPlaces) -> Option<FileGrant> {
    let innermost = if seen.is_made_folder { path } else { path.parent()? };
    let folders: Vec<&Path> = innermost.ancestors().take_while(|folder| *folder != made).collect();
    let mut grants = folders.into_iter().rev().map(|folder| FileGrant::Write(folder.to_owned()));
    grants.find(|grant| why_never(grant, places).is_none())
}

/// The least that lets a path be read as it was, or its folder, where every sibling was read, too.
fn read_grant(path: &Path, reads: &BTreeSet<&Path>, places: &LearnPlaces) -> (FileGrant, GrantWidth) {
    if let Some(workspace) = places.workspace.as_deref().filter(|workspace| path.starts_with(workspace)) {
        return (FileGrant::Read(workspace.to_owned()), GrantWidth::Workspace);
    }
    if let Some(named) = places.named_folders.iter().find(|named| path.starts_with(named)) {
        return (FileGrant::Read(named.clone()), GrantWidth::NamedFolder);
    }
    if path.is_dir() {
        let untouched = siblings(path).map_or(MOST_SIBLINGS, |entries| {
            entries.iter().filter(|entry| !reads.contains(entry.as_path())).count()
        });
        let width =
            if untouched == 0 { GrantWidth::EverySibling } else { GrantWidth::WholeFolder(untouched) };
        return (FileGrant::Read(path.to_owned()), width);
    }
    let exact = (FileGrant::Read(path.to_owned()), GrantWidth::Exact);
    let Some(folder) = path.parent() else { return exact };
    let Some(entries) = siblings(folder).filter(|entries| entries.len() > 1) else { return exact };
    let is_read = |entry: &PathBuf| reads.contains(entry.as_path()) && real_path(entry) == *entry;
    if entries.iter().all(is_read) {
        return (FileGrant::Read(folder.to_owned()), GrantWidth::EverySibling);
    }
    exact
}

/// What is in a folder; `None` where that is too much, or cannot be read.
fn siblings(folder: &Path) -> Option<Vec<PathBuf>> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.take(MOST_SIBLINGS + 1).flatten().map(|entry| entry.path()).collect();
    (entries.len() <= MOST_SIBLINGS).then_some(entries)
}

fn count_entries(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, |entries| entries.take(MOST_SIBLINGS).count())
}

impl GrantEvidence {
    fn lines(&self, places: &LearnPlaces) -> Vec<String> {
        let mut lines = Vec::new();
        let who = by(&self.programs);
        let reads: BTreeSet<_> = self.reads.difference(&self.changes).cloned().collect();
        for (what, paths) in [("changed", &self.changes), ("read", &reads)] {
            if !paths.is_empty() {
                lines.push(format!("{what} {}{who}", named(paths, places)));
            }
        }
        let width = self.width.unwrap_or(GrantWidth::Exact);
        if width != GrantWidth::Exact {
            lines.push(format!("granted: {}", width.describe()));
        }
        lines
    }
}

fn named(paths: &BTreeSet<PathBuf>, places: &LearnPlaces) -> String {
    let shown = paths
        .iter()
        .take(MOST_NAMED)
        .map(|path| places.spell(path).unwrap_or_else(|| path.display().to_string()));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if paths.len() > MOST_NAMED {
        let _ = write!(text, " and {} more", paths.len() - MOST_NAMED);
    }
    text
}

fn by(programs: &BTreeSet<String>) -> String {
    if programs.is_empty() {
        return String::new();
    }
    format!(" (by {})", programs.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
}
