//! System calls that the profile refused, as they were tried.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::PollFlags;
use serde::Serialize;

use crate::seccomp::{self, Judgement, Profile};
use crate::sys::seccomp::{Answer, Asked, answer, receive, wake_in_place};

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
    /// The error that the caller got; `None` where it was let pass, as `permissive` does.
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

/// Hears of refused calls and answers them. What it does not answer, because it is gone, fails all the same.
#[derive(Debug)]
pub(crate) struct Refusals {
    listener: Option<OwnedFd>,
    /// Whether there ever was a listener.
    pub(crate) hears: bool,
    profile: Profile,
    calls: BTreeMap<(i32, Option<i32>), RefusedCall>,
}

impl Refusals {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { listener: None, hears: false, profile, calls: BTreeMap::new() }
    }

    pub(crate) fn listen(&mut self, listener: OwnedFd) {
        wake_in_place(listener.as_fd());
        self.listener = Some(listener);
        self.hears = true;
    }

    /// What to wait on; `None` where nobody asks, or does any more.
    pub(crate) fn listener(&self) -> Option<&OwnedFd> {
        self.listener.as_ref()
    }

    /// Answers one call that waits, or finds that the listener has come to its end. Where nobody waits nothing is asked for:
    /// before Linux 6.11 that question is not answered even when all who could call are gone.
    pub(crate) fn serve(&mut self, events: PollFlags) {
        let Some(listener) = &self.listener else { return };
        let is_over = events.intersects(PollFlags::HUP | PollFlags::ERR);
        if !events.contains(PollFlags::IN) {
            if is_over {
                self.listener = None;
            }
            return;
        }
        match receive(listener.as_fd()) {
            Ok(asked) => {
                let (reply, call) = judge(self.profile, asked);
                // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
                let _ = answer(listener.as_fd(), asked, reply);
                self.count(call);
            }
            Err(_) if is_over => self.listener = None,
            Err(_) => {}
        }
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

fn judge(profile: Profile, asked: Asked) -> (Answer, RefusedCall) {
    let judgement = profile.judge(asked.number, asked.arguments);
    let (errno, reason) = match judgement {
        Ok(Judgement::Reported { reason, .. }) => (None, reason),
        Ok(Judgement::Refused { errno, reason, .. }) => (Some(errno), reason),
        // The filter asked, so it does not allow it; whoever is wrong, nothing is let through.
        Ok(Judgement::Allowed) | Err(_) => (Some(libc::EPERM), "the filter refused it"),
    };
    let name = seccomp::name(asked.number);
    let call = RefusedCall { name, number: asked.number, reason, errno, pid: asked.pid, count: 0 };
    (errno.map_or(Answer::GoOn, Answer::Fail), call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: i32, errno: Option<i32>) -> RefusedCall {
        RefusedCall { name: number.to_string(), number, reason: "", errno, pid: 1, count: 0 }
    }

    #[test]
    fn ever_new_numbers_are_counted_but_not_kept() {
        let mut refusals = Refusals::new(Profile::Default);
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

    #[test]
    fn a_listener_is_let_go_of_when_it_hangs_up_and_not_before() {
        let (listener, _end) = rustix::pipe::pipe().unwrap();
        let mut refusals = Refusals::new(Profile::Default);
        refusals.listen(listener);
        refusals.serve(PollFlags::empty());
        assert!(refusals.listener().is_some());
        refusals.serve(PollFlags::HUP);
        assert!(refusals.listener().is_none());
    }
}
