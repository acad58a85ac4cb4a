//! What each question is answered. Replies are read with simple-dns, as a second opinion on what was written.

use std::net::{Ipv4Addr, Ipv6Addr};

use simple_dns::rdata::RData;
use simple_dns::{Packet, PacketFlag, RCODE};

use super::{message, names, query, question, record, wire};
use crate::attempt::RefusalReason;
use crate::dns::answer::{DnsReply, DnsTransport, answer};

const V6: Ipv6Addr = Ipv6Addr::new(0xfd53, 0x6b69, 0x6c6c, 0, 0, 0, 0, 1);

fn asked(packet: &[u8]) -> DnsReply {
    let udp = answer(&mut names(), packet, DnsTransport::Udp).expect("a reply");
    assert_eq!(answer(&mut names(), packet, DnsTransport::Tcp).as_ref(), Some(&udp));
    assert_eq!(udp.reply[..2], [0xab, 0xcd], "the number of the question");
    assert!(udp.reply.len() <= 512, "{}", udp.reply.len());
    udp
}

/// The code, the addresses, and whether there is an SOA.
fn seen(packet: &[u8]) -> (RCODE, Vec<String>, bool) {
    let answered = asked(packet);
    let reply = Packet::parse(&answered.reply).unwrap();
    let addresses = reply.answers.iter().map(|record| {
        assert_eq!(record.ttl, 60);
        match &record.rdata {
            RData::A(a) => Ipv4Addr::from(a.address).to_string(),
            RData::AAAA(aaaa) => Ipv6Addr::from(aaaa.address).to_string(),
            other => panic!("{other:?}"),
        }
    });
    let addresses = addresses.collect();
    let soa = matches!(reply.name_servers.as_slice(), [only] if matches!(only.rdata, RData::SOA(_)));
    (reply.rcode(), addresses, soa)
}

fn refused(packet: &[u8]) -> Option<RefusalReason> {
    asked(packet).question.expect("a question").refused
}

#[test]
fn granted_names_have_their_addresses() {
    let v4 = "198.18.0.1".to_owned();
    let v6 = V6.to_string();
    let table = [
        ("api.weather.test", 1, vec![v4.clone()]),
        ("API.Weather.TEST", 1, vec![v4.clone()]),
        ("api.weather.test", 28, vec![v6.clone()]),
        ("api.weather.test", 255, vec![v4, v6]),
        ("deep.in.the.tree.invalid", 1, vec!["198.18.0.2".to_owned()]),
        ("www.cdn.test", 1, vec!["198.18.0.3".to_owned()]),
    ];
    for (name, kind, addresses) in table {
        assert_eq!(seen(&query(name, kind)), (RCODE::NoError, addresses, false), "{name}");
        assert_eq!(refused(&query(name, kind)), None);
    }
}

/// Resolvers that mix upper and lower case to be sure of an answer want each letter back as it was.
#[test]
fn the_question_comes_back_letter_by_letter() {
    let packet = query("aPi.WEAther.tEsT", 1);
    let answered = asked(&packet);
    assert_eq!(answered.reply[12..packet.len()], packet[12..]);
    // The owner of the answer is that name, by a pointer.
    assert_eq!(answered.reply[packet.len()..packet.len() + 2], [0xc0, 12]);
    assert_eq!(answered.question.unwrap().name, "aPi.WEAther.tEsT");
}

#[test]
fn other_types_of_granted_names_have_no_data() {
    // NS, CNAME, SOA, MX, TXT, SRV, DS, SVCB, HTTPS, MAILB, CAA, one for private use, 0, the highest.
    for kind in [2, 5, 6, 15, 16, 33, 43, 64, 65, 253, 257, 65280, 0, 65535] {
        assert_eq!(seen_raw(&query("api.weather.test", kind)), (0, 0, 1), "{kind}");
        assert_eq!(refused(&query("api.weather.test", kind)), None, "{kind}");
        assert_eq!(seen_raw(&query("other.test", kind)), (3, 0, 1), "{kind}");
    }
}

