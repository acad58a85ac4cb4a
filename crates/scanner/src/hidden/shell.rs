//! Commands that are spelt so that a filter does not know them, and strings that are put together from pieces.

use super::HiddenSink;
use crate::prefilter::TextSignals;

/// How commands are hidden in a shell's spelling.
pub(crate) const SHELL: &str = "shell quoting";
/// Longer quotations are texts.
const LONGEST: usize = 400;

/// Everything that a shell or an interpreter would put together.
pub(super) fn uncover(text: &str, signals: TextSignals, push: HiddenSink<'_>) {
    let whole = 0..text.len();
    if signals.has(TextSignals::JOINED)
        && let Some(joined) = joined_strings(text)
    {
        push(joined, whole.clone(), "split strings");
    }
    if (signals.has(TextSignals::SHELL) || has_quotes_within_words(text.as_bytes()))
        && let Some(plain) = plain_words(text)
    {
        push(plain, whole, SHELL);
    }
}

/// `"cu" + "rl"` joined.
fn joined_strings(text: &str) -> Option<String> {
    const JOINTS: &[&str] = &[
        "\" + \"", "' + '", "\"+\"", "'+'", "\" . \"", "' . '", "\" \"", "' '", "\", \"", "', '", "\",\"",
        "','",
    ];
    let plus: usize = JOINTS.iter().take(6).map(|joint| text.matches(joint).count()).sum();
    let listed = ["\".join(", "'.join("].iter().any(|join| text.contains(join));
    if plus == 0 && !listed {
        return None;
    }
    let mut out = text.to_owned();
    for joint in JOINTS.iter().take(if listed { JOINTS.len() } else { 6 }) {
        out = out.replace(joint, "");
    }
    Some(out)
}

/// `$v$w`, `${v}${w}`, `${v}rl`: a word that is put together from variables.
fn has_variables_side_by_side(text: &[u8]) -> bool {
    memchr::memchr_iter(b'$', text).any(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let braced = rest.first() == Some(&b'{');
        let body = rest.get(usize::from(braced)..).unwrap_or_default();
        let name = body.iter().take(12).take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        let next = body.get(name + usize::from(braced)).copied().unwrap_or(b' ');
        name > 0 && (next == b'$' || (braced && next.is_ascii_alphanumeric()))
    })
}

/// Whether quotation marks or a backslash stand between the letters of a word.
fn has_quotes_within_words(text: &[u8]) -> bool {
    if memchr::memmem::find(text, b"$@").is_some() || has_variables_side_by_side(text) {
        return true;
    }
    memchr::memchr3_iter(b'\'', b'"', b'\\', text).any(|at| {
        let byte = |at: Option<usize>| at.and_then(|at| text.get(at)).copied().unwrap_or(b' ');
        let (before, mark, next) = (byte(at.checked_sub(1)), byte(Some(at)), byte(Some(at + 1)));
        if !before.is_ascii_alphanumeric() {
            return false;
        }
        match mark {
            b'\\' => next.is_ascii_alphabetic(),
            // Closed within a few letters, with more of the word behind it.
            _ => (1..8).any(|width| {
                byte(Some(at + width)) == mark && byte(Some(at + width + 1)).is_ascii_alphanumeric()
            }),
        }
    })
}

