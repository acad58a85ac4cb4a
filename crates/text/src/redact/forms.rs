//! The forms in which a secret value is looked for.

use data_encoding::{BASE32_NOPAD, BASE64_NOPAD, Encoding};

use super::base85;

/// Shorter ones are found in honest text.
const SHORTEST: usize = 6;

/// Longer ones are looked for in pieces of this length: where one piece is found, so are its neighbours.
const PIECE: usize = 256;

/// Bytes of all values together. The search for this many takes two seconds to be made, and two hundred megabytes.
const MOST: usize = 128 * 1024;

/// A line of a value of several lines is looked for by itself if it has this many bytes.
const SHORTEST_LINE: usize = 12;

/// Values that are found in honest text, and tell nobody anything.
const COMMON: &[&str] = &[
    "123456",
    "12345678",
    "123456789",
    "1234567890",
    "account",
    "changeme",
    "config",
    "debian",
    "default",
    "development",
    "disabled",
    "docker",
    "enabled",
    "example",
    "github",
    "localhost",
    "master",
    "memory",
    "nobody",
    "password",
    "primary",
    "private",
    "production",
    "public",
    "redacted",
    "release",
    "secret",
    "secrets",
    "staging",
    "string",
    "testing",
    "token",
    "ubuntu",
    "undefined",
    "unknown",
    "username",
];

/// What a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The secret, by its number.
    pub(super) secret: usize,
    edges: Edges,
}

/// What of the text beside a pattern belongs to the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edges {
    Nothing,
    /// Letters of base64 hold bits of it.
    Base64,
    /// Groups of base85 before or behind hold bytes of it.
    Base85 {
        before: bool,
        behind: bool,
    },
}

/// The forms of all values.
#[derive(Debug, Default)]
pub(super) struct Forms {
    pub(super) patterns: Vec<(Vec<u8>, Pattern)>,
    bytes: usize,
}

impl Forms {
    /// Adds the forms of a value, or says why it is not looked for.
    pub(super) fn add(&mut self, secret: usize, value: &[u8]) -> Result<(), &'static str> {
        // What is printed often lacks the end of the line that a file had.
        let value = value.trim_ascii();
        usable(value)?;
        if self.bytes + value.len() > MOST {
            return Err("all secrets together are longer than 128 KiB");
        }
        self.bytes += value.len();
        self.pieces(secret, value);
        for line in value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            // The first and last line of a key in PEM are the same in all of them.
            if line.len() != value.len()
                && line.len() >= SHORTEST_LINE
                && !line.starts_with(b"-----")
                && usable(line).is_ok()
            {
                self.pieces(secret, line);
            }
        }
        Ok(())
    }

    fn pieces(&mut self, secret: usize, value: &[u8]) {
        if value.len() <= PIECE {
            return self.piece(secret, value);
        }
        let starts = (0..value.len() - PIECE).step_by(PIECE).chain([value.len() - PIECE]);
        for start in starts {
            self.piece(secret, value.get(start..start + PIECE).unwrap_or_default());
        }
    }

    fn piece(&mut self, secret: usize, value: &[u8]) {
        let plain = Pattern { secret, edges: Edges::Nothing };
        self.patterns.push((value.to_vec(), plain));
        self.patterns.push((value.iter().rev().copied().collect(), plain));
        for turn in [rot13, rot47] {
            let turned: Vec<u8> = value.iter().map(|byte| turn(*byte)).collect();
            if turned != value {
                self.patterns.push((turned, plain));
            }
        }
        self.base64(secret, value);
        // What Windows makes of text before it is encoded.
        if let Ok(text) = std::str::from_utf8(value) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
            self.base64(secret, &little);
            // Of plain letters every other byte is nothing, which a view leaves out.
            if !text.is_ascii() {
                self.patterns.push((units.iter().flat_map(|unit| unit.to_be_bytes()).collect(), plain));
                self.patterns.push((little, plain));
            }
        }
        // What is to travel in a name of DNS, where capitals are lost, is written like this.
        for before in 0..5 {
            self.patterns.push((core(value, before, 5, &BASE32_NOPAD), plain));
        }
        self.base85(secret, value);
    }

    fn base64(&mut self, secret: usize, value: &[u8]) {
        let pattern = Pattern { secret, edges: Edges::Base64 };
        for before in 0..3 {
            let standard = core(value, before, 6, &BASE64_NOPAD);
            let url_safe: Vec<u8> = standard.iter().map(|letter| url_safe(*letter)).collect();
            if url_safe != standard {
                self.patterns.push((url_safe, pattern));
            }
            self.patterns.push((standard, pattern));
        }
    }

    /// Whole groups depend on the value alone; where they begin in it depends on how many bytes come before.
    fn base85(&mut self, secret: usize, value: &[u8]) {
        for start in 0..base85::GROUP {
            let inside = value.get(start..).unwrap_or_default();
            let edges = Edges::Base85 { before: start > 0, behind: inside.len() % base85::GROUP > 0 };
            for alphabet in base85::ALPHABETS {
                let letters = base85::encode(inside, alphabet);
                if !letters.is_empty() {
                    self.patterns.push((letters, Pattern { secret, edges }));
                }
            }
        }
    }
}

