//! The checklist's rows about installing, one test each; docs/behaviours.md names them.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;

use common::{BLOCKED, Says, Stage, WARNED, document};
use skillsandbox_manifest::Policy;
use skillsandbox_scanner::ScanVerdict;
use skillsandbox_store::{
    Approval, AuditScope, DeclineReviewer, Error, InstallOutcome, SkillSource, Store, StoreLayout,
    UserPolicy, index, page,
};

#[test]
fn row_045_every_scan_appends_one_row_to_the_index() {
    let stage = Stage::new();
    let (good, bad) = (stage.skill("good", "Keep them."), stage.skill("bad", BLOCKED));
    stage.installed(&good);
    let first = fs::read_to_string(stage.layout().index()).unwrap();
    assert_eq!(stage.install(&bad).unwrap().done, InstallOutcome::Blocked);
    stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap();
    let all = fs::read_to_string(stage.layout().index()).unwrap();
    assert!(all.starts_with(&first), "rows are only ever added");
    let rows = index(&stage.layout(), None).unwrap();
    let told: Vec<_> = rows.iter().map(|row| (row.skill.as_str(), row.verdict.as_str())).collect();
    assert_eq!(told, [("good", "SAFE"), ("bad", "BLOCKED"), ("good", "SAFE")]);
    for row in &rows {
        let shown = page(&stage.layout(), &row.scan_id).unwrap();
        assert!(shown.contains(&format!("scan_id: {}\n", row.scan_id)));
        let json = stage.root().join(&row.report_path).with_extension("json");
        let json: serde_json::Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
        assert_eq!(json["scan_id"], row.scan_id.as_str());
    }
    assert_eq!(index(&stage.layout(), Some("bad")).unwrap().len(), 1);
}

#[test]
fn row_046_nothing_unscanned_reaches_the_install_dir() {
    let stage = Stage::new();
    let skill = stage.skill("odd", WARNED);
    let mut no = Says::new(false, &stage);
    let outcome = stage.store().install(SkillSource::Local(skill), Approval::Ask, &mut no).unwrap();
    assert_eq!(outcome.done, InstallOutcome::Declined);
    // When it was asked about, only the report of the scan was there.
    assert_eq!(no.asked, ["WARNING"]);
    let below = |path: &String| !path.starts_with("security/") && path != ".skillsandbox/lock";
    assert_eq!(no.seen[0].iter().filter(|path| below(path)).count(), 0, "{:?}", no.seen);
    assert!(!stage.root().join("skills").exists());
}

#[test]
fn row_046_what_is_written_is_what_was_scanned() {
    // The source is changed after the scan: what was scanned is installed, not what is there now.
    struct Swaps(std::path::PathBuf);
    impl skillsandbox_store::Reviewer for Swaps {
        fn approve(&mut self, _: &skillsandbox_store::InstallReview<'_>) -> bool {
            fs::write(self.0.join("SKILL.md"), document("odd", BLOCKED)).unwrap();
            fs::write(self.0.join("evil.sh"), "curl x").unwrap();
            true
        }
    }
    let stage = Stage::new();
    let skill = stage.skill("odd", WARNED);
    let mut swaps = Swaps(skill.clone());
    stage.store().install(SkillSource::Local(skill), Approval::Ask, &mut swaps).unwrap();
    let installed = stage.root().join("skills/odd");
    assert_eq!(common::files(&installed), ["SKILL.md"]);
    assert_eq!(fs::read_to_string(installed.join("SKILL.md")).unwrap(), document("odd", WARNED));
}

#[test]
fn row_047_blocked_aborts_keeps_the_report_and_deletes_the_rest() {
    let stage = Stage::new();
    let skill = stage.skill("bad", BLOCKED);
    for approval in [Approval::Ask, Approval::Forced] {
        let outcome = stage
            .store()
            .install(SkillSource::Local(skill.clone()), approval, &mut Says::new(true, &stage))
            .unwrap();
        assert_eq!((outcome.done, outcome.report.verdict), (InstallOutcome::Blocked, ScanVerdict::Blocked));
        assert_eq!(outcome.report.findings[0].rule, "CHECK-01/override");
        assert!(fs::read_to_string(&outcome.page).unwrap().contains("**Verdict**: BLOCKED"));
    }
    let files = stage.files();
    assert!(files.iter().all(|path| path.starts_with("security/")), "{files:?}");
    assert_eq!(stage.store().list().unwrap().entries().len(), 0);
}

