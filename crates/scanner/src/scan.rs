//! The scanner: its settings, and its one method.

use crate::checks;
use crate::engine::Engine;
use crate::examination::Examination;
use crate::report::{Report, Scanned};
use crate::skill::Skill;
use sha2::{Digest as _, Sha256};

/// The version of the rules; it changes with them.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Most findings of one skill.
const MAX_FINDINGS: usize = 200;

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
    pub fn blocklist(mut self, text: &str) -> Self {
        let entries = text.lines().filter_map(|line| line.trim().strip_prefix("- "));
        let domains =
            entries.map(|entry| entry.split('#').next().unwrap_or_default().trim().trim_end_matches('.'));
        let ascii = domains
            .filter(|domain| domain.contains('.'))
            .filter_map(|domain| idna::domain_to_ascii(domain).ok());
        self.blocklist.extend(ascii);
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
        let mut findings = run.findings;
        findings.sort_by(|a, b| {
            b.status
                .cmp(&a.status)
                .then(a.check.cmp(&b.check))
                .then(a.file.cmp(&b.file))
                .then(a.line.cmp(&b.line))
        });
        findings.dedup_by(|a, b| a.rule == b.rule && a.file == b.file && a.line == b.line);
        let checks = Report::checks(&findings);
        findings.truncate(MAX_FINDINGS);
        let verdict = Report::verdict(&checks, &skill.unread);
        Report {
            skill: name,
            source: skill.source.clone(),
            verdict,
            checks,
            findings,
            unread: skill.unread.clone(),
            scanned: Scanned {
                files: skill.files.len(),
                bytes: skill.files.iter().map(|file| file.bytes.len()).sum(),
            },
            digest: digest(skill),
            scanner_version: VERSION,
        }
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

fn digest(skill: &Skill) -> String {
    let mut hash = Sha256::new();
    for file in &skill.files {
        hash.update((file.path.len() as u64).to_le_bytes());
        hash.update(file.path.as_bytes());
        hash.update((file.bytes.len() as u64).to_le_bytes());
        hash.update(&file.bytes);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
