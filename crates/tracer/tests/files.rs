//! The file itself: where it may be made, who may read it, and what is left when something breaks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use skillsandbox_test_support::small_trace::{events, file, header};
use skillsandbox_tracer::{
    Event, EventKind, EventVerdict, OutputLine, Recorder, TamperKind, TraceError, TraceHeader, TraceReader,
    TraceSummary, TraceWriter, read_trace, read_trace_part, verify_trace,
};

fn refused(path: &Path) -> String {
    match TraceWriter::create(path, &header()) {
        Err(error @ TraceError::Create { .. }) => error.to_string(),
        Ok(_) => panic!("{} was made", path.display()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn only_its_owner_may_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let _writer = TraceWriter::create(&path, &header()).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn what_is_there_is_never_replaced_nor_followed() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let path = folder.path().join("trace.json");

    fs::write(&path, "older").unwrap();
    assert!(refused(&path).contains("never replaces a file"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "older");
    fs::remove_file(&path).unwrap();

    // A link to a file, to nothing yet, to itself, to a device; a hard link; a pipe, which nobody reads; a folder.
    for target in ["victim", "not-there", "trace.json", "/dev/null"] {
        symlink(target, &path).unwrap();
        refused(&path);
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        fs::remove_file(&path).unwrap();
    }
    assert!(!folder.path().join("not-there").exists());
    fs::hard_link(&victim, &path).unwrap();
    refused(&path);
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused(&path);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(&path);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(fs::metadata(&victim).unwrap().nlink(), 1);
}

#[test]
fn a_folder_that_is_a_link_is_refused_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink("real", folder.path().join("link")).unwrap();
    for way in ["link/trace.json", "link//trace.json", "link/./trace.json", "./link/././trace.json"] {
        let error = refused(&folder.path().join(way));
        assert!(error.contains("symbolic link"), "{way}: {error}");
    }
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    // The folder itself is fine, also by a way that goes through links further up.
    TraceWriter::create(&real.join("trace.json"), &header()).unwrap();
    fs::create_dir(real.join("deep")).unwrap();
    TraceWriter::create(&folder.path().join("link/deep/trace.json"), &header()).unwrap();
}

#[test]
fn paths_without_a_file_or_a_folder_are_refused_with_a_cure() {
    let folder = tempfile::tempdir().unwrap();
    for way in ["", "/", "..", "not-there/trace.json", "file/trace.json"] {
        fs::write(folder.path().join("file"), "").unwrap();
        let path =
            if way.starts_with(['/', '.']) || way.is_empty() { way.into() } else { folder.path().join(way) };
        let error = refused(&path);
        assert!(way != "not-there/trace.json" || error.contains("make its folder first"), "{error}");
    }
    // `a/..` names no file, although it has names in it.
    refused(&folder.path().join("x/.."));
}

#[test]
fn a_run_that_is_killed_leaves_what_it_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut writer = TraceWriter::create(&path, &header()).unwrap();
    writer.write(file("/home/user/.aws/credentials", EventVerdict::Denied)).unwrap();
    // Nobody has flushed, finished or dropped it: this is what a killed program leaves.
    let mut reader = TraceReader::open(&path).unwrap();
    assert_eq!(reader.header().skill_name, "weather-lookup");
    let event = reader.next().unwrap().unwrap();
    assert!(event.is_violation());
    match reader.next().unwrap() {
        Err(TraceError::Tampered(tampered)) => {
            assert_eq!((tampered.how, tampered.sequence), (TamperKind::Truncated, Some(0)), "{tampered}");
        }
        other => panic!("{other:?}"),
    }
    assert!(reader.next().is_none());
    assert!(serde_json::from_slice::<serde_json::Value>(&fs::read(&path).unwrap()).is_err());
    writer.finish(TraceSummary::default()).unwrap();
    verify_trace(&path).unwrap();
}

#[test]
fn a_recorder_that_is_dropped_leaves_a_trace_without_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut recorder =
        Recorder::new(&header(), Some(TraceWriter::create(&path, &header()).unwrap()), Vec::new());
    for event in events() {
        recorder.record(event);
    }
    drop(recorder);
    assert!(
        matches!(verify_trace(&path), Err(TraceError::Tampered(tampered)) if tampered.how == TamperKind::Truncated)
    );
    assert_eq!(TraceReader::open(&path).unwrap().map_while(Result::ok).count(), 15);
}

/// What is written is what the file says, whatever the caller says.
#[test]
fn the_writer_counts_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut writer = TraceWriter::create(&path, &header()).unwrap();
    writer.write(file("/a", EventVerdict::Denied)).unwrap();
    let mut summary = TraceSummary::default();
    (summary.denied, summary.complete, summary.lost) = (7, true, 9);
    writer.finish(summary).unwrap();
    let trace = read_trace(&path).unwrap();
    assert_eq!((trace.violation_summary.denied, trace.violation_summary.lost), (1, 0));
}

