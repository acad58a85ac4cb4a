//! HTTP to the collector: bounded in time and size, no redirects, and no trust in what comes back.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message as _;
use skillsandbox_text::{Escape, Glyphs, Keep};
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, TRANSFER_ENCODING, USER_AGENT};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

use super::queue::SpanQueue;
use super::settings::OtelSettings;

/// The longest answer that is read. A collector that took everything says so in no byte at all.
const MAX_ANSWER: u64 = 64 * 1024;
/// The most of a stranger's text that is repeated.
const MAX_WORDS: usize = 200;
/// How long to wait before the second attempt; twice as long before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A client for one run.
pub(super) struct OtlpClient {
    settings: OtelSettings,
    queue: Arc<SpanQueue>,
    /// Made when it is first needed, by the thread that sends: the system's certificates take a moment to read.
    agent: OnceLock<Result<Agent, String>>,
    answer: Mutex<DeliveryAnswer>,
}

/// What became of the last request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DeliveryAnswer {
    /// Spans that the collector did not want.
    pub(super) rejected: u64,
    /// What went wrong, in words.
    pub(super) why: Option<String>,
}

impl OtlpClient {
    pub(super) fn new(settings: OtelSettings, queue: Arc<SpanQueue>) -> Self {
        Self { settings, queue, agent: OnceLock::new(), answer: Mutex::default() }
    }

    /// What became of the last request, once.
    pub(super) fn answer(&self) -> DeliveryAnswer {
        std::mem::take(&mut self.answer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, rejected: u64, why: Option<String>) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = DeliveryAnswer { rejected, why };
    }

    /// Sends a request, again and again where that may help, until it is over or there is no more time.
    fn send(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let limit = self.queue.limit(self.settings.timeout);
        let mut pause = FIRST_PAUSE;
        let mut hung_up = 0;
        loop {
            let (failed, wait) = match self.once(request, limit) {
                Ok(response) if response.status().is_success() => return self.taken(response),
                Ok(response) => {
                    let status = response.status();
                    if !may_pass(status) {
                        self.note(0, Some(format!("it answered {}", words_of(status))));
                        return Ok(response);
                    }
                    (format!("it answered {}", words_of(status)), retry_after(&response))
                }
                Err(FailedRequest { why, hope }) => {
                    hung_up += u32::from(hope == RetryAdvice::Now);
                    // A run that has ended does not wait for somebody to come home.
                    let in_vain = self.queue.has_ended() && (hope == RetryAdvice::Later || hung_up > 1);
                    if hope == RetryAdvice::None || in_vain {
                        self.note(0, Some(why.clone()));
                        return Err(why.into());
                    }
                    (why, None)
                }
            };
            let wait = wait.unwrap_or(pause);
            if Instant::now() + wait >= limit {
                self.note(0, Some(failed.clone()));
                return Err(failed.into());
            }
            self.queue.pause(wait);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn once(&self, request: &Request<Bytes>, limit: Instant) -> Result<Response<Bytes>, FailedRequest> {
        let left = limit.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FailedRequest::at_last("there was no time left for it"));
        }
        let agent = self.agent.get_or_init(|| agent(&self.settings)).as_ref();
        let agent = agent.map_err(|why| FailedRequest::at_last(why.clone()))?;
        let mut copy = Request::post(self.settings.endpoint.clone());
        if let Some(headers) = copy.headers_mut() {
            // Only these: whoever built the request has added what this process' environment says, which need not be ours.
            for (name, value) in &self.settings.headers {
                if *name != CONTENT_LENGTH && *name != TRANSFER_ENCODING {
                    headers.append(name.clone(), value.clone());
                }
            }
            if let Some(kind) = request.headers().get(CONTENT_TYPE) {
                headers.insert(CONTENT_TYPE, kind.clone());
            }
            if let Some(agent) =
                request.headers().get(USER_AGENT).filter(|_| !headers.contains_key(USER_AGENT))
            {
                headers.insert(USER_AGENT, agent.clone());
            }
        }
        let copy =
            copy.body(request.body().as_ref()).map_err(|error| FailedRequest::at_last(error.to_string()))?;
        let copy = agent.configure_request(copy).timeout_global(Some(left)).build();
        let mut response = agent.run(copy).map_err(FailedRequest::from)?;
        let body =
            response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(FailedRequest::from)?;
        let (parts, _) = response.into_parts();
        Ok(Response::from_parts(parts, Bytes::from(body)))
    }

