//! What was once said of honest programs, and that it is still said of those that are not.

use std::collections::BTreeMap;

use skillsandbox_tracer::{
    AttackClass, CALLERS_SUBJECT, CALLERS_WORDS, Classification, Event, EventKind, TracedProcess,
};

use crate::script::{classify, event, of};

fn classes(found: &[Classification]) -> Vec<AttackClass> {
    found.iter().map(|found| found.class).collect()
}

/// A run of a command, of which so many words at the end are a person's, and what it did.
fn run(command: &[&str], persons: u64, lines: &[&str]) -> Vec<AttackClass> {
    let figures = BTreeMap::from([(CALLERS_WORDS.to_owned(), persons)]);
    let note = EventKind::Policy { subject: CALLERS_SUBJECT.to_owned(), message: String::new(), figures };
    let command = command.iter().map(|word| (*word).to_owned()).collect();
    let start = [Event::new(note), Event::new(EventKind::RunStarted { command })];
    classes(&classify(start.into_iter().chain(lines.iter().map(|line| event(line)))).1)
}

#[test]
fn libreoffice_is_no_harvester_of_credentials() {
    let office = "/usr/lib/libreoffice/program/soffice.bin";
    let looks = |verdict: &str, path: &str, by: &str| of(&[&format!("{verdict} read {path} by {by}")]);
    let profiles =
        ["/home/skill/.mozilla/firefox/profiles.ini", "/home/skill/.mozilla/seamonkey/profiles.ini"];
    for path in profiles {
        assert!(looks("failed", path, office).is_empty(), "{path}");
    }
    let profiles = "/home/skill/.mozilla/firefox/profiles.ini";
    // A profile that is there, another file of it, and another program are what they were.
    for (verdict, path, by) in [
        ("denied", profiles, office),
        ("allowed", profiles, office),
        ("failed", "/home/skill/.mozilla/firefox/x.default/logins.json", office),
        ("failed", "/home/skill/.ssh/id_rsa", office),
        ("failed", profiles, "/usr/bin/python3"),
        ("failed", profiles, "/tmp/soffice.bin"),
    ] {
        let path_is_key = path.contains(".ssh");
        let found = looks(verdict, path, by);
        // One kind that was granted is meant; everything else is a harvest.
        if verdict != "allowed" || path_is_key {
            assert_eq!(classes(&found), [AttackClass::CredentialHarvesting], "{verdict} {path} {by}");
        }
    }
}

#[test]
fn a_file_that_the_person_named_is_not_one_that_the_program_went_looking_for() {
    let read = "denied read /home/me/Documents/my.pdf by /usr/bin/pdftotext";
    let telemetry = "denied lookup updates.vendor.test by /usr/bin/pdftotext";
    let command = ["pdftotext", "/home/me/Documents/my.pdf", "-"];
    assert!(run(&command, 2, &[read, telemetry]).is_empty());
    assert!(run(&["x", "--in=/home/me//Documents/./my.pdf"], 1, &[read]).is_empty());
    // The words that a skill's own manifest gives are not the person's.
    let theft = [AttackClass::DataExfiltration, AttackClass::UnauthorizedFileAccess];
    assert_eq!(run(&command, 0, &[read, telemetry]), theft);
    assert_eq!(run(&command, 1, &[read, telemetry]), theft);
    // Nor is another file, or a key, excused by the name of one.
    assert_eq!(
        run(&command, 2, &["denied read /home/me/Documents/taxes.pdf"]),
        [AttackClass::UnauthorizedFileAccess]
    );
    assert_eq!(
        run(&["cat", "/home/me/.ssh/id_rsa"], 1, &["denied read /home/me/.ssh/id_rsa by /bin/cat"]),
        [AttackClass::CredentialHarvesting]
    );
    assert!(run(&[], u64::MAX, &[]).is_empty());
}

#[test]
fn who_looks_after_its_own_children_does_not_look_around() {
    let by = "/usr/lib/chromium/chromium";
    let look = |number: u32| event(&format!("allowed read /proc/{number}/stat by {by}"));
    let child = |number: u32| {
        let mut process = TracedProcess::new(40_000 + number, Some(by.to_owned()));
        process.inner_pid = Some(number);
        event("allowed read /usr/lib/x.so").with_process(process)
    };
    // Whether the children or the looks come first.
    assert!(classify((10..40).map(child).chain((10..40).map(look))).1.is_empty());
    assert!(classify((10..40).map(look).chain((10..40).map(child))).1.is_empty());
    // Who reads those of others as well is one who looks around, with as many children as it likes.
    let others = (1..=8).map(|number| event(&format!("denied read /proc/{number}/cmdline by {by}")));
    let found = classify((10..40).map(child).chain((10..40).map(look)).chain(others)).1;
    assert_eq!(classes(&found), [AttackClass::Discovery]);
}
