//! Where this program's threads take memory from.

/// Has all threads that this program starts from now on share one heap. For programs that start a few short threads, as a run does: the C
/// library gives each a heap of its own otherwise, with four system calls, pages to fill and 128 MiB of addresses. A program with many busy
/// threads is better off without. Called before other threads exist.
///
/// Nothing but the time it takes depends on it; where the C library is not glibc, it does nothing.
pub fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a number of the allocator's own.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
