//! One command line into words, as a POSIX shell reads it, refusing whatever would make a shell do more than split it.
//!
//! A word comes out only if dash and bash agree on it: what they read differently is refused, and so is what only an
//! interactive shell would act on. There is no recursion, and every byte is looked at a bounded number of times.

use skillsandbox_text::{is_deceptive, is_joiner};

use crate::ansi_c;
use crate::denied::{CommandDenial, CommandRule, DenialPosition};
use crate::words::{CommandWords, DOUBLE, PLAIN, SINGLE, class};

/// Longest command line: what Linux takes as one argument of `sh -c` (`MAX_ARG_STRLEN`, 32 pages).
pub const MAX_LINE: usize = 128 * 1024;

/// What an unquoted `*`, `?` or `[` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GlobHandling {
    /// It is refused: a shell would replace it by names of files.
    #[default]
    Refuse,
    /// It stands for itself. Right where the argv is started without a shell; a shell may read the line differently.
    Literal,
}

/// Which shells have to read the line as it is read here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Every POSIX shell: `$'…'` is refused, because older ones, dash among them, read it as `$` and a quote.
    #[default]
    Posix,
    /// Bash: `$'…'` is a quote with escapes.
    Bash,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LexerSettings {
    pub(crate) globs: GlobHandling,
    pub(crate) dialect: Dialect,
}

/// Splits a line, or says what in it a shell would act on.
pub(crate) fn lex(line: &str, settings: LexerSettings) -> Result<CommandWords, CommandDenial> {
    if line.len() > MAX_LINE {
        let reason = format!("{} bytes are more than the {MAX_LINE} a system takes", line.len());
        let start = line.get(..20).unwrap_or_default();
        return Err(CommandDenial::new(
            CommandRule::TooLong,
            start,
            DenialPosition::Byte(MAX_LINE),
            reason,
            "put the data into a file",
        ));
    }
    let words = CommandWords::with_capacity(line.len());
    let mut lexer = Lexer { line, at: 0, words, start: 0, notes: 0, brace: None, settings };
    lexer.all()?;
    Ok(lexer.words)
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    words: CommandWords,
    /// Where the current word begins in the buffer.
    start: usize,
    notes: u8,
    /// Where the current word has its first brace.
    brace: Option<usize>,
    settings: LexerSettings,
}

