//! What a file is: by its bytes first, by its name only where the bytes leave it open.

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Markdown,
    Script,
    Config,
    Text,
    /// Programs, bytecode, libraries.
    Executable,
    /// Archives.
    Archive,
    /// Images, fonts, sound and other media.
    Media,
    /// Something else that is not text.
    Binary,
}

/// Bytes that are looked at to tell text from the rest.
const HEAD: usize = 8192;

impl FileKind {
    pub(crate) fn of(path: &str, bytes: &[u8]) -> Self {
        let by_name = Self::by_name(path);
        // An interpreter takes these whatever their first bytes look like: `GIF89a=1` is a line of shell.
        if matches!(by_name, Self::Markdown | Self::Script) {
            return by_name;
        }
        let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
        if detect_program(bytes).is_some() {
            return Self::Executable;
        }
        if detect_archive(bytes).is_some() {
            return Self::Archive;
        }
        // A text that begins like a picture has no zero bytes; if it has, what is readable in it is scanned all the same.
        if is_media(head) && head.contains(&0) {
            return Self::Media;
        }
        // Two odd bytes do not keep anybody from reading a text.
        let named_text =
            matches!(extension(&base_name(path)), "txt" | "text" | "rst" | "adoc") || by_name == Self::Config;
        let text = named_text || !head.contains(&0) || std::str::from_utf8(head).is_ok();
        if text && is_script(head) {
            return Self::Script;
        }
        match (text, by_name) {
            (true, Self::Config) => Self::Config,
            (true, _) => Self::Text,
            (false, Self::Executable) => Self::Executable,
            (false, _) => Self::Binary,
        }
    }

    /// Whether it is read as text.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Markdown | Self::Script | Self::Config | Self::Text)
    }

    /// What the name says.
    fn by_name(path: &str) -> Self {
        let name = base_name(path);
        match extension(&name) {
            "md" | "markdown" | "mdx" | "mdc" => Self::Markdown,
            "py" | "sh" | "bash" | "zsh" | "fish" | "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "rb"
            | "pl" | "php" | "ps1" | "psm1" | "bat" | "cmd" | "vbs" | "applescript" | "lua" | "go" | "rs"
            | "java" | "kt" | "swift" | "c" | "cpp" | "r" | "ipynb" => Self::Script,
            "json" | "jsonc" | "yaml" | "yml" | "toml" | "ini" | "cfg" | "conf" | "env" | "xml" | "plist"
            | "lock" | "properties" | "csv" | "tsv" | "log" | "svg" | "html" | "css" | "rels" | "xhtml" => {
                Self::Config
            }
            "pyc" | "pyo" | "so" | "dll" | "dylib" | "exe" | "class" | "node" | "wasm" | "scpt" => {
                Self::Executable
            }
            _ if matches!(name.as_str(), "makefile" | "dockerfile" | "justfile" | "rakefile") => Self::Script,
            _ if name.starts_with('.') || name.ends_with("rc") => Self::Config,
            _ => Self::Text,
        }
    }
}

/// The last part of a path, in lower case.
fn base_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase()
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Whether a file names its interpreter.
pub(crate) fn is_script(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#!/") || bytes.starts_with(b"#! /")
}

/// Which kind of program the bytes are. All of these have zero bytes near their beginning; a text that begins with the
/// same letters does not.
pub(crate) fn detect_program(bytes: &[u8]) -> Option<&'static str> {
    const MARKS: &[(&[u8], &str)] = &[
        (b"\x7fELF", "a Linux program or library"),
        (b"MZ", "a Windows program or library"),
        (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
        (b"\xce\xfa\xed\xfe", "a macOS program or library"),
        (b"\xfe\xed\xfa\xcf", "a macOS program or library"),
        (b"\xfe\xed\xfa\xce", "a macOS program or library"),
        (b"\0asm", "a WebAssembly program"),
        (b"dex\n", "compiled Android code"),
        (b"\x1bLua", "compiled Lua"),
        (b"\x1bLJ", "compiled Lua"),
        (b"FasdUAS", "compiled AppleScript"),
        (b"L\0\0\0\x01\x14\x02\0", "a Windows shortcut, which runs a command"),
    ];
    let head = bytes.get(..bytes.len().min(HEAD)).unwrap_or_default();
    if let Some((_, name)) = MARKS.iter().find(|(mark, _)| head.starts_with(mark)) {
        return head.contains(&0).then_some(*name);
    }
    if head.starts_with(b"\xca\xfe\xba\xbe") {
        // A class has its version here, 45 or more; a program for several processors their number.
        let many = head.get(4..8).is_some_and(|count| matches!(count, [0, 0, 0, 1..=44]));
        return Some(if many { "a macOS program or library" } else { "a compiled Java class" });
    }
    is_compiled_python(head).then_some("compiled Python")
}

