//! Installed skills, run by their names: by whose manifest, and only as they were installed.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use sandboxed::notes::{DOCUMENT, err, folder, installed, prints, refused, shell, source};
use sandboxed::{Stage, code, text, trace};
use serde_json::Value;

/// A manifest of the user's own for the skill, from this source.
fn users_manifest(stage: &Stage, source: &str, manifest: &str) -> PathBuf {
    let target = serde_json::json!({ "version": 1, "name": "notes", "source": source, "digest": "0" });
    let file = stage.write("home/.config/skillsandbox/manifests/notes/skillsandbox.yaml", manifest);
    let target = stage.write("home/.config/skillsandbox/manifests/notes/for.json", &format!("{target}\n"));
    let folder = file.parent().unwrap();
    for (path, mode) in [(folder.parent().unwrap(), 0o700), (folder, 0o700), (&file, 0o600), (&target, 0o600)]
    {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    file
}

/// The source as the lock has it.
fn lock_source(stage: &Stage) -> String {
    let list: Value = serde_json::from_slice(&stage.run(&["list", "--format", "json"]).stdout).unwrap();
    list[0]["source"].as_str().unwrap().to_owned()
}

fn standing(stage: &Stage) -> Value {
    let list: Value = serde_json::from_slice(&stage.run(&["list", "--format", "json"]).stdout).unwrap();
    list[0]["runs"].clone()
}

const ENTRYPOINT: &str =
    "skill: { name: notes, version: '1' }\nentrypoint: { command: sh, args: [scripts/show.sh, mine] }\n";

#[test]
fn row_161_an_installed_skill_runs_by_its_name_with_the_safe_defaults_that_are_shown() {
    let (stage, _) = installed();
    stage.write("home/private.txt", "STOLEN");
    let preview = stage.run(&["run", "--dry-run", "notes", "--", "sh", "scripts/show.sh"]);
    let shown = text(&preview.stdout);
    for line in ["safe defaults", "no network at all", "256 MiB of memory", "a run would start"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    prints(&stage.run(&["run", "notes", "--", "sh", "scripts/show.sh", "a b"]), "shown a b\n");
    // A file of the skill's folder is one, wherever the run starts.
    prints(&stage.run(&["run", "notes", "--", "sh", "./scripts/show.sh"]), "shown\n");
    let host = stage.home().join("private.txt");
    let hidden = format!("cat {}; touch x 2>&1; ls /sys/class/net 2>&1; exit 0", host.display());
    let tried = shell(&stage, &[], &hidden);
    let told = format!("{}{}", text(&tried.stdout), err(&tried));
    assert!(!told.contains("STOLEN") && told.contains("touch"), "{told}");
    assert!(told.contains("`skillsandbox learn notes -- …` finds out what it needs"), "{told}");
    let mut command = stage.command(&["run", "-q", "notes", "--", "env"]);
    let output = command.env("LANG", "C").env("SECRET_TOKEN", "x").env("EDITOR", "vi").output().unwrap();
    let variables = text(&output.stdout);
    assert!(variables.contains("LANG=C\n") && variables.contains("PATH="), "{variables}");
    assert!(!variables.contains("SECRET_TOKEN") && !variables.contains("EDITOR"), "{variables}");
    let traces = stage.traces();
    assert!(traces.iter().all(|path| trace(path).to_string().contains("safe defaults")), "{traces:?}");
    assert_eq!(standing(&stage)["by"], "defaults");
    let inspected = text(&stage.run(&["inspect", "notes"]).stdout);
    assert!(inspected.contains("safe defaults") && inspected.contains("the caller's"), "{inspected}");
}

#[test]
fn without_an_entrypoint_and_a_command_the_scripts_are_named() {
    let (stage, _) = installed();
    refused(&stage.run(&["run", "notes"]), "scripts/show.sh");
}

#[test]
fn row_161_a_manifest_kept_outside_survives_an_update_and_is_compared() {
    let (stage, source) = installed();
    let file = users_manifest(&stage, &lock_source(&stage), ENTRYPOINT);
    assert_eq!(standing(&stage)["by"], "user");
    prints(&stage.run(&["run", "notes"]), "shown mine\n");
    // The new version has another script, and a manifest of its own that wants more.
    let at = |name: &str| PathBuf::from(&source).join(name);
    fs::rename(at("scripts/show.sh"), at("scripts/tell.sh")).unwrap();
    let wider = format!(
        "{}permissions: {{ network: {{ egress: [{{ domain: api.notes.test }}] }} }}\n",
        ENTRYPOINT.replace("show", "tell")
    );
    fs::write(at("skillsandbox.yaml"), wider).unwrap();
    let updated = stage.run(&["update", "--force", "notes"]);
    let told = err(&updated);
    assert_eq!(code(&updated), 0, "{told}");
    for line in
        ["names scripts/show.sh, which this version does not have", "api.notes.test", "yours goes before it"]
    {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), ENTRYPOINT);
    let ran = stage.run(&["run", "notes"]);
    assert_ne!(code(&ran), 0, "its script is gone: {}", err(&ran));
    assert!(err(&ran).contains("compare with `skillsandbox learn --diff`"), "{}", err(&ran));
    // The person may name another one for a run.
    let other = stage.write("other.yaml", &ENTRYPOINT.replace("show", "tell").replace("mine", "other"));
    prints(&stage.run(&["run", "-q", "notes", "--manifest", other.to_str().unwrap()]), "shown other\n");
}

#[test]
fn a_manifest_for_another_source_or_that_others_may_write_is_not_used() {
    let (stage, _) = installed();
    let wide = format!("{ENTRYPOINT}permissions: {{ env_vars: {{ allow: [EDITOR] }} }}\n");
    let file = users_manifest(&stage, "github:somebody/else", &wide);
    assert_eq!(standing(&stage)["by"], "defaults");
    users_manifest(&stage, &lock_source(&stage), &wide);
    prints(&stage.run(&["run", "-q", "notes"]), "shown mine\n");
    for (path, mode) in [(file.clone(), 0o620), (file.parent().unwrap().to_owned(), 0o777)] {
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        refused(&stage.run(&["run", "notes"]), "others may write to it");
        fs::set_permissions(&path, before).unwrap();
    }
    // A link in its place is nobody's word.
    let elsewhere = stage.write("wide.yaml", &wide);
    fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refused(&stage.run(&["run", "notes"]), "it is a link");
    fs::write(file.with_file_name("for.json"), "{}").unwrap();
    refused(&stage.run(&["run", "notes"]), "for.json");
}

#[test]
fn a_manifest_that_a_skill_or_a_run_could_have_written_is_not_taken() {
    let (stage, source) = installed();
    let shipped = PathBuf::from(&source).join("wide.yaml");
    fs::write(&shipped, ENTRYPOINT).unwrap();
    refused(
        &stage.run(&["run", &format!("{source}/"), "--manifest", shipped.to_str().unwrap()]),
        "it lies in the skill",
    );
    fs::remove_file(&shipped).unwrap();
    // A run leaves a manifest in its workspace.
    let workspace = stage.write("work/x", "").parent().unwrap().to_owned();
    let workspace = workspace.to_str().unwrap();
    let left = shell(&stage, &["--workspace", workspace], "echo hello > left.yaml");
    assert_eq!(code(&left), 0, "{}", err(&left));
    let given = stage.write("given/manifest.yaml", ENTRYPOINT);
    let place = given.parent().unwrap().to_str().unwrap();
    let flags = ["--workspace", place, "--manifest", given.to_str().unwrap()];
    refused(&stage.run(&[&["run", "notes"], &flags[..]].concat()), "the run could change it");
    let left = format!("{workspace}/left.yaml");
    fs::write(&left, ENTRYPOINT).unwrap();
    refused(&stage.run(&["run", "notes", "--manifest", &left]), "a run could write");
    // Nor one that anybody on the host can write.
    let shared = stage.write("shared.yaml", ENTRYPOINT);
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o666)).unwrap();
    refused(
        &stage.run(&["run", "notes", "--manifest", shared.to_str().unwrap()]),
        "every user can change it",
    );
    // Nor is a link that a skill ships as its manifest.
    let outside = stage.write("outside.yaml", ENTRYPOINT);
    symlink(outside, PathBuf::from(&source).join("skillsandbox.yaml")).unwrap();
    let output = stage.run(&["run", &format!("{source}/")]);
    assert_eq!(code(&output), 125);
    assert!(err(&output).contains("symbolic link"), "{}", err(&output));
}

