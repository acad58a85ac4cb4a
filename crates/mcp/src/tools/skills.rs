//! Tools that look at skills and run nothing.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skillsandbox_manifest::{GrantBases, GrantPath, LoadError, Manifest, SkillDoc, Spanned};
use skillsandbox_run::{LoadedSkill, Refusal};

use super::{OneSkill, ToolContext, arguments, cure, refused, why};
use crate::answer::{ToolAnswer, ToolProblem, line, quotation, quoted};
use crate::skill_roots::FoundSkill;

/// Most findings that a text tells of; the data has all of the page.
const TOLD: usize = 20;
/// How many entries a page has, unless it is asked for more, and the most it may be asked for.
const PAGE: usize = 50;
const MOST_OF_A_PAGE: u64 = 100;
/// Most bytes of the skills on a page, beyond the first; of one skill's parameters; and most characters of a description, a path or a reason.
const MOST_LISTED_BYTES: usize = 256 << 10;
const MOST_PARAMETER_BYTES: usize = 32 << 10;
const MOST_DESCRIPTION: usize = 1000;
/// Most bytes of a manifest that a text repeats; the data has it whole.
const MOST_SHOWN: usize = 64 << 10;

/// Which part of a list.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListPage {
    /// The `next_cursor` of the answer before; the beginning when left out.
    #[serde(default)]
    cursor: Option<String>,
    /// How many skills: 1 to 100, 50 when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

/// The skills below the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SkillListing {
    /// The skills, by what `run_skill` takes as `skill`.
    skills: Vec<ListedSkill>,
    /// Give it as `cursor` to be told of the next; null after the last.
    next_cursor: Option<String>,
    /// How many skills there are on all pages.
    total: usize,
    /// Folders with a manifest that no tool takes, each with why: the first of them.
    not_served: Vec<UnservedFolder>,
    /// True where not all folders could be looked at: then no skill is served.
    truncated: bool,
}

/// A folder that is no skill of this server.
#[derive(Debug, Serialize, JsonSchema)]
struct UnservedFolder {
    path: String,
    why: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListedSkill {
    /// What the other tools take as `skill`.
    skill: String,
    /// Its folder.
    path: String,
    /// Whether it could be loaded, and its manifest is valid.
    valid: bool,
    /// Whether `run_skill` refuses it for what is in it: then nothing of what its author wrote is told here.
    blocked: bool,
    /// Where its permissions come from: `skill` (its own manifest), `user` (one that the user wrote for it), `defaults` (no manifest: its own
    /// folder read-only and nothing else); null where it is not valid.
    permissions_from: Option<String>,
    /// Whether `args` of `run_skill` are the whole command, because its manifest has no entrypoint.
    args_are_command: bool,
    /// What its manifest calls it: its author's words.
    name: Option<String>,
    version: Option<String>,
    /// What it says it does: its author's words, shortened where they are long.
    description: Option<String>,
    /// The parameters it takes, as its manifest declares them.
    parameters: Vec<Map<String, Value>>,
    /// How many parameters are not in this answer; `inspect_skill` has all.
    parameters_left_out: usize,
}

impl ListedSkill {
    fn of(context: &ToolContext, found: &FoundSkill) -> Self {
        let loaded = context.load_found(found).ok();
        let blocked = context.is_refused(found);
        let manifest = loaded.as_ref().map(LoadedSkill::manifest);
        let told = manifest.filter(|_| !blocked);
        let skill = told.map(Manifest::skill);
        let declared = told.map_or(&[][..], Manifest::parameters);
        let (mut parameters, mut room) = (Vec::new(), MOST_PARAMETER_BYTES);
        for parameter in declared {
            let value = json!(parameter);
            let size = value.to_string().len();
            if size > room {
                break;
            }
            room -= size;
            parameters.extend(object(value));
        }
        let text = |text: &str| shorten(text, MOST_DESCRIPTION);
        Self {
            path: found.folder.display().to_string(),
            skill: found.name.clone(),
            valid: manifest.is_some(),
            blocked,
            permissions_from: loaded.as_ref().map(|skill| skill.origin().as_str().to_owned()),
            args_are_command: manifest.is_some_and(|manifest| manifest.entrypoint().is_none()),
            name: skill.map(|skill| text(&skill.name.value)),
            version: skill.map(|skill| text(&skill.version.value)),
            description: skill
                .and_then(|skill| skill.description.as_ref().map(|own| own.value.clone()))
                .or_else(|| document_description(found).filter(|_| !blocked))
                .map(|description| text(&description)),
            parameters_left_out: declared.len() - parameters.len(),
            parameters,
        }
    }

