//! Signals: what a child inherits of them, and waiting for them.

use std::mem::MaybeUninit;
use std::ptr;

use super::{Errno, Result, checked};

/// The number of signals the kernel knows.
const COUNT: i32 = 64;

/// The kernel's own set: one bit a signal. The C library's is larger, and its calls hide two signals.
const SET_SIZE: usize = 8;

/// Every signal does what it does by default, ignored ones too, which `exec` would hand on.
pub(crate) fn reset() {
    /// `struct sigaction` as the kernel has it: handler, flags, restorer, mask; all zero is the default.
    #[repr(C)]
    struct SignalAction([u64; 4]);
    let default = SignalAction([0; 4]);
    for signal in 1..=COUNT {
        // KILL and STOP answer EINVAL, which is as good.
        // SAFETY: the structure is at least as large as the kernel reads; nothing is written.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                &raw const default,
                ptr::null_mut::<SignalAction>(),
                SET_SIZE,
            );
        }
    }
}

/// Blocks exactly the signals of `mask` (bit 0 is signal 1) in this thread; tells what was blocked before.
pub(crate) fn block(mask: u64) -> Result<u64> {
    let mut before = 0_u64;
    // SAFETY: both sets have the size given.
    let result = unsafe {
        libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const mask, &raw mut before, SET_SIZE)
    };
    checked(result)?;
    Ok(before)
}

/// The bit of a signal in a mask.
pub(crate) const fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// A signal that arrived, and whether a process outside the pid namespace sent it by `kill` or its like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrivedSignal {
    pub(crate) signal: i32,
    pub(crate) from_outside: bool,
}

/// Waits for one of the blocked signals of `mask`.
pub(crate) fn wait(mask: u64) -> Result<ArrivedSignal> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        // SAFETY: the set has the size given; `info` is large enough; there is no time limit.
        let result = unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const mask,
                info.as_mut_ptr(),
                ptr::null::<libc::timespec>(),
                SET_SIZE,
            )
        };
        match checked(result) {
            Ok(signal) => {
                // SAFETY: zeroed, then filled by the kernel: every bit pattern is a valid number.
                let info = unsafe { info.assume_init() };
                // SAFETY: as above.
                let (sender, user) = unsafe { (info.si_pid(), info.si_uid()) };
                // Who is outside has no number in here. But anybody can write 0 there by rt_sigqueueinfo(2), which leaves
                // another code; and where there were too many signals to remember, the kernel says 0 for the sender and also
                // for the user, a number that is nobody's in the sandbox.
                let from_outside = info.si_code == libc::SI_USER && sender == 0 && user != 0;
                return Ok(ArrivedSignal { signal: i32::try_from(signal).unwrap_or(0), from_outside });
            }
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Sends a signal to every process of this pid namespace but its init, which calls this.
pub(crate) fn send_to_all(signal: i32) {
    // SAFETY: sends signals; touches no memory. In a pid namespace -1 means its processes only.
    unsafe { libc::kill(-1, signal) };
}

/// Whether a thread belongs to a process.
pub(crate) fn is_thread_of(process: u32, thread: u32) -> bool {
    // SAFETY: takes numbers. Signal 0 is sent to nobody.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `siginfo_t` as `rt_sigqueueinfo(2)` takes it: signal, error, code, and from the fourth number on sender and user.
    fn queue(signal: i32, code: i32, sender: i32, user: i32) {
        let mut info = [0_i32; 32];
        (info[0], info[2], info[4], info[5]) = (signal, code, sender, user);
        let (process, thread) = (std::process::id(), rustix::thread::gettid().as_raw_nonzero().get());
        // SAFETY: the structure has the size that the kernel reads.
        let sent =
            unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info.as_ptr()) };
        assert_eq!(sent, 0);
    }

    #[test]
    fn a_signal_that_only_says_that_it_comes_from_outside_does_not() {
        let signal = libc::SIGUSR2;
        let before = block(bit(signal)).unwrap();
        // One's own process may be sent any code, and so also what kill(2) leaves.
        queue(signal, libc::SI_USER, 0, 1000);
        assert!(wait(bit(signal)).unwrap().from_outside, "control: what the supervisor's looks like");
        queue(signal, libc::SI_QUEUE, 0, 1000);
        assert!(!wait(bit(signal)).unwrap().from_outside, "forged by rt_sigqueueinfo");
        queue(signal, libc::SI_TKILL, 0, 1000);
        assert!(!wait(bit(signal)).unwrap().from_outside, "forged by tgkill");
        queue(signal, libc::SI_USER, 0, 0);
        assert!(!wait(bit(signal)).unwrap().from_outside, "what is left when the queue is full");
        queue(signal, libc::SI_USER, 7, 1000);
        assert!(!wait(bit(signal)).unwrap().from_outside, "somebody inside");
        block(before).unwrap();
    }
}
