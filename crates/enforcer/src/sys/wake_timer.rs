//! A timer that interrupts the calls of the thread that made it, so that none of them waits for longer than a moment.
//!
//! What says whether a call on a socket waits is part of what all share who have that socket. So whoever calls on the socket of somebody
//! else cannot choose not to wait; that it stops waiting, it can.

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use super::signals::{bit, block};
use super::{Errno, Result, checked};

/// How long a call waits at most, in nanoseconds. It is interrupted again and again: the first time may be just before it waits.
const PERIOD: libc::c_long = 2_000_000;

/// The thread's own; not to be used by another one.
#[derive(Debug)]
pub(crate) struct WakeTimer {
    id: libc::c_int,
}

impl WakeTimer {
    /// A timer of the calling thread, which takes no other signal from now on.
    pub(crate) fn start() -> Result<Self> {
        static SIGNAL: OnceLock<Option<i32>> = OnceLock::new();
        let signal = (*SIGNAL.get_or_init(take_signal)).ok_or(Errno(libc::EBUSY))?;
        block(!bit(signal))?;
        // SAFETY: all zero is a valid value: numbers, and a pointer that is not used.
        let mut event: libc::sigevent = unsafe { MaybeUninit::zeroed().assume_init() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut id: libc::c_int = 0;
        // SAFETY: the kernel reads a structure of its own form and writes a number, both of which outlive the call.
        let made = unsafe {
            libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, &raw const event, &raw mut id)
        };
        checked(made)?;
        Ok(Self { id })
    }

    /// Makes a call that is interrupted where it would wait for long, and then fails with `EINTR` if it can.
    pub(crate) fn interrupting<T>(&self, call: impl FnOnce() -> T) -> T {
        self.set(PERIOD);
        let result = call();
        self.set(0);
        result
    }

    fn set(&self, nanoseconds: libc::c_long) {
        let period = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds };
        let times = libc::itimerspec { it_interval: period, it_value: period };
        // It fails for no timer that is there and no time that is one (timer_settime(2)).
        // SAFETY: the kernel reads a structure that outlives the call, and writes nothing.
        unsafe {
            libc::syscall(
                libc::SYS_timer_settime,
                self.id,
                0,
                &raw const times,
                ptr::null_mut::<libc::itimerspec>(),
            )
        };
    }
}

impl Drop for WakeTimer {
    fn drop(&mut self) {
        // SAFETY: takes a number.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.id) };
    }
}

/// A signal that the program has no use for, with a handler that does nothing: only then does it interrupt. Without a handler SIGURG is
/// ignored, so that it does no harm if somebody takes the handler away; the others are for programs that use it.
fn take_signal() -> Option<i32> {
    std::iter::once(libc::SIGURG).chain((libc::SIGRTMIN()..=libc::SIGRTMAX()).rev()).find(|signal| {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: nothing is set; the kernel's answer has room.
        if unsafe { libc::sigaction(*signal, ptr::null(), before.as_mut_ptr()) } != 0 {
            return false;
        }
        // SAFETY: zeroed, then filled in.
        let before = unsafe { before.assume_init() };
        if ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) {
            return false;
        }
        // SAFETY: all zero is a valid value: no flags, so that calls are not begun anew, and no signals.
        let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
        action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as usize;
        // SAFETY: the handler does nothing, which is safe whenever it is called.
        unsafe { libc::sigaction(*signal, &raw const action, ptr::null_mut()) == 0 }
    })
}

extern "C" fn do_nothing(_signal: libc::c_int) {}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_call_that_would_wait_for_ever_is_interrupted() {
        let (mut one, _other) = UnixStream::pair().unwrap();
        let timer = WakeTimer::start().unwrap();
        let read = timer.interrupting(|| std::io::Read::read(&mut one, &mut [0]));
        assert_eq!(read.unwrap_err().raw_os_error(), Some(libc::EINTR));
        // What does not wait is not disturbed.
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("s")).unwrap();
        assert!(timer.interrupting(|| UnixStream::connect(folder.path().join("s"))).is_ok());
        drop(listener);
    }
}
