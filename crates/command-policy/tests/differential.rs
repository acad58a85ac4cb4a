//! The truth about command lines is what shells make of them: generated lines that the policy allows are given to dash and bash,
//! and the arguments that arrive have to be the ones that `parse` returned.
//!
//! Only allowed lines reach a shell. They can name one program, a stand-in that prints its arguments; it is the only one in PATH, the
//! environment is empty otherwise, and the working directory is a temporary one that has to be unchanged afterwards.
#![cfg(unix)]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use skillsandbox_command_policy::{CommandPolicy, Dialect};

/// What is generated is made of these, joined: each is a way in which shells were, or might be, tricked.
const PIECES: &[&str] = &[
    // Plain.
    "a", "b1", "x.y", "-n", "--opt=v", "-", "--", "=", ":", "@", ",", "+", "%", "^", "]", "}", "/", ".", "_",
    "é", "日本", "0", "2", // Blanks, and what looks like them.
    " ", " ", " ", " ", "  ", "\t", "\u{a0}", "\u{2003}", "\u{b}", "\u{c}", "\r", "\n", "\\\n", "\u{feff}",
    "\u{200d}", // Quotes and escapes.
    "'", "'", "\"", "\"", "''", "\"\"", "'a b'", "\"a b\"", "'\\'", "\"\\\"\"", "\"\\\\\"", "\"\\a\"",
    "\"\\$x\"", "\"'\"", "'\"'", "\\", "\\ ", "\\\\", "\\'", "\\\"", "\\a", "\\$", "\\`", "\\!", "\\~",
    "\\#", "\\;", "\\é", "\"\\!\"", "'!'", "'$x'", "'`x`'", "'*'", "'~'", "'#'", "';'", "'a\tb'",
    // What bash alone knows.
    "$'", "$'a'", "$'\\n'", "$'\\x41'", "$'\\''", "$'\\101'", "$'\\u41'", "$'\\cA'", "$'\\q'", "$\"a\"",
    "$\"", "$'\\x4'", "$'\\0'", "$'\\?'", // Expansion.
    "$", "$x", "${x}", "$(", "$((1))", "$[1]", "`", "$1", "$$", "$@", "$#", "\"$\"", "\"$ \"", "\"a$|b\"",
    "\"$.\"", "\"$x\"", "\"`x`\"", "$ ", // Globs, braces, tildes, history.
    "*", "?", "[a]", "{a,b}", "{a}", "{}", "@{1}", "{1..3}", "{", "{a", "{a},b}", "{-1}", "~", "~root", "=~",
    ":~", "a~", "x=~", "!", "!!", "!a", "! ", "!=", "\"!\"", "\"a! b\"", "\"!!\"", "\"!a\"", "^a^b",
    // Comments.
    "#", " #", " # x", "a#b", "''#", " #'", // Operators and redirections.
    ";", "&", "|", "&&", "||", "|&", ";;", "<", ">", ">>", "<<", "<<<", "<>", ">&", "&>", "2>", "<(", ">(",
    "(", ")", "()", "((", // Assignments, arrays, reserved words.
    "x=1", "x+=1", "x[0]=1", "x=(1)", "if", "then", "fi", "{ ", " }", "time", "[[", "]]", "in", "do", "case",
    "esac", "function", "coproc", "eval", "exec",
];

/// Spellings of the command.
const COMMANDS: &[&str] = &[
    "standin",
    "standin",
    "standin",
    "'standin'",
    "st\"and\"in",
    "\\standin",
    "s\\tandin",
    "''standin",
    " standin",
    "\tstandin",
    "standin''",
];

fn lines() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        // Allowed more often than not, so that long lines get through.
        8 => prop::sample::select(PIECES.iter().copied().filter(|piece| harmless(piece)).collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        2 => "[ -~]{1,4}",
    ];
    // Blanks apart from the rest: most words then hold few pieces.
    let word = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
    (prop::sample::select(COMMANDS), prop::collection::vec(word, 0..5), any::<bool>()).prop_map(
        |(command, words, joined)| {
            let words = words.join(if joined { "" } else { " " });
            format!("{command} {words}")
        },
    )
}

fn harmless(piece: &str) -> bool {
    CommandPolicy::builder().build().unwrap().check(&format!("standin {piece}")).is_allowed()
}

fn policy(root: &Path) -> CommandPolicy {
    // The root lies elsewhere: no absolute path of the line is allowed.
    CommandPolicy::builder().root(root).commands(["standin"]).build().unwrap()
}

