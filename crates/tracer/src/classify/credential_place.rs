//! Whether a path is one where credentials lie, for those who have to know before anything is tried.

use std::sync::LazyLock;

use super::path::{PathPatterns, plain};
use super::sensitive_paths::{self, CredentialWeight};
use crate::format::trace::AttackClass;

/// A place where credentials lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CredentialPlace {
    /// What lies there: "keys of SSH".
    pub says: &'static str,
    /// Whether programs of many kinds look there as a matter of course (`.npmrc`, `.env`).
    pub is_shared: bool,
}

static PLACES: LazyLock<PathPatterns> = LazyLock::new(|| patterns(|place| place.paths));
static EXCEPTIONS: LazyLock<PathPatterns> = LazyLock::new(|| patterns(|place| place.except));

fn patterns(list: fn(&sensitive_paths::SensitivePath) -> &'static [&'static str]) -> PathPatterns {
    let mut patterns = PathPatterns::default();
    for (rule, place) in sensitive_paths::all().enumerate() {
        if place.class == AttackClass::CredentialHarvesting {
            for text in list(place) {
                patterns.add(rule, text);
            }
        }
    }
    patterns
}

/// What credentials lie at a path, by the table that traces are classified by. Only names count: nothing is looked up on the disk. A path that
/// is not absolute is looked at, too; `~/.aws/config` and `.aws/config` are such a place. The gravest of several is told.
///
/// ```
/// use skillsandbox_tracer::credential_place;
///
/// assert_eq!(credential_place("/home/ada/.ssh/id_ed25519").map(|place| place.says), Some("keys of SSH"));
/// assert!(credential_place("~/x/../.aws").is_some_and(|place| !place.is_shared));
/// assert!(credential_place("src/.env").is_some_and(|place| place.is_shared));
/// assert_eq!(credential_place("/home/ada/.ssh/id_ed25519.pub"), None);
/// ```
#[must_use]
pub fn credential_place(path: &str) -> Option<CredentialPlace> {
    let path = plain(path);
    let excepted = EXCEPTIONS.rules(&path, None);
    let rules = PLACES.rules(&path, None).into_iter().filter(|rule| !excepted.contains(rule));
    let places = rules.filter_map(sensitive_paths::at).map(|place| CredentialPlace {
        says: place.says,
        is_shared: place.weight == CredentialWeight::Shared,
    });
    places.min_by_key(|place| place.is_shared)
}
