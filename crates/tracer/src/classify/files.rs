//! Files: credentials, what is executed later, what is private.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::format::event::{Event, EventKind, EventVerdict, Prevention, TracedProcess};
use crate::format::trace::{AttackClass, AttackSeverity};
use skillsandbox_terms::FileOperation;

use super::ClassFindings;
use super::finding::{ClassFinding, DistinctCount, EventOrder, mark, moment};
use super::path::{PathPatterns, is_by, plain};
use super::sensitive_paths::{
    self, AccessFilter, COPIERS, CredentialWeight, EXCEPTED_PATHS, HABIT_PATHS, HABITS, LISTERS, LOOKED_FOR,
    PLACE_PATHS, PRIVATE_PATHS, VerdictFilter,
};

/// Kinds of places where many look that make a harvest together.
const SHARED_KINDS: usize = 3;

/// Kinds of credentials that make one though they were granted.
const GRANTED_KINDS: usize = 2;

/// Different private files that make it worse.
const MANY_FILES: usize = 3;

/// Words of a command that are looked at for paths.
const MOST_WORDS: usize = 1024;

/// Other processes whose files were read that make it looking around.
const MANY_PROCESSES: usize = 8;

/// Such processes that are remembered, and processes of the run that are.
const MOST_LISTED: usize = 256;
const MOST_OWN: usize = 16 * 1024;

/// What tells something about another process.
const OF_PROCESSES: &[&str] =
    &["/proc/#/cmdline", "/proc/#/comm", "/proc/#/environ", "/proc/#/maps", "/proc/#/stat", "/proc/#/status"];

static PROCESS_PATHS: LazyLock<PathPatterns> = LazyLock::new(|| sensitive_paths::numbered([OF_PROCESSES]));

/// What is known of files.
#[derive(Debug, Default)]
pub(super) struct FileAttempts {
    /// The files that the person who started the run named.
    asked_for: Vec<u64>,
    pub(super) harvest: TouchedCredentials,
    unauthorized: DistinctCount,
    /// Processes whose files were read, by number, and the events.
    listed: Vec<u32>,
    listing: ClassFinding,
    /// The run's own processes, by the numbers that they have inside.
    own: HashSet<u32>,
}

impl FileAttempts {
    pub(super) fn observe(
        &mut self,
        event: &Event,
        operation: FileOperation,
        path: &str,
        to: Option<&str>,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        // Where it leads counts; what it is called says what was meant.
        let lies = event.resolved_path.as_deref().unwrap_or(path);
        let named = event
            .resolved_path
            .as_ref()
            .and_then(|_| self.place(event, operation, &plain(path), lies, found));
        let real = self.path(event, operation, lies, found);
        // A link that was made has touched nothing yet; what is done through it is told as what it leads to.
        let is_made = operation == FileOperation::Symlink && event.verdict == Some(EventVerdict::Allowed);
        let two = to.filter(|_| !is_made).and_then(|to| self.path(event, operation, to, found));
        named.or(real).or(two)
    }

    /// The command that is run. So many words at its end are those of the person who started it.
    pub(super) fn asked_for(&mut self, command: &[String], callers_words: u64) {
        // The program itself is nobody's file.
        let words = usize::try_from(callers_words).unwrap_or(usize::MAX).min(command.len().saturating_sub(1));
        for word in command.iter().rev().take(words.min(MOST_WORDS)) {
            let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
            let paths = [word.as_str(), value].into_iter().filter(|path| path.starts_with('/'));
            self.asked_for.extend(paths.map(|path| mark(&[&plain(path)])));
        }
    }

    fn was_asked_for(&self, event: &Event, path: &str) -> bool {
        let named = match &event.kind {
            EventKind::File { path, .. } => Some(plain(path)),
            _ => None,
        };
        let mut paths = named.iter().map(AsRef::as_ref).chain([path]);
        paths.any(|path| self.asked_for.contains(&mark(&[path])))
    }

    /// Whether a program of the system looks as a matter of course whether there is such a file, and there is none.
    fn is_habit(event: &Event, path: &str) -> bool {
        let process = event.process.as_ref();
        event.verdict == Some(EventVerdict::Failed)
            && HABIT_PATHS
                .rules(path, process)
                .into_iter()
                .filter_map(|rule| HABITS.get(rule))
                .any(|habit| is_by(process, habit.programs))
    }

    fn path(
        &mut self,
        event: &Event,
        operation: FileOperation,
        path: &str,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        let path = plain(path);
        self.place(event, operation, &path, &path, found)
            .or_else(|| self.private(event, &path))
            .or_else(|| self.process(event, operation, &path))
    }

