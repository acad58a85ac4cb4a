//! Which process started which, as far as the events say, and what each did.

use std::collections::{BTreeMap, BTreeSet};

use skillsandbox_text::{Glyphs, Keep};

use super::RenderOptions;
use super::row::{EventRow, RowColour};
use super::tally::VerdictCounts;
use super::words::{command_line, counted};
use crate::{Event, EventKind, EventVerdict};

/// Processes that are kept apart.
const MAX_PROCESSES: usize = 4096;
/// Programs of one process that are kept.
const MAX_PROGRAMS: usize = 16;
/// How deep children are indented.
const MAX_DEPTH: usize = 32;

/// One process, and what it did itself.
#[derive(Debug, Default)]
pub(super) struct ProcessNode {
    parent: Option<u32>,
    inner: Option<u32>,
    pub(super) binary: Option<String>,
    /// What it executed, or tried to.
    pub(super) programs: Vec<(String, Option<EventVerdict>)>,
    pub(super) more_programs: u64,
    pub(super) counts: VerdictCounts,
}

/// The processes of a run. Every event is counted in exactly one place: at its process, in `unnamed` or in `left_out`.
#[derive(Debug, Default)]
pub(super) struct TracedProcessTree {
    nodes: BTreeMap<u32, ProcessNode>,
    /// What no event says the process of: what was folded for several, and what the sandbox itself says.
    pub(super) unnamed: VerdictCounts,
    /// What those did for which there was no room.
    pub(super) left_out: VerdictCounts,
}

/// A process at its place in the tree.
pub(super) struct TreeRow<'a> {
    pub(super) pid: u32,
    pub(super) depth: usize,
    pub(super) node: &'a ProcessNode,
}

impl TracedProcessTree {
    pub(super) fn add(&mut self, event: &Event) {
        let Some(process) = &event.process else { return self.unnamed.add(event) };
        if !self.nodes.contains_key(&process.pid) && self.nodes.len() >= MAX_PROCESSES {
            return self.left_out.add(event);
        }
        let node = self.nodes.entry(process.pid).or_default();
        node.parent = node.parent.or(process.parent.filter(|parent| *parent != process.pid));
        node.inner = node.inner.or(process.inner_pid);
        // What it is by now: before it executed its program, it was the one that launches it.
        node.binary = process.binary.clone().or_else(|| node.binary.take());
        node.counts.add(event);
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
    pub(super) fn rows(&self) -> Vec<TreeRow<'_>> {
        let mut children: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
        for (pid, node) in &self.nodes {
            let parent = node.parent.filter(|parent| self.nodes.contains_key(parent));
            children.entry(parent).or_default().push(*pid);
        }
        let mut done = BTreeSet::new();
        let mut rows = Vec::new();
        let roots = children.get(&None).cloned().unwrap_or_default();
        // Those of a ring come last: nobody above them is a root.
        for root in roots.into_iter().chain(self.nodes.keys().copied()) {
            let mut waiting = vec![(root, 0)];
            while let Some((pid, depth)) = waiting.pop() {
                let Some(node) = self.nodes.get(&pid).filter(|_| done.insert(pid)) else { continue };
                rows.push(TreeRow { pid, depth: depth.min(MAX_DEPTH), node });
                let below = children.get(&Some(pid)).map(Vec::as_slice).unwrap_or_default();
                waiting.extend(below.iter().rev().map(|child| (*child, depth + 1)));
            }
        }
        rows
    }

    /// What all of it adds up to.
    pub(super) fn total(&self) -> VerdictCounts {
        let nodes = self.nodes.values().map(|node| node.counts);
        nodes.chain([self.unnamed, self.left_out]).fold(VerdictCounts::default(), VerdictCounts::plus)
    }

    /// The tree, and what it adds up to.
    pub(super) fn write(&self, out: &mut String, look: &RenderOptions) {
        for row in self.rows() {
            row.write(out, look);
        }
        for (words, counts) in [
            ("no process named", self.unnamed),
            ("further processes", self.left_out),
            ("all together", self.total()),
        ] {
            if counts.total() > 0 {
                let mut line = EventRow::new(out, look);
                line.ours(&format!("  {words}"), RowColour::Dim);
                figures(&mut line, counts);
                line.end();
            }
        }
    }
}

impl TreeRow<'_> {
    fn write(&self, out: &mut String, look: &RenderOptions) {
        let indent = "   ".repeat(self.depth);
        let branch = match (self.depth, look.glyphs) {
            (0, _) => "",
            (_, Glyphs::Unicode) => "└─ ",
            (_, Glyphs::Ascii) => "`- ",
        };
        let mut line = EventRow::new(out, look);
        line.ours(&format!("  {indent}{branch}"), RowColour::Dim)
            .ours(&format!("{}", self.pid), RowColour::Cyan);
        if let Some(inner) = self.node.inner {
            line.ours(&format!(" ({inner} inside)"), RowColour::Dim);
        }
        let binary = self.node.binary.as_deref().unwrap_or("?");
        line.ours(" ", RowColour::None).theirs(binary, 60, Keep::Ends, RowColour::Bold);
        figures(&mut line, self.node.counts);
        line.end();
        for (program, verdict) in &self.node.programs {
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
        if self.node.more_programs > 0 {
            super::tables::nothing(out, look, &format!("{indent}     and {} more", self.node.more_programs));
        }
    }
}

fn figures(line: &mut EventRow<'_>, counts: VerdictCounts) {
    line.ours(&format!("  {}", counted(counts.total(), "event")), RowColour::Dim);
    if counts.denied > 0 {
        line.ours(&format!(", {} denied", counts.denied), RowColour::Red);
    }
    if counts.unknown > 0 {
        line.ours(&format!(", {} unknown", counts.unknown), RowColour::Red);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PROCESSES, TracedProcessTree};
    use crate::render::tally::{TraceTally, VerdictCounts};
    use crate::{Event, EventKind, EventVerdict, OutputLine, TracedProcess};
    use skillsandbox_terms::FileOperation;

    #[test]
    fn the_counts_of_the_tree_add_up_to_those_of_the_trace() {
        let verdicts = [
            Some(EventVerdict::Allowed),
            Some(EventVerdict::Denied),
            Some(EventVerdict::Failed),
            Some(EventVerdict::Unknown),
            None,
        ];
        let (mut tree, mut tally) = (TracedProcessTree::default(), TraceTally::default());
        for number in 0..u32::try_from(MAX_PROCESSES).unwrap() + 100 {
            let what = EventKind::File { operation: FileOperation::Read, path: "/a".to_owned(), to: None };
            let mut event = Event::new(what);
            event.verdict = verdicts[number as usize % verdicts.len()];
            event.count = u64::from(number % 7) + 1;
            // Some in a ring, some of an unknown parent, some of nobody.
            let mut process = TracedProcess::new(number, None);
            process.parent = Some(number ^ 1);
            event.process = (number % 5 != 0).then_some(process);
            for event in [event, Event::new(EventKind::Stdout(OutputLine::new("line")))] {
                tree.add(&event);
                tally.add(&event);
            }
        }
        let rows = tree.rows();
        let of_rows =
            rows.iter().map(|row| row.node.counts).fold(VerdictCounts::default(), VerdictCounts::plus);
        assert_eq!(of_rows.plus(tree.unnamed).plus(tree.left_out), tally.all);
        assert_eq!(tree.total(), tally.all);
        assert!(tree.unnamed.total() > 0 && tally.all.unknown > 0);
    }
}
