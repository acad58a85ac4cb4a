//! A collector of our own, on loopback, that can misbehave.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// What it does when a request has come.
#[derive(Clone)]
pub(crate) enum Manner {
    /// Answers with these bytes, and hangs up.
    Says(Vec<u8>),
    /// Answers the first ones so, and the last one for ever.
    SaysInTurn(Vec<Vec<u8>>),
    /// Reads the request and never answers.
    Silent,
    /// Reads nothing either.
    Deaf,
    /// Answers with a byte at a time, and never ends.
    Dribbles,
    /// Answers with more and more bytes, as fast as they are read.
    Floods(Vec<u8>),
}

pub(crate) const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

pub(crate) struct Collector {
    address: std::net::SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Collector {
    pub(crate) fn good() -> Self {
        Self::new(Manner::Says(OK.to_vec()))
    }

    pub(crate) fn new(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (requests, stop) = (Arc::clone(&requests), Arc::clone(&stop));
            move || serve(&listener, &manner, &requests, &stop)
        });
        Self { address, requests, stop, thread: Some(thread) }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Everything that came, decoded.
    pub(crate) fn exports(&self) -> Vec<ExportTraceServiceRequest> {
        let decode = |request: Request| ExportTraceServiceRequest::decode(request.body.as_slice()).unwrap();
        self.requests().into_iter().map(decode).collect()
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let scopes = self.exports().into_iter().flat_map(|export| export.resource_spans);
        scopes.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    pub(crate) fn resource(&self) -> Vec<KeyValue> {
        self.exports().remove(0).resource_spans.remove(0).resource.unwrap().attributes
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // It may be waiting for somebody to come.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, manner: &Manner, requests: &Mutex<Vec<Request>>, stop: &AtomicBool) {
    let mut answers = match manner {
        Manner::SaysInTurn(answers) => answers.clone(),
        Manner::Says(answer) => vec![answer.clone()],
        _ => Vec::new(),
    };
    // Kept: who hangs up has answered.
    let mut held = Vec::new();
    for stream in listener.incoming() {
        if stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        if matches!(manner, Manner::Deaf) {
            held.push(stream);
            continue;
        }
        let Some(request) = request(&mut stream) else { continue };
        requests.lock().unwrap().push(request);
        match manner {
            Manner::Silent | Manner::Deaf => held.push(stream),
            Manner::Says(_) | Manner::SaysInTurn(_) => {
                let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() };
                let _ = stream.write_all(&answer);
            }
            Manner::Dribbles => {
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
                    .iter()
                    .chain(std::iter::repeat(&b'x'));
                for byte in answer {
                    if stop.load(Ordering::SeqCst) || stream.write_all(&[*byte]).is_err() {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            Manner::Floods(first) => {
                let _ = stream.write_all(first);
                let more = [b'x'; 4096];
                while !stop.load(Ordering::SeqCst) && stream.write_all(&more).is_ok() {}
            }
        }
    }
}

pub(crate) fn request(stream: &mut impl std::io::Read) -> Option<Request> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 || head.len() > 65_536 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap_or("0").trim().parse().unwrap()];
    stream.read_exact(&mut body).ok()?;
    Some(Request { head, body })
}

/// The attribute of a name, as a test reads it: texts and numbers as they are, lists behind each other.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    fn text(value: &Value) -> String {
        match value {
            Value::StringValue(text) => text.clone(),
            Value::IntValue(number) => number.to_string(),
            Value::BoolValue(flag) => flag.to_string(),
            Value::ArrayValue(list) => {
                let texts = list.values.iter().map(|value| text(value.value.as_ref().unwrap()));
                texts.collect::<Vec<_>>().join(" ")
            }
            other => panic!("{other:?}"),
        }
    }
    let mut found = attributes.iter().filter(|attribute| attribute.key == key);
    let first = found.next()?;
    assert!(found.next().is_none(), "{key} is there twice");
    Some(text(first.value.as_ref().unwrap().value.as_ref().unwrap()))
}
