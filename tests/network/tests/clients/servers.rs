//! Servers outside the sandbox, on loopback, that count what reaches them.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Far more than anything here takes; only there so that nothing waits for ever.
pub(crate) const DEADLINE: Duration = Duration::from_mins(2);

/// Most bytes that are kept of what came.
const KEPT: usize = 4 << 20;

/// A server, until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    book: Arc<Book>,
    over: Arc<AtomicBool>,
}

/// A request, as the server understood it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) host: String,
    pub(crate) body: usize,
}

/// What came to a server.
#[derive(Default)]
struct Book {
    pages: Mutex<Pages>,
    changed: Condvar,
}

#[derive(Default)]
struct Pages {
    /// Who connected, in order.
    peers: Vec<SocketAddr>,
    /// The test itself, which makes sure that nobody else is still on the way.
    own: Vec<SocketAddr>,
    /// Connections that are still served.
    open: usize,
    requests: Vec<Request>,
    bytes: Vec<u8>,
}

impl Server {
    /// HTTP/1.1 with connections that stay open. `/` greets, what is sent is counted, and whatever else is not there.
    pub(crate) fn http() -> Self {
        Self::http_at([127, 0, 0, 1])
    }

    /// The same at another loopback address.
    pub(crate) fn http_at(address: [u8; 4]) -> Self {
        Self::start(Ipv4Addr::from(address).into(), |stream, book| serve_http(stream, book, None)).unwrap()
    }

    /// The same at the loopback address of IPv6; `None` where there is none.
    pub(crate) fn http_v6() -> Option<Self> {
        let address = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1_u16]);
        Self::start(address, |stream, book| serve_http(stream, book, None)).ok()
    }

    /// HTTP/1.1 that hands out the files of a folder.
    pub(crate) fn files(folder: PathBuf) -> Self {
        let serve = move |stream: TcpStream, book: &Book| serve_http(stream, book, Some(&folder));
        Self::start(Ipv4Addr::LOCALHOST.into(), serve).unwrap()
    }

    /// Says something first, as mail servers do, and then whatever it hears.
    pub(crate) fn greeting() -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), |mut stream, book| {
            stream.write_all(b"220 ready\r\n")?;
            let mut bytes = [0; 4096];
            loop {
                let count = stream.read(&mut bytes)?;
                if count == 0 {
                    return Ok(());
                }
                book.keep(&bytes[..count]);
                stream.write_all(&bytes[..count])?;
            }
        })
        .unwrap()
    }

    /// Refuses every request after its head, and closes, whatever is still on its way.
    pub(crate) fn refusing() -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), |mut stream, book| {
            let mut bytes = [0; 1024];
            let count = stream.read(&mut bytes)?;
            book.keep(&bytes[..count]);
            stream.write_all(
                b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo much\n",
            )?;
            stream.shutdown(Shutdown::Write)?;
            // What comes is read, so that the answer is not overtaken by a reset.
            io::copy(&mut stream, &mut io::sink())?;
            Ok(())
        })
        .unwrap()
    }

    /// A port on which nobody listens: it was there a moment ago.
    pub(crate) fn gone() -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.local_addr().unwrap()
    }

    /// Agrees to whatever other protocol it is asked for, and then says what it hears.
    pub(crate) fn upgrading() -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), |stream, book| {
            let mut answers = stream.try_clone()?;
            let mut reader = BufReader::new(Noted { stream, book });
            let mut line = String::new();
            while reader.read_line(&mut line)? > 2 {
                line.clear();
            }
            answers.write_all(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            )?;
            io::copy(&mut reader, &mut answers)?;
            Ok(())
        })
        .unwrap()
    }

    /// Takes everything, and says nothing.
    pub(crate) fn silent() -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), |stream, book| {
            io::copy(&mut Noted { stream, book }, &mut io::sink())?;
            Ok(())
        })
        .unwrap()
    }

    /// Takes everything, and says nothing but one line when something came.
    pub(crate) fn sink() -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), |mut stream, book| {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes)?;
            book.keep(&bytes[..count]);
            if count == 0 {
                return Ok(());
            }
            // Whoever asked may have gone.
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nsunk\n");
            stream.shutdown(Shutdown::Write)?;
            loop {
                let count = stream.read(&mut bytes)?;
                if count == 0 {
                    return Ok(());
                }
                book.keep(&bytes[..count]);
            }
        })
        .unwrap()
    }

    /// Counts, and hands everything to another server.
    pub(crate) fn before(other: SocketAddr) -> Self {
        Self::start(Ipv4Addr::LOCALHOST.into(), move |stream, book| {
            let server = TcpStream::connect(other)?;
            server.set_read_timeout(Some(DEADLINE))?;
            let (mut from_server, mut to_client) = (server.try_clone()?, stream.try_clone()?);
            let answers = thread::spawn(move || {
                let _ = io::copy(&mut from_server, &mut to_client);
                let _ = to_client.shutdown(Shutdown::Write);
            });
            let _ = io::copy(&mut Noted { stream, book }, &mut &server);
            let _ = server.shutdown(Shutdown::Write);
            let _ = answers.join();
            Ok(())
        })
        .unwrap()
    }

    fn start<F>(address: IpAddr, serve: F) -> io::Result<Self>
    where
        F: Fn(TcpStream, &Book) -> io::Result<()> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind((address, 0))?;
        let server = Self {
            address: listener.local_addr()?,
            book: Arc::default(),
            over: Arc::new(AtomicBool::new(false)),
        };
        let (book, over, serve) = (Arc::clone(&server.book), Arc::clone(&server.over), Arc::new(serve));
        thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let Ok((stream, peer)) = listener.accept() else {
                    // No descriptors, for a moment: tests run side by side.
                    thread::sleep(Duration::from_millis(10));
                    continue;
                };
                stream.set_read_timeout(Some(DEADLINE)).unwrap();
                let mut pages = book.pages();
                pages.peers.push(peer);
                pages.open += 1;
                drop(pages);
                book.changed.notify_all();
                let (book, serve) = (Arc::clone(&book), Arc::clone(&serve));
                thread::spawn(move || {
                    // A client that breaks off is its own affair.
                    let _ = serve(stream, &book);
                    book.pages().open -= 1;
                    book.changed.notify_all();
                });
            }
        });
        Ok(server)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn port(&self) -> String {
        self.address.port().to_string()
    }

    /// How many have connected. Whoever connected before this was called is among them: the kernel hands connections over in
    /// order, and one of our own comes last.
    pub(crate) fn connections(&self) -> usize {
        let own = TcpStream::connect(self.address).unwrap();
        let name = own.local_addr().unwrap();
        let mut pages = self.book.until(|pages| pages.peers.contains(&name));
        drop(own);
        pages.own.push(name);
        pages.peers.len() - pages.own.len()
    }

    /// The requests that came, once all who connected are gone.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.connections();
        self.book.until(|pages| pages.open == 0).requests.clone()
    }

    /// What they were, and nothing else of them.
    pub(crate) fn request_lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.line).collect()
    }

    /// All that came, once all who connected are gone.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.connections();
        self.book.until(|pages| pages.open == 0).bytes.clone()
    }

    /// Nobody connected, and so nothing came.
    #[track_caller]
    pub(crate) fn saw_nothing(&self) {
        let connections = self.connections();
        let bytes = self.bytes();
        let shown = String::from_utf8_lossy(&bytes);
        assert_eq!((connections, shown.as_ref()), (0, ""), "the server was reached");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

impl Book {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap()
    }

    fn until(&self, is_so: impl Fn(&Pages) -> bool) -> MutexGuard<'_, Pages> {
        let waited = self.changed.wait_timeout_while(self.pages(), DEADLINE, |pages| !is_so(pages));
        let (pages, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "a server waits for its clients in vain");
        pages
    }

    fn keep(&self, bytes: &[u8]) {
        let mut pages = self.pages();
        let room = KEPT.saturating_sub(pages.bytes.len());
        pages.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// A stream of which everything read is written down.
struct Noted<'a> {
    stream: TcpStream,
    book: &'a Book,
}

