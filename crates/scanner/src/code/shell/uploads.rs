//! Programs of cloud services and others that send files away.

use super::super::capability::Capability;
use super::commands::Call;
use super::machine::Machine;
use super::services::RequestPart;
use super::value::Value;

impl Machine {
    /// Runs a program that uploads; `None` if it is not one, or does something else.
    pub(super) fn run_upload(&mut self, call: &Call<'_>) -> Option<Value> {
        let words: Vec<&str> = call
            .args
            .iter()
            .filter(|arg| !arg.text.starts_with('-'))
            .map(|arg| arg.text.as_str())
            .take(64)
            .collect();
        match (call.name, words.as_slice()) {
            ("aws", ["s3", "cp" | "mv" | "sync", ..])
            | ("gcloud", ["storage", "cp" | "mv" | "rsync", ..])
            | ("gsutil", ["cp" | "mv" | "rsync", ..])
            | ("s3cmd", ["put" | "sync", ..])
            | ("mc", ["cp" | "mirror", ..])
            | ("rclone", ["copy" | "copyto" | "sync" | "move" | "rcat", ..])
            | ("b2", ["upload-file" | "upload_file" | "sync", ..])
            | ("azcopy", ["copy" | "sync", ..])
            | ("oci", ["os", "object", "put", ..]) => self.upload_operands(call),
            ("aws", ["s3api", "put-object", ..]) => self.upload_option(call, &["--body"], "--bucket"),
            ("az", ["storage", ..]) => {
                self.upload_option(call, &["--file", "-f", "--source", "-s", "--data"], "--account-name")
            }
            ("gh", ["gist", "create", ..]) => {
                let mut sent = call.stdin.clone();
                for path in call.args.iter().skip(2).filter(|arg| !arg.text.starts_with('-')) {
                    let content = self.read_operand(&path.text, call);
                    sent.marks.add(&content.marks);
                }
                self.send(
                    Capability::SendsToNetwork,
                    &sent,
                    RequestPart::Body,
                    "gist.github.com",
                    call.range,
                );
                Some(Value::unknown())
            }
            ("gh", ["api" | "issue" | "pr" | "release", ..]) => {
                let mut sent = Value::default();
                for arg in call.args {
                    sent.marks.add(&arg.marks);
                    if let Some((_, path)) = arg.text.split_once("=@") {
                        let content = self.read_file(path, call.range);
                        sent.marks.add(&content.marks);
                    }
                }
                if call.has("--input") || call.has("--body-file") || call.has("-F") {
                    sent.marks.add(&call.stdin.marks);
                    if let Some(at) = call
                        .args
                        .iter()
                        .position(|arg| matches!(arg.text.as_str(), "--input" | "--body-file" | "-F"))
                    {
                        let content = self.read_operand(call.text(at + 1), call);
                        sent.marks.add(&content.marks);
                    }
                }
                self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, "github.com", call.range);
                Some(Value::unknown())
            }
            ("git", _) => self.run_git(call),
            ("wormhole" | "croc", ["send", ..])
            | (
                "pastebinit" | "ix" | "termbin" | "transfer" | "ffsend" | "oshi" | "wgetpaste" | "fpaste"
                | "magic-wormhole" | "slackcat" | "telegram-send" | "ntfy" | "apprise" | "pushover",
                _,
            )
            | ("ipfs", ["add", ..]) => {
                let mut sent = call.stdin.clone();
                for arg in call.args.iter().filter(|arg| !arg.text.starts_with('-')) {
                    sent.marks.add(&arg.marks);
                    let content = self.read_file(&arg.text, call.range);
                    sent.marks.add(&content.marks);
                }
                self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, call.name, call.range);
                Some(Value::unknown())
            }
            _ => None,
        }
    }

    /// Files, and the place that they are copied to, as operands.
    fn upload_operands(&mut self, call: &Call<'_>) -> Option<Value> {
        let parsed = Self::options(
            call,
            "",
            &[
                "profile",
                "region",
                "endpoint-url",
                "sse",
                "acl",
                "exclude",
                "include",
                "config",
                "content-type",
                "storage-class",
            ],
        );
        let target = parsed.operands.last()?;
        let is_remote = target.text.contains(':') || target.text.starts_with('$');
        if !is_remote {
            return Some(Value::unknown());
        }
        let mut sent = if parsed.has_operand("-") || call.args.iter().any(|arg| arg.text == "rcat") {
            call.stdin.clone()
        } else {
            Value::default()
        };
        let count = parsed.operands.len();
        for operand in parsed.operands.iter().take(count.saturating_sub(1)).skip(1) {
            let content = self.read_operand(&operand.text, call);
            sent.marks.add(&content.marks);
        }
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &target.text, call.range);
        Some(Value::unknown())
    }

    /// A file that is the value of an option.
    fn upload_option(&mut self, call: &Call<'_>, files: &[&str], place: &str) -> Option<Value> {
        let value_of = |names: &[&str]| {
            let at = call.args.iter().position(|arg| names.contains(&arg.text.as_str()))?;
            call.args.get(at + 1)
        };
        let file = value_of(files)?;
        let mut sent = self.read_operand(&file.text, call);
        sent.marks.add(&file.marks);
        let place = value_of(&[place]).map_or_else(|| call.name.to_owned(), |place| place.text.clone());
        self.send(Capability::SendsToNetwork, &sent, RequestPart::Body, &place, call.range);
        Some(Value::unknown())
    }

    /// git: what is pushed with a secret in its address, what its settings run, and what it tells of credentials.
    fn run_git(&mut self, call: &Call<'_>) -> Option<Value> {
        let words: Vec<&str> = call
            .args
            .iter()
            .map(|arg| arg.text.as_str())
            .filter(|arg| !arg.starts_with('-'))
            .take(64)
            .collect();
        match words.as_slice() {
            ["push" | "clone" | "fetch" | "pull" | "remote" | "ls-remote", ..] => {
                for arg in call.args.iter().filter(|arg| !arg.marks.sources.is_empty()) {
                    self.send(Capability::SendsToNetwork, arg, RequestPart::Header, &arg.text, call.range);
                }
                None
            }
            ["credential", "fill", ..] | ["credential-store" | "credential-osxkeychain", "get", ..] => {
                Some(Value::marked(self.read_source(
                    Capability::ReadsCredentials,
                    "git credential fill",
                    call.range,
                )))
            }
            ["config", rest @ ..] => {
                let key = rest.iter().find(|word| word.contains('.')).copied().unwrap_or_default();
                let lower = key.to_ascii_lowercase();
                let value = rest.iter().skip_while(|word| **word != key).nth(1).copied();
                let Some(value) = value else {
                    let is_secret = lower.contains("token")
                        || lower.contains("password")
                        || lower.contains("extraheader");
                    return is_secret.then(|| {
                        Value::marked(self.read_source(
                            Capability::ReadsCredentials,
                            &format!("git config {key}"),
                            call.range,
                        ))
                    });
                };
                let runs = lower == "core.sshcommand"
                    || lower == "core.fsmonitor"
                    || (lower.starts_with("credential")
                        && lower.ends_with("helper")
                        && value.starts_with('!')
                        && !value.contains("gh auth")
                        && !value.contains("aws codecommit"))
                    || (lower == "core.hookspath" && value.starts_with(['/', '~', '$']));
                if runs {
                    self.note(Capability::Persists, &format!("git config {key}: {value}"), call.range);
                }
                if lower == "http.sslverify" && value == "false" {
                    self.note(Capability::DisablesProtection, "git config http.sslVerify false", call.range);
                }
                Some(Value::unknown())
            }
            _ => None,
        }
    }
}
