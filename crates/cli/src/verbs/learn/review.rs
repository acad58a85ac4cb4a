//! What a person accepts: each grant with what was seen for it.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use skillsandbox_learn::{
    DeclaredGrant, FileGrant, FileProposal, HostProposal, LearnPlaces, ManifestDraft, RehearsalResult,
    why_never,
};
use skillsandbox_manifest::{GrantPath, Manifest};
use skillsandbox_run::PersonGrants;
use skillsandbox_text::shorten;

use super::checked;
use crate::args::OutputFormat;
use crate::output::{message, visible};
use crate::style::{BOLD, DIM, RED, RESET, YELLOW};

/// Longest answer that is read: a path.
const LONGEST: u64 = 4096;

/// Longest name that is shown whole, in characters: a longer one could be made to look like several lines.
const LONGEST_NAME: usize = 160;
/// What is said of a grant that only the skill's author speaks of.
const DECLARED: &str = "declared by the skill, not seen";

/// Decides what of the proposals goes into the manifest.
pub(super) struct Review {
    yes_files: bool,
    is_shown: bool,
    is_asked: bool,
}

/// What a person says to one proposal.
enum Answer {
    Accept,
    Refuse,
    Narrow(String),
}

impl Review {
    pub(super) fn new(yes_files: bool, format: OutputFormat) -> Self {
        let is_shown = format == OutputFormat::Text;
        let is_asked = is_shown && io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { yes_files, is_shown, is_asked }
    }

    /// What was wanted and is not proposed.
    pub(super) fn show_findings(&self, result: &RehearsalResult) {
        if !self.is_shown || result.proposals.findings.is_empty() {
            return;
        }
        message(&format!("\n{YELLOW}wanted and not proposed{RESET}:"));
        for finding in &result.proposals.findings {
            message(&format!("  {RED}{}{RESET}: {}", shown_name(&finding.what), visible(&finding.why)));
        }
    }

    /// Puts what is accepted into the draft. Whether somebody has decided about everything: without a terminal nobody has about what no flag
    /// accepts, and then the draft has all of it.
    pub(super) fn accept(
        &self,
        draft: &mut ManifestDraft,
        result: &RehearsalResult,
        places: &LearnPlaces,
    ) -> anyhow::Result<bool> {
        let declared: Vec<FileGrant> = draft.file_grants(places).collect();
        let files: Vec<&FileProposal> = result.proposals.files.iter().collect();
        let new: Vec<&FileProposal> =
            files.into_iter().filter(|one| !declared.iter().any(|own| own.covers(&one.grant))).collect();
        let hosts: Vec<&HostProposal> =
            result.proposals.hosts.iter().filter(|one| !draft.has_host(&one.to)).collect();
        let mut is_decided = true;
        result.proposals.files.iter().for_each(|one| draft.renew_evidence(one));
        for proposal in new {
            self.show_file(proposal);
            if self.yes_files {
                draft.grant_file(proposal, places);
            } else if self.is_asked {
                decide_file(draft, proposal, places)?;
            } else {
                is_decided = false;
                draft.grant_file(proposal, places);
            }
        }
        for proposal in hosts {
            self.show_host(proposal);
            // The person has named it for the rehearsal already.
            if proposal.is_granted {
                draft.grant_host(proposal);
            } else if self.is_asked {
                if matches!(ask("accept this host? [y/N] ")?, Answer::Accept) {
                    draft.grant_host(proposal);
                }
            } else if !self.yes_files {
                is_decided = false;
                draft.grant_host(proposal);
            } else {
                message(&format!(
                    "  {YELLOW}not granted{RESET}: it needs --allow-host {}:{}",
                    visible(&proposal.to.host),
                    proposal.to.port
                ));
            }
        }
        Ok(is_decided)
    }

    /// What the skill's author declares, and no rehearsal showed: granted where the person says so, here or by a flag. Returns what is not.
    pub(super) fn accept_declared(
        &self,
        draft: &mut ManifestDraft,
        manifest: &Manifest,
        named: &PersonGrants,
        places: &LearnPlaces,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let mut left_out = Vec::new();
        for grant in checked::declared(manifest, places) {
            if draft.has_declared(&grant, places) {
                continue;
            }
            let what = checked::describe(&grant, places);
            let never = match &grant {
                DeclaredGrant::File(file) if file.path() == places.skill && !file.writes() => continue,
                DeclaredGrant::File(file) => why_never(file, places),
                DeclaredGrant::Host(_) | DeclaredGrant::Variable(_) => None,
            };
            let flag = match &grant {
                DeclaredGrant::Host(rule) if named.egress.contains(rule) => Some("named by --allow-host"),
                DeclaredGrant::File(_) | DeclaredGrant::Host(_) | DeclaredGrant::Variable(_) => None,
            };
            if let Some(why) = never {
                left_out.push((what, format!("declared by the skill, and never granted: {why}")));
            } else if let Some(why) = flag {
                draft.grant_declared(&grant, places, why);
            } else {
                if self.is_asked {
                    message(&format!("\n{YELLOW}{}{RESET}\n  {DIM}{DECLARED}{RESET}", shown_name(&what)));
                    if matches!(ask("accept? [y/N] ")?, Answer::Accept) {
                        draft.grant_declared(
                            &grant,
                            places,
                            "declared by the skill, not seen; accepted by you",
                        );
                        continue;
                    }
                }
                left_out.push((what, DECLARED.to_owned()));
            }
        }
        let sockets = &manifest.filesystem().unix_sockets;
        left_out.extend(sockets.iter().map(|path| (format!("socket {}", path.value), DECLARED.to_owned())));
        if self.is_shown && !left_out.is_empty() {
            message(&format!("\n{YELLOW}declared by the skill and not granted{RESET}:"));
            for (what, why) in &left_out {
                message(&format!("  {RED}{}{RESET}: {}", shown_name(what), visible(why)));
            }
        }
        Ok(left_out)
    }

