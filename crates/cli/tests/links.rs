//! Links on the way to a grant: a skill's author, or another skill, does not choose what is granted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sandboxed::{Stage, code, text};

/// The scanner refuses links that lead out, too: these tests are about the wall behind it.
fn past_the_gate<'f>(flags: &[&'f str]) -> Vec<&'f str> {
    [flags, &["--skip-scan"]].concat()
}

fn refused(stage: &Stage, flags: &[&str], why: &str) {
    let (report, exit) = stage.report(&past_the_gate(flags));
    let message = report["error"]["message"].as_str().unwrap_or_default();
    assert!(exit == 125 || exit == 126, "{exit}: {report:#}");
    assert_eq!(report["stdout"]["text"], "", "{report:#}");
    assert!(message.contains(why), "{message}");
}

fn printed(stage: &Stage, flags: &[&str]) -> String {
    let (report, exit) = stage.report(&past_the_gate(flags));
    assert_eq!(exit, 0, "{report:#}");
    report["stdout"]["text"].as_str().unwrap().to_owned()
}

fn grants(what: &str) -> String {
    format!("permissions: {{ filesystem: {{ {what} }} }}")
}

#[test]
fn row_171_no_link_in_a_skills_folder_leads_a_grant_out_of_it() {
    let stage = Stage::new();
    let vault = stage.write("home/vault/key", "canary");
    let vault = vault.parent().unwrap();
    fs::create_dir_all(stage.skill().join("real")).unwrap();
    symlink("../home/vault", stage.skill().join("data")).unwrap();
    symlink(vault, stage.skill().join("real/deep")).unwrap();
    symlink("data", stage.skill().join("chain")).unwrap();
    symlink("real", stage.skill().join("within")).unwrap();
    let script = format!("cat {0}/key data/key; echo x > {0}/new; echo done", vault.display());
    let why = "the skill's own folder, and is not followed";
    for path in ["${SKILL_DIR}/data", "data", "real/deep", "chain", "data/key", "within", "data/later/x"] {
        for list in ["read", "write", "forbidden"] {
            if (list == "read" || list == "forbidden") && path == "data/later/x" {
                continue;
            }
            stage.shell_skill(&grants(&format!("{list}: [\"{path}\"]")), &script);
            refused(&stage, &[], why);
            assert!(!vault.join("new").exists() && !vault.join("later").exists());
        }
    }
    // Nor by its path from the root, or by another name of the skill's folder.
    symlink(stage.skill(), stage.home().join("alias")).unwrap();
    for path in [stage.skill().join("data"), stage.home().join("alias/data")] {
        stage.shell_skill(&grants(&format!("read: [\"{}\"]", path.display())), &script);
        refused(&stage, &[], why);
    }
    // Nor where a policy allows the skill's own folder.
    let ceiling = format!("permissions: {{ filesystem: {{ read: [\"{}\"] }} }}\n", stage.skill().display());
    let policy = stage.write("home/policy.yaml", &ceiling);
    stage.shell_skill(&grants("read: [data]"), &script);
    refused(&stage, &["--policy", policy.to_str().unwrap()], why);
    // The controls: what is granted by its own name, and a folder of its own that is no link.
    stage.shell_skill(&grants("read: [~/vault]"), &script);
    assert!(printed(&stage, &[]).starts_with("canary"));
    stage.shell_skill(&grants("write: [real]"), "echo x > real/new; cat real/new");
    assert_eq!(printed(&stage, &[]), "x\n");
}

#[test]
fn row_171_no_link_in_a_skills_folder_leads_a_program_folder_out_of_it() {
    let stage = Stage::new();
    symlink("/usr/bin", stage.skill().join("helpers")).unwrap();
    symlink("/usr/bin/id", stage.skill().join("tool")).unwrap();
    for list in ["[sh, ./helpers]", "[sh, ./tool]", "[sh, ./helpers/id]"] {
        stage.shell_skill(
            &format!("permissions: {{ commands: {{ allow: {list} }} }}"),
            "/usr/bin/id; echo done",
        );
        refused(&stage, &[], "the skill's own folder, and is not followed");
    }
    // The controls: without the link it may not be executed, and by its own name it may.
    stage.shell_skill("permissions: { commands: { allow: [sh] } }", "/usr/bin/id; echo done");
    assert_eq!(printed(&stage, &[]), "done\n");
    stage.shell_skill("permissions: { commands: { allow: [sh, /usr/bin/id] } }", "/usr/bin/id; echo done");
    assert!(printed(&stage, &[]).starts_with("uid="));
}

