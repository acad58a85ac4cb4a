//! Why nothing was run.

use std::path::PathBuf;

use skillsandbox_manifest::{InvalidParameters, LoadError, Manifest, Runtime};
use skillsandbox_scanner::UnknownRules;
use skillsandbox_text::escape_line;
use skillsandbox_tracer::RedactError;

use crate::user_manifests::UserManifestError;

/// Why nothing was run. Nothing of the skill was executed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Its declaration cannot be read, or is not valid.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The user's policy cannot be read, or is not valid.
    #[error(transparent)]
    Policy(LoadError),
    /// A folder that does not exist or cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// There is no home folder, which `~` in grants stands for.
    #[error("there is no home directory: HOME is not set to an absolute path")]
    NoHome,
    /// The policy that should judge the skill lies in it.
    #[error("the policy {} lies in the skill that it would judge; keep it outside of every skill", .0.display())]
    PolicyInSkill(PathBuf),
    /// The folder has neither a document nor a manifest.
    #[error("{}: this is not a skill: there is neither a SKILL.md nor a skillsandbox.yaml in it", .0.display())]
    NotASkill(PathBuf),
    /// The manifest that was named lies where the skill, or a run, could have written it.
    #[error("{}: {why}; keep manifests outside of every skill and of every place that a run may write", path.display())]
    ForeignManifest {
        /// Which.
        path: PathBuf,
        /// Whose word it could be.
        why: String,
    },
    /// The user's own manifest for the skill cannot be used.
    #[error(transparent)]
    UserManifest(#[from] UserManifestError),
    /// It is not installed, and there is no such folder.
    #[error(
        "no skill `{}` is installed{}\n  cure: `skillsandbox list` shows what is installed, `skillsandbox install SOURCE` installs; a folder is written with a slash: ./{}",
        escape_line(name),
        tell_near(near),
        escape_line(name)
    )]
    NotInstalled {
        /// What was asked for.
        name: String,
        /// Installed skills with names like it.
        near: Vec<String>,
    },
    /// An installed skill is not what was installed.
    #[error(
        "{} was changed after it was installed: {}\n  cure: `skillsandbox audit {}` shows all of it, `skillsandbox update {}` puts the installed version back{}",
        escape_line(name),
        tell_changes(changes),
        escape_line(name),
        escape_line(name),
        tell_manifest(changes)
    )]
    ChangedOnDisk {
        /// Its name.
        name: String,
        /// What is different, the first first.
        changes: Vec<String>,
    },
    /// Its manifest names no entrypoint, and neither did the caller.
    #[error("it has no entrypoint: give the command after `--`{}", tell_scripts(scripts))]
    NoCommand {
        /// Its scripts, the first few.
        scripts: Vec<String>,
    },
    /// It works in a folder of the caller's, and none was given.
    #[error(
        "it needs {grant}, and no workspace was given\n  cure: `--workspace DIR`, such as `--workspace .`"
    )]
    NoWorkspace {
        /// The grant.
        grant: String,
    },
    /// The folder cannot be a workspace.
    #[error("{} cannot be the workspace: {why}", path.display())]
    Workspace {
        /// Which.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// What a person asked for cannot be granted.
    #[error("{what} cannot be granted: {why}")]
    Ungrantable {
        /// What.
        what: String,
        /// Why not.
        why: String,
    },
    /// The policy suppresses rules that do not exist.
    #[error("the policy is not valid: {0}")]
    UnknownRules(#[from] UnknownRules),
    /// The scanner would not have it.
    #[error("the scanner says {verdict}: {}\n  `skillsandbox scan` shows all of it; `--skip-scan` runs it anyway, and the trace says so{}", reasons.join("; "), tell_commands(allow))]
    Scanned {
        /// The verdict.
        verdict: &'static str,
        /// The gravest of what was found.
        reasons: Vec<String>,
        /// Commands that would let what was found stand, one for each finding that refuses it.
        allow: Vec<String>,
    },
    /// The scanner could not judge all of it, and what nobody has judged is not run.
    #[error(
        "not all of it could be judged: {}\n  cure: take that out of the skill's folder, or make it smaller; `skillsandbox scan` lists all of it; `--skip-scan` runs it anyway, and the trace says so",
        reasons.join("; ")
    )]
    Unjudged {
        /// The first files that were not, and why.
        reasons: Vec<String>,
    },
    /// Files of it are not those that were scanned.
    #[error("{} was changed after it was scanned; nothing was run", .0.display())]
    Changed(PathBuf),
    /// The skill could not be read by the scanner.
    #[error("cannot scan it: {0}")]
    Unscanned(String),
    /// Values that break the manifest's rules.
    #[error(transparent)]
    Parameters(#[from] InvalidParameters),
    /// A value that cannot be handed over.
    #[error("the parameter {name} cannot be handed over: {why}")]
    Parameter {
        /// Which.
        name: String,
        /// Why not.
        why: String,
    },
    /// The manifest asks for what runs nothing here.
    #[error("the runtime `{runtime}` is not available: {why}")]
    Runtime {
        /// Which.
        runtime: Runtime,
        /// Why not.
        why: String,
    },
    /// Something that is declared cannot be held.
    #[error("{what} cannot be enforced: {why}\n  cure: {cure}")]
    Gap {
        /// What is declared.
        what: String,
        /// Why it cannot be held.
        why: String,
        /// What to do about it.
        cure: String,
    },
    /// The entrypoint's own arguments are not allowed.
    #[error("{0}")]
    Arguments(String),
    /// The skill names who answers for names.
    #[error(
        "the skill wants its names to be resolved by {0}, which could let them lead anywhere: name a resolver yourself\n  cure: `--resolver {0}` (or `--resolver system`), or `permissions: {{ network: {{ resolver: {0} }} }}` in your policy"
    )]
    ResolverWish(std::net::IpAddr),
    /// The skill could change what is written about it, or what judges it.
    #[error("{} lies in the write grant {}: the run could change it", path.display(), grant.display())]
    InItsReach {
        /// What it could change.
        path: PathBuf,
        /// The grant.
        grant: PathBuf,
    },
    /// The trace cannot be written, so nobody would know what it did.
    #[error("{0}")]
    Trace(#[from] skillsandbox_tracer::TraceError),
    /// Secrets that could not be taken out of what is recorded.
    #[error(transparent)]
    Secrets(#[from] RedactError),
    /// There is no such program.
    #[error("{0}")]
    NotFound(String),
    /// It cannot be executed.
    #[error("{0}")]
    NotExecutable(String),
    /// It was stopped before it began.
    #[error("it was stopped before it began")]
    Stopped,
    /// The sandbox could not be put up, so there is nothing behind it.
    #[error("{0}")]
    Sandbox(String),
}

impl Refusal {
    /// The exit code for it, as shells and `timeout` have them: 126 for what cannot be executed, 127 for what is not there, 125 for
    /// everything else.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotExecutable(_) => 126,
            Self::NotFound(_) => 127,
            _ => 125,
        }
    }
}

