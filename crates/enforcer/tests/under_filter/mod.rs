//! Tries system calls and programs under a filter, each in a process or thread of its own.

use std::io::Read as _;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use skillsandbox_enforcer::{SyscallFilters as _, SyscallProfile, SyscallVerdict};

/// An error number that no kernel uses.
const MARK: i64 = 1961;
const RET_ERRNO: u32 = 0x0005_0000;
/// No child lives longer, whatever it does.
const SECONDS: u32 = 60;

/// A filter, ready to be installed in a child.
#[derive(Clone)]
pub(crate) struct Filter(Vec<libc::sock_filter>);

impl Filter {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let instruction = |bytes: &[u8]| libc::sock_filter {
            code: u16::from_ne_bytes([bytes[0], bytes[1]]),
            jt: bytes[2],
            jf: bytes[3],
            k: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
        };
        Self(bytes.chunks_exact(8).map(instruction).collect())
    }

    pub(crate) fn of(profile: SyscallProfile) -> Self {
        Self::new(&profile.filter().unwrap())
    }

    /// The same filter with an answer that can come from nobody else, so that a refusal by the filter cannot be mistaken for
    /// one by the kernel: the difference from a call that fails anyway.
    fn marked(mut self) -> Self {
        const RETURN: u16 = 0x06;
        for instruction in self.0.iter_mut().filter(|i| i.code == RETURN && i.k & 0xffff_0000 == RET_ERRNO) {
            instruction.k = RET_ERRNO | u32::try_from(MARK).unwrap();
        }
        self
    }

    /// Only system calls: this runs between fork and exec.
    pub(crate) fn install(&self) -> std::io::Result<()> {
        self.install_with(0).map(|_| ())
    }

    pub(crate) fn install_with(&self, flags: libc::c_ulong) -> std::io::Result<RawFd> {
        let program = libc::sock_fprog {
            len: u16::try_from(self.0.len()).unwrap_or(0),
            filter: self.0.as_ptr().cast_mut(),
        };
        // SAFETY: `program` points to as many instructions as it says, and both outlive the call.
        let result = unsafe {
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        if result < 0 {
            Err(std::io::Error::last_os_error())
        } else {
            Ok(RawFd::try_from(result).unwrap_or(-1))
        }
    }

    /// Lets a command run under this filter.
    pub(crate) fn confine(self, command: &mut Command) -> &mut Command {
        // SAFETY: between fork and exec, `install` makes two system calls and allocates nothing.
        unsafe { command.pre_exec(move || self.install()) }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With this value.
    Value(i64),
    /// With this error number.
    Errno(i64),
    /// With this signal, which ended the process.
    Signal(i32),
}

/// A system call: its number and its arguments.
pub(crate) type FilterAttempt = (libc::c_long, [u64; 6]);

/// No address that a child may read or write.
pub(crate) const NOWHERE: u64 = 1;
/// No descriptor.
pub(crate) const NONE: u64 = u32::MAX as u64;
/// Bits that the kernel does not look at in an `int`.
pub(crate) const ABOVE: [u64; 4] = [0, 1 << 32, 0xffff_ffff << 32, 1 << 63];

/// The signal that a parent gets, in the lowest byte of clone's flags.
pub(crate) const CHILD: u64 = 0x11;

/// A call with arguments; the rest is 0.
pub(crate) fn call(number: libc::c_long, arguments: &[u64]) -> FilterAttempt {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    (number, all)
}

/// Makes a call in a child, with or without a filter.
pub(crate) fn attempt(filter: Option<&Filter>, call: FilterAttempt) -> End {
    in_child(filter, || make(call))
}

/// Makes a call, here and now.
pub(crate) fn make((number, args): FilterAttempt) -> libc::c_long {
    // SAFETY: the arguments of every attempt are numbers, or pointers that the kernel refuses.
    unsafe { libc::syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]) }
}

/// Runs code in a forked child and reports how it ended. It must make only system calls.
pub(crate) fn in_child(filter: Option<&Filter>, act: impl FnOnce() -> libc::c_long) -> End {
    let (mut reader, writer) = std::io::pipe().unwrap();
    // SAFETY: the child makes system calls only, and leaves by _exit.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork: {}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: as above.
        unsafe {
            libc::setsid();
            libc::alarm(SECONDS);
            if filter.is_some_and(|filter| filter.install().is_err()) {
                libc::_exit(9);
            }
            let value = act();
            let errno = i64::from(*libc::__errno_location());
            let report = [value.to_ne_bytes(), errno.to_ne_bytes()];
            let written = libc::write(writer.as_raw_fd(), report.as_ptr().cast(), 16);
            libc::_exit(if written == 16 { 0 } else { 8 });
        }
    }
    drop(writer);
    let mut report = Vec::new();
    reader.read_to_end(&mut report).unwrap();
    let mut status = 0;
    // SAFETY: `child` is ours and not waited for yet.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFSIGNALED(status) {
        return End::Signal(libc::WTERMSIG(status));
    }
    assert_eq!(
        libc::WEXITSTATUS(status),
        0,
        "9: the filter was not installed; 8: the report was not written"
    );
    let number = |at: usize| i64::from_ne_bytes(report[at..at + 8].try_into().unwrap());
    if number(0) == -1 { End::Errno(number(8)) } else { End::Value(number(0)) }
}

