//! One command: what it is called behind prefixes, quotes and aliases, and who knows what it does.

use std::ops::Range;
use std::rc::Rc;

use super::super::capability::Capability;
use super::super::objects::is_secret_variable;
use super::machine::{Machine, join_values};
use super::options::ParsedOptions;
use super::tree::{Assignment, RedirectKind, SimpleCommand};
use super::value::{UNKNOWN, Value};

/// A command that is about to be looked at.
pub(super) struct Call<'a> {
    /// The program's name, without its folder.
    pub(super) name: &'a str,
    /// What stands where the name is, as it is written.
    pub(super) program: &'a Value,
    pub(super) args: &'a [Value],
    pub(super) stdin: &'a Value,
    pub(super) range: &'a Range<usize>,
    /// The host that one of its descriptors is connected to.
    pub(super) remote: Option<Rc<str>>,
}

impl Call<'_> {
    /// An argument's text; empty where there is none.
    pub(super) fn text(&self, at: usize) -> &str {
        self.args.get(at).map_or("", |arg| arg.text.as_str())
    }

    /// Whether an argument is there, word for word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.args.iter().any(|arg| arg.text == word)
    }

    /// The command as it is written, with what is known put in.
    pub(super) fn line(&self) -> String {
        let mut line = self.name.to_owned();
        for arg in self.args.iter().take(40) {
            line.push(' ');
            line.push_str(arg.text.get(..arg.text.len().min(400)).unwrap_or_default());
        }
        line
    }
}

/// Programs that start another one, and the letters of their options that take a value.
const PREFIXES: &[(&str, &str, usize)] = &[
    ("sudo", "ugpCDrtUhT", 0),
    ("doas", "uC", 0),
    ("nohup", "", 0),
    ("command", "", 0),
    ("builtin", "", 0),
    ("exec", "a", 0),
    ("time", "fo", 0),
    ("setsid", "", 0),
    ("stdbuf", "ioe", 0),
    ("nice", "n", 0),
    ("ionice", "cnp", 0),
    ("timeout", "ks", 1),
    ("gtimeout", "ks", 1),
    ("unbuffer", "", 0),
    ("chronic", "", 0),
    ("caffeinate", "twi", 0),
    ("busybox", "", 0),
    ("toybox", "", 0),
    ("flock", "wE", 1),
    ("watch", "n", 0),
    ("proxychains", "f", 0),
    ("proxychains4", "f", 0),
    ("torsocks", "", 0),
    ("torify", "", 0),
    ("winpty", "", 0),
    ("eatmydata", "", 0),
    ("strace", "eop", 0),
    ("noglob", "", 0),
    ("nocorrect", "", 0),
    ("then", "", 0),
    ("else", "", 0),
    ("do", "", 0),
];

/// Names that a pattern such as `/bin/c?t` is compared with.
const GLOBBED: &[&str] = &[
    "cat", "curl", "wget", "bash", "sh", "nc", "ncat", "base64", "python3", "python", "perl", "zsh", "dash",
    "ssh", "scp",
];

