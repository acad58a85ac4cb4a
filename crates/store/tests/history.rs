//! What is recorded is found again, by every way of asking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod records;

use std::ops::ControlFlow;

use jiff::Timestamp;
use records::{all, class, denied, entry, place};
use skillsandbox_store::history::{Error, Filter, History, Status};
use uuid::Uuid;

fn second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn a_record_comes_back_as_it_went_in() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let mut run = entry("weather", 1_700_000_000, Status::Timeout);
    run.version = Some("1.2".into());
    run.parameters.insert("city".into(), "Oslo".into());
    run.parameters.insert("days".into(), 3.into());
    run.arguments = vec!["--verbose".into()];
    run.error = Some("its time was up".into());
    run.denied = 7;
    run.unknown = 2;
    run.denials = vec![denied("read /etc/shadow", 6), denied("read /root", 1)];
    run.denials_omitted = 2;
    run.classes = vec![class("credential_harvesting"), class("discovery")];
    (run.classes[1].prevented, run.classes[1].unknown) = (false, true);
    run.complete = true;
    run.trace = Some("/tmp/trace.json".into());
    run.digest = Some("ab".repeat(32));
    history.record(&run).unwrap();
    drop(history);
    let history = History::read(&path).unwrap().unwrap();
    let details = history.find(&run.id.to_string()).unwrap();
    let record = &details.record;
    assert_eq!(record.timestamp, run.started);
    assert_eq!(record.execution_id, run.id.to_string());
    assert_eq!((record.skill.as_str(), record.version.as_deref()), ("weather", Some("1.2")));
    assert_eq!(record.parameters, serde_json::json!({ "city": "Oslo", "days": 3 }));
    assert_eq!(record.arguments, serde_json::json!(["--verbose"]));
    assert_eq!((record.status, record.duration_ms, record.exit_code), (Status::Timeout, 245, Some(1)));
    assert_eq!((record.denied, details.denials_omitted), (7, 2));
    assert_eq!(record.classes, ["credential_harvesting", "discovery"]);
    assert_eq!((details.denials, details.classifications), (run.denials.clone(), run.classes.clone()));
    assert!(record.complete);
    assert_eq!(record.unknown, 2);
    assert_eq!((&record.trace, &record.digest), (&run.trace, &run.digest));
    assert_eq!(record.user.as_deref(), Some("alice"));
}

#[test]
fn every_filter_finds_what_a_slow_look_at_all_of_them_finds() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let mut entries = Vec::new();
    for number in 0..240_i64 {
        let status = Status::ALL[usize::try_from(number % 3).unwrap()];
        // Several begin at the same moment.
        let mut run = entry(&format!("skill-{}", number % 5), 1000 + number / 2, status);
        if number % 4 == 0 {
            run.classes.push(class("discovery"));
        }
        if number % 8 == 0 {
            run.classes.push(class("persistence"));
        }
        entries.push(run);
    }
    history.record_all(&entries).unwrap();
    let everything = all(&history, &Filter::default());
    assert_eq!(everything.len(), 240);
    let in_order = |records: &[skillsandbox_store::history::Record]| {
        records.windows(2).all(|pair| pair[0].timestamp >= pair[1].timestamp)
    };
    assert!(in_order(&everything));
    assert_eq!(everything[0].execution_id, entries[239].id.to_string(), "of two at a time, the later first");
    let times = [None, Some(second(1000)), Some(second(1050)), Some(second(1119)), Some(second(5000))];
    for skill in [None, Some("skill-1"), Some("skill"), Some("SKILL-1"), Some("' OR 1=1 --")] {
        for status in [None, Some(Status::Success), Some(Status::Timeout)] {
            for class in [None, Some("discovery"), Some("persistence"), Some("none")] {
                for since in times {
                    for until in times {
                        for limit in [None, Some(0), Some(3)] {
                            let mut filter = Filter::default();
                            filter.skill = skill.map(str::to_owned);
                            filter.class = class.map(str::to_owned);
                            (filter.status, filter.since, filter.until) = (status, since, until);
                            filter.limit = limit;
                            let slow = everything.iter().filter(|record| {
                                skill.is_none_or(|skill| record.skill == skill)
                                    && status.is_none_or(|status| record.status == status)
                                    && class.is_none_or(|class| record.classes.iter().any(|own| own == class))
                                    && since.is_none_or(|since| record.timestamp >= since)
                                    && until.is_none_or(|until| record.timestamp < until)
                            });
                            let most = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
                            let slow: Vec<_> = slow.take(most).cloned().collect();
                            assert_eq!(all(&history, &filter), slow, "{filter:?}");
                        }
                    }
                }
            }
        }
    }
    let mut seen = 0;
    history
        .each(&Filter::default(), |_| {
            seen += 1;
            if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn an_id_may_be_shortened_as_far_as_it_means_one() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for id in ["3f2a9c1b-0000-4000-8000-000000000001", "3f2a9c1b-ffff-4000-8000-000000000002"] {
        let mut run = entry("a", 1, Status::Success);
        run.id = id.parse().unwrap();
        history.record(&run).unwrap();
    }
    let found = |id: &str| history.find(id).map(|details| details.record.execution_id);
    assert!(found("3f2a9c1b-0").unwrap().ends_with('1'));
    assert!(found("3F2A9C1B-F").unwrap().ends_with('2'));
    let error = found("3f2a").unwrap_err();
    assert!(matches!(&error, Error::Ambiguous { count: 2, .. }), "{error}");
    assert!(error.to_string().contains("3f2a9c1b-ffff-4000-8000-000000000002"), "{error}");
    assert!(matches!(found("3f2b"), Err(Error::Unknown(_))));
    for none in ["", "%", "_", "3f2a*", "' OR 1=1 --", "g", "3f2a9c1b-0000-4000-8000-0000000000011", "３f2a"]
    {
        assert!(matches!(found(none), Err(Error::NoId(_))), "{none}");
    }
}

#[test]
fn the_same_run_is_not_recorded_twice() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let run = entry("a", 1, Status::Success);
    history.record(&run).unwrap();
    history.record(&run).unwrap_err();
    assert_eq!(all(&history, &Filter::default()).len(), 1);
    // All or none.
    history.record_all(&[entry("b", 2, Status::Success), run]).unwrap_err();
    assert_eq!(all(&history, &Filter::default()).len(), 1);
}

