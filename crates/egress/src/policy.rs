//! All that may be reached, and how names are resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::attempt::RefusalReason;
use crate::rule::{DNS_PORT, NetworkRule, RuleDestination, normalise_name};
use crate::special::special_block;
use crate::synthetic_addresses::SyntheticAddresses;
use skillsandbox_terms::{Protocol, Transport};

/// Most different ports of all rules together: each is a socket of the launching program.
const MOST_PORTS: usize = 128;

/// Most rules.
const MOST_RULES: usize = 1024;

/// What a run may reach. One that exists is free of contradictions.
#[derive(Debug, Clone, Default)]
pub struct EgressPolicy {
    pub(crate) rules: Vec<NetworkRule>,
    pub(crate) resolver: Option<IpAddr>,
    pub(crate) pins: BTreeMap<(String, u16), SocketAddr>,
    pub(crate) is_rehearsal: bool,
}

impl EgressPolicy {
    /// A policy that allows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets a destination be reached.
    pub fn allow(&mut self, rule: NetworkRule) -> Result<(), EgressProblem> {
        if rule.ports.is_empty() {
            return Err(EgressProblem::NoPort(rule.to_string()));
        }
        if rule.ports.contains(&0) {
            return Err(EgressProblem::PortZero(rule.to_string()));
        }
        if rule.ports.contains(&DNS_PORT) {
            return Err(EgressProblem::Dns(rule.to_string()));
        }
        let by_name = matches!(rule.protocol, Protocol::Http | Protocol::Https);
        if by_name && matches!(rule.to, RuleDestination::Range(_)) {
            return Err(EgressProblem::NoName(rule.to_string()));
        }
        if matches!(&rule.to, RuleDestination::Range(range) if SyntheticAddresses::is_synthetic(range.network()))
        {
            return Err(EgressProblem::Synthetic(rule.to_string()));
        }
        if self.rules.len() >= MOST_RULES {
            return Err(EgressProblem::TooManyRules(MOST_RULES));
        }
        let ports = self.ports(rule.protocol.transport()).chain(rule.ports.iter().copied());
        if ports.collect::<BTreeSet<_>>().len() > MOST_PORTS {
            return Err(EgressProblem::TooManyPorts(MOST_PORTS));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// Asks the resolver at this address instead of the host's own.
    pub fn resolver(&mut self, address: IpAddr) {
        self.resolver = Some(address);
    }

    /// Connects to `to` whenever `name` is granted and connected to on `port`, without resolving it, whatever kind of address it
    /// is. For tests and development.
    pub fn pin(&mut self, name: &str, port: u16, to: SocketAddr) -> Result<(), EgressProblem> {
        let name = normalise_name(name).ok_or_else(|| EgressProblem::Name(name.to_owned()))?;
        self.pins.insert((name, port), to);
        Ok(())
    }

    /// Gives every name an address that nobody answers on, so that it is seen which port a program wants of which name. Nothing more can be
    /// reached: each of them is refused as before, and no question leaves the machine.
    pub fn rehearse(&mut self) {
        self.is_rehearsal = true;
    }

    /// Whether nothing may be reached and nothing is to be seen: there is nothing to serve then.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.is_rehearsal
    }

    /// The rules, in the order in which they were given.
    pub fn rules(&self) -> impl Iterator<Item = &NetworkRule> {
        self.rules.iter()
    }

    /// The ports that a broker for this policy listens on.
    #[must_use]
    pub fn listens(&self) -> ListenPorts {
        let with_dns = |transport| self.ports(transport).chain([DNS_PORT]).collect();
        ListenPorts { streams: with_dns(Transport::Tcp), datagrams: with_dns(Transport::Udp) }
    }

    /// The rules that grant a name, a port and what carries it.
    pub(crate) fn for_name(
        &self,
        name: &str,
        port: u16,
        transport: Transport,
    ) -> impl Iterator<Item = &NetworkRule> {
        self.rules.iter().filter(move |rule| rule.grants_name(name) && rule.grants_port(port, transport))
    }

    /// The rule that grants an address. One of a special kind is granted only by a range that means that kind.
    pub(crate) fn for_address(
        &self,
        address: IpAddr,
        port: u16,
        transport: Transport,
    ) -> Option<&NetworkRule> {
        let special_block = special_block(address);
        self.rules.iter().find(|rule| {
            let RuleDestination::Range(range) = &rule.to else { return false };
            let means_it =
                special_block.as_ref().is_none_or(|special_block| special_block.block.contains(range));
            range.contains(&address) && means_it && rule.grants_port(port, transport)
        })
    }

    /// Whether an address may be dialled: an ordinary one, or one that a range grants. `own` are the addresses of this machine,
    /// whose services are for this machine unless they are granted one by one, or as the private addresses that they are.
    pub(crate) fn may_dial(
        &self,
        to: SocketAddr,
        own: &[IpAddr],
        transport: Transport,
    ) -> Result<(), RefusalReason> {
        let address = to.ip().to_canonical();
        let special_block = special_block(address);
        let kind = match &special_block {
            Some(special_block) => special_block.kind,
            None if own.contains(&address) => "an address of this machine",
            None => return Ok(()),
        };
        let rule = self.for_address(address, to.port(), transport);
        match rule {
            Some(rule) if special_block.is_some() || rule.is_one_address() => Ok(()),
            _ => Err(RefusalReason::Special { address, kind }),
        }
    }

    /// The ports of all rules, some more than once.
    fn ports(&self, transport: Transport) -> impl Iterator<Item = u16> {
        let carried = self.rules.iter().filter(move |rule| rule.protocol.transport() == transport);
        carried.flat_map(|rule| rule.ports.iter().copied())
    }
}

/// The ports to listen on, on every address, inside. Port 53 is always among them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenPorts {
    /// For TCP.
    pub streams: BTreeSet<u16>,
    /// For UDP.
    pub datagrams: BTreeSet<u16>,
}

