//! What a decision costs, beside the bare system calls in the same run. `cargo bench -p skillsandbox-path-policy`.
#![allow(missing_docs)] // criterion's macros make functions
// A benchmark may fail by panicking, and prints what it measured.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::cast_precision_loss)]

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use serde_json::json;
use skillsandbox_path_policy::{AccessKind, OpenOptions, PathPolicy};

const DEEP: &str = "a/b/c/d.txt";
const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

fn benchmarks(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
    fs::write(dir.path().join(DEEP), "x").unwrap();
    std::os::unix::fs::symlink("a/b", dir.path().join("l")).unwrap();
    let root =
        rustix::fs::open(dir.path(), OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .unwrap();
    let policy = PathPolicy::new(dir.path()).unwrap();
    let guarded = PathPolicy::builder().root(dir.path()).forbid(".git").forbid(".env").build().unwrap();
    let walking = PathPolicy::builder().root(dir.path()).without_openat2().build().unwrap();
    let absolute = policy.root().join(DEEP);
    let call = json!({ "file_path": DEEP, "limit": 100 });
    let bad_call = json!({ "file_path": "../../etc/passwd", "limit": 100 });

    let bare = || {
        drop(black_box(
            openat2(&root, DEEP, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), BENEATH).unwrap(),
        ));
    };
    let check = || assert!(policy.check(black_box(DEEP), AccessKind::Read).is_allowed());
    let refused = || assert!(policy.check(black_box("../../etc/passwd"), AccessKind::Read).is_denied());

    let mut group = criterion.benchmark_group("path_policy");
    group.bench_function("bare openat2 + close", |bencher| bencher.iter(bare));
    group.bench_function("check, 4 names, exists", |bencher| bencher.iter(check));
    group.bench_function("check, absolute", |bencher| {
        bencher.iter(|| assert!(policy.check(black_box(&absolute), AccessKind::Read).is_allowed()));
    });
    group.bench_function("check, 2 forbidden paths", |bencher| {
        bencher.iter(|| assert!(guarded.check(black_box(DEEP), AccessKind::Read).is_allowed()));
    });
    group.bench_function("check, not yet there", |bencher| {
        bencher.iter(|| assert!(policy.check(black_box("a/b/c/new.txt"), AccessKind::Write).is_allowed()));
    });
    group.bench_function("check, through a link", |bencher| {
        bencher.iter(|| assert!(policy.check(black_box("l/c/d.txt"), AccessKind::Read).is_allowed()));
    });
    group.bench_function("check, without openat2", |bencher| {
        bencher.iter(|| assert!(walking.check(black_box(DEEP), AccessKind::Read).is_allowed()));
    });
    group.bench_function("check, refused by its text", |bencher| bencher.iter(refused));
    group.bench_function("call, allowed", |bencher| {
        bencher.iter(|| assert!(policy.validate_call("Read", black_box(&call)).is_allowed()));
    });
    group.bench_function("call, refused by its text", |bencher| {
        bencher.iter(|| assert!(policy.validate_call("Read", black_box(&bad_call)).is_denied()));
    });
    group.bench_function("std open + close", |bencher| {
        bencher.iter(|| drop(black_box(fs::File::open(&absolute).unwrap())));
    });
    group.bench_function("policy.open + close", |bencher| {
        bencher.iter(|| drop(black_box(policy.open(DEEP, &OpenOptions::reading()).unwrap())));
    });
    group.bench_function("canonicalize + starts_with", |bencher| {
        bencher.iter(|| {
            assert!(policy.root().join(black_box(DEEP)).canonicalize().unwrap().starts_with(policy.root()));
        });
    });
    group.finish();

    // The ratio, from rounds that take turns, so that a busy machine slows both alike.
    let ratio = median((0..201).map(|_| time(check) / time(bare)));
    println!("\ncheck of an existing path, 4 names: {ratio:.2} x bare openat2 + close (target: at most 1.5)");
    let ratio = median((0..201).map(|_| time(refused) / time(bare)));
    println!("check refused by its text:          {ratio:.2} x bare openat2 + close");
}

fn time(run: impl Fn()) -> f64 {
    let start = Instant::now();
    for _ in 0..200 {
        run();
    }
    start.elapsed().as_nanos() as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
