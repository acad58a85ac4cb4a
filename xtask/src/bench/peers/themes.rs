//! The tables, one file each.

pub(super) mod at_once;
pub(super) mod mcp;
pub(super) mod memory;
pub(super) mod start;
pub(super) mod steady;

use super::lineup::{Entry, Part};
use super::options::{NamedCommand, Options};
use super::tools::{Setup, Tool};
use super::turns::{Shuffle, Times};

/// What every theme is given.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    pub(super) setup: &'a Setup,
    pub(super) commands: &'a [NamedCommand],
    pub(super) runs: usize,
    pub(super) shuffle: Shuffle,
}

impl<'a> Bench<'a> {
    pub(super) fn new(options: &'a Options, setup: &'a Setup) -> Self {
        Self { setup, commands: &options.commands, runs: options.runs, shuffle: Shuffle::new(options.seed) }
    }

    /// A share of the runs, for what takes longer.
    fn share(&self, part: usize, least: usize) -> usize {
        (self.runs / part).max(least)
    }
}

/// The median of the row of a tool, where it is there.
fn median_of(tool: Tool, entries: &[Entry], times: &[Times]) -> Option<f64> {
    let at = entries.iter().position(|entry| entry.part == Part::Tool(tool))?;
    times.get(at).filter(|times| times.failure.is_none()).map(|times| times.wall.median())
}

/// Takes out the rows that failed on the way, and says why.
fn without_failures(entries: Vec<Entry>, times: Vec<Times>, notes: &mut Vec<String>) -> Vec<(Entry, Times)> {
    let mut rows = Vec::new();
    for (entry, times) in entries.into_iter().zip(times) {
        match &times.failure {
            Some(why) => notes.push(format!("{} failed while it was measured: {why}", entry.name)),
            None => rows.push((entry, times)),
        }
    }
    rows
}

fn ratio(figure: f64, reference: Option<f64>) -> Option<f64> {
    reference.map(|reference| figure / reference)
}
