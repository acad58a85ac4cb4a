//! What programs look for and do without, as data.
//!
//! A refusal of one of these is counted and not listed: it says nothing about the program, and nobody needs to do anything. Nothing here may be a
//! place of credentials or anything else that an attack wants; a test compares it with [`sensitive_paths`](super::sensitive_paths), and what is
//! sensitive is never expected, whatever stands here.

use skillsandbox_terms::FileOperation;

/// Files that are looked for as a matter of course.
#[derive(Debug)]
pub(super) struct ExpectedRefusal {
    /// Who looks for them, and why nothing is lost.
    pub(super) reason: &'static str,
    /// What is tried with them.
    pub(super) operations: &'static [FileOperation],
    pub(super) paths: &'static [&'static str],
    /// What stands before the number that the name must end in; empty for any name.
    pub(super) before_number: &'static str,
}

/// System calls that are tried as a matter of course.
#[derive(Debug)]
pub(super) struct ExpectedCall {
    /// Who tries them, and why nothing is lost.
    pub(super) reason: &'static str,
    pub(super) names: &'static [&'static str],
    /// What the reason of the refusal must mention, where the name alone says too little.
    pub(super) because: &'static str,
}

const READ: &[FileOperation] = &[FileOperation::Read];
const WRITE: &[FileOperation] = &[FileOperation::Write];
const OPEN: &[FileOperation] = &[FileOperation::Read, FileOperation::Write];
const CACHE: &[FileOperation] = &[FileOperation::Read, FileOperation::Write, FileOperation::MakeFolder];
const MAKE: &[FileOperation] = &[FileOperation::MakeFolder];
const CONNECT: &[FileOperation] = &[FileOperation::Connect];

const fn expected(
    reason: &'static str,
    operations: &'static [FileOperation],
    paths: &'static [&'static str],
) -> ExpectedRefusal {
    ExpectedRefusal { reason, operations, paths, before_number: "" }
}

impl ExpectedRefusal {
    /// Whether this is tried with such a file, whose path one of the patterns matches.
    pub(super) fn holds(&self, operation: FileOperation, path: &str) -> bool {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let has_number = path.rsplit_once(self.before_number).is_some_and(|(_, number)| is_number(number));
        self.operations.contains(&operation) && (self.before_number.is_empty() || has_number)
    }
}

