//! The first thing that a client says.

use super::made::{SpoiledHello, counted, message, names, record, records};
use super::{Client, MOST_HELD, NAME, RefusalReason, https, outcome, refused, tcp, to_address};

/// What comes of it where TLS is required, and where it is not. `None`: it passes.
type ExpectedRefusal = (Option<RefusalReason>, Option<RefusalReason>);

fn both(reason: RefusalReason) -> ExpectedRefusal {
    (Some(reason.clone()), Some(reason))
}

fn bad() -> ExpectedRefusal {
    both(RefusalReason::BadHello)
}

/// Not TLS, and so only refused where it must be.
fn not_tls() -> ExpectedRefusal {
    (Some(RefusalReason::NotTls), None)
}

/// Something that some servers take for TLS.
fn disguised() -> ExpectedRefusal {
    (Some(RefusalReason::NotTls), Some(RefusalReason::BadHello))
}

fn other(name: &str) -> ExpectedRefusal {
    both(RefusalReason::OtherServerName(name.to_owned()))
}

fn check(cases: Vec<(&str, Vec<u8>, ExpectedRefusal)>) {
    for (what, bytes, (required, optional)) in cases {
        for (gate, expected) in [(https as fn() -> _, required), (tcp, optional)] {
            let outcome = outcome(gate, &[Client(bytes.clone())]);
            assert_eq!(outcome.refused, expected, "{what}");
            let passes = if expected.is_none() { bytes.len() } else { 0 };
            assert_eq!(outcome.passed.len(), passes, "{what}");
        }
        let address = outcome(to_address, &[Client(bytes.clone())]);
        assert_eq!((address.refused, address.passed), (None, bytes), "{what}: to an address all passes");
    }
}

/// The same with other extensions.
fn extended(extensions: Vec<(u16, Vec<u8>)>) -> Vec<u8> {
    SpoiledHello::with(extensions).bytes()
}

/// The same with this for the data of the server name extension.
fn list(data: &[u8]) -> Vec<u8> {
    extended(vec![(0, data.to_vec()), (43, vec![2, 3, 4])])
}

/// A hello whose body was spoiled.
fn spoiled(spoil: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = SpoiledHello::new().body();
    spoil(&mut body);
    records(&message(1, &body), 1 << 14)
}

#[test]
fn names_are_compared() {
    let named = |name: &str| SpoiledHello::named(name).bytes();
    let long = format!("{}.test", ["a".repeat(60).as_str(); 4].join("."));
    check(vec![
        ("the name", named(NAME), (None, None)),
        ("in capitals", named("API.Weather.TEST"), (None, None)),
        ("another", named("evil.test"), other("evil.test")),
        ("below it", named("x.api.weather.test"), other("x.api.weather.test")),
        ("above it", named("weather.test"), other("weather.test")),
        ("a suffix", named("notapi.weather.test"), other("notapi.weather.test")),
        ("with more behind", named("api.weather.test.evil.test"), other("api.weather.test.evil.test")),
        ("a prefix", named("api.weather.tes"), other("api.weather.tes")),
        ("a dot at the end", named("api.weather.test."), other("api.weather.test.")),
        ("a dot at the front", named(".api.weather.test"), other(".api.weather.test")),
        ("a dot", named("."), other(".")),
        ("the longest", named(&long[..253.min(long.len())]), other(&long)),
        ("an address", named("127.0.0.1"), other("127.0.0.1")),
        ("a number", named("2130706433"), other("2130706433")),
        ("an IPv6 address", named("::1"), bad()),
        ("an IPv6 address in brackets", named("[::1]"), bad()),
        ("with a port", named("api.weather.test:443"), bad()),
        ("a space behind", named("api.weather.test "), bad()),
        ("a star", named("*.weather.test"), bad()),
        ("a NUL behind", named("api.weather.test\0"), bad()),
        ("a NUL between", named("api.weather.test\0.evil.test"), bad()),
        ("a NUL in front", named("\0api.weather.test"), bad()),
        ("a line end", named("api.weather.test\r\n"), bad()),
        ("a slash", named("api.weather.test/x"), bad()),
        ("user and host", named("x@api.weather.test"), bad()),
        ("not ASCII", named("api.we\u{e4}ther.test"), bad()),
        ("a Kelvin sign", named("\u{212a}.test"), bad()),
        ("not UTF-8", list(&names(b"api.weather.tes\xf4")), bad()),
        ("empty", named(""), bad()),
        ("254 bytes", named(&"a".repeat(254)), bad()),
        ("60000 bytes", named(&"a".repeat(60_000)), bad()),
    ]);
}

