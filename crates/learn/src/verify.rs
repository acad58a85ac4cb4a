//! Whether each grant is needed: rehearsed without it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skillsandbox_manifest::{EgressRule, EnvPattern};
use skillsandbox_run::{Job, Refusal, real_path};

use crate::outcome::{RunOutcome, SteadyParts};
use crate::proposal::FileGrant;
use crate::rehearse::Rehearsal;

/// A grant of a manifest.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclaredGrant {
    /// Files.
    File(FileGrant),
    /// A destination.
    Host(EgressRule),
    /// A variable, or a pattern of several.
    Variable(EnvPattern),
}

/// Whether a grant is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Necessity {
    /// Without it the run comes to something else: what.
    Needed(String),
    /// The run comes to the same without it.
    NotNeeded,
    /// It may be written, and to be read is enough.
    ReadIsEnough,
    /// It cannot be told: why.
    Unknown(String),
}

impl Rehearsal {
    /// Rehearses without each of these grants, one after the other. The job must have all of them.
    ///
    /// # Errors
    /// A job that is refused with all of them.
    pub fn verify(
        &self,
        grants: &[DeclaredGrant],
        mut tell: impl FnMut(&DeclaredGrant, &Necessity),
    ) -> Result<Vec<(DeclaredGrant, Necessity)>, Refusal> {
        let none = BTreeSet::new();
        let declared = self.without_loan(grants);
        let whole = RunOutcome::of(&declared.run_once(&none)?);
        let again = RunOutcome::of(&declared.run_once(&none)?);
        let steady = SteadyParts::of(&whole, &again);
        let mut verified = Vec::new();
        for grant in grants {
            let necessity = declared.judge(grant, &whole, steady);
            tell(grant, &necessity);
            verified.push((grant.clone(), necessity));
            if self.stop.is_stopped() {
                break;
            }
        }
        Ok(verified)
    }

    /// A workspace is lent to be written as well. Whether the manifest's own grants in it are needed shows where it can only be read.
    fn without_loan(&self, grants: &[DeclaredGrant]) -> Self {
        let mut rehearsal = self.clone();
        if let Some(workspace) = &self.places.workspace
            && !grants.contains(&DeclaredGrant::File(FileGrant::Write(workspace.clone())))
            && rehearsal.job.write.contains(workspace)
        {
            rehearsal.job.write.retain(|path| path != workspace);
            rehearsal.job.read.push(workspace.clone());
        }
        rehearsal
    }

    fn judge(&self, grant: &DeclaredGrant, whole: &RunOutcome, steady: SteadyParts) -> Necessity {
        let compare = |job: Job| {
            let mut rehearsal = self.clone();
            rehearsal.job = job;
            rehearsal.run_once(&BTreeSet::new()).map(|run| whole.difference(&RunOutcome::of(&run), steady))
        };
        if let DeclaredGrant::Host(rule) = grant
            && !self.job.egress.contains(rule)
        {
            let why = "the network is closed in a rehearsal; --allow-host opens it".to_owned();
            return Necessity::Unknown(why);
        }
        let mut without = self.job.clone();
        take_out(&mut without, grant);
        match compare(without.clone()) {
            Ok(None) => Necessity::NotNeeded,
            // Such as a working directory that lies in it.
            Err(refusal) => Necessity::Needed(format!("it does not start: {refusal}")),
            Ok(Some(difference)) => {
                if let DeclaredGrant::File(FileGrant::Write(path)) = grant
                    && path.exists()
                {
                    without.read.push(path.clone());
                    if let Ok(None) = compare(without) {
                        return Necessity::ReadIsEnough;
                    }
                }
                Necessity::Needed(difference)
            }
        }
    }
}

/// Takes a grant out of a job.
fn take_out(job: &mut Job, grant: &DeclaredGrant) {
    match grant {
        DeclaredGrant::File(grant) => {
            let is_it = |path: &PathBuf| path == grant.path() || real_path(path) == real_path(grant.path());
            if grant.writes() {
                job.write.retain(|path| !is_it(path));
            } else {
                job.read.retain(|path| !is_it(path));
            }
        }
        DeclaredGrant::Host(rule) => job.egress.retain(|other| other != rule),
        DeclaredGrant::Variable(pattern) => job.allow_env.retain(|name| !pattern.matches(name)),
    }
}
