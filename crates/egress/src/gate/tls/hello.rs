//! A `ClientHello`, as far as it says which server is meant (RFC 8446, 4.1.2; RFC 6066, 3).

use std::collections::BTreeSet;

/// What a `ClientHello` says about the server that is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientHello {
    /// The one name in it, as it was sent.
    pub(super) server_name: Option<String>,
    /// Whether it may hold another name that only the server can read.
    pub(super) hides: bool,
}

const SERVER_NAME: u16 = 0;

/// Encrypted Client Hello (0xfe0d) and the drafts of it, back to encrypted server names (0xffce). What a client sends to grease
/// looks just the same, and is meant to.
fn is_hiding(kind: u16) -> bool {
    matches!(kind, 0xfe00..=0xfe0f | 0xff02 | 0xff03 | 0xffce)
}

/// Reads the body of a `ClientHello`. `None` unless every length in it fits exactly and every extension is there once: servers
/// differ in what they make of anything else.
pub(super) fn read(body: &[u8]) -> Option<ClientHello> {
    let mut body = HelloReader(body);
    let [3, _] = body.array()? else { return None };
    let _random: [u8; 32] = body.array()?;
    if body.short_vector()?.len() > 32 {
        return None;
    }
    let ciphers = body.read_vector()?;
    if ciphers.is_empty() || ciphers.len() % 2 != 0 {
        return None;
    }
    if body.short_vector()?.is_empty() {
        return None;
    }
    let mut hello = ClientHello { server_name: None, hides: false };
    if body.is_empty() {
        // As it was before there were extensions.
        return Some(hello);
    }
    let mut extensions = HelloReader(body.read_vector()?);
    if !body.is_empty() {
        return None;
    }
    let mut kinds = BTreeSet::new();
    while !extensions.is_empty() {
        let kind = extensions.read_u16()?;
        let data = extensions.read_vector()?;
        if !kinds.insert(kind) {
            return None;
        }
        if kind == SERVER_NAME {
            hello.server_name = Some(server_name(data)?);
        }
        hello.hides |= is_hiding(kind);
    }
    Some(hello)
}

/// The only name in a list of server names.
fn server_name(data: &[u8]) -> Option<String> {
    let mut data = HelloReader(data);
    let mut list = HelloReader(data.read_vector()?);
    let [0] = list.array()? else { return None };
    let name = list.read_vector()?;
    let is_name = (1..=253).contains(&name.len())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    if !is_name || !list.is_empty() || !data.is_empty() {
        return None;
    }
    String::from_utf8(name.to_vec()).ok()
}

/// Takes bytes from the front, as long as there are enough.
struct HelloReader<'a>(&'a [u8]);

impl<'a> HelloReader<'a> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn read_u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Bytes after their count in two bytes.
    fn read_vector(&mut self) -> Option<&'a [u8]> {
        let count = self.read_u16()?;
        self.take(count.into())
    }

    /// Bytes after their count in one byte.
    fn short_vector(&mut self) -> Option<&'a [u8]> {
        let [count] = self.array()?;
        self.take(count.into())
    }
}
