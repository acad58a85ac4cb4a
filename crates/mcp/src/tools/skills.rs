//! Tools that look at skills and run nothing.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use skillsandbox_manifest::{GrantBases, GrantPath, LoadError, Manifest, Spanned};

use super::{NoArguments, OneSkill, ToolContext, arguments, cure, refused, why};
use crate::answer::{ToolAnswer, ToolProblem, line};

/// Most findings that a text tells of; the data has all.
const TOLD: usize = 20;

/// The skills below the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillListing {
    /// The skills, by what `run_skill` takes as `skill`.
    skills: Vec<ListedSkill>,
    /// True where there may be more than are listed.
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListedSkill {
    /// What the other tools take as `skill`.
    skill: String,
    /// Its folder.
    path: String,
    /// Whether its manifest is valid.
    valid: bool,
    /// What its manifest calls it: its author's words.
    name: Option<String>,
    version: Option<String>,
    /// What it says it does: its author's words.
    description: Option<String>,
    /// The parameters it takes, as its manifest declares them.
    parameters: Vec<Map<String, Value>>,
}

pub(crate) fn list(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let NoArguments {} = arguments("list_skills", given)?;
    let list = context.roots.list();
    let skills: Vec<ListedSkill> = list
        .skills
        .into_iter()
        .map(|found| {
            let manifest = Manifest::load(&found.folder).ok();
            let skill = manifest.as_ref().map(Manifest::skill);
            let parameters = manifest.as_ref().map_or(&[][..], Manifest::parameters);
            ListedSkill {
                path: found.folder.display().to_string(),
                skill: found.name,
                valid: manifest.is_some(),
                name: skill.map(|skill| skill.name.value.clone()),
                version: skill.map(|skill| skill.version.value.clone()),
                description: skill.and_then(|skill| Some(skill.description.as_ref()?.value.clone())),
                parameters: parameters.iter().filter_map(|parameter| object(json!(parameter))).collect(),
            }
        })
        .collect();
    let mut text = match skills.len() {
        0 => "There are no skills below the roots of this server.".to_owned(),
        count => format!("{count} skills (descriptions are their authors' words):"),
    };
    for skill in &skills {
        let _ = write!(text, "\n- {}", line(&skill.skill));
        match (&skill.name, &skill.version) {
            (Some(name), Some(version)) => {
                let _ = write!(text, " ({} {})", line(name), line(version));
            }
            _ => text.push_str(": its manifest is not valid; validate_skill says why"),
        }
        if let Some(description) = &skill.description {
            let _ = write!(text, ": {}", json!(line(description)));
        }
        for parameter in &skill.parameters {
            let value = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
            let required =
                if parameter.get("required") == Some(&Value::Bool(true)) { ", required" } else { "" };
            let _ = write!(text, "\n    {}: {}{required}", line(value("name")), value("type"));
        }
    }
    if list.cut {
        text.push_str("\nThere may be more: too many folders to look at.");
    }
    Ok(ToolAnswer::new(text, &SkillListing { skills, truncated: list.cut }))
}

fn object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(object) = value { Some(object) } else { None }
}

/// Whether a manifest is valid.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ManifestValidity {
    valid: bool,
    name: Option<String>,
    version: Option<String>,
    /// Every mistake, with its code, message, path, line, column and help.
    diagnostics: Vec<Map<String, Value>>,
    /// Mistakes that are not listed.
    more: usize,
    /// Why the manifest could not be read at all.
    error: Option<String>,
}

pub(crate) fn validate(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let OneSkill { skill } = arguments("validate_skill", given)?;
    let found = context.roots.find(&skill)?;
    let mut validity = ManifestValidity {
        valid: false,
        name: None,
        version: None,
        diagnostics: Vec::new(),
        more: 0,
        error: None,
    };
    let text = match Manifest::load(&found.folder) {
        Ok(manifest) => {
            let identity = manifest.skill();
            validity.valid = true;
            validity.name = Some(identity.name.value.clone());
            validity.version = Some(identity.version.value.clone());
            format!("valid: {} {}", line(&identity.name), line(&identity.version))
        }
        Err(LoadError::Invalid { invalid, .. }) => {
            let mut text = "not valid; a person has to correct skillsandbox.yaml:".to_owned();
            for mistake in &invalid.diagnostics {
                let _ = write!(text, "\n- line {}: {}", mistake.line, line(&mistake.message));
                if let Some(help) = &mistake.help {
                    let _ = write!(text, " ({})", line(help));
                }
            }
            if invalid.more > 0 {
                let _ = write!(text, "\nand {} more", invalid.more);
            }
            validity.diagnostics =
                invalid.diagnostics.iter().filter_map(|mistake| object(json!(mistake))).collect();
            validity.more = invalid.more;
            text
        }
        Err(error) => {
            let error = error.to_string();
            let text = format!("not valid: {}", line(&error));
            validity.error = Some(error);
            text
        }
    };
    Ok(ToolAnswer::new(text, &validity))
}

