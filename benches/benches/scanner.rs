//! The scanner's hot path: clean prose, which is nearly all that it reads, beside one bare Aho-Corasick pass with the same words in the same run. Then
//! a corpus, and texts that were made to be slow.
//!
//! `cargo bench --package skillsandbox-benches --bench scanner`; with `CORPUS=DIR`, the harmless skills of a labelled corpus
//! are measured too.

#![allow(missing_docs, clippy::expect_used, clippy::print_stderr)]

use std::fs;
use std::hint::black_box;
use std::path::Path;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skillsandbox_benches::{clean_skill, hostile_texts};
use skillsandbox_scanner::{Scanner, SkillFiles};

const MEBIBYTE: usize = 1 << 20;

fn clean(c: &mut Criterion) {
    let scanner = Scanner::new();
    let text = clean_skill(MEBIBYTE);
    let skill = SkillFiles::from_skill_md("release-notes", text.clone());
    let mut group = c.benchmark_group("clean");
    group.throughput(Throughput::Bytes(text.len() as u64));
    let bare = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(scanner.literals())
        .expect("the scanner's own literals");
    group.bench_function("bare literal search, 1 MiB", |b| {
        b.iter(|| bare.find_overlapping_iter(black_box(&text)).count());
    });
    group.bench_function("all checks, 1 MiB", |b| b.iter(|| scanner.scan(black_box(&skill))));
    let small = clean_skill(8 << 10);
    let skill = SkillFiles::from_skill_md("release-notes", small.clone());
    group.throughput(Throughput::Bytes(small.len() as u64));
    group.bench_function("all checks, 8 KiB", |b| b.iter(|| scanner.scan(black_box(&skill))));
    group.finish();
}

/// The literal engine of the scanner beside each automaton of `aho_corasick`, over the same words and the same text: how long they take to
/// build, and to search. Which is kept is decided here: docs/adr/0006.
fn literals(c: &mut Criterion) {
    let scanner = Scanner::new();
    let text = clean_skill(MEBIBYTE);
    let kinds = [
        ("aho-corasick, noncontiguous NFA", AhoCorasickKind::NoncontiguousNFA),
        ("aho-corasick, contiguous NFA", AhoCorasickKind::ContiguousNFA),
        ("aho-corasick, DFA", AhoCorasickKind::DFA),
    ];
    let build = |kind| {
        AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(kind))
            .build(scanner.literals())
            .expect("the scanner's own literals")
    };
    let mut group = c.benchmark_group("literals, build");
    group.sample_size(20);
    group.bench_function("table, and the whole scanner round it", |b| b.iter(Scanner::new));
    for (name, kind) in kinds {
        group.bench_function(name, |b| b.iter(|| build(kind)));
    }
    group.finish();
    let mut group = c.benchmark_group("literals, search 1 MiB");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("table", |b| b.iter(|| scanner.count_literals(black_box(&text))));
    for (name, kind) in kinds {
        let automaton = build(kind);
        assert_eq!(automaton.find_overlapping_iter(&text).count(), scanner.count_literals(&text), "{name}");
        group.bench_function(name, |b| b.iter(|| automaton.find_overlapping_iter(black_box(&text)).count()));
    }
    group.finish();
}

fn hostile(c: &mut Criterion) {
    let scanner = Scanner::new();
    let mut group = c.benchmark_group("hostile, 1 MiB");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(MEBIBYTE as u64));
    for (name, text) in hostile_texts(MEBIBYTE) {
        let skill = SkillFiles::from_skill_md("hostile", text);
        group.bench_function(name, |b| b.iter(|| scanner.scan(black_box(&skill))));
    }
    group.finish();
}

fn mixed(c: &mut Criterion) {
    let Some(corpus) = std::env::var_os("CORPUS") else {
        eprintln!("skipped: the mixed corpus (set CORPUS=DIR to the folder with labels.csv)");
        return;
    };
    let skills = harmless(Path::new(&corpus));
    let bytes: usize = skills.iter().map(|(_, bytes)| bytes).sum();
    let scanner = Scanner::new();
    let mut group = c.benchmark_group("mixed");
    group.sample_size(10);
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("harmless skills from memory", |b| {
        b.iter(|| {
            for (skill, _) in &skills {
                black_box(scanner.scan(skill));
            }
        });
    });
    group.finish();
}

/// The skills that a corpus calls benign, with their sizes.
fn harmless(corpus: &Path) -> Vec<(SkillFiles, usize)> {
    let labels =
        fs::read_to_string(corpus.join("labels.csv")).expect("CORPUS names a folder with labels.csv");
    let benign = labels.lines().filter(|line| line.split(',').nth(1) == Some("benign"));
    benign
        .filter_map(|line| {
            let path = corpus.join(line.split(',').next()?);
            let skill =
                if path.is_dir() { SkillFiles::from_dir(&path) } else { SkillFiles::from_file(&path) }
                    .ok()?;
            let bytes = skill.size();
            Some((skill, bytes))
        })
        .collect()
}

criterion_group!(benches, clean, literals, mixed, hostile);
criterion_main!(benches);
