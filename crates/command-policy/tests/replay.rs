//! Reads every fuzz seed, and every input that once broke something (fuzz/crashes), as the fuzz target does.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use skillsandbox_command_policy::{CommandDecision, CommandPolicy, DenialPosition, Dialect, GlobHandling};

#[test]
fn seeds_and_former_crashes_are_decided() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let plain = CommandPolicy::builder().root("/srv/skill").build().unwrap();
    let bash =
        CommandPolicy::builder().root("/srv/skill").dialect(Dialect::Bash).globs(GlobHandling::Literal);
    let bash = bash.build().unwrap();
    let mut read = 0;
    for folder in ["seeds/command_policy", "crashes"] {
        for entry in fs::read_dir(fuzz.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")) {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for policy in [&plain, &bash] {
                match (policy.check(&text), policy.parse(&text)) {
                    (CommandDecision::Denied(denied), Err(again)) => {
                        assert_eq!(denied, again);
                        assert!(
                            matches!(denied.position, DenialPosition::Byte(at) if at <= text.len()),
                            "{denied:?}"
                        );
                    }
                    (CommandDecision::Allowed, Ok(argv)) => {
                        assert_eq!(policy.check_argv(&argv), CommandDecision::Allowed, "{}", path.display());
                    }
                    other => panic!("{}: {other:?}", path.display()),
                }
            }
            let _ = CommandPolicy::builder().allowed_tools(text).build();
            read += 1;
        }
    }
    assert!(read >= 8, "only {read} seeds");
}
