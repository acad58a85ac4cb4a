//! A skill's folder, read within bounds: the bytes of its files for a scan, or only what they hash to.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::archive::ArchiveUnpacker;
use crate::digest::{Sha256Hash, sha256};
use crate::skill::{MAX_FILE, MAX_FILES, MAX_TOTAL, OUTSIDE_LINK, SkillFiles, UnreadFile};
use crate::snapshot::{EntryKind, SnapshotEntry};

/// Deepest folder.
const MAX_DEPTH: usize = 32;
/// How much of a file is read at a time where its bytes are not kept.
const CHUNK: usize = 64 << 10;

/// What of a folder is read.
#[derive(Clone, Copy)]
pub(crate) struct WalkRules<'w> {
    /// Folders that are judged by themselves.
    pub(crate) leave_out: &'w dyn Fn(&Path) -> bool,
    /// As a run finds it.
    pub(crate) as_run: bool,
    /// Whether the bytes of the files are kept, for a scan.
    pub(crate) keeps_bytes: bool,
    /// Whether every entry is written down, with its mode and the hash of its bytes.
    pub(crate) takes_entries: bool,
}

impl WalkRules<'_> {
    /// Every file with its bytes, as it lies there.
    pub(crate) const WHOLE: Self =
        Self { leave_out: &|_| false, as_run: false, keeps_bytes: true, takes_entries: false };
}

/// A folder that is being read.
pub(crate) struct FolderWalk<'w> {
    rules: WalkRules<'w>,
    /// The skill's folder, without links in it.
    real: Option<PathBuf>,
    unpacker: ArchiveUnpacker,
    files: usize,
    total: usize,
    apart: Vec<String>,
    /// Room for what is only hashed.
    chunk: Vec<u8>,
    pub(crate) unread: Vec<UnreadFile>,
    /// Every entry, where they are asked for.
    pub(crate) entries: Vec<SnapshotEntry>,
    /// Whether there is a git folder of its own, which a run does not see.
    pub(crate) has_git: bool,
    /// Whether some name is not UTF-8: two of those can look the same here.
    pub(crate) has_odd_name: bool,
}

impl<'w> FolderWalk<'w> {
    pub(crate) fn new(rules: WalkRules<'w>, real: Option<PathBuf>) -> Self {
        Self {
            rules,
            real,
            unpacker: ArchiveUnpacker::new(),
            files: 0,
            total: 0,
            apart: Vec::new(),
            chunk: if rules.keeps_bytes { Vec::new() } else { vec![0; CHUNK] },
            unread: Vec::new(),
            entries: Vec::new(),
            has_git: false,
            has_odd_name: false,
        }
    }

    /// What was read, in the order of paths.
    pub(crate) fn finish(self, name: String) -> SkillFiles {
        let mut skill = SkillFiles::of(name, self.unpacker.finish());
        skill.unread.extend(self.unread);
        skill.judged_apart = self.apart;
        skill.files.sort_by(|a, b| a.path.cmp(&b.path));
        skill
    }

    /// The folder itself, and everything in it.
    pub(crate) fn read_all(&mut self, dir: &Path) -> io::Result<()> {
        if self.rules.takes_entries {
            let mode = mode_of(&fs::metadata(dir)?);
            self.enter(String::new(), mode, EntryKind::Folder);
        }
        self.dir(dir, "", 0)
    }

