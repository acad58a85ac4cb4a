//! `eval --corpus DIR`: recall and false alarms, as the scanner is.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use rayon::prelude::*;
use skillsandbox_scanner::{ScanVerdict, Scanner, SkillCalls, SkillLinks};

use crate::corpus::{LabelledSkill, read_labels, read_skill, share};

/// How many of the worst misses and false alarms are shown.
const SHOWN: usize = 12;

struct JudgedSkill {
    path: String,
    malicious: bool,
    category: String,
    verdict: ScanVerdict,
    first: String,
}

/// Blocked, and warned of or blocked, of how many.
#[derive(Clone, Copy, Default)]
struct VerdictCount {
    all: usize,
    blocked: usize,
    warned: usize,
}

pub(crate) fn run(args: &[&str]) -> anyhow::Result<()> {
    let ["--corpus", corpus] = args else { bail!("name the corpus: cargo xtask eval --corpus DIR") };
    let corpus =
        PathBuf::from(corpus).canonicalize().with_context(|| format!("there is no corpus at {corpus}"))?;
    let labels = read_labels(&corpus)?;
    let start = Instant::now();
    let judged = judge(&corpus, labels)?;
    report(&judged, start.elapsed().as_secs_f64());
    Ok(())
}

/// Scans all skills as `skillsandbox scan` does: each by itself, then who calls whom.
fn judge(corpus: &Path, labels: Vec<LabelledSkill>) -> anyhow::Result<Vec<JudgedSkill>> {
    let scanner = Scanner::new();
    let calls = labels.par_iter().map(|one| {
        let path = corpus.join(&one.path);
        Ok(SkillCalls::find(&read_skill(&path)?, &path.to_string_lossy()))
    });
    let links = SkillLinks::new(&calls.collect::<anyhow::Result<Vec<_>>>()?);
    let numbered: Vec<_> = labels.into_iter().enumerate().collect();
    let judged = numbered.into_par_iter().map(|(number, one)| {
        let mut report = scanner.scan(&read_skill(&corpus.join(&one.path))?);
        scanner.add_links(&links, number, &mut report);
        let first = report.findings.first();
        Ok(JudgedSkill {
            path: one.path,
            malicious: one.is_malicious,
            category: one.category,
            verdict: report.verdict,
            first: first.map_or_else(|| "-".to_owned(), |first| format!("{} {}", first.rule, first.snippet)),
        })
    });
    judged.collect()
}

/// Counts the skills that a question picks.
type SkillCounter<'c> = &'c dyn Fn(&dyn Fn(&JudgedSkill) -> bool) -> VerdictCount;

fn report(judged: &[JudgedSkill], time: f64) {
    let count = |filter: &dyn Fn(&JudgedSkill) -> bool| {
        judged.iter().filter(|one| filter(one)).fold(VerdictCount::default(), |mut count, one| {
            count.all += 1;
            count.blocked += usize::from(one.verdict == ScanVerdict::Blocked);
            count.warned += usize::from(one.verdict > ScanVerdict::Safe);
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
    for one in judged.iter().filter(|one| one.malicious && one.verdict == ScanVerdict::Safe).take(SHOWN) {
        println!("  {} ({})", one.path, one.category);
    }
    println!("\nfalse alarms at BLOCKED:");
    for one in judged.iter().filter(|one| !one.malicious && one.verdict == ScanVerdict::Blocked).take(SHOWN) {
        println!("  {}: {}", one.path, one.first);
    }
    #[allow(clippy::cast_precision_loss)] // some thousands
    let rate = judged.len() as f64 / time;
    println!("\n{} skills in {time:.2} s: {rate:.0} a second", judged.len());
}

fn by(
    judged: &[JudgedSkill],
    malicious: bool,
    key: &dyn Fn(&JudgedSkill) -> String,
    count: SkillCounter<'_>,
) {
    let mut groups: Vec<String> = judged.iter().filter(|one| one.malicious == malicious).map(key).collect();
    groups.sort();
    groups.dedup();
    for group in groups {
        row(&format!("  {group}"), count(&|one| one.malicious == malicious && key(one) == group));
    }
}

fn row(name: &str, count: VerdictCount) {
    println!(
        "{name:<44} {:>5}  {:>24}  {:>24}",
        count.all,
        share(count.blocked, count.all),
        share(count.warned, count.all)
    );
}
