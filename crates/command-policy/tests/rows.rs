//! The behaviours of docs/behaviours.md that are about command lines, each under its number.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;

use skillsandbox_command_policy::{
    Builder, CommandPolicy, Decision, Denied, OtherTools, ParentDots, Place, PolicyError, Rule,
};

/// The root need not exist to be compared with.
const ROOT: &str = "/srv/skill";

fn builder() -> Builder {
    CommandPolicy::builder().root(ROOT)
}

fn policy() -> CommandPolicy {
    builder().build().unwrap()
}

fn denied(policy: &CommandPolicy, line: &str) -> Denied {
    match policy.check(line) {
        Decision::Denied(denied) => denied,
        other => panic!("{line:?} is {other:?}"),
    }
}

fn allowed(policy: &CommandPolicy, line: &str) {
    let decision = policy.check(line);
    assert_eq!(decision, Decision::Allowed, "{line:?}");
}

/// Lines with the rule, the construct and the byte that a refusal has to name.
fn table(policy: &CommandPolicy, rows: &[(&str, Rule, &str, usize)]) {
    for (line, rule, construct, at) in rows {
        let denied = denied(policy, line);
        assert_eq!(
            (denied.rule, denied.construct.as_str(), denied.place),
            (*rule, *construct, Place::Byte(*at)),
            "{line:?}"
        );
        assert!(denied.to_string().contains(&format!("`{construct}`")), "{denied}");
        assert!(!denied.hint.is_empty() && !denied.reason.is_empty());
        assert_eq!(policy.parse(line).unwrap_err(), denied);
    }
}

#[test]
fn row_066_operators_are_refused_by_name() {
    use Rule::Operator;
    table(
        &policy(),
        &[
            ("git status && id", Operator, "&&", 11),
            ("git status || id", Operator, "||", 11),
            ("git log | sh", Operator, "|", 8),
            ("git log |& sh", Operator, "|&", 8),
            ("git log; id", Operator, ";", 7),
            ("a;;b", Operator, ";", 1),
            ("git fetch & id", Operator, "&", 10),
            ("git fetch &", Operator, "&", 10),
            ("(id)", Operator, "(", 0),
            ("f() id", Operator, "()", 1),
            ("f () id", Operator, "()", 2),
            ("id)", Operator, ")", 2),
            ("git log\"x\"|sh", Operator, "|", 10),
            ("é|b", Operator, "|", 2),
        ],
    );
    // In quotes they are text.
    for line in ["git log --grep 'a && b'", "git log \"a | b\"", "git log a\\;b", "git log # ; id && id"] {
        allowed(&policy(), line);
    }
}

#[test]
fn row_067_substitutions_are_refused() {
    use Rule::Substitution;
    table(
        &policy(),
        &[
            ("echo $(id)", Substitution, "$(", 5),
            ("echo \"$(id)\"", Substitution, "$(", 6),
            ("echo `id`", Substitution, "`", 5),
            ("echo \"a`id`\"", Substitution, "`", 7),
            ("echo $((1+1))", Substitution, "$((", 5),
            ("echo $[1+1]", Substitution, "$[", 5),
            ("diff <(id) x", Substitution, "<(", 5),
            ("tee >(id)", Substitution, ">(", 4),
            ("$(id)", Substitution, "$(", 0),
        ],
    );
    for line in
        ["echo '$(id)'", "echo '`id`'", "echo \\$\\(id\\)", "echo \\`id\\`", "echo \"\\$(id) \\`id\\`\""]
    {
        allowed(&policy(), line);
    }
}

#[test]
fn row_068_line_ends_are_refused_wherever_they_stand() {
    for end in ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"] {
        for line in [
            "git log{}id",
            "git log '{}'",
            "git log \"{}\"",
            "git log \\{}id",
            "git log # x{}id",
            "{}id",
            "id{}",
            "git log \"\\{}\"",
        ] {
            let line = line.replace("{}", end);
            let denied = denied(&policy(), &line);
            assert_eq!(denied.rule, Rule::Newline, "{line:?}: {denied}");
            assert!(!denied.to_string().contains(['\n', '\r']), "{denied}");
        }
    }
}

