//! Memory and evidence are bounded, and the order of what is reported does not matter more than it must.

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
    let mut classifier = skillsandbox_tracer::Classifier::new();
    let used = allocation_counter::measure(|| {
        for event in &events {
            assert_eq!(classifier.observe(event), None);
        }
    });
    assert_eq!(used.count_total, 0, "{used:?}");
}
