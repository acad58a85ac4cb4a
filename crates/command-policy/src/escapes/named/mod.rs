//! What a list that names a program allows: to run the project's own code, which is what the program is for, and no other command.
//!
//! `Bash(make:*)` says that `make test` may run, whatever the makefile of the project says. It does not say that `make --eval` may run the text of
//! an argument, nor that `npx` may start any program. So each entry here has a function that finds what smuggles another command past the name.
//! A program that starts another one (`npx tsc`, `uv run pytest`) may start those that work on projects ([`PROJECT_TOOLS`]), and the one that the list
//! spells out: `Bash(npx cowsay:*)`. What it starts is judged as a command of its own.

mod builders;
mod remote;
mod starters;

use super::{ProgramFlags, find, holds, without_version};
use crate::words::CommandWords;

/// Judges a command whose program a list names: the number of the argument that smuggles another command. The second argument is how many words the list spells
/// out.
type Smuggled = fn(&CommandWords, usize) -> Option<usize>;

/// What naming a program changes about an entry of the table.
pub(super) struct NamedUse {
    /// The entry, by its name.
    escape: &'static str,
    /// The programs of the entry that this is about.
    commands: &'static [&'static str],
    smuggled: Smuggled,
    /// Lines that stay refused.
    #[cfg(test)]
    matches: &'static [&'static str],
    /// Lines that pass.
    #[cfg(test)]
    not_matches: &'static [&'static str],
}

macro_rules! named {
    ($escape:literal, [$($command:literal),* $(,)?], $smuggled:expr, refused: [$($refused:literal),* $(,)?], passes: [$($passes:literal),* $(,)?] $(,)?) => {
        NamedUse {
            escape: $escape,
            commands: &[$($command),*],
            smuggled: $smuggled,
            #[cfg(test)]
            matches: &[$($refused),*],
            #[cfg(test)]
            not_matches: &[$($passes),*],
        }
    };
}

/// Programs that work on a project and do nothing else: what another one may start without being spelt out.
const PROJECT_TOOLS: &[&str] = &[
    "alembic",
    "astro",
    "ava",
    "babel",
    "bandit",
    "biome",
    "black",
    "build",
    "c8",
    "changeset",
    "commitlint",
    "compileall",
    "coverage",
    "cucumber",
    "cypress",
    "depcheck",
    "doctest",
    "drizzle-kit",
    "esbuild",
    "eslint",
    "flake8",
    "isort",
    "jekyll",
    "jest",
    "knip",
    "mkdocs",
    "mocha",
    "mypy",
    "next",
    "node",
    "nuxt",
    "nx",
    "nyc",
    "oxlint",
    "pest",
    "php-cs-fixer",
    "phpstan",
    "phpunit",
    "pint",
    "pip",
    "pre-commit",
    "prettier",
    "prisma",
    "psalm",
    "py.test",
    "pylint",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rails",
    "rake",
    "rollup",
    "rspec",
    "rubocop",
    "ruff",
    "sphinx",
    "sphinx-build",
    "standardrb",
    "storybook",
    "stylelint",
    "svelte-check",
    "swc",
    "tailwindcss",
    "tap",
    "tox",
    "tsc",
    "tsx",
    "turbo",
    "unittest",
    "venv",
    "vite",
    "vitest",
    "webpack",
    "xo",
];