/// What a skill may do.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillInspection {
    /// What the other tools take as `skill`.
    skill: String,
    /// Its folder.
    path: String,
    /// The manifest with every default filled in and every path resolved, narrowed by the user's policy.
    manifest: Map<String, Value>,
    /// What the user's policy took away.
    narrowed_by_policy: Vec<Map<String, Value>>,
}

pub(crate) fn inspect(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let OneSkill { skill } = arguments("inspect_skill", given)?;
    let loaded = context.load(&skill)?;
    let manifest = loaded.skill.manifest();
    let places = loaded.skill.places();
    let mut value = json!(manifest);
    let files = manifest.filesystem();
    for (name, grants) in [
        ("read", &files.read),
        ("write", &files.write),
        ("forbidden", &files.forbidden),
        ("unix_sockets", &files.unix_sockets),
    ] {
        if let Some(list) = value.pointer_mut(&format!("/permissions/filesystem/{name}")) {
            *list = json!(resolved(grants, places));
        }
    }
    let inspection = SkillInspection {
        skill: loaded.found.name.clone(),
        path: loaded.skill.folder().display().to_string(),
        manifest: object(value).unwrap_or_default(),
        narrowed_by_policy: loaded
            .skill
            .changes()
            .iter()
            .filter_map(|change| object(json!(change)))
            .collect(),
    };
    let text = format!(
        "What is not listed is not granted. The skill's own folder can be read, and nothing in it changed.\n{}",
        serde_json::to_string_pretty(&inspection).unwrap_or_default()
    );
    Ok(ToolAnswer::new(text, &inspection))
}

pub(crate) fn resolved(grants: &[Spanned<GrantPath>], places: &GrantBases) -> Vec<std::path::PathBuf> {
    grants.iter().map(|grant| grant.resolve(places)).collect()
}

/// What a scan came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScanResult {
    /// SAFE, WARNING or BLOCKED.
    verdict: String,
    /// Whether `run_skill` refuses it for this.
    blocked: bool,
    /// The scanner's whole report.
    report: Map<String, Value>,
}

pub(crate) fn scan(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let OneSkill { skill } = arguments("scan_skill", given)?;
    let found = context.roots.find(&skill)?;
    let policy = context.policy(&found).map_err(|refusal| refused(&skill, &refusal))?;
    let report = policy.scan_folder(&found.folder).map_err(|refusal| {
        ToolProblem::new(format!("the skill `{skill}` cannot be scanned"))
            .why(why(&refusal))
            .cure(cure(&refusal))
    })?;
    if !context.roots.holds(&found.folder) {
        return Err(ToolProblem::new(format!("the skill `{skill}` was moved while it was scanned"))
            .cure("call again"));
    }
    let blocked = policy.refuses(report.verdict);
    let mut text = format!("{}: {}", line(&found.name), report.verdict.as_str());
    if blocked {
        text.push_str(". run_skill refuses it; a person has to review it.");
    }
    for finding in report.findings.iter().take(TOLD) {
        let suppressed = if finding.counts() { "" } else { " (suppressed by the user's policy)" };
        let (file, why) = (line(&finding.file), line(&finding.why));
        let _ = write!(text, "\n- {file}:{}: {why} [{}]{suppressed}", finding.line, finding.rule);
    }
    if report.findings.len() > TOLD {
        let _ = write!(text, "\nand {} more findings", report.findings.len() - TOLD);
    }
    if !report.complete {
        text.push_str("\nNot everything could be read or listed.");
    }
    let report_object = object(json!(report)).unwrap_or_default();
    let scan = ScanResult { verdict: report.verdict.as_str().to_owned(), blocked, report: report_object };
    Ok(ToolAnswer::new(text, &scan))
}
