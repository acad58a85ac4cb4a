//! From the tables to a program for the kernel, by libseccomp.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use libseccomp::error::SeccompError;
use libseccomp::{ScmpAction, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};
use nix::errno::Errno;

use super::groups::{DENIED, FUTURE, GROUPS, OBSERVED, restricted};
use super::table::{ArgumentRule, CallGroup, DenialAnswer, ListedCall};
use super::{FilterRestrictions, RefusalMode};
use skillsandbox_terms::SyscallProfile;

/// What a call is told that no table mentions.
pub(super) const UNLISTED: Errno = Errno::EPERM;

/// The kernel's `BPF_MAXINSNS`, in bytes.
const LONGEST: u64 = 4096 * 8;

/// Sorts calls into a tree instead of a list (libseccomp 2.5, `SCMP_FLTATR_CTL_OPTIMIZE`).
const BINARY_TREE: u32 = 2;

/// Why a filter could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A name in our tables that this libseccomp does not know.
    #[error(
        "libseccomp does not know the system call {call}: it needs its number in the table, or a newer libseccomp"
    )]
    Unknown {
        /// The call.
        call: &'static str,
        /// What libseccomp says.
        source: SeccompError,
    },
    /// A rule that libseccomp does not take.
    #[error("libseccomp did not take the rule for {call}: {source}")]
    Rule {
        /// The call.
        call: &'static str,
        /// What libseccomp says.
        source: SeccompError,
    },
    /// libseccomp failed before or after the rules.
    #[error(
        "libseccomp could not {step}: {source}; it takes libseccomp 2.5, Linux 5.0, and no outer sandbox that forbids seccomp"
    )]
    Library {
        /// What it was to do.
        step: &'static str,
        /// What libseccomp says.
        source: SeccompError,
    },
    /// The finished program could not be fetched from libseccomp.
    #[error("the filter could not be read back from memory: {0}")]
    Memory(#[from] io::Error),
    /// More instructions than the kernel takes.
    #[error("the filter has {0} bytes, and the kernel takes 32768; a table has too many rules")]
    TooLong(u64),
}

/// The number that a call has here.
pub(super) fn call_number(call: &ListedCall) -> Result<i32, CompileError> {
    if let Some(number) = call.number {
        return Ok(number);
    }
    let known = ScmpSyscall::from_name(call.name);
    known.map(i32::from).map_err(|source| CompileError::Unknown { call: call.name, source })
}

/// Makes the filter of a profile.
pub(super) fn build(
    profile: SyscallProfile,
    restrictions: FilterRestrictions,
    refusal: RefusalMode,
) -> Result<Vec<u8>, CompileError> {
    let refused = |errno: Errno| match (refusal, profile) {
        (RefusalMode::Notify | RefusalMode::Observe, _) => ScmpAction::Notify,
        (RefusalMode::Errno, SyscallProfile::Permissive) => ScmpAction::Log,
        (RefusalMode::Errno, _) => ScmpAction::Errno(errno as i32),
    };
    let otherwise = refused(UNLISTED);

    let step = |step| move |source| CompileError::Library { step, source };
    let mut filter = ScmpFilterContext::new(otherwise).map_err(step("begin a filter"))?;
    // Other architectures and, by the same setting, x32.
    filter.set_act_badarch(ScmpAction::KillProcess).map_err(step("refuse other architectures"))?;
    filter.set_ctl_optimize(BINARY_TREE).map_err(step("sort calls into a tree"))?;

    // What is observed and not listed is asked about, as all that is not listed is.
    let listed =
        |group: &&CallGroup| group.within.has(profile) && !(group.observed && refusal != RefusalMode::Errno);
    let observed = |call: &ListedCall| refusal == RefusalMode::Observe && OBSERVED.contains(&call.name);
    // Of what is allowed, and of what is refused only with some arguments.
    let withheld = |call: &ListedCall| {
        restricted(restrictions).any(|denied| denied.calls.here().any(|other| other.name == call.name))
    };
    let allowed = GROUPS
        .iter()
        .filter(listed)
        .flat_map(|group| group.calls.here())
        .filter(|call| !observed(call) && !withheld(call));
    let always = DENIED.iter().map(|denial| (denial, false));
    let denied = always.chain(restricted(restrictions).map(|denial| (denial, true)));
    let denied = denied.flat_map(|(denial, for_this_run)| {
        let action = match denial.answer {
            DenialAnswer::Refuse(errno) => refused(errno),
            DenialAnswer::OnlyLayer(_) if refusal != RefusalMode::Errno => ScmpAction::Notify,
            DenialAnswer::OnlyLayer(errno) | DenialAnswer::Always(errno) => ScmpAction::Errno(errno as i32),
        };
        let calls = denial.calls.here().filter(move |call| for_this_run || !withheld(call));
        calls.map(move |call| (action, call))
    });
    for (action, call) in allowed.map(|call| (ScmpAction::Allow, call)).chain(denied) {
        // libseccomp refuses a rule that says what would happen anyway.
        if action != otherwise {
            add(&mut filter, action, &call)?;
        }
    }
    let missing = refused(Errno::ENOSYS);
    for number in FUTURE.filter(|_| missing != otherwise) {
        let call = "a number of the future";
        filter.add_rule_exact(missing, number).map_err(|source| CompileError::Rule { call, source })?;
    }
    export_filter(&filter)
}

fn add(filter: &mut ScmpFilterContext, action: ScmpAction, call: &ListedCall) -> Result<(), CompileError> {
    let number = ScmpSyscall::from(call_number(call)?);
    let failed = |source| CompileError::Rule { call: call.name, source };
    if call.rules.is_empty() {
        filter.add_rule_exact(action, number).map_err(failed)?;
    }
    for rule in call.rules {
        filter.add_rule_conditional_exact(action, number, &comparisons(*rule)).map_err(failed)?;
    }
    Ok(())
}

fn comparisons(rule: ArgumentRule) -> Vec<ScmpArgCompare> {
    let compare = |test: &super::table::ArgumentTest| {
        let operator =
            if test.differs { ScmpCompareOp::NotEqual } else { ScmpCompareOp::MaskedEqual(test.mask) };
        ScmpArgCompare::new(u32::from(test.argument), operator, test.value)
    };
    rule.tests.iter().map(compare).collect()
}

/// libseccomp 2.5 writes to a file only; this one is in memory and has no name.
fn export_filter(filter: &ScmpFilterContext) -> Result<Vec<u8>, CompileError> {
    let memory =
        rustix::fs::memfd_create("seccomp", rustix::fs::MemfdFlags::CLOEXEC).map_err(io::Error::from)?;
    let mut memory = File::from(memory);
    let step = "write the filter";
    filter.export_bpf(&memory).map_err(|source| CompileError::Library { step, source })?;
    let length = memory.metadata()?.len();
    if length > LONGEST {
        return Err(CompileError::TooLong(length));
    }
    memory.rewind()?;
    let mut bytes = Vec::new();
    memory.read_to_end(&mut bytes)?;
    Ok(bytes)
}
