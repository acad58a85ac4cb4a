//! Rules about arguments, in the kernel, with whatever a caller may leave in bits that the kernel does not look at.
//!
//! Unsafe code: system calls that no library makes, because nobody should, and fork.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(unsafe_code)]
#![cfg(target_os = "linux")]

#[allow(dead_code)] // Another test uses the rest.
mod under_filter;

use libc::{EACCES, EAFNOSUPPORT, ENOPROTOOPT, EOPNOTSUPP, EPERM, EPROTONOSUPPORT, ESOCKTNOSUPPORT};
use skillsandbox_enforcer::SyscallProfile;
use under_filter::{ABOVE, CHILD, NONE, NOWHERE, assert_passes, assert_refused, call};

#[test]
fn no_namespaces_by_clone_whatever_is_above_32_bits() {
    // CLONE_THREAD without CLONE_SIGHAND is invalid, so that nothing is made where it passes.
    const INVALID: u64 = 0x0001_0000;
    for flag in [0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        for above in ABOVE {
            for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
                assert_refused(
                    profile,
                    "clone",
                    call(libc::SYS_clone, &[above | flag | INVALID | CHILD]),
                    EPERM,
                );
            }
        }
    }
    // 0x80 is no flag of clone, but a part of the signal: there is nothing to refuse.
    assert_passes(SyscallProfile::Default, "clone", call(libc::SYS_clone, &[0x80 | INVALID]));
    assert_passes(SyscallProfile::Default, "clone", call(libc::SYS_clone, &[1 << 33 | INVALID]));
}

#[test]
fn sockets_by_family_kind_and_protocol() {
    let socket = |family, kind, protocol| call(libc::SYS_socket, &[family, kind, protocol]);
    // SOCK_NONBLOCK, SOCK_CLOEXEC, and both.
    let flags = [0, 0o4000, 0o2_000_000, 0o2_004_000];
    for (above, flag) in ABOVE.into_iter().zip(flags) {
        for (what, errno, family, kind, protocol) in [
            ("raw IPv4", EPERM, 2, 3, 1),
            ("raw IPv4, any protocol", EPERM, 2, 3, 255),
            ("raw IPv6", EPERM, 10, 3, 58),
            ("SOCK_PACKET, which is AF_PACKET by another name", EPERM, 2, 10, 0x300),
            ("SCTP", EPERM, 2, 1, 132),
            ("SCTP by kind", EPERM, 2, 5, 132),
            ("RDM", EPERM, 2, 4, 0),
            ("ICMP", EPERM, 2, 2, 1),
            ("UDP-Lite", EPERM, 2, 2, 136),
            ("MPTCP", EPROTONOSUPPORT, 2, 1, 262),
            ("MPTCP on IPv6", EPROTONOSUPPORT, 10, 1, 262),
            ("raw Unix, which is datagrams", ESOCKTNOSUPPORT, 1, 3, 0),
            ("Unix datagrams", ESOCKTNOSUPPORT, 1, 2, 0),
            ("a Unix stream, without a supervisor", EACCES, 1, 1, 0),
            ("Unix packets, without a supervisor", EACCES, 1, 5, 0),
            ("netlink: xfrm", EPERM, 16, 3, 6),
            ("netlink: SCSI", EPERM, 16, 3, 18),
            ("netlink: audit", EPERM, 16, 3, 9),
            ("netlink: netfilter", EPERM, 16, 3, 12),
            ("netlink: sock_diag", EPERM, 16, 2, 4),
            ("netlink: uevents", EPERM, 16, 2, 15),
            ("AF_PACKET", EAFNOSUPPORT, 17, 3, 0x300),
            ("AF_ALG", EAFNOSUPPORT, 38, 5, 0),
            ("AF_VSOCK", EAFNOSUPPORT, 40, 1, 0),
            ("AF_BLUETOOTH", EAFNOSUPPORT, 31, 3, 1),
            ("AF_XDP", EAFNOSUPPORT, 44, 3, 0),
            ("AF_KEY", EAFNOSUPPORT, 15, 3, 2),
            ("AF_TIPC", EAFNOSUPPORT, 30, 5, 0),
            ("AF_RDS", EAFNOSUPPORT, 21, 5, 0),
            ("AF_SMC", EAFNOSUPPORT, 43, 1, 0),
            ("a family that may come", EPERM, 46, 1, 0),
            ("a family below 0", EPERM, NONE, 1, 0),
        ] {
            let attempt = socket(above | family, above | kind | flag, above | protocol);
            assert_refused(SyscallProfile::Default, what, attempt, errno);
        }
        for (family, kind, protocol) in [(2, 1, 0), (2, 1, 6), (2, 2, 17), (10, 1, 0), (10, 2, 0), (16, 3, 0)]
        {
            assert_passes(
                SyscallProfile::Default,
                "socket",
                socket(above | family, kind | flag, above | protocol),
            );
        }
    }
    assert_refused(
        SyscallProfile::Default,
        "a pair",
        call(libc::SYS_socketpair, &[30, 1, 0, NOWHERE]),
        EPERM,
    );
    assert_refused(SyscallProfile::Default, "a pair", call(libc::SYS_socketpair, &[2, 1, 0, NOWHERE]), EPERM);
    for kind in [2, 3] {
        let attempt = call(libc::SYS_socketpair, &[1, kind, 0, NOWHERE]);
        for profile in SyscallProfile::ALL {
            assert_refused(profile, "a pair", attempt, ESOCKTNOSUPPORT);
        }
    }
    for kind in [1, 5] {
        assert_passes(SyscallProfile::Default, "a pair", call(libc::SYS_socketpair, &[1, kind, 0, NOWHERE]));
    }
}

