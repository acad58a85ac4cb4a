//! Where spans go, and how many: the standard variables.

use std::fmt;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::SpanContext;
use ureq::Proxy;
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, parse_pem};

use super::OtelError;
use super::sampling::{self, RunSampler};
use super::variables::{EnvironmentVariables, pairs};

/// How long a run waits for its last spans to be taken, in all, unless something else is asked for.
const PATIENCE: Duration = Duration::from_secs(2);
/// No variable makes a run wait longer for its collector.
const MOST_PATIENCE: Duration = Duration::from_secs(30);
/// How long one request may take: the specification's own.
const TIMEOUT: Duration = Duration::from_secs(10);
/// No request may take longer, and no spans are held back longer.
const MOST_TIME: Duration = Duration::from_mins(5);
/// Spans that wait to be sent, and spans in a request: the specification's own.
const QUEUE: u64 = 2048;
const BATCH: u64 = 512;
/// How long spans are gathered before a request: the specification's own.
const DELAY: Duration = Duration::from_secs(5);
/// And at least this long: a thread that looks for spans more often only keeps a processor busy.
const LEAST_DELAY: Duration = Duration::from_millis(50);
/// No variable makes a queue longer than this.
const MOST_QUEUE: u64 = 65_536;
/// Attributes of a span: the specification's own.
const ATTRIBUTES: u64 = 128;
/// A longest file with certificates: the system's own list has 250 KB.
const MAX_PEM: u64 = 4 * 1024 * 1024;

/// Where the spans of a run go, and how many there may be.
///
/// ```
/// use skillsandbox_tracer::otel::OtelSettings;
///
/// let endpoint = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://127.0.0.1:4318".to_owned());
/// let settings = OtelSettings::from_variables(endpoint)?.unwrap();
/// assert_eq!(settings.endpoint(), "http://127.0.0.1:4318/v1/traces");
/// let off = OtelSettings::from_variables(|name: &str| (name == "OTEL_SDK_DISABLED").then(|| "true".to_owned()))?;
/// assert!(off.is_none());
/// # Ok::<(), skillsandbox_tracer::otel::OtelError>(())
/// ```
#[derive(Clone)]
pub struct OtelSettings {
    pub(super) endpoint: Uri,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) timeout: Duration,
    pub(super) patience: Duration,
    pub(super) queue: usize,
    pub(super) batch: usize,
    pub(super) delay: Duration,
    pub(super) max_spans: u64,
    pub(super) max_attributes: usize,
    pub(super) max_value: Option<usize>,
    pub(super) resource: Vec<KeyValue>,
    pub(super) sampler: RunSampler,
    pub(super) parent: Option<SpanContext>,
    pub(super) roots: Option<Arc<Vec<Certificate<'static>>>>,
    pub(super) identity: Option<ClientCert>,
    pub(super) proxy: Option<Proxy>,
    warnings: Vec<String>,
}

