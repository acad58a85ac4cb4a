//! Shells, and programs whose only work is to start another one.

use super::{Escape, Flags, When};
use crate::words::Words;

const INSTEAD: &str = "call the program itself";

const fn wrapper(
    name: &'static str,
    commands: &'static [&'static str],
    reason: &'static str,
    matches: &'static [&'static str],
) -> Escape {
    Escape { name, commands, when: When::Always, reason, instead: INSTEAD, matches, not_matches: &[] }
}

const SHELLS: &[&str] = &[
    "ash",
    "bash",
    "csh",
    "dash",
    "elvish",
    "fish",
    "ksh",
    "lksh",
    "mksh",
    "nu",
    "oksh",
    "posh",
    "powershell",
    "pwsh",
    "rbash",
    "rc",
    "sh",
    "tcsh",
    "xonsh",
    "yash",
    "zsh",
];

pub(super) const ENTRIES: &[Escape] = &[
    Escape {
        name: "shell/command",
        commands: SHELLS,
        when: When::Judge(shell_text),
        reason: "the text of an argument, or of standard input, would be run as a script",
        instead: "call the program itself, or put the script into a file of the root and run that",
        matches: &[
            "sh -c 'id; id'",
            "bash -lc id",
            "dash -ec id",
            "bash --command id",
            "zsh -c id",
            "bash -i",
            "sh",
            "sh -s x",
            "fish -C id",
            "fish --init-command=id",
            "bash --rcfile x -i",
            "bash --init-file x y.sh",
            "bash -o posix -c id",
            "pwsh -EncodedCommand aQBkAA",
            "bash -",
            "bash +c id",
            "bash -O extglob -c id",
            "pwsh -e aQBkAA",
            "pwsh -ep bypass -c id",
            "fish -f x -c id",
            "nu -e id",
            "bash5 -c id",
            "bash -o posix",
        ],
        not_matches: &[
            "bash scripts/run.sh",
            "sh -e scripts/run.sh -c",
            "bash --norc scripts/run.sh a b",
            "sh -- run.sh",
            "bash -eux run.sh",
            "bash --version",
        ],
    },
    wrapper(
        "wrapper/env",
        &["env", "printenv"],
        "it starts another program with variables of its own, or prints those that hold secrets",
        &["env FOO=1 git status", "env", "env -S 'sh -c id'", "printenv HOME"],
    ),
    wrapper(
        "wrapper/xargs",
        &["xargs", "parallel", "rush", "sem", "env_parallel"],
        "it starts other programs, with arguments nobody sees",
        &["xargs rm", "parallel echo", "xargs -a list sh -c id"],
    ),
    wrapper(
        "wrapper/time-and-priority",
        &[
            "chrt",
            "cpulimit",
            "hyperfine",
            "ionice",
            "linux32",
            "linux64",
            "nice",
            "nohup",
            "numactl",
            "prlimit",
            "setarch",
            "setsid",
            "softlimit",
            "stdbuf",
            "taskset",
            "timelimit",
            "timeout",
            "timeout3",
            "unbuffer",
        ],
        "it starts another program",
        &["nice git gc", "timeout 5 id", "nohup id", "stdbuf -o0 id", "hyperfine id"],
    ),
    wrapper(
        "wrapper/other-user",
        &[
            "chroot",
            "doas",
            "fakeroot",
            "gosu",
            "machinectl",
            "newgrp",
            "nsenter",
            "pkexec",
            "proot",
            "run0",
            "runuser",
            "setpriv",
            "setuidgid",
            "sg",
            "su",
            "su-exec",
            "sudo",
            "sudoedit",
            "sudo-rs",
            "unshare",
        ],
        "it starts another program, as another user or in another world",
        &["sudo id", "su -c id", "unshare -r id", "chroot . id"],
    ),
    wrapper(
        "wrapper/sandbox",
        &[
            "apptainer",
            "bwrap",
            "capsh",
            "firejail",
            "flatpak",
            "nsjail",
            "singularity",
            "snap",
            "systemd-nspawn",
        ],
        "it starts another program",
        &["bwrap --ro-bind . . id", "capsh -- -c id", "firejail id"],
    ),
    wrapper(
        "wrapper/later",
        &[
            "at",
            "batch",
            "cron",
            "crontab",
            "daemon",
            "daemonize",
            "dtach",
            "entr",
            "incrontab",
            "initctl",
            "launchctl",
            "screen",
            "service",
            "start-stop-daemon",
            "supervisord",
            "systemctl",
            "systemd-run",
            "tmux",
            "tmate",
            "watch",
            "watchexec",
            "zellij",
            "nodemon",
            "abduco",
            "anacron",
            "runit",
            "s6-svscan",
        ],
        "it starts another program, later or in the background",
        &["watch id", "tmux new -d id", "crontab jobs", "systemd-run id", "at -f job now"],
    ),
    wrapper(
        "wrapper/trace",
        &[
            "bpftrace",
            "gdb",
            "gdbserver",
            "heaptrack",
            "lldb",
            "ltrace",
            "perf",
            "rr",
            "strace",
            "uftrace",
            "valgrind",
            "cgdb",
            "catchsegv",
            "dtrace",
            "stap",
        ],
        "it starts another program, and can change what it does",
        &["strace id", "gdb -batch -ex 'shell id'", "perf record id", "valgrind id"],
    ),
    wrapper(
        "wrapper/terminal",
        &[
            "cage",
            "dbus-launch",
            "dbus-run-session",
            "expect",
            "gnome-terminal",
            "konsole",
            "open",
            "reptyr",
            "script",
            "scriptreplay",
            "unbuffer",
            "xdg-open",
            "xterm",
            "xvfb-run",
            "rlwrap",
            "socksify",
            "proxychains",
            "torsocks",
            "tsocks",
            "catatonit",
            "dumb-init",
            "tini",
            "flock",
            "lockfile-create",
            "setlock",
            "chpst",
            "envdir",
            "cgexec",
            "ssh-agent",
            "gpg-agent",
            "dbus-send",
            "gdbus",
            "busctl",
            "faketime",
            "eatmydata",
            "direnv",
            "mise",
            "asdf",
            "chezmoi",
            "op",
            "vault",
            "doppler",
            "aws-vault",
            "run-parts",
            "run-one",
            "ld.so",
            "ld-linux-x86-64.so",
            "ld-musl-x86_64.so",
            "logsave",
            "multitime",
            "pexec",
            "pwntools",
            "unitexec",
        ],
        "it starts another program",
        &["script -c id out", "expect -c 'spawn id'", "flock lock id", "xdg-open x", "run-parts hooks"],
    ),
    wrapper(
        "wrapper/many-in-one",
        &["busybox", "toybox", "coreutils", "sbase-box", "ubase-box"],
        "it is every program in one, a shell among them",
        &["busybox sh", "toybox find . -exec id"],
    ),
    Escape {
        name: "wrapper/linker",
        commands: &["ld-linux", "ldd"],
        when: When::Always,
        reason: "it starts the program it is given",
        instead: INSTEAD,
        matches: &["ldd x", "ld-linux x"],
        not_matches: &[],
    },
    Escape {
        name: "test/subscript",
        commands: &["test", "[", "printf"],
        when: When::Judge(|words| {
            // `printf` takes it joined as well.
            let variable = |word: &[u8]| word.starts_with(b"-v") || word == b"-R";
            words.arguments().find(|(_, word)| variable(word)).map(|(index, _)| index)
        }),
        reason: "bash takes what follows for a variable, and runs `$(…)` in its subscript, quoted or not",
        instead: "leave the option out",
        matches: &[
            "test -v 'a[$(id)]'",
            "'[' -v 'a[$(id)]' ]",
            "printf -v 'a[$(id)]' x",
            "printf -v'a[$(id)]' x",
            "test -R x",
        ],
        not_matches: &["test -f file", "printf %s x", "'[' a = b ]"],
    },
    Escape {
        name: "sort/compress-program",
        commands: &["sort", "gsort"],
        when: Flags::long(&["--compress-program"]),
        reason: "it starts the program it is given",
        instead: "leave the option out",
        matches: &["sort --compress-program=x big", "sort --comp x big"],
        not_matches: &["sort -k2 big", "sort --check big"],
    },
    Escape {
        name: "split/filter",
        commands: &["split", "gsplit"],
        when: Flags::long(&["--filter"]),
        reason: "it gives its pieces to a shell",
        instead: "write the pieces to files",
        matches: &["split --filter='sh x' big", "split --f=x big"],
        not_matches: &["split -n 3 big"],
    },
];

/// Shells whose options are those of POSIX.
const POSIX: &[&[u8]] =
    &[b"ash", b"bash", b"dash", b"ksh", b"lksh", b"mksh", b"oksh", b"posh", b"rbash", b"sh", b"yash", b"zsh"];

/// A shell is fine with a file to run; without one it reads standard input, and with `-c` an argument. Options that only make it
/// stricter or louder may stand before the file.
fn shell_text(words: &Words) -> Option<usize> {
    let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?.to_ascii_lowercase();
    let posix = POSIX.iter().any(|name| file.starts_with(name));
    let mut skip = false;
    for (index, word) in words.arguments() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word {
            b"--" => return if words.get(index + 1).is_some() { None } else { Some(index) },
            b"--version" | b"--help" if words.len() == 2 => return None,
            b"-o" | b"+o" | b"-O" | b"+O" if posix => skip = true,
            b"--norc" | b"--noprofile" | b"--posix" | b"--restricted" | b"--verbose" if posix => {}
            [b'-' | b'+', letters @ ..] => {
                let harmless =
                    posix && !letters.is_empty() && letters.iter().all(|letter| b"euxvn".contains(letter));
                if !harmless {
                    return Some(index);
                }
            }
            _ => return None,
        }
    }
    Some(0)
}
