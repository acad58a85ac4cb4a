//! Words for a shell.

/// A word as it is typed into a POSIX shell, so that the shell reads exactly that word. A NUL, which no argument can hold, is
/// left out.
///
/// What it holds is not escaped for a terminal: see [`escape_line`](crate::escape_line).
///
/// ```
/// use skillsandbox_text::quote_word;
///
/// assert_eq!(quote_word("--city=Oslo"), "--city=Oslo");
/// assert_eq!(quote_word("a b"), "'a b'");
/// assert_eq!(quote_word("$(reboot)"), "'$(reboot)'");
/// ```
#[must_use]
pub fn quote_word(word: &str) -> String {
    // shlex would quote these too; a reader sees `a=b` better without.
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let quoted = shlex::try_quote(word).map(std::borrow::Cow::into_owned);
    quoted.unwrap_or_else(|_| quote_word(&word.replace('\0', "")))
}

/// Several words in one line, each [quoted](quote_word): one with a space in it does not look like two.
///
/// ```
/// use skillsandbox_text::quote_words;
///
/// assert_eq!(quote_words(["curl", "-d", "a b", ""]), "curl -d 'a b' ''");
/// ```
#[must_use]
pub fn quote_words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> String {
    words.into_iter().map(|word| quote_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// The words of a line that has nothing in it for a shell to do: plain words between spaces, or exactly what [`quote_words`] writes. `None` for
/// any other, such as one with an operator, a variable or a comment.
///
/// ```
/// use skillsandbox_text::split_words;
///
/// assert_eq!(split_words("ls 'a b'"), Some(vec!["ls".to_owned(), "a b".to_owned()]));
/// assert_eq!(split_words("ls || true"), None);
/// assert_eq!(split_words("ls $HOME"), None);
/// ```
#[must_use]
pub fn split_words(line: &str) -> Option<Vec<String>> {
    let plain: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if plain.iter().all(|word| quote_word(word) == *word) {
        return Some(plain);
    }
    shlex::split(line).filter(|words| quote_words(words) == line)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_shell_reads_the_word_that_was_meant() {
        for word in [
            "", "a", "a b", "it's", "\"", "$HOME", "`id`", "a\nb", "\\", "~", "=ls", "{a,b}", "*", "!x", "#",
            "é", "^a",
        ] {
            let script = format!("printf %s {}", quote_word(word));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word, "{script}");
        }
        assert_eq!(quote_word("a\0b"), "ab");
    }

    proptest! {
        #[test]
        fn words_come_back(words in prop::collection::vec("[^\0]{0,12}", 1..5)) {
            prop_assert_eq!(shlex::split(&quote_words(&words)), Some(words));
        }
    }
}
