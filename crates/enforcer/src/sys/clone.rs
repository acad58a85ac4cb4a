//! A new process, in new namespaces where asked for.

use std::mem::size_of;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use super::{Result, checked};

/// Too large for the type that the constants of libc have (linux/sched.h).
const CLONE_CLEAR_SIGHAND: u64 = 1 << 32;

/// A process that was made, seen from the one that made it.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    pub(crate) pid: i32,
    /// Refers to this process and to no other that may get its number later.
    pub(crate) pidfd: OwnedFd,
}

/// Children that send no signal at their end are only waited for where that is asked for.
pub(crate) const EVERY_KIND: WaitIdOptions = WaitIdOptions::from_bits_retain(libc::__WALL.cast_unsigned());

impl ChildProcess {
    /// Ends it, with its whole pid namespace where it is the init of one.
    pub(crate) fn kill(&self) {
        if rustix::process::pidfd_send_signal(&self.pidfd, Signal::KILL).is_ok() {
            return;
        }
        // Something forbids that call. The number is still its own as long as it was not waited for.
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
    }

    /// Waits until it has ended, with its whole pid namespace where it is the init of one.
    pub(crate) fn reap(&self) {
        let wait = || waitid(WaitId::PidFd(self.pidfd.as_fd()), WaitIdOptions::EXITED | EVERY_KIND);
        let _ = rustix::io::retry_on_intr(wait);
    }
}

/// Makes a process with a copy of this one's memory; it runs `main` and ends with what `main` returns.
///
/// The kernel is called directly: the handlers that `fork` of the C library runs may take locks. `main` must therefore keep
/// to kernel calls (the functions of `sys` and of rustix), allocate nothing, take no lock and not panic.
pub(crate) fn child(namespaces: i32, main: impl FnOnce() -> i32) -> Result<ChildProcess> {
    let mut pidfd: i32 = -1;
    // SAFETY: all fields of the structure may be zero.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    let namespaces = u64::from(namespaces.cast_unsigned());
    // CLONE_CLEAR_SIGHAND: no handler of the embedding program may run in the child.
    args.flags = namespaces | u64::from(libc::CLONE_PIDFD.cast_unsigned()) | CLONE_CLEAR_SIGHAND;
    args.pidfd = (&raw mut pidfd) as u64;
    // No exit signal: the embedding program gets no SIGCHLD for a process it did not make, and its own `waitpid(-1)` does
    // not take this one away from us.
    args.exit_signal = 0;
    // SAFETY: `args` is a valid structure of the size given, and `pidfd` outlives the call. Without CLONE_VM the child has
    // its own copy of the memory and goes on here, as after fork(2).
    let result = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    let pid = checked(result)?;
    if pid == 0 {
        let code = main();
        // SAFETY: ends the process at once; nothing of the copied memory is touched, no exit handler runs.
        unsafe { libc::_exit(code) };
    }
    // SAFETY: the kernel wrote a new descriptor there, which nobody else owns.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(ChildProcess { pid: i32::try_from(pid).unwrap_or(i32::MAX), pidfd })
}

/// A second process inside the sandbox, made by its init: it becomes the command. Like [`child`], without a descriptor for it. `number` is the one it
/// is to have in its pid namespace, where that is not the next one.
///
/// It uses the init's own memory until it executes the program or ends, and the init waits meanwhile, as with vfork(2): to copy what is thrown
/// away at once takes longer than most of what is done in it. It has a stack of its own, so that neither sees what the other keeps on its own.
#[cfg(target_arch = "x86_64")]
pub(crate) fn grandchild<F: FnOnce() -> i32>(number: Option<i32>, main: F) -> Result<i32> {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

    /// Runs what is to be run on the new stack.
    ///
    /// # Safety
    /// `main` points to an `F` in an `Option` that nobody else uses until the process has ended or executed a program.
    unsafe extern "C" fn begin<F: FnOnce() -> i32>(main: *mut Option<F>) -> ! {
        // SAFETY: as the caller says.
        let main = unsafe { &mut *main }.take();
        let code = main.map_or(1, |main| main());
        // SAFETY: ends this process alone, at once; no exit handler runs.
        unsafe { libc::_exit(code) };
    }

    // SAFETY: new memory, which nothing else refers to.
    let stack = unsafe {
        mmap_anonymous(std::ptr::null_mut(), STACK, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
    };
    // SAFETY: the lowest page of that memory, in which nothing lies yet: whoever goes below the stack ends there.
    unsafe { mprotect(stack, STACK_GUARD, MprotectFlags::empty())? };
    // SAFETY: all fields of the structure may be zero.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.flags = u64::from((libc::CLONE_VM | libc::CLONE_VFORK).cast_unsigned());
    args.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    args.stack = stack as u64;
    args.stack_size = STACK as u64;
    if let Some(number) = &number {
        args.set_tid = std::ptr::from_ref(number) as u64;
        args.set_tid_size = 1;
    }
    // The other process takes it out; what it never gets to drop is borrowed from this one anyway.
    let mut main = Some(main);
    let result: i64;
    // SAFETY: `args` is a valid structure of the size given. The new process begins behind the call on its own stack, whose end is aligned to a
    // page, and never leaves `begin`; this one goes on only when the other no longer uses this memory, with its own registers as they were.
    unsafe {
        std::arch::asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, {main}",
            "call {begin}",
            "ud2",
            "2:",
            main = in(reg) &raw mut main,
            begin = in(reg) begin::<F> as unsafe extern "C" fn(*mut Option<F>) -> !,
            inlateout("rax") libc::SYS_clone3 => result,
            in("rdi") &raw const args,
            in("rsi") size_of::<libc::clone_args>(),
            out("rcx") _,
            out("r11") _,
        );
    }
    // SAFETY: nobody uses it any more.
    unsafe { munmap(stack, STACK)? };
    if result < 0 {
        return Err(super::Errno(i32::try_from(-result).unwrap_or(libc::EINVAL)));
    }
    Ok(i32::try_from(result).unwrap_or(i32::MAX))
}

/// Bytes of the stack of a process that uses another's memory, and of what lies below it. It needs less than a tenth.
#[cfg(target_arch = "x86_64")]
const STACK: usize = 256 << 10;
#[cfg(target_arch = "x86_64")]
const STACK_GUARD: usize = 4 << 10;

/// The same with a copy of the memory.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn grandchild(number: Option<i32>, main: impl FnOnce() -> i32) -> Result<i32> {
    // SAFETY: all fields of the structure may be zero.
    let mut args: libc::clone_args = unsafe { std::mem::zeroed() };
    args.exit_signal = u64::from(libc::SIGCHLD.cast_unsigned());
    if let Some(number) = &number {
        args.set_tid = std::ptr::from_ref(number) as u64;
        args.set_tid_size = 1;
    }
    // SAFETY: as in `child`.
    let result = unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size_of::<libc::clone_args>()) };
    let pid = checked(result)?;
    if pid == 0 {
        let code = main();
        // SAFETY: as in `child`.
        unsafe { libc::_exit(code) };
    }
    Ok(i32::try_from(pid).unwrap_or(i32::MAX))
}
