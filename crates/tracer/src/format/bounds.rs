//! The texts of an event: every one of them may come from a stranger, so each is redacted, and none is long.

use skillsandbox_text::truncate_bytes;

use crate::format::event::{Event, EventKind, NetConnection, OutputLine, TracedProcess};
use crate::format::trace::TraceSummary;

/// The longest text of an event, in bytes. A path has at most 4,096; nobody reads more of the rest.
pub const MAX_TEXT: usize = 16 * 1024;
/// The most arguments of a program that are kept. `xargs` gives thousands, all of a kind.
pub const MAX_ARGUMENTS: usize = 256;
/// The most bytes that the arguments of a program have together.
const MAX_ARGUMENT_BYTES: usize = 64 * 1024;

/// The longest name of a figure. They are our own, and short.
const MAX_NAME: usize = 64;
/// The most reasons, classes, and techniques of a class.
const MAX_REASONS: usize = 64;
/// The longest text of the end.
const MAX_REASON: usize = 1024;
/// The most places that are evidence of a class.
const MAX_EVIDENCE: usize = 100;
/// The most figures of a policy.
const MAX_FIGURES: usize = 256;

/// Gives every text of an event to a function.
pub(crate) fn each_text(event: &mut Event, mut with: impl FnMut(&mut String)) {
    match &mut event.kind {
        EventKind::RunStarted { command } => command.iter_mut().for_each(&mut with),
        EventKind::Policy { subject, message, figures } => {
            with(subject);
            with(message);
            if figures.keys().any(|name| changed(name, &mut with)) {
                let renamed = std::mem::take(figures).into_iter().map(|(mut name, figure)| {
                    with(&mut name);
                    (name, figure)
                });
                *figures = renamed.collect();
            }
        }
        EventKind::File { path, to, .. } => {
            with(path);
            to.iter_mut().for_each(&mut with);
        }
        EventKind::Exec { path, argv } => {
            with(path);
            argv.iter_mut().for_each(&mut with);
        }
        EventKind::DnsQuery { name, server } => name.iter_mut().chain(server).for_each(&mut with),
        EventKind::NetConnect(connection) => {
            let NetConnection { name, address, transport, server_name, dialled, reason, detail, .. } =
                connection;
            with(transport);
            [name, address, server_name, dialled, reason, detail].into_iter().flatten().for_each(&mut with);
        }
        EventKind::SyscallRefused { name, reason, .. } => [name, reason].into_iter().for_each(&mut with),
        EventKind::Stdout(OutputLine { text, .. }) | EventKind::Stderr(OutputLine { text, .. }) => with(text),
        EventKind::ResourceLimitHit { limit, mechanism } => {
            [limit, mechanism].into_iter().for_each(&mut with);
        }
        EventKind::Lost { at } => with(at),
        EventKind::RunEnded { end, error, .. } => {
            with(end);
            error.iter_mut().for_each(&mut with);
        }
    }
    event.resolved_path.iter_mut().chain(&mut event.rule).for_each(&mut with);
    if let Some(TracedProcess { binary: Some(binary), .. }) = &mut event.process {
        with(binary);
    }
}

fn changed(name: &str, with: &mut impl FnMut(&mut String)) -> bool {
    let mut text = name.to_owned();
    with(&mut text);
    text != name
}

/// Cuts what is too long, saying so, and puts right what cannot be: no event was done no times, or ended before it began.
pub(crate) fn shorten(event: &mut Event) {
    event.count = event.count.max(1);
    event.last_elapsed_us = event.last_elapsed_us.map(|last| last.max(event.elapsed_us));
    match &mut event.kind {
        EventKind::RunStarted { command: arguments } | EventKind::Exec { argv: arguments, .. } => {
            shorten_list(arguments);
        }
        EventKind::Stdout(line) | EventKind::Stderr(line) => shorten_line(line),
        EventKind::Policy { figures, .. } => {
            figures.retain(|name, _| name.len() <= MAX_NAME);
            while figures.len() > MAX_FIGURES {
                figures.pop_last();
            }
        }
        // Texts only, which are shortened below.
        EventKind::File { .. }
        | EventKind::DnsQuery { .. }
        | EventKind::NetConnect(_)
        | EventKind::SyscallRefused { .. }
        | EventKind::ResourceLimitHit { .. }
        | EventKind::Lost { .. }
        | EventKind::RunEnded { .. } => {}
    }
    each_text(event, |text| truncate_bytes(text, MAX_TEXT));
}

