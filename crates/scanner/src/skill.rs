//! A skill's files, read within bounds; what was not read is listed.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::archive::{ArchiveOddity, ArchiveUnpacker, UnpackedFiles};
use crate::digest::{Sha256Hash, compute_digest, sha256};
use crate::folder_walk::{FolderWalk, WalkRules};
use crate::kind::{self, FileKind, is_example_file};
use crate::readings;
use crate::snapshot::{FolderSnapshot, is_below};

/// Largest file that is read whole.
pub(crate) const MAX_FILE: usize = 8 << 20;
/// Most bytes of one skill; what its archives hold counts by itself.
pub(crate) const MAX_TOTAL: usize = 64 << 20;
/// Most files of one skill; what its archives hold counts by itself.
pub(crate) const MAX_FILES: usize = 4000;
/// Why a link was not followed. Where it leads was scanned as a text; what lies there is no part of the skill, and only a grant reaches it.
pub(crate) const OUTSIDE_LINK: &str = "a symbolic link that leads out of the skill's folder, or nowhere";

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
        Ok(Self::read_dir(dir.as_ref(), WalkRules::WHOLE)?.0)
    }

    /// The same without the folders below it that a scan judges by themselves, and reports on: other skills of a tree.
    pub fn from_dir_without(
        dir: impl AsRef<Path>,
        judged_apart: impl Fn(&Path) -> bool,
    ) -> Result<Self, ReadError> {
        Ok(Self::read_dir(dir.as_ref(), WalkRules { leave_out: &judged_apart, ..WalkRules::WHOLE })?.0)
    }

    /// The same as a run of it would find it, which may execute any of it: without the folder's own `.git`, which is not there then, and with
    /// links that lead to another place in it, since what they lead to is read there.
    pub fn from_whole_dir(dir: impl AsRef<Path>) -> Result<Self, ReadError> {
        Ok(Self::read_dir(dir.as_ref(), WalkRules { as_run: true, ..WalkRules::WHOLE })?.0)
    }

    /// Its files, and what was written down of every entry, as the rules ask for it.
    pub(crate) fn read_dir(dir: &Path, rules: WalkRules<'_>) -> Result<(Self, FolderSnapshot), ReadError> {
        // Its own name is that of its real path, unless it is a link or ends in `..`; finding that asks for each folder above it.
        let is_link =
            fs::symlink_metadata(dir.components().as_path()).map_or(true, |found| found.is_symlink());
        let own_name = dir.file_name().filter(|_| !is_link).map(|name| name.to_string_lossy().into_owned());
        let real = if rules.as_run || own_name.is_none() { dir.canonicalize().ok() } else { None };
        let real_name = || Some(real.as_ref()?.file_name()?.to_string_lossy().into_owned());
        let name = own_name.or_else(real_name).unwrap_or_else(|| dir.to_string_lossy().into_owned());
        let mut walk = FolderWalk::new(rules, real);
        walk.read_all(dir).map_err(|error| ReadError { path: dir.to_owned(), error })?;
        let snapshot = FolderSnapshot::of(&mut walk);
        Ok((walk.finish(name), snapshot))
    }

    /// What agents obey in a tree, and what that names: these files, by their paths below the folder. What cannot be read is listed.
    pub(crate) fn from_agent_files(root: &Path, name: String, files: &[String]) -> Self {
        let mut walk = FolderWalk::new(WalkRules::WHOLE, None);
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

    pub(crate) fn of(name: String, contents: UnpackedFiles) -> Self {
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
        let in_one = |path: &str| folders.iter().any(|folder| is_below(path, folder));
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
