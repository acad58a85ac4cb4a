//! What a place holds that no learnt grant may reach.

use std::sync::OnceLock;

use super::path::{PathPatterns, plain};
use super::sensitive_paths;
use crate::format::trace::AttackClass;

/// What a path is known for, if no program should be handed it for the asking: credentials, what is executed later by somebody else, the
/// accounts of the system, ways out of a sandbox.
///
/// Stricter than a [`Classifier`](crate::Classifier), which lets the owners of a place have it: nobody owns anything here.
///
/// ```
/// use skillsandbox_tracer::sensitive_place;
///
/// assert_eq!(sensitive_place("/home/ada/.ssh/id_ed25519"), Some("keys of SSH"));
/// assert_eq!(sensitive_place("/home/ada/data/in.csv"), None);
/// ```
#[must_use]
pub fn sensitive_place(path: &str) -> Option<&'static str> {
    static PATTERNS: OnceLock<PathPatterns> = OnceLock::new();
    let patterns = PATTERNS.get_or_init(|| {
        let mut patterns = PathPatterns::default();
        for (number, place) in sensitive_paths::all().enumerate().filter(|(_, place)| holds_back(place.class))
        {
            for path in place.paths {
                patterns.add(number, path);
            }
        }
        patterns
    });
    let number = *patterns.rules(&plain(path), None).first()?;
    sensitive_paths::at(number).map(|place| place.says)
}

/// Whether places of a class are never granted. To look around is not harm.
fn holds_back(class: AttackClass) -> bool {
    !matches!(class, AttackClass::Discovery)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_and_exceptions_do_not_count() {
        for path in [
            "/root/.ssh/known_hosts",
            "/home/a/.aws",
            "/home/a/x/../.aws/credentials",
            "/home/a/.bashrc",
            "/etc/shadow",
            "/proc/1/environ",
            "/home/a/project/.env",
            "/run/docker.sock",
        ] {
            assert!(sensitive_place(path).is_some(), "{path}");
        }
        for path in ["/home/a", "/home/a/data", "/etc/os-release", "/srv/www/index.html"] {
            assert_eq!(sensitive_place(path), None, "{path}");
        }
    }
}
