//! The `scan.judge` section of a user's policy: who is asked for a second opinion. Only a policy has it; a skill cannot.

use std::fmt;
use std::time::Duration;

use crate::diagnostic::{Code, DiagnosticSink, Fault, Spanned, quoted};
use crate::raw;
use crate::scan_policy::not_empty;

/// Fewest and most bytes of a skill that may be sent: a short document, and what few models can read at once.
const MAX_BYTES: (u64, u64) = (1 << 10, 1 << 20);
/// Fewest and most seconds that an answer may take.
const SECONDS: (u64, u64) = (1, 600);

/// What a policy says about a second opinion. What is `None` is left to the defaults of whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JudgePolicy {
    /// Where it is asked: the base of an OpenAI-compatible endpoint.
    pub url: Option<String>,
    /// The model, as the endpoint calls it.
    pub model: Option<String>,
    /// The environment variable that holds the key for this endpoint, and for no other.
    pub key_env: Option<String>,
    /// Most bytes of a skill that are sent.
    pub max_bytes: Option<u64>,
    /// How long one answer may take.
    pub timeout: Option<Duration>,
    /// Whether what it calls harmful is BLOCKED.
    pub may_block: bool,
    /// Whether skills and the key may go to another machine without encryption.
    pub dangerously_plain_http: bool,
}

impl JudgePolicy {
    /// The checked form of what is written.
    pub(crate) fn lower(raw: &raw::JudgePolicy, sink: &mut DiagnosticSink) -> Self {
        let mut text =
            |written: &Option<Spanned<String>>, key: &str, check: fn(&str) -> Result<String, Fault>| {
                let path = format_args!("scan.judge.{key}").to_string();
                let checked = sink.check(written.as_ref()?, format_args!("{path}"), |text| check(text));
                checked.map(|text| text.value)
            };
        let url = text(&raw.url, "url", address);
        let model = text(&raw.model, "model", |text| not_empty("model", text));
        let key_env = text(&raw.key_env, "key_env", variable);
        let mut number = |written: &Option<Spanned<u64>>, path: fmt::Arguments<'_>, bounds: (u64, u64)| {
            sink.check(written.as_ref()?, path, |number| within(*number, bounds)).map(|number| number.value)
        };
        let max_bytes = number(&raw.max_bytes, format_args!("scan.judge.max_bytes"), MAX_BYTES);
        let seconds = number(&raw.timeout_seconds, format_args!("scan.judge.timeout_seconds"), SECONDS);
        let is_set = |written: &Option<Spanned<bool>>| written.as_ref().is_some_and(|flag| flag.value);
        Self {
            url,
            model,
            key_env,
            max_bytes,
            timeout: seconds.map(Duration::from_secs),
            may_block: is_set(&raw.may_block),
            dangerously_plain_http: is_set(&raw.dangerously_plain_http),
        }
    }
}

/// A number within bounds.
fn within(number: u64, (least, most): (u64, u64)) -> Result<u64, Fault> {
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(Fault::new(Code::OutOfRange, format!("the number must be {least} to {most}")))
}

/// An address that a request can go to, with nothing secret in it. Whoever asks looks at it more closely.
fn address(text: &str) -> Result<String, Fault> {
    let text = not_empty("address", text)?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if rest.is_none_or(|rest| {
        rest.is_empty() || rest.contains(['@', '?', '#']) || rest.contains(char::is_whitespace)
    }) {
        let fault =
            Fault::new(Code::UnknownValue, format!("{} is not the address of a judge", quoted(&text)));
        return Err(fault.help(
            "write it as https://host/v1, without a name, a password or a key in it; `key_env` names the variable with the key",
        ));
    }
    Ok(text)
}

/// The name of an environment variable. Not a key itself: those have other characters, as a rule, and are longer.
fn variable(text: &str) -> Result<String, Fault> {
    let mut characters = text.chars();
    let starts = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if starts && text.len() <= 128 && characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(text.to_owned());
    }
    // What was written may be the key: it is not repeated.
    let fault = Fault::new(Code::UnknownValue, "this is not the name of an environment variable");
    Err(fault.help("write the name of the variable that holds the key, such as JUDGE_API_KEY; never the key"))
}
