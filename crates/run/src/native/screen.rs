//! What a program draws on a terminal of its own, for the user's: drawing passes, everything else that controls a terminal does not.
//!
//! A terminal answers some sequences, and the answer arrives as if it were typed: after the run, in the user's shell. Others set the clipboard,
//! print, rename the window or change how keys work. So there is a list of what passes (moving the cursor, erasing, colours, scrolling, the
//! second screen), and all else is left out, whole, with its parameters and its text.

use std::collections::BTreeSet;

/// Longest sequence that passes: cursor positions and colours take some 40 bytes.
const MAX_SEQUENCE: usize = 128;

/// Digits of a number in a sequence that passes.
const MAX_DIGITS: usize = 4;

/// Letters, colours and the keypad as usual. Says nothing where they are.
const USUAL: &[u8] = b"\x1b>\x1b(B\x0f\x1b[0m";

/// Passes drawing on, as it comes: a sequence may lie across two pieces.
#[derive(Debug, Default)]
pub(crate) struct ScreenFilter {
    state: FilterState,
    /// The sequence so far.
    held: Vec<u8>,
    /// Bytes of a character that are still to come, and the bytes so far.
    character: Vec<u8>,
    expected: usize,
    changed: ScreenChanges,
}

/// What a program has changed on the screen that outlasts it.
#[derive(Debug, Default)]
struct ScreenChanges {
    /// Modes that are not as they usually are.
    modes: BTreeSet<Vec<u8>>,
    /// Whether only a part of the screen scrolls.
    scrolls_part: bool,
    /// Whether a line was begun and not ended.
    mid_line: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum FilterState {
    /// Text.
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte, such as `(`.
    Charset,
    /// After ESC [.
    Control,
    /// In a text that ends with ESC \ or BEL: titles, the clipboard, questions, pictures. None of it passes.
    String,
    /// In such a text, after ESC.
    StringEscape,
}

impl ScreenFilter {
    /// What of the next bytes the user's terminal gets.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut shown = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.take(*byte, &mut shown);
        }
        if let Some(last) = shown.last() {
            self.changed.mid_line = *last != b'\n';
        }
        shown
    }

    /// What makes the terminal as it was: only what was changed is set back, since a terminal may move its cursor for it.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let ScreenChanges { modes, scrolls_part, mid_line } = std::mem::take(&mut self.changed);
        let mut reset = Vec::new();
        if scrolls_part {
            reset.extend_from_slice(b"\x1b7\x1b[r\x1b8");
        }
        for mode in modes {
            reset.extend_from_slice(b"\x1b[");
            reset.extend_from_slice(&mode);
            reset.push(if is_usually_set(&mode) { b'h' } else { b'l' });
        }
        reset.extend_from_slice(USUAL);
        if mid_line {
            reset.extend_from_slice(b"\r\n");
        }
        reset
    }

    fn take(&mut self, byte: u8, shown: &mut Vec<u8>) {
        // These end a sequence wherever they come (ECMA-48, and every terminal).
        match byte {
            0x18 | 0x1a => return self.start(FilterState::Text),
            0x1b if matches!(self.state, FilterState::String | FilterState::StringEscape) => {
                self.state = FilterState::StringEscape;
                return;
            }
            0x1b => {
                self.character.clear();
                self.expected = 0;
                self.start(FilterState::Escape);
                self.held.push(byte);
                return;
            }
            _ => {}
        }
        match self.state {
            FilterState::Text => self.text(byte, shown),
            FilterState::Escape => self.escape(byte, shown),
            FilterState::Charset => {
                self.held.push(byte);
                // ASCII and line drawing, as G0 or G1.
                if matches!(self.held.as_slice(), [_, b'(' | b')', b'B' | b'0' | b'A']) {
                    shown.append(&mut self.held);
                }
                self.start(FilterState::Text);
            }
            FilterState::Control => self.control(byte, shown),
            FilterState::String if byte == 0x07 => self.start(FilterState::Text),
            FilterState::String => {}
            FilterState::StringEscape if byte == b'\\' => self.start(FilterState::Text),
            // Another sequence has begun, which ends the text: terminals differ, and this is the one that lets nothing through.
            FilterState::StringEscape => {
                self.start(FilterState::Escape);
                self.held.push(0x1b);
                self.escape(byte, shown);
            }
        }
    }

    fn start(&mut self, state: FilterState) {
        self.state = state;
        self.held.clear();
    }

    fn text(&mut self, byte: u8, shown: &mut Vec<u8>) {
        if self.expected > 0 {
            if (0x80..0xc0).contains(&byte) {
                self.character.push(byte);
                self.expected -= 1;
                if self.expected == 0 {
                    self.character_ends(shown);
                }
                return;
            }
            // It was none: what a terminal would make of half a character is its own affair, so it gets a mark.
            self.character.clear();
            self.expected = 0;
            shown.push(b'?');
        }
        match byte {
            // Bell, backspace, tab, line feed, carriage return, and the two sets of letters.
            0x07..=0x0a | 0x0d..=0x0f | 0x20..0x7f => shown.push(byte),
            0x00..0x20 | 0x7f => {}
            0xc2..0xe0 => self.begin_character(byte, 1),
            0xe0..0xf0 => self.begin_character(byte, 2),
            0xf0..0xf5 => self.begin_character(byte, 3),
            // A C1 control in eight bits, or no character at all.
            0x80..=0xff => shown.push(b'?'),
        }
    }

    fn begin_character(&mut self, byte: u8, more: usize) {
        self.character.clear();
        self.character.push(byte);
        self.expected = more;
    }

    fn character_ends(&mut self, shown: &mut Vec<u8>) {
        match str::from_utf8(&self.character) {
            // C1 controls, which some terminals obey in UTF-8, too.
            Ok(text) if text.chars().any(|c| ('\u{80}'..'\u{a0}').contains(&c)) => {}
            Ok(text) => shown.extend_from_slice(text.as_bytes()),
            Err(_) => shown.push(b'?'),
        }
        self.character.clear();
    }

    fn escape(&mut self, byte: u8, shown: &mut Vec<u8>) {
        self.held.push(byte);
        match byte {
            b'[' => self.state = FilterState::Control,
            b']' | b'P' | b'_' | b'^' | b'X' => self.start(FilterState::String),
            // A set of letters; of other intermediates what follows is one byte, too, and none of it passes.
            0x20..0x30 => self.state = FilterState::Charset,
            // Save and restore the cursor, index, next line, reverse index, the keypad's two modes.
            b'7' | b'8' | b'D' | b'E' | b'M' | b'=' | b'>' => {
                shown.append(&mut self.held);
                self.start(FilterState::Text);
            }
            _ => self.start(FilterState::Text),
        }
    }

    fn control(&mut self, byte: u8, shown: &mut Vec<u8>) {
        match byte {
            0x20..0x40 if self.held.len() < MAX_SEQUENCE => self.held.push(byte),
            0x40..0x7f => {
                let parameters = self.held.get(2..).unwrap_or_default();
                if self.held.len() < MAX_SEQUENCE && passes(parameters, byte) {
                    self.changed.note(parameters, byte);
                    shown.append(&mut self.held);
                    shown.push(byte);
                }
                self.start(FilterState::Text);
            }
            // One that is too long is read to its end, and does not pass. A control in the middle of a sequence is done at once by
            // terminals; here it is left out.
            _ => {}
        }
    }
}

