//! What the server answers to a request for another protocol.

/// Listens to the server until it has agreed or not.
#[derive(Debug, Default)]
pub(super) struct UpgradeAnswer {
    state: UpgradeState,
    /// Bytes of the status line that were heard, as far as it matters.
    at: usize,
    /// The three digits in it.
    status: [u8; 3],
    /// Bytes of the present line of the head.
    in_line: usize,
    /// How many of them are the beginning of [`UPGRADE`]; `None` once they are not.
    of_upgrade: Option<usize>,
    /// Whether there was a line that begins with all of it.
    names_protocol: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum UpgradeState {
    #[default]
    Nothing,
    Agreement,
    /// A refusal, or not an answer to this.
    Other,
}

/// A status line, with `?` for a digit. The rest of it does not matter.
const STATUS_LINE: &[u8; 13] = b"HTTP/1.? ??? ";

/// The header with which a server says which protocol it goes over to. Some servers give any status that they are asked for, but
/// not this.
const UPGRADE: &[u8; 8] = b"upgrade:";

impl UpgradeAnswer {
    /// Whether nothing was heard that decides.
    pub(super) fn is_to_come(&self) -> bool {
        self.state == UpgradeState::Nothing
    }

    pub(super) fn agrees(&self) -> bool {
        self.state == UpgradeState::Agreement
    }

    /// Nothing that the server says from now on is the answer.
    pub(super) fn ignore(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.state = UpgradeState::Other;
        }
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.state != UpgradeState::Nothing {
                return;
            }
            match STATUS_LINE.get(self.at) {
                Some(&expected) => self.read_status(byte, expected),
                None => self.read_head(byte),
            }
        }
    }

    fn read_status(&mut self, byte: u8, expected: u8) {
        let is_end = self.at == STATUS_LINE.len() - 1;
        let fits = match expected {
            b'?' => byte.is_ascii_digit(),
            // Some leave out the space before a reason that is empty.
            _ => byte == expected || (is_end && byte == b'\r'),
        };
        if !fits {
            self.state = UpgradeState::Other;
            return;
        }
        if let Some(digit) = self.at.checked_sub(9).and_then(|at| self.status.get_mut(at)) {
            *digit = byte;
        }
        self.at += 1;
        // Not an empty line, though nothing may follow.
        self.in_line = 1;
        // What begins with 1 comes before another answer (100, 103), or agrees (101).
        if is_end && !self.status.starts_with(b"1") {
            self.state = UpgradeState::Other;
        }
    }

    /// The rest of the head, up to an empty line.
    fn read_head(&mut self, byte: u8) {
        match byte {
            b'\n' if self.in_line == 0 => self.finish_head(),
            b'\n' => {
                self.in_line = 0;
                self.of_upgrade = Some(0);
            }
            b'\r' => self.of_upgrade = None,
            _ => {
                self.in_line += 1;
                let more = |at: &usize| UPGRADE.get(*at) == Some(&byte.to_ascii_lowercase());
                self.of_upgrade = self.of_upgrade.filter(more).map(|at| at + 1);
                self.names_protocol |= self.of_upgrade == Some(UPGRADE.len());
            }
        }
    }

    fn finish_head(&mut self) {
        match (&self.status, self.names_protocol) {
            (b"101", true) => self.state = UpgradeState::Agreement,
            (b"101", false) => self.state = UpgradeState::Other,
            _ => *self = Self::default(),
        }
    }
}
