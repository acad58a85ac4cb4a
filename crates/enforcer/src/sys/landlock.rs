//! The two Landlock calls that a child makes itself; the rest is the landlock crate's, before the child exists.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use super::{Result, checked};

const LANDLOCK_RULE_PATH_BENEATH: libc::c_long = 1;

/// `struct landlock_path_beneath_attr`, which is packed (linux/landlock.h).
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// Allows `access` beneath `place`.
pub(crate) fn allow_beneath(ruleset: BorrowedFd<'_>, place: BorrowedFd<'_>, access: u64) -> Result<()> {
    let rule = PathBeneath { allowed_access: access, parent_fd: place.as_raw_fd() };
    // SAFETY: the rule has the layout the kernel reads for this kind, and outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            LANDLOCK_RULE_PATH_BENEATH,
            &raw const rule,
            0_u32,
        )
    };
    checked(result)?;
    Ok(())
}

/// Puts this process, and all it starts, under the rules.
pub(crate) fn restrict_self(ruleset: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: takes a descriptor and flags only.
    checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) })?;
    Ok(())
}

/// The newest version of Landlock that the kernel speaks.
pub(crate) fn version() -> Result<i32> {
    const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
    let nothing = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag and no attributes the call only answers with a number.
    let result = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, LANDLOCK_CREATE_RULESET_VERSION)
    };
    Ok(i32::try_from(checked(result)?).unwrap_or(i32::MAX))
}
