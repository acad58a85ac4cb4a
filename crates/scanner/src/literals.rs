//! Where any of a thousand words stands in a text, whatever its case: the first of two steps that make the scanner fast.
//!
//! Aho-Corasick answers the same question. A benchmark keeps the two side by side (`benches/scanner.rs`, group `literals`): its fastest automaton
//! over these words takes ten times as long to build and twice as long to search, because it leaves the processor's first cache while it runs.
//! Here, four bytes at a time are looked up in a table of bits that stays in it, and only where the bit is set is a word compared.

/// Words are at least as long.
pub(crate) const SHORTEST: usize = 3;
/// So many bytes are looked up at once.
const WINDOW: usize = 4;
/// The table has two to the power of this many bits.
const FILTER_BITS: u32 = 18;
const FILTER_WORDS: usize = 1 << (FILTER_BITS - 6);
/// And the lists of words behind it, two to the power of this.
const BUCKET_BITS: u32 = 13;

/// Words to be found, all at once.
#[derive(Debug)]
pub(crate) struct LiteralSearch {
    words: Vec<&'static str>,
    /// One bit for each hash of a word's beginning.
    filter: Vec<u64>,
    /// Where in `entries` a bucket begins; one more than there are buckets.
    buckets: Vec<u32>,
    /// The words, by bucket.
    entries: Vec<WordEntry>,
}

/// A word in a bucket: its first eight bytes, so that most that only begin alike are told apart at once.
#[derive(Clone, Copy, Debug, Default)]
struct WordEntry {
    start: u32,
    number: u32,
    /// The four bytes behind the first four, as far as the word goes, and which of their bits those are.
    next: u32,
    mask: u32,
}

impl LiteralSearch {
    /// Words in lower case, none shorter than [`SHORTEST`] (those would never be found).
    pub(crate) fn new(words: Vec<&'static str>) -> Self {
        let mut filter = vec![0; FILTER_WORDS];
        let mut entries: Vec<WordEntry> = Vec::with_capacity(words.len());
        let mut add = |start: [u8; WINDOW], rest: &[u8], number: u32| {
            let start = folded(start);
            let hash = hashed(start);
            if let Some(bits) = filter.get_mut(hash as usize >> 6) {
                *bits |= 1 << (hash & 63);
            }
            let mask = rest.iter().take(WINDOW).enumerate().fold(0, |mask, (at, _)| mask | 0xff << (8 * at));
            entries.push(WordEntry { start, number, next: second(rest) & mask, mask });
        };
        for (number, word) in (0_u32..).zip(&words) {
            match *word.as_bytes() {
                [a, b, c, d, ref rest @ ..] => add([a, b, c, d], rest, number),
                // Whatever comes behind it.
                [a, b, c] => {
                    (0..=u8::MAX).filter(|d| d & 0x20 != 0).for_each(|d| add([a, b, c, d], &[], number));
                }
                _ => {}
            }
        }
        let bucket_of = |entry: &WordEntry| bucket(hashed(entry.start)) as usize;
        let mut buckets: Vec<u32> = vec![0; (1 << BUCKET_BITS) + 1];
        for entry in &entries {
            if let Some(end) = buckets.get_mut(bucket_of(entry) + 1) {
                *end += 1;
            }
        }
        let mut sum = 0;
        for end in &mut buckets {
            sum += *end;
            *end = sum;
        }
        // Each to the next free place of its bucket: with so many copies of short words, sorting takes longer.
        let mut free = buckets.clone();
        let mut placed = vec![WordEntry::default(); entries.len()];
        for entry in entries {
            if let Some(next) = free.get_mut(bucket_of(&entry))
                && let Some(place) = placed.get_mut(*next as usize)
            {
                *place = entry;
                *next += 1;
            }
        }
        let entries = placed;
        Self { words, filter, buckets, entries }
    }

    pub(crate) fn words(&self) -> &[&'static str] {
        &self.words
    }

