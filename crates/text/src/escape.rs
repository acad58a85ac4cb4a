//! Text that a skill had a hand in, for a terminal.
//!
//! A path, an argument, a name, a line of output: whoever wrote the skill chose every character of it, and would like the
//! reader to see something else. So nothing that moves the cursor, reorders, hides or imitates is ever written. What is
//! left out stands there as an escape, and the escape says exactly what it was: [`Escape::undo`] gives the text back.
//!
//! - Controls, separators, every space but the plain one, what has no glyph, private places and
//!   characters that reorder become `\u{…}`, or `\n`, `\r`, `\t`.
//! - A backslash becomes two, so that no text can look like an escape.
//! - The ellipsis `…` is written for what was cut and for nothing else; one in the text becomes `\u{2026}`.
//! - Letters that are written from right to left become escapes too. Terminals disagree about the order of such a line, and
//!   a line whose order depends on the terminal can be made to say two things. (The HTML page shows them: a browser keeps
//!   them apart.)
//! - Marks that are put over other characters stay, three at a time and never first: more would run into other lines.

use unicode_width::UnicodeWidthChar as _;

use crate::characters::is_hidden;

/// Marks over one character that are shown as they are.
const MAX_MARKS: usize = 3;

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Glyphs {
    /// Letters of every script, and icons.
    #[default]
    Unicode,
    /// The 95 of ASCII. Everything else becomes an escape.
    Ascii,
}

impl Glyphs {
    /// What stands for the part that was cut. In ASCII an escape that no text becomes: after a backslash that is not itself
    /// escaped, there is never a dot.
    #[must_use]
    pub fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "\\...",
        }
    }
}

/// Which end of a text that is too long is worth seeing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// How it begins.
    Start,
    /// Both: padding in the middle of a path cannot push its end out of sight.
    Ends,
}

/// How text is made harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Escape {
    glyphs: Glyphs,
    /// Whether backslashes in the text are escapes already, as in a line of a trace.
    has_escapes: bool,
}

impl Escape {
    /// For text as it is.
    #[must_use]
    pub fn text(glyphs: Glyphs) -> Self {
        Self { glyphs, has_escapes: false }
    }

    /// For text in which bytes are `\xNN` and a backslash is `\\` already.
    #[must_use]
    pub fn line(glyphs: Glyphs) -> Self {
        Self { glyphs, has_escapes: true }
    }

    /// All of it.
    #[must_use]
    pub fn whole(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut marks = Marks::default();
        for c in text.chars() {
            self.push(&mut out, c, &mut marks);
        }
        out
    }

    /// As much of it as surely fits into so many columns, with an ellipsis if that is not all.
    #[must_use]
    pub fn cut(self, text: &str, columns: usize, keep: Keep) -> String {
        let head = match self.start(text, columns) {
            (all, None) => return all,
            (head, Some(_)) => head,
        };
        let ellipsis = self.glyphs.ellipsis();
        let room = columns.saturating_sub(most_columns(ellipsis));
        if keep == Keep::Ends && room >= 8 {
            let (head, _) = self.start(text, room / 3);
            let tail = self.tail(text, room - room / 3);
            return head + ellipsis + &tail;
        }
        // The head of the whole may end where the ellipsis has to go.
        drop(head);
        let (head, _) = self.start(text, room);
        let mut cut = head + ellipsis;
        if most_columns(&cut) > columns {
            cut = ".".repeat(columns.min(1));
        }
        cut
    }

    /// The beginning that fits, and where the rest begins if there is one.
    fn start(self, text: &str, columns: usize) -> (String, Option<usize>) {
        let mut out = String::new();
        let mut marks = Marks::default();
        let mut used = 0;
        for (at, c) in text.char_indices() {
            let before = out.len();
            self.push(&mut out, c, &mut marks);
            used += out.get(before..).map_or(0, most_columns);
            if used > columns {
                out.truncate(before);
                return (out, Some(at));
            }
        }
        (out, None)
    }

    /// The end that fits.
    fn tail(self, text: &str, columns: usize) -> String {
        let mut at = text.len();
        let mut used = 0;
        for (start, c) in text.char_indices().rev() {
            let mut one = String::new();
            // By itself a mark is longer than among others, so this is never too little.
            self.push(&mut one, c, &mut Marks::default());
            used += most_columns(&one);
            if used > columns {
                break;
            }
            at = start;
        }
        // Not in the middle of an escape that the text had before, which would be another one: `\x1b` from its `x`.
        if self.has_escapes {
            at = after_escape(text, at);
        }
        text.get(at..).map(|tail| self.whole(tail)).unwrap_or_default()
    }

