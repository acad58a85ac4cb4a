//! Files, descriptors, and waiting for them.

use crate::seccomp::table::{ArgumentRule, CallGroup, CallList, ListedCall, ProfileScope, bits, is, without};

/// Pages that no limit on memory counts (linux/memfd.h).
pub(super) const MFD_HUGETLB: u32 = 4;

pub(super) const FILES: CallGroup = CallGroup {
    name: "files",
    reason: "reading, writing and arranging files; which ones is for mounts and Landlock to say",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "read write pread64 pwrite64 readv writev preadv pwritev preadv2 pwritev2 lseek \
               fsync fdatasync sync syncfs sync_file_range truncate ftruncate fallocate fadvise64 readahead \
               copy_file_range sendfile splice tee vmsplice \
               getcwd chdir fchdir getdents64 mkdirat unlinkat renameat linkat symlinkat readlinkat \
               fstat newfstatat statx statfs fstatfs faccessat faccessat2 \
               fchown fchownat utimensat umask \
               setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr \
               removexattr lremovexattr fremovexattr \
               inotify_init1 inotify_add_watch inotify_rm_watch",
        x86_64: "stat lstat access getdents rename mkdir rmdir link unlink symlink readlink chown lchown utime utimes \
                 futimesat inotify_init",
        more: &[
            // RENAME_WHITEOUT leaves a device behind, which union file systems take for a deleted file.
            ListedCall::both("renameat2", &[ArgumentRule::new("without RENAME_WHITEOUT", &[without(4, 4)])]),
            ListedCall::both(
                "memfd_create",
                &[ArgumentRule::new("without MFD_HUGETLB", &[without(1, MFD_HUGETLB)])],
            ),
            ListedCall::newer(451, "cachestat", &[]),
            ListedCall::newer(463, "setxattrat", &[]),
            ListedCall::newer(464, "getxattrat", &[]),
            ListedCall::newer(465, "listxattrat", &[]),
            ListedCall::newer(466, "removexattrat", &[]),
            ListedCall::newer(468, "file_getattr", &[]),
        ],
    },
};

const SET_USER_ID: u32 = 0o4000;
const SET_ID: u32 = 0o6000;
/// `O_CREAT`, and the bit that makes `O_TMPFILE` more than `O_DIRECTORY`: without either the kernel ignores the mode.
const CREATES: u32 = 0o100 | 0o2000_0000;
/// `S_IFMT`.
const KIND: u32 = 0o170_000;

/// The rules for a mode without `$bits`, for each call that takes one.
macro_rules! modes {
    ($bits:expr, $says:literal) => {
        CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::both("openat", &[OPENAT_ONLY, ArgumentRule::new($says, &[without(3, $bits)])]),
                ListedCall::x86_64("open", &[OPEN_ONLY, ArgumentRule::new($says, &[without(2, $bits)])]),
                ListedCall::x86_64("creat", &[ArgumentRule::new($says, &[without(1, $bits)])]),
                ListedCall::x86_64("chmod", &[ArgumentRule::new($says, &[without(1, $bits)])]),
                ListedCall::both("fchmod", &[ArgumentRule::new($says, &[without(1, $bits)])]),
                ListedCall::both("fchmodat", &[ArgumentRule::new($says, &[without(2, $bits)])]),
                ListedCall::newer(452, "fchmodat2", &[ArgumentRule::new($says, &[without(2, $bits)])]),
                ListedCall::x86_64(
                    "mknod",
                    &[
                        ArgumentRule::new("a file", &[bits(1, KIND | $bits, 0)]),
                        ArgumentRule::new("a file", &[bits(1, KIND | $bits, 0o100_000)]),
                        ArgumentRule::new("a pipe", &[bits(1, KIND | $bits, 0o010_000)]),
                        ArgumentRule::new("a socket", &[bits(1, KIND | $bits, 0o140_000)]),
                    ],
                ),
                ListedCall::both(
                    "mknodat",
                    &[
                        ArgumentRule::new("a file", &[bits(2, KIND | $bits, 0)]),
                        ArgumentRule::new("a file", &[bits(2, KIND | $bits, 0o100_000)]),
                        ArgumentRule::new("a pipe", &[bits(2, KIND | $bits, 0o010_000)]),
                        ArgumentRule::new("a socket", &[bits(2, KIND | $bits, 0o140_000)]),
                    ],
                ),
            ],
        }
    };
}

const OPENAT_ONLY: ArgumentRule = ArgumentRule::new("opens what is there", &[without(2, CREATES)]);
const OPEN_ONLY: ArgumentRule = ArgumentRule::new("opens what is there", &[without(1, CREATES)]);

