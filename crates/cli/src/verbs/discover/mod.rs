//! `skillsandbox discover`: what this person's agents have, what the scanner says of it, and what of it is confined. `docs/agents.md`.
//!
//! It reads, and does nothing else: nothing is executed, nothing is written, no network is used.

mod config;
pub(crate) mod confinement;
mod places;
mod render;
mod shown;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use skillsandbox_manifest::user_folders;
use skillsandbox_path_policy::{AccessKind, PathPolicy};
use skillsandbox_run::UserPolicy;
use skillsandbox_scanner::{ScanTree, ScanVerdict, Scanner};

use super::hook::SettingsHook;
use super::policy::PolicyArgs;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer};
use config::{ConfigFile, FoundServer, ServerState, file_of_plugin, read_config};
use places::{AgentPlace, HOOKS, PLACES, PLUGIN_CONFIGURATIONS, PlaceBase, PlaceKind};

/// The version of the JSON form.
const VERSION: u32 = 1;
/// Most entries of a folder of skills that are looked at.
const MOST_ENTRIES: usize = 5_000;
/// Most entries of a folder of plugins that are searched for configurations, and how deep.
const MOST_SEARCHED: usize = 200_000;
const DEPTH: usize = 64;
/// Most things that are scanned in one place.
const MOST_SCANNED: usize = 1_000;

/// Find the skills, plugins and MCP servers of your agents, and say what is confined
///
/// Looks where Claude Code, Codex, Gemini CLI, Cursor, `OpenClaw` and VS Code keep them, in your home and in a project. Executes nothing, changes
/// nothing, uses no network, and shows no values of variables.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox discover
  skillsandbox discover --project ~/work/app --format json
  skillsandbox discover --places

Exit codes: 0 all that was found is confined and not BLOCKED, 1 something is not, or could not be judged, 2 an error.")]
pub(crate) struct DiscoverArgs {
    /// The project whose agents are looked at, beside your own
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,

    /// Only say where is looked, and where that is documented
    #[arg(long)]
    places: bool,

    #[command(flatten)]
    policy: PolicyArgs,

    /// How to show the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Discovery {
    version: u32,
    home: PathBuf,
    project: PathBuf,
    agents: Vec<FoundAgent>,
}

/// What one agent has.
#[derive(Debug, Default, Serialize)]
struct FoundAgent {
    agent: &'static str,
    /// Whether the hook is called before each of its tool calls; null where there is no hook for it.
    hook: Option<HookState>,
    /// Why a hook that is there cannot be relied on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hook_problems: Vec<String>,
    servers: Vec<FoundServer>,
    /// Skills, plugins and documents that it obeys.
    documents: Vec<FoundDocument>,
    /// What was not judged, each with why.
    problems: Vec<FoundProblem>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum HookState {
    Installed,
    /// It is in the settings, but not as it was printed: it may not see a call, or not be able to refuse it.
    Weakened,
    /// It is in the settings, and they switch hooks off.
    SwitchedOff,
    Missing,
}

/// A skill, a plugin, or documents that are judged together.
#[derive(Debug, Serialize)]
struct FoundDocument {
    path: PathBuf,
    name: String,
    verdict: &'static str,
    /// Findings that count.
    findings: usize,
    /// Whether all of it was read.
    complete: bool,
    digest: String,
}

#[derive(Debug, Serialize)]
struct FoundProblem {
    path: PathBuf,
    why: String,
}

impl DiscoverArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        if self.places {
            return self.show_places();
        }
        let home = user_folders::home().context("there is no home folder; set HOME")?;
        let failed = |path: &Path| format!("cannot look into {}", path.display());
        let home = home.canonicalize().with_context(|| failed(&home))?;
        let project = self.project.canonicalize().with_context(|| failed(&self.project))?;
        let policy = self.policy.load([&project])?;
        let search = Search::new(&home, &project, &policy)?;
        let discovery = Discovery { version: VERSION, agents: search.agents(), home, project };
        match self.format {
            OutputFormat::Json => output::json(&serde_json::to_value(&discovery)?)?,
            OutputFormat::Text => output::result(&render::text(&discovery))?,
        }
        Ok(if discovery.agents.iter().all(FoundAgent::is_fine) { ExitAnswer::Yes } else { ExitAnswer::No })
    }

    fn show_places(&self) -> anyhow::Result<ExitAnswer> {
        match self.format {
            OutputFormat::Json => {
                let row = |place: &AgentPlace| {
                    let path = render::place_path(place);
                    serde_json::json!({ "agent": place.agent, "path": path, "documented": place.documented })
                };
                output::json(&PLACES.iter().map(row).collect())?;
            }
            OutputFormat::Text => output::result(&render::places())?,
        }
        Ok(ExitAnswer::Yes)
    }
}

