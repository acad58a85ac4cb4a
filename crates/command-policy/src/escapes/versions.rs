//! Relatives of git.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, find};
use crate::words::CommandWords;

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "hg/setting",
        commands: &["hg", "chg"],
        when: ProgramFlags::both(
            &["--config", "--ssh", "--remotecmd", "--tool", "--cwd", "--repository"],
            "eR",
            "mrXIl",
        ),
        reason: "the option names a program, or a place with settings that do",
        instead: "leave the option out",
        matches: &[
            "hg --config alias.x='!id' x",
            "hg clone -e id x y",
            "hg pull --ssh id",
            "hg pull -ue id",
            "hg --conf=x log",
            "hg -R x log",
        ],
        not_matches: &["hg log", "hg commit -m e", "hg commit -mRelease"],
    },
    CommandEscape {
        name: "hg/command",
        commands: &["hg", "chg"],
        when: EscapeTrigger::Judge(|words| {
            // Commands are taken shortened.
            let (index, name) = words.arguments().find(|(_, word)| word.first() != Some(&b'-'))?;
            let command = |word: &[u8]| matches!(word, [b'-', b'c', ..] | [b'-', b'-', b'c', ..]);
            let mut later = words.arguments().filter(|(at, _)| *at > index);
            match name {
                _ if b"bisect".starts_with(name) && name.len() > 1 => {
                    later.find(|(_, word)| command(word)).map(|(at, _)| at)
                }
                _ if name.starts_with(b"ext") || name.starts_with(b"debug") => Some(index),
                _ => None,
            }
        }),
        reason: "the sub-command runs a program",
        instead: "use another sub-command",
        matches: &["hg bisect -c id", "hg bis --command id", "hg extdiff -p id", "hg debugshell"],
        not_matches: &["hg bisect --good", "hg log -r tip"],
    },
    CommandEscape {
        name: "svn/setting",
        commands: &["svn", "svnadmin"],
        when: ProgramFlags::long(&[
            "--config-option",
            "--config-dir",
            "--diff-cmd",
            "--diff3-cmd",
            "--editor-cmd",
        ]),
        reason: "the option names a program that is run",
        instead: "leave the option out",
        matches: &[
            "svn diff --diff-cmd id",
            "svn up --config-option=config:tunnels:x=id",
            "svn ci --editor-cmd=id",
        ],
        not_matches: &["svn diff", "svn log --limit 3"],
    },
    CommandEscape {
        name: "gh/alias",
        commands: &["gh", "glab"],
        when: EscapeTrigger::Subcommand(&[
            "alias",
            "extension",
            "ext",
            "codespace",
            "cs",
            "auth",
            "config",
            "browse",
            "copilot",
        ]),
        reason: "it sets up programs to be run, or gives out tokens",
        instead: "use another sub-command",
        matches: &["gh alias set x '!id'", "gh extension install x", "gh auth token"],
        not_matches: &["gh pr list", "gh issue view 3"],
    },
    CommandEscape {
        name: "gh/git-option",
        commands: &["gh", "glab"],
        when: EscapeTrigger::Judge(|words| {
            // What follows is handed to `git clone`.
            let (dashes, _) = words.arguments().find(|(_, word)| *word == b"--")?;
            let handed = [&b"git"[..], b"clone"].into_iter().chain(words.iter().skip(dashes + 1));
            find(&CommandWords::from_argv(handed), &[], 0).map(|_| dashes + 1)
        }),
        reason: "the option is git's, and names a program or settings that do",
        instead: "leave the option out",
        matches: &[
            "gh repo clone x -- --upload-pack=id",
            "gh repo clone x -- -u id",
            "gh gist clone x -- -c a.b=c",
        ],
        not_matches: &["gh repo clone x -- --depth=1", "gh repo clone x"],
    },
];
