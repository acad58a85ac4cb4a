//! Ways round a check of command lines, each of which worked on some such check once, or would have on this one.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use proptest::prelude::*;
use skillsandbox_command_policy::{
    CommandDecision, CommandPolicy, CommandRule, DenialPosition, Dialect, GlobHandling, MAX_LINE, RealPaths,
    escapes,
};

fn policy() -> CommandPolicy {
    CommandPolicy::builder().root("/srv/skill").build().unwrap()
}

fn bash() -> CommandPolicy {
    CommandPolicy::builder().root("/srv/skill").dialect(Dialect::Bash).build().unwrap()
}

fn rule(policy: &CommandPolicy, line: &str) -> Option<CommandRule> {
    policy.check(line).denied().map(|denied| denied.rule)
}

#[test]
fn characters_that_do_not_show_are_refused() {
    for c in [
        "\0",
        "\u{1}",
        "\u{7}",
        "\u{8}",
        "\u{b}",
        "\u{c}",
        "\u{1b}",
        "\u{7f}",
        "\u{9b}",
        "\u{ad}",
        "\u{200b}",
        "\u{200e}",
        "\u{202e}",
        "\u{2066}",
        "\u{feff}",
        "\u{3164}",
        "\u{e0041}",
    ] {
        for line in [
            format!("ls a{c}b"),
            format!("ls 'a{c}b'"),
            format!("ls \"a{c}b\""),
            format!("ls \\{c}"),
            format!("ls # {c}"),
            format!("{c}ls"),
        ] {
            let decision = policy().check(&line);
            let denied = decision.denied().unwrap_or_else(|| panic!("{line:?}"));
            assert_eq!(denied.rule, CommandRule::ControlCharacter, "{line:?}");
            assert!(!denied.to_string().contains(c), "{denied:?}");
        }
    }
    // Blanks that are none, and joiners: refused where they would be taken for blanks, text in quotes.
    for c in ["\u{a0}", "\u{2003}", "\u{3000}", "\u{1680}", "\u{202f}", "\u{200d}"] {
        assert_eq!(rule(&policy(), &format!("ls{c}-l")), Some(CommandRule::ControlCharacter), "{c:?}");
        assert_eq!(rule(&policy(), &format!("ls 'a{c}b' \"{c}\" \\{c}")), None, "{c:?}");
    }
}

#[test]
fn quotes_have_to_end() {
    for (line, at) in [
        ("ls 'a", 3),
        ("ls \"a", 3),
        ("ls 'a'\"b", 6),
        ("ls \"a\\\"", 3),
        ("ls a\\", 4),
        ("'", 0),
        ("\\", 0),
        ("ls 'a\\'b'", 8),
    ] {
        let decision = policy().check(line);
        let denied = decision.denied().unwrap_or_else(|| panic!("{line}"));
        assert_eq!((denied.rule, denied.position), (CommandRule::Quote, DenialPosition::Byte(at)), "{line}");
    }
}

