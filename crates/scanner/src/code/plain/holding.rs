//! What names hold, and which words of the tables a text has at all.

use super::super::capability::Capability;
use super::tables;

/// Most secrets that one value is said to hold.
pub(super) const MAX_SOURCES: usize = 6;

/// What a variable or a function holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Holding {
    /// Numbers of secrets.
    pub(super) sources: Vec<usize>,
    /// An address, or what was fetched from there.
    pub(super) address: Option<String>,
    pub(super) is_fetched: bool,
    pub(super) is_decoded: bool,
    /// A function whose arguments are sent.
    pub(super) is_sender: bool,
}

impl Holding {
    /// Adds what another one holds.
    pub(super) fn add(&mut self, other: &Self) {
        for source in &other.sources {
            if self.sources.len() < MAX_SOURCES && !self.sources.contains(source) {
                self.sources.push(*source);
            }
        }
        if self.address.is_none() {
            self.address.clone_from(&other.address);
        }
        self.is_fetched |= other.is_fetched;
        self.is_decoded |= other.is_decoded;
        self.is_sender |= other.is_sender;
    }
}

/// The tables, cut down to the words that the text has at all.
pub(super) struct PresentWords {
    pub(super) reads: Vec<&'static str>,
    pub(super) environment: Vec<&'static str>,
    pub(super) senders: Vec<&'static str>,
    pub(super) lookups: Vec<&'static str>,
    pub(super) fetchers: Vec<&'static str>,
    pub(super) runners: Vec<&'static str>,
    pub(super) shells: Vec<&'static str>,
    pub(super) decoders: Vec<&'static str>,
    pub(super) writers: Vec<&'static str>,
    pub(super) deleters: Vec<&'static str>,
    pub(super) deeds: Vec<(&'static str, Capability)>,
}

impl PresentWords {
    /// The words that a text has, which is in lower case.
    pub(super) fn find(lower: &str) -> Self {
        let present = |words: &[&'static str]| -> Vec<&'static str> {
            // Words with a string in them are written without its contents later.
            words.iter().copied().filter(|word| word.contains('"') || lower.contains(word)).collect()
        };
        Self {
            reads: present(tables::READS),
            environment: present(tables::ENVIRONMENT),
            senders: present(tables::SENDERS),
            lookups: present(tables::LOOKUPS),
            fetchers: present(tables::FETCHERS),
            runners: present(tables::RUNNERS),
            shells: present(tables::SHELLS),
            decoders: present(tables::DECODERS),
            writers: present(tables::WRITERS),
            deleters: present(tables::DELETERS),
            deeds: tables::DEEDS.iter().copied().filter(|(word, _)| lower.contains(word)).collect(),
        }
    }
}
