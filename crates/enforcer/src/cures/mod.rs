//! What to do about a layer that is not available here: one table, for runs that fail and for looking at a host.

mod table;

use std::path::Path;

use serde::Serialize;

use crate::child::step::SetupStep;
use crate::support::HostProfile;

/// What to do: a sentence or two, and what to type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cure {
    /// What is in the way and what would change that.
    pub what: String,
    /// Commands or lines of a configuration, to be read before they are typed: some of them weaken other things.
    pub lines: Vec<String>,
}

impl std::fmt::Display for Cure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        self.lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

/// The cure for a step that failed, where one is known.
pub(crate) fn cure_text(step: SetupStep, errno: i32) -> Option<String> {
    find(step, errno, &HostProfile::look()).map(|cure| cure.to_string())
}

/// A cure from the text of an error, which has room for a text only.
pub(crate) fn parse_cure(text: &str) -> Cure {
    let mut lines = text.lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned());
    let what = lines.next().unwrap_or_default();
    Cure { what, lines: lines.collect() }
}

/// The cure for a step that failed on this host: the first entry of the table that fits.
pub(crate) fn find(step: SetupStep, errno: i32, host: &HostProfile) -> Option<Cure> {
    find_entry(step, errno, host).map(|entry| fill_in(entry, host))
}

fn find_entry(step: SetupStep, errno: i32, host: &HostProfile) -> Option<&'static table::CureEntry> {
    table::ENTRIES.iter().find(|entry| {
        entry.steps.is_none_or(|steps| steps.contains(&step))
            && (entry.errnos.is_empty() || entry.errnos.contains(&errno))
            && (entry.on)(host)
    })
}

/// What to do so that the kernel holds the limits of runs.
pub(crate) fn delegation_cure(host: &HostProfile) -> Cure {
    fill_in(&table::DELEGATION, host)
}

fn fill_in(entry: &table::CureEntry, host: &HostProfile) -> Cure {
    let program = plain_path(&host.program).unwrap_or("/usr/local/bin/skillsandbox");
    let fill = |text: &&str| text.replace("{program}", program).replace("{kernel}", &host.kernel);
    Cure { what: fill(&entry.what), lines: entry.lines.iter().map(fill).collect() }
}

