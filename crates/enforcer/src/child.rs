//! The two processes of a sandbox before the command runs: the init, which makes the sandbox, and the one that becomes the
//! command. Read from top to bottom, this is the order of the walls.
//!
//! Only kernel calls from here on: see [`crate::sys`].

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::layers::caps::Capabilities;
use crate::layers::fds::{self, Standard};
use crate::layers::landlock::Landlock;
use crate::layers::mounts::Mounts;
use crate::layers::namespaces::Namespaces;
use crate::layers::rlimits::Rlimits;
use crate::layers::{lifetime, network, no_new_privs};
use crate::seccomp;
use crate::step::{Applied, At as _, Failure, Message, Step};
use crate::sys;
use crate::sys::exec::Strings;

/// All that the child needs, made before it exists.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) namespaces: Namespaces,
    pub(crate) cgroup: Cgroup,
    pub(crate) mounts: Mounts,
    pub(crate) standard: Standard,
    pub(crate) rlimits: Rlimits,
    pub(crate) capabilities: Capabilities,
    pub(crate) landlock: Option<Landlock>,
    pub(crate) seccomp: Option<seccomp::Program>,
    pub(crate) program: CString,
    pub(crate) arguments: Strings,
    pub(crate) environment: Strings,
    /// Layers that a failure may pass over.
    pub(crate) waived: Waived,
}

/// The cgroup as the child sees it.
#[derive(Debug, Default)]
pub(crate) struct Cgroup {
    /// Files to write "0" to.
    pub(crate) join: Vec<OwnedFd>,
    /// Folder and name of each group, to remove when the launching program cannot.
    pub(crate) remove: Vec<(OwnedFd, CString)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waived {
    pub(crate) cgroup: bool,
    pub(crate) landlock: bool,
    pub(crate) seccomp: bool,
}

/// The child's ends of the pipes to the launching program.
#[derive(Debug)]
pub(crate) struct Pipes {
    /// Failures; closed by `exec`, which is how the launching program knows that all is well.
    pub(crate) ready: OwnedFd,
    /// How the command ended.
    pub(crate) result: OwnedFd,
    /// What the init does not close, in ascending order.
    pub(crate) init_keeps: Vec<i32>,
}

impl Pipes {
    pub(crate) fn new(ready: OwnedFd, result: OwnedFd, cgroup: &Cgroup) -> Self {
        let folders = cgroup.remove.iter().map(|(folder, _)| fds::number(folder));
        let mut init_keeps: Vec<i32> = folders.chain([fds::number(&result)]).collect();
        init_keeps.sort_unstable();
        Self { ready, result, init_keeps }
    }
}

/// The init: makes the sandbox, starts the command in it, and stays.
pub(crate) fn init(prepared: &Prepared, pipes: &Pipes) -> i32 {
    match make_sandbox(prepared, pipes) {
        Ok(command) => stay(prepared, pipes, command),
        Err(failure) => {
            report(pipes.ready.as_fd(), failure, false);
            1
        }
    }
}

fn make_sandbox(prepared: &Prepared, pipes: &Pipes) -> Applied<i32> {
    sys::signals::reset();
    prepared.namespaces.apply()?;
    lifetime::tie(pipes.ready.as_fd())?;
    prepared.mounts.apply()?;
    network::apply()?;
    lifetime::hide()?;
    let command = sys::clone::grandchild(|| become_command(prepared, pipes));
    command.at(Step::Init)
}

fn stay(prepared: &Prepared, pipes: &Pipes, command: i32) -> i32 {
    // The pipe is closed last, so that whatever fails can still be said; a close that fails closes nothing.
    let shrunk = lifetime::shrink().and_then(|()| fds::close_all_but(&pipes.init_keeps));
    if let Err(failure) = shrunk {
        report(pipes.ready.as_fd(), failure, false);
        return 1;
    }
    lifetime::reap(command, pipes.result.as_fd(), || remove_groups(&prepared.cgroup))
}

/// The launching program is dead and its groups are empty: nobody else will remove them.
fn remove_groups(cgroup: &Cgroup) {
    for (folder, name) in &cgroup.remove {
        let _ = rustix::fs::unlinkat(folder, name.as_c_str(), rustix::fs::AtFlags::REMOVEDIR);
    }
}

/// The command's process: the walls that must not stand while the sandbox is made.
fn become_command(prepared: &Prepared, pipes: &Pipes) -> i32 {
    let mut ready = fds::number(&pipes.ready);
    let failure = match confine(prepared, &mut ready) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    report(sys::fds::borrow(ready), failure, false);
    1
}

fn confine(prepared: &Prepared, ready: &mut i32) -> Applied<std::convert::Infallible> {
    let waived = prepared.waived;
    pass_over(*ready, join_cgroup(&prepared.cgroup), waived.cgroup)?;

    let ruleset = prepared.landlock.as_ref().map_or(-1, |landlock| fds::number(landlock.descriptor()));
    let mut keep = [*ready, ruleset];
    prepared.standard.apply(&mut keep)?;
    let [kept, ruleset] = keep;
    *ready = kept;

    prepared.rlimits.apply()?;
    prepared.capabilities.apply()?;
    no_new_privs::apply()?;
    if let Some(landlock) = &prepared.landlock {
        pass_over(*ready, landlock.apply(sys::fds::borrow(ruleset)), waived.landlock)?;
    }
    sys::signals::block(0).at(Step::Session)?;
    if let Some(program) = &prepared.seccomp {
        pass_over(*ready, sys::seccomp::install(program.bytes()).at(Step::Seccomp), waived.seccomp)?;
    }
    let errno = sys::exec::execute(&prepared.program, &prepared.arguments, &prepared.environment);
    Err(Failure { step: Step::Exec, index: 0, errno })
}

fn join_cgroup(cgroup: &Cgroup) -> Applied {
    for (index, file) in cgroup.join.iter().enumerate() {
        rustix::io::write(file, b"0").at_index(Step::JoinCgroup, index)?;
    }
    Ok(())
}

/// Goes on after the failure of a waived layer, and says so.
fn pass_over(ready: i32, result: Applied, waived: bool) -> Applied {
    match result {
        Err(failure) if waived => {
            report(sys::fds::borrow(ready), failure, true);
            Ok(())
        }
        result => result,
    }
}

fn report(ready: std::os::fd::BorrowedFd<'_>, failure: Failure, waived: bool) {
    // If it cannot be written the launching program is gone, and so will this process be.
    let _ = rustix::io::write(ready, &Message { failure, waived }.encode());
}
