//! Making the processes of a sandbox, and hearing from them how that went.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Instant;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType,
};
use rustix::pipe::PipeFlags;

use super::CommandStatus;
use crate::cgroup::{ControlGroup, LimitMechanism};
use crate::child::step::{REPORT_SIZE, SetupStep, StepReport};
use crate::child::{ChildPipes, GO_MESSAGE, PRIVATE_MESSAGE, Prepared, READY_MESSAGE, init};
use crate::cures;
use crate::error::Error;
use crate::layers::Layer;
use crate::layers::terminal::TERMINAL_MESSAGE;
use crate::layers::{namespaces, network};
use crate::sys;
use crate::sys::clone::ChildProcess;

/// A sandbox that stands, with the command running in it.
pub(crate) struct LaunchedRun {
    pub(crate) child: ChildProcess,
    result: OwnedFd,
    pub(crate) since: Instant,
}

impl LaunchedRun {
    /// What the init wrote; where it was killed itself, so was the command.
    pub(crate) fn status(&self) -> CommandStatus {
        let mut bytes = [0; 4];
        match rustix::io::read(&self.result, &mut bytes) {
            Ok(4) => {
                let status = i32::from_ne_bytes(bytes);
                if libc::WIFSIGNALED(status) {
                    CommandStatus::Signalled(libc::WTERMSIG(status))
                } else {
                    CommandStatus::Exited(libc::WEXITSTATUS(status))
                }
            }
            _ => CommandStatus::Signalled(libc::SIGKILL),
        }
    }
}

/// What the launching program does while a sandbox is made.
pub(crate) trait LaunchWatch {
    /// Its init has begun; there is time to get ready.
    fn get_ready(&mut self) -> Result<(), Error>;

    /// Every layer is in place, and the program is not executed yet: it waits until somebody listens to it.
    fn begin(&mut self, report: &mut ChildReport) -> Result<(), Error>;
}

/// Makes the processes of a sandbox and waits until the program runs.
pub(crate) fn start_run(
    prepared: &Prepared,
    group: Option<&mut ControlGroup>,
    watch: &mut impl LaunchWatch,
) -> Result<(LaunchedRun, ChildReport), Error> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    let sockets = rustix::net::socketpair(family, kind, SocketFlags::CLOEXEC, None);
    let (ready, ready_end) = sockets.map_err(host_error("make a pair of sockets"))?;
    // Read only when its writer has ended. Another process that this program forked meanwhile may have a copy of the writing
    // end, and must not keep the reader waiting for what nobody will write.
    let (result, result_end) = make_pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let pipes = ChildPipes { ready: ready_end, result: result_end };
    let keep = prepared.descriptors(&pipes);
    let child = sys::clone::child(namespaces::AT_CLONE, || init(prepared, &pipes, &keep));
    let child = child
        .map_err(|errno| layer_error(SetupStep::Clone, SetupStep::Clone.text().to_owned(), errno.into()))?;
    drop(pipes);
    let mut run = LaunchedRun { child, result, since: Instant::now() };
    // systemd makes the group around the process; into any other, the process goes itself.
    if let Some(group) = group.filter(|group| group.mechanism() == LimitMechanism::CgroupV2Systemd)
        && let Err(unavailable) = group.adopt(run.child.pid)
    {
        run.kill_and_reap();
        return Err(Error::Layer {
            layer: Layer::Cgroup,
            step: format!("cannot {}", SetupStep::JoinCgroup.text()),
            cure: Some(unavailable.cure().to_owned()),
            source: io::Error::other(unavailable),
        });
    }
    let mapped = prepared.namespaces.map_from_outside(run.child.pid);
    if let Err(source) = mapped {
        run.kill_and_reap();
        return Err(layer_error(SetupStep::Maps, SetupStep::Maps.text().to_owned(), source));
    }
    let report = match watch.get_ready().and_then(|()| receive_report(ready.as_fd(), prepared, watch)) {
        Ok(report) => report,
        Err(error) => {
            run.kill_and_reap();
            return Err(error);
        }
    };
    run.since = Instant::now();
    if let Some(message) = report.messages.iter().find(|message| !message.waived) {
        run.kill_and_reap();
        return Err(failure_error(prepared, *message));
    }
    if !report.is_ready {
        run.kill_and_reap();
        // At which layer is not known here: a filter around this program ended it, or the kernel for want of memory.
        let source = io::Error::other(
            "something ended it before the program was executed; `skillsandbox doctor` looks for the cause",
        );
        return Err(Error::Host { what: "make the sandbox", source });
    }
    Ok((run, report))
}

