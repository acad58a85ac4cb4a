//! Runs skills, and any command, in the sandbox, and writes down what they really tried.
//!
//! ```no_run
//! use skillsandbox_run::{Admission, Call, Options, Skill, run_skill};
//!
//! let skill = Skill::load("skills/weather".as_ref(), None)?;
//! let mut call = Call::default();
//! call.parameters.insert("city".into(), "Oslo".into());
//! let report = run_skill(&skill, &call, &Admission::default(), |_| {}, Options::default());
//! println!("{}: {:?}", report.status().as_str(), report.trace);
//! for denial in &report.denials {
//!     println!("prevented: {}", denial.what);
//! }
//! # Ok::<(), skillsandbox_run::Refusal>(())
//! ```
//!
//! # From a declaration to a report
//!
//! A [`Skill`] is a folder with a declaration, narrowed by the user's policy. A [`Call`] of it makes a [`Job`]: all that a run may touch, in no
//! backend's terms. A [`Backend`] carries it out or refuses it, and tells a recorder what is tried; [`run_skill`] and [`run`] open the trace
//! before anything else happens and close it whatever does, and a [`Report`] says what it came to.
//!
//! # It refuses rather than weakens
//!
//! What is declared and cannot be enforced is a [`Refusal`], and nothing was executed. A run that cannot be recorded is refused, too.
//!
//! # What it does not protect
//!
//! Nothing beyond what `skillsandbox-enforcer` does: see its documentation. The arguments of programs that a skill executes cannot be held by
//! the kernel; a manifest with rules about them is refused unless that is waived by name.
//!
//! # Other systems than Linux
//!
//! The crate builds, and [`preview`] shows what a run would have. Nothing is run.
#![forbid(unsafe_code)]

mod backend;
mod call;
mod decisions;
mod denial;
#[cfg(any(test, not(target_os = "linux")))]
mod elsewhere;
mod failure;
mod gate;
mod job;
#[cfg(target_os = "linux")]
mod native;
mod refusal;
mod report;
mod session;
mod skill;
mod state;
mod stop;
mod streams;

pub use backend::{Backend, Preview, Ran, Standing, Wall, backend};
pub use call::read_parameters;
pub use decisions::{
    DECISION_VERSION, DecisionAnswer, DecisionRequest, InvalidRequest, MAX_ID_BYTES, MAX_REQUEST_BYTES,
    RequestId, answer_long_line, answer_request,
};
pub use denial::Denial;
pub use failure::RunFailure;
pub use gate::{scan, user_policy};
pub use job::{Audit, Commands, Job, Limits, Pin};
#[cfg(target_os = "linux")]
pub use native::{Traced, record};
pub use refusal::Refusal;
pub use report::{By, Ended, Report, Status};
pub use session::{Admission, LateSink, Options, Streams, preview, run, run_skill, scan_note};
pub use skill::{Call, Skill};
pub use state::{policy_file, state_folder, traces_folder};
pub use stop::Stop;
pub use streams::{Forward, Printed};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
