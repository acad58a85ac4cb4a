//! Parameters that are paths: the file that a call names is granted to that run, and nothing else.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Output;

use sandboxed::{Stage, code, text, trace};

const DECLARATION: &str =
    "parameters:\n  - { name: in, type: path }\n  - { name: out, type: path, access: write }\n";

/// Copies, and looks around in the folder of both.
const SCRIPT: &str = "if [ -n \"$SKILL_PARAM_IN\" ]; then echo \"$SKILL_PARAM_IN\"; cat \"$SKILL_PARAM_IN\"; ls \"$(dirname \"$SKILL_PARAM_IN\")\"; fi\n\
    if [ -n \"$SKILL_PARAM_OUT\" ]; then echo written > \"$SKILL_PARAM_OUT\"; fi\n";

fn stage() -> (Stage, PathBuf) {
    let stage = Stage::new();
    stage.shell_skill(DECLARATION, SCRIPT);
    let work = stage.write("work/in.txt", "content\n").parent().unwrap().to_owned();
    stage.write("work/other.txt", "OTHER");
    stage.write("home/.ssh/id_ed25519", "STOLEN");
    (stage, work)
}

/// A run from the folder, with these values.
fn run(stage: &Stage, work: &PathBuf, flags: &[&str]) -> Output {
    let skill = stage.skill();
    let arguments = [&["run", "-q", skill.to_str().unwrap()], flags].concat();
    stage.command(&arguments).current_dir(work).output().unwrap()
}

#[test]
fn a_file_that_a_call_names_is_granted_alone() {
    let (stage, work) = stage();
    let read = run(&stage, &work, &["--set", "in=in.txt"]);
    // Its folder shows nothing but the file.
    let expected = format!("{}\ncontent\nin.txt\n", work.join("in.txt").display());
    assert_eq!((text(&read.stdout), code(&read)), (expected, 0), "{}", text(&read.stderr));
    let noted = trace(&stage.traces()[0]).to_string();
    assert!(noted.contains("the parameter in grants read"), "{noted}");
    // Reading is not writing.
    fs::write(stage.skill().join("main.sh"), "echo x > \"$SKILL_PARAM_IN\"\n").unwrap();
    let written = run(&stage, &work, &["--set", "in=in.txt"]);
    assert_ne!(code(&written), 0);
    assert_eq!(fs::read_to_string(work.join("in.txt")).unwrap(), "content\n");
}

#[test]
fn a_file_to_write_is_made_for_the_run_and_goes_where_it_stays_empty() {
    let (stage, work) = stage();
    let new = run(&stage, &work, &["--set", "out=new.txt"]);
    assert_eq!(code(&new), 0, "{}", text(&new.stderr));
    assert_eq!(fs::read_to_string(work.join("new.txt")).unwrap(), "written\n");
    let old = run(&stage, &work, &["--set", "out=in.txt"]);
    assert_eq!(code(&old), 0, "{}", text(&old.stderr));
    assert_eq!(fs::read_to_string(work.join("in.txt")).unwrap(), "written\n");
    fs::write(stage.skill().join("main.sh"), "true\n").unwrap();
    let idle = run(&stage, &work, &["--set", "out=idle.txt"]);
    assert_eq!(code(&idle), 0, "{}", text(&idle.stderr));
    assert!(!work.join("idle.txt").exists());
    // A preview makes nothing.
    assert_eq!(code(&run(&stage, &work, &["--dry-run", "--set", "out=shown.txt"])), 0);
    assert!(!work.join("shown.txt").exists());
}

