//! Lists for one program: which sub-commands it may be given, and which arguments refuse the call.

use std::collections::BTreeMap;

use crate::denied::{CommandDenial, CommandRule};
use crate::words::CommandWords;

#[derive(Clone, Debug, Default)]
pub(crate) struct ArgumentLists {
    pub(crate) allowed: BTreeMap<String, Vec<String>>,
    pub(crate) forbidden: BTreeMap<String, Vec<String>>,
}

impl ArgumentLists {
    pub(crate) fn check(&self, words: &CommandWords) -> Result<(), CommandDenial> {
        if self.allowed.is_empty() && self.forbidden.is_empty() {
            return Ok(());
        }
        let program = std::str::from_utf8(words.get(0).unwrap_or_default()).unwrap_or_default();
        if let Some(list) = self.allowed.get(program) {
            let first = words.get(1).unwrap_or_default();
            if !list.iter().any(|word| word.as_bytes() == first) {
                let reason =
                    format!("`{program}` may be given only some sub-commands, as its first argument");
                let hint = format!("use one of: {}", list.join(", "));
                let construct = [program.as_bytes(), b" ", first].concat();
                return Err(CommandDenial::new(
                    CommandRule::AllowedArgs,
                    construct,
                    words.position(1),
                    reason,
                    hint,
                ));
            }
        }
        for forbidden in self.forbidden.get(program).into_iter().flatten() {
            if let Some((index, word)) = words.arguments().find(|(_, word)| is_flag(word, forbidden)) {
                let reason = format!("`{program}` may not be given `{forbidden}`");
                return Err(CommandDenial::new(
                    CommandRule::ForbiddenArgs,
                    word,
                    words.position(index),
                    reason,
                    "leave it out",
                ));
            }
        }
        Ok(())
    }
}

/// Whether an argument is this flag (or this word) in one of its spellings: `--token`, `--token=x`, `-token`, a prefix such as
/// `--tok`, and for `-t` also `-xt` and `-tVALUE`. Which prefixes are unambiguous, and which letters take a value, only the
/// program knows, so any counts.
pub(crate) fn is_flag(word: &[u8], flag: &str) -> bool {
    let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
    if name == flag.as_bytes() || word == flag.as_bytes() {
        return true;
    }
    if let Some(long) = flag.strip_prefix("--") {
        let name = name.strip_prefix(b"--").or_else(|| {
            // Programs in Go take one dash for two; with one dash only the whole name counts.
            name.strip_prefix(b"-").filter(|name| *name == long.as_bytes())
        });
        return name.is_some_and(|name| !name.is_empty() && long.as_bytes().starts_with(name));
    }
    match flag.as_bytes() {
        [b'-', letter] => match word {
            [b'-', letters @ ..] if letters.first() != Some(&b'-') => {
                letters.iter().take_while(|byte| byte.is_ascii_alphanumeric()).any(|byte| byte == letter)
            }
            _ => false,
        },
        // `-exec`: Go and X programs take two dashes as well.
        [b'-', long @ ..] => name.strip_prefix(b"--") == Some(long),
        _ => false,
    }
}
