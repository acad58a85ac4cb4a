//! Programs that pass on what they read: copied, packed, encoded, enciphered, cut down.

use super::super::capability::Capability;
use super::super::hosts::telling_words;
use super::super::objects::is_env_file;
use super::commands::Call;
use super::decoding::decode;
use super::machine::Machine;
use super::value::{Marks, UNKNOWN, Value};

/// Programs that write what they read, and how many operands stand before the files.
const FILTERS: &[(&str, usize)] = &[
    ("cat", 0),
    ("tac", 0),
    ("head", 0),
    ("tail", 0),
    ("less", 0),
    ("more", 0),
    ("bat", 0),
    ("nl", 0),
    ("sort", 0),
    ("uniq", 0),
    ("rev", 0),
    ("fold", 0),
    ("fmt", 0),
    ("paste", 0),
    ("column", 0),
    ("strings", 0),
    ("iconv", 0),
    ("od", 0),
    ("hexdump", 0),
    ("hd", 0),
    ("xxd", 0),
    ("base64", 0),
    ("base32", 0),
    ("basenc", 0),
    ("uuencode", 0),
    ("uudecode", 0),
    ("gzip", 0),
    ("gunzip", 0),
    ("zcat", 0),
    ("bzip2", 0),
    ("bunzip2", 0),
    ("bzcat", 0),
    ("xz", 0),
    ("unxz", 0),
    ("xzcat", 0),
    ("zstd", 0),
    ("zstdcat", 0),
    ("lz4", 0),
    ("pigz", 0),
    ("brotli", 0),
    ("pv", 0),
    ("cut", 0),
    ("tr", 9),
    ("sed", 1),
    ("awk", 1),
    ("gawk", 1),
    ("mawk", 1),
    ("grep", 1),
    ("egrep", 1),
    ("fgrep", 1),
    ("zgrep", 1),
    ("rg", 1),
    ("ag", 1),
    ("jq", 1),
    ("yq", 1),
    ("gpg", 0),
    ("gpg2", 0),
    ("age", 0),
    ("ccrypt", 0),
    ("openssl", 1),
    ("sqlite3", 0),
    ("plutil", 0),
    ("envsubst", 9),
    ("dd", 9),
    ("tee", 9),
    ("split", 0),
    ("diff", 0),
    ("comm", 0),
    ("join", 0),
    ("expand", 0),
    ("dos2unix", 0),
    ("vim", 9),
    ("nano", 9),
    ("install", 9),
    ("tar", 9),
    ("zip", 9),
    ("7z", 9),
    ("7za", 9),
    ("rar", 9),
    ("cpio", 0),
    ("cp", 9),
    ("mv", 9),
    ("ln", 9),
    ("ditto", 9),
    ("find", 9),
    ("fd", 9),
    ("bsdtar", 9),
    ("gtar", 9),
    ("sponge", 9),
    ("ar", 9),
    ("unzip", 9),
    ("ssh-keyscan", 9),
    ("pbcopy", 9),
    ("col", 0),
    ("look", 1),
];

impl Machine {
    /// Runs a program that passes on what it reads; `None` if it is not one.
    pub(super) fn run_filter(&mut self, call: &Call<'_>) -> Option<Value> {
        let (_, skipped) = FILTERS.iter().find(|(name, _)| *name == call.name)?;
        Some(match call.name {
            "cp" | "mv" | "ln" | "install" | "ditto" => self.copy_files(call),
            "tar" | "bsdtar" | "gtar" | "zip" | "7z" | "7za" | "rar" | "ar" => self.pack_files(call),
            "find" | "fd" => self.find_files(call),
            "tee" | "sponge" => {
                let is_added = call.has("-a") || call.has("--append");
                for path in call.args.iter().filter(|arg| !arg.text.starts_with('-')) {
                    self.write_file(&path.text, call.stdin, is_added, call.range);
                }
                call.stdin.clone()
            }
            "dd" => self.run_dd(call),
            "openssl" | "gpg" | "gpg2" | "age" => self.run_cipher(call),
            "sed" if call.args.iter().any(|arg| arg.text.starts_with("-i") || arg.text == "--in-place") => {
                let script =
                    call.args.iter().find(|arg| !arg.text.starts_with('-') && !arg.text.is_empty()).cloned();
                if let Some(path) = call.args.last() {
                    self.write_file(&path.text, &script.unwrap_or_default(), true, call.range);
                }
                Value::default()
            }
            "pbcopy" | "unzip" | "ssh-keyscan" | "vim" | "nano" => Value::default(),
            _ => {
                let read = self.read_filtered(call, *skipped);
                self.narrow(decode(call, read), call)
            }
        })
    }

