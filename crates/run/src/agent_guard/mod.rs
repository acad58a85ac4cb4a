//! May an agent's tool call go on? The one place that decides for the hooks of all products; a product's own file only translates.
//!
//! ```text
//! tool name ──► ToolKind (the product's table) ──► command_lines: command-policy, then places in the text
//!                                             ├──► path-policy: first as a reader, then as a writer; then places
//!                                             ├──► hosts: special addresses, then the user's policy
//!                                             └──► unknown: path-policy's check of unknown tools, addresses, commands
//! ```
//!
//! Four answers, the strictest last: [`GuardAnswer::Pass`] (the product asks as it always does), `Approve`, `Ask` and `Deny`. Where nobody can
//! be asked, `Ask` is `Deny`.
//!
//! # What it does not protect
//!
//! It judges calls, it confines nothing: a program that is allowed does what it likes. What a shell would make of `$x`, a glob or a
//! substitution is not known here, which is why such lines are asked about. Hard links are not seen, and what changes between the check and the
//! call is not either.

mod command_lines;
mod hosts;
mod own_program;
mod places;
mod project_code;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};
use skillsandbox_command_policy::CommandPolicyError;
use skillsandbox_manifest::{GrantBases, Manifest, user_folders};
use skillsandbox_path_policy::{
    AccessKind, PathDecision, PathPolicy, PathPolicyBuilder, PathPolicyError, ToolSpec,
};
use skillsandbox_text::shorten_line;

use crate::refusal::Refusal;
use crate::user_policy::UserPolicy;
use command_lines::CommandGuard;
use hosts::HostGuard;

/// What is decided about a call. The strictest of several is the greatest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a decision that nobody looks at protects nothing"]
pub enum GuardAnswer {
    /// Nothing speaks against it: the product's own permissions decide, as if there were no hook.
    Pass,
    /// Nothing speaks against it, and the user said that such calls need no question.
    Approve,
    /// A person has to look at it.
    Ask(GuardReason),
    /// It may not go on.
    Deny(GuardReason),
}

/// Why a call is refused or asked about, in words for the agent and for the person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct GuardReason {
    /// The rule, for programs: `credential-place`.
    pub rule: String,
    /// What was seen.
    pub reason: String,
    /// What to do instead.
    pub hint: String,
}

/// Longest reason that is told.
const MOST_REASON: usize = 600;

impl GuardReason {
    /// Texts of unknown origin are made one harmless line.
    #[must_use]
    pub fn new(rule: impl Into<String>, reason: impl AsRef<str>, hint: impl Into<String>) -> Self {
        Self { rule: rule.into(), reason: shorten_line(reason.as_ref(), MOST_REASON), hint: hint.into() }
    }
}

impl std::fmt::Display for GuardReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SkillSandbox ({}): {}. {}", self.rule, self.reason, self.hint)
    }
}

/// What a tool of a product does, as far as a guard has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command line.
    Command {
        /// The argument that has the line.
        line: &'static str,
        /// The arguments that may name the folder it runs in.
        folders: &'static [&'static str],
        /// Arguments that change nothing about what is run.
        harmless: &'static [&'static str],
    },
    /// Applies a patch in the form of `apply_patch`, which this argument has.
    Patch(&'static str),
    /// A file tool, in path-policy's table.
    File,
    /// Fetches the address that is this argument.
    Fetch(&'static str),
    /// Fetches the addresses in this argument, which has other words around them.
    FetchNamed(&'static str),
    /// Asks a search engine.
    Search,
    /// Touches neither files nor networks by its arguments.
    Quiet,
}

/// What happens to command lines that command-policy cannot vouch for: pipes, substitutions, programs that run others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShellHandling {
    /// A person is asked.
    #[default]
    Ask,
    /// They are denied.
    Deny,
    /// The product's own permissions decide, unless the line names a place of credentials. With a list of programs, as `Ask`.
    Pass,
}

/// What a guard is built from: all of it the user's, none of it the call's.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct GuardSettings {
    /// The project: what may be read and written.
    pub root: PathBuf,
    /// More folders that may be read.
    pub read_roots: Vec<PathBuf>,
    /// More folders that may be read and written.
    pub write_roots: Vec<PathBuf>,
    /// Programs, as `allowed-tools` has them: `Bash(git:*) Bash(npm run:*)`.
    pub allowed_tools: Option<String>,
    /// Tools, by their exact names, whose calls are approved when every check has passed.
    pub approve: Vec<String>,
    /// What happens to lines that cannot be vouched for.
    pub shell: ShellHandling,
}

