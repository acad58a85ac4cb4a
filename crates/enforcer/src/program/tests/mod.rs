//! Which program a name means, on made-up hosts and on this one.

mod errors;
mod here;
mod hostile;
mod installations;
mod libraries;
mod scripts;
mod shims;
mod venvs;
mod world;
