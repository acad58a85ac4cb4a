//! Hears of calls that the filter asks about, and answers each: what is refused, and what is observed.

use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::PollFlags;

use crate::destinations::Destinations;
use crate::refusals::Refusals;
use crate::seccomp::Profile;
use crate::sys::seccomp::{answer, receive, wake_in_place};

/// The listener of a run's filter. What it does not answer, because it is gone, fails all the same.
#[derive(Debug)]
pub(crate) struct Listener {
    descriptor: Option<OwnedFd>,
    /// Whether there ever was one.
    pub(crate) hears: bool,
    profile: Profile,
    pub(crate) refusals: Refusals,
    pub(crate) destinations: Destinations,
}

impl Listener {
    pub(crate) fn new(profile: Profile, destinations: Destinations) -> Self {
        Self { descriptor: None, hears: false, profile, refusals: Refusals::default(), destinations }
    }

    pub(crate) fn listen(&mut self, descriptor: OwnedFd) {
        wake_in_place(descriptor.as_fd());
        self.descriptor = Some(descriptor);
        self.hears = true;
    }

    /// What to wait on; `None` where nobody asks, or does any more.
    pub(crate) fn descriptor(&self) -> Option<&OwnedFd> {
        self.descriptor.as_ref()
    }

    /// Answers one call that waits, or finds that the listener has come to its end. Where nobody waits nothing is asked for:
    /// before Linux 6.11 that question is not answered even when all who could call are gone.
    pub(crate) fn serve(&mut self, events: PollFlags) {
        let Some(descriptor) = &self.descriptor else { return };
        let is_over = events.intersects(PollFlags::HUP | PollFlags::ERR);
        if !events.contains(PollFlags::IN) {
            if is_over {
                self.descriptor = None;
            }
            return;
        }
        match receive(descriptor.as_fd()) {
            Ok(asked) => {
                let reply = if self.profile.observes(asked.number, asked.arguments) {
                    self.destinations.see(descriptor.as_fd(), asked)
                } else {
                    self.refusals.judge(asked, &self.profile.judge(asked.number, asked.arguments))
                };
                // A caller that was killed in the meantime needs no answer; another failure leaves it waiting for its end.
                let _ = answer(descriptor.as_fd(), asked, reply);
                self.destinations.tell();
            }
            Err(_) if is_over => self.descriptor = None,
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_let_go_of_when_it_hangs_up_and_not_before() {
        let (descriptor, _end) = rustix::pipe::pipe().unwrap();
        let mut listener = Listener::new(Profile::Default, Destinations::new(None));
        listener.listen(descriptor);
        listener.serve(PollFlags::empty());
        assert!(listener.descriptor().is_some());
        listener.serve(PollFlags::HUP);
        assert!(listener.descriptor().is_none());
    }
}
