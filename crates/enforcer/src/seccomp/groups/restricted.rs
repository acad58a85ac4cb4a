//! What a run may not call though its profile has it, because of what else its plan asks for.

use nix::errno::Errno;

use crate::seccomp::FilterRestrictions;
use crate::seccomp::table::{CallList, DenialAnswer, DeniedGroup, RestrictedGroup, RestrictionCause};

/// Whole calls only: a call that is here is refused whatever its arguments are, in every profile, since no other layer holds what it would
/// give.
pub(in crate::seccomp) const RESTRICTED: &[RestrictedGroup] = &[
    RestrictedGroup {
        cause: RestrictionCause::NamedPrograms,
        denied: DeniedGroup {
            name: "files in memory",
            reason: "where only named programs may be executed: such a file lies on no mount, so that neither Landlock nor a mount \
                     without execution keeps it from being executed, or mapped by a loader",
            answer: DenialAnswer::OnlyLayer(Errno::ENOSYS),
            calls: CallList { both: "memfd_create", x86_64: "", more: &[] },
        },
    },
    RestrictedGroup {
        cause: RestrictionCause::UncountedMemory,
        denied: DeniedGroup {
            name: "System V objects",
            reason: "where no control group counts memory: segments, queues and semaphores that nobody holds are in the kernel's memory, \
                     gigabytes of them, and no look at the processes finds them. POSIX shared memory lies in a file system with a size, \
                     POSIX queues are bounded by RLIMIT_MSGQUEUE",
            answer: DenialAnswer::OnlyLayer(Errno::ENOSYS),
            calls: CallList { both: "shmget semget msgget", x86_64: "", more: &[] },
        },
    },
];

/// Those of them that count for a run.
pub(in crate::seccomp) fn restricted(
    restrictions: FilterRestrictions,
) -> impl Iterator<Item = &'static DeniedGroup> + Clone {
    RESTRICTED.iter().filter(move |group| counts(group, restrictions)).map(|group| &group.denied)
}

/// Whether one of them counts for a run.
pub(in crate::seccomp) fn counts(group: &RestrictedGroup, restrictions: FilterRestrictions) -> bool {
    match group.cause {
        RestrictionCause::NamedPrograms => restrictions.named_programs,
        RestrictionCause::UncountedMemory => restrictions.uncounted_memory,
    }
}