#[test]
fn row_171_a_resolved_grant_is_held_to_the_users_ceiling() {
    let stage = Stage::new();
    let vault = stage.write("home/vault/key", "canary");
    fs::create_dir_all(stage.home().join("ok")).unwrap();
    symlink(vault.parent().unwrap(), stage.home().join("ok/link")).unwrap();
    let script = format!("cat {0}; echo x > {0}.new; echo done", vault.display());
    let policy = stage.write("home/policy.yaml", "");
    let flags = ["--policy", policy.to_str().unwrap()];
    for (grant, ceiling, why) in [
        ("read: [~/ok/link]", "read: [~/ok]", "which lies outside of what may be read at most"),
        ("write: [~/ok/link]", "read: [~/ok]", "which lies outside of what may be read at most"),
        ("write: [~/ok/link]", "write: [~/ok]", "which lies outside of what may be written at most"),
        ("write: [~/ok/link/new]", "write: [~/ok]", "which lies outside of what may be written at most"),
    ] {
        fs::write(&policy, grants(ceiling)).unwrap();
        stage.shell_skill(&grants(grant), &script);
        // A write grant that only `read` covers becomes a read grant.
        refused(&stage, &flags, why);
        assert!(!vault.with_extension("new").exists() && !vault.parent().unwrap().join("new").exists());
    }
    // The controls: the policy names where it leads, and there is none.
    fs::write(&policy, grants("read: [~/ok, ~/vault]")).unwrap();
    stage.shell_skill(&grants("read: [~/ok/link]"), &script);
    assert!(printed(&stage, &flags).starts_with("canary"));
    assert!(printed(&stage, &[]).starts_with("canary"));
    // The user's own links in a policy are followed.
    symlink(vault.parent().unwrap(), stage.home().join("mine")).unwrap();
    fs::write(&policy, grants("read: [~/ok, ~/mine]")).unwrap();
    assert!(printed(&stage, &flags).starts_with("canary"));
}

#[test]
fn row_171_what_a_program_needs_is_held_to_the_users_ceiling() {
    let stage = Stage::new();
    let tool = stage.home().join("tools/tool");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    fs::copy("/bin/sh", &tool).unwrap();
    let manifest = |extra: &str| {
        let head = "skill: { name: tested, version: \"1\" }\nentrypoint: { command: ~/tools/tool, args: [main.sh] }\n";
        stage.shell_skill("", "echo done");
        stage.write("skill/skillsandbox.yaml", &format!("{head}{extra}"));
    };
    let policy = stage.write("home/policy.yaml", "permissions: { filesystem: { read: [] } }");
    let flags = ["--policy", policy.to_str().unwrap()];
    manifest("");
    refused(&stage, &flags, "the program needs");
    fs::write(&policy, "permissions: { filesystem: { read: [~/tools] } }").unwrap();
    assert_eq!(printed(&stage, &flags), "done\n", "the control: the policy names it");
    assert_eq!(printed(&stage, &[]), "done\n", "the control: no policy");
    fs::write(&policy, "permissions: { filesystem: { read: [] } }").unwrap();
    stage.shell_skill("", "echo done");
    assert_eq!(printed(&stage, &flags), "done\n", "the system's programs are always there");
    // A program that may be executed besides the entrypoint needs no less.
    stage.shell_skill("permissions: { commands: { allow: [sh, ~/tools/tool] } }", "echo done");
    refused(&stage, &flags, "the program needs");
}

