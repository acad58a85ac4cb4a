//! What the host's side tells: to the attacker beforehand, and to the driver at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where everything is that was planted. It holds hashes of secrets and no secret, so that an attacker cannot say it read one
/// without having read it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Context {
    /// The folder everything lies in.
    pub dir: PathBuf,
    /// A home full of secrets. Not granted.
    pub home: PathBuf,
    /// Files that must not change, one per technique. Not granted, though anybody on the host may write there.
    pub outside: PathBuf,
    /// To be granted for reading and writing.
    pub granted: PathBuf,
    /// To be granted for reading.
    pub readonly: PathBuf,
    /// A skill: granted for reading, and never to be changed.
    pub skill: PathBuf,
    /// Where the trace of the run is written, by whoever runs it. Not granted.
    pub trace: PathBuf,
    /// A file only another user may read, where the planter could make one.
    pub other_user: Option<PathBuf>,
    /// Copies of the probe that change the user when started, where the planter could make any. They lie in `readonly`.
    pub setuid: Vec<PathBuf>,
    /// SHA-256 of each secret by what it is.
    pub secrets: BTreeMap<String, String>,
    /// SHA-256 of what may be read, by file name in `granted` and `readonly`.
    pub allowed: BTreeMap<String, String>,
    /// The file handle of a secret: what `open_by_handle_at(2)` takes instead of a path.
    pub handle: Option<Handle>,
    /// The planting process itself.
    pub victim: Victim,
    /// Sockets that answer with a canary.
    pub sockets: Sockets,
    /// Shared memory, queues and semaphores with canaries.
    pub ipc: Ipc,
    /// Keys with canaries in the kernel's keyrings.
    pub keys: Vec<Key>,
    /// What the host itself looks like.
    pub host: Host,
    /// What the driver did before it started the sandbox.
    #[serde(default)]
    pub launcher: Launcher,
}

impl Context {
    /// On one line, as `attack --context` takes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Its maps have texts as keys, so that nothing in it can fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A process outside to be read, signalled and traced.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Victim {
    /// Its number on the host.
    pub pid: i32,
    /// When it was started, in ticks since boot (`/proc/pid/stat`): another process with its number is another one.
    pub start_time: u64,
    /// Where in its memory a canary is.
    pub secret_address: u64,
    /// Where in its memory a number is that nobody may change.
    pub cell_address: u64,
    /// A descriptor of an anonymous file with a canary.
    pub secret_fd: i32,
    /// A file with a canary in its current folder.
    pub file_in_cwd: String,
}

/// A file handle as `name_to_handle_at(2)` gives it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Handle {
    /// The file system's own kind.
    pub kind: i32,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Sockets of the host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sockets {
    /// A stream socket with a path, as agents of keys, containers and buses have.
    pub stream: PathBuf,
    /// A datagram socket with a path, as loggers have.
    pub datagram: PathBuf,
    /// A stream socket in the abstract name space.
    pub abstract_name: String,
    /// A TCP port of 127.0.0.1.
    pub tcp: u16,
    /// A TCP port of `::1`, where the host has it.
    pub tcp6: Option<u16>,
    /// A UDP port of 127.0.0.1.
    pub udp: u16,
}

/// One object of System V.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SysV {
    /// The name programs agree on.
    pub key: i32,
    /// The kernel's number.
    pub id: i32,
}

/// What processes share without files. `None` where the host has not got it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ipc {
    /// Shared memory with a canary.
    pub shm: Option<SysV>,
    /// A queue with messages that are canaries.
    pub msg: Option<SysV>,
    /// A semaphore, the hash of whose value is the secret `semaphore`.
    pub sem: Option<SysV>,
    /// A POSIX queue with messages that are canaries.
    pub mq: Option<String>,
    /// A POSIX shared memory object.
    pub dev_shm: Option<PathBuf>,
}

/// A key that holds a canary.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Key {
    /// `session` or `user`: the keyring it is in.
    pub ring: String,
    /// Its number.
    pub serial: i32,
    /// Its name.
    pub description: String,
}

/// The host, as somebody outside sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Host {
    /// Each name space by its name in `/proc/self/ns`, as that link reads.
    pub namespaces: BTreeMap<String, String>,
    /// Its name.
    pub hostname: String,
    /// The home of the user who planted.
    pub real_home: Option<Inode>,
    /// Sockets of real services.
    pub services: Vec<PathBuf>,
}

/// A file and which one it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Inode {
    /// Where it is.
    pub path: PathBuf,
    /// Its number.
    pub number: u64,
}

/// What the driver did in the process that starts the sandbox. Without these facts some techniques say that they were unable to try.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Launcher {
    /// It has a terminal.
    pub terminal: bool,
    /// It has so many files, folders and sockets open, beyond the first three.
    pub open_files: u32,
    /// It ignores and blocks signals.
    pub signals: bool,
}

/// What reached the victim, by its own account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Connections and datagrams by socket: `stream`, `datagram`, `abstract`, `granted`, `tcp`, `tcp6`, `udp`.
    pub reached: BTreeMap<String, u64>,
    /// Times SIGUSR1 came.
    pub signals: u64,
    /// Its memory was written.
    pub memory_written: bool,
    /// Files that are not what they were, with what became of them.
    pub changed: Vec<String>,
    /// Messages taken from its queues.
    pub messages_taken: u64,
    /// The host's name is another.
    pub hostname_changed: bool,
}

impl Witness {
    /// Nothing reached it.
    #[must_use]
    pub fn untouched(&self) -> bool {
        self.reached.values().all(|count| *count == 0)
            && self.signals == 0
            && !self.memory_written
            && self.changed.is_empty()
            && self.messages_taken == 0
            && !self.hostname_changed
    }
}
