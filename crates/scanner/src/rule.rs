//! Rules as data: what to look for, where, how much it weighs, and what to tell people.

use serde::Serialize;

/// Which of the eight checks a rule belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CheckId {
    /// Prompt injection.
    #[serde(rename = "CHECK-01")]
    Injection,
    /// Name spoofing.
    #[serde(rename = "CHECK-02")]
    Spoofing,
    /// Tool overclaiming.
    #[serde(rename = "CHECK-03")]
    Tools,
    /// Exfiltration vectors.
    #[serde(rename = "CHECK-04")]
    Exfiltration,
    /// Obfuscation.
    #[serde(rename = "CHECK-05")]
    Obfuscation,
    /// Delegation chains.
    #[serde(rename = "CHECK-06")]
    Delegation,
    /// Front matter integrity.
    #[serde(rename = "CHECK-07")]
    FrontMatter,
    /// Supply chain.
    #[serde(rename = "CHECK-08")]
    SupplyChain,
}

impl CheckId {
    /// All eight, in their order.
    pub const ALL: [Self; 8] = [
        Self::Injection,
        Self::Spoofing,
        Self::Tools,
        Self::Exfiltration,
        Self::Obfuscation,
        Self::Delegation,
        Self::FrontMatter,
        Self::SupplyChain,
    ];

    /// `CHECK-01` … `CHECK-08`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Injection => "CHECK-01",
            Self::Spoofing => "CHECK-02",
            Self::Tools => "CHECK-03",
            Self::Exfiltration => "CHECK-04",
            Self::Obfuscation => "CHECK-05",
            Self::Delegation => "CHECK-06",
            Self::FrontMatter => "CHECK-07",
            Self::SupplyChain => "CHECK-08",
        }
    }

    /// The name people read.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Injection => "Prompt Injection",
            Self::Spoofing => "Name Spoofing",
            Self::Tools => "Tool Overclaiming",
            Self::Exfiltration => "Exfiltration Vectors",
            Self::Obfuscation => "Obfuscation",
            Self::Delegation => "Delegation Chains",
            Self::FrontMatter => "Frontmatter Integrity",
            Self::SupplyChain => "Supply Chain",
        }
    }
}

/// What a finding amounts to. The greater wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Worth knowing, no judgement.
    Pass,
    /// A person should look.
    Warn,
    /// Clearly malicious.
    Block,
}

impl Status {
    /// The word that stands for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Warn => "WARN",
            Self::Block => "BLOCK",
        }
    }

    /// One step milder.
    #[must_use]
    pub(crate) fn milder(self) -> Self {
        match self {
            Self::Block => Self::Warn,
            Self::Warn | Self::Pass => Self::Pass,
        }
    }
}

/// In which parts of a text a rule means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Sentences: prose, comments, front matter, plain fenced text.
    Words,
    /// Sentences so plain in their meaning that they count in code and data too.
    Anywhere,
    /// Commands and programs: scripts, fenced code, inline code, and sentences that tell to run them.
    Code,
}

/// How near is near: three lines of prose.
pub(crate) const NEAR: usize = 260;

/// One pattern with its meaning.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) check: CheckId,
    /// Stable, under its check: `CHECK-01/override`.
    pub(crate) id: &'static str,
    /// What a match amounts to where it is an instruction or code that would run.
    pub(crate) status: Status,
    pub(crate) scope: Scope,
    /// What it looks for, any of them. Case-insensitive, bytes, no Unicode classes; linear time. Every match of each must hold
    /// some word of four bytes or more, by which it is found: `anchors.rs`.
    pub(crate) patterns: &'static [&'static str],
    /// What must stand near a match, within [`NEAR`] bytes on either side, for it to count; empty for nothing.
    pub(crate) near: &'static str,
    pub(crate) why: &'static str,
    pub(crate) advice: &'static str,
    /// MITRE ATT&CK or ATLAS techniques.
    pub(crate) techniques: &'static [&'static str],
}

/// What the rules of one check have in common.
pub(crate) struct Family {
    pub(crate) check: CheckId,
    pub(crate) advice: &'static str,
    pub(crate) techniques: &'static [&'static str],
}

impl Family {
    pub(crate) const fn rule(
        &self,
        id: &'static str,
        status: Status,
        scope: Scope,
        patterns: &'static [&'static str],
        why: &'static str,
    ) -> Rule {
        let Self { check, advice, techniques } = *self;
        Rule { check, id, status, scope, patterns, near: "", why, advice, techniques }
    }
}

impl Rule {
    /// The same rule, which stands for these techniques.
    pub(crate) const fn techniques(self, techniques: &'static [&'static str]) -> Self {
        Self { techniques, ..self }
    }

    /// The same rule, which counts only where this stands near.
    pub(crate) const fn near(self, near: &'static str) -> Self {
        Self { near, ..self }
    }
}
