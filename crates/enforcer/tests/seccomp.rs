//! The profiles in the kernel: each call is made in a child, with the filter and without.
//!
//! Unsafe code: system calls that no library makes, because nobody should, and fork.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(unsafe_code)]
#![allow(clippy::print_stderr)] // A test that is skipped says so.
#![cfg(target_os = "linux")]

mod under_filter;

use std::process::Command;

use libc::{EAFNOSUPPORT, ENOSYS, EPERM, c_long};
use skillsandbox_enforcer::{SyscallFilters as _, SyscallProfile, SyscallVerdict};
use under_filter::{
    ABOVE, CHILD, End, Filter, FilterAttempt, NONE, NOWHERE, assert_passes, assert_refused, call, in_child,
    make, python, supervised,
};

/// Calls that no profile allows, with arguments on which nothing happens where they are allowed.
fn refused() -> Vec<(&'static str, FilterAttempt, i32)> {
    macro_rules! calls {
        ($($errno:ident: $($name:ident($($argument:expr),*))*;)*) => {{
            #[allow(unused_imports)]
            use libc::*;
            vec![$($((stringify!($name), call($name, &[$($argument),*]), $errno)),*),*]
        }};
    }
    let mut all = calls! {
        EPERM: SYS_ptrace(0xffff, NONE) SYS_process_vm_readv(NONE) SYS_process_vm_writev(NONE)
            SYS_process_madvise(NONE) SYS_process_mrelease(NONE) SYS_kcmp(NONE, NONE) SYS_pidfd_getfd(NONE, NONE)
            SYS_unshare(0x1000_0000) SYS_unshare(0) SYS_setns(NONE)
            SYS_mount(NOWHERE, NOWHERE, NOWHERE, 0, 0) SYS_umount2(NOWHERE) SYS_pivot_root(NOWHERE, NOWHERE)
            SYS_chroot(NOWHERE) SYS_fsopen(NOWHERE) SYS_fsconfig(NONE, 99) SYS_fsmount(NONE) SYS_fspick(NONE, NOWHERE)
            SYS_move_mount(NONE, NOWHERE, NONE, NOWHERE) SYS_open_tree(NONE, NOWHERE) SYS_mount_setattr(NONE, NOWHERE)
            SYS_open_by_handle_at(NONE, NOWHERE)
            SYS_io_uring_setup(1, NOWHERE) SYS_io_uring_enter(NONE) SYS_io_uring_register(NONE)
            SYS_bpf(9999) SYS_perf_event_open(NOWHERE) SYS_userfaultfd(0xffff) SYS_memfd_secret(0xffff)
            SYS_init_module(NOWHERE, 1, NOWHERE) SYS_finit_module(NONE, NOWHERE) SYS_delete_module(NOWHERE)
            SYS_kexec_load(0, 0, NOWHERE, 0xffff) SYS_add_key(NOWHERE, NOWHERE) SYS_request_key(NOWHERE)
            SYS_keyctl(9999) SYS_settimeofday(NOWHERE, NOWHERE) SYS_clock_settime(0, NOWHERE)
            SYS_clock_adjtime(0, NOWHERE) SYS_adjtimex(NOWHERE) SYS_sethostname(NOWHERE, 5) SYS_setdomainname(NOWHERE, 5)
            SYS_swapon(NOWHERE) SYS_swapoff(NOWHERE) SYS_quotactl(0xffff_ffff, NOWHERE) SYS_quotactl_fd(NONE)
            SYS_acct(NOWHERE) SYS_syslog(99) SYS_reboot(0) SYS_vhangup()
            SYS_fanotify_init(0xffff_ffff) SYS_fanotify_mark(NONE);
        EOPNOTSUPP: SYS_name_to_handle_at(NONE, NOWHERE, NOWHERE, NOWHERE);
        ENOSYS: SYS_clone3(NOWHERE, 0) SYS_openat2(NONE, NOWHERE, NOWHERE, 0)
            SYS_mbind() SYS_set_mempolicy(9999) SYS_get_mempolicy(NOWHERE) SYS_migrate_pages(NONE) SYS_move_pages(NONE)
            SYS_lookup_dcookie() SYS_remap_file_pages() SYS_nfsservctl();
    };
    #[cfg(target_arch = "x86_64")]
    all.extend(calls! {
        EPERM: SYS_iopl(4) SYS_ioperm(70_000, 1, 1) SYS_kexec_file_load(NONE, NONE, 0, 0, 0xffff);
        ENOSYS: SYS_modify_ldt(99) SYS_uselib(NOWHERE) SYS_ustat(0, NOWHERE) SYS_sysfs(99) SYS__sysctl(NOWHERE)
            SYS_vserver() SYS_set_thread_area()
            SYS_get_thread_area() SYS_epoll_ctl_old() SYS_epoll_wait_old();
    });
    // Newer than the C library's header: set_mempolicy_home_node, statmount, listmount, lsm_*, listns, rseq_slice_yield.
    let missing = [450, 457, 458, 459, 460, 461, 470, 471].into_iter().chain(472..=511);
    all.extend(missing.map(|number| ("a new call", call(number, &[NONE]), ENOSYS)));
    // open_tree_attr, file_setattr.
    all.extend([467, 469].map(|number| ("a new call", call(number, &[NONE, NOWHERE]), EPERM)));
    all
}

