//! Code as statements: the strings and names in each, and what it gives a value to.

use std::ops::Range;

use super::PlainLanguage;

/// Longest statement; a longer one is cut in two.
const MAX_STATEMENT: usize = 8000;
/// Most strings, and most names, of one statement.
const MAX_PARTS: usize = 200;

/// One statement.
#[derive(Clone, Debug, Default)]
pub(super) struct Statement {
    pub(super) range: Range<usize>,
    /// Its text in lower case, without comments.
    pub(super) lower: String,
    /// What stands in its strings.
    pub(super) strings: Vec<String>,
    /// Names, also those in strings that are filled in.
    pub(super) names: Vec<String>,
    /// The names that are given a value.
    pub(super) targets: Vec<String>,
    /// Whether the old value stays a part of the new one.
    pub(super) is_added: bool,
}

/// Splits code into statements.
pub(super) fn split_statements(language: PlainLanguage, text: &str) -> Vec<Statement> {
    let mut reader = StatementReader {
        language,
        text,
        at: 0,
        code: String::new(),
        current: Statement::default(),
        done: Vec::new(),
        depth: 0,
        is_unclosed: false,
    };
    reader.read_all();
    reader.done
}

/// Reads code once, byte by byte.
struct StatementReader<'a> {
    language: PlainLanguage,
    text: &'a str,
    at: usize,
    /// The statement without its strings' contents: each is two quotation marks.
    code: String,
    current: Statement,
    done: Vec<Statement>,
    /// How many brackets are open.
    depth: u32,
    /// Whether a comment of several lines was begun that has no end: it is searched for once.
    is_unclosed: bool,
}

