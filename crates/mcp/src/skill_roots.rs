//! The roots, and the skills below them. No name leads out.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use skillsandbox_manifest::{Manifest, user_folders};
use skillsandbox_path_policy::{AccessKind, PathPolicy};

use crate::answer::ToolProblem;
use crate::settings::ServerError;

/// How deep below a root skills are looked for: `skills/topic/name` is common, more is not.
const DEPTH: usize = 3;
/// Most folders that are looked at for a list, and most skills that it has.
const FOLDERS: usize = 5_000;
const SKILLS: usize = 500;

/// The roots, each held open.
#[derive(Debug)]
pub(crate) struct SkillRoots {
    roots: Vec<PathPolicy>,
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
    /// Whether there may be more than were looked at.
    pub(crate) cut: bool,
}

impl SkillRoots {
    pub(crate) fn open(roots: &[PathBuf]) -> Result<Self, ServerError> {
        let mut open: Vec<PathPolicy> = Vec::new();
        for root in roots {
            let policy = PathPolicy::builder().root(root).read_only().build()?;
            // What judges skills, and what is written about them, is not theirs to show or to name.
            for own in user_folders::state().into_iter().chain(user_folders::policy_file()) {
                let own = skillsandbox_path_policy::real_path(&own).unwrap_or(own);
                if policy.root().starts_with(&own) || own.starts_with(policy.root()) {
                    let path = root.clone();
                    let why =
                        format!("it and {} lie in one another; keep skills apart from it", own.display());
                    return Err(ServerError::RootPlace { path, why });
                }
            }
            if open.iter().all(|other| other.root() != policy.root()) {
                open.push(policy);
            }
        }
        if open.is_empty() { Err(ServerError::NoRoot) } else { Ok(Self { roots: open }) }
    }

    /// The roots, without links in them.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathPolicy::root)
    }

    /// The skill that a name means: a path below a root, or a whole path that lies in one.
    pub(crate) fn find(&self, name: &str) -> Result<FoundSkill, ToolProblem> {
        let mut found: Vec<FoundSkill> = Vec::new();
        let mut refused = None;
        for policy in &self.roots {
            match policy.resolve(name, AccessKind::Read) {
                Ok(folder) if folder.join(Manifest::FILE_NAME).symlink_metadata().is_ok() => {
                    if found.iter().all(|other| other.folder != folder) {
                        found.push(FoundSkill { name: name.to_owned(), folder });
                    }
                }
                Ok(_) => {}
                // A whole path lies in one root at most: the others' refusals say nothing.
                Err(denial) => refused = refused.or(Some(denial.to_string())),
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (Some(one), Some(other)) => {
                Err(ToolProblem::new(format!("more than one root has a skill `{name}`"))
                    .why(format!("{} and {}", one.folder.display(), other.folder.display()))
                    .cure("name the one that is meant by its whole path, as list_skills shows it"))
            }
            (None, _) => {
                let problem =
                    ToolProblem::new(format!("there is no skill `{name}` below the roots of this server"));
                let problem = match refused {
                    Some(why) => problem.why(why),
                    None => problem.why(format!("no folder of that name holds a {}", Manifest::FILE_NAME)),
                };
                Err(problem.cure(
                    "call list_skills and use a name from there; skills elsewhere cannot be reached: a person would have to start the server with another --root",
                ))
            }
        }
    }

    /// Whether a folder still lies in a root, as it is now.
    pub(crate) fn holds(&self, folder: &Path) -> bool {
        let real = folder.canonicalize();
        real.is_ok_and(|real| real == folder && self.roots().any(|root| folder.starts_with(root)))
    }

    /// Every folder below a root that has a manifest. Links are passed over, and a skill's own folder is not looked into.
    pub(crate) fn list(&self) -> SkillList {
        let mut list = SkillList::default();
        let mut budget = FOLDERS;
        for policy in &self.roots {
            walk(policy, Path::new("."), 0, &mut budget, &mut list);
        }
        // Roots may lie in one another.
        let mut seen = HashSet::new();
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

fn walk(policy: &PathPolicy, below: &Path, depth: usize, budget: &mut usize, list: &mut SkillList) {
    if *budget == 0 || list.skills.len() >= SKILLS {
        list.cut = true;
        return;
    }
    *budget -= 1;
    let Ok(mut entries) = policy.read_dir(below) else { return };
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if entries.iter().any(|entry| entry.name == Manifest::FILE_NAME) {
        let folder = policy.root().join(below.strip_prefix(".").unwrap_or(below));
        list.skills.push(FoundSkill { name: shown(below), folder });
        return;
    }
    if depth == DEPTH {
        return;
    }
    for entry in entries {
        let hidden = entry.name.to_string_lossy().starts_with('.');
        // A name that is no text cannot be said in JSON.
        if hidden || entry.name.to_str().is_none() || !entry.is_dir {
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
