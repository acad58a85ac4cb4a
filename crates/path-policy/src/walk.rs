//! The walk: a path followed name by name, with a hand on every folder passed.
//!
//! It does what the kernel does in `path_resolution(7)`, but asks at each step. Every folder on the way is held open and each name is
//! opened in the folder held, never through a path, so nothing that is moved or swapped meanwhile can lead it astray: `..` goes back
//! to the folder it came from. It decides whenever the one call of the fast way does not say yes: links, absolute links that lead
//! back inside or to another root, kernels without `openat2`.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{FileType, Mode};
use rustix::io::Errno;

use crate::decision::PathRule;
use crate::roots::{ForbiddenPaths, PathNames, PolicyRoot, is_within, to_path};
use crate::settings::AccessKind;
use crate::syntax::MAX_DEPTH;
use crate::sys;

/// Links followed in one walk; the kernel's own limit (`path_resolution(7)`).
const MAX_LINKS: usize = 40;
/// Names taken in one walk, all links' included.
const MAX_STEPS: usize = 16_384;

/// Why a walk ended early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRefusal {
    pub(crate) rule: PathRule,
    pub(crate) errno: Option<Errno>,
}

impl From<PathRule> for PathRefusal {
    fn from(rule: PathRule) -> Self {
        Self { rule, errno: None }
    }
}

impl From<Errno> for PathRefusal {
    fn from(errno: Errno) -> Self {
        Self { rule: PathRule::Unresolvable, errno: Some(errno) }
    }
}

/// What a walk is about.
#[derive(Clone, Copy)]
pub(crate) struct WalkQuestion<'p> {
    pub(crate) roots: &'p [PolicyRoot],
    pub(crate) forbidden: &'p ForbiddenPaths,
    pub(crate) access: AccessKind,
    /// Whether a link at the very end is followed, as by open(2), or meant itself, as by unlink(2) and rename(2).
    pub(crate) follow_last: bool,
}

/// Where a walk ended. It is inside, granted and not forbidden.
#[derive(Debug)]
pub(crate) struct WalkPlace<'p> {
    root: &'p PolicyRoot,
    /// The folders below the root, each held open.
    trail: Vec<WalkStep>,
    pub(crate) end: WalkEnd,
}

#[derive(Debug)]
struct WalkStep {
    fd: OwnedFd,
    name: Box<[u8]>,
}

#[derive(Debug)]
pub(crate) enum WalkEnd {
    /// The last folder of the trail, or the root.
    Folder,
    /// Something else in it; a link only where links at the end are meant themselves.
    Other(Box<[u8]>),
    /// Nothing yet: the names that do not exist.
    Missing(PathNames),
}

impl<'p> WalkQuestion<'p> {
    /// Follows `path` from the root with this index.
    pub(crate) fn walk(self, root: usize, path: &[u8]) -> Result<WalkPlace<'p>, PathRefusal> {
        let root = self.roots.get(root).ok_or(PathRule::OutsideRoot)?;
        let mut walk = PathWalk {
            question: self,
            root,
            trail: Vec::new(),
            queue: Vec::new(),
            links: 0,
            steps: 0,
            outside: None,
            climbed: PathRule::Climbs,
        };
        walk.enqueue(path);
        let end = walk.run()?;
        let place = WalkPlace { root: walk.root, trail: walk.trail, end };
        self.judge(&place)?;
        Ok(place)
    }

    fn judge(&self, place: &WalkPlace<'_>) -> Result<(), PathRefusal> {
        if self.forbidden.covers(&place.names()) {
            return Err(PathRule::Forbidden.into());
        }
        let within = |root: &&PolicyRoot| is_within(&root.names, place.names());
        if self.roots.iter().filter(within).any(|root| root.grants(self.access)) {
            return Ok(());
        }
        let inside = self.roots.iter().any(|root| within(&root));
        Err(if inside { PathRule::ReadOnly } else { PathRule::OutsideRoot }.into())
    }
}

