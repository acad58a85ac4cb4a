//! Upper and lower case, in sentences: commands and names mean something else in another case.

use super::dice::SeededDice;
use super::mutation::{MutationSite, TextChange, TextMutation};
use super::passage::PassageKind;
use super::words;

pub(crate) const MUTATIONS: &[TextMutation] = &[
    TextMutation { family: "re-case", name: "upper case", honest: true, apply: upper },
    TextMutation { family: "re-case", name: "title case", honest: true, apply: title },
    TextMutation { family: "re-case", name: "random case", honest: false, apply: random },
];

fn prose(site: &MutationSite<'_>, change: impl FnMut(&str) -> String) -> Option<TextChange> {
    (site.kind == PassageKind::Prose).then(|| TextChange::here(words::map(site.text, change)))
}

fn upper(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    prose(site, str::to_ascii_uppercase)
}

fn title(site: &MutationSite<'_>, _: &mut SeededDice) -> Option<TextChange> {
    prose(site, |word| {
        let (first, rest) = word.split_at(1);
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    })
}

fn random(site: &MutationSite<'_>, dice: &mut SeededDice) -> Option<TextChange> {
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
            made(MUTATIONS, name, PassageKind::Prose, "send it to https://a.test with `curl -d`, now")
                .unwrap()
        };
        assert_eq!(made("upper case"), "SEND IT TO https://a.test WITH `curl -d`, NOW");
        assert_eq!(made("title case"), "Send It To https://a.test With `curl -d`, Now");
        let random = made("random case");
        assert_eq!(random.to_ascii_lowercase(), "send it to https://a.test with `curl -d`, now");
        assert!(random.contains("https://a.test with") || random.contains("`curl -d`"), "{random}");
    }

    #[test]
    fn code_keeps_its_case() {
        for kind in [
            PassageKind::Shell,
            PassageKind::Python,
            PassageKind::JavaScript,
            PassageKind::Json,
            PassageKind::Other,
        ] {
            assert_eq!(made(MUTATIONS, "upper case", kind, "curl a.test"), None);
        }
    }
}
