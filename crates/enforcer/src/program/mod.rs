//! Which program a name means on this host, and what it needs to start.
//!
//! Inside, only the system's folders exist and what was granted. A `python3` in `~/.pyenv` needs its installation there; a
//! script its interpreter; a program in `/opt` its libraries. This finds them, and nothing more than them.
//!
//! The question may come from a skill's own manifest, and the working folder may be the skill's own, so:
//!
//! - nothing in the working folder widens what is readable. Settings in it (`.python-version`, `rust-toolchain.toml`, …)
//!   choose among the installations of the user's own version managers, by name; `pyvenv.cfg`, links and first lines of
//!   scripts lead out of it only to an installation known by the rules; search paths in its binaries are not read;
//! - an installation is known by its place or by what stands beside the program ([`installation`]), and is never a folder that
//!   holds more than one: `/`, a home, `/opt`, a folder with `.ssh` in it ([`search_host`]). Where no rule knows, only the file itself
//!   is given;
//! - nothing is executed. Every read is bounded, and of regular files only.
//!
//! A link cannot be carried into another root by itself. So either what is given covers each link on the way and its target,
//! or [`FoundProgram::path`] is the first place on the way from which that is so; the last one is always such a place.
//!
//! What is found may be changed by others before it is used: to mount a [`ProgramNeed`], links must not be followed.

mod elf;
mod error;
mod files;
mod installation;
mod libraries;
mod lookup;
mod search_host;
mod shebang;
mod shims;
#[cfg(test)]
mod tests;
mod venv;

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

#[cfg(test)]
pub(crate) use self::elf::tests::{NEEDED, RPATH, RUNPATH, file as elf_file};
pub(crate) use self::error::ProgramError;
use self::files::PathStep;
use self::search_host::{SearchFolders, SearchHost, is_made_up, is_system, passes_secrets};
use self::shebang::ScriptInterpreter;
use crate::prepare::links::LinkRules;

/// Scripts whose interpreters are scripts, and stand-ins for stand-ins. The kernel follows as many.
const MAX_DEPTH: usize = 4;

/// What a command name means on this host, and what must be readable for it to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundProgram {
    /// What to execute, by the same path inside as outside. No folder on the way is a link.
    pub(crate) path: PathBuf,
    /// To be granted for reading inside, beyond the system's folders and the working folder. Real paths, none within another.
    pub(crate) needs: Vec<ProgramNeed>,
    /// Folders to put before the PATH inside, so that `#!/usr/bin/env python3` and child processes find the same program.
    pub(crate) path_dirs: Vec<PathBuf>,
    /// The files that the kernel executes when it is started, without links: itself, its interpreters, their loaders.
    pub(crate) executed: Vec<PathBuf>,
}

/// A file or folder that must be readable, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProgramNeed {
    pub(crate) path: PathBuf,
    pub(crate) reason: &'static str,
}

impl ProgramNeed {
    fn new(path: &Path, reason: &'static str) -> Self {
        Self { path: path.to_path_buf(), reason }
    }
}

/// Where to look: the caller's world, not the skill's.
pub(crate) struct ProgramSearch<'a> {
    /// The caller's PATH.
    pub(crate) path: &'a OsStr,
    /// The caller's home folder.
    pub(crate) home: Option<&'a Path>,
    /// Where relative names begin. What it holds is not believed.
    pub(crate) workdir: &'a Path,
    /// The caller's environment, for the variables of version managers.
    pub(crate) environment: &'a dyn Fn(&str) -> Option<OsString>,
    /// Whose links are not believed either.
    pub(crate) links: LinkRules<'a>,
}

/// Finds the program that a name means.
pub(crate) fn find(name: &OsStr, search: &ProgramSearch<'_>) -> Result<FoundProgram, ProgramError> {
    let folders = SearchFolders::of(search);
    let host = folders.host(search);
    let start = lookup::file(&host, name)?;
    let mut program = resolve(&host, &start, 0, ProgramUser::ByName)?;
    program.needs = fold_needs(&host, program.needs);
    Ok(program)
}

/// Who wants a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramUser {
    /// A manifest or a user, in the open.
    ByName,
    /// A file in the skill's folder, by a path in it.
    BySkill,
}

/// Whether a real path will be there inside.
fn is_covered(host: &SearchHost<'_>, needs: &[ProgramNeed], path: &Path) -> bool {
    is_system(path) || host.in_skill(path) || needs.iter().any(|need| path.starts_with(&need.path))
}

