//! The memory of what runs beside a command, at its peak: the launcher and whatever it leaves in the sandbox, not the command itself.
//!
//! The peak of the proportional set size (PSS) of all of them together, which counts what they share once, seen every millisecond from the start to
//! the end; beside it the sum of the peaks of their resident sets, which counts it several times. A process that hides itself from others counts
//! with its whole resident set.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::super::lineup::{Entry, Part, gather, prepare};
use super::super::options::Theme;
use super::super::table::{Column, Table, TableRow, Target};
use super::super::tools::Tool;
use super::super::turns::{After, Figures, in_turns};
use super::{Bench, median_of, ratio, without_failures};

/// What runs in the sandbox, and the name by which it is told from what runs beside it.
const COMMAND: [&str; 2] = ["/bin/sleep", "0.2"];
const COMMAND_NAME: &str = "sleep";
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_mins(1);
/// Of the launcher and what it leaves in the sandbox.
const TARGET_MEGABYTES: f64 = 10.0;

pub(in super::super) fn measure(bench: &mut Bench<'_>) -> Vec<Table> {
    let (entries, mut notes) = gather(Theme::Memory, bench.setup, bench.commands, None, &COMMAND);
    let runs = bench.share(10, 3);
    let mut resident = vec![Figures::default(); entries.len()];
    let mut processes = vec![Figures::default(); entries.len()];
    let mut hidden = BTreeSet::new();
    let times = in_turns(entries.len(), runs, &mut bench.shuffle, After::WaitForOrphans, |at| {
        let peak = watch(&entries[at])?;
        resident[at].push(peak.resident);
        processes[at].push(peak.processes);
        if peak.hidden {
            hidden.insert(entries[at].name.clone());
        }
        Ok(Some(peak.proportional))
    });
    let bubblewrap = median_of(Tool::Bubblewrap, &entries, &times);
    let resident: BTreeMap<String, (Figures, Figures)> =
        entries.iter().map(|entry| entry.name.clone()).zip(resident.into_iter().zip(processes)).collect();
    let rows = without_failures(entries, times, &mut notes).into_iter().map(|(entry, times)| {
        let median = times.wall.median();
        let targets = match entry.part {
            Part::Tool(_) | Part::Run => Vec::new(),
            Part::Exec => vec![Target::at_most(TARGET_MEGABYTES, "MB", Some(median))],
        };
        let (resident, processes) = resident.get(&entry.name).cloned().unwrap_or_default();
        TableRow {
            name: entry.name,
            figures: vec![
                Some(median),
                Some(times.wall.percentile(90)),
                Some(resident.median()),
                Some(processes.median()),
                ratio(median, bubblewrap),
            ],
            targets,
        }
    });
    let rows = rows.collect();
    notes.extend(hidden.into_iter().map(|name| {
        format!("A process of {name} hides its memory from an ordinary user and counts whole: the figure is at most that")
    }));
    vec![Table {
        key: "memory",
        title: format!("peak memory beside the command ({}), medians of {runs}", COMMAND.join(" ")),
        is_about_time: false,
        columns: vec![
            Column { key: "proportional_mb", title: "MB (PSS)", decimals: 1 },
            Column { key: "p90_proportional_mb", title: "p90", decimals: 1 },
            Column { key: "resident_mb", title: "sum of peak RSS, MB", decimals: 1 },
            Column { key: "processes", title: "processes", decimals: 0 },
            Column { key: "times_bubblewrap", title: "x bubblewrap", decimals: 1 },
        ],
        rows,
        notes,
    }]
}

/// In megabytes.
struct Peak {
    proportional: f64,
    resident: f64,
    processes: f64,
    /// Whether somebody's proportional size could not be read.
    hidden: bool,
}

/// One look at one process.
#[derive(Debug, Clone, Copy)]
struct Look {
    kibibytes: u32,
    hidden: bool,
}

