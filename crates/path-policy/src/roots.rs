//! Places by name: absolute paths as lists of names, and what may and may not be touched below which.
//!
//! Names are compared whole, so `/data` is never taken for the beginning of `/database`.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::settings::{AccessKind, CaseHandling};

/// The names of an absolute path, from the top.
pub(crate) type PathNames = Vec<Box<[u8]>>;

/// The names of a path without `.` and empty ones. `..` is a name like others here.
pub(crate) fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    path.split(|&byte| byte == b'/').filter(|name| !matches!(*name, b"" | b"."))
}

pub(crate) fn to_names(path: &Path) -> PathNames {
    names(path.as_os_str().as_bytes()).map(Into::into).collect()
}

pub(crate) fn to_path<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> PathBuf {
    let mut path = PathBuf::from("/");
    path.extend(names.into_iter().map(OsStr::from_bytes));
    path
}

/// A folder that may be used, held open so that it stays the same one whatever its name comes to mean.
#[derive(Debug)]
pub(crate) struct PolicyRoot {
    pub(crate) fd: OwnedFd,
    /// Where it really is: no links on the way.
    pub(crate) path: PathBuf,
    pub(crate) names: PathNames,
    /// How the user spelt it, where links are on the way (`/home` for `/var/home`).
    pub(crate) alias: Option<RootAlias>,
    pub(crate) writable: bool,
}

/// Another spelling of a root.
#[derive(Debug)]
pub(crate) struct RootAlias {
    pub(crate) path: PathBuf,
    pub(crate) names: PathNames,
}

impl RootAlias {
    /// Whether it still leads to the root: its links lie outside, and somebody may have changed them.
    fn leads_to(&self, root: &OwnedFd) -> bool {
        let (Ok(alias), Ok(root)) = (rustix::fs::stat(&self.path), rustix::fs::fstat(root)) else {
            return false;
        };
        (alias.st_dev, alias.st_ino) == (root.st_dev, root.st_ino)
    }
}

impl PolicyRoot {
    pub(crate) fn grants(&self, access: AccessKind) -> bool {
        self.writable || !access.writes()
    }

    /// What is left of an absolute path below this root, in bytes; none if it is not below it by name.
    pub(crate) fn strip<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        strip(&self.names, path).or_else(|| {
            let alias = self.alias.as_ref()?;
            strip(&alias.names, path).filter(|_| alias.leads_to(&self.fd))
        })
    }
}

/// What is left of `path` behind the names of `prefix`. A `..` among the names stops it: it is the kernel's to resolve.
fn strip<'p>(prefix: &PathNames, path: &'p [u8]) -> Option<&'p [u8]> {
    let mut rest = path;
    for name in prefix {
        loop {
            rest = rest.strip_prefix(b"/").unwrap_or(rest);
            let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
            let (first, after) = rest.split_at_checked(end)?;
            match first {
                b"" if after.is_empty() => return None,
                b"" | b"." => rest = after,
                first if first == &**name => {
                    rest = after;
                    break;
                }
                _ => return None,
            }
        }
    }
    // What follows is relative to the root, however many slashes stand before it.
    let start = rest.iter().position(|&byte| byte != b'/').unwrap_or(rest.len());
    rest.get(start..)
}

/// Whether `place` is `top` or below it.
pub(crate) fn is_within<'n>(top: &PathNames, mut place: impl Iterator<Item = &'n [u8]>) -> bool {
    top.iter().all(|name| place.next() == Some(&**name))
}

/// The paths that are never to be touched.
#[derive(Debug, Default)]
pub(crate) struct ForbiddenPaths {
    pub(crate) places: Vec<PathNames>,
    pub(crate) case: CaseHandling,
}

