//! The user's policy: found, loaded and applied in one place, so that every verb and every server decides alike.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use skillsandbox_manifest::{
    Date, FailOn, GrantBases, JudgePolicy, Manifest, Policy, PolicyChange, Resolver, ScanPolicy, user_folders,
};
use skillsandbox_scanner::{ScanReport, ScanVerdict, Scanner, ScannerBuilder, SkillFiles, Suppressions};

use crate::refusal::Refusal;

/// What the user decided for all skills: a ceiling over what they declare, and how they are scanned.
///
/// ```
/// use skillsandbox_manifest::Policy;
/// use skillsandbox_run::UserPolicy;
/// use skillsandbox_scanner::ScanVerdict;
///
/// let policy = UserPolicy::from(Policy::parse("scan: { fail_on: warning }")?);
/// assert!(policy.refuses(ScanVerdict::Warning));
/// assert!(!UserPolicy::none().refuses(ScanVerdict::Warning));
/// # Ok::<(), skillsandbox_manifest::Invalid>(())
/// ```
///
/// Clones share what was loaded.
#[derive(Debug, Clone, Default)]
pub struct UserPolicy(Arc<PolicySettings>);

#[derive(Debug, Default)]
struct PolicySettings {
    file: Option<PathBuf>,
    /// Whether it is the user's own file, and not one that was named.
    is_own: bool,
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
        // A suppression of nothing is a mistake in the policy, so it is told wherever one is read.
        Suppressions::from_policy(policy.scan())?;
        let scan = policy.scan().clone();
        let is_own = named.is_none();
        Ok(Self(Arc::new(PolicySettings { file: Some(file), is_own, ceiling: Some(policy), scan })))
    }

    /// Where it was loaded from.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// Whether it is the user's own (`~/.config/skillsandbox/policy.yaml`), and not a file that was named. One that is named may have come with the
    /// skills.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.0.is_own
    }

    /// Whether there is one at all.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.0.ceiling.is_some()
    }

    /// What both a declaration and this policy allow, and what the policy took away.
    #[must_use]
    pub fn narrow(&self, manifest: Manifest, places: &GrantBases) -> (Manifest, Vec<PolicyChange>) {
        match self.0.ceiling.as_ref().map(|policy| policy.narrow(&manifest, places)) {
            Some(narrowed) => (narrowed.manifest, narrowed.changes),
            None => (manifest, Vec::new()),
        }
    }

    /// Who resolves names, where it says so.
    #[must_use]
    pub fn resolver(&self) -> Option<Resolver> {
        self.0.ceiling.as_ref().and_then(Policy::resolver)
    }

    /// The most that a skill may read, and the most that it may write: by where its grants lead, and including what its programs need. `None`
    /// is no bound.
    #[must_use]
    pub fn ceilings(&self, places: &GrantBases) -> (Option<Vec<PathBuf>>, Option<Vec<PathBuf>>) {
        let ceiling = self.0.ceiling.as_ref();
        let read = ceiling.and_then(|policy| policy.read_ceiling(places));
        (read, ceiling.and_then(|policy| policy.write_ceiling(places)))
    }

    /// A scanner with this policy's settings, which applies its suppressions as they are today; a caller may add what it alone knows, such
    /// as installed skills.
    ///
    /// # Errors
    /// Suppressions of rules that do not exist.
    pub fn scanner_builder(&self) -> Result<ScannerBuilder, Refusal> {
        Ok(Scanner::builder().policy(&self.0.scan, Date::today())?)
    }

    /// Scans all of a skill's folder, as it would run, with the findings that are suppressed today.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn scan_folder(&self, folder: &Path) -> Result<ScanReport, Refusal> {
        self.scan_files(&Self::read_folder(folder)?)
    }

    pub(crate) fn read_folder(folder: &Path) -> Result<SkillFiles, Refusal> {
        SkillFiles::from_whole_dir(folder).map_err(|error| Refusal::Unscanned(error.to_string()))
    }

    /// All that the verdict on a folder depends on besides what it holds, in one text.
    pub(crate) fn verdict_settings(&self) -> Result<String, Refusal> {
        // No installed skills are told to this scanner, and its rules are those of this program, which is part of every question.
        let settings = self.scanner_builder()?.settings_digest();
        Ok(format!("{settings} {}", self.refused_from().as_str()))
    }

    pub(crate) fn scan_files(&self, skill: &SkillFiles) -> Result<ScanReport, Refusal> {
        Ok(self.scanner_builder()?.build().scan(skill))
    }

    /// Who is asked for a second opinion where skills are scanned, installed and updated: `scan.judge`.
    #[must_use]
    pub fn judge(&self) -> Option<&JudgePolicy> {
        self.0.scan.judge.as_ref()
    }

    /// From which verdict on a skill is refused: `scan.fail_on`, BLOCKED unless it says more.
    #[must_use]
    pub fn refused_from(&self) -> ScanVerdict {
        match self.0.scan.fail_on {
            None | Some(FailOn::Blocked) => ScanVerdict::Blocked,
            Some(FailOn::Warning) => ScanVerdict::Warning,
        }
    }

    /// Whether a skill with this report is refused: by its verdict, or because there was nothing in it to judge.
    #[must_use]
    pub fn refuses_report(&self, report: &ScanReport) -> bool {
        self.refuses(report.verdict) || report.has_nothing_to_judge()
    }

    /// Whether a skill with this verdict is refused.
    #[must_use]
    pub fn refuses(&self, verdict: ScanVerdict) -> bool {
        verdict >= self.refused_from()
    }
}

