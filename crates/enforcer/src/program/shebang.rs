//! The first line of a script, as the kernel reads it (`execve(2)`, `fs/binfmt_script.c`).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// How much of a file the kernel looks at (`BINPRM_BUF_SIZE`).
pub(super) const LONGEST: usize = 256;

/// What a script is to be run by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScriptInterpreter {
    /// By the program at this path.
    Path(PathBuf),
    /// By the program that `env` (first) finds by this name on the PATH.
    Env(PathBuf, OsString),
}

/// Reads the first bytes of a file: `None` where it is not a script, or why it cannot be run.
pub(super) fn read(head: &[u8]) -> Option<Result<ScriptInterpreter, &'static str>> {
    let line = head.get(..LONGEST.min(head.len()))?.strip_prefix(b"#!")?;
    Some(parse_interpreter(line))
}

fn parse_interpreter(line: &[u8]) -> Result<ScriptInterpreter, &'static str> {
    let end = line.iter().position(|byte| *byte == b'\n');
    let text = trim(line.get(..end.unwrap_or(line.len())).unwrap_or_default());
    if text.ends_with(b"\r") {
        return Err(
            "has Windows line ends, so the kernel looks for an interpreter whose name ends in a carriage return; convert it, as by `dos2unix`",
        );
    }
    let path_end = text.iter().position(|byte| is_blank(*byte) || *byte == 0);
    // The kernel cuts arguments off without a word, but not the path.
    if end.is_none() && path_end.is_none() && line.len() + 2 >= LONGEST {
        return Err(
            "names an interpreter in more than the 256 bytes that the kernel reads; use a shorter path",
        );
    }
    let (path, argument) = text.split_at(path_end.unwrap_or(text.len()));
    if path.is_empty() {
        return Err("begins with `#!` but names no interpreter; write one behind it, as in `#!/bin/sh`");
    }
    let path = PathBuf::from(OsStr::from_bytes(path));
    if path.file_name() != Some(OsStr::new("env")) {
        return Ok(ScriptInterpreter::Path(path));
    }
    if end.is_none() && line.len() + 2 >= LONGEST {
        return Err("has a first line longer than the 256 bytes that the kernel reads; shorten it");
    }
    let name = behind_env(trim(argument))?;
    Ok(name.map_or(ScriptInterpreter::Path(path.clone()), |name| ScriptInterpreter::Env(path, name)))
}

/// The program that `env` runs, where its arguments name one. The kernel hands all of them over as one.
fn behind_env(argument: &[u8]) -> Result<Option<OsString>, &'static str> {
    const PARTED: &str =
        "gives `env` more than one argument, which arrive as one; write `env -S` before them";
    let Some(split) = split_string(argument) else {
        return match argument {
            [] => Ok(None),
            [b'-', ..] => {
                Err("gives `env` an option that no program name can follow; write `env -S` before all of it")
            }
            name if name.iter().any(|byte| is_blank(*byte)) => Err(PARTED),
            name if name.contains(&b'=') => {
                Err("only sets a variable and names no program; write `env -S` before all of it")
            }
            name => Ok(Some(OsStr::from_bytes(name).to_owned())),
        };
    };
    if split.iter().any(|byte| b"'\"\\$#".contains(byte)) {
        return Err(
            "gives `env -S` quotes, escapes or variables, which are not read here; name the interpreter plainly",
        );
    }
    let mut words = split.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        match word {
            b"-u" | b"--unset" => {
                words.next();
            }
            b"-i" | b"-" | b"-v" | b"--ignore-environment" | b"--debug" | b"--" | [b'-', b'u', ..] => {}
            word if word.starts_with(b"--unset=") || (word.contains(&b'=') && !word.starts_with(b"-")) => {}
            [b'-', ..] => {
                return Err("gives `env -S` an option that is not known here; name the interpreter plainly");
            }
            word => return Ok(Some(OsStr::from_bytes(word).to_owned())),
        }
    }
    Err("gives `env` no program to run; name one")
}

