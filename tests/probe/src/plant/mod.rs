//! The host's side: plants what is to be stolen, stays alive as a process to be attacked, and says at the end what reached it.

mod files;
mod objects;
mod services;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Write};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::stat::{Mode, umask};

use self::files::Files;
use self::objects::Objects;
use self::services::Services;
use crate::canary::Canary;
use crate::context::{Context, Host, Inode, Launcher, Victim, Witness};
use crate::scene::{own_pid, start_time};
use crate::sys;

/// The variable whose value is secret.
const VARIABLE: &str = "SKILLSANDBOX_PROBE_HOST_SECRET";
/// What is in the cell that nobody may change.
const CELL: u64 = 0x5ab0_7a9e_5ab0_7a9e;
/// Sockets that services are known by.
const KNOWN_SERVICES: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/run/podman/podman.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/systemd/journal/socket",
    "/run/snapd.socket",
    "/dev/log",
];

/// Secrets by name, as the attacker may know them.
type Secrets = BTreeMap<String, String>;

/// Makes a canary and notes its hash.
fn new_secret(secrets: &mut Secrets, name: impl Into<String>) -> io::Result<Canary> {
    let canary = Canary::random()?;
    secrets.insert(name.into(), canary.sha256());
    Ok(canary)
}

/// Plants in `dir`, prints the [`Context`], waits for the end of standard input, removes everything and prints the [`Witness`].
pub fn plant(dir: &Path, home: Option<&Path>) -> anyhow::Result<()> {
    let Some(variable) = std::env::var_os(VARIABLE) else {
        // Only the environment a program is started with is to be seen in `/proc`, so it is started again.
        let canary = Canary::random()?;
        let mut again = Command::new("/proc/self/exe");
        again.args(std::env::args_os().skip(1)).env(VARIABLE, canary.reveal());
        return Err(again.exec()).context("cannot start again with a secret in the environment");
    };
    let mut secrets = Secrets::new();
    secrets.insert("environment".into(), crate::canary::sha256(variable.as_encoded_bytes()));
    // Where only children may be traced (Yama), anybody may trace this process: the sandbox is tested, not Yama.
    let _ = sys::prctl(libc::PR_SET_PTRACER, u64::MAX);
    umask(Mode::empty());

    let files = Files::plant(dir, home, &mut secrets)?;
    // Whoever holds files removes them when it goes, also after an error below.
    std::env::set_current_dir(files.cwd())?;
    let objects = Objects::plant(&mut secrets)?;
    let signals = count_signals()?;
    let services = Services::start(&files.dir, &mut secrets)?;
    let body = Body::new(&mut secrets)?;
    let host = host();
    let context = Context {
        dir: files.dir.clone(),
        home: files.home.clone(),
        outside: files.outside(),
        granted: files.dir.join("granted"),
        readonly: files.dir.join("readonly"),
        skill: files.dir.join("skill"),
        trace: files.dir.join("trace/trace.json"),
        other_user: files.other_user.clone(),
        setuid: files.setuid.clone(),
        allowed: files.allowed.clone(),
        handle: files.handle(),
        victim: body.victim()?,
        sockets: services.addresses.clone(),
        ipc: objects.ipc.clone(),
        keys: objects.keys.clone(),
        host: host.clone(),
        launcher: Launcher::default(),
        secrets,
    };
    let before = files.snapshot();
    print(&context)?;
    io::stdin().read_to_end(&mut Vec::new())?;

    let witness = Witness {
        reached: services.reached(),
        signals: signals.load(Ordering::Relaxed),
        memory_written: body.cell.load(Ordering::Relaxed) != CELL,
        changed: files::difference(&before, &files.snapshot()),
        messages_taken: objects.messages_taken(),
        hostname_changed: hostname() != host.hostname,
    };
    drop((files, objects));
    print(&witness)
}

fn print(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

/// What of this process itself is to be stolen.
struct Body {
    secret: &'static str,
    cell: &'static AtomicU64,
    descriptor: OwnedFd,
}

impl Body {
    fn new(secrets: &mut Secrets) -> anyhow::Result<Self> {
        let secret = new_secret(secrets, "memory")?;
        let descriptor = sys::memfd(c"secret")?;
        let in_file = new_secret(secrets, "descriptor")?;
        fs::File::from(descriptor.try_clone()?).write_all(in_file.reveal().as_bytes())?;
        Ok(Self {
            secret: Box::leak(secret.reveal().to_owned().into_boxed_str()),
            cell: Box::leak(Box::new(AtomicU64::new(CELL))),
            descriptor,
        })
    }

    fn victim(&self) -> anyhow::Result<Victim> {
        Ok(Victim {
            pid: own_pid(),
            start_time: start_time(own_pid()).context("/proc does not show this process")?,
            secret_address: self.secret.as_ptr() as u64,
            cell_address: std::ptr::from_ref(self.cell) as u64,
            secret_fd: self.descriptor.as_raw_fd(),
            file_in_cwd: files::IN_CWD.into(),
        })
    }
}

/// Counts SIGUSR1 from now on. It is to be called before any other thread starts, so that all of them hold it back.
fn count_signals() -> anyhow::Result<&'static AtomicU64> {
    let counter: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    let set: SigSet = [Signal::SIGUSR1].into_iter().collect();
    set.thread_block()?;
    std::thread::spawn(move || {
        while set.wait().is_ok() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    Ok(counter)
}

fn host() -> Host {
    let namespaces = fs::read_dir("/proc/self/ns").into_iter().flatten().flatten();
    let namespaces = namespaces.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
    });
    let real_home = std::env::home_dir().and_then(|path| {
        let number = fs::metadata(&path).ok()?.ino();
        Some(Inode { path, number })
    });
    Host { namespaces: namespaces.collect(), hostname: hostname(), real_home, services: real_services() }
}

fn hostname() -> String {
    nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn real_services() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = KNOWN_SERVICES.iter().map(PathBuf::from).collect();
    let users = fs::read_dir("/run/user").into_iter().flatten().flatten();
    paths.extend(users.map(|user| user.path().join("bus")));
    let bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS");
    let bus = bus.as_deref().and_then(OsStr::to_str).and_then(|address| address.strip_prefix("unix:path="));
    paths.extend(bus.map(PathBuf::from));
    paths.extend(std::env::var_os("SSH_AUTH_SOCK").map(PathBuf::from));
    paths.retain(|path| path.exists());
    paths.sort();
    paths.dedup();
    paths
}
