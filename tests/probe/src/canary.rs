//! Canaries: random words that are planted where nobody from the sandbox may read. Who says one back has been there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};

use sha2::{Digest as _, Sha256};

/// What every canary begins with, so that one can be found in any heap of bytes.
const MARK: &[u8] = b"ssbx-canary-";
/// Hexadecimal digits behind the mark.
const DIGITS: usize = 32;

/// A planted word. It is not `Display`, so that it gets into no message by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Canary(String);

impl Canary {
    /// A new one, from the kernel's random numbers.
    pub fn random() -> io::Result<Self> {
        Ok(Self(format!("{}{}", String::from_utf8_lossy(MARK), random_hex(DIGITS / 2)?)))
    }

    /// The word itself, to be planted.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What an attacker may know of it.
    #[must_use]
    pub fn sha256(&self) -> String {
        sha256(self.0.as_bytes())
    }
}

impl std::fmt::Debug for Canary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Canary(sha256 {})", self.sha256())
    }
}

/// The name of the first known canary in these bytes. `known` is by hash.
pub(crate) fn find<'k>(bytes: &[u8], known: &'k BTreeMap<String, String>) -> Option<&'k str> {
    let length = MARK.len() + DIGITS;
    bytes.windows(length).filter(|window| window.starts_with(MARK)).find_map(|window| {
        let hash = sha256(window);
        known.iter().find(|(_, planted)| **planted == hash).map(|(name, _)| name.as_str())
    })
}

/// The SHA-256 of these bytes in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// So many random bytes in hexadecimal.
pub(crate) fn random_hex(bytes: usize) -> io::Result<String> {
    let mut buffer = vec![0; bytes];
    File::open("/dev/urandom")?.read_exact(&mut buffer)?;
    Ok(buffer.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_in_noise_and_only_if_it_is_the_planted_one() {
        let canary = Canary::random().unwrap();
        let other = Canary::random().unwrap();
        let known = BTreeMap::from([("key".to_owned(), canary.sha256())]);
        let noise = format!("\0ssbx-canary-short x={}\0{}\n", other.reveal(), canary.reveal());
        assert_eq!(find(noise.as_bytes(), &known), Some("key"));
        assert_eq!(find(other.reveal().as_bytes(), &known), None);
        assert_eq!(find(b"", &known), None);
    }

    #[test]
    fn the_hash_is_sha256() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_canary_does_not_print_itself() {
        let canary = Canary::random().unwrap();
        assert!(!format!("{canary:?}").contains(canary.reveal()));
    }
}
