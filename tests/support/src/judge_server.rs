//! A judge on loopback: it speaks the chat-completions protocol, and answers as a test says; also badly, or never.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// A question that came.
#[derive(Clone, Debug)]
pub struct Question {
    /// The head of the request, in small letters.
    pub head: String,
    /// Its body.
    pub body: Value,
}

/// What becomes of a question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// Nothing, for ever.
    Silence,
    /// These bytes, and then nothing, for ever.
    Stall(Vec<u8>),
    /// These bytes, one at a time, and then more of the last, for ever.
    Dribble(Vec<u8>),
    /// These bytes, and then more and more, as fast as they are read.
    Flood(Vec<u8>),
}

impl Question {
    fn message(&self, number: usize) -> &str {
        self.body["messages"][number]["content"].as_str().unwrap_or_default()
    }

    fn between(text: &str, before: &str, after: &str) -> String {
        let rest = text.split_once(before).map_or("", |(_, rest)| rest);
        rest.split_once(after).map_or("", |(word, _)| word).to_owned()
    }

    /// The data: what was sent of a skill.
    #[must_use]
    pub fn data(&self) -> &str {
        self.message(1)
    }

    /// The word that an answer has to repeat.
    #[must_use]
    pub fn nonce(&self) -> String {
        Self::between(self.message(0), "{\"nonce\": \"", "\"")
    }

    /// The word that an answer may not repeat.
    #[must_use]
    pub fn bait(&self) -> String {
        let rest = self.data().split_once("amber-").map_or("", |(_, rest)| rest);
        format!("amber-{}", rest.get(..12).unwrap_or_default())
    }

    /// An answer of the asked form.
    #[must_use]
    pub fn answer(&self, harmful: bool, category: &str, quote: &str, reason: &str) -> Reply {
        let answer = json!({
            "nonce": self.nonce(), "harmful": harmful, "category": category, "quote": quote, "reason": reason,
        });
        says(&answer.to_string())
    }

    /// That no harm is seen.
    #[must_use]
    pub fn safe(&self) -> Reply {
        self.answer(false, "none", "", "It does what it says.")
    }
}

/// A completion with this content.
#[must_use]
pub fn says(content: &str) -> Reply {
    let body = json!({
        "id": "1", "object": "chat.completion", "model": "m",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": content }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1234, "completion_tokens": 56, "total_tokens": 1290 },
    });
    responds("200 OK", "Content-Type: application/json\r\n", body.to_string().as_bytes())
}

/// A response with a status, further header lines, and a body.
#[must_use]
pub fn responds(status: &str, headers: &str, body: &[u8]) -> Reply {
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n", body.len());
    Reply::Bytes([head.as_bytes(), body].concat())
}

type Answering = dyn Fn(&Question) -> Reply + Send + Sync;

/// A server that ends with its test.
pub struct JudgeServer {
    address: SocketAddr,
    state: Arc<ServerState>,
    thread: Option<JoinHandle<()>>,
}

struct ServerState {
    answering: Box<Answering>,
    questions: Mutex<Vec<Question>>,
    connections: AtomicUsize,
    open: AtomicUsize,
    most_open: AtomicUsize,
    stop: AtomicBool,
}

impl JudgeServer {
    /// A server that answers so.
    ///
    /// # Panics
    /// Where there is no loopback.
    pub fn new(answering: impl Fn(&Question) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ServerState {
            answering: Box::new(answering),
            questions: Mutex::default(),
            connections: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let thread = std::thread::spawn({
            let state = Arc::clone(&state);
            move || {
                let mut threads = Vec::new();
                for stream in listener.incoming() {
                    if state.stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let Ok(stream) = stream else { continue };
                    state.connections.fetch_add(1, Ordering::SeqCst);
                    let state = Arc::clone(&state);
                    threads.push(std::thread::spawn(move || state.serve(stream)));
                }
                for thread in threads {
                    let _ = thread.join();
                }
            }
        });
        Self { address, state, thread: Some(thread) }
    }

    /// One that sees no harm in anything.
    #[must_use]
    pub fn safe() -> Self {
        Self::new(Question::safe)
    }

    /// Where it listens, as a base address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What was asked.
    ///
    /// # Panics
    /// Where a thread of it has.
    #[must_use]
    pub fn questions(&self) -> Vec<Question> {
        self.state.questions.lock().unwrap().clone()
    }

    /// How many connected, whether they asked or not.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many questions were there at one time.
    #[must_use]
    pub fn most_open(&self) -> usize {
        self.state.most_open.load(Ordering::SeqCst)
    }
}

impl Drop for JudgeServer {
    fn drop(&mut self) {
        self.state.stop.store(true, Ordering::SeqCst);
        // It may be waiting for somebody to come.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ServerState {
    fn serve(&self, mut stream: TcpStream) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        let Some(question) = read_question(&mut stream) else { return };
        self.questions.lock().unwrap().push(question.clone());
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(open, Ordering::SeqCst);
        let reply = (self.answering)(&question);
        self.open.fetch_sub(1, Ordering::SeqCst);
        self.reply(&mut stream, &reply);
    }

    fn reply(&self, stream: &mut TcpStream, reply: &Reply) {
        let pause = || std::thread::sleep(Duration::from_millis(5));
        match reply {
            Reply::Bytes(bytes) => {
                let _ = stream.write_all(bytes);
            }
            Reply::Silence => self.wait(stream),
            Reply::Stall(bytes) => {
                let _ = stream.write_all(bytes);
                self.wait(stream);
            }
            Reply::Dribble(bytes) => {
                for byte in bytes.iter().chain(std::iter::repeat(bytes.last().unwrap_or(&b' '))) {
                    if self.stop.load(Ordering::SeqCst) || stream.write_all(&[*byte]).is_err() {
                        return;
                    }
                    pause();
                }
            }
            Reply::Flood(bytes) => {
                let _ = stream.write_all(bytes);
                while !self.stop.load(Ordering::SeqCst) && stream.write_all(&[b'x'; 4096]).is_ok() {
                    std::hint::spin_loop();
                }
            }
        }
    }

    /// Keeps a connection until the other side, or the test, is gone.
    fn wait(&self, stream: &mut TcpStream) {
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut byte = [0];
        while !self.stop.load(Ordering::SeqCst) && !matches!(stream.read(&mut byte), Ok(0)) {
            std::hint::spin_loop();
        }
    }
}

/// Reads one request.
pub fn read_question(stream: &mut impl std::io::Read) -> Option<Question> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 || head.len() > 65_536 {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.unwrap_or("0").trim().parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some(Question { head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}
