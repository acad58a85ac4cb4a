//! May a tool call, or a command line, made for a skill be carried out?

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skillsandbox_command_policy::{CommandDecision, CommandPolicy, DenialPosition, OtherTools, RealPaths};
use skillsandbox_manifest::{LoadError, SkillDoc};
use skillsandbox_path_policy::PathPolicy;

use super::skills::{places, resolved};
use super::{Desk, arguments};
use crate::answer::{Answer, Problem, line};

/// Longest command line that is judged; shells take more, agents do not write it.
const MOST_COMMAND: usize = 128 * 1024;

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

/// Whether it may.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Judgement {
    allowed: bool,
    /// The rule that refuses it.
    rule: Option<String>,
    /// Why.
    reason: String,
    /// What to do instead.
    hint: Option<String>,
    /// The byte of the command line at which it was refused.
    byte: Option<usize>,
    /// The program and its arguments of a command line that is allowed: to be started without a shell.
    argv: Option<Vec<String>>,
}

impl Judgement {
    fn answer(self) -> Answer {
        let verdict = if self.allowed { "allowed" } else { "refused" };
        let rule = self.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
        let text = format!("{verdict}{rule}: {}", line(&self.reason));
        Answer::new(text, &self)
    }
}

pub(crate) fn path(desk: &Desk, given: Map<String, Value>) -> Result<Answer, Problem> {
    let CheckPath { skill, tool, arguments } = arguments("check_path", given)?;
    let loaded = desk.load(&skill)?;
    let places = places(&loaded.skill)?;
    let files = loaded.skill.manifest().filesystem();
    let mut builder = PathPolicy::builder().root(loaded.skill.folder()).read_only();
    // What is declared and not there yet cannot be looked into; a run would make folders to write to.
    let there = |path: &PathBuf| path.is_dir();
    for path in resolved(&files.read, &places).into_iter().filter(there) {
        builder = builder.read_root(path);
    }
    for path in resolved(&files.write, &places).into_iter().filter(there) {
        builder = builder.write_root(path);
    }
    let own = skillsandbox_run::state_folder().into_iter().chain(skillsandbox_run::policy_file());
    for path in resolved(&files.forbidden, &places).into_iter().chain(own) {
        builder = builder.forbid(path);
    }
    let unusable = |error: String| {
        Problem::new("the skill's declaration cannot be used to judge paths")
            .why(error)
            .cure("call inspect_skill; a person has to correct skillsandbox.yaml")
    };
    let policy = builder.build().map_err(|error| unusable(error.to_string()))?;
    let arguments = Value::Object(arguments);
    let decision = policy.judge_call(&tool, &arguments);
    let judgement = Judgement {
        allowed: decision.is_allowed(),
        rule: decision.rule().map(|rule| rule.code().to_owned()),
        reason: decision.reason(),
        hint: None,
        byte: None,
        argv: None,
    };
    Ok(judgement.answer())
}

pub(crate) fn command(desk: &Desk, given: Map<String, Value>) -> Result<Answer, Problem> {
    let CheckCommand { skill, command } = arguments("check_command", given)?;
    if command.len() > MOST_COMMAND {
        return Err(Problem::new(format!("the command line is longer than {MOST_COMMAND} bytes")));
    }
    let loaded = desk.load(&skill)?;
    let folder = loaded.skill.folder();
    let unusable = |error: String| {
        Problem::new("commands of this skill cannot be judged")
            .why(error)
            .cure("a person has to correct `allowed-tools` in SKILL.md, or skillsandbox.yaml")
    };
    let rules = RealPaths::new(folder).map_err(|error| unusable(error.to_string()))?;
    let mut builder =
        CommandPolicy::builder().root(folder).path_rules(rules).other_tools(OtherTools::PassThrough);
    let listed = match SkillDoc::load(folder) {
        Ok((doc, _)) => doc.front_matter.and_then(|front| front.allowed_tools),
        Err(LoadError::NotFound { .. }) => None,
        Err(error) => return Err(unusable(error.to_string())),
    };
    let declared = listed.is_some();
    if let Some(listed) = listed {
        if listed.is_empty() {
            return Ok(nothing_is_allowed().answer());
        }
        let list: Vec<String> = listed.iter().map(|tool| tool.value.to_string()).collect();
        builder = builder.allowed_tools(list.join(" "));
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
    if let CommandDecision::Denied(denied) = policy.check(&command) {
        let judgement = Judgement {
            allowed: false,
            rule: Some(denied.rule.as_str().to_owned()),
            reason: denied.to_string(),
            hint: Some(denied.hint.to_string()).filter(|hint| !hint.is_empty()),
            byte: if let DenialPosition::Byte(at) = denied.position { Some(at) } else { None },
            argv: None,
        };
        return Ok(judgement.answer());
    }
    let argv = policy.parse(&command).unwrap_or_default();
    let reason = if declared {
        "every check passed"
    } else {
        "every check passed; SKILL.md has no allowed-tools, so programs are not limited by it"
    };
    let judgement = Judgement {
        allowed: true,
        rule: None,
        reason: reason.to_owned(),
        hint: None,
        byte: None,
        argv: Some(argv.iter().map(|word| word.to_string_lossy().into_owned()).collect()),
    };
    Ok(judgement.answer())
}

fn nothing_is_allowed() -> Judgement {
    Judgement {
        allowed: false,
        rule: Some("not-allowed".to_owned()),
        reason: "the allowed-tools of the skill's SKILL.md are an empty list".to_owned(),
        hint: None,
        byte: None,
        argv: None,
    }
}
