//! A run as spans of OpenTelemetry, to a collector over HTTP (OTLP, `http/protobuf`).
//!
//! [`OtelExporter`] is a [`EventSink`]: it is told what happens, and hands spans to a thread of its own. [`OtelHandle`] says in the end
//! what came of it. `docs/trace.md` lists the spans and their attributes.
//!
//! ```
//! use skillsandbox_tracer::otel::OtelSettings;
//! use skillsandbox_tracer::{TraceHeader, Recorder};
//!
//! // The variables of this process, in earnest: `OtelSettings::from_env()`. Nobody listens at port 9.
//! let variables = |name: &str| (name == "OTEL_EXPORTER_OTLP_ENDPOINT").then(|| "http://127.0.0.1:9".to_owned());
//! let header = TraceHeader::new("weather-lookup", "my-runtime 1.0");
//! let Some(settings) = OtelSettings::from_variables(variables)? else { return Ok(()) };
//! let (exporter, handle) = settings.start(&header)?;
//!
//! let recorder = Recorder::new(&header, None, vec![Box::new(exporter)]);
//! let _ = recorder.finish();
//!
//! let delivered = handle.finish();
//! assert_eq!(delivered.spans, 0);
//! assert!(delivered.warning().unwrap().starts_with("1 of 1 spans were not delivered to http://127.0.0.1:9/v1/traces"));
//! # Ok::<(), skillsandbox_tracer::otel::OtelError>(())
//! ```
//!
//! # What it guarantees
//!
//! - A collector that is dead, slow or lying neither delays nor fails a run: spans wait in a bounded queue, and what does not fit is
//!   counted. When the run has ended, [`OtelHandle::finish`] waits two seconds at most, in all.
//! - What is exported has passed the recorder's redaction: the same events that are in the trace, and no output of the program.
//! - Memory is bounded, however long the run: [`MAX_SPANS`] spans of a run, 8 MiB of them at a time.
//! - No redirect is followed; no more of an answer than 64 KiB is read, and nothing of it is believed that is not of a collector's form.
//!
//! # What it does not protect
//!
//! Spans are a copy for dashboards. They may be lost, and a collector may change them; the trace on disk is the one that can be
//! verified. `skillsandbox.trace_id` says which it is.

mod attributes;
mod client;
mod error;
mod queue;
mod root;
mod sampling;
mod settings;
mod spans;
mod variables;

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_otlp::{Protocol, RetryPolicy, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::TelemetryResourceDetector;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};

use crate::format::event::Event;
use crate::format::trace::{AttackClass, TraceHeader, TraceSummary};
use crate::record::recorder::EventSink;

use client::OtlpClient;
use queue::SpanQueue;
use root::RootSpan;
use spans::SpanBuilder;

pub use error::OtelError;
pub use settings::OtelSettings;

/// The most spans of a run, unless something else is asked for. A view of a trace with more is of use to nobody, and the trace on disk
/// has all of them.
pub const MAX_SPANS: u64 = 10_000;

/// Hands what happens in a run to a thread that sends it.
pub struct OtelExporter {
    spans: SpanBuilder,
    /// Until the run has ended.
    root: Option<RootSpan>,
    queue: Arc<SpanQueue>,
    omitted: Arc<AtomicU64>,
    patience: Duration,
    max_spans: u64,
    made: u64,
}

/// Says what became of the spans of a run.
#[derive(Debug)]
pub struct OtelHandle {
    queue: Arc<SpanQueue>,
    omitted: Arc<AtomicU64>,
    patience: Duration,
    endpoint: String,
    warnings: Vec<String>,
    is_sampled: bool,
}

/// What became of the spans of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryReport {
    /// Spans that the collector took.
    pub spans: u64,
    /// Spans that it did not take, or is not known to have taken.
    pub dropped: u64,
    /// Events that got no span, because the run had more than there may be. The root span says how many, too.
    pub omitted: u64,
    /// What went wrong last.
    pub error: Option<String>,
    /// Where they were sent to, without a name or password in it.
    pub endpoint: String,
}

impl DeliveryReport {
    /// A sentence for the user, if there is something to say. It holds no character that a terminal would obey.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let Self { spans, dropped, error, endpoint, .. } = self;
        let because = error.as_deref().unwrap_or("too many came at a time");
        if *dropped > 0 {
            let all = spans.saturating_add(*dropped);
            return Some(format!("{dropped} of {all} spans were not delivered to {endpoint}: {because}"));
        }
        error.as_deref().map(|error| format!("the collector at {endpoint}: {error}"))
    }
}

impl OtelExporter {
    /// An exporter for this run, by the variables of this process, and what will say how it went. `None` where the variables say that
    /// nothing is to be exported.
    ///
    /// # Errors
    /// A variable asks for what is not possible here, or there can be no more threads.
    pub fn from_env(header: &TraceHeader) -> Result<Option<(Self, OtelHandle)>, OtelError> {
        OtelSettings::from_env()?.map(|settings| settings.start(header)).transpose()
    }

