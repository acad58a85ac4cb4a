//! What a shell does itself: printing, reading, setting, and running texts as commands.

use super::super::capability::Capability;
use super::super::objects::classify_path;
use super::commands::Call;
use super::escapes::{decode_escapes, has_numbered_letters};
use super::machine::{Machine, join_values};
use super::value::{UNKNOWN, Value};

impl Machine {
    /// Runs a builtin; `None` if it is not one.
    pub(super) fn run_builtin(&mut self, call: &Call<'_>) -> Option<Value> {
        let out = match call.name {
            "echo" => print_words(call.args, false),
            "printf" => print_words(call.args, true),
            "eval" => {
                let code = join_values(call.args);
                self.run_code("sh", &code, call)
            }
            "source" | "." => {
                let path = call.args.first()?;
                let content = self.read_script(path, call);
                self.run_code("sh", &content, call)
            }
            "read" | "mapfile" | "readarray" => {
                self.read_variables(call);
                Value::default()
            }
            "export" | "declare" | "typeset" | "set" | "local" | "readonly" => {
                return Some(self.run_declaration(call));
            }
            "unset" => {
                for arg in call.args {
                    if arg.text.starts_with("HIST") {
                        self.note(Capability::DisablesProtection, &format!("unset {}", arg.text), call.range);
                    }
                    self.variables.remove(&arg.text);
                }
                Value::default()
            }
            "shift" => {
                if !self.positional.is_empty() {
                    self.positional.remove(0);
                }
                Value::default()
            }
            "cd" | "pushd" => {
                let path = call.args.iter().find(|arg| !arg.text.starts_with('-'));
                self.folder = Some(path.map_or_else(|| "~".to_owned(), |path| path.text.clone()));
                Value::default()
            }
            "trap" => {
                let code = call.args.first().cloned().unwrap_or_default();
                self.run_code("sh", &code, call)
            }
            "xargs" | "parallel" => self.run_xargs(call),
            "test" | "[" | "[[" | "true" | "false" | ":" | "sleep" | "exit" | "return" | "wait" | "kill"
            | "umask" | "alias" | "which" | "type" | "hash" | "mkdir" | "touch" | "rmdir" | "stat" | "du"
            | "wc" | "file" | "cmp" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "shasum"
            | "ssh-keygen" | "ssh-copy-id" | "ssh-add" | "date" | "uname" | "whoami" | "hostname" | "id"
            | "seq" | "nproc" => Value::unknown(),
            "ls" | "realpath" | "readlink" | "basename" | "dirname" => list_names(call),
            "mktemp" => {
                let name = format!("/tmp/mktemp.{}", self.next_process());
                Value::known(name)
            }
            "mkfifo" | "mknod" => {
                for arg in call.args.iter().filter(|arg| !arg.text.starts_with('-') && arg.text != "p") {
                    let mut pipe = Value::unknown();
                    pipe.marks.is_pipe = true;
                    self.keep_file(&arg.text, &pipe, false);
                }
                Value::default()
            }
            "history" | "fc" => {
                if call
                    .args
                    .iter()
                    .any(|arg| arg.text.starts_with("-c") || arg.text == "-wc" || arg.text == "-cw")
                {
                    self.note(Capability::DisablesProtection, "history -c", call.range);
                    return Some(Value::default());
                }
                Value::marked(self.read_source(Capability::ReadsCredentials, "shell history", call.range))
            }
            _ => return None,
        };
        Some(out)
    }

    /// `export`, `declare` and the like without an assignment: with nothing to set they print everything.
    fn run_declaration(&mut self, call: &Call<'_>) -> Value {
        let prints = match call.name {
            "export" | "readonly" => call.args.is_empty() || call.has("-p"),
            "declare" | "typeset" => {
                call.args.is_empty()
                    || call.args.iter().all(|arg| matches!(arg.text.as_str(), "-p" | "-x" | "-px" | "-xp"))
            }
            "set" => call.args.is_empty(),
            _ => false,
        };
        if prints {
            return Value::marked(self.read_source(Capability::ReadsEnvironment, call.name, call.range));
        }
        if call.name == "set"
            && let Some(at) = call.args.iter().position(|arg| arg.text == "--")
        {
            self.positional = call.args.get(at + 1..).unwrap_or_default().to_vec();
        }
        Value::default()
    }

