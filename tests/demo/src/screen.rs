//! What a person sees. Plain text where nobody looks.

use std::io::IsTerminal as _;

use crate::table::{HEADS, Table};

/// Standard output.
#[derive(Debug)]
pub struct Screen {
    colour: bool,
}

/// Lines of an output that are shown where it is long.
const FIRST: usize = 6;
const LAST: usize = 7;

const BOLD: &str = "1";
const DIM: &str = "2";
const RED: &str = "1;31";
const GREEN: &str = "1;32";

// It is what the program is for.
#[allow(clippy::print_stdout)]
impl Screen {
    /// With colours where it is a terminal and `NO_COLOR` does not say otherwise (no-color.org).
    #[must_use]
    pub fn new() -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: std::io::stdout().is_terminal() && !unwanted }
    }

    fn painted(&self, colour: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A part of the show begins.
    pub fn part(&self, title: &str) {
        println!("\n{}", self.painted(BOLD, &format!("== {title}")));
    }

    /// A command, as one would type it.
    pub fn command(&self, words: &[&str]) {
        let words: Vec<&str> =
            words.iter().map(|word| word.strip_prefix("/home/demo/bin/").unwrap_or(word)).collect();
        println!("{}", self.painted(DIM, &format!("$ {}", words.join(" "))));
    }

    /// What a command printed; of much, the beginning and the end.
    pub fn output(&self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let left_out = if lines.len() > FIRST + LAST + 1 { FIRST..lines.len() - LAST } else { 0..0 };
        for (number, line) in lines.iter().enumerate() {
            if !left_out.contains(&number) {
                println!("  {line}");
            } else if number == left_out.start {
                println!("  {}", self.painted(DIM, &format!("({} more lines)", left_out.len())));
            }
        }
    }

    /// What came of it.
    pub fn note(&self, text: &str) {
        println!("  {} {text}", self.painted(BOLD, "->"));
    }

    /// The table, and what is wrong in it.
    pub fn table(&self, table: &Table) {
        let mut lines: Vec<[&str; 4]> = vec![HEADS];
        lines.extend(
            table
                .rows
                .iter()
                .map(|row| [row.what.as_str(), row.without.as_str(), row.with.as_str(), row.record.as_str()]),
        );
        let width = |column: usize| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..HEADS.len()).map(|column| width(column).unwrap_or(0)).collect();
        let padded = |line: &[&str; 4]| {
            let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ")
        };
        println!("        {}", self.painted(BOLD, padded(&HEADS).trim_end()));
        for (row, line) in table.rows.iter().zip(lines.iter().skip(1)) {
            let mark =
                if row.wrong.is_empty() { self.painted(GREEN, "ok   ") } else { self.painted(RED, "WRONG") };
            println!("{mark}   {}", padded(line).trim_end());
            for wrong in &row.wrong {
                println!("        {}", self.painted(RED, wrong));
            }
        }
    }

    /// The last word.
    pub fn verdict(&self, table: &Table) {
        if table.holds() {
            println!(
                "\n{} The table is computed from what the sink received and what the traces say.",
                self.painted(GREEN, "All of it held.")
            );
        } else {
            println!("\n{}", self.painted(RED, "This is not as it should be: see the rows above."));
        }
    }
}

impl Default for Screen {
    fn default() -> Self {
        Self::new()
    }
}