/// The same for what stands behind the events.
pub(crate) fn shorten_summary(summary: &mut TraceSummary) {
    summary.incomplete_because.truncate(MAX_REASONS);
    summary.incomplete_because.iter_mut().for_each(|text| truncate_bytes(text, MAX_REASON));
    summary.classifications.truncate(MAX_REASONS);
    for found in &mut summary.classifications {
        found.evidence.truncate(MAX_EVIDENCE);
        found.techniques.truncate(MAX_REASONS);
        truncate_bytes(&mut found.message, MAX_REASON);
        truncate_bytes(&mut found.mitre_tactic, MAX_NAME);
        for technique in &mut found.techniques {
            truncate_bytes(&mut technique.id, MAX_NAME);
            truncate_bytes(&mut technique.name, MAX_REASON);
        }
    }
}

fn shorten_list(arguments: &mut Vec<String>) {
    let all = arguments.len();
    let mut bytes = 0;
    let mut keep = 0;
    for argument in arguments.iter_mut().take(MAX_ARGUMENTS) {
        let left = MAX_ARGUMENT_BYTES - bytes;
        if left < 64 {
            break;
        }
        truncate_bytes(argument, left.min(MAX_TEXT));
        bytes += argument.len().min(left);
        keep += 1;
    }
    arguments.truncate(keep);
    if keep < all {
        arguments.push(format!("[... {} more]", all - keep));
    }
}

/// A line has a field of its own for what was left out.
fn shorten_line(line: &mut OutputLine) {
    if line.text.len() > MAX_TEXT {
        let end = line.text.floor_char_boundary(MAX_TEXT);
        line.omitted = line.omitted.saturating_add((line.text.len() - end) as u64);
        line.text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(argv: Vec<String>) -> Event {
        Event::new(EventKind::Exec { path: "/bin/é".repeat(9000), argv })
    }

    #[test]
    fn nothing_is_longer_than_its_bound() {
        for argv in [
            vec!["é".repeat(MAX_TEXT); 9],
            vec!["a".to_owned(); 5000],
            vec![String::new(); 257],
            vec!["\u{0}".repeat(70_000)],
        ] {
            let mut event = exec(argv.clone());
            shorten(&mut event);
            assert!(serde_json::to_vec(&event).unwrap().len() < 600_000);
            let EventKind::Exec { path, argv: kept } = event.kind else { panic!() };
            assert!(path.len() <= MAX_TEXT && path.contains("bytes more]"));
            assert!(kept.len() <= MAX_ARGUMENTS + 1);
            assert!(kept.iter().map(String::len).sum::<usize>() <= MAX_ARGUMENT_BYTES + 32);
            assert!(
                kept.len() == argv.len() || kept.last().unwrap().ends_with(" more]"),
                "{:?}",
                kept.last()
            );
        }
    }

    #[test]
    fn a_line_counts_what_was_left_out() {
        let mut event =
            Event::new(EventKind::Stdout(OutputLine { text: "a".repeat(MAX_TEXT + 7), omitted: 3 }));
        shorten(&mut event);
        assert_eq!(event.kind, EventKind::Stdout(OutputLine { text: "a".repeat(MAX_TEXT), omitted: 10 }));
    }

    #[test]
    fn short_events_stay_as_they_are() {
        let mut event = Event::new(EventKind::Exec {
            path: "/bin/sh".into(),
            argv: vec!["sh".into(), "-c".into(), "true".into()],
        });
        let before = event.clone();
        shorten(&mut event);
        assert_eq!(event, before);
    }

    #[test]
    fn every_text_is_seen() {
        let s = || "SECRET".to_owned();
        let o = || Some("SECRET".to_owned());
        let all = [
            EventKind::RunStarted { command: vec![s(), s()] },
            EventKind::Policy { subject: s(), message: s(), figures: [(s(), 1)].into() },
            EventKind::File { operation: crate::FileOperation::Link, path: s(), to: o() },
            EventKind::Exec { path: s(), argv: vec![s()] },
            EventKind::DnsQuery { name: o(), server: o() },
            EventKind::NetConnect(NetConnection {
                name: o(),
                address: o(),
                transport: s(),
                server_name: o(),
                dialled: o(),
                detail: o(),
                reason: o(),
                ..NetConnection::default()
            }),
            EventKind::SyscallRefused { name: s(), reason: s(), errno: None },
            EventKind::Stdout(OutputLine::new("SECRET")),
            EventKind::Stderr(OutputLine::new("SECRET")),
            EventKind::ResourceLimitHit { limit: s(), mechanism: s() },
            EventKind::Lost { at: s() },
            EventKind::RunEnded { exit_code: None, signal: None, end: s(), error: o() },
        ];
        for what in all {
            let mut event = Event::new(what)
                .with_verdict(crate::EventVerdict::Denied, s())
                .with_process(TracedProcess::new(1, o()));
            event.resolved_path = o();
            each_text(&mut event, |text| *text = text.replace("SECRET", "-"));
            let written = serde_json::to_string(&event).unwrap();
            assert!(!written.contains("SECRET"), "{written}");
        }
    }
}
