//! What a process does to itself, and what becomes of it: network, lifetime, descriptors, limits, capabilities.

use std::ffi::CStr;
use std::path::Path;

use rustix::event::{Timespec, poll};
use rustix::process::{DumpableBehavior, Pid, Resource, Rlimit, Signal, WaitOptions};
use rustix::thread::CapabilitySet;

use super::Trial;
use crate::layers::caps::Capabilities;
use crate::layers::rlimits::Rlimits;
use crate::layers::{lifetime, network, no_new_privs};
use crate::limits::Limits;
use crate::step::Step;
use crate::support::child::{Child, Inside, Or as _, Tried, Trouble, pipe, wait_for, within};
use crate::sys;
use crate::sys::Errno;
use crate::sys::exec::Strings;

/// How long a process waits that ought to be ended meanwhile. Nothing waits for it where all is well.
const LINGER: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

pub(super) const TRIALS: &[Trial] = &[
    Trial {
        name: "loopback",
        what: "switch the loopback interface on",
        step: Step::Loopback,
        after: &["net namespace"],
        run: || within(Inside::New(libc::CLONE_NEWUSER | libc::CLONE_NEWNET), |_| Ok(network::apply()?)),
    },
    Trial {
        name: "parent death signal",
        what: "end a process with the one that made it",
        step: Step::DeathSignal,
        after: &[],
        run: dies_with_parent,
    },
    Trial {
        name: "not dumpable",
        what: "hide the memory of a process",
        step: Step::NotDumpable,
        after: &[],
        run: || within(Inside::Plain, |_| hidden()),
    },
    Trial {
        name: "pidfd",
        what: "end a process by its descriptor",
        step: Step::Init,
        after: &["clone3"],
        run: ended_by_descriptor,
    },
    Trial {
        name: "setsid",
        what: "leave the session and its terminal",
        step: Step::Session,
        after: &[],
        run: || within(Inside::Plain, |_| rustix::process::setsid().here().map(drop)),
    },
    Trial {
        name: "close_range",
        what: "close all other descriptors",
        step: Step::CloseOthers,
        after: &[],
        run: || within(Inside::Plain, closed),
    },
    Trial {
        name: "execve",
        what: "execute a program with variables of its own",
        step: Step::Exec,
        after: &[],
        run: executed,
    },
    Trial {
        name: "setrlimit",
        what: "set limits on a process",
        step: Step::Limit,
        after: &[],
        run: || {
            let limits = Rlimits::prepare(&Limits::default(), false);
            within(Inside::Plain, |_| limited(&limits))
        },
    },
    Trial {
        name: "capabilities",
        what: "drop all capabilities",
        step: Step::Capabilities,
        after: &["uts namespace"],
        run: || {
            let capabilities = Capabilities::prepare();
            let namespaces = libc::CLONE_NEWUSER | libc::CLONE_NEWUTS;
            within(Inside::New(namespaces), |_| powerless(&capabilities))
        },
    },
    Trial {
        name: "no_new_privs",
        what: "set no_new_privs",
        step: Step::NoNewPrivs,
        after: &[],
        run: || within(Inside::Plain, |_| no_gain()),
    },
];

fn hidden() -> Result<(), Trouble> {
    lifetime::hide()?;
    match rustix::process::dumpable_behavior().here()? {
        DumpableBehavior::NotDumpable => Ok(()),
        _ => Err(Trouble::NoEffect),
    }
}

fn no_gain() -> Result<(), Trouble> {
    no_new_privs::apply()?;
    if rustix::thread::no_new_privs().here()? { Ok(()) } else { Err(Trouble::NoEffect) }
}