/// A run that may write a project must not be able to declare for a skill that lies in it.
#[test]
fn what_a_run_could_write_declares_nothing_for_a_skill() {
    let (stage, _) = installed();
    let key = stage.write("home/keys/private", "STOLEN");
    let wide = format!(
        "skill: {{ name: other, version: '1' }}\nentrypoint: {{ command: cat, args: ['{0}'] }}\npermissions: {{ filesystem: {{ read: ['{0}'] }} }}\n",
        key.display()
    );
    let document =
        stage.write("project/skills/other/SKILL.md", "---\nname: other\ndescription: Shows\n---\nShow it.\n");
    let other = document.parent().unwrap();
    let own = stage.write("project/skills/other/skillsandbox.yaml", &wide);
    prints(&stage.run(&["run", "-q", other.to_str().unwrap()]), "STOLEN");
    fs::remove_file(&own).unwrap();
    let workspace = document.ancestors().nth(3).unwrap().to_str().unwrap().to_owned();
    let planted = format!("cat > skills/other/skillsandbox.yaml <<'E'\n{wide}E\n");
    let left = shell(&stage, &["-q", "--workspace", &workspace], &planted);
    assert_eq!((code(&left), own.exists()), (0, true), "{}", err(&left));
    let after = stage.run(&["run", other.to_str().unwrap()]);
    assert_eq!((code(&after), text(&after.stdout).as_str()), (125, ""), "{}", err(&after));
    assert!(err(&after).contains("is not taken, since a run could write"), "{}", err(&after));
    let asked = stage.run(&["run", other.to_str().unwrap(), "--", "cat", key.to_str().unwrap()]);
    assert!(code(&asked) != 0 && !text(&asked.stdout).contains("STOLEN"), "{}", err(&asked));
}

