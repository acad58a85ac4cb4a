//! Folding: what is done again and again is written down twice.
//!
//! The first time at once, with its place in the trace: nothing that was tried waits in memory for a run to end well. The
//! further times are counted, and written as one event that `repeats` the first, when the run ends or room is needed.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use crate::format::event::{Event, EventKind, EventVerdict};
use skillsandbox_terms::FileOperation;

/// How many different things are remembered at a time.
const MAX_KINDS: usize = 2048;
/// How many bytes they take, about, at most.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// What of a run is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FoldMode {
    /// Nothing: each event is written by itself.
    Nothing,
    /// What the same program does again: the same kind of thing to the same object, with the same verdict. Output, connections that
    /// were let through, and what happens once in a run are never folded.
    Repeats,
    /// That, and reads of the system's own libraries and data: one event a folder says how many.
    #[default]
    RepeatsAndSystem,
}

/// Folders of the system whose files every program reads and nobody's secrets lie in.
const SYSTEM: &[&str] = &[
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/local/lib",
    "/usr/share",
];

/// What to do with an event.
#[derive(Debug, PartialEq)]
pub(crate) enum FoldStep {
    /// Write it, and tell [`EventFolder::wrote`] its place.
    Write(FoldKey),
    /// Write it; it is of no kind that repeats.
    Pass,
    /// It is counted.
    Counted,
}

/// What two events have in common of which one repeats the other.
pub(crate) type FoldKey = [u8; 32];

#[derive(Debug)]
struct FoldEntry {
    /// In which order they came.
    order: u64,
    /// The event to write, of which the first is the `count`th.
    event: Event,
    /// Where the first one was written; `None` for what is only summed up.
    first: Option<u64>,
    /// How many are not yet written.
    pending: u64,
}

/// Remembers what was written, and counts what comes again.
#[derive(Debug)]
pub(crate) struct EventFolder {
    fold: FoldMode,
    kinds: HashMap<FoldKey, FoldEntry>,
    /// The keys of what is summed up by folder of the system. There are few of these.
    system: HashMap<(&'static str, EventVerdict), FoldKey>,
    bytes: usize,
    order: u64,
}

impl EventFolder {
    pub(crate) fn new(fold: FoldMode) -> Self {
        Self { fold, kinds: HashMap::new(), system: HashMap::new(), bytes: 0, order: 0 }
    }

    /// Whether to write an event, whose times are filled in.
    pub(crate) fn take(&mut self, event: &Event) -> FoldStep {
        if self.fold == FoldMode::Nothing || event.repeats.is_some() {
            return FoldStep::Pass;
        }
        if let Some((folder, verdict)) = self.system_folder(event) {
            self.count_in_system(folder, verdict, event);
            return FoldStep::Counted;
        }
        if !can_repeat(event) {
            return FoldStep::Pass;
        }
        let key = key(event);
        match self.kinds.get_mut(&key) {
            Some(entry) => {
                entry.count(event);
                FoldStep::Counted
            }
            None => FoldStep::Write(key),
        }
    }

    /// An event was written: from now on it is counted.
    pub(crate) fn wrote(&mut self, key: FoldKey, mut event: Event) {
        event.count = 0;
        let place = event.sequence;
        self.remember(key, event, Some(place));
    }

    /// Whether it is time to [`EventFolder::drain`].
    pub(crate) fn is_full(&self) -> bool {
        self.kinds.len() >= MAX_KINDS || self.bytes >= MAX_BYTES
    }

    /// Everything that is counted and not written, in the order in which it came first; and forgets it.
    pub(crate) fn drain(&mut self) -> Vec<Event> {
        self.bytes = 0;
        let mut kinds: Vec<FoldEntry> = self.kinds.drain().map(|(_, kind)| kind).collect();
        kinds.retain(|kind| kind.pending > 0);
        kinds.sort_by_key(|kind| kind.order);
        let events = kinds.into_iter().map(|kind| {
            let mut event = kind.event;
            event.count = kind.pending;
            event.repeats = kind.first;
            if event.count == 1 {
                event.last_elapsed_us = None;
            }
            event
        });
        events.collect()
    }

    fn remember(&mut self, key: FoldKey, mut event: Event, first: Option<u64>) {
        self.bytes += size(&mut event);
        self.order += 1;
        event.last_elapsed_us = Some(event.last_elapsed_us.unwrap_or(event.elapsed_us));
        self.kinds.insert(key, FoldEntry { order: self.order, pending: event.count, event, first });
    }

    /// One more read in a folder of the system: who read what there is not kept.
    fn count_in_system(&mut self, folder: &'static str, verdict: EventVerdict, event: &Event) {
        let known = self.system.get(&(folder, verdict)).copied();
        if let Some(entry) = known.and_then(|key| self.kinds.get_mut(&key)) {
            return entry.count(event);
        }
        let path = format!("{folder}/*");
        let mut summed = Event::new(EventKind::File { operation: FileOperation::Read, path, to: None });
        summed.verdict = Some(verdict);
        (summed.sequence, summed.time, summed.elapsed_us) = (event.sequence, event.time, event.elapsed_us);
        (summed.count, summed.last_elapsed_us) = (event.count, event.last_elapsed_us);
        let key = *self.system.entry((folder, verdict)).or_insert_with(|| key(&summed));
        self.remember(key, summed, None);
    }

