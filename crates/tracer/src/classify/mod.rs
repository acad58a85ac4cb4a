//! What attempts amount to.
//!
//! Rules are data: places ([`sensitive_paths`]), system calls, commands and hosts ([`acts`]). `docs/classification.md` is made from them.
//! What is not data is what several events mean together: many kinds of credentials, a connection after that, many names.
//!
//! Two laws hold for all of it. Nothing is classified that was not tried: a policy is not an attempt. And nothing that ordinary
//! programs do as a matter of course is classified, however often the sandbox refused it.

mod acts;
mod attempt_weight;
mod credential_place;
mod expected_refusals;
mod files;
mod finding;
mod network;
mod path;
mod programs;
mod sensitive_paths;
mod sensitive_place;
mod techniques;

use std::collections::BTreeMap;

use crate::format::event::{Event, EventKind};
use crate::format::trace::{AttackClass, AttackSeverity, Classification};

use acts::CALLS;
use files::FileAttempts;
use finding::ClassFinding;
use network::NetworkAttempts;
use programs::ProgramAttempts;

pub use attempt_weight::{AttemptWeigher, AttemptWeight};
pub use credential_place::{CredentialPlace, credential_place};
pub use sensitive_place::{PlaceAccess, may_hold_sensitive, sensitive_place};
pub use techniques::{ATLAS_VERSION, ATTACK_VERSION};

/// Reads events one by one, and says in the end what they amount to. Memory is bounded, however many there are.
///
/// ```
/// use skillsandbox_tracer::{AttackClass, Classifier, Event, FileOperation, EventVerdict, EventKind};
///
/// let path = "/home/somebody/.ssh/id_ed25519".to_owned();
/// let attempt = Event::new(EventKind::File { operation: FileOperation::Read, path, to: None }).with_verdict(EventVerdict::Denied, None);
/// let mut classifier = Classifier::new();
/// assert_eq!(classifier.observe(&attempt), Some(AttackClass::CredentialHarvesting));
/// let all = classifier.finish();
/// assert!(all[0].prevented);
/// assert_eq!(all[0].techniques[0].id, "T1552.004");
/// ```
#[derive(Debug, Default)]
pub struct Classifier {
    files: FileAttempts,
    network: NetworkAttempts,
    programs: ProgramAttempts,
    /// What one event proves by itself.
    found: ClassFindings,
    /// Limits that were reached, by bits.
    limits: u8,
    limit: ClassFinding,
    /// The policy that says that secrets were taken out of the environment.
    stripped: Option<u64>,
    /// How many words at the end of the command are the caller's own.
    callers_words: u64,
}

/// What was found, by class.
#[derive(Debug, Default)]
struct ClassFindings(BTreeMap<AttackClass, ClassFinding>);

impl ClassFindings {
    fn of(&mut self, class: AttackClass) -> &mut ClassFinding {
        self.0.entry(class).or_default()
    }
}

/// The subject of the policy event that says whose the words of a command are, and its figure: so many at the end are those of the person who
/// started the run. A file that they name is one that they forgot to grant, and not one that the program went looking for.
pub const CALLERS_SUBJECT: &str = "arguments";
/// The figure of that event.
pub const CALLERS_WORDS: &str = "callers_words";

const MEMORY: u8 = 1;
const PROCESSES: u8 = 2;
const TIMEOUT: u8 = 4;

