//! Reaching processes outside without a network: sockets with names, shared memory, queues, keys.

use std::ffi::CString;
use std::io::{self, Read as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use nix::mqueue::{MQ_OFlag, mq_open, mq_receive};
use nix::sys::stat::Mode;

use super::{Control, Group, Technique, technique};
use crate::canary::sha256;
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::sys;

/// What a socket that was reached may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

const fn ipc(
    name: &'static str,
    control: Control,
    what: &'static str,
    run: fn(&Scene) -> Tried,
) -> Technique {
    technique(Group::Ipc, name, control, what, run)
}
const KEYS: Control = Control::Host("kernels may have no keys, and filters of containers refuse them");

pub(super) const TECHNIQUES: &[Technique] = &[
    ipc("unix-path", Control::User, "Connects to a socket with a path, as agents of keys have.", |s| {
        answered(s, UnixStream::connect(&s.context.sockets.stream)?)
    }),
    ipc("unix-path-by-link", Control::User, "Connects through a link in the granted folder.", |s| {
        let link = s.scratch("socket");
        std::os::unix::fs::symlink(&s.context.sockets.stream, &link)?;
        let connected = UnixStream::connect(&link);
        std::fs::remove_file(link)?;
        answered(s, connected?)
    }),
    ipc("unix-datagram", Control::User, "Sends to a socket with a path, as loggers have.", |s| {
        UnixDatagram::unbound()?.send_to(b"probe", &s.context.sockets.datagram)?;
        Ok("sent".into())
    }),
    ipc("unix-abstract", Control::User, "Connects to a socket with an abstract name.", |s| {
        let address = SocketAddr::from_abstract_name(&s.context.sockets.abstract_name)?;
        answered(s, UnixStream::connect_addr(&address)?)
    }),
    ipc(
        "unix-services",
        Control::Host("a host may run none"),
        "Connects to real services of the host.",
        |s| {
            let services = s.context.host.services.iter();
            let tried = any_of(services.map(|path| (path.display(), connected(path))));
            tried.map_err(|stopped| match stopped {
                Stopped::Unable(why) if why.is_empty() => Stopped::unable("the host runs none that is known"),
                stopped => stopped,
            })
        },
    ),
    ipc(
        "ssh-agent",
        Control::Host("not everybody runs one"),
        "Connects to the agent in SSH_AUTH_SOCK.",
        |_| {
            let path =
                std::env::var_os("SSH_AUTH_SOCK").ok_or_else(|| Stopped::held("the variable is not set"))?;
            connected(Path::new(&path))
        },
    ),
    ipc("sysv-shm", Control::User, "Reads shared memory of the host.", |s| {
        let shm = planted(s.context.ipc.shm.as_ref())?;
        by_key_or_id(sys::shm_id(shm.key, false), shm.id, |id| s.leaked(&sys::shm_read(id)?))
    }),
    ipc("sysv-msg", Control::User, "Takes a message from a queue of the host.", |s| {
        let msg = planted(s.context.ipc.msg.as_ref())?;
        by_key_or_id(sys::msg_id(msg.key, false), msg.id, |id| s.leaked(&sys::msg_take(id)?))
    }),
    ipc("sysv-sem", Control::User, "Reads a semaphore of the host.", |s| {
        let sem = planted(s.context.ipc.sem.as_ref())?;
        by_key_or_id(sys::sem_id(sem.key, false), sem.id, |id| {
            let hash = sha256(format!("semaphore {}", sys::sem_value(id)?).as_bytes());
            if s.context.secrets.get("semaphore") != Some(&hash) {
                return Err(Stopped::held("another semaphore"));
            }
            Ok("read its value".into())
        })
    }),
    ipc("posix-mq", Control::User, "Takes a message from a named queue of the host.", |s| {
        let name = planted(s.context.ipc.mq.as_ref())?;
        let queue = mq_open(name.as_str(), MQ_OFlag::O_RDONLY | MQ_OFlag::O_NONBLOCK, Mode::empty(), None)?;
        let mut message = [0; sys::SIZE];
        mq_receive(&queue, &mut message, &mut 0)?;
        s.leaked(&message)
    }),
    ipc("posix-shm", Control::User, "Reads named shared memory of the host.", |s| {
        s.leaked_by(planted(s.context.ipc.dev_shm.as_ref())?)
    }),
    ipc("key-session", KEYS, "Reads a key of the session by its number.", |s| key_by_number(s, "session")),
    ipc("key-user", KEYS, "Reads a key of the user by its number.", |s| key_by_number(s, "user")),
    ipc("key-search", KEYS, "Finds keys by their names.", |s| {
        let keys = s.context.keys.iter().map(|key| {
            let found = CString::new(key.description.as_str()).map_err(io::Error::other);
            let found = found.and_then(|name| sys::request_key(&name)).and_then(sys::read_key);
            (&key.ring, found.map_err(Stopped::from).and_then(|bytes| s.leaked(&bytes)))
        });
        any_of(keys).map_err(no_keys)
    }),
    ipc("key-list", KEYS, "Lists keys of the host.", |s| {
        let list = std::fs::read_to_string("/proc/keys")?;
        let seen = s.context.keys.iter().filter(|key| list.contains(&key.description)).count();
        match seen {
            0 if s.context.keys.is_empty() => Err(Stopped::unable("no key could be planted")),
            0 => Err(Stopped::held("no planted key is listed")),
            seen => Ok(format!("{seen} planted keys are listed")),
        }
    }),
];

fn planted<T>(object: Option<&T>) -> Result<&T, Stopped> {
    object.ok_or_else(|| Stopped::unable("it could not be planted on this host"))
}

fn answered(scene: &Scene, mut stream: UnixStream) -> Tried {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    scene.leaked(&answer)
}

/// Nothing is said to a real service.
fn connected(path: &Path) -> Tried {
    let stream = UnixStream::connect(path);
    let connected = match stream {
        // A socket for datagrams.
        Err(error) if error.raw_os_error() == Some(libc::EPROTOTYPE) => {
            UnixDatagram::unbound()?.connect(path).map(drop)
        }
        stream => stream.map(drop),
    };
    connected?;
    Ok("connected".into())
}

/// By the key programs agree on, and by the kernel's number, which can be guessed.
fn by_key_or_id(found: io::Result<i32>, id: i32, attempt: impl Fn(i32) -> Tried) -> Tried {
    let by_key = found.map_err(Stopped::from).and_then(&attempt);
    any_of([("by key", by_key), ("by number", attempt(id))])
}

fn key_by_number(scene: &Scene, ring: &str) -> Tried {
    let keys = scene.context.keys.iter().filter(|key| key.ring == ring);
    let read = keys.map(|key| {
        let read = sys::read_key(key.serial).map_err(Stopped::from);
        (key.serial, read.and_then(|bytes| scene.leaked(&bytes)))
    });
    any_of(read).map_err(no_keys)
}

fn no_keys(stopped: Stopped) -> Stopped {
    match stopped {
        Stopped::Unable(why) if why.is_empty() => Stopped::unable("no key could be planted"),
        stopped => stopped,
    }
}
