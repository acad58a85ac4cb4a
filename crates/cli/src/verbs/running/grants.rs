//! What a person grants to one run: the flags of `run`, `exec` and whatever else starts something.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Args;
use skillsandbox_manifest::{Destination, DomainPattern, EgressRule, FileAccess, GrantPath, Protocol};
use skillsandbox_run::{Job, PersonGrants, Workspace, real_path};

#[derive(Debug, Default, Args)]
pub(crate) struct GrantFlags {
    /// A file or folder that may be read
    #[arg(long, value_name = "PATH")]
    pub(crate) read: Vec<PathBuf>,

    /// A file or folder that may be read and changed; a folder that is not there is made
    #[arg(long, value_name = "PATH")]
    pub(crate) write: Vec<PathBuf>,

    /// The folder to work in: it starts there, and may read and change it; with `:ro` behind it, only read
    #[arg(long, value_name = "DIR[:ro]")]
    pub(crate) workspace: Option<PathBuf>,

    /// Start in this folder, which must be granted
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// A Unix socket of this machine that may be connected to
    #[arg(long, value_name = "PATH")]
    pub(crate) unix_socket: Vec<PathBuf>,

    /// A host that may be reached, by its name: HOST, HOST:PORT or HOST:PORT,PORT; port 443 unless said
    #[arg(long, value_name = "HOST[:PORT]", value_parser = host)]
    pub(crate) allow_host: Vec<EgressRule>,

    /// Addresses that may be reached: 10.1.0.0/16:5432
    #[arg(long, value_name = "CIDR:PORT", value_parser = cidr)]
    pub(crate) allow_cidr: Vec<EgressRule>,

    /// A variable that is handed on (NAME, or a pattern such as APP_*), or set (NAME=VALUE)
    #[arg(long, value_name = "NAME")]
    pub(crate) env: Vec<String>,
}

/// What a command line of ours asks for that decides how far what it starts can reach.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub(crate) struct AskedReach<'a> {
    pub(crate) grants: Option<&'a GrantFlags>,
    pub(crate) workspace: Option<&'a Path>,
    /// A manifest that grants more.
    pub(crate) manifest: Option<&'a Path>,
    /// A policy in the place of the person's own.
    pub(crate) policy: Option<&'a Path>,
    pub(crate) best_effort: &'a [String],
    pub(crate) skips_scan: bool,
    /// Whether no system call is refused.
    pub(crate) any_system_call: bool,
}

/// What a person takes away for one run.
#[derive(Debug, Default, Args)]
pub(crate) struct NarrowFlags {
    /// No network for this run, whatever is declared
    #[arg(long, conflicts_with_all = ["allow_host", "allow_cidr"])]
    pub(crate) no_network: bool,

    /// A host that this run may not reach, whatever is declared
    #[arg(long, value_name = "HOST")]
    pub(crate) deny_host: Vec<DomainPattern>,

    /// A file or folder that this run may not touch, whatever is declared
    #[arg(long, value_name = "PATH")]
    pub(crate) deny_path: Vec<PathBuf>,
}

impl GrantFlags {
    /// The folder to work in, judged.
    pub(crate) fn workspace(&self) -> Result<Option<Workspace>, skillsandbox_run::Refusal> {
        self.workspace.as_deref().map(workspace).transpose()
    }

    /// What is added to a skill's manifest, and what is taken away.
    pub(crate) fn for_skill(&self, narrow: &NarrowFlags) -> anyhow::Result<PersonGrants> {
        let mut grants = PersonGrants::default();
        grants.write = absolute_paths(&self.write)?;
        grants.read = absolute_paths(&self.read)?;
        grants.cwd = self.cwd.as_deref().map(absolute).transpose()?;
        for socket in absolute_paths(&self.unix_socket)? {
            let text = socket.to_str().context("the path of a socket must be UTF-8")?;
            grants.unix_sockets.push(text.parse::<GrantPath>()?);
        }
        grants.egress = self.egress();
        for variable in &self.env {
            match variable.split_once('=') {
                Some((name, value)) => {
                    grants.set_env.insert(name.to_owned(), value.to_owned());
                }
                None => grants.env.push(variable.parse()?),
            }
        }
        grants.no_network = narrow.no_network;
        grants.deny_hosts.clone_from(&narrow.deny_host);
        grants.deny_paths = absolute_paths(&narrow.deny_path)?;
        Ok(grants)
    }