#[test]
fn no_value_leads_out_of_the_callers_folder_or_to_a_private_place() {
    let (stage, work) = stage();
    let outside = stage.write("outside.txt", "STOLEN");
    let keys = stage.home().join(".ssh/id_ed25519");
    symlink(&outside, work.join("link.txt")).unwrap();
    symlink(stage.home(), work.join("home")).unwrap();
    symlink("/proc/self/environ", work.join("environ")).unwrap();
    symlink(work.join("nowhere"), work.join("dangling")).unwrap();
    symlink("loop", work.join("loop")).unwrap();
    let (absolute, keys) = (outside.to_str().unwrap(), keys.to_str().unwrap());
    for value in [
        "../outside.txt",
        "x/../../outside.txt",
        absolute,
        keys,
        "link.txt",
        "home/.ssh/id_ed25519",
        "environ",
        "/proc/self/environ",
        "/dev/null",
        "/",
        "~/.ssh/id_ed25519",
        "%2e%2e/outside.txt",
        "dangling",
        "loop",
        "missing.txt",
        "",
    ] {
        let output = run(&stage, &work, &["--set", &format!("in={value}")]);
        assert_eq!(
            (code(&output), text(&output.stdout).as_str()),
            (125, ""),
            "{value:?}: {}",
            text(&output.stderr)
        );
    }
    for value in ["../new.txt", "home/new.txt", "link.txt", absolute, "none/new.txt", "/etc/new.txt"] {
        let output = run(&stage, &work, &["--set", &format!("out={value}")]);
        assert_eq!(code(&output), 125, "{value:?}: {}", text(&output.stderr));
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "STOLEN");
    // From the home itself, its keys are no files to hand over.
    let output = run(&stage, &stage.home(), &["--set", "in=.ssh/id_ed25519"]);
    assert_eq!(code(&output), 125, "{}", text(&output.stdout));
    // An absolute path in the folder is fine.
    let inside = format!("in={}", work.join("in.txt").display());
    assert_eq!(code(&run(&stage, &work, &["--set", &inside])), 0);
}

#[test]
fn values_begin_in_the_workspace_where_there_is_one_and_keep_its_rights() {
    let (stage, work) = stage();
    let here = stage.home();
    let workspace = work.to_str().unwrap();
    let output =
        run(&stage, &here, &["--workspace", workspace, "--set", "in=in.txt", "--set", "out=new.txt"]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(work.join("new.txt")).unwrap(), "written\n");
    let read_only = format!("{workspace}:ro");
    let refused = run(&stage, &here, &["--workspace", &read_only, "--set", "out=more.txt"]);
    assert_eq!(code(&refused), 125, "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("read-only") && !work.join("more.txt").exists());
}

#[test]
fn a_link_that_an_earlier_run_left_does_not_lead_a_later_one() {
    let (stage, work) = stage();
    let workspace = work.to_str().unwrap();
    let vault = stage.write("vault/key", "STOLEN");
    fs::write(stage.skill().join("main.sh"), format!("ln -sf {} in.txt\n", vault.display())).unwrap();
    let planted = run(&stage, &work, &["--workspace", workspace]);
    assert_eq!(code(&planted), 0, "{}", text(&planted.stderr));
    fs::write(stage.skill().join("main.sh"), SCRIPT).unwrap();
    let above = work.parent().unwrap().to_owned();
    let led = run(&stage, &above, &["--set", "in=work/in.txt"]);
    assert!(!text(&led.stdout).contains("STOLEN"), "{}", text(&led.stdout));
}

#[test]
fn no_value_to_write_is_executed_later_or_belongs_to_a_skill() {
    let (stage, work) = stage();
    for file in ["other-skill/SKILL.md", "other-skill/scripts/run.sh", "declared/skillsandbox.yaml"] {
        stage.write(&format!("work/{file}"), "BEFORE");
    }
    for folder in [".git/hooks", ".git/info", ".claude", ".config", ".local/bin", ".bashrc.d", "plain"] {
        fs::create_dir_all(work.join(folder)).unwrap();
    }
    for value in [
        ".git",
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/hooks/anything",
        ".claude/settings.json",
        ".claude/new",
        ".config",
        ".local/bin/ls",
        ".bashrc",
        ".bashrc.d/x",
        ".env",
        "other-skill",
        "other-skill/SKILL.md",
        "other-skill/new",
        "other-skill/scripts/run.sh",
        "declared/skillsandbox.yaml",
        "declared/x",
        "SKILL.md",
        "plain/skillsandbox.yaml",
    ] {
        let output = run(&stage, &work, &["--set", &format!("out={value}")]);
        assert_eq!(code(&output), 125, "{value:?}: {}", text(&output.stderr));
    }
    assert_eq!(fs::read_to_string(work.join("other-skill/scripts/run.sh")).unwrap(), "BEFORE");
    // Nor the skill's own files, from a folder above it.
    let (skill, above) = (stage.skill(), stage.skill().parent().unwrap().to_owned());
    let own = format!("out={}", skill.join("new").display());
    assert_eq!(code(&run(&stage, &above, &["--set", &own])), 125);
    assert_eq!(code(&run(&stage, &work, &["--set", "out=plain/new.txt"])), 0);
}
