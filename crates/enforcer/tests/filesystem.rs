//! What exists for a confined command, and what it may do with it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;

use common::{Folder, output, plan, read, sh};
use skillsandbox_enforcer::{Command, Plan, PlanBuilder};

/// Whether a path can be read outside and not inside, and what is said inside.
fn unreachable(host: &std::path::Path) -> bool {
    assert!(fs::metadata(host).is_ok(), "control: {} is there outside", host.display());
    let script = format!("cat '{0}' || ls '{0}' || test -e '{0}'", host.display());
    !sh(plan(), &script).success()
}

#[test]
fn row_100_what_was_not_granted_does_not_exist() {
    let home = Folder::new();
    for name in [".ssh/id_ed25519", ".aws/credentials", "project/.env"] {
        let secret = home.file(name, "canary");
        assert!(unreachable(&secret), "{name}");
    }
    for path in ["/etc/hostname", "/root", "/var/lib/dpkg", "/var/log", "/etc/shadow", "/sys/kernel", "/boot"]
    {
        let path = std::path::Path::new(path);
        if path.exists() {
            assert!(unreachable(path), "{}", path.display());
        }
    }
    let root = output(plan(), "ls -A /");
    let expected = [
        "bin", "dev", "etc", "home", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "tmp", "usr",
        "var",
    ];
    assert!(root.lines().all(|name| expected.contains(&name)), "{root}");
}

/// The nodes are the host's: without capabilities, too, they belong to root, and so does a run that root starts.
#[test]
fn devices_of_the_host_cannot_be_changed_from_inside() {
    let nodes = "/dev/null /dev/zero /dev/full /dev/random /dev/urandom";
    // To the mode that they have: where it is not refused, nothing is broken.
    let script = format!(
        "for node in {nodes} /proc/self/fd/0; do chmod 666 $node && echo changed; chown $(id -u) $node && echo changed; \
         touch -c $node && echo changed; done; \
         echo x > /dev/null && test $(head -c 3 /dev/zero | wc -c) = 3 && head -c 1 /dev/urandom > /dev/null && ! echo x > /dev/full && echo works"
    );
    assert_eq!(output(plan(), &script), "works\n");
    // The control: root may, outside.
    if is_root() {
        let outside = std::process::Command::new("chmod").args(["666", "/dev/full"]).status().unwrap();
        assert!(outside.success());
    }
}

