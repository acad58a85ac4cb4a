//! Package managers and languages: they run scripts of the project, and start programs.

use super::super::{ProgramFlags, first_operand, holds, interpreters};
use super::{
    launched, next_operand, option_among, program, script_or_program, sub_commands, text_among, words_among,
};
use crate::words::CommandWords;

pub(super) fn npm(words: &CommandWords, spelled: usize) -> Option<usize> {
    const FLAGS: ProgramFlags = ProgramFlags::new(
        &[
            "--script-shell",
            "--userconfig",
            "--globalconfig",
            "--node-options",
            "--git",
            "--editor",
            "--viewer",
            "--shell",
            "--shell-mode",
            "--browser",
            "--init-module",
            "--use-yarnrc",
            "--call",
        ],
        &["--global", "--us", "--g", "--s", "--sh", "--b"],
        "",
        "",
    );
    if let Some(index) = option_among(words, FLAGS) {
        return Some(index);
    }
    sub_commands(words).find_map(|(index, name)| npm_sub_command(words, spelled, index, name))
}

fn npm_sub_command(words: &CommandWords, spelled: usize, index: usize, name: &[u8]) -> Option<usize> {
    let next = next_operand(words, index);
    let option =
        || words.arguments().find(|(at, word)| *at > index && word.starts_with(b"-c")).map(|(at, _)| at);
    match name {
        b"exec" | b"x" | b"dlx" => option().or_else(|| launched(words, next, spelled)),
        b"init" | b"innit" | b"create" => (next < words.len() && next >= spelled).then_some(next),
        b"config" | b"set" | b"c" | b"docs" | b"home" | b"bugs" | b"repo" | b"env" | b"edit" | b"explore"
        | b"node" | b"set-script" => Some(index),
        b"help" => (next < words.len()).then_some(next),
        b"pkg" => words_among(words, &["set"]),
        b"workspace" | b"workspaces" | b"recursive" | b"multi" | b"m" => {
            words_among(words, &["exec", "dlx", "x", "node"])
        }
        _ if program(words) == b"pnpm" => script_or_program(words, index),
        _ => None,
    }
}

pub(super) fn npx(words: &CommandWords, spelled: usize) -> Option<usize> {
    let flags = ProgramFlags::new(
        &["--call", "--package", "--shell", "--script-shell", "--node-options", "--node-arg"],
        &["--s"],
        "cp",
        "",
    );
    let Some((index, _)) = first_operand(words, "pw", &["--package", "--workspace"]) else { return Some(0) };
    option_among(words, flags).filter(|at| *at < index).or_else(|| launched(words, index, spelled))
}

/// Test runners run what the project has. Only `coverage run -m` may start something else.
pub(super) fn test_runner(words: &CommandWords, spelled: usize) -> Option<usize> {
    if program(words) != b"coverage" {
        return None;
    }
    let module = words_among(words, &["-m", "--module"])?;
    launched(words, module + 1, spelled)
}

pub(super) fn package(words: &CommandWords, spelled: usize) -> Option<usize> {
    let option = || {
        let flags = |long: &'static [&'static str]| option_among(words, ProgramFlags::new(long, &[], "", ""));
        match program(words).to_ascii_lowercase().as_slice() {
            b"pip" => flags(&[
                "--python",
                "--config-settings",
                "--global-option",
                "--install-option",
                "--build-option",
                "--editor",
            ]),
            b"gem" => flags(&["--editor"]),
            b"helm" => flags(&["--post-renderer"]),
            _ => None,
        }
    };
    let sub_command = |(index, sub)| package_sub_command(words, spelled, index, sub);
    sub_commands(words).find_map(sub_command).or_else(option)
}

fn package_sub_command(words: &CommandWords, spelled: usize, index: usize, sub: &[u8]) -> Option<usize> {
    match (program(words).to_ascii_lowercase().as_slice(), sub) {
        (
            b"pipenv" | b"pdm" | b"hatch" | b"rye" | b"pixi" | b"conda" | b"mamba" | b"micromamba"
            | b"bundle" | b"bundler" | b"composer",
            b"run" | b"exec",
        ) => {
            // `composer run NAME` is a script of the project.
            if program(words) == b"composer" && sub == b"run" {
                None
            } else {
                launched(words, next_operand(words, index), spelled)
            }
        }
        (b"rustup", b"run") => launched(words, index + 2, spelled),
        (b"pip", b"config" | b"debug")
        | (b"pipenv" | b"hatch" | b"rye" | b"pixi" | b"pdm", b"shell" | b"open")
        | (b"bundle" | b"bundler", b"open" | b"console" | b"help" | b"plugin" | b"viz")
        | (b"composer", b"global" | b"browse" | b"home")
        | (b"gem", b"open" | b"help" | b"exec")
        | (b"helm", b"plugin")
        | (b"rustup", b"doc" | b"man" | b"self") => Some(index),
        _ => None,
    }
}

