//! Configurations of agents: read with care, and only for what they start.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use serde::Serialize;
use serde_json::{Map, Value};
use skillsandbox_path_policy::{AccessKind, PathPolicy, strict_json};
use skillsandbox_text::shorten_line;
use skillsandbox_tracer::credential_place;

use super::confinement::{self, unclear};
use super::places::PlaceKind;
use super::shown::{self, MOST_SHOWN};
use crate::verbs::hook::{SettingsHook, settings_hook};

/// Largest configuration that is read: the largest in use keep histories, too, and have some megabytes.
const MOST_BYTES: u64 = 32 << 20;
/// Keys of an entry that say where to ask.
const ADDRESSES: [&str; 4] = ["url", "httpUrl", "serverUrl", "tcp"];
/// How a plugin names its own folder.
const PLUGIN_ROOT: &str = "${CLAUDE_PLUGIN_ROOT}/";

/// An MCP server that an agent starts or asks.
#[derive(Debug, Serialize)]
pub(super) struct FoundServer {
    pub(super) name: String,
    /// The configuration that has it.
    pub(super) file: PathBuf,
    /// The project that it is for, where the configuration has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    pub(super) state: ServerState,
    /// Why it is not simply confined or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) why: Vec<String>,
    /// What is started, without values of secrets; or the host that is asked.
    pub(super) starts: String,
    /// Names of the variables that the configuration sets. Their values are nobody's business.
    pub(super) variables: Vec<String>,
    /// What to change so that it is confined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) change: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ServerState {
    /// A verb of ours starts it.
    Confined,
    /// A verb of ours starts it, and is told to grant so much that little is left of the confinement.
    Wide,
    /// It has all the rights of the person.
    Unconfined,
    /// It runs on another machine, or was started by somebody else.
    Remote,
    /// The entry does not say, in a way that can be relied on, what is started or asked.
    Unclear,
}

/// What a configuration has.
#[derive(Debug, Default)]
pub(super) struct ReadConfig {
    pub(super) servers: Vec<FoundServer>,
    /// Files beside it that have more servers, as it names them.
    pub(super) others: Vec<String>,
    /// What in it cannot be judged.
    pub(super) problems: Vec<String>,
    /// What it says of the hook of its product.
    pub(super) hook: SettingsHook,
}

/// A configuration to read.
pub(super) struct ConfigFile<'a> {
    pub(super) path: &'a Path,
    pub(super) kind: PlaceKind,
    /// The product whose hook it may call.
    pub(super) hook: Option<&'a str>,
    /// Whether it may have servers with no key around them, as those of plugins have.
    pub(super) may_be_flat: bool,
    /// Where relative paths are taken to begin.
    pub(super) folder: &'a Path,
}

/// Reads a configuration; `None` where there is none.
///
/// # Errors
/// Why it was not read, without a word of what it holds.
pub(super) fn read_config(policy: &PathPolicy, file: &ConfigFile<'_>) -> Result<Option<ReadConfig>, String> {
    let Some(text) = read_text(policy, file.path)? else { return Ok(None) };
    let (root, keys) = match file.kind {
        PlaceKind::Json(keys) => (read_json(&text)?, keys),
        PlaceKind::Toml(keys) => (read_toml(&text)?, keys),
        PlaceKind::Documents | PlaceKind::Plugins => return Ok(None),
    };
    let mut config = ReadConfig::default();
    config.add_servers(&root, keys, None, file);
    for (list, whose) in [("projects", ""), ("profiles", "the profile ")] {
        for (name, inner) in root.get(list).and_then(Value::as_object).into_iter().flatten() {
            config.add_servers(inner, keys, Some(&format!("{whose}{name}")), file);
        }
    }
    if file.may_be_flat {
        for (name, entry) in root.as_object().into_iter().flatten() {
            let is_server = |key: &&str| entry.get(key).is_some();
            if std::iter::once("command").chain(ADDRESSES).any(|key| is_server(&key)) {
                config.servers.push(read_server(name, entry, None, file));
            }
        }
    }
    config.hook = file.hook.map(|product| settings_hook(&root, product, file.folder)).unwrap_or_default();
    Ok(Some(config))
}

