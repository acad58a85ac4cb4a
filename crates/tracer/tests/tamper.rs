//! Everything that can be done to a trace without writing it anew is found, and named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_test_support::small_trace;
use std::fs;

use proptest::prelude::*;
use skillsandbox_test_support::small_trace::{events, small, trace_of, verify_bytes, wrong};
use skillsandbox_tracer::{TamperKind, TraceError, read_trace, verify_trace};

/// The lines of a small trace, and the line of event 0, from 0.
fn lines() -> (Vec<String>, usize) {
    let (_folder, path, _) = small();
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.starts_with("    {\"sequence\":0,")).unwrap();
    (lines, first)
}

fn with(mut lines: Vec<String>, change: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
    change(&mut lines);
    lines.concat().into_bytes()
}

#[test]
fn what_was_written_verifies_and_reads_back() {
    let (_folder, path, digest) = small();
    let verified = verify_trace(&path).unwrap();
    assert_eq!(verified.digest, digest);
    let trace = read_trace(&path).unwrap();
    assert_eq!(trace.header, verified.header);
    assert_eq!(trace.events.len(), events().len());
    for (event, written) in trace.events.iter().zip(events()) {
        assert_eq!(event.kind, written.kind);
        assert_eq!(
            (event.verdict, &event.rule, &event.process),
            (written.verdict, &written.rule, &written.process)
        );
    }
    assert_eq!(trace.policy_violations, [2, 5, 6, 7, 9]);
    let summary = trace.violation_summary;
    assert_eq!((summary.events, summary.allowed, summary.denied, summary.failed), (15, 2, 5, 1));
    assert_eq!((summary.lost, summary.complete), (1, false));
}

#[test]
fn the_file_is_one_json_document_with_an_event_a_line() {
    let (_folder, path, digest) = small();
    let text = fs::read_to_string(path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["digest"], digest.to_string());
    assert_eq!(value["events"].as_array().unwrap().len(), text.matches("\n    {\"sequence\":").count());
    assert!(text.starts_with("{\n  \"format\": \"skillsandbox.trace/1\",\n  \"trace_id\": "), "{text}");
    // Nothing in it moves a cursor or turns text round.
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    assert!(value["events"][10]["text"].as_str().unwrap().contains("\u{1b}[2J \u{202e}é\\xff"));
}

