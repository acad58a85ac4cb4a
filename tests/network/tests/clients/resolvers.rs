//! Clients that look up names in their own way: whomever they ask, by whichever call, it is the sandbox that answers.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use skillsandbox_enforcer::egress::{AttemptAction, Protocol, RefusalReason};

use crate::missing;
use crate::run::{NAME, Run, has};
use crate::servers::Server;

/// Resolvers: the one that the sandbox names, one that a program may know by heart, the same with IPv6, a made-up one.
const ASKED: [&str; 4] = ["127.0.0.1", "8.8.8.8", "2001:4860:4860::8888", "203.0.113.53"];
const WAYS: [&str; 4] = ["sendto", "sendmsg", "connected", "tcp"];

fn table(result: &str) -> String {
    let mut text = String::new();
    for server in ASKED {
        for kind in ["A", "AAAA"] {
            for way in WAYS {
                let _ = writeln!(text, "{server} {kind} {way}: {result}");
            }
        }
    }
    text
}

fn run(server: &Server) -> Run {
    let run = Run::new().served(NAME, 80, Protocol::Http, server);
    run.file("resolve.py", include_str!("scripts/resolve.py"))
        .file("fetch.c", include_str!("scripts/fetch.c"))
}

#[test]
fn packets_made_by_hand_are_answered_whoever_is_asked() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let seen = run(&server).go("python3", &[&["resolve.py", NAME, "80"], &ASKED[..]].concat());
    seen.prints(&table("hello from api.weather.test"));
    assert_eq!(server.connections(), 32);
    // Every question and every connection is in the record, and nothing else is.
    let looked =
        seen.outcome.network.attempts.iter().filter(|attempt| attempt.action == AttemptAction::LookUp);
    assert_eq!(looked.map(|attempt| attempt.count).sum::<u64>(), 32, "{}", seen.told());
    assert_eq!(seen.reached().map(|attempt| attempt.count).sum::<u64>(), 32, "{}", seen.told());
    seen.allowed(NAME, 80);
}

#[test]
fn a_name_that_is_not_granted_exists_nowhere() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let seen = run(&server).go("python3", &[&["resolve.py", "webhook.test", "80"], &ASKED[..]].concat());
    seen.prints(&table("code 3"));
    let attempt = seen.unknown("webhook.test");
    assert_eq!(attempt.count, 32, "{}", seen.told());
    assert_eq!(seen.reached().count(), 0, "{}", seen.told());
    server.saw_nothing();
}

