//! Events as lines of text, so that a table of them can be read.
//!
//! `denied read /etc/shadow by /bin/cat`, `allowed exec /usr/bin/curl -- curl https://a.test/`, `denied lookup a.test`,
//! `denied reach a.test:443 other_host`, `refused ptrace`, `passed ptrace`, `limit processes`, `stripped 3`, `20 denied …` for one
//! that stands for many.

use skillsandbox_tracer::{
    AttackClass, Classification, Classifier, Event, EventKind, EventVerdict, FileOperation, NetConnection,
    OutputLine, TracedProcess,
};

/// One line, as an event.
pub(crate) fn event(line: &str) -> Event {
    let (line, count) = match line.split_once(' ') {
        Some((count, rest)) if count.parse::<u64>().is_ok() => (rest, count.parse().unwrap()),
        _ => (line, 1),
    };
    let (line, binary) = match line.rsplit_once(" by ") {
        Some((line, binary)) => (line, Some(binary.to_owned())),
        None => (line, None),
    };
    let mut words = line.split(' ');
    let verdict = words.next().unwrap();
    let second = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let what = match (verdict, second) {
        ("refused" | "passed", name) => {
            let reason = rest.join(" ");
            EventKind::SyscallRefused {
                name: name.to_owned(),
                reason,
                errno: (verdict == "refused").then_some(1),
            }
        }
        ("limit", limit) => {
            EventKind::ResourceLimitHit { limit: limit.to_owned(), mechanism: "cgroup".to_owned() }
        }
        ("stripped", count) => EventKind::Policy {
            subject: "environment".to_owned(),
            message: "secrets were taken out".to_owned(),
            figures: [("stripped_secrets".to_owned(), count.parse().unwrap())].into(),
        },
        ("stdout", _) => EventKind::Stdout(OutputLine::new(rest.join(" "))),
        (_, "lookup") => EventKind::DnsQuery { name: Some(rest[0].to_owned()), server: None },
        (_, "reach") => EventKind::NetConnect(connection(&rest)),
        (_, "exec") => {
            let at = rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
            let argv = rest.get(at + 1..).unwrap_or_default();
            // A script with spaces is between bars, which no shell in these tables needs.
            let argv = arguments(&argv.join(" "));
            EventKind::Exec { path: rest[0].to_owned(), argv }
        }
        (_, operation) => EventKind::File {
            operation: operation_of(operation),
            path: rest[0].to_owned(),
            to: rest.get(1).map(|to| (*to).to_owned()),
        },
    };
    let mut event =
        Event::new(what).with_process(binary.map(|binary| TracedProcess::new(4711, Some(binary))));
    event.verdict = match verdict {
        "allowed" | "passed" => Some(EventVerdict::Allowed),
        "denied" | "refused" => Some(EventVerdict::Denied),
        "failed" => Some(EventVerdict::Failed),
        "unknown" => Some(EventVerdict::Unknown),
        _ => None,
    };
    event.count = count;
    event
}

fn arguments(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (index, part) in text.split('"').enumerate() {
        if index % 2 == 1 {
            out.push(part.replace('¦', "\""));
        } else {
            out.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    out
}

fn connection(words: &[&str]) -> NetConnection {
    let (host, port) = words[0].rsplit_once(':').unwrap();
    let host = host.trim_matches(['[', ']']);
    let mut connection = NetConnection::default();
    if host.parse::<std::net::IpAddr>().is_ok() {
        connection.address = Some(host.to_owned());
    } else {
        connection.name = Some(host.to_owned());
        connection.address = Some("198.51.100.7".to_owned());
    }
    connection.port = port.parse().unwrap();
    "tcp".clone_into(&mut connection.transport);
    for word in &words[1..] {
        match word.split_once('=') {
            Some(("sent", bytes)) => connection.sent = bytes.parse().unwrap(),
            Some(("server", name)) => connection.server_name = Some(name.to_owned()),
            _ => connection.reason = Some((*word).to_owned()),
        }
    }
    connection
}

fn operation_of(word: &str) -> FileOperation {
    serde_json::from_value(word.into()).unwrap_or_else(|_| panic!("{word} is no operation"))
}

/// What events amount to, with their places and times filled in.
pub(crate) fn classify(
    events: impl IntoIterator<Item = Event>,
) -> (Vec<Option<AttackClass>>, Vec<Classification>) {
    let mut classifier = Classifier::new();
    let tags = events.into_iter().enumerate().map(|(at, mut event)| {
        event.sequence = at as u64;
        event.elapsed_us = at as u64 * 1000;
        event.last_elapsed_us = (event.count > 1).then_some(event.elapsed_us + 1_000_000);
        classifier.observe(&event)
    });
    let tags = tags.collect();
    (tags, classifier.finish())
}

/// What lines amount to.
pub(crate) fn of(lines: &[&str]) -> Vec<Classification> {
    classify(lines.iter().map(|line| event(line))).1
}

/// A name as the trace spells it.
pub(crate) fn spelt(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap().to_owned()
}