/// What stands behind `-S`, in any of its spellings.
fn split_string(argument: &[u8]) -> Option<&[u8]> {
    [&b"-S"[..], b"-vS", b"-iS", b"-ivS", b"-viS", b"--split-string=", b"--split-string"]
        .iter()
        .find_map(|option| argument.strip_prefix(*option))
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_path(path: &str) -> ScriptInterpreter {
        ScriptInterpreter::Path(path.into())
    }

    fn by_env(name: &str) -> ScriptInterpreter {
        ScriptInterpreter::Env("/usr/bin/env".into(), name.into())
    }

    #[test]
    fn lines_are_read_as_the_kernel_reads_them() {
        let table = [
            ("#!/bin/sh\n", by_path("/bin/sh")),
            ("#! \t/bin/sh -e \nrest", by_path("/bin/sh")),
            ("#!/bin/sh", by_path("/bin/sh")),
            ("#!bin/python x y\n", by_path("bin/python")),
            ("#!/usr/bin/env\n", by_path("/usr/bin/env")),
            ("#!/usr/bin/env python3\n", by_env("python3")),
            ("#!/usr/bin/env\tpython3 \t\n", by_env("python3")),
            ("#!/usr/bin/env -S python3 -u\n", by_env("python3")),
            ("#!/usr/bin/env -Spython3 -u\n", by_env("python3")),
            ("#!/usr/bin/env --split-string=node --x=1\n", by_env("node")),
            ("#!/usr/bin/env -S -i -u HOME A=1 node\n", by_env("node")),
            ("#!/usr/bin/env -S bin/tool\n", by_env("bin/tool")),
        ];
        for (text, wanted) in table {
            assert_eq!(read(text.as_bytes()), Some(Ok(wanted)), "{text:?}");
        }
        assert_eq!(read(b"\x7fELF"), None);
        assert_eq!(read(b"print(1)"), None);
        assert_eq!(read(b"#"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn lines_that_cannot_work_say_why() {
        let long = format!("#!/{}\n", "x".repeat(300));
        let table = [
            ("#!/bin/sh\r\n", "Windows line ends"),
            ("#!/usr/bin/env python3\r\n", "Windows line ends"),
            ("#!/usr/bin/env -S python3 -u\r\n", "Windows line ends"),
            ("#!\n", "no interpreter"),
            ("#!   ", "no interpreter"),
            (long.as_str(), "256 bytes"),
            ("#!/usr/bin/env python3 -u\n", "env -S"),
            ("#!/usr/bin/env -i python3\n", "env -S"),
            ("#!/usr/bin/env A=1\n", "env -S"),
            ("#!/usr/bin/env -S A=1\n", "no program"),
            ("#!/usr/bin/env -S ${HOME}/x\n", "variables"),
            ("#!/usr/bin/env -S 'a b'\n", "quotes"),
            ("#!/usr/bin/env -S --chdir=/ x\n", "not known"),
        ];
        for (text, wanted) in table {
            let why = read(text.as_bytes()).unwrap().unwrap_err();
            assert!(why.contains(wanted), "{text:?}: {why}");
        }
    }

    #[test]
    fn a_long_argument_is_cut_but_a_path_is_not() {
        let text = format!("#!/bin/sh {}\n", "x".repeat(300));
        assert_eq!(read(text.as_bytes()), Some(Ok(by_path("/bin/sh"))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut script = b"#!".to_vec();
            script.extend(&bytes);
            let answer = read(&script);
            prop_assert!(answer.is_some());
            if let Some(Ok(ScriptInterpreter::Path(path) | ScriptInterpreter::Env(path, _))) = answer {
                prop_assert!(path.as_os_str().len() < LONGEST);
                prop_assert!(!path.as_os_str().is_empty());
                prop_assert!(!path.as_os_str().as_bytes().ends_with(b"\r") || path.as_os_str().len() < bytes.len());
            }
        }

        #[test]
        fn plain_interpreters_come_back(path in "/[a-z/.]{1,60}", blanks in "[ \t]{0,5}", argument in "( -[a-z]{1,8})?") {
            prop_assume!(!path.ends_with("/env"));
            let text = format!("#!{blanks}{path}{argument}\nbody");
            prop_assert_eq!(read(text.as_bytes()), Some(Ok(ScriptInterpreter::Path(path.into()))));
        }
    }
}
