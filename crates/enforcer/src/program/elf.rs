//! What an ELF file says it needs to start: its loader, its libraries, and where to look for them (`elf(5)`, `ld.so(8)`).
//!
//! Read, not run: `ldd` asks the loader that the file itself names. Every offset and count comes from a stranger, so each is
//! bounded and none is believed before it was read. Only 64-bit little-endian files are understood; others need nothing.

/// Program headers looked at; real files have about a dozen.
const MAX_HEADERS: u16 = 128;
/// Bytes of the dynamic section looked at: 4096 entries.
const MAX_DYNAMIC: u64 = 64 * 1024;
/// Libraries and search paths taken.
const MAX_STRINGS: usize = 256;
/// Longest string; a path has at most 4095 bytes, a search path holds several.
const MAX_STRING: u64 = 16 * 1024;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// What stands in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ElfFile {
    /// Whether it may be loaded as a library (`ET_DYN`).
    pub(super) shared: bool,
    pub(super) loader: Option<Vec<u8>>,
    pub(super) needed: Vec<Vec<u8>>,
    /// Folders to look in for its own libraries only.
    pub(super) runpath: Option<Vec<u8>>,
    /// Folders to look in for its libraries and theirs, where there is no `runpath`.
    pub(super) rpath: Option<Vec<u8>>,
}

/// Gives up to so many bytes from an offset; fewer at the end of the file.
pub(super) type ElfSource<'a> = &'a dyn Fn(u64, u64) -> Option<Vec<u8>>;

/// Whether a file begins as an ELF file does.
pub(super) fn is_elf(head: &[u8]) -> bool {
    head.starts_with(b"\x7fELF")
}

/// Reads what there is to read; `None` where the file is of another kind or contradicts itself.
pub(super) fn read(source: ElfSource<'_>) -> Option<ElfFile> {
    let header = source(0, 64)?;
    // 64-bit, little-endian.
    if !is_elf(&header) || header.get(4..6)? != [2, 1] {
        return None;
    }
    let size = read_u16(&header, 54)?;
    let count = read_u16(&header, 56)?.min(MAX_HEADERS);
    if size != 56 {
        return None;
    }
    let table = source(read_u64(&header, 32)?, u64::from(size) * u64::from(count))?;
    let segments: Vec<ElfSegment> = table.chunks_exact(56).filter_map(ElfSegment::read).collect();
    let find = |kind| segments.iter().find(|segment| segment.kind == kind);

    let mut elf = ElfFile { shared: read_u16(&header, 16)? == 3, ..ElfFile::default() };
    if let Some(segment) = find(PT_INTERP) {
        elf.loader = read_string(source, segment.offset, segment.size);
    }
    if let Some(segment) = find(PT_DYNAMIC) {
        let entries = source(segment.offset, segment.size.min(MAX_DYNAMIC))?;
        elf.read_dynamic(&entries, &segments, source);
    }
    Some(elf)
}

impl ElfFile {
    fn read_dynamic(&mut self, entries: &[u8], segments: &[ElfSegment], source: ElfSource<'_>) {
        let pairs = || {
            let pairs =
                entries.chunks_exact(16).map_while(|entry| Some((read_u64(entry, 0)?, read_u64(entry, 8)?)));
            pairs.take_while(|(tag, _)| *tag != 0)
        };
        let Some(strings) =
            pairs().find(|(tag, _)| *tag == DT_STRTAB).and_then(|(_, at)| file_offset(segments, at))
        else {
            return;
        };
        let text = |at: u64| read_string(source, strings.checked_add(at)?, MAX_STRING);
        for (tag, at) in pairs() {
            match tag {
                DT_NEEDED if self.needed.len() < MAX_STRINGS => self.needed.extend(text(at)),
                DT_RUNPATH => self.runpath = text(at),
                DT_RPATH => self.rpath = text(at),
                _ => {}
            }
        }
    }
}

struct ElfSegment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl ElfSegment {
    fn read(bytes: &[u8]) -> Option<Self> {
        let kind = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        Some(Self {
            kind,
            offset: read_u64(bytes, 8)?,
            address: read_u64(bytes, 16)?,
            size: read_u64(bytes, 32)?,
        })
    }
}

/// Where an address of the running program stands in the file.
fn file_offset(segments: &[ElfSegment], address: u64) -> Option<u64> {
    let holds = |segment: &&ElfSegment| {
        segment.kind == PT_LOAD
            && address.checked_sub(segment.address).is_some_and(|into| into < segment.size)
    };
    let segment = segments.iter().find(holds)?;
    segment.offset.checked_add(address - segment.address)
}

