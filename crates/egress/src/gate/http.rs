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

use crate::attempt::Reason;

use super::{Judged, MOST_HELD, Settled, Step, Steps};
use answer::Answer;
use head::{Framing, Head};
use lines::Section;

/// Most bytes in the line before a chunk: its size and what is added to that.
const MOST_CHUNK_LINE: usize = 512;

/// Most bytes after the last chunk.
const MOST_TRAILERS: usize = 8 << 10;

/// Lets HTTP/1 pass whose every request is for one host.
#[derive(Debug)]
pub(crate) struct HttpGate {
    name: String,
    port: u16,
    settled: Option<Settled>,
    stage: Stage,
    section: Section,
    /// Whether the head of a request was let pass.
    asked: bool,
    answer: Answer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
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
            stage: Stage::Head,
            section: Section::default(),
            asked: false,
            answer: Answer::default(),
        }
    }

    /// Everything from the client that was not yet let pass, in order.
    pub(crate) fn client(&mut self, bytes: &[u8]) -> Judged {
        self.judge(bytes)
    }

    /// What the server says, in order, as it passes; never held back.
    pub(crate) fn server(&mut self, bytes: &[u8]) {
        if self.stage != Stage::Upgrading {
            // An answer to something else, or to nothing: which answer is which cannot be told any more.
            self.answer.ignore(bytes);
            return;
        }
        self.answer.hear(bytes);
        if self.answer.agrees() && self.settled.is_none() {
            self.settled = Some(Settled::Open);
        }
    }

    /// Whether everything may now pass unseen in both directions.
    pub(crate) fn is_open(&self) -> bool {
        self.settled == Some(Settled::Open)
    }

    fn head(&mut self, bytes: &[u8]) -> Result<Step, Reason> {
        let Some(end) = self.section.end(bytes, MOST_HELD).ok_or(Reason::NotHttp)? else {
            return Ok(Step::Wait);
        };
        self.section = Section::default();
        let head = Head::read(bytes.get(..end).unwrap_or_default(), &self.name, self.port)?;
        let is_first = !self.asked;
        self.asked = true;
        self.stage = match head.framing {
            // Only the first answer can be told from others, and it must be an answer to this.
            _ if head.upgrades && !(is_first && self.answer.is_to_come()) => return Err(Reason::NotHttp),
            Framing::Length(0) if head.upgrades => Stage::Upgrading,
            _ if head.upgrades => return Err(Reason::NotHttp),
            Framing::Length(0) => Stage::Head,
            Framing::Length(len) => Stage::Body(len),
            Framing::Chunked => Stage::ChunkLine,
        };
        Ok(Step::Pass(end))
    }

    fn chunk_line(&mut self, bytes: &[u8]) -> Result<Step, Reason> {
        let Some(end) = self.section.line(bytes, MOST_CHUNK_LINE).ok_or(Reason::NotHttp)? else {
            return Ok(Step::Wait);
        };
        self.section = Section::default();
        let line = bytes.get(..end).and_then(|line| line.strip_suffix(b"\r\n")).unwrap_or_default();
        self.stage = match chunk_size(line).ok_or(Reason::NotHttp)? {
            0 => Stage::Trailers,
            size => Stage::Chunk(size + 2),
        };
        Ok(Step::Pass(end))
    }

    fn trailers(&mut self, bytes: &[u8]) -> Result<Step, Reason> {
        let end = match bytes {
            [b'\r', b'\n', ..] => 2,
            [] | [b'\r'] => return Ok(Step::Wait),
            _ => match self.section.end(bytes, MOST_TRAILERS).ok_or(Reason::NotHttp)? {
                Some(end) => end,
                None => return Ok(Step::Wait),
            },
        };
        self.section = Section::default();
        head::check_trailers(bytes.get(..end).unwrap_or_default())?;
        self.stage = Stage::Head;
        Ok(Step::Pass(end))
    }
}

/// How many of the bytes belong to something that has so many bytes left.
fn part_of(left: u64, bytes: &[u8]) -> usize {
    usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))
}

impl Steps for HttpGate {
    fn step(&mut self, bytes: &[u8]) -> Result<Step, Reason> {
        if bytes.is_empty() {
            return Ok(Step::Wait);
        }
        match self.stage {
            Stage::Head => self.head(bytes),
            Stage::Body(left) => {
                let count = part_of(left, bytes);
                let left = left - count as u64;
                self.stage = if left == 0 { Stage::Head } else { Stage::Body(left) };
                Ok(Step::Pass(count))
            }
            Stage::ChunkLine => self.chunk_line(bytes),
            Stage::Chunk(left @ 3..) => {
                let count = part_of(left - 2, bytes);
                self.stage = Stage::Chunk(left - count as u64);
                Ok(Step::Pass(count))
            }
            Stage::Chunk(_) => match bytes {
                [b'\r', b'\n', ..] => {
                    self.stage = Stage::ChunkLine;
                    Ok(Step::Pass(2))
                }
                [b'\r'] => Ok(Step::Wait),
                _ => Err(Reason::NotHttp),
            },
            Stage::Trailers => self.trailers(bytes),
            Stage::Upgrading if self.answer.is_to_come() && bytes.len() >= MOST_HELD => Err(Reason::NotHttp),
            Stage::Upgrading if self.answer.is_to_come() => Ok(Step::Wait),
            Stage::Upgrading => {
                self.stage = Stage::Head;
                self.head(bytes)
            }
        }
    }

    fn settled(&mut self) -> &mut Option<Settled> {
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
