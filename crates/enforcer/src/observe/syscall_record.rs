//! Calls as they are observed: which arguments are read of each, and what they mean.

use std::sync::Arc;
use std::time::Instant;

use skillsandbox_egress::Attempt;

use super::path_resolver::ResolvedPath;
use super::refusals::RefusedCall;
use super::{AccessVerdict, Actor};
use skillsandbox_terms::FileOperation;

/// One call, with what only its caller could tell while it waited.
#[derive(Debug)]
pub(crate) struct SyscallRecord {
    pub(crate) at: Instant,
    pub(crate) actor: Option<Arc<Actor>>,
    pub(crate) action: RecordedAction,
}

#[derive(Debug)]
pub(crate) enum RecordedAction {
    File {
        operation: FileOperation,
        path: CallerPath,
        to: Option<CallerPath>,
    },
    Exec {
        path: CallerPath,
        arguments: ProgramArguments,
    },
    /// To connect to what is bound at a path. The verdict is what was done, where something was there.
    Connect {
        path: CallerPath,
        verdict: Option<AccessVerdict>,
    },
    /// To connect to a name that is in no file system.
    ConnectAbstract {
        name: Vec<u8>,
        is_reached: bool,
    },
    Network(Attempt),
    Refused(RefusedCall),
}

/// The arguments of a program: the first of them, and of each the beginning.
#[derive(Debug, Default)]
pub(crate) struct ProgramArguments {
    pub(crate) texts: Vec<Vec<u8>>,
    /// There are more, or longer ones, or some that could not be read.
    pub(crate) are_cut: bool,
}

/// A path as a program gave it, and where it begins if not at the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallerPath {
    pub(crate) text: Vec<u8>,
    /// The folder that a relative path begins in; `None` for absolute ones.
    pub(crate) base: Option<Vec<u8>>,
    /// Whether the last part is followed if it is a link.
    pub(crate) follows: bool,
    /// Whether the last part is made if it is not there.
    pub(crate) makes: bool,
    /// Where it led when it was named, if that can change.
    pub(crate) resolved: Option<ResolvedPath>,
    is_descriptor: bool,
}

impl CallerPath {
    pub(crate) fn new(text: Vec<u8>, base: Option<Vec<u8>>, follows: bool, makes: bool) -> Self {
        Self { text, base, follows, makes, resolved: None, is_descriptor: false }
    }

    /// A call that takes an empty path for the descriptor itself.
    pub(super) fn or_descriptor(mut self) -> Self {
        self.is_descriptor = true;
        self
    }

    /// Whether an empty path means what the descriptor is of.
    pub(super) fn is_descriptor(&self) -> bool {
        self.is_descriptor
    }
}

/// Which arguments of a call are what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SyscallShape {
    pub(super) operation: SyscallKind,
    pub(super) path: PathArgument,
    pub(super) to: Option<PathArgument>,
}

/// A path among the arguments: that of the path itself, and that of the folder's descriptor, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathArgument {
    pub(super) path: usize,
    pub(super) folder: Option<usize>,
    pub(super) last: LastComponent,
}

/// What becomes of the last part of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastComponent {
    /// A link is followed.
    Followed,
    /// A link is meant itself.
    Itself,
    /// It is made: a link in its place is not followed.
    Made,
    /// It is made, or emptied: a link is followed.
    Written,
    /// A link is followed unless this argument has this bit.
    Unless(usize, u32),
    /// A link is followed if this argument has this bit.
    If(usize, u32),
    /// As the flags of `open` in this argument say.
    Opened(usize),
}

