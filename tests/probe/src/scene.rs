//! What every technique knows, and the questions many of them ask.

use std::ffi::CString;
use std::fs;
use std::io::{self, Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::outcome::{Stopped, Tried};
use crate::{canary, sys};

/// Bytes read of any file: no secret is longer, and devices may have no end.
const MAX_READ: u64 = 1 << 20;

/// The scene of the attack.
#[derive(Debug)]
pub struct Scene {
    /// What was planted.
    pub context: Context,
    /// The process that started the attack.
    pub launcher: i32,
    /// The attack itself: the parent of the process a technique runs in.
    pub runner: i32,
    /// Descriptors beyond the first three that were open at the start.
    pub inherited: Vec<i32>,
}

impl Scene {
    /// Looks around. To be called before anything is opened.
    #[must_use]
    pub fn new(context: Context) -> Self {
        let inherited = (3..256).filter(|fd| sys::inherited(*fd).is_ok()).collect();
        Self { context, launcher: nix::unistd::getppid().as_raw(), runner: own_pid(), inherited }
    }

    /// Whether these bytes hold a planted secret.
    pub(crate) fn leaked(&self, bytes: &[u8]) -> Tried {
        match canary::find(bytes, &self.context.secrets) {
            Some(name) => Ok(format!("read the secret `{name}`")),
            None => Err(Stopped::held(format!("read {} bytes without a secret", bytes.len()))),
        }
    }

    /// Reads a file and looks for a secret.
    pub(crate) fn leaked_by(&self, path: impl AsRef<Path>) -> Tried {
        self.leaked(&read(path.as_ref())?)
    }

    /// A file outside that is there for one technique.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.context.outside.join(name)
    }

    /// A fresh path in the granted folder, with nothing there.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        let path = self.context.granted.join(format!("probe-{name}-{}", own_pid()));
        let _ = fs::remove_file(&path);
        path
    }

    /// A fresh folder in the granted one.
    pub(crate) fn scratch_dir(&self, name: &str) -> Result<PathBuf, Stopped> {
        let path = self.scratch(name);
        fs::create_dir(&path).map_err(|error| {
            Stopped::unable(format!("no folder could be made in the granted one: {error}"))
        })?;
        Ok(path)
    }

    /// A file in the granted folder with something in it, to attack with.
    pub(crate) fn scratch_file(&self, name: &str, content: &str) -> Result<PathBuf, Stopped> {
        let path = self.scratch(name);
        fs::write(&path, content).map_err(|error| {
            Stopped::unable(format!("no file could be made in the granted folder: {error}"))
        })?;
        Ok(path)
    }

    /// What was granted must work, or everything holds for the wrong reason.
    pub fn check_grants(&self) -> io::Result<()> {
        let failed = |what: &str, why: &dyn std::fmt::Display| io::Error::other(format!("{what}: {why}"));
        let context = &self.context;
        for (folder, name) in [(&context.granted, "granted"), (&context.readonly, "readonly")] {
            let bytes = read(&folder.join("data.txt")).map_err(|error| failed(name, &error))?;
            if canary::find(&bytes, &context.allowed).is_none() {
                return Err(failed(name, &"another folder of the same name"));
            }
        }
        read(&context.skill.join("main.py")).map_err(|error| failed("skill", &error))?;
        let written =
            self.scratch_file("grant", "written").map_err(|why| failed("granted", &format!("{why:?}")))?;
        fs::remove_file(written)
    }

    /// Whether the folder of files outside is really the host's: what is written to another one of the same name is lost.
    pub(crate) fn outside_is_the_hosts(&self) -> Result<(), Stopped> {
        let marker = read(&self.outside("marker"))?;
        self.leaked(&marker).map(drop).map_err(|_| Stopped::held("another folder of the same name"))
    }

    /// Whether this process shares a name space with the host. `None` where it cannot be seen.
    pub(crate) fn shares_with_host(&self, namespace: &str) -> Option<bool> {
        let own = fs::read_link(format!("/proc/self/ns/{namespace}")).ok()?;
        let hosts = self.context.host.namespaces.get(namespace)?;
        Some(own.as_os_str() == hosts.as_str())
    }

    /// Held if the process with the victim's number is another one: in a name space of processes the numbers begin anew. Where no
    /// process can be seen the attempt itself tells.
    pub(crate) fn is_the_victim(&self) -> Result<(), Stopped> {
        let victim = &self.context.victim;
        match start_time(victim.pid) {
            Some(time) if time != victim.start_time => Err(Stopped::held("another process of that number")),
            _ => Ok(()),
        }
    }
}

/// The number of this process.
pub(crate) fn own_pid() -> i32 {
    nix::unistd::getpid().as_raw()
}

/// When a process was started: the 22nd field of its `stat`, counted behind the name, which may hold anything.
pub(crate) fn start_time(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(19)?.parse().ok()
}

/// The beginning of a file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A path as the kernel takes it.
pub(crate) fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// Whether this process runs as another user than the one who started it. Such a copy lies in the victim's folder, where anybody on the
/// host may start it, and must be of no use to them.
#[must_use]
pub fn has_borrowed_rights() -> bool {
    let users = nix::unistd::getresuid().map(|ids| ids.real == ids.effective && ids.real == ids.saved);
    let groups = nix::unistd::getresgid().map(|ids| ids.real == ids.effective && ids.real == ids.saved);
    !(users == Ok(true) && groups == Ok(true))
}

/// What the probe does when a technique starts it again: `read FILE` copies a file to standard output, `ids` prints all user
/// and group numbers. Both show what a program can do that came there by an unusual way.
pub fn helper(what: &str, argument: Option<&Path>, out: &mut impl Write) -> io::Result<()> {
    match (what, argument) {
        ("read", Some(path)) => {
            // It ran, whatever becomes of the rest.
            out.write_all(b"ran\n")?;
            out.flush()?;
            out.write_all(&read(path)?)
        }
        ("ids", _) => {
            let uids = nix::unistd::getresuid()?;
            let gids = nix::unistd::getresgid()?;
            writeln!(out, "{} {} {}", uids.real, uids.effective, uids.saved)?;
            writeln!(out, "{} {} {}", gids.real, gids.effective, gids.saved)
        }
        _ => Err(io::Error::other("helpers are `read FILE` and `ids`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_tells_processes_apart() {
        let own = start_time(own_pid()).unwrap();
        assert!(own > 0);
        assert_eq!(start_time(own_pid()), Some(own));
        assert_eq!(start_time(-5), None);
    }

    #[test]
    fn a_helper_reads_and_says_that_it_ran() {
        let mut out = Vec::new();
        helper("read", Some(Path::new("/proc/self/comm")), &mut out).unwrap();
        assert!(out.starts_with(b"ran\n") && out.len() > 4);
        let mut out = Vec::new();
        assert!(helper("read", Some(Path::new("/nonexistent")), &mut out).is_err());
        assert_eq!(out, b"ran\n");
    }
}
