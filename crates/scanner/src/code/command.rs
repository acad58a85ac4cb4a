//! What a program that other code starts does: the shell's reader, and beside it which words a command is made of, because parts of it are often
//! known only when it runs.

use crate::code::capability::{Capability, CapabilityUse, CodeFacts, SecretFlow};
use crate::code::hosts::{HostKind, classify_host};
use crate::code::objects::classify_path;
use crate::code::shell::read_shell_nested;

/// Longest command that is read.
const MAX_COMMAND: usize = 16 * 1024;

/// Programs that send what they are given.
const SENDERS: &[&str] = &[
    "curl", "wget", "nc", "ncat", "netcat", "scp", "rsync", "sftp", "ftp", "telnet", "socat", "mail",
    "sendmail", "http", "https", "httpie", "ssh", "gh", "aws", "gsutil", "rclone", "openssl",
];
/// Programs that look names up.
const LOOKUPS: &[&str] = &["dig", "nslookup", "host", "ping", "drill"];

/// What a command does that stands so deep in other code.
pub(crate) fn read_command(text: &str, nesting: usize) -> CodeFacts {
    let mut facts = read_words(text);
    let read = read_shell_nested(text, u32::try_from(nesting + 1).unwrap_or(u32::MAX));
    // Places in a command are no places in the code that starts it.
    let unplace = |found: CapabilityUse| CapabilityUse { range: 0..0, ..found };
    for found in read.uses.into_iter().map(unplace) {
        let is_known = |known: &CapabilityUse| {
            known.capability == found.capability
                || (known.capability.reads_secret() && found.capability.reads_secret())
        };
        if !facts.uses.iter().any(is_known) {
            facts.uses.push(found);
        }
    }
    for flow in read.flows {
        let flow = SecretFlow { source: unplace(flow.source), sender: unplace(flow.sender), ..flow };
        if facts.flows.is_empty() {
            facts.flows.push(flow);
        }
    }
    facts
}

/// What the words of a command say of it.
fn read_words(text: &str) -> CodeFacts {
    let mut facts = CodeFacts::default();
    let Some(text) = text.get(..text.len().min(MAX_COMMAND)) else { return facts };
    let is_break = |c: char| {
        c.is_whitespace()
            || matches!(c, '|' | ';' | '&' | '(' | ')' | '"' | '\'' | '`' | '<' | '>' | '@' | '=' | ',')
    };
    let words: Vec<&str> = text.split(is_break).filter(|word| !word.is_empty()).collect();
    let place =
        |capability, object: &str| CapabilityUse { capability, range: 0..0, object: object.to_owned() };
    let named =
        |list: &[&str]| words.iter().any(|word| list.contains(&word.rsplit('/').next().unwrap_or(word)));
    let mut sources: Vec<CapabilityUse> = Vec::new();
    for word in &words {
        if let Some(capability) =
            classify_path(word).filter(|capability| *capability != Capability::ReadsNamedSecret)
        {
            sources.push(place(capability, word));
        }
    }
    for (command, capability) in [
        ("printenv", Capability::ReadsEnvironment),
        ("env |", Capability::ReadsEnvironment),
        ("$(env)", Capability::ReadsEnvironment),
        ("security find-generic-password", Capability::ReadsKeychain),
        ("security dump-keychain", Capability::ReadsKeychain),
        ("security find-internet-password", Capability::ReadsKeychain),
        ("secret-tool lookup", Capability::ReadsKeychain),
        ("gh auth token", Capability::ReadsNamedSecret),
        ("aws configure get", Capability::ReadsCredentials),
        ("gcloud auth print-access-token", Capability::ReadsNamedSecret),
        ("git credential fill", Capability::ReadsCredentials),
        ("pbpaste", Capability::RecordsUser),
        ("xclip -o", Capability::RecordsUser),
        ("xclip -selection clipboard -o", Capability::RecordsUser),
        ("screencapture", Capability::RecordsUser),
    ] {
        if text.contains(command) {
            sources.push(place(capability, command));
        }
    }
    if text.trim() == "env" || text.trim() == "set" {
        sources.push(place(Capability::ReadsEnvironment, "env"));
    }
    let address = words.iter().find(|word| word.contains("://")).or_else(|| {
        words.iter().find(|word| matches!(classify_host(word), HostKind::RawAddress | HostKind::Drop))
    });
    let address = address.copied().unwrap_or("*");
    let sender = if named(LOOKUPS) {
        Some(place(Capability::SendsByLookup, words.last().copied().unwrap_or("*")))
    } else if named(SENDERS) {
        let host = if address == "*" { find_remote(&words).unwrap_or("*") } else { address };
        Some(place(Capability::SendsToNetwork, host))
    } else {
        None
    };
    let is_fetch = named(&["curl", "wget"])
        && sources.is_empty()
        && !text.contains(" -d")
        && !text.contains("--data")
        && !text.contains(" -F")
        && !text.contains(" -T");
    if is_fetch {
        facts.uses.push(place(Capability::FetchesFromNetwork, address));
        let shells = ["| sh", "|sh", "| bash", "|bash", "| python", "|python", "| node", "| zsh"];
        if shells.iter().any(|shell| text.contains(shell)) {
            facts.uses.push(place(Capability::RunsFetched, address));
        }
    }
    if let Some(sender) = sender {
        for source in &sources {
            // `ssh -i key host` signs in with it.
            let signs_in = named(&["ssh", "scp", "rsync", "sftp", "gh", "aws"])
                && (text.contains("-i ") || named(&["gh", "aws"]));
            let is_local = classify_host(&sender.object) == HostKind::Loopback;
            facts.flows.push(SecretFlow {
                source: source.clone(),
                sender: sender.clone(),
                is_own_service: signs_in || is_local,
            });
        }
        facts.uses.push(sender);
    }
    facts.uses.extend(sources);
    facts
}

/// The machine that a copy goes to: `user@host:path`.
fn find_remote<'w>(words: &[&'w str]) -> Option<&'w str> {
    words
        .iter()
        .rev()
        .find(|word| word.contains(':') && word.contains('.'))
        .map(|word| word.split(':').next().unwrap_or(word))
}
