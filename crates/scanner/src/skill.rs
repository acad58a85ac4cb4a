//! A skill's files, read within bounds; what was not read is listed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::{ArchiveOddity, ArchiveUnpacker, UnpackedFiles};
use crate::digest::{Sha256Hash, compute_digest, sha256};
use crate::kind::{self, FileKind, is_example_file};
use crate::readings;

/// Largest file that is read whole.
pub(crate) const MAX_FILE: usize = 8 << 20;
/// Most bytes of one skill; what its archives hold counts by itself.
pub(crate) const MAX_TOTAL: usize = 64 << 20;
/// Most files of one skill; what its archives hold counts by itself.
pub(crate) const MAX_FILES: usize = 4000;
/// Why a link was not followed. Where it leads was scanned as a text; what lies there is no part of the skill, and only a grant reaches it.
pub(crate) const OUTSIDE_LINK: &str = "a symbolic link that leads out of the skill's folder, or nowhere";
/// Deepest folder.
const MAX_DEPTH: usize = 32;

/// A skill to be scanned: a name, and the bytes of its files.
#[derive(Clone, Debug)]
pub struct SkillFiles {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) files: Vec<SkillFile>,
    pub(crate) unread: Vec<UnreadFile>,
    /// What was odd about archives and other packed files.
    pub(crate) oddities: Vec<(String, ArchiveOddity)>,
    /// Whether it is a plugin, or what agents obey in a tree, and no skill: it has no main document.
    pub(crate) is_bundle: bool,
    /// Folders below it that are judged by themselves.
    pub(crate) judged_apart: Vec<String>,
}

/// One file of a skill.
#[derive(Clone, Debug)]
pub(crate) struct SkillFile {
    /// Below the skill's folder, with `/`; a member of an archive stands behind `!/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// The hash of the bytes as they were, where `bytes` is a conversion of them.
    pub(crate) original: Option<Sha256Hash>,
    pub(crate) kind: FileKind,
    /// Whether it is another reading of a file that is there, and so no file of its own.
    pub(crate) is_reading: bool,
    /// How much of its path is that of the file on the disk; the rest is what it is in that. A folder's own name may end in `!`.
    pub(crate) disk_length: usize,
}

/// One file of a skill, as others than the scanner may look at it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FileView<'s> {
    /// Below the skill's folder, with `/`; a member of an archive stands behind `!/`.
    pub path: &'s str,
    /// Its bytes; a text in UTF-16 is converted.
    pub bytes: &'s [u8],
    /// Whether the scanner reads it as text.
    pub is_text: bool,
}

/// A file that was not scanned, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct UnreadFile {
    /// Below the skill's folder.
    pub path: String,
    /// Why it was not.
    pub reason: String,
}

