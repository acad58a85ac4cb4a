//! Whether what a configuration starts is confined: the words are read by the definitions that will read them when it starts.

use std::path::{Path, PathBuf};

use clap::Parser as _;
use serde_json::Value;
use skillsandbox_manifest::{Destination, EgressRule};
use skillsandbox_run::private_place;

use super::config::ServerState;
use crate::args::{Cli, CliVerb};
use crate::verbs::running::grants::{AskedReach, GrantFlags};

/// Narrower ranges of addresses than these are those of somebody; wider ones are the Internet's.
const LEAST_PREFIX: u8 = 8;

/// A state, and why.
pub(super) type Judged = (ServerState, Vec<String>);

/// Judges a command. `folder` is where relative paths are taken to begin.
pub(super) fn judge(command: &str, arguments: &[&str], entry: &Value, folder: &Path) -> Judged {
    if !is_our_program(command) {
        return (ServerState::Unconfined, Vec::new());
    }
    let own = std::iter::once("skillsandbox").chain(arguments.iter().copied());
    let verb = match Cli::try_parse_from(own) {
        Ok(cli) => cli.verb,
        Err(_) => return unclear("skillsandbox would not start with these arguments"),
    };
    let asked = match &verb {
        CliVerb::Wrap(verb) => verb.asked_reach(),
        CliVerb::Exec(verb) => verb.asked_reach(),
        CliVerb::Run(verb) => verb.asked_reach(),
        CliVerb::Serve(verb) => verb.asked_reach(),
        _ => {
            let why = "this verb of skillsandbox confines nothing".to_owned();
            return (ServerState::Unconfined, vec![why]);
        }
    };
    let own = arguments.iter().copied().take_while(|word| *word != "--");
    let folders = entry.get("cwd").and_then(Value::as_str);
    if own.chain(folders).any(has_unknown_variable) {
        return unclear("the agent puts the value of a variable into its arguments");
    }
    let changed = changed_variables(entry);
    if !changed.is_empty() {
        let why =
            format!("its `env` sets {}, and so what skillsandbox itself is or reads", changed.join(", "));
        return (ServerState::Unconfined, vec![why]);
    }
    if entry.get("envFile").is_some() {
        return unclear("its `envFile` may set what skillsandbox itself is or reads");
    }
    if let Some(manifest) = asked.manifest {
        let why = format!("what {} grants was not looked at", manifest.display());
        return (ServerState::Unclear, vec![why]);
    }
    let wide = wide_grants(&asked, folder);
    (if wide.is_empty() { ServerState::Confined } else { ServerState::Wide }, wide)
}

pub(super) fn unclear(why: &str) -> Judged {
    (ServerState::Unclear, vec![why.to_owned()])
}

/// Whether a program is ours: by its name, or by the path of this very program or one of `PATH`.
pub(crate) fn is_our_program(command: &str) -> bool {
    if !command.contains('/') {
        return command == "skillsandbox";
    }
    let real = Path::new(command).canonicalize().ok();
    let own = std::env::current_exe().ok().and_then(|own| own.canonicalize().ok());
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
    let mut known = on_path.filter_map(|folder| folder.join("skillsandbox").canonicalize().ok()).chain(own);
    real.is_some_and(|real| known.any(|known| known == real))
}

/// Whether an agent replaces a part of a word by something that is not known here.
fn has_unknown_variable(word: &str) -> bool {
    let known = ["${workspaceFolder}", "${CLAUDE_PLUGIN_ROOT}", "${CLAUDE_PROJECT_DIR}"];
    let starts = word.match_indices('$').map(|(at, _)| word.get(at..).unwrap_or_default());
    starts.into_iter().any(|rest| !known.iter().any(|name| rest.starts_with(name)))
}

/// Variables of a configuration that decide which program is started, what is loaded into it, and where it finds the person's policy.
fn changed_variables(entry: &Value) -> Vec<String> {
    let names = entry.get("env").and_then(Value::as_object).into_iter().flat_map(serde_json::Map::keys);
    let decides = |name: &&String| {
        matches!(name.as_str(), "PATH" | "HOME" | "GLIBC_TUNABLES" | "GCONV_PATH" | "LOCPATH" | "TMPDIR")
            || ["LD_", "XDG_", "SKILLSANDBOX_"].iter().any(|start| name.starts_with(start))
    };
    names.filter(decides).cloned().collect()
}

/// What is asked for that leaves little of the confinement.
fn wide_grants(asked: &AskedReach<'_>, folder: &Path) -> Vec<String> {
    let mut wide = Vec::new();
    if let Some(grants) = asked.grants {
        wide.extend(wide_paths(grants, folder));
        wide.extend(grants.allow_host.iter().chain(&grants.allow_cidr).filter_map(wide_destination));
        wide.extend(
            grants
                .env
                .iter()
                .filter(|name| is_wide_pattern(name))
                .map(|name| format!("it is handed the variables {name}")),
        );
    }
    let workspaces =
        asked.workspace.into_iter().chain(asked.grants.and_then(|grants| grants.workspace.as_deref()));
    wide.extend(workspaces.filter_map(|path| wide_path(path, folder)));
    if !asked.best_effort.is_empty() {
        wide.push(format!("it runs without {} where this host lacks that", asked.best_effort.join(", ")));
    }
    if asked.skips_scan {
        wide.push("it runs what the scanner refuses".to_owned());
    }
    if asked.any_system_call {
        wide.push("no system call is refused".to_owned());
    }
    if let Some(policy) = asked.policy {
        wide.push(format!("{} stands in the place of your policy", policy.display()));
    }
    wide
}

