//! One file per verb.

pub(crate) mod allow;
#[cfg(target_os = "linux")]
pub(crate) mod audit;
pub(crate) mod check_command;
#[cfg(target_os = "linux")]
pub(crate) mod check_path;
pub(crate) mod completions;
pub(crate) mod convert;
#[cfg(target_os = "linux")]
pub(crate) mod discover;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod explain;
pub(crate) mod history;
#[cfg(target_os = "linux")]
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod inspect;
#[cfg(target_os = "linux")]
pub(crate) mod install;
#[cfg(target_os = "linux")]
mod installing;
mod judging;
pub(crate) mod key;
pub(crate) mod learn;
#[cfg(target_os = "linux")]
pub(crate) mod list;
pub(crate) mod man;
mod policy;
#[cfg(target_os = "linux")]
pub(crate) mod remove;
#[cfg(target_os = "linux")]
pub(crate) mod reports;
pub(crate) mod run;
mod run_history;
mod running;
pub(crate) mod scan;
pub(crate) mod schema;
#[cfg(target_os = "linux")]
pub(crate) mod serve;
pub(crate) mod trace;
#[cfg(target_os = "linux")]
pub(crate) mod update;
pub(crate) mod validate;
pub(crate) mod wrap;
