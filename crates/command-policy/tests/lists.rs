//! The behaviours of docs/behaviours.md that are about lists of commands and arguments, each under its number.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, CommandPolicyBuilder, CommandPolicyError, CommandRule,
    DenialPosition, OtherTools,
};

/// The root need not exist to be compared with.
const ROOT: &str = "/srv/skill";

fn builder() -> CommandPolicyBuilder {
    CommandPolicy::builder().root(ROOT)
}

fn policy() -> CommandPolicy {
    builder().build().unwrap()
}

fn denied(policy: &CommandPolicy, line: &str) -> CommandDenial {
    match policy.check(line) {
        CommandDecision::Denied(denied) => denied,
        other => panic!("{line:?} is {other:?}"),
    }
}

fn allowed(policy: &CommandPolicy, line: &str) {
    let decision = policy.check(line);
    assert_eq!(decision, CommandDecision::Allowed, "{line:?}");
}

#[test]
fn row_073_a_pattern_covers_commands_that_begin_with_it_as_a_whole_word() {
    let policy = builder().allowed_tools("Bash(git:*)").build().unwrap();
    for line in ["git", "git status", "'git' status", "gi\"t\" log -n 3"] {
        allowed(&policy, line);
    }
    for line in [
        "gitk",
        "git-x",
        "./git status",
        "bin/git",
        "ls",
        "GIT status",
        "'git status'",
        "'git ' status",
        "agit",
        "git.exe x",
    ] {
        let denied = denied(&policy, line);
        assert_eq!(denied.rule, CommandRule::AllowedTools, "{line}");
        assert!(denied.hint.contains("`git …`"), "{denied}");
    }
    let words = builder()
        .allowed_tools("Bash(git status:*) Bash(npm run test:*)")
        .dangerously_allow("npm/run")
        .build()
        .unwrap();
    for line in ["git status", "git status -s", "npm run test", "npm run test -- x", "git 'status'"] {
        allowed(&words, line);
    }
    for line in [
        "git",
        "git log",
        "git statusx",
        "git -C x status",
        "npm run",
        "npm run tests",
        "npm runtest",
        "'git status'",
    ] {
        assert_eq!(denied(&words, line).rule, CommandRule::AllowedTools, "{line}");
    }
}

#[test]
fn row_074_several_patterns_mean_or() {
    for list in [
        "Bash(git:*) Bash(jq:*)",
        "Bash(git:*), Bash(jq:*)",
        " Bash(git:*)\n\tBash(jq:*) ",
        "Bash(git:*),Bash(jq:*)",
    ] {
        let policy = builder().allowed_tools(list).build().unwrap();
        allowed(&policy, "git status");
        allowed(&policy, "jq .a f");
        assert_eq!(denied(&policy, "ls").rule, CommandRule::AllowedTools);
    }
}

#[test]
fn row_075_other_tools_are_an_error() {
    let error = |list: &str| builder().allowed_tools(list).build().unwrap_err();
    for (list, name) in [
        ("Read", "Read"),
        ("Bash(git:*) Write", "Write"),
        ("WebFetch(domain:x)", "WebFetch"),
        ("bash(git:*)", "bash"),
        ("BashOutput", "BashOutput"),
    ] {
        assert_eq!(error(list), CommandPolicyError::UnsupportedTool(name.to_owned()));
        assert!(error(list).to_string().starts_with(&format!("Unsupported tool: {name}")), "{}", error(list));
    }
    assert_eq!(error("Bash"), CommandPolicyError::BashWithoutCommand);
    assert!(error("Bash").to_string().contains("arguments required"));
    for list in [
        "Bash()",
        "Bash(:*)",
        "Bash(git)",
        "Bash(git *)",
        "Bash(*)",
        "Bash(git:*",
        "Bash(git:*))",
        "Bash((git:*)",
        "Bash(git:*)x",
        "Bash(git;id:*)",
        "Bash(g*:*)",
        "Bash('git':*)",
        "Bash(git :* )x",
    ] {
        assert!(
            matches!(
                error(list),
                CommandPolicyError::InvalidPattern(_) | CommandPolicyError::UnsupportedTool(_)
            ),
            "{list}: {:?}",
            error(list)
        );
    }
    for list in ["", " ", ","] {
        assert_eq!(error(list), CommandPolicyError::NoTools);
    }
}

