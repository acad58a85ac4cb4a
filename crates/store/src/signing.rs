//! A key that signs what runs were recorded as, and what checks such signatures.
//!
//! ```
//! use skillsandbox_store::signing::{SigningKey, TraceStatement};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().canonicalize()?.join("state/signing.key");
//! let key = SigningKey::create(&file)?;
//! let statement = TraceStatement::new(uuid::Uuid::nil(), "ab".repeat(32), "cd".repeat(32));
//! let signature = key.sign(&statement);
//! assert!(signature.check(&key.public()).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Ed25519, by ring: it is in the tree already (TLS of the exporter), so a second implementation of curves would only be more to trust.
//!
//! # What it does not protect
//!
//! The key is a file of the user's. No run can read it (it lies in the state folder, which no run sees), but any program that the user starts without
//! a sandbox can. Who checks on another machine needs the public key from somewhere that an attacker cannot write.

mod key_file;

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde::{Deserialize, Serialize};
use skillsandbox_manifest::user_folders;
use skillsandbox_text::Secret;
use uuid::Uuid;

/// The form of a signature, and what every signed statement begins with.
const FORMAT: &str = "skillsandbox.trace.signature/1";
/// Bytes of a file with a signature that are read; one has a third of it.
const MAX_SIGNATURE: u64 = 4096;
/// Bytes of a seed.
const SEED: usize = 32;

/// Why a key or a signature cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SigningError {
    /// There is no key.
    #[error("there is no key in {}: `skillsandbox key create` makes one", .0.display())]
    NoKey(PathBuf),
    /// There is one already.
    #[error("there is a key in {} already: what it signed could not be checked without it; move it away to make another", .0.display())]
    Exists(PathBuf),
    /// There is no home to keep a key in.
    #[error("there is no home to keep a key in; set HOME or XDG_STATE_HOME")]
    NoHome,
    /// Somebody else could read or change it, or it is not a file.
    #[error("{} {why}: make it yours alone (mode 0600), or move it away", path.display())]
    Unsafe {
        /// Which.
        path: PathBuf,
        /// In what way.
        why: &'static str,
    },
    /// Not what a key or a signature looks like.
    #[error("{} is not a {what}", path.display())]
    Malformed {
        /// Which.
        path: PathBuf,
        /// What was expected.
        what: &'static str,
    },
    /// It cannot be read or written.
    #[error("cannot use {}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system gave no random numbers.
    #[error("the system gave no random numbers for a key")]
    NoRandom,
}

/// The key of a user. Its secret half is never shown.
pub struct SigningKey(Ed25519KeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

impl SigningKey {
    /// Where the user's own key is: `signing.key` in the state folder, which no run can see.
    ///
    /// # Errors
    /// No home.
    pub fn user_file() -> Result<PathBuf, SigningError> {
        Ok(user_folders::state().ok_or(SigningError::NoHome)?.join("signing.key"))
    }

    /// Makes a key, and a file for it that only its owner can read. Never replaces one.
    ///
    /// # Errors
    /// A key that is there, or a folder that others can change.
    pub fn create(path: &Path) -> Result<Self, SigningError> {
        let mut seed = [0; SEED];
        SystemRandom::new().fill(&mut seed).map_err(|_| SigningError::NoRandom)?;
        let text = Secret::from(HEXLOWER.encode(&seed) + "\n");
        seed.fill(0);
        let mut file = key_file::create(path)?;
        let failed = |source| SigningError::Io { path: path.to_owned(), source };
        file.write_all(text.expose().as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
        Self::parse(&text, path)
    }

    /// Reads a key: a file of this user's that nobody else can read, under one name, in a folder that nobody else can change.
    ///
    /// # Errors
    /// One that is missing, a link, a pipe, somebody else's, or readable by others.
    pub fn load(path: &Path) -> Result<Self, SigningError> {
        let file = key_file::open(path)?;
        let failed = |source| SigningError::Io { path: path.to_owned(), source };
        let mut text = String::new();
        file.take(MAX_SIGNATURE).read_to_string(&mut text).map_err(failed)?;
        Self::parse(&Secret::from(text), path)
    }

    fn parse(text: &Secret, path: &Path) -> Result<Self, SigningError> {
        let malformed = || SigningError::Malformed { path: path.to_owned(), what: "key of ours" };
        let seed = HEXLOWER_PERMISSIVE.decode(text.expose().trim().as_bytes()).map_err(|_| malformed())?;
        Ed25519KeyPair::from_seed_unchecked(&seed).map(Self).map_err(|_| malformed())
    }

    /// The half that everybody may know.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        // An Ed25519 key has 32 bytes.
        PublicKey(self.0.public_key().as_ref().try_into().unwrap_or_default())
    }

    /// Signs what a run was recorded as.
    #[must_use]
    pub fn sign(&self, statement: &TraceStatement) -> TraceSignature {
        let signature = HEXLOWER.encode(self.0.sign(&statement.bytes()).as_ref());
        TraceSignature {
            format: FORMAT.to_owned(),
            statement: statement.clone(),
            key: self.public().to_string(),
            signature,
        }
    }
}

/// The half of a key that everybody may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey([u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// A text that is not a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a public key: 64 hexadecimal digits, as `skillsandbox key show` prints them")]
pub struct ParseKeyError;

impl FromStr for PublicKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, ParseKeyError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| ParseKeyError)?;
        bytes.try_into().map(Self).map_err(|_| ParseKeyError)
    }
}

