//! Words of a language, found in a sentence: the longest that stands at a place wins.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::addresses;
use super::classes::WordClass;
use super::languages::{self, Language, WordTable};

/// One word of a sentence, with what it can mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// What it can mean; none for a word that no table holds.
    pub(crate) classes: WordClass,
    /// Whether it stands between quotation marks.
    pub(crate) quoted: bool,
}

/// One step of the tree: the children's byte and number, and what ends here.
#[derive(Debug, Default)]
struct Node {
    children: Vec<(u8, u32)>,
    whole: WordClass,
    /// What begins here, whatever letters follow.
    stem: WordClass,
}

/// The words of a language as a tree.
#[derive(Debug)]
pub(crate) struct Lexicon {
    nodes: Vec<Node>,
}

impl Lexicon {
    /// The lexicon of a language, made when first asked for.
    pub(crate) fn of(language: Language) -> &'static Self {
        static ALL: LazyLock<Vec<std::sync::OnceLock<Lexicon>>> =
            LazyLock::new(|| Language::ALL.iter().map(|_| std::sync::OnceLock::new()).collect());
        static EMPTY: Lexicon = Lexicon { nodes: Vec::new() };
        ALL.get(language as usize)
            .map_or(&EMPTY, |cell| cell.get_or_init(|| Self::build(&[languages::SHARED, language.words()])))
    }

    fn build(tables: &[&WordTable]) -> Self {
        let mut lexicon = Self { nodes: vec![Node::default()] };
        for (class, words) in tables.iter().flat_map(|table| table.iter()) {
            for word in words.split('|').map(str::trim).filter(|word| !word.is_empty()) {
                if word.contains('+') {
                    lexicon.add_forms(&word.replace('+', ""), *class);
                    continue;
                }
                let (word, is_stem) = word.strip_suffix('*').map_or((word, false), |stem| (stem, true));
                lexicon.add(&fold(word), *class, is_stem);
            }
        }
        lexicon
    }

    /// Adds an English verb, or a phrase that begins with one, in its regular forms.
    fn add_forms(&mut self, base: &str, class: WordClass) {
        let (verb, rest) = base.split_at(base.find(' ').unwrap_or(base.len()));
        let hissing = ["s", "x", "z", "ch", "sh"].iter().any(|end| verb.ends_with(end));
        let (third, gerund) =
            if let Some(stem) = verb.strip_suffix('y').filter(|s| !s.ends_with(['a', 'e', 'o'])) {
                (format!("{stem}ies"), format!("{verb}ing"))
            } else if hissing {
                (format!("{verb}es"), format!("{verb}ing"))
            } else if let Some(stem) = verb.strip_suffix('e').filter(|s| !s.ends_with('e')) {
                (format!("{verb}s"), format!("{stem}ing"))
            } else {
                (format!("{verb}s"), format!("{verb}ing"))
            };
        self.add(base, class, false);
        self.add(&format!("{third}{rest}"), class | WordClass::THIRD_FORM, false);
        self.add(&format!("{gerund}{rest}"), class | WordClass::GERUND, false);
    }

    fn add(&mut self, word: &str, class: WordClass, is_stem: bool) {
        let mut at = 0_usize;
        for byte in word.bytes() {
            let next = self.child(at, byte);
            at = if let Some(next) = next {
                next
            } else {
                let number = self.nodes.len();
                self.nodes.push(Node::default());
                if let Some(node) = self.nodes.get_mut(at) {
                    node.children.push((byte, u32::try_from(number).unwrap_or(u32::MAX)));
                }
                number
            };
        }
        if let Some(node) = self.nodes.get_mut(at) {
            let slot = if is_stem { &mut node.stem } else { &mut node.whole };
            *slot = *slot | class;
        }
    }

    fn child(&self, at: usize, byte: u8) -> Option<usize> {
        let children = &self.nodes.get(at)?.children;
        children.iter().find(|(own, _)| *own == byte).map(|(_, next)| *next as usize)
    }

    /// The longest word at a place: its classes and its end.
    fn longest(&self, text: &str, start: usize) -> Option<(WordClass, usize)> {
        let bytes = text.as_bytes();
        let mut best = None;
        let mut at = 0;
        let mut end = start;
        loop {
            if let Some(node) = self.nodes.get(at).filter(|_| end > start) {
                let last = text.get(start..end).and_then(|word| word.chars().next_back());
                let after = text.get(end..).and_then(|rest| rest.chars().next());
                // A stem swallows the rest of its word; a whole word ends where letters of its kind end.
                if !node.stem.is_none() {
                    best = Some((node.stem | node.whole, word_end(text, end)));
                }
                let bounded = !(after.is_some_and(is_word) || is_joined(text, end))
                    || !last.is_some_and(is_word)
                    || is_unspaced(last)
                    || is_unspaced(after);
                if !node.whole.is_none() && bounded {
                    let classes = node.whole | node.stem;
                    best = Some((classes, end));
                }
            }
            let Some(byte) = bytes.get(end) else { break };
            let Some(next) = self.child(at, *byte) else { break };
            (at, end) = (next, end + 1);
        }
        best
    }

    /// A folded sentence as words.
    pub(crate) fn tokens(&self, text: &str, most: usize) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        let mut quote: Option<char> = None;
        let mut at = 0;
        let mut before = ' ';
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            if out.len() >= most {
                break;
            }
            let quoted = quote.is_some();
            if c == ' ' {
                (before, at) = (c, at + 1);
                continue;
            }
            let hyphen = before == '-'
                && c.is_ascii_alphanumeric()
                && text.as_bytes().get(at.wrapping_sub(2)).is_some_and(u8::is_ascii_alphanumeric);
            let starts = (!is_word(before) && !hyphen) || is_unspaced(Some(before)) || is_unspaced(Some(c));
            if starts && let Some((classes, end)) = addresses::address_at(text, at) {
                out.push(Token { classes, quoted });
                (before, at) = (' ', end);
                continue;
            }
            if starts && let Some((classes, end)) = self.longest(text, at) {
                out.push(Token { classes, quoted });
                before = text.get(..end).and_then(|done| done.chars().next_back()).unwrap_or(' ');
                at = end;
                continue;
            }
            if is_word(c) {
                let end = if is_unspaced(Some(c)) { at + c.len_utf8() } else { word_end(text, at) };
                let end = end.max(at + c.len_utf8());
                out.push(Token { classes: WordClass::NONE, quoted });
                before = text.get(..end).and_then(|done| done.chars().next_back()).unwrap_or(' ');
                at = end;
                continue;
            }
            let inside_word = is_word(before)
                && text.get(at + c.len_utf8()..).and_then(|t| t.chars().next()).is_some_and(is_word);
            match c {
                '、' => out.push(Token { classes: WordClass::COMMA | WordClass::OR, quoted }),
                ',' | '，' => out.push(Token { classes: WordClass::COMMA, quoted }),
                ':' | '：' | '—' | '–' | '(' | ')' | '（' | '）' | ';' | '|' | '→' => {
                    out.push(Token { classes: WordClass::BREAK, quoted });
                }
                '?' | '？' => out.push(Token { classes: WordClass::QUESTION, quoted }),
                '.' if !inside_word => out.push(Token { classes: WordClass::BREAK, quoted }),
                '"' | '`' | '“' | '”' | '«' | '»' | '「' | '」' | '『' | '』' | '„' => {
                    let closing = match c {
                        '“' | '„' => '”',
                        '«' => '»',
                        '「' => '」',
                        '『' => '』',
                        other => other,
                    };
                    quote = match quote {
                        Some(open) if open == c || (open == '”' && c == '“') => None,
                        // One that is not closed here opens after a colon only: somebody speaks, in several sentences.
                        None if out.last().is_some_and(|token| token.classes.has(WordClass::BREAK))
                            || text.get(at + c.len_utf8()..).is_some_and(|rest| rest.contains(closing)) =>
                        {
                            Some(closing)
                        }
                        same => same,
                    };
                }
                '\'' if !inside_word => {
                    quote = match quote {
                        Some('\'') => None,
                        None if text.get(at + 1..).is_some_and(|rest| rest.contains('\'')) => Some('\''),
                        same => same,
                    };
                }
                _ => {}
            }
            (before, at) = (c, at + c.len_utf8());
        }
        out
    }
}

