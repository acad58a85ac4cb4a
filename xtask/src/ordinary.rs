//! The enforcer's tests once more, as an ordinary user.
//!
//! Rootless is the main road of the product, and a build machine is often root: what ran there proves the other road only.
//! So the tests that were built are copied to a folder that everybody can read, for the checkout may lie in one that others
//! cannot, and run as a user made for it: no groups, no capability, nothing of root's environment.
//!
//! A test that starts a program of the workspace finds it in a variable: `SKILLSANDBOX_PROBE` for `skillsandbox-probe`, and so
//! on ([`variable`]). The path that cargo compiled into the test (`env!("CARGO_BIN_EXE_…")`) is right only in the checkout.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::setup::Environment;
use crate::skipped;
use crate::workspace::{cargo, output, packages, shown, succeed};

/// Packages whose tests are about what an ordinary user may do, and of some of them which; those that are in the workspace are run.
const PACKAGES: [(&str, &[&str]); 7] = [
    ("skillsandbox-enforcer", &[]),
    ("skillsandbox-network-tests", &[]),
    ("skillsandbox-probe", &[]),
    ("skillsandbox-run", &["trace", "attacks", "scan_gate"]),
    ("skillsandbox-store", &["files", "chain", "state"]),
    (
        "skillsandbox",
        &[
            "run",
            "reach",
            "links",
            "resolver",
            "signals",
            "scan_gate",
            "exec",
            "otel",
            "history",
            "record",
            "denials",
            "ordinary_programs",
        ],
    ),
    ("skillsandbox-demo", &["demo"]),
];
/// Programs are looked for where everybody may.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Made once and kept: some programs refuse a user without a name, and two of these may run at a time.
const USER: &str = "skillsandbox-test";
/// Where no user can be made: numbers that no system gives to one (systemd.io/UIDS-GIDS leaves 60706 to 61183 free).
const FREE_IDS: std::ops::Range<u32> = 60_900..61_000;
/// Where a folder for everybody may be made. The first may be mounted so that nothing can be executed there.
pub(crate) const PLACES: [&str; 2] = ["/tmp", "/var/tmp"];
/// Left out: tests that read the checkout, which this user need not be able to see, and that are about its texts only.
const ABOUT_THE_CHECKOUT: [&str; 1] = ["seccomp::page::"];
/// For one test executable. The whole of `cargo xtask test` is to stay under 40 minutes.
const TIMEOUT: Duration = Duration::from_mins(10);

/// Builds the tests and runs each executable.
pub(crate) fn run(environment: &Environment) -> anyhow::Result<()> {
    if !nix::unistd::geteuid().is_root() {
        println!("not root: the tests ran as an ordinary user already");
        return Ok(());
    }
    let built = Built::by_cargo(environment)?;
    let place = Place::make(&built)?;
    place.check_user()?;
    let mut tests = 0;
    let mut executables = Vec::new();
    for executable in &place.tests {
        let count = place.count(executable)?;
        tests += count;
        executables.extend((count > 0).then_some(executable));
    }
    if tests == 0 {
        bail!("the test executables of {} hold no test", names());
    }
    println!("{tests} tests, as user {}", place.id);
    let mut failed = Vec::new();
    for executable in executables {
        let name = executable.file_name().unwrap_or_default().to_string_lossy();
        println!("\n-- {name}");
        let mut command = place.command(executable);
        command.args(ABOUT_THE_CHECKOUT.iter().flat_map(|test| ["--skip", test]));
        command.env(
            "SKILLSANDBOX_REQUIRE",
            environment.get("SKILLSANDBOX_REQUIRE").cloned().unwrap_or_default(),
        );
        command.env(skipped::VARIABLE, place.skipped());
        if !bounded(&mut command, TIMEOUT)?.is_some_and(|status| status.success()) {
            failed.push(name.into_owned());
        }
    }
    skipped::print(&place.skipped());
    if !failed.is_empty() {
        bail!(
            "as an ordinary user, these failed or took over {} s: {}",
            TIMEOUT.as_secs(),
            failed.join(", ")
        );
    }
    Ok(())
}

fn names() -> String {
    PACKAGES.map(|(name, _)| name).join(", ")
}

