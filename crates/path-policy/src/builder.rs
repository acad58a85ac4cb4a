//! How a policy is made.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode as FileMode, OFlags};

use crate::policy::{PathPolicy, PromptRequest, Prompter};
use crate::real_path::real_path;
use crate::roots::{ForbiddenPaths, PathNames, PolicyRoot, RootAlias, to_names};
use crate::settings::{CaseHandling, ForbiddenBelow, ToolMode, UnknownTools};
use crate::sys;
use crate::tools::{self, ToolSpec};

/// Links followed while a forbidden path is found out; the kernel's limit.
const MAX_LINKS: usize = 40;

/// Why a policy cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathPolicyError {
    /// A root cannot be opened.
    #[error("cannot use the root {}: {error}; name an existing folder", .path.display())]
    Root {
        /// The root as it was named.
        path: PathBuf,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// The workspace would be the whole file system.
    #[error("the root {} is the whole file system and confines nothing; name a folder, or say `dangerous_whole_file_system`", .path.display())]
    WholeFileSystem {
        /// The root as it was named.
        path: PathBuf,
    },
    /// A forbidden path cannot be taken at its word.
    #[error("cannot forbid {}: {reason}", .path.display())]
    Forbidden {
        /// The path as it was named.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
    },
}

/// Makes a [`PathPolicy`].
///
/// ```
/// use skillsandbox_path_policy::{AccessKind, ToolMode, PathPolicy};
///
/// # let workspace = tempfile::tempdir()?;
/// let policy = PathPolicy::builder()
///     .root(workspace.path())
///     .read_root("/usr/share")
///     .forbid(".env")
///     .mode("delete_file", ToolMode::Deny)
///     .build()?;
/// assert!(policy.check(".env", AccessKind::Read).is_denied());
/// assert!(policy.check("/usr/share/x", AccessKind::Read).is_allowed());
/// assert!(policy.check("/usr/share/x", AccessKind::Write).is_denied());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct PathPolicyBuilder {
    root: Option<PathBuf>,
    root_is_read_only: bool,
    more: Vec<(PathBuf, bool)>,
    forbidden: Vec<PathBuf>,
    forbidden_below: ForbiddenBelow,
    case: CaseHandling,
    tools: Vec<(String, ToolSpec)>,
    modes: Vec<(String, ToolMode)>,
    default_mode: ToolMode,
    unknown: UnknownTools,
    prompter: Option<Prompter>,
    without_openat2: bool,
    whole_file_system: bool,
}

impl PathPolicyBuilder {
    /// The workspace; without it, the current directory. It may be read and written.
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// The workspace may only be read.
    pub fn read_only(mut self) -> Self {
        self.root_is_read_only = true;
        self
    }

    /// One more folder that may be read, by its absolute path or a link that leads there.
    pub fn read_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.more.push((root.into(), false));
        self
    }

    /// One more folder that may be read and written.
    pub fn write_root(mut self, root: impl Into<PathBuf>) -> Self {
        self.more.push((root.into(), true));
        self
    }

    /// A path that is refused with all below it, whatever root it lies in. Relative ones start at the workspace. It need not exist; if
    /// it is a link, what it leads to now is forbidden too.
    pub fn forbid(mut self, path: impl Into<PathBuf>) -> Self {
        self.forbidden.push(path.into());
        self
    }

    /// What happens to tools that read whole trees above a forbidden path.
    pub fn forbidden_below(mut self, choice: ForbiddenBelow) -> Self {
        self.forbidden_below = choice;
        self
    }

    /// How names are compared with forbidden ones.
    pub fn case(mut self, case: CaseHandling) -> Self {
        self.case = case;
        self
    }

    /// Adds a tool to the table, or replaces one.
    pub fn tool(mut self, name: impl Into<String>, spec: ToolSpec) -> Self {
        self.tools.push((name.into(), spec));
        self
    }

    /// What a tool may do once its paths are inside. Of several settings for one tool the last counts.
    pub fn mode(mut self, tool: impl Into<String>, mode: ToolMode) -> Self {
        self.modes.push((tool.into(), mode));
        self
    }

    /// The mode of tools without one of their own; without this, [`ToolMode::Allow`].
    pub fn default_mode(mut self, mode: ToolMode) -> Self {
        self.default_mode = mode;
        self
    }

    /// What happens to tools that are in no table.
    pub fn unknown_tools(mut self, choice: UnknownTools) -> Self {
        self.unknown = choice;
        self
    }

    /// Who is asked under [`ToolMode::Prompt`]; `true` lets the call run.
    pub fn prompter(mut self, ask: impl Fn(&PromptRequest<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.prompter = Some(Box::new(ask));
        self
    }

    /// Walks every path name by name, as on kernels before 5.6. Slower, and decides the same.
    pub fn without_openat2(mut self) -> Self {
        self.without_openat2 = true;
        self
    }

    /// Lets the workspace be `/`, where only forbidden paths and links of /proc are left to refuse.
    pub fn dangerous_whole_file_system(mut self) -> Self {
        self.whole_file_system = true;
        self
    }

    /// Opens the roots.
    pub fn build(self) -> Result<PathPolicy, PathPolicyError> {
        let path = self.root.clone().unwrap_or_else(|| PathBuf::from("."));
        let workspace = open_root(&path, !self.root_is_read_only)?;
        if workspace.names.is_empty() && !self.whole_file_system {
            return Err(PathPolicyError::WholeFileSystem { path });
        }
        let mut roots = vec![workspace];
        for (path, writable) in &self.more {
            roots.push(open_root(path, *writable)?);
        }
        let mut places = Vec::new();
        for path in &self.forbidden {
            let base = roots.first().map_or(Path::new("/"), |root| &root.path);
            places.extend(forbidden_places(base, path)?);
        }
        let forbidden = ForbiddenPaths { places, case: self.case };
        let openat2 = !self.without_openat2 && roots.first().is_some_and(|root| sys::has_openat2(&root.fd));
        let mut known: HashMap<Box<str>, ToolSpec> = tools::defaults();
        known.extend(self.tools.into_iter().map(|(name, spec)| (tools::normal(&name), spec)));
        Ok(PathPolicy {
            roots,
            forbidden,
            forbidden_below: self.forbidden_below,
            openat2,
            tools: known,
            modes: self.modes.into_iter().map(|(name, mode)| (tools::normal(&name), mode)).collect(),
            default_mode: self.default_mode,
            unknown: self.unknown,
            prompter: self.prompter,
        })
    }
}

