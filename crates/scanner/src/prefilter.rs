//! Signs in a text that some slower look is worth while. They are searched for together with the rules' literals, in the one
//! pass over the text.

/// What a text gives a sign of, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextSignals(u32);

impl TextSignals {
    /// Strings that are put together from pieces.
    pub(crate) const JOINED: Self = Self(1);
    /// Words in rot13.
    pub(crate) const ROT13: Self = Self(1 << 1);
    /// Words backwards.
    pub(crate) const REVERSED: Self = Self(1 << 2);
    /// Characters written as numbers.
    pub(crate) const CODES: Self = Self(1 << 3);
    /// A shell's ways to spell a word.
    pub(crate) const SHELL: Self = Self(1 << 4);
    /// Styles that may hide text.
    pub(crate) const STYLE: Self = Self(1 << 5);
    /// HTML comments.
    pub(crate) const COMMENT: Self = Self(1 << 6);
    /// Agents that are started.
    pub(crate) const AGENTS: Self = Self(1 << 7);
    /// Commands that fetch.
    pub(crate) const FETCH: Self = Self(1 << 8);
    /// Places where secrets lie.
    pub(crate) const SECRETS: Self = Self(1 << 9);
    /// Addresses that are spelt so that nothing links to them.
    pub(crate) const DEFANGED: Self = Self(1 << 10);
    /// Encodings by their name.
    pub(crate) const ENCODING: Self = Self(1 << 11);

    /// Code that sends.
    pub(crate) const CODE_SENDS: Self = Self(1 << 12);
    /// Code that runs texts, or joins a program to a connection.
    pub(crate) const CODE_RUNS: Self = Self(1 << 13);
    /// Code that names places where writing or deleting does harm.
    pub(crate) const CODE_PLACES: Self = Self(1 << 14);
    /// Code that spells names so that they are not seen.
    pub(crate) const CODE_TRICKS: Self = Self(1 << 15);
    /// Code that names what is secret.
    pub(crate) const CODE_SECRETS: Self = Self(1 << 16);
    /// Code that packs values into one text.
    pub(crate) const CODE_PACKS: Self = Self(1 << 20);
    /// Files of keys, by names that nothing else has.
    pub(crate) const KEY_FILES: Self = Self(1 << 19);
    /// Commands that say much by themselves.
    pub(crate) const COMMANDS: Self = Self(1 << 18);
    /// Words that make a sentence worth reading: `instructions/`.
    pub(crate) const TOLD: Self = Self(1 << 17);

