//! What a process does to itself, and what becomes of it: network, lifetime, descriptors, limits, capabilities.

use std::ffi::CStr;
use std::path::Path;

use rustix::event::{Timespec, poll};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions};
use rustix::thread::CapabilitySet;

use super::HostTrial;
use crate::child::step::SetupStep;
use crate::layers::rlimits::RlimitsLayer;
use crate::layers::{caps, lifetime, network, no_new_privs};
use crate::plan::RunLimits;
use crate::support::child::{
    BlameTrial as _, TrialChild, TrialFailure, TrialNamespaces, TrialOutcome, pipe, try_in_child,
};
use crate::sys;
use crate::sys::Errno;
use crate::sys::exec::ExecStrings;

/// How long a process waits that ought to be ended meanwhile. Nothing waits for it where all is well.
const LINGER: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

pub(super) const TRIALS: &[HostTrial] = &[
    HostTrial {
        name: "loopback",
        what: "switch the loopback interface on",
        step: SetupStep::Loopback,
        after: &["net namespace"],
        run: || {
            try_in_child(TrialNamespaces::New(libc::CLONE_NEWUSER | libc::CLONE_NEWNET), |_| {
                Ok(network::switch_on()?)
            })
        },
    },
    HostTrial {
        name: "any address",
        what: "make every address local to a namespace",
        step: SetupStep::Routes,
        after: &["loopback"],
        run: || {
            try_in_child(TrialNamespaces::New(libc::CLONE_NEWUSER | libc::CLONE_NEWNET), |_| {
                network::switch_on()?;
                network::make_local()?;
                Ok(())
            })
        },
    },
    HostTrial {
        name: "parent death signal",
        what: "end a process with the one that made it",
        step: SetupStep::DeathSignal,
        after: &[],
        run: dies_with_parent,
    },
    HostTrial {
        name: "not dumpable",
        what: "hide the memory of a process",
        step: SetupStep::NotDumpable,
        after: &[],
        run: || try_in_child(TrialNamespaces::Plain, |_| check_hidden()),
    },
    HostTrial {
        name: "pidfd",
        what: "end a process by its descriptor",
        step: SetupStep::Init,
        after: &["clone3"],
        run: ended_by_descriptor,
    },
    HostTrial {
        name: "setsid",
        what: "leave the session and its terminal",
        step: SetupStep::Session,
        after: &[],
        run: || try_in_child(TrialNamespaces::Plain, |_| rustix::process::setsid().here().map(drop)),
    },
    HostTrial {
        name: "close_range",
        what: "close all other descriptors",
        step: SetupStep::CloseOthers,
        after: &[],
        run: || try_in_child(TrialNamespaces::Plain, check_closed),
    },
    HostTrial {
        name: "execve",
        what: "execute a program with variables of its own",
        step: SetupStep::Exec,
        after: &[],
        run: executed,
    },
    HostTrial {
        name: "setrlimit",
        what: "set limits on a process",
        step: SetupStep::Limit,
        after: &[],
        run: || {
            let limits = RlimitsLayer::prepare(&RunLimits::default(), false);
            try_in_child(TrialNamespaces::Plain, |_| check_limited(&limits))
        },
    },
    HostTrial {
        name: "capabilities",
        what: "drop all capabilities",
        step: SetupStep::Capabilities,
        after: &["uts namespace"],
        run: || {
            let namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWUTS;
            try_in_child(TrialNamespaces::New(namespaces), |_| check_powerless())
        },
    },
    HostTrial {
        name: "no_new_privs",
        what: "set no_new_privs",
        step: SetupStep::NoNewPrivs,
        after: &[],
        run: || try_in_child(TrialNamespaces::Plain, |_| no_gain()),
    },
];

fn check_hidden() -> Result<(), TrialFailure> {
    lifetime::hide_memory()?;
    match rustix::process::dumpable_behavior().here()? {
        DumpableBehavior::NotDumpable => Ok(()),
        _ => Err(TrialFailure::NoEffect),
    }
}

fn no_gain() -> Result<(), TrialFailure> {
    no_new_privs::apply()?;
    if rustix::thread::no_new_privs().here()? { Ok(()) } else { Err(TrialFailure::NoEffect) }
}

