//! The terminal of whoever started the sandbox: what is typed on it is run by their shell.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};

use super::{Control, Group, Technique, technique};
use crate::outcome::{Stopped, Tried, any_of};
use crate::scene::Scene;
use crate::sys;

const TTY: Control = Control::Host("only where there is a terminal, and kernels may refuse it");

pub(super) const TECHNIQUES: &[Technique] = &[
    technique(Group::Terminal, "tty-open", TTY, "Opens the controlling terminal.", |s| {
        match File::open("/dev/tty") {
            Ok(_) => Ok("opened".into()),
            Err(_) if !s.context.launcher.terminal => Err(Stopped::unable("there may be none")),
            Err(error) => Err(error.into()),
        }
    }),
    technique(Group::Terminal, "tty-type", TTY, "Types a space on the terminal (TIOCSTI).", |s| {
        each(s, |terminal| sys::type_space(terminal.as_fd(), 0))
    }),
    technique(
        Group::Terminal,
        "tty-type-high-bits",
        TTY,
        "Types a space by a request with bits the kernel ignores and a filter may compare.",
        |s| each(s, |terminal| sys::type_space(terminal.as_fd(), 1)),
    ),
    technique(Group::Terminal, "tty-console", TTY, "Asks the console, which can also paste.", |s| {
        each(s, |terminal| sys::console_shift_state(terminal.as_fd()))
    }),
];

fn each(scene: &Scene, attempt: fn(&OwnedFd) -> std::io::Result<()>) -> Tried {
    let standard = (0..3).filter_map(|fd| Some((format!("descriptor {fd}"), sys::inherited(fd).ok()?)));
    let tty = File::open("/dev/tty").map(OwnedFd::from).ok().map(|fd| ("/dev/tty".to_owned(), fd));
    let terminals = standard.chain(tty).filter(|(_, fd)| sys::is_terminal(fd));
    let terminals: Vec<_> = terminals.collect();
    if terminals.is_empty() {
        return Err(if scene.context.launcher.terminal {
            Stopped::held("the launcher's terminal did not come along")
        } else {
            Stopped::unable("there is no terminal")
        });
    }
    any_of(
        terminals
            .iter()
            .map(|(name, fd)| (name, attempt(fd).map(|()| "done".to_owned()).map_err(Stopped::from))),
    )
}
