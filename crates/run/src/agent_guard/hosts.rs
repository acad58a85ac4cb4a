//! Addresses that an agent fetches.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};
use skillsandbox_enforcer::egress::special_address;
use skillsandbox_manifest::{DomainPattern, GrantBases, Manifest};

use super::{GuardAnswer, GuardError, GuardReason, places};
use crate::refusal::Refusal;
use crate::user_policy::UserPolicy;

/// Names that belong to a machine or a network, never to the Internet (RFC 6761, 6762, 8375; `.internal` of the ICANN).
const LOCAL_NAMES: [&str; 7] =
    ["localhost", "local", "internal", "home.arpa", "lan", "localdomain", "intranet"];
/// Most addresses of a text that are looked at.
const MOST_ADDRESSES: usize = 256;

/// A manifest that declares nothing: what a policy leaves of it is what the policy adds.
pub(super) fn empty_manifest() -> Result<Manifest, GuardError> {
    manifest("")
}

fn manifest(egress: &str) -> Result<Manifest, GuardError> {
    let text = format!(
        "skill: {{ name: agent, version: \"1\" }}\npermissions: {{ network: {{ egress: [{egress}] }} }}\nentrypoint: {{ command: agent }}\n"
    );
    Manifest::parse(&text).map_err(|invalid| {
        let problem = invalid.diagnostics.first().map(|first| first.message.clone()).unwrap_or_default();
        GuardError::Policy(Refusal::Unscanned(problem))
    })
}

/// Decides about hosts.
#[derive(Debug)]
pub(super) struct HostGuard {
    policy: UserPolicy,
    places: GrantBases,
}

impl HostGuard {
    pub(super) fn new(policy: UserPolicy, places: GrantBases) -> Self {
        Self { policy, places }
    }

    pub(super) fn places(&self) -> &GrantBases {
        &self.places
    }

    /// A search engine is a host that no argument names: where the user's policy lists hosts, a person is asked.
    pub(super) fn judge_search(&self) -> GuardAnswer {
        if self.allows("{ domain: unlisted-host.invalid }") {
            return GuardAnswer::Pass;
        }
        let hint = "A person has to confirm it.";
        GuardAnswer::Ask(GuardReason::new(
            "host-policy",
            "your policy lists the hosts that may be reached, and a search asks another",
            hint,
        ))
    }

    /// The addresses in a text, of which there has to be one.
    pub(super) fn judge_text(&self, text: &str) -> GuardAnswer {
        let mut answers = addresses_in(text).map(|address| self.judge_address(address));
        let first = answers.next().unwrap_or_else(|| {
            deny(
                "address",
                "there is no address in it that begins with http:// or https://",
                "Give a whole address.",
            )
        });
        answers.fold(first, GuardAnswer::max)
    }

    /// One address.
    pub(super) fn judge_address(&self, address: &str) -> GuardAnswer {
        let (host, port) = match read_address(address) {
            Ok(found) => found,
            Err(why) => {
                return deny(
                    "address",
                    &format!("`{address}`: {why}"),
                    "Write the address plainly: https://host/path.",
                );
            }
        };
        if let Some(kind) = local_kind(&host) {
            let hint = "Services of this machine and its network are not fetched for an agent.";
            return deny("special-address", &format!("`{host}` is {kind}"), hint);
        }
        let rule = match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(v4)) => format!("{{ cidr: \"{v4}/32\", ports: [{port}] }}"),
            Ok(IpAddr::V6(v6)) => format!("{{ cidr: \"{v6}/128\", ports: [{port}] }}"),
            Err(_) => format!("{{ domain: \"{host}\", ports: [{port}] }}"),
        };
        if self.allows(&rule) {
            return GuardAnswer::Pass;
        }
        let hint =
            "A person can add the host to permissions.network.egress in ~/.config/skillsandbox/policy.yaml.";
        deny("host-policy", &format!("your policy does not list `{host}` with port {port}"), hint)
    }

    /// Whether the user's policy leaves a rule as it is. One that cannot be read is not allowed.
    fn allows(&self, rule: &str) -> bool {
        let Ok(declared) = manifest(rule) else { return false };
        let wanted = declared.network().egress.len();
        let (left, _) = self.policy.narrow(declared, &self.places);
        left.network().egress.len() == wanted && wanted == 1
    }
}

fn deny(rule: &str, reason: &str, hint: &str) -> GuardAnswer {
    GuardAnswer::Deny(GuardReason::new(rule, reason, hint))
}

/// The values of a call's arguments that are addresses as a whole.
pub(super) fn addresses(input: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let mut found = Vec::new();
    places::each_text(input, &mut |_, text| {
        let text = text.trim();
        if !text.contains(char::is_whitespace) && has_web_scheme(text) && found.len() < MOST_ADDRESSES {
            found.push(text);
        }
    });
    found.into_iter()
}

fn has_web_scheme(text: &str) -> bool {
    let starts =
        |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("http:") || starts("https:")
}

/// The addresses among the words of a text.
fn addresses_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || "\"'<>()`".contains(c));
    words.filter(|word| has_web_scheme(word)).take(MOST_ADDRESSES)
}

/// The host in one spelling, and the port. Whatever two readers could take for two hosts is refused.
fn read_address(address: &str) -> Result<(String, u16), &'static str> {
    let (scheme, rest) = address.split_once("://").ok_or("it has no `://`")?;
    let default = match scheme.to_ascii_lowercase().as_str() {
        "https" => 443,
        "http" => 80,
        _ => return Err("it is not of the web"),
    };
    if address.contains(['\\', '\t', '\r', '\n', '\0']) {
        return Err("it holds a character that readers take differently");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("a user's name stands before the host");
    }
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (inside, after) = bracketed.split_once(']').ok_or("the bracket does not end")?;
        let host: Ipv6Addr = inside.parse().map_err(|_| "it is not an IPv6 address")?;
        return Ok((host.to_string(), read_port(after, default)?));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, port.parse().map_err(|_| "it has no proper port")?),
        None => (authority, default),
    };
    if host.contains('%') {
        return Err("its host is percent-encoded");
    }
    if let Ok(v4) = host.parse::<Ipv4Addr>() {
        return Ok((v4.to_string(), port));
    }
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    if local_kind(&host).is_some() && !ends_in_number(&host) {
        return Ok((host, port));
    }
    let name: DomainPattern = host.parse().map_err(|_| "its host is not a name")?;
    // After it was made plain: letters of other alphabets may stand for digits, too.
    if name.is_wildcard() || ends_in_number(name.base()) {
        return Err("its host is not a name, or a number in a form that readers take differently");
    }
    Ok((name.base().to_owned(), port))
}

/// Whether readers of addresses take a host for a number: `2130706433`, `0x7f.1` and `127.1` are 127.0.0.1 to those who read them as C does.
fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    is_decimal || last.starts_with("0x")
}

fn read_port(after: &str, default: u16) -> Result<u16, &'static str> {
    match after.strip_prefix(':') {
        Some(port) => port.parse().map_err(|_| "it has no proper port"),
        None if after.is_empty() => Ok(default),
        None => Err("something stands behind the bracket"),
    }
}

/// What makes a host one of this machine or its network.
fn local_kind(host: &str) -> Option<&'static str> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return special_address(address);
    }
    let is_local = LOCAL_NAMES
        .iter()
        .any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    (is_local || !host.contains('.')).then_some("a name of this machine or its network")
}
