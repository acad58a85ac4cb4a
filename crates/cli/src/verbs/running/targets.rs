//! Where the output of a run goes: never raw to where it could pass for ours.

use std::io::{IsTerminal as _, stderr, stdout};

use skillsandbox_run::OutputTarget;

use super::flags::RunFlags;
use crate::args::OutputFormat;

/// For standard output and standard error.
///
/// A terminal obeys what it is sent, so there it is shown instead of done. The live view shows every line of output as one of its own, so what
/// would go to the same place as the view goes there by it alone: a line that looks like the view's is then seen to be output.
pub(super) fn of(flags: &RunFlags) -> (OutputTarget, OutputTarget) {
    if flags.format == OutputFormat::Json {
        return (OutputTarget::Kept, OutputTarget::Kept);
    }
    if flags.tty && !flags.raw {
        return (OutputTarget::Screen, OutputTarget::Nowhere);
    }
    if flags.raw {
        return (OutputTarget::Own, OutputTarget::Own);
    }
    let plain = |is_terminal| if is_terminal { OutputTarget::Terminal } else { OutputTarget::Own };
    if !flags.watch {
        return (plain(stdout().is_terminal()), plain(stderr().is_terminal()));
    }
    let is_shared = is_same_place() || (stdout().is_terminal() && stderr().is_terminal());
    let out = if is_shared { OutputTarget::Nowhere } else { plain(stdout().is_terminal()) };
    (out, OutputTarget::Nowhere)
}

/// Whether both outputs are one file, pipe or terminal.
#[cfg(unix)]
fn is_same_place() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;

    let place = |file: std::io::Result<std::os::fd::OwnedFd>| {
        let found = std::fs::File::from(file.ok()?).metadata().ok()?;
        Some((found.dev(), found.ino()))
    };
    let out = place(stdout().as_fd().try_clone_to_owned());
    // Where nobody can say, it might be.
    out.is_none() || out == place(stderr().as_fd().try_clone_to_owned())
}

#[cfg(not(unix))]
fn is_same_place() -> bool {
    true
}
