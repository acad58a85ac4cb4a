//! The client, against servers on loopback that are honest, broken or hostile.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{names, record, wire};
use crate::dns::answer::{DnsTransport, answer};
use crate::dns::client::resolve;

/// A server in a thread of its own, until it is dropped. It answers a datagram with any number of datagrams, and a question over
/// TCP with bytes as they are.
struct TestResolver {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl TestResolver {
    fn new(
        mut datagram: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static,
        mut stream: impl FnMut(&[u8]) -> Vec<u8> + Send + 'static,
    ) -> Self {
        // The same port for both: another may have it for TCP already.
        let (udp, tcp) = (0..100)
            .find_map(|_| {
                let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
                let tcp = TcpListener::bind(udp.local_addr().unwrap()).ok()?;
                Some((udp, tcp))
            })
            .expect("a free port");
        let address = udp.local_addr().unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        tcp.set_nonblocking(true).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (stop_udp, stop_tcp) = (Arc::clone(&stop), Arc::clone(&stop));
        let threads = vec![
            thread::spawn(move || {
                let mut buffer = [0; 2048];
                while !stop_udp.load(Ordering::Relaxed) {
                    let Ok((length, from)) = udp.recv_from(&mut buffer) else { continue };
                    for reply in datagram(&buffer[..length]) {
                        // The client may have what it wants, and be gone.
                        let _ = udp.send_to(&reply, from);
                    }
                }
            }),
            thread::spawn(move || {
                while !stop_tcp.load(Ordering::Relaxed) {
                    let Ok((mut client, _)) = tcp.accept() else {
                        thread::sleep(Duration::from_millis(5));
                        continue;
                    };
                    client.set_nonblocking(false).unwrap();
                    client.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                    let mut length = [0; 2];
                    client.read_exact(&mut length).unwrap();
                    let mut asked = vec![0; u16::from_be_bytes(length).into()];
                    client.read_exact(&mut asked).unwrap();
                    let _ = client.write_all(&stream(&asked));
                }
            }),
        ];
        Self { address, stop, threads }
    }

    /// One that is asked over UDP only.
    fn udp(datagram: impl FnMut(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        Self::new(datagram, |_| panic!("asked over TCP"))
    }

    fn resolve(&self, name: &str) -> std::io::Result<Vec<IpAddr>> {
        resolve(self.address, name, Instant::now() + Duration::from_secs(30)).map(|found| found.addresses)
    }

    /// For servers that never say anything of use.
    fn resolve_shortly(&self, name: &str) -> std::io::Result<Vec<IpAddr>> {
        resolve(self.address, name, Instant::now() + Duration::from_millis(300)).map(|found| found.addresses)
    }

    /// How long the addresses of a name hold.
    fn ttl(&self, name: &str) -> Option<u32> {
        resolve(self.address, name, Instant::now() + Duration::from_secs(30)).unwrap().ttl
    }
}

impl Drop for TestResolver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "a server broke");
        }
    }
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// The type that is asked for.
fn kind(asked: &[u8]) -> u16 {
    u16::from_be_bytes([asked[asked.len() - 4], asked[asked.len() - 3]])
}

/// A reply with these records, to the question as it came.
fn reply(asked: &[u8], flags: u16, records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = asked.to_vec();
    out[2..4].copy_from_slice(&(0x8180 | flags).to_be_bytes());
    out[6..8].copy_from_slice(&u16::try_from(records.len()).unwrap().to_be_bytes());
    out.extend(records.concat());
    out
}

/// The owner is the name of the question, by a pointer.
const THE_NAME: &[u8] = &[0xc0, 12];

fn a(owner: &[u8], last: u8) -> Vec<u8> {
    record(owner, A, 1, 60, &[203, 0, 113, last])
}

fn address(last: u8) -> IpAddr {
    [203, 0, 113, last].into()
}

/// A reply to A with these records; AAAA has none.
fn only_a(asked: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    reply(asked, 0, if kind(asked) == A { records } else { &[] })
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&u16::try_from(message.len()).unwrap().to_be_bytes(), message].concat()
}

