//! The system calls that no safe library makes. Each function makes one, takes and gives only what Rust can check, and says why it is
//! sound. Nothing else in this crate is unsafe.

mod bare;
mod files;
mod foreign;
mod ipc;
mod process;

use std::io;

pub(crate) use self::bare::BARE;
pub(crate) use self::files::*;
pub(crate) use self::foreign::*;
pub(crate) use self::ipc::*;
pub(crate) use self::process::*;

/// The result of a call that gives -1 and `errno`.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Descriptors and process numbers fit: the kernel gives them as `int`.
fn int(result: libc::c_long) -> io::Result<i32> {
    i32::try_from(result).map_err(io::Error::other)
}
