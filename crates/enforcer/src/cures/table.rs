//! The cures, as data: the first entry that fits is the one. Facts that decide alone come first, guesses last.
//!
//! `{program}` is the program that asks, `{kernel}` the kernel's own name for itself. The sources are in
//! docs/kernel-support.md.

use crate::child::step::SetupStep;
use crate::support::{Container, HostProfile, KernelKind};

/// What to do about steps that failed in a certain way on a certain kind of host.
#[derive(Debug)]
pub(super) struct CureEntry {
    /// For tests, and for editing this table.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name entries by it"))]
    pub(super) name: &'static str,
    /// `None`: all of them.
    pub(super) steps: Option<&'static [SetupStep]>,
    /// Empty: whatever the kernel said.
    pub(super) errnos: &'static [i32],
    pub(super) on: fn(&HostProfile) -> bool,
    pub(super) what: &'static str,
    pub(super) lines: &'static [&'static str],
}

const REFUSED: &[i32] = &[libc::EPERM, libc::EACCES];
const ABSENT: &[i32] = &[libc::ENOSYS, libc::EINVAL];
/// What a filter answers, as a rule.
const FILTERED: &[i32] = &[libc::EPERM, libc::EACCES, libc::ENOSYS];
const FOREIGN: &[i32] = &[libc::EPERM, libc::EACCES, libc::ENOSYS, libc::EINVAL, libc::ENODEV];

/// What a namespace gives the right to. All of it goes where that right is taken away again.
const IN_NAMESPACES: &[SetupStep] = &[
    SetupStep::Clone,
    SetupStep::Maps,
    SetupStep::Groups,
    SetupStep::HostName,
    SetupStep::RootFs,
    SetupStep::PrivateFs,
    SetupStep::ProcFs,
    SetupStep::Place,
    SetupStep::Pivot,
    SetupStep::Seal,
    SetupStep::Loopback,
    SetupStep::Routes,
    SetupStep::Listen,
    SetupStep::Tap,
    SetupStep::Ambient,
    SetupStep::Bounding,
    SetupStep::SecureBits,
    SetupStep::Capabilities,
];

const MOUNTS: &[SetupStep] = &[
    SetupStep::RootFs,
    SetupStep::PrivateFs,
    SetupStep::ProcFs,
    SetupStep::Place,
    SetupStep::Pivot,
    SetupStep::Seal,
];

/// All that a filter or a foreign kernel can refuse. Not the working directory and the program, which are the plan's; not the
/// cgroup, whose files decide.
const KERNEL_CALLS: &[SetupStep] = &[
    SetupStep::Clone,
    SetupStep::Maps,
    SetupStep::Groups,
    SetupStep::HostName,
    SetupStep::Keyring,
    SetupStep::RootFs,
    SetupStep::PrivateFs,
    SetupStep::ProcFs,
    SetupStep::Place,
    SetupStep::Pivot,
    SetupStep::Seal,
    SetupStep::Loopback,
    SetupStep::Routes,
    SetupStep::Listen,
    SetupStep::Tap,
    SetupStep::HandOver,
    SetupStep::DeathSignal,
    SetupStep::NotDumpable,
    SetupStep::Init,
    SetupStep::Session,
    SetupStep::Terminal,
    SetupStep::Standard,
    SetupStep::CloseOthers,
    SetupStep::Setting,
    SetupStep::Limit,
    SetupStep::Ambient,
    SetupStep::Bounding,
    SetupStep::SecureBits,
    SetupStep::Capabilities,
    SetupStep::NoNewPrivs,
    SetupStep::LandlockRule,
    SetupStep::Landlock,
    SetupStep::Seccomp,
    SetupStep::Listener,
];

/// What every Linux that has the rest does for everybody, unless a filter is in between.
#[cfg(test)]
pub(super) const REFUSED_ONLY_BY_FILTERS: &[SetupStep] = &[
    SetupStep::HandOver,
    SetupStep::DeathSignal,
    SetupStep::NotDumpable,
    SetupStep::Init,
    SetupStep::Session,
    SetupStep::Terminal,
    SetupStep::Standard,
    SetupStep::Setting,
    SetupStep::Limit,
    SetupStep::NoNewPrivs,
    SetupStep::Listener,
];

