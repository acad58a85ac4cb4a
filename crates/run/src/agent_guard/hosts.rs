//! Addresses that an agent fetches.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::{Map, Value};
use skillsandbox_enforcer::egress::special_address;
use skillsandbox_manifest::{DomainPattern, GrantBases, Manifest};

use super::{GuardAnswer, GuardError, GuardReason, places};
use crate::refusal::Refusal;
use crate::user_policy::UserPolicy;

/// Names that belong to a machine or a network, never to the Internet (RFC 6761, 6762, 8375; `.internal` of the ICANN).
/// `svc` is what Kubernetes gives services.
const LOCAL_NAMES: [&str; 8] =
    ["localhost", "local", "internal", "home.arpa", "lan", "localdomain", "intranet", "svc"];
/// Arguments whose value is an address, with a scheme or without. In their normal form.
const ADDRESS_KEYS: [&str; 15] = [
    "addr", "address", "baseurl", "endpoint", "host", "hostname", "hosts", "ip", "proxy", "server", "uri",
    "uris", "url", "urls", "website",
];
/// Programs that fetch what their arguments name.
const FETCHERS: [&str; 14] = [
    "aria2c", "axel", "curl", "curlie", "ftp", "http", "https", "nc", "ncat", "netcat", "telnet", "wget",
    "wget2", "xh",
];
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
        // Nor may one hide behind a sign, or be of another scheme.
        answers.fold(first, GuardAnswer::max).max(self.judge_references(text, Loopback::Denied))
    }

    /// One address.
    pub(super) fn judge_address(&self, address: &str) -> GuardAnswer {
        self.judge_address_as(address, Loopback::Denied)
    }

    fn judge_address_as(&self, address: &str, loopback: Loopback) -> GuardAnswer {
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
            return special(&host, kind, loopback);
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

    /// The addresses in the arguments of a tool that nobody knows.
    pub(super) fn judge_input(&self, input: &Map<String, Value>) -> GuardAnswer {
        let mut answer = GuardAnswer::Pass;
        places::each_text(input, &mut |key, text| {
            let text = text.trim();
            // Readers of addresses leave out tabs and line ends.
            let joined =
                if text.contains(' ') { text.to_owned() } else { text.replace(['\t', '\r', '\n'], "") };
            let judged = if !joined.contains(char::is_whitespace) && has_web_scheme(&joined) {
                self.judge_address(&joined)
            } else if places::is_content_key(key) {
                GuardAnswer::Pass
            } else {
                let bare = if ADDRESS_KEYS.contains(&key) {
                    self.judge_bare(&joined, Loopback::Denied)
                } else {
                    GuardAnswer::Pass
                };
                bare.max(self.judge_references(&joined, Loopback::Denied))
            };
            answer = std::cmp::max(std::mem::replace(&mut answer, GuardAnswer::Pass), judged);
        });
        answer
    }

    /// What a program that fetches is told to fetch. Developers try their own services: those of this machine are asked about.
    pub(super) fn judge_fetcher(&self, words: &[String]) -> GuardAnswer {
        let Some((program, words)) = words.split_first() else { return GuardAnswer::Pass };
        if !FETCHERS.contains(&program.rsplit('/').next().unwrap_or_default()) {
            return GuardAnswer::Pass;
        }
        let judge = |word: &String| {
            let value = match word.strip_prefix("--") {
                Some(option) => option.split_once('=').map_or("", |(_, value)| value),
                None => word.as_str(),
            };
            // `--resolve name:80:10.0.0.1` and its like.
            let numbers = value.split([':', ',', '/', '@']).filter_map(|part| part.parse::<IpAddr>().ok());
            let answer = numbers
                .filter_map(|ip| Some(special(&ip.to_string(), special_address(ip)?, Loopback::Asked)))
                .fold(GuardAnswer::Pass, GuardAnswer::max);
            let named = if value.contains("://") {
                self.judge_references(value, Loopback::Asked)
            } else if value.starts_with('-') {
                GuardAnswer::Pass
            } else {
                self.judge_bare(value, Loopback::Asked)
            };
            answer.max(named)
        };
        words.iter().map(judge).max().unwrap_or(GuardAnswer::Pass)
    }

    /// Every `scheme://host` in a text.
    fn judge_references(&self, text: &str, loopback: Loopback) -> GuardAnswer {
        let mut answer = GuardAnswer::Pass;
        for (count, (at, _)) in text.match_indices("://").enumerate() {
            if count == MOST_ADDRESSES {
                let reason = "there are more addresses in it than are looked at";
                return answer.max(ask("address", reason, "Make several calls."));
            }
            let (before, after) =
                (text.get(..at).unwrap_or_default(), text.get(at + 3..).unwrap_or_default());
            let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
            let scheme = before.rsplit(|c| !is_scheme(c)).next().unwrap_or_default().to_ascii_lowercase();
            let is_end = |c: char| c.is_whitespace() || "\"'<>(){}`,;|".contains(c);
            let rest = after.split(is_end).next().unwrap_or_default();
            let judged = match scheme.as_str() {
                "http" | "ws" => self.judge_address_as(&format!("http://{rest}"), loopback),
                "https" | "wss" => self.judge_address_as(&format!("https://{rest}"), loopback),
                _ => self.judge_bare(rest, loopback),
            };
            // In the middle of a text it may be no address at all.
            answer = answer.max(match judged {
                GuardAnswer::Deny(reason) if reason.rule == "address" => GuardAnswer::Ask(reason),
                judged => judged,
            });
        }
        answer
    }

    /// A host without a scheme, where the text is one: with a port, a path, a user's name. A single word may be anything.
    fn judge_bare(&self, text: &str, loopback: Loopback) -> GuardAnswer {
        let text = text.strip_prefix("//").unwrap_or(text);
        let authority = text.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let is_v6 = authority.parse::<Ipv6Addr>().is_ok();
        let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((inside, _)) => inside,
            None if is_v6 => authority,
            None => authority.split(':').next().unwrap_or_default(),
        };
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        if let Ok(ip) = host.parse::<IpAddr>() {
            return special_address(ip).map_or(GuardAnswer::Pass, |kind| special(&host, kind, loopback));
        }
        if is_local_name(&host) {
            return special(&host, LOCAL_NAME, loopback);
        }
        // A port or a count is a number as well.
        let is_small = host.parse::<u16>().is_ok();
        if ends_in_number(&host) && !is_small {
            let reason = format!("`{host}` is a number, which some read as an address");
            return ask("address", &reason, "Write the address plainly: https://host/path.");
        }
        let is_name =
            host.contains('.') && host.parse::<DomainPattern>().is_ok_and(|name| !name.is_wildcard());
        if !is_name || self.allows(&format!("{{ domain: \"{host}\" }}")) {
            return GuardAnswer::Pass;
        }
        let reason = format!("your policy lists the hosts that may be reached, and not `{host}`");
        ask("host-policy", &reason, "A person has to confirm it.")
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

fn ask(rule: &str, reason: &str, hint: &str) -> GuardAnswer {
    GuardAnswer::Ask(GuardReason::new(rule, reason, hint))
}

/// What is said of services of this machine.
#[derive(Clone, Copy)]
enum Loopback {
    Denied,
    Asked,
}

/// What is said of an address of this machine, its network or its cloud.
fn special(host: &str, kind: &str, loopback: Loopback) -> GuardAnswer {
    let is_loopback = match host.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback() || ip.is_unspecified(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    let reason = format!("`{host}` is {kind}");
    match loopback {
        Loopback::Asked if is_loopback => ask("special-address", &reason, "A person has to confirm it."),
        Loopback::Asked | Loopback::Denied => {
            let hint = "Services of this machine and its network are not fetched for an agent.";
            deny("special-address", &reason, hint)
        }
    }
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
    (is_local_name(host) || !host.contains('.')).then_some(LOCAL_NAME)
}

const LOCAL_NAME: &str = "a name of this machine or its network";

fn is_local_name(host: &str) -> bool {
    LOCAL_NAMES
        .iter()
        .any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}
