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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_long_run_is_found(text in "[ab ]{0,120}", shortest in 1_usize..12) {
            let found: Vec<_> = runs(text.as_bytes(), shortest, |b| b != b' ').map(|run| text[run].to_owned()).collect();
            let expected: Vec<_> = text.split(' ').filter(|word| word.len() >= shortest).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