/// Why a skill could not be read at all.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// What was to be read.
    pub path: PathBuf,
    /// What the system said.
    pub error: io::Error,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl SkillFiles {
    /// A skill from files in memory: paths below its folder, and their bytes.
    pub fn from_memory<P: Into<String>, B: Into<Vec<u8>>>(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Self {
        let mut unpacker = ArchiveUnpacker::new();
        for (path, bytes) in files {
            unpacker.file(path.into(), bytes.into());
        }
        Self::of(name.into(), unpacker.finish())
    }

    /// A skill that is one `SKILL.md`.
    pub fn from_skill_md(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self::from_memory(name, [("SKILL.md", text)])
    }

    /// A skill from its folder, with everything below it. Links are not followed; they and the folder's own `.git` are listed as unread.
    pub fn from_dir(dir: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::read_dir(dir.as_ref(), WalkRules { leave_out: &|_| false, as_run: false })
    }

    /// The same without the folders below it that a scan judges by themselves, and reports on: other skills of a tree.
    pub fn from_dir_without(
        dir: impl AsRef<Path>,
        judged_apart: impl Fn(&Path) -> bool,
    ) -> Result<Self, ReadError> {
        Self::read_dir(dir.as_ref(), WalkRules { leave_out: &judged_apart, as_run: false })
    }

    /// The same as a run of it would find it, which may execute any of it: without the folder's own `.git`, which is not there then, and with
    /// links that lead to another place in it, since what they lead to is read there.
    pub fn from_whole_dir(dir: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::read_dir(dir.as_ref(), WalkRules { leave_out: &|_| false, as_run: true })
    }

    fn read_dir(dir: &Path, rules: WalkRules<'_>) -> Result<Self, ReadError> {
        // Its own name is that of its real path, unless it is a link or ends in `..`; finding that asks for each folder above it.
        let is_link =
            fs::symlink_metadata(dir.components().as_path()).map_or(true, |found| found.is_symlink());
        let own_name = dir.file_name().filter(|_| !is_link).map(|name| name.to_string_lossy().into_owned());
        let real = if rules.as_run || own_name.is_none() { dir.canonicalize().ok() } else { None };
        let real_name = || Some(real.as_ref()?.file_name()?.to_string_lossy().into_owned());
        let name = own_name.or_else(real_name).unwrap_or_else(|| dir.to_string_lossy().into_owned());
        let mut walk = FolderWalk::new(rules, real);
        walk.dir(dir, "", 0).map_err(|error| ReadError { path: dir.to_owned(), error })?;
        Ok(walk.finish(name))
    }

    /// What agents obey in a tree, and what that names: these files, by their paths below the folder. What cannot be read is listed.
    pub(crate) fn from_agent_files(root: &Path, name: String, files: &[String]) -> Self {
        let mut walk = FolderWalk::new(WalkRules { leave_out: &|_| false, as_run: false }, None);
        for path in files {
            walk.file(&root.join(path), path.clone());
        }
        Self { is_bundle: true, ..walk.finish(name) }
    }

    /// The files on the disk that a report on a bundle lists; none for a skill.
    pub(crate) fn list_agent_files(&self) -> Vec<String> {
        let own = self.files.iter().filter(|_| self.is_bundle);
        let mut listed: Vec<String> = own.map(|file| file.disk_path().to_owned()).collect();
        listed.dedup();
        listed
    }

    /// A skill that is one file: a document, or an archive (`.zip`, `.skill`, `.tar`, `.tar.gz`) that holds its folder.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let fail = |error| ReadError { path: path.to_owned(), error };
        let mut bytes = Vec::new();
        let limit = MAX_TOTAL as u64 + 1;
        File::open(path).map_err(fail)?.take(limit).read_to_end(&mut bytes).map_err(fail)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut unpacker = ArchiveUnpacker::new();
        if bytes.len() <= MAX_TOTAL && unpacker.container(&name, &bytes) {
            let stem = stem.strip_suffix(".tar").unwrap_or(&stem).to_owned();
            return Ok(Self::of(stem, unpacker.finish()).in_its_folder());
        }
        if bytes.len() > MAX_FILE {
            let mut skill = Self::of(stem, unpacker.finish());
            skill.unread.push(UnreadFile { path: name, reason: "too large".to_owned() });
            return Ok(skill);
        }
        unpacker.file(name, bytes);
        Ok(Self::of(stem, unpacker.finish()))
    }

    fn of(name: String, contents: UnpackedFiles) -> Self {
        let UnpackedFiles { files, unread, oddities } = contents;
        let (is_bundle, judged_apart) = (false, Vec::new());
        Self { name, source: String::new(), files, unread, oddities, is_bundle, judged_apart }
    }

    /// A skill from an archive: where all members stand in one folder, that is the skill's.
    fn in_its_folder(mut self) -> Self {
        // What a Mac adds of its own accord.
        let ours = || self.files.iter().filter(|file| !file.path.starts_with("__MACOSX/"));
        let top = ours().next().and_then(|file| Some(file.path.split_once('/')?.0.to_owned()));
        let Some(top) = top.filter(|top| !matches!(top.as_str(), "" | "." | "..")) else { return self };
        let folder = format!("{top}/");
        if !ours().all(|file| file.path.starts_with(&folder)) {
            return self;
        }
        for file in &mut self.files {
            file.disk_length = file.disk_length.saturating_sub(folder.len());
        }
        let files = self.files.iter_mut().map(|file| &mut file.path);
        let unread = self.unread.iter_mut().map(|unread| &mut unread.path);
        let odd = self.oddities.iter_mut().map(|(path, _)| path);
        for path in files.chain(unread).chain(odd) {
            if let Some(below) = path.strip_prefix(&folder) {
                *path = below.to_owned();
            }
        }
        self.name = top;
        self
    }

    /// The Merkle root over the paths and bytes of its files, in hexadecimal, but for those in some folders below it: without any, the
    /// `digest` of a report.
    #[must_use]
    pub fn digest_without(&self, folders: &[String]) -> String {
        let in_one = |path: &str| {
            folders.iter().any(|folder| {
                let rest = path.strip_prefix(folder.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut rest = Self::of(self.name.clone(), UnpackedFiles::default());
        rest.files = self.files.iter().filter(|file| !in_one(file.disk_path())).cloned().collect();
        compute_digest(&rest)
    }

    /// Where it came from: `github:owner/repo`, `local:`. Some checks trust some sources.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Its folder's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its files as somebody would read them who wants to know what it does: the main document, programs, the rest; each by its path.
    #[must_use]
    pub fn list_files(&self) -> Vec<FileView<'_>> {
        let document = self.find_document();
        let rank = |number: usize, file: &SkillFile| match file.kind {
            _ if Some(number) == document => 0,
            FileKind::Script => 1,
            FileKind::Markdown => 2,
            _ => 3,
        };
        let mut files: Vec<_> = self.files.iter().enumerate().filter(|(_, file)| !file.is_reading).collect();
        files.sort_by_key(|(number, file)| (rank(*number, file), &file.path));
        files
            .into_iter()
            .map(|(_, file)| FileView { path: &file.path, bytes: &file.bytes, is_text: file.is_text() })
            .collect()
    }

    /// How many bytes its files have.
    #[must_use]
    pub fn size(&self) -> usize {
        self.files.iter().map(|file| file.bytes.len()).sum()
    }

    /// Whether a file lies among tests or examples, and the main document sends nobody there. Where a file lies is its author's word; who is told
    /// to go there goes.
    pub(crate) fn is_example(&self, file: &SkillFile) -> bool {
        let name = file.path.rsplit('/').next().unwrap_or(&file.path);
        let document = self.find_document().and_then(|at| self.files.get(at));
        let is_named =
            document.is_some_and(|document| memchr::memmem::find(&document.bytes, name.as_bytes()).is_some());
        is_example_file(&file.path) && !is_named
    }

    /// Its main document.
    pub(crate) fn find_document(&self) -> Option<usize> {
        if self.is_bundle {
            return None;
        }
        let named = |name: &str| self.files.iter().position(|file| file.path.eq_ignore_ascii_case(name));
        named("SKILL.md").or_else(|| {
            self.files.iter().position(|file| file.kind == FileKind::Markdown && !file.path.contains('/'))
        })
    }
}

/// What of a folder is read.
#[derive(Clone, Copy)]
struct WalkRules<'w> {
    /// Folders that are judged by themselves.
    leave_out: &'w dyn Fn(&Path) -> bool,
    /// As a run finds it.
    as_run: bool,
}

/// A folder that is being read.
struct FolderWalk<'w> {
    rules: WalkRules<'w>,
    /// The skill's folder, without links in it.
    real: Option<PathBuf>,
    unpacker: ArchiveUnpacker,
    unread: Vec<UnreadFile>,
    files: usize,
    total: usize,
    apart: Vec<String>,
}

impl<'w> FolderWalk<'w> {
    fn new(rules: WalkRules<'w>, real: Option<PathBuf>) -> Self {
        let unpacker = ArchiveUnpacker::new();
        Self { rules, real, unpacker, unread: Vec::new(), files: 0, total: 0, apart: Vec::new() }
    }

    /// What was read, in the order of paths.
    fn finish(self, name: String) -> SkillFiles {
        let mut skill = SkillFiles::of(name, self.unpacker.finish());
        skill.unread.extend(self.unread);
        skill.judged_apart = self.apart;
        skill.files.sort_by(|a, b| a.path.cmp(&b.path));
        skill
    }

    /// Everything in a folder. What is wrong with an entry is noted, and the rest is read.
    fn dir(&mut self, dir: &Path, prefix: &str, depth: usize) -> io::Result<()> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir)? {
            match entry {
                Ok(entry) => entries.push(entry),
                Err(error) => self.skip(format!("{prefix}*"), &error.to_string()),
            }
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
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
        if is_own_git && !self.rules.as_run {
            self.skip(path, "a git folder, which is not scanned; `run` does not show it to the skill");
        } else if is_own_git {
        } else if (self.rules.leave_out)(&entry.path()) {
            self.apart.push(path);
        } else if depth >= MAX_DEPTH {
            self.skip(path, "too deep");
        } else if let Err(error) = self.dir(&entry.path(), &format!("{path}/"), depth + 1) {
            self.skip(path, &format!("a folder that cannot be read: {error}"));
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
        self.unpacker.link(&path, target.as_os_str().as_encoded_bytes());
        if !fs::canonicalize(entry.path()).is_ok_and(|target| inside(&target)) {
            self.skip(path, OUTSIDE_LINK);
        }
    }

    fn file(&mut self, disk: &Path, path: String) {
        if self.files >= MAX_FILES {
            return self.skip(path, "too many files");
        }
        // One more than is taken, so that a file which grows meanwhile is not taken for a whole one.
        let limit = MAX_FILE as u64 + 1;
        let listed = match fs::symlink_metadata(disk) {
            Ok(listed) if listed.is_symlink() => return self.skip(path, "a symbolic link"),
            Ok(listed) => listed,
            Err(error) => return self.skip(path, &error.to_string()),
        };
        let size = usize::try_from(listed.len()).unwrap_or(usize::MAX);
        if size > MAX_FILE || self.total + size > MAX_TOTAL {
            return self.skip(path, "too large");
        }
        // Room for all of it, and for the read that finds its end.
        let mut bytes = Vec::with_capacity(size + 1);
        match open_plain(disk, &listed).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
            Ok(read) if read > MAX_FILE || self.total + read > MAX_TOTAL => self.skip(path, "too large"),
            Ok(read) => {
                self.total += read;
                self.files += 1;
                self.unpacker.file(path, bytes);
            }
            Err(error) => self.skip(path, &error.to_string()),
        }
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.unread.push(UnreadFile { path, reason: reason.to_owned() });
    }
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
/// very file that was listed is read.
fn open_plain(path: &Path, listed: &fs::Metadata) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NONBLOCK);
    let file = options.open(path)?;
    let opened = file.metadata()?;
    if opened.is_file() && is_same_file(&opened, listed) {
        Ok(file)
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

impl SkillFile {
    pub(crate) fn new(path: String, bytes: Vec<u8>) -> Self {
        let (bytes, original) = match readings::unmarked(&bytes) {
            Some(text) => (text, Some(sha256(&[&bytes]))),
            None => (bytes, None),
        };
        let kind = FileKind::of(&path, &bytes);
        let disk_length = path.len();
        Self { path, bytes, original, kind, is_reading: false, disk_length }
    }

    /// What a program could read in a file of this path besides what stands for it. The path keeps its end, which says the language.
    pub(crate) fn reading(path: &str, how: &str, bytes: Vec<u8>) -> Self {
        let kind = match FileKind::of(path, &bytes) {
            kind if kind.is_text() => kind,
            _ => FileKind::Text,
        };
        let name = path.rsplit('/').next().unwrap_or(path);
        let disk_length = path.len();
        let path = format!("{path}!/({how})/{name}");
        Self { path, bytes, original: None, kind, is_reading: true, disk_length }
    }

    /// A text that was found in a file of another kind: neither a document nor a program of its own.
    pub(crate) fn data(path: String, bytes: Vec<u8>) -> Self {
        let disk_length = path.len();
        Self { path, bytes, original: None, kind: FileKind::Config, is_reading: false, disk_length }
    }

    /// The file of the skill's folder that it is, or is in.
    fn disk_path(&self) -> &str {
        self.path.get(..self.disk_length).unwrap_or(&self.path)
    }

    pub(crate) fn is_text(&self) -> bool {
        self.kind.is_text()
    }

    /// Whether it is a file, or a member of an archive: not another reading, nor words that were found among other bytes.
    pub(crate) fn is_own(&self) -> bool {
        !self.is_reading && !self.path.ends_with("!/(text)") && !self.path.ends_with("!/(link)")
    }

    /// Whether there is something in it to judge: a text that is more than white space. Words in a picture or a PDF are searched, but what
    /// it shows is not known by them.
    pub(crate) fn has_text(&self) -> bool {
        self.is_own()
            && self.is_text()
            && !kind::is_media(&self.bytes)
            && self.bytes.iter().any(|byte| !byte.is_ascii_whitespace() && *byte != 0)
    }
}
