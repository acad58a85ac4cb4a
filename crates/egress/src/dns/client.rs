//! Asks one resolver for the addresses of a name. It blocks, until an instant that is given.
//!
//! The resolver is the one that was configured; everything between it and us is hostile. What does not answer our question, with
//! our number, on our socket, is not looked at further. What is taken from an answer is addresses, and no more than
//! [`MOST_ADDRESSES`] of them; where they lead is for others to judge.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};

use super::wire::{A, AAAA, CNAME, DnsHeader, DnsName, DnsReader, IN, MalformedMessage, flag};

/// Most addresses of one name and one family: more than anyone will try.
const MOST_ADDRESSES: usize = 32;

/// Most names between the one that was asked for and its address.
const MOST_ALIASES: usize = 16;

/// Most datagrams that may come besides the answers, before it counts as an attack.
const MOST_STRAYS: u32 = 4096;

/// When a question is asked again, the last one over and over.
const AGAIN: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

/// How long the second family is waited for when the first has addresses, or is told that there is no such name: some servers
/// say so of a family that they do not know (RFC 4074).
const GRACE: Duration = Duration::from_secs(2);

/// The addresses of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResolvedName {
    /// Those of IPv4 first.
    pub(crate) addresses: Vec<IpAddr>,
    /// The seconds for which all of it holds: the fewest of all records that lead to an address. `None` where there is no address.
    pub(crate) ttl: Option<u32>,
}

impl ResolvedName {
    fn extend(&mut self, other: Self) {
        self.addresses.extend(other.addresses);
        self.ttl = [self.ttl, other.ttl].into_iter().flatten().min();
    }
}

/// The addresses of a name.
pub(crate) fn resolve(server: SocketAddr, name: &str, deadline: Instant) -> io::Result<ResolvedName> {
    let name = DnsName::of_host(name).map_err(|MalformedMessage| {
        io::Error::new(ErrorKind::InvalidInput, "not a name that can be asked for")
    })?;
    let mut asked = [AddressQuery::new(A)?, AddressQuery::new(AAAA)?];
    if let [first, second] = &mut asked
        && first.id == second.id
    {
        second.id ^= 1;
    }
    over_udp(server, &name, &mut asked, deadline)?;
    let mut found = ResolvedName::default();
    let mut fault = None;
    for asked in asked {
        match asked.told {
            Some(Ok(of_one_family)) => found.extend(of_one_family),
            Some(Err(fail)) => fault = fault.max(Some(fail)),
            None => fault = fault.max(Some(QueryFailure::Silent)),
        }
    }
    match fault {
        _ if !found.addresses.is_empty() => Ok(found),
        Some(fail) => Err(fail.error(server)),
        None => Err(io::Error::new(ErrorKind::NotFound, "the name has no address")),
    }
}

/// A question for addresses of one family.
#[derive(Debug)]
pub(super) struct AddressQuery {
    pub(super) id: u16,
    pub(super) kind: u16,
    pub(super) told: Option<QueryResult>,
}

pub(super) type QueryResult = Result<ResolvedName, QueryFailure>;

/// Why there are no addresses. Of two, the later one here is told: it says more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QueryFailure {
    Silent,
    /// Over TCP, where the answer did not fit a datagram.
    Tcp(String),
    /// The code of the answer.
    Code(u16),
    NoSuchName,
}

impl QueryFailure {
    fn error(self, server: SocketAddr) -> io::Error {
        match self {
            Self::NoSuchName => io::Error::new(
                ErrorKind::NotFound,
                "the resolver says that the name does not exist (NXDOMAIN)",
            ),
            Self::Code(code) => {
                let name = match code {
                    1 => "FORMERR",
                    2 => "SERVFAIL",
                    4 => "NOTIMP",
                    5 => "REFUSED",
                    _ => "an error",
                };
                io::Error::other(format!("the resolver {server} answered {name} (code {code})"))
            }
            Self::Tcp(why) => io::Error::other(format!("the resolver {server} wants TCP, and there {why}")),
            Self::Silent => {
                io::Error::new(ErrorKind::TimedOut, format!("the resolver {server} did not answer in time"))
            }
        }
    }
}

