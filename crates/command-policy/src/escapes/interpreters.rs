//! Languages: code in an argument, or on standard input, instead of in a file that can be looked at.

use super::{Escape, Flags, When, first_operand, holds};
use crate::lexer::Words;

const IN_A_FILE: &str = "put the code into a file of the root and run that";

pub(super) const ENTRIES: &[Escape] = &[
    Escape {
        name: "python/code",
        commands: &["python", "pythonw", "pypy", "ipython", "micropython", "jython", "graalpy", "bpython"],
        when: When::Judge(python_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "python -c 'import os'",
            "python3 -Ic 'import os'",
            "python3.12 -c x",
            "python",
            "python -",
            "pypy3 -uc x",
            "python -i main.py",
            "ipython -c x",
            "python -W ignore -c x",
            "python -X dev -c x",
            "python -Wignore -c x",
        ],
        not_matches: &[
            "python3 main.py -c x",
            "python -u scripts/a.py",
            "python -Wignore main.py",
            "python3 --version",
        ],
    },
    Escape {
        name: "python/module",
        commands: &["python", "pythonw", "pypy", "ipython", "micropython", "jython", "graalpy"],
        when: When::Judge(|words| flag_before_operand(words, "m", "WXc")),
        reason: "modules such as pip, timeit or pdb run code from arguments or from the network",
        instead: "run a script of the root, or ask for the module to be allowed",
        matches: &[
            "python -m timeit x",
            "python3 -m pip install x",
            "python -Im pdb x",
            "python3 -mpip install x",
        ],
        not_matches: &["python3 main.py -m x", "python3 -B main.py"],
    },
    Escape {
        name: "node/code",
        commands: &["node", "nodejs", "iojs"],
        when: When::Judge(node_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "node -e 'x'",
            "node --eval=x",
            "node -p x",
            "node -pe x",
            "node --print x",
            "node",
            "node -",
            "node -i",
            "node -r evil main.js",
            "node --require=evil main.js",
            "node --import x main.js",
            "node --run build",
            "node --experimental-loader x a.js",
            "node --inspect main.js",
            "node --env-file=x main.js",
            "node --eva x",
        ],
        not_matches: &["node main.js -e x", "node --version", "node --max-old-space-size=100 main.js"],
    },
    Escape {
        name: "deno-bun/code",
        commands: &["deno", "bun", "bunx", "tsx", "ts-node", "esno", "jiti", "swc-node"],
        when: When::Judge(|words| {
            let flags = Flags {
                long: &["--eval", "--print", "--preload", "--require", "--import"],
                but: &[],
                short: "epr",
                valued: "",
            };
            if words.get(0).is_some_and(|name| name.ends_with(b"bunx")) {
                return Some(0);
            }
            let operand = first_operand(words, "", &[]).map(|(index, _)| index);
            let list: &[&[u8]] =
                &[b"eval", b"repl", b"task", b"x", b"install", b"add", b"create", b"exec", b"upgrade", b"i"];
            let Some(operand) = operand else { return version_only(words) };
            if words.get(operand).is_some_and(|word| list.contains(&word)) {
                return Some(operand);
            }
            words
                .arguments()
                .take_while(|(index, _)| *index < operand)
                .find(|(_, word)| flags.has(word))
                .map(|(index, _)| index)
        }),
        reason: "code in an argument or from the network can do anything",
        instead: IN_A_FILE,
        matches: &[
            "deno eval x",
            "deno",
            "bun -e x",
            "bunx cowsay",
            "bun x cowsay",
            "tsx -e x",
            "bun --preload x main.ts",
        ],
        not_matches: &["deno run main.ts", "bun main.ts", "tsx main.ts -e", "deno --version"],
    },
    Escape {
        name: "perl/code",
        commands: &["perl", "suidperl"],
        when: When::Judge(|words| {
            flag_before_operand(words, "eEnpiMmdx", "ICFl0D").or_else(|| no_operand(words, "I", &[]))
        }),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "perl -e 'exec x'",
            "perl -ne x file",
            "perl -pi -e x f",
            "perl -lane x",
            "perl",
            "perl -Mre=eval x.pl",
            "perl -we x",
        ],
        not_matches: &["perl script.pl -e x", "perl -w script.pl", "perl -v"],
    },
    Escape {
        name: "ruby/code",
        commands: &["ruby", "jruby", "truffleruby", "irb", "pry"],
        when: When::Judge(|words| {
            if words.get(0).is_some_and(|name| name.ends_with(b"irb") || name.ends_with(b"pry")) {
                return Some(0);
            }
            flag_before_operand(words, "enpirxs", "ICFEKW0").or_else(|| no_operand(words, "ICE", &[]))
        }),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &["ruby -e x", "ruby -ne x f", "ruby", "ruby -rsocket x.rb", "irb", "ruby -we x"],
        not_matches: &["ruby main.rb -e x", "ruby -w main.rb", "ruby --version"],
    },
    Escape {
        name: "php/code",
        commands: &["php", "php-cgi", "phpdbg"],
        when: When::Judge(|words| {
            let flags = Flags {
                long: &[
                    "--run",
                    "--process-begin",
                    "--process-code",
                    "--process-end",
                    "--define",
                    "--interactive",
                    "--server",
                    "--php-ini",
                ],
                but: &[],
                short: "rBREaSdc",
                valued: "fzt",
            };
            before_operand(words, |word| flags.has(word))
                .or_else(|| no_operand(words, "ft", &["--file"]).filter(|_| !has_file_flag(words)))
        }),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "php -r 'x();'",
            "php --run x",
            "php -a",
            "php",
            "php -d auto_prepend_file=x a.php",
            "php -S localhost:80",
        ],
        not_matches: &["php main.php -r x", "php -f main.php", "php --version", "php -l main.php"],
    },
    Escape {
        name: "lua/code",
        commands: &["lua", "luajit", "luau", "texlua"],
        when: When::Judge(|words| {
            flag_before_operand(words, "eilE", "").or_else(|| no_operand(words, "", &[]))
        }),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &["lua -e x", "lua5.4 -e x", "lua", "luajit -l x a.lua", "lua -"],
        not_matches: &["lua main.lua -e x", "lua -v"],
    },
    Escape {
        name: "other-language/code",
        commands: &[
            "clisp",
            "clojure",
            "clj",
            "crystal",
            "csi",
            "elixir",
            "emacsclient",
            "erl",
            "escript",
            "gforth",
            "ghc",
            "ghci",
            "go",
            "gosh",
            "groovy",
            "groovysh",
            "guile",
            "gst",
            "iex",
            "janet",
            "java",
            "jjs",
            "jrunscript",
            "jshell",
            "jq-repl",
            "julia",
            "kotlin",
            "maxima",
            "mono",
            "nim",
            "nix",
            "nix-build",
            "nix-shell",
            "ocaml",
            "octave",
            "osascript",
            "picolisp",
            "poetry",
            "pipx",
            "uv",
            "uvx",
            "qjs",
            "r",
            "racket",
            "rakudo",
            "raku",
            "rscript",
            "runghc",
            "runhaskell",
            "rustc",
            "sbcl",
            "scala",
            "scheme",
            "spidermonkey",
            "stack",
            "swift",
            "swipl",
            "tclsh",
            "wish",
            "wolframscript",
            "zig",
            "dc",
            "bc",
            "gnuplot",
            "m4",
            "gs",
            "ghostscript",
            "jupyter",
            "sage",
            "gap",
            "gp",
            "ex",
            "pdb",
            "bpf",
            "cscript",
            "wscript",
            "mshta",
            "rundll32",
            "cmd",
        ],
        when: When::Judge(other_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "julia -e x",
            "Rscript -e x",
            "elixir -e x",
            "tclsh",
            "scala -e x",
            "go run x.go",
            "uvx x",
            "nix run x",
            "jshell",
            "guile -c x",
            "racket -e x",
            "bc",
            "java -jar x.jar",
            "emacsclient --eval x",
            "osascript -e x",
            "uv run x",
            "uv tool run x",
            "m4 x",
            "gnuplot -e x",
            "gs x.ps",
            "rustc x.rs",
            "pipx run x",
            "poetry run x",
            "emacsclient x",
        ],
        not_matches: &[
            "julia main.jl -e x",
            "Rscript main.R",
            "elixir main.exs",
            "go version",
            "go vet",
            "guile main.scm",
            "uv --version",
            "java -version",
        ],
    },
    Escape {
        name: "awk/code",
        commands: &["awk", "gawk", "mawk", "nawk", "original-awk", "goawk", "frawk", "bwk"],
        when: When::Judge(awk_code),
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
        ],
        not_matches: &[
            "awk '{print $1}' f",
            "awk -F, '{s += $2} END {print s}' f",
            "awk -f prog.awk f",
            "awk '$1 == 2 || $3 {print}' f",
            "awk -v 'x=a|b' '{print x}' f",
        ],
    },
    Escape {
        name: "sed/execute",
        commands: &["sed", "gsed", "ssed"],
        when: When::Judge(sed_code),
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
            "sed -f edit.sed f",
            "sed 'y/e/w/' f",
            "sed -E 's/(a)(b)/\\2\\1/2g' f",
        ],
    },
    Escape {
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
        when: When::Judge(|words| {
            let flags = Flags {
                long: &["--init", "--file", "--eval", "--init-command", "--load", "--cmd"],
                but: &[],
                short: "f",
                valued: "cehpuUdPD",
            };
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
        ],
        not_matches: &["sqlite3 a.db 'select * from t'", "psql -c 'select 1'"],
    },
    Escape {
        name: "jq/module",
        commands: &["jq", "gojq", "jaq", "yq"],
        when: When::Judge(|words| {
            let flags = Flags { long: &["--from-file"], but: &[], short: "L", valued: "" };
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
            "jq --from-file x f",
        ],
        not_matches: &[
            "jq .a.b f.json",
            "jq -r '.[] | select(.a != 1) | .name' f.json",
            "jq '.environment' f.json",
        ],
    },
];

/// The first of these letters in options before the first operand.
fn flag_before_operand(words: &Words, short: &'static str, valued: &'static str) -> Option<usize> {
    let flags = Flags { long: &[], but: &[], short, valued };
    before_operand(words, |word| flags.has(word))
}

/// An option, before the first argument that is none, that is refused; `-` alone is standard input.
fn before_operand(words: &Words, refused: impl Fn(&[u8]) -> bool) -> Option<usize> {
    for (index, word) in words.arguments() {
        if word == b"-" || refused(word) {
            return Some(index);
        }
        if word.first() != Some(&b'-') || word == b"--" {
            return None;
        }
    }
    None
}

/// Nothing to run, so that standard input would be; asking for the version or for help is fine.
fn no_operand(words: &Words, valued: &str, long: &[&str]) -> Option<usize> {
    if first_operand(words, valued, long).is_some() { None } else { version_only(words) }
}

fn version_only(words: &Words) -> Option<usize> {
    let harmless: &[&[u8]] =
        &[b"--version", b"--help", b"-V", b"-v", b"-h", b"-version", b"-VV", b"--help-all", b"-help"];
    if words.len() == 2 && words.get(1).is_some_and(|word| harmless.contains(&word)) { None } else { Some(0) }
}

fn has_file_flag(words: &Words) -> bool {
    words.arguments().any(|(_, word)| word == b"-f" || word.starts_with(b"--file")) && words.len() > 2
}

fn python_code(words: &Words) -> Option<usize> {
    let mut skip = false;
    for (index, word) in words.arguments() {
        if std::mem::take(&mut skip) {
            continue;
        }
        let flags = Flags { long: &["--command"], but: &[], short: "ci", valued: "WXmQ" };
        match word {
            b"-" => return Some(index),
            b"-W" | b"-X" | b"-Q" | b"--check-hash-based-pycs" => skip = true,
            _ if flags.has(word) => return Some(index),
            [b'-', b'-', ..] => {}
            // A module is another entry's business; what follows belongs to it.
            [b'-', letters @ ..] if letters.contains(&b'm') => return None,
            [b'-', ..] => {}
            _ => return None,
        }
    }
    version_only(words)
}

fn node_code(words: &Words) -> Option<usize> {
    const LONG: &[&str] = &[
        "--eval",
        "--print",
        "--require",
        "--import",
        "--interactive",
        "--run",
        "--loader",
        "--experimental-loader",
        "--inspect",
        "--inspect-brk",
        "--inspect-port",
        "--inspect-wait",
        "--env-file",
        "--env-file-if-exists",
        "--test",
        "--watch",
        "--watch-path",
        "--openssl-config",
        "--icu-data-dir",
        "--experimental-config-file",
        "--build-sea",
        "--snapshot-blob",
        "--experimental-default-config-file",
    ];
    let flags = Flags { long: LONG, but: &[], short: "epric", valued: "C" };
    before_operand(words, |word| flags.has(word)).or_else(|| no_operand(words, "C", &[]))
}

/// Languages that are seen less often: an option of one letter that takes code, or nothing to run.
fn other_code(words: &Words) -> Option<usize> {
    let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?.to_ascii_lowercase();
    let only: Option<&[&[u8]]> = match file.as_slice() {
        b"go" => Some(&[b"version", b"vet", b"fmt", b"list", b"env", b"doc", b"help"]),
        b"uv" | b"poetry" | b"pipx" | b"stack" | b"nix" | b"zig" | b"nim" | b"swift" | b"jupyter"
        | b"crystal" => Some(&[b"--version", b"--help", b"version"]),
        b"java" | b"mono" | b"kotlin" | b"rustc" | b"ghc" => {
            Some(&[b"-version", b"--version", b"--help", b"-V"])
        }
        b"uvx" | b"bc" | b"dc" | b"m4" | b"gs" | b"ghostscript" | b"emacsclient" | b"nix-shell"
        | b"nix-build" | b"cmd" | b"mshta" | b"rundll32" | b"ex" | b"osascript" => Some(&[b"--version"]),
        _ => None,
    };
    if let Some(only) = only {
        return if words.get(1).is_some_and(|word| only.contains(&word)) {
            None
        } else {
            Some(usize::from(words.len() > 1))
        };
    }
    let flags = Flags {
        long: &["--eval", "--exec", "--print", "--command", "--expr", "--load", "--require", "--run"],
        but: &[],
        short: "ecEpirL",
        valued: "",
    };
    before_operand(words, |word| flags.has(word)).or_else(|| no_operand(words, "", &[]))
}

/// Options of awk that take the next argument.
const AWK_VALUED: &str = "Ffv";

fn awk_code(words: &Words) -> Option<usize> {
    const LONG: &[&str] = &["--load", "--include", "--exec", "--debug"];
    let flags = Flags { long: LONG, but: &[], short: "liED", valued: "Fvf" };
    if let Some(index) = before_operand_valued(words, AWK_VALUED, |word| flags.has(word)) {
        return Some(index);
    }
    let has_file = words.arguments().any(|(_, word)| word.starts_with(b"-f") || word.starts_with(b"--f"));
    let source = words.arguments().any(|(_, word)| word.starts_with(b"-e") || word.starts_with(b"--s"));
    let program = if has_file { None } else { first_operand(words, AWK_VALUED, &[]).map(|(index, _)| index) };
    words
        .arguments()
        .find(|(index, word)| (Some(*index) == program || source) && awk_acts(word))
        .map(|(index, _)| index)
}

/// Whether a program for awk may start others or touch files. `||` and `>` in a comparison are told apart roughly: a single pipe,
/// and any `>` behind `print`, count.
fn awk_acts(program: &[u8]) -> bool {
    if [&b"system"[..], b"getline", b"@", b"|&", b"close("].iter().any(|sign| holds(program, sign)) {
        return true;
    }
    let pipe = program.iter().enumerate().any(|(at, byte)| {
        *byte == b'|'
            && program.get(at + 1) != Some(&b'|')
            && at.checked_sub(1).and_then(|at| program.get(at)) != Some(&b'|')
    });
    let print = program.windows(5).position(|part| part == b"print");
    pipe || print.is_some_and(|at| program.iter().skip(at).any(|byte| *byte == b'>'))
}

fn before_operand_valued(words: &Words, valued: &str, refused: impl Fn(&[u8]) -> bool) -> Option<usize> {
    let end = first_operand(words, valued, &[]).map_or(words.len(), |(index, _)| index);
    words
        .arguments()
        .take_while(|(index, _)| *index < end)
        .find(|(_, word)| refused(word))
        .map(|(index, _)| index)
}

/// A script for sed is the first operand, unless options hold it.
fn sed_code(words: &Words) -> Option<usize> {
    let sandbox = |word: &[u8]| word.len() > 3 && b"--sandbox".starts_with(word);
    if words.arguments().any(|(_, word)| sandbox(word)) {
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
                        // The suffix of a copy, or the width of a line.
                        b'i' | b'l' | b'I' => {}
                        _ => continue,
                    }
                    break;
                }
            }
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
