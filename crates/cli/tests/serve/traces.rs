//! Traces: those of this server's runs, by their ids, and nothing else.

use serde_json::json;

use crate::client::World;

#[test]
fn an_id_is_an_id_and_nothing_else() {
    let world = World::new();
    world.skill("s", "", "echo fine");
    std::fs::write(world.path("state/secret.json"), "{\"secret\": true}").unwrap();
    let mut client = world.serve(&[]);
    let id =
        client.call("run_skill", &json!({ "skill": "s" })).data()["trace_id"].as_str().unwrap().to_owned();
    let upper = id.to_uppercase();
    let (braces, urn, simple) = (format!("{{{id}}}"), format!("urn:uuid:{id}"), id.replace('-', ""));
    let (climbs, behind, null) = (format!("../traces/{id}"), format!("{id}/../../secret"), format!("{id}\0"));
    let hostile = [
        "",
        ".",
        "..",
        "../secret.json",
        "../../state/secret",
        "%2e%2e/secret",
        "/etc/passwd",
        "*",
        "a",
        "00000000-0000-0000-0000-000000000000",
        &upper,
        &braces,
        &urn,
        &simple,
        &climbs,
        &behind,
        &null,
        "s-00000000-0000-0000-0000-000000000000",
    ];
    for wrong in hostile {
        let read =
            client.request("resources/read", &json!({ "uri": format!("skillsandbox://trace/{wrong}") }));
        assert!(read["error"].is_object() && !read.to_string().contains("secret\\\""), "{wrong:?}: {read}");
        let called = client.call("explain_denial", &json!({ "trace_id": wrong }));
        assert!(called.failed(), "{wrong:?}: {called:?}");
    }
    let others = [
        "skillsandbox://trace",
        "skillsandbox://traces/",
        "skillsandbox://traces/x",
        "file:///etc/passwd",
        "/etc/passwd",
        "",
        "SKILLSANDBOX://traces",
    ];
    for uri in others {
        let read = client.request("resources/read", &json!({ "uri": uri }));
        assert!(read["error"].is_object(), "{uri}: {read}");
    }
    let read = client.request("resources/read", &json!({ "uri": format!("skillsandbox://trace/{id}") }));
    assert_eq!(read["result"]["contents"][0]["mimeType"], "application/json", "{read}");
    let templates = client.request("resources/templates/list", &json!({}));
    assert_eq!(templates["result"]["resourceTemplates"][0]["uriTemplate"], "skillsandbox://trace/{id}");
}

#[test]
fn traces_of_the_users_own_runs_are_no_business_of_the_agents() {
    let world = World::new();
    let folder = world.skill("s", "", "echo private words");
    let run = world.command(&["run", "--format", "json", folder.to_str().unwrap()]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["status"], "success", "{report}");
    let id = report["trace_id"].as_str().unwrap();
    let mut client = world.serve(&[]);
    let read = client.request("resources/read", &json!({ "uri": format!("skillsandbox://trace/{id}") }));
    assert!(read["error"].is_object() && !read.to_string().contains("private words"), "{read}");
    assert!(client.call("explain_denial", &json!({ "trace_id": id })).failed());
    let listed = client.request("resources/read", &json!({ "uri": "skillsandbox://traces" }));
    assert!(!listed.to_string().contains(id), "{listed}");
}

#[test]
fn a_long_trace_is_shortened_and_says_so() {
    let world = World::new();
    world.skill(
        "long",
        "resources: { max_runtime_seconds: 100, max_output_bytes: 10000000 }",
        "i=0; while [ $i -lt 9000 ]; do echo line number $i; i=$((i+1)); done",
    );
    let mut client = world.serve(&[]);
    let called = client.call("run_skill", &json!({ "skill": "long" }));
    let uri = called.data()["trace_uri"].as_str().unwrap();
    let read = client.request("resources/read", &json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.len() < 2 << 20, "{}", text.len());
    let trace: serde_json::Value = serde_json::from_str(text).unwrap();
    assert!(trace["events_left_out"].as_u64().unwrap() > 0, "{}", text.len());
    let events =
        trace["events"].as_array().unwrap().len() as u64 + trace["events_left_out"].as_u64().unwrap();
    assert_eq!(trace["violation_summary"]["events"], events);
}

#[test]
fn what_was_not_prevented_is_not_explained() {
    let world = World::new();
    world.skill("s", "", "echo fine");
    let mut client = world.serve(&[]);
    let id = client.call("run_skill", &json!({ "skill": "s" })).data()["trace_id"].clone();
    let called = client.call("explain_denial", &json!({ "trace_id": id }));
    assert!(!called.failed() && called.text().contains("Nothing"), "{called:?}");
    for sequence in [0_u64, 1 << 60] {
        let called = client.call("explain_denial", &json!({ "trace_id": id, "sequence": sequence }));
        assert!(called.failed() && called.text().contains("nothing to explain"), "{called:?}");
    }
}
