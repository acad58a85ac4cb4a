//! Which literals every match of a pattern holds, read off the pattern itself. The answers are kept in `anchors.rs`, because
//! finding them takes longer than scanning a skill.

use std::fmt::Write as _;
use std::ops::Range;

use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::anchor_table::{ANY, LiteralSet, PatternAnchors, SEPARATORS, anchors_by_rule};
use crate::checks;
use crate::engine::PatternEngine;
use crate::frequent::FREQUENT;
use crate::literals::SHORTEST;
use crate::pattern::{CompiledPattern, WIDEST, WORD, has_gaps, parse, word_gaps};
use crate::rule::RuleScope;
use crate::text::{PassageRole, split_plain};

/// Longer literals are not rarer, but cost more to compare.
const LONGEST: usize = 12;
/// Most sets of one pattern.
const MOST_SETS: usize = 4;
/// A set that stands more often than this in a mebibyte of ordinary text rules nothing out.
const COMMON: f64 = 3000.0;
/// What it costs, in nanoseconds, to note a literal, to search a pattern near one, and to try one that begins there.
const NOTE_COST: f64 = 10.0;
const SEARCH_COST: f64 = 4000.0;
const TRY_COST: f64 = 250.0;
/// How many bytes of ordinary text are looked at together: a passage.
const PASSAGE: f64 = 400.0;

/// What is known of every match of a pattern.
#[derive(Debug, PartialEq)]
struct DerivedAnchors {
    /// Whether each begins with a literal of the first set.
    begins: bool,
    /// How far from its beginning a literal of the first set stands at most.
    lead: Option<usize>,
    /// How long it is at most.
    length: Option<usize>,
    /// A sign that each holds, as rare as there is one; 0 for none.
    sign: u8,
    /// The sets in the order in which they stand in a match, each with the most bytes from the one before it.
    sets: Vec<(Option<usize>, Vec<String>)>,
}

/// Literals one of which stands in every match, and where.
#[derive(Clone, Debug)]
struct PlacedSet {
    words: Vec<String>,
    /// The part of the pattern.
    part: usize,
    /// Whether they stand anywhere in that part, or just where it begins.
    within: bool,
}

/// Every pattern's literals, as the text of `anchors.rs`.
fn render_table() -> String {
    let mut out = String::from(
        "//! For each pattern of each rule, sets of literals: every match holds one of each set, in this order.\n\
         //!\n\
         //! Made by `cargo xtask generate` from the patterns; a test compares. `anchor_table.rs` reads it.\n\n\
         /// One text, so that a program that never scans has nothing to prepare for it.\n\
         #[rustfmt::skip]\n\
         pub(super) const ANCHORS: &str = concat!(\n",
    );
    let bound = |most: &Option<usize>| most.map_or("ANY".to_owned(), |most| most.to_string());
    let escaped = |word: &String| {
        assert!(!word.contains(SEPARATORS), "{word:?} holds a separator");
        let quoted = format!("{word:?}");
        quoted[1..quoted.len() - 1].to_owned()
    };
    for rule in checks::pattern_rules() {
        let _ = writeln!(out, "    \"\\x03{}/{}\",", rule.info.check.as_str(), rule.info.id);
        for pattern in rule.patterns {
            let DerivedAnchors { begins, lead, length, sign, sets } =
                derive_anchors(pattern).unwrap_or_else(|| {
                    panic!("{}: no literal of {SHORTEST} bytes in every match of {pattern}", rule.info.id)
                });
            let set = |(most, words): &(Option<usize>, Vec<String>)| {
                let words: String = words.iter().map(|word| format!("\\0{}", escaped(word))).collect();
                format!("\\x01{}{words}", bound(most))
            };
            let sets: String = sets.iter().map(set).collect();
            let (lead, length) = (bound(&lead), bound(&length));
            let _ = writeln!(out, "    \"\\x02{begins} {lead} {length} {sign}{sets}\",");
        }
    }
    out.push_str(");\n");
    out
}

