//! Strings of a process that waits.

use std::io::IoSliceMut;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// The longest path that the kernel takes.
const LONGEST_PATH: usize = 4096;

/// Most of what is read in one go: nearly all paths are shorter, and a page is never crossed for nothing.
const FIRST: usize = 256;

const PAGE: usize = 4096;

/// Arguments of a program that are read, and bytes of each.
const MOST_ARGUMENTS: usize = 64;
const ARGUMENT: usize = 512;

/// The string that ends with a zero at this address, without it. `None` where it cannot be read, or has no end.
pub(super) fn path(thread: u32, address: u64) -> Option<Vec<u8>> {
    string(thread, address, LONGEST_PATH)
}

fn string(thread: u32, address: u64, longest: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut address = usize::try_from(address).ok()?;
    let mut buffer = [0; FIRST];
    while text.len() < longest {
        let length = FIRST.min(PAGE - address % PAGE).min(longest - text.len());
        let into = buffer.get_mut(..length)?;
        let count = read(thread, address, into)?;
        let new = into.get(..count)?;
        if let Some(end) = new.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(new.get(..end)?);
            return Some(text);
        }
        if count < length {
            return None;
        }
        text.extend_from_slice(new);
        address = address.checked_add(count)?;
    }
    (longest < LONGEST_PATH).then_some(text)
}

fn read(thread: u32, address: usize, into: &mut [u8]) -> Option<usize> {
    let from = [RemoteIoVec { base: address, len: into.len() }];
    let pid = Pid::from_raw(i32::try_from(thread).ok()?);
    process_vm_readv(pid, &mut [IoSliceMut::new(into)], &from).ok()
}

/// The strings of an array of pointers that ends with a null one: the first of them, and of each the beginning.
pub(super) fn arguments(thread: u32, address: u64) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let Ok(address) = usize::try_from(address) else { return found };
    for index in 0..MOST_ARGUMENTS {
        let mut pointer = [0; size_of::<u64>()];
        let Some(at) = address.checked_add(index * size_of::<u64>()) else { break };
        if read(thread, at, &mut pointer) != Some(pointer.len()) {
            break;
        }
        match u64::from_ne_bytes(pointer) {
            0 => break,
            pointer => found.extend(string(thread, pointer, ARGUMENT)),
        }
    }
    found
}