pub(super) const MODES: CallGroup = CallGroup {
    name: "modes",
    reason: "opening, making and chmod, but no set-user-id bit: a program left behind with it would run as the user for \
             anyone who starts it, and as root where root runs the skill. Set-group-id stays allowed, because directories \
             that are shared have it and programs that copy them set it again; no devices",
    within: ProfileScope::NotStrict("strict has the same calls, and refuses set-group-id too"),
    observed: false,
    calls: modes!(SET_USER_ID, "a mode without set-user-id"),
};

pub(super) const MODES_STRICT: CallGroup = CallGroup {
    name: "modes, strict",
    reason: "opening, making and chmod, but neither set-user-id nor set-group-id, and no devices",
    within: ProfileScope::OnlyStrict,
    observed: false,
    calls: modes!(SET_ID, "a mode without set-user-id and set-group-id"),
};

pub(super) const DESCRIPTORS: CallGroup = CallGroup {
    name: "descriptors",
    reason: "what is set and asked of a descriptor; no leases",
    within: ProfileScope::NotStrict("strict has fcntl without the commands that have signals sent to others"),
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "fcntl",
            &[
                ArgumentRule::new("commands below F_SETLEASE", &[bits(1, !1023, 0)]),
                ArgumentRule::new("F_GETLEASE", &[is(1, 1025)]),
                ArgumentRule::new("F_NOTIFY and F_DUPFD_QUERY", &[bits(1, !1, 1026)]),
                ArgumentRule::new("F_CREATED_QUERY to F_SETPIPE_SZ", &[bits(1, !3, 1028)]),
                ArgumentRule::new("F_GETPIPE_SZ to F_GET_RW_HINT", &[bits(1, !3, 1032)]),
                ArgumentRule::new("F_SET_RW_HINT and F_GET_FILE_RW_HINT", &[bits(1, !1, 1036)]),
                ArgumentRule::new("F_SET_FILE_RW_HINT and F_GETDELEG", &[bits(1, !1, 1038)]),
            ],
        )],
    },
};

pub(super) const DESCRIPTORS_STRICT: CallGroup = CallGroup {
    name: "descriptors, strict",
    reason: "fcntl without F_SETOWN, F_SETOWN_EX and F_SETSIG, by which a descriptor sends signals to any process",
    within: ProfileScope::OnlyStrict,
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "fcntl",
            &[
                ArgumentRule::new("F_DUPFD", &[is(1, 0)]),
                ArgumentRule::new("F_GETFD", &[is(1, 1)]),
                ArgumentRule::new("F_SETFD", &[is(1, 2)]),
                ArgumentRule::new("F_GETFL", &[is(1, 3)]),
                ArgumentRule::new("F_SETFL", &[is(1, 4)]),
                ArgumentRule::new("F_GETLK", &[is(1, 5)]),
                ArgumentRule::new("F_SETLK", &[is(1, 6)]),
                ArgumentRule::new("F_SETLKW", &[is(1, 7)]),
                ArgumentRule::new("F_GETOWN", &[is(1, 9)]),
                ArgumentRule::new("F_GETSIG", &[is(1, 11)]),
                ArgumentRule::new("F_GETOWN_EX", &[is(1, 16)]),
                ArgumentRule::new("F_OFD_GETLK", &[is(1, 36)]),
                ArgumentRule::new("F_OFD_SETLK", &[is(1, 37)]),
                ArgumentRule::new("F_OFD_SETLKW", &[is(1, 38)]),
                ArgumentRule::new("F_GETLEASE", &[is(1, 1025)]),
                ArgumentRule::new("F_DUPFD_QUERY", &[is(1, 1027)]),
                ArgumentRule::new("F_CREATED_QUERY", &[is(1, 1028)]),
                ArgumentRule::new("F_DUPFD_CLOEXEC", &[is(1, 1030)]),
                ArgumentRule::new("F_SETPIPE_SZ", &[is(1, 1031)]),
                ArgumentRule::new("F_GETPIPE_SZ", &[is(1, 1032)]),
                ArgumentRule::new("F_ADD_SEALS", &[is(1, 1033)]),
                ArgumentRule::new("F_GET_SEALS", &[is(1, 1034)]),
                ArgumentRule::new("F_GET_RW_HINT", &[is(1, 1035)]),
                ArgumentRule::new("F_SET_RW_HINT", &[is(1, 1036)]),
            ],
        )],
    },
};

pub(super) const WAITING: CallGroup = CallGroup {
    name: "waiting",
    reason: "waiting for descriptors, as every event loop does; making, copying, locking and closing them",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 ppoll pselect6 eventfd2 signalfd4 \
               close close_range dup dup3 pipe2 flock",
        x86_64: "epoll_create epoll_wait poll select eventfd signalfd pause dup2 pipe",
        more: &[],
    },
};

pub(super) const ASYNCHRONOUS: CallGroup = CallGroup {
    name: "asynchronous files",
    reason: "the old interface, which databases use; io_uring is refused, because it makes calls that no filter sees",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
        x86_64: "",
        more: &[],
    },
};
