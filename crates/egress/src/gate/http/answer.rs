//! What the server answers to a request for another protocol.

/// Listens to the server until it has agreed or not.
#[derive(Debug, Default)]
pub(super) struct Answer {
    heard: Heard,
    /// Bytes of the status line that were heard, and the three digits in it.
    at: usize,
    status: [u8; 3],
    /// Bytes since the last line end in the head of an interim answer.
    in_line: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Heard {
    #[default]
    Nothing,
    Agreement,
    /// A refusal, or not an answer to this.
    Other,
}

/// A status line, with `?` for a digit. What comes after it does not matter.
const STATUS_LINE: &[u8; 13] = b"HTTP/1.? ??? ";

impl Answer {
    /// Whether nothing was heard that decides.
    pub(super) fn is_to_come(&self) -> bool {
        self.heard == Heard::Nothing
    }

    pub(super) fn agrees(&self) -> bool {
        self.heard == Heard::Agreement
    }

    /// Nothing that the server says from now on is the answer.
    pub(super) fn ignore(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.heard = Heard::Other;
        }
    }

    pub(super) fn hear(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.heard != Heard::Nothing {
                return;
            }
            match STATUS_LINE.get(self.at) {
                Some(&expected) => self.hear_status(byte, expected),
                None => self.hear_interim(byte),
            }
        }
    }

    fn hear_status(&mut self, byte: u8, expected: u8) {
        let is_end = self.at == STATUS_LINE.len() - 1;
        let fits = match expected {
            b'?' => byte.is_ascii_digit(),
            // Some leave out the space before a reason that is empty.
            _ => byte == expected || (is_end && byte == b'\r'),
        };
        if !fits {
            self.heard = Heard::Other;
            return;
        }
        if let Some(digit) = self.at.checked_sub(9).and_then(|at| self.status.get_mut(at)) {
            *digit = byte;
        }
        self.at += 1;
        if is_end {
            self.in_line = 1;
            self.heard = match &self.status {
                b"101" => Heard::Agreement,
                // Others that begin with 1 come before the answer: 100, 103.
                [b'1', ..] => Heard::Nothing,
                _ => Heard::Other,
            };
        }
    }

    /// The rest of the head of an interim answer, up to an empty line.
    fn hear_interim(&mut self, byte: u8) {
        match byte {
            b'\n' if self.in_line == 0 => *self = Self::default(),
            b'\n' => self.in_line = 0,
            b'\r' => {}
            _ => self.in_line += 1,
        }
    }
}
