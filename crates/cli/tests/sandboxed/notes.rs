//! An installed skill, as most are, and what the tests of running it share.

use std::path::PathBuf;
use std::process::Output;

use super::{Stage, code, text};

pub(crate) const DOCUMENT: &str =
    "---\nname: notes\ndescription: Keeps notes short\n---\n\n# Notes\n\nRun scripts/show.sh.\n";

/// A skill as most are: a document and a script, and no manifest.
pub(crate) fn source(stage: &Stage) -> String {
    stage.write("sources/notes/SKILL.md", DOCUMENT);
    let script = stage.write("sources/notes/scripts/show.sh", "echo shown \"$@\"\n");
    script.parent().unwrap().parent().unwrap().to_str().unwrap().to_owned()
}

/// The same, installed.
pub(crate) fn installed() -> (Stage, String) {
    let stage = Stage::new();
    let source = source(&stage);
    let output = stage.run(&["install", &source]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    (stage, source)
}

pub(crate) fn folder(stage: &Stage) -> PathBuf {
    stage.home().join(".local/share/skillsandbox/skills/notes")
}

pub(crate) fn err(output: &Output) -> String {
    text(&output.stderr)
}

/// `run notes` with these flags, and this command of a shell.
pub(crate) fn shell(stage: &Stage, flags: &[&str], script: &str) -> Output {
    stage.run(&[&["run", "notes"], flags, &["--", "sh", "-c", script]].concat())
}

#[track_caller]
pub(crate) fn refused(output: &Output, why: &str) {
    assert_eq!((code(output), text(&output.stdout)), (125, String::new()), "{}", err(output));
    assert!(err(output).contains(why), "{why:?} is not in: {}", err(output));
}

#[track_caller]
pub(crate) fn prints(output: &Output, what: &str) {
    assert_eq!((text(&output.stdout).as_str(), code(output)), (what, 0), "{}", err(output));
}

/// A folder beside the home, with a file in it.
pub(crate) fn folder_with(stage: &Stage, name: &str, content: &str) -> String {
    let file = stage.write(name, content);
    file.parent().unwrap().to_str().unwrap().to_owned()
}
