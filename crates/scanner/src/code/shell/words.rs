//! Words of a shell script: quotes, escapes, expansions and substitutions, read in one pass.

use std::rc::Rc;

use super::parser::{ListEnd, Parser};
use super::tree::{Expansion, Part, Word};

/// Furthest that the end of an arithmetic expression is looked for.
const LONGEST_SUM: usize = 256;

/// What ends the word that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordMode {
    /// A blank or an operator.
    Bare,
    /// The closing double quote.
    Quoted,
    /// The closing brace of `${…}`; the flag says whether that stands in quotes.
    Brace(bool),
    /// The end of the text: a here document.
    Document,
}

impl WordMode {
    /// Whether what is expanded in it stays one word.
    fn is_quoted(self) -> bool {
        matches!(self, Self::Quoted | Self::Document | Self::Brace(true))
    }
}

/// Collects the pieces of a word.
#[derive(Default)]
struct Pieces {
    parts: Vec<Part>,
}

impl Pieces {
    /// Adds text, to the last piece if that is of the same kind.
    fn push_text(&mut self, text: &str, is_quoted: bool) {
        match self.parts.last_mut() {
            Some(Part::Quoted(last)) if is_quoted => last.push_str(text),
            Some(Part::Bare(last)) if !is_quoted => last.push_str(text),
            _ => {
                let text = text.to_owned();
                self.parts.push(if is_quoted { Part::Quoted(text) } else { Part::Bare(text) });
            }
        }
    }
}

