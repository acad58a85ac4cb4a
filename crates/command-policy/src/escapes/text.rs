//! Tools for text whose arguments are programs of their own: awk, sed, jq, SQL shells.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, holds};
use crate::words::CommandWords;

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "awk/code",
        commands: &["awk", "gawk", "mawk", "nawk", "original-awk", "goawk", "frawk", "bwk"],
        when: EscapeTrigger::Judge(awk_code),
        reason: "`system()`, pipes, redirections and extensions in a program for awk run others and write files",
        instead: "let it only print, or put it into a file of the root and use -f",
        matches: &[
            "awk 'BEGIN{system(\"id\")}'",
            "awk '{print | \"sh\"}' f",
            "awk '{\"id\" | getline}' f",
            "gawk '@load \"x\"' f",
            "awk '{print > $1}' f",
            "gawk -l x '{}' f",
            "gawk -i inplace '{}' f",
            "gawk --load=x '{}' f",
            "awk '{system (\"id\")}' f",
            "gawk '{@f()}' f",
            "gawk -e 'BEGIN{system(\"id\")}' f",
            "gawk -f x -e '{print|\"sh\"}' f",
            "gawk --include x f",
            "awk 'BEGIN{getline < \"x\"}'",
            "gawk -D '{}' f",
            "gawk --assign a=b 'BEGIN{system(\"id\")}'",
        ],
        not_matches: &[
            "awk '{print $1}' f",
            "awk -F, '{s += $2} END {print s}' f",
            "awk -f prog.awk f",
            "awk '{print $2}' system.log",
            "awk '$1 == 2 || $3 {print}' f",
            "awk -v 'x=a|b' '{print x}' f",
        ],
    },
    CommandEscape {
        name: "sed/execute",
        commands: &["sed", "gsed", "ssed"],
        when: EscapeTrigger::Judge(sed_code),
        reason: "the commands `e`, `r`, `R`, `w` and `W` of a script for sed run others, and read and write files",
        instead: "use only editing commands, with `s` separated by plain characters, and --sandbox where sed has it",
        matches: &[
            "sed 1e f",
            "sed 's/a/b/e' f",
            "sed 'e id' f",
            "sed '1!e id' f",
            "sed 's/a/b/;s/c/id/ge' f",
            "sed -n '1,5e' f",
            "sed 'w out' f",
            "sed 'r in' f",
            "sed -e 's,a,b,e' f",
            "sed --expression='s|x|id|e' f",
            "sed 's/a/b/w out' f",
            "sed '$e id' f",
            "sed '{e id' f",
            "sed -ne 1e f",
            "sed 's/[/]/x/e' f",
            "sed 'y/a/b/;e id' f",
            "sed --exp=1e f",
            "sed -l 5 1e f",
            "sed --line-length 5 1e f",
            "sed -- 1e --sandbox",
            "sed -i '' 'w out' f",
            "sed 'sxaxidxe' f",
            "sed '\\,a,e id' f",
        ],
        not_matches: &[
            "sed 's/one/two/g' f",
            "sed -n 3p f",
            "sed -i 's,a,e,' f",
            "sed --sandbox 1e f",
            "sed -e 's/e/w/' f",
            "sed 3d f",
            "sed -- 3d f",
            "sed -f edit.sed f",
            "sed 'y/e/w/' f",
            "sed -E 's/(a)(b)/\\2\\1/2g' f",
        ],
    },
    CommandEscape {
        name: "sql/shell",
        commands: &[
            "sqlite",
            "psql",
            "mysql",
            "mariadb",
            "duckdb",
            "mongo",
            "mongosh",
            "redis-cli",
            "sqlcmd",
            "isql",
            "clickhouse",
            "cqlsh",
        ],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(
                &["--init", "--file", "--eval", "--init-command", "--load", "--cmd"],
                &[],
                "f",
                "cehpuUdPD",
            );
            let init: &[&[u8]] = &[b"-init", b"-cmd"];
            let signs: &[&str] = &[
                ".shell",
                ".system",
                ".import",
                ".load",
                ".read",
                ".once",
                ".output",
                ".excel",
                ".edit",
                "load_extension",
                "\\!",
                "system ",
                "system\t",
                "program '",
                "to program",
                "from program",
                "| ",
                "edit(",
                "writefile",
                "readfile",
                "fts3_tokenizer",
            ];
            words
                .arguments()
                .find(|(_, word)| {
                    flags.has(word)
                        || init.contains(word)
                        || signs.iter().any(|sign| holds(word, sign.as_bytes()))
                        || is_client_command(words, word)
                })
                .map(|(index, _)| index)
        }),
        reason: "its own commands start a shell, and load code",
        instead: "send plain SQL only",
        matches: &[
            "sqlite3 a.db '.shell id'",
            "psql -c '\\! id'",
            "mysql -e 'system id'",
            "psql -f x.sql",
            "sqlite3 -init x a.db",
            "psql -c \"COPY t FROM PROGRAM 'id'\"",
            "sqlite3 -cmd x a.db",
            "duckdb -c \"select 1\" -init x",
            "sqlite3 a.db '.sh id'",
            "sqlite3 a.db '.o |sh'",
            "psql -o '|sh'",
            "psql -c '\\echo `id`'",
        ],
        not_matches: &[
            "sqlite3 a.db 'select * from t'",
            "sqlite3 a.db '.schema users'",
            "sqlite3 ./a.db .tables",
            "psql -c 'select 1'",
            "psql -c '\\dt'",
            "psql -o out.txt -c \"select a from t where c ~ '\\w'\"",
        ],
    },
    CommandEscape {
        name: "jq/module",
        commands: &["jq", "gojq", "jaq", "yq"],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(&["--library-path"], &[], "L", "");
            words
                .arguments()
                .find(|(_, word)| {
                    flags.has(word)
                        || [&b"$ENV"[..], b"env.", b"load(", b"import ", b"include ", b"input_filename"]
                            .iter()
                            .any(|sign| holds(word, sign))
                        || *word == b"env"
                        || word.ends_with(b"|env")
                })
                .map(|(index, _)| index)
        }),
        reason: "it would print variables that hold secrets, or load code from a file",
        instead: "name the fields of the input",
        matches: &[
            "jq -n env",
            "jq -n '$ENV.HOME'",
            "jq -L lib .a f",
            "jq -n 'env.PATH'",
            "yq 'load(\"x\")' f",
            "jq --library-path x .a f",
        ],
        not_matches: &[
            "jq .a.b f.json",
            "jq -r '.[] | select(.a != 1) | .name' f.json",
            "jq '.environment' f.json",
        ],
    },
];