#[test]
fn both_families_are_asked_for() {
    let server = TestResolver::udp(|asked| {
        let mut v6 = [0; 16];
        v6[0] = 0x20;
        let record = if kind(asked) == A { a(THE_NAME, 7) } else { record(THE_NAME, AAAA, 1, 60, &v6) };
        vec![reply(asked, 0, &[record])]
    });
    let found = server.resolve("api.weather.test").unwrap();
    assert_eq!(found, [address(7), "2000::".parse().unwrap()]);
}

/// Two of our own parts, face to face.
#[test]
fn the_client_reads_what_the_broker_writes() {
    let mut names = names();
    let server =
        TestResolver::udp(move |asked| vec![answer(&mut names, asked, DnsTransport::Udp).unwrap().reply]);
    let found = server.resolve("api.weather.test.").unwrap();
    assert_eq!(found, ["198.18.0.1".parse::<IpAddr>().unwrap(), "fd53:6b69:6c6c::1".parse().unwrap()]);
    assert_eq!(server.resolve("evil.test").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn questions_are_plain_and_differ_in_their_numbers() {
    let server = TestResolver::udp(|asked| {
        assert_eq!(asked[2..12], [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(asked[12..asked.len() - 4], wire("api.weather.test"));
        // The number is sent back as an address: the test sees it.
        vec![only_a(asked, &[record(THE_NAME, A, 1, 0, &[203, 0, asked[0], asked[1]])])]
    });
    let numbers: std::collections::BTreeSet<_> =
        (0..20).map(|_| server.resolve("api.weather.test").unwrap()).collect();
    assert!(numbers.len() > 15, "{numbers:?}");
}

#[test]
fn aliases_are_followed_in_any_order() {
    let server = TestResolver::udp(|asked| {
        let records = [
            a(&wire("end.test"), 9),
            record(&wire("Middle.test"), CNAME, 1, 60, &wire("END.test")),
            record(THE_NAME, CNAME, 1, 60, &wire("middle.TEST")),
            // Of another name, of another class: none of ours.
            a(&wire("other.test"), 66),
            record(&wire("end.test"), A, 3, 60, &[203, 0, 113, 67]),
            // A type that nobody knows.
            record(&wire("end.test"), 65280, 1, 60, b"whatever"),
        ];
        vec![only_a(asked, &records)]
    });
    assert_eq!(server.resolve("start.test").unwrap(), [address(9)]);
}

#[test]
fn an_answer_holds_for_as_long_as_the_shortest_record_that_leads_to_it() {
    let aliased = TestResolver::udp(|asked| {
        let records = [
            record(THE_NAME, CNAME, 1, 300, &wire("middle.test")),
            record(&wire("middle.test"), CNAME, 1, 20, &wire("end.test")),
            record(&wire("end.test"), A, 1, 60, &[203, 0, 113, 9]),
            // None of these leads there.
            record(&wire("other.test"), A, 1, 1, &[203, 0, 113, 66]),
            record(&wire("other.test"), CNAME, 1, 2, &wire("end.test")),
            record(&wire("end.test"), A, 3, 3, &[203, 0, 113, 67]),
        ];
        vec![only_a(asked, &records)]
    });
    assert_eq!(aliased.ttl("start.test"), Some(20));
    // Of both families, and of several addresses.
    let both = TestResolver::udp(|asked| {
        let records = if kind(asked) == A {
            vec![record(THE_NAME, A, 1, 50, &[203, 0, 113, 1]), record(THE_NAME, A, 1, 45, &[203, 0, 113, 2])]
        } else {
            vec![record(THE_NAME, AAAA, 1, 40, &[0x20; 16])]
        };
        vec![reply(asked, 0, &records)]
    });
    assert_eq!(both.ttl("start.test"), Some(40));
    // A number that is too high is none (RFC 2181).
    for (said, meant) in [(0, 0), (1, 1), (u32::MAX >> 1, u32::MAX >> 1), (1 << 31, 0), (u32::MAX, 0)] {
        let server = TestResolver::udp(move |asked| {
            vec![only_a(asked, &[record(THE_NAME, A, 1, said, &[203, 0, 113, 1])])]
        });
        assert_eq!(server.ttl("start.test"), Some(meant), "{said}");
    }
}

#[test]
fn aliases_that_lead_nowhere_give_no_address() {
    let loops: [Vec<Vec<u8>>; 4] = [
        vec![record(THE_NAME, CNAME, 1, 60, THE_NAME), a(&wire("other.test"), 1)],
        vec![
            record(THE_NAME, CNAME, 1, 60, &wire("b.test")),
            record(&wire("b.test"), CNAME, 1, 60, &wire("start.test")),
            a(&wire("c.test"), 1),
        ],
        vec![record(THE_NAME, CNAME, 1, 60, &wire("b.test")), a(THE_NAME, 1)],
        vec![a(&wire("other.test"), 1)],
    ];
    for records in loops {
        let server = TestResolver::udp(move |asked| vec![only_a(asked, &records)]);
        let error = server.resolve("start.test").unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::NotFound, "the name has no address")
        );
    }
    // A chain that is too long.
    let server = TestResolver::udp(|asked| {
        let step = |number: u8| {
            record(&wire(&format!("n{number}.test")), CNAME, 1, 60, &wire(&format!("n{}.test", number + 1)))
        };
        let mut records: Vec<_> = (0..40).map(step).collect();
        records.push(a(&wire("n40.test"), 1));
        vec![only_a(asked, &records)]
    });
    assert_eq!(server.resolve("n0.test").unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(server.resolve("n30.test").unwrap(), [address(1)]);
}

#[test]
fn what_the_resolver_says_is_passed_on() {
    let table = [
        (3, ErrorKind::NotFound, "the resolver says that the name does not exist (NXDOMAIN)"),
        (2, ErrorKind::Other, "SERVFAIL"),
        (5, ErrorKind::Other, "REFUSED"),
        (1, ErrorKind::Other, "FORMERR"),
        (9, ErrorKind::Other, "(code 9)"),
    ];
    for (code, kind, text) in table {
        let server = TestResolver::udp(move |asked| vec![reply(asked, code, &[])]);
        let error = server.resolve("api.weather.test").unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(text), "{error}");
    }
    // One family is enough.
    let server = TestResolver::udp(|asked| {
        vec![if kind(asked) == A { reply(asked, 0, &[a(THE_NAME, 1)]) } else { reply(asked, 2, &[]) }]
    });
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
}

#[test]
fn a_family_that_is_never_answered_does_not_cost_the_other() {
    let server =
        TestResolver::udp(
            |asked| if kind(asked) == A { vec![reply(asked, 0, &[a(THE_NAME, 1)])] } else { vec![] },
        );
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
}

/// Whatever comes before the answer and is not it, is passed over.
#[test]
fn forged_answers_are_passed_over() {
    let server = TestResolver::udp(|asked| {
        let forged = only_a(asked, &[a(THE_NAME, 66)]);
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut packet = forged.clone();
            change(&mut packet);
            packet
        };
        let other_kind = kind(asked) ^ (A ^ AAAA);
        let question_end = asked.len();
        vec![
            vec![],
            b"garbage".to_vec(),
            vec![0xff; 1400],
            with(&|packet| packet[0] ^= 0x10),
            // Not a reply; a reply to something else.
            with(&|packet| packet[2] &= 0x7f),
            with(&|packet| packet[2] |= 0x08),
            with(&|packet| packet[5] = 0),
            with(&|packet| packet[5] = 2),
            // Another name, another type, another class.
            with(&|packet| packet[13] ^= 1),
            with(&|packet| packet[question_end - 3] = u8::try_from(other_kind).unwrap()),
            with(&|packet| packet[question_end - 1] = 3),
            // Cut, or with more promised than there is.
            forged[..forged.len() - 1].to_vec(),
            with(&|packet| packet[6] = 0xff),
            // An address of five bytes, one of the other family; an owner that points to itself, forward, into the header.
            only_a_or_garbage(asked, &[record(THE_NAME, A, 1, 0, &[1, 2, 3, 4, 5])]),
            only_a_or_garbage(asked, &[record(THE_NAME, A, 1, 0, &[0x20; 16])]),
            only_a_or_garbage(
                asked,
                &[record(&[0xc0, u8::try_from(question_end).unwrap()], A, 1, 0, &[1, 2, 3, 4])],
            ),
            only_a_or_garbage(asked, &[record(&[0xc0, 0xff], A, 1, 0, &[1, 2, 3, 4])]),
            only_a_or_garbage(asked, &[record(&[0xc0, 2], A, 1, 0, &[1, 2, 3, 4])]),
            only_a_or_garbage(asked, &[record(&[0xc0, 4], A, 1, 0, &[1, 2, 3, 4])]),
            // An alias that is longer than its data, and one that is shorter.
            only_a_or_garbage(
                asked,
                &[
                    record(THE_NAME, CNAME, 1, 0, &[wire("end.test"), vec![0]].concat()),
                    a(&wire("end.test"), 66),
                ],
            ),
            only_a_or_garbage(asked, &[record(THE_NAME, CNAME, 1, 0, b"\x09"), a(THE_NAME, 66)]),
            only_a(asked, &[a(THE_NAME, 1)]),
        ]
    });
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
}

fn only_a_or_garbage(asked: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    if kind(asked) == A { reply(asked, 0, records) } else { b"garbage".to_vec() }
}

#[test]
fn case_of_letters_in_the_answer_makes_no_difference() {
    let server = TestResolver::udp(|asked| {
        let mut packet = only_a(asked, &[a(&wire("API.weather.TEST"), 1)]);
        packet[12..20].make_ascii_uppercase();
        vec![packet]
    });
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
}

#[test]
fn a_lost_question_is_asked_again() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let server = TestResolver::udp(move |asked| {
        // The first two are the first try of both families.
        if seen.fetch_add(1, Ordering::Relaxed) < 2 { vec![] } else { vec![only_a(asked, &[a(THE_NAME, 1)])] }
    });
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
    assert!(count.load(Ordering::Relaxed) >= 4);
}