    /// Puts them into the job of a command that has no manifest. It starts where the person says, in the workspace, or in the current directory
    /// where that is granted.
    pub(crate) fn apply(&self, job: &mut Job) -> anyhow::Result<()> {
        job.write.extend(absolute_paths(&self.write)?);
        let read = absolute_paths(&self.read)?;
        if let Some(workspace) = self.workspace()? {
            workspace.check_outside_skills()?;
            workspace.add_to(job);
            job.workdir = Some(workspace.folder().to_owned());
            job.notes.push(("grants".to_owned(), workspace.describe()));
        }
        job.read.extend(read.into_iter().filter(|path| !job.write.contains(path)).collect::<Vec<_>>());
        job.unix_sockets.extend(absolute_paths(&self.unix_socket)?);
        job.egress.extend(self.egress());
        for variable in &self.env {
            match variable.split_once('=') {
                Some((name, value)) => {
                    job.set_env.insert(name.to_owned(), value.to_owned());
                }
                None => job.allow_env.push(variable.clone()),
            }
        }
        if let Some(folder) = &self.cwd {
            job.workdir = Some(absolute(folder)?);
        }
        if job.workdir.is_none() {
            let here = std::env::current_dir().context("there is no current directory")?;
            let granted = |grant: &PathBuf| here.starts_with(grant) || here.starts_with(real_path(grant));
            job.workdir = job.read.iter().chain(&job.write).any(granted).then_some(here);
        }
        job.set_default_variables();
        Ok(())
    }

    fn egress(&self) -> Vec<EgressRule> {
        self.allow_host.iter().chain(&self.allow_cidr).cloned().collect()
    }
}

fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(path).with_context(|| format!("{} is not a path", path.display()))
}

fn absolute_paths(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    paths.iter().map(|path| absolute(path)).collect()
}

/// The folder of `DIR` or `DIR:ro`, judged.
pub(in crate::verbs) fn workspace(named: &Path) -> Result<Workspace, skillsandbox_run::Refusal> {
    let (folder, access) = split_access(named);
    Workspace::new(&folder, access)
}

/// `DIR` or `DIR:ro`.
fn split_access(named: &Path) -> (PathBuf, FileAccess) {
    match named.to_str().and_then(|text| text.strip_suffix(":ro")) {
        Some(folder) if !folder.is_empty() => (folder.into(), FileAccess::Read),
        _ => (named.to_owned(), FileAccess::Write),
    }
}

fn ports(text: &str) -> anyhow::Result<Vec<u16>> {
    text.split(',')
        .map(|port| {
            let port: u16 = port.parse().ok().with_context(|| format!("`{port}` is not a port number"))?;
            ensure!(port != 0, "port 0 cannot be connected to");
            Ok(port)
        })
        .collect()
}

pub(in crate::verbs) fn host(text: &str) -> anyhow::Result<EgressRule> {
    let (name, list) = match text.rsplit_once(':') {
        Some((name, list)) => (name, ports(list)?),
        None => (text, vec![443]),
    };
    Ok(EgressRule::new(Destination::Domain(name.parse()?), list, Protocol::Tcp))
}

fn cidr(text: &str) -> anyhow::Result<EgressRule> {
    let (range, list) = text.rsplit_once(':').context("expected CIDR:PORT, such as 10.1.0.0/16:5432")?;
    let range = range.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(range);
    Ok(EgressRule::new(Destination::Cidr(range.parse()?), ports(list)?, Protocol::Tcp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_writable_unless_it_says_ro() {
        let of = |text: &str| split_access(Path::new(text));
        assert_eq!(of("."), (".".into(), FileAccess::Write));
        assert_eq!(of("a:ro"), ("a".into(), FileAccess::Read));
        assert_eq!(of(":ro"), (":ro".into(), FileAccess::Write));
        assert_eq!(of("a:rw"), ("a:rw".into(), FileAccess::Write));
    }
}
