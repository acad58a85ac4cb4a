//! How an attempt is told to a person: first, among the others, or as a number.

use std::sync::LazyLock;

use crate::format::event::{Event, EventKind};
use crate::format::trace::AttackClass;
use skillsandbox_terms::FileOperation;

use super::acts;
use super::expected_refusals::{CALLS, FILES};
use super::files::accesses;
use super::network::is_hostile;
use super::path::{PathPatterns, plain};
use super::sensitive_paths::{self, PLACE_PATHS};

/// How much an attempt that was refused says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AttemptWeight {
    /// Something that an attack wants: it comes first, and nobody is told how to grant it.
    Sensitive,
    /// Something that was not granted.
    Plain,
    /// Something that programs look for and do without, and who does so: it is counted, and not listed.
    Expected(&'static str),
}

/// Weighs attempts one by one, by what is tried alone. What several attempts amount to says [`Classifier`](super::Classifier).
///
/// ```
/// use skillsandbox_tracer::{AttemptWeigher, AttemptWeight, Event, EventKind, FileOperation};
///
/// let weigher = AttemptWeigher::new();
/// let read = |path: &str| Event::new(EventKind::File { operation: FileOperation::Read, path: path.into(), to: None });
/// assert_eq!(weigher.weigh(&read("/home/a/.ssh/id_ed25519")), AttemptWeight::Sensitive);
/// assert_eq!(weigher.weigh(&read("/srv/data/table.csv")), AttemptWeight::Plain);
/// assert!(matches!(weigher.weigh(&read("/etc/os-release")), AttemptWeight::Expected(_)));
/// ```
#[derive(Debug, Default)]
pub struct AttemptWeigher {
    _tables_are_static: (),
}

/// The paths of files that programs look for and do without, by their number. Made when the first attempt is weighed.
static EXPECTED_PATHS: LazyLock<PathPatterns> =
    LazyLock::new(|| sensitive_paths::numbered(FILES.iter().map(|files| files.paths)));

impl AttemptWeigher {
    /// With the tables of this crate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How much an attempt says. A path counts by its name and by where it leads: it is expected only where both are, and sensitive where one is.
    #[must_use]
    pub fn weigh(&self, event: &Event) -> AttemptWeight {
        match &event.kind {
            EventKind::File { operation, path, to } => {
                let paths = || [Some(path), event.resolved_path.as_ref(), to.as_ref()].into_iter().flatten();
                if paths().any(|path| Self::is_wanted(event, *operation, path)) {
                    return AttemptWeight::Sensitive;
                }
                let reasons = paths().map(|path| Self::expected_reason(*operation, path));
                // One that is not expected makes all of it plain.
                let reason = reasons.reduce(Option::and).flatten();
                reason.map_or(AttemptWeight::Plain, AttemptWeight::Expected)
            }
            EventKind::NetConnect(to) => {
                let targets = [to.name.as_deref(), to.address.as_deref(), to.server_name.as_deref()];
                let is_hostile =
                    targets.into_iter().flatten().any(|target| is_hostile(target, Some(to.port)));
                if is_hostile { AttemptWeight::Sensitive } else { AttemptWeight::Plain }
            }
            EventKind::DnsQuery { name, .. } => match name {
                Some(name) if is_hostile(name, None) => AttemptWeight::Sensitive,
                Some(_) | None => AttemptWeight::Plain,
            },
            EventKind::SyscallRefused { name, reason, .. } => weigh_call(name, reason),
            EventKind::Exec { .. }
            | EventKind::ResourceLimitHit { .. }
            | EventKind::RunStarted { .. }
            | EventKind::Policy { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. } => AttemptWeight::Plain,
        }
    }

    /// Whether a path is, or lies in, a place that an attack wants, to read or to change: nobody should be told how to grant it.
    #[must_use]
    pub fn is_sensitive_path(&self, path: &str) -> bool {
        let rules = PLACE_PATHS.rules(&plain(path), None);
        rules.into_iter().filter_map(sensitive_paths::at).any(|place| place.class != AttackClass::Discovery)
    }

