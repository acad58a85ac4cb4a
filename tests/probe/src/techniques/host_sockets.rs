//! Unix sockets of the host that lie in what was granted. A folder that may be read or written is no reason to talk to whoever listens
//! there, by whatever name the socket was bound.

use std::io::{ErrorKind, IoSlice, Read as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, sendmsg, socket, socketpair,
};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried};
use crate::scene::Scene;

/// What the host is asked to do by a file of this name in the granted folder: to bind one more socket.
pub(crate) const BIND_LATER: &str = "bind-later";
/// Sockets in the granted folder: bound by a relative name, linked into place under another, bound once the attack goes on, and one for
/// datagrams. The first is in the folder for reading as well.
pub(crate) const RELATIVE: &str = "relative.sock";
pub(crate) const LINKED: &str = "linked.sock";
pub(crate) const LATER: &str = "later.sock";
pub(crate) const DATAGRAM: &str = "datagram.sock";

/// What a socket that was reached may take to answer, or to appear.
const PATIENCE: Duration = Duration::from_secs(5);

const fn host_socket(name: &'static str, what: &'static str, run: fn(&Scene) -> Tried) -> Technique {
    technique(Group::Ipc, name, Control::User, what, run)
}

pub(super) const TECHNIQUES: &[Technique] = &[
    host_socket("unix-granted-relative", "Connects to a socket that was bound by a relative name.", |s| {
        answered(s, UnixStream::connect(s.context.granted.join(RELATIVE))?)
    }),
    host_socket("unix-granted-linked", "Connects to a socket that was linked into place.", |s| {
        answered(s, UnixStream::connect(s.context.granted.join(LINKED))?)
    }),
    host_socket("unix-readonly", "Connects to a socket in the folder for reading.", |s| {
        answered(s, UnixStream::connect(s.context.readonly.join(RELATIVE))?)
    }),
    host_socket("unix-granted-later", "Connects to a socket that is bound while it runs.", |s| {
        let path = s.context.granted.join(LATER);
        std::fs::write(s.context.granted.join(BIND_LATER), "")
            .map_err(|error| Stopped::unable(format!("the host cannot be asked: {error}")))?;
        let asked = Instant::now();
        loop {
            match UnixStream::connect(&path) {
                Ok(stream) => return answered(s, stream),
                // Not there yet, or bound and not listening yet.
                Err(error)
                    if asked.elapsed() < PATIENCE
                        && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
                {
                    std::thread::yield_now();
                }
                Err(_) if !path.exists() => return Err(Stopped::unable("the host did not bind it")),
                Err(error) => return Err(error.into()),
            }
        }
    }),
    host_socket("unix-granted-own-link", "Connects by a hard link of its own.", |s| {
        let link = s.scratch("hard");
        std::fs::hard_link(s.context.granted.join(RELATIVE), &link)?;
        let connected = UnixStream::connect(&link);
        let _ = std::fs::remove_file(link);
        answered(s, connected?)
    }),
    host_socket("unix-granted-renamed", "Connects after it has renamed the socket.", |s| {
        let (old, new) = (s.context.granted.join(RELATIVE), s.scratch("renamed"));
        std::fs::rename(&old, &new)?;
        let connected = UnixStream::connect(&new);
        std::fs::rename(new, old)?;
        answered(s, connected?)
    }),
    host_socket("unix-granted-from-inside", "Connects by a relative name from within the folder.", |s| {
        std::env::set_current_dir(&s.context.granted)?;
        answered(s, UnixStream::connect(RELATIVE)?)
    }),
    host_socket("unix-granted-by-descriptor", "Connects by way of a descriptor of the folder.", |s| {
        let folder = std::fs::File::open(&s.context.granted)?;
        let path = format!("/proc/self/fd/{}/{RELATIVE}", folder.as_raw_fd());
        answered(s, UnixStream::connect(path)?)
    }),
    host_socket(
        "unix-granted-packets",
        "Connects by a socket for packets in order, and for datagrams.",
        |s| {
            let address = UnixAddr::new(&s.context.granted.join(DATAGRAM))?;
            let own = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
            connect(own.as_raw_fd(), &address)?;
            Ok("connected".into())
        },
    ),
    host_socket("unix-granted-sendto", "Sends a datagram to a socket by its path.", |s| {
        UnixDatagram::unbound()?.send_to(b"probe", s.context.granted.join(DATAGRAM))?;
        Ok("sent".into())
    }),
    host_socket("unix-granted-sendmsg", "Sends a message to a socket by its path.", |s| {
        let own = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
        send_message(own.as_raw_fd(), &s.context.granted.join(DATAGRAM))
    }),
    host_socket("unix-granted-pair", "Sends to a path from one end of a pair, which needs no socket.", |s| {
        let (own, _other) =
            socketpair(AddressFamily::Unix, SockType::Datagram, None, SockFlag::SOCK_CLOEXEC)?;
        send_message(own.as_raw_fd(), &s.context.granted.join(DATAGRAM))
    }),
];

fn send_message(socket: i32, path: &Path) -> Tried {
    let address = UnixAddr::new(path)?;
    sendmsg(socket, &[IoSlice::new(b"probe")], &[], MsgFlags::MSG_DONTWAIT, Some(&address))?;
    Ok("sent".into())
}

fn answered(scene: &Scene, mut stream: UnixStream) -> Tried {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    scene.leaked(&answer)
}