#[test]
fn row_162_a_changed_skill_is_refused_by_its_path_too() {
    let (stage, _) = installed();
    let place = folder(&stage);
    prints(&stage.run(&["run", "-q", place.to_str().unwrap(), "--", "sh", "scripts/show.sh"]), "shown\n");
    fs::write(place.join("scripts/show.sh"), "echo EVIL\n").unwrap();
    refused(&stage.run(&["run", place.to_str().unwrap(), "--", "sh", "scripts/show.sh"]), "changed");
    let roundabout = format!("{}/../notes", place.display());
    refused(&stage.run(&["run", &roundabout, "--", "sh", "scripts/show.sh"]), "changed");
}

#[test]
fn row_162_a_skill_that_was_changed_since_it_was_installed_is_refused() {
    let (stage, _) = installed();
    let script = folder(&stage).join("scripts/show.sh");
    let mode = |mode: u32| fs::set_permissions(&script, fs::Permissions::from_mode(mode)).unwrap();
    let changes: [(&str, &dyn Fn()); 9] = [
        ("scripts/show.sh (changed)", &|| fs::write(&script, "echo other\n").unwrap()),
        ("scripts/more.sh (added)", &|| fs::write(folder(&stage).join("scripts/more.sh"), "echo").unwrap()),
        ("SKILL.md (missing)", &|| fs::remove_file(folder(&stage).join("SKILL.md")).unwrap()),
        ("it is a link", &|| symlink("show.sh", folder(&stage).join("scripts/link.sh")).unwrap()),
        ("may be executed now", &|| mode(0o755)),
        ("setuid", &|| mode(0o4644)),
        ("every user can change it", &|| mode(0o666)),
        ("git", &|| fs::create_dir(folder(&stage).join(".git")).unwrap()),
        ("its folder is a link", &|| {
            fs::rename(folder(&stage), stage.home().join("elsewhere")).unwrap();
            symlink(stage.home().join("elsewhere"), folder(&stage)).unwrap();
        }),
    ];
    for (told, change) in changes {
        change();
        for flags in [
            &["run", "notes", "--", "echo", "RAN"][..],
            &["run", "--skip-scan", "notes", "--", "echo", "RAN"],
        ] {
            let output = stage.run(flags);
            refused(&output, told);
            assert!(err(&output).contains("skillsandbox audit notes"), "{}", err(&output));
        }
        assert_eq!(standing(&stage)["by"], "changed", "{told}");
        // The cure: what was installed is put back.
        if folder(&stage).symlink_metadata().unwrap().is_symlink() {
            fs::remove_file(folder(&stage)).unwrap();
        }
        let updated = stage.run(&["update", "notes"]);
        assert_eq!(code(&updated), 0, "{told}: {}", err(&updated));
        prints(&stage.run(&["run", "-q", "notes", "--", "echo", "RAN"]), "RAN\n");
    }
}

