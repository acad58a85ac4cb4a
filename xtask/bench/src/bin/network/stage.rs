//! Where it is measured: a network namespace of its own that leads nowhere, with a server and a name server on it.
//!
//! The name that is reached has an address of either family, as the names of most services have, and both are at home here. Bare programs
//! ask the name server at each lookup, as their C library has it; the sandbox asks it for what it has granted.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, ExitStatus};

pub(crate) const NAME: &str = "api.weather.test";
pub(crate) const PORT: u16 = 8080;
pub(crate) const RESOLVER: IpAddr = IpAddr::V4(Ipv4Addr::new(9, 9, 53, 1));
pub(crate) const GIBIBYTE: u64 = 1 << 30;

/// What a client says, and what it is answered.
pub(crate) const WORDS: &[u8; 64] =
    b"GET / HTTP/1.1\r\nHost: api.weather.test:8080\r\nX: 0123456789ab\r\n\r\n";

const SERVER: (Ipv4Addr, Ipv6Addr) = (Ipv4Addr::new(9, 9, 0, 1), Ipv6Addr::new(0x2600, 9, 0, 0, 0, 0, 0, 1));

/// How long an answer of the name server holds, in seconds.
const TTL: u32 = 60;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// Says to this program that it is on the stage.
const VARIABLE: &str = "SKILLSANDBOX_BENCH_STAGE";

/// Addresses of everybody's that are at home here, and a C library that asks nobody but our name server. The folder is the first argument.
const SCENERY: &str = "set -e
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
ip -4 route add local 9.9.0.0/16 dev lo
ip -6 route add local 2600:9::/32 dev lo
echo 1 > /proc/sys/net/ipv6/ip_nonlocal_bind
test -z \"$(ip -o link show up | grep -v ' lo: ')\"
mount --bind \"$1/resolv.conf\" /etc/resolv.conf
mount --bind \"$1/nsswitch.conf\" /etc/nsswitch.conf
ulimit -S -n \"$(ulimit -H -n)\"
shift
exec \"$@\"";

/// Runs this program again on the stage, unless it is there; `None` then. Works for root and for an ordinary user, who is root of that
/// namespace.
pub(crate) fn run_there(folder: &Path) -> Option<ExitStatus> {
    if std::env::var_os(VARIABLE).is_some() {
        return None;
    }
    std::fs::write(folder.join("resolv.conf"), format!("nameserver {RESOLVER}\n")).unwrap();
    std::fs::write(folder.join("nsswitch.conf"), "hosts: files dns\n").unwrap();
    let mut staged = Command::new("unshare");
    if !rustix::process::getuid().is_root() {
        staged.args(["--user", "--map-root-user"]);
    }
    staged.args(["--net", "--mount", "--", "/bin/sh", "-c", SCENERY, "stage"]).arg(folder);
    staged.arg(std::env::current_exe().unwrap()).args(std::env::args_os().skip(1)).env(VARIABLE, "1");
    Some(staged.status().unwrap_or_else(|error| panic!("unshare (util-linux) is needed: {error}")))
}

/// Starts the server and the name server.
pub(crate) fn serve() {
    for address in [IpAddr::V4(SERVER.0), IpAddr::V6(SERVER.1)] {
        let listener = TcpListener::bind((address, PORT)).unwrap();
        rustix::net::listen(&listener, BACKLOG).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || converse(stream));
            }
        });
    }
    let socket = UdpSocket::bind((RESOLVER, 53)).unwrap();
    std::thread::spawn(move || {
        let mut question = [0; 512];
        loop {
            let Ok((count, from)) = socket.recv_from(&mut question) else { continue };
            let _ = socket.send_to(&answer(&question[..count]), from);
        }
    });
}

/// The first byte says what is wanted.
fn converse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut words = [0; WORDS.len()];
    stream.read_exact(&mut words)?;
    let mut block = vec![0; 1 << 18];
    match words[0] {
        b'd' => {
            for _ in 0..GIBIBYTE / block.len() as u64 {
                stream.write_all(&block)?;
            }
        }
        b'u' => {
            while stream.read(&mut block)? > 0 {}
            stream.write_all(b"k")?;
        }
        _ => stream.write_all(&words)?,
    }
    Ok(())
}

/// Whatever is asked for, the server's address of that family.
fn answer(question: &[u8]) -> Vec<u8> {
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
    let data = match question[end - 3] {
        28 => SERVER.1.octets().to_vec(),
        _ => SERVER.0.octets().to_vec(),
    };
    let mut out = [&question[..2], &[0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0], &question[12..end]].concat();
    out.extend([0xc0, 12, 0, question[end - 3], 0, 1]);
    out.extend(TTL.to_be_bytes());
    out.extend([0, u8::try_from(data.len()).unwrap()]);
    out.extend(data);
    out
}
