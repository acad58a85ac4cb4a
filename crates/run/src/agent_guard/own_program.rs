//! This program itself: what judges an agent is not the agent's to change, by no command either.

use std::path::Path;

use super::{GuardAnswer, GuardReason};
use crate::reach::real_path;

const PROGRAM: &str = "skillsandbox";

/// Verbs that tell something.
const READING: [&str; 18] = [
    "audit",
    "check-command",
    "check-path",
    "completions",
    "discover",
    "doctor",
    "explain",
    "help",
    "history",
    "hook",
    "inspect",
    "list",
    "man",
    "reports",
    "scan",
    "schema",
    "trace",
    "validate",
];

/// Verbs that change what is installed or allowed, or start something by grants of the command line.
const CHANGING: [&str; 12] = [
    "allow", "convert", "exec", "init", "install", "key", "learn", "remove", "run", "serve", "update", "wrap",
];

/// Verbs below a reading one that take something away or change it.
const CHANGING_BELOW: [&str; 2] = ["pin", "prune"];

/// What a command means to this program's own state. With `anywhere`, a command that starts another is searched for it: `env skillsandbox allow`.
pub(super) fn judge(words: &[String], cwd: &Path, anywhere: bool) -> GuardAnswer {
    let called = |index: usize| {
        let (program, rest) = words.get(index..).and_then(<[String]>::split_first)?;
        if !is_this_program(program, cwd) {
            return None;
        }
        let mut verbs = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        // The one option before a verb that has a value.
        let is_coloured = rest.first().is_some_and(|word| word == "--color");
        let verb = verbs.nth(usize::from(is_coloured))?;
        let below = verbs.next().is_some_and(|below| CHANGING_BELOW.contains(&below));
        let has = |flag: &str| rest.iter().any(|word| word == flag);
        let reads = READING.contains(&verb) && !below || verb == "allow" && has("--list") && !has("--remove");
        // Behind another program it may be any word.
        let changes = if index == 0 { !reads } else { (CHANGING.contains(&verb) || below) && !reads };
        changes.then_some(verb)
    };
    let most = if anywhere { words.len() } else { 1 };
    let Some(verb) = (0..most).find_map(called) else { return GuardAnswer::Pass };
    let reason = format!(
        "`{PROGRAM} {verb}` changes what is allowed on this machine, or runs something by its own grants"
    );
    let hint = "A person has to run it in a terminal of their own.";
    GuardAnswer::Deny(GuardReason::new("own-program", reason, hint))
}

/// By its name, or by where a path leads.
fn is_this_program(word: &str, cwd: &Path) -> bool {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name == PROGRAM);
    is_named(Path::new(word)) || word.contains('/') && is_named(&real_path(&cwd.join(word)))
}
