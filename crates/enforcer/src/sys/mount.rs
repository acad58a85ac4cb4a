//! What rustix has not of the mount interface of Linux 5.12.

use std::mem::size_of;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::{Result, checked};

pub(crate) const RDONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub(crate) const NOSUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub(crate) const NODEV: u64 = libc::MOUNT_ATTR_NODEV;
pub(crate) const NOEXEC: u64 = libc::MOUNT_ATTR_NOEXEC;

/// How far an attribute reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributeReach {
    /// This mount only.
    One,
    /// This mount and all that are mounted below it.
    Tree,
}

/// Adds attributes to a mount and cuts it off from mounts that happen elsewhere.
pub(crate) fn set_attributes(mount: BorrowedFd<'_>, attributes: u64, reach: AttributeReach) -> Result<()> {
    let attr =
        libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let recursive = if reach == AttributeReach::Tree { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty string that ends with a zero byte; the structure has the size given and outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | recursive,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(result)?;
    Ok(())
}