/// No row of the table is lost, and no literal, on the way to the engine.
#[test]
fn the_table_is_read_as_it_was_derived() {
    let bound = |most: Option<usize>| most.map_or(ANY, |most| u16::try_from(most).unwrap());
    let mut read = anchors_by_rule();
    for rule in checks::pattern_rules() {
        let derived = rule.patterns.iter().map(|pattern| {
            let DerivedAnchors { begins, lead, length, sign, sets } = derive_anchors(pattern).unwrap();
            let sets = sets.into_iter().map(|(most, words)| (bound(most), words)).collect::<Vec<_>>();
            (begins, bound(lead), bound(length), sign, sets)
        });
        let found = read.next().unwrap().map(|anchors| {
            let PatternAnchors { begins, lead, length, sign, sets } = anchors;
            let words =
                |set: LiteralSet| (set.most, set.literals.into_iter().map(str::to_owned).collect::<Vec<_>>());
            (begins, lead, length, sign, sets.into_iter().map(words).collect::<Vec<_>>())
        });
        assert_eq!(found.collect::<Vec<_>>(), derived.collect::<Vec<_>>(), "{}", rule.info.id);
    }
    assert!(read.next().is_none());
}

/// The sets of a pattern that are worth looking for.
fn derive_anchors(pattern: &str) -> Option<DerivedAnchors> {
    let hir = lowered(&parse(pattern));
    let parts = match hir.kind() {
        HirKind::Concat(parts) => parts.clone(),
        _ => vec![hir.clone()],
    };
    let placed = |part: usize| {
        let begin = beginnings(&Hir::concat(parts[part..].to_vec())).map(|words| (words, false));
        let within = required(&parts[part]).map(|words| (words, true));
        [begin, within].into_iter().flatten().map(move |(words, within)| PlacedSet { words, part, within })
    };
    let mut all: Vec<PlacedSet> = (0..parts.len()).flat_map(placed).collect();
    all.sort_by(|a, b| frequency(&a.words).total_cmp(&frequency(&b.words)));
    // Tried at its beginnings, a pattern costs little each time; searched for, it costs more, but only once.
    let begin = all.iter().position(|set| {
        set.part == 0 && !set.within && frequency(&set.words) <= COMMON && !has_gaps(pattern)
    });
    let begins = begin.is_some();
    let first = begin.unwrap_or(0);
    let mut sets = vec![all.get(first)?.clone()];
    let mut tries = frequency(&sets[0].words);
    for set in &all {
        let often = frequency(&set.words);
        let passes = (often * PASSAGE / f64::from(1 << 20)).min(1.0);
        let try_cost = if begins { TRY_COST } else { SEARCH_COST };
        let worth = tries * (1.0 - passes) * try_cost > often * NOTE_COST;
        if worth && sets.len() < MOST_SETS && sets.iter().all(|kept| tells_more(&parts, kept, set)) {
            tries *= passes;
            sets.push(set.clone());
        }
    }
    sets.sort_by_key(|set| set.part);
    let most = most_lengths(pattern, &parts);
    let sum = |range: Range<usize>| most[range].iter().copied().sum::<Option<usize>>();
    let inside = |set: &PlacedSet| if set.within { most[set.part] } else { Some(0) };
    let mut previous = 0;
    let mut placed = Vec::new();
    for set in &sets {
        let distance = sum(previous..set.part).zip(inside(set)).map(|(to, inside)| to + inside);
        placed.push((distance, set.words.clone()));
        previous = set.part;
    }
    let lead = placed[0].0.replace(0);
    let sign = required_sign(&parts);
    Some(DerivedAnchors { begins, lead, length: sum(0..parts.len()), sign, sets: placed })
}

/// The rarest sign that stands by itself in a pattern, so that every match holds it.
fn required_sign(parts: &[Hir]) -> u8 {
    // The rarest first.
    const SIGNS: &[u8] = b"^~\\;?!$@%&+}{]['<>|#=*_()\"`:";
    let bytes = |part: &Hir| match part.kind() {
        HirKind::Literal(literal) => literal.0.to_vec(),
        _ => Vec::new(),
    };
    let held: Vec<u8> = parts.iter().flat_map(bytes).collect();
    SIGNS.iter().copied().find(|sign| held.contains(sign)).unwrap_or(0)
}

/// Whether a set rules something out that another one does not, and stands before or behind that in every match.
fn tells_more(parts: &[Hir], kept: &PlacedSet, set: &PlacedSet) -> bool {
    let (first, last) = if kept.part < set.part { (kept, set) } else { (set, kept) };
    let between = &parts[first.part..last.part];
    let apart = first.within || between.iter().any(|part| part.properties().minimum_len() > Some(0));
    let told = |one: &PlacedSet, other: &PlacedSet| {
        one.words.iter().all(|word| other.words.iter().any(|longer| longer.contains(word.as_str())))
    };
    first.part < last.part && apart && !told(set, kept) && !told(kept, set)
}

