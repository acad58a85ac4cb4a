//! Links on the way to what a plan names: who could have made them, and where they lead.
//!
//! A link says where a grant leads, so whoever can make one on the way to a grant chooses what is granted. Links in folders that a skill's
//! author or an earlier run could write are therefore never followed ([`LinkRules`]); those of the system and of the user are.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::grants::is_within;
use crate::plan::{FolderAuthor, UntrustedFolder, identity_of};

/// Links followed on one way; the kernel's own limit (`path_resolution(7)`).
const MAX_LINKS: usize = 40;
/// Names on one way, all links' included.
const MAX_NAMES: usize = 4096;

/// Where a path leads, and every link on the way, those behind other links too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WalkedPath {
    /// Without links. What does not exist stays as it is named, below what does.
    pub(crate) real: PathBuf,
    /// The links, each by its folder's real path.
    pub(crate) links: Vec<PathBuf>,
}

impl WalkedPath {
    /// Goes along an absolute path, a name at a time.
    pub(crate) fn walk(path: &Path) -> io::Result<Self> {
        Self::walk_past(path, |error| error.kind() == io::ErrorKind::NotFound)
    }

    /// The same for a path that is forbidden: what may not be looked at, and what lies behind a file, may be there later.
    pub(crate) fn walk_blind(path: &Path) -> io::Result<Self> {
        Self::walk_past(path, |error| error.raw_os_error() != Some(libc::ELOOP))
    }

    /// `is_absent` says which errors mean that nothing is there that could be looked at.
    fn walk_past(path: &Path, is_absent: impl Fn(&io::Error) -> bool) -> io::Result<Self> {
        let mut left = names_of(path);
        let mut walked = Self { real: PathBuf::from("/"), links: Vec::new() };
        let mut taken = 0;
        while let Some(name) = left.pop_front() {
            taken += 1;
            if taken > MAX_NAMES {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            if name == ".." {
                walked.real.pop();
                continue;
            }
            walked.real.push(name);
            let found = match fs::symlink_metadata(&walked.real) {
                Ok(found) => found,
                // What is not there has no links in it.
                Err(error) if is_absent(&error) => continue,
                Err(error) => return Err(error),
            };
            if !found.is_symlink() {
                continue;
            }
            if walked.links.len() == MAX_LINKS {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            let target = fs::read_link(&walked.real)?;
            walked.links.push(walked.real.clone());
            walked.real.pop();
            if target.is_absolute() {
                walked.real = PathBuf::from("/");
            }
            for name in names_of(&target).into_iter().rev() {
                left.push_front(name);
            }
        }
        Ok(walked)
    }
}

/// The names of a path, `..` among them.
fn names_of(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

/// In which folders no link is followed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LinkRules<'a> {
    pub(crate) untrusted: &'a [UntrustedFolder],
}

impl LinkRules<'_> {
    /// Where a path leads; refused where somebody who is not trusted could have made a link on the way.
    pub(crate) fn walk(&self, path: &Path) -> io::Result<WalkedPath> {
        let walked = WalkedPath::walk(path)?;
        self.check(&walked)?;
        Ok(walked)
    }

    pub(crate) fn check(&self, walked: &WalkedPath) -> io::Result<()> {
        match walked.links.iter().find_map(|link| Some((link, self.holder(link)?))) {
            None => Ok(()),
            Some((link, folder)) => Err(io::Error::other(format!(
                "{} is a link in {}, {}, and is not followed; name what it leads to: {}",
                link.display(),
                folder.path.display(),
                folder.author.describe(),
                walked.real.display()
            ))),
        }
    }

    /// The same for a path that is forbidden, where only the skill's own links matter: to hide too much does no harm.
    pub(crate) fn check_forbidden(&self, walked: &WalkedPath) -> io::Result<()> {
        let own: Vec<UntrustedFolder> =
            self.untrusted.iter().filter(|folder| folder.author == FolderAuthor::Skill).cloned().collect();
        LinkRules { untrusted: &own }.check(walked)
    }

    /// The folder that is not trusted in which something lies.
    pub(crate) fn holder(&self, path: &Path) -> Option<&UntrustedFolder> {
        if self.untrusted.is_empty() {
            return None;
        }
        // By its name, and as itself where it was moved.
        let above: Vec<_> = path.ancestors().skip(1).map(|above| (above, identity_of(above))).collect();
        self.untrusted.iter().find(|folder| {
            above.iter().any(|(path, identity)| {
                *path == folder.path || (folder.identity.is_some() && *identity == folder.identity)
            })
        })
    }
}

/// Makes a folder and those above it, each in the one that is held open: a link that has taken the place of one is not followed, and nothing is made
/// behind it. `mode` is as for `mkdir(2)`. The path has no link in it; what is there already stays as it is.
///
/// # Errors
/// A link on the way, or whatever the kernel says.
pub fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open("/", flags, Mode::empty())?;
    for name in path.components().skip(1) {
        if !matches!(name, Component::Normal(_)) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let name = name.as_os_str();
        let open = || rustix::fs::openat(&folder, name, flags, Mode::empty());
        folder = match open() {
            Err(Errno::NOENT) => match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(mode)) {
                // Another run may make it at the same time.
                Ok(()) | Err(Errno::EXIST) => open()?,
                Err(errno) => return Err(errno.into()),
            },
            other => other?,
        };
    }
    Ok(())
}