impl Machine {
    /// A command with its words, assignments and redirections.
    pub(super) fn run_simple(&mut self, command: &SimpleCommand, stdin: &Value) -> Value {
        let declared = command.words.first().and_then(|word| word.bare_text().map(str::to_owned));
        for assignment in &command.assignments {
            self.assign(assignment, declared.as_deref(), &command.range);
        }
        let args: Vec<Value> = command.words.iter().flat_map(|word| self.expand_word(word)).collect();
        let streams = self.open_streams(&command.redirects, stdin, &command.range);
        if args.is_empty() {
            // Only assignments and redirections; `$(< file)` is what the file holds.
            let reads = command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read);
            let read = if reads { streams.stdin.clone() } else { Value::default() };
            return self.close_streams(&streams, read, &command.range);
        }
        if declared.as_deref() == Some("exec") && args.len() == 1 {
            self.keep_descriptors(&command.redirects);
        }
        let out = if !command.assignments.is_empty()
            && args.len() == 1
            && declared.is_some_and(|name| is_declaration(&name))
        {
            Value::default()
        } else {
            self.execute(args, &streams.stdin, streams.remote.clone(), &command.range)
        };
        self.close_streams(&streams, out, &command.range)
    }

    /// Sets what an assignment says.
    fn assign(&mut self, assignment: &Assignment, declared: Option<&str>, range: &Range<usize>) {
        let values: Vec<Value> = match assignment.values.as_slice() {
            [one] => vec![self.expand_whole(one)],
            many => many.iter().flat_map(|word| self.expand_word(word)).map(strip_key).collect(),
        };
        let mut value = join_values(&values);
        if declared == Some("alias") {
            if self.aliases.len() < 500 {
                self.aliases.insert(assignment.name.clone(), value);
            }
            return;
        }
        if assignment.is_added
            && let Some(before) = self.variables.get(&assignment.name)
        {
            let mut longer = before.clone();
            if values.len() > 1 || assignment.values.len() != 1 {
                longer.text.push(' ');
            }
            longer.append(&value);
            value = longer;
        }
        let hides = match assignment.name.as_str() {
            "HISTFILE" => value.text.is_empty() || value.text == "/dev/null",
            "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST" => value.text == "0",
            _ => false,
        };
        if hides {
            self.note(Capability::DisablesProtection, &format!("{}={}", assignment.name, value.text), range);
        }
        if matches!(assignment.name.as_str(), "LD_PRELOAD" | "PROMPT_COMMAND" | "BASH_ENV")
            && value.marks.fetched.is_some()
        {
            let url = value.marks.fetched.clone().unwrap_or_default();
            self.note(Capability::RunsFetched, &url, range);
        }
        self.set_variable(&assignment.name, value);
    }

    /// Runs a command of words.
    pub(super) fn execute(
        &mut self,
        args: Vec<Value>,
        stdin: &Value,
        remote: Option<Rc<str>>,
        range: &Range<usize>,
    ) -> Value {
        let mut args = args;
        // Prefixes of prefixes, and aliases of them.
        for _ in 0..8 {
            let Some(first) = args.first() else { return Value::default() };
            let name = program_name(&first.text);
            if let Some(alias) = self
                .aliases
                .get(&name)
                .filter(|alias| program_name(alias.text.split(' ').next().unwrap_or_default()) != name)
            {
                let mut words: Vec<Value> =
                    alias.text.split_whitespace().take(64).map(|word| alias.with_text(word)).collect();
                words.extend(args.into_iter().skip(1));
                args = words;
                continue;
            }
            if name == "env" {
                match self.strip_env(&args) {
                    Some(rest) => args = rest,
                    None => break,
                }
                continue;
            }
            if matches!(name.as_str(), "command" | "builtin")
                && args.get(1).is_some_and(|arg| arg.text.starts_with("-v") || arg.text.starts_with("-V"))
            {
                return Value::unknown();
            }
            let Some((_, letters, skipped)) = PREFIXES.iter().find(|(prefix, ..)| *prefix == name) else {
                break;
            };
            if name == "sudo" && stdin.is_known() && args.get(1).is_some_and(|arg| arg.text.starts_with("-S"))
            {
                self.note(Capability::RaisesRights, "sudo -S", range);
            }
            let rest = strip_prefix(&args, letters, *skipped);
            if rest.is_empty() {
                return Value::default();
            }
            args = rest;
        }
        let Some((program, rest)) = args.split_first() else { return Value::default() };
        self.note_program(program, rest, range);
        let name = program_name(&program.text);
        if self.functions.contains_key(&name)
            && let Some(out) = self.call_function(&name, rest.to_vec(), stdin)
        {
            return out;
        }
        let call = Call { name: &name, program, args: rest, stdin, range, remote };
        self.dispatch(&call)
    }

    /// Looks at where the name of a command comes from: what was fetched or decoded may be one.
    fn note_program(&mut self, program: &Value, rest: &[Value], range: &Range<usize>) {
        let marks = &program.marks;
        if let Some(host) = &marks.remote {
            self.note(Capability::OpensRemoteShell, &host.clone(), range);
        } else if let Some(url) = &marks.fetched {
            self.note(Capability::RunsFetched, &url.clone(), range);
        } else if marks.is_decoded {
            let text = join_values(&[program.clone(), join_values(rest)]).text;
            self.note(Capability::RunsDecoded, &text, range);
        }
    }

    /// Hands a command to the one that knows it.
    fn dispatch(&mut self, call: &Call<'_>) -> Value {
        if let Some(out) = self.run_builtin(call) {
            return out;
        }
        if let Some(out) = self.run_interpreter(call) {
            return out;
        }
        if let Some(out) = self.run_web(call) {
            return out;
        }
        if let Some(out) = self.run_remote(call) {
            return out;
        }
        if let Some(out) = self.run_upload(call) {
            return out;
        }
        if let Some(out) = self.run_source(call) {
            return out;
        }
        self.judge_command(call);
        if let Some(out) = self.run_filter(call) {
            return out;
        }
        if call.program.text.contains('/') || self.knows_file(&call.program.text) {
            let content = self.read_file(&call.program.text, call.range);
            return self.run_code("sh", &content, call);
        }
        // A program that is not known may pass on what it reads.
        let mut out = Value::unknown();
        let is_constant =
            call.name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        if is_constant && is_secret_variable(call.name) {
            // `$(NAME)` is how makefiles and many people write a variable.
            out.marks.add(&self.read_source(Capability::ReadsNamedSecret, call.name, call.range));
        }
        out.marks.add(&call.stdin.marks);
        out
    }

    /// `env A=1 command`: what is run. Alone it prints the environment, which is not a prefix.
    fn strip_env(&mut self, args: &[Value]) -> Option<Vec<Value>> {
        let parsed = strip_prefix(args, "uCS", 0);
        let mut rest = parsed.into_iter().peekable();
        while let Some(word) = rest.peek() {
            match word.text.split_once('=') {
                Some((name, value))
                    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
                {
                    let (name, value) = (name.to_owned(), word.with_text(value));
                    self.set_variable(&name, value);
                    rest.next();
                }
                _ => break,
            }
        }
        let rest: Vec<Value> = rest.collect();
        (!rest.is_empty()).then_some(rest)
    }

    /// `xargs command`: what it reads becomes arguments.
    pub(super) fn run_xargs(&mut self, call: &Call<'_>) -> Value {
        let short = if call.name == "parallel" { "jI" } else { "IinPLdsE" };
        let mut at = 0;
        let mut replaced: Option<String> = (call.name == "parallel").then(|| "{}".to_owned());
        while let Some(letters) = call.args.get(at).and_then(|arg| arg.text.strip_prefix('-')) {
            let Some(letter) = letters.chars().next() else { break };
            if letters.starts_with('-') {
                at += 1;
                continue;
            }
            // The last letter of a cluster may take a value.
            let last = letters.chars().find(|letter| short.contains(*letter));
            if let Some(last) = last {
                let tail = letters.split_once(last).map_or("", |(_, tail)| tail);
                let value = if tail.is_empty() {
                    at += 1;
                    call.text(at).to_owned()
                } else {
                    tail.to_owned()
                };
                if last == 'I' {
                    replaced = Some(value);
                }
            } else if letter == 'i' {
                replaced = Some("{}".to_owned());
            }
            at += 1;
        }
        let command: Vec<Value> = call.args.get(at..).unwrap_or_default().to_vec();
        if command.is_empty() {
            return call.stdin.clone();
        }
        let items = split_items(call.stdin);
        self.run_with_items(&command, &items, replaced.as_deref(), call)
    }

    /// Runs a command with names in the place of `{}`, or behind it.
    pub(super) fn run_with_items(
        &mut self,
        command: &[Value],
        items: &[Value],
        replaced: Option<&str>,
        call: &Call<'_>,
    ) -> Value {
        let mark = replaced.unwrap_or("{}");
        let holds = !mark.is_empty() && command.iter().any(|word| word.text.contains(mark));
        if !holds {
            let mut args = command.to_vec();
            args.extend(items.iter().cloned());
            return self.execute(args, &Value::default(), None, call.range);
        }
        let mut out = Value::default();
        for item in items.iter().take(8) {
            let args = command
                .iter()
                .map(|word| {
                    if word.text.contains(mark) {
                        let mut value = word.with_text(word.text.replace(mark, &item.text));
                        value.marks.add(&item.marks);
                        value
                    } else {
                        word.clone()
                    }
                })
                .collect();
            let written = self.execute(args, &Value::default(), None, call.range);
            out.append_line(&written);
        }
        out
    }

    /// Options of a call.
    pub(super) fn options(call: &Call<'_>, short: &str, long: &[&str]) -> ParsedOptions {
        ParsedOptions::parse(call.args, short, long)
    }
}