#[test]
fn row_047_only_a_reviewed_suppression_lets_a_blocked_skill_in_and_the_lock_says_so() {
    let stage = Stage::new();
    let skill = stage.skill("bad", BLOCKED);
    let policy = |expires: &str| {
        let text = format!(
            "scan:\n  suppressions:\n    - {{ rule: CHECK-01/override, skill: bad, reason: Our own test, expires: {expires} }}\n"
        );
        UserPolicy::from(Policy::parse(&text).unwrap())
    };
    let install = |expires| {
        let store = stage.store().with_policy(policy(expires));
        store.install(SkillSource::Local(skill.clone()), Approval::Ask, &mut DeclineReviewer).unwrap().done
    };
    assert_eq!(install("2020-01-01"), InstallOutcome::Blocked);
    assert_eq!(install("2999-01-01"), InstallOutcome::Installed);
    let lock = stage.store().list().unwrap();
    let entry = lock.get("bad").unwrap();
    assert_eq!(entry.suppressed[0].rule, "CHECK-01/override");
    assert_eq!(entry.suppressed[0].reason, "Our own test");
    // Without the suppression, the audit says what it is.
    assert!(!stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap().clean);
}

#[test]
fn row_048_a_warning_is_asked_about_and_no_is_no() {
    let stage = Stage::new();
    let skill = stage.skill("odd", WARNED);
    assert_eq!(stage.install(&skill).unwrap().done, InstallOutcome::Declined);
    assert_eq!(stage.store().list().unwrap().entries().len(), 0);
    let mut yes = Says::new(true, &stage);
    let outcome = stage.store().install(SkillSource::Local(skill), Approval::Ask, &mut yes).unwrap();
    assert_eq!(
        (outcome.done, yes.asked.as_slice()),
        (InstallOutcome::Installed, ["WARNING".to_owned()].as_slice())
    );
    let lock = stage.store().list().unwrap();
    let entry = lock.get("odd").unwrap();
    assert_eq!((entry.security_scan.verdict.as_str(), entry.forced), ("WARNING", false));
}

#[test]
fn row_049_safe_installs_and_logs_the_scan_id() {
    let stage = Stage::new();
    let outcome = stage.installed(&stage.skill("good", "Keep them."));
    let lock = fs::read_to_string(stage.layout().lock_file()).unwrap();
    let id = outcome.report.stamp.unwrap().scan_id;
    assert!(lock.contains(&format!("scan_id: {id}")), "{lock}");
    assert_eq!(common::files(&stage.root().join("skills")), ["good/SKILL.md"]);
}

#[test]
fn row_050_force_overrides_a_warning_and_is_recorded() {
    let stage = Stage::new();
    let skill = stage.skill("odd", WARNED);
    let outcome =
        stage.store().install(SkillSource::Local(skill), Approval::Forced, &mut DeclineReviewer).unwrap();
    assert_eq!(outcome.done, InstallOutcome::Installed);
    assert!(stage.store().list().unwrap().get("odd").unwrap().forced);
    assert!(fs::read_to_string(stage.layout().lock_file()).unwrap().contains("forced: true"));
}

#[test]
fn row_050_a_policy_that_refuses_warnings_is_not_overridden() {
    let stage = Stage::new();
    let skill = stage.skill("odd", WARNED);
    let policy = UserPolicy::from(Policy::parse("scan: { fail_on: warning }").unwrap());
    let store = stage.store().with_policy(policy);
    let outcome =
        store.install(SkillSource::Local(skill), Approval::Forced, &mut Says::new(true, &stage)).unwrap();
    assert_eq!(outcome.done, InstallOutcome::Blocked);
}

#[test]
fn row_051_update_scans_again_and_a_blocked_one_keeps_the_old_version() {
    let stage = Stage::new();
    let skill = stage.skill("notes", "First.");
    stage.installed(&skill);
    let update = || stage.store().update("notes", Approval::Forced, &mut DeclineReviewer).unwrap();
    assert_eq!(update().done, InstallOutcome::Unchanged);
    stage.skill("notes", "Second.");
    assert_eq!(update().done, InstallOutcome::Updated);
    let installed = stage.root().join("skills/notes/SKILL.md");
    assert_eq!(fs::read_to_string(&installed).unwrap(), document("notes", "Second."));
    let lock = fs::read_to_string(stage.layout().lock_file()).unwrap();

    stage.skill("notes", BLOCKED);
    stage.write("sources/notes/more.md", "More.");
    assert_eq!(update().done, InstallOutcome::Blocked);
    assert_eq!(common::files(&stage.root().join("skills")), ["notes/SKILL.md"]);
    assert_eq!(fs::read_to_string(&installed).unwrap(), document("notes", "Second."));
    assert_eq!(fs::read_to_string(stage.layout().lock_file()).unwrap(), lock);
    assert_eq!(index(&stage.layout(), None).unwrap().last().unwrap().verdict, "BLOCKED");
}