/// Where the word at a place ends.
fn word_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let length: usize = rest
        .char_indices()
        .take_while(|(_, c)| is_word(*c) && !is_unspaced(Some(*c)))
        .map(|(_, c)| c.len_utf8())
        .sum();
    at + length
}

/// Whether a hyphen and a letter follow: `post-` is not the verb in `post-install`.
fn is_joined(text: &str, end: usize) -> bool {
    matches!(text.as_bytes().get(end..), Some([b'-', next, ..]) if next.is_ascii_alphanumeric())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Letters of languages that put no spaces between words.
fn is_unspaced(c: Option<char>) -> bool {
    c.is_some_and(
        |c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'),
    )
}

/// A text in lower case, without accents, traditional Chinese letters as simplified ones, and spaces for all that separates.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii_whitespace() => push_space(&mut out),
            '*' | '~' if c == '*' => {}
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            '\u{2019}' | '\u{2018}' => out.push('\''),
            'ß' => out.push_str("ss"),
            '\u{a0}' | '\u{3000}' => push_space(&mut out),
            '\u{c0}'..='\u{24f}' | '\u{400}'..='\u{4ff}' | '\u{1e00}'..='\u{1eff}' => {
                out.extend(c.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase));
            }
            c if is_combining_mark(c) && !matches!(c, '\u{3099}' | '\u{309a}') => {}
            '\u{ff01}'..='\u{ff5e}' if !matches!(c, '，' | '：' | '？' | '！' | '；' | '（' | '）') => {
                out.extend(char::from_u32(u32::from(c) - 0xfee0).map(|c| c.to_ascii_lowercase()));
            }
            c if is_unspaced(Some(c)) => out.push(languages::simplified(c)),
            c => out.extend(c.to_lowercase()),
        }
    }
    out
}

fn push_space(out: &mut String) {
    if !out.ends_with(' ') {
        out.push(' ');
    }
}