impl OtelSettings {
    /// By the variables of this process. `None` where they say that nothing is to be exported.
    ///
    /// # Errors
    /// A variable asks for what is not possible here.
    pub fn from_env() -> Result<Option<Self>, OtelError> {
        // What is no text is read as text that is wrong: it is refused below, and not passed over.
        let text = |name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned());
        let mut settings = Self::from_variables(text)?;
        if let Some(settings) = settings.as_mut().filter(|settings| !settings.is_local()) {
            settings.proxy = Proxy::try_from_env();
        }
        Ok(settings)
    }

    /// By variables from anywhere. Nothing else is looked at: neither this process' environment, nor its proxy.
    ///
    /// # Errors
    /// A variable asks for what is not possible here.
    pub fn from_variables(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, OtelError> {
        let mut variables = EnvironmentVariables::new(&look_up);
        if variables.get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
            || !is_wanted(&mut variables)?
        {
            return Ok(None);
        }
        protocol(&variables)?;
        let roots = roots(&variables)?;
        let identity = identity(&mut variables)?;
        if let Some((name, value)) =
            variables.first(&["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"])
            && value != "none"
        {
            variables.warn(format!("{name} is passed over: spans are sent as they are"));
        }
        let timeout =
            variables.milliseconds(&["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"]);
        let patience = variables.milliseconds(&["OTEL_BSP_EXPORT_TIMEOUT"]);
        let queue = positive(&mut variables, &["OTEL_BSP_MAX_QUEUE_SIZE"]).unwrap_or(QUEUE).min(MOST_QUEUE);
        let batch = positive(&mut variables, &["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"]).unwrap_or(BATCH).min(queue);
        let delay = variables.milliseconds(&["OTEL_BSP_SCHEDULE_DELAY"]).unwrap_or(DELAY);
        let attributes = ["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"];
        let max_attributes = variables.number(&attributes).unwrap_or(ATTRIBUTES);
        let max_value = variables
            .number(&["OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"]);
        let settings = Self {
            endpoint: endpoint(&variables)?,
            headers: headers(&variables)?,
            timeout: timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(TIMEOUT).min(MOST_TIME),
            patience: patience.filter(|patience| !patience.is_zero()).unwrap_or(PATIENCE).min(MOST_PATIENCE),
            queue: size(queue),
            batch: size(batch),
            delay: delay.clamp(LEAST_DELAY, MOST_TIME),
            max_spans: super::MAX_SPANS,
            max_attributes: size(max_attributes),
            max_value: max_value.map(size),
            resource: resource(&mut variables),
            sampler: RunSampler::read(&mut variables),
            parent: sampling::parent(&mut variables),
            roots,
            identity,
            proxy: None,
            warnings: variables.warnings,
        };
        Ok(Some(settings))
    }

    /// The most spans of a run. Half of them are for everything, the others for what was denied; what does not fit is counted.
    #[must_use]
    pub fn max_spans(mut self, spans: u64) -> Self {
        self.max_spans = spans;
        self
    }

    /// How long [`OtelHandle::finish`](super::OtelHandle::finish) waits at most, in all; five minutes at the most.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience.min(MOST_TIME);
        self
    }

    /// Where spans are sent to, without a name or password in it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        let scheme = self.endpoint.scheme_str().unwrap_or("http");
        let authority = self.endpoint.authority().map_or("", |authority| authority.as_str());
        let host = authority.rsplit('@').next().unwrap_or(authority);
        format!("{scheme}://{host}{}", self.endpoint.path())
    }

    /// What was passed over, and should be said to the user.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether the collector is on this machine, where no proxy leads to.
    fn is_local(&self) -> bool {
        let host = self.endpoint.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Debug for OtelSettings {
    /// Without headers, certificates and proxy: these are keys to somebody's collector.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("endpoint", &self.endpoint()).finish_non_exhaustive()
    }
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn positive(variables: &mut EnvironmentVariables<'_>, names: &[&'static str]) -> Option<u64> {
    variables.number(names).filter(|number| *number > 0)
}

/// Whether spans are to be exported at all, by `OTEL_TRACES_EXPORTER`: a list.
fn is_wanted(variables: &mut EnvironmentVariables<'_>) -> Result<bool, OtelError> {
    let Some(value) = variables.get("OTEL_TRACES_EXPORTER") else { return Ok(true) };
    let kinds: Vec<&str> = value.split(',').map(str::trim).filter(|kind| !kind.is_empty()).collect();
    if kinds == ["none"] {
        return Ok(false);
    }
    if !kinds.contains(&"otlp") {
        return Err(OtelError::Kind(value));
    }
    if kinds.len() > 1 {
        variables.warn("OTEL_TRACES_EXPORTER names more than otlp; the others are passed over");
    }
    Ok(true)
}

