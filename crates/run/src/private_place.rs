//! Places of a person that no skill gets in one run, though the person may name them by mistake.

use std::path::{Path, PathBuf};

use skillsandbox_manifest::user_folders;
use skillsandbox_tracer::credential_place;

use crate::reach::real_path;

/// Where the kernel and the system keep what is not files to work on.
const SYSTEM: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Why a file or folder is none to grant: by its name, and by where that leads.
#[must_use]
pub fn private_place(path: &Path) -> Option<String> {
    let real = real_path(path);
    for path in [path, &real] {
        if path == Path::new("/") {
            return Some("it is the whole file system".to_owned());
        }
        if let Some(system) = SYSTEM.iter().find(|system| path.starts_with(system)) {
            return Some(format!("{system} holds no files to work on; the sandbox has its own"));
        }
        if homes().iter().any(|home| home.starts_with(path)) {
            return Some(
                "it is the home folder, or holds it; name the folder in it that is needed".to_owned(),
            );
        }
        let found = credential_place(&path.to_string_lossy()).filter(|place| !place.is_shared);
        if let Some(place) = found {
            return Some(format!("there are {}", place.says));
        }
    }
    None
}

/// The home, under its name and where that leads.
fn homes() -> Vec<PathBuf> {
    let home = user_folders::home();
    home.iter().map(|home| real_path(home)).chain(home.clone()).collect()
}
