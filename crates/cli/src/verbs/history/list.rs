//! `skillsandbox history`: a line a run.

use std::fmt::Write as _;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use skillsandbox_store::history::{Record, csv_header, csv_line};
use unicode_width::UnicodeWidthStr as _;

use super::{BOLD, DIM, RED, RESET, RunFilterArgs, YELLOW, colour, cut, duration, open};
use crate::output::{self, ExitAnswer, escaped, message};

/// Runs that are shown to a person who did not say how many.
const SHOWN: u64 = 50;
/// Columns where there is no terminal to ask.
const COLUMNS: usize = 160;

#[derive(Debug, Args)]
pub(super) struct HistoryListArgs {
    #[command(flatten)]
    which: RunFilterArgs,

    /// So many at most, the newest; otherwise 50 as text, and all in other formats
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// How to show them
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: ListFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// For people
    Text,
    /// One array
    Json,
    /// One object a line
    Ndjson,
    /// For spreadsheets
    Csv,
}

impl HistoryListArgs {
    pub(super) fn run(&self) -> anyhow::Result<ExitAnswer> {
        let mut filter = self.which.filter()?;
        let limit = self.limit.or((self.format == ListFormat::Text).then_some(SHOWN));
        // One more says whether there are more.
        filter.limit = limit.map(|limit| limit.saturating_add(u64::from(self.format == ListFormat::Text)));
        let mut writer = ListWriter::new(self.format, limit);
        let history = open()?;
        let mut looked = Ok(());
        output::stream(|out| {
            let mut out = BufWriter::new(out);
            writer.begin(&mut out)?;
            let mut failed = Ok(());
            if let Some(history) = &history {
                looked = history.each(&filter, |record| {
                    failed = writer.record(&mut out, &record);
                    if failed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                });
            }
            failed?;
            writer.end(&mut out)?;
            out.flush()
        })?;
        looked?;
        if self.format == ListFormat::Text && writer.count == 0 {
            let none = if history.is_none() {
                "nothing was recorded yet"
            } else {
                "no run that was recorded is meant"
            };
            message(&format!("{none}; `run` and `exec` record what they run"));
        }
        Ok(ExitAnswer::Yes)
    }
}

/// Writes one record after the other; none is kept.
struct ListWriter {
    format: ListFormat,
    limit: Option<u64>,
    count: u64,
    columns: usize,
    zone: TimeZone,
}

impl ListWriter {
    fn new(format: ListFormat, limit: Option<u64>) -> Self {
        let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        let columns = terminal.map_or(COLUMNS, |(width, _)| usize::from(width.0));
        Self { format, limit, count: 0, columns, zone: TimeZone::system() }
    }

    fn begin(&self, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            ListFormat::Text | ListFormat::Ndjson => Ok(()),
            ListFormat::Json => out.write_all(b"["),
            ListFormat::Csv => out.write_all(csv_header().as_bytes()),
        }
    }

    fn record(&mut self, out: &mut impl Write, record: &Record) -> io::Result<()> {
        self.count += 1;
        match self.format {
            ListFormat::Text if self.limit.is_some_and(|limit| self.count > limit) => Ok(()),
            ListFormat::Text => {
                if self.count == 1 {
                    let names = format!(
                        "{:<19}  {:<8}  {:<20}  {:<8}  {:<7}  {:>4}  {:>10}",
                        "when", "id", "skill", "tool", "status", "code", "took"
                    );
                    writeln!(out, "{BOLD}{names}  denied{RESET}")?;
                }
                out.write_all(self.line(record).as_bytes())
            }
            ListFormat::Json | ListFormat::Ndjson => {
                if self.format == ListFormat::Json {
                    out.write_all(if self.count == 1 { b"\n" } else { b",\n" })?;
                }
                out.write_all(escaped(&serde_json::to_string(record)?).as_bytes())?;
                if self.format == ListFormat::Ndjson { out.write_all(b"\n") } else { Ok(()) }
            }
            ListFormat::Csv => out.write_all(csv_line(record).as_bytes()),
        }
    }

    fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match self.format {
            ListFormat::Json if self.count > 0 => out.write_all(b"\n]\n"),
            ListFormat::Json => out.write_all(b"]\n"),
            ListFormat::Text if self.limit.is_some_and(|limit| self.count > limit) => {
                writeln!(out, "{DIM}there are more: --limit N shows N{RESET}")
            }
            _ => Ok(()),
        }
    }

    fn line(&self, record: &Record) -> String {
        let when = record.timestamp.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
        let id = cut(&record.execution_id.chars().take(8).collect::<String>(), 8);
        let code = record.exit_code.map(|code| code.to_string()).unwrap_or_default();
        let status = record.status;
        let mut line = format!(
            "{when}  {DIM}{}{RESET}  {}  {}  {}{:<7}{RESET}  {code:>4}  {:>10}",
            padded(&id, 8),
            padded(&cut(&record.skill, 20), 20),
            padded(&cut(&record.tool, 8), 8),
            colour(status),
            status.as_str(),
            duration(record.duration_ms),
        );
        let denied = if record.denied > 0 { record.denied.to_string() } else { String::new() };
        let _ = write!(line, "  {YELLOW}{denied:>6}{RESET}");
        // What stands before it, without colours.
        let used = 19 + 2 + 8 + 2 + 20 + 2 + 8 + 2 + 7 + 2 + 4 + 2 + 10 + 2 + 6 + 2;
        let room = self.columns.saturating_sub(used).max(16);
        if !record.classes.is_empty() {
            let _ = write!(line, "  {RED}{}{RESET}", cut(&record.classes.join(" "), room));
        } else if let Some(error) = &record.error {
            let _ = write!(line, "  {DIM}{}{RESET}", cut(error, room));
        }
        line.push('\n');
        line
    }
}

/// Letters may be two columns wide.
fn padded(text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(text.width());
    format!("{text}{:room$}", "")
}