#[test]
fn lists_of_names_have_one_name() {
    let entry = |kind: u8, name: &[u8]| [&[kind], counted::<2>(name).as_slice()].concat();
    let right = entry(0, NAME.as_bytes());
    let evil = entry(0, b"evil.test");
    let lists = |entries: &[&[u8]]| list(&counted::<2>(&entries.concat()));
    let ending = |list: &[u8], more: &[u8]| [list, more].concat();
    check(vec![
        ("two names", lists(&[&right, &evil]), bad()),
        ("two names, the other way", lists(&[&evil, &right]), bad()),
        ("the same twice", lists(&[&right, &right]), bad()),
        ("another kind of name", lists(&[&entry(1, NAME.as_bytes())]), bad()),
        ("another kind first", lists(&[&entry(1, b"evil.test"), &right]), bad()),
        ("another kind last", lists(&[&right, &entry(255, b"evil.test")]), bad()),
        ("no names", list(&[0, 0]), bad()),
        ("no list", list(&[]), bad()),
        ("half a count", list(&[0]), bad()),
        ("bytes after the list", list(&ending(&names(NAME.as_bytes()), b"x")), bad()),
        ("bytes after the name", lists(&[&right, b"x"]), bad()),
        ("a list that is longer than its data", list(&[0, 20, 0, 0, 9, b'e']), bad()),
        ("a name that is longer than its list", list(&[0, 4, 0, 0, 9, b'e']), bad()),
        ("a name that is shorter than its list", list(&[0, 5, 0, 0, 1, b'e', b'v']), bad()),
    ]);
}

#[test]
fn extensions_are_read_to_the_end() {
    let right = || (0, names(NAME.as_bytes()));
    let evil = || (0, names(b"evil.test"));
    let hidden = |kind| extended(vec![right(), (kind, vec![0; 40])]);
    let count_of_extensions = SpoiledHello::new().front().len();
    check(vec![
        ("twice the name", extended(vec![right(), right()]), bad()),
        ("another name after it", extended(vec![right(), (43, vec![2, 3, 4]), evil()]), bad()),
        ("another name before it", extended(vec![evil(), right()]), bad()),
        ("any extension twice", extended(vec![(10, vec![]), right(), (10, vec![])]), bad()),
        ("no name", extended(vec![(43, vec![2, 3, 4])]), (Some(RefusalReason::NoServerName), None)),
        ("an empty list of extensions", extended(vec![]), (Some(RefusalReason::NoServerName), None)),
        (
            "no extensions",
            records(&message(1, &SpoiledHello::new().front()), 1 << 14),
            (Some(RefusalReason::NoServerName), None),
        ),
        ("half a count of extensions", spoiled(|body| body.truncate(count_of_extensions + 1)), bad()),
        ("extensions longer than the hello", spoiled(|body| body[count_of_extensions + 1] += 1), bad()),
        ("extensions shorter than the hello", spoiled(|body| body[count_of_extensions + 1] -= 1), bad()),
        ("bytes after the extensions", spoiled(|body| body.extend([0, 0, 0, 0])), bad()),
        ("an extension longer than the list", spoiled(|body| body[count_of_extensions + 5] += 200), bad()),
        ("half an extension", extended(vec![right(), (43, vec![])]).tap_last(), bad()),
        ("ECH", hidden(0xfe0d), both(RefusalReason::HiddenServerName)),
        (
            "ECH that is empty",
            extended(vec![right(), (0xfe0d, vec![])]),
            both(RefusalReason::HiddenServerName),
        ),
        (
            "ECH before the name",
            extended(vec![(0xfe0d, vec![1]), right()]),
            both(RefusalReason::HiddenServerName),
        ),
        (
            "ECH and another name",
            extended(vec![(0xfe0d, vec![1]), evil()]),
            both(RefusalReason::HiddenServerName),
        ),
        ("ECH without a name", extended(vec![(0xfe0d, vec![1])]), both(RefusalReason::HiddenServerName)),
        ("a draft of ECH", hidden(0xfe0a), both(RefusalReason::HiddenServerName)),
        ("an old draft of ECH", hidden(0xff02), both(RefusalReason::HiddenServerName)),
        ("an encrypted server name", hidden(0xffce), both(RefusalReason::HiddenServerName)),
        ("renegotiation info is no ECH", extended(vec![right(), (0xff01, vec![0])]), (None, None)),
        ("grease is no ECH", extended(vec![(0xfafa, vec![]), right(), (0x0a0a, vec![0])]), (None, None)),
        (
            "a thousand extensions",
            extended((0..1000).map(|kind| (1000 + kind, vec![])).chain([right()]).collect()),
            (None, None),
        ),
    ]);
}

/// Takes the last byte of the hello away, and makes the outer lengths fit.
trait TapLast {
    fn tap_last(self) -> Vec<u8>;
}

