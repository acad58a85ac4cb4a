//! The head of a request (RFC 9112, 2 to 6), read more strictly than any server must.

use crate::attempt::RefusalReason;
use crate::gate::shorten_name;

/// What matters in the head of a request for the right host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) framing: BodyFraming,
    /// Whether it asks for another protocol.
    pub(super) upgrades: bool,
}

/// Where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFraming {
    Length(u64),
    Chunked,
}

/// The headers that decide where a request goes and where it ends: each at most once, with one spelling.
#[derive(Default)]
struct DecidingHeaders<'a> {
    host: Option<&'a [u8]>,
    content_length: Option<&'a [u8]>,
    transfer_encoding: Option<&'a [u8]>,
    upgrade: Option<&'a [u8]>,
    expect: Option<&'a [u8]>,
}

/// Characters of methods and of the names of headers.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl RequestHead {
    /// Reads a head, with its empty line, all of it printable ASCII in lines that end in CR LF.
    pub(super) fn read(head: &[u8], name: &str, port: u16) -> Result<Self, RefusalReason> {
        let mut lines = HeadLines(head);
        let line = lines.next().unwrap_or_default();
        let [method, target, version] = split_request_line(line).ok_or(RefusalReason::NotHttp)?;
        if method == b"PRI" && version.starts_with(b"HTTP/2") {
            return Err(RefusalReason::Http2);
        }
        let is_1_1 = version == b"HTTP/1.1";
        if !(is_1_1 || version == b"HTTP/1.0") || method.is_empty() || !method.iter().copied().all(is_token) {
            return Err(RefusalReason::NotHttp);
        }
        let deciding = DecidingHeaders::read(lines)?;
        let framing = deciding.framing(is_1_1)?;
        // Many servers do not read a body that they do not expect, and take it for the next request.
        if framing != BodyFraming::Length(0) && is_one_of(method, &["GET", "HEAD", "TRACE"]) {
            return Err(RefusalReason::NotHttp);
        }
        // Nor, some, after a question that is put in another way than the usual one.
        if deciding
            .expect
            .is_some_and(|expect| expect != b"100-continue" || framing == BodyFraming::Length(0))
        {
            return Err(RefusalReason::NotHttp);
        }
        let right = |host: &[u8]| check_host(host, name, port);
        match target {
            // Whatever comes after it would be for another server.
            _ if is_one_of(method, &["CONNECT"]) => return Err(RefusalReason::NotHttp),
            [b'/', ..] => {}
            b"*" if method == b"OPTIONS" => {}
            _ => right(parse_authority(target).ok_or(RefusalReason::NotHttp)?)?,
        }
        right(deciding.host.ok_or(RefusalReason::NoHost)?)?;
        Ok(Self { framing, upgrades: wants_upgrade(deciding.upgrade)? })
    }
}

/// Checks the lines after the last chunk: headers, and none that decides anything, which some servers would add to the head.
pub(super) fn check_trailers(trailers: &[u8]) -> Result<(), RefusalReason> {
    let none = DecidingHeaders::read(HeadLines(trailers))?;
    let decides =
        none.host.or(none.content_length).or(none.transfer_encoding).or(none.upgrade).or(none.expect);
    if decides.is_some() { Err(RefusalReason::NotHttp) } else { Ok(()) }
}

impl<'a> DecidingHeaders<'a> {
    fn read(lines: HeadLines<'a>) -> Result<Self, RefusalReason> {
        let mut deciding = Self::default();
        for line in lines {
            let colon = line.iter().position(|byte| *byte == b':').ok_or(RefusalReason::NotHttp)?;
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default();
            // A name with a space before, in or after it, or with none at all: a folded line, too, begins with a space.
            if name.is_empty() || !name.iter().copied().all(is_token) {
                return Err(RefusalReason::NotHttp);
            }
            // Gateways take one for the other.
            let as_gateways_read: Vec<u8> = name
                .iter()
                .map(|byte| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() })
                .collect();
            let (place, twice) = match as_gateways_read.as_slice() {
                b"host" => (&mut deciding.host, RefusalReason::NoHost),
                b"content-length" => (&mut deciding.content_length, RefusalReason::NotHttp),
                b"transfer-encoding" => (&mut deciding.transfer_encoding, RefusalReason::NotHttp),
                b"upgrade" => (&mut deciding.upgrade, RefusalReason::NotHttp),
                b"expect" => (&mut deciding.expect, RefusalReason::NotHttp),
                b"http2-settings" => return Err(RefusalReason::Http2),
                b"connection" | b"proxy-connection" => {
                    check_connection(value)?;
                    continue;
                }
                _ => continue,
            };
            let value =
                parse_plain_value(value).filter(|_| !name.contains(&b'_')).ok_or(RefusalReason::NotHttp)?;
            if place.replace(value).is_some() {
                return Err(twice);
            }
        }
        Ok(deciding)
    }

    fn framing(&self, is_1_1: bool) -> Result<BodyFraming, RefusalReason> {
        match (self.content_length, self.transfer_encoding) {
            (None, None) => Ok(BodyFraming::Length(0)),
            (Some(length), None) => {
                content_length(length).map(BodyFraming::Length).ok_or(RefusalReason::NotHttp)
            }
            // Before HTTP/1.1 there were no chunks; some servers read them anyway.
            (None, Some(b"chunked")) if is_1_1 => Ok(BodyFraming::Chunked),
            _ => Err(RefusalReason::NotHttp),
        }
    }
}

