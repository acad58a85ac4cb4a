//! Memory, what threads and processes share, and time.

use crate::seccomp::table::{ArgumentRule, CallGroup, CallList, ListedCall, ProfileScope, without};

/// Pages that no limit on memory counts (asm-generic/hugetlb_encode.h, linux/shm.h).
pub(super) const MAP_HUGETLB: u32 = 0x4_0000;
pub(super) const SHM_HUGETLB: u32 = 0o4000;

pub(super) const MEMORY: CallGroup = CallGroup {
    name: "memory",
    reason: "a process's own memory, and the locks its threads wait for",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "brk munmap mremap mprotect madvise msync mincore mlock mlock2 mlockall munlock munlockall \
               membarrier pkey_alloc pkey_free pkey_mprotect \
               futex set_robust_list get_robust_list rseq",
        x86_64: "",
        more: &[
            ListedCall::both("mmap", &[ArgumentRule::new("without MAP_HUGETLB", &[without(3, MAP_HUGETLB)])]),
            ListedCall::newer(449, "futex_waitv", &[]),
            ListedCall::newer(453, "map_shadow_stack", &[]),
            ListedCall::newer(454, "futex_wake", &[]),
            ListedCall::newer(455, "futex_wait", &[]),
            ListedCall::newer(456, "futex_requeue", &[]),
            ListedCall::newer(462, "mseal", &[]),
        ],
    },
};

pub(super) const SHARING: CallGroup = CallGroup {
    name: "shared memory and queues",
    reason: "databases and multiprocessing share memory so; the IPC namespace is the sandbox's own",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl \
               mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
        x86_64: "",
        more: &[ListedCall::both(
            "shmget",
            &[ArgumentRule::new("without SHM_HUGETLB", &[without(2, SHM_HUGETLB)])],
        )],
    },
};

pub(super) const TIME: CallGroup = CallGroup {
    name: "time",
    reason: "reading clocks, sleeping and timers; setting clocks is refused",
    within: ProfileScope::Every,
    observed: false,
    calls: CallList {
        both: "clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday times \
               getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete \
               timerfd_create timerfd_settime timerfd_gettime",
        x86_64: "time alarm",
        more: &[],
    },
};
