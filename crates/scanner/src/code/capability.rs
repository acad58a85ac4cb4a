//! What code can do, in words that every language's reader shares: capabilities, and secrets that flow from one to another.

use std::ops::Range;

use serde::Serialize;

/// Something that code does and that a person would want to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Capability {
    /// Reads files where keys and passwords lie: `~/.ssh`, `~/.aws`, `.env`, `.netrc`, wallets.
    ReadsCredentials,
    /// Reads the whole environment.
    ReadsEnvironment,
    /// Reads one variable of the environment whose name is that of a secret.
    ReadsNamedSecret,
    /// Reads what a browser keeps: passwords, cookies, history.
    ReadsBrowserData,
    /// Reads a keychain, a password manager or another store of the system.
    ReadsKeychain,
    /// Reads the clipboard, the keyboard, the screen, the microphone or the camera.
    RecordsUser,
    /// Reads what an agent keeps: conversations, memory, its settings or its keys.
    ReadsAgentData,
    /// Sends data to a host.
    SendsToNetwork,
    /// Sends data out in names that are looked up.
    SendsByLookup,
    /// Fetches from a host.
    FetchesFromNetwork,
    /// Accepts connections.
    ListensOnNetwork,
    /// Starts other programs.
    RunsPrograms,
    /// Runs what it fetched.
    RunsFetched,
    /// Runs what it decoded, deciphered or put together from pieces.
    RunsDecoded,
    /// Hands a shell to somebody else.
    OpensRemoteShell,
    /// Makes something start again later: shell start-up files, cron, services, hooks, authorized keys.
    Persists,
    /// Writes what an agent obeys: its settings, its memory, its list of servers.
    ChangesAgent,
    /// Switches protections off, or wipes traces.
    DisablesProtection,
    /// Asks for more rights: root, setuid, the host from a container.
    RaisesRights,
    /// Deletes or overwrites what it did not make.
    Destroys,
    /// Uses the machine for somebody else: mining.
    UsesResources,
}

impl Capability {
    /// Whether what it reads is secret or private.
    #[must_use]
    pub fn reads_secret(self) -> bool {
        match self {
            Self::ReadsCredentials
            | Self::ReadsEnvironment
            | Self::ReadsNamedSecret
            | Self::ReadsBrowserData
            | Self::ReadsKeychain
            | Self::RecordsUser
            | Self::ReadsAgentData => true,
            Self::SendsToNetwork
            | Self::SendsByLookup
            | Self::FetchesFromNetwork
            | Self::ListensOnNetwork
            | Self::RunsPrograms
            | Self::RunsFetched
            | Self::RunsDecoded
            | Self::OpensRemoteShell
            | Self::Persists
            | Self::ChangesAgent
            | Self::DisablesProtection
            | Self::RaisesRights
            | Self::Destroys
            | Self::UsesResources => false,
        }
    }
}

/// Something that a skill's code does, for a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkillCapability {
    /// What it does.
    pub capability: Capability,
    /// What it touches: a path, a host, a program, a variable; empty where that is not known. Shortened, one line.
    pub object: String,
    /// The file, below the skill's folder.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// A capability that was seen at a place of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CapabilityUse {
    pub(crate) capability: Capability,
    /// Where, in the text that was read.
    pub(crate) range: Range<usize>,
    /// What it touches: a path, a host, a program, a variable; empty where that is not known.
    pub(crate) object: String,
}

/// A secret that was followed from where it was read to where it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SecretFlow {
    /// What was read.
    pub(crate) source: CapabilityUse,
    /// How it leaves.
    pub(crate) sender: CapabilityUse,
    /// Whether it goes to the service that it belongs to: `X_API_KEY` in a request to `api.x.com`.
    pub(crate) is_own_service: bool,
}

/// What one piece of code does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeFacts {
    pub(crate) uses: Vec<CapabilityUse>,
    pub(crate) flows: Vec<SecretFlow>,
    /// Whether a bound was met first, so that not all of it was read.
    pub(crate) is_cut: bool,
}
