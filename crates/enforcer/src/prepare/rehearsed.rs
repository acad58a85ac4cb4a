//! What a rehearsal puts in the place of what may be written, so that nothing of the host changes.

use std::path::{Path, PathBuf};

use super::grants::{Grant, GrantSource, Grants, is_within};
use crate::plan::PathAccess;

/// How a grant is there in a rehearsal, where that is not as in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RehearsedAs {
    /// A folder of the host, seen through an overlay that takes what is written.
    Overlay,
    /// A file of the host, as a copy.
    Copy,
    /// A folder that a run would make on the host: an empty one of the run's own.
    Fresh,
    /// The same below a grant, whose overlay takes it.
    FreshBelow,
}

impl Grants {
    /// How a grant is there in a rehearsal; `None` for what is only read, which is there as it is.
    pub(crate) fn rehearsed_as(&self, grant: &Grant) -> Option<RehearsedAs> {
        if grant.source != GrantSource::Plan {
            return None;
        }
        if self.created.contains(&grant.path) {
            let below = self.holder_of(&grant.path).is_some();
            return Some(if below { RehearsedAs::FreshBelow } else { RehearsedAs::Fresh });
        }
        match grant.access {
            PathAccess::Write if grant.is_dir => Some(RehearsedAs::Overlay),
            PathAccess::Write => Some(RehearsedAs::Copy),
            // What would be made below it has to be made somewhere.
            PathAccess::Read => {
                self.created.iter().any(|made| is_within(made, &grant.path)).then_some(RehearsedAs::Overlay)
            }
        }
    }

    /// The folders that have to be made for a grant, parents first, down to itself.
    pub(crate) fn missing_folders(&self, path: &Path) -> Vec<PathBuf> {
        let Some(holder) = self.holder_of(path) else { return Vec::new() };
        let mut missing: Vec<PathBuf> = path
            .ancestors()
            .take_while(|above| *above != holder.path && std::fs::symlink_metadata(above).is_err())
            .map(Path::to_owned)
            .collect();
        missing.reverse();
        missing
    }

    /// The nearest grant above a path, other than the one of that path.
    fn holder_of(&self, path: &Path) -> Option<&Grant> {
        self.all.iter().rev().find(|other| other.path != path && is_within(path, &other.path))
    }
}