/// Each kernel has others, so the test asks for all of them.
#[test]
fn files_of_proc_that_are_for_root_alone_are_out_of_reach_of_a_run_of_root() {
    let script = "for file in $(find /proc -path '/proc/[0-9]*' -prune -o -path /proc/sys/net -prune -o -type f ! -perm -o+r -print 2>&-) \
                  /proc/pagetypeinfo /proc/slabinfo /proc/tty/driver/serial /proc/sys/kernel/cad_pid; do \
                  timeout 2 head -c 1 $file > /dev/null 2>&1 && echo $file; done; head -c 1 /proc/meminfo > /dev/null && echo works";
    assert_eq!(output(plan(), script), "works\n");
    if is_root() {
        let outside = |path: &str| fs::read(path).is_ok_and(|text| !text.is_empty());
        assert!(outside("/proc/slabinfo") || outside("/proc/pagetypeinfo"), "the control: root may, outside");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

#[test]
fn row_101_writing_outside_the_grants_fails() {
    let outside = Folder::new();
    let file = outside.file("kept", "before");
    let granted = outside.folder("granted");
    let readable = outside.folder("readable");
    let script = format!(
        "echo x > '{0}'; echo x > '{1}/new'; echo x > /usr/new; echo x > /etc/new; echo x > /new; echo x > /proc/sys/kernel/core_pattern; \
         rm '{0}'; mv '{1}' '{1}2'; chmod 777 '{1}'; touch '{1}'; ln '{0}' '{2}/link'; echo in > '{2}/in'",
        file.display(),
        readable.display(),
        granted.display()
    );
    let outcome = sh(plan().read(&readable).write(&granted), &script);
    assert!(
        outcome.stderr.text().matches("ermission denied").count()
            + outcome.stderr.text().matches("Read-only").count()
            >= 4,
        "{}",
        outcome.stderr.text()
    );
    assert_eq!(read(&file), "before");
    assert!(fs::read_dir(&readable).unwrap().next().is_none());
    // The control: what was granted can be written.
    assert_eq!(read(&granted.join("in")), "in\n");
    assert_eq!(fs::read_dir(&granted).unwrap().count(), 1);
}

#[test]
fn row_102_write_grants_keep_and_read_grants_are_read_only() {
    let folder = Folder::new();
    let (readable, writable) = (folder.file("r/data", "seen"), folder.folder("w"));
    let single = folder.file("single", "old");
    let plan = plan().read(readable.parent().unwrap()).write(&writable).write(&single);
    let script = format!(
        "cat '{0}'; echo kept > '{1}/kept'; echo new > '{2}'; mkdir '{1}/sub' && echo y > '{1}/sub/z'; mv '{1}/sub/z' '{1}/z'; \
         ! echo x >> '{0}' 2>/dev/null",
        readable.display(),
        writable.display(),
        single.display()
    );
    assert_eq!(output(plan, &script), "seen");
    assert_eq!(read(&writable.join("kept")), "kept\n");
    assert_eq!(read(&writable.join("z")), "y\n");
    assert_eq!(read(&single), "new\n");
    assert_eq!(read(&readable), "seen");
}

#[test]
fn row_103_home_and_the_other_folders_exist_are_private_and_are_gone_afterwards() {
    let script = "for d in \"$HOME\" \"$TMPDIR\" \"$XDG_CONFIG_HOME\" \"$XDG_CACHE_HOME\" \"$XDG_DATA_HOME\" \"$XDG_STATE_HOME\" \
                  \"$XDG_RUNTIME_DIR\" /dev/shm /var/tmp; do test -d \"$d\" && echo x > \"$d/canary-103\" || echo \"missing $d\"; done; \
                  stat -c %a \"$XDG_RUNTIME_DIR\"; ls -A /tmp";
    assert_eq!(output(plan(), script), "700\ncanary-103\n");
    for folder in ["/tmp", "/dev/shm", "/var/tmp"] {
        assert!(!std::path::Path::new(folder).join("canary-103").exists());
    }
    // Nothing of one run is there in the next.
    assert_eq!(
        output(plan(), "ls -A /tmp $TMPDIR/ /dev/shm | grep canary; ls -A $HOME | grep canary; true"),
        ""
    );
}

/// The root is the end of every path upwards, and no file system of the host's root is left, not even below another mount.
#[test]
fn row_104_nothing_of_the_hosts_root_is_left() {
    let text = output(
        plan(),
        "stat -c %d:%i / /.. /../.. /../../usr/..; ls -A /run; ls -A /.. | sort | md5sum; ls -A / | sort | md5sum",
    );
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1..4].iter().all(|line| *line == lines[0]), "{text}");
    assert_eq!(lines[4], lines[5], "/run is empty, and the root is its own parent: {text}");
    let mounts = output(plan(), "cut -d' ' -f4,5,8 /proc/self/mountinfo");
    let roots: Vec<&str> = mounts.lines().filter(|line| line.starts_with("/ / ")).collect();
    assert_eq!(roots, ["/ / tmpfs"], "{mounts}");
}

#[test]
fn row_104_the_mount_namespace_is_its_own() {
    let own = fs::read_link("/proc/self/ns/mnt").unwrap();
    let inside = output(plan(), "readlink /proc/self/ns/mnt");
    assert_ne!(own.to_str().unwrap(), inside.trim());
    // The root is ours alone: no mount of the host is left, and nothing can be mounted.
    let mounts = output(plan(), "cut -d' ' -f5 /proc/self/mountinfo");
    assert!(
        !mounts
            .lines()
            .any(|mount| mount.starts_with("/sys") || mount == "/dev" || mount.starts_with("/run/")),
        "{mounts}"
    );
    assert!(!sh(plan(), "mount -t tmpfs none /tmp").success());
    assert!(!sh(plan(), "umount /proc").success());
}

