//! Installing a filter that was compiled before.

use super::{Result, checked};

/// Puts this process, and all it starts, under a filter: the bytes of an array of `struct sock_filter`.
pub(crate) fn install(program: &[u8]) -> Result<()> {
    let count = program.len() / size_of::<libc::sock_filter>();
    let filter = libc::sock_fprog {
        len: u16::try_from(count).unwrap_or(u16::MAX),
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: `filter` points to `len` instructions that outlive the call; the kernel copies them without regard to their
    // alignment, checks them, and writes nothing.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0_u32, &raw const filter) };
    checked(result)?;
    Ok(())
}
