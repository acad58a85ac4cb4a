//! What the text of a path alone decides: no disk, no allocation.
//!
//! The kernel takes nearly every byte in a name. Tools do not: they expand `~`, decode `%2e`, turn `\` into `/`, cut off
//! trailing dots, normalise letters. A path that means one place to the kernel and may mean another to a tool is refused
//! here, because a check is worth nothing if what is opened afterwards is something else.

use skillsandbox_text::{is_deceptive, is_emoji_selector, is_joiner};

use crate::decision::PathRule;
use crate::lookalike;

/// Longest path the kernel takes (`PATH_MAX` without its NUL), see `path_resolution(7)`.
pub(crate) const MAX_PATH: usize = 4095;
/// Longest name (`NAME_MAX`).
const MAX_NAME: usize = 255;
/// Most names. Each may cost a file descriptor while links are followed; the usual limit of those is 1024.
pub(crate) const MAX_DEPTH: usize = 256;

/// What the later steps want to know of a path that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each says one thing about the text
pub(crate) struct PathShape {
    pub(crate) absolute: bool,
    /// `..` stands somewhere in it.
    pub(crate) climbs: bool,
    /// `..` is its first name, so that the climb begins at the base itself.
    pub(crate) climbs_first: bool,
    /// It holds a percent sign that may be decoded.
    pub(crate) percent: bool,
    pub(crate) ascii: bool,
}

/// Whether a path is a plain one.
pub(crate) fn examine(path: &[u8]) -> Result<PathShape, PathRule> {
    let first = *path.first().ok_or(PathRule::Empty)?;
    if path.len() > MAX_PATH {
        return Err(PathRule::TooLong);
    }
    let seen = SeenBytes::of(path);
    if seen.control {
        return Err(PathRule::ControlCharacter);
    }
    if seen.other {
        examine_other(path)?;
    }
    if seen.backslash {
        return Err(PathRule::Backslash);
    }
    match first {
        b'~' => return Err(PathRule::Home),
        b' ' => return Err(PathRule::TrailingDot),
        _ => {}
    }
    if seen.colon {
        examine_scheme(path)?;
    }
    let names = examine_names(path, seen)?;
    if seen.variable {
        examine_variables(path, names.climbs)?;
    }
    Ok(PathShape {
        absolute: first == b'/',
        climbs: names.climbs,
        climbs_first: names.climbs_first,
        percent: seen.percent,
        ascii: !seen.other,
    })
}

/// Which kinds of bytes there are: one pass, and most paths hold none of them.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // each says one thing about the bytes
struct SeenBytes {
    control: bool,
    backslash: bool,
    colon: bool,
    /// `$`, `%` or a backquote.
    variable: bool,
    percent: bool,
    brace: bool,
    other: bool,
}

impl SeenBytes {
    fn of(path: &[u8]) -> Self {
        let mut seen = Self::default();
        for &byte in path {
            match byte {
                0..=0x1f | 0x7f => seen.control = true,
                b'\\' => seen.backslash = true,
                b':' => seen.colon = true,
                b'$' | b'`' => seen.variable = true,
                b'%' => (seen.percent, seen.variable) = (true, true),
                b'{' => seen.brace = true,
                0x80.. => seen.other = true,
                _ => {}
            }
        }
        seen
    }
}

/// A path with letters beyond ASCII.
fn examine_other(path: &[u8]) -> Result<(), PathRule> {
    let text = str::from_utf8(path).map_err(|_| PathRule::NotUtf8)?;
    let mut before = '/';
    for c in text.chars() {
        if c.is_control() {
            return Err(PathRule::ControlCharacter);
        }
        if lookalike::is_separator(c) || lookalike::is_dot(c) || lookalike::is_sign(c) {
            return Err(PathRule::LookAlike);
        }
        let is_hidden = if is_joiner(c) {
            // Needed in Persian, in the scripts of India and in emoji; beside Latin letters they only hide.
            before.is_ascii()
        } else if is_emoji_selector(c) {
            // Behind a sign, a digit among them, it makes an emoji; behind a letter or a dot it only hides.
            before.is_ascii_alphabetic() || matches!(before, '.' | '/')
        } else {
            is_deceptive(c)
        };
        if is_hidden || is_joiner(before) && c.is_ascii() {
            return Err(PathRule::Invisible);
        }
        before = c;
    }
    if is_joiner(before) {
        return Err(PathRule::Invisible);
    }
    for name in text.split('/') {
        // An ASCII space or dot at the end is found with all other names.
        if name.trim() != name && !name.ends_with(' ') {
            return Err(PathRule::TrailingDot);
        }
        let bare = name.trim_matches(|c: char| c == ' ' || lookalike::is_full_stop(c));
        if bare.is_empty() && !name.is_ascii() {
            return Err(PathRule::LookAlike);
        }
    }
    Ok(())
}