#[test]
fn the_quotes_of_bash_are_read_only_where_bash_is_meant() {
    // Dash ends the quote at the second ' and would run what follows.
    assert_eq!(rule(&policy(), r"ls $'\'; id #'"), Some(CommandRule::Expansion));
    assert_eq!(bash().parse(r"ls $'\'; id #'").unwrap(), ["ls", "'; id #"]);
    assert_eq!(bash().parse(r#"ls a$'\t\n\x41\102\\\'\"\?$`! b'c"#).unwrap(), ["ls", "a\t\nAB\\'\"?$`! bc"]);
    // A path in disguise is still one.
    for line in [r"cat $'\x2fetc'", r"cat $'\57etc'", r"cat $'\x2e\x2e/x'", r"cat --f=$'/etc'"] {
        assert!(
            matches!(rule(&bash(), line), Some(CommandRule::OutsideRoot | CommandRule::ParentDirectory)),
            "{line}"
        );
    }
    for line in [
        r"ls $'\0'",
        r"ls $'\x00'",
        r"ls $'\u41'",
        r"ls $'\U00000041'",
        r"ls $'\cA'",
        r"ls $'\c'",
        r"ls $'\e[2J'",
        r"ls $'\x{41}'",
        r"ls $'\xff'",
        r"ls $'\777'",
        r"ls $'\q'",
        r"ls $'\x'",
        r"ls $'\r'",
        r"ls $'a",
        r"ls $'\'",
    ] {
        assert_eq!(rule(&bash(), line), Some(CommandRule::Quote), "{line}");
    }
    assert_eq!(rule(&bash(), r"ls $'\'!a'"), Some(CommandRule::History));
    assert_eq!(rule(&bash(), "ls $'\n'"), Some(CommandRule::Newline));
    assert_eq!(rule(&bash(), "ls $\"a\""), Some(CommandRule::Expansion));
    // In double quotes it is none.
    assert_eq!(rule(&bash(), "ls \"$'a'\""), Some(CommandRule::Expansion));
}

#[test]
fn variables_cannot_be_set_for_a_command() {
    for line in [
        "LD_PRELOAD=x ls",
        "A=b",
        "A+=b ls",
        "A[0]=x ls",
        "A= ls",
        "'A'=b ls",
        "A\\=b ls",
        "PATH=. ls",
        "'A=b' ls",
        "a/b=c ls",
        "\"LD_PRELOAD=x\" ls",
    ] {
        let rule = rule(&policy(), line);
        assert!(matches!(rule, Some(CommandRule::Environment | CommandRule::Glob)), "{line}: {rule:?}");
    }
    let literal = CommandPolicy::builder().globs(GlobHandling::Literal).build().unwrap();
    assert_eq!(rule(&literal, "A[0]=x ls"), Some(CommandRule::Environment));
}

#[test]
fn words_of_the_shell_are_no_programs() {
    for word in [
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
        "function", "time", "coproc", "!", "}", "in", "'if'", "\\if", "i\"f\"", "]]",
    ] {
        assert_eq!(rule(&policy(), &format!("{word} ls")), Some(CommandRule::ReservedWord), "{word}");
    }
    for word in [
        "eval", "source", ".", "exec", "command", "builtin", "trap", "alias", "export", "cd", "set", "unset",
        ":", "read", "declare", "enable", "hash", "shopt", "umask", "\\eval", "'exec'", "ev\"\"al",
    ] {
        assert_eq!(rule(&policy(), &format!("{word} x")), Some(CommandRule::Builtin), "{word}");
    }
    for line in ["{ ls", "{ls,-l}", "[[ a ]]"] {
        assert!(matches!(rule(&policy(), line), Some(CommandRule::Brace | CommandRule::Glob)), "{line}");
    }
    for line in ["''", "'' ls", "-c x", "%1", "\"\""] {
        assert_eq!(rule(&policy(), line), Some(CommandRule::CommandName), "{line}");
    }
    for line in ["", " ", "\t ", "# ls", "  # x"] {
        assert_eq!(rule(&policy(), line), Some(CommandRule::Empty), "{line:?}");
    }
}

#[test]
fn what_some_shells_expand_is_refused() {
    for (line, expected) in [
        ("ls {a,b}", CommandRule::Brace),
        ("ls {1..3}", CommandRule::Brace),
        ("ls a{b,c}d", CommandRule::Brace),
        ("ls {a},b}", CommandRule::Brace),
        ("ls {a}..{b}", CommandRule::Brace),
        ("ls {a{b},c}", CommandRule::Brace),
        ("ls {'a',b}", CommandRule::Brace),
        ("ls {", CommandRule::Brace),
        ("ls *", CommandRule::Glob),
        ("ls a?", CommandRule::Glob),
        ("ls [a]", CommandRule::Glob),
        ("ls @(a)", CommandRule::Operator),
        ("ls +(a)", CommandRule::Operator),
        ("ls !(a)", CommandRule::History),
        ("ls !!", CommandRule::History),
        ("ls !a", CommandRule::History),
        ("ls \"!a\"", CommandRule::History),
        ("ls \"a!!\"", CommandRule::History),
        ("!!", CommandRule::History),
        ("^a^b", CommandRule::History),
        ("ls !$", CommandRule::History),
        ("ls !'a'", CommandRule::History),
    ] {
        assert_eq!(rule(&policy(), line), Some(expected), "{line}");
    }
    let literal = CommandPolicy::builder().globs(GlobHandling::Literal).build().unwrap();
    assert_eq!(literal.parse("ls * a? [b]").unwrap(), ["ls", "*", "a?", "[b]"]);
    assert_eq!(rule(&literal, "ls */../x"), Some(CommandRule::ParentDirectory));
    assert_eq!(rule(&literal, "ls /et*"), Some(CommandRule::OutsideRoot));
}

#[test]
fn long_lines_are_bounded_and_read_in_one_go() {
    let fits = |text: &str| format!("ls {}", text.repeat((MAX_LINE - 3) / text.len()));
    for text in [
        "a",
        "a ",
        "'a' ",
        "\\a",
        "\"a\"",
        "{}",
        "{a}",
        "a/",
        "a.b/",
        "-x ",
        "a:",
        "a=",
        "~a",
        "\u{e9}",
        "a~",
        "http://h.test/x ",
        "#",
        "a. ",
    ] {
        let line = fits(text);
        let decision = policy().check(&line);
        assert!(
            decision.is_allowed() || line.starts_with("ls #") || text == "~a",
            "{text}: {:?}",
            decision.denied().map(ToString::to_string)
        );
    }
    let decision = policy().check(&"a".repeat(MAX_LINE + 1));
    assert_eq!(decision.denied().unwrap().rule, CommandRule::TooLong);
    assert!(decision.denied().unwrap().to_string().len() < 400);
    assert_eq!(policy().parse(&"x ".repeat(60_000)).unwrap().len(), 60_000);
    // A message repeats little of a long word.
    let long = format!("ls --file=/{}", "x".repeat(100_000));
    assert!(policy().check(&long).denied().unwrap().to_string().len() < 400);
}

#[test]
fn an_allowed_command_does_not_open_the_way_to_others() {
    let policy = CommandPolicy::builder()
        .root("/srv/skill")
        .allowed_tools("Bash(git:*) Bash(find:*) Bash(bin/git:*)")
        .build()
        .unwrap();
    for line in [
        "git -c alias.x='!id' x",
        "find . -exec id ';'",
        "bin/git -c core.pager=id log",
        "git x",
        "git 'submodule' foreach id",
    ] {
        assert!(matches!(rule(&policy, line), Some(CommandRule::RunsOthers(_))), "{line}");
    }
    let open = CommandPolicy::builder().root("/srv/skill").dangerously_allow("find/exec").build().unwrap();
    assert_eq!(rule(&open, "find . -exec id ';'"), None);
    assert_eq!(rule(&open, "find . -files0-from x"), Some(CommandRule::RunsOthers("find/files0")));
    assert!(CommandPolicy::builder().dangerously_allow("find/everything").build().is_err());
    assert!(escapes().all(|escape| !escape.reason.is_empty() && !escape.instead.is_empty()));
}

/// The names of files that rules of the embedder are asked about.
#[test]
fn own_path_rules_see_every_name() {
    let seen: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    let rules = |path: &Path| {
        seen.lock().unwrap().push(path.display().to_string());
        if path.ends_with("secret") { Err("it is secret".to_owned()) } else { Ok(()) }
    };
    let policy = CommandPolicy::builder().root("/srv/skill").path_rules(rules).build().unwrap();
    assert_eq!(rule(&policy, "cat a --b=c -Id e:f,g 'h i' https://h.test/x/y j@k"), None);
    let names = std::mem::take(&mut *seen.lock().unwrap());
    for name in ["a", "--b=c", "c", "d", "e", "f", "g", "h", "i", "h i", "j", "k"] {
        assert!(names.iter().any(|seen| seen == name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("h.test")), "{names:?}");
    for line in [
        "cat secret",
        "cat --f=secret",
        "cat -Isecret",
        "cat a:secret",
        "cat 'x secret'",
        "cat -xvfsecret",
        "cat x,secret",
        "a/secret",
        "cat http://h.test/,secret",
    ] {
        assert_eq!(rule(&policy, line), Some(CommandRule::PathRules), "{line}");
    }
    // A program that is looked up is no file of the root.
    assert_eq!(rule(&policy, "secret a"), None);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    fs::write(root.join("file"), "").unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink("out", root.join("chain")).unwrap();
    symlink("/no/such/place", root.join("dangling")).unwrap();
    symlink("new-file", root.join("dangling-inside")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("sub/deep", root.join("inside")).unwrap();
    symlink("../..", root.join("sub/deep/up")).unwrap();
    symlink("../../..", root.join("sub/deep/far-up")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    let rules = RealPaths::new(root).unwrap();
    let policy = CommandPolicy::builder().root(root).path_rules(rules.clone()).build().unwrap();
    for line in [
        "cat out",
        "cat out/x",
        "cat chain/x",
        "cat dangling",
        "cat loop",
        "cat inside/far-up/x",
        "cat --f=out/x",
        "cat -Iout",
        "cat -xfout",
        "cat magic/etc/passwd",
        "out/run x",
        "cat @out/x",
        "cat a:chain",
        "cat sub/deep/up/out",
        "cat ./out",
        "cat sub/../out",
    ] {
        let found = rule(&policy, line);
        assert!(
            matches!(found, Some(CommandRule::PathRules | CommandRule::ParentDirectory)),
            "{line}: {found:?}"
        );
    }
    for line in [
        "cat file",
        "cat inside/x",
        "cat new/not/yet",
        "cat dangling-inside",
        "cat sub/deep/up/file",
        "cat file/x",
        "ls",
        "cat -n file",
        "sub/run x",
    ] {
        assert_eq!(rule(&policy, line), None, "{line}");
    }
    let absolute = format!("cat {}/out/x", root.canonicalize().unwrap().display());
    assert_eq!(rule(&policy, &absolute), Some(CommandRule::PathRules));
    let wider =
        CommandPolicy::builder().root(root).path_rules(rules.also(outside.path()).unwrap()).build().unwrap();
    assert_eq!(rule(&wider, "cat out/x"), None);
    assert!(RealPaths::new(root.join("nothing")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// Whatever the text, it is decided, the place lies inside it, and nothing hidden is repeated.
    #[test]
    fn any_text_is_decided(line in any::<String>()) {
        for policy in [policy(), bash()] {
            if let CommandDecision::Denied(denied) = policy.check(&line) {
                prop_assert!(matches!(denied.position, DenialPosition::Byte(at) if at <= line.len()));
                prop_assert!(!denied.to_string().contains(char::is_control));
                prop_assert_eq!(policy.parse(&line).unwrap_err(), denied);
            } else {
                prop_assert!(policy.parse(&line).is_ok());
            }
        }
    }

    /// Quoting by the rules of POSIX gives every text back, and a list is judged as its quoted line is.
    #[test]
    fn a_quoted_list_comes_back(words in prop::collection::vec("[ -~é]{0,8}", 0..5)) {
        let argv: Vec<String> = std::iter::once("tool".to_owned()).chain(words).collect();
        let quoted: Vec<String> = argv.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
        let line = quoted.join(" ");
        let by_list = policy().check_argv(&argv).denied().map(|denied| denied.rule);
        prop_assert_eq!(rule(&policy(), &line), by_list);
        if let Ok(parsed) = policy().parse(&line) {
            let expected: Vec<std::ffi::OsString> = argv.into_iter().map(Into::into).collect();
            prop_assert_eq!(parsed, expected);
        }
    }

    /// What is allowed, the other reader of shell words in the ecosystem splits the same way.
    #[test]
    fn shlex_splits_what_is_allowed_alike(line in "[a-z'\" \\\\#=/.-]{0,24}") {
        let line = format!("tool {line}");
        if let Ok(argv) = policy().parse(&line) {
            let other = shlex::split(&line).map(|words| words.into_iter().map(std::ffi::OsString::from).collect::<Vec<_>>());
            prop_assert_eq!(Some(argv), other, "{}", line);
        }
    }

    /// A path out of the root does not get in by being glued to other text that can begin one.
    #[test]
    fn a_glued_path_is_found(before in "(--?[a-z]{1,6}=|-[a-zA-Z]{1,4}|[a-z]{0,4}[=:@,;|&<>({]|[a-z]{1,3} )?", after in "[a-z/.,:]{0,6}") {
        let word = format!("{before}/etc{after}");
        let found = policy().check_argv(["tool", word.as_str()]);
        prop_assert!(!found.is_allowed(), "{}", word);
    }
}
