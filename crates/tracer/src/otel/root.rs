//! The root span: the run itself, and what it amounts to.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Event as SpanEvent, SpanContext, SpanKind, Status};

use super::attributes::SpanAttributes;
use super::client::shown;
use super::queue::QueuedSpan;
use super::spans::{SpanBuilder, word};
use crate::format::event::{Event, EventKind};
use crate::format::trace::{TraceHeader, TraceSummary};

/// The most events of the root span: beginning, end, limits, classes. The specification's own bound.
const MAX_EVENTS: usize = 128;

/// What is gathered for the root while the run goes on.
#[derive(Debug)]
pub(super) struct RootSpan {
    start: SystemTime,
    last: SystemTime,
    skill_name: String,
    skill_version: Option<String>,
    trace_id: String,
    command: Vec<String>,
    ended: Option<RunEnd>,
    events: Vec<SpanEvent>,
    dropped_events: u32,
}

/// How the run ended.
#[derive(Debug)]
struct RunEnd {
    exit_code: Option<i32>,
    signal: Option<i32>,
    end: String,
    error: Option<String>,
}

impl RootSpan {
    pub(super) fn new(header: &TraceHeader) -> Self {
        let start = SystemTime::from(header.started);
        Self {
            start,
            last: start,
            skill_name: header.skill_name.clone(),
            skill_version: header.skill_version.clone(),
            trace_id: header.trace_id.to_string(),
            command: Vec::new(),
            ended: None,
            events: Vec::new(),
            dropped_events: 0,
        }
    }

    /// Something happened; what is no span, but worth a mark in the run's own, gets one.
    pub(super) fn marks(&mut self, event: &Event, spans: &SpanBuilder) {
        let time = SystemTime::from(event.time);
        self.last = self.last.max(time);
        let mut attributes = SpanAttributes::new(spans.limits);
        let name = match &event.kind {
            EventKind::RunStarted { command } => {
                self.command.clone_from(command);
                "sandbox.started"
            }
            EventKind::RunEnded { exit_code, signal, end, error } => {
                let (exit_code, signal) = (*exit_code, *signal);
                self.ended = Some(RunEnd { exit_code, signal, end: end.clone(), error: error.clone() });
                attributes.text("skillsandbox.end", end);
                "sandbox.ended"
            }
            EventKind::ResourceLimitHit { limit, mechanism } => {
                attributes.text("skillsandbox.limit", limit).text("skillsandbox.limit.mechanism", mechanism);
                attributes.number("skillsandbox.count", event.count);
                "sandbox.limit"
            }
            EventKind::Lost { at } => {
                attributes.text("skillsandbox.lost.at", at).number("skillsandbox.count", event.count);
                "sandbox.lost"
            }
            // Spans of their own, or not exported.
            EventKind::Policy { .. }
            | EventKind::File { .. }
            | EventKind::Exec { .. }
            | EventKind::DnsQuery { .. }
            | EventKind::NetConnect(_)
            | EventKind::SyscallRefused { .. }
            | EventKind::Stdout(_)
            | EventKind::Stderr(_) => return,
        };
        attributes.number("skillsandbox.sequence", event.sequence);
        self.mark(name, time, attributes);
    }

    fn mark(&mut self, name: &'static str, time: SystemTime, attributes: SpanAttributes) {
        if self.events.len() >= MAX_EVENTS {
            self.dropped_events = self.dropped_events.saturating_add(1);
            return;
        }
        let (attributes, dropped, _) = attributes.done();
        self.events.push(SpanEvent::new(name, time, attributes, dropped));
    }