    pub(crate) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether a line gives one of these signs.
    pub(crate) fn is_in(self, line: &str) -> bool {
        let lower = line.to_ascii_lowercase();
        let mut words = SIGNALS.iter().filter(|(signal, _)| self.has(*signal)).flat_map(|(_, words)| *words);
        words.any(|word| lower.contains(word))
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The signs, each with the words that give it.
pub(crate) const SIGNALS: &[(TextSignals, &[&str])] = &[
    (TextSignals::TOLD, crate::instructions::GATE_WORDS),
    (TextSignals::CODE_PACKS, &["json.dumps(", "json.stringify(", "b64encode(", "btoa("]),
    (
        TextSignals::KEY_FILES,
        &[
            "id_rsa",
            "id_ed25519",
            ".ssh/",
            ".aws/credentials",
            "wallet.dat",
            "login data",
            "key4.db",
            ".gnupg",
        ],
    ),
    (
        TextSignals::COMMANDS,
        &[
            "| sh",
            "|sh",
            "| bash",
            "|bash",
            "| sudo",
            "base64 -",
            "eval ",
            "/dev/tcp",
            "/dev/udp",
            "mkfifo",
            "ncat",
            "netcat",
            " nc ",
            "socat",
            "s_client",
            "authorized_keys",
            "crontab",
            "rm -rf",
            "rm -fr",
            "nslookup",
            "xxd -",
            "invoke-expression",
            "| iex",
            "launchctl",
            ".bashrc",
            ".zshrc",
            "bash -c",
            "sh -c",
            "<(curl",
            "$(curl",
            "`curl",
            "curl -",
            "wget -",
            "scp ",
            "rsync ",
            "printenv",
            "env |",
        ],
    ),
    (
        TextSignals::JOINED,
        &["\" + \"", "' + '", "\"+\"", "'+'", "\" . \"", "' . '", "\".\"", "\".join(", "'.join("],
    ),
    (
        TextSignals::ROT13,
        &[
            "vtaber",
            "cerivbhf",
            "vafgehpgvba",
            "flfgrz cebzcg",
            "qvfertneq",
            "perqragvnyf",
            "cnffjbeq",
            "rkrphgr",
            "erirny",
            "bireevqr",
            "hcybnq",
            "phey -",
            "uggcf:",
            "uggc:",
            "| onfu",
            "rot13",
            "rot-13",
            "rot 13",
        ],
    ),
    (
        TextSignals::REVERSED,
        &[
            "erongi",
            "suoiverp",
            "noitcurtsni",
            "tpmorp metsys",
            "dragersid",
            "slaitnederc",
            "drowssap",
            "etucexe",
            "terces",
            "laever",
            "edirrevo",
            "daolpu",
            "- lruc",
            "//:sptth",
            "//:ptth",
            "hsab |",
            "backwards",
            "in reverse",
        ],
    ),
    (
        TextSignals::CODES,
        &["fromcharcode", "chr(", "bytes([", "bytearray([", "[char]", "printf", "charcode", "join(map(chr"],
    ),
    (TextSignals::SHELL, &["$ifs", "${ifs", "$'\\", " \\\n", " \\\r", "${@}"]),
    (TextSignals::STYLE, &["display:", "font-size:", "visibility:", "opacity:", "color:"]),
    (TextSignals::COMMENT, &["<!--"]),
    (TextSignals::AGENTS, &["task(", "agent(", "task tool", "delegate to"]),
    (TextSignals::FETCH, &["curl", "wget", "webfetch", "web_fetch"]),
    (
        TextSignals::SECRETS,
        &[
            "environ",
            "getenv",
            "process.env",
            "env[",
            "$env:",
            "env::var",
            ".ssh",
            ".aws",
            ".netrc",
            ".npmrc",
            ".pypirc",
            "git-credentials",
            "id_rsa",
            "id_ed25519",
            ".kube",
            "gcloud",
            "wallet",
            "keychain",
            ".gnupg",
            "cookies",
            "login data",
            "logindata",
            "/etc/shadow",
            "bash_history",
            ".docker/config",
        ],
    ),
    (
        TextSignals::CODE_SENDS,
        &[
            "requests",
            "urllib",
            "httpx",
            "aiohttp",
            "http.client",
            "fetch(",
            "axios",
            "socket",
            "smtplib",
            "ftplib",
            "paramiko",
            "boto3",
            "sendbeacon",
            "xmlhttprequest",
            "undici",
            "https.request",
            "http.request",
            "dgram",
            "nodemailer",
            "curl",
            "wget",
            "https.get",
            "http.get",
            "got.",
            "got(",
            "urlopen",
            "upload",
            "dns.",
            "require('net')",
            "require(\"net\")",
            "'tls'",
            "\"tls\"",
            "node:net",
            "node:https",
            "'https'",
            "\"https\"",
            "'http'",
            "\"http\"",
            "client-s3",
            "superagent",
            "needle",
            "new image(",
            "createelement(",
            "webbrowser",
            "telegram",
            "discord",
            "slack_sdk",
            "asyncssh",
            "pysftp",
            "mqtt",
            "'ftp'",
            "sftp",
            "nslookup",
            "'nc'",
            "\"nc\"",
            " nc ",
            "ncat",
            "netcat",
            "scp",
            "rsync",
            "'dig'",
            "\"dig\"",
            "dig +",
            "open_connection",
            "'net'",
            "\"net\"",
            "resolver",
            "gethostby",
            "getaddrinfo",
        ],
    ),
    (
        TextSignals::CODE_RUNS,
        &[
            "exec(",
            "eval(",
            "new function(",
            "dup2",
            "shell=true",
            "shell = true",
            "bin/sh",
            "bin/bash",
            "pty.spawn",
            "marshal",
            "runinthiscontext",
            "runinnewcontext",
            ".pipe(",
            "os.system",
            "os.popen",
            "subprocess",
            "child_process",
            "execsync",
            "_compile(",
        ],
    ),
    (
        TextSignals::CODE_PLACES,
        &[
            "bashrc",
            "zshrc",
            ".profile",
            "bash_profile",
            "zshenv",
            "crontab",
            "/cron",
            "launchagents",
            "launchdaemons",
            "authorized_keys",
            "systemd",
            "autostart",
            "git/hooks",
            "settings.json",
            "settings.local",
            "mcp.json",
            ".claude.json",
            "claude_desktop",
            "rmtree",
            "rmsync",
            "rimraf",
            "fs.rm(",
            "os.walk",
            ".encrypt(",
            "rc.local",
            "profile.d",
            "ld.so.preload",
            "sitecustomize",
            "programs/startup",
            "programs\\startup",
            "config.fish",
        ],
    ),
    (
        TextSignals::CODE_TRICKS,
        &[
            "getattr(",
            "__import__",
            "globalthis",
            "fromhex",
            "[::-1]",
            "fromcharcode",
            "atob(",
            "b64decode",
            "import_module",
            "reverse(",
            "unhexlify",
            "'base64'",
            "\"base64\"",
            "'hex'",
            "decompress",
            "chr(",
            "\\u00",
        ],
    ),
    (
        TextSignals::CODE_SECRETS,
        &[
            "environ",
            "getenv",
            "process.env",
            "deno.env",
            "bun.env",
            ".ssh",
            ".aws",
            "netrc",
            ".npmrc",
            ".pypirc",
            "git-credentials",
            "id_rsa",
            "id_ed25519",
            "id_ecdsa",
            "id_dsa",
            ".kube",
            "gcloud",
            "wallet",
            "keychain",
            "gnupg",
            "cookies",
            "login data",
            "logindata",
            "/etc/shadow",
            "_history",
            ".docker/config",
            "'.docker'",
            ".env\"",
            ".env'",
            ".env`",
            "/.env",
            "dotenv",
            ".claude/",
            "'.claude'",
            "\".claude\"",
            ".openclaw",
            ".clawdbot",
            ".codex",
            "history.jsonl",
            "clipboard",
            "clipboardy",
            "pyperclip",
            "imagegrab",
            "pynput",
            "screenshot",
            "keyring",
            "keytar",
            "169.254",
            "printenv",
            "metadata.google",
            "credentials",
            ".pgpass",
            "/environ",
            ".azure",
            ".vault-token",
            "browser_cookie",
            "firefox",
            "chrome/",
            "keystore",
            ".pem",
            ".ppk",
            ".kdbx",
            "/run/secrets",
            "'env'",
            "\"env\"",
            ".my.cnf",
            "config/gh",
            "serviceaccount",
            "keylog",
            "find-generic",
            "find-internet",
            "secret-tool",
            "auth token",
            "pbpaste",
            "xclip",
            "git credential",
            "access-token",
            "aws configure",
            "node:process",
            "'process'",
            "\"process\"",
        ],
    ),
    (TextSignals::DEFANGED, &["hxxp", "[.]", "[dot]", "(dot)"]),
    (
        TextSignals::ENCODING,
        &[
            "base32",
            "b32decode",
            "base 32",
            "base64",
            "base85",
            "b85decode",
            "a85decode",
            "ascii85",
            "decode",
            "hexadecimal",
            "from hex",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_can_be_found() {
        for word in SIGNALS.iter().flat_map(|(_, words)| *words) {
            assert!(
                word.len() >= crate::literals::SHORTEST && *word == word.to_ascii_lowercase(),
                "{word:?}"
            );
        }
    }
}
