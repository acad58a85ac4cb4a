//! What a plan means on this host, without carrying it out.

use std::path::PathBuf;

use serde::Serialize;

use super::RunLimits;
use super::{Command, Plan};
use crate::error::Error;
use crate::layers::Layer;
use crate::prepare::LocatedPlan;
use crate::prepare::grants::{FolderCreation, GrantSource};
use skillsandbox_terms::SyscallProfile;

/// What a run would have and be held to. See [`Plan::inspect`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlanInspection {
    /// The program that would be executed.
    pub program: PathBuf,
    /// What the program needs besides the system's folders, and why.
    pub needs: Vec<NeededPath>,
    /// All that exists inside of the host, parents before what lies in them.
    pub grants: Vec<GrantedPath>,
    /// Paths of the plan that lead elsewhere than they are named, and where.
    pub resolved: Vec<PathLink>,
    /// Links that would be made inside so that granted paths keep their names.
    pub links: Vec<PathLink>,
    /// Forbidden paths below grants, which would be covered.
    pub masked: Vec<PathBuf>,
    /// The folder the command would start in.
    pub workdir: PathBuf,
    /// Names of the variables the command would see. Never their values.
    pub variables: Vec<String>,
    /// The destinations that could be reached; none means no network at all.
    pub egress: Vec<String>,
    /// Limits of the run.
    pub limits: RunLimits,
    /// The profile of system calls.
    pub profile: SyscallProfile,
    /// Whether what lies in private folders and write grants may not be executed.
    pub no_exec: bool,
    /// Layers without which the run may go on.
    pub best_effort: Vec<Layer>,
}

/// A path that a program needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NeededPath {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub reason: &'static str,
}

/// A path of the host that exists inside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GrantedPath {
    /// The path, without links in it.
    pub path: PathBuf,
    /// What may be done there.
    pub access: PathAccess,
    /// Who asked for it.
    pub source: PathSource,
    /// Whether it does not exist yet, and a run would create it.
    pub would_be_created: bool,
}

/// What may be done at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathAccess {
    /// Read, list and execute.
    Read,
    /// Change, too.
    Write,
}

/// Who asked for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PathSource {
    /// Every sandbox has it.
    System,
    /// The program needs it.
    Program,
    /// The plan.
    Plan,
}

/// A link that would be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PathLink {
    /// Where.
    pub path: PathBuf,
    /// What it would lead to.
    pub target: PathBuf,
}

impl Plan {
    /// What a run of this command would have, found by the same code as a run's. Makes nothing and executes nothing: a write
    /// grant that does not exist is only said to be made.
    ///
    /// ```
    /// use skillsandbox_enforcer::{Command, PathAccess, Plan};
    ///
    /// # fn main() -> Result<(), skillsandbox_enforcer::Error> {
    /// let inspection = Plan::builder().read("/var/tmp").build()?.inspect(&Command::new("ls"))?;
    /// let granted = inspection.grants.iter().find(|grant| grant.path.ends_with("var/tmp"));
    /// assert!(granted.is_some_and(|grant| grant.access == PathAccess::Read));
    /// assert!(inspection.egress.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn inspect(&self, command: &Command) -> Result<PlanInspection, Error> {
        let located = LocatedPlan::new(self, command, FolderCreation::Look)?;
        let grants = &located.grants;
        let granted = grants.all.iter().map(|grant| GrantedPath {
            path: grant.path.clone(),
            access: grant.access,
            source: match grant.source {
                GrantSource::System => PathSource::System,
                GrantSource::Program(_) => PathSource::Program,
                GrantSource::Plan => PathSource::Plan,
            },
            would_be_created: grants.created.contains(&grant.path),
        });
        let needs = located.program.needs.iter();
        let links = grants.links.iter();
        Ok(PlanInspection {
            program: located.program.path.clone(),
            needs: needs.map(|need| NeededPath { path: need.path.clone(), reason: need.reason }).collect(),
            grants: granted.collect(),
            resolved: grants
                .led
                .iter()
                .map(|(path, target)| PathLink { path: path.clone(), target: target.clone() })
                .collect(),
            links: links
                .map(|(path, target)| PathLink { path: path.clone(), target: target.clone() })
                .collect(),
            masked: grants.masks.iter().map(|(path, _)| path.clone()).collect(),
            workdir: located.workdir.clone(),
            variables: located.variables.keys().map(|name| name.to_string_lossy().into_owned()).collect(),
            egress: self.egress.rules().map(ToString::to_string).collect(),
            limits: self.limits().clone(),
            profile: self.profile(),
            no_exec: self.no_exec,
            best_effort: self.best_effort().collect(),
        })
    }
}
