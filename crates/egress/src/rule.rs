//! One destination that may be reached.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use skillsandbox_terms::{Protocol, Transport};

use crate::policy::EgressProblem;

/// The port that names are asked for on: the broker answers there, for every address.
pub(crate) const DNS_PORT: u16 = 53;

/// The port of a rule that names none.
const DEFAULT_PORT: u16 = 443;

/// A destination: a name, all names below one, or a range of addresses; its ports; and what may be spoken there.
///
/// ```
/// use skillsandbox_egress::{Protocol, NetworkRule};
///
/// let rule = NetworkRule::domain("api.weather.test")?.protocol(Protocol::Https);
/// assert_eq!(rule.to_string(), "api.weather.test port 443 https");
/// let rule = NetworkRule::cidr([10, 1, 0, 0].into(), 16)?.ports([5432]);
/// assert_eq!(rule.to_string(), "10.1.0.0/16 port 5432 tcp");
/// # Ok::<(), skillsandbox_egress::EgressProblem>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRule {
    pub(crate) to: RuleDestination,
    pub(crate) ports: BTreeSet<u16>,
    pub(crate) protocol: Protocol,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleDestination {
    /// A name: ASCII, lower case, no dot at its end.
    Name(String),
    /// Every name one or more labels below this one.
    Below(String),
    Range(IpNet),
}

impl NetworkRule {
    /// A name, or `*.` and a name for every name below it, never for that name itself. Port 443 and TCP unless set.
    ///
    /// The name is in its ASCII form; the case of letters and a dot at the end make no difference.
    pub fn domain(name: impl AsRef<str>) -> Result<Self, EgressProblem> {
        let name = name.as_ref();
        let to = match name.strip_prefix("*.") {
            Some(base) => RuleDestination::Below(
                normalise_name(base).ok_or_else(|| EgressProblem::Name(name.to_owned()))?,
            ),
            None => RuleDestination::Name(
                normalise_name(name).ok_or_else(|| EgressProblem::Name(name.to_owned()))?,
            ),
        };
        Ok(Self::to(to))
    }

    /// The addresses that begin with the first `prefix` bits of `address`.
    ///
    /// Loopback, private and other special addresses are reached only by a range that lies wholly in one of their blocks:
    /// `10.1.0.0/16` means private addresses, `8.0.0.0/6` does not.
    pub fn cidr(address: IpAddr, prefix: u8) -> Result<Self, EgressProblem> {
        let range = IpNet::new(address, prefix).map_err(|_| EgressProblem::Range(address, prefix))?;
        Ok(Self::to(RuleDestination::Range(unmap_ipv4(range.trunc()))))
    }

    fn to(to: RuleDestination) -> Self {
        Self { to, ports: BTreeSet::from([DEFAULT_PORT]), protocol: Protocol::Tcp }
    }

    /// The ports, instead of 443.
    #[must_use]
    pub fn ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = ports.into_iter().collect();
        self
    }

    /// What may be spoken there.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Whether it grants a name, which is in the form that [`normalise_name`] gives.
    pub(crate) fn grants_name(&self, name: &str) -> bool {
        match &self.to {
            RuleDestination::Name(granted) => granted == name,
            RuleDestination::Below(base) => {
                name.strip_suffix(base.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            RuleDestination::Range(_) => false,
        }
    }

    /// Whether it grants a single address.
    pub(crate) fn is_one_address(&self) -> bool {
        matches!(&self.to, RuleDestination::Range(range) if range.prefix_len() == range.max_prefix_len())
    }

    pub(crate) fn grants_port(&self, port: u16, transport: Transport) -> bool {
        self.ports.contains(&port) && self.protocol.transport() == transport
    }
}

impl fmt::Display for NetworkRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.to {
            RuleDestination::Name(name) => write!(f, "{name} port")?,
            RuleDestination::Below(base) => write!(f, "*.{base} port")?,
            RuleDestination::Range(range) => write!(f, "{range} port")?,
        }
        for (i, port) in self.ports.iter().enumerate() {
            write!(f, "{}{port}", if i == 0 { " " } else { "," })?;
        }
        write!(f, " {}", self.protocol)
    }
}

/// The one spelling of a host name: lower case, no dot at its end. `None` for what is not a host name, or is an address.
pub(crate) fn normalise_name(name: &str) -> Option<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let sane = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let is_name = name.len() <= 253 && name.split('.').all(sane);
    // What ends in a number is an address to some readers ("127.1", "0x7f.1").
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    (is_name && !is_number).then(|| name.to_ascii_lowercase())
}

/// `::ffff:0:0/96` and narrower, as the IPv4 range it means.
fn unmap_ipv4(range: IpNet) -> IpNet {
    if let IpNet::V6(v6) = range
        && let Some(prefix) = v6.prefix_len().checked_sub(96)
        && let Some(address) = v6.network().to_ipv4_mapped()
        && let Ok(v4) = ipnet::Ipv4Net::new(address, prefix)
    {
        return IpNet::V4(v4);
    }
    range
}