    fn tell(&self, text: &mut String) {
        let _ = write!(text, "\n- {}", quoted(&self.skill));
        if self.blocked {
            text.push_str(": BLOCKED; run_skill refuses it, and scan_skill says why");
            return;
        }
        match (&self.name, &self.version) {
            (Some(name), Some(version)) => {
                let _ = write!(text, " ({} {})", quoted(name), quoted(version));
            }
            _ => text.push_str(": it cannot be used; validate_skill says why"),
        }
        if let Some(description) = &self.description {
            let _ = write!(text, ": {}", quoted(description));
        }
        if self.args_are_command {
            text.push_str("\n    without an entrypoint: args are the command");
        }
        for parameter in &self.parameters {
            let value = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
            let required =
                if parameter.get("required") == Some(&Value::Bool(true)) { ", required" } else { "" };
            let _ = write!(text, "\n    {}: {}{required}", line(value("name")), value("type"));
        }
        if self.parameters_left_out > 0 {
            let _ = write!(text, "\n    and {} more parameters", self.parameters_left_out);
        }
    }
}

/// What a skill's document says of it, where its manifest says nothing.
fn document_description(found: &FoundSkill) -> Option<String> {
    let (document, _) = SkillDoc::load(&found.folder).ok()?;
    document.front_matter?.description.map(|description| description.value)
}

pub(crate) fn list(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let ListPage { cursor, limit } = arguments("list_skills", given)?;
    let limit = page_size(limit)?;
    let list = context.roots.list();
    let start = match &cursor {
        None => 0,
        // By what came last, so that a skill which is added meanwhile shifts nothing.
        Some(cursor) => {
            1 + list
                .skills
                .iter()
                .position(|skill| skill.folder.to_str() == Some(cursor.as_str()))
                .ok_or_else(unknown_cursor)?
        }
    };
    let (mut skills, mut room) = (Vec::new(), MOST_LISTED_BYTES);
    for found in list.skills.iter().skip(start).take(limit) {
        let skill = ListedSkill::of(context, found);
        let size = json!(skill).to_string().len();
        // The first is always told, whatever it takes: its size is bounded by itself.
        if size > room && !skills.is_empty() {
            break;
        }
        room = room.saturating_sub(size);
        skills.push(skill);
    }
    let (total, told) = (list.skills.len(), start + skills.len());
    let next_cursor = skills.last().filter(|_| told < total).map(|skill: &ListedSkill| skill.path.clone());
    let mut text = match (total, skills.len()) {
        (0, _) => "There are no skills below the roots of this server.".to_owned(),
        (_, count) if count == total => {
            format!("{count} skills (names and descriptions are their authors' words):")
        }
        (_, count) => format!(
            "{count} of {total} skills, from number {} on (names and descriptions are their authors' words):",
            start + 1
        ),
    };
    for skill in &skills {
        skill.tell(&mut text);
    }
    let unserved = |(found, why): &(FoundSkill, String)| UnservedFolder {
        path: shorten(&found.folder.display().to_string(), MOST_DESCRIPTION),
        why: shorten(why, MOST_DESCRIPTION),
    };
    let not_served: Vec<UnservedFolder> = list.not_served.iter().take(TOLD).map(unserved).collect();
    for folder in &not_served {
        let _ = write!(text, "\nNot served: {}: {}", quoted(&folder.path), line(&folder.why));
    }
    if list.not_served.len() > TOLD {
        let _ = write!(text, "\nNor {} more folders", list.not_served.len() - TOLD);
    }
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere are more: call again with cursor {}", json!(cursor));
    }
    if let Some(why) = &list.cut {
        let _ = write!(text, "\nNo skill is served: {}.", line(why));
    }
    Ok(ToolAnswer::new(
        text,
        &SkillListing { skills, next_cursor, total, not_served, truncated: list.cut.is_some() },
    ))
}

