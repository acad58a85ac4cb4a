//! What a run was refused, gathered as it happens: the worst first, folded, and never more than a bound.
//!
//! A thief could trip many harmless refusals to hide the one that matters. So what is sensitive or classified has room of its own, every class
//! and kind has room of its own, and the list takes one of each in turn. What programs look for and do without is counted, not listed.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use skillsandbox_tracer::{
    AttackClass, AttemptWeigher, AttemptWeight, Classification, Event, EventKind, EventSink, EventVerdict,
    FileOperation,
};

use crate::denied_attempt::{DeniedAttempt, operation_verb, target};
use crate::grant_hint::{GrantHint, HintPlace};
use crate::hint_context::HintContext;
use crate::private_tmp::{is_in_tmp, is_on_host_tmp};
use crate::run_alarm::{SentCounter, is_accusation, is_attack};

/// Most denials of a list; the trace has all of them.
const MOST: usize = 200;
/// Groups of one class and kind.
const MOST_GROUPS: usize = 64;
/// Files of one folder that are listed one by one. From the next one on they are one entry.
const MOST_ALONE: usize = 3;
/// Different ones of a group that are told apart, and of all groups together.
const MOST_DISTINCT: usize = 4096;
const MOST_MARKS: usize = 8 * MOST_DISTINCT;
/// Words of the command that are looked at; each is bounded by whoever recorded it.
const MOST_WORDS: usize = 64;
/// Hosts that were not reached, and files that were missed in /tmp.
const MOST_MISSED: usize = 32;

/// Something that programs look for and do without, and how often that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExpectedLookups {
    /// Who looks for it, and why nothing is lost.
    pub reason: &'static str,
    /// How often.
    pub count: u64,
}

/// A host that was granted and could not be reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnreachedHost {
    /// The host and port.
    pub host: String,
    /// Why, in the words of the resolver or of the kernel.
    pub why: String,
    /// How often.
    pub count: u64,
}

/// A file of the host's `/tmp` or `/var/tmp` that was asked for inside, where these are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MissedTmpFile {
    /// Which.
    pub path: PathBuf,
    /// What would have shown it.
    pub hint: String,
}

/// What a run was refused, when it has ended.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DenialList {
    /// Whether the run looks like an attack: then nobody is told how to allow anything.
    pub is_attack: bool,
    /// The worst first, folded: 200 at most.
    pub denials: Vec<DeniedAttempt>,
    /// How many more there were.
    pub omitted: u64,
    /// What programs look for and do without.
    pub expected: Vec<ExpectedLookups>,
    /// Hosts that were granted and could not be reached.
    pub unreached: Vec<UnreachedHost>,
    /// Files of the host's `/tmp` that were asked for.
    pub missed_tmp: Vec<MissedTmpFile>,
}

/// Gathers what a run is refused.
#[derive(Debug, Default)]
pub struct DenialBook {
    weigher: AttemptWeigher,
    /// The words of the command line: paths in them are listed, whatever else looks for them.
    words: Vec<String>,
    buckets: BTreeMap<Bucket, Vec<Group>>,
    /// Limits that were reached, by name.
    limits: Vec<(String, DeniedAttempt)>,
    omitted: u64,
    /// Marks that all groups have together.
    marks: usize,
    expected: BTreeMap<&'static str, u64>,
    unreached: Vec<UnreachedHost>,
    missed_tmp: Vec<PathBuf>,
    pub(crate) sent: SentCounter,
}

/// What has room of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bucket {
    /// 0 for what an attack wants or was classified, 1 for the rest.
    rank: u8,
    class: u8,
    kind: &'static str,
}

/// Attempts of one kind in one folder, or below one name.
#[derive(Debug)]
struct Group {
    /// What they would be called together, and the rule that prevented them.
    key: (String, Option<String>),
    /// The first few, each with what would have let it happen.
    alone: Vec<(DeniedAttempt, Option<GrantHint>)>,
    /// All of them, by their marks.
    seen: HashSet<u64>,
    /// Whether there was no room to tell all apart.
    is_cut: bool,
    /// How often those that are not alone were tried.
    more: u64,
}

impl DenialBook {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Something happened, which belongs to a class by what is known so far.
    pub fn observe(&mut self, event: &Event, class: Option<AttackClass>) {
        self.sent.observe(event);
        match (&event.kind, event.verdict) {
            (EventKind::RunStarted { command }, _) => {
                let words = command.iter().skip(1).filter(|word| word.contains('/'));
                self.words.extend(words.take(MOST_WORDS).cloned());
            }
            (EventKind::NetConnect(to), Some(EventVerdict::Failed)) if to.detail.is_some() => {
                self.note_unreached(target(to), to.detail.clone().unwrap_or_default(), event.count);
            }
            (EventKind::File { operation: FileOperation::Read, path, .. }, Some(EventVerdict::Failed)) => {
                let path = Path::new(path);
                // What the command line names has room, however much else was looked for before.
                let has_room = self.missed_tmp.len() < MOST_MISSED
                    || self.missed_tmp.len() < MOST_MISSED * 2 && is_named(&self.words, event);
                if is_in_tmp(path) && has_room && !self.missed_tmp.iter().any(|known| known == path) {
                    self.missed_tmp.push(path.to_owned());
                }
            }
            _ => self.note_denial(event, class),
        }
    }

