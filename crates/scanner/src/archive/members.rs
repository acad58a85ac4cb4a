//! One archive under way: its members as they come, judged by their names and counted against the bounds.

use super::{ArchiveOddity, ArchiveUnpacker, MAX_LISTED, office, strings};
use crate::skill::{MAX_FILES, SkillFile};

/// One member, as one reading of its archive shows it.
pub(super) struct ArchiveMember {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// One archive that is being read.
pub(super) struct OpenArchive<'u> {
    unpacker: &'u mut ArchiveUnpacker,
    pub(super) path: &'u str,
    /// What stands before a member's name in its path.
    inside: &'u str,
    depth: usize,
    /// Whether it is an Office document.
    pub(super) office: bool,
    listed: usize,
    more: usize,
    links: Vec<String>,
    names: Vec<String>,
}

impl<'u> OpenArchive<'u> {
    pub(super) fn new(
        unpacker: &'u mut ArchiveUnpacker,
        path: &'u str,
        inside: &'u str,
        depth: usize,
    ) -> Self {
        Self {
            unpacker,
            path,
            inside,
            depth,
            office: false,
            listed: 0,
            more: 0,
            links: Vec::new(),
            names: Vec::new(),
        }
    }

    /// What may still be unpacked.
    pub(super) fn work_left(&self) -> usize {
        self.unpacker.work_left
    }

    /// So much was unpacked.
    pub(super) fn spent(&mut self, bytes: usize) {
        self.unpacker.work_left = self.unpacker.work_left.saturating_sub(bytes);
    }

    /// Whether there is no room for another member.
    pub(super) fn is_full(&self) -> bool {
        self.unpacker.files_left == 0 || self.unpacker.bytes_left == 0 || self.unpacker.work_left == 0
    }

    pub(super) fn odd(&mut self, oddity: ArchiveOddity) {
        self.unpacker.odd(self.path, oddity);
    }

    pub(super) fn odd_member(&mut self, name: &str, oddity: ArchiveOddity) {
        let path = self.path_of(name);
        // A thousand of them say no more than the first few.
        let same = std::mem::discriminant(&oddity);
        let count = self.unpacker.contents.oddities.iter();
        let count = count
            .filter(|(at, other)| at.starts_with(self.inside) && std::mem::discriminant(other) == same)
            .count();
        if count < MAX_LISTED {
            self.unpacker.odd(&path, oddity);
        }
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}{name}", self.inside)
    }

    /// A part of it that was not read: a member by its name, or with an empty one the archive itself.
    pub(super) fn unread(&mut self, name: &str, reason: &str) {
        if self.listed >= MAX_LISTED {
            self.more += 1;
            return;
        }
        self.listed += 1;
        let path = if name.is_empty() { self.path.to_owned() } else { self.path_of(name) };
        self.unpacker.unread(&path, reason);
    }

    /// A name as it was written: what it would do where it is unpacked, and a form that fits a path of ours.
    pub(super) fn judge_name(&mut self, written: &[u8]) -> String {
        let text = String::from_utf8_lossy(written).replace('\\', "/");
        let name: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        if name != text {
            self.odd_member(
                &name,
                ArchiveOddity::Ambiguous("a member's name holds control characters".to_owned()),
            );
        }
        if escapes(&name) {
            self.odd_member(&name, ArchiveOddity::Escape);
        } else if is_absolute(&name) {
            self.odd_member(&name, ArchiveOddity::Absolute);
        }
        name
    }

    /// A link or a device: told, never followed.
    pub(super) fn link(&mut self, name: &str, target: &str) {
        self.odd_member(name, ArchiveOddity::Link(target.to_owned()));
        self.links.push(name.trim_end_matches('/').to_owned());
    }

    /// A member that was read.
    pub(super) fn member(&mut self, member: ArchiveMember) {
        let ArchiveMember { name, bytes } = member;
        let mut path = self.path_of(&name);
        if !self.unpacker.paths.insert(path.clone()) {
            self.odd(ArchiveOddity::Ambiguous(format!("two members are called {name}")));
            let inside = self.inside;
            let mut others = (2..MAX_FILES + 2).map(|n| format!("{inside}({n})/{name}"));
            if let Some(other) = others.find(|path| !self.unpacker.paths.contains(path)) {
                self.unpacker.paths.insert(other.clone());
                path = other;
            }
        }
        self.names.push(name.clone());
        if self.is_full() {
            self.unread(&name, "too many files, or too large together");
            return;
        }
        if self.office && office::is_macro(&name, &bytes) {
            self.odd_member(&name, ArchiveOddity::Macros);
        }
        if self.office && office::is_markup(&name, &bytes) {
            if let Some(target) = office::remote_part(&name, &bytes) {
                self.odd_member(&name, ArchiveOddity::RemotePart(target));
            }
            let text = SkillFile::data(format!("{path} (text)"), office::text(&bytes).into_bytes());
            let added =
                self.unpacker.add(text).and_then(|()| self.unpacker.add(SkillFile::data(path, bytes)));
            self.refused(&name, added);
        } else {
            let added = self.unpacker.nested(path, bytes, self.depth);
            self.refused(&name, added);
        }
    }

    /// Readable text in bytes that make no file.
    pub(super) fn words(&mut self, name: &str, bytes: &[u8]) {
        let words = strings::printable(bytes);
        if !words.is_empty() {
            let added = self.unpacker.add(SkillFile::data(self.path_of(name), words.into_bytes()));
            self.refused(name, added);
        }
    }

    /// Text that belongs to the archive and not to a member: comments.
    pub(super) fn remark(&mut self, name: &str, bytes: &[u8]) {
        if !bytes.trim_ascii().is_empty() {
            let added = self.unpacker.nested(self.path_of(name), bytes.to_vec(), self.depth);
            self.refused(name, added);
        }
    }

    fn refused(&mut self, name: &str, added: Result<(), &'static str>) {
        if let Err(reason) = added {
            self.unread(name, reason);
        }
    }

    pub(super) fn finish(&mut self) {
        let through = |name: &&String| {
            self.links.iter().any(|link| {
                name.strip_prefix(link.as_str()).is_some_and(|rest| rest.starts_with('/') && rest.len() > 1)
            })
        };
        // A link's own name is not among the members'.
        if let Some(name) = self.names.iter().find(through).cloned() {
            self.odd_member(&name, ArchiveOddity::ThroughLink);
        }
        if self.more > 0 {
            let reason = format!("{} more of its members were not read", self.more);
            self.unpacker.unread(self.path, &reason);
        }
    }
}

/// Whether a name leads out of the folder that it is taken from.
fn escapes(name: &str) -> bool {
    let mut depth = 0_i64;
    name.split('/').any(|part| {
        depth += match part {
            ".." => -1,
            "" | "." => 0,
            _ => 1,
        };
        depth < 0
    })
}

fn is_absolute(name: &str) -> bool {
    name.starts_with(['/', '~']) || name.get(1..2) == Some(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_are_seen_in_every_spelling() {
        for name in ["../x", "a/../../x", "a/./../../x", "..", "a//../../x"] {
            assert!(escapes(name), "{name}");
        }
        for name in ["a/../b", "..a", "a..", "a/...", "x/.."] {
            assert!(!escapes(name), "{name}");
        }
        for name in ["/etc/passwd", "C:/x", "c:x", "~/.ssh/id", "//host/share"] {
            assert!(is_absolute(name), "{name}");
        }
    }
}