/// A string that ends with a NUL within its bounds, and is not empty.
fn read_string(source: ElfSource<'_>, at: u64, most: u64) -> Option<Vec<u8>> {
    let mut bytes = source(at, most.min(MAX_STRING))?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    bytes.truncate(end);
    (!bytes.is_empty()).then_some(bytes)
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn read_u64(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Where it is loaded: an address that is not its place in the file.
    const BASE: u64 = 0x40_0000;

    /// A file with these strings, in the order in which they are given.
    pub(crate) fn file(loader: Option<&str>, dynamic: &[(u64, &str)]) -> Vec<u8> {
        let mut strings = vec![0];
        let mut entries = Vec::new();
        for (tag, text) in dynamic {
            entries.push((*tag, strings.len() as u64));
            strings.extend(text.bytes().chain([0]));
        }
        let loader_at = strings.len() as u64;
        let loader_size = loader.map_or(0, |loader| loader.len() as u64 + 1);
        strings.extend(loader.unwrap_or_default().bytes().chain([0]));
        let data = 64 + 56 * 3;
        let dynamic_at = data + strings.len() as u64;
        entries.push((DT_STRTAB, BASE + data));
        entries.push((0, 0));
        let dynamic: Vec<u8> = entries
            .iter()
            .flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()])
            .flatten()
            .collect();
        let total = dynamic_at + dynamic.len() as u64;

        let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
        bytes.resize(64, 0);
        bytes[16] = 3;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 3;
        let interp = if loader.is_some() { PT_INTERP } else { 0 };
        for (kind, at, size) in [
            (PT_LOAD, 0, total),
            (interp, data + loader_at, loader_size),
            (PT_DYNAMIC, dynamic_at, dynamic.len() as u64),
        ] {
            bytes.extend(kind.to_le_bytes());
            bytes.extend(0_u32.to_le_bytes());
            for value in [at, BASE + at, BASE + at, size, size, 8] {
                bytes.extend(value.to_le_bytes());
            }
        }
        bytes.extend(strings);
        bytes.extend(dynamic);
        bytes
    }

    pub(crate) const NEEDED: u64 = DT_NEEDED;
    pub(crate) const RUNPATH: u64 = DT_RUNPATH;
    pub(crate) const RPATH: u64 = DT_RPATH;

    fn from(bytes: &[u8]) -> impl Fn(u64, u64) -> Option<Vec<u8>> {
        |at, most| {
            assert!(most <= MAX_DYNAMIC, "asked for {most} bytes at once");
            let rest = bytes.get(usize::try_from(at).ok()?..)?;
            Some(rest[..rest.len().min(usize::try_from(most).unwrap())].to_vec())
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = file(
            Some("/lib/ld.so"),
            &[(NEEDED, "liba.so"), (RUNPATH, "$ORIGIN/../lib"), (NEEDED, "libb.so"), (RPATH, "/x")],
        );
        let elf = read(&from(&bytes)).unwrap();
        assert_eq!(elf.loader.as_deref(), Some(&b"/lib/ld.so"[..]));
        assert_eq!(elf.needed, [b"liba.so", b"libb.so"]);
        assert_eq!(elf.runpath.as_deref(), Some(&b"$ORIGIN/../lib"[..]));
        assert_eq!(elf.rpath.as_deref(), Some(&b"/x"[..]));
        assert!(elf.shared);
    }

    #[test]
    fn this_very_program_is_read() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let elf = read(&from(&bytes)).unwrap();
        assert!(elf.needed.iter().any(|name| name.starts_with(b"libc.")), "{elf:?}");
        assert!(elf.loader.is_some_and(|loader| loader.starts_with(b"/")));
    }

    #[test]
    fn others_are_not_understood() {
        let mut bytes = file(None, &[(NEEDED, "liba.so")]);
        assert_eq!(read(&from(&bytes)).unwrap().loader, None);
        bytes[4] = 1;
        assert_eq!(read(&from(&bytes)), None);
        assert_eq!(read(&from(b"\x7fELF")), None);
        assert_eq!(read(&from(b"#!/bin/sh")), None);
    }

    #[test]
    fn numbers_that_overflow_lead_nowhere() {
        let good = file(Some("/lib/ld.so"), &[(NEEDED, "liba.so")]);
        // The table of headers, each field of each header, each word of the dynamic section.
        for at in (32..good.len() - 8).step_by(8) {
            for value in [u64::MAX, u64::MAX - 63, 1 << 63, good.len() as u64] {
                let mut bytes = good.clone();
                bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
                read(&from(&bytes));
            }
        }
    }

    proptest! {
        #[test]
        fn damaged_files_are_read_within_bounds(damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..24), cut in any::<prop::sample::Index>(), do_cut: bool) {
            let mut bytes = file(Some("/lib/ld.so"), &[(NEEDED, "liba.so"), (RUNPATH, "$ORIGIN"), (NEEDED, "libb.so")]);
            for (at, value) in damage {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if do_cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(elf) = read(&from(&bytes)) {
                prop_assert!(elf.needed.len() <= MAX_STRINGS);
                prop_assert!(elf.needed.iter().chain(&elf.loader).chain(&elf.runpath).all(|text| !text.is_empty() && !text.contains(&0)));
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes in proptest::collection::vec(any::<u8>(), 64..600)) {
            bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
            bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
            bytes[54..56].copy_from_slice(&56_u16.to_le_bytes());
            read(&from(&bytes));
        }
    }
}
