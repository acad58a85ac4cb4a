//! Containers, clouds and other machines: what runs there, and what would open this one.

use super::super::ProgramFlags;
use super::{option_among, program, words_among};
use crate::words::CommandWords;

/// Where the sub-command stands, behind options of which each is known to take a value or none.
fn sub_command_behind(
    words: &CommandWords,
    start: usize,
    valued: &[&str],
    plain: &[&str],
) -> Result<Option<usize>, usize> {
    let mut at = start;
    while let Some(word) = words.get(at) {
        let is_in = |list: &[&str]| list.iter().any(|known| known.as_bytes() == word);
        let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_joined = name.len() < word.len() && valued.iter().any(|known| known.as_bytes() == name);
        at += match word.first() {
            Some(b'-') if is_in(valued) => 2,
            Some(b'-') if is_in(plain) || is_joined => 1,
            Some(b'-') => return Err(at),
            _ => return Ok(Some(at)),
        };
    }
    Ok(None)
}

pub(super) fn container(words: &CommandWords) -> Option<usize> {
    let plain = &["--version", "--help", "-v", "-h", "-D", "--debug"];
    let compose =
        &["-f", "--file", "-p", "--project-name", "--profile", "--ansi", "--progress", "--parallel"];
    let is_compose = program(words).ends_with(b"-compose");
    let valued: &[&str] = if is_compose { compose } else { &["-l", "--log-level"] };
    let index = match sub_command_behind(words, 1, valued, plain) {
        Ok(index) => index?,
        Err(option) => return Some(option),
    };
    let (index, is_compose) = match words.get(index) {
        Some(b"compose") if !is_compose => match sub_command_behind(words, index + 1, compose, plain) {
            Ok(index) => (index?, true),
            Err(option) => return Some(option),
        },
        _ => (index, is_compose),
    };
    let sub = words.get(index).unwrap_or_default();
    let known: &[&[u8]] = if is_compose {
        &[
            b"build", b"config", b"create", b"down", b"events", b"images", b"kill", b"logs", b"ls", b"pause",
            b"port", b"ps", b"pull", b"push", b"restart", b"rm", b"start", b"stats", b"stop", b"top",
            b"unpause", b"up", b"version", b"wait", b"watch",
        ]
    } else {
        &[
            b"build", b"buildx", b"builder", b"diff", b"events", b"history", b"image", b"images", b"info",
            b"inspect", b"kill", b"logs", b"network", b"pause", b"port", b"ps", b"pull", b"push", b"rename",
            b"restart", b"rm", b"rmi", b"run", b"search", b"start", b"stats", b"stop", b"system", b"tag",
            b"top", b"unpause", b"version", b"volume", b"wait",
        ]
    };
    if !known.contains(&sub) {
        return Some(index);
    }
    if matches!(sub, b"build" | b"buildx" | b"builder") && !is_compose {
        let host = ProgramFlags::new(
            &[
                "--allow",
                "--cgroup-parent",
                "--device",
                "--network",
                "--secret",
                "--security-opt",
                "--ssh",
                "--volume",
            ],
            &["--s"],
            "v",
            "tfoqc",
        );
        return words.arguments().find(|(at, word)| *at > index && host.has(word)).map(|(at, _)| at);
    }
    if sub != b"run" {
        return None;
    }
    // What opens the machine to the container.
    let host = ProgramFlags::new(
        &[
            "--privileged",
            "--volume",
            "--volumes-from",
            "--mount",
            "--device",
            "--device-cgroup-rule",
            "--cap-add",
            "--security-opt",
            "--pid",
            "--ipc",
            "--uts",
            "--userns",
            "--cgroupns",
            "--cgroup-parent",
            "--group-add",
            "--gpus",
            "--runtime",
            "--network",
            "--net",
            "--env-file",
            "--cidfile",
            "--sysctl",
            "--oom-score-adj",
            "--use-api-socket",
            "--annotation",
        ],
        &["--env", "--p", "--publish"],
        "v",
        "pehunwlmca",
    );
    words.arguments().find(|(at, word)| *at > index && host.has(word)).map(|(at, _)| at)
}

pub(super) fn infrastructure(words: &CommandWords) -> Option<usize> {
    let listed = words_among(
        words,
        &["console", "login", "exec", "shell", "ssh", "emulators:exec", "dev:exec", "proxy"],
    );
    let option = || match program(words) {
        b"cdk" => option_among(words, ProgramFlags::new(&["--app", "--build", "--plugin"], &[], "a", "c")),
        b"terragrunt" => {
            option_among(words, ProgramFlags::new(&["--tf-path", "--terragrunt-tfpath"], &["--t"], "", ""))
        }
        b"netlify" => option_among(words, ProgramFlags::new(&["--command"], &["--c"], "c", "")),
        _ => None,
    };
    listed.or_else(option)
}

/// A command on another machine, and nothing here: no settings that name programs, no tunnel, no session for a person.
pub(super) fn ssh(words: &CommandWords) -> Option<usize> {
    const PLAIN: &[&[u8]] = &[
        b"batchmode=",
        b"connecttimeout=",
        b"stricthostkeychecking=",
        b"loglevel=",
        b"serveraliveinterval=",
        b"serveralivecountmax=",
    ];
    let flags = ProgramFlags::new(&[], &[], "FSDLRWJIEwAXYMNfKkgGQBs", "pilcmbeO");
    let mut operands = 0;
    let mut skip: Option<u8> = None;
    for (index, word) in words.arguments() {
        let setting = |text: &[u8]| PLAIN.iter().any(|plain| text.to_ascii_lowercase().starts_with(plain));
        match skip.take() {
            Some(b'o') if !setting(word) => return Some(index),
            Some(_) => continue,
            None => {}
        }
        match word {
            // Options may follow the host.
            _ if operands > 1 => operands += 1,
            [b'-', b'o', rest @ ..] if !rest.is_empty() => {
                if !setting(rest) {
                    return Some(index);
                }
            }
            [b'-', b'o'] => skip = Some(b'o'),
            [b'-', letters @ ..] => {
                if flags.has(word) || letters.contains(&b'o') || letters.first() == Some(&b'-') {
                    return Some(index);
                }
                let valued = letters.iter().position(|letter| b"pilcmbe".contains(letter));
                skip = valued.filter(|at| at + 1 == letters.len()).map(|_| b'p');
            }
            _ => operands += 1,
        }
    }
    // Without a command it is a session for a person.
    (operands < 2).then_some(0)
}
