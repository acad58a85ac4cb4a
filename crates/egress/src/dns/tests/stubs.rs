//! The resolvers of real programs, asking us: in a network namespace with loopback only, where we are at port 53.
#![allow(clippy::print_stderr)] // What is skipped says so.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Output};
use std::thread;

use super::names;
use crate::dns::answer::{DnsTransport, answer};

/// Set in the process that is inside.
const INSIDE: &str = "SKILLSANDBOX_DNS_INSIDE";

/// Loopback, and a resolv.conf that nobody else sees. With no address but 127.0.0.1 and `::1`, glibc holds that there is no network
/// at all, and does not even ask where one family is wanted (`AI_ADDRCONFIG`).
const SET_UP: &str = "set -e; ip link set lo up; \
    ip address add 198.19.255.254/32 dev lo; ip address add fd53:6b69:6c6c:ffff::1/128 dev lo; mount -t tmpfs none /mnt; \
    printf 'nameserver 127.0.0.1\\nsearch corp.invalid\\noptions timeout:5 attempts:2\\n' > /mnt/resolv.conf; \
    mount --bind /mnt/resolv.conf /etc/resolv.conf; exec \"$@\"";

#[test]
fn real_resolvers_understand_the_answers() {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let may = Command::new("unshare").args(["-Urnm", "sh", "-c", SET_UP, "sh", "true"]).output();
    match may {
        Ok(output) if output.status.success() => {}
        other => return skip(&format!("a namespace with a resolv.conf of its own ({other:?})")),
    }
    let test =
        format!("{}::real_resolvers_understand_the_answers", module_path!().split_once("::").unwrap().1);
    let output = Command::new("unshare")
        .args(["-Urnm", "--kill-child", "sh", "-c", SET_UP, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([&test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprint!("{said}");
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn skip(what: &str) {
    let line = format!("skipped: real_resolvers_understand_the_answers: not on this machine: {what}\n");
    eprint!("{line}");
    if let Some(list) = std::env::var_os("SKILLSANDBOX_SKIPPED") {
        let mut list = std::fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
        list.write_all(line.as_bytes()).unwrap();
    }
}

/// Answers until the process ends.
fn serve() {
    let udp = UdpSocket::bind("127.0.0.1:53").unwrap();
    let tcp = TcpListener::bind("127.0.0.1:53").unwrap();
    thread::spawn(move || {
        let mut names = names();
        let mut buffer = [0; 4096];
        loop {
            let (length, from) = udp.recv_from(&mut buffer).unwrap();
            if let Some(answered) = answer(&mut names, &buffer[..length], DnsTransport::Udp) {
                let _ = udp.send_to(&answered.reply, from);
            }
        }
    });
    thread::spawn(move || {
        let mut names = names();
        for client in tcp.incoming() {
            let mut client = client.unwrap();
            let mut length = [0; 2];
            while client.read_exact(&mut length).is_ok() {
                let mut asked = vec![0; u16::from_be_bytes(length).into()];
                client.read_exact(&mut asked).unwrap();
                let reply = answer(&mut names, &asked, DnsTransport::Tcp).unwrap().reply;
                let length = u16::try_from(reply.len()).unwrap().to_be_bytes();
                client.write_all(&[&length[..], &reply].concat()).unwrap();
            }
        }
    });
}

/// A program with its arguments, how it must end, what it must say, and what it must not.
type StubCase = (&'static [&'static str], i32, &'static [&'static str], &'static [&'static str]);

const CASES: &[StubCase] = &[
    // glibc.
    (&["getent", "ahostsv4", "api.weather.test"], 0, &["198.18.0.1 "], &[]),
    (&["getent", "ahostsv6", "Api.Weather.Test"], 0, &["fd53:6b69:6c6c::1 "], &[]),
    (&["getent", "ahosts", "api.weather.test"], 0, &["198.18.0.1 ", "fd53:6b69:6c6c::1 "], &[]),
    (&["getent", "ahosts", "www.cdn.test"], 0, &["198.18.0.3 "], &[]),
    (&["getent", "ahosts", "evil.test"], 2, &[], &["1"]),
    (&["getent", "ahosts", "weather.test"], 2, &[], &["1"]),
    (&["getent", "ahosts", "68656c6c6f20776f726c64.cdn.test"], 2, &[], &["1"]),
    (&["getent", "hosts", "198.18.0.1"], 2, &[], &["weather"]),
    // BIND.
    (&["dig", "+short", "api.weather.test"], 0, &["198.18.0.1"], &[]),
    (&["dig", "+tcp", "+short", "api.weather.test", "AAAA"], 0, &["fd53:6b69:6c6c::1"], &[]),
    (
        &["dig", "evil.test"],
        0,
        &["NXDOMAIN", "SOA", "EDE: 15 (Blocked)", "permissions.network.egress"],
        &["WARNING", "Warning"],
    ),
    (
        &["dig", "+noedns", "api.weather.test", "HTTPS"],
        0,
        &["NOERROR", "ANSWER: 0", "SOA"],
        &["WARNING", "Warning"],
    ),
    (
        &["dig", "+dnssec", "+cd", "api.weather.test", "TYPE65280"],
        0,
        &["NOERROR", "ANSWER: 0", "flags: do;"],
        &["WARNING", "Warning"],
    ),
    (
        &["dig", "+edns=1", "+noednsneg", "api.weather.test"],
        0,
        &["BADVERS", "version: 0"],
        &["WARNING", "Warning"],
    ),
    (&["dig", "CH", "TXT", "version.bind"], 0, &["REFUSED"], &["WARNING", "Warning"]),
    (&["dig", "+opcode=NOTIFY", "weather.test"], 0, &["NOTIMP"], &[]),
    (&["dig", "api.weather.test", "AXFR"], 0, &["Transfer failed"], &["198.18"]),
    (&["dig", "-x", "198.18.0.1"], 0, &["NXDOMAIN"], &["weather"]),
    (&["dig", r"a\.cdn.test", "A"], 0, &["NXDOMAIN"], &["198.18"]),
    // c-ares.
    (
        &["node", "-e", NODE],
        0,
        &["[\"198.18.0.1\"]", "[\"fd53:6b69:6c6c::1\"]", "ENOTFOUND", "ENODATA", "[\"127.0.0.1\"]"],
        &[],
    ),
    // A resolver of its own.
    (&["busybox", "nslookup", "api.weather.test", "127.0.0.1"], 0, &["198.18.0.1", "fd53:6b69:6c6c::1"], &[]),
];

const NODE: &str = "const r = require('dns').promises; const say = p => p.then(x => JSON.stringify(x), e => e.code); (async () => { \
    for (const p of [r.resolve4('api.weather.test'), r.resolve6('api.weather.test'), r.resolve4('evil.test'), \
    r.resolveMx('api.weather.test'), r.resolve4('localhost')]) console.log(await say(p)); })()";

fn inside() {
    serve();
    let mut missing = Vec::new();
    for (words, code, said, not_said) in CASES {
        let (program, arguments) = words.split_first().unwrap();
        let Ok(output) = Command::new(program).args(arguments).output() else {
            if !missing.contains(program) {
                missing.push(*program);
                skip(program);
            }
            continue;
        };
        let Output { status, stdout, stderr } = output;
        let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        let what = format!("{words:?}: {status}\n{text}");
        assert_eq!(status.code(), Some(*code), "{what}");
        assert!(said.iter().all(|said| text.contains(said)), "{what}");
        assert!(!not_said.iter().any(|said| text.contains(said)), "{what}");
    }
    assert!(!missing.contains(&"getent"), "glibc's own must be there");
}
