//! What a path or a name stands for: where secrets lie, what starts by itself, what an agent obeys.
//!
//! Pure functions over text. A path may be written in any style: `~/.ssh/id_rsa`, `$HOME/.ssh/id_rsa`, `C:\Users\x\.ssh\id_rsa`, `.ssh`, or with
//! `*` in the place of what is not known.

use skillsandbox_text::is_secret_name;

use crate::code::capability::Capability;
use crate::code::object_names::{
    AGENT_FILES, AGENT_FOLDERS, AGENT_ROOMS, BROWSER_FILES, BROWSER_FOLDERS, KEYCHAINS, OBEYED_FILES,
    SECRET_FILES, SECRET_FOLDERS, SKILL_ROOMS, STARTED_FILES, STARTED_FOLDERS, SYSTEM_FILES,
};

/// A path in one style: lower case, `/` between its parts, a `/` at both ends.
fn plain_path(path: &str) -> String {
    let mut plain = String::with_capacity(path.len() + 2);
    plain.push('/');
    for c in path.trim().trim_matches(['"', '\'', '`']).chars() {
        let c = if c == '\\' { '/' } else { c.to_ascii_lowercase() };
        if c != '/' || !plain.ends_with('/') {
            plain.push(c);
        }
    }
    if !plain.ends_with('/') {
        plain.push('/');
    }
    plain
}

/// Whether a name in lower case ends so.
fn has_ending(name: &str, ending: &str) -> bool {
    name.strip_suffix(ending).is_some()
}

/// The last part of a plain path.
fn last_part(plain: &str) -> &str {
    plain.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Whether some of these parts stand in a plain path.
fn has_part(plain: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| {
        plain.match_indices(part).any(|(at, _)| {
            let before = plain.get(..at).is_some_and(|before| before.ends_with('/'));
            before && plain.get(at + part.len()..).is_some_and(|after| after.starts_with('/'))
        })
    })
}

/// What it means to read a path: [`Capability::ReadsCredentials`] for the stores of other programs, [`Capability::ReadsNamedSecret`] for a
/// file that a program keeps one key of its own in (`credentials.json`, `token.txt`), and so on; `None` for everything else.
pub(crate) fn classify_path(path: &str) -> Option<Capability> {
    // Longer ones are texts, not paths.
    if path.len() > 512 || path.contains('\n') {
        return None;
    }
    let plain = plain_path(path);
    let last = last_part(&plain);
    if is_public_file(last) {
        return None;
    }
    if plain.starts_with("/proc/") && last == "environ" {
        return Some(Capability::ReadsEnvironment);
    }
    if BROWSER_FILES.contains(&last)
        || has_part(&plain, BROWSER_FOLDERS)
        || has_part(&plain, &["local extension settings"])
    {
        return Some(Capability::ReadsBrowserData);
    }
    let is_locked = |ending: &str| last.ends_with(ending);
    if has_part(&plain, KEYCHAINS)
        || is_locked(".kdbx")
        || is_locked(".keychain-db")
        || is_locked(".agilekeychain")
    {
        return Some(Capability::ReadsKeychain);
    }
    if SECRET_FILES.contains(&last)
        || has_part(&plain, SECRET_FOLDERS)
        || has_part(&plain, SYSTEM_FILES)
        || is_env_file(path)
        || is_key_file(last)
    {
        return Some(Capability::ReadsCredentials);
    }
    let is_kept =
        has_part(&plain, AGENT_ROOMS) || AGENT_FOLDERS.contains(&last) || has_ending(last, ".jsonl");
    if AGENT_FILES.contains(&last)
        || (has_part(&plain, AGENT_FOLDERS) && is_kept && !has_part(&plain, SKILL_ROOMS))
    {
        return Some(Capability::ReadsAgentData);
    }
    is_kept_key(last).then_some(Capability::ReadsNamedSecret)
}

/// What lies beside secrets and is none.
fn is_public_file(last: &str) -> bool {
    let shown = [".pub", ".crt", ".cer", ".md"].iter().any(|ending| last.ends_with(ending));
    let named = matches!(last, "known_hosts" | "authorized_keys" | "claude.md" | "agents.md");
    (shown && last != "*.pub") || named || is_sample(last)
}