#[test]
fn statistics_count_runs_denials_and_classes() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for number in 0..6 {
        let mut run =
            entry("thief", 100 + number, if number < 4 { Status::Failure } else { Status::Timeout });
        run.denials = vec![denied("read /etc/shadow", 3), denied(&format!("read /x/{number}"), 1)];
        run.classes = vec![class("credential_harvesting")];
        history.record(&run).unwrap();
    }
    history.record(&entry("honest", 200, Status::Success)).unwrap();
    let stats = history.stats(&Filter::default()).unwrap();
    assert_eq!((stats.total.runs, stats.total.successes), (7, 1));
    assert_eq!((stats.total.failures, stats.total.timeouts), (4, 2));
    assert_eq!(stats.skills[0].skill, "thief");
    assert_eq!(stats.skills[0].counts.timeouts, 2);
    let top = &stats.skills[0].top_denials;
    assert_eq!((top[0].what.as_str(), top[0].count, top[0].runs), ("read /etc/shadow", 18, 6));
    assert_eq!(top.len(), 5);
    assert!(stats.skills[1].top_denials.is_empty());
    assert_eq!((stats.classes[0].class.as_str(), stats.classes[0].runs), ("credential_harvesting", 6));
    let mut filter = Filter::default();
    filter.skill = Some("thief".into());
    filter.since = Some(second(104));
    filter.class = Some("credential_harvesting".into());
    let stats = history.stats(&filter).unwrap();
    assert_eq!((stats.total.runs, stats.skills.len()), (2, 1));
    assert_eq!(stats.skills[0].top_denials[0].count, 6);
    filter.skill = Some("nobody".into());
    assert_eq!(history.stats(&filter).unwrap().total.runs, 0);
}

#[test]
fn figures_from_nowhere_do_not_break_the_sums() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for _ in 0..3 {
        let mut run = entry("a", 1, Status::Failure);
        (run.denied, run.denials_omitted) = (u64::MAX, u64::MAX);
        run.duration = std::time::Duration::MAX;
        run.exit_code = Some(i32::MIN);
        run.started = Timestamp::MAX;
        run.denials = vec![denied("x", u64::MAX), denied("x", u64::MAX)];
        history.record(&run).unwrap();
    }
    let records = all(&history, &Filter::default());
    assert_eq!((records.len(), records[0].exit_code), (3, Some(i64::from(i32::MIN))));
    assert!(history.stats(&Filter::default()).unwrap().skills[0].top_denials[0].count > 1 << 33);
}

