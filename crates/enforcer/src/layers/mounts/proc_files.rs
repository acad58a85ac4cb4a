//! Files of /proc that are root's own.
//!
//! A run that root starts has no capability, but the files still belong to it by its number. So whatever in /proc is not for everybody to
//! read is covered for such a run: by that rule and not by a list, since each kernel has others.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Most entries that are looked at; a kernel has some 1,700, and more on machines with many interrupts.
const MOST_ENTRIES: usize = 65_536;
/// Deepest folder below /proc that is looked into.
const MOST_DEPTH: usize = 8;
/// May be read by others.
const FOR_OTHERS: u32 = 0o004;

/// What is for its owner alone, and whether it is a folder. Looked for once a process: the kernel adds to it only with modules.
pub(super) fn roots_own() -> &'static [(PathBuf, bool)] {
    static FOUND: OnceLock<Vec<(PathBuf, bool)>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut found = Vec::new();
        let mut left = MOST_ENTRIES;
        look_into(Path::new("/proc"), MOST_DEPTH, &mut left, &mut found);
        found.sort();
        found
    })
}

fn look_into(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<(PathBuf, bool)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *left = left.saturating_sub(1);
        if *left == 0 || depth == 0 {
            return;
        }
        let path = entry.path();
        if is_the_runs_own(&path) {
            continue;
        }
        // Not followed: a link has no mode.
        let Ok(metadata) = entry.metadata() else { continue };
        let kind = metadata.file_type();
        let is_private = metadata.permissions().mode() & FOR_OTHERS == 0;
        if kind.is_dir() && !is_private {
            look_into(&path, depth - 1, left, found);
        } else if is_private && (kind.is_dir() || kind.is_file() || kind.is_char_device()) {
            found.push((path, kind.is_dir()));
        }
    }
}

/// Processes are those of the run's own namespace inside, and so is the network.
fn is_the_runs_own(path: &Path) -> bool {
    let is_process = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    path == Path::new("/proc/sys/net")
        || (path.parent() == Some(Path::new("/proc")) && path.file_name().is_some_and(is_process))
}
