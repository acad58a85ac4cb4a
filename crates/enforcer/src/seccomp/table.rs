//! How the profiles are written down: groups of calls with a reason each, and conditions on arguments.

use nix::errno::Errno;

use skillsandbox_terms::SyscallProfile;

/// What programs need, and why they may have it.
#[derive(Debug)]
pub(super) struct CallGroup {
    pub(super) name: &'static str,
    pub(super) reason: &'static str,
    pub(super) within: ProfileScope,
    /// Where there is a supervisor, it is asked first: not for leave, but so that it knows.
    pub(super) observed: bool,
    pub(super) calls: CallList,
}

/// Which profiles a group belongs to. What `default` has, `permissive` has without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileScope {
    Every,
    /// Not in `strict`, for this reason.
    NotStrict(&'static str),
    /// What `strict` has in the place of a group it lacks.
    OnlyStrict,
}

/// What no profile allows, why, and what the caller is told.
#[derive(Debug)]
pub(super) struct DeniedGroup {
    pub(super) name: &'static str,
    pub(super) reason: &'static str,
    pub(super) answer: DenialAnswer,
    pub(super) calls: CallList,
}

/// What makes a run need fewer calls than its profile has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestrictionCause {
    /// Only named programs may be executed.
    NamedPrograms,
    /// No control group counts the memory of the run.
    UncountedMemory,
}

/// What no profile allows for such a run, and why.
#[derive(Debug)]
pub(super) struct RestrictedGroup {
    pub(super) cause: RestrictionCause,
    pub(super) denied: DeniedGroup,
}

/// What the caller of a refused call is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DenialAnswer {
    /// By the filter, or by the supervisor where refused calls go to one; `permissive` lets the call pass and reports it.
    Refuse(Errno),
    /// The same, and `permissive` refuses it too: no other layer protects this.
    OnlyLayer(Errno),
    /// By the filter in every profile, because the call makes sense only with this answer.
    Always(Errno),
}

impl DenialAnswer {
    pub(super) fn errno(self) -> Errno {
        match self {
            Self::Refuse(errno) | Self::OnlyLayer(errno) | Self::Always(errno) => errno,
        }
    }
}

/// Calls of a group: plain names separated by spaces, and calls of which there is more to say.
#[derive(Debug)]
pub(super) struct CallList {
    /// On every architecture.
    pub(super) both: &'static str,
    /// Only on x86-64: what newer architectures have only in its later form (`open`, but not `openat`).
    pub(super) x86_64: &'static str,
    pub(super) more: &'static [ListedCall],
}

impl CallList {
    /// Every call of every architecture.
    pub(super) fn all(&self) -> impl Iterator<Item = ListedCall> + use<> {
        let both = self.both.split_whitespace().map(|name| ListedCall::both(name, &[]));
        let x86_64 = self.x86_64.split_whitespace().map(|name| ListedCall::x86_64(name, &[]));
        both.chain(x86_64).chain(self.more.iter().copied())
    }

    /// Those that exist where this program runs.
    pub(super) fn here(&self) -> impl Iterator<Item = ListedCall> + use<> {
        self.all().filter(|call| !call.only_x86_64 || cfg!(target_arch = "x86_64"))
    }
}

/// A system call; with rules, only as one of them says.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListedCall {
    pub(super) name: &'static str,
    /// For calls that libseccomp 2.5 does not know by name. From 424 on, numbers are the same on every architecture.
    pub(super) number: Option<i32>,
    pub(super) only_x86_64: bool,
    pub(super) rules: &'static [ArgumentRule],
}

impl ListedCall {
    pub(super) const fn both(name: &'static str, rules: &'static [ArgumentRule]) -> Self {
        Self { name, number: None, only_x86_64: false, rules }
    }

    pub(super) const fn x86_64(name: &'static str, rules: &'static [ArgumentRule]) -> Self {
        Self { name, number: None, only_x86_64: true, rules }
    }

    pub(super) const fn newer(number: i32, name: &'static str, rules: &'static [ArgumentRule]) -> Self {
        Self { name, number: Some(number), only_x86_64: false, rules }
    }

    pub(super) const fn newer_x86_64(number: i32, name: &'static str) -> Self {
        Self { name, number: Some(number), only_x86_64: true, rules: &[] }
    }
}

/// One way in which a call's arguments may be: every test holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArgumentRule {
    pub(super) says: &'static str,
    pub(super) tests: &'static [ArgumentTest],
}

impl ArgumentRule {
    pub(super) const fn new(says: &'static str, tests: &'static [ArgumentTest]) -> Self {
        Self { says, tests }
    }

    pub(super) fn holds(self, arguments: [u64; 6]) -> bool {
        self.tests.iter().all(|test| test.holds(arguments))
    }
}

/// `arguments[argument] & mask == value`.
///
/// The functions below that make one take 32 bits, though registers have 64. The kernel cuts every number tested here to 32 bits
/// or fewer before it looks at it, so a comparison of all 64 is one that a caller gets round with a bit above them
/// (CVE-2019-10063). Of a pointer it takes all 64, so there the mistake would be to compare fewer: see [`null`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArgumentTest {
    pub(super) argument: u8,
    pub(super) mask: u64,
    pub(super) value: u64,
    /// The other way round: it is not. Only of pointers, and so of all 64 bits.
    pub(super) differs: bool,
}

impl ArgumentTest {
    fn holds(self, arguments: [u64; 6]) -> bool {
        arguments
            .get(usize::from(self.argument))
            .is_some_and(|given| (given & self.mask == self.value) != self.differs)
    }
}

/// The argument, as the kernel reads it, is `value`.
pub(super) const fn is(argument: u8, value: u32) -> ArgumentTest {
    bits(argument, u32::MAX, value)
}

/// None of these bits is set.
pub(super) const fn without(argument: u8, bits: u32) -> ArgumentTest {
    self::bits(argument, bits, 0)
}

/// All of these bits are set.
pub(super) const fn with(argument: u8, bits: u32) -> ArgumentTest {
    self::bits(argument, bits, bits)
}

/// These bits of the argument are `value`.
pub(super) const fn bits(argument: u8, mask: u32, value: u32) -> ArgumentTest {
    // Without loss; `u64::from` is not for constants yet.
    ArgumentTest { argument, mask: mask as u64, value: value as u64, differs: false }
}

/// The argument is a pointer to nothing.
pub(super) const fn null(argument: u8) -> ArgumentTest {
    ArgumentTest { argument, mask: u64::MAX, value: 0, differs: false }
}

/// The argument is a pointer to something.
pub(super) const fn not_null(argument: u8) -> ArgumentTest {
    ArgumentTest { argument, mask: u64::MAX, value: 0, differs: true }
}

impl ProfileScope {
    pub(super) fn has(self, profile: SyscallProfile) -> bool {
        match self {
            Self::Every => true,
            Self::NotStrict(_) => profile != SyscallProfile::Strict,
            Self::OnlyStrict => profile == SyscallProfile::Strict,
        }
    }
}
