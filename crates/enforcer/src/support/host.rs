//! What kind of host this is, read from what it shows. It decides nothing about what works: that is tried. It only says which
//! cure fits.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use caps::{CapSet, Capability};
use serde::Serialize;

use crate::layers::mounts::HOME;

/// More than any of these files has to say.
const MOST: u64 = 256 << 10;

/// What runs this program apart from other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Container {
    /// Docker, or a runtime that leaves the same marks.
    Docker,
    /// Podman.
    Podman,
    /// A pod of Kubernetes.
    Kubernetes,
    /// Some other one.
    Other,
}

/// Whose kernel this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelKind {
    /// Linux.
    #[default]
    Linux,
    /// Linux, in the virtual machine of the second Windows Subsystem for Linux.
    Wsl2,
    /// Windows, which answers Linux calls itself.
    Wsl1,
    /// gVisor, which answers Linux calls itself.
    Gvisor,
}

/// What cures are chosen by.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with a cure of its own")]
pub(crate) struct HostProfile {
    pub(crate) kernel: String,
    pub(crate) kind: KernelKind,
    pub(crate) architecture: &'static str,
    /// The program that asks: an `AppArmor` profile is for one.
    pub(crate) program: PathBuf,
    pub(crate) is_root: bool,
    /// Has `CAP_SYS_ADMIN`: what is forbidden to unprivileged users is not forbidden to it.
    pub(crate) is_privileged: bool,
    pub(crate) container: Option<Container>,
    /// Inside a sandbox of this project.
    pub(crate) is_own_sandbox: bool,
    /// Filters of system calls that this thread is under already, and its children will be; where the kernel does not count them, 1 for some.
    pub(crate) filters: u32,
    /// In a chroot, where the kernel refuses new user namespaces.
    pub(crate) is_chroot: bool,
    /// `kernel.apparmor_restrict_unprivileged_userns` of Ubuntu is on.
    pub(crate) apparmor_restricts: bool,
    /// `kernel.unprivileged_userns_clone` of Debian is off.
    pub(crate) userns_clone_off: bool,
    /// `user.max_user_namespaces` is 0.
    pub(crate) no_user_namespaces: bool,
}

impl HostProfile {
    pub(crate) fn look() -> Self {
        let program = std::env::current_exe().unwrap_or_default();
        let is_privileged =
            caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_ADMIN).unwrap_or(false);
        let in_pod = std::env::var_os("KUBERNETES_SERVICE_HOST").is_some();
        let release = rustix::system::uname();
        Self {
            program,
            is_privileged,
            is_root: rustix::process::geteuid().is_root(),
            is_own_sandbox: release.nodename() == c"skillsandbox" && Path::new(HOME).is_dir(),
            kernel: release.release().to_string_lossy().into_owned(),
            architecture: std::env::consts::ARCH,
            ..Self::read(&read, in_pod)
        }
    }

    /// What files say. `file` gives the text of one that is there.
    fn read(file: &dyn Fn(&str) -> Option<String>, in_pod: bool) -> Self {
        let number = |path: &str| file(path).and_then(|text| text.trim().parse::<u64>().ok());
        let version = file("/proc/version").unwrap_or_default();
        Self {
            kind: kind(&version),
            container: container(file, in_pod),
            filters: filters(&file("/proc/thread-self/status").unwrap_or_default()),
            is_chroot: file("/proc/self/mountinfo").is_some_and(|text| !has_root(&text)),
            apparmor_restricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
                .is_some_and(|value| value > 0),
            userns_clone_off: number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0),
            no_user_namespaces: number("/proc/sys/user/max_user_namespaces") == Some(0),
            ..Self::default()
        }
    }

    /// Whether the kernel says it is older than this. Distributions take newer things into older kernels, so this counts only
    /// once something has turned out to be missing.
    pub(crate) fn is_older_than(&self, major: u32, minor: u32) -> bool {
        let mut numbers = self.kernel.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(a)), Some(Ok(b))) => (a, b) < (major, minor),
            _ => false,
        }
    }
}

