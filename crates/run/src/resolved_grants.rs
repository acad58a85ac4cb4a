//! Where the grants of a skill lead on this machine, for showing.

use std::path::{Path, PathBuf};

use serde::Serialize;
use skillsandbox_manifest::{GrantBases, GrantPath, PermissionSet, user_folders};

use crate::job::{Job, PlaceAuthor, UntrustedPlace};
use crate::reach::real_path;
use crate::{state, written_places};

/// A grant that leads elsewhere than it is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ResolvedGrant {
    /// The list it stands in: `read`, `write` or `forbidden`.
    pub list: &'static str,
    /// As it is declared.
    pub declared: String,
    /// Where it leads, without links; `None` where that cannot be found out.
    pub resolved: Option<PathBuf>,
    /// Why a run would be refused because of it.
    pub refused: Option<String>,
}

impl std::fmt::Display for ResolvedGrant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} -> ", self.list, self.declared)?;
        match &self.resolved {
            Some(resolved) => write!(f, "{}", resolved.display())?,
            None => write!(f, "unknown")?,
        }
        match &self.refused {
            Some(why) => write!(f, " (a run is refused: {why})"),
            None => Ok(()),
        }
    }
}

/// The grants of a skill in this folder that lead elsewhere than they are named, or would be refused for the links on their way.
#[must_use]
pub fn resolve_grants(permissions: &PermissionSet, folder: &Path) -> Vec<ResolvedGrant> {
    let Some(home) = user_folders::home() else { return Vec::new() };
    let places = GrantBases::new(folder, home);
    let mut untrusted = written_places::all().unwrap_or_default();
    untrusted.push(written_places::place_of(folder, PlaceAuthor::Skill));
    let PermissionSet { read, write, forbidden, .. } = permissions;
    let mut found = Vec::new();
    for (list, paths) in [("read", read), ("write", write), ("forbidden", forbidden)] {
        for declared in paths {
            let Ok(path) = declared.parse::<GrantPath>() else { continue };
            let path = path.resolve(&places);
            let (refused, resolved) = follow(&path, &untrusted);
            if refused.is_some() || resolved.as_ref() != Some(&path) {
                found.push(ResolvedGrant { list, declared: declared.clone(), resolved, refused });
            }
        }
    }
    found
}

/// The files that a run could touch, without links in their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReach {
    /// May be read.
    pub read: Vec<PathBuf>,
    /// May be written.
    pub write: Vec<PathBuf>,
    /// May only be read, though something above them may be written.
    pub read_only: Vec<PathBuf>,
    /// May not be touched.
    pub forbidden: Vec<PathBuf>,
}

impl FileReach {
    pub(crate) fn of(job: &Job) -> Self {
        let within = |ceiling: Option<&Vec<PathBuf>>, real: &Path| {
            ceiling.is_none_or(|paths| paths.iter().any(|path| real.starts_with(real_path(path))))
        };
        let is_own = |path: &PathBuf| job.as_named.contains(path);
        let installed = state::installed();
        let others = |real: &Path| {
            let own = job.as_named.iter().any(|folder| real.starts_with(folder));
            !own && installed.iter().any(|place| real.starts_with(place))
        };
        let led = |path: &PathBuf| {
            let (refused, resolved) = follow(path, &job.untrusted);
            resolved.filter(|_| refused.is_none() || is_own(path))
        };
        let mut reach = Self::default();
        for path in &job.write {
            let Some(real) = led(path) else { continue };
            if within(job.read_within.as_ref(), &real)
                && within(job.write_within.as_ref(), &real)
                && !others(&real)
            {
                reach.write.push(real);
            }
        }
        for path in &job.read {
            let Some(real) = led(path) else { continue };
            if is_own(path) || within(job.read_within.as_ref(), &real) {
                if reach.write.iter().any(|grant| *grant != real && real.starts_with(grant)) {
                    reach.read_only.push(real.clone());
                }
                reach.read.push(real);
            }
        }
        reach.forbidden = job.forbidden.iter().map(|path| real_path(path)).collect();
        reach
    }
}

/// Why the links on the way to a path are not followed, and where it leads.
#[cfg(target_os = "linux")]
pub(crate) fn follow(path: &Path, untrusted: &[UntrustedPlace]) -> (Option<String>, Option<PathBuf>) {
    let untrusted: Vec<_> = untrusted.iter().map(crate::native::untrusted_folder).collect();
    let (allowed, resolved) = skillsandbox_enforcer::follow_links(path, &untrusted);
    (allowed.err().map(|error| error.to_string()), resolved)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn follow(path: &Path, _: &[UntrustedPlace]) -> (Option<String>, Option<PathBuf>) {
    (None, Some(real_path(path)))
}