#[test]
fn row_105_landlock_holds_what_mounts_do_not() {
    // A descriptor of a host's folder leads past every mount. It is handed over as standard input, the one way there is.
    let folder = Folder::new();
    let secret = folder.file("secret", "canary");
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["helper_read_through_stdin", "--exact", "--ignored", "--nocapture"]);
    let said = again.stdin(fs::File::open(folder.path()).unwrap()).output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(text.contains("outside: canary"), "control: {text}");
    assert!(text.contains("inside: cat: /proc/self/fd/0/secret: Permission denied"), "{text}");
    assert_eq!(read(&secret), "canary");
}

#[test]
#[ignore = "run by another test, with a folder as its standard input"]
fn helper_read_through_stdin() {
    println!("outside: {}", read(std::path::Path::new("/proc/self/fd/0/secret")));
    let command =
        Command::new("/bin/sh").args(["-c", "cat /proc/self/fd/0/secret; echo x > /proc/self/fd/0/secret"]);
    let outcome = common::run(plan(), &command.stdin(skillsandbox_enforcer::StdinMode::Inherited));
    println!("inside: {}{}", outcome.stdout.text(), outcome.stderr.text());
}

#[test]
fn row_105_what_is_needed_still_works_under_landlock() {
    let folder = Folder::new();
    let granted = folder.folder("granted");
    let script = "ls / > /dev/null && echo listed; cat /proc/self/attr/current > /dev/null 2>&1; \
                  echo x > /proc/self/comm 2>/dev/null || echo 'proc is read-only'; \
                  : > /dev/null && echo 'null can be written'";
    assert_eq!(output(plan().write(&granted), script), "listed\nproc is read-only\nnull can be written\n");
}

#[test]
fn row_106_the_skills_own_files_cannot_be_changed_even_below_a_write_grant() {
    let folder = Folder::new();
    let manifest = folder.file("projects/deep/skill/skillsandbox.yaml", "original");
    let trace = folder.file("projects/trace.json", "trace");
    let skill = manifest.parent().unwrap();
    let projects = folder.path().join("projects");
    let script = format!(
        "cd '{0}'; echo x > deep/skill/skillsandbox.yaml; rm -f deep/skill/skillsandbox.yaml; mv deep/skill deep/old; mv deep old; \
         rm -rf deep; mkdir -p deep/skill; echo evil > deep/skill/skillsandbox.yaml; echo x > trace.json; mv trace.json t; \
         ln -f deep/skill/skillsandbox.yaml l; chmod 777 deep/skill; echo control > control",
        projects.display()
    );
    sh(plan().write(&projects).read(skill).read(&trace), &script);
    assert_eq!(read(&manifest), "original");
    assert_eq!(read(&trace), "trace");
    assert_eq!(read(&projects.join("control")), "control\n");
    assert!(!projects.join("old").exists());
}

#[test]
fn row_107_links_are_followed_and_both_names_work() {
    let folder = Folder::new();
    let real = folder.file("real/data", "seen").parent().unwrap().to_owned();
    let link = folder.path().join("link");
    symlink(&real, &link).unwrap();
    let far = folder.path().join("far");
    symlink("link", &far).unwrap();
    let script =
        format!("cat '{0}/data' '{1}/data' '{2}/data'", real.display(), link.display(), far.display());
    assert_eq!(
        output(plan().read(&far), &format!("cat '{}/data' '{}/data'", far.display(), real.display())),
        "seenseen"
    );
    assert_eq!(output(plan().read(&link).read(&far), &script), "seenseenseen");
}

#[test]
fn what_was_looked_at_before_is_not_followed_where_it_has_become_a_link() {
    let folder = Folder::new();
    let real = folder.file("real/data", "seen").parent().unwrap().to_owned();
    assert_eq!(output(plan().read_as_named(&real), &format!("cat '{}/data'", real.display())), "seen");
    let outside = folder.file("outside/data", "OUTSIDE").parent().unwrap().to_owned();
    fs::rename(&real, folder.path().join("moved")).unwrap();
    symlink(&outside, &real).unwrap();
    let script = format!("cat '{}/data'", real.display());
    assert_eq!(
        output(plan().read(&real), &script),
        "OUTSIDE",
        "the control: a link that was granted is followed"
    );
    let refused = |plan: PlanBuilder| {
        plan.build().unwrap().spawn(&Command::new("/bin/true")).expect_err("it was followed").to_string()
    };
    let error = refused(plan().read_as_named(&real));
    assert!(error.contains("a link has taken its place"), "{error}");
    // A link further up is one, too.
    let through = folder.path().join("up");
    symlink(folder.path(), &through).unwrap();
    refused(plan().read_as_named(through.join("outside")));
}

