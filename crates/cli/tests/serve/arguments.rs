//! Lines and arguments that no honest client sends.

use serde_json::{Value, json};

use crate::client::{Client, World, hello};

#[test]
fn garbage_does_not_end_it() {
    let world = World::new();
    world.skill("s", "", "echo fine");
    let mut client = Client::start(&mut world.command(&["serve", "--root", world.root().to_str().unwrap()]));
    // Before it has begun: nothing of this is a beginning, and nothing an end.
    client.send_raw(b"\n\r\n{\xff\xfe\n[]\nnull\n{}\n\"x\"\n{\"jsonrpc\":\"2.0\"}\n");
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    client.send_raw(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}\n",
    );
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n");
    let early = client.request("tools/call", &json!({ "name": "run_skill", "arguments": { "skill": "s" } }));
    assert!(early["error"]["message"].is_string(), "a request before initialize: {early}");
    let begun = client.request("initialize", &hello());
    assert_eq!(begun["result"]["serverInfo"]["name"], "skillsandbox", "{begun}");
    client.send_raw(
        b"not json\n{\"jsonrpc\":\"1.0\",\"id\":1}\n{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n",
    );
    client.send_raw(&[b"[".repeat(100_000), b"\n".to_vec()].concat());
    client.send_raw(&[b"{\"a\":".repeat(100_000), b"\n".to_vec()].concat());
    let unknown = client.request("no/such/method", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let called = client.call("run_skill", &json!({ "skill": "s" }));
    assert_eq!(called.stdout(), "fine\n");
    assert_eq!(client.end().1, Some(0));
}

#[test]
fn a_line_of_ten_megabytes_is_refused_and_the_next_is_read() {
    let world = World::new();
    world.skill("s", "", "echo fine");
    let mut client = world.serve(&[]);
    let long = json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/call",
        "params": { "name": "run_skill", "arguments": { "skill": "s", "args": ["x".repeat(10 << 20)] } } });
    client.send(&long);
    client.send_raw(&b"x".repeat(10 << 20));
    client.send_raw(b"\n");
    let called = client.call("run_skill", &json!({ "skill": "s" }));
    assert_eq!(called.stdout(), "fine\n");
    let (rest, code) = client.end();
    let answers: Vec<_> = rest.iter().map(|message| (&message["id"], &message["error"]["code"])).collect();
    assert_eq!(answers, [(&json!(77), &json!(-32700)), (&Value::Null, &json!(-32700))], "{rest:?}");
    assert_eq!(code, Some(0));
}

#[test]
fn wrong_types_are_answers_that_say_so() {
    let world = World::new();
    world.skill("s", "", "echo ran");
    let mut client = world.serve(&[]);
    let cases: [(&str, Value); 14] = [
        ("run_skill", json!({})),
        ("run_skill", json!({ "skill": 1 })),
        ("run_skill", json!({ "skill": ["s"] })),
        ("run_skill", json!({ "skill": null })),
        ("run_skill", json!({ "skill": "s", "args": "x" })),
        ("run_skill", json!({ "skill": "s", "args": [1] })),
        ("run_skill", json!({ "skill": "s", "args": ["a\0b"] })),
        ("run_skill", json!({ "skill": "s", "args": vec!["x"; 1001] })),
        ("run_skill", json!({ "skill": "s", "args": ["x".repeat(300 << 10)] })),
        ("run_skill", json!({ "skill": "s", "parameters": ["x"] })),
        ("run_skill", json!({ "skill": "s", "parameters": { "undeclared": 1 } })),
        ("check_path", json!({ "skill": "s", "tool": "Read", "arguments": "x" })),
        ("check_command", json!({ "skill": "s", "command": ["ls"] })),
        ("explain_denial", json!({ "trace_id": "00000000-0000-0000-0000-000000000000", "sequence": -1 })),
    ];
    for (tool, arguments) in cases {
        let called = client.call(tool, &arguments);
        assert!(called.failed() && !called.0.to_string().contains("ran\\n"), "{tool} {called:?}");
        assert!(called.text().contains("what can be done"), "{tool}: {called:?}");
    }
    for arguments in [json!("s"), json!(["s"]), json!(7)] {
        let answer = client.request("tools/call", &json!({ "name": "run_skill", "arguments": arguments }));
        assert!(answer["error"].is_object(), "{answer}");
    }
    let answer = client.request("tools/call", &json!({ "name": "rm", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let called = client.call("run_skill", &json!({ "skill": "s" }));
    assert_eq!(called.stdout(), "ran\n");
}

#[test]
fn a_thousand_calls_at_once_are_all_answered_and_few_at_a_time() {
    let world = World::new();
    world.skill("s", "", "echo fine");
    let mut client = world.serve(&["--max-concurrent", "2"]);
    let looks: Vec<u64> =
        (0..1000).map(|_| client.ask_tool("validate_skill", &json!({ "skill": "s" }))).collect();
    for id in looks {
        assert_eq!(client.called(id).data()["valid"], true);
    }
    // Of runs, as many as may run and wait are; the rest hear that they are too many.
    let runs: Vec<u64> = (0..200).map(|_| client.ask_tool("run_skill", &json!({ "skill": "s" }))).collect();
    let (mut ran, mut refused) = (0, 0);
    for id in runs {
        let called = client.called(id);
        if called.failed() {
            assert!(called.text().contains("too many skills wait"), "{called:?}");
            refused += 1;
        } else {
            assert_eq!(called.stdout(), "fine\n");
            ran += 1;
        }
    }
    assert!(ran >= 66 && refused > 0, "{ran} ran, {refused} were refused");
}

#[test]
fn a_secret_parameter_is_in_no_answer() {
    let world = World::new();
    let manifest = "parameters: [{ name: token, type: string, secret: true, max_length: 20 }]";
    world.skill("s", manifest, "true");
    let mut client = world.serve(&[]);
    let arguments = json!({ "skill": "s", "parameters": { "token": "hunter2-hunter2-hunter2-hunter2" } });
    let called = client.call("run_skill", &arguments);
    assert!(called.failed() && !called.0.to_string().contains("hunter2"), "{called:?}");
    assert!(called.text().contains("inspect_skill"), "{called:?}");
}
