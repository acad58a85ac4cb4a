//! The scanner: its settings, and its one method.

use std::sync::LazyLock;

use crate::checks;
use crate::digest::digest;
use crate::engine::Engine;
use crate::examination::Examination;
use crate::report::{Report, RuleSet, Scanned, Verdict};
use crate::skill::Skill;

/// The version of the rules; it changes with them.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The checks, compiled once. Cheap to share between threads.
#[derive(Debug)]
pub struct Scanner {
    pub(crate) engine: Engine,
    pub(crate) system_names: Vec<String>,
    trusted_sources: Vec<String>,
    pub(crate) blocklist: Vec<String>,
    pub(crate) installed: Vec<(String, String)>,
}

/// Settings of a [`Scanner`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ScannerBuilder {
    system_names: Vec<String>,
    trusted_sources: Vec<String>,
    blocklist: Vec<String>,
    installed: Vec<(String, String)>,
}

impl Default for ScannerBuilder {
    fn default() -> Self {
        Self {
            system_names: Vec::new(),
            trusted_sources: vec!["local:".to_owned()],
            blocklist: Vec::new(),
            installed: Vec::new(),
        }
    }
}

impl ScannerBuilder {
    /// Names of system skills that others may not take.
    pub fn system_names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.system_names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sources whose skills may have any name; a `*` at the end stands for the rest.
    pub fn trusted_sources<S: Into<String>>(mut self, sources: impl IntoIterator<Item = S>) -> Self {
        self.trusted_sources.extend(sources.into_iter().map(Into::into));
        self
    }

    /// The text of a `blocklist.md`: lines `- domain # reason`.
    pub fn blocklist(self, text: &str) -> Self {
        let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
        let domains = entries.map(|entry| entry.split('#').next().unwrap_or_default().trim());
        self.blocked_domains(domains.collect::<Vec<_>>())
    }

    /// Domains that no skill may name, nor anything below them.
    pub fn blocked_domains<S: AsRef<str>>(mut self, domains: impl IntoIterator<Item = S>) -> Self {
        for domain in domains {
            let domain = domain.as_ref().trim_end_matches('.');
            if domain.contains('.') {
                self.blocklist.extend(idna::domain_to_ascii(domain).ok());
            }
        }
        self
    }

    /// Skills that are installed already, each by its name and where it came from.
    pub fn installed<N: Into<String>, S: Into<String>>(
        mut self,
        skills: impl IntoIterator<Item = (N, S)>,
    ) -> Self {
        self.installed.extend(skills.into_iter().map(|(name, source)| (name.into(), source.into())));
        self
    }

    /// Compiles the checks.
    #[must_use]
    pub fn build(self) -> Scanner {
        let engine = Engine::new(checks::rules());
        Scanner {
            engine,
            system_names: self.system_names,
            trusted_sources: self.trusted_sources,
            blocklist: self.blocklist,
            installed: self.installed,
        }
    }
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// A scanner with no names, sources or blocklist of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Settings to be changed before it is built.
    pub fn builder() -> ScannerBuilder {
        ScannerBuilder::default()
    }

    /// Judges a skill.
    #[must_use]
    pub fn scan(&self, skill: &Skill) -> Report {
        let mut run = Examination::new(self, skill);
        let name = run.all();
        let mut report = Report {
            stamp: None,
            skill: name,
            source: skill.source.clone(),
            verdict: Verdict::Safe,
            checks: Vec::new(),
            findings: run.findings,
            left_out: Vec::new(),
            unread: skill.unread.clone(),
            complete: false,
            scanned: Scanned {
                files: skill.files.len(),
                bytes: skill.files.iter().map(|file| file.bytes.len()).sum(),
            },
            digest: digest(skill),
            scanner_version: VERSION,
            rules: Self::rules(),
        };
        report.settle();
        report
    }

    /// Which rules there are.
    #[must_use]
    pub fn rules() -> RuleSet {
        static HASH: LazyLock<String> = LazyLock::new(|| checks::fingerprint(&checks::rules()));
        RuleSet { version: VERSION, hash: &HASH }
    }

    /// The literals that the patterns are anchored at, for measurements beside a bare search.
    #[doc(hidden)]
    #[must_use]
    pub fn literals(&self) -> &[&'static str] {
        self.engine.literals()
    }

    pub(crate) fn is_trusted(&self, source: &str) -> bool {
        !source.is_empty()
            && self.trusted_sources.iter().any(|trusted| match trusted.strip_suffix('*') {
                Some(prefix) => source.starts_with(prefix),
                None => source == trusted || (trusted.ends_with(':') && source.starts_with(trusted.as_str())),
            })
    }
}
