//! Which names say that their value is a secret: of variables, parameters, headers, options and fields.
//!
//! It errs on the side of saying yes. A pattern such as `*` then does not hand a variable on, though its own name does; or a word of a
//! log is left out.
//!
//! `HTTP_PROXY` and `HTTPS_PROXY` are plain names, though an address of a proxy may hold a password: behind one, programs reach
//! nothing without them.

/// What stands in the place of a secret that has no name of its own.
pub const REDACTED: &str = "[REDACTED]";

/// Parts of a name, without separators, that no other name has.
const PARTS: &[&str] = &[
    "secret",
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passfile",
    "pwd",
    "pswd",
    "token",
    "credential",
    "bearer",
    "mnemonic",
    "seedphrase",
    "recoveryphrase",
    "recoverycode",
    "backupcode",
    "connectionstring",
    "connstr",
    "hookurl",
    "apihash",
    // Services' own names for where they keep a key.
    "webjobsstorage",
    "externalfeedendpoints",
    "gitconfigparameters",
    // Keys by their kind; others are known by their last word.
    "apikey",
    "accesskey",
    "privatekey",
    "privkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sshkey",
    "authkey",
    "sslkey",
    "tlskey",
];

/// Words that say so wherever they stand.
const WORDS: &[&str] =
    &["cookie", "cookies", "creds", "dsn", "hmac", "jaas", "jwt", "otp", "totp", "phpsessid", "jsessionid"];

/// Words that say so behind another one, or alone.
const LAST: &[&str] = &["pass", "pw"];

/// Words that say so at the end, behind another one or alone: files of keys, and addresses that whoever knows them may write to.
const AT_THE_END: &[&str] = &["jks", "keyfile", "keystore", "p12", "pfx", "webhook"];

/// Words that say so at the end behind another one: alone, they are ordinary words.
const BEHIND_ANOTHER: &[&str] = &["pat", "salt", "sas"];

/// What stands behind the name of a secret and only says which one it is, or how it is written. Numbers and single letters do so, too.
const QUALIFIERS: &[&str] = &[
    "backup",
    "base64",
    "current",
    "default",
    "dev",
    "development",
    "direct",
    "encoded",
    "eu",
    "external",
    "file",
    "hex",
    "internal",
    "json",
    "live",
    "local",
    "main",
    "new",
    "non",
    "old",
    "path",
    "pem",
    "pooled",
    "pooling",
    "previous",
    "primary",
    "private",
    "prod",
    "production",
    "raw",
    "read",
    "readonly",
    "ro",
    "rw",
    "sandbox",
    "secondary",
    "stage",
    "staging",
    "test",
    "testing",
    "unpooled",
    "us",
    "write",
    "yaml",
    "yml",
];

/// Words that end in `pass` and have nothing to do with a password, or ask for one.
const NOT_PASS: &[&str] =
    &["askpass", "bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass"];

/// What stands right before `key` in the name of a thing that is not a secret.
const NOT_KEY: &[&str] = &["arrow", "foreign", "hot", "partition", "public", "range", "shortcut", "sort"];

/// What does so where nothing stands before it: `PRIMARY_KEY` is a column, but `AZURE_STORAGE_PRIMARY_KEY` opens the storage.
const NOT_KEY_ALONE: &[&str] = &["cache", "group", "index", "map", "object", "primary", "routing", "short"];

/// Words that end in `key` and name no secret, by what stands before those letters.
const NOT_A_KEY: &[&str] = &[
    "any", "dic", "don", "flun", "ho", "hoc", "joc", "lac", "latch", "low", "malar", "mic", "mon", "o", "po",
    "pub", "ric", "smo", "tur", "whis",
];

/// Words, or parts of words, that name a service whose addresses hold a password: `CLOUDAMQP_URL`, `REDISTOGO_URL`.
const WITH_PASSWORD: &[&str] = &[
    "amqp",
    "bonsai",
    "broker",
    "cassandra",
    "celery",
    "clickhouse",
    "cloudinary",
    "couch",
    "database",
    "elasticsearch",
    "fixie",
    "jdbc",
    "kafka",
    "ldap",
    "mailer",
    "memcache",
    "mongo",
    "mssql",
    "mysql",
    // Where a capital follows a digit, a word ends: `NEO4J` is two.
    "neo4",
    "opensearch",
    "postgres",
    "quotaguard",
    "rabbit",
    "redis",
    "smtp",
    "sqlalchemy",
];

/// Whole words that do so, too short or too common to be looked for inside others. Indexes of packages are private where they need
/// a variable.
const WORDS_WITH_PASSWORD: &[&str] =
    &["cache", "connection", "email", "hook", "index", "kv", "pg", "sas", "webhook"];