    /// It said yes. To what?
    fn taken(&self, response: Response<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        match rejected(kind, response.body()) {
            Ok((0, said)) if said.is_empty() => self.note(0, None),
            Ok((0, said)) => self.note(0, Some(format!("it took all spans, and said: {}", shown(&said)))),
            Ok((count, said)) => {
                self.note(count, Some(format!("it did not want {count} spans: {}", shown(&said))));
            }
            Err(why) => {
                self.note(0, Some(why.clone()));
                return Err(why.into());
            }
        }
        Ok(response)
    }
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl HttpClient for OtlpClient {
    /// As the trait's macro would write it. Nothing here waits for an executor: the thread that calls is there to wait.
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(std::future::ready(self.send(&request)))
    }
}

/// Why a request failed.
#[derive(Debug)]
struct FailedRequest {
    why: String,
    hope: RetryAdvice,
}

/// Whether trying again may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RetryAdvice {
    None,
    /// When somebody has started the collector, or the network is back.
    Later,
    /// At once: a connection was kept for the next request, and the collector had hung up since.
    Now,
}

impl FailedRequest {
    fn at_last(why: impl Into<String>) -> Self {
        Self { why: why.into(), hope: RetryAdvice::None }
    }
}

impl From<ureq::Error> for FailedRequest {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error;
        let (why, hope) = match &error {
            Error::Io(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => ("nothing listens there".to_owned(), RetryAdvice::Later),
                io::ErrorKind::UnexpectedEof
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted => {
                    ("it hung up without an answer".to_owned(), RetryAdvice::Now)
                }
                _ => (format!("the connection failed: {error}"), RetryAdvice::Later),
            },
            Error::HostNotFound => ("its name is not known".to_owned(), RetryAdvice::Later),
            Error::ConnectionFailed => ("it cannot be connected to".to_owned(), RetryAdvice::Later),
            Error::Timeout(_) => ("it did not answer in time".to_owned(), RetryAdvice::None),
            Error::Protocol(error) => (format!("it does not speak HTTP: {error}"), RetryAdvice::None),
            Error::BodyExceedsLimit(_) => {
                (format!("it answered with more than {MAX_ANSWER} bytes"), RetryAdvice::None)
            }
            other => (other.to_string(), RetryAdvice::None),
        };
        Self { why: shown(&why), hope }
    }
}

fn agent(settings: &OtelSettings) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // Spans say what a program did: they go to whom they were meant for, and to nobody that one names.
        .max_redirects(0)
        .proxy(settings.proxy.clone());
    if settings.endpoint.scheme_str() == Some("https") {
        let roots = match &settings.roots {
            Some(roots) => Arc::clone(roots),
            None => Arc::new(of_the_system()?),
        };
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .root_certs(RootCerts::Specific(roots))
            .client_cert(settings.identity.clone());
        config = config.tls_config(tls.build());
    }
    Ok(config.build().into())
}

/// The certificates that this system trusts.
fn of_the_system() -> Result<Vec<Certificate<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(
            "this system has no list of certificates to trust; install ca-certificates, or name a file in \
                    OTEL_EXPORTER_OTLP_CERTIFICATE"
                .to_owned(),
        );
    }
    Ok(found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect())
}

/// Whether the specification lets such a request be sent again.
fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}