    fn note_unreached(&mut self, host: String, why: String, count: u64) {
        if let Some(known) = self.unreached.iter_mut().find(|known| known.host == host && known.why == why) {
            known.count += count;
        } else if self.unreached.len() < MOST_MISSED {
            self.unreached.push(UnreachedHost { host, why, count });
        }
    }

    fn note_denial(&mut self, event: &Event, class: Option<AttackClass>) {
        let Some(attempt) = DeniedAttempt::of(event, class) else { return };
        if let EventKind::ResourceLimitHit { limit, .. } = &event.kind {
            if let Some((_, known)) = self.limits.iter_mut().find(|(known, _)| known == limit) {
                known.count += attempt.count;
            } else if self.limits.len() < MOST_MISSED {
                self.limits.push((limit.clone(), attempt));
            }
            return;
        }
        let weight = self.weigher.weigh(event);
        if let (AttemptWeight::Expected(reason), None) = (weight, class)
            && !is_named(&self.words, event)
        {
            *self.expected.entry(reason).or_default() += attempt.count;
            return;
        }
        let comes_first = weight == AttemptWeight::Sensitive || class.is_some_and(is_accusation);
        let rank = u8::from(!comes_first);
        let bucket = Bucket { rank, class: class.map_or(u8::MAX, order), kind: attempt.kind };
        let groups = self.buckets.entry(bucket).or_default();
        let key = (fold_text(event), event.rule.clone());
        let hint = GrantHint::of(event);
        if let Some(group) = groups.iter_mut().find(|group| group.key == key) {
            group.add(attempt, hint, &mut self.marks);
        } else if groups.len() < MOST_GROUPS {
            let mut group = Group { key, alone: Vec::new(), seen: HashSet::new(), is_cut: false, more: 0 };
            group.add(attempt, hint, &mut self.marks);
            groups.push(group);
        } else if event.repeats.is_none() {
            // A repeat of one that had no room is no other kind.
            self.omitted += 1;
        }
    }

    /// What all of it came to: of a trace that is read again, of which nothing is known but what it says.
    #[must_use]
    pub fn finish_trace(self, found: &[Classification]) -> DenialList {
        self.finish(found, &HintContext::default()).0
    }

    /// What all of it came to, and what was sent.
    pub(crate) fn finish(self, found: &[Classification], context: &HintContext) -> (DenialList, SentCounter) {
        let Self {
            weigher,
            buckets,
            limits,
            mut omitted,
            expected,
            unreached,
            missed_tmp,
            sent,
            words: _,
            marks: _,
        } = self;
        let is_attack = found.iter().any(is_attack);
        let place = context.place(&weigher);
        // What turned out to prove something comes first, too, though it said nothing by itself.
        let proving = found.iter().filter(|found| is_accusation(found.class));
        let evidence: HashSet<u64> = proving.flat_map(|found| found.evidence.iter().copied()).collect();
        let mut ranks: [Vec<Vec<DeniedAttempt>>; 2] = [Vec::new(), Vec::new()];
        for (bucket, groups) in buckets {
            let mut listed: [Vec<DeniedAttempt>; 2] = [Vec::new(), Vec::new()];
            for group in groups {
                let is_proof = group.alone.iter().any(|(attempt, _)| evidence.contains(&attempt.sequence));
                let comes_first = bucket.rank == 0 || is_proof;
                for (mut attempt, hint) in group.finish() {
                    if !is_attack && !comes_first {
                        context.explain(&mut attempt, hint.as_ref(), &place);
                    }
                    let [first, second] = &mut listed;
                    if comes_first { first.push(attempt) } else { second.push(attempt) }
                }
            }
            for (rank, listed) in ranks.iter_mut().zip(listed) {
                rank.push(listed);
            }
        }
        let limits = limits.into_iter().map(|(limit, mut attempt)| {
            context.explain_limit(&mut attempt, &limit, is_attack);
            attempt
        });
        let mut denials: Vec<DeniedAttempt> = limits.chain(ranks.into_iter().flat_map(in_turn)).collect();
        omitted += denials.len().saturating_sub(MOST) as u64;
        denials.truncate(MOST);
        let missed =
            missed_tmp.into_iter().filter(|_| !is_attack).filter_map(|path| missed(path, context, &place));
        let list = DenialList {
            is_attack,
            denials,
            omitted,
            expected: expected.into_iter().map(|(reason, count)| ExpectedLookups { reason, count }).collect(),
            unreached,
            missed_tmp: missed.collect(),
        };
        (list, sent)
    }
}