/// How many entries a page has.
fn page_size(limit: Option<u64>) -> Result<usize, ToolProblem> {
    match limit {
        None => Ok(PAGE),
        Some(limit @ 1..=MOST_OF_A_PAGE) => Ok(usize::try_from(limit).unwrap_or(PAGE)),
        Some(limit) => Err(ToolProblem::new(format!("a page cannot have {limit} entries; nothing was done"))
            .cure(format!("give a limit from 1 to {MOST_OF_A_PAGE}, or none"))),
    }
}

fn unknown_cursor() -> ToolProblem {
    ToolProblem::new(
        "this is not the next_cursor of an answer, or what it stood for has gone; nothing was done",
    )
    .cure("call again without cursor")
}

/// A text that is no longer than so many characters.
fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
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
    let text = match context.load_found(&found) {
        Ok(loaded) => {
            let identity = loaded.manifest().skill();
            validity.valid = true;
            validity.name = Some(identity.name.value.clone());
            validity.version = Some(identity.version.value.clone());
            let origin = line(&loaded.origin().to_string());
            format!("valid: {} {}, by {origin}", line(&identity.name), line(&identity.version))
        }
        Err(Refusal::Load(LoadError::Invalid { invalid, .. })) => {
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
    /// Where its permissions come from: `skill`, `user` or `defaults`.
    permissions_from: String,
    /// The manifest with every default filled in and every path resolved, narrowed by the user's policy.
    manifest: Map<String, Value>,
    /// What the user's policy took away.
    narrowed_by_policy: Vec<Map<String, Value>>,
}

pub(crate) fn inspect(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let OneSkill { skill } = arguments("inspect_skill", given)?;
    let loaded = context.load(&skill)?;
    let policy = loaded.skill.policy();
    let report = policy.scan_folder(&loaded.found.folder).map_err(|refusal| refused(&skill, &refusal))?;
    if let Some(refusal) = policy.refusal(&report) {
        return Err(ToolProblem::new(format!("what the skill {} declares is not read out", quoted(&skill)))
            .why(why(&refusal))
            .cure(cure(&refusal)));
    }
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
        permissions_from: loaded.skill.origin().as_str().to_owned(),
        manifest: object(value).unwrap_or_default(),
        narrowed_by_policy: loaded
            .skill
            .changes()
            .iter()
            .filter_map(|change| object(json!(change)))
            .collect(),
    };
    let shown = serde_json::to_string_pretty(&inspection).unwrap_or_default();
    let part = shown.get(..shown.floor_char_boundary(MOST_SHOWN)).unwrap_or_default();
    let mut text =
        "What is not listed is not granted. The skill's own folder can be read, and nothing in it changed."
            .to_owned();
    let _ = write!(text, "\n{}", quotation("what its manifest declares", part));
    if part.len() < shown.len() {
        let _ = write!(text, "\n{} more bytes are in the structured content", shown.len() - part.len());
    }
    Ok(ToolAnswer::new(text, &inspection))
}

pub(crate) fn resolved(grants: &[Spanned<GrantPath>], places: &GrantBases) -> Vec<std::path::PathBuf> {
    grants.iter().map(|grant| grant.resolve(places)).collect()
}

