//! What no profile allows, with the reason for each.

use nix::errno::Errno;

use super::files::MFD_HUGETLB;
use super::memory::{MAP_HUGETLB, SHM_HUGETLB};
use super::network::{MSG_FASTOPEN, SOL_SOCKET, UNIX_DATAGRAMS};
use super::processes::RLIMIT_CORE;
use crate::seccomp::table::DenialAnswer::{Always, OnlyLayer, Refuse};
use crate::seccomp::table::{ArgumentRule, CallList, DeniedGroup, ListedCall, bits, is, not_null, with};

const TCP: u32 = 6;

macro_rules! families {
    ($($name:ident = $number:literal),* $(,)?) => {
        &[$(ArgumentRule::new(stringify!($name), &[is(0, $number)])),*]
    };
}

pub(super) const DENIED: &[DeniedGroup] = &[
    DeniedGroup {
        name: "clone3",
        reason: "its flags are in memory, where a filter cannot see them and another thread can change them; told that it does \
                 not exist, C libraries take clone, whose flags are checked",
        answer: Always(Errno::ENOSYS),
        calls: CallList { both: "clone3", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "openat2",
        reason: "its mode is in memory, where a filter cannot see a set-user-id bit; told that it does not exist, programs take \
                 openat",
        answer: Refuse(Errno::ENOSYS),
        calls: CallList { both: "openat2", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "namespaces",
        reason: "leaving the sandbox's namespaces, or making some in which a process has every capability",
        answer: Refuse(Errno::EPERM),
        calls: CallList { both: "unshare setns", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "mounts",
        reason: "what there is in the file system is the sandbox's choice",
        answer: Refuse(Errno::EPERM),
        calls: CallList {
            both: "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr",
            x86_64: "",
            more: &[ListedCall::newer(467, "open_tree_attr", &[])],
        },
    },
    DeniedGroup {
        name: "questions about mounts and namespaces",
        reason: "programs ask the old way, in /proc, where they are told that these do not exist",
        answer: Refuse(Errno::ENOSYS),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::newer(457, "statmount", &[]),
                ListedCall::newer(458, "listmount", &[]),
                ListedCall::newer(470, "listns", &[]),
            ],
        },
    },
    DeniedGroup {
        name: "file handles",
        reason: "a handle opens a file past every directory above it (CVE-2014-3519)",
        answer: Refuse(Errno::EPERM),
        calls: CallList { both: "open_by_handle_at", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "names of file handles",
        reason: "good only for opening by handle; programs that ask take this answer for a file system without handles",
        answer: Refuse(Errno::EOPNOTSUPP),
        calls: CallList { both: "name_to_handle_at", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "other processes",
        reason: "reading, changing and comparing other processes, and taking their descriptors",
        answer: Refuse(Errno::EPERM),
        calls: CallList {
            both: "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd",
            x86_64: "",
            more: &[],
        },
    },
    DeniedGroup {
        name: "io_uring",
        reason: "it opens, connects and sends without a system call that a filter or the supervisor sees, and has been the kernel's \
                 richest source of holes. No other layer keeps it from Unix sockets in granted folders",
        answer: OnlyLayer(Errno::EPERM),
        calls: CallList { both: "io_uring_setup io_uring_enter io_uring_register", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "programs in the kernel",
        reason: "BPF, performance counters, modules and other kernels",
        answer: Refuse(Errno::EPERM),
        calls: CallList {
            both: "bpf perf_event_open init_module finit_module delete_module kexec_load kexec_file_load",
            x86_64: "",
            more: &[],
        },
    },
    DeniedGroup {
        name: "page faults and hidden memory",
        reason: "userfaultfd stops the kernel in the middle of a copy, which exploits rest on; memfd_secret hides memory from \
                 debuggers and supervisors",
        answer: Refuse(Errno::EPERM),
        calls: CallList { both: "userfaultfd memfd_secret", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "keys",
        reason: "the kernel's key rings do not know namespaces: secrets of the same user are in reach, and no other layer is \
                 in the way",
        answer: OnlyLayer(Errno::EPERM),
        calls: CallList { both: "add_key request_key keyctl", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "leases",
        reason: "a program that opens a file under a lease waits until its holder gives it up, 45 seconds at most, and a lease \
                 takes no more than the right to read and the owner's number: where root runs a skill, that is every program \
                 of the system. No other layer is in the way",
        answer: OnlyLayer(Errno::EACCES),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[ListedCall::both(
                "fcntl",
                &[
                    ArgumentRule::new("F_SETLEASE", &[is(1, 1024)]),
                    ArgumentRule::new("F_SETDELEG", &[is(1, 1040)]),
                ],
            )],
        },
    },
    DeniedGroup {
        name: "core dumps",
        reason: "the limit is 1, which is what tells the kernel that nobody gets the memory of a process that crashes; at 0, a program \
                 that core_pattern pipes to gets all of it, as root (core(5)). Told that there is no such limit, programs that \
                 hold keys go on",
        answer: OnlyLayer(Errno::EINVAL),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::both(
                    "setrlimit",
                    &[ArgumentRule::new("RLIMIT_CORE", &[bits(0, 15, RLIMIT_CORE)])],
                ),
                ListedCall::both(
                    "prlimit64",
                    &[ArgumentRule::new("RLIMIT_CORE, set", &[bits(1, 15, RLIMIT_CORE), not_null(2)])],
                ),
            ],
        },
    },
    DeniedGroup {
        name: "large pages",
        reason: "pages of hugetlbfs are no memory in the sense of a limit on memory: neither a control group nor a look at the processes \
                 counts them. Programs that ask for them take ordinary ones instead",
        answer: OnlyLayer(Errno::ENOMEM),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::both("mmap", &[ArgumentRule::new("MAP_HUGETLB", &[with(3, MAP_HUGETLB)])]),
                ListedCall::both("shmget", &[ArgumentRule::new("SHM_HUGETLB", &[with(2, SHM_HUGETLB)])]),
                ListedCall::both(
                    "memfd_create",
                    &[ArgumentRule::new("MFD_HUGETLB", &[with(1, MFD_HUGETLB)])],
                ),
            ],
        },
    },
    DeniedGroup {
        name: "the machine's state",
        reason: "clocks, host name, swap, quotas, accounting, the kernel's log, restarting: the machine's, not the skill's",
        answer: Refuse(Errno::EPERM),
        calls: CallList {
            both: "settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname swapon swapoff quotactl \
                   quotactl_fd acct syslog reboot vhangup",
            x86_64: "iopl ioperm",
            more: &[],
        },
    },
    DeniedGroup {
        name: "attributes of files",
        reason: "among them is the project, which decides whose quota a file counts against; chmod, chown and chattr are allowed",
        answer: Refuse(Errno::EPERM),
        calls: CallList { both: "", x86_64: "", more: &[ListedCall::newer(469, "file_setattr", &[])] },
    },
    DeniedGroup {
        name: "watching the file system",
        reason: "fanotify sees, and can stop, accesses of others; inotify is allowed",
        answer: Refuse(Errno::EPERM),
        calls: CallList { both: "fanotify_init fanotify_mark", x86_64: "", more: &[] },
    },
    DeniedGroup {
        name: "placing of memory",
        reason: "for large machines, and often wrong in the kernel. libnuma takes this answer for a machine with one node, so \
                 that programs go on without",
        answer: Refuse(Errno::ENOSYS),
        calls: CallList {
            both: "mbind set_mempolicy get_mempolicy migrate_pages move_pages",
            x86_64: "",
            more: &[ListedCall::newer(450, "set_mempolicy_home_node", &[])],
        },
    },
    DeniedGroup {
        name: "security modules and slices of time",
        reason: "new calls that no ordinary program needs yet; every user of them has a way without",
        answer: Refuse(Errno::ENOSYS),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::newer(459, "lsm_get_self_attr", &[]),
                ListedCall::newer(460, "lsm_set_self_attr", &[]),
                ListedCall::newer(461, "lsm_list_modules", &[]),
                ListedCall::newer(471, "rseq_slice_yield", &[]),
            ],
        },
    },
    DeniedGroup {
        name: "old calls",
        reason: "calls that nothing uses any more: in the kernel they are missing, or unloved code",
        answer: Refuse(Errno::ENOSYS),
        calls: CallList {
            both: "lookup_dcookie nfsservctl remap_file_pages",
            x86_64: "modify_ldt set_thread_area get_thread_area uselib ustat sysfs _sysctl create_module get_kernel_syms \
                     query_module getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old",
            more: &[],
        },
    },
    DeniedGroup {
        name: "other families of sockets",
        reason: "drivers that programs do not need; vsock leads out of a virtual machine past its network",
        answer: Refuse(Errno::EAFNOSUPPORT),
        calls: CallList { both: "", x86_64: "", more: &[ListedCall::both("socket", FAMILIES)] },
    },
    DeniedGroup {
        name: "Unix sockets that send to names",
        reason: "a datagram goes to whoever is bound at the name it is sent to, which is in memory, where a filter cannot see it and \
                 another thread can change it. No other layer keeps it from a socket in a granted folder",
        answer: OnlyLayer(Errno::ESOCKTNOSUPPORT),
        calls: CallList { both: "", x86_64: "", more: UNIX_DATAGRAMS },
    },
    DeniedGroup {
        name: "other protocols",
        reason: "MPTCP opens further connections by itself; programs that ask for it take plain TCP instead",
        answer: Refuse(Errno::EPROTONOSUPPORT),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[ListedCall::both(
                "socket",
                &[
                    ArgumentRule::new("IPv4, MPTCP", &[is(0, 2), bits(1, 0xf, 1), is(2, 262)]),
                    ArgumentRule::new("IPv6, MPTCP", &[is(0, 10), bits(1, 0xf, 1), is(2, 262)]),
                ],
            )],
        },
    },
    DeniedGroup {
        name: "TCP fast open",
        reason: "it connects by sending, past those who watch connect",
        answer: Refuse(Errno::EOPNOTSUPP),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[
                ListedCall::both("sendto", &[ArgumentRule::new("MSG_FASTOPEN", &[with(3, MSG_FASTOPEN)])]),
                ListedCall::both("sendmsg", &[ArgumentRule::new("MSG_FASTOPEN", &[with(2, MSG_FASTOPEN)])]),
                ListedCall::both("sendmmsg", &[ArgumentRule::new("MSG_FASTOPEN", &[with(3, MSG_FASTOPEN)])]),
            ],
        },
    },
    DeniedGroup {
        name: "options of TCP",
        reason: "fast open connects by sending; TCP_ULP puts a driver under the socket (TLS, SMC), and TLS libraries go on without",
        answer: Refuse(Errno::ENOPROTOOPT),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[ListedCall::both(
                "setsockopt",
                &[
                    ArgumentRule::new("TCP_FASTOPEN", &[is(1, TCP), is(2, 23)]),
                    ArgumentRule::new("TCP_FASTOPEN_CONNECT", &[is(1, TCP), is(2, 30)]),
                    ArgumentRule::new("TCP_ULP", &[is(1, TCP), is(2, 31)]),
                    ArgumentRule::new("TCP_FASTOPEN_KEY", &[is(1, TCP), is(2, 33)]),
                    ArgumentRule::new("TCP_FASTOPEN_NO_COOKIE", &[is(1, TCP), is(2, 34)]),
                ],
            )],
        },
    },
    DeniedGroup {
        name: "filters of sockets",
        reason: "the kernel keeps a program for each, in memory that no limit counts, and compiled in what the machine has for all users. \
                 No other layer is in the way",
        answer: OnlyLayer(Errno::ENOPROTOOPT),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[ListedCall::both(
                "setsockopt",
                &[
                    ArgumentRule::new("SO_ATTACH_FILTER", &[is(1, SOL_SOCKET), is(2, 26)]),
                    ArgumentRule::new("SO_LOCK_FILTER", &[is(1, SOL_SOCKET), is(2, 44)]),
                    ArgumentRule::new("SO_ATTACH_BPF", &[is(1, SOL_SOCKET), is(2, 50)]),
                    ArgumentRule::new("SO_ATTACH_REUSEPORT_CBPF", &[is(1, SOL_SOCKET), is(2, 51)]),
                    ArgumentRule::new("SO_ATTACH_REUSEPORT_EBPF", &[is(1, SOL_SOCKET), is(2, 52)]),
                ],
            )],
        },
    },
    DeniedGroup {
        name: "typing into terminals",
        reason: "TIOCSTI and TIOCLINUX put text into the input of the next user of the terminal (CVE-2017-5226, \
                 CVE-2023-28100); TIOCSETD loads line disciplines, TIOCCONS takes the console's output",
        answer: Refuse(Errno::EPERM),
        calls: CallList {
            both: "",
            x86_64: "",
            more: &[ListedCall::both(
                "ioctl",
                &[
                    ArgumentRule::new("TIOCSTI", &[is(1, 0x5412)]),
                    ArgumentRule::new("TIOCLINUX", &[is(1, 0x541c)]),
                    ArgumentRule::new("TIOCCONS", &[is(1, 0x541d)]),
                    ArgumentRule::new("TIOCSETD", &[is(1, 0x5423)]),
                    ArgumentRule::new("TIOCVHANGUP", &[is(1, 0x5437)]),
                ],
            )],
        },
    },
];

