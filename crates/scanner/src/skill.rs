//! A skill's files, read within bounds; what was not read is listed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::digest::{Hash, sha256};

/// Largest file that is read whole.
const MAX_FILE: u64 = 8 << 20;
/// Most bytes of one skill.
const MAX_TOTAL: u64 = 64 << 20;
/// Most files of one skill.
const MAX_FILES: usize = 4000;
/// Deepest folder.
const MAX_DEPTH: usize = 16;

/// A skill to be scanned: a name, and the bytes of its files.
#[derive(Clone, Debug)]
pub struct Skill {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) files: Vec<SkillFile>,
    pub(crate) unread: Vec<Unread>,
}

/// One file of a skill.
#[derive(Clone, Debug)]
pub(crate) struct SkillFile {
    /// Below the skill's folder, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// The hash of the bytes as they were, where `bytes` is a conversion of them.
    pub(crate) original: Option<Hash>,
    pub(crate) kind: FileKind,
}

/// A file that was not scanned, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Unread {
    /// Below the skill's folder.
    pub path: String,
    /// Why it was not.
    pub reason: String,
}

/// What a file is, by its name and first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Markdown,
    Script,
    Config,
    Text,
    /// Programs, bytecode, libraries.
    Executable,
    /// Archives that are not opened.
    Archive,
    /// Images, fonts, sound and other media.
    Media,
    /// Something else that is not text.
    Binary,
}

/// Why a skill could not be read at all.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", .path.display())]
#[non_exhaustive]
pub struct ReadError {
    /// What was to be read.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub error: io::Error,
}

impl Skill {
    /// A skill from files in memory: paths below its folder, and their bytes.
    pub fn from_memory<P: Into<String>, B: Into<Vec<u8>>>(
        name: impl Into<String>,
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Self {
        let file = |(path, bytes): (P, B)| SkillFile::new(path.into(), bytes.into());
        Self {
            name: name.into(),
            source: String::new(),
            files: files.into_iter().map(file).collect(),
            unread: Vec::new(),
        }
    }

    /// A skill that is one `SKILL.md`.
    pub fn from_skill_md(name: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self::from_memory(name, [("SKILL.md", text)])
    }

    /// A skill from its folder. Links are not followed; folders that hold a skill of their own are left to it.
    pub fn from_dir(dir: impl AsRef<Path>) -> Result<Self, ReadError> {
        let dir = dir.as_ref();
        let name =
            dir.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let name = name.unwrap_or_else(|| dir.to_string_lossy().into_owned());
        let mut skill = Self { name, source: String::new(), files: Vec::new(), unread: Vec::new() };
        let mut total = 0;
        skill.walk(dir, "", 0, &mut total).map_err(|error| ReadError { path: dir.to_owned(), error })?;
        skill.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(skill)
    }

    /// A skill that is one file.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let fail = |error| ReadError { path: path.to_owned(), error };
        let mut bytes = Vec::new();
        File::open(path).map_err(fail)?.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fail)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self::from_memory(stem, [(name, bytes)]))
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

    fn walk(&mut self, dir: &Path, prefix: &str, depth: usize, total: &mut u64) -> io::Result<()> {
        let mut entries: Vec<_> = fs::read_dir(dir)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                self.skip(path, "a symbolic link");
            } else if kind.is_dir() {
                if entry.file_name() == ".git" || entry.path().join("SKILL.md").is_file() {
                    continue;
                }
                if depth >= MAX_DEPTH {
                    self.skip(path, "too deep");
                } else {
                    self.walk(&entry.path(), &format!("{path}/"), depth + 1, total)?;
                }
            } else if !kind.is_file() {
                self.skip(path, "not a regular file");
            } else if self.files.len() >= MAX_FILES {
                self.skip(path, "too many files");
            } else {
                let size = entry.metadata()?.len();
                if size > MAX_FILE || *total + size > MAX_TOTAL {
                    self.skip(path, "too large");
                    continue;
                }
                let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
                match File::open(entry.path()).and_then(|file| file.take(MAX_FILE).read_to_end(&mut bytes)) {
                    Ok(_) => {
                        *total += bytes.len() as u64;
                        self.files.push(SkillFile::new(path, bytes));
                    }
                    Err(error) => self.skip(path, &error.to_string()),
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.unread.push(Unread { path, reason: reason.to_owned() });
    }

    /// Its main document.
    pub(crate) fn document(&self) -> Option<usize> {
        let named = |name: &str| self.files.iter().position(|file| file.path.eq_ignore_ascii_case(name));
        named("SKILL.md").or_else(|| {
            self.files.iter().position(|file| file.kind == FileKind::Markdown && !file.path.contains('/'))
        })
    }
}

