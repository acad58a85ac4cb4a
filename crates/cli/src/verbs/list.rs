//! `skillsandbox list`: what is installed.

use std::fmt::Write as _;

use clap::Args;
use skillsandbox_run::resolve_grants;
use skillsandbox_store::{LockEntry, PermissionSet, RunStanding};

use super::installing::StoreArgs;
use crate::args::OutputFormat;
use crate::output::{self, ExitAnswer, visible};
use crate::style::{GREEN, RED, RESET, YELLOW};

/// List installed skills: version, verdict, source, what they declare, and how they run
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  skillsandbox list
  skillsandbox list --format json | jq '.[] | select(.forced)'")]
pub(crate) struct ListArgs {
    /// How to show it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    #[command(flatten)]
    place: StoreArgs,
}

impl ListArgs {
    pub(crate) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let store = self.place.store(None)?;
        let lock = store.list()?;
        let resolved = |entry: &LockEntry| {
            let permissions = entry.permissions.as_ref();
            permissions.map(|set| resolve_grants(set, &entry.path(store.layout()))).unwrap_or_default()
        };
        let entries: Vec<&LockEntry> = lock.entries().collect();
        if self.format == OutputFormat::Json {
            let mut shown = Vec::new();
            for entry in entries {
                let mut value = serde_json::to_value(entry)?;
                if let Some(object) = value.as_object_mut() {
                    object.insert("runs".to_owned(), serde_json::to_value(store.run_standing(entry))?);
                    object.insert("leads_to".to_owned(), serde_json::to_value(resolved(entry))?);
                }
                shown.push(value);
            }
            output::json(&shown.into())?;
            return Ok(ExitAnswer::Yes);
        }
        if entries.is_empty() {
            output::message("nothing is installed");
        }
        let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
        let mut text = String::new();
        for entry in entries {
            let colour = if entry.security_scan.verdict == "SAFE" { GREEN } else { YELLOW };
            let _ = writeln!(
                text,
                "{colour}{:<8}{RESET}{:<width$}  {}  {}{}",
                visible(&entry.security_scan.verdict),
                visible(&entry.name),
                visible(&entry.version),
                visible(&entry.source),
                notes(entry)
            );
            let declared = entry.permissions.as_ref().map(PermissionSet::summary);
            let _ = writeln!(text, "        {}", visible(&declared.unwrap_or_else(|| "unknown".to_owned())));
            let standing = store.run_standing(entry);
            let (colour, reset) = match &standing {
                RunStanding::Changed { .. } | RunStanding::Refused { .. } => {
                    (format!("{RED}"), format!("{RESET}"))
                }
                RunStanding::Skill | RunStanding::User { .. } | RunStanding::Defaults | RunStanding::Text => {
                    Default::default()
                }
            };
            let _ = writeln!(text, "        {colour}{}{reset}", visible(&standing.to_string()));
            for led in resolved(entry) {
                let _ = writeln!(text, "        {}", visible(&led.to_string()));
            }
        }
        output::result(&text)?;
        Ok(ExitAnswer::Yes)
    }
}

/// What was special about its installation.
fn notes(entry: &LockEntry) -> String {
    let forced = entry.forced.then(|| "forced".to_owned());
    let suppressed = match entry.suppressed.len() {
        0 => None,
        count => Some(format!("{count} suppressed")),
    };
    let notes: Vec<String> = forced.into_iter().chain(suppressed).collect();
    if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) }
}
