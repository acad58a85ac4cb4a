//! Calls about processes.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use nix::unistd::{ForkResult, Pid};

use super::{check, int};

/// Forks. `None` is the child.
///
/// The attack has one thread, so that the child may do anything the parent may: no lock can be held by a thread that is not there.
/// Tests in threads do not call it.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: see above; with one thread `fork` copies a state in which no other thread is in the middle of something.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Ends this process at once, without what `exit` would flush a second time in a child.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes a number and does not come back.
    unsafe { libc::_exit(code) }
}

/// A process made by `clone` with these flags, which ends at once.
pub(crate) fn clone_and_end(flags: i64) -> io::Result<Pid> {
    // SAFETY: without CLONE_VM and with a null stack, `clone` is `fork` (see there) with name spaces; callers pass CLONE_NEW* only.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone, flags | i64::from(libc::SIGCHLD), 0, 0, 0, 0) })?;
    if pid == 0 {
        exit_now(0);
    }
    int(pid).map(Pid::from_raw)
}

/// The same by `clone3`.
pub(crate) fn clone3_and_end(flags: u64) -> io::Result<Pid> {
    // `struct clone_args` of the first version: flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls.
    let arguments: [u64; 8] = [flags, 0, 0, 0, 17, 0, 0, 0];
    // SAFETY: the kernel reads 64 bytes, which are there, and writes none, as no pidfd and no tid is asked for. No CLONE_VM.
    let pid = check(unsafe { libc::syscall(libc::SYS_clone3, arguments.as_ptr(), size_of_val(&arguments)) })?;
    if pid == 0 {
        exit_now(0);
    }
    int(pid).map(Pid::from_raw)
}

/// Leaves name spaces. The library knows no time name spaces, hence this one.
pub(crate) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: takes a number; callers pass CLONE_NEW* only, which touch no memory.
    check(unsafe { libc::unshare(flags) }.into()).map(drop)
}

/// Enters name spaces, of a kind or of a process.
pub(crate) fn setns(fd: BorrowedFd<'_>, kind: i32) -> io::Result<()> {
    // SAFETY: takes a descriptor that is open while it is borrowed, and a number.
    check(unsafe { libc::setns(fd.as_raw_fd(), kind) }.into()).map(drop)
}

/// A descriptor of a process.
pub(crate) fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes two numbers.
    let fd = int(check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A copy of a descriptor of another process.
pub(crate) fn pidfd_getfd(pidfd: BorrowedFd<'_>, fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes a descriptor that is open while it is borrowed, and numbers.
    let fd = int(check(unsafe { libc::syscall(libc::SYS_pidfd_getfd, pidfd.as_raw_fd(), fd, 0) })?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A signal by descriptor.
pub(crate) fn pidfd_send_signal(pidfd: BorrowedFd<'_>, signal: i32) -> io::Result<()> {
    // SAFETY: a null `siginfo` is allowed and means what `kill` means.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd.as_raw_fd(), signal, 0, 0) };
    check(result).map(drop)
}

/// A signal to one thread.
pub(crate) fn tgkill(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: takes three numbers.
    check(unsafe { libc::syscall(libc::SYS_tgkill, pid, pid, signal) }).map(drop)
}

/// A signal with a value, as `sigqueue(3)` sends it.
pub(crate) fn sigqueue(pid: i32, signal: i32) -> io::Result<()> {
    // SAFETY: takes numbers; `sigval` is a plain union, of which the kernel passes the bits on.
    check(unsafe { libc::sigqueue(pid, signal, libc::sigval { sival_ptr: std::ptr::null_mut() }) }.into())
        .map(drop)
}

/// Whether two processes share the table of descriptors (`KCMP_FILES`): asks for the right to trace both.
pub(crate) fn kcmp(one: i32, other: i32) -> io::Result<i64> {
    // SAFETY: takes five numbers.
    check(unsafe { libc::syscall(libc::SYS_kcmp, one, other, 2, 0, 0) })
}

/// Moves no page of a process.
pub(crate) fn move_no_pages(pid: i32) -> io::Result<()> {
    // SAFETY: with a count of 0 the kernel reads and writes none of the arrays.
    check(unsafe { libc::syscall(libc::SYS_move_pages, pid, 0, 0, 0, 0, 0) }).map(drop)
}

/// Moves the pages of a process from no node to no node.
pub(crate) fn migrate_no_pages(pid: i32) -> io::Result<()> {
    let none: [u64; 1] = [0];
    // SAFETY: the kernel reads one word of each mask (`maxnode` counts bits and is one more than it reads).
    check(unsafe { libc::syscall(libc::SYS_migrate_pages, pid, 65, none.as_ptr(), none.as_ptr()) }).map(drop)
}

/// Advises on memory of another process that it is not needed soon; its content stays.
pub(crate) fn process_madvise_cold(pidfd: BorrowedFd<'_>, address: u64) -> io::Result<i64> {
    let page = address & !0xfff;
    let ranges: [[u64; 2]; 1] = [[page, 0x1000]];
    // SAFETY: the kernel reads one `iovec` (two words); its address is one of the other process and never used here. MADV_COLD (20)
    // loses no content.
    check(unsafe { libc::syscall(libc::SYS_process_madvise, pidfd.as_raw_fd(), ranges.as_ptr(), 1, 20, 0) })
}

/// Sets a process's limit on core files to what it is.
pub(crate) fn prlimit_same(pid: i32) -> io::Result<()> {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one `rlimit64` to a variable of that type.
    check(unsafe { libc::prlimit64(pid, libc::RLIMIT_CORE, std::ptr::null(), &raw mut limit) }.into())?;
    // SAFETY: the kernel reads one `rlimit64`, and writes nothing.
    check(unsafe { libc::prlimit64(pid, libc::RLIMIT_CORE, &raw const limit, std::ptr::null_mut()) }.into())
        .map(drop)
}

/// Sets a process's nice value to what it is.
pub(crate) fn setpriority_same(pid: i32) -> io::Result<()> {
    let who = u32::try_from(pid).map_err(io::Error::other)?;
    // SAFETY: takes numbers. The raw call gives 20 minus the nice value, which is never negative, so that -1 is an error.
    let value = check(unsafe { libc::syscall(libc::SYS_getpriority, libc::PRIO_PROCESS, who) })?;
    let nice = 20 - int(value)?;
    // SAFETY: takes numbers.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, who, nice) }.into()).map(drop)
}

/// Asks for the scheduling of real-time programs, for this process.
pub(crate) fn become_realtime() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the kernel reads one `sched_param`.
    check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) }.into()).map(drop)
}