#[test]
fn row_069_parent_directories_are_refused_in_any_token() {
    let policy = policy();
    for line in [
        "cat ..",
        "cat ../x",
        "cat a/../b",
        "cat a/..",
        "cat ./../x",
        "cat --file=../x",
        "cat --file=..",
        "cat -I..",
        "cat -I../x",
        "tar -xC..",
        "cat @../x",
        "cat a:../x",
        "cat a:..",
        "cat 'a/../b'",
        "cat .\".\"/x",
        "cat .\\./x",
        "cat a,../b",
        "../x",
        "./../x",
        "a/../b",
        "cat 'x ../y'",
        "cat ..\\\\x",
        "cat \"..\"",
        "cat x=../..",
        "cat https://h.test/../x",
        "cat a/..,b",
        "cat x../y",
        "cat ..:x",
        "cat \"'../x'\"",
    ] {
        assert_eq!(denied(&policy, line).rule, Rule::ParentDirectory, "{line}");
    }
    for line in [
        "git diff main..dev",
        "git diff main...dev",
        "git log v1.0..",
        "git log ..dev",
        "cat a..b",
        "cat ...",
        "cat a.b",
        "cat .",
        "cat ./a",
        "git log HEAD~3..HEAD",
    ] {
        allowed(&policy, line);
    }
    let anywhere = builder().parent_dots(ParentDots::Anywhere).build().unwrap();
    for line in ["git diff main..dev", "git diff main...dev", "cat a..b"] {
        assert_eq!(denied(&anywhere, line).rule, Rule::ParentDirectory, "{line}");
    }
    allowed(&anywhere, "cat ./a.b");
}

#[test]
fn row_070_paths_out_of_the_root_are_refused_in_every_spelling() {
    let policy = policy();
    for line in [
        "cat /etc/passwd",
        "cat '/etc/passwd'",
        "cat \"/etc/passwd\"",
        "cat /e\"tc\"/passwd",
        "cat ''/etc/passwd",
        "cat \\/etc/passwd",
        "cat /\\etc",
        "cat //etc",
        "cat /",
        "cat //",
        "cat /.",
        "cat /./etc",
        "cat --file=/etc/passwd",
        "cat --file='/etc/passwd'",
        "cc -I/etc x.c",
        "tar -xf/etc/x",
        "cat @/etc/passwd",
        "cat file:///etc/passwd",
        "cat FILE:/etc/passwd",
        "cat file://localhost/etc",
        "cat a:/etc",
        "cat file:%2fetc",
        "cat jar:file:%2f%2fetc",
        "cat a,/etc",
        "dd if=/etc/passwd",
        "cat x=/etc",
        "cat 'x y /etc/z'",
        "cat \"'/etc'\"",
        "cat '\"/etc'",
        "/bin/sh x",
        "cat /srv/skillet",
        "cat /srv/skill2/x",
        "cat /srv",
        "cat /srv/",
        "cat /srv/skil",
        "cat -o/etc/x",
        "cat -1/etc",
        "cat '~/.ssh/id_rsa'",
        "cat \\~/x",
        "cat --file='~/x'",
        "cat '~root/x'",
        "cat '~'",
        "cat a:'~'/x",
        "cat '$HOME/x'",
        "cat '${HOME}/x'",
        "cat --f='$HOME'",
        "cat http:/etc",
        "cat http:///etc",
        "cat http://h.test/,/etc/x",
        "cat 'http://h.test/ /etc/x'",
        "cat xhttp://etc/x",
        "cat unix:///run/x.sock",
        "cat sqlite:////etc/x",
        "cat /srv/skill:/etc",
        "cat /srv/skill/a,/etc",
        "cat '|/etc/x'",
        "cat '(/etc/x'",
        "cat /proc/self/root/etc",
        "cat -f=/etc",
        "cat :/etc",
        "cat =/etc",
        "cat https://@/etc",
    ] {
        assert_eq!(denied(&policy, line).rule, Rule::OutsideRoot, "{line}");
    }
    // What a shell would expand has its own rule; nothing gets through.
    for (line, rule) in [
        ("cat ~/.ssh/id_rsa", Rule::Tilde),
        ("cat ~", Rule::Tilde),
        ("cat ~root/x", Rule::Tilde),
        ("cat a=~/x", Rule::Tilde),
        ("cat a:~/x", Rule::Tilde),
        ("cat --f=~/x", Rule::Tilde),
        ("cat $HOME/x", Rule::Expansion),
        ("cat ${HOME}/x", Rule::Expansion),
        ("cat \"$HOME\"/x", Rule::Expansion),
        ("cat </etc/passwd", Rule::Redirection),
        ("cat x >/etc/passwd", Rule::Redirection),
        ("cat ''~/x", Rule::Tilde),
    ] {
        assert_eq!(denied(&policy, line).rule, rule, "{line}");
    }
    for line in [
        "cat /srv/skill",
        "cat /srv/skill/",
        "cat /srv/skill/a/b",
        "cat //srv/./skill//a",
        "cat --file=/srv/skill/a",
        "cat -I/srv/skill/a",
        "cat @/srv/skill/a",
        "cat file:///srv/skill/a",
        "cat a/b",
        "cat ./a",
        "curl 'https://h.test/a/b?c=/d'",
        "git clone ssh://git@h.test/a",
        "jq '.a / .b' f",
        "sed s/a/b/ f",
        "cat a:/srv/skill/b",
        "cat HEAD~1",
        "echo 50% a@b",
        "cat /srv/skill:/srv/skill/x",
        "curl HTTPS://h.test/",
        "cat a:b/c",
        "/srv/skill/run.sh x",
        "./run.sh",
        "git log --format=%h%n",
    ] {
        allowed(&policy, line);
    }
    let also = builder().also_allow_path("/dev/null").also_allow_path("/data").build().unwrap();
    for line in ["cat /dev/null", "cat /data/x"] {
        allowed(&also, line);
    }
    for line in ["cat /dev/nullx", "cat /database/x", "cat /dev"] {
        assert_eq!(denied(&also, line).rule, Rule::OutsideRoot, "{line}");
    }
    allowed(&CommandPolicy::builder().root("/").build().unwrap(), "cat /etc/passwd");
}

