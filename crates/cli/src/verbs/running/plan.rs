//! `--dry-run`: what would be run, and what would hold it here.

use std::fmt::Write as _;

use serde_json::{Value, json};
use skillsandbox_run::{Job, LayerStanding, Refusal, RunPreview};

use crate::output::visible;
use crate::style::{BOLD, DIM, GREEN, RED, RESET, YELLOW};

/// Most entries of a layer that are shown.
const SHOWN: usize = 40;

fn words(job: &Job) -> Vec<String> {
    let words = std::iter::once(&job.program).chain(&job.arguments);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

pub(super) fn json(job: &Job, shown: &Result<RunPreview, Refusal>) -> anyhow::Result<Value> {
    let mut value = json!({
        "dry_run": true,
        "skill": job.name,
        "version": job.version,
        "runtime": job.runtime.as_str(),
        "command": words(job),
        "notes": job.notes.iter().map(|(subject, note)| json!({ "subject": subject, "note": note })).collect::<Vec<_>>(),
    });
    let more = match shown {
        Ok(preview) => serde_json::to_value(preview)?,
        Err(refusal) => json!({ "layers": [], "refused": refusal.to_string() }),
    };
    if let (Some(object), Value::Object(more)) = (value.as_object_mut(), more) {
        object.extend(more);
    }
    Ok(value)
}

pub(super) fn text(job: &Job, preview: Option<&RunPreview>) -> String {
    let version = job.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let mut page =
        format!("{BOLD}{}{}{RESET}: a dry run, nothing is executed\n", visible(&job.name), visible(&version));
    let command: Vec<String> = words(job).iter().map(|word| visible(&format!("{word:?}"))).collect();
    let _ = writeln!(page, "  command  {}", command.join(" "));
    for (subject, note) in &job.notes {
        let _ = writeln!(page, "  {:<8} {}", visible(subject), visible(note));
    }
    let Some(preview) = preview else { return page };
    let _ = writeln!(page, "  program  {}\n", visible(&preview.program));
    for wall in &preview.layers {
        let (colour, word) = match wall.standing {
            LayerStanding::Full => (GREEN, "ok"),
            LayerStanding::Partial => (YELLOW, "partial"),
            LayerStanding::Missing if wall.best_effort => (YELLOW, "waived"),
            LayerStanding::Missing => (RED, "missing"),
        };
        let _ = writeln!(
            page,
            "{colour}{word:<8}{RESET} {BOLD}{:<11}{RESET} {DIM}{}{RESET}",
            wall.layer, wall.purpose
        );
        for held in wall.holds.iter().take(SHOWN) {
            let _ = writeln!(page, "           {}", visible(held));
        }
        if let more @ 1.. = wall.holds.len().saturating_sub(SHOWN) {
            let _ = writeln!(page, "           and {more} more");
        }
        for missing in &wall.missing {
            let _ = writeln!(page, "         {colour}{}{RESET}", visible(missing));
        }
        for (number, line) in wall.cure.iter().enumerate() {
            let lead = if number == 0 { "cure:" } else { "     " };
            let _ = writeln!(page, "         {BOLD}{lead}{RESET} {}", visible(line));
        }
    }
    let _ = match &preview.refused {
        None => writeln!(page, "\n{GREEN}a run would start, and be held to all of this{RESET}"),
        Some(why) => writeln!(page, "\n{RED}a run would be refused here: {}{RESET}", visible(why)),
    };
    page
}
