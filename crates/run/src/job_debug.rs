//! What may be seen of a job: everything but its secrets.

use std::collections::BTreeMap;
use std::fmt;

use skillsandbox_text::{NextWord, REDACTED, Redactor, is_secret_name};

use crate::job::Job;

/// Without the secrets it names, the variables whose names are those of secrets, and either of them in its arguments and notes.
impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A new field has to be thought of here.
        let Self {
            name,
            version,
            runtime,
            program,
            arguments,
            workdir,
            read,
            as_named,
            write,
            judged_writes,
            new_files,
            forbidden,
            unix_sockets,
            read_within,
            write_within,
            untrusted,
            egress,
            resolver,
            resolver_wish,
            pins,
            allow_env,
            deny_env,
            set_env,
            profile,
            commands,
            limits,
            best_effort,
            observe,
            observe_required,
            tmp,
            is_stores_own,
            secrets,
            scanned,
            installed,
            notes,
        } = self;
        let set = set_env.iter().filter(|(name, _)| is_secret_name(name));
        let set = set.map(|(name, value)| (name.as_str(), value.as_str()));
        let known: Vec<(&str, &str)> =
            secrets.iter().map(|(name, value)| (name.as_str(), value.expose())).chain(set).collect();
        let redactor = Redactor::new(known.iter().copied()).ok();
        let without = |text: &str, next: &mut NextWord| match &redactor {
            // Whole, since a redactor does not look for values that are short or common.
            Some(redactor) if !known.iter().any(|(_, value)| !value.is_empty() && text.contains(value)) => {
                redactor.redact_named(text, next)
            }
            _ => REDACTED.to_owned(),
        };
        let mut next = NextWord::Plain;
        let arguments: Vec<String> =
            arguments.iter().map(|argument| without(&argument.to_string_lossy(), &mut next)).collect();
        let value = |name: &str, value: &str| {
            if is_secret_name(name) { REDACTED.to_owned() } else { without(value, &mut NextWord::Plain) }
        };
        let set_env: BTreeMap<_, _> = set_env.iter().map(|(name, text)| (name, value(name, text))).collect();
        let notes: Vec<_> =
            notes.iter().map(|(subject, text)| (subject, without(text, &mut NextWord::Plain))).collect();
        f.debug_struct("Job")
            .field("name", name)
            .field("version", version)
            .field("runtime", runtime)
            .field("program", program)
            .field("arguments", &arguments)
            .field("workdir", workdir)
            .field("read", read)
            .field("as_named", as_named)
            .field("write", write)
            .field("judged_writes", judged_writes)
            .field("new_files", new_files)
            .field("forbidden", forbidden)
            .field("unix_sockets", unix_sockets)
            .field("read_within", read_within)
            .field("write_within", write_within)
            .field("untrusted", untrusted)
            .field("egress", egress)
            .field("resolver", resolver)
            .field("resolver_wish", resolver_wish)
            .field("pins", pins)
            .field("allow_env", allow_env)
            .field("deny_env", deny_env)
            .field("set_env", &set_env)
            .field("profile", profile)
            .field("commands", commands)
            .field("limits", limits)
            .field("best_effort", best_effort)
            .field("observe", observe)
            .field("observe_required", observe_required)
            .field("tmp", tmp)
            .field("is_stores_own", is_stores_own)
            .field("secrets", secrets)
            .field("scanned", scanned)
            .field("installed", installed)
            .field("notes", &notes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_a_job_shows_no_secret() {
        let mut job = Job::new("demo", "curl");
        job.set_env.insert("API_TOKEN".into(), "set-by-hand-1".into());
        job.set_env.insert("DB_PWD".into(), "pw2".into());
        job.set_env.insert("MODE".into(), "visible-mode".into());
        job.set_env.insert("COPY".into(), "again known-value-3".into());
        job.secrets.push(("KEY".into(), "known-value-3".into()));
        // Too short for a redactor to look for.
        job.secrets.push(("PIN".into(), "4711".into()));
        job.set_env.insert("SKILLSANDBOX_PARAM_PIN".into(), "4711".into());
        job.arguments = ["--token", "argument-4", "-H", "X: known-value-3", "set-by-hand-1", "plain"]
            .map(Into::into)
            .into();
        job.notes.push(("note".into(), "it says known-value-3".into()));
        for shown in [format!("{job:?}"), format!("{job:#?}")] {
            for secret in ["set-by-hand-1", "pw2", "known-value-3", "argument-4", "4711"] {
                assert!(!shown.contains(secret), "{secret} in {shown}");
            }
            for seen in ["API_TOKEN", "DB_PWD", "visible-mode", "KEY", "plain", "curl"] {
                assert!(shown.contains(seen), "{seen} not in {shown}");
            }
        }
    }
}