/// Code, answers, authorities: for types that simple-dns cannot read.
fn seen_raw(packet: &[u8]) -> (u8, u8, u8) {
    let reply = asked(packet).reply;
    (reply[3] & 15, reply[7], reply[9])
}

#[test]
fn names_that_are_not_granted_do_not_exist() {
    let missing = [
        "evil.test",
        "xapi.weather.test",
        "x.api.weather.test",
        "api.weather.test.corp.invalid",
        "api.weather.tes",
        "1.0.18.198.in-addr.arpa",
        "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.c.6.c.6.9.6.b.6.3.5.d.f.ip6.arpa",
        "ipv4only.arpa",
        "use-application-dns.net",
        "whatever.invalid",
        "wpad",
        "198.18.0.1",
        "127.0.0.1",
    ];
    for name in missing {
        for kind in [1, 28, 12, 16, 255] {
            assert_eq!(seen(&query(name, kind)), (RCODE::NameError, vec![], true), "{name} {kind}");
            assert_eq!(refused(&query(name, kind)), Some(RefusalReason::NotGranted));
        }
    }
    let data = query("68656c6c6f20776f726c64.cdn.test", 1);
    assert_eq!(seen(&data), (RCODE::NameError, vec![], true));
    assert_eq!(refused(&data), Some(RefusalReason::LooksLikeData));
}

#[test]
fn names_above_granted_ones_have_no_data() {
    for name in ["", "test", "weather.test", "cdn.test", "invalid", "in.the.tree.invalid"] {
        assert_eq!(seen(&query(name, 1)), (RCODE::NoError, vec![], true), "{name}");
        assert_eq!(refused(&query(name, 1)), Some(RefusalReason::NotGranted));
    }
}

#[test]
fn localhost_is_loopback() {
    for name in ["localhost", "LocalHost", "x.y.localhost"] {
        assert_eq!(seen(&query(name, 1)), (RCODE::NoError, vec!["127.0.0.1".to_owned()], false));
        assert_eq!(seen(&query(name, 28)), (RCODE::NoError, vec!["::1".to_owned()], false));
        assert_eq!(seen(&query(name, 15)), (RCODE::NoError, vec![], true));
    }
    assert_eq!(seen(&query("localhost.evil.test", 1)).0, RCODE::NameError);
    assert_eq!(seen(&query("xlocalhost", 1)).0, RCODE::NameError);
}

/// A label with a dot in it is not two labels; nor is anything else that only looks like a granted name.
#[test]
fn names_are_compared_label_by_label() {
    let impostors = [
        "api%weather.test",
        "api.weather%test",
        "api%weather%test",
        "api.weather.test%",
        "%api.weather.test",
        "api.weather.test\0",
        "api\0.weather.test",
        "\0.api.weather.test",
        "api.weather.test ",
        "a%b.cdn.test",
        "a%cdn.test",
        "a\\.cdn.test",
        "x.cdn%test",
        "api.weather.t\u{e9}st",
        "www\u{2024}api.cdn.test",
        "*.cdn.test",
        "a/b.cdn.test",
        "a:b.cdn.test",
        "localhost%",
        "%localhost",
        "x%localhost",
        "x%y.localhost",
        "\0.localhost",
    ];
    for name in impostors {
        assert_eq!(seen(&query(name, 1)), (RCODE::NameError, vec![], true), "{name:?}");
        assert_eq!(refused(&query(name, 1)), Some(RefusalReason::NotGranted), "{name:?}");
    }
    // Bytes that are no text, and the bit by which upper case would be told apart: 0x01 is not "a" nor "A", `[` is not `{`.
    for odd in [
        &b"\x03\xff\xfe\xfd\x04test\x00"[..],
        b"\x03\x01pi\x07weather\x04test\x00",
        b"\x03AP\xe9\x07weather\x04test\x00",
    ] {
        let packet = message(0x0100, [1, 0, 0, 0], &[odd, &[0, 1, 0, 1]]);
        assert_eq!(seen(&packet).0, RCODE::NameError);
    }
}