    fn push(self, out: &mut String, c: char, marks: &mut Marks) {
        let is_kept = match c {
            '\\' => self.has_escapes,
            ' '..='~' => true,
            _ => self.glyphs == Glyphs::Unicode && !is_hidden(c) && !is_right_to_left(c) && c != '…',
        };
        if is_kept && marks.take(c) {
            out.push(c);
            return;
        }
        marks.no_base();
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.extend(c.escape_unicode()),
        }
    }

    /// The text that was made harmless, or `None` if this is no such text, or not all of it.
    #[must_use]
    pub fn undo(self, shown: &str) -> Option<String> {
        let mut text = String::with_capacity(shown.len());
        let mut rest = shown;
        while let Some(at) = rest.find(['\\', '…']) {
            text.push_str(rest.get(..at)?);
            rest = rest.get(at..)?;
            let escape = rest.strip_prefix('\\')?;
            let kind = escape.chars().next()?;
            rest = escape.get(kind.len_utf8()..)?;
            match kind {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                'u' => {
                    let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                    text.push(char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
                    rest = after;
                }
                '\\' if self.has_escapes => text.push_str("\\\\"),
                '\\' => text.push('\\'),
                'x' if self.has_escapes => text.push_str("\\x"),
                _ => return None,
            }
        }
        text.push_str(rest);
        Some(text)
    }
}

/// Marks since the last character that has a place of its own.
#[derive(Default)]
struct Marks {
    has_base: bool,
    count: usize,
}

impl Marks {
    /// Whether this character may be shown after those before it.
    fn take(&mut self, c: char) -> bool {
        if c.width() != Some(0) {
            *self = Self { has_base: true, count: 0 };
            return true;
        }
        self.count += 1;
        self.has_base && self.count <= MAX_MARKS
    }

    fn no_base(&mut self) {
        *self = Self::default();
    }
}

/// Where the next character begins that is no part of an escape around `at`.
fn after_escape(text: &str, at: usize) -> usize {
    let Some(before) = text.get(..at) else { return at };
    let near = text.floor_char_boundary(before.len().saturating_sub(3));
    for start in near..at {
        if text.as_bytes().get(start) != Some(&b'\\') {
            continue;
        }
        let backslashes = before.get(..start).map_or(0, |b| b.len() - b.trim_end_matches('\\').len());
        if backslashes % 2 == 0 {
            let length = if text.as_bytes().get(start + 1) == Some(&b'x') { 4 } else { 2 };
            if start + length > at {
                return text.floor_char_boundary((start + length).min(text.len()));
            }
        }
    }
    at
}

/// Most columns that a terminal can give to a text: some count a character of several scripts as two.
#[must_use]
pub fn most_columns(text: &str) -> usize {
    text.chars().map(|c| c.width_cjk().unwrap_or(0).max(c.width().unwrap_or(0))).sum()
}

