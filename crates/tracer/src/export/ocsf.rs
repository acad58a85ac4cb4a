//! A trace as events of the Open Cybersecurity Schema Framework, which many security tools read.
//!
//! Every event of the trace becomes one event, in a class that fits, and every classification a Detection Finding:
//!
//! | of the trace | class | activity |
//! |---|---|---|
//! | a file | File System Activity 1001 | by operation |
//! | a system call that the profile does not have | Kernel Activity 1003 | Invoke |
//! | the run's begin, a program, the run's end | Process Activity 1007 | Launch, Terminate |
//! | a connection | Network Activity 4001 | Open, Refuse, Fail, Traffic |
//! | a name that was looked up | DNS Activity 4003 | Query |
//! | a classification | Detection Finding 2004 | Create |
//! | anything else: lines of output, policies, limits, losses | Base Event 0 | Other, by name |
//!
//! `disposition_id` is only ever there for something that was tried: a policy has none. What the schema has no place for is
//! in `unmapped`, so that nothing is lost on the way.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::line;
use crate::render::words::{base_name, class_name, severity_name};
use crate::{
    AttackSeverity, Classification, Event, EventKind, EventVerdict, NetConnection, Prevention, Trace,
    TraceHeader, TraceSummary, TracedProcess,
};
use skillsandbox_terms::FileOperation;

/// The version of the schema.
pub const VERSION: &str = "1.3.0";

/// Action and disposition of what nobody saw the end of, as the schema has them.
const UNKNOWN: ((u32, &str), (u32, &str)) = ((0, "Unknown"), (0, "Unknown"));

/// Writes a trace as OCSF events, one a line: first what happened, then what it amounts to.
pub fn write_ocsf<W: Write>(out: W, trace: &Trace) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    for event in &trace.events {
        write_ocsf_event(&mut out, &trace.header, event)?;
    }
    write_ocsf_findings(&mut out, &trace.header, &trace.violation_summary, &trace.events)?;
    out.flush()
}

/// One event as a line of [`write_ocsf`], for traces that are too long to be held.
pub fn write_ocsf_event<W: Write>(out: &mut W, header: &TraceHeader, event: &Event) -> io::Result<()> {
    line(out, &activity(header, event))
}

/// What a trace amounts to, as lines of [`write_ocsf`]. Of its events, those are needed that are evidence.
pub fn write_ocsf_findings<W: Write>(
    out: &mut W,
    header: &TraceHeader,
    summary: &TraceSummary,
    evidence: &[Event],
) -> io::Result<()> {
    for (number, found) in summary.classifications.iter().enumerate() {
        line(out, &finding(header, summary, evidence, number, found))?;
    }
    Ok(())
}

/// What a class of the schema is, and which of its activities this is.
struct OcsfClass {
    class: u32,
    class_name: &'static str,
    category: u32,
    category_name: &'static str,
    activity: u32,
    activity_name: &'static str,
}

impl OcsfClass {
    const fn new(class: u32, activity: u32, activity_name: &'static str) -> Self {
        let (class_name, category, category_name) = match class {
            1001 => ("File System Activity", 1, "System Activity"),
            1003 => ("Kernel Activity", 1, "System Activity"),
            1007 => ("Process Activity", 1, "System Activity"),
            2004 => ("Detection Finding", 2, "Findings"),
            4001 => ("Network Activity", 4, "Network Activity"),
            4003 => ("DNS Activity", 4, "Network Activity"),
            _ => ("Base Event", 0, "Uncategorized"),
        };
        Self { class, class_name, category, category_name, activity, activity_name }
    }

