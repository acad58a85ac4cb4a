//! Calls about System V objects and kernel keys.

use std::ffi::CStr;
use std::io;

use super::{check, int};

/// Bytes of every object and message.
pub(crate) const SIZE: usize = 64;
/// Reads and writes for everybody: name spaces are to keep others away, not modes.
const MODE: i32 = 0o666;

/// A message as the kernel has it: a kind, then the text.
#[repr(C)]
struct Message {
    kind: libc::c_long,
    text: [u8; SIZE],
}

/// Makes (`create`) or finds shared memory.
pub(crate) fn shm_id(key: i32, create: bool) -> io::Result<i32> {
    let flags = if create { libc::IPC_CREAT | libc::IPC_EXCL | MODE } else { 0 };
    // SAFETY: takes numbers.
    check(unsafe { libc::shmget(key, if create { SIZE } else { 0 }, flags) }.into()).and_then(int)
}

/// Reads the beginning of shared memory.
pub(crate) fn shm_read(id: i32) -> io::Result<[u8; SIZE]> {
    // SAFETY: the kernel picks an address that is free.
    let address = unsafe { libc::shmat(id, std::ptr::null(), libc::SHM_RDONLY) };
    check(address as libc::c_long)?;
    // SAFETY: a mapping is at least a page long and may be read; an array of bytes has no alignment and no invalid value. It is
    // copied at once, and the segment is not read through a reference while others may write.
    let bytes = unsafe { address.cast::<[u8; SIZE]>().read_volatile() };
    // SAFETY: this is the address `shmat` gave, and nothing points there any more.
    check(unsafe { libc::shmdt(address) }.into())?;
    Ok(bytes)
}

/// Writes the beginning of shared memory.
pub(crate) fn shm_write(id: i32, bytes: [u8; SIZE]) -> io::Result<()> {
    // SAFETY: the kernel picks an address that is free.
    let address = unsafe { libc::shmat(id, std::ptr::null(), 0) };
    check(address as libc::c_long)?;
    // SAFETY: a mapping is at least a page long and may be written.
    unsafe { address.cast::<[u8; SIZE]>().write_volatile(bytes) };
    // SAFETY: this is the address `shmat` gave, and nothing points there any more.
    check(unsafe { libc::shmdt(address) }.into()).map(drop)
}

/// Removes shared memory.
pub(crate) fn shm_remove(id: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID reads and writes no buffer.
    check(unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) }.into()).map(drop)
}

/// Makes or finds a queue.
pub(crate) fn msg_id(key: i32, create: bool) -> io::Result<i32> {
    let flags = if create { libc::IPC_CREAT | libc::IPC_EXCL | MODE } else { 0 };
    // SAFETY: takes numbers.
    check(unsafe { libc::msgget(key, flags) }.into()).and_then(int)
}

/// Puts a message in a queue.
pub(crate) fn msg_send(id: i32, text: [u8; SIZE]) -> io::Result<()> {
    let message = Message { kind: 1, text };
    // SAFETY: the kernel reads the kind and `SIZE` bytes behind it.
    check(unsafe { libc::msgsnd(id, (&raw const message).cast(), SIZE, libc::IPC_NOWAIT) }.into()).map(drop)
}

/// Takes a message from a queue.
pub(crate) fn msg_take(id: i32) -> io::Result<[u8; SIZE]> {
    let mut message = Message { kind: 0, text: [0; SIZE] };
    // SAFETY: the kernel writes the kind and at most `SIZE` bytes behind it.
    let got = unsafe { libc::msgrcv(id, (&raw mut message).cast(), SIZE, 0, libc::IPC_NOWAIT) };
    if got == -1 { Err(io::Error::last_os_error()) } else { Ok(message.text) }
}

/// Removes a queue.
pub(crate) fn msg_remove(id: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID reads and writes no buffer.
    check(unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) }.into()).map(drop)
}

/// Makes or finds a semaphore.
pub(crate) fn sem_id(key: i32, create: bool) -> io::Result<i32> {
    let flags = if create { libc::IPC_CREAT | libc::IPC_EXCL | MODE } else { 0 };
    // SAFETY: takes numbers.
    check(unsafe { libc::semget(key, i32::from(create), flags) }.into()).and_then(int)
}

/// The value of a semaphore.
pub(crate) fn sem_value(id: i32) -> io::Result<i32> {
    // SAFETY: GETVAL takes no further argument.
    check(unsafe { libc::semctl(id, 0, libc::GETVAL) }.into()).and_then(int)
}

/// Sets the value of a semaphore.
pub(crate) fn sem_set(id: i32, value: i32) -> io::Result<()> {
    // SAFETY: SETVAL takes a number, in the union of that size.
    check(unsafe { libc::semctl(id, 0, libc::SETVAL, value) }.into()).map(drop)
}

/// Removes a semaphore.
pub(crate) fn sem_remove(id: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID takes no further argument.
    check(unsafe { libc::semctl(id, 0, libc::IPC_RMID) }.into()).map(drop)
}

/// The keyrings every process can name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ring {
    Session = -3,
    User = -4,
}

/// The number of a keyring, without making it.
pub(crate) fn ring_id(ring: Ring) -> io::Result<i32> {
    // SAFETY: KEYCTL_GET_KEYRING_ID (0) takes two numbers.
    check(unsafe { libc::syscall(libc::SYS_keyctl, 0, ring as i64, 0) }).and_then(int)
}

/// Puts a key in a keyring.
pub(crate) fn add_key(description: &CStr, payload: &[u8], ring: i32) -> io::Result<i32> {
    // SAFETY: both texts end in NUL and the kernel reads `len` bytes of the payload.
    let id = unsafe {
        libc::syscall(
            libc::SYS_add_key,
            c"user".as_ptr(),
            description.as_ptr(),
            payload.as_ptr(),
            payload.len(),
            ring,
        )
    };
    check(id).and_then(int)
}

/// Lets every process of the same user read a key.
pub(crate) fn open_key_to_user(key: i32) -> io::Result<()> {
    // SAFETY: KEYCTL_SETPERM (5) takes two numbers: all for the possessor, all for the user.
    check(unsafe { libc::syscall(libc::SYS_keyctl, 5, key, 0x3f3f_0000_i64) }).map(drop)
}

/// Reads a key.
pub(crate) fn read_key(key: i32) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0_u8; 256];
    // SAFETY: KEYCTL_READ (11) writes at most `len` bytes to the buffer.
    let result = unsafe { libc::syscall(libc::SYS_keyctl, 11, key, buffer.as_mut_ptr(), buffer.len()) };
    let length = usize::try_from(check(result)?).map_err(io::Error::other)?;
    buffer.truncate(length);
    Ok(buffer)
}

/// Finds a key by its name in the keyrings of this process.
pub(crate) fn request_key(description: &CStr) -> io::Result<i32> {
    // SAFETY: both texts end in NUL; null means that nobody is asked who could make one.
    let id = unsafe { libc::syscall(libc::SYS_request_key, c"user".as_ptr(), description.as_ptr(), 0, 0) };
    check(id).and_then(int)
}

/// Takes a key out of use.
pub(crate) fn invalidate_key(key: i32) -> io::Result<()> {
    // SAFETY: KEYCTL_INVALIDATE (21) takes a number.
    check(unsafe { libc::syscall(libc::SYS_keyctl, 21, key) }).map(drop)
}