/// A policy that was not read from a file.
impl From<Policy> for UserPolicy {
    fn from(policy: Policy) -> Self {
        let scan = policy.scan().clone();
        Self(Arc::new(PolicySettings { file: None, is_own: false, ceiling: Some(policy), scan }))
    }
}

/// The file that is named, or the user's own where there is one.
fn find(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(file) => Some(file.to_owned()),
        None => user_folders::policy_file().filter(|file| !is_absent(file)),
    }
}

/// Whether there surely is no such file. A broken link on the way, or a folder that may not be searched, may hide one: then reading it is
/// an error, which is not the same as no policy.
fn is_absent(file: &Path) -> bool {
    for path in file.ancestors() {
        match std::fs::symlink_metadata(path) {
            // A link that leads nowhere.
            Ok(found) if found.is_symlink() => return path != file && path.metadata().is_ok(),
            Ok(_) => return path != file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(_) => return false,
        }
    }
    true
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
            assert_eq!(policy.refuses(ScanVerdict::Warning), warning, "{text}");
            assert!(policy.refuses(ScanVerdict::Blocked) && !policy.refuses(ScanVerdict::Safe), "{text}");
        }
        assert!(UserPolicy::none().refuses(ScanVerdict::Blocked));
    }

    #[test]
    fn only_what_is_surely_absent_is_no_policy() {
        use std::os::unix::fs::symlink;

        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        std::fs::create_dir_all(at("real/skillsandbox")).unwrap();
        std::fs::write(at("real/skillsandbox/policy.yaml"), "{}").unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        symlink(at("gone"), at("broken")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        symlink(at("empty"), at("link")).unwrap();
        symlink(at("gone"), at("empty/policy.yaml")).unwrap();
        for absent in [
            "none/skillsandbox/policy.yaml",
            "empty/skillsandbox/policy.yaml",
            "link/x/policy.yaml",
            "file/policy.yaml",
        ] {
            assert!(is_absent(&at(absent)), "{absent}");
        }
        for there in [
            "real/skillsandbox/policy.yaml",
            "broken/policy.yaml",
            "broken/skillsandbox/policy.yaml",
            "loop/policy.yaml",
            "empty/policy.yaml",
        ] {
            assert!(!is_absent(&at(there)), "{there}");
        }
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
            assert!(loaded.refuses(ScanVerdict::Warning) && loaded.file() == Some(outside.as_path()));
        }
    }
}
