//! Arguments in one line, so that a reader, and a comparison, sees where each begins and ends.

/// The words that begin a list of arguments in a recorded command: an argument of that name is quoted.
const KEYWORDS: [&str; 2] = ["only", "never"];

/// An argument as a shell would take it: plain where it is plain, in single quotes otherwise.
#[must_use]
pub(crate) fn quote_argument(argument: &str) -> String {
    let plain = |c: char| {
        c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '=' | ':' | '@' | '%' | '+' | ',')
    };
    if !argument.is_empty() && argument.chars().all(plain) && !KEYWORDS.contains(&argument) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

/// Several of them in one line.
pub(super) fn quote_words(words: &[String]) -> String {
    words.iter().map(|word| quote_argument(word)).collect::<Vec<_>>().join(" ")
}

/// A program and its rules about arguments, read back from one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RecordedCommand {
    pub(super) program: String,
    pub(super) only: Option<Vec<String>>,
    pub(super) never: Vec<String>,
}

impl RecordedCommand {
    /// `None` for a line that was not written by [`quote_words`].
    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = split_words(line)?.into_iter();
        let (program, _) = words.next()?;
        let mut command = Self { program, only: None, never: Vec::new() };
        let mut in_never = false;
        for (word, is_plain) in words {
            match (is_plain, word.as_str()) {
                (true, "only") if command.only.is_none() && !in_never => command.only = Some(Vec::new()),
                (true, "never") if !in_never => in_never = true,
                (true, "only" | "never") => return None,
                _ if in_never => command.never.push(word),
                _ => command.only.as_mut()?.push(word),
            }
        }
        Some(command)
    }

    /// Whether whoever may do this may do `other`.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let only = match (&self.only, &other.only) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(mine), Some(other)) => other.iter().all(|word| mine.contains(word)),
        };
        self.program == other.program && only && self.never.iter().all(|word| other.never.contains(word))
    }
}

/// The words of a line, and whether each stands there without quotes.
fn split_words(line: &str) -> Option<Vec<(String, bool)>> {
    let mut words = Vec::new();
    let mut rest = line.chars();
    let mut word: Option<(String, bool)> = None;
    while let Some(c) = rest.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' => {
                let (text, is_plain) = word.get_or_insert_with(|| (String::new(), false));
                *is_plain = false;
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '\\' => {
                let (text, is_plain) = word.get_or_insert_with(|| (String::new(), false));
                *is_plain = false;
                text.push(rest.next()?);
            }
            c => word.get_or_insert_with(|| (String::new(), true)).0.push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_command_is_read_back() {
        for words in
            [&["status"][..], &["a b", "it's"], &["only", "never"], &["", "'", "\\"], &["é\u{2028}x"]]
        {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let line = format!("git only {} never {}", quote_words(&words), quote_words(&words));
            let expected =
                RecordedCommand { program: "git".to_owned(), only: Some(words.clone()), never: words };
            assert_eq!(RecordedCommand::parse(&line), Some(expected), "{line}");
        }
        for line in ["git 'x", "git x", "git only a only b", "", "git never a never b", "git only \\"] {
            assert_eq!(RecordedCommand::parse(line), None, "{line}");
        }
    }
}