/// What is signed: which run, the digest of its trace, and its link in the history, which stands for all that was recorded before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceStatement {
    /// The id of the run and of its trace.
    pub trace_id: Uuid,
    /// The digest of the trace.
    pub digest: String,
    /// The head of the history when the run was recorded in it.
    pub history: String,
}

impl TraceStatement {
    /// Says this of a run.
    pub fn new(trace_id: Uuid, digest: impl Into<String>, history: impl Into<String>) -> Self {
        Self { trace_id, digest: digest.into(), history: history.into() }
    }

    /// The bytes that are signed: four lines.
    fn bytes(&self) -> Vec<u8> {
        let Self { trace_id, digest, history } = self;
        format!("{FORMAT}\ntrace {trace_id}\ndigest {digest}\nhistory {history}\n").into_bytes()
    }
}

/// A signature, as it lies beside a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceSignature {
    /// Its form: `skillsandbox.trace.signature/1`.
    pub format: String,
    /// What was signed.
    #[serde(flatten)]
    pub statement: TraceStatement,
    /// By whom, by its own word.
    pub key: String,
    /// 64 bytes, as hexadecimal digits.
    pub signature: String,
}

/// Why a signature proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    /// It is of another form than this version knows.
    #[error("the signature is of a form that this version does not know")]
    Form,
    /// It was made with another key.
    #[error("it was signed with another key, {0}")]
    OtherKey(String),
    /// It does not belong to what it says.
    #[error("the signature is not that of what it says")]
    Wrong,
}

impl TraceSignature {
    /// Where the signature of a trace lies: beside it, with `.sig` behind its name.
    #[must_use]
    pub fn beside(trace: &Path) -> PathBuf {
        let mut name = trace.as_os_str().to_owned();
        name.push(".sig");
        name.into()
    }

    /// Whether this key signed what it says.
    ///
    /// # Errors
    /// Another key, or other words.
    pub fn check(&self, key: &PublicKey) -> Result<(), SignatureFault> {
        if self.format != FORMAT {
            return Err(SignatureFault::Form);
        }
        if self.key.parse() != Ok(*key) {
            let theirs = self.key.parse::<PublicKey>().map(|key| key.to_string());
            return Err(SignatureFault::OtherKey(theirs.unwrap_or_else(|_| "which is not one".to_owned())));
        }
        let signature =
            HEXLOWER_PERMISSIVE.decode(self.signature.as_bytes()).map_err(|_| SignatureFault::Wrong)?;
        let public = UnparsedPublicKey::new(&ED25519, key.0);
        public.verify(&self.statement.bytes(), &signature).map_err(|_| SignatureFault::Wrong)
    }

    /// Reads one; `None` where there is none.
    ///
    /// # Errors
    /// What is not a file, or not a signature.
    pub fn read(path: &Path) -> Result<Option<Self>, SigningError> {
        let failed = |source| SigningError::Io { path: path.to_owned(), source };
        let Some(file) = crate::state_file::open(path).map_err(failed)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(MAX_SIGNATURE).read_to_end(&mut bytes).map_err(failed)?;
        let malformed = |_| SigningError::Malformed { path: path.to_owned(), what: "signature of a trace" };
        serde_json::from_slice(&bytes).map(Some).map_err(malformed)
    }

    /// Writes it to a new file, which only its owner can change.
    ///
    /// # Errors
    /// A file that is there, or cannot be made.
    pub fn write(&self, path: &Path) -> Result<(), SigningError> {
        let failed = |source| SigningError::Io { path: path.to_owned(), source };
        let text = serde_json::to_string_pretty(self).map_err(|error| failed(error.into()))? + "\n";
        let mut file = crate::state_file::create_new(path).map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
    }
}