#[test]
fn nothing_connects_by_sending() {
    const FAST_OPEN: u64 = 0x2000_0000;
    for above in ABOVE {
        // With MSG_DONTWAIT and MSG_NOSIGNAL, as real senders have them.
        let flags = above | FAST_OPEN | 0x4040;
        for attempt in [
            call(libc::SYS_sendto, &[NONE, NOWHERE, 1, flags, NOWHERE, 16]),
            call(libc::SYS_sendmsg, &[NONE, NOWHERE, flags]),
            call(libc::SYS_sendmmsg, &[NONE, NOWHERE, 1, flags]),
        ] {
            assert_refused(SyscallProfile::Default, "MSG_FASTOPEN", attempt, EOPNOTSUPP);
        }
        for option in [23, 30, 31, 33, 34] {
            let attempt = call(libc::SYS_setsockopt, &[NONE, above | 6, above | option, NOWHERE, 4]);
            assert_refused(SyscallProfile::Default, "an option of TCP", attempt, ENOPROTOOPT);
        }
        for (level, option) in [
            (6, 19),
            (6, 14),
            (0, 64),
            (41, 64),
            (282, 1),
            (17, 100),
            (279, 1),
            (65_535, 1),
            (270, 1),
            (270, 8),
        ] {
            let attempt = call(libc::SYS_setsockopt, &[NONE, above | level, above | option, NOWHERE, 4]);
            assert_refused(SyscallProfile::Default, "an option", attempt, EPERM);
        }
        for (level, option) in
            [(1, 2), (1, 13), (6, 1), (6, 4), (0, 1), (41, 26), (41, 67), (17, 103), (270, 11), (270, 12)]
        {
            let attempt = call(libc::SYS_setsockopt, &[NONE, above | level, above | option, NOWHERE, 4]);
            assert_passes(SyscallProfile::Default, "an option", attempt);
        }
    }
    assert_passes(SyscallProfile::Default, "sendto", call(libc::SYS_sendto, &[NONE, NOWHERE, 1, 0x4040]));
}

