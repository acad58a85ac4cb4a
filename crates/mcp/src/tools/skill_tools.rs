//! A tool for every skill that declares parameters: `serve --tools-per-skill`.
//!
//! A tool's description is what models trust most, and a skill's author is not trusted: so it is this server's words, with the author's
//! between quotation marks that they cannot end, and skills that a run would refuse have none.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use skillsandbox_manifest::{Manifest, Parameter};
use skillsandbox_terms::ParameterType;
use skillsandbox_text::shorten_line;

use super::run::SkillRunResult;
use super::{SKILL_TOOL, ToolContext, schema};
use crate::answer::{ToolProblem, quoted};
use crate::skill_roots::FoundSkill;

/// Most tools of skills that are listed: what clients take beside the tools of others.
const MOST_TOOLS: usize = 64;
/// Longest name behind the prefix; clients take 64 characters in all.
const MOST_NAME: usize = 40;
/// Most characters of what an author wrote.
const MOST_DESCRIPTION: usize = 300;

/// The tools of the skills that declare parameters and that the scanner does not refuse.
pub(crate) fn skill_tools(context: &ToolContext) -> Vec<Tool> {
    let skills = context.roots.list().skills;
    let names = tool_names(&skills);
    skills
        .iter()
        .filter_map(|skill| skill_tool(context, skill, names.get(&skill.folder)?))
        .take(MOST_TOOLS)
        .collect()
}

/// The arguments of `run_skill` that a call of such a tool means.
pub(crate) fn find_skill_tool(
    context: &ToolContext,
    name: &str,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolProblem> {
    let skills = context.roots.list().skills;
    let names = tool_names(&skills);
    let found = skills.iter().find(|skill| names.get(&skill.folder).is_some_and(|own| own == name));
    let found = found.ok_or_else(|| {
        ToolProblem::new(format!("there is no tool {}", quoted(name)))
            .cure("ask for tools/list again: the skills have changed")
    })?;
    let call = json!({ "skill": found.name, "parameters": given });
    Ok(call.as_object().cloned().unwrap_or_default())
}

fn skill_tool(context: &ToolContext, found: &FoundSkill, name: &str) -> Option<Tool> {
    let loaded = context.load_found(found).ok()?;
    let manifest = loaded.manifest();
    if manifest.parameters().is_empty() || manifest.entrypoint().is_none() {
        return None;
    }
    let report = loaded.policy().scan_folder(&found.folder).ok()?;
    if loaded.policy().refusal(&report).is_some() {
        return None;
    }
    let mut tool = Tool::new(name.to_owned(), describe(found, manifest), Arc::new(input_schema(manifest)));
    tool.title = Some(format!("Run the skill {}", quoted(&found.name)));
    tool.output_schema = Some(schema::output::<SkillRunResult>());
    tool.annotations =
        Some(ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true));
    Some(tool)
}

/// Names that every client takes, one a skill: the skill's own, or what is left of it with a mark behind. Which skill a name means does not
/// depend on what else is there; two that still have the same name (marks can be made to agree) have none.
fn tool_names(skills: &[FoundSkill]) -> HashMap<PathBuf, String> {
    let name = |skill: &FoundSkill| {
        let plain = plain_name(&skill.name);
        // Two underscores begin every name with a mark, and no other.
        if plain == skill.name && !plain.starts_with('_') && !plain.is_empty() {
            format!("{SKILL_TOOL}{plain}")
        } else {
            format!("{SKILL_TOOL}_{plain}_{:08x}", mark_of(&skill.name))
        }
    };
    let mut uses: HashMap<String, usize> = HashMap::new();
    for skill in skills {
        *uses.entry(name(skill)).or_default() += 1;
    }
    let named = skills.iter().map(|skill| (skill.folder.clone(), name(skill)));
    named.filter(|(_, name)| uses.get(name) == Some(&1)).collect()
}

