//! What one start of a command that does nothing costs; and of a program that only says its version.

use super::super::lineup::{Entry, Part, gather, gather_runs, run};
use super::super::options::Theme;
use super::super::table::{Column, Table, TableRow, Target};
use super::super::tools::Tool;
use super::super::turns::{After, in_turns};
use super::{Bench, median_of, ratio, without_failures};

/// `exec` beside bubblewrap and the floor, `run` beside bubblewrap.
const EXEC_BESIDE_BUBBLEWRAP: f64 = 1.2;
const EXEC_BESIDE_FLOOR: f64 = 2.2;
const RUN_BESIDE_BUBBLEWRAP: f64 = 1.4;

pub(in super::super) fn measure(bench: &mut Bench<'_>) -> Vec<Table> {
    vec![starts(bench), versions(bench)]
}

fn starts(bench: &mut Bench<'_>) -> Table {
    let (mut entries, mut notes) = gather(Theme::Start, bench.setup, bench.commands, None, &["/bin/true"]);
    let (runs, more_notes) = gather_runs(bench.setup, bench.commands);
    entries.extend(runs);
    notes.extend(more_notes);
    let times = in_turns(entries.len(), bench.runs, &mut bench.shuffle, After::WaitForOrphans, |at| {
        run(&entries[at]).map(|()| None)
    });
    let [bare, floor, bubblewrap] =
        [Tool::Bare, Tool::Floor, Tool::Bubblewrap].map(|tool| median_of(tool, &entries, &times));
    let rows = without_failures(entries, times, &mut notes).into_iter().map(|(entry, times)| {
        let median = times.wall.median();
        let beside = ratio(median, bubblewrap);
        let targets = match entry.part {
            Part::Tool(_) => Vec::new(),
            Part::Exec => vec![
                Target::at_most(EXEC_BESIDE_BUBBLEWRAP, "x bubblewrap", beside),
                Target::at_most(EXEC_BESIDE_FLOOR, "x the floor", ratio(median, floor)),
            ],
            Part::Run => vec![Target::at_most(RUN_BESIDE_BUBBLEWRAP, "x bubblewrap", beside)],
        };
        let figures = vec![
            Some(median),
            Some(times.wall.percentile(90)),
            Some(times.processor.median()),
            ratio(median, bare),
            beside,
            ratio(median, floor),
        ];
        let name = match entry.part {
            Part::Tool(_) => entry.name,
            Part::Exec => format!("{}, everything on", entry.name),
            Part::Run => format!("{} of a trivial skill, scanned before", entry.name),
        };
        TableRow { name, figures, targets }
    });
    Table {
        key: "start",
        title: format!("start of /bin/true, medians of {}", bench.runs),
        is_about_time: true,
        columns: vec![
            Column { key: "median_ms", title: "ms", decimals: 2 },
            Column { key: "p90_ms", title: "p90", decimals: 2 },
            Column { key: "processor_ms", title: "processor ms", decimals: 2 },
            Column { key: "times_bare", title: "x bare", decimals: 1 },
            Column { key: "times_bubblewrap", title: "x bubblewrap", decimals: 2 },
            Column { key: "times_floor", title: "x floor", decimals: 2 },
        ],
        rows: rows.collect(),
        notes,
    }
}

/// No sandbox: how long a program takes to be there.
fn versions(bench: &mut Bench<'_>) -> Table {
    let mut entries = Vec::new();
    let mut notes = Vec::new();
    match Tool::Bubblewrap.find(bench.setup) {
        Some(program) => entries.push(Entry {
            part: Part::Tool(Tool::Bubblewrap),
            name: "`bwrap --version`".into(),
            words: vec![program.display().to_string(), "--version".into()],
            home: None,
        }),
        None => notes.push("bubblewrap is not here".into()),
    }
    entries.extend(bench.commands.iter().map(|command| Entry {
        part: Part::Exec,
        name: command.row("--version"),
        words: vec![command.path.display().to_string(), "--version".into()],
        home: Some(command.home.clone()),
    }));
    let times = in_turns(entries.len(), bench.runs, &mut bench.shuffle, After::WaitForOrphans, |at| {
        run(&entries[at]).map(|()| None)
    });
    let bubblewrap = median_of(Tool::Bubblewrap, &entries, &times);
    let rows = without_failures(entries, times, &mut notes).into_iter().map(|(entry, times)| {
        let median = times.wall.median();
        TableRow {
            name: entry.name,
            figures: vec![
                Some(median),
                Some(times.wall.percentile(90)),
                Some(times.processor.median()),
                ratio(median, bubblewrap),
            ],
            targets: Vec::new(),
        }
    });
    Table {
        key: "version",
        title: format!("start of the program alone, medians of {}", bench.runs),
        is_about_time: true,
        columns: vec![
            Column { key: "median_ms", title: "ms", decimals: 2 },
            Column { key: "p90_ms", title: "p90", decimals: 2 },
            Column { key: "processor_ms", title: "processor ms", decimals: 2 },
            Column { key: "times_bubblewrap", title: "x bubblewrap", decimals: 2 },
        ],
        rows: rows.collect(),
        notes,
    }
}
