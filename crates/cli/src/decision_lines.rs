//! The server of decisions: a request a line from standard input, an answer a line to standard output. `docs/decisions.md` has the
//! protocol; `check-command` and `check-path` say what is decided.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde::Serialize;
use skillsandbox_run::{
    DecisionAnswer, DecisionRequest, InvalidRequest, MAX_REQUEST_BYTES, answer_long_line, answer_request,
};

use crate::output::{self, escaped};

/// Answers the lines of standard input until it ends.
pub(crate) fn serve<D: Serialize>(
    keys: &[&str],
    decide: impl FnMut(&DecisionRequest<'_>) -> Result<DecisionAnswer<D>, InvalidRequest>,
) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    answer_lines(&mut input, &mut io::stdout().lock(), keys, decide)
}

/// Prints the answer to one question that was asked by arguments.
pub(crate) fn print<D: Serialize>(answer: &DecisionAnswer<D>) -> anyhow::Result<()> {
    output::json(&serde_json::to_value(answer)?)
}

fn answer_lines<D: Serialize>(
    input: &mut BufReader<impl Read>,
    output: &mut impl Write,
    keys: &[&str],
    mut decide: impl FnMut(&DecisionRequest<'_>) -> Result<DecisionAnswer<D>, InvalidRequest>,
) -> anyhow::Result<()> {
    let mut output = io::BufWriter::new(output);
    let mut line = Vec::new();
    while let Some(length) = read_line(input, &mut line)? {
        let answer = match length {
            LineLength::TooLong => Some(answer_long_line(&line)?),
            LineLength::Whole if line.trim_ascii().is_empty() => None,
            LineLength::Whole => Some(answer_request(&line, keys, &mut decide)?),
        };
        if let Some(answer) = answer {
            writeln!(output, "{}", escaped(&answer))?;
        }
        // A caller that waits for this answer gets it; one that sent many lines gets their answers together.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok(())
}

/// Whether all of a line was read.
enum LineLength {
    Whole,
    TooLong,
}

/// Reads one line, with its end; the rest of one that is too long is passed over. `None` at the end of the input.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<LineLength>> {
    line.clear();
    let most = u64::try_from(MAX_REQUEST_BYTES).unwrap_or(u64::MAX);
    if input.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(None);
    }
    if line.len() < MAX_REQUEST_BYTES || line.ends_with(b"\n") {
        return Ok(Some(LineLength::Whole));
    }
    input.skip_until(b'\n')?;
    Ok(Some(LineLength::TooLong))
}
