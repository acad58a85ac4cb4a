//! What of a folder is judged: its skills, each by itself; its plugins, whole; of the rest what agents obey, with the scripts that names.
//! Everything else is said to be outside.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::agent_files::{self, PLUGIN_FILE};
use crate::kind::FileKind;
use crate::report::OutsideFiles;
use crate::skill::{MAX_FILE, ReadError, SkillFiles, UnreadFile};

/// Deepest folder that is searched for skills. What lies deeper is scanned as one.
const MAX_DEPTH: usize = 16;
/// Most files outside of skills that are looked at for being named by what is judged.
const MAX_LOOSE: usize = 20_000;
/// How often it is asked what the named files name.
const MAX_ROUNDS: usize = 4;
/// Why a file of a tree is not judged.
const OUTSIDE: &str = "in no skill, and nothing that was judged names it";

/// The subjects of a scan: what is judged of the paths that were named.
///
/// ```no_run
/// use skillsandbox_scanner::{ScanTree, Scanner};
///
/// let tree = ScanTree::find(["repository"])?;
/// for number in 0..tree.subjects().len() {
///     println!("{:?}", Scanner::new().scan(&tree.read(number)?).verdict);
/// }
/// # Ok::<(), skillsandbox_scanner::ReadError>(())
/// ```
#[derive(Debug, Default)]
pub struct ScanTree {
    subjects: Vec<TreeSubject>,
    /// Paths of skills, which are no part of what lies above them.
    apart: HashSet<PathBuf>,
}

/// One thing that is judged by itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct TreeSubject {
    /// The folder of a skill, a plugin or a tree, or a file.
    pub path: PathBuf,
    /// For a plugin or a tree: its name, the files, below the folder, and what could not be read.
    bundle: Option<AgentBundle>,
    /// What of the tree is no part of any subject; with the first subject of it.
    outside: Option<OutsideFiles>,
}

/// What agents obey in a tree, or a plugin.
#[derive(Debug)]
struct AgentBundle {
    name: String,
    files: Vec<String>,
    unread: Vec<UnreadFile>,
}

impl TreeSubject {
    /// The files of a plugin or a tree, on the disk; none of a skill, of which the whole folder is judged.
    #[must_use]
    pub fn listed_files(&self) -> Option<impl Iterator<Item = PathBuf>> {
        let bundle = self.bundle.as_ref()?;
        Some(bundle.files.iter().map(|file| self.path.join(file)))
    }

    /// What of the tree that it is the first subject of is no part of any.
    #[must_use]
    pub fn outside(&self) -> Option<&OutsideFiles> {
        self.outside.as_ref()
    }
}

impl ScanTree {
    /// Finds what is to be judged at and below these paths. Folders that cannot be looked into are among it, unless they lie in a skill, which
    /// lists them itself.
    ///
    /// # Errors
    /// A path that cannot be read.
    pub fn find<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self, ReadError> {
        let mut tree = Self::default();
        for path in paths {
            let path = path.as_ref();
            tree.add(path).map_err(|error| ReadError { path: path.to_owned(), error })?;
        }
        Ok(tree)
    }

    /// What is judged, in the order of the paths.
    #[must_use]
    pub fn subjects(&self) -> &[TreeSubject] {
        &self.subjects
    }

