//! What a process sets for itself.

use crate::seccomp::table::{
    ArgumentRule, CallGroup, CallList, CallSupervision, ListedCall, ProfileScope, is, without,
};

macro_rules! options {
    ($($name:ident = $number:literal),* $(,)?) => {
        &[$(ArgumentRule::new(stringify!($name), &[is(0, $number)])),*]
    };
}

pub(super) const SETTINGS: CallGroup = CallGroup {
    name: "settings of a process",
    reason: "names, death signals, dumpability, protections of its own memory. Not on the list: PR_SET_MM, which rewrites what \
             /proc says of the process; PR_SET_PTRACER, which lets others in; PR_SET_SECUREBITS; and what no ordinary \
             program sets",
    within: ProfileScope::Every,
    supervision: CallSupervision::None,
    calls: CallList {
        both: "",
        x86_64: "",
        more: &[
            ListedCall::both(
                "prctl",
                options! {
                    PR_SET_PDEATHSIG = 1, PR_GET_PDEATHSIG = 2, PR_GET_DUMPABLE = 3, PR_SET_DUMPABLE = 4,
                    PR_GET_KEEPCAPS = 7, PR_SET_KEEPCAPS = 8, PR_SET_NAME = 15, PR_GET_NAME = 16,
                    PR_GET_SECCOMP = 21, PR_SET_SECCOMP = 22, PR_CAPBSET_READ = 23, PR_CAPBSET_DROP = 24,
                    PR_GET_TSC = 25, PR_GET_SECUREBITS = 27, PR_SET_TIMERSLACK = 29, PR_GET_TIMERSLACK = 30,
                    PR_SET_CHILD_SUBREAPER = 36, PR_GET_CHILD_SUBREAPER = 37, PR_SET_NO_NEW_PRIVS = 38,
                    PR_GET_NO_NEW_PRIVS = 39, PR_GET_TID_ADDRESS = 40, PR_SET_THP_DISABLE = 41,
                    PR_GET_THP_DISABLE = 42, PR_CAP_AMBIENT = 47, PR_SVE_SET_VL = 50, PR_SVE_GET_VL = 51,
                    PR_GET_SPECULATION_CTRL = 52, PR_SET_SPECULATION_CTRL = 53, PR_PAC_RESET_KEYS = 54,
                    PR_SET_TAGGED_ADDR_CTRL = 55, PR_GET_TAGGED_ADDR_CTRL = 56, PR_PAC_SET_ENABLED_KEYS = 60,
                    PR_PAC_GET_ENABLED_KEYS = 61, PR_SME_SET_VL = 63, PR_SME_GET_VL = 64, PR_SET_MDWE = 65,
                    PR_GET_MDWE = 66, PR_GET_SHADOW_STACK_STATUS = 74, PR_SET_SHADOW_STACK_STATUS = 75,
                    PR_LOCK_SHADOW_STACK_STATUS = 76, PR_SET_VMA = 0x5356_4d41, PR_GET_AUXV = 0x4155_5856,
                },
            ),
            ListedCall::both(
                "personality",
                &[
                    ArgumentRule::new("0: plain Linux", &[is(0, 0)]),
                    ArgumentRule::new("0xffffffff: a question", &[is(0, u32::MAX)]),
                ],
            ),
        ],
    },
};

/// `SECCOMP_FILTER_FLAG_TSYNC`, `LOG`, `SPEC_ALLOW`, `TSYNC_ESRCH`.
const FLAGS: u32 = 1 | 2 | 4 | 16;

pub(super) const CONFINEMENT: CallGroup = CallGroup {
    name: "confining itself further",
    reason: "a program may confine its own parts, as browsers do: filters and rulesets only add up, and the strictest \
             decides. A filter with a listener of its own is refused: there is one place for a listener in a chain of filters, \
             and it is the observer's",
    within: ProfileScope::Every,
    supervision: CallSupervision::None,
    calls: CallList {
        both: "landlock_create_ruleset landlock_add_rule landlock_restrict_self",
        x86_64: "",
        more: &[ListedCall::both(
            "seccomp",
            &[
                ArgumentRule::new("SECCOMP_SET_MODE_STRICT", &[is(0, 0)]),
                ArgumentRule::new(
                    "SECCOMP_SET_MODE_FILTER without a listener",
                    &[is(0, 1), without(1, !FLAGS)],
                ),
                ArgumentRule::new("SECCOMP_GET_ACTION_AVAIL", &[is(0, 2)]),
                ArgumentRule::new("SECCOMP_GET_NOTIF_SIZES", &[is(0, 3)]),
            ],
        )],
    },
};

pub(super) const REGISTERS: CallGroup = CallGroup {
    name: "registers",
    reason: "arch_prctl sets registers of the calling thread, which C libraries do at every start; uprobe and uretprobe are made \
             by the kernel itself when somebody outside traces the program, and end a program that makes them",
    within: ProfileScope::Every,
    supervision: CallSupervision::None,
    calls: CallList {
        both: "",
        x86_64: "arch_prctl",
        more: &[ListedCall::newer_x86_64(335, "uretprobe"), ListedCall::newer_x86_64(336, "uprobe")],
    },
};
