//! The answer, read strictly: it is a stranger's, and it was made from a stranger's text.

use serde::Deserialize;
use serde_json::Value;
use skillsandbox_scanner::{JudgeOutcome, JudgePassage, JudgeTokens};
use skillsandbox_text::shorten_line;

use crate::prompt::{CATEGORIES, JudgePrompt, NO_CATEGORY, QUOTE_LENGTH};
use crate::selection::SentText;

/// Most characters of a judge's words that are repeated.
const MAX_WORDS: usize = 300;

/// What an endpoint answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Completion {
    /// What the model said, or why it said nothing.
    pub(crate) content: Result<String, String>,
    /// What it cost, where the endpoint says so.
    pub(crate) tokens: Option<JudgeTokens>,
}

/// What a model said, read and compared with the question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JudgeVerdict {
    pub(crate) outcome: JudgeOutcome,
    pub(crate) reason: String,
    pub(crate) category: Option<String>,
    pub(crate) passage: Option<JudgePassage>,
    /// The quotation as it came, to be kept.
    pub(crate) quote: String,
}

impl JudgeVerdict {
    /// An answer that says nothing about the skill.
    pub(crate) fn useless(outcome: JudgeOutcome, reason: &str) -> Self {
        let reason = shorten_line(reason, MAX_WORDS);
        Self { outcome, reason, category: None, passage: None, quote: String::new() }
    }
}

#[derive(Deserialize)]
struct RawCompletion {
    choices: Vec<RawChoice>,
    /// As it comes: what an answer cost is no reason to refuse it.
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct RawChoice {
    message: RawMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct RawMessage {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

/// The answer that was asked for, and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAnswer {
    nonce: String,
    harmful: bool,
    category: String,
    quote: String,
    reason: String,
}

/// Reads what an endpoint sent; `None` where that is no chat completion.
pub(crate) fn read_completion(body: &[u8]) -> Option<Completion> {
    let raw: RawCompletion = serde_json::from_slice(body).ok()?;
    let [choice] = <[RawChoice; 1]>::try_from(raw.choices).ok()?;
    let count = |key: &str| raw.usage.get(key).and_then(Value::as_u64);
    let tokens = count("prompt_tokens").zip(count("completion_tokens"));
    let tokens = tokens.map(|(prompt, completion)| JudgeTokens { prompt, completion });
    let content = choice.message.content.filter(|content| !content.trim().is_empty());
    let content = content.ok_or_else(|| match (choice.message.refusal, choice.finish_reason) {
        (Some(refusal), _) => format!("it refused to answer: {}", shorten_line(&refusal, MAX_WORDS)),
        (None, Some(why)) => format!("it said nothing (finish reason {})", shorten_line(&why, 40)),
        (None, None) => "it said nothing".to_owned(),
    });
    Some(Completion { content, tokens })
}

/// Compares what a model said with what it was asked.
pub(crate) fn read_answer(content: &str, prompt: &JudgePrompt, texts: &[SentText]) -> JudgeVerdict {
    let unfit = |why: &str| JudgeVerdict::useless(JudgeOutcome::Unfit, why);
    let obeyed = || {
        JudgeVerdict::useless(
            JudgeOutcome::Obeyed,
            "its answer has the word that only a line among the data asked for",
        )
    };
    if has_word(content, &prompt.bait) {
        return obeyed();
    }
    let Ok(answer) = serde_json::from_str::<RawAnswer>(without_fence(content)) else {
        return unfit("its answer is not the one JSON object that was asked for");
    };
    let RawAnswer { nonce, harmful, category, quote, reason } = &answer;
    // Escapes hide a word from a look at the text.
    let fields = [nonce, category, quote, reason];
    if fields.iter().any(|field| has_word(field, &prompt.bait)) {
        return obeyed();
    }
    if fields.iter().any(|field| has_word(field, &prompt.canary)) {
        return unfit("its answer repeats the mark of the data");
    }
    if *nonce != prompt.nonce {
        return unfit("its answer does not have the nonce of the question");
    }
    check_answer(*harmful, category, quote, reason, texts)
}

/// The same for an answer that was kept; its question is over, and what it said has to fit the text still.
pub(crate) fn check_answer(
    harmful: bool,
    category: &str,
    quote: &str,
    reason: &str,
    texts: &[SentText],
) -> JudgeVerdict {
    let unfit = |why: &str| JudgeVerdict::useless(JudgeOutcome::Unfit, why);
    if !CATEGORIES.contains(&category) || harmful == (category == NO_CATEGORY) {
        return unfit("its answer contradicts itself, or names a category that there is not");
    }
    let passage = find_quote(texts, quote);
    if !quote.is_empty() && passage.is_none() {
        return unfit("it quotes a passage that is not in what it was sent");
    }
    let (least, most) = QUOTE_LENGTH;
    if harmful && !(least..=most).contains(&quote.trim().chars().count()) {
        return unfit("it calls the skill harmful and quotes no passage of it");
    }
    let words = if reason.trim().is_empty() { "it gives no reason" } else { reason.trim() };
    JudgeVerdict {
        outcome: if harmful { JudgeOutcome::Harmful } else { JudgeOutcome::NoHarmSeen },
        reason: shorten_line(words, MAX_WORDS),
        category: harmful.then(|| category.to_owned()),
        passage: passage.filter(|_| harmful),
        quote: quote.to_owned(),
    }
}

/// Whether a text has a word in it, in capitals or not.
fn has_word(text: &str, word: &str) -> bool {
    text.to_ascii_lowercase().contains(&word.to_ascii_lowercase())
}

/// What is in a code fence, where all of the answer is one: many models cannot do without, and nothing can hide beside it.
fn without_fence(content: &str) -> &str {
    let content = content.trim();
    let inner = content.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let Some((language, inner)) = inner.and_then(|inner| inner.split_once('\n')) else { return content };
    let is_fence = matches!(language.trim(), "" | "json" | "JSON") && !inner.contains("```");
    if is_fence { inner.trim() } else { content }
}

/// Where a quotation stands, however its spaces and line ends are written.
fn find_quote(texts: &[SentText], quote: &str) -> Option<JudgePassage> {
    let (wanted, _) = collapse(quote);
    let wanted = wanted.trim();
    if wanted.is_empty() {
        return None;
    }
    texts.iter().find_map(|text| {
        let (collapsed, places) = collapse(&text.text);
        let start = *places.get(collapsed.find(wanted)?)?;
        let before = text.text.get(..start)?;
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Some(JudgePassage {
            file: text.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).map_or(0, |line| line.chars().count()) + 1,
            text: wanted.to_owned(),
        })
    })
}

/// A text with one space for each run of white space, and for each byte of it where that stood.
fn collapse(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
                places.push(at);
            }
        } else {
            out.push(c);
            places.extend(std::iter::repeat_n(at, c.len_utf8()));
        }
    }
    (out, places)
}

#[cfg(test)]
mod tests;