    fn of(event: &Event) -> Self {
        match &event.kind {
            EventKind::File { operation, .. } => {
                let (activity, name) = file_activity(*operation);
                Self::new(1001, activity, name)
            }
            EventKind::SyscallRefused { .. } => Self::new(1003, 4, "Invoke"),
            EventKind::RunStarted { .. } | EventKind::Exec { .. } => Self::new(1007, 1, "Launch"),
            EventKind::RunEnded { .. } => Self::new(1007, 2, "Terminate"),
            EventKind::NetConnect(connection) => match event.verdict {
                Some(EventVerdict::Denied) => Self::new(4001, 5, "Refuse"),
                Some(EventVerdict::Failed) => Self::new(4001, 4, "Fail"),
                _ if connection.transport == "udp" => Self::new(4001, 6, "Traffic"),
                _ => Self::new(4001, 1, "Open"),
            },
            EventKind::DnsQuery { .. } => Self::new(4003, 1, "Query"),
            EventKind::Policy { .. } => Self::new(0, 99, "Policy"),
            EventKind::Stdout(_) => Self::new(0, 99, "Standard Output"),
            EventKind::Stderr(_) => Self::new(0, 99, "Standard Error"),
            EventKind::ResourceLimitHit { .. } => Self::new(0, 99, "Resource Limit"),
            EventKind::Lost { .. } => Self::new(0, 99, "Events Lost"),
        }
    }

    /// What every event of the schema has.
    fn event(&self, header: &TraceHeader, time: Timestamp, severity: (u32, &str)) -> Map<String, Value> {
        let mut event = Map::new();
        let mut put = |name: &str, value: Value| event.insert(name.to_owned(), value);
        put("class_uid", self.class.into());
        put("class_name", self.class_name.into());
        put("category_uid", self.category.into());
        put("category_name", self.category_name.into());
        put("activity_id", self.activity.into());
        put("activity_name", self.activity_name.into());
        put("type_uid", (u64::from(self.class) * 100 + u64::from(self.activity)).into());
        put("type_name", format!("{}: {}", self.class_name, self.activity_name).into());
        put("severity_id", severity.0.into());
        put("severity", severity.1.into());
        put("time", time.as_millisecond().into());
        put("metadata", metadata(header));
        event
    }
}

fn file_activity(operation: FileOperation) -> (u32, &'static str) {
    match operation {
        FileOperation::Read => (2, "Read"),
        FileOperation::Write | FileOperation::Truncate => (3, "Update"),
        FileOperation::Remove => (4, "Delete"),
        FileOperation::Rename => (5, "Rename"),
        FileOperation::Link
        | FileOperation::Symlink
        | FileOperation::MakeFolder
        | FileOperation::MakeNode => (1, "Create"),
        FileOperation::ChangeMode => (7, "Set Security"),
        FileOperation::ChangeAttributes => (6, "Set Attributes"),
        FileOperation::Connect => (14, "Open"),
    }
}

fn metadata(header: &TraceHeader) -> Value {
    let (name, version) = header.tool.rsplit_once(' ').unwrap_or((&header.tool, "unknown"));
    json!({
        "version": VERSION,
        "product": { "name": name, "vendor_name": "SkillSandbox", "version": version },
        "correlation_uid": header.trace_id.to_string(),
        "log_name": header.format,
        "profiles": ["host", "security_control"],
    })
}

fn activity(header: &TraceHeader, event: &Event) -> Value {
    let is_policy = matches!(event.kind, EventKind::Policy { .. });
    let severity = if event.is_violation() { (3, "Medium") } else { (1, "Informational") };
    let mut out = OcsfClass::of(event).event(header, event.time, severity);
    if let Some(Value::Object(metadata)) = out.get_mut("metadata") {
        metadata.insert("uid".to_owned(), event_uid(header, event.sequence).into());
        metadata.insert("sequence".to_owned(), event.sequence.into());
    }
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    put("count", event.count.into());
    if let Some(last) = event.last_elapsed_us {
        let after = i64::try_from(last.saturating_sub(event.elapsed_us) / 1000).unwrap_or(i64::MAX);
        put("start_time", event.time.as_millisecond().into());
        put("end_time", event.time.as_millisecond().saturating_add(after).into());
    }
    if let Some(verdict) = event.verdict.filter(|_| !is_policy) {
        let (action, disposition) = match verdict {
            EventVerdict::Denied => ((2, "Denied"), (2, "Blocked")),
            EventVerdict::Allowed | EventVerdict::Failed => ((1, "Allowed"), (1, "Allowed")),
            EventVerdict::Unknown => UNKNOWN,
        };
        let status = match verdict {
            EventVerdict::Allowed => (1, "Success"),
            EventVerdict::Denied | EventVerdict::Failed => (2, "Failure"),
            EventVerdict::Unknown => (0, "Unknown"),
        };
        for (name, (id, caption)) in [("action", action), ("disposition", disposition), ("status", status)] {
            put(&format!("{name}_id"), id.into());
            put(name, caption.into());
        }
    }
    if let Some(rule) = &event.rule {
        put("policy", json!({ "name": rule }));
    }
    put("device", device(header));
    put("actor", actor(header, event.process.as_ref()));
    body(header, event, &mut put);
    // Its own form, for what the schema has no place for.
    put("unmapped", json!({ "skillsandbox": event }));
    Value::Object(out)
}