/// The text as a shell would read its words: without quotes, continuations, empty expansions, and with short variables put in.
fn plain_words(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for at in
        text.bytes().enumerate().filter(|(_, b)| matches!(b, b'\\' | b'$' | b'"' | b'\'')).map(|(at, _)| at)
    {
        // What was taken together with a mark before it.
        if at < done {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or_default());
        let in_word = out.ends_with(|c: char| c.is_ascii_alphanumeric());
        let (said, width) = shell_word(text.get(at..).unwrap_or_default(), in_word);
        out.push_str(&said);
        done = at + width;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    let out = with_variables(out);
    (out != text).then_some(out)
}

/// What stands for the beginning of a text in a shell's words, and how much of it that is.
fn shell_word(text: &str, in_word: bool) -> (String, usize) {
    for space in ["${IFS}", "${IFS%??}", "$IFS$9", "$IFS"] {
        if text.starts_with(space) {
            return (" ".to_owned(), space.len());
        }
    }
    for nothing in ["$@", "${@}", "$*", "\"\"", "''"] {
        if in_word && text.starts_with(nothing) {
            return (String::new(), nothing.len());
        }
    }
    let mut characters = text.chars();
    let first = characters.next().unwrap_or_default();
    let next = characters.next().unwrap_or_default();
    match (first, next) {
        ('\\', '\n') => (" ".to_owned(), 2),
        ('\\', '\r') => (" ".to_owned(), 3),
        ('\\', letter) if letter.is_ascii_alphabetic() && in_word => (String::new(), 1),
        ('$', '\'') => ansi_quoted(text).unwrap_or_else(|| (first.to_string(), 1)),
        ('"' | '\'', letter) if letter.is_ascii_alphanumeric() || letter == '/' => {
            let inner = text.get(1..).unwrap_or_default();
            let end = inner.bytes().take(13).position(|b| char::from(b) == first);
            let word = end
                .and_then(|end| inner.get(..end))
                .filter(|word| word.chars().all(|c| c.is_ascii_alphanumeric()));
            match word {
                // Part of a word, before or behind.
                Some(word)
                    if in_word
                        || inner
                            .get(word.len() + 1..)
                            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric())) =>
                {
                    (word.to_owned(), word.len() + 2)
                }
                _ => (first.to_string(), 1),
            }
        }
        _ => (first.to_string(), first.len_utf8()),
    }
}

/// `$'\\x63\\165rl'`.
fn ansi_quoted(text: &str) -> Option<(String, usize)> {
    let inner = text.get(2..)?;
    let end = inner.bytes().take(LONGEST).position(|b| b == b'\'')?;
    let mut out = String::new();
    let mut rest = inner.get(..end)?;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let body = tail.get(1..).unwrap_or_default();
        let (skip, radix, most) = match body.bytes().next() {
            Some(b'x') => (1, 16, 2),
            Some(b'u') => (1, 16, 4),
            _ => (0, 8, 3),
        };
        let digits: String = body.chars().skip(skip).take(most).take_while(|c| c.is_digit(radix)).collect();
        match u32::from_str_radix(&digits, radix).ok().and_then(char::from_u32) {
            Some(c) => {
                out.push(c);
                rest = body.get(skip + digits.len()..).unwrap_or_default();
            }
            None => rest = body,
        }
    }
    out.push_str(rest);
    Some((out, end + 3))
}

/// Short assignments put in where they are used: `v=cu; w=rl; $v$w`.
fn with_variables(text: String) -> String {
    if memchr::memchr(b'$', text.as_bytes()).is_none() {
        return text;
    }
    let mut known: Vec<(&str, &str)> = Vec::new();
    for statement in text.split(['\n', ';', '&']) {
        let Some((name, value)) = statement.trim().split_once('=') else { continue };
        let value = value.trim_matches(['"', '\'']);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | ':' | '-' | ' ');
        let is_name = !name.is_empty()
            && name.len() <= 12
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !value.is_empty() && value.len() <= 40 && value.chars().all(plain) && known.len() < 32 {
            known.push((name, value));
        }
    }
    if known.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, tail)) = rest.split_once('$') {
        out.push_str(before);
        let (braced, body) = tail.strip_prefix('{').map_or((false, tail), |body| (true, body));
        let width = body.bytes().take(12).take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let closed = !braced || body.as_bytes().get(width) == Some(&b'}');
        let named = known.iter().find(|(name, _)| Some(*name) == body.get(..width));
        if let Some((_, value)) = named.filter(|_| closed) {
            out.push_str(value);
            rest = body.get(width + usize::from(braced)..).unwrap_or_default();
        } else {
            out.push('$');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        for (written, read) in [
            (r#"cu""rl x"#, "curl x"),
            ("c'u'rl x", "curl x"),
            (r"ba\sh", "bash"),
            (r"$'\x63\165rl' x", "curl x"),
            ("v=cu; w=rl; $v$w x", "v=cu; w=rl; curl x"),
            ("v=cu; ${v}rl x", "v=cu; curl x"),
            ("nc${IFS}-l$IFS-p", "nc -l -p"),
            ("curl \\\n  x | sh", "curl    x | sh"),
            ("ca$@t x", "cat x"),
        ] {
            assert_eq!(plain_words(written).as_deref(), Some(read), "{written}");
        }
        for plain in ["don't stop", r#"say "hello there""#, "a=1; b=2", "$HOME/bin", "'quoted' words"] {
            assert_eq!(plain_words(plain), None, "{plain}");
        }
    }
}
