//! The few calls that change control groups.
//!
//! They are a trait so that tests can stand in for a kernel that this machine does not have: [`RealKernel`] is the file system, and the
//! tests' own kernel keeps the rules of version 2 over a temporary folder. Reading needs no stand-in.

use std::fs;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

/// Which of the two interfaces a file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CgroupVersion {
    One,
    Two,
}

/// What is asked of the kernel.
pub(crate) trait CgroupKernel: Send + Sync {
    /// Makes a group.
    fn make(&self, folder: &Path) -> io::Result<()>;
    /// Removes a group, which must be empty.
    fn remove(&self, folder: &Path) -> io::Result<()>;
    /// Writes a file that is there, all in one write.
    fn write(&self, file: &Path, text: &str) -> io::Result<()>;
    /// Opens a file that is there for writing.
    fn open(&self, file: &Path) -> io::Result<OwnedFd>;
    /// The groups of a process, as `/proc/PID/cgroup` has them.
    #[cfg(feature = "systemd")]
    fn membership(&self, pid: i32) -> io::Result<String>;
    /// Whether a folder is of a control group file system; false if something else is mounted over it.
    fn is_cgroup(&self, folder: &Path, version: CgroupVersion) -> io::Result<bool>;
}

/// The kernel this process runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RealKernel;

impl CgroupKernel for RealKernel {
    fn make(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)
    }

    fn remove(&self, folder: &Path) -> io::Result<()> {
        // Not `remove_dir_all`: the files of a group belong to the kernel and go with it.
        fs::remove_dir(folder)
    }

    fn write(&self, file: &Path, text: &str) -> io::Result<()> {
        // Never `create`: a limit written to a new file of some other file system would hold nothing.
        let mut open = fs::OpenOptions::new().write(true).open(file)?;
        match open.write(text.as_bytes())? {
            written if written == text.len() => Ok(()),
            _ => Err(io::Error::new(
                io::ErrorKind::WriteZero,
                "the kernel took only a part of what was written",
            )),
        }
    }

    fn open(&self, file: &Path) -> io::Result<OwnedFd> {
        Ok(fs::OpenOptions::new().write(true).open(file)?.into())
    }

    #[cfg(feature = "systemd")]
    fn membership(&self, pid: i32) -> io::Result<String> {
        fs::read_to_string(format!("/proc/{pid}/cgroup"))
    }

    fn is_cgroup(&self, folder: &Path, version: CgroupVersion) -> io::Result<bool> {
        // statfs(2)
        const CGROUP_SUPER_MAGIC: u64 = 0x0027_e0eb;
        const CGROUP2_SUPER_MAGIC: u64 = 0x6367_7270;
        let expected = match version {
            CgroupVersion::One => CGROUP_SUPER_MAGIC,
            CgroupVersion::Two => CGROUP2_SUPER_MAGIC,
        };
        let found = rustix::fs::statfs(folder)?.f_type;
        #[allow(clippy::unnecessary_fallible_conversions)] // its type differs between architectures
        Ok(u64::try_from(found).is_ok_and(|found| found == expected))
    }
}
