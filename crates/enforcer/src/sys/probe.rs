//! Calls that only looking at a host needs.

use std::os::fd::{FromRawFd as _, OwnedFd};

use super::{Result, checked};

/// Makes a process with a copy of this one's memory by the old call, which container filters leave alone where they refuse
/// `clone3`. It runs `main` and ends with what `main` returns; what [`super::clone::child`] says of `main` holds here too.
pub(crate) fn fork(main: impl FnOnce() -> i32) -> Result<i32> {
    let signal = libc::c_long::from(libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: without CLONE_VM and with no stack the child has its own copy of the memory and goes on here, as after fork(2).
    // The signal and zeros mean the same in whichever order an architecture takes the arguments.
    #[cfg(not(target_arch = "s390x"))]
    let result = unsafe { libc::syscall(libc::SYS_clone, signal, none, none, none, none) };
    // SAFETY: as above; this architecture takes the stack before the flags.
    #[cfg(target_arch = "s390x")]
    let result = unsafe { libc::syscall(libc::SYS_clone, none, signal, none, none, none) };
    let pid = checked(result)?;
    if pid == 0 {
        let code = main();
        // SAFETY: ends the process at once; nothing of the copied memory is touched, no exit handler runs.
        unsafe { libc::_exit(code) };
    }
    Ok(i32::try_from(pid).unwrap_or(i32::MAX))
}

/// Installs a filter that another process may listen to; there can be one such filter above a process (`EBUSY`).
pub(crate) fn listener(program: &[u8]) -> Result<OwnedFd> {
    let count = program.len() / size_of::<libc::sock_filter>();
    let filter = libc::sock_fprog {
        len: u16::try_from(count).unwrap_or(u16::MAX),
        filter: program.as_ptr().cast_mut().cast(),
    };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // SAFETY: `filter` points to `len` instructions that outlive the call; the kernel copies them and writes nothing.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
    let number = i32::try_from(checked(result)?).unwrap_or(-1);
    // SAFETY: the kernel made a new descriptor, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
