//! Letters that are turned, exchanged or set apart.

use std::ops::Range;

use super::HiddenSink;
use crate::prefilter::TextSignals;
use crate::runs::fours;

/// Longer lines are data.
const LONGEST: usize = 4096;

/// Everything that is hidden in the order or the look of plain letters.
pub(super) fn uncover(text: &str, signals: TextSignals, push: HiddenSink<'_>) {
    let bytes = text.as_bytes();
    let turned = signals.has(TextSignals::ROT13) || signals.has(TextSignals::REVERSED);
    // Two glances over the whole, which most texts pass.
    if turned
        || close(fours(bytes, |[a, b, ..]| is_leet(a) & b.is_ascii_lowercase()), 4, 160)
        || is_spaced(bytes)
    {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let range = start..start + line.len();
            start = range.end;
            if line.len() <= LONGEST {
                in_line(line, &range, signals, push);
            }
        }
    }
    let marked = |at: usize| {
        let beside =
            |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let width = bytes.get(at..).map_or(1, |rest| rest.iter().take_while(|b| **b == b'*').count());
        beside(at.checked_sub(1)) && beside(Some(at + width))
    };
    if memchr::memchr_iter(b'*', bytes).any(marked) {
        push(text.replace('*', ""), 0..text.len(), "emphasis within words");
    }
}

fn in_line(line: &str, range: &Range<usize>, signals: TextSignals, push: HiddenSink<'_>) {
    if signals.has(TextSignals::ROT13) && TextSignals::ROT13.is_in(line) {
        push(rot13(line), range.clone(), "rot13");
    }
    if signals.has(TextSignals::REVERSED) && TextSignals::REVERSED.is_in(line) {
        push(line.trim_end().chars().rev().collect(), range.clone(), "reversed");
    }
    if line.bytes().filter(|b| is_leet(*b)).count() >= 4 && leet_words(line) >= 4 {
        push(unleet(line), range.clone(), "leet");
    }
    if is_spaced(line.as_bytes())
        && let Some(joined) = spaced(line)
    {
        push(joined, range.clone(), "spaced letters");
    }
    if let Some(joined) = is_spaced(line.as_bytes()).then(|| all_spaced(line)).flatten() {
        push(joined, range.clone(), "spaced letters");
    }
}

fn is_leet(byte: u8) -> bool {
    matches!(byte, b'0' | b'1' | b'3' | b'4' | b'5' | b'7')
}

/// Whether so many places lie so close together.
fn close(places: impl Iterator<Item = usize>, count: usize, span: usize) -> bool {
    let mut last = std::collections::VecDeque::with_capacity(count);
    for place in places {
        last.push_back(place);
        if last.len() == count && last.pop_front().is_some_and(|first| place - first <= span) {
            return true;
        }
    }
    false
}

/// Whether several letters stand with the same mark behind each.
#[allow(clippy::needless_bitwise_bool)] // without branches, the compiler looks at many bytes at once
fn is_spaced(bytes: &[u8]) -> bool {
    let mark = |b: u8| matches!(b, b' ' | b'.' | b'-' | b'_' | b'*');
    let apart =
        |[a, b, c, d]: [u8; 4]| a.is_ascii_alphabetic() & c.is_ascii_alphabetic() & (b == d) & mark(b);
    close(fours(bytes, apart), 2, 8)
}

fn rot13(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
            'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
            c => c,
        })
        .collect()
}

fn unleet(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '0' => 'o',
            '1' | '!' => 'i',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' => 't',
            c => c,
        })
        .collect()
}

/// Words in which digits stand for letters, with letters round them.
fn leet_words(line: &str) -> usize {
    let suspicious = |word: &&str| {
        let digits = word.chars().filter(|c| matches!(c, '0' | '1' | '3' | '4' | '5' | '7')).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        let hex = word.chars().all(|c| c.is_ascii_hexdigit());
        digits >= 1
            && letters >= 1
            && digits + letters == word.chars().count()
            && digits * 3 <= word.len() * 2
            && !hex
    };
    line.split(|c: char| c.is_whitespace() || matches!(c, '.' | ',' | '/' | ':')).filter(suspicious).count()
}

/// `i g n o r e`, `i.g.n.o.r.e`: runs of single letters with the same mark between them, put together.
fn spaced(line: &str) -> Option<String> {
    let mut out = String::with_capacity(line.len());
    let characters: Vec<char> = line.chars().collect();
    let mut at = 0;
    let mut joined = false;
    while let Some(&c) = characters.get(at) {
        let length = single_letters(characters.get(at..).unwrap_or_default());
        let begins = at == 0 || !characters.get(at - 1).is_some_and(|before| before.is_alphanumeric());
        if length >= 5 && begins {
            out.extend(characters.iter().skip(at).step_by(2).take(length));
            at += length * 2 - 1;
            // A wider gap is a space between words.
            let gap = characters.iter().skip(at).take_while(|c| **c == ' ').count();
            if gap > 0 {
                out.push(' ');
                at += gap;
            }
            joined = true;
            continue;
        }
        out.push(c);
        at += 1;
    }
    joined.then_some(out)
}

/// The letters of a line of which every second character separates, put together.
fn all_spaced(line: &str) -> Option<String> {
    let separators = line.bytes().filter(|b| matches!(b, b' ' | b'.' | b'-' | b'_' | b'*')).count();
    let singles = line.split([' ', '.', '-', '_', '*']).filter(|part| part.chars().count() == 1).count();
    if separators * 3 < line.len() || singles < 10 {
        return None;
    }
    // A wider gap is a space between words.
    let wide = line.replace("   ", "\u{1}").replace("  ", "\u{1}");
    let letter = |c: char| match c {
        '\u{1}' => Some(' '),
        ' ' => None,
        c => Some(c),
    };
    Some(wide.chars().filter_map(letter).collect())
}

/// How many single letters stand at the beginning, with the same mark between them.
fn single_letters(text: &[char]) -> usize {
    let Some(mark) = text.get(1).filter(|mark| matches!(mark, ' ' | '.' | '-' | '_' | '*')) else { return 0 };
    let mut letters = 0;
    let mut pairs = text.chunks(2);
    while let Some([letter, rest @ ..]) = pairs.next() {
        if !letter.is_alphabetic() {
            break;
        }
        match rest.first() {
            Some(next) if next == mark => letters += 1,
            // The last letter ends the run, unless a word goes on.
            Some(next) if next.is_alphanumeric() => break,
            _ => {
                letters += 1;
                break;
            }
        }
    }
    letters
}