    /// Places that have rules. `lies` is where the path leads.
    fn place(
        &mut self,
        event: &Event,
        operation: FileOperation,
        path: &str,
        lies: &str,
        found: &mut ClassFindings,
    ) -> Option<AttackClass> {
        let process = event.process.as_ref();
        let mut class = None;
        let rules = PLACE_PATHS.rules(path, process);
        let exceptions = if rules.is_empty() { Vec::new() } else { EXCEPTED_PATHS.rules(path, process) };
        for rule in rules {
            let Some(place) = sensitive_paths::at(rule) else { continue };
            let meant = accesses(place.access, operation, event)
                && ends(place.when, event)
                && !exceptions.contains(&rule)
                && !(place.class == AttackClass::Discovery && is_looked_for(path))
                && !(place.class == AttackClass::Persistence && is_gone_with_the_run(event, lies))
                && !is_by(process, place.owners)
                && !Self::is_habit(event, path)
                && (place.only_by.is_empty() || is_by(process, place.only_by));
            if !meant {
                continue;
            }
            if place.class == AttackClass::CredentialHarvesting {
                // No program looks there as a matter of course by way of another.
                let weight = if is_by(process, COPIERS) { CredentialWeight::Alone } else { place.weight };
                if self.harvest.touched(
                    event,
                    CredentialAccess { kind: rule, weight, techniques: place.techniques, says: place.says },
                ) {
                    class = class.or(Some(place.class));
                }
            } else {
                found.of(place.class).add(event, place.severity, place.techniques, place.says);
                class = class.or(Some(place.class));
            }
        }
        class
    }

    /// A file of somebody's own that was not granted.
    fn private(&mut self, event: &Event, path: &str) -> Option<AttackClass> {
        if !is_not_granted(event) || PRIVATE_PATHS.rules(path, event.process.as_ref()).is_empty() {
            return None;
        }
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        // Settings begin with a dot, and are looked for by every program; those that matter have rules of their own. The folder
        // itself is looking around.
        let below_home = match parts.next() {
            Some("home" | "Users") => parts.nth(1),
            _ => parts.next(),
        }?;
        if below_home.starts_with('.') || is_looked_for(path) || self.was_asked_for(event, path) {
            return None;
        }
        let many = self.unauthorized.add(mark(&[path]), MANY_FILES, |finding| {
            finding.add(
                event,
                AttackSeverity::Low,
                &["T1005", "AML.T0037"],
                "private files of people and services",
            );
        });
        if many {
            self.unauthorized.finding.raise(AttackSeverity::Medium);
        }
        Some(AttackClass::UnauthorizedFileAccess)
    }

    /// Files of other processes, one after the other.
    fn process(&mut self, event: &Event, operation: FileOperation, path: &str) -> Option<AttackClass> {
        let rest = path.strip_prefix("/proc/")?;
        let number = rest.split('/').next()?;
        let is_other = !PROCESS_PATHS.rules(path, event.process.as_ref()).is_empty();
        if operation != FileOperation::Read || !is_other || is_by(event.process.as_ref(), LISTERS) {
            return None;
        }
        let number: u32 = number.parse().ok()?;
        if !self.listed.contains(&number) && self.listed.len() < MOST_LISTED {
            self.listed.push(number);
        }
        self.listing.add(event, AttackSeverity::Low, &["T1057"], "other processes");
        self.has_listed_others().then_some(AttackClass::Discovery)
    }

    /// Somebody of the run did something, by the number that it has inside.
    pub(super) fn note_process(&mut self, process: Option<&TracedProcess>) {
        if let Some(number) = process.and_then(|process| process.inner_pid)
            && self.own.len() < MOST_OWN
        {
            self.own.insert(number);
        }
    }

    /// Browsers and build tools look after their children; who looks at others looks around.
    fn has_listed_others(&self) -> bool {
        self.listed.iter().filter(|number| !self.own.contains(number)).count() >= MANY_PROCESSES
    }

    pub(super) fn first_private(&self) -> Option<EventOrder> {
        self.unauthorized.finding.first
    }

    /// Says what was found; the harvest, if it was one.
    pub(super) fn finish(self, found: &mut ClassFindings) -> Option<ClassFinding> {
        found.of(AttackClass::UnauthorizedFileAccess).join(&self.unauthorized.finding);
        if self.has_listed_others() {
            found.of(AttackClass::Discovery).join(&self.listing);
        }
        self.harvest.finish()
    }
}

/// Whether what was done is undone by the end of the run: it was done in a folder that only the run has.
fn is_gone_with_the_run(event: &Event, lies: &str) -> bool {
    let folder = event.rule.as_deref().and_then(|rule| rule.strip_suffix(PRIVATE_TO_THE_RUN));
    let within =
        |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    event.verdict == Some(EventVerdict::Allowed)
        && folder.is_some_and(|folder| folder.starts_with('/') && within(&plain(lies), folder))
}

/// What the rule of such a folder says behind its name.
const PRIVATE_TO_THE_RUN: &str = ", private to the run";

