//! One line on a terminal, never wider than it.

use std::fmt::Write as _;

use jiff::Timestamp;
use skillsandbox_text::{Escape, Keep, columns, most_columns};

use super::words::{self, ObjectPart};
use super::{Glyphs, RenderOptions, TextStyle};
use crate::{AttackClass, Event, EventKind, EventVerdict};

/// Below so many columns a line is narrow.
const NARROW: usize = 100;
/// Columns of a sentence that is wrapped.
const MOST_WRAPPED: usize = 1200;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowColour {
    None,
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Cyan,
}

impl RowColour {
    fn code(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Dim => "\u{1b}[2m",
            Self::Bold => "\u{1b}[1m",
            Self::Red => "\u{1b}[1;31m",
            Self::Green => "\u{1b}[32m",
            Self::Yellow => "\u{1b}[33m",
            Self::Cyan => "\u{1b}[36m",
        }
    }
}

/// A line that is being written.
pub(super) struct EventRow<'a> {
    out: &'a mut String,
    look: &'a RenderOptions,
    /// Columns that are surely free.
    left: usize,
}

impl<'a> EventRow<'a> {
    pub(super) fn new(out: &'a mut String, look: &'a RenderOptions) -> Self {
        // The last column stays free: some terminals wrap when it is written.
        Self { out, look, left: look.columns.saturating_sub(1) }
    }

    /// Our own words.
    pub(super) fn ours(&mut self, text: &str, colour: RowColour) -> &mut Self {
        let wanted = most_columns(text);
        if wanted <= self.left {
            self.paint(text, wanted, colour);
        } else {
            self.theirs(text, self.left, Keep::Start, colour);
        }
        self
    }

    /// Our own words, with spaces up to a width.
    pub(super) fn padded(&mut self, text: &str, width: usize, colour: RowColour) -> &mut Self {
        self.ours(text, colour).ours(&" ".repeat(width.saturating_sub(columns(text))), RowColour::None)
    }

    /// Text of unknown origin, within so many columns.
    pub(super) fn theirs(&mut self, text: &str, most: usize, keep: Keep, colour: RowColour) -> &mut Self {
        self.escaped(text, Escape::text(self.look.glyphs), most, keep, colour)
    }

    /// The same, with spaces up to a width.
    pub(super) fn column(&mut self, text: &str, width: usize, colour: RowColour) -> &mut Self {
        let shown = Escape::text(self.look.glyphs).cut(text, width.min(self.left), Keep::Ends);
        let used = columns(&shown);
        self.paint(&shown, most_columns(&shown), colour);
        self.ours(&" ".repeat(width.saturating_sub(used)), RowColour::None)
    }

    fn escaped(
        &mut self,
        text: &str,
        escape: Escape,
        most: usize,
        keep: Keep,
        colour: RowColour,
    ) -> &mut Self {
        let shown = escape.cut(text, most.min(self.left), keep);
        self.paint(&shown, most_columns(&shown), colour);
        self
    }

    fn paint(&mut self, text: &str, used: usize, colour: RowColour) {
        self.left = self.left.saturating_sub(used);
        if self.look.style == TextStyle::Colour && colour != RowColour::None && !text.is_empty() {
            self.out.push_str(colour.code());
            self.out.push_str(text);
            self.out.push_str("\u{1b}[0m");
        } else {
            self.out.push_str(text);
        }
    }

    /// What an event is about, with so many columns left free behind it.
    fn parts(&mut self, parts: &[ObjectPart<'_>], behind: usize, colour: RowColour) {
        let glyphs = self.look.glyphs;
        for (index, part) in parts.iter().enumerate() {
            let free = self.left.saturating_sub(behind);
            // What comes first may not push out what follows.
            let share = if index + 1 < parts.len() && free > 40 { free * 2 / 3 } else { free };
            match part {
                ObjectPart::Ours(text) => {
                    self.escaped(text, Escape::line(glyphs), free, Keep::Start, RowColour::Dim)
                }
                ObjectPart::Text(text) => {
                    self.escaped(text, Escape::text(glyphs), share, Keep::Start, colour)
                }
                ObjectPart::Path(text) => self.escaped(text, Escape::text(glyphs), share, Keep::Ends, colour),
                ObjectPart::Line(text) => {
                    self.escaped(text, Escape::line(glyphs), share, Keep::Start, colour)
                }
            };
        }
    }

    pub(super) fn end(self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
    }
}

/// What stands at the beginning of an event's line besides its time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowLead {
    /// Nothing: it is the live view.
    Live,
    /// Its place in the trace, and who did it.
    Listed,
}

