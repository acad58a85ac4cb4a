//! The eight checks, one file each.

pub(crate) mod binaries;
pub(crate) mod delegation;
pub(crate) mod dependencies;
pub(crate) mod exfiltration;
pub(crate) mod fetched_hosts;
pub(crate) mod front_matter;
pub(crate) mod injection;
pub(crate) mod installers;
pub(crate) mod obfuscation;
pub(crate) mod secret_flow;
pub(crate) mod spoofing;
pub(crate) mod supply_chain;
pub(crate) mod tools;

use crate::rule::Rule;

/// Every rule that is a pattern.
pub(crate) fn rules() -> Vec<&'static Rule> {
    [injection::RULES, exfiltration::RULES, supply_chain::RULES, tools::RULES, delegation::RULES]
        .into_iter()
        .flatten()
        .collect()
}