/// Programs that the kernel keeps for a socket are memory that no limit counts, and compiled they are part of what the machine has for all.
#[test]
fn no_socket_gets_a_filter() {
    for above in ABOVE {
        for option in [26, 44, 50, 51, 52] {
            let attempt = call(libc::SYS_setsockopt, &[NONE, above | 1, above | option, NOWHERE, 16]);
            for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
                assert_refused(profile, "a filter of a socket", attempt, ENOPROTOOPT);
            }
        }
        // All others of that level.
        for option in (0..96).filter(|option| ![26, 44, 50, 51, 52].contains(option)) {
            let attempt = call(libc::SYS_setsockopt, &[NONE, above | 1, above | option, NOWHERE, 4]);
            assert_passes(SyscallProfile::Default, "an option", attempt);
        }
    }
}

#[test]
fn terminals_cannot_be_typed_into() {
    for above in ABOVE {
        for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
            // TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD, TIOCVHANGUP; then TIOCSSERIAL, TUNSETIFF, KDSETMODE, LOOP_SET_FD.
            for command in [0x5412, 0x541c, 0x541d, 0x5423, 0x5437, 0x541f, 0x4004_54ca, 0x4b3a, 0x4c00] {
                assert_refused(
                    profile,
                    "ioctl",
                    call(libc::SYS_ioctl, &[NONE, above | command, NOWHERE]),
                    EPERM,
                );
            }
            // TCGETS, FIONREAD, and one with the highest bit, which musl passes with all bits above it set.
            for command in [0x5401, 0x541b, 0x8004_5430] {
                assert_passes(profile, "ioctl", call(libc::SYS_ioctl, &[NONE, above | command, NOWHERE]));
            }
        }
    }
}

#[test]
fn no_set_user_id_program_is_left_behind() {
    const CREATE: u64 = 0o100 | 0o1;
    const TEMPORARY: u64 = 0o20_200_000 | 0o1;
    let at = (-100_i64).cast_unsigned();
    for above in [0, 1 << 16, 1 << 32, 0xffff_ffff_ffff << 16] {
        let with = |mode: u64| {
            let mode = above | mode;
            #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
            let mut attempts = vec![
                call(libc::SYS_openat, &[at, NOWHERE, CREATE, mode]),
                call(libc::SYS_openat, &[at, NOWHERE, 1 << 40 | CREATE, mode]),
                call(libc::SYS_openat, &[at, NOWHERE, TEMPORARY, mode]),
                call(libc::SYS_fchmod, &[NONE, mode]),
                call(libc::SYS_fchmodat, &[at, NOWHERE, mode]),
                call(452, &[at, NOWHERE, mode, 0]),
                call(libc::SYS_mknodat, &[at, NOWHERE, mode]),
                call(libc::SYS_mknodat, &[at, NOWHERE, 0o100_000 | mode]),
            ];
            #[cfg(target_arch = "x86_64")]
            attempts.extend([
                call(libc::SYS_open, &[NOWHERE, CREATE, mode]),
                call(libc::SYS_creat, &[NOWHERE, mode]),
                call(libc::SYS_chmod, &[NOWHERE, mode]),
                call(libc::SYS_mknod, &[NOWHERE, 0o100_000 | mode]),
            ]);
            attempts
        };
        for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
            for attempt in with(0o4755) {
                assert_refused(profile, "set-user-id", attempt, EPERM);
            }
            for attempt in with(0o6755) {
                assert_refused(profile, "both", attempt, EPERM);
            }
            for attempt in with(0o1755) {
                assert_passes(profile, "sticky", attempt);
            }
        }
        for attempt in with(0o2755) {
            assert_refused(SyscallProfile::Strict, "set-group-id", attempt, EPERM);
        }
        for attempt in with(0o2755) {
            assert_passes(SyscallProfile::Default, "set-group-id", attempt);
        }
    }
    // A mode without creation is noise that some callers leave in the register.
    assert_passes(SyscallProfile::Default, "openat", call(libc::SYS_openat, &[at, NOWHERE, 0, u64::MAX]));
}

