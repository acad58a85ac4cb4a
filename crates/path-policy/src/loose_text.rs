//! Where a path may begin in a text of which nothing is known.
//!
//! A tool that nobody described may take anything apart: `x=/etc/passwd`, `--file=../x`, `@/etc/passwd`, `["a","/etc/passwd"]`. So a text
//! counts as paths from every place where one can begin, unless it is an address of a network, or prose: words with blanks between
//! them, of which the first is a plain one. A relative path looks like any other word, so each is followed, and counts where it leads out or to
//! what is forbidden. What reads as a path only once it is decoded or its letters are folded is refused as such.

use std::collections::HashSet;

use skillsandbox_text::{is_deceptive, is_network_scheme};

use crate::decision::PathRule;
use crate::lookalike;
use crate::syntax::{MAX_PATH, is_windows_variable};

/// Times a text is percent-decoded, as a path is.
const MOST_PASSES: usize = 6;

/// The parts of a text that may be meant as paths: each has to be inside. An error where it hides one.
pub(crate) fn path_candidates<'a>(text: &'a str, root: &str) -> Result<Vec<&'a str>, PathRule> {
    let trimmed = trim(text);
    if is_address(trimmed) {
        return Ok(Vec::new());
    }
    let mut found = collect_words(trimmed, root);
    refuse_hidden_paths(trimmed, root, found.len())?;
    if looks_like_path(trimmed) {
        found.push(text);
    }
    Ok(found)
}

/// Every part of a text that would be a relative path to a tool that takes it for one, in every reading; the first that is refused.
pub(crate) fn each_relative<E>(text: &str, mut judge: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let trimmed = trim(text);
    judge_parts(trimmed, &mut judge)?;
    if !trimmed.is_ascii() {
        judge_parts(&fold(trimmed), &mut judge)?;
    }
    Decoding::of(trimmed).flatten().try_for_each(|stage| judge_parts(trim(&stage), &mut judge))
}

fn judge_parts<E>(text: &str, judge: &mut impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut seen = HashSet::new();
    for word in words(text).filter(|word| !is_address(word)) {
        for rest in begins(word).filter_map(|at| word.get(at..)) {
            let name = rest.split(is_gap).next().unwrap_or_default();
            for part in [rest, name] {
                // The root itself is what a tool works on anyway, and a dot is a dot.
                if !matches!(part, "" | ".") && part.len() <= MAX_PATH && seen.insert(part) {
                    judge(part)?;
                }
            }
        }
    }
    Ok(())
}

fn collect_words<'a>(trimmed: &'a str, root: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    words(trimmed).for_each(|word| collect_paths(word, root, &mut found));
    found
}

/// Whether a text under a key that says address names a file all the same: `view-source:file:///x`, `ab://../../x`.
pub(crate) fn carries_file(text: &str) -> bool {
    let trimmed = trim(text);
    if trimmed.contains(char::is_whitespace) {
        return is_file_url(trimmed);
    }
    let carries = |text: &str| {
        let names_file = begins(text).any(|at| text.get(at..).is_some_and(is_file_url));
        let is_strange =
            text.split_once("://").is_some_and(|(scheme, _)| !is_network_scheme(scheme.as_bytes()));
        names_file || is_strange && has_parent_segment(text)
    };
    carries(trimmed) || Decoding::of(trimmed).any(|stage| stage.is_none_or(|stage| carries(&stage)))
}

/// Whether a text is an address of a network with a host, or data in base64, and can be nothing else: read as a path it stays where it is.
pub(crate) fn is_address(text: &str) -> bool {
    is_network_address(text) || is_base64_data(text)
}

fn is_network_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_user = |c: char| c.is_ascii_alphanumeric() || "-._~%:+".contains(c);
    is_network_scheme(scheme.as_bytes())
        && is_host(host)
        && user.chars().all(is_user)
        && !text.chars().any(is_strange_in_address)
        && !has_parent_segment(text)
        && Decoding::of(text).all(|stage| {
            stage
                .is_some_and(|stage| !stage.chars().any(is_strange_in_address) && !has_parent_segment(&stage))
        })
}