/// How long each part is at most. What may stand between two words is counted as `pattern.rs` does.
fn most_lengths(pattern: &str, parts: &[Hir]) -> Vec<Option<usize>> {
    let gaps: Vec<Option<usize>> = parts.iter().map(words_in_gap).collect();
    let outer = gaps.iter().flatten().count() == word_gaps(pattern);
    let most = |(part, gap): (&Hir, Option<usize>)| match gap.filter(|_| outer) {
        // What parts the last of them from the next piece is a part of its own.
        Some(words) => Some((words + 1) * WORD - WIDEST),
        None => part.properties().maximum_len(),
    };
    parts.iter().zip(gaps).map(most).collect()
}

/// How many words a part stands for that is a gap between words.
fn words_in_gap(part: &Hir) -> Option<usize> {
    let HirKind::Repetition(Repetition { min: 0, max: Some(words), sub, .. }) = part.kind() else {
        return None;
    };
    let HirKind::Concat(parts) = sub.kind() else { return None };
    let [space, word] = parts.as_slice() else { return None };
    let is = |part: &Hir, least: usize, most: Option<usize>| {
        part.properties().minimum_len() == Some(least) && part.properties().maximum_len() == most
    };
    (is(space, 1, Some(WIDEST)) && is(word, 1, None)).then_some(usize::try_from(*words).ok()?)
}

/// How often any of these literals stands in a mebibyte of ordinary text, about.
fn frequency(literals: &[String]) -> f64 {
    let one = |word: &String| {
        // Three bytes fill the table of bits with whatever may follow them.
        let short = if word.len() <= SHORTEST { 200.0 } else { 0.0 };
        // A part of a word stands wherever the word does.
        let known =
            FREQUENT.iter().filter(|(known, _)| known.contains(word.as_str())).map(|(_, count)| *count);
        short + known.max().map_or(1.0, f64::from)
    };
    literals.iter().map(one).sum()
}

