use super::*;
use crate::rule::NetworkRule;

fn names(granted: &[&str]) -> SyntheticAddresses {
    let mut policy = EgressPolicy::new();
    for name in granted {
        policy.allow(NetworkRule::domain(name).unwrap()).unwrap();
    }
    policy.allow(NetworkRule::cidr([10, 0, 0, 0].into(), 8).unwrap()).unwrap();
    SyntheticAddresses::new(&policy)
}

fn v4(looked: &NameLookup) -> Ipv4Addr {
    match looked {
        NameLookup::Known { v4, v6 } => {
            assert_eq!(u128::from(v4.to_bits() - V4.to_bits()), v6.to_bits() - V6.to_bits());
            *v4
        }
        NameLookup::Rehearsed { .. } => panic!("not granted"),
        NameLookup::Refused(reason) => panic!("{reason}"),
    }
}

#[test]
fn exact_names_have_addresses_in_the_order_of_the_rules() {
    let mut names = names(&["b.test", "a.test", "*.wild.test", "B.test.", "c.test"]);
    // Another order of questions does not matter, nor does how a name is spelled.
    let expected = [("c.test", 3), ("a.test", 2), ("A.TEST.", 2), ("b.test", 1), ("b.TEST", 1)];
    for (name, last) in expected {
        assert_eq!(v4(&names.look_up(name)), Ipv4Addr::new(198, 18, 0, last), "{name}");
    }
    let v6 = "fd53:6b69:6c6c::2".parse::<IpAddr>().unwrap();
    assert_eq!(names.name_of(v6), Some("a.test"));
    assert_eq!(names.name_of("198.18.0.3".parse().unwrap()), Some("c.test"));
    assert_eq!(names.name_of("::ffff:198.18.0.1".parse().unwrap()), Some("b.test"));
}

#[test]
fn addresses_that_stand_for_nothing_have_no_name() {
    let mut names = names(&["a.test", "*.wild.test"]);
    let nothing = [
        "198.18.0.0",
        "198.18.0.2",
        "198.19.0.1",
        "198.17.255.255",
        "0.0.0.1",
        "127.0.0.1",
        "::1",
        "fd53:6b69:6c6c::",
        "fd53:6b69:6c6c::2",
        "fd53:6b69:6c6c:0:0:1:0:1",
        "fd53:6b69:6c6c:1::1",
        "fd53:6b69:6c6d::1",
        "::198.18.0.1",
        "64:ff9b::198.18.0.1",
    ];
    for address in nothing {
        assert_eq!(names.name_of(address.parse().unwrap()), None, "{address}");
    }
    v4(&names.look_up("x.wild.test"));
    assert_eq!(names.name_of("198.18.0.2".parse().unwrap()), Some("x.wild.test"));
}

#[test]
fn ranges_have_their_edges() {
    for inside in
        ["198.18.0.0", "198.19.255.255", "::ffff:198.18.0.1", "fd53:6b69:6c6c::", "fd53:6b69:6c6c:ffff::1"]
    {
        assert!(SyntheticAddresses::is_synthetic(inside.parse().unwrap()), "{inside}");
    }
    for outside in
        ["198.17.255.255", "198.20.0.0", "fd53:6b69:6c6b:ffff::", "fd53:6b69:6c6d::", "::198.18.0.1"]
    {
        assert!(!SyntheticAddresses::is_synthetic(outside.parse().unwrap()), "{outside}");
    }
}

#[test]
fn only_what_is_granted_is_known() {
    let mut names = names(&["api.weather.test", "*.cdn.test"]);
    let refused = [
        "",
        ".",
        "weather.test",
        "x.api.weather.test",
        "xapi.weather.test",
        "api.weather.test.corp.invalid",
        "api.weather.test..",
        ".api.weather.test",
        "api..weather.test",
        "cdn.test",
        ".cdn.test",
        "xcdn.test",
        "*.cdn.test",
        "a b.cdn.test",
        "a\\.cdn.test",
        "api.weather.test\0",
        "api.weather.t\u{e9}st",
        "\u{212a}.cdn.test",
        "198.18.0.1",
        "10.0.0.1",
        "1.0.18.198.in-addr.arpa",
    ];
    for name in refused {
        assert_eq!(names.look_up(name), NameLookup::Refused(RefusalReason::NotGranted), "{name:?}");
    }
    for name in ["a.cdn.test", "a.b.cdn.test", "A.CDN.test."] {
        v4(&names.look_up(name));
    }
}

