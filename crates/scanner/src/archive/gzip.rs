//! Gzip: one file, or a tar.

use std::io::Read as _;

use flate2::bufread::GzDecoder;

use super::inflate::is_bomb;
use super::{ArchiveMember, ArchiveOddity, OpenArchive, tar};
use crate::skill::MAX_FILE;

/// Files behind one another that are read as one. Tools that write in blocks make many; a thousand of the largest are 64 MB.
const MAX_PARTS: usize = 1024;

pub(super) fn read(bytes: &[u8], archive: &mut OpenArchive<'_>) {
    let mut rest = bytes;
    let mut content = Vec::new();
    let mut name = None;
    let mut comments = Vec::new();
    let mut parts = 0;
    while rest.starts_with(b"\x1f\x8b\x08") && parts < MAX_PARTS {
        parts += 1;
        let mut decoder = GzDecoder::new(rest);
        let ended = unpack(&mut decoder, bytes.len(), &mut content, archive);
        if let Some(header) = decoder.header() {
            name = name.or_else(|| header.filename().map(<[u8]>::to_vec));
            comments.extend_from_slice(header.comment().unwrap_or_default());
            comments.extend_from_slice(header.extra().unwrap_or_default());
        }
        let left = decoder.into_inner();
        if !ended || left.len() == rest.len() {
            rest = &[];
            break;
        }
        rest = left;
    }
    if parts == MAX_PARTS && !rest.is_empty() {
        archive.unread("", "too many parts");
    } else if rest.iter().any(|b| *b != 0) {
        archive.odd(ArchiveOddity::Unclaimed);
        archive.remark("(trailing data)", rest);
    }
    archive.remark("(comment)", &comments);
    if tar::is_tar(&content) {
        return tar::read(&content, archive);
    }
    let plain = archive.path.rsplit('/').next().unwrap_or_default();
    let stem =
        plain.strip_suffix(".gz").or_else(|| plain.strip_suffix(".tgz")).unwrap_or("content").to_owned();
    let mut names = vec![stem];
    if let Some(name) = name {
        // What it was called when it was packed; some programs give it that name again.
        let name = archive.judge_name(&name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if content.len() > MAX_FILE {
        archive.unread(names.first().map_or("", String::as_str), "too large");
        content.truncate(MAX_FILE);
    }
    for name in names {
        archive.member(ArchiveMember { name, bytes: content.clone() });
    }
}

/// One part; whether it came to its end.
fn unpack(
    decoder: &mut GzDecoder<&[u8]>,
    packed: usize,
    content: &mut Vec<u8>,
    archive: &mut OpenArchive<'_>,
) -> bool {
    let mut chunk = vec![0; 32 << 10];
    loop {
        let read = match decoder.read(&mut chunk) {
            Ok(0) => return true,
            Ok(read) => read,
            Err(_) => {
                archive.unread("", "damaged");
                return false;
            }
        };
        content.extend_from_slice(chunk.get(..read).unwrap_or_default());
        archive.spent(read);
        if archive.work_left() == 0 {
            archive.unread("", "too large");
            return false;
        }
        if is_bomb(content.len(), packed - decoder.get_ref().len()) {
            archive.odd(ArchiveOddity::Bomb);
            archive.unread("", "it unpacks to far more than it seems");
            return false;
        }
    }
}