impl AddressQuery {
    fn new(kind: u16) -> io::Result<Self> {
        let mut id = [0; 2];
        // Two bytes come at once or not at all.
        let count = getrandom(&mut id, GetRandomFlags::empty())?;
        if count < id.len() {
            return Err(io::Error::other("the kernel gave no random number"));
        }
        Ok(Self { id: u16::from_be_bytes(id), kind, told: None })
    }

    fn message(&self, name: &DnsName) -> Vec<u8> {
        let mut out = Vec::with_capacity(512);
        let flags = flag::RECURSION_DESIRED;
        DnsHeader { id: self.id, flags, questions: 1, answers: 0, authorities: 0, additionals: 0 }
            .write(&mut out);
        name.write(&mut out);
        out.extend_from_slice(&self.kind.to_be_bytes());
        out.extend_from_slice(&IN.to_be_bytes());
        out
    }
}

fn over_udp(
    server: SocketAddr,
    name: &DnsName,
    asked: &mut [AddressQuery],
    deadline: Instant,
) -> io::Result<()> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // A socket of its own for each name, so that its port has to be guessed too; connected, so that the kernel drops what others
    // send.
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    let mut until = deadline;
    let mut waits = AGAIN.iter().copied();
    let mut last = Duration::ZERO;
    let mut again = Instant::now();
    let mut strays = 0;
    let mut buffer = vec![0; 1 << 16];
    while asked.iter().any(|asked| asked.told.is_none()) {
        let now = Instant::now();
        if now >= until {
            return Ok(());
        }
        if now >= again {
            for asked in asked.iter().filter(|asked| asked.told.is_none()) {
                match socket.send(&asked.message(name)) {
                    Err(error) if !is_wait(&error) => return Err(unreachable(server, &error)),
                    _ => {}
                }
            }
            last = waits.next().unwrap_or(last);
            again = now + last;
        }
        // Never nought, which would be for ever.
        let wait = again.min(until).saturating_duration_since(now).max(Duration::from_millis(1));
        socket.set_read_timeout(Some(wait))?;
        let length = match socket.recv(&mut buffer) {
            Ok(length) => length,
            Err(error) if is_wait(&error) => continue,
            Err(error) => return Err(unreachable(server, &error)),
        };
        let message = buffer.get(..length).unwrap_or_default();
        let told = asked.iter_mut().filter(|asked| asked.told.is_none()).find_map(|asked| {
            let read = read(message, name, asked).ok()?;
            Some((asked, read))
        });
        match told {
            Some((asked, Some(told))) => {
                if told.as_ref().map_or_else(
                    |fail| *fail == QueryFailure::NoSuchName,
                    |found| !found.addresses.is_empty(),
                ) {
                    until = until.min(Instant::now() + GRACE);
                }
                asked.told = Some(told);
            }
            // Too long for a datagram.
            Some((asked, None)) => {
                let told = over_tcp(server, name, asked, deadline);
                asked.told = Some(told.unwrap_or_else(|error| Err(QueryFailure::Tcp(error.to_string()))));
            }
            None => {
                strays += 1;
                if strays > MOST_STRAYS {
                    return Err(io::Error::other(format!(
                        "too much comes from {server} that answers no question"
                    )));
                }
            }
        }
    }
    Ok(())
}