/// `file:…`, `scheme://…` and `C:`.
fn examine_scheme(path: &[u8]) -> Result<(), PathRule> {
    if path.windows(3).any(|three| three == b"://") || starts_with_ignoring_case(path, b"file:") {
        return Err(PathRule::Url);
    }
    match path {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => Err(PathRule::DriveLetter),
        _ => Ok(()),
    }
}

fn starts_with_ignoring_case(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

struct ParsedNames {
    climbs: bool,
    climbs_first: bool,
}

fn examine_names(path: &[u8], seen: SeenBytes) -> Result<ParsedNames, PathRule> {
    let mut names = ParsedNames { climbs: false, climbs_first: false };
    let mut depth = 0_usize;
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => continue,
            b".." => {
                names.climbs_first |= depth == 0;
                names.climbs = true;
            }
            _ if name.len() > MAX_NAME => return Err(PathRule::TooLong),
            _ if seen.brace && name.contains(&b'{') && name.windows(2).any(|two| two == b"..") => {
                return Err(PathRule::PatternClimbs);
            }
            [.., b'.' | b' '] => return Err(PathRule::TrailingDot),
            _ => {}
        }
        depth += 1;
    }
    if depth > MAX_DEPTH {
        return Err(PathRule::TooDeep);
    }
    Ok(names)
}

/// Variables: `$NAME` where it would change where the path begins, or how far it climbs; `${`, `$(` and backquotes, which no
/// file's name needs, anywhere. `routes/$id.tsx` is a name like any other.
fn examine_variables(path: &[u8], climbs: bool) -> Result<(), PathRule> {
    let mut rest = path;
    while let [byte, after @ ..] = rest {
        let at_start = rest.len() == path.len();
        match (byte, after) {
            (b'`', _) | (b'$', [b'{' | b'(', ..]) => return Err(PathRule::Variable),
            (b'$', [b'A'..=b'Z' | b'a'..=b'z' | b'_', ..]) if at_start || climbs => {
                return Err(PathRule::Variable);
            }
            (b'%', _) if at_start && is_windows_variable(after) => return Err(PathRule::Variable),
            _ => {}
        }
        rest = after;
    }
    Ok(())
}

