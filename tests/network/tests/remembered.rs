//! What a name means is remembered for as long as the answer holds, within bounds, and is judged anew whenever it is dialled.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skillsandbox_enforcer::PlanBuilder;
use skillsandbox_enforcer::egress::{AttemptAction, AttemptVerdict, NetworkRule, RefusalReason};
use skillsandbox_network_tests::{
    Reply, Resolver, Sink, attempts, echo, on_stage, plan, python, reached, refused, said,
};

fn granted(resolver: &Resolver) -> PlanBuilder {
    plan()
        .egress(NetworkRule::domain("api.weather.test").unwrap().ports([8080]))
        .egress(NetworkRule::domain("*.cdn.test").unwrap().ports([8080]))
        .resolver(resolver.address)
}

const HELLO: &str = "
socket.setdefaulttimeout(20)
def hello(name='api.weather.test'):
    s = dial(name, 8080); s.send(b'hello'); return s.recv(10)
";

#[test]
fn five_hundred_connections_ask_the_resolver_once_and_every_lookup_is_on_record() {
    on_stage("five_hundred_connections_ask_the_resolver_once_and_every_lookup_is_on_record", || {
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::lasting("9.9.0.1", 300));
        let server = echo("9.9.0.1:8080");
        let outcome = python(
            granted(&resolver),
            &format!(
                "{HELLO}print({{hello() for _ in range(500)}}, len(socket.getaddrinfo('api.weather.test', 8080, type=socket.SOCK_STREAM)))"
            ),
        );
        assert_eq!(said(&outcome), "{b'hello'} 2\n", "{}", attempts(&outcome));
        let mut asked = resolver.asked();
        asked.sort_unstable();
        assert_eq!(asked, ["api.weather.test 1", "api.weather.test 28"], "once for each kind");
        assert_eq!(server.accepted(), 500);
        let count = |action: AttemptAction| {
            let of_it = outcome.network.attempts.iter().filter(|attempt| attempt.action == action);
            of_it.map(|attempt| attempt.count).sum::<u64>()
        };
        assert_eq!(count(AttemptAction::LookUp), 2 * 501, "{}", attempts(&outcome));
        assert_eq!(reached(&outcome).map(|attempt| attempt.count).sum::<u64>(), 500);
    });
}

/// Each question to the resolver is a message, and a run must not be able to send one whenever it likes.
#[test]
fn an_answer_that_does_not_hold_is_not_asked_for_at_every_connection() {
    on_stage("an_answer_that_does_not_hold_is_not_asked_for_at_every_connection", || {
        let _server = echo("9.9.0.1:8080");
        // Nought seconds, and a number that is too high to mean any.
        for (seconds, address) in [(0, "9.9.53.1"), (1 << 31, "9.9.53.2")] {
            let resolver = Resolver::new(address, move |_, _| Reply::lasting("9.9.0.1", seconds));
            let script = format!(
                "{HELLO}begin = time.monotonic()
for _ in range(100): hello()
print(int(time.monotonic() - begin))"
            );
            let outcome = python(granted(&resolver), &script);
            let elapsed: usize = said(&outcome).trim().parse().unwrap();
            let asked = resolver.asked().len() / 2;
            assert!(asked <= 1 + elapsed / 30, "{seconds}: {asked} in {elapsed} s");
        }
    });
}

/// A rebinding attack that waits until the first answer is forgotten, beside what is remembered for longer.
#[test]
fn a_name_that_turns_inwards_when_its_answer_is_forgotten_is_refused_at_the_dial() {
    on_stage("a_name_that_turns_inwards_when_its_answer_is_forgotten_is_refused_at_the_dial", || {
        let _server = echo("9.9.0.1:8080");
        let inside = ["127.0.0.1", "169.254.169.254", "10.0.0.1"];
        let sinks = inside.map(|address| Sink::new(&format!("{address}:8080")));
        let resolver = Resolver::new("9.9.53.1", move |name, before| match (name, before) {
            // An answer that holds, and one that would, but for nobody being there: a server that has moved.
            ("holds.cdn.test", _) => Reply::lasting("9.9.0.1", 300),
            ("moved.cdn.test", 0) => Reply::lasting("9.9.0.9", 300),
            (_, 0) | ("moved.cdn.test", _) => Reply::lasting("9.9.0.1", 1),
            (name, _) => Reply::lasting(inside[usize::from(name.as_bytes()[0] - b'a')], 1),
        });
        let script = format!(
            "{HELLO}
names = ['%s.cdn.test' % letter for letter in 'abc']
for name in names: print(hello(name))
print(hello('holds.cdn.test'), str(tried(hello, 'moved.cdn.test'))[:5])
time.sleep(31)
for name in names: print(tried(hello, name), tried(hello, name.upper()))
print(hello('holds.cdn.test'), hello('moved.cdn.test'))"
        );
        let outcome = python(granted(&resolver), &script);
        let said = said(&outcome);
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(
            lines[..4],
            ["b'hello'", "b'hello'", "b'hello'", "b'hello' ECONN"],
            "{}",
            attempts(&outcome)
        );
        assert!(lines[4..7].iter().all(|line| line.matches("ECONN").count() == 2), "{said}");
        assert_eq!(lines[7..], ["b'hello' b'hello'"], "{}", attempts(&outcome));
        for address in inside {
            let is_special = |verdict: &AttemptVerdict| matches!(verdict, AttemptVerdict::Refused(RefusalReason::Special { address: told, .. }) if told.to_string() == address);
            let special = refused(&outcome).filter(|attempt| is_special(&attempt.verdict));
            assert!(special.map(|attempt| attempt.count).sum::<u64>() >= 2, "{}", attempts(&outcome));
        }
        assert_eq!(sinks.each_ref().map(Sink::strangers), [0; 3]);
        let asked = |name: &str| resolver.asked().iter().filter(|label| label.starts_with(name)).count();
        assert_eq!((asked("a."), asked("holds."), asked("moved.")), (4, 2, 4), "{:?}", resolver.asked());
    });
}

#[test]
fn a_name_in_letters_of_either_case_is_one_name() {
    on_stage("a_name_in_letters_of_either_case_is_one_name", || {
        let _server = echo("9.9.0.1:8080");
        let resolver = Resolver::new("9.9.53.1", |_, _| Reply::lasting("9.9.0.1", 300));
        let script = format!(
            "{HELLO}
for name in ('api.weather.test', 'API.WEATHER.TEST', 'aPi.WeAtHeR.tEsT', 'api.weather.test.', 'x.CDN.test', 'X.cdn.TEST'): print(hello(name))
print(len({{socket.gethostbyname(n) for n in ('api.weather.test', 'Api.Weather.Test', 'API.weather.test.')}}))"
        );
        let outcome = python(granted(&resolver), &script);
        assert_eq!(said(&outcome), format!("{}1\n", "b'hello'\n".repeat(6)), "{}", attempts(&outcome));
        let mut asked = resolver.asked();
        asked.sort_unstable();
        assert_eq!(asked, ["api.weather.test 1", "api.weather.test 28", "x.cdn.test 1", "x.cdn.test 28"]);
    });
}
