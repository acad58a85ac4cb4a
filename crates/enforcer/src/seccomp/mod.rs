//! Which system calls a skill may make: three profiles, kept as data, made into filters by libseccomp.
//!
//! A profile is an allow-list. `groups/` has what is allowed and, with reasons too, what is not: a test finds every call of the
//! kernel in one of the two, so that nothing is refused, or allowed, by oversight. `docs/seccomp.md` is made from the same tables.

mod compiled;
mod filter;
mod groups;
mod judge;
#[cfg(test)]
mod page;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::Serialize;

pub use filter::CompileError;
pub use judge::SyscallVerdict;

/// Which system calls the skill may make.
///
/// Programs for another architecture or for the x32 interface are killed in every profile: their calls have other numbers, so
/// that a filter for the one says nothing about the other.
///
/// A closed set: a new variant is a compile error in every `match` over it, so that none is let through unnoticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// What ordinary programs need; nothing that leads out of the sandbox or deep into the kernel.
    #[default]
    Default,
    /// Like `default`, without sockets, without new processes, and with signals only to itself.
    Strict,
    /// Refuses nothing but what could not be watched and what no other layer protects, the user's keys; what `default`
    /// would refuse is reported.
    Permissive,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Default, Self::Strict, Self::Permissive];

    /// Its name in manifests and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
            Self::Permissive => "permissive",
        }
    }

    /// The filter of this profile, as the bytes of an array of `struct sock_filter`: for a program that confines its children
    /// itself, with `seccomp(SECCOMP_SET_MODE_FILTER)`. What is refused fails with an error number; what `permissive` reports,
    /// it reports to the kernel's log.
    ///
    /// ```
    /// use skillsandbox_enforcer::Profile;
    ///
    /// let filter = Profile::Default.filter()?;
    /// assert_eq!(filter.len() % 8, 0, "eight bytes an instruction");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn filter(self) -> Result<Vec<u8>, CompileError> {
        compile(self, RefusalMode::Errno).map(|program| program.0.into_owned())
    }

    /// The same filter for a program that has a supervisor: what is refused or reported goes to the listener that
    /// `SECCOMP_FILTER_FLAG_NEW_LISTENER` returns, and [`Profile::judge`] says what to answer.
    ///
    /// `strict` lets the listener be sent over a socket at descriptor 3, and refuses `sendmsg` on any other.
    pub fn notifying_filter(self) -> Result<Vec<u8>, CompileError> {
        compile(self, RefusalMode::Notify).map(|program| program.0.into_owned())
    }

    /// What this profile does with a call, by its number here and its six arguments.
    ///
    /// ```
    /// use skillsandbox_enforcer::{SyscallVerdict, Profile};
    ///
    /// # #[cfg(target_arch = "x86_64")] {
    /// const PTRACE: i32 = 101;
    /// let judgement = Profile::Default.judge(PTRACE, [0; 6])?;
    /// assert!(matches!(judgement, SyscallVerdict::Refused { group: "other processes", .. }));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn judge(self, number: i32, arguments: [u64; 6]) -> Result<SyscallVerdict, CompileError> {
        judge::judge(self, number, arguments)
    }
}

impl Profile {
    /// Whether [`Profile::judge`] says that a call is observed: without the index of all calls, which takes a moment to make.
    pub(crate) fn observes(self, number: i32, arguments: [u64; 6]) -> bool {
        self != Self::Strict && groups::is_destination(number, arguments)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no profile has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no profile of system calls is called `{0}`: there are default, strict and permissive")]
pub struct UnknownProfile(String);

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|profile| profile.name() == name);
        found.ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}

/// What happens to a call that the profile refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalMode {
    /// The kernel answers it with an error number.
    Errno,
    /// It goes to the listener of the filter.
    Notify,
    /// The same, and so do calls that are allowed and observed.
    Observe,
}

/// A filter as the kernel takes it: the bytes of an array of `struct sock_filter`.
#[derive(Debug, Clone)]
pub(crate) struct FilterProgram(Cow<'static, [u8]>);

impl FilterProgram {
    // The seccomp layer installs these; until it does, tests are what reads them.
    #[cfg_attr(not(test), allow(dead_code))]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The filter of a profile: the one that comes with the crate where there is one for this architecture, since libseccomp takes
/// 5 to 9 ms to make one; otherwise made once for each profile and refusal, and kept.
pub(crate) fn compile(profile: Profile, refusal: RefusalMode) -> Result<FilterProgram, CompileError> {
    static MADE: [[OnceLock<FilterProgram>; 3]; 3] = [const { [const { OnceLock::new() }; 3] }; 3];
    if let Some(bytes) = compiled::filter(profile, refusal) {
        return Ok(FilterProgram(Cow::Borrowed(bytes)));
    }
    let [default, strict, permissive] = &MADE;
    let [errno, notify, observe] = match profile {
        Profile::Default => default,
        Profile::Strict => strict,
        Profile::Permissive => permissive,
    };
    let place = match refusal {
        RefusalMode::Errno => errno,
        RefusalMode::Notify => notify,
        RefusalMode::Observe => observe,
    };
    if let Some(program) = place.get() {
        return Ok(program.clone());
    }
    // Two threads may both make it; it is the same program.
    let program = FilterProgram(Cow::Owned(filter::build(profile, refusal)?));
    Ok(place.get_or_init(|| program).clone())
}

/// The name of a call on this architecture, or its number.
pub(crate) fn call_name(number: i32) -> String {
    libseccomp::ScmpSyscall::from(number).get_name().unwrap_or_else(|_| number.to_string())
}
