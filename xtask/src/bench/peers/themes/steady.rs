//! What it costs to go on: the same work by its own clock, so that the start is not in it.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, bail};

use super::super::lineup::{Entry, Part, gather, prepare};
use super::super::options::Theme;
use super::super::table::{Column, Table, TableRow, Target};
use super::super::tools::Tool;
use super::super::turns::{After, in_turns};
use super::{Bench, median_of, ratio, without_failures};

const PYTHON: &str = "/usr/bin/python3";

/// What is done, and how much slower than bare it may be.
struct Work {
    key: &'static str,
    title: &'static str,
    script: &'static str,
    target: f64,
}

const WORKS: [Work; 3] = [
    Work {
        key: "imports",
        title: "imports of Python",
        script: "import json, re, asyncio, ssl, sqlite3, http.client, email, unittest, decimal, xml.etree.ElementTree",
        target: 1.1,
    },
    Work {
        key: "reads",
        title: "2,000 small files opened and read",
        script: "for number in range(2000):\n with open('%s/%d' % (folder, number % 100)) as file: file.read()",
        target: 2.5,
    },
    Work {
        key: "spawns",
        title: "300 spawns of /bin/true",
        script: "import subprocess\nt = time.perf_counter()\nfor _ in range(300): subprocess.run(['/bin/true'])",
        target: 1.45,
    },
];

pub(in super::super) fn measure(bench: &mut Bench<'_>) -> Vec<Table> {
    if !Path::new(PYTHON).exists() {
        let note = format!("there is no {PYTHON}: nothing to compare");
        let title = "going on".to_owned();
        return vec![Table {
            key: "steady",
            is_about_time: true,
            title,
            columns: Vec::new(),
            rows: Vec::new(),
            notes: vec![note],
        }];
    }
    WORKS.iter().map(|work| measure_work(bench, work)).collect()
}

/// Says how many seconds the work took. Its files are on the disk for all, in the one folder that may be written.
fn script(work: &Work, folder: &Path) -> String {
    format!(
        "import os, tempfile, time\nfolder = tempfile.mkdtemp(dir='{}')\n\
         for number in range(100):\n with open('%s/%d' % (folder, number), 'w') as file: file.write('x' * 2000)\n\
         t = time.perf_counter()\n{}\nt = time.perf_counter() - t\n\
         for number in range(100): os.remove('%s/%d' % (folder, number))\nos.rmdir(folder)\nprint(t)",
        folder.display(),
        work.script
    )
}

fn measure_work(bench: &mut Bench<'_>, work: &Work) -> Table {
    let folder = &bench.setup.work;
    let script = script(work, folder);
    let line = [PYTHON, "-c", &script];
    let (entries, mut notes) = gather(Theme::Steady, bench.setup, bench.commands, Some(folder), &line);
    let runs = bench.share(10, 3);
    let times = in_turns(entries.len(), runs, &mut bench.shuffle, After::WaitForOrphans, |at| {
        own_clock(&entries[at]).map(Some)
    });
    let bare = median_of(Tool::Bare, &entries, &times);
    let rows = without_failures(entries, times, &mut notes).into_iter().map(|(entry, times)| {
        let median = times.wall.median();
        let targets = match entry.part {
            Part::Tool(_) | Part::Run => Vec::new(),
            Part::Exec => vec![Target::at_most(work.target, "x bare", ratio(median, bare))],
        };
        TableRow {
            name: entry.name,
            figures: vec![
                Some(median),
                Some(times.wall.percentile(90)),
                Some(times.processor.median()),
                ratio(median, bare),
            ],
            targets,
        }
    });
    Table {
        key: work.key,
        title: format!("{}, medians of {runs}", work.title),
        is_about_time: true,
        columns: vec![
            Column { key: "median_ms", title: "ms", decimals: 1 },
            Column { key: "p90_ms", title: "p90", decimals: 1 },
            Column { key: "processor_ms", title: "processor ms, start too", decimals: 1 },
            Column { key: "times_bare", title: "x bare", decimals: 2 },
        ],
        rows: rows.collect(),
        notes,
    }
}

/// Milliseconds, by what the work prints.
fn own_clock(entry: &Entry) -> anyhow::Result<f64> {
    let output = prepare(entry)?.stdout(Stdio::piped()).output()?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let seconds: f64 = text.trim().parse().with_context(|| format!("it said `{}`", text.trim()))?;
    Ok(seconds * 1e3)
}
