//! Makes TLS by hand, right and wrong.

use super::NAME;

/// A `ClientHello` to be spoiled.
#[derive(Clone)]
pub(super) struct SpoiledHello {
    pub(super) version: [u8; 2],
    pub(super) session: Vec<u8>,
    pub(super) ciphers: Vec<u8>,
    pub(super) compression: Vec<u8>,
    pub(super) extensions: Vec<(u16, Vec<u8>)>,
}

/// Bytes after their count in one, two or three bytes.
pub(super) fn counted<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let count = (bytes.len() as u64).to_be_bytes();
    [&count[8 - N..], bytes].concat()
}

/// The data of a server name extension with one name.
pub(super) fn names(name: &[u8]) -> Vec<u8> {
    counted::<2>(&[&[0], counted::<2>(name).as_slice()].concat())
}

impl SpoiledHello {
    pub(super) fn new() -> Self {
        Self::with(vec![(0, names(NAME.as_bytes())), (43, vec![2, 3, 4]), (51, vec![7; 38])])
    }

    pub(super) fn with(extensions: Vec<(u16, Vec<u8>)>) -> Self {
        Self {
            version: [3, 3],
            session: vec![9; 32],
            ciphers: vec![0x13, 1, 0xc0, 0x2f],
            compression: vec![0],
            extensions,
        }
    }

    pub(super) fn named(name: &str) -> Self {
        Self::with(vec![(0, names(name.as_bytes())), (43, vec![2, 3, 4])])
    }

    /// Everything before the extensions.
    pub(super) fn front(&self) -> Vec<u8> {
        let parts = [
            self.version.to_vec(),
            vec![5; 32],
            counted::<1>(&self.session),
            counted::<2>(&self.ciphers),
            counted::<1>(&self.compression),
        ];
        parts.concat()
    }

    pub(super) fn body(&self) -> Vec<u8> {
        let extensions: Vec<u8> = self
            .extensions
            .iter()
            .flat_map(|(kind, data)| [kind.to_be_bytes().to_vec(), counted::<2>(data)].concat())
            .collect();
        [self.front(), counted::<2>(&extensions)].concat()
    }

    pub(super) fn message(&self) -> Vec<u8> {
        message(1, &self.body())
    }

    /// In one record.
    pub(super) fn bytes(&self) -> Vec<u8> {
        records(&self.message(), 1 << 14)
    }
}

pub(super) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [vec![kind], counted::<3>(body)].concat()
}

pub(super) fn record(kind: u8, body: &[u8]) -> Vec<u8> {
    [vec![kind, 3, 3], counted::<2>(body)].concat()
}

/// A message in handshake records of so many bytes.
pub(super) fn records(message: &[u8], size: usize) -> Vec<u8> {
    message.chunks(size).flat_map(|part| record(22, part)).collect()
}

/// A `ServerHello` with this random.
pub(super) fn server_hello(random: [u8; 32]) -> Vec<u8> {
    let body = [
        vec![3, 3],
        random.to_vec(),
        counted::<1>(&[9; 32]),
        vec![0x13, 1, 0],
        counted::<2>(&[0, 43, 0, 2, 3, 4]),
    ];
    message(2, &body.concat())
}