#[test]
fn row_162_what_a_skill_may_write_in_its_own_folder_is_no_change() {
    let stage = Stage::new();
    let source = source(&stage);
    let manifest = "skill: { name: notes, version: '1' }\npermissions: { filesystem: { write: [data] } }\n";
    fs::write(PathBuf::from(&source).join("skillsandbox.yaml"), manifest).unwrap();
    stage.write("sources/notes/data/tool.sh", "echo tool\n");
    assert_eq!(code(&stage.run(&["install", "--force", &source])), 0);
    for _ in 0..2 {
        prints(&shell(&stage, &["-q"], "chmod +x data/tool.sh; echo x >> data/tool.sh; echo made"), "made\n");
        prints(
            &shell(&stage, &["-q"], "echo x >> data/log && ln -sf log data/link && echo wrote"),
            "wrote\n",
        );
    }
    fs::write(folder(&stage).join("database"), "").unwrap();
    refused(&shell(&stage, &[], "true"), "database (added)");
}

#[test]
fn a_name_is_one_of_an_installed_skill_and_leads_nowhere_else() {
    let (stage, source) = installed();
    let output = stage.run(&["run", "note", "--", "true"]);
    refused(&output, "did you mean `notes`?");
    assert!(err(&output).contains("skillsandbox install"), "{}", err(&output));
    stage.write("home/SKILL.md", DOCUMENT);
    for name in
        [".", "..", "../notes", "./notes", "a..b", "notes/", "skills/notes", "NOTES", "notes\u{202e}", ""]
    {
        let output = stage.run(&["run", name, "--", "echo", "RAN"]);
        assert_ne!(code(&output), 0, "{name:?}: {}", err(&output));
        assert_eq!(text(&output.stdout), "", "{name:?}");
    }
    // With a slash it is a folder, and one that is installed goes before a folder of its name.
    let here = PathBuf::from(&source).parent().unwrap().to_owned();
    fs::write(here.join("notes/scripts/show.sh"), "echo the folder\n").unwrap();
    let run = |name: &str| {
        let mut command = stage.command(&["run", "-q", name, "--", "sh", "scripts/show.sh"]);
        command.current_dir(&here).output().unwrap()
    };
    prints(&run("notes"), "shown\n");
    prints(&run("./notes"), "the folder\n");
    assert_eq!(code(&stage.run(&["remove", "notes"])), 0);
    let folder = run("notes");
    prints(&folder, "the folder\n");
    assert!(err(&folder).contains("this is the folder ./notes"), "{}", err(&folder));
}

#[test]
fn row_161_update_keeps_a_manifest_that_a_person_put_into_the_folder() {
    let (stage, source) = installed();
    let by_hand = folder(&stage).join("skillsandbox.yaml");
    fs::write(&by_hand, ENTRYPOINT).unwrap();
    refused(&stage.run(&["run", "notes"]), "a manifest of your own is kept outside");
    let updated = stage.run(&["update", "notes"]);
    assert_eq!(code(&updated), 0, "{}", err(&updated));
    assert!(err(&updated).contains("was moved"), "{}", err(&updated));
    assert!(!by_hand.exists());
    prints(&stage.run(&["run", "-q", "notes"]), "shown mine\n");
    // Another one is not put in its place without a word, and one that is not valid is not thrown away.
    for other in [format!("{ENTRYPOINT}resources: {{ memory_mb: 64 }}\n"), "skill: {}\n".to_owned()] {
        fs::write(&by_hand, &other).unwrap();
        fs::write(PathBuf::from(&source).join("SKILL.md"), format!("{DOCUMENT}More.\n")).unwrap();
        let output = stage.run(&["update", "notes"]);
        assert_ne!(code(&output), 0, "{}", err(&output));
        assert!(err(&output).contains("would be lost"), "{}", err(&output));
        assert_eq!(fs::read_to_string(&by_hand).unwrap(), other);
        fs::remove_file(&by_hand).unwrap();
    }
    prints(&stage.run(&["run", "-q", "notes"]), "shown mine\n");
}

