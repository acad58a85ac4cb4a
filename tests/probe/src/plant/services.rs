//! Sockets that answer with a canary, and count who came.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::{Secrets, new_secret};
use crate::canary::{Canary, random_hex};
use crate::context::Sockets;
use crate::techniques::host_sockets;

/// Running services. Their threads end with the process.
pub(super) struct Services {
    pub(super) addresses: Sockets,
    counters: BTreeMap<&'static str, Arc<AtomicU64>>,
}

impl Services {
    pub(super) fn start(dir: &Path, secrets: &mut Secrets) -> io::Result<Self> {
        let mut counters = BTreeMap::new();
        let mut counter = |name| Arc::clone(counters.entry(name).or_default());
        let addresses = Sockets {
            stream: dir.join("run/agent.sock"),
            datagram: dir.join("run/log.sock"),
            abstract_name: format!("skillsandbox-probe-{}", random_hex(8)?),
            tcp: 0,
            tcp6: None,
            udp: 0,
        };

        let stream = UnixListener::bind(&addresses.stream)?;
        serve(move || Ok(stream.accept()?.0), counter("stream"), new_secret(secrets, "stream")?);
        let name = SocketAddr::from_abstract_name(&addresses.abstract_name)?;
        let named = UnixListener::bind_addr(&name)?;
        serve(move || Ok(named.accept()?.0), counter("abstract"), new_secret(secrets, "abstract")?);
        let datagram = UnixDatagram::bind(&addresses.datagram)?;
        let count = counter("datagram");
        thread::spawn(move || {
            let mut buffer = [0; 64];
            while datagram.recv(&mut buffer).is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        in_grants(dir, &mut counter, secrets)?;
        for path in [&addresses.stream, &addresses.datagram] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
        }

        let tcp = TcpListener::bind("127.0.0.1:0")?;
        let tcp_port = tcp.local_addr()?.port();
        serve(move || Ok(tcp.accept()?.0), counter("tcp"), new_secret(secrets, "tcp")?);
        let mut over_ipv6 = None;
        if let Ok(tcp6) = TcpListener::bind("[::1]:0") {
            over_ipv6 = Some(tcp6.local_addr()?.port());
            serve(move || Ok(tcp6.accept()?.0), counter("tcp6"), new_secret(secrets, "tcp6")?);
        }
        let udp = UdpSocket::bind("127.0.0.1:0")?;
        let udp_port = udp.local_addr()?.port();
        let (canary, count) = (new_secret(secrets, "udp")?, counter("udp"));
        thread::spawn(move || {
            let mut buffer = [0; 64];
            while let Ok((_, from)) = udp.recv_from(&mut buffer) {
                count.fetch_add(1, Ordering::Relaxed);
                let _ = udp.send_to(canary.reveal().as_bytes(), from);
            }
        });
        let addresses = Sockets { tcp: tcp_port, tcp6: over_ipv6, udp: udp_port, ..addresses };
        Ok(Self { addresses, counters })
    }

    /// How often each was reached.
    pub(super) fn reached(&self) -> BTreeMap<String, u64> {
        let counters = self.counters.iter();
        counters.map(|(name, count)| ((*name).to_owned(), count.load(Ordering::Relaxed))).collect()
    }
}

/// Sockets in what is granted, bound as tmux, ssh and others do it.
fn in_grants(
    dir: &Path,
    counter: &mut impl FnMut(&'static str) -> Arc<AtomicU64>,
    secrets: &mut Secrets,
) -> io::Result<()> {
    let open = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777));
    let granted = dir.join("granted");
    // The planter works in a folder beside them.
    for folder in ["granted", "readonly"] {
        let relative = Path::new("..").join(folder).join(host_sockets::RELATIVE);
        let listener = UnixListener::bind(&relative)?;
        open(&relative)?;
        let canary = new_secret(secrets, format!("{folder} socket"))?;
        serve(move || Ok(listener.accept()?.0), counter("granted"), canary);
    }
    let (bound, linked) = (dir.join("run/master.sock"), granted.join(host_sockets::LINKED));
    let listener = UnixListener::bind(&bound)?;
    open(&bound)?;
    std::fs::hard_link(&bound, &linked)?;
    serve(move || Ok(listener.accept()?.0), counter("granted"), new_secret(secrets, "linked socket")?);
    let datagram = UnixDatagram::bind(granted.join(host_sockets::DATAGRAM))?;
    open(&granted.join(host_sockets::DATAGRAM))?;
    let count = counter("granted");
    thread::spawn(move || {
        let mut buffer = [0; 64];
        while datagram.recv(&mut buffer).is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (count, canary) = (counter("granted"), new_secret(secrets, "later socket")?);
    thread::spawn(move || {
        while !granted.join(host_sockets::BIND_LATER).exists() {
            thread::sleep(std::time::Duration::from_millis(20));
        }
        let path = granted.join(host_sockets::LATER);
        let Ok(listener) = UnixListener::bind(&path) else { return };
        let _ = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777));
        serve(move || Ok(listener.accept()?.0), count, canary);
    });
    Ok(())
}

/// Answers everybody with the canary.
fn serve<S: Write>(
    mut accept: impl FnMut() -> io::Result<S> + Send + 'static,
    count: Arc<AtomicU64>,
    canary: Canary,
) {
    thread::spawn(move || {
        while let Ok(mut stream) = accept() {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(canary.reveal().as_bytes());
        }
    });
}
