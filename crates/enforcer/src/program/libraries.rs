//! The libraries of a program that lie outside the system's folders, as its loader would look for them (`ld.so(8)`).
//!
//! The author of the file chose these names, so a library is given only if it is one: a regular ELF file that can be loaded.
//! What is found by the loader's own list (`/etc/ld.so.cache`) or opened later by name (`dlopen`) is not seen here.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::elf::{self, ElfFile};
use super::search_host::{SearchHost, is_made_up, is_system, passes_secrets};
use super::{ProgramNeed, files, installation, is_covered};

/// Files looked at for one program.
const MAX_FILES: usize = 256;

/// Adds what the ELF file at this real path needs. A file in the skill's own folder is not asked: it would ask for more.
pub(super) fn add(host: &SearchHost<'_>, program: &Path, needs: &mut Vec<ProgramNeed>) {
    if host.in_skill(program) {
        return;
    }
    let mut seen = vec![program.to_path_buf()];
    let mut left = VecDeque::from([(program.to_path_buf(), Vec::new())]);
    while let Some((file, inherited)) = left.pop_front() {
        let Some(elf) = read(&file) else { continue };
        let origin = file.parent().unwrap_or(Path::new("/"));
        // A runpath counts for the file itself and puts rpaths out of force; rpaths count for libraries' libraries as well.
        let mut folders = inherited;
        if let Some(runpath) = &elf.runpath {
            folders = split_folders(runpath, origin);
        } else if let Some(rpath) = &elf.rpath {
            folders.splice(0..0, split_folders(rpath, origin));
        }
        let passed_on = if elf.runpath.is_some() { Vec::new() } else { folders.clone() };
        let loader = elf.loader.iter().map(|loader| PathBuf::from(OsStr::from_bytes(loader)));
        let found = elf.needed.iter().filter_map(|name| locate_library(name, &folders));
        for path in loader.chain(found) {
            if let Some(real) = add_file(host, &path, needs)
                && seen.len() < MAX_FILES
                && !seen.contains(&real)
            {
                seen.push(real.clone());
                left.push_back((real, passed_on.clone()));
            }
        }
    }
}

/// The loader that a program names, where it is one of the system's.
pub(super) fn read_loader(program: &Path) -> Option<PathBuf> {
    let named = read(program)?.loader?;
    let real = files::real(Path::new(OsStr::from_bytes(&named))).ok()?.at;
    is_system(&real).then_some(real)
}

fn read(file: &Path) -> Option<ElfFile> {
    let file = files::open_regular(file).ok()?;
    elf::read(&|at, most| {
        let mut bytes = vec![0; usize::try_from(most).ok()?];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read_at(rest, at.checked_add(filled as u64)?).ok()? {
                0 => break,
                more => filled += more,
            }
        }
        bytes.truncate(filled);
        Some(bytes)
    })
}

/// The folders of a search path. Relative ones mean the current folder, as in the PATH, and are left out.
fn split_folders(folders: &[u8], origin: &Path) -> Vec<PathBuf> {
    let expand = |folder: &[u8]| -> Option<PathBuf> {
        let rest = folder.strip_prefix(b"$ORIGIN").or_else(|| folder.strip_prefix(b"${ORIGIN}"));
        let path = match rest {
            Some([]) => origin.to_path_buf(),
            Some([b'/', rest @ ..]) => origin.join(OsStr::from_bytes(rest.trim_ascii_start())),
            Some(_) => return None,
            None => PathBuf::from(OsStr::from_bytes(folder)),
        };
        path.is_absolute().then_some(path)
    };
    folders.split(|byte| *byte == b':').take(64).filter_map(expand).collect()
}

/// Where a library is found, if not in the system's folders.
fn locate_library(name: &[u8], folders: &[PathBuf]) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(name));
    if name.is_absolute() {
        return Some(name.to_path_buf());
    }
    // A name with a slash means the current folder.
    (name.components().count() == 1).then_some(())?;
    folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Makes a library readable under the path by which it is looked for; its real path, if it could be.
fn add_file(host: &SearchHost<'_>, path: &Path, needs: &mut Vec<ProgramNeed>) -> Option<PathBuf> {
    const REASON: &str = "a library of the program";
    let step = files::step(path).ok()?;
    let real = files::real(path).ok()?;
    if is_system(&real.at) && real.through.iter().all(|link| is_system(link)) {
        return None;
    }
    if is_made_up(&real.at) || passes_secrets(&real.at) || !read(&real.at)?.shared {
        return None;
    }
    let reachable = |needs: &[ProgramNeed]| {
        real.through.iter().chain([&real.at]).all(|path| is_covered(host, needs, path))
    };
    if !reachable(needs) {
        let more =
            installation::of(host, &real.at).unwrap_or_else(|| vec![ProgramNeed::new(&real.at, REASON)]);
        needs.extend(more);
    }
    // A link cannot be put into another root by itself: its folder is, where that holds nothing but libraries.
    if !reachable(needs)
        && let Some(folder) = step.at.parent()
        && only_libraries(folder)
        && host.may_be_given(folder)
    {
        needs.push(ProgramNeed::new(folder, REASON));
    }
    Some(real.at)
}

fn only_libraries(folder: &Path) -> bool {
    let fits = |name: &OsStr| {
        let name = name.to_string_lossy();
        // libx.so, libx.so.1.2
        let stem = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        [".so", ".a", ".la"].iter().any(|end| stem.ends_with(end)) || name == "pkgconfig" || name == "cmake"
    };
    let names = files::names(folder);
    names.len() < files::MAX_ENTRIES && names.iter().all(|name| fits(name))
}
