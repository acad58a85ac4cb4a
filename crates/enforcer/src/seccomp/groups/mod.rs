//! The tables: what is allowed, by subject, and what is not.

mod denied;
mod files;
mod ioctl;
mod memory;
mod network;
mod own;
mod processes;

use super::table::{Denial, Group};
pub(super) use network::is_destination;

/// Everything that some profile allows.
pub(super) const GROUPS: &[Group] = &[
    files::FILES,
    files::MODES,
    files::MODES_STRICT,
    files::DESCRIPTORS,
    files::DESCRIPTORS_STRICT,
    files::WAITING,
    files::ASYNCHRONOUS,
    ioctl::DEVICES,
    ioctl::SOCKETS,
    memory::MEMORY,
    memory::SHARING,
    memory::TIME,
    processes::PROGRAMS,
    processes::NEW_PROCESSES,
    processes::THREADS,
    processes::OWN_SIGNALS,
    processes::SIGNALS,
    processes::SIGNALS_STRICT,
    processes::LIMITS,
    processes::LIMITS_STRICT,
    processes::IDENTITY,
    processes::SYSTEM,
    network::SOCKETS,
    network::DESTINATIONS,
    network::LISTENER,
    own::SETTINGS,
    own::CONFINEMENT,
    own::REGISTERS,
];

/// What no profile allows.
pub(super) const DENIED: &[Denial] = denied::DENIED;

/// Numbers that no kernel used when the tables were written, up to where x86-64 has its x32 numbers. They answer `ENOSYS`: a C
/// library that tries a new call first and finds it missing takes the old one; told `EPERM`, it gives up.
pub(super) const FUTURE: std::ops::RangeInclusive<i32> = 472..=511;
