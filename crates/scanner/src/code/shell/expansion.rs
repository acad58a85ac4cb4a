//! Words into values: variables, substitutions, braces.

use std::ops::Range;

use super::machine::Machine;
use super::tree::{Expansion, Part, Word};
use super::value::{UNKNOWN, Value};

/// Most words that one word becomes.
const MAX_WORDS: usize = 64;

impl Machine {
    /// All words that a word becomes.
    pub(super) fn expand_word(&mut self, word: &Word) -> Vec<Value> {
        let mut done: Vec<Value> = Vec::new();
        let mut current = Value::default();
        let mut has_quotes = false;
        let mut is_split = false;
        for part in &word.parts {
            let (value, splits) = self.expand_part(part, &word.range);
            has_quotes |= matches!(part, Part::Quoted(_));
            if splits && value.text.contains([' ', '\n', '\t']) {
                // Every piece has the marks of the whole.
                let text = value.text.as_str();
                for (at, piece) in text.split([' ', '\n', '\t']).filter(|piece| !piece.is_empty()).enumerate()
                {
                    if at > 0 && done.len() < MAX_WORDS {
                        done.push(std::mem::take(&mut current));
                    }
                    current.append(&value.with_text(piece));
                }
                is_split = true;
            } else {
                current.append(&value);
            }
        }
        let is_empty =
            current.text.is_empty() && !has_quotes && current.marks == super::value::Marks::default();
        if !is_empty || is_split {
            done.push(current);
        }
        self.count_copy(done.iter().map(|value| value.text.len()).sum());
        if let Some(Part::Bare(text)) = word.parts.first()
            && text.contains('{')
        {
            return done.into_iter().flat_map(|value| expand_braces(&value)).take(MAX_WORDS).collect();
        }
        done
    }

    /// A word as one value: what an assignment or a redirection takes.
    pub(super) fn expand_whole(&mut self, word: &Word) -> Value {
        let mut whole = Value::default();
        for part in &word.parts {
            let (value, _) = self.expand_part(part, &word.range);
            whole.append(&value);
        }
        self.count_copy(whole.text.len());
        whole
    }

    /// One piece of a word, and whether it may become several words.
    fn expand_part(&mut self, part: &Part, range: &Range<usize>) -> (Value, bool) {
        match part {
            Part::Bare(text) | Part::Quoted(text) => (Value::known(text.as_str()), false),
            Part::Variable { expansion, is_quoted } => {
                let is_list = expansion.is_list && expansion.operator.is_empty();
                (self.expand_variable(expansion, range), !is_quoted || is_list)
            }
            Part::Command { body, is_quoted } => {
                let mut value = self.run_nodes(body, &Value::default());
                if value.text.is_empty() {
                    UNKNOWN.clone_into(&mut value.text);
                }
                let trimmed = value.text.trim_end_matches('\n').len();
                value.text.truncate(trimmed);
                (value, !is_quoted)
            }
            Part::Process { body, is_output: false } => {
                let value = self.run_nodes(body, &Value::default());
                (Value::known(self.name_process(&value)), false)
            }
            Part::Process { body, is_output: true } => (Value::known(self.name_sink(body)), false),
        }
    }

    /// A variable with its operator.
    fn expand_variable(&mut self, expansion: &Expansion, range: &Range<usize>) -> Value {
        if expansion.is_length {
            return Value::known("0");
        }
        if expansion.is_indirect && expansion.is_list {
            // The keys of a list.
            return Value::unknown();
        }
        let is_set = self.variables.contains_key(&expansion.name);
        let mut value = self.look_up(&expansion.name, range);
        if expansion.is_indirect {
            let name = value.text.clone();
            value = self.look_up(&name, range);
        }
        let operator = expansion.operator;
        if operator.is_empty() {
            return value;
        }
        let operand = self.expand_whole(&expansion.operand);
        match operator {
            ":-" | "-" | ":=" | "=" => {
                if !is_set && !operand.text.is_empty() {
                    // Whatever the caller's environment holds is a secret still, if its name says so.
                    let marks = value.marks;
                    value = operand;
                    value.marks.add(&marks);
                    if operator.ends_with('=') {
                        self.set_variable(&expansion.name, value.clone());
                    }
                }
                value
            }
            ":+" | "+" => operand,
            "/" | "//" => {
                let (pattern, with) = operand.text.split_once('/').unwrap_or((&operand.text, ""));
                if pattern.is_empty() || pattern.contains(['*', '?', '[']) || !value.is_known() {
                    return value;
                }
                let changed = if operator == "//" {
                    value.text.replace(pattern, with)
                } else {
                    value.text.replacen(pattern, with, 1)
                };
                value.marks.is_decoded |= changed != value.text;
                value.text = changed;
                value
            }
            "#" | "##" => strip(value, &operand.text, true),
            "%" | "%%" => strip(value, &operand.text, false),
            "^^" => value.with_text(value.text.to_uppercase()),
            ",," => value.with_text(value.text.to_lowercase()),
            ":" if expansion.is_list => skip_words(&value, &operand.text),
            ":" => cut(&value, &operand.text),
            _ => value,
        }
    }
}

/// A text without what stands before or behind, where that is written out.
fn strip(value: Value, pattern: &str, from_start: bool) -> Value {
    let known = !pattern.is_empty() && !pattern.contains(['*', '?', '[']);
    let stripped = match (known, from_start) {
        (false, _) => None,
        (true, true) => value.text.strip_prefix(pattern),
        (true, false) => value.text.strip_suffix(pattern),
    };
    match stripped {
        Some(text) => value.with_text(text),
        None => value,
    }
}

/// `${x:from:length}` of a text that is known.
fn cut(value: &Value, operand: &str) -> Value {
    let (from, length) = operand.split_once(':').unwrap_or((operand, ""));
    let Ok(from) = from.trim().parse::<usize>() else { return value.clone() };
    if !value.is_known() || value.text.starts_with('$') {
        return value.clone();
    }
    let length = length.trim().parse::<usize>().unwrap_or(usize::MAX);
    let mut out = value.with_text(value.text.chars().skip(from).take(length).collect::<String>());
    out.marks.is_decoded = true;
    out
}

/// `${list[@]:from}`.
fn skip_words(value: &Value, operand: &str) -> Value {
    let from = operand.split(':').next().and_then(|from| from.trim().parse::<usize>().ok()).unwrap_or(0);
    let words: Vec<&str> = value.text.split(' ').skip(from).collect();
    value.with_text(words.join(" "))
}

/// `{a,b}` in a word, once.
fn expand_braces(value: &Value) -> Vec<Value> {
    let text = value.text.as_str();
    let parts = text.split_once('{').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once('}')?;
        let plain = inside.contains(',') && !inside.contains(['"', ':', '{', ' ']) && !before.ends_with('$');
        plain.then_some((before, inside, after))
    });
    let Some((before, inside, after)) = parts else { return vec![value.clone()] };
    inside
        .split(',')
        .take(MAX_WORDS)
        .map(|piece| value.with_text(format!("{before}{piece}{after}")))
        .collect()
}