impl GuardSettings {
    /// A guard of this project.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), ..Self::default() }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, Copy)]
pub struct AgentCall<'a> {
    /// The tool, as the product names it.
    pub tool: &'a str,
    /// What it does; `None` for tools that the product's table does not have.
    pub kind: Option<ToolKind>,
    /// Its arguments.
    pub input: &'a Map<String, Value>,
    /// The agent's working directory, which relative paths start from. It has to lie in a root.
    pub cwd: &'a Path,
}

/// Why there is no guard. Without one, nothing may go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// A folder cannot be used.
    #[error(transparent)]
    Paths(#[from] PathPolicyError),
    /// The list of programs makes no sense.
    #[error("the list of programs cannot be used: {0}")]
    Commands(#[from] CommandPolicyError),
    /// The user's policy cannot be used.
    #[error(transparent)]
    Policy(#[from] Refusal),
    /// There is no home folder, so it is not known where credentials lie.
    #[error("there is no home folder; set HOME")]
    NoHome,
}

/// Decides about the calls of one session.
#[derive(Debug)]
pub struct AgentGuard {
    settings: GuardSettings,
    /// What the user's policy forbids, and what it says of programs and hosts.
    ceiling: Manifest,
    hosts: HostGuard,
}

/// The policies of one call: they begin where the agent is.
struct CallPolicies {
    /// Every root, read-only: who passes here only reads.
    readers: Arc<PathPolicy>,
    writers: Arc<PathPolicy>,
    cwd: PathBuf,
}

impl AgentGuard {
    /// A guard by these settings and the user's policy.
    ///
    /// # Errors
    /// A root that is not a folder, or is the whole file system; no home folder.
    pub fn new(settings: GuardSettings, policy: &UserPolicy) -> Result<Self, GuardError> {
        let home = user_folders::home().ok_or(GuardError::NoHome)?;
        let places = GrantBases::new(&settings.root, home);
        let (ceiling, _) = policy.narrow(hosts::empty_manifest()?, &places);
        let guard = Self { hosts: HostGuard::new(policy.clone(), places), settings, ceiling };
        // What is wrong with the settings is told at the first call, whatever tool it is of.
        let there = guard.policies(&guard.settings.root)?;
        CommandGuard::new(&guard.settings, &guard.ceiling, &there, &guard.hosts)?;
        Ok(guard)
    }

    /// Decides about a call.
    ///
    /// # Errors
    /// A folder that can no longer be used. Then the call must not go on.
    pub fn judge(&self, call: &AgentCall<'_>) -> Result<GuardAnswer, GuardError> {
        let cwd = match self.working_directory(call.cwd)? {
            Ok(cwd) => cwd,
            Err(reason) => return Ok(GuardAnswer::Deny(reason)),
        };
        let policies = self.policies(&cwd)?;
        let mut answer = match call.kind {
            Some(ToolKind::Quiet) => GuardAnswer::Pass,
            Some(ToolKind::Command { line, folders, harmless }) => {
                self.judge_command(call, &policies, line, folders, harmless)?
            }
            Some(ToolKind::Patch(key)) => Self::judge_patch(call, &policies, key),
            Some(ToolKind::Fetch(key)) => self.judge_fetch(call, key, HostGuard::judge_address),
            Some(ToolKind::FetchNamed(key)) => self.judge_fetch(call, key, HostGuard::judge_text),
            Some(ToolKind::Search) => self.hosts.judge_search(),
            Some(ToolKind::File) => Self::judge_files(call.tool, call, &policies),
            None => self.judge_unknown(call, &policies)?,
        };
        if answer == GuardAnswer::Pass && self.settings.approve.iter().any(|tool| tool == call.tool) {
            answer = GuardAnswer::Approve;
        }
        Ok(answer)
    }

    /// The folder that relative paths start from, where it lies in a root.
    fn working_directory(&self, cwd: &Path) -> Result<Result<PathBuf, GuardReason>, GuardError> {
        let roots = self.policies(&self.settings.root)?;
        Ok(roots.writers.resolve(cwd, AccessKind::Write).map_err(|denial| {
            let reason = format!("the agent's working directory is not in the project: {denial}");
            GuardReason::new(
                "working-directory",
                reason,
                "Go back to the project's folder, or name the folder by --write-root.",
            )
        }))
    }

    fn policies(&self, cwd: &Path) -> Result<CallPolicies, GuardError> {
        let readers = self.roots(cwd, false).build()?;
        let writers = self.roots(cwd, true).build()?;
        let cwd = writers.root().to_owned();
        Ok(CallPolicies { readers: Arc::new(readers), writers: Arc::new(writers), cwd })
    }

    fn roots(&self, cwd: &Path, writable: bool) -> PathPolicyBuilder {
        let GuardSettings { root, read_roots, write_roots, .. } = &self.settings;
        let mut builder = PathPolicy::builder().root(cwd);
        if !writable {
            builder = builder.read_only();
        }
        for folder in std::iter::once(root).chain(write_roots) {
            builder = if writable { builder.write_root(folder) } else { builder.read_root(folder) };
        }
        builder = read_roots.iter().fold(builder, PathPolicyBuilder::read_root);
        builder = places::readable().fold(builder, PathPolicyBuilder::read_root);
        for path in &self.ceiling.filesystem().forbidden {
            builder = builder.forbid(path.resolve(self.hosts.places()));
        }
        // What judges the agent is not the agent's to change.
        for own in [user_folders::config(), user_folders::state(), user_folders::data()].into_iter().flatten()
        {
            if writable {
                builder = builder.forbid(own);
            }
        }
        // File tools of Gemini CLI that path-policy's own table does not have.
        let reads = || ToolSpec::new(AccessKind::Read).path_is_optional().path_argument("dir_path");
        builder
            .tool("replace", ToolSpec::new(AccessKind::ReadWrite))
            .tool("grep_search", reads().reads_trees())
            .tool("read_many_files", reads().reads_trees().glob_argument("include"))
    }

    fn judge_command(
        &self,
        call: &AgentCall<'_>,
        policies: &CallPolicies,
        line: &str,
        folders: &[&str],
        harmless: &[&str],
    ) -> Result<GuardAnswer, GuardError> {
        let Some(Value::String(text)) = call.input.get(line) else {
            return Ok(not_as_documented(call.tool, line));
        };
        let mut cwd = policies.cwd.clone();
        for key in folders.iter().filter(|key| call.input.contains_key(**key)) {
            let Some(Value::String(named)) = call.input.get(*key) else {
                return Ok(not_as_documented(call.tool, key));
            };
            match policies.writers.resolve(named, AccessKind::Read) {
                Ok(real) => cwd = real,
                Err(denial) => return Ok(GuardAnswer::Deny(path_reason(&denial.to_string()))),
            }
        }
        let there = self.policies(&cwd)?;
        let guard = CommandGuard::new(&self.settings, &self.ceiling, &there, &self.hosts)?;
        let mut answer = guard.judge(text);
        let is_known =
            |key: &String| key == line || folders.contains(&key.as_str()) || harmless.contains(&key.as_str());
        if let Some((key, _)) =
            call.input.iter().find(|(key, value)| !is_known(key) && changes_something(value))
        {
            let reason = format!("the call has the argument `{key}`, which is not known to be harmless");
            let hint = "Call it without that argument, or let a person confirm it.";
            answer = answer.max(GuardAnswer::Ask(GuardReason::new("unknown-argument", reason, hint)));
        }
        Ok(answer)
    }

    fn judge_files(name: &str, call: &AgentCall<'_>, policies: &CallPolicies) -> GuardAnswer {
        let input = Value::Object(call.input.clone());
        let is_reader = !policies.readers.judge_call(name, &input).is_denied();
        if !is_reader && let PathDecision::Deny(denial) = policies.writers.judge_call(name, &input) {
            return GuardAnswer::Deny(path_reason(&denial.to_string()));
        }
        places::judge_input(name, call.input, &policies.cwd, !is_reader)
    }

    fn judge_patch(call: &AgentCall<'_>, policies: &CallPolicies, key: &str) -> GuardAnswer {
        let Some(Value::String(patch)) = call.input.get(key) else {
            return not_as_documented(call.tool, key);
        };
        let files: Vec<&str> = places::patched_files(patch).collect();
        if files.is_empty() {
            let hint = "Write the patch as `*** Begin Patch` with `*** Update File: PATH` lines.";
            let reason = "the patch does not say which files it changes";
            return GuardAnswer::Deny(GuardReason::new("unreadable-patch", reason, hint));
        }
        let judge = |file: &str| {
            if let PathDecision::Deny(denial) = policies.writers.check(file, AccessKind::Write) {
                return GuardAnswer::Deny(path_reason(&denial.to_string()));
            }
            places::judge_path(file, &policies.cwd, true)
        };
        files.into_iter().map(judge).max().unwrap_or(GuardAnswer::Pass)
    }

    fn judge_fetch(
        &self,
        call: &AgentCall<'_>,
        key: &str,
        judge: fn(&HostGuard, &str) -> GuardAnswer,
    ) -> GuardAnswer {
        match call.input.get(key) {
            // A second address, under a key that is not documented, may be the one that counts.
            Some(Value::String(text)) => judge(&self.hosts, text).max(self.hosts.judge_input(call.input)),
            _ => not_as_documented(call.tool, key),
        }
    }

    /// A tool of an MCP server, or one that is newer than the product's table.
    fn judge_unknown(
        &self,
        call: &AgentCall<'_>,
        policies: &CallPolicies,
    ) -> Result<GuardAnswer, GuardError> {
        // Under a server's name nothing is believed to be exempt.
        let name = if call.tool.starts_with("mcp__") {
            call.tool.to_owned()
        } else {
            format!("mcp__agent__{}", call.tool)
        };
        let mut answer = Self::judge_files(&name, call, policies);
        let lines = places::command_lines(call.input);
        if !lines.is_empty() {
            let guard = CommandGuard::new(&self.settings, &self.ceiling, policies, &self.hosts)?;
            // The folder that it runs in may be any argument; relative names start there.
            let folders = places::judge_input(&name, call.input, &policies.cwd, true);
            answer = lines.iter().map(|line| guard.judge(line)).fold(answer.max(folders), GuardAnswer::max);
        }
        let code = command_lines::judge_places(places::code_texts(call.input), &policies.cwd, true);
        Ok(answer.max(code).max(self.hosts.judge_input(call.input)))
    }
}

fn path_reason(reason: &str) -> GuardReason {
    let hint = "A person can name further folders by --read-root or --write-root.";
    GuardReason::new("path", reason, hint)
}

/// Whether an argument says anything.
fn changes_something(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

/// A call that is not as the product documents it: it may mean something else to the tool.
fn not_as_documented(tool: &str, key: &str) -> GuardAnswer {
    let reason = format!("the call of `{tool}` has no text under `{key}`, so it cannot be judged");
    GuardAnswer::Deny(GuardReason::new("invalid-request", reason, "Call the tool as it is documented."))
}

#[cfg(test)]
mod tests;
