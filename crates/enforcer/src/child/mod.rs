//! The two processes of a sandbox before the command runs: the init, which makes the sandbox, and the one that becomes the
//! command. Read from top to bottom, this is the order of the layers.
//!
//! Only kernel calls from here on: see [`crate::sys`].

pub(crate) mod step;

use std::convert::Infallible;
use std::ffi::CString;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

use self::step::{AtStep as _, SetupStep, StepFailure, StepReport, StepResult};
use crate::layers::fds::{self, StandardStreams};
use crate::layers::landlock::LandlockLayer;
use crate::layers::mounts::MountsLayer;
use crate::layers::namespaces::NamespacesLayer;
use crate::layers::network::NetworkLayer;
use crate::layers::rlimits::RlimitsLayer;
use crate::layers::{caps, lifetime, no_new_privs};
use crate::seccomp;
use crate::sys;
use crate::sys::exec::ExecStrings;

/// The number that the command has in its pid namespace, where the first numbers are not to be given out again.
const COMMAND_NUMBER: i32 = 2;

/// What the child reports when every layer is in place. Failures are longer.
pub(crate) const READY_MESSAGE: [u8; 1] = [1];

/// What the launching program answers when its last check is done, where it has one: nothing is executed before it.
pub(crate) const GO_MESSAGE: [u8; 1] = [2];

/// What a message with the root of the run's private file system says. Those about sockets are shorter, failures longer.
pub(crate) const PRIVATE_MESSAGE: [u8; 3] = [3, 0, 0];

/// All that the child needs, made before it exists.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) namespaces: NamespacesLayer,
    /// Files of the run's cgroups to write "0" to.
    pub(crate) join: Vec<OwnedFd>,
    pub(crate) mounts: MountsLayer,
    pub(crate) network: NetworkLayer,
    pub(crate) standard: StandardStreams,
    pub(crate) rlimits: RlimitsLayer,
    pub(crate) landlock: Option<LandlockLayer>,
    pub(crate) seccomp: SeccompFilters,
    pub(crate) program: CString,
    pub(crate) arguments: ExecStrings,
    pub(crate) environment: ExecStrings,
    /// Layers that a failure may pass over.
    pub(crate) waived: WaivedLayers,
    /// Whether the launching program has the last word, with every layer in place.
    pub(crate) awaits_last_check: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WaivedLayers {
    pub(crate) cgroup: bool,
    pub(crate) landlock: bool,
    pub(crate) seccomp: bool,
}

/// The profile, twice: refusals are reported to the launching program, or, where another supervisor listens already, not at all.
#[derive(Debug)]
pub(crate) struct SeccompFilters {
    /// `None` where nothing is to be reported.
    pub(crate) notifying: Option<seccomp::FilterProgram>,
    pub(crate) silent: seccomp::FilterProgram,
}

/// The child's ends of the pipes to the launching program.
#[derive(Debug)]
pub(crate) struct ChildPipes {
    /// A socket for failures; closed by `exec`, which is how the launching program knows that all is well.
    pub(crate) ready: OwnedFd,
    /// How the command ended.
    pub(crate) result: OwnedFd,
}