#[test]
fn wildcards_give_so_many_names_and_no_more() {
    let mut names = names(&["exact.test", "*.one.test", "*.two.test"]);
    let first = v4(&names.look_up("host0.one.test"));
    for number in 1..MOST_NAMES {
        let base = if number % 2 == 0 { "one" } else { "two" };
        v4(&names.look_up(&format!("host{number}.{base}.test")));
    }
    assert_eq!(names.look_up("one-too-many.one.test"), NameLookup::Refused(RefusalReason::TooManyNames));
    assert_eq!(names.look_up("one-too-many.two.test"), NameLookup::Refused(RefusalReason::TooManyNames));
    // What was told before still holds, and exact names do not count.
    assert_eq!(v4(&names.look_up("HOST0.one.test")), first);
    v4(&names.look_up("exact.test"));
    assert_eq!(names.name_of(Ipv4Addr::new(198, 18, 0, 66).into()), None);
}

#[test]
fn what_is_refused_uses_nothing_up() {
    let mut names = names(&["*.one.test"]);
    for number in 0..1000 {
        let text = format!("password {number}");
        let data = text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>() + ".one.test";
        assert_eq!(names.look_up(&data), NameLookup::Refused(RefusalReason::LooksLikeData));
        assert_eq!(
            names.look_up(&format!("n{number}.other.test")),
            NameLookup::Refused(RefusalReason::NotGranted)
        );
    }
    assert_eq!(v4(&names.look_up("www.one.test")), Ipv4Addr::new(198, 18, 0, 1));
}

#[test]
fn the_longest_base_decides_what_is_free() {
    let free = "z3.dualstack.long-name-of-a-region.more.and";
    let mut narrow = names(&["*.test", &format!("*.{free}.test")]);
    v4(&narrow.look_up(&format!("x.a.{free}.test")));
    let mut wide = names(&["*.test"]);
    assert_eq!(wide.look_up(&format!("x.a.{free}.test")), NameLookup::Refused(RefusalReason::LooksLikeData));
}

#[test]
fn names_above_granted_ones_exist() {
    let mut names = names(&["api.weather.test", "*.cdn.invalid"]);
    for above in ["", ".", "test", "weather.test", "Weather.TEST.", "invalid", "cdn.invalid"] {
        assert!(names.is_above(above), "{above}");
    }
    for other in
        ["api.weather.test", "x.api.weather.test", "eather.test", "com", "x.cdn.invalid", "y.x.cdn.invalid"]
    {
        assert!(!names.is_above(other), "{other}");
    }
    v4(&names.look_up("y.x.cdn.invalid"));
    assert!(names.is_above("x.cdn.invalid"));
    assert!(!SyntheticAddresses::new(&EgressPolicy::new()).is_above("test"));
}

#[test]
fn in_a_rehearsal_a_name_that_is_not_granted_has_an_address_and_is_not_granted() {
    let mut policy = EgressPolicy::new();
    policy.allow(NetworkRule::domain("a.test").unwrap()).unwrap();
    policy.rehearse();
    let mut names = SyntheticAddresses::new(&policy);
    let NameLookup::Rehearsed { v4, v6 } = names.look_up("other.test") else { panic!("no address") };
    assert_eq!(names.look_up("OTHER.test."), NameLookup::Rehearsed { v4, v6 }, "the same one each time");
    assert_eq!(
        (names.name_of(v4.into()), names.name_of(v6.into())),
        (Some("other.test"), Some("other.test"))
    );
    assert!(policy.for_name("other.test", 443, skillsandbox_terms::Transport::Tcp).next().is_none());
    assert!(matches!(names.look_up("a.test"), NameLookup::Known { .. }));
    for odd in ["", "a b.test", "evil\u{1b}[2J.test", "x..test"] {
        assert_eq!(names.look_up(odd), NameLookup::Refused(RefusalReason::NotGranted), "{odd:?}");
    }
    // Ten thousand names do not become ten thousand addresses.
    let known =
        (0..10_000).filter(|n| matches!(names.look_up(&format!("n{n}.test")), NameLookup::Rehearsed { .. }));
    assert_eq!(known.count(), MOST_REHEARSED - 1);
}