struct PathWalk<'p> {
    question: WalkQuestion<'p>,
    root: &'p PolicyRoot,
    trail: Vec<WalkStep>,
    /// What is still to be followed, the next one last.
    queue: Vec<Box<[u8]>>,
    links: usize,
    steps: usize,
    /// Where a `..` above the root has led, until a name leads into another root.
    outside: Option<AboveRoots<'p>>,
    /// What a `..` above the root is called: once a link was followed, it is the link's doing.
    climbed: PathRule,
}

/// A place above a root. It is known without looking: a root's path has no links, so its folders are what their names say, and no name
/// but those on the way to another root is ever taken.
struct AboveRoots<'p> {
    names: PathNames,
    /// The root that was left. It is not entered again: a path may leave it for another, not for a moment.
    left: &'p PolicyRoot,
}

impl PathWalk<'_> {
    fn enqueue(&mut self, path: &[u8]) {
        // Empty names stay: one at the end means that a folder is wanted.
        self.queue.extend(path.rsplit(|&byte| byte == b'/').map(Into::into));
    }

    fn run(&mut self) -> Result<WalkEnd, PathRefusal> {
        while let Some(name) = self.queue.pop() {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err(PathRule::TooDeep.into());
            }
            match &*name {
                b"" | b"." => {}
                _ if self.outside.is_some() => self.pass_outside(name)?,
                b".." => self.up()?,
                _ => {
                    if let Some(end) = self.down(name)? {
                        return Ok(end);
                    }
                }
            }
        }
        if self.outside.is_some() { Err(self.climbed.into()) } else { Ok(WalkEnd::Folder) }
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.trail.last().map_or(self.root.fd.as_fd(), |step| step.fd.as_fd())
    }

    /// Above a root there may be the way to another one; anything else is out.
    fn up(&mut self) -> Result<(), PathRefusal> {
        if self.trail.pop().is_some() {
            return Ok(());
        }
        if self.root.names.is_empty() {
            return Ok(()); // `/..` is `/`
        }
        self.outside = Some(AboveRoots { names: self.root.names.clone(), left: self.root });
        self.pass_outside(b"..".as_slice().into())
    }

    /// Goes on above the roots, by name.
    fn pass_outside(&mut self, name: Box<[u8]>) -> Result<(), PathRefusal> {
        let roots = self.question.roots;
        let Some(outside) = &mut self.outside else { return Ok(()) };
        if &*name == b".." {
            outside.names.pop();
        } else {
            outside.names.push(name);
        }
        let here = || outside.names.iter().map(AsRef::as_ref);
        let holds = |root: &&PolicyRoot| is_within(&root.names, here());
        if roots.iter().any(|root| holds(&root) && !std::ptr::eq(root, outside.left)) {
            let path = to_path(here());
            self.outside = None;
            return self.jump(path.as_os_str().as_encoded_bytes());
        }
        let leads_on =
            roots.iter().any(|root| is_within(&outside.names, root.names.iter().map(AsRef::as_ref)));
        if leads_on && roots.len() > 1 && !holds(&outside.left) { Ok(()) } else { Err(self.climbed.into()) }
    }

    /// Goes on from an absolute path.
    fn jump(&mut self, path: &[u8]) -> Result<(), PathRefusal> {
        let outermost = outermost(self.question.roots, path);
        let (index, rest) = outermost.ok_or(PathRule::LinkLeadsOut)?;
        self.root = self.question.roots.get(index).ok_or(PathRule::LinkLeadsOut)?;
        self.trail.clear();
        self.enqueue(rest);
        Ok(())
    }

    fn down(&mut self, name: Box<[u8]>) -> Result<Option<WalkEnd>, PathRefusal> {
        let forbidden = self.question.forbidden;
        if !forbidden.is_empty() && forbidden.covers(&self.position().chain([&*name])) {
            return Err(PathRule::Forbidden.into());
        }
        let fd = match sys::open_name(self.here(), &name, sys::LOOK, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return self.missing(name).map(Some),
            Err(errno) => return Err(errno.into()),
        };
        match sys::kind(&fd)? {
            FileType::Directory => {
                if self.trail.len() >= MAX_DEPTH {
                    return Err(PathRule::TooDeep.into());
                }
                self.trail.push(WalkStep { fd, name });
                Ok(None)
            }
            FileType::Symlink if self.queue.is_empty() && !self.question.follow_last => {
                Ok(Some(WalkEnd::Other(name)))
            }
            FileType::Symlink => self.link(&fd).map(|()| None),
            _ if self.queue.is_empty() => Ok(Some(WalkEnd::Other(name))),
            _ => Err(Errno::NOTDIR.into()),
        }
    }

    fn link(&mut self, link: &OwnedFd) -> Result<(), PathRefusal> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(PathRule::LinkLoop.into());
        }
        if sys::is_on_procfs(link)? {
            return Err(PathRule::MagicLink.into());
        }
        let target = sys::read_link(link)?;
        self.climbed = PathRule::LinkLeadsOut;
        match target.first() {
            None => Err(Errno::NOENT.into()),
            Some(b'/') => self.jump(&target),
            Some(_) => {
                self.enqueue(&target);
                Ok(())
            }
        }
    }

    /// What does not exist may be made, in the folder it would be made in. `..` behind it means nothing to the kernel.
    fn missing(&mut self, name: Box<[u8]>) -> Result<WalkEnd, PathRefusal> {
        let mut missing = vec![name];
        while let Some(name) = self.queue.pop() {
            match &*name {
                b"" | b"." => {}
                b".." => return Err(Errno::NOENT.into()),
                _ => missing.push(name),
            }
        }
        Ok(WalkEnd::Missing(missing))
    }

    fn position(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.root.names.iter().chain(self.trail.iter().map(|step| &step.name)).map(AsRef::as_ref)
    }
}