pub(super) fn language(words: &CommandWords, spelled: usize) -> Option<usize> {
    let name = program(words).to_ascii_lowercase();
    match name.as_slice() {
        b"go" => go(words),
        b"uv" => uv(words, spelled),
        b"uvx" => {
            let start = first_operand(words, "pw", UV_VALUED);
            let end = start.map_or(words.len(), |(index, _)| index);
            let mut own = words.arguments().take_while(|(at, _)| *at < end);
            own.find(|(at, word)| UV_FROM.has(word) || is_uv_python(words, *at))
                .map(|(at, _)| at)
                .or_else(|| start.map_or(Some(0), |(index, _)| launched(words, index, spelled)))
        }
        b"poetry" | b"pipx" => sub_commands(words).find_map(|(index, sub)| match sub {
            b"run" => launched(words, next_operand(words, index), spelled),
            b"shell" | b"self" | b"runpip" => Some(index),
            _ => None,
        }),
        b"rustc" => text_among(words, &["linker=", "link-arg", "linker-plugin", "-Zx"])
            .or_else(|| words.arguments().find(|(_, word)| word.starts_with(b"@")).map(|(index, _)| index))
            .or_else(|| option_among(words, ProgramFlags::new(&["--sysroot"], &[], "Z", "oLlCAWDF"))),
        b"java" => {
            let signs: &[&[u8]] =
                &[b"-XX:On", b"-XX:Flags", b"-javaagent", b"-agent", b"-Xrun", b"@", b"-XX:VMOptionsFile"];
            words
                .arguments()
                .find(|(_, word)| signs.iter().any(|sign| word.starts_with(sign)))
                .map(|(index, _)| index)
        }
        b"swift" => {
            let known: &[&[u8]] = &[b"build", b"test", b"run", b"package", b"format", b"--version"];
            if words.get(1).is_some_and(|sub| known.contains(&sub)) {
                None
            } else {
                Some(usize::from(words.len() > 1))
            }
        }
        b"zig" => {
            let known: &[&[u8]] = &[
                b"build",
                b"test",
                b"fmt",
                b"init",
                b"run",
                b"build-exe",
                b"build-lib",
                b"build-obj",
                b"version",
                b"env",
            ];
            let flags = ProgramFlags::new(&["--test-cmd", "--build-runner"], &[], "", "");
            if words.get(1).is_some_and(|sub| known.contains(&sub)) {
                option_among(words, flags)
            } else {
                Some(usize::from(words.len() > 1))
            }
        }
        b"stack" => words_among(
            words,
            &["exec", "ghci", "repl", "script", "runghc", "runhaskell", "eval", "ghc", "hoogle"],
        )
        .or_else(|| {
            option_among(words, ProgramFlags::new(&["--exec", "--with-gcc", "--with-hpack"], &[], "", ""))
        })
        .or_else(|| text_among(words, &["-pgm"])),
        b"crystal" => words_among(words, &["eval", "play", "i", "interactive"])
            .or_else(|| (words.len() == 1).then_some(0)),
        _ => Some(0),
    }
}

fn go(words: &CommandWords) -> Option<usize> {
    let is_program = |word: &[u8]| {
        let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-")).unwrap_or_default();
        let name = name.split(|byte| *byte == b'=').next().unwrap_or_default();
        matches!(name, b"exec" | b"toolexec" | b"vettool" | b"overlay")
            || holds(word, b"extld")
            || holds(word, b"-fplugin")
    };
    if let Some((index, _)) = words.arguments().find(|(_, word)| is_program(word)) {
        return Some(index);
    }
    sub_commands(words).find_map(|(index, sub)| match sub {
        b"run" | b"install" | b"tool" => {
            words.arguments().find(|(_, word)| word.contains(&b'@')).map(|(index, _)| index)
        }
        b"env" => words_among(words, &["-w", "-u"]),
        b"bug" | b"telemetry" => Some(index),
        _ => None,
    })
}

/// Options of `uv run` and `uvx` that take a value.
const UV_VALUED: &[&str] = &[
    "--directory",
    "--env-file",
    "--extra",
    "--from",
    "--group",
    "--index",
    "--index-url",
    "--only-group",
    "--package",
    "--project",
    "--python",
    "--with",
    "--with-editable",
    "--with-requirements",
];

