//! Kernel keyrings: the one of the login session is shared by everything a user runs.

use std::ptr;

use super::{Result, checked};

const KEYCTL_JOIN_SESSION_KEYRING: libc::c_long = 1;

/// Leaves the session's keyring for a new, empty one.
pub(crate) fn join_new_session() -> Result<()> {
    let nameless = ptr::null::<libc::c_char>();
    // SAFETY: with a null name the call reads no memory of ours.
    checked(unsafe { libc::syscall(libc::SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nameless) })?;
    Ok(())
}