fn over_tcp(
    server: SocketAddr,
    name: &DnsName,
    asked: &AddressQuery,
    deadline: Instant,
) -> io::Result<QueryResult> {
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::Error::from(ErrorKind::TimedOut)) } else { Ok(left) }
    };
    let mut stream = TcpStream::connect_timeout(&server, left()?)?;
    let message = asked.message(name);
    // At most 12 + 255 + 4 bytes.
    let length = u16::try_from(message.len()).unwrap_or_default();
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(&[&length.to_be_bytes(), message.as_slice()].concat())?;
    // A byte now and then must not keep us here: the deadline is looked at before each.
    let mut fill = |buffer: &mut [u8]| {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            stream.set_read_timeout(Some(left()?))?;
            match stream.read(rest) {
                Ok(0) => return Err(io::Error::new(ErrorKind::UnexpectedEof, "it hung up")),
                Ok(count) => filled += count,
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    };
    let mut length = [0; 2];
    fill(&mut length)?;
    let mut answer = vec![0; u16::from_be_bytes(length).into()];
    fill(&mut answer)?;
    match read(&answer, name, asked) {
        Ok(Some(told)) => Ok(told),
        Ok(None) => Err(io::Error::new(ErrorKind::InvalidData, "the answer is cut short as well")),
        Err(MalformedMessage) => Err(io::Error::new(ErrorKind::InvalidData, "the answer cannot be read")),
    }
}

/// What a message says to a question: `None` where it was cut short. An error where it does not answer it.
pub(super) fn read(
    message: &[u8],
    name: &DnsName,
    asked: &AddressQuery,
) -> Result<Option<QueryResult>, MalformedMessage> {
    let mut reader = DnsReader::new(message);
    let header = reader.header()?;
    let ours = header.id == asked.id
        && header.flags & (flag::RESPONSE | flag::OPCODE) == flag::RESPONSE
        && header.questions == 1;
    if !ours
        || !reader.plain_name()?.is_same(name)
        || reader.read_u16()? != asked.kind
        || reader.read_u16()? != IN
    {
        return Err(MalformedMessage);
    }
    if header.flags & flag::TRUNCATED != 0 {
        return Ok(None);
    }
    match header.flags & flag::RCODE {
        0 => {}
        3 => return Ok(Some(Err(QueryFailure::NoSuchName))),
        code => return Ok(Some(Err(QueryFailure::Code(code)))),
    }
    let mut aliases = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..header.answers {
        let record = reader.record()?;
        if record.class != IN {
            continue;
        }
        if record.kind == CNAME {
            let mut data = DnsReader::at(message, record.data_at);
            let to = data.name()?;
            if data.position() != record.data_at + record.data.len() {
                return Err(MalformedMessage);
            }
            aliases.push((record.owner, to, seconds(record.ttl)));
        } else if record.kind == asked.kind {
            addresses.push((record.owner, address(record.kind, record.data)?, seconds(record.ttl)));
        }
    }
    // The records may lie in any order. Addresses of names that ours does not lead to are none of ours.
    let mut current = name;
    let mut shortest = u32::MAX;
    for _ in 0..MOST_ALIASES {
        match aliases.iter().find(|(owner, ..)| owner.is_same(current)) {
            Some((_, to, ttl)) => (current, shortest) = (to, shortest.min(*ttl)),
            None => break,
        }
    }
    let mut found = ResolvedName::default();
    let its = addresses.iter().filter(|(owner, ..)| owner.is_same(current));
    for (_, address, ttl) in its.take(MOST_ADDRESSES) {
        shortest = shortest.min(*ttl);
        found.addresses.push(*address);
        found.ttl = Some(shortest);
    }
    Ok(Some(Ok(found)))
}

/// For how long a record holds: a time with the highest bit set is none (RFC 2181, section 8).
fn seconds(ttl: u32) -> u32 {
    if ttl > i32::MAX.unsigned_abs() { 0 } else { ttl }
}

/// The address in a record, of the family that its type says.
fn address(kind: u16, data: &[u8]) -> Result<IpAddr, MalformedMessage> {
    let address = if kind == A {
        data.try_into().map(|v4: [u8; 4]| v4.into())
    } else {
        data.try_into().map(|v6: [u8; 16]| v6.into())
    };
    address.map_err(|_| MalformedMessage)
}

fn is_wait(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn unreachable(server: SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the resolver {server} cannot be asked: {error}"))
}
