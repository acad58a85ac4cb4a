//! Answers to the confined program. They come from a table in memory: no question makes anything leave the machine.
//!
//! | asked for | answer |
//! |---|---|
//! | A, AAAA of a granted name | the address that stands for it |
//! | ANY of one | both |
//! | another type of one | no data: there is no other way to it than by its address, and no key of Encrypted Client Hello |
//! | a name above one | no data |
//! | localhost, and what is below it | loopback (RFC 6761), whatever is granted |
//! | any other name, and the name of any address | does not exist; in a rehearsal, the address that stands for it |
//! | another class, a whole zone | refused |
//!
//! A denial carries an SOA, without which nobody remembers it (RFC 2308), and "recursion available", without which glibc and Go
//! take an empty answer for that of a server which knows nothing, and ask the next one. Where the program speaks EDNS it is told
//! the reason as well (RFC 8914): `dig` and `resolvectl` show it.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::wire::{
    A, AAAA, ANY, AXFR, DnsHeader, DnsName, DnsReader, HEADER, IN, IXFR, MalformedMessage, OPT, SOA, flag,
};
use crate::attempt::RefusalReason;
use crate::synthetic_addresses::{NameLookup, SyntheticAddresses};

/// Seconds for which an answer holds. It holds for the whole run; this is how long a cache that outlives one is wrong.
const TTL: u32 = 60;

/// What we can take in one datagram: what the operators of DNS have agreed on.
const PAYLOAD: u16 = 1232;

/// Most bytes of a question in a datagram: far more than any resolver's. More is not looked at.
const MOST_DATAGRAM: usize = 4096;

/// Where the name of the question lies, as a compression pointer.
const THE_NAME: u16 = 0xc00c;

/// The code of an explained error: blocked by the operator of the server (RFC 8914, section 4.16).
const EXPLANATION: u16 = 15;
const BLOCKED: u16 = 15;

const DNSSEC_OK: u32 = 0x8000;

/// How a question came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DnsTransport {
    Udp,
    Tcp,
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DnsQuestion {
    /// As it was asked for, odd bytes escaped: fit for a terminal, at most four times 255 letters.
    pub(crate) name: String,
    /// The number of the type.
    pub(crate) kind: u16,
    pub(crate) refused: Option<RefusalReason>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DnsReply {
    pub(crate) reply: Vec<u8>,
    /// `None` where none could be read.
    pub(crate) question: Option<DnsQuestion>,
}

/// The reply to a message. `None` where there must be none: to what is itself a reply, or too short to be answered.
pub(crate) fn answer(names: &mut SyntheticAddresses, packet: &[u8], over: DnsTransport) -> Option<DnsReply> {
    let mut reader = DnsReader::new(packet);
    let header = reader.header().ok()?;
    if header.flags & flag::RESPONSE != 0 {
        return None;
    }
    if header.flags & flag::OPCODE != 0 {
        return Some(bare_reply(header, ResponseCode::NotImplemented));
    }
    if header.questions != 1 || (over == DnsTransport::Udp && packet.len() > MOST_DATAGRAM) {
        return Some(bare_reply(header, ResponseCode::FormatError));
    }
    let Ok(query) = ParsedQuery::read(header, &mut reader, packet) else {
        return Some(bare_reply(header, ResponseCode::FormatError));
    };
    let outcome = judge_query(names, &query);
    let question =
        DnsQuestion { name: query.name.escaped(), kind: query.kind, refused: outcome.refused.clone() };
    Some(DnsReply { reply: query.reply(&outcome), question: Some(question) })
}

/// The codes of replies. Those above 15 need EDNS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseCode {
    NoError = 0,
    FormatError = 1,
    NoSuchName = 3,
    NotImplemented = 4,
    Refused = 5,
    BadVersion = 16,
}

/// What becomes of a question.
#[derive(Debug)]
struct QuestionOutcome {
    code: ResponseCode,
    v4: Option<Ipv4Addr>,
    v6: Option<Ipv6Addr>,
    /// Whether the name, or this type of it, is denied.
    denied: bool,
    refused: Option<RefusalReason>,
}