/// Every family but Unix, IPv4, IPv6 and netlink (include/linux/socket.h). Others that may come are refused with `EPERM`.
const FAMILIES: &[ArgumentRule] = families! {
    AF_UNSPEC = 0, AF_AX25 = 3, AF_IPX = 4, AF_APPLETALK = 5, AF_NETROM = 6, AF_BRIDGE = 7, AF_ATMPVC = 8, AF_X25 = 9,
    AF_ROSE = 11, AF_DECNET = 12, AF_NETBEUI = 13, AF_SECURITY = 14, AF_KEY = 15, AF_PACKET = 17, AF_ASH = 18,
    AF_ECONET = 19, AF_ATMSVC = 20, AF_RDS = 21, AF_SNA = 22, AF_IRDA = 23, AF_PPPOX = 24, AF_WANPIPE = 25, AF_LLC = 26,
    AF_IB = 27, AF_MPLS = 28, AF_CAN = 29, AF_TIPC = 30, AF_BLUETOOTH = 31, AF_IUCV = 32, AF_RXRPC = 33, AF_ISDN = 34,
    AF_PHONET = 35, AF_IEEE802154 = 36, AF_CAIF = 37, AF_ALG = 38, AF_NFC = 39, AF_VSOCK = 40, AF_KCM = 41,
    AF_QIPCRTR = 42, AF_SMC = 43, AF_XDP = 44, AF_MCTP = 45,
};