fn protocol(variables: &EnvironmentVariables<'_>) -> Result<(), OtelError> {
    match variables.first(&["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
        Some((variable, value)) if value != "http/protobuf" => Err(OtelError::Protocol { variable, value }),
        _ => Ok(()),
    }
}

/// The variable for traces is the whole address, the other one a base.
fn endpoint(variables: &EnvironmentVariables<'_>) -> Result<Uri, OtelError> {
    const WHOLE: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let (variable, text) = if let Some(whole) = variables.get(WHOLE) {
        (WHOLE, whole)
    } else {
        let base = variables.get(BASE).unwrap_or_else(|| "http://localhost:4318".to_owned());
        if base.contains(['?', '#']) {
            let why = format!("a path goes behind it, and it has a query; name the whole address in {WHOLE}");
            return Err(OtelError::Endpoint { variable: BASE, why });
        }
        (BASE, format!("{}/v1/traces", base.trim_end_matches('/')))
    };
    let wrong = |why: &str| OtelError::Endpoint { variable, why: why.to_owned() };
    let endpoint: Uri =
        text.parse().map_err(|_| wrong("it is not an address of the form http://host:port/path"))?;
    if !matches!(endpoint.scheme_str(), Some("http" | "https")) {
        return Err(wrong("it begins with neither http:// nor https://"));
    }
    if endpoint.host().is_none_or(str::is_empty) {
        return Err(wrong("it has no host"));
    }
    Ok(endpoint)
}

fn headers(variables: &EnvironmentVariables<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, OtelError> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
    let Some((variable, text)) = variables.first(&names) else { return Ok(Vec::new()) };
    let wrong = |which: String| OtelError::Header { variable, which };
    let read = |pair: Result<(String, String), usize>| {
        let (name, value) = pair.map_err(|place| wrong(format!("entry {place}")))?;
        let header = HeaderName::try_from(&name).ok().zip(HeaderValue::try_from(&value).ok());
        let (header, mut value) = header.ok_or_else(|| wrong(name))?;
        value.set_sensitive(true);
        Ok((header, value))
    };
    pairs(&text).map(read).collect()
}

fn resource(variables: &mut EnvironmentVariables<'_>) -> Vec<KeyValue> {
    const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
    let mut attributes: Vec<KeyValue> = Vec::new();
    if let Some(text) = variables.get(NAME) {
        for pair in pairs(&text) {
            match pair {
                Ok((key, value)) => attributes.push(KeyValue::new(key, value)),
                Err(place) => variables
                    .warn(format!("{NAME}: entry {place} is not of the form key=value and is passed over")),
            }
        }
    }
    attributes.extend(variables.get("OTEL_SERVICE_NAME").map(|name| KeyValue::new("service.name", name)));
    attributes
}

fn roots(variables: &EnvironmentVariables<'_>) -> Result<Option<Arc<Vec<Certificate<'static>>>>, OtelError> {
    let names = ["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"];
    let Some((variable, path)) = variables.first(&names) else { return Ok(None) };
    Ok(Some(Arc::new(certificates(variable, &path)?)))
}

/// Both variables, or neither: a certificate is of no use without its key.
fn identity(variables: &mut EnvironmentVariables<'_>) -> Result<Option<ClientCert>, OtelError> {
    let certificate = variables
        .first(&["OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"]);
    let key = variables.first(&["OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_KEY"]);
    match (certificate, key) {
        (Some((variable, path)), Some((key_variable, key_path))) => {
            let chain = certificates(variable, &path)?;
            let wrong = || OtelError::Certificate {
                variable: key_variable,
                path: key_path.clone(),
                why: "it holds no key in PEM".to_owned(),
            };
            let key = PrivateKey::from_pem(&pem(key_variable, &key_path)?).map_err(|_| wrong())?;
            Ok(Some(ClientCert::new_with_certs(&chain, key)))
        }
        (None, None) => Ok(None),
        (Some((variable, _)), None) | (None, Some((variable, _))) => {
            variables.warn(format!("{variable} is passed over: a certificate and its key are needed"));
            Ok(None)
        }
    }
}

fn certificates(variable: &'static str, path: &str) -> Result<Vec<Certificate<'static>>, OtelError> {
    let bytes = pem(variable, path)?;
    let found = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let why = "it holds no certificate in PEM".to_owned();
        return Err(OtelError::Certificate { variable, path: path.to_owned(), why });
    }
    Ok(found)
}

fn pem(variable: &'static str, path: &str) -> Result<Vec<u8>, OtelError> {
    let wrong = |why: String| OtelError::Certificate { variable, path: path.to_owned(), why };
    // Asked first: a pipe or a device would never end.
    let found = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() || found.len() > MAX_PEM {
        return Err(wrong(format!("it is not a file of at most {MAX_PEM} bytes")));
    }
    fs::read(path).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_variable_breaks_the_reader(
            value in "(https?://)?[%=,;0-9a-z:/?#@\\[\\]\\PC]{0,40}",
            number in "-?[0-9]{0,25}",
        ) {
            let look_up = |name: &str| match name {
                // These are files, which a test does not look for by chance; and these end the reading.
                _ if name.contains("CERTIFICATE") || name.contains("KEY") || name.contains("PROTOCOL") => None,
                "OTEL_SDK_DISABLED" | "OTEL_TRACES_EXPORTER" => None,
                _ if name.starts_with("OTEL_BSP") || name.contains("LIMIT") || name.contains("TIMEOUT") => {
                    Some(number.clone())
                }
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" => None,
                _ => Some(value.clone()),
            };
            if let Ok(Some(settings)) = OtelSettings::from_variables(look_up) {
                prop_assert!(settings.endpoint().starts_with("http"));
                prop_assert!(!settings.endpoint().split('/').nth(2).unwrap_or_default().contains('@'));
                prop_assert!(settings.queue >= 1 && settings.batch >= 1 && settings.batch <= settings.queue);
                prop_assert!(settings.patience <= MOST_PATIENCE && !settings.timeout.is_zero());
            }
        }
    }
}