impl QuestionOutcome {
    fn error(code: ResponseCode, refused: Option<RefusalReason>) -> Self {
        Self { code, v4: None, v6: None, denied: false, refused }
    }

    fn denied(code: ResponseCode, refused: RefusalReason) -> Self {
        Self { code, v4: None, v6: None, denied: true, refused: Some(refused) }
    }

    fn addresses(v4: Ipv4Addr, v6: Ipv6Addr, kind: u16) -> Self {
        let v4 = matches!(kind, A | ANY).then_some(v4);
        let v6 = matches!(kind, AAAA | ANY).then_some(v6);
        Self { code: ResponseCode::NoError, v4, v6, denied: v4.is_none() && v6.is_none(), refused: None }
    }
}

fn judge_query(names: &mut SyntheticAddresses, query: &ParsedQuery<'_>) -> QuestionOutcome {
    if query.edns.is_some_and(|edns| edns.version != 0) {
        return QuestionOutcome::error(ResponseCode::BadVersion, None);
    }
    // Version numbers in CHAOS, transfers of zones: nothing a program that wants to connect asks for.
    if query.class != IN || matches!(query.kind, AXFR | IXFR) {
        return QuestionOutcome::error(ResponseCode::Refused, Some(RefusalReason::NotGranted));
    }
    // A label may hold a dot, or bytes that are not text: such a name is not the text it looks like.
    let Some(host) = query.name.host() else {
        return QuestionOutcome::denied(ResponseCode::NoSuchName, RefusalReason::NotGranted);
    };
    if host.rsplit('.').next().is_some_and(|label| label.eq_ignore_ascii_case("localhost")) {
        return QuestionOutcome::addresses(Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST, query.kind);
    }
    match names.look_up(&host) {
        NameLookup::Known { v4, v6 } => QuestionOutcome::addresses(v4, v6, query.kind),
        NameLookup::Rehearsed { v4, v6 } => QuestionOutcome {
            refused: Some(RefusalReason::NotGranted),
            ..QuestionOutcome::addresses(v4, v6, query.kind)
        },
        NameLookup::Refused(reason) if names.is_above(&host) => {
            QuestionOutcome::denied(ResponseCode::NoError, reason)
        }
        NameLookup::Refused(reason) => QuestionOutcome::denied(ResponseCode::NoSuchName, reason),
    }
}

/// What a question may say besides (RFC 6891).
#[derive(Debug, Clone, Copy)]
struct EdnsOptions {
    version: u8,
    dnssec_ok: bool,
}

#[derive(Debug)]
struct ParsedQuery<'a> {
    header: DnsHeader,
    name: DnsName,
    kind: u16,
    class: u16,
    /// The question as it came: it goes back with every letter in its case, which some resolvers check.
    question: &'a [u8],
    edns: Option<EdnsOptions>,
}

impl<'a> ParsedQuery<'a> {
    /// Reads the rest of a message to its very end; what follows that is an error too.
    fn read(
        header: DnsHeader,
        reader: &mut DnsReader<'a>,
        packet: &'a [u8],
    ) -> Result<Self, MalformedMessage> {
        let name = reader.plain_name()?;
        let (kind, class) = (reader.read_u16()?, reader.read_u16()?);
        let question = packet.get(HEADER..reader.position()).ok_or(MalformedMessage)?;
        for _ in 0..u32::from(header.answers) + u32::from(header.authorities) {
            reader.record()?;
        }
        let mut edns = None;
        for _ in 0..header.additionals {
            let record = reader.record()?;
            if record.kind != OPT {
                continue;
            }
            if edns.is_some() || record.owner.labels().next().is_some() || !are_options(record.data) {
                return Err(MalformedMessage);
            }
            let [_, version, ..] = record.ttl.to_be_bytes();
            edns = Some(EdnsOptions { version, dnssec_ok: record.ttl & DNSSEC_OK != 0 });
        }
        // Asking for OPT makes no sense.
        if kind == OPT || !reader.is_at_end() {
            return Err(MalformedMessage);
        }
        Ok(Self { header, name, kind, class, question, edns })
    }