#[test]
fn the_oldest_go_first_where_there_are_too_many() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap().keep(10);
    for number in 0..25 {
        let mut run = entry("a", 1000 - number, Status::Success);
        run.denials = vec![denied("x", 1)];
        run.classes = vec![class("discovery")];
        history.record(&run).unwrap();
    }
    let mut filter = Filter::default();
    // As they were recorded, whatever their clocks said.
    let seconds: Vec<i64> =
        all(&history, &filter).iter().map(|record| record.timestamp.as_second()).collect();
    assert_eq!(seconds, (976..=985).rev().collect::<Vec<_>>());
    filter.class = Some("discovery".into());
    assert_eq!(all(&history, &filter).len(), 10, "what belongs to a run goes with it");
    assert_eq!(history.stats(&Filter::default()).unwrap().skills[0].top_denials[0].count, 10);
    // More go with the next record, not before.
    drop(history);
    let mut history = History::open(&path).unwrap().keep(3);
    history.record(&entry("a", 1, Status::Success)).unwrap();
    assert_eq!(all(&history, &Filter::default()).len(), 3);
}

#[test]
fn a_million_is_removed_a_little_at_a_time() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let entries: Vec<_> = (0..12_000).map(|number| entry("a", number, Status::Success)).collect();
    history.record_all(&entries).unwrap();
    let mut history = history.keep(5);
    history.record(&entry("a", 1, Status::Success)).unwrap();
    let left = all(&history, &Filter::default()).len();
    assert!((5..3000).contains(&left), "{left}");
    history.record(&entry("a", 1, Status::Success)).unwrap();
    assert_eq!(all(&history, &Filter::default()).len(), 5);
}

#[test]
fn no_skill_can_fill_the_disk() {
    let (_folder, path) = place();
    let most = 1 << 20;
    let mut history = History::open(&path).unwrap().max_bytes(most);
    for number in 0..60 {
        let mut run = entry("hostile", number, Status::Failure);
        run.denials = (0..200).map(|place| denied(&format!("{place}{}", "x".repeat(2000)), 1)).collect();
        run.error = Some("y".repeat(1 << 14));
        run.parameters.insert("z".repeat(1 << 16), "z".repeat(1 << 16).into());
        run.skill = "s".repeat(1 << 16);
        history.record(&run).unwrap();
    }
    let records = all(&history, &Filter::default());
    assert!((2..60).contains(&records.len()), "{}", records.len());
    assert_eq!(records[0].timestamp.as_second(), 59);
    drop(history);
    assert!(path.metadata().unwrap().len() < most + (2 << 20), "{}", path.metadata().unwrap().len());
}

#[test]
fn every_text_has_an_end() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    let long = "é".repeat(1 << 12);
    let mut run = entry(&long, 1, Status::Failure);
    (run.version, run.user, run.error) = (Some(long.clone()), Some(long.clone()), Some(long.clone()));
    (run.tool, run.ending, run.digest) = (long.clone(), long.clone(), Some(long.clone()));
    run.arguments = vec![long.clone(); 500];
    for number in 0..500 {
        run.parameters.insert(format!("{number}{long}"), long.clone().into());
    }
    let mut deep = serde_json::Value::from(long.clone());
    for _ in 0..100 {
        deep = serde_json::json!({ "deep": [deep] });
    }
    run.parameters.insert("deep".into(), deep);
    run.denials = vec![denied(&long, 1); 400];
    run.classes = (0..100).map(|number| class(&format!("{number}{long}"))).collect();
    history.record(&run).unwrap();
    let details = history.find(&run.id.to_string()).unwrap();
    let bytes = serde_json::to_string(&details).unwrap().len();
    assert!(bytes < 300_000, "{bytes}");
    assert_eq!(details.denials.len(), 50);
    assert_eq!(details.denials_omitted, 350);
    assert!(details.record.skill.ends_with("[CUT]"));
    assert!(
        details.record.parameters["[CUT]"].as_str().unwrap().ends_with(" more"),
        "{}",
        details.record.parameters
    );
    assert_eq!(Uuid::parse_str(&details.record.execution_id).unwrap(), run.id);
}

#[test]
fn texts_of_any_kind_come_back() {
    let (_folder, path) = place();
    let mut history = History::open(&path).unwrap();
    for text in ["", "a\0b", "'; DROP TABLE runs; --", "\u{1b}[2J", "\u{202e}", "\n", "𝔘"] {
        let mut run = entry(text, 1, Status::Success);
        run.error = Some(text.to_owned());
        run.denials = vec![denied(text, 1)];
        run.parameters.insert("p".into(), text.into());
        history.record(&run).unwrap();
        let details = history.find(&run.id.to_string()).unwrap();
        assert_eq!((details.record.skill.as_str(), details.record.error.as_deref()), (text, Some(text)));
        assert_eq!(details.denials[0].what, text);
        let mut filter = Filter::default();
        filter.skill = Some(text.to_owned());
        assert_eq!(all(&history, &filter).len(), 1, "{text:?}");
    }
}