/// Every argument may be the program, but for the values of `-v` and `-F`.
fn awk_code(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(&["--load", "--include", "--exec", "--debug"], &[], "liED", "Fvf");
    let mut value = false;
    for (index, word) in words.arguments() {
        let is_value = std::mem::take(&mut value);
        match word {
            _ if flags.has(word) => return Some(index),
            b"-v" | b"-F" | b"--assign" | b"--field-separator" => value = true,
            [b'-', b'v' | b'F', ..] => {}
            _ if !is_value && awk_acts(word) => return Some(index),
            _ => {}
        }
    }
    None
}

/// A command of the client itself that does more than show: clients take them shortened, so only whole names that are known pass.
fn is_client_command(words: &CommandWords, word: &[u8]) -> bool {
    const DOTTED: &[&[u8]] = &[
        b".bail",
        b".changes",
        b".columns",
        b".databases",
        b".dbinfo",
        b".dump",
        b".echo",
        b".eqp",
        b".exit",
        b".explain",
        b".fullschema",
        b".header",
        b".headers",
        b".help",
        b".indexes",
        b".indices",
        b".lint",
        b".mode",
        b".nullvalue",
        b".print",
        b".quit",
        b".schema",
        b".separator",
        b".sha3sum",
        b".show",
        b".stats",
        b".tables",
        b".timeout",
        b".timer",
        b".version",
        b".width",
    ];
    let file = words.get(0).unwrap_or_default().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is = |names: &[&str]| {
        names.iter().any(|name| super::without_version(file).eq_ignore_ascii_case(name.as_bytes()))
    };
    let value = |letters: &[u8]| {
        let joined = word.iter().position(|byte| *byte == b'=').filter(|_| word.starts_with(b"--"));
        let short = word.iter().position(|byte| letters.contains(byte)).filter(|_| word.starts_with(b"-"));
        let start = joined.or(short).map_or(0, |at| at + 1);
        word.get(start..).unwrap_or_default().trim_ascii_start()
    };
    if is(&["sqlite", "duckdb"]) {
        return word.split(|byte| matches!(byte, b'\n' | b'\r')).any(|line| {
            let line = line.trim_ascii();
            let name = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            matches!(name, [b'.', b'a'..=b'z' | b'A'..=b'Z', ..]) && !DOTTED.contains(&name)
        });
    }
    let command = value(b"coLe");
    if is(&["psql"]) {
        // One command of its own at a time, and nothing but SQL otherwise.
        let shows = matches!(command, [b'\\', b'd' | b'l' | b'z' | b'x' | b'h' | b'?', ..]);
        return command.starts_with(b"|")
            || word.trim_ascii_start().starts_with(b"|")
            || (command.starts_with(b"\\")
                && (!shows || command.contains(&b'`') || command.contains(&b'|')));
    }
    let sourced = || {
        let mut statements = command.split(|byte| matches!(byte, b';' | b'\n'));
        statements.any(|part| {
            let first = part.trim_ascii().split(u8::is_ascii_whitespace).next().unwrap_or_default();
            first.eq_ignore_ascii_case(b"source") || first.eq_ignore_ascii_case(b"pager")
        }) || holds(command, b"\\.")
    };
    is(&["mysql", "mariadb"]) && sourced()
}

