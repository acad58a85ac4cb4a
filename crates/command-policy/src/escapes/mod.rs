//! Commands that run other commands, or code that comes in an argument: an allowed one would be a door to every other.
//!
//! The table is data, one entry a way, in modules by kind. Each entry has examples of what it is for and what it is not for; a
//! test proves both.

mod build;
mod containers;
mod editors;
mod files;
mod git;
mod interpreters;
mod named;
mod network;
mod packages;
mod rare;
mod text;
mod versions;
mod wrappers;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use self::named::NamedJudgement;
use crate::words::CommandWords;

/// One way in which an allowed command runs others.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CommandEscape {
    /// Its name, such as `find/exec`; [`crate::CommandPolicyBuilder::dangerously_allow`] takes it.
    pub name: &'static str,
    /// The programs, without version numbers.
    pub commands: &'static [&'static str],
    pub(crate) when: EscapeTrigger,
    /// Why it is refused.
    pub reason: &'static str,
    /// What to do instead.
    pub instead: &'static str,
    /// Command lines it is for.
    pub matches: &'static [&'static str],
    /// Command lines of the same programs that pass.
    pub not_matches: &'static [&'static str],
}

/// What gives it away.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EscapeTrigger {
    /// The program does nothing else.
    Always,
    /// One of these options, in any spelling.
    Flags(ProgramFlags),
    /// The first argument that is not an option is one of these.
    Subcommand(&'static [&'static str]),
    /// An argument is one of these.
    Word(&'static [&'static str]),
    /// Something that only code can say; it returns the number of the argument.
    Judge(fn(&CommandWords) -> Option<usize>),
}

/// Options of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProgramFlags {
    /// Long ones, which programs take shortened: `--to-command`, but not `--to-stdout`.
    long: &'static [&'static str],
    /// Options in their own right that are a shorter form of one above.
    but: &'static [&'static str],
    /// Letters that may stand behind one dash, with others.
    short: &'static str,
    /// Letters that take what follows as their value, so that nothing behind them is an option.
    valued: &'static str,
    /// First letters of the long ones, a bit each: most words need no further look.
    firsts: u32,
}

impl ProgramFlags {
    pub(crate) const fn new(
        long: &'static [&'static str],
        but: &'static [&'static str],
        short: &'static str,
        valued: &'static str,
    ) -> Self {
        Self { long, but, short, valued, firsts: u32::MAX }
    }

    pub(crate) const fn long(long: &'static [&'static str]) -> EscapeTrigger {
        Self::both(long, "", "")
    }

    pub(crate) const fn both(
        long: &'static [&'static str],
        short: &'static str,
        valued: &'static str,
    ) -> EscapeTrigger {
        let mut flags = Self::new(long, &[], short, valued);
        flags.firsts = 0;
        let mut rest = long;
        while let [flag, others @ ..] = rest {
            if let [b'-', b'-', first, ..] = flag.as_bytes() {
                flags.firsts |= bit(*first);
            }
            rest = others;
        }
        EscapeTrigger::Flags(flags)
    }

    pub(crate) fn has(&self, word: &[u8]) -> bool {
        match word {
            [b'-', b'-', first, ..] if self.firsts & bit(*first) == 0 => false,
            [b'-', b'-', text @ ..] => {
                let mut name = None;
                let is_long = |flag: &&str| match flag.as_bytes() {
                    // Most differ in their first letter.
                    [b'-', b'-', flag @ ..] if flag.first() == text.first() => {
                        let end = || text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
                        let name = *name.get_or_insert_with(|| text.get(..end()).unwrap_or_default());
                        flag.starts_with(name)
                            && !self.but.iter().any(|but| but.as_bytes().get(2..) == Some(name))
                    }
                    _ => false,
                };
                !text.is_empty() && self.long.iter().any(is_long)
            }
            [b'-', letters @ ..] => {
                for letter in letters {
                    if self.short.as_bytes().contains(letter) {
                        return true;
                    }
                    if self.valued.as_bytes().contains(letter) || !letter.is_ascii_alphanumeric() {
                        return false;
                    }
                }
                false
            }
            _ => false,
        }
    }
}

/// A bit for a letter; some share one.
const fn bit(letter: u8) -> u32 {
    1 << (letter & 31)
}