impl Read for Noted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.book.keep(&buffer[..count]);
        Ok(count)
    }
}

fn serve_http(stream: TcpStream, book: &Book, folder: Option<&Path>) -> io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut reader = BufReader::new(Noted { stream, book });
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let line = line.trim_end().to_owned();
        let (mut host, mut length, mut chunked) = (String::new(), 0_usize, false);
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let header = header.trim_end();
            let Some((name, value)) = header.split_once(':') else { break };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "host" => value.clone_into(&mut host),
                "content-length" => length = value.parse().map_err(io::Error::other)?,
                "transfer-encoding" => chunked = true,
                "expect" => answers.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
                _ => {}
            }
        }
        let body = if chunked { read_chunks(&mut reader)? } else { skip_bytes(&mut reader, length)? };
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, answer) = match (method, target, folder) {
            ("GET" | "HEAD", "/", None) => ("200 OK", format!("hello from {host}\n").into_bytes()),
            ("POST" | "PUT", ..) => ("200 OK", format!("{body} bytes came\n").into_bytes()),
            ("GET", target, Some(folder)) => match read_file(folder, target) {
                Some(bytes) => ("200 OK", bytes),
                None => ("404 Not Found", b"no such file\n".to_vec()),
            },
            _ => ("404 Not Found", b"nothing here\n".to_vec()),
        };
        book.pages().requests.push(Request { line: line.clone(), host, body });
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", answer.len());
        answers.write_all(head.as_bytes())?;
        if method != "HEAD" {
            answers.write_all(&answer)?;
        }
    }
}

fn skip_bytes(reader: &mut impl Read, count: usize) -> io::Result<usize> {
    let skipped = io::copy(&mut reader.take(count as u64), &mut io::sink())?;
    Ok(usize::try_from(skipped).unwrap())
}

fn read_chunks(reader: &mut BufReader<Noted<'_>>) -> io::Result<usize> {
    let mut all = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim_end(), 16).map_err(io::Error::other)?;
        all += skip_bytes(reader, size)?;
        reader.read_line(&mut String::new())?;
        if size == 0 {
            return Ok(all);
        }
    }
}

fn read_file(folder: &Path, target: &str) -> Option<Vec<u8>> {
    let path = target.split('?').next()?.trim_start_matches('/');
    let path = folder.join(path);
    assert!(!target.contains(".."), "nobody asks for {target}");
    fs::read(path).ok()
}