/// Letters, digits, `_` and `-` of a name, and no more than fit.
fn plain_name(name: &str) -> String {
    let plain =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' });
    plain.take(MOST_NAME).collect()
}

/// The same number for the same name, in every version (FNV-1a).
fn mark_of(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |mark, byte| (mark ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn describe(found: &FoundSkill, manifest: &Manifest) -> String {
    let own = format!(
        "Runs the skill {} in a sandbox that allows only what it declares, as run_skill does.",
        quoted(&found.name)
    );
    match &manifest.skill().description {
        Some(description) => {
            format!("{own} Its author, who is not trusted, writes: {}", authors_words(&description.value))
        }
        None => own,
    }
}

fn authors_words(text: &str) -> String {
    Value::from(shorten_line(text, MOST_DESCRIPTION)).to_string()
}

fn input_schema(manifest: &Manifest) -> JsonObject {
    let parameters = manifest.parameters();
    let properties: JsonObject =
        parameters.iter().map(|parameter| (parameter.name.value.clone(), property(parameter))).collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.required)
        .map(|parameter| parameter.name.value.as_str())
        .collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    schema.as_object().cloned().unwrap_or_default()
}

/// What JSON Schema says of a parameter. The run checks the values once more, by the manifest.
fn property(parameter: &Parameter) -> Value {
    let (kind, lengths) = match parameter.kind {
        ParameterType::String | ParameterType::Path => ("string", Some(("minLength", "maxLength"))),
        ParameterType::Number => ("number", None),
        ParameterType::Boolean => ("boolean", None),
        ParameterType::Array => ("array", Some(("minItems", "maxItems"))),
        ParameterType::Object => ("object", None),
    };
    let mut schema = JsonObject::new();
    let mut put = |key: &str, value: Option<Value>| schema.extend(value.map(|value| (key.to_owned(), value)));
    put("type", Some(kind.into()));
    put(
        "description",
        parameter
            .description
            .as_deref()
            .map(|text| format!("Its author's words: {}", authors_words(text)).into()),
    );
    if let Some((least, most)) = lengths {
        put(least, parameter.min_length.map(Value::from));
        put(most, parameter.max_length.map(Value::from));
    }
    put("minimum", parameter.min.map(Value::from));
    put("maximum", parameter.max.map(Value::from));
    put("enum", Some(parameter.one_of.clone()).filter(|values| !values.is_empty()).map(Value::from));
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        let found = |name: &&str| FoundSkill { name: (*name).to_owned(), folder: format!("/{name}").into() };
        let skills: Vec<FoundSkill> = names.iter().map(found).collect();
        let all = tool_names(&skills);
        skills.iter().map(|skill| all[&skill.folder].clone()).collect()
    }

    #[test]
    fn names_are_safe_and_unique() {
        assert_eq!(names(&["weather", "a-b_C9"]), ["skill_weather", "skill_a-b_C9"]);
        let long = "x".repeat(300);
        let hostile = [
            "a/b",
            "a_b",
            "a b",
            "run_skill",
            "ä",
            "ö",
            "_a_b",
            "a_b_1e5a2d4c",
            &long,
            "\u{202e}x",
            "a.b",
            "",
            "../../x",
        ];
        let found = names(&hostile);
        let different: std::collections::HashSet<&String> = found.iter().collect();
        assert_eq!(different.len(), hostile.len(), "{found:?}");
        for name in &found {
            assert!(name.len() <= 64 && name.starts_with(SKILL_TOOL), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')), "{name}");
            assert!(super::super::look(name).is_none() && name != super::super::RUN_SKILL);
        }
        // A skill cannot call itself what another's tool is called.
        let of_another = names(&["a/b"])[0].trim_start_matches(SKILL_TOOL).to_owned();
        assert_ne!(names(&[&of_another])[0], names(&["a/b"])[0]);
        // What is beside it does not change what a name means.
        assert_eq!(names(&["a/b"]), [names(&["a/b", "a_b"])[0].clone()]);
    }
}
