//! An event in words: what it is called, what it is about, how it went.

use std::borrow::Cow;

use skillsandbox_text::{Glyphs, quote_words};

use crate::{AttackClass, AttackSeverity, Event, EventKind, EventVerdict, NetConnection};
use skillsandbox_terms::FileOperation;

/// What an event is called, in nine letters at most.
pub(super) fn kind(what: &EventKind) -> &'static str {
    match what {
        EventKind::RunStarted { .. } => "start",
        EventKind::Policy { .. } => "policy",
        EventKind::File { operation, .. } => operation_name(*operation),
        EventKind::Exec { .. } => "exec",
        EventKind::DnsQuery { .. } => "dns",
        EventKind::NetConnect(connection) if connection.transport == "udp" => "send",
        EventKind::NetConnect(_) => "connect",
        EventKind::SyscallRefused { .. } => "syscall",
        EventKind::Stdout(_) => "stdout",
        EventKind::Stderr(_) => "stderr",
        EventKind::ResourceLimitHit { .. } => "limit",
        EventKind::Lost { .. } => "lost",
        EventKind::RunEnded { .. } => "end",
    }
}

fn operation_name(operation: FileOperation) -> &'static str {
    match operation {
        FileOperation::Read => "read",
        FileOperation::Write => "write",
        FileOperation::Remove => "remove",
        FileOperation::Rename => "rename",
        FileOperation::Link => "link",
        FileOperation::Symlink => "symlink",
        FileOperation::MakeFolder => "mkdir",
        FileOperation::MakeNode => "mknod",
        FileOperation::Truncate => "truncate",
        FileOperation::ChangeMode => "chmod",
        FileOperation::ChangeAttributes => "setattr",
        FileOperation::Connect => "unix",
    }
}

/// How it went, where that is a question; what it is, where it is not. Nothing is ever denied by a policy that is only stated.
pub(super) fn word(event: &Event) -> &'static str {
    if matches!(event.kind, EventKind::Policy { .. }) {
        return "POLICY";
    }
    match event.verdict {
        Some(EventVerdict::Allowed) => "ALLOWED",
        Some(EventVerdict::Denied) => "DENIED",
        Some(EventVerdict::Failed) if is_absence(event) => "ABSENT",
        Some(EventVerdict::Failed) => "FAILED",
        Some(EventVerdict::Unknown) => "UNKNOWN",
        None => match event.kind {
            EventKind::RunStarted { .. } => "START",
            EventKind::RunEnded { .. } => "END",
            EventKind::Stdout(_) | EventKind::Stderr(_) => "OUTPUT",
            EventKind::ResourceLimitHit { .. } => "LIMIT",
            EventKind::Lost { .. } => "LOST",
            EventKind::Policy { .. }
            | EventKind::File { .. }
            | EventKind::Exec { .. }
            | EventKind::DnsQuery { .. }
            | EventKind::NetConnect(_)
            | EventKind::SyscallRefused { .. } => "SEEN",
        },
    }
}

/// Whether a file or program was looked for and is merely not there, as every program looks for some.
pub(super) fn is_absence(event: &Event) -> bool {
    event.verdict == Some(EventVerdict::Failed)
        && event.rule.as_deref() == Some(NOT_THERE)
        && matches!(event.kind, EventKind::File { .. } | EventKind::Exec { .. })
}

/// The rule of an attempt at what is not there.
const NOT_THERE: &str = "no such file";

/// Icons are two columns wide on every terminal that has them, signs one.
pub(super) fn icon(event: &Event, glyphs: Glyphs) -> &'static str {
    let (icon, sign) = match word(event) {
        "DENIED" => ("🔒", "x"),
        "ALLOWED" => ("✅", "+"),
        "FAILED" => ("❌", "-"),
        "ABSENT" => ("➖", "o"),
        "POLICY" => ("📜", "#"),
        "START" => ("🚀", ">"),
        "END" => ("🏁", "<"),
        "OUTPUT" => ("💬", ":"),
        "LIMIT" => ("⏳", "!"),
        "UNKNOWN" | "LOST" => ("❓", "?"),
        _ => ("👀", "."),
    };
    match glyphs {
        Glyphs::Unicode => icon,
        Glyphs::Ascii => sign,
    }
}

