use crate::term::term;

term! {
    /// Which system calls a program may make.
    #[derive(Default)]
    SyscallProfile("syscall profile") {
        /// What ordinary programs need; nothing that leads out of the sandbox or deep into the kernel.
        #[default]
        Default = "default",
        /// Also no sockets, no new processes and no signals to others.
        Strict = "strict",
        /// Refuses only what could not be watched and what no other layer keeps from it; reports what `default` would refuse.
        Permissive = "permissive",
    }
}

impl SyscallProfile {
    /// The one of the two that refuses more.
    #[must_use]
    pub const fn stricter(self, other: Self) -> Self {
        if self.refusals() >= other.refusals() { self } else { other }
    }

    const fn refusals(self) -> u8 {
        match self {
            Self::Permissive => 0,
            Self::Default => 1,
            Self::Strict => 2,
        }
    }
}
