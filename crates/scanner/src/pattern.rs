//! One pattern, compiled: a regular expression, or several with gaps between them.
//!
//! `X.{0,120}?Y` makes automata of tens of thousands of states. X and Y by themselves make small ones, and that one follows
//! the other within 120 bytes is seen by their places. So patterns are taken apart at such gaps.

use std::ops::Range;

use regex_automata::meta::{self, Cache, Regex};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

/// A compiled pattern may not be larger; ours are far smaller.
const PATTERN_SIZE: usize = 4 << 20;
/// What a pattern may cache while it searches, one for each thread.
const CACHE: usize = 512 << 10;
/// Matches of one piece that may overlap; behind these, each begins where the one before ended.
const OVERLAPPING: usize = 64;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    first: Regex,
    rest: Vec<(PatternGap, Regex)>,
}

/// What may stand between two pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternGap {
    /// So many bytes at most, and none of these.
    Bytes(usize, &'static [u8]),
    /// So many words at most.
    Words(usize),
}

impl PatternGap {
    /// How many bytes it spans at most.
    fn most(&self) -> usize {
        match self {
            Self::Bytes(most, _) => *most,
            Self::Words(words) => (words + 1) * WORD,
        }
    }

    /// Whether this may stand there.
    fn allows(&self, between: &[u8]) -> bool {
        match self {
            Self::Bytes(_, without) => !between.iter().any(|byte| without.contains(byte)),
            Self::Words(most) => words_between(between).is_some_and(|words| words <= *most),
        }
    }
}

/// How many words stand in a text that begins and ends between words; none where a sentence ends in it, or a gap is too wide.
fn words_between(text: &[u8]) -> Option<usize> {
    let parts = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'.';
    if !text.first().is_some_and(parts) || !text.last().is_some_and(parts) {
        return None;
    }
    let (mut words, mut within, mut apart) = (0, false, 0);
    let mut before = b' ';
    for byte in text {
        let previous = std::mem::replace(&mut before, *byte);
        match byte {
            b' ' | b'\n' if previous == b'.' => return None,
            b'!' | b'?' => return None,
            b'\'' | b'_' | b'/' | b'-' if within => {}
            byte if byte.is_ascii_alphanumeric() || *byte == b'.' => {
                words += usize::from(!within);
                (within, apart) = (true, 0);
            }
            _ => {
                (within, apart) = (false, apart + 1);
                if apart > WIDEST {
                    return None;
                }
            }
        }
    }
    Some(words)
}

/// How many bytes part two words at most: spaces, marks, a line's end and its indentation.
pub(crate) const WIDEST: usize = 12;

/// How many bytes a word in a gap has on average at most, with what parts it from the next.
pub(crate) const WORD: usize = 40;

/// The gaps that patterns may have, as they are written. Each is followed by the number of bytes and `}?`.
const GAPS: &[(&str, &[u8])] = &[
    ("[^\\n]{0,", b"\n"),
    ("[^\\n|]{0,", b"\n|"),
    ("[^\\n)]{0,", b"\n)"),
    ("[^\\n`]{0,", b"\n`"),
    ("[^.\\n]{0,", b".\n"),
    ("[^.]{0,", b"."),
];

impl CompiledPattern {
    pub(crate) fn new(pattern: &str) -> Self {
        let (first, rest) = split_pieces(pattern);
        let rest = rest.into_iter().map(|(gap, piece)| (gap, compile(&piece))).collect();
        Self { first: compile(&first), rest }
    }

    /// One for the first piece, and one for each of the others.
    pub(crate) fn caches(&self) -> Vec<Cache> {
        let all = std::iter::once(&self.first).chain(self.rest.iter().map(|(_, regex)| regex));
        all.map(Regex::create_cache).collect()
    }

    /// The match that begins at the start of a range; of patterns without gaps.
    pub(crate) fn at(&self, caches: &mut [Cache], text: &[u8], range: Range<usize>) -> Option<Range<usize>> {
        let input = Input::new(text).range(range).anchored(Anchored::Yes);
        Some(self.first.search_with(caches.first_mut()?, &input)?.range())
    }

