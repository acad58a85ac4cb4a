//! Which files a skill may read and write.

use std::collections::HashSet;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};
use skillsandbox_text::is_emoji_selector;

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Fault, Spanned, quoted};
use crate::{Manifest, raw};

/// The skill's own folder, in a manifest.
const SKILL_DIR: &str = "${SKILL_DIR}";
/// The folder that the caller works in, in a manifest.
const WORKSPACE: &str = "${WORKSPACE}";
/// Longest path the kernel takes (`PATH_MAX` without its NUL).
const MAX_PATH: usize = 4095;
/// Deepest path. Bounds the work of comparing two.
const MAX_COMPONENTS: usize = 64;

/// The files a skill may touch besides its own folder (read-only) and its private HOME and temporary directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FilePermissions {
    /// May be read.
    pub read: Vec<Spanned<GrantPath>>,
    /// May be read and written.
    pub write: Vec<Spanned<GrantPath>>,
    /// May not be touched, whatever is granted above it.
    pub forbidden: Vec<Spanned<GrantPath>>,
    /// Unix sockets of the host that may be connected to.
    pub unix_sockets: Vec<Spanned<GrantPath>>,
}

/// What a grant gives. The greater includes the lesser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

/// A file or directory as a manifest names it: below the root, the user's home, the skill's folder, or the caller's workspace.
///
/// Always normal: no `..`, no `.`, no empty component. It names a place, it does not look: symbolic links are the
/// runtime's to resolve.
///
/// ```
/// use skillsandbox_manifest::{GrantBases, GrantPath};
///
/// let places = GrantBases::new("/opt/skills/weather", "/home/ada");
/// let cache: GrantPath = "~/.cache//weather/".parse()?;
/// assert_eq!(cache.resolve(&places).to_str(), Some("/home/ada/.cache/weather"));
/// let data: GrantPath = "data".parse()?;
/// assert_eq!(data.to_string(), "${SKILL_DIR}/data");
/// # Ok::<(), skillsandbox_manifest::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GrantPath {
    base: Base,
    /// Normal components only; empty means the base itself.
    rest: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Base {
    Root,
    Home,
    SkillDir,
    Workspace,
}

/// The directories that grants are relative to, on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantBases {
    skill_dir: PathBuf,
    home: PathBuf,
    workspace: Option<PathBuf>,
}

impl GrantBases {
    /// Both as absolute paths; they are taken as they are. There is no workspace.
    pub fn new(skill_dir: impl Into<PathBuf>, home: impl Into<PathBuf>) -> Self {
        Self { skill_dir: skill_dir.into(), home: home.into(), workspace: None }
    }

    /// With the folder that the caller works in: `${WORKSPACE}`, as an absolute path.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Into<PathBuf>) -> Self {
        self.workspace = Some(workspace.into());
        self
    }

    /// The folder that the caller works in, where one was given.
    #[must_use]
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }
}

impl GrantPath {
    /// The path on this machine. Below `${WORKSPACE}` without a workspace it is no absolute path and names no place; a runtime refuses such
    /// a grant (see [`needs_workspace`](Self::needs_workspace)).
    #[must_use]
    pub fn resolve(&self, places: &GrantBases) -> PathBuf {
        let base = match self.base {
            Base::Root => Path::new("/"),
            Base::Home => &places.home,
            Base::SkillDir => &places.skill_dir,
            Base::Workspace => places.workspace.as_deref().unwrap_or(Path::new(WORKSPACE)),
        };
        if self.rest.as_os_str().is_empty() { base.to_owned() } else { base.join(&self.rest) }
    }

    /// The same place named from the root.
    pub(crate) fn absolute(&self, places: &GrantBases) -> Self {
        if self.needs_workspace() && places.workspace.is_none() {
            return self.clone();
        }
        let path = self.resolve(places);
        Self { base: Base::Root, rest: path.strip_prefix("/").unwrap_or(&path).to_owned() }
    }

    /// Whether it lies in the folder that the caller works in, so that a run without one cannot have it.
    #[must_use]
    pub fn needs_workspace(&self) -> bool {
        self.base == Base::Workspace
    }

    /// The path below the skill's folder, where it is one there and a text; empty for the folder itself.
    #[must_use]
    pub fn below_skill(&self) -> Option<&str> {
        (self.base == Base::SkillDir).then(|| self.rest.to_str()).flatten()
    }

    /// Whether `other` is this place or lies below it, as far as names tell.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.base == other.base && other.rest.starts_with(&self.rest)
    }

    fn is_base(&self) -> bool {
        self.rest.as_os_str().is_empty()
    }
}

