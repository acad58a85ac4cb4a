//! Reads strings from the memory of a process that waits for an answer.

use std::io::IoSliceMut;

use nix::errno::Errno;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

use super::syscall_record::ProgramArguments;

/// The longest path that the kernel takes, with the zero at its end.
const LONGEST_PATH: usize = 4096;

/// Most of what is read in the first go: nearly all strings are shorter.
const FIRST: usize = 256;

/// Nothing is read across the end of a page: the next one need not be there.
const PAGE: usize = 4096;

/// Arguments of a program that are read, bytes of each, and bytes of all: as many as a trace keeps, and so much more that a secret
/// that lies across the end of what is kept is still seen whole, and taken out.
const MOST_ARGUMENTS: usize = 256;
const ARGUMENT: usize = (16 << 10) + MORE;
const ALL_ARGUMENTS: usize = (64 << 10) + MORE;
const MORE: usize = 1 << 10;

/// Why a path could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryReadError {
    /// The kernel could not read it either, and the call fails with this number.
    Fails(i32),
    /// The caller's memory is not for this process to read.
    Hidden,
}

/// The string that ends with a zero at this address, without it.
pub(super) fn read_path(thread: u32, address: u64) -> Result<Vec<u8>, MemoryReadError> {
    let fault = MemoryReadError::Fails(libc::EFAULT);
    match read_string(thread, address, LONGEST_PATH) {
        Ok(ReadString { text, has_end: true }) => Ok(text),
        Ok(ReadString { text, .. }) if text.len() < LONGEST_PATH => Err(fault),
        Ok(_) => Err(MemoryReadError::Fails(libc::ENAMETOOLONG)),
        Err(Errno::EFAULT) => Err(fault),
        Err(_) => Err(MemoryReadError::Hidden),
    }
}

struct ReadString {
    text: Vec<u8>,
    has_end: bool,
}

/// As much of a string as there is, up to its end or so many bytes.
fn read_string(thread: u32, address: u64, longest: usize) -> Result<ReadString, Errno> {
    let mut text = Vec::new();
    let mut address = usize::try_from(address).map_err(|_| Errno::EFAULT)?;
    let mut buffer = [0; PAGE];
    let mut most = FIRST;
    while text.len() < longest {
        let length = most.min(PAGE - address % PAGE).min(longest - text.len());
        let Some(into) = buffer.get_mut(..length) else { break };
        let count = match read_memory(thread, address, into) {
            Ok(count) => count,
            // The beginning was there.
            Err(Errno::EFAULT) if !text.is_empty() => break,
            Err(errno) => return Err(errno),
        };
        let new = into.get(..count).unwrap_or_default();
        if let Some(end) = new.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(new.get(..end).unwrap_or_default());
            return Ok(ReadString { text, has_end: true });
        }
        text.extend_from_slice(new);
        let Some(next) = address.checked_add(count).filter(|_| count == length) else { break };
        address = next;
        most = PAGE;
    }
    Ok(ReadString { text, has_end: false })
}

fn read_memory(thread: u32, address: usize, into: &mut [u8]) -> Result<usize, Errno> {
    let from = [RemoteIoVec { base: address, len: into.len() }];
    let pid = Pid::from_raw(i32::try_from(thread).map_err(|_| Errno::ESRCH)?);
    process_vm_readv(pid, &mut [IoSliceMut::new(into)], &from)
}

/// The strings of an array of pointers that ends with a null one: the first of them, and of each the beginning.
pub(super) fn read_arguments(thread: u32, address: u64) -> ProgramArguments {
    let mut texts = Vec::new();
    // The kernel takes a null pointer for an empty list.
    if address == 0 {
        return ProgramArguments::default();
    }
    let mut left = ALL_ARGUMENTS;
    let mut are_cut = false;
    for index in 0..=MOST_ARGUMENTS {
        let pointer = match pointer(thread, address, index) {
            Some(0) => return ProgramArguments { texts, are_cut },
            Some(pointer) if index < MOST_ARGUMENTS => pointer,
            _ => break,
        };
        let Ok(argument) = read_string(thread, pointer, ARGUMENT.min(left)) else { break };
        left -= argument.text.len();
        // What comes behind one that is too long is still told, as long as there is room.
        are_cut |= !argument.has_end;
        texts.push(argument.text);
        if left == 0 {
            break;
        }
    }
    ProgramArguments { texts, are_cut: true }
}

fn pointer(thread: u32, address: u64, index: usize) -> Option<u64> {
    let mut bytes = [0; size_of::<u64>()];
    let at = usize::try_from(address).ok()?.checked_add(index * size_of::<u64>())?;
    let count = read_memory(thread, at, &mut bytes).ok()?;
    (count == bytes.len()).then(|| u64::from_ne_bytes(bytes))
}
