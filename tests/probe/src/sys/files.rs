//! Calls about files, descriptors and terminals.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};

use super::{check, int};

/// The largest handle (`MAX_HANDLE_SZ`).
const MAX_HANDLE: usize = 128;

/// `struct file_handle` with room for any.
#[repr(C)]
struct RawHandle {
    bytes: u32,
    kind: i32,
    handle: [u8; MAX_HANDLE],
}

/// A copy of a descriptor that this process may have been started with.
pub(crate) fn inherited(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers; on a number that is not open it fails.
    let copy = check(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 100) }.into()).and_then(int)?;
    // SAFETY: the kernel has just made this copy for us.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// What the file is called without its path.
pub(crate) fn name_to_handle(path: &CStr) -> io::Result<(i32, Vec<u8>)> {
    let mut handle = RawHandle { bytes: 128, kind: 0, handle: [0; MAX_HANDLE] };
    let mut mount = 0_i32;
    // SAFETY: the path ends in NUL; the kernel writes at most `bytes` bytes behind the header, and a number to `mount`.
    let result = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            libc::AT_FDCWD,
            path.as_ptr(),
            &raw mut handle,
            &raw mut mount,
            0,
        )
    };
    check(result)?;
    let bytes = handle.handle.into_iter().take(handle.bytes as usize).collect();
    Ok((handle.kind, bytes))
}

/// Opens a file by its handle, on the file system that `mount` is on.
pub(crate) fn open_by_handle(mount: BorrowedFd<'_>, kind: i32, bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut handle = RawHandle { bytes: 0, kind, handle: [0; MAX_HANDLE] };
    for (slot, byte) in handle.handle.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    handle.bytes = u32::try_from(bytes.len().min(MAX_HANDLE)).map_err(io::Error::other)?;
    // SAFETY: the kernel reads the header and `bytes` bytes behind it, which are there.
    let fd = unsafe {
        libc::syscall(libc::SYS_open_by_handle_at, mount.as_raw_fd(), &raw mut handle, libc::O_RDONLY)
    };
    let fd = int(check(fd)?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets an attribute of a file.
pub(crate) fn setxattr(path: &CStr, name: &CStr, value: &[u8]) -> io::Result<()> {
    // SAFETY: both texts end in NUL and the kernel reads `len` bytes of the value.
    let result =
        unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), value.as_ptr().cast(), value.len(), 0) };
    check(result.into()).map(drop)
}

/// Sets the flag that dumps leave the file out (`FS_NODUMP_FL`), which changes nothing else.
pub(crate) fn set_nodump(file: BorrowedFd<'_>) -> io::Result<()> {
    let mut flags: libc::c_long = 0;
    // SAFETY: FS_IOC_GETFLAGS writes a number of at most this size.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS as _, &raw mut flags) }.into())?;
    flags |= 0x40;
    // SAFETY: FS_IOC_SETFLAGS reads a number of at most this size.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_SETFLAGS as _, &raw const flags) }.into())
        .map(drop)
}

/// The name space above the one of this descriptor (`NS_GET_PARENT`) or the user name space that owns it (`NS_GET_USERNS`).
pub(crate) fn ns_above(ns: BorrowedFd<'_>, owner: bool) -> io::Result<OwnedFd> {
    let request = if owner { 0xb701 } else { 0xb702 };
    // SAFETY: both requests take no argument and give a descriptor.
    let fd = check(unsafe { libc::ioctl(ns.as_raw_fd(), request) }.into()).and_then(int)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Types a space on a terminal, as if its user had. `high` is added to the request above its 32 bits, where the kernel does not look
/// and a filter may.
pub(crate) fn type_space(terminal: BorrowedFd<'_>, high: u64) -> io::Result<()> {
    let space = b' ';
    let request = libc::TIOCSTI | (high << 32);
    // SAFETY: the kernel reads one byte.
    let result = unsafe { libc::syscall(libc::SYS_ioctl, terminal.as_raw_fd(), request, &raw const space) };
    check(result).map(drop)
}

/// Asks a console of the kernel which shift keys are held (`TIOCL_GETSHIFTSTATE`): the harmless part of what can also paste.
pub(crate) fn console_shift_state(terminal: BorrowedFd<'_>) -> io::Result<()> {
    let mut request = [6_u8; 8];
    // SAFETY: the kernel reads one byte, and writes one in its place.
    check(unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCLINUX as _, request.as_mut_ptr()) }.into())
        .map(drop)
}

/// Clears the read-only flag of a mount that is attached nowhere yet.
pub(crate) fn make_tree_writable(tree: BorrowedFd<'_>) -> io::Result<()> {
    // `struct mount_attr`: set, clear (MOUNT_ATTR_RDONLY), propagation, user name space.
    let attributes: [u64; 4] = [0, 1, 0, 0];
    // SAFETY: the kernel reads an empty text and 32 bytes. 0x1000 is AT_EMPTY_PATH.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            0x1000,
            attributes.as_ptr(),
            32,
        )
    };
    check(result).map(drop)
}