/// The files.
pub(super) const FILES: &[ExpectedRefusal] = &[
    expected(
        "runtimes ask for the memory and processors of their container, and use the machine's",
        READ,
        &["/sys/fs/cgroup/**"],
    ),
    expected(
        "libraries ask how many processors there are, and ask the kernel instead",
        READ,
        &["/sys/devices/system/cpu/**", "/sys/devices/system/node/**"],
    ),
    expected("allocators ask for the sizes of large pages, and use small ones", READ, &["/sys/kernel/mm/**"]),
    expected(
        "programs ask whether a disk turns, and take it for one that does not",
        READ,
        &["/sys/dev/block/*/queue/rotational", "/sys/block/*/queue/rotational"],
    ),
    expected("shells and tools look for a terminal, and go on without one", OPEN, &["/dev/tty"]),
    expected(
        "graphics and computing libraries look for a card, and use the processor",
        OPEN,
        &["/dev/dri/**", "/dev/nvidia*", "/dev/nvidia-caps/**", "/dev/kfd"],
    ),
    expected(
        "graphics libraries look for layers and drivers of the machine",
        READ,
        &["/etc/vulkan/**", "/etc/OpenCL/vendors/**", "/etc/drirc", "/proc/driver/nvidia/**"],
    ),
    expected(
        "runtimes name their threads and say which process may be ended first; nothing depends on it",
        WRITE,
        &[
            "/proc/*/comm",
            "/proc/*/task/*/comm",
            "/proc/*/oom_score_adj",
            "/proc/*/task/*/oom_score_adj",
            "/proc/*/coredump_filter",
            "/proc/*/clear_refs",
            "/proc/*/timerslack_ns",
        ],
    ),
    expected(
        "programs ask which distribution this is, for a text",
        READ,
        &[
            "/etc/os-release",
            "/etc/lsb-release",
            "/etc/debian_version",
            "/etc/redhat-release",
            "/etc/fedora-release",
            "/etc/alpine-release",
            "/etc/arch-release",
            "/etc/SuSE-release",
        ],
    ),
    expected(
        "shells read settings of all users, which set a prompt",
        READ,
        &[
            "/etc/profile",
            "/etc/profile.d/**",
            "/etc/bash.bashrc",
            "/etc/bashrc",
            "/etc/inputrc",
            "/etc/zsh/**",
            "/etc/fish/**",
        ],
    ),
    expected(
        "programs read settings of all users, and have defaults",
        READ,
        &[
            "/etc/magic",
            "/etc/ldap/ldap.conf",
            "/etc/php/*/cli/php.ini",
            "/etc/php/*/cli/conf.d/**",
            "/etc/chromium/**",
            "/etc/libreoffice/**",
            "/etc/papersize",
            "/etc/gitconfig",
            "/etc/vim/**",
            "/etc/python*/**",
            "/etc/perl/**",
            "/etc/ruby/**",
            "/etc/wgetrc",
            "/etc/screenrc",
            "/etc/nanorc",
            "/etc/lesskey",
            "/etc/mime.types",
            "/etc/mailcap",
        ],
    ),
    expected(
        "C libraries ask for languages, terminals and time zones that are not installed",
        READ,
        &[
            "/etc/locale.alias",
            "/etc/locale.conf",
            "/etc/default/locale",
            "/etc/terminfo/**",
            "/etc/timezone",
            "/etc/gai.conf",
            "/etc/host.conf",
            "/etc/networks",
            "/etc/nscd.conf",
        ],
    ),
    expected(
        "libraries of TLS look for certificates and settings in the places of every distribution",
        READ,
        &[
            "/etc/ssl/openssl.cnf",
            "/etc/ssl/cert.pem",
            "/etc/ssl/certs/**",
            "/etc/pki/tls/openssl.cnf",
            "/etc/pki/tls/cert.pem",
            "/etc/pki/tls/certs/**",
            "/etc/pki/ca-trust/**",
            "/etc/crypto-policies/**",
            "/etc/gnutls/**",
        ],
    ),
    expected(
        "font libraries keep a cache for all users, and read the fonts without it",
        CACHE,
        &["/var/cache/fontconfig/**", "/etc/fonts/**"],
    ),
    expected(
        "font libraries make the folder of their cache, which is not theirs to make",
        MAKE,
        &["/var/cache"],
    ),
    expected(
        "LibreOffice looks after extensions for all users, of which there are none",
        CACHE,
        &[
            "/usr/lib/libreoffice/share/uno_packages/cache/**",
            "/opt/libreoffice*/share/uno_packages/cache/**",
        ],
    ),
    expected(
        "Python keeps what it compiled beside the source, and compiles it again",
        MAKE,
        &["__pycache__"],
    ),
    // Under the name that it has before it is complete. Nothing else writes such names, and a finished file is none of them.
    ExpectedRefusal {
        before_number: ".pyc.",
        ..expected(
            "Python keeps what it compiled beside the source, and compiles it again",
            WRITE,
            &["__pycache__/*"],
        )
    },
    expected(
        "C libraries ask a cache for names of users and hosts, and read the files instead",
        CONNECT,
        &["/run/nscd/socket", "/var/run/nscd/socket"],
    ),
    expected(
        "programs write to the log of the system, and go on where there is none",
        CONNECT,
        &[
            "/dev/log",
            "/run/systemd/journal/socket",
            "/run/systemd/journal/stdout",
            "/run/systemd/journal/dev-log",
        ],
    ),
];

const fn call(reason: &'static str, because: &'static str, names: &'static [&'static str]) -> ExpectedCall {
    ExpectedCall { reason, names, because }
}

/// The system calls. What is a sign of an attack is none of them (`acts::CALLS`), nor is what would reach secrets, such as key rings.
pub(super) const CALLS: &[ExpectedCall] = &[
    call(
        "C libraries and runtimes try a newer or faster call, and go on with another",
        "",
        &[
            "clone3",
            "listmount",
            "membarrier",
            "name_to_handle_at",
            "openat2",
            "rseq",
            "statmount",
            "io_uring_setup",
        ],
    ),
    call(
        "libraries ask on which part of a large machine memory lies, and take it for a small one",
        "",
        &["get_mempolicy", "mbind", "migrate_pages", "move_pages", "set_mempolicy"],
    ),
    call(
        "programs that hold keys ask for no core files, which nobody gets anyway",
        "of a process that crashes",
        &["prlimit64", "setrlimit"],
    ),
    call(
        "runtimes ask for large pages, and use small ones",
        "hugetlbfs",
        &["memfd_create", "mmap", "shmget"],
    ),
    call("libraries of TLS ask the kernel to encrypt, and do it themselves", "TCP_ULP", &["setsockopt"]),
    call("programs ask for a connection on several ways, and take one", "MPTCP", &["socket"]),
    call(
        "programs write to the log of the system, and go on where there is none",
        "a datagram goes to whoever",
        &["socket"],
    ),
];
