//! One way of a connection: what one side says, to the other, and no faster than that one reads.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use rustix::pipe::{PipeFlags, SpliceFlags};

use crate::attempt::RefusalReason;
use crate::gate::{MOST_HELD, ProtocolGate};

/// The most that is read at a time into memory.
pub(crate) const SCRATCH: usize = 64 << 10;

/// A read of so much is taken for the beginning of more, which then goes through the kernel without a copy.
const BULK: usize = 24 << 10;

/// What a pipe is asked to hold; the kernel may give less.
const PIPE: usize = 1 << 20;

/// Reads in a row of less than a page after which a connection gives its pipe back.
const SMALL_READS: u32 = 16;

/// Turns of reading and writing before the others have theirs.
const TURNS: usize = 16;

/// Pipes that are kept for the next who needs one.
const SPARE_PIPES: usize = 16;

/// A socket and what is known of it.
#[derive(Debug)]
pub(crate) struct SocketSide {
    pub(crate) socket: OwnedFd,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// A short read may not be all there is: the other end has said that it will say no more, or has sent urgent data, before
    /// which each read ends, and `splice` does not pass.
    pub(crate) reads_short: bool,
}

impl SocketSide {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket, readable: false, writable: false, reads_short: false }
    }
}

#[derive(Debug)]
struct SplicePipe {
    out: OwnedFd,
    into: OwnedFd,
    _made: Arc<()>,
}

/// Empty pipes, and memory to read into: shared by all connections of a broker.
#[derive(Debug)]
pub(crate) struct RelayBuffers {
    pipes: Vec<SplicePipe>,
    /// Every pipe that there is has one of these.
    made: Arc<()>,
    most_pipes: usize,
    pub(crate) scratch: Box<[u8]>,
}

impl RelayBuffers {
    pub(crate) fn new(most_pipes: usize) -> Self {
        Self {
            pipes: Vec::new(),
            made: Arc::new(()),
            most_pipes,
            scratch: vec![0; SCRATCH].into_boxed_slice(),
        }
    }

    /// `None` where there are too many, or the launching program has no descriptors left: bytes are copied then.
    fn take_pipe(&mut self) -> Option<SplicePipe> {
        if let Some(pipe) = self.pipes.pop() {
            return Some(pipe);
        }
        if Arc::strong_count(&self.made) > self.most_pipes {
            return None;
        }
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Beyond a user's share of pipe memory it stays small, and works.
        let _ = rustix::pipe::fcntl_setpipe_size(&into, PIPE);
        Some(SplicePipe { out, into, _made: Arc::clone(&self.made) })
    }

    fn give_back(&mut self, pipe: SplicePipe) {
        if self.pipes.len() < SPARE_PIPES {
            self.pipes.push(pipe);
        }
    }
}

/// Why a connection cannot go on.
#[derive(Debug)]
pub(crate) enum RelayFailure {
    /// The side that is read from.
    From,
    /// The side that is written to.
    To,
    /// The gate refuses what was said.
    Refused(RefusalReason),
}

/// Which part of the conversation a gate hears.
pub(crate) enum GateInput<'a> {
    Client(&'a mut ProtocolGate),
    Server(&'a mut ProtocolGate),
}

impl GateInput<'_> {
    fn is_open(&self) -> bool {
        match self {
            Self::Client(gate) | Self::Server(gate) => gate.is_open(),
        }
    }
}

/// One way of a connection.
#[derive(Debug, Default)]
pub(crate) struct RelayDirection {
    /// Bytes that were read and not yet sent.
    held: Vec<u8>,
    /// So many of them may be sent.
    passed: usize,
    /// So many of those were.
    sent: usize,
    pipe: Option<SplicePipe>,
    in_pipe: usize,
    /// The gate may have more to say without hearing more.
    ask_again: bool,
    bulk: bool,
    small_reads: u32,
    state: StreamState,
    /// The other way is done: at the end of this one, nobody has to be told.
    pub(crate) is_last: bool,
    /// Bytes that were sent on.
    pub(crate) bytes: u64,
}

/// Whether more bytes will come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum StreamState {
    #[default]
    Open,
    /// The side that is read from has sent all.
    Ended,
    /// And the other side was told so.
    Closed,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelayNext {
    /// Wait for one of the sockets.
    Wait,
    /// There is more to do at once; others come first.
    Again,
}

impl RelayDirection {
    /// Reads what the client says before there is anybody to tell, as far as the gate wants to see it. Whether the gate has let
    /// something pass, or there will be no more.
    pub(crate) fn read_client(
        &mut self,
        from: &mut SocketSide,
        gate: &mut ProtocolGate,
        buffers: &mut RelayBuffers,
    ) -> Result<bool, RelayFailure> {
        while from.readable && !self.has_ended() && self.passed == 0 {
            self.read_past_gate(from, &mut GateInput::Client(gate), buffers)?;
        }
        Ok(self.passed > 0 || gate.is_open() || self.has_ended())
    }

