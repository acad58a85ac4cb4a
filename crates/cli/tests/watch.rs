//! `--watch`: each event once, at its time, and nothing after the end.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use sandboxed::{Stage, code, text};

/// The lines of events: `[12:00:00.000] …`.
fn events(seen: &str) -> Vec<&str> {
    seen.lines().filter(|line| line.starts_with('[') && line.get(13..14) == Some("]")).collect()
}

#[test]
fn each_event_has_one_line_at_its_time_and_none_comes_after_the_end() {
    let stage = Stage::new();
    stage.write("home/data", "x\n");
    // The same again and again, libraries, output between, and what is not there.
    let script = "for n in 1 2 3 4 5 6 7 8; do cat data; cat nothing-here; cat /etc/shadow; done 2>/dev/null; ls /usr/lib; exit 3";
    let output = stage.run(&["exec", "--watch", "--read", ".", "sh", "-c", script]);
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    let seen = text(&output.stderr);
    let lines = events(&seen);
    let times: Vec<&str> = lines.iter().map(|line| &line[..14]).collect();
    assert!(times.is_sorted(), "{seen}");
    assert!(lines.last().unwrap().contains(" END "), "{seen}");
    let end = seen.lines().position(|line| line.contains(" END ")).unwrap();
    assert!(!seen.lines().skip(end + 1).any(|line| line.starts_with('[')), "{seen}");
    for what in ["/etc/shadow", "/nothing-here"] {
        let of = |line: &&&str| line.contains(" read ") && line.contains(what);
        assert_eq!(lines.iter().filter(of).count(), 1, "{what}: {seen}");
    }
    assert!(!lines.iter().any(|line| line.contains(" times)")), "{seen}");
}

#[test]
fn a_file_that_is_merely_not_there_is_no_failure() {
    let stage = Stage::new();
    let output =
        stage.run(&["exec", "--watch", "--read", ".", "sh", "-c", "test -e x; cat nothing-here; true"]);
    let seen = text(&output.stderr);
    let line = events(&seen)
        .into_iter()
        .find(|line| line.contains(" read ") && line.contains("nothing-here"))
        .unwrap()
        .to_owned();
    assert!(line.contains("ABSENT") && !line.contains('\u{274c}') && !line.contains("FAILED"), "{line}");
}