    fn end_with(&mut self, summary: Option<&TraceSummary>) {
        let Some(root) = self.root.take() else { return };
        let omitted = self.omitted.load(Ordering::Relaxed);
        let root = self.spans.is_sampled().then(|| root.end(&self.spans, summary, omitted));
        self.queue.end(root, Instant::now() + self.patience);
    }
}

impl OtelSettings {
    /// Begins to export a run.
    ///
    /// # Errors
    /// The exporter cannot be made, or there can be no more threads.
    pub fn start(self, header: &TraceHeader) -> Result<(OtelExporter, OtelHandle), OtelError> {
        let queue = Arc::new(SpanQueue::new(self.queue, self.batch, self.delay));
        let omitted = Arc::new(AtomicU64::new(0));
        let spans = SpanBuilder::new(header, &self);
        let exporter = OtelExporter {
            root: Some(RootSpan::new(header)),
            queue: Arc::clone(&queue),
            omitted: Arc::clone(&omitted),
            patience: self.patience,
            max_spans: self.max_spans,
            made: 0,
            spans,
        };
        let handle = OtelHandle {
            queue: Arc::clone(&queue),
            omitted,
            patience: self.patience,
            endpoint: client::shown(&self.endpoint()),
            warnings: self.warnings().to_vec(),
            is_sampled: exporter.spans.is_sampled(),
        };
        let resource = Resource::builder_empty()
            .with_detector(Box::new(TelemetryResourceDetector))
            .with_attributes(spans::resource(header, &self))
            .build();
        let (endpoint, timeout) = (self.endpoint.to_string(), self.timeout);
        let client = Arc::new(OtlpClient::new(self, Arc::clone(&queue)));
        let mut otlp = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_shared_http_client(Arc::<OtlpClient>::clone(&client))
            .with_endpoint(endpoint)
            .with_timeout(timeout)
            .with_protocol(Protocol::HttpBinary)
            // The client tries again by itself: it knows when the run has ended.
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .map_err(|error| OtelError::Exporter(error.to_string()))?;
        otlp.set_resource(&resource);
        let send = move |batch: Vec<SpanData>| {
            let all = batch.len() as u64;
            let result = at_once(otlp.export(batch));
            let answer = client.answer();
            match result {
                Some(Ok(())) => (answer.rejected, answer.why),
                Some(Err(error)) => (all, answer.why.or_else(|| Some(client::shown(&error.to_string())))),
                None => (all, Some("the exporter waits for something that is not there".to_owned())),
            }
        };
        thread::Builder::new()
            .name("sandbox-otel".into())
            .spawn(move || queue.work(send))
            .map_err(OtelError::Thread)?;
        Ok((exporter, handle))
    }
}

impl EventSink for OtelExporter {
    fn event(&mut self, event: &Event, class: Option<AttackClass>) {
        if !self.spans.is_sampled() {
            return;
        }
        if let Some(root) = &mut self.root {
            root.marks(event, &self.spans);
        }
        let matters = event.is_violation();
        let most = if matters { self.max_spans } else { self.max_spans / 2 };
        if self.made >= most {
            if SpanBuilder::is_span(event) {
                self.omitted.fetch_add(1, Ordering::Relaxed);
            }
            return;
        }
        if let Some(queued) = self.spans.of(event, class) {
            self.made += 1;
            self.queue.offer(queued, matters);
        }
    }

    fn end(&mut self, summary: &TraceSummary) {
        self.end_with(Some(summary));
    }
}

impl Drop for OtelExporter {
    /// A recorder that went away without an end: what there is of the run is exported, and says so.
    fn drop(&mut self) {
        self.end_with(None);
    }
}

impl fmt::Debug for OtelExporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").field("trace", &self.spans.trace).finish_non_exhaustive()
    }
}

impl OtelHandle {
    /// What was odd about the variables, for the user.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether this run is exported at all: the sampler, or the parent span, may say no.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Waits until the spans of a run that has ended were taken, for as long as the settings allow from its end, and says how it went.
    /// To be called after [`Recorder::finish`](crate::Recorder::finish); the summary may well be printed before.
    #[must_use]
    pub fn finish(self) -> DeliveryReport {
        let account = self.queue.settle(Instant::now() + self.patience);
        let dropped = account.dropped.saturating_add(account.unknown);
        let late = (account.unknown > 0).then(|| "it did not answer in time".to_owned());
        DeliveryReport {
            spans: account.delivered,
            dropped,
            omitted: self.omitted.load(Ordering::Relaxed),
            error: account.error.or(late),
            endpoint: self.endpoint,
        }
    }
}

/// The result of a future that never waits for anything: our client blocks, and there is nothing else to wait for.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}
