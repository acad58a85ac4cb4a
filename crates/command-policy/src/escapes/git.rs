//! Git: settings, options and sub-commands that name programs.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, first_operand};
use crate::words::{COLON, CommandWords};

const GIT: &[&str] = &["git", "hub", "git-lfs"];

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "git/setting",
        commands: GIT,
        when: EscapeTrigger::Judge(setting),
        reason: "a setting of git can name a program that is then run (aliases, pagers, hooks, helpers)",
        instead: "leave -c out, or set only user.name, user.email and colours",
        matches: &[
            "git -c alias.x='!id' x",
            "git -c core.pager=id log",
            "git -c core.sshCommand=id fetch",
            "git -ccore.pager=id log",
            "git -c Core.FsMonitor=id status",
            "git --config-env=core.pager=X log",
            "git clone -c core.sshCommand=id url",
            "git clone --config x=y url",
            "git -c include.path=x status",
            "git -c user.name=a -c core.editor=id commit",
            "git --config-e=core.pager=X log",
            "git clone --conf=x url",
        ],
        not_matches: &[
            "git -c user.name=Ada commit -m x",
            "git -c color.ui=always log",
            "git commit -C HEAD",
            "git diff -c",
            "git -c core.quotepath=off status",
        ],
    },
    CommandEscape {
        name: "git/configure",
        commands: GIT,
        when: EscapeTrigger::Judge(configure),
        reason: "a setting of git can name a program that is run by a later command",
        instead: "only read settings: git config --get NAME",
        matches: &[
            "git config alias.x '!id'",
            "git config --global core.pager id",
            "git config --edit",
            "git config set core.pager id",
            "git config -e",
            "git --no-pager config core.pager id",
            "git -C . config a.b c",
        ],
        not_matches: &[
            "git config --get user.name",
            "git config --list",
            "git config -l",
            "git config get user.name",
            "git config list",
            "git config user.name",
        ],
    },
    CommandEscape {
        name: "git/program-option",
        commands: GIT,
        when: ProgramFlags::long(&[
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--exec-path",
            "--extcmd",
            "--ext-diff",
            "--open-files-in-pager",
            "--sendmail-cmd",
            "--smtp-server",
            "--to-cmd",
            "--cc-cmd",
            "--header-cmd",
            "--template",
            "--separate-git-dir",
            "--git-dir",
            "--work-tree",
        ]),
        reason: "the option names a program, or a place where git finds programs to run",
        instead: "leave the option out",
        matches: &[
            "git fetch --upload-pack=id x",
            "git clone --upload-pack id x y",
            "git ls-remote --upl=id x",
            "git rebase --exec id main",
            "git push --receive-pack=id",
            "git grep --open-files-in-pager=id x",
            "git --exec-path=x status",
            "git archive --remote=x --exec=id HEAD",
            "git diff --ext-diff",
            "git init --template=x",
            "git --git-dir=x status",
        ],
        not_matches: &[
            "git fetch origin",
            "git log --oneline",
            "git log --graph",
            "git push --force",
            "git diff --exit-code",
            "git status --no-ahead-behind",
        ],
    },
    CommandEscape {
        name: "git/program-letter",
        commands: GIT,
        when: EscapeTrigger::Judge(letter),
        reason: "the option names a program that is run",
        instead: "leave the option out",
        matches: &[
            "git rebase -x id main",
            "git clone -u id x y",
            "git grep -Oid x",
            "git difftool -yx id",
            "git rebase -i -x id main",
            "git grep -O x",
        ],
        not_matches: &["git push -u origin main", "git grep -n x", "git clone -q url", "git add -u"],
    },
    CommandEscape {
        name: "git/sub-command",
        commands: GIT,
        when: EscapeTrigger::Judge(|words| {
            let runs = subcommand(words).filter(|(_, name)| runs(name.as_bytes())).map(|(index, _)| index);
            // The page opens in a pager.
            let shows_page = |word: &[u8]| word == b"--help";
            let mut arguments = words.arguments().take_while(|(_, word)| *word != b"--");
            runs.or_else(|| arguments.find(|(_, word)| shows_page(word)).map(|(index, _)| index))
        }),
        reason: "the sub-command runs programs, opens an editor or a server, or gives out passwords",
        instead: "use another sub-command",
        matches: &[
            "git bisect run id",
            "git submodule foreach id",
            "git filter-branch",
            "git difftool",
            "git mergetool",
            "git credential fill",
            "git instaweb",
            "git send-email x",
            "git hook run pre-commit",
            "git -C sub bisect run id",
            "git --no-pager submodule foreach id",
            "git shell -c id",
            "git for-each-repo x",
            "git daemon",
            "git upload-pack x",
            "git lfs pull",
            "git flow init",
            "git annex sync",
            "git fsmonitor--daemon start",
            "git help -w log",
            "git branch --help",
        ],
        not_matches: &[
            "git status",
            "git log",
            "git show HEAD",
            "git branch",
            "git stash list",
            "git remote -v",
        ],
    },
    CommandEscape {
        name: "git/address",
        commands: GIT,
        when: EscapeTrigger::Judge(address),
        reason: "such an address is a command that git runs",
        instead: "use an address that begins with https://",
        matches: &[
            "git clone 'ext::sh -c id' x",
            "git fetch fd::17",
            "git remote add x EXT::id",
            "git fetch helper::x",
        ],
        not_matches: &["git clone https://git.example.test/a.git", "git log --format=%h"],
    },
    CommandEscape {
        name: "git/unknown",
        commands: GIT,
        when: EscapeTrigger::Judge(|words| match subcommand(words) {
            Some((index, name)) => {
                (!is_known(name.as_bytes()) && !runs(name.as_bytes()) && name != "config").then_some(index)
            }
            None => None,
        }),
        reason: "what git does not know it looks up as an alias, or as a program called git-…, and runs that",
        instead: "use a sub-command of git's own",
        matches: &["git st", "git x", "git my-script a", "git -C sub pwn"],
        not_matches: &["git status", "git --version", "git rev-parse HEAD", "git cat-file -p HEAD", "git"],
    },
    CommandEscape {
        name: "git/strategy",
        commands: GIT,
        when: EscapeTrigger::Judge(strategy),
        reason: "a strategy that git does not know is a program called git-merge-…, also in a folder of that name",
        instead: "use a strategy of git's own: ort, recursive, resolve, octopus, ours or subtree",
        matches: &[
            "git cherry-pick --strategy=x/y main",
            "git rebase -s x/y main",
            "git rebase -qsx main",
            "git revert --strat x HEAD",
            "git merge -s x main",
        ],
        not_matches: &[
            "git merge -s ours main",
            "git rebase --strategy=ort main",
            "git cherry-pick -s HEAD",
            "git commit -s -m x",
            "git status -s",
            "git rebase --strategy-option=theirs main",
        ],
    },
    CommandEscape {
        name: "git/elsewhere",
        commands: GIT,
        when: EscapeTrigger::Judge(elsewhere),
        reason: "a repository in another folder has settings of its own, which name programs that any sub-command runs",
        instead: "leave -C out, and name paths instead: git log -- DIR",
        matches: &["git -C evil status", "git -C . -C evil log", "git --no-pager -C ./x diff"],
        not_matches: &[
            "git -C . status",
            "git -C ./ log",
            "git commit -C HEAD",
            "git diff -C",
            "git log -- sub",
        ],
    },
];