impl Parser<'_> {
    /// Reads one word from here on.
    pub(super) fn read_word(&mut self, mode: WordMode) -> Word {
        let start = self.at;
        let mut pieces = Pieces::default();
        self.read_pieces(mode, &mut pieces);
        Word { parts: pieces.parts, range: self.range_of(start..self.at) }
    }

    /// Reads pieces until the mode's end, which is left where it is.
    fn read_pieces(&mut self, mode: WordMode, pieces: &mut Pieces) {
        let quoted = mode.is_quoted();
        while let Some(byte) = self.peek(0) {
            match byte {
                b'"' if mode == WordMode::Quoted => return,
                b'}' if matches!(mode, WordMode::Brace(_)) => return,
                b'<' | b'>'
                    if mode == WordMode::Bare && self.peek(1) == Some(b'(') && !pieces.parts.is_empty() =>
                {
                    let part = self.read_process();
                    pieces.parts.push(part);
                }
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
                    if mode == WordMode::Bare =>
                {
                    return;
                }
                b'\\' => self.read_escape(mode, pieces),
                b'\'' if !quoted => self.read_single(pieces),
                b'"' if mode != WordMode::Document => self.read_double(pieces),
                b'$' => self.read_dollar(quoted, pieces),
                b'`' => self.read_backquotes(quoted, pieces),
                _ => self.read_run(mode, pieces),
            }
        }
    }

    /// Takes everything up to the next byte that could mean something.
    fn read_run(&mut self, mode: WordMode, pieces: &mut Pieces) {
        let rest = self.rest();
        let special = |byte: &u8| match mode {
            WordMode::Bare => matches!(
                byte,
                b' ' | b'\t'
                    | b'\r'
                    | b'\n'
                    | b';'
                    | b'&'
                    | b'|'
                    | b'<'
                    | b'>'
                    | b'('
                    | b')'
                    | b'\\'
                    | b'\''
                    | b'"'
                    | b'$'
                    | b'`'
            ),
            WordMode::Quoted | WordMode::Document => matches!(byte, b'"' | b'\\' | b'$' | b'`'),
            WordMode::Brace(_) => matches!(byte, b'}' | b'\\' | b'\'' | b'"' | b'$' | b'`'),
        };
        let bytes = rest.as_bytes();
        // At least one byte, so that there is always progress.
        let mut end = 1 + bytes.iter().skip(1).take_while(|byte| !special(byte)).count();
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        pieces.push_text(rest.get(..end).unwrap_or_default(), mode.is_quoted());
        self.at += end;
    }

    /// A backslash and what it takes the meaning from.
    fn read_escape(&mut self, mode: WordMode, pieces: &mut Pieces) {
        let Some(next) = self.rest().get(1..).and_then(|rest| rest.chars().next()) else {
            self.at += 1;
            return;
        };
        let width = 1 + next.len_utf8();
        let literal = self.rest().get(..width).unwrap_or_default();
        match next {
            '\n' => {}
            '\r' => {
                self.at += usize::from(self.peek(2) == Some(b'\n'));
            }
            '$' | '`' | '"' | '\\' => pieces.push_text(literal.get(1..).unwrap_or_default(), true),
            _ if mode.is_quoted() => pieces.push_text(literal, true),
            _ => pieces.push_text(literal.get(1..).unwrap_or_default(), true),
        }
        self.at += width;
    }

    /// `'…'`. Without an end it is an apostrophe.
    fn read_single(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        match self.find_close(b'\'') {
            Some(end) => {
                let inside = self.rest().get(..end).unwrap_or_default();
                pieces.push_text(inside, true);
                self.at += end + 1;
            }
            None => pieces.push_text("'", true),
        }
    }

    /// `"…"`. Without an end it is a mark of its own.
    fn read_double(&mut self, pieces: &mut Pieces) {
        self.at += 1;
        if self.depth >= super::MAX_DEPTH || self.find_close(b'"').is_none() {
            self.is_cut |= self.depth >= super::MAX_DEPTH;
            pieces.push_text("\"", true);
            return;
        }
        pieces.push_text("", true);
        self.depth += 1;
        self.read_pieces(WordMode::Quoted, pieces);
        self.depth -= 1;
        self.at += usize::from(self.peek(0) == Some(b'"'));
    }

    /// Everything that begins with a dollar sign.
    fn read_dollar(&mut self, quoted: bool, pieces: &mut Pieces) {
        match self.peek(1) {
            Some(b'\'') if !quoted => {
                self.at += 2;
                match self.find_escaped_close() {
                    Some(end) => {
                        let inside = self.rest().get(..end).unwrap_or_default();
                        pieces.push_text(&super::escapes::decode_escapes(inside), true);
                        self.at += end + 1;
                    }
                    None => pieces.push_text("$'", true),
                }
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.read_double(pieces);
            }
            Some(b'(') if self.peek(2) == Some(b'(') && self.skip_sum() => pieces.push_text("0", true),
            Some(b'(' | b'{') if self.depth >= super::MAX_DEPTH => {
                self.is_cut = true;
                self.at += 2;
                pieces.push_text("$", quoted);
            }
            Some(b'(') => {
                self.at += 2;
                self.depth += 1;
                let body = self.read_list(ListEnd::Parenthesis);
                self.depth -= 1;
                self.at += usize::from(self.peek(0) == Some(b')'));
                pieces.parts.push(Part::Command { body: body.into(), is_quoted: quoted });
            }
            Some(b'{') => {
                self.at += 2;
                self.depth += 1;
                let expansion = self.read_expansion(quoted);
                self.depth -= 1;
                pieces.parts.push(Part::Variable { expansion: Rc::new(expansion), is_quoted: quoted });
            }
            Some(byte)
                if byte.is_ascii_alphanumeric()
                    || matches!(byte, b'_' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-') =>
            {
                self.at += 1;
                let name = self.read_name();
                let is_list = matches!(name.as_str(), "@" | "*");
                let expansion = Expansion { name, is_list, ..Expansion::default() };
                pieces.parts.push(Part::Variable { expansion: Rc::new(expansion), is_quoted: quoted });
            }
            _ => {
                self.at += 1;
                pieces.push_text("$", quoted);
            }
        }
    }

    /// A variable's name: letters, one digit, or one special character.
    fn read_name(&mut self) -> String {
        let bytes = self.rest().as_bytes();
        let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let width = match bytes.first() {
            Some(b'0'..=b'9') => bytes.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            Some(first) if letters == 0 && first.is_ascii() => 1,
            _ => letters,
        };
        let name = self.rest().get(..width).unwrap_or_default().to_owned();
        self.at += width;
        name
    }

    /// What stands between `${` and `}`, and the closing brace.
    fn read_expansion(&mut self, quoted: bool) -> Expansion {
        const OPERATORS: &[&str] = &[
            ":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%", "//", "/#", "/%", "/", "^^",
            "^", ",,", ",", "@", ":",
        ];
        let mut expansion = Expansion::default();
        let following = self.peek(1).unwrap_or(b'}');
        if self.peek(0) == Some(b'#') && following != b'}' {
            expansion.is_length = true;
            self.at += 1;
        } else if self.peek(0) == Some(b'!') && (following.is_ascii_alphanumeric() || following == b'_') {
            expansion.is_indirect = true;
            self.at += 1;
        }
        if self.peek(0) != Some(b'}') {
            expansion.name = self.read_name();
        }
        if self.peek(0) == Some(b'[') {
            let inside = self.rest().as_bytes().iter().take(64).position(|byte| *byte == b']');
            expansion.is_list = true;
            self.at += inside.map_or(1, |end| end + 1);
        }
        if let Some(operator) = OPERATORS.iter().find(|operator| self.rest().starts_with(**operator)) {
            expansion.operator = operator;
            self.at += operator.len();
        }
        expansion.operand = self.read_word(WordMode::Brace(quoted));
        self.at += usize::from(self.peek(0) == Some(b'}'));
        expansion
    }

    /// The old spelling of a substitution. Its text is read again without the backslashes that it needs.
    fn read_backquotes(&mut self, quoted: bool, pieces: &mut Pieces) {
        self.at += 1;
        let Some(end) = self.find_close(b'`') else {
            pieces.push_text("`", quoted);
            return;
        };
        // A backslash keeps a backquote from closing.
        let bytes = self.rest().as_bytes();
        let mut close = end;
        let mut escaped = false;
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'`' => {
                    close = at;
                    break;
                }
                _ => {}
            }
        }
        let inside = self.rest().get(..close).unwrap_or_default();
        let plain = inside.replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\");
        let range = self.range_of(self.at..self.at + close);
        self.at += close + 1;
        if self.depth >= super::MAX_DEPTH {
            self.is_cut = true;
            return;
        }
        let mut inner = Parser::new(&plain, Some(range), self.depth + 1, self.commands_left);
        let body = inner.read_list(ListEnd::Text);
        self.commands_left = inner.commands_left;
        self.is_cut |= inner.is_cut;
        pieces.parts.push(Part::Command { body: body.into(), is_quoted: quoted });
    }

    /// `$(( … ))`, passed over. Says whether it was one.
    fn skip_sum(&mut self) -> bool {
        let mut open = 0_u32;
        for (at, byte) in self.rest().bytes().enumerate().skip(1).take(LONGEST_SUM) {
            match byte {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                let is_sum = self.peek(at.saturating_sub(1)) == Some(b')');
                if is_sum {
                    self.at += at + 1;
                }
                return is_sum;
            }
        }
        false
    }

    /// Where the quote that was just opened ends. Where none does, that is remembered, so that it is searched for once.
    fn find_close(&mut self, mark: u8) -> Option<usize> {
        if self.unclosed.contains(&mark) {
            return None;
        }
        let found = memchr::memchr(mark, self.rest().as_bytes());
        if found.is_none() {
            self.unclosed.push(mark);
        }
        found
    }

    /// Where `$'…'` ends; a backslash keeps a quote from ending it.
    fn find_escaped_close(&mut self) -> Option<usize> {
        self.find_close(b'\'')?;
        let mut escaped = false;
        for (at, byte) in self.rest().bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'\'' => return Some(at),
                _ => {}
            }
        }
        None
    }
}
