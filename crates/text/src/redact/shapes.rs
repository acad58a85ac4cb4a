//! What secrets look like whose value nobody told us.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{Label, SecretSpan};

/// How a kind of secret looks: a beginning, and so many letters of a set.
#[derive(Clone, Copy)]
struct Shape {
    kind: &'static str,
    /// How it begins.
    start: &'static str,
    /// What it goes on with.
    letters: fn(u8) -> bool,
    least: usize,
    most: usize,
    /// Whether it may not stand in the middle of a word, as `sk-` does in `task-list`.
    apart: bool,
    /// Whether it must look random: digits, capital and small letters.
    mixed: bool,
}

const fn shape(
    kind: &'static str,
    start: &'static str,
    letters: fn(u8) -> bool,
    least: usize,
    most: usize,
) -> Shape {
    Shape { kind, start, letters, least, most, apart: false, mixed: false }
}

const fn apart(shape: Shape) -> Shape {
    Shape { apart: true, ..shape }
}

const fn mixed(shape: Shape) -> Shape {
    Shape { apart: true, mixed: true, ..shape }
}

const ANY: usize = usize::MAX;

/// By what their makers say of them. A beginning that begins another stands after it: the longest is tried first.
const SHAPES: &[Shape] = &[
    apart(shape("aws_access_key_id", "AKIA", is_capital, 16, 16)),
    apart(shape("aws_access_key_id", "ASIA", is_capital, 16, 16)),
    shape("github_token", "ghp_", is_word, 36, ANY),
    shape("github_token", "gho_", is_word, 36, ANY),
    shape("github_token", "ghu_", is_word, 36, ANY),
    shape("github_token", "ghs_", is_word, 36, ANY),
    shape("github_token", "ghr_", is_word, 36, ANY),
    shape("github_token", "github_pat_", is_word_, 22, ANY),
    apart(shape("gitlab_token", "glpat-", is_url, 20, ANY)),
    apart(shape("anthropic_key", "sk-ant-", is_url, 20, ANY)),
    apart(shape("openai_key", "sk-proj-", is_url, 20, ANY)),
    apart(shape("openai_key", "sk-svcacct-", is_url, 20, ANY)),
    apart(shape("openai_key", "sk-admin-", is_url, 20, ANY)),
    mixed(shape("openai_key", "sk-", is_url, 32, ANY)),
    apart(shape("stripe_key", "sk_live_", is_word, 16, ANY)),
    apart(shape("stripe_key", "rk_live_", is_word, 16, ANY)),
    apart(shape("stripe_key", "sk_test_", is_word, 16, ANY)),
    apart(shape("stripe_key", "rk_test_", is_word, 16, ANY)),
    mixed(shape("stripe_key", "whsec_", is_word, 24, ANY)),
    apart(shape("slack_token", "xoxb-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxp-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxa-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxr-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxs-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxe-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxe.", is_slack, 20, ANY)),
    apart(shape("slack_token", "xoxc-", is_dashed, 20, ANY)),
    apart(shape("slack_token", "xoxd-", is_slack, 20, ANY)),
    apart(shape("slack_token", "xapp-", is_dashed, 20, ANY)),
    shape("slack_webhook", "hooks.slack.com/services/", is_slack, 24, ANY),
    apart(shape("google_api_key", "AIza", is_url, 35, 35)),
    apart(shape("google_token", "ya29.", is_url, 20, ANY)),
    apart(shape("npm_token", "npm_", is_word, 36, ANY)),
    apart(shape("pypi_token", "pypi-AgE", is_url, 50, ANY)),
    mixed(shape("huggingface_token", "hf_", is_word, 30, ANY)),
    apart(shape("docker_token", "dckr_pat_", is_url, 20, ANY)),
    apart(shape("digitalocean_token", "dop_v1_", is_word, 64, 64)),
    apart(shape("sendgrid_key", "SG.", is_dotted, 60, ANY)),
];

/// What stands before the secret part of a key of AWS: the part itself looks like any hash.
const AWS_NAMES: &[&str] =
    &["aws_secret_access_key", "awssecretaccesskey", "secretaccesskey", "aws_secret_key"];

const PEM: &str = "-----BEGIN ";
const PEM_LABEL: &[u8] = b"PRIVATE KEY";
const END: &[u8] = b"-----END ";
const JWT: &str = "eyJ";

/// What a beginning leads to.
#[derive(Debug, Clone, Copy)]
enum Start {
    Shape(usize),
    Pem,
    Jwt,
}

/// Looks for shapes.
#[derive(Debug)]
pub(super) struct Shapes {
    starts: AhoCorasick,
    names: AhoCorasick,
    what: Vec<Start>,
}