/// What cargo built.
#[derive(Debug, Default, PartialEq)]
struct Built {
    tests: Vec<PathBuf>,
    /// Programs that tests may start, by name.
    programs: Vec<(String, PathBuf)>,
}

impl Built {
    fn by_cargo(environment: &Environment) -> anyhow::Result<Self> {
        let here = packages()?;
        let wanted: Vec<_> = PACKAGES
            .into_iter()
            .filter(|(name, _)| here.iter().any(|package| package.name == *name))
            .collect();
        if wanted.is_empty() {
            bail!("none of {} is in the workspace", names());
        }
        // All of the workspace, as the step before built it: of some packages alone, cargo would build what they depend on again,
        // with fewer features.
        let args = [
            "test",
            "--no-run",
            "--workspace",
            "--all-features",
            "--lib",
            "--bins",
            "--tests",
            "--message-format",
            "json",
        ];
        let messages = output(cargo(args).envs(environment))?;
        Self::read(&messages, &wanted)
    }

    fn read(messages: &str, wanted: &[(&str, &[&str])]) -> anyhow::Result<Self> {
        let mut built = Self::default();
        for message in messages.lines() {
            let message: Value = serde_json::from_str(message)?;
            let package = message["package_id"].as_str().unwrap_or_default();
            let of = |(name, _): &&(&str, &[&str])| package.contains(&format!("#{name}@"));
            let Some((_, only)) = wanted.iter().find(of) else { continue };
            let artifact = message["reason"] == "compiler-artifact";
            let (true, Some(executable)) = (artifact, message["executable"].as_str()) else { continue };
            let name = message["target"]["name"].as_str().unwrap_or_default();
            if message["profile"]["test"] == true {
                if only.is_empty() || only.contains(&name) {
                    built.tests.push(executable.into());
                }
            } else if message["target"]["kind"][0] != "custom-build" {
                built.programs.push((name.to_owned(), executable.into()));
            }
        }
        Ok(built)
    }
}

/// A folder that the user can read, with the executables and folders of its own. Removed at the end.
#[derive(Debug)]
struct Place {
    root: PathBuf,
    id: u32,
    tests: Vec<PathBuf>,
    programs: Vec<(String, PathBuf)>,
}

impl Place {
    fn make(built: &Built) -> anyhow::Result<Self> {
        let id = user()?;
        let mut why = Vec::new();
        for parent in PLACES {
            match Self::make_in(Path::new(parent), id, built) {
                Ok(place) => return Ok(place),
                Err(error) => why.push(format!("{parent}: {error:#}")),
            }
        }
        bail!("no folder from which an ordinary user can execute something: {}", why.join("; "))
    }

    fn make_in(parent: &Path, id: u32, built: &Built) -> anyhow::Result<Self> {
        let root = parent.join(format!("skillsandbox-tests-{}", std::process::id()));
        // Fails where somebody was there before: in a folder for everybody, that may be anybody.
        fs::create_dir(&root).with_context(|| format!("cannot create {}", root.display()))?;
        let mut place = Self { root, id, tests: Vec::new(), programs: Vec::new() };
        open_to_all(&place.root)?;
        // Its own are also the tests: one makes a file beside itself, where no memory passes for a disk.
        for (folder, own) in [("tests", true), ("programs", false), ("home", true), ("tmp", true)] {
            let folder = place.root.join(folder);
            fs::create_dir(&folder)?;
            open_to_all(&folder)?;
            if own {
                chown(&folder, Some(id), Some(id))?;
            }
        }
        for executable in &built.tests {
            place.tests.push(copy(executable, &place.root.join("tests"))?);
        }
        for (name, executable) in &built.programs {
            let copied = copy(executable, &place.root.join("programs"))?;
            place.programs.push((variable(name), copied));
        }
        if let Some(first) = place.tests.first() {
            place.count(first)?;
        }
        let examples = place.root.join("examples");
        copy_folder(&crate::workspace::root().join("examples/skills"), &examples)?;
        place.programs.push(("SKILLSANDBOX_EXAMPLES".to_owned(), examples));
        Ok(place)
    }