#[test]
fn every_byte_of_a_trace_is_held_by_its_hashes() {
    let (_folder, path, _) = small();
    let bytes = fs::read(path).unwrap();
    verify_bytes(&bytes).unwrap();
    // Every byte, by its neighbour in the alphabet and by its case.
    for at in 0..bytes.len() {
        for new in [bytes[at] ^ 1, bytes[at] ^ 0x20] {
            let mut edited = bytes.clone();
            edited[at] = new;
            assert!(verify_bytes(&edited).is_err(), "byte {at} is {new:#x}, and nobody minds");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_thousand_random_edits_of_a_thousand_are_found(at in any::<prop::sample::Index>(), change in 1_u8..) {
        let (_folder, path, _) = &*SMALL;
        let mut bytes = fs::read(path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        prop_assert!(verify_bytes(&bytes).is_err());
    }

    #[test]
    fn bytes_put_in_or_taken_out_are_found(at in any::<prop::sample::Index>(), put in prop::option::of(any::<u8>())) {
        let (_folder, path, _) = &*SMALL;
        let mut bytes = fs::read(path).unwrap();
        let at = at.index(bytes.len());
        match put {
            Some(byte) => bytes.insert(at, byte),
            None => drop(bytes.remove(at)),
        }
        prop_assert!(verify_bytes(&bytes).is_err());
    }
}

static SMALL: std::sync::LazyLock<(tempfile::TempDir, std::path::PathBuf, skillsandbox_tracer::TraceDigest)> =
    std::sync::LazyLock::new(small);

#[test]
fn a_trace_cut_at_any_byte_is_truncated_and_readable_up_to_there() {
    let (_folder, path, _) = small();
    let bytes = fs::read(path).unwrap();
    let (lines, first) = lines();
    let header_end: usize = lines[..first].iter().map(String::len).sum();
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        match verify_bytes(cut) {
            Err(TraceError::Tampered(tampered)) => {
                assert_eq!(tampered.how, TamperKind::Truncated, "{length}: {tampered}");
            }
            Err(TraceError::NotATrace(_)) => assert!(length < 20, "{length}"),
            other => panic!("{length}: {other:?}"),
        }
        if length < header_end {
            continue;
        }
        let reader = skillsandbox_tracer::TraceReader::new(cut).unwrap();
        let whole = reader.map_while(Result::ok).count();
        // As many as there are whole lines, give or take the line break and the comma.
        let expected = String::from_utf8_lossy(cut).matches(",\"hash\":\"").count();
        assert!(whole == expected || whole + 1 == expected, "{length}: {whole} of {expected}");
    }
}

#[test]
fn each_way_has_its_name_and_place() {
    let (lines, first) = lines();
    let line = |event: usize| (first + event + 1) as u64;
    // An edit, also one that leaves valid JSON and an event.
    let edited = with(lines.clone(), |lines| {
        lines[first + 2] = lines[first + 2].replace("credentials", "credential5");
    });
    assert_eq!(wrong(&edited), (TamperKind::Edited, line(2), Some(2)));
    let edited =
        with(lines.clone(), |lines| lines[first + 2] = lines[first + 2].replace("denied", "allowed"));
    assert_eq!(wrong(&edited), (TamperKind::Edited, line(2), Some(2)));
    // Anything of the header.
    let header = with(lines.clone(), |lines| lines[3] = lines[3].replace("weather", "wether_"));
    assert_eq!(wrong(&header).0, TamperKind::Edited);
    assert_eq!(wrong(&header).2, None);
    // One event out, at the beginning, in the middle, at the end.
    for event in [0, 7, 14] {
        let removed = with(lines.clone(), |lines| drop(lines.remove(first + event)));
        let (how, at, sequence) = wrong(&removed);
        assert_eq!((at, sequence), (line(event), Some(event as u64)), "{event}");
        // Behind the last one the end stands at its place.
        assert_eq!(how, if event == 14 { TamperKind::Edited } else { TamperKind::Removed }, "{event}");
    }
    // Several out.
    let removed = with(lines.clone(), |lines| drop(lines.drain(first + 3..first + 9)));
    assert_eq!(wrong(&removed), (TamperKind::Removed, line(3), Some(3)));
    // Two that changed places, neighbours and others.
    for (one, other) in [(3, 4), (2, 11)] {
        let swapped = with(lines.clone(), |lines| lines.swap(first + one, first + other));
        assert_eq!(wrong(&swapped), (TamperKind::Reordered, line(one), Some(one as u64)));
    }
    // One twice: at once, and later.
    for at in [6, 12] {
        let twice = with(lines.clone(), |lines| lines.insert(first + at, lines[first + 5].clone()));
        assert_eq!(wrong(&twice), (TamperKind::Duplicated, line(at), Some(at as u64)));
    }
    // Something behind the end.
    for more in ["\n", " ", "{}", "}\n", "\0"] {
        let appended = with(lines.clone(), |lines| lines.push(more.to_owned()));
        assert_eq!(wrong(&appended), (TamperKind::Appended, lines.len() as u64 + 1, None), "{more:?}");
    }
    // A trace behind a trace.
    let both = [lines.concat(), lines.concat()].concat();
    assert_eq!(wrong(both.as_bytes()).0, TamperKind::Appended);
    // The end of another trace.
    let (others, other_first) = self::lines();
    let spliced = [&lines[..first + 15], &others[other_first + 15..]].concat().concat();
    assert_eq!(wrong(spliced.as_bytes()).0, TamperKind::Edited);
    // An event of another trace at the same place.
    let spliced = with(lines.clone(), |lines| lines[first + 2].clone_from(&others[other_first + 2]));
    assert_eq!(wrong(&spliced), (TamperKind::Edited, line(2), Some(2)));
}

#[test]
fn lines_that_were_laid_out_anew_are_not_what_was_written() {
    let (_folder, path, _) = small();
    let text = fs::read_to_string(path).unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for again in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
        assert!(verify_bytes(again.as_bytes()).is_err());
    }
    for again in [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text.replace("    {", "     {")] {
        assert!(verify_bytes(again.as_bytes()).is_err());
    }
}

#[test]
fn a_trace_without_events_verifies() {
    let (_folder, path, _) = trace_of([]);
    assert_eq!(verify_trace(&path).unwrap().summary.events, 0);
    assert!(verify_trace(&path).unwrap().summary.complete);
}

#[test]
fn hostile_files_cost_little_and_are_refused() {
    let (lines, first) = lines();
    let long = "a".repeat(3 << 20);
    let deep = format!("    {{\"sequence\":0,\"x\":{}", "[".repeat(500_000));
    let hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"{".to_vec(),
        b"{\n".to_vec(),
        b"{\n".repeat(1_000_000),
        "[".repeat(1_000_000).into_bytes(),
        vec![0; 3 << 20],
        vec![b'\n'; 3 << 20],
        long.clone().into_bytes(),
        with(lines.clone(), |lines| lines[2] = format!("  \"x\": \"{long}\",\n")),
        with(lines.clone(), |lines| lines[2] = "  \"x\": 1,\n".repeat(500_000)),
        with(lines.clone(), |lines| lines[first] = format!("    {{\"sequence\":0,\"x\":\"{long}\"}},\n")),
        with(lines.clone(), |lines| lines[first] = format!("{deep},\"hash\":\"{}\"}},\n", "0".repeat(64))),
        with(lines.clone(), |lines| lines[first] = format!("é\",\"hash\":\"{}\"}},\n", "é".repeat(32))),
        with(lines.clone(), |lines| {
            let end = lines.len() - 2;
            lines[end] = "  \"x\": 1,\n".repeat(1_000_000);
        }),
    ];
    for (number, bytes) in hostile.iter().enumerate() {
        let error = verify_bytes(bytes).unwrap_err().to_string();
        assert!(error.len() < 400, "{number}: {error}");
    }
}