impl FoundAgent {
    fn is_empty(&self) -> bool {
        self.servers.is_empty()
            && self.documents.is_empty()
            && self.problems.is_empty()
            && self.hook.is_none()
    }

    fn is_fine(&self) -> bool {
        let confined = |server: &FoundServer| match server.state {
            ServerState::Confined | ServerState::Remote => true,
            ServerState::Wide | ServerState::Unconfined | ServerState::Unclear => false,
        };
        let judged =
            |document: &FoundDocument| document.verdict != ScanVerdict::Blocked.as_str() && document.complete;
        // A skill that an agent runs by itself has the agent's rights; the hook at least looks at the calls.
        let guarded = self.documents.is_empty() || self.hook == Some(HookState::Installed);
        self.problems.is_empty()
            && guarded
            && self.hook != Some(HookState::Weakened)
            && self.servers.iter().all(confined)
            && self.documents.iter().all(judged)
    }
}

/// What is searched, and how it is judged.
struct Search<'a> {
    home: &'a Path,
    project: &'a Path,
    /// Both, and nothing else: a link that leads elsewhere is not followed.
    reach: PathPolicy,
    scanner: Scanner,
}

impl<'a> Search<'a> {
    fn new(home: &'a Path, project: &'a Path, policy: &UserPolicy) -> anyhow::Result<Self> {
        let reach = PathPolicy::builder().root(home).read_only().read_root(project).build()?;
        Ok(Self { home, project, reach, scanner: policy.scanner_builder()?.build() })
    }

    fn agents(&self) -> Vec<FoundAgent> {
        let mut agents: Vec<FoundAgent> = Vec::new();
        let mut seen = HashSet::new();
        let mut hooks: BTreeMap<&str, SettingsHook> = BTreeMap::new();
        for place in PLACES {
            let path = self.path_of(place);
            // The project may be the home, and a link may lead from one agent's place to another's.
            if !seen.insert((place.agent, path.clone())) || path.symlink_metadata().is_err() {
                continue;
            }
            if agents.last().is_none_or(|agent| agent.agent != place.agent) {
                agents.push(FoundAgent { agent: place.agent, ..FoundAgent::default() });
            }
            let Some(agent) = agents.last_mut() else { continue };
            match place.kind {
                PlaceKind::Json(_) | PlaceKind::Toml(_) => {
                    let hook = self.look_at_config(&path, place.kind, agent);
                    let known = hooks.entry(place.agent).or_default();
                    known.calls |= hook.calls;
                    known.is_off |= hook.is_off;
                    known.weak.extend(hook.weak);
                }
                PlaceKind::Documents => self.scan(&path, agent),
                PlaceKind::Plugins => {
                    self.scan(&path, agent);
                    self.look_at_plugins(&path, agent);
                }
            }
        }
        for agent in &mut agents {
            let has_hook = HOOKS.iter().any(|(name, _)| *name == agent.agent);
            let found = hooks.remove(agent.agent).unwrap_or_default();
            agent.hook = has_hook.then_some(match found {
                SettingsHook { calls: false, ref weak, .. } if weak.is_empty() => HookState::Missing,
                SettingsHook { is_off: true, .. } => HookState::SwitchedOff,
                // One that can refuse is enough, whatever else is called.
                SettingsHook { calls: true, .. } => HookState::Installed,
                SettingsHook { calls: false, .. } => HookState::Weakened,
            });
            if agent.hook == Some(HookState::Weakened) {
                agent.hook_problems = found.weak;
            }
        }
        agents.retain(|agent| !agent.is_empty());
        agents
    }

