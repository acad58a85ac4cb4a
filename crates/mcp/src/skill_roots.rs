//! The roots, and the skills below them. No name leads out.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use skillsandbox_manifest::{Manifest, SkillDoc, user_folders};
use skillsandbox_path_policy::{DirEntry, PathPolicy};
use skillsandbox_run::{InstalledSkills, LoadChoice, LoadedSkill, Refusal, UserPolicy, Workspace};

use crate::answer::{ToolProblem, quoted};
use crate::settings::{ServerError, ServerSettings};

/// How deep below a root skills are looked for: `skills/topic/name` is common, more is not.
const DEPTH: usize = 3;
/// Most folders that are looked at, and most skills that are served. Where there are more, nothing is: see [`SkillList::cut`].
const FOLDERS: usize = 5_000;
const SKILLS: usize = 1_000;

/// The roots, each held open.
#[derive(Debug)]
pub(crate) struct SkillRoots {
    roots: Vec<PathPolicy>,
    installed: Option<Arc<dyn InstalledSkills>>,
    workspace: Option<Workspace>,
}

/// A skill's folder: which one, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundSkill {
    /// What the agent calls it: its path below its root, or the whole path where two roots have that.
    pub(crate) name: String,
    /// Its folder, without links in it.
    pub(crate) folder: PathBuf,
}

/// Skills below the roots.
#[derive(Debug, Default)]
pub(crate) struct SkillList {
    pub(crate) skills: Vec<FoundSkill>,
    /// Folders with a manifest or a document that are no skills of this server, each with why.
    pub(crate) not_served: Vec<(FoundSkill, String)>,
    /// Why not everything below the roots was looked at, where that is so. What was not seen may be a skill whose write grant reaches any of the
    /// others, and whoever has such a grant can make as many folders as it takes: so then no skill is served.
    pub(crate) cut: Option<String>,
}

impl SkillRoots {
    pub(crate) fn open(settings: &ServerSettings) -> Result<Self, ServerError> {
        let mut open: Vec<PathPolicy> = Vec::new();
        for root in &settings.roots {
            let policy = PathPolicy::builder().root(root).read_only().build()?;
            // What judges skills, and what is written about them, is not theirs to show or to name.
            let own = [user_folders::state(), user_folders::policy_file(), user_folders::manifests()];
            for own in own.into_iter().flatten() {
                let own = skillsandbox_path_policy::real_path(&own).unwrap_or(own);
                if policy.root().starts_with(&own) || own.starts_with(policy.root()) {
                    let path = root.clone();
                    let why =
                        format!("it and {} lie in one another; keep skills apart from it", own.display());
                    return Err(ServerError::RootPlace { path, why });
                }
            }
            check_writers(&policy, Path::new("."))
                .map_err(|why| ServerError::RootPlace { path: root.clone(), why })?;
            if open.iter().all(|other| other.root() != policy.root()) {
                open.push(policy);
            }
        }
        if open.is_empty() {
            return Err(ServerError::NoRoot);
        }
        let (installed, workspace) = (settings.installed.clone(), settings.workspace.clone());
        Ok(Self { roots: open, installed, workspace })
    }

    /// Loads a skill by the manifest that counts for it: the user's own, its own, or safe defaults.
    pub(crate) fn load(&self, folder: &Path, policy: &UserPolicy) -> Result<LoadedSkill, Refusal> {
        let mut choice = LoadChoice::default();
        choice.workspace.clone_from(&self.workspace);
        choice.is_kept = true;
        if let Some(installed) = &self.installed {
            let changed = |why| Refusal::ChangedOnDisk { name: shown_name(folder), changes: vec![why] };
            choice.installed = installed.installed_at(folder).map_err(changed)?;
        }
        LoadedSkill::load_with(folder, &choice, policy)
    }

