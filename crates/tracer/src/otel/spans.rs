//! Events as spans.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use sha2::{Digest as _, Sha256};

use super::attributes::{AttributeLimits, SpanAttributes};
use super::queue::QueuedSpan;
use super::settings::OtelSettings;
use crate::format::event::{Event, EventKind, EventVerdict, NetConnection};
use crate::format::trace::{AttackClass, TraceHeader};

/// What a span takes besides its attributes, about.
const SPAN_BYTES: usize = 512;

/// Makes spans of one run: all of one trace, below one root.
#[derive(Debug)]
pub(super) struct SpanBuilder {
    pub(super) trace: TraceId,
    pub(super) root: SpanId,
    pub(super) parent: Option<SpanContext>,
    pub(super) limits: AttributeLimits,
    run: [u8; 16],
    made: u64,
    flags: TraceFlags,
    state: TraceState,
    scope: InstrumentationScope,
}

impl SpanBuilder {
    pub(super) fn new(header: &TraceHeader, settings: &OtelSettings) -> Self {
        let run = header.trace_id.into_bytes();
        // The number of the run is that of the trace, so that one can be found by the other; unless somebody's trace goes on here.
        let own = if header.trace_id.is_nil() { TraceId::from(1) } else { TraceId::from_bytes(run) };
        let trace = settings.parent.as_ref().map_or(own, SpanContext::trace_id);
        let sampled = settings.sampler.samples(settings.parent.as_ref(), trace);
        let state = settings.parent.as_ref().map(|parent| parent.trace_state().clone());
        let scope = InstrumentationScope::builder("skillsandbox").with_version(env!("CARGO_PKG_VERSION"));
        Self {
            trace,
            root: span_id(run, 0),
            parent: settings.parent.clone(),
            limits: AttributeLimits { attributes: settings.max_attributes, value: settings.max_value },
            run,
            made: 0,
            flags: if sampled { TraceFlags::SAMPLED } else { TraceFlags::default() },
            state: state.unwrap_or_default(),
            scope: scope.build(),
        }
    }

    pub(super) fn is_sampled(&self) -> bool {
        self.flags.is_sampled()
    }

    /// Whether an event would be a span.
    pub(super) fn is_span(event: &Event) -> bool {
        name(event).is_some()
    }

    /// The span of an event; `None` for those that are none by themselves.
    pub(super) fn of(&mut self, event: &Event, class: Option<AttackClass>) -> Option<QueuedSpan> {
        let (name, kind) = name(event)?;
        let mut attributes = SpanAttributes::new(self.limits);
        own(&mut attributes, event, class);
        what(&mut attributes, event);
        process(&mut attributes, event);
        let (start, end) = times(event);
        self.made += 1;
        let id = span_id(self.run, self.made);
        Some(self.span(
            id,
            Some((self.root, false)),
            (name.into(), kind),
            (start, end),
            status(event),
            attributes,
        ))
    }