#[test]
fn a_write_grant_that_leads_elsewhere_than_when_it_was_judged_is_refused() {
    let folder = Folder::new();
    let (judged, other) = (folder.path().join("judged"), folder.path().join("other"));
    fs::create_dir(&judged).unwrap();
    fs::create_dir(&other).unwrap();
    let link = folder.path().join("link");
    symlink(&judged, &link).unwrap();
    let grant = link.join("new");
    let granted = || plan().write(&grant).leads_to(&grant, judged.join("new"));
    output(granted(), &format!("echo x > '{}/x'", grant.display()));
    assert!(judged.join("new/x").exists(), "the control: it leads where it was judged");
    fs::remove_file(&link).unwrap();
    symlink(&other, &link).unwrap();
    let refused = || {
        let plan = granted().build().unwrap();
        plan.spawn(&Command::new("/bin/true")).expect_err("it was followed").to_string()
    };
    assert!(refused().contains("it leads to"), "{}", refused());
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0, "nothing was made there");
    fs::create_dir(other.join("new")).unwrap();
    assert!(refused().contains("it leads to"), "one that is there is no other");
}

#[test]
fn row_107_a_link_to_what_no_grant_may_name_is_refused() {
    let folder = Folder::new();
    for (name, target) in [("root", "/"), ("proc", "/proc/self"), ("dev", "/dev")] {
        let link = folder.path().join(name);
        symlink(target, &link).unwrap();
        let error = plan().read(&link).build().unwrap().spawn(&Command::new("/bin/true")).unwrap_err();
        assert!(error.to_string().contains("cannot be granted"), "{error}");
    }
    let secret = folder.file("secret/key", "canary");
    let link = folder.path().join("innocent");
    symlink(secret.parent().unwrap(), &link).unwrap();
    let plan = plan().read(&link).forbid(secret.parent().unwrap()).build().unwrap();
    let error = plan.spawn(&Command::new("/bin/true")).unwrap_err();
    assert!(error.to_string().contains("is forbidden"), "{error}");
}

#[test]
fn row_107_a_link_that_a_run_left_behind_does_not_lead_the_next_one_out() {
    let folder = Folder::new();
    let secret = folder.file("secret/key", "canary");
    let writable = folder.folder("w");
    symlink(secret.parent().unwrap(), writable.join("sub")).unwrap();
    let plan = plan().write(&writable).write(writable.join("sub")).build().unwrap();
    let error = plan.spawn(&Command::new("/bin/true")).unwrap_err();
    assert!(error.to_string().contains("a link in a folder that the run may write"), "{error}");
}

#[test]
fn forbidden_paths_below_a_grant_are_hidden() {
    let folder = Folder::new();
    let secret = folder.file("home/.ssh/id", "canary");
    let env = folder.file("home/project/.env", "canary");
    let open = folder.file("home/project/main.py", "open");
    let home = folder.path().join("home");
    for granted in [plan().read(&home), plan().write(&home)] {
        let plan = granted.forbid(home.join(".ssh")).forbid(&env);
        let script = format!(
            "cat '{0}'; cat '{1}'; ls '{2}/.ssh'; mv '{2}/.ssh' '{2}/x'; mv '{2}/project' '{2}/y'; rm -rf '{2}/.ssh'; chmod 777 '{2}/.ssh'; \
             cat '{3}'",
            secret.display(),
            env.display(),
            home.display(),
            open.display()
        );
        let outcome = sh(plan, &script);
        assert_eq!(outcome.stdout.text(), "open", "{}", outcome.stderr.text());
        assert_eq!(read(&secret), "canary");
        assert_eq!(read(&env), "canary");
    }
}

