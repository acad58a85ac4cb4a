//! Values of parameters: from a command line, through the manifest's rules, to the skill.
//!
//! A skill finds each value in the variable `SKILL_PARAM_NAME` (its name in capitals, other characters than letters and digits as `_`), texts as they
//! are and everything else as JSON; and all of them in `SKILL_PARAMETERS`, as one JSON object. A variable is nothing that a shell reads, or
//! that other processes of the host can see.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use skillsandbox_manifest::{Manifest, ParameterType};
use skillsandbox_text::Secret;

use crate::job::Job;
use crate::path_parameters;
use crate::refusal::Refusal;
use crate::skill::LoadedSkill;

/// Longest value that is handed over: what the kernel takes for one variable is 128 KiB, with its name.
const MAX_VALUE: usize = 120 * 1024;
/// The variable that has them all.
const ALL: &str = "SKILL_PARAMETERS";
const ONE: &str = "SKILL_PARAM_";

/// Reads `NAME=VALUE` pairs as the manifest's types say: a text is what it is, anything else is JSON.
///
/// # Errors
/// A pair without `=`, a name that comes twice, a value that is not JSON. Whether the values keep the manifest's rules is
/// seen later, by [`LoadedSkill::job`](crate::LoadedSkill::job).
pub fn read_parameters<'a>(
    manifest: &Manifest,
    pairs: impl IntoIterator<Item = &'a str>,
) -> Result<Map<String, Value>, Refusal> {
    let mut values = Map::new();
    for pair in pairs {
        let wrong = |name: &str, why: &str| Refusal::Parameter { name: name.to_owned(), why: why.to_owned() };
        let Some((name, text)) = pair.split_once('=') else {
            return Err(wrong(pair, "expected NAME=VALUE"));
        };
        let declared = manifest.parameters().iter().find(|parameter| parameter.name.value == name);
        let value = match declared.map(|parameter| parameter.kind) {
            // What the manifest does not know is refused by its rules, with the names that it does know.
            None | Some(ParameterType::String | ParameterType::Path) => Value::String(text.to_owned()),
            // Not with the parser's own words: they could repeat a secret.
            Some(
                kind @ (ParameterType::Number
                | ParameterType::Boolean
                | ParameterType::Array
                | ParameterType::Object),
            ) => {
                serde_json::from_str(text).map_err(|_| wrong(name, &format!("it is not a {kind} in JSON")))?
            }
        };
        if values.insert(name.to_owned(), value).is_some() {
            return Err(wrong(name, "it is given twice"));
        }
    }
    Ok(values)
}

/// Checks the values, grants the paths among them, and puts them where the skill finds them.
pub(crate) fn hand_over(
    skill: &LoadedSkill,
    parameters: &Map<String, Value>,
    job: &mut Job,
) -> Result<(), Refusal> {
    let manifest = skill.manifest();
    let mut values = manifest.validate_parameters(&Value::Object(parameters.clone()))?;
    path_parameters::grant(skill, &mut values, job)?;
    set_variables(manifest, values, job)
}

fn set_variables(manifest: &Manifest, values: Map<String, Value>, job: &mut Job) -> Result<(), Refusal> {
    for parameter in manifest.parameters().iter().filter(|parameter| parameter.secret) {
        if let Some(value) = values.get(&parameter.name.value) {
            secrets_in(&parameter.name.value, value, &mut job.secrets);
        }
    }
    if manifest.parameters().is_empty() {
        return Ok(());
    }
    let mut variables = BTreeMap::new();
    for (name, value) in &values {
        let variable = variable(name);
        let taken = |why: String| Refusal::Parameter { name: name.clone(), why };
        if variables.insert(variable.clone(), text(value)).is_some() {
            return Err(taken(format!("another one would be the variable {variable}, too")));
        }
    }
    variables.insert(ALL.to_owned(), Value::Object(values).to_string());
    for (variable, value) in &variables {
        let wrong = |why: &str| Refusal::Parameter { name: variable.clone(), why: why.to_owned() };
        if value.len() > MAX_VALUE {
            return Err(wrong("it is longer than 120 KiB"));
        }
        if value.contains('\0') {
            return Err(wrong("it contains a NUL byte"));
        }
    }
    job.set_env.extend(variables);
    Ok(())
}

