//! Long runs of bytes of one kind, found without looking at most of the others.

use std::ops::Range;

/// Runs of at least `shortest` bytes of which each is of a kind. Such a run covers every `shortest`-th byte, so only those are
/// looked at until one fits.
pub(crate) fn runs(
    text: &[u8],
    shortest: usize,
    is: impl Fn(u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let probe = from + shortest - 1;
            if !is(*text.get(probe)?) {
                from = probe + 1;
                continue;
            }
            let before = text.get(from..probe)?.iter().rev().take_while(|b| is(**b)).count();
            let after = text.get(probe..)?.iter().take_while(|b| is(**b)).count();
            let run = probe - before..probe + after;
            from = run.end + 1;
            if run.len() >= shortest {
                return Some(run);
            }
        }
    })
}

/// Places at which four bytes are as asked. Texts are looked at piece by piece, so that the compiler can look at many bytes at
/// once, and one by one only in pieces that have such a place.
pub(crate) fn fours(text: &[u8], are: impl Fn([u8; 4]) -> bool + Copy) -> impl Iterator<Item = usize> {
    const PIECE: usize = 128;
    (0..text.len()).step_by(PIECE).flat_map(move |start| {
        let piece = text.get(start..text.len().min(start + PIECE + 3)).unwrap_or_default();
        let length = piece.len().saturating_sub(3);
        let from = |at: usize| piece.get(at..at + length).unwrap_or_default().iter().copied();
        let all = move || {
            from(0).zip(from(1)).zip(from(2).zip(from(3))).map(move |((a, b), (c, d))| are([a, b, c, d]))
        };
        let some = all().fold(false, |some, one| some | one);
        if some {
            all().enumerate().filter(|(_, is)| *is).map(|(at, _)| start + at).collect()
        } else {
            Vec::new()
        }
    })
}

/// Characters that are not ASCII, with their places; long stretches of ASCII are passed over at once.
pub(crate) fn foreign(text: &str) -> impl Iterator<Item = (usize, char)> {
    const STEP: usize = 32;
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        loop {
            let piece = bytes.get(at..bytes.len().min(at + STEP))?;
            if piece.is_empty() {
                return None;
            }
            match piece.iter().position(|b| !b.is_ascii()).filter(|_| !piece.is_ascii()) {
                None => at += piece.len(),
                Some(to) => {
                    let place = at + to;
                    let c = text.get(place..)?.chars().next()?;
                    at = place + c.len_utf8();
                    return Some((place, c));
                }
            }
        }
    })
}

/// The word round a place: letters and digits on both sides, a few dozen of them at most.
pub(crate) fn word_at(text: &str, place: usize) -> &str {
    const LONGEST: usize = 40;
    let part = |c: &char| c.is_alphanumeric();
    let (before, after) = text.split_at_checked(place).unwrap_or_default();
    let start: usize = before.chars().rev().take(LONGEST).take_while(part).map(char::len_utf8).sum();
    let end: usize = after.chars().take(LONGEST).take_while(part).map(char::len_utf8).sum();
    text.get(place - start..place + end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_word_is_found_from_any_of_its_letters() {
        let text = "an \u{456}gnore! \u{2014}";
        let found: Vec<_> = foreign(text).map(|(at, c)| (c, word_at(text, at))).collect();
        assert_eq!(found, [('\u{456}', "\u{456}gnore"), ('\u{2014}', "")]);
    }

    proptest! {
        #[test]
        fn every_foreign_character_is_found(text in "[a\u{e9}\u{2014}]{0,3}a{0,70}[a\u{1f600}]{0,40}") {
            let expected: Vec<_> = text.char_indices().filter(|(_, c)| !c.is_ascii()).collect();
            prop_assert_eq!(foreign(&text).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn every_four_is_found_once(text in "[ab]{0,400}") {
            let found: Vec<_> = fours(text.as_bytes(), |four| four == *b"abab").collect();
            let expected: Vec<_> = (0..text.len()).filter(|at| text[*at..].starts_with("abab")).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn every_long_run_is_found(text in "[ab ]{0,120}", shortest in 1_usize..12) {
            let found: Vec<_> = runs(text.as_bytes(), shortest, |b| b != b' ').map(|run| text[run].to_owned()).collect();
            let expected: Vec<_> = text.split(' ').filter(|word| word.len() >= shortest).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
