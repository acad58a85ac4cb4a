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

/// Whatever part of it is missing when a run starts, and whatever the host makes of that.
#[test]
fn row_174_a_forbidden_path_that_appears_below_a_read_grant_is_never_read() {
    for path in ["project/.env", "gone/deep/key", "project/.ssh/key", "file/key"] {
        let folder = Folder::outside_tmp();
        let home = folder.folder("home");
        folder.folder("home/project");
        folder.file("home/file", "");
        let beside = folder.file("home/beside", "beside");
        let secret = home.join(path);
        let appear = || {
            let ready = folder.file("ready/key", "canary").parent().unwrap().to_owned();
            match path {
                "project/.ssh/key" => fs::rename(ready, secret.parent().unwrap()).unwrap(),
                "file/key" => {
                    fs::remove_file(home.join("file")).unwrap();
                    fs::rename(ready, home.join("file")).unwrap();
                }
                _ => {
                    fs::create_dir_all(secret.parent().unwrap()).unwrap();
                    fs::write(&secret, "canary").unwrap();
                }
            }
        };
        let (printed, end) = race(plan().read(&home).forbid(&secret), &reading(&secret), appear);
        assert!(!printed.contains("canary"), "{path}: {printed}");
        assert_eq!(end, EndCause::Uncovered, "{path}");
        assert_eq!(fs::read_to_string(&secret).unwrap(), "canary", "{path}: the control");
        // What is beside something that never appears is read, and nothing ends the run.
        let script = format!("echo ready; cat '{}'", beside.display());
        let (printed, end) = race(plan().read(&home).forbid(home.join("never")), &script, || ());
        assert_eq!((printed.as_str(), end), ("beside", EndCause::Itself), "{path}");
    }
}

/// What is hidden is what the link leads to; what has the link's name afterwards is not that.
#[test]
fn row_174_what_takes_the_place_of_a_link_on_the_way_to_a_forbidden_file_is_never_read() {
    for (path, link) in [(".env", ".env"), ("current/key", "current")] {
        for number in 0..2 {
            let folder = Folder::outside_tmp();
            let home = folder.folder("home");
            folder.file("home/releases/one/key", "canary");
            let secret = home.join(path);
            let link = home.join(link);
            let target = if link == secret { "releases/one/key" } else { "releases/one" };
            std::os::unix::fs::symlink(target, &link).unwrap();
            let new = folder.file("new/key", "canary");
            let replace = || {
                let new = if link == secret { new.clone() } else { new.parent().unwrap().to_owned() };
                fs::remove_file(&link).unwrap();
                match number {
                    0 => fs::rename(new, &link).unwrap(),
                    1 if link == secret => fs::write(&link, "canary").unwrap(),
                    _ => {
                        fs::create_dir(&link).unwrap();
                        fs::write(&secret, "canary").unwrap();
                    }
                }
            };
            let (printed, end) = race(plan().read(&home).forbid(&secret), &reading(&secret), replace);
            assert!(!printed.contains("canary"), "{path} {number}: {printed}");
            assert_eq!(end, EndCause::Uncovered, "{path} {number}");
            assert_eq!(fs::read_to_string(&secret).unwrap(), "canary", "{path}: the control");
        }
    }
}

/// Where Landlock does not hold it back, in /tmp, the run is over at least.
#[test]
fn row_174_a_run_ends_when_a_forbidden_path_appears_in_tmp_or_a_link_on_the_way_to_one_is_replaced() {
    let script = "echo ready; while :; do :; done";
    let folder = Folder::new();
    let home = folder.folder("home");
    let secret = home.join("gone/key");
    let (_, end) = race(plan().read(&home).forbid(&secret), script, || {
        folder.file("home/gone/key", "canary");
    });
    assert_eq!(end, EndCause::Uncovered);
    let link = home.join("link");
    std::os::unix::fs::symlink("gone/key", &link).unwrap();
    // Retargeted at once, as `ln -sfn` does.
    let (_, end) = race(plan().read(&home).forbid(&link), script, || {
        std::os::unix::fs::symlink("other", home.join("new")).unwrap();
        fs::rename(home.join("new"), &link).unwrap();
    });
    assert_eq!(end, EndCause::Uncovered);
}

/// An ordinary user cannot look into it when the run starts. Root can, but not the child that would hide it: there is no run.
#[test]
fn row_174_a_forbidden_file_in_a_folder_that_is_opened_later_is_never_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::outside_tmp();
    let secret = folder.file("home/locked/key", "canary");
    let (home, locked) = (folder.path().join("home"), folder.path().join("home/locked"));
    let mode = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o000);
    let script = format!(
        "echo ready; exec 2>/dev/null; while ! [ -x '{0}/locked' ]; do :; done; cat '{0}/locked/key'; echo tried",
        home.display()
    );
    if rustix::process::geteuid().is_root() {
        let refused = plan().read(&home).forbid(&secret).build().unwrap().spawn(&Command::new("true"));
        assert!(refused.is_err());
        return;
    }
    let (printed, end) = race(plan().read(&home).forbid(&secret), &script, || mode(0o700));
    assert_eq!((printed.as_str(), end), ("tried\n", EndCause::Itself));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "canary", "the control");
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