fn read(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn kind(version: &str) -> KernelKind {
    // gVisor names itself since 2026; the day of its "build" has stood there since it began.
    if version.contains("gvisor") || version.contains("Sun Jan 10 15:06:54 PST 2016") {
        KernelKind::Gvisor
    } else if version.contains("-Microsoft") {
        KernelKind::Wsl1
    } else if version.contains("microsoft-standard") {
        KernelKind::Wsl2
    } else {
        KernelKind::Linux
    }
}

fn container(file: &dyn Fn(&str) -> Option<String>, in_pod: bool) -> Option<Container> {
    let marked = file("/run/systemd/container").unwrap_or_default();
    let cgroup = file("/proc/self/cgroup").unwrap_or_default();
    if in_pod || cgroup.contains("/kubepods") {
        Some(Container::Kubernetes)
    } else if file("/run/.containerenv").is_some() || marked.trim() == "podman" {
        Some(Container::Podman)
    } else if file("/.dockerenv").is_some() || marked.trim() == "docker" || cgroup.contains("/docker/") {
        Some(Container::Docker)
    } else if !marked.is_empty() && marked.trim() != "wsl" {
        Some(Container::Other)
    } else {
        None
    }
}

fn filters(status: &str) -> u32 {
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.trim().parse::<u32>().ok())
    };
    value("Seccomp_filters:").unwrap_or_else(|| u32::from(value("Seccomp:") == Some(2)))
}

/// Whether something is mounted at the root that we see. In a chroot to a mere folder nothing is.
fn has_root(mountinfo: &str) -> bool {
    mountinfo.lines().any(|line| line.split(' ').nth(4) == Some("/"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn host(files: &[(&str, &str)]) -> HostProfile {
        let files: BTreeMap<&str, &str> = files.iter().copied().collect();
        HostProfile::read(&|path| files.get(path).map(|text| (*text).to_owned()), false)
    }

    #[test]
    fn kernels_that_only_look_like_linux_are_told_apart() {
        for (version, expected) in [
            ("Linux version 6.1.0-26-amd64 (debian-kernel@lists.debian.org)", KernelKind::Linux),
            ("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", KernelKind::Gvisor),
            ("Linux version 4.19.0-gvisor #1 SMP Sun Jan 10 15:06:54 PST 2016", KernelKind::Gvisor),
            ("Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)", KernelKind::Wsl1),
            ("Linux version 5.15.167.4-microsoft-standard-WSL2 (root@f9c826d3017f)", KernelKind::Wsl2),
        ] {
            assert_eq!(host(&[("/proc/version", version)]).kind, expected, "{version}");
        }
    }

    #[test]
    fn containers_are_known_by_their_marks() {
        for (files, expected) in [
            (&[("/.dockerenv", "")][..], Some(Container::Docker)),
            (&[("/run/.containerenv", "engine=\"podman-4.9.3\"")], Some(Container::Podman)),
            (
                &[("/proc/self/cgroup", "0::/kubepods.slice/kubepods-burstable.slice/x")],
                Some(Container::Kubernetes),
            ),
            (&[("/proc/self/cgroup", "4:memory:/docker/0123")], Some(Container::Docker)),
            (&[("/run/systemd/container", "systemd-nspawn\n")], Some(Container::Other)),
            (&[("/run/systemd/container", "wsl\n")], None),
            (&[("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope")], None),
        ] {
            assert_eq!(host(files).container, expected, "{files:?}");
        }
    }

    #[test]
    fn settings_are_read_as_they_are() {
        let bare = host(&[]);
        assert!(
            !bare.apparmor_restricts && !bare.userns_clone_off && !bare.no_user_namespaces && !bare.is_chroot
        );
        let strict = host(&[
            ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"),
            ("/proc/sys/kernel/unprivileged_userns_clone", "0\n"),
            ("/proc/sys/user/max_user_namespaces", "0\n"),
            ("/proc/thread-self/status", "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\n"),
            ("/proc/self/mountinfo", "36 35 98:0 /a /proc rw - proc proc rw\n"),
        ]);
        assert!(strict.apparmor_restricts && strict.userns_clone_off && strict.no_user_namespaces);
        assert!(strict.is_chroot);
        assert_eq!(strict.filters, 3);
        let old = host(&[
            ("/proc/thread-self/status", "Seccomp:\t2\n"),
            ("/proc/self/mountinfo", "1 0 8:1 / / rw - ext4 x rw\n"),
        ]);
        assert_eq!(old.filters, 1);
        assert!(!old.is_chroot);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for (kernel, older) in [
            ("5.4.0-150-generic", true),
            ("5.12.0", false),
            ("5.11.22", true),
            ("6.1.0-26", false),
            ("?", false),
        ] {
            let host = HostProfile { kernel: kernel.into(), ..HostProfile::default() };
            assert_eq!(host.is_older_than(5, 12), older, "{kernel}");
        }
    }
}
