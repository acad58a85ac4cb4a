//! Labels of a corpus, its skills, and shares of it.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use skillsandbox_scanner::SkillFiles;

/// A skill of the corpus, by the folder that holds `labels.csv`.
pub(crate) struct LabelledSkill {
    pub(crate) path: String,
    pub(crate) is_malicious: bool,
    pub(crate) category: String,
}

/// Reads the labels.
pub(crate) fn read_labels(corpus: &Path) -> anyhow::Result<Vec<LabelledSkill>> {
    let labels = fs::read_to_string(corpus.join("labels.csv"))
        .with_context(|| format!("{} has no labels.csv", corpus.display()))?;
    let skill = |(path, label, category): (&str, &str, &str)| LabelledSkill {
        path: path.to_owned(),
        is_malicious: label == "malicious",
        category: category.to_owned(),
    };
    Ok(labels.lines().skip(1).filter_map(split_label).map(skill).collect())
}

/// Reads a skill: a folder, or one file.
pub(crate) fn read_skill(path: &Path) -> anyhow::Result<SkillFiles> {
    let skill = if path.is_dir() {
        SkillFiles::from_dir_without(path, |below| below.join("SKILL.md").is_file())
    } else {
        SkillFiles::from_file(path)
    };
    skill.with_context(|| format!("{} is labelled, and cannot be read", path.display()))
}

/// Path, label and category of one line. A path may hold commas, the others do not.
fn split_label(line: &str) -> Option<(&str, &str, &str)> {
    let mut fields = line.rsplitn(3, ',');
    let (category, label, path) = (fields.next()?, fields.next()?, fields.next()?);
    Some((path, label, category))
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
    fn a_path_may_hold_commas() {
        assert_eq!(split_label("a,b/c,malicious,theft"), Some(("a,b/c", "malicious", "theft")));
        assert_eq!(split_label("a,b"), None);
    }

    #[test]
    fn the_interval_is_wilsons() {
        let (low, high) = wilson(8, 10);
        assert!((low - 0.490).abs() < 0.001 && (high - 0.943).abs() < 0.001, "{low} {high}");
        assert!(wilson(0, 5).0.abs() < 1e-9 && (wilson(5, 5).1 - 1.0).abs() < 1e-9);
    }
}
