//! One file per verb.

pub(crate) mod check_command;
#[cfg(target_os = "linux")]
pub(crate) mod check_path;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod history;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod run;
mod running;
pub(crate) mod scan;
pub(crate) mod schema;
#[cfg(target_os = "linux")]
pub(crate) mod serve;
pub(crate) mod trace;
pub(crate) mod validate;
