//! What was tried in a run: told as it happens, and kept, folded and bounded.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::attempt::{Action, Attempt, End, Verdict};

/// Most different attempts that are kept. A program can think of any number of names to ask for.
const MOST: usize = 1024;

/// Is told of every attempt as it happens.
pub trait Observer: Send + Sync {
    /// Called from the thread that serves the run, which waits meanwhile: return soon.
    ///
    /// A connection that is let through is told twice: when it begins, with [`Attempt::end`] `None`, and when it has ended.
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
        if let Some(observer) = observer {
            observer.tried(attempt);
        }
    }

    /// Tells the observer and keeps it.
    pub fn note(&self, attempt: Attempt) {
        self.begun(&attempt);
        let mut pages = self.pages();
        let is_lookup = attempt.action == Action::LookUp;
        let key = Key {
            action: attempt.action,
            name: attempt.name.clone(),
            address: attempt.address.filter(|_| !is_lookup),
            port: attempt.port,
            verdict: attempt.verdict.clone(),
            end: attempt.end.clone(),
            pid: attempt.process.as_ref().map(|process| process.pid),
        };
        if let Some(&place) = pages.index.get(&key) {
            if let Some(kept) = pages.kept.get_mut(place) {
                kept.count = kept.count.saturating_add(attempt.count);
                kept.sent = kept.sent.saturating_add(attempt.sent);
                kept.received = kept.received.saturating_add(attempt.received);
                kept.duration = kept.duration.saturating_add(attempt.duration);
            }
        } else if pages.kept.len() >= MOST {
            pages.untold = pages.untold.saturating_add(attempt.count);
        } else {
            let place = pages.kept.len();
            pages.index.insert(key, place);
            pages.kept.push(attempt);
        }
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