/// `prctl` with a number.
pub(crate) fn prctl(option: i32, value: u64) -> io::Result<i32> {
    // SAFETY: callers pass options that take a number (PR_SET_PTRACER, PR_GET_SECUREBITS, PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS).
    check(unsafe { libc::prctl(option, value, 0, 0, 0) }.into()).and_then(int)
}

/// Gives this process a personality, or asks for it (`0xffff_ffff`).
pub(crate) fn personality(value: u64) -> io::Result<u64> {
    // SAFETY: takes a number. It changes how later programs and mappings are laid out, none that is there.
    let before = check(unsafe { libc::syscall(libc::SYS_personality, value) })?;
    u64::try_from(before).map_err(io::Error::other)
}

/// Ignores a signal from now on.
pub(crate) fn ignore(signal: nix::sys::signal::Signal) -> io::Result<()> {
    // SAFETY: no handler is installed, so that none can run at a bad moment.
    unsafe { nix::sys::signal::signal(signal, nix::sys::signal::SigHandler::SigIgn) }?;
    Ok(())
}

/// Makes a pipe whose readers are told by SIGUSR1, sent by the kernel, to `pid`; and writes to it.
pub(crate) fn signal_by_pipe(pid: i32) -> io::Result<()> {
    let (reader, writer) = io::pipe()?;
    let fd = reader.as_raw_fd();
    // SAFETY: three `fcntl` with numbers on a descriptor that is open.
    check(unsafe { libc::fcntl(fd, libc::F_SETOWN, pid) }.into())?;
    // F_SETSIG, which the library has not got.
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd, 10, libc::SIGUSR1) }.into())?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) }.into())?;
    io::Write::write_all(&mut &writer, b"!")
}

/// A seccomp filter that lets everything through, with a descriptor that would be asked. `Err(EBUSY)`: somebody has one already.
pub(crate) fn seccomp_listener() -> io::Result<OwnedFd> {
    let allow = [libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW }];
    let program = libc::sock_fprog { len: 1, filter: allow.as_ptr().cast_mut() };
    // SAFETY: the kernel reads one `sock_fprog` and the one instruction it points to, both alive here.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, 1, 1 << 3, &raw const program) };
    let fd = int(check(result)?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// An array of one number for programs in the kernel.
pub(crate) fn bpf_map() -> io::Result<OwnedFd> {
    // `union bpf_attr` for BPF_MAP_CREATE: type (2, an array), size of keys, of values, number; the rest is zero.
    let mut attributes = [0_u32; 32];
    attributes[..4].copy_from_slice(&[2, 4, 4, 1]);
    // SAFETY: the kernel reads 128 bytes, which are there.
    let result = unsafe { libc::syscall(libc::SYS_bpf, 0, attributes.as_ptr(), size_of_val(&attributes)) };
    let fd = int(check(result)?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A counter of this process's time, or of a whole processor's.
pub(crate) fn perf_event(pid: i32, cpu: i32) -> io::Result<OwnedFd> {
    // `struct perf_event_attr`, first version: type (1, software), size, config (0, the clock), …; bit flags in the sixth word.
    let mut attributes = [0_u64; 8];
    attributes[0] = 1 | (64 << 32);
    // disabled, exclude_kernel, exclude_hv.
    attributes[5] = 1 | (1 << 5) | (1 << 6);
    // SAFETY: the kernel reads the 64 bytes that `size` names.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, attributes.as_ptr(), pid, cpu, -1, 0) };
    let fd = int(check(fd)?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A ring for calls that no filter of calls sees.
pub(crate) fn io_uring() -> io::Result<OwnedFd> {
    // `struct io_uring_params` is 120 bytes.
    let mut parameters = [0_u64; 15];
    // SAFETY: the kernel reads and writes 120 bytes, which are there and may be written.
    let fd = int(check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, parameters.as_mut_ptr()) })?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets the time to what it is.
pub(crate) fn settimeofday_same() -> io::Result<()> {
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: both calls take one `timeval`, to write and to read; a null time zone is allowed.
    unsafe {
        check(libc::gettimeofday(&raw mut now, std::ptr::null_mut()).into())?;
        check(libc::settimeofday(&raw const now, std::ptr::null()).into()).map(drop)
    }
}

/// Sets the kernel's clock status to what it is.
pub(crate) fn adjtimex_same() -> io::Result<()> {
    // SAFETY: `timex` is plain numbers, for which zero is a value.
    let mut time: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel reads and writes one `timex`. Modes of 0 ask only.
    check(unsafe { libc::adjtimex(&raw mut time) }.into())?;
    // ADJ_STATUS, with the status that was just read.
    time.modes = 0x10;
    // SAFETY: as above.
    check(unsafe { libc::adjtimex(&raw mut time) }.into()).map(drop)
}
