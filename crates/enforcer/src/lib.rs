//! Confines a command on Linux without root.
#![deny(unsafe_code)]
#![cfg(target_os = "linux")]

mod cgroup;
mod child;
mod cures;
mod error;
mod grants;
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
mod running;
mod seccomp;
mod step;
mod supervisor;
mod sys;
mod watch;

pub use cgroup::{Mechanism, Usage};
pub use error::{Error, PlanProblem};
pub use layer::Layer;
pub use layers::env::EnvironmentCounts;
pub use limits::Limits;
pub use outcome::{Captured, End, Limit, LimitHit, Outcome, Status};
pub use places::Places;
pub use plan::{Command, Input, Output, Plan, PlanBuilder};
pub use refusals::RefusedCall;
pub use running::{Killer, Running};
pub use seccomp::{CompileError, Judgement, Profile, UnknownProfile};
