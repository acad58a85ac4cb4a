//! Words as paths: `..`, and what leads out of the root, however it is spelt.
//!
//! Which argument of which program is a path is unknown here, so every place of a word where one can begin counts. What is
//! decided here is decided by the text alone; links are followed by a [`PathRules`].

use std::path::{Component, Path, PathBuf};

use skillsandbox_text::is_network_scheme;

use crate::denied::CommandRule;
use crate::policy::CommandPolicyError;
use crate::words::{DOT, EXPANDS, SLASH};

/// Where `..` is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParentDots {
    /// As a component of a path. Git's `main..dev` is none.
    #[default]
    Component,
    /// Wherever two dots stand next to each other.
    Anywhere,
}

/// Asked of every part of every argument that could be the name of a file, after the check of the text: the place for rules that
/// look at the disk. [`crate::RealPaths`] follows links; a path guard of the embedder's can be put here.
pub trait PathRules: Send + Sync {
    /// Says why a path may not be touched. It is relative to the root, or absolute.
    fn check(&self, path: &Path) -> Result<(), String>;
}

impl<F: Fn(&Path) -> Result<(), String> + Send + Sync> PathRules for F {
    fn check(&self, path: &Path) -> Result<(), String> {
        self(path)
    }
}

/// The directories that absolute paths may lie in.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllowedRoots(Vec<Vec<Vec<u8>>>);

impl AllowedRoots {
    /// Adds a directory under the name it was given, and under its real one. With `..` in it only the real one counts, and there
    /// has to be one.
    pub(crate) fn add(&mut self, dir: &Path) -> Result<(), CommandPolicyError> {
        let absolute = std::path::absolute(dir).map_err(|_| CommandPolicyError::Root(dir.to_owned()))?;
        let climbs = absolute.components().any(|part| part == Component::ParentDir);
        let real = absolute.canonicalize().ok();
        if climbs && real.is_none() {
            return Err(CommandPolicyError::Root(dir.to_owned()));
        }
        for path in real.into_iter().chain((!climbs).then_some(absolute)) {
            let components = path.components().filter(|part| matches!(part, Component::Normal(_)));
            let components: Vec<_> =
                components.map(|part| part.as_os_str().as_encoded_bytes().to_vec()).collect();
            if !self.0.contains(&components) {
                self.0.push(components);
            }
        }
        Ok(())
    }

    /// Whether an absolute path, at the start of a text, lies in one of them.
    fn hold(&self, text: &[u8]) -> bool {
        self.0.iter().any(|root| {
            let mut rest = skip_slashes(text);
            for component in root {
                match rest.strip_prefix(component.as_slice()) {
                    Some(after) if after.first().is_none_or(|byte| *byte == b'/' || begins_path(*byte)) => {
                        rest = if after.first() == Some(&b'/') { skip_slashes(after) } else { after };
                    }
                    _ => return false,
                }
            }
            true
        })
    }
}

/// What is behind `/`, `//`, `/./` and the like.
fn skip_slashes(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [b'/', rest @ ..] | [b'.', b'/', rest @ ..] => rest,
            [b'.'] => return &[],
            _ => return text,
        };
    }
}

/// Something in a word that may not be there: the rule, and from which byte of the word on.
pub(crate) struct PathOffence {
    pub(crate) rule: CommandRule,
    pub(crate) from: usize,
}

/// Looks for `..`, and for paths out of the roots, in one word.
pub(crate) fn offence(word: &[u8], notes: u8, roots: &AllowedRoots, dots: ParentDots) -> Option<PathOffence> {
    if notes & (SLASH | DOT | EXPANDS) == 0 {
        return None;
    }
    if notes & DOT != 0
        && let Some(from) = parent(word, dots)
    {
        return Some(PathOffence { rule: CommandRule::ParentDirectory, from });
    }
    if notes & (SLASH | EXPANDS) == 0 {
        return None;
    }
    let mut at = 0;
    while let Some(byte) = word.get(at) {
        let before = at.checked_sub(1).and_then(|index| word.get(index)).copied();
        match byte {
            b'/' => {
                if let Some(end) = url_end(word, at) {
                    at = end;
                    continue;
                }
                if path_begins(word, at) && !roots.hold(word.get(at..).unwrap_or_default()) {
                    return Some(PathOffence { rule: CommandRule::OutsideRoot, from: at });
                }
            }
            b'~' if before.is_none_or(begins_path) => {
                let loose =
                    before.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\''));
                let next = word.get(at + 1).copied();
                let expands =
                    next.is_none_or(|byte| byte == b'/' || (!loose && byte.is_ascii_alphanumeric()));
                if expands {
                    return Some(PathOffence { rule: CommandRule::OutsideRoot, from: at });
                }
            }
            b'$' if before.is_none_or(begins_path) && names_home(word.get(at..).unwrap_or_default()) => {
                return Some(PathOffence { rule: CommandRule::OutsideRoot, from: at });
            }
            // A file's URL may hide anything behind percent signs.
            b'%' if has_file_scheme(word.get(..at).unwrap_or_default()) => {
                return Some(PathOffence { rule: CommandRule::OutsideRoot, from: 0 });
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether a path can begin behind this byte.
fn begins_path(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'=' | b':'
                | b'@'
                | b','
                | b';'
                | b'"'
                | b'\''
                | b'<'
                | b'>'
                | b'|'
                | b'&'
                | b'('
                | b'{'
                | b'!'
                | b'`'
        )
}

/// Whether the slash here begins an absolute path.
fn path_begins(word: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|index| word.get(index)) else { return true };
    if before.is_ascii_whitespace() {
        // Alone between blanks it divides.
        return word.get(at + 1).is_some_and(|byte| !byte.is_ascii_whitespace());
    }
    begins_path(*before) || is_short_flag(word.get(..at).unwrap_or_default())
}