    /// Whether the side that is read from has ended without saying anything that may be sent.
    pub(crate) fn has_nothing(&self) -> bool {
        self.has_ended() && self.passed == 0
    }

    fn has_ended(&self) -> bool {
        self.state != StreamState::Open
    }

    /// Whether nothing waits to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.in_pipe == 0
    }

    /// Whether it has brought all there was to where it goes.
    pub(crate) fn is_done(&self) -> bool {
        self.state == StreamState::Closed
    }

    /// Carries bytes until one side makes it wait.
    pub(crate) fn relay_bytes(
        &mut self,
        from: &mut SocketSide,
        to: &mut SocketSide,
        mut hears: GateInput<'_>,
        buffers: &mut RelayBuffers,
    ) -> Result<RelayNext, RelayFailure> {
        // What the server has said meanwhile may have changed the gate's mind.
        self.ask_again |= self.held.len() > self.passed;
        for _ in 0..TURNS {
            if self.sent < self.passed {
                if !to.writable {
                    return Ok(RelayNext::Wait);
                }
                self.send_held(to)?;
            } else if self.in_pipe > 0 {
                if !to.writable {
                    return Ok(RelayNext::Wait);
                }
                self.empty_pipe(to)?;
            } else if self.ask_again {
                self.ask_again = false;
                match &mut hears {
                    GateInput::Client(gate) if !gate.is_open() => self.judge(gate)?,
                    GateInput::Client(_) | GateInput::Server(_) => self.passed = self.held.len(),
                }
            } else if self.has_ended() {
                if self.state == StreamState::Ended {
                    self.state = StreamState::Closed;
                    if !self.is_last {
                        // The other side may be gone already, which shows when it is read from.
                        let _ = rustix::net::shutdown(&to.socket, Shutdown::Write);
                    }
                }
                self.release_buffers(buffers);
                return Ok(RelayNext::Wait);
            } else if !from.readable {
                return Ok(RelayNext::Wait);
            } else if !hears.is_open() {
                self.read_past_gate(from, &mut hears, buffers)?;
            } else if self.bulk && !from.reads_short {
                self.fill_pipe(from, buffers)?;
            } else {
                self.copy(from, to, buffers)?;
            }
        }
        Ok(RelayNext::Again)
    }

    fn read_past_gate(
        &mut self,
        from: &mut SocketSide,
        hears: &mut GateInput<'_>,
        buffers: &mut RelayBuffers,
    ) -> Result<(), RelayFailure> {
        let room = (MOST_HELD + 1).saturating_sub(self.held.len()).min(buffers.scratch.len());
        let into = buffers.scratch.get_mut(..room).unwrap_or_default();
        let Some(count) = receive(from, into)? else { return Ok(()) };
        if count == 0 {
            self.state = StreamState::Ended;
            return Ok(());
        }
        let new = into.get(..count).unwrap_or_default();
        self.held.extend_from_slice(new);
        match hears {
            GateInput::Server(gate) => {
                gate.observe_server(new);
                self.passed = self.held.len();
            }
            GateInput::Client(gate) => self.judge(gate)?,
        }
        Ok(())
    }

    /// Shows the gate what it has not let pass yet.
    fn judge(&mut self, gate: &mut ProtocolGate) -> Result<(), RelayFailure> {
        let unseen = self.held.get(self.passed..).unwrap_or_default();
        let passage = gate.judge_client(unseen).map_err(RelayFailure::Refused)?;
        // A gate that refuses what comes after what it lets pass says so when it is asked again.
        self.ask_again = passage.bytes > 0 && !passage.open;
        self.passed =
            if passage.open { self.held.len() } else { (self.passed + passage.bytes).min(self.held.len()) };
        Ok(())
    }

    fn send_held(&mut self, to: &mut SocketSide) -> Result<(), RelayFailure> {
        let ready = self.held.get(self.sent..self.passed).unwrap_or_default();
        let Some(count) = send(to, ready)? else { return Ok(()) };
        self.sent += count;
        self.bytes += count as u64;
        if self.sent == self.passed {
            self.held.drain(..self.passed);
            (self.sent, self.passed) = (0, 0);
            if self.held.is_empty() && self.held.capacity() > SCRATCH {
                self.held = Vec::new();
            }
        }
        Ok(())
    }

    /// Reads and sends; what cannot be sent is held.
    fn copy(
        &mut self,
        from: &mut SocketSide,
        to: &mut SocketSide,
        buffers: &mut RelayBuffers,
    ) -> Result<(), RelayFailure> {
        let Some(count) = receive(from, &mut buffers.scratch)? else { return Ok(()) };
        if count == 0 {
            self.state = StreamState::Ended;
            return Ok(());
        }
        self.bulk = count >= BULK;
        if !self.bulk {
            self.release_buffers(buffers);
        }
        let read = buffers.scratch.get(..count).unwrap_or_default();
        let sent = if to.writable { send(to, read)?.unwrap_or(0) } else { 0 };
        self.bytes += sent as u64;
        self.held.extend_from_slice(read.get(sent..).unwrap_or_default());
        self.passed = self.held.len();
        Ok(())
    }

    fn fill_pipe(&mut self, from: &mut SocketSide, buffers: &mut RelayBuffers) -> Result<(), RelayFailure> {
        if self.pipe.is_none() {
            self.pipe = buffers.take_pipe();
        }
        let Some(pipe) = &self.pipe else {
            self.bulk = false;
            return Ok(());
        };
        match splice(&from.socket, &pipe.into, PIPE) {
            // The end, or urgent data before it: a read tells.
            Ok(0) => from.reads_short = true,
            Ok(count) => {
                self.in_pipe = count;
                self.small_reads = if count < 4096 { self.small_reads + 1 } else { 0 };
                if self.small_reads > SMALL_READS {
                    self.bulk = false;
                }
            }
            Err(Errno::AGAIN) => from.readable = false,
            Err(Errno::INTR) => {}
            Err(_) => return Err(RelayFailure::From),
        }
        Ok(())
    }

    fn empty_pipe(&mut self, to: &mut SocketSide) -> Result<(), RelayFailure> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        match splice(&pipe.out, &to.socket, self.in_pipe) {
            Ok(count) => {
                self.in_pipe = self.in_pipe.saturating_sub(count);
                self.bytes += count as u64;
            }
            Err(Errno::AGAIN) => to.writable = false,
            Err(Errno::INTR) => {}
            Err(_) => return Err(RelayFailure::To),
        }
        Ok(())
    }

    /// Gives back what others can use. A pipe with something in it goes with the connection.
    pub(crate) fn release_buffers(&mut self, buffers: &mut RelayBuffers) {
        if let Some(pipe) = self.pipe.take()
            && self.in_pipe == 0
        {
            buffers.give_back(pipe);
        }
    }
}

