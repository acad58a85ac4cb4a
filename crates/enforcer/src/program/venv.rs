//! Python's virtual environments (PEP 405): a folder with `pyvenv.cfg`, whose `home` names the Python it was made from.
//!
//! An environment in the skill's own folder was perhaps made by its author, so `home` is believed only as far as an
//! installation lies there by the rules for all programs; and nothing else that `pyvenv.cfg` says is believed at all.

use std::path::{Path, PathBuf};

use super::error::ProgramError;
use super::search_host::{SearchHost, is_system};
use super::{ProgramNeed, files, installation, is_covered};

const REASON: &str = "the Python virtual environment";
const BASE_REASON: &str = "the Python that the virtual environment was made from";

/// What tools put into an environment. One made in the middle of a project has more there.
const PARTS: [&str; 14] = [
    "bin",
    "lib",
    "lib64",
    "include",
    "share",
    "etc",
    "man",
    "doc",
    "pyvenv.cfg",
    ".gitignore",
    ".lock",
    "CACHEDIR.TAG",
    "pip-selfcheck.json",
    "src",
];
/// What has to be readable for a program in an environment; `None` if it is in none. The path is one whose folder is real.
pub(super) fn needs(host: &SearchHost<'_>, program: &Path) -> Result<Option<Vec<ProgramNeed>>, ProgramError> {
    let Some(root) = program.parent().filter(|folder| folder.ends_with("bin")).and_then(Path::parent) else {
        return Ok(None);
    };
    let cfg = root.join("pyvenv.cfg");
    let Some(home) = files::small_text(&cfg).and_then(|text| home(&text)) else { return Ok(None) };
    let mut needs = own_needs(host, program, root);
    add_base(host, &cfg, &home, &mut needs)?;
    Ok(Some(needs))
}

/// The environment itself; nothing in the skill's folder, which is there anyway.
fn own_needs(host: &SearchHost<'_>, program: &Path, root: &Path) -> Vec<ProgramNeed> {
    if host.in_skill(root) || is_system(root) {
        return Vec::new();
    }
    if let Some(kept) = installation::of(host, program) {
        return kept;
    }
    let clean = || files::names(root).iter().all(|name| PARTS.iter().any(|part| name == part));
    if host.may_be_given(root) && clean() {
        return vec![ProgramNeed::new(root, REASON)];
    }
    // Where there is more, only what Python itself looks at.
    let lib = root.join("lib");
    let libraries =
        files::names(&lib).into_iter().filter(|name| name.as_encoded_bytes().starts_with(b"python"));
    let pieces = libraries.map(|name| lib.join(name)).chain([root.join("bin"), root.join("pyvenv.cfg")]);
    let fits = |piece: &PathBuf| !piece.is_symlink() && piece.exists() && host.may_be_given(piece);
    pieces.filter(fits).map(|piece| ProgramNeed::new(&piece, REASON)).collect()
}

fn add_base(
    host: &SearchHost<'_>,
    cfg: &Path,
    home: &str,
    needs: &mut Vec<ProgramNeed>,
) -> Result<(), ProgramError> {
    let refuse = |why| ProgramError::VenvBase { cfg: cfg.to_path_buf(), home: home.to_owned(), why };
    let path = Path::new(home);
    if !path.is_absolute() {
        return Err(refuse("that is not an absolute path"));
    }
    let base = files::real(path).map_err(|_| refuse("there is nothing there"))?;
    if !is_system(&base.at) && !host.in_skill(&base.at) {
        let python = python_in(&base.at).ok_or_else(|| refuse("there is no Python there"))?;
        let found = if python.starts_with(&base.at) { installation::of(host, &python) } else { None };
        // A `home` whose Python is a link to elsewhere is a folder like any other: nothing of it is given.
        let found = found.ok_or_else(|| refuse("no installation is known there"))?;
        needs.extend(found.into_iter().map(|need| ProgramNeed { reason: BASE_REASON, ..need }));
        if !is_covered(host, needs, &base.at) {
            return Err(refuse("no installation is known there"));
        }
    }
    // Python looks for its library by this path as it is written, so each link of it has to be there.
    reach_base(host, base.through.iter().chain([&base.at]), needs)
        .map_err(|()| refuse("a link on the way would not be there"))
}

/// Makes every link on a way readable, by the folder of installations it stands in.
pub(super) fn reach_base<'p>(
    host: &SearchHost<'_>,
    way: impl Iterator<Item = &'p PathBuf>,
    needs: &mut Vec<ProgramNeed>,
) -> Result<(), ()> {
    for link in way {
        if !is_covered(host, needs, link) {
            needs.push(installation::version_folder(host, link).ok_or(())?);
        }
    }
    Ok(())
}

/// The real path of a Python in a folder.
fn python_in(folder: &Path) -> Option<PathBuf> {
    let numbered =
        files::names(folder).into_iter().filter(|name| name.as_encoded_bytes().starts_with(b"python3."));
    let names = ["python3".into(), "python".into()].into_iter().chain(numbered.take(16));
    names
        .filter_map(|name: std::ffi::OsString| files::real(&folder.join(name)).ok())
        .map(|step| step.at)
        .find(|path| path.is_file())
}

/// The value of `home`; keys are taken in any letter case, the first counts.
fn home(text: &str) -> Option<String> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let mut values =
        pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case("home")).map(|(_, value)| value.trim());
    values.next().filter(|value| !value.is_empty() && value.len() < 4096).map(str::to_owned)
}
