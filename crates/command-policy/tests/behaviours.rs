//! The behaviours of docs/behaviours.md that are about the text of command lines, each under its number.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;

use skillsandbox_command_policy::{
    CommandDecision, CommandDenial, CommandPolicy, CommandPolicyBuilder, CommandRule, DenialPosition,
    ParentDots,
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

/// Lines with the rule, the construct and the byte that a refusal has to name.
fn table(policy: &CommandPolicy, rows: &[(&str, CommandRule, &str, usize)]) {
    for (line, rule, construct, at) in rows {
        let denied = denied(policy, line);
        assert_eq!(
            (denied.rule, denied.construct.as_str(), denied.position),
            (*rule, *construct, DenialPosition::Byte(*at)),
            "{line:?}"
        );
        assert!(denied.to_string().contains(&format!("`{construct}`")), "{denied}");
        assert!(!denied.hint.is_empty() && !denied.reason.is_empty());
        assert_eq!(policy.parse(line).unwrap_err(), denied);
    }
}

#[test]
fn row_066_operators_are_refused_by_name() {
    use CommandRule::Operator;
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
    use CommandRule::Substitution;
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
            assert_eq!(denied.rule, CommandRule::Newline, "{line:?}: {denied}");
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
        assert_eq!(denied(&policy, line).rule, CommandRule::ParentDirectory, "{line}");
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
        assert_eq!(denied(&anywhere, line).rule, CommandRule::ParentDirectory, "{line}");
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
        "curl -#o/etc/x https://h.test/",
        "cat -:/etc",
        "cat -%+o/etc",
    ] {
        assert_eq!(denied(&policy, line).rule, CommandRule::OutsideRoot, "{line}");
    }
    // What a shell would expand has its own rule; nothing gets through.
    for (line, rule) in [
        ("cat ~/.ssh/id_rsa", CommandRule::Tilde),
        ("cat ~", CommandRule::Tilde),
        ("cat ~root/x", CommandRule::Tilde),
        ("cat a=~/x", CommandRule::Tilde),
        ("cat a:~/x", CommandRule::Tilde),
        ("cat --f=~/x", CommandRule::Tilde),
        ("cat $HOME/x", CommandRule::Expansion),
        ("cat ${HOME}/x", CommandRule::Expansion),
        ("cat \"$HOME\"/x", CommandRule::Expansion),
        ("cat </etc/passwd", CommandRule::Redirection),
        ("cat x >/etc/passwd", CommandRule::Redirection),
        ("cat ''~/x", CommandRule::Tilde),
    ] {
        assert_eq!(denied(&policy, line).rule, rule, "{line}");
    }
}

#[test]
fn row_070_paths_in_the_root_are_allowed() {
    let policy = policy();
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
        assert_eq!(denied(&also, line).rule, CommandRule::OutsideRoot, "{line}");
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
    // One that climbs is known by where it leads, not by its letters.
    fs::create_dir_all(real.join("real")).unwrap();
    let policy = CommandPolicy::builder().root(real.join("..").join("real")).build().unwrap();
    allowed(&policy, &format!("cat {}/x", real.display()));
    fs::create_dir(dir.path().join("other")).unwrap();
    let policy = CommandPolicy::builder().root(real.join("../other")).build().unwrap();
    for outside in ["real", "real/other", "real/x"] {
        let command = format!("cat {}/{outside}/x", dir.path().display());
        assert_eq!(denied(&policy, &command).rule, CommandRule::OutsideRoot, "{command}");
    }
    assert!(CommandPolicy::builder().root("/no/such/../place").build().is_err());
}

#[test]
fn row_071_redirections_and_variables_take_no_effect() {
    use CommandRule::{Expansion, Redirection};
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
