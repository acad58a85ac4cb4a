//! Which tools touch files, and which of their arguments are paths. All of it is data.

use std::collections::HashMap;

use crate::settings::AccessKind;

/// What a tool does with files, and where its paths are.
///
/// Arguments named like paths (`path`, `file_path`, `source`, `dir`, `paths`, …) are found without being named here, all of them and at
/// any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    pub(crate) access: AccessKind,
    /// What is done with `source`, `src` and `from`, where it differs.
    pub(crate) source: Option<AccessKind>,
    /// Further arguments that are paths, in their normal form.
    pub(crate) paths: Vec<Box<str>>,
    /// Arguments that are patterns, in their normal form.
    pub(crate) globs: Vec<Box<str>>,
    /// An argument and its value with which the tool only reads.
    pub(crate) reads_when: Option<(Box<str>, Box<str>)>,
    pub(crate) path_is_optional: bool,
    pub(crate) tree: TreeAccess,
    pub(crate) exempt: bool,
}

/// What a tool does below the path it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeAccess {
    Nothing,
    /// Reads what it finds.
    Reads,
    /// Moves, copies or removes it.
    Takes,
}

impl ToolSpec {
    /// A tool that needs a path and does this with it.
    #[must_use]
    pub fn new(access: AccessKind) -> Self {
        Self {
            access,
            source: None,
            paths: Vec::new(),
            globs: Vec::new(),
            reads_when: None,
            path_is_optional: false,
            tree: TreeAccess::Nothing,
            exempt: false,
        }
    }

    /// A tool whose arguments are never paths. It is not checked; its mode still counts.
    #[must_use]
    pub fn exempt() -> Self {
        Self { exempt: true, path_is_optional: true, ..Self::new(AccessKind::ReadWrite) }
    }

    /// One more argument that is a path, or a list of paths.
    #[must_use]
    pub fn path_argument(mut self, key: &str) -> Self {
        self.paths.push(normal(key));
        self
    }

    /// An argument that is a pattern of paths, or a list of such.
    #[must_use]
    pub fn glob_argument(mut self, key: &str) -> Self {
        self.globs.push(normal(key));
        self
    }

    /// `source`, `src` and `from` are only read, as by a copy.
    #[must_use]
    pub fn source_is_read(mut self) -> Self {
        self.source = Some(AccessKind::Read);
        self
    }

    /// The tool only reads if this argument has this value.
    #[must_use]
    pub fn reads_when(mut self, key: &str, value: &str) -> Self {
        self.reads_when = Some((key.into(), value.into()));
        self
    }

    /// The tool works on the root if no path is given.
    #[must_use]
    pub fn path_is_optional(mut self) -> Self {
        self.path_is_optional = true;
        self
    }

    /// The tool reads the files below the folder it is given.
    #[must_use]
    pub fn reads_trees(mut self) -> Self {
        self.tree = TreeAccess::Reads;
        self
    }

    /// The tool moves, copies or removes whole folders.
    #[must_use]
    pub fn takes_trees(mut self) -> Self {
        self.tree = TreeAccess::Takes;
        self
    }
}

/// Tools that need a path, and what they do with it: of Claude Code, of the filesystem MCP server, of common runtimes.
const PLAIN: &[(&str, AccessKind)] = &[
    ("read_file", AccessKind::Read),
    ("read_text_file", AccessKind::Read),
    ("read_media_file", AccessKind::Read),
    ("read_multiple_files", AccessKind::Read),
    ("get_file_info", AccessKind::Read),
    ("view", AccessKind::Read),
    ("view_file", AccessKind::Read),
    ("open_file", AccessKind::Read),
    ("cat", AccessKind::Read),
    ("Read", AccessKind::Read),
    ("NotebookRead", AccessKind::Read),
    ("write_file", AccessKind::Write),
    ("append_to_file", AccessKind::Write),
    ("append_file", AccessKind::Write),
    ("create_file", AccessKind::Write),
    ("create_directory", AccessKind::Write),
    ("make_directory", AccessKind::Write),
    ("save_file", AccessKind::Write),
    ("Write", AccessKind::Write),
    ("Edit", AccessKind::ReadWrite),
    ("MultiEdit", AccessKind::ReadWrite),
    ("NotebookEdit", AccessKind::ReadWrite),
    ("edit_file", AccessKind::ReadWrite),
    ("replace_in_file", AccessKind::ReadWrite),
    ("insert", AccessKind::ReadWrite),
    ("str_replace", AccessKind::ReadWrite),
];

/// Tools that look at the root when no path is given.
const LISTING: &[&str] =
    &["list_files", "list_directory", "list_directory_with_sizes", "list_dir", "LS", "directory_tree"];

/// Tools that read what is in the files below a folder.
const SEARCHING: &[&str] = &["Grep", "grep_files", "search_content", "search_file_content"];

/// Tools that are no file tools, by exactly these names: `mcp__any__bash` is somebody else's.
const EXEMPT: &[&str] = &[
    "Bash",
    "BashOutput",
    "KillBash",
    "KillShell",
    "call_llm",
    "WebFetch",
    "WebSearch",
    "Task",
    "Agent",
    "TodoWrite",
    "TodoRead",
    "ExitPlanMode",
    "list_allowed_directories",
];

