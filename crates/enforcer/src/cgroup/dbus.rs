//! As much of D-Bus as one question to systemd takes, over a Unix socket.
//!
//! By hand, because the libraries bring some sixty crates and a runtime for what is here a message of six fields. What comes back is
//! read with bounds: it is from a service of the same user, but its lengths are not trusted.
//! <https://dbus.freedesktop.org/doc/dbus-specification.html>

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long one answer may take. A manager that is busy answers within milliseconds; one that hangs must not hang a run.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longer than any message we await; the protocol allows 128 MiB.
const MAX_MESSAGE: usize = 1 << 20;
/// Messages that are not the answer, before it: the greeting of the bus and signals.
const MAX_OTHERS: usize = 64;
/// A line of the handshake.
const MAX_LINE: usize = 1024;

pub(super) const CALL: u8 = 1;
pub(super) const RETURN: u8 = 2;
#[cfg(test)]
pub(super) const ERROR: u8 = 3;

/// A connection to a bus.
pub(super) struct DbusConnection {
    stream: UnixStream,
    serial: u32,
}

/// What is asked of whom.
pub(super) struct DbusCall<'a> {
    pub(super) destination: &'a str,
    pub(super) path: &'a str,
    pub(super) interface: &'a str,
    pub(super) member: &'a str,
    pub(super) signature: &'a str,
    pub(super) body: DbusBody,
}

/// A message that came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct DbusMessage {
    pub(super) kind: u8,
    pub(super) serial: u32,
    pub(super) reply_to: Option<u32>,
    pub(super) error: Option<String>,
    pub(super) member: Option<String>,
    pub(super) sender: Option<String>,
    pub(super) signature: String,
    pub(super) body: Vec<u8>,
}

impl DbusConnection {
    /// Connects as this user, and says hello.
    pub(super) fn connect(socket: &Path) -> Result<Self, String> {
        let named = |error: io::Error| format!("{}: {error}", socket.display());
        let stream = UnixStream::connect(socket).map_err(named)?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(named)?;
        stream.set_write_timeout(Some(TIMEOUT)).map_err(named)?;
        let mut bus = Self { stream, serial: 0 };
        bus.authenticate().map_err(named)?;
        bus.call(&DbusCall {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            signature: "",
            body: DbusBody::default(),
        })
        .map_err(|error| format!("{}: {error}", socket.display()))?;
        Ok(bus)
    }

    /// By the user number, which the kernel vouches for.
    fn authenticate(&mut self) -> io::Result<()> {
        let uid = rustix::process::geteuid().as_raw().to_string();
        let hex = data_encoding::HEXLOWER.encode(uid.as_bytes());
        self.stream.write_all(format!("\0AUTH EXTERNAL {hex}\r\n").as_bytes())?;
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            if line.len() > MAX_LINE {
                return Err(io::Error::other("the answer to AUTH does not end"));
            }
            self.stream.read_exact(&mut byte)?;
            line.extend(byte);
        }
        if !line.starts_with(b"OK ") {
            let line = skillsandbox_text::escape_line(String::from_utf8_lossy(&line).trim_end());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("not let in: {line}")));
        }
        self.stream.write_all(b"BEGIN\r\n")
    }

    /// Asks, and waits for the answer.
    pub(super) fn call(&mut self, call: &DbusCall<'_>) -> Result<DbusMessage, String> {
        let fields = [
            (1, "o", call.path),
            (2, "s", call.interface),
            (3, "s", call.member),
            (6, "s", call.destination),
            (8, "g", call.signature),
        ];
        let failed = |error: &dyn fmt::Display| format!("{}: {error}", call.member);
        let serial = self.send(CALL, None, &fields, &call.body).map_err(|error| failed(&error))?;
        for _ in 0..MAX_OTHERS {
            let message = self.receive().map_err(|error| failed(&error))?;
            if message.reply_to != Some(serial) {
                continue;
            }
            return match message.kind {
                RETURN => Ok(message),
                _ => Err(failed(&message.complaint())),
            };
        }
        Err(failed(&"no answer among many messages"))
    }

    /// Sends a message; its number.
    pub(super) fn send(
        &mut self,
        kind: u8,
        reply_to: Option<u32>,
        fields: &[(u8, &str, &str)],
        body: &DbusBody,
    ) -> io::Result<u32> {
        self.serial = self.serial.wrapping_add(1).max(1);
        let mut message = DbusBody(vec![b'l', kind, 0, 1]);
        message.number(u32::try_from(body.0.len()).unwrap_or(u32::MAX));
        message.number(self.serial);
        message.array(8, |message| {
            if let Some(reply_to) = reply_to {
                message.structure();
                message.byte(5);
                message.signature("u");
                message.number(reply_to);
            }
            for (code, signature, value) in fields.iter().filter(|(_, _, value)| !value.is_empty()) {
                message.structure();
                message.byte(*code);
                message.signature(signature);
                if *signature == "g" { message.signature(value) } else { message.string(value) }
            }
        });
        message.align(8);
        message.0.extend_from_slice(&body.0);
        self.stream.write_all(&message.0)?;
        Ok(self.serial)
    }

    /// The next message.
    pub(super) fn receive(&mut self) -> io::Result<DbusMessage> {
        let mut head = [0; 16];
        self.stream.read_exact(&mut head)?;
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "a message that cannot be read");
        let mut reader = DbusReader { bytes: &head, at: 0, big: head.first() == Some(&b'B') };
        let lengths = reader.lengths().filter(|lengths| lengths.fields + lengths.body <= MAX_MESSAGE);
        let lengths = lengths.ok_or_else(broken)?;
        let padded = lengths.fields.next_multiple_of(8);
        let mut rest = vec![0; padded + lengths.body];
        self.stream.read_exact(&mut rest)?;
        let (fields, body) = rest.split_at_checked(padded).ok_or_else(broken)?;
        let fields = fields.get(..lengths.fields).ok_or_else(broken)?;
        let mut message = DbusMessage {
            kind: lengths.kind,
            serial: lengths.serial,
            body: body.to_vec(),
            ..DbusMessage::default()
        };
        DbusReader { bytes: fields, at: 0, big: reader.big }.fields(&mut message).ok_or_else(broken)?;
        Ok(message)
    }
}

