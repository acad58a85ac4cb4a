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
    read_pieces(thread, &from, into)
}

/// Several pieces in one go, one behind the other. The kernel stops at the first that is not there.
fn read_pieces(thread: u32, from: &[RemoteIoVec], into: &mut [u8]) -> Result<usize, Errno> {
    let pid = Pid::from_raw(i32::try_from(thread).map_err(|_| Errno::ESRCH)?);
    process_vm_readv(pid, &mut [IoSliceMut::new(into)], from)
}

/// The strings of an array of pointers that ends with a null one: the first of them, and of each the beginning.
pub(super) fn read_arguments(thread: u32, address: u64) -> ProgramArguments {
    // The kernel takes a null pointer for an empty list.
    if address == 0 {
        return ProgramArguments::default();
    }
    let (pointers, has_end) = read_pointers(thread, address);
    let mut texts = Vec::with_capacity(pointers.len());
    let mut are_cut = !has_end;
    let mut left = ALL_ARGUMENTS;
    for some in pointers.chunks(TOGETHER) {
        let mut buffer = [0; TOGETHER * FIRST];
        let beginnings = read_beginnings(thread, some, &mut buffer);
        for (pointer, whole) in some.iter().zip(beginnings) {
            let longest = ARGUMENT.min(left);
            let argument = match whole.filter(|text| text.len() < longest) {
                Some(text) => ReadString { text: text.to_owned(), has_end: true },
                None => match read_string(thread, *pointer, longest) {
                    Ok(argument) => argument,
                    Err(_) => return ProgramArguments { texts, are_cut: true },
                },
            };
            left -= argument.text.len();
            // What comes behind one that is too long is still told, as long as there is room.
            are_cut |= !argument.has_end;
            texts.push(argument.text);
            if left == 0 {
                return ProgramArguments { texts, are_cut: true };
            }
        }
    }
    ProgramArguments { texts, are_cut }
}

/// Pointers, or beginnings of strings, that are read in one go.
const TOGETHER: usize = 16;

/// The pointers of an array up to the null one, and whether that was reached.
fn read_pointers(thread: u32, address: u64) -> (Vec<u64>, bool) {
    const SIZE: usize = size_of::<u64>();
    let mut pointers = Vec::with_capacity(TOGETHER);
    let Ok(mut address) = usize::try_from(address) else { return (pointers, false) };
    loop {
        let mut buffer = [0; TOGETHER * SIZE];
        // One that lies across the end of a page is read by itself.
        let length = (buffer.len().min(PAGE - address % PAGE) / SIZE * SIZE).max(SIZE);
        let Some(into) = buffer.get_mut(..length) else { return (pointers, false) };
        let count = read_memory(thread, address, into).unwrap_or(0);
        for bytes in into.get(..count).unwrap_or_default().chunks_exact(SIZE) {
            let pointer = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
            if pointer == 0 {
                return (pointers, true);
            }
            if pointers.len() == MOST_ARGUMENTS {
                return (pointers, false);
            }
            pointers.push(pointer);
        }
        match address.checked_add(length) {
            Some(next) if count == length => address = next,
            _ => return (pointers, false),
        }
    }
}

/// Of each string the text, where it is short enough to be read with the others; `None` for those that must be read by themselves.
fn read_beginnings<'a>(
    thread: u32,
    pointers: &[u64],
    buffer: &'a mut [u8; TOGETHER * FIRST],
) -> Vec<Option<&'a [u8]>> {
    let piece = |pointer: &u64| {
        let base = usize::try_from(*pointer).ok()?;
        Some(RemoteIoVec { base, len: FIRST.min(PAGE - base % PAGE) })
    };
    let pieces: Vec<RemoteIoVec> = pointers.iter().take(TOGETHER).map_while(piece).collect();
    let all = pieces.iter().map(|piece| piece.len).sum();
    let count = buffer.get_mut(..all).map_or(0, |into| read_pieces(thread, &pieces, into).unwrap_or(0));
    let mut rest = buffer.get(..count).unwrap_or_default();
    let mut texts = Vec::with_capacity(pointers.len());
    for piece in &pieces {
        let Some((bytes, behind)) = rest.split_at_checked(piece.len) else { break };
        rest = behind;
        let end = bytes.iter().position(|byte| *byte == 0);
        texts.push(end.and_then(|end| bytes.get(..end)));
    }
    texts.resize(pointers.len(), None);
    texts
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    /// What this process has at these addresses, read as that of another is.
    fn arguments(pointers: &[*const libc::c_char]) -> ProgramArguments {
        read_arguments(std::process::id(), pointers.as_ptr().addr() as u64)
    }

    fn told(strings: &[CString], ends: bool) -> (Vec<Vec<u8>>, bool) {
        let mut pointers: Vec<_> = strings.iter().map(|text| text.as_ptr()).collect();
        pointers.push(if ends { std::ptr::null() } else { std::ptr::without_provenance(8) });
        let ProgramArguments { texts, are_cut } = arguments(&pointers);
        (texts, are_cut)
    }

    /// However many there are and however long, they are what was there, in their order.
    #[test]
    fn arguments_are_read_as_they_are() {
        for count in [0, 1, TOGETHER - 1, TOGETHER, TOGETHER + 1, 100, MOST_ARGUMENTS] {
            for length in [0, 1, FIRST - 1, FIRST, FIRST + 1] {
                if count * length > ALL_ARGUMENTS {
                    continue;
                }
                let text = |index: usize| vec![b"abcdefghijklmnopqrstuvwxyz"[index % 26]; length];
                let expected: Vec<_> = (0..count).map(text).collect();
                let strings: Vec<_> =
                    expected.iter().map(|text| CString::new(text.clone()).unwrap()).collect();
                assert_eq!(told(&strings, true), (expected, false), "{count} of {length}");
            }
        }
    }

    #[test]
    fn what_is_left_out_of_arguments_is_said() {
        let text = |length: usize| CString::new(vec![b'x'; length]).unwrap();
        let lengths = |strings: &[CString], ends| {
            let (texts, are_cut) = told(strings, ends);
            (texts.iter().map(Vec::len).collect::<Vec<_>>(), are_cut)
        };
        // One that is too long, and one behind it.
        assert_eq!(lengths(&[text(ARGUMENT + 1), text(3)], true), (vec![ARGUMENT, 3], true));
        assert_eq!(
            lengths(&[text(ARGUMENT), text(3)], true),
            (vec![ARGUMENT, 3], true),
            "its end was not seen"
        );
        // All together.
        let many = vec![text(ARGUMENT - 1); 5];
        let (found, are_cut) = lengths(&many, true);
        assert!(are_cut && found.iter().sum::<usize>() == ALL_ARGUMENTS, "{found:?}");
        // Too many.
        let (found, are_cut) = lengths(&vec![text(1); MOST_ARGUMENTS + 1], true);
        assert!(are_cut && found.len() == MOST_ARGUMENTS, "{}", found.len());
        // A pointer to nothing: what comes before it is told.
        assert_eq!(lengths(&[text(2), text(1)], false), (vec![2, 1], true));
        assert_eq!(arguments(&[]).texts.len(), 0);
    }
}