impl Group {
    fn add(&mut self, attempt: DeniedAttempt, hint: Option<GrantHint>, marks: &mut usize) {
        if let Some((known, _)) = self.alone.iter_mut().find(|(known, _)| known.what == attempt.what) {
            known.count += attempt.count;
            return;
        }
        let mut mark = DefaultHasher::new();
        attempt.what.hash(&mut mark);
        let mark = mark.finish();
        if self.alone.len() < MOST_ALONE || self.seen.len() < MOST_DISTINCT && *marks < MOST_MARKS {
            *marks += usize::from(self.seen.insert(mark));
        } else {
            self.is_cut |= !self.seen.contains(&mark);
        }
        if self.alone.len() < MOST_ALONE {
            self.alone.push((attempt, hint));
        } else {
            self.more += attempt.count;
        }
    }

    /// Each alone where they are few, and one entry otherwise.
    fn finish(self) -> Vec<(DeniedAttempt, Option<GrantHint>)> {
        let distinct = self.seen.len() as u64;
        if self.more == 0 {
            return self.alone;
        }
        let alone: u64 = self.alone.iter().map(|(attempt, _)| attempt.count).sum();
        let Some((mut first, hint)) = self.alone.into_iter().next() else { return Vec::new() };
        first.count = alone + self.more;
        first.distinct = distinct;
        let least = if self.is_cut { "at least " } else { "" };
        first.what = self.key.0.replacen("{}", &format!("{least}{distinct}"), 1);
        let hint = hint.and_then(|hint| hint.of_folder());
        vec![(first, hint)]
    }
}

/// What several would be called together, with `{}` for their number.
fn fold_text(event: &Event) -> String {
    match &event.kind {
        EventKind::File { operation, path, .. } => {
            let folder = Path::new(path).parent().map_or(path.into(), Path::to_string_lossy);
            match operation {
                FileOperation::MakeFolder => format!("make {{}} folders in {folder}"),
                FileOperation::Connect => format!("connect to {{}} sockets in {folder}"),
                operation => format!("{} {{}} files in {folder}", operation_verb(*operation)),
            }
        }
        EventKind::DnsQuery { name, .. } => {
            format!("look up {{}} names below {}", parent_name(name.as_deref().unwrap_or_default()))
        }
        EventKind::NetConnect(to) => {
            let host = to.name.as_deref().map_or_else(|| "an address".to_owned(), parent_name);
            format!("connect to {{}} hosts and ports below {host} by {}", to.transport)
        }
        EventKind::Exec { path, .. } => {
            let folder = Path::new(path).parent().map_or(path.into(), Path::to_string_lossy);
            format!("execute {{}} programs in {folder}")
        }
        EventKind::SyscallRefused { name, .. } => format!("call {name} in {{}} ways"),
        EventKind::ResourceLimitHit { .. }
        | EventKind::RunStarted { .. }
        | EventKind::Policy { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::Lost { .. }
        | EventKind::RunEnded { .. } => String::new(),
    }
}

/// The last two labels of a name.
fn parent_name(name: &str) -> String {
    let labels: Vec<&str> = name.trim_end_matches('.').rsplit('.').take(2).collect();
    labels.into_iter().rev().collect::<Vec<_>>().join(".")
}

/// Whether the command line names the file, in a script, too. What is named is listed, so a name hides nothing.
fn is_named(words: &[String], event: &Event) -> bool {
    matches!(&event.kind, EventKind::File { path, .. } if words.iter().any(|word| word.contains(path.as_str())))
}

/// One of each list in turn.
fn in_turn(lists: Vec<Vec<DeniedAttempt>>) -> Vec<DeniedAttempt> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    (0..longest).flat_map(|_| lists.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>()).collect()
}

fn missed(path: PathBuf, context: &HintContext, place: &HintPlace<'_>) -> Option<MissedTmpFile> {
    let hint = GrantHint::Read(path.clone()).text(context.style, place)?;
    is_on_host_tmp(&path).then_some(MissedTmpFile { path, hint })
}

/// Which class is told first.
fn order(class: AttackClass) -> u8 {
    match class {
        AttackClass::SupplyChainAttack => 0,
        AttackClass::CredentialExfiltration => 1,
        AttackClass::SandboxEscape => 2,
        AttackClass::CredentialHarvesting => 3,
        AttackClass::PrivilegeEscalation => 4,
        AttackClass::Persistence => 5,
        AttackClass::DataExfiltration => 6,
        AttackClass::DnsTunnelling => 7,
        AttackClass::RemoteExecution => 8,
        AttackClass::DomainFronting => 9,
        AttackClass::ResourceAbuse => 10,
        AttackClass::UnauthorizedFileAccess => 11,
        AttackClass::Discovery => 12,
    }
}

/// A book that is written as a sink of the recorder.
#[derive(Debug, Clone, Default)]
pub(crate) struct DenialSink(Arc<Mutex<DenialBook>>);

impl DenialSink {
    /// The book, when everybody has said all they had to say.
    pub(crate) fn take(&self) -> DenialBook {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EventSink for DenialSink {
    fn event(&mut self, event: &Event, class: Option<AttackClass>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).observe(event, class);
    }
}

#[cfg(test)]
mod tests;
