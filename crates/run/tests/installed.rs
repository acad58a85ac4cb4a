//! An installed skill is what was installed until its run stands.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillsandbox_run::{
    InstallationCheck, InstalledSkill, LoadChoice, LoadedSkill, OutputTarget, RunOptions, ScanAdmission,
    SkillCall, Unrecorded, UserPolicy, run_skill,
};

/// Swaps the folder for another when it has been looked at so many times.
#[derive(Debug)]
struct Swapping {
    folder: PathBuf,
    evil: PathBuf,
    after: usize,
    looks: AtomicUsize,
}

impl InstallationCheck for Swapping {
    fn differences(&self, _: &[String]) -> Result<Vec<String>, String> {
        let is_same = fs::read_to_string(self.folder.join("main.sh")).unwrap() == "echo good\n";
        if self.looks.fetch_add(1, Ordering::SeqCst) + 1 == self.after {
            let aside = self.folder.with_extension("old");
            fs::rename(&self.folder, aside).unwrap();
            fs::rename(&self.evil, &self.folder).unwrap();
        }
        Ok(if is_same { Vec::new() } else { vec!["main.sh (changed)".to_owned()] })
    }
}

fn write_skill(folder: &Path, script: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("SKILL.md"), "---\nname: notes\ndescription: Keeps notes\n---\nRun it.\n").unwrap();
    fs::write(folder.join("main.sh"), script).unwrap();
}

/// What a run prints whose folder is swapped after so many looks, and its error.
fn ran(after: usize, admission: ScanAdmission) -> (String, Option<String>, usize) {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
    write_skill(&at("notes"), "echo good\n");
    write_skill(&at("evil"), "echo EVIL\n");
    let check =
        Arc::new(Swapping { folder: at("notes"), evil: at("evil"), after, looks: AtomicUsize::new(0) });
    let mut choice = LoadChoice::default();
    choice.installed =
        Some(InstalledSkill { name: "notes".into(), source: "local:/x".into(), check: check.clone() });
    let skill = LoadedSkill::load_with(&at("notes"), &choice, &UserPolicy::none()).unwrap();
    let call = SkillCall { arguments: vec!["sh".into(), "main.sh".into()], ..SkillCall::default() };
    let mut options = RunOptions::default();
    options.trace = Some(at("trace.json"));
    (options.streams.stdout, options.streams.stderr) = (OutputTarget::Kept, OutputTarget::Kept);
    let report = run_skill(&skill, &call, admission, &Unrecorded, |_| {}, options);
    let printed = String::from_utf8_lossy(&report.stdout.kept).into_owned();
    (printed, report.ended.err().map(|refusal| refusal.to_string()), check.looks.load(Ordering::SeqCst))
}

#[test]
fn row_162_a_folder_that_is_swapped_between_the_check_and_the_run_is_refused() {
    for admission in [ScanAdmission::Required, ScanAdmission::DangerouslySkipped] {
        let (printed, refused, looks) = ran(usize::MAX, admission);
        assert_eq!((printed.as_str(), refused.as_deref()), ("good\n", None), "the control");
        assert!(looks >= 2, "it is looked at before, and when the layers are in place");
        let (printed, refused, _) = ran(1, admission);
        assert_eq!(printed, "", "{refused:?}");
        assert!(refused.is_some());
    }
}