impl FromStr for GrantPath {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let fault = |message: &str| Fault::new(Code::InvalidPath, format!("{}: {message}", quoted(text)));
        if text.is_empty() {
            return Err(Fault::new(Code::EmptyValue, "the path is empty"));
        }
        if text.len() > MAX_PATH {
            return Err(fault("longer than 4095 bytes"));
        }
        if text.contains(['\n', '\t', '\0']) {
            return Err(Fault::new(
                Code::ForbiddenCharacter,
                format!("{} holds a control character", quoted(text)),
            ));
        }
        if text.trim() != text {
            return Err(fault("begins or ends with a space").help("remove it"));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return Err(fault(&format!("a {} URL is not a path", quoted(scheme)))
                .help(format!("write {}", quoted(rest))));
        }
        if text.contains('\\') {
            return Err(fault("a backslash is not a separator here").help("write `/`"));
        }
        let (base, rest) = split_base(text)?;
        if rest.contains(is_emoji_selector) {
            return Err(fault("holds an invisible character"));
        }
        if rest.contains(['*', '?', '[', ']', '{', '}']) && !rest.contains('$') {
            return Err(fault("patterns are not understood in paths").help("grant the directory"));
        }
        if rest.contains('$') {
            return Err(fault("only `${SKILL_DIR}` and `${WORKSPACE}` are understood, at the beginning"));
        }
        let mut path = PathBuf::new();
        let mut depth = 0;
        for component in Path::new(rest).components() {
            match component {
                Component::Normal(name) => {
                    depth += 1;
                    path.push(name);
                }
                Component::CurDir | Component::RootDir => {}
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(fault("`..` is not accepted in a path").help("name the place it leads to"));
                }
            }
        }
        if depth > MAX_COMPONENTS {
            return Err(fault("nested too deep"));
        }
        Ok(Self { base, rest: path })
    }
}

/// Which base a written path starts from, and what is left.
fn split_base(text: &str) -> Result<(Base, &str), Fault> {
    let fault = |message: &str| Fault::new(Code::InvalidPath, format!("{}: {message}", quoted(text)));
    for (prefix, base) in [("~", Base::Home), (SKILL_DIR, Base::SkillDir), (WORKSPACE, Base::Workspace)] {
        match text.strip_prefix(prefix) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => return Ok((base, rest)),
            Some(_) if base == Base::Home => {
                return Err(fault("another user's home is not understood").help("write the path out"));
            }
            Some(_) => return Err(fault(&format!("`/` is missing after `{prefix}`"))),
            None => {}
        }
    }
    if text.starts_with('$') {
        return Err(
            fault("only `${SKILL_DIR}`, `${WORKSPACE}` and `~` are understood").help("write the path out")
        );
    }
    Ok(if text.starts_with('/') { (Base::Root, text) } else { (Base::SkillDir, text) })
}

impl fmt::Display for GrantPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = match self.base {
            Base::Root => "",
            Base::Home => "~",
            Base::SkillDir => SKILL_DIR,
            Base::Workspace => WORKSPACE,
        };
        f.write_str(base)?;
        if self.base == Base::Root || !self.is_base() {
            write!(f, "/{}", self.rest.display())?;
        }
        Ok(())
    }
}

impl Serialize for GrantPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Places that are no files to grant: the sandbox has its own.
const OWN: &[(&str, &str)] = &[
    ("/proc", "the sandbox has a /proc of its own, with the skill's processes alone"),
    ("/dev", "the sandbox has a /dev of its own, with null, zero, full, random and urandom"),
];

impl FilePermissions {
    pub(crate) const PATH: &'static str = "permissions.filesystem";

    pub(crate) fn lower(raw: &raw::Filesystem, sink: &mut DiagnosticSink) -> Self {
        let list = |name: &str| format!("{}.{name}", Self::PATH);
        Self {
            read: sink.check_all(raw::entries(raw.read.as_ref()), &list("read"), |text| grantable(text)),
            write: sink.check_all(raw::entries(raw.write.as_ref()), &list("write"), |text| grantable(text)),
            forbidden: sink
                .check_all(raw::entries(raw.forbidden.as_ref()), &list("forbidden"), |text| text.parse()),
            unix_sockets: sink.check_all(
                raw::entries(raw.unix_sockets.as_ref()),
                &list("unix_sockets"),
                |text| connectable(text),
            ),
        }
    }

    /// Refuses write grants that reach the skill's own declaration.
    pub(crate) fn check_own_declaration(&self, sink: &mut DiagnosticSink) {
        let own = GrantPath { base: Base::SkillDir, rest: Manifest::FILE_NAME.into() };
        for (i, grant) in self.write.iter().enumerate().filter(|(_, grant)| grant.covers(&own)) {
            let message =
                format!("{} would let the skill rewrite its own manifest", quoted(&grant.to_string()));
            let diagnostic = Diagnostic::new(Code::UnsafeGrant, grant.span, message);
            let help = "grant a directory of its own, such as `${SKILL_DIR}/data`";
            sink.push(diagnostic.help(help).at(format!("{}.write[{i}]", Self::PATH)));
        }
    }