const NAMED: &[NamedUse] = &[
    named!(
        "make/any", ["make", "gmake", "bmake", "nmake"], |words, _| builders::make(words),
        refused: [
            "make --eval='x:;id'", "make --ev x", "make -E x", "make -sE x", "make SHELL=id", "make MAKEFLAGS=--eval=x", "make -f -", "make -f- x", "make CC='$(shell id)'",
            "make CC='id; id'", "make CC='sh -c id'", "make .SHELLFLAGS=x",
        ],
        passes: ["make", "make test", "make -j4 all", "make CC=clang debug", "make CFLAGS='-O2 -g'", "make -f other.mk", "make -C docs html"],
    ),
    named!(
        "make/any",
        [
            "act", "ant", "bazel", "buck", "buck2", "cmake", "ctest", "doit", "dotnet", "dune", "earthly", "gradle", "gradlew", "grunt", "gulp", "invoke",
            "jake", "just", "lein", "lerna", "mage", "meson", "mill", "mix", "msbuild", "mvn", "mvnw", "ninja", "nox", "nx", "opam", "pants", "pre-commit",
            "rake", "rebar3", "samu", "sbt", "scons", "task", "tox", "turbo", "xcodebuild", "xmake",
        ],
        |words, _| builders::build(words),
        refused: [
            "cmake -E env id", "cmake --build b -- --eval=x", "cmake --build b -- SHELL=id", "mvn com.x:y:1.0:run", "cmake -DCMAKE_C_COMPILER_LAUNCHER=id .", "ctest --build-and-test a b --test-command id", "rake -e x", "rake --execute x", "just --shell id x",
            "just -c id", "gradle -I x build", "gradle --init-script x", "mvn exec:exec", "mvn x -Dexec.executable=id", "mix eval x", "mix run -e x", "mix cmd id", "dotnet fsi", "tox exec -- id",
            "tox --override testenv.commands=id", "bazel run --run_under=id x", "sbt '!id'", "sbt", "dune exec -- id", "meson devenv id", "meson test --wrapper=id", "meson test --gdb-path id", "meson --internal exe -- id", "lerna exec -- id", "opam exec -- id", "pre-commit try-repo x",
        ],
        passes: [
            "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release", "ninja -C build", "ctest --test-dir build", "gradle build", "mvn -q test", "mix test", "dotnet build -c Release", "tox -e py312",
            "pre-commit run --all-files", "just build", "sbt test",
        ],
    ),
    named!(
        "cargo/run", ["cargo"], |words, _| builders::cargo(words),
        refused: ["cargo --config build.rustc=id build", "cargo -Z x build", "cargo rustc -- -Clinker=id", "cargo rustc -- -C linker=id", "cargo help x", "cargo --conf x test"],
        passes: ["cargo test", "cargo build --release", "cargo +nightly test", "cargo clippy --all-targets -- -D warnings", "cargo add serde", "cargo help"],
    ),
    named!(
        "npm/run", ["npm", "pnpm", "yarn", "cnpm"], starters::npm,
        refused: [
            "npm exec id", "npm x id", "npm exec -- id", "pnpm dlx x", "yarn dlx x", "yarn exec id", "pnpm sh", "pnpm bash -c id", "yarn node -e x", "npm --script-shell=id run x",
            "npm config set script-shell id", "npm --loglevel silent exec id", "npm --loglevel run exec id", "yarn workspace web exec id", "pnpm find . -exec id", "npm explore x -- id", "npm edit x", "npm create x", "npm init x", "npm pkg set scripts.x=id", "npm help x", "pnpm exec -c id",
        ],
        passes: [
            "npm run build", "npm test", "npm ci", "npm install", "npm init -y", "pnpm build", "pnpm -r test", "yarn", "yarn build", "npm exec tsc", "pnpm exec eslint .",
            "yarn workspace web test", "npm run lint -- --fix", "npm run exec",
        ],
    ),
    named!(
        "npx/any", ["npx", "pnpx", "bunx"], |words, spelled| starters::npx(words, spelled),
        refused: ["npx cowsay", "npx sh", "npx -c id", "npx --call=id", "npx -p x tsc", "npx --loglevel jest id", "npx", "npx -y cowsay"],
        passes: ["npx tsc --noEmit", "npx eslint src", "npx -y prettier --check ."],
    ),
    named!(
        "compiler/plugin",
        [
            "babel", "coverage", "eslint", "jest", "mocha", "nose2", "phpunit", "prettier", "py.test", "pytest", "rollup", "rspec", "unittest", "vite", "vitest", "webpack",
        ],
        |words, spelled| starters::test_runner(words, spelled),
        refused: ["coverage run -m pdb x"],
        passes: ["pytest", "pytest -q tests", "jest --ci", "eslint . --fix", "coverage run -m pytest", "vite build"],
    ),
    named!(
        "package/install",
        [
            "bundle", "bundler", "composer", "conda", "gem", "hatch", "helm", "mamba", "micromamba", "pdm", "pip", "pipenv", "pixi", "rustup", "rye",
        ],
        starters::package,
        refused: [
            "bundle exec id",
            "bundle --retry 3 exec id", "conda run -n pytest id", "bundle exec --x rspec id", "bundle console", "bundle help", "composer exec id", "composer global require x", "conda run id", "gem open x -e id", "gem open x", "pip config edit --editor id",
            "pip install --python=id x", "pip install --config-settings=x .", "pipenv run id", "pipenv shell", "helm template x --post-renderer id", "helm plugin install x", "rustup run stable id",
        ],
        passes: [
            "pip install -r requirements.txt", "pip install -e .", "bundle install", "bundle exec rspec spec", "composer install --no-dev", "helm template ./chart -f values.yaml", "pipenv run pytest",
            "gem install rake", "rustup component add clippy",
        ],
    ),
    named!(
        "other-language/code",
        ["crystal", "go", "java", "pipx", "poetry", "rustc", "stack", "swift", "uv", "uvx", "zig"],
        starters::language,
        refused: [
            "go run -exec id x.go", "go build -toolexec=id x", "go vet -vettool=id", "go env -w CC=id", "go run h.test/x@latest", "go build -ldflags='-extld=id'", "uv run id", "uv run sh -c id",
            "uv tool run x", "uvx cowsay", "uv run --with x cowsay",
            "uv tool run --from x ruff", "uv run --python ./x pytest", "uv run -p./x pytest", "uv venv --python=./x", "uv run --env-file x pytest", "uvx -p ./x ruff", "rustc @args", "rustc -C link-arg=-B. a.rs",
            "stack build --exec id", "stack build --ghc-options=-pgmFid", "uv --color never run id", "uv run --color pytest id", "uvx --from x ruff", "go -C sub run h.test/x@latest", "uv run -m pdb x", "poetry run id", "poetry shell", "pipx run x", "rustc -C linker=id a.rs", "rustc -Clinker=id a.rs",
            "java -XX:OnError=id A", "java -javaagent:x.jar A", "java @args", "swift repl", "swift", "stack exec id", "zig cc x", "crystal eval x",
        ],
        passes: [
            "go build ./...", "go test -race ./...", "go run ./cmd/server", "go mod tidy", "uv sync", "uv run pytest -q", "uv run main.py", "uv run python main.py", "uvx ruff check .",
            "poetry install --no-root", "poetry run pytest", "rustc a.rs", "java -jar app.jar", "swift build", "uv run --with httpx pytest", "uv run -m pytest", "uv run --python 3.12 pytest", "uv venv --python=pypy3.10",
            "uv run pytest -p no:cacheprovider", "stack build --test",
        ],
    ),
    named!(
        "deno-bun/code", ["deno", "bun"], |words, _| starters::bun(words),
        refused: ["bun x cowsay", "bun --cwd run x id", "bun exec id", "bun -e x", "bun run sh", "deno eval x", "deno run https://h.test/x.ts", "deno repl", "bun create x", "deno run npm:x", "bun --preload x test"],
        passes: ["bun install", "bun test", "bun run build", "deno fmt --check", "deno lint src", "deno test --allow-read", "deno task build"],
    ),
    named!(
        "python/module", ["python", "pypy"], |words, spelled| starters::python(words, spelled),
        refused: ["python -m timeit x", "python3 -m pdb x", "python -m http.server", "python -Im pdb x", "python -m pip config edit"],
        passes: ["python -m pytest -q", "python3 -m unittest", "python -m venv .venv", "python3 -m pip install -r requirements.txt"],
    ),
    named!(
        "container/any", ["docker", "podman", "nerdctl", "docker-compose", "podman-compose"], |words, _| remote::container(words),
        refused: [
            "docker run --privileged x", "docker run -v a:b x", "docker run --rm -itv a:b x", "docker run --mount type=bind,src=a,dst=b x", "docker run --pid=host x", "docker exec x id",
            "docker cp x:a b", "docker build --network=host .", "docker buildx build --allow x .", "docker -H tcp://h.test ps", "docker --config x ps", "docker run --cap-add=ALL x", "docker run --network host x", "docker run --net=host x", "docker compose exec x id",
            "docker --tlscert ps exec x id", "docker compose --ansi never exec x id",
            "docker compose run x id", "docker plugin install x", "docker context use x", "docker run --volumes-from x y", "docker run --device x y",
        ],
        passes: ["docker build -t a:dev .", "docker compose up -d", "docker run --rm -p 8080:80 nginx", "docker ps", "docker compose logs web", "docker-compose up -d"],
    ),
    named!(
        "infrastructure/run",
        [
            "cdk", "firebase", "fly", "flyctl", "netlify", "pulumi", "sam", "serverless", "sls", "terraform", "terragrunt", "tofu", "vercel", "wrangler",
        ],
        |words, _| remote::infrastructure(words),
        refused: ["terraform console", "terragrunt --tf-path=id plan", "netlify dev -c id", "terraform login", "cdk --app id synth", "cdk -a id synth", "firebase emulators:exec id", "fly ssh console", "netlify dev:exec id", "terragrunt exec -- id"],
        passes: ["terraform init -backend=false", "terraform plan -out=tf.plan", "terraform apply", "cdk synth", "vercel build"],
    ),
    named!(
        "ssh/any", ["ssh"], |words, _| remote::ssh(words),
        refused: [
            "ssh -o ProxyCommand=id h", "ssh -oProxyCommand=id h", "ssh -F x h", "ssh h -oProxyCommand=id id", "ssh h -F x id", "ssh -qF x h", "ssh -L 1:h:2 h", "ssh -R 1:h:2 h", "ssh -D 1 h", "ssh -J x h", "ssh -W x:1 h", "ssh -I x.so h", "ssh -S x h", "ssh h",
            "ssh -o PermitLocalCommand=yes h id", "ssh",
        ],
        passes: ["ssh me@h.test uptime", "ssh -p 2222 h.test id", "ssh -o BatchMode=yes -o ConnectTimeout=5 h.test uptime"],
    ),
    named!(
        "server/any", ["flask", "gunicorn", "http-server", "serve", "uvicorn"], |words, _| words_among(words, &["shell"]),
        refused: ["flask shell"],
        passes: ["flask run", "uvicorn app:app --reload", "gunicorn app:app"],
    ),
];

