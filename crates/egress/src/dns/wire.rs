//! Messages of DNS as bytes (RFC 1035, section 4).
//!
//! Read here rather than by a crate, since both sides are hostile and little is needed. The one crate that is small enough,
//! simple-dns, refuses types it does not know, takes class 0x8001 for the Internet, looks for the version of EDNS in the byte
//! of the DO bit, and makes room for as many records as a header claims. The tests read our answers with it, as a second opinion.

use std::fmt::Write as _;

/// Bytes of a header.
pub(crate) const HEADER: usize = 12;

/// Most bytes of a name, its lengths counted and the root's as well.
const MOST_NAME: usize = 255;

/// Most bytes of a label.
const MOST_LABEL: u8 = 63;

/// Most compression pointers in one name. Each leads further back, and no writer needs more than a few.
const MOST_POINTERS: usize = 32;

pub(crate) const A: u16 = 1;
pub(crate) const CNAME: u16 = 5;
pub(crate) const SOA: u16 = 6;
pub(crate) const AAAA: u16 = 28;
pub(crate) const OPT: u16 = 41;
pub(crate) const IXFR: u16 = 251;
pub(crate) const AXFR: u16 = 252;
pub(crate) const ANY: u16 = 255;

/// The class of the Internet.
pub(crate) const IN: u16 = 1;

/// Bits of the second word of a header.
pub(crate) mod flag {
    pub(crate) const RESPONSE: u16 = 0x8000;
    pub(crate) const OPCODE: u16 = 0x7800;
    pub(crate) const TRUNCATED: u16 = 0x0200;
    pub(crate) const RECURSION_DESIRED: u16 = 0x0100;
    pub(crate) const RECURSION_AVAILABLE: u16 = 0x0080;
    pub(crate) const CHECKING_DISABLED: u16 = 0x0010;
    pub(crate) const RCODE: u16 = 0x000f;
}

/// Not a message as the standard has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MalformedMessage;

/// The first twelve bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DnsHeader {
    pub(crate) id: u16,
    pub(crate) flags: u16,
    pub(crate) questions: u16,
    pub(crate) answers: u16,
    pub(crate) authorities: u16,
    pub(crate) additionals: u16,
}

impl DnsHeader {
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        for word in [self.id, self.flags, self.questions, self.answers, self.authorities, self.additionals] {
            out.extend_from_slice(&word.to_be_bytes());
        }
    }
}

/// A record, with its data where it lies in the message.
#[derive(Debug)]
pub(crate) struct DnsRecord<'a> {
    pub(crate) owner: DnsName,
    pub(crate) kind: u16,
    pub(crate) class: u16,
    pub(crate) ttl: u32,
    pub(crate) data: &'a [u8],
    /// Where the data begins, for names in it.
    pub(crate) data_at: usize,
}