/// Literals one of which stands in every match.
fn required(hir: &Hir) -> Option<Vec<String>> {
    let mut best: Option<Vec<String>> = None;
    let mut offer = |found: Option<Vec<String>>| {
        if let Some(found) = found
            && best.as_ref().is_none_or(|best| frequency(&found) < frequency(best))
        {
            best = Some(found);
        }
    };
    offer(beginnings(hir));
    match hir.kind() {
        HirKind::Concat(parts) => {
            for (at, part) in parts.iter().enumerate() {
                offer(beginnings(&Hir::concat(parts[at..].to_vec())));
                offer(required(part));
            }
        }
        HirKind::Alternation(parts) => {
            let all: Option<Vec<Vec<String>>> = parts.iter().map(required).collect();
            offer(all.map(|all| reduced(all.concat())));
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => offer(required(&repetition.sub)),
        _ => {}
    }
    best
}

/// Literals one of which begins every match.
fn beginnings(hir: &Hir) -> Option<Vec<String>> {
    let mut extractor = Extractor::new();
    extractor.kind(ExtractKind::Prefix).limit_literal_len(LONGEST).limit_total(300).limit_class(6);
    let found = extractor.extract(hir);
    let literals = found.literals().filter(|literals| !literals.is_empty())?;
    let word = |bytes: &[u8]| {
        let mut word = String::from_utf8(bytes.to_vec()).ok()?;
        // Which space it is tells little.
        let stem = word.trim_end().len();
        if stem > SHORTEST {
            word.truncate(stem);
        }
        (word.len() >= SHORTEST).then_some(word)
    };
    Some(reduced(literals.iter().map(|literal| word(literal.as_bytes())).collect::<Option<_>>()?))
}

/// The same set without literals whose own beginning is in it.
fn reduced(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    let mut kept: Vec<String> = Vec::new();
    for word in words {
        if !kept.last().is_some_and(|last| word.starts_with(last.as_str())) {
            kept.push(word);
        }
    }
    kept
}

/// The same pattern with small letters alone where it takes both.
fn lowered(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Class(Class::Bytes(class)) => {
            let bytes: Vec<u8> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
            let small: Vec<u8> = bytes.iter().copied().filter(|b| !b.is_ascii_uppercase()).collect();
            let both = bytes
                .iter()
                .filter(|b| b.is_ascii_uppercase())
                .all(|b| small.contains(&b.to_ascii_lowercase()));
            match small.as_slice() {
                [one] if both => Hir::literal([*one]),
                several if both && several.len() <= 6 => {
                    Hir::alternation(several.iter().map(|one| Hir::literal([*one])).collect())
                }
                _ => hir.clone(),
            }
        }
        HirKind::Capture(capture) => lowered(&capture.sub),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(lowered(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(lowered).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(lowered).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

/// `cargo xtask generate` sets the variable, and then the table is written instead of compared.
#[test]
fn the_anchors_are_those_of_the_patterns() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/anchors.rs");
    let table = render_table();
    if std::env::var_os("SKILLSANDBOX_GENERATE").is_some() {
        std::fs::write(file, table).unwrap();
        return;
    }
    let there = std::fs::read_to_string(file).unwrap();
    assert!(there == table, "src/anchors.rs is stale: run `cargo xtask generate`");
}

#[test]
fn a_literal_is_found_wherever_a_pattern_requires_one() {
    for (pattern, begins, expected) in [
        ("disregard|ignore", true, r#"[(Some(0), ["disregard", "ignore"])]"#),
        (r"\bcurl\s+-k", true, r#"[(Some(0), ["curl"])]"#),
        (r"[a-z]+ (?:password|secret)s?", false, r#"[(Some(0), [" password", " secret"])]"#),
        (
            r"(?:[a-z]+) (?:disclose|mention)<2>(?:operator|owner)",
            false,
            r#"[(Some(0), [" disclose", " mention"]), (Some(129), ["operator", "owner"])]"#,
        ),
        (r"a(?:bcdef)+", true, r#"[(Some(0), ["abcdef"])]"#),
    ] {
        let found = derive_anchors(pattern).unwrap();
        assert_eq!((found.begins, format!("{:?}", found.sets).as_str()), (begins, expected), "{pattern}");
    }
    assert!(derive_anchors("[a-z]+ (?:x|y)?").is_none());
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (usize::try_from(self.0 >> 33).unwrap()) % most.max(1)
    }
}

/// Appends something that a pattern matches, of its shortest and its longest forms, too.
fn write_match(hir: &Hir, dice: &mut Dice, out: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Literal(literal) => out.extend(&literal.0),
        HirKind::Class(Class::Bytes(class)) => {
            let all: Vec<u8> = class.iter().flat_map(|range| range.start()..=range.end()).collect();
            let plain: Vec<u8> = all.iter().copied().filter(|b| matches!(b, b' '..=b'~')).collect();
            let from = if plain.is_empty() { all } else { plain };
            out.push(from[dice.below(from.len())]);
        }
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            out.extend(ranges[dice.below(ranges.len())].start().to_string().bytes());
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min + 3).min(repetition.min + 200);
            let often = match dice.below(3) {
                0 => repetition.min,
                1 => most,
                _ => {
                    repetition.min + u32::try_from(dice.below((most - repetition.min + 1) as usize)).unwrap()
                }
            };
            (0..often).for_each(|_| write_match(&repetition.sub, dice, out));
        }
        HirKind::Capture(capture) => write_match(&capture.sub, dice, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write_match(part, dice, out)),
        HirKind::Alternation(parts) => write_match(&parts[dice.below(parts.len())], dice, out),
        HirKind::Empty | HirKind::Look(_) => {}
    }
}

/// What a pattern matches in a text, the engine finds in it: no literal, order, distance or sign keeps it from being tried.
#[test]
fn every_match_is_found_by_its_anchors() {
    let rules = checks::pattern_rules();
    let engine = PatternEngine::new(rules.clone());
    let mut dice = Dice(1);
    let mut tried = 0;
    for rule in rules.iter().filter(|rule| rule.near.is_empty()) {
        let role = if rule.scope == RuleScope::Code { PassageRole::Code } else { PassageRole::Instruction };
        for pattern in rule.patterns {
            let (hir, compiled) = (parse(pattern), CompiledPattern::new(pattern));
            for _ in 0..12 {
                let mut text = b"Words before it,\n".to_vec();
                write_match(&hir, &mut dice, &mut text);
                text.extend(b"\nand words behind it.\n");
                // Longer ones are cut, as everywhere.
                if text.len() > 700
                    || compiled.find_all(&mut compiled.caches(), &text, 0..text.len()).is_empty()
                {
                    continue;
                }
                tried += 1;
                let hits = engine.search(&text, &split_plain(&text, role)).hits;
                let found = hits.iter().any(|hit| hit.rule.info == rule.info);
                assert!(found, "{}: {pattern}\n{}", rule.info.id, String::from_utf8_lossy(&text));
            }
        }
    }
    assert!(tried > 1500, "{tried} texts are few");
}
