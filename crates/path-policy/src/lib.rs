//! stub
#![forbid(unsafe_code)]

mod builder;
mod call;
mod decision;
mod glob;
mod json;
mod lookalike;
mod open;
mod percent;
mod places;
mod policy;
mod settings;
mod shown;
mod syntax;
mod sys;
mod tools;
mod walk;

pub use crate::builder::{BuildError, Builder};
pub use crate::decision::{Decision, Denial, Rule};
pub use crate::json::strict_json;
pub use crate::open::{DirEntry, OpenError, OpenOptions};
pub use crate::policy::{PathPolicy, PromptRequest, SanitizeError};
pub use crate::settings::{Access, CaseHandling, ForbiddenBelow, Mode, UnknownTools};
pub use crate::tools::ToolSpec;
