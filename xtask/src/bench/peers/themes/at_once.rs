//! How many starts a second there are when 64 are started together.

use anyhow::bail;

use super::super::lineup::{Entry, Part, gather, prepare};
use super::super::options::Theme;
use super::super::table::{Column, Table, TableRow, Target};
use super::super::tools::Tool;
use super::super::turns::{After, in_turns};
use super::{Bench, median_of, ratio, without_failures};

const TOGETHER: u32 = 64;
/// Of bubblewrap's starts a second.
const SHARE_OF_BUBBLEWRAP: f64 = 0.8;

pub(in super::super) fn measure(bench: &mut Bench<'_>) -> Vec<Table> {
    let (entries, mut notes) = gather(Theme::AtOnce, bench.setup, bench.commands, None, &["/bin/true"]);
    let rounds = bench.share(10, 3);
    let times = in_turns(entries.len(), rounds, &mut bench.shuffle, After::WaitForOrphans, |at| {
        start_together(&entries[at]).map(|()| None)
    });
    let a_second = |milliseconds: f64| f64::from(TOGETHER) * 1e3 / milliseconds;
    let [bare, bubblewrap] =
        [Tool::Bare, Tool::Bubblewrap].map(|tool| median_of(tool, &entries, &times).map(a_second));
    let rows = without_failures(entries, times, &mut notes).into_iter().map(|(entry, times)| {
        let median = a_second(times.wall.median());
        let beside = ratio(median, bubblewrap);
        let targets = match entry.part {
            Part::Tool(_) | Part::Run => Vec::new(),
            Part::Exec => vec![Target::at_least(SHARE_OF_BUBBLEWRAP, "of bubblewrap's", beside)],
        };
        let slow = a_second(times.wall.percentile(90));
        let processor = times.processor.median() / f64::from(TOGETHER);
        TableRow {
            name: entry.name,
            figures: vec![Some(median), Some(slow), Some(processor), ratio(median, bare), beside],
            targets,
        }
    });
    vec![Table {
        key: "at_once",
        title: format!("{TOGETHER} started together, medians of {rounds}"),
        is_about_time: true,
        columns: vec![
            Column { key: "starts_a_second", title: "starts a second", decimals: 0 },
            Column { key: "p90_starts_a_second", title: "p90 (slow)", decimals: 0 },
            Column { key: "processor_ms", title: "processor ms each", decimals: 2 },
            Column { key: "share_of_bare", title: "of bare", decimals: 2 },
            Column { key: "share_of_bubblewrap", title: "of bubblewrap", decimals: 2 },
        ],
        rows: rows.collect(),
        notes,
    }]
}

/// Waits for all that were started, also where one could not be.
fn start_together(entry: &Entry) -> anyhow::Result<()> {
    let started: Vec<_> =
        (0..TOGETHER).map(|_| prepare(entry)?.spawn().map_err(anyhow::Error::from)).collect();
    let ended: Vec<_> = started.into_iter().map(|child| anyhow::Ok(child?.wait()?)).collect();
    let failed: Vec<String> = ended
        .into_iter()
        .filter_map(|status| match status {
            Ok(status) => (!status.success()).then(|| status.to_string()),
            Err(error) => Some(error.to_string()),
        })
        .collect();
    if let Some(first) = failed.first() {
        bail!("{} of {TOGETHER} did not end well: {first}", failed.len());
    }
    Ok(())
}
