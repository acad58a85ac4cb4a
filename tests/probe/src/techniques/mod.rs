//! The techniques: one file for each kind, one slice that has them all.

mod bombs;
mod credentials;
mod descriptors;
pub(crate) mod host_sockets;
mod ipc;
mod kernel;
mod kernel_files;
mod links;
mod metadata;
mod mounts;
mod namespaces;
mod neighbours;
mod programs;
mod reading;
mod signals;
mod skill;
mod sockets;
mod terminal;
mod victim;
mod writing;

use serde::{Serialize, Serializer};

use crate::outcome::Tried;
use crate::scene::Scene;

/// What a technique is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Reading secrets.
    Read,
    /// Reading and controlling other processes.
    Process,
    /// Changing files that were not granted.
    Write,
    /// Changing the skill, its manifest, its trace, or what was granted for reading only.
    Skill,
    /// Mounting.
    Mount,
    /// Making and entering name spaces.
    Namespace,
    /// Parts of the kernel that a skill has no business with.
    Kernel,
    /// Programs from unusual places, and with other rights.
    Program,
    /// What is inherited from whoever started the sandbox.
    Inherited,
    /// The user's terminal.
    Terminal,
    /// Sockets with names, shared memory, queues, keys.
    Ipc,
    /// The network, and families of sockets.
    Socket,
    /// Files that are the kernel.
    KernelFile,
    /// Rights of the process itself.
    Credential,
    /// Using up the host.
    Bomb,
}

impl Group {
    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Process => "process",
            Self::Write => "write",
            Self::Skill => "skill",
            Self::Mount => "mount",
            Self::Namespace => "namespace",
            Self::Kernel => "kernel",
            Self::Program => "program",
            Self::Inherited => "inherited",
            Self::Terminal => "terminal",
            Self::Ipc => "ipc",
            Self::Socket => "socket",
            Self::KernelFile => "kernel-file",
            Self::Credential => "credential",
            Self::Bomb => "bomb",
        }
    }
}

impl Serialize for Group {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// What is to be expected without a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "control", content = "reason")]
pub enum Control {
    /// Everybody gets through.
    User,
    /// Only root gets through.
    Root,
    /// It depends on the host, for this reason.
    Host(&'static str),
    /// Nobody gets through on any host, for this reason. Inside, it shows that this is still so.
    Never(&'static str),
    /// It is not tried outside, for this reason.
    Skipped(&'static str),
}

/// One way to try.
#[derive(Debug, Serialize)]
pub struct Technique {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// What is to be expected without a sandbox.
    #[serde(flatten)]
    pub control: Control,
    /// The attempt.
    #[serde(skip)]
    pub run: fn(&Scene) -> Tried,
}

impl Technique {
    /// Seconds it may take. Bombs need some time to be stopped by a limit.
    #[must_use]
    pub(crate) fn seconds(&self) -> u64 {
        if self.group == Group::Bomb { 60 } else { 20 }
    }
}

/// Files that lie outside for techniques that change one.
pub(crate) const OUTSIDE_FILES: &[&str] = &[
    "appended",
    "truncated",
    "removed",
    "renamed",
    "moved-in",
    "exchanged",
    "planted-link",
    "made-link",
    "linked",
    "linked-by-descriptor",
    "chmod",
    "fchmodat2",
    "chmod-by-descriptor",
    "chown",
    "utimes",
    "xattr",
    "flags",
    "watched",
    "mapped",
];

/// All of them. What could take away the ground others stand on comes last.
static FILES: &[&[Technique]] = &[
    descriptors::TECHNIQUES,
    reading::TECHNIQUES,
    victim::TECHNIQUES,
    neighbours::TECHNIQUES,
    signals::TECHNIQUES,
    ipc::TECHNIQUES,
    host_sockets::TECHNIQUES,
    sockets::TECHNIQUES,
    writing::TECHNIQUES,
    links::TECHNIQUES,
    metadata::TECHNIQUES,
    skill::TECHNIQUES,
    programs::TECHNIQUES,
    credentials::TECHNIQUES,
    kernel_files::TECHNIQUES,
    kernel::TECHNIQUES,
    namespaces::TECHNIQUES,
    terminal::TECHNIQUES,
    mounts::TECHNIQUES,
    bombs::TECHNIQUES,
];

/// Every technique, in the order they are tried.
pub fn all() -> impl Iterator<Item = &'static Technique> {
    FILES.iter().copied().flatten()
}

/// For tables.
const fn technique(
    group: Group,
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    Technique { name, group, what, control, run }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_every_technique_says_what_it_is() {
        let mut names = BTreeSet::new();
        for technique in all() {
            assert!(names.insert(technique.name), "{} is there twice", technique.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(technique.name.chars().all(plain), "{}", technique.name);
            assert!(technique.what.len() > 15 && technique.what.ends_with('.'), "{}", technique.name);
            if let Control::Host(why) | Control::Never(why) | Control::Skipped(why) = technique.control {
                assert!(why.len() > 10, "{}: {why}", technique.name);
            }
        }
        assert!(names.len() > 200, "{}", names.len());
    }

    #[test]
    fn every_plain_call_has_a_technique() {
        let names: BTreeSet<_> = all().map(|technique| technique.name).collect();
        for call in crate::sys::BARE {
            let name = format!("call-{}", call.name.replace('_', "-"));
            assert!(names.contains(name.as_str()), "{name}");
        }
    }
}
