//! The first word: what a shell would not look up as a program.

use crate::denied::{Denied, Rule};
use crate::words::Words;

/// Words that begin a construct of dash or bash.
const RESERVED: &[&str] = &[
    "!", "[[", "]]", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while", "{", "}",
];

/// Commands that exist inside a shell only, or that mean something else there than the program of that name. Those that are
/// programs too and do the same (`echo`, `printf`, `test`, `true`, `pwd`, `kill`) are not here.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Refuses a first word that is no program's name. Quoting does not help it: that no shell needs to be asked is simpler than
/// which one would have taken it for a name.
pub(crate) fn check(words: &Words) -> Result<(), Denied> {
    let name = words.get(0).unwrap_or_default();
    let refuse = |rule, reason: &'static str, hint: &'static str| {
        Err(Denied::new(rule, name, words.place(0), reason, hint))
    };
    if name.is_empty() {
        return refuse(Rule::CommandName, "the command has no name", "begin with the name of a program");
    }
    if name.contains(&b'=') {
        let hint = "begin with the program; where a variable must be set, set it outside";
        return refuse(Rule::Environment, "variables are not set for one command", hint);
    }
    if matches!(name.first(), Some(b'-' | b'%')) {
        return refuse(Rule::CommandName, "it is not a program's name", "begin with the name of a program");
    }
    let text = std::str::from_utf8(name).unwrap_or_default();
    if RESERVED.binary_search(&text).is_ok() {
        let reason = "it is a word of the shell's language, and there is no shell";
        return refuse(Rule::ReservedWord, reason, "write the command alone, or put this into a script");
    }
    if BUILTINS.binary_search(&text).is_ok() {
        let hint = match text {
            "cd" | "chdir" | "pushd" | "popd" => {
                "the working directory is always the root: pass paths relative to it"
            }
            "export" | "declare" | "typeset" | "readonly" | "unset" => {
                "nothing is kept between calls: leave it out"
            }
            _ => "call the program itself",
        };
        return refuse(Rule::Builtin, "it exists inside a shell only, and there is none", hint);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(RESERVED.is_sorted() && BUILTINS.is_sorted());
    }
}