/// What only events of its class have.
fn body(header: &TraceHeader, event: &Event, put: &mut dyn FnMut(&str, Value) -> Option<Value>) {
    match &event.kind {
        EventKind::File { operation, path, to } => {
            put("file", file(path, *operation));
            if let Some(to) = to {
                put("file_result", file(to, *operation));
            }
        }
        EventKind::SyscallRefused { name, reason, errno } => {
            put("kernel", json!({ "name": name, "type_id": 2, "type": "System Call", "system_call": name }));
            put("message", reason.as_str().into());
            if let Some(errno) = errno {
                put("status_code", errno.to_string().into());
            }
        }
        EventKind::RunStarted { command } => {
            put("process", launched(event.process.as_ref(), header, None, command));
        }
        EventKind::Exec { path, argv } => {
            put("process", launched(event.process.as_ref(), header, Some(path), argv));
        }
        EventKind::RunEnded { exit_code, end, error, .. } => {
            put("process", process(event.process.as_ref(), header));
            put("message", error.as_ref().unwrap_or(end).as_str().into());
            if let Some(code) = exit_code {
                put("exit_code", (*code).into());
            }
        }
        EventKind::NetConnect(connection) => network(header, connection, put),
        EventKind::DnsQuery { name, server } => {
            put("src_endpoint", source(header));
            put("dst_endpoint", json!({ "ip": server, "port": 53 }));
            if server.is_none() {
                put("dst_endpoint", json!({ "name": "resolver of the sandbox", "port": 53 }));
            }
            if let Some(name) = name {
                put("query", json!({ "hostname": name }));
            }
        }
        EventKind::Policy { subject, message, .. } => {
            put("message", format!("{subject}: {message}").into());
        }
        EventKind::Stdout(line) | EventKind::Stderr(line) => {
            put("message", line.text.as_str().into());
        }
        EventKind::ResourceLimitHit { limit, mechanism } => {
            put("message", format!("{limit}, held by {mechanism}").into());
        }
        EventKind::Lost { at } => {
            put("message", format!("events lost at {at}").into());
        }
    }
}

fn network(
    header: &TraceHeader,
    connection: &NetConnection,
    put: &mut dyn FnMut(&str, Value) -> Option<Value>,
) {
    let mut destination = Map::new();
    destination.insert("port".to_owned(), connection.port.into());
    for (key, value) in [("hostname", &connection.name), ("ip", &connection.address)] {
        if let Some(value) = value {
            destination.insert(key.to_owned(), value.as_str().into());
        }
    }
    if destination.len() == 1 {
        destination.insert("name".to_owned(), "unknown".into());
    }
    put("dst_endpoint", Value::Object(destination));
    put("src_endpoint", source(header));
    let number = if connection.transport == "udp" { 17 } else { 6 };
    put(
        "connection_info",
        json!({
            "direction_id": 2,
            "direction": "Outbound",
            "protocol_name": connection.transport,
            "protocol_num": number,
        }),
    );
    put(
        "traffic",
        json!({
            "bytes_out": connection.sent,
            "bytes_in": connection.received,
            "bytes": connection.sent.saturating_add(connection.received),
        }),
    );
    put("duration", (connection.duration_us / 1000).into());
    if let Some(reason) = &connection.reason {
        put("status_detail", reason.as_str().into());
    }
}

