//! What a run prints: handed on as it is, kept, and written down line by line.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use skillsandbox_tracer::{Event, EventKind, LineSplitter, OutputLine, Redactor};

use super::screen::ScreenFilter;
use super::terminal::TerminalFilter;
use crate::streams::{OutputTarget, PrintedOutput};

/// What is said once where not all of an output is handed on.
const TOO_MUCH: &[u8] =
    b"\nskillsandbox: there is more of this than is handed on; the trace has what fits there\n";

/// Bytes that are read at once at first, and once there was more: most runs print little, and memory that is not touched costs nothing.
const FIRST_READ: usize = 4 << 10;
const MOST_READ: usize = 64 << 10;

/// How many bytes may still be handed on, by all outputs of a run together.
#[derive(Debug, Clone)]
pub(crate) struct OutputBudget(Arc<AtomicU64>);

impl OutputBudget {
    pub(crate) fn new(bytes: Option<u64>) -> Self {
        Self(Arc::new(AtomicU64::new(bytes.unwrap_or(u64::MAX))))
    }

    /// Takes as much as there is of what is wanted.
    fn take(&self, wanted: usize) -> usize {
        let wanted = wanted as u64;
        let left = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                Some(if left == u64::MAX { left } else { left.saturating_sub(wanted) })
            })
            .unwrap_or_default();
        usize::try_from(left.min(wanted)).unwrap_or(usize::MAX)
    }
}

/// Reads one output to its end.
pub(crate) struct OutputReader<R> {
    pub(crate) pipe: R,
    pub(crate) kind: fn(OutputLine) -> EventKind,
    pub(crate) forward: OutputTarget,
    pub(crate) is_error: bool,
    pub(crate) budget: OutputBudget,
    /// The most that is kept.
    pub(crate) keep: usize,
    /// The most that is handed on.
    pub(crate) pass: usize,
    pub(crate) redactor: Arc<Redactor>,
}

impl<R: Read> OutputReader<R> {
    /// Until nobody can write to it any more. What exceeds the limit is read, counted and thrown away, so that nobody waits.
    pub(crate) fn follow(mut self, mut record: impl FnMut(Event)) -> PrintedOutput {
        let mut lines = LineSplitter::new();
        let mut printed = PrintedOutput::default();
        let (mut terminal, mut screen) = (TerminalFilter::default(), ScreenFilter::default());
        let mut buffer = vec![0; FIRST_READ];
        let mut was_over = false;
        loop {
            let count = match self.pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let is_full = count == buffer.len();
            let granted = self.budget.take(count);
            printed.total += count as u64;
            printed.omitted += (count - granted) as u64;
            let bytes = buffer.get(..granted).unwrap_or_default();
            let passing = bytes.get(..granted.min(self.pass)).unwrap_or_default();
            let is_over = granted > self.pass && !was_over;
            was_over |= is_over;
            self.pass = self.pass.saturating_sub(granted);
            let passed = match self.forward {
                OutputTarget::Nowhere => Ok(()),
                OutputTarget::Own => pass_on(passing, self.is_error),
                OutputTarget::Terminal => pass_on(terminal.push(passing).as_bytes(), self.is_error),
                OutputTarget::Screen => pass_on(&screen.push(passing), self.is_error),
                OutputTarget::Error => pass_on(passing, true),
                OutputTarget::Kept => {
                    let room = self.keep.saturating_sub(printed.kept.len()).min(bytes.len());
                    printed.kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
                    Ok(())
                }
            };
            let passed = passed.and_then(|()| if is_over { pass_on(TOO_MUCH, true) } else { Ok(()) });
            lines.push(bytes, &self.redactor, |line| record(Event::new((self.kind)(line))));
            // With this end closed, whoever writes on is told, as without a sandbox.
            if let Err(error) = passed {
                printed.failed = Some(error.kind());
                break;
            }
            if is_full {
                buffer.resize(MOST_READ, 0);
            }
        }
        drop(self.pipe);
        if let Some(line) = lines.finish(&self.redactor) {
            record(Event::new((self.kind)(line)));
        }
        if printed.failed.is_none() {
            let rest = match self.forward {
                OutputTarget::Screen => screen.finish(),
                OutputTarget::Terminal => terminal.finish().into_bytes(),
                OutputTarget::Nowhere | OutputTarget::Own | OutputTarget::Error | OutputTarget::Kept => {
                    Vec::new()
                }
            };
            printed.failed = pass_on(&rest, self.is_error).err().map(|error| error.kind());
        }
        printed
    }
}

/// To this program's own output.
fn pass_on(bytes: &[u8], is_error: bool) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if is_error {
        io::stderr().write_all(bytes)
    } else {
        let mut stdout = io::stdout();
        stdout.write_all(bytes).and_then(|()| stdout.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow(text: &[u8], budget: &OutputBudget) -> (PrintedOutput, Vec<String>) {
        follow_and_keep(text, budget, usize::MAX)
    }

    fn follow_and_keep(text: &[u8], budget: &OutputBudget, keep: usize) -> (PrintedOutput, Vec<String>) {
        let redactor = Arc::new(Redactor::new([("KEY", "hunter2-and-more")]).unwrap());
        let follow = OutputReader {
            pipe: text,
            kind: EventKind::Stdout,
            forward: OutputTarget::Kept,
            is_error: false,
            budget: budget.clone(),
            keep,
            pass: usize::MAX,
            redactor,
        };
        let mut lines = Vec::new();
        let printed = follow.follow(|event| match event.kind {
            EventKind::Stdout(line) => lines.push(line.text),
            other => panic!("{other:?}"),
        });
        (printed, lines)
    }

    #[test]
    fn output_is_kept_as_it_is_and_recorded_without_secrets() {
        let (printed, lines) = follow(b"a hunter2-and-more\nb\xff", &OutputBudget::new(None));
        assert_eq!(printed.kept, b"a hunter2-and-more\nb\xff");
        assert_eq!((printed.total, printed.omitted), (21, 0));
        assert_eq!(lines, ["a [REDACTED:KEY]", "b\\xff"]);
    }

    #[test]
    fn two_outputs_share_one_limit_and_what_exceeds_it_is_counted() {
        let budget = OutputBudget::new(Some(10));
        assert_eq!(follow(b"1234567\n", &budget).0.omitted, 0);
        let (printed, lines) = follow(b"abcdef\n", &budget);
        assert_eq!((printed.kept.as_slice(), printed.total, printed.omitted), (&b"ab"[..], 7, 5));
        assert_eq!(lines, ["ab"]);
    }

    #[test]
    fn no_more_is_kept_than_asked_for_and_all_of_it_is_recorded() {
        let text = [b"x".repeat(100_000), b"\n".to_vec()].concat();
        let (printed, lines) = follow_and_keep(&text, &OutputBudget::new(None), 70_000);
        assert_eq!((printed.kept.len(), printed.total, printed.omitted), (70_000, 100_001, 0));
        assert_eq!(lines.len(), 1);
    }
}
