//! Which names say that their value is a secret: of variables, parameters, headers, options and fields.
//!
//! It errs on the side of saying yes. A pattern such as `*` then does not hand a variable on, though its own name does; or a word of a
//! log is left out.

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
    "webhookurl",
    // Keys by their kind; others are known by their last word.
    "apikey",
    "accesskey",
    "privatekey",
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

/// Words that end in `pass` and have nothing to do with a password, or ask for one.
const NOT_PASS: &[&str] =
    &["askpass", "bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass"];

/// What stands before `key` in the name of a thing that is not a secret.
const NOT_KEY: &[&str] = &[
    "arrow",
    "cache",
    "foreign",
    "group",
    "hot",
    "index",
    "map",
    "object",
    "partition",
    "primary",
    "public",
    "range",
    "routing",
    "short",
    "shortcut",
    "sort",
];

/// Services whose addresses hold a password.
const WITH_PASSWORD: &[&str] = &[
    "amqp",
    "broker",
    "celery",
    "clickhouse",
    "couchdb",
    "database",
    "db",
    "elasticsearch",
    "jdbc",
    "ldap",
    "mariadb",
    "mongo",
    "mongodb",
    "mssql",
    "mysql",
    "pg",
    "postgres",
    "postgresql",
    "rabbitmq",
    "redis",
    "smtp",
    "sqlalchemy",
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
    if PARTS.iter().any(|part| whole.contains(part)) || speaks_of_authorization(&whole) {
        return true;
    }
    if words.iter().any(|word| WORDS.contains(&word.as_str())) || whole.ends_with("cookie") {
        return true;
    }
    let Some((last, before)) = words.split_last() else { return false };
    let last = last.as_str();
    let has = |list: &[&str]| before.iter().any(|word| list.contains(&word.as_str()));
    match last {
        // `STRIPE_KEY`, but not `PRIMARY_KEY`, and not `key` alone.
        "key" | "keys" => !before.is_empty() && !has(NOT_KEY),
        "url" | "uri" => has(WITH_PASSWORD),
        "pat" => !before.is_empty(),
        "id" | "sessionid" | "sessid" | "session" => {
            let is_session =
                last != "session" && (last != "id" || before.last().is_some_and(|word| word == "session"));
            is_session && !has(OPEN_SESSIONS)
        }
        _ => {
            let in_the_middle = || before.iter().skip(1).any(|word| LAST.contains(&word.as_str()));
            LAST.contains(&last) || (last.ends_with("pass") && !NOT_PASS.contains(&last)) || in_the_middle()
        }
    }
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
