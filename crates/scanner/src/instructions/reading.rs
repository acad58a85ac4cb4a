//! How a sentence is meant: whether a verb is told, negated, asked, or only spoken of. Decided by the structure of the sentence.

use std::borrow::Cow;

use super::classes::WordClass as C;
use super::languages::Language;
use super::lexicon::{Lexicon, Token, fold};

/// Most words of a sentence that are looked at; longer ones are cut by bytes before.
const MAX_TOKENS: usize = 400;

/// A sentence as words with their classes.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) tokens: Vec<Token>,
    pub(crate) language: Language,
    /// All classes of the sentence together.
    pub(crate) classes: C,
    /// For each word, whether it is told, and what negates it: asked for by every intent, so found out once.
    roles: Vec<WordRole>,
}

/// How one word is meant.
#[derive(Clone, Copy, Debug)]
struct WordRole {
    is_told: bool,
    negation: Option<usize>,
}

/// Ways to say that something is not to be left out, folded: the negation in them negates nothing.
const REMINDERS: &[&str] = &[
    "don't forget to",
    "dont forget to",
    "do not forget to",
    "never forget to",
    "don't forget:",
    "do not forget:",
    "never fail to",
    "do not fail to",
    "don't fail to",
    "do not hesitate to",
    "don't hesitate to",
    "never skip these steps",
    "never skip this step",
    "do not skip these steps",
    "no olvides",
    "no olvide",
    "no te olvides de",
    "n'oublie pas de",
    "n'oubliez pas de",
    "n'oublie pas d'",
    "n'oubliez pas d'",
    "vergiss nicht",
    "vergessen sie nicht",
    "nicht vergessen",
    "nao esqueca de",
    "nao se esqueca de",
    "nao esquecas de",
    "не забудьте",
    "не забудь",
    "不要忘记",
    "别忘了",
    "不要忘了",
    "勿忘",
    "忘れずに",
];

/// A sentence without its reminders.
fn drop_reminders(sentence: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(sentence);
    for reminder in REMINDERS {
        if out.contains(reminder) {
            out = Cow::Owned(out.replace(reminder, " "));
        }
    }
    out
}

impl Reading {
    /// Reads a sentence.
    pub(crate) fn of(sentence: &str) -> Self {
        let folded = fold(sentence);
        let folded = drop_reminders(&folded);
        // Where small words leave it open, the language that knows most of the words.
        let read = |language: Language| (language, Lexicon::of(language).tokens(&folded, MAX_TOKENS));
        let unknown = |tokens: &[Token]| tokens.iter().filter(|token| token.classes.is_none()).count();
        let all = Language::detect(&folded).into_iter().map(read);
        let best = all.reduce(|best, next| if unknown(&next.1) < unknown(&best.1) { next } else { best });
        let (language, tokens) = best.unwrap_or((Language::English, Vec::new()));
        let classes = tokens.iter().fold(C::NONE, |all, token| all | token.classes);
        let mut reading = Self { tokens, language, classes, roles: Vec::new() };
        let judge = |at: usize| {
            let has_role = reading.at(at).has(ACTS | NOUNS);
            let negation = if has_role { reading.find_negation(at) } else { None };
            WordRole { is_told: has_role && reading.judge_mood(at), negation }
        };
        let roles = (0..reading.tokens.len()).map(judge).collect();
        reading.roles = roles;
        reading
    }

    /// The same sentence as if it had no words of a class.
    pub(crate) fn without(&self, class: C) -> Self {
        Self { classes: self.classes.without(class), ..self.clone() }
    }

    /// Whether the sentence holds a word of a class.
    pub(crate) fn has(&self, class: C) -> bool {
        self.classes.has(class)
    }

    /// The classes of the word at a place.
    pub(crate) fn at(&self, at: usize) -> C {
        self.tokens.get(at).map_or(C::NONE, |token| token.classes)
    }