impl<'a> StatementReader<'a> {
    /// What is not read yet.
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn read_all(&mut self) {
        while self.at < self.text.len() {
            if self.at - self.current.range.start > MAX_STATEMENT {
                self.depth = 0;
                self.finish();
            }
            if self.skip_comment() {
                continue;
            }
            let rest = self.rest();
            let Some(c) = rest.chars().next() else { break };
            match c {
                // An apostrophe is not a quotation mark in AppleScript.
                '\'' if self.language == PlainLanguage::AppleScript => {
                    self.at += 1;
                    self.code.push(' ');
                }
                '"' | '\'' => self.read_string(c),
                '`' if matches!(
                    self.language,
                    PlainLanguage::Go | PlainLanguage::Ruby | PlainLanguage::Php | PlainLanguage::Perl
                ) =>
                {
                    if self.language != PlainLanguage::Go {
                        // It is run by a shell.
                        self.code.push_str("system ");
                    }
                    self.read_string('`');
                }
                '`' => {
                    self.at +=
                        1 + rest.get(1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                }
                '(' | '[' => self.open(c),
                '{' if self.is_value_brace() => self.open(c),
                ')' | ']' => self.close(c),
                '}' if self.depth > 0 => self.close(c),
                '{' | '}' => {
                    self.code.push(c);
                    self.at += 1;
                    self.finish();
                }
                '\n' | ';' => {
                    let is_split = self.depth == 0 && (c == ';' || !self.is_continued());
                    self.at += 1;
                    if is_split {
                        self.finish();
                    } else {
                        self.code.push(' ');
                    }
                }
                _ => {
                    self.code.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
        self.finish();
    }

    fn open(&mut self, c: char) {
        self.depth += 1;
        self.code.push(c);
        self.at += 1;
    }

    fn close(&mut self, c: char) {
        self.depth = self.depth.saturating_sub(1);
        self.code.push(c);
        self.at += 1;
    }

    /// Whether a brace opens a value and not a block.
    fn is_value_brace(&self) -> bool {
        self.depth > 0 || self.code.trim_end().ends_with(['=', '(', ',', ':', '[', '@', '>', '$', '%'])
    }

    /// Whether the statement goes on in the next line.
    fn is_continued(&self) -> bool {
        let before = self.code.trim_end();
        let next = self.rest().get(1..).unwrap_or_default();
        let head: String = next.chars().take(200).skip_while(|c| c.is_whitespace()).take(2).collect();
        before.ends_with([',', '+', '.', '|', '\\', '¬', '=']) && !before.ends_with("++")
            || (head.starts_with('.') && !head.starts_with(".."))
            || head == "->"
            || head.starts_with('|')
    }

    /// Passes over a comment.
    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        let (starts, block): (&[&str], Option<(&str, &str)>) = match self.language {
            PlainLanguage::Ruby | PlainLanguage::Perl => (&["#"], None),
            PlainLanguage::Php => (&["//", "#"], Some(("/*", "*/"))),
            PlainLanguage::PowerShell => (&["#"], Some(("<#", "#>"))),
            PlainLanguage::Go => (&["//"], Some(("/*", "*/"))),
            PlainLanguage::Lua => (&["--"], Some(("--[[", "]]"))),
            PlainLanguage::AppleScript => (&["--", "#"], Some(("(*", "*)"))),
            PlainLanguage::Batch => (&[], None),
        };
        if let Some((open, close)) = block
            && rest.starts_with(open)
            && !self.is_unclosed
        {
            // Without an end everything would be one; then it is none.
            let Some(end) = rest.find(close) else {
                self.at += open.len();
                self.is_unclosed = true;
                return true;
            };
            self.at += end + close.len();
            return true;
        }
        let is_line = starts.iter().any(|start| rest.starts_with(start));
        // `$#x` and `s#a#b#` are no comments.
        let is_apart = self.code.is_empty() || self.code.ends_with([' ', '\t', ';', '{', '}', '(', ')']);
        if is_line && is_apart {
            self.at += memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            return true;
        }
        false
    }

    /// A string; what is filled in is taken as names.
    fn read_string(&mut self, mark: char) {
        let start = self.at + 1;
        let escape = if self.language == PlainLanguage::PowerShell { '`' } else { '\\' };
        let is_raw = mark == '`' && self.language == PlainLanguage::Go
            || mark == '\'' && self.language == PlainLanguage::PowerShell;
        let mut inside = String::new();
        let mut end = self.text.len();
        let mut escaped = false;
        for (at, c) in self.text.get(start..).unwrap_or_default().char_indices().take(64 * 1024) {
            end = start + at + c.len_utf8();
            if escaped {
                escaped = false;
                inside.push(c);
            } else if c == escape && !is_raw {
                escaped = true;
            } else if c == mark {
                break;
            } else {
                inside.push(c);
            }
        }
        self.at = end.max(start).min(self.text.len());
        self.code.push('"');
        self.code.push('"');
        if mark != '\'' || self.language == PlainLanguage::AppleScript {
            self.take_filled(&inside);
        }
        if self.current.strings.len() < MAX_PARTS {
            self.current.strings.push(inside);
        }
    }

    /// Names that a string is filled in with: `$x`, `#{x}`, `$($x.y)`.
    fn take_filled(&mut self, inside: &str) {
        for (at, _) in inside.match_indices(['$', '{', '@']).take(MAX_PARTS) {
            let name: String = inside
                .get(at + 1..)
                .unwrap_or_default()
                .chars()
                .skip_while(|c| matches!(c, '$' | '{' | '(' | '@'))
                .take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':')
                .take(80)
                .collect();
            self.push_name(&name);
        }
    }

    /// Adds a name.
    fn push_name(&mut self, name: &str) {
        let name = name.trim_end_matches(':');
        if !name.is_empty() && self.current.names.len() < MAX_PARTS {
            self.current.names.push(name.to_ascii_lowercase());
        }
    }

    /// Ends the statement here.
    fn finish(&mut self) {
        let code = std::mem::take(&mut self.code);
        let next = Statement { range: self.at..self.at, ..Statement::default() };
        let mut statement = std::mem::replace(&mut self.current, next);
        if code.trim().is_empty() && statement.strings.is_empty() {
            return;
        }
        statement.range.end = self.at;
        let lead =
            self.text.get(statement.range.clone()).map_or(0, |text| text.len() - text.trim_start().len());
        statement.range.start += lead;
        let (targets, is_added) = find_targets(self.language, &code);
        statement.targets = targets;
        statement.is_added = is_added;
        for name in code.split(|c: char| !(c.is_alphanumeric() || c == '_')).take(MAX_PARTS) {
            if !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && statement.names.len() < 2 * MAX_PARTS
            {
                statement.names.push(name.to_ascii_lowercase());
            }
        }
        // An address without quotation marks, as PowerShell writes it.
        if let Some(at) = code.find("://") {
            let start =
                code.get(..at).and_then(|before| before.rfind([' ', '(', '=', ','])).map_or(0, |at| at + 1);
            let address =
                code.get(start..).unwrap_or_default().split([' ', ')', ',']).next().unwrap_or_default();
            statement.strings.push(address.to_owned());
        }
        statement.lower = code.to_ascii_lowercase();
        self.done.push(statement);
    }
}

/// What a statement gives a value to, and whether the old value stays.
fn find_targets(language: PlainLanguage, code: &str) -> (Vec<String>, bool) {
    let trimmed = code.trim();
    if language == PlainLanguage::AppleScript {
        let target = trimmed.strip_prefix("set ").and_then(|rest| rest.split(' ').next());
        return (target.map(str::to_ascii_lowercase).into_iter().collect(), false);
    }
    if language == PlainLanguage::Perl && trimmed.starts_with("open") {
        // `open(my $handle, …)`.
        let handle = trimmed.split_once('$').map(|(_, rest)| names_of(rest)).unwrap_or_default();
        return (handle.into_iter().take(1).collect(), false);
    }
    let bytes = trimmed.as_bytes();
    let mut depth = 0_u32;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
                let after = bytes.get(at + 1).copied().unwrap_or(b' ');
                if matches!(after, b'=' | b'~' | b'>') || matches!(before, b'=' | b'!' | b'<' | b'>') {
                    continue;
                }
                let left = trimmed.get(..at).unwrap_or_default();
                let is_added =
                    matches!(before, b'+' | b'.' | b'|' | b'*') || left.contains(['[', '.', '>', '{']);
                return (names_of(left), is_added);
            }
            _ => {}
        }
    }
    // `list << x`, `list.push(x)`, `curl_setopt($handle, …)`: the first name gets it.
    let adds =
        [" << ", ".push", ".append", "push ", "curl_setopt", ".add(", "->", ".write", ".set", "add-member"]
            .iter()
            .any(|word| trimmed.contains(word));
    let mut names = names_of(trimmed);
    names.retain(|name| !matches!(name.as_str(), "push" | "curl_setopt" | "if" | "unless" | "my" | "local"));
    names.truncate(1);
    (if adds { names } else { Vec::new() }, true)
}

