//! Which Unix sockets a run may connect to, judged by what is bound where a path leads, not by the path.
//!
//! What the run's own processes have bound in its private folders lies on a file system that nobody else has. Whatever lies elsewhere may be
//! a server of the host's, however its name came to be there, and is reached only if the plan names it.

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use super::AccessVerdict;
use super::sandbox_root::SandboxRoot;
use crate::prepare::grants::GrantedSocket;
use crate::sys::sockets::namespace_cookie;

/// Why a socket of somebody else is out of reach.
const OF_THE_HOST: &str = "a socket of the host; permissions.filesystem.unix_sockets does not name it";

/// What a run may connect to.
#[derive(Debug, Default)]
pub(crate) struct SocketJudge {
    root: SandboxRoot,
    /// The run's private file system, held open so that its number stays its own.
    private: Option<OwnedFd>,
    granted: Vec<GrantedSocket>,
    /// The network namespace of the launching program.
    outside: Option<u64>,
}

/// A socket where a path led, and what comes of connecting to it.
#[derive(Debug)]
pub(super) enum SocketPlace {
    /// It may be connected to: what is bound there, whatever the path leads to by now, and why.
    Allowed(OwnedFd, String),
    /// It may not.
    Denied(&'static str),
    /// The kernel would say this.
    Fails(Errno),
}

impl SocketJudge {
    pub(super) fn new(root: SandboxRoot, private: Option<OwnedFd>, granted: Vec<GrantedSocket>) -> Self {
        let own = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None);
        let outside = own.ok().and_then(|own| namespace_cookie(own.as_fd()).ok());
        Self { root, private, granted, outside }
    }

    /// Whether a socket belongs to the launching program's own network, as only one that was handed to the run can.
    pub(super) fn is_outside(&self, socket: &OwnedFd) -> bool {
        self.outside.is_some() && namespace_cookie(socket.as_fd()).ok() == self.outside
    }

    /// What is bound at a path, from the root of the sandbox on. `thread` is who named it.
    pub(super) fn find(&self, path: &Path, thread: u32) -> SocketPlace {
        let place = match self.open(path, thread) {
            Ok(place) => place,
            // The kernel does not follow links to what a descriptor is of here; another way to name the same will do.
            Err(Errno::XDEV | Errno::AGAIN) => return SocketPlace::Fails(Errno::ACCESS),
            Err(errno) => return SocketPlace::Fails(errno),
        };
        let Ok(found) = fstat(&place) else { return SocketPlace::Fails(Errno::ACCESS) };
        if !FileType::from_raw_mode(found.st_mode).is_socket() {
            return SocketPlace::Fails(Errno::CONNREFUSED);
        }
        let is_private = self
            .private
            .as_ref()
            .and_then(|private| fstat(private).ok())
            .is_some_and(|own| own.st_dev == found.st_dev);
        if is_private {
            return SocketPlace::Allowed(place, "private to the run".to_owned());
        }
        match self.granted.iter().find(|granted| granted.identity == (found.st_dev, found.st_ino)) {
            Some(granted) => {
                SocketPlace::Allowed(place, format!("{}, a declared socket", granted.path.display()))
            }
            None => SocketPlace::Denied(OF_THE_HOST),
        }
    }

    fn open(&self, path: &Path, thread: u32) -> Result<OwnedFd, Errno> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        if let Some((number, rest)) = own_descriptor(path) {
            let base = openat(CWD, format!("/proc/{thread}/fd/{number}"), flags, Mode::empty())?;
            if rest.as_os_str().is_empty() {
                return Ok(base);
            }
            return openat2(&base, rest, flags, Mode::empty(), ResolveFlags::BENEATH);
        }
        let root = self.root.descriptor().ok_or(Errno::ACCESS)?;
        openat2(root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)
    }
}

/// A path by way of one of the caller's own descriptors, as programs name sockets whose path is too long: the number, and what follows.
fn own_descriptor(path: &Path) -> Option<(u32, PathBuf)> {
    let rest = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"]
        .iter()
        .find_map(|folder| path.strip_prefix(folder).ok())?;
    let mut parts = rest.components();
    let number = parts.next()?.as_os_str().to_str()?.parse().ok()?;
    Some((number, parts.as_path().to_owned()))
}

/// Whether somebody on the host has an abstract name. For the record only: it decides nothing.
pub(super) fn host_has_abstract(name: &[u8]) -> AccessVerdict {
    let shown = abstract_path(name);
    let listed = std::fs::read("/proc/net/unix").unwrap_or_default();
    let wanted = shown.as_os_str().as_bytes();
    let has = listed
        .split(|byte| *byte == b'\n')
        .any(|line| line.strip_suffix(wanted).is_some_and(|before| before.ends_with(b" ")));
    if has { AccessVerdict::Denied("an abstract name of the host") } else { AccessVerdict::NotThere }
}

/// An abstract name as `/proc/net/unix` writes it: zeros are `@`.
pub(super) fn abstract_path(name: &[u8]) -> PathBuf {
    let shown: Vec<u8> = name.iter().map(|byte| if *byte == 0 { b'@' } else { *byte }).collect();
    PathBuf::from(OsStr::from_bytes(&shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_through_ones_own_descriptors_is_known() {
        for (path, expected) in [
            ("/proc/self/fd/7", Some((7, ""))),
            ("/proc/self/fd/7/a/b", Some((7, "a/b"))),
            ("/dev/fd/0/x", Some((0, "x"))),
            ("/proc/self/fd", None),
            ("/proc/self/fd/x", None),
            ("/proc/self/fdx/7", None),
            ("/tmp/proc/self/fd/7", None),
        ] {
            let expected = expected.map(|(number, rest)| (number, PathBuf::from(rest)));
            assert_eq!(own_descriptor(Path::new(path)), expected, "{path}");
        }
    }
}