/// What naming the program changes about an entry: the argument that is refused all the same, or nothing where naming it changes nothing.
pub(super) enum NamedJudgement {
    /// The entry is not about running the project's code.
    Unchanged,
    /// It runs the project's code, and this argument, if there is one, smuggles another command.
    Smuggled(Option<usize>),
}

/// Judges a command under an entry of the table, of which so many words are spelt out by a list.
pub(super) fn judge_named(escape: &str, words: &CommandWords, spelled: usize) -> NamedJudgement {
    let file = words.get(0).unwrap_or_default().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let is_about = |used: &&NamedUse| {
        let named =
            |name: &[u8]| used.commands.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        used.escape == escape && (named(file) || named(without_version(file)))
    };
    match NAMED.iter().find(is_about) {
        Some(used) => NamedJudgement::Smuggled((used.smuggled)(words, spelled)),
        None => NamedJudgement::Unchanged,
    }
}

/// Options of programs that start others that take no value.
const SWITCHES: &[&[u8]] = &[
    b"--",
    b"--all-extras",
    b"--dev",
    b"--frozen",
    b"--isolated",
    b"--locked",
    b"--module",
    b"--no-dev",
    b"--no-install",
    b"--no-sync",
    b"--offline",
    b"--quiet",
    b"--silent",
    b"--verbose",
    b"--yes",
    b"-m",
    b"-q",
    b"-v",
    b"-y",
];

