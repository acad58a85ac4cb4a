//! One way of a connection: what one side says, to the other, and no faster than that one reads.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use rustix::pipe::{PipeFlags, SpliceFlags};

use crate::attempt::Reason;
use crate::gate::{Gate, MOST_HELD};

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
pub(crate) struct Side {
    pub(crate) socket: OwnedFd,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// A short read may not be all there is: the other end has said that it will say no more, or has sent urgent data, before
    /// which each read ends, and `splice` does not pass.
    pub(crate) reads_short: bool,
}

impl Side {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket, readable: false, writable: false, reads_short: false }
    }
}

#[derive(Debug)]
struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    _made: Arc<()>,
}

/// Empty pipes, and memory to read into: shared by all connections of a broker.
#[derive(Debug)]
pub(crate) struct Workbench {
    pipes: Vec<Pipe>,
    /// Every pipe that there is has one of these.
    made: Arc<()>,
    most_pipes: usize,
    pub(crate) scratch: Box<[u8]>,
}

impl Workbench {
    pub(crate) fn new(most_pipes: usize) -> Self {
        Self {
            pipes: Vec::new(),
            made: Arc::new(()),
            most_pipes,
            scratch: vec![0; SCRATCH].into_boxed_slice(),
        }
    }

    /// `None` where there are too many, or the launching program has no descriptors left: bytes are copied then.
    fn pipe(&mut self) -> Option<Pipe> {
        if let Some(pipe) = self.pipes.pop() {
            return Some(pipe);
        }
        if Arc::strong_count(&self.made) > self.most_pipes {
            return None;
        }
        let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Beyond a user's share of pipe memory it stays small, and works.
        let _ = rustix::pipe::fcntl_setpipe_size(&into, PIPE);
        Some(Pipe { out, into, _made: Arc::clone(&self.made) })
    }

    fn give_back(&mut self, pipe: Pipe) {
        if self.pipes.len() < SPARE_PIPES {
            self.pipes.push(pipe);
        }
    }
}

/// Why a connection cannot go on.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The side that is read from.
    From,
    /// The side that is written to.
    To,
    /// The gate refuses what was said.
    Refused(Reason),
}

/// Which part of the conversation a gate hears.
pub(crate) enum Hears<'a> {
    Client(&'a mut Gate),
    Server(&'a mut Gate),
}

impl Hears<'_> {
    fn is_open(&self) -> bool {
        match self {
            Self::Client(gate) | Self::Server(gate) => gate.is_open(),
        }
    }
}

/// One way of a connection.
#[derive(Debug, Default)]
pub(crate) struct Way {
    /// Bytes that were read and not yet sent.
    held: Vec<u8>,
    /// So many of them may be sent.
    passed: usize,
    /// So many of those were.
    sent: usize,
    pipe: Option<Pipe>,
    in_pipe: usize,
    /// The gate may have more to say without hearing more.
    ask_again: bool,
    bulk: bool,
    small_reads: u32,
    words: Words,
    /// Bytes that were sent on.
    pub(crate) bytes: u64,
}

/// Whether more will be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Words {
    #[default]
    MayCome,
    /// The side that is read from has said all.
    AreOver,
    /// And the other side was told so.
    AreSaidToBe,
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Wait for one of the sockets.
    Wait,
    /// There is more to do at once; others come first.
    Again,
}

impl Way {
    /// Reads what the client says before there is anybody to tell, as far as the gate wants to see it. Whether the gate has let
    /// something pass, or there will be no more.
    pub(crate) fn listen(
        &mut self,
        from: &mut Side,
        gate: &mut Gate,
        bench: &mut Workbench,
    ) -> Result<bool, Broken> {
        while from.readable && !self.has_ended() && self.passed == 0 {
            self.read_past_gate(from, &mut Hears::Client(gate), bench)?;
        }
        Ok(self.passed > 0 || gate.is_open() || self.has_ended())
    }

    /// Whether the side that is read from has ended without saying anything that may be sent.
    pub(crate) fn has_nothing(&self) -> bool {
        self.has_ended() && self.passed == 0
    }

    fn has_ended(&self) -> bool {
        self.words != Words::MayCome
    }