/// So many bytes; 0 at the end; `None` where there is nothing now.
fn receive(from: &mut SocketSide, into: &mut [u8]) -> Result<Option<usize>, RelayFailure> {
    let length = into.len();
    match rustix::net::recv(&from.socket, into, RecvFlags::DONTWAIT) {
        Ok((_, count)) => {
            // Less than there was room for is all there was; an end would have been announced, or will be.
            if count < length && !from.reads_short {
                from.readable = false;
            }
            Ok(Some(count))
        }
        Err(Errno::AGAIN) => {
            from.readable = false;
            Ok(None)
        }
        Err(Errno::INTR) => Ok(None),
        Err(_) => Err(RelayFailure::From),
    }
}

fn send(to: &mut SocketSide, bytes: &[u8]) -> Result<Option<usize>, RelayFailure> {
    match rustix::net::send(&to.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(count) => {
            if count < bytes.len() {
                to.writable = false;
            }
            Ok(Some(count))
        }
        Err(Errno::AGAIN) => {
            to.writable = false;
            Ok(None)
        }
        Err(Errno::INTR) => Ok(None),
        Err(_) => Err(RelayFailure::To),
    }
}

fn splice(from: &OwnedFd, to: &OwnedFd, count: usize) -> Result<usize, Errno> {
    rustix::pipe::splice(from, None, to, None, count, SpliceFlags::NONBLOCK | SpliceFlags::MOVE)
}

/// Breaks a connection off, so that the other end sees an error instead of an end.
pub(crate) fn reset(socket: &OwnedFd) -> io::Result<()> {
    rustix::net::sockopt::set_socket_linger(socket, Some(std::time::Duration::ZERO))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that opens many connections, and fills them all, must not take the descriptors of the launching program.
    #[test]
    fn there_are_only_so_many_pipes() {
        const MOST_PIPES: usize = 64;
        let mut buffers = RelayBuffers::new(MOST_PIPES);
        let mut taken: Vec<SplicePipe> = (0..MOST_PIPES).map(|_| buffers.take_pipe().unwrap()).collect();
        assert!(buffers.take_pipe().is_none());
        drop(taken.pop());
        taken.push(buffers.take_pipe().unwrap());
        assert!(buffers.take_pipe().is_none());
        buffers.give_back(taken.pop().unwrap());
        assert!(
            buffers.take_pipe().is_some() && buffers.take_pipe().is_some(),
            "one that was given back, and one for it"
        );
    }
}
