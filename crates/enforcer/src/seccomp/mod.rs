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
use std::sync::{Mutex, PoisonError};

use skillsandbox_terms::SyscallProfile;

pub use filter::CompileError;
pub use judge::SyscallVerdict;

/// What a profile of system calls is to the kernel.
///
/// Programs for another architecture or for the x32 interface are killed in every profile: their calls have other numbers, so
/// that a filter for the one says nothing about the other.
pub trait SyscallFilters {
    /// The filter of this profile, as the bytes of an array of `struct sock_filter`: for a program that confines its children
    /// itself, with `seccomp(SECCOMP_SET_MODE_FILTER)`. What is refused fails with an error number; what `permissive` reports,
    /// it reports to the kernel's log. It has no Unix sockets but pairs: nobody is there who could judge where they lead.
    ///
    /// ```
    /// use skillsandbox_enforcer::{SyscallFilters as _, SyscallProfile};
    ///
    /// let filter = SyscallProfile::Default.filter()?;
    /// assert_eq!(filter.len() % 8, 0, "eight bytes an instruction");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn filter(self) -> Result<Vec<u8>, CompileError>;

    /// The same filter for a program that has a supervisor: what is refused or reported goes to the listener that
    /// `SECCOMP_FILTER_FLAG_NEW_LISTENER` returns, and [`SyscallFilters::judge`] says what to answer. So does `connect`, always; a
    /// supervisor that is not to open every Unix socket to the program looks where it leads and connects a duplicate of the socket.
    ///
    /// `strict` lets the listener be sent over a socket at descriptor 3, and refuses `sendmsg` on any other.
    fn notifying_filter(self) -> Result<Vec<u8>, CompileError>;

    /// What this profile does with a call, by its number here and its six arguments.
    ///
    /// ```
    /// use skillsandbox_enforcer::{SyscallFilters as _, SyscallProfile, SyscallVerdict};
    ///
    /// # #[cfg(target_arch = "x86_64")] {
    /// const PTRACE: i32 = 101;
    /// let judgement = SyscallProfile::Default.judge(PTRACE, [0; 6])?;
    /// assert!(matches!(judgement, SyscallVerdict::Refused { group: "other processes", .. }));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn judge(self, number: i32, arguments: [u64; 6]) -> Result<SyscallVerdict, CompileError>;
}

impl SyscallFilters for SyscallProfile {
    fn filter(self) -> Result<Vec<u8>, CompileError> {
        SyscallRules::of(self).compile(RefusalMode::Errno).map(|program| program.0.into_owned())
    }

    fn notifying_filter(self) -> Result<Vec<u8>, CompileError> {
        SyscallRules::of(self).compile(RefusalMode::Notify).map(|program| program.0.into_owned())
    }

    fn judge(self, number: i32, arguments: [u64; 6]) -> Result<SyscallVerdict, CompileError> {
        SyscallRules::of(self).judge(number, arguments)
    }
}

/// Whether [`SyscallFilters::judge`] says that a call is observed: without the index of all calls, which takes a moment to make.
pub(crate) fn observes_call(profile: SyscallProfile, number: i32, arguments: [u64; 6]) -> bool {
    profile != SyscallProfile::Strict && groups::is_destination(number, arguments)
}

/// Calls about files and other processes that every run may have made without any observer being told: what a record of a run cannot
/// show, however complete it is. The names are those of every architecture.
///
/// ```
/// let calls: Vec<&str> = skillsandbox_enforcer::unobserved_calls().collect();
/// assert!(calls.contains(&"fchdir") && calls.contains(&"kill"));
/// assert!(!calls.contains(&"openat"));
/// ```
pub fn unobserved_calls() -> impl Iterator<Item = &'static str> {
    groups::UNOBSERVED.iter().flat_map(|(_, calls)| calls.split_whitespace())
}

/// What a run does without although its profile has it (`groups/restricted.rs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FilterRestrictions {
    /// Only named programs may be executed.
    pub(crate) named_programs: bool,
    /// No control group counts the memory of the run, which is limited.
    pub(crate) uncounted_memory: bool,
}

/// The calls of one run: those of a profile, less what else the plan asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SyscallRules {
    pub(crate) profile: SyscallProfile,
    pub(crate) restrictions: FilterRestrictions,
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
    /// As [`RefusalMode::Errno`], with a listener for what a supervisor must do itself.
    Supervise,
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

impl SyscallRules {
    /// All that a profile has.
    pub(crate) fn of(profile: SyscallProfile) -> Self {
        Self { profile, restrictions: FilterRestrictions::default() }
    }

    /// Gets ready to judge, before anybody waits for it.
    pub(crate) fn prepare_judging() {
        judge::make_index();
    }

    /// What these rules do with a call.
    pub(crate) fn judge(self, number: i32, arguments: [u64; 6]) -> Result<SyscallVerdict, CompileError> {
        judge::judge(self.profile, self.restrictions, number, arguments)
    }

    /// The filter: the one that comes with the crate where there is one for this architecture, since libseccomp takes 5 to 9 ms to make
    /// one; otherwise made once and kept.
    pub(crate) fn compile(self, refusal: RefusalMode) -> Result<FilterProgram, CompileError> {
        static MADE: Mutex<Vec<(SyscallRules, RefusalMode, FilterProgram)>> = Mutex::new(Vec::new());
        if let Some(bytes) = compiled::filter(self.profile, self.restrictions, refusal) {
            return Ok(FilterProgram(Cow::Borrowed(bytes)));
        }
        let is_this = |entry: &&(Self, RefusalMode, FilterProgram)| (entry.0, entry.1) == (self, refusal);
        let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, program)) = made().iter().find(is_this) {
            return Ok(program.clone());
        }
        // Two threads may both make it; it is the same program.
        let program = filter::build(self.profile, self.restrictions, refusal)?;
        let program = FilterProgram(Cow::Owned(program));
        let mut kept = made();
        if !kept.iter().any(|entry| is_this(&entry)) {
            kept.push((self, refusal, program.clone()));
        }
        Ok(program)
    }
}

/// The name of a call on this architecture, or its number.
pub(crate) fn call_name(number: i32) -> String {
    libseccomp::ScmpSyscall::from(number).get_name().unwrap_or_else(|_| number.to_string())
}
