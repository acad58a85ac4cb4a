//! What was found, where, and in which role.

use serde::Serialize;

use crate::rule::{CheckId, Status};
use crate::text::Role;

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The rule, under its check: `CHECK-04/secret-to-network`.
    pub rule: String,
    /// The check.
    pub check: CheckId,
    /// What it amounts to here, its role taken into account.
    pub status: Status,
    /// The file, below the skill's folder; empty for the skill as a whole.
    pub file: String,
    /// The line, from 1; 0 for the skill as a whole.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The byte range in the file.
    pub range: (usize, usize),
    /// The passage, shortened and escaped, with secrets masked.
    pub snippet: String,
    /// What the passage is there for.
    pub role: Role,
    /// What made it milder than the rule alone would be.
    pub mitigations: Vec<&'static str>,
    /// How it was encoded, outermost first.
    pub decoded_from: Vec<String>,
    /// Why it matters.
    pub why: String,
    /// What to do.
    pub advice: String,
    /// MITRE ATT&CK or ATLAS techniques.
    pub techniques: Vec<&'static str>,
}

/// Most characters of a snippet.
const MAX_SNIPPET: usize = 160;

/// A passage for people: one line, short, nothing that moves a cursor, no secret readable.
pub(crate) fn snippet(passage: &[u8]) -> String {
    let text = String::from_utf8_lossy(passage.get(..passage.len().min(MAX_SNIPPET * 4)).unwrap_or_default());
    let mut out = String::new();
    for (length, c) in text.trim().chars().enumerate() {
        if length >= MAX_SNIPPET {
            out.push('…');
            break;
        }
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if skillsandbox_manifest::is_deceptive(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    mask(&out)
}

/// Hides what looks like a key: a long run without spaces that mixes letters and digits behind a known prefix.
fn mask(text: &str) -> String {
    const PREFIXES: &[&str] =
        &["AKIA", "ghp_", "gho_", "sk-", "sk_live_", "xoxb-", "xoxp-", "AIza", "glpat-", "npm_"];
    let mut out = text.to_owned();
    for prefix in PREFIXES {
        let Some(at) = out.find(prefix) else { continue };
        let tail: String = out
            .chars()
            .skip(out.get(..at).map_or(0, |head| head.chars().count()) + prefix.len())
            .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
            .collect();
        if tail.len() >= 12 {
            out = out.replace(&tail, "…[masked]");
        }
    }
    out
}
