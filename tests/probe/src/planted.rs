//! The host's side as a driver holds it.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::context::{Context, Witness};

/// A running `skillsandbox-probe plant`. Dropping it removes everything that was planted.
#[derive(Debug)]
pub struct Planted {
    child: Child,
    output: BufReader<ChildStdout>,
    context: Context,
}

impl Planted {
    /// Plants in a folder that is made for it, by the program at `probe`.
    pub fn start(probe: &Path, dir: &Path) -> io::Result<Self> {
        let mut command = Command::new(probe);
        command.arg("plant").arg("--dir").arg(dir);
        Self::start_with(command)
    }

    /// Plants by a command of the caller's, who may want another user, home or environment.
    pub fn start_with(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = child.stdout.take().ok_or_else(|| io::Error::other("no standard output"))?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let context = serde_json::from_str(&line).map_err(|error| {
            io::Error::other(format!("`plant` did not start, see its standard error: {error}"))
        })?;
        Ok(Self { child, output, context })
    }

    /// What to tell the attacker.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The same, to add what the driver knows: its own [`Launcher`](crate::Launcher), further secrets, other paths.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// Removes everything, and says what had reached it.
    pub fn finish(mut self) -> io::Result<Witness> {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.output.read_to_string(&mut line)?;
        self.child.wait()?;
        serde_json::from_str(&line).map_err(io::Error::other)
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        // Without standard input it cleans up and ends by itself.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
