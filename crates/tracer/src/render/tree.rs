//! Which process started which, as far as the events say.

use std::collections::{BTreeMap, BTreeSet};

use skillsandbox_text::{Glyphs, Keep};

use super::RenderOptions;
use super::row::{EventRow, RowColour};
use super::words::command_line;
use crate::{Event, EventKind, EventVerdict};

/// Processes that are kept apart.
const MAX_PROCESSES: usize = 4096;
/// Programs of one process that are kept.
const MAX_PROGRAMS: usize = 16;
/// How deep children are indented.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Default)]
struct ProcessNode {
    parent: Option<u32>,
    inner: Option<u32>,
    binary: Option<String>,
    /// What it executed, or tried to.
    programs: Vec<(String, Option<EventVerdict>)>,
    more_programs: u64,
    events: u64,
    denied: u64,
}

/// The processes of a run.
#[derive(Debug, Default)]
pub(super) struct TracedProcessTree {
    nodes: BTreeMap<u32, ProcessNode>,
    left_out: u64,
}

impl TracedProcessTree {
    pub(super) fn add(&mut self, event: &Event) {
        let Some(process) = &event.process else { return };
        if !self.nodes.contains_key(&process.pid) && self.nodes.len() >= MAX_PROCESSES {
            self.left_out += 1;
            return;
        }
        let node = self.nodes.entry(process.pid).or_default();
        node.parent = node.parent.or(process.parent.filter(|parent| *parent != process.pid));
        node.inner = node.inner.or(process.inner_pid);
        node.binary = node.binary.take().or_else(|| process.binary.clone());
        node.events = node.events.saturating_add(event.count);
        if event.is_violation() {
            node.denied = node.denied.saturating_add(event.count);
        }
        if let EventKind::Exec { path, argv } = &event.kind {
            if node.programs.len() >= MAX_PROGRAMS {
                node.more_programs += 1;
                return;
            }
            let line = if argv.is_empty() { path.clone() } else { command_line(argv) };
            node.programs.push((line, event.verdict));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Every process once, below the one that started it. A trace that claims a cycle is still shown.
    pub(super) fn write(&self, out: &mut String, look: &RenderOptions) {
        let mut children: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
        for (pid, node) in &self.nodes {
            let parent = node.parent.filter(|parent| self.nodes.contains_key(parent));
            children.entry(parent).or_default().push(*pid);
        }
        let mut done = BTreeSet::new();
        let roots = children.get(&None).cloned().unwrap_or_default();
        // Those of a ring come last: nobody above them is a root.
        for root in roots.into_iter().chain(self.nodes.keys().copied()) {
            let mut waiting = vec![(root, 0)];
            while let Some((pid, depth)) = waiting.pop() {
                if !done.insert(pid) {
                    continue;
                }
                self.line(out, look, pid, depth);
                let below = children.get(&Some(pid)).map(Vec::as_slice).unwrap_or_default();
                waiting.extend(below.iter().rev().map(|child| (*child, depth + 1)));
            }
        }
        if self.left_out > 0 {
            super::tables::nothing(out, look, &format!("and {} of more processes", self.left_out));
        }
    }

    fn line(&self, out: &mut String, look: &RenderOptions, pid: u32, depth: usize) {
        let Some(node) = self.nodes.get(&pid) else { return };
        let indent = "   ".repeat(depth.min(MAX_DEPTH));
        let branch = match (depth, look.glyphs) {
            (0, _) => "",
            (_, Glyphs::Unicode) => "└─ ",
            (_, Glyphs::Ascii) => "`- ",
        };
        let mut line = EventRow::new(out, look);
        line.ours(&format!("  {indent}{branch}"), RowColour::Dim).ours(&format!("{pid}"), RowColour::Cyan);
        if let Some(inner) = node.inner {
            line.ours(&format!(" ({inner} inside)"), RowColour::Dim);
        }
        let binary = node.binary.as_deref().unwrap_or("?");
        line.ours(" ", RowColour::None).theirs(binary, 60, Keep::Ends, RowColour::Bold);
        line.ours(&format!("  {}", super::words::counted(node.events, "event")), RowColour::Dim);
        if node.denied > 0 {
            line.ours(&format!(", {} denied", node.denied), RowColour::Red);
        }
        line.end();
        for (program, verdict) in &node.programs {
            let mut line = EventRow::new(out, look);
            line.ours(&format!("  {indent}     exec "), RowColour::Dim);
            match verdict {
                Some(EventVerdict::Denied) => line.ours("DENIED ", RowColour::Red),
                Some(EventVerdict::Unknown) => line.ours("UNKNOWN ", RowColour::Red),
                Some(EventVerdict::Allowed | EventVerdict::Failed) | None => &mut line,
            };
            line.theirs(program, usize::MAX, Keep::Ends, RowColour::None);
            line.end();
        }
        if node.more_programs > 0 {
            super::tables::nothing(out, look, &format!("{indent}     and {} more", node.more_programs));
        }
    }
}