#[cfg(unix)]
#[test]
fn row_070_a_root_that_is_a_link_is_known_by_both_names() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real");
    let link = dir.path().join("link");
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let policy = CommandPolicy::builder().root(&link).build().unwrap();
    for root in [&real, &link] {
        allowed(&policy, &format!("cat {}/x", root.display()));
    }
}

#[test]
fn row_071_redirections_and_variables_take_no_effect() {
    use Rule::{Expansion, Redirection};
    table(
        &policy(),
        &[
            ("cat < x", Redirection, "<", 4),
            ("id > x", Redirection, ">", 3),
            ("id >> x", Redirection, ">>", 3),
            ("id >| x", Redirection, ">|", 3),
            ("cat << E", Redirection, "<<", 4),
            ("cat <<< x", Redirection, "<<<", 4),
            ("cat <> x", Redirection, "<>", 4),
            ("id 2>&1", Redirection, ">&", 4),
            ("id <&3", Redirection, "<&", 3),
            ("id &> x", Redirection, "&>", 3),
            ("id &>> x", Redirection, "&>>", 3),
            ("echo $PATH", Expansion, "$PATH", 5),
            ("echo a$PATH.b", Expansion, "$PATH", 6),
            ("echo \"$PATH\"", Expansion, "$PATH", 6),
            ("echo ${PATH}", Expansion, "${", 5),
            ("echo \"${x:-y}\"", Expansion, "${", 6),
            ("echo $1", Expansion, "$1", 5),
            ("echo $?", Expansion, "$?", 5),
            ("echo $@", Expansion, "$@", 5),
            ("echo $'a'", Expansion, "$'", 5),
            ("echo $\"a\"", Expansion, "$\"", 5),
        ],
    );
    let argv = policy().parse("echo '$PATH' \\> a\\<b '>' \"a > b\" x$").unwrap();
    assert_eq!(argv, ["echo", "$PATH", ">", "a<b", ">", "a > b", "x$"]);
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
        assert_eq!(denied.rule, Rule::AllowedTools, "{line}");
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
        assert_eq!(denied(&words, line).rule, Rule::AllowedTools, "{line}");
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
        assert_eq!(denied(&policy, "ls").rule, Rule::AllowedTools);
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
        assert_eq!(error(list), PolicyError::UnsupportedTool(name.to_owned()));
        assert!(error(list).to_string().starts_with(&format!("Unsupported tool: {name}")), "{}", error(list));
    }
    assert_eq!(error("Bash"), PolicyError::BashWithoutCommand);
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
            matches!(error(list), PolicyError::InvalidPattern(_) | PolicyError::UnsupportedTool(_)),
            "{list}: {:?}",
            error(list)
        );
    }
    for list in ["", " ", ","] {
        assert_eq!(error(list), PolicyError::NoTools);
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
    assert_eq!(denied(&policy, "npm test x").rule, Rule::AllowedTools);
    assert_eq!(denied(&policy, "npm test").rule, Rule::RunsOthers("npm/run"));
    // Without a command none is allowed; with the bare tool every one is.
    assert_eq!(denied(&build("Read Write"), "ls").rule, Rule::AllowedTools);
    for list in ["Bash", "Bash(*)", "Read Bash"] {
        allowed(&build(list), "ls");
        assert_eq!(denied(&build(list), "ls; id").rule, Rule::Operator);
    }
}