    /// A command as the user. `uid` also gives up root's supplementary groups.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.uid(self.id).gid(self.id).env_clear().env("PATH", PATH).env("LANG", "C.UTF-8");
        command.env("HOME", self.root.join("home")).env("TMPDIR", self.root.join("tmp"));
        command.envs(self.programs.iter().map(|(name, path)| (name, path)));
        if let Some(value) = std::env::var_os("RUST_BACKTRACE") {
            command.env("RUST_BACKTRACE", value);
        }
        command.current_dir(self.root.join("home")).stdin(Stdio::null());
        command
    }

    /// How many tests are in an executable.
    fn count(&self, executable: &Path) -> anyhow::Result<usize> {
        let listed = output(self.command(executable).args(["--list", "--format", "terse"]))?;
        Ok(listed.lines().filter(|line| line.ends_with(": test")).count())
    }

    /// Asks the kernel who such a command is.
    fn check_user(&self) -> anyhow::Result<()> {
        let status = output(self.command(Path::new("/bin/cat")).arg("/proc/self/status"))?;
        is_ordinary(&status, self.id)
    }

    fn skipped(&self) -> PathBuf {
        self.root.join("tmp/skipped-tests")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            println!("{} could not be removed: {error}", self.root.display());
        }
    }
}

/// Whether /proc/self/status is that of a user with this number, with no group but its own and no capability.
fn is_ordinary(status: &str, id: u32) -> anyhow::Result<()> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.split_whitespace().collect::<Vec<_>>())
    };
    let id = id.to_string();
    let ids = vec![id.as_str(); 4];
    let none = vec!["0000000000000000"];
    for (name, expected) in [
        ("Uid", &ids),
        ("Gid", &ids),
        ("Groups", &vec![]),
        ("CapPrm", &none),
        ("CapEff", &none),
        ("CapAmb", &none),
    ] {
        let found = field(name).with_context(|| format!("/proc/self/status has no {name}"))?;
        if found != *expected {
            bail!("the ordinary user is none: {name} is {}", found.join(" "));
        }
    }
    Ok(())
}

/// The number of the user and of its group.
pub(crate) fn user() -> anyhow::Result<u32> {
    let known = || -> anyhow::Result<Option<u32>> {
        let user = nix::unistd::User::from_name(USER)?;
        Ok(user.filter(|user| user.uid.as_raw() == user.gid.as_raw()).map(|user| user.uid.as_raw()))
    };
    if let Some(id) = known()? {
        return Ok(id);
    }
    let id = free_id(&fs::read_to_string("/etc/passwd")?, &fs::read_to_string("/etc/group")?)?;
    let number = id.to_string();
    let made = succeed(Command::new("groupadd").args(["--gid", &number, USER])).and_then(|()| {
        let args =
            ["--uid", &number, "--gid", &number, "--no-create-home", "--home-dir", "/nonexistent", USER];
        succeed(Command::new("useradd").args(args))
    });
    match made {
        Ok(()) => eprintln!("made the user {USER} ({number}); `userdel {USER}` removes it"),
        Err(error) => eprintln!("a user without a name will do, though not for every test: {error:#}"),
    }
    Ok(id)
}

/// A number that is neither a user's nor a group's.
fn free_id(users: &str, groups: &str) -> anyhow::Result<u32> {
    let taken = |id: &u32| {
        let id = id.to_string();
        users.lines().chain(groups.lines()).any(|line| line.split(':').nth(2) == Some(id.as_str()))
    };
    FREE_IDS.into_iter().find(|id| !taken(id)).context("no number is free for an ordinary user")
}

/// The variable that holds the path of a program of the workspace.
fn variable(program: &str) -> String {
    let name = program.replace('-', "_").to_uppercase();
    if name.starts_with("SKILLSANDBOX") { name } else { format!("SKILLSANDBOX_{name}") }
}

pub(crate) fn copy(executable: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let name = executable.file_name().context("an executable without a name")?;
    let copied = folder.join(name);
    fs::copy(executable, &copied).with_context(|| format!("cannot copy {}", executable.display()))?;
    open_to_all(&copied)?;
    Ok(copied)
}

/// With everything in it.
fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir(to)?;
    open_to_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            copy_folder(&path, &to.join(path.file_name().context("a folder without a name")?))?;
        } else {
            copy(&path, to)?;
        }
    }
    Ok(())
}

