//! Tables of figures, for people, for docs/benchmarks.md and for programs, all from the same cells.

use serde_json::{Map, Value, json};

use super::options::Format;

/// A column: what it is called in JSON, and over the figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) decimals: usize,
}

/// What was asked of a row, and whether it is so.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// Such as `at most 1.2 x bubblewrap`.
    pub(super) text: String,
    /// Unknown where what it is compared with is not here.
    pub(super) reached: Option<bool>,
}

impl Target {
    pub(super) fn at_most(bound: f64, unit: &str, figure: Option<f64>) -> Self {
        Self { text: format!("at most {bound} {unit}"), reached: figure.map(|figure| figure <= bound) }
    }

    pub(super) fn at_least(bound: f64, unit: &str, figure: Option<f64>) -> Self {
        Self { text: format!("at least {bound} {unit}"), reached: figure.map(|figure| figure >= bound) }
    }

    fn shown(&self) -> String {
        let standing = match self.reached {
            Some(true) => "reached",
            Some(false) => "**not reached**",
            None => "not known",
        };
        format!("{}: {standing}", self.text)
    }
}

#[derive(Debug, Clone)]
pub(super) struct TableRow {
    pub(super) name: String,
    /// A figure for each column, where there is one.
    pub(super) figures: Vec<Option<f64>>,
    pub(super) targets: Vec<Target>,
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) key: &'static str,
    pub(super) title: String,
    /// Or about memory.
    pub(super) is_about_time: bool,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<TableRow>,
    /// What is not in it and why, and what has to be known to read it.
    pub(super) notes: Vec<String>,
}

/// Everything that one run of the command says.
#[derive(Debug, Clone)]
pub(super) struct Report {
    /// Where and how it was measured.
    pub(super) conditions: Vec<String>,
    pub(super) tables: Vec<Table>,
    pub(super) notes: Vec<String>,
}

impl Report {
    pub(super) fn render(&self, format: Format) -> String {
        match format {
            Format::Json => {
                let tables: Map<String, Value> =
                    self.tables.iter().map(|table| (table.key.into(), table.json())).collect();
                format!(
                    "{:#}",
                    json!({ "conditions": self.conditions, "tables": tables, "notes": self.notes })
                )
            }
            Format::Text | Format::Markdown => {
                let mut text = self.conditions.join("\n");
                for table in &self.tables {
                    text.push_str("\n\n");
                    text.push_str(&table.lines(format));
                }
                text.push('\n');
                text.extend(self.notes.iter().map(|note| format!("\n- {note}")));
                if format == Format::Text { text.replace("**", "") } else { text }
            }
        }
    }
}

