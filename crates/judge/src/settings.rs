//! Whom to ask, and within which bounds.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use skillsandbox_text::Secret;
use ureq::http::Uri;
use ureq::http::header::HeaderValue;

/// Where a judge is asked unless somebody says otherwise: a server on this machine.
pub const DEFAULT_URL: &str = "http://127.0.0.1:11434/v1";
/// Most bytes of a skill that are sent, by default: some 16,000 tokens, which small local models can still read.
pub const DEFAULT_MAX_BYTES: usize = 64 << 10;
/// How long one answer may take, by default. A local model reads 16,000 tokens in less.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);
/// Longest address.
const MAX_URL: usize = 2048;
/// Longest name of a model, and longest key.
const MAX_NAME: usize = 512;

/// Why nobody can be asked with these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address is not one.
    #[error("`{url}` is not the address of a judge: {why}")]
    Url {
        /// What was given, without what may be a password.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Skills would go to another machine without encryption.
    #[error(
        "`{url}` leads to another machine without encryption; use https, or say that plain http is what you want"
    )]
    PlainHttp {
        /// The address.
        url: String,
    },
    /// The name of the model cannot be sent.
    #[error("the name of the judge's model is empty or too long")]
    Model,
    /// The key cannot be sent in a header.
    #[error("the judge's key is empty, too long, or has characters that no key has")]
    Key,
    /// Secrets could not be looked for, so nothing may be sent.
    #[error("secrets cannot be masked, so nothing is sent: {0}")]
    Redaction(String),
}

/// The address of an endpoint that was looked at: a scheme, a host, a path, and nothing secret.
///
/// ```
/// use skillsandbox_judge::JudgeUrl;
///
/// assert!(JudgeUrl::parse("https://judge.test/v1").is_ok());
/// assert!(JudgeUrl::parse("http://127.0.0.1:11434/v1").is_ok());
/// assert!(JudgeUrl::parse("http://judge.test/v1").is_err());
/// assert!(JudgeUrl::parse("https://me:password@judge.test/v1").is_err());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JudgeUrl {
    text: String,
    endpoint: Uri,
    /// `localhost` has to lead to this machine when it is asked.
    must_be_local: bool,
}

impl fmt::Debug for JudgeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for JudgeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl JudgeUrl {
    /// An address with https, or one of this machine.
    ///
    /// # Errors
    /// What is not an address, has a name, a password or a query in it, or leads to another machine over plain http.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        Self::read(text, false)
    }

    /// The same, but plain http may lead anywhere: whoever is on the way reads skills and key, and may answer in the judge's place.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), without the last.
    pub fn dangerously_plain(text: &str) -> Result<Self, SettingsError> {
        Self::read(text, true)
    }

    fn read(text: &str, anywhere: bool) -> Result<Self, SettingsError> {
        let shown = || skillsandbox_text::shorten_line(text, 100);
        let wrong = |why| SettingsError::Url { url: shown(), why };
        if text.contains('@') {
            // Not shown: it may have a password in it.
            let url = "…@…".to_owned();
            return Err(SettingsError::Url { url, why: "leave out the name and the password" });
        }
        if text.len() > MAX_URL {
            return Err(wrong("it is too long"));
        }
        if text.contains(['?', '#']) {
            return Err(wrong("leave out everything from `?` or `#` on"));
        }
        let base = text.trim_end_matches('/');
        let parse = |text: &str| text.parse::<Uri>().ok();
        let uri = parse(base).ok_or_else(|| wrong("write it as https://host/v1"))?;
        let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("write it as https://host/v1"));
        }
        let address = host.parse::<IpAddr>().ok();
        let is_localhost = host.eq_ignore_ascii_case("localhost");
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if anywhere || is_localhost || address.is_some_and(|ip| ip.is_loopback()) => {}
            Some("http") => return Err(SettingsError::PlainHttp { url: shown() }),
            _ => return Err(wrong("it has to begin with https:// or http://")),
        }
        let endpoint = parse(&format!("{base}/chat/completions")).ok_or_else(|| wrong("it is too long"))?;
        let must_be_local = is_localhost && !anywhere && uri.scheme_str() == Some("http");
        Ok(Self { text: base.to_owned(), endpoint, must_be_local })
    }

    /// The address as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where a question goes.
    pub(crate) fn endpoint(&self) -> &Uri {
        &self.endpoint
    }

    /// Whether its name has to lead to this machine, for want of encryption.
    pub(crate) fn must_be_local(&self) -> bool {
        self.must_be_local
    }

    /// Whether both are the same scheme, host and port: a key for one is a key for the other.
    ///
    /// ```
    /// use skillsandbox_judge::JudgeUrl;
    ///
    /// let one = JudgeUrl::parse("https://judge.test/v1")?;
    /// assert!(one.is_same_origin(&JudgeUrl::parse("https://JUDGE.test:443/v2")?));
    /// assert!(!one.is_same_origin(&JudgeUrl::parse("https://judge.test:8443/v1")?));
    /// # Ok::<(), skillsandbox_judge::SettingsError>(())
    /// ```
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        let origin = |url: &Self| {
            let uri = &url.endpoint;
            let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
            (uri.scheme_str().map(str::to_owned), uri.host().map(str::to_ascii_lowercase), port)
        };
        origin(self) == origin(other)
    }
}