/// The interpreter's number, a line end, and flags or a date with zero bytes; Python runs it under any name.
fn is_compiled_python(head: &[u8]) -> bool {
    let Some([low, high, b'\r', b'\n', rest @ ..]) = head.get(..16) else { return false };
    // 3.x since 2006, 2.x before.
    matches!(u16::from_le_bytes([*low, *high]), 3000..=3999 | 50_428..=62_300) && rest.contains(&0)
}

/// What an archive can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveKind {
    Zip,
    Tar,
    Gzip,
    /// Of a kind that is not opened, and its name.
    Other(&'static str),
}

/// Which kind of archive the bytes are from their beginning on.
pub(crate) fn detect_archive(bytes: &[u8]) -> Option<ArchiveKind> {
    const OTHERS: &[(&[u8], &str)] = &[
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "rar"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"LZIP\x01", "lzip"),
        (b"MSCF\0\0\0\0", "cab"),
        (b"!<arch>\n", "ar or deb"),
        (b"\xed\xab\xee\xdb", "rpm"),
        (b"xar!\0", "xar or pkg"),
        (b"\x1f\x9d", "compress"),
    ];
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06\0\0\0\0") {
        return Some(ArchiveKind::Zip);
    }
    if bytes.starts_with(b"\x1f\x8b\x08") {
        return Some(ArchiveKind::Gzip);
    }
    if bytes.starts_with(b"BZh") && matches!(bytes.get(4..10), Some(b"1AY&SY" | b"\x17rE8P\x90")) {
        return Some(ArchiveKind::Other("bzip2"));
    }
    if bytes.len() > 0x8006 && bytes.get(0x8001..0x8006) == Some(b"CD001") {
        return Some(ArchiveKind::Other("iso"));
    }
    // Words that a text could begin with.
    let binary = bytes.get(..bytes.len().min(HEAD)).is_some_and(|head| head.contains(&0));
    if binary && (bytes.starts_with(b"070701") || bytes.starts_with(b"hsqs")) {
        return Some(ArchiveKind::Other("cpio or squashfs"));
    }
    if is_lzma(bytes) {
        return Some(ArchiveKind::Other("lzma"));
    }
    if let Some((_, name)) = OTHERS.iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return Some(ArchiveKind::Other(name));
    }
    crate::archive::is_tar(bytes).then_some(ArchiveKind::Tar)
}

/// Whether the first bytes are of an archive that has a mark at its beginning, as far as they go.
pub(crate) fn may_be_archive(head: &[u8]) -> bool {
    head.starts_with(b"BZh") || detect_archive(head).is_some()
}

/// LZMA as it was before xz: no mark, but 13 bytes of which few can be otherwise, and a first coded byte that is always 0.
fn is_lzma(bytes: &[u8]) -> bool {
    let Some(([properties, dictionary @ .., 0], _)) = bytes.split_first_chunk::<14>() else { return false };
    let ([a, b, c, d], size) = match dictionary.split_first_chunk::<4>() {
        Some((dictionary, size)) => (*dictionary, size),
        None => return false,
    };
    let dictionary = u32::from_le_bytes([a, b, c, d]);
    // Encoders write powers of two, or one and a half of one; a size that is not known is all ones, and none is beyond a terabyte.
    let round =
        dictionary >= 4096 && (dictionary.is_power_of_two() || (dictionary / 3 * 2).is_power_of_two());
    let sized = size.iter().all(|b| *b == 0xff) || size.get(5..) == Some(&[0, 0, 0]);
    *properties < 225 && round && sized && size.iter().any(|b| *b != 0)
}

/// Old Office documents, which may hold macros.
pub(crate) fn is_compound(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
}

/// Whether the first bytes are those of a picture, a font, sound or a PDF.
pub(crate) fn is_media(head: &[u8]) -> bool {
    const MARKS: &[&[u8]] = &[
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
    ];
    MARKS.iter().any(|mark| head.starts_with(mark))
}

/// What a name promises that neither a program nor a script keeps: somebody opens it to look at, not to run.
pub(crate) fn find_promise(path: &str) -> Option<&'static str> {
    match extension(&base_name(path)) {
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "ico" | "tif" | "tiff" | "heic" | "avif" => {
            Some("a picture")
        }
        "mp3" | "wav" | "ogg" | "flac" | "m4a" | "mp4" | "mov" | "avi" | "mkv" | "webm" => {
            Some("sound or video")
        }
        "ttf" | "otf" | "woff" | "woff2" => Some("a font"),
        "pdf" => Some("a PDF"),
        "doc" | "docx" | "xls" | "xlsx" | "ppt" | "pptx" | "odt" | "rtf" | "epub" => Some("a document"),
        "txt" | "md" | "markdown" | "rst" | "csv" | "tsv" | "json" | "log" => Some("text"),
        _ => None,
    }
}
/// Whether a path says that it holds tests, fixtures or examples.
pub(crate) fn is_example_file(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.split('/').any(|part| {
        matches!(part, "tests" | "test" | "fixtures" | "__tests__" | "testdata" | "evals" | "test_data")
            || part.starts_with("test_")
            || part.ends_with("_test.py")
            || part.contains(".test.")
            || part.contains(".spec.")
    })
}