fn resolve(
    host: &SearchHost<'_>,
    start: &Path,
    depth: usize,
    asked: ProgramUser,
) -> Result<FoundProgram, ProgramError> {
    if depth > MAX_DEPTH {
        return Err(ProgramError::TooDeep { path: start.to_path_buf(), limit: MAX_DEPTH });
    }
    let steps = files::steps(start).map_err(|source| missing_or(start, source))?;
    for step in &steps {
        check_place(&step.at)?;
        if let Some(real) = shims::find_target(host, &step.at)? {
            return resolve(host, &real, depth + 1, asked);
        }
    }
    let Some(last) = steps.last() else { return Err(ProgramError::NotAFile(start.to_path_buf())) };
    let file = last.at.as_path();
    check_file(file)?;

    let mut needs = Vec::new();
    let mut in_venv = false;
    for step in &steps {
        if let Some(more) = venv::needs(host, &step.at)? {
            needs.extend(more);
            in_venv = true;
        }
    }
    // Links of folders count as much as that of the file: whatever lies in the skill's folder is the skill's word.
    let told_by_skill =
        |step: &PathStep| step.through.iter().chain([&step.at]).any(|path| host.in_skill(path));
    // So do links that an earlier run could have left behind, wherever they are.
    let left_behind = |path: &PathBuf| host.search.links.holder(path).is_some();
    let ways = steps.iter().flat_map(|step| &step.through);
    let mut links = ways.chain(steps.iter().rev().skip(1).map(|step| &step.at));
    let is_told = steps.iter().any(told_by_skill) || links.any(left_behind);
    let asked = if is_told { ProgramUser::BySkill } else { asked };
    add_program(host, start, file, asked, &mut needs)?;
    if in_venv {
        // A virtual environment works only by its own path, so its links have to be there where they can be.
        let links = steps.iter().skip(1).flat_map(|step| &step.through);
        let mut more = needs.clone();
        if venv::reach_base(host, links, &mut more).is_ok() {
            needs = more;
        }
    }
    let path = find_entrance(host, &steps, &needs).unwrap_or(file).to_path_buf();
    let mut program = FoundProgram { path, needs, path_dirs: Vec::new(), executed: vec![file.to_path_buf()] };
    let alone = add_start(host, file, depth, asked, &mut program)?;
    // Child processes look for their like beside the program; but a skill's own folder is on nobody's PATH.
    if alone == OwnFolder::Welcome && (in_venv || !host.in_skill(&program.path)) {
        own_folder(&mut program);
    }
    Ok(program)
}

/// The first place on the way from which everything that follows will be there.
fn find_entrance<'s>(
    host: &SearchHost<'_>,
    steps: &'s [PathStep],
    needs: &[ProgramNeed],
) -> Option<&'s Path> {
    let there = |path: &PathBuf| is_covered(host, needs, path);
    let fits = |from: usize| {
        let rest = steps.get(from..).unwrap_or_default();
        rest.iter().all(|step| there(&step.at))
            && rest.iter().skip(1).all(|step| step.through.iter().all(there))
    };
    (0..steps.len()).find(|from| fits(*from)).and_then(|from| steps.get(from)).map(|step| step.at.as_path())
}

/// Makes the file readable: with its installation, or by itself.
fn add_program(
    host: &SearchHost<'_>,
    start: &Path,
    file: &Path,
    asked: ProgramUser,
    needs: &mut Vec<ProgramNeed>,
) -> Result<(), ProgramError> {
    if is_system(file) || host.in_skill(file) {
        return Ok(());
    }
    if let Some(more) = installation::of(host, file) {
        needs.extend(more);
    } else if needs.iter().any(|need| file.starts_with(&need.path)) {
        // In the virtual environment it was found in.
    } else if asked == ProgramUser::BySkill {
        return Err(ProgramError::LeadsOut { from: start.to_path_buf(), to: file.to_path_buf() });
    } else {
        needs.push(ProgramNeed::new(file, "the program itself"));
    }
    Ok(())
}

/// Whether the folder of a program may go before the PATH.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnFolder {
    Welcome,
    /// It holds another program of the name that `env` is to find in the system.
    Shadows,
}

/// What the file itself needs to start: an interpreter, or a loader and libraries.
fn add_start(
    host: &SearchHost<'_>,
    file: &Path,
    depth: usize,
    asked: ProgramUser,
    program: &mut FoundProgram,
) -> Result<OwnFolder, ProgramError> {
    // A program may be executed without being readable; the kernel reads no first line of a script then either.
    let Ok(head) = files::head(file, shebang::LONGEST as u64) else { return Ok(OwnFolder::Welcome) };
    let unfit = |why| ProgramError::Format { path: file.to_path_buf(), why };
    match shebang::read(&head) {
        Some(read) => return add_interpreter(host, file, depth, asked, &read.map_err(unfit)?, program),
        None if elf::is_elf(&head) => {
            libraries::add(host, file, &mut program.needs);
            program.executed.extend(libraries::read_loader(file));
        }
        None if head.is_empty() => return Err(unfit("is empty, so there is nothing to execute")),
        None => {
            return Err(unfit(
                "is neither a program nor a script with `#!` in its first line, so only a shell would run it; add such a line, or name the interpreter as the command",
            ));
        }
    }
    Ok(OwnFolder::Welcome)
}

