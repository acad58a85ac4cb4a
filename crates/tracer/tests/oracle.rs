//! The reader against another implementation: `verify.py`, written from docs/trace.md. Both take what was written, and both
//! refuse whatever was changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use skillsandbox_test_support::small_trace::{small, trace_of, verify_bytes};

fn python(files: &[Vec<u8>]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify.py");
    let mut child = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is needed, as for the other tests of this workspace");
    let mut stdin = child.stdin.take().unwrap();
    let files = files.to_vec();
    let feeder = std::thread::spawn(move || {
        for file in files {
            writeln!(stdin, "{}", file.len()).unwrap();
            stdin.write_all(&file).unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn twenty_lines_of_python_agree() {
    let (_folder, path, digest) = small();
    let (_empty_folder, empty, empty_digest) = trace_of([]);
    let bytes = fs::read(path).unwrap();
    let mut files = vec![bytes.clone(), fs::read(empty).unwrap()];
    // Every seventh byte changed, and the file cut there.
    for at in (0..bytes.len()).step_by(7) {
        let mut edited = bytes.clone();
        edited[at] ^= 4;
        files.push(edited);
        files.push(bytes[..at].to_vec());
    }
    let answers = python(&files);
    assert_eq!(answers.len(), files.len());
    assert_eq!(answers[0], digest.to_string());
    assert_eq!(answers[1], empty_digest.to_string());
    for (number, (file, answer)) in files.iter().zip(&answers).enumerate().skip(2) {
        assert!(verify_bytes(file).is_err(), "{number}");
        assert!(answer.starts_with("wrong:"), "{number}: {answer}");
    }
}