/// A grandchild asks to be ended with its parent; the parent ends.
fn dies_with_parent() -> Tried {
    let (Ok((armed, armed_end)), Ok((alive, alive_end))) = (pipe(), pipe()) else {
        return Tried::NoChild(Errno(libc::EMFILE));
    };
    let tried = within(Inside::Plain, |_| {
        let grandchild = sys::probe::fork(|| {
            let result = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            let errno = result.map_or_else(rustix::io::Errno::raw_os_error, |()| 0);
            let own = Pid::as_raw(Some(rustix::process::getpid()));
            let _ = rustix::io::write(&alive_end, &own.to_ne_bytes());
            let _ = rustix::io::write(&armed_end, &errno.to_ne_bytes());
            let _ = poll(&mut [], Some(&LINGER));
            let _ = rustix::io::write(&alive_end, b"!");
            0
        });
        grandchild.before()?;
        let mut bytes = [0; 4];
        rustix::io::read(&armed, &mut bytes).before()?;
        match i32::from_ne_bytes(bytes) {
            0 => Ok(()),
            errno => Err(Trouble::Here(Errno(errno))),
        }
    });
    drop(alive_end);
    let mut pid = [0; 4];
    if tried != Tried::Worked || !matches!(rustix::io::read(&alive, &mut pid), Ok(4)) {
        return tried;
    }
    let survived = wait_for(&alive) && matches!(rustix::io::read(&alive, &mut [0]), Ok(1));
    // An orphan goes to the init, or to this program if it has asked for orphans; then it is ours to collect.
    let orphan = i32::from_ne_bytes(pid);
    let _ = rustix::process::waitpid(Pid::from_raw(orphan), WaitOptions::empty());
    if survived { Tried::Trouble(Trouble::NoEffect) } else { Tried::Worked }
}

/// What ends a run when its time is over.
fn ended_by_descriptor() -> Tried {
    let child = Child::make(Inside::New(0), || {
        let _ = poll(&mut [], Some(&LINGER));
        0
    });
    let child = match child {
        Ok(child) => child,
        Err(errno) => return Tried::NoChild(errno),
    };
    let Some(pidfd) = &child.pidfd else { return Tried::Trouble(Trouble::NoEffect) };
    let sent = rustix::process::pidfd_send_signal(pidfd, Signal::KILL);
    let ended = child.reap();
    match (sent, ended) {
        (Err(errno), _) => Tried::Trouble(Trouble::Here(errno.into())),
        (Ok(()), (None, Some(libc::SIGKILL) | None)) => Tried::Worked,
        (Ok(()), _) => Tried::Trouble(Trouble::NoEffect),
    }
}

fn closed(keep: i32) -> Result<(), Trouble> {
    let spare = sys::fds::raise(sys::fds::borrow(keep), 3).before()?;
    // Both ways in which a run asks: all but one, and a copy that is in the way.
    sys::fds::close_but(3, &[keep]).here()?;
    match sys::fds::raise(sys::fds::borrow(spare), 3) {
        Err(Errno(libc::EBADF)) => Ok(()),
        _ => Err(Trouble::NoEffect),
    }
}

fn limited(limits: &Rlimits) -> Result<(), Trouble> {
    limits.apply()?;
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Nofile, none).here()?;
    match rustix::pipe::pipe() {
        Err(rustix::io::Errno::MFILE) => Ok(()),
        _ => Err(Trouble::NoEffect),
    }
}

fn powerless(capabilities: &Capabilities) -> Result<(), Trouble> {
    // The control: in a namespace of its own a process may name its host.
    rustix::system::sethostname(b"skillsandbox").before()?;
    capabilities.apply()?;
    let left = rustix::thread::capabilities(None).here()?;
    let empty = CapabilitySet::empty();
    if (left.effective, left.permitted, left.inheritable) != (empty, empty, empty) {
        return Err(Trouble::NoEffect);
    }
    match rustix::system::sethostname(b"doctor") {
        Err(rustix::io::Errno::PERM) => Ok(()),
        _ => Err(Trouble::NoEffect),
    }
}

/// Programs that do nothing, in the order in which they are looked for.
pub(crate) const NOTHING: [&CStr; 2] = [c"/usr/bin/true", c"/bin/true"];

fn executed() -> Tried {
    let there = |path: &&CStr| path.to_str().is_ok_and(|path| Path::new(path).is_file());
    // Without one there is nothing harmless to execute; that programs can be executed, this one shows.
    let Some(program) = NOTHING.into_iter().find(there) else { return Tried::Worked };
    let arguments = Strings::new(vec![program.to_owned()]);
    let environment = Strings::new(vec![c"LANG=C".to_owned()]);
    let tried = within(Inside::Plain, |_| {
        let errno = sys::exec::execute(program, &arguments, &environment);
        Err(Trouble::Here(errno))
    });
    match tried {
        Tried::Silent(Some(0) | None) => Tried::Worked,
        other => other,
    }
}