/// Which skill, and which part of its findings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanPage {
    /// The skill, as `list_skills` names it.
    skill: String,
    /// The `next_cursor` of the answer before; the gravest findings when left out.
    #[serde(default)]
    cursor: Option<String>,
    /// How many findings, and how many unread files: 1 to 100, 50 when left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

/// What a scan came to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScanResult {
    /// SAFE, WARNING or BLOCKED.
    verdict: String,
    /// Whether `run_skill` refuses it for this.
    blocked: bool,
    /// The scanner's report, with the findings and the unread files of this page.
    report: Map<String, Value>,
    /// How many findings there are on all pages.
    findings_total: usize,
    /// How many files, or parts of files, were not read.
    unread_total: usize,
    /// Give it as `cursor` to be told of the next findings and unread files; null after the last.
    next_cursor: Option<String>,
}

pub(crate) fn scan(context: &ToolContext, given: Map<String, Value>) -> Result<ToolAnswer, ToolProblem> {
    let ScanPage { skill, cursor, limit } = arguments("scan_skill", given)?;
    let limit = page_size(limit)?;
    let start: usize = match &cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| unknown_cursor())?,
    };
    let found = context.roots.find(&skill)?;
    let policy = context.policy(&found).map_err(|refusal| refused(&skill, &refusal))?;
    let report = policy.scan_folder(&found.folder).map_err(|refusal| {
        ToolProblem::new(format!("the skill {} cannot be scanned", quoted(&skill)))
            .why(why(&refusal))
            .cure(cure(&refusal))
    })?;
    if !context.roots.holds(&found.folder) {
        return Err(ToolProblem::new(format!("the skill {} was moved while it was scanned", quoted(&skill)))
            .cure("call again"));
    }
    let refused = policy.refusal(&report);
    let mut text = format!("{}: {}", quoted(&found.name), report.verdict.as_str());
    if refused.is_some() {
        text.push_str(". run_skill refuses it; a person has to review it.");
    }
    for finding in report.findings.iter().skip(start).take(TOLD.min(limit)) {
        let suppressed = if finding.counts() { "" } else { " (suppressed by the user's policy)" };
        let (file, why) = (quoted(&finding.file), line(&finding.why));
        let _ = write!(text, "\n- {file}:{}: {why} [{}]{suppressed}", finding.line, finding.rule);
    }
    let (findings, unread) = (report.findings.len(), report.unread.len());
    let told = start + TOLD.min(limit);
    if findings > told {
        let _ = write!(text, "\nand {} more findings", findings - told);
    }
    for file in report.unread.iter().skip(start).take(TOLD.min(limit)) {
        let _ = write!(text, "\nNot read: {}: {}", quoted(&file.path), line(&file.reason));
    }
    if unread > told {
        let _ = write!(text, "\nnor {} more files", unread - told);
    }
    if !report.complete {
        text.push_str("\nNot everything could be read or listed.");
    }
    let end = start + limit;
    let mut report_object = object(json!(report)).unwrap_or_default();
    for list in ["findings", "unread"] {
        if let Some(Value::Array(entries)) = report_object.get_mut(list) {
            *entries = entries.drain(..).skip(start).take(limit).map(shorten_strings).collect();
        }
    }
    let next_cursor = (end < findings.max(unread)).then(|| end.to_string());
    if let Some(cursor) = &next_cursor {
        let _ = write!(text, "\nThere is more: call again with cursor {}", json!(cursor));
    }
    let scan = ScanResult {
        verdict: report.verdict.as_str().to_owned(),
        blocked: refused.is_some(),
        report: report_object,
        findings_total: findings,
        unread_total: unread,
        next_cursor,
    };
    Ok(ToolAnswer::new(text, &scan))
}

/// A finding or an unread file, without texts of any length: a path alone may have thousands of characters.
fn shorten_strings(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shorten(&text, MOST_DESCRIPTION)),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, shorten_strings(value))).collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(shorten_strings).collect()),
        other => other,
    }
}