/// The one resolver that a test may ask outside: a real one on loopback hears the question when the sandbox is not there, and
/// nothing of it when it is.
#[test]
fn a_resolver_on_the_host_hears_nothing() {
    if !has(["python3"]) {
        return;
    }
    // Port 53 is root's, and may be taken; a range of loopback addresses leaves room for both.
    let listener = (2..250).find_map(|last| UdpSocket::bind((Ipv4Addr::new(127, 53, 0, last), 53)).ok());
    let Some(listener) = listener else {
        missing::skip(&["the right to listen on port 53"]);
        return;
    };
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().ip().to_string();
    let send = "import socket, sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                s.sendto(b'a secret', (sys.argv[1], 53))\nprint('sent')\n";
    let server = Server::http();
    let run = run(&server);
    let arguments = ["-c", send, &address];
    assert_eq!(run.outside("python3", &arguments), "sent\n");
    let mut bytes = [0; 64];
    listener.set_nonblocking(false).unwrap();
    listener.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    assert_eq!(listener.recv(&mut bytes).unwrap(), 8, "the control");
    run.go("python3", &arguments).prints("sent\n");
    // What is sent over loopback is there when the call returns; nothing is on the way any more.
    listener.set_nonblocking(true).unwrap();
    assert_eq!(listener.recv(&mut bytes).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// c-ares asks by itself, and takes the servers that it is told.
#[test]
fn node_with_c_ares() {
    if !has(["node"]) {
        return;
    }
    let server = Server::http();
    let text = "const { Resolver } = require('node:dns').promises;\n(async () => {\nfor (const server of process.argv.slice(1)) {\n\
                const resolver = new Resolver();\nif (server !== 'own') resolver.setServers([server]);\n\
                const [four] = await resolver.resolve4('api.weather.test');\nconst [six] = await resolver.resolve6('api.weather.test');\n\
                for (const url of [`http://${four}/`, `http://[${six}]/`]) {\nconst answer = await new Promise((done, failed) => \
                require('node:http').get(url, { headers: { host: 'api.weather.test' } }, done).on('error', failed));\n\
                for await (const piece of answer) process.stdout.write(piece);\n}\n\
                await resolver.resolve4('webhook.test').catch((error) => console.log(error.code));\n\
                await resolver.resolveTxt('webhook.test').catch((error) => console.log(error.code));\n}\n})();\n";
    let seen = run(&server).go("node", &["-e", text, "own", "8.8.8.8", "[2001:4860:4860::8888]"]);
    let each = "hello from api.weather.test\nhello from api.weather.test\nENOTFOUND\nENOTFOUND\n";
    seen.prints(&each.repeat(3));
    seen.unknown("webhook.test");
    assert_eq!(server.requests().len(), 6);
}

/// Static programs, whose resolver nobody can replace: of musl, which reads resolv.conf by itself, and of a program of its own.
#[test]
fn static_programs() {
    let compilers: Vec<&str> =
        ["musl-gcc", "gcc"].into_iter().filter(|compiler| missing::outside([*compiler]).is_empty()).collect();
    if !compilers.contains(&"musl-gcc") {
        missing::skip(&["musl-gcc"]);
    }
    if compilers.is_empty() {
        missing::skip(&["gcc"]);
        return;
    }
    for compiler in compilers {
        let server = Server::http();
        let make = |run: Run| {
            let linked = if compiler == "gcc" { "-O1" } else { "-static" };
            let made = run.outside(compiler, &["-O1", linked, "-o", "fetch", "fetch.c"]);
            assert!(run.path("fetch").is_file(), "{compiler}: {made}");
            run
        };
        let hello = "hello from api.weather.test\n";
        // The library finds an address of each family, and both lead there.
        make(run(&server)).go("./fetch", &[NAME, "80"]).prints(&hello.repeat(2));
        for resolver in ["127.0.0.1", "8.8.8.8"] {
            make(run(&server)).go("./fetch", &[NAME, "80", resolver]).prints(hello);
        }
        assert_eq!(server.requests().len(), 4, "{compiler}");

        let other = Server::http();
        let seen = make(run(&other)).go("./fetch", &["webhook.test", "80"]);
        seen.fails();
        seen.unknown("webhook.test");
        let seen = make(run(&other)).go("./fetch", &["webhook.test", "80", "8.8.8.8"]);
        assert_eq!(seen.stderr(), "code 3\n", "{}", seen.told());
        let seen = make(run(&other)).go("./fetch", &[NAME, "81"]);
        seen.fails();
        seen.refused(NAME, 81, &RefusalReason::NotGranted);
        other.saw_nothing();
    }
}

/// The C library's own tools, and names as they are written in other ways.
#[test]
fn getent_and_other_spellings() {
    if !has(["getent", "sh", "curl", "head", "cut"]) {
        return;
    }
    let server = Server::http();
    let script = "for way in ahostsv4 ahostsv6 hosts; do getent $way API.Weather.test. | head -n 1 | cut -d ' ' -f 1; done; \
                  getent hosts webhook.test || echo none; getent hosts weather.test || echo none; \
                  curl -sS http://API.Weather.TEST/";
    let seen = run(&server).go("sh", &["-c", script]);
    let (v4, v6) = ("198.18.0.1", "fd53:6b69:6c6c::1");
    seen.prints(&format!("{v4}\n{v6}\n{v6}\nnone\nnone\nhello from API.Weather.TEST\n"));
    seen.unknown("webhook.test");
    seen.allowed(NAME, 80);
}

/// Many ask for addresses only of a kind that the machine has one of, besides those for talking to itself (`AI_ADDRCONFIG`).
#[test]
fn addresses_as_configured() {
    if !has(["python3"]) {
        return;
    }
    let server = Server::http();
    let text = "import socket\nfor family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNSPEC):\n    \
                found = socket.getaddrinfo('api.weather.test', 80, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)\n    \
                print([to[4][0] for to in found])\n";
    let seen = run(&server).go("python3", &["-c", text]);
    let (v4, v6) = ("'198.18.0.1'", "'fd53:6b69:6c6c::1'");
    let both =
        [format!("[{v4}, {v6}]"), format!("[{v6}, {v4}]")].map(|both| format!("[{v4}]\n[{v6}]\n{both}\n"));
    assert!(both.contains(&seen.stdout()), "{}", seen.told());
}
