//! What is said where nothing is found.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::world::World;
use crate::program::ProgramError;

#[test]
fn messages_name_what_was_looked_for_and_the_cure() {
    let mut world = World::new();
    world.program("~/bin/python3");
    world.text("~/bin/plain", "#!/bin/sh\n");
    world.folder("~/bin/folder");
    world.script("~/bin/empty", "");
    world.script("~/bin/words", "echo hello\n");
    world.script("@/run.sh", "#!/bin/sh\n");
    world.text("@/plain.sh", "#!/bin/sh\n");
    world.link("@/loop", "loop");
    world.link("@/gone", "nowhere");
    world.on_path("~/bin");
    for (name, wanted) in [
        ("pythno3", "no program \"pythno3\" in ROOT/people/ada/bin; did you mean \"python3\"?"),
        ("zzzzzzzz", "install it, or give its full path"),
        ("plain", "may not be executed: `chmod +x ROOT/people/ada/bin/plain`"),
        ("folder", "no program \"folder\""),
        ("empty", "is empty"),
        ("words", "only a shell would run it; add such a line"),
        ("./rn.sh", "there is no ROOT/skills/weather/./rn.sh; did you mean \"run.sh\"?"),
        ("./plain.sh", "may not be executed; `chmod +x ROOT/skills/weather/plain.sh`"),
        ("./loop", "too many links"),
        ("./gone", "there is no ROOT/skills/weather/./gone"),
        ("../weather", "is a directory"),
        ("./", "is a directory"),
        ("./run.sh/", "is a directory"),
        ("./run.sh/x", "there is no"),
        ("", "names no file"),
        (".", "names no file"),
        ("..", "names no file"),
        ("a\0b", "NUL"),
        ("/dev/null", "made up by the kernel"),
        ("/proc/self/exe", "made up by the kernel"),
    ] {
        let text = world.refusal(name);
        assert!(text.contains(wanted), "{name:?}: {text}");
    }
    assert!(world.refusal("x".repeat(5000)).contains("longer than any path"));
    assert!(world.refusal(OsStr::from_bytes(b"\xff\xfe")).contains("no program"));
}

#[test]
fn entries_of_the_path_that_mean_the_current_folder_are_not_searched() {
    let world = World::new();
    world.program("@/python3");
    for path in ["", ".", ":", "bin::.", "../weather", "./"] {
        let error = world.find_by("python3", OsStr::new(path)).unwrap_err();
        assert!(matches!(error, ProgramError::NotOnPath { ignored: 1.., .. }), "{path:?}: {error}");
        assert!(error.to_string().contains("mean the current folder"), "{error}");
    }
    // By its path it is the skill's own, and needs nothing but the skill's folder.
    world.assert("./python3", "@/python3", &[], &[]);
}

#[test]
fn the_first_executable_file_on_the_path_is_meant() {
    let mut world = World::new();
    world.folder("one/tool");
    world.text("two/tool", "#!/bin/sh\n");
    world.link("three/tool", "gone");
    world.program("four/tool");
    world.program("five/tool");
    for folder in ["zero", "one", "two", "three", "four", "five"] {
        world.on_path(folder);
    }
    world.assert("tool", "four/tool", &["four/tool"], &["four"]);
}

#[test]
fn a_pipe_is_neither_waited_for_nor_run() {
    let mut world = World::new();
    let pipe = world.at("@/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o755.into(), 0).unwrap();
    assert!(world.refusal("./pipe").contains("not a regular file"));
    world.on_path("@");
    assert!(world.refusal("pipe").contains("no program"));
    world.script("@/run", format!("#!{}\n", pipe.display()));
    assert!(world.refusal("./run").contains("not a regular file"));
}

#[test]
fn a_snap_and_a_folder_of_secrets_are_no_place_for_programs() {
    let world = World::new();
    world.program("~/.ssh/tool");
    world.link("@/tool", world.at("~/.ssh/tool"));
    assert!(world.refusal(world.at("~/.ssh/tool")).contains("secrets are kept there"));
    assert!(world.refusal("./tool").contains("secrets are kept there"));
    let error = ProgramError::Snap("/snap/bin/node".into()).to_string();
    assert!(error.contains("set-user-id") && error.contains("Install it another way"), "{error}");
}

#[test]
fn a_working_folder_that_is_relative_is_refused() {
    let mut world = World::new();
    world.workdir = Some("here".into());
    assert!(world.refusal("./tool").contains("not an absolute path"));
}

#[test]
fn a_missing_home_is_no_obstacle() {
    let mut world = World::new();
    world.program("opt/bin/tool");
    world.on_path("opt/bin");
    fs::remove_dir_all(world.home()).unwrap();
    assert_eq!(world.find("tool").unwrap().path, world.at("opt/bin/tool"));
}
