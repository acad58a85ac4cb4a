//! Build tools, package managers and containers: what they run is written in files.

use super::{Escape, Flags, When, first_operand};

pub(super) const ENTRIES: &[Escape] = &[
    Escape {
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
            "automake",
            "autoconf",
            "configure",
            "libtool",
            "dune",
            "opam",
            "rebar3",
            "mix",
            "shake",
        ],
        when: When::Judge(|words| {
            let only: &[&[u8]] = &[b"--version", b"--help", b"-version"];
            if words.len() == 2 && words.get(1).is_some_and(|word| only.contains(&word)) {
                None
            } else {
                Some(0)
            }
        }),
        reason: "it runs the commands of a build file, and of options such as --eval",
        instead: "call the steps themselves, or ask for this one to be allowed",
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
    Escape {
        name: "npm/run",
        commands: &["npm", "pnpm", "yarn", "cnpm", "corepack", "rush", "volta"],
        when: When::Judge(|words| {
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
            let flags = Flags {
                long: &[
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
                but: &["--global", "--us"],
                short: "",
                valued: "",
            };
            let option = words.arguments().find(|(_, word)| flags.has(word)).map(|(index, _)| index);
            let fixes = words.get(index) == Some(b"audit") && words.get(index + 1) == Some(b"fix");
            if fixes || !words.get(index).is_some_and(|word| only.contains(&word)) {
                Some(index)
            } else {
                option
            }
        }),
        reason: "it runs scripts of this package and of those it installs",
        instead: "call the script's own command, or ask for this one to be allowed",
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
    Escape {
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
        when: When::Always,
        reason: "it fetches a program and runs it, or runs the one it is given",
        instead: "call an installed program itself, or ask for this one to be allowed",
        matches: &["npx cowsay", "npx -y x", "concurrently id", "zx x"],
        not_matches: &[],
    },
    Escape {
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
            "snapcraft",
        ],
        when: When::Judge(|words| {
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
            let option = Flags {
                long: &[
                    "--python",
                    "--config",
                    "--config-settings",
                    "--option",
                    "--post-renderer",
                    "--plugins",
                ],
                but: &[],
                short: "oc",
                valued: "",
            };
            let option = words.arguments().find(|(_, word)| option.has(word)).map(|(index, _)| index);
            if words.get(index).is_some_and(|word| only.contains(&word)) { option } else { Some(index) }
        }),
        reason: "packages run code while they are installed, and options name programs",
        instead: "let the embedder install what is needed",
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
    Escape {
        name: "cargo/run",
        commands: &["cargo"],
        when: When::Judge(|words| {
            let flags = Flags { long: &["--config", "--manifest-path"], but: &[], short: "Z", valued: "pFj" };
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
        instead: "ask for it to be allowed",
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
    Escape {
        name: "compiler/plugin",
        commands: &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "cpp", "ld", "gold", "lld", "tcc", "ccache",
            "distcc", "icc", "nvcc", "javac", "tsc", "babel", "webpack", "rollup", "vite", "esbuild",
            "eslint", "prettier", "jest", "mocha", "vitest", "pytest", "py.test", "nose2", "unittest",
            "rspec", "phpunit", "mypy", "pylint", "flake8", "cython", "coverage", "protoc", "flex", "bison",
            "as", "nasm", "gprof",
        ],
        when: When::Judge(|words| {
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
                b"-proc:",
                b"--init-hook",
                b"--load-plugins",
                b"-ccbin",
                b"-fuse-ld",
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
            words
                .arguments()
                .find(|(_, word)| {
                    let lower = word.to_ascii_lowercase();
                    signs.iter().any(|sign| lower.starts_with(sign))
                })
                .map(|(index, _)| index)
        }),
        reason: "test runners and bundlers run what they find, and compilers load plugins and wrappers",
        instead: "use plain options, or ask for this one to be allowed",
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
            "pytest -p x",
            "eslint .",
        ],
        not_matches: &["gcc -O2 -o a a.c", "clang -c a.c", "pytest --version", "tsc --noEmit"],
    },
    Escape {
        name: "container/any",
        commands: &[
            "docker",
            "docker-compose",
            "podman",
            "podman-compose",
            "nerdctl",
            "buildah",
            "ctr",
            "crictl",
            "runc",
            "crun",
            "lxc",
            "lxc-attach",
            "lxc-execute",
            "incus",
            "vagrant",
            "kind",
            "minikube",
            "colima",
            "limactl",
            "multipass",
            "virsh",
            "qemu",
            "qemu-system",
            "packer",
            "skopeo",
            "toolbox",
            "distrobox",
        ],
        when: When::Judge(|words| {
            let (index, _) = first_operand(words, "Hlc", &["--host", "--context", "--config"])?;
            let only: &[&[u8]] = &[
                b"ps", b"images", b"version", b"info", b"inspect", b"logs", b"top", b"stats", b"port",
                b"history", b"search",
            ];
            let options = Flags {
                long: &["--host", "--config", "--context", "--connection", "--url", "--runtime"],
                but: &[],
                short: "H",
                valued: "fn",
            };
            let option = words.arguments().find(|(_, word)| options.has(word)).map(|(index, _)| index);
            if words.get(index).is_some_and(|word| only.contains(&word)) { option } else { Some(index) }
        }),
        reason: "a container may have the whole machine in it",
        instead: "let the embedder start containers",
        matches: &[
            "docker run -v /:/h x",
            "docker exec x id",
            "podman run x",
            "docker build .",
            "docker compose up",
            "docker -H tcp://h.test ps",
            "docker --config x ps",
        ],
        not_matches: &["docker ps", "docker images", "docker logs x", "docker --version"],
    },
    Escape {
        name: "kubectl/exec",
        commands: &["kubectl", "oc", "k3s", "kubectx", "kustomize"],
        when: When::Judge(|words| {
            let flags = Flags {
                long: &[
                    "--kubeconfig",
                    "--raw",
                    "--exec-command",
                    "--enable-exec",
                    "--enable-alpha-plugins",
                    "--enable-helm",
                    "--helm-command",
                    "--network",
                ],
                but: &[],
                short: "",
                valued: "",
            };
            if let Some((index, _)) = words.arguments().find(|(_, word)| flags.has(word)) {
                return Some(index);
            }
            let (index, _) = first_operand(
                words,
                "nsv",
                &["--namespace", "--context", "--cluster", "--user", "--server", "--as", "--token"],
            )?;
            let only: &[&[u8]] = &[
                b"get",
                b"describe",
                b"logs",
                b"top",
                b"version",
                b"explain",
                b"api-resources",
                b"api-versions",
                b"cluster-info",
                b"apply",
                b"delete",
                b"create",
                b"scale",
                b"rollout",
                b"label",
                b"annotate",
                b"diff",
                b"wait",
                b"patch",
                b"build",
                b"events",
                b"expose",
                b"set",
                b"autoscale",
                b"cordon",
                b"uncordon",
                b"drain",
                b"taint",
                b"auth",
            ];
            (!words.get(index).is_some_and(|word| only.contains(&word))).then_some(index)
        }),
        reason: "it runs commands in a cluster, opens an editor or a tunnel, or starts a plugin",
        instead: "use another sub-command",
        matches: &[
            "kubectl exec p -- id",
            "kubectl run x --image=y",
            "kubectl edit x",
            "kubectl plug",
            "kubectl port-forward x 1",
            "kubectl cp a p:b",
            "kubectl debug x",
            "kubectl --kubeconfig=x get pods",
            "kubectl -n ns exec p id",
        ],
        not_matches: &[
            "kubectl get pods",
            "kubectl describe pod x",
            "kubectl logs x",
            "kubectl -n ns get pods",
            "kubectl",
        ],
    },
    Escape {
        name: "infrastructure/run",
        commands: &[
            "terraform",
            "tofu",
            "terragrunt",
            "pulumi",
            "cdk",
            "serverless",
            "sls",
            "sam",
            "heroku",
            "fly",
            "flyctl",
            "vercel",
            "netlify",
            "wrangler",
            "firebase",
            "aws",
            "gcloud",
            "az",
            "puppet",
            "chef-client",
            "chef-solo",
        ],
        when: When::Judge(|words| {
            let cloud: &[&[u8]] = &[b"aws", b"gcloud", b"az"];
            let file = words.get(0)?.rsplit(|byte| *byte == b'/').next()?;
            if cloud.contains(&file) {
                let signs: &[&[u8]] = &[
                    b"ssh",
                    b"configure",
                    b"config",
                    b"ssm",
                    b"exec-command",
                    b"execute-command",
                    b"extension",
                    b"run-command",
                    b"print-access-token",
                    b"get-session-token",
                    b"get-login-password",
                    b"alias",
                    b"components",
                    b"login",
                    b"get-access-token",
                    b"execute",
                    b"ec2-instance-connect",
                    b"proxy",
                    b"start-session",
                ];
                return words.arguments().find(|(_, word)| signs.contains(word)).map(|(index, _)| index);
            }
            let only: &[&[u8]] = &[b"version", b"--version", b"fmt", b"help"];
            if words.get(1).is_some_and(|word| only.contains(&word)) { None } else { Some(0) }
        }),
        reason: "it runs what files and settings say, commands on other machines, or gives out tokens",
        instead: "let the embedder do this",
        matches: &[
            "terraform apply",
            "terraform init",
            "aws ssm start-session",
            "gcloud compute ssh x",
            "aws configure set x y",
            "az extension add x",
            "pulumi up",
        ],
        not_matches: &["terraform version", "terraform fmt", "aws s3 ls", "gcloud projects list"],
    },
];
