//! Letters that look like others, in sentences: a model reads them, a comparison of bytes does not.

use super::dice::SeededDice;
use super::mutation::{MutationSite, TextChange, TextMutation};
use super::passage::PassageKind;
use super::words;

pub(crate) const MUTATIONS: &[TextMutation] = &[
    TextMutation { family: "look-alikes", name: "Cyrillic", honest: false, apply: cyrillic },
    TextMutation { family: "look-alikes", name: "Greek", honest: false, apply: greek },
    TextMutation { family: "look-alikes", name: "fullwidth", honest: false, apply: fullwidth },
    TextMutation { family: "look-alikes", name: "mathematical", honest: false, apply: mathematical },
    TextMutation { family: "look-alikes", name: "accents", honest: false, apply: accents },
    TextMutation { family: "look-alikes", name: "small capitals", honest: false, apply: small_capitals },
    TextMutation { family: "look-alikes", name: "digits for letters", honest: false, apply: digits },
];

const CYRILLIC: &[(char, char)] = &[
    ('a', 'а'),
    ('e', 'е'),
    ('o', 'о'),
    ('p', 'р'),
    ('c', 'с'),
    ('y', 'у'),
    ('x', 'х'),
    ('i', 'і'),
    ('s', 'ѕ'),
    ('j', 'ј'),
];
const GREEK: &[(char, char)] =
    &[('o', 'ο'), ('v', 'ν'), ('a', 'α'), ('i', 'ι'), ('u', 'υ'), ('p', 'ρ'), ('k', 'κ'), ('t', 'τ')];
const ACCENTS: &[(char, char)] = &[
    ('a', 'á'),
    ('e', 'é'),
    ('i', 'í'),
    ('o', 'ö'),
    ('u', 'ü'),
    ('n', 'ñ'),
    ('c', 'ç'),
    ('s', 'š'),
    ('y', 'ý'),
];
const SMALL_CAPITALS: &[(char, char)] = &[
    ('a', 'ᴀ'),
    ('b', 'ʙ'),
    ('c', 'ᴄ'),
    ('d', 'ᴅ'),
    ('e', 'ᴇ'),
    ('g', 'ɢ'),
    ('h', 'ʜ'),
    ('i', 'ɪ'),
    ('k', 'ᴋ'),
    ('l', 'ʟ'),
    ('m', 'ᴍ'),
    ('n', 'ɴ'),
    ('o', 'ᴏ'),
    ('p', 'ᴘ'),
    ('r', 'ʀ'),
    ('t', 'ᴛ'),
    ('u', 'ᴜ'),
    ('v', 'ᴠ'),
    ('w', 'ᴡ'),
    ('y', 'ʏ'),
];
const DIGITS: &[(char, char)] = &[('a', '4'), ('e', '3'), ('i', '1'), ('o', '0'), ('s', '5'), ('t', '7')];

/// One letter of each word, of those that have a twin.
fn one_a_word(site: &MutationSite<'_>, dice: &mut SeededDice, twins: &[(char, char)]) -> Option<TextChange> {
    words_of(site, |word| {
        let twin = |c: char| twins.iter().find(|(plain, _)| *plain == c).map(|(_, twin)| *twin);
        let places: Vec<usize> =
            word.char_indices().filter(|(_, c)| twin(*c).is_some()).map(|(at, _)| at).collect();
        let chosen = dice.pick(&places).copied();
        word.char_indices().map(|(at, c)| if Some(at) == chosen { twin(c).unwrap_or(c) } else { c }).collect()
    })
}

/// Every letter that has a twin.
fn every(site: &MutationSite<'_>, twin: impl Fn(char) -> char) -> Option<TextChange> {
    words_of(site, |word| word.chars().map(&twin).collect())
}

fn words_of(site: &MutationSite<'_>, change: impl FnMut(&str) -> String) -> Option<TextChange> {
    (site.kind == PassageKind::Prose).then(|| TextChange::here(words::map(site.text, change)))
}

/// The same letter so many places further on in Unicode.
fn shifted(c: char, upper: u32, lower: u32) -> char {
    let base = match c {
        'A'..='Z' => upper + (u32::from(c) - u32::from('A')),
        'a'..='z' => lower + (u32::from(c) - u32::from('a')),
        _ => return c,
    };
    char::from_u32(base).unwrap_or(c)
}

fn from_table(c: char, twins: &[(char, char)]) -> char {
    twins.iter().find(|(plain, _)| *plain == c.to_ascii_lowercase()).map_or(c, |(_, twin)| *twin)
}

fn cyrillic(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    one_a_word(site, dice, CYRILLIC)
}

fn greek(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    one_a_word(site, dice, GREEK)
}

fn fullwidth(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    every(site, |c| shifted(c, 0xff21, 0xff41))
}

fn mathematical(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    every(site, |c| shifted(c, 0x1d400, 0x1d41a))
}

fn accents(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
    one_a_word(site, dice, ACCENTS)
}

fn small_capitals(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    every(site, |c| from_table(c, SMALL_CAPITALS))
}

fn digits(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    every(site, |c| from_table(c, DIGITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutation::testing::made;

    #[test]
    fn each_alphabet_is_used_and_code_is_not_touched() {
        let made = |name| made(MUTATIONS, name, PassageKind::Prose, "ignore `code`").unwrap();
        assert_eq!(made("fullwidth"), "ｉｇｎｏｒｅ `code`");
        assert_eq!(made("mathematical"), "𝐢𝐠𝐧𝐨𝐫𝐞 `code`");
        assert_eq!(made("small capitals"), "ɪɢɴᴏʀᴇ `code`");
        assert_eq!(made("digits for letters"), "1gn0r3 `code`");
        for name in ["Cyrillic", "Greek", "accents"] {
            let out = made(name);
            assert_eq!(out.chars().filter(|c| !c.is_ascii()).count(), 1, "{out}");
            assert_eq!(out.chars().count(), "ignore `code`".len());
        }
    }

    #[test]
    fn twins_are_not_the_letters_themselves() {
        for (plain, twin) in [CYRILLIC, GREEK, ACCENTS, SMALL_CAPITALS].concat() {
            assert!(plain.is_ascii_lowercase() && !twin.is_ascii(), "{plain} {twin}");
        }
    }
}
