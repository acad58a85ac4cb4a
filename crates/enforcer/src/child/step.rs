//! The steps a child takes between `clone` and `exec`, so that a failure can say which one it was.
//!
//! A child cannot allocate, so it cannot format a message: it sends a number, and the parent finds the words.

use crate::layers::Layer;
use crate::sys::Errno;

macro_rules! steps {
    ($($name:ident, $layer:ident, $text:literal;)*) => {
        /// One step, named after what it does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum SetupStep { $($name),* }

        impl SetupStep {
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            /// The layer it is a part of.
            pub(crate) fn layer(self) -> Layer {
                match self { $(Self::$name => Layer::$layer),* }
            }

            /// What it does, to go after "cannot".
            pub(crate) fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

steps! {
    Clone, Namespaces, "create namespaces";
    Maps, Namespaces, "map the user and group";
    Groups, Namespaces, "give up supplementary groups";
    HostName, Namespaces, "set the host name";
    Keyring, Namespaces, "join a new session keyring";
    JoinCgroup, Cgroup, "join the cgroup";
    RootFs, Mounts, "mount a new root";
    PrivateFs, Mounts, "mount the private folders";
    ProcFs, Mounts, "mount /proc";
    Place, Mounts, "put in place";
    Overlay, Mounts, "rehearse writing to";
    Pivot, Mounts, "change to the new root";
    Seal, Mounts, "make the new root read-only";
    Workdir, Mounts, "enter the working directory";
    Loopback, Network, "switch the loopback interface on";
    Routes, Network, "make every address local to the sandbox";
    Listen, Network, "listen in the sandbox on";
    Tap, Network, "see what is tried in the sandbox";
    HandOver, Network, "hand the sockets of the sandbox to the launching program";
    DeathSignal, Lifetime, "tie the run to the launching program";
    NotDumpable, Lifetime, "hide the memory of the init process";
    Init, Lifetime, "start the command below the init process";
    Session, Fds, "leave the session and its terminal";
    Terminal, Fds, "make a terminal for the command";
    Standard, Fds, "put standard input, output and error in place";
    CloseOthers, Fds, "close all other descriptors";
    Setting, Rlimits, "set";
    Limit, Rlimits, "set a limit";
    Ambient, Caps, "clear the ambient capabilities";
    Bounding, Caps, "drop capabilities from the bounding set";
    SecureBits, Caps, "lock the secure bits";
    Capabilities, Caps, "drop all capabilities";
    NoNewPrivs, NoNewPrivs, "set no_new_privs";
    LandlockRule, Landlock, "add a rule";
    Landlock, Landlock, "restrict the process";
    Seccomp, Seccomp, "install the filter";
    Listener, Seccomp, "report that the sandbox is ready";
    Exec, Env, "execute the program";
}

/// A step that did not work. `index` says which of several, where a step is taken more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepFailure {
    pub(crate) step: SetupStep,
    pub(crate) index: u16,
    pub(crate) errno: Errno,
}

pub(crate) type StepResult<T = ()> = Result<T, StepFailure>;

/// Names the step at which a kernel call failed.
pub(crate) trait AtStep<T> {
    fn at(self, step: SetupStep) -> StepResult<T>;
    fn at_index(self, step: SetupStep, index: usize) -> StepResult<T>;
}

impl<T, E: Into<Errno>> AtStep<T> for Result<T, E> {
    fn at(self, step: SetupStep) -> StepResult<T> {
        self.at_index(step, 0)
    }

    fn at_index(self, step: SetupStep, index: usize) -> StepResult<T> {
        let index = u16::try_from(index).unwrap_or(u16::MAX);
        self.map_err(|errno| StepFailure { step, index, errno: errno.into() })
    }
}

/// A message of the child: a failure that ended it, or one that it went on after because the layer was waived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepReport {
    pub(crate) failure: StepFailure,
    pub(crate) waived: bool,
}

/// Its size on the pipe.
pub(crate) const REPORT_SIZE: usize = 8;

impl StepReport {
    pub(crate) fn encode(self) -> [u8; REPORT_SIZE] {
        let [i0, i1] = self.failure.index.to_ne_bytes();
        let [e0, e1, e2, e3] = self.failure.errno.0.to_ne_bytes();
        [self.failure.step as u8, u8::from(self.waived), i0, i1, e0, e1, e2, e3]
    }

    pub(crate) fn decode([step, waived, i0, i1, e0, e1, e2, e3]: [u8; REPORT_SIZE]) -> Option<Self> {
        let step = *SetupStep::ALL.get(usize::from(step))?;
        let errno = Errno(i32::from_ne_bytes([e0, e1, e2, e3]));
        let failure = StepFailure { step, index: u16::from_ne_bytes([i0, i1]), errno };
        Some(Self { failure, waived: waived != 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_pipe() {
        for (position, &step) in SetupStep::ALL.iter().enumerate() {
            assert_eq!(step as usize, position);
            let failure = StepFailure { step, index: 513, errno: Errno(38) };
            let message = StepReport { failure, waived: position % 2 == 0 };
            assert_eq!(StepReport::decode(message.encode()), Some(message));
        }
        assert_eq!(StepReport::decode([255, 0, 0, 0, 0, 0, 0, 0]), None);
    }

    #[test]
    fn every_layer_of_a_child_has_a_step() {
        for layer in Layer::ALL {
            assert!(SetupStep::ALL.iter().any(|step| step.layer() == layer), "{layer}");
        }
    }
}
