//! Characters that look like others (Unicode TS 39, from the crate `unicode-security` by `build.rs`).

use std::cmp::Ordering;

use unicode_normalization::UnicodeNormalization as _;

/// A line for each character that looks like something else: the character, and what it looks like, which is nothing for one that is not
/// seen. Sorted.
const LOOK_ALIKES: &str = include_str!(concat!(env!("OUT_DIR"), "/look_alikes.txt"));

/// What a text looks like: texts that look the same have the same skeleton.
pub(crate) fn skeleton(text: &str) -> impl Iterator<Item = char> {
    let shown = text.nfd().flat_map(|c| {
        let (itself, appearance) = appearance(c).map_or((Some(c), ""), |appearance| (None, appearance));
        itself.into_iter().chain(appearance.chars())
    });
    shown.nfd()
}

/// What a character looks like, where that is not itself.
fn appearance(c: char) -> Option<&'static str> {
    let table = LOOK_ALIKES.as_bytes();
    let (mut from, mut to) = (0, table.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let before = table.get(from..middle).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(from, |at| from + at + 1);
        let rest = LOOK_ALIKES.get(start..)?;
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        let mut characters = line.chars();
        match characters.next()?.cmp(&c) {
            Ordering::Equal => return Some(characters.as_str()),
            Ordering::Less => from = start + line.len() + 1,
            Ordering::Greater => to = start,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_security::confusable_detection::skeleton as reference;

    use super::*;

    fn check(text: &str) {
        assert_eq!(skeleton(text).collect::<String>(), reference(text).collect::<String>(), "{text:?}");
    }

    #[test]
    fn every_character_has_the_skeleton_that_unicode_gives_it() {
        let mut utf8 = [0; 4];
        ('\0'..=char::MAX).for_each(|c| check(c.encode_utf8(&mut utf8)));
        let letters: String = skeleton("р\u{430}ypal").collect();
        assert_eq!(letters, "paypal");
    }

    proptest! {
        #[test]
        fn texts_have_the_skeleton_that_unicode_gives_them(text in any::<String>()) {
            check(&text);
        }
    }
}