/// Some servers do not tell small letters from capitals here.
fn is_one_of(method: &[u8], methods: &[&str]) -> bool {
    methods.iter().any(|one| method.eq_ignore_ascii_case(one.as_bytes()))
}

/// A value after its leading spaces. `None` where it has other spaces around it, or tabs: some readers keep them.
fn parse_plain_value(value: &[u8]) -> Option<&[u8]> {
    let spaces = value.iter().take_while(|byte| **byte == b' ').count();
    let value = value.get(spaces..)?;
    (!value.contains(&b'\t') && !value.ends_with(b" ")).then_some(value)
}

fn content_length(value: &[u8]) -> Option<u64> {
    let sound = value.iter().all(u8::is_ascii_digit) && (value == b"0" || !value.starts_with(b"0"));
    // Eighteen digits cannot overflow anyone's number of eight bytes.
    if !sound || value.len() > 18 {
        return None;
    }
    str::from_utf8(value).ok()?.parse().ok()
}

/// `ProgramConnection` names headers that are for the next server only; one that decides must reach them all.
fn check_connection(value: &[u8]) -> Result<(), RefusalReason> {
    let deciding: [&[u8]; 3] = [b"host", b"content-length", b"transfer-encoding"];
    let names =
        |name: &[u8]| deciding.iter().any(|deciding| name.trim_ascii().eq_ignore_ascii_case(deciding));
    if value.split(|byte| *byte == b',').any(names) { Err(RefusalReason::NotHttp) } else { Ok(()) }
}

/// Whether another protocol is asked for, one whose beginning is not a greeting that a gate would have to judge.
fn wants_upgrade(value: Option<&[u8]>) -> Result<bool, RefusalReason> {
    let Some(value) = value else { return Ok(false) };
    for protocol in value.split(|byte| *byte == b',') {
        let protocol = protocol.trim_ascii().to_ascii_lowercase();
        if protocol.starts_with(b"h2") || protocol.starts_with(b"http/") {
            return Err(RefusalReason::Http2);
        }
        // TLS within this connection (RFC 2817), which could name another server.
        if protocol.is_empty() || protocol.starts_with(b"tls") {
            return Err(RefusalReason::NotHttp);
        }
    }
    Ok(true)
}

/// The host and port of a target in absolute form.
fn parse_authority(target: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = target.split_at_checked(b"http://".len())?;
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#' | b'\\')).unwrap_or(rest.len());
    let sound = scheme.eq_ignore_ascii_case(b"http://") && !matches!(rest.get(end), Some(b'#' | b'\\'));
    rest.get(..end).filter(|_| sound)
}

/// Whether a host, with its port or without, is the one that is meant.
fn check_host(host: &[u8], name: &str, port: u16) -> Result<(), RefusalReason> {
    if host.is_empty() {
        return Err(RefusalReason::NoHost);
    }
    let (sent, suffix) = host.split_at_checked(name.len()).unwrap_or((host, &[]));
    let same = sent.eq_ignore_ascii_case(name.as_bytes());
    if same && (suffix.is_empty() || suffix == format!(":{port}").as_bytes()) {
        return Ok(());
    }
    Err(RefusalReason::OtherHost(shorten_name(host)))
}

/// Exactly three words with one space between two.
fn split_request_line(line: &[u8]) -> Option<[&[u8]; 3]> {
    let mut words = line.split(|byte| *byte == b' ');
    let three = [words.next()?, words.next()?, words.next()?];
    let sound = words.next().is_none() && !line.contains(&b'\t') && three.iter().all(|word| !word.is_empty());
    sound.then_some(three)
}

/// The lines before an empty one.
struct HeadLines<'a>(&'a [u8]);

impl<'a> Iterator for HeadLines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.0.windows(2).position(|pair| pair == b"\r\n")?;
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.get(2..).unwrap_or_default();
        (!line.is_empty()).then_some(line)
    }
}
