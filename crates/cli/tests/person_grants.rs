//! What a person adds to one run, and takes from it.
#![cfg(target_os = "linux")]
// A test may fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sandboxed;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use sandboxed::notes::{err, folder, folder_with, installed, prints, refused, shell};
use sandboxed::{code, text, trace};

#[test]
fn row_164_what_a_person_adds_holds_for_one_run_and_is_recorded_as_theirs() {
    let (stage, _) = installed();
    let work = folder_with(&stage, "work/in.txt", "in");
    let data = folder_with(&stage, "data/table.csv", "rows");
    let out = folder_with(&stage, "out/old", "");
    let script = format!(
        "pwd; cat in.txt {data}/table.csv; echo new > out.txt; echo x > {out}/new; echo \"$MODE $LEVEL\""
    );
    let flags = ["--workspace", &work, "--read", &data, "--write", &out, "--env", "MODE", "--env", "LEVEL=3"];
    let arguments = [&["run", "-q", "notes"], &flags[..], &["--", "sh", "-c", &script]].concat();
    let ran = stage.command(&arguments).env("MODE", "fast").output().unwrap();
    prints(&ran, &format!("{work}\ninrowsfast 3\n"));
    assert_eq!(fs::read_to_string(format!("{work}/out.txt")).unwrap(), "new\n");
    let recorded = trace(&stage.traces()[0]).to_string();
    for told in [
        "granted for this run by the person".to_owned(),
        format!("workspace {work} (read and write)"),
        format!("read {data}"),
        format!("write {out}"),
        "variable MODE".to_owned(),
        "variable LEVEL, set".to_owned(),
    ] {
        assert!(recorded.contains(&told), "{told}: {recorded}");
    }
    let history = text(&stage.run(&["history", "--format", "json"]).stdout);
    assert!(
        history.contains("granted for this run") && history.contains(&format!("read {data}")),
        "{history}"
    );
    // The next run has nothing of it.
    let next = shell(&stage, &[], &format!("cat {data}/table.csv {work}/in.txt; echo \"[$MODE]\""));
    assert_eq!(text(&next.stdout), "[]\n", "{}", err(&next));
    let network =
        stage.run(&["run", "--dry-run", "notes", "--allow-host", "api.notes.test:8443", "--", "true"]);
    assert!(text(&network.stdout).contains("api.notes.test"), "{}", text(&network.stdout));
}

#[test]
fn row_164_a_workspace_is_read_only_where_it_says_so_and_needed_where_a_manifest_names_it() {
    let (stage, source) = installed();
    let work = folder_with(&stage, "work/in.txt", "in\n");
    let read_only = format!("{work}:ro");
    let script = "cat in.txt; echo x > new 2>/dev/null || echo read-only";
    prints(&shell(&stage, &["-q", "--workspace", &read_only], script), "in\nread-only\n");
    let manifest = "skill: { name: notes, version: '1' }\npermissions: { filesystem: { write: [\"${WORKSPACE}/made\"] } }\n";
    fs::write(PathBuf::from(&source).join("skillsandbox.yaml"), manifest).unwrap();
    assert_eq!(code(&stage.run(&["update", "--force", "notes"])), 0);
    refused(&shell(&stage, &[], "true"), "--workspace");
    prints(&shell(&stage, &["-q", "--workspace", &work], "echo x > made/y && ls made"), "y\n");
    // The person's word on their own folder goes before the manifest's.
    let tried =
        shell(&stage, &["-q", "--workspace", &read_only], "echo x > made/z 2>/dev/null || echo read-only");
    prints(&tried, "read-only\n");
    // With a script of the skill's, from a workspace that has one of the same name.
    stage.write("work/scripts/show.sh", "echo STOLEN\n");
    prints(
        &stage.run(&["run", "-q", "notes", "--workspace", &work, "--", "sh", "scripts/show.sh", "in.txt"]),
        "shown in.txt\n",
    );
}