/// `a.test`, `a.test:8443`, `[::1]:80`.
fn is_host(host: &str) -> bool {
    let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, port)) => {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_hexdigit() || c == ':' || c == '.') {
                return false;
            }
            ("x", port)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    name.starts_with(char::is_alphanumeric)
        && name.chars().all(|c| c.is_alphanumeric() || "-._".contains(c))
        && !name.contains("..")
        && (port.is_empty()
            || port
                .strip_prefix(':')
                .is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())))
}

fn is_strange_in_address(c: char) -> bool {
    c == '\\'
        || c.is_control()
        || is_deceptive(c)
        || lookalike::is_separator(c)
        || lookalike::is_dot(c)
        || lookalike::is_sign(c)
}

/// `data:image/png;base64,…`: letters and slashes, and no dot that could climb.
fn is_base64_data(text: &str) -> bool {
    let Some((kind, data)) = text.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) else {
        return false;
    };
    let is_kind = |c: char| c.is_ascii_alphanumeric() || "+-/;=".contains(c);
    let is_data = |c: char| c.is_ascii_alphanumeric() || "+/_=-".contains(c);
    kind.chars().all(is_kind) && data.chars().all(is_data)
}

/// Whether `..` is a whole segment.
fn has_parent_segment(text: &str) -> bool {
    text.contains("..") && text.split(['/', '\\']).any(|segment| segment == "..")
}

/// Without blanks and what nobody sees at its ends.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c.is_control() || is_deceptive(c))
}

/// The words of a text that may be paths: all, or none where it is prose or has several lines that are not a list.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut parts = text.split_whitespace();
    let several = text.contains(char::is_whitespace);
    let is_text = several && {
        let is_list = text.lines().all(|line| !line.trim().contains(char::is_whitespace));
        let is_prose = parts.clone().next().is_some_and(is_plain_word);
        !is_list && (is_prose || text.contains('\n'))
    };
    if is_text {
        parts = "".split_whitespace();
    }
    parts
}

/// A word as it stands in a sentence.
fn is_plain_word(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| ".,;:!?'\"()".contains(c));
    !bare.is_empty()
        && !word.starts_with('.')
        && bare.chars().all(|c| c.is_alphanumeric() || "'-_’".contains(c))
        && !bare.starts_with('-')
}

/// Whether a name ends here, and a value may begin.
fn is_gap(c: char) -> bool {
    "=:@,;|&\"'`<>([{".contains(c) || c.is_control()
}

/// Where in a word a path may begin.
fn begins(word: &str) -> impl Iterator<Item = usize> {
    let after_gap = word.char_indices().filter(|(_, c)| is_gap(*c)).map(|(at, c)| at + c.len_utf8());
    // `-f/etc/passwd`
    let is_flag = word.starts_with('-');
    let after_flag = word.find(|c: char| c != '-' && !c.is_ascii_alphanumeric()).filter(|_| is_flag);
    std::iter::once(0).chain(after_flag).chain(after_gap)
}

fn collect_paths<'a>(word: &'a str, root: &str, found: &mut Vec<&'a str>) {
    // An address among other words.
    if is_address(word) {
        return;
    }
    // Signs in the root's own name are no gaps.
    let known = if !root.is_empty() && word.starts_with(root) { root.len() } else { 0 };
    for at in begins(word).filter(|at| *at == 0 || *at > known) {
        let Some(rest) = word.get(at..) else { continue };
        let name = rest.split(is_gap).next().unwrap_or_default();
        if name == ".." {
            found.push(name);
        }
        if begins_like_path(rest) {
            found.push(rest);
        }
    }
}

/// Whether a text begins like a path that leads somewhere else, or climbs.
pub(crate) fn looks_like_path(text: &str) -> bool {
    text.starts_with('~')
        || begins_like_path(text)
        || text == ".."
        || text.contains("/../")
        || text.contains("..\\")
        || text.ends_with("/..")
}