/// The variable a parameter comes in.
fn variable(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    ONE.chars().chain(name.chars().map(letter)).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Every text in a secret value is one.
fn secrets_in(name: &str, value: &Value, secrets: &mut Vec<(String, Secret)>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| secrets_in(name, value, secrets)),
        Value::Object(values) => values.values().for_each(|value| secrets_in(name, value, secrets)),
        Value::Null | Value::Bool(_) => {}
        other => secrets.push((name.to_owned(), text(other).into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(parameters: &str) -> Manifest {
        let text = format!(
            "skill: {{ name: s, version: \"1\" }}\nparameters: {parameters}\nentrypoint: {{ command: true }}"
        );
        Manifest::parse(&text.replace("command: true", "command: \"true\"")).unwrap()
    }

    fn handed(manifest: &Manifest, pairs: &[&str]) -> Result<Job, Refusal> {
        let values = read_parameters(manifest, pairs.iter().copied())?;
        let mut job = Job::new("s", "true");
        let values = manifest.validate_parameters(&Value::Object(values))?;
        set_variables(manifest, values, &mut job)?;
        Ok(job)
    }

    #[test]
    fn values_come_as_variables_and_as_one_object() {
        let manifest = manifest(
            "[{ name: city, type: string }, { name: max-days, type: number }, { name: tags, type: array }]",
        );
        let job = handed(&manifest, &["city=O'slo; $(id)\n", "max-days=3", "tags=[\"a\",\"b\"]"]).unwrap();
        let variable = |name: &str| job.set_env.get(name).map(String::as_str);
        assert_eq!(variable("SKILL_PARAM_CITY"), Some("O'slo; $(id)\n"));
        assert_eq!(variable("SKILL_PARAM_MAX_DAYS"), Some("3"));
        assert_eq!(variable("SKILL_PARAM_TAGS"), Some("[\"a\",\"b\"]"));
        let all: Value = serde_json::from_str(variable("SKILL_PARAMETERS").unwrap()).unwrap();
        assert_eq!(all, serde_json::json!({ "city": "O'slo; $(id)\n", "max-days": 3, "tags": ["a", "b"] }));
    }

    #[test]
    fn wrong_values_are_refused_before_anything_else() {
        let manifest = manifest("[{ name: n, type: number, required: true, max: 5 }]");
        for pairs in [&["n"][..], &["n=five"], &["n=1", "n=2"], &["n=6"], &["m=1"], &[], &["n=1", "m=2"]] {
            assert!(handed(&manifest, pairs).is_err(), "{pairs:?}");
        }
        assert!(handed(&manifest, &["n=5"]).is_ok());
    }

    #[test]
    fn a_secret_is_known_as_one_and_no_error_repeats_it() {
        let manifest = manifest(
            "[{ name: token, type: string, secret: true, max_length: 12 }, { name: pin, type: number, secret: true }]",
        );
        let job = handed(&manifest, &["token=hunter2hunt", "pin=123456"]).unwrap();
        assert!(job.secrets.contains(&("token".into(), "hunter2hunt".into())), "{:?}", job.secrets);
        assert!(job.secrets.contains(&("pin".into(), "123456".into())), "{:?}", job.secrets);
        for pair in ["token=hunter2hunter2hunter2", "pin=hunter2"] {
            let error = handed(&manifest, &[pair]).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn two_parameters_cannot_be_one_variable_and_no_value_can_break_the_environment() {
        let twins = manifest("[{ name: a-b, type: string }, { name: a_b, type: string }]");
        assert!(handed(&twins, &["a-b=1", "a_b=2"]).is_err());
        let one = manifest("[{ name: a, type: string }]");
        assert!(handed(&one, &[&format!("a={}", "x".repeat(200 << 10))]).is_err());
        assert!(handed(&one, &["a=x\0y"]).is_err());
    }
}
