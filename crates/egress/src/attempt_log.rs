//! What was tried in a run: told as it happens, and kept, folded and bounded.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::attempt::{Attempt, AttemptAction, AttemptEnd, AttemptVerdict};

/// Most different attempts that are kept. A program can think of any number of names to ask for.
const MOST: usize = 1024;

/// Of those, the last are for what was let through: a thousand invented names do not push it out of the record.
const FOR_LET_THROUGH: usize = 256;

/// The last of either kind are kept without the process: a thousand processes do not push it out either.
const WITHOUT_PROCESS: usize = 128;

/// Is told every attempt as it happens.
pub trait AttemptObserver: Send + Sync {
    /// Called from a thread that serves the run, which waits meanwhile: return soon. That may be the thread which holds the time
    /// limit, so an observer that does not return keeps the run from being ended.
    ///
    /// A connection that is let through is told twice: when it begins, with [`Attempt::end`] `None`, and when it has ended.
    ///
    /// One that panics is told nothing more. The record is kept anyway.
    fn tried(&self, attempt: &Attempt);
}

/// Where attempts are recorded. Clones record to the same log.
#[derive(Clone)]
pub struct AttemptLog(Arc<Mutex<LogState>>);

#[derive(Default)]
struct LogState {
    observer: Option<Arc<dyn AttemptObserver>>,
    kept: Vec<Attempt>,
    index: HashMap<AttemptKey, usize>,
    unrecorded: u64,
}

/// What makes two attempts the same one, tried twice.
#[derive(PartialEq, Eq, Hash)]
struct AttemptKey {
    action: AttemptAction,
    name: Option<String>,
    /// Not of lookups: resolvers are tried in turn.
    address: Option<IpAddr>,
    port: u16,
    verdict: AttemptVerdict,
    end: Option<AttemptEnd>,
    pid: Option<u32>,
    /// A name can mean one address first and another one later.
    dialled: Option<IpAddr>,
}

impl AttemptKey {
    fn of(attempt: &Attempt) -> Self {
        let is_lookup = attempt.action == AttemptAction::LookUp;
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

impl LogState {
    /// Adds an attempt to one that is the same; gives the key back where there is none.
    fn fold(&mut self, key: AttemptKey, attempt: &Attempt) -> Option<AttemptKey> {
        let Some(kept) = self.index.get(&key).and_then(|&position| self.kept.get_mut(position)) else {
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
pub struct NetworkRecord {
    /// Every different attempt, in the order in which each was first tried, with sums of bytes and times.
    pub attempts: Vec<Attempt>,
    /// How many attempts were not kept because too many different ones came before them. The observer was told of them.
    pub unrecorded: u64,
}

impl AttemptLog {
    /// An empty one.
    #[must_use]
    pub fn new(observer: Option<Arc<dyn AttemptObserver>>) -> Self {
        Self(Arc::new(Mutex::new(LogState { observer, ..LogState::default() })))
    }

    /// Tells the observer that something has begun. It is kept when it has ended.
    pub fn report_begin(&self, attempt: &Attempt) {
        let observer = self.state().observer.clone();
        // It is the embedder's code, and the run must not end with it.
        if let Some(observer) = observer
            && catch_unwind(AssertUnwindSafe(|| observer.tried(attempt))).is_err()
        {
            self.state().observer = None;
        }
    }

    /// Tells the observer and keeps it.
    pub fn record(&self, mut attempt: Attempt) {
        self.report_begin(&attempt);
        let mut state = self.state();
        let is_let_through =
            attempt.action != AttemptAction::LookUp && !matches!(attempt.verdict, AttemptVerdict::Refused(_));
        let most = if is_let_through { MOST } else { MOST - FOR_LET_THROUGH };
        let Some(mut key) = state.fold(AttemptKey::of(&attempt), &attempt) else { return };
        if state.kept.len() >= most - WITHOUT_PROCESS {
            attempt.process = None;
            let Some(without) = state.fold(AttemptKey::of(&attempt), &attempt) else { return };
            key = without;
        }
        if state.kept.len() >= most {
            state.unrecorded = state.unrecorded.saturating_add(attempt.count);
            return;
        }
        let position = state.kept.len();
        state.index.insert(key, position);
        state.kept.push(attempt);
    }

    /// What there is, leaving an empty one.
    #[must_use]
    pub fn take(&self) -> NetworkRecord {
        let mut state = self.state();
        state.index.clear();
        NetworkRecord {
            attempts: std::mem::take(&mut state.kept),
            unrecorded: std::mem::take(&mut state.unrecorded),
        }
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for AttemptLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptLog").field("kept", &self.state().kept.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::attempt::{CallingProcess, RefusalReason};
    use skillsandbox_terms::Transport;

    fn refused(name: String) -> Attempt {
        let to = "192.0.2.53:53".parse().unwrap();
        Attempt::new(
            AttemptAction::LookUp,
            Some(name),
            to,
            None,
            AttemptVerdict::Refused(RefusalReason::NotGranted),
        )
    }

    fn allowed(pid: u32) -> Attempt {
        let to = "198.18.0.1:443".parse().unwrap();
        let (name, process) = (Some("api.weather.test".to_owned()), Some(CallingProcess::new(pid, None)));
        let verdict = AttemptVerdict::Allowed("api.weather.test".into());
        Attempt { sent: 1, ..Attempt::new(AttemptAction::Reach(Transport::Tcp), name, to, process, verdict) }
    }

    #[test]
    fn many_names_and_many_processes_do_not_push_out_what_was_let_through() {
        let log = AttemptLog::new(None);
        (0..3000).for_each(|number| log.record(refused(format!("x{number}.test"))));
        (0..3000).for_each(|pid| log.record(allowed(pid)));
        let record = log.take();
        assert!(record.attempts.len() <= MOST);
        let let_through =
            record.attempts.iter().filter(|one| matches!(one.verdict, AttemptVerdict::Allowed(_)));
        assert_eq!(let_through.map(|one| one.sent).sum::<u64>(), 3000, "every byte is on record");
        assert_eq!(record.unrecorded, 3000 - (MOST - FOR_LET_THROUGH) as u64);
    }

    #[test]
    fn two_addresses_of_a_name_are_two_attempts() {
        let log = AttemptLog::new(None);
        for address in ["192.0.2.1:443", "192.0.2.2:443", "192.0.2.1:443"] {
            log.record(Attempt { dialled: Some(address.parse().unwrap()), ..allowed(1) });
        }
        let counts: Vec<_> = log.take().attempts.iter().map(|one| one.count).collect();
        assert_eq!(counts, [2, 1]);
    }

    #[test]
    fn an_observer_that_panics_is_told_nothing_more_and_all_is_kept() {
        struct PanickingObserver(AtomicUsize);
        impl AttemptObserver for PanickingObserver {
            fn tried(&self, _: &Attempt) {
                self.0.fetch_add(1, Ordering::Relaxed);
                panic!("an observer's own mistake");
            }
        }
        let observer = Arc::new(PanickingObserver(AtomicUsize::new(0)));
        let log = AttemptLog::new(Some(Arc::clone(&observer) as Arc<dyn AttemptObserver>));
        log.record(allowed(1));
        log.record(allowed(2));
        assert_eq!(log.take().attempts.len(), 2);
        assert_eq!(observer.0.load(Ordering::Relaxed), 1);
    }
}
