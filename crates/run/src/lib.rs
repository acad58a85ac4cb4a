//! Runs skills, and any command, in the sandbox, and writes down what they really tried.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use skillsandbox_run::{LoadedSkill, RunOptions, ScanAdmission, SkillCall, Unrecorded, UserPolicy, run_skill};
//!
//! let folder = Path::new("skills/weather");
//! let policy = UserPolicy::load(None, [folder])?;
//! let skill = LoadedSkill::load(folder, &policy)?;
//! let mut call = SkillCall::default();
//! call.parameters.insert("city".into(), "Oslo".into());
//! // A history keeps what every run came to; `skillsandbox_store::history::HistoryFile` is one, `Unrecorded` is none.
//! let report =
//!     run_skill(&skill, &call, ScanAdmission::Required, &Unrecorded, |_| {}, RunOptions::default());
//! println!("{}: {:?}", report.status().as_str(), report.trace);
//! for denial in &report.denied.denials {
//!     println!("prevented: {}", denial.what);
//! }
//! # Ok::<(), skillsandbox_run::Refusal>(())
//! ```
//!
//! # From a declaration to a report
//!
//! A [`LoadedSkill`] is a folder with a declaration, narrowed by the [`UserPolicy`]. A [`SkillCall`] makes a [`Job`] of it: all that a run may
//! touch, in no backend's terms. A [`Backend`] carries it out or refuses it, and tells a recorder what is tried; [`run_skill`] and [`run`] open
//! the trace before anything else happens and close it whatever does. A [`RunReport`] says what it came to, and a [`RunHistory`] keeps that.
//!
//! ```text
//!  UserPolicy (user_policy.rs) ──► LoadedSkill (skill.rs) ─┐
//!  SkillCall (call.rs: parameters) ───────────────────────┼──► Job (job.rs) ──► Backend (backend.rs) ──► native/: plan.rs, commands.rs ──► enforcer
//!  a command by hand (`exec`), confined_git.rs ───────────┘      │                  │                     record.rs, events.rs, output.rs ──► Recorder
//!                                                                │                  └──► preview.rs: the same, shown (`--dry-run`)
//!  session.rs opens the trace, scan_admission.rs asks the scanner ───────────► RunReport (report.rs, denial_book.rs, run_alarm.rs) ──► RunHistory (history.rs)
//! ```
//!
//! - `found_manifest.rs` says by whose manifest a skill goes ([`ManifestOrigin`]): the one that the person names, the user's own
//!   (`user_manifests.rs`), the skill's, or safe defaults. What a person adds for one run ([`PersonGrants`], [`Workspace`]) is narrowed by the policy
//!   with it, and kept from private places (`private_place.rs`).
//! - An installed skill is compared with what was installed ([`InstallationCheck`]) before it is scanned, and when every layer is in place.
//! - What the scanner admitted is remembered (`remembered_scan.rs`) by all that the folder holds, the rules, the policy and the build of this
//!   program. The same is not scanned again; the trace says so.
//! - A `Job` is in no backend's terms, so that another runtime is another file. What a backend cannot hold is a `Refusal`, never left out.
//! - The session redacts: values of variables whose names speak of secrets, and of secret parameters, are in no trace and no history. No caller
//!   has to think of it.
//! - `denial_book.rs` gathers what was refused, the worst first; `grant_hint.rs` says what would have helped, and never what an attack wants;
//!   `run_alarm.rs` says whether it looks like an attack and whether anything got out.
//! - `user_policy.rs` is the only place that finds, loads and applies a policy: narrowing, the scanner's settings, suppressions, `fail_on`.
//! - `agent_guard/` decides about the tool calls of agents, for the hooks of all products: path-policy, command-policy, places of credentials and hosts, by
//!   the user's policy.
//! - `unsupported.rs` is the backend of systems that are not Linux; it is compiled and tested on Linux as well.
//!
//! # It refuses rather than weakens
//!
//! What is declared and cannot be enforced is a [`Refusal`], and nothing was executed. A run whose trace cannot be written is refused, too. A
//! history that cannot be written stops nothing; the report says so.
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

