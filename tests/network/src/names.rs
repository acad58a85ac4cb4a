//! A name server on the stage: what it was asked is known, and what it says is for the test to decide.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Those of these addresses that are of the kind which was asked for, with nought seconds to keep them.
    Addresses(Vec<IpAddr>),
    /// The same, with so many seconds.
    Lasting(Vec<IpAddr>, u32),
    /// There is no such name.
    NoSuchName,
    /// These bytes, whatever they are; of the first two, those of the question are kept if asked for.
    Raw {
        /// Everything behind the number of the question.
        bytes: Vec<u8>,
        /// Whether the number is that of the question.
        right_number: bool,
    },
    /// "Ask again over TCP", and then these.
    OverTcp(Vec<IpAddr>),
    /// Nothing.
    Silence,
}

impl Reply {
    /// One address.
    #[must_use]
    pub fn one(address: &str) -> Self {
        Self::all(&[address])
    }

    /// Several addresses.
    #[must_use]
    pub fn all(addresses: &[&str]) -> Self {
        Self::Addresses(addresses.iter().map(|address| address.parse().unwrap()).collect())
    }

    /// One address that may be kept for so many seconds.
    #[must_use]
    pub fn lasting(address: &str, seconds: u32) -> Self {
        Self::Lasting(vec![address.parse().unwrap()], seconds)
    }
}

/// A name server in threads of its own, on port 53 of an address of the stage.
#[derive(Debug)]
pub struct Resolver {
    /// Where it is.
    pub address: IpAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Resolver {
    /// Answers with what `reply` says to a name and how often that name was asked for before, by kind of address.
    pub fn new(address: &str, reply: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let address: IpAddr = address.parse().unwrap();
        let socket = UdpSocket::bind((address, 53)).unwrap();
        let listener = TcpListener::bind((address, 53)).unwrap();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let (seen, reply) = (Arc::clone(&asked), Arc::new(reply));
        let over_tcp = Arc::clone(&reply);
        std::thread::spawn(move || {
            let mut buffer = [0; 1 << 12];
            loop {
                let Ok((count, from)) = socket.recv_from(&mut buffer) else { continue };
                let question = buffer[..count].to_vec();
                let (name, kind) = parsed(&question);
                let label = format!("{name} {kind}");
                let before = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(label.clone());
                    seen.iter().filter(|other| **other == label).count() - 1
                };
                if let Some(bytes) = answer(&question, kind, &reply(&name, before), false) {
                    let _ = socket.send_to(&bytes, from);
                }
            }
        });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
                let mut length = [0; 2];
                if stream.read_exact(&mut length).is_err() {
                    continue;
                }
                let mut question = vec![0; u16::from_be_bytes(length).into()];
                if stream.read_exact(&mut question).is_err() {
                    continue;
                }
                let (name, kind) = parsed(&question);
                if let Some(bytes) = answer(&question, kind, &over_tcp(&name, 0), true) {
                    let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
                    let _ = stream.write_all(&[&length, bytes.as_slice()].concat());
                }
            }
        });
        Self { address, asked }
    }

    /// The names it was asked for over UDP, each with the number of the kind of record, in their order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// The name and the kind of record of a question.
fn parsed(question: &[u8]) -> (String, u16) {
    let mut labels = Vec::new();
    let mut at = 12;
    while question[at] != 0 {
        let length = usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..=at + length]).into_owned());
        at += length + 1;
    }
    (labels.join("."), u16::from_be_bytes([question[at + 1], question[at + 2]]))
}

fn answer(question: &[u8], kind: u16, reply: &Reply, over_tcp: bool) -> Option<Vec<u8>> {
    let seconds = if let Reply::Lasting(_, seconds) = reply { *seconds } else { 0 };
    let (flags, addresses): ([u8; 2], &[IpAddr]) = match reply {
        Reply::Silence => return None,
        Reply::Raw { bytes, right_number } => {
            let number = if *right_number { [question[0], question[1]] } else { [!question[0], question[1]] };
            return Some([&number, bytes.as_slice()].concat());
        }
        Reply::NoSuchName => ([0x81, 0x83], &[]),
        Reply::OverTcp(_) if !over_tcp => ([0x83, 0x80], &[]),
        Reply::OverTcp(addresses) | Reply::Addresses(addresses) | Reply::Lasting(addresses, _) => {
            ([0x81, 0x80], addresses)
        }
    };
    let wanted: Vec<_> = addresses.iter().filter(|address| address.is_ipv6() == (kind == 28)).collect();
    let count = u8::try_from(wanted.len()).unwrap();
    let mut message = [&question[..2], &flags, &[0, 1, 0, count, 0, 0, 0, 0], &question[12..]].concat();
    for address in wanted {
        let data = match address {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        // The name of the question, its kind, IN, the seconds.
        message.extend([0xc0, 12, 0, u8::try_from(kind).unwrap(), 0, 1]);
        message.extend(seconds.to_be_bytes());
        message.push(0);
        message.push(u8::try_from(data.len()).unwrap());
        message.extend(data);
    }
    Some(message)
}
