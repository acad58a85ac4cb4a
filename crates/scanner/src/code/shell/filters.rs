//! Programs that pass on what they read: copied, packed, encoded, enciphered, cut down.

use super::super::capability::Capability;
use super::super::hosts::telling_words;
use super::super::objects::is_env_file;
use super::commands::Call;
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
            "jq" | "yq" => "",
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

    /// cp, mv and their like: the last place gets what the others hold.
    fn copy_files(&mut self, call: &Call<'_>) -> Value {
        let parsed = Self::options(
            call,
            if call.name == "install" { "mogt" } else { "tS" },
            &["target-directory", "mode", "owner", "group"],
        );
        let folder = parsed.value(&["t", "target-directory"]).cloned();
        let (target, sources) = match (&folder, parsed.operands.split_last()) {
            (Some(folder), _) => (folder.clone(), parsed.operands.as_slice()),
            (None, Some((target, sources))) => (target.clone(), sources),
            (None, None) => return Value::default(),
        };
        for source in sources {
            let content = self.read_file(&source.text, call.range);
            let name = source.text.rsplit('/').next().unwrap_or_default();
            let is_folder = folder.is_some()
                || target.text.ends_with('/')
                || target.text.ends_with('.')
                || sources.len() > 1;
            let path = if is_folder {
                format!("{}/{name}", target.text.trim_end_matches('/'))
            } else {
                target.text.clone()
            };
            self.write_file(&path, &content, false, call.range);
            // A folder, perhaps: what is below it is found by the name, too.
            if !is_folder {
                self.keep_file(&format!("{}/{name}", target.text), &content, false);
            }
        }
        Value::default()
    }

    /// tar, zip and their like: the archive holds what the files hold.
    fn pack_files(&mut self, call: &Call<'_>) -> Value {
        let mut words: Vec<&Value> = call.args.iter().collect();
        let mut out_path: Option<String> = None;
        let mut content = Value::default();
        let mut packs = true;
        let is_tar = call.name.ends_with("tar");
        if is_tar {
            let mut rest = Vec::new();
            let mut folder = String::new();
            let mut args = words.iter().enumerate();
            packs = false;
            while let Some((at, arg)) = args.next() {
                let text = arg.text.as_str();
                let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
                let letters = letters.or(Some(text).filter(|_| at == 0 && !text.starts_with('-')));
                if let Some(letters) = letters {
                    packs |= letters.contains(['c', 'r', 'u']);
                    if letters.contains('f') {
                        out_path = args.next().map(|(_, path)| path.text.clone());
                    } else if letters.ends_with('C') {
                        folder = args.next().map(|(_, path)| path.text.clone()).unwrap_or_default();
                    } else if letters.ends_with(['T', 'X']) {
                        args.next();
                    }
                } else if let Some(name) = text.strip_prefix("--") {
                    packs |= name.starts_with("create");
                    if let Some(path) = name.strip_prefix("file=") {
                        out_path = Some(path.to_owned());
                    } else if let Some(path) = name.strip_prefix("directory=") {
                        path.clone_into(&mut folder);
                    }
                } else if folder.is_empty() || text.starts_with(['/', '~', '$']) {
                    rest.push(Value::known(text));
                } else {
                    rest.push(Value::known(format!("{folder}/{text}").trim_end_matches("/.").to_owned()));
                }
            }
            if packs {
                for path in rest {
                    let read = self.read_file(&path.text, call.range);
                    content.marks.add(&read.marks);
                }
            }
        } else {
            words.retain(|word| !word.text.starts_with('-') || word.text == "-");
            if matches!(call.name, "7z" | "7za" | "rar" | "ar") {
                packs = words.first().is_some_and(|word| matches!(word.text.as_str(), "a" | "rcs" | "u"));
                words = words.into_iter().skip(1).collect();
            }
            let mut words = words.into_iter();
            out_path = words.next().map(|word| word.text.clone());
            if packs {
                for path in words {
                    let read = self.read_file(&path.text, call.range);
                    content.marks.add(&read.marks);
                }
            }
        }
        if !packs {
            return Value::unknown();
        }
        content.marks.add(&call.stdin.marks);
        UNKNOWN.clone_into(&mut content.text);
        match out_path.filter(|path| path != "-" && path != "/dev/stdout") {
            Some(path) => {
                self.write_file(&path, &content, false, call.range);
                let zipped =
                    if call.name == "zip" && !path.contains('.') { format!("{path}.zip") } else { path };
                self.keep_file(&zipped, &content, false);
                Value::default()
            }
            None => content,
        }
    }

    /// `dd if=… of=…`.
    fn run_dd(&mut self, call: &Call<'_>) -> Value {
        let value_of =
            |name: &str| call.args.iter().find_map(|arg| arg.text.strip_prefix(name)).map(str::to_owned);
        let read = match value_of("if=") {
            Some(path) => self.read_file(&path, call.range),
            None => call.stdin.clone(),
        };
        match value_of("of=") {
            Some(path) => {
                self.write_file(&path, &read, false, call.range);
                Value::default()
            }
            None => read,
        }
    }

    /// openssl, gpg, age: `-in`, `-out`, or operands.
    fn run_cipher(&mut self, call: &Call<'_>) -> Value {
        let value_of = |names: &[&str]| {
            let at = call.args.iter().position(|arg| names.contains(&arg.text.as_str()))?;
            call.args.get(at + 1).map(|arg| arg.text.clone())
        };
        let input = value_of(&["-in", "--in"]).or_else(|| {
            let last = call.args.last().filter(|arg| call.name != "openssl" && !arg.text.starts_with('-'));
            last.map(|arg| arg.text.clone())
        });
        let mut read = match &input {
            Some(path) if path != "-" => self.read_file(path, call.range),
            _ => call.stdin.clone(),
        };
        let decodes = call
            .args
            .iter()
            .any(|arg| matches!(arg.text.as_str(), "-d" | "--decrypt" | "-decrypt" | "-dq" | "-qd"));
        let is_signing = matches!(
            call.text(0),
            "dgst" | "genrsa" | "req" | "x509" | "rand" | "genpkey" | "ecparam" | "verify" | "version"
        ) || call.has("--verify")
            || call.has("--import")
            || call.has("--dearmor");
        if is_signing {
            // A signature does not tell the key, and a certificate is for everybody.
            let fetched = read.marks.fetched.take();
            read = Value::unknown();
            read.marks.fetched = fetched;
        }
        read.marks.is_decoded |= decodes;
        if read.marks.is_decoded && call.has("-base64") || call.text(0) == "base64" && decodes {
            read = decode_base64(read);
        } else {
            UNKNOWN.clone_into(&mut read.text);
        }
        match value_of(&["-out", "--output", "-o", "--out"]) {
            Some(path) => {
                self.write_file(&path, &read, false, call.range);
                Value::default()
            }
            None => {
                if let Some(path) = input.filter(|_| matches!(call.name, "gpg" | "gpg2")) {
                    self.keep_file(&format!("{path}.gpg"), &read, false);
                    self.keep_file(&format!("{path}.asc"), &read, false);
                }
                read
            }
        }
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
                    names.extend(args.next().map(|name| name.text.clone()))
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

/// What comes out of programs that decode; where the text is known, it is decoded.
fn decode(call: &Call<'_>, mut value: Value) -> Value {
    let has = |names: &[&str]| call.args.iter().any(|arg| names.contains(&arg.text.as_str()));
    match call.name {
        "base64" | "base32" | "basenc"
            if has(&["-d", "-D", "--decode", "-di", "-id"])
                || call.args.iter().any(|arg| arg.text.starts_with("-d") && arg.text.len() <= 4) =>
        {
            value.marks.is_decoded = true;
            if call.name == "base64" { decode_base64(value) } else { value.with_text(UNKNOWN) }
        }
        "xxd" if call.args.iter().any(|arg| arg.text.starts_with("-r") || arg.text == "-pr") => {
            value.marks.is_decoded = true;
            decode_hex(value)
        }
        "rev" => {
            value.marks.is_decoded |= value.is_known();
            let text = if value.is_known() {
                value
                    .text
                    .lines()
                    .map(|line| line.chars().rev().collect::<String>())
                    .collect::<Vec<_>>()
                    .join("\n")
            } else {
                UNKNOWN.to_owned()
            };
            value.with_text(text)
        }
        "tr" => {
            let (from, to) = (call.text(0), call.text(1));
            let is_rotated =
                from.to_ascii_lowercase().starts_with("a-z") && to.to_ascii_lowercase().starts_with("n-za-m");
            if is_rotated {
                value.marks.is_decoded |= value.is_known();
                let text: String = value.text.chars().map(rotate_letter).collect();
                return value.with_text(text);
            }
            let letters =
                |text: &str| !text.is_empty() && text.chars().filter(|c| c.is_alphanumeric()).count() >= 2;
            // Letters for other letters: a cipher. Of a secret it is one on the way.
            if value.is_known()
                && letters(from)
                && letters(to)
                && !from.contains("[:")
                && !from.contains("a-z")
                && !from.contains("A-Z")
            {
                value.marks.is_decoded = true;
            }
            value
        }
        "gunzip" | "zcat" | "bunzip2" | "bzcat" | "unxz" | "xzcat" | "zstdcat" | "uudecode" => {
            value.marks.is_decoded = true;
            value.with_text(UNKNOWN)
        }
        "gzip" | "bzip2" | "xz" | "zstd" | "brotli"
            if call.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('d')) =>
        {
            value.marks.is_decoded = true;
            value.with_text(UNKNOWN)
        }
        "base64" | "base32" | "xxd" | "gzip" | "bzip2" | "xz" => value.with_text(UNKNOWN),
        _ => value,
    }
}

/// A letter thirteen further on.
fn rotate_letter(c: char) -> char {
    let turn = |c: char, base: u8| {
        let at = u8::try_from(c).unwrap_or(base) - base;
        char::from(base + (at + 13) % 26)
    };
    match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        _ => c,
    }
}

/// The text that base64 stands for, where it is one.
fn decode_base64(value: Value) -> Value {
    let packed: String = value.text.chars().filter(|c| !c.is_whitespace() && *c != '=').collect();
    let decoded = data_encoding::BASE64_NOPAD.decode(packed.as_bytes()).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    value.with_text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}

/// The text that hexadecimal digits stand for, where it is one.
fn decode_hex(value: Value) -> Value {
    let packed: String = value.text.chars().filter(|c| !c.is_whitespace()).collect();
    let decoded = data_encoding::HEXLOWER_PERMISSIVE.decode(packed.as_bytes()).ok();
    let text = decoded.and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| !text.contains('\0'));
    value.with_text(text.unwrap_or_else(|| UNKNOWN.to_owned()))
}