impl CommandEscape {
    /// The number of the argument that gives it away, if one does; 0 for the program itself.
    pub(crate) fn find(&self, words: &CommandWords) -> Option<usize> {
        let any = |test: &dyn Fn(&[u8]) -> bool| {
            words.arguments().find(|(_, word)| test(word)).map(|(index, _)| index)
        };
        match self.when {
            EscapeTrigger::Always => Some(0),
            EscapeTrigger::Flags(flags) => any(&|word| flags.has(word)),
            EscapeTrigger::Subcommand(list) => {
                let (index, word) = words.arguments().find(|(_, word)| word.first() != Some(&b'-'))?;
                list.iter().any(|entry| entry.as_bytes() == word).then_some(index)
            }
            EscapeTrigger::Word(list) => any(&|word| list.iter().any(|entry| entry.as_bytes() == word)),
            EscapeTrigger::Judge(judge) => judge(words),
        }
    }
}

/// Whether a text is part of a word, in any letter case.
pub(crate) fn holds(word: &[u8], text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first(), text.last()) else { return true };
    // Signs are rarer than letters.
    if !last.is_ascii_alphabetic() && !word.contains(last) {
        return false;
    }
    let starts = word.iter().enumerate().filter(|(_, byte)| byte.eq_ignore_ascii_case(first));
    let mut parts = starts.map_while(|(at, _)| word.get(at..at + text.len()));
    parts.any(|part| part.eq_ignore_ascii_case(text))
}

/// The whole table.
pub fn escapes() -> impl Iterator<Item = &'static CommandEscape> {
    let tables = [
        wrappers::ENTRIES,
        interpreters::ENTRIES,
        text::ENTRIES,
        git::ENTRIES,
        versions::ENTRIES,
        files::ENTRIES,
        editors::ENTRIES,
        network::ENTRIES,
        build::ENTRIES,
        packages::ENTRIES,
        containers::ENTRIES,
        rare::ENTRIES,
    ];
    tables.into_iter().flatten()
}

/// The table by program, sorted. Made once: it is the same for every policy.
static BY_PROGRAM: LazyLock<Vec<(&'static str, Vec<&'static CommandEscape>)>> = LazyLock::new(|| {
    let mut programs: BTreeMap<&'static str, Vec<&'static CommandEscape>> = BTreeMap::new();
    for escape in escapes() {
        for command in escape.commands {
            programs.entry(command).or_default().push(escape);
        }
    }
    programs.into_iter().collect()
});

/// The entry that a command falls under, and the number of the argument that gives it away. Entries that were let pass by name do
/// not count. Of a program that a list names, by so many words, only what smuggles another command counts (see `named`).
pub(crate) fn find(
    words: &CommandWords,
    allowed: &[String],
    spelled: usize,
) -> Option<(&'static CommandEscape, usize)> {
    let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?;
    let exact = entries(file);
    let list = if exact.is_empty() { entries(without_version(file)) } else { exact };
    let mut list = list.iter().filter(|escape| !allowed.iter().any(|name| name == escape.name));
    list.find_map(|escape| {
        // What smuggles another command is refused whether the program was named or not.
        let found = match named::judge_named(escape.name, words, spelled) {
            NamedJudgement::Smuggled(smuggled) if spelled > 0 => smuggled,
            NamedJudgement::Smuggled(smuggled) => escape.find(words).or(smuggled),
            NamedJudgement::Unchanged => escape.find(words),
        };
        Some((*escape, found?))
    })
}

fn entries(name: &[u8]) -> &'static [&'static CommandEscape] {
    // Some systems do not tell letter case in names of files.
    let lower = |byte: &u8| byte.to_ascii_lowercase();
    let at = BY_PROGRAM.binary_search_by(|(known, _)| known.bytes().cmp(name.iter().map(lower)));
    at.ok().and_then(|at| BY_PROGRAM.get(at)).map_or(&[], |(_, list)| list)
}

/// `python` of `python3.12`, `vim` of `vim.tiny`, `gcc` of `gcc-13`.
fn without_version(name: &[u8]) -> &[u8] {
    let name = [&b".exe"[..], b".basic", b".tiny", b".gtk3", b".nox", b".openbsd", b".traditional"]
        .iter()
        .find_map(|ending| name.strip_suffix(*ending))
        .unwrap_or(name);
    let length = name.iter().rposition(|byte| !byte.is_ascii_digit() && !matches!(byte, b'.' | b'-'));
    length.and_then(|last| name.get(..=last)).unwrap_or(name)
}