    /// Every match in a range.
    pub(crate) fn find_all(
        &self,
        caches: &mut [Cache],
        text: &[u8],
        range: Range<usize>,
    ) -> Vec<Range<usize>> {
        let Some((cache, caches)) = caches.split_first_mut() else { return Vec::new() };
        if self.rest.is_empty() {
            return find(&self.first, cache, text, range, 0);
        }
        // Most often the first piece is not there, and the others need not be looked for; nor before it where it is.
        let firsts = find(&self.first, cache, text, range.clone(), OVERLAPPING);
        let Some(start) = firsts.iter().map(|one| one.end).min() else { return firsts };
        // From the last piece to the second: what is left are matches from a piece to the end.
        let mut later: Option<Vec<Range<usize>>> = None;
        let mut gap: Option<&PatternGap> = None;
        for ((before, regex), cache) in self.rest.iter().zip(caches).rev() {
            let found = find(regex, cache, text, start..range.end, OVERLAPPING);
            let joined = join_pieces(text, found, gap, later);
            if joined.is_empty() {
                return joined;
            }
            (later, gap) = (Some(joined), Some(before));
        }
        join_pieces(text, firsts, gap, later)
    }
}

/// Matches of one piece that are followed by one of the next, each up to the end of that.
fn join_pieces(
    text: &[u8],
    found: Vec<Range<usize>>,
    gap: Option<&PatternGap>,
    later: Option<Vec<Range<usize>>>,
) -> Vec<Range<usize>> {
    let (Some(gap), Some(later)) = (gap, later) else { return found };
    let mut from = 0;
    let follow = |one: Range<usize>| {
        // Both lists are ordered by their starts; ends may be out of order by a little.
        while later.get(from).is_some_and(|next| next.start < one.start) {
            from += 1;
        }
        let near = later.get(from..)?.iter().take_while(|next| next.start <= one.end + gap.most());
        let mut near = near.filter(|next| next.start >= one.end);
        let next = near.find(|next| gap.allows(text.get(one.end..next.start).unwrap_or_default()))?;
        Some(one.start..next.end)
    };
    found.into_iter().filter_map(follow).collect()
}

/// Every match, the first of which may overlap.
fn find(
    regex: &Regex,
    cache: &mut Cache,
    text: &[u8],
    range: Range<usize>,
    overlapping: usize,
) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut input = Input::new(text).range(range);
    while let Some(found) = regex.search_with(cache, &input) {
        let next =
            if all.len() < overlapping { found.start() + 1 } else { found.end().max(found.start() + 1) };
        all.push(found.range());
        if next >= input.end() {
            break;
        }
        input.set_start(next);
    }
    all
}

