//! Lines of JSON that every reader reads the same, each with an answer.
//!
//! The SDK passes over lines that are too long or no JSON without a word, and takes the last of two keys of one name. Here such a line is
//! answered with an error, under its id where that can be had, and the next line is read.

use std::io;
use std::pin::Pin;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::Value;
use skillsandbox_path_policy::strict_json;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader, Empty};

use crate::answer::line;

/// Longest line that is read: parameters may hold a document, and each is bounded to 120 KiB when it is handed over.
const MAX_LINE: usize = 4 * 1024 * 1024;

/// An answer that is being written.
type Unwritten = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A transport that reads one message a line, strictly.
pub(crate) struct StrictLines<R, W: AsyncWrite> {
    read: BufReader<R>,
    /// What was read of a line so far. It stays here when a read is cancelled.
    line: Vec<u8>,
    /// Of a line that is too long: the search for its id.
    too_long: Option<IdSearch>,
    writer: AsyncRwTransport<RoleServer, Empty, W>,
    /// An answer to a line that was no message; nothing is read before it is written.
    unwritten: Option<Unwritten>,
}

/// What a line turned out to be.
enum LineContent {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// Nothing that is answered.
    Nothing,
    Wrong(ErrorData, Option<RequestId>),
}

impl<R, W> StrictLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(crate) fn new(input: R, output: W) -> Self {
        Self {
            read: BufReader::new(input),
            line: Vec::new(),
            too_long: None,
            writer: AsyncRwTransport::new(tokio::io::empty(), output),
            unwritten: None,
        }
    }

    /// The next line; `None` at the end. Nothing is lost when this is cancelled.
    async fn next_line(&mut self) -> Option<LineContent> {
        loop {
            let available = self.read.fill_buf().await.ok().filter(|available| !available.is_empty())?;
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let part = available.get(..newline.unwrap_or(taken)).unwrap_or_default();
            if let Some(search) = &mut self.too_long {
                search.feed(part);
            } else if self.line.len() + part.len() > MAX_LINE {
                let mut search = IdSearch::default();
                search.feed(&self.line);
                search.feed(part);
                self.too_long = Some(search);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            self.read.consume(taken);
            if newline.is_none() {
                continue;
            }
            if let Some(search) = self.too_long.take() {
                let why = format!("the line is longer than {MAX_LINE} bytes");
                return Some(LineContent::Wrong(ErrorData::parse_error(why, None), search.found()));
            }
            let content = read_line(&self.line);
            self.line.clear();
            return Some(content);
        }
    }
}

impl<R, W> Transport<RoleServer> for StrictLines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.writer.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(unwritten) = &mut self.unwritten {
                let written = unwritten.await;
                self.unwritten = None;
                written.ok()?;
            }
            match self.next_line().await? {
                LineContent::Message(message) => return Some(*message),
                LineContent::Nothing => {}
                LineContent::Wrong(error, id) => {
                    self.unwritten =
                        Some(Box::pin(self.writer.send(TxJsonRpcMessage::<RoleServer>::error(error, id))));
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.close().await
    }
}

/// What a line says.
fn read_line(bytes: &[u8]) -> LineContent {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii();
    if bytes.is_empty() {
        return LineContent::Nothing;
    }
    let unreadable = |why: &str| {
        let mut search = IdSearch::default();
        search.feed(bytes);
        let why = format!("the line is not JSON that every reader reads alike: {}", line(why));
        LineContent::Wrong(ErrorData::parse_error(why, None), search.found())
    };
    let value = match std::str::from_utf8(bytes).map(strict_json) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => return unreadable(&error.to_string()),
        Err(error) => return unreadable(&error.to_string()),
    };
    match serde_json::from_slice(bytes) {
        Ok(message) => LineContent::Message(Box::new(message)),
        // A notification has no answer, and an answer has none either.
        Err(_) if is_unanswered(&value) => LineContent::Nothing,
        Err(error) => {
            let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            let why = format!("the line is not a request of MCP: {}", line(&error.to_string()));
            LineContent::Wrong(ErrorData::invalid_request(why, None), id)
        }
    }
}

fn is_unanswered(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    if has("method") { !has("id") } else { has("result") || has("error") }
}

/// Looks for the id of a message that cannot be read: the one value of the key `id` in the outermost object, whatever stands elsewhere. Keeps
/// a few bytes, however long the message is.
#[derive(Debug, Default)]
struct IdSearch {
    depth: u64,
    is_array: bool,
    string: StringPlace,
    in_value: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    ids: Vec<Option<RequestId>>,
}

/// Where in a text between quotation marks a byte stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum StringPlace {
    #[default]
    Outside,
    Inside,
    /// Behind a backslash.
    Escaped,
}

/// Longest id that is looked for, as it is written.
const MAX_ID: usize = 300;

impl IdSearch {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    fn found(mut self) -> Option<RequestId> {
        if self.is_array || self.ids.len() != 1 { None } else { self.ids.pop().flatten() }
    }

    fn byte(&mut self, byte: u8) {
        if self.string != StringPlace::Outside {
            self.keep(byte);
            self.string = match (self.string, byte) {
                (StringPlace::Inside, b'\\') => StringPlace::Escaped,
                (StringPlace::Inside, b'"') => StringPlace::Outside,
                _ => StringPlace::Inside,
            };
            return;
        }
        match byte {
            b'"' => {
                self.string = StringPlace::Inside;
                self.keep(byte);
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.is_array |= self.depth == 1 && byte == b'[';
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_pair();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => self.end_pair(),
            b':' if self.depth == 1 && !self.in_value => self.in_value = true,
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth != 1 || (byte.is_ascii_whitespace() && self.string == StringPlace::Outside) {
            return;
        }
        let part = if self.in_value { &mut self.value } else { &mut self.key };
        if part.len() < MAX_ID {
            part.push(byte);
        }
    }

    fn end_pair(&mut self) {
        if self.in_value && self.key == b"\"id\"" && self.ids.len() < 2 {
            self.ids.push(serde_json::from_slice(&self.value).ok());
        }
        self.key.clear();
        self.value.clear();
        self.in_value = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<RequestId> {
        let mut search = IdSearch::default();
        // In pieces, as it comes.
        text.as_bytes().chunks(3).for_each(|part| search.feed(part));
        search.found()
    }

    #[test]
    fn an_id_is_found_where_the_message_cannot_be_read() {
        let number = |number| Some(RequestId::Number(number));
        assert_eq!(id(r#"{"id": 7, "params": NaN}"#), number(7));
        assert_eq!(id(r#"{"params": {"id": 8, "a": [1e999]}, "id":7}"#), number(7));
        assert_eq!(id(r#"{"a": "\"id\": 9,", "id" : "x\ud800"}"#), None);
        assert_eq!(id(r#"{"a": "}}{\\", "id" : "x,}y"}"#), Some(RequestId::String("x,}y".into())));
        for none in [
            r#"{"id": 7, "id": 8}"#,
            r#"[{"id": 7}]"#,
            r#"{"x": {"id": 7}}"#,
            r#"{"id": {"id": 7}}"#,
            r#"{"id": 7"#,
            r#"{"id": 1.5}"#,
            r#""id": 7}"#,
            "",
            "}{",
            r#"{"ID": 7}"#,
        ] {
            assert_eq!(id(none), None, "{none}");
        }
        assert_eq!(id(&format!(r#"{{"id": "{}"}}"#, "x".repeat(400))), None);
    }
}
