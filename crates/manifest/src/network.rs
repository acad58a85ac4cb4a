//! Which hosts a skill may reach.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Serialize, Serializer};

use skillsandbox_terms::Protocol;

use crate::diagnostic::{Code, Diagnostic, DiagnosticSink, Fault, Spanned, quoted};
use crate::domain::DomainPattern;
use crate::raw;

/// The network a skill may use. No rule, no network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NetworkPermissions {
    /// The destinations.
    pub egress: Vec<Spanned<EgressRule>>,
    /// Who resolves the names.
    pub resolver: Resolver,
}

/// One destination.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct EgressRule {
    /// The hosts that are meant.
    #[serde(flatten)]
    pub to: Destination,
    /// The ports, never empty, never 0.
    pub ports: BTreeSet<u16>,
    /// What may be spoken there.
    pub protocol: Protocol,
}

impl EgressRule {
    /// A destination that no manifest names, for grants that are made by hand. Port 0 is not a port number, and left out.
    #[must_use]
    pub fn new(to: Destination, ports: impl IntoIterator<Item = u16>, protocol: Protocol) -> Self {
        Self { to, ports: ports.into_iter().filter(|port| *port != 0).collect(), protocol }
    }
}

impl fmt::Display for EgressRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} port", self.to)?;
        for (i, port) in self.ports.iter().enumerate() {
            write!(f, "{}{port}", if i == 0 { " " } else { "," })?;
        }
        write!(f, " {}", self.protocol)
    }
}

/// The hosts a rule means: by name, or by address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    /// A name, or all names below one.
    Domain(DomainPattern),
    /// A range of addresses.
    Cidr(Cidr),
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) => domain.fmt(f),
            Self::Cidr(cidr) => cidr.fmt(f),
        }
    }
}

/// A range of addresses with its host bits cleared. IPv4 written inside IPv6 (`::ffff:10.0.0.0/104`) is IPv4 here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cidr(IpNet);

impl Cidr {
    /// Whether an address lies in the range; an IPv4-mapped address counts as the IPv4 one.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }

    /// Whether every address of `other` lies in `self`.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.0.contains(&other.0)
    }

    /// The first address of the range.
    #[must_use]
    pub fn network(&self) -> IpAddr {
        self.0.network()
    }

    /// How many leading bits are fixed.
    #[must_use]
    pub fn prefix_len(&self) -> u8 {
        self.0.prefix_len()
    }
}

impl FromStr for Cidr {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let range = parse_range(text).ok_or_else(|| {
            let message = format!("{} is not a range of addresses", quoted(text));
            Fault::new(Code::InvalidCidr, message)
                .help("write one as `10.1.0.0/16`, `2001:db8::/32` or `192.0.2.7`")
        })?;
        let range = unmapped(range.trunc());
        if range.prefix_len() == 0 {
            let message = format!("{} is every address there is", quoted(text));
            return Err(Fault::new(Code::InvalidCidr, message).help("grant the ranges that are needed"));
        }
        Ok(Self(range))
    }
}

/// An address with or without a prefix length. Leading zeros mean octal to some readers, so they mean nothing here; the
/// standard library's parser refuses them in addresses.
fn parse_range(text: &str) -> Option<IpNet> {
    let Some((address, prefix)) = text.split_once('/') else {
        return text.parse::<IpAddr>().ok().map(IpNet::from);
    };
    let plain = prefix.bytes().all(|b| b.is_ascii_digit()) && (prefix == "0" || !prefix.starts_with('0'));
    let prefix = plain.then(|| prefix.parse().ok()).flatten()?;
    IpNet::new(address.parse().ok()?, prefix).ok()
}

/// `::ffff:0:0/96` and narrower, as the IPv4 range it means.
fn unmapped(range: IpNet) -> IpNet {
    if let IpNet::V6(v6) = range
        && let Some(prefix) = v6.prefix_len().checked_sub(96)
        && let Some(address) = v6.network().to_ipv4_mapped()
        && let Ok(v4) = Ipv4Net::new(address, prefix)
    {
        return IpNet::V4(v4);
    }
    range
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Who resolves the names a skill connects to. The skill itself never talks to a resolver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolver {
    /// The host's own.
    #[default]
    System,
    /// The resolver at this address.
    Address(IpAddr),
}

impl FromStr for Resolver {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        if text == "system" {
            return Ok(Self::System);
        }
        let refused = || {
            let message = format!("{} is not a resolver", quoted(text));
            Fault::new(Code::InvalidResolver, message).help("write `system` or an address such as `1.1.1.1`")
        };
        let address = text.parse::<IpAddr>().map_err(|_| refused())?.to_canonical();
        if address.is_unspecified() || address.is_multicast() {
            return Err(refused());
        }
        Ok(Self::Address(address))
    }
}

