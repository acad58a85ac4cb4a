//! Where credentials lie, and whose they are.

use super::{AccessFilter, CredentialWeight, LISTERS, NONE, SensitivePath, VerdictFilter, place};
use crate::format::trace::AttackClass::CredentialHarvesting;
use crate::format::trace::AttackSeverity::Medium;

/// A place of credentials with its owners.
const fn secret(
    says: &'static str,
    techniques: &'static [&'static str],
    paths: &'static [&'static str],
    owners: &'static [&'static str],
) -> SensitivePath {
    SensitivePath { techniques, owners, ..place(CredentialHarvesting, Medium, says, paths) }
}

/// A place of credentials where many look.
const fn shared(
    says: &'static str,
    techniques: &'static [&'static str],
    paths: &'static [&'static str],
    owners: &'static [&'static str],
) -> SensitivePath {
    SensitivePath { weight: CredentialWeight::Shared, ..secret(says, techniques, paths, owners) }
}

/// Programs of SSH.
const SSH: &[&str] =
    &["scp", "sftp", "ssh", "ssh-add", "ssh-agent", "ssh-copy-id", "ssh-keygen", "ssh-keysign", "sshd"];

/// Programs that ask agents of SSH and `GnuPG` to sign.
const AGENT_USERS: &[&str] = &[
    "gpg",
    "gpg-agent",
    "gpg-connect-agent",
    "gpgconf",
    "gpgsm",
    "scp",
    "sftp",
    "ssh",
    "ssh-add",
    "ssh-agent",
    "ssh-copy-id",
];

const FILES: &[&str] = &["T1552.001", "AML.T0055"];
const KEYS: &[&str] = &["T1552.004", "AML.T0055"];
const STORES: &[&str] = &["T1555"];
const MANAGERS: &[&str] = &["T1555.005"];
const BROWSERS: &[&str] = &["T1539", "T1555.003"];
const SESSIONS: &[&str] = &["T1539"];
const AGENTS: &[&str] = &["T1552.001", "AML.T0083"];

pub(super) const PLACES: &[SensitivePath] = &[
    secret("credentials of AWS", FILES, &[".aws/**"], &["aws", "aws-vault", "eksctl", "sam", "terraform"]),
    SensitivePath {
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
    shared("tokens of Cargo", FILES, &[".cargo/credentials", ".cargo/credentials.toml"], &["cargo"]),
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
    SensitivePath {
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
        "sessions of messengers",
        SESSIONS,
        &[
            ".local/share/TelegramDesktop/tdata/**",
            ".config/discord/**",
            ".config/Slack/**",
            ".config/Signal/**",
            ".config/Element/**",
            ".purple/accounts.xml",
            "snap/telegram-desktop/current/.local/share/TelegramDesktop/**",
        ],
        &[
            "telegram-desktop",
            "Telegram",
            "Discord",
            "discord",
            "slack",
            "signal-desktop",
            "element-desktop",
            "pidgin",
        ],
    ),
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
    SensitivePath {
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
    SensitivePath {
        access: AccessFilter::Any,
        when: VerdictFilter::NotAllowed,
        ..secret(
            "agents that hold keys",
            KEYS,
            &[
                "ssh-*/agent.*",
                "keyring/ssh",
                "keyring/control",
                "keyring/pkcs11",
                "gnupg/S.gpg-agent*",
                ".gnupg/S.gpg-agent*",
            ],
            AGENT_USERS,
        )
    },
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
    SensitivePath {
        when: VerdictFilter::NotAllowed,
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
];
