//! `cargo xtask eval`: the scanner on a labelled corpus.
//!
//! The corpus is not part of the repository: a folder with `labels.csv` (path, label, category) and the skills it names, given
//! with `--corpus`. It may hold live malware: it is only read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::workspace::{cargo, succeed, target_dir};

/// How many of the worst misses and false alarms are shown.
const SHOWN: usize = 12;

struct Judged {
    path: String,
    malicious: bool,
    category: String,
    verdict: String,
    first: String,
}

/// Blocked, and warned of or blocked, of how many.
#[derive(Clone, Copy, Default)]
struct Count {
    all: usize,
    blocked: usize,
    warned: usize,
}

pub(crate) fn run(args: &[&str]) -> anyhow::Result<()> {
    if args.contains(&"--mutate") {
        return mutate(args);
    }
    let ["--corpus", corpus] = args else { bail!("name the corpus: cargo xtask eval --corpus DIR") };
    let corpus =
        PathBuf::from(corpus).canonicalize().with_context(|| format!("there is no corpus at {corpus}"))?;
    succeed(&mut cargo(["build", "--release", "--package", "skillsandbox"]))?;
    let binary = target_dir()?.join("release/skillsandbox");
    let start = Instant::now();
    let output = std::process::Command::new(binary)
        .args(["scan", "--format", "ndjson"])
        .arg(corpus.join("skills"))
        .output()?;
    let time = start.elapsed().as_secs_f64();
    let judged = join(&corpus, &String::from_utf8_lossy(&output.stdout))?;
    report(&judged, time);
    Ok(())
}

#[cfg(feature = "mutate")]
fn mutate(args: &[&str]) -> anyhow::Result<()> {
    crate::mutate::run(args)
}

/// This program again, with the scanner in it and optimised.
#[cfg(not(feature = "mutate"))]
fn mutate(args: &[&str]) -> anyhow::Result<()> {
    let mut command = cargo(["run", "--quiet", "--release", "--package", "xtask", "--features", "mutate"]);
    // A corpus is named as seen from where the command was typed, which is where this runs too.
    command.current_dir(std::env::current_dir()?).args(["--", "eval"]).args(args);
    succeed(&mut command)
}

/// Labels and verdicts by path.
fn join(corpus: &Path, ndjson: &str) -> anyhow::Result<Vec<Judged>> {
    let mut reports: BTreeMap<String, Value> = BTreeMap::new();
    for line in ndjson.lines() {
        let report: Value = serde_json::from_str(line)?;
        let path = Path::new(report["path"].as_str().unwrap_or_default());
        reports.insert(path.strip_prefix(corpus).unwrap_or(path).to_string_lossy().into_owned(), report);
    }
    let labels = fs::read_to_string(corpus.join("labels.csv")).context("the corpus has no labels.csv")?;
    let mut judged = Vec::new();
    for (path, label, category) in labels.lines().skip(1).filter_map(label) {
        let report = reports.get(path).with_context(|| format!("{path} is labelled, but was not scanned"))?;
        let first = &report["findings"][0];
        judged.push(Judged {
            path: path.to_owned(),
            malicious: label == "malicious",
            category: category.to_owned(),
            verdict: report["verdict"].as_str().unwrap_or_default().to_owned(),
            first: format!(
                "{} {}",
                first["rule"].as_str().unwrap_or("-"),
                first["snippet"].as_str().unwrap_or_default()
            ),
        });
    }
    Ok(judged)
}

/// Path, label and category of one line. A path may hold commas, the others do not.
pub(crate) fn label(line: &str) -> Option<(&str, &str, &str)> {
    let mut fields = line.rsplitn(3, ',');
    let (category, label, path) = (fields.next()?, fields.next()?, fields.next()?);
    Some((path, label, category))
}

/// Counts the skills that a question picks.
type Counter<'c> = &'c dyn Fn(&dyn Fn(&Judged) -> bool) -> Count;

fn report(judged: &[Judged], time: f64) {
    let count = |filter: &dyn Fn(&Judged) -> bool| {
        judged.iter().filter(|one| filter(one)).fold(Count::default(), |mut count, one| {
            count.all += 1;
            count.blocked += usize::from(one.verdict == "BLOCKED");
            count.warned += usize::from(one.verdict != "SAFE");
            count
        })
    };
    println!("{:<44} {:>5}  {:>24}  {:>24}", "", "of", "BLOCKED", "WARNING or worse");
    row("malicious", count(&|one| one.malicious));
    row("benign", count(&|one| !one.malicious));
    row("hard negatives (benign, about security)", count(&|one| one.category.starts_with("hard_negative")));
    for malicious in [true, false] {
        println!("\n{} by source", if malicious { "malicious" } else { "benign" });
        by(judged, malicious, &|one| one.path.split('/').nth(1).unwrap_or_default().to_owned(), &count);
        println!("\n{} by category", if malicious { "malicious" } else { "benign" });
        by(judged, malicious, &|one| one.category.clone(), &count);
    }
    println!("\nmissed altogether:");
    for one in judged.iter().filter(|one| one.malicious && one.verdict == "SAFE").take(SHOWN) {
        println!("  {} ({})", one.path, one.category);
    }
    println!("\nfalse alarms at BLOCKED:");
    for one in judged.iter().filter(|one| !one.malicious && one.verdict == "BLOCKED").take(SHOWN) {
        println!("  {}: {}", one.path, one.first);
    }
    #[allow(clippy::cast_precision_loss)] // some thousands
    let rate = judged.len() as f64 / time;
    println!("\n{} skills in {time:.2} s: {rate:.0} a second", judged.len());
}

fn by(judged: &[Judged], malicious: bool, key: &dyn Fn(&Judged) -> String, count: Counter<'_>) {
    let mut groups: Vec<String> = judged.iter().filter(|one| one.malicious == malicious).map(key).collect();
    groups.sort();
    groups.dedup();
    for group in groups {
        row(&format!("  {group}"), count(&|one| one.malicious == malicious && key(one) == group));
    }
}

fn row(name: &str, count: Count) {
    println!(
        "{name:<44} {:>5}  {:>24}  {:>24}",
        count.all,
        share(count.blocked, count.all),
        share(count.warned, count.all)
    );
}

/// A share with its 95 % Wilson interval.
pub(crate) fn share(part: usize, all: usize) -> String {
    if all == 0 {
        return "-".to_owned();
    }
    let (low, high) = wilson(part, all);
    #[allow(clippy::cast_precision_loss)] // some thousands
    let share = part as f64 / all as f64;
    format!("{:.1} % ({:.1} to {:.1})", share * 100.0, low * 100.0, high * 100.0)
}

#[allow(clippy::cast_precision_loss)] // some thousands
fn wilson(part: usize, all: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, p) = (all as f64, part as f64 / all as f64);
    let centre = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(8, 10);
        assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
        assert!(wilson(0, 5).0.abs() < 1e-9 && (wilson(5, 5).1 - 1.0).abs() < 1e-9);
    }
}