fn file(path: &str, operation: FileOperation) -> Value {
    let (id, name) = match operation {
        FileOperation::MakeFolder => (2, "Folder"),
        FileOperation::Connect => (5, "Local Socket"),
        // Whether it is a regular file was not looked at.
        _ => (0, "Unknown"),
    };
    let mut file = json!({ "name": base_name(path), "path": path, "type_id": id, "type": name });
    if let (Some((folder, _)), Some(object)) = (path.rsplit_once('/'), file.as_object_mut()) {
        let folder = if folder.is_empty() { "/" } else { folder };
        object.insert("parent_folder".to_owned(), folder.into());
    }
    file
}

fn process(process: Option<&TracedProcess>, header: &TraceHeader) -> Value {
    let mut out = Map::new();
    out.insert("uid".to_owned(), header.trace_id.to_string().into());
    let Some(process) = process else { return Value::Object(out) };
    out.insert("uid".to_owned(), format!("{}:{}", header.trace_id, process.pid).into());
    out.insert("pid".to_owned(), process.pid.into());
    if let Some(binary) = &process.binary {
        out.insert("name".to_owned(), base_name(binary).into());
        out.insert("file".to_owned(), file(binary, FileOperation::Read));
    }
    if let Some(parent) = process.parent {
        let uid = format!("{}:{parent}", header.trace_id);
        out.insert("parent_process".to_owned(), json!({ "pid": parent, "uid": uid }));
    }
    Value::Object(out)
}

fn launched(by: Option<&TracedProcess>, header: &TraceHeader, path: Option<&str>, argv: &[String]) -> Value {
    let mut out = process(by, header);
    let path = path.or(argv.first().map(String::as_str));
    if let (Some(path), Some(object)) = (path, out.as_object_mut()) {
        object.insert("name".to_owned(), base_name(path).into());
        object.insert("file".to_owned(), file(path, FileOperation::Read));
        object.insert("cmd_line".to_owned(), crate::render::words::command_line(argv).into());
    }
    out
}

fn actor(header: &TraceHeader, by: Option<&TracedProcess>) -> Value {
    let mut actor = json!({ "app_name": header.skill_name });
    if let (Some(by), Some(object)) = (by, actor.as_object_mut()) {
        object.insert("process".to_owned(), process(Some(by), header));
    }
    actor
}

fn device(header: &TraceHeader) -> Value {
    let kernel = header.host.get("kernel").map_or("Linux", String::as_str);
    json!({
        "type_id": 0,
        "type": "Unknown",
        "name": "sandbox",
        "uid": header.trace_id.to_string(),
        "os": { "name": "Linux", "type_id": 200, "type": "Linux", "kernel_release": kernel },
    })
}

fn source(header: &TraceHeader) -> Value {
    json!({ "name": header.skill_name, "uid": header.trace_id.to_string() })
}

fn event_uid(header: &TraceHeader, sequence: u64) -> String {
    format!("{}#{sequence}", header.trace_id)
}

fn severity(severity: AttackSeverity) -> (u32, &'static str) {
    match severity {
        AttackSeverity::Low => (2, "Low"),
        AttackSeverity::Medium => (3, "Medium"),
        AttackSeverity::High => (4, "High"),
        AttackSeverity::Critical => (5, "Critical"),
    }
}