impl TapLast for Vec<u8> {
    fn tap_last(self) -> Vec<u8> {
        let mut body = self[9..self.len() - 1].to_vec();
        let front = SpoiledHello::new().front().len();
        body[front + 1] -= 1;
        records(&message(1, &body), 1 << 14)
    }
}

#[test]
fn the_rest_of_a_hello_has_lengths_that_fit() {
    let with = |change: fn(&mut SpoiledHello)| {
        let mut hello = SpoiledHello::new();
        change(&mut hello);
        hello.bytes()
    };
    check(vec![
        ("no session", with(|hello| hello.session.clear()), (None, None)),
        ("a long session", with(|hello| hello.session = vec![1; 33]), bad()),
        ("the longest session", with(|hello| hello.session = vec![1; 255]), bad()),
        ("a session longer than the hello", spoiled(|body| body[34] = 255), bad()),
        ("a session that is shorter", spoiled(|body| body[34] = 31), bad()),
        ("a session that is longer", spoiled(|body| body[34] = 33), bad()),
        ("no ciphers", with(|hello| hello.ciphers.clear()), bad()),
        ("half a cipher", with(|hello| hello.ciphers.truncate(3)), bad()),
        ("ciphers longer than the hello", spoiled(|body| body[67] = 0xff), bad()),
        ("ciphers that are longer", spoiled(|body| body[68] += 2), bad()),
        ("no compression", with(|hello| hello.compression.clear()), bad()),
        ("compression", with(|hello| hello.compression = vec![1, 0]), (None, None)),
        ("TLS 1.0", with(|hello| hello.version = [3, 1]), (None, None)),
        ("DTLS", with(|hello| hello.version = [0xfe, 0xfd]), bad()),
        ("SSL 2", with(|hello| hello.version = [0, 2]), bad()),
        ("empty", records(&message(1, &[]), 1 << 14), bad()),
        ("only a version", records(&message(1, &[3, 3]), 1 << 14), bad()),
        ("half a random", spoiled(|body| body.truncate(20)), bad()),
        ("no more than a random", spoiled(|body| body.truncate(34)), bad()),
    ]);
}

#[test]
fn records_are_put_together() {
    let hello = SpoiledHello::new().message();
    let evil = SpoiledHello::named("evil.test").message();
    let versioned = |major: u8, minor: u8| {
        let mut bytes = records(&hello, 1 << 14);
        bytes[1..3].copy_from_slice(&[major, minor]);
        bytes
    };
    let (first, second) = hello.split_at(40);
    let between = |other: Vec<u8>| [record(22, first), other, record(22, second)].concat();
    let longer = |message: &[u8], by: u8| {
        let mut message = message.to_vec();
        message[3] = message[3].wrapping_add(by);
        message
    };
    check(vec![
        ("records of one byte", records(&hello, 1), (None, None)),
        ("records of one byte for another", records(&evil, 1), other("evil.test")),
        ("records of three bytes", records(&hello, 3), (None, None)),
        ("SSL 3.0 records", versioned(3, 0), (None, None)),
        ("TLS 1.0 records", versioned(3, 1), (None, None)),
        ("TLS 1.3 records", versioned(3, 4), (None, None)),
        ("records of no version", versioned(3, 99), bad()),
        ("records of version 2", versioned(2, 1), disguised()),
        ("records of version 0", versioned(0, 0), disguised()),
        ("records of version 4", versioned(4, 0), disguised()),
        ("records of a version that no server takes", versioned(0x10, 0), not_tls()),
        ("an empty record first", [record(22, &[]), record(22, &hello)].concat(), bad()),
        ("an empty record between", between(record(22, &[])), bad()),
        ("an empty record of data between", between(record(23, &[])), bad()),
        ("an alert between", between(record(21, &[1, 0])), bad()),
        ("a change of ciphers between", between(record(20, &[1])), bad()),
        ("a part of it as data", [record(22, first), record(23, second)].concat(), bad()),
        ("plain text between", between(b"GET / HTTP/1.1\r\n\r\n".to_vec()), bad()),
        (
            "another version between",
            [record(22, first), [22, 2].into(), record(22, second)[2..].to_vec()].concat(),
            bad(),
        ),
        (
            "a record of 16 KiB and one",
            record(22, &[hello.as_slice(), &[0; 1 << 14]].concat()[..=1 << 14]),
            bad(),
        ),
        ("two hellos in one record", record(22, &[hello.as_slice(), &evil].concat()), bad()),
        ("a hello and a byte", record(22, &[hello.as_slice(), &[1]].concat()), bad()),
        (
            "a hello and another message",
            record(22, &[hello.as_slice(), &message(16, &[0; 9])].concat()),
            bad(),
        ),
        (
            "a hello that is shorter than it says",
            [record(22, &longer(&hello, 4)), record(22, &[0; 9])].concat(),
            bad(),
        ),
        ("a hello that is longer than it says", record(22, &longer(&hello, 255)), bad()),
        ("a hello of 16 MiB", record(22, &[1, 0xff, 0xff, 0xff, 3, 3]), bad()),
        ("a hello as long as what may be held", record(22, &[1, 1, 0, 0, 3, 3]), bad()),
        ("another message in records of one byte", records(&message(16, &[0; 9]), 1), disguised()),
        ("a hello request", record(22, &[0, 0, 0, 0]), disguised()),
    ]);
}

