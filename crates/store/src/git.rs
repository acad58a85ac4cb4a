//! Git repositories, fetched by the system's git without believing it or them.
//!
//! Git is a large program that acts on what it reads: hooks, filters, submodules, attributes, links. So nothing is ever checked out. The
//! commit is fetched into a bare corner of the quarantine, and git writes its tree down as one tar, which is read like any other
//! hostile archive. Each call runs confined, by the implementation of [`Git`]: this crate starts nothing itself.

use std::path::{Path, PathBuf};

use crate::error::{Error, IoErrorAt as _};
use crate::source::GitSource;
use crate::tree::{MAX_TOTAL, SkillTree};
use crate::unpack;

/// Runs git confined.
pub trait Git {
    /// Runs git once to its end, with nothing but what the call names, and gives back what it printed.
    ///
    /// # Errors
    /// Why it could not be run, or what it said when it failed.
    fn run(&self, call: &GitCall) -> Result<Vec<u8>, String>;
}

/// One call of git, and all that it may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GitCall {
    /// Its arguments; no shell may see them.
    pub arguments: Vec<String>,
    /// All of its environment, besides what the sandbox itself sets.
    pub environment: Vec<(String, String)>,
    /// The one host and port that may be reached.
    pub host: Option<(String, u16)>,
    /// The one folder that may be read.
    pub read: Option<PathBuf>,
    /// The one folder that may be written.
    pub write: PathBuf,
}

/// A place without git: every repository is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGit;

impl Git for NoGit {
    fn run(&self, _: &GitCall) -> Result<Vec<u8>, String> {
        Err("git repositories are not fetched here".to_owned())
    }
}

/// What was fetched.
#[derive(Debug)]
pub(crate) struct Checkout {
    pub(crate) tree: SkillTree,
    pub(crate) commit: String,
}

/// Settings that make git do nothing but what it is told, whatever the repository or the user's own files say.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.askPass=",
    "credential.helper=",
    "credential.interactive=false",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    // Who owns a repository on this machine says nothing about whether it is read: it is confined, and never believed.
    "safe.directory=*",
];

/// The environment of every call.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LFS_SKIP_SMUDGE", "1"),
    ("LC_ALL", "C"),
];

/// Fetches a commit into a folder of the quarantine, and reads its tree.
pub(crate) fn fetch(git: &dyn Git, source: &GitSource, quarantine: &Path) -> Result<Checkout, Error> {
    let repo = quarantine.join("repo");
    let tar = quarantine.join("tree.tar");
    let (Some(repo_name), Some(tar_name)) = (repo.to_str(), tar.to_str()) else {
        return Err(Error::Git { what: source.url.clone(), why: "the store's path is not text".to_owned() });
    };
    let failed = |why: String| Error::Git { what: source.url.clone(), why };
    let run = |outside: bool, arguments: &[&str]| {
        git.run(&call(source, quarantine, outside, arguments)).map_err(failed)
    };

    run(false, &["init", "--quiet", "--template=", repo_name])?;
    let reference = source.reference.as_deref().unwrap_or("HEAD");
    let depth = [
        "-C",
        repo_name,
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--",
        &source.url,
        reference,
    ];
    run(true, &depth)?;
    let commit =
        run(false, &["-C", repo_name, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}"])?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    if !matches!(commit.len(), 40 | 64) || !commit.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(failed("it did not say which commit that is".to_owned()));
    }
    let tree = match &source.path {
        Some(path) => format!("{commit}:{path}"),
        None => commit.clone(),
    };
    run(false, &["-C", repo_name, "archive", "--format=tar", "-o", tar_name, &tree])?;
    let bytes = read(&tar)?;
    // `git archive` puts no folder around the tree; one that stands alone in it is the repository's own.
    Ok(Checkout { tree: unpack::tar(&source.url, bytes.as_slice())?, commit })
}

fn call(source: &GitSource, write: &Path, outside: bool, arguments: &[&str]) -> GitCall {
    let protocol =
        if source.host.is_some() { "protocol.https.allow=always" } else { "protocol.file.allow=always" };
    let settings = SETTINGS.iter().copied().chain([protocol]);
    let settings = settings.flat_map(|setting| ["-c".to_owned(), setting.to_owned()]);
    GitCall {
        arguments: settings.chain(arguments.iter().map(|text| (*text).to_owned())).collect(),
        environment: ENVIRONMENT
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        host: source.host.clone().filter(|_| outside),
        read: source.folder.clone().filter(|_| outside),
        write: write.to_owned(),
    }
}

/// What git wrote, were it even a link: it is git's word, and git read what the repository gave it.
fn read(tar: &Path) -> Result<Vec<u8>, Error> {
    use rustix::fs::{Mode, OFlags, open};
    use std::io::Read as _;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = std::fs::File::from(open(tar, flags, Mode::empty()).at(tar)?);
    let mut bytes = Vec::new();
    let most = 2 * MAX_TOTAL as u64;
    file.take(most + 1).read_to_end(&mut bytes).at(tar)?;
    if bytes.len() as u64 > most {
        return Err(Error::hostile("the repository", format!("a skill has at most {MAX_TOTAL} bytes")));
    }
    Ok(bytes)
}