fn finding(
    header: &TraceHeader,
    summary: &TraceSummary,
    events: &[Event],
    number: usize,
    found: &Classification,
) -> Value {
    let duration = i64::try_from(summary.duration_us / 1000).unwrap_or(0);
    let ended = Timestamp::from_millisecond(header.started.as_millisecond().saturating_add(duration));
    let mut out = OcsfClass::new(2004, 1, "Create").event(
        header,
        ended.unwrap_or(header.started),
        severity(found.severity),
    );
    let places: BTreeSet<u64> = found.evidence.iter().copied().collect();
    let proof: Vec<&Event> = events.iter().filter(|event| places.contains(&event.sequence)).collect();
    let attacks: Vec<Value> = found.techniques.iter().map(|technique| attack(found, technique)).collect();
    let mut info = json!({
        "uid": format!("{}/{}/{number}", header.trace_id, class_name(found.class)),
        "title": class_name(found.class).replace('_', " "),
        "desc": found.message,
        "types": [class_name(found.class)],
        "attacks": attacks,
        "analytic": { "name": class_name(found.class), "type_id": 1, "type": "Rule" },
        "related_events": proof.iter().map(|event| related(header, event)).collect::<Vec<_>>(),
    });
    if let (Some(first), Some(last), Some(info)) = (proof.first(), proof.last(), info.as_object_mut()) {
        info.insert("first_seen_time".to_owned(), first.time.as_millisecond().into());
        info.insert("last_seen_time".to_owned(), last.time.as_millisecond().into());
    }
    // Not from the finding alone: what proves it must not say otherwise.
    let is = |verdict| proof.iter().any(|event| event.verdict == Some(verdict));
    let (action, disposition) = match found.prevention() {
        _ if is(EventVerdict::Allowed) => ((1, "Allowed"), (1, "Allowed")),
        Prevention::Prevented if is(EventVerdict::Unknown) => UNKNOWN,
        Prevention::Prevented => ((2, "Denied"), (2, "Blocked")),
        Prevention::NotPrevented => ((1, "Allowed"), (1, "Allowed")),
        Prevention::Unknown => UNKNOWN,
    };
    let mut put = |name: &str, value: Value| out.insert(name.to_owned(), value);
    put("finding_info", info);
    put("message", found.message.as_str().into());
    put("is_alert", (found.severity >= AttackSeverity::High).into());
    put("status_id", 1.into());
    put("status", "New".into());
    for (name, (id, caption)) in [("action", action), ("disposition", disposition)] {
        put(&format!("{name}_id"), id.into());
        put(name, caption.into());
    }
    put("device", device(header));
    put("actor", actor(header, None));
    let evidence = |event: &&Event| json!({ "data": event, "actor": actor(header, event.process.as_ref()) });
    put("evidences", proof.iter().map(evidence).collect());
    put("unmapped", json!({ "skillsandbox": { "severity": severity_name(found.severity) } }));
    Value::Object(out)
}

fn related(header: &TraceHeader, event: &Event) -> Value {
    let kind = OcsfClass::of(event);
    json!({
        "uid": event_uid(header, event.sequence),
        "type": format!("{}: {}", kind.class_name, kind.activity_name),
        "type_uid": u64::from(kind.class) * 100 + u64::from(kind.activity),
    })
}

fn attack(found: &Classification, technique: &crate::AttackTechnique) -> Value {
    let mut attack = Map::new();
    attack.insert("tactic".to_owned(), tactic(&found.mitre_tactic));
    // `T1552.001` is a part of `T1552`; ids of ATLAS have dots of their own.
    let parent =
        technique.id.split_once('.').map(|(parent, _)| parent).filter(|_| technique.id.starts_with('T'));
    let whole = json!({ "uid": technique.id, "name": technique.name });
    if let Some(parent) = parent {
        let name = technique.name.split_once(": ").map_or(technique.name.as_str(), |(name, _)| name);
        attack.insert("technique".to_owned(), json!({ "uid": parent, "name": name }));
        attack.insert("sub_technique".to_owned(), whole);
    } else {
        attack.insert("technique".to_owned(), whole);
    }
    Value::Object(attack)
}

/// Numbers of the tactics of ATT&CK for enterprises.
const TACTICS: [(&str, &str, &str); 14] = [
    ("reconnaissance", "TA0043", "Reconnaissance"),
    ("resource-development", "TA0042", "Resource Development"),
    ("initial-access", "TA0001", "Initial Access"),
    ("execution", "TA0002", "Execution"),
    ("persistence", "TA0003", "Persistence"),
    ("privilege-escalation", "TA0004", "Privilege Escalation"),
    ("defense-evasion", "TA0005", "Defense Evasion"),
    ("credential-access", "TA0006", "Credential Access"),
    ("discovery", "TA0007", "Discovery"),
    ("lateral-movement", "TA0008", "Lateral Movement"),
    ("collection", "TA0009", "Collection"),
    ("command-and-control", "TA0011", "Command and Control"),
    ("exfiltration", "TA0010", "Exfiltration"),
    ("impact", "TA0040", "Impact"),
];

fn tactic(name: &str) -> Value {
    match TACTICS.iter().find(|(known, ..)| *known == name) {
        Some((_, uid, caption)) => json!({ "uid": uid, "name": caption }),
        None => json!({ "uid": name, "name": name }),
    }
}