/// The root that an absolute path lies in by name, and the rest of the path below it.
///
/// Of several it is the outermost: names between it and an inner root may have been swapped for links since the policy was made, and a
/// walk from the outer one sees that.
pub(crate) fn outermost<'t>(roots: &[PolicyRoot], path: &'t [u8]) -> Option<(usize, &'t [u8])> {
    let below = roots.iter().enumerate().filter_map(|(index, root)| Some((index, root.strip(path)?)));
    below.max_by_key(|(_, rest)| rest.len())
}

impl WalkPlace<'_> {
    /// The names from the top, of what exists and what does not.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let end = match &self.end {
            WalkEnd::Folder => &[],
            WalkEnd::Other(name) => std::slice::from_ref(name),
            WalkEnd::Missing(missing) => &**missing,
        };
        let below = self.trail.iter().map(|step| &step.name).chain(end);
        self.root.names.iter().chain(below).map(AsRef::as_ref)
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.end, WalkEnd::Missing(_))
    }

    pub(crate) fn path(&self) -> PathBuf {
        to_path(self.names())
    }

    /// The folder the walk ended in.
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.trail.last().map_or(self.root.fd.as_fd(), |step| step.fd.as_fd())
    }

    /// The folder that holds what the walk ended at, and its name in there; none for a root, and for what has no folder yet.
    pub(crate) fn entry(&self) -> Option<(BorrowedFd<'_>, &[u8])> {
        match &self.end {
            WalkEnd::Other(name) => Some((self.folder(), name)),
            WalkEnd::Missing(missing) => match &**missing {
                [name] => Some((self.folder(), name)),
                _ => None,
            },
            WalkEnd::Folder => {
                let (last, before) = self.trail.split_last()?;
                Some((before.last().map_or(self.root.fd.as_fd(), |step| step.fd.as_fd()), &last.name))
            }
        }
    }
}