/// Whether a path has a part that programs look for everywhere.
fn is_looked_for(path: &str) -> bool {
    path.split('/').any(|part| LOOKED_FOR.contains(&part))
}

/// Whether an operation is an access of this kind.
pub(super) fn accesses(access: AccessFilter, operation: FileOperation, event: &Event) -> bool {
    use FileOperation as Op;
    match access {
        AccessFilter::Any => operation != Op::Remove,
        AccessFilter::Read => match operation {
            Op::Read | Op::Link | Op::Rename | Op::Symlink => true,
            // Opened to be read and written; what was let happen is the making of a file.
            Op::Write => is_not_allowed(event),
            Op::Remove
            | Op::MakeFolder
            | Op::MakeNode
            | Op::Truncate
            | Op::ChangeMode
            | Op::ChangeAttributes
            | Op::Connect => false,
        },
        AccessFilter::Change => matches!(
            operation,
            Op::Write
                | Op::Rename
                | Op::Link
                | Op::Symlink
                | Op::Truncate
                | Op::ChangeMode
                | Op::ChangeAttributes
                | Op::MakeNode
        ),
    }
}

fn ends(when: VerdictFilter, event: &Event) -> bool {
    match when {
        VerdictFilter::Any => true,
        VerdictFilter::NotAllowed => is_not_allowed(event),
        VerdictFilter::Denied => is_not_granted(event),
    }
}

fn is_not_allowed(event: &Event) -> bool {
    matches!(event.verdict, Some(EventVerdict::Denied | EventVerdict::Failed | EventVerdict::Unknown))
}

/// Whether nothing that is declared let it happen. What nobody saw the end of is judged as what was refused.
pub(super) fn is_not_granted(event: &Event) -> bool {
    matches!(event.verdict, Some(EventVerdict::Denied | EventVerdict::Unknown))
}

/// Credentials that were touched.
#[derive(Debug, Default)]
pub(super) struct TouchedCredentials {
    /// Kinds that were refused or not there, of places where only owners have business.
    refused: Vec<usize>,
    /// The same kinds, where they were granted.
    granted: Vec<usize>,
    /// Kinds of places where many look.
    shared: Vec<usize>,
    alone: ClassFinding,
    together: ClassFinding,
}

/// One access of a place of credentials.
#[derive(Debug, Clone, Copy)]
pub(super) struct CredentialAccess {
    /// Which kind of place.
    pub(super) kind: usize,
    pub(super) weight: CredentialWeight,
    pub(super) techniques: &'static [&'static str],
    pub(super) says: &'static str,
}

impl TouchedCredentials {
    /// Counts it; whether it is a harvest by now.
    pub(super) fn touched(&mut self, event: &Event, touch: CredentialAccess) -> bool {
        let (kinds, finding) = match touch.weight {
            CredentialWeight::Shared => (&mut self.shared, &mut self.together),
            CredentialWeight::Alone if event.prevention() != Prevention::NotPrevented => {
                (&mut self.refused, &mut self.alone)
            }
            CredentialWeight::Alone => (&mut self.granted, &mut self.alone),
        };
        if !kinds.contains(&touch.kind) {
            kinds.push(touch.kind);
        }
        finding.add(event, AttackSeverity::Medium, touch.techniques, touch.says);
        self.is_one()
    }

    fn is_one(&self) -> bool {
        !self.refused.is_empty() || self.granted.len() >= GRANTED_KINDS || self.has_many_shared()
    }

    fn has_many_shared(&self) -> bool {
        self.shared.len() + self.granted.len() >= SHARED_KINDS
    }

    /// When credentials were touched for the first time that are more than a matter of course, granted or not.
    pub(super) fn first(&self) -> Option<EventOrder> {
        let shared = if self.has_many_shared() { self.together.first } else { None };
        [self.alone.first, shared].into_iter().flatten().min()
    }

    /// Whether something has been touched by this event's time.
    pub(super) fn was_before(&self, event: &Event) -> bool {
        self.first().is_some_and(|first| first < moment(event))
    }

    /// Whether credentials of several kinds really were read.
    pub(super) fn succeeded(&self) -> bool {
        self.is_one()
            && (self.granted.len() >= GRANTED_KINDS
                || self.has_many_shared() && self.together.may_have_happened())
    }

    fn finish(self) -> Option<ClassFinding> {
        if !self.is_one() {
            return None;
        }
        let mut all = self.alone.clone();
        if self.has_many_shared() {
            all.join(&self.together);
        }
        let mut kinds = self.refused.clone();
        kinds.extend(self.granted.iter().filter(|kind| !self.refused.contains(kind)));
        let kinds = kinds.len() + if self.has_many_shared() { self.shared.len() } else { 0 };
        if kinds >= 2 {
            all.raise(AttackSeverity::High);
        }
        Some(all)
    }
}