    /// The places of all words of a class.
    pub(crate) fn places(&self, class: C) -> impl Iterator<Item = usize> + '_ {
        self.tokens.iter().enumerate().filter(move |(_, token)| token.classes.has(class)).map(|(at, _)| at)
    }

    /// How far two words may be apart: letters count where words are not spaced.
    fn reach(&self, words: usize) -> usize {
        if matches!(self.language, Language::Chinese | Language::Japanese) { words * 2 } else { words }
    }

    /// The places within so many words of another.
    fn window(&self, at: usize, words: usize) -> std::ops::Range<usize> {
        let reach = self.reach(words);
        at.saturating_sub(reach)..self.tokens.len().min(at + reach + 1)
    }

    /// The nearest word of a class within so many words on either side, the word itself left out.
    pub(crate) fn near(&self, at: usize, class: C, words: usize) -> Option<usize> {
        let places = self.window(at, words).filter(|place| *place != at && self.at(*place).has(class));
        places.min_by_key(|place| place.abs_diff(at))
    }

    /// The first word of a class behind a place, within so many words. In languages that put the verb last, before it too.
    pub(crate) fn object(&self, at: usize, class: C, words: usize) -> Option<usize> {
        let mut window = self.window(at, words);
        if self.language == Language::English {
            window.start = at + 1;
        }
        window.into_iter().find(|place| *place != at && self.at(*place).has(class))
    }

    /// The first verb of a class that is told, within so many words of another.
    pub(crate) fn told_near(&self, at: usize, class: C, words: usize) -> Option<usize> {
        let mut window = at.saturating_sub(words)..self.tokens.len().min(at + words + 1);
        window.find(|place| {
            *place != at && self.at(*place).has(class) && self.is_told(*place) && !self.is_negated(*place)
        })
    }

    /// Whether a word is negated: by a word that governs it, in its own clause or the list it stands in.
    pub(crate) fn is_negated(&self, at: usize) -> bool {
        self.governing_negation(at).is_some()
    }

    /// Where the word stands that negates another.
    pub(crate) fn governing_negation(&self, at: usize) -> Option<usize> {
        self.roles.get(at).and_then(|role| role.negation)
    }

    /// Whether a verb is told to the reader, or said of what the reader does. Not of somebody else, not asked, not a noun.
    pub(crate) fn is_told(&self, at: usize) -> bool {
        self.roles.get(at).is_some_and(|role| role.is_told)
    }

    /// Looks for the word that negates another.
    fn find_negation(&self, at: usize) -> Option<usize> {
        let behind = match self.language {
            Language::Japanese => return self.negation_behind(at, 5),
            Language::German => self.negation_behind(at, 9),
            _ => None,
        };
        behind.or_else(|| self.negation_ahead(at))
    }

    /// A negation behind a verb: within so many words, in the same clause.
    fn negation_behind(&self, at: usize, words: usize) -> Option<usize> {
        let negations = if self.language == Language::Japanese { C::NEG | C::WITHOUT } else { C::NEG };
        let rest = self.tokens.get(at + 1..)?.iter().take(words).enumerate();
        for (distance, token) in rest {
            if token.classes.has(negations) && !token.classes.has(C::COVERT) {
                return Some(at + 1 + distance);
            }
            if token.classes.has(C::COMMA | C::BREAK | C::AND | C::BUT)
                || (self.language == Language::Japanese && token.classes.has(ACTS))
            {
                return None;
            }
        }
        None
    }

    /// A negation before a verb that governs it.
    fn negation_ahead(&self, at: usize) -> Option<usize> {
        let mut crossed_act = false;
        let listed = self.window(at, 10).any(|place| self.at(place).has(C::OR));
        let ends_list = at.checked_sub(1).is_some_and(|before| self.at(before).has(C::OR));
        let mut crossed_subject = false;
        for place in (at.saturating_sub(self.reach(16))..at).rev() {
            let classes = self.at(place);
            if classes.has(C::NEG) {
                return Some(place);
            }
            if classes.has(C::WITHOUT) {
                return (!crossed_act
                    && !crossed_subject
                    && at - place <= self.reach(if self.language == Language::English { 4 } else { 7 }))
                .then_some(place);
            }
            if classes.has(C::BREAK | C::BUT | C::QUESTION) {
                return None;
            }
            // "never read, copy or send": a list of verbs. A comma before anything else ends the clause.
            let goes_on = ends_list || (self.at(place + 1).has(ACTS | C::OR) && listed);
            if classes.has(C::COMMA) && !classes.has(C::OR) && !goes_on {
                return None;
            }
            if classes.has(C::AND) {
                // "never copy and paste": one thing. "do not tell the user and send": two.
                let bare = place.checked_sub(1).is_some_and(|before| self.at(before).has(ACTS));
                if !bare && !goes_on {
                    return None;
                }
            }
            crossed_act |= classes.has(ACTS);
            crossed_subject |= classes.has(C::MODAL | C::AGENT);
        }
        None
    }

    /// Whether something stands before a negation that negates it again: "never … without asking".
    pub(crate) fn is_double(&self, negation: usize) -> bool {
        let before = (negation.saturating_sub(20)..negation).rev();
        before
            .map(|place| self.at(place))
            .take_while(|classes| !classes.has(C::BREAK))
            .any(|classes| classes.has(C::NEG))
    }

    /// Whether the sentence asks.
    pub(crate) fn is_question(&self) -> bool {
        let last = self.tokens.iter().rev().find(|token| !token.classes.has(C::BREAK));
        last.is_some_and(|token| token.classes.has(C::QUESTION))
    }

    /// Finds out whether a verb is told.
    fn judge_mood(&self, at: usize) -> bool {
        if self.is_question() {
            return false;
        }
        let own = self.at(at);
        // Between quotation marks, what stands outside is not the subject.
        let quoted = self.tokens.get(at).is_some_and(|token| token.quoted);
        let same = |place: &usize| !quoted || self.tokens.get(*place).is_some_and(|token| token.quoted);
        let first = if quoted { (0..at).rev().take_while(same).last().unwrap_or(at) } else { 0 };
        let before = (first..at).rev().map(|place| self.at(place));
        let third = (first.max(at.saturating_sub(5))..at)
            .rev()
            .map(|place| self.at(place))
            .take_while(|classes| !classes.has(C::BREAK | C::COMMA | C::AND))
            .any(|classes| classes.has(C::THIRD));
        if self.language != Language::English {
            let possible = (at.saturating_sub(2)..at).any(|place| self.at(place).has(C::MAY));
            return !third && !possible;
        }
        if own.has(C::GERUND) {
            return false;
        }
        let mut before = before
            .skip_while(|classes| classes.has(C::ADVERB | C::COVERT | C::NEG) && !classes.has(C::MODAL));
        let Some(previous) = before.next() else { return true };
        if own.has(C::THIRD_FORM) {
            let subject = (at.saturating_sub(6)..at).rev().map(|place| self.at(place));
            return !third
                && subject
                    .take_while(|classes| !classes.has(C::BREAK))
                    .any(|classes| classes.has(C::SELF | C::AGENT));
        }
        if previous.has(C::ARTICLE) && !previous.has(C::MODAL | C::AGENT | C::SELF) {
            return false;
        }
        if previous.has(C::MODAL | C::AGENT | C::SELF) {
            return !third;
        }
        previous.has(C::AND | C::OR | C::COMMA | C::BREAK | C::BUT | C::LASTING | C::FIRST)
            || (previous.has(ACTS) && !third)
    }

    /// Places of verbs of a class that are told and not negated.
    pub(crate) fn told(&self, class: C) -> impl Iterator<Item = usize> + '_ {
        self.places(class).filter(|at| self.is_told(*at) && !self.is_negated(*at))
    }

    /// Places of verbs of a class that are negated, once.
    pub(crate) fn untold(&self, class: C) -> impl Iterator<Item = usize> + '_ {
        self.places(class).filter(|at| {
            let negation = self.governing_negation(*at);
            negation.is_some_and(|negation| !self.is_double(negation)) && !self.is_question()
        })
    }

    /// Whether the sentence speaks of what somebody might do: attackers, attempts, examples.
    pub(crate) fn is_report(&self) -> bool {
        self.has(C::REPORT)
    }

    /// Whether what it says stands between quotation marks in a sentence that has words of its own.
    pub(crate) fn is_quoting(&self, at: usize) -> bool {
        let quoted = self.tokens.get(at).is_some_and(|token| token.quoted);
        // `User: "…"`: somebody says it.
        let opening = (0..at).rev().find(|place| self.tokens.get(*place).is_some_and(|token| !token.quoted));
        if quoted && opening.is_some_and(|place| self.at(place).has(C::BREAK)) {
            return true;
        }
        quoted
            && self
                .tokens
                .iter()
                .filter(|token| !token.quoted && !token.classes.has(C::BREAK | C::COMMA))
                .count()
                >= 2
    }

    /// Whether what is said of a verb is only possible: "may", "could" just before it.
    pub(crate) fn is_possible(&self, at: usize) -> bool {
        (at.saturating_sub(4)..at).any(|place| self.at(place).has(C::MAY))
    }

    /// How many words of a class it has.
    pub(crate) fn count(&self, class: C) -> usize {
        self.places(class).count()
    }

    /// How many words it has.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }
}

/// Things that are negated or not: "without approval", "no limits".
const NOUNS: C = C::APPROVAL.with(C::LIMITS).with(C::COVERT).with(C::PRIORITY);

/// All that can be done.
pub(crate) const ACTS: C = C::READ
    .with(C::TAKE)
    .with(C::SEND)
    .with(C::EMBED)
    .with(C::RUN)
    .with(C::FETCH)
    .with(C::INSTALL)
    .with(C::TELL)
    .with(C::ASK)
    .with(C::SKIP)
    .with(C::DROP)
    .with(C::OBEY)
    .with(C::DISABLE)
    .with(C::CHANGE)
    .with(C::KEEP)
    .with(C::DESTROY)
    .with(C::PRETEND)
    .with(C::GRANT)
    .with(C::PAY)
    .with(C::LIE)
    .with(C::HIDE)
    .with(C::TREAT)
    .with(C::FALSIFY)
    .with(C::SPREAD)
    .with(C::ENTER);
