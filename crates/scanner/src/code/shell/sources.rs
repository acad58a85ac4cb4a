//! Commands that print secrets: the environment, keychains, tokens of services, what the user sees and copies.

use super::super::capability::Capability;
use super::super::objects::is_secret_variable;
use super::commands::Call;
use super::machine::Machine;
use super::value::Value;

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
        let line = || call.line();
        let (capability, object) = match (call.name, words.as_slice()) {
            ("env" | "printenv", []) | ("compgen", _) => (Capability::ReadsEnvironment, call.name.to_owned()),
            ("printenv", names) => {
                let mut out = Value::default();
                for name in names {
                    if is_secret_variable(name) {
                        let marks = self.read_source(Capability::ReadsNamedSecret, name, call.range);
                        out.append(&Value::marked(marks));
                    }
                }
                return Some(out);
            }
            ("security", ["find-generic-password" | "find-internet-password", ..]) => {
                (Capability::ReadsKeychain, line())
            }
            ("security", ["dump-keychain" | "export" | "find-certificate", ..])
                if call.text(0) != "find-certificate" =>
            {
                (Capability::ReadsKeychain, "security dump-keychain".to_owned())
            }
            ("secret-tool", ["lookup" | "search", ..]) => (Capability::ReadsKeychain, line()),
            ("pass", [first, ..])
                if !matches!(
                    *first,
                    "ls" | "init" | "insert" | "git" | "generate" | "rm" | "edit" | "find"
                ) =>
            {
                (Capability::ReadsKeychain, line())
            }
            ("gopass", ["show" | "cat", ..])
            | ("bw", ["get" | "list" | "export", ..])
            | ("op", ["read", ..] | ["item" | "document", "get", ..])
            | ("lpass", ["show" | "export", ..])
            | ("keepassxc-cli", ["show" | "export", ..])
            | ("kwallet-query" | "keyctl" | "cmdkey" | "vaultcmd", _) => (Capability::ReadsKeychain, line()),
            ("gh", ["auth", "token", ..]) => (Capability::ReadsCredentials, "gh auth token".to_owned()),
            ("gh", ["auth", "status", ..]) if call.has("--show-token") || call.has("-t") => {
                (Capability::ReadsCredentials, "gh auth token".to_owned())
            }
            ("glab", ["auth", "token", ..]) | ("heroku", ["auth:token", ..]) => {
                (Capability::ReadsCredentials, line())
            }
            ("gcloud", ["auth", what, ..]) if what.starts_with("print-") => {
                (Capability::ReadsCredentials, "gcloud auth (google token)".to_owned())
            }
            ("gcloud", ["auth", "application-default", ..]) if call.has("print-access-token") => {
                (Capability::ReadsCredentials, "gcloud auth (google token)".to_owned())
            }
            ("az", ["account", "get-access-token", ..]) => {
                (Capability::ReadsCredentials, "az account (azure token)".to_owned())
            }
            ("aws", ["configure", "get" | "export-credentials", ..]) => {
                // A region is not a secret.
                let is_secret = words
                    .iter()
                    .any(|word| ["secret", "key", "token"].iter().any(|part| word.contains(part)))
                    || words.contains(&"export-credentials");
                if !is_secret {
                    return Some(Value::unknown());
                }
                (Capability::ReadsCredentials, "aws configure get".to_owned())
            }
            ("aws", ["sts", "get-session-token" | "assume-role", ..]) => {
                (Capability::ReadsCredentials, "aws sts".to_owned())
            }
            ("aws", ["secretsmanager", "get-secret-value", ..])
            | ("aws", ["ssm", "get-parameter" | "get-parameters" | "get-parameters-by-path", ..])
            | ("gcloud", ["secrets", "versions", "access", ..])
            | ("vault", ["kv", "get", ..] | ["read", ..])
            | ("doppler", ["secrets", ..])
            | ("infisical", ["secrets" | "export", ..])
            | ("az", ["keyvault", "secret", "show", ..]) => (Capability::ReadsNamedSecret, line()),
            ("kubectl" | "oc" | "k", [..])
                if words.first() == Some(&"get")
                    && words.get(1).is_some_and(|what| what.starts_with("secret")) =>
            {
                let output = call
                    .args
                    .iter()
                    .any(|arg| arg.text.contains("jsonpath") || arg.text.contains("go-template"));
                if output {
                    (Capability::ReadsCredentials, "kubectl get secret (one field)".to_owned())
                } else {
                    (Capability::ReadsCredentials, "kubectl get secret".to_owned())
                }
            }
            ("kubectl", ["config", "view", ..]) if call.has("--raw") => {
                (Capability::ReadsCredentials, "kubectl config view --raw".to_owned())
            }
            ("pbpaste" | "wl-paste", _) => (Capability::RecordsUser, "clipboard".to_owned()),
            ("xclip", _) if call.args.iter().any(|arg| arg.text.starts_with("-o")) => {
                (Capability::RecordsUser, "clipboard".to_owned())
            }
            ("xsel", _) if !call.has("-i") && !call.has("--input") && call.stdin.text.is_empty() => {
                (Capability::RecordsUser, "clipboard".to_owned())
            }
            ("powershell.exe" | "get-clipboard", _) => (Capability::RecordsUser, "clipboard".to_owned()),
            (
                "screencapture" | "scrot" | "gnome-screenshot" | "grim" | "maim" | "import" | "spectacle",
                files,
            ) => {
                // A picture of the screen, in the file that is named.
                let marks = self.read_source(Capability::RecordsUser, "screen", call.range);
                let shot = Value::marked(marks);
                for file in files {
                    self.keep_file(file, &shot, false);
                }
                return Some(shot);
            }
            ("imagesnap" | "arecord" | "rec" | "fswebcam", files) => {
                let marks = self.read_source(Capability::RecordsUser, call.name, call.range);
                for file in files {
                    self.keep_file(file, &Value::marked(marks.clone()), false);
                }
                return Some(Value::marked(marks));
            }
            ("gpg" | "gpg2", _) if call.args.iter().any(|arg| arg.text.starts_with("--export-secret")) => {
                (Capability::ReadsCredentials, "gpg --export-secret-keys".to_owned())
            }
            ("docker" | "podman", ["inspect", ..]) | ("systemctl", ["show-environment", ..]) => return None,
            ("ps", _)
                if call.args.first().is_some_and(|arg| arg.text.contains('e') && arg.text.contains("ww")) =>
            {
                (Capability::ReadsEnvironment, "ps eww".to_owned())
            }
            ("netsh", ["wlan", "show", ..]) => (Capability::ReadsCredentials, "netsh wlan".to_owned()),
            ("dscl" | "unshadow" | "mimikatz" | "lazagne" | "laZagne", _) if call.name != "dscl" => {
                (Capability::ReadsCredentials, call.name.to_owned())
            }
            _ => return None,
        };
        Some(Value::marked(self.read_source(capability, &object, call.range)))
    }
}