#[test]
fn row_171_a_link_that_one_skill_left_behind_does_not_lead_the_grant_of_another() {
    let stage = Stage::new();
    let vault = stage.write("home/vault/key", "canary");
    let (home, vault) = (stage.home(), vault.parent().unwrap());
    fs::create_dir_all(home.join("shared")).unwrap();
    symlink("shared/data", home.join("current")).unwrap();
    symlink(vault, home.join("mine")).unwrap();
    let read = format!("cat {}/key; echo done", vault.display());
    stage.shell_skill(&grants("read: [~/mine]"), &read);
    assert!(printed(&stage, &[]).starts_with("canary"), "the control: the user's own link is followed");
    // The first skill, which may write a folder that both use.
    stage.shell_skill(
        &grants("write: [~/shared]"),
        &format!(
            "cd {}/shared; ln -s {} data; mkdir bin; ln -s {}/key bin/tool; echo done",
            home.display(),
            vault.display(),
            vault.display()
        ),
    );
    assert_eq!(printed(&stage, &[]), "done\n");
    let why = "a folder that an earlier run could write, and is not followed";
    // The second one: by the link, by a link of the user's that leads to it, through it, for reading and for writing.
    for grant in ["~/shared/data", "~/current", "~/shared/data/key", "~/current/key"] {
        stage.shell_skill(&grants(&format!("read: [{grant}]")), &read);
        refused(&stage, &[], why);
        stage.shell_skill(&grants(&format!("write: [{grant}]")), &read);
        refused(&stage, &[], why);
    }
    stage.shell_skill(&grants("write: [~/shared/data/new]"), &read);
    refused(&stage, &[], why);
    assert!(!vault.join("new").exists());
    let exec = stage.run(&[
        "exec",
        "--read",
        home.join("current").to_str().unwrap(),
        "--",
        "cat",
        vault.join("key").to_str().unwrap(),
    ]);
    assert!(code(&exec) == 125 && !text(&exec.stdout).contains("canary"), "{exec:?}");
    // By way of a policy that names the link.
    let policy = stage.write("home/policy.yaml", &grants("read: [~/shared/data]"));
    stage.shell_skill(&grants("read: [~/shared/data]"), &read);
    refused(&stage, &["--policy", policy.to_str().unwrap()], why);
    // As a program.
    fs::set_permissions(vault.join("key"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    stage.shell_skill(
        &format!("permissions: {{ commands: {{ allow: [sh, \"{}/shared/bin/tool\"] }} }}", home.display()),
        &read,
    );
    refused(&stage, &[], why);
    // Where the folder has another name by now.
    fs::rename(home.join("shared"), home.join("moved")).unwrap();
    stage.shell_skill(&grants("read: [~/moved/data]"), &read);
    refused(&stage, &[], why);
    // What lies in such a folder and is no link is granted as before, and so is the user's own link elsewhere.
    fs::write(home.join("moved/plain"), "plain").unwrap();
    stage.shell_skill(&grants("read: [~/moved/plain]"), &format!("cat {}/moved/plain", home.display()));
    assert_eq!(printed(&stage, &[]), "plain");
    stage.shell_skill(&grants("read: [~/mine]"), &read);
    assert!(printed(&stage, &[]).starts_with("canary"));
    // The list of such places is out of every run's reach.
    let list = home.join(".local/state/skillsandbox/written-places");
    assert!(list.is_file());
    stage.shell_skill(
        &grants("write: [~/.local]"),
        &format!("cat {0}; rm -f {0}; true > {0}; echo done", list.display()),
    );
    let before = fs::read(&list).unwrap();
    assert_eq!(printed(&stage, &[]), "done\n");
    assert!(fs::read(&list).unwrap().starts_with(&before));
}

#[test]
fn row_171_inspect_list_and_a_dry_run_show_where_grants_lead() {
    let stage = Stage::new();
    let vault = stage.write("home/vault/key", "canary");
    let vault = vault.parent().unwrap();
    symlink(vault, stage.home().join("mine")).unwrap();
    let skill = stage.shell_skill(&grants("read: [~/mine]"), "echo done");
    let skill = skill.to_str().unwrap();
    let led = vault.to_str().unwrap();
    assert_eq!(code(&stage.run(&["install", skill])), 0);
    for arguments in [
        &["inspect", skill][..],
        &["inspect", "--format", "json", skill],
        &["run", "--dry-run", skill],
        &["run", "--dry-run", "--format", "json", skill],
        &["list"],
        &["list", "--format", "json"],
    ] {
        let output = stage.run(arguments);
        assert!(
            code(&output) == 0 && text(&output.stdout).contains(led),
            "{arguments:?}: {}",
            text(&output.stdout)
        );
    }
    // A link of the skill's own is shown, and that a run would be refused.
    symlink(Path::new(led), Path::new(skill).join("data")).unwrap();
    stage.shell_skill(&grants("read: [data]"), "echo done");
    let output = stage.run(&["inspect", skill]);
    assert!(
        text(&output.stdout).contains(led) && text(&output.stdout).contains("not followed"),
        "{}",
        text(&output.stdout)
    );
    let output = stage.run(&["run", "--dry-run", skill]);
    assert!(code(&output) == 125, "{output:?}");
}
