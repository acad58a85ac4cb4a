#![forbid(unsafe_code)]
mod allowed_tools;
mod ansi_c;
mod arguments;
mod command_name;
mod denied;
mod escapes;
mod lexer;
mod paths;
mod policy;
mod real_paths;
#[cfg(all(unix, feature = "run"))]
mod run;

pub use crate::allowed_tools::OtherTools;
pub use crate::denied::{Decision, Denied, Place, Rule};
pub use crate::escapes::{Escape, escapes};
pub use crate::lexer::{Dialect, Globs, MAX_LINE};
pub use crate::paths::{ParentDots, PathRules};
pub use crate::policy::{Builder, CommandPolicy, DEFAULT_TIMEOUT, PolicyError};
pub use crate::real_paths::RealPaths;
#[cfg(all(unix, feature = "run"))]
pub use crate::run::{Finished, MAX_OUTPUT, RunError};