/// The variables on the left of an assignment: of `a.b[c]` the first name.
fn names_of(left: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in left.split(',').take(8) {
        let part = part.trim().trim_start_matches(['(', '[']);
        let part = ["local ", "my ", "our ", "var ", "const ", "let ", "global ", "return "]
            .iter()
            .fold(part, |part, word| part.trim_start().strip_prefix(word).unwrap_or(part));
        // `[string]$x` of PowerShell.
        let part = part.rsplit(']').next().filter(|rest| rest.trim_start().starts_with('$')).unwrap_or(part);
        let name: String = part
            .chars()
            .skip_while(|c| !(c.is_alphanumeric() || *c == '_'))
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        if !name.is_empty() && !matches!(name.as_str(), "err" | "_" | "nil" | "ok") {
            names.push(name.to_ascii_lowercase());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_their_strings_names_and_targets() {
        let code = "# note\nkey = File.read(File.join(Dir.home,\n  '.ssh', 'id_rsa'))\nputs \"#{key}\"; req.body = key\n";
        let found = split_statements(PlainLanguage::Ruby, code);
        let brief: Vec<_> = found.iter().map(|s| (s.targets.join(","), s.strings.join("|"))).collect();
        assert_eq!(
            brief,
            [
                ("key".to_owned(), ".ssh|id_rsa".to_owned()),
                (String::new(), "#{key}".to_owned()),
                ("req".to_owned(), String::new())
            ]
        );
        assert!(found[1].names.contains(&"key".to_owned()));
        let go = split_statements(
            PlainLanguage::Go,
            "data, err := os.ReadFile(p) // x\nhttp.Post(\"u\", \"t\", data)",
        );
        assert_eq!((go[0].targets.join(","), go.len()), ("data".to_owned(), 2));
    }
}
