//! Only the programs that are named may be executed, by whatever road.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use skillsandbox_enforcer::{Command, Error, Plan, PlanBuilder, RunOutcome};

fn run(plan: PlanBuilder, command: Command) -> RunOutcome {
    let plan = plan.timeout(Duration::from_mins(1)).build().unwrap();
    plan.spawn(&command.captured(1 << 16)).unwrap().wait().unwrap()
}

fn shell(script: &str) -> RunOutcome {
    run(Plan::builder().programs(["sh", "ls", "cp"]), Command::new("sh").args(["-c", script]))
}

#[test]
fn programs_that_are_named_run_and_others_do_not() {
    let outcome = shell("ls / >/dev/null && echo ls; cat /etc/hostname; echo $?");
    assert_eq!(outcome.stdout.text(), "ls\n126\n", "{}", outcome.stderr.text());
}

#[test]
fn no_loader_copy_or_script_gets_round_it() {
    // By the loader, which every program needs; as a copy; as a file of one's own; by a descriptor.
    let script = r#"
        for loader in /lib64/ld-linux* /lib/ld-linux* /lib/*/ld-linux*; do
            $loader /usr/bin/cat /etc/passwd 2>/dev/null && echo "by $loader"
        done
        cp /usr/bin/cat /tmp/cat 2>/dev/null; /tmp/cat /etc/passwd 2>/dev/null && echo copied
        cp /usr/bin/ls /tmp/ls; /tmp/ls / >/dev/null 2>&1 && echo "copied what may be executed"
        for loader in /lib64/ld-linux*; do $loader /tmp/ls / >/dev/null 2>&1 && echo "mapped by $loader"; done
        printf '#!/bin/sh\necho script\n' > /tmp/script; chmod +x /tmp/script; /tmp/script 2>/dev/null
        /proc/self/exe -c 'echo it is only the shell again'
        echo end
    "#;
    let outcome = shell(script);
    let said = outcome.stdout.text();
    assert!(said.ends_with("end\n"), "{said} {}", outcome.stderr.text());
    for road in ["by ", "copied", "mapped", "script", "skill:"] {
        assert!(!said.contains(road), "{said}");
    }
}

#[test]
fn an_interpreter_is_found_with_its_script_and_what_it_starts_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let script = path.join("main.py");
    fs::write(
        &script,
        "#!/usr/bin/env python3\nimport json, ssl, ctypes, subprocess\nprint('imported')\n\
         try: subprocess.run(['id'])\nexcept OSError as error: print(type(error).__name__)\n",
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let plan = Plan::builder().read(&path).workdir(&path).programs(["./main.py"]);
    let outcome = run(plan, Command::new("./main.py"));
    assert_eq!(outcome.stdout.text(), "imported\nPermissionError\n", "{}", outcome.stderr.text());
}

#[test]
fn a_folder_stands_for_the_programs_in_it_and_what_is_not_there_is_left_out() {
    let outcome = run(
        Plan::builder().programs(["/usr/bin", "no-such-program"]),
        Command::new("sh").args(["-c", "cat /etc/passwd | head -c 5"]),
    );
    assert_eq!(outcome.stdout.text(), "skill", "{}", outcome.stderr.text());
}

#[test]
fn a_command_that_is_not_named_is_refused() {
    let plan = Plan::builder().programs(["ls"]).build().unwrap();
    let refused = plan.spawn(&Command::new("cat")).unwrap_err();
    assert!(matches!(&refused, Error::Program(why) if why.contains("not among the programs")), "{refused}");
}