fn retry_after(response: &Response<Bytes>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

fn words_of(status: StatusCode) -> String {
    let redirected = if status.is_redirection() {
        ", which is not followed: name where it leads to as the endpoint"
    } else {
        ""
    };
    match status.canonical_reason() {
        Some(reason) => format!("{} ({reason}){redirected}", status.as_u16()),
        None => status.as_u16().to_string(),
    }
}

/// How many spans an answer says were not taken, and what it says to that; or why it is none that a collector gives.
fn rejected(kind: &str, body: &[u8]) -> Result<(u64, String), String> {
    if body.is_empty() {
        return Ok((0, String::new()));
    }
    let other =
        || format!("it answered as no collector does, with {} bytes of `{}`", body.len(), shown(kind));
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" => {
            let answer: serde_json::Value = serde_json::from_slice(body).map_err(|_| other())?;
            let Some(partial) = answer.as_object().ok_or_else(other)?.get("partialSuccess") else {
                return Ok((0, String::new()));
            };
            // A 64-bit number is a text in the JSON of protobuf.
            let count = partial.get("rejectedSpans").and_then(|count| match count {
                serde_json::Value::String(text) => text.parse().ok(),
                number => number.as_u64(),
            });
            let said = partial.get("errorMessage").and_then(serde_json::Value::as_str);
            Ok((count.unwrap_or(0), said.unwrap_or_default().to_owned()))
        }
        "application/x-protobuf" | "application/protobuf" | "application/octet-stream" | "" => {
            let answer = ExportTraceServiceResponse::decode(body).map_err(|_| other())?;
            let partial = answer.partial_success.unwrap_or_default();
            Ok((u64::try_from(partial.rejected_spans).unwrap_or(0), partial.error_message))
        }
        _ => Err(other()),
    }
}

/// A stranger's words, for a terminal.
pub(super) fn shown(text: &str) -> String {
    Escape::text(Glyphs::Unicode).cut(text, MAX_WORDS, Keep::Start)
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTracePartialSuccess;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(kind in "(application/(json|x-protobuf)|\\PC{0,20})?", body: Vec<u8>) {
            let _ = rejected(&kind, &body);
            let json = format!("{{\"partialSuccess\":{{\"rejectedSpans\":{body:?}}}}}");
            let _ = rejected("application/json", json.as_bytes());
        }
    }

    #[test]
    fn answers_of_collectors_are_told_from_those_of_others() {
        let partial = ExportTracePartialSuccess { rejected_spans: 3, error_message: "too old".to_owned() };
        let proto = ExportTraceServiceResponse { partial_success: Some(partial) }.encode_to_vec();
        let negative = ExportTracePartialSuccess { rejected_spans: -3, error_message: String::new() };
        let negative = ExportTraceServiceResponse { partial_success: Some(negative) }.encode_to_vec();
        let none = || (0, String::new());
        for (kind, body, expected) in [
            ("", b"" as &[u8], none()),
            ("text/html", b"", none()),
            ("application/x-protobuf", &proto, (3, "too old".to_owned())),
            ("", &proto, (3, "too old".to_owned())),
            ("Application/X-Protobuf; charset=x", &negative, none()),
            ("application/json", b"{}", none()),
            ("application/json", br#"{"partialSuccess":{}}"#, none()),
            (
                "application/json; charset=utf-8",
                br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}"#,
                (3, "x".to_owned()),
            ),
            ("application/json", br#"{"partialSuccess":{"rejectedSpans":3}}"#, (3, String::new())),
            ("application/json", br#"{"partialSuccess":{"rejectedSpans":-3}}"#, none()),
        ] {
            assert_eq!(rejected(kind, body), Ok(expected), "{kind} {body:?}");
        }
        for (kind, body) in [
            ("text/html", b"<html>please log in</html>" as &[u8]),
            ("application/json", b"<html>"),
            ("application/json", b"[1]"),
            ("application/x-protobuf", b"\xff\xff\xff"),
            ("", b"<html>please log in</html>"),
        ] {
            assert!(
                rejected(kind, body).unwrap_err().starts_with("it answered as no collector does"),
                "{kind}"
            );
        }
    }

    #[test]
    fn a_collectors_words_cannot_move_the_cursor() {
        let said = shown(&format!("\u{1b}[2J\r\n{}", "x".repeat(10_000)));
        assert!(said.starts_with("\\u{1b}[2J\\r\\n") && said.len() < 700, "{said}");
    }
}
