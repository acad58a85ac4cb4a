//! Commands that print secrets: the environment, keychains, tokens of services, what the user sees and copies.

use super::super::capability::Capability;
use super::super::objects::is_secret_variable;
use super::commands::Call;
use super::machine::Machine;
use super::value::Value;

/// A secret that a command prints: its kind, and what it is called.
type PrintedSecret = (Capability, String);

impl Machine {
    /// Runs a command that prints a secret; `None` if it is not one, or prints something else.
    pub(super) fn run_source(&mut self, call: &Call<'_>) -> Option<Value> {
        let words: Vec<&str> = call
            .args
            .iter()
            .filter(|arg| !arg.text.starts_with('-'))
            .map(|arg| arg.text.as_str())
            .take(16)
            .collect();
        match (call.name, words.as_slice()) {
            ("printenv", [_, ..]) => Some(self.print_variables(&words, call)),
            // The region and the like are not secrets.
            ("aws", ["configure", "get", ..]) if !names_key(&words) => Some(Value::unknown()),
            (
                "screencapture" | "scrot" | "gnome-screenshot" | "grim" | "maim" | "spectacle" | "imagesnap"
                | "arecord" | "rec" | "fswebcam",
                files,
            ) => {
                // A picture or a recording, in the file that is named.
                let shot = Value::marked(self.read_source(Capability::RecordsUser, call.name, call.range));
                for file in files {
                    self.keep_file(file, &shot, false);
                }
                Some(shot)
            }
            _ => {
                let found = find_keychain(call, &words)
                    .or_else(|| find_token(call, &words))
                    .or_else(|| find_stored(call, &words))
                    .or_else(|| find_other(call, &words));
                let (capability, object) = found?;
                Some(Value::marked(self.read_source(capability, &object, call.range)))
            }
        }
    }

    /// `printenv NAME`.
    fn print_variables(&mut self, names: &[&str], call: &Call<'_>) -> Value {
        let mut out = Value::default();
        for name in names.iter().filter(|name| is_secret_variable(name)) {
            let marks = self.read_source(Capability::ReadsNamedSecret, name, call.range);
            out.append(&Value::marked(marks));
        }
        out
    }
}

/// Whether words name a key and not another setting.
fn names_key(words: &[&str]) -> bool {
    words.iter().any(|word| ["secret", "key", "token"].iter().any(|part| word.contains(part)))
}

/// Keychains and password managers.
fn find_keychain(call: &Call<'_>, words: &[&str]) -> Option<PrintedSecret> {
    let object = match (call.name, words) {
        ("security", ["dump-keychain" | "export", ..]) => "security dump-keychain".to_owned(),
        ("pass", ["ls" | "init" | "insert" | "git" | "generate" | "rm" | "edit" | "find", ..]) => {
            return None;
        }
        ("security", ["find-generic-password" | "find-internet-password", ..])
        | ("secret-tool", ["lookup" | "search", ..])
        | ("pass" | "kwallet-query" | "keyctl" | "cmdkey" | "vaultcmd", [_, ..])
        | ("gopass", ["show" | "cat", ..])
        | ("bw", ["get" | "list" | "export", ..])
        | ("op", ["read", ..] | ["item" | "document", "get", ..])
        | ("lpass" | "keepassxc-cli", ["show" | "export", ..]) => call.line(),
        _ => return None,
    };
    Some((Capability::ReadsKeychain, object))
}

/// Tokens of services that their own programs print.
fn find_token(call: &Call<'_>, words: &[&str]) -> Option<PrintedSecret> {
    let is_shown = call.has("--show-token") || call.has("-t");
    let object = match (call.name, words) {
        ("gh", ["auth", "token", ..]) => "gh auth token".to_owned(),
        ("gh", ["auth", "status", ..]) if is_shown => "gh auth token".to_owned(),
        ("glab", ["auth", "token", ..]) | ("heroku", ["auth:token", ..]) => call.line(),
        ("gcloud", ["auth", rest @ ..]) if rest.iter().any(|word| word.starts_with("print-")) => {
            "gcloud auth (google token)".to_owned()
        }
        ("az", ["account", "get-access-token", ..]) => "az account (azure token)".to_owned(),
        ("aws", ["configure", "get" | "export-credentials", ..]) => "aws configure get".to_owned(),
        ("aws", ["sts", "get-session-token" | "assume-role", ..]) => "aws sts".to_owned(),
        ("kubectl" | "oc" | "k", ["get", what, ..]) if what.starts_with("secret") => {
            let is_field = |arg: &Value| arg.text.contains("jsonpath") || arg.text.contains("go-template");
            if call.args.iter().any(is_field) {
                "kubectl get secret (one field)".to_owned()
            } else {
                "kubectl get secret".to_owned()
            }
        }
        ("kubectl", ["config", "view", ..]) if call.has("--raw") => "kubectl config view --raw".to_owned(),
        _ => return None,
    };
    Some((Capability::ReadsCredentials, object))
}

/// Secrets that a store was asked for by name: as good as a variable. The store itself is not whom they belong to.
fn find_stored(call: &Call<'_>, words: &[&str]) -> Option<PrintedSecret> {
    let is_stored = matches!(
        (call.name, words),
        (
            "aws",
            ["secretsmanager", "get-secret-value", ..]
                | ["ssm", "get-parameter" | "get-parameters" | "get-parameters-by-path", ..]
        ) | ("gcloud", ["secrets", "versions", "access", ..])
            | ("vault", ["kv", "get", ..] | ["read", ..])
            | ("doppler", ["secrets", ..])
            | ("infisical", ["secrets" | "export", ..])
            | ("az", ["keyvault", "secret", "show", ..])
    );
    is_stored.then(|| (Capability::ReadsNamedSecret, words.get(2..).unwrap_or_default().join(" ")))
}

/// The environment, the clipboard, and tools that exist to take passwords.
fn find_other(call: &Call<'_>, words: &[&str]) -> Option<PrintedSecret> {
    let shows = |start: &str| call.args.iter().any(|arg| arg.text.starts_with(start));
    let (capability, object) = match (call.name, words) {
        ("env" | "printenv", []) | ("compgen", _) => (Capability::ReadsEnvironment, call.name),
        ("ps", _) if shows("eww") || shows("auxe") || shows("-eww") => {
            (Capability::ReadsEnvironment, "ps eww")
        }
        ("pbpaste" | "wl-paste" | "get-clipboard", _) => (Capability::RecordsUser, "clipboard"),
        ("xclip", _) if shows("-o") => (Capability::RecordsUser, "clipboard"),
        ("xsel", _) if !shows("-i") && !shows("--i") && call.stdin.text.is_empty() => {
            (Capability::RecordsUser, "clipboard")
        }
        ("gpg" | "gpg2", _) if shows("--export-secret") => {
            (Capability::ReadsCredentials, "gpg --export-secret-keys")
        }
        ("netsh", ["wlan", "show", ..]) => (Capability::ReadsCredentials, "netsh wlan"),
        ("unshadow" | "mimikatz" | "lazagne" | "laZagne", _) => (Capability::ReadsCredentials, call.name),
        _ => return None,
    };
    Some((capability, object.to_owned()))
}