/// What `private` means the half of a key behind.
const KINDS_OF_KEY: &[&str] = &[
    "age",
    "ecdsa",
    "ed25519",
    "gpg",
    "key",
    "pem",
    "pgp",
    "rsa",
    "ssh",
    "ssl",
    "tls",
    "vapid",
    "wireguard",
];

/// What a seed opens; any other begins random numbers.
const WITH_SEED: &[&str] = &[
    "account",
    "bip39",
    "bitcoin",
    "btc",
    "crypto",
    "eth",
    "ethereum",
    "hd",
    "ledger",
    "master",
    "nkey",
    "recovery",
    "signer",
    "solana",
    "validator",
    "wallet",
];

/// Sessions of a desktop or a terminal: their numbers open nothing.
const OPEN_SESSIONS: &[&str] = &["desktop", "iterm", "term", "xdg"];

/// Whether a name says that its value is a secret.
///
/// Names are read word by word, whatever their case and whatever parts the words: `DB_PWD`, `X-Api-Key`, `clientSecret`.
///
/// ```
/// use skillsandbox_text::is_secret_name;
///
/// assert!(is_secret_name("Authorization") && is_secret_name("DB_PWD") && is_secret_name("apiKey"));
/// // The working directory, a person, a thing.
/// assert!(!is_secret_name("PWD") && !is_secret_name("GIT_AUTHOR_NAME") && !is_secret_name("KEYBOARD"));
/// ```
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let whole = words.concat();
    // Shells call the working directory so, and the one before it.
    if matches!(whole.as_str(), "pwd" | "oldpwd") {
        return false;
    }
    // What parts a text into tokens hands none out.
    let telling = whole.replace("tokenizer", "");
    if PARTS.iter().any(|part| telling.contains(part)) || speaks_of_authorization(&whole) {
        return true;
    }
    if words.iter().any(|word| WORDS.contains(&without_number(word))) || whole.ends_with("cookie") {
        return true;
    }
    // `STRIPE_KEY_LIVE_2` is `STRIPE_KEY`.
    let mut stem = words.as_slice();
    while let Some((last, before)) = stem.split_last() {
        if ends_in_secret(before, last) || ends_in_secret(before, without_number(last)) {
            return true;
        }
        if !is_qualifier(last) {
            return false;
        }
        stem = before;
    }
    false
}

