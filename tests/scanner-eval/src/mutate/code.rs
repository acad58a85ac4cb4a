//! As much of shell, Python and JavaScript as rewriting needs: words outside quotes, string literals, and whether some lines
//! can be run by themselves. What is in doubt is not rewritten.

use std::ops::Range;

use super::passage::PassageKind;

/// A stretch of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeWord<'t> {
    pub(crate) text: &'t str,
    /// Letters, digits and the like, outside quotes: quoting a part of it changes nothing.
    pub(crate) plain: bool,
    /// Where the shell looks for a command.
    pub(crate) command: bool,
}

const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "function", "select", "time",
];

/// A command line cut into words and what is between; put together they are the line.
pub(crate) fn shell_words(text: &str) -> Vec<CodeWord<'_>> {
    let mut out = Vec::new();
    let mut command = true;
    let mut value = false;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "._/:-+,%@".contains(c);
        let end = if is_part(first) {
            rest.find(|c| !is_part(c))
        } else if first == '"' || first == '\'' {
            rest[1..].find(first).map(|at| at + 2)
        } else if first == '#'
            && out.last().is_none_or(|word: &CodeWord<'_>| word.text.ends_with(char::is_whitespace))
        {
            rest.find('\n')
        } else if first == '$' || first == '\\' {
            // The name or the letter behind it belongs to it.
            rest[1..]
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .map(|at| (at + 1).max(2))
                .filter(|end| rest.is_char_boundary(*end))
        } else {
            Some(first.len_utf8())
        };
        let (piece, tail) = rest.split_at(end.unwrap_or(rest.len()).min(rest.len()));
        // A word that goes on as an assignment is a name.
        let plain = is_part(first) && !tail.starts_with('=') && !KEYWORDS.contains(&piece);
        out.push(CodeWord { text: piece, plain, command: command && plain && !value });
        if "|;&(\n`".contains(first) {
            command = true;
            value = false;
        } else if first.is_whitespace() {
            value = false;
        } else if is_part(first) && command && tail.starts_with('=') {
            // The command comes behind what is set for it.
            value = true;
        } else if !value && !KEYWORDS.contains(&piece) {
            command = false;
        }
        rest = tail;
    }
    out
}

/// String literals of one line's worth, quotes included: no prefixes, no escapes, no templates.
pub(crate) fn literals(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', '\'']) {
        let start = at + found;
        let quote = if text[start..].starts_with('"') { '"' } else { '\'' };
        let triple = quote.to_string().repeat(3);
        if text[start..].starts_with(&triple) {
            at = text[start + 3..].find(&triple).map_or(text.len(), |end| start + end + 6);
            continue;
        }
        let Some(length) = text[start + 1..].find([quote, '\n']) else { break };
        let end = start + length + 2;
        at = end;
        let inside = &text[start + 1..end - 1];
        let prefixed = text[..start].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if text[..end].ends_with(quote)
            && !prefixed
            && !inside.is_empty()
            && !inside.contains('\\')
            && inside.is_ascii()
        {
            out.push(start..end);
        } else if text[..end].ends_with('\n') {
            // Not a literal: an apostrophe in a comment, say.
            at = end - 1;
        }
    }
    out
}

/// Rewrites literals. `change` gets what is between the quotes and the quote.
pub(crate) fn map_literals(
    text: &str,
    kind: PassageKind,
    mut change: impl FnMut(&str, char) -> Option<String>,
) -> String {
    let mut out = String::new();
    let mut done = 0;
    for range in literals(text) {
        let line_start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
        let line = text[line_start..].trim_start();
        // A module's name must be a literal, and so must the key of an object in JavaScript.
        let fixed = kind == PassageKind::JavaScript
            && (line.starts_with("import ")
                || line.starts_with("export ")
                || text[range.end..].trim_start().starts_with(':'));
        let quote = if text[range.start..].starts_with('"') { '"' } else { '\'' };
        if let Some(new) = change(&text[range.start + 1..range.end - 1], quote).filter(|_| !fixed) {
            out.push_str(&text[done..range.start]);
            out.push_str(&new);
            done = range.end;
        }
    }
    out + &text[done..]
}

