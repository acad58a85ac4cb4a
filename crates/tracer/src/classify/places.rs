//! Places in the file system that mean something, as data.

use crate::trace::Class::{
    self, CredentialHarvesting, Discovery, Persistence, PrivilegeEscalation, SandboxEscape,
};
use crate::trace::Severity::{self, High, Low, Medium};

/// Which accesses of a place mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// To read, or to get at the content in another way: by a second name, or by opening to write where that was refused.
    Read,
    /// To write, to cut, to replace, to change the mode.
    Change,
    /// All of these, and to connect to a socket.
    Any,
}

/// How an access must have ended to mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// However it ended.
    Any,
    /// It was not let happen, or there was nothing. What was granted was meant.
    NotAllowed,
    /// It was not let happen.
    Denied,
}

/// How much one access of a place of credentials says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Programs that are not its owners have no business there.
    Alone,
    /// Programs of many kinds look there as a matter of course; three kinds of such places say something.
    Shared,
}

/// A kind of place.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) class: Class,
    pub(super) says: &'static str,
    pub(super) severity: Severity,
    pub(super) techniques: &'static [&'static str],
    pub(super) access: Access,
    pub(super) when: When,
    pub(super) weight: Weight,
    pub(super) paths: &'static [&'static str],
    /// Parts of it that mean nothing.
    pub(super) except: &'static [&'static str],
    /// Programs whose place it is.
    pub(super) owners: &'static [&'static str],
    /// Programs that it means something of; all where this is empty.
    pub(super) only_by: &'static [&'static str],
}

const NONE: &[&str] = &[];

const fn place(
    class: Class,
    severity: Severity,
    says: &'static str,
    paths: &'static [&'static str],
) -> Place {
    Place {
        class,
        says,
        severity,
        techniques: NONE,
        access: Access::Read,
        when: When::Any,
        weight: Weight::Alone,
        paths,
        except: NONE,
        owners: NONE,
        only_by: NONE,
    }
}

/// A place of credentials with its owners.
const fn secret(
    says: &'static str,
    techniques: &'static [&'static str],
    paths: &'static [&'static str],
    owners: &'static [&'static str],
) -> Place {
    Place { techniques, owners, ..place(CredentialHarvesting, Medium, says, paths) }
}

/// A place of credentials where many look.
const fn shared(
    says: &'static str,
    techniques: &'static [&'static str],
    paths: &'static [&'static str],
    owners: &'static [&'static str],
) -> Place {
    Place { weight: Weight::Shared, ..secret(says, techniques, paths, owners) }
}

/// A place that is executed later.
const fn later(
    says: &'static str,
    techniques: &'static [&'static str],
    paths: &'static [&'static str],
) -> Place {
    Place { techniques, access: Access::Change, ..place(Persistence, High, says, paths) }
}

