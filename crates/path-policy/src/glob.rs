//! Patterns: what a glob can reach, by its text.
//!
//! A pattern is taken apart into every spelling its braces allow. Each must stay below where it starts: its literal beginning is
//! checked like any path, and behind that nothing may climb, neither by `..` nor by a name that can match it (glob(3) lets `.*` match
//! `..`).

use crate::decision::PathRule;
use crate::percent::PercentDecoder;
use crate::syntax;

/// Most spellings of one pattern, and most steps to find them.
const MAX_SPELLINGS: usize = 256;

/// The literal beginnings of a pattern, each a path to be checked; empty for one that starts with a wildcard.
pub(crate) fn beginnings(pattern: &str) -> Result<Vec<String>, PathRule> {
    let mut found = Vec::new();
    for spelling in spellings(pattern)? {
        if spelling.is_empty() {
            continue;
        }
        let literal = beginning(&spelling)?;
        let shape = syntax::examine(spelling.as_bytes())?;
        // Decoding could make new braces and brackets.
        if shape.percent && PercentDecoder::new(spelling.as_bytes())?.next()?.is_some() {
            return Err(PathRule::PercentEncoding);
        }
        found.push(literal);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn beginning(spelling: &str) -> Result<String, PathRule> {
    let mut literal = Vec::new();
    let mut is_literal = true;
    for name in spelling.split('/') {
        if name == ".." || can_match_parent(name)? {
            return Err(PathRule::PatternClimbs);
        }
        is_literal &= !name.contains(['*', '?', '[', '(']);
        if is_literal {
            literal.push(name);
        }
    }
    let joined = literal.join("/");
    Ok(if joined.is_empty() && spelling.starts_with('/') { "/".to_owned() } else { joined })
}

/// Every spelling of a pattern with braces: `{a,b}`, nested ones too. A brace without a comma stands for itself.
fn spellings(pattern: &str) -> Result<Vec<String>, PathRule> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = open.pop() {
        match first_group(&text)? {
            None => done.push(text),
            Some((start, end, alternatives)) => {
                let (before, after) =
                    (text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default());
                open.extend(alternatives.iter().map(|alternative| format!("{before}{alternative}{after}")));
            }
        }
        if open.len() + done.len() > MAX_SPELLINGS {
            return Err(PathRule::PatternTooComplex);
        }
    }
    Ok(done)
}

/// The first group of alternatives that holds no other: where it is, and what it stands for.
fn first_group(text: &str) -> Result<Option<(usize, usize, Vec<String>)>, PathRule> {
    let mut start = None;
    for (index, c) in text.char_indices() {
        match (c, start) {
            ('{', _) => start = Some(index),
            ('}', Some(begun)) => {
                let inner = text.get(begun + 1..index).unwrap_or_default();
                return Ok(Some((begun, index + 1, alternatives(inner)?)));
            }
            // A brace that is closed and was never opened, or the other way round: readers differ.
            ('}', None) => return Err(PathRule::PatternTooComplex),
            _ => {}
        }
    }
    if start.is_some() { Err(PathRule::PatternTooComplex) } else { Ok(None) }
}

fn alternatives(inner: &str) -> Result<Vec<String>, PathRule> {
    if inner.contains(',') {
        // Some readers take `{a..c,d}` for two alternatives, one of which holds dots.
        return Ok(inner.split(',').map(str::to_owned).collect());
    }
    if let Some((from, to)) = inner.split_once("..") {
        // A range of letters or numbers is as good as a wildcard; any other could be made of dots and slashes.
        let plain = |end: &str| !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric());
        let to = to.split_once("..").map_or(to, |(to, _)| to);
        return if plain(from) && plain(to) {
            Ok(vec!["?".to_owned()])
        } else {
            Err(PathRule::PatternClimbs)
        };
    }
    // `{a}` is `a` to some and `{a}` to others.
    Ok(vec![inner.to_owned(), format!("[{{]{inner}[}}]")])
}

/// Whether one name of a pattern can match `..`. A wildcard alone does not: every reader leaves `.` and `..` to be asked for by a dot.
fn can_match_parent(name: &str) -> Result<bool, PathRule> {
    if name.contains('(') && name.contains(['.', '/']) {
        // Extended patterns, `@(..)` and `+(.)`.
        return Err(PathRule::PatternClimbs);
    }
    let tokens = tokens(name)?;
    Ok(matches!(tokens.first(), Some(GlobToken::Char('.') | GlobToken::Set(true)))
        && matches_dots(&tokens, 2))
}

#[derive(Clone, Copy, Debug)]
enum GlobToken {
    Char(char),
    /// `?`
    One,
    /// `*`
    Any,
    /// `[…]`, and whether it matches a dot.
    Set(bool),
}

