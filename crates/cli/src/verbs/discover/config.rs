//! Configurations of agents: read with care, and only for what they start.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use nix::libc::{O_NOCTTY, O_NOFOLLOW, O_NONBLOCK};
use serde::Serialize;
use serde_json::{Map, Value};
use skillsandbox_path_policy::{AccessKind, PathPolicy, strict_json};
use skillsandbox_text::{NextWord, REDACTED, redact_named_values, shorten_line};
use skillsandbox_tracer::credential_place;

use super::places::PlaceKind;
use crate::verbs::hook::is_hook_command;

/// Largest configuration that is read: the largest in use keep histories, too, and have some megabytes.
const MOST_BYTES: u64 = 32 << 20;
/// Most characters of a command that are shown.
const MOST_SHOWN: usize = 160;
/// Verbs of ours that confine what they start.
const CONFINING: [&str; 4] = ["wrap", "serve", "run", "exec"];

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
    /// It has all the rights of the person.
    Unconfined,
    /// It runs on another machine, or was started by somebody else.
    Remote,
    /// The entry says neither what to start nor where to ask.
    Unclear,
}

/// What a configuration has.
#[derive(Debug, Default)]
pub(super) struct ReadConfig {
    pub(super) servers: Vec<FoundServer>,
    /// Whether it calls the hook of its product.
    pub(super) has_hook: bool,
    /// Whether it switches all hooks off.
    pub(super) hooks_are_off: bool,
}

