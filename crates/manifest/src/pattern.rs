//! Regular expressions of parameters, bounded before and after they are compiled.

use regex_automata::meta::{BuildError, Config, Regex};
use serde::{Serialize, Serializer};

use crate::diagnostic::{Code, Fault, printable};

/// Longest regular expression.
const MAX_PATTERN: usize = 512;
/// Largest compiled expression, in bytes: `^\p{L}{1,20}$` takes 310 KiB.
const PATTERN_SIZE: usize = 384 * 1024;
/// What a Unicode class costs at the least, whatever becomes of it: its tables are read before any size is known.
const CLASS_COST: usize = 20 * 1024;
/// How much more a class costs when case does not count.
const CASELESS_FACTOR: usize = 4;

/// A regular expression that takes time linear in the text, whatever the text.
#[derive(Clone, Debug)]
pub struct ParameterPattern {
    written: String,
    compiled: Regex,
}

impl ParameterPattern {
    /// The expression as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a text holds a match.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }

    /// Compiles an expression, at the expense of `budget`.
    pub(crate) fn parse(text: &str, budget: &mut usize) -> Result<Self, Fault> {
        if text.len() > MAX_PATTERN {
            let message = format!("the pattern is longer than {MAX_PATTERN} bytes");
            return Err(Fault::new(Code::InvalidParameter, message));
        }
        let floor = floor_cost(text);
        if floor > *budget {
            *budget = 0;
            return Err(too_large());
        }
        let limit = PATTERN_SIZE.min(*budget);
        let config = Config::new().nfa_size_limit(Some(limit));
        match Regex::builder().configure(config).build(text) {
            Ok(compiled) => {
                *budget = budget.saturating_sub(compiled.memory_usage().max(floor));
                Ok(Self { written: text.to_owned(), compiled })
            }
            Err(error) => {
                let spent = if error.size_limit().is_some() { limit } else { floor };
                *budget = budget.saturating_sub(spent.max(floor));
                Err(refused_pattern(&error))
            }
        }
    }

    /// What matching a text costs, in characters times compiled bytes.
    pub(crate) fn work(&self, text: &str) -> usize {
        text.chars().count().saturating_mul(self.compiled.memory_usage())
    }
}

/// What an expression costs before anything is known about it.
fn floor_cost(text: &str) -> usize {
    let classes = text.as_bytes().windows(2).filter(|pair| match *pair {
        [b'\\', class] => b"pPwWdDsSbB".contains(class),
        [a, b] => a == b && b"&-~".contains(a),
        _ => false,
    });
    let caseless = text.match_indices("(?").any(|(at, _)| {
        let flags = text.get(at + 2..).unwrap_or_default();
        flags.chars().take_while(char::is_ascii_alphabetic).any(|flag| flag == 'i')
    });
    1024 + classes.count() * CLASS_COST * if caseless { CASELESS_FACTOR } else { 1 }
}

fn too_large() -> Fault {
    let fault = Fault::new(Code::InvalidParameter, "the pattern is too large when compiled");
    fault.help(r"use `max_length` for the length, and `[A-Za-z]` where `\w` or `\p{L}` is more than is meant")
}

fn refused_pattern(error: &BuildError) -> Fault {
    if error.size_limit().is_some() {
        return too_large();
    }
    // The last line of a syntax error says what; the ones before draw the pattern.
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
    Fault::new(Code::InvalidParameter, format!("not a regular expression: {}", printable(last)))
}

impl PartialEq for ParameterPattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Serialize for ParameterPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