/// A copy of the mounts at a path, attached nowhere.
pub(crate) fn clone_tree(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the path ends in NUL. The flag is OPEN_TREE_CLONE.
    let fd = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), 1) };
    let fd = int(check(fd)?)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// An anonymous file that has no name anywhere.
pub(crate) fn memfd(name: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the name ends in NUL.
    let fd = check(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) }.into()).and_then(int)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Asks for memory in large pages, which no limit on memory counts, by each of the three calls that give it. None is touched, and none
/// is set aside: `MFD_HUGETLB`, `MAP_NORESERVE`, `SHM_NORESERVE`.
pub(crate) fn large_pages() -> [(&'static str, io::Result<()>); 3] {
    const SIZE: usize = 1 << 30;
    // SAFETY: the name ends in NUL.
    let memfd =
        check(unsafe { libc::memfd_create(c"large".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_HUGETLB) }.into());
    // SAFETY: the kernel has just made this descriptor for us.
    let memfd = memfd.and_then(int).map(|fd| drop(unsafe { OwnedFd::from_raw_fd(fd) }));
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_HUGETLB;
    // SAFETY: the kernel picks an address that is free.
    let address = unsafe { libc::mmap(std::ptr::null_mut(), SIZE, libc::PROT_READ, flags, -1, 0) };
    let mapped = check(address as libc::c_long).map(|_| {
        // SAFETY: this is what `mmap` gave, and nothing points there.
        unsafe { libc::munmap(address, SIZE) };
    });
    let flags = libc::IPC_CREAT | 0o600 | libc::SHM_HUGETLB | libc::SHM_NORESERVE;
    // SAFETY: takes numbers.
    let shared = check(unsafe { libc::shmget(libc::IPC_PRIVATE, SIZE, flags) }.into());
    let shared = shared.and_then(int).and_then(super::shm_remove);
    [("memfd_create", memfd), ("mmap", mapped), ("shmget", shared)]
}

/// A socket of any kind.
///
/// The family is wider than the kernel's `int`: it does not look at the upper half, and a filter may.
pub(crate) fn socket(family: i64, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_CLOEXEC;
    // SAFETY: takes three numbers.
    let fd = check(unsafe { libc::syscall(libc::SYS_socket, family, kind, protocol) }).and_then(int)?;
    // SAFETY: the kernel has just made this descriptor for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends to a port of 127.0.0.1, with flags.
pub(crate) fn send_to_loopback(
    socket: BorrowedFd<'_>,
    port: u16,
    bytes: &[u8],
    flags: i32,
) -> io::Result<()> {
    let address = loopback(port);
    // SAFETY: the kernel reads `len` bytes of the message and one `sockaddr_in`.
    let result = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            flags | libc::MSG_NOSIGNAL,
            (&raw const address).cast(),
            ADDRESS_SIZE,
        )
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Connects to a port of 127.0.0.1.
pub(crate) fn connect_to_loopback(socket: BorrowedFd<'_>, port: u16) -> io::Result<()> {
    let address = loopback(port);
    // SAFETY: the kernel reads one `sockaddr_in`.
    let result = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), ADDRESS_SIZE) };
    check(result.into()).map(drop)
}

/// As the kernel's structures have them: `sizeof(struct sockaddr_in)` and `AF_INET`.
const ADDRESS_SIZE: u32 = 16;
const AF_INET: u16 = 2;

fn loopback(port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: AF_INET,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_be_bytes([127, 0, 0, 1]).to_be() },
        sin_zero: [0; 8],
    }
}

/// Whether a descriptor is a terminal.
pub(crate) fn is_terminal(fd: &OwnedFd) -> bool {
    io::IsTerminal::is_terminal(&fd.as_fd())
}

/// The mode of a file by the call that came with Linux 6.6.
pub(crate) fn fchmodat2(path: &CStr, mode: u32) -> io::Result<()> {
    // SAFETY: the path ends in NUL; the rest are numbers. 452 on every architecture.
    check(unsafe { libc::syscall(452, libc::AT_FDCWD, path.as_ptr(), mode, 0) }).map(drop)
}

/// A watch on a file, which ends with the descriptor.
pub(crate) fn inotify_watch(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: takes a number.
    let fd = check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC) }.into()).and_then(int)?;
    // SAFETY: the kernel has just made this descriptor for us.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the path ends in NUL.
    check(unsafe { libc::inotify_add_watch(fd.as_raw_fd(), path.as_ptr(), libc::IN_ALL_EVENTS) }.into())?;
    Ok(fd)
}