#[test]
fn row_164_no_private_place_is_granted_by_mistake() {
    let (stage, _) = installed();
    let work = folder_with(&stage, "work/in.txt", "in");
    stage.write("home/.ssh/id_ed25519", "STOLEN");
    stage.write("home/.aws/credentials", "STOLEN");
    stage.write("home/.config/skillsandbox/manifests/x/y", "");
    let at = |below: &str| stage.home().join(below).to_str().unwrap().to_owned();
    symlink(at(".ssh"), format!("{work}/keys")).unwrap();
    let (home, above) = (at(""), stage.home().parent().unwrap().to_str().unwrap().to_owned());
    let keys = format!("{work}/keys");
    let (store, config) = (at(".local/share/skillsandbox"), at(".config/skillsandbox"));
    let own = folder(&stage).to_str().unwrap().to_owned();
    let scripts = format!("{own}/scripts");
    for workspace in [
        "/",
        "/proc",
        "/dev/shm",
        "/sys",
        &home,
        &above,
        &at(".ssh"),
        &keys,
        &store,
        &config,
        &at(".local"),
        &own,
        &scripts,
        "/nonexistent",
    ] {
        refused(&shell(&stage, &["--workspace", workspace], "echo RAN"), "cannot be the workspace");
        let output = stage.run(&["exec", "--workspace", workspace, "--", "echo", "RAN"]);
        refused(&output, "cannot be the workspace");
    }
    for flag in ["--read", "--write"] {
        for path in ["/", "/proc", "/dev", &home, &above, &at(".ssh"), &at(".aws/credentials"), &keys] {
            refused(&shell(&stage, &[flag, path], "echo RAN"), "cannot be granted");
        }
    }
    for (path, below) in [(&store, "x"), (&config, "x"), (&at(".config"), "skillsandbox/x"), (&scripts, "x")]
    {
        let made = format!("{path}/{below}");
        let tried = shell(
            &stage,
            &["-q", "--write", path],
            &format!("mkdir -p {path}/skillsandbox; echo x > {made}"),
        );
        assert_ne!(code(&tried), 0, "{path}");
        assert!(!std::path::Path::new(&made).exists(), "{path}: {}", err(&tried));
    }
    let lock = at(".local/share/skillsandbox/packages.lock");
    refused(&shell(&stage, &["--write", &lock], "echo RAN"), "packages.lock");
    // The control: an ordinary folder is.
    prints(&shell(&stage, &["-q", "--read", &work], &format!("cat {work}/in.txt")), "in");
}

#[test]
fn a_link_that_a_run_left_does_not_lead_a_later_workspace_or_grant() {
    let (stage, _) = installed();
    let work = folder_with(&stage, "work/in.txt", "in");
    let vault = folder_with(&stage, "vault/key", "STOLEN");
    let left = shell(&stage, &["-q", "--workspace", &work], &format!("ln -s {vault} sub && echo left"));
    prints(&left, "left\n");
    let sub = format!("{work}/sub");
    for flag in ["--workspace", "--read", "--write"] {
        let led = shell(&stage, &[flag, &sub], &format!("cat {sub}/key {vault}/key"));
        assert!(code(&led) == 125 && !text(&led.stdout).contains("STOLEN"), "{flag}: {}", err(&led));
    }
}

#[test]
fn row_164_what_a_person_adds_is_held_to_their_policy() {
    let (stage, _) = installed();
    let (work, data) = (folder_with(&stage, "work/in.txt", "in"), folder_with(&stage, "data/x", "x"));
    let policy = stage.write(
        "policy.yaml",
        &format!(
            "permissions:\n  filesystem: {{ read: [{data}] }}\n  network: {{ egress: [] }}\n  env_vars: {{ deny: [EDITOR] }}\n"
        ),
    );
    let policy = policy.to_str().unwrap();
    let preview =
        stage.run(&["run", "--dry-run", "--policy", policy, "notes", "--allow-host", "a.test", "--", "true"]);
    assert!(text(&preview.stdout).contains("no network at all"), "{}", text(&preview.stdout));
    assert!(text(&preview.stdout).contains("narrowed by the user's policy"), "{}", text(&preview.stdout));
    refused(&shell(&stage, &["--policy", policy, "--env", "EDITOR=vi"], "echo RAN"), "EDITOR");
    refused(&shell(&stage, &["--policy", policy, "--read", &work], "echo RAN"), "work");
    refused(&shell(&stage, &["--policy", policy, "--workspace", &work], "echo RAN"), "work");
    prints(&shell(&stage, &["-q", "--policy", policy, "--read", &data], &format!("cat {data}/x")), "x");
}