fn tell_near(near: &[String]) -> String {
    let near: Vec<String> = near.iter().map(|name| format!("`{}`", escape_line(name))).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

/// Most changes that are told; `audit` tells all.
const MAX_CHANGES: usize = 5;

fn tell_changes(changes: &[String]) -> String {
    let shown: Vec<String> = changes.iter().take(MAX_CHANGES).map(|change| escape_line(change)).collect();
    let more = match changes.len().saturating_sub(MAX_CHANGES) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", shown.join("; "))
}

/// A person who puts a manifest into the folder of an installed skill means well.
fn tell_manifest(changes: &[String]) -> &'static str {
    if changes.iter().any(|change| change.starts_with(Manifest::FILE_NAME)) {
        "; a manifest of your own is kept outside: `--manifest FILE`, or move it with `skillsandbox update`"
    } else {
        ""
    }
}

fn tell_scripts(scripts: &[String]) -> String {
    let lines: String = scripts.iter().map(|script| format!("\n    {}", escape_line(script))).collect();
    if lines.is_empty() { lines } else { format!("; its scripts are:{lines}") }
}

/// What a person who has read it all can type.
fn tell_commands(commands: &[String]) -> String {
    let lines = commands.iter().map(|command| format!("\n    {command}"));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n  after a review, this lets it stand:{lines}") }
}