/// What follows the first `%` of `%USERPROFILE%`.
pub(crate) fn is_windows_variable(after: &[u8]) -> bool {
    let name = after.split(|&byte| byte == b'%').next().unwrap_or_default();
    name.len() < after.len()
        && name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'(' | b')'))
        && name.len() > 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_pass() {
        for path in [
            "a",
            "a/b.txt",
            "/etc/passwd",
            ".",
            "./a",
            "a//b",
            "a/",
            ".env",
            "..a",
            "a..b",
            "a/..",
            "-rf",
            "a b",
            "[...slug].tsx",
            "routes/$id.tsx",
            "Foo$Bar.class",
            "100%",
            "100% sure.txt",
            "a%20b",
            "x~",
            "./~",
            "ab:c",
            "Zürich.md",
            "日本語/ノート。md",
            "می\u{200c}خواهم",
            "👩\u{200d}💻.md",
            "Notes… .md",
            "{a,b}.txt",
            "#x#",
            "a'b\"c",
        ] {
            assert!(examine(path.as_bytes()).is_ok(), "{path}: {:?}", examine(path.as_bytes()));
        }
    }

    #[test]
    fn what_tools_would_read_differently_is_refused() {
        let long = "a/".repeat(2048);
        let long_name = "a".repeat(256);
        let deep = "a/".repeat(257);
        for (path, rule) in [
            ("", PathRule::Empty),
            (&long, PathRule::TooLong),
            (&long_name, PathRule::TooLong),
            (&deep, PathRule::TooDeep),
            ("a\0b", PathRule::ControlCharacter),
            ("a\nb", PathRule::ControlCharacter),
            ("a\u{7f}", PathRule::ControlCharacter),
            ("a\u{9b}31m", PathRule::ControlCharacter),
            ("~", PathRule::Home),
            ("~/x", PathRule::Home),
            ("~root/x", PathRule::Home),
            ("$HOME/x", PathRule::Variable),
            ("${HOME}/x", PathRule::Variable),
            ("a/${HOME}", PathRule::Variable),
            ("a/$(id)", PathRule::Variable),
            ("a/`id`", PathRule::Variable),
            ("a/$EMPTY/../../b", PathRule::Variable),
            ("%USERPROFILE%/x", PathRule::Variable),
            ("%ProgramFiles(x86)%/x", PathRule::Variable),
            ("file:///etc/passwd", PathRule::Url),
            ("FILE:/etc/passwd", PathRule::Url),
            ("file:etc", PathRule::Url),
            ("file://localhost/etc/passwd", PathRule::Url),
            ("file://host.test/etc", PathRule::Url),
            ("https://a.test/x", PathRule::Url),
            ("jar:file:///x!/y", PathRule::Url),
            ("C:/x", PathRule::DriveLetter),
            ("c:x", PathRule::DriveLetter),
            ("a\\b", PathRule::Backslash),
            ("..\\..\\x", PathRule::Backslash),
            ("\\\\server\\share", PathRule::Backslash),
            ("...", PathRule::TrailingDot),
            (".. /x", PathRule::TrailingDot),
            ("a/.. /x", PathRule::TrailingDot),
            ("a/ ..", PathRule::TrailingDot),
            ("a./b", PathRule::TrailingDot),
            ("a ", PathRule::TrailingDot),
            (" a", PathRule::TrailingDot),
            ("a/\u{a0}", PathRule::TrailingDot),
            ("a\u{3000}/b", PathRule::TrailingDot),
            ("．．/x", PathRule::LookAlike),
            ("a／b", PathRule::LookAlike),
            ("a∕b", PathRule::LookAlike),
            ("a⁄b", PathRule::LookAlike),
            ("a⧸b", PathRule::LookAlike),
            ("a＼b", PathRule::LookAlike),
            ("․․/x", PathRule::LookAlike),
            ("․env", PathRule::LookAlike),
            ("‥/x", PathRule::LookAlike),
            ("…/x", PathRule::LookAlike),
            ("。。/x", PathRule::LookAlike),
            (".。/x", PathRule::LookAlike),
            ("～/x", PathRule::LookAlike),
            ("．", PathRule::LookAlike),
            ("a\u{202e}b", PathRule::Invisible),
            (".g\u{200c}it/x", PathRule::Invisible),
            (".git\u{200d}", PathRule::Invisible),
            (".\u{200b}./x", PathRule::Invisible),
            (".\u{feff}./x", PathRule::Invisible),
            ("{..,a}/x", PathRule::PatternClimbs),
            ("{a,../../etc}/x", PathRule::PatternClimbs),
        ] {
            assert_eq!(examine(path.as_bytes()), Err(rule), "{path:?}");
        }
        assert_eq!(examine(b"a\xff"), Err(PathRule::NotUtf8));
        assert_eq!(examine(b"a\xc0\xae"), Err(PathRule::NotUtf8), "an overlong dot");
    }

    #[test]
    fn the_shape_is_told() {
        let shape = |path: &str| examine(path.as_bytes()).unwrap();
        assert!(shape("/a").absolute && !shape("a").absolute);
        assert!(shape("../a").climbs_first && shape("./../a").climbs_first && !shape("a/..").climbs_first);
        assert!(shape("a/..").climbs && !shape("a/..b").climbs);
        assert!(shape("a%20").percent && !shape("é").ascii);
    }
}