    fn system_folder(&self, event: &Event) -> Option<(&'static str, EventVerdict)> {
        // A name of the system that leads elsewhere is none.
        if self.fold != FoldMode::RepeatsAndSystem || event.resolved_path.is_some() {
            return None;
        }
        match (&event.kind, event.verdict) {
            (
                EventKind::File { operation: FileOperation::Read, path, to: None },
                Some(verdict @ (EventVerdict::Allowed | EventVerdict::Failed)),
            ) => Some((system_folder(path)?, verdict)),
            _ => None,
        }
    }
}

impl FoldEntry {
    /// One more of them, or as many as that event stands for.
    fn count(&mut self, event: &Event) {
        if self.pending == 0 {
            self.event = event.clone();
        }
        self.pending = self.pending.saturating_add(event.count);
        let end = event.last_elapsed_us.unwrap_or(event.elapsed_us);
        let last = self.event.last_elapsed_us.unwrap_or(self.event.elapsed_us);
        self.event.last_elapsed_us = Some(last.max(end));
    }
}

/// The folder of the system that a path lies in, by its name: no way round by `..`, and nothing hidden.
pub(crate) fn system_folder(path: &str) -> Option<&'static str> {
    let folder =
        SYSTEM.iter().find(|folder| path.strip_prefix(**folder).is_some_and(|rest| rest.starts_with('/')))?;
    let plain = path.split('/').skip(1).all(|name| !name.is_empty() && !name.starts_with('.'));
    plain.then_some(folder)
}

fn can_repeat(event: &Event) -> bool {
    match &event.kind {
        EventKind::File { .. }
        | EventKind::Exec { .. }
        | EventKind::DnsQuery { .. }
        | EventKind::SyscallRefused { .. }
        | EventKind::ResourceLimitHit { .. }
        | EventKind::Lost { .. } => true,
        EventKind::NetConnect(connection) => {
            event.verdict != Some(EventVerdict::Allowed) && connection.sent == 0 && connection.received == 0
        }
        EventKind::RunStarted { .. }
        | EventKind::Policy { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::RunEnded { .. } => false,
    }
}

/// Kind, object, verdict, rule and program. Each part has its length before it, so that no two different ones look alike.
fn key(event: &Event) -> FoldKey {
    let mut hash = Sha256::new();
    let mut part = |text: Option<&str>| {
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        hash.update(length.to_le_bytes());
        hash.update(text.unwrap_or_default());
    };
    match &event.kind {
        EventKind::File { operation, path, to } => {
            part(Some("file"));
            part(Some(operation.as_str()));
            part(Some(path));
            part(to.as_deref());
        }
        EventKind::Exec { path, argv } => {
            part(Some("exec"));
            part(Some(path));
            for argument in argv {
                part(Some(argument));
            }
        }
        EventKind::DnsQuery { name, server } => {
            part(Some("dns"));
            part(name.as_deref());
            part(server.as_deref());
        }
        EventKind::NetConnect(to) => {
            part(Some("net"));
            for text in [&to.name, &to.address, &to.server_name, &to.dialled, &to.reason, &to.detail] {
                part(text.as_deref());
            }
            part(Some(&format!("{}/{}", to.port, to.transport)));
        }
        EventKind::SyscallRefused { name, reason, errno } => {
            part(Some("syscall"));
            part(Some(name));
            part(Some(reason));
            part(Some(&format!("{errno:?}")));
        }
        EventKind::ResourceLimitHit { limit, mechanism } => {
            part(Some("limit"));
            part(Some(limit));
            part(Some(mechanism));
        }
        EventKind::Lost { at } => {
            part(Some("lost"));
            part(Some(at));
        }
        // These are never folded.
        EventKind::RunStarted { .. }
        | EventKind::Policy { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::RunEnded { .. } => {}
    }
    part(event.resolved_path.as_deref());
    part(event.verdict.map(|verdict| match verdict {
        EventVerdict::Allowed => "allowed",
        EventVerdict::Denied => "denied",
        EventVerdict::Failed => "failed",
        EventVerdict::Unknown => "unknown",
    }));
    part(event.rule.as_deref());
    part(event.process.as_ref().and_then(|process| process.binary.as_deref()));
    hash.finalize().into()
}

/// About how many bytes an event takes in memory. It is not changed.
fn size(event: &mut Event) -> usize {
    let mut bytes = size_of::<FoldEntry>() + size_of::<FoldKey>();
    crate::format::bounds::each_text(event, |text| bytes += text.len() + size_of::<String>());
    bytes
}
