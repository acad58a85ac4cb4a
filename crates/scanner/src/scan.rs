//! The scanner: its settings, and its one method.

#[cfg(feature = "policy")]
use std::sync::Arc;
use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};
#[cfg(feature = "policy")]
use skillsandbox_manifest::{Date, ScanPolicy, Suppression};

use crate::checks;
use crate::digest::{hash_files, hex, join_digests, sha256};
use crate::engine::PatternEngine;
use crate::evidence::{ScanEvidence, SignSet, compute_weights_hash};
use crate::links::SkillLinks;
use crate::report::{RuleSet, ScanReport, ScanSize, ScanVerdict};
use crate::scan_context::{ContextResult, scan_skill};
use crate::skill::SkillFiles;
#[cfg(feature = "policy")]
use crate::suppressions::{IdleReason, Suppressions, UnknownRules};

/// The version of the rules; it changes with them.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The checks, compiled once. Cheap to share between threads.
#[derive(Debug)]
pub struct Scanner {
    pub(crate) engine: PatternEngine,
    pub(crate) system_names: Vec<String>,
    trusted_sources: Vec<String>,
    pub(crate) blocklist: Vec<String>,
    pub(crate) installed: Vec<(String, String)>,
    pub(crate) lists_capabilities: bool,
    #[cfg(feature = "policy")]
    suppressions: Option<(Arc<Suppressions>, Date)>,
}

/// Settings of a [`Scanner`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ScannerBuilder {
    system_names: Vec<String>,
    trusted_sources: Vec<String>,
    blocklist: Vec<String>,
    installed: Vec<(String, String)>,
    lists_capabilities: bool,
    #[cfg(feature = "policy")]
    suppressions: Option<(Arc<Suppressions>, Date)>,
}

