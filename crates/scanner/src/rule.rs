//! What a rule is: what it looks for, how much it weighs, what to tell people. Each belongs to one check, and stands in the one registry of
//! [`checks`](crate::checks).

use serde::Serialize;

use crate::text::PassageRole;

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
pub enum FindingStatus {
    /// Worth knowing, no judgement.
    Pass,
    /// A person should look.
    Warn,
    /// Clearly malicious.
    Block,
}

impl FindingStatus {
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

/// What the registry says of one rule. Findings can be made of nothing else, so a rule that no page explains cannot be.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleInfo {
    /// The check it belongs to.
    pub check: CheckId,
    /// Its name under its check: `dns-exfil` of `CHECK-04/dns-exfil`. It never changes its meaning.
    pub id: &'static str,
    /// What a finding amounts to at most, where nothing makes it milder.
    pub status: FindingStatus,
    /// What a passage it finds is there for, unless the passage itself says otherwise.
    pub role: PassageRole,
    /// Whether it states what stands there and infers nothing.
    pub is_fact: bool,
    /// What it looks for, and why that matters, in a sentence without its full stop.
    pub summary: &'static str,
    /// What to do.
    pub advice: &'static str,
    /// MITRE ATT&CK or ATLAS techniques.
    pub techniques: &'static [&'static str],
}

impl RuleInfo {
    /// The name in reports: `CHECK-04/dns-exfil`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.check.as_str(), self.id)
    }

    /// The same rule, which states a fact.
    pub(crate) const fn fact(self) -> Self {
        Self { is_fact: true, ..self }
    }

    /// The same rule about passages that are there for something else than data.
    pub(crate) const fn role(self, role: PassageRole) -> Self {
        Self { role, ..self }
    }

    /// The same rule, with advice of its own.
    pub(crate) const fn advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }

    /// The same rule, which stands for these techniques.
    pub(crate) const fn techniques(self, techniques: &'static [&'static str]) -> Self {
        Self { techniques, ..self }
    }
}

/// In which parts of a text a rule means anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleScope {
    /// Sentences: prose, comments, front matter, plain fenced text.
    Words,
    /// Sentences so plain in their meaning that they count in code and data too.
    Anywhere,
    /// Commands and programs: scripts, fenced code, inline code, and sentences that tell to run them.
    Code,
}

/// How near is near: three lines of prose.
pub(crate) const NEAR: usize = 260;

/// A rule that is patterns, and nothing else to find it by.
#[derive(Debug)]
pub(crate) struct PatternRule {
    pub(crate) info: RuleInfo,
    pub(crate) scope: RuleScope,
    /// What it looks for, any of them. Case-insensitive, bytes, no Unicode classes; linear time. Every match of each must hold
    /// some word of four bytes or more, by which it is found: `anchors.rs`.
    pub(crate) patterns: &'static [&'static str],
    /// What must stand near a match, within [`NEAR`] bytes on either side, for it to count; empty for nothing.
    pub(crate) near: &'static str,
}

/// What the rules of one check have in common.
pub(crate) struct RuleFamily {
    pub(crate) check: CheckId,
    pub(crate) advice: &'static str,
    pub(crate) techniques: &'static [&'static str],
}

impl RuleFamily {
    /// A rule that is patterns.
    pub(crate) const fn rule(
        &self,
        id: &'static str,
        status: FindingStatus,
        scope: RuleScope,
        patterns: &'static [&'static str],
        summary: &'static str,
    ) -> PatternRule {
        let role = match scope {
            RuleScope::Words | RuleScope::Anywhere => PassageRole::Instruction,
            RuleScope::Code => PassageRole::Code,
        };
        let info = self.code(id, status, summary).role(role);
        PatternRule { info, scope, patterns, near: "" }
    }

    /// A rule that is code.
    pub(crate) const fn code(
        &self,
        id: &'static str,
        status: FindingStatus,
        summary: &'static str,
    ) -> RuleInfo {
        let Self { check, advice, techniques } = *self;
        RuleInfo { check, id, status, role: PassageRole::Data, is_fact: false, summary, advice, techniques }
    }
}

impl PatternRule {
    /// The same rule, which stands for these techniques.
    pub(crate) const fn techniques(self, techniques: &'static [&'static str]) -> Self {
        Self { info: self.info.techniques(techniques), ..self }
    }

    /// The same rule, which counts only where this stands near.
    pub(crate) const fn near(self, near: &'static str) -> Self {
        Self { near, ..self }
    }
}

/// What stands in a table of patterns about the rule of an id, for code that finds the same. A table without it does not compile.
pub(crate) const fn pattern_info(rules: &'static [PatternRule], id: &str) -> &'static RuleInfo {
    let mut at = 0;
    loop {
        // Past the end, this is an error of the compiler.
        #[allow(clippy::indexing_slicing)]
        let rule = &rules[at];
        if is_same(rule.info.id.as_bytes(), id.as_bytes()) {
            return &rule.info;
        }
        at += 1;
    }
}

/// Whether two texts are the same, at compile time.
const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
        if *first != *second {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}

/// Declares the rules of a check that are code, and the list of them: a rule cannot be in one and not in the other.
macro_rules! code_rules {
    ($($name:ident = $rule:expr;)+) => {
        $(pub(crate) static $name: $crate::rule::RuleInfo = $rule;)+

        /// All of them, for the registry.
        static CODE_RULES: &[&$crate::rule::RuleInfo] = &[$(&$name),+];
    };
}
pub(crate) use code_rules;
