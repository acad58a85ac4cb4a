//! Calls as they are seen: what is to be read of each, and what it means.

use std::sync::Arc;
use std::time::Instant;

use skillsandbox_egress::Attempt;

use super::{Actor, Operation};
use crate::refusals::RefusedCall;

/// One call, with what only its caller could tell while it waited.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) at: Instant,
    pub(crate) actor: Option<Arc<Actor>>,
    pub(crate) what: RawTried,
}

#[derive(Debug)]
pub(crate) enum RawTried {
    File { operation: Operation, path: RawPath, to: Option<RawPath> },
    Exec { path: RawPath, arguments: Vec<Vec<u8>> },
    Network(Attempt),
    Refused(RefusedCall),
}

/// A path as a program gave it, and where it begins if not at the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawPath {
    pub(crate) text: Vec<u8>,
    /// The folder that a relative path begins in; `None` for absolute ones, or where it could not be read.
    pub(crate) base: Option<Vec<u8>>,
}

/// Which arguments of a call are what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) operation: What,
    pub(super) path: Place,
    pub(super) to: Option<Place>,
}

/// A path among the arguments: that of the path itself, and that of the folder's descriptor, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: usize,
    pub(super) folder: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Reading or writing, by the flags in this argument.
    Open(usize),
    Does(Operation),
    /// Executes, with the arguments that this one points to.
    Exec(usize),
}

const fn at(path: usize) -> Place {
    Place { path, folder: None }
}

const fn below(folder: usize, path: usize) -> Place {
    Place { path, folder: Some(folder) }
}

const fn one(operation: Operation, path: Place) -> Shape {
    Shape { operation: What::Does(operation), path, to: None }
}

const fn two(operation: Operation, path: Place, to: Place) -> Shape {
    Shape { operation: What::Does(operation), path, to: Some(to) }
}

/// What is to be read of a call; `None` for those that are not observed.
pub(super) fn shape(number: i32) -> Option<Shape> {
    use Operation::{
        ChangeAttributes, ChangeMode, Link, MakeFolder, MakeNode, Remove, Rename, Symlink, Truncate, Write,
    };
    let number = i64::from(number);
    #[cfg(target_arch = "x86_64")]
    match number {
        libc::SYS_open => return Some(Shape { operation: What::Open(1), path: at(0), to: None }),
        libc::SYS_creat => return Some(one(Write, at(0))),
        libc::SYS_unlink | libc::SYS_rmdir => return Some(one(Remove, at(0))),
        libc::SYS_rename => return Some(two(Rename, at(0), at(1))),
        libc::SYS_link => return Some(two(Link, at(0), at(1))),
        // What the link says is no path that is opened; where it is made is.
        libc::SYS_symlink => return Some(two(Symlink, at(1), at(0))),
        libc::SYS_mkdir => return Some(one(MakeFolder, at(0))),
        libc::SYS_mknod => return Some(one(MakeNode, at(0))),
        libc::SYS_chmod | libc::SYS_chown | libc::SYS_lchown => return Some(one(ChangeMode, at(0))),
        _ => {}
    }
    Some(match number {
        libc::SYS_openat => Shape { operation: What::Open(2), path: below(0, 1), to: None },
        libc::SYS_execve => Shape { operation: What::Exec(1), path: at(0), to: None },
        libc::SYS_execveat => Shape { operation: What::Exec(2), path: below(0, 1), to: None },
        libc::SYS_unlinkat => one(Remove, below(0, 1)),
        libc::SYS_renameat | libc::SYS_renameat2 => two(Rename, below(0, 1), below(2, 3)),
        libc::SYS_linkat => two(Link, below(0, 1), below(2, 3)),
        libc::SYS_symlinkat => two(Symlink, below(1, 2), at(0)),
        libc::SYS_mkdirat => one(MakeFolder, below(0, 1)),
        libc::SYS_mknodat => one(MakeNode, below(0, 1)),
        libc::SYS_truncate => one(Truncate, at(0)),
        libc::SYS_fchmodat | libc::SYS_fchownat | libc::SYS_fchmodat2 => one(ChangeMode, below(0, 1)),
        libc::SYS_setxattr | libc::SYS_lsetxattr | libc::SYS_removexattr | libc::SYS_lremovexattr => {
            one(ChangeAttributes, at(0))
        }
        SETXATTRAT | REMOVEXATTRAT => one(ChangeAttributes, below(0, 1)),
        _ => return None,
    })
}

/// Newer than the names that the C library has for them.
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;

/// Whether flags of `open` mean that something is written or made.
pub(super) fn writes(flags: u64) -> bool {
    let flags = i32::try_from(flags & 0xffff_ffff).unwrap_or_default();
    flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0
}