#[test]
fn unix_sockets_in_a_grant_are_hidden() {
    use std::os::unix::net::{UnixDatagram, UnixListener};
    let folder = Folder::new();
    let (read, write) = (folder.folder("r"), folder.folder("w/deep"));
    let stream = UnixListener::bind(read.join("agent.sock")).unwrap();
    let _datagram = UnixDatagram::bind(write.join("bus.sock")).unwrap();
    // By another name than the one it is granted by.
    symlink(&read, folder.path().join("other")).unwrap();
    let _other = UnixListener::bind(folder.path().join("other/linked.sock")).unwrap();
    let connect = |path: &std::path::Path| {
        format!(
            "use IO::Socket::UNIX; print IO::Socket::UNIX->new(Peer => '{}') ? 'connected' : 'no';",
            path.display()
        )
    };
    let control =
        std::process::Command::new("/usr/bin/perl").args(["-e", &connect(&read.join("agent.sock"))]).output();
    assert_eq!(control.unwrap().stdout, b"connected", "control");
    stream.accept().unwrap();
    for path in [read.join("agent.sock"), read.join("linked.sock"), write.join("bus.sock")] {
        let plan = plan().read(&read).write(folder.path().join("w"));
        let outcome = common::run(plan, &Command::new("/usr/bin/perl").args(["-e", &connect(&path)]));
        assert_eq!(outcome.stdout.text(), "no", "{}", path.display());
    }
}

/// Root's group is not handed on with the files that a run of root's leaves behind.
#[test]
fn what_root_leaves_behind_is_not_of_roots_group() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::new();
    let script = format!(
        "cp /bin/true '{0}/p'; chmod 2755 '{0}/p'; chmod 4755 '{0}/p'; true",
        folder.path().display()
    );
    output(plan().write(folder.path()), &script);
    let left = fs::metadata(folder.path().join("p")).unwrap();
    assert!(left.gid() != 0 || left.mode() & 0o2000 == 0, "mode {:o}, group {}", left.mode(), left.gid());
    assert_eq!(left.mode() & 0o4000, 0);
}

#[test]
fn a_forbidden_path_that_could_be_made_is_refused() {
    let folder = Folder::new();
    let plan = plan().write(folder.path()).forbid(folder.path().join("later")).build().unwrap();
    let error = plan.spawn(&Command::new("/bin/true")).unwrap_err();
    assert!(error.to_string().contains("the run could create it"), "{error}");
    // Where nothing can be made there, there is nothing to hide.
    let plan = common::plan().read(folder.path()).forbid(folder.path().join("later"));
    assert_eq!(output(plan, "echo fine"), "fine\n");
}

#[test]
fn a_missing_write_grant_is_made_and_a_missing_read_grant_is_an_error() {
    let folder = Folder::new();
    let missing = folder.path().join("a/b");
    assert_eq!(
        output(plan().write(&missing), &format!("echo x > '{}/c'; echo done", missing.display())),
        "done\n"
    );
    assert_eq!(read(&missing.join("c")), "x\n");
    let error = plan().read(folder.path().join("none")).build().unwrap().spawn(&Command::new("/bin/true"));
    assert!(error.unwrap_err().to_string().contains("none"));
}

#[test]
fn grants_below_private_and_system_folders_work() {
    let folder = Folder::new();
    // Temporary folders are below /tmp, where the sandbox has its own.
    let data = folder.file("data", "seen");
    let script = format!("cat '{}'; echo x > /tmp/private; ls -A /tmp | grep -c private", data.display());
    assert_eq!(output(plan().read(&data), &script), "seen1\n");
    assert!(!std::path::Path::new("/tmp/private").exists());
}

#[test]
fn no_exec_is_a_setting() {
    let folder = Folder::new();
    let script = format!(
        "cp /bin/true '{0}/p' && '{0}/p' && echo ran; cp /bin/true /tmp/p && /tmp/p && echo ran; true",
        folder.path().display()
    );
    assert_eq!(output(plan().write(folder.path()), &script), "ran\nran\n");
    assert_eq!(output(plan().write(folder.path()).no_exec(), &script), "");
}