impl Shapes {
    /// The one search for all of them: they are the same for everybody, and it takes longer to make than to look through a line.
    pub(super) fn shared() -> Result<&'static Self, aho_corasick::BuildError> {
        static SHARED: OnceLock<Shapes> = OnceLock::new();
        if let Some(made) = SHARED.get() {
            return Ok(made);
        }
        let made = Self::new()?;
        Ok(SHARED.get_or_init(|| made))
    }

    fn new() -> Result<Self, aho_corasick::BuildError> {
        let texts = SHAPES.iter().map(|shape| shape.start).chain([PEM, JWT]);
        let what = (0..SHAPES.len()).map(Start::Shape).chain([Start::Pem, Start::Jwt]).collect();
        Ok(Self {
            starts: AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts)?,
            names: AhoCorasick::builder().ascii_case_insensitive(true).build(AWS_NAMES)?,
            what,
        })
    }

    /// Finds what has a known shape. Linear: what was once taken is not looked at again.
    pub(super) fn find(&self, text: &[u8], found: &mut Vec<SecretSpan>) {
        let mut done = 0;
        for hit in self.starts.find_iter(text) {
            if hit.start() < done {
                continue;
            }
            let Some(what) = self.what.get(hit.pattern().as_usize()) else { continue };
            let span = match what {
                Start::Shape(index) => {
                    SHAPES.get(*index).and_then(|shape| shape.at(text, hit.start(), hit.end()))
                }
                Start::Pem => pem(text, hit.start(), hit.end()),
                Start::Jwt => jwt(text, hit.start()),
            };
            if let Some(span) = span {
                done = span.end;
                found.push(span);
            }
        }
        for hit in self.names.find_iter(text) {
            found.extend(aws_secret(text, hit.end()));
        }
    }
}

impl Shape {
    fn at(&self, text: &[u8], start: usize, after: usize) -> Option<SecretSpan> {
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        if self.apart && before.is_some_and(|byte| is_url(*byte)) {
            return None;
        }
        let length = run(text, after, self.letters);
        if length < self.least || length > self.most {
            return None;
        }
        let rest = text.get(after..after + length)?;
        let has = |kind: fn(&u8) -> bool| rest.iter().any(kind);
        if self.mixed
            && !(has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
        {
            return None;
        }
        Some(SecretSpan { start, end: after + length, label: Label::Shape(self.kind) })
    }
}

/// A private key, to its last line or to the end.
fn pem(text: &[u8], start: usize, after: usize) -> Option<SecretSpan> {
    let rest = text.get(after..)?;
    let label = rest.iter().take(40).position(|byte| *byte == b'-')?;
    if !rest.get(..label)?.ends_with(PEM_LABEL) && !rest.get(..label)?.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    let end = match find(rest, END) {
        None => text.len(),
        Some(at) => {
            let last = after + at + END.len();
            let label = run(text, last, |byte| byte.is_ascii_uppercase() || byte == b' ');
            last + label + run(text, last + label, |byte| byte == b'-').min(5)
        }
    };
    Some(SecretSpan { start, end, label: Label::Shape("private_key") })
}

/// Three parts in base64, of which the first begins as a JSON object does.
fn jwt(text: &[u8], start: usize) -> Option<SecretSpan> {
    let before = start.checked_sub(1).and_then(|at| text.get(at));
    if before.is_some_and(|byte| is_url(*byte) || *byte == b'.') {
        return None;
    }
    let header = run(text, start, is_url);
    let second = start + header + 1;
    let payload = run(text, second, is_url);
    let third = second + payload + 1;
    let dots = text.get(start + header) == Some(&b'.') && text.get(second + payload) == Some(&b'.');
    let is_one = dots && header >= 10 && payload >= 10 && text.get(second..)?.starts_with(JWT.as_bytes());
    // One that is encrypted has five parts; all of them are taken.
    let end = third + run(text, third, |byte| is_url(byte) || byte == b'.');
    is_one.then_some(SecretSpan { start, end, label: Label::Shape("jwt") })
}

/// Forty letters after their name, with a few signs between.
fn aws_secret(text: &[u8], after: usize) -> Option<SecretSpan> {
    let between = run(text, after, |byte| b" \t\"'=:,>\\".contains(&byte));
    let start = after + between;
    let length = run(text, start, |byte| byte.is_ascii_alphanumeric() || byte == b'/' || byte == b'+');
    let is_one = (1..=16).contains(&between) && length == 40;
    is_one.then_some(SecretSpan { start, end: start + length, label: Label::Shape("aws_secret_access_key") })
}

fn run(text: &[u8], from: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().position(|byte| !is(*byte)).unwrap_or(rest.len())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn is_capital(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_word_(byte: u8) -> bool {
    is_word(byte) || byte == b'_'
}

fn is_url(byte: u8) -> bool {
    is_word_(byte) || byte == b'-'
}

fn is_dashed(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_dotted(byte: u8) -> bool {
    is_url(byte) || byte == b'.'
}

fn is_slack(byte: u8) -> bool {
    is_url(byte) || b"/%+=".contains(&byte)
}
