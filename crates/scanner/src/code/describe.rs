//! Facts about code as lines of text, for tests and measurements.

use super::capability::{Capability, CodeFacts};
use super::plain::{PlainLanguage, read_plain};
use super::shell::read_shell;

/// What a piece of code does, a line each: `use`, the capability and its object; `flow`, or `own flow`, from a secret to a
/// sender; `cut`. The language is the ending that its files have.
#[doc(hidden)]
#[must_use]
pub fn describe_code(language: &str, text: &str) -> Vec<String> {
    let facts = match PlainLanguage::from_ending(language) {
        Some(language) => read_plain(language, text),
        None => read_shell(text),
    };
    describe_facts(&facts)
}

/// Facts, a line each.
fn describe_facts(facts: &CodeFacts) -> Vec<String> {
    let mut lines = Vec::new();
    for flow in &facts.flows {
        let kind = if flow.is_own_service { "own flow" } else { "flow" };
        let (source, sender) = (&flow.source, &flow.sender);
        lines.push(format!(
            "{kind} {} {} -> {} {} at {}..{}",
            name_capability(source.capability),
            source.object,
            name_capability(sender.capability),
            sender.object,
            sender.range.start,
            sender.range.end
        ));
    }
    for fact in &facts.uses {
        lines.push(format!(
            "use {} {} at {}..{}",
            name_capability(fact.capability),
            fact.object,
            fact.range.start,
            fact.range.end
        ));
    }
    if facts.is_cut {
        lines.push("cut".to_owned());
    }
    lines
}

/// The name of a capability, as reports write it.
fn name_capability(capability: Capability) -> String {
    serde_json::to_value(capability)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
