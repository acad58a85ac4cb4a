//! This program's standard input and output, taken away from everybody else.

use std::fs::File;
use std::io;

/// The two streams that the client speaks and listens on.
#[derive(Debug)]
pub(crate) struct Streams {
    pub(crate) input: File,
    pub(crate) output: File,
}

/// Moves both streams to where nobody else finds them. From now on, standard input is empty, and what is printed to standard output, by
/// whatever library or panic, goes to standard error.
pub(crate) fn take() -> io::Result<Streams> {
    // Above the three that programs take for granted.
    let apart = |fd: rustix::fd::BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    let input = File::from(apart(rustix::stdio::stdin())?);
    let output = File::from(apart(rustix::stdio::stdout())?);
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    if rustix::stdio::dup2_stdout(rustix::stdio::stderr()).is_err() {
        // There is no standard error: what is printed is lost, and never among the answers.
        rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    }
    Ok(Streams { input, output })
}