#[test]
fn row_051_an_update_that_wants_more_is_asked_about() {
    let stage = Stage::new();
    let manifest = |egress: &str| {
        format!(
            "skill: {{ name: notes, version: '1' }}\npermissions: {{ network: {{ egress: [{egress}] }} }}\nentrypoint: {{ command: python3, args: [main.py] }}\n"
        )
    };
    let skill = stage.skill("notes", "Keep them.");
    stage.write("sources/notes/skillsandbox.yaml", manifest("{ domain: a.test }"));
    stage.installed(&skill);
    // Less, or the same in other words, is no question.
    stage.write("sources/notes/skillsandbox.yaml", manifest("{ domain: a.test, protocol: https }"));
    assert_eq!(
        stage.store().update("notes", Approval::Ask, &mut DeclineReviewer).unwrap().done,
        InstallOutcome::Updated
    );
    stage.write("sources/notes/skillsandbox.yaml", manifest("{ domain: a.test }, { domain: b.test }"));
    let mut no = Says::new(false, &stage);
    assert_eq!(stage.store().update("notes", Approval::Ask, &mut no).unwrap().done, InstallOutcome::Declined);
    assert_eq!(
        no.asked,
        [
            "SAFE; permissions.network.egress: added a.test 443/tcp; permissions.network.egress: added b.test 443/tcp"
        ]
    );
    let permissions = || stage.store().list().unwrap().get("notes").unwrap().permissions.clone().unwrap();
    assert_eq!(permissions().network, ["a.test 443/https"]);
    let mut yes = Says::new(true, &stage);
    let outcome = stage.store().update("notes", Approval::Ask, &mut yes).unwrap();
    assert_eq!(outcome.done, InstallOutcome::Updated);
    assert!(outcome.diff.unwrap().widens());
    assert_eq!(permissions().network, ["a.test 443/tcp", "b.test 443/tcp"]);
}

/// Who answers for the names, and what is started, is as much a permission as the hosts.
#[test]
fn row_051_an_update_with_its_own_resolver_or_another_entrypoint_is_asked_about() {
    let stage = Stage::new();
    let manifest = |resolver: &str, args: &str| {
        format!(
            "skill: {{ name: notes, version: '1' }}\npermissions: {{ network: {{ resolver: {resolver}, egress: [{{ domain: a.test }}] }} }}\nentrypoint: {{ command: python3, args: [{args}] }}\n"
        )
    };
    let skill = stage.skill("notes", "Keep them.");
    let write = |resolver: &str, args: &str| {
        stage.write("sources/notes/skillsandbox.yaml", manifest(resolver, args));
    };
    write("system", "main.py");
    stage.installed(&skill);
    let recorded = || stage.store().list().unwrap().get("notes").unwrap().permissions.clone().unwrap();
    for (resolver, args, asked) in [
        ("192.0.2.53", "main.py", "permissions.network.resolver: changed from system to 192.0.2.53"),
        ("system", "other.py", "entrypoint: changed from python3 main.py to python3 other.py"),
    ] {
        write(resolver, args);
        // Nobody can be asked: it stays as it is.
        let outcome = stage.store().update("notes", Approval::Ask, &mut DeclineReviewer).unwrap();
        assert_eq!(outcome.done, InstallOutcome::Declined);
        let mut no = Says::new(false, &stage);
        assert_eq!(
            stage.store().update("notes", Approval::Ask, &mut no).unwrap().done,
            InstallOutcome::Declined
        );
        assert_eq!(no.asked, [format!("SAFE; {asked}")]);
        assert_eq!(recorded().resolver.as_deref(), Some("system"));
        assert_eq!(recorded().entrypoint.unwrap(), ["python3", "main.py"]);
    }
    write("192.0.2.53", "other.py");
    let mut yes = Says::new(true, &stage);
    assert_eq!(stage.store().update("notes", Approval::Ask, &mut yes).unwrap().done, InstallOutcome::Updated);
    assert_eq!(recorded().resolver.as_deref(), Some("192.0.2.53"));
    assert_eq!(recorded().entrypoint.unwrap(), ["python3", "other.py"]);
    let lock = fs::read_to_string(stage.layout().lock_file()).unwrap();
    assert!(lock.contains("resolver: \"192.0.2.53\"") && lock.contains("other.py"), "{lock}");
}