#[test]
fn row_076_without_a_list_only_the_structure_is_checked() {
    for line in ["ls -la", "cargo --version", "python3 main.py --fast", "anything at all", "./run.sh 'a;b'"] {
        allowed(&policy(), line);
    }
    assert_eq!(denied(&policy(), "ls; id").rule, Rule::Operator);
}

#[test]
fn row_079_only_listed_commands_may_be_called() {
    let policy = builder().commands(["kubectl", "/usr/bin/jq", "./run.sh"]).build().unwrap();
    for line in ["kubectl get pods", "/usr/bin/jq .a f", "./run.sh x"] {
        allowed(&policy, line);
    }
    for line in ["jq .a f", "kubectlx get", "./kubectl get", "run.sh x", "bin/kubectl", "ls"] {
        assert_eq!(denied(&policy, line).rule, Rule::Commands, "{line}");
    }
    for line in ["/bin/kubectl get", "/usr/bin/jqx .a"] {
        assert_eq!(denied(&policy, line).rule, Rule::OutsideRoot, "{line}");
    }
    // A skill's own list cannot open a path; both lists have to agree.
    let skill = builder().allowed_tools("Bash(/usr/bin/jq:*)").build().unwrap();
    assert_eq!(denied(&skill, "/usr/bin/jq .a f").rule, Rule::OutsideRoot);
    let both = builder().commands(["kubectl", "ls"]).allowed_tools("Bash(kubectl:*)").build().unwrap();
    assert_eq!(denied(&both, "ls").rule, Rule::AllowedTools);
    // An empty list allows nothing.
    let none = builder().commands(Vec::<String>::new()).build().unwrap();
    assert_eq!(denied(&none, "ls").rule, Rule::Commands);
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
        assert_eq!(denied(&policy, line).rule, Rule::AllowedArgs, "{line}");
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
        assert_eq!(denied(&policy, line).rule, Rule::ForbiddenArgs, "{line}");
    }
}

#[test]
fn row_081_arguments_arrive_one_by_one() {
    let policy = builder().commands(["kubectl"]).build().unwrap();
    let argv = ["kubectl", "get", "pods; rm -rf /"];
    assert_eq!(policy.check_argv(argv), Decision::Allowed);
    assert_eq!(policy.parse("kubectl get 'pods; rm -rf /'").unwrap(), argv);
    assert_eq!(
        policy.check_argv(["kubectl", "get", "$(id) `id` && > x | y", "*", "a~x"]).denied().map(|d| d.rule),
        None
    );
    // All that is not about a shell's syntax holds for a list too.
    for (argv, rule, at) in [
        (vec!["ls"], Rule::Commands, 0),
        (vec!["kubectl", "exec", "x"], Rule::RunsOthers("kubectl/exec"), 1),
        (vec!["kubectl", "get", "../x"], Rule::ParentDirectory, 2),
        (vec!["kubectl", "get", "-f", "/etc/x"], Rule::OutsideRoot, 3),
        (vec!["kubectl", "get", "a\0b"], Rule::ControlCharacter, 2),
        (vec!["A=b", "kubectl"], Rule::Environment, 0),
        (vec!["eval", "x"], Rule::Builtin, 0),
        (vec![""], Rule::CommandName, 0),
        (vec!["-x"], Rule::CommandName, 0),
    ] {
        let decision = policy.check_argv(&argv);
        let denied = decision.denied().unwrap_or_else(|| panic!("{argv:?}"));
        assert_eq!((denied.rule, denied.place), (rule, Place::Argument(at)), "{argv:?}");
    }
    assert_eq!(policy.check_argv(Vec::<String>::new()).denied().unwrap().rule, Rule::Empty);
    assert_eq!(
        policy.check_argv(["kubectl".to_owned(), "x".repeat(200_000)]).denied().unwrap().rule,
        Rule::TooLong
    );
}

#[cfg(unix)]
#[test]
fn row_081_a_list_may_hold_what_is_not_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let odd = |bytes: &'static [u8]| [OsStr::new("kubectl"), OsStr::new("get"), OsStr::from_bytes(bytes)];
    assert_eq!(policy().check_argv(odd(b"a\xff\xfe")), Decision::Allowed);
    assert_eq!(policy().check_argv(odd(b"\xff=/etc")).denied().unwrap().rule, Rule::OutsideRoot);
    assert_eq!(policy().check_argv(odd(b"\xff/../x")).denied().unwrap().rule, Rule::ParentDirectory);
    assert!(policy().check_argv([OsStr::from_bytes(b"\xff\xfe")]).is_allowed());
}