    /// The roots, without links in them.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathPolicy::root)
    }

    /// The skill that a name means: exactly as [`list`](Self::list) writes it, or its whole path. No other spelling leads anywhere, so that
    /// what a list shows and what a name runs cannot differ.
    pub(crate) fn find(&self, name: &str) -> Result<FoundSkill, ToolProblem> {
        let mut found: Vec<FoundSkill> = Vec::new();
        let mut refused = None;
        for policy in &self.roots {
            let Some(below) = path_below(policy, name) else { continue };
            match look_up(policy, &below) {
                Ok(folder) if found.iter().any(|other| other.folder == folder) => {}
                Ok(folder) => found.push(FoundSkill { name: name.to_owned(), folder }),
                Err(why) => refused = refused.or(Some(why)),
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(only), None) => match self.foreign_writer(&only.folder) {
                None => Ok(only),
                Some(why) => Err(not_served(name, &why)),
            },
            (Some(one), Some(other)) => {
                Err(ToolProblem::new(format!("more than one root has a skill {}", quoted(name)))
                    .why(format!("{} and {}", one.folder.display(), other.folder.display()))
                    .cure("name the one that is meant by its whole path, as list_skills shows it"))
            }
            (None, _) => Err(not_served(
                name,
                refused.as_deref().unwrap_or("it is not written as list_skills writes a name"),
            )),
        }
    }

    /// Which other skill may write into a skill's folder, or to a folder above it that lies in a root. What a run can change is that
    /// run's word, and not the user's. Where not every skill could be looked at, that is not known of any.
    fn foreign_writer(&self, folder: &Path) -> Option<String> {
        let list = self.walk_all();
        list.cut.clone().or_else(|| self.writers(&list).into_iter().find_map(|writer| writer.reaches(folder)))
    }

    /// The write grants of skills that lie in a root. One that lies above a root is read-only from there on, in every run of this server.
    /// Those that are not served themselves count, too: a person may run them.
    fn writers(&self, list: &SkillList) -> Vec<SkillWriter> {
        let mut writers = Vec::new();
        for skill in list.skills.iter().chain(list.not_served.iter().map(|(skill, _)| skill)) {
            let Ok(loaded) = self.load(&skill.folder, &UserPolicy::none()) else { continue };
            for grant in loaded.write_grants() {
                let grant = skillsandbox_path_policy::real_path(&grant).unwrap_or(grant);
                if self.roots().any(|root| grant.starts_with(root) && grant != root) {
                    writers.push(SkillWriter { skill: skill.clone(), grant });
                }
            }
        }
        writers
    }

    /// Whether a folder still lies in a root, as it is now.
    pub(crate) fn holds(&self, folder: &Path) -> bool {
        let real = folder.canonicalize();
        real.is_ok_and(|real| real == folder && self.roots().any(|root| folder.starts_with(root)))
    }

    /// Every folder below a root that has a manifest or a document. Links and hidden folders are passed over, a skill's own folder is not looked into, and
    /// what anybody, or another skill, may write is told apart.
    pub(crate) fn list(&self) -> SkillList {
        let mut list = self.walk_all();
        if let Some(why) = &list.cut {
            let unproven = list.skills.drain(..).map(|skill| (skill, why.clone()));
            list.not_served.extend(unproven);
            return list;
        }
        let writers = self.writers(&list);
        let (mut kept, mut left_out) = (Vec::new(), std::mem::take(&mut list.not_served));
        for skill in list.skills {
            match writers.iter().find_map(|writer| writer.reaches(&skill.folder)) {
                None => kept.push(skill),
                Some(why) => left_out.push((skill, why)),
            }
        }
        SkillList { skills: kept, not_served: left_out, cut: list.cut }
    }

    fn walk_all(&self) -> SkillList {
        let mut list = SkillList::default();
        let mut budget = FOLDERS;
        for policy in &self.roots {
            walk(policy, Path::new("."), 0, &mut budget, &mut list);
        }
        // Roots may lie in one another. A folder that one of them may not serve, none does.
        let mut seen: HashSet<PathBuf> =
            list.not_served.iter().map(|(skill, _)| skill.folder.clone()).collect();
        list.skills.retain(|skill| seen.insert(skill.folder.clone()));
        let mut uses: HashMap<String, usize> = HashMap::new();
        for skill in &list.skills {
            *uses.entry(skill.name.clone()).or_default() += 1;
        }
        for skill in &mut list.skills {
            // Two roots have it: only the whole path says which is meant.
            if uses.get(&skill.name).is_some_and(|count| *count > 1) {
                skill.name = skill.folder.display().to_string();
            }
        }
        list
    }
}

/// A skill, and a place in a root that its runs may write to.
struct SkillWriter {
    skill: FoundSkill,
    grant: PathBuf,
}

impl SkillWriter {
    /// Why a folder of another skill is not that skill's alone.
    fn reaches(&self, folder: &Path) -> Option<String> {
        let own = self.skill.folder == folder;
        let reaches = folder.starts_with(&self.grant) || self.grant.starts_with(folder);
        (!own && reaches).then(|| {
            format!(
                "the skill {} may write to {}",
                quoted(&self.skill.name),
                quoted(&self.grant.display().to_string())
            )
        })
    }
}

fn not_served(name: &str, why: &str) -> ToolProblem {
    ToolProblem::new(format!("there is no skill {} below the roots of this server", quoted(name))).why(why).cure(
        "call list_skills and use a name from there; skills elsewhere cannot be reached: a person would have to start the server with another --root",
    )
}

/// The path below a root that a name says, where it is written in the one way in which a list writes it.
fn path_below(policy: &PathPolicy, name: &str) -> Option<PathBuf> {
    if name == "." {
        return Some(PathBuf::from("."));
    }
    // A slash at the end is the folder itself, for path policies as for the kernel.
    let name = name.strip_suffix('/').unwrap_or(name);
    let path = Path::new(name);
    let below = if path.is_absolute() { path.strip_prefix(policy.root()).ok()? } else { path };
    if !below.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    // Components are read without regard to `//`, `/./` and a slash at the end: so what they say must be what was written.
    let below: PathBuf = below.components().collect();
    let written = if path.is_absolute() { join_below(policy, &below) } else { below.clone() };
    let is_whole = path.is_absolute() || !below.as_os_str().is_empty();
    (is_whole && written.to_str() == Some(name)).then(|| Path::new(".").join(below))
}

