//! What is wanted: a [`Plan`] that exists is free of contradictions.
//!
//! `builder.rs` collects and checks one, `command.rs` is the program it is for. `resolve.rs` says what a plan gets on a host, and
//! `inspect.rs` what a run of it would have; neither carries anything out.

mod builder;
mod command;
mod inspect;
mod limits;
mod resolve;
mod trust;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use skillsandbox_egress::EgressPolicy;

use crate::layers::Layer;
use crate::layers::env::EnvironmentRules;
use skillsandbox_terms::SyscallProfile;

pub use builder::PlanBuilder;
pub(crate) use builder::check_grant;
pub(crate) use command::LastCheck;
pub use command::{Command, OutputMode, StdinMode, TerminalSize};
pub use inspect::{GrantedPath, NeededPath, PathAccess, PathLink, PathSource, PlanInspection};
pub use limits::RunLimits;
pub use resolve::{LayerResolution, PlanResolution, ResolvedStanding};
pub(crate) use trust::identity_of;
pub use trust::{FolderAuthor, UntrustedFolder, follow_links};

/// What a confined command may see and do. Whatever is not granted does not exist for it.
///
/// ```
/// # use skillsandbox_enforcer::Plan;
/// # use std::time::Duration;
/// # fn main() -> Result<(), skillsandbox_enforcer::Error> {
/// let plan = Plan::builder()
///     .env("LANG", "C.UTF-8")
///     .memory(128 << 20)
///     .timeout(Duration::from_secs(30))
///     .build()?;
/// # let _ = plan;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) read: Vec<PathBuf>,
    pub(crate) as_named: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) leads_to: Vec<(PathBuf, PathBuf)>,
    pub(crate) forbidden: Vec<PathBuf>,
    pub(crate) unix_sockets: Vec<PathBuf>,
    pub(crate) untrusted: Vec<UntrustedFolder>,
    pub(crate) read_within: Option<Vec<PathBuf>>,
    pub(crate) write_within: Option<Vec<PathBuf>>,
    pub(crate) workdir: Option<PathBuf>,
    pub(crate) tmp: Option<PathBuf>,
    pub(crate) environment: EnvironmentRules,
    pub(crate) limits: RunLimits,
    pub(crate) profile: SyscallProfile,
    pub(crate) no_exec: bool,
    pub(crate) programs: Option<Vec<OsString>>,
    pub(crate) egress: EgressPolicy,
    pub(crate) rehearsal: bool,
    pub(crate) best_effort: BTreeSet<Layer>,
}

impl Plan {
    /// Whether a variable of this program is handed on to the command.
    #[must_use]
    pub fn hands_on(&self, variable: &std::ffi::OsStr) -> bool {
        self.environment.hands_on(variable)
    }

    /// A plan that grants nothing but the system's programs and libraries.
    #[must_use]
    pub fn builder() -> PlanBuilder {
        PlanBuilder::default()
    }

    /// The limits of the run.
    #[must_use]
    pub fn limits(&self) -> &RunLimits {
        &self.limits
    }

    /// The profile of system calls.
    #[must_use]
    pub fn profile(&self) -> SyscallProfile {
        self.profile
    }

    /// What may be reached.
    #[must_use]
    pub fn egress(&self) -> &EgressPolicy {
        &self.egress
    }

    /// The layers without which the run may go on.
    pub fn best_effort(&self) -> impl Iterator<Item = Layer> + '_ {
        self.best_effort.iter().copied()
    }

    pub(crate) fn waives(&self, layer: Layer) -> bool {
        self.best_effort.contains(&layer)
    }
}