    /// The files of a subject, without those that are judged by themselves.
    ///
    /// # Errors
    /// A folder or file that cannot be read, and a number that no subject has.
    pub fn read(&self, number: usize) -> Result<SkillFiles, ReadError> {
        let missing = || ReadError { path: PathBuf::new(), error: io::ErrorKind::NotFound.into() };
        let subject = self.subjects.get(number).ok_or_else(missing)?;
        let path = &subject.path;
        if let Some(AgentBundle { name, files, unread }) = &subject.bundle {
            let mut skill = SkillFiles::from_agent_files(path, name.clone(), files);
            skill.unread.extend(unread.iter().cloned());
            return Ok(skill);
        }
        if path.is_dir() {
            SkillFiles::from_dir_without(path, |below| self.apart.contains(below))
        } else {
            SkillFiles::from_file(path)
        }
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        if !fs::metadata(path)?.is_dir() {
            self.subjects.push(TreeSubject { path: path.to_owned(), bundle: None, outside: None });
            return Ok(());
        }
        fs::read_dir(path)?;
        let mut walk = TreeWalk::new(path);
        walk.folder(path, 0, false);
        let (mut bundles, outside) = walk.gather();
        let mut found: Vec<TreeSubject> = Vec::new();
        // A folder that was named is scanned, whatever it holds.
        if walk.skills.is_empty() && bundles.is_empty() {
            found.push(TreeSubject { path: path.to_owned(), bundle: None, outside: None });
        } else {
            // The tree's own report comes first, and each plugin's before its skills.
            let skills = walk.skills.iter().map(|skill| (skill.clone(), None));
            let mut all: Vec<_> =
                bundles.drain(..).map(|(path, bundle)| (path, Some(bundle))).chain(skills).collect();
            all.sort_by(|(one, bundle), (other, other_bundle)| {
                one.cmp(other).then(bundle.is_none().cmp(&other_bundle.is_none()))
            });
            found.extend(all.into_iter().map(|(path, bundle)| TreeSubject { path, bundle, outside: None }));
            if let Some(first) = found.first_mut().filter(|_| outside.count > 0) {
                first.outside = Some(outside);
            }
        }
        self.apart.extend(walk.skills);
        self.subjects.extend(found);
        Ok(())
    }
}

/// A tree that is being looked through.
struct TreeWalk<'w> {
    root: &'w Path,
    /// Folders of skills, and folders that are scanned as one.
    skills: Vec<PathBuf>,
    /// Files in no skill, below the root, with `/`.
    loose: BTreeSet<String>,
    /// Folders of plugins, below the root; the root itself is empty.
    plugins: Vec<String>,
    /// Links, by their path below the root, and where they lead.
    links: Vec<(String, Option<PathBuf>)>,
    /// Folders of git.
    git: Vec<String>,
    /// Files that were too many to be looked at.
    passed: usize,
}

impl<'w> TreeWalk<'w> {
    fn new(root: &'w Path) -> Self {
        let (skills, loose, plugins, links) = (Vec::new(), BTreeSet::new(), Vec::new(), Vec::new());
        Self { root, skills, loose, plugins, links, git: Vec::new(), passed: 0 }
    }

    /// A path below the root, with `/`.
    fn below(&self, path: &Path) -> String {
        let below = path.strip_prefix(self.root).unwrap_or(path);
        let parts: Vec<_> = below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        parts.join("/")
    }

    fn folder(&mut self, path: &Path, depth: usize, is_below: bool) {
        // Where names differ in case only, some systems see one.
        let is_skill = ["SKILL.md", "skill.md", "Skill.md", "skillsandbox.yaml"]
            .iter()
            .any(|name| path.join(name).is_file());
        if is_skill {
            self.skills.push(path.to_owned());
        }
        let is_within = is_skill || is_below;
        let Ok(entries) = list_folder(path) else {
            if !is_within {
                self.skills.push(path.to_owned());
            }
            return;
        };
        let folders = || entries.iter().filter(|(_, kind)| *kind == EntryKind::Folder);
        if depth >= MAX_DEPTH {
            if folders().next().is_some() && !is_within {
                self.skills.push(path.to_owned());
            }
            return;
        }
        if !is_within {
            if path.join(PLUGIN_FILE).is_file() {
                self.plugins.push(self.below(path));
            }
            for (entry, kind) in &entries {
                match kind {
                    EntryKind::File => self.file(self.below(entry)),
                    EntryKind::Link => self.links.push((self.below(entry), entry.canonicalize().ok())),
                    EntryKind::Git => self.git.push(self.below(entry)),
                    EntryKind::Folder => {}
                }
            }
        }
        for (folder, _) in folders() {
            self.folder(folder, depth + 1, is_within);
        }
    }