/// Whether a program for awk may start others or touch files. `||` and `>` in a comparison are told apart roughly: a single pipe,
/// and any `>` behind `print`, count.
fn awk_acts(program: &[u8]) -> bool {
    if [&b"getline"[..], b"@", b"|&"].iter().any(|sign| holds(program, sign)) || calls_system(program) {
        return true;
    }
    let at = |index: Option<usize>| index.and_then(|index| program.get(index));
    let is_pipe = |(index, byte): (usize, &u8)| {
        *byte == b'|' && at(Some(index + 1)) != Some(&b'|') && at(index.checked_sub(1)) != Some(&b'|')
    };
    let print = program.windows(5).position(|part| part == b"print");
    program.iter().enumerate().any(is_pipe)
        || print.is_some_and(|at| program.iter().skip(at).any(|byte| *byte == b'>'))
}

/// `system`, and a parenthesis behind it: a file may be called `system.log`.
fn calls_system(program: &[u8]) -> bool {
    let name = b"system";
    let starts = program.windows(name.len()).enumerate().filter(|(_, part)| *part == name);
    let mut after = starts.filter_map(|(at, _)| program.get(at + name.len()..));
    after.any(|rest| rest.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != b'\\') == Some(&b'('))
}

/// A script for sed is the first operand, unless options hold it.
fn sed_code(words: &CommandWords) -> Option<usize> {
    // Only in front: further on it might be the value of another option, or a file.
    if words.get(1) == Some(b"--sandbox") {
        return None;
    }
    let mut scripts: Vec<(usize, &[u8])> = Vec::new();
    let mut has_file = false;
    let mut operand = None;
    let mut next_is_script = false;
    let mut skip = false;
    for (index, word) in words.arguments() {
        if std::mem::take(&mut next_is_script) {
            scripts.push((index, word));
            continue;
        }
        if std::mem::take(&mut skip) {
            continue;
        }
        match word {
            [b'-', b'-', name @ ..] if !name.is_empty() => {
                let mut parts = name.splitn(2, |byte| *byte == b'=');
                let (name, value) = (parts.next().unwrap_or_default(), parts.next());
                if b"expression".starts_with(name) {
                    match value {
                        Some(value) => scripts.push((index, value)),
                        None => next_is_script = true,
                    }
                } else if b"file".starts_with(name) {
                    has_file = true;
                    skip = value.is_none();
                } else if b"line-length".starts_with(name) {
                    skip = value.is_none();
                }
            }
            [b'-', letters @ ..] if !letters.is_empty() && letters != b"-" => {
                for (at, letter) in letters.iter().enumerate() {
                    let rest = letters.get(at + 1..).unwrap_or_default();
                    match letter {
                        b'e' if rest.is_empty() => next_is_script = true,
                        b'e' => scripts.push((index, rest)),
                        b'f' => {
                            has_file = true;
                            skip = rest.is_empty();
                        }
                        // The width of a line may be the next argument; the suffix of a copy is not.
                        b'l' => skip = rest.is_empty(),
                        b'i' | b'I' => {}
                        _ => continue,
                    }
                    break;
                }
            }
            // An empty one is the suffix of a copy, where sed takes it apart.
            b"" | b"--" => {}
            _ => operand = operand.or(Some((index, word))),
        }
    }
    if scripts.is_empty() && !has_file {
        scripts.extend(operand);
    }
    scripts.into_iter().find(|(_, script)| sed_acts(script)).map(|(index, _)| index)
}

