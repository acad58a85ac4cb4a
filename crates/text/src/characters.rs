//! Characters that a reader does not see, or that change what the characters around them look like.
//!
//! One table of ranges, each with what is in it. Every question below is asked of that table, so two parts of a program cannot
//! disagree about a character. A test compares it with Unicode's own properties, character by character.

/// What a character of the table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterKind {
    /// C0, DEL and C1: they move the cursor, or do something else to a terminal.
    Control,
    /// A space that is not U+0020.
    Space,
    /// Ends a line or a paragraph.
    Separator,
    /// Unicode's `Bidi_Control`: changes the order in which characters are shown.
    Bidi,
    /// Unicode's `Join_Control`: Persian, the scripts of India and emoji need them.
    Joiner,
    /// Unicode's `Variation_Selector`: chooses how the character before it is drawn.
    Selector,
    /// A tag: an ASCII character that nobody sees.
    Tag,
    /// A letter of Hangul that stands for a missing one, and is drawn as nothing.
    Filler,
    /// Drawn as nothing, though no property of Unicode says so.
    Blank,
    /// Any other character of Unicode's `Default_Ignorable_Code_Point`.
    Ignorable,
    /// Begins, parts or ends a note between lines.
    Annotation,
    /// A format character that is drawn itself, or arranges others: signs of Arabic numbers, joiners of hieroglyphs.
    Format,
    /// Private use: a font may draw anything.
    Private,
    /// Not a character, or in a plane that has none.
    Unassigned,
}

use CharacterKind::{
    Annotation, Bidi, Blank, Control, Filler, Format, Ignorable, Joiner, Private, Selector, Separator, Space,
    Tag, Unassigned,
};

/// First and last character of each range, in order, and what they are. The last two of every plane are left out:
/// [`kind`] knows them.
#[rustfmt::skip]
const TABLE: &[(char, char, CharacterKind)] = &[
    ('\0', '\u{1f}', Control),
    ('\u{7f}', '\u{9f}', Control),
    ('\u{a0}', '\u{a0}', Space),
    // Soft hyphen; combining grapheme joiner.
    ('\u{ad}', '\u{ad}', Ignorable),
    ('\u{34f}', '\u{34f}', Ignorable),
    ('\u{600}', '\u{605}', Format),
    ('\u{61c}', '\u{61c}', Bidi),
    ('\u{6dd}', '\u{6dd}', Format),
    ('\u{70f}', '\u{70f}', Format),
    ('\u{890}', '\u{891}', Format),
    ('\u{8e2}', '\u{8e2}', Format),
    ('\u{115f}', '\u{1160}', Filler),
    ('\u{1680}', '\u{1680}', Space),
    // Vowels of Khmer that are not drawn.
    ('\u{17b4}', '\u{17b5}', Ignorable),
    // Mongolian: selectors, and the separator of vowels between them.
    ('\u{180b}', '\u{180d}', Selector),
    ('\u{180e}', '\u{180e}', Ignorable),
    ('\u{180f}', '\u{180f}', Selector),
    ('\u{2000}', '\u{200a}', Space),
    // Zero-width space.
    ('\u{200b}', '\u{200b}', Ignorable),
    ('\u{200c}', '\u{200d}', Joiner),
    ('\u{200e}', '\u{200f}', Bidi),
    ('\u{2028}', '\u{2029}', Separator),
    ('\u{202a}', '\u{202e}', Bidi),
    ('\u{202f}', '\u{202f}', Space),
    ('\u{205f}', '\u{205f}', Space),
    // Word joiner and invisible operators; isolates; what Unicode has given up.
    ('\u{2060}', '\u{2065}', Ignorable),
    ('\u{2066}', '\u{2069}', Bidi),
    ('\u{206a}', '\u{206f}', Ignorable),
    // Braille without a dot.
    ('\u{2800}', '\u{2800}', Blank),
    ('\u{3000}', '\u{3000}', Space),
    ('\u{3164}', '\u{3164}', Filler),
    ('\u{e000}', '\u{f8ff}', Private),
    ('\u{fdd0}', '\u{fdef}', Unassigned),
    ('\u{fe00}', '\u{fe0f}', Selector),
    // Byte order mark.
    ('\u{feff}', '\u{feff}', Ignorable),
    ('\u{ffa0}', '\u{ffa0}', Filler),
    ('\u{fff0}', '\u{fff8}', Ignorable),
    ('\u{fff9}', '\u{fffb}', Annotation),
    ('\u{110bd}', '\u{110bd}', Format),
    ('\u{110cd}', '\u{110cd}', Format),
    ('\u{13430}', '\u{1343f}', Format),
    // The filler of Khitan.
    ('\u{16fe4}', '\u{16fe4}', Blank),
    // Shorthand and music: format controls; a note head that is not drawn.
    ('\u{1bca0}', '\u{1bca3}', Ignorable),
    ('\u{1d159}', '\u{1d159}', Blank),
    ('\u{1d173}', '\u{1d17a}', Ignorable),
    ('\u{40000}', '\u{dfffd}', Unassigned),
    ('\u{e0000}', '\u{e001f}', Ignorable),
    ('\u{e0020}', '\u{e007f}', Tag),
    ('\u{e0080}', '\u{e00ff}', Ignorable),
    ('\u{e0100}', '\u{e01ef}', Selector),
    ('\u{e01f0}', '\u{e0fff}', Ignorable),
    ('\u{e1000}', '\u{efffd}', Unassigned),
    ('\u{f0000}', '\u{10ffff}', Private),
];

