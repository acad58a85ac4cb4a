//! Commands as they are shown: without what may be a key.
//!
//! A key in a list of arguments may have any form. So what stands behind the name of a package is not shown at all, but for the names of flags and
//! for hosts.

use std::path::Path;
use std::sync::LazyLock;

use skillsandbox_text::{NextWord, REDACTED, Redactor, redact_named_values, shorten_line};

/// Most characters of a command that are shown.
pub(super) const MOST_SHOWN: usize = 160;
/// What stands for a word that is not shown.
const HIDDEN: &str = "…";
/// Programs whose first argument names what they start.
const LAUNCHERS: [&str; 12] =
    ["npx", "bunx", "uvx", "pnpx", "pipx", "node", "deno", "bun", "python", "python3", "docker", "podman"];
/// Flags of theirs that take no value.
const PLAIN_FLAGS: [&str; 6] = ["-y", "--yes", "-q", "--quiet", "-m", "-u"];

/// A command of somebody else's.
pub(super) fn command(program: &str, arguments: &[&str]) -> String {
    let mut words = vec![program_word(program)];
    let is_launcher =
        Path::new(program).file_name().is_some_and(|name| LAUNCHERS.iter().any(|launcher| name == *launcher));
    let mut may_name = is_launcher;
    for argument in arguments {
        if is_flag_name(argument) {
            may_name &= PLAIN_FLAGS.contains(argument);
            words.push((*argument).to_owned());
        } else if let Some((flag, _)) = argument.split_once('=').filter(|(flag, _)| is_flag_name(flag)) {
            words.push(format!("{flag}={HIDDEN}"));
        } else if argument.starts_with("https://") || argument.starts_with("http://") {
            words.push(format!("{}/{HIDDEN}", host(argument)));
        } else if std::mem::take(&mut may_name) && is_package(argument) {
            words.push((*argument).to_owned());
        } else if words.last().is_none_or(|last| last != HIDDEN) {
            words.push(HIDDEN.to_owned());
        }
    }
    shorten_line(&words.join(" "), MOST_SHOWN)
}

/// A command of ours: its own flags are shown with their values, what it starts is not ours.
pub(super) fn own_command(program: &str, arguments: &[&str]) -> String {
    let end = arguments.iter().position(|word| *word == "--");
    let (own, rest) = arguments.split_at(end.unwrap_or(arguments.len()));
    let verb = own.first().copied().unwrap_or_default();
    let mut words = vec![program_word(program)];
    // Only the mark tells where the command of `exec` begins.
    let own = if verb == "exec" && end.is_none() { own.get(..1).unwrap_or_default() } else { own };
    let (mut next, mut is_value) = (NextWord::default(), false);
    for word in own {
        let shown = redact_named_values(word, &mut next);
        let is_parameter = std::mem::replace(&mut is_value, *word == "--set") || word.starts_with("--set=");
        words.push(if is_parameter || has_key(&shown) { REDACTED.to_owned() } else { shown });
    }
    match (verb, rest.get(1..).and_then(<[&str]>::split_first)) {
        ("wrap" | "exec", Some((started, arguments))) => {
            words.extend(["--".to_owned(), command(started, arguments)]);
        }
        (_, Some(_)) | ("exec", None) => words.push(HIDDEN.to_owned()),
        (_, None) => {}
    }
    shorten_line(&words.join(" "), MOST_SHOWN)
}

/// A program's name or path. What has a space in it is a line for some shell, and its first word at most is a program.
pub(super) fn program_word(program: &str) -> String {
    let first = program.split_whitespace().next().unwrap_or_default();
    let is_whole = first == program;
    let first = if has_key(first) || first.contains('=') { REDACTED } else { first };
    let shown = if is_whole { first.to_owned() } else { format!("{first} {HIDDEN}") };
    shorten_line(&shown, MOST_SHOWN)
}

/// The scheme and the host of an address: its path and its query may hold keys.
pub(super) fn host(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    shorten_line(&format!("{scheme}://{host}"), MOST_SHOWN)
}

