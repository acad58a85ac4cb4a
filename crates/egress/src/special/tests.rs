use super::*;

fn kind(address: &str) -> &'static str {
    special_block(address.parse().unwrap()).map_or("", |special_block| special_block.kind)
}

/// First and last address of each block, and the neighbours on both sides with what they are.
#[test]
fn blocks_of_ipv4_have_their_edges() {
    let table = [
        ("255.255.255.255", "0.0.0.0", "0.255.255.255", "1.0.0.0", UNSPECIFIED, ""),
        ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0", PRIVATE, ""),
        ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0", "a carrier-grade NAT address", ""),
        ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0", LOOPBACK, ""),
        ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0", LINK_LOCAL, ""),
        ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0", PRIVATE, ""),
        ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0", PROTOCOLS, ""),
        ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", DOCUMENTATION, ""),
        ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0", SIX_TO_FOUR, ""),
        ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0", PRIVATE, ""),
        (
            "198.17.255.255",
            "198.18.0.0",
            "198.19.255.255",
            "198.20.0.0",
            "an address reserved for network tests",
            "",
        ),
        ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0", DOCUMENTATION, ""),
        ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0", DOCUMENTATION, ""),
        ("223.255.255.255", "224.0.0.0", "239.255.255.255", "240.0.0.0", MULTICAST, UNASSIGNED),
        (
            "239.255.255.255",
            "240.0.0.0",
            "255.255.255.254",
            "255.255.255.255",
            UNASSIGNED,
            "the broadcast address",
        ),
        ("169.254.169.253", "169.254.169.254", "169.254.169.254", "169.254.169.255", METADATA, LINK_LOCAL),
        ("169.254.170.1", "169.254.170.2", "169.254.170.2", "169.254.170.3", METADATA, LINK_LOCAL),
        ("169.254.170.22", "169.254.170.23", "169.254.170.23", "169.254.170.24", METADATA, LINK_LOCAL),
        ("169.254.0.22", "169.254.0.23", "169.254.0.23", "169.254.0.24", METADATA, LINK_LOCAL),
        (
            "100.100.100.199",
            "100.100.100.200",
            "100.100.100.200",
            "100.100.100.201",
            METADATA,
            "a carrier-grade NAT address",
        ),
        ("192.0.0.191", "192.0.0.192", "192.0.0.192", "192.0.0.193", METADATA, PROTOCOLS),
        ("168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17", METADATA, ""),
    ];
    for (before, first, last, after, expected, neighbour) in table {
        assert_eq!(kind(first), expected, "{first}");
        assert_eq!(kind(last), expected, "{last}");
        assert_eq!(kind(after), neighbour, "{after}");
        assert_ne!(kind(before), expected, "{before}");
    }
    // Every block of the table has a row above.
    for (block, ..) in V4 {
        let block = Ipv4Addr::from(*block).to_string();
        assert!(table.iter().any(|row| row.1 == block || row.3 == block), "{block}");
    }
}

#[test]
fn blocks_of_ipv6_have_their_edges() {
    const TEREDO: &str = "an address of the Teredo tunnel";
    const NAT64_LOCAL: &str = "an address of a local NAT64 translation";
    const SEGMENT: &str = "a segment of a network's own routing";
    let table = [
        ("::", "::", "::1", UNSPECIFIED, LOOPBACK),
        ("::1", "::1", "::2", LOOPBACK, WRAPPED),
        ("::2", "::ffff:ffff", "::1:0:0", WRAPPED, UNASSIGNED),
        ("::ffff:0:0:0", "::ffff:0:ffff:ffff", "::ffff:1:0:0", WRAPPED, UNASSIGNED),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::", NAT64_LOCAL, UNASSIGNED),
        ("100::", "100::ffff:ffff:ffff:ffff", "100:0:0:2::", DISCARD, UNASSIGNED),
        ("100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", "100:0:0:2::", DISCARD, UNASSIGNED),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::", TEREDO, PROTOCOLS),
        ("2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::", PROTOCOLS, ""),
        ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", DOCUMENTATION, ""),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::", SIX_TO_FOUR, ""),
        ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", DOCUMENTATION, ""),
        ("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f00::", UNASSIGNED, SEGMENT),
        ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "5f01::", SEGMENT, UNASSIGNED),
        ("8000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fc00::", UNASSIGNED, PRIVATE),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe00::", PRIVATE, UNASSIGNED),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::", LINK_LOCAL, PRIVATE),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ff00::", PRIVATE, MULTICAST),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2606:4700::1111", MULTICAST, ""),
        ("fd00:ec2::254", "fd00:ec2::254", "fd00:ec2::255", METADATA, PRIVATE),
        ("fd00:ec2::23", "fd00:ec2::23", "fd00:ec2::24", METADATA, PRIVATE),
        ("fd20:ce::254", "fd20:ce::254", "fd20:ce::255", METADATA, PRIVATE),
    ];
    for (first, last, after, expected, neighbour) in table {
        assert_eq!(kind(first), expected, "{first}");
        assert_eq!(kind(last), expected, "{last}");
        assert_eq!(kind(after), neighbour, "{after}");
        let first = first.parse::<Ipv6Addr>().unwrap();
        if let Some(before) = first.to_bits().checked_sub(1).map(Ipv6Addr::from_bits) {
            let block =
                |address: Ipv6Addr| special_block(address.into()).map(|special_block| special_block.block);
            assert_ne!(block(before), block(first), "{before}");
        }
    }
    for (block, ..) in V6 {
        let block = Ipv6Addr::from(*block).to_string();
        assert!(table.iter().any(|row| row.0 == block), "{block}");
    }
    for everybodys in
        ["2000::", "2001:200::1", "2606:4700::1111", "2a00:1450:4001::8a", "3ffe:ffff::1", "2620:4f:8000::1"]
    {
        assert_eq!(kind(everybodys), "", "{everybodys}");
    }
}