fn begins_like_path(text: &str) -> bool {
    match text.as_bytes() {
        [b'/' | b'\\' | b'`', ..]
        | [b'.', b'/' | b'\\', ..]
        | [b'.', b'.', b'/' | b'\\', ..]
        | [b'$', b'{' | b'(', ..] => true,
        // `ratio:~5`
        [b'~', rest @ ..] => !rest.first().is_some_and(u8::is_ascii_digit),
        [b'$', rest @ ..] => {
            let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
            rest.starts_with(b"HOME") || name > 0 && matches!(rest.get(name), Some(b'/' | b'\\'))
        }
        [b'%', rest @ ..] => is_windows_variable(rest),
        [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic() => true,
        _ => is_file_url(text),
    }
}

pub(crate) fn is_file_url(text: &str) -> bool {
    text.trim_start().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}

/// Refuses a text that holds more paths once its letters are folded, or its percent signs decoded, than are seen in it.
fn refuse_hidden_paths(text: &str, root: &str, seen: usize) -> Result<(), PathRule> {
    let holds_more = |reading: &str| {
        let trimmed = trim(reading);
        let begins_anew = looks_like_path(trimmed) && !looks_like_path(text);
        !is_address(trimmed) && (begins_anew || collect_words(trimmed, root).len() > seen)
    };
    if !text.is_ascii() {
        let folded = fold(text);
        if folded != text && holds_more(&folded) {
            let is_hidden = text.chars().any(is_deceptive);
            return Err(if is_hidden { PathRule::Invisible } else { PathRule::LookAlike });
        }
    }
    let hides = |stage: String| holds_more(&stage) || !stage.is_ascii() && holds_more(&fold(&stage));
    if Decoding::of(text).any(|stage| stage.is_none_or(hides)) {
        return Err(PathRule::PercentEncoding);
    }
    Ok(())
}

/// A text as NFKC and code pages make it, as far as paths are concerned, without what nobody sees.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_deceptive(*c)) {
        match c {
            '\u{2025}' | '\u{fe30}' => folded.push_str(".."),
            '\u{2026}' | '\u{fe19}' => folded.push_str("..."),
            // The full-width forms of ASCII.
            '\u{ff01}'..='\u{ff5e}' => {
                folded.push(char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c));
            }
            _ if lookalike::is_separator(c) => folded.push('/'),
            _ if lookalike::is_full_stop(c) => folded.push('.'),
            '\u{fe69}' => folded.push('$'),
            '\u{fe6a}' => folded.push('%'),
            '\u{fe55}' | '\u{fe13}' | '\u{2a74}' => folded.push(':'),
            _ => folded.push(c),
        }
    }
    folded
}

/// The stages of percent-decoding a text; `None` for one that only hides something.
struct Decoding {
    text: Vec<u8>,
    passes: usize,
}

impl Decoding {
    fn of(text: &str) -> Self {
        let text = if text.contains('%') { text.as_bytes().to_vec() } else { Vec::new() };
        Self { text, passes: 0 }
    }
}

impl Iterator for Decoding {
    type Item = Option<String>;

    fn next(&mut self) -> Option<Option<String>> {
        let text = std::mem::take(&mut self.text);
        let mut out = Vec::with_capacity(text.len());
        let (mut rest, mut changed) = (text.as_slice(), false);
        while let [first, after @ ..] = rest {
            rest = after;
            match (first, after) {
                // Nobody but old servers of Windows reads it.
                (b'%', [b'u' | b'U', digits @ ..])
                    if digits.iter().take(4).filter(|digit| digit.is_ascii_hexdigit()).count() == 4 =>
                {
                    return Some(None);
                }
                (b'%', [high, low, after @ ..]) => {
                    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
                    if let (Some(high), Some(low)) = (digit(*high), digit(*low)) {
                        out.push(high << 4 | low);
                        (rest, changed) = (after, true);
                    } else {
                        out.push(b'%');
                    }
                }
                _ => out.push(*first),
            }
        }
        if !changed {
            return None;
        }
        self.passes += 1;
        // Longer forms of shorter letters, which only decoders with a fault take.
        let is_overlong = out.iter().any(|byte| matches!(byte, 0xc0 | 0xc1 | 0xf5..))
            || out.windows(2).any(|two| matches!(two, [0xe0, 0x80..=0x9f] | [0xf0, 0x80..=0x8f]));
        if is_overlong || self.passes > MOST_PASSES {
            return Some(None);
        }
        let stage = String::from_utf8_lossy(&out).into_owned();
        self.text = out;
        Some(Some(stage))
    }
}
