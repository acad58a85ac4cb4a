//! Which literals every match of a pattern holds, read off the pattern itself. The answers are kept in `anchors.rs`, because
//! finding them takes longer than scanning a skill.

use std::fmt::Write as _;

use regex_syntax::hir::literal::{ExtractKind, Extractor};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::checks;
use crate::frequent::FREQUENT;
use crate::literals::SHORTEST;
use crate::pattern::{has_gaps, parse};

/// Longer literals are not rarer, but cost more to compare.
const LONGEST: usize = 12;
/// Most sets of one pattern: a bit each.
const MOST_SETS: usize = 4;
/// A set that stands more often than this in a mebibyte of ordinary text rules nothing out.
const COMMON: f64 = 3000.0;

/// Every pattern's literals, as the text of `anchors.rs`.
fn render_table() -> String {
    let mut out = String::from(
        "//! For each pattern of each rule, sets of literals: every match holds one of each set.\n\
         //!\n\
         //! Made by `cargo xtask generate` from the patterns; a test compares.\n\n\
         /// Literals one of which every match holds.\n\
         pub(crate) type LiteralSet = &'static [&'static str];\n\n\
         /// A rule, and for each of its patterns whether every match begins with a literal of the first set, and the sets.\n\
         pub(crate) type RuleAnchors = (&'static str, &'static [(bool, &'static [LiteralSet])]);\n\n\
         #[rustfmt::skip]\n\
         pub(crate) const ANCHORS: &[RuleAnchors] = &[\n",
    );
    for rule in checks::pattern_rules() {
        let _ = writeln!(out, "    (\"{}/{}\", &[", rule.info.check.as_str(), rule.info.id);
        for pattern in rule.patterns {
            let (begins, literals) = derive_anchors(pattern).unwrap_or_else(|| {
                panic!("{}: no literal of {SHORTEST} bytes in every match of {pattern}", rule.info.id)
            });
            let sets: Vec<String> = literals.iter().map(|set| format!("&{set:?}")).collect();
            let _ = writeln!(out, "        ({begins}, &[{}]),", sets.join(", "));
        }
        out.push_str("    ]),\n");
    }
    out.push_str("];\n");
    out
}

/// The sets of a pattern, the rarest first, and whether each match begins with a literal of the first.
fn derive_anchors(pattern: &str) -> Option<(bool, Vec<Vec<String>>)> {
    let hir = lowered(&parse(pattern));
    let mut sets = match hir.kind() {
        HirKind::Concat(parts) => (0..parts.len())
            .filter_map(|at| beginnings(&Hir::concat(parts[at..].to_vec())).or_else(|| required(&parts[at])))
            .collect(),
        _ => Vec::new(),
    };
    sets.extend(required(&hir));
    sets.sort_by(|a, b| frequency(a).total_cmp(&frequency(b)));
    // What another set says already.
    let all = sets.clone();
    let mut number = 0;
    sets.retain(|set| {
        let told = |other: &Vec<String>| {
            set.iter().all(|word| other.iter().any(|longer| longer.contains(word.as_str())))
        };
        let same = all.iter().take(number).any(|other| other == set);
        number += 1;
        !same && !all.iter().any(|other| other != set && told(other))
    });
    let least = sets.first().map(|set| frequency(set))?;
    sets.retain(|set| frequency(set) <= COMMON.max(least));
    sets.truncate(MOST_SETS);
    // Tried at its beginnings, a pattern costs little each time; searched for, it costs more, but only once.
    match beginnings(&hir) {
        Some(begin) if frequency(&begin) <= COMMON && !has_gaps(pattern) => {
            sets.retain(|set| *set != begin);
            sets.insert(0, begin);
            sets.truncate(MOST_SETS);
            Some((true, sets))
        }
        _ => Some((false, sets)),
    }
}

/// How often any of these literals stands in a mebibyte of ordinary text, about.
fn frequency(literals: &[String]) -> f64 {
    let one = |word: &String| {
        // Three bytes fill the table of bits with whatever may follow them.
        let short = if word.len() <= SHORTEST { 200.0 } else { 0.0 };
        let known = FREQUENT.iter().find(|(known, _)| known == word);
        short + known.map_or(1.0, |(_, count)| f64::from(*count))
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
        ("disregard|ignore", true, r#"[["disregard", "ignore"]]"#),
        (r"\bcurl\s+-k", true, r#"[["curl"]]"#),
        (r"[a-z]+ (?:password|secret)s?", false, r#"[[" password", " secret"]]"#),
        (
            r"(?:[a-z]+) (?:disclose|mention)<2>(?:operator|owner)",
            false,
            r#"[[" disclose", " mention"], ["operator", "owner"]]"#,
        ),
        (r"a(?:bcdef)+", true, r#"[["abcdef"]]"#),
    ] {
        let found = derive_anchors(pattern).unwrap();
        assert_eq!((found.0, format!("{:?}", found.1).as_str()), (begins, expected), "{pattern}");
    }
    assert!(derive_anchors("[a-z]+ (?:x|y)?").is_none());
}