impl ForbiddenPaths {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a place is forbidden, or below one that is.
    pub(crate) fn covers<'n>(&self, place: &(impl Iterator<Item = &'n [u8]> + Clone)) -> bool {
        self.places.iter().any(|forbidden| {
            let mut place = place.clone();
            forbidden.iter().all(|name| place.next().is_some_and(|other| self.same(name, other)))
        })
    }

    /// Whether something below a place is forbidden, or the place itself is.
    pub(crate) fn is_below<'n>(&self, place: &(impl Iterator<Item = &'n [u8]> + Clone)) -> bool {
        self.places.iter().any(|forbidden| {
            let mut names = forbidden.iter();
            place.clone().all(|other| names.next().is_some_and(|name| self.same(name, other)))
        })
    }

    fn same(&self, left: &[u8], right: &[u8]) -> bool {
        if left == right {
            return true;
        }
        match self.case {
            CaseHandling::Sensitive if left.is_ascii() || right.is_ascii() => false,
            CaseHandling::Sensitive => composed(left) == composed(right),
            CaseHandling::Insensitive if left.is_ascii() && right.is_ascii() => {
                left.eq_ignore_ascii_case(right)
            }
            CaseHandling::Insensitive => folded(left) == folded(right),
        }
    }
}

/// A name as NFC: a forbidden `café` is forbidden however its accent is written.
pub(crate) fn composed(name: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(name);
    if is_nfc_quick(text.chars()) == IsNormalized::Yes { text } else { Cow::Owned(text.nfc().collect()) }
}

/// A name without its case. Upper before lower brings together what either alone keeps apart (`ß` and `SS`, `ſ` and `S`).
fn folded(name: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(name).nfkd().collect();
    text.to_uppercase().to_lowercase().nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(root: &str, path: &str) -> Option<String> {
        strip(&to_names(Path::new(root)), path.as_bytes())
            .map(|rest| String::from_utf8_lossy(rest).into_owned())
    }

    #[test]
    fn prefixes_are_whole_names() {
        for (root, path, rest) in [
            ("/data", "/data/x", Some("x")),
            ("/data", "/data", Some("")),
            ("/data", "/data/", Some("")),
            ("/data", "//data//x/", Some("x/")),
            ("/data", "/./data/./x", Some("./x")),
            ("/data", "/data/../x", Some("../x")),
            ("/data", "/database", None),
            ("/data", "/database/x", None),
            ("/data", "/dat", None),
            ("/data", "/", None),
            ("/data", "/x/../data", None),
            ("/data", "/Data", None),
            ("/a/b", "/a//b/c", Some("c")),
            ("/a/b", "/a", None),
            ("/", "/etc", Some("etc")),
            ("/", "/", Some("")),
        ] {
            assert_eq!(below(root, path).as_deref(), rest, "{root} {path}");
        }
    }

    #[test]
    fn forbidden_names_are_compared_whole_and_by_their_letters() {
        let forbidden = |case| ForbiddenPaths {
            places: vec![to_names(Path::new("/w/caf\u{e9}")), to_names(Path::new("/w/.git"))],
            case,
        };
        let covers = |forbidden: &ForbiddenPaths, path: &str| forbidden.covers(&names(path.as_bytes()));
        let sensitive = forbidden(CaseHandling::Sensitive);
        for (path, expected) in [
            ("/w/.git", true),
            ("/w/.git/config", true),
            ("/w/.gitignore", false),
            ("/w/.GIT", false),
            ("/w/caf\u{e9}/x", true),
            ("/w/cafe\u{301}/x", true),
            ("/w/CAF\u{c9}", false),
            ("/w", false),
        ] {
            assert_eq!(covers(&sensitive, path), expected, "{path}");
        }
        let insensitive = forbidden(CaseHandling::Insensitive);
        for path in ["/w/.GIT/x", "/W/.Git", "/w/CAF\u{c9}", "/w/CAFE\u{301}"] {
            assert!(covers(&insensitive, path), "{path}");
        }
        assert!(!covers(&insensitive, "/w/.gitx"));
        assert!(
            sensitive.is_below(&names(b"/w"))
                && sensitive.is_below(&names(b"/"))
                && !sensitive.is_below(&names(b"/x"))
        );
    }
}