#[test]
fn what_is_not_tls_passes_where_it_may_and_what_hides_tls_does_not() {
    let hello = SpoiledHello::named("evil.test").bytes();
    let before = |kind: u8, major: u8, body: &[u8]| {
        let mut first = record(kind, body);
        first[1] = major;
        [first, hello.clone()].concat()
    };
    check(vec![
        ("HTTP", b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_vec(), not_tls()),
        ("a database", vec![0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f], not_tls()),
        ("a packet of MySQL", vec![0x16, 1, 0, 1, 0x85, 0xa2, 0x1f, 0], not_tls()),
        ("a packet of MySQL that is like an alert", vec![0x15, 1, 0, 1, 0x85, 0xa2], not_tls()),
        ("mail", b"EHLO x.test\r\n".to_vec(), not_tls()),
        ("one byte", b"\n".to_vec(), not_tls()),
        ("a hello of SSL 2", vec![0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10], not_tls()),
        ("DTLS", vec![22, 0xfe, 0xfd, 0, 0, 0, 0], not_tls()),
        ("a NUL, then a hello", [&[0], hello.as_slice()].concat(), not_tls()),
        ("a warning first", before(21, 3, &[1, 0]), disguised()),
        ("a warning of version 2 first", before(21, 2, &[1, 0]), disguised()),
        ("half a warning first", before(21, 3, &[1]), disguised()),
        ("an empty warning first", before(21, 3, &[]), disguised()),
        ("a change of ciphers first", before(20, 3, &[1]), disguised()),
        ("empty data first", before(23, 3, &[]), disguised()),
        ("data first", before(23, 3, &[0; 99]), disguised()),
        ("a heartbeat first", before(24, 3, &[1, 0, 0, 0]), disguised()),
        ("an empty record of version 2 first", before(22, 2, &[]), disguised()),
    ]);
}

#[test]
fn nothing_is_refused_or_passed_before_it_can_be_told() {
    let hello = SpoiledHello::new().bytes();
    for len in 0..hello.len() {
        for gate in [https, tcp] {
            let part = outcome(gate, &[Client(hello[..len].to_vec())]);
            assert_eq!((refused(&part), part.passed.len(), part.open), (None, 0, false), "{len} bytes");
        }
    }
    // The first byte decides where it can.
    assert!(outcome(tcp, &[Client(b"E".to_vec())]).open);
    assert_eq!(refused(&outcome(https, &[Client(b"E".to_vec())])), Some(&RefusalReason::NotTls));
}

#[test]
fn no_more_is_held_than_may_be() {
    let padded = |padding: usize| {
        let mut hello = SpoiledHello::new();
        hello.extensions.push((21, vec![0; padding]));
        hello.message()
    };
    // A hello that just fits, with the headers of five records of at most 16 KiB, and one byte more.
    let rest = padded(0).len() + 5 * 5;
    let fits = records(&padded(MOST_HELD - rest), 1 << 14);
    assert_eq!(fits.len(), MOST_HELD - 5);
    let fits = records(&padded(MOST_HELD - rest), (MOST_HELD / 5) + 8);
    assert_eq!(fits.len(), MOST_HELD);
    assert_eq!(outcome(https, &[Client(fits.clone())]).passed, fits);
    let longer = records(&padded(MOST_HELD - rest + 1), (MOST_HELD / 5) + 8);
    assert_eq!(refused(&outcome(https, &[Client(longer)])), Some(&RefusalReason::BadHello));
    // Nor for the header of a record that could not follow: the last one ends two bytes before the most.
    let message = padded(MOST_HELD - 16 - padded(0).len());
    let (most, last) = message.split_at(4 * 16_000);
    let room = MOST_HELD - 2 - 4 * 16_005 - 5;
    let nearly = [records(most, 16_000), record(22, &last[..room])].concat();
    assert_eq!(nearly.len(), MOST_HELD - 2);
    for more in [&[][..], &[22], &[22, 3, 3, 0]] {
        let outcome = outcome(https, &[Client([&nearly, more].concat())]);
        assert_eq!(refused(&outcome), Some(&RefusalReason::BadHello));
    }
    // Records of one byte are six times as long.
    let small = records(&padded(MOST_HELD / 6), 1);
    assert_eq!(refused(&outcome(https, &[Client(small)])), Some(&RefusalReason::BadHello));
}
