//! Upper and lower case, in sentences: commands and names mean something else in another case.

use super::dice::Dice;
use super::mutation::{Change, Mutation, Site};
use super::passage::Kind;
use super::words;

pub(crate) const MUTATIONS: &[Mutation] = &[
    Mutation { family: "re-case", name: "upper case", honest: true, apply: upper },
    Mutation { family: "re-case", name: "title case", honest: true, apply: title },
    Mutation { family: "re-case", name: "random case", honest: false, apply: random },
];

fn prose(site: &Site<'_>, change: impl FnMut(&str) -> String) -> Option<Change> {
    (site.kind == Kind::Prose).then(|| Change::here(words::map(site.text, change)))
}

fn upper(site: &Site<'_>, _: &mut Dice) -> Option<Change> {
    prose(site, str::to_ascii_uppercase)
}

fn title(site: &Site<'_>, _: &mut Dice) -> Option<Change> {
    prose(site, |word| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    })
}

fn random(site: &Site<'_>, dice: &mut Dice) -> Option<Change> {
    prose(site, |word| {
        let flip = |c: char| if dice.coin() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        word.chars().map(flip).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutation::testing::made;

    #[test]
    fn only_words_change_their_case() {
        let made = |name| {
            made(MUTATIONS, name, Kind::Prose, "send it to https://a.test with `curl -d`, now").unwrap()
        };
        assert_eq!(made("upper case"), "SEND IT TO https://a.test WITH `curl -d`, NOW");
        assert_eq!(made("title case"), "Send It To https://a.test With `curl -d`, Now");
        let random = made("random case");
        assert_eq!(random.to_ascii_lowercase(), "send it to https://a.test with `curl -d`, now");
        assert!(random.contains("https://a.test with") || random.contains("`curl -d`"), "{random}");
    }

    #[test]
    fn code_keeps_its_case() {
        for kind in [Kind::Shell, Kind::Python, Kind::JavaScript, Kind::Json, Kind::Other] {
            assert_eq!(made(MUTATIONS, "upper case", kind, "curl a.test"), None);
        }
    }
}