impl Prepared {
    /// The descriptors that the child needs, and it needs no other: in ascending order.
    pub(crate) fn descriptors(&self, pipes: &ChildPipes) -> Vec<i32> {
        let own = [&pipes.ready, &pipes.result].into_iter().chain(self.namespaces.descriptor());
        let landlock = self.landlock.as_ref().map(LandlockLayer::descriptor);
        let all = own.chain(&self.join).chain(self.standard.child.iter().flatten()).chain(landlock);
        let mut numbers: Vec<i32> = all.map(fds::number).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The init: makes the sandbox, starts the command in it, and stays. `keep` are its descriptors.
pub(crate) fn init(prepared: &Prepared, pipes: &ChildPipes, keep: &[i32]) -> i32 {
    match make_sandbox(prepared, pipes, keep) {
        Ok(command) => wait_for_exit(pipes, command),
        Err(failure) => {
            report_failure(pipes.ready.as_fd(), failure, false);
            1
        }
    }
}

fn make_sandbox(prepared: &Prepared, pipes: &ChildPipes, keep: &[i32]) -> StepResult<i32> {
    sys::signals::reset();
    // First of all: as long as it holds the launching program's ends of its own pipes, it would wait for itself.
    fds::close_all_but(keep)?;
    lifetime::tie_to_launcher(pipes.ready.as_fd(), pipes.result.as_fd())?;
    prepared.namespaces.apply()?;
    // Again: a change of user or group undoes it.
    lifetime::tie_to_launcher(pipes.ready.as_fd(), pipes.result.as_fd())?;
    let private = prepared.mounts.apply()?;
    report_private(pipes.ready.as_fd(), &private)?;
    drop(private);
    prepared.network.apply(pipes.ready.as_fd())?;
    lifetime::hide_memory()?;
    let number = prepared.mounts.bounds_processes().then_some(COMMAND_NUMBER);
    let command = sys::clone::grandchild(number, || become_command(prepared, pipes));
    command.at(SetupStep::Init)
}

fn wait_for_exit(pipes: &ChildPipes, command: i32) -> i32 {
    // The socket is closed last, so that whatever fails can still be said; a close that fails closes nothing.
    let shrunk = lifetime::shrink_init().and_then(|()| fds::close_all_but(&[fds::number(&pipes.result)]));
    if let Err(failure) = shrunk {
        report_failure(pipes.ready.as_fd(), failure, false);
        return 1;
    }
    lifetime::reap(command, pipes.result.as_fd())
}

/// The command's process: the layers that must not be in place while the sandbox is made.
fn become_command(prepared: &Prepared, pipes: &ChildPipes) -> i32 {
    let mut ready = fds::number(&pipes.ready);
    let failure = match confine(prepared, &mut ready) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    report_failure(sys::fds::borrow(ready), failure, false);
    1
}

fn confine(prepared: &Prepared, ready: &mut i32) -> StepResult<Infallible> {
    let waived = prepared.waived;
    pass_over_waived(*ready, join_cgroup(&prepared.join), waived.cgroup)?;
    let ruleset = prepared.landlock.as_ref().map_or(-1, |landlock| fds::number(landlock.descriptor()));
    prepared.standard.apply(*ready, ruleset)?;
    *ready = fds::READY;
    prepared.rlimits.apply()?;
    caps::apply()?;
    no_new_privs::apply()?;
    if let Some(landlock) = &prepared.landlock {
        pass_over_waived(*ready, landlock.apply(sys::fds::borrow(fds::RULESET)), waived.landlock)?;
    }
    sys::signals::block(0).at(SetupStep::Session)?;
    let listener = install_filter(&prepared.seccomp);
    let listener = pass_over_waived(*ready, listener, waived.seccomp)?.flatten();
    report_ready(listener.as_ref())?;
    if prepared.awaits_last_check {
        await_last_check()?;
    }
    let errno = sys::exec::execute(&prepared.program, &prepared.arguments, &prepared.environment);
    Err(StepFailure { step: SetupStep::Exec, index: 0, errno })
}

/// The last layer. What it refuses is reported on a descriptor, unless another supervisor listens already.
fn install_filter(filters: &SeccompFilters) -> StepResult<Option<OwnedFd>> {
    let Some(notifying) = &filters.notifying else {
        sys::seccomp::install(filters.silent.bytes()).at(SetupStep::Seccomp)?;
        return Ok(None);
    };
    match sys::seccomp::install_listening(notifying.bytes()) {
        Ok(listener) => Ok(Some(listener)),
        Err(sys::Errno(libc::EBUSY)) => {
            sys::seccomp::install(filters.silent.bytes()).at(SetupStep::Seccomp)?;
            Ok(None)
        }
        Err(errno) => Err(errno).at(SetupStep::Seccomp),
    }
}

/// Tells the launching program that all is in place, and gives it the listener of the filter. When the socket closes after
/// this, the program was executed; before it, something ended this process.
fn report_ready(listener: Option<&OwnedFd>) -> StepResult {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    let listener = listener.map(OwnedFd::as_fd);
    let listener = listener.as_slice();
    if !listener.is_empty() {
        rights.push(SendAncillaryMessage::ScmRights(listener));
    }
    let ready = sys::fds::borrow(fds::READY);
    rustix::net::sendmsg(ready, &[IoSlice::new(&READY_MESSAGE)], &mut rights, SendFlags::NOSIGNAL)
        .at(SetupStep::Listener)?;
    Ok(())
}

/// Waits for the word of the launching program. Where it is refused, that program ends this one instead of answering.
fn await_last_check() -> StepResult {
    let mut word = [0; GO_MESSAGE.len()];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(sys::fds::borrow(fds::READY), &mut word));
    if read.at(SetupStep::Listener)? == word.len() && word == GO_MESSAGE {
        return Ok(());
    }
    Err(sys::Errno(libc::ECANCELED)).at(SetupStep::Listener)
}

/// Gives the launching program the run's private file system, by which it knows what the run has made itself.
fn report_private(ready: BorrowedFd<'_>, private: &OwnedFd) -> StepResult {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    let private = [private.as_fd()];
    rights.push(SendAncillaryMessage::ScmRights(&private));
    rustix::net::sendmsg(ready, &[IoSlice::new(&PRIVATE_MESSAGE)], &mut rights, SendFlags::NOSIGNAL)
        .at(SetupStep::PrivateFs)?;
    Ok(())
}

fn join_cgroup(files: &[OwnedFd]) -> StepResult {
    for (index, file) in files.iter().enumerate() {
        rustix::io::write(file, b"0").at_index(SetupStep::JoinCgroup, index)?;
    }
    Ok(())
}

/// Goes on after the failure of a waived layer, and says so.
fn pass_over_waived<T>(ready: i32, result: StepResult<T>, waived: bool) -> StepResult<Option<T>> {
    match result {
        Err(failure) if waived => {
            report_failure(sys::fds::borrow(ready), failure, true);
            Ok(None)
        }
        result => result.map(Some),
    }
}

fn report_failure(ready: BorrowedFd<'_>, failure: StepFailure, waived: bool) {
    // If it cannot be written the launching program is gone, and so will this process be.
    let _ = rustix::io::write(ready, &StepReport { failure, waived }.encode());
}