fn own_folder(program: &mut FoundProgram) {
    if let Some(folder) = program.path.parent().filter(|folder| !is_system(folder)).map(Path::to_path_buf)
        && !program.path_dirs.contains(&folder)
    {
        program.path_dirs.push(folder);
    }
}

fn add_interpreter(
    host: &SearchHost<'_>,
    script: &Path,
    depth: usize,
    asked: ProgramUser,
    interpreter: &ScriptInterpreter,
    program: &mut FoundProgram,
) -> Result<OwnFolder, ProgramError> {
    let named = |name: &OsStr| {
        let (script, interpreter) = (script.to_path_buf(), name.to_owned());
        |source| ProgramError::Interpreter { script, interpreter, source: Box::new(source) }
    };
    let (path, behind_env) = match interpreter {
        ScriptInterpreter::Path(path) => (path, None),
        ScriptInterpreter::Env(env, name) => (env, Some(name)),
    };
    let start = host.search.workdir.join(path);
    let found = resolve(host, &start, depth + 1, asked).map_err(named(path.as_os_str()))?;
    program.needs.extend(found.needs);
    program.executed.extend(found.executed);
    // The kernel goes by the path as it is written.
    let reached =
        files::real(&start).map_err(|source| missing_or(&start, source)).map_err(named(path.as_os_str()))?;
    let real = files::real(&found.path).map_or_else(|_| found.path.clone(), |step| step.at);
    if reached.at != real || !reached.through.iter().all(|link| is_covered(host, &program.needs, link)) {
        return Err(ProgramError::StandIn {
            script: script.to_path_buf(),
            interpreter: start,
            real: found.path,
        });
    }
    let Some(name) = behind_env else {
        program.path_dirs.extend(found.path_dirs);
        return Ok(OwnFolder::Welcome);
    };
    // `env` looks on the PATH inside, which has the program's own folder before the caller's.
    let beside = program.path.with_file_name(name);
    let has_one = is_covered(host, &program.needs, &beside) && beside.is_file() && files::executable(&beside);
    let start = match lookup::file(host, name) {
        Err(ProgramError::NotOnPath { .. }) if has_one && !host.in_skill(&beside) => beside,
        other => other.map_err(named(name))?,
    };
    let by = if name.as_encoded_bytes().contains(&b'/') { asked } else { ProgramUser::ByName };
    let found = resolve(host, &start, depth + 1, by).map_err(named(name))?;
    program.needs.extend(found.needs);
    program.executed.extend(found.executed);
    let shadows = has_one && found.path_dirs.is_empty();
    program.path_dirs.extend(found.path_dirs);
    Ok(if shadows { OwnFolder::Shadows } else { OwnFolder::Welcome })
}

fn missing_or(path: &Path, source: std::io::Error) -> ProgramError {
    let path = path.to_path_buf();
    match source.raw_os_error() {
        Some(libc::ELOOP) => ProgramError::TooDeep { path, limit: files::MAX_LINKS },
        Some(libc::ENOENT | libc::ENOTDIR) => ProgramError::Missing { path, near: None },
        _ => ProgramError::Io { path, source },
    }
}

/// Places from which nothing is started, wherever the rest of the way leads.
fn check_place(path: &Path) -> Result<(), ProgramError> {
    if path.starts_with("/snap") || path.starts_with("/var/lib/snapd") {
        return Err(ProgramError::Snap(path.to_path_buf()));
    }
    let why = match path {
        _ if is_made_up(path) => "it is made up by the kernel, and another one inside; name the file itself",
        _ if passes_secrets(path) => "secrets are kept there; move the program elsewhere",
        _ => return Ok(()),
    };
    Err(ProgramError::Place { path: path.to_path_buf(), why })
}

fn check_file(file: &Path) -> Result<(), ProgramError> {
    let path = file.to_path_buf();
    let kind = match file.symlink_metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(source) => return Err(missing_or(file, source)),
    };
    match kind {
        kind if kind.is_dir() => Err(ProgramError::Directory(path)),
        kind if kind.is_fifo() || kind.is_socket() || !kind.is_file() => Err(ProgramError::NotAFile(path)),
        _ if !files::executable(file) => Err(ProgramError::NotExecutable { path }),
        _ => Ok(()),
    }
}

/// Sorted, without what is there anyway and without what lies in another.
fn fold_needs(host: &SearchHost<'_>, mut needs: Vec<ProgramNeed>) -> Vec<ProgramNeed> {
    needs.sort_by(|one, other| one.path.cmp(&other.path));
    let mut folded: Vec<ProgramNeed> = Vec::new();
    for need in needs {
        if !is_covered(host, &folded, &need.path) {
            folded.push(need);
        }
    }
    folded
}
