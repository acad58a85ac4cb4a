//! The programs of the machine the test runs on, really started with no more than what was found for them.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, path_beneath_rules,
};

use super::world::World;
use crate::program::{FoundProgram, ProgramSearch, find};

/// Programs that people have by version managers, with what proves that they came up.
const PROGRAMS: [(&str, &[&str]); 8] = [
    ("python3", &["-c", "import json, ssl, sqlite3, ctypes; print('up')"]),
    ("pip", &["--version"]),
    ("node", &["-e", "console.log(require('os').EOL)"]),
    ("npm", &["--version"]),
    ("cargo", &["--version"]),
    ("rustc", &["--version"]),
    ("git", &["--version"]),
    ("sh", &["-c", "echo up"]),
];

fn search_here(
    name: impl AsRef<OsStr>,
    workdir: &Path,
) -> Result<FoundProgram, crate::program::ProgramError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let environment = |name: &str| std::env::var_os(name);
    find(
        name.as_ref(),
        &ProgramSearch {
            path: &path,
            home: home.as_deref(),
            workdir,
            environment: &environment,
            links: crate::prepare::links::LinkRules::default(),
        },
    )
}

/// Runs a program that may read the system's folders and these, and nothing else. Landlock holds for the thread that asked for
/// it and for its children, so the rest of the test goes on as before.
fn run_with_only(
    program: &Path,
    args: &[&str],
    readable: &[PathBuf],
    path: &OsStr,
) -> std::io::Result<Output> {
    let system =
        ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev", "/sys"];
    let readable: Vec<PathBuf> = system.iter().map(PathBuf::from).chain(readable.iter().cloned()).collect();
    let all = AccessFs::from_all(ABI::V3);
    let restricted = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let rules = Ruleset::default()
                .set_compatibility(CompatLevel::HardRequirement)
                .handle_access(all)
                .unwrap();
            let rules = rules.create().unwrap();
            let rules = rules.add_rules(path_beneath_rules(&readable, AccessFs::from_read(ABI::V3))).unwrap();
            let rules = rules.add_rules(path_beneath_rules(["/dev/null"], all)).unwrap();
            rules.restrict_self().unwrap();
            let mut command = Command::new(program);
            command.args(args).env_clear().env("PATH", path).env("HOME", "/nonexistent").current_dir("/usr");
            command.output()
        });
        thread.join()
    });
    restricted.expect("Landlock is needed for this test: a kernel from 6.2, with landlock among its `lsm=`")
}

fn path_of(found: &FoundProgram) -> std::ffi::OsString {
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from);
    std::env::join_paths(found.path_dirs.iter().cloned().chain(system)).unwrap()
}

#[test]
fn what_is_found_is_enough_to_start_and_nothing_less_is() {
    let world = World::new();
    let mut started = 0;
    for (name, args) in PROGRAMS {
        let found = match search_here(name, &world.skill()) {
            Ok(found) => found,
            Err(error) => {
                eprintln!("NOT TRIED: {name}: {error}");
                continue;
            }
        };
        world.laws(&found);
        let needs: Vec<PathBuf> = found.needs.iter().map(|need| need.path.clone()).collect();
        let output = run_with_only(&found.path, args, &needs, &path_of(&found));
        let output = output.unwrap_or_else(|error| panic!("{name}: {found:?}: {error}"));
        assert!(output.status.success(), "{name}: {found:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{name}");
        // The wall is there: without what was found, it does not start.
        if !needs.is_empty() {
            let output = run_with_only(&found.path, args, &[], &path_of(&found));
            assert!(!output.is_ok_and(|output| output.status.success()), "{name} needs nothing of {needs:?}");
        }
        started += 1;
    }
    assert!(started >= 2, "no programs here");
}

#[test]
fn a_script_of_a_skill_starts_with_what_is_found_for_it() {
    let world = World::new();
    for (name, text) in [
        ("by_env", "#!/usr/bin/env python3\nimport json\nprint('up')\n"),
        ("by_split", "#!/usr/bin/env -S python3 -I\nprint('up')\n"),
        ("by_shell", "#!/bin/sh\necho up\n"),
    ] {
        world.script(&format!("@/{name}"), text);
        let found = match search_here(format!("./{name}"), &world.skill()) {
            Ok(found) => found,
            Err(error) => {
                eprintln!("NOT TRIED: {name}: {error}");
                continue;
            }
        };
        let needs: Vec<PathBuf> =
            found.needs.iter().map(|need| need.path.clone()).chain([world.skill()]).collect();
        let output = run_with_only(&found.path, &[], &needs, &path_of(&found)).unwrap();
        assert_eq!(output.stdout, b"up\n", "{name}: {found:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_virtual_environment_made_here_starts_with_its_packages() {
    let world = World::new();
    let Ok(python) = search_here("python3", &world.skill()) else {
        eprintln!("NOT TRIED: no python3 here");
        return;
    };
    let venv = world.at("~/venv");
    let made = Command::new(&python.path).args(["-m", "venv", "--without-pip"]).arg(&venv).output().unwrap();
    if !made.status.success() {
        eprintln!("NOT TRIED: this Python makes no environments: {}", String::from_utf8_lossy(&made.stdout));
        return;
    }
    let found = search_here(venv.join("bin/python3"), &world.skill()).unwrap();
    let needs: Vec<PathBuf> = found.needs.iter().map(|need| need.path.clone()).collect();
    let args = ["-c", "import json, sys; print(sys.prefix)"];
    let output = run_with_only(&found.path, &args, &needs, &path_of(&found)).unwrap();
    let prefix = String::from_utf8_lossy(&output.stdout);
    assert_eq!(Path::new(prefix.trim()), venv, "{found:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn programs_of_the_system_need_nothing() {
    let world = World::new();
    for name in ["/bin/sh", "/usr/bin/env", "/usr/../bin/sh"] {
        let found = search_here(name, &world.skill()).unwrap();
        assert_eq!((found.needs, found.path_dirs), (vec![], vec![]), "{name}");
    }
}

#[test]
fn an_ordinary_user_passes_over_what_they_may_not_enter() {
    if !rustix::process::geteuid().is_root() {
        return passes_over_what_may_not_be_entered();
    }
    // Root may enter everything, so the test is run again as nobody.
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut command = Command::new(&copy);
    command.args([
        "--exact",
        "program::tests::here::passes_over_what_may_not_be_entered",
        "--ignored",
        "--nocapture",
    ]);
    let output = command
        .env("HOME", "/nonexistent")
        .env_remove("TMPDIR")
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "run by an_ordinary_user_passes_over_what_they_may_not_enter, not as root"]
fn passes_over_what_may_not_be_entered() {
    assert!(!rustix::process::geteuid().is_root());
    let mut world = World::new();
    world.program("closed/tool");
    world.program("open/tool");
    world.program("open/other");
    fs::set_permissions(world.at("open/other"), Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(world.at("closed"), Permissions::from_mode(0o000)).unwrap();
    world.on_path("closed");
    world.path.push("/root/.pyenv/shims".into());
    world.on_path("open");
    world.assert("tool", "open/tool", &["open/tool"], &["open"]);
    assert!(world.refusal(world.at("closed/tool")).contains("Permission denied"));
    assert!(world.refusal("other").contains("chmod +x"));
    // Executable, but not readable: it is started without a look inside.
    fs::set_permissions(world.at("open/tool"), Permissions::from_mode(0o111)).unwrap();
    world.assert("tool", "open/tool", &["open/tool"], &["open"]);
    fs::set_permissions(world.at("closed"), Permissions::from_mode(0o755)).unwrap();
}