#[test]
fn row_075_a_whole_list_passes_other_tools_through() {
    let build =
        |list: &str| builder().other_tools(OtherTools::PassThrough).allowed_tools(list).build().unwrap();
    let policy = build("Read, Write Bash(git:*) WebFetch(domain:h.test) Bash(npm test) Bash(ls *)");
    assert_eq!(policy.other_tools().collect::<Vec<_>>(), ["Read", "Write", "WebFetch(domain:h.test)"]);
    for line in ["git log", "ls", "ls -l"] {
        allowed(&policy, line);
    }
    assert_eq!(denied(&policy, "npm test x").rule, CommandRule::AllowedTools);
    // To run the project's own code is what the list named the program for; to start any other is not.
    allowed(&policy, "npm test");
    assert_eq!(denied(&build("Bash(npm:*)"), "npm exec sh").rule, CommandRule::RunsOthers("npm/run"));
    assert_eq!(denied(&build("Bash"), "npm test").rule, CommandRule::RunsOthers("npm/run"));
    // Without a command none is allowed; with the bare tool every one is.
    assert_eq!(denied(&build("Read Write"), "ls").rule, CommandRule::AllowedTools);
    for list in ["Bash", "Bash(*)", "Read Bash"] {
        allowed(&build(list), "ls");
        assert_eq!(denied(&build(list), "ls; id").rule, CommandRule::Operator);
    }
}

#[test]
fn row_076_without_a_list_only_the_structure_is_checked() {
    for line in ["ls -la", "cargo --version", "python3 main.py --fast", "anything at all", "./run.sh 'a;b'"] {
        allowed(&policy(), line);
    }
    assert_eq!(denied(&policy(), "ls; id").rule, CommandRule::Operator);
}

#[test]
fn row_079_only_listed_commands_may_be_called() {
    let policy = builder().commands(["kubectl", "/usr/bin/jq", "./run.sh"]).build().unwrap();
    for line in ["kubectl get pods", "/usr/bin/jq .a f", "./run.sh x"] {
        allowed(&policy, line);
    }
    for line in ["jq .a f", "kubectlx get", "./kubectl get", "run.sh x", "bin/kubectl", "ls"] {
        assert_eq!(denied(&policy, line).rule, CommandRule::Commands, "{line}");
    }
    for line in ["/bin/kubectl get", "/usr/bin/jqx .a"] {
        assert_eq!(denied(&policy, line).rule, CommandRule::OutsideRoot, "{line}");
    }
    // A skill's own list cannot open a path; both lists have to agree.
    let skill = builder().allowed_tools("Bash(/usr/bin/jq:*)").build().unwrap();
    assert_eq!(denied(&skill, "/usr/bin/jq .a f").rule, CommandRule::OutsideRoot);
    let both = builder().commands(["kubectl", "ls"]).allowed_tools("Bash(kubectl:*)").build().unwrap();
    assert_eq!(denied(&both, "ls").rule, CommandRule::AllowedTools);
    // An empty list allows nothing.
    let none = builder().commands(Vec::<String>::new()).build().unwrap();
    assert_eq!(denied(&none, "ls").rule, CommandRule::Commands);
}

