//! One case: a program, the files it works on, and what it must print.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use skillsandbox_enforcer::{Command, Plan, RunOutcome, SyscallProfile};
use tempfile::TempDir;

use crate::missing;

/// Far more than any case needs on a busy machine; only there so that nothing waits for ever.
const TIMEOUT: Duration = Duration::from_mins(5);
const MEMORY: u64 = 2 << 30;
const PROCESSES: u32 = 256;
/// Compilers write their results to the private folders.
const DISK: u64 = 1 << 30;
const OUTPUT: usize = 64 << 10;

/// A program, its arguments, and the folder it works in, which is granted for writing.
pub(crate) struct Case {
    program: String,
    arguments: Vec<String>,
    needs: Vec<String>,
    files: Vec<(String, String)>,
    variables: Vec<(String, String)>,
}

impl Case {
    /// A program by name, looked for as a launching program would; or by its name in the work folder, as `./name`.
    pub(crate) fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            needs: Vec::new(),
            files: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// A script, put into the work folder, and the interpreter that is given it.
    pub(crate) fn script(interpreter: &str, name: &str, text: &str) -> Self {
        Self::new(interpreter).file(name, text).args([name])
    }

    pub(crate) fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        self.arguments.extend(arguments.into_iter().map(str::to_owned));
        self
    }

    /// Programs that the first one starts by name.
    pub(crate) fn needs<'a>(mut self, programs: impl IntoIterator<Item = &'a str>) -> Self {
        self.needs.extend(programs.into_iter().map(str::to_owned));
        self
    }

    /// A file in the work folder. One that begins with `#!` can be executed.
    pub(crate) fn file(mut self, name: &str, text: &str) -> Self {
        self.files.push((name.to_owned(), text.to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs it. It must succeed and print exactly this. Returns its work folder, or nothing where a program is missing.
    pub(crate) fn prints(self, expected: &str) -> Option<TempDir> {
        self.check(expected, |printed| printed == expected)
    }

    /// The same, where what it prints only begins with this.
    pub(crate) fn prints_and_more(self, expected: &str) -> Option<TempDir> {
        self.check(expected, |printed| printed.starts_with(expected))
    }

    fn check(self, expected: &str, is_right: impl Fn(&str) -> bool) -> Option<TempDir> {
        if !self.is_possible() {
            return None;
        }
        let work = self.work_folder();
        let outcome = self.run(work.path(), SyscallProfile::Default);
        let worked = outcome.success() && is_right(&outcome.stdout.text());
        assert!(worked, "{}", self.diagnosis(&outcome, expected));
        Some(work)
    }

    fn is_possible(&self) -> bool {
        let started = (!self.program.starts_with("./")).then_some(self.program.as_str());
        let mut missing = missing::outside(started);
        missing.extend(missing::inside(self.needs.iter().map(String::as_str)));
        missing.is_empty() || missing::skip(&missing)
    }

    fn work_folder(&self) -> TempDir {
        let work = tempfile::Builder::new().prefix("compat-").tempdir().unwrap();
        for (name, text) in &self.files {
            let path = work.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        work
    }

    fn run(&self, work: &Path, profile: SyscallProfile) -> RunOutcome {
        let mut plan = Plan::builder()
            .write(work)
            .workdir(work)
            .memory(MEMORY)
            .processes(PROCESSES)
            .disk(DISK)
            .timeout(TIMEOUT)
            .syscalls(profile);
        for (name, value) in &self.variables {
            plan = plan.env(name, value);
        }
        let command = Command::new(self.program_in(work)).args(&self.arguments).captured(OUTPUT);
        let running = plan.build().unwrap().spawn(&command);
        let running = running.unwrap_or_else(|error| panic!("{} did not start: {error}", self.program));
        running.wait().unwrap()
    }

    fn program_in(&self, work: &Path) -> PathBuf {
        match self.program.strip_prefix("./") {
            Some(name) => work.join(name),
            None => PathBuf::from(&self.program),
        }
    }

    /// What happened, and where else it happens.
    fn diagnosis(&self, outcome: &RunOutcome, expected: &str) -> String {
        let mut text = format!("{} {}\n", self.program, self.arguments.join(" "));
        let _ =
            writeln!(text, "{:?}, {:?}, limits hit {:?}", outcome.status, outcome.end, outcome.limits_hit);
        let _ = writeln!(text, "--- expected\n{expected}");
        let _ = writeln!(text, "--- standard output\n{}", outcome.stdout.text());
        let _ = writeln!(text, "--- standard error\n{}", outcome.stderr.text());
        let permissive = self.run(self.work_folder().path(), SyscallProfile::Permissive);
        let works = permissive.success() && permissive.stdout.text().starts_with(expected);
        let _ = writeln!(text, "--- with the permissive profile it {}", verdict(works));
        let (works, printed) = self.outside(expected);
        let _ = writeln!(text, "--- outside the sandbox it {}\n{printed}", verdict(works));
        text
    }

    /// The same without a sandbox, for a diagnosis: whether it worked, and what it printed.
    fn outside(&self, expected: &str) -> (bool, String) {
        let work = self.work_folder();
        let home = tempfile::tempdir().unwrap();
        let mut output = tempfile::tempfile().unwrap();
        let copy = |file: &File| Stdio::from(file.try_clone().unwrap());
        let mut command = std::process::Command::new(self.program_in(work.path()));
        command.args(&self.arguments).current_dir(work.path()).env("HOME", home.path()).process_group(0);
        // What lies in the real home and is no setting: interpreters and toolchains.
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")] {
            if let (None, Some(real)) = (std::env::var_os(name), std::env::var_os("HOME")) {
                command.env(name, Path::new(&real).join(folder));
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(copy(&output)).stderr(copy(&output));
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return (false, error.to_string()),
        };
        let start = Instant::now();
        let ended = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if start.elapsed() > TIMEOUT => break None,
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        if ended.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let mut printed = Vec::new();
        output.rewind().unwrap();
        output.read_to_end(&mut printed).unwrap();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let worked = ended.is_some_and(|status| status.success()) && printed.contains(expected);
        (worked, if worked { String::new() } else { printed })
    }
}

fn verdict(works: bool) -> &'static str {
    if works { "works" } else { "does not work either" }
}
