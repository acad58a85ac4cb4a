//! Where a path leads, however much of it exists: the one place that resolves a path which a program is about to make.
//!
//! [`std::fs::canonicalize`] has no answer for what is not there yet. Whoever then goes by the path as it is written judges another place
//! than the one that is made: `link/new` lies in what `link` leads to.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Most links that are followed: the kernel's `MAXSYMLINKS`.
const MAX_LINKS: usize = 40;
/// Longest path and longest target of a link that is followed, in bytes: the kernel's `PATH_MAX`.
const MAX_BYTES: usize = 4096;

/// The path without links, `.` and `..`, as the kernel would go it. What does not exist yet stays as it is named, below the real place of
/// what does; a link that leads to nothing is followed to where it leads. A relative path begins in the current directory.
///
/// ```
/// use skillsandbox_path_policy::real_path;
///
/// # let folder = tempfile::tempdir()?;
/// # let top = folder.path().canonicalize()?;
/// std::fs::create_dir(top.join("skills"))?;
/// std::os::unix::fs::symlink("skills", top.join("link"))?;
/// std::os::unix::fs::symlink("skills/gone", top.join("dangling"))?;
/// assert_eq!(real_path(&top.join("link/new/deep"))?, top.join("skills/new/deep"));
/// assert_eq!(real_path(&top.join("dangling/new"))?, top.join("skills/gone/new"));
/// assert_eq!(real_path(&top.join("link/../new"))?, top.join("new"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// A ring of links, a path or a link that is too long, and a folder on the way that may not be looked into.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if has_no_links(&path) {
        return Ok(path.components().collect());
    }
    let mut pending = VecDeque::new();
    put_before(&mut pending, &path)?;
    let mut real = PathBuf::from("/");
    let mut links = 0;
    while let Some(step) = pending.pop_front() {
        let ResolveStep::Name(name) = step else {
            // Of the root, the root is the parent.
            match step {
                ResolveStep::Root => real = PathBuf::from("/"),
                ResolveStep::Parent | ResolveStep::Name(_) => drop(real.pop()),
            }
            continue;
        };
        real.push(&name);
        match std::fs::symlink_metadata(&real) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Errno::LOOP.into());
                }
                let target = std::fs::read_link(&real)?;
                real.pop();
                put_before(&mut pending, &target)?;
            }
            Ok(_) => {}
            // What is not there has no links in it.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(real)
}

/// Whether the kernel meets no link on the way, which it says at once: most paths have none. What is missing is met only behind what is there.
fn has_no_links(path: &Path) -> bool {
    if path.components().any(|part| part == Component::ParentDir) {
        return false;
    }
    let (flags, resolve) = (OFlags::PATH | OFlags::CLOEXEC, ResolveFlags::NO_SYMLINKS);
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => true,
        Err(_) => false,
    }
}

enum ResolveStep {
    Root,
    Parent,
    Name(OsString),
}

/// What comes next, before what is left.
fn put_before(pending: &mut VecDeque<ResolveStep>, path: &Path) -> io::Result<()> {
    if path.as_os_str().len() > MAX_BYTES {
        return Err(Errno::NAMETOOLONG.into());
    }
    for part in path.components().rev() {
        match part {
            Component::RootDir => pending.push_front(ResolveStep::Root),
            Component::ParentDir => pending.push_front(ResolveStep::Parent),
            Component::Normal(name) => pending.push_front(ResolveStep::Name(name.to_owned())),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_is_known_by_where_it_leads_even_where_it_does_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let at = |path: &str| top.join(path);
        fs::create_dir_all(at("skills/other")).unwrap();
        fs::write(at("file"), "").unwrap();
        for (link, target) in [
            ("link", "skills"),
            ("absolute", at("skills/other").to_str().unwrap()),
            ("chain", "link/other"),
            ("dangling", "skills/none/deeper"),
            ("up", "skills/other/../.."),
            ("one", "two"),
            ("two", "one"),
            ("skills/back", "../link/other"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for (path, expected) in [
            ("skills", "skills"),
            ("new", "new"),
            ("link", "skills"),
            ("link/new", "skills/new"),
            ("link/new/deep", "skills/new/deep"),
            ("absolute/new", "skills/other/new"),
            ("chain/new", "skills/other/new"),
            ("dangling", "skills/none/deeper"),
            ("dangling/new", "skills/none/deeper/new"),
            ("link/../new", "new"),
            ("absolute/../new", "skills/new"),
            ("dangling/../new", "skills/none/new"),
            ("new/../link/x", "skills/x"),
            ("up/new", "new"),
            ("link/back/new", "skills/other/new"),
            ("file/new", "file/new"),
            ("./link/./new//", "skills/new"),
        ] {
            assert_eq!(real_path(&at(path)).unwrap(), at(expected), "{path}");
        }
        assert!(real_path(&at("one/new")).is_err(), "a ring of links");
        assert!(real_path(&at(&"x/".repeat(4096))).is_err(), "too long");
        assert_eq!(real_path(Path::new("/../../new-here")).unwrap(), Path::new("/new-here"));
    }

    #[test]
    fn forty_links_are_followed_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for number in 0..45_u32 {
            symlink(format!("{}", number + 1), top.join(number.to_string())).unwrap();
        }
        assert_eq!(real_path(&top.join("5")).unwrap(), top.join("45"));
        assert!(real_path(&top.join("4")).is_err());
    }

    proptest! {
        /// The kernel's own answer, wherever it has one.
        #[test]
        fn what_exists_is_resolved_as_the_kernel_does(
            links in prop::collection::vec(("[abc](/[abc]){0,2}", "(/|\\.\\./)?[abc](/[abc.]{1,2}){0,2}"), 0..6),
            paths in prop::collection::vec("[abc](/([abc]|\\.\\.)){0,4}", 1..6),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            fs::create_dir_all(top.join("a/b/c")).unwrap();
            for (link, target) in &links {
                let place = top.join(link);
                let _ = place.parent().map(fs::create_dir_all);
                let target = target.strip_prefix('/').map_or_else(|| target.into(), |rest| top.join(rest));
                let _ = symlink(target, place);
            }
            for path in &paths {
                let path = top.join(path);
                if let Ok(kernel) = path.canonicalize() {
                    prop_assert_eq!(real_path(&path).unwrap(), kernel);
                } else if let Ok(real) = real_path(&path)
                    && !path.components().any(|part| part == Component::ParentDir)
                    // A link, even one that leads to nothing, is what is in the way of making a folder.
                    && fs::create_dir_all(&path).is_ok()
                {
                    prop_assert_eq!(real, path.canonicalize().unwrap(), "what is made is what was named");
                }
            }
        }
    }
}