/// An event in one line: time, icon, how it went, what it is, what it is about, what it amounts to.
pub(super) fn event(
    out: &mut String,
    look: &RenderOptions,
    event: &Event,
    classes: &[AttackClass],
    lead: RowLead,
) {
    let mut behind = String::new();
    if event.count > 1 {
        let _ = write!(behind, "  ({} times)", event.count);
    }
    let tags: String =
        classes.iter().map(|class| format!("  [{}]", words::class_name(*class).to_uppercase())).collect();
    let colour = colour(event);
    let mut row = EventRow::new(out, look);
    if lead == RowLead::Listed {
        row.ours(&format!("{:>6} ", format!("#{}", event.sequence)), RowColour::Dim);
    }
    // On a narrow terminal what it is about is worth more than the rest.
    let is_narrow = look.columns < NARROW && lead == RowLead::Listed;
    let clock = clock(event.time, look);
    let clock = if is_narrow { clock.split('.').next().unwrap_or_default() } else { clock.as_str() };
    row.ours(&format!("[{clock}] "), RowColour::Dim);
    row.ours(words::icon(event, look.glyphs), colour).ours(" ", RowColour::None);
    row.padded(words::word(event), 8, colour).padded(words::kind(&event.kind), 10, RowColour::None);
    if let (RowLead::Listed, Some(process)) = (lead, &event.process) {
        let name = process.binary.as_deref().map_or("?", words::base_name);
        let (name, width) =
            if is_narrow { (name.to_owned(), 10) } else { (format!("{name}({})", process.pid), 18) };
        row.column(&name, width, RowColour::Cyan).ours(" ", RowColour::None);
    }
    let object = if matches!(event.kind, EventKind::Stdout(_) | EventKind::Stderr(_)) {
        RowColour::Dim
    } else {
        RowColour::None
    };
    let behind_columns = (most_columns(&behind) + most_columns(&tags)).min(if is_narrow {
        row.left / 3
    } else {
        row.left * 2 / 3
    });
    row.parts(&words::about(event), behind_columns, object);
    row.ours(&behind, RowColour::Dim).ours(&tags, RowColour::Red);
    row.end();
}

fn colour(event: &Event) -> RowColour {
    match (&event.kind, event.verdict) {
        (EventKind::Policy { .. }, _) => RowColour::Cyan,
        (_, Some(EventVerdict::Denied | EventVerdict::Unknown)) => RowColour::Red,
        (_, Some(EventVerdict::Failed)) if words::is_absence(event) => RowColour::Dim,
        (_, Some(EventVerdict::Failed))
        | (EventKind::ResourceLimitHit { .. } | EventKind::Lost { .. }, _) => RowColour::Yellow,
        (_, Some(EventVerdict::Allowed)) => RowColour::Green,
        (_, None) => RowColour::Dim,
    }
}

/// Hours to milliseconds, at the place the reader chose.
pub(super) fn clock(time: Timestamp, look: &RenderOptions) -> String {
    let offset = i64::from(look.zone.to_offset(time).seconds());
    let of_day = (time.as_millisecond() + offset * 1000).rem_euclid(86_400_000);
    let (seconds, milliseconds) = (of_day / 1000, of_day % 1000);
    format!("{:02}:{:02}:{:02}.{milliseconds:03}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A name, and a sentence beside it in as many lines as it takes. The sentence is ours, with names in it.
pub(super) fn wrapped(out: &mut String, look: &RenderOptions, name: &str, text: &str, colour: RowColour) {
    const LEAD: usize = 12;
    // Escaped as a whole, so that no line begins in the middle of an escape.
    let shown = Escape::line(look.glyphs).cut(text, MOST_WRAPPED, Keep::Start);
    for (index, line) in lines(&shown, look.columns.saturating_sub(LEAD + 1)).iter().enumerate() {
        let mut row = EventRow::new(out, look);
        row.padded(if index == 0 { name } else { "" }, LEAD, RowColour::Dim).ours(line, colour);
        row.end();
    }
}

/// Text of unknown origin, indented, in as many lines as it takes.
pub(super) fn wrapped_text(out: &mut String, look: &RenderOptions, indent: usize, text: &str) {
    let shown = Escape::text(look.glyphs).cut(text, MOST_WRAPPED, Keep::Start);
    for line in lines(&shown, look.columns.saturating_sub(indent + 1)) {
        let mut row = EventRow::new(out, look);
        row.ours(&" ".repeat(indent), RowColour::None).ours(&line, RowColour::None);
        row.end();
    }
}

/// Words in lines of so many columns. A word that is longer is cut by whoever writes the line.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if most_columns(line) + 1 + most_columns(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A heading, and the rule below it.
pub(super) fn heading(out: &mut String, look: &RenderOptions, text: &str) {
    out.push('\n');
    let mut row = EventRow::new(out, look);
    let line = if look.glyphs == Glyphs::Unicode { "── " } else { "-- " };
    row.ours(line, RowColour::Dim).ours(text, RowColour::Bold);
    row.end();
}
