//! System calls that the profile refused.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::seccomp::{self, CompileError, SyscallVerdict};
use crate::sys::seccomp::{Notification, NotifyReply};

/// A system call that the profile does not have, and that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusedCall {
    /// Its name, or its number where it has no name here; `others` for what was tried after a thousand different ones.
    pub name: String,
    /// Its number; -1 for `others`.
    pub number: i32,
    /// Why the profile does not have it.
    pub reason: &'static str,
    /// The error that the caller got; `None` where the call was let through, as `permissive` does.
    pub errno: Option<i32>,
    /// The first thread that tried, by its number on the host.
    pub pid: u32,
    /// How often it was tried, with this answer.
    pub count: u64,
}

/// Most kinds of refused calls that are kept apart. The kernel has a few hundred calls; the other two billion numbers are only
/// good for filling the launching program's memory.
const MOST: usize = 1024;

/// What stands for the number of all calls beyond [`MOST`].
const OTHERS: i32 = -1;

/// The refused calls of a run.
#[derive(Debug, Default)]
pub(crate) struct RefusalLog {
    calls: BTreeMap<(i32, Option<i32>), RefusedCall>,
}

impl RefusalLog {
    /// Counts a call that the filter asked about, and returns what to answer.
    pub(crate) fn answer(
        &mut self,
        call: Notification,
        judgement: &Result<SyscallVerdict, CompileError>,
    ) -> (NotifyReply, RefusedCall) {
        let (errno, reason) = match judgement {
            Ok(SyscallVerdict::Reported { reason, .. }) => (None, *reason),
            Ok(SyscallVerdict::Refused { errno, reason, .. }) => (Some(*errno), *reason),
            // The filter asked, so it does not allow it; nothing is let through, wherever the mistake is.
            Ok(SyscallVerdict::Allowed | SyscallVerdict::Observed) | Err(_) => {
                (Some(libc::EPERM), "the filter refused it")
            }
        };
        let name = seccomp::call_name(call.number);
        let refused = RefusedCall { name, number: call.number, reason, errno, pid: call.pid, count: 0 };
        self.count(refused.clone());
        (errno.map_or(NotifyReply::Continue, NotifyReply::Fail), RefusedCall { count: 1, ..refused })
    }

    fn count(&mut self, mut call: RefusedCall) {
        let key = (call.number, call.errno);
        let is_new = !self.calls.contains_key(&key);
        if is_new && self.calls.len() >= MOST {
            call.number = OTHERS;
            "others".clone_into(&mut call.name);
            call.reason = "too many different calls were tried to name them all";
        }
        let entry = self.calls.entry((call.number, call.errno)).or_insert(call);
        entry.count = entry.count.saturating_add(1);
    }

    /// All of them, by number.
    pub(crate) fn into_calls(self) -> Vec<RefusedCall> {
        self.calls.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: i32, errno: Option<i32>) -> RefusedCall {
        RefusedCall { name: number.to_string(), number, reason: "", errno, pid: 1, count: 0 }
    }

    #[test]
    fn ever_new_numbers_are_counted_but_not_kept() {
        let mut refusals = RefusalLog::default();
        for number in 0..5000 {
            refusals.count(call(number, Some(1)));
            refusals.count(call(number, Some(38)));
        }
        refusals.count(call(0, Some(1)));
        let calls = refusals.into_calls();
        assert!(calls.len() <= MOST + 3, "{}", calls.len());
        assert_eq!(calls.iter().map(|call| call.count).sum::<u64>(), 10_001, "none is lost");
        assert!(
            calls.iter().any(|call| call.name == "0" && call.count == 2),
            "what came first stays by its name"
        );
        assert!(calls.iter().any(|call| call.name == "others" && call.errno == Some(38)));
    }
}
