//! One file a layer. `prepare` runs in the parent, where memory may be allocated and files opened; `apply` runs in the child,
//! where only kernel calls may be made.

pub(crate) mod caps;
pub(crate) mod env;
pub(crate) mod fds;
pub(crate) mod landlock;
mod layer;
pub(crate) mod lifetime;
pub(crate) mod mounts;
pub(crate) mod namespaces;
pub(crate) mod network;
pub(crate) mod no_new_privs;
pub(crate) mod rlimits;
pub(crate) mod settings;
pub(crate) mod terminal;

pub use layer::Layer;