/// Reads a configuration; `None` where there is none.
///
/// # Errors
/// Why it was not read, without a word of what it holds.
pub(super) fn read_config(
    policy: &PathPolicy,
    file: &Path,
    kind: PlaceKind,
    hook: Option<&str>,
) -> Result<Option<ReadConfig>, String> {
    let Some(text) = read_text(policy, file)? else { return Ok(None) };
    let (root, keys) = match kind {
        PlaceKind::Json(keys) => (read_json(&text)?, keys),
        PlaceKind::Toml(keys) => (read_toml(&text)?, keys),
        PlaceKind::Documents | PlaceKind::Plugins => return Ok(None),
    };
    let is_toml = matches!(kind, PlaceKind::Toml(_));
    let mut config = ReadConfig::default();
    let add = |root: &Value, project: Option<&str>, config: &mut ReadConfig| {
        let servers = keys.iter().try_fold(root, |value, key| value.get(key)).and_then(Value::as_object);
        for (name, entry) in servers.into_iter().flatten() {
            config.servers.push(read_server(name, entry, file, project, is_toml));
        }
    };
    add(&root, None, &mut config);
    for (path, project) in root.get("projects").and_then(Value::as_object).into_iter().flatten() {
        add(project, Some(path), &mut config);
    }
    config.has_hook = hook.is_some_and(|product| calls_hook(&root, product));
    config.hooks_are_off = root.get("disableAllHooks") == Some(&Value::Bool(true));
    Ok(Some(config))
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

fn read_server(name: &str, entry: &Value, file: &Path, project: Option<&str>, is_toml: bool) -> FoundServer {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let variables =
        entry.get("env").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect();
    let mut server = FoundServer {
        name: shorten_line(name, MOST_SHOWN),
        file: file.to_owned(),
        project: project.map(|project| shorten_line(project, MOST_SHOWN)),
        state: ServerState::Unclear,
        starts: String::new(),
        variables,
        change: None,
    };
    if let Some(command) = text("command") {
        let arguments = entry.get("args").and_then(Value::as_array).into_iter().flatten();
        let arguments: Vec<&str> = arguments.filter_map(Value::as_str).collect();
        server.starts = shown_command(command, &arguments);
        server.state =
            if confines(command, &arguments) { ServerState::Confined } else { ServerState::Unconfined };
        if server.state == ServerState::Unconfined {
            server.change = Some(change_of(command, &server.variables, is_toml));
        }
    } else if let Some(url) = text("url").or_else(|| text("httpUrl")).or_else(|| text("serverUrl")) {
        server.state = ServerState::Remote;
        server.starts = shown_host(url);
    }
    server
}

/// A command without the values that the names before them give away.
fn shown_command(command: &str, arguments: &[&str]) -> String {
    let mut next = NextWord::default();
    let words = std::iter::once(&command).chain(arguments).map(|word| redact_named_values(word, &mut next));
    let words = words.map(|word| if looks_like_key(&word) { REDACTED.to_owned() } else { word });
    shorten_line(&words.collect::<Vec<_>>().join(" "), MOST_SHOWN)
}

/// Whether a word looks like a key that nothing before it gives away: `ghp_16C7e42F292c6912E7`.
fn looks_like_key(word: &str) -> bool {
    let value = word.rsplit('=').next().unwrap_or(word);
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    value.len() >= 20 && is_plain && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

/// The scheme and the host of an address: its path and its query may hold keys.
fn shown_host(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    shorten_line(&format!("{scheme}://{host}"), MOST_SHOWN)
}

/// Whether a command is one of ours that confines: by its name, or by the path of this very program or one of `PATH`.
fn confines(command: &str, arguments: &[&str]) -> bool {
    let path = Path::new(command);
    let is_ours = if command.contains('/') {
        let real = path.canonicalize().ok();
        let own = std::env::current_exe().ok().and_then(|own| own.canonicalize().ok());
        let on_path = std::env::var_os("PATH")
            .into_iter()
            .flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
        let mut known =
            on_path.filter_map(|folder| folder.join("skillsandbox").canonicalize().ok()).chain(own);
        real.is_some_and(|real| known.any(|known| known == real))
    } else {
        command == "skillsandbox"
    };
    is_ours && arguments.first().is_some_and(|verb| CONFINING.contains(verb))
}

/// The change that confines a server. Its own arguments stay as they are, and are not repeated: they may hold keys.
fn change_of(command: &str, variables: &[String], is_toml: bool) -> String {
    let mut words = vec!["wrap".to_owned()];
    for name in variables {
        words.extend(["--env".to_owned(), name.clone()]);
    }
    words.extend(["--".to_owned(), command.to_owned()]);
    let words: Vec<String> =
        words.iter().map(|word| Value::from(shorten_line(word, MOST_SHOWN)).to_string()).collect();
    let words = words.join(", ");
    if is_toml {
        format!("command = \"skillsandbox\", args = [{words}, …its args]")
    } else {
        format!("\"command\": \"skillsandbox\", \"args\": [{words}, …its args]")
    }
}

/// Whether hooks of a configuration, or a plugin that it enables, call our hook.
fn calls_hook(root: &Value, product: &str) -> bool {
    let by_plugin = root.get("enabledPlugins").and_then(Value::as_object).is_some_and(|plugins| {
        plugins.iter().any(|(name, enabled)| {
            name.split('@').next() == Some("skillsandbox") && enabled == &Value::Bool(true)
        })
    });
    let event = if product == "gemini" { "BeforeTool" } else { "PreToolUse" };
    let groups = root.get("hooks").and_then(|hooks| hooks.get(event)).and_then(Value::as_array);
    let mut hooks = groups
        .into_iter()
        .flatten()
        .filter(|group| matches_all(group))
        .flat_map(|group| group.get("hooks").and_then(Value::as_array).into_iter().flatten());
    let calls = |hook: &Value| {
        hook.get("command").and_then(Value::as_str).is_some_and(|command| is_hook_command(command, product))
    };
    by_plugin || hooks.any(calls)
}

/// Whether a group is for every tool. One for some tools leaves the others alone.
fn matches_all(group: &Value) -> bool {
    match group.get("matcher") {
        None => true,
        Some(matcher) => matches!(matcher.as_str(), Some("" | "*" | ".*")),
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

    #[test]
    fn keys_in_commands_and_addresses_are_not_shown() {
        let shown = shown_command(
            "npx",
            &["-y", "server", "--api-key", "sk-1234567890abcdef", "--token=hidden", "API_KEY=hidden2"],
        );
        assert!(
            !shown.contains("sk-1234") && !shown.contains("hidden") && !shown.contains("ghp_"),
            "{shown}"
        );
        assert_eq!(
            shown_command("npx", &["-y", "@modelcontextprotocol/server-filesystem", "/home/me"]),
            "npx -y @modelcontextprotocol/server-filesystem /home/me"
        );
        assert_eq!(
            shown_host("https://user:pass@mcp.example.com:8443/key/abc?token=x"),
            "https://mcp.example.com:8443"
        );
    }

    #[test]
    fn only_our_own_verbs_confine() {
        assert!(confines("skillsandbox", &["wrap", "--", "x"]) && confines("skillsandbox", &["serve"]));
        for (command, arguments) in [
            ("skillsandbox", &["scan"][..]),
            ("skillsandbox", &[]),
            ("sh", &["-c", "skillsandbox wrap -- x"]),
            ("/tmp/skillsandbox", &["wrap"]),
            ("./skillsandbox", &["wrap"]),
        ] {
            assert!(!confines(command, arguments), "{command} {arguments:?}");
        }
    }
}
