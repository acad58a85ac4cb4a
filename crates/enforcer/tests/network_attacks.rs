//! What hostile code does with the network that it has: to get somewhere else, to hide what it did, and to hold up whoever launched
//! it. Nothing here leaves the loopback interface, or the namespace of a sandbox.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::time::{Duration, Instant};

use common::plan;
use skillsandbox_enforcer::egress::{Protocol, Rule};
use skillsandbox_enforcer::{Command, End, Outcome, PlanBuilder};

/// Needed by every attack here.
const PYTHON: &str = "/usr/bin/python3";

fn python(script: &str) -> Command {
    assert!(std::path::Path::new(PYTHON).exists(), "these tests need {PYTHON}");
    Command::new(PYTHON).args(["-c", script])
}

/// One name on one port, which leads nowhere.
fn granted() -> PlanBuilder {
    plan().egress(Rule::domain("api.weather.test").unwrap().ports([443]).protocol(Protocol::Https))
}

/// Runs an attack that is to be ended by its time limit. Waits far longer than that before it says that it was not.
fn ended(plan: PlanBuilder, command: &Command) -> Outcome {
    let running = plan.build().unwrap().spawn(&command.clone().captured(1 << 20)).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !running.is_finished() {
        if Instant::now() > deadline {
            // To drop it would be to wait for it.
            std::mem::forget(running);
            panic!("the launching program is held up by what it runs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    running.wait().unwrap()
}

/// Whoever looks at a socket has a reference to it, and if that is the last one, closing it can take as long as the program has
/// chosen (`SO_LINGER`). So children are killed while their socket is looked at.
#[test]
fn a_socket_that_takes_an_hour_to_close_does_not_hold_the_supervisor_up() {
    let script = "
import os, random, signal, socket, struct, threading, time
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
server.bind(('127.0.0.1', 18181))
server.listen(64)
def never_closed():
    s = socket.create_connection(('127.0.0.1', 18181))
    s.setblocking(False)
    try:
        while True: s.send(bytes(65536))
    except BlockingIOError: pass
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 3600))
    return s
def insist(s):
    while True: s.connect_ex(('9.9.9.9', 443))
peers = []
while True:
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        server.close()
        sockets = [never_closed() for _ in range(4)]
        os.write(go, b'x')
        for s in sockets: threading.Thread(target=insist, args=(s,)).start()
        time.sleep(600)
    peers += [server.accept() for _ in range(4)]
    os.read(ready, 1)
    time.sleep(0.002 + random.random() / 500)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(ready)
    os.close(go)
";
    for plan in [granted(), plan()] {
        let outcome = ended(plan.timeout(Duration::from_secs(3)), &python(script));
        assert_eq!(outcome.end, End::Timeout, "{}", outcome.stderr.text());
        assert!(!outcome.network.attempts.is_empty(), "it did try");
    }
}
