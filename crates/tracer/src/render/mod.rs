//! A trace for people: as it happens, afterwards on a terminal, and as a page.
//!
//! Nothing in here decides anything, and nothing a skill chose is written as it is: see [`Escape`].

pub mod html;
pub mod text;
pub mod watch;

mod row;
mod story;
mod tables;
mod tally;
mod tree;
pub(crate) mod words;

use jiff::tz::TimeZone;

pub use skillsandbox_text::{Escape, Glyphs, Keep};
pub use watch::LiveView;

/// Columns of a line where there is no terminal to ask: enough for a path, and too few to drown a log in one.
const MOST_COLUMNS: usize = 400;

/// Whether colours are used. The caller knows whether it writes to a terminal, and what the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextStyle {
    /// Text only.
    #[default]
    Plain,
    /// With the colours that every terminal has.
    Colour,
}

/// How a trace is shown as text: colours, glyphs, width, time zone.
#[derive(Debug, Clone)]
pub struct RenderOptions {
    style: TextStyle,
    glyphs: Glyphs,
    columns: usize,
    zone: TimeZone,
}

impl Default for RenderOptions {
    /// Plain, with icons, in UTC, with no terminal's width to keep to.
    fn default() -> Self {
        Self { style: TextStyle::Plain, glyphs: Glyphs::Unicode, columns: MOST_COLUMNS, zone: TimeZone::UTC }
    }
}

impl RenderOptions {
    /// With or without colours.
    #[must_use]
    pub fn style(mut self, style: TextStyle) -> Self {
        self.style = style;
        self
    }

    /// With icons and letters of every script, or with ASCII only.
    #[must_use]
    pub fn glyphs(mut self, glyphs: Glyphs) -> Self {
        self.glyphs = glyphs;
        self
    }

    /// The width of the terminal, of 20 columns at least. No line is longer: one that wrapped could begin another that looks
    /// like ours.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns.clamp(20, MOST_COLUMNS);
        self
    }

    /// Where the clock is, for the times.
    #[must_use]
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }
}