/// A part of what an event is about.
pub(super) enum ObjectPart<'a> {
    /// Our own words.
    Ours(Cow<'static, str>),
    /// Text of unknown origin: how it begins matters.
    Text(Cow<'a, str>),
    /// The same, of which the end matters too.
    Path(Cow<'a, str>),
    /// A line of output, which has escapes already.
    Line(&'a str),
}

/// What an event is about, and where that leads.
pub(super) fn about(event: &Event) -> Vec<ObjectPart<'_>> {
    let mut parts = object(&event.kind);
    if let Some(real) = &event.resolved_path {
        parts.extend([ObjectPart::Ours(" => ".into()), ObjectPart::Path(real.into())]);
    }
    parts
}

/// What an event is about.
fn object(what: &EventKind) -> Vec<ObjectPart<'_>> {
    let text = |text: &'_ str| ObjectPart::Text(Cow::Owned(text.to_owned()));
    let ours = |words: &'static str| ObjectPart::Ours(Cow::Borrowed(words));
    match what {
        EventKind::RunStarted { command } => vec![ObjectPart::Path(command_line(command).into())],
        EventKind::Policy { subject, message, figures } => {
            let mut parts = vec![text(subject), ours(": "), text(message)];
            for (name, count) in figures {
                parts.extend([ours("; "), text(name), ObjectPart::Ours(format!(" {count}").into())]);
            }
            parts
        }
        EventKind::File { path, to, .. } => {
            let mut parts = vec![ObjectPart::Path(path.into())];
            if let Some(to) = to {
                parts.extend([ours(" -> "), ObjectPart::Path(to.into())]);
            }
            parts
        }
        EventKind::Exec { path, argv } => {
            let mut parts = vec![ObjectPart::Path(path.into())];
            if argv.len() > 1 {
                let line = command_line(argv.get(1..).unwrap_or_default());
                parts.extend([ours(" "), ObjectPart::Path(line.into())]);
            }
            parts
        }
        EventKind::DnsQuery { name, server } => {
            let mut parts = vec![
                name.as_ref().map_or(ours("a name that was not read"), |name| ObjectPart::Path(name.into())),
            ];
            if let Some(server) = server {
                parts.extend([ours(" asked of "), text(server)]);
            }
            parts
        }
        EventKind::NetConnect(connection) => connected(connection),
        EventKind::SyscallRefused { name, reason, .. } => vec![text(name), ours(": "), text(reason)],
        EventKind::Stdout(line) | EventKind::Stderr(line) => {
            let mut parts = vec![ObjectPart::Line(&line.text)];
            if line.omitted > 0 {
                parts.push(ObjectPart::Ours(format!(" (and {} more bytes)", line.omitted).into()));
            }
            parts
        }
        EventKind::ResourceLimitHit { limit, mechanism } => {
            vec![text(limit), ours(", held by "), text(mechanism)]
        }
        EventKind::Lost { at } => vec![ours("events that came too fast for the "), text(at)],
        EventKind::RunEnded { exit_code, signal, end, error } => {
            let how = match (exit_code, signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no exit code".to_owned(),
            };
            let mut parts = vec![ObjectPart::Ours(how.into()), ours(", ended by "), text(end)];
            if let Some(error) = error {
                parts.extend([ours(": "), text(error)]);
            }
            parts
        }
    }
}

fn connected(connection: &NetConnection) -> Vec<ObjectPart<'_>> {
    let mut parts = vec![ObjectPart::Path(destination(connection).into())];
    if let Some(server) =
        connection.server_name.as_ref().filter(|name| connection.name.as_ref() != Some(name))
    {
        parts.extend([ObjectPart::Ours(" asking for ".into()), ObjectPart::Path(server.into())]);
    }
    if let Some(reason) = &connection.reason {
        parts.extend([
            ObjectPart::Ours(" (".into()),
            ObjectPart::Text(reason.into()),
            ObjectPart::Ours(")".into()),
        ]);
    }
    parts
}