/// Sub-commands that run what they are given, or what a file says.
fn runs(name: &[u8]) -> bool {
    matches!(
        name,
        b"annex"
            | b"archimport"
            | b"bisect"
            | b"citool"
            | b"credential"
            | b"credential-cache"
            | b"credential-store"
            | b"cvsexportcommit"
            | b"cvsimport"
            | b"cvsserver"
            | b"daemon"
            | b"difftool"
            | b"fast-import"
            | b"filter-branch"
            | b"flow"
            | b"for-each-repo"
            | b"fsmonitor--daemon"
            | b"gitk"
            | b"gitweb"
            | b"gui"
            | b"help"
            | b"hook"
            | b"http-backend"
            | b"imap-send"
            | b"instaweb"
            | b"lfs"
            | b"maintenance"
            | b"merge-index"
            | b"mergetool"
            | b"p4"
            | b"quiltimport"
            | b"receive-pack"
            | b"remote-ext"
            | b"remote-fd"
            | b"request-pull"
            | b"scalar"
            | b"send-email"
            | b"send-pack"
            | b"sh-i18n"
            | b"shell"
            | b"submodule"
            | b"svn"
            | b"upload-archive"
            | b"upload-pack"
            | b"var"
            | b"web--browse"
    )
}

/// Git's own other sub-commands: everything else is an alias or a program.
#[allow(clippy::too_many_lines)] // it is a list
fn is_known(name: &[u8]) -> bool {
    matches!(
        name,
        b"add"
            | b"am"
            | b"annotate"
            | b"apply"
            | b"archive"
            | b"backfill"
            | b"blame"
            | b"branch"
            | b"bugreport"
            | b"bundle"
            | b"cat-file"
            | b"check-attr"
            | b"check-ignore"
            | b"check-mailmap"
            | b"check-ref-format"
            | b"checkout"
            | b"checkout-index"
            | b"cherry"
            | b"cherry-pick"
            | b"clean"
            | b"clone"
            | b"column"
            | b"commit"
            | b"commit-graph"
            | b"commit-tree"
            | b"count-objects"
            | b"describe"
            | b"diagnose"
            | b"diff"
            | b"diff-files"
            | b"diff-index"
            | b"diff-tree"
            | b"fast-export"
            | b"fetch"
            | b"fetch-pack"
            | b"fmt-merge-msg"
            | b"for-each-ref"
            | b"format-patch"
            | b"fsck"
            | b"gc"
            | b"get-tar-commit-id"
            | b"grep"
            | b"hash-object"
            | b"index-pack"
            | b"init"
            | b"interpret-trailers"
            | b"log"
            | b"ls-files"
            | b"ls-remote"
            | b"ls-tree"
            | b"mailinfo"
            | b"mailsplit"
            | b"merge"
            | b"merge-base"
            | b"merge-file"
            | b"merge-tree"
            | b"mktag"
            | b"mktree"
            | b"multi-pack-index"
            | b"mv"
            | b"name-rev"
            | b"notes"
            | b"pack-objects"
            | b"pack-refs"
            | b"patch-id"
            | b"prune"
            | b"pull"
            | b"push"
            | b"range-diff"
            | b"read-tree"
            | b"rebase"
            | b"reflog"
            | b"refs"
            | b"remote"
            | b"repack"
            | b"replace"
            | b"replay"
            | b"rerere"
            | b"reset"
            | b"restore"
            | b"rev-list"
            | b"rev-parse"
            | b"revert"
            | b"rm"
            | b"shortlog"
            | b"show"
            | b"show-branch"
            | b"show-index"
            | b"show-ref"
            | b"sparse-checkout"
            | b"stage"
            | b"stash"
            | b"status"
            | b"stripspace"
            | b"switch"
            | b"symbolic-ref"
            | b"tag"
            | b"unpack-file"
            | b"unpack-objects"
            | b"update-index"
            | b"update-ref"
            | b"verify-commit"
            | b"verify-pack"
            | b"verify-tag"
            | b"version"
            | b"whatchanged"
            | b"worktree"
            | b"write-tree"
    )
}

