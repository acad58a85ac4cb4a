//! HTTP/1, every request of it: each must name the host that the connection was made for.
//!
//! To find the next request, the gate must find the end of the one before it just where the server finds it. So what two servers
//! could read in two ways is refused, even where the standard says which way is right. A head passes when it is complete and was
//! judged; a body passes as it comes.
//!
//! Not looked at are bodies, and headers that only some servers heed (`X-Forwarded-Host`): they are data for the granted server.
//! A server that does not read a body which it was sent, and takes it for the next request, is misled by it.

mod answer;
mod head;
mod lines;

use crate::attempt::RefusalReason;

use super::{GateDecision, GateResult, GateStep, MOST_HELD, StepwiseGate};
use answer::UpgradeAnswer;
use head::{BodyFraming, RequestHead};
use lines::SectionScanner;

/// Most bytes in the line before a chunk: its size and what is added to that.
const MOST_CHUNK_LINE: usize = 512;

/// Most bytes after the last chunk.
const MOST_TRAILERS: usize = 8 << 10;

/// Lets HTTP/1 pass whose every request is for one host.
#[derive(Debug)]
pub(crate) struct HttpGate {
    name: String,
    port: u16,
    settled: Option<GateDecision>,
    stage: RequestStage,
    section: SectionScanner,
    /// Whether the head of a request was let pass.
    asked: bool,
    answer: UpgradeAnswer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestStage {
    Head,
    /// So many bytes of a body.
    Body(u64),
    ChunkLine,
    /// So many bytes of a chunk, of which the last two are a line end.
    Chunk(u64),
    Trailers,
    /// The server is to say whether it goes over to another protocol.
    Upgrading,
}

impl HttpGate {
    /// For requests to `name`, lower case ASCII without a dot at its end.
    pub(crate) fn new(name: String, port: u16) -> Self {
        Self {
            name,
            port,
            settled: None,
            stage: RequestStage::Head,
            section: SectionScanner::default(),
            asked: false,
            answer: UpgradeAnswer::default(),
        }
    }

    /// Everything from the client that was not yet let pass, in order.
    pub(crate) fn judge_client(&mut self, bytes: &[u8]) -> GateResult {
        self.judge(bytes)
    }

    /// What the server says, in order, as it passes; never held back.
    pub(crate) fn observe_server(&mut self, bytes: &[u8]) {
        if self.stage != RequestStage::Upgrading {
            // An answer to something else, or to nothing: which answer is which cannot be told any more.
            self.answer.ignore(bytes);
            return;
        }
        self.answer.read(bytes);
        if self.answer.agrees() && self.settled.is_none() {
            self.settled = Some(GateDecision::Open);
        }
    }

    /// Whether everything may now pass unseen in both directions.
    pub(crate) fn is_open(&self) -> bool {
        self.settled == Some(GateDecision::Open)
    }

    fn judge_head(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let Some(end) = self.section.end(bytes, MOST_HELD).ok_or(RefusalReason::NotHttp)? else {
            return Ok(GateStep::Wait);
        };
        self.section = SectionScanner::default();
        let head = RequestHead::read(bytes.get(..end).unwrap_or_default(), &self.name, self.port)?;
        let is_first = !self.asked;
        self.asked = true;
        self.stage = match head.framing {
            // Only the first answer can be told from others, and it must be an answer to this.
            _ if head.upgrades && !(is_first && self.answer.is_to_come()) => {
                return Err(RefusalReason::NotHttp);
            }
            BodyFraming::Length(0) if head.upgrades => RequestStage::Upgrading,
            _ if head.upgrades => return Err(RefusalReason::NotHttp),
            BodyFraming::Length(0) => RequestStage::Head,
            BodyFraming::Length(len) => RequestStage::Body(len),
            BodyFraming::Chunked => RequestStage::ChunkLine,
        };
        Ok(GateStep::Pass(end))
    }

    fn chunk_line(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let Some(end) = self.section.line(bytes, MOST_CHUNK_LINE).ok_or(RefusalReason::NotHttp)? else {
            return Ok(GateStep::Wait);
        };
        self.section = SectionScanner::default();
        let line = bytes.get(..end).and_then(|line| line.strip_suffix(b"\r\n")).unwrap_or_default();
        self.stage = match chunk_size(line).ok_or(RefusalReason::NotHttp)? {
            0 => RequestStage::Trailers,
            size => RequestStage::Chunk(size + 2),
        };
        Ok(GateStep::Pass(end))
    }

    fn judge_trailers(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        let end = match bytes {
            [b'\r', b'\n', ..] => 2,
            [] | [b'\r'] => return Ok(GateStep::Wait),
            _ => match self.section.end(bytes, MOST_TRAILERS).ok_or(RefusalReason::NotHttp)? {
                Some(end) => end,
                None => return Ok(GateStep::Wait),
            },
        };
        self.section = SectionScanner::default();
        head::check_trailers(bytes.get(..end).unwrap_or_default())?;
        self.stage = RequestStage::Head;
        Ok(GateStep::Pass(end))
    }
}

/// How many of the bytes belong to something that has so many bytes left.
fn part_of(left: u64, bytes: &[u8]) -> usize {
    usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))
}

impl StepwiseGate for HttpGate {
    fn step(&mut self, bytes: &[u8]) -> Result<GateStep, RefusalReason> {
        if bytes.is_empty() {
            return Ok(GateStep::Wait);
        }
        match self.stage {
            RequestStage::Head => self.judge_head(bytes),
            RequestStage::Body(left) => {
                let count = part_of(left, bytes);
                let left = left - count as u64;
                self.stage = if left == 0 { RequestStage::Head } else { RequestStage::Body(left) };
                Ok(GateStep::Pass(count))
            }
            RequestStage::ChunkLine => self.chunk_line(bytes),
            RequestStage::Chunk(left @ 3..) => {
                let count = part_of(left - 2, bytes);
                self.stage = RequestStage::Chunk(left - count as u64);
                Ok(GateStep::Pass(count))
            }
            RequestStage::Chunk(_) => match bytes {
                [b'\r', b'\n', ..] => {
                    self.stage = RequestStage::ChunkLine;
                    Ok(GateStep::Pass(2))
                }
                [b'\r'] => Ok(GateStep::Wait),
                _ => Err(RefusalReason::NotHttp),
            },
            RequestStage::Trailers => self.judge_trailers(bytes),
            RequestStage::Upgrading if self.answer.is_to_come() && bytes.len() >= MOST_HELD => {
                Err(RefusalReason::NotHttp)
            }
            RequestStage::Upgrading if self.answer.is_to_come() => Ok(GateStep::Wait),
            RequestStage::Upgrading => {
                self.stage = RequestStage::Head;
                self.judge_head(bytes)
            }
        }
    }

    fn decision(&mut self) -> &mut Option<GateDecision> {
        &mut self.settled
    }
}

/// The size of a chunk: hexadecimal digits, then perhaps extensions, without spaces or quotes.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, extensions) = line.split_at_checked(digits)?;
    let sane = |byte: &u8| head::is_token(*byte) || matches!(byte, b';' | b'=');
    let extended = extensions.first().is_none_or(|first| *first == b';') && extensions.iter().all(sane);
    // Fifteen digits cannot overflow anyone's number of eight bytes.
    if !(1..=15).contains(&digits.len()) || !extended {
        return None;
    }
    u64::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
