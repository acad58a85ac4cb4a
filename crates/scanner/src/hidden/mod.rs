//! What a text hides, made readable: encodings, escapes, invisible and look-alike characters, turned and spaced letters.
//!
//! Each layer is taken off and looked at again, to a fixpoint within bounds.

mod characters;
mod encodings;
mod escapes;
mod letters;
mod shell;

use std::collections::HashSet;
use std::ops::Range;

use crate::prefilter::TextSignals;

pub(crate) use characters::{SELECTORS_IN_A_ROW, is_look_alike, is_misplaced};
pub(crate) use encodings::from_base64;
pub(crate) use shell::SHELL;

/// Takes a text that came to light, where it stands, and how it was hidden.
type HiddenSink<'p> = &'p mut dyn FnMut(String, Range<usize>, &'static str);

/// So deep all ways of hiding are looked for; deeper only encodings, which make what they hide a third longer each time.
const MAX_DEPTH: usize = 4;
/// Decoding goes no deeper, and says so.
const MAX_ENCODINGS: usize = 16;
/// Most decoded bytes of one text.
const MAX_DECODED: usize = 2 << 20;
/// Most words of one text that are tried as encodings, those left out that can only be hexadecimal; and most hidden texts that are looked at.
pub(crate) const MAX_PIECES: usize = 4000;

/// A text that was hidden in another.
#[derive(Clone, Debug)]
pub(crate) struct HiddenText {
    /// What it says.
    pub(crate) text: String,
    /// Where its outermost form stands.
    pub(crate) range: Range<usize>,
    /// How it was hidden, outermost first.
    pub(crate) chain: Vec<&'static str>,
}

/// Everything that is hidden in a text, to a fixpoint; and whether that is all, or a bound was met first. What a text gives signs
/// of is told; for each that came to light it is asked once, in the order in which they are returned.
pub(crate) fn uncover(
    text: &str,
    most_words: usize,
    signals: TextSignals,
    mut ask: impl FnMut(&HiddenText) -> TextSignals,
) -> (Vec<HiddenText>, bool) {
    let mut all: Vec<HiddenText> = Vec::new();
    // Two ways often lead to the same text.
    let mut seen: HashSet<String> = HashSet::new();
    let mut queue: Vec<HiddenText> = Vec::new();
    let mut budget = MAX_DECODED;
    let mut complete = layer(text, most_words, signals, &mut |hidden| queue.push(hidden));
    while let Some(found) = queue.pop() {
        if !seen.insert(found.text.clone()) {
            continue;
        }
        if found.text.len() > budget || all.len() >= MAX_PIECES {
            return (all, false);
        }
        budget -= found.text.len();
        let signals = ask(&found);
        let depth = found.chain.len();
        let mut deeper = |mut inner: HiddenText| {
            // What was seen already is not another layer.
            if depth < MAX_ENCODINGS {
                inner.range = found.range.clone();
                inner.chain = found.chain.iter().copied().chain(inner.chain).collect();
                queue.push(inner);
            } else if !seen.contains(&inner.text) {
                complete = false;
            }
        };
        let all_read = if depth < MAX_DEPTH {
            layer(&found.text, most_words, signals, &mut deeper)
        } else {
            encodings::uncover(&found.text, most_words, signals, &mut |text, range, how| {
                deeper(HiddenText { text, range, chain: vec![how] });
            })
        };
        complete &= all_read;
        all.push(found);
    }
    (all, complete)
}

/// Where an encoded archive stands in a text, and of which kind it is.
pub(crate) fn find_archive(text: &str) -> Option<(Range<usize>, &'static str)> {
    encodings::find_archive(text)
}

/// So many lines are looked for one by one, more by their hashes.
const FEW_LINES: usize = 12;

/// The lines of a text that another does not have, each with its neighbours: what a change of the whole brought to light.
fn new_lines(changed: &str, text: &str) -> String {
    let before: Vec<&str> = text.lines().collect();
    let lines: Vec<&str> = changed.lines().collect();
    // Most lines stand where they stood.
    let mut is_new: Vec<bool> = lines.iter().zip(&before).map(|(line, same)| line != same).collect();
    is_new.resize(lines.len(), true);
    let known = |line: &str| before.contains(&line);
    if is_new.iter().filter(|is_new| **is_new).count() <= FEW_LINES {
        for (is_new, line) in is_new.iter_mut().zip(&lines) {
            *is_new = *is_new && !known(line);
        }
    } else {
        let known: HashSet<&str> = before.iter().copied().collect();
        is_new = lines.iter().map(|line| !known.contains(line)).collect();
    }
    let near = |at: usize| (at.saturating_sub(1)..=at + 1).any(|at| is_new.get(at).copied().unwrap_or(false));
    let kept: Vec<&str> =
        lines.iter().enumerate().filter(|(at, _)| near(*at)).map(|(_, line)| *line).collect();
    kept.join("\n")
}

/// One layer of hiding; whether all of it was looked at.
fn layer(text: &str, most_words: usize, signals: TextSignals, add: &mut dyn FnMut(HiddenText)) -> bool {
    let mut push = |said: String, range: Range<usize>, how: &'static str| {
        // What changed the whole is looked at where it did.
        let said = if range == (0..text.len()) { new_lines(&said, text) } else { said };
        if !said.trim().is_empty() {
            add(HiddenText { text: said, range, chain: vec![how] });
        }
    };
    characters::uncover(text, &mut push);
    if signals.has(TextSignals::DEFANGED) {
        let plain = text.replace("hxxp", "http").replace("[:]", ":");
        let plain = ["[.]", "[dot]", "(dot)"].iter().fold(plain, |plain, dot| plain.replace(dot, "."));
        push(plain, 0..text.len(), "defanged address");
    }
    escapes::uncover(text, signals, &mut push);
    shell::uncover(text, signals, &mut push);
    letters::uncover(text, signals, &mut push);
    encodings::uncover(text, most_words, signals, &mut push)
}
