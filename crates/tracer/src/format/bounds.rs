//! The texts of an event: every one of them may come from a stranger, so each is redacted, and none is long.

use crate::format::event::{Connection, Event, Line, Process, What};
use crate::format::trace::Summary;

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
    match &mut event.what {
        What::RunStarted { command } => command.iter_mut().for_each(&mut with),
        What::Policy { subject, message, figures } => {
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
        What::File { path, to, .. } => {
            with(path);
            to.iter_mut().for_each(&mut with);
        }
        What::Exec { path, argv } => {
            with(path);
            argv.iter_mut().for_each(&mut with);
        }
        What::DnsQuery { name, server } => name.iter_mut().chain(server).for_each(&mut with),
        What::NetConnect(connection) => {
            let Connection { name, address, transport, server_name, dialled, reason, .. } = connection;
            with(transport);
            [name, address, server_name, dialled, reason].into_iter().flatten().for_each(&mut with);
        }
        What::SyscallRefused { name, reason, .. } => [name, reason].into_iter().for_each(&mut with),
        What::Stdout(Line { text, .. }) | What::Stderr(Line { text, .. }) => with(text),
        What::ResourceLimitHit { limit, mechanism } => [limit, mechanism].into_iter().for_each(&mut with),
        What::Lost { at } => with(at),
        What::RunEnded { end, error, .. } => {
            with(end);
            error.iter_mut().for_each(&mut with);
        }
    }
    event.leads_to.iter_mut().chain(&mut event.rule).for_each(&mut with);
    if let Some(Process { binary: Some(binary), .. }) = &mut event.process {
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
    match &mut event.what {
        What::RunStarted { command: arguments } | What::Exec { argv: arguments, .. } => {
            shorten_list(arguments);
        }
        What::Stdout(line) | What::Stderr(line) => shorten_line(line),
        What::Policy { figures, .. } => {
            figures.retain(|name, _| name.len() <= MAX_NAME);
            while figures.len() > MAX_FIGURES {
                figures.pop_last();
            }
        }
        _ => {}
    }
    each_text(event, |text| shorten_text(text, MAX_TEXT));
}

/// The same for what stands behind the events.
pub(crate) fn shorten_summary(summary: &mut Summary) {
    summary.incomplete_because.truncate(MAX_REASONS);
    summary.incomplete_because.iter_mut().for_each(|text| shorten_text(text, MAX_REASON));
    summary.classifications.truncate(MAX_REASONS);
    for found in &mut summary.classifications {
        found.evidence.truncate(MAX_EVIDENCE);
        found.techniques.truncate(MAX_REASONS);
        shorten_text(&mut found.message, MAX_REASON);
        shorten_text(&mut found.mitre_tactic, MAX_NAME);
        for technique in &mut found.techniques {
            shorten_text(&mut technique.id, MAX_NAME);
            shorten_text(&mut technique.name, MAX_REASON);
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
        shorten_text(argument, left.min(MAX_TEXT));
        bytes += argument.len().min(left);
        keep += 1;
    }
    arguments.truncate(keep);
    if keep < all {
        arguments.push(format!("[... {} more]", all - keep));
    }
}

/// A line has a field of its own for what was left out.
fn shorten_line(line: &mut Line) {
    if line.text.len() > MAX_TEXT {
        let end = line.text.floor_char_boundary(MAX_TEXT);
        line.omitted = line.omitted.saturating_add((line.text.len() - end) as u64);
        line.text.truncate(end);
    }
}

fn shorten_text(text: &mut String, most: usize) {
    if text.len() > most {
        // Room for the note.
        let end = text.floor_char_boundary(most.saturating_sub(40));
        let note = format!("[... {} bytes more]", text.len() - end);
        text.truncate(end);
        text.push_str(&note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(argv: Vec<String>) -> Event {
        Event::new(What::Exec { path: "/bin/é".repeat(9000), argv })
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
            let What::Exec { path, argv: kept } = event.what else { panic!() };
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
        let mut event = Event::new(What::Stdout(Line { text: "a".repeat(MAX_TEXT + 7), omitted: 3 }));
        shorten(&mut event);
        assert_eq!(event.what, What::Stdout(Line { text: "a".repeat(MAX_TEXT), omitted: 10 }));
    }

    #[test]
    fn short_events_stay_as_they_are() {
        let mut event = Event::new(What::Exec {
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
            What::RunStarted { command: vec![s(), s()] },
            What::Policy { subject: s(), message: s(), figures: [(s(), 1)].into() },
            What::File { operation: crate::FileOperation::Link, path: s(), to: o() },
            What::Exec { path: s(), argv: vec![s()] },
            What::DnsQuery { name: o(), server: o() },
            What::NetConnect(Connection {
                name: o(),
                address: o(),
                transport: s(),
                server_name: o(),
                dialled: o(),
                reason: o(),
                ..Connection::default()
            }),
            What::SyscallRefused { name: s(), reason: s(), errno: None },
            What::Stdout(Line::new("SECRET")),
            What::Stderr(Line::new("SECRET")),
            What::ResourceLimitHit { limit: s(), mechanism: s() },
            What::Lost { at: s() },
            What::RunEnded { exit_code: None, signal: None, end: s(), error: o() },
        ];
        for what in all {
            let mut event = Event::new(what).judged(crate::Verdict::Denied, s()).by(Process::new(1, o()));
            event.leads_to = o();
            each_text(&mut event, |text| *text = text.replace("SECRET", "-"));
            let written = serde_json::to_string(&event).unwrap();
            assert!(!written.contains("SECRET"), "{written}");
        }
    }
}
