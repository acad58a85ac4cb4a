//! Rules belong to one run: nobody else notices them, and nothing of them is left when it has ended, however it ended.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use skillsandbox_enforcer::egress::NetworkRule;
use skillsandbox_enforcer::{
    EndCause, ObservedAction, ObservedEvent, Observer, OutputMode, PlanBuilder, RunningCommand, StdinMode,
};
use skillsandbox_network_tests::{
    Reply, Resolver, Server, Sink, attempts, bounded, command, descriptors, echo, helper, on_stage, plan,
    python, reached, said, serve, threads, until,
};

fn granted() -> PlanBuilder {
    plan().egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080])).pin(
        "api.weather.test",
        8080,
        "9.9.0.1:8080".parse().unwrap(),
    )
}

/// The routes, rules and addresses of the network that this process is in.
fn network() -> String {
    let show = |what: &[&str]| {
        let ip =
            ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"].into_iter().find(|ip| std::fs::exists(ip).unwrap());
        let output = std::process::Command::new(ip.unwrap()).args(what).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let all = [
        &["-4", "route", "show", "table", "all"][..],
        &["-6", "route", "show", "table", "all"],
        &["-4", "rule"],
        &["-6", "rule"],
        &["addr"],
    ];
    all.into_iter().map(show).collect()
}

/// A program that waits for a line before each round: says what it reaches.
const ROUNDS: &str = "
def hello(name):
    def go():
        s = dial(name, 8080); s.send(b'hello'); return s.recv(10)
    return tried(go)
for line in sys.stdin:
    print(hello('one.weather.test'), hello('two.weather.test'), hello('9.9.0.1'), hello('9.9.0.2'), hello('198.18.0.1'), hello('198.18.0.2'), flush=True)
";

struct Conversation {
    running: RunningCommand,
    stdin: std::fs::File,
    stdout: BufReader<skillsandbox_enforcer::OutputPipe>,
}

impl Conversation {
    fn start(plan: PlanBuilder) -> Self {
        let command = command(ROUNDS).stdin(StdinMode::Piped).stdout(OutputMode::Piped);
        let mut running = plan.build().unwrap().spawn(&command).unwrap();
        let (stdin, stdout) = (running.stdin().unwrap(), running.stdout().unwrap());
        Self { running, stdin, stdout: BufReader::new(stdout) }
    }

    fn ask(&mut self) {
        self.stdin.write_all(b"\n").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }
}

fn greets(server: &Server) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"host").unwrap();
    let mut heard = [0; 4];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"host");
}

#[test]
fn row_095_runs_at_once_do_not_mix_and_the_host_does_not_notice() {
    on_stage("row_095_runs_at_once_do_not_mix_and_the_host_does_not_notice", || {
        let (one, two) = (echo("9.9.0.1:8080"), echo("9.9.0.2:8080"));
        let resolver = Resolver::new("9.9.53.1", |name, _| {
            Reply::one(if name == "one.weather.test" { "9.9.0.1" } else { "9.9.0.2" })
        });
        let before = network();
        let granting = |name| {
            let rule = NetworkRule::domain(name).unwrap().ports([8080]);
            plan().egress(rule).resolver(resolver.address)
        };
        let both = granting("two.weather.test")
            .egress(NetworkRule::domain("one.weather.test").unwrap().ports([8080]));
        let mut first = Conversation::start(granting("one.weather.test"));
        let mut second = Conversation::start(granting("two.weather.test"));
        let mut third = Conversation::start(both);
        let mut none = Conversation::start(plan());
        for _ in 0..10 {
            for conversation in [&mut first, &mut second, &mut third, &mut none] {
                conversation.ask();
            }
            // Meanwhile the host reaches everything, and its network is as it was.
            greets(&one);
            greets(&two);
            assert_eq!(network(), before);
            let refused = "ECONNREFUSED ECONNREFUSED";
            assert_eq!(first.hear(), format!("b'hello' gaierror -2 {refused} b'hello' ECONNREFUSED\n"));
            // The same address stands for another name here.
            assert_eq!(second.hear(), format!("gaierror -2 b'hello' {refused} b'hello' ECONNREFUSED\n"));
            assert_eq!(third.hear(), format!("b'hello' b'hello' {refused} b'hello' b'hello'\n"));
            let none = none.hear();
            assert!(!none.contains("hello"), "{none}");
        }
        let expected = [(20, "9.9.0.1:8080"), (20, "9.9.0.2:8080")];
        for (conversation, (count, to)) in [first, second].into_iter().zip(expected) {
            drop((conversation.stdin, conversation.stdout));
            let outcome = conversation.running.wait().unwrap();
            assert!(reached(&outcome).all(|attempt| attempt.dialled == Some(to.parse().unwrap())));
            assert_eq!(
                reached(&outcome).map(|attempt| attempt.count).sum::<u64>(),
                count,
                "{}",
                attempts(&outcome)
            );
        }
        // One that is still there goes on when others have ended.
        third.ask();
        assert!(third.hear().starts_with("b'hello' b'hello'"));
        assert_eq!(network(), before);
    });
}