/// What may be granted at most, by where paths lead; `None` is everything.
#[derive(Debug, Default)]
pub(crate) struct GrantCeiling {
    read: Option<Vec<PathBuf>>,
    write: Option<Vec<PathBuf>>,
}

impl GrantCeiling {
    /// Follows the links of the ceiling's own paths, by the same rules as those of grants.
    pub(crate) fn resolve(
        read: Option<&[PathBuf]>,
        write: Option<&[PathBuf]>,
        rules: LinkRules<'_>,
    ) -> Result<Self, (PathBuf, io::Error)> {
        let resolve = |paths: &[PathBuf]| {
            let walk = |path: &PathBuf| match rules.walk(path) {
                Ok(walked) => Ok(walked.real),
                Err(error) => Err((path.clone(), error)),
            };
            paths.iter().map(walk).collect::<Result<Vec<_>, _>>()
        };
        Ok(Self { read: read.map(resolve).transpose()?, write: write.map(resolve).transpose()? })
    }

    pub(crate) fn may_read(&self, real: &Path) -> bool {
        Self::covers(self.read.as_deref(), real)
    }

    pub(crate) fn may_write(&self, real: &Path) -> bool {
        self.may_read(real) && Self::covers(self.write.as_deref(), real)
    }

    fn covers(ceiling: Option<&[PathBuf]>, real: &Path) -> bool {
        ceiling.is_none_or(|paths| paths.iter().any(|above| is_within(real, above)))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_is_met_also_behind_others() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        fs::create_dir_all(at("real/deep")).unwrap();
        symlink("second", at("first")).unwrap();
        symlink(at("real"), at("second")).unwrap();
        symlink("../second/deep", at("real/back")).unwrap();
        symlink("ring", at("ring")).unwrap();
        for (path, real, links) in [
            ("real/deep", "real/deep", &[][..]),
            ("first/deep", "real/deep", &["first", "second"]),
            ("real/back/new/x", "real/deep/new/x", &["real/back", "second"]),
            ("gone/x", "gone/x", &[]),
        ] {
            let walked = WalkedPath::walk(&at(path)).unwrap();
            assert_eq!(walked.real, at(real), "{path}");
            assert_eq!(walked.links, links.iter().map(|link| at(link)).collect::<Vec<_>>(), "{path}");
        }
        assert!(WalkedPath::walk(&at("ring")).is_err());
    }

    #[test]
    fn no_folder_is_made_behind_a_link_that_is_raced_in() {
        const ROUNDS: usize = 3000;
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        fs::create_dir(at("vault")).unwrap();
        make_folder(&at("w/sub/deep"), 0o700).unwrap();
        assert!(at("w/sub/deep").is_dir(), "the control");
        symlink(at("vault"), at("link")).unwrap();
        assert!(make_folder(&at("link/new"), 0o700).is_err());
        // One thread makes, another swaps a folder on the way for a link and back.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let _ = fs::rename(at("w"), at("aside"));
                    let _ = symlink(at("vault"), at("w"));
                    let _ = fs::remove_file(at("w"));
                    let _ = fs::rename(at("aside"), at("w"));
                }
            });
            for number in 0..ROUNDS {
                let _ = make_folder(&at(&format!("w/{number}")), 0o700);
            }
        });
        assert_eq!(fs::read_dir(at("vault")).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_trusted_is_known_by_its_name_and_where_it_was_moved_to() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("w/sub")).unwrap();
        let untrusted = [UntrustedFolder::new(top.join("w"), FolderAuthor::EarlierRun)];
        let rules = LinkRules { untrusted: &untrusted };
        assert!(rules.holder(&top.join("w/sub/link")).is_some());
        assert!(rules.holder(&top.join("w")).is_none(), "the folder itself lies elsewhere");
        assert!(rules.holder(&top.join("wide/link")).is_none());
        fs::rename(top.join("w"), top.join("moved")).unwrap();
        assert!(rules.holder(&top.join("moved/sub/link")).is_some());
    }
}