/// A path that means itself to a shell and to `AppArmor`. Any other is not put into a command that somebody may paste.
fn plain_path(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let harmless = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    (text.starts_with('/') && text.chars().all(harmless)).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;
    use crate::layers::Layer;
    use crate::support::{Container, KernelKind};

    /// Steps whose failure the host cannot cure: what they were asked to do was wrong, or nothing else can be done.
    const WITHOUT: &[(SetupStep, &str)] = &[
        (SetupStep::Workdir, "the folder cannot be entered: the error names it"),
        (SetupStep::Exec, "the program cannot be executed: the error names it"),
    ];

    fn hosts() -> Vec<(&'static str, HostProfile)> {
        let bare = HostProfile {
            kernel: "6.1.0".into(),
            program: "/usr/bin/skillsandbox".into(),
            ..HostProfile::default()
        };
        vec![
            ("filtered", HostProfile { filters: 1, ..bare.clone() }),
            ("docker", HostProfile { container: Some(Container::Docker), ..bare.clone() }),
            ("podman", HostProfile { container: Some(Container::Podman), ..bare.clone() }),
            ("kubernetes", HostProfile { container: Some(Container::Kubernetes), ..bare.clone() }),
            ("other container", HostProfile { container: Some(Container::Other), ..bare.clone() }),
            ("gvisor", HostProfile { kind: KernelKind::Gvisor, ..bare.clone() }),
            ("wsl1", HostProfile { kind: KernelKind::Wsl1, ..bare.clone() }),
            ("ubuntu", HostProfile { apparmor_restricts: true, ..bare.clone() }),
            ("sandbox", HostProfile { is_own_sandbox: true, ..bare.clone() }),
            ("bare", bare),
        ]
    }

    #[test]
    fn every_step_that_can_be_refused_has_a_cure_or_is_listed_as_without() {
        for &step in SetupStep::ALL {
            let without = WITHOUT.iter().any(|(listed, _)| *listed == step);
            for errno in [libc::EPERM, libc::ENOSYS] {
                for (name, host) in hosts() {
                    // On a host where nothing stands in between, the kernel refuses some things to nobody.
                    let is_open = ["bare", "ubuntu"].contains(&name);
                    let cannot_happen = is_open && table::REFUSED_ONLY_BY_FILTERS.contains(&step);
                    let cure = find(step, errno, &host);
                    assert_eq!(cure.is_none(), without || cannot_happen, "{step:?} {errno} {name}: {cure:?}");
                }
            }
        }
    }

    #[test]
    fn every_entry_of_the_table_is_a_sentence_and_is_reachable() {
        let kinds = [KernelKind::Linux, KernelKind::Gvisor, KernelKind::Wsl1];
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let errnos: BTreeSet<i32> = table::ENTRIES.iter().flat_map(|entry| entry.errnos).copied().collect();
        let containers = [
            None,
            Some(Container::Docker),
            Some(Container::Podman),
            Some(Container::Kubernetes),
            Some(Container::Other),
        ];
        for kind in kinds {
            for container in containers {
                for set in 0..8 {
                    let bit = |n: u32| n == set;
                    let host = HostProfile {
                        kind,
                        container,
                        kernel: if bit(0) { "4.18.0".into() } else { "6.8.0".into() },
                        is_own_sandbox: bit(1),
                        filters: u32::from(bit(2)),
                        is_chroot: bit(3),
                        apparmor_restricts: bit(4),
                        userns_clone_off: bit(5),
                        no_user_namespaces: bit(6),
                        ..HostProfile::default()
                    };
                    for &step in SetupStep::ALL {
                        reached.extend(
                            errnos
                                .iter()
                                .filter_map(|errno| find_entry(step, *errno, &host))
                                .map(|entry| entry.name),
                        );
                    }
                }
            }
        }
        for entry in table::ENTRIES {
            assert!(reached.contains(entry.name), "{} never applies", entry.name);
            assert!(entry.what.ends_with('.'), "{}", entry.what);
        }
    }

    #[test]
    fn what_stands_in_the_way_decides_which_cure_it_is() {
        let host = |change: fn(&mut HostProfile)| {
            let mut host = HostProfile {
                kernel: "6.8.0-45-generic".into(),
                program: "/opt/x/skillsandbox".into(),
                ..HostProfile::default()
            };
            change(&mut host);
            host
        };
        let table: &[(SetupStep, i32, HostProfile, &str)] = &[
            (SetupStep::Clone, libc::EPERM, host(|host| host.is_own_sandbox = true), "already in a sandbox"),
            (
                SetupStep::Clone,
                libc::EPERM,
                host(|host| host.userns_clone_off = true),
                "kernel.unprivileged_userns_clone=1",
            ),
            (
                SetupStep::Clone,
                libc::ENOSPC,
                host(|host| host.no_user_namespaces = true),
                "user.max_user_namespaces=",
            ),
            (
                SetupStep::Clone,
                libc::ENOSYS,
                host(|host| host.container = Some(Container::Docker)),
                "seccomp=unconfined",
            ),
            (SetupStep::Clone, libc::EPERM, host(|host| host.is_chroot = true), "chroot"),
            (SetupStep::Clone, libc::ENOSYS, host(|host| host.kernel = "4.18.0".into()), "Linux 5.13"),
            (
                SetupStep::ProcFs,
                libc::EPERM,
                host(|host| host.container = Some(Container::Docker)),
                "systempaths=unconfined",
            ),
            (
                SetupStep::ProcFs,
                libc::EPERM,
                host(|host| host.container = Some(Container::Podman)),
                "unmask=ALL",
            ),
            (
                SetupStep::ProcFs,
                libc::EPERM,
                host(|host| host.container = Some(Container::Kubernetes)),
                "procMount: Unmasked",
            ),
            (
                SetupStep::Maps,
                libc::EACCES,
                host(|host| host.apparmor_restricts = true),
                "profile skillsandbox /opt/x/skillsandbox flags=(unconfined)",
            ),
            (
                SetupStep::RootFs,
                libc::EPERM,
                host(|host| host.apparmor_restricts = true),
                "apparmor_parser -r",
            ),
            (SetupStep::Clone, libc::ENOSYS, host(|host| host.kind = KernelKind::Wsl1), "wsl --set-version"),
            (SetupStep::Landlock, libc::ENOSYS, host(|host| host.kind = KernelKind::Gvisor), "gVisor"),
            (SetupStep::Landlock, libc::ENOSYS, host(|_| {}), "CONFIG_SECURITY_LANDLOCK"),
            (
                SetupStep::Landlock,
                libc::EOPNOTSUPP,
                host(|host| host.container = Some(Container::Docker)),
                "lsm=",
            ),
            (SetupStep::JoinCgroup, libc::EACCES, host(|_| {}), "Delegate=yes"),
            (SetupStep::Seccomp, libc::EINVAL, host(|_| {}), "CONFIG_SECCOMP_FILTER"),
            (SetupStep::CloseOthers, libc::ENOSYS, host(|host| host.filters = 2), "filter"),
        ];
        for (step, errno, host, expected) in table {
            let cure = find(*step, *errno, host).map(|cure| cure.to_string()).unwrap_or_default();
            assert!(cure.contains(expected), "{step:?} {errno}: {cure}");
        }
    }

    #[test]
    fn a_cure_survives_the_text_of_an_error() {
        for entry in table::ENTRIES {
            let cure = fill_in(entry, &HostProfile::default());
            assert_eq!(parse_cure(&cure.to_string()), cure);
        }
    }

    #[test]
    fn privileged_users_are_not_told_about_limits_on_others() {
        let root = HostProfile {
            apparmor_restricts: true,
            userns_clone_off: true,
            is_privileged: true,
            kernel: "6.8.0".into(),
            ..HostProfile::default()
        };
        for step in [SetupStep::Clone, SetupStep::Maps] {
            let cure = find(step, libc::EPERM, &root).map(|cure| cure.to_string()).unwrap_or_default();
            assert!(!cure.contains("apparmor_parser") && !cure.contains("userns_clone=1"), "{cure}");
        }
    }

    #[test]
    fn a_hostile_path_never_gets_into_a_command() {
        for path in [
            "/tmp/a b",
            "/tmp/$(id)",
            "/tmp/a\nEOF\nid",
            "/tmp/{a,b}",
            "/x (deleted)",
            "relative",
            "/tmp/*",
            "/a\"b",
        ] {
            let host = HostProfile {
                apparmor_restricts: true,
                program: PathBuf::from(path),
                ..HostProfile::default()
            };
            let cure = find(SetupStep::Maps, libc::EACCES, &host).expect("a cure").to_string();
            assert!(!cure.contains(path), "{cure}");
            assert!(cure.contains("profile skillsandbox /usr/local/bin/skillsandbox "), "{cure}");
        }
    }

    #[test]
    fn limits_without_a_group_are_said_to_be_weaker() {
        let cure = delegation_cure(&HostProfile::default());
        assert!(cure.what.contains("weaker"), "{}", cure.what);
        assert!(cure.lines.iter().any(|line| line.contains("systemd-run --user --scope -p Delegate=yes")));
        assert_eq!(SetupStep::JoinCgroup.layer(), Layer::Cgroup);
    }
}
