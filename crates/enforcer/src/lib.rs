//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod cgroup;
mod child;
mod cures;
mod error;
mod grants;
mod inspect;
mod janitor;
mod layer;
mod layers;
mod limits;
mod outcome;
mod places;
mod plan;
mod prepare;
mod program;
mod refusals;
mod resolve;
mod running;
mod seccomp;
mod step;
mod supervisor;
mod support;
mod sys;
mod watch;

pub use cgroup::{Mechanism, Usage};
pub use cures::Cure;
pub use error::{Error, PlanProblem};
pub use inspect::{GrantedPath, Inspection, NeededPath, PathAccess, PathLink, PathSource};
pub use layer::Layer;
pub use layers::env::EnvironmentCounts;
pub use limits::Limits;
pub use outcome::{Captured, End, Limit, LimitHit, Outcome, Status};
pub use places::Places;
pub use plan::{Command, Input, Output, Plan, PlanBuilder};
pub use refusals::RefusedCall;
pub use resolve::{Resolution, Resolved, Standing};
pub use running::{Killer, Running};
pub use seccomp::{CompileError, Judgement, Profile, UnknownProfile};
pub use support::{
    Check, CheckResult, Container, Facts, KernelKind, LayerSupport, Limiting, Observation, State, Support,
    Trial,
};