fn wide_paths(grants: &GrantFlags, folder: &Path) -> Vec<String> {
    let paths = grants.read.iter().chain(&grants.write).chain(&grants.unix_socket);
    paths.filter_map(|path| wide_path(path, folder)).collect()
}

/// Why a path is too much to grant.
pub(crate) fn wide_path(path: &Path, folder: &Path) -> Option<String> {
    let text = path.to_str().map(|text| text.strip_suffix(":ro").unwrap_or(text));
    let whole = plain_path(&folder.join(text.map_or(path, Path::new)));
    private_place(&whole).map(|why| format!("{} is granted: {why}", path.display()))
}

/// A path without `.` and `..`, which the system takes out as well.
fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                plain.pop();
            }
            std::path::Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

fn wide_destination(rule: &EgressRule) -> Option<String> {
    match &rule.to {
        Destination::Domain(domain) if domain.is_wildcard() => {
            Some(format!("every host below {} may be reached", domain.base()))
        }
        Destination::Domain(_) => None,
        Destination::Cidr(range) => {
            let range = range.to_string();
            let prefix = range.rsplit_once('/').and_then(|(_, prefix)| prefix.parse::<u8>().ok());
            prefix.is_none_or(|prefix| prefix < LEAST_PREFIX).then(|| format!("{range} may be reached"))
        }
    }
}

/// `*`, or a pattern of which little but that is said.
fn is_wide_pattern(name: &str) -> bool {
    let before = name.split('*').next().unwrap_or_default();
    !name.contains('=') && name.contains('*') && before.len() < 3
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(command: &str, arguments: &[&str]) -> ServerState {
        judge(command, arguments, &json!({}), Path::new("/work/app")).0
    }

    #[test]
    fn only_our_own_verbs_confine() {
        assert_eq!(state("skillsandbox", &["wrap", "--", "x"]), ServerState::Confined);
        assert_eq!(state("skillsandbox", &["serve"]), ServerState::Confined);
        for (command, arguments) in [
            ("skillsandbox", &["scan", "x"][..]),
            ("sh", &["-c", "skillsandbox wrap -- x"]),
            ("/tmp/skillsandbox", &["wrap", "--", "x"]),
            ("./skillsandbox", &["wrap", "--", "x"]),
        ] {
            assert_eq!(state(command, arguments), ServerState::Unconfined, "{command} {arguments:?}");
        }
        for arguments in [&[][..], &["wrap"], &["wrap", "--help"], &["run", "evil", "--no-scan"]] {
            assert_eq!(state("skillsandbox", arguments), ServerState::Unclear, "{arguments:?}");
        }
    }

    #[test]
    fn grants_that_leave_little_are_wide() {
        for arguments in [
            &["exec", "--write", "/", "--", "x"][..],
            &["exec", "--profile", "permissive", "x"],
            &["wrap", "--write=/work/..", "--", "x"],
            &["wrap", "--read", "../..", "--", "x"],
            &["wrap", "--workspace", "/:ro", "--", "x"],
            &["wrap", "--read", "/somewhere/.ssh", "--", "x"],
            &["wrap", "--env", "*", "--", "x"],
            &["wrap", "--allow-host", "*.example.com", "--", "x"],
            &["wrap", "--allow-cidr", "0.0.0.0/0:443", "--", "x"],
            &["wrap", "--allow-cidr", "128.0.0.0/1:443", "--", "x"],
            &["wrap", "--allow-cidr", "[::]/0:443", "--", "x"],
            &["wrap", "--best-effort", "landlock", "--", "x"],
            &["wrap", "--write", "${HOME}", "--", "x"],
            &["wrap", "--write", "${env:HOME}", "--", "x"],
            &["run", "x", "--skip-scan"],
            &["serve", "--workspace", "/"],
            &["serve", "--policy", "/x.yaml"],
        ] {
            let (state, why) = judge("skillsandbox", arguments, &json!({}), Path::new("/work/app"));
            assert!(state != ServerState::Confined && !why.is_empty(), "{arguments:?}: {state:?} {why:?}");
        }
        let narrow =
            ["wrap", "--write", "out", "--allow-host", "a.test", "--env", "APP_*", "--", "x", "--write", "/"];
        assert_eq!(state("skillsandbox", &narrow), ServerState::Confined);
        assert_eq!(state("skillsandbox", &["wrap", "--manifest", "m.yaml", "--", "x"]), ServerState::Unclear);
    }
}
