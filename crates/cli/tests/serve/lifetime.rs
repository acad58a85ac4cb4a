//! How runs end: by themselves, by their call, with the client, at a signal.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::client::{Client, World};

/// A skill that has said that it runs, and goes on with a tree of processes.
fn sleeper(world: &World) -> std::path::PathBuf {
    let started = world.path("started");
    fs::create_dir_all(&started).unwrap();
    let manifest = format!(
        "permissions: {{ filesystem: {{ write: [{}] }} }}\nresources: {{ max_runtime_seconds: 300 }}",
        started.display()
    );
    // The number is how its processes are found from outside.
    let script =
        format!("(setsid sleep 86471 &) ; sh -c 'sleep 86471' & touch {}/$1; sleep 86471", started.display());
    world.skill("sleeper", &manifest, &script);
    started
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited two minutes for {what}");
}

/// Processes of the world: those whose environment or command line names its folder, and sleepers below them, are all in the server's tree.
fn descendants(of: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, rest)) = stat.rsplit_once(')') else { continue };
        let parent = rest.split_whitespace().nth(1).and_then(|ppid| ppid.parse::<u32>().ok());
        parents.extend(parent.map(|parent| (pid, parent)));
    }
    let mut found = vec![of];
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(parents.iter().filter(|(_, parent)| *parent == above).map(|(pid, _)| *pid));
        at += 1;
    }
    found.remove(0);
    found
}

fn is_sleeper(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.windows(5).any(|part| part == b"86471"))
}

fn sleepers(of: u32) -> Vec<u32> {
    descendants(of).into_iter().filter(|pid| is_sleeper(*pid)).collect()
}

fn gone(pids: &[u32]) -> bool {
    pids.iter().all(|pid| !is_sleeper(*pid))
}

/// One that runs: its processes, as seen from outside.
fn running(client: &mut Client, started: &Path, name: &str) -> (u64, Vec<u32>) {
    let server = client.child.id();
    let before = sleepers(server);
    let id = client.ask_tool("run_skill", &json!({ "skill": "sleeper", "args": [name] }));
    wait_for("the skill to start", || started.join(name).exists());
    let mut now = Vec::new();
    wait_for("its processes", || {
        now = sleepers(server).into_iter().filter(|pid| !before.contains(pid)).collect();
        now.len() >= 3
    });
    (id, now)
}

#[test]
fn a_cancelled_call_ends_the_skill_with_its_whole_tree() {
    let world = World::new();
    let started = sleeper(&world);
    let mut client = world.serve(&[]);
    let (id, processes) = running(&mut client, &started, "one");
    client.cancel(id);
    wait_for("the tree to be gone", || gone(&processes));
    // The server goes on, and nobody hears of the cancelled call again.
    let listed = client.call("list_skills", &json!({}));
    assert!(!listed.failed());
    let (rest, code) = client.end();
    assert!(rest.iter().all(|message| message["id"] != id), "{rest:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn when_the_client_goes_away_its_skills_end_and_the_server_exits_with_0() {
    let world = World::new();
    let started = sleeper(&world);
    let mut client = world.serve(&[]);
    let (_, processes) = running(&mut client, &started, "one");
    let (_, more) = running(&mut client, &started, "two");
    let (_, code) = client.end();
    assert_eq!(code, Some(0));
    assert!(gone(&processes) && gone(&more));
}

#[test]
fn at_a_signal_its_skills_end_and_the_server_exits_with_0() {
    let world = World::new();
    let started = sleeper(&world);
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut client = world.serve(&[]);
        let (_, processes) = running(&mut client, &started, signal.as_str());
        kill(Pid::from_raw(client.child.id().try_into().unwrap()), signal).unwrap();
        // Its input is still open: the signal is what ends it.
        while client.message().is_some() {}
        assert_eq!(client.child.wait().unwrap().code(), Some(0));
        assert!(gone(&processes));
    }
}

