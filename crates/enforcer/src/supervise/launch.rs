//! Making the processes of a sandbox, and hearing from them how that went.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;

use super::Status;
use crate::cgroup::{Group, Mechanism};
use crate::child::step::{MESSAGE_SIZE, Message, Step};
use crate::child::{Pipes, Prepared, STANDS, init};
use crate::cures;
use crate::error::Error;
use crate::layers::Layer;
use crate::layers::{namespaces, network};
use crate::sys;
use crate::sys::clone::Child;

/// A sandbox that stands, with the command running in it.
pub(crate) struct Run {
    pub(crate) child: Child,
    result: OwnedFd,
    pub(crate) since: Instant,
}

impl Run {
    /// What the init wrote; where it was killed itself, so was the command.
    pub(crate) fn status(&self) -> Status {
        let mut bytes = [0; 4];
        match rustix::io::read(&self.result, &mut bytes) {
            Ok(4) => {
                let status = i32::from_ne_bytes(bytes);
                if libc::WIFSIGNALED(status) {
                    Status::Signalled(libc::WTERMSIG(status))
                } else {
                    Status::Exited(libc::WEXITSTATUS(status))
                }
            }
            _ => Status::Signalled(libc::SIGKILL),
        }
    }
}

/// Makes the processes of a sandbox and waits until the program runs.
///
/// `watch` is called when every wall stands, and before the program is executed: whoever hears of its calls must begin to, or it waits.
pub(crate) fn start(
    prepared: &Prepared,
    group: Option<&mut Group>,
    mut watch: impl FnMut(&mut Said) -> Result<(), Error>,
) -> Result<(Run, Said), Error> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let sockets = rustix::net::socketpair(family, kind, SocketFlags::CLOEXEC, None);
    let (ready, ready_end) = sockets.map_err(host("make a pair of sockets"))?;
    // Read only when its writer has ended. Another process that this program forked meanwhile may have a copy of the writing
    // end, and must not keep the reader waiting for what nobody will write.
    let (result, result_end) = pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let pipes = Pipes { ready: ready_end, result: result_end };
    let child = sys::clone::child(namespaces::AT_CLONE, || init(prepared, &pipes));
    let child =
        child.map_err(|errno| layer_error(Step::Clone, Step::Clone.text().to_owned(), errno.into()))?;
    drop(pipes);
    let mut run = Run { child, result, since: Instant::now() };
    // systemd makes the group around the process; into any other, the process goes itself.
    if let Some(group) = group.filter(|group| group.mechanism() == Mechanism::CgroupV2Systemd)
        && let Err(unavailable) = group.adopt(run.child.pid)
    {
        run.end();
        return Err(Error::Layer {
            layer: Layer::Cgroup,
            step: format!("cannot {}", Step::JoinCgroup.text()),
            cure: Some(unavailable.cure().to_owned()),
            source: io::Error::other(unavailable),
        });
    }
    let mapped = prepared.namespaces.map_from_outside(run.child.pid);
    if let Err(source) = mapped {
        run.end();
        return Err(layer_error(Step::Maps, Step::Maps.text().to_owned(), source));
    }
    let said = match hear(ready.as_fd(), &mut watch) {
        Ok(said) => said,
        Err(error) => {
            run.end();
            return Err(error);
        }
    };
    run.since = Instant::now();
    if let Some(message) = said.messages.iter().find(|message| !message.waived) {
        run.end();
        return Err(failure(prepared, *message));
    }
    if !said.stands {
        run.end();
        // Which wall it was at, only whoever ended it knows: a filter around this program, the kernel for want of memory.
        let source = io::Error::other(
            "something ended it before the program was executed; `skillsandbox doctor` looks for it",
        );
        return Err(Error::Host { what: "make the sandbox", source });
    }
    Ok((run, said))
}

impl Run {
    pub(crate) fn end(&self) {
        self.child.kill();
        self.child.reap();
    }
}

/// What the child said until it executed the program or ended, which closes the socket.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) messages: Vec<Message>,
    /// The last thing before `exec`: every wall stands.
    stands: bool,
    pub(crate) listener: Option<OwnedFd>,
    /// The sockets that a broker serves, in the order in which they were made.
    pub(crate) sockets: Vec<OwnedFd>,
}

fn hear(
    ready: BorrowedFd<'_>,
    watch: &mut impl FnMut(&mut Said) -> Result<(), Error>,
) -> Result<Said, Error> {
    let mut said = Said::default();
    loop {
        let mut bytes = [0; MESSAGE_SIZE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(network::AT_ONCE))];
        let mut rights = RecvAncillaryBuffer::new(&mut space);
        let receive = || {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            rustix::net::recvmsg(ready, into, &mut rights, RecvFlags::CMSG_CLOEXEC)
        };
        let received = rustix::io::retry_on_intr(receive).map_err(host("hear from the sandbox"))?;
        if received.bytes == 0 {
            return Ok(said);
        }
        if received.bytes == MESSAGE_SIZE {
            said.messages.extend(Message::decode(bytes));
        }
        for message in rights.drain() {
            let RecvAncillaryMessage::ScmRights(mut fds) = message else { continue };
            if received.bytes == network::SOCKETS.len() {
                said.sockets.extend(fds);
            } else {
                said.listener = fds.next();
            }
        }
        if received.bytes == STANDS.len() && !said.stands {
            said.stands = true;
            watch(&mut said)?;
        }
    }
}

fn failure(prepared: &Prepared, message: Message) -> Error {
    let failure = message.failure;
    let source: io::Error = failure.errno.into();
    match failure.step {
        Step::Exec => {
            Error::Program(format!("cannot execute {}: {source}", prepared.program.to_string_lossy()))
        }
        step => layer_error(step, described(prepared, message), source),
    }
}

fn described(prepared: &Prepared, message: Message) -> String {
    let step = message.failure.step;
    let detail = match step {
        Step::Place => prepared.mounts.describe(message.failure.index),
        Step::Listen => prepared.network.describe(message.failure.index),
        Step::Limit => prepared.rlimits.describe(message.failure.index),
        _ => String::new(),
    };
    format!("cannot {} {detail}", step.text()).trim_end().to_owned()
}

pub(crate) fn waived(prepared: &Prepared, message: Message) -> (Layer, String) {
    let source: io::Error = message.failure.errno.into();
    (message.failure.step.layer(), format!("{}: {source}", described(prepared, message)))
}

pub(crate) fn layer_error(step: Step, what: String, source: io::Error) -> Error {
    let cure = cures::of(step, source.raw_os_error().unwrap_or(0));
    Error::Layer { layer: step.layer(), step: what, source, cure }
}

pub(crate) fn host<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Host { what, source: source.into() }
}

fn pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(flags).map_err(host("make a pipe"))
}
