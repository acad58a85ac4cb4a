//! Filters that libseccomp made beforehand, by `cargo xtask generate`: it takes longer to make one than to start a sandbox.
//!
//! A test makes them again and compares; others run them against the tables, call by call, as they run those made on the spot.

use super::{FilterRestrictions, RefusalMode};
use skillsandbox_terms::SyscallProfile;

/// All filters with one set of restrictions, which the names of their files end in.
macro_rules! restricted {
    ($end:literal, $profile:expr, $refusal:expr) => {
        match ($profile, $refusal) {
            (SyscallProfile::Default, RefusalMode::Errno) => restricted!("default-errno", $end),
            (SyscallProfile::Default, RefusalMode::Notify) => restricted!("default-notify", $end),
            (SyscallProfile::Default, RefusalMode::Observe) => restricted!("default-observe", $end),
            (SyscallProfile::Default, RefusalMode::Supervise) => restricted!("default-supervise", $end),
            (SyscallProfile::Strict, RefusalMode::Errno) => restricted!("strict-errno", $end),
            (SyscallProfile::Strict, RefusalMode::Notify) => restricted!("strict-notify", $end),
            (SyscallProfile::Strict, RefusalMode::Observe) => restricted!("strict-observe", $end),
            (SyscallProfile::Strict, RefusalMode::Supervise) => restricted!("strict-supervise", $end),
            (SyscallProfile::Permissive, RefusalMode::Errno) => restricted!("permissive-errno", $end),
            (SyscallProfile::Permissive, RefusalMode::Notify) => restricted!("permissive-notify", $end),
            (SyscallProfile::Permissive, RefusalMode::Observe) => restricted!("permissive-observe", $end),
            (SyscallProfile::Permissive, RefusalMode::Supervise) => restricted!("permissive-supervise", $end),
        }
    };
    ($name:literal, $end:literal) => {
        include_bytes!(concat!("compiled/x86_64/", $name, $end, ".bpf")).as_slice()
    };
}

/// The filter for this architecture, where it is here.
pub(super) fn filter(
    profile: SyscallProfile,
    restrictions: FilterRestrictions,
    refusal: RefusalMode,
) -> Option<&'static [u8]> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    Some(match (restrictions.named_programs, restrictions.uncounted_memory) {
        (false, false) => unrestricted(profile, refusal),
        (true, false) => restricted!("-programs", profile, refusal),
        (false, true) => restricted!("-memory", profile, refusal),
        (true, true) => restricted!("-programs-memory", profile, refusal),
    })
}

fn unrestricted(profile: SyscallProfile, refusal: RefusalMode) -> &'static [u8] {
    match (profile, refusal) {
        (SyscallProfile::Default, RefusalMode::Errno) => include_bytes!("compiled/x86_64/default-errno.bpf"),
        // Both ask about the same calls; only the answers differ.
        (SyscallProfile::Default | SyscallProfile::Permissive, RefusalMode::Notify) => {
            include_bytes!("compiled/x86_64/default-notify.bpf")
        }
        (SyscallProfile::Default | SyscallProfile::Permissive, RefusalMode::Observe) => {
            include_bytes!("compiled/x86_64/default-observe.bpf")
        }
        (SyscallProfile::Strict, RefusalMode::Observe) => {
            include_bytes!("compiled/x86_64/strict-observe.bpf")
        }
        (SyscallProfile::Default, RefusalMode::Supervise) => {
            include_bytes!("compiled/x86_64/default-supervise.bpf")
        }
        (SyscallProfile::Strict, RefusalMode::Supervise) => {
            include_bytes!("compiled/x86_64/strict-supervise.bpf")
        }
        (SyscallProfile::Permissive, RefusalMode::Supervise) => {
            include_bytes!("compiled/x86_64/permissive-supervise.bpf")
        }
        (SyscallProfile::Strict, RefusalMode::Errno) => include_bytes!("compiled/x86_64/strict-errno.bpf"),
        (SyscallProfile::Strict, RefusalMode::Notify) => include_bytes!("compiled/x86_64/strict-notify.bpf"),
        (SyscallProfile::Permissive, RefusalMode::Errno) => {
            include_bytes!("compiled/x86_64/permissive-errno.bpf")
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::filter::build;
    use super::*;

    #[test]
    fn the_compiled_filters_are_those_of_the_tables() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/seccomp/compiled/x86_64");
        let version = libseccomp::ScmpVersion::current().unwrap();
        let version = format!("{}.{}.{}\n", version.major, version.minor, version.micro);
        let generate = std::env::var_os("SKILLSANDBOX_GENERATE").is_some();
        let made_by = fs::read_to_string(folder.join("libseccomp-version")).unwrap_or_default();
        for profile in SyscallProfile::ALL {
            for (refusal, suffix) in [
                (RefusalMode::Errno, "errno"),
                (RefusalMode::Notify, "notify"),
                (RefusalMode::Observe, "observe"),
                (RefusalMode::Supervise, "supervise"),
            ] {
                for (named_programs, uncounted_memory, end) in [
                    (false, false, ""),
                    (true, false, "-programs"),
                    (false, true, "-memory"),
                    (true, true, "-programs-memory"),
                ] {
                    let restrictions = FilterRestrictions { named_programs, uncounted_memory };
                    let name = format!("{profile}-{suffix}{end}.bpf");
                    let made = build(profile, restrictions, refusal).unwrap();
                    let is_shared = end.is_empty()
                        && profile == SyscallProfile::Permissive
                        && matches!(refusal, RefusalMode::Notify | RefusalMode::Observe);
                    if generate && !is_shared {
                        fs::write(folder.join(&name), &made).unwrap();
                    } else if generate {
                        assert!(
                            fs::read(folder.join(format!("default-{suffix}.bpf"))).unwrap() == made,
                            "{name} is not the same"
                        );
                    } else if made_by == version {
                        assert!(
                            filter(profile, restrictions, refusal) == Some(&made[..]),
                            "{name} is stale: run `cargo xtask generate`"
                        );
                    } else {
                        // Another version may order the same rules differently; what they do is compared by the other tests.
                        eprintln!("made by libseccomp {}, this is {}", made_by.trim(), version.trim());
                    }
                }
            }
        }
        if generate {
            fs::write(folder.join("libseccomp-version"), version).unwrap();
        }
    }
}
