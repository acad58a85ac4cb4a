//! What the server answers to a `ClientHello`.

use super::record::{ALERT, CHANGE_CIPHER_SPEC, HANDSHAKE, HEADER, RecordHeader, length};

/// The random value of a `ServerHello` that asks for another `ClientHello`: the SHA-256 of
/// `HelloRetryRequest` (RFC 8446, 4.1.3).
pub(super) const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2,
    0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

const HELLO_REQUEST: u8 = 0;
const SERVER_HELLO: u8 = 2;

/// The beginning of a `ServerHello`: kind, length, version, random.
const BEGINNING: usize = 4 + 2 + 32;

/// Listens to the server until it has made up its mind.
#[derive(Debug)]
pub(super) struct ServerAnswer {
    state: ServerAnswerState,
    header: [u8; HEADER],
    /// Bytes of `header` that are there.
    have_header: usize,
    kind: u8,
    /// Bytes that the record still has.
    left: usize,
    message: [u8; BEGINNING],
    /// Bytes of `message` that are there.
    have: usize,
    /// Bytes of the message to be skipped.
    skip: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerAnswerState {
    Nothing,
    ServerHello,
    /// Not TLS, or not what a server begins with.
    Nonsense,
}

impl ServerAnswer {
    pub(super) fn new() -> Self {
        Self {
            state: ServerAnswerState::Nothing,
            header: [0; HEADER],
            have_header: 0,
            kind: 0,
            left: 0,
            message: [0; BEGINNING],
            have: 0,
            skip: 0,
        }
    }

    /// Whether the server has accepted a `ClientHello`, and wants no other one.
    pub(super) fn is_final(&self) -> bool {
        self.state == ServerAnswerState::ServerHello
    }

    /// Nothing that the server says from now on is an answer.
    pub(super) fn ignore(&mut self) {
        self.state = ServerAnswerState::Nonsense;
    }

    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while self.state == ServerAnswerState::Nothing && !bytes.is_empty() {
            if self.left == 0 {
                bytes = self.read_header(bytes);
                continue;
            }
            let (body, rest) = bytes.split_at(self.left.min(bytes.len()));
            self.left -= body.len();
            bytes = rest;
            if self.kind == HANDSHAKE {
                self.read_messages(body);
            }
        }
    }

    fn read_header<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let rest = fill(&mut self.header, &mut self.have_header, bytes);
        if self.have_header == HEADER {
            self.have_header = 0;
            match RecordHeader::read(self.header) {
                // A warning, or what servers send for the sake of middle boxes: the answer is still to come. After a fatal
                // alert none comes, and nothing need pass any more.
                Some(header) if matches!(header.kind, HANDSHAKE | ALERT | CHANGE_CIPHER_SPEC) => {
                    self.kind = header.kind;
                    self.left = header.len;
                }
                _ => self.state = ServerAnswerState::Nonsense,
            }
        }
        rest
    }

    fn read_messages(&mut self, mut bytes: &[u8]) {
        while self.state == ServerAnswerState::Nothing && !bytes.is_empty() {
            if self.skip > 0 {
                let skipped = self.skip.min(bytes.len());
                self.skip -= skipped;
                bytes = bytes.get(skipped..).unwrap_or_default();
                continue;
            }
            let want = if self.have < 4 { 4 } else { BEGINNING };
            bytes = fill(self.message.get_mut(..want).unwrap_or_default(), &mut self.have, bytes);
            if self.have < want {
                return;
            }
            let [kind, a, b, c, _, _, random @ ..] = self.message;
            match (kind, length([a, b, c])) {
                (HELLO_REQUEST, 0) => self.have = 0,
                (SERVER_HELLO, len) if len >= BEGINNING - 4 => {
                    if want == BEGINNING {
                        if random != RETRY {
                            self.state = ServerAnswerState::ServerHello;
                        }
                        self.skip = len - (BEGINNING - 4);
                        self.have = 0;
                    }
                }
                _ => self.state = ServerAnswerState::Nonsense,
            }
        }
    }
}

/// Puts bytes where some are missing; what is left over.
fn fill<'a>(to: &mut [u8], have: &mut usize, from: &'a [u8]) -> &'a [u8] {
    let room = to.get_mut(*have..).unwrap_or_default();
    let count = room.len().min(from.len());
    for (to, from) in room.iter_mut().zip(from) {
        *to = *from;
    }
    *have += count;
    from.get(count..).unwrap_or_default()
}