/// Starts it and looks at it until it ends.
fn watch(entry: &Entry) -> anyhow::Result<Peak> {
    let mut child = prepare(entry)?.spawn()?;
    let mut looks: Vec<BTreeMap<u32, Look>> = Vec::new();
    let mut peaks: BTreeMap<u32, u32> = BTreeMap::new();
    let mut is_command = BTreeSet::new();
    let start = Instant::now();
    let status = loop {
        let mut look = BTreeMap::new();
        for process in tree(child.id()) {
            if name(process).is_none_or(|name| name == COMMAND_NAME) {
                is_command.insert(process);
                continue;
            }
            let Some(peak) = status_field(process, "VmHWM:") else { continue };
            peaks.entry(process).and_modify(|before| *before = peak.max(*before)).or_insert(peak);
            let proportional = proportional(process);
            let resident = status_field(process, "VmRSS:").unwrap_or(0);
            let seen = Look { kibibytes: proportional.unwrap_or(resident), hidden: proportional.is_none() };
            look.insert(process, seen);
        }
        looks.push(look);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > LONGEST {
            child.kill()?;
            child.wait()?;
            bail!("it did not end in a minute");
        }
        std::thread::sleep(BETWEEN_LOOKS);
    };
    if !status.success() {
        bail!("it ended with {status}");
    }
    // A process that became the command was it all the time.
    let beside = |process: &u32| !is_command.contains(process);
    let together = |look: &BTreeMap<u32, Look>| {
        look.iter().filter(|(process, _)| beside(process)).map(|(_, look)| look.kibibytes).sum::<u32>()
    };
    let largest = looks.iter().max_by_key(|look| together(look));
    let count = looks.iter().map(|look| look.keys().filter(|process| beside(process)).count()).max();
    Ok(Peak {
        proportional: largest.map_or(0.0, |look| megabytes(together(look))),
        resident: megabytes(peaks.iter().filter(|(process, _)| beside(process)).map(|(_, peak)| peak).sum()),
        processes: f64::from(u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX)),
        hidden: largest.is_some_and(|look| {
            look.iter().any(|(process, look)| beside(process) && look.hidden && look.kibibytes > 0)
        }),
    })
}

fn megabytes(kibibytes: u32) -> f64 {
    f64::from(kibibytes) * 1024.0 / 1e6
}

/// A process and its descendants, as far as they are still there.
fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(&process) = found.get(at) {
        at += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.filter_map(Result::ok) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
        }
    }
    found
}

fn name(process: u32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{process}/comm")).ok()?.trim_end().to_owned())
}

/// In KiB.
fn status_field(process: u32, field: &str) -> Option<u32> {
    field_of(&fs::read_to_string(format!("/proc/{process}/status")).ok()?, field)
}

fn proportional(process: u32) -> Option<u32> {
    field_of(&fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?, "Pss:")
}

fn field_of(text: &str, field: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix(field))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_beside_the_command_is_seen_and_the_command_is_not() {
        let entry = |words: &[&str]| Entry {
            part: Part::Exec,
            name: "x".into(),
            words: words.iter().map(|&word| word.to_owned()).collect(),
            home: None,
        };
        let alone = watch(&entry(&COMMAND)).unwrap();
        assert_eq!((alone.proportional, alone.resident, alone.processes), (0.0, 0.0, 0.0));
        let shell = watch(&entry(&["/bin/sh", "-c", "sleep 0.2; true"])).unwrap();
        assert!(shell.proportional > 0.0 && shell.resident >= shell.proportional, "{}", shell.resident);
        assert!((shell.processes - 1.0).abs() < 1e-9);
        assert!(watch(&entry(&["/bin/false"])).is_err());
    }

    #[test]
    fn fields_are_read_by_their_names() {
        let text = "Rss:    9 kB\nPss:                6650 kB\nPss_Dirty: 3 kB\n";
        assert_eq!(field_of(text, "Pss:"), Some(6650));
        assert_eq!(field_of(text, "Swap:"), None);
    }
}
