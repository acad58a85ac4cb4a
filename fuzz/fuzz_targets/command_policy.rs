//! Any text is refused with a place in it and a message fit for a terminal, or becomes an argv that means the same when it is
//! quoted again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_command_policy::{CommandPolicy, CommandDecision, Dialect, GlobHandling, OtherTools, DenialPosition};

fuzz_target!(|text: &str| {
    let builder = || CommandPolicy::builder().root("/srv/skill");
    let plain = builder().build().expect("valid");
    let bash = builder().dialect(Dialect::Bash).globs(GlobHandling::Literal).build().expect("valid");
    for policy in [&plain, &bash] {
        match (policy.check(text), policy.parse(text)) {
            (CommandDecision::Denied(denied), Err(again)) => {
                assert_eq!(denied, again);
                assert!(matches!(denied.position, DenialPosition::Byte(at) if at <= text.len()), "{denied:?}");
                assert!(!denied.to_string().contains(char::is_control), "{denied:?}");
            }
            (CommandDecision::Allowed, Ok(argv)) => {
                assert!(!argv.is_empty());
                // A list is judged as the line it came from.
                assert_eq!(policy.check_argv(&argv), CommandDecision::Allowed);
                let words: Vec<&str> = argv.iter().map(|word| word.to_str().expect("text")).collect();
                let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
                // Only the escapes of bash make line ends, which no plain quote may hold.
                if !words.iter().any(|word| word.contains('\n')) {
                    assert_eq!(policy.parse(&quoted.join(" ")).expect("allowed"), argv);
                }
            }
            (decision, parsed) => panic!("{decision:?} and {parsed:?}"),
        }
    }
    for other in [OtherTools::Refuse, OtherTools::PassThrough] {
        match builder().other_tools(other).allowed_tools(text).build() {
            Ok(policy) => assert!(!policy.check("no-such-command; id").is_allowed()),
            Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
        }
    }
});
