//! What a check costs, beside splitting the same line with `shlex`, which checks nothing.
//!
//! `cargo bench -p skillsandbox-command-policy` prints both, and their ratio.
// A benchmark may fail by panicking; criterion's macros make functions without documentation.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use skillsandbox_command_policy::CommandPolicy;

/// 200 bytes, as an agent writes them: flags, paths, quotes.
const LINE: &str = "git log --oneline --decorate --since='2 weeks ago' --author=\"Ada Lovelace\" --grep 'fix: parser' \
    -n 20 --format=%h%n%an --no-merges main..release-2 -- crates/manifest/src/yaml.rs docs/manifest.md ab.rs";

fn policy() -> CommandPolicy {
    CommandPolicy::builder().root("/srv/skill").allowed_tools("Bash(git:*) Bash(jq:*)").build().unwrap()
}

fn benchmarks(c: &mut Criterion) {
    assert_eq!(LINE.len(), 200);
    let policy = policy();
    assert!(policy.check(LINE).is_allowed(), "{:?}", policy.check(LINE));
    assert_eq!(shlex::split(LINE).unwrap().len(), policy.parse(LINE).unwrap().len());
    let mut group = c.benchmark_group("200 bytes");
    group.bench_function("check", |b| b.iter(|| policy.check(black_box(LINE))));
    group.bench_function("parse", |b| b.iter(|| policy.parse(black_box(LINE))));
    group.bench_function("shlex::split", |b| b.iter(|| shlex::split(black_box(LINE))));
    group.bench_function("refused at the end", |b| {
        let line = format!("{LINE} | sh");
        b.iter(|| policy.check(black_box(&line)));
    });
    group.finish();
    ratio(&policy);
}

/// Both in turns, so that a busy machine slows both: the median of each, and of their ratio.
fn ratio(policy: &CommandPolicy) {
    const TURNS: u32 = 2000;
    let time = |run: &dyn Fn()| {
        let start = Instant::now();
        for _ in 0..100 {
            run();
        }
        start.elapsed() / 100
    };
    let mut checks = Vec::new();
    let mut splits = Vec::new();
    for _ in 0..TURNS {
        checks.push(time(&|| {
            let _ = black_box(policy.check(black_box(LINE)));
        }));
        splits.push(time(&|| {
            black_box(shlex::split(black_box(LINE)));
        }));
    }
    let ratios = checks.iter().zip(&splits).map(|(check, split)| check.as_secs_f64() / split.as_secs_f64());
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    println!(
        "check {:?}, shlex::split {:?}: {:.2} x (targets: under 1 µs, at most 3 x)",
        median(&mut checks),
        median(&mut splits),
        ratios.get(ratios.len() / 2).copied().unwrap_or_default()
    );
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