    /// `read name`: what comes in, by the line that means most.
    fn read_variables(&mut self, call: &Call<'_>) {
        let letters = if call.name == "read" { "pdntaNiu" } else { "dnOsucC" };
        let parsed = Self::options(call, letters, &[]);
        let mut names: Vec<String> = parsed.operands.iter().map(|name| name.text.clone()).collect();
        names.extend(parsed.value(&["a"]).map(|name| name.text.clone()));
        if names.is_empty() {
            names.push(if call.name == "read" { "REPLY".to_owned() } else { "MAPFILE".to_owned() });
        }
        let from_user = call.stdin.text.is_empty();
        let value = if call.name == "read" {
            let line = call.stdin.text.lines().find(|line| classify_path(line).is_some());
            let line = line.or_else(|| call.stdin.text.lines().next()).unwrap_or(UNKNOWN);
            call.stdin.with_text(line)
        } else {
            call.stdin.with_text(call.stdin.text.replace('\n', " "))
        };
        for name in names {
            if from_user {
                // What somebody types has the name that it is asked for by.
                self.variables.remove(&name);
            } else {
                self.set_variable(&name, value.clone());
            }
        }
    }

    /// What a script's file holds, or what it is fed with.
    pub(super) fn read_script(&mut self, path: &Value, call: &Call<'_>) -> Value {
        if matches!(path.text.as_str(), "-" | "/dev/stdin") {
            return call.stdin.clone();
        }
        self.read_file(&path.text, call.range)
    }
}

/// What `echo` and `printf` write.
fn print_words(args: &[Value], is_format: bool) -> Value {
    let args = if is_format {
        args.get(usize::from(args.first().is_some_and(|arg| arg.text == "--"))..).unwrap_or_default()
    } else {
        args
    };
    let is_flag =
        |arg: &&Value| !is_format && matches!(arg.text.as_str(), "-n" | "-e" | "-en" | "-ne" | "-E");
    let flags = args.iter().take_while(is_flag).count();
    let decodes = is_format || args.iter().take(flags).any(|arg| arg.text.contains('e'));
    let mut words = args.get(flags..).unwrap_or_default().to_vec();
    let mut is_decoded = false;
    if decodes {
        for word in &mut words {
            if word.text.contains('\\') {
                is_decoded |= has_numbered_letters(&word.text);
                word.text = decode_escapes(&word.text);
            }
        }
    }
    let mut out = if is_format { fill_format(&words) } else { join_values(&words) };
    out.marks.is_decoded |= is_decoded;
    out
}

/// `printf` with its `%s` filled in.
fn fill_format(words: &[Value]) -> Value {
    let Some((format, rest)) = words.split_first() else { return Value::default() };
    let mut rest = rest.iter();
    let mut out = format.with_text("");
    let mut left = format.text.as_str();
    while let Some((before, tail)) = left.split_once('%') {
        out.append(&Value::known(before));
        let width = tail
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.' | b'0'))
            .count();
        let kind = tail.as_bytes().get(width).copied();
        match kind {
            Some(b's' | b'b' | b'd' | b'q' | b'x' | b'c') => {
                if let Some(word) = rest.next() {
                    out.append(word);
                }
                left = tail.get(width + 1..).unwrap_or_default();
            }
            Some(b'%') if width == 0 => {
                out.append(&Value::known("%"));
                left = tail.get(1..).unwrap_or_default();
            }
            _ => {
                out.append(&Value::known("%"));
                left = tail;
            }
        }
    }
    out.append(&Value::known(left));
    // The format is used again for what is left.
    for word in rest {
        out.append_line(word);
    }
    out
}

/// Names that are listed, a line each.
fn list_names(call: &Call<'_>) -> Value {
    let mut out = Value::default();
    for arg in call.args.iter().filter(|arg| !arg.text.starts_with('-')) {
        let text = match call.name {
            "basename" => arg.text.rsplit('/').next().unwrap_or_default(),
            "dirname" => arg.text.rsplit_once('/').map_or(".", |(folder, _)| folder),
            _ => arg.text.as_str(),
        };
        out.append_line(&arg.with_text(text));
    }
    if out.text.is_empty() { Value::unknown() } else { out }
}