    fn path_of(&self, place: &AgentPlace) -> PathBuf {
        match place.base {
            PlaceBase::Home => self.home.join(place.path),
            PlaceBase::Project => self.project.join(place.path),
        }
    }

    /// Takes what a configuration has; what it says of the hook comes back.
    fn look_at_config(&self, path: &Path, kind: PlaceKind, agent: &mut FoundAgent) -> SettingsHook {
        let hook = HOOKS.iter().find(|(name, _)| *name == agent.agent).map(|(_, hook)| *hook);
        let may_be_flat = path.file_name().is_some_and(|name| name == ".mcp.json");
        let file = ConfigFile { path, kind, hook, may_be_flat, folder: self.project };
        let others = self.take_config(&file, agent);
        let (hook, others) = others.unwrap_or_default();
        for named in others {
            match file_of_plugin(&self.reach, path, &named) {
                Ok(other) => {
                    let file = ConfigFile { path: &other, may_be_flat: true, ..file };
                    for deeper in self.take_config(&file, agent).unwrap_or_default().1 {
                        let why = format!("it names one more file with MCP servers: {deeper}");
                        agent.problems.push(FoundProblem { path: other.clone(), why });
                    }
                }
                Err(why) => agent.problems.push(FoundProblem { path: path.to_owned(), why }),
            }
        }
        hook
    }

    /// Takes what one file has; the files that it names come back.
    fn take_config(
        &self,
        file: &ConfigFile<'_>,
        agent: &mut FoundAgent,
    ) -> Option<(SettingsHook, Vec<String>)> {
        let mut problem = |why| agent.problems.push(FoundProblem { path: file.path.to_owned(), why });
        match read_config(&self.reach, file) {
            Ok(Some(config)) => {
                config.problems.into_iter().for_each(&mut problem);
                agent.servers.extend(config.servers);
                Some((config.hook, config.others))
            }
            Ok(None) => None,
            Err(why) => {
                problem(why);
                None
            }
        }
    }