/// The sub-command, behind git's own options.
fn subcommand(words: &CommandWords) -> Option<(usize, &str)> {
    let (index, _) = first_operand(
        words,
        "cC",
        &[
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--config-env",
            "--exec-path",
            "--super-prefix",
            "--list-cmds",
            "--attr-source",
        ],
    )?;
    Some((index, std::str::from_utf8(words.get(index)?).unwrap_or_default()))
}

/// A way to merge that is not git's own.
fn strategy(words: &CommandWords) -> Option<usize> {
    const OWN: &[&[u8]] = &[b"ort", b"recursive", b"resolve", b"octopus", b"ours", b"subtree"];
    let (index, name) = subcommand(words)?;
    let is_long = matches!(name, "cherry-pick" | "merge" | "pull" | "rebase" | "revert");
    let is_short = matches!(name, "merge" | "pull" | "rebase");
    let mut arguments =
        words.arguments().filter(|(at, _)| *at > index).take_while(|(_, word)| *word != b"--");
    arguments
        .find(|(at, word)| {
            let next = || words.get(at + 1).unwrap_or_default();
            let value = match word {
                [b'-', b'-', text @ ..] if is_long => {
                    let mut parts = text.splitn(2, |byte| *byte == b'=');
                    let name = parts.next().unwrap_or_default();
                    // Shorter, it could be `--stat` as well.
                    (name.len() >= 4 && b"strategy".starts_with(name))
                        .then(|| parts.next().unwrap_or_else(next))
                }
                [b'-', letters @ ..] if is_short => {
                    // What follows one of these letters is its value.
                    let at = letters.iter().position(|letter| b"smXxCSFj".contains(letter));
                    let is_one = at.is_some_and(|at| letters.get(at) == Some(&b's'));
                    let rest = at.and_then(|at| letters.get(at + 1..)).unwrap_or_default();
                    is_one.then(|| if rest.is_empty() { next() } else { rest })
                }
                _ => None,
            };
            value.is_some_and(|value| !OWN.contains(&value))
        })
        .map(|(at, _)| at)
}