/// The filter refuses the call, with this number, and it is the filter that does: with another answer in the filter, the call
/// has another answer. (Without a filter some of them would load modules into the kernel.)
pub(crate) fn assert_refused(profile: SyscallProfile, what: &str, call: FilterAttempt, errno: i32) {
    let filter = Filter::of(profile);
    assert_eq!(attempt(Some(&filter), call), End::Errno(errno.into()), "{profile}: {what}");
    assert_eq!(attempt(Some(&filter.marked()), call), End::Errno(MARK), "{profile}: {what}");
}

/// The filter lets the call reach the kernel, which does what it does without one.
pub(crate) fn assert_passes(profile: SyscallProfile, what: &str, call: FilterAttempt) {
    let with = attempt(Some(&Filter::of(profile).marked()), call);
    assert_ne!(with, End::Errno(MARK), "{profile}: {what}");
    match (with, attempt(None, call)) {
        // Numbers of processes and descriptors may differ.
        (End::Value(_), End::Value(_)) => {}
        (with, without) => assert_eq!(with, without, "{profile}: {what}"),
    }
}

/// Where python3 really is: on many machines the name is a script that starts it.
pub(crate) fn python() -> Option<String> {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// What reached the listener of a filter: numbers and arguments of calls, in order.
pub(crate) type Notified = Vec<(i32, [u64; 6])>;

/// Does something in a thread under the notifying filter of a profile, answers what is refused as the profile says, and returns
/// what was refused. Processes that the thread starts are under the same filter.
pub(crate) fn supervised<T: Send>(profile: SyscallProfile, act: impl FnOnce() -> T + Send) -> (T, Notified) {
    let filter = Filter::new(&profile.notifying_filter().unwrap());
    let listener = AtomicI32::new(-1);
    let mut notified = Notified::new();
    let result = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            const NEW_LISTENER: libc::c_ulong = 8;
            let listening = filter.install_with(NEW_LISTENER);
            // 2 stands for "cannot", because 0 to 2 are taken.
            listener.store(listening.as_ref().map_or(2, |fd| *fd), Ordering::SeqCst);
            listening.expect("a listener; is there another one above us already?");
            act()
        });
        while listener.load(Ordering::SeqCst) == -1 {
            std::thread::yield_now();
        }
        let listener = listener.load(Ordering::SeqCst);
        if listener != 2 {
            // SAFETY: the kernel has just made this descriptor, and nobody else owns it.
            let listener = unsafe { OwnedFd::from_raw_fd(listener) };
            while !thread.is_finished() {
                answer(profile, &listener, &mut notified);
            }
        }
        thread.join().unwrap()
    });
    (result, notified)
}

/// Waits a moment for a call, and answers it.
fn answer(profile: SyscallProfile, listener: &OwnedFd, notified: &mut Notified) {
    const RECEIVE: libc::c_ulong = 0xc050_2100;
    const SEND: libc::c_ulong = 0xc018_2101;
    const CONTINUE: u32 = 1;
    let mut ready = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure, of which poll writes one field.
    if unsafe { libc::poll(&raw mut ready, 1, 20) } != 1 || ready.revents & libc::POLLIN == 0 {
        return;
    }
    // SAFETY: the kernel wants the structure zeroed, and all of it may be.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the structure is as large as the number of the command says.
    if unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut call) } != 0 {
        return; // The caller died meanwhile.
    }
    let judgement = profile.judge(call.data.nr, call.data.args).unwrap();
    if judgement != SyscallVerdict::Observed {
        notified.push((call.data.nr, call.data.args));
    }
    let mut answer = libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags: 0 };
    match judgement {
        SyscallVerdict::Refused { errno, .. } => answer.error = -errno,
        SyscallVerdict::Reported { .. } | SyscallVerdict::Observed => answer.flags = CONTINUE,
        SyscallVerdict::Allowed => {
            panic!("an allowed call should not have come here: {} {:x?}", call.data.nr, call.data.args)
        }
    }
    // SAFETY: as above. It fails if the caller died meanwhile, which is no matter.
    unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const answer) };
}