    fn reply(&self, outcome: &QuestionOutcome) -> Vec<u8> {
        let code = outcome.code as u16;
        let mut out = Vec::with_capacity(512);
        DnsHeader {
            questions: 1,
            answers: u16::from(outcome.v4.is_some()) + u16::from(outcome.v6.is_some()),
            authorities: u16::from(outcome.denied),
            additionals: u16::from(self.edns.is_some()),
            ..reply_header(self.header, code)
        }
        .write(&mut out);
        out.extend_from_slice(self.question);
        if let Some(v4) = outcome.v4 {
            out.extend_from_slice(&THE_NAME.to_be_bytes());
            write_record(&mut out, A, IN, TTL, &v4.octets());
        }
        if let Some(v6) = outcome.v6 {
            out.extend_from_slice(&THE_NAME.to_be_bytes());
            write_record(&mut out, AAAA, IN, TTL, &v6.octets());
        }
        if outcome.denied {
            // Of the root, since there are no zones here: it is above every name, as the owner of an SOA has to be.
            out.push(0);
            write_record(&mut out, SOA, IN, TTL, &soa());
        }
        if let Some(edns) = self.edns {
            let [_, high] = (code >> 4).to_be_bytes();
            let dnssec_ok = if edns.dnssec_ok { DNSSEC_OK } else { 0 };
            let explanation = outcome.refused.as_ref().map(explain_refusal).unwrap_or_default();
            out.push(0);
            write_record(&mut out, OPT, PAYLOAD, (u32::from(high) << 24) | dnssec_ok, &explanation);
        }
        out
    }
}

/// Whether the data of an OPT record is options one after the other, whatever they are.
fn are_options(data: &[u8]) -> bool {
    let mut reader = DnsReader::new(data);
    while !reader.is_at_end() {
        let length = reader.read_u16().and_then(|_| reader.read_u16());
        if length.and_then(|length| reader.bytes(length.into())).is_err() {
            return false;
        }
    }
    true
}

/// The header of a reply, with all counts at nought.
fn reply_header(asked: DnsHeader, code: u16) -> DnsHeader {
    let copied = flag::OPCODE | flag::RECURSION_DESIRED | flag::CHECKING_DISABLED;
    let flags = flag::RESPONSE | (asked.flags & copied) | flag::RECURSION_AVAILABLE | (code & flag::RCODE);
    DnsHeader { id: asked.id, flags, questions: 0, answers: 0, authorities: 0, additionals: 0 }
}

/// A reply to what cannot be read further than its header.
fn bare_reply(asked: DnsHeader, code: ResponseCode) -> DnsReply {
    let mut reply = Vec::with_capacity(HEADER);
    reply_header(asked, code as u16).write(&mut reply);
    DnsReply { reply, question: None }
}

/// All of a record but its owner, which is written already. The data is short: it is ours.
fn write_record(out: &mut Vec<u8>, kind: u16, class: u16, ttl: u32, data: &[u8]) {
    let length = u16::try_from(data.len()).unwrap_or_default();
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(&class.to_be_bytes());
    out.extend_from_slice(&ttl.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(data);
}

/// The server's name, the mailbox (both the root: nobody), serial, refresh, retry, expire, and how long a denial holds.
fn soa() -> Vec<u8> {
    let mut data = vec![0, 0];
    for number in [1, 3600, 600, 86400, TTL] {
        data.extend_from_slice(&number.to_be_bytes());
    }
    data
}

/// A reason as an option of EDNS.
fn explain_refusal(reason: &RefusalReason) -> Vec<u8> {
    let text = reason.to_string();
    let length = u16::try_from(text.len() + 2).unwrap_or_default();
    let mut option = Vec::with_capacity(text.len() + 6);
    for word in [EXPLANATION, length, BLOCKED] {
        option.extend_from_slice(&word.to_be_bytes());
    }
    option.extend_from_slice(text.as_bytes());
    option
}
