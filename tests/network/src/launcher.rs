//! What the launching program, which is the test itself, uses.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open descriptors.
#[must_use]
pub fn descriptors() -> usize {
    // The one that lists them is among them each time.
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Threads.
#[must_use]
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Memory in use, in bytes.
#[must_use]
pub fn resident() -> u64 {
    of_status("VmRSS:")
}

/// The most memory that was ever in use, in bytes.
#[must_use]
pub fn highest_resident() -> u64 {
    of_status("VmHWM:")
}

fn of_status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Lets this process open no more than so many descriptors, and as many as it may where that is `None`.
pub fn limit_descriptors(most: Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: most.or(limit.maximum), maximum: limit.maximum }).unwrap();
}
