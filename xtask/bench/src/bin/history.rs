//! What a question costs in a history of a million runs, beside the same question to a file with a line of JSON a run.
//!
//! ```text
//! cargo xtask bench history
//! ```
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;
use skillsandbox_store::history::{Appended, Classified, Denied, Entry, Filter, History, Spool, Status};
use uuid::Uuid;

/// The first second of the first run; the others follow every 30 seconds, for nearly a year.
const BEGIN: i64 = 1_760_000_000;
const APART: i64 = 30;
/// Runs that are appended before they are taken in together.
const AT_ONCE: usize = 1000;

fn main() {
    let runs: i64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/history.db");
    let begin = Instant::now();
    fill(&path, runs);
    let size = path.metadata().unwrap().len() >> 20;
    println!("{runs} runs recorded in {:.0} s, {size} MiB", begin.elapsed().as_secs_f64());
    let lines = folder.path().join("history.ndjson");
    write_lines(&path, &lines);
    println!("the same as lines of JSON: {} MiB\n", lines.metadata().unwrap().len() >> 20);

    let late = Timestamp::from_second(BEGIN + APART * (runs - runs / 10)).unwrap();
    let common = |filter: &mut Filter| filter.skill = Some("skill-3".into());
    let rare = |filter: &mut Filter| filter.skill = Some("rare".into());
    let failed = |filter: &mut Filter| filter.status = Some(Status::Failure);
    let since = |filter: &mut Filter| filter.since = Some(late);
    let class = |filter: &mut Filter| filter.class = Some("credential_harvesting".into());
    let of = |parts: &[&dyn Fn(&mut Filter)]| {
        let mut filter = Filter::default();
        filter.limit = Some(50);
        for part in parts {
            part(&mut filter);
        }
        filter
    };
    let queries = [
        ("skill, since, status, limit 50", of(&[&common, &since, &failed])),
        ("the same, a rare skill", of(&[&rare, &since, &failed])),
        ("the newest 50 of all", of(&[])),
        ("status, since", of(&[&failed, &since])),
        ("class, skill, since, status", of(&[&class, &common, &since, &failed])),
        ("class, a rare skill", of(&[&class, &rare])),
    ];
    for (name, filter) in &queries {
        let (found, middle, worst) = measure(25, || query(&path, filter));
        let (same, scan, _) = measure(3, || search(&lines, filter));
        assert_eq!(found, same, "both find the same");
        println!(
            "{name:<34} {found:>3} found  {:>8.2} ms  at most {:>8.2} ms   lines: {:>7.0} ms, {:.0} x",
            ms(middle),
            ms(worst),
            ms(scan),
            scan.as_secs_f64() / middle.as_secs_f64()
        );
    }
    let id = first_id(&path);
    let (_, middle, worst) =
        measure(25, || History::read(&path).unwrap().unwrap().find(&id).map(|_| 1).unwrap());
    println!(
        "{:<34} {:>10}  {:>8.2} ms  at most {:>8.2} ms",
        "show, by 12 digits of the id",
        "",
        ms(middle),
        ms(worst)
    );
    for (name, filter) in [("stats of all", of(&[])), ("stats of a skill since", of(&[&common, &since]))] {
        let count = || History::read(&path).unwrap().unwrap().stats(&filter).unwrap().skills.len();
        let (_, middle, worst) = measure(3, count);
        println!("{name:<34} {:>10}  {:>8.2} ms  at most {:>8.2} ms", "", ms(middle), ms(worst));
    }
    let mut number = runs;
    let mut next = || {
        number += 1;
        entry(number)
    };
    let show = |name: &str, middle: Duration, worst: Duration| {
        println!("{name:<34} {:>10}  {:>8.3} ms  at most {:>8.3} ms", "", ms(middle), ms(worst));
    };
    // As a run that is signed is recorded, and as every run was before there was a spool.
    let (_, middle, worst) = measure(25, || {
        History::open(&path).unwrap().record(&next()).unwrap();
        1
    });
    show("record one more at once", middle, worst);
    let spool = Spool::beside(&path);
    let (_, middle, worst) = measure(AT_ONCE, || {
        assert_ne!(spool.append(&next()).unwrap(), Appended::NoRoom);
        1
    });
    show("append one more to the spool", middle, worst);
    let mut taken_in = Vec::new();
    for _ in 0..5 {
        let begin = Instant::now();
        History::open(&path).unwrap();
        taken_in.push(begin.elapsed());
        for _ in 0..AT_ONCE {
            assert_ne!(spool.append(&next()).unwrap(), Appended::NoRoom);
        }
    }
    taken_in.sort();
    show(&format!("take in {AT_ONCE} of them"), taken_in[taken_in.len() / 2], taken_in[taken_in.len() - 1]);
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The last result, the median and the longest time.
fn measure(times: usize, mut work: impl FnMut() -> usize) -> (usize, Duration, Duration) {
    let mut found = 0;
    let mut taken: Vec<Duration> = (0..times)
        .map(|_| {
            let begin = Instant::now();
            found = work();
            begin.elapsed()
        })
        .collect();
    taken.sort();
    (found, taken[times / 2], taken[times - 1])
}

/// As the command does: opened for every question.
fn query(path: &Path, filter: &Filter) -> usize {
    let mut found = 0;
    let history = History::read(path).unwrap().unwrap();
    history
        .each(filter, |_| {
            found += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    found
}

/// Twenty skills, one of them rare; a third of the runs fail or are ended; one in ten tries something.
fn entry(number: i64) -> Entry {
    let skill = if number % 10_007 == 0 { "rare".to_owned() } else { format!("skill-{}", number % 20) };
    let started = Timestamp::from_second(BEGIN + APART * number).unwrap();
    let mut entry = Entry::new(
        Uuid::from_u128(0x9e37_79b9_7f4a_7c15_u128.wrapping_mul(number.unsigned_abs().into()) << 64 | 1),
        started,
        skill,
        "run",
    );
    entry.status = match number % 7 {
        0 => Status::Failure,
        1 => Status::Timeout,
        _ => Status::Success,
    };
    entry.ending = "exited".into();
    entry.duration = Duration::from_millis(number.unsigned_abs() % 5000);
    entry.exit_code = Some(i32::from(entry.status != Status::Success));
    entry.user = Some("alice".into());
    entry.parameters.insert("city".into(), format!("City {}", number % 1000).into());
    entry.trace = Some(format!("/home/alice/.local/state/skillsandbox/traces/{number}.json").into());
    entry.digest = Some("0123456789abcdef".repeat(4));
    entry.complete = true;
    if number % 10 == 3 {
        entry.denied = 2;
        let denied = |what: String| Denied { kind: "file".into(), what, count: 1, ..Denied::default() };
        entry.denials =
            vec![denied("read /etc/shadow".into()), denied(format!("read /home/alice/{}", number % 97))];
        entry.classes = vec![Classified {
            class: "credential_harvesting".into(),
            severity: "high".into(),
            prevented: true,
            unknown: false,
            message: "it looked for credentials where they lie".into(),
        }];
    }
    entry
}

fn fill(path: &Path, runs: i64) {
    let mut history = History::open(path).unwrap();
    let mut number = 0;
    while number < runs {
        let entries: Vec<Entry> = (number..runs.min(number + 10_000)).map(entry).collect();
        history.record_all(&entries).unwrap();
        number += 10_000;
    }
}

/// Newest first, as the history gives them: the kindest order for a search that stops at a limit.
fn write_lines(path: &Path, lines: &Path) {
    let mut out = BufWriter::new(File::create(lines).unwrap());
    let history = History::read(path).unwrap().unwrap();
    history
        .each(&Filter::default(), |record| {
            serde_json::to_writer(&mut out, &record).unwrap();
            out.write_all(b"\n").unwrap();
            ControlFlow::Continue(())
        })
        .unwrap();
    out.flush().unwrap();
}

/// Looks for the words before it reads a line as JSON, and stops at the limit and before the time.
fn search(lines: &Path, filter: &Filter) -> usize {
    let skill = filter.skill.as_ref().map(|skill| format!("\"skill\":\"{skill}\""));
    let status = filter.status.map(|status| format!("\"status\":\"{}\"", status.as_str()));
    let since = filter.since.map(|since| format!("{since:.3}"));
    let mut found = 0;
    for line in BufReader::new(File::open(lines).unwrap()).lines() {
        let line = line.unwrap();
        let has = |word: &Option<String>| word.as_ref().is_none_or(|word| line.contains(word.as_str()));
        if !has(&skill) || !has(&status) || !has(&filter.class) {
            continue;
        }
        let record: Value = serde_json::from_str(&line).unwrap();
        if since.as_ref().is_some_and(|since| record["timestamp"].as_str().unwrap() < since.as_str()) {
            break;
        }
        found += 1;
        if filter.limit.is_some_and(|limit| found >= limit) {
            break;
        }
    }
    usize::try_from(found).unwrap()
}

fn first_id(path: &Path) -> String {
    let mut id = String::new();
    let mut filter = Filter::default();
    filter.limit = Some(1);
    let history = History::read(path).unwrap().unwrap();
    history
        .each(&filter, |record| {
            id = record.execution_id.chars().take(13).collect();
            ControlFlow::Break(())
        })
        .unwrap();
    id
}
