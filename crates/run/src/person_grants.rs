//! What a person adds to a run, or takes from it, on the command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skillsandbox_manifest::{Destination, DomainPattern, EgressRule, EnvPattern, GrantPath, Manifest};

use crate::job::Job;
use crate::private_place::private_place;
use crate::reach::real_path;
use crate::refusal::Refusal;

/// What a person adds for one run, beyond the manifest, and what they take away. Paths are absolute.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct PersonGrants {
    /// May be read.
    pub read: Vec<PathBuf>,
    /// May be read and written.
    pub write: Vec<PathBuf>,
    /// The folder it starts in.
    pub cwd: Option<PathBuf>,
    /// Unix sockets that may be connected to.
    pub unix_sockets: Vec<GrantPath>,
    /// May be reached.
    pub egress: Vec<EgressRule>,
    /// Variables that are handed on.
    pub env: Vec<EnvPattern>,
    /// Variables that are set.
    pub set_env: BTreeMap<String, String>,
    /// No network, whatever is declared.
    pub no_network: bool,
    /// Hosts that may not be reached, whatever is declared.
    pub deny_hosts: Vec<DomainPattern>,
    /// Files and folders that may not be touched, whatever is declared.
    pub deny_paths: Vec<PathBuf>,
}

impl PersonGrants {
    /// Whether nothing is added, and nothing taken away.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A manifest with the hosts, variables and sockets of these, and without what they take away; the user's policy narrows the result.
    pub(crate) fn add_to(&self, manifest: Manifest) -> Result<Manifest, Refusal> {
        let set = self.set_env.keys().map(|name| {
            let what = format!("the variable {name}");
            name.parse::<EnvPattern>().map_err(|fault| Refusal::Ungrantable { what, why: fault.to_string() })
        });
        let set: Vec<EnvPattern> = set.collect::<Result<_, _>>()?;
        let variables = self.env.iter().cloned().chain(set);
        let manifest = manifest.with_grants(self.egress.clone(), variables, self.unix_sockets.clone());
        if self.no_network {
            return Ok(manifest.retain_egress(|_| false));
        }
        if self.deny_hosts.is_empty() {
            return Ok(manifest);
        }
        if let Some(rule) =
            manifest.network().egress.iter().find(|rule| matches!(rule.to, Destination::Cidr(_)))
        {
            let what = format!(
                "the network without {}",
                self.deny_hosts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            );
            let why = format!(
                "the addresses {} are granted, and the host may have one of them; `--no-network` takes all away",
                rule.to
            );
            return Err(Refusal::Ungrantable { what, why });
        }
        // A rule for all names below one cannot leave a single name out, so it goes.
        let meets = |rule: &EgressRule| match &rule.to {
            Destination::Domain(domain) => {
                self.deny_hosts.iter().any(|denied| denied.covers(domain) || domain.covers(denied))
            }
            Destination::Cidr(_) => true,
        };
        Ok(manifest.retain_egress(|rule| !meets(rule)))
    }

    /// Refuses files and folders that no skill gets, whoever asks: where keys and passwords lie, the home and what holds it, the kernel's own;
    /// and to write in the skill's folder, which would then be another skill.
    pub(crate) fn check_paths(&self, folder: &Path) -> Result<(), Refusal> {
        for path in self.read.iter().chain(&self.write) {
            if let Some(why) = private_place(path) {
                return Err(Refusal::Ungrantable { what: path.display().to_string(), why });
            }
        }
        if let Some(path) = self.write.iter().find(|path| real_path(path).starts_with(folder)) {
            let why = "it lies in the skill's own folder, and the skill would be another one then".to_owned();
            return Err(Refusal::Ungrantable { what: path.display().to_string(), why });
        }
        Ok(())
    }

    /// Grants the files and folders of these to a run, and takes those away that may not be touched.
    pub(crate) fn add_paths(&self, job: &mut Job) {
        job.write.extend(self.write.iter().cloned());
        let read = self.read.iter().filter(|path| !job.write.contains(path)).cloned();
        job.read.extend(read.collect::<Vec<_>>());
        job.forbidden.extend(self.deny_paths.iter().cloned());
    }

    /// Sets the variables of these, where the user's policy lets the run have them.
    pub(crate) fn set_variables(&self, narrowed: &Manifest, job: &mut Job) -> Result<(), Refusal> {
        for (name, value) in &self.set_env {
            if !narrowed.env_vars().decide(name).is_allowed() {
                let what = format!("the variable {name}");
                return Err(Refusal::Ungrantable {
                    what,
                    why: "the manifest or your policy denies it".to_owned(),
                });
            }
            job.set_env.insert(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Each as it is written in a trace.
    #[must_use]
    pub fn describe(&self) -> Vec<String> {
        let Self { read, write, cwd, unix_sockets, egress, env, set_env, no_network, deny_hosts, deny_paths } =
            self;
        let paths = |what: &'static str, paths: &[PathBuf]| -> Vec<String> {
            paths.iter().map(|path| format!("{what} {}", path.display())).collect()
        };
        let mut lines = paths("read", read);
        lines.extend(paths("write", write));
        lines.extend(cwd.iter().map(|path| format!("working directory {}", path.display())));
        lines.extend(unix_sockets.iter().map(|path| format!("socket {path}")));
        lines.extend(egress.iter().map(|rule| format!("network {rule}")));
        lines.extend(env.iter().map(|name| format!("variable {name}")));
        // Not its value, which may be a secret.
        lines.extend(set_env.keys().map(|name| format!("variable {name}, set")));
        lines.extend(no_network.then(|| "no network".to_owned()));
        lines.extend(deny_hosts.iter().map(|host| format!("not the host {host}")));
        lines.extend(paths("not the path", deny_paths));
        lines
    }
}
