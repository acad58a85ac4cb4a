//! From a source to a skill's files in memory. Nothing in them is executed, and nothing is written but what git writes into the
//! quarantine.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use crate::error::{Error, IoErrorAt as _};
use crate::folder;
use crate::git::{self, Git};
use crate::source::SkillSource;
use crate::tree::{MAX_TOTAL, SkillTree};
use crate::unpack::{self, unpack};

/// What was fetched.
#[derive(Debug)]
pub(crate) struct FetchedSkill {
    pub(crate) tree: SkillTree,
    /// What it is called by where it lay; its own word comes first.
    pub(crate) name: String,
    /// The commit, where there is one.
    pub(crate) resolved: Option<String>,
    /// Whether it is a single document.
    pub(crate) document: bool,
}

/// The document of a skill, and its declaration.
pub(crate) const DOCUMENT: &str = "SKILL.md";
pub(crate) const MANIFEST: &str = "skillsandbox.yaml";

/// Folders that are named when there is no skill where one was looked for.
const MAX_NAMED: usize = 10;

pub(crate) fn fetch(source: &SkillSource, git: &dyn Git, quarantine: &Path) -> Result<FetchedSkill, Error> {
    let fetched = match source {
        SkillSource::Local(path) => local(path)?,
        SkillSource::Git(from) => {
            let checkout = git::fetch(git, from, quarantine)?;
            let last =
                |text: &str| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            let name = from.path.as_deref().map_or_else(|| last(&from.url), last);
            let name = name.strip_suffix(".git").unwrap_or(&name).to_owned();
            FetchedSkill { tree: checkout.tree, name, resolved: Some(checkout.commit), document: false }
        }
    };
    if !fetched.document && fetched.tree.bytes(DOCUMENT).is_none() && fetched.tree.bytes(MANIFEST).is_none() {
        return Err(Error::NotASkill { what: source.to_string(), why: instead(&fetched.tree) });
    }
    Ok(fetched)
}

fn local(path: &Path) -> Result<FetchedSkill, Error> {
    let metadata = fs::metadata(path).at(path)?;
    let named =
        |name: Option<&std::ffi::OsStr>| name.map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let shown = path.display().to_string();
    if metadata.is_dir() {
        let found = folder::read(path)?;
        if let Some(odd) = found.odd.first() {
            return Err(Error::hostile(odd.path.clone(), odd.why.clone()));
        }
        let name = named(path.file_name());
        return Ok(FetchedSkill { tree: found.tree, name, resolved: None, document: false });
    }
    if !metadata.is_file() {
        return Err(Error::NotASkill { what: shown, why: "it is neither a folder nor a file".to_owned() });
    }
    let mut bytes = Vec::new();
    File::open(path).at(path)?.take(MAX_TOTAL as u64 + 1).read_to_end(&mut bytes).at(path)?;
    if bytes.len() > MAX_TOTAL {
        return Err(Error::hostile(shown, format!("it is larger than {MAX_TOTAL} bytes")));
    }
    let name = named(path.file_name());
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    if unpack::is_archive(&bytes) {
        let unpacked = unpack(&name, &bytes)?;
        let stem = stem.strip_suffix(".tar").unwrap_or(stem).to_owned();
        let name = unpacked.folder.unwrap_or(stem);
        return Ok(FetchedSkill { tree: unpacked.tree, name, resolved: None, document: false });
    }
    match ending.to_ascii_lowercase().as_str() {
        "md" | "markdown" => {
            let mut tree = SkillTree::default();
            tree.insert(DOCUMENT, bytes, false)?;
            Ok(FetchedSkill { tree, name: stem.to_owned(), resolved: None, document: true })
        }
        "zip" | "skill" | "tar" | "gz" | "tgz" | "zst" => {
            let why = "its first bytes are not those of an archive".to_owned();
            Err(Error::Damaged { what: shown, why })
        }
        _ => {
            let why = "it is neither a markdown document nor an archive".to_owned();
            Err(Error::NotASkill { what: shown, why })
        }
    }
}

/// Where the skills are that were not where one was looked for.
fn instead(tree: &SkillTree) -> String {
    let below = tree.files().filter_map(|(path, _)| path.strip_suffix(DOCUMENT)?.strip_suffix('/'));
    let below: Vec<&str> = below.collect();
    match below.len() {
        0 => format!("there is no skill in it: neither {DOCUMENT} nor {MANIFEST}"),
        count => format!(
            "{DOCUMENT} is not at its top; {count} skills are below: {}. Name the folder of one. A plugin's own commands, hooks and servers are not \
             installed; `skillsandbox scan` judges them",
            below.into_iter().take(MAX_NAMED).collect::<Vec<_>>().join(", ")
        ),
    }
}
