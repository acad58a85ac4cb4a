//! A page that is being written: elements are literals of this program, everything else is text.

use skillsandbox_text::{Escape, Glyphs, Keep};

use super::super::words::ObjectPart;

/// Parts of one event that are shown: a policy may have any number of figures.
const MAX_PARTS: usize = 24;

/// A page, or a part of one.
///
/// Only [`Markup::tag`] writes elements, and it takes nothing but what was written into this program.
#[derive(Debug, Default)]
pub(super) struct Markup {
    out: String,
}

impl Markup {
    /// Elements, as they stand in the source.
    pub(super) fn tag(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// A number: in a text or in an attribute.
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.out.push_str(&number.to_string());
        self
    }

    /// Our own words. Names in them are made harmless like any other.
    pub(super) fn ours(&mut self, text: &str) -> &mut Self {
        self.entities(text);
        self
    }

    /// Text of unknown origin, within so many columns.
    pub(super) fn theirs(&mut self, text: &str, most: usize, keep: Keep) -> &mut Self {
        self.entities(&Escape::text(Glyphs::Unicode).cut(text, most, keep));
        self
    }

    /// Words of ours that contain names of others; backslashes stay as they are.
    pub(super) fn sentence(&mut self, text: &str, most: usize) -> &mut Self {
        self.entities(&Escape::line(Glyphs::Unicode).cut(text, most, Keep::Start));
        self
    }

    /// What an event is about.
    pub(super) fn parts(&mut self, parts: &[ObjectPart<'_>], most: usize) -> &mut Self {
        for part in parts.iter().take(MAX_PARTS) {
            match part {
                ObjectPart::Ours(text) => {
                    self.tag("<i>");
                    self.entities(&Escape::line(Glyphs::Unicode).cut(text, most, Keep::Start));
                    self.tag("</i>");
                }
                ObjectPart::Text(text) => {
                    self.theirs(text, most, Keep::Start);
                }
                ObjectPart::Path(text) => {
                    self.theirs(text, most, Keep::Ends);
                }
                ObjectPart::Line(text) => {
                    self.entities(&Escape::line(Glyphs::Unicode).cut(text, most, Keep::Start));
                }
            }
        }
        self
    }

    /// A part that was written by itself.
    pub(super) fn part(&mut self, part: &Self) -> &mut Self {
        self.out.push_str(&part.out);
        self
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.out
    }

    fn entities(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => self.out.push(c),
            }
        }
    }
}
