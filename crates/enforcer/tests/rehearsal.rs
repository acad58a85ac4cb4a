//! A rehearsal: everything as in a run, and nothing of the host changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;

use common::{Folder, output, plan, read, sh};

#[test]
fn what_a_rehearsal_writes_is_seen_inside_and_changes_nothing_outside() {
    let folder = Folder::outside_tmp();
    let kept = folder.file("work/kept.txt", "before");
    folder.file("work/gone.txt", "gone");
    let work = folder.path().join("work");
    let script = format!(
        "cd {0} && echo after > kept.txt && rm gone.txt && mkdir new && echo x > new/file && mv new moved && chmod 700 moved && cat kept.txt && ls",
        work.display()
    );
    let said = output(plan().rehearse().write(&work), &script);
    assert_eq!(said, "after\nkept.txt\nmoved\n");
    assert_eq!(read(&kept), "before");
    let mut names: Vec<_> = fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["gone.txt", "kept.txt"]);
    // The control: a run does change it.
    output(plan().write(&work), &script);
    assert_eq!(read(&kept), "after\n");
}

#[test]
fn a_single_file_is_rehearsed_on_a_copy_that_is_as_long() {
    let folder = Folder::outside_tmp();
    let long = "line\n".repeat(700_000);
    let file = folder.file("file.txt", &long);
    folder.file("beside.txt", "secret");
    let script =
        format!("wc -c < {0}; echo short > {0}; cat {0}; ls {1}", file.display(), folder.path().display());
    let said = output(plan().rehearse().write(&file), &script);
    assert_eq!(said, format!("{}\nshort\nfile.txt\n", long.len()));
    assert_eq!(read(&file), long);
}

#[test]
fn a_folder_that_a_run_would_make_is_there_in_a_rehearsal_and_not_made() {
    let folder = Folder::outside_tmp();
    folder.file("seen/here.txt", "text");
    let top = folder.path();
    for new in [top.join("absent/deep"), top.join("seen/made/deep")] {
        let script = format!("echo x > {0}/file && cat {0}/file", new.display());
        let granted = plan().rehearse().read(top.join("seen")).write(&new);
        assert_eq!(output(granted, &script), "x\n", "{}", new.display());
        assert!(!new.exists() && !new.parent().unwrap().exists(), "{}", new.display());
    }
    // What is only read stays so, also where something below it may be written.
    let outcome = sh(
        plan().rehearse().read(top.join("seen")).write(top.join("seen/made")),
        &format!(
            "cat {0}/here.txt && ! echo x > {0}/here.txt && ! touch {0}/other && ! rm {0}/here.txt",
            top.join("seen").display()
        ),
    );
    assert!(outcome.success(), "{}", outcome.stderr.text());
}

#[test]
fn what_is_forbidden_is_hidden_in_a_rehearsal_too() {
    let folder = Folder::outside_tmp();
    let secret = folder.file("work/secret/key", "canary");
    let work = folder.path().join("work");
    let script = format!(
        "! cat {0} && ! mv {1} {2}/elsewhere && ! rm -r {1} && echo hidden",
        secret.display(),
        work.join("secret").display(),
        work.display()
    );
    let said = output(plan().rehearse().write(&work).forbid(work.join("secret")), &script);
    assert_eq!(said, "hidden\n");
}

/// Of a name with a colon, a comma or a backslash, which an overlay's own options would take apart.
#[test]
fn a_folder_may_have_any_name() {
    let folder = Folder::outside_tmp();
    for name in ["a:b", "a,b", "a\\b", "a b", "upperdir=x"] {
        let work = folder.folder(name);
        let script = "cd \"$WORK\" && echo x > file && cat file";
        let said = output(plan().rehearse().write(&work).env("WORK", work.as_os_str()), script);
        assert_eq!(said, "x\n", "{name}");
        assert!(!work.join("file").exists(), "{name}");
    }
}

#[test]
fn a_rehearsal_ends_at_its_disk_limit_and_not_at_the_hosts() {
    let folder = Folder::outside_tmp();
    let work = folder.folder("work");
    let script = format!(
        "cd {} && ! head -c 20000000 /dev/zero > big && i=0; while [ $i -lt 100 ]; do echo x > f$i || exit 7; i=$((i+1)); done",
        work.display()
    );
    sh(plan().rehearse().disk(4 << 20).write(&work), &script);
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}