/// A process asks to be ended with its parent; the parent ends. Two more than seem necessary: one to be the parent, and one that
/// orphans go to, because not every init collects them.
fn dies_with_parent() -> TrialOutcome {
    let (Ok((armed, armed_end)), Ok((alive, alive_end))) = (pipe(), pipe()) else {
        return TrialOutcome::NoChild(Errno(libc::EMFILE));
    };
    try_in_child(TrialNamespaces::Plain, |_| {
        // Best effort: without it the orphan is the init's.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        let parent = sys::probe::fork(|| {
            let orphan = sys::probe::fork(|| {
                let result = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
                let errno = result.map_or_else(rustix::io::Errno::raw_os_error, |()| 0);
                let _ = rustix::io::write(&armed_end, &errno.to_ne_bytes());
                let _ = poll(&mut [], Some(&LINGER));
                let _ = rustix::io::write(&alive_end, b"!");
                0
            });
            // Ends when the orphan has asked, and by that makes it one.
            let asked = rustix::event::PollFd::new(&armed, rustix::event::PollFlags::IN);
            i32::from(orphan.is_err() || poll(&mut [asked], Some(&LINGER)) != Ok(1))
        });
        let parent = Pid::from_raw(parent.before()?);
        let ended = rustix::process::waitpid(parent, WaitOptions::empty()).before()?;
        if ended.and_then(|(_, status)| status.exit_status()) != Some(0) {
            return Err(TrialFailure::Before);
        }
        let mut errno = [0; 4];
        rustix::io::read(&armed, &mut errno).before()?;
        // The orphan, where orphans come here. Otherwise it has to be given time to prove that it lives.
        let collected = rustix::process::wait(WaitOptions::empty()).is_ok();
        match i32::from_ne_bytes(errno) {
            0 => {}
            errno => return Err(TrialFailure::Here(Errno(errno))),
        }
        let mut survivors = [rustix::event::PollFd::new(&alive, rustix::event::PollFlags::IN)];
        let patience = Timespec { tv_sec: if collected { 0 } else { LINGER.tv_sec + 1 }, tv_nsec: 0 };
        if poll(&mut survivors, Some(&patience)) == Ok(0) { Ok(()) } else { Err(TrialFailure::NoEffect) }
    })
}

/// What ends a run when its time is over.
fn ended_by_descriptor() -> TrialOutcome {
    let child = TrialChild::make(TrialNamespaces::New(0), || {
        let _ = poll(&mut [], Some(&LINGER));
        0
    });
    let child = match child {
        Ok(child) => child,
        Err(errno) => return TrialOutcome::NoChild(errno),
    };
    let Some(pidfd) = &child.pidfd else { return TrialOutcome::Trouble(TrialFailure::NoEffect) };
    let sent = rustix::process::pidfd_send_signal(pidfd, Signal::KILL);
    let ended = child.reap();
    match (sent, ended) {
        (Err(errno), _) => TrialOutcome::Trouble(TrialFailure::Here(errno.into())),
        (Ok(()), (None, Some(libc::SIGKILL) | None)) => TrialOutcome::Worked,
        (Ok(()), _) => TrialOutcome::Trouble(TrialFailure::NoEffect),
    }
}

fn check_closed(keep: i32) -> Result<(), TrialFailure> {
    let spare = sys::fds::raise(sys::fds::borrow(keep), 3).before()?;
    // Both ways in which a run asks: all but one, and a copy that is in the way.
    sys::fds::close_but(3, &[keep]).here()?;
    match sys::fds::raise(sys::fds::borrow(spare), 3) {
        Err(Errno(libc::EBADF)) => Ok(()),
        _ => Err(TrialFailure::NoEffect),
    }
}

fn check_limited(limits: &RlimitsLayer) -> Result<(), TrialFailure> {
    limits.apply()?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Nofile, none).here()?;
    match rustix::pipe::pipe() {
        Err(rustix::io::Errno::MFILE) => Ok(()),
        _ => Err(TrialFailure::NoEffect),
    }
}

fn check_powerless() -> Result<(), TrialFailure> {
    // The control: in a namespace of its own a process may name its host.
    rustix::system::sethostname(b"skillsandbox").before()?;
    caps::apply()?;
    let left = rustix::thread::capabilities(None).here()?;
    let empty = CapabilitySet::empty();
    if (left.effective, left.permitted, left.inheritable) != (empty, empty, empty) {
        return Err(TrialFailure::NoEffect);
    }
    match rustix::system::sethostname(b"doctor") {
        Err(rustix::io::Errno::PERM) => Ok(()),
        _ => Err(TrialFailure::NoEffect),
    }
}

/// Programs that do nothing, in the order in which they are looked for.
pub(crate) const NOTHING: [&CStr; 2] = [c"/usr/bin/true", c"/bin/true"];

fn executed() -> TrialOutcome {
    let there = |path: &&CStr| path.to_str().is_ok_and(|path| Path::new(path).is_file());
    // Without one there is nothing harmless to execute; that programs can be executed, this one shows.
    let Some(program) = NOTHING.into_iter().find(there) else { return TrialOutcome::Worked };
    let arguments = ExecStrings::new(vec![program.to_owned()]);
    let environment = ExecStrings::new(vec![c"LANG=C".to_owned()]);
    let tried = try_in_child(TrialNamespaces::Plain, |_| {
        let errno = sys::exec::execute(program, &arguments, &environment);
        Err(TrialFailure::Here(errno))
    });
    match tried {
        TrialOutcome::Silent(Some(0) | None) => TrialOutcome::Worked,
        other => other,
    }
}
