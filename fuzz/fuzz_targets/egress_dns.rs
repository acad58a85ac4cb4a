//! Any bytes as a question to the broker: a reply within the rules, with addresses for granted names only, or none at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_egress::hostile::dns_answer;

fuzz_target!(|packet: &[u8]| dns_answer(packet));
