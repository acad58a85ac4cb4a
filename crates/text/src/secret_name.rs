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
    if has_telling_part(&telling) || speaks_of_authorization(&whole) {
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

/// Whether one of [`PARTS`] is in it. Every variable of a program is asked about at each run, so no search is set up for any of them: names are short.
fn has_telling_part(name: &str) -> bool {
    let name = name.as_bytes();
    (0..name.len()).filter_map(|at| name.get(at..)).any(|rest| {
        let mut parts = PARTS.iter().map(|part| part.as_bytes());
        parts.any(|part| rest.first() == part.first() && rest.starts_with(part))
    })
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
mod tests;
