//! What was tried in a run: told as it happens, and kept, folded and bounded.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::attempt::{Action, Attempt, End, Verdict};

/// Most different attempts that are kept. A program can think of any number of names to ask for.
const MOST: usize = 1024;

/// Of those, the last are for what was let through: whoever makes up a thousand names does not push it out of the record.
const FOR_LET_THROUGH: usize = 256;

/// The last of either kind are kept without the process: whoever starts a thousand of them does not either.
const WITHOUT_PROCESS: usize = 128;

/// Is told of every attempt as it happens.
pub trait Observer: Send + Sync {
    /// Called from a thread that serves the run, which waits meanwhile: return soon. That may be the thread which holds the time
    /// limit, so an observer that does not return keeps the run from being ended.
    ///
    /// A connection that is let through is told twice: when it begins, with [`Attempt::end`] `None`, and when it has ended.
    ///
    /// One that panics is told nothing more. The record is kept all the same.
    fn tried(&self, attempt: &Attempt);
}

/// Where attempts are written down. Clones write to the same one.
#[derive(Clone)]
pub struct Ledger(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    observer: Option<Arc<dyn Observer>>,
    kept: Vec<Attempt>,
    index: HashMap<Key, usize>,
    untold: u64,
}

/// What makes two attempts the same one, tried twice.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    action: Action,
    name: Option<String>,
    /// Not of lookups: resolvers are tried in turn.
    address: Option<IpAddr>,
    port: u16,
    verdict: Verdict,
    end: Option<End>,
    pid: Option<u32>,
    /// A name can mean one address first and another one later.
    dialled: Option<IpAddr>,
}

impl Key {
    fn of(attempt: &Attempt) -> Self {
        let is_lookup = attempt.action == Action::LookUp;
        Self {
            action: attempt.action,
            name: attempt.name.clone(),
            address: attempt.address.filter(|_| !is_lookup),
            port: attempt.port,
            verdict: attempt.verdict.clone(),
            end: attempt.end.clone(),
            pid: attempt.process.as_ref().map(|process| process.pid),
            dialled: attempt.dialled.map(|dialled| dialled.ip()),
        }
    }
}

impl Pages {
    /// Adds an attempt to one that is the same; gives the key back where there is none.
    fn fold(&mut self, key: Key, attempt: &Attempt) -> Option<Key> {
        let Some(kept) = self.index.get(&key).and_then(|&place| self.kept.get_mut(place)) else {
            return Some(key);
        };
        kept.count = kept.count.saturating_add(attempt.count);
        kept.sent = kept.sent.saturating_add(attempt.sent);
        kept.received = kept.received.saturating_add(attempt.received);
        kept.duration = kept.duration.saturating_add(attempt.duration);
        None
    }
}

/// What was tried in a run.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Record {
    /// Every different attempt, in the order in which each was first tried, with sums of bytes and times.
    pub attempts: Vec<Attempt>,
    /// How many attempts were not kept because too many different ones came before them. The observer was told of them.
    pub untold: u64,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new(observer: Option<Arc<dyn Observer>>) -> Self {
        Self(Arc::new(Mutex::new(Pages { observer, ..Pages::default() })))
    }

    /// Tells the observer that something has begun. It is kept when it has ended.
    pub fn begun(&self, attempt: &Attempt) {
        let observer = self.pages().observer.clone();
        // It is somebody else's code, and the run must not end with it.
        if let Some(observer) = observer
            && catch_unwind(AssertUnwindSafe(|| observer.tried(attempt))).is_err()
        {
            self.pages().observer = None;
        }
    }

    /// Tells the observer and keeps it.
    pub fn note(&self, mut attempt: Attempt) {
        self.begun(&attempt);
        let mut pages = self.pages();
        let is_let_through =
            attempt.action != Action::LookUp && !matches!(attempt.verdict, Verdict::Refused(_));
        let most = if is_let_through { MOST } else { MOST - FOR_LET_THROUGH };
        let Some(mut key) = pages.fold(Key::of(&attempt), &attempt) else { return };
        if pages.kept.len() >= most - WITHOUT_PROCESS {
            attempt.process = None;
            let Some(without) = pages.fold(Key::of(&attempt), &attempt) else { return };
            key = without;
        }
        if pages.kept.len() >= most {
            pages.untold = pages.untold.saturating_add(attempt.count);
            return;
        }
        let place = pages.kept.len();
        pages.index.insert(key, place);
        pages.kept.push(attempt);
    }

    /// What there is, leaving an empty one.
    #[must_use]
    pub fn take(&self) -> Record {
        let mut pages = self.pages();
        pages.index.clear();
        Record { attempts: std::mem::take(&mut pages.kept), untold: std::mem::take(&mut pages.untold) }
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("kept", &self.pages().kept.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::attempt::{Process, Reason};
    use crate::rule::Transport;

    fn refused(name: String) -> Attempt {
        let to = "192.0.2.53:53".parse().unwrap();
        Attempt::new(Action::LookUp, Some(name), to, None, Verdict::Refused(Reason::NotGranted))
    }

    fn allowed(pid: u32) -> Attempt {
        let to = "198.18.0.1:443".parse().unwrap();
        let (name, process) = (Some("api.weather.test".to_owned()), Some(Process::new(pid, None)));
        let verdict = Verdict::Allowed("api.weather.test".into());
        Attempt { sent: 1, ..Attempt::new(Action::Reach(Transport::Tcp), name, to, process, verdict) }
    }

    #[test]
    fn many_names_and_many_processes_do_not_push_out_what_was_let_through() {
        let ledger = Ledger::new(None);
        (0..3000).for_each(|number| ledger.note(refused(format!("x{number}.test"))));
        (0..3000).for_each(|pid| ledger.note(allowed(pid)));
        let record = ledger.take();
        assert!(record.attempts.len() <= MOST);
        let let_through = record.attempts.iter().filter(|one| matches!(one.verdict, Verdict::Allowed(_)));
        assert_eq!(let_through.map(|one| one.sent).sum::<u64>(), 3000, "every byte is on record");
        assert_eq!(record.untold, 3000 - (MOST - FOR_LET_THROUGH) as u64);
    }

    #[test]
    fn two_addresses_of_a_name_are_two_attempts() {
        let ledger = Ledger::new(None);
        for address in ["192.0.2.1:443", "192.0.2.2:443", "192.0.2.1:443"] {
            ledger.note(Attempt { dialled: Some(address.parse().unwrap()), ..allowed(1) });
        }
        let counts: Vec<_> = ledger.take().attempts.iter().map(|one| one.count).collect();
        assert_eq!(counts, [2, 1]);
    }

    #[test]
    fn an_observer_that_panics_is_told_nothing_more_and_all_is_kept() {
        struct Panics(AtomicUsize);
        impl Observer for Panics {
            fn tried(&self, _: &Attempt) {
                self.0.fetch_add(1, Ordering::Relaxed);
                panic!("an observer's own mistake");
            }
        }
        let observer = Arc::new(Panics(AtomicUsize::new(0)));
        let ledger = Ledger::new(Some(Arc::clone(&observer) as Arc<dyn Observer>));
        ledger.note(allowed(1));
        ledger.note(allowed(2));
        assert_eq!(ledger.take().attempts.len(), 2);
        assert_eq!(observer.0.load(Ordering::Relaxed), 1);
    }
}
