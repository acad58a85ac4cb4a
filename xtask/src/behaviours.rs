//! docs/behaviours.md: what the product promises, row by row, with the tests that prove it.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::workspace::{cargo, output, root};

const FILE: &str = "docs/behaviours.md";
/// How many behaviours the product promises.
const ROWS: usize = 194;

/// One row: its number, and the tests that prove it; none for "not yet".
#[derive(Debug, PartialEq)]
struct Row {
    number: usize,
    tests: Vec<String>,
}

/// Prints how far the product is.
pub(crate) fn run() -> anyhow::Result<()> {
    let rows = read()?;
    summary(&rows);
    for row in &rows {
        println!(
            "{:>4}  {}",
            row.number,
            if row.tests.is_empty() { "not yet".to_owned() } else { row.tests.join(", ") }
        );
    }
    Ok(())
}

/// Fails where a row names a test that does not exist.
pub(crate) fn check() -> anyhow::Result<()> {
    let rows = read()?;
    let known = existing_tests()?;
    let missing: BTreeSet<_> =
        rows.iter().flat_map(|row| &row.tests).filter(|test| !known.contains(*test)).collect();
    if !missing.is_empty() {
        bail!(
            "{FILE} names tests that do not exist: {}",
            missing.into_iter().cloned().collect::<Vec<_>>().join(", ")
        );
    }
    let named: HashSet<_> = rows.iter().flat_map(|row| &row.tests).collect();
    for test in
        known.iter().filter(|test| test.rsplit("::").next().is_some_and(|name| name.starts_with("row_")))
    {
        if !named.contains(test) {
            bail!("the test {test} is named after a row, but {FILE} does not list it");
        }
    }
    summary(&rows);
    Ok(())
}

fn summary(rows: &[Row]) {
    let proved = rows.iter().filter(|row| !row.tests.is_empty()).count();
    println!("{proved} of {ROWS} behaviours are proved by a named test");
}

fn read() -> anyhow::Result<Vec<Row>> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let rows = parse(&text)?;
    let numbers: Vec<_> = rows.iter().map(|row| row.number).collect();
    if numbers != (1..=ROWS).collect::<Vec<_>>() {
        bail!("{FILE} must have the rows 1 to {ROWS}, each once and in order");
    }
    Ok(rows)
}

/// Reads `| 12 | behaviour | `test`, `test` |` and `| 13 | behaviour | not yet |`.
fn parse(text: &str) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let Some((number, rest)) = line.strip_prefix("| ").and_then(|line| line.split_once(" | ")) else {
            continue;
        };
        let Ok(number) = number.trim().parse() else {
            continue;
        };
        let proof = rest.trim_end().strip_suffix('|').and_then(|rest| rest.rsplit(" | ").next());
        let proof = proof.with_context(|| format!("row {number} has no last column"))?.trim();
        let tests: Vec<_> = proof.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        if tests.is_empty() && !proof.starts_with("not yet") {
            bail!("row {number} names no test and does not say `not yet`");
        }
        rows.push(Row { number, tests });
    }
    Ok(rows)
}

/// Every test of the workspace that runs by default, as `package::path` or `package::file::path`.
fn existing_tests() -> anyhow::Result<HashSet<String>> {
    let args = [
        "test",
        "--workspace",
        "--all-features",
        "--lib",
        "--bins",
        "--tests",
        "--no-run",
        "--quiet",
        "--message-format",
        "json",
    ];
    let messages = output(&mut cargo(args))?;
    let mut tests = HashSet::new();
    for message in messages.lines() {
        let message: Value = serde_json::from_str(message)?;
        let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
        let (true, Some(executable)) = (is_test, message["executable"].as_str()) else {
            continue;
        };
        let target = &message["target"];
        let package = package_name(message["package_id"].as_str().unwrap_or_default());
        let prefix = match target["kind"][0].as_str() {
            Some("test") => format!("{package}::{}", target["name"].as_str().unwrap_or_default()),
            _ => package,
        };
        let list =
            |args: &[&str]| output(Command::new(executable).args(["--list", "--format", "terse"]).args(args));
        let ignored = list(&["--ignored"])?;
        let ignored: HashSet<&str> = ignored.lines().collect();
        for line in list(&[])?.lines().filter(|line| !ignored.contains(line)) {
            tests.extend(line.strip_suffix(": test").map(|name| format!("{prefix}::{name}")));
        }
    }
    Ok(tests)
}

/// The name in `path+file:///x/crates/manifest#skillsandbox-manifest@0.1.0` or `path+file:///x/xtask#0.0.0`.
fn package_name(id: &str) -> String {
    let (path, fragment) = id.rsplit_once('#').unwrap_or((id, id));
    match fragment.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => path.rsplit('/').next().unwrap_or(path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let text = "# x\n| # | behaviour | proved by |\n|---|---|---|\n| 1 | a \\| b | `p::t`, `p::u` |\n| 2 | b | not yet |\n";
        let expected = [
            Row { number: 1, tests: vec!["p::t".to_owned(), "p::u".to_owned()] },
            Row { number: 2, tests: vec![] },
        ];
        assert_eq!(parse(text).unwrap(), expected);
        assert!(parse("| 3 | c | soon |\n").is_err());
    }

    #[test]
    fn package_ids_hold_the_name() {
        assert_eq!(
            package_name("path+file:///x/crates/manifest#skillsandbox-manifest@0.1.0"),
            "skillsandbox-manifest"
        );
        assert_eq!(package_name("path+file:///x/xtask#0.0.0"), "xtask");
    }
}
