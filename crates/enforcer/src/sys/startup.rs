//! What this program was started with.
//!
//! The standard library opens /dev/null in the place of a standard stream that is closed, before `main`. A result that is written there is lost
//! without a word, so it has to be found out before that.

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

// SAFETY: the section holds functions that the C library calls before `main`, with arguments that this one does not take.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    // SAFETY: asks for the flags of a descriptor by its number.
    let is_open = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } >= 0;
    STDOUT_CLOSED.store(!is_open, Ordering::Relaxed);
}

/// Whether this program was started with its standard output closed: what it prints reaches nobody, and no write says so.
#[must_use]
pub fn is_stdout_closed() -> bool {
    STDOUT_CLOSED.load(Ordering::Relaxed)
}
