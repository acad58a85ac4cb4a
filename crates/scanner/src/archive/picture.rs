//! Where a picture ends. What stands behind is shown by no viewer.

/// The end of a PNG, JPEG, GIF or WebP file; nothing where it is none of these, or is cut.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    let end = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        png(bytes)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        jpeg(bytes)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        gif(bytes)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        let size = u32::from_le_bytes(*bytes.get(4..)?.first_chunk()?) as usize;
        // Its parts are padded to an even length.
        Some(8 + size.next_multiple_of(2))
    } else {
        None
    };
    end.filter(|end| *end <= bytes.len())
}

/// Chunks of a length, a name and a checksum, up to `IEND`.
fn png(bytes: &[u8]) -> Option<usize> {
    let mut at = 8;
    loop {
        let length = u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?) as usize;
        let name = bytes.get(at + 4..at + 8)?;
        at = at.checked_add(length)?.checked_add(12)?;
        if name == b"IEND" {
            return Some(at);
        }
    }
}

/// Segments of a length; behind the start of a scan, coded data up to the next marker.
fn jpeg(bytes: &[u8]) -> Option<usize> {
    let mut at = 2;
    loop {
        match (*bytes.get(at)?, *bytes.get(at + 1)?) {
            (0xff, 0xd9) => return Some(at + 2),
            (0xff, 0xff) => at += 1,
            (0xff, 0x01 | 0xd0..=0xd7) => at += 2,
            (0xff, marker) if marker != 0 => {
                let length = usize::from(u16::from_be_bytes(*bytes.get(at + 2..)?.first_chunk()?));
                at += 2 + length.max(2);
                if marker == 0xda {
                    at += coded(bytes.get(at..)?)?;
                }
            }
            _ => return None,
        }
    }
}

/// The length of coded data: up to a marker that is neither an escaped 0xff nor a restart.
fn coded(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xff, bytes)
        .find(|at| !matches!(bytes.get(at + 1), None | Some(0 | 0xd0..=0xd7 | 0xff)))
}

/// Colours, then blocks: pictures and extensions, each a chain of parts, up to the end mark.
fn gif(bytes: &[u8]) -> Option<usize> {
    let colours = |flags: u8| if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    let mut at = 13 + colours(*bytes.get(10)?);
    loop {
        match *bytes.get(at)? {
            0x3b => return Some(at + 1),
            0x21 => at = parts(bytes, at + 2)?,
            0x2c => at = parts(bytes, at + 11 + colours(*bytes.get(at + 9)?))?,
            _ => return None,
        }
    }
}

/// Behind a chain of parts, each with its length before it, the last of length zero.
fn parts(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1 + length;
        if length == 0 {
            return Some(at);
        }
    }
}
