//! The laws of an answer, for any bytes: the fuzzer and the property tests call this.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, unreachable_pub)]

use super::answer::{DnsTransport, answer};
use super::client::{AddressQuery, read};
use super::wire::{A, AAAA, DnsName, DnsReader, HEADER, SOA};
use crate::policy::EgressPolicy;
use crate::rule::NetworkRule;
use crate::synthetic_addresses::SyntheticAddresses;

/// Answers a packet, both ways.
///
/// # Panics
/// Where a law is broken.
pub fn dns_answer(packet: &[u8]) {
    let mut policy = EgressPolicy::new();
    for name in ["api.weather.test", "*.cdn.test"] {
        policy.allow(NetworkRule::domain(name).expect("a name")).expect("a rule");
    }
    let mut names = SyntheticAddresses::new(&policy);
    for over in [DnsTransport::Udp, DnsTransport::Tcp] {
        let answered = answer(&mut names, packet, over);
        let is_question = packet.len() >= HEADER && packet[2] & 0x80 == 0;
        assert_eq!(answered.is_some(), is_question);
        let Some(answered) = answered else { continue };
        let reply = answered.reply;
        assert!(reply.len() <= 512 && reply[..2] == packet[..2] && reply[2] & 0x80 != 0);
        // A reply is never answered, and can be read to its end.
        assert!(answer(&mut names, &reply, over).is_none());
        let mut reader = DnsReader::new(&reply);
        let header = reader.header().expect("a header");
        let question = (header.questions == 1).then(|| {
            let name = reader.plain_name().expect("a name");
            (name, reader.read_u16().expect("a type"), reader.read_u16().expect("a class"))
        });
        assert_eq!(question.is_some(), answered.question.is_some());
        for _ in 0..header.answers {
            let record = reader.record().expect("an answer");
            let (name, kind, _) = question.as_ref().expect("a question");
            assert!(record.owner.is_same(name) && (record.kind == *kind || *kind == 255));
            let text = name.host().expect("a host name").to_ascii_lowercase();
            let granted = text == "api.weather.test" || text.ends_with(".cdn.test");
            assert!(granted || text == "localhost" || text.ends_with(".localhost"), "{text}");
            assert!(
                record.kind == A && record.data.len() == 4 || record.kind == AAAA && record.data.len() == 16
            );
        }
        for _ in 0..header.authorities {
            assert_eq!(reader.record().expect("an authority").kind, SOA);
        }
        for _ in 0..header.additionals {
            reader.record().expect("an additional record");
        }
        assert!(reader.is_at_end());
        if let Some(question) = answered.question {
            assert!(
                question.name.len() <= 4 * 255 && question.name.bytes().all(|byte| byte.is_ascii_graphic())
            );
            assert!(question.refused.is_none() || header.answers == 0);
        }
    }
}

/// Reads a message as what a resolver answered to a question that it fits, as far as it fits any.
///
/// # Panics
/// Where a law is broken.
pub fn dns_reply(message: &[u8]) {
    let name = DnsName::of_host("api.weather.test").expect("a name");
    let id = message.first_chunk().map_or(0, |id| u16::from_be_bytes(*id));
    for kind in [A, AAAA] {
        if let Ok(Some(Ok(found))) = read(message, &name, &AddressQuery { id, kind, told: None }) {
            let addresses = found.addresses;
            assert!(
                addresses.len() <= 32 && addresses.iter().all(|address| address.is_ipv4() == (kind == A))
            );
            assert_eq!(found.ttl.is_none(), addresses.is_empty());
        }
    }
}