#[test]
fn a_signal_before_the_beginning_ends_it_too() {
    let world = World::new();
    let mut client = Client::start(&mut world.command(&["serve", "--root", world.root().to_str().unwrap()]));
    // It answers, so it listens for signals already.
    let early = client.request("tools/list", &json!({}));
    assert!(early["error"].is_object());
    kill(Pid::from_raw(client.child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert!(client.message().is_none());
    assert_eq!(client.child.wait().unwrap().code(), Some(0));
    // And one whose client says nothing at all.
    let client = Client::start(&mut world.command(&["serve", "--root", world.root().to_str().unwrap()]));
    assert_eq!(client.end(), (Vec::new(), Some(0)));
}

#[test]
fn a_storm_of_cancellations_leaves_nothing_behind() {
    let world = World::new();
    let started = sleeper(&world);
    let mut client = world.serve(&["--max-concurrent", "2"]);
    let server = client.child.id();
    for round in 0..6 {
        let ids: Vec<u64> = (0..12)
            .map(|call| {
                let name = format!("{round}-{call}");
                client.ask_tool("run_skill", &json!({ "skill": "sleeper", "args": [name] }))
            })
            .collect();
        if round % 2 == 0 {
            let any = || fs::read_dir(&started).unwrap().count() > 0;
            wait_for("one to start", any);
        }
        for id in ids {
            client.cancel(id);
            // Twice, and one that never was.
            client.cancel(id);
            client.cancel(1_000_000 + id);
        }
        for entry in fs::read_dir(&started).unwrap().flatten() {
            let _ = fs::remove_file(entry.path());
        }
    }
    wait_for("all to be gone", || sleepers(server).is_empty());
    // Its places are free again.
    let (id, processes) = running(&mut client, &started, "after");
    let (other, more) = running(&mut client, &started, "another");
    client.cancel(id);
    client.cancel(other);
    wait_for("both to be gone", || gone(&processes) && gone(&more));
    assert_eq!(client.end().1, Some(0));
}

#[test]
fn no_more_run_at_a_time_than_asked_for() {
    let world = World::new();
    let busy = world.path("busy");
    fs::create_dir(&busy).unwrap();
    let manifest = format!("permissions: {{ filesystem: {{ write: [{}] }} }}", busy.display());
    let script =
        format!("mkdir {0}/$1; ls {0} | wc -l; sleep 0.3; ls {0} | wc -l; rmdir {0}/$1", busy.display());
    world.skill("counts", &manifest, &script);
    let mut client = world.serve(&["--max-concurrent", "3"]);
    let ids: Vec<u64> = (0..12)
        .map(|call| client.ask_tool("run_skill", &json!({ "skill": "counts", "args": [format!("{call}")] })))
        .collect();
    let mut most = 0;
    for id in ids {
        let called = client.called(id);
        assert!(!called.failed(), "{called:?}");
        let seen = called.stdout().lines().map(|line| line.trim().parse::<u32>().unwrap()).max().unwrap();
        most = most.max(seen);
    }
    assert!((2..=3).contains(&most), "{most} at a time");
}

#[test]
fn the_servers_limit_of_time_is_a_ceiling() {
    let world = World::new();
    world.skill("slow", "resources: { max_runtime_seconds: 300 }", "echo begun; sleep 250; echo never");
    world.skill("quick", "resources: { max_runtime_seconds: 1 }", "sleep 250");
    let mut client = world.serve(&["--timeout", "2"]);
    let slow = client.ask_tool("run_skill", &json!({ "skill": "slow" }));
    let quick = client.ask_tool("run_skill", &json!({ "skill": "quick" }));
    for id in [slow, quick] {
        let called = client.called(id);
        assert!(called.failed() && called.data()["status"] == "timeout", "{called:?}");
        assert!(called.text().contains("max_runtime_seconds"), "{called:?}");
        let expected = if id == slow { 2_000 } else { 1_000 };
        assert!(called.data()["duration_ms"].as_u64().unwrap() >= expected, "{called:?}");
    }
}

#[test]
fn whoever_asks_is_told_how_far_a_run_is() {
    let world = World::new();
    fs::write(world.path("secret"), "").unwrap();
    world.skill("slow", "", &format!("cat {}; sleep 2", world.path("secret").display()));
    let mut client = world.serve(&[]);
    let params = json!({ "name": "run_skill", "arguments": { "skill": "slow" }, "_meta": { "progressToken": "mine" } });
    let id = client.ask("tools/call", &params);
    assert_eq!(client.called(id).data()["status"], "success");
    let told: Vec<_> =
        client.aside.iter().filter(|message| message["method"] == "notifications/progress").collect();
    assert!(!told.is_empty() && told.len() <= 60, "{told:?}");
    let mut before = 0.0;
    for message in &told {
        assert_eq!(message["params"]["progressToken"], "mine");
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > before, "{told:?}");
        before = progress;
    }
    let last = told.last().unwrap()["params"]["message"].as_str().unwrap();
    assert!(last.ends_with("1 denied") && !last.starts_with("0 events"), "{last}");
    // Nobody is told who did not ask.
    client.aside.clear();
    client.call("run_skill", &json!({ "skill": "slow" }));
    assert!(client.aside.is_empty(), "{:?}", client.aside);
}