/// Whether a name says that it is a pattern to be filled in.
fn is_sample(last: &str) -> bool {
    ["example", "sample", "template", ".dist", "placeholder"].iter().any(|word| last.contains(word))
}

/// Whether a path is that of a file of environment variables: `.env`, `.env.local`, `prod.env`.
pub(crate) fn is_env_file(path: &str) -> bool {
    let plain = plain_path(path);
    let last = last_part(&plain);
    (last == ".env"
        || last.starts_with(".env.")
        || last == ".envrc"
        || (has_ending(last, ".env") && last.len() < 24))
        && !is_sample(last)
}

/// A file that is a private key by its name.
fn is_key_file(last: &str) -> bool {
    let is_pem = has_ending(last, ".pem") || has_ending(last, ".key");
    let is_private = ["private", "privkey", "id_rsa", "secret", "ssh"].iter().any(|word| last.contains(word));
    has_ending(last, ".ppk") || has_ending(last, ".p12") || has_ending(last, ".pfx") || (is_pem && is_private)
}

/// A file that a program keeps a key of its own in.
fn is_kept_key(last: &str) -> bool {
    let (stem, ending) = last.rsplit_once('.').unwrap_or((last, ""));
    let data =
        matches!(ending, "" | "json" | "txt" | "yaml" | "yml" | "toml" | "ini" | "cfg" | "pickle" | "key");
    let stem = stem.trim_start_matches('.');
    data && [
        "credentials",
        "credential",
        "creds",
        "secrets",
        "secret",
        "token",
        "tokens",
        "api_key",
        "api-key",
        "apikey",
        "auth",
        "client_secret",
        "client_secrets",
        "service_account",
        "service-account",
        "access_token",
        "refresh_token",
        "oauth_token",
        "cookies",
        "session",
        "password",
        "passwords",
    ]
    .contains(&stem)
}

/// Whether a name of a variable says that its value is a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    // A limit of tokens, or where one is to be asked for, is none.
    let lower = name.to_ascii_lowercase();
    let counted = ["max_tokens", "maxtokens", "token_limit", "token_count", "num_tokens", "total_tokens"];
    let place =
        ["token_url", "token_uri", "token_endpoint", "_path", "_file", "_dir", "_name", "_host", "_port"];
    is_secret_name(name)
        && !counted.iter().any(|word| lower.contains(word))
        && !place.iter().any(|word| lower.ends_with(word))
}

/// Whether whoever writes there makes something start later by itself.
pub(crate) fn is_persistence_place(path: &str) -> bool {
    let plain = plain_path(path);
    let last = last_part(&plain);
    STARTED_FILES.contains(&last)
        || has_part(&plain, STARTED_FOLDERS)
        || (has_ending(last, ".pth") && plain.contains("site-packages"))
}

/// Whether an agent obeys what is written there.
pub(crate) fn is_agent_file(path: &str) -> bool {
    let plain = plain_path(path);
    let last = last_part(&plain);
    let settings = last.starts_with("settings") && has_ending(last, ".json");
    OBEYED_FILES.contains(&last)
        || (has_part(&plain, AGENT_FOLDERS)
            && (settings
                || has_part(&plain, &["hooks", "rules", "memory", "memories"])
                || matches!(
                    last,
                    "openclaw.json" | "clawdbot.json" | "config.toml" | "mcp.json" | "hooks.json"
                )))
}