impl DbusMessage {
    /// What an error says: its name, and its text if it has one.
    fn complaint(&self) -> String {
        let name = self.error.as_deref().unwrap_or("an answer of an unknown kind");
        let mut reader = DbusReader { bytes: &self.body, at: 0, big: false };
        match reader.string().filter(|_| self.signature.starts_with('s')) {
            Some(text) => format!("{name}: {}", skillsandbox_text::escape_line(&text)),
            None => name.to_owned(),
        }
    }
}

/// Values, put down as the protocol wants them: each at a multiple of its size.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct DbusBody(pub(super) Vec<u8>);

impl DbusBody {
    fn align(&mut self, to: usize) {
        self.0.resize(self.0.len().next_multiple_of(to), 0);
    }

    fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn number(&mut self, value: u32) {
        self.align(4);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn long(&mut self, value: u64) {
        self.align(8);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn string(&mut self, value: &str) {
        self.number(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(0);
    }

    pub(super) fn signature(&mut self, value: &str) {
        self.0.push(u8::try_from(value.len()).unwrap_or(u8::MAX));
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(0);
    }

    pub(super) fn structure(&mut self) {
        self.align(8);
    }

    /// Its length comes first, in bytes, without what aligns the first element.
    pub(super) fn array(&mut self, alignment: usize, elements: impl FnOnce(&mut Self)) {
        self.number(0);
        let length_at = self.0.len() - 4;
        self.align(alignment);
        let start = self.0.len();
        elements(self);
        let length = u32::try_from(self.0.len() - start).unwrap_or(u32::MAX);
        if let Some(place) = self.0.get_mut(length_at..length_at + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }
}

struct DbusLengths {
    kind: u8,
    serial: u32,
    body: usize,
    fields: usize,
}

/// Values, taken up again; `None` where there is not what there should be.
struct DbusReader<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
}

impl<'a> DbusReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.at = self.at.next_multiple_of(4);
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn string(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        self.text(length)
    }

    fn signature(&mut self) -> Option<String> {
        let length = usize::from(*self.take(1)?.first()?);
        self.text(length)
    }

    /// A text and the zero behind it.
    fn text(&mut self, length: usize) -> Option<String> {
        let text = str::from_utf8(self.take(length)?).ok()?.to_owned();
        (self.take(1)? == [0]).then_some(text)
    }

    fn lengths(&mut self) -> Option<DbusLengths> {
        let order = *self.take(1)?.first()?;
        let kind = *self.take(1)?.first()?;
        let version = *self.take(2)?.last()?;
        let (body, serial, fields) = (self.number()?, self.number()?, self.number()?);
        let known = matches!(order, b'l' | b'B') && version == 1;
        known.then_some(DbusLengths {
            kind,
            serial,
            body: usize::try_from(body).ok()?,
            fields: usize::try_from(fields).ok()?,
        })
    }

    fn fields(&mut self, message: &mut DbusMessage) -> Option<()> {
        while self.at < self.bytes.len() {
            self.at = self.at.next_multiple_of(8);
            let code = *self.take(1)?.first()?;
            match (code, self.signature()?.as_str()) {
                (5, "u") => message.reply_to = Some(self.number()?),
                (_, "u") => drop(self.number()?),
                (3, "s") => message.member = Some(self.string()?),
                (4, "s") => message.error = Some(self.string()?),
                (7, "s") => message.sender = Some(self.string()?),
                (_, "s" | "o") => drop(self.string()?),
                (8, "g") => message.signature = self.signature()?,
                _ => return None,
            }
        }
        Some(())
    }
}