impl LastComponent {
    /// Whether a link is followed, and whether something is made that is not there.
    pub(super) fn is_followed_or_made(self, argument: impl Fn(usize) -> u64) -> (bool, bool) {
        let has = |index, bit: u32| argument(index) & u64::from(bit) != 0;
        match self {
            Self::Followed => (true, false),
            Self::Itself => (false, false),
            Self::Made => (false, true),
            Self::Written => (true, true),
            Self::Unless(index, bit) => (!has(index, bit), false),
            Self::If(index, bit) => (has(index, bit), false),
            Self::Opened(index) => {
                let has = |bit: i32| has(index, bit.cast_unsigned());
                let makes = has(libc::O_CREAT);
                (!(has(libc::O_NOFOLLOW) || makes && has(libc::O_EXCL)), makes)
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyscallKind {
    /// Reading or writing, by the flags in this argument.
    Open(usize),
    Does(FileOperation),
    /// Executes, with the arguments that this one points to.
    Exec(usize),
}

/// `AT_SYMLINK_NOFOLLOW` and `AT_SYMLINK_FOLLOW`.
const NOFOLLOW: u32 = libc::AT_SYMLINK_NOFOLLOW.cast_unsigned();
const FOLLOW: u32 = libc::AT_SYMLINK_FOLLOW.cast_unsigned();

const fn at(path: usize, last: LastComponent) -> PathArgument {
    PathArgument { path, folder: None, last }
}

const fn below(folder: usize, path: usize, last: LastComponent) -> PathArgument {
    PathArgument { path, folder: Some(folder), last }
}

const fn one(operation: FileOperation, path: PathArgument) -> SyscallShape {
    SyscallShape { operation: SyscallKind::Does(operation), path, to: None }
}

const fn two(operation: FileOperation, path: PathArgument, to: PathArgument) -> SyscallShape {
    SyscallShape { operation: SyscallKind::Does(operation), path, to: Some(to) }
}

/// What is to be read of a call; `None` for those that are not observed.
pub(super) fn syscall_shape(number: i32) -> Option<SyscallShape> {
    use FileOperation::{
        ChangeAttributes, ChangeMode, Link, MakeFolder, MakeNode, Read, Remove, Rename, Symlink, Truncate,
        Write,
    };
    use LastComponent::{Followed, If, Itself, Made, Opened, Unless};
    let number = i64::from(number);
    #[cfg(target_arch = "x86_64")]
    match number {
        libc::SYS_open => {
            return Some(SyscallShape { operation: SyscallKind::Open(1), path: at(0, Opened(1)), to: None });
        }
        // It makes a file, through a link too.
        libc::SYS_creat => return Some(one(Write, at(0, LastComponent::Written))),
        libc::SYS_unlink | libc::SYS_rmdir => return Some(one(Remove, at(0, Itself))),
        libc::SYS_rename => return Some(two(Rename, at(0, Itself), at(1, Made))),
        libc::SYS_link => return Some(two(Link, at(0, Itself), at(1, Made))),
        // The text of the link is not opened; the path where it is made is.
        libc::SYS_symlink => return Some(two(Symlink, at(1, Made), at(0, Followed))),
        libc::SYS_mkdir => return Some(one(MakeFolder, at(0, Made))),
        libc::SYS_mknod => return Some(one(MakeNode, at(0, Made))),
        libc::SYS_chmod | libc::SYS_chown => return Some(one(ChangeMode, at(0, Followed))),
        libc::SYS_lchown => return Some(one(ChangeMode, at(0, Itself))),
        _ => {}
    }
    Some(match number {
        libc::SYS_openat => {
            SyscallShape { operation: SyscallKind::Open(2), path: below(0, 1, Opened(2)), to: None }
        }
        libc::SYS_execve => SyscallShape { operation: SyscallKind::Exec(1), path: at(0, Followed), to: None },
        libc::SYS_execveat => {
            SyscallShape { operation: SyscallKind::Exec(2), path: below(0, 1, Unless(4, NOFOLLOW)), to: None }
        }
        libc::SYS_unlinkat => one(Remove, below(0, 1, Itself)),
        libc::SYS_renameat | libc::SYS_renameat2 => two(Rename, below(0, 1, Itself), below(2, 3, Made)),
        libc::SYS_linkat => two(Link, below(0, 1, If(4, FOLLOW)), below(2, 3, Made)),
        libc::SYS_symlinkat => two(Symlink, below(1, 2, Made), at(0, Followed)),
        libc::SYS_mkdirat => one(MakeFolder, below(0, 1, Made)),
        libc::SYS_mknodat => one(MakeNode, below(0, 1, Made)),
        libc::SYS_truncate => one(Truncate, at(0, Followed)),
        libc::SYS_fchmodat => one(ChangeMode, below(0, 1, Followed)),
        libc::SYS_fchmodat2 => one(ChangeMode, below(0, 1, Unless(3, NOFOLLOW))),
        libc::SYS_fchownat => one(ChangeMode, below(0, 1, Unless(4, NOFOLLOW))),
        libc::SYS_setxattr | libc::SYS_removexattr => one(ChangeAttributes, at(0, Followed)),
        libc::SYS_lsetxattr | libc::SYS_lremovexattr => one(ChangeAttributes, at(0, Itself)),
        libc::SYS_getxattr | libc::SYS_listxattr | libc::SYS_chdir => one(Read, at(0, Followed)),
        libc::SYS_lgetxattr | libc::SYS_llistxattr => one(Read, at(0, Itself)),
        GETXATTRAT | LISTXATTRAT => one(Read, below(0, 1, Unless(2, NOFOLLOW))),
        libc::SYS_inotify_add_watch => one(Read, at(1, Unless(2, libc::IN_DONT_FOLLOW))),
        SETXATTRAT | REMOVEXATTRAT => one(ChangeAttributes, below(0, 1, Unless(2, NOFOLLOW))),
        _ => return None,
    })
}

/// Newer than the names that the C library has for them.
const SETXATTRAT: i64 = 463;
const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const REMOVEXATTRAT: i64 = 466;

/// Whether flags of `open` mean that something is written or made. The kernel takes no notice of bits that it does not know.
pub(super) fn opens_to_write(flags: u64) -> bool {
    let has = |bits: i32| flags & u64::from(bits.cast_unsigned()) != 0;
    has(libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_as_the_kernel_reads_them() {
        for (flags, expected) in [
            (libc::O_RDONLY, false),
            (libc::O_WRONLY, true),
            (libc::O_RDWR, true),
            (libc::O_ACCMODE, true),
            (libc::O_RDONLY | libc::O_CREAT, true),
            (libc::O_RDONLY | libc::O_TRUNC, true),
            (libc::O_PATH | libc::O_CLOEXEC, false),
        ] {
            for unknown in [0, 1 << 31, 1 << 32, u64::from(u32::MAX) << 32] {
                let flags = u64::from(flags.cast_unsigned()) | unknown;
                assert_eq!(opens_to_write(flags), expected, "{flags:x}");
            }
        }
    }
}