/// A path below a root, in full.
fn join_below(policy: &PathPolicy, below: &Path) -> PathBuf {
    policy.root().components().chain(below.components().filter(|part| *part != Component::CurDir)).collect()
}

/// The folder of a skill that [`walk`] would come upon there; else why it would not.
fn look_up(policy: &PathPolicy, below: &Path) -> Result<PathBuf, String> {
    let missing =
        || format!("no folder of that name holds a {} or a {}", SkillDoc::FILE_NAME, Manifest::FILE_NAME);
    let mut at = PathBuf::from(".");
    let parts: Vec<&OsStr> = below.iter().filter(|part| *part != ".").collect();
    if parts.len() > DEPTH {
        return Err(format!("skills are looked for {DEPTH} folders deep and no deeper"));
    }
    let mut entries = policy.read_dir(&at).map_err(|_| missing())?;
    for part in parts {
        check_writers(policy, &at)?;
        if is_skill(&entries) {
            return Err("it lies in another skill, which may have written it".to_owned());
        }
        if is_hidden(part) {
            return Err("it is hidden: its name, or that of a folder above it, begins with a dot".to_owned());
        }
        match entries.iter().find(|entry| entry.name == part) {
            Some(entry) if entry.is_dir => {}
            Some(entry) if entry.is_link => return Err("it is a link, which is not followed".to_owned()),
            _ => return Err(missing()),
        }
        at.push(part);
        entries = policy.read_dir(&at).map_err(|_| missing())?;
    }
    if !is_skill(&entries) {
        return Err(missing());
    }
    check_writers(policy, &at)?;
    for own in entries.iter().filter(|entry| is_own_word(&entry.name)) {
        check_writers(policy, &at.join(&own.name))?;
    }
    Ok(join_below(policy, &at))
}

/// What makes a folder a skill: its manifest, or the document that agents read.
fn is_own_word(name: &OsStr) -> bool {
    name == Manifest::FILE_NAME || name == SkillDoc::FILE_NAME
}

fn is_skill(entries: &[DirEntry]) -> bool {
    entries.iter().any(|entry| is_own_word(&entry.name))
}

/// The name of a folder, for people.
fn shown_name(folder: &Path) -> String {
    folder.file_name().unwrap_or(folder.as_os_str()).to_string_lossy().into_owned()
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Refuses what every user of the host may write to, or put something into.
fn check_writers(policy: &PathPolicy, below: &Path) -> Result<(), String> {
    let path = join_below(policy, below);
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => Ok(()),
        Ok(found) if found.mode() & 0o002 != 0 => Err(format!(
            "anybody on this host may write to {}; take that right away (chmod o-w)",
            quoted(&path.display().to_string())
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{}: {error}", quoted(&path.display().to_string()))),
    }
}

fn walk(policy: &PathPolicy, below: &Path, depth: usize, budget: &mut usize, list: &mut SkillList) {
    if *budget == 0 || list.skills.len() >= SKILLS {
        list.cut.get_or_insert_with(|| {
            format!(
                "there are more than {FOLDERS} folders or {SKILLS} skills below the roots, so it is not known which of them another skill may write to; \
                 a person would have to remove some (the first that was not looked at is {}), or start the server with another --root",
                quoted(&join_below(policy, below).display().to_string())
            )
        });
        return;
    }
    *budget -= 1;
    let mut entries = match policy.read_dir(below) {
        Ok(entries) => entries,
        Err(error) => {
            let folder = join_below(policy, below);
            // One that has a name which no tool takes holds no skill of this server, as one that is hidden; any other may.
            if std::fs::read_dir(&folder).is_err() {
                list.cut.get_or_insert_with(|| {
                    format!(
                        "the folder {} cannot be looked at ({error}), so it is not known which skills one in it may write to; a person would have to make \
                         it readable, or remove it",
                        quoted(&folder.display().to_string())
                    )
                });
            }
            let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
            if has(Manifest::FILE_NAME) || has(SkillDoc::FILE_NAME) {
                list.not_served.push((FoundSkill { name: shown(below), folder }, error.to_string()));
            }
            return;
        }
    };
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if is_skill(&entries) {
        let folder = join_below(policy, below);
        let found = FoundSkill { name: shown(below), folder };
        match look_up(policy, below) {
            Ok(_) => list.skills.push(found),
            Err(why) => list.not_served.push((found, why)),
        }
        return;
    }
    if depth == DEPTH {
        return;
    }
    for entry in entries {
        // A name that is no text cannot be said in JSON.
        if is_hidden(&entry.name) || entry.name.to_str().is_none() || !entry.is_dir {
            continue;
        }
        walk(policy, &below.join(&entry.name), depth + 1, budget, list);
    }
}

/// A path below a root as it is said: without the dot that it begins with, unless that is all.
fn shown(below: &Path) -> String {
    match below.strip_prefix(".") {
        Ok(rest) if !rest.as_os_str().is_empty() => rest.display().to_string(),
        _ => ".".to_owned(),
    }
}
