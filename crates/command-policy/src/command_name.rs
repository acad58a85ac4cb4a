//! The first word: what a shell would not look up as a program.

use crate::denied::{CommandDenial, CommandRule};
use crate::words::CommandWords;

/// Words that begin a construct of dash or bash.
fn is_reserved(name: &[u8]) -> bool {
    matches!(
        name,
        b"!" | b"[["
            | b"]]"
            | b"case"
            | b"coproc"
            | b"do"
            | b"done"
            | b"elif"
            | b"else"
            | b"esac"
            | b"fi"
            | b"for"
            | b"function"
            | b"if"
            | b"in"
            | b"select"
            | b"then"
            | b"time"
            | b"until"
            | b"while"
            | b"{"
            | b"}"
    )
}

/// Commands that exist inside a shell only, or that mean something else there than the program of that name. Those that are
/// programs too and do the same (`echo`, `printf`, `test`, `true`, `pwd`, `kill`) are not here.
fn is_builtin(name: &[u8]) -> bool {
    matches!(
        name,
        b"." | b":"
            | b"alias"
            | b"bg"
            | b"bind"
            | b"break"
            | b"builtin"
            | b"caller"
            | b"cd"
            | b"chdir"
            | b"command"
            | b"compgen"
            | b"complete"
            | b"compopt"
            | b"continue"
            | b"declare"
            | b"dirs"
            | b"disown"
            | b"enable"
            | b"eval"
            | b"exec"
            | b"exit"
            | b"export"
            | b"fc"
            | b"fg"
            | b"getopts"
            | b"hash"
            | b"help"
            | b"history"
            | b"jobs"
            | b"let"
            | b"local"
            | b"logout"
            | b"mapfile"
            | b"popd"
            | b"pushd"
            | b"read"
            | b"readarray"
            | b"readonly"
            | b"return"
            | b"set"
            | b"shift"
            | b"shopt"
            | b"source"
            | b"suspend"
            | b"times"
            | b"trap"
            | b"type"
            | b"typeset"
            | b"ulimit"
            | b"umask"
            | b"unalias"
            | b"unset"
            | b"wait"
    )
}

/// Refuses a first word that is not the name of a program. Quoting does not help it: that no shell needs to be asked is simpler than
/// which one would have taken it for a name.
pub(crate) fn check(words: &CommandWords) -> Result<(), CommandDenial> {
    let name = words.get(0).unwrap_or_default();
    let refuse = |rule, reason: &'static str, hint: &'static str| {
        Err(CommandDenial::new(rule, name, words.position(0), reason, hint))
    };
    if name.is_empty() {
        return refuse(
            CommandRule::CommandName,
            "the command has no name",
            "begin with the name of a program",
        );
    }
    if name.contains(&b'=') {
        let hint = "begin with the program; where a variable must be set, set it outside";
        return refuse(CommandRule::Environment, "variables are not set for one command", hint);
    }
    if matches!(name.first(), Some(b'-' | b'%')) {
        return refuse(
            CommandRule::CommandName,
            "it is not a program's name",
            "begin with the name of a program",
        );
    }
    if is_reserved(name) {
        let reason = "it is a keyword of the shell, and no shell runs here";
        return refuse(
            CommandRule::ReservedWord,
            reason,
            "write the command alone, or put this into a script",
        );
    }
    if is_builtin(name) {
        let hint = match name {
            b"cd" | b"chdir" | b"pushd" | b"popd" => {
                "the working directory is always the root: pass paths relative to it"
            }
            b"export" | b"declare" | b"typeset" | b"readonly" | b"unset" => {
                "nothing is kept between calls: leave it out"
            }
            _ => "call the program itself",
        };
        return refuse(CommandRule::Builtin, "it exists only inside a shell, and no shell runs here", hint);
    }
    Ok(())
}
