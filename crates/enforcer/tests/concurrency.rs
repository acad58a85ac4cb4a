//! Many sandboxes at once from one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::Duration;

use common::{Folder, plan};
use skillsandbox_enforcer::{Command, Error, RunSlots};

#[test]
fn sixty_four_at_once_do_not_mix() {
    let folder = Folder::new();
    let threads: Vec<_> = (0..64)
        .map(|number| {
            let own = folder.folder(&number.to_string());
            std::thread::spawn(move || {
                let script = format!(
                    "echo {number} > /tmp/mine; echo {number} > '{0}/mine'; sleep 0.2; cat /tmp/mine '{0}/mine'; ls -A /tmp | grep -c mine; \
                     ls -d /proc/[0-9]* | wc -l; ls '{1}' | wc -l",
                    own.display(),
                    own.parent().unwrap().display()
                );
                let plan = plan().write(&own).env("NUMBER", number.to_string()).timeout(Duration::from_mins(2));
                let command = Command::new("/bin/sh").args(["-c", &script]).captured(1000);
                (number, plan.build().unwrap().spawn(&command).unwrap().wait().unwrap())
            })
        })
        .collect();
    for thread in threads {
        let (number, outcome) = thread.join().unwrap();
        let text = outcome.stdout.text().into_owned();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..3], [&number.to_string(), &number.to_string(), "1"], "{text}");
        assert!(lines[3].parse::<u32>().unwrap() <= 4, "{text}");
        assert_eq!(lines[4], "1", "only its own folder exists: {text}");
    }
}

#[test]
fn row_118_places_bound_the_runs_at_a_time() {
    let places = RunSlots::new(2);
    let plan = plan().build().unwrap();
    let sleep = Command::new("/bin/sleep").arg("20");
    let first = places.spawn(&plan, &sleep).unwrap();
    let second = places.spawn(&plan, &sleep).unwrap();
    let refused = places.spawn(&plan, &Command::new("/bin/true")).unwrap_err();
    assert!(matches!(refused, Error::Busy(2)), "{refused}");
    assert!(refused.to_string().contains("2 runs"), "{refused}");
    drop(first);
    let third = places.spawn(&plan, &Command::new("/bin/true")).unwrap();
    assert!(third.wait().unwrap().success());
    drop(second);
    // A run that does not start takes no place.
    for _ in 0..5 {
        assert!(places.spawn(&plan, &Command::new("/no/such/program")).is_err());
    }
    assert!(places.spawn(&plan, &Command::new("/bin/true")).unwrap().wait().unwrap().success());
}

/// What this process holds: descriptors and threads.
fn held() -> (usize, usize) {
    let count = |folder: &str| std::fs::read_dir(folder).unwrap().count();
    (count("/proc/self/fd"), count("/proc/self/task"))
}

#[test]
fn nothing_grows_from_run_to_run() {
    // In a process of its own: other tests of this one come and go.
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["helper_many_runs", "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    let said = again.output().unwrap();
    assert!(
        said.status.success(),
        "{}{}",
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn helper_many_runs() {
    let plan = plan().memory(64 << 20).processes(16).build().unwrap();
    let command = Command::new("/bin/true").captured(100);
    let run = || assert!(plan.spawn(&command).unwrap().wait().unwrap().success());
    run();
    let before = held();
    for _ in 0..100 {
        run();
        assert!(plan.spawn(&Command::new("/no/such/program")).is_err());
        drop(plan.spawn(&Command::new("/bin/sleep").arg("5")).unwrap());
    }
    // A thread that was joined is listed for a moment longer.
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while held() != before && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(held(), before);
}