#[test]
fn silence_ends_at_the_deadline() {
    let server = TestResolver::udp(|_| vec![]);
    let error = server.resolve_shortly("api.weather.test").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains("did not answer in time"), "{error}");
    let past = Instant::now();
    assert_eq!(resolve(server.address, "a.test", past).unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn noise_without_end_is_given_up() {
    let server = TestResolver::udp(|_| vec![b"noise".to_vec(); 20_000]);
    let error = server.resolve("api.weather.test").unwrap_err();
    // The kernel may drop most of it: then it is the deadline that ends it, with the questions asked again and again.
    assert!(
        error.to_string().contains("answers no question") || error.kind() == ErrorKind::TimedOut,
        "{error}"
    );
}

#[test]
fn nobody_there_is_an_error() {
    let address = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let error = resolve(address, "a.test", Instant::now() + Duration::from_secs(30)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    assert!(error.to_string().contains("cannot be asked"), "{error}");
}

#[test]
fn what_is_no_host_name_is_not_asked_for() {
    let server = TestResolver::udp(|_| panic!("asked"));
    let long = "a".repeat(64);
    let longer = vec!["a".repeat(63); 4].join(".");
    for name in ["", ".", "a..b", ".a", "a.test..", "a b", "a\0b", "\u{e9}.test", &long, &longer] {
        assert_eq!(server.resolve_shortly(name).unwrap_err().kind(), ErrorKind::InvalidInput, "{name:?}");
    }
}

#[test]
fn a_cut_answer_is_asked_for_over_tcp() {
    let server = TestResolver::new(
        |asked| vec![reply(asked, 0x0200, &[])],
        |asked| framed(&only_a(asked, &(0..20).map(|last| a(THE_NAME, last)).collect::<Vec<_>>())),
    );
    let found = server.resolve("api.weather.test").unwrap();
    assert_eq!(found, (0..20).map(address).collect::<Vec<_>>());
}

#[test]
fn ten_thousand_records_are_read_and_few_are_kept() {
    let server = TestResolver::new(
        |asked| vec![reply(asked, 0x0200, &[])],
        |asked| {
            // 16 bytes each: as many as fit a message. And as many that are promised.
            let records: Vec<_> =
                (0..4000).map(|number: u32| record(THE_NAME, A, 1, 0, &number.to_be_bytes())).collect();
            framed(&only_a(asked, &records))
        },
    );
    assert_eq!(server.resolve("api.weather.test").unwrap().len(), 32);
    let server = TestResolver::new(
        |asked| vec![reply(asked, 0x0200, &[])],
        |asked| {
            let mut packet = only_a(asked, &[a(THE_NAME, 1)]);
            packet[6..8].copy_from_slice(&10_000_u16.to_be_bytes());
            framed(&packet)
        },
    );
    assert!(server.resolve("api.weather.test").unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn hostile_answers_over_tcp_are_errors() {
    type TestAnswer = fn(&[u8]) -> Vec<u8>;
    let table: [(&str, TestAnswer, &str); 5] = [
        ("nothing", |_| vec![], "it hung up"),
        ("less than promised", |_| vec![0xff, 0xff, 1, 2, 3], "it hung up"),
        ("garbage", |_| framed(b"garbage"), "cannot be read"),
        (
            "another number",
            |asked| {
                let mut packet = only_a(asked, &[a(THE_NAME, 66)]);
                packet[1] ^= 1;
                framed(&packet)
            },
            "cannot be read",
        ),
        ("cut again", |asked| framed(&reply(asked, 0x0200, &[])), "cut short as well"),
    ];
    for (what, answer, text) in table {
        let server = TestResolver::new(|asked| vec![reply(asked, 0x0200, &[])], answer);
        let error = server.resolve("api.weather.test").unwrap_err().to_string();
        assert!(error.contains(text) && error.contains("wants TCP"), "{what}: {error}");
    }
}

/// One that takes the question and says nothing, and one that says a byte now and then.
#[test]
fn the_deadline_holds_over_tcp() {
    let server = TestResolver::new(
        |asked| vec![reply(asked, 0x0200, &[])],
        |_| {
            thread::sleep(Duration::from_secs(1));
            vec![]
        },
    );
    let error = server.resolve_shortly("api.weather.test").unwrap_err().to_string();
    assert!(error.contains("wants TCP") && error.contains("timed out"), "{error}");

    let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = udp.local_addr().unwrap();
    let tcp = TcpListener::bind(address).unwrap();
    let drip = thread::spawn(move || {
        let mut buffer = [0; 512];
        let (length, from) = udp.recv_from(&mut buffer).unwrap();
        udp.send_to(&reply(&buffer[..length], 0x0200, &[]), from).unwrap();
        let (mut client, _) = tcp.accept().unwrap();
        // Until the client is gone; 65535 bytes would take eleven minutes.
        (0..65535_u32)
            .take_while(|_| {
                thread::sleep(Duration::from_millis(10));
                client.write_all(&[0xff]).is_ok()
            })
            .count()
    });
    let error =
        resolve(address, "api.weather.test", Instant::now() + Duration::from_millis(500)).unwrap_err();
    assert!(error.to_string().contains("timed out"), "{error}");
    assert!(drip.join().unwrap() < 65535);
}

#[test]
fn no_such_name_says_more_than_silence() {
    let server =
        TestResolver::udp(|asked| if kind(asked) == A { vec![reply(asked, 3, &[])] } else { vec![] });
    assert!(server.resolve("api.weather.test").unwrap_err().to_string().contains("NXDOMAIN"));
    // Of one family only, it is not believed.
    let server = TestResolver::udp(|asked| {
        vec![if kind(asked) == A { reply(asked, 0, &[a(THE_NAME, 1)]) } else { reply(asked, 3, &[]) }]
    });
    assert_eq!(server.resolve("api.weather.test").unwrap(), [address(1)]);
}

/// Many pointers in a row take no more time than they are long.
#[test]
fn chains_of_pointers_are_bounded() {
    let server = TestResolver::new(
        |asked| vec![reply(asked, 0x0200, &[])],
        |asked| {
            // An unknown record whose data is pointers, each to the one before; then owners that begin at the last.
            let start = asked.len() + 12;
            let mut data = vec![0xc0, 12];
            for number in 0..4000 {
                let to = u16::try_from(start + 2 * number).unwrap();
                data.extend_from_slice(&(0xc000 | to).to_be_bytes());
            }
            let last = u16::try_from(start + 2 * 4000).unwrap();
            let mut records = vec![record(THE_NAME, 65280, 1, 0, &data)];
            records.extend(
                (0..3000).map(|_| record(&(0xc000 | last).to_be_bytes(), A, 1, 0, &[203, 0, 113, 66])),
            );
            framed(&only_a(asked, &records))
        },
    );
    assert!(server.resolve("api.weather.test").unwrap_err().to_string().contains("cannot be read"));
}