    /// A file in no skill. What agents obey is never too much.
    fn file(&mut self, path: String) {
        if self.loose.len() < MAX_LOOSE || agent_files::is_agent_file(&path) {
            self.loose.insert(path);
        } else {
            self.passed += 1;
        }
    }

    /// What agents obey, by the plugin or the tree that it belongs to; and what is left.
    fn gather(&mut self) -> (Vec<(PathBuf, AgentBundle)>, OutsideFiles) {
        let mut outside = OutsideFiles::default();
        for git in &self.git {
            outside.push(git.clone(), "git's own, which is not judged");
        }
        let mut bundles: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut left: Vec<(String, String)> = Vec::new();
        for file in &self.loose {
            let home = self.home_of(file);
            let own = below_folder(file, &home).to_owned();
            if self.plugins.contains(&home) || agent_files::is_agent_file(&own) {
                bundles.entry(home).or_default().push(own);
            } else {
                left.push((home, own));
            }
        }
        let mut unread: BTreeMap<String, Vec<UnreadFile>> = BTreeMap::new();
        for (link, target) in &self.links {
            let home = self.home_of(link);
            let own = below_folder(link, &home).to_owned();
            match self.judge_link(&own, target.as_deref()) {
                LinkFate::Inside => {
                    outside.push(link.clone(), "a symbolic link to a place that is looked at where it lies");
                }
                LinkFate::Loose => outside.push(link.clone(), "a symbolic link, which is not followed"),
                LinkFate::Named(file) => {
                    let home = self.home_of(&file);
                    let own = below_folder(&file, &home).to_owned();
                    left.retain(|known| *known != (home.clone(), own.clone()));
                    let files = bundles.entry(home).or_default();
                    if !files.contains(&own) {
                        files.push(own);
                    }
                }
                LinkFate::Unread => {
                    let reason = "a symbolic link that leads out of the folder, or nowhere".to_owned();
                    unread.entry(home).or_default().push(UnreadFile { path: own, reason });
                }
            }
        }
        self.add_named(&mut bundles, &mut left);
        for (home, own) in left {
            outside.push(join_path(&home, &own), OUTSIDE);
        }
        if self.passed > 0 {
            outside.count += self.passed;
            // Among them may be what is named.
            for home in bundles.keys() {
                let reason = format!("{} files were too many to be looked at", self.passed);
                unread.entry(home.clone()).or_default().push(UnreadFile { path: ".".to_owned(), reason });
            }
        }
        for home in unread.keys() {
            bundles.entry(home.clone()).or_default();
        }
        let named = bundles.into_iter().map(|(home, mut files)| {
            files.sort();
            let path = if home.is_empty() { self.root.to_owned() } else { self.root.join(&home) };
            let name = name_bundle(&path, self.plugins.contains(&home));
            let unread = unread.remove(&home).unwrap_or_default();
            (path, AgentBundle { name, files, unread })
        });
        (named.collect(), outside)
    }

    /// The plugin that a file belongs to, below the root; empty for the tree.
    fn home_of(&self, file: &str) -> String {
        let above = self.plugins.iter().filter(|home| home.is_empty() || below_folder(file, home) != file);
        above.max_by_key(|home| home.len()).cloned().unwrap_or_default()
    }

    /// What becomes of a link.
    fn judge_link(&self, own: &str, target: Option<&Path>) -> LinkFate {
        let is_agent = agent_files::is_agent_file(own) || agent_files::is_agent_file(&format!("{own}/x.md"));
        let Some(root) = self.root.canonicalize().ok() else { return LinkFate::Unread };
        match target.and_then(|target| Some((target, target.strip_prefix(&root).ok()?))) {
            Some((target, below)) if target.is_file() && is_agent => {
                let file = self.below(&self.root.join(below));
                if self.loose.contains(&file) { LinkFate::Named(file) } else { LinkFate::Inside }
            }
            Some(_) => LinkFate::Inside,
            None if is_agent => LinkFate::Unread,
            None => LinkFate::Loose,
        }
    }

