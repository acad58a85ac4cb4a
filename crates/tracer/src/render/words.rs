//! An event in words: what it is called, what it is about, how it went.

use std::borrow::Cow;

use skillsandbox_text::{Glyphs, quote_words};

use crate::{Class, Connection, Event, FileOperation, Severity, Verdict, What};

/// What an event is called, in nine letters at most.
pub(super) fn kind(what: &What) -> &'static str {
    match what {
        What::RunStarted { .. } => "start",
        What::Policy { .. } => "policy",
        What::File { operation, .. } => operation_name(*operation),
        What::Exec { .. } => "exec",
        What::DnsQuery { .. } => "dns",
        What::NetConnect(connection) if connection.transport == "udp" => "send",
        What::NetConnect(_) => "connect",
        What::SyscallRefused { .. } => "syscall",
        What::Stdout(_) => "stdout",
        What::Stderr(_) => "stderr",
        What::ResourceLimitHit { .. } => "limit",
        What::Lost { .. } => "lost",
        What::RunEnded { .. } => "end",
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
    if matches!(event.what, What::Policy { .. }) {
        return "POLICY";
    }
    match event.verdict {
        Some(Verdict::Allowed) => "ALLOWED",
        Some(Verdict::Denied) => "DENIED",
        Some(Verdict::Failed) => "FAILED",
        None => match event.what {
            What::RunStarted { .. } => "START",
            What::RunEnded { .. } => "END",
            What::Stdout(_) | What::Stderr(_) => "OUTPUT",
            What::ResourceLimitHit { .. } => "LIMIT",
            What::Lost { .. } => "LOST",
            _ => "SEEN",
        },
    }
}

/// Icons are two columns wide on every terminal that has them, signs one.
pub(super) fn icon(event: &Event, glyphs: Glyphs) -> &'static str {
    let (icon, sign) = match word(event) {
        "DENIED" => ("🔒", "x"),
        "ALLOWED" => ("✅", "+"),
        "FAILED" => ("❌", "-"),
        "POLICY" => ("📜", "#"),
        "START" => ("🚀", ">"),
        "END" => ("🏁", "<"),
        "OUTPUT" => ("💬", ":"),
        "LIMIT" => ("⏳", "!"),
        "LOST" => ("❓", "?"),
        _ => ("👀", "."),
    };
    match glyphs {
        Glyphs::Unicode => icon,
        Glyphs::Ascii => sign,
    }
}

/// A part of what an event is about.
pub(super) enum Part<'a> {
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
pub(super) fn about(event: &Event) -> Vec<Part<'_>> {
    let mut parts = object(&event.what);
    if let Some(real) = &event.leads_to {
        parts.extend([Part::Ours(" => ".into()), Part::Path(real.into())]);
    }
    parts
}

/// What an event is about.
fn object(what: &What) -> Vec<Part<'_>> {
    let text = |text: &'_ str| Part::Text(Cow::Owned(text.to_owned()));
    let ours = |words: &'static str| Part::Ours(Cow::Borrowed(words));
    match what {
        What::RunStarted { command } => vec![Part::Path(command_line(command).into())],
        What::Policy { subject, message, figures } => {
            let mut parts = vec![text(subject), ours(": "), text(message)];
            for (name, count) in figures {
                parts.extend([ours("; "), text(name), Part::Ours(format!(" {count}").into())]);
            }
            parts
        }
        What::File { path, to, .. } => {
            let mut parts = vec![Part::Path(path.into())];
            if let Some(to) = to {
                parts.extend([ours(" -> "), Part::Path(to.into())]);
            }
            parts
        }
        What::Exec { path, argv } => {
            let mut parts = vec![Part::Path(path.into())];
            if argv.len() > 1 {
                let line = command_line(argv.get(1..).unwrap_or_default());
                parts.extend([ours(" "), Part::Path(line.into())]);
            }
            parts
        }
        What::DnsQuery { name, server } => {
            let mut parts =
                vec![name.as_ref().map_or(ours("a name that nobody read"), |name| Part::Path(name.into()))];
            if let Some(server) = server {
                parts.extend([ours(" asked of "), text(server)]);
            }
            parts
        }
        What::NetConnect(connection) => connected(connection),
        What::SyscallRefused { name, reason, .. } => vec![text(name), ours(": "), text(reason)],
        What::Stdout(line) | What::Stderr(line) => {
            let mut parts = vec![Part::Line(&line.text)];
            if line.omitted > 0 {
                parts.push(Part::Ours(format!(" (and {} more bytes)", line.omitted).into()));
            }
            parts
        }
        What::ResourceLimitHit { limit, mechanism } => vec![text(limit), ours(", held by "), text(mechanism)],
        What::Lost { at } => vec![ours("events that came too fast for the "), text(at)],
        What::RunEnded { exit_code, signal, end, error } => {
            let how = match (exit_code, signal) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "no exit code".to_owned(),
            };
            let mut parts = vec![Part::Ours(how.into()), ours(", ended by "), text(end)];
            if let Some(error) = error {
                parts.extend([ours(": "), text(error)]);
            }
            parts
        }
    }
}

fn connected(connection: &Connection) -> Vec<Part<'_>> {
    let mut parts = vec![Part::Path(destination(connection).into())];
    if let Some(server) =
        connection.server_name.as_ref().filter(|name| connection.name.as_ref() != Some(name))
    {
        parts.extend([Part::Ours(" asking for ".into()), Part::Path(server.into())]);
    }
    if let Some(reason) = &connection.reason {
        parts.extend([Part::Ours(" (".into()), Part::Text(reason.into()), Part::Ours(")".into())]);
    }
    parts
}

/// Name or address, and port.
pub(super) fn destination(connection: &Connection) -> String {
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
pub(crate) fn class_name(class: Class) -> &'static str {
    match class {
        Class::CredentialHarvesting => "credential_harvesting",
        Class::CredentialExfiltration => "credential_exfiltration",
        Class::DataExfiltration => "data_exfiltration",
        Class::SupplyChainAttack => "supply_chain_attack",
        Class::PrivilegeEscalation => "privilege_escalation",
        Class::UnauthorizedFileAccess => "unauthorized_file_access",
        Class::SandboxEscape => "sandbox_escape",
        Class::DnsTunnelling => "dns_tunnelling",
        Class::DomainFronting => "domain_fronting",
        Class::RemoteExecution => "remote_execution",
        Class::ResourceAbuse => "resource_abuse",
        Class::Persistence => "persistence",
        Class::Discovery => "discovery",
    }
}

pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
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
    use crate::{Class, Severity};

    #[test]
    fn an_argument_with_a_space_does_not_look_like_two() {
        let line = |argv: &[&str]| command_line(&argv.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(line(&["curl", "-d", "a b", ""]), "curl -d 'a b' ''");
        assert_eq!(line(&["sh", "-c", "echo 'x'"]), "sh -c \"echo 'x'\"");
        assert_ne!(line(&["a", "b"]), line(&["a b"]));
    }

    #[test]
    fn names_are_those_of_the_trace() {
        use Class::*;
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
        for severity in [Severity::Low, Severity::Medium, Severity::High, Severity::Critical] {
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
