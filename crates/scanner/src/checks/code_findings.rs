//! What the facts that were read from code amount to: the findings of CHECK-04 and CHECK-08 about them.
//!
//! BLOCK only where honest code practically never does it; what honest code does at times is a WARN.

use crate::checks::exfiltration::{
    CREDENTIAL_HARVEST, KEY_TO_OTHER_HOST, PRIVATE_TO_NETWORK, SECRET_TO_NETWORK, TOO_LONG,
};
use crate::checks::installers::is_known_address;
use crate::checks::supply_chain::{
    CODE_CHANGES_AGENT, CODE_DESTROYS, CODE_PERSISTS, CODE_REMOTE_SHELL, CODE_RUNS_DECODED, CODE_RUNS_FETCHED,
};
use crate::code::capability::{Capability, CapabilityUse, SecretFlow};
use crate::code::hosts::{HostKind, classify_host, find_host, telling_words};
use crate::code::skill_code::ReadCode;
use crate::code::{ENTRY, LOADERS};
use crate::finding::{Finding, snippet};
use crate::mitigation;
use crate::rule::{FindingStatus, RuleInfo};

impl RuleInfo {
    /// Whether its findings come from reading the code of a skill together.
    pub(crate) fn is_code_reading(&self) -> bool {
        let rules: [&RuleInfo; 10] = [
            &CREDENTIAL_HARVEST,
            &KEY_TO_OTHER_HOST,
            &PRIVATE_TO_NETWORK,
            &SECRET_TO_NETWORK,
            &CODE_CHANGES_AGENT,
            &CODE_DESTROYS,
            &CODE_PERSISTS,
            &CODE_REMOTE_SHELL,
            &CODE_RUNS_DECODED,
            &CODE_RUNS_FETCHED,
        ];
        rules.contains(&self)
    }
}

/// Words of services whose keys nobody else has a use for.
const WELL_KNOWN: &[&str] = &[
    "aws",
    "github",
    "gh",
    "openai",
    "anthropic",
    "stripe",
    "google",
    "gcp",
    "azure",
    "ssh",
    "npm",
    "pypi",
    "slack",
    "wallet",
    "mnemonic",
    "database",
];

