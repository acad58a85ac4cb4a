//! Addresses of a special kind: those that mean this machine, its network, its cloud, or nothing. A name that belongs to one is
//! not dialled, or a name on the Internet could be made to mean a host behind the firewall (DNS rebinding).
//!
//! From the registries of special-purpose addresses of the IANA (RFC 6890), without the few blocks which they hold to be
//! reachable by everyone (AS112, AMT). A translator whose prefix is the network's own (RFC 6052) cannot be known here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A block of addresses of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpecialBlock {
    /// The narrowest block of that kind: one address where a cloud's metadata is meant.
    pub(crate) block: IpNet,
    /// What such an address is: "a loopback address".
    pub(crate) kind: &'static str,
}

const METADATA: &str = "a cloud metadata address";
const PRIVATE: &str = "a private address";
const LOOPBACK: &str = "a loopback address";
const UNSPECIFIED: &str = "an address of this host";
const LINK_LOCAL: &str = "a link-local address";
const MULTICAST: &str = "a multicast address";
const DOCUMENTATION: &str = "an address reserved for documentation";
const PROTOCOLS: &str = "an address reserved for Internet protocols";
const SIX_TO_FOUR: &str = "an address of the 6to4 translation";
const WRAPPED: &str = "an IPv4 address written as IPv6";
const UNASSIGNED: &str = "an unassigned address";
const DISCARD: &str = "a discard-only address";

/// Narrower blocks before those that hold them: the first one counts.
const V4: &[([u8; 4], u8, &str)] = &[
    // AWS, Azure, Google, OpenStack and many more; AWS for containers and for pods; Tencent.
    ([169, 254, 169, 254], 32, METADATA),
    ([169, 254, 170, 2], 32, METADATA),
    ([169, 254, 170, 23], 32, METADATA),
    ([169, 254, 0, 23], 32, METADATA),
    // Alibaba; Oracle; the wire server of Azure, which looks like any public address.
    ([100, 100, 100, 200], 32, METADATA),
    ([192, 0, 0, 192], 32, METADATA),
    ([168, 63, 129, 16], 32, METADATA),
    ([0, 0, 0, 0], 8, UNSPECIFIED),
    ([10, 0, 0, 0], 8, PRIVATE),
    ([100, 64, 0, 0], 10, "a carrier-grade NAT address"),
    ([127, 0, 0, 0], 8, LOOPBACK),
    ([169, 254, 0, 0], 16, LINK_LOCAL),
    ([172, 16, 0, 0], 12, PRIVATE),
    ([192, 0, 0, 0], 24, PROTOCOLS),
    ([192, 0, 2, 0], 24, DOCUMENTATION),
    ([192, 88, 99, 0], 24, SIX_TO_FOUR),
    ([192, 168, 0, 0], 16, PRIVATE),
    // Also what we tell programs: never dialled, or a name could lead back to us.
    ([198, 18, 0, 0], 15, "an address reserved for network tests"),
    ([198, 51, 100, 0], 24, DOCUMENTATION),
    ([203, 0, 113, 0], 24, DOCUMENTATION),
    ([224, 0, 0, 0], 4, MULTICAST),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, UNASSIGNED),
];

const V6: &[([u16; 8], u8, &str)] = &[
    // AWS, for machines and for pods; Google.
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254], 128, METADATA),
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x23], 128, METADATA),
    ([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254], 128, METADATA),
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, UNSPECIFIED),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, LOOPBACK),
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, WRAPPED),
    // IPv4-translated addresses (RFC 2765).
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, WRAPPED),
    ([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "an address of a local NAT64 translation"),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, DISCARD),
    ([0x100, 0, 0, 1, 0, 0, 0, 0], 64, DISCARD),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "an address of the Teredo tunnel"),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, PROTOCOLS),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, DOCUMENTATION),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, SIX_TO_FOUR),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, DOCUMENTATION),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, "a segment of a network's own routing"),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, PRIVATE),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, LINK_LOCAL),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, PRIVATE),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, MULTICAST),
    // All that is assigned to anyone lies in 2000::/3 (RFC 4291).
    ([0x4000, 0, 0, 0, 0, 0, 0, 0], 2, UNASSIGNED),
    ([0x8000, 0, 0, 0, 0, 0, 0, 0], 1, UNASSIGNED),
    ([0, 0, 0, 0, 0, 0, 0, 0], 3, UNASSIGNED),
];

/// What is special about an address, itself or by the IPv4 address that it means. `None`: it is one of everybody's.
pub(crate) fn special_block(address: IpAddr) -> Option<SpecialBlock> {
    match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => {
            let meant = embedded_ipv4(v6).and_then(special_v4);
            // These two are no more than another spelling of an address that may well be public.
            if is_in(v6, Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96) || is_in(v6, NAT64, 96) {
                return meant;
            }
            let itself = V6.iter().find_map(|&(block, prefix, kind)| {
                let block = Ipv6Net::new(block.into(), prefix).ok()?;
                block.contains(&v6).then_some(SpecialBlock { block: block.into(), kind })
            });
            itself.or(meant)
        }
    }
}

/// What is special about an address ("a loopback address"), itself or by the IPv4 address that it means: such an address is this machine's, its
/// network's, its cloud's or nobody's. `None`: it is one of everybody's.
///
/// ```
/// use skillsandbox_egress::special_address;
///
/// assert_eq!(special_address("169.254.169.254".parse().unwrap()), Some("a cloud metadata address"));
/// assert_eq!(special_address("::ffff:10.0.0.1".parse().unwrap()), Some("a private address"));
/// assert_eq!(special_address("93.184.216.34".parse().unwrap()), None);
/// ```
#[must_use]
pub fn special_address(address: IpAddr) -> Option<&'static str> {
    special_block(address).map(|special| special.kind)
}

/// The prefix by which all networks may translate to IPv4 (RFC 6052).
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

/// The IPv4 address that is meant by an IPv6 one: where a packet to the one may end up at the other.
pub(crate) fn embedded_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Some(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    match address.segments() {
        // Teredo keeps the address of the client, with every bit turned.
        [0x2001, 0, .., high, low] => of(!high, !low),
        // Compatible with IPv4, which these two are not.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        // 6to4 keeps it after its own two bytes.
        | [0x2002, high, low, ..]
        // Translated (SIIT).
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        // NAT64, with the prefix of everybody and with those of one's own in the length that is usual.
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, .., high, low]
        // ISATAP (RFC 5214): below any prefix.
        | [_, _, _, _, 0 | 0x0200, 0x5efe, high, low] => of(high, low),
        _ => None,
    }
}

fn special_v4(address: Ipv4Addr) -> Option<SpecialBlock> {
    V4.iter().find_map(|&(block, prefix, kind)| {
        let block = Ipv4Net::new(block.into(), prefix).ok()?;
        block.contains(&address).then_some(SpecialBlock { block: block.into(), kind })
    })
}

fn is_in(address: Ipv6Addr, block: Ipv6Addr, prefix: u32) -> bool {
    (address.to_bits() ^ block.to_bits()).leading_zeros() >= prefix
}

#[cfg(test)]
mod tests;