    /// Scans what lies in a folder: skills and plugins each by itself, the rest together.
    fn scan(&self, folder: &Path, agent: &mut FoundAgent) {
        let mut problem =
            |path: &Path, why: String| agent.problems.push(FoundProblem { path: path.to_owned(), why });
        let mut roots = Vec::new();
        match self.real_folder(folder) {
            Ok(Some(real)) => roots.push(real),
            Ok(None) => return,
            Err(why) => return problem(folder, why),
        }
        // Those who share skills between agents link each of them into place.
        for entry in roots
            .first()
            .and_then(|root| std::fs::read_dir(root).ok())
            .into_iter()
            .flatten()
            .take(MOST_ENTRIES)
            .flatten()
        {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                match self.real_folder(&entry.path()) {
                    Ok(Some(real)) => roots.push(real),
                    Ok(None) => {}
                    Err(why) => problem(&entry.path(), why),
                }
            }
        }
        let known: HashSet<PathBuf> = agent.documents.iter().map(|document| document.path.clone()).collect();
        for root in roots {
            self.scan_root(&root, &known, agent);
        }
    }

    /// Where a folder really is, if it lies in the home or the project; `None` for a file, or nothing.
    fn real_folder(&self, folder: &Path) -> Result<Option<PathBuf>, String> {
        let out = |_| "it leads out of your home and this project, so it was not looked at".to_owned();
        let real = self.reach.resolve(folder, AccessKind::Read).map_err(out)?;
        Ok(real.is_dir().then_some(real))
    }

    fn scan_root(&self, root: &Path, known: &HashSet<PathBuf>, agent: &mut FoundAgent) {
        let tree = match ScanTree::find([root]) {
            Ok(tree) => tree,
            Err(error) => {
                agent.problems.push(FoundProblem { path: root.to_owned(), why: error.to_string() });
                return;
            }
        };
        let count = tree.subjects().len();
        if count > MOST_SCANNED {
            let why = format!("it has {count} things to judge; only the first {MOST_SCANNED} were");
            agent.problems.push(FoundProblem { path: root.to_owned(), why });
        }
        let scanned: Vec<Result<Option<FoundDocument>, FoundProblem>> = (0..count.min(MOST_SCANNED))
            .into_par_iter()
            .map(|number| self.scan_subject(&tree, number))
            .collect();
        for result in scanned {
            match result {
                Ok(Some(document)) if known.contains(&document.path) => {}
                Ok(Some(document)) => agent.documents.push(document),
                Ok(None) => {}
                Err(problem) => agent.problems.push(problem),
            }
        }
    }

    /// Judges one subject; `None` where there is nothing in it to judge.
    fn scan_subject(&self, tree: &ScanTree, number: usize) -> Result<Option<FoundDocument>, FoundProblem> {
        let path = tree.subjects().get(number).map(|subject| subject.path.clone()).unwrap_or_default();
        let files =
            tree.read(number).map_err(|error| FoundProblem { path: path.clone(), why: error.to_string() })?;
        let report = self.scanner.scan(&files);
        if report.has_nothing_to_judge() {
            return Ok(None);
        }
        Ok(Some(FoundDocument {
            name: folder_name(&path),
            verdict: report.verdict.as_str(),
            findings: report.findings.iter().filter(|finding| finding.counts()).count(),
            complete: report.complete,
            digest: report.digest.clone(),
            path,
        }))
    }

    /// MCP servers that plugins and extensions bring. What is not searched is named.
    fn look_at_plugins(&self, folder: &Path, agent: &mut FoundAgent) {
        // Where it leads elsewhere, the scan has said so.
        let Ok(Some(root)) = self.real_folder(folder) else { return };
        let mut seen = HashSet::from([root.clone()]);
        let mut pending = vec![(root, 0)];
        let mut budget = MOST_SEARCHED;
        let mut problems = Vec::new();
        let mut problem = |path: &Path, why: &str| {
            problems.push(FoundProblem { path: path.to_owned(), why: why.to_owned() });
        };
        'folders: while let Some((folder, depth)) = pending.pop() {
            if depth > DEPTH {
                problem(&folder, "it lies too deep, and was not searched for MCP servers");
                continue;
            }
            let Ok(entries) = self.reach.read_dir(&folder) else {
                problem(&folder, "it cannot be listed, and was not searched for MCP servers");
                continue;
            };
            for entry in entries {
                let Some(left) = budget.checked_sub(1) else {
                    problem(&folder, "there are too many files; not all were searched for MCP servers");
                    break 'folders;
                };
                budget = left;
                let path = folder.join(&entry.name);
                let is_configuration = PLUGIN_CONFIGURATIONS.iter().any(|name| entry.name == *name);
                let inner = if entry.is_link && !is_configuration {
                    self.linked_folder(&path)
                } else {
                    Ok(entry.is_dir.then(|| path.clone()))
                };
                match inner {
                    Ok(Some(inner)) if seen.insert(inner.clone()) => pending.push((inner, depth + 1)),
                    Ok(None) if is_configuration => {
                        self.look_at_config(&path, PlaceKind::Json(&["mcpServers"]), agent);
                    }
                    Ok(_) => {}
                    Err(why) => problem(&path, &why),
                }
            }
        }
        agent.problems.extend(problems);
    }

    /// The folder that a link leads to; `None` where that is a file, or nothing.
    fn linked_folder(&self, link: &Path) -> Result<Option<PathBuf>, String> {
        match link.metadata() {
            Ok(found) if !found.is_dir() => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Ok(_) => self.real_folder(link),
            Err(error) => Err(format!("it cannot be followed: {}", error.kind())),
        }
    }
}

/// What a thing is called: the name of its folder, never what its own files call it. A folder that is named by a version is told with the one above.
fn folder_name(path: &Path) -> String {
    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let own = name(path);
    match path.parent() {
        Some(parent) if own.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("{}/{own}", name(parent))
        }
        _ => own,
    }
}