/// Whether a path is so much that deleting all below it destroys what nobody made: the root, a home, a folder of the system.
pub(crate) fn is_whole_tree(path: &str) -> bool {
    let plain = plain_path(path.trim_end_matches('*'));
    let trimmed = plain.trim_matches('/');
    if path.trim().is_empty() {
        return false;
    }
    let home = matches!(
        trimmed,
        "" | "~"
            | "$home"
            | "${home}"
            | "%userprofile%"
            | "c:"
            | "c:/users"
            | "c:/windows"
            | "home"
            | "users"
            | "root"
    );
    let system =
        matches!(trimmed, "etc" | "usr" | "bin" | "sbin" | "lib" | "boot" | "var" | "opt" | "dev" | "system");
    let kept = trimmed.strip_prefix("~/").or_else(|| trimmed.strip_prefix("$home/")).is_some_and(|below| {
        matches!(below, "documents" | "desktop" | "downloads" | "pictures" | "library" | ".ssh" | ".config")
    });
    home || kept || (system && path.trim().starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_in_every_style() {
        use Capability::{
            ReadsAgentData, ReadsBrowserData, ReadsCredentials, ReadsEnvironment, ReadsKeychain,
            ReadsNamedSecret,
        };
        for (path, expected) in [
            ("~/.ssh/id_rsa", Some(ReadsCredentials)),
            (r"C:\Users\x\.ssh\id_ed25519", Some(ReadsCredentials)),
            ("$HOME/.aws/credentials", Some(ReadsCredentials)),
            (".ssh", Some(ReadsCredentials)),
            ("*/.ssh/*", Some(ReadsCredentials)),
            ("/home/x/.ssh/id_rsa.pub", None),
            ("~/.ssh/known_hosts", None),
            ("/etc/shadow", Some(ReadsCredentials)),
            ("/etc/hosts", None),
            (".env", Some(ReadsCredentials)),
            ("config/.env.local", Some(ReadsCredentials)),
            (".env.example", None),
            ("~/.bash_history", Some(ReadsCredentials)),
            ("~/.kube/config", Some(ReadsCredentials)),
            ("~/.config/gh/hosts.yml", Some(ReadsCredentials)),
            ("/var/run/secrets/kubernetes.io/serviceaccount/token", Some(ReadsCredentials)),
            ("keys/private_key.pem", Some(ReadsCredentials)),
            ("ca/bundle.pem", None),
            ("/proc/self/environ", Some(ReadsEnvironment)),
            ("~/Library/Application Support/Google/Chrome/Default/Login Data", Some(ReadsBrowserData)),
            ("~/.mozilla/firefox/abc.default/key4.db", Some(ReadsBrowserData)),
            ("~/Library/Keychains/login.keychain-db", Some(ReadsKeychain)),
            ("vault.kdbx", Some(ReadsKeychain)),
            ("~/.claude/projects", Some(ReadsAgentData)),
            ("~/.claude/skills/pdf/config.json", None),
            ("~/.codex/auth.json", Some(ReadsAgentData)),
            ("~/.config/tool/token.json", Some(ReadsNamedSecret)),
            ("credentials.json", Some(ReadsNamedSecret)),
            ("data/report.csv", None),
            ("", None),
        ] {
            assert_eq!(classify_path(path), expected, "{path}");
        }
    }

    #[test]
    fn places_that_start_or_steer_something_are_known() {
        for path in [
            "~/.bashrc",
            "/etc/cron.d/x",
            "~/Library/LaunchAgents/a.plist",
            ".git/hooks/pre-commit",
            "~/.ssh/authorized_keys",
        ] {
            assert!(is_persistence_place(path), "{path}");
        }
        for path in [
            "~/.claude/settings.json",
            "CLAUDE.md",
            "~/.cursor/mcp.json",
            "~/.openclaw/openclaw.json",
            ".cursor/rules/a.mdc",
        ] {
            assert!(is_agent_file(path), "{path}");
        }
        for path in ["~/notes.md", "settings.json", "src/hooks/use.ts", "~/.claude/skills/a/notes.txt"] {
            assert!(!is_persistence_place(path) && !is_agent_file(path), "{path}");
        }
        for (path, whole) in [
            ("/", true),
            ("~", true),
            ("$HOME/", true),
            ("/etc", true),
            ("/tmp/x", false),
            ("build", false),
            ("", false),
            ("~/.cache/x", false),
        ] {
            assert_eq!(is_whole_tree(path), whole, "{path}");
        }
    }

    #[test]
    fn a_variable_is_a_secret_by_its_name() {
        for (name, secret) in [
            ("OPENAI_API_KEY", true),
            ("DB_PASSWORD", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("MAX_TOKENS", false),
            ("TOKEN_URL", false),
            ("GOOGLE_TOKEN_PATH", false),
            ("HOME", false),
            ("PORT", false),
        ] {
            assert_eq!(is_secret_variable(name), secret, "{name}");
        }
    }
}