impl SkillFile {
    fn new(path: String, bytes: Vec<u8>) -> Self {
        let (bytes, original) = match from_utf16(&bytes) {
            Some(text) => (text, Some(sha256(&[&bytes]))),
            None => (bytes, None),
        };
        let kind = FileKind::of(&path, &bytes);
        Self { path, bytes, original, kind }
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.kind, FileKind::Markdown | FileKind::Script | FileKind::Config | FileKind::Text)
    }
}

/// UTF-16 with its mark, as UTF-8: an encoding must not hide a text.
fn from_utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    let (wide, big) = match bytes.get(..2)? {
        [0xff, 0xfe] => (bytes.get(2..)?, false),
        [0xfe, 0xff] => (bytes.get(2..)?, true),
        _ => return None,
    };
    let units = wide.chunks_exact(2).map(|pair| match pair {
        [a, b] if big => u16::from_be_bytes([*a, *b]),
        [a, b] => u16::from_le_bytes([*a, *b]),
        _ => 0,
    });
    Some(char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).collect::<String>().into_bytes())
}

impl FileKind {
    fn of(path: &str, bytes: &[u8]) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let head = bytes.get(..bytes.len().min(8192)).unwrap_or_default();
        let magic = |marks: &[&[u8]]| marks.iter().any(|mark| head.starts_with(mark));
        if magic(&[
            b"\x7fELF",
            b"MZ",
            b"\xcf\xfa\xed\xfe",
            b"\xce\xfa\xed\xfe",
            b"\xca\xfe\xba\xbe",
            b"\0asm",
            b"dex\n",
        ]) || matches!(
            extension,
            "pyc" | "pyo" | "so" | "dll" | "dylib" | "exe" | "class" | "node" | "wasm" | "scpt"
        ) {
            return Self::Executable;
        }
        if magic(&[
            b"PK\x03\x04",
            b"\x1f\x8b",
            b"7z\xbc\xaf",
            b"Rar!",
            b"BZh",
            b"\xfd7zXZ",
            b"\x28\xb5\x2f\xfd",
        ]) {
            // Office documents are archives of their own kind.
            return if matches!(extension, "docx" | "xlsx" | "pptx" | "odt" | "epub") {
                Self::Media
            } else {
                Self::Archive
            };
        }
        if magic(&[
            b"\x89PNG",
            b"\xff\xd8\xff",
            b"GIF8",
            b"RIFF",
            b"OTTO",
            b"\0\x01\0\0",
            b"wOFF",
            b"wOF2",
            b"ID3",
            b"OggS",
            b"%PDF",
        ]) {
            return Self::Media;
        }
        if head.contains(&0) && std::str::from_utf8(head).is_err() {
            return Self::Binary;
        }
        match extension {
            "md" | "markdown" | "mdx" | "mdc" => Self::Markdown,
            "py" | "sh" | "bash" | "zsh" | "fish" | "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "rb"
            | "pl" | "php" | "ps1" | "psm1" | "bat" | "cmd" | "vbs" | "applescript" | "lua" | "go" | "rs"
            | "java" | "kt" | "swift" | "c" | "cpp" | "r" | "ipynb" => Self::Script,
            "json" | "jsonc" | "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "env" | "xml" | "plist"
            | "lock" | "properties" | "csv" | "tsv" | "log" | "svg" | "html" | "css" => Self::Config,
            _ if head.starts_with(b"#!")
                || matches!(name.as_str(), "makefile" | "dockerfile" | "justfile" | "rakefile") =>
            {
                Self::Script
            }
            _ if name.starts_with('.') || name.ends_with("rc") => Self::Config,
            _ => Self::Text,
        }
    }
}