    /// Variables that scripts read: asked for on a terminal, else named. A rehearsal does not show whether one is needed.
    pub(super) fn ask_for_variables(
        &self,
        draft: &mut ManifestDraft,
        variables: &BTreeMap<String, Vec<String>>,
    ) -> anyhow::Result<()> {
        if !self.is_shown {
            return Ok(());
        }
        for (name, places) in variables {
            let places = places.join(", ");
            message(&format!(
                "\n{BOLD}variable {}{RESET}\n  {DIM}read in {}{RESET}",
                visible(name),
                visible(&places)
            ));
            if !self.is_asked {
                message(&format!("  not handed on: it needs --env {}", visible(name)));
            } else if matches!(ask("hand it on? [y/N] ")?, Answer::Accept) {
                draft.grant_variable(name, &format!("read in {places}"));
            }
        }
        Ok(())
    }

    fn show_file(&self, proposal: &FileProposal) {
        if !self.is_shown {
            return;
        }
        let what = if proposal.grant.writes() { "write" } else { "read" };
        let colour = if proposal.width.is_wider() { YELLOW } else { BOLD };
        message(&format!("\n{colour}{what} {}{RESET}", shown_name(&proposal.spelling)));
        for line in &proposal.evidence {
            message(&format!("  {DIM}{}{RESET}", visible(line)));
        }
    }

    fn show_host(&self, proposal: &HostProposal) {
        if !self.is_shown {
            return;
        }
        message(&format!(
            "\n{BOLD}reach {}:{} ({}){RESET}",
            visible(&proposal.to.host),
            proposal.to.port,
            proposal.protocol.as_str()
        ));
        for line in &proposal.evidence {
            message(&format!("  {DIM}{}{RESET}", visible(line)));
        }
    }
}

/// Asks until there is an answer.
fn decide_file(
    draft: &mut ManifestDraft,
    proposal: &FileProposal,
    places: &LearnPlaces,
) -> anyhow::Result<()> {
    loop {
        match ask("accept? [y]es, [N]o, or a narrower path: ")? {
            Answer::Accept => {
                draft.grant_file(proposal, places);
                return Ok(());
            }
            Answer::Refuse => return Ok(()),
            Answer::Narrow(text) => match narrower(proposal, &text, places) {
                Ok(narrow) => {
                    draft.grant_file(&narrow, places);
                    return Ok(());
                }
                Err(why) => message(&format!("  {why}")),
            },
        }
    }
}

/// A proposal for less.
fn narrower(proposal: &FileProposal, text: &str, places: &LearnPlaces) -> Result<FileProposal, String> {
    let path: GrantPath = text.parse().map_err(|fault| format!("{fault}"))?;
    let path = path.resolve(&places.bases());
    let grant = if proposal.grant.writes() { FileGrant::Write(path) } else { FileGrant::Read(path) };
    if !proposal.grant.covers(&grant) {
        return Err(format!("that does not lie in {}", visible(&proposal.spelling)));
    }
    if let Some(why) = why_never(&grant, places) {
        return Err(format!("never granted: {}", visible(&why)));
    }
    let spelling = places.spell(grant.path()).ok_or("a manifest cannot name that")?;
    let mut narrow = proposal.clone();
    narrow.evidence.push(format!("narrowed by you from {}", proposal.spelling));
    narrow.grant = grant;
    narrow.spelling = spelling;
    Ok(narrow)
}

/// A name that a program or an author chose, in quotes where it could be taken for something else, and never longer than a line or two.
fn shown_name(name: &str) -> String {
    let short = shorten(name, LONGEST_NAME, "…");
    let is_odd = short.contains("  ") || short.contains(['?', '[', ']']) || short != name;
    visible(&if is_odd { format!("{short:?}") } else { short })
}

fn ask(question: &str) -> anyhow::Result<Answer> {
    let mut err = anstream::stderr().lock();
    let _ = write!(err, "  {question}");
    let _ = err.flush();
    let mut answer = String::new();
    io::Read::take(io::stdin().lock(), LONGEST).read_line(&mut answer)?;
    Ok(match answer.trim() {
        "y" | "Y" | "yes" | "Yes" => Answer::Accept,
        "" | "n" | "N" | "no" | "No" => Answer::Refuse,
        other => Answer::Narrow(other.to_owned()),
    })
}