/// A place that leads out.
const fn out(says: &'static str, access: Access, when: When, paths: &'static [&'static str]) -> Place {
    Place { techniques: &["T1611"], access, when, ..place(SandboxEscape, High, says, paths) }
}

/// Programs of SSH.
const SSH: &[&str] =
    &["scp", "sftp", "ssh", "ssh-add", "ssh-agent", "ssh-copy-id", "ssh-keygen", "ssh-keysign", "sshd"];

/// Programs whose purpose is to list processes.
pub(super) const LISTERS: &[&str] = &[
    "ps", "top", "htop", "pgrep", "pkill", "pidof", "killall", "lsof", "fuser", "pstree", "w", "uptime",
    "free",
];

const FILES: &[&str] = &["T1552.001", "AML.T0055"];
const KEYS: &[&str] = &["T1552.004", "AML.T0055"];
const STORES: &[&str] = &["T1555"];
const MANAGERS: &[&str] = &["T1555.005"];
const BROWSERS: &[&str] = &["T1539", "T1555.003"];
const AGENTS: &[&str] = &["T1552.001", "AML.T0083"];

/// Programs that read what they are told to, and nothing else.
const READERS: &[&str] = &[
    "awk", "base64", "cat", "cp", "cut", "dd", "gawk", "grep", "head", "less", "mawk", "more", "od", "sed",
    "sort", "strings", "tac", "tail", "tee", "xxd",
];

pub(super) const PLACES: &[Place] = &[
    // Credentials.
    secret("credentials of AWS", FILES, &[".aws/**"], &["aws", "aws-vault", "eksctl", "sam", "terraform"]),
    Place {
        except: &[
            ".ssh/*.pub",
            ".ssh/known_hosts*",
            ".ssh/config",
            ".ssh/config.d/**",
            ".ssh/authorized_keys*",
        ],
        ..secret("keys of SSH", KEYS, &[".ssh/**", "/etc/ssh/ssh_host_*_key"], SSH)
    },
    shared("known hosts and configuration of SSH", FILES, &[".ssh/known_hosts*", ".ssh/config"], SSH),
    secret(
        "tokens of the GitHub command",
        FILES,
        &[".config/gh/**", ".config/hub", ".config/hub/**"],
        &["gh", "hub"],
    ),
    secret("tokens of the GitLab command", FILES, &[".config/glab-cli/**"], &["glab"]),
    secret(
        "stored passwords of Git",
        FILES,
        &[".git-credentials", ".config/git/credentials"],
        &["git", "git-credential-store", "git-remote-http", "git-remote-https"],
    ),
    secret(
        "credentials of Google Cloud",
        FILES,
        &[".config/gcloud/**", ".boto"],
        &["gcloud", "gsutil", "bq", "terraform"],
    ),
    secret("credentials of Azure", FILES, &[".azure/**"], &["az", "terraform"]),
    secret(
        "access to Kubernetes",
        FILES,
        &[".kube/**", "/etc/kubernetes/**", "/etc/rancher/**"],
        &[
            "argocd",
            "flux",
            "helm",
            "k9s",
            "kubectl",
            "kubectx",
            "kubelet",
            "kubens",
            "kustomize",
            "minikube",
            "oc",
        ],
    ),
    secret(
        "tokens of the cluster or container",
        &["T1528", "AML.T0055"],
        &["/run/secrets/**", "/var/run/secrets/**"],
        &["kubectl"],
    ),
    secret(
        "passwords of container registries",
        FILES,
        &[".docker/config.json", ".dockercfg", ".config/containers/auth.json"],
        &["buildah", "docker", "docker-compose", "dockerd", "nerdctl", "podman", "skopeo"],
    ),
    secret("tokens of Cargo", FILES, &[".cargo/credentials", ".cargo/credentials.toml"], &["cargo"]),
    secret(
        "tokens of RubyGems",
        FILES,
        &[".gem/credentials", ".local/share/gem/credentials"],
        &["gem", "ruby", "bundle"],
    ),
    secret(
        "tokens of Composer",
        FILES,
        &[".composer/auth.json", ".config/composer/auth.json"],
        &["composer", "php"],
    ),
    secret(
        "tokens of HashiCorp tools",
        FILES,
        &[".terraform.d/credentials.tfrc.json", ".vault-token"],
        &["terraform", "tofu", "vault", "nomad", "consul"],
    ),
    secret(
        "credentials of file stores",
        FILES,
        &[".s3cfg", ".config/rclone/**", ".mc/config.json"],
        &["s3cmd", "rclone", "mc"],
    ),
    secret(
        "tokens of hosting services",
        FILES,
        &[
            ".config/heroku/**",
            ".config/doctl/**",
            ".fly/config.yml",
            ".config/netlify/**",
            ".config/vercel/**",
            ".wrangler/config/**",
            ".config/.wrangler/config/**",
            ".pulumi/credentials.json",
            ".config/op/**",
        ],
        &["heroku", "doctl", "fly", "flyctl", "netlify", "vercel", "wrangler", "pulumi", "op"],
    ),
    Place {
        techniques: AGENTS,
        ..secret(
            "credentials of AI agents",
            AGENTS,
            &[
                ".claude/.credentials.json",
                ".claude.json",
                ".codex/auth.json",
                ".gemini/oauth_creds.json",
                ".config/github-copilot/**",
                ".config/openai/**",
                ".openai/**",
                ".anthropic/**",
                ".cursor/mcp.json",
                ".config/Claude/claude_desktop_config.json",
                ".continue/config.json",
                ".aider.conf.yml",
            ],
            &["claude", "codex", "gemini", "copilot", "cursor", "aider"],
        )
    },
    secret(
        "profiles of browsers",
        BROWSERS,
        &[
            ".mozilla/firefox/**",
            ".librewolf/**",
            ".thunderbird/**",
            ".config/google-chrome/**",
            ".config/chromium/**",
            ".config/BraveSoftware/**",
            ".config/microsoft-edge/**",
            ".config/opera/**",
            ".config/vivaldi/**",
            "snap/firefox/common/.mozilla/**",
            "snap/chromium/common/**",
        ],
        &[
            "firefox",
            "firefox-bin",
            "firefox-esr",
            "librewolf",
            "thunderbird",
            "chrome",
            "chromium",
            "brave",
            "msedge",
            "opera",
            "vivaldi-bin",
        ],
    ),
    secret(
        "key rings of the desktop",
        STORES,
        &[
            ".local/share/keyrings/**",
            ".gnome2/keyrings/**",
            ".local/share/kwalletd/**",
            ".kde/share/apps/kwallet/**",
        ],
        &["gnome-keyring-daemon", "kwalletd5", "kwalletd6", "seahorse"],
    ),
    secret(
        "password managers",
        MANAGERS,
        &[
            ".password-store/**",
            "*.kdbx",
            ".config/Bitwarden/**",
            ".config/1Password/**",
            ".config/keepassxc/**",
            ".config/KeePass/**",
            ".lastpass/**",
        ],
        &["pass", "gopass", "keepassxc", "keepassxc-cli", "bw", "1password", "lpass"],
    ),
    Place {
        except: &[
            ".gnupg",
            ".gnupg/pubring.*",
            ".gnupg/trustdb.gpg",
            ".gnupg/*.conf",
            ".gnupg/common.conf",
            ".gnupg/S.*",
            ".gnupg/crls.d/**",
            ".gnupg/public-keys.d/**",
        ],
        ..secret(
            "private keys of GnuPG",
            KEYS,
            &[".gnupg/**"],
            &[
                "gpg",
                "gpg2",
                "gpg-agent",
                "gpgconf",
                "gpgsm",
                "gpgv",
                "keyboxd",
                "dirmngr",
                "scdaemon",
                "pinentry",
            ],
        )
    },
    secret(
        "wallets",
        KEYS,
        &[
            ".bitcoin/**",
            ".ethereum/**",
            ".electrum/**",
            ".config/solana/**",
            ".config/Exodus/**",
            ".monero/**",
            ".litecoin/**",
            ".dogecoin/**",
            ".config/atomic/**",
            ".config/Ledger Live/**",
            ".local/share/trezor/**",
            ".foundry/keystores/**",
        ],
        &["bitcoind", "bitcoin-qt", "geth", "electrum", "solana", "monerod"],
    ),
    secret(
        "keys of TLS servers",
        KEYS,
        &["/etc/ssl/private/**", "/etc/letsencrypt/**", "/etc/pki/tls/private/**"],
        &["nginx", "apache2", "httpd", "certbot", "haproxy"],
    ),
    secret(
        "password hashes of the system",
        &["T1003.008"],
        &[
            "/etc/shadow",
            "/etc/shadow-",
            "/etc/gshadow",
            "/etc/gshadow-",
            "/etc/master.passwd",
            "/etc/security/opasswd",
        ],
        &["login", "passwd", "sshd", "su", "sudo", "unix_chkpwd", "useradd", "usermod", "chage"],
    ),
    secret(
        "the environment of another process",
        &["T1552", "T1003.007"],
        &["/proc/#/environ", "/proc/#/task/*/environ"],
        LISTERS,
    ),
    secret(
        "the memory of another process",
        &["T1003.007"],
        &["/proc/#/mem", "/proc/#/task/*/mem"],
        &["gdb", "strace", "lldb"],
    ),
    shared(
        "the own environment as a file",
        &["T1552"],
        &["/proc/self/environ", "/proc/thread-self/environ"],
        NONE,
    ),
    shared(
        "passwords in .netrc",
        FILES,
        &[".netrc", "_netrc", ".authinfo", ".authinfo.gpg"],
        &["curl", "ftp", "git-remote-http", "git-remote-https", "lftp", "wget"],
    ),
    shared(
        "tokens of npm",
        FILES,
        &[".npmrc", ".yarnrc", ".yarnrc.yml", ".config/yarn/**"],
        &["bun", "node", "npm", "pnpm", "yarn"],
    ),
    shared("tokens of PyPI", FILES, &[".pypirc", ".config/pypoetry/auth.toml"], &["poetry", "twine"]),
    shared(
        "passwords of databases",
        FILES,
        &[".pgpass", ".my.cnf", ".mylogin.cnf", ".dbshell", ".config/redis/**"],
        &["mariadb", "mysql", "mysqldump", "pg_dump", "pg_restore", "psql"],
    ),
    shared(
        "passwords of Java builds",
        FILES,
        &[".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties"],
        &["gradle", "java", "mvn"],
    ),
    shared(
        "tokens of Hugging Face",
        FILES,
        &[".cache/huggingface/token", ".huggingface/token", ".cache/huggingface/stored_tokens"],
        &["hf", "huggingface-cli"],
    ),
    Place {
        when: When::NotAllowed,
        ..shared(
            "files of settings (.env)",
            FILES,
            &[".env", ".env.local", ".env.production", ".env.development", ".envrc", ".env.staging"],
            NONE,
        )
    },
    shared(
        "histories of shells",
        &["T1552.003"],
        &[
            ".bash_history",
            ".zsh_history",
            ".local/share/fish/fish_history",
            ".history",
            ".ash_history",
            ".python_history",
            ".node_repl_history",
            ".psql_history",
            ".mysql_history",
        ],
        &["ash", "bash", "fish", "ksh", "mysql", "node", "psql", "zsh"],
    ),
    // What is executed later.
    later(
        "start-up files of shells",
        &["T1546.004"],
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".zlogout",
            ".kshrc",
            ".cshrc",
            ".tcshrc",
            ".login",
            ".config/fish/config.fish",
            ".config/fish/conf.d/**",
            ".config/fish/functions/**",
            "/etc/profile",
            "/etc/profile.d/**",
            "/etc/bash.bashrc",
            "/etc/bashrc",
            "/etc/zsh/**",
            "/etc/fish/**",
            "/etc/environment",
            ".pam_environment",
            "/etc/skel/**",
        ],
    ),
    later(
        "scheduled tasks",
        &["T1053.003"],
        &[
            "/etc/crontab",
            "/etc/anacrontab",
            "/etc/cron.d/**",
            "/etc/cron.hourly/**",
            "/etc/cron.daily/**",
            "/etc/cron.weekly/**",
            "/etc/cron.monthly/**",
            "/var/spool/cron/**",
            "/var/spool/anacron/**",
        ],
    ),
    later(
        "tasks for later",
        &["T1053.002"],
        &["/var/spool/at/**", "/var/spool/cron/atjobs/**", "/var/spool/atjobs/**"],
    ),
    later(
        "services of systemd",
        &["T1543.002"],
        &[
            "/etc/systemd/**",
            "/lib/systemd/**",
            "/usr/lib/systemd/**",
            "/usr/local/lib/systemd/**",
            "/run/systemd/system/**",
            ".config/systemd/user/**",
            ".local/share/systemd/user/**",
            "/etc/xdg/systemd/**",
        ],
    ),
    later(
        "scripts at start-up",
        &["T1037.004"],
        &["/etc/rc.local", "/etc/init.d/**", "/etc/rc*.d/**", "/etc/init/**", "/etc/inittab"],
    ),
    later(
        "programs started with the desktop",
        &["T1547.013"],
        &[
            ".config/autostart/**",
            ".local/share/autostart/**",
            "/etc/xdg/autostart/**",
            ".xprofile",
            ".xinitrc",
            ".xsession",
            ".xsessionrc",
            ".config/plasma-workspace/env/**",
            ".config/autostart-scripts/**",
        ],
    ),
    later(
        "keys that may log in",
        &["T1098.004"],
        &[".ssh/authorized_keys", ".ssh/authorized_keys2", ".ssh/rc", ".ssh/environment"],
    ),
    later(
        "libraries in every program",
        &["T1574.006"],
        &["/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d/**"],
    ),
    later(
        "modules of the kernel",
        &["T1547.006"],
        &["/etc/modules", "/etc/modules-load.d/**", "/lib/modules/**", "/usr/lib/modules/**"],
    ),
    later("programs of the system", &["T1554"], &["/bin/**", "/sbin/**", "/usr/bin/**", "/usr/sbin/**"]),
    later("code that Python executes at every start", &["T1546"], &["sitecustomize.py", "usercustomize.py"]),
    later(
        "rules of udev and dbus",
        &["T1546"],
        &[
            "/etc/udev/**",
            "/lib/udev/**",
            "/usr/lib/udev/**",
            ".local/share/dbus-1/services/**",
            "/etc/dbus-1/**",
        ],
    ),
    Place {
        severity: Medium,
        owners: &["git", "pre-commit"],
        ..later(
            "hooks of Git",
            &["T1546"],
            &[
                ".git/hooks/applypatch-msg",
                ".git/hooks/commit-msg",
                ".git/hooks/fsmonitor-watchman",
                ".git/hooks/post-applypatch",
                ".git/hooks/post-checkout",
                ".git/hooks/post-commit",
                ".git/hooks/post-merge",
                ".git/hooks/post-receive",
                ".git/hooks/post-rewrite",
                ".git/hooks/post-update",
                ".git/hooks/pre-applypatch",
                ".git/hooks/pre-auto-gc",
                ".git/hooks/pre-commit",
                ".git/hooks/pre-merge-commit",
                ".git/hooks/pre-push",
                ".git/hooks/pre-rebase",
                ".git/hooks/pre-receive",
                ".git/hooks/prepare-commit-msg",
                ".git/hooks/push-to-checkout",
                ".git/hooks/reference-transaction",
                ".git/hooks/sendemail-validate",
                ".git/hooks/update",
                ".config/git/hooks/**",
                ".git-templates/**",
            ],
        )
    },
    Place {
        owners: &["claude", "codex", "gemini", "cursor"],
        ..later(
            "instructions and hooks of AI agents",
            &["T1546", "AML.T0081"],
            &[
                ".claude/settings.json",
                ".claude/settings.local.json",
                ".claude/CLAUDE.md",
                ".claude/hooks/**",
                ".claude/agents/**",
                ".claude/commands/**",
                ".claude/skills/*/SKILL.md",
                ".claude.json",
                ".codex/config.toml",
                ".codex/AGENTS.md",
                ".codex/prompts/**",
                ".gemini/settings.json",
                ".gemini/GEMINI.md",
                ".cursor/mcp.json",
                ".cursor/rules/**",
                ".config/Claude/claude_desktop_config.json",
                ".mcp.json",
                ".codeium/windsurf/mcp_config.json",
            ],
        )
    },
    // Ways to become more.
    Place {
        techniques: &["T1548.003"],
        access: Access::Change,
        ..place(
            PrivilegeEscalation,
            High,
            "who may use sudo",
            &["/etc/sudoers", "/etc/sudoers.d/**", "/etc/polkit-1/**", "/etc/doas.conf", "/etc/pam.d/**"],
        )
    },
    Place {
        techniques: &["T1136.001"],
        access: Access::Change,
        ..place(
            PrivilegeEscalation,
            High,
            "accounts of the system",
            &["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/subuid", "/etc/subgid"],
        )
    },
    // Ways out.
    out(
        "sockets of container engines",
        Access::Any,
        When::NotAllowed,
        &[
            "/run/docker.sock",
            "/var/run/docker.sock",
            "/run/containerd/**",
            "/var/run/containerd/**",
            "/run/crio/**",
            "/run/podman/**",
            "podman/podman.sock",
            "docker.sock",
            "/var/run/crio/**",
            "/run/lxd/**",
            "lxd/unix.socket",
        ],
    ),
    out(
        "the root of another process",
        Access::Any,
        When::Any,
        &["/proc/#/root/**", "/proc/#/cwd/**", "/proc/#/task/*/root/**"],
    ),
    out("namespaces of the first process", Access::Any, When::Any, &["/proc/1/ns/**"]),
    out(
        "switches of the kernel",
        Access::Change,
        When::Any,
        &["/proc/sys/**", "/proc/sysrq-trigger", "/sys/**", "/sys/fs/cgroup/**"],
    ),
    out(
        "what the kernel executes",
        Access::Change,
        When::Any,
        &[
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sys/kernel/hotplug",
            "release_agent",
            "/sys/kernel/uevent_helper",
            "/proc/sys/fs/binfmt_misc/**",
        ],
    ),
    out(
        "memory and disks of the machine",
        Access::Any,
        When::Any,
        &[
            "/dev/mem",
            "/dev/kmem",
            "/dev/port",
            "/proc/kcore",
            "/dev/sd*",
            "/dev/nvme*",
            "/dev/vd*",
            "/dev/xvd*",
            "/dev/dm-*",
            "/dev/mapper/*",
            "/dev/disk/**",
            "/dev/loop*",
        ],
    ),
    // Looking around.
    Place {
        techniques: &["T1083"],
        when: When::Denied,
        ..place(Discovery, Low, "home folders", &["/home", "/home/*", "/root", "/Users", "/Users/*"])
    },
    Place {
        techniques: &["T1083"],
        when: When::Denied,
        ..place(Discovery, Low, "other disks", &["/mnt", "/mnt/*", "/media", "/media/*", "/srv", "/boot"])
    },
    Place {
        techniques: &["T1087.001"],
        when: When::Denied,
        only_by: READERS,
        ..place(Discovery, Low, "accounts of the system", &["/etc/passwd", "/etc/group"])
    },
];

