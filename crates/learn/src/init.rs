//! A first manifest, of what the files of a skill say.

use serde_json::json;
use skillsandbox_manifest::{FrontMatter, Manifest};
use skillsandbox_text::is_secret_name;

use crate::draft::{DraftEntry, ManifestDraft};
use crate::static_facts::StaticFacts;

/// A first manifest: every entry with the file and line that speaks for it. Nothing has run for it, so it says nothing about files.
///
/// What a skill's code does that no manifest should grant, and variables whose names are those of secrets, stand in it as comments only.
#[must_use]
pub fn init_draft(name: &str, front: Option<&FrontMatter>, facts: &StaticFacts) -> ManifestDraft {
    let version = front.and_then(|front| front.version.as_ref()).map(|version| version.value.as_str());
    let description = front.and_then(|front| front.description.as_ref()).map(|text| text.value.as_str());
    let mut draft = ManifestDraft::new(name, version, description);
    draft.about.push("Written by `skillsandbox init` from the skill's files; nothing was run.".to_owned());
    draft.about.push("`skillsandbox learn` adds the files that it is seen to need.".to_owned());
    for name in ["LANG", "PATH"] {
        draft.env.push(DraftEntry::new(name.to_owned(), ["what every skill without a manifest is handed"]));
    }
    if let Some(tools) = front.and_then(|front| front.allowed_tools.as_ref()) {
        let tools: Vec<String> = tools.iter().map(|tool| tool.value.to_string()).collect();
        draft.about.push(format!("SKILL.md lets an agent use: {}", tools.join(", ")));
    }
    for (host, places) in &facts.hosts {
        let rule = json!({ "domain": host, "ports": [443], "protocol": "https" });
        carry(&mut draft, |draft| draft.egress.push(DraftEntry::new(rule, [places.join(", ")])));
    }
    for (name, places) in &facts.variables {
        let places = places.join(", ");
        if is_secret_name(name) {
            draft.about.push(format!(
                "not handed on, since it is a secret: {name} ({places}); add it to env_vars.allow"
            ));
        } else {
            carry(&mut draft, |draft| draft.env.push(DraftEntry::new(name.clone(), [places])));
        }
    }
    for (program, places) in &facts.programs {
        draft.about.push(format!("it starts {program} ({})", places.join(", ")));
    }
    for (what, places) in &facts.doubtful {
        draft.about.push(format!("NOT granted: it {what} ({})", places.join(", ")));
    }
    match facts.only_script() {
        Some((script, program)) => {
            let value = json!({ "command": program, "args": [script] });
            let why = format!("{script} is what it has to start");
            carry(&mut draft, |draft| draft.entrypoint = Some(DraftEntry::new(value, [why])));
        }
        None if facts.scripts.is_empty() => {
            draft.about.push("no scripts: say what to start after `--`".to_owned());
        }
        None => {
            let all: Vec<&str> = facts.scripts.keys().map(String::as_str).take(8).collect();
            draft.about.push(format!("several scripts, so say which after `--`: {}", all.join(", ")));
        }
    }
    draft
}

/// Changes a draft, unless it would not be a manifest any more.
fn carry(draft: &mut ManifestDraft, change: impl FnOnce(&mut ManifestDraft)) {
    let mut changed = draft.clone();
    change(&mut changed);
    if changed.to_text().is_ok_and(|text| Manifest::parse(&text).is_ok()) {
        *draft = changed;
    }
}