/// A contradiction in a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EgressProblem {
    /// Not a host name.
    #[error("{0:?} is not a host name")]
    Name(String),
    /// A range with more bits than an address has.
    #[error("{0}/{1} is not a range of addresses")]
    Range(IpAddr, u8),
    /// A rule that grants nothing.
    #[error("{0}: no port is named")]
    NoPort(String),
    /// A port that does not exist.
    #[error("{0}: 0 is not a port")]
    PortZero(String),
    /// The port on which names are asked for.
    #[error(
        "{0}: port 53 cannot be granted: the sandbox answers DNS itself, and a way to another resolver is a way out for data"
    )]
    Dns(String),
    /// A protocol that matches a name, for a rule that has none.
    #[error("{0}: http and https need a name to match: grant a domain, or tcp")]
    NoName(String),
    /// Addresses that stand for names in every run.
    #[error("{0}: these addresses stand for granted names in the sandbox")]
    Synthetic(String),
    /// More ports than can be served.
    #[error("more than {0} different ports")]
    TooManyPorts(usize),
    /// More rules than can be served.
    #[error("more than {0} rules")]
    TooManyRules(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(rules: &[NetworkRule]) -> EgressPolicy {
        let mut policy = EgressPolicy::new();
        for rule in rules {
            policy.allow(rule.clone()).unwrap();
        }
        policy
    }

    fn cidr(range: &str, port: u16) -> NetworkRule {
        let (address, prefix) = range.split_once('/').unwrap();
        NetworkRule::cidr(address.parse().unwrap(), prefix.parse().unwrap()).unwrap().ports([port])
    }

    #[test]
    fn contradictions_are_refused() {
        let name = || NetworkRule::domain("a.test").unwrap();
        let mut policy = EgressPolicy::new();
        let refused = [
            name().ports([]),
            name().ports([0, 443]),
            name().ports([53]),
            name().ports([53]).protocol(Protocol::Udp),
            name().ports(1..=129),
            cidr("10.0.0.0/8", 443).protocol(Protocol::Https),
            cidr("10.0.0.0/8", 80).protocol(Protocol::Http),
            cidr("198.18.0.0/15", 80),
            cidr("198.19.0.1/32", 80),
            cidr("fd53:6b69:6c6c::/64", 80),
        ];
        for rule in refused {
            let text = rule.to_string();
            assert!(policy.allow(rule).is_err(), "{text}");
        }
        assert!(policy.is_empty());
        policy.allow(name().ports(1000..1128)).unwrap();
        assert!(policy.allow(name().ports([2000])).is_err(), "together they are too many");
        policy.allow(name().ports([2000]).protocol(Protocol::Udp)).unwrap();
        for name in
            ["", ".", "a..test", "*.", "*", "a.*.test", "1.2.3.4", "127.1", "a b.test", "a/b.test", "ä.test"]
        {
            assert!(NetworkRule::domain(name).is_err() || name == "{name}");
        }
        assert!(NetworkRule::cidr([10, 0, 0, 0].into(), 33).is_err());
    }

    #[test]
    fn names_are_granted_by_their_labels() {
        let policy = policy(&[
            NetworkRule::domain("API.weather.test.").unwrap(),
            NetworkRule::domain("*.tiles.test").unwrap(),
        ]);
        let granted = |name: &str, port| policy.for_name(name, port, Transport::Tcp).next().is_some();
        for name in ["api.weather.test", "a.tiles.test", "a.b.tiles.test"] {
            assert!(granted(name, 443), "{name}");
            assert!(!granted(name, 80), "{name}");
        }
        for name in [
            "tiles.test",
            "xtiles.test",
            ".tiles.test",
            "weather.test",
            "x.api.weather.test",
            "tiles.test.evil.test",
        ] {
            assert!(!granted(name, 443), "{name}");
        }
        assert!(policy.for_name("api.weather.test", 443, Transport::Udp).next().is_none());
    }

    /// A range means addresses of a special kind only if it means nothing else.
    #[test]
    fn special_addresses_are_granted_by_ranges_that_mean_them() {
        let wide = policy(&[
            cidr("8.0.0.0/5", 80),
            cidr("128.0.0.0/1", 80),
            cidr("64.0.0.0/2", 80),
            cidr("::/1", 80),
        ]);
        let narrow =
            policy(&[cidr("10.1.0.0/16", 80), cidr("127.0.0.1/32", 80), cidr("169.254.169.254/32", 80)]);
        let reaches = |policy: &EgressPolicy, address: &str| {
            policy.for_address(address.parse().unwrap(), 80, Transport::Tcp).is_some()
        };
        for address in ["10.1.0.1", "127.0.0.1", "169.254.169.254"] {
            assert!(!reaches(&wide, address), "{address}");
            assert!(reaches(&narrow, address), "{address}");
        }
        for address in ["9.9.9.9", "8.8.8.8", "193.99.144.80"] {
            assert!(reaches(&wide, address), "{address}");
            assert!(!reaches(&narrow, address), "{address}");
        }
        for address in ["::1", "::ffff:127.0.0.1", "64:ff9b::a00:1"] {
            assert!(!reaches(&wide, address), "{address}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_granted_one_by_one() {
        let own: [IpAddr; 2] = ["9.9.9.9".parse().unwrap(), "10.1.0.5".parse().unwrap()];
        let may = |policy: &EgressPolicy, to: &str| {
            policy.may_dial(to.parse().unwrap(), &own, Transport::Tcp).is_ok()
        };
        let none = policy(&[NetworkRule::domain("a.test").unwrap()]);
        assert!(
            may(&none, "9.9.9.8:443") && !may(&none, "9.9.9.9:443") && !may(&none, "[::ffff:9.9.9.9]:443")
        );
        let wide = policy(&[cidr("9.9.9.0/24", 443), cidr("10.1.0.0/16", 443)]);
        assert!(!may(&wide, "9.9.9.9:443"));
        assert!(
            may(&wide, "10.1.0.5:443") && !may(&wide, "10.1.0.5:80"),
            "private addresses are granted as such"
        );
        assert!(may(&policy(&[cidr("9.9.9.9/32", 443)]), "9.9.9.9:443"));
    }
}