/// The first argument from a place on that is no option, where these letters, and these long options, take the next argument as
/// their value.
pub(crate) fn first_operand(words: &CommandWords, valued: &str, long: &[&str]) -> Option<(usize, usize)> {
    let mut skip = false;
    for (index, word) in words.arguments() {
        if skip {
            skip = false;
        } else if word == b"--" {
            return Some((index + 1, index + 1)).filter(|(index, _)| *index < words.len());
        } else if let [b'-', letters @ ..] = word {
            let last = letters.iter().position(|letter| valued.as_bytes().contains(letter));
            skip = long.iter().any(|flag| flag.as_bytes() == word)
                || (letters.first() != Some(&b'-') && last.is_some_and(|at| at + 1 == letters.len()));
        } else {
            return Some((index, index));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::{CommandPolicy, CommandRule, GlobHandling};

    fn rule(policy: &CommandPolicy, line: &str) -> Option<CommandRule> {
        policy.check(line).denied().map(|denied| denied.rule)
    }

    #[test]
    fn every_entry_is_proved_by_its_examples() {
        let builder = || CommandPolicy::builder().globs(GlobHandling::Literal).root("/root-of-the-test");
        let policy = builder().build().unwrap();
        let mut names = HashSet::new();
        let mut wrong = Vec::new();
        for escape in escapes() {
            let name = escape.name;
            assert!(names.insert(name), "{name} is there twice");
            assert!(!escape.commands.is_empty() && escape.commands.iter().all(|c| !c.is_empty()), "{name}");
            assert!(!escape.matches.is_empty(), "{name} has no example");
            let always = matches!(escape.when, EscapeTrigger::Always);
            assert!(always != escape.not_matches.iter().any(|_| true), "{name}: examples of what passes");
            // Allowed by name, only another entry may still refuse it.
            let open = builder().dangerously_allow(name).build().unwrap();
            for line in escape.matches {
                if rule(&policy, line) != Some(CommandRule::RunsOthers(name)) {
                    wrong.push(format!("{name}: {line}: {:?}", policy.check(line)));
                }
                if !matches!(rule(&open, line), None | Some(CommandRule::RunsOthers(_))) {
                    wrong.push(format!("{name}, allowed: {line}: {:?}", open.check(line)));
                }
            }
            let passes = escape.not_matches.iter().filter(|line| !policy.check(line).is_allowed());
            wrong.extend(passes.map(|line| format!("{name}, should pass: {line}: {:?}", policy.check(line))));
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(names.len() > 60, "only {}", names.len());
    }

    #[test]
    fn every_program_of_an_entry_is_found_by_its_name_path_and_version() {
        let policy = CommandPolicy::builder().build().unwrap();
        let mut wrong = Vec::new();
        for escape in escapes().filter(|escape| matches!(escape.when, EscapeTrigger::Always)) {
            for command in escape.commands {
                let mut lines =
                    vec![format!("{command} x"), format!("bin/{command} x"), command.to_uppercase()];
                if !command.ends_with(|c: char| c.is_ascii_digit()) {
                    lines.push(format!("{command}2.7 x"));
                }
                let found = |line: &String| matches!(rule(&policy, line), Some(CommandRule::RunsOthers(_)));
                wrong.extend(lines.into_iter().filter(|line| !found(line)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn no_program_is_in_one_entry_twice() {
        for escape in escapes() {
            let names: HashSet<_> = escape.commands.iter().collect();
            assert_eq!(names.len(), escape.commands.len(), "{}", escape.name);
            assert!(escape.commands.iter().all(|name| *name == name.to_lowercase()), "{}", escape.name);
        }
    }

    #[test]
    fn versions_are_left_out() {
        for (name, expected) in [
            ("python3.12", "python"),
            ("gcc-13", "gcc"),
            ("vim.tiny", "vim"),
            ("node", "node"),
            ("7z", "7z"),
            ("42", "42"),
            ("", ""),
        ] {
            assert_eq!(without_version(name.as_bytes()), expected.as_bytes());
        }
    }
}
