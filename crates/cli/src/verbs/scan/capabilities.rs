//! What the code of a skill can do, for people.

use std::fmt::Write as _;

use skillsandbox_scanner::ScanReport;

use crate::output::visible;
use crate::style::{RESET, YELLOW};

/// Most places of one capability that are shown.
const MAX_PLACES: usize = 3;

/// A table: what it can do, to what, where, and whether the skill speaks of it.
pub(super) fn as_table(report: &ScanReport) -> String {
    let seen = &report.capabilities;
    if seen.is_empty() {
        return "  can do: nothing that was seen in its code\n".to_owned();
    }
    let mut out = String::from("  can do:\n");
    for kind in seen.chunk_by(|one, other| one.capability == other.capability) {
        let Some(first) = kind.first() else { continue };
        let is_undeclared = report.undeclared.contains(&first.capability);
        let mark = if is_undeclared { format!("  {YELLOW}not declared{RESET}") } else { String::new() };
        let _ = writeln!(out, "    {}{mark}", first.capability.describe());
        for place in kind.iter().take(MAX_PLACES) {
            let object = if place.object.is_empty() { "" } else { "  " };
            let _ = writeln!(
                out,
                "      {}:{}{object}{}",
                visible(&place.file),
                place.line,
                visible(&place.object)
            );
        }
        if kind.len() > MAX_PLACES {
            let _ = writeln!(out, "      and {} more", kind.len() - MAX_PLACES);
        }
    }
    out
}
