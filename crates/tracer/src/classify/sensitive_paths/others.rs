//! Ways to become more, ways out, and places to look around.

use super::{AccessFilter, SensitivePath, VerdictFilter, place};
use crate::format::trace::AttackClass::{Discovery, PrivilegeEscalation, SandboxEscape};
use crate::format::trace::AttackSeverity::{High, Low};

/// A place that leads out.
const fn out(
    says: &'static str,
    access: AccessFilter,
    when: VerdictFilter,
    paths: &'static [&'static str],
) -> SensitivePath {
    SensitivePath { techniques: &["T1611"], access, when, ..place(SandboxEscape, High, says, paths) }
}

/// Programs that read what they are told to, and nothing else.
const READERS: &[&str] = &[
    "awk", "base64", "cat", "cp", "cut", "dd", "gawk", "grep", "head", "less", "mawk", "more", "od", "sed",
    "sort", "strings", "tac", "tail", "tee", "xxd",
];

pub(super) const PLACES: &[SensitivePath] = &[
    // Ways to become more.
    SensitivePath {
        techniques: &["T1548.003"],
        access: AccessFilter::Change,
        ..place(
            PrivilegeEscalation,
            High,
            "who may use sudo",
            &["/etc/sudoers", "/etc/sudoers.d/**", "/etc/polkit-1/**", "/etc/doas.conf", "/etc/pam.d/**"],
        )
    },
    SensitivePath {
        techniques: &["T1098", "T1136.001"],
        access: AccessFilter::Change,
        ..place(
            PrivilegeEscalation,
            High,
            "accounts of the system",
            &["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/subuid", "/etc/subgid"],
        )
    },
    // Ways out.
    out(
        "sockets of container engines",
        AccessFilter::Any,
        VerdictFilter::NotAllowed,
        &[
            "/run/docker.sock",
            "/var/run/docker.sock",
            "/run/containerd/**",
            "/var/run/containerd/**",
            "/run/crio/**",
            "/run/podman/**",
            "podman/podman.sock",
            "docker.sock",
            "/var/run/crio/**",
            "/run/lxd/**",
            "lxd/unix.socket",
        ],
    ),
    out(
        "the root of another process",
        AccessFilter::Any,
        VerdictFilter::Any,
        &["/proc/#/root/**", "/proc/#/cwd/**", "/proc/#/task/*/root/**"],
    ),
    out("namespaces of the first process", AccessFilter::Any, VerdictFilter::Any, &["/proc/1/ns/**"]),
    out(
        "switches of the kernel",
        AccessFilter::Change,
        VerdictFilter::Any,
        &["/proc/sys/**", "/proc/sysrq-trigger", "/sys/**", "/sys/fs/cgroup/**"],
    ),
    out(
        "what the kernel executes",
        AccessFilter::Change,
        VerdictFilter::Any,
        &[
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/hotplug",
            "release_agent",
            "/sys/kernel/uevent_helper",
            "/proc/sys/fs/binfmt_misc/**",
        ],
    ),
    out(
        "memory and disks of the machine",
        AccessFilter::Any,
        VerdictFilter::Any,
        &[
            "/dev/mem",
            "/dev/kmem",
            "/dev/port",
            "/proc/kcore",
            "/dev/sd*",
            "/dev/nvme*",
            "/dev/vd*",
            "/dev/xvd*",
            "/dev/dm-*",
            "/dev/mapper/*",
            "/dev/disk/**",
            "/dev/loop*",
        ],
    ),
    // Looking around.
    SensitivePath {
        techniques: &["T1083"],
        when: VerdictFilter::Denied,
        ..place(Discovery, Low, "home folders", &["/home", "/home/*", "/root", "/Users", "/Users/*"])
    },
    SensitivePath {
        techniques: &["T1083"],
        when: VerdictFilter::Denied,
        ..place(Discovery, Low, "other disks", &["/mnt", "/mnt/*", "/media", "/media/*", "/srv", "/boot"])
    },
    SensitivePath {
        techniques: &["T1087.001"],
        when: VerdictFilter::Denied,
        only_by: READERS,
        ..place(Discovery, Low, "accounts of the system", &["/etc/passwd", "/etc/group"])
    },
];
