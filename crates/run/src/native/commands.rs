//! The programs a skill may execute. The kernel holds the list; it cannot look at arguments.

use std::ffi::{OsStr, OsString};

use skillsandbox_tracer::Event;

use crate::job::Job;
use crate::refusal::Refusal;
use crate::session::note;

/// What `best_effort` calls rules about arguments.
pub(super) const GAP: &str = "arguments";

/// The programs that may be executed, and no others; `None` for any.
///
/// The arguments of the first command are checked here. Those of what it executes in turn are not: the kernel sees arguments only while the
/// program that gives them can still change them. A manifest with such rules is refused, unless it was said that checking the first
/// command is enough.
pub(super) fn programs(job: &Job) -> Result<Option<Vec<OsString>>, Refusal> {
    let Some(commands) = &job.commands else { return Ok(None) };
    first_command(job)?;
    let ruled = commands.allowed_args.keys().chain(commands.forbidden_args.keys()).next();
    if let Some(program) = ruled
        && !job.best_effort.iter().any(|name| name == GAP)
    {
        return Err(Refusal::Gap {
            what: format!("the rules about the arguments of `{}`", program.to_string_lossy()),
            why: "the kernel can hold programs, not the arguments they are given by other programs"
                .to_owned(),
            cure: format!("`--best-effort {GAP}`: only the first command's arguments are checked then"),
        });
    }
    Ok(Some(commands.allow.clone()))
}

/// Whether the arguments of the command itself are allowed.
fn first_command(job: &Job) -> Result<(), Refusal> {
    let Some(commands) = &job.commands else { return Ok(()) };
    let is = |word: &OsStr, text: &str| word.as_encoded_bytes() == text.as_bytes();
    let name = job.program.to_string_lossy();
    if let Some(allowed) = commands.allowed_args.get(&job.program)
        && !job.arguments.first().is_some_and(|first| allowed.iter().any(|word| is(first, word)))
    {
        let allowed = allowed.join(", ");
        return Err(Refusal::Arguments(format!(
            "{name} may only be given {allowed} first (permissions.commands.allowed_args)"
        )));
    }
    let forbidden = commands.forbidden_args.get(&job.program).into_iter().flatten();
    for bad in forbidden {
        let hit = |word: &OsString| {
            let rest = word.as_encoded_bytes().strip_prefix(bad.as_bytes());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
        };
        if job.arguments.iter().any(hit) {
            return Err(Refusal::Arguments(format!(
                "{name} may not be given {bad} (permissions.commands.forbidden_args)"
            )));
        }
    }
    Ok(())
}

/// What the trace says of the programs, and of rules that are not held.
pub(super) fn notes(job: &Job) -> Vec<Event> {
    let Some(commands) = &job.commands else { return Vec::new() };
    let allowed: Vec<_> = commands.allow.iter().map(|program| program.to_string_lossy()).collect();
    let mut notes = vec![note("commands", format!("may be executed: {}; nothing else", allowed.join(", ")))];
    if !commands.allowed_args.is_empty() || !commands.forbidden_args.is_empty() {
        let text = "the arguments of the first command were checked; those of programs it executes were not, which was allowed";
        notes.push(note("commands", text));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::ProgramRules;

    fn job(arguments: &[&str]) -> Job {
        let mut job = Job::new("k", "kubectl");
        job.arguments = arguments.iter().map(Into::into).collect();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        job.commands = Some(ProgramRules {
            allow: vec!["kubectl".into()],
            allowed_args: [("kubectl".into(), words(&["get", "logs"]))].into(),
            forbidden_args: [("kubectl".into(), words(&["--token"]))].into(),
        });
        job
    }

    #[test]
    fn the_first_commands_arguments_are_checked_and_the_rest_is_a_gap() {
        for wrong in [&[][..], &["delete"], &["get", "--token", "x"], &["get", "--token=x"]] {
            assert!(matches!(programs(&job(wrong)), Err(Refusal::Arguments(_))), "{wrong:?}");
        }
        assert!(matches!(programs(&job(&["get", "--tokens"])), Err(Refusal::Gap { .. })));
        let mut waived = job(&["get"]);
        waived.best_effort = vec![GAP.to_owned()];
        assert_eq!(programs(&waived).unwrap(), Some(vec!["kubectl".into()]));
        assert_eq!(notes(&waived).len(), 2);
    }
}