impl Classifier {
    /// Nothing seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next event; its class, if it belongs to one by now. The last word has [`Self::finish`].
    pub fn observe(&mut self, event: &Event) -> Option<AttackClass> {
        self.files.note_process(event.process.as_ref());
        match &event.kind {
            EventKind::File { operation, path, to } => {
                self.files.observe(event, *operation, path, to.as_deref(), &mut self.found)
            }
            EventKind::Exec { path, argv } => {
                self.programs.observe(event, path, argv, &mut self.files.harvest, &mut self.found)
            }
            EventKind::DnsQuery { name, .. } => {
                self.programs.reached(event);
                let name = name.as_deref()?;
                self.network.looked_up(event, name, &mut self.files, &mut self.found)
            }
            EventKind::NetConnect(connection) => {
                self.programs.reached(event);
                self.network.connected(event, connection, &mut self.files, &mut self.found)
            }
            EventKind::SyscallRefused { name, reason, .. } => self.called(event, name, reason),
            EventKind::ResourceLimitHit { limit, .. } => self.limited(event, limit),
            EventKind::Policy { subject, figures, .. } => {
                if subject == "environment"
                    && figures.get("stripped_secrets").is_some_and(|stripped| *stripped > 0)
                {
                    self.stripped.get_or_insert(event.sequence);
                }
                if subject == CALLERS_SUBJECT
                    && let Some(words) = figures.get(CALLERS_WORDS)
                {
                    self.callers_words = *words;
                }
                None
            }
            EventKind::RunStarted { command } => {
                self.files.asked_for(command, self.callers_words);
                None
            }
            EventKind::Stdout(_)
            | EventKind::Stderr(_)
            | EventKind::Lost { .. }
            | EventKind::RunEnded { .. } => None,
        }
    }

    fn called(&mut self, event: &Event, name: &str, reason: &str) -> Option<AttackClass> {
        let matches = |call: &&acts::SyscallRule| call.names.contains(&name) && reason.contains(call.because);
        let call = CALLS.iter().find(matches)?;
        self.found.of(call.class).add(event, call.severity, call.techniques, call.says);
        Some(call.class)
    }

    /// A limit alone says that much was done, not that it was wrong: compilers use all of a processor, and browsers all memory.
    /// Only as many processes as there may be is worth a word, and with a second limit it looks like a fork bomb.
    fn limited(&mut self, event: &Event, limit: &str) -> Option<AttackClass> {
        let bit = match limit {
            "memory" => MEMORY,
            "processes" => PROCESSES,
            "timeout" => TIMEOUT,
            _ => return None,
        };
        self.limits |= bit;
        let severity =
            if self.limits.count_ones() > 1 { AttackSeverity::Medium } else { AttackSeverity::Low };
        self.limit.add(event, severity, &["T1499.001"], "as many processes as there may be");
        (self.limits & PROCESSES != 0).then_some(AttackClass::ResourceAbuse)
    }

    /// What all events together amount to, the worst first.
    #[must_use]
    pub fn finish(self) -> Vec<Classification> {
        let Self { files, network, programs, mut found, limits, limit, stripped, callers_words: _ } = self;
        if limits & PROCESSES != 0 {
            found.of(AttackClass::ResourceAbuse).join(&limit);
        }
        programs.finish(&mut found);
        let first_touch = files.harvest.first();
        let harvest = files.finish(&mut found);
        let (after_credentials, after_private) = network.finish(first_touch, &mut found);

        let mut exfiltration = after_credentials;
        if let Some(mut harvest) = harvest {
            if let Some(stripped) = stripped {
                harvest.mention(stripped);
            }
            if !exfiltration.is_empty() {
                exfiltration.raise(AttackSeverity::Critical);
                let attack = found.of(AttackClass::SupplyChainAttack);
                // Of both, so that both are proved.
                attack.join_some(&harvest, finding::EVIDENCE / 2);
                attack.join(&exfiltration);
                attack.raise(AttackSeverity::Critical);
                attack.also(&["T1195.002", "AML.T0010.001"]);
            }
            found.of(AttackClass::CredentialHarvesting).join(&harvest);
        }
        if exfiltration.is_empty() {
            found.of(AttackClass::DataExfiltration).join(&after_private);
        } else {
            found.of(AttackClass::CredentialExfiltration).join(&exfiltration);
        }
        let classified = found.0.into_iter().filter_map(|(class, finding)| finding.classified(class));
        let mut all: Vec<_> = classified.collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.severity), one.class));
        all
    }
}

#[cfg(test)]
mod page;
