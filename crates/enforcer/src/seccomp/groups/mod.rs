//! The tables: what is allowed, by subject, and what is not.

mod denied;
mod files;
mod ioctl;
mod memory;
mod network;
mod own;
mod processes;
mod restricted;

use super::table::{CallGroup, DeniedGroup};
pub(super) use network::is_destination;
pub(super) use restricted::{RESTRICTED, counts, restricted};

/// Everything that some profile allows.
pub(super) const GROUPS: &[CallGroup] = &[
    files::FILES,
    files::MODES,
    files::MODES_STRICT,
    files::DESCRIPTORS,
    files::DESCRIPTORS_STRICT,
    files::WAITING,
    files::ASYNCHRONOUS,
    ioctl::DEVICES,
    ioctl::SOCKETS,
    memory::MEMORY,
    memory::SHARING,
    memory::TIME,
    processes::PROGRAMS,
    processes::NEW_PROCESSES,
    processes::THREADS,
    processes::OWN_SIGNALS,
    processes::SIGNALS,
    processes::SIGNALS_STRICT,
    processes::LIMITS,
    processes::LIMITS_STRICT,
    processes::IDENTITY,
    processes::SYSTEM,
    network::SOCKETS,
    network::UNIX_SOCKETS,
    network::CONNECTING,
    network::DESTINATIONS,
    network::LISTENER,
    own::SETTINGS,
    own::CONFINEMENT,
    own::REGISTERS,
];

/// What no profile allows.
pub(super) const DENIED: &[DeniedGroup] = denied::DENIED;

/// Numbers that no kernel used when the tables were written, up to where x86-64 has its x32 numbers. They answer `ENOSYS`: a C
/// library that tries a new call first and finds it missing takes the old one; told `EPERM`, it gives up.
pub(super) const FUTURE: std::ops::RangeInclusive<i32> = 472..=511;

/// Calls that are allowed and that a supervisor is asked about where everything is observed: those that name a file or a program.
pub(super) const OBSERVED: [&str; 40] = [
    "open",
    "openat",
    "creat",
    "execve",
    "execveat",
    "unlink",
    "unlinkat",
    "rmdir",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "truncate",
    "chmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "lchown",
    "fchownat",
    "setxattr",
    "lsetxattr",
    "removexattr",
    "lremovexattr",
    "setxattrat",
    "removexattrat",
    "getxattr",
    "lgetxattr",
    "getxattrat",
    "listxattr",
    "llistxattr",
    "listxattrat",
    "chdir",
    "inotify_add_watch",
];

/// Calls that are allowed and that nobody is told of, though they are about files or other processes: what a record says nothing about.
pub(super) const UNOBSERVED: &[(&str, &str)] = &[
    (
        "asking about a file",
        "stat lstat fstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat file_getattr cachestat",
    ),
    ("listing an open folder", "getdents getdents64"),
    (
        "using what is open",
        "read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 lseek fsync fdatasync sync_file_range \
         ftruncate fallocate fadvise64 readahead copy_file_range sendfile splice tee vmsplice fchdir fchmod fchown \
         fsetxattr fgetxattr flistxattr fremovexattr io_submit",
    ),
    ("times of files", "utimensat utime utimes futimesat"),
    ("making a socket in a folder", "bind"),
    ("datagrams in a run without a network", "sendmsg sendmmsg"),
    ("signals", "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"),
];
