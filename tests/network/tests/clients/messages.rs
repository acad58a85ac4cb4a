//! What is said of what was tried: to a person, and to whoever watches.

use std::sync::{Arc, Mutex};

use skillsandbox_enforcer::egress::{
    Attempt, AttemptAction, AttemptVerdict, NetworkRule, Protocol, RefusalReason, Transport,
};
use skillsandbox_enforcer::{Command, ObservedAction, ObservedEvent, Observer, Plan};

use crate::run::{NAME, Run, has};
use crate::servers::{DEADLINE, Server};

#[test]
fn a_refusal_names_the_host_and_what_would_grant_it() {
    if !has(["curl"]) {
        return;
    }
    let server = Server::http();
    let run = || Run::new().served(NAME, 443, Protocol::Tcp, &server);

    let seen = run().go("curl", &["-sS", "https://webhook.test/"]);
    let attempt = seen.unknown("webhook.test");
    let told = attempt.to_string();
    assert!(told.contains("blocked: webhook.test (not in permissions.network.egress)"), "{told}");
    assert!(told.contains("curl"), "whoever it was: {told}");
    assert_eq!(attempt.grant().as_deref(), Some("{ domain: webhook.test, ports: [443] }"));

    let seen = run().go("curl", &["-sS", "http://api.weather.test:8080/"]);
    let attempt = seen.refused(NAME, 8080, &RefusalReason::NotGranted);
    let told = attempt.to_string();
    assert!(told.contains("blocked: api.weather.test:8080 (not in permissions.network.egress)"), "{told}");
    assert_eq!(attempt.grant().as_deref(), Some("{ domain: api.weather.test, ports: [8080] }"));

    let seen = run().go("curl", &["-sS", "http://198.51.100.7:8080/"]);
    let attempt = seen.refused_at("198.51.100.7:8080".parse().unwrap(), Transport::Tcp);
    let told = attempt.to_string();
    assert!(told.contains("blocked: 198.51.100.7:8080 (not in permissions.network.egress)"), "{told}");
    assert_eq!(attempt.grant().as_deref(), Some("{ cidr: 198.51.100.7, ports: [8080] }"));

    let seen = run().go("curl", &["-sSg", "http://[2001:db8::7]:443/"]);
    let attempt = seen.refused_at("[2001:db8::7]:443".parse().unwrap(), Transport::Tcp);
    let told = attempt.to_string();
    assert!(told.contains("blocked: [2001:db8::7]:443 (not in permissions.network.egress)"), "{told}");
    server.saw_nothing();
}

/// What it says would grant it does, as the rule that it means.
#[test]
fn what_would_grant_it_does() {
    if !has(["curl"]) {
        return;
    }
    let server = Server::http();
    let arguments = ["-sS", "http://webhook.test:8080/"];
    let first = Run::new().served(NAME, 443, Protocol::Tcp, &server).pin("webhook.test", 8080, &server);
    first.go("curl", &arguments).fails();
    server.saw_nothing();
    let second = Run::new().served("webhook.test", 8080, Protocol::Tcp, &server);
    let seen = second.go("curl", &arguments);
    seen.prints("hello from webhook.test:8080\n");
    let attempt = seen.allowed("webhook.test", 8080);
    assert_eq!(attempt.grant(), None);
    let told = attempt.to_string();
    let expected = "allowed: webhook.test:8080 (by webhook.test port 8080 tcp), at 127.0.0.1:";
    assert!(told.starts_with(expected), "{told}");
}

/// A name that means an address of the host is refused by default, and the message says what it is.
#[test]
fn a_name_that_means_this_machine_is_refused() {
    if !has(["curl"]) {
        return;
    }
    let server = Server::http();
    let port = server.address().port();
    // The one name that every host resolves to itself, without asking anybody.
    let rule = NetworkRule::domain("localhost").unwrap().ports([port]);
    let url = format!("http://198.18.0.1:{port}/");
    let seen = Run::new().grant(rule).go("curl", &["-sS", "-H", "Host: localhost", &url]);
    seen.fails();
    server.saw_nothing();
    let attempt = seen.reached().next().unwrap();
    let AttemptVerdict::Refused(RefusalReason::Special { kind, .. }) = &attempt.verdict else {
        panic!("{}", seen.told())
    };
    assert_eq!(*kind, "a loopback address");
    assert!(attempt.grant().is_some_and(|grant| grant.starts_with("{ cidr: ")), "{}", seen.told());
}

#[derive(Default)]
struct Watching(Mutex<Vec<Attempt>>);

impl Observer for Watching {
    fn observed(&self, observed: &ObservedEvent) {
        if let ObservedAction::Network(attempt) = &observed.tried {
            self.0.lock().unwrap().push(attempt.clone());
        }
    }
}

/// A connection is told when it begins and when it has ended; a refusal once.
#[test]
fn whoever_watches_is_told_as_it_happens() {
    if !has(["curl", "sh"]) {
        return;
    }
    let server = Server::http();
    let rule = NetworkRule::domain(NAME).unwrap().ports([80]).protocol(Protocol::Http);
    let plan = Plan::builder().timeout(DEADLINE).egress(rule).pin(NAME, 80, server.address());
    let watching = Arc::new(Watching::default());
    let script = "curl -sS4 http://api.weather.test/; curl -sS4 http://webhook.test/; exit 0";
    let command = Command::new("sh").args(["-c", script]).captured(1 << 16).observer(watching.clone());
    let outcome = plan.build().unwrap().spawn(&command).unwrap().wait().unwrap();
    assert!(outcome.success(), "{}", outcome.stderr.text());
    let told = watching.0.lock().unwrap();
    let reached: Vec<&Attempt> = told.iter().filter(|one| one.action != AttemptAction::LookUp).collect();
    assert_eq!(reached.len(), 2, "{told:?}");
    assert!(reached[0].end.is_none() && reached[1].end.is_some(), "{told:?}");
    let refused = AttemptVerdict::Refused(RefusalReason::NotGranted);
    let refused: Vec<_> =
        told.iter().filter(|one| one.verdict == refused).map(|one| one.name.as_deref()).collect();
    assert_eq!(refused, [Some("webhook.test")], "{told:?}");
}
