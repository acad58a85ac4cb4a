//! The hash chain: every line of a trace answers for all lines before it.
//!
//! Nothing here is keyed. The chain finds what was changed by somebody who did not write the whole file anew; for the
//! rest there is the digest, kept somewhere else.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// What stands before the hash of an event in its line. It is the last field, so the hash covers what is left of it.
pub(crate) const HASH_FIELD: &str = r#","hash":""#;
/// What stands behind the hash of an event.
pub(crate) const HASH_END: &str = r#""}"#;
/// The line of the header's own hash, up to the hash.
pub(crate) const HEADER_HASH: &str = r#"  "hash": ""#;
/// The line that ends the header.
pub(crate) const EVENTS_BEGIN: &str = r#"  "events": ["#;
/// What every event's line begins with.
pub(crate) const EVENT_INDENT: &str = "    ";
/// The line that ends the events.
pub(crate) const EVENTS_END: &str = "  ],";
/// The line of the digest, up to the digest.
pub(crate) const DIGEST: &str = r#"  "digest": ""#;
/// The last line.
pub(crate) const END: &str = "}";

/// The SHA-256 of everything in a trace: 64 lower-case hexadecimal digits when it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceDigest([u8; 32]);

impl TraceDigest {
    /// The number itself.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for TraceDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for TraceDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits, as `trace verify` prints them")]
pub struct ParseDigestError;

impl FromStr for TraceDigest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| ParseDigestError)?;
        bytes.try_into().map(Self).map_err(|_| ParseDigestError)
    }
}

impl Serialize for TraceDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The chain as far as it has come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashChain(TraceDigest);

impl HashChain {
    /// Begins with the header: its bytes up to, and without, the line of its hash.
    pub(crate) fn begin(header: &[u8]) -> Self {
        Self(TraceDigest(Sha256::digest(header).into()))
    }

    /// Goes on with these bytes: the SHA-256 of the hash so far, as 32 bytes, and of them.
    pub(crate) fn link(&mut self, bytes: &[u8]) -> TraceDigest {
        let mut hash = Sha256::new();
        hash.update(self.0.0);
        hash.update(bytes);
        self.0 = TraceDigest(hash.finalize().into());
        self.0
    }

    pub(crate) fn now(&self) -> TraceDigest {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_as_it_is_shown() {
        let digest = HashChain::begin(b"abc").now();
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let wrong = [
            "",
            "ba",
            &digest.to_string()[1..],
            &format!("{digest}0"),
            &digest.to_string().replace('a', "g"),
        ];
        for wrong in wrong {
            assert_eq!(wrong.parse::<TraceDigest>(), Err(ParseDigestError), "{wrong}");
        }
        let plus = format!("+{}", &digest.to_string()[1..]);
        assert_eq!(plus.parse::<TraceDigest>(), Err(ParseDigestError));
        assert_eq!("é".repeat(32).parse::<TraceDigest>(), Err(ParseDigestError));
    }
}
