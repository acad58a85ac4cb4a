//! What an audit found nothing in is not scanned again, while its files, the rules and the policy are the same; every file is read all the same.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;

use common::{BLOCKED, Stage, WARNED};
use skillsandbox_manifest::Policy;
use skillsandbox_run::PrivateMemory;
use skillsandbox_store::{
    Approval, AuditReport, AuditScope, DeclineReviewer, SkillSource, Store, UserPolicy,
};

fn store(stage: &Stage) -> Store {
    let memory = PrivateMemory::at(stage.dir.path().canonicalize().unwrap().join("memory"));
    stage.store().remember_audits(Some(memory))
}

fn audit(store: &Store) -> AuditReport {
    store.audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap()
}

/// Which skills were not scanned, but remembered.
fn remembered(report: &AuditReport) -> Vec<&str> {
    report.skills.iter().filter(|skill| skill.remembered).map(|skill| skill.name.as_str()).collect()
}

fn reports(stage: &Stage) -> usize {
    fs::read_dir(stage.layout().reports()).unwrap().count()
}

/// Two skills in which nothing is found, and one with a warning.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.installed(&stage.skill("one", "Keep them."));
    stage.installed(&stage.skill("two", "Keep them, too."));
    let warned = SkillSource::Local(stage.skill("warned", WARNED));
    stage.store().install(warned, Approval::Forced, &mut DeclineReviewer).unwrap();
    stage
}

#[test]
fn a_second_audit_says_the_same_and_scans_only_what_had_findings() {
    let stage = stage();
    let first = audit(&store(&stage));
    assert!(first.clean && remembered(&first).is_empty());
    let before = reports(&stage);
    let second = audit(&store(&stage));
    assert!(second.clean);
    assert_eq!(remembered(&second), ["one", "two"]);
    assert_eq!(reports(&stage), before + 2, "a page and its JSON of the one that was scanned");
    for (one, other) in first.skills.iter().zip(&second.skills).filter(|(_, other)| other.remembered) {
        assert_eq!((&one.report, &one.page), (&other.report, &other.page), "{}", one.name);
    }
    // One that is asked for alone, and the others are not forgotten for it.
    let one = store(&stage).audit(&AuditScope::One("one".to_owned()), &|_| {}, &|| {}).unwrap();
    assert_eq!(remembered(&one), ["one"]);
    assert_eq!(remembered(&audit(&store(&stage))), ["one", "two"]);
    // Without a memory, everything is scanned.
    assert!(remembered(&audit(&stage.store())).is_empty());
}

#[test]
fn a_file_that_changed_is_found_and_scanned_though_its_time_and_length_are_the_same() {
    let stage = stage();
    audit(&store(&stage));
    let file = stage.root().join("skills/one/SKILL.md");
    let (text, times) =
        (fs::read_to_string(&file).unwrap(), fs::metadata(&file).unwrap().modified().unwrap());
    let keep = text.find("Keep them.").unwrap();
    let same_length = format!("{}Drop them.{}", &text[..keep], &text[keep + "Keep them.".len()..]);
    fs::write(&file, same_length).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(times).unwrap();
    let changed = audit(&store(&stage));
    assert_eq!(remembered(&changed), ["two"]);
    assert_eq!(changed.skills[0].changed, ["SKILL.md"]);
    fs::write(&file, format!("{text}\n{BLOCKED}\n")).unwrap();
    let blocked = audit(&store(&stage));
    assert!(blocked.skills[0].refused && !blocked.clean);
    fs::write(&file, &text).unwrap();
    assert!(audit(&store(&stage)).clean);
}

#[test]
fn another_policy_blocklist_or_namesake_means_another_scan() {
    let stage = stage();
    audit(&store(&stage));
    let policy = UserPolicy::from(Policy::parse("scan: { blocklist: [collector.test] }").unwrap());
    assert!(remembered(&audit(&store(&stage).with_policy(policy.clone()))).is_empty());
    assert_eq!(remembered(&audit(&store(&stage).with_policy(policy))), ["one", "two"]);
    audit(&store(&stage));
    fs::write(stage.layout().blocklist(), "- collector.test # it collects\n").unwrap();
    assert!(remembered(&audit(&store(&stage))).is_empty());
    // A lock that has another source for a skill of this name.
    audit(&store(&stage));
    let lock = fs::read_to_string(stage.layout().lock_file()).unwrap();
    let other = lock.replace("/sources/one", "/sources/other");
    assert_ne!(lock, other);
    fs::write(stage.layout().lock_file(), other).unwrap();
    assert_eq!(remembered(&audit(&store(&stage))), ["two"]);
}

#[test]
fn what_others_have_to_do_with_a_remembered_skill_is_found() {
    let stage = Stage::new();
    stage.installed(&stage.skill("one", "Then invoke the `two` skill: Skill(two)."));
    audit(&store(&stage));
    assert_eq!(remembered(&audit(&store(&stage))), ["one"]);
    let two = SkillSource::Local(stage.skill("two", "Then invoke the `one` skill: Skill(one)."));
    stage.store().install(two, Approval::Forced, &mut DeclineReviewer).unwrap();
    let found = audit(&store(&stage));
    let fresh = audit(&stage.store());
    for (one, other) in found.skills.iter().zip(&fresh.skills) {
        let (one, other) = (one.report.as_ref().unwrap(), other.report.as_ref().unwrap());
        assert_eq!((&one.findings, one.verdict), (&other.findings, other.verdict));
        assert!(!one.findings.is_empty(), "the control: they call each other");
    }
    assert!(remembered(&found).is_empty());
}

#[test]
fn a_page_that_is_gone_is_written_anew() {
    let stage = stage();
    audit(&store(&stage));
    let page = audit(&store(&stage)).skills[0].page.clone().unwrap();
    fs::remove_file(&page).unwrap();
    let again = audit(&store(&stage));
    assert_eq!(remembered(&again), ["two"]);
    assert!(again.skills[0].page.as_ref().unwrap().exists());
}

#[test]
fn a_memory_that_is_damaged_or_not_ours_means_that_everything_is_scanned() {
    let stage = stage();
    audit(&store(&stage));
    let folder = stage.dir.path().canonicalize().unwrap().join("memory");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    for damaged in [text[..text.len() / 2].to_owned(), text.replace("\"two\"", "\"owt\""), String::new()] {
        fs::write(&file, damaged).unwrap();
        assert!(remembered(&audit(&store(&stage))).is_empty());
        assert_eq!(remembered(&audit(&store(&stage))), ["one", "two"], "the control");
    }
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    assert!(remembered(&audit(&store(&stage))).is_empty());
}
