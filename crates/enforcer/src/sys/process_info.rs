//! Who a process is, as numbers: the kernel writes no text for it, and nobody has to read one.

use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use super::checked;

/// The descriptor is of the thread, whether it leads its process or not (Linux 6.9).
const PIDFD_THREAD: libc::c_int = libc::O_EXCL;

/// `struct pidfd_info` as Linux 6.13 has it. A newer kernel fills no more than that.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    /// What is wanted, and then what is filled in. The numbers of the process always are.
    mask: u64,
    cgroup: u64,
    pid: u32,
    tgid: u32,
    ppid: u32,
    /// The user's and group's numbers.
    _credentials: [u32; 8],
    _exit_code: i32,
}

/// `PIDFD_GET_INFO`: `_IOWR(0xFF, 11, struct pidfd_info)`.
const PIDFD_GET_INFO: libc::Ioctl = libc::_IOWR::<PidfdInfo>(0xFF, 11);

/// `PIDFD_INFO_PID`.
const NUMBERS: u64 = 1;

/// The numbers of a thread's process and of the process that started it, both as this process knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessNumbers {
    pub(crate) pid: u32,
    /// `None` where that one is outside what this process can see.
    pub(crate) parent: Option<u32>,
}

/// Whether [`process_numbers`] has answers here (Linux 6.13).
pub(crate) fn has_process_numbers() -> bool {
    super::kernel_release() >= Some((6, 13))
}

/// The numbers of the process that a thread belongs to. `None` where the thread is gone, or the kernel cannot say.
pub(crate) fn process_numbers(thread: u32) -> Option<ProcessNumbers> {
    // SAFETY: takes numbers only.
    let opened = checked(unsafe { libc::syscall(libc::SYS_pidfd_open, thread, PIDFD_THREAD) }).ok()?;
    // SAFETY: the call returned a new descriptor, which nobody else owns.
    let opened = unsafe { OwnedFd::from_raw_fd(i32::try_from(opened).ok()?) };
    let mut info = PidfdInfo { mask: NUMBERS, ..PidfdInfo::default() };
    // SAFETY: the kernel fills the structure, whose size is part of the request's number.
    checked(unsafe { libc::ioctl(opened.as_raw_fd(), PIDFD_GET_INFO, &raw mut info) }.into()).ok()?;
    let is_filled = info.mask & NUMBERS != 0 && info.pid == thread && info.tgid != 0;
    is_filled.then_some(ProcessNumbers { pid: info.tgid, parent: (info.ppid != 0).then_some(info.ppid) })
}

/// The number that the process of a thread has in a namespace, by the thread's number here (Linux 6.11).
pub(crate) fn process_inside(namespace: BorrowedFd<'_>, thread: u32) -> Option<u32> {
    translate(namespace, libc::NS_GET_TGID_IN_PIDNS, thread)
}

/// The number that a process has here, by its number in a namespace (Linux 6.11).
pub(crate) fn process_outside(namespace: BorrowedFd<'_>, inside: u32) -> Option<u32> {
    translate(namespace, libc::NS_GET_TGID_FROM_PIDNS, inside)
}

fn translate(namespace: BorrowedFd<'_>, request: libc::Ioctl, number: u32) -> Option<u32> {
    // SAFETY: takes a number, not a pointer.
    let result = unsafe { libc::ioctl(namespace.as_raw_fd(), request, libc::c_ulong::from(number)) };
    u32::try_from(result).ok().filter(|number| *number != 0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    /// What the kernel says in numbers is what it writes in `/proc/PID/status`.
    #[test]
    fn numbers_are_those_that_proc_has() {
        if !has_process_numbers() {
            return;
        }
        let namespace = OwnedFd::from(std::fs::File::open("/proc/self/ns/pid").unwrap());
        std::thread::spawn(move || {
            let thread = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let field = |name: &str| -> u32 {
                status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().parse().unwrap()
            };
            let found = process_numbers(thread).unwrap();
            assert_eq!((found.pid, found.parent.unwrap_or(0)), (field("Tgid:"), field("PPid:")));
            assert_ne!(found.pid, thread, "a thread that leads no process");
            let inside = process_inside(namespace.as_fd(), thread).unwrap();
            assert_eq!(process_outside(namespace.as_fd(), inside), Some(found.pid));
        })
        .join()
        .unwrap();
        assert_eq!(process_numbers(u32::MAX >> 1), None, "there is no such thread");
    }
}
