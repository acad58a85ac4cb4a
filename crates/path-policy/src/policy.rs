//! The policy, and what it says of a bare path.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode as FileMode;
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use crate::builder::{PathPolicyBuilder, PathPolicyError};
use crate::decision::{PathDecision, PathDenial, PathRule};
use crate::percent::PercentDecoder;
use crate::roots::{ForbiddenPaths, PolicyRoot, names};
use crate::settings::{AccessKind, ForbiddenBelow, ToolMode, UnknownTools};
use crate::syntax::{self, MAX_PATH, PathShape};
use crate::sys;
use crate::tools::ToolSpec;
use crate::walk::{PathRefusal, WalkPlace, WalkQuestion, outermost};

/// The call that the user is asked to confirm when a tool's mode is [`ToolMode::Prompt`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PromptRequest<'a> {
    /// The tool, as the call names it.
    pub tool: &'a str,
    /// Its arguments. Every path in them has been checked.
    pub arguments: &'a serde_json::Value,
}

pub(crate) type Prompter = Box<dyn Fn(&PromptRequest<'_>) -> bool + Send + Sync>;

/// Which paths may be touched, by which tools.
///
/// It is made once and never changes. The roots are held open, so it goes on meaning the same folders.
///
/// ```
/// use skillsandbox_path_policy::{AccessKind, PathPolicy};
///
/// # let workspace = tempfile::tempdir()?;
/// let policy = PathPolicy::new(workspace.path())?;
/// assert!(policy.check("projects/foo.md", AccessKind::Read).is_allowed());
/// let decision = policy.check("../../etc/passwd", AccessKind::Read);
/// assert!(decision.reason().starts_with("path traversal blocked: `../../etc/passwd` climbs out"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PathPolicy {
    /// The workspace first.
    pub(crate) roots: Vec<PolicyRoot>,
    pub(crate) forbidden: ForbiddenPaths,
    pub(crate) forbidden_below: ForbiddenBelow,
    pub(crate) openat2: bool,
    pub(crate) tools: HashMap<Box<str>, ToolSpec>,
    pub(crate) modes: HashMap<Box<str>, ToolMode>,
    pub(crate) default_mode: ToolMode,
    pub(crate) unknown: UnknownTools,
    pub(crate) prompter: Option<Prompter>,
}