fn without_number(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn is_qualifier(word: &str) -> bool {
    let plain = without_number(word);
    plain.chars().nth(1).is_none() || QUALIFIERS.contains(&word) || QUALIFIERS.contains(&plain)
}

/// Whether a last word, behind those before it, says that the value is a secret.
fn ends_in_secret(before: &[String], last: &str) -> bool {
    let has = |list: &[&str]| before.iter().any(|word| list.contains(&word.as_str()));
    let follows = |word: &str| before.last().is_some_and(|last| last == word);
    match last {
        // `STRIPE_KEY`, but not `PRIMARY_KEY`, and not `key` alone.
        "key" | "keys" => match before {
            [] => false,
            [only] => !NOT_KEY.contains(&only.as_str()) && !NOT_KEY_ALONE.contains(&only.as_str()),
            [.., last] => !NOT_KEY.contains(&last.as_str()),
        },
        "url" | "uri" => has(WORDS_WITH_PASSWORD) || before.iter().any(|word| is_with_password(word)),
        "id" | "sessionid" | "sessid" => (last != "id" || follows("session")) && !has(OPEN_SESSIONS),
        _ => {
            let in_the_middle = || before.iter().skip(1).any(|word| LAST.contains(&word.as_str()));
            let by_what_stands_before = match last {
                "account" => follows("service"),
                // A service account, in short.
                "json" | "b64" | "base64" => follows("sa"),
                "rsa" | "dsa" | "ecdsa" | "ed25519" => follows("id"),
                "private" => has(KINDS_OF_KEY),
                "seed" => has(WITH_SEED),
                _ => BEHIND_ANOTHER.contains(&last) && !before.is_empty(),
            };
            by_what_stands_before
                || AT_THE_END.contains(&last)
                || last.ends_with("pw")
                || (last.ends_with("pass") && !NOT_PASS.contains(&last))
                || ends_in_key(last)
                || in_the_middle()
        }
    }
}

/// `OPENAIKEY`, but not `MONKEY`.
fn ends_in_key(word: &str) -> bool {
    let kind = word.strip_suffix("key").or_else(|| word.strip_suffix("keys"));
    kind.is_some_and(|kind| ![NOT_KEY, NOT_KEY_ALONE, NOT_A_KEY].iter().any(|list| list.contains(&kind)))
}

fn is_with_password(word: &str) -> bool {
    without_number(word).ends_with("db") || WITH_PASSWORD.iter().any(|service| word.contains(service))
}

/// `auth` in every form, but for the author of something.
fn speaks_of_authorization(whole: &str) -> bool {
    whole.match_indices("auth").any(|(at, _)| {
        let rest = whole.get(at..).unwrap_or_default();
        !rest.starts_with("author") || rest.starts_with("authori")
    })
}

/// The words of a name in lower case: parted by what is neither letter nor digit, and where a capital begins a new one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (at, c) in letters.iter().enumerate() {
        if !c.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(at + 1);
        let begins = c.is_uppercase()
            && (before.is_some_and(|c| c.is_lowercase() || c.is_ascii_digit())
                || (before.is_some_and(|c| c.is_uppercase()) && after.is_some_and(|c| c.is_lowercase())));
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            // By way of capitals, since two small letters may have the same one.
            word.extend(c.to_uppercase().flat_map(char::to_lowercase));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRETS: &[&str] = &[
        "Authorization",
        "AUTHORIZATION",
        "authorisation",
        "Proxy-Authorization",
        "X-Authorization",
        "HTTP_AUTHORIZATION",
        "SSH_AUTH_SOCK",
        "AUTH",
        "basic_auth",
        "OAUTH2_CLIENT",
        "XAUTHORITY",
        "WWW-Authenticate",
        "npm_config__auth",
        "DB_PWD",
        "MYSQL_PWD",
        "dbPwd",
        "PGPASSWORD",
        "DB_PASSWORD",
        "password",
        "Passwd",
        "SSHPASS",
        "SMTP_PASS",
        "DB_PASS_FILE",
        "PGPASSFILE",
        "pass",
        "pw",
        "GPG_PASSPHRASE",
        "PASSCODE",
        "API_KEY",
        "apiKey",
        "APIKey",
        "APIKEYS",
        "X-Api-Key",
        "x.api.key",
        "OPENAI_API_KEY",
        "STRIPE_KEY",
        "DATADOG_APP_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "SSH_PRIVATE_KEY",
        "privateKey",
        "RAILS_MASTER_KEY",
        "FERNET_KEY",
        "SIGNING_KEY",
        "TLS_KEY_FILE",
        "SECRET_KEY_BASE",
        "clientSecret",
        "CLIENT-SECRET",
        "GITHUB_TOKEN",
        "github_token",
        "GH_ENTERPRISE_TOKEN",
        "x.token",
        "tokens",
        "X-Csrf-Token",
        "JWT",
        "GITHUB_PAT",
        "Bearer",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AWS_CREDS",
        "Cookie",
        "Set-Cookie",
        "XCookie",
        "SESSION_ID",
        "sessionId",
        "PHPSESSID",
        "JSESSIONID",
        "SENTRY_DSN",
        "DSN",
        "DATABASE_URL",
        "REDIS_URL",
        "MONGODB_URI",
        "CELERY_BROKER_URL",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SLACK_WEBHOOK_URL",
        "TOTP",
        "MFA_OTP",
        "WALLET_MNEMONIC",
        "SASL_JAAS_CONFIG",
        "pa\u{17f}\u{17f}word",
        "VAULT_UNSEAL_KEY_1",
        "AZURE_OPENAI_KEY1",
        "OPENAI_KEY_2",
        "STRIPE_KEY_LIVE",
        "ANTHROPIC_KEY_PROD",
        "DEPLOY_KEY_B64",
        "GCLOUD_SERVICE_KEY_JSON",
        "SOPS_AGE_KEY_FILE",
        "DB_PASS1",
        "GITHUB_PAT_READ",
        "DATABASE_URL_TEST",
        "POSTGRES_URL_NON_POOLING",
        "OTP1",
        "STRIPE_KEY_LIVE_2",
        "REDIS_URL_V2",
        "SIGNER_KEY_A",
        "AZURE_COSMOS_PRIMARY_KEY",
        "AZURE_STORAGE_PRIMARY_KEY",
        "SERVICEBUS_PRIMARY_KEY",
        "PAGERDUTY_ROUTING_KEY",
        "CLOUDAMQP_URL",
        "REDISCLOUD_URL",
        "REDISTOGO_URL",
        "JAWSDB_URL",
        "MONGOLAB_URI",
        "MONGOHQ_URL",
        "CLOUDINARY_URL",
        "KV_URL",
        "NEO4J_URL",
        "MAILER_URL",
        "EMAIL_URL",
        "BONSAI_URL",
        "PIP_EXTRA_INDEX_URL",
        "UV_INDEX_URL",
        "INFLUXDB2_URL",
        "SLACK_WEBHOOK",
        "DISCORD_WEBHOOK",
        "SLACK_HOOK_URL",
        "GOOGLE_SERVICE_ACCOUNT_JSON",
        "FIREBASE_SERVICE_ACCOUNT",
        "GCP_SA_JSON",
        "GCP_KEYFILE_JSON",
        "AzureWebJobsStorage",
        "AZURE_STORAGE_SAS",
        "SAS_URL",
        "VSS_NUGET_EXTERNAL_FEED_ENDPOINTS",
        "TELEGRAM_API_HASH",
        "LDAP_BINDPW",
        "ROOTPW",
        "DB_PSWD",
        "WALLET_SEED",
        "LOGGED_IN_SALT",
        "PRIVKEY",
        "GPG_PRIVATE",
        "ID_RSA",
        "id_ed25519",
        "OPENAIKEY",
        "KEYSTORE_BASE64",
        "CERTIFICATE_P12",
        "GIT_CONFIG_PARAMETERS",
    ];

    const PLAIN: &[&str] = &[
        "",
        "_",
        "PWD",
        "OLDPWD",
        "pwd",
        "PATH",
        "HOME",
        "USER",
        "SHELL",
        "LANG",
        "LC_ALL",
        "TERM",
        "TZ",
        "TMPDIR",
        "EDITOR",
        "HOSTNAME",
        "DISPLAY",
        "COLORTERM",
        "LS_COLORS",
        "NO_COLOR",
        "CI",
        "DEBUG",
        "PORT",
        "APP_MODE",
        "AWS_REGION",
        "AWS_PROFILE",
        "GIT_AUTHOR_NAME",
        "GIT_AUTHOR_EMAIL",
        "AUTHOR",
        "CO_AUTHORS",
        "KEYBOARD",
        "KEY",
        "KEYS",
        "MONKEY",
        "PUBLIC_KEY",
        "PRIMARY_KEY",
        "cacheKey",
        "sort_key",
        "PASS_THROUGH",
        "BYPASS",
        "NO_BYPASS",
        "COMPASS",
        "SSH_ASKPASS",
        "GIT_ASKPASS",
        "PASSENGERS",
        "XDG_SESSION_ID",
        "TERM_SESSION_ID",
        "ITERM_SESSION_ID",
        "DESKTOP_SESSION",
        "XDG_SESSION_TYPE",
        "DBUS_SESSION_BUS_ADDRESS",
        "SESSION_MANAGER",
        "HOMEPAGE_URL",
        "BASE_URL",
        "API_URL",
        "DATABASE_NAME",
        "HTTP_PROXY",
        "NODE_ENV",
        "RUST_LOG",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "city",
        "units",
        "USER_ID",
        "PAT",
        "PATTERN",
        "SPAWN",
        "DESIGN",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        "NO_PROXY",
        "FOREIGN_KEY",
        "SORT_KEY",
        "USERS_FOREIGN_KEY",
        "SSH_PUBLIC_KEY",
        "PUBLIC_KEY_FILE",
        "PRIMARY_KEY_1",
        "KEY1",
        "KEY_FILE",
        "HOTKEY",
        "hotkeys",
        "TURKEY",
        "monkeys",
        "PUBKEY",
        "PAT_TEST",
        "SEED",
        "RANDOM_SEED",
        "PYTHONHASHSEED",
        "SALT",
        "IS_PRIVATE",
        "GOPRIVATE",
        "SERVICE_ACCOUNT_NAME",
        "ACCOUNT",
        "TOKENIZERS_PARALLELISM",
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
        "XDG_CONFIG_DIRS",
        "LOG_FILE",
        "TEST_FILE",
        "CONFIG_JSON",
        "DATABASE_PATH",
        "RSA",
        "SAS",
        "BASE64",
        "LOG_LEVEL_2",
        "BASE_URL_TEST",
        "BYPASS_TEST",
        "SHLVL",
        "USER_ID_1",
    ];

    #[test]
    fn names_of_secrets_are_known_and_others_are_not_taken_for_them() {
        assert!(SECRETS.len() >= 60 && PLAIN.len() >= 60);
        for name in SECRETS {
            assert!(is_secret_name(name), "{name}");
            for spelt in
                [name.to_uppercase(), name.to_lowercase(), name.replace('_', "-"), name.replace('_', ".")]
            {
                // Without capitals in between, the words of `sessionId` are one.
                assert!(is_secret_name(&spelt), "{name} as {spelt}");
            }
        }
        for name in PLAIN {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn a_name_is_read_word_by_word() {
        for (name, expected) in [
            ("X-Api-Key", "x api key"),
            ("apiKey", "api key"),
            ("APIKeyName", "api key name"),
            ("DB_PWD", "db pwd"),
            ("__a..b--", "a b"),
            ("oauth2Client", "oauth2 client"),
            ("", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }
}