    /// What the skill may do with a path, as far as names tell. `forbidden` wins over every grant. A path that is relative or
    /// holds `..` names no place, so nothing is allowed there.
    #[must_use]
    pub fn access(&self, path: &Path, places: &GrantBases) -> Option<FileAccess> {
        let below = |grants: &[Spanned<GrantPath>]| {
            grants.iter().any(|grant| path.starts_with(grant.resolve(places)))
        };
        let plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        if !plain || below(&self.forbidden) {
            None
        } else if below(&self.write) {
            Some(FileAccess::Write)
        } else {
            below(&self.read).then_some(FileAccess::Read)
        }
    }
}

fn grantable(text: &str) -> Result<GrantPath, Fault> {
    let grant: GrantPath = text.parse()?;
    grant.check_grantable().map(|()| grant)
}

/// A socket is a server of the machine's. What lies in a skill's folder was put there by its author, who could have it lead anywhere.
fn connectable(text: &str) -> Result<GrantPath, Fault> {
    let socket = grantable(text)?;
    if socket.base == Base::SkillDir {
        let message = format!("{}: a skill's own folder holds no socket of this machine", quoted(text));
        return Err(
            Fault::new(Code::UnsafeGrant, message).help("name the server's socket, such as `/run/x.sock`")
        );
    }
    Ok(socket)
}

impl GrantPath {
    /// Refuses places that no skill gets, whatever it declares.
    pub(crate) fn check_grantable(&self) -> Result<(), Fault> {
        if self.base != Base::Root {
            return Ok(());
        }
        if self.is_base() {
            let message = "`/` is the whole file system";
            return Err(Fault::new(Code::UnsafeGrant, message).help("grant the directories that are needed"));
        }
        let path = Path::new("/").join(&self.rest);
        match OWN.iter().find(|(place, _)| path.starts_with(place)) {
            Some((place, why)) => {
                Err(Fault::new(Code::UnsafeGrant, format!("{place} cannot be granted")).help(*why))
            }
            None => Ok(()),
        }
    }

    /// The place itself, then every place above it.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Self> + '_ {
        self.rest.ancestors().map(|rest| Self { base: self.base, rest: rest.to_owned() })
    }
}

/// Paths that are asked whether one of them lies above another path.
pub(crate) struct PathSet(HashSet<GrantPath>);

impl FromIterator<GrantPath> for PathSet {
    fn from_iter<I: IntoIterator<Item = GrantPath>>(paths: I) -> Self {
        Self(paths.into_iter().collect())
    }
}

impl PathSet {
    pub(crate) fn of<'p>(paths: impl IntoIterator<Item = &'p Spanned<GrantPath>>) -> Self {
        paths.into_iter().map(|path| path.value.clone()).collect()
    }

    pub(crate) fn covers(&self, path: &GrantPath) -> bool {
        path.ancestors().any(|above| self.0.contains(&above))
    }

    pub(crate) fn covers_from_above(&self, path: &GrantPath) -> bool {
        path.ancestors().skip(1).any(|above| self.0.contains(&above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_one_spelling() {
        for (text, expected) in [
            ("/tmp//cache/./x/", "/tmp/cache/x"),
            ("~", "~"),
            ("~/", "~"),
            ("~/.ssh/", "~/.ssh"),
            ("data", "${SKILL_DIR}/data"),
            ("./data", "${SKILL_DIR}/data"),
            (".", "${SKILL_DIR}"),
            ("${SKILL_DIR}", "${SKILL_DIR}"),
            ("${SKILL_DIR}//a", "${SKILL_DIR}/a"),
            ("/tmp/with space", "/tmp/with space"),
            ("/tmp/…", "/tmp/…"),
            ("/tmp/..x", "/tmp/..x"),
        ] {
            assert_eq!(text.parse::<GrantPath>().unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn paths_that_cannot_be_meant() {
        for text in [
            "",
            "..",
            "../x",
            "/a/../b",
            "/..",
            "~/..",
            "${SKILL_DIR}/..",
            "a/../../b",
            "~root",
            "~root/x",
            "$HOME",
            "${HOME}/x",
            "$SKILL_DIR",
            "${SKILL_DIR}x",
            "/a/${SKILL_DIR}",
            "/a/$b",
            "/tmp/*",
            "/a?",
            "a\\b",
            "C:\\x",
            "file:///etc",
            " /tmp",
            "/tmp ",
            "/a\nb",
            "/a\0b",
        ] {
            assert!(text.parse::<GrantPath>().is_err(), "{text:?}");
        }
        assert!("/x".repeat(3000).parse::<GrantPath>().is_err());
        for text in ["/", "//", "/.", "/proc", "/proc/self/environ", "/dev", "/dev/sda", "/dev/"] {
            assert_eq!(grantable(text).unwrap_err().code, Code::UnsafeGrant, "{text}");
        }
        assert!(grantable("/development").is_ok() && grantable("/processing").is_ok());
    }

    #[test]
    fn covering_goes_by_whole_components() {
        let [data, database, below] =
            ["/data", "/database", "/data/x"].map(|t| t.parse::<GrantPath>().unwrap());
        assert!(data.covers(&below) && data.covers(&data));
        assert!(!data.covers(&database) && !below.covers(&data));
    }
}
