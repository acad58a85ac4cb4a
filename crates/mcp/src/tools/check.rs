//! May a tool call, or a command line, made for a skill be carried out?

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillsandbox_command_policy::{CommandPolicy, OtherTools, RealPaths};
use skillsandbox_manifest::{LoadError, ParameterViolation, SkillDoc};
use skillsandbox_path_policy::{PathDecision, PathPolicy};
use skillsandbox_run::{DecisionAnswer, InvalidRequest, real_path};

use super::{ToolContext, arguments};
use crate::answer::{ToolAnswer, ToolProblem, line};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckPath {
    /// The skill, as `list_skills` names it. Relative paths start at its folder.
    skill: String,
    /// The file tool's name, such as Read, Write or Glob.
    tool: String,
    /// The file tool's arguments, such as `{"file_path": "notes.md"}`.
    arguments: Map<String, Value>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckCommand {
    /// The skill, as `list_skills` names it. The command would run in its folder.
    skill: String,
    /// The command line.
    command: String,
}

/// The decision: the object that `skillsandbox check-path --stdin` and `check-command --stdin` answer with, described in docs/decisions.md.
#[derive(Debug, JsonSchema)]
#[cfg_attr(test, derive(Deserialize), serde(deny_unknown_fields))]
#[expect(dead_code, reason = "only its schema is used; the policies serialize their decisions themselves")]
pub(crate) struct DecisionSchema {
    /// The version of this form: 1.
    version: u32,
    /// Always null here: the request of MCP has an id of its own.
    id: Option<String>,
    /// `allow` or `deny`.
    decision: String,
    /// The rule that refuses it.
    rule: Option<String>,
    /// Why.
    reason: String,
    /// What is wrong, for programs: where it is refused.
    error: Option<ErrorSchema>,
    /// The program and its arguments of a command line that is allowed: to be started without a shell.
    argv: Option<Vec<String>>,
}

/// What is wrong.
#[derive(Debug, JsonSchema)]
#[cfg_attr(test, derive(Deserialize), serde(deny_unknown_fields))]
#[expect(dead_code, reason = "only its schema is used")]
struct ErrorSchema {
    /// `PATH_TRAVERSAL`, `TOOL_DENIED`, `COMMAND_DENIED` or `INVALID_PARAMETERS`.
    code: String,
    message: String,
    /// Of a path: `tool`, `argument`, `path`. Of a command: `construct`, `byte`, `argument`, `hint`. Of an argument: `parameter`, `value`,
    /// `rule`, `expected`.
    details: Map<String, Value>,
}

/// The decision in words and as data.
fn answer<D: Serialize>(decision: &DecisionAnswer<D>, note: &str) -> ToolAnswer {
    let data = serde_json::to_value(decision).unwrap_or_default();
    let text = |key: &str| data.get(key).and_then(Value::as_str).map(line);
    let word = if text("decision").as_deref() == Some("allow") { "allowed" } else { "refused" };
    let rule = text("rule").map(|rule| format!(" ({rule})")).unwrap_or_default();
    let reason = text("reason").unwrap_or_default();
    ToolAnswer::new(format!("{word}{rule}: {reason}{note}"), &data)
}

/// Reads a tool's arguments. Where they are not right there is a decision too: nothing that cannot be read is allowed.
fn read_arguments<T: DeserializeOwned>(tool: &str, given: Map<String, Value>) -> Result<T, ToolAnswer> {
    arguments(tool, given.clone()).map_err(|problem| {
        let error = serde_json::from_value::<T>(Value::Object(given)).err();
        let expected = error.map(|error| error.to_string()).unwrap_or_default();
        let violation = ParameterViolation::new("arguments", "type", line(&expected));
        let decision = DecisionAnswer::new(InvalidRequest::from(violation));
        ToolAnswer::from(problem).with_data(&decision)
    })
}

pub(crate) fn path(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let CheckPath { skill, tool, arguments } = match read_arguments("check_path", given) {
        Ok(call) => call,
        Err(refused) => return Ok(refused),
    };
    let loaded = context.load(&skill)?;
    let unusable = |error: String| {
        ToolProblem::new("the skill's declaration cannot be used to judge paths")
            .why(error)
            .cure("call inspect_skill; a person has to correct skillsandbox.yaml")
    };
    // The same places, by the same rules, as a run has them.
    let reach = loaded.skill.file_reach().map_err(|refusal| unusable(refusal.to_string()))?;
    let build = |writes: &[PathBuf], never: &[PathBuf]| {
        let mut builder = PathPolicy::builder().root(loaded.skill.folder()).read_only();
        // What is declared and not there yet cannot be looked into; a run would make folders to write to.
        for path in reach.read.iter().filter(|path| path.is_dir()) {
            builder = builder.read_root(path);
        }
        for path in reach.write.iter().filter(|path| path.is_dir()) {
            builder = if writes.contains(path) { builder.write_root(path) } else { builder.read_root(path) };
        }
        for path in reach.forbidden.iter().chain(never) {
            builder = builder.forbid(path);
        }
        builder.build().map_err(|error| unusable(error.to_string()))
    };
    let arguments = Value::Object(arguments);
    // Skills are read-only in a run, installed ones and those of this server, whatever is granted above them: but for what a skill has in its
    // own folder.
    let skills: Vec<PathBuf> =
        reach.read_only.iter().cloned().chain(context.roots.roots().map(Path::to_owned)).collect();
    let is_own = |path: &&PathBuf| real_path(path).starts_with(loaded.skill.folder());
    let own: Vec<PathBuf> = reach.write.iter().filter(is_own).cloned().collect();
    // Who only reads is allowed everything that is readable; who writes, nothing that a run has read-only.
    let [readers, writers, own] = [build(&[], &[])?, build(&reach.write, &skills)?, build(&own, &[])?];
    let decisions = [readers.judge_call(&tool, &arguments), writers.judge_call(&tool, &arguments)];
    let not_denied = decisions.into_iter().find(|decision| !matches!(decision, PathDecision::Deny(_)));
    let decision = not_denied.unwrap_or_else(|| own.judge_call(&tool, &arguments));
    Ok(answer(&DecisionAnswer::new(decision), ""))
}

pub(crate) fn command(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let CheckCommand { skill, command } = match read_arguments("check_command", given) {
        Ok(call) => call,
        Err(refused) => return Ok(refused),
    };
    let loaded = context.load(&skill)?;
    let folder = loaded.skill.folder();
    let unusable = |error: String| {
        ToolProblem::new("commands of this skill cannot be judged")
            .why(error)
            .cure("a person has to correct `allowed-tools` in SKILL.md, or skillsandbox.yaml")
    };
    let rules = RealPaths::new(folder).map_err(|error| unusable(error.to_string()))?;
    let mut builder = CommandPolicy::builder()
        .root(folder)
        .path_rules(rules)
        .other_tools(OtherTools::PassThrough)
        // The lists are the skill's own: what it names is not the caller's choice.
        .refuse_project_code();
    let listed = match SkillDoc::load(folder) {
        Ok((doc, _)) => doc.front_matter.and_then(|front| front.allowed_tools),
        Err(LoadError::NotFound { .. }) => None,
        Err(error) => return Err(unusable(error.to_string())),
    };
    let declared = listed.is_some();
    if let Some(listed) = listed {
        let list: Vec<String> = listed.iter().map(|tool| tool.value.to_string()).collect();
        builder =
            if list.is_empty() { builder.allow_no_tools() } else { builder.allowed_tools(list.join(" ")) };
    }
    if let Some(commands) = loaded.skill.manifest().commands() {
        builder = builder.commands(commands.allow.iter().map(|program| program.value.to_string()));
        for (program, words) in &commands.allowed_args {
            builder = builder.allowed_args(program.to_string(), words);
        }
        for (program, words) in &commands.forbidden_args {
            builder = builder.forbidden_args(program.to_string(), words);
        }
    }
    let policy = builder.build().map_err(|error| unusable(error.to_string()))?;
    let decision = policy.check(&command);
    if !decision.is_allowed() {
        return Ok(answer(&DecisionAnswer::new(decision), ""));
    }
    let argv = policy.parse(&command).unwrap_or_default();
    let argv = argv.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let note = if declared { "" } else { "; SKILL.md has no allowed-tools, so it does not limit programs" };
    Ok(answer(&DecisionAnswer::new(decision).with_argv(argv), note))
}