/// Columns that most terminals give to a text.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Whether a character is of a script that is written from right to left, or of a block kept for one.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Escape, Glyphs, Keep, columns, is_right_to_left, most_columns};
    use crate::characters::is_hidden;
    use crate::unicode_class::of;

    #[test]
    fn what_could_deceive_is_escaped_and_the_rest_is_left() {
        for (text, shown) in [
            ("/tmp/weather-cache/Köln.json", "/tmp/weather-cache/Köln.json"),
            ("東京 🙂 Ω", "東京 🙂 Ω"),
            ("a\u{1b}[2J\u{1b}]0;x\u{7}b", "a\\u{1b}[2J\\u{1b}]0;x\\u{7}b"),
            ("one\r\ntwo\tthree", "one\\r\\ntwo\\tthree"),
            ("\u{9b}31m \u{85} \u{7f}", "\\u{9b}31m \\u{85} \\u{7f}"),
            ("exe.\u{202e}txt", "exe.\\u{202e}txt"),
            ("\u{2066}x\u{2069}\u{200f}", "\\u{2066}x\\u{2069}\\u{200f}"),
            ("pass\u{200b}word\u{2060}\u{feff}", "pass\\u{200b}word\\u{2060}\\u{feff}"),
            ("\u{e0041}\u{e007f} \u{fe0f}", "\\u{e0041}\\u{e007f} \\u{fe0f}"),
            ("a\u{2028}b\u{2029}c\u{b}d", "a\\u{2028}b\\u{2029}c\\u{b}d"),
            ("a\u{a0}b\u{3000}c", "a\\u{a0}b\\u{3000}c"),
            ("\\u{1b} and \\n", "\\\\u{1b} and \\\\n"),
            ("cut here… not", "cut here\\u{2026} not"),
            ("\u{5d0}\u{5d1}", "\\u{5d0}\\u{5d1}"),
            ("e\u{301}", "e\u{301}"),
            ("\u{301}e", "\\u{301}e"),
            ("a\u{301}\u{302}\u{303}\u{304}", "a\u{301}\u{302}\u{303}\\u{304}"),
            ("\u{ffff}\u{e0b0}\u{115f}", "\\u{ffff}\\u{e0b0}\\u{115f}"),
        ] {
            let escape = Escape::text(Glyphs::Unicode);
            assert_eq!(escape.whole(text), shown);
            assert_eq!(escape.undo(shown).as_deref(), Some(text));
        }
        assert_eq!(Escape::text(Glyphs::Ascii).whole("Köln…"), "K\\u{f6}ln\\u{2026}");
    }

    #[test]
    fn a_line_keeps_the_escapes_it_has() {
        let escape = Escape::line(Glyphs::Unicode);
        assert_eq!(escape.whole("\\xff \\\\ \u{1b}"), "\\xff \\\\ \\u{1b}");
        assert_eq!(escape.undo("\\xff \\\\ \\u{1b}").as_deref(), Some("\\xff \\\\ \u{1b}"));
    }

    #[test]
    fn a_cut_says_so_and_keeps_what_matters() {
        let escape = Escape::text(Glyphs::Unicode);
        assert_eq!(escape.cut("short", 5, Keep::Start), "short");
        assert_eq!(escape.cut("longer", 5, Keep::Start), "lon…");
        let path = format!("/tmp/{}/../../etc/shadow", "a".repeat(4096));
        let shown = escape.cut(&path, 40, Keep::Ends);
        assert!(shown.starts_with("/tmp/aaa") && shown.ends_with("/../../etc/shadow"), "{shown}");
        // An escape is never cut in two.
        for columns in 0..40 {
            let shown = escape.cut("ab\u{202e}cd\u{1b}ef\\gh", columns, Keep::Start);
            assert!(escape.undo(shown.trim_end_matches('…').trim_end_matches('.')).is_some(), "{shown}");
        }
    }

    #[test]
    fn the_tail_of_a_line_does_not_begin_inside_an_escape() {
        let escape = Escape::line(Glyphs::Unicode);
        let text = format!("{}{}", "\\xff".repeat(40), "\\\\".repeat(5));
        for columns in 10..80 {
            let shown = escape.cut(&text, columns, Keep::Ends);
            let (head, tail) = shown.split_once('…').unwrap();
            for part in [head, tail] {
                let rest = part.replace("\\\\", "").replace("\\xff", "");
                assert!(rest.chars().all(|c| "\\xf".contains(c)) && rest.len() < 4, "{columns}: {shown}");
            }
            let rest = tail.replace("\\\\", "").replace("\\xff", "");
            assert_eq!(rest, "", "{columns}: {shown}");
        }
    }

    #[test]
    fn every_letter_of_a_script_from_right_to_left_is_known() {
        let scripts = "Hebrew Arabic Syriac Thaana Nko Samaritan Mandaic Adlam Mende_Kikakui Hanifi_Rohingya Old_Hungarian \
            Phoenician Imperial_Aramaic Lydian Kharoshthi Avestan Manichaean Yezidi Sogdian Cypriot Nabataean Hatran";
        let scripts: String = scripts.split_whitespace().map(|script| format!("\\p{{{script}}}")).collect();
        let right_to_left = of(&format!("[[{scripts}]&&\\p{{Alphabetic}}]"));
        for c in '\0'..=char::MAX {
            let is_known = is_hidden(c) || is_right_to_left(c);
            assert!(!right_to_left(c) || is_known, "{:x}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back(text in any::<String>(), ascii in any::<bool>()) {
            let escape = Escape::text(if ascii { Glyphs::Ascii } else { Glyphs::Unicode });
            let shown = escape.whole(&text);
            prop_assert_eq!(escape.undo(&shown), Some(text));
            let is_bad = |c: char| is_hidden(c) || is_right_to_left(c) || c == '…' || (ascii && !c.is_ascii());
            prop_assert!(!shown.chars().any(is_bad), "{shown:?}");
        }

        #[test]
        fn a_cut_fits_and_the_ellipsis_is_ours(
            text in "[a-z\\\\…\u{301}\u{1b}\u{5d0}東🙂.]{0,60}",
            room in 4usize..60,
            ends in any::<bool>(),
            ascii in any::<bool>(),
        ) {
            let glyphs = if ascii { Glyphs::Ascii } else { Glyphs::Unicode };
            let escape = Escape::text(glyphs);
            let keep = if ends { Keep::Ends } else { Keep::Start };
            let shown = escape.cut(&text, room, keep);
            prop_assert!(most_columns(&shown) <= room, "{shown:?}");
            prop_assert!(columns(&shown) <= most_columns(&shown));
            match escape.undo(&shown) {
                Some(all) => prop_assert_eq!(all, text),
                None => prop_assert!(shown.contains(glyphs.ellipsis()), "{shown:?}"),
            }
        }
    }
}