/// The longest event there is still fits into a line that is read.
#[test]
fn whatever_is_written_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let mut writer = TraceWriter::create(&path, &header()).unwrap();
    let worst = "\u{7f}".repeat(1 << 20);
    let exec = Event::new(EventKind::Exec { path: worst.clone(), argv: vec![worst.clone(); 300] });
    writer.write(exec.with_verdict(EventVerdict::Denied, worst.clone())).unwrap();
    let mut connection = skillsandbox_tracer::NetConnection::default();
    let all = Some(worst.clone());
    (connection.name, connection.address, connection.reason) = (all.clone(), all.clone(), all.clone());
    (connection.server_name, connection.dialled, connection.transport) = (all.clone(), all, worst.clone());
    writer
        .write(
            Event::new(EventKind::NetConnect(connection)).with_verdict(EventVerdict::Denied, worst.clone()),
        )
        .unwrap();
    let figures =
        (0..10_000).map(|number| (format!("{number}{}", "\u{7f}".repeat(60 - 5)), number)).collect();
    writer.write(Event::new(EventKind::Policy { subject: worst.clone(), message: worst, figures })).unwrap();
    writer.finish(TraceSummary::default()).unwrap();
    assert_eq!(read_trace(&path).unwrap().events.len(), 3);
}

const FULL: &str = "SKILLSANDBOX_TEST_FULL";

/// A disk that is full is an error, no panic; the sinks go on hearing, and what fitted can be read.
#[test]
fn a_full_disk_is_an_error_and_the_rest_goes_on() {
    if let Some(folder) = std::env::var_os(FULL) {
        return child(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    // Files of at most 16 or 32 KiB, and an error instead of a signal behind that.
    let status = Command::new("sh")
        .args([
            "-c",
            r#"trap '' XFSZ; ulimit -f 32; exec "$0" --exact a_full_disk_is_an_error_and_the_rest_goes_on"#,
        ])
        .arg(std::env::current_exe().unwrap())
        .env(FULL, folder.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    assert!(folder.path().join("done").exists(), "the child did its part");
}

fn child(folder: &Path) {
    struct Count(std::sync::Arc<std::sync::atomic::AtomicU64>);
    impl skillsandbox_tracer::EventSink for Count {
        fn event(&mut self, _: &Event, _: Option<skillsandbox_tracer::AttackClass>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }
    let heard = std::sync::Arc::default();
    let path = folder.join("trace.json");
    let writer = TraceWriter::create(&path, &header()).unwrap();
    let mut recorder =
        Recorder::new(&header(), Some(writer), vec![Box::new(Count(std::sync::Arc::clone(&heard)))]);
    for number in 0..1000 {
        recorder.record(file(&format!("/data/{number}"), EventVerdict::Denied));
    }
    let done = recorder.finish();
    assert!(matches!(done.error, Some(TraceError::Write { .. })), "{:?}", done.error);
    assert!(done.digest.is_none());
    assert!(!done.summary.complete);
    assert!(done.summary.incomplete_because[0].contains("cannot write the trace"), "{:?}", done.summary);
    assert_eq!(done.summary.denied, 1000);
    assert_eq!(heard.load(std::sync::atomic::Ordering::Relaxed), 1000);
    let length = fs::metadata(&path).unwrap().len();
    assert!((16 * 1024..=32 * 1024).contains(&length), "{length}");
    let whole = TraceReader::open(&path).unwrap().map_while(Result::ok).count();
    assert!(whole > 20, "{whole}");
    assert!(
        matches!(verify_trace(&path), Err(TraceError::Tampered(tampered)) if tampered.how == TamperKind::Truncated)
    );

    // One that runs out only when the end is written.
    let path = folder.join("end.json");
    let mut writer = TraceWriter::create(&path, &header()).unwrap();
    while writer.bytes() < length - 600 {
        writer.write(file("/data", EventVerdict::Denied)).unwrap();
    }
    let _ = writer.finish(TraceSummary::default()).unwrap_err();
    assert!(verify_trace(&path).is_err());
    fs::write(folder.join("done"), "").unwrap();
}

#[test]
fn a_part_of_a_trace_is_bounded_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let header = TraceHeader::new("tested", "tests");
    let writer = TraceWriter::create(&path, &header).unwrap();
    let mut recorder = Recorder::new(&header, Some(writer), Vec::new());
    for line in 0..100 {
        let line = OutputLine::new(format!("line {line}"));
        recorder.record(Event::new(EventKind::Stdout(line)));
    }
    let _ = recorder.finish();
    let part = |path: &Path| {
        let reader = TraceReader::open(path).unwrap();
        read_trace_part(reader, 10)
    };
    let whole = part(&path);
    assert_eq!((whole.trace.events.len(), whole.omitted), (10, 90));
    assert!(whole.wrong.is_none() && whole.trace.violation_summary.complete);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.find("line 50").unwrap()]).unwrap();
    let cut = part(&path);
    assert_eq!((cut.trace.events.len(), cut.omitted, cut.trace.violation_summary.events), (10, 40, 50));
    assert!(cut.wrong.is_some() && !cut.trace.violation_summary.complete);
}