/// Processes that have these words in their command line.
fn marked(mark: &str) -> Vec<OsString> {
    let processes = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap());
    let own = std::process::id().to_string();
    let has = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        entry.file_name() != own.as_str() && String::from_utf8_lossy(&line).contains(mark)
    };
    processes.filter(has).map(|entry| entry.file_name()).collect()
}

/// A daemon of a daemon, away from terminal, session and parent, that speaks for ever.
const DAEMON: &str = "
import signal
for n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)
if not os.fork():
    os.setsid()
    if not os.fork():
        # MARK
        s = dial('api.weather.test', 8080)
        while True: s.send(b'still here'); time.sleep(.005)
    os._exit(0)
while True:
    time.sleep(.01)
    if END: os._exit(0)
";

fn daemon(mark: &str, end: &str) -> String {
    DAEMON.replace("MARK", mark).replace("END", end)
}

#[test]
fn row_096_no_survivor_keeps_the_network() {
    on_stage("row_096_no_survivor_keeps_the_network", || {
        let server = serve("9.9.0.1:8080", |mut stream| {
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        });
        let (before, open, tasks) = (network(), descriptors(), threads());
        let mark = format!("survivor {}", std::process::id());
        let gone = |connections: usize| {
            until("nothing is left", || {
                server.accepted() == connections
                    && server.served() == connections
                    && marked(&mark).is_empty()
                    && descriptors() == open
                    && threads() == tasks
            });
            assert_eq!(network(), before);
        };
        // The command ends, and the daemon with it, though nobody waits for it.
        let outcome = python(
            granted(),
            &daemon(&mark, "time.monotonic() > start + 1")
                .replace("import signal", "import signal\nstart = time.monotonic()"),
        );
        assert_eq!(outcome.end, EndCause::Itself);
        gone(1);
        // Its time is over.
        let outcome = python(granted().timeout(Duration::from_secs(1)), &daemon(&mark, "False"));
        assert_eq!(outcome.end, EndCause::Timeout);
        gone(2);
        // It is killed, and the control: it was there before.
        let plan = granted().build().unwrap();
        let running = plan.spawn(&command(&daemon(&mark, "False"))).unwrap();
        until("it speaks", || server.accepted() == 3);
        assert!(marked(&mark).len() >= 2, "{:?}", marked(&mark));
        running.kill();
        running.wait().unwrap();
        gone(3);
        // Nobody waits for it.
        let running = plan.spawn(&command(&daemon(&mark, "False"))).unwrap();
        until("it speaks", || server.accepted() == 4);
        drop(running);
        gone(4);
        // It dies of itself.
        let outcome = python(granted(), "s = dial('api.weather.test', 8080); s.send(b'x'); os.abort()");
        assert!(!outcome.success());
        gone(5);
    });
}

