//! A sentence as words that may be changed and everything between them: inline code, addresses, paths and names stay.

/// Rewrites the plain words of a text. Case, spelling and spacing of anything that a program reads is left alone.
pub(crate) fn map(text: &str, mut change: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for (piece, is_word) in pieces(text) {
        if is_word {
            out.push_str(&change(piece));
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// Rewrites the single spaces between plain text, outside inline code.
pub(crate) fn map_spaces(text: &str, mut change: impl FnMut() -> String) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut quoted = false;
    for c in text.chars() {
        match c {
            '`' => {
                quoted = !quoted;
                out.push(c);
            }
            ' ' if !quoted => out.push_str(&change()),
            c => out.push(c),
        }
    }
    out
}

/// The text cut into words and what is between; put together they are the text.
pub(crate) fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    let mut quoted = false;
    let mut at = 0;
    for chunk in text.split_inclusive(char::is_whitespace) {
        let ticks = chunk.matches('`').count();
        let core = chunk.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
        // A word with a colon at the start of a line may be a key.
        let key = chunk.trim_end().ends_with(':')
            && (at == 0 || text[..at].trim_end_matches([' ', '\t']).ends_with('\n'));
        at += chunk.len();
        let plain = !quoted
            && !key
            && ticks == 0
            && !core.is_empty()
            && core.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '\'')
            && !chunk.contains(['$', '/', '\\', '=', '<', '>', '{', '}', '[', ']', '|', '&', '@']);
        quoted ^= ticks % 2 == 1;
        if plain {
            let start = chunk.find(core).unwrap_or(0);
            out.push((&chunk[..start], false));
            out.push((core, true));
            out.push((&chunk[start + core.len()..], false));
        } else {
            out.push((chunk, false));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_addresses_and_names_are_no_words() {
        let text = "Please (read) `the code here` at https://a.test/x, $HOME or ~/.ssh\nand don't stop.";
        let words: Vec<_> =
            pieces(text).into_iter().filter(|(_, word)| *word).map(|(piece, _)| piece).collect();
        assert_eq!(words, ["Please", "read", "at", "or", "and", "don't", "stop"]);
        assert_eq!(map(text, str::to_owned), text);
        let upper = |text| map(text, str::to_uppercase);
        assert_eq!(upper("name: a note: b\n  next: c"), "name: A NOTE: B\n  next: C");
        assert_eq!(map_spaces("a `b c` d", || "_".to_owned()), "a_`b c`_d");
    }
}
