//! What learning came to, for people and for programs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use skillsandbox_learn::{FileGrant, RehearsalResult};

use crate::output::{self, message, visible};
use crate::style::{BOLD, RESET, YELLOW};

/// Lines of what a skill complained of that are shown where it did not end well.
const MOST_LINES: usize = 8;

/// The version of the JSON form.
const VERSION: u32 = 1;

pub(super) fn text(result: &RehearsalResult, written: &Path, is_accepted: bool) {
    let rounds = result.rounds;
    let times = if rounds == 1 { "1 rehearsal".to_owned() } else { format!("{rounds} rehearsals") };
    message("");
    if !result.is_settled {
        message(&format!(
            "{YELLOW}after {times} it still wanted more{RESET}: learn it again, and what it wants then is added"
        ));
    }
    if result.seen.omitted > 0 {
        message(&format!("{YELLOW}{} more things were seen than are kept{RESET}", result.seen.omitted));
    }
    let exit = &result.last.exit;
    if exit.exit_code != Some(0) {
        let how = match (exit.exit_code, exit.signal) {
            (Some(code), _) => format!("ended with {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "did not end".to_owned(),
        };
        message(&format!("{YELLOW}in the last rehearsal the skill {how}{RESET}; it said:"));
        let last = &result.last;
        let said = if last.stderr.is_empty() { &last.stdout } else { &last.stderr };
        let said = String::from_utf8_lossy(said);
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().skip(lines.len().saturating_sub(MOST_LINES)) {
            message(&format!("  {}", visible(line)));
        }
    }
    for grant in &result.done_without {
        message(&format!("looked for and done without: {}", visible(&grant.path().display().to_string())));
    }
    for limit in &result.raised {
        message(&format!("raised: resources.{} to {} ({})", limit.key, limit.value, limit.evidence));
    }
    for limit in &exit.limits_hit {
        message(&format!(
            "{YELLOW}it reached its limit of {}{RESET}: raise it in `resources`",
            visible(limit)
        ));
    }
    let path = visible(&written.display().to_string());
    if is_accepted {
        message(&format!("{BOLD}{path}{RESET} is written, after {times}"));
    } else {
        message(&format!(
            "only a draft is written, after {times}: {BOLD}{path}{RESET}\nnobody has accepted it; use a terminal, or --yes-files and --allow-host"
        ));
    }
}

pub(super) fn json(
    result: &RehearsalResult,
    manifest: &str,
    written: &Path,
    is_accepted: bool,
    variables: &BTreeMap<String, Vec<String>>,
    left_out: &[(String, String)],
) -> anyhow::Result<()> {
    let files = result.proposals.files.iter().map(|one| {
        json!({
            "access": match one.grant { FileGrant::Read(_) => "read", FileGrant::Write(_) => "write" },
            "path": one.spelling,
            "width": one.width.describe(),
            "evidence": one.evidence,
        })
    });
    let hosts = result.proposals.hosts.iter().map(|one| {
        json!({
            "host": one.to.host,
            "port": one.to.port,
            "protocol": one.protocol.as_str(),
            "granted": one.is_granted,
            "evidence": one.evidence,
        })
    });
    let findings = result.proposals.findings.iter().map(|one| json!({ "what": one.what, "why": one.why }));
    let findings = findings.chain(left_out.iter().map(|(what, why)| json!({ "what": what, "why": why })));
    output::json(&json!({
        "version": VERSION,
        "accepted": is_accepted,
        "written": written.display().to_string(),
        "rounds": result.rounds,
        "settled": result.is_settled,
        "exit_code": result.last.exit.exit_code,
        "signal": result.last.exit.signal,
        "limits_hit": result.last.exit.limits_hit,
        "files": files.collect::<Vec<_>>(),
        "hosts": hosts.collect::<Vec<_>>(),
        "variables": variables,
        "findings": findings.collect::<Vec<_>>(),
        "manifest": manifest,
    }))
}