pub(super) const ENTRIES: &[CureEntry] = &[
    CureEntry {
        name: "inside our own sandbox",
        steps: Some(KERNEL_CALLS),
        errnos: &[],
        on: |host| host.is_own_sandbox,
        what: "this process is already in a sandbox of skillsandbox, which cannot start another one inside: start this run from \
               outside.",
        lines: &[],
    },
    CureEntry {
        name: "WSL 1",
        steps: Some(KERNEL_CALLS),
        errnos: FOREIGN,
        on: |host| host.kind == KernelKind::Wsl1,
        what: "WSL 1 has no Linux kernel, so it has no namespaces, Landlock or seccomp: move the distribution to WSL 2 (in \
               PowerShell).",
        lines: &["wsl --list --verbose", "wsl --set-version <distribution> 2"],
    },
    CureEntry {
        name: "gVisor",
        steps: Some(KERNEL_CALLS),
        errnos: FOREIGN,
        on: |host| host.kind == KernelKind::Gvisor,
        what: "gVisor answers Linux calls itself and does not have this one: use a runtime with a Linux kernel for this container.",
        lines: &[
            "docker run --runtime=runc ...",
            "# Kubernetes: take `runtimeClassName: gvisor` out of the pod",
        ],
    },
    CureEntry {
        name: "user namespaces forbidden by kernel.unprivileged_userns_clone",
        steps: Some(&[SetupStep::Clone]),
        errnos: &[libc::EPERM],
        on: |host| host.userns_clone_off && !host.is_privileged,
        what: "this host forbids user namespaces to ordinary users: allow them, now and after the next start.",
        lines: &[
            "sudo sysctl -w kernel.unprivileged_userns_clone=1",
            "echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-userns.conf",
        ],
    },
    CureEntry {
        name: "no user namespaces by user.max_user_namespaces",
        steps: Some(&[SetupStep::Clone]),
        errnos: &[libc::ENOSPC, libc::EUSERS, libc::EPERM],
        on: |host| host.no_user_namespaces,
        what: "this host allows no user namespaces at all: allow some, now and after the next start.",
        lines: &[
            "sudo sysctl -w user.max_user_namespaces=15000",
            "echo user.max_user_namespaces=15000 | sudo tee /etc/sysctl.d/60-userns.conf",
        ],
    },
    CureEntry {
        name: "too many namespaces",
        steps: Some(&[SetupStep::Clone]),
        errnos: &[libc::ENOSPC, libc::EUSERS],
        on: |_| true,
        what: "the limit on namespaces is reached, or on how deep they are nested (32): compare the limits, and raise the one that \
               is reached.",
        lines: &[
            "sysctl user",
            "sudo sysctl -w user.max_net_namespaces=15000   # or the one that is reached",
        ],
    },
    CureEntry {
        name: "too many processes",
        steps: Some(&[SetupStep::Clone, SetupStep::Init]),
        errnos: &[libc::EAGAIN],
        on: |_| true,
        what: "this user has reached the limit on processes: end some, or raise the limit (ulimit -u, pids.max of the cgroup).",
        lines: &["ulimit -u", "systemctl show --property=TasksMax user-$(id -u).slice"],
    },
    CureEntry {
        name: "too many open files",
        steps: None,
        errnos: &[libc::EMFILE, libc::ENFILE],
        on: |_| true,
        what: "this program or the whole host has reached the limit on open files: close some, or raise the limit.",
        lines: &["ulimit -n 1024", "sysctl fs.file-nr fs.file-max"],
    },
    CureEntry {
        name: "Landlock not switched on",
        steps: Some(&[SetupStep::LandlockRule, SetupStep::Landlock]),
        errnos: &[libc::EOPNOTSUPP],
        on: |_| true,
        what: "the kernel has Landlock, but it was not switched on when it started: put landlock in front of the list of security \
               modules on the kernel's command line (lsm=, in /etc/default/grub or your boot loader's own file) and restart.",
        lines: &[
            "cat /sys/kernel/security/lsm",
            "# GRUB_CMDLINE_LINUX=\"lsm=landlock,<the list that the line above printed>\"",
            "sudo update-grub   # Fedora, RHEL: sudo grub2-mkconfig -o /boot/grub2/grub.cfg",
        ],
    },
    CureEntry {
        name: "too many layers of Landlock",
        steps: Some(&[SetupStep::LandlockRule, SetupStep::Landlock]),
        errnos: &[libc::E2BIG],
        on: |_| true,
        what: "this process is under 16 Landlock rulesets, which is the limit: start it from fewer nested sandboxes.",
        lines: &[],
    },
    CureEntry {
        name: "kernel too old",
        steps: Some(KERNEL_CALLS),
        errnos: ABSENT,
        on: |host| host.is_older_than(5, 13),
        what: "Linux {kernel} is too old: a run needs Linux 5.13 or later (mount_setattr came with 5.12, Landlock with 5.13). \
               Start a newer kernel.",
        lines: &["uname -r"],
    },
    CureEntry {
        name: "cgroup",
        steps: Some(&[SetupStep::JoinCgroup]),
        errnos: &[],
        on: |_| true,
        what: DELEGATION.what,
        lines: DELEGATION.lines,
    },
    CureEntry {
        name: "Docker",
        steps: Some(KERNEL_CALLS),
        errnos: FILTERED,
        on: |host| host.container == Some(Container::Docker),
        what: "Docker does not allow this in its containers: its seccomp profile refuses namespaces and mounts, its AppArmor profile \
               refuses mounts, and it covers parts of /proc, so that a fresh one cannot be mounted. Start the container with these \
               options, or with a seccomp profile of your own that allows clone3, mount, umount2, pivot_root, sethostname, \
               fsopen, fsconfig, fsmount, move_mount, open_tree, mount_setattr and keyctl. On an Ubuntu host that restricts user \
               namespaces, the last line is needed on the host too.",
        lines: &[
            "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined ...",
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0   # only on such an Ubuntu host",
        ],
    },
    CureEntry {
        name: "Podman",
        steps: Some(KERNEL_CALLS),
        errnos: FILTERED,
        on: |host| host.container == Some(Container::Podman),
        what: "Podman does not allow this in its containers: its seccomp profile refuses it, and it covers parts of /proc, so that a \
               fresh one cannot be mounted. Start the container with these options.",
        lines: &[
            "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL --security-opt label=disable ...",
        ],
    },
    CureEntry {
        name: "Kubernetes",
        steps: Some(KERNEL_CALLS),
        errnos: FILTERED,
        on: |host| host.container == Some(Container::Kubernetes),
        what: "this pod's settings do not allow namespaces and mounts, or cover parts of /proc. Let the pod \
               have a user namespace of its own and an unmasked /proc (Kubernetes 1.33 or later), and a seccomp profile that \
               allows both.",
        lines: &[
            "spec:",
            "  hostUsers: false",
            "  containers:",
            "    - securityContext:",
            "        procMount: Unmasked",
            "        seccompProfile: { type: Unconfined }",
            "        appArmorProfile: { type: Unconfined }",
        ],
    },
    CureEntry {
        name: "chroot",
        steps: Some(&[SetupStep::Clone]),
        errnos: &[libc::EPERM],
        on: |host| host.is_chroot,
        what: "this process is in a chroot, where the kernel refuses user namespaces: start it outside, or make the folder a root \
               by pivot_root (systemd-nspawn, bubblewrap and unshare --root with a mount do).",
        lines: &[],
    },
    CureEntry {
        name: "Ubuntu's AppArmor",
        steps: Some(IN_NAMESPACES),
        errnos: REFUSED,
        on: |host| host.apparmor_restricts && !host.is_privileged,
        what: "this host's AppArmor lets an ordinary program make user namespaces, but without any rights in them (Ubuntu 23.10 and \
               later). Give this program a profile that allows them, and keep it where only root can replace it. The last line is \
               weaker: it allows them to every program.",
        lines: &[
            "sudo tee /etc/apparmor.d/skillsandbox >/dev/null <<'EOF'",
            "abi <abi/4.0>,",
            "include <tunables/global>",
            "profile skillsandbox {program} flags=(unconfined) {",
            "  userns,",
            "  include if exists <local/skillsandbox>",
            "}",
            "EOF",
            "sudo apparmor_parser -r /etc/apparmor.d/skillsandbox",
            "# or, weaker: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ],
    },
    CureEntry {
        name: "some container",
        steps: Some(KERNEL_CALLS),
        errnos: FILTERED,
        on: |host| host.container == Some(Container::Other),
        what: "the container around this process does not allow this. It has to allow user namespaces, mounts in them and an \
               uncovered /proc; for LXC and Incus that is nesting.",
        lines: &["lxc config set <container> security.nesting true   # incus config set ... likewise"],
    },
    CureEntry {
        name: "another filter",
        steps: Some(KERNEL_CALLS),
        errnos: FILTERED,
        on: |host| host.filters > 0,
        what: "a seccomp filter around this process refuses this: another sandbox, a service manager or a container installed it. \
               Start this program outside of it, or let it allow the call; for a systemd unit, look at these settings.",
        lines: &["systemctl show --property=SystemCallFilter,RestrictNamespaces,NoNewPrivileges <unit>"],
    },
    CureEntry {
        name: "covered /proc",
        steps: Some(&[SetupStep::ProcFs]),
        errnos: REFUSED,
        on: |_| true,
        what: "something is mounted over a part of /proc, and the kernel refuses a fresh /proc that would show what is covered: \
               remove these mounts, or start this program where there are none.",
        lines: &["findmnt --submounts /proc"],
    },
    CureEntry {
        name: "security module",
        steps: Some(IN_NAMESPACES),
        errnos: REFUSED,
        on: |_| true,
        what: "this host refuses namespaces, or rights in them, to this program. A security module (SELinux, AppArmor, the \
               Landlock rules of an outer sandbox) or a setting does that; the kernel's log names the first two.",
        lines: &[
            "sudo journalctl --dmesg --grep 'apparmor|avc:|audit'",
            "sysctl kernel.unprivileged_userns_clone user.max_user_namespaces kernel.apparmor_restrict_unprivileged_userns",
        ],
    },
    CureEntry {
        name: "namespaces not built",
        steps: Some(&[SetupStep::Clone]),
        errnos: ABSENT,
        on: |_| true,
        what: "this kernel was built without one of the namespaces that a run needs (CONFIG_USER_NS, CONFIG_PID_NS, CONFIG_NET_NS, \
               CONFIG_IPC_NS, CONFIG_UTS_NS, CONFIG_CGROUPS): start one that has them.",
        lines: &["grep -E 'CONFIG_(USER|PID|NET|IPC|UTS)_NS|CONFIG_CGROUPS' /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "read-only /proc",
        steps: Some(&[SetupStep::Maps]),
        errnos: &[libc::EROFS, libc::ENOENT],
        on: |_| true,
        what: "users are mapped by writing to /proc, which is read-only or not mounted here: start this program where it is mounted \
               and can be written.",
        lines: &["findmnt /proc"],
    },
    CureEntry {
        name: "maps",
        steps: Some(&[SetupStep::Maps, SetupStep::Groups, SetupStep::HostName]),
        errnos: ABSENT,
        on: |_| true,
        what: "this kernel does not let users be mapped: CONFIG_USER_NS and CONFIG_UTS_NS have to be built in, and /proc mounted.",
        lines: &["grep -E 'CONFIG_(USER|UTS)_NS' /boot/config-$(uname -r)", "findmnt /proc"],
    },
    CureEntry {
        name: "key quota",
        steps: Some(&[SetupStep::Keyring]),
        errnos: &[libc::EDQUOT],
        on: |_| true,
        what: "this user has reached the quota of kernel keys: raise the quota, or clear unused keyrings.",
        lines: &["cat /proc/key-users", "sudo sysctl -w kernel.keys.maxkeys=2000"],
    },
    CureEntry {
        name: "keyrings",
        steps: Some(&[SetupStep::Keyring]),
        errnos: FOREIGN,
        on: |_| true,
        what: "a run needs a keyring of its own, so that it cannot use the keys of the login session: the kernel needs \
               CONFIG_KEYS, and no security module may refuse keyctl.",
        lines: &["grep CONFIG_KEYS= /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "mount interface",
        steps: Some(MOUNTS),
        errnos: ABSENT,
        on: |_| true,
        what: "this kernel lacks a part of the mount interface that a run needs: Linux 5.12 or later, with CONFIG_TMPFS and \
               CONFIG_PROC_FS.",
        lines: &["uname -r", "grep -E 'CONFIG_TMPFS=|CONFIG_PROC_FS=' /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "file systems not there",
        steps: Some(MOUNTS),
        errnos: &[libc::ENODEV],
        on: |_| true,
        what: "this kernel was built without tmpfs or proc: start one with CONFIG_TMPFS and CONFIG_PROC_FS.",
        lines: &["grep -E 'tmpfs|proc' /proc/filesystems"],
    },
    CureEntry {
        name: "mounts below an overlay",
        steps: Some(&[SetupStep::Overlay]),
        errnos: &[libc::EINVAL],
        on: |_| true,
        what: "another file system is mounted below this folder, which an overlay cannot show: name a folder without one.",
        lines: &["findmnt --submounts /"],
    },
    CureEntry {
        name: "no overlays",
        steps: Some(&[SetupStep::Overlay]),
        errnos: &[libc::EPERM, libc::ENOSYS, libc::ENODEV, libc::EOPNOTSUPP],
        on: |_| true,
        what: "this kernel has no overlays in user namespaces, without which nothing can be rehearsed: Linux 5.11 or later, with \
               CONFIG_OVERLAY_FS. A run does not need them.",
        lines: &["uname -r", "grep overlay /proc/filesystems"],
    },
    CureEntry {
        name: "changed meanwhile",
        steps: Some(&[SetupStep::Place, SetupStep::Overlay]),
        errnos: &[libc::ESTALE],
        on: |_| true,
        what: "a granted path was replaced by something else while the sandbox was made: start the run again.",
        lines: &[],
    },
    CureEntry {
        name: "loopback",
        steps: Some(&[SetupStep::Loopback, SetupStep::Routes, SetupStep::Listen, SetupStep::Tap]),
        errnos: &[libc::ENOSYS, libc::EINVAL, libc::ENODEV, libc::EAFNOSUPPORT],
        on: |_| true,
        what: "this kernel has no IPv4 or no loopback interface in a new network namespace: CONFIG_INET and CONFIG_NET_NS have to \
               be built in.",
        lines: &["grep -E 'CONFIG_INET=|CONFIG_NET_NS=' /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "close_range",
        steps: Some(&[SetupStep::CloseOthers]),
        errnos: FOREIGN,
        on: |_| true,
        what: "descriptors are closed by close_range, which Linux has since 5.9: start a newer kernel.",
        lines: &["uname -r"],
    },
    CureEntry {
        name: "capabilities",
        steps: Some(&[
            SetupStep::Ambient,
            SetupStep::Bounding,
            SetupStep::SecureBits,
            SetupStep::Capabilities,
        ]),
        errnos: ABSENT,
        on: |_| true,
        what: "this kernel does not let capabilities be given up one by one: CONFIG_MULTIUSER has to be built in.",
        lines: &["grep CONFIG_MULTIUSER= /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "Landlock",
        steps: Some(&[SetupStep::LandlockRule, SetupStep::Landlock]),
        errnos: FOREIGN,
        on: |_| true,
        what: "this kernel was built without Landlock: start one with CONFIG_SECURITY_LANDLOCK=y and landlock in CONFIG_LSM or \
               on its command line (lsm=landlock,...). A plan can also name this layer best-effort: the mounts still hold \
               the same grants, with one layer less.",
        lines: &["grep -E 'CONFIG_SECURITY_LANDLOCK=|CONFIG_LSM=' /boot/config-$(uname -r)"],
    },
    CureEntry {
        name: "seccomp memory",
        steps: Some(&[SetupStep::Seccomp]),
        errnos: &[libc::ENOMEM],
        on: |_| true,
        what: "the seccomp filters of this process have reached their total size limit: start it from fewer nested sandboxes.",
        lines: &["grep Seccomp_filters /proc/self/status"],
    },
    CureEntry {
        name: "seccomp",
        steps: Some(&[SetupStep::Seccomp]),
        errnos: FOREIGN,
        on: |_| true,
        what: "this kernel does not filter system calls: CONFIG_SECCOMP_FILTER=y has to be built in. A plan can also name this \
               layer best-effort; then a run can make every system call.",
        lines: &["grep CONFIG_SECCOMP_FILTER= /boot/config-$(uname -r)"],
    },
];

/// Not about a step that fails: a run goes on without a group.
pub(super) const DELEGATION: CureEntry = CureEntry {
    name: "no delegated cgroup",
    steps: None,
    errnos: &[],
    on: |_| true,
    what: "without a cgroup that this user may write, the launching program and limits on each process hold the limits of a run, \
           which is weaker: memory can exceed its limit between two measurements, and the CPU share is held by \
           pausing the run. Let systemd delegate a group to the session, or start from one.",
    lines: &[
        "systemd-run --user --scope -p Delegate=yes -- <command>",
        "loginctl enable-linger $USER   # for programs that start without a login",
    ],
};