    /// Whether a host is one that attacks use: the address of a cloud's credentials, a pool of miners, a service that takes anything.
    #[must_use]
    pub fn is_sensitive_host(&self, host: &str, port: Option<u16>) -> bool {
        is_hostile(host, port)
    }

    fn is_wanted(event: &Event, operation: FileOperation, path: &str) -> bool {
        let rules = PLACE_PATHS.rules(&plain(path), event.process.as_ref());
        rules
            .into_iter()
            .filter_map(sensitive_paths::at)
            .any(|place| place.class != AttackClass::Discovery && accesses(place.access, operation, event))
    }

    fn expected_reason(operation: FileOperation, path: &str) -> Option<&'static str> {
        let path = plain(path);
        let mut rules = EXPECTED_PATHS.rules(&path, None).into_iter().filter_map(|rule| FILES.get(rule));
        rules.find(|files| files.holds(operation, &path)).map(|files| files.reason)
    }
}

fn weigh_call(name: &str, reason: &str) -> AttemptWeight {
    if acts::CALLS.iter().any(|call| call.names.contains(&name) && reason.contains(call.because)) {
        AttemptWeight::Sensitive
    } else {
        let expected = CALLS.iter().find(|call| call.names.contains(&name) && reason.contains(call.because));
        expected.map_or(AttemptWeight::Plain, |call| AttemptWeight::Expected(call.reason))
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::FileAttempts;
    use super::super::{ClassFindings, Classifier};
    use super::*;
    use crate::format::event::EventVerdict;

    /// A path that a pattern matches.
    fn example(pattern: &str) -> String {
        let path = pattern.replace("/**", "/x").replace('#', "7").replace('*', "x");
        if path.starts_with('/') { path } else { format!("/home/somebody/{path}") }
    }

    fn refused(operation: FileOperation, path: &str) -> Event {
        let kind = EventKind::File { operation, path: path.to_owned(), to: None };
        Event::new(kind).with_verdict(EventVerdict::Denied, "not granted".to_owned())
    }

    #[test]
    fn what_is_expected_and_what_is_sensitive_have_nothing_in_common() {
        let weigher = AttemptWeigher::new();
        for files in FILES {
            let end = if files.before_number.is_empty() {
                String::new()
            } else {
                format!("{}7", files.before_number)
            };
            let example = |path: &str| example(path) + &end;
            for (path, operation) in files
                .paths
                .iter()
                .flat_map(|path| files.operations.iter().map(move |operation| (path, operation)))
            {
                let event = refused(*operation, &example(path));
                assert_eq!(
                    weigher.weigh(&event),
                    AttemptWeight::Expected(files.reason),
                    "{path} {operation:?}"
                );
                // Nor does the classifier make anything of it, whoever it was.
                let class = FileAttempts::default().observe(
                    &event,
                    *operation,
                    &example(path),
                    None,
                    &mut ClassFindings::default(),
                );
                assert_eq!(class, None, "{path} {operation:?}");
            }
        }
        for place in sensitive_paths::all().filter(|place| place.class != AttackClass::Discovery) {
            for path in place.paths {
                for operation in FileOperation::ALL.iter().copied() {
                    let event = refused(operation, &example(path));
                    if accesses(place.access, operation, &event) {
                        assert_eq!(weigher.weigh(&event), AttemptWeight::Sensitive, "{path} {operation:?}");
                    }
                }
                assert!(weigher.is_sensitive_path(&example(path)), "{path}");
            }
        }
    }

    #[test]
    fn system_calls_that_are_expected_are_no_sign_of_an_attack() {
        for call in CALLS {
            for name in call.names {
                assert!(matches!(weigh_call(name, call.because), AttemptWeight::Expected(_)), "{name}");
                let reason = call.because.to_owned();
                let event = Event::new(EventKind::SyscallRefused {
                    name: (*name).to_owned(),
                    reason,
                    errno: Some(1),
                });
                assert_eq!(Classifier::new().observe(&event), None, "{name}");
            }
        }
        for call in acts::CALLS {
            for name in call.names {
                assert_eq!(weigh_call(name, call.because), AttemptWeight::Sensitive, "{name}");
            }
        }
        // A file in memory where only named programs may be executed is no wish for large pages.
        assert_eq!(
            weigh_call("memfd_create", "where only named programs may be executed"),
            AttemptWeight::Plain
        );
        assert_eq!(weigh_call("keyctl", "key rings do not know namespaces"), AttemptWeight::Plain);
    }

    #[test]
    fn a_name_that_looks_expected_hides_nothing() {
        let weigher = AttemptWeigher::new();
        for (path, want) in [
            ("/sys/fs/cgroup/../../../home/a/.aws/credentials", AttemptWeight::Sensitive),
            ("/home/a/.aws/../.cache/fontconfig", AttemptWeight::Plain),
            ("/home/a/__pycache__/id_rsa", AttemptWeight::Plain),
            ("/home/a/.ssh/__pycache__/x.pyc.1", AttemptWeight::Sensitive),
            (
                "/proc/self/root/etc/os-release",
                AttemptWeight::Expected("programs ask which distribution this is, for a text"),
            ),
            ("/proc/self/root/etc/shadow", AttemptWeight::Sensitive),
            ("/srv/etc/os-release", AttemptWeight::Plain),
            ("/etc/os-release/x", AttemptWeight::Plain),
            ("/etc/ssl/private/key.pem", AttemptWeight::Sensitive),
            ("/etc/ssl/certs/../private/key.pem", AttemptWeight::Sensitive),
        ] {
            assert_eq!(weigher.weigh(&refused(FileOperation::Read, path)), want, "{path}");
        }
        // A link of an expected name counts for where it leads.
        let link =
            |to: &str| refused(FileOperation::Read, "/etc/os-release").with_resolved_path(to.to_owned());
        assert_eq!(weigher.weigh(&link("/home/a/.ssh/id_rsa")), AttemptWeight::Sensitive);
        assert_eq!(weigher.weigh(&link("/home/a/taxes.pdf")), AttemptWeight::Plain);
        // What Python compiled is expected only under the name that is not yet executed, and only to be written.
        let write = |path: &str| weigher.weigh(&refused(FileOperation::Write, path));
        assert!(matches!(write("/srv/p/__pycache__/m.cpython-311.pyc.140211"), AttemptWeight::Expected(_)));
        assert_eq!(write("/srv/p/__pycache__/m.cpython-311.pyc"), AttemptWeight::Plain);
        assert_eq!(write("/srv/p/__pycache__/key"), AttemptWeight::Plain);
        assert_eq!(write("/etc/os-release"), AttemptWeight::Plain);
    }

    #[test]
    fn hosts_that_attacks_use_are_sensitive_and_others_are_not() {
        let weigher = AttemptWeigher::new();
        for host in [
            "169.254.169.254",
            "metadata.google.internal",
            "METADATA.google.internal.",
            "a.ngrok.io",
            "x.oast.me",
        ] {
            assert!(weigher.is_sensitive_host(host, Some(80)), "{host}");
        }
        assert!(weigher.is_sensitive_host("pool.x.test", Some(3333)));
        for host in ["api.weather.test", "10.0.0.1", "registry.npmjs.org"] {
            assert!(!weigher.is_sensitive_host(host, Some(443)), "{host}");
        }
    }

    #[test]
    fn the_tables_have_reasons_and_no_pattern_twice() {
        let mut seen = std::collections::BTreeSet::new();
        for files in FILES {
            assert!(files.reason.contains(' ') && !files.paths.is_empty() && !files.operations.is_empty());
            for path in files.paths {
                assert!(seen.insert((path, files.operations.len())), "{path}");
                let literal = path.split('/').any(|part| !part.is_empty() && !part.contains('*'));
                assert!(literal && *path != "/etc/**", "{path} says too little");
            }
        }
        assert!(CALLS.iter().all(|call| call.reason.contains(' ') && !call.names.is_empty()));
    }
}