fn kind(c: char) -> Option<CharacterKind> {
    // What nearly every character is.
    if matches!(c, ' '..='~') {
        return None;
    }
    if u32::from(c) & 0xfffe == 0xfffe {
        return Some(Unassigned);
    }
    let place = TABLE.partition_point(|(_, last, _)| *last < c);
    TABLE.get(place).filter(|(first, ..)| *first <= c).map(|(.., kind)| *kind)
}

/// Whether Unicode calls it `Default_Ignorable_Code_Point`: a program that does not know the character draws nothing.
///
/// ```
/// use skillsandbox_text::is_default_ignorable;
///
/// assert!(is_default_ignorable('\u{200b}') && is_default_ignorable('\u{3164}') && is_default_ignorable('\u{e0041}'));
/// assert!(!is_default_ignorable(' ') && !is_default_ignorable('a'));
/// ```
#[must_use]
pub fn is_default_ignorable(c: char) -> bool {
    matches!(kind(c), Some(Bidi | Joiner | Selector | Tag | Filler | Ignorable))
}

/// Whether nothing is drawn for it: the default ignorables, blanks and fillers, and the marks of notes between lines. Spaces and
/// control characters are not among them.
///
/// ```
/// use skillsandbox_text::is_invisible;
///
/// assert!("\u{ad}\u{200d}\u{2800}\u{fe0f}\u{ffa0}\u{fff9}".chars().all(is_invisible));
/// assert!(!"a \n\u{a0}".chars().any(is_invisible));
/// ```
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(kind(c), Some(Bidi | Joiner | Selector | Tag | Filler | Blank | Ignorable | Annotation))
}

/// Whether it is invisible, moves the cursor, or reorders what a reader sees (Trojan Source, CVE-2021-42574).
///
/// No name, path or setting needs one, and none that a stranger wrote should be printed. Three kinds are left to the caller: line
/// feed and tab, which a text of several lines has; the two selectors that an emoji in a sentence may carry
/// ([`is_emoji_selector`]); and private use.
///
/// ```
/// use skillsandbox_text::is_deceptive;
///
/// assert!("\u{1b}\r\u{202e}\u{200b}\u{2028}\u{3164}".chars().all(is_deceptive));
/// assert!(!"Köln ☀\u{fe0f}\n".chars().any(is_deceptive));
/// ```
#[must_use]
pub fn is_deceptive(c: char) -> bool {
    match kind(c) {
        Some(Control) => !matches!(c, '\n' | '\t'),
        Some(Separator) => true,
        Some(_) => is_invisible(c) && !is_emoji_selector(c),
        None => false,
    }
}

/// Whether a terminal should not be given it as it is: all that is deceptive, every space but the plain one, private use, what is
/// not a character, and line feed and tab too.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    kind(c).is_some()
}

/// Whether nobody can say how it is drawn: private use, what is not a character, and planes that have none.
#[must_use]
pub fn is_private_or_unassigned(c: char) -> bool {
    matches!(kind(c), Some(Private | Unassigned))
}

/// Whether it changes the order in which characters are shown: Unicode's `Bidi_Control`.
#[must_use]
pub fn is_bidi_control(c: char) -> bool {
    kind(c) == Some(Bidi)
}