/// `-y` or `--api-key`: a short word of small letters.
fn is_flag_name(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let is_long = word.starts_with("--") && name.len() <= 40;
    let is_short = word.starts_with('-') && name.len() == 1;
    let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    (is_long && !name.is_empty() && name.bytes().all(plain))
        || (is_short && name.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// What may be the name of a package or a script: no key, and no line for a shell.
fn is_package(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-:~".contains(c);
    word.chars().all(plain) && !has_key(word)
}

/// Whether a word has the shape of a known key, or a part that looks like one: `ghp_16C7e42F292c6912E7`.
fn has_key(word: &str) -> bool {
    static SHAPES: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::of_shapes().ok());
    let has_shape = SHAPES.as_ref().is_none_or(|shapes| !shapes.spans(word.as_bytes()).is_empty());
    has_shape || word.split(['/', '=', ':', ',', '.', '@']).any(looks_random)
}

fn looks_random(part: &str) -> bool {
    let is_plain =
        part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'));
    let has = |test: fn(&u8) -> bool| part.as_bytes().iter().any(test);
    part.len() >= 20 && is_plain && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_commands_and_addresses_are_not_shown() {
        for arguments in [
            &["srv", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJGQUtFIn0.c2lnbmF0dXJlRkFLRQ"][..],
            &["-y", "srv", "RkFLRVNFQ1JFVDEyMzQ1Njc4OTBhYmM="],
            &["srv", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
            &["srv", "abcdefghijklmnopqrstuvwxyzabcdefghij"],
            &["srv", "-k", "FAKEshort", "-p", "FAKEpass", "--key", "FAKEkey", "--pat=FAKEpat", "-pFAKEglued"],
            &["-k", "FAKEshort", "srv"],
            &["srv", "--header", "Authorization: Bearer FAKEabcdef", "API_KEY=FAKE2"],
            &["mcp-remote", "https://u:FAKEpass@x.test/FAKEpath?key=FAKEqq"],
            &["ghp_16C7e42F292c6912E7aaaaaaaaaaaaaaaaa"],
        ] {
            for program in ["npx", "srv"] {
                let shown = command(program, arguments);
                for secret in ["FAKE", "eyJ", "RkFL", "wJalr", "abcdef", "ghp_", "EXAMPLE"] {
                    assert!(!shown.contains(secret), "{shown}");
                }
            }
        }
        assert_eq!(command("srv", &["FAKE"]), "srv …");
        assert_eq!(command("bash", &["-c", "API_TOKEN=FAKE npx srv"]), "bash -c …");
        assert_eq!(
            program_word("env API_TOKEN=FAKEcmd123 npx --token FAKEtok srv"),
            "env …",
            "a line is not a program"
        );
        assert_eq!(program_word("ghp_16C7e42F292c6912E7aaaaaaaaaaaaaaaaa"), REDACTED);
        assert_eq!(
            command("npx", &["-y", "@modelcontextprotocol/server-filesystem", "/home/me", "--verbose"]),
            "npx -y @modelcontextprotocol/server-filesystem … --verbose"
        );
        assert_eq!(
            own_command(
                "skillsandbox",
                &["wrap", "--env", "API_KEY=FAKE", "--write", "/", "--", "srv", "FAKE"]
            ),
            "skillsandbox wrap --env API_KEY=[REDACTED] --write / -- srv …"
        );
        for (arguments, wanted) in [
            (&["exec", "--watch", "srv", "FAKE"][..], "skillsandbox exec …"),
            (&["run", "skill", "--set", "x=FAKE", "--", "FAKE"], "skillsandbox run skill --set [REDACTED] …"),
            (&["serve"], "skillsandbox serve"),
        ] {
            assert_eq!(own_command("skillsandbox", arguments), wanted);
        }
        assert_eq!(
            host("https://user:pass@mcp.example.com:8443/key/abc?token=x"),
            "https://mcp.example.com:8443"
        );
    }
}
