//! The live view, as a person sees it and as a hostile skill would like it to be seen.
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{self, Write};

use skillsandbox_test_support::stories;
use skillsandbox_tracer::render::{Glyphs, LiveView, RenderOptions, TextStyle};
use skillsandbox_tracer::{AttackClass, Event, EventKind, EventVerdict, Trace};
use unicode_width::UnicodeWidthChar as _;

fn lines(trace: &Trace, look: RenderOptions) -> String {
    let mut watch = LiveView::new(Vec::new(), look);
    for event in &trace.events {
        watch.event(event, &[]).unwrap();
    }
    String::from_utf8(watch.into_inner()).unwrap()
}

fn finished(trace: &Trace, look: RenderOptions) -> String {
    let mut watch = LiveView::new(Vec::new(), look);
    watch.events(trace.events.iter().map(|event| (event, &[] as &[AttackClass]))).unwrap();
    watch.finish(&trace.violation_summary, &["trace: ./trace.json", "digest: sha256:00ff"]).unwrap();
    String::from_utf8(watch.into_inner()).unwrap()
}

/// Whether a line begins as ours do: with a time, in brackets, at its very beginning.
fn begins_with_a_time(line: &str) -> bool {
    let shape: String = line.chars().take(15).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "[00:00:00.000] "
}

/// As wide as the least generous terminal would have it.
fn widest(line: &str) -> usize {
    line.chars().map(|c| c.width_cjk().unwrap_or(0).max(c.width().unwrap_or(0))).sum()
}

#[test]
fn row_143_a_line_has_time_icon_kind_object_and_class() {
    let mut event = stories::connect("webhook.test", 443, EventVerdict::Denied, "not_granted", (0, 0));
    event.time = "2026-03-14T23:33:43.677Z".parse().unwrap();
    let shown = |event: &Event, classes: &[AttackClass], look: RenderOptions| {
        let mut watch = LiveView::new(Vec::new(), look);
        watch.event(event, classes).unwrap();
        String::from_utf8(watch.into_inner()).unwrap()
    };
    assert_eq!(
        shown(&event, &[AttackClass::CredentialExfiltration], RenderOptions::default()),
        "[23:33:43.677] 🔒 DENIED  connect   webhook.test:443 (not_granted)  [CREDENTIAL_EXFILTRATION]\n"
    );
    event.count = 3;
    assert_eq!(
        shown(&event, &[], RenderOptions::default().glyphs(Glyphs::Ascii)),
        "[23:33:43.677] x DENIED  connect   webhook.test:443 (not_granted)  (3 times)\n"
    );
    let coloured = shown(&event, &[], RenderOptions::default().style(TextStyle::Colour));
    assert!(coloured.contains("\u{1b}[1;31mDENIED\u{1b}[0m"), "{coloured:?}");
    let there = RenderOptions::default().zone(jiff::tz::TimeZone::fixed(jiff::tz::offset(5)));
    assert!(shown(&event, &[], there).starts_with("[04:33:43.677]"));
}

#[test]
fn row_143_hostile_output_can_neither_forge_nor_break_the_live_view() {
    let trace = stories::hostile();
    for columns in [20, 21, 40, 80, 133, 400] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let look = RenderOptions::default().columns(columns).glyphs(glyphs);
            let shown = lines(&trace, look.clone());
            // A line an event: no more, no less, and each begins as ours do.
            assert_eq!(shown.lines().count(), trace.events.len());
            assert_eq!(shown.matches('\n').count(), trace.events.len());
            for line in shown.lines() {
                assert!(begins_with_a_time(line), "{line:?}");
                // It cannot wrap, so that nothing in it can begin a line.
                assert!(widest(line) < columns, "{columns}: {line:?}");
                let is_bad = |c: char| {
                    c.is_control()
                        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                    | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
                };
                assert!(!line.contains(is_bad), "{line:?}");
                assert!(glyphs == Glyphs::Unicode || line.is_ascii(), "{line:?}");
            }
            // Colours add ours and let none of theirs through.
            let coloured = lines(&trace, look.style(TextStyle::Colour));
            let mut without = coloured;
            for ours in [
                "\u{1b}[2m",
                "\u{1b}[1m",
                "\u{1b}[1;31m",
                "\u{1b}[32m",
                "\u{1b}[33m",
                "\u{1b}[36m",
                "\u{1b}[0m",
            ] {
                without = without.replace(ours, "");
            }
            // But for spaces at the end, which have no colour to be seen.
            let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
            assert_eq!(trimmed(&without), trimmed(&shown));
        }
    }
}