/// The table every policy starts from, by normal names.
pub(crate) fn defaults() -> HashMap<Box<str>, ToolSpec> {
    let read = || ToolSpec::new(AccessKind::Read).path_is_optional();
    let mut table = HashMap::new();
    let mut add = |name: &str, spec: ToolSpec| table.insert(normal(name), spec);
    for &(name, access) in PLAIN {
        add(name, ToolSpec::new(access));
    }
    for name in LISTING {
        add(name, read().glob_argument("pattern"));
    }
    for name in SEARCHING {
        add(name, read().reads_trees());
    }
    for name in ["Glob", "glob_files", "find_files", "search_files"] {
        add(name, read().glob_argument("pattern"));
    }
    for name in ["delete_file", "remove_file", "delete_directory", "remove_directory"] {
        add(name, ToolSpec::new(AccessKind::Write).takes_trees());
    }
    for name in ["move_file", "rename_file"] {
        add(name, ToolSpec::new(AccessKind::ReadWrite).takes_trees());
    }
    for name in ["copy_file", "copy_directory"] {
        add(name, ToolSpec::new(AccessKind::Write).source_is_read().takes_trees());
    }
    for name in ["str_replace_editor", "str_replace_based_edit_tool"] {
        add(name, ToolSpec::new(AccessKind::ReadWrite).reads_when("command", "view"));
    }
    for name in EXEMPT {
        add(name, ToolSpec::exempt());
    }
    table
}

/// What an argument is by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentKey {
    /// One path, and nothing else.
    Path,
    /// Several.
    Paths,
    /// A path if it is text.
    MaybePath,
    Glob,
    /// Text of which nothing is known.
    Other,
    /// Text that is no path, whatever it looks like.
    Text,
}

/// Keys by their normal form: lower case, letters and digits only.
const PATH_KEYS: &[&str] = &[
    "path",
    "filepath",
    "notebookpath",
    "filename",
    "file",
    "directory",
    "directorypath",
    "dir",
    "dirpath",
    "dirname",
    "folder",
    "folderpath",
    "cwd",
    "workdir",
    "workingdirectory",
    "workingdir",
    "rootdir",
    "rootpath",
    "basedir",
    "basepath",
    "source",
    "sourcepath",
    "sourcefile",
    "destination",
    "destinationpath",
    "destinationfile",
    "dest",
    "destpath",
    "destfile",
    "src",
    "srcpath",
    "srcfile",
    "dst",
    "dstpath",
    "dstfile",
    "from",
    "frompath",
    "to",
    "topath",
    "target",
    "targetpath",
    "targetfile",
    "targetdirectory",
    "oldpath",
    "newpath",
    "outputpath",
    "outputfile",
    "inputpath",
    "inputfile",
    "absolutepath",
    "relativepath",
];
const PATHS_KEYS: &[&str] = &[
    "paths",
    "filepaths",
    "files",
    "filenames",
    "directories",
    "dirs",
    "folders",
    "sources",
    "destinations",
    "targets",
    "srcs",
];
const GLOB_KEYS: &[&str] =
    &["glob", "globs", "include", "includes", "filepattern", "filepatterns", "includepattern", "globpattern"];
const MAYBE_KEYS: &[&str] = &["root", "base", "location", "uri", "uris", "output", "outfile", "infile"];
const MAYBE_ENDS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "uri",
];
const TEXT_KEYS: &[&str] = &[
    "pattern",
    "patterns",
    "query",
    "regex",
    "regexp",
    "command",
    "cmd",
    "prompt",
    "message",
    "messages",
    "description",
    "body",
    "code",
    "script",
    "url",
    "urls",
    "endpoint",
    "route",
    "href",
    "data",
    "expression",
    "title",
    "ignore",
    "exclude",
    "excludes",
    "newsource",
    "oldsource",
    "diff",
    "patch",
    "reason",
    "comment",
    "summary",
];
const TEXT_ENDS: &[&str] = &["text", "string", "str", "content", "contents", "url", "pattern", "patterns"];

/// Keys whose folder other relative paths of the call may start from.
const BASE_KEYS: &[&str] = &[
    "cwd",
    "workdir",
    "workingdirectory",
    "workingdir",
    "root",
    "rootdir",
    "rootpath",
    "base",
    "basedir",
    "basepath",
    "directory",
    "dir",
    "folder",
];
/// Keys of what is copied or moved away.
const SOURCE_KEYS: &[&str] = &[
    "source",
    "sources",
    "sourcepath",
    "sourcefile",
    "src",
    "srcs",
    "srcpath",
    "srcfile",
    "from",
    "frompath",
];

/// A key or a tool's name in its normal form, without an allocation. Of what is longer than the buffer only the end counts,
/// which is where the word is that says what it is.
pub(crate) struct NormalKey {
    buffer: [u8; 48],
    start: usize,
}

