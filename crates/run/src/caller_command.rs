//! The command of a call, where a skill has no entrypoint.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};

use crate::refusal::Refusal;

/// Most scripts that are told of.
const MAX_SCRIPTS: usize = 10;

/// The program and its arguments: the caller's words. A first word that names a file of the skill's folder is that file. Where the run starts
/// elsewhere, so is the first argument of an interpreter that names one (`python3 scripts/fill.py`): what is run is the skill's, whatever lies
/// in the workspace.
pub(crate) fn of_words(
    words: &[OsString],
    folder: &Path,
    workdir: &Path,
) -> Result<(OsString, Vec<OsString>), Refusal> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Refusal::NoCommand { scripts: scripts(folder) });
    };
    let mut arguments = arguments.to_vec();
    let is_path = |word: &OsStr| word.as_encoded_bytes().contains(&b'/');
    // A bare name is looked for in PATH; `./name` is the file.
    if let Some(file) = file_of(program, folder).filter(|_| is_path(program)) {
        return Ok((file, arguments));
    }
    let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
    if workdir != folder
        && let Some(first) = arguments.iter_mut().find(|word| !is_option(word))
        && is_path(first)
        && let Some(file) = file_of(first, folder)
    {
        *first = file;
    }
    Ok((program.clone(), arguments))
}

/// An argument of the manifest's own: where the run starts elsewhere than in the skill's folder, one that names a file of that is the file.
pub(crate) fn of_manifest(argument: &str, folder: &Path, workdir: &Path) -> OsString {
    let word = OsStr::new(argument);
    let elsewhere = workdir != folder;
    file_of(word, folder).filter(|_| elsewhere).unwrap_or_else(|| word.to_owned())
}

/// The file of a skill that a word names by a path below its folder.
fn file_of(word: &OsStr, folder: &Path) -> Option<OsString> {
    let path = Path::new(word);
    let below = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let file = folder.join(path);
    (path.components().all(below) && file.is_file()).then(|| file.into_os_string())
}

/// The files of a skill that a person may want to run, by their paths.
fn scripts(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for below in ["scripts", "."] {
        let Ok(entries) = folder.join(below).read_dir() else { continue };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_script = Path::new(&name).extension().is_some_and(|end| {
                ["py", "sh", "js", "mjs", "ts", "rb", "pl"].iter().any(|known| end == *known)
            });
            if is_script && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                found.push(if below == "." { name } else { format!("{below}/{name}") });
            }
        }
    }
    found.sort();
    found.truncate(MAX_SCRIPTS);
    found
}