/// A program that another one starts: the argument that may not be started, if it is one.
fn launched(words: &CommandWords, index: usize, spelled: usize) -> Option<usize> {
    let Some(name) = words.get(index) else { return Some(index.saturating_sub(1)) };
    let is_tool = PROJECT_TOOLS.iter().any(|tool| tool.as_bytes() == name);
    let is_script = !name.starts_with(b"-") && name.ends_with(b".py");
    // Behind an option that may take a value it may be that value, and the program comes later.
    let before = index.checked_sub(1).and_then(|at| words.get(at)).unwrap_or_default();
    let may_be_value =
        before.first() == Some(&b'-') && !before.contains(&b'=') && !SWITCHES.contains(&before);
    if !may_be_value && is_script {
        return None;
    }
    if (!is_tool || may_be_value) && spelled <= index {
        return Some(index);
    }
    let rest = CommandWords::from_argv(words.iter().skip(index));
    let inner = spelled.saturating_sub(index).max(1);
    find(&rest, &[], inner).map(|(_, at)| index + at)
}

/// One of these words, as an argument before `--`.
fn words_among(words: &CommandWords, list: &[&str]) -> Option<usize> {
    let mut arguments = words.arguments().take_while(|(_, word)| *word != b"--");
    arguments.find(|(_, word)| list.iter().any(|entry| entry.as_bytes() == *word)).map(|(index, _)| index)
}

/// One of these options.
fn option_among(words: &CommandWords, flags: ProgramFlags) -> Option<usize> {
    let mut arguments = words.arguments().take_while(|(_, word)| *word != b"--");
    arguments.find(|(_, word)| flags.has(word)).map(|(index, _)| index)
}