impl NormalKey {
    pub(crate) fn of(text: &str) -> Self {
        let mut buffer = [0; 48];
        let mut start = buffer.len();
        for byte in text.bytes().rev().filter(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
            let Some(place) = start.checked_sub(1).and_then(|index| buffer.get_mut(index)) else { break };
            *place = byte.to_ascii_lowercase();
            start -= 1;
        }
        Self { buffer, start }
    }

    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.buffer.get(self.start..).unwrap_or_default();
        // Cut inside a letter, it is no key that is known.
        str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) fn key(&self, spec: Option<&ToolSpec>) -> ArgumentKey {
        let key = self.as_str();
        let own = |list: fn(&ToolSpec) -> &[Box<str>]| {
            spec.is_some_and(|spec| list(spec).iter().any(|own| **own == *key))
        };
        if own(|spec| &spec.globs) || GLOB_KEYS.contains(&key) {
            ArgumentKey::Glob
        } else if own(|spec| &spec.paths) || PATHS_KEYS.contains(&key) {
            ArgumentKey::Paths
        } else if PATH_KEYS.contains(&key) {
            ArgumentKey::Path
        } else if TEXT_KEYS.contains(&key) {
            ArgumentKey::Text
        } else if MAYBE_KEYS.contains(&key) || MAYBE_ENDS.iter().any(|end| key.ends_with(end)) {
            ArgumentKey::MaybePath
        } else if TEXT_ENDS.iter().any(|end| key.ends_with(end)) {
            ArgumentKey::Text
        } else {
            ArgumentKey::Other
        }
    }

    pub(crate) fn is_base(&self) -> bool {
        BASE_KEYS.contains(&self.as_str())
    }

    pub(crate) fn is_source(&self) -> bool {
        SOURCE_KEYS.contains(&self.as_str())
    }
}

/// The normal form of a key or a tool's name.
pub(crate) fn normal(text: &str) -> Box<str> {
    NormalKey::of(text).as_str().into()
}

/// The names a tool may be known by: `mcp__server__read_file` and `server.read_file` are `read_file` too. The whole name comes first.
pub(crate) fn known_as(name: &str) -> impl Iterator<Item = &str> {
    let behind_server = name
        .get(..5)
        .filter(|start| start.eq_ignore_ascii_case("mcp__"))
        .and_then(|_| name.get(5..)?.split_once("__"))
        .map(|(_, tool)| tool);
    let behind_last = name.rsplit_once("__").map(|(_, tool)| tool);
    let behind_dot = name.rsplit_once(['.', ':', '/']).map(|(_, tool)| tool);
    [Some(name), behind_server, behind_last, behind_dot].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        for (key, expected) in [
            ("path", ArgumentKey::Path),
            ("file_path", ArgumentKey::Path),
            ("filePath", ArgumentKey::Path),
            ("FILE-PATH", ArgumentKey::Path),
            ("paths", ArgumentKey::Paths),
            ("files", ArgumentKey::Paths),
            ("glob", ArgumentKey::Glob),
            ("my_output_path", ArgumentKey::MaybePath),
            ("log_file", ArgumentKey::MaybePath),
            ("content", ArgumentKey::Text),
            ("old_string", ArgumentKey::Text),
            ("pattern", ArgumentKey::Text),
            ("where", ArgumentKey::Other),
            ("", ArgumentKey::Other),
            (
                "an_argument_with_a_name_much_longer_than_the_buffer_that_is_a_file_path",
                ArgumentKey::MaybePath,
            ),
        ] {
            assert_eq!(NormalKey::of(key).key(None), expected, "{key}");
        }
        let spec = ToolSpec::new(AccessKind::Read).glob_argument("pattern").path_argument("where");
        assert_eq!(NormalKey::of("pattern").key(Some(&spec)), ArgumentKey::Glob);
        assert_eq!(NormalKey::of("Where").key(Some(&spec)), ArgumentKey::Paths);
    }

    #[test]
    fn lists_are_in_normal_form_and_tell_no_key_twice() {
        let lists = [PATH_KEYS, PATHS_KEYS, GLOB_KEYS, MAYBE_KEYS, TEXT_KEYS];
        let all: Vec<&str> = lists.into_iter().flatten().copied().collect();
        for (index, key) in all.iter().enumerate() {
            assert_eq!(*normal(key), **key);
            assert!(!all[..index].contains(key), "{key}");
        }
        for key in BASE_KEYS.iter().chain(SOURCE_KEYS) {
            assert!(all.contains(key), "{key}");
        }
    }

    #[test]
    fn names_are_known_in_every_spelling() {
        let known = |name: &str| known_as(name).map(normal).collect::<Vec<_>>();
        for name in [
            "read_file",
            "read-file",
            "readFile",
            "READ_FILE",
            "mcp__fs__read_file",
            "MCP__my__fs__Read-File",
            "fs.read_file",
        ] {
            assert!(known(name).contains(&"readfile".into()), "{name}: {:?}", known(name));
        }
        assert!(!known("bread_file").contains(&"readfile".into()));
        assert!(!known("read_file_later").contains(&"readfile".into()));
    }
}