    /// What a filter reads: the files that it names, or what comes in.
    pub(super) fn read_filtered(&mut self, call: &Call<'_>, skipped: usize) -> Value {
        let letters = match call.name {
            "head" | "tail" => "nc",
            "base64" | "base32" => "wb",
            "cut" => "dfcb",
            "sort" => "kto",
            "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" => "efmABC",
            "sed" => "ef",
            "awk" | "gawk" | "mawk" => "vFf",
            "xxd" => "lcs",
            "fold" => "w",
            "od" => "ANjtw",
            _ => "",
        };
        let names: &[&str] = match call.name {
            "jq" | "yq" => &["arg", "argjson", "indent"],
            "grep" | "rg" => &["include", "exclude", "exclude-dir", "max-count", "regexp"],
            _ => &[],
        };
        let parsed = Self::options(call, letters, names);
        if matches!(call.name, "grep" | "egrep" | "rg") && parsed.has(&["q", "c", "quiet", "count"]) {
            return Value::unknown();
        }
        // `-e pattern` leaves all operands to files.
        let skipped = if skipped == 1 && parsed.has(&["e", "f", "regexp"]) { 0 } else { skipped };
        let mut out = Value::default();
        let mut reads_file = false;
        let mut operands: Vec<&Value> = parsed.operands.iter().skip(skipped).collect();
        if matches!(call.name, "jq") {
            // `--arg name value` has two.
            operands.retain(|operand| operand.text.contains(['/', '.', '$']));
        }
        if let Some(path) = parsed.value(&["i"]).filter(|_| call.name == "base64") {
            operands.push(path);
        }
        for operand in operands {
            if operand.text == "-" {
                continue;
            }
            reads_file = true;
            let content = self.read_file(&operand.text, call.range);
            out.append_line(&content);
        }
        if !reads_file {
            out.append(call.stdin);
        }
        // Words on the line may be data, too: `jq --arg k "$KEY"`, `sed "s/x/$KEY/"`.
        for arg in call.args {
            out.marks.add(&arg.marks);
        }
        let is_copy = matches!(
            call.name,
            "cat"
                | "tac"
                | "head"
                | "tail"
                | "less"
                | "more"
                | "bat"
                | "pv"
                | "rev"
                | "tr"
                | "base64"
                | "base32"
                | "xxd"
                | "sort"
                | "uniq"
                | "fold"
        );
        if !is_copy && !out.text.is_empty() && !matches!(call.name, "grep" | "egrep" | "cut" | "awk" | "sed")
        {
            UNKNOWN.clone_into(&mut out.text);
        }
        out
    }

    /// One line of a file of variables is one named secret, not the whole file.
    fn narrow(&mut self, mut value: Value, call: &Call<'_>) -> Value {
        if !matches!(call.name, "grep" | "egrep" | "rg" | "sed" | "awk" | "gawk" | "jq" | "yq")
            || value.marks.sources.is_empty()
        {
            return value;
        }
        let Some(pattern) =
            call.args.iter().find(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.as_str())
        else {
            return value;
        };
        let is_one = !pattern.contains('|') || pattern.matches('|').count() == 1 && call.name == "jq";
        let named = pattern.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).find(|word| {
            word.len() >= 4 && (word.contains('_') || !telling_words(word).is_empty()) && *word != "print"
        });
        let Some(name) = named.filter(|_| is_one) else { return value };
        let sources = std::mem::take(&mut value.marks.sources);
        for at in sources {
            let path = self
                .source(at)
                .filter(|source| source.capability == Capability::ReadsCredentials)
                .map(|source| source.object.clone())
                .filter(|path| is_env_file(path) || is_settings_file(path));
            if let Some(path) = path {
                let object = if is_env_file(&path) { name.to_owned() } else { format!("{name} of {path}") };
                let marks = self.read_source(Capability::ReadsNamedSecret, &object, call.range);
                value.marks.add(&marks);
            } else {
                value.marks.add(&Marks { sources: vec![at], ..Marks::default() });
            }
        }
        value
    }

    /// find: names, and what is done with each of them.
    fn find_files(&mut self, call: &Call<'_>) -> Value {
        let starts: Vec<&str> = call
            .args
            .iter()
            .map(|arg| arg.text.as_str())
            .take_while(|text| !text.starts_with('-') && *text != "(" && *text != "!")
            .collect();
        let mut names = Vec::new();
        let mut commands: Vec<Vec<Value>> = Vec::new();
        let mut args = call.args.iter();
        while let Some(arg) = args.next() {
            match arg.text.as_str() {
                "-name" | "-iname" | "-path" | "-wholename" | "-regex" => {
                    names.extend(args.next().map(|name| name.text.clone()));
                }
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" => {
                    commands.push(
                        args.by_ref()
                            .take_while(|arg| !matches!(arg.text.as_str(), ";" | "+"))
                            .cloned()
                            .collect(),
                    );
                }
                _ => {}
            }
        }
        let mut found = Value::default();
        for start in starts.iter().copied().take(16) {
            if names.is_empty() {
                found.append_line(&Value::known(start));
            }
            for name in names.iter().take(16) {
                found.append_line(&Value::known(format!(
                    "{}/{}",
                    start.trim_end_matches('/'),
                    name.trim_start_matches("*/")
                )));
            }
        }
        if starts.is_empty() {
            found = Value::known(names.join("\n"));
        }
        let mut out = Value::default();
        for command in commands {
            let items = super::commands::split_items(&found);
            let written = self.run_with_items(&command, &items, Some("{}"), call);
            out.append_line(&written);
        }
        if out == Value::default() { found } else { out }
    }
}

/// Whether a file of credentials is one of settings, of which one field is asked for.
fn is_settings_file(path: &str) -> bool {
    [".json", ".yaml", ".yml", ".toml"].iter().any(|ending| path.ends_with(ending))
}