#[test]
fn row_108_default_refuses_what_leads_out_and_is_on() {
    for (what, attempt, errno) in refused() {
        assert_refused(SyscallProfile::Default, what, attempt, errno);
        assert_refused(SyscallProfile::Strict, what, attempt, errno);
    }
    for profile in SyscallProfile::ALL {
        let mut command = Command::new("cat");
        let output = Filter::of(profile).confine(command.arg("/proc/self/status")).output().unwrap();
        let status = String::from_utf8(output.stdout).unwrap();
        assert!(status.contains("\nSeccomp:\t2\n"), "{profile}: {status}");
        assert!(status.contains("\nNoNewPrivs:\t1\n"), "{profile}: {status}");
    }
}

#[test]
fn row_109_strict_has_no_sockets() {
    use libc::{
        SYS_accept4, SYS_bind, SYS_connect, SYS_listen, SYS_recvmsg, SYS_sendmsg, SYS_sendto, SYS_socket,
        SYS_socketpair,
    };
    // Of nobody who could judge where they lead, `default` has no Unix sockets either.
    for kind in [1, 5] {
        assert_refused(SyscallProfile::Strict, "a Unix socket", call(SYS_socket, &[1, kind]), EPERM);
        for profile in [SyscallProfile::Default, SyscallProfile::Permissive] {
            assert_refused(profile, "a Unix socket", call(SYS_socket, &[1, kind]), libc::EACCES);
        }
    }
    for attempt in [
        call(SYS_socket, &[2, 1]),
        call(SYS_socket, &[10, 2]),
        call(SYS_socket, &[16, 3]),
        call(SYS_socketpair, &[1, 1, 0, NOWHERE]),
        call(SYS_connect, &[NONE]),
        call(SYS_bind, &[NONE]),
        call(SYS_listen, &[NONE]),
        call(SYS_accept4, &[NONE]),
        call(SYS_sendto, &[NONE]),
        call(SYS_sendmsg, &[NONE]),
        call(SYS_recvmsg, &[NONE]),
    ] {
        assert_refused(SyscallProfile::Strict, "a socket", attempt, EPERM);
        assert_passes(SyscallProfile::Default, "a socket", attempt);
    }
    // Questions to interfaces need a socket; asked of anything else they are refused too.
    assert_refused(SyscallProfile::Strict, "SIOCGIFCONF", call(libc::SYS_ioctl, &[NONE, 0x8912]), EPERM);
}

#[test]
fn row_109_strict_has_threads_but_no_new_processes() {
    const THREAD: u64 = 0x0001_0000;
    // CLONE_THREAD alone is invalid, so that nothing is made where it passes.
    for above in ABOVE {
        assert_passes(SyscallProfile::Strict, "a thread", call(libc::SYS_clone, &[above | THREAD]));
        // CLONE_SIGHAND without CLONE_VM is invalid, so that nothing is made here either.
        assert_refused(
            SyscallProfile::Strict,
            "a process",
            call(libc::SYS_clone, &[above | 0x800 | CHILD]),
            EPERM,
        );
        // CLONE_VFORK and CLONE_VM, as posix_spawn does.
        assert_refused(
            SyscallProfile::Strict,
            "spawn",
            call(libc::SYS_clone, &[above | 0x800 | 0x4000 | CHILD]),
            EPERM,
        );
    }
    #[cfg(target_arch = "x86_64")]
    for number in [libc::SYS_fork, libc::SYS_vfork] {
        let refused = in_child(Some(&Filter::of(SyscallProfile::Strict)), || {
            // SAFETY: a child that is made after all ends at once.
            unsafe {
                let child = libc::syscall(number);
                if child == 0 {
                    libc::_exit(7);
                }
                child
            }
        });
        assert_eq!(refused, End::Errno(EPERM.into()));
    }
    // A real program: threads work, processes do not, and another program may take the place of the first.
    let script = "import threading, os\n\
                  t = threading.Thread(target=print, args=('thread',), kwargs={'flush': True}); t.start(); t.join()\n\
                  try: os.fork()\n\
                  except PermissionError: print('no fork', flush=True)\n\
                  os.execvp('echo', ['echo', 'in its place'])\n";
    let mut command = Command::new(python().expect("this test needs python3"));
    let output = Filter::of(SyscallProfile::Strict).confine(command.args(["-c", script])).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "thread\nno fork\nin its place\n", "{output:?}");
}