#[test]
fn names_in_reports_are_fit_for_a_terminal() {
    let table = [
        ("", "."),
        ("a%b.test", "a\\.b.test"),
        ("a\\b.test", "a\\\\b.test"),
        ("\u{1b}[31m.test", "\\027[31m.test"),
        ("\u{e9}.test", "\\195\\169.test"),
        ("a b\n.test", "a\\032b\\010.test"),
    ];
    for (name, expected) in table {
        assert_eq!(asked(&query(name, 1)).question.unwrap().name, expected);
    }
    let longest = vec!["\u{1}".repeat(61); 4].join(".");
    let question = asked(&query(&longest, 1)).question.unwrap();
    assert_eq!(question.name.len(), 61 * 4 * 4 + 3);
}

#[test]
fn the_header_is_that_of_a_reply() {
    // RD, CD, AD, TC, AA and RA of the question, and the bit that must be nought.
    for (asked_for, expected) in
        [(0x0100, 0x8180), (0x0000, 0x8080), (0x0110, 0x8190), (0x07e0, 0x8180), (0x01a0, 0x8180)]
    {
        let packet = message(asked_for, [1, 0, 0, 0], &[&question("api.weather.test", 1, 1)]);
        let reply = asked(&packet).reply;
        assert_eq!(u16::from_be_bytes([reply[2], reply[3]]), expected, "{asked_for:#x}");
        let reply = Packet::parse(&reply).unwrap();
        assert!(reply.has_flags(PacketFlag::RESPONSE | PacketFlag::RECURSION_AVAILABLE));
        assert!(
            !reply.has_flags(PacketFlag::AUTHORITATIVE_ANSWER) && !reply.has_flags(PacketFlag::TRUNCATION)
        );
    }
}

#[test]
fn other_classes_and_whole_zones_are_refused() {
    let packet = |name, kind, class| message(0x0100, [1, 0, 0, 0], &[&question(name, kind, class)]);
    for (name, kind, class) in [
        ("version.bind", 16, 3),
        ("api.weather.test", 1, 3),
        ("api.weather.test", 1, 255),
        ("api.weather.test", 1, 0x8001),
        ("api.weather.test", 1, 0),
        ("api.weather.test", 252, 1),
        ("weather.test", 251, 1),
    ] {
        assert_eq!(seen_raw(&packet(name, kind, class)), (5, 0, 0), "{name} {kind} {class}");
        assert_eq!(refused(&packet(name, kind, class)), Some(RefusalReason::NotGranted));
    }
}

/// The root, OPT, so many bytes, extended code and version and flags, options.
fn opt(ttl: u32, data: &[u8]) -> Vec<u8> {
    record(&[0], 41, 4096, ttl, data)
}

fn with_opt(name: &str, ttl: u32, data: &[u8]) -> Vec<u8> {
    message(0x0100, [1, 0, 0, 1], &[&question(name, 1, 1), &opt(ttl, data)])
}

#[test]
fn edns_is_answered_in_kind() {
    // Nothing; a cookie; padding; an unknown option; two empty ones; the client's network.
    let options: [&[u8]; 6] = [
        b"",
        b"\0\x0a\0\x08abcdefgh",
        b"\0\x0c\0\x03\0\0\0",
        b"\xff\xff\0\x01x",
        b"\0\x05\0\0\0\x06\0\0",
        b"\0\x08\0\x07\0\x01\x18\0\x0a\0\0",
    ];
    for data in options {
        for dnssec_ok in [0, 0x8000] {
            let reply = asked(&with_opt("api.weather.test", dnssec_ok, data)).reply;
            let flags = u8::try_from(dnssec_ok >> 8).unwrap();
            // Ours has no options where nothing was refused: none of theirs is sent back.
            let ours = [0, 0, 41, 0x04, 0xd0, 0, 0, flags, 0, 0, 0];
            assert_eq!((reply[7], reply[11]), (1, 1));
            assert_eq!(reply[reply.len() - 11..], ours, "{data:?}");
        }
    }
    // Without it, none.
    assert_eq!(asked(&query("api.weather.test", 1)).reply[11], 0);
}