#[test]
fn another_version_says_so() {
    let (lines, _) = lines();
    // Rewritten with a right hash: an honest trace of a later version.
    let text = lines.concat().replace("skillsandbox.trace/1", "skillsandbox.trace/2\u{9b}");
    let error = verify_bytes(&small_trace::rechained(&text)).unwrap_err();
    assert!(matches!(error, TraceError::NotATrace(_)), "{error}");
    assert!(error.to_string().contains("`skillsandbox.trace/2\\u{9b}`"), "{error}");
}

/// An attacker who can compute hashes, but leaves the end as it suits him.
#[test]
fn an_end_that_does_not_follow_from_the_events_is_found() {
    let (lines, first) = lines();
    let text = lines.concat();
    verify_bytes(&small_trace::rechained(&text)).expect("the attacker's tool works");
    let changes: &[(&str, &str)] = &[
        ("\"denied\": 5", "\"denied\": 4"),
        ("\"allowed\": 2", "\"allowed\": 3"),
        ("\"failed\": 1", "\"failed\": 0"),
        ("\"events\": 15", "\"events\": 14"),
        ("\"lost\": 1", "\"lost\": 0"),
        ("\"complete\": false", "\"complete\": true"),
        ("\"all_prevented\": false", "\"all_prevented\": true"),
        ("\"policy_violations\": [2,5,6,7,9]", "\"policy_violations\": [2,5,6,7]"),
        ("\"policy_violations\": [2,5,6,7,9]", "\"policy_violations\": []"),
        ("\"all_prevented\": false", "\"all_prevented\": false,\n    \"max_severity\": \"low\""),
        // Of an event, with the end left as it was.
        (
            "\"kind\":\"exec\",\"path\":\"/bin/sh\",\"argv\":[\"sh\",\"-c\"],\"verdict\":\"denied\"",
            "\"kind\":\"exec\",\"path\":\"/bin/sh\",\"argv\":[\"sh\",\"-c\"],\"verdict\":\"allowed\"",
        ),
        ("\"verdict\":\"failed\"", "\"verdict\":\"failed\",\"count\":2"),
        ("\"verdict\":\"failed\"", "\"verdict\":\"failed\",\"count\":0"),
        ("\"verdict\":\"failed\"", "\"verdict\":\"failed\",\"last_elapsed_us\":0"),
        ("\"verdict\":\"failed\"", "\"verdict\":\"failed\",\"repeats\":4"),
    ];
    for (from, to) in changes {
        let other = text.replacen(from, to, 1);
        assert_ne!(other, text, "{from}");
        let (how, line, _) = wrong(&small_trace::rechained(&other));
        assert_eq!(how, TamperKind::Inconsistent, "{from} -> {to}");
        assert!(line > first as u64, "{line}");
    }
}
