//! The user's policy: found, loaded and applied in one place, so that every verb and every server decides alike.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillsandbox_manifest::{Change, Date, FailOn, Manifest, Places, Policy, ScanPolicy, Suppression};
use skillsandbox_scanner::{
    Idle, Report, Scanner, ScannerBuilder, Skill as ScannedSkill, Suppressions, Verdict,
};

use crate::refusal::Refusal;
use crate::state::policy_file;

/// What the user decided for all skills: a ceiling over what they declare, and how they are scanned.
///
/// ```
/// use skillsandbox_manifest::Policy;
/// use skillsandbox_run::UserPolicy;
/// use skillsandbox_scanner::Verdict;
///
/// let policy = UserPolicy::from(Policy::parse("scan: { fail_on: warning }")?);
/// assert!(policy.refuses(Verdict::Warning));
/// assert!(!UserPolicy::none().refuses(Verdict::Warning));
/// # Ok::<(), skillsandbox_manifest::Invalid>(())
/// ```
///
/// Clones share what was loaded.
#[derive(Debug, Clone, Default)]
pub struct UserPolicy(Arc<PolicySettings>);

#[derive(Debug, Default)]
struct PolicySettings {
    file: Option<PathBuf>,
    ceiling: Option<Policy>,
    scan: ScanPolicy,
}

impl UserPolicy {
    /// No policy: nothing is narrowed, and BLOCKED skills are refused.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Loads the file that is named, or the user's own where there is one (`~/.config/skillsandbox/policy.yaml`), to judge these skills by.
    ///
    /// # Errors
    /// A policy that cannot be read or is not valid: without it nothing should be done. One that lies in a skill it would judge is that
    /// skill's own word, and is refused.
    pub fn load<P: AsRef<Path>>(
        named: Option<&Path>,
        judged: impl IntoIterator<Item = P>,
    ) -> Result<Self, Refusal> {
        let Some(file) = find(named) else { return Ok(Self::none()) };
        for skill in judged {
            check_outside(&file, skill.as_ref())?;
        }
        let policy = Policy::load(&file).map_err(Refusal::Policy)?;
        let scan = policy.scan().clone();
        Ok(Self(Arc::new(PolicySettings { file: Some(file), ceiling: Some(policy), scan })))
    }

    /// Where it was loaded from.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// Whether there is one at all.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.0.ceiling.is_some()
    }

    /// What both a declaration and this policy allow, and what the policy took away.
    #[must_use]
    pub fn narrow(&self, manifest: Manifest, places: &Places) -> (Manifest, Vec<Change>) {
        match self.0.ceiling.as_ref().map(|policy| policy.narrow(&manifest, places)) {
            Some(narrowed) => (narrowed.manifest, narrowed.changes),
            None => (manifest, Vec::new()),
        }
    }

    /// A scanner with this policy's settings; a caller may add what it alone knows, such as installed skills.
    ///
    /// # Errors
    /// Settings that no scanner can be built with.
    pub fn scanner_builder(&self) -> Result<ScannerBuilder, Refusal> {
        let scan = &self.0.scan;
        Ok(Scanner::builder()
            .blocked_domains(&scan.blocklist)
            .trusted_sources(scan.trusted_sources.iter().cloned())
            .system_names(scan.system_names.iter().cloned()))
    }

    /// The findings that it lets stand today.
    #[must_use]
    pub fn suppressions(&self) -> DatedSuppressions {
        let suppressions = Suppressions::new(self.0.scan.suppressions.iter().cloned());
        DatedSuppressions { suppressions, today: today() }
    }

    /// Scans a skill's folder, with the findings that are suppressed today.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn scan_folder(&self, folder: &Path) -> Result<Report, Refusal> {
        let skill = ScannedSkill::from_dir(folder).map_err(|error| Refusal::Unscanned(error.to_string()))?;
        let mut report = self.scanner_builder()?.build().scan(&skill);
        self.suppressions().apply(&mut report);
        Ok(report)
    }

    /// From which verdict on a skill is refused: `scan.fail_on`, BLOCKED unless it says more.
    #[must_use]
    pub fn refused_from(&self) -> Verdict {
        match self.0.scan.fail_on {
            None | Some(FailOn::Blocked) => Verdict::Blocked,
            // What this version does not know is the strictest.
            Some(_) => Verdict::Warning,
        }
    }

    /// Whether a skill with this verdict is refused.
    #[must_use]
    pub fn refuses(&self, verdict: Verdict) -> bool {
        verdict >= self.refused_from()
    }
}

/// A policy that was not read from a file.
impl From<Policy> for UserPolicy {
    fn from(policy: Policy) -> Self {
        let scan = policy.scan().clone();
        Self(Arc::new(PolicySettings { file: None, ceiling: Some(policy), scan }))
    }
}

/// A policy's suppressions, as they are on this day.
#[derive(Debug, Clone)]
pub struct DatedSuppressions {
    suppressions: Suppressions,
    today: Option<Date>,
}

impl DatedSuppressions {
    /// Marks the findings that may stand today, and judges the report again without them.
    pub fn apply(&mut self, report: &mut Report) {
        if let Some(today) = self.today {
            self.suppressions.apply(report, today);
        }
    }

    /// Those that did nothing so far, each with why.
    pub fn idle(&self) -> impl Iterator<Item = (&Suppression, Idle)> {
        self.today.into_iter().flat_map(|today| self.suppressions.idle(today))
    }
}

/// The day, in UTC.
fn today() -> Option<Date> {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string().parse().ok()
}

/// The file that is named, or the user's own where there is one. A broken link is there: it is an error, and not no policy.
fn find(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(file) => Some(file.to_owned()),
        None => policy_file().filter(|file| std::fs::symlink_metadata(file).is_ok()),
    }
}

fn check_outside(file: &Path, skill: &Path) -> Result<(), Refusal> {
    // A document stands for the folder it describes.
    let folder = if skill.ends_with("SKILL.md") { skill.parent().unwrap_or(skill) } else { skill };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (file.canonicalize(), folder.canonicalize()) {
        (Ok(inside), Ok(folder)) if inside.starts_with(&folder) => {
            Err(Refusal::PolicyInSkill(file.to_owned()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> UserPolicy {
        UserPolicy::from(Policy::parse(text).unwrap())
    }

    #[test]
    fn fail_on_decides_and_blocked_is_always_refused() {
        for (text, warning) in
            [("{}", false), ("scan: { fail_on: blocked }", false), ("scan: { fail_on: warning }", true)]
        {
            let policy = policy(text);
            assert_eq!(policy.refuses(Verdict::Warning), warning, "{text}");
            assert!(policy.refuses(Verdict::Blocked) && !policy.refuses(Verdict::Safe), "{text}");
        }
        assert!(UserPolicy::none().refuses(Verdict::Blocked));
    }

    #[test]
    fn a_policy_in_the_skill_that_it_judges_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join("skill");
        std::fs::create_dir(&skill).unwrap();
        let (inside, outside) = (skill.join("policy.yaml"), dir.path().join("policy.yaml"));
        for file in [&inside, &outside] {
            std::fs::write(file, "scan: { fail_on: warning }\n").unwrap();
        }
        for judged in [skill.clone(), skill.join("SKILL.md")] {
            let refused = UserPolicy::load(Some(&inside), [&judged]);
            assert!(matches!(refused, Err(Refusal::PolicyInSkill(_))), "{refused:?}");
            let loaded = UserPolicy::load(Some(&outside), [&judged]).unwrap();
            assert!(loaded.refuses(Verdict::Warning) && loaded.file() == Some(outside.as_path()));
        }
    }
}
