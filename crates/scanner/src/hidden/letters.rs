//! Letters that are turned, exchanged or set apart.

use super::Push;
use crate::signals::Signals;

/// Longer lines are data.
const LONGEST: usize = 4096;

/// Everything that is hidden in the order or the look of plain letters.
pub(super) fn uncover(text: &str, signals: Signals, push: Push<'_>) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let range = start..start + line.len();
        start = range.end;
        if line.len() > LONGEST {
            continue;
        }
        if signals.has(Signals::ROT13) {
            push(rot13(line), range.clone(), "rot13");
        }
        if signals.has(Signals::REVERSED) {
            push(line.trim_end().chars().rev().collect(), range.clone(), "reversed");
        }
        if line.bytes().filter(u8::is_ascii_digit).count() >= 4 && leet_words(line) >= 4 {
            push(unleet(line), range.clone(), "leet");
        }
        if let Some(joined) = spaced(line) {
            push(joined, range, "spaced letters");
        }
    }
    let marked = |at: usize| {
        let beside = |at: Option<usize>| {
            at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_alphanumeric)
        };
        let width =
            text.as_bytes().get(at..).map_or(1, |rest| rest.iter().take_while(|b| **b == b'*').count());
        beside(at.checked_sub(1)) && beside(Some(at + width))
    };
    if memchr::memchr_iter(b'*', text.as_bytes()).any(marked) {
        push(text.replace('*', ""), 0..text.len(), "emphasis within words");
    }
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
    let bytes = line.as_bytes();
    let mark = |b: u8| matches!(b, b' ' | b'.' | b'-' | b'_' | b'*');
    // Of six letters set apart, two follow a byte whose place is a multiple of four.
    let apart = |four: &[u8]| match *four {
        [a, b, c, d] if mark(a) => a == c && b.is_ascii_alphabetic() && d.is_ascii_alphabetic(),
        [a, b, c, d] if mark(b) => b == d && a.is_ascii_alphabetic() && c.is_ascii_alphabetic(),
        _ => false,
    };
    if !bytes.chunks_exact(4).any(apart) {
        return None;
    }
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
