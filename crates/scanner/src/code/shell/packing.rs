//! Programs that copy, pack or encipher files.

use super::commands::Call;
use super::decoding::decode_base64;
use super::machine::Machine;
use super::value::{UNKNOWN, Value};

impl Machine {
    /// cp, mv and their like: the last place gets what the others hold.
    pub(super) fn copy_files(&mut self, call: &Call<'_>) -> Value {
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
    pub(super) fn pack_files(&mut self, call: &Call<'_>) -> Value {
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
    pub(super) fn run_dd(&mut self, call: &Call<'_>) -> Value {
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
    pub(super) fn run_cipher(&mut self, call: &Call<'_>) -> Value {
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
            read = decode_base64(&read);
        } else {
            UNKNOWN.clone_into(&mut read.text);
        }
        if let Some(path) = value_of(&["-out", "--output", "-o", "--out"]) {
            self.write_file(&path, &read, false, call.range);
            Value::default()
        } else {
            if let Some(path) = input.filter(|_| matches!(call.name, "gpg" | "gpg2")) {
                self.keep_file(&format!("{path}.gpg"), &read, false);
                self.keep_file(&format!("{path}.asc"), &read, false);
            }
            read
        }
    }
}
