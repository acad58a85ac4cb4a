//! What there is to be reached: servers, and sinks that count.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::stage::until;

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// A server in threads of its own, one for each connection, until the test ends.
#[derive(Debug, Clone)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
    served: Arc<AtomicUsize>,
}

impl Server {
    /// Connections so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Connections that came to their end.
    #[must_use]
    pub fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }
}

/// Serves whoever connects to an address; port 0 is any.
pub fn serve(address: &str, converse: impl Fn(TcpStream) + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    // Room for all that come at once: where the queue is full, the kernel drops what a client takes for a connection, and tries again after seconds.
    rustix::net::listen(&listener, BACKLOG).unwrap();
    let server =
        Server { address: listener.local_addr().unwrap(), accepted: Arc::default(), served: Arc::default() };
    let (seen, converse) = (server.clone(), Arc::new(converse));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { continue };
            seen.accepted.fetch_add(1, Ordering::SeqCst);
            let (converse, ended) = (Arc::clone(&converse), Arc::clone(&seen.served));
            std::thread::spawn(move || {
                converse(stream);
                ended.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    server
}

/// Gives back what it gets.
#[must_use]
pub fn echo(address: &str) -> Server {
    serve(address, |stream| {
        let _ = std::io::copy(&mut &stream, &mut &stream);
        let _ = stream.shutdown(std::net::Shutdown::Write);
    })
}

/// Counts who comes, and answers nobody.
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
    visitors: Arc<Mutex<Vec<SocketAddr>>>,
    ours: Mutex<BTreeSet<SocketAddr>>,
}

impl Sink {
    /// Listens at an address; port 0 is any.
    #[must_use]
    pub fn new(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
        let address = listener.local_addr().unwrap();
        let visitors = Arc::<Mutex<Vec<_>>>::default();
        let seen = Arc::clone(&visitors);
        std::thread::spawn(move || {
            let mut guests = Vec::new();
            while let Ok((guest, from)) = listener.accept() {
                seen.lock().unwrap().push(from);
                guests.push(guest);
            }
        });
        let sink = Self { address, visitors, ours: Mutex::default() };
        assert_eq!(sink.strangers(), 0);
        sink
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many came besides ourselves. One of ours comes last each time: when it was seen, so was everybody before it, and that
    /// this sink can be reached is proved.
    #[must_use]
    pub fn strangers(&self) -> usize {
        let visit = TcpStream::connect(self.address).unwrap();
        let own = visit.local_addr().unwrap();
        self.ours.lock().unwrap().insert(own);
        until("the sink has seen its own visitor", || self.visitors.lock().unwrap().contains(&own));
        let ours = self.ours.lock().unwrap();
        self.visitors.lock().unwrap().iter().filter(|visitor| !ours.contains(visitor)).count()
    }
}

/// Counts datagrams, and answers none.
#[derive(Debug)]
pub struct DatagramSink {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl DatagramSink {
    /// Listens at an address; port 0 is any.
    #[must_use]
    pub fn new(address: &str) -> Self {
        let heard = Arc::<Mutex<Vec<_>>>::default();
        let seen = Arc::clone(&heard);
        let address = datagrams(address, move |bytes| {
            seen.lock().unwrap().push(bytes.to_vec());
            Vec::new()
        });
        let sink = Self { address, heard };
        assert_eq!(sink.strangers(), 0);
        sink
    }

    /// How many came besides our own, one of which comes last each time.
    #[must_use]
    pub fn strangers(&self) -> usize {
        const OURS: &[u8] = b"from the test itself";
        let own = || self.heard.lock().unwrap().iter().filter(|bytes| *bytes == OURS).count();
        let before = own();
        let local = if self.address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        UdpSocket::bind(local).unwrap().send_to(OURS, self.address).unwrap();
        until("the sink has heard its own datagram", || own() > before);
        self.heard.lock().unwrap().iter().filter(|bytes| *bytes != OURS).count()
    }
}

/// Answers datagrams, each with as many as `answer` gives. Where it listens.
pub fn datagrams(
    address: &str,
    mut answer: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
) -> SocketAddr {
    let socket = UdpSocket::bind(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    let address = socket.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            // An error is a client that is gone.
            let Ok((count, from)) = socket.recv_from(&mut buffer) else { continue };
            for reply in answer(&buffer[..count]) {
                let _ = socket.send_to(&reply, from);
            }
        }
    });
    address
}

/// Gives back each datagram.
#[must_use]
pub fn echo_datagrams(address: &str) -> SocketAddr {
    datagrams(address, |bytes| vec![bytes.to_vec()])
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_sink_tells_strangers_from_itself() {
        let sink = Sink::new("127.0.0.1:0");
        let _stranger = TcpStream::connect(sink.address()).unwrap();
        assert_eq!(sink.strangers(), 1);
        assert_eq!(sink.strangers(), 1);
        let sink = DatagramSink::new("127.0.0.1:0");
        UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"secret", sink.address).unwrap();
        assert_eq!(sink.strangers(), 1);
    }

    #[test]
    fn an_echo_says_what_it_heard_and_then_ends() {
        let server = echo("127.0.0.1:0");
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(b"hello").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "hello");
    }
}
