//! Starts what a policy allows: no shell, the root as working directory, a time limit, output that is safe to show.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use skillsandbox_text::{is_joiner, push_visible};

use crate::denied::{CommandDecision, CommandDenial};
use crate::policy::CommandPolicy;

/// Most that is kept of each of the two streams: what a skill's manifest takes by default.
pub const MAX_OUTPUT: usize = 1024 * 1024;

/// How long to sleep at most before looking whether the command has ended: a daemon may keep its streams open.
const LOOK: Duration = Duration::from_millis(10);

/// Variables that a command sees when nothing else was asked for: what it needs to start, to find its files, and to write text.
const VARIABLES: &[&str] = &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "TERM", "TMPDIR", "TZ", "USER"];

/// A command that ran.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedCommand {
    /// What was started.
    pub argv: Vec<OsString>,
    /// [`CommandDecision::Allowed`], or [`CommandDecision::Bypassed`] where nothing was checked.
    pub decision: CommandDecision,
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What it wrote, fit for a terminal and for a log: no control characters but line ends and tabs, no text that reorders.
    pub stdout: String,
    /// The same for its standard error.
    pub stderr: String,
    /// Whether it wrote more than [`MAX_OUTPUT`] to one of them.
    pub truncated: bool,
}

/// A command that did not run.
#[derive(Debug)]
#[non_exhaustive]
pub enum CommandRunError {
    /// The policy refused it; no process was started.
    Denied(CommandDenial),
    /// It could not be started, or not be waited for.
    Failed(OsString, io::Error),
}

impl fmt::Display for CommandRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(denied) => denied.fmt(f),
            Self::Failed(program, error) => {
                let name = sanitised(program.as_encoded_bytes());
                write!(f, "cannot run `{name}` ({error}): is it installed, and executable?")
            }
        }
    }
}

impl std::error::Error for CommandRunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Denied(denied) => Some(denied),
            Self::Failed(_, error) => Some(error),
        }
    }
}

impl From<CommandDenial> for CommandRunError {
    fn from(denied: CommandDenial) -> Self {
        Self::Denied(denied)
    }
}

impl CommandPolicy {
    /// Runs a command line that the policy allows, to its end or to the end of its time, and returns what it wrote.
    ///
    /// It runs in the root, with nothing on standard input, with few variables, and in a process group of its own that is ended
    /// with it. This is not a sandbox: the command may do what its user may.
    pub fn run(&self, line: &str) -> Result<FinishedCommand, CommandRunError> {
        let decision = self.check(line);
        let argv = self.parse(line)?;
        let failed = |error| CommandRunError::Failed(argv.first().cloned().unwrap_or_default(), error);
        let mut command = self.command(&argv).map_err(failed)?;
        let child = command.spawn().map_err(failed)?;
        let mut running = StartedCommand { child, deadline: Instant::now() + self.timeout, waited: false };
        let ended = running.wait().map_err(failed)?;
        Ok(FinishedCommand {
            decision,
            code: ended.status.code(),
            timed_out: ended.timed_out,
            stdout: sanitised(&ended.stdout.kept),
            stderr: sanitised(&ended.stderr.kept),
            truncated: ended.stdout.more || ended.stderr.more,
            argv,
        })
    }