/// A word that has one of these texts in it.
fn text_among(words: &CommandWords, texts: &[&str]) -> Option<usize> {
    let has = |word: &[u8]| texts.iter().any(|text| holds(word, text.as_bytes()));
    words.arguments().find(|(_, word)| has(word)).map(|(index, _)| index)
}

fn program(words: &CommandWords) -> &[u8] {
    let file = words.get(0).unwrap_or_default().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    without_version(file)
}

/// A word that is a script of the project if there is one of that name, and otherwise any program: refused where that program would be. Names of
/// scripts that are programs too (`watch`, `serve`) are taken for scripts.
fn script_or_program(words: &CommandWords, index: usize) -> Option<usize> {
    const SCRIPTS: &[&str] = &[
        "browser/any",
        "editor/any",
        "make/any",
        "server/any",
        "wrapper/later",
        "wrapper/terminal",
        "compiler/plugin",
    ];
    let rest = CommandWords::from_argv(words.iter().skip(index));
    find(&rest, &[], 1).filter(|(escape, _)| !SCRIPTS.contains(&escape.name)).map(|(_, at)| index + at)
}

/// The words that may be the sub-command: each that is no option, up to the first that cannot be the value of one.
fn sub_commands(words: &CommandWords) -> impl Iterator<Item = (usize, &[u8])> {
    let mut after_option = false;
    let mut ended = false;
    words.arguments().filter(move |(_, word)| {
        let is_option = word.first() == Some(&b'-');
        let counts = !ended && !is_option;
        ended |= counts && !after_option || *word == b"--";
        after_option = is_option && !word.contains(&b'=');
        counts
    })
}

/// The next argument behind one that is no option.
fn next_operand(words: &CommandWords, index: usize) -> usize {
    let next = words.arguments().find(|(at, word)| *at > index && word.first() != Some(&b'-'));
    next.map_or(words.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommandPolicy, CommandRule, GlobHandling};

    #[test]
    fn every_named_use_is_proved_by_its_examples() {
        let mut wrong = Vec::new();
        for used in NAMED {
            assert!(!used.matches.is_empty() && !used.not_matches.is_empty(), "{}", used.escape);
            assert!(super::super::escapes().any(|escape| escape.name == used.escape), "{}", used.escape);
            for (lines, passes) in [(used.matches, false), (used.not_matches, true)] {
                for line in lines {
                    let name = line.split_whitespace().next().unwrap();
                    let builder =
                        || CommandPolicy::builder().globs(GlobHandling::Literal).root("/root-of-the-test");
                    let policy = builder().allowed_tools(format!("Bash({name}:*)")).build().unwrap();
                    let decision = policy.check(line);
                    let is_ours = decision
                        .denied()
                        .is_some_and(|denied| matches!(denied.rule, CommandRule::RunsOthers(_)));
                    if decision.is_allowed() != passes || !passes && !is_ours {
                        wrong.push(format!("{}: {line}: {decision:?}", used.escape));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn what_the_list_spells_out_is_started() {
        let check = |tools: &str, line: &str| {
            CommandPolicy::builder()
                .root("/srv/skill")
                .allowed_tools(tools)
                .build()
                .unwrap()
                .check(line)
                .is_allowed()
        };
        assert!(check("Bash(npx cowsay:*)", "npx cowsay moo"));
        assert!(!check("Bash(npx:*)", "npx cowsay moo"));
        assert!(check("Bash(python -m http.server:*)", "python -m http.server 8000"));
        assert!(!check("Bash(python:*)", "python -m http.server 8000"));
        // What is started is judged as a command of its own.
        assert!(!check("Bash(npx sh:*)", "npx sh -c id"));
        assert!(!check("Bash(uv run python:*)", "uv run python -c x"));
        assert!(!check("Bash(npm exec:*)", "npm exec sh"));
    }

    #[test]
    fn without_a_list_nothing_is_named() {
        let policy = CommandPolicy::builder().root("/srv/skill").build().unwrap();
        for used in NAMED {
            let refused = used.not_matches.iter().filter(|line| !policy.check(line).is_allowed()).count();
            assert!(refused > 0, "{}", used.escape);
        }
        let listed = CommandPolicy::builder().root("/srv/skill").commands(["make"]).build().unwrap();
        assert!(listed.check("make test").is_allowed() && !listed.check("make --eval=x").is_allowed());
        let strict = CommandPolicy::builder()
            .root("/srv/skill")
            .allowed_tools("Bash(make:*)")
            .refuse_project_code()
            .build()
            .unwrap();
        assert!(!strict.check("make test").is_allowed());
    }
}