    /// Moves the files that are named by what is judged, and what those name, to what is judged.
    fn add_named(&self, bundles: &mut BTreeMap<String, Vec<String>>, left: &mut Vec<(String, String)>) {
        for (home, files) in bundles.iter_mut() {
            let mut unasked = files.clone();
            for _ in 0..MAX_ROUNDS {
                let mut words: HashSet<String> = HashSet::new();
                for file in unasked.drain(..) {
                    let text = read_text(&self.root.join(home).join(&file));
                    words.extend(agent_files::find_paths(&text).map(ToOwned::to_owned));
                }
                let is_named = |(other, own): &(String, String)| {
                    other == home && (is_program(own) || is_named(own, &words))
                };
                let (named, rest): (Vec<_>, Vec<_>) = left.drain(..).partition(is_named);
                *left = rest;
                unasked.extend(named.into_iter().map(|(_, own)| own));
                if unasked.is_empty() {
                    break;
                }
                files.extend(unasked.iter().cloned());
            }
        }
    }
}

/// `plugin NAME`, or the folder's name.
fn name_bundle(path: &Path, is_plugin: bool) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.file_name().map_or_else(|| "/".to_owned(), |name| name.to_string_lossy().into_owned());
    if !is_plugin {
        return folder;
    }
    let manifest: Option<serde_json::Value> = serde_json::from_str(&read_text(&path.join(PLUGIN_FILE))).ok();
    let name = manifest.as_ref().and_then(|manifest| manifest.get("name")?.as_str());
    format!("plugin {}", name.filter(|name| !name.trim().is_empty()).unwrap_or(&folder))
}

/// What becomes of a link that is in no skill.
enum LinkFate {
    /// It leads to what is looked at anyway.
    Inside,
    /// It leads elsewhere, and no agent looks for it.
    Loose,
    /// An agent reads this file by it.
    Named(String),
    /// An agent follows it, and we do not.
    Unread,
}

/// Whether a file lies where hooks and commands have their programs, and is one.
fn is_program(path: &str) -> bool {
    agent_files::is_program_place(path) && FileKind::of(path, b"") == FileKind::Script
}

/// Whether one of these words is the end of a path. A name alone must be that of a script: every text speaks of some `README.md`.
fn is_named(path: &str, words: &HashSet<String>) -> bool {
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
    let ends = std::iter::once(path).chain(folders);
    let is_script = FileKind::of(path, b"") == FileKind::Script;
    ends.into_iter().any(|end| (end.contains('/') || is_script) && words.contains(end))
}

/// A path without a folder in front of it.
fn below_folder<'p>(path: &'p str, folder: &str) -> &'p str {
    let rest = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    rest.filter(|_| !folder.is_empty()).unwrap_or(path)
}

fn join_path(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

/// A text, or nothing where it is none or too large.
fn read_text(path: &Path) -> String {
    let is_small =
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE as u64);
    let bytes = if is_small { fs::read(path).unwrap_or_default() } else { Vec::new() };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What an entry of a folder is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
    Link,
    /// Git's own folder.
    Git,
}

/// What is in a folder, in the order of names; pipes and devices count as files, and are told when they are read.
fn list_folder(path: &Path) -> io::Result<Vec<(PathBuf, EntryKind)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let kind = match () {
            () if kind.is_symlink() => EntryKind::Link,
            () if entry.file_name() == ".git" => EntryKind::Git,
            () if kind.is_dir() => EntryKind::Folder,
            () => EntryKind::File,
        };
        entries.push((entry.path(), kind));
    }
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}