/// A pattern taken apart at its gaps.
fn split_pieces(pattern: &str) -> (String, Vec<(PatternGap, String)>) {
    let (flags, body) = match pattern.strip_prefix("(?s)") {
        Some(body) => ("(?s)", body),
        None => ("", pattern),
    };
    let any: &[u8] = if flags.is_empty() { b"\n" } else { b"" };
    let mut parts = vec![String::from(flags)];
    let mut gaps = Vec::new();
    let (mut depth, mut class) = (0_usize, false);
    let mut at = 0;
    while let Some(rest) = body.get(at..).filter(|rest| !rest.is_empty()) {
        if depth == 0
            && !class
            && let Some((gap, length)) = parse_gap(rest, any)
        {
            gaps.push(gap);
            parts.push(String::from(flags));
            at += length;
            continue;
        }
        let mut characters = rest.chars();
        let c = characters.next().unwrap_or_default();
        let mut length = c.len_utf8();
        match c {
            '\\' => length += characters.next().map_or(0, char::len_utf8),
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth += 1,
            ')' if !class => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let (Some(part), Some(written)) = (parts.last_mut(), rest.get(..length)) {
            part.push_str(written);
        }
        at += length;
    }
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    (first, gaps.into_iter().zip(parts).collect())
}

/// A gap at the beginning of a text, and how long its spelling is.
fn parse_gap(text: &str, any: &'static [u8]) -> Option<(PatternGap, usize)> {
    if let Some(words) =
        text.strip_prefix('<').and_then(|rest| rest.get(..2)?.strip_suffix('>')?.parse().ok())
    {
        return Some((PatternGap::Words(words), 3));
    }
    let known = std::iter::once(&(".{0,", any))
        .chain(GAPS)
        .find_map(|(start, without)| text.starts_with(start).then_some((start.len(), *without)));
    let (start, without) = known?;
    let rest = text.get(start..)?;
    let digits = rest.find("}?")?;
    let most = rest.get(..digits)?.parse().ok()?;
    Some((PatternGap::Bytes(most, without), start + digits + 2))
}

/// Whether a pattern is taken apart.
#[cfg(test)]
pub(crate) fn has_gaps(pattern: &str) -> bool {
    !split_pieces(pattern).1.is_empty()
}

/// How many gaps of words a pattern is taken apart at.
#[cfg(test)]
pub(crate) fn word_gaps(pattern: &str) -> usize {
    split_pieces(pattern).1.iter().filter(|(gap, _)| matches!(gap, PatternGap::Words(_))).count()
}

pub(crate) fn compile(pattern: &str) -> Regex {
    let config =
        meta::Config::new().nfa_size_limit(Some(PATTERN_SIZE)).hybrid_cache_capacity(CACHE).utf8_empty(false);
    #[allow(clippy::expect_used)] // a test compiles every pattern
    meta::Builder::new()
        .configure(config)
        .build_from_hir(&parse(pattern))
        .expect("the rules' patterns compile")
}

pub(crate) fn parse(pattern: &str) -> Hir {
    let config = syntax::Config::new().case_insensitive(true).unicode(false).utf8(false);
    #[allow(clippy::expect_used)] // a test compiles every pattern
    syntax::parse_with(&expand(pattern), &config).expect("the rules' patterns are well-formed")
}

/// `\_` stands for what separates two words, `<3>` for up to three words between two others.
fn expand(pattern: &str) -> String {
    // Not across the end of a sentence.
    let gap = format!("[^a-z0-9.!?]{{1,{WIDEST}}}");
    let mut out = pattern.replace(r"\_", &gap);
    for words in 1..=9 {
        out = out.replace(&format!("<{words}>"), &format!(r"(?:{gap}[a-z0-9'_./-]+){{0,{words}}}{gap}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pattern_is_taken_apart_at_its_outer_gaps() {
        let (first, rest) = split_pieces(r"(?s)(?:a|b.{0,3}?c)[x\]].{0,12}?d[^\n|]{0,7}?\|e");
        assert_eq!(first, r"(?s)(?:a|b.{0,3}?c)[x\]]");
        assert_eq!(rest[0], (PatternGap::Bytes(12, b""), "(?s)d".to_owned()));
        assert_eq!(rest[1], (PatternGap::Bytes(7, b"\n|"), r"(?s)\|e".to_owned()));
        assert!(!has_gaps(r"[.{0,3}?]\.{0,3}?"), "a class, and a dot that is escaped");
    }

    #[test]
    fn words_between_two_others_are_counted() {
        for (text, expected) in [
            (" ", Some(0)),
            (" all the ", Some(2)),
            (" and/or don't-care ", Some(2)),
            ("\n   - all **of** ", Some(2)),
            ("s all ", None),
            (" all", None),
            (" all! the ", None),
            ("                    ", None),
            (" file.md of ", Some(2)),
            (" it. Then ", None),
        ] {
            assert_eq!(words_between(text.as_bytes()), expected, "{text:?}");
        }
    }

    proptest! {
        /// Where the whole pattern matches, so do its pieces, and the other way round.
        #[test]
        fn pieces_match_where_the_whole_does(text in "[abc|\n ]{0,60}") {
            for pattern in ["a{1,2}.{0,5}?bc", "(?s)a.{0,3}?b.{0,4}?c", r"ab[^\n|]{0,6}?c[^\n]{0,3}?a", r"(?s)a[^\n]{0,4}?(?:b|cc)\|"] {
                let whole = compile(pattern).is_match(&text);
                let compiled = CompiledPattern::new(pattern);
                let all = compiled.find_all(&mut compiled.caches(), text.as_bytes(), 0..text.len());
                prop_assert_eq!(!all.is_empty(), whole, "{} {:?}", pattern, all);
            }
        }
    }
}
