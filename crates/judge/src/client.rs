//! HTTP to the judge: bounded in time and size, no redirects, no proxies, and no trust in what comes back.

use std::fmt;
use std::io;
use std::net::ToSocketAddrs as _;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skillsandbox_text::{Secret, shorten_line};
use ureq::Agent;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use ureq::http::{Request, StatusCode};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use crate::settings::{JudgeSettings, JudgeUrl};

/// The longest answer that is read: a hundred times what was asked for.
const MAX_ANSWER: u64 = 256 << 10;
/// The longest head of an answer.
const MAX_HEAD: usize = 32 << 10;
/// How long a connection may take to be made, where the answer may take longer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Most of a stranger's text that is repeated.
const MAX_WORDS: usize = 200;

/// A client for one endpoint.
pub(crate) struct JudgeClient {
    url: JudgeUrl,
    key: Option<Secret>,
    timeout: Duration,
    /// Made when it is first needed: the system's certificates take a moment to read.
    agent: OnceLock<Result<Agent, String>>,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FailedRequest {
    /// In words.
    pub(crate) why: String,
    /// Whether the endpoint does not understand the request: one with less in it may do.
    pub(crate) is_misunderstood: bool,
}

impl fmt::Debug for JudgeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeClient").field("url", &self.url).finish_non_exhaustive()
    }
}

impl JudgeClient {
    /// A client that has connected to nobody yet.
    pub(crate) fn new(settings: &JudgeSettings) -> Self {
        Self {
            url: settings.url.clone(),
            key: settings.key.clone(),
            timeout: settings.timeout,
            agent: OnceLock::new(),
        }
    }

    /// When a question that is asked now has to be answered.
    pub(crate) fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Sends one request, and reads all of its answer.
    pub(crate) fn send(&self, body: &[u8], deadline: Instant) -> Result<Vec<u8>, FailedRequest> {
        if self.url.must_be_local() {
            check_local(&self.url)?;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FailedRequest::new("it did not answer in time"));
        }
        let agent = self.agent.get_or_init(|| make_agent(&self.url)).as_ref();
        let agent = agent.map_err(|why| FailedRequest::new(why))?;
        let mut request = Request::post(self.url.endpoint().clone()).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
            let mut value = value.map_err(|_| FailedRequest::new("its key cannot be sent"))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let request = request.body(body).map_err(|error| FailedRequest::new(&error.to_string()))?;
        let request = agent
            .configure_request(request)
            .timeout_global(Some(left))
            .timeout_connect(Some(left.min(CONNECT_TIMEOUT)))
            .build();
        let mut response = agent.run(request).map_err(|error| describe(&error))?;
        let status = response.status();
        if !status.is_success() {
            let is_misunderstood =
                matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
            return Err(FailedRequest { why: describe_status(status), is_misunderstood });
        }
        let body = response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec();
        body.map_err(|error| describe(&error))
    }
}

impl FailedRequest {
    fn new(why: &str) -> Self {
        Self { why: shorten_line(why, MAX_WORDS), is_misunderstood: false }
    }
}

/// The name has to lead to this machine, wherever it is looked up.
fn check_local(url: &JudgeUrl) -> Result<(), FailedRequest> {
    let endpoint = url.endpoint();
    let host = endpoint.host().unwrap_or_default();
    let found = (host, endpoint.port_u16().unwrap_or(80)).to_socket_addrs();
    let is_local = found.is_ok_and(|mut found| found.all(|address| address.ip().is_loopback()));
    if is_local { Ok(()) } else { Err(FailedRequest::new("its name does not lead to this machine")) }
}

fn make_agent(url: &JudgeUrl) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // Skills and the key go to whom they were meant for, and to nobody whom that one, or the environment, names.
        .max_redirects(0)
        .proxy(None)
        // A connection is for one question: what comes behind an answer is no part of the next.
        .max_idle_connections(0)
        .max_response_header_size(MAX_HEAD)
        .user_agent(concat!("skillsandbox-judge/", env!("CARGO_PKG_VERSION")))
        .accept("application/json");
    if url.endpoint().scheme_str() == Some("https") {
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::Specific(Arc::new(system_certificates()?)));
        config = config.https_only(true).tls_config(tls.build());
    }
    Ok(config.build().into())
}

/// The certificates that this system trusts.
fn system_certificates() -> Result<Vec<Certificate<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err("this system has no list of certificates to trust; install ca-certificates".to_owned());
    }
    Ok(found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect())
}

/// What went wrong, for people.
fn describe(error: &ureq::Error) -> FailedRequest {
    use ureq::Error;
    let why = match error {
        Error::Io(error) => match error.kind() {
            io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted => "it hung up before its answer was whole".to_owned(),
            _ => format!("the connection failed: {error}"),
        },
        Error::HostNotFound => "its name is not known".to_owned(),
        Error::ConnectionFailed => "it cannot be connected to".to_owned(),
        Error::Timeout(_) => "it did not answer in time".to_owned(),
        Error::Protocol(error) => format!("it does not speak HTTP: {error}"),
        Error::BodyExceedsLimit(_) => format!("it answered with more than {MAX_ANSWER} bytes"),
        other => other.to_string(),
    };
    FailedRequest::new(&why)
}

/// An answer that is none, for people. What it says besides is a stranger's.
fn describe_status(status: StatusCode) -> String {
    let redirected = if status.is_redirection() {
        ", which is not followed: name where it leads to as the address"
    } else {
        ""
    };
    match status.canonical_reason() {
        Some(reason) => format!("it answered {} ({reason}){redirected}", status.as_u16()),
        None => format!("it answered {}", status.as_u16()),
    }
}
