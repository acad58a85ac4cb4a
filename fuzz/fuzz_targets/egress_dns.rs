//! Any bytes as a question to the broker: a reply within the rules, with addresses for granted names only, or none at all. And as
//! what a resolver answers the broker: addresses of the right kind, few of them, or none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skillsandbox_egress::hostile::{dns_answer, dns_reply};

fuzz_target!(|packet: &[u8]| {
    dns_answer(packet);
    dns_reply(packet);
});