#[test]
fn row_080_subcommands_are_limited_and_flags_forbidden() {
    let policy = builder()
        .commands(["kubectl", "tool"])
        .allowed_args("kubectl", ["get", "describe", "logs"])
        .forbidden_args("kubectl", ["--token", "--password", "-t"])
        .forbidden_args("tool", ["delete", "-exec"])
        .build()
        .unwrap();
    for line in [
        "kubectl get pods",
        "kubectl describe pod x",
        "kubectl logs -n ns x",
        "kubectl get --tokens",
        "kubectl get pods --total=1",
        "kubectl get to",
        "kubectl get -- x",
        "tool remove",
    ] {
        allowed(&policy, line);
    }
    for line in [
        "kubectl",
        "kubectl delete pod x",
        "kubectl -n get",
        "kubectl --token x get",
        "kubectl gets",
        "kubectl ge",
        "kubectl ''",
        "kubectl 'get pods'",
    ] {
        assert_eq!(denied(&policy, line).rule, CommandRule::AllowedArgs, "{line}");
    }
    for line in [
        "kubectl get --token x",
        "kubectl get --token=x",
        "kubectl get --tok=x",
        "kubectl get --t x",
        "kubectl get -token x",
        "kubectl get -token=x",
        "kubectl get pods --pass y",
        "kubectl get -t",
        "kubectl get -xt",
        "kubectl get -tvalue",
        "kubectl get -t=x",
        "kubectl get '--token=a b'",
        "kubectl get --to\"ken\"",
        "kubectl get -- --token",
        "tool delete",
        "tool x delete",
        "tool delete=x",
        "tool -exec",
        "tool --exec",
    ] {
        assert_eq!(denied(&policy, line).rule, CommandRule::ForbiddenArgs, "{line}");
    }
}

#[test]
fn row_081_arguments_arrive_one_by_one() {
    let policy = builder().commands(["kubectl"]).build().unwrap();
    let argv = ["kubectl", "get", "pods; rm -rf /"];
    assert_eq!(policy.check_argv(argv), CommandDecision::Allowed);
    assert_eq!(policy.parse("kubectl get 'pods; rm -rf /'").unwrap(), argv);
    assert_eq!(
        policy.check_argv(["kubectl", "get", "$(id) `id` && > x | y", "*", "a~x"]).denied().map(|d| d.rule),
        None
    );
    // All that is not about a shell's syntax holds for a list too.
    for (argv, rule, at) in [
        (vec!["ls"], CommandRule::Commands, 0),
        (vec!["kubectl", "exec", "x"], CommandRule::RunsOthers("kubectl/exec"), 1),
        (vec!["kubectl", "get", "../x"], CommandRule::ParentDirectory, 2),
        (vec!["kubectl", "get", "-f", "/etc/x"], CommandRule::OutsideRoot, 3),
        (vec!["kubectl", "get", "a\0b"], CommandRule::ControlCharacter, 2),
        (vec!["A=b", "kubectl"], CommandRule::Environment, 0),
        (vec!["eval", "x"], CommandRule::Builtin, 0),
        (vec![""], CommandRule::CommandName, 0),
        (vec!["-x"], CommandRule::CommandName, 0),
    ] {
        let decision = policy.check_argv(&argv);
        let denied = decision.denied().unwrap_or_else(|| panic!("{argv:?}"));
        assert_eq!((denied.rule, denied.position), (rule, DenialPosition::Argument(at)), "{argv:?}");
    }
    assert_eq!(policy.check_argv(Vec::<String>::new()).denied().unwrap().rule, CommandRule::Empty);
    assert_eq!(
        policy.check_argv(["kubectl".to_owned(), "x".repeat(200_000)]).denied().unwrap().rule,
        CommandRule::TooLong
    );
}

#[cfg(unix)]
#[test]
fn row_081_a_list_may_hold_what_is_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let odd = |bytes: &'static [u8]| [OsStr::new("kubectl"), OsStr::new("get"), OsStr::from_bytes(bytes)];
    assert_eq!(policy().check_argv(odd(b"a\xff\xfe")), CommandDecision::Allowed);
    assert_eq!(policy().check_argv(odd(b"\xff=/etc")).denied().unwrap().rule, CommandRule::OutsideRoot);
    assert_eq!(policy().check_argv(odd(b"\xff/../x")).denied().unwrap().rule, CommandRule::ParentDirectory);
    assert!(policy().check_argv([OsStr::from_bytes(b"\xff\xfe")]).is_allowed());
}
