//! Finds out what an agent skill needs, and writes it down as a manifest.
//!
//! No skill in the wild has a manifest. This crate makes one: [`init_draft`] of what the skill's files say, [`Rehearsal`] of what its programs were
//! seen to want. A rehearsal runs *inside* the sandbox: what is written goes into an overlay and ends with it, no name is looked up outside and
//! no packet leaves, and credentials are not there. Each round grants what the last one was seen to want, where that may be granted, until
//! nothing new is wanted.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use skillsandbox_learn::{LearnPlaces, ManifestDraft, Rehearsal};
//! use skillsandbox_run::{LoadChoice, LoadedSkill, SkillCall, UserPolicy};
//!
//! let folder = Path::new("skills/pdf");
//! let policy = UserPolicy::load(None, [folder])?;
//! let skill = LoadedSkill::load_with(folder, &LoadChoice::default(), &policy)?;
//! let mut call = SkillCall::default();
//! call.arguments = ["python3", "scripts/fill.py", "/srv/forms/in.pdf"].map(Into::into).to_vec();
//! let places = LearnPlaces::new(folder, None).ok_or("no home")?;
//! let learnt = Rehearsal::new(skill.job(&call)?, places).learn(&mut ())?;
//! for proposal in &learnt.proposals.files {
//!     println!("{} ({})", proposal.spelling, proposal.evidence.join("; "));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From what is seen to a manifest
//!
//! ```text
//!  Job ──► rehearse.rs: rounds in the sandbox ──► observation.rs: what was wanted, bounded ──► proposal.rs: the least that gives it
//!              ▲                                                                                │      │
//!              └──────────── what is wanted and may be granted ◄────────────────────────────────┘      └──► findings: never_granted.rs
//!  files of the skill ──► static_facts.rs ──► init.rs ─────────────────────────────► draft.rs: text with evidence, read back and compared
//! ```
//!
//! # What it guarantees
//!
//! - A proposal is what was seen, or one of four named generalisations of it ([`GrantWidth`]), and says which.
//! - Credentials, what is executed later by somebody else, `/proc`, the home as a whole and this program's own files are never proposed and never
//!   granted in a rehearsal ([`why_never`]); where a name leads counts, not only the name.
//! - What is written is read back, and kept only if it is valid and says what was accepted. Nothing that a program chose (a file's name, a host's) can
//!   be more than one entry or one comment of it.
//!
//! # What it does not protect
//!
//! A program can behave in a rehearsal and misbehave later: then it lacks the grants for it. One that needs something only now and then has to be
//! learnt with arguments that make it need it. A person who accepts a grant has accepted it.
#![forbid(unsafe_code)]

mod accepted;
mod compare;
mod convert;
mod draft;
mod init;
mod never_granted;
mod observation;
mod outcome;
mod places;
mod proposal;
mod raised_limits;
mod rehearse;
mod static_facts;
mod verify;

pub use compare::{ManifestDifference, observe_trace};
pub use convert::{ConvertError, ConvertedSkill, convert_toml};
pub use draft::{DraftEntry, DraftError, ManifestDraft};
pub use init::init_draft;
pub use never_granted::why_never;
pub use observation::{FileUse, HostUse, MOST_FILES, MOST_HOSTS, ObservationSink, Observations, SeenHost};
pub use outcome::{RunOutcome, SteadyParts};
pub use places::LearnPlaces;
pub use proposal::{FileGrant, FileProposal, GrantWidth, HostProposal, LearnFinding, Proposals};
pub use raised_limits::RaisedLimit;
pub use rehearse::{MOST_ROUNDS, Rehearsal, RehearsalObserver, RehearsalResult, RehearsedRun};
pub use static_facts::StaticFacts;
pub use verify::{DeclaredGrant, Necessity};

/// The code of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