/// Reads a script for sed far enough to find its commands; what it cannot read counts as acting.
fn sed_acts(script: &[u8]) -> bool {
    let mut rest = script;
    // Each turn takes at least one byte.
    while let Some((byte, after)) = rest.split_first() {
        rest = match byte {
            b' ' | b'\t' | b'\n' | b';' | b'{' | b'}' | b'!' | b',' | b'$' | b'~' | b'+' | b'0'..=b'9' => {
                after
            }
            b'#' => after
                .iter()
                .position(|byte| *byte == b'\n')
                .and_then(|at| after.get(at..))
                .unwrap_or_default(),
            b'/' => match regex(after, b'/') {
                Some(rest) => rest.strip_prefix(b"I").unwrap_or(rest),
                None => return true,
            },
            b'\\' => match after.split_first().and_then(|(delimiter, text)| regex(text, *delimiter)) {
                Some(rest) => rest.strip_prefix(b"I").unwrap_or(rest),
                None => return true,
            },
            b's' | b'y' => {
                let Some((delimiter, text)) = after.split_first() else { return true };
                let Some(rest) = regex(text, *delimiter).and_then(|text| regex(text, *delimiter)) else {
                    return true;
                };
                let flags = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
                let (flags, rest) = rest.split_at(flags);
                if *byte == b's' && flags.iter().any(|flag| b"ew".contains(flag)) {
                    return true;
                }
                rest
            }
            // Text to the end of the line; where it is continued, what follows is read as commands all the same.
            b'a' | b'i' | b'c' => after
                .iter()
                .position(|byte| *byte == b'\n')
                .and_then(|at| after.get(at..))
                .unwrap_or_default(),
            // Labels, to the end of the line or the semicolon.
            b':' | b'b' | b't' | b'T' => {
                let end = after.iter().position(|byte| matches!(byte, b';' | b'\n' | b'}'));
                end.and_then(|at| after.get(at..)).unwrap_or_default()
            }
            b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'q' | b'Q' | b'x'
            | b'z' | b'l' | b'=' | b'F' | b'v' => after,
            _ => return true,
        };
    }
    false
}

/// What is behind the closing delimiter. In a bracket a delimiter closes nothing in some seds and closes in others, so both ends
/// must be the same: a bracket with the delimiter in it is not read.
fn regex(text: &[u8], delimiter: u8) -> Option<&[u8]> {
    let mut at = 0;
    let mut bracket = false;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            _ if *byte == delimiter => {
                return if bracket { None } else { text.get(at + 1..) };
            }
            b'[' => bracket = true,
            b']' => bracket = false,
            b'\n' => return None,
            _ => {}
        }
        at += 1;
    }
    None
}