impl LaunchedRun {
    pub(crate) fn kill_and_reap(&self) {
        self.child.kill();
        self.child.reap();
    }
}

/// What the child said until it executed the program or ended, which closes the socket.
#[derive(Default)]
pub(crate) struct ChildReport {
    pub(crate) messages: Vec<StepReport>,
    /// The last thing before `exec`: every layer is in place.
    is_ready: bool,
    pub(crate) listener: Option<OwnedFd>,
    /// The sockets that a broker serves, in the order in which they were made.
    pub(crate) sockets: Vec<OwnedFd>,
    /// The root of the run's private file system.
    pub(crate) private: Option<OwnedFd>,
    /// The outer end of the run's terminal.
    pub(crate) terminal: Option<OwnedFd>,
}

fn receive_report(
    ready: BorrowedFd<'_>,
    prepared: &Prepared,
    watch: &mut impl LaunchWatch,
) -> Result<ChildReport, Error> {
    let mut report = ChildReport::default();
    loop {
        let mut bytes = [0; REPORT_SIZE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(network::AT_ONCE))];
        let mut rights = RecvAncillaryBuffer::new(&mut space);
        let receive = || {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            rustix::net::recvmsg(ready, into, &mut rights, RecvFlags::CMSG_CLOEXEC)
        };
        let received =
            rustix::io::retry_on_intr(receive).map_err(host_error("receive the report of the sandbox"))?;
        if received.bytes == 0 {
            return Ok(report);
        }
        if received.bytes == REPORT_SIZE {
            report.messages.extend(StepReport::decode(bytes));
        }
        for message in rights.drain() {
            let RecvAncillaryMessage::ScmRights(mut fds) = message else { continue };
            if received.bytes == network::SOCKETS.len() {
                report.sockets.extend(fds);
            } else if received.bytes == PRIVATE_MESSAGE.len() {
                report.private = fds.next();
            } else if received.bytes == TERMINAL_MESSAGE.len() {
                report.terminal = fds.next();
            } else {
                report.listener = fds.next();
            }
        }
        if received.bytes == READY_MESSAGE.len() && !report.is_ready {
            report.is_ready = true;
            watch.begin(&mut report)?;
            if prepared.awaits_last_check {
                // If it cannot be told, it is gone, which is seen next.
                let _ = rustix::net::send(ready, &GO_MESSAGE, SendFlags::NOSIGNAL);
            }
        }
    }
}

fn failure_error(prepared: &Prepared, message: StepReport) -> Error {
    let failure = message.failure;
    let source: io::Error = failure.errno.into();
    match failure.step {
        SetupStep::Exec => {
            Error::Program(format!("cannot execute {}: {source}", prepared.program.to_string_lossy()))
        }
        step => layer_error(step, describe_report(prepared, message), source),
    }
}

fn describe_report(prepared: &Prepared, message: StepReport) -> String {
    let step = message.failure.step;
    let detail = match step {
        SetupStep::Place | SetupStep::Overlay => prepared.mounts.describe(message.failure.index),
        SetupStep::Setting => prepared.mounts.describe_setting(message.failure.index),
        SetupStep::Listen => prepared.network.describe(message.failure.index),
        SetupStep::Limit => prepared.rlimits.describe(message.failure.index),
        _ => String::new(),
    };
    format!("cannot {} {detail}", step.text()).trim_end().to_owned()
}

pub(crate) fn describe_waived(prepared: &Prepared, message: StepReport) -> (Layer, String) {
    let source: io::Error = message.failure.errno.into();
    (message.failure.step.layer(), format!("{}: {source}", describe_report(prepared, message)))
}

pub(crate) fn layer_error(step: SetupStep, what: String, source: io::Error) -> Error {
    let cure = cures::cure_text(step, source.raw_os_error().unwrap_or(0));
    Error::Layer { layer: step.layer(), step: what, source, cure }
}

pub(crate) fn host_error<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Host { what, source: source.into() }
}

fn make_pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), Error> {
    rustix::pipe::pipe_with(flags).map_err(host_error("make a pipe"))
}
