//! Processes, threads, signals, and who and where a process is.

use crate::seccomp::table::{
    ArgumentRule, CallGroup, CallList, ListedCall, ProfileScope, bits, is, null, with, without,
};

pub(super) const PROGRAMS: CallGroup = CallGroup {
    name: "programs",
    reason: "starting programs in the place of the own one, waiting for children, ending. `strict` has execve too: it makes no \
             new process, and the skill itself is started by it after the filter is in place",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "execve execveat exit exit_group wait4 waitid pidfd_open set_tid_address \
               getpid getppid gettid getpgid setpgid getsid setsid",
        x86_64: "getpgrp",
        more: &[],
    },
};

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID` and `NEWNET`.
///
/// `CLONE_NEWTIME` (0x80) is not among them: in clone(2) the lowest byte is the signal a parent gets, and the kernel takes no
/// flag from it. Only clone3 and unshare can ask for a time namespace, and both are refused.
const NAMESPACES: u32 =
    0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
const CLONE_THREAD: u32 = 0x0001_0000;

pub(super) const NEW_PROCESSES: CallGroup = CallGroup {
    name: "new processes",
    reason: "processes and threads, but no namespaces: in a user namespace of its own a process has every capability, and with \
             them most of the kernel's code is in reach",
    within: ProfileScope::NotStrict("strict has threads, and no further process"),
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "fork vfork",
        more: &[ListedCall::both(
            "clone",
            &[ArgumentRule::new("without a flag for a namespace", &[without(0, NAMESPACES)])],
        )],
    },
};

pub(super) const THREADS: CallGroup = CallGroup {
    name: "threads",
    reason: "threads of the one process there is",
    within: ProfileScope::OnlyStrict,
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both(
            "clone",
            &[ArgumentRule::new(
                "with CLONE_THREAD, and without a flag for a namespace",
                &[bits(0, NAMESPACES | CLONE_THREAD, CLONE_THREAD)],
            )],
        )],
    },
};

pub(super) const OWN_SIGNALS: CallGroup = CallGroup {
    name: "handling signals",
    reason: "how a process takes signals",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "rt_sigaction rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack \
               restart_syscall",
        x86_64: "",
        more: &[],
    },
};

pub(super) const SIGNALS: CallGroup = CallGroup {
    name: "sending signals",
    reason: "to processes of the same sandbox: its pid namespace has no others",
    within: ProfileScope::NotStrict("strict sends signals only to itself"),
    observed: false,
    calls: CallList {
        both: "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
        x86_64: "",
        more: &[],
    },
};

/// The number the skill has in its pid namespace: 1 is the init that reaps, and 2 the first process it starts.
const ITSELF: u32 = 2;

pub(super) const SIGNALS_STRICT: CallGroup = CallGroup {
    name: "signals to itself",
    reason: "raise and abort. A filter does not know who calls, but the skill is always process 2 of its pid namespace, and has \
             no other process. tkill, which musl uses, reaches only the main thread, because it takes no process",
    within: ProfileScope::OnlyStrict,
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[
            ListedCall::both("kill", TO_ITSELF),
            ListedCall::both("tkill", TO_ITSELF),
            ListedCall::both("tgkill", TO_ITSELF),
            ListedCall::both("rt_sigqueueinfo", TO_ITSELF),
            ListedCall::both("rt_tgsigqueueinfo", TO_ITSELF),
        ],
    },
};

const TO_ITSELF: &[ArgumentRule] = &[ArgumentRule::new("process 2", &[is(0, ITSELF)])];

pub(super) const LIMITS: CallGroup = CallGroup {
    name: "limits",
    reason: "limits can be lowered, never raised above the hard ones that the sandbox has set; the one on core dumps stays",
    within: ProfileScope::NotStrict(
        "strict has prlimit64 for itself: a CPU limit of 0 is a signal to another",
    ),
    observed: false,
    calls: CallList { both: "", x86_64: "", more: &[ListedCall::both("prlimit64", NOT_OF_CORES)] },
};

/// `RLIMIT_CORE` (asm-generic/resource.h).
pub(super) const RLIMIT_CORE: u32 = 4;

/// Any limit but the one on core dumps, which may only be asked for: it differs from that in one of the four bits that a limit's
/// number has.
const NOT_OF_CORES: &[ArgumentRule] = &[
    ArgumentRule::new("a question", &[null(2)]),
    ArgumentRule::new("an odd limit", &[with(1, 1)]),
    ArgumentRule::new("a limit with bit 1", &[with(1, 2)]),
    ArgumentRule::new("a limit without bit 2", &[without(1, RLIMIT_CORE)]),
    ArgumentRule::new("a limit with bit 3", &[with(1, 8)]),
];

/// The same of one process.
macro_rules! not_of_cores {
    ($says:literal, $process:expr) => {
        [
            ArgumentRule::new(concat!($says, ", a question"), &[is(0, $process), null(2)]),
            ArgumentRule::new(concat!($says, ", an odd limit"), &[is(0, $process), with(1, 1)]),
            ArgumentRule::new(concat!($says, ", a limit with bit 1"), &[is(0, $process), with(1, 2)]),
            ArgumentRule::new(
                concat!($says, ", a limit without bit 2"),
                &[is(0, $process), without(1, RLIMIT_CORE)],
            ),
            ArgumentRule::new(concat!($says, ", a limit with bit 3"), &[is(0, $process), with(1, 8)]),
        ]
    };
}

const ITS_OWN: [ArgumentRule; 5] = not_of_cores!("itself, as 0", 0);
const ITS_OWN_BY_NUMBER: [ArgumentRule; 5] = not_of_cores!("process 2", ITSELF);

pub(super) const LIMITS_STRICT: CallGroup = CallGroup {
    name: "own limits",
    reason: "limits of the process itself",
    within: ProfileScope::OnlyStrict,
    observed: false,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[ListedCall::both("prlimit64", &ITS_OWN), ListedCall::both("prlimit64", &ITS_OWN_BY_NUMBER)],
    },
};

pub(super) const IDENTITY: CallGroup = CallGroup {
    name: "identity",
    reason: "users, groups and capabilities: without capabilities they can only be read or given up",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "getuid geteuid getgid getegid getresuid getresgid getgroups capget capset \
               setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups",
        x86_64: "",
        more: &[],
    },
};

pub(super) const SYSTEM: CallGroup = CallGroup {
    name: "the machine",
    reason: "what the machine is and how busy it is, random numbers, and which processor to run on",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "uname sysinfo getrandom getrusage getcpu getrlimit getpriority setpriority ioprio_get ioprio_set \
               sched_yield sched_getaffinity sched_setaffinity sched_getparam sched_setparam sched_getscheduler \
               sched_setscheduler sched_getattr sched_setattr sched_get_priority_max sched_get_priority_min \
               sched_rr_get_interval",
        x86_64: "",
        more: &[ListedCall::both(
            "setrlimit",
            &[
                ArgumentRule::new("an odd limit", &[with(0, 1)]),
                ArgumentRule::new("a limit with bit 1", &[with(0, 2)]),
                ArgumentRule::new("a limit without bit 2", &[without(0, RLIMIT_CORE)]),
                ArgumentRule::new("a limit with bit 3", &[with(0, 8)]),
            ],
        )],
    },
};
