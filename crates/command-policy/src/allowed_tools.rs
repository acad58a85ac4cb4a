//! `allowed-tools`, as a skill's front matter has it: `Bash(git:*) Bash(jq:*)`.

use crate::policy::CommandPolicyError;
use crate::words::CommandWords;

/// What a list of tools may hold beside `Bash(command:*)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherTools {
    /// Nothing: any other tool, and `Bash` without a command, is an error.
    #[default]
    Refuse,
    /// The tools of an agent's whole list (`Read`, `Write`, …), which are passed through
    /// ([`crate::CommandPolicy::other_tools`]). A bare `Bash` then allows every command, `Bash(git status)` exactly that one,
    /// and a list without `Bash` none.
    PassThrough,
}

/// A list that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedTools {
    patterns: Vec<ToolPattern>,
    pub(crate) others: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ToolPattern {
    Any,
    /// A command line that begins with these words.
    Begins(Vec<String>),
    /// Exactly these words.
    Is(Vec<String>),
}

impl AllowedTools {
    pub(crate) fn read(text: &str, others: OtherTools) -> Result<Self, CommandPolicyError> {
        let mut list = Self::default();
        for entry in entries(text)? {
            let (name, argument) = match entry.split_once('(') {
                Some((name, rest)) => (name.trim_end(), Some(rest.strip_suffix(')').unwrap_or(rest).trim())),
                None => (entry, None),
            };
            match (name, argument, others) {
                ("Bash", Some(argument), _) => list.patterns.push(pattern(argument, others)?),
                ("Bash", None, OtherTools::PassThrough) => list.patterns.push(ToolPattern::Any),
                ("Bash", None, OtherTools::Refuse) => return Err(CommandPolicyError::BashWithoutCommand),
                (name, _, OtherTools::Refuse) => {
                    return Err(CommandPolicyError::UnsupportedTool(name.to_owned()));
                }
                (_, _, OtherTools::PassThrough) => list.others.push(entry.to_owned()),
            }
        }
        if list.patterns.is_empty() && list.others.is_empty() {
            return Err(CommandPolicyError::NoTools);
        }
        Ok(list)
    }

    /// How many words of a command the list spells out, by the longest pattern that covers it: none where it allows everything, and no
    /// number where it does not cover it.
    pub(crate) fn spelled(&self, words: &CommandWords) -> Option<usize> {
        let covered = self.patterns.iter().filter_map(|pattern| match pattern {
            ToolPattern::Any => Some(0),
            ToolPattern::Begins(prefix) => begins(words, prefix).then_some(prefix.len()),
            ToolPattern::Is(all) => (words.len() == all.len() && begins(words, all)).then_some(all.len()),
        });
        covered.max()
    }

    /// The patterns as they are written, for a message.
    pub(crate) fn shown(&self) -> String {
        let shown = self.patterns.iter().map(|pattern| match pattern {
            ToolPattern::Any => "any".to_owned(),
            ToolPattern::Begins(words) => format!("`{} …`", words.join(" ")),
            ToolPattern::Is(words) => format!("`{}`", words.join(" ")),
        });
        let shown: Vec<_> = shown.collect();
        if shown.is_empty() { "no command".to_owned() } else { shown.join(", ") }
    }
}

fn begins(words: &CommandWords, prefix: &[String]) -> bool {
    words.len() >= prefix.len()
        && words.iter().zip(prefix).all(|(word, expected)| word == expected.as_bytes())
}

/// What stands in the parentheses.
fn pattern(argument: &str, others: OtherTools) -> Result<ToolPattern, CommandPolicyError> {
    let invalid = || CommandPolicyError::InvalidPattern(argument.to_owned());
    let lenient = others == OtherTools::PassThrough;
    if lenient && argument == "*" {
        return Ok(ToolPattern::Any);
    }
    let (text, exact) = match argument.strip_suffix(":*") {
        Some(text) => (text, false),
        None if !lenient => return Err(invalid()),
        None => match argument.strip_suffix(" *") {
            Some(text) => (text, false),
            None => (argument, true),
        },
    };
    let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    // Words are compared as they are: a pattern that a shell, or a matcher of globs, would read otherwise is a mistake.
    let plain = |c: char| c.is_alphanumeric() || "._+-/:=@%,~^".contains(c);
    if words.is_empty() || !words.iter().all(|word| word.chars().all(plain)) {
        return Err(invalid());
    }
    Ok(if exact { ToolPattern::Is(words) } else { ToolPattern::Begins(words) })
}

/// Entries, separated by blanks or commas outside parentheses.
fn entries(text: &str) -> Result<Vec<&str>, CommandPolicyError> {
    let mut found = Vec::new();
    let (mut start, mut open) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '(' if open => return Err(CommandPolicyError::InvalidPattern(text.to_owned())),
            '(' => open = true,
            ')' if !open => return Err(CommandPolicyError::InvalidPattern(text.to_owned())),
            ')' => open = false,
            _ if !open && (c.is_whitespace() || c == ',') => {
                found.extend(text.get(start..at));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    if open {
        return Err(CommandPolicyError::InvalidPattern(text.to_owned()));
    }
    found.extend(text.get(start..));
    found.retain(|entry| !entry.is_empty());
    // `Bash(git:*)x` is neither one entry nor two.
    if found.iter().any(|entry| entry.contains('(') && !entry.ends_with(')')) {
        return Err(CommandPolicyError::InvalidPattern(text.to_owned()));
    }
    Ok(found)
}