/// Another folder than this one, in front of the sub-command.
fn elsewhere(words: &CommandWords) -> Option<usize> {
    let end = subcommand(words).map_or(words.len(), |(index, _)| index);
    let mut arguments = words.arguments().take_while(|(index, _)| *index < end);
    arguments
        .find(|(index, word)| *word == b"-C" && !matches!(words.get(index + 1), Some(b"." | b"./" | b"")))
        .map(|(index, _)| index)
}

/// Settings that name no program.
const HARMLESS: &[&str] = &[
    "user.name",
    "user.email",
    "core.quotepath",
    "core.autocrlf",
    "core.eol",
    "init.defaultbranch",
    "core.abbrev",
    "log.date",
    "diff.renames",
    "commit.gpgsign",
    "tag.gpgsign",
];

fn setting(words: &CommandWords) -> Option<usize> {
    let end = subcommand(words).map_or(words.len(), |(index, _)| index);
    let clones = matches!(subcommand(words), Some((_, "clone")));
    let mut value_of_c = false;
    for (index, word) in words.arguments() {
        if std::mem::take(&mut value_of_c) {
            if !is_harmless(word) {
                return Some(index);
            }
            continue;
        }
        if index >= end && !clones {
            return None;
        }
        let long = ProgramFlags::new(&["--config", "--config-env"], &[], "", "");
        match word {
            b"-c" => value_of_c = true,
            [b'-', b'c', value @ ..] if !is_harmless(value) => return Some(index),
            _ if long.has(word) => return Some(index),
            // Behind other letters of `clone`.
            [b'-', letters @ ..]
                if clones && index > end && letters.first() != Some(&b'-') && letters.contains(&b'c') =>
            {
                return Some(index);
            }
            _ => {}
        }
    }
    None
}

fn is_harmless(setting: &[u8]) -> bool {
    let key = setting.split(|byte| *byte == b'=').next().unwrap_or_default().to_ascii_lowercase();
    HARMLESS.iter().any(|known| known.as_bytes() == key)
        || key.starts_with(b"color.")
        || key.starts_with(b"advice.")
}

/// What makes `git config` read.
const READS: &[&[u8]] = &[
    b"--get",
    b"--get-all",
    b"--get-regexp",
    b"--get-urlmatch",
    b"--list",
    b"-l",
    b"get",
    b"list",
    b"--get-color",
    b"--get-colorbool",
];
/// What does not matter for that.
const SCOPES: &[&[u8]] = &[
    b"--local",
    b"--global",
    b"--system",
    b"--worktree",
    b"--show-origin",
    b"--show-scope",
    b"--null",
    b"-z",
    b"--name-only",
    b"--includes",
    b"--no-includes",
];

/// `git config` may only read.
fn configure(words: &CommandWords) -> Option<usize> {
    let (index, "config") = subcommand(words)? else { return None };
    let mut rest =
        words.arguments().skip_while(|(at, _)| *at <= index).filter(|(_, word)| !SCOPES.contains(word));
    match rest.next() {
        None => Some(index),
        Some((_, word)) if READS.contains(&word) => None,
        // A name alone is read.
        Some((at, word)) if word.first() != Some(&b'-') && word.contains(&b'.') => rest.next().map(|_| at),
        Some((at, _)) => Some(at),
    }
}

/// Options of one letter that name a program, where the sub-command has them.
fn letter(words: &CommandWords) -> Option<usize> {
    let (index, name) = subcommand(words)?;
    let flags = match name {
        "rebase" => ProgramFlags::new(&[], &[], "x", "sXCS"),
        "clone" => ProgramFlags::new(&[], &[], "u", "bojc"),
        "grep" => ProgramFlags::new(&[], &[], "O", "eABCfm"),
        "difftool" => ProgramFlags::new(&[], &[], "x", "t"),
        _ => return None,
    };
    words.arguments().find(|(at, word)| *at > index && flags.has(word)).map(|(at, _)| at)
}

/// `helper::address` is handed to the program `git-remote-helper`.
fn address(words: &CommandWords) -> Option<usize> {
    let mut with_colon = words.noted().filter(|(_, _, notes)| notes & COLON != 0);
    with_colon.find(|(_, word, _)| word.windows(2).any(|two| two == b"::")).map(|(index, _, _)| index)
}