/// In a pid namespace, as process 2, as the enforcer starts it.
#[test]
fn row_109_strict_sends_signals_to_nobody_but_itself() {
    use libc::{
        SYS_fcntl, SYS_kill, SYS_pidfd_send_signal, SYS_prlimit64, SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo, SYS_tgkill, SYS_tkill,
    };
    let to_itself = [
        call(SYS_kill, &[2, 0]),
        call(SYS_kill, &[0xffff_ffff_0000_0002, 0]),
        call(SYS_tkill, &[2, 0]),
        call(SYS_tgkill, &[2, 2, 0]),
        call(SYS_prlimit64, &[0, 0, 0, 0]),
        call(SYS_prlimit64, &[2, 0, 0, 0]),
        call(SYS_fcntl, &[NONE, 1]),
    ];
    let mut to_others = vec![
        call(SYS_pidfd_send_signal, &[NONE, 0]),
        call(SYS_prlimit64, &[1, 0, 0, 0]),
        // F_SETOWN, F_SETSIG, F_SETOWN_EX, FIOSETOWN: a descriptor that sends signals for its owner.
        call(SYS_fcntl, &[NONE, 8]),
        call(SYS_fcntl, &[NONE, 1 << 32 | 8]),
        call(SYS_fcntl, &[NONE, 10]),
        call(SYS_fcntl, &[NONE, 15]),
        call(libc::SYS_ioctl, &[NONE, 0x8901]),
    ];
    for number in [SYS_kill, SYS_tkill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo] {
        for process in [0, 1, 3, NONE, u64::MAX, 1 << 32, 1 << 32 | 1, 2 << 32] {
            to_others.push(call(number, &[process, if number == SYS_tgkill { 2 } else { 0 }, 0]));
        }
    }
    for attempt in to_others {
        assert_refused(SyscallProfile::Strict, "a signal to others", attempt, EPERM);
    }
    let abort = call(SYS_tgkill, &[2, 2, libc::SIGABRT as u64]);
    let filter = Filter::of(SyscallProfile::Strict);
    for (attempt, expected) in
        to_itself.into_iter().map(|attempt| (attempt, None)).chain([(abort, Some(libc::SIGABRT))])
    {
        let (with, without) = (as_process_2(Some(&filter), attempt), as_process_2(None, attempt));
        if without == Inside::NoNamespace {
            eprintln!("SKIPPED: no pid namespace can be made here, so signals to itself are not tried");
            return;
        }
        assert_eq!(with, without, "{attempt:x?}");
        assert_eq!(with, expected.map_or(with, Inside::Signal), "{attempt:x?}");
        assert_ne!(with, Inside::Errno(EPERM), "{attempt:x?}");
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Inside {
    Passed,
    Errno(i32),
    Signal(i32),
    NoNamespace,
}

/// Makes a call as process 2 of a new pid namespace.
fn as_process_2(filter: Option<&Filter>, call: FilterAttempt) -> Inside {
    // The filter comes last; until then the helper processes need more than it allows.
    let install = filter.cloned();
    let end = in_child(None, || {
        // SAFETY: system calls only, in a process with one thread; each process waits for the one it made.
        unsafe {
            if libc::unshare(libc::CLONE_NEWPID) != 0
                && libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID) != 0
            {
                return 3000;
            }
            let first = libc::fork();
            if first == 0 {
                let second = libc::fork();
                if second == 0 {
                    if install.is_some_and(|filter| filter.install().is_err()) {
                        libc::_exit(99);
                    }
                    let failed = make(call) == -1;
                    libc::_exit(if failed { *libc::__errno_location() } else { 0 });
                }
                libc::_exit(ended(second));
            }
            c_long::from(ended(first))
        }
    });
    let End::Value(value) = end else { panic!("{end:?}") };
    match i32::try_from(value).unwrap() {
        3000 => Inside::NoNamespace,
        0 => Inside::Passed,
        99 => panic!("the filter was not installed"),
        value @ 1..100 => Inside::Errno(value),
        value => Inside::Signal(value - 100),
    }
}

/// Waits for a child: its code, or 100 and its signal.
unsafe fn ended(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `status` is ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if libc::WIFSIGNALED(status) { 100 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) }
}