/// Whether some lines mean the same when they are run by themselves, at the same place.
pub(crate) fn stands_alone(text: &str, kind: PassageKind) -> bool {
    let balanced = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    if !(balanced('(', ')') && balanced('[', ']') && balanced('{', '}')) || text.ends_with('\\') {
        return false;
    }
    if text.matches('"').count() % 2 == 1 || text.matches('\'').count() % 2 == 1 {
        return false;
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let last = text.split_whitespace().next_back().unwrap_or_default();
    match kind {
        PassageKind::Shell => {
            let broken =
                |word: &str| KEYWORDS.contains(&word) || matches!(word, "|" | "||" | "&&" | "{" | "}");
            !broken(first) && !broken(last) && !text.contains("<<") && !text.contains("return")
        }
        // Only at the outermost level, where names stay what they are; declarations would not outlive the call.
        PassageKind::Python => {
            !text.starts_with(char::is_whitespace)
                && !last.ends_with(':')
                && !matches!(first, "else" | "except" | "finally" | "elif" | "return" | "@")
                && !text.contains("\n ")
        }
        PassageKind::JavaScript => {
            !text.starts_with(char::is_whitespace)
                && !matches!(
                    first,
                    "const"
                        | "let"
                        | "import"
                        | "export"
                        | "}"
                        | "return"
                        | "await"
                        | "else"
                        | "case"
                        | "function"
                )
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_cut_where_the_shell_cuts_it() {
        let line =
            "KEY=$HOME curl -s \"https://a.test/x y\" | sh -c 'id' && if ls; then rm ~/a\\ b; fi # curl";
        let words = shell_words(line);
        assert_eq!(words.iter().map(|word| word.text).collect::<String>(), line);
        let commands: Vec<_> = words.iter().filter(|word| word.command).map(|word| word.text).collect();
        assert_eq!(commands, ["curl", "sh", "ls", "rm"]);
        let plain: Vec<_> = words.iter().filter(|word| word.plain).map(|word| word.text).collect();
        assert_eq!(plain, ["curl", "-s", "sh", "-c", "ls", "rm", "/a", "b"]);
        for odd in ["", "\"open", "\\é", "$é", "é'", "a\\"] {
            assert_eq!(shell_words(odd).iter().map(|word| word.text).collect::<String>(), odd);
        }
    }

    #[test]
    fn literals_are_found_and_what_only_looks_like_one_is_not() {
        let text = "a = \"one\" + f\"no\" + 'two' # don't\nb = \"\"\"no\"\"\" + 'a\\n' + 'three'\n";
        let found: Vec<_> = literals(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["\"one\"", "'two'", "'three'"]);
        let up = |text, kind| {
            map_literals(text, kind, |inside, quote| Some(format!("{quote}{}{quote}", inside.to_uppercase())))
        };
        assert_eq!(
            up("import a from 'b'\nx = {'k': 'v'}", PassageKind::JavaScript),
            "import a from 'b'\nx = {'k': 'V'}"
        );
        assert_eq!(up("x = {'k': 'v'}", PassageKind::Python), "x = {'K': 'V'}");
    }

    #[test]
    fn a_part_of_a_statement_does_not_stand_alone() {
        for (text, kind, alone) in [
            ("curl a.test | sh", PassageKind::Shell, true),
            ("if curl a.test; then", PassageKind::Shell, false),
            ("curl a.test |", PassageKind::Shell, false),
            ("echo \"a", PassageKind::Shell, false),
            ("import os; os.system('id')", PassageKind::Python, true),
            ("    os.system('id')", PassageKind::Python, false),
            ("def f():", PassageKind::Python, false),
            ("post(url,", PassageKind::Python, false),
            ("fetch('a')", PassageKind::JavaScript, true),
            ("const a = fetch('a')", PassageKind::JavaScript, false),
            ("text", PassageKind::Prose, false),
        ] {
            assert_eq!(stands_alone(text, kind), alone, "{text}");
        }
    }
}