/// Words of an output, each with its marks.
pub(super) fn split_items(value: &Value) -> Vec<Value> {
    let items: Vec<Value> = value
        .text
        .split(['\n', ' ', '\t', '\0'])
        .filter(|item| !item.is_empty())
        .take(64)
        .map(|item| value.with_text(item))
        .collect();
    if items.is_empty() { vec![value.with_text(UNKNOWN)] } else { items }
}

/// An element of a list without its key: `[a]=b`.
fn strip_key(value: Value) -> Value {
    let plain = value
        .text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]="))
        .map(|(_, plain)| plain.to_owned());
    match plain {
        Some(plain) => value.with_text(plain),
        None => value,
    }
}

/// Whether a builtin only sets variables.
fn is_declaration(name: &str) -> bool {
    matches!(name, "export" | "declare" | "local" | "readonly" | "typeset" | "alias" | "set" | "setx")
}

/// The command behind a prefix, its options and its own operands.
fn strip_prefix(args: &[Value], letters: &str, skipped: usize) -> Vec<Value> {
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        let Some(option) = text.strip_prefix('-') else {
            let is_assignment = text.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            // `sudo A=1 command`; `env` keeps them for itself.
            if is_assignment && program_name(args.first().map_or("", |arg| &arg.text)) != "env" {
                at += 1;
                continue;
            }
            break;
        };
        at += 1;
        let takes =
            !option.starts_with('-') && option.chars().last().is_some_and(|last| letters.contains(last));
        at += usize::from(takes);
    }
    args.get(at + skipped..).unwrap_or_default().to_vec()
}

