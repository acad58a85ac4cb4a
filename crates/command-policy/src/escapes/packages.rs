//! Package managers: packages run scripts, while they are installed and afterwards.

use super::{CommandEscape, EscapeTrigger, ProgramFlags, first_operand};

pub(super) const ENTRIES: &[CommandEscape] = &[
    CommandEscape {
        name: "npm/run",
        commands: &["npm", "pnpm", "yarn", "cnpm", "corepack", "rush", "volta"],
        when: EscapeTrigger::Judge(|words| {
            let Some((index, _)) =
                first_operand(words, "Cw", &["--prefix", "--workspace", "--cwd", "--dir", "--filter"])
            else {
                return if words.len() == 2
                    && words.get(1) != Some(b"-")
                    && words.get(1).is_some_and(|word| word.starts_with(b"-"))
                {
                    None
                } else {
                    Some(0)
                };
            };
            let only: &[&[u8]] = &[
                b"ls",
                b"list",
                b"view",
                b"info",
                b"show",
                b"outdated",
                b"audit",
                b"why",
                b"search",
                b"ping",
                b"help",
                b"root",
                b"bin",
                b"fund",
                b"explain",
                b"query",
                b"la",
                b"ll",
                b"licenses",
            ];
            let flags = ProgramFlags::new(
                &[
                    "--script-shell",
                    "--userconfig",
                    "--globalconfig",
                    "--node-options",
                    "--git",
                    "--editor",
                    "--viewer",
                    "--shell",
                    "--browser",
                    "--init-module",
                    "--use-yarnrc",
                ],
                &["--global", "--us"],
                "",
                "",
            );
            let option = words.arguments().find(|(_, word)| flags.has(word)).map(|(index, _)| index);
            let fixes = words.get(index) == Some(b"audit") && words.get(index + 1) == Some(b"fix");
            if fixes || !words.get(index).is_some_and(|word| only.contains(&word)) {
                Some(index)
            } else {
                option
            }
        }),
        reason: "it runs scripts of this package and of those it installs",
        instead: "name it in the list of allowed tools, such as `Bash(npm run:*)`; what starts any program has to be spelt out, such as `Bash(npm exec tsc:*)`",
        matches: &[
            "npm run build",
            "npm test",
            "npm install x",
            "npm exec x",
            "yarn",
            "pnpm dlx x",
            "yarn build",
            "npm config set script-shell x",
            "npm ls --script-shell=x",
            "npm --prefix sub run x",
            "npm audit fix",
        ],
        not_matches: &["npm ls", "npm view left-pad", "npm --version", "npm audit"],
    },
    CommandEscape {
        name: "npx/any",
        commands: &[
            "npx",
            "pnpx",
            "bunx",
            "yarnpkg",
            "dlx",
            "npm-run-all",
            "concurrently",
            "cross-env",
            "dotenv",
            "lint-staged",
            "husky",
            "zx",
            "wireit",
        ],
        when: EscapeTrigger::Always,
        reason: "it fetches a program and runs it, or runs the one it is given",
        instead: "spell out in the list of allowed tools what it starts, such as `Bash(npx tsc:*)`",
        matches: &["npx cowsay", "npx -y x", "concurrently id", "zx x"],
        not_matches: &[],
    },
    CommandEscape {
        name: "package/install",
        commands: &[
            "pip",
            "pipenv",
            "conda",
            "mamba",
            "micromamba",
            "easy_install",
            "gem",
            "bundle",
            "bundler",
            "composer",
            "cpan",
            "cpanm",
            "luarocks",
            "cabal",
            "apt",
            "apt-get",
            "aptitude",
            "dpkg",
            "yum",
            "dnf",
            "rpm",
            "zypper",
            "pacman",
            "apk",
            "brew",
            "port",
            "emerge",
            "nix-env",
            "guix",
            "choco",
            "winget",
            "scoop",
            "helm",
            "vcpkg",
            "conan",
            "pdm",
            "hatch",
            "rye",
            "pixi",
            "rustup",
            "ghcup",
            "sdk",
            "nvm",
            "fnm",
            "pyenv",
            "rbenv",
            "alien",
            "opkg",
            "pkg",
            "snapcraft",
        ],
        when: EscapeTrigger::Judge(|words| {
            let Some((index, _)) = first_operand(words, "oc", &[]) else {
                return if words.len() == 2 { None } else { Some(0) };
            };
            let only: &[&[u8]] = &[
                b"list",
                b"show",
                b"search",
                b"info",
                b"freeze",
                b"check",
                b"help",
                b"version",
                b"outdated",
                b"status",
                b"deps",
                b"why",
                b"policy",
                b"licenses",
            ];
            let option = ProgramFlags::new(
                &["--python", "--config", "--config-settings", "--option", "--post-renderer", "--plugins"],
                &[],
                "oc",
                "",
            );
            let option = words.arguments().find(|(_, word)| option.has(word)).map(|(index, _)| index);
            if words.get(index).is_some_and(|word| only.contains(&word)) { option } else { Some(index) }
        }),
        reason: "packages run code while they are installed, and options name programs",
        instead: "name it in the list of allowed tools, such as `Bash(pip install:*)`; system packages are for the embedder",
        matches: &[
            "pip install x",
            "pip3 install -e .",
            "gem install x",
            "apt-get -o APT::Update::Pre-Invoke::=id update",
            "bundle exec x",
            "composer run x",
            "conda run x",
            "dpkg -i x.deb",
            "apt list -o Dir::Bin=x",
            "helm install x",
        ],
        not_matches: &["pip list", "pip3 show x", "gem list", "pip --version"],
    },
];