#[test]
fn row_110_permissive_refuses_nothing_and_reports() {
    for (what, attempt, _) in refused() {
        // clone3 is told that it does not exist in every profile; vhangup has no arguments that keep it from happening; and
        // no other wall stands before the keys, nor between io_uring and the sockets of the host.
        let keys = [
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
        ];
        if [libc::SYS_clone3, libc::SYS_vhangup].contains(&attempt.0) || keys.contains(&attempt.0) {
            continue;
        }
        assert_passes(SyscallProfile::Permissive, what, attempt);
        let judgement =
            SyscallProfile::Permissive.judge(i32::try_from(attempt.0).unwrap(), attempt.1).unwrap();
        assert!(matches!(judgement, SyscallVerdict::Reported { .. }), "{what}: {judgement:?}");
    }
    let (ends, notified) = supervised(SyscallProfile::Permissive, || {
        // SAFETY: numbers only.
        let traced = unsafe { libc::syscall(libc::SYS_ptrace, 0xffff, 0, 0, 0) };
        let errno = std::io::Error::last_os_error().raw_os_error();
        // SAFETY: no arguments.
        (traced, errno, unsafe { libc::getppid() })
    });
    assert_eq!(
        (ends.0, ends.1),
        (-1, Some(libc::ESRCH)),
        "the kernel's own answer about a process that is not there"
    );
    assert_eq!(
        notified.iter().map(|(number, _)| c_long::from(*number)).collect::<Vec<_>>(),
        [libc::SYS_ptrace]
    );
}

#[test]
fn refused_calls_reach_the_listener_and_clone3_does_not() {
    let (errnos, notified) = supervised(SyscallProfile::Default, || {
        let errno = |number: c_long, first: u64| {
            // SAFETY: numbers, and a pointer that the kernel refuses.
            let result = unsafe { libc::syscall(number, first, 0, 0, 0, 0) };
            (result, std::io::Error::last_os_error().raw_os_error())
        };
        [
            errno(libc::SYS_ptrace, 0xffff),
            errno(libc::SYS_clone3, NOWHERE),
            errno(libc::SYS_socket, 40),
            errno(600, 0),
            errno(480, 0),
        ]
    });
    let expected = [EPERM, ENOSYS, EAFNOSUPPORT, EPERM, ENOSYS].map(|errno| (-1, Some(errno)));
    assert_eq!(errnos, expected);
    let numbers: Vec<_> = notified.iter().map(|(number, _)| c_long::from(*number)).collect();
    assert_eq!(numbers, [libc::SYS_ptrace, libc::SYS_socket, 600, 480]);
    assert_eq!(notified[1].1[0], 40, "the arguments come too");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn x32_calls_kill() {
    for profile in SyscallProfile::ALL {
        let filter = Filter::of(profile);
        // getpid, ptrace, unshare, and x32's own numbers for ioctl, execve, ptrace and sendmsg.
        for number in [39, 101, 272, 514, 520, 521, 518] {
            let x32 = call(0x4000_0000 | number, &[NONE]);
            assert_eq!(
                under_filter::attempt(Some(&filter), x32),
                End::Signal(libc::SIGSYS),
                "{profile}: {number}"
            );
            assert!(!matches!(under_filter::attempt(None, x32), End::Signal(libc::SIGSYS)), "the control");
        }
    }
}

/// The numbers of i386 mean other calls: 11, munmap here, is execve there; 102 is socketcall, which is every socket call.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_gate_of_i386_kills() {
    let gate = |number: u64| {
        move || {
            let result: u64;
            // SAFETY: getpid and socketcall with nonsense touch no memory; rbx, where a pointer would be, is kept.
            unsafe {
                std::arch::asm!(
                    "xchg {saved}, rbx", "int 0x80", "xchg {saved}, rbx",
                    saved = inout(reg) u64::from(u32::MAX) => _,
                    inlateout("rax") number => result, out("r8") _, out("r9") _, out("r10") _, out("r11") _,
                );
            }
            c_long::from(result != 0)
        }
    };
    for profile in SyscallProfile::ALL {
        for number in [20, 102, 117] {
            let end = in_child(Some(&Filter::of(profile)), gate(number));
            let control = in_child(None, gate(number));
            if control == End::Signal(libc::SIGSEGV) {
                eprintln!("SKIPPED: this kernel has no gate of i386, so there is nothing to close");
                return;
            }
            assert_eq!(control, End::Value(1), "the control");
            assert_eq!(end, End::Signal(libc::SIGSYS), "{profile}: {number}");
        }
    }
}