/// `-I`, `-xvf`, `-#o`: a value may follow without anything between. In `-I./x` and `-Ia_b/x` it has begun already.
fn is_short_flag(text: &[u8]) -> bool {
    let is_flag = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'.' | b'_' | b'-' | b'/' | b'~');
    matches!(text, [b'-', letters @ ..] if !letters.is_empty() && letters.iter().all(is_flag))
}

/// Where the URL ends whose `//` begins here, if it is one of a network and names a host.
fn url_end(word: &[u8], slash: usize) -> Option<usize> {
    if !word.get(slash..)?.starts_with(b"//") || word.get(slash.checked_sub(1)?) != Some(&b':') {
        return None;
    }
    if word.get(slash + 2).is_none_or(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'[' | b'_')) {
        return None;
    }
    let before = word.get(..slash - 1)?;
    let is_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let length = before.iter().rev().take_while(|byte| is_scheme(byte)).count();
    let scheme = before.get(before.len() - length..)?;
    if !is_network_scheme(scheme) {
        return None;
    }
    let ends =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'"' | b'\'' | b'<' | b'>');
    let rest = word.get(slash..)?;
    Some(slash + rest.iter().position(ends).unwrap_or(rest.len()))
}

fn names_home(text: &[u8]) -> bool {
    text.starts_with(b"$HOME") || text.starts_with(b"${HOME") || text.starts_with(b"$(HOME")
}

fn has_file_scheme(text: &[u8]) -> bool {
    text.windows(5).any(|part| part.eq_ignore_ascii_case(b"file:"))
}

/// Where `..` stands as a component, or anywhere.
fn parent(word: &[u8], dots: ParentDots) -> Option<usize> {
    let is_name = |byte: Option<&u8>| {
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
    };
    let mut at = 0;
    while at < word.len() {
        let run = word.iter().skip(at).take_while(|byte| **byte == b'.').count();
        if run < 2 {
            at += run + 1;
            continue;
        }
        if dots == ParentDots::Anywhere {
            return Some(at);
        }
        let (before, after) = (at.checked_sub(1).and_then(|index| word.get(index)), word.get(at + run));
        let is_component = matches!(after, Some(b'/' | b'\\'))
            || (!is_name(before) && !is_name(after))
            || is_short_flag(word.get(..at).unwrap_or_default());
        if run == 2 && is_component {
            return Some(at);
        }
        at += run;
    }
    None
}

/// Parts of a word that could be names of files, relative or absolute; those of a URL are not.
pub(crate) fn candidates(word: &[u8]) -> Vec<&[u8]> {
    let mut found = vec![word];
    // `-Ilink`, `-xflink`: how many of the letters are flags is unknown.
    if word.first() == Some(&b'-') && word.get(1) != Some(&b'-') {
        found.extend((2..word.len().min(MOST_FLAGS)).filter_map(|start| word.get(start..)));
    }
    let (mut start, mut at) = (0, 0);
    while at < word.len() {
        if let Some(end) = url_end(word, at) {
            at = end;
            start = end;
            // The whole word is an address, not a name.
            found.retain(|part| part.len() != word.len());
            continue;
        }
        if word.get(at).copied().is_some_and(begins_path) {
            found.extend(word.get(start..at));
            start = at + 1;
        }
        at += 1;
    }
    found.extend(word.get(start..));
    found.retain(|part| !part.is_empty());
    found.dedup();
    found
}

/// Letters behind one dash that are tried as flags with a name behind them.
const MOST_FLAGS: usize = 16;

/// A path from the bytes of a word.
pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