#[test]
fn row_143_a_line_that_looks_like_ours_is_shown_as_output() {
    let mut watch = LiveView::new(Vec::new(), RenderOptions::default());
    watch.event(&stories::out("[23:33:43.677] ✅ ALLOWED connect   bank.test:443"), &[]).unwrap();
    watch.event(&stories::out("…  [SANDBOX_ESCAPE]"), &[]).unwrap();
    let shown = String::from_utf8(watch.into_inner()).unwrap();
    let mut lines = shown.lines();
    let line = lines.next().unwrap();
    assert!(line.starts_with("[00:00:00.000] 💬 OUTPUT  stdout    [23:33:43.677]"), "{line}");
    assert!(lines.next().unwrap().contains("\\u{2026}  [SANDBOX_ESCAPE]"));
}

#[test]
fn a_long_object_does_not_push_out_what_it_amounts_to() {
    let path = format!("/tmp/{}/../../../etc/shadow", "a/".repeat(5_000));
    let event = stories::file(skillsandbox_tracer::FileOperation::Read, &path, EventVerdict::Denied);
    for columns in [60, 80, 200] {
        let mut watch = LiveView::new(Vec::new(), RenderOptions::default().columns(columns));
        watch.event(&event, &[AttackClass::Discovery]).unwrap();
        let shown = String::from_utf8(watch.into_inner()).unwrap();
        assert!(shown.ends_with("[DISCOVERY]\n") && shown.contains('…'), "{shown}");
        assert!(columns == 60 || shown.contains("/etc/shadow"), "{shown}");
    }
}

#[test]
fn a_policy_is_never_shown_as_denied() {
    let event =
        stories::policy("network", "no names", &[("allowed", 0)]).with_verdict(EventVerdict::Denied, None);
    let mut watch = LiveView::new(Vec::new(), RenderOptions::default());
    watch.event(&event, &[]).unwrap();
    watch.finish(&stories::weather().violation_summary, &[]).unwrap();
    let shown = String::from_utf8(watch.into_inner()).unwrap();
    assert!(shown.contains("POLICY  policy    network: no names; allowed 0"), "{shown}");
    assert!(!shown.contains("DENIED"), "{shown}");
}

