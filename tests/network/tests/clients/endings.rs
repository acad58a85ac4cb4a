//! How connections end, and many of them at once.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use skillsandbox_enforcer::egress::{AttemptEnd, NetworkRule, Protocol};

use crate::run::{NAME, Run, has};
use crate::servers::Server;

/// What a program said before it ended is brought to its destination. (Where that answers meanwhile, to nobody, the kernel breaks
/// the connection off, in a sandbox or not, and what was on its way may be lost.)
#[test]
fn what_was_said_last_still_comes() {
    if !has(["python3"]) {
        return;
    }
    let text = "import os, socket, sys\ns = socket.create_connection(('api.weather.test', 80))\n\
                s.sendall(b'x' * int(sys.argv[1]))\nos._exit(0)\n";
    for length in [1, 100_000, 2_000_000] {
        let server = Server::silent();
        let seen = Run::new()
            .served(NAME, 80, Protocol::Tcp, &server)
            .go("python3", &["-c", text, &length.to_string()]);
        assert!(seen.outcome.success(), "{}", seen.told());
        assert_eq!(server.bytes().len(), length, "{}", seen.told());
        assert_eq!(seen.allowed(NAME, 80).sent, length as u64, "{}", seen.told());
    }
}

/// A program that says that it has nothing more to say still hears the answer.
#[test]
fn a_half_that_is_closed_leaves_the_other_open() {
    if !has(["python3"]) {
        return;
    }
    let text = "import socket\ns = socket.create_connection(('api.weather.test', 80))\n\
                s.sendall(b'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\n\\r\\n')\ns.shutdown(socket.SHUT_WR)\n\
                print(s.makefile().read().split('\\n')[-2])\n";
    for protocol in [Protocol::Tcp, Protocol::Http] {
        let server = Server::http();
        let seen = Run::new().served(NAME, 80, protocol, &server).go("python3", &["-c", text]);
        seen.prints("hello from api.weather.test\n");
        assert_eq!(seen.allowed(NAME, 80).end, Some(AttemptEnd::Closed), "{}", seen.told());
    }
}

#[test]
fn an_upload_that_is_refused_halfway() {
    if !has(["curl"]) {
        return;
    }
    let server = Server::refusing();
    let run = Run::new().served(NAME, 80, Protocol::Http, &server).file("data", &"x".repeat(4 << 20));
    let arguments = [
        "-sS",
        "-H",
        "Expect:",
        "--data-binary",
        "@data",
        "-w",
        "%{http_code}\n",
        "http://api.weather.test/",
    ];
    run.go("curl", &arguments).prints("too much\n413\n");
}

/// A destination that is not there: a refusal of its own, and no fault of the program's.
#[test]
fn a_destination_that_is_not_there() {
    if !has(["curl"]) {
        return;
    }
    let gone = Server::gone();
    for protocol in [Protocol::Tcp, Protocol::Http] {
        let rule = NetworkRule::domain(NAME).unwrap().ports([80]).protocol(protocol);
        let seen =
            Run::new().grant(rule).pin_to(NAME, 80, gone).go("curl", &["-sS4", "http://api.weather.test/"]);
        seen.fails();
        let attempt = seen.allowed(NAME, 80);
        let Some(AttemptEnd::NotConnected(error)) = &attempt.end else { panic!("{}", seen.told()) };
        assert!(error.contains("refused"), "{error}");
        assert_eq!((attempt.sent, attempt.grant()), (0, None));
        assert!(attempt.to_string().contains("not connected: "), "{attempt}");
    }
}

/// More connections than are served at a time: the others wait for their turn, and none is lost.
#[test]
fn many_at_once() {
    if !has(["python3"]) {
        return;
    }
    // Both ends of all that is served at a time are in this program.
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(8192)), hard).unwrap();
    let server = Server::http();
    let text = "import asyncio\nasync def one():\n    \
                r, w = await asyncio.open_connection('198.18.0.1', 80)\n    \
                w.write(b'GET / HTTP/1.1\\r\\nHost: api.weather.test\\r\\n\\r\\n')\n    \
                head = await r.readuntil(b'\\r\\n\\r\\n')\n    body = await r.readline()\n    w.close()\n    return body\n\
                async def main():\n    print(set(await asyncio.gather(*(one() for _ in range(600)))))\nasyncio.run(main())\n";
    let seen = Run::new().served(NAME, 80, Protocol::Http, &server).go("python3", &["-c", text]);
    seen.prints("{b'hello from api.weather.test\\n'}\n");
    assert_eq!(server.requests().len(), 600);
    assert_eq!(seen.reached().map(|attempt| attempt.count).sum::<u64>(), 600, "{}", seen.told());
}