    /// Calls back with the place and the number of every word in the text, in the order of their places.
    pub(crate) fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        // With its size known, the compiler needs no check that a place lies in it.
        let Some(filter) = self.filter.first_chunk::<FILTER_WORDS>() else { return };
        let mut look = |at: usize, window: [u8; WINDOW]| {
            let key = folded(window);
            let hash = hashed(key);
            let bits = filter.get((hash >> 6) as usize & (FILTER_WORDS - 1)).copied().unwrap_or(0);
            if bits >> (hash & 63) & 1 == 1 {
                self.compare(text, at, key, hash, &mut found);
            }
        };
        for (at, window) in text.windows(WINDOW).enumerate() {
            if let &[a, b, c, d] = window {
                look(at, [a, b, c, d]);
            }
        }
        // A short word may end the text.
        if let Some(&[a, b, c]) = text.last_chunk::<SHORTEST>() {
            look(text.len() - SHORTEST, [a, b, c, 0]);
        }
    }

    #[inline(never)]
    fn compare(&self, text: &[u8], at: usize, key: u32, hash: u32, found: &mut impl FnMut(usize, usize)) {
        let bucket = bucket(hash) as usize;
        let (Some(start), Some(end)) = (self.buckets.get(bucket), self.buckets.get(bucket + 1)) else {
            return;
        };
        let next = second(text.get(at + WINDOW..).unwrap_or_default());
        for entry in self.entries.get(*start as usize..*end as usize).unwrap_or_default() {
            if entry.start != key || entry.next != next & entry.mask {
                continue;
            }
            let number = entry.number as usize;
            let Some(word) = self.words.get(number).map(|word| word.as_bytes()) else { continue };
            if text.get(at..at + word.len()).is_some_and(|there| there.eq_ignore_ascii_case(word)) {
                found(at, number);
            }
        }
    }
}

/// Four bytes with their letters in lower case. Other bytes change too, but in words and text alike.
fn folded(bytes: [u8; WINDOW]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

/// The first four bytes of what follows, folded; zeros where it ends before.
fn second(rest: &[u8]) -> u32 {
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; WINDOW];
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        bytes
    });
    folded(bytes)
}

fn hashed(key: u32) -> u32 {
    key.wrapping_mul(0x9e37_79b1) >> (32 - FILTER_BITS)
}

fn bucket(hash: u32) -> u32 {
    hash >> (FILTER_BITS - BUCKET_BITS)
}

#[cfg(test)]
mod tests {
    use aho_corasick::AhoCorasick;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same answer as Aho-Corasick gives.
        #[test]
        fn finds_what_aho_corasick_finds(
            words in prop::collection::hash_set("[ab_.][ab ]{2,6}", 1..30),
            text in "[abAB_. \u{e9}]{0,400}",
        ) {
            let words: Vec<&'static str> = words.into_iter().map(|word| &*word.leak()).collect();
            let other = AhoCorasick::builder().ascii_case_insensitive(true).build(&words).unwrap();
            let mut expected: Vec<_> =
                other.find_overlapping_iter(&text).map(|found| (found.start(), found.pattern().as_usize())).collect();
            let mut found = Vec::new();
            LiteralSearch::new(words).find(text.as_bytes(), |at, number| found.push((at, number)));
            expected.sort_unstable();
            prop_assert!(found.is_sorted_by_key(|(at, _)| *at));
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_text_may_be_shorter_than_a_word_or_end_within_one() {
        let literals = LiteralSearch::new(vec!["word", "wordy", "ord"]);
        for (text, expected) in [("", 0), ("wor", 0), ("ORD", 1), ("WORD", 2), ("xWoRdY", 3), ("wordwor", 2)]
        {
            let mut count = 0;
            literals.find(text.as_bytes(), |_, _| count += 1);
            assert_eq!(count, expected, "{text}");
        }
    }
}