/// Reads a message from its beginning to its end. Nothing is allotted by what the message claims about itself.
#[derive(Debug)]
pub(crate) struct DnsReader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> DnsReader<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Self {
        Self { message, at: 0 }
    }

    pub(crate) fn at(message: &'a [u8], at: usize) -> Self {
        Self { message, at }
    }

    /// How far was read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.message.len()
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], MalformedMessage> {
        let end = self.at.checked_add(count).ok_or(MalformedMessage)?;
        let bytes = self.message.get(self.at..end).ok_or(MalformedMessage)?;
        self.at = end;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, MalformedMessage> {
        self.bytes(1)?.first().copied().ok_or(MalformedMessage)
    }

    pub(crate) fn read_u16(&mut self) -> Result<u16, MalformedMessage> {
        self.bytes(2)?.try_into().map(u16::from_be_bytes).map_err(|_| MalformedMessage)
    }

    fn double_word(&mut self) -> Result<u32, MalformedMessage> {
        self.bytes(4)?.try_into().map(u32::from_be_bytes).map_err(|_| MalformedMessage)
    }

    pub(crate) fn header(&mut self) -> Result<DnsHeader, MalformedMessage> {
        Ok(DnsHeader {
            id: self.read_u16()?,
            flags: self.read_u16()?,
            questions: self.read_u16()?,
            answers: self.read_u16()?,
            authorities: self.read_u16()?,
            additionals: self.read_u16()?,
        })
    }

    /// A name that is written out: there is nothing before the first question that a pointer could mean.
    pub(crate) fn plain_name(&mut self) -> Result<DnsName, MalformedMessage> {
        let mut name = DnsName::default();
        loop {
            match self.byte()? {
                0 => return Ok(name),
                length if length <= MOST_LABEL => name.push(length, self.bytes(length.into())?)?,
                _ => return Err(MalformedMessage),
            }
        }
    }

    /// A name that may end in a pointer to an earlier one.
    pub(crate) fn name(&mut self) -> Result<DnsName, MalformedMessage> {
        let mut name = DnsName::default();
        // Where the current stretch of labels begins: a pointer must lead to before it, so that nothing can go in circles.
        let mut from = self.at;
        let mut after = None;
        let mut pointers = 0;
        loop {
            match self.byte()? {
                0 => break,
                length if length <= MOST_LABEL => name.push(length, self.bytes(length.into())?)?,
                high if high >= 0xc0 => {
                    let to = usize::from(u16::from_be_bytes([high & 0x3f, self.byte()?]));
                    pointers += 1;
                    if to >= from || to < HEADER || pointers > MOST_POINTERS {
                        return Err(MalformedMessage);
                    }
                    after.get_or_insert(self.at);
                    (self.at, from) = (to, to);
                }
                _ => return Err(MalformedMessage),
            }
        }
        self.at = after.unwrap_or(self.at);
        Ok(name)
    }

    pub(crate) fn record(&mut self) -> Result<DnsRecord<'a>, MalformedMessage> {
        let owner = self.name()?;
        let (kind, class, ttl) = (self.read_u16()?, self.read_u16()?, self.double_word()?);
        let length = self.read_u16()?;
        let data_at = self.at;
        Ok(DnsRecord { owner, kind, class, ttl, data: self.bytes(length.into())?, data_at })
    }
}

/// A name as its labels, each any bytes at all: a dot in a label is not the end of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DnsName {
    /// Labels with their lengths before them, without the root's.
    wire: Vec<u8>,
}

impl DnsName {
    fn push(&mut self, length: u8, label: &[u8]) -> Result<(), MalformedMessage> {
        self.wire.push(length);
        self.wire.extend_from_slice(label);
        // The root's length is still to come.
        if self.wire.len() < MOST_NAME { Ok(()) } else { Err(MalformedMessage) }
    }

    /// A host name, in labels.
    pub(crate) fn of_host(host: &str) -> Result<Self, MalformedMessage> {
        let mut name = Self::default();
        for label in host.strip_suffix('.').unwrap_or(host).split('.') {
            let length = u8::try_from(label.len()).map_err(|_| MalformedMessage)?;
            if !(1..=MOST_LABEL).contains(&length) || !label.bytes().all(is_of_hosts) {
                return Err(MalformedMessage);
            }
            name.push(length, label.as_bytes())?;
        }
        Ok(name)
    }

    pub(crate) fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.wire.as_slice();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first()?;
            let (label, after) = after.split_at_checked(usize::from(*length))?;
            rest = after;
            Some(label)
        })
    }

    /// The name as a text that can mean no other name, or `None` where it holds a byte that no host name does.
    pub(crate) fn host(&self) -> Option<String> {
        let mut host = String::with_capacity(self.wire.len());
        for label in self.labels() {
            if !label.iter().copied().all(is_of_hosts) {
                return None;
            }
            if !host.is_empty() {
                host.push('.');
            }
            host.extend(label.iter().map(|&byte| char::from(byte)));
        }
        Some(host)
    }

    /// The name for people: as it was asked for, with every odd byte as `\` and its number. At most four times as long as a name
    /// can be.
    pub(crate) fn escaped(&self) -> String {
        let mut text = String::new();
        for label in self.labels() {
            if !text.is_empty() {
                text.push('.');
            }
            for &byte in label {
                match byte {
                    b'.' | b'\\' => text.extend(['\\', char::from(byte)]),
                    0x21..=0x7e => text.push(char::from(byte)),
                    _ => {
                        // Writing to a text cannot fail.
                        let _ = write!(text, "\\{byte:03}");
                    }
                }
            }
        }
        if text.is_empty() { ".".to_owned() } else { text }
    }

    /// Whether two names are the same but for the case of letters. Lengths are below 64, and so never letters.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.wire.eq_ignore_ascii_case(&other.wire)
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.wire);
        out.push(0);
    }
}

fn is_of_hosts(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}