    /// The span of a run that has ended; of one whose recorder went away, there is no summary.
    pub(super) fn end(
        mut self,
        spans: &SpanBuilder,
        summary: Option<&TraceSummary>,
        omitted: u64,
    ) -> QueuedSpan {
        let took = Duration::from_micros(summary.map_or(0, |summary| summary.duration_us));
        let end = self.start.checked_add(took).unwrap_or(self.start).max(self.last);
        let mut attributes = SpanAttributes::new(spans.limits);
        attributes
            .text("skillsandbox.skill.name", &self.skill_name)
            .maybe("skillsandbox.skill.version", self.skill_version.as_deref())
            .text("skillsandbox.trace_id", &self.trace_id);
        match summary {
            Some(summary) => {
                self.classes(&mut attributes, spans, summary, end);
                counts(&mut attributes, summary);
            }
            None => {
                attributes.flag("skillsandbox.complete", false);
            }
        }
        attributes.number("skillsandbox.spans.omitted", omitted);
        if let Some(RunEnd { exit_code, signal, end, error }) = &self.ended {
            attributes.text("skillsandbox.end", end);
            if let Some(code) = exit_code {
                attributes.number("process.exit.code", *code);
            }
            if let Some(signal) = signal {
                attributes.number("skillsandbox.signal", *signal);
            }
            attributes.maybe("skillsandbox.error", error.as_deref());
        }
        let status = self.status(summary);
        if let (Status::Error { .. }, Some(RunEnd { exit_code, end, .. })) = (&status, &self.ended) {
            let kind = match (summary.is_some_and(|summary| summary.denied > 0), exit_code) {
                (true, _) => "denied".to_owned(),
                (false, Some(code)) if end == "itself" => code.to_string(),
                (false, _) => end.clone(),
            };
            attributes.text("error.type", &kind);
        }
        if !self.command.is_empty() {
            attributes.texts("process.command_args", self.command.iter().map(String::as_str));
        }
        let parent = spans.parent.as_ref().map(|parent| (SpanContext::span_id(parent), true));
        let name = ("sandbox.run".into(), SpanKind::Internal);
        let mut queued = spans.span(spans.root, parent, name, (self.start, end), status, attributes);
        // Bounded, and there is one root: what they take is not worth counting.
        queued.span.events.events = self.events;
        queued.span.events.dropped_count = self.dropped_events;
        queued
    }

    /// What the attempts amount to: the worst of it for whoever asks for numbers, each with its evidence for whoever looks closer.
    fn classes(
        &mut self,
        attributes: &mut SpanAttributes,
        spans: &SpanBuilder,
        summary: &TraceSummary,
        end: SystemTime,
    ) {
        let found = &summary.classifications;
        if let Some(severity) = summary.max_severity {
            attributes.text("skillsandbox.severity", &word(severity));
        }
        if !found.is_empty() {
            let classes: BTreeSet<String> = found.iter().map(|one| word(one.class)).collect();
            let tactics: BTreeSet<&str> = found.iter().map(|one| one.mitre_tactic.as_str()).collect();
            let techniques = found.iter().flat_map(|one| &one.techniques).map(|one| one.id.as_str());
            attributes
                .texts("skillsandbox.classes", classes.iter().map(String::as_str))
                .texts("skillsandbox.mitre.tactics", tactics)
                .texts("skillsandbox.mitre.techniques", techniques.collect::<BTreeSet<_>>());
        }
        for one in found {
            let mut mark = SpanAttributes::new(spans.limits);
            mark.text("skillsandbox.class", &word(one.class))
                .text("skillsandbox.severity", &word(one.severity))
                .flag("skillsandbox.prevented", one.prevented)
                .flag("skillsandbox.unknown", one.unknown)
                .text("skillsandbox.mitre.tactic", &one.mitre_tactic)
                .texts("skillsandbox.mitre.techniques", one.techniques.iter().map(|one| one.id.as_str()))
                .text("skillsandbox.message", &one.message)
                .numbers("skillsandbox.evidence", one.evidence.iter().copied());
            self.mark("sandbox.classification", end, mark);
        }
    }

    fn status(&self, summary: Option<&TraceSummary>) -> Status {
        let Some(summary) = summary else { return Status::error("the run was not recorded to its end") };
        if summary.denied > 0 {
            return Status::error(format!("{} attempts were denied", summary.denied));
        }
        let Some(RunEnd { exit_code, signal, end, error }) = &self.ended else { return Status::Unset };
        match (error, signal, exit_code) {
            (Some(error), ..) => Status::error(shown(error)),
            _ if end != "itself" => Status::error(format!("ended by {}", shown(end))),
            (_, Some(signal), _) => Status::error(format!("ended by signal {signal}")),
            (_, _, Some(code)) if *code != 0 => Status::error(format!("exit code {code}")),
            _ => Status::Unset,
        }
    }
}

fn counts(attributes: &mut SpanAttributes, summary: &TraceSummary) {
    attributes
        .flag("skillsandbox.all_prevented", summary.all_prevented)
        .flag("skillsandbox.complete", summary.complete)
        .number("skillsandbox.events", summary.events)
        .number("skillsandbox.allowed", summary.allowed)
        .number("skillsandbox.denied", summary.denied)
        .number("skillsandbox.failed", summary.failed)
        .number("skillsandbox.unknown", summary.unknown)
        .number("skillsandbox.lost", summary.lost);
    if !summary.incomplete_because.is_empty() {
        attributes
            .texts("skillsandbox.incomplete_because", summary.incomplete_because.iter().map(String::as_str));
    }
}