impl ScreenChanges {
    fn note(&mut self, parameters: &[u8], end: u8) {
        match end {
            b'r' => self.scrolls_part = !parameters.is_empty(),
            b'h' | b'l' => {
                let (lead, list) = match parameters.strip_prefix(b"?") {
                    Some(list) => (&b"?"[..], list),
                    None => (&b""[..], parameters),
                };
                for mode in list.split(|byte| *byte == b';') {
                    let mode = [lead, mode].concat();
                    if is_usually_set(&mode) == (end == b'h') {
                        self.modes.remove(&mode);
                    } else {
                        self.modes.insert(mode);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether a mode is set on a terminal that nobody has changed: wrapping, and showing the cursor.
fn is_usually_set(mode: &[u8]) -> bool {
    matches!(mode, b"?7" | b"?25")
}

/// Whether a sequence only draws.
fn passes(parameters: &[u8], end: u8) -> bool {
    // Numbers, none of which is larger than any screen: some terminals do as often as they are told.
    let mut numbers = parameters.split(|byte| matches!(byte, b';' | b':'));
    let is_plain = numbers.all(|number| number.len() <= MAX_DIGITS && number.iter().all(u8::is_ascii_digit));
    match end {
        // Moving, erasing, inserting, deleting, scrolling, colours, the part that scrolls, saving the cursor, repeating.
        b'@'
        | b'A'..=b'H'
        | b'J'..=b'M'
        | b'P'
        | b'S'
        | b'T'
        | b'X'
        | b'Z'
        | b'`'
        | b'a'
        | b'b'
        | b'd'
        | b'e'
        | b'f'
        | b'm'
        | b'r'
        | b's'
        | b'u' => {
            // Not what lies above the screen: that is the user's.
            let erases_history = end == b'J' && parameters.contains(&b'3');
            is_plain && !erases_history && !(end == b'r' && parameters.contains(&b':'))
        }
        b'h' | b'l' => modes(parameters),
        _ => false,
    }
}

/// Modes that a program of the screen needs, and that [`ScreenFilter::finish`] sets back: cursor keys, wrapping, blinking, showing the cursor, the second
/// screen, marked paste. Not those that report: mouse, focus, size.
fn modes(parameters: &[u8]) -> bool {
    let Some(list) = parameters.strip_prefix(b"?") else { return parameters == b"4" };
    let known = [&b"1"[..], b"7", b"12", b"25", b"47", b"1047", b"1048", b"1049", b"2004", b"2026"];
    list.split(|byte| *byte == b';').all(|mode| known.contains(&mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &[u8]) -> Vec<u8> {
        ScreenFilter::default().push(bytes)
    }

    #[test]
    fn what_is_above_the_screen_and_the_tab_stops_are_the_users() {
        for other in [&b"\x1b[3J"[..], b"\x1b[2;3J", b"\x1b[3g", b"\x1b[g"] {
            assert_eq!(whole(other), b"", "{:?}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn drawing_passes_as_it_is() {
        for drawing in [
            &b"plain\r\n\ttext\x08\x07"[..],
            "größe 温度 🌧\n".as_bytes(),
            b"\x1b[31;1mred\x1b[0m \x1b[38;2;1;2;3mrgb \x1b[4:3mcurly",
            b"\x1b[2J\x1b[H\x1b[10;20H\x1b[K\x1b[1A\x1b[3B\x1b[?25l\x1b[?1049h\x1b[?1;7l",
            b"\x1b7\x1b8\x1bM\x1b=\x1b>\x1b(0lqk\x1b(B\x0e\x0f",
            b"\x1b[1;24r\x1b[4h\x1b[5S",
        ] {
            assert_eq!(whole(drawing), drawing, "{:?}", String::from_utf8_lossy(drawing));
        }
    }

    #[test]
    fn what_a_terminal_would_answer_or_do_elsewhere_does_not_pass() {
        for attack in [
            &b"\x1b[c"[..], // who are you?
            b"\x1b[>c\x1b[=c\x1b[>q",
            b"\x1b[5n\x1b[6n\x1b[?6n",    // where is the cursor?
            b"\x1b[18t\x1b[21t\x1b[14t",  // size, title
            b"\x1b[?u\x1b[?2026$p\x1b[x", // keyboard, modes, parameters
            b"\x1bZ\x05",                 // the old questions
            b"\x1b]0;title\x07",
            b"\x1b]52;c;ZWNobyBwd25lZA==\x07", // the clipboard
            b"\x1b]52;c;?\x1b\\",
            b"\x1b]10;?\x07\x1b]4;1;?\x07", // colours
            b"\x1bP+q544e\x1b\\",           // termcap
            b"\x1bP$qm\x1b\\\x1b_Gpicture\x1b\\\x1b^private\x1b\\\x1bXstring\x1b\\",
            b"\x1b[?1000h\x1b[?1003h\x1b[?1004h\x1b[?1006h\x1b[?9h", // mouse and focus
            b"\x1b[5i\x1b[4i",                                       // printing
            b"\x1bc\x1b[!p\x1b[?5W",                                 // reset
            b"\x1b#8\x1b%G",
            "\u{9b}6n".as_bytes().get(..2).unwrap(),
            "\u{9d}52;c;?\u{9c}".as_bytes().get(..2).unwrap(),
            b"\x1b[?1049;1000h", // one of the list is enough
            b"\x1b[20h\x1b[2h",
            b"\x1b[999999999b\x1b[1;99999H",
            b"\x1b[6\nn\x1b[5\xffn", // a control in the middle
        ] {
            assert_eq!(whole(attack), b"", "{:?}", String::from_utf8_lossy(attack));
        }
        // In eight bits they are no controls in UTF-8.
        assert_eq!(whole(b"\x9b6n\x90q"), b"?6n?q");
    }

    #[test]
    fn no_sequence_is_hidden_in_another() {
        for (attack, shown) in [
            (&b"\x1b]0;\x1b[6n\x07after"[..], &b"\x07after"[..]),
            (b"\x1bP\x1b[c\x1b\\after", b"after"),
            (b"\x1b[3\x1b[6nafter", b"after"),
            (b"\x1b[\x186n", b"6n"),
            (b"\x1b]52;c;?\x18[6n", b"[6n"),
            (b"\x1b\x1b[6nafter", b"after"),
            (b"\xe6\x1b[6n\xb8\x96x", b"??x"),
            (b"\xe6\xb8", b""),
        ] {
            assert_eq!(whole(attack), shown, "{:?}", String::from_utf8_lossy(attack));
        }
        let long = [b"\x1b[".as_slice(), &b"1;".repeat(5000), b"mx"].concat();
        assert_eq!(whole(&long), b"x");
    }

    #[test]
    fn what_a_program_leaves_changed_is_set_back_and_nothing_else() {
        let reset = |bytes: &[u8]| {
            let mut filter = ScreenFilter::default();
            let _ = filter.push(bytes);
            String::from_utf8(filter.finish()).unwrap()
        };
        let usual = "\u{1b}>\u{1b}(B\u{f}\u{1b}[0m";
        assert_eq!(reset(b"text\r\n"), usual);
        assert_eq!(reset(b"no end"), format!("{usual}\r\n"));
        assert_eq!(reset(b"\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l\n"), usual);
        assert_eq!(
            reset(b"\x1b[?1049h\x1b[?1;25l\x1b[?2004h\x1b[5;10r\n"),
            format!("\u{1b}7\u{1b}[r\u{1b}8\u{1b}[?1049l\u{1b}[?2004l\u{1b}[?25h{usual}")
        );
    }

    #[test]
    fn pieces_make_no_difference() {
        let bytes =
            "a\u{1b}[31mé\r\n温\u{1b}]0;t\u{7}\u{1b}[6n\u{9b}b\u{1b}(0q\u{1b}(B\u{1b}[?25h".as_bytes();
        let expected = whole(bytes);
        for cut in 0..=bytes.len() {
            let mut filter = ScreenFilter::default();
            let shown = [filter.push(&bytes[..cut]), filter.push(&bytes[cut..])].concat();
            assert_eq!(shown, expected, "{cut}");
        }
    }
}