impl fmt::Display for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System => f.write_str("system"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl Serialize for Resolver {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

const PATH: &str = "permissions.network";

impl NetworkPermissions {
    pub(crate) fn lower(raw: &raw::Network, sink: &mut DiagnosticSink) -> Self {
        let rules = raw::entries(raw.egress.as_ref());
        let egress = rules
            .filter_map(|(i, rule)| EgressRule::lower(rule, &format!("{PATH}.egress[{i}]"), sink))
            .collect();
        let resolver = raw.resolver.as_ref();
        let resolver =
            resolver.and_then(|r| sink.check(r, format_args!("{PATH}.resolver"), |text| text.parse()));
        Self { egress, resolver: resolver.map(|r| r.value).unwrap_or_default() }
    }
}

impl EgressRule {
    fn lower(written: &Spanned<raw::Egress>, path: &str, sink: &mut DiagnosticSink) -> Option<Spanned<Self>> {
        let rule = &written.value;
        let protocol = rule.protocol.as_ref();
        let protocol = protocol.map(|p| sink.check(p, format_args!("{path}.protocol"), |text| text.parse()));
        let ports = Self::lower_ports(rule, path, sink);
        let to = match (&rule.domain, &rule.cidr) {
            (Some(domain), None) => {
                let domain = sink.check(domain, format_args!("{path}.domain"), |text| text.parse());
                domain.map(|d| Destination::Domain(d.value))
            }
            (None, Some(cidr)) => {
                let range = sink.check(cidr, format_args!("{path}.cidr"), |text| text.parse());
                let named = protocol.as_ref().and_then(Option::as_ref);
                if let Some(p) = named.filter(|p| matches!(p.value, Protocol::Https | Protocol::Http)) {
                    let message =
                        format!("protocol `{}` needs a `domain`: an address has no name to match", p.value);
                    let diagnostic = Diagnostic::new(Code::InvalidRule, p.span, message);
                    sink.push(
                        diagnostic.help("use `tcp` here, or grant the domain").at(format!("{path}.protocol")),
                    );
                }
                range.map(|r| Destination::Cidr(r.value))
            }
            (Some(_), Some(cidr)) => {
                let message = "a rule names a `domain` or a `cidr`, not both";
                let diagnostic = Diagnostic::new(Code::InvalidRule, cidr.span, message);
                sink.push(diagnostic.help("make two rules of it").at(path));
                None
            }
            (None, None) => {
                let message = "a rule needs a `domain` or a `cidr`";
                sink.push(Diagnostic::new(Code::InvalidRule, written.span, message).at(path));
                None
            }
        };
        let protocol = match protocol {
            Some(refused_or_not) => refused_or_not?.value,
            None => Protocol::default(),
        };
        Some(Spanned::new(Self { to: to?, ports: ports?, protocol }, written.span))
    }

    fn lower_ports(rule: &raw::Egress, path: &str, sink: &mut DiagnosticSink) -> Option<BTreeSet<u16>> {
        let Some(ports) = &rule.ports else {
            return Some(BTreeSet::from([443]));
        };
        if ports.is_empty() {
            let message = "an empty list of ports grants nothing";
            let diagnostic = Diagnostic::new(Code::EmptyValue, ports.span, message);
            sink.push(diagnostic.help("name the ports, or remove the rule").at(format!("{path}.ports")));
            return None;
        }
        let checked = sink.check_all(raw::filled(&ports.value), &format!("{path}.ports"), |port| {
            match u16::try_from(*port) {
                Ok(port) if port > 0 => Ok(port),
                _ => Err(Fault::new(Code::OutOfRange, format!("{port} is not a port number"))
                    .help("a port is 1 to 65535")),
            }
        });
        Some(checked.into_iter().map(|port| port.value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_normalised() {
        for (text, expected) in [
            ("10.1.2.3/16", "10.1.0.0/16"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("2001:DB8::1/32", "2001:db8::/32"),
            ("::1", "::1/128"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:192.0.2.1", "192.0.2.1/32"),
        ] {
            assert_eq!(text.parse::<Cidr>().unwrap().to_string(), expected, "{text}");
        }
        for text in [
            "0.0.0.0/0",
            "::/0",
            "::ffff:0.0.0.0/96",
            "10.0.0.0/33",
            "10.0.0/8",
            "a",
            "",
            "10.0.0.0/-1",
            "1.2.3.4/",
            "010.0.0.0/8",
            "10.0.0.0/08",
            "10.0.0.0/+8",
            "::ffff:010.0.0.1/128",
        ] {
            assert!(text.parse::<Cidr>().is_err(), "{text}");
        }
    }

    #[test]
    fn mapped_addresses_lie_in_the_ipv4_range() {
        let range: Cidr = "10.0.0.0/8".parse().unwrap();
        assert!(range.contains("::ffff:10.9.9.9".parse().unwrap()));
        assert!(!range.contains("::ffff:11.9.9.9".parse().unwrap()));
    }

    #[test]
    fn protocols_meet() {
        use Protocol::{Http, Https, Tcp, Udp};
        for (a, b, expected) in [
            (Tcp, Tcp, Some(Tcp)),
            (Tcp, Https, Some(Https)),
            (Http, Tcp, Some(Http)),
            (Http, Https, None),
            (Udp, Tcp, None),
            (Udp, Udp, Some(Udp)),
        ] {
            assert_eq!(a.both(b), expected);
            assert_eq!(b.both(a), expected);
        }
    }
}
