//! Build tools: their files are the project's; their options can be commands.

use super::super::{ProgramFlags, entries, without_version};
use super::{option_among, program, text_among, words_among};
use crate::words::CommandWords;

pub(super) fn make(words: &CommandWords) -> Option<usize> {
    const NAMES: &[&[u8]] = &[
        b"SHELL",
        b".SHELLFLAGS",
        b"MAKEFLAGS",
        b"GNUMAKEFLAGS",
        b"MAKE",
        b"MAKEFILES",
        b"MAKEOVERRIDES",
        b".RECIPEPREFIX",
    ];
    let flags = ProgramFlags::new(&["--eval"], &[], "E", "CfIoWjlO");
    let is_smuggled = |word: &[u8]| {
        if flags.has(word) || matches!(word, b"-" | b"-f-" | b"--file=-" | b"--makefile=-") {
            return true;
        }
        let Some(at) = word.iter().position(|byte| *byte == b'=').filter(|_| word.first() != Some(&b'-'))
        else {
            return false;
        };
        let (name, value) = (word.get(..at).unwrap_or_default(), word.get(at + 1..).unwrap_or_default());
        let name = assigned_name(name);
        let first = value.split(u8::is_ascii_whitespace).find(|part| !part.is_empty()).unwrap_or_default();
        let first = first.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let begins = |kind: &str| {
            let known = [first, without_version(first)];
            known.iter().flat_map(|name| entries(name)).any(|escape| escape.name.starts_with(kind))
        };
        let has_arguments = value.trim_ascii().iter().any(u8::is_ascii_whitespace);
        NAMES.contains(&name)
            || value.iter().any(|byte| b"$`;|&<>()\n".contains(byte))
            || begins("shell/")
            || has_arguments && begins("wrapper/")
    };
    words.arguments().find(|(_, word)| is_smuggled(word)).map(|(index, _)| index)
}

/// The name in `NAME:=x`, `NAME+=x`, `NAME?=x`, `NAME!=x`.
fn assigned_name(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !b":+?! ".contains(byte)).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

pub(super) fn build(words: &CommandWords) -> Option<usize> {
    let flags = |long: &'static [&'static str], short, valued| {
        option_among(words, ProgramFlags::new(long, &[], short, valued))
    };
    match program(words).to_ascii_lowercase().as_slice() {
        b"cmake" => words_among(words, &["-E"])
            .or_else(|| {
                text_among(words, &["_LAUNCHER", "RULE_LAUNCH", "CMAKE_MAKE_PROGRAM", "CMAKE_COMMAND="])
            })
            .or_else(|| flags(&["--debugger-pipe"], "", ""))
            .or_else(|| {
                // What is behind `--build DIR --` is handed to make.
                let (dashes, _) = words.arguments().find(|(_, word)| *word == b"--")?;
                let handed = [&b"make"[..]].into_iter().chain(words.iter().skip(dashes + 1));
                make(&CommandWords::from_argv(handed)).map(|at| dashes + at)
            }),
        b"ctest" => {
            flags(&["--test-command", "--build-and-test", "--build-makeprogram", "--overwrite"], "", "")
        }
        b"meson" => words_among(words, &["devenv", "--internal", "runpython"]).or_else(|| {
            option_among(words, ProgramFlags::new(&["--wrapper", "--gdb-path"], &["--gdb", "--g"], "", ""))
        }),
        b"ninja" | b"samu" => words_among(words, &["browse"]),
        b"rake" => {
            flags(&["--execute", "--execute-print", "--execute-continue", "--require"], "eEpr", "fCIjTDWPR")
        }
        b"just" => flags(
            &["--shell", "--shell-arg", "--shell-command", "--command", "--chooser", "--edit"],
            "ce",
            "fdp",
        ),
        b"gradle" | b"gradlew" => {
            flags(&["--init-script"], "I", "pbcDPgx").or_else(|| text_among(words, &["org.gradle.j"]))
        }
        b"mvn" | b"mvnw" => text_among(
            words,
            &["exec:", "exec-maven-plugin", "exec.executable", "groovy", "antrun", "maven.ext.class.path"],
        )
        .or_else(|| {
            // `group:plugin:goal` is fetched and run, whatever the project says.
            let is_fetched = |word: &[u8]| {
                word.first() != Some(&b'-') && word.split(|byte| *byte == b':').nth(2).is_some()
            };
            words.arguments().find(|(_, word)| is_fetched(word)).map(|(index, _)| index)
        }),
        b"sbt" => {
            let is_code = |word: &[u8]| {
                word.starts_with(b"!")
                    || word.starts_with(b"eval")
                    || word.starts_with(b"set ")
                    || word.starts_with(b"console")
            };
            let code = words
                .arguments()
                .find(|(_, word)| is_code(word) || *word == b"shell")
                .map(|(index, _)| index);
            code.or_else(|| (words.len() == 1).then_some(0))
        }
        b"dotnet" | b"msbuild" => words_among(words, &["fsi", "exec", "script", "csi", "repl"])
            .or_else(|| text_among(words, &["buildevent="])),
        b"mix" => words_among(words, &["cmd", "eval", "rpc"])
            .or_else(|| flags(&["--eval", "--rpc-eval", "--require"], "er", "")),
        b"dune" => words_among(words, &["exec", "utop", "top"]),
        b"opam" => words_among(words, &["exec", "init", "lint"]),
        b"tox" => words_among(words, &["exec", "e", "devenv"])
            .or_else(|| flags(&["--override", "--runner"], "x", "ec")),
        b"bazel" | b"buck" | b"buck2" | b"pants" => flags(
            &[
                "--run_under",
                "--shell_executable",
                "--workspace_status_command",
                "--bazelrc",
                "--host_jvm_args",
                "--script_path",
            ],
            "",
            "",
        ),
        b"nx" | b"lerna" | b"turbo" => {
            words_among(words, &["exec"]).or_else(|| flags(&["--command"], "", ""))
        }
        b"pre-commit" => words_among(words, &["try-repo", "hook-impl", "init-templatedir"]),
        b"scons" => flags(&["--interactive", "--interact"], "", ""),
        b"lein" => words_among(words, &["repl", "exec", "clojure.main"]),
        b"xmake" => words_among(words, &["lua", "l"]),
        b"rebar3" => words_among(words, &["shell"]),
        b"task" => words_among(words, &["execute", "exec"]),
        _ => None,
    }
}

pub(super) fn cargo(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(&["--config"], &[], "Z", "pFjC");
    let shows_page = || words_among(words, &["help"]).filter(|index| words.get(index + 1).is_some());
    option_among(words, flags)
        .or_else(|| text_among(words, &["linker=", "link-arg"]))
        .or_else(|| words_among(words, &["eval", "script"]))
        .or_else(shows_page)
}
