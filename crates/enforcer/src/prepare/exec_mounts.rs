//! Where a run may execute, where only named programs may be: all other mounts forbid it.
//!
//! Landlock says what may be given to `execve`. But every program needs its loader, which starts whatever it is told to, and a
//! library is code as well: both map a file to be executed, which a mount forbids and Landlock does not. So whatever holds no named
//! program and no library is mounted without execution: what the run may write, what it was granted, the skill's own folder, and of
//! the system the folders of programs. Each named program is a mount of its own.
//!
//! Left over are programs that lie among libraries: see [`is_library_folder`].

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::executable::AllowedPrograms;
use super::grants::{Grants, is_within};
use crate::plan::PathAccess;

/// Where a system has its libraries.
const LIBRARIES: [&str; 10] = [
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
];

/// Folders that hold programs and nothing else, by name.
const PROGRAMS: [&str; 4] = ["bin", "sbin", "games", "libexec"];

/// Folders of a library folder looked at; more than any system has.
const MAX_FOLDERS: usize = 4096;

/// A part of a grant that is mounted by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExecSplit {
    pub(crate) path: PathBuf,
    pub(crate) identity: (u64, u64),
    pub(crate) may_execute: bool,
}

/// What may be executed and what may not, by mounts.
#[derive(Debug, Default)]
pub(crate) struct ExecMounts {
    /// Read-only grants that may be executed as a whole.
    pub(crate) grants: Vec<PathBuf>,
    /// Parts of read-only grants, parents first.
    pub(crate) splits: Vec<ExecSplit>,
}

impl ExecMounts {
    pub(crate) fn find(programs: &AllowedPrograms, grants: &Grants) -> Self {
        let mut places = ExecPlaces::default();
        for folder in LIBRARIES.iter().filter_map(|folder| Path::new(folder).canonicalize().ok()) {
            places.open_libraries(&folder, programs);
        }
        for need in &programs.needs {
            places.open_folder(need);
        }
        for path in &programs.paths {
            if let Some(folder) = private_libraries(path) {
                places.open_folder(&folder);
            }
        }
        // Last, since what was named counts most.
        for path in &programs.paths {
            places.0.insert(path.clone(), true);
        }
        places.into_mounts(grants)
    }
}

/// Paths, and whether what is there may be executed. The nearest one above a file decides.
#[derive(Default)]
struct ExecPlaces(BTreeMap<PathBuf, bool>);

impl ExecPlaces {
    /// A folder of the system's libraries: it, and of its folders those that hold libraries.
    fn open_libraries(&mut self, folder: &Path, programs: &AllowedPrograms) {
        self.0.insert(folder.to_owned(), true);
        for (name, path) in folders_of(folder) {
            let is_needed = programs.needs.iter().any(|need| is_within(need, &path));
            if is_library_folder(&name) || is_needed {
                self.open_folder(&path);
            } else {
                self.0.entry(path).or_insert(false);
            }
        }
    }

    /// A folder of libraries or an installation, without the programs in it.
    fn open_folder(&mut self, folder: &Path) {
        self.0.insert(folder.to_owned(), true);
        for (name, path) in folders_of(folder) {
            if PROGRAMS.contains(&name.as_str()) {
                self.0.entry(path).or_insert(false);
            }
        }
    }

    /// As mounts over the grants, where they make a difference. What may be written is never executed.
    fn into_mounts(self, grants: &Grants) -> ExecMounts {
        let mut mounts = ExecMounts::default();
        for (path, may_execute) in &self.0 {
            let Some(grant) = grants.deciding_grant(path).filter(|grant| grant.access == PathAccess::Read)
            else {
                continue;
            };
            if grant.path == *path {
                mounts.grants.extend(may_execute.then(|| path.clone()));
                continue;
            }
            // Above it nothing may be executed unless something says so, in the same grant.
            let above = path.ancestors().skip(1).take_while(|above| is_within(above, &grant.path));
            let above = above.into_iter().find_map(|above| self.0.get(above).copied()).unwrap_or(false);
            if above == *may_execute {
                continue;
            }
            // What is gone is not there inside either.
            if let Ok(metadata) = fs::symlink_metadata(path)
                && (metadata.is_dir() || metadata.is_file())
            {
                let identity = (metadata.dev(), metadata.ino());
                mounts.splits.push(ExecSplit { path: path.clone(), identity, may_execute: *may_execute });
            }
        }
        mounts.splits.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        mounts
    }
}

/// Whether a folder among the system's libraries holds such: those of an architecture (`x86_64-linux-gnu`) and the modules of
/// interpreters. Programs that lie in there can still be given to a loader; other folders are for one program each, with helpers to
/// be executed.
fn is_library_folder(name: &str) -> bool {
    const INTERPRETERS: [&str; 12] =
        ["python", "pypy", "perl", "ruby", "node", "lua", "php", "tcl", "tk", "ocaml", "guile", "erlang"];
    name.contains("-linux-")
        || INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter))
        // Of the loader itself, for processors that can do more.
        || name == "glibc-hwcaps"
}

/// Where a program that is named has libraries of its own: in its installation where it lies in one below the system's libraries
/// (`/usr/lib/jvm/java-17/bin/java`), or beside it.
fn private_libraries(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?;
    let library = LIBRARIES.iter().map(Path::new).find(|library| is_within(folder, library))?;
    let is_programs = folder.file_name().is_some_and(|name| PROGRAMS.iter().any(|bin| name == *bin));
    let folder = if is_programs { folder.parent()? } else { folder };
    (folder != library && program.is_file()).then(|| folder.to_owned())
}

/// The folders in a folder, without links.
fn folders_of(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FOLDERS);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect()
}
