//! What the code of a skill can do, for people.

use std::fmt::Write as _;

use skillsandbox_scanner::SeenCapability;

use crate::output::visible;
use crate::style::{RESET, YELLOW};

/// Most places of one capability that are shown.
const MAX_PLACES: usize = 3;

/// A table: what it can do, to what, where, and whether the skill speaks of it.
pub(super) fn as_table(seen: &[SeenCapability]) -> String {
    if seen.is_empty() {
        return "  can do: nothing that was seen in its code\n".to_owned();
    }
    let mut out = String::from("  can do:\n");
    for kind in seen.chunk_by(|one, other| one.capability == other.capability) {
        let Some(first) = kind.first() else { continue };
        let undeclared = kind.iter().any(|place| !place.declared);
        let mark = if undeclared { format!("  {YELLOW}not declared{RESET}") } else { String::new() };
        let _ = writeln!(out, "    {}{mark}", first.capability.describe());
        // What nothing speaks of comes first.
        let shown =
            kind.iter().filter(|place| !place.declared).chain(kind.iter().filter(|place| place.declared));
        for place in shown.take(MAX_PLACES) {
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