/// The front matter tells an agent what to give a skill and what to keep from it.
#[test]
fn row_051_an_update_whose_front_matter_gives_more_is_asked_about() {
    let stage = Stage::new();
    let write = |front: &str| {
        let text = document("notes", "Keep them.").replacen("---\n", &format!("---\n{front}"), 1);
        stage.write("sources/notes/SKILL.md", text);
    };
    let skill = stage.skill("notes", "Keep them.");
    let first = "allowed-tools: Read\ndisallowed-tools: Bash\n";
    write(first);
    stage.installed(&skill);
    let before = fs::read_to_string(stage.layout().lock_file()).unwrap();
    for (front, asked) in [
        ("allowed-tools: Read\ndisallowed-tools: Bash\ntools: Write\n", "allowed-tools: added Write"),
        ("allowed-tools: Read\n", "disallowed-tools: removed Bash"),
        (
            "allowed-tools: Read\ndisallowed-tools: Bash\nhooks: { Stop: [{ command: ./x.sh }] }\n",
            r#"front matter: added hooks {"Stop":[{"command":"./x.sh"}]}"#,
        ),
    ] {
        write(front);
        let outcome = stage.store().update("notes", Approval::Ask, &mut DeclineReviewer).unwrap();
        assert_eq!(outcome.done, InstallOutcome::Declined, "{front}");
        let mut no = Says::new(false, &stage);
        stage.store().update("notes", Approval::Ask, &mut no).unwrap();
        assert!(no.asked.len() == 1 && no.asked[0].ends_with(&format!("; {asked}")), "{:?}", no.asked);
        assert_eq!(fs::read_to_string(stage.layout().lock_file()).unwrap(), before);
    }
    // What was said yes to is recorded, and not asked about again.
    write(&format!("{first}hooks: {{ Stop: ./x.sh }}\n"));
    let mut yes = Says::new(true, &stage);
    assert_eq!(stage.store().update("notes", Approval::Ask, &mut yes).unwrap().done, InstallOutcome::Updated);
    let recorded = stage.store().list().unwrap().get("notes").unwrap().permissions.clone().unwrap();
    assert_eq!(recorded.document.settings["hooks"], r#"{"Stop":"./x.sh"}"#);
    assert_eq!(recorded.document.disallowed_tools, ["Bash"]);
    stage.write("sources/notes/more.md", "More.");
    let outcome = stage.store().update("notes", Approval::Forced, &mut DeclineReviewer).unwrap();
    assert!(!outcome.diff.unwrap().widens());
}

/// A lock that was written before the resolver and the entrypoint were recorded: what it does not say is not known.
#[test]
fn row_051_what_an_old_lock_does_not_record_is_asked_about() {
    let stage = Stage::new();
    let skill = stage.skill("notes", "Keep them.");
    let write = |rest: &str| {
        let text = format!(
            "skill: {{ name: notes, version: '1' }}\n{rest}entrypoint: {{ command: python3, args: [main.py] }}\n"
        );
        stage.write("sources/notes/skillsandbox.yaml", text);
    };
    write("");
    stage.installed(&skill);
    let path = stage.layout().lock_file();
    let mut lock: serde_json::Value = serde_yaml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let recorded = lock[0]["permissions"].as_object_mut().unwrap();
    for key in ["resolver", "runtime", "entrypoint", "parameters"] {
        assert!(recorded.remove(key).is_some(), "{key}");
    }
    fs::write(&path, serde_yaml::to_string(&lock).unwrap()).unwrap();
    write("permissions: { network: { resolver: 192.0.2.53 } }\n");
    let mut no = Says::new(false, &stage);
    assert_eq!(stage.store().update("notes", Approval::Ask, &mut no).unwrap().done, InstallOutcome::Declined);
    assert_eq!(
        no.asked,
        [
            "SAFE; entrypoint: set to python3 main.py; none is recorded for the installed version; permissions.network.resolver: changed from system to 192.0.2.53"
        ]
    );
}

#[test]
fn row_052_a_lock_entry_has_every_field_in_its_form() {
    let stage = Stage::new();
    let skill = stage.skill("notes", "Keep them.");
    stage.write("sources/notes/run.sh", "#!/bin/sh\necho hello\n");
    let outcome = stage.installed(&skill);
    let lock = fs::read_to_string(stage.layout().lock_file()).unwrap();
    let value: serde_json::Value = serde_yaml::from_str(&lock).unwrap();
    let entry = &value[0];
    let stamp = outcome.report.stamp.unwrap();
    assert_eq!(entry["name"], "notes");
    assert_eq!(entry["version"], "unknown");
    assert_eq!(entry["source"], format!("local:{}", skill.display()));
    assert_eq!(entry["installed_to"], "skills/notes");
    assert_eq!(entry["security_scan"]["verdict"], "SAFE");
    assert_eq!(entry["security_scan"]["scan_id"], stamp.scan_id);
    assert_eq!(entry["security_scan"]["scanned_at"], stamp.scanned_at);
    let page = entry["security_scan"]["report_path"].as_str().unwrap();
    assert_eq!(stage.root().join(page), outcome.page);
    let time = entry["installed_at"].as_str().unwrap();
    assert!(time.len() == 20 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    // As anybody can compute it.
    let sums = std::process::Command::new("sh")
        .args(["-c", "sha256sum SKILL.md run.sh | sha256sum | cut -d' ' -f1"])
        .current_dir(&skill)
        .output()
        .unwrap();
    let sum = String::from_utf8(sums.stdout).unwrap();
    assert_eq!(entry["hash"], format!("sha256:{}", sum.trim()));
    // The order of the specification.
    let keys: Vec<&str> =
        lock.lines().filter_map(|line| line.get(2..)?.split_once(':').map(|(key, _)| key)).collect();
    let expected = ["name", "version", "source", "installed_to", "hash", "installed_at", "security_scan"];
    assert_eq!(keys[..7], expected, "{lock}");
}

#[test]
fn row_053_one_all_and_the_whole_system_can_be_scanned_again() {
    let stage = Stage::new();
    for name in ["one", "two"] {
        stage.installed(&stage.skill(name, "Keep them."));
    }
    fs::create_dir(stage.root().join("skills/stray")).unwrap();
    fs::write(stage.root().join("skills/stray/SKILL.md"), document("stray", BLOCKED)).unwrap();
    let names = |scope| {
        let audit = stage.store().audit(&scope, &|_| {}, &|| {}).unwrap();
        let names: Vec<String> = audit.skills.iter().map(|skill| skill.name.clone()).collect();
        (names.join(" "), audit.clean)
    };
    assert_eq!(names(AuditScope::One("two".to_owned())), ("two".to_owned(), true));
    assert_eq!(names(AuditScope::Everything), ("one two stray".to_owned(), false));
    let none = stage.store().audit(&AuditScope::One("three".to_owned()), &|_| {}, &|| {});
    assert!(matches!(none, Err(Error::NotInstalled { .. })));
}

#[test]
fn row_053_todays_blocklist_counts_for_what_was_installed_yesterday() {
    let stage = Stage::new();
    stage.installed(&stage.skill("notes", "See https://notes.invalid/help for more."));
    assert!(stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap().clean);
    fs::write(stage.layout().blocklist(), "# Security Blocklist\n\n- notes.invalid # seen in the wild\n")
        .unwrap();
    let audit = stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap();
    assert_eq!((audit.clean, audit.skills[0].verdict()), (false, Some(ScanVerdict::Blocked)));
}

type Harm = fn(&std::path::Path);

#[test]
fn row_055_every_difference_between_lock_and_disk_is_found() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let stage = Stage::new();
    let skill = stage.skill("notes", "Keep them.");
    for (path, text) in [("a.md", "A."), ("b/c.md", "C."), ("run.sh", "echo hello\n")] {
        stage.write(&format!("sources/notes/{path}"), text);
    }
    stage.installed(&skill);
    let there = stage.root().join("skills/notes");
    let audit = || stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap().skills.remove(0);
    assert!(audit().is_clean());
    fs::write(there.join("a.md"), "B.").unwrap();
    fs::remove_file(there.join("b/c.md")).unwrap();
    fs::write(there.join(".hidden"), "x").unwrap();
    let found = audit();
    assert!(!found.is_clean());
    assert_eq!(
        (found.changed, found.missing, found.added),
        (vec!["a.md".into()], vec!["b/c.md".into()], vec![".hidden".into()])
    );

    // Each way by itself.
    let ways: [(&str, Harm); 6] = [
        ("a link to the same bytes", |there| {
            fs::rename(there.join("a.md"), there.with_extension("elsewhere")).unwrap();
            symlink(there.with_extension("elsewhere"), there.join("a.md")).unwrap();
        }),
        ("executable", |there| {
            fs::set_permissions(there.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("git's own folder", |there| fs::create_dir(there.join(".git")).unwrap()),
        ("a nested skill", |there| {
            fs::create_dir(there.join("inner")).unwrap();
            fs::write(there.join("inner/SKILL.md"), document("inner", "Fine.")).unwrap();
        }),
        ("gone", |there| fs::remove_dir_all(there).unwrap()),
        ("a link to another folder", |there| {
            fs::rename(there, there.with_extension("moved")).unwrap();
            symlink(there.with_extension("moved"), there).unwrap();
        }),
    ];
    for (way, harm) in ways {
        let stage = Stage::new();
        let skill = stage.skill("notes", "Keep them.");
        stage.write("sources/notes/a.md", "A.");
        stage.write("sources/notes/run.sh", "echo hello\n");
        stage.installed(&skill);
        harm(&stage.root().join("skills/notes"));
        assert!(!stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap().clean, "{way}");
    }
}

#[test]
fn row_055_a_lock_that_was_edited_is_found() {
    let stage = Stage::new();
    stage.installed(&stage.skill("notes", "Keep them."));
    let path = stage.layout().lock_file();
    let text = fs::read_to_string(&path).unwrap();
    let start = text.find("hash: sha256:").unwrap() + "hash: sha256:".len();
    let edited = format!("{}0000{}", &text[..start], &text[start + 4..]);
    fs::write(&path, edited).unwrap();
    let audit = stage.store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap();
    assert!(audit.skills[0].problems[0].contains("contradicts itself"), "{:?}", audit.skills[0].problems);
}

/// Rows 21, 22, 39 and 40, as an installation meets them.
#[test]
fn row_040_a_system_skill_is_not_replaced_from_outside() {
    let stage = Stage::new();
    let root = stage.dir.path().canonicalize().unwrap().join("os");
    fs::create_dir_all(root.join("system/agents")).unwrap();
    fs::create_dir_all(root.join("system/skills/memory")).unwrap();
    fs::write(root.join("system/agents/system-agent.md"), "the system's own").unwrap();
    fs::write(root.join("system/skills/memory/memory.manifest.md"), "the system's own").unwrap();
    let store = || Store::new(StoreLayout::system(&root));
    let agent = document("researcher", "Read papers.").replace("type: skill", "type: agent");
    let file = stage.write("researcher.md", &agent);
    let outcome =
        store().install(SkillSource::Local(file.clone()), Approval::Ask, &mut DeclineReviewer).unwrap();
    assert_eq!(outcome.done, InstallOutcome::Installed);
    let lock = store().list().unwrap();
    assert_eq!(lock.get("researcher").unwrap().installed_to, "system/agents/researcher.md");
    assert_eq!(fs::read_to_string(root.join("system/agents/researcher.md")).unwrap(), agent);
    assert!(outcome.page.starts_with(root.join("system/security/scan_reports")));
    // What was installed is no system skill: it may be updated.
    stage.write("researcher.md", agent.replace("papers", "books"));
    assert_eq!(
        store().update("researcher", Approval::Ask, &mut DeclineReviewer).unwrap().done,
        InstallOutcome::Updated
    );
    assert!(store().audit(&AuditScope::Everything, &|_| {}, &|| {}).unwrap().clean);
    // The system's own stay what they are, from wherever another of their name comes.
    for (name, kind) in [("system-agent", "agent"), ("memory", "skill")] {
        let text = document(name, "Fine.").replace("type: skill", &format!("type: {kind}"));
        let file = stage.write(&format!("{name}.md"), text);
        let refused = store().install(SkillSource::Local(file), Approval::Forced, &mut DeclineReviewer);
        assert!(matches!(refused, Err(Error::Occupied { .. })), "{name}: {refused:?}");
    }
    assert_eq!(fs::read_to_string(root.join("system/agents/system-agent.md")).unwrap(), "the system's own");
    store().remove("researcher").unwrap();
    assert!(!root.join("system/agents/researcher.md").exists());
}