/// What is found about secrets that leave.
pub(crate) fn add_flows(read: &[ReadCode<'_>], findings: &mut Vec<Finding>) {
    for code in read {
        let leaving: Vec<_> = code.facts.flows.iter().filter(|flow| !flow.is_own_service).collect();
        for flow in &leaving {
            let (rule, status) = judge_flow(flow, &leaving, code.is_commands);
            // A host that somebody is to fill in takes nothing yet.
            let is_open = code.is_commands && classify_host(&flow.sender.object) == HostKind::Placeholder;
            let status = if is_open { status.min(FindingStatus::Warn) } else { status };
            let why = format!(
                "{}: {} goes to {}",
                rule.summary,
                snippet(flow.source.object.as_bytes()),
                shown_host(&flow.sender)
            );
            push(code, rule, status, &flow.sender, why, findings);
        }
    }
    for code in read {
        add_bundle(code, findings);
    }
    // One says it for all.
    if let Some(code) = read.iter().find(|code| code.facts.is_cut) {
        findings.push(Finding::in_file(&TOO_LONG, code.file, 0..0, TOO_LONG.summary));
    }
}

/// What a secret that leaves amounts to.
fn judge_flow(
    flow: &SecretFlow,
    others: &[&SecretFlow],
    is_commands: bool,
) -> (&'static RuleInfo, FindingStatus) {
    let host = classify_host(&flow.sender.object);
    let is_exposed = matches!(host, HostKind::Drop | HostKind::RawAddress);
    match flow.source.capability {
        Capability::ReadsNamedSecret => {
            let words = telling_words(&flow.source.object);
            let is_unrelated = |other: &&&SecretFlow| {
                other.sender.range == flow.sender.range
                    && other.source.capability == Capability::ReadsNamedSecret
                    && !telling_words(&other.source.object).iter().any(|word| words.contains(word))
            };
            let is_unknown = find_host(&flow.sender.object).is_empty() || flow.sender.object.starts_with('*');
            if (flow.source.object.ends_with(ENTRY) || is_unknown) && !is_exposed {
                (&KEY_TO_OTHER_HOST, FindingStatus::Warn)
            } else if !is_commands && others.iter().any(|other| is_unrelated(&other)) {
                (&CREDENTIAL_HARVEST, FindingStatus::Block)
            } else if is_exposed || words.iter().any(|word| WELL_KNOWN.contains(&word.as_str())) {
                (&SECRET_TO_NETWORK, FindingStatus::Block)
            } else {
                (&KEY_TO_OTHER_HOST, FindingStatus::Warn)
            }
        }
        Capability::RecordsUser | Capability::ReadsAgentData => {
            let is_key = flow.source.object.contains("credential") || flow.source.object.contains("auth");
            if is_exposed || is_key {
                (&SECRET_TO_NETWORK, FindingStatus::Block)
            } else {
                (&PRIVATE_TO_NETWORK, FindingStatus::Warn)
            }
        }
        _ => (&SECRET_TO_NETWORK, FindingStatus::Block),
    }
}

/// Whether a key is put into a map under its own name: `"GITHUB_TOKEN": os.environ["GITHUB_TOKEN"]`.
fn is_named_entry(code: &ReadCode<'_>, found: &CapabilityUse) -> bool {
    let name = found.object.rsplit(['.', '$']).next().unwrap_or(&found.object);
    let from = found.range.start.saturating_sub(name.len() + 16);
    let before = code.file.bytes.get(from..found.range.start).unwrap_or_default();
    let before = String::from_utf8_lossy(before);
    before
        .split_once(name)
        .is_some_and(|(_, rest)| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
}

/// How near the keys of a bundle stand to each other, and what packs them behind them.
const BUNDLE: usize = 400;

/// Keys of services that have nothing to do with each other, packed into one text: nobody needs that but somebody who takes them away.
fn add_bundle(code: &ReadCode<'_>, findings: &mut Vec<Finding>) {
    let is_key = |found: &&CapabilityUse| {
        found.capability == Capability::ReadsNamedSecret && is_named_entry(code, found)
    };
    let keys: Vec<_> = code.facts.uses.iter().filter(is_key).collect();
    for (at, first) in keys.iter().enumerate() {
        let words = telling_words(&first.object);
        let near = |other: &&&CapabilityUse| other.range.start.abs_diff(first.range.start) < BUNDLE;
        let is_other = |other: &&CapabilityUse| {
            other.object != first.object
                && !telling_words(&other.object).iter().any(|word| words.contains(word))
        };
        if code.is_commands {
            return;
        }
        let Some(other) = keys.iter().skip(at + 1).filter(near).find(|other| is_other(other)) else {
            continue;
        };
        let from = first.range.start.min(other.range.start);
        let to = (other.range.end.max(first.range.end) + BUNDLE).min(code.file.bytes.len());
        let window = code.file.bytes.get(from..to).unwrap_or_default();
        let packs = ["json.dumps(", "JSON.stringify(", "b64encode(", "btoa("];
        if packs.iter().any(|pack| memchr::memmem::find(window, pack.as_bytes()).is_some()) {
            let why = format!("{}: {}, {}", CREDENTIAL_HARVEST.summary, first.object, other.object);
            push(code, &CREDENTIAL_HARVEST, FindingStatus::Block, first, why, findings);
            return;
        }
    }
}

/// The host of a sender, for people.
fn shown_host(sender: &CapabilityUse) -> String {
    let host = find_host(&sender.object);
    if host.is_empty() || host.starts_with('*') {
        "a host that is not fixed".to_owned()
    } else {
        snippet(host.as_bytes())
    }
}

/// What is found about what code does to the machine.
pub(crate) fn add_effects(read: &[ReadCode<'_>], findings: &mut Vec<Finding>) {
    for code in read {
        for found in &code.facts.uses {
            let Some((rule, status)) = judge_use(found, code.is_commands) else { continue };
            let object = snippet(found.object.as_bytes());
            let why = if object.is_empty() {
                rule.summary.to_owned()
            } else {
                format!("{}: {object}", rule.summary)
            };
            push(code, rule, status, found, why, findings);
        }
    }
}

/// What one use of a capability amounts to; `None` where it is only worth knowing.
fn judge_use(found: &CapabilityUse, is_commands: bool) -> Option<(&'static RuleInfo, FindingStatus)> {
    let object = found.object.as_str();
    let host = classify_host(object);
    if is_commands {
        return judge_command(found, host);
    }
    let judged = match found.capability {
        Capability::RunsFetched if object.starts_with("a part of") => {
            (&CODE_RUNS_FETCHED, FindingStatus::Warn)
        }
        Capability::RunsFetched if object.starts_with("a file that") => {
            (&CODE_RUNS_FETCHED, FindingStatus::Warn)
        }
        Capability::RunsFetched if host == HostKind::Loopback => return None,
        Capability::RunsFetched => (&CODE_RUNS_FETCHED, FindingStatus::Block),
        Capability::RunsDecoded if object.starts_with("decoded: ") => {
            (&CODE_RUNS_DECODED, FindingStatus::Warn)
        }
        Capability::RunsDecoded => (&CODE_RUNS_DECODED, FindingStatus::Block),
        Capability::OpensRemoteShell => (&CODE_REMOTE_SHELL, FindingStatus::Block),
        Capability::Persists => {
            let loads =
                object.contains("authorized_keys") || LOADERS.iter().any(|word| object.contains(word));
            (&CODE_PERSISTS, if loads { FindingStatus::Block } else { FindingStatus::Warn })
        }
        Capability::ChangesAgent if is_settings(object) => (&CODE_CHANGES_AGENT, FindingStatus::Warn),
        Capability::Destroys => (&CODE_DESTROYS, FindingStatus::Block),
        _ => return None,
    };
    Some(judged)
}

/// The same for commands: installers are piped to shells, start-up files are edited and logs are cleared by honest people every day.
fn judge_command(found: &CapabilityUse, host: HostKind) -> Option<(&'static RuleInfo, FindingStatus)> {
    let object = found.object.as_str();
    let is_exposed = matches!(host, HostKind::Drop | HostKind::RawAddress) || object.starts_with("http://");
    let is_open = host == HostKind::Placeholder || host == HostKind::Loopback;
    let milder = |status: FindingStatus| if is_open { FindingStatus::Warn.min(status) } else { status };
    let judged = match found.capability {
        Capability::RunsFetched if host == HostKind::Loopback || is_known_address(object) => return None,
        Capability::RunsFetched if is_exposed => (&CODE_RUNS_FETCHED, FindingStatus::Block),
        Capability::RunsFetched => (&CODE_RUNS_FETCHED, FindingStatus::Warn),
        Capability::RunsDecoded => (&CODE_RUNS_DECODED, FindingStatus::Block),
        Capability::OpensRemoteShell => (&CODE_REMOTE_SHELL, milder(FindingStatus::Block)),
        Capability::Persists => {
            let loads = LOADERS.iter().any(|word| object.contains(word));
            (&CODE_PERSISTS, if loads { FindingStatus::Warn } else { FindingStatus::Pass })
        }
        Capability::ChangesAgent if is_settings(object) => (&CODE_CHANGES_AGENT, FindingStatus::Pass),
        Capability::Destroys => (&CODE_DESTROYS, FindingStatus::Warn),
        _ => return None,
    };
    Some(judged)
}

/// Whether an agent's file says what it may do, as against what it should know.
fn is_settings(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    lower.contains("settings")
        || lower.contains("mcp")
        || lower.contains("hooks")
        || lower.ends_with("_config.json")
        || lower.ends_with(".claude.json")
}

fn push(
    code: &ReadCode<'_>,
    rule: &'static RuleInfo,
    status: FindingStatus,
    place: &CapabilityUse,
    why: String,
    findings: &mut Vec<Finding>,
) {
    let mut status = status;
    let mut signs = Vec::new();
    if code.is_example {
        signs.push("in a test or an example");
    }
    if code.is_fenced {
        signs.extend(mitigation::find_code_signs(&code.file.bytes, &place.range));
    }
    // It is never silent: code that stands somewhere can be run.
    if !signs.is_empty() {
        status = status.min(FindingStatus::Warn);
    }
    let mut finding = Finding::in_file(rule, code.file, place.range.clone(), why).with_status(status);
    finding.mitigations = signs;
    findings.push(finding);
}