impl ReadConfig {
    /// Adds the servers under these keys: there by themselves, in a file that is named, or in a list of both.
    fn add_servers(&mut self, root: &Value, keys: &[&str], project: Option<&str>, file: &ConfigFile<'_>) {
        let Some(value) = keys.iter().try_fold(root, |value, key| value.get(key)) else { return };
        let parts = match value {
            Value::Array(parts) => parts.iter().collect(),
            part => vec![part],
        };
        for part in parts {
            match part {
                Value::Object(servers) => self
                    .servers
                    .extend(servers.iter().map(|(name, entry)| read_server(name, entry, project, file))),
                Value::String(path) => self.others.push(path.clone()),
                Value::Null => {}
                Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                    self.problems.push(format!("its `{}` is not a list of servers", keys.join(".")));
                }
            }
        }
    }
}

/// The file of a plugin that its configuration names, if it lies in the plugin's folder.
///
/// # Errors
/// Why it is not looked at.
pub(super) fn file_of_plugin(policy: &PathPolicy, config: &Path, named: &str) -> Result<PathBuf, String> {
    let folder = config.parent().unwrap_or(config);
    let folder = match folder.file_name() {
        Some(name) if name == ".claude-plugin" => folder.parent().unwrap_or(folder),
        _ => folder,
    };
    let out = || {
        format!(
            "it names {} with MCP servers, which is not in its own folder",
            shorten_line(named, MOST_SHOWN)
        )
    };
    let named = Path::new(named.strip_prefix(PLUGIN_ROOT).unwrap_or(named));
    let real = |path: &Path| policy.resolve(path, AccessKind::Read).map_err(|_| out());
    let (file, folder) = (real(&folder.join(named))?, real(folder)?);
    if !file.starts_with(&folder) {
        return Err(out());
    }
    if !file.is_file() {
        return Err(format!(
            "it names {} with MCP servers, which is not there",
            shorten_line(&named.to_string_lossy(), MOST_SHOWN)
        ));
    }
    Ok(file)
}

/// The text of a file that lies in the home or the project, whatever it is called there. Nothing else than a regular file is opened, and no
/// link to credentials is followed.
fn read_text(policy: &PathPolicy, file: &Path) -> Result<Option<String>, String> {
    if file.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(None);
    }
    let real = policy
        .resolve(file, AccessKind::Read)
        .map_err(|_| "it leads out of your home and this project".to_owned())?;
    let is_link = real != file;
    if is_link && real.to_str().is_none_or(|real| credential_place(real).is_some()) {
        return Err("it is a link to a place of credentials".to_owned());
    }
    let failed = |error: std::io::Error| format!("it cannot be read: {}", error.kind());
    let flags = O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
    let opened: File = match OpenOptions::new().read(true).custom_flags(flags).open(&real) {
        Ok(opened) => opened,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !opened.metadata().map_err(failed)?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("it is larger than {} MiB", MOST_BYTES >> 20));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8".to_owned())
}

/// JSON, with comments and commas at ends as VS Code and others take it. What the parser says of its content is not repeated.
fn read_json(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    strict_json(&without_comments(text))
        .map_err(|error| format!("it is not JSON with each key once (line {})", error.line()))
}

fn read_toml(text: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(text).map_err(|_| "it is not TOML".to_owned())?;
    serde_json::to_value(table).map_err(|_| "it is not TOML that can be looked at".to_owned())
}

