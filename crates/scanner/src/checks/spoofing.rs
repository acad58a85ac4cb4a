//! # CHECK-02: name spoofing
//!
//! ## What it looks for
//! A skill that takes the name of a system skill: exactly, with look-alike letters, other separators or case, or one letter off; or
//! that claims to be a vendor's own.
//!
//! ## Why it matters
//! Users and agents trust names.
//!
//! ## Flagged
//! `system-agent` from a stranger, with a Cyrillic `а` too.
//!
//! ## Not flagged
//! Skills from trusted sources.
//!
//! ## Blind spots
//! Names that no list holds.
//!
//! ## References
//! MITRE ATT&CK T1036.005.

use crate::checks::{Check, CheckInfo};
use crate::finding::Finding;
use crate::look_alikes::skeleton;
use crate::rule::CheckId::Spoofing;
use crate::rule::FindingStatus::{Block, Warn};
use crate::rule::{FindingStatus, RuleFamily, RuleInfo, code_rules};
use crate::scan_context::{MainDocument, ScanContext, ScanSubject};

const FAMILY: RuleFamily =
    RuleFamily { check: Spoofing, advice: "Install it only under another name.", techniques: &["T1036.005"] };

code_rules! {
    EXACT = FAMILY.code("exact", Block, "The skill has the name of a system skill").fact();
    LOOK_ALIKE = FAMILY.code(
        "look-alike",
        Block,
        "The name differs from a system skill's only in case, separators or letters that look alike",
    );
    TYPOSQUAT = FAMILY.code(
        "typosquat",
        Block,
        "The name is one letter off a system skill's or a maker's; BLOCK where the text claims that maker's authority, too",
    );
    VENDOR_CLAIM =
        FAMILY.code("vendor-claim", Block, "The skill claims to be a vendor's own, and to be preferred over others")
            .advice("Check who publishes it.");
    MIXED_SCRIPT = FAMILY.code("mixed-script", Block, "The name mixes alphabets to look like another");
}

/// CHECK-02: the name that a skill takes.
pub(crate) struct SpoofingCheck;

static INFO: CheckInfo = CheckInfo {
    id: Spoofing,
    source: include_str!("spoofing.rs"),
    pattern_rules: &[],
    code_rules: &[CODE_RULES],
};

impl Check for SpoofingCheck {
    fn info(&self) -> &'static CheckInfo {
        &INFO
    }

    fn run(&self, context: &ScanContext<'_>, subject: &ScanSubject<'_>, findings: &mut Vec<Finding>) {
        let ScanSubject::Document(MainDocument { file, text, .. }) = *subject else { return };
        if context.scanner.is_trusted(&context.skill.source) {
            return;
        }
        let name = &context.name;
        let mut add = |finding: Finding| findings.push(finding);
        if let Some((rule, status, why)) = compare_with_system(name, &context.scanner.system_names) {
            add(Finding::in_file(rule, file, 0..0, why).with_status(status));
        }
        if let Some((rule, status, why)) = find_borrowed(name, || claims_authority(text)) {
            let advice = VENDOR_CLAIM.advice;
            add(Finding::in_file(rule, file, 0..0, why).with_status(status).with_advice(advice));
        }
        if is_mixed_script(name) {
            let why = format!("The name mixes alphabets to look like {}", fold_name(name));
            add(Finding::in_file(&MIXED_SCRIPT, file, 0..0, why));
        }
    }
}

/// A rule, what it amounts to here, and why.
type NameJudgement = (&'static RuleInfo, FindingStatus, String);

/// A name without what people overlook: case, separators, look-alikes.
fn fold_name(name: &str) -> String {
    let skeleton: String = skeleton(&name.to_lowercase()).collect();
    skeleton.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Compares a skill's name with the names of system skills.
fn compare_with_system(name: &str, system: &[String]) -> Option<NameJudgement> {
    for known in system {
        if name == known {
            return Some((
                &EXACT,
                Block,
                format!("Name conflict with system skill {known} — possible trust hijacking"),
            ));
        }
        if fold_name(name) == fold_name(known) {
            return Some((
                &LOOK_ALIKE,
                Block,
                format!("Name conflict with system skill {known} — possible trust hijacking (look-alike)"),
            ));
        }
    }
    for known in system.iter().filter(|known| known.chars().count() >= 6) {
        if strsim::damerau_levenshtein(&fold_name(name), &fold_name(known)) == 1 {
            return Some((&TYPOSQUAT, Warn, format!("The name is one letter off the system skill {known}")));
        }
    }
    None
}

/// Makers and products whose names are worth borrowing.
const BRANDS: &[&str] = &[
    "anthropic",
    "claude",
    "openai",
    "chatgpt",
    "codex",
    "google",
    "gemini",
    "microsoft",
    "github",
    "gitlab",
    "slack",
    "discord",
    "telegram",
    "notion",
    "stripe",
    "paypal",
    "amazon",
    "azure",
    "docker",
    "kubernetes",
    "openclaw",
    "clawhub",
    "clawdbot",
    "cursor",
    "vercel",
    "cloudflare",
    "metamask",
    "coinbase",
    "binance",
    "official",
    "security",
    "dropbox",
    "linkedin",
    "whatsapp",
];

/// A name that claims to be, or almost is, somebody else's; `claims` says that the text claims it, too.
fn find_borrowed(name: &str, claims: impl Fn() -> bool) -> Option<NameJudgement> {
    let lower = name.to_lowercase();
    let parts: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|part| part.len() >= 5).collect();
    for part in &parts {
        let plain: String = part
            .chars()
            .map(|c| match c {
                '0' => 'o',
                '1' => 'l',
                '3' => 'e',
                '5' => 's',
                c => c,
            })
            .collect();
        for brand in BRANDS {
            let disguised = part != brand && plain == *brand;
            let near = part != brand
                && part.len().abs_diff(brand.len()) <= 1
                && strsim::damerau_levenshtein(part, brand) == 1
                && !brand.starts_with(*part)
                && !part.starts_with(*brand);
            // One letter off is chance more often than not (`stack`, `slack`), unless the text claims the name.
            if disguised || (near && claims()) {
                let status = if claims() { Block } else { Warn };
                return Some((&TYPOSQUAT, status, format!("`{part}` in the name is almost `{brand}`")));
            }
        }
    }
    let named = BRANDS
        .iter()
        .filter(|brand| !matches!(**brand, "official" | "security"))
        .any(|brand| parts.contains(brand));
    if (named || lower.contains("official")) && claims() {
        return Some((
            &VENDOR_CLAIM,
            Block,
            "It claims to be a vendor's own, and to be preferred over others".to_owned(),
        ));
    }
    None
}

/// Whether a text claims a vendor's authority for itself.
fn claims_authority(text: &str) -> bool {
    let lower = text.to_lowercase();
    let preferred = [
        "always prefer this skill",
        "prefer this skill over",
        "use this skill instead of",
        "replaces the official",
        "supersedes the official",
    ];
    let verified = [
        "verified by the anthropic",
        "verified by anthropic",
        "verified by openai",
        "verified by google",
        "verified by microsoft",
        "official skill published by the vendor",
        "certified by anthropic",
        "approved by anthropic",
        "endorsed by anthropic",
    ];
    preferred.iter().chain(&verified).any(|claim| lower.contains(claim))
}

/// A name that mixes scripts so that it looks like another.
fn is_mixed_script(name: &str) -> bool {
    let latin = name.chars().any(|c| c.is_ascii_alphabetic());
    let look_alike = name.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}' | '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}'));
    latin && look_alike
}