fn tokens(name: &str) -> Result<Vec<GlobToken>, PathRule> {
    let mut tokens: Vec<GlobToken> = Vec::new();
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        tokens.push(match c {
            // Several in a row are one, which keeps the comparison from trying all ways to share the dots.
            '*' if matches!(tokens.last(), Some(GlobToken::Any)) => continue,
            '*' => GlobToken::Any,
            '?' => GlobToken::One,
            '[' => {
                let (matches_dot, length) = set(rest.as_str()).ok_or(PathRule::PatternTooComplex)?;
                rest = rest.as_str().get(length..).unwrap_or_default().chars();
                GlobToken::Set(matches_dot)
            }
            c => GlobToken::Char(c),
        });
    }
    Ok(tokens)
}

/// Whether the set that begins here, behind its `[`, matches a dot, and how long it is with its `]`.
fn set(text: &str) -> Option<(bool, usize)> {
    let negated = text.starts_with(['!', '^']);
    let inner_start = usize::from(negated);
    // A `]` that comes first is one of the set.
    let search = text.get(inner_start..)?;
    let first = search.chars().next()?.len_utf8();
    let end = search.get(first..)?.find(']')? + first;
    let inner = search.get(..end)?;
    if ["[:", "[.", "[="].iter().any(|class| inner.contains(class)) {
        // Classes and collating names, which few readers know and all read differently.
        return None;
    }
    let inner: Vec<char> = inner.chars().collect();
    let has_dot = inner.contains(&'.')
        || inner.windows(3).any(|three| matches!(three, [from, '-', to] if (*from..=*to).contains(&'.')));
    Some((has_dot != negated, inner_start + end + 1))
}

/// Whether tokens can match exactly this many dots.
fn matches_dots(tokens: &[GlobToken], dots: usize) -> bool {
    match tokens {
        [] => dots == 0,
        [GlobToken::Any, rest @ ..] => (0..=dots).any(|left| matches_dots(rest, left)),
        [GlobToken::Char('.') | GlobToken::One | GlobToken::Set(true), rest @ ..] => {
            dots > 0 && matches_dots(rest, dots - 1)
        }
        [GlobToken::Char(_) | GlobToken::Set(false), ..] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_are_what_is_literal() {
        for (pattern, expected) in [
            ("**/*.rs", vec![""]),
            ("src/**/*.rs", vec!["src"]),
            ("src/main.rs", vec!["src/main.rs"]),
            ("/etc/*", vec!["/etc"]),
            ("/*", vec!["/"]),
            ("/", vec!["/"]),
            ("*", vec![""]),
            (".env*", vec![""]),
            (".[!.]*", vec![""]),
            ("a/.*rc", vec!["a"]),
            ("a[1-9]/x", vec![""]),
            ("x/{1..9}.txt", vec!["x"]),
            ("*.{ts,tsx}", vec![""]),
        ] {
            assert_eq!(
                beginnings(pattern),
                Ok(expected.into_iter().map(str::to_owned).collect()),
                "{pattern}"
            );
        }
        let both = beginnings("{a,/etc}/x*").unwrap();
        assert_eq!(both, ["/etc", "a"]);
        let nested = beginnings("{a,{b,c}}/x").unwrap();
        assert_eq!(nested, ["a/x", "b/x", "c/x"]);
    }

    #[test]
    fn what_can_climb_is_refused() {
        for pattern in [
            "../*",
            "a/../*",
            "*/../../etc/passwd",
            "**/..",
            "{a,../../etc}/passwd",
            "{..,a}/x",
            "{,.}{,.}/x",
            "{.,..}/{.,..}/etc",
            ".*",
            ".*/x",
            ".?/x",
            "a/.?/x",
            ".[.]/x",
            "[.][.]/x",
            "[.]*/x",
            "[!a][!a]/x",
            "[^a]./x",
            ".**/x",
            ".[^a]/x",
            "@(..)/x",
            "+(.)/x",
            "..*",
            "{-../}/x",
            "{....}/x",
            ".{.,a}/x",
            "..?(x)/y",
            ".{a,{.,b}}/x",
        ] {
            assert_eq!(beginnings(pattern), Err(PathRule::PatternClimbs), "{pattern}");
        }
    }

    #[test]
    fn what_readers_disagree_about_is_refused() {
        for pattern in [
            "{a",
            "a}",
            "[[:punct:]][[:punct:]]/x",
            "[[.full-stop.]]./x",
            "[.-/]?/x",
            "[a",
            "{a,b}{",
            "[]",
            "[!]",
        ] {
            assert_eq!(beginnings(pattern), Err(PathRule::PatternTooComplex), "{pattern}");
        }
        let bomb = "{a,b}".repeat(40);
        assert_eq!(beginnings(&bomb), Err(PathRule::PatternTooComplex));
        assert_eq!(beginnings(&"{".repeat(4000)), Err(PathRule::PatternTooComplex));
    }
}