impl Table {
    /// For figures of a busy machine, which say nothing about time.
    pub(super) fn leave_targets_of_time_open(&mut self) {
        if self.is_about_time {
            self.rows.iter_mut().flat_map(|row| &mut row.targets).for_each(|target| target.reached = None);
        }
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| {
                let mut object = Map::new();
                object.insert("name".into(), row.name.as_str().into());
                for (column, figure) in self.columns.iter().zip(&row.figures) {
                    object.insert(column.key.into(), figure.map_or(Value::Null, Value::from));
                }
                let targets = row.targets.iter();
                let targets =
                    targets.map(|target| json!({ "target": target.text, "reached": target.reached }));
                object.insert("targets".into(), targets.collect());
                Value::Object(object)
            })
            .collect();
        json!({ "title": self.title, "rows": rows, "notes": self.notes })
    }

    fn lines(&self, format: Format) -> String {
        let markdown = format == Format::Markdown;
        let mut rows = vec![self.header()];
        rows.extend(self.rows.iter().map(|row| self.cells(row)));
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
        let mut lines = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            if markdown {
                lines.push(format!("| {} |", row.join(" | ")));
                if number == 0 {
                    lines.push(format!("|{}", "---|".repeat(row.len())));
                }
                continue;
            }
            let last = row.len() - 1;
            let padded = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
                0 => format!("{cell:<width$}"),
                _ if at == last => cell.clone(),
                _ => format!("{cell:>width$}"),
            });
            lines.push(padded.collect::<Vec<_>>().join("  ").trim_end().to_owned());
        }
        if !self.notes.is_empty() {
            lines.push(String::new());
            lines.extend(self.notes.iter().map(|note| format!("- {note}")));
        }
        lines.join("\n")
    }

    fn header(&self) -> Vec<String> {
        let titles = self.columns.iter().map(|column| column.title.to_owned());
        std::iter::once(self.title.clone()).chain(titles).chain(["target".to_owned()]).collect()
    }

    fn cells(&self, row: &TableRow) -> Vec<String> {
        let figures = self.columns.iter().zip(&row.figures).map(|(column, figure)| match figure {
            Some(figure) => format!("{figure:.*}", column.decimals),
            None => String::new(),
        });
        let targets = row.targets.iter().map(Target::shown).collect::<Vec<_>>().join("; ");
        std::iter::once(row.name.clone()).chain(figures).chain([targets]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let row =
            |name: &str, figures: Vec<Option<f64>>, targets| TableRow { name: name.into(), figures, targets };
        let table = Table {
            key: "start",
            title: "start of /bin/true".into(),
            is_about_time: true,
            columns: vec![
                Column { key: "median_ms", title: "ms", decimals: 2 },
                Column { key: "times_bare", title: "x bare", decimals: 1 },
            ],
            rows: vec![
                row("bare", vec![Some(1.0), Some(1.0)], vec![]),
                row(
                    "ours",
                    vec![Some(2.5), None],
                    vec![
                        Target::at_most(1.2, "x bubblewrap", Some(1.2)),
                        Target::at_most(2.2, "x the floor", Some(2.21)),
                        Target::at_least(0.8, "of bubblewrap's", None),
                    ],
                ),
            ],
            notes: vec!["a note".into()],
        };
        Report { conditions: vec!["**here**".into()], tables: vec![table], notes: vec!["last".into()] }
    }

    #[test]
    fn markdown_has_every_cell_and_says_what_is_reached() {
        let expected = "**here**\n\n\
            | start of /bin/true | ms | x bare | target |\n\
            |---|---|---|---|\n\
            | bare | 1.00 | 1.0 |  |\n\
            | ours | 2.50 |  | at most 1.2 x bubblewrap: reached; at most 2.2 x the floor: **not reached**; \
            at least 0.8 of bubblewrap's: not known |\n\n\
            - a note\n\n- last";
        assert_eq!(report().render(Format::Markdown), expected);
    }

    #[test]
    fn targets_of_time_are_left_open_and_those_of_memory_are_not() {
        let reached =
            |table: &Table| table.rows[1].targets.iter().filter_map(|target| target.reached).count();
        let mut table = report().tables.remove(0);
        table.is_about_time = false;
        table.leave_targets_of_time_open();
        assert_eq!(reached(&table), 2);
        table.is_about_time = true;
        table.leave_targets_of_time_open();
        assert_eq!(reached(&table), 0);
    }

    #[test]
    fn text_has_columns() {
        let text = report().render(Format::Text);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "start of /bin/true    ms  x bare  target");
        assert_eq!(lines[3], "bare                1.00     1.0");
        assert!(lines[4].starts_with("ours                2.50          at most 1.2"), "{text}");
        assert!(!text.contains("**"), "{text}");
    }

    #[test]
    fn json_has_figures_and_whether_targets_are_reached() {
        let value: Value = serde_json::from_str(&report().render(Format::Json)).unwrap();
        let row = &value["tables"]["start"]["rows"][1];
        assert_eq!(row["median_ms"], 2.5);
        assert_eq!(row["times_bare"], Value::Null);
        let reached: Vec<&Value> =
            row["targets"].as_array().unwrap().iter().map(|target| &target["reached"]).collect();
        assert_eq!(reached, [&Value::Bool(true), &Value::Bool(false), &Value::Null]);
    }
}