/// Whatever the umask is.
pub(crate) fn open_to_all(path: &Path) -> anyhow::Result<()> {
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

/// Runs a command to its end, or for so long. Its sandboxes end with it.
pub(crate) fn bounded(command: &mut Command, timeout: Duration) -> anyhow::Result<Option<ExitStatus>> {
    let mut child = command.spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    let start = Instant::now();
    while start.elapsed() < timeout {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tcat\nUid:\t7\t7\t7\t7\nGid:\t7\t7\t7\t7\nGroups:\t \nCapInh:\t0000000000000000\n\
                          CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\n";

    #[test]
    fn an_ordinary_user_is_told_from_one_that_kept_something() {
        is_ordinary(STATUS, 7).unwrap();
        for (from, to) in [
            ("Uid:\t7", "Uid:\t0"),
            ("Gid:\t7\t7\t7\t7", "Gid:\t7\t7\t7\t0"),
            ("Groups:\t ", "Groups:\t0 "),
            ("CapPrm:\t0000000000000000", "CapPrm:\t0000000000000400"),
            ("CapEff:\t0000000000000000", "CapEff:\t000001ffffffffff"),
            ("CapAmb:\t0000000000000000", "CapAmb:\t0000000000000001"),
            ("CapAmb:\t0000000000000000\n", ""),
        ] {
            let changed = STATUS.replacen(from, to, 1);
            assert_ne!(changed, STATUS);
            is_ordinary(&changed, 7).unwrap_err();
        }
        is_ordinary(STATUS, 8).unwrap_err();
    }

    #[test]
    fn a_number_is_free_when_neither_a_user_nor_a_group_has_it() {
        let users = "root:x:0:0::/root:/bin/sh\nsomebody:x:60900:60900::/:/bin/sh\n";
        assert_eq!(free_id(users, "").unwrap(), 60_901);
        assert_eq!(free_id(users, "some:x:60901:\n").unwrap(), 60_902);
        let all: String = FREE_IDS.map(|id| format!("u:x:{id}:0::/:/bin/sh\n")).collect();
        free_id(&all, "").unwrap_err();
    }

    #[test]
    fn tests_and_programs_are_told_apart() {
        let messages = r#"
            {"reason":"compiler-artifact","package_id":"path+file:///w/p#p@0.1.0","profile":{"test":true},"target":{"name":"compat","kind":["test"]},"executable":"/t/compat-1"}
            {"reason":"compiler-artifact","package_id":"path+file:///w/p#p@0.1.0","profile":{"test":false},"target":{"name":"skillsandbox-probe","kind":["bin"]},"executable":"/t/probe"}
            {"reason":"compiler-artifact","package_id":"path+file:///w/p#p@0.1.0","profile":{"test":false},"target":{"name":"x","kind":["lib"]},"executable":null}
            {"reason":"compiler-artifact","package_id":"path+file:///w/p#p@0.1.0","profile":{"test":false},"target":{"name":"b","kind":["custom-build"]},"executable":"/t/b"}
            {"reason":"compiler-artifact","package_id":"path+file:///w/q#q@0.1.0","profile":{"test":true},"target":{"name":"rows","kind":["test"]},"executable":"/t/rows-1"}
            {"reason":"build-finished","success":true}"#;
        let messages: String = messages.lines().skip(1).map(|line| format!("{}\n", line.trim())).collect();
        let expected = Built {
            tests: vec!["/t/compat-1".into()],
            programs: vec![("skillsandbox-probe".into(), "/t/probe".into())],
        };
        assert_eq!(Built::read(&messages, &[("p", &[])]).unwrap(), expected);
        assert_eq!(Built::read(&messages, &[("p", &["compat"])]).unwrap(), expected);
        assert_eq!(Built::read(&messages, &[("p", &["other"])]).unwrap().tests, Vec::<PathBuf>::new());
    }

    #[test]
    fn variables_of_programs() {
        assert_eq!(variable("skillsandbox-probe"), "SKILLSANDBOX_PROBE");
        assert_eq!(variable("confine"), "SKILLSANDBOX_CONFINE");
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        let ended = bounded(Command::new("true").stdin(Stdio::null()), Duration::from_mins(5)).unwrap();
        assert!(ended.unwrap().success());
        let ended = bounded(Command::new("sleep").arg("1000"), Duration::from_millis(100)).unwrap();
        assert_eq!(ended, None);
    }
}