/// Takes a few bytes at a time, and is interrupted now and then, as a terminal over a slow line.
struct Slow {
    taken: Vec<u8>,
    calls: usize,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(7) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let some = bytes.len().min(50);
        self.taken.extend_from_slice(&bytes[..some]);
        Ok(some)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_is_dropped() {
    let trace = stories::many(10_000);
    let whole = lines(&trace, RenderOptions::default());
    assert_eq!(whole.lines().count(), 10_000);
    let mut watch = LiveView::new(Slow { taken: Vec::new(), calls: 0 }, RenderOptions::default());
    watch.events(trace.events.iter().map(|event| (event, &[] as &[AttackClass]))).unwrap();
    assert_eq!(String::from_utf8(watch.into_inner().taken).unwrap(), whole);
}

#[test]
fn the_end_says_what_it_came_to() {
    let shown = finished(&stories::malicious_weather(), RenderOptions::default().columns(120));
    for text in [
        "what was tried",
        "webhook.test:443 tcp",
        "169.254.169.254:80 tcp",
        "SUPPLY_CHAIN_ATTACK",
        "T1195.002",
        "AML.T0010",
        "7 findings, severity critical: no attempt that proves it took effect",
        "27 events: 219 allowed, 14 denied, 1 failed",
        "complete: every attempt",
        "trace: ./trace.json",
        "digest: sha256:00ff",
    ] {
        assert!(shown.contains(text), "{text}\n{shown}");
    }
    let benign = finished(&stories::weather(), RenderOptions::default());
    assert!(benign.contains("nothing was denied, and nothing looks like an attack"), "{benign}");
    assert!(!benign.contains("DENIED") && !benign.contains("T1"), "{benign}");
}

#[test]
fn what_is_not_complete_or_not_prevented_is_never_said_to_be() {
    let mut trace = stories::malicious_weather();
    trace.violation_summary.all_prevented = false;
    trace.violation_summary.classifications[0].prevented = false;
    trace.violation_summary.complete = false;
    trace.violation_summary.incomplete_because = vec!["the observer\nwas stopped".to_owned()];
    trace.violation_summary.lost = 12;
    let shown = finished(&trace, RenderOptions::default());
    assert!(shown.contains("NOT EVERYTHING WAS PREVENTED") && shown.contains("NOT PREVENTED"), "{shown}");
    assert!(shown.contains("NOT COMPLETE (12 events lost)"), "{shown}");
    assert!(shown.contains("because: the observer\\nwas stopped"), "{shown}");
    // One that says it is, and that it lost events, is not believed.
    trace.violation_summary.complete = true;
    assert!(finished(&trace, RenderOptions::default()).contains("NOT COMPLETE"));
}

#[test]
fn the_tables_of_a_hostile_run_are_as_harmless_as_its_lines() {
    let trace = stories::hostile();
    for columns in [20, 80, 400] {
        let shown = finished(&trace, RenderOptions::default().columns(columns));
        for line in shown.lines() {
            assert!(widest(line) < columns, "{columns}: {line:?}");
            assert!(!line.contains(char::is_control), "{line:?}");
        }
        assert!(!shown.lines().skip(trace.events.len()).any(begins_with_a_time));
    }
    assert!(matches!(trace.events[0].kind, EventKind::RunStarted { .. }));
}

#[test]
fn what_is_done_again_and_what_is_told_after_the_end_have_no_line() {
    use skillsandbox_tracer::{EventVerdict, FileOperation};
    let mut maker = stories::Maker::new("busy");
    let first = maker.after(10, stories::file(FileOperation::Read, "/work/a", EventVerdict::Denied));
    let mut again = stories::file(FileOperation::Read, "/work/a", EventVerdict::Denied);
    (again.repeats, again.count, again.last_elapsed_us) = (Some(first), 7, Some(30));
    maker.after(20, again);
    maker.after(30, stories::ended(0));
    let mut trace = maker.trace();
    // Libraries that were read once, told when the run has ended.
    let mut late = stories::file(FileOperation::Read, "/usr/lib/*", EventVerdict::Allowed);
    (late.elapsed_us, late.sequence) = (15, 3);
    trace.events.push(late);
    let shown = finished(&trace, RenderOptions::default());
    let lines: Vec<&str> = shown.lines().filter(|line| begins_with_a_time(line)).collect();
    assert_eq!(lines.len(), 2, "{shown}");
    assert!(lines[1].contains(" END "), "{shown}");
    // The tables have all of it.
    let reads = shown.lines().find(|line| line.starts_with("  read ")).unwrap();
    assert_eq!(reads.split_whitespace().collect::<Vec<_>>(), ["read", "1", "8", "0", "0", "0"], "{shown}");
}

#[test]
fn a_file_that_is_merely_not_there_is_no_red_cross() {
    use skillsandbox_tracer::{EventVerdict, FileOperation};
    let mut event = stories::file(FileOperation::Read, "/work/nothing", EventVerdict::Failed);
    event.rule = Some("no such file".to_owned());
    let mut watch = LiveView::new(Vec::new(), RenderOptions::default());
    watch.event(&event, &[]).unwrap();
    // A host that does not answer still is one.
    watch
        .event(&stories::connect("a.test", 443, EventVerdict::Failed, "not_connected", (0, 0)), &[])
        .unwrap();
    let shown = String::from_utf8(watch.into_inner()).unwrap();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].contains("\u{2796} ABSENT") && !lines[0].contains('\u{274c}'), "{shown}");
    assert!(lines[1].contains("\u{274c} FAILED"), "{shown}");
}