#[cfg(target_os = "linux")]
mod agent_guard;
mod backend;
mod call;
mod caller_command;
mod confined_git;
mod decisions;
mod denial_book;
mod denied_attempt;
mod failure;
mod found_manifest;
mod grant_hint;
mod hint_context;
mod history;
mod job;
mod job_debug;
mod manifest_origin;
#[cfg(target_os = "linux")]
mod native;
mod new_files;
mod path_parameters;
mod person_grants;
mod policy_file;
mod private_memory;
mod private_place;
mod private_tmp;
mod reach;
mod refusal;
mod remembered_scan;
mod report;
mod resolved_grants;
mod run_alarm;
mod scan_admission;
mod session;
mod skill;
mod state;
mod stop;
mod streams;
mod trace_folder;
mod trace_tidy;
#[cfg(any(test, not(target_os = "linux")))]
mod unsupported;
mod user_manifests;
mod user_policy;
mod workspace;
mod written_places;

#[cfg(target_os = "linux")]
pub use agent_guard::{
    AgentCall, AgentGuard, GuardAnswer, GuardError, GuardReason, GuardSettings, ShellHandling, ToolKind,
};
pub use backend::{Backend, BackendResult, LayerPreview, RunPreview, RunRemains, backend};
pub use call::read_parameters;
pub use confined_git::{ConfinedGit, GitCall};
pub use decisions::{
    DECISION_VERSION, DecisionAnswer, DecisionRequest, InvalidRequest, MAX_ID_BYTES, MAX_REQUEST_BYTES,
    RequestId, answer_long_line, answer_request,
};
pub use denial_book::{DenialBook, DenialList, ExpectedLookups, MissedTmpFile, UnreachedHost};
pub use denied_attempt::DeniedAttempt;
pub use failure::RunFailure;
pub use found_manifest::{SkillKey, skill_digest};
pub use grant_hint::HintStyle;
pub use hint_context::WithheldGrants;
pub use history::{HistoryError, RunHistory, RunRequest, Unrecorded, refuse_unloaded, user_name};
pub use job::{AddressPin, Job, JobLimits, PlaceAuthor, ProgramRules, ScannedFolder, UntrustedPlace};
pub use manifest_origin::{InstallationCheck, InstalledSkill, InstalledSkills, LoadChoice, ManifestOrigin};
#[cfg(target_os = "linux")]
pub use native::{RecordedRun, record};
pub use person_grants::PersonGrants;
pub use policy_file::{PolicyFile, PolicyFileError};
pub use private_memory::{PrivateMemory, program_identity};
pub use private_place::private_place;
pub use reach::real_path;
pub use refusal::Refusal;
pub use report::{RunExit, RunReport, RunStatus};
pub use resolved_grants::{FileReach, ResolvedGrant, resolve_grants};
pub use run_alarm::{RunAlarm, SentAnswer, SentBytes, SentData};
pub use scan_admission::ScanAdmission;
pub use session::{LateSink, MIN_TRACE_LIMIT, RunOptions, RunStreams, TRACE_LIMIT, preview, run, run_skill};
pub use skill::{LoadedSkill, SkillCall};
pub use skillsandbox_terms::{EndCause, LayerStanding, ObserveLevel};
pub use stop::{StopHandle, StopSignals};
pub use streams::{OutputTarget, PrintedOutput, RunTerminal};
pub use trace_folder::{
    PruneMode, PrunedTraces, RemoveTraceError, StoredTrace, TraceBudget, list_traces, prune_traces,
    remove_traces,
};
pub use trace_tidy::tidy;
pub use user_manifests::{UserManifest, UserManifestError, UserManifests};
pub use user_policy::UserPolicy;
pub use workspace::Workspace;

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