/// Why [`PathPolicy::sanitize_path`] refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SanitizeError {
    /// The path begins at the top.
    #[error("absolute path not allowed: {0}")]
    AbsolutePathNotAllowed(PathDenial<'static>),
    /// The path does not exist, or is not a path.
    #[error("invalid path: {0}")]
    InvalidPath(PathDenial<'static>),
    /// The path leads out, or to a forbidden place.
    #[error("path traversal attempt: {0}")]
    PathTraversalAttempt(PathDenial<'static>),
}

/// A path that passed by its text, and the root it starts from.
pub(crate) struct PathStart<'p> {
    pub(crate) root: usize,
    pub(crate) rest: &'p [u8],
    pub(crate) shape: PathShape,
}

impl PathPolicy {
    /// A policy for a workspace: everything below `root` may be read and written, nothing else.
    pub fn new(root: impl Into<PathBuf>) -> Result<Self, PathPolicyError> {
        Self::builder().root(root).build()
    }

    /// A policy for the current directory.
    pub fn current_dir() -> Result<Self, PathPolicyError> {
        Self::builder().build()
    }

    /// For everything else there is to choose.
    pub fn builder() -> PathPolicyBuilder {
        PathPolicyBuilder::default()
    }

    /// The workspace, as it really is: absolute, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), |root| &root.path)
    }

    /// Whether a path may be touched. Relative paths start at the root; links are followed, also one at the end.
    ///
    /// What does not exist yet is judged by the nearest folder that does. The answer holds for the moment it is given: if something
    /// hostile can change the tree meanwhile, open by [`PathPolicy::open`] instead.
    pub fn check<'a, P: AsRef<Path> + ?Sized>(&'a self, path: &'a P, access: AccessKind) -> PathDecision<'a> {
        let path = path.as_ref().as_os_str().as_bytes();
        match self.judge(path, access) {
            Ok(()) => PathDecision::Allow,
            Err(refusal) => PathDecision::Deny(self.denial(refusal, path, access)),
        }
    }

    /// Where a path really leads, if it may be touched: absolute, without links. What does not exist yet is resolved through the
    /// nearest folder that does.
    pub fn resolve<P: AsRef<Path> + ?Sized>(
        &self,
        path: &P,
        access: AccessKind,
    ) -> Result<PathBuf, PathDenial<'static>> {
        let path = path.as_ref().as_os_str().as_bytes();
        let resolved = self.judge(path, access).and_then(|()| self.place(path, access, true));
        resolved.map(|place| place.path()).map_err(|refusal| self.denial(refusal, path, access).into_owned())
    }

    /// The strict form for runtimes that take relative paths of existing files only: where it really is, or which of three things is
    /// wrong with it.
    pub fn sanitize_path<P: AsRef<Path> + ?Sized>(&self, path: &P) -> Result<PathBuf, SanitizeError> {
        let bytes = path.as_ref().as_os_str().as_bytes();
        let denial = |refusal: PathRefusal| self.denial(refusal, bytes, AccessKind::Read).into_owned();
        if bytes.starts_with(b"/") || matches!(syntax::examine(bytes), Err(PathRule::DriveLetter)) {
            return Err(SanitizeError::AbsolutePathNotAllowed(denial(PathRule::OutsideRoot.into())));
        }
        let place =
            self.judge(bytes, AccessKind::Read).and_then(|()| self.place(bytes, AccessKind::Read, true));
        let place = place.map_err(|refusal| match refusal.rule {
            PathRule::Climbs
            | PathRule::LinkLeadsOut
            | PathRule::OutsideRoot
            | PathRule::MagicLink
            | PathRule::Forbidden
            | PathRule::Home
            | PathRule::PercentEncoding
            | PathRule::Composition
            | PathRule::PatternClimbs => SanitizeError::PathTraversalAttempt(denial(refusal)),
            _ => SanitizeError::InvalidPath(denial(refusal)),
        })?;
        if place.is_missing() {
            return Err(SanitizeError::InvalidPath(denial(Errno::NOENT.into())));
        }
        Ok(place.path())
    }

    pub(crate) fn denial<'a>(
        &'a self,
        refusal: PathRefusal,
        path: &'a [u8],
        access: AccessKind,
    ) -> PathDenial<'a> {
        PathDenial {
            rule: refusal.rule,
            tool: None,
            argument: None,
            path: Cow::Borrowed(path),
            access: Some(access),
            root: Cow::Borrowed(self.root()),
            detail: refusal.errno.map(|errno| errno.to_string().into()),
        }
    }

    /// Judges a path in every spelling a tool may read it in.
    pub(crate) fn judge(&self, path: &[u8], access: AccessKind) -> Result<(), PathRefusal> {
        let start = self.start(path)?;
        self.judge_literal(&start, access)?;
        if start.shape.percent {
            let mut decoder = PercentDecoder::new(start.rest)?;
            while let Some(decoded) = decoder.next()? {
                self.judge_other(&start, decoded, access).map_err(|_| PathRule::PercentEncoding)?;
            }
        }
        if !start.shape.ascii {
            self.judge_letters(&start, access)?;
        }
        Ok(())
    }

    /// To the kernel a letter with an accent and a letter followed by an accent are two names, and so are `e` and the wide `ｅ`. Some tools
    /// turn one into the other.
    fn judge_letters(&self, start: &PathStart<'_>, access: AccessKind) -> Result<(), PathRefusal> {
        let text = String::from_utf8_lossy(start.rest);
        for other in [text.nfc().collect::<String>(), text.nfd().collect(), text.nfkc().collect()] {
            if other == text {
                continue;
            }
            match self.judge_other(start, other.as_bytes(), access) {
                Ok(()) => {}
                // `½` becomes `1⁄2`, which would be refused as a path and is harmless as a name.
                Err(refusal) if refusal.rule.is_about_text() => {}
                Err(_) => return Err(PathRule::Composition.into()),
            }
        }
        Ok(())
    }

    /// Judges another reading of what follows the root.
    fn judge_other(&self, start: &PathStart<'_>, rest: &[u8], access: AccessKind) -> Result<(), PathRefusal> {
        let shape = syntax::examine(rest)?;
        if shape.absolute {
            return Err(PathRule::OutsideRoot.into());
        }
        if shape.climbs_first && self.is_closed() {
            return Err(PathRule::Climbs.into());
        }
        self.judge_literal(&PathStart { root: start.root, rest, shape }, access)
    }

    fn judge_literal(&self, start: &PathStart<'_>, access: AccessKind) -> Result<(), PathRefusal> {
        if self.is_fast(start, access) {
            let root = self.roots.get(start.root).ok_or(PathRule::OutsideRoot)?;
            match sys::open_beneath(&root.fd, start.rest, sys::LOOK, FileMode::empty()) {
                Ok(_) => return Ok(()),
                // No link was met before the first name that does not exist, and nothing climbs behind it.
                Err(Errno::NOENT) if !start.shape.climbs => return Ok(()),
                // The walk knows why.
                Err(_) => {}
            }
        }
        self.walk(start, access, true).map(|_| ())
    }

    /// Whether the text of a path is where it leads, provided that no link is on the way.
    pub(crate) fn is_fast(&self, start: &PathStart<'_>, access: AccessKind) -> bool {
        let Some(root) = self.roots.get(start.root) else { return false };
        self.openat2 && root.grants(access) && !self.may_be_forbidden(root, start)
    }

    fn may_be_forbidden(&self, root: &PolicyRoot, start: &PathStart<'_>) -> bool {
        if self.forbidden.is_empty() {
            return false;
        }
        let place = root.names.iter().map(AsRef::as_ref).chain(names(start.rest));
        start.shape.climbs || self.forbidden.covers(&place)
    }

    /// The first step: what the text alone decides.
    pub(crate) fn start<'p>(&self, path: &'p [u8]) -> Result<PathStart<'p>, PathRefusal> {
        let (root, rest, shape) = if path.starts_with(b"/") && path.len() <= MAX_PATH {
            let Some((root, rest)) = outermost(&self.roots, path) else {
                syntax::examine(path)?;
                return Err(PathRule::OutsideRoot.into());
            };
            // The names of the root are the user's own; the rest is examined, with the slash before it.
            let below = path.len().checked_sub(rest.len() + 1).and_then(|start| path.get(start..));
            (root, rest, syntax::examine(below.filter(|below| below.starts_with(b"/")).unwrap_or(b"/"))?)
        } else {
            (0, path, syntax::examine(path)?)
        };
        // Only another root could be above this one.
        if shape.climbs_first && self.is_closed() {
            return Err(PathRule::Climbs.into());
        }
        Ok(PathStart { root, rest, shape })
    }

    /// Whether nothing above the root is a root, or on the way to one.
    fn is_closed(&self) -> bool {
        matches!(&*self.roots, [root] if !root.names.is_empty())
    }

    pub(crate) fn walk(
        &self,
        start: &PathStart<'_>,
        access: AccessKind,
        follow_last: bool,
    ) -> Result<WalkPlace<'_>, PathRefusal> {
        WalkQuestion { roots: &self.roots, forbidden: &self.forbidden, access, follow_last }
            .walk(start.root, start.rest)
    }

    /// Where a path leads.
    pub(crate) fn place(
        &self,
        path: &[u8],
        access: AccessKind,
        follow_last: bool,
    ) -> Result<WalkPlace<'_>, PathRefusal> {
        self.walk(&self.start(path)?, access, follow_last)
    }

    /// Whether a forbidden path lies at or below where a path leads. The path itself has been judged.
    pub(crate) fn has_forbidden_below(&self, path: &[u8], access: AccessKind) -> Result<bool, PathRefusal> {
        if self.forbidden.is_empty() {
            return Ok(false);
        }
        let place = self.place(path, access, true)?;
        Ok(self.forbidden.is_below(&place.names()))
    }
}

impl fmt::Debug for PathPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathPolicy")
            .field("roots", &self.roots)
            .field("forbidden", &self.forbidden)
            .field("openat2", &self.openat2)
            .field("modes", &self.modes)
            .field("unknown", &self.unknown)
            .finish_non_exhaustive()
    }
}