/// What is fetched instead of what the command names, and variables that name programs and libraries.
const UV_FROM: ProgramFlags = ProgramFlags::new(&["--from", "--env-file"], &[], "", "");

/// An interpreter that is a file, at this argument: uv starts it to ask for its version. Versions and names of interpreters pass.
fn is_uv_python(words: &CommandWords, at: usize) -> bool {
    let is_version = |value: &[u8]| {
        let names: &[&[u8]] = &[b"python", b"cpython", b"pypy", b"graalpy"];
        let is_named = names.iter().any(|name| value.starts_with(name));
        let begins = is_named || value.first().is_some_and(u8::is_ascii_digit);
        begins && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b".@-+_".contains(byte))
    };
    let value = match words.get(at).unwrap_or_default() {
        b"-p" | b"--python" => words.get(at + 1),
        [b'-', b'p', value @ ..] => Some(value),
        word => word.strip_prefix(b"--python="),
    };
    value.is_some_and(|value| !is_version(value))
}

fn uv(words: &CommandWords, spelled: usize) -> Option<usize> {
    let is_start = |sub: &[u8]| matches!(sub, b"run" | b"x" | b"tool");
    if !sub_commands(words).any(|(_, sub)| is_start(sub)) {
        return words.arguments().find(|(at, _)| is_uv_python(words, *at)).map(|(at, _)| at);
    }
    sub_commands(words).find_map(|(index, sub)| match (sub, words.get(index + 1)) {
        (b"tool", Some(b"run")) => uv_run(words, spelled, index + 2),
        (b"tool", _) => words.arguments().find(|(at, _)| is_uv_python(words, *at)).map(|(at, _)| at),
        (b"run" | b"x", _) => uv_run(words, spelled, index + 1),
        _ => None,
    })
}

fn uv_run(words: &CommandWords, spelled: usize, start: usize) -> Option<usize> {
    let mut skip = false;
    for (at, word) in words.arguments().filter(|(at, _)| *at >= start) {
        if std::mem::take(&mut skip) {
            continue;
        }
        if UV_FROM.has(word) || is_uv_python(words, at) {
            return Some(at);
        }
        match word {
            b"-m" | b"--module" => return launched(words, at + 1, spelled),
            b"-s" | b"--script" | b"--gui-script" | b"-" => return Some(at),
            b"--" => {}
            b"-p" | b"-w" => skip = true,
            [b'-', ..] => skip = UV_VALUED.iter().any(|flag| flag.as_bytes() == word),
            _ => return launched(words, at, spelled),
        }
    }
    Some(start - 1)
}

pub(super) fn bun(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(
        &["--eval", "--import", "--preload", "--print", "--require", "--script-mode"],
        &[],
        "epr",
        "",
    );
    if let Some(index) = option_among(words, flags) {
        return Some(index);
    }
    if let Some(index) = text_among(words, &["://", "npm:", "jsr:", "data:", "blob:"]) {
        return Some(index);
    }
    if let Some(index) =
        words_among(words, &["c", "create", "eval", "exec", "init", "jupyter", "repl", "upgrade", "x"])
    {
        return Some(index);
    }
    let mut rest = words.arguments().filter(|(_, word)| word.first() != Some(&b'-'));
    let (index, sub) = rest.next()?;
    let known: &[&[u8]] = if program(words) == b"bun" {
        &[
            b"add",
            b"audit",
            b"build",
            b"i",
            b"install",
            b"link",
            b"outdated",
            b"patch",
            b"pm",
            b"publish",
            b"remove",
            b"rm",
            b"run",
            b"test",
            b"unlink",
            b"update",
            b"why",
        ]
    } else {
        &[
            b"add",
            b"bench",
            b"cache",
            b"check",
            b"clean",
            b"compile",
            b"coverage",
            b"doc",
            b"fmt",
            b"info",
            b"install",
            b"lint",
            b"outdated",
            b"remove",
            b"run",
            b"task",
            b"test",
        ]
    };
    let is_script =
        [&b".ts"[..], b".js", b".mts", b".mjs", b".tsx", b".jsx"].iter().any(|end| sub.ends_with(end));
    if is_script {
        return None;
    }
    if !known.contains(&sub) {
        return Some(index);
    }
    // What is no script of the package is looked for among all programs.
    if sub == b"run" { rest.next().and_then(|(at, _)| script_or_program(words, at)) } else { None }
}

pub(super) fn python(words: &CommandWords, spelled: usize) -> Option<usize> {
    let module = words_among(words, &["-m"]);
    match module {
        Some(index) if index == 1 => launched(words, index + 1, spelled),
        // Joined to other letters it is not worth reading.
        _ => interpreters::python_module(words),
    }
}