#[test]
fn no_devices_are_made() {
    let at = (-100_i64).cast_unsigned();
    for above in [0, 1 << 16, 1 << 32, 1 << 63] {
        for kind in [0o020_000, 0o060_000, 0o040_000, 0o120_000, 0o170_000] {
            for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
                let attempt = call(libc::SYS_mknodat, &[at, NOWHERE, above | kind | 0o600, 0x103]);
                assert_refused(profile, "mknodat", attempt, EPERM);
            }
        }
        // RENAME_WHITEOUT, alone and with RENAME_NOREPLACE.
        for flags in [4, 5] {
            let attempt = call(libc::SYS_renameat2, &[at, NOWHERE, at, NOWHERE, above | flags]);
            assert_refused(SyscallProfile::Default, "renameat2", attempt, EPERM);
        }
        assert_passes(
            SyscallProfile::Default,
            "renameat2",
            call(libc::SYS_renameat2, &[at, NOWHERE, at, NOWHERE, above | 1]),
        );
        for kind in [0, 0o010_000, 0o100_000, 0o140_000] {
            let attempt = call(libc::SYS_mknodat, &[at, NOWHERE, above | kind | 0o600]);
            assert_passes(SyscallProfile::Default, "mknodat", attempt);
        }
    }
}

#[test]
fn settings_that_weaken_are_refused() {
    for above in ABOVE {
        // PR_SET_MM, PR_SET_PTRACER, PR_SET_SECUREBITS, PR_SET_IO_FLUSHER, PR_SET_SYSCALL_USER_DISPATCH, PR_SET_MEMORY_MERGE.
        for option in [35, 0x5961_6d61, 28, 57, 59, 67] {
            assert_refused(
                SyscallProfile::Default,
                "prctl",
                call(libc::SYS_prctl, &[above | option, 99, NONE]),
                EPERM,
            );
        }
        // PR_GET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_SET_VMA; on nonsense, as far as they look at it.
        for option in [3, 38, 47, 0x5356_4d41] {
            assert_passes(
                SyscallProfile::Default,
                "prctl",
                call(libc::SYS_prctl, &[above | option, 99, NONE]),
            );
        }
        // ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, PER_LINUX32, UNAME26.
        for persona in [0x0004_0000, 0x0040_0000, 8, 0x0002_0000] {
            assert_refused(
                SyscallProfile::Default,
                "personality",
                call(libc::SYS_personality, &[above | persona]),
                EPERM,
            );
        }
        for persona in [0, NONE] {
            assert_passes(
                SyscallProfile::Default,
                "personality",
                call(libc::SYS_personality, &[above | persona]),
            );
        }
        // SECCOMP_FILTER_FLAG_NEW_LISTENER, alone and with others, and a flag that may come.
        for flags in [8, 8 | 16 | 1, 32, 64] {
            let attempt = call(libc::SYS_seccomp, &[above | 1, above | flags, NOWHERE]);
            assert_refused(SyscallProfile::Default, "a listener", attempt, EPERM);
        }
        for flags in [0, 1, 2, 4] {
            let attempt = call(libc::SYS_seccomp, &[above | 1, above | flags, NOWHERE]);
            assert_passes(SyscallProfile::Default, "a filter", attempt);
        }
        assert_refused(
            SyscallProfile::Default,
            "an operation that may come",
            call(libc::SYS_seccomp, &[above | 4]),
            EPERM,
        );
    }
}

/// Whoever opens a file on which a skill has a lease waits for it, outside the sandbox too.
#[test]
fn nobody_is_kept_waiting_by_a_lease() {
    for above in ABOVE {
        // F_SETLEASE, F_SETDELEG.
        for command in [1024, 1040] {
            for profile in [SyscallProfile::Default, SyscallProfile::Strict] {
                let attempt = call(libc::SYS_fcntl, &[NONE, above | command, 1]);
                assert_refused(profile, "a lease", attempt, EACCES);
            }
        }
        for command in (0..=38).chain(1025..=1039) {
            assert_passes(
                SyscallProfile::Default,
                "fcntl",
                call(libc::SYS_fcntl, &[NONE, above | command, NONE]),
            );
        }
    }
}
