//! Runs skills, and any command, in the sandbox, and writes down what they really tried.
//!
//! ```no_run
//! use skillsandbox_run::{Admission, SkillCall, RunOptions, LoadedSkill, run_skill};
//!
//! let skill = LoadedSkill::load("skills/weather".as_ref(), None)?;
//! let mut call = SkillCall::default();
//! call.parameters.insert("city".into(), "Oslo".into());
//! let report = run_skill(&skill, &call, &Admission::default(), |_| {}, RunOptions::default());
//! println!("{}: {:?}", report.status().as_str(), report.trace);
//! for denial in &report.denials {
//!     println!("prevented: {}", denial.what);
//! }
//! # Ok::<(), skillsandbox_run::Refusal>(())
//! ```
//!
//! # From a declaration to a report
//!
//! A [`LoadedSkill`] is a folder with a declaration, narrowed by the user's policy. A [`SkillCall`] of it makes a [`Job`]: all that a run may touch, in no
//! backend's terms. A [`Backend`] carries it out or refuses it, and tells a recorder what is tried; [`run_skill`] and [`run`] open the trace
//! before anything else happens and close it whatever does, and a [`RunReport`] says what it came to.
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
mod denied_attempt;
mod job;
#[cfg(target_os = "linux")]
mod native;
mod refusal;
mod report;
mod scan_admission;
mod session;
mod skill;
mod state;
mod stop;
mod streams;
#[cfg(any(test, not(target_os = "linux")))]
mod unsupported;

pub use backend::{Backend, BackendResult, LayerPreview, LayerStanding, RunPreview, backend};
pub use call::read_parameters;
pub use denied_attempt::DeniedAttempt;
pub use job::{AddressPin, Job, JobLimits, ObserveLevel, ProgramRules};
#[cfg(target_os = "linux")]
pub use native::{RecordedRun, record};
pub use refusal::Refusal;
pub use report::{EndCause, RunExit, RunReport, RunStatus};
pub use scan_admission::{scan, user_policy};
pub use session::{Admission, LateSink, RunOptions, RunStreams, preview, run, run_skill, scan_note};
pub use skill::{LoadedSkill, SkillCall};
pub use state::{policy_file, state_folder, traces_folder};
pub use stop::StopHandle;
pub use streams::{CapturedOutput, OutputTarget};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
