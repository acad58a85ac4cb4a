//! Laws that hold for any bytes at all.

use proptest::prelude::*;

use super::{message, names, query};
use crate::dns::answer::{DnsTransport, answer};
use crate::dns::hostile::{dns_answer, dns_reply};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_bytes_are_answered_within_the_rules(packet in prop::collection::vec(any::<u8>(), 0..300)) {
        dns_answer(&packet);
    }

    #[test]
    fn any_rest_of_a_question_is(
        flags in any::<u16>(), counts in [0_u16..3, 0_u16..3, 0_u16..3, 0_u16..3],
        rest in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        dns_answer(&message(flags & 0x07ff, counts, &[&rest]));
    }

    #[test]
    fn a_question_with_bytes_changed_is(changes in prop::collection::vec((0_usize..40, any::<u8>()), 1..4)) {
        let mut packet = query("api.weather.test", 1);
        for (at, byte) in changes {
            if let Some(place) = packet.get_mut(at) {
                *place = byte;
            }
        }
        dns_answer(&packet);
    }

    #[test]
    fn any_records_in_a_reply_are_read_within_the_rules(
        answers in 0_u16..5, rest in prop::collection::vec(prop::sample::select(&b"\0\x01\x04\x05\x1c\x0c\xc0a"[..]), 0..120),
    ) {
        let mut reply = query("api.weather.test", 1);
        reply[2..4].copy_from_slice(&[0x81, 0x80]);
        reply[6..8].copy_from_slice(&answers.to_be_bytes());
        dns_reply(&[reply, rest].concat());
    }

    /// Whatever the labels are, only those of a granted name have an address.
    #[test]
    fn only_granted_labels_have_addresses(labels in prop::collection::vec(prop::collection::vec(
        prop::sample::select(&b"apiweatherstcdn.\0*-AW"[..]), 1..12), 1..5))
    {
        let name: Vec<u8> = labels.iter().flat_map(|label| {
            [&[u8::try_from(label.len()).unwrap()], label.as_slice()].concat()
        }).chain([0, 0, 1, 0, 1]).collect();
        let reply = answer(&mut names(), &message(0, [1, 0, 0, 0], &[&name]), DnsTransport::Udp).unwrap().reply;
        let lower: Vec<Vec<u8>> = labels.iter().map(|label| label.to_ascii_lowercase()).collect();
        let granted = lower == [&b"api"[..], b"weather", b"test"] || (lower.len() > 2 && lower.ends_with(&[b"cdn".to_vec(), b"test".to_vec()]));
        prop_assert!(granted || reply[7] == 0);
    }
}
