//! Relatives of git.

use super::{CommandEscape, EscapeTrigger, ProgramFlags};

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "hg/setting",
        commands: &["hg", "chg"],
        when: ProgramFlags::both(
            &["--config", "--ssh", "--remotecmd", "--tool", "--cwd", "--repository"],
            "e",
            "",
        ),
        reason: "the option names a program, or a place with settings that do",
        instead: "leave the option out",
        matches: &[
            "hg --config alias.x='!id' x",
            "hg clone -e id x y",
            "hg pull --ssh id",
            "hg pull -ue id",
            "hg --conf=x log",
        ],
        not_matches: &["hg log", "hg commit -m e"],
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
];