/// A program's name without its folder and its ending.
pub(super) fn program_name(text: &str) -> String {
    let name = text.trim().rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".exe").unwrap_or(name);
    if name.contains(['?', '*', '['])
        && let Some(found) = GLOBBED.iter().find(|known| matches_glob(name, known))
    {
        return (*found).to_owned();
    }
    // Only names of Windows are written in any case.
    if name.contains('-') || text.contains('\\') { name.to_ascii_lowercase() } else { name.to_owned() }
}

/// Whether a short name fits a pattern of `?`, `*` and one set of letters.
pub(super) fn matches_glob(pattern: &str, name: &str) -> bool {
    if pattern.len() > 32 || pattern.chars().filter(|c| c.is_alphanumeric()).count() == 0 {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // Which places of the name the pattern reaches so far.
    let mut reached = vec![false; name.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    let mut at = 0;
    while let Some(c) = pattern.get(at) {
        let mut set: Option<Vec<char>> = None;
        if *c == '['
            && let Some(end) = pattern.iter().skip(at).position(|c| *c == ']')
        {
            set = pattern.get(at + 1..at + end).map(<[char]>::to_vec);
            at += end;
        }
        let mut next = vec![false; name.len() + 1];
        for (place, is_reached) in reached.iter().enumerate() {
            if !is_reached {
                continue;
            }
            if *c == '*' {
                next.iter_mut().skip(place).for_each(|reached| *reached = true);
                continue;
            }
            let fits = name.get(place).is_some_and(|letter| match &set {
                Some(set) => set.contains(letter),
                None => *c == '?' || c == letter,
            });
            if let Some(reached) = next.get_mut(place + 1).filter(|_| fits) {
                *reached = true;
            }
        }
        reached = next;
        at += 1;
    }
    reached.last().copied().unwrap_or(false)
}
