//! The table fails where something is not as it should be: real evidence, changed in one place at a time, and judged by the program.

use serde_json::{Value, json};

use crate::shown::{Shown, demo};

struct Change {
    what: &'static str,
    /// The row that must be wrong.
    row: &'static str,
    make: fn(&mut Value),
}

fn planted(evidence: &Value, place: &str) -> String {
    evidence.pointer(place).unwrap().as_str().unwrap().to_owned()
}

fn push(evidence: &mut Value, list: &str, what: Value) {
    evidence.pointer_mut(list).unwrap().as_array_mut().unwrap().push(what);
}

fn set(evidence: &mut Value, place: &str, what: Value) {
    *evidence.pointer_mut(place).unwrap_or_else(|| panic!("no {place}")) = what;
}

/// Takes out of a list what matches.
fn drop(evidence: &mut Value, list: &str, unwanted: impl Fn(&Value) -> bool) {
    let list = evidence.pointer_mut(list).unwrap().as_array_mut().unwrap();
    let before = list.len();
    list.retain(|item| !unwanted(item));
    assert_ne!(list.len(), before, "nothing was taken out");
}

const EVENTS: &str = "/with/trace/Ok/events";
const CLASSES: &str = "/with/trace/Ok/violation_summary/classifications";

/// As Base32, in a name: what DNS would have carried.
fn spelt(secret: &str) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let bits: String = secret.bytes().map(|byte| format!("{byte:08b}")).collect();
    let groups: Vec<String> =
        bits.as_bytes().chunks(5).map(|five| format!("{:0<5}", String::from_utf8_lossy(five))).collect();
    groups.iter().map(|five| char::from(LETTERS[usize::from_str_radix(five, 2).unwrap()])).collect()
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn changes() -> Vec<Change> {
    let change = |what, row, make| Change { what, row, make };
    vec![
        change("a variable arrived", "secrets in variables", |e| {
            let secret = planted(e, "/planted/variables/2/1");
            push(e, "/with/arrived/requests", format!("/\n{secret}").into());
        }),
        change("a variable arrived by name", "secrets in variables", |e| {
            let name = format!("0.{}.exfil.test", spelt(&planted(e, "/planted/variables/2/1")));
            push(e, "/with/arrived/names", name.into());
        }),
        change("a file arrived", "credential files", |e| {
            let secret = planted(e, "/planted/files/1/1");
            push(e, "/with/arrived/requests", format!("/\n{secret}").into());
        }),
        change("the agent's own arrived", "the agent's own variables", |e| {
            let secret = planted(e, "/planted/agents_own");
            push(e, "/with/arrived/requests", format!("/?{secret}\n").into());
        }),
        change("an empty request arrived", "sent over HTTPS", |e| {
            push(e, "/with/arrived/requests", "/\n".into());
        }),
        change("one name arrived", "sent as names", |e| {
            push(e, "/with/arrived/names", "x.exfil.test".into());
        }),
        change("one name arrived in all", "at the sink in all", |e| {
            push(e, "/with/arrived/names", "x.exfil.test".into());
        }),
        change("a file was left", "stashed on the disk", |e| push(e, "/with/stashed", "/tmp/x".into())),
        change("the sink heard no visitor", "at the sink in all", |e| {
            set(e, "/with/arrived/visitors", 0.into());
        }),
        change("the sink heard no question", "at the sink in all", |e| {
            set(e, "/with/arrived/asking_visitors", 0.into());
        }),
        change("nobody visited", "at the sink in all", |e| set(e, "/visits", 0.into())),
        change("nothing was sent without", "sent over HTTPS", |e| {
            set(e, "/without/arrived/requests", json!([]));
        }),
        change("no names without", "sent as names", |e| set(e, "/without/arrived/names", json!([]))),
        change("no stash without", "stashed on the disk", |e| set(e, "/without/stashed", json!([]))),
        change("a file did not arrive without", "credential files", |e| {
            let secret = planted(e, "/planted/files/0/1");
            let body = planted(e, "/without/arrived/requests/0").replace(&secret, "");
            set(e, "/without/arrived/requests/0", body.into());
            set(e, "/without/arrived/names", json!([]));
        }),
        change("nothing was planted", "credential files", |e| set(e, "/planted/files", json!([]))),
        change("there is no trace", "credential files", |e| set(e, "/with/trace", json!({"Err": "gone"}))),
        change("variables are not on record", "secrets in variables", |e| {
            drop(e, EVENTS, |event| event["subject"] == "environment");
        }),
        change("files are not on record", "credential files", |e| {
            drop(e, EVENTS, |event| event["path"].as_str().is_some_and(|path| path.ends_with("/.netrc")));
        }),
        change("a file is on record as read", "credential files", |e| {
            for event in e.pointer_mut(EVENTS).unwrap().as_array_mut().unwrap() {
                if event["path"].as_str().is_some_and(|path| path.ends_with("/.aws/credentials")) {
                    event["verdict"] = "allowed".into();
                }
            }
        }),
        change("the stash is on record as written", "stashed on the disk", |e| {
            for event in e.pointer_mut(EVENTS).unwrap().as_array_mut().unwrap() {
                if event["path"].as_str().is_some_and(|path| path.ends_with("malicious-weather/.weather")) {
                    event["verdict"] = "allowed".into();
                }
            }
        }),
        change("harvesting is not classified", "credential files", |e| {
            drop(e, CLASSES, |class| class["class"] == "credential_harvesting");
        }),
        change("exfiltration is not classified", "sent over HTTPS", |e| {
            drop(e, CLASSES, |class| class["class"] == "credential_exfiltration");
        }),
        change("tunnelling is not classified", "sent as names", |e| {
            drop(e, CLASSES, |class| class["class"] == "dns_tunnelling");
        }),
        change("it is not called an attack", "at the sink in all", |e| {
            drop(e, CLASSES, |class| class["class"] == "supply_chain_attack");
        }),
        change("a technique is missing", "credential files", |e| {
            for class in e.pointer_mut(CLASSES).unwrap().as_array_mut().unwrap() {
                class["techniques"]
                    .as_array_mut()
                    .unwrap()
                    .retain(|technique| technique["id"] != "T1552.004");
            }
        }),
        change("it was not prevented", "sent as names", |e| {
            for class in e.pointer_mut(CLASSES).unwrap().as_array_mut().unwrap() {
                class["prevented"] = false.into();
            }
        }),
        change("not all was prevented", "at the sink in all", |e| {
            set(e, "/with/trace/Ok/violation_summary/all_prevented", false.into());
        }),
        change("the trace is not complete", "at the sink in all", |e| {
            set(e, "/with/trace/Ok/violation_summary/complete", false.into());
        }),
        change("the agent gets something else from the thief", "what the agent gets", |e| {
            set(e, "/with/ran/output", "{}".into());
        }),
        change("the agent gets something else", "what the agent gets", |e| {
            set(e, "/honest/ran/output", "{}".into());
        }),
        change("the honest skill fails", "what the agent gets", |e| set(e, "/honest/ran/code", 1.into())),
        change("the weather is an old one", "what the agent gets", |e| {
            for who in ["without", "with", "honest"] {
                let place = format!("/{who}/ran/output");
                let mut weather: Value = serde_json::from_str(&planted(e, &place)).unwrap();
                weather["cached"] = true.into();
                set(e, &place, weather.to_string().into());
            }
        }),
        change("the honest skill is accused", "what the agent gets", |e| {
            let class = e.pointer(CLASSES).unwrap()[0].clone();
            push(e, "/honest/trace/Ok/violation_summary/classifications", class);
        }),
        change("the honest skill was refused something", "what the agent gets", |e| {
            let events = e.pointer(EVENTS).unwrap().as_array().unwrap();
            let refused = events.iter().find(|event| event["verdict"] == "denied").unwrap().clone();
            push(e, "/honest/trace/Ok/events", refused);
        }),
        change("the honest skill reached nobody", "what the agent gets", |e| {
            drop(e, "/honest/trace/Ok/events", |event| event["kind"] == "net_connect");
        }),
        change("curl works nowhere", "curl, another host", |e| set(e, "/by_hand/1/outside/code", 7.into())),
        change("curl works inside", "curl, another host", |e| set(e, "/by_hand/1/inside/code", 0.into())),
        change("curl was not started", "curl, another host", |e| {
            set(e, "/by_hand/1/inside/code", 127.into());
        }),
        change("the sandbox was not started", "curl, its bare address", |e| {
            set(e, "/by_hand/2/inside/code", 125.into());
        }),
        change("curl is not on record", "curl, another host", |e| {
            set(e, "/by_hand/1/trace/Ok/events", json!([]));
        }),
        change("curl does not work where it may", "curl, the declared host", |e| {
            set(e, "/by_hand/0/inside/code", 6.into());
        }),
        change("curl gets something else", "curl, the declared host", |e| {
            set(e, "/by_hand/0/inside/output", "x".into());
        }),
        change("the key is printed", "cat, the planted key", |e| {
            let key = planted(e, "/by_hand/3/outside/output");
            set(e, "/by_hand/3/inside/output", format!("prefix {key}").into());
        }),
        change("reading the key is not on record", "cat, the planted key", |e| {
            set(e, "/by_hand/3/trace/Ok/events", json!([]));
        }),
        change("what is blocked was run", "`run` of what the scanner blocks", |e| {
            set(e, "/scan", json!({"verdict": "BLOCKED", "run": 0}));
        }),
    ]
}

#[test]
fn row_157_a_leak_or_a_gap_in_the_record_is_a_row_that_is_wrong_and_exit_code_1() {
    let shown = Shown::once();
    let evidence: Value = serde_json::from_str(&shown.read("evidence.json")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("evidence.json");
    let judged = |evidence: &Value| {
        std::fs::write(&file, evidence.to_string()).unwrap();
        let output = demo(&["judge", file.to_str().unwrap()]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = judged(&evidence);
    assert_eq!(code, Some(0), "{text}");
    for Change { what, row, make } in changes() {
        let mut changed = evidence.clone();
        make(&mut changed);
        assert_ne!(changed, evidence, "{what}: nothing was changed");
        let (code, text) = judged(&changed);
        assert_eq!(code, Some(1), "{what}:\n{text}");
        let is_wrong = |line: &str| line.starts_with("WRONG") && line.contains(row);
        assert!(text.lines().any(is_wrong), "{what}: {row} is not wrong:\n{text}");
    }
}
