//! The programs a skill may execute. The kernel holds the list; it cannot look at arguments.

use skillsandbox_manifest::Program;
use skillsandbox_tracer::{Event, What};

use crate::job::Job;
use crate::refusal::Refusal;

/// What `best_effort` calls them.
pub(super) const GAP: &str = "commands";

/// Checks the first command's arguments, and refuses what cannot be held.
pub(super) fn check(job: &Job) -> Result<(), Refusal> {
    if job.commands.is_none() {
        return Ok(());
    }
    first_command(job)?;
    if job.best_effort.iter().any(|name| name == GAP) {
        return Ok(());
    }
    Err(Refusal::Gap {
        what: "permissions.commands".to_owned(),
        why: "this version does not hold which programs a program executes".to_owned(),
        cure: format!("`--best-effort {GAP}`: only the first command is checked then"),
    })
}

/// Whether the arguments of the command itself are allowed.
fn first_command(job: &Job) -> Result<(), Refusal> {
    let Some(commands) = &job.commands else { return Ok(()) };
    let is_it = |program: &Program| job.program.to_string_lossy() == program.to_string().as_str();
    let words: Vec<_> = job.arguments.iter().map(|word| word.to_string_lossy()).collect();
    for (program, allowed) in commands.allowed_args.iter().filter(|(program, _)| is_it(program)) {
        if !words.first().is_some_and(|first| allowed.iter().any(|word| word == first)) {
            return Err(Refusal::Arguments(format!(
                "{program} may only be given {} first (permissions.commands.allowed_args)",
                allowed.join(", ")
            )));
        }
    }
    for (program, forbidden) in commands.forbidden_args.iter().filter(|(program, _)| is_it(program)) {
        let hit = |word: &str| {
            forbidden.iter().find(|bad| {
                word == bad.as_str()
                    || word.strip_prefix(bad.as_str()).is_some_and(|rest| rest.starts_with('='))
            })
        };
        if let Some(bad) = words.iter().find_map(|word| hit(word)) {
            return Err(Refusal::Arguments(format!(
                "{program} may not be given {bad} (permissions.commands.forbidden_args)"
            )));
        }
    }
    Ok(())
}

/// What the trace says of rules that are not held.
pub(super) fn notes(job: &Job) -> Option<Event> {
    job.commands.as_ref().map(|_| {
        Event::new(What::Policy {
            subject: GAP.to_owned(),
            message: "the first command was checked; which programs it executes was not, which was allowed"
                .to_owned(),
            figures: Default::default(),
        })
    })
}
