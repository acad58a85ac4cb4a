//! Filters that libseccomp made beforehand, by `cargo xtask generate`: it takes longer to make one than to start a sandbox.
//!
//! A test makes them again and compares; others run them against the tables, call by call, as they run those made on the spot.

use super::RefusalMode;
use skillsandbox_terms::SyscallProfile;

/// The filter for this architecture, where it is here.
pub(super) fn filter(profile: SyscallProfile, refusal: RefusalMode) -> Option<&'static [u8]> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    Some(match (profile, refusal) {
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
        (SyscallProfile::Strict, RefusalMode::Errno) => include_bytes!("compiled/x86_64/strict-errno.bpf"),
        (SyscallProfile::Strict, RefusalMode::Notify) => include_bytes!("compiled/x86_64/strict-notify.bpf"),
        (SyscallProfile::Permissive, RefusalMode::Errno) => {
            include_bytes!("compiled/x86_64/permissive-errno.bpf")
        }
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::FilterRestrictions;
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
            ] {
                let name = format!("{profile}-{suffix}.bpf");
                let made = build(profile, FilterRestrictions::default(), refusal).unwrap();
                let is_shared = profile == SyscallProfile::Permissive && refusal != RefusalMode::Errno;
                if generate && !is_shared {
                    fs::write(folder.join(&name), &made).unwrap();
                } else if generate {
                    assert!(
                        fs::read(folder.join(format!("default-{suffix}.bpf"))).unwrap() == made,
                        "{name} is not the same"
                    );
                } else if made_by == version {
                    assert!(
                        filter(profile, refusal) == Some(&made[..]),
                        "{name} is stale: run `cargo xtask generate`"
                    );
                } else {
                    // Another version may order the same rules differently; what they do is compared by the other tests.
                    eprintln!("made by libseccomp {}, this is {}", made_by.trim(), version.trim());
                }
            }
        }
        if generate {
            fs::write(folder.join("libseccomp-version"), version).unwrap();
        }
    }
}