    fn command(&self, argv: &[OsString]) -> io::Result<Command> {
        let Some((program, arguments)) = argv.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        // Relative to the root, whatever our own directory is.
        let has_slash = program.as_encoded_bytes().contains(&b'/');
        let file = if has_slash { self.root().join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(file);
        command.args(arguments).current_dir(self.root()).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env_clear();
        let kept = VARIABLES.iter().map(OsString::from).chain(self.variables.iter().cloned());
        command.envs(kept.filter_map(|name| Some((name.clone(), std::env::var_os(name)?))));
        command.env("PATH", search_path(std::env::var_os("PATH")));
        Ok(command)
    }
}

/// Where programs are looked for when PATH says nothing.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// PATH without relative directories: in the root they would let a file called `git` be `git`.
fn search_path(path: Option<OsString>) -> OsString {
    let path = path.unwrap_or_default();
    let absolute = std::env::split_paths(&path).filter(|dir: &PathBuf| Path::is_absolute(dir));
    let path = std::env::join_paths(absolute).unwrap_or_default();
    // An empty PATH would mean the working directory.
    if path.is_empty() { DEFAULT_PATH.into() } else { path }
}

struct StartedCommand {
    child: Child,
    deadline: Instant,
    waited: bool,
}

struct CommandExit {
    status: ExitStatus,
    timed_out: bool,
    stdout: BoundedOutput,
    stderr: BoundedOutput,
}

impl StartedCommand {
    fn wait(&mut self) -> io::Result<CommandExit> {
        let mut stdout = BoundedOutput::new(self.child.stdout.take())?;
        let mut stderr = BoundedOutput::new(self.child.stderr.take())?;
        let mut timed_out = false;
        while !self.has_ended()? {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                timed_out = true;
                break;
            }
            wait_for_output(&stdout, &stderr, left.min(LOOK))?;
            stdout.take()?;
            stderr.take()?;
        }
        // What it left behind goes with it; what it wrote last is still in the pipes.
        let status = self.end()?;
        stdout.take()?;
        stderr.take()?;
        Ok(CommandExit { status, timed_out, stdout, stderr })
    }

    /// Whether the command is over. It is not yet waited for, so its number, which is the group's, stays taken.
    fn has_ended(&self) -> io::Result<bool> {
        let Some(pid) = self.pid() else { return Ok(false) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Ends the group and the command, which may have left the group, and waits for it.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(pid) = self.pid() {
            // The group may be empty already.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.kill();
        self.waited = true;
        self.child.wait()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for StartedCommand {
    fn drop(&mut self) {
        // Only where reading failed half-way: nothing is left running.
        if !self.waited {
            let _ = self.end();
        }
    }
}

fn wait_for_output(stdout: &BoundedOutput, stderr: &BoundedOutput, most: Duration) -> io::Result<()> {
    let open = [stdout.pipe.as_ref().map(AsFd::as_fd), stderr.pipe.as_ref().map(AsFd::as_fd)];
    let mut fds: Vec<_> = open.iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    let time = Timespec { tv_sec: 0, tv_nsec: i64::from(most.subsec_nanos()) };
    match poll(&mut fds, Some(&time)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What came out of a pipe so far.
struct BoundedOutput {
    pipe: Option<Box<dyn OutputPipe>>,
    kept: Vec<u8>,
    more: bool,
}

/// Either of the two.
trait OutputPipe: Read + AsFd {}
impl<T: Read + AsFd> OutputPipe for T {}

impl BoundedOutput {
    fn new<P: OutputPipe + 'static>(pipe: Option<P>) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        let pipe = pipe.map(|pipe| Box::new(pipe) as Box<dyn OutputPipe>);
        Ok(Self { pipe, kept: Vec::new(), more: false })
    }

    /// Takes what is there, without waiting. A pipe holds little, so a flood cannot keep us here: at most as many turns as fill
    /// what is kept.
    fn take(&mut self) -> io::Result<()> {
        let mut buffer = [0; 8192];
        for _ in 0..MAX_OUTPUT / 8192 {
            let Some(pipe) = &mut self.pipe else { return Ok(()) };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = MAX_OUTPUT - self.kept.len();
                    self.more |= count > room;
                    self.kept.extend_from_slice(buffer.get(..count.min(room)).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Output of unknown origin as text: what would move a cursor, set a title, reorder or hide becomes visible.
fn sanitised(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Scripts and emoji need the joiners.
        if is_joiner(c) { out.push(c) } else { push_visible(&mut out, c) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_directories_are_not_searched() {
        let path = |text: &str| search_path(Some(text.into())).into_string().unwrap();
        assert_eq!(path("/usr/bin:.:bin::/bin"), "/usr/bin:/bin");
        for nothing in ["", ".", "::", "bin:lib"] {
            assert_eq!(path(nothing), DEFAULT_PATH, "{nothing}");
        }
    }
}
