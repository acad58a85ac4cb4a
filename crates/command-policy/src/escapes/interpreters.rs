//! Languages: code in an argument, or on standard input, instead of in a file that can be looked at.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, holds};
use crate::words::CommandWords;

const IN_A_FILE: &str = "put the code into a file of the root and run that";

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "python/code",
        commands: &["python", "pythonw", "pypy", "ipython", "micropython", "jython", "graalpy", "bpython"],
        when: EscapeTrigger::Judge(python_code),
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
    CommandEscape {
        name: "python/module",
        commands: &["python", "pythonw", "pypy", "ipython", "micropython", "jython", "graalpy"],
        when: EscapeTrigger::Judge(python_module),
        reason: "modules such as pip, timeit or pdb run code from arguments or from the network",
        instead: "run a script of the root, or ask for the module to be allowed",
        matches: &[
            "python -m timeit x",
            "python3 -m pip install x",
            "python -Im pdb x",
            "python3 -mpip install x",
            "python -W ignore -m pip",
        ],
        not_matches: &["python3 main.py -m x", "python3 -B main.py"],
    },
    CommandEscape {
        name: "node/code",
        commands: &["node", "nodejs", "iojs"],
        when: EscapeTrigger::Judge(node_code),
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
            "node --title x -e y",
            "node -C x -e y",
        ],
        not_matches: &["node main.js -e x", "node --version", "node --max-old-space-size=100 main.js"],
    },
    CommandEscape {
        name: "deno-bun/code",
        commands: &["deno", "bun", "bunx", "tsx", "ts-node", "esno", "jiti", "swc-node"],
        when: EscapeTrigger::Judge(deno_code),
        reason: "code in an argument or from the network can do anything",
        instead: IN_A_FILE,
        matches: &[
            "deno eval x",
            "deno run https://h.test/x.ts",
            "bun run build",
            "deno run npm:x",
            "ts-node -O x -e y",
            "deno",
            "bun -e x",
            "bunx cowsay",
            "bun x cowsay",
            "tsx -e x",
            "bun --preload x main.ts",
        ],
        not_matches: &["deno run main.ts", "bun main.ts", "tsx main.ts -e", "deno --version"],
    },
    CommandEscape {
        name: "perl/code",
        commands: &["perl", "suidperl"],
        when: EscapeTrigger::Judge(perl_code),
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
            "perl -I lib -e x",
            "perl -CSe x",
            "perl -CIe x",
            "perl -0777ne x f",
        ],
        not_matches: &["perl script.pl -e x", "perl -w script.pl", "perl -v", "perl -Ilib script.pl"],
    },
    CommandEscape {
        name: "ruby/code",
        commands: &["ruby", "jruby", "truffleruby", "irb", "pry"],
        when: EscapeTrigger::Judge(ruby_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "ruby -e x",
            "ruby -ne x f",
            "ruby",
            "ruby -rsocket x.rb",
            "irb",
            "ruby -we x",
            "ruby -C lib -e x",
            "ruby -E utf-8 -e x",
        ],
        not_matches: &["ruby main.rb -e x", "ruby -w main.rb", "ruby --version"],
    },
    CommandEscape {
        name: "php/code",
        commands: &["php", "php-cgi", "phpdbg"],
        when: EscapeTrigger::Judge(php_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "php -r 'x();'",
            "php --run x",
            "php -a",
            "php",
            "php -d auto_prepend_file=x a.php",
            "php -S localhost:80",
            "php -z x -r y",
        ],
        not_matches: &["php main.php -r x", "php -f main.php", "php --version", "php -l main.php"],
    },
    CommandEscape {
        name: "lua/code",
        commands: &["lua", "luajit", "luau", "texlua"],
        when: EscapeTrigger::Judge(lua_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &["lua -e x", "lua5.4 -e x", "lua", "luajit -l x a.lua", "lua -"],
        not_matches: &["lua main.lua -e x", "lua -v"],
    },
    CommandEscape {
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
            "octave-cli",
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
        when: EscapeTrigger::Judge(other_code),
        reason: "code in an argument, or on standard input, can do anything",
        instead: IN_A_FILE,
        matches: &[
            "julia -e x",
            "julia -t 4 -e x",
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
];

/// Arguments that may be options or their values: up to the first that is neither. Where an option may take the next argument is
/// not known for every program, so any may; a script that follows an option counts as a value at first.
fn options(words: &CommandWords) -> impl Iterator<Item = (usize, &[u8])> {
    let mut after_option = false;
    words.arguments().take_while(move |(_, word)| {
        let is_option = word.first() == Some(&b'-') && *word != b"--";
        let goes_on = is_option || after_option;
        after_option = is_option;
        goes_on
    })
}

/// One of these options, or standard input.
fn option(words: &CommandWords, flags: ProgramFlags) -> Option<usize> {
    options(words).find(|(_, word)| *word == b"-" || flags.has(word)).map(|(index, _)| index)
}

/// Nothing to run, so that standard input would be; asking for the version or for help is fine.
fn nothing_to_run(words: &CommandWords) -> Option<usize> {
    if words.arguments().any(|(_, word)| word.first() != Some(&b'-')) {
        return None;
    }
    let harmless: &[&[u8]] = &[b"--version", b"--help", b"-V", b"-v", b"-h", b"-version", b"-help"];
    if words.len() == 2 && words.get(1).is_some_and(|word| harmless.contains(&word)) { None } else { Some(0) }
}

/// The options of python, which are few enough to be known, and where they end.
fn python_option(words: &CommandWords, short: &'static str) -> Result<Option<usize>, ()> {
    let flags = ProgramFlags::new(&["--command"], &[], short, "WXmcQ");
    let mut skip = false;
    for (index, word) in words.arguments() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match word {
            _ if flags.has(word) => return Ok(Some(index)),
            b"-W" | b"-X" | b"-Q" | b"--check-hash-based-pycs" => skip = true,
            [b'-', b'-', ..] => {}
            [b'-', letters @ ..] if !letters.is_empty() => {
                let value = letters.iter().position(|letter| b"WXQ".contains(letter));
                skip = value.is_some_and(|at| at + 1 == letters.len());
                // Code, or a module: what follows belongs to it.
                if value.is_none() && letters.iter().any(|letter| b"cm".contains(letter)) {
                    return Ok(None);
                }
            }
            b"-" => return Ok(Some(index)),
            _ => return Ok(None),
        }
    }
    Err(())
}

fn python_code(words: &CommandWords) -> Option<usize> {
    python_option(words, "ci").unwrap_or_else(|()| nothing_to_run(words))
}

pub(super) fn python_module(words: &CommandWords) -> Option<usize> {
    python_option(words, "m").ok().flatten().filter(|index| words.get(*index) != Some(b"-"))
}

fn node_code(words: &CommandWords) -> Option<usize> {
    const LONG: &[&str] = &[
        "--build-sea",
        "--env-file",
        "--env-file-if-exists",
        "--eval",
        "--experimental-config-file",
        "--experimental-default-config-file",
        "--experimental-loader",
        "--icu-data-dir",
        "--import",
        "--inspect",
        "--inspect-brk",
        "--inspect-port",
        "--inspect-wait",
        "--interactive",
        "--loader",
        "--openssl-config",
        "--print",
        "--require",
        "--run",
        "--snapshot-blob",
        "--test",
        "--watch",
        "--watch-path",
    ];
    let flags = ProgramFlags::new(LONG, &[], "epric", "C");
    option(words, flags).or_else(|| nothing_to_run(words))
}

fn deno_code(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(
        &["--eval", "--import", "--preload", "--print", "--require", "--script-mode"],
        &[],
        "epr",
        "",
    );
    if let Some(index) = option(words, flags) {
        return Some(index);
    }
    let from_afar = |word: &[u8]| {
        [&b"://"[..], b"npm:", b"jsr:", b"data:", b"blob:"].iter().any(|sign| holds(word, sign))
    };
    if let Some((index, _)) = words.arguments().find(|(_, word)| from_afar(word)) {
        return Some(index);
    }
    // A script has a file's ending; anything else is a sub-command, or a task of a file.
    let script = |word: &[u8]| {
        [&b".ts"[..], b".js", b".mts", b".mjs", b".cts", b".cjs", b".tsx", b".jsx"]
            .iter()
            .any(|end| word.ends_with(end))
    };
    let mut rest = words.arguments().filter(|(_, word)| word.first() != Some(&b'-'));
    match rest.next() {
        Some((_, b"run")) => rest.next().filter(|(_, word)| !script(word)).map(|(index, _)| index),
        Some((index, word)) => (!script(word)).then_some(index),
        None => nothing_to_run(words),
    }
}

/// The letters behind `-C` may continue with other options, so only a leading `-I` is known to take the rest.
fn perl_code(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(&[], &[], "eEnpiMmdx", "");
    let refused = |word: &[u8]| word == b"-" || (!word.starts_with(b"-I") && flags.has(word));
    options(words).find(|(_, word)| refused(word)).map(|(index, _)| index).or_else(|| nothing_to_run(words))
}

fn ruby_code(words: &CommandWords) -> Option<usize> {
    let name = words.get(0)?;
    if name.ends_with(b"irb") || name.ends_with(b"pry") {
        return Some(0);
    }
    let flags = ProgramFlags::new(&["--debug", "--copyright"], &[], "enpirxs", "ICFEK");
    option(words, flags).or_else(|| nothing_to_run(words))
}

fn php_code(words: &CommandWords) -> Option<usize> {
    const LONG: &[&str] = &[
        "--define",
        "--interactive",
        "--php-ini",
        "--process-begin",
        "--process-code",
        "--process-end",
        "--process-file",
        "--run",
        "--server",
        "--zend-extension",
    ];
    let flags = ProgramFlags::new(LONG, &[], "rBRFEaSdcz", "ft");
    option(words, flags).or_else(|| nothing_to_run(words))
}

fn lua_code(words: &CommandWords) -> Option<usize> {
    let flags = ProgramFlags::new(&[], &[], "eiljb", "");
    option(words, flags).or_else(|| nothing_to_run(words))
}

/// Languages that are seen less often: an option of one letter that takes code, or nothing to run.
fn other_code(words: &CommandWords) -> Option<usize> {
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
    let flags = ProgramFlags::new(
        &["--eval", "--exec", "--print", "--command", "--expr", "--load", "--require", "--run"],
        &[],
        "ecEpirL",
        "",
    );
    option(words, flags).or_else(|| nothing_to_run(words))
}