    /// A span as it goes to the collector.
    pub(super) fn span(
        &self,
        id: SpanId,
        parent: Option<(SpanId, bool)>,
        (name, span_kind): (Cow<'static, str>, SpanKind),
        (start_time, end_time): (SystemTime, SystemTime),
        status: Status,
        attributes: SpanAttributes,
    ) -> QueuedSpan {
        let (attributes, dropped_attributes_count, bytes) = attributes.done();
        let span = SpanData {
            span_context: SpanContext::new(self.trace, id, self.flags, false, self.state.clone()),
            parent_span_id: parent.map_or(SpanId::INVALID, |(parent, _)| parent),
            parent_span_is_remote: parent.is_some_and(|(_, is_remote)| is_remote),
            span_kind,
            name,
            start_time,
            end_time,
            attributes,
            dropped_attributes_count,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: self.scope.clone(),
        };
        QueuedSpan { span, bytes: bytes + SPAN_BYTES }
    }
}

/// Numbers of spans follow from the number of the run, which is random: no two runs below one parent share any.
fn span_id(run: [u8; 16], number: u64) -> SpanId {
    let mut hash = Sha256::new();
    hash.update(b"skillsandbox span");
    hash.update(run);
    hash.update(number.to_be_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    let bytes = digest.first_chunk::<8>().copied().unwrap_or_default();
    // Zero is no number of a span.
    SpanId::from(u64::from_be_bytes(bytes).max(1))
}

/// What a span is called. Files only where they were denied, and calls only where they were refused: every program opens thousands.
fn name(event: &Event) -> Option<(&'static str, SpanKind)> {
    let is_denied = event.verdict == Some(EventVerdict::Denied);
    match &event.kind {
        EventKind::Exec { .. } => Some(("sandbox.exec", SpanKind::Internal)),
        EventKind::NetConnect(_) => Some(("sandbox.net.connect", SpanKind::Client)),
        EventKind::DnsQuery { .. } => Some(("sandbox.dns.query", SpanKind::Client)),
        EventKind::File { .. } if is_denied => Some(("sandbox.fs.violation", SpanKind::Internal)),
        EventKind::File { .. } if event.verdict == Some(EventVerdict::Unknown) => {
            Some(("sandbox.fs.unknown", SpanKind::Internal))
        }
        EventKind::SyscallRefused { .. } if is_denied => {
            Some(("sandbox.syscall.refused", SpanKind::Internal))
        }
        EventKind::Policy { .. } => Some(("sandbox.policy", SpanKind::Internal)),
        EventKind::File { .. }
        | EventKind::SyscallRefused { .. }
        | EventKind::RunStarted { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::ResourceLimitHit { .. }
        | EventKind::Lost { .. }
        | EventKind::RunEnded { .. } => None,
    }
}

/// When it began and ended. An event that stands for several goes on until the last of them; a connection is told when it is over.
fn times(event: &Event) -> (SystemTime, SystemTime) {
    let told = SystemTime::from(event.time);
    let later = event.last_elapsed_us.unwrap_or(0).saturating_sub(event.elapsed_us);
    let end = told.checked_add(Duration::from_micros(later)).unwrap_or(told);
    let took = match &event.kind {
        EventKind::NetConnect(connection) => connection.duration_us,
        _ => 0,
    };
    let start =
        told.checked_sub(Duration::from_micros(took)).filter(|start| *start >= SystemTime::UNIX_EPOCH);
    (start.unwrap_or(told), end)
}

/// Only what was denied is an error: an attempt that was allowed and did not work out is the program's own affair.
fn status(event: &Event) -> Status {
    if !event.is_violation() {
        return Status::Unset;
    }
    // What the status says is shown everywhere, and has no limit of its own.
    let rule = event.rule.as_deref().map(super::client::shown);
    Status::error(rule.unwrap_or_else(|| "denied".to_owned()))
}

fn own(attributes: &mut SpanAttributes, event: &Event, class: Option<AttackClass>) {
    attributes.number("skillsandbox.sequence", event.sequence);
    if let Some(verdict) = event.verdict {
        attributes.text("skillsandbox.verdict", verdict_word(verdict));
    }
    attributes.maybe("skillsandbox.rule", event.rule.as_deref());
    if let Some(class) = class {
        attributes.text("skillsandbox.class", &word(class));
    }
    attributes.number("skillsandbox.count", event.count);
    if let Some(first) = event.repeats {
        attributes.number("skillsandbox.repeats", first);
    }
    let failed = match (event.verdict, &event.kind) {
        _ if matches!(event.kind, EventKind::Policy { .. }) => None,
        (
            Some(EventVerdict::Denied | EventVerdict::Failed),
            EventKind::NetConnect(NetConnection { reason: Some(reason), .. }),
        ) => Some(reason.as_str()),
        (Some(verdict @ (EventVerdict::Denied | EventVerdict::Failed)), _) => Some(verdict_word(verdict)),
        (Some(EventVerdict::Allowed | EventVerdict::Unknown) | None, _) => None,
    };
    attributes.maybe("error.type", failed);
}

/// Names of the semantic conventions where there is one, ours where there is none.
fn what(attributes: &mut SpanAttributes, event: &Event) {
    match &event.kind {
        EventKind::Exec { path, argv } => {
            attributes.text("process.executable.path", path);
            attributes.texts("process.command_args", argv.iter().map(String::as_str));
        }
        EventKind::NetConnect(to) => {
            attributes.maybe("server.address", to.name.as_deref().or(to.address.as_deref()));
            attributes.number("server.port", to.port);
            attributes.text("network.transport", &to.transport);
            let (peer, port) = peer(to);
            attributes.maybe("network.peer.address", peer.as_deref());
            if peer.is_some() {
                attributes.number("network.peer.port", port);
            }
            attributes.maybe("tls.client.server_name", to.server_name.as_deref());
            attributes.maybe("skillsandbox.net.used_address", to.address.as_deref());
            attributes.maybe("skillsandbox.net.reason", to.reason.as_deref());
            attributes.number("skillsandbox.net.bytes_sent", to.sent);
            attributes.number("skillsandbox.net.bytes_received", to.received);
        }
        EventKind::DnsQuery { name, server } => {
            attributes.maybe("dns.question.name", name.as_deref());
            attributes.maybe("server.address", server.as_deref());
        }
        EventKind::File { operation, path, to } => {
            attributes.text("file.path", path);
            attributes.text("skillsandbox.file.operation", &word(operation));
            attributes.maybe("skillsandbox.file.to", to.as_deref());
        }
        EventKind::SyscallRefused { name, reason, errno } => {
            attributes.text("skillsandbox.syscall.name", name);
            attributes.text("skillsandbox.syscall.reason", reason);
            if let Some(errno) = errno {
                attributes.number("skillsandbox.syscall.errno", *errno);
            }
        }
        EventKind::Policy { subject, message, figures } => {
            attributes.text("skillsandbox.policy.subject", subject);
            attributes.text("skillsandbox.policy.message", message);
            for (name, figure) in figures {
                attributes.number(format!("skillsandbox.policy.figures.{name}"), *figure);
            }
        }
        // Events of the root span, or not exported.
        EventKind::RunStarted { .. }
        | EventKind::Stdout(_)
        | EventKind::Stderr(_)
        | EventKind::ResourceLimitHit { .. }
        | EventKind::Lost { .. }
        | EventKind::RunEnded { .. } => {}
    }
}

/// The address that was really connected to. A granted name is dialled elsewhere than where the program was told it is.
fn peer(to: &NetConnection) -> (Option<String>, u16) {
    match to.dialled.as_deref().map(str::parse::<std::net::SocketAddr>) {
        Some(Ok(dialled)) => (Some(dialled.ip().to_string()), dialled.port()),
        Some(Err(_)) => (to.dialled.clone(), to.port),
        None => (to.address.clone(), to.port),
    }
}

fn process(attributes: &mut SpanAttributes, event: &Event) {
    let Some(process) = &event.process else { return };
    attributes.number("process.pid", process.pid);
    if let Some(parent) = process.parent {
        attributes.number("process.parent_pid", parent);
    }
    if let Some(inner) = process.inner_pid {
        attributes.number("process.vpid", inner);
    }
    // Of a program that is executed, the convention's name is that of the new one.
    let key = if matches!(event.kind, EventKind::Exec { .. }) {
        "skillsandbox.exec.by"
    } else {
        "process.executable.path"
    };
    attributes.maybe(key, process.binary.as_deref());
}

fn verdict_word(verdict: EventVerdict) -> &'static str {
    match verdict {
        EventVerdict::Allowed => "allowed",
        EventVerdict::Denied => "denied",
        EventVerdict::Failed => "failed",
        EventVerdict::Unknown => "unknown",
    }
}

/// A word of the trace's own, as the trace writes it.
pub(super) fn word(value: impl serde::Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// The attributes that say whose spans these are.
pub(super) fn resource(header: &TraceHeader, settings: &OtelSettings) -> Vec<KeyValue> {
    let limits = AttributeLimits { attributes: 256, value: settings.max_value };
    let mut attributes = SpanAttributes::new(limits);
    let version = header.tool.rsplit_once(' ').map(|(_, version)| version);
    attributes
        .text("service.name", "skillsandbox")
        .text("service.version", version.unwrap_or(env!("CARGO_PKG_VERSION")))
        .text("os.type", std::env::consts::OS)
        .text("host.arch", arch())
        .text("skillsandbox.tool", &header.tool);
    for (name, fact) in &header.host {
        attributes.text(format!("skillsandbox.host.{name}"), fact);
    }
    let (mut all, ..) = attributes.done();
    // The user has the last word: of two with one key the later one holds.
    all.extend(settings.resource.iter().cloned());
    all
}

/// As the semantic conventions call them.
fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "arm" => "arm32",
        other => other,
    }
}

/// A span that says nothing, for tests of what carries spans.
#[cfg(test)]
pub(super) fn empty() -> SpanData {
    SpanData {
        span_context: SpanContext::NONE,
        parent_span_id: SpanId::INVALID,
        parent_span_is_remote: false,
        span_kind: SpanKind::Internal,
        name: "".into(),
        start_time: SystemTime::UNIX_EPOCH,
        end_time: SystemTime::UNIX_EPOCH,
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::default(),
    }
}