#[test]
fn another_version_of_edns_is_refused_with_ours() {
    for version in [1, 2, 255] {
        let reply = asked(&with_opt("api.weather.test", version << 16, b"")).reply;
        assert_eq!((reply[3] & 15, reply[7], reply[11]), (0, 0, 1));
        assert_eq!(reply[reply.len() - 11..], [0, 0, 41, 0x04, 0xd0, 1, 0, 0, 0, 0, 0]);
    }
}

#[test]
fn a_refusal_says_why_to_those_who_can_hear_it() {
    let reply = asked(&with_opt("evil.test", 0, b"")).reply;
    let said = "not in permissions.network.egress";
    let mut end = vec![0, 15, 0, u8::try_from(said.len()).unwrap() + 2, 0, 15];
    end.extend_from_slice(said.as_bytes());
    assert!(reply.ends_with(&end), "{reply:?}");
    assert!(Packet::parse(&reply).unwrap().opt().is_some());
}

#[test]
fn what_cannot_be_read_is_a_format_error() {
    let asking = question("api.weather.test", 1, 1);
    let of = |counts, rest: &[&[u8]]| message(0x0100, counts, rest);
    let label = |length: usize| [vec![u8::try_from(length).unwrap()], vec![b'a'; length]].concat();
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("no question", of([0, 0, 0, 0], &[])),
        ("no question, but a cookie", of([0, 0, 0, 1], &[&opt(0, b"\0\x0a\0\x08abcdefgh")])),
        ("two questions", of([2, 0, 0, 0], &[&asking, &asking])),
        ("65535 questions", of([65535, 0, 0, 0], &[&asking])),
        ("a question that is missing", of([1, 0, 0, 0], &[])),
        ("a name that does not end", of([1, 0, 0, 0], &[b"\x03api"])),
        ("a label that is cut", of([1, 0, 0, 0], &[b"\x0aapi"])),
        ("no class", of([1, 0, 0, 0], &[&wire("api.weather.test"), &[0, 1]])),
        ("a byte too few", of([1, 0, 0, 0], &[&asking[..asking.len() - 1]])),
        ("a byte too many", of([1, 0, 0, 0], &[&asking, b"x"])),
        ("a pointer to itself", of([1, 0, 0, 0], &[&[0xc0, 12, 0, 1, 0, 1]])),
        ("a pointer forward", of([1, 0, 0, 0], &[&[0xc0, 18, 0, 1, 0, 1], &wire("api.weather.test")])),
        ("a pointer into the header", of([1, 0, 0, 0], &[&[0xc0, 4, 0, 1, 0, 1]])),
        ("a pointer after a label", of([1, 0, 0, 0], &[b"\x01a\xc0\x0c\0\x01\0\x01"])),
        ("labels of the kinds that nobody uses", of([1, 0, 0, 0], &[b"\x41a\0\0\x01\0\x01"])),
        ("the other kind", of([1, 0, 0, 0], &[b"\x81a\0\0\x01\0\x01"])),
        ("a label of 64", of([1, 0, 0, 0], &[&label(64), &[0, 0, 1, 0, 1]])),
        ("a name of 256", of([1, 0, 0, 0], &[&label(63).repeat(3), &label(62), &[0, 0, 1, 0, 1]])),
        ("a name of many labels", of([1, 0, 0, 0], &[&label(1).repeat(128), &[0, 0, 1, 0, 1]])),
        ("an answer that is missing", of([1, 1, 0, 0], &[&asking])),
        ("65535 records that are missing", of([1, 65535, 65535, 65535], &[&asking])),
        ("OPT that is missing", of([1, 0, 0, 1], &[&asking])),
        ("OPT twice", of([1, 0, 0, 2], &[&asking, &opt(0, b""), &opt(0, b"")])),
        ("OPT of a name", of([1, 0, 0, 1], &[&asking, &record(b"\x01a\0", 41, 512, 0, b"")])),
        ("options that are cut", of([1, 0, 0, 1], &[&asking, &opt(0, b"\0\x0a\0\x08abc")])),
        ("half an option", of([1, 0, 0, 1], &[&asking, &opt(0, b"\0\x0a\0")])),
        ("OPT asked for", of([1, 0, 0, 0], &[&question("api.weather.test", 41, 1)])),
        (
            "a record that points to itself",
            of([1, 1, 0, 0], &[&asking, &record(&[0xc0, 34], 1, 1, 0, b"abcd")]),
        ),
        (
            "a record that points forward",
            of([1, 1, 0, 0], &[&asking, &record(&[0xc0, 40], 1, 1, 0, b"abcd")]),
        ),
        ("data that is cut", of([1, 0, 0, 1], &[&asking, &opt(0, b"")[..10], &[9]])),
    ];
    for (what, packet) in table {
        let answered = asked(&packet);
        assert_eq!(answered.reply, [0xab, 0xcd, 0x81, 0x81, 0, 0, 0, 0, 0, 0, 0, 0], "{what}");
        assert_eq!(answered.question, None, "{what}");
    }
}

