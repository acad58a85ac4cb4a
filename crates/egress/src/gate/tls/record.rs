//! Records and the handshake messages in them (RFC 8446, 4 and 5.1).

use crate::gate::MOST_HELD;

pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(super) const ALERT: u8 = 21;
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const APPLICATION_DATA: u8 = 23;
pub(super) const HEARTBEAT: u8 = 24;

/// The first byte of a `ClientHello`.
pub(super) const CLIENT_HELLO: u8 = 1;

/// Bytes before the body of a record.
pub(super) const HEADER: usize = 5;

/// Most bytes in the body of a record, before and after it was encrypted.
const MOST_PLAIN: usize = 1 << 14;
const MOST_ENCRYPTED: usize = MOST_PLAIN + 256;

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) kind: u8,
    /// Bytes in the body, at least one.
    pub(super) len: usize,
}

impl RecordHeader {
    /// `None` for what is not a header of a record that may stand near the beginning of a connection. The version is 3 and
    /// something: servers do not look at the something.
    pub(super) fn read([kind, major, minor, high, low]: [u8; HEADER]) -> Option<Self> {
        let len = usize::from(u16::from_be_bytes([high, low]));
        let most = match kind {
            CHANGE_CIPHER_SPEC => 1,
            ALERT => 2,
            HANDSHAKE => MOST_PLAIN,
            APPLICATION_DATA => MOST_ENCRYPTED,
            _ => return None,
        };
        (major == 3 && minor <= 4 && (1..=most).contains(&len)).then_some(Self { kind, len })
    }
}

/// A handshake message that is being gathered from the records which it begins and ends together with.
#[derive(Debug, Default)]
pub(super) struct MessageGathering {
    /// Where the next record begins.
    at: usize,
    /// Bytes of the message in the records before it.
    have: usize,
    /// The first of them: kind and length.
    head: [u8; 4],
}

/// Not a `ClientHello` of a bearable length that ends where a record ends.
#[derive(Debug)]
pub(super) struct BadHello;

impl MessageGathering {
    /// Where the last record of the message ends, once it is there. The bytes are those of the last time, and more.
    pub(super) fn gather(&mut self, bytes: &[u8]) -> Result<Option<usize>, BadHello> {
        loop {
            // By where it is, not by how much is there: the same for any pieces.
            if self.at + HEADER >= MOST_HELD {
                return Err(BadHello);
            }
            let Some(header) = bytes.get(self.at..).and_then(|rest| rest.first_chunk::<HEADER>()) else {
                return Ok(None);
            };
            let header =
                RecordHeader::read(*header).filter(|header| header.kind == HANDSHAKE).ok_or(BadHello)?;
            let begin = self.at + HEADER;
            let end = begin + header.len;
            if end > MOST_HELD {
                return Err(BadHello);
            }
            let Some(body) = bytes.get(begin..end) else { return Ok(None) };
            for (to, from) in self.head.iter_mut().skip(self.have).zip(body) {
                *to = *from;
            }
            self.have += header.len;
            self.at = end;
            let [kind, a, b, c] = self.head;
            if kind != CLIENT_HELLO {
                return Err(BadHello);
            }
            if self.have < self.head.len() {
                continue;
            }
            let want = self.head.len() + length([a, b, c]);
            if self.have > want || want > MOST_HELD {
                return Err(BadHello);
            }
            if self.have == want {
                return Ok(Some(end));
            }
        }
    }
}

/// The body of the message in whole records that [`MessageGathering`] has found to be sound.
pub(super) fn body(mut records: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(records.len());
    while let Some((&[_, _, _, high, low], rest)) = records.split_first_chunk::<HEADER>() {
        let len = usize::from(u16::from_be_bytes([high, low]));
        let (body, rest) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        message.extend_from_slice(body);
        records = rest;
    }
    message.split_off(message.len().min(4))
}

/// Handshake messages that pass as they come.
#[derive(Debug, Default)]
pub(super) struct HandshakeMessages {
    head: [u8; 4],
    have: usize,
    left: usize,
}

impl HandshakeMessages {
    /// Whether the next byte begins a message.
    pub(super) fn is_between(&self) -> bool {
        self.have == 0 && self.left == 0
    }

    /// How many of these bytes come before a `ClientHello`.
    pub(super) fn before_hello(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.left > 0 {
                let count = self.left.min(bytes.len() - at);
                self.left -= count;
                at += count;
                continue;
            }
            if self.is_between() && byte == CLIENT_HELLO {
                break;
            }
            if let Some(to) = self.head.get_mut(self.have) {
                *to = byte;
            }
            self.have += 1;
            at += 1;
            if self.have == self.head.len() {
                let [_, a, b, c] = self.head;
                self.left = length([a, b, c]);
                self.have = 0;
            }
        }
        at
    }
}

/// A length in three bytes.
pub(super) fn length([a, b, c]: [u8; 3]) -> usize {
    usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c)
}