impl Default for ScannerBuilder {
    fn default() -> Self {
        Self {
            system_names: Vec::new(),
            trusted_sources: vec!["local:".to_owned()],
            blocklist: Vec::new(),
            installed: Vec::new(),
            lists_capabilities: false,
            #[cfg(feature = "policy")]
            suppressions: None,
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
                self.blocklist.push(checks::canonical_host(domain));
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

    /// Reads all code for [`ScanReport::capabilities`]. Without it only that is read, and listed, which could come to a finding: a quarter.
    pub fn list_capabilities(mut self) -> Self {
        self.lists_capabilities = true;
        self
    }

    /// All that a user's policy says about scanning, as it is on a day: blocked domains, trusted sources, system names, and the suppressions,
    /// which every scan then applies by itself.
    ///
    /// # Errors
    /// Suppressions of rules that do not exist.
    #[cfg(feature = "policy")]
    pub fn policy(self, policy: &ScanPolicy, today: Date) -> Result<Self, UnknownRules> {
        let suppressions = Suppressions::from_policy(policy)?;
        let built = self
            .blocked_domains(&policy.blocklist)
            .trusted_sources(policy.trusted_sources.iter().cloned())
            .system_names(policy.system_names.iter().cloned());
        Ok(Self { suppressions: Some((Arc::new(suppressions), today)), ..built })
    }

    /// One number, in hexadecimal, for these settings: all that a report depends on besides the skill's files, its source, the installed skills
    /// (of which only one of the skill's own name counts), and the rules, which are part of the program: [`Scanner::rules`] has their hash.
    /// No pattern is compiled for it.
    ///
    /// ```
    /// use skillsandbox_scanner::Scanner;
    ///
    /// let plain = Scanner::builder().settings_digest();
    /// assert_eq!(Scanner::builder().settings_digest(), plain);
    /// assert_ne!(Scanner::builder().blocked_domains(["collector.test"]).settings_digest(), plain);
    /// ```
    #[must_use]
    pub fn settings_digest(&self) -> String {
        let Self {
            system_names,
            trusted_sources,
            blocklist,
            // Whoever asks for others among them than those of the skill's own name (`checks/supply_chain.rs`) changes what is said above.
            installed: _,
            lists_capabilities,
            #[cfg(feature = "policy")]
            suppressions,
        } = self;
        let mut fields = SettingsDigest::new();
        fields.list([VERSION]);
        fields.list(system_names);
        fields.list(trusted_sources);
        fields.list(blocklist);
        fields.list([if *lists_capabilities { "capabilities" } else { "" }]);
        #[cfg(feature = "policy")]
        if let Some((suppressions, today)) = suppressions {
            fields.list(suppressions.describe(*today));
        }
        fields.finish()
    }

    /// Compiles the checks.
    #[must_use]
    pub fn build(self) -> Scanner {
        let engine = PatternEngine::new(checks::pattern_rules());
        Scanner {
            engine,
            system_names: self.system_names,
            trusted_sources: self.trusted_sources,
            blocklist: self.blocklist,
            installed: self.installed,
            lists_capabilities: self.lists_capabilities,
            #[cfg(feature = "policy")]
            suppressions: self.suppressions,
        }
    }
}

/// A hash over lists of texts, in which no list can pass for another.
struct SettingsDigest(Sha256);

impl SettingsDigest {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn list<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) {
        let texts: Vec<T> = texts.into_iter().collect();
        self.0.update((texts.len() as u64).to_le_bytes());
        for text in texts {
            self.0.update((text.as_ref().len() as u64).to_le_bytes());
            self.0.update(text.as_ref());
        }
    }

    fn finish(self) -> String {
        hex(&self.0.finalize())
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

    /// A scanner as a user's policy has it on a day, suppressions and all.
    ///
    /// ```
    /// use skillsandbox_manifest::Policy;
    /// use skillsandbox_scanner::{Scanner, SkillFiles, ScanVerdict};
    ///
    /// let policy = Policy::parse("scan: { blocklist: [collector.test] }")?;
    /// let scanner = Scanner::from_policy(policy.scan(), "2026-11-17".parse()?)?;
    /// let skill = SkillFiles::from_skill_md("x", "---\nname: x\ndescription: d\n---\nSee https://collector.test\n");
    /// assert_eq!(scanner.scan(&skill).verdict, ScanVerdict::Blocked);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Suppressions of rules that do not exist.
    #[cfg(feature = "policy")]
    pub fn from_policy(policy: &ScanPolicy, today: Date) -> Result<Self, UnknownRules> {
        Ok(Self::builder().policy(policy, today)?.build())
    }

    /// Suppressions of its policy that did nothing so far, each with why.
    #[cfg(feature = "policy")]
    pub fn idle_suppressions(&self) -> impl Iterator<Item = (&Suppression, IdleReason)> {
        self.suppressions.iter().flat_map(|(suppressions, today)| suppressions.idle(*today))
    }

    /// Settings to be changed before it is built.
    pub fn builder() -> ScannerBuilder {
        ScannerBuilder::default()
    }

    /// Judges a skill.
    #[must_use]
    pub fn scan(&self, skill: &SkillFiles) -> ScanReport {
        let ContextResult { name, findings, capabilities } = scan_skill(self, skill);
        let hashes = hash_files(skill);
        let mut report = ScanReport {
            stamp: None,
            skill: name,
            source: skill.source.clone(),
            verdict: ScanVerdict::Safe,
            checks: Vec::new(),
            findings,
            evidence: ScanEvidence::empty(),
            left_out: Vec::new(),
            unread: skill.unread.clone(),
            complete: false,
            judge: None,
            scanned: ScanSize {
                files: skill.files.len(),
                bytes: skill.files.iter().map(|file| file.bytes.len()).sum(),
            },
            digest: join_digests(skill, &hashes),
            scanner_version: VERSION,
            rules: Self::rules(),
            capabilities,
            agent_files: skill.list_agent_files(),
            judged_apart: skill.judged_apart.clone(),
            outside: None,
            file_digests: skill.files.iter().map(|file| file.path.clone()).zip(hashes).collect(),
            bounds_left_out: 0,
            signs_left_out: SignSet::default(),
        };
        report.settle();
        self.suppress(&mut report);
        report
    }

    /// Adds to a report what the other skills of the scan have to do with this one, by the number it has among them.
    pub fn add_links(&self, links: &SkillLinks, number: usize, report: &mut ScanReport) {
        if links.apply(number, report) {
            self.suppress(report);
        }
    }

    /// Marks what the policy lets stand.
    #[cfg(feature = "policy")]
    pub(crate) fn suppress(&self, report: &mut ScanReport) {
        if let Some((suppressions, today)) = &self.suppressions {
            suppressions.apply(report, *today);
        }
    }

    #[cfg(not(feature = "policy"))]
    #[allow(clippy::unused_self)] // without policies there is nothing to suppress
    pub(crate) fn suppress(&self, _: &mut ScanReport) {}

    /// Which rules there are.
    #[must_use]
    pub fn rules() -> RuleSet {
        static HASH: LazyLock<String> = LazyLock::new(|| {
            let registry = checks::fingerprint(checks::all_rules(), checks::pattern_rules());
            hex(&sha256(&[registry.as_bytes(), compute_weights_hash().as_bytes()]))
        });
        RuleSet { version: VERSION, hash: &HASH }
    }

    /// The literals that the patterns are anchored at, for measurements beside a bare search.
    #[doc(hidden)]
    #[must_use]
    pub fn literals(&self) -> &[&'static str] {
        self.engine.literals()
    }

    /// How often any of them stands in a text, for the same measurements.
    #[doc(hidden)]
    #[must_use]
    pub fn count_literals(&self, text: &[u8]) -> usize {
        self.engine.count_literals(text)
    }

    pub(crate) fn is_trusted(&self, source: &str) -> bool {
        !source.is_empty()
            && self.trusted_sources.iter().any(|trusted| match trusted.strip_suffix('*') {
                Some(prefix) => source.starts_with(prefix),
                None => source == trusted || (trusted.ends_with(':') && source.starts_with(trusted.as_str())),
            })
    }
}
