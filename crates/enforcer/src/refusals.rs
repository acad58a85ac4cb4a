//! System calls that the profile refused, as they were tried.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, OwnedFd};

use serde::Serialize;

use crate::seccomp::{self, Judgement, Profile};
use crate::sys::seccomp::{Answer, Asked, answer, receive, wake_in_place};

/// A system call that the profile does not have, and that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RefusedCall {
    /// Its name, or its number where it has no name here.
    pub name: String,
    /// Its number.
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

/// Hears of refused calls and answers them. What it does not answer, because it is gone, fails all the same.
#[derive(Debug)]
pub(crate) struct Refusals {
    listener: Option<OwnedFd>,
    profile: Profile,
    calls: BTreeMap<(i32, Option<i32>), RefusedCall>,
}

impl Refusals {
    pub(crate) fn new(profile: Profile) -> Self {
        Self { listener: None, profile, calls: BTreeMap::new() }
    }

    pub(crate) fn listen(&mut self, listener: OwnedFd) {
        wake_in_place(listener.as_fd());
        self.listener = Some(listener);
    }

    /// What to wait on; `None` where nobody asks, or does any more.
    pub(crate) fn listener(&self) -> Option<&OwnedFd> {
        self.listener.as_ref()
    }

    /// Answers one call that waits, or finds that the listener has come to its end.
    pub(crate) fn serve(&mut self, is_over: bool) {
        let Some(listener) = &self.listener else { return };
        match receive(listener.as_fd()) {
            Ok(asked) => {
                let (reply, call) = judge(self.profile, asked);
                // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
                let _ = answer(listener.as_fd(), asked, reply);
                let entry = self.calls.entry((asked.number, call.errno)).or_insert(call);
                entry.count += 1;
            }
            Err(_) if is_over => self.listener = None,
            Err(_) => {}
        }
    }

    /// All of them, by number; `None` where nobody could hear of them.
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