/// An address in IPv6 that means one in IPv4 is what that one is.
#[test]
fn wrapped_addresses_are_unwrapped() {
    let table = [
        ("::ffff:127.0.0.1", "127.0.0.1", LOOPBACK),
        ("::ffff:169.254.169.254", "169.254.169.254", METADATA),
        ("::ffff:8.8.8.8", "8.8.8.8", ""),
        ("64:ff9b::10.0.0.1", "10.0.0.1", PRIVATE),
        ("64:ff9b::169.254.169.254", "169.254.169.254", METADATA),
        ("64:ff9b::8.8.8.8", "8.8.8.8", ""),
        ("::10.0.0.1", "10.0.0.1", WRAPPED),
        ("::8.8.8.8", "8.8.8.8", WRAPPED),
        ("::ffff:0:8.8.8.8", "8.8.8.8", WRAPPED),
        ("64:ff9b:1::8.8.8.8", "8.8.8.8", "an address of a local NAT64 translation"),
        ("2002:a00:1::1", "10.0.0.1", SIX_TO_FOUR),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.45", "an address of the Teredo tunnel"),
        ("2a00:1450::5efe:10.0.0.1", "10.0.0.1", PRIVATE),
        ("2a00:1450::200:5efe:192.168.1.1", "192.168.1.1", PRIVATE),
        ("2a00:1450::5efe:8.8.8.8", "8.8.8.8", ""),
        ("fe80::5efe:8.8.8.8", "8.8.8.8", LINK_LOCAL),
    ];
    for (address, meant, expected) in table {
        assert_eq!(kind(address), expected, "{address}");
        assert_eq!(embedded_ipv4(address.parse().unwrap()), Some(meant.parse().unwrap()), "{address}");
    }
    for plain in ["::", "::1", "2606:4700::1111", "2a00:1450::1:5efe:808:808", "64:ff9b:0:1::1", "64:ff9c::1"]
    {
        assert_eq!(embedded_ipv4(plain.parse().unwrap()), None, "{plain}");
    }
}

/// A grant of a range has to lie in the block: a metadata service is never part of a wider one.
#[test]
fn the_narrowest_block_is_told() {
    let table = [
        ("10.1.2.3", "10.0.0.0/8"),
        ("169.254.1.1", "169.254.0.0/16"),
        ("169.254.169.254", "169.254.169.254/32"),
        ("::ffff:169.254.169.254", "169.254.169.254/32"),
        ("64:ff9b::10.1.2.3", "10.0.0.0/8"),
        ("fd00:ec2::254", "fd00:ec2::254/128"),
        ("fd00::1", "fc00::/7"),
        ("2001:0:1::", "2001::/32"),
    ];
    for (address, block) in table {
        let special_block = special_block(address.parse().unwrap()).unwrap();
        assert_eq!(special_block.block.to_string(), block, "{address}");
    }
}

/// A slow second opinion, for what the standard library knows.
#[test]
fn all_that_the_standard_library_holds_to_be_special_is() {
    for high in 0..=u16::MAX {
        for low in [0, 1, 0x7fff, 0xffff] {
            let v4 = Ipv4Addr::from_bits((u32::from(high) << 16) | low);
            let theirs = v4.is_private()
                || v4.is_loopback()
                || v4.is_link_local()
                || v4.is_multicast()
                || v4.is_broadcast()
                || v4.is_unspecified();
            assert!(!theirs || special_block(v4.into()).is_some(), "{v4}");
            let v6 = Ipv6Addr::new(high, 0x1234, 0, 0, 0, 0, 0, 1);
            let theirs = v6.is_unique_local() || v6.is_unicast_link_local() || v6.is_multicast();
            assert!(!theirs || special_block(v6.into()).is_some(), "{v6}");
        }
    }
}