fn open_root(path: &Path, writable: bool) -> Result<PolicyRoot, PathPolicyError> {
    let failed = |error: io::Error| PathPolicyError::Root { path: path.to_owned(), error };
    let real = path.canonicalize().map_err(failed)?;
    let flags = sys::LOOK | OFlags::DIRECTORY | OFlags::NOFOLLOW;
    let fd: OwnedFd =
        rustix::fs::open(&real, flags, FileMode::empty()).map_err(|errno| failed(errno.into()))?;
    let names = to_names(&real);
    let spelt = std::path::absolute(path).map_err(failed)?;
    let plain = !spelt.components().any(|component| component == Component::ParentDir);
    let alias = RootAlias { names: to_names(&spelt), path: spelt };
    let alias = Some(alias).filter(|alias| plain && alias.names != names);
    Ok(PolicyRoot { fd, path: real, names, alias, writable })
}

/// The places a forbidden path means: as it is written below a real folder, and each place its links lead to now.
fn forbidden_places(base: &Path, path: &Path) -> Result<Vec<PathNames>, PathPolicyError> {
    let failed = |reason| PathPolicyError::Forbidden { path: path.to_owned(), reason };
    if path.as_os_str().is_empty() {
        return Err(failed("the path is empty"));
    }
    if path.starts_with("~") {
        return Err(failed("`~` is not replaced here; write the path out"));
    }
    if path.components().any(|component| component == Component::ParentDir) {
        return Err(failed("`..` is not taken in a forbidden path; write the path out"));
    }
    let mut places = Vec::new();
    let mut current = base.join(path);
    for _ in 0..MAX_LINKS {
        // Its folder as it really is, however much of it exists, and its own name.
        let Some(real) = real_parent(&current) else {
            // Where it leads cannot be found out: at least the place that is written is forbidden.
            places.push(to_names(&current));
            break;
        };
        let names = to_names(&real);
        if places.contains(&names) {
            break;
        }
        places.push(names);
        // A link that leads to nothing may give way to a folder: the place that is written is forbidden, too.
        if std::fs::symlink_metadata(&real).is_err() && !places.contains(&to_names(&current)) {
            places.push(to_names(&current));
        }
        let Ok(target) = std::fs::read_link(&real) else { break };
        current = real.parent().unwrap_or(Path::new("/")).join(target);
    }
    Ok(places)
}

/// A path with its folder resolved: links on the way are followed, one at the end is not.
fn real_parent(path: &Path) -> Option<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Some(real_path(parent).ok()?.join(name)),
        _ => real_path(path).ok(),
    }
}

impl fmt::Debug for PathPolicyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("root", &self.root)
            .field("more", &self.more)
            .field("forbidden", &self.forbidden)
            .field("modes", &self.modes)
            .field("unknown", &self.unknown)
            .finish_non_exhaustive()
    }
}
