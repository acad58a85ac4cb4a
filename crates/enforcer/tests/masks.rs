//! What is forbidden stays out of reach when the host replaces it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;

use common::{Folder, plan};
use skillsandbox_enforcer::{Command, EndCause, OutputMode, PlanBuilder};

/// Runs a script that says `ready` and then reads in a loop, lets the host act, and returns what it printed and what ended it.
fn race(plan: PlanBuilder, script: &str, host: impl FnOnce()) -> (String, EndCause) {
    let plan = plan.timeout(Duration::from_secs(20)).build().unwrap();
    let command = Command::new("/bin/sh").args(["-c", script]).stdout(OutputMode::Piped);
    let mut running = plan.spawn(&command).unwrap();
    let mut out = BufReader::new(running.stdout().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    host();
    let mut printed = String::new();
    out.read_to_string(&mut printed).unwrap();
    (printed, running.wait().unwrap().end)
}

fn reading(path: &Path) -> String {
    format!(
        "cat '{0}' 2>/dev/null; echo ready; exec 2>/dev/null; while :; do cat '{0}' '{0}/key'; done",
        path.display()
    )
}

/// What it is called, and what does it.
type Replacement = (&'static str, Box<dyn FnOnce()>);

/// The ways in which a host puts something else in a place.
fn replacements(folder: &Folder, place: &Path) -> Vec<Replacement> {
    let new = folder.file("new-file", "canary");
    let new_folder = folder.file("new-folder/key", "canary").parent().unwrap().to_owned();
    let above = place.parent().unwrap().to_owned();
    let new_above = folder.path().join("new-above");
    fs::create_dir_all(&new_above).unwrap();
    fs::write(new_above.join(place.file_name().unwrap()), "canary").unwrap();
    let at = || place.to_owned();
    let aside = folder.path().join("aside");
    let (place_1, place_2, place_3) = (at(), at(), at());
    let (new_1, new_2, aside_1, aside_2, aside_3) = (new.clone(), new, aside.clone(), aside.clone(), aside);
    vec![
        ("renamed over", Box::new(move || fs::rename(new_1, place_1).unwrap())),
        (
            "removed and made anew",
            Box::new(move || {
                fs::remove_file(&place_2).unwrap();
                fs::copy(new_2, place_2).unwrap();
            }),
        ),
        (
            "a folder in its place",
            Box::new(move || {
                fs::rename(&place_3, aside_1).unwrap();
                fs::rename(new_folder, place_3).unwrap();
            }),
        ),
        (
            "the folder above moved and made anew",
            Box::new(move || {
                fs::rename(&above, aside_2).unwrap();
                fs::rename(new_above, above).unwrap();
                drop(aside_3);
            }),
        ),
    ]
}

#[test]
fn row_174_what_takes_the_place_of_a_forbidden_file_below_a_read_grant_is_never_read() {
    for number in 0..4 {
        let folder = Folder::outside_tmp();
        let secret = folder.file("home/project/.env", "canary");
        let home = folder.path().join("home");
        let (way, replace) = replacements(&folder, &secret).remove(number);
        let (printed, end) = race(plan().read(&home).forbid(&secret), &reading(&secret), replace);
        assert!(!printed.contains("canary"), "{way}: {printed}");
        assert_eq!(end, EndCause::Uncovered, "{way}");
        // The control: it is there, and readable outside.
        let read = fs::read_to_string(&secret).or_else(|_| fs::read_to_string(secret.join("key"))).unwrap();
        assert_eq!(read, "canary", "{way}");
    }
}

#[test]
fn row_174_a_forbidden_folder_that_is_made_anew_is_never_read() {
    for number in 0..2 {
        let folder = Folder::outside_tmp();
        let secret = folder.file("home/.ssh/key", "canary").parent().unwrap().to_owned();
        let home = folder.path().join("home");
        let aside = folder.path().join("aside");
        let replace = || {
            if number == 0 {
                fs::rename(&secret, &aside).unwrap();
            } else {
                fs::remove_dir_all(&secret).unwrap();
            }
            fs::create_dir(&secret).unwrap();
            fs::write(secret.join("key"), "canary").unwrap();
        };
        let (printed, end) = race(plan().read(&home).forbid(&secret), &reading(&secret), replace);
        assert!(!printed.contains("canary"), "{printed}");
        assert_eq!(end, EndCause::Uncovered);
    }
}

/// Whatever is replaced below a write grant, or in /tmp, where the rule for the run's own holds what is mounted in it too: the run is over.
#[test]
fn row_174_a_run_ends_when_what_is_hidden_below_its_write_grant_or_in_tmp_is_replaced() {
    for number in 0..8 {
        let folder = Folder::new();
        let secret = folder.file("home/project/.env", "canary");
        let home = folder.path().join("home");
        let (way, replace) = replacements(&folder, &secret).remove(number % 4);
        let script = "echo ready; while :; do :; done";
        let granted = if number < 4 { plan().write(&home) } else { plan().read(&home) };
        let (_, end) = race(granted.forbid(&secret), script, replace);
        assert_eq!(end, EndCause::Uncovered, "{way}");
    }
}

/// The skill's own folder below a write grant, say.
#[test]
fn row_174_a_run_ends_when_what_it_may_only_read_below_its_write_grant_is_replaced() {
    let folder = Folder::new();
    let manifest = folder.file("home/skills/weather/skillsandbox.yaml", "original");
    let skill = manifest.parent().unwrap().to_owned();
    let home = folder.path().join("home");
    let aside = folder.path().join("aside");
    let script = "echo ready; while :; do :; done";
    let (_, end) = race(plan().write(&home).read(&skill), script, || fs::rename(&skill, &aside).unwrap());
    assert_eq!(end, EndCause::Uncovered);
}

/// What else goes on in the same folders is no reason to end a run, whoever does it.
#[test]
fn other_changes_beside_what_is_hidden_end_nothing() {
    let folder = Folder::new();
    let secret = folder.file("home/.env", "canary");
    let beside = folder.file("home/beside", "beside");
    let home = folder.path().join("home");
    let script = format!(
        "echo ready; cd '{}'; echo x > own; mv own other; cat other; rm other; while ! cat later 2>/dev/null; do :; done; cat beside",
        home.display()
    );
    let (printed, end) = race(plan().write(&home).forbid(&secret), &script, || {
        fs::write(home.join("draft"), "later\n").unwrap();
        fs::rename(home.join("draft"), home.join("later")).unwrap();
    });
    assert_eq!((printed.as_str(), end), ("x\nlater\nbeside", EndCause::Itself));
    // Below a read grant, what is beside it is read as before; names are listed; what the host adds later is not read.
    let script = format!("echo ready; cd '{0}'; cat beside; ls; cat new; cat .env; true", home.display());
    fs::create_dir(home.join("sub")).unwrap();
    fs::write(home.join("sub/deep"), "deep").unwrap();
    let (printed, end) = race(plan().read(&home).forbid(&secret), &script, || ());
    assert_eq!((printed.as_str(), end), ("besidebeside\nlater\nsub\n", EndCause::Itself));
    fs::remove_file(beside).unwrap();
}
