//! Replacing the program of this process.

use std::ffi::{CStr, CString};
use std::ptr;

use super::Errno;

/// Strings as `execve` takes them: pointers, ended by a null pointer. Made before the child is.
#[derive(Debug)]
pub(crate) struct ExecStrings {
    // What `pointers` points into; moving the vector moves no string.
    _strings: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

impl ExecStrings {
    pub(crate) fn new(strings: Vec<CString>) -> Self {
        let ends = std::iter::once(ptr::null());
        let pointers = strings.iter().map(|string| string.as_ptr()).chain(ends).collect();
        Self { _strings: strings, pointers }
    }
}

// SAFETY: the pointers lead into strings that the value owns and nobody changes.
unsafe impl Send for ExecStrings {}
// SAFETY: as above.
unsafe impl Sync for ExecStrings {}

/// Runs `program` in this process. Returns only where that failed.
pub(crate) fn execute(program: &CStr, arguments: &ExecStrings, environment: &ExecStrings) -> Errno {
    // SAFETY: `program` ends with a zero byte; both lists end with a null pointer and point to strings that live as long.
    unsafe {
        libc::execve(program.as_ptr(), arguments.pointers.as_ptr(), environment.pointers.as_ptr());
    }
    Errno::last()
}