#[test]
fn row_164_a_person_takes_away_for_one_run() {
    let (stage, source) = installed();
    let data = folder_with(&stage, "data/secret", "SECRET");
    let manifest = format!(
        "skill: {{ name: notes, version: '1' }}\npermissions:\n  filesystem: {{ read: [{data}] }}\n  \
         network: {{ egress: [{{ domain: a.test }}, {{ domain: '*.b.test' }}] }}\n"
    );
    let manifest = stage.write("wide.yaml", &manifest);
    let shown = |flags: &[&str]| {
        let manifest = ["--manifest", manifest.to_str().unwrap()];
        let folder = format!("{source}/");
        let arguments = [&["run", "--dry-run", &folder], &manifest[..], flags, &["--", "true"]].concat();
        let output = stage.run(&arguments);
        format!("{}{}", text(&output.stdout), err(&output))
    };
    let all = shown(&[]);
    assert!(
        all.contains("a.test port 443")
            && all.contains("*.b.test port")
            && all.contains(&format!("read  {data}")),
        "{all}"
    );
    assert!(shown(&["--no-network"]).contains("no network at all"));
    let one = shown(&["--deny-host", "x.b.test"]);
    assert!(one.contains("a.test port 443") && !one.contains("*.b.test port"), "{one}");
    let hidden = shown(&["--deny-path", &format!("{data}/secret")]);
    assert!(hidden.contains(&format!("never {data}/secret")), "{hidden}");
    // An address might be the host's.
    let addresses = shown(&["--allow-cidr", "10.0.0.0/8:443", "--deny-host", "a.test"]);
    assert!(addresses.contains("cannot be granted"), "{addresses}");
}

#[test]
fn programs_get_utf8_and_python_leaves_nothing_behind_unless_something_else_is_said() {
    let (stage, _) = installed();
    let show = "echo $LANG $PYTHONDONTWRITEBYTECODE";
    let output = |arguments: &[&str], lang: Option<&str>| {
        let mut command = stage.command(arguments);
        command.envs(lang.map(|lang| ("LANG", lang)));
        text(&command.output().unwrap().stdout)
    };
    assert_eq!(output(&["run", "-q", "notes", "--", "sh", "-c", show], None), "C.UTF-8 1\n");
    assert_eq!(
        output(&["run", "-q", "notes", "--", "sh", "-c", show], Some("de_DE.UTF-8")),
        "de_DE.UTF-8 1\n"
    );
    assert_eq!(output(&["exec", "-q", "--", "sh", "-c", show], Some("de_DE.UTF-8")), "C.UTF-8 1\n");
    assert_eq!(
        output(&["exec", "-q", "--env", "LANG", "--", "sh", "-c", show], Some("de_DE.UTF-8")),
        "de_DE.UTF-8 1\n"
    );
    let set = ["exec", "-q", "--env", "LANG=x", "--env", "PYTHONDONTWRITEBYTECODE=", "--", "sh", "-c", show];
    assert_eq!(output(&set, None), "x\n");
}

#[test]
fn row_164_a_host_that_a_person_adds_is_reached_in_that_run_and_in_no_other() {
    use std::io::{Read as _, Write as _};

    let (stage, _) = installed();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(8) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        }
    });
    let pin = format!("api.notes.test:80:{address}");
    let script = "
import urllib.request
for host in ['api.notes.test', 'other.notes.test']:
    try: print(host, urllib.request.urlopen('http://' + host + '/', timeout=5).read().decode())
    except OSError: print(host, 'failed')
";
    let reached = |flags: &[&str]| {
        let arguments = [&["run", "-q", "notes", "--resolve", &pin], flags, &["--", "python3", "-c", script]];
        let output = stage.run(&arguments.concat());
        assert_eq!(code(&output), 0, "{}", err(&output));
        text(&output.stdout).starts_with("api.notes.test hi\nother.notes.test failed\n")
    };
    assert!(reached(&["--allow-host", "api.notes.test:80"]));
    assert!(!reached(&[]));
    assert!(!reached(&["--allow-host", "api.notes.test:81"]));
    assert!(!reached(&["--allow-host", "api.notes.test:80", "--deny-host", "api.notes.test"]));
    let recorded =
        stage.traces().iter().any(|path| trace(path).to_string().contains("network api.notes.test"));
    assert!(recorded, "whose word it was");
}
