//! Build tools and compilers: what they run is written in files.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, holds};

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "make/any",
        commands: &[
            "bazel",
            "bmake",
            "buck",
            "buck2",
            "cmake",
            "ctest",
            "gmake",
            "invoke",
            "jake",
            "just",
            "make",
            "makepp",
            "meson",
            "mk",
            "ninja",
            "nmake",
            "pants",
            "rake",
            "redo",
            "samu",
            "scons",
            "task",
            "tup",
            "waf",
            "xmake",
            "doit",
            "nox",
            "tox",
            "pre-commit",
            "ant",
            "gradle",
            "gradlew",
            "mvn",
            "mvnw",
            "sbt",
            "lein",
            "mill",
            "msbuild",
            "dotnet",
            "xcodebuild",
            "grunt",
            "gulp",
            "nx",
            "turbo",
            "lerna",
            "mage",
            "earthly",
            "dagger",
            "act",
            "acr",
            "aclocal",
            "autoconf",
            "autoheader",
            "automake",
            "autoreconf",
            "autoupdate",
            "configure",
            "libtool",
            "dune",
            "opam",
            "rebar3",
            "mix",
            "shake",
        ],
        when: EscapeTrigger::Judge(|words| {
            let only: &[&[u8]] = &[b"--version", b"--help", b"-version"];
            if words.len() == 2 && words.get(1).is_some_and(|word| only.contains(&word)) {
                None
            } else {
                Some(0)
            }
        }),
        reason: "it runs the commands of a build file, and of options such as --eval",
        instead: "name the program in the list of allowed tools, such as `Bash(make:*)`; options that run the text of an argument stay refused",
        matches: &[
            "make",
            "make test",
            "make --eval='x:;id'",
            "cmake -P x",
            "just build",
            "gradle build",
            "rake x",
            "ninja -C b",
        ],
        not_matches: &["make --version", "cmake --version"],
    },
    CommandEscape {
        name: "cargo/run",
        commands: &["cargo"],
        when: EscapeTrigger::Judge(|words| {
            let flags = ProgramFlags::new(&["--config", "--manifest-path"], &[], "Z", "pFj");
            if let Some((index, _)) = words.arguments().find(|(_, word)| flags.has(word)) {
                return Some(index);
            }
            let (index, word) =
                words.arguments().find(|(_, word)| !matches!(word.first(), Some(b'-' | b'+')))?;
            let only: &[&[u8]] = &[
                b"tree",
                b"metadata",
                b"fmt",
                b"search",
                b"version",
                b"help",
                b"locate-project",
                b"pkgid",
                b"info",
                b"read-manifest",
                b"verify-project",
            ];
            (!only.contains(&word)).then_some(index)
        }),
        reason: "building runs build scripts and macros; other sub-commands are programs",
        instead: "name it in the list of allowed tools, such as `Bash(cargo test:*)`",
        matches: &[
            "cargo run",
            "cargo build",
            "cargo test",
            "cargo xtask x",
            "cargo --config build.rustc=x tree",
            "cargo +nightly run",
            "cargo check",
        ],
        not_matches: &["cargo tree", "cargo --version", "cargo metadata", "cargo fmt --check"],
    },
    CommandEscape {
        name: "compiler/plugin",
        commands: &[
            "gcc", "g++", "cc", "c89", "c99", "c++", "clang", "clang++", "cpp", "ld", "gold", "lld", "tcc",
            "ccache", "distcc", "icc", "nvcc", "javac", "tsc", "babel", "webpack", "rollup", "vite",
            "esbuild", "eslint", "prettier", "jest", "mocha", "vitest", "pytest", "py.test", "nose2",
            "unittest", "rspec", "phpunit", "mypy", "pylint", "flake8", "cython", "coverage", "protoc",
            "flex", "bison", "as", "nasm", "gprof",
        ],
        when: EscapeTrigger::Judge(|words| {
            let signs: &[&[u8]] = &[
                b"-fplugin",
                b"-wrapper",
                b"-specs",
                b"--specs",
                b"-xclang",
                b"-load",
                b"-fpass-plugin",
                b"--config",
                b"-plugin",
                b"--plugin",
                b"--loader",
                b"--require",
                b"--import",
                b"-processor",
                b"-processorpath",
                b"--processor",
                b"-xplugin",
                b"-proc:",
                b"--init-hook",
                b"--load-plugins",
                b"-ccbin",
                b"-fuse-ld",
                b"--prefix",
                b"--gcc-toolchain",
                b"-gcc-toolchain",
                b"--gcc-install-dir",
                b"-ccc-",
                b"--compiler-bindir",
                b"--options-file",
                b"-optf",
                b"--for-linker",
                b"--python-e",
                b"--ld-path",
                b"-b",
                b"--rulesdir",
                b"--resolve-plugins",
                b"--parser",
                b"-dynamic-linker",
                b"--globalsetup",
                b"--setupfiles",
                b"--pre-commit",
                b"@",
            ];
            let tests: &[&[u8]] = &[
                b"jest",
                b"mocha",
                b"vitest",
                b"pytest",
                b"py.test",
                b"nose2",
                b"rspec",
                b"phpunit",
                b"webpack",
                b"rollup",
                b"vite",
                b"coverage",
                b"ccache",
                b"distcc",
                b"unittest",
                b"babel",
                b"eslint",
                b"prettier",
            ];
            let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?;
            if tests.contains(&file) {
                return if words.get(1) == Some(b"--version") { None } else { Some(0) };
            }
            // What is a plain option of the others.
            let own = |word: &[u8]| match file {
                b"bison" => word.starts_with(b"-S") || word.starts_with(b"--sk"),
                b"tcc" => word.starts_with(b"-run"),
                _ => false,
            };
            words
                .arguments()
                .find(|(_, word)| {
                    let lower = word.to_ascii_lowercase();
                    let is_handed = matches!(&*lower, [b'-', b'w', b'a' | b'l' | b'p', b',', ..]);
                    let for_linker = is_handed && (holds(&lower, b"plugin") || holds(&lower, b",@"));
                    for_linker || own(word) || signs.iter().any(|sign| lower.starts_with(sign))
                })
                .map(|(index, _)| index)
        }),
        reason: "test runners and bundlers run what they find, and compilers load plugins and wrappers",
        instead: "use plain options; name a test runner in the list of allowed tools, such as `Bash(pytest:*)`",
        matches: &[
            "gcc -wrapper id,x a.c",
            "gcc -fplugin=x a.c",
            "clang -Xclang -load a.c",
            "gcc @opts",
            "pytest",
            "gcc -specs=x a.c",
            "protoc --plugin=x a.proto",
            "javac -processor x A.java",
            "gcc -B. a.c",
            "gcc --prefix=./ a.c",
            "gcc -Wl,-plugin,x.so a.c",
            "gcc -Wp,-fplugin=x.so a.c",
            "gcc -Wl,@x a.c",
            "mypy --python-executable x a.py",
            "bison -S x a.y",
            "tcc -run a.c",
            "pytest -p x",
            "eslint .",
        ],
        not_matches: &[
            "gcc -O2 -o a a.c",
            "clang -c a.c",
            "gcc -S a.c",
            "gcc -Wl,-O1 a.c",
            "mypy --python-version 3.12 a.py",
            "pytest --version",
            "tsc --noEmit",
        ],
    },
];
