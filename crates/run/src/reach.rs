//! Where a path leads, for judging what a run may reach.

use std::path::{Path, PathBuf};

/// The path without links, however much of it exists. One that cannot be resolved stays as it is written: the enforcer, which has to
/// resolve it too, refuses it.
#[must_use]
#[cfg(target_os = "linux")]
pub fn real_path(path: &Path) -> PathBuf {
    skillsandbox_path_policy::real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Nothing is run on other systems, so nothing is judged either.
#[must_use]
#[cfg(not(target_os = "linux"))]
pub fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