impl Lexer<'_> {
    fn all(&mut self) -> Result<(), CommandDenial> {
        if self.peek(0) == Some(b'^') {
            return Err(self.refuse(CommandRule::History, 1, "it edits the last command", QUOTE_IT));
        }
        loop {
            while matches!(self.peek(0), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            match self.peek(0) {
                None => return Ok(()),
                Some(b'#') => return self.comment(),
                Some(_) => self.word()?,
            }
        }
    }

    /// From `#` at the start of a word on, nothing counts; a line end in it would.
    fn comment(&mut self) -> Result<(), CommandDenial> {
        while let Some(byte) = self.peek(0) {
            if class(byte) & SINGLE != 0 && byte != b'\'' {
                self.other(false)?;
            } else {
                self.at += 1;
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), CommandDenial> {
        let at = self.at;
        self.start = self.words.text().len();
        self.notes = 0;
        self.brace = None;
        loop {
            self.run(PLAIN);
            match self.peek(0) {
                None | Some(b' ' | b'\t') => break,
                Some(b'\'') => self.single()?,
                Some(b'"') => self.double()?,
                Some(b'\\') => self.escape()?,
                Some(b'$') => self.dollar(false)?,
                Some(b'~') => self.tilde()?,
                Some(b'{') => self.brace()?,
                Some(b'!') => self.bang(false)?,
                Some(b'#') => self.take(1),
                Some(b'*' | b'?' | b'[') => self.glob()?,
                Some(b'`') => return Err(self.backtick()),
                Some(b'&' | b'|' | b';' | b'<' | b'>' | b'(' | b')') => return Err(self.operator()),
                Some(_) => self.other(false)?,
            }
        }
        if let Some(brace) = self.brace {
            self.check_braces(brace)?;
        }
        self.words.end(self.start, at, self.notes);
        Ok(())
    }

    fn single(&mut self) -> Result<(), CommandDenial> {
        let open = self.at;
        self.at += 1;
        loop {
            self.run(SINGLE);
            match self.peek(0) {
                None => return Err(Self::open_quote(open, "'")),
                Some(b'\'') => break,
                Some(_) => self.other(true)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn double(&mut self) -> Result<(), CommandDenial> {
        let open = self.at;
        self.at += 1;
        loop {
            self.run(DOUBLE);
            match self.peek(0) {
                None => return Err(Self::open_quote(open, "\"")),
                Some(b'"') => break,
                Some(b'\\') => match self.peek(1) {
                    // Before anything else a backslash in double quotes stands for itself.
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 1;
                        self.take(1);
                    }
                    // Kept with its backslash; alone it would be history.
                    Some(b'!') => self.take(2),
                    _ => self.take(1),
                },
                Some(b'$') => self.dollar(true)?,
                Some(b'!') => self.bang(true)?,
                Some(b'`') => return Err(self.backtick()),
                Some(_) => self.other(true)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), CommandDenial> {
        match self.peek(1) {
            None => {
                let reason = "a backslash at the end has nothing to quote";
                Err(self.refuse(CommandRule::Quote, 1, reason, "remove it, or write '\\'"))
            }
            Some(byte) if class(byte) & SINGLE != 0 && byte != b'\'' => {
                self.at += 1;
                self.other(true)
            }
            Some(_) => {
                self.at += 1;
                self.take(1);
                Ok(())
            }
        }
    }

    fn dollar(&mut self, quoted: bool) -> Result<(), CommandDenial> {
        let next = self.peek(1);
        let (rule, length, reason, hint) = match next {
            Some(b'(') if self.peek(2) == Some(b'(') => {
                (CommandRule::Substitution, 3, "a shell would compute it, and no shell runs here", COMPUTE)
            }
            Some(b'(') => {
                (CommandRule::Substitution, 2, "the output of a command would become part of it", COMPUTE)
            }
            Some(b'[') => {
                (CommandRule::Substitution, 2, "a shell would compute it, and no shell runs here", COMPUTE)
            }
            Some(b'\'') if !quoted => return self.ansi_c(),
            Some(b'"') if !quoted => (
                CommandRule::Expansion,
                2,
                "some shells translate it, others keep the `$`",
                "use plain quotes",
            ),
            None | Some(b' ' | b'\t') => return self.literal_dollar(),
            Some(b'"' | b'|' | b')' | b'/' | b'.' | b',') if quoted => return self.literal_dollar(),
            Some(_) => (CommandRule::Expansion, 2, "a shell would expand it, and no shell runs here", VALUE),
        };
        // The name of a variable, as far as it goes.
        let name =
            self.rest().iter().skip(1).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let length = if rule == CommandRule::Expansion && length == 2 && next != Some(b'{') {
            (1 + name.count()).max(2)
        } else {
            length
        };
        Err(self.refuse(rule, length, reason, hint))
    }

    #[allow(clippy::unnecessary_wraps)] // one of several ends of `dollar`
    fn literal_dollar(&mut self) -> Result<(), CommandDenial> {
        self.take(1);
        Ok(())
    }

    /// `$'…'`.
    fn ansi_c(&mut self) -> Result<(), CommandDenial> {
        if self.settings.dialect == Dialect::Posix {
            let reason = "not every shell knows this quote: dash reads a `$` and then a plain quote";
            return Err(self.refuse(CommandRule::Expansion, 2, reason, "use plain quotes"));
        }
        let open = self.at;
        self.at += 2;
        loop {
            self.run(SINGLE | DOUBLE);
            match self.peek(0) {
                None => return Err(Self::open_quote(open, "$'")),
                Some(b'\'') => break,
                Some(b'\\') => {
                    let (byte, length) = ansi_c::escape(self.rest()).map_err(|reason| {
                        self.refuse(
                            CommandRule::Quote,
                            2,
                            reason,
                            "write the character itself, or put it into a file",
                        )
                    })?;
                    self.push(byte);
                    self.at += length;
                }
                Some(b'"' | b'$' | b'`') => self.take(1),
                // History knows little of this quote.
                Some(b'!') => self.bang(false)?,
                Some(_) => self.other(true)?,
            }
        }
        self.at += 1;
        Ok(())
    }

    /// A shell expands it at the start of a word and, in what looks like an assignment, behind `=` and `:`.
    fn tilde(&mut self) -> Result<(), CommandDenial> {
        let word = self.words.text().get(self.start..).unwrap_or_default();
        if matches!(word.last(), None | Some(b'=' | b':')) {
            let reason = "a shell would put a home directory in its place";
            return Err(self.refuse(CommandRule::Tilde, 1, reason, "use a path relative to the root"));
        }
        self.take(1);
        Ok(())
    }

    /// `{}` and `@{1}` stand for themselves in every shell, if there is no comma and no `..` further on in the word: bash makes two
    /// words of `{a},b}`.
    fn brace(&mut self) -> Result<(), CommandDenial> {
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let inner = self.rest().iter().skip(1).take_while(|byte| name(byte)).count();
        if self.peek(inner + 1) != Some(b'}') {
            return Err(self.refuse(CommandRule::Brace, inner + 2, BRACES, QUOTE_IT));
        }
        self.brace = self.brace.or(Some(self.at));
        self.take(inner + 2);
        Ok(())
    }

    /// At the end of a word with braces.
    fn check_braces(&self, brace: usize) -> Result<(), CommandDenial> {
        let word = self.words.text().get(self.start..).unwrap_or_default();
        if word.contains(&b',') || word.windows(2).any(|two| two == b"..") {
            let construct = self.line.get(brace..self.at).unwrap_or_default();
            return Err(CommandDenial::new(
                CommandRule::Brace,
                construct,
                DenialPosition::Byte(brace),
                BRACES,
                QUOTE_IT,
            ));
        }
        Ok(())
    }

    /// History, in an interactive bash: not before a blank, `=` or the end.
    fn bang(&mut self, quoted: bool) -> Result<(), CommandDenial> {
        match self.peek(1) {
            None | Some(b' ' | b'\t' | b'=') => {}
            Some(b'"') if quoted => {}
            Some(_) => {
                let reason = "an interactive shell would put an earlier command in its place";
                return Err(self.refuse(CommandRule::History, 2, reason, "put it in single quotes"));
            }
        }
        self.take(1);
        Ok(())
    }

    fn glob(&mut self) -> Result<(), CommandDenial> {
        if self.settings.globs == GlobHandling::Refuse {
            let reason = "a shell would put names of files in its place";
            let hint = "name the files, or put it in single quotes if it is meant as it stands";
            return Err(self.refuse(CommandRule::Glob, 1, reason, hint));
        }
        self.take(1);
        Ok(())
    }

    fn backtick(&self) -> CommandDenial {
        self.refuse(CommandRule::Substitution, 1, "the output of a command would become part of it", COMPUTE)
    }

    fn operator(&self) -> CommandDenial {
        const CHAIN: &str = "one call runs one command";
        const REDIRECT: &str = "no shell opens files for it";
        const APART: &str = "make one call for each command, or put the chain into a script";
        const FILES: &str = "use the tool for files, or an option of the command";
        let rest = self.rest();
        let known: &[(&[u8], CommandRule, &'static str, &'static str)] = &[
            (
                b"<<<",
                CommandRule::Redirection,
                REDIRECT,
                "pass the text as an argument, or put it into a file",
            ),
            (
                b"<<",
                CommandRule::Redirection,
                REDIRECT,
                "pass the text as an argument, or put it into a file",
            ),
            (b"<(", CommandRule::Substitution, CHAIN, APART),
            (b">(", CommandRule::Substitution, CHAIN, APART),
            (b"&>>", CommandRule::Redirection, REDIRECT, FILES),
            (b"&>", CommandRule::Redirection, REDIRECT, FILES),
            (b"<>", CommandRule::Redirection, REDIRECT, FILES),
            (b"<&", CommandRule::Redirection, REDIRECT, FILES),
            (b">>", CommandRule::Redirection, REDIRECT, FILES),
            (b">&", CommandRule::Redirection, REDIRECT, FILES),
            (b">|", CommandRule::Redirection, REDIRECT, FILES),
            (b"<", CommandRule::Redirection, REDIRECT, FILES),
            (b">", CommandRule::Redirection, REDIRECT, FILES),
            (b"&&", CommandRule::Operator, CHAIN, APART),
            (b"||", CommandRule::Operator, CHAIN, APART),
            (b"|&", CommandRule::Operator, CHAIN, APART),
            (b"|", CommandRule::Operator, CHAIN, APART),
            (b";", CommandRule::Operator, CHAIN, APART),
            (b"&", CommandRule::Operator, "nothing runs in the background", APART),
            (b"()", CommandRule::Operator, "only a shell defines functions, and no shell runs here", APART),
            (b"(", CommandRule::Operator, "only a shell starts a subshell, and no shell runs here", APART),
        ];
        for (text, rule, reason, hint) in known {
            if rest.starts_with(text) {
                return self.refuse(*rule, text.len(), reason, hint);
            }
        }
        self.refuse(CommandRule::Operator, 1, "only a shell starts a subshell, and no shell runs here", APART)
    }

    /// What is neither plain nor syntax: control characters and what is not ASCII.
    fn other(&mut self, quoted: bool) -> Result<(), CommandDenial> {
        let Some(c) = self.line.get(self.at..).and_then(|rest| rest.chars().next()) else {
            return Err(self.refuse(CommandRule::Quote, 1, "it is not text", QUOTE_IT));
        };
        let (rule, reason, hint) = match c {
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => (
                CommandRule::Newline,
                "one call is one line",
                "make one call for each line, or put them into a file",
            ),
            _ if c.is_control() && c != '\t' => {
                (CommandRule::ControlCharacter, "control characters have no place in a command", "remove it")
            }
            _ if is_deceptive(c) && !is_joiner(c) => {
                (CommandRule::ControlCharacter, "a reader would not see what it does", "remove it")
            }
            // Joins and separates letters in some scripts and in emoji: fine in quotes.
            _ if is_joiner(c) && !quoted => {
                (CommandRule::ControlCharacter, "a reader would not see it", QUOTE_IT)
            }
            _ if c.is_whitespace() && c != '\t' && !quoted => (
                CommandRule::ControlCharacter,
                "it looks like a space and separates nothing",
                "use a plain space",
            ),
            _ => {
                self.take(c.len_utf8());
                return Ok(());
            }
        };
        Err(self.refuse(rule, c.len_utf8(), reason, hint))
    }

    fn open_quote(open: usize, quote: &str) -> CommandDenial {
        let reason = "the quote does not end";
        CommandDenial::new(
            CommandRule::Quote,
            quote,
            DenialPosition::Byte(open),
            reason,
            "close it, or put a backslash before it",
        )
    }

    /// Takes text up to a byte of one of these classes.
    fn run(&mut self, stops: u8) {
        let rest = self.line.as_bytes().get(self.at..).unwrap_or_default();
        let mut notes = 0;
        let mut length = 0;
        for byte in rest {
            let class = class(*byte);
            if class & stops != 0 {
                break;
            }
            notes |= class;
            length += 1;
        }
        self.words.push(rest.get(..length).unwrap_or_default());
        self.notes |= notes;
        self.at += length;
    }

    /// Takes bytes as they are.
    fn take(&mut self, length: usize) {
        for _ in 0..length {
            if let Some(byte) = self.peek(0) {
                self.push(byte);
                self.at += 1;
            }
        }
    }

    fn push(&mut self, byte: u8) {
        self.notes |= class(byte);
        self.words.push(&[byte]);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.line.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &[u8] {
        self.line.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn refuse(
        &self,
        rule: CommandRule,
        length: usize,
        reason: &'static str,
        hint: &'static str,
    ) -> CommandDenial {
        let rest = self.rest();
        let construct = rest.get(..length).unwrap_or(rest);
        CommandDenial::new(rule, construct, DenialPosition::Byte(self.at), reason, hint)
    }
}

const BRACES: &str = "some shells would make several words of it";
const QUOTE_IT: &str = "put the word in single quotes if it is meant as it stands";
const COMPUTE: &str = "run that command in a call of its own, and write its result here";
const VALUE: &str = "write the value itself, or put the word in single quotes if it is meant as it stands";
