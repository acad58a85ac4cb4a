//! What a trace says about one thing.

use std::path::Path;

use anyhow::Context as _;
use skillsandbox_tracer::{AttackClass, Event, EventKind, EventVerdict, Trace, read_trace, verify_trace};

/// Reads a trace, if it is intact.
pub fn load(path: &Path) -> Result<Trace, String> {
    let load = || {
        verify_trace(path).context("the trace is not intact")?;
        read_trace(path).context("the trace cannot be read")
    };
    load().map_err(|error: anyhow::Error| format!("{error:#}"))
}

/// `class, techniques`, where the trace has this class with all of these techniques, and all of it was prevented.
pub fn classified(trace: &Trace, class: AttackClass, techniques: &[&str]) -> Result<String, String> {
    let name = serde_json::to_value(class).ok().and_then(|name| name.as_str().map(str::to_owned));
    let name = name.unwrap_or_default();
    let found = trace.violation_summary.classifications.iter().find(|found| found.class == class);
    let found = found.ok_or_else(|| format!("{name} is not on record"))?;
    let ids: Vec<&str> = found.techniques.iter().map(|technique| technique.id.as_str()).collect();
    if let Some(missing) = techniques.iter().find(|id| !ids.contains(*id)) {
        return Err(format!("{name} is on record without {missing}"));
    }
    if !found.prevented {
        return Err(format!("{name} is on record, and not as prevented"));
    }
    Ok(format!("{name}, {}", techniques.join(" ")))
}

/// Whether something was tried that matches, and nothing of that kind was allowed.
fn none_allowed(trace: &Trace, is_it: impl Fn(&EventKind) -> bool) -> Result<usize, String> {
    let matching: Vec<&Event> = trace.events.iter().filter(|event| is_it(&event.kind)).collect();
    if matching
        .iter()
        .any(|event| matches!(event.verdict, Some(EventVerdict::Allowed | EventVerdict::Unknown)))
    {
        return Err("it is on record as allowed, or as unknown".to_owned());
    }
    if matching.is_empty() {
        return Err("it is not on record".to_owned());
    }
    Ok(matching.len())
}

/// Whether it was tried to open this file (the end of its path) and never allowed.
pub fn file_refused(trace: &Trace, end: &str) -> Result<(), String> {
    let is_it = |what: &EventKind| matches!(what, EventKind::File { path, .. } if path.ends_with(end));
    none_allowed(trace, is_it).map(|_| ()).map_err(|why| format!("{end}: {why}"))
}

/// How many names at or below this one were looked up; none was answered.
pub fn names_refused(trace: &Trace, below: &str) -> Result<usize, String> {
    let is_it = |what: &EventKind| matches!(what, EventKind::DnsQuery { name: Some(name), .. } if name.ends_with(below));
    none_allowed(trace, is_it).map_err(|why| format!("looking up {below}: {why}"))
}

/// Whether a connection to this name or address was tried and never allowed.
pub fn connection_refused(trace: &Trace, to: &str) -> Result<(), String> {
    let is_it = |what: &EventKind| match what {
        EventKind::NetConnect(to_where) => {
            [&to_where.name, &to_where.address].into_iter().flatten().any(|it| it == to)
        }
        _ => false,
    };
    none_allowed(trace, is_it).map(|_| ()).map_err(|why| format!("connecting to {to}: {why}"))
}

/// Whether something that was tried was refused. That it had to wait for its share of the processor is no such thing.
#[must_use]
pub fn is_refusal(event: &Event) -> bool {
    event.is_violation() && !matches!(event.kind, EventKind::ResourceLimitHit { .. })
}

/// Bytes that came back over connections to this name.
#[must_use]
pub fn received_from(trace: &Trace, name: &str) -> u64 {
    let bytes = |event: &Event| match &event.kind {
        EventKind::NetConnect(to)
            if to.name.as_deref() == Some(name) && event.verdict == Some(EventVerdict::Allowed) =>
        {
            to.received
        }
        _ => 0,
    };
    trace.events.iter().map(bytes).sum()
}

/// A figure of what the sandbox says about the environment: `stripped`, `stripped_secrets`, `allowed`.
#[must_use]
pub fn environment(trace: &Trace, figure: &str) -> u64 {
    let of = |event: &Event| match &event.kind {
        EventKind::Policy { subject, figures, .. } if subject == "environment" => {
            figures.get(figure).copied()
        }
        _ => None,
    };
    trace.events.iter().find_map(of).unwrap_or_default()
}