/// Where people and services keep what is theirs. What is refused here was not granted, and no program needs it to start.
pub(super) const PRIVATE: &[&str] = &[
    "/home/*/**",
    "/root/**",
    "/Users/*/**",
    "/mnt/**",
    "/media/**",
    "/srv/**",
    "/boot/**",
    "/var/mail/**",
    "/var/spool/**",
    "/var/log/**",
    "/var/backups/**",
    "/var/www/**",
    "/var/lib/docker/**",
    "/var/lib/mysql/**",
    "/var/lib/postgresql/**",
    "/etc/sudoers",
    "/etc/sudoers.d/**",
];

/// Names that programs look for in every folder above the one they are started in, and what they leave there.
pub(super) const LOOKED_FOR: &[&str] = &[
    "AGENTS.md",
    "Cargo.lock",
    "Cargo.toml",
    "CLAUDE.md",
    "CMakeLists.txt",
    "Gemfile",
    "Makefile",
    "Pipfile",
    "WORKSPACE",
    "__pycache__",
    "babel.config.js",
    "bin",
    "build.gradle",
    "bunfig.toml",
    "composer.json",
    "conftest.py",
    "deno.json",
    "deno.jsonc",
    "go",
    "go.mod",
    "go.work",
    "jsconfig.json",
    "lerna.json",
    "mypy.ini",
    "node_modules",
    "nx.json",
    "package-lock.json",
    "package.json",
    "pnpm-workspace.yaml",
    "pom.xml",
    "poetry.toml",
    "pyproject.toml",
    "pyrightconfig.json",
    "pytest.ini",
    "pyvenv.cfg",
    "ruff.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "rustfmt.toml",
    "settings.gradle",
    "setup.cfg",
    "setup.py",
    "snap",
    "tox.ini",
    "tsconfig.json",
    "turbo.json",
    "uv.lock",
    "uv.toml",
    "yarn.lock",
];