#[test]
fn row_096_a_launching_program_that_is_killed_leaves_nothing() {
    on_stage("row_096_a_launching_program_that_is_killed_leaves_nothing", || {
        let heard = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
        let counter = std::sync::Arc::clone(&heard);
        let server = serve("9.9.0.1:8080", move |mut stream| {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                counter.fetch_add(count, std::sync::atomic::Ordering::SeqCst);
            }
        });
        let before = network();
        let mark = format!("orphan {}", std::process::id());
        for round in 1..=3 {
            let mut launcher = helper("helper_transfer");
            let mut launcher = launcher.env("MARK", &mark).stdout(Stdio::piped()).spawn().unwrap();
            let already = heard.load(std::sync::atomic::Ordering::SeqCst);
            until("a transfer goes on", || {
                let now = heard.load(std::sync::atomic::Ordering::SeqCst);
                server.accepted() == 2 * round && now > already + (4 << 20)
            });
            // The command and its daemon, which have the mark in their script.
            assert!(marked(&mark).len() >= 2, "{:?}", marked(&mark));
            launcher.kill().unwrap();
            let output = bounded(launcher);
            assert!(!output.status.success());
            until("nothing is left", || server.served() == 2 * round && marked(&mark).is_empty());
            assert_eq!(network(), before);
        }
    });
}

#[test]
#[ignore = "run by another test, which kills it"]
fn helper_transfer() {
    let mark = std::env::var("MARK").unwrap();
    let script = daemon(&mark, "False").replace(
        "while True:\n    time.sleep(.01)",
        "s = dial('api.weather.test', 8080)\nwhile True:\n    s.sendall(bytes(1 << 20))",
    );
    let outcome = python(granted(), &script);
    panic!("it was to go on: {:?}", outcome.end);
}

/// What is bound to a run is not lent to the next one.
#[test]
fn row_096_the_next_run_has_nothing_of_the_one_before() {
    on_stage("row_096_the_next_run_has_nothing_of_the_one_before", || {
        let _server = echo("9.9.0.1:8080");
        let sink = Sink::new("9.9.0.2:8080");
        let script = "
def hello(to):
    s = dial(to, 8080); s.send(b'hello'); return s.recv(10)
print(tried(hello, 'api.weather.test'), tried(hello, '198.18.0.1'), tried(hello, '9.9.0.2'))";
        let outcome = python(granted(), script);
        assert_eq!(said(&outcome), "b'hello' b'hello' ECONNREFUSED\n");
        let other = plan().egress(NetworkRule::domain("other.weather.test").unwrap().ports([9000])).pin(
            "other.weather.test",
            9000,
            "9.9.0.1:9000".parse().unwrap(),
        );
        let outcome = python(other, script);
        assert_eq!(said(&outcome), "gaierror -2 ECONNREFUSED ECONNREFUSED\n", "{}", attempts(&outcome));
        let outcome = python(plan(), script);
        assert!(!said(&outcome).contains("hello"), "{}", attempts(&outcome));
        assert_eq!(sink.strangers(), 0);
    });
}

struct Panics;

impl Observer for Panics {
    fn observed(&self, observed: &ObservedEvent) {
        if let ObservedAction::Network(attempt) = &observed.tried {
            assert_ne!(attempt.target(), "evil.test", "an observer that fails");
        }
    }
}

/// A fault of whoever watches closes the network; it does not open it, and nobody waits for ever.
#[test]
fn an_observer_that_panics_opens_nothing() {
    on_stage("an_observer_that_panics_opens_nothing", || {
        let _server = echo("9.9.0.1:8080");
        let sink = Sink::new("9.9.0.2:8080");
        let (open, tasks) = (descriptors(), threads());
        let script = "
socket.setdefaulttimeout(3)
def hello(to):
    s = dial(to, 8080); s.send(b'hello'); return s.recv(10)
print(tried(hello, 'api.weather.test'), flush=True)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendto(b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x04evil\\x04test\\0\\0\\x01\\0\\x01', ('9.9.53.1', 53))
tried(u.recv, 100)
print(tried(hello, '9.9.0.2'), tried(hello, '198.18.0.2'), flush=True)";
        let plan = granted().build().unwrap();
        let running = plan.spawn(&command(script).observer(std::sync::Arc::new(Panics))).unwrap();
        if let Ok(outcome) = running.wait() {
            let text = outcome.stdout.text();
            assert!(text.starts_with("b'hello'\n"), "{text}");
            assert_eq!(text.matches("hello").count(), 1, "{text}");
        }
        until("nothing is left", || descriptors() == open && threads() == tasks);
        assert_eq!(sink.strangers(), 0);
        // The next run is not touched by it.
        assert_eq!(
            said(&python(granted(), "s = dial('api.weather.test', 8080); s.send(b'x'); print(s.recv(1))")),
            "b'x'\n"
        );
    });
}