#[test]
fn list_says_what_can_run_and_how() {
    let (stage, source) = installed();
    let list = |told: &str| {
        let output = stage.run(&["list"]);
        assert!(text(&output.stdout).contains(told), "{told}: {}", text(&output.stdout));
    };
    list("runs with safe defaults");
    users_manifest(&stage, &lock_source(&stage), ENTRYPOINT);
    list("runs by your manifest");
    fs::write(folder(&stage).join("scripts/show.sh"), "echo other\n").unwrap();
    list("refused, changed since it was installed: scripts/show.sh (changed)");
    fs::remove_dir_all(stage.home().join(".config")).unwrap();
    fs::write(PathBuf::from(&source).join("skillsandbox.yaml"), ENTRYPOINT).unwrap();
    assert_eq!(code(&stage.run(&["update", "--force", "notes"])), 0);
    list("runs by its own manifest");
    fs::remove_dir_all(PathBuf::from(&source).join("scripts")).unwrap();
    fs::remove_file(PathBuf::from(&source).join("skillsandbox.yaml")).unwrap();
    assert_eq!(code(&stage.run(&["update", "--force", "notes"])), 0);
    list("only text");
}

#[test]
fn two_skills_of_one_name_from_different_sources_have_each_their_own_manifest() {
    let (stage, source) = installed();
    let installed_from = lock_source(&stage);
    users_manifest(&stage, &installed_from, ENTRYPOINT);
    // The same folder, run by its path, is another skill: it has not been installed.
    let by_path = stage.run(&["run", &format!("{source}/"), "--", "sh", "scripts/show.sh", "path"]);
    prints(&by_path, "shown path\n");
    // Installed from elsewhere under the same name, it does not get the manifest.
    let other = stage.write("other/notes/SKILL.md", DOCUMENT);
    stage.write("other/notes/scripts/show.sh", "echo the other\n");
    let removed = stage.run(&["remove", "notes"]);
    assert!(
        code(&removed) == 0 && err(&removed).contains("your own manifest for it stays"),
        "{}",
        err(&removed)
    );
    assert_eq!(code(&stage.run(&["install", other.parent().unwrap().to_str().unwrap()])), 0);
    refused(&stage.run(&["run", "notes"]), "it has no entrypoint");
}

#[test]
fn what_a_skill_writes_in_its_own_folder_does_not_make_it_another_for_its_manifest() {
    let (stage, source) = installed();
    let manifest = "skill: { name: notes, version: '1' }\npermissions: { filesystem: { write: [data] } }\n";
    let digest = |stage: &Stage| {
        let output = stage.run(&["scan", "--format", "json", &source]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report[0]["digest"].as_str().unwrap().to_owned()
    };
    let file = users_manifest(&stage, &lock_source(&stage), manifest);
    let target = file.with_file_name("for.json");
    let text = fs::read_to_string(&target).unwrap().replace("\"0\"", &format!("\"{}\"", digest(&stage)));
    fs::write(&target, text).unwrap();
    for _ in 0..2 {
        let ran = shell(&stage, &[], "echo x >> data/log");
        assert_eq!(code(&ran), 0, "{}", err(&ran));
        assert!(!err(&ran).contains("compare"), "{}", err(&ran));
    }
    fs::write(PathBuf::from(&source).join("SKILL.md"), format!("{DOCUMENT}More.\n")).unwrap();
    assert_eq!(code(&stage.run(&["update", "notes"])), 0);
    assert!(err(&shell(&stage, &[], "true")).contains("compare"));
}
