//! Chance that can be repeated: the same seed, skill and mutation give the same mutant, in whatever order they are made.

/// A small generator (`SplitMix64`). Nothing here needs secrecy or more than an even spread.
#[derive(Debug, Clone)]
pub(crate) struct SeededDice(u64);

impl SeededDice {
    /// Dice for one purpose: the words are mixed into the seed.
    pub(crate) fn new(seed: u64, words: &[&str]) -> Self {
        // FNV-1a, with a separator so that two words are not one longer word.
        let mut state = 0xcbf2_9ce4_8422_2325 ^ seed;
        for word in words {
            for byte in word.bytes().chain([0xff]) {
                state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        Self(state)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the bound; 0 where the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// Heads or tails.
    pub(crate) fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    /// One of several; `None` of none.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len()))
    }

    /// Puts a list into a chance order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_and_another_does_not() {
        let row = |seed, words: &[&str]| {
            let mut dice = SeededDice::new(seed, words);
            (0..20).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(row(1, &["a", "b"]), row(1, &["a", "b"]));
        assert_ne!(row(1, &["a", "b"]), row(2, &["a", "b"]));
        assert_ne!(row(1, &["a", "b"]), row(1, &["ab"]));
    }

    #[test]
    fn every_side_comes_up() {
        let mut dice = SeededDice::new(7, &[]);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[dice.below(6)] += 1;
        }
        assert!(seen.iter().all(|times| *times > 50), "{seen:?}");
        let mut list: Vec<_> = (0..50).collect();
        dice.shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
