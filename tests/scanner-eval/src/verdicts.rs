//! `eval --corpus DIR`: recall and false alarms, as the scanner is and out of source.

use std::time::Instant;

use skillsandbox_scanner::{RuleInfo, Scanner};

use crate::folds::fit_folds;
use crate::judged::judge_corpus;
use crate::options::{EvalOptions, EvalTask};
use crate::rules::{check_rules, print_rules};
use crate::tables::TableInput;
use crate::weights_file::{is_fresh, render_weights, write_weights};

/// Scans the corpora, fits, and prints.
pub(crate) fn run(options: &EvalOptions) -> anyhow::Result<()> {
    let start = Instant::now();
    let scanner = Scanner::new();
    let mut skills = Vec::new();
    for corpus in &options.corpora {
        skills.extend(judge_corpus(&scanner, corpus)?);
    }
    let scan_time = start.elapsed().as_secs_f64();
    let folds = fit_folds(&skills, options.demotes);
    let text = render_weights(&folds.model, &skills);
    if options.task == EvalTask::Fit {
        write_weights(&text)?;
        println!("wrote crates/scanner/src/weights.rs; the tables below show the scanner with these weights");
        for skill in &mut skills {
            skill.verdict = folds.model.judge(skill);
        }
    } else if options.demotes {
        println!(
            "as if every rule only warned that blocks and is wrong too often: {}",
            folds.demoted.join(" ")
        );
        for skill in &mut skills {
            skill.verdict = folds.model.judge(skill);
        }
    } else if !is_fresh(&text) {
        println!("weights.rs is not what --fit would write for these corpora");
    }
    let input = TableInput {
        skills: &skills,
        out_of_source: &folds.verdicts,
        is_markdown: options.is_markdown,
        lists_all: options.lists_all,
    };
    input.print_corpora();
    if !options.is_markdown || options.lists_all {
        input.print_parts();
        print_rules(&skills, &folds.model, options.is_markdown);
        input.print_errors();
    }
    let (block_at, warn_at) = (folds.model.block_at, folds.model.warn_at);
    println!(
        "\nblocks from {block_at} on, warns from {warn_at} on; {} rules weighed",
        count_weighed(&folds.model.weights)
    );
    #[allow(clippy::cast_precision_loss)] // some thousands
    let rate = skills.len() as f64 / scan_time;
    let all = start.elapsed().as_secs_f64();
    println!("{} skills in {scan_time:.2} s: {rate:.0} a second; with the fits {all:.2} s", skills.len());
    if options.task == EvalTask::Check { check_rules(&skills) } else { Ok(()) }
}

/// How many rules weigh something.
fn count_weighed(weights: &crate::fit::FittedWeights) -> usize {
    weights.list().filter(|(name, plain, _)| *plain > 0 && RuleInfo::find(name).is_some()).count()
}