    /// Whether nothing waits to be sent.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.in_pipe == 0
    }

    /// Whether it has brought all there was to where it goes.
    pub(crate) fn is_done(&self) -> bool {
        self.words == Words::AreSaidToBe
    }

    /// Carries bytes until one side makes it wait.
    pub(crate) fn carry(
        &mut self,
        from: &mut Side,
        to: &mut Side,
        mut hears: Hears<'_>,
        bench: &mut Workbench,
    ) -> Result<Next, Broken> {
        // What the server has said meanwhile may have changed the gate's mind.
        self.ask_again |= self.held.len() > self.passed;
        for _ in 0..TURNS {
            if self.sent < self.passed {
                if !to.writable {
                    return Ok(Next::Wait);
                }
                self.send_held(to)?;
            } else if self.in_pipe > 0 {
                if !to.writable {
                    return Ok(Next::Wait);
                }
                self.empty_pipe(to)?;
            } else if self.ask_again {
                self.ask_again = false;
                match &mut hears {
                    Hears::Client(gate) if !gate.is_open() => self.judge(gate)?,
                    _ => self.passed = self.held.len(),
                }
            } else if self.has_ended() {
                if self.words == Words::AreOver {
                    self.words = Words::AreSaidToBe;
                    // The other side may be gone already, which shows when it is read from.
                    let _ = rustix::net::shutdown(&to.socket, Shutdown::Write);
                }
                self.let_go(bench);
                return Ok(Next::Wait);
            } else if !from.readable {
                return Ok(Next::Wait);
            } else if !hears.is_open() {
                self.read_past_gate(from, &mut hears, bench)?;
            } else if self.bulk && !from.reads_short {
                self.fill_pipe(from, bench)?;
            } else {
                self.copy(from, to, bench)?;
            }
        }
        Ok(Next::Again)
    }

    fn read_past_gate(
        &mut self,
        from: &mut Side,
        hears: &mut Hears<'_>,
        bench: &mut Workbench,
    ) -> Result<(), Broken> {
        let room = (MOST_HELD + 1).saturating_sub(self.held.len()).min(bench.scratch.len());
        let into = bench.scratch.get_mut(..room).unwrap_or_default();
        let Some(count) = receive(from, into)? else { return Ok(()) };
        if count == 0 {
            self.words = Words::AreOver;
            return Ok(());
        }
        let new = into.get(..count).unwrap_or_default();
        self.held.extend_from_slice(new);
        match hears {
            Hears::Server(gate) => {
                gate.server(new);
                self.passed = self.held.len();
            }
            Hears::Client(gate) => self.judge(gate)?,
        }
        Ok(())
    }

    /// Shows the gate what it has not let pass yet.
    fn judge(&mut self, gate: &mut Gate) -> Result<(), Broken> {
        let unseen = self.held.get(self.passed..).unwrap_or_default();
        let passage = gate.client(unseen).map_err(Broken::Refused)?;
        // A gate that refuses what comes after what it lets pass says so when it is asked again.
        self.ask_again = passage.bytes > 0 && !passage.open;
        self.passed =
            if passage.open { self.held.len() } else { (self.passed + passage.bytes).min(self.held.len()) };
        Ok(())
    }

    fn send_held(&mut self, to: &mut Side) -> Result<(), Broken> {
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
    fn copy(&mut self, from: &mut Side, to: &mut Side, bench: &mut Workbench) -> Result<(), Broken> {
        let Some(count) = receive(from, &mut bench.scratch)? else { return Ok(()) };
        if count == 0 {
            self.words = Words::AreOver;
            return Ok(());
        }
        self.bulk = count >= BULK;
        if !self.bulk {
            self.let_go(bench);
        }
        let read = bench.scratch.get(..count).unwrap_or_default();
        let sent = if to.writable { send(to, read)?.unwrap_or(0) } else { 0 };
        self.bytes += sent as u64;
        self.held.extend_from_slice(read.get(sent..).unwrap_or_default());
        self.passed = self.held.len();
        Ok(())
    }

    fn fill_pipe(&mut self, from: &mut Side, bench: &mut Workbench) -> Result<(), Broken> {
        if self.pipe.is_none() {
            self.pipe = bench.pipe();
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
            Err(_) => return Err(Broken::From),
        }
        Ok(())
    }

    fn empty_pipe(&mut self, to: &mut Side) -> Result<(), Broken> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        match splice(&pipe.out, &to.socket, self.in_pipe) {
            Ok(count) => {
                self.in_pipe = self.in_pipe.saturating_sub(count);
                self.bytes += count as u64;
            }
            Err(Errno::AGAIN) => to.writable = false,
            Err(Errno::INTR) => {}
            Err(_) => return Err(Broken::To),
        }
        Ok(())
    }

    /// Gives back what others can use. A pipe with something in it goes with the connection.
    pub(crate) fn let_go(&mut self, bench: &mut Workbench) {
        if let Some(pipe) = self.pipe.take()
            && self.in_pipe == 0
        {
            bench.give_back(pipe);
        }
    }
}

/// So many bytes; 0 at the end; `None` where there is nothing now.
fn receive(from: &mut Side, into: &mut [u8]) -> Result<Option<usize>, Broken> {
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
        Err(_) => Err(Broken::From),
    }
}

fn send(to: &mut Side, bytes: &[u8]) -> Result<Option<usize>, Broken> {
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
        Err(_) => Err(Broken::To),
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

    /// A program that opens many connections, and fills them all, must not take the descriptors of whoever launched it.
    #[test]
    fn there_are_only_so_many_pipes() {
        const MOST_PIPES: usize = 64;
        let mut bench = Workbench::new(MOST_PIPES);
        let mut taken: Vec<Pipe> = (0..MOST_PIPES).map(|_| bench.pipe().unwrap()).collect();
        assert!(bench.pipe().is_none());
        drop(taken.pop());
        taken.push(bench.pipe().unwrap());
        assert!(bench.pipe().is_none());
        bench.give_back(taken.pop().unwrap());
        assert!(bench.pipe().is_some() && bench.pipe().is_some(), "one that was given back, and one for it");
    }
}