/// Whom to ask, and within which bounds.
///
/// ```
/// use skillsandbox_judge::{Judge, JudgeSettings, JudgeUrl};
///
/// let settings = JudgeSettings::new(JudgeUrl::parse("http://127.0.0.1:11434/v1")?, "a-model").max_bytes(16 << 10);
/// let judge = Judge::new(settings)?;
/// # let _ = judge;
/// # Ok::<(), skillsandbox_judge::SettingsError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct JudgeSettings {
    pub(crate) url: JudgeUrl,
    pub(crate) model: String,
    pub(crate) key: Option<Secret>,
    pub(crate) max_bytes: usize,
    pub(crate) timeout: Duration,
    pub(crate) may_block: bool,
    pub(crate) answers: Option<PathBuf>,
    pub(crate) secrets: Vec<(String, Secret)>,
}

impl JudgeSettings {
    /// A model at an endpoint, with the default bounds, no key, and no answers kept.
    pub fn new(url: JudgeUrl, model: impl Into<String>) -> Self {
        Self {
            url,
            model: model.into(),
            key: None,
            max_bytes: DEFAULT_MAX_BYTES,
            timeout: DEFAULT_TIMEOUT,
            may_block: false,
            answers: None,
            secrets: Vec::new(),
        }
    }

    /// Sends this key with every question, as a bearer's; to this address and no other.
    pub fn key(mut self, key: Secret) -> Self {
        self.key = Some(key);
        self
    }

    /// Most bytes of a skill that are sent.
    pub fn max_bytes(mut self, most: usize) -> Self {
        self.max_bytes = most;
        self
    }

    /// How long one answer may take, from the connection to the last byte.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// What it calls harmful counts as BLOCK. Without this it is a warning.
    pub fn may_block(mut self) -> Self {
        self.may_block = true;
        self
    }

    /// Keeps answers in this folder, which is made, for its owner alone.
    pub fn answers(mut self, folder: impl Into<PathBuf>) -> Self {
        self.answers = Some(folder.into());
        self
    }

    /// Secrets of the user that are masked wherever a skill has them, each with its name; what has the shape of a key is masked anyway.
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = (String, Secret)>) -> Self {
        self.secrets.extend(secrets);
        self
    }

    /// Whether they can be sent.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        if self.model.trim().is_empty() || self.model.len() > MAX_NAME {
            return Err(SettingsError::Model);
        }
        if let Some(key) = &self.key {
            let key = key.expose();
            let plain =
                !key.is_empty() && key.len() <= 8 * MAX_NAME && key.bytes().all(|b| b.is_ascii_graphic());
            if !plain || HeaderValue::from_str(key).is_err() {
                return Err(SettingsError::Key);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_without_secrets_are_taken_and_plain_http_stays_here() {
        for good in [
            "http://127.0.0.1:11434/v1",
            "http://127.8.9.1/v1/",
            "http://localhost:8080",
            "http://LOCALHOST/v1",
            "http://[::1]:8080/v1",
            "https://judge.test",
            "https://judge.test:8443/openai/v1",
            "https://192.0.2.1/v1",
        ] {
            let url = JudgeUrl::parse(good).unwrap();
            assert!(url.endpoint().to_string().ends_with("/chat/completions"), "{url}");
        }
        for bad in [
            "",
            "judge.test",
            "//judge.test/v1",
            "ftp://judge.test/v1",
            "file:///etc/passwd",
            "https://",
            "https:///v1",
            "https://a:b@judge.test/v1",
            "http://127.0.0.1@judge.test/v1",
            "https://judge.test/v1?key=1",
            "https://judge.test/v1#x",
            "https://judge .test/v1",
            "https://judge.test/\r\nX: y",
        ] {
            assert!(matches!(JudgeUrl::parse(bad), Err(SettingsError::Url { .. })), "{bad}");
            assert!(JudgeUrl::dangerously_plain(bad).is_err(), "{bad}");
        }
        for plain in [
            "http://judge.test/v1",
            "http://10.0.0.1/v1",
            "http://0.0.0.0/v1",
            "http://[::]/v1",
            "http://127.1/v1",
            "http://localhost.judge.test/v1",
            "http://127.0.0.1.judge.test/v1",
            "http://169.254.169.254/v1",
        ] {
            assert!(matches!(JudgeUrl::parse(plain), Err(SettingsError::PlainHttp { .. })), "{plain}");
            assert!(JudgeUrl::dangerously_plain(plain).is_ok(), "{plain}");
        }
        let error = JudgeUrl::parse("https://me:hunter2@judge.test").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn a_key_that_would_end_a_header_is_refused() {
        let url = || JudgeUrl::parse(DEFAULT_URL).unwrap();
        for key in ["", "a b", "a\r\nX: y", "a\n", "\u{e9}", "\u{7f}"] {
            let settings = JudgeSettings::new(url(), "m").key(Secret::from(key));
            assert_eq!(settings.check(), Err(SettingsError::Key), "{key:?}");
        }
        let settings = JudgeSettings::new(url(), "m").key(Secret::from("sk-abc_123.X"));
        assert_eq!(settings.check(), Ok(()));
        assert!(!format!("{settings:?}").contains("sk-abc"));
        assert_eq!(JudgeSettings::new(url(), " ").check(), Err(SettingsError::Model));
    }
}
