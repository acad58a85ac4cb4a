//! Landlock and seccomp: rules that the kernel takes, and then holds.

use std::os::fd::{AsFd as _, OwnedFd};

use landlock::{AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};
use rustix::fs::{Mode, OFlags};

use super::HostTrial;
use crate::child::step::SetupStep;
use crate::seccomp::{RefusalMode, SyscallRules};
use crate::support::child::{BlameTrial as _, TrialFailure, TrialNamespaces, TrialOutcome, try_in_child};
use crate::sys;
use crate::sys::Errno;
use skillsandbox_terms::SyscallProfile;

pub(super) const TRIALS: &[HostTrial] = &[
    HostTrial {
        name: "landlock",
        what: "restrict a process with Landlock",
        step: SetupStep::Landlock,
        after: &["no_new_privs"],
        run: check_restricted,
    },
    HostTrial {
        name: "seccomp",
        what: "refuse a system call with a filter",
        step: SetupStep::Seccomp,
        after: &["no_new_privs"],
        run: || try_in_child(TrialNamespaces::Plain, |_| check_refused()),
    },
    HostTrial {
        name: "the default profile",
        what: "install the filter of the default profile",
        step: SetupStep::Seccomp,
        after: &["seccomp"],
        run: default_profile,
    },
];

/// The newest version of Landlock that the kernel speaks, if any.
pub(in crate::support) fn landlock_version() -> Option<i32> {
    sys::landlock::version().ok().filter(|version| *version > 0)
}

fn check_restricted() -> TrialOutcome {
    if let Err(errno) = sys::landlock::version() {
        return TrialOutcome::Trouble(TrialFailure::Here(errno));
    }
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::ReadDir)
        .and_then(Ruleset::create);
    let ruleset: Option<OwnedFd> = match ruleset {
        Ok(ruleset) => ruleset.into(),
        Err(_) => None,
    };
    let Some(ruleset) = ruleset else {
        let errno = std::io::Error::last_os_error().raw_os_error();
        return TrialOutcome::Trouble(TrialFailure::Here(Errno(errno.unwrap_or(libc::EOPNOTSUPP))));
    };
    try_in_child(TrialNamespaces::Plain, |_| {
        let open =
            || rustix::fs::open(c"/", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
        // The control: the same works without.
        open().before()?;
        rustix::thread::set_no_new_privs(true).before()?;
        sys::landlock::restrict_self(ruleset.as_fd()).here()?;
        match open() {
            Err(rustix::io::Errno::ACCESS) => Ok(()),
            _ => Err(TrialFailure::NoEffect),
        }
    })
}

/// A filter that lets everything pass but one harmless call, which it answers with an error that the call never gives.
fn filter() -> [u8; 32] {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let call = u32::try_from(libc::SYS_sched_yield).unwrap_or(u32::MAX);
    let refuse = libc::SECCOMP_RET_ERRNO | libc::E2BIG.cast_unsigned();
    let mut bytes = [0; 32];
    let program = [
        // The number of the call is the first field of what a filter sees (linux/seccomp.h).
        (LOAD, 0_u8, 0_u8, 0_u32),
        (JUMP_IF_EQUAL, 0, 1, call),
        (RETURN, 0, 0, refuse),
        (RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    for (slot, (code, yes, no, value)) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(program) {
        let [c0, c1] = code.to_ne_bytes();
        let [v0, v1, v2, v3] = value.to_ne_bytes();
        *slot = [c0, c1, yes, no, v0, v1, v2, v3];
    }
    bytes
}

fn check_refused() -> Result<(), TrialFailure> {
    let filter = filter();
    nix::sched::sched_yield().before()?;
    rustix::thread::set_no_new_privs(true).before()?;
    sys::seccomp::install(&filter).here()?;
    match nix::sched::sched_yield() {
        Err(nix::errno::Errno::E2BIG) => Ok(()),
        _ => Err(TrialFailure::NoEffect),
    }
}

/// What a run installs, whole: a kernel may take a small filter and not a large one.
fn default_profile() -> TrialOutcome {
    let Ok(program) = SyscallRules::of(SyscallProfile::Default).compile(RefusalMode::Errno) else {
        return TrialOutcome::Trouble(TrialFailure::Here(Errno(libc::EINVAL)));
    };
    try_in_child(TrialNamespaces::Plain, |_| {
        rustix::thread::set_no_new_privs(true).before()?;
        sys::seccomp::install(program.bytes()).here()
    })
}

/// Whether a filter could be listened to here: nothing depends on it but how much is seen of a run.
pub(in crate::support) fn observe() -> TrialOutcome {
    let filter = filter();
    try_in_child(TrialNamespaces::Plain, |_| {
        rustix::thread::set_no_new_privs(true).before()?;
        sys::probe::listener(&filter).here().map(drop)
    })
}