/// A directory whose one file prints how many arguments it has, and each of them, with NUL behind each. Only builtins are used.
fn stand_in() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("standin");
    fs::write(&file, "#!/bin/sh\nprintf '%s\\0' \"$#\" \"$@\"\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[derive(Clone, Copy, Debug)]
enum Shell {
    Dash,
    Bash,
    BashUtf8,
    /// Reads the line as if it were typed, with history.
    BashInteractive,
}

impl Shell {
    fn path(self) -> &'static str {
        let (name, places) = match self {
            Self::Dash => ("dash", ["/bin/dash", "/usr/bin/dash", "/usr/local/bin/dash"]),
            _ => ("bash", ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]),
        };
        places.into_iter().find(|place| Path::new(place).exists()).unwrap_or_else(|| {
            panic!(
                "{name} is not installed, so nothing can be compared with it: install the package `{name}`"
            )
        })
    }

    /// What the stand-in printed, and the shell's exit code.
    fn run(self, line: &str, dir: &Path) -> (Vec<u8>, String) {
        let mut command = Command::new(self.path());
        // A group of its own: nothing that is run can signal us.
        command.process_group(0);
        command.env_clear().env("PATH", dir).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
        match self {
            Self::Dash | Self::Bash => command.args(["-c", line]).stdin(Stdio::null()),
            Self::BashUtf8 => command
                .env("LC_ALL", "C.UTF-8")
                .args(["--norc", "--noprofile", "-c", line])
                .stdin(Stdio::null()),
            Self::BashInteractive => {
                command.args(["--norc", "--noprofile", "--noediting", "-i"]).stdin(Stdio::piped())
            }
        };
        let mut child = command.spawn().unwrap();
        if let Some(mut input) = child.stdin.take() {
            input.write_all(line.as_bytes()).unwrap();
            input.write_all(b"\n").unwrap();
        }
        let output = child.wait_with_output().unwrap();
        (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn printed(argv: &[OsString]) -> Vec<u8> {
    let mut text = (argv.len() - 1).to_string().into_bytes();
    text.push(0);
    for word in &argv[1..] {
        text.extend_from_slice(word.as_bytes());
        text.push(0);
    }
    text
}

/// Compares one line, if it is allowed; says whether it was.
fn compare(policy: &CommandPolicy, shells: &[Shell], line: &str, dir: &Path) -> Result<bool, TestCaseError> {
    let Ok(argv) = policy.parse(line) else { return Ok(false) };
    prop_assert_eq!(argv[0].to_str(), Some("standin"), "{:?}", line);
    let expected = printed(&argv);
    for shell in shells {
        let (found, errors) = shell.run(line, dir);
        prop_assert_eq!(
            String::from_utf8_lossy(&found),
            String::from_utf8_lossy(&expected),
            "{:?} reads {:?} differently: {}",
            shell,
            line,
            errors
        );
    }
    Ok(true)
}

fn compare_generated(builder: impl Fn(&Path) -> CommandPolicy, shells: &[Shell], cases: u32) {
    let dir = stand_in();
    let root = tempfile::tempdir().unwrap();
    let policy = builder(root.path());
    let allowed = Cell::new(0);
    // Nothing is kept between runs; PROPTEST_CASES asks for more.
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2000, ..Config::default() };
    let result = TestRunner::new(config).run(&lines(), |line| {
        if compare(&policy, shells, &line, dir.path())? {
            allowed.set(allowed.get() + 1);
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    assert!(
        allowed.get() * 10 > cases,
        "only {} of {cases} lines were allowed: too few to say much",
        allowed.get()
    );
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["standin"], "a line wrote a file");
}

#[test]
fn dash_and_bash_see_the_arguments_that_are_returned() {
    compare_generated(policy, &[Shell::Dash, Shell::Bash, Shell::BashUtf8], 1500);
}

#[test]
fn an_interactive_bash_sees_them_too() {
    compare_generated(policy, &[Shell::BashInteractive], 400);
}

#[test]
fn bash_sees_them_with_its_own_quotes() {
    let bash = |root: &Path| {
        CommandPolicy::builder().root(root).commands(["standin"]).dialect(Dialect::Bash).build().unwrap()
    };
    compare_generated(bash, &[Shell::Bash, Shell::BashUtf8], 700);
}

/// Lines that are allowed and were thought of, so that no run depends on luck.
#[test]
fn known_lines_are_read_alike() {
    let dir = stand_in();
    let root = tempfile::tempdir().unwrap();
    let policy = policy(root.path());
    let long = format!("standin {}", "word ".repeat(5000));
    let quoted = format!("standin '{}'", "x".repeat(100_000));
    for line in [
        "standin",
        "standin a b  c\td ",
        "standin 'a b' \"c d\" e\\ f",
        "standin '' \"\" ''\"\"",
        "standin \"a\\b\\$\\`\\\"\\\\c\"",
        "standin \"it's\" 'say \"x\"'",
        "standin a#b #c 'd",
        "standin \\#a ''#b",
        "standin a$ \"b$\" \"c$|d\" \"e$ f\"",
        "standin x=1 --y=2 z+=3",
        "standin {} a{b}c HEAD@{1} {-1} }",
        "standin a~ HEAD~1 a~b",
        "standin ! a! \"b! c\" '!!' \\!x a != b",
        "standin if then } ]] in time eval exec",
        "standin -- -n --",
        "standin é 日本 '\u{2003}' \"\u{200d}\"",
        "standin 'a\tb' \"c\td\"",
        "\t 'st'\\and\"in\" a",
        "standin ] ^ % @ + , :",
        "standin pods\\;\\ rm\\ -rf\\ \\*",
        long.as_str(),
        quoted.as_str(),
    ] {
        let shells = [Shell::Dash, Shell::Bash, Shell::BashUtf8, Shell::BashInteractive];
        // An interactive shell reads lines of any length, and prints them all: once is enough.
        let shells = if line.len() > 1000 { &shells[..3] } else { &shells[..] };
        match compare(&policy, shells, line, dir.path()) {
            Ok(allowed) => assert!(allowed, "{line}: {:?}", policy.check(line)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Where a builtin may take an argument for a variable or a number; the first few name no process.
const FORMS: &[&str] = &[
    "{}",
    "-v {}",
    "-l {}",
    "-s {} x",
    "-v{}",
    "-R {}",
    "{} -eq 0",
    "'!' -v {}",
    "%d {}",
    "'%*d' {} 1",
    "-v {} %s x",
    "x -a -v {}",
    "-- -v {}",
    "-t {}",
    "-o {}",
];

/// Names that bash takes for itself: those that pass are programs too, and none of them runs what is written in an argument.
/// (`test -v 'a[$(id)]'` does, in bash.)
#[test]
fn builtins_that_pass_run_nothing_from_their_arguments() {
    let dir = stand_in();
    let root = tempfile::tempdir().unwrap();
    let policy = CommandPolicy::builder().root(root.path()).build().unwrap();
    let (names, _) = Shell::Bash.run("compgen -b; compgen -k", dir.path());
    let names = String::from_utf8(names).unwrap();
    assert!(names.lines().any(|name| name == "eval") && names.lines().any(|name| name == "if"), "{names}");
    let passes = |name: &&str| policy.check(&format!("'{name}' x")).is_allowed();
    let mut passing: Vec<&str> = names.lines().filter(passes).collect();
    passing.sort_unstable();
    assert_eq!(passing, ["[", "echo", "false", "kill", "printf", "pwd", "test", "true"]);
    let attack = "'a[$(standin>marker)]'";
    let marker = dir.path().join("marker");
    // No numbers for `kill`: they would be processes.
    let forms = |name: &str| if name == "kill" { &FORMS[..4] } else { FORMS };
    for name in passing {
        for form in forms(name) {
            let line =
                format!("'{name}' {}{}", form.replace("{}", attack), if name == "[" { " ]" } else { "" });
            if policy.check(&line).is_allowed() {
                Shell::Bash.run(&line, dir.path());
                Shell::Dash.run(&line, dir.path());
                assert!(!marker.exists(), "{line} ran a command");
            }
        }
    }
    // Where nothing stands in between, it does.
    Shell::Bash.run(&format!("test -v {attack}"), dir.path());
    assert!(marker.exists(), "the attack is one");
}

/// The comparison has to be able to fail: without a policy in between, shells do what the pieces ask for.
#[test]
fn the_comparison_sees_a_difference() {
    let dir = stand_in();
    for shell in [Shell::Dash, Shell::Bash, Shell::BashInteractive] {
        let (found, _) = shell.run("standin a; standin b", dir.path());
        assert_eq!(found, b"1\0a\x001\0b\0", "{shell:?}");
        let (found, _) = shell.run("standin $((1+1)) s*", dir.path());
        assert_eq!(found, b"2\x002\0standin\0", "{shell:?}");
    }
    let (found, _) = Shell::BashInteractive.run("standin a\nstandin !!", dir.path());
    assert!(String::from_utf8_lossy(&found).contains("standin\0a"), "history is on: {found:?}");
    assert_ne!(Shell::Dash.run("standin $'a'", dir.path()).0, Shell::Bash.run("standin $'a'", dir.path()).0);
}
