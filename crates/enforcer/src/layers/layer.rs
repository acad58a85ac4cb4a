//! The layers of the sandbox, by name.

use std::fmt;

use serde::Serialize;

/// One layer of the sandbox. The order is the order in which a child puts them in place.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// User, mount, pid, net, ipc, uts and cgroup namespaces; a session keyring of its own.
    Namespaces,
    /// Limits on the whole tree of processes, held by the kernel or by the supervisor.
    Cgroup,
    /// A root of its own: what was not granted does not exist.
    Mounts,
    /// No way out of the network namespace but what was granted.
    Network,
    /// The end of the run is the end of every process of it.
    Lifetime,
    /// Nothing is inherited but standard input, output and error; no controlling terminal.
    Fds,
    /// Only the variables that were declared.
    Env,
    /// Limits on each process.
    Rlimits,
    /// No capability in any set, and no way to gain one.
    Caps,
    /// `no_new_privs`: set-user-id programs gain nothing.
    NoNewPrivs,
    /// The same grants again, by the kernel's own access rules.
    Landlock,
    /// Only the system calls of a profile.
    Seccomp,
}

impl Layer {
    /// All layers, in the order in which they are put in place.
    pub const ALL: [Self; 12] = [
        Self::Namespaces,
        Self::Cgroup,
        Self::Mounts,
        Self::Network,
        Self::Lifetime,
        Self::Fds,
        Self::Env,
        Self::Rlimits,
        Self::Caps,
        Self::NoNewPrivs,
        Self::Landlock,
        Self::Seccomp,
    ];

    /// Its name in reports and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Cgroup => "cgroup",
            Self::Mounts => "mounts",
            Self::Network => "network",
            Self::Lifetime => "lifetime",
            Self::Fds => "fds",
            Self::Env => "env",
            Self::Rlimits => "rlimits",
            Self::Caps => "caps",
            Self::NoNewPrivs => "no_new_privs",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        }
    }

    /// What it is for, in a sentence.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Namespaces => "processes, mounts, network, IPC and host name of its own",
            Self::Cgroup => "limits on memory, processes and CPU of the whole tree",
            Self::Mounts => "a root of its own: what was not granted does not exist",
            Self::Network => "no way out but what was granted",
            Self::Lifetime => "the end of the run is the end of every process of it",
            Self::Fds => "nothing is inherited but standard input, output and error",
            Self::Env => "only the variables that were declared",
            Self::Rlimits => "limits on each process; no core dumps",
            Self::Caps => "no capability, and no way to gain one",
            Self::NoNewPrivs => "set-user-id programs gain nothing",
            Self::Landlock => "the same grants again, by the kernel's access rules",
            Self::Seccomp => "only the system calls of a profile",
        }
    }

    /// Whether a plan may go on without it when it was named best-effort. The others are what makes it a sandbox at all.
    #[must_use]
    pub fn may_be_waived(self) -> bool {
        matches!(self, Self::Cgroup | Self::Landlock | Self::Seccomp)
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