/// Name or address, and port.
pub(super) fn destination(connection: &NetConnection) -> String {
    let port = connection.port;
    match (&connection.name, &connection.address) {
        (Some(name), _) => format!("{name}:{port}"),
        (None, Some(address)) if address.contains(':') => format!("[{address}]:{port}"),
        (None, Some(address)) => format!("{address}:{port}"),
        (None, None) => format!("?:{port}"),
    }
}

/// Arguments in one line, quoted as for a shell, so that one with a space in it does not look like two.
pub(crate) fn command_line(argv: &[String]) -> String {
    quote_words(argv)
}

/// A class as it is written in the trace.
pub(crate) fn class_name(class: AttackClass) -> &'static str {
    match class {
        AttackClass::CredentialHarvesting => "credential_harvesting",
        AttackClass::CredentialExfiltration => "credential_exfiltration",
        AttackClass::DataExfiltration => "data_exfiltration",
        AttackClass::SupplyChainAttack => "supply_chain_attack",
        AttackClass::PrivilegeEscalation => "privilege_escalation",
        AttackClass::UnauthorizedFileAccess => "unauthorized_file_access",
        AttackClass::SandboxEscape => "sandbox_escape",
        AttackClass::DnsTunnelling => "dns_tunnelling",
        AttackClass::DomainFronting => "domain_fronting",
        AttackClass::RemoteExecution => "remote_execution",
        AttackClass::ResourceAbuse => "resource_abuse",
        AttackClass::Persistence => "persistence",
        AttackClass::Discovery => "discovery",
    }
}

pub(crate) fn severity_name(severity: AttackSeverity) -> &'static str {
    match severity {
        AttackSeverity::Low => "low",
        AttackSeverity::Medium => "medium",
        AttackSeverity::High => "high",
        AttackSeverity::Critical => "critical",
    }
}

/// The last name of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// Bytes, for a person.
pub(super) fn size(bytes: u64) -> String {
    let mut rest = bytes;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if rest < 10 * 1024 {
            break;
        }
        rest /= 1024;
        unit = next;
    }
    format!("{rest} {unit}")
}

/// A time that passed, for a person.
pub(super) fn duration(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} us"),
        1_000..1_000_000 => format!("{}.{:03} ms", us / 1_000, us % 1_000),
        _ => format!("{}.{:03} s", us / 1_000_000, us / 1_000 % 1_000),
    }
}

/// `1 event`, `2 events`.
pub(super) fn counted(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::{base_name, command_line, size};
    use crate::{AttackClass, AttackSeverity};

    #[test]
    fn an_argument_with_a_space_does_not_look_like_two() {
        let line = |argv: &[&str]| command_line(&argv.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["curl", "-d", "a b", ""]), "curl -d 'a b' ''");
        assert_eq!(line(&["sh", "-c", "echo 'x'"]), "sh -c \"echo 'x'\"");
        assert_ne!(line(&["a", "b"]), line(&["a b"]));
    }

    #[test]
    fn names_are_those_of_the_trace() {
        use AttackClass::*;
        for class in [
            CredentialHarvesting,
            CredentialExfiltration,
            DataExfiltration,
            SupplyChainAttack,
            PrivilegeEscalation,
            UnauthorizedFileAccess,
            SandboxEscape,
            DnsTunnelling,
            DomainFronting,
            ResourceAbuse,
            Persistence,
            Discovery,
        ] {
            assert_eq!(serde_json::to_value(class).unwrap(), super::class_name(class));
        }
        for severity in
            [AttackSeverity::Low, AttackSeverity::Medium, AttackSeverity::High, AttackSeverity::Critical]
        {
            assert_eq!(serde_json::to_value(severity).unwrap(), super::severity_name(severity));
        }
    }

    #[test]
    fn small_things() {
        assert_eq!(base_name("/usr/bin/python3"), "python3");
        assert_eq!(base_name("/"), "/");
        assert_eq!(size(10_240), "10 KiB");
        assert_eq!(size(10_239), "10239 B");
    }
}