impl Pattern {
    /// The part that belongs to the secret, with what of it the letters beside hold.
    pub(super) fn widened(&self, text: &[u8], start: usize, end: usize) -> (usize, usize) {
        match self.edges {
            Edges::Nothing => (start, end),
            Edges::Base64 => {
                let is_letter = |at: usize| text.get(at).is_some_and(|byte| is_base64(*byte));
                let start = if start > 0 && is_letter(start - 1) { start - 1 } else { start };
                let mut end = if is_letter(end) { end + 1 } else { end };
                while text.get(end) == Some(&b'=') {
                    end += 1;
                }
                (start, end)
            }
            Edges::Base85 { before, behind } => {
                let is_letter = |byte: &&u8| byte.is_ascii_graphic();
                let (left, right) = text.split_at_checked(end).unwrap_or((text, &[]));
                let left = left.get(..start).unwrap_or_default();
                let most = |counts: bool| if counts { base85::LETTERS } else { 0 };
                let before = left.iter().rev().take(most(before)).take_while(is_letter).count();
                let behind = right.iter().take(most(behind)).take_while(is_letter).count();
                (start - before, end + behind)
            }
        }
    }
}

fn usable(value: &[u8]) -> Result<(), &'static str> {
    if value.len() < SHORTEST {
        return Err("it is shorter than six bytes");
    }
    let first = value.first();
    let second = value.iter().find(|byte| Some(*byte) != first);
    if value.iter().all(|byte| Some(byte) == first || Some(byte) == second) {
        return Err("it consists of one or two different letters");
    }
    if value.len() < 8 && value.iter().all(u8::is_ascii_digit) {
        return Err("it is a number of fewer than eight digits");
    }
    if COMMON.iter().any(|common| value.eq_ignore_ascii_case(common.as_bytes())) {
        return Err("it is a common word");
    }
    Ok(())
}

/// Those letters of an encoding that depend on the value alone, where so many bytes come before it. Each letter stands for
/// so many bits.
fn core(value: &[u8], before: usize, bits: usize, encoding: &Encoding) -> Vec<u8> {
    let mut all = vec![0; before];
    all.extend_from_slice(value);
    let letters = encoding.encode(&all);
    let whole = (before * 8).div_ceil(bits)..all.len() * 8 / bits;
    letters.as_bytes().get(whole).unwrap_or_default().to_vec()
}

fn rot13(letter: u8) -> u8 {
    match letter {
        b'a'..=b'z' => (letter - b'a' + 13) % 26 + b'a',
        b'A'..=b'Z' => (letter - b'A' + 13) % 26 + b'A',
        other => other,
    }
}

fn rot47(letter: u8) -> u8 {
    if letter.is_ascii_graphic() { (letter - b'!' + 47) % 94 + b'!' } else { letter }
}

fn url_safe(letter: u8) -> u8 {
    match letter {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}