    /// Everything in a folder. What is wrong with an entry is noted, and the rest is read.
    fn dir(&mut self, dir: &Path, prefix: &str, depth: usize) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            match entry {
                Ok(entry) => entries.push((entry.file_name(), entry)),
                Err(error) => self.skip(format!("{prefix}*"), &error.to_string()),
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, entry) in entries {
            self.has_odd_name |= name.to_str().is_none();
            let path = format!("{prefix}{}", name.to_string_lossy());
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => self.link(&entry, path),
                Ok(kind) if kind.is_dir() => self.folder(&entry, path, depth),
                Ok(kind) if kind.is_file() => self.file(&entry.path(), path),
                Ok(_) => self.skip(path, "not a regular file"),
                Err(error) => self.skip(path, &error.to_string()),
            }
        }
        Ok(())
    }

    fn folder(&mut self, entry: &fs::DirEntry, path: String, depth: usize) {
        let is_own_git = depth == 0 && entry.file_name() == ".git";
        self.has_git |= is_own_git;
        if is_own_git && !self.rules.as_run {
            self.skip(path, "a git folder, which is not scanned; `run` does not show it to the skill");
        } else if is_own_git {
        } else if (self.rules.leave_out)(&entry.path()) {
            self.apart.push(path);
        } else if depth >= MAX_DEPTH {
            self.skip(path, "too deep");
        } else {
            if self.rules.takes_entries {
                let mode = entry.metadata().map_or(0, |found| mode_of(&found));
                self.enter(path.clone(), mode, EntryKind::Folder);
            }
            if let Err(error) = self.dir(&entry.path(), &format!("{path}/"), depth + 1) {
                self.skip(path, &format!("a folder that cannot be read: {error}"));
            }
        }
    }

    /// A link is no more than its target's name. What that leads to is read where it lies, or it is not part of the skill.
    fn link(&mut self, entry: &fs::DirEntry, path: String) {
        let inside = |target: &PathBuf| {
            let real = self.real.as_ref();
            real.is_some_and(|real| target.starts_with(real) && !target.starts_with(real.join(".git")))
        };
        if !self.rules.as_run {
            return self.skip(path, "a symbolic link");
        }
        let target = fs::read_link(entry.path()).unwrap_or_default();
        let target = target.as_os_str().as_encoded_bytes();
        let leads_inside = fs::canonicalize(entry.path()).is_ok_and(|target| inside(&target));
        if self.rules.keeps_bytes {
            self.unpacker.link(&path, target);
        }
        self.enter(path.clone(), 0, EntryKind::Link { target: sha256(&[target]), leads_inside });
        if !leads_inside {
            self.skip(path, OUTSIDE_LINK);
        }
    }

    pub(crate) fn file(&mut self, disk: &Path, path: String) {
        if self.files >= MAX_FILES {
            return self.skip(path, "too many files");
        }
        let listed = match fs::symlink_metadata(disk) {
            Ok(listed) if listed.is_symlink() => return self.skip(path, "a symbolic link"),
            Ok(listed) => listed,
            Err(error) => return self.skip(path, &error.to_string()),
        };
        let size = usize::try_from(listed.len()).unwrap_or(usize::MAX);
        if size > MAX_FILE || self.total + size > MAX_TOTAL {
            return self.skip(path, "too large");
        }
        match open_plain(disk, &listed).and_then(|(file, mode)| Ok((self.read(file, size)?, mode))) {
            Ok((read, _)) if read.length > MAX_FILE || self.total + read.length > MAX_TOTAL => {
                self.skip(path, "too large");
            }
            Ok((read, mode)) => {
                self.total += read.length;
                self.files += 1;
                if let Some(hash) = read.hash {
                    self.enter(path.clone(), mode, EntryKind::File(hash));
                }
                if self.rules.keeps_bytes {
                    self.unpacker.file(path, read.bytes);
                }
            }
            Err(error) => self.skip(path, &error.to_string()),
        }
    }

    /// The bytes of a file, their hash, or both, as is asked for.
    fn read(&mut self, file: File, size: usize) -> io::Result<ReadFile> {
        // One more than is taken, so that a file which grows meanwhile is not taken for a whole one.
        let mut file = file.take(MAX_FILE as u64 + 1);
        if self.rules.keeps_bytes {
            // Room for all of it, and for the read that finds its end.
            let mut bytes = Vec::with_capacity(size + 1);
            let length = file.read_to_end(&mut bytes)?;
            let hash = self.rules.takes_entries.then(|| sha256(&[&bytes]));
            return Ok(ReadFile { bytes, length, hash });
        }
        let (mut hash, mut length) = (Sha256::new(), 0);
        loop {
            match file.read(&mut self.chunk) {
                Ok(0) => break,
                Ok(read) => {
                    hash.update(self.chunk.get(..read).unwrap_or_default());
                    length += read;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ReadFile { bytes: Vec::new(), length, hash: Some(hash.finalize().into()) })
    }

    fn enter(&mut self, path: String, mode: u32, kind: EntryKind) {
        if self.rules.takes_entries {
            self.entries.push(SnapshotEntry { path, mode, kind });
        }
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.unread.push(UnreadFile { path, reason: reason.to_owned() });
    }
}

/// A file that was read: its bytes where they are kept, and their hash where it is wanted.
struct ReadFile {
    bytes: Vec<u8>,
    length: usize,
    hash: Option<Sha256Hash>,
}

/// `O_NONBLOCK`, which is no other crate's worth. Where it is another number, what is opened is waited for.
#[cfg(unix)]
const NONBLOCK: i32 = if cfg!(any(target_os = "linux", target_os = "android")) {
    if cfg!(any(target_arch = "mips", target_arch = "mips64")) {
        0o200
    } else if cfg!(any(target_arch = "sparc", target_arch = "sparc64")) {
        0x4000
    } else {
        0o4000
    }
} else if cfg!(any(
    target_os = "macos",
    target_os = "ios",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd"
)) {
    0x4
} else {
    0
};

/// Opens what a listing called a plain file, and never waits for it: it may have become a link, or a pipe that nobody writes to, since. Only the
/// very file that was listed is read. With its mode.
fn open_plain(path: &Path, listed: &fs::Metadata) -> io::Result<(File, u32)> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = options.open(path)?;
    let opened = file.metadata()?;
    if opened.is_file() && is_same_file(&opened, listed) {
        let mode = mode_of(&opened);
        Ok((file, mode))
    } else {
        Err(io::Error::other("not the plain file any more that was listed"))
    }
}

#[cfg(unix)]
fn is_same_file(opened: &fs::Metadata, listed: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (opened.dev(), opened.ino()) == (listed.dev(), listed.ino())
}

#[cfg(not(unix))]
fn is_same_file(_: &fs::Metadata, listed: &fs::Metadata) -> bool {
    listed.is_file()
}

/// Who may do what with it, and the bits beside that.
#[cfg(unix)]
fn mode_of(found: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(found) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0
}
