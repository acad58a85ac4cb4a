//! What a lookup and a connection cost the launching program, in calls of the kernel: nothing here is measured in time.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::process::{Command, Stdio};

use skillsandbox_enforcer::egress::NetworkRule;
use skillsandbox_network_tests::{Reply, Resolver, bounded, echo, helper, on_stage, plan, python, said};
use skillsandbox_test_support::missing;

/// As many that the calls of start and end do not count.
const CONNECTIONS: usize = 200;

/// Calls of the broker's thread for two questions for a name, and a connection with a question and an answer. There are 29 to 33, by how
/// much the kernel tells at a time.
const MOST_OF_BROKER: usize = 36;

/// Calls of the thread that is told of `connect`, for three sockets of datagrams and one of TCP: a C library connects one to ask for a
/// name, and one to each address that it is told, to see which is nearer. There are 56, and 8 more
/// where each descriptor is checked before it is closed (builds for tests).
const MOST_OF_LISTENER: usize = 70;

#[test]
fn a_lookup_and_a_connection_cost_few_calls_and_no_other_thread() {
    if !missing::outside(["strace"]).is_empty() {
        missing::skip(&["strace"]);
        return;
    }
    on_stage("a_lookup_and_a_connection_cost_few_calls_and_no_other_thread", || {
        let _resolver = Resolver::new("9.9.53.1", |_, _| Reply::lasting("9.9.0.1", 300));
        let server = echo("9.9.0.1:8080");
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let launcher = helper("a_launching_program_whose_run_connects");
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "--decode-pids=comm", "-o"]).arg(&log).arg("--");
        traced.arg(launcher.get_program()).args(launcher.get_args());
        traced.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = bounded(traced.spawn().unwrap());
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        assert_eq!(server.accepted(), CONNECTIONS);
        let log = std::fs::read_to_string(log).unwrap();
        // A call that is interrupted by another thread's has two lines.
        let of = |thread: &str| {
            let mark = format!("<{thread}>");
            let calls = log.lines().filter(move |line| line.contains(&mark) && !line.contains("<... "));
            calls.map(str::to_owned).collect::<Vec<_>>()
        };
        let (broker, listener) = (of("skillsandbox-ne"), of("sandbox-notify"));
        let others = [of("sandbox-connect"), of("sandbox-close")].concat();
        let some = |calls: &[String]| {
            calls.iter().skip(calls.len() / 2).take(80).cloned().collect::<Vec<_>>().join("\n")
        };
        let each = |calls: &[String]| calls.len() / CONNECTIONS;
        assert!(each(&broker) > 0 && each(&listener) > 0, "the threads have other names");
        assert!(each(&broker) <= MOST_OF_BROKER, "{} calls\n{}", each(&broker), some(&broker));
        assert!(each(&listener) <= MOST_OF_LISTENER, "{} calls\n{}", each(&listener), some(&listener));
        // What can be connected at once is no work for another thread: there were 21 calls each. A busy kernel may answer a few late.
        assert!(each(&others) < 5, "{} calls\n{}", others.len(), some(&others));
    });
}

#[test]
#[ignore = "started by the test above"]
fn a_launching_program_whose_run_connects() {
    let rule = NetworkRule::domain("api.weather.test").unwrap().ports([8080]);
    let plan = plan().egress(rule).resolver([9, 9, 53, 1].into());
    let script = format!(
        "
socket.setdefaulttimeout(None)
for _ in range({CONNECTIONS}):
    s = dial('api.weather.test', 8080); s.send(b'hello'); assert s.recv(10) == b'hello'; s.close()
print('done')"
    );
    assert_eq!(said(&python(plan, &script)), "done\n");
}