/// The text with blanks in the place of comments, and of commas before an end.
fn without_comments(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied();
    let (mut index, mut comma) = (0, None);
    while let Some(byte) = at(index) {
        let mut next = index + 1;
        match byte {
            b'"' => {
                comma = None;
                while let Some(inner) = at(next) {
                    next += if inner == b'\\' { 2 } else { 1 };
                    if inner == b'"' {
                        break;
                    }
                }
                next = next.min(bytes.len());
                out.extend_from_slice(bytes.get(index..next).unwrap_or_default());
            }
            b'/' if at(next) == Some(b'/') => {
                while at(next).is_some_and(|inner| inner != b'\n') {
                    next += 1;
                }
                out.push(b' ');
            }
            b'/' if at(next) == Some(b'*') => {
                let rest = text.get(index + 2..).unwrap_or_default();
                let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
                let comment = rest.get(..length).unwrap_or_default();
                out.extend(comment.bytes().filter(|inner| *inner == b'\n'));
                out.push(b' ');
                next = index + 2 + length;
            }
            b',' => {
                comma = Some(out.len());
                out.push(byte);
            }
            b'}' | b']' => {
                if let Some(place) = comma.take().and_then(|place: usize| out.get_mut(place)) {
                    *place = b' ';
                }
                out.push(byte);
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                out.push(byte);
            }
        }
        index = next;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn read_server(name: &str, entry: &Value, project: Option<&str>, file: &ConfigFile<'_>) -> FoundServer {
    let variables: Vec<String> =
        entry.get("env").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect();
    let command = entry.get("command").and_then(Value::as_str);
    let address = ADDRESSES.iter().find_map(|key| entry.get(key));
    let arguments = texts(entry.get("args"));
    let starts = match (command, address.and_then(Value::as_str)) {
        (Some(command), _) => {
            let arguments = arguments.as_deref().unwrap_or_default();
            if confinement::is_our_program(command) {
                shown::own_command(command, arguments)
            } else {
                shown::command(command, arguments)
            }
        }
        (None, Some(address)) => shown::host(address),
        (None, None) => String::new(),
    };
    let cwd = entry.get("cwd").and_then(Value::as_str).map_or(file.folder, Path::new);
    let (state, why) = match (command, address, arguments) {
        (Some(_), Some(_), _) => unclear("it says both what to start and where to ask"),
        (Some(_), None, None) => unclear("its arguments are not a list of texts"),
        (Some(_), None, Some(_)) if !is_object_or_none(entry.get("env")) => {
            unclear("its `env` is not a list of variables")
        }
        (Some(command), None, Some(arguments)) => {
            confinement::judge(command, &arguments, entry, &file.folder.join(cwd))
        }
        (None, Some(Value::String(_)), _) if entry.get("headersHelper").is_some() => {
            unclear("its `headersHelper` is a program of its own")
        }
        (None, Some(Value::String(_)), _) => (ServerState::Remote, Vec::new()),
        (None, _, _) => unclear("it says neither what to start nor where to ask"),
    };
    let is_toml = matches!(file.kind, PlaceKind::Toml(_));
    let change =
        command.filter(|command| state == ServerState::Unconfined && !confinement::is_our_program(command));
    FoundServer {
        name: shorten_line(name, MOST_SHOWN),
        file: file.path.to_owned(),
        project: project.map(|project| shorten_line(project, MOST_SHOWN)),
        state,
        why,
        starts,
        change: change.map(|command| change_of(command, &variables, is_toml)),
        variables,
    }
}

fn is_object_or_none(value: Option<&Value>) -> bool {
    value.is_none_or(|value| value.is_object() || value.is_null())
}

/// A list of texts; none at all is an empty one, and one with something else in it is none.
fn texts(list: Option<&Value>) -> Option<Vec<&str>> {
    match list {
        None | Some(Value::Null) => Some(Vec::new()),
        Some(Value::Array(words)) => words.iter().map(Value::as_str).collect(),
        Some(_) => None,
    }
}

/// The change that confines a server. Its own arguments stay as they are, and are not repeated: they may hold keys.
fn change_of(command: &str, variables: &[String], is_toml: bool) -> String {
    let mut words = vec!["wrap".to_owned()];
    for name in variables {
        words.extend(["--env".to_owned(), name.clone()]);
    }
    words.extend(["--".to_owned(), shown::program_word(command)]);
    let words: Vec<String> =
        words.iter().map(|word| Value::from(shorten_line(word, MOST_SHOWN)).to_string()).collect();
    let words = words.join(", ");
    if is_toml {
        format!("command = \"skillsandbox\", args = [{words}, …its args]")
    } else {
        format!("\"command\": \"skillsandbox\", \"args\": [{words}, …its args]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_commas_at_ends_are_taken_out_and_texts_are_not() {
        for (text, wanted) in [
            (
                r#"{"a": 1, // x
                "b": [1, 2,], /* , } */ }"#,
                r#"{"a":1,"b":[1,2]}"#,
            ),
            (
                r#"{"a": "// no \" comment, ]", "b": "/* x */"}"#,
                r#"{"a":"// no \" comment, ]","b":"/* x */"}"#,
            ),
            ("[1, /* a */ ]", "[1]"),
            ("\u{feff}{\"ä\": \"ö,\"}", "{\"ä\":\"ö,\"}"),
        ] {
            assert_eq!(read_json(text).unwrap().to_string(), wanted, "{text}");
        }
        for broken in ["{", "{\"a\": 1, \"a\": 2}", "{a: 1}", "[1,,]", "/* ", "\"a", "\"\\"] {
            assert!(read_json(broken).is_err(), "{broken}");
        }
        assert!(read_json(&"[".repeat(100_000)).is_err());
        assert_eq!(read_json(" \n").unwrap(), Value::Null);
    }
}