#[test]
fn plans_that_contradict_themselves_are_refused() {
    for (plan, says) in [
        (Plan::builder().read("relative"), "relative"),
        (Plan::builder().write("/a/../b"), "upwards"),
        (Plan::builder().read("/"), "root of the file system"),
        (Plan::builder().read("/proc/1"), "cannot be granted"),
        (Plan::builder().write("/dev/sda"), "cannot be granted"),
        (Plan::builder().read("/a/b").forbid("/a"), "forbidden"),
        (Plan::builder().memory(0), "memory is 0"),
        (Plan::builder().best_effort(skillsandbox_enforcer::Layer::Mounts), "cannot be best-effort"),
    ] {
        let error = plan.build().unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn the_working_directory_is_in_a_grant_or_the_private_home() {
    let folder = Folder::new();
    assert_eq!(output(plan(), "pwd"), "/home/skill\n");
    let inside = output(plan().read(folder.path()).workdir(folder.path()), "pwd");
    assert_eq!(inside.trim(), folder.path().to_str().unwrap());
    let error = plan().workdir(folder.path()).build().unwrap().spawn(&Command::new("/bin/true")).unwrap_err();
    assert!(error.to_string().contains("is not in a grant"), "{error}");
}

#[test]
fn a_link_to_what_is_forbidden_cannot_be_put_to_another_use() {
    let folder = Folder::new();
    let secret = folder.file("kept/secret", "canary");
    let link = folder.path().join("secrets");
    symlink("kept", &link).unwrap();
    // The run could remove the link and make a folder there, which the next run would have hidden instead of the secret.
    let command = Command::new("/bin/true");
    let refused = plan().write(folder.path()).forbid(&link).build().unwrap().spawn(&command).unwrap_err();
    assert!(refused.to_string().contains("forbid what it leads to"), "{refused}");
    // By its own name it is hidden, and a link that cannot be written is as good.
    let script = format!("cat '{}'", secret.display());
    assert!(!sh(plan().write(folder.path()).forbid(secret.parent().unwrap()), &script).success());
    assert!(!sh(plan().read(folder.path()).forbid(&link), &script).success());
    assert!(sh(plan().read(folder.path()), &script).success(), "control");
}

#[test]
fn no_folder_is_made_where_a_link_of_an_earlier_run_leads() {
    let (granted, elsewhere) = (Folder::new(), Folder::new());
    assert!(
        sh(
            plan().write(granted.path()),
            &format!("ln -s '{}' '{}/out'", elsewhere.path().display(), granted.path().display())
        )
        .success()
    );
    let wanted = granted.path().join("out/new");
    let plan = plan().write(granted.path()).write(&wanted).build().unwrap();
    let refused = plan.spawn(&Command::new("/bin/true")).unwrap_err();
    assert!(refused.to_string().contains("grant what it leads to"), "{refused}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "made before it was refused");
}

#[test]
fn nothing_is_made_for_a_grant_that_is_forbidden() {
    let folder = Folder::new();
    let kept = folder.folder("kept");
    let link = folder.path().join("link");
    symlink(&kept, &link).unwrap();
    let plan = plan().write(link.join("new")).forbid(&kept).build().unwrap();
    plan.spawn(&Command::new("/bin/true")).unwrap_err();
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 0);
}

#[test]
fn var_can_be_granted_and_the_folder_of_all_homes_says_why_not() {
    assert_eq!(output(plan().read("/var"), "ls -d /var/tmp /tmp"), "/tmp\n/var/tmp\n");
    let refused = plan().read("/home").build().unwrap_err();
    assert!(refused.to_string().contains("Name the folders in it"), "{refused}");
}

/// What is mounted over a root is not seen at `/`, but the kernel finds it at `/..`. Landlock asks nobody about `chmod`.
#[test]
fn the_hosts_root_is_not_above_the_sandboxs() {
    let folder = Folder::new();
    let file = folder.file("of-the-host", "canary");
    let before = fs::metadata(&file).unwrap().permissions();
    let script = format!(
        "stat -c %d:%i / /.. /../.. /proc/self/root/.. | sort -u | wc -l; cat /proc/self/mountinfo | cut -d' ' -f5 | grep -cx /; \
         chmod 000 '/..{0}'; test -e '/..{0}' && echo there; ls -A / > /tmp/a; ls -A /.. > /tmp/b; cmp /tmp/a /tmp/b && echo same",
        file.display()
    );
    assert_eq!(sh(plan(), &script).stdout.text(), "1\n1\nsame\n");
    assert_eq!(fs::metadata(&file).unwrap().permissions(), before);
}