/// Whether it is one of the two joiners. Persian, the scripts of India and emoji need them; beside Latin letters they only hide.
#[must_use]
pub fn is_joiner(c: char) -> bool {
    kind(c) == Some(Joiner)
}

/// Whether it chooses how the character before it is drawn: Unicode's `Variation_Selector`.
#[must_use]
pub fn is_variation_selector(c: char) -> bool {
    kind(c) == Some(Selector)
}

/// Whether it is one of the two selectors that say whether a character is drawn as text or as an emoji.
#[must_use]
pub fn is_emoji_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

/// Whether it is a tag. Behind a black flag they spell a region; elsewhere they spell what only a machine reads.
#[must_use]
pub fn is_tag(c: char) -> bool {
    kind(c) == Some(Tag)
}

/// Whether it takes the place of a letter or of a space, and is drawn as nothing: the fillers of Hangul, Braille without a dot.
#[must_use]
pub fn is_filler(c: char) -> bool {
    matches!(kind(c), Some(Filler | Blank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unicode_class::of;

    #[test]
    fn the_table_is_in_order() {
        assert!(TABLE.windows(2).all(|pair| pair[0].1 < pair[1].0));
        assert!(TABLE.iter().all(|(first, last, _)| first <= last));
    }

    #[test]
    fn every_character_is_what_unicode_says() {
        let default_ignorable = of(r"\p{Default_Ignorable_Code_Point}");
        let bidi = of(r"\p{Bidi_Control}");
        let joiner = of(r"\p{Join_Control}");
        let selector = of(r"\p{Variation_Selector}");
        let control = of(r"\p{Cc}");
        let space = of(r"[\p{Zs}--\x20]");
        let separator = of(r"[\p{Zl}\p{Zp}]");
        let format = of(r"\p{Cf}");
        let private = of(r"\p{Co}");
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            assert_eq!(is_default_ignorable(c), default_ignorable(c), "{code:x}");
            assert_eq!(is_bidi_control(c), bidi(c), "{code:x}");
            assert_eq!(is_joiner(c), joiner(c), "{code:x}");
            assert_eq!(is_variation_selector(c), selector(c), "{code:x}");
            assert_eq!(kind(c) == Some(Control), control(c), "{code:x}");
            assert_eq!(kind(c) == Some(Space), space(c), "{code:x}");
            assert_eq!(kind(c) == Some(Separator), separator(c), "{code:x}");
            assert_eq!(kind(c) == Some(Private), private(c), "{code:x}");
            assert!(!format(c) || is_hidden(c), "{code:x}");
            // Letters are left alone, but for four that are drawn as nothing.
            let is_letter = c.is_alphanumeric() && !"\u{115f}\u{1160}\u{3164}\u{ffa0}".contains(c);
            assert!(!is_letter || !is_hidden(c), "{code:x}");
            assert!(!is_deceptive(c) || is_hidden(c), "{code:x}");
            assert!(!default_ignorable(c) || is_invisible(c), "{code:x}");
        }
    }

    #[test]
    fn each_question_has_its_own_answer() {
        for (c, invisible, deceptive, hidden) in [
            ('a', false, false, false),
            ('é', false, false, false),
            ('\u{301}', false, false, false),
            ('\n', false, false, true),
            ('\t', false, false, true),
            ('\r', false, true, true),
            ('\u{1b}', false, true, true),
            ('\u{9b}', false, true, true),
            ('\u{a0}', false, false, true),
            ('\u{2028}', false, true, true),
            ('\u{202e}', true, true, true),
            ('\u{200d}', true, true, true),
            ('\u{fe0e}', true, false, true),
            ('\u{fe0f}', true, false, true),
            ('\u{fe00}', true, true, true),
            ('\u{e0100}', true, true, true),
            ('\u{2800}', true, true, true),
            ('\u{3164}', true, true, true),
            ('\u{fff9}', true, true, true),
            ('\u{e0041}', true, true, true),
            ('\u{e0b0}', false, false, true),
            ('\u{600}', false, false, true),
            ('\u{fdd0}', false, false, true),
            ('\u{10ffff}', false, false, true),
        ] {
            assert_eq!(
                (is_invisible(c), is_deceptive(c), is_hidden(c)),
                (invisible, deceptive, hidden),
                "{c:?}"
            );
        }
        assert!(
            is_tag('\u{e0041}') && !is_tag('\u{e0001}') && is_filler('\u{ffa0}') && is_filler('\u{2800}')
        );
    }
}