/// The names that are only just right.
#[test]
fn the_longest_names_are_read() {
    let label = |length: usize| [vec![u8::try_from(length).unwrap()], vec![b'a'; length]].concat();
    for name in [[label(63).repeat(3), label(61)].concat(), label(1).repeat(127)] {
        let packet = message(0x0100, [1, 0, 0, 1], &[&name, &[0, 0, 1, 0, 1], &opt(0, b"")]);
        let answered = asked(&packet);
        assert_eq!(answered.reply[3] & 15, 3);
        assert!(answered.reply.len() <= 512);
    }
}

#[test]
fn records_beside_the_question_are_passed_over() {
    let asking = question("api.weather.test", 1, 1);
    // A record of some type in each section, the last a signature (TSIG), with an owner that points back.
    let rest = [
        record(&[0xc0, 12], 1, 1, 5, b"abcd"),
        record(&[0], 6, 1, 5, b"x"),
        record(&[0xc0, 16], 250, 255, 0, b""),
    ];
    let packet = message(0x0100, [1, 1, 1, 2], &[&asking, &rest[0], &rest[1], &opt(0, b""), &rest[2]]);
    assert_eq!(seen(&packet).1, ["198.18.0.1"]);
}

#[test]
fn other_operations_are_not_implemented() {
    for opcode in 1..16_u8 {
        let flags = u16::from(opcode) << 11;
        let reply =
            asked(&message(flags | 0x0100, [1, 0, 0, 0], &[&question("api.weather.test", 1, 1)])).reply;
        assert_eq!(reply.len(), 12);
        assert_eq!((reply[2], reply[3]), (0x81 | (opcode << 3), 0x84), "{opcode}");
    }
}

#[test]
fn replies_and_scraps_are_not_answered() {
    let mut reply = query("api.weather.test", 1);
    reply[2] |= 0x80;
    assert_eq!(answer(&mut names(), &reply, DnsTransport::Udp), None);
    // Nor an answer of ours: two brokers would talk for ever.
    let ours = asked(&query("evil.test", 1)).reply;
    assert_eq!(answer(&mut names(), &ours, DnsTransport::Udp), None);
    for length in 0..12 {
        assert_eq!(answer(&mut names(), &query("api.weather.test", 1)[..length], DnsTransport::Udp), None);
    }
}

#[test]
fn long_questions_are_read_up_to_a_bound() {
    let padded = |length: usize| {
        let padding =
            [&[0, 12], u16::try_from(length).unwrap().to_be_bytes().as_slice(), &vec![0; length]].concat();
        with_opt("api.weather.test", 0, &padding)
    };
    for length in [0, 500, 1500, 4000] {
        assert_eq!(seen(&padded(length)).1, ["198.18.0.1"], "{length}");
    }
    let long = padded(5000);
    assert_eq!(answer(&mut names(), &long, DnsTransport::Udp).unwrap().reply[3] & 15, 1);
    assert_eq!(answer(&mut names(), &long, DnsTransport::Tcp).unwrap().reply[7], 1);
}
