//! What was found, for people.

use std::fmt::Write as _;
use std::path::Path;

use super::config::{FoundServer, ServerState};
use super::places::{AgentPlace, HOOKS, PLACES, PlaceBase};
use super::{Discovery, FoundAgent, FoundDocument, HookState};
use crate::output::visible;
use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// Documents of one agent that are listed; those that are not SAFE come first, and all of them are.
const MOST_LISTED: usize = 40;

pub(super) fn text(found: &Discovery) -> String {
    if found.agents.is_empty() {
        return "No agent of yours was found. `skillsandbox discover --places` says where was looked.\n"
            .to_owned();
    }
    let mut text = String::new();
    for agent in &found.agents {
        tell_agent(&mut text, found, agent);
    }
    text + &summary(found)
}

fn tell_agent(text: &mut String, found: &Discovery, agent: &FoundAgent) {
    let _ = writeln!(text, "{BOLD}{}{RESET}", agent.agent);
    if let (Some(state), Some((_, hook))) = (agent.hook, HOOKS.iter().find(|(name, _)| *name == agent.agent))
    {
        let _ = match state {
            HookState::Installed => writeln!(text, "  hook: {GREEN}installed{RESET}"),
            HookState::SwitchedOff => {
                writeln!(text, "  hook: {RED}switched off{RESET} by its settings")
            }
            HookState::Weakened => writeln!(
                text,
                "  hook: {RED}weakened{RESET}; `skillsandbox hook {hook} --print-settings` prints lines that can be relied on"
            ),
            HookState::Missing => writeln!(
                text,
                "  hook: {YELLOW}not installed{RESET}; `skillsandbox hook {hook} --print-settings` prints the lines for its settings"
            ),
        };
    }
    for why in &agent.hook_problems {
        let _ = writeln!(text, "        {}", visible(why));
    }
    if !agent.servers.is_empty() {
        text.push_str("  MCP servers\n");
    }
    for server in &agent.servers {
        tell_server(text, found, server);
    }
    if !agent.documents.is_empty() {
        text.push_str("  Skills, plugins and what else it obeys\n");
    }
    tell_documents(text, found, &agent.documents);
    for problem in &agent.problems {
        let _ = writeln!(
            text,
            "  {RED}not judged{RESET} {}: {}",
            shown(found, &problem.path),
            visible(&problem.why)
        );
    }
    text.push('\n');
}

fn tell_server(text: &mut String, found: &Discovery, server: &FoundServer) {
    let (colour, word) = match server.state {
        ServerState::Confined => (GREEN, "confined"),
        ServerState::Wide => (RED, "wide"),
        ServerState::Unconfined => (RED, "not confined"),
        ServerState::Remote => (YELLOW, "remote"),
        ServerState::Unclear => (RED, "unclear"),
    };
    let place = shown(found, &server.file);
    let project =
        server.project.as_deref().map(|project| format!(", for {}", visible(project))).unwrap_or_default();
    let _ = writeln!(
        text,
        "    {colour}{word:<12}{RESET} {}  {DIM}{place}{project}{RESET}",
        visible(&server.name)
    );
    if !server.starts.is_empty() {
        let _ = writeln!(text, "                 {}", visible(&server.starts));
    }
    for why in &server.why {
        let _ = writeln!(text, "                 {}", visible(why));
    }
    if let Some(change) = &server.change {
        let _ = writeln!(text, "                 to confine it: {}", visible(change));
    }
}

fn tell_documents(text: &mut String, found: &Discovery, documents: &[FoundDocument]) {
    let (safe, other): (Vec<_>, Vec<_>) =
        documents.iter().partition(|document| document.verdict == "SAFE" && document.complete);
    let room = MOST_LISTED.saturating_sub(other.len());
    for document in other.iter().chain(safe.iter().take(room)) {
        let colour = match document.verdict {
            "SAFE" => GREEN,
            "WARNING" => YELLOW,
            _ => RED,
        };
        let path = shown(found, &document.path);
        let _ = write!(
            text,
            "    {colour}{:<12}{RESET} {}  {DIM}{path}{RESET}",
            document.verdict,
            visible(&document.name)
        );
        if document.findings > 0 {
            let things = if document.findings == 1 { "finding" } else { "findings" };
            let _ = write!(text, "  {} {things}", document.findings);
        }
        if !document.complete {
            let _ = write!(text, "  {RED}not all of it could be read{RESET}");
        }
        text.push('\n');
    }
    if safe.len() > room {
        let _ = writeln!(text, "    {DIM}and {} more that are SAFE{RESET}", safe.len() - room);
    }
}

fn summary(found: &Discovery) -> String {
    let servers = || found.agents.iter().flat_map(|agent| &agent.servers);
    let documents = || found.agents.iter().flat_map(|agent| &agent.documents);
    let of = |state: ServerState| servers().filter(|server| server.state == state).count();
    let with = |verdict: &str| documents().filter(|document| document.verdict == verdict).count();
    let problems: usize = found.agents.iter().map(|agent| agent.problems.len()).sum();
    let unconfined = of(ServerState::Unconfined) + of(ServerState::Unclear) + of(ServerState::Wide);
    let mut text = format!(
        "MCP servers: {} ({} confined, {unconfined} not, {} remote). Skills and plugins: {} ({} SAFE, {} WARNING, {} BLOCKED).\n",
        servers().count(),
        of(ServerState::Confined),
        of(ServerState::Remote),
        documents().count(),
        with("SAFE"),
        with("WARNING"),
        with("BLOCKED"),
    );
    if problems > 0 {
        let _ = writeln!(text, "{RED}Not judged: {problems}{RESET}.");
    }
    if unconfined > 0 {
        text.push_str(
            "A server that is confined has what `wrap` is told to grant: see `skillsandbox wrap --help`.\n",
        );
    }
    if documents().next().is_some() {
        text.push_str(
            "Agents run the scripts of their skills with all their own rights. To give them confined:\n\
             `skillsandbox install FOLDER`, and `skillsandbox serve` as an MCP server.\n",
        );
    }
    text
}

/// A path as people write it.
fn shown(found: &Discovery, path: &Path) -> String {
    let short = match (path.strip_prefix(&found.project), path.strip_prefix(&found.home)) {
        (Ok(rest), _) if found.project != found.home => format!("./{}", rest.display()),
        (_, Ok(rest)) => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    };
    visible(&short)
}

/// A place as people write it.
pub(super) fn place_path(place: &AgentPlace) -> String {
    match place.base {
        PlaceBase::Home => format!("~/{}", place.path),
        PlaceBase::Project => format!("./{}", place.path),
    }
}

/// Where is looked.
pub(super) fn places() -> String {
    let mut text = String::new();
    for place in PLACES {
        let _ = writeln!(text, "{:<12} {:<32} {}", place.agent, place_path(place), place.documented);
    }
    text
}
