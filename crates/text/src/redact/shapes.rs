//! What secrets look like whose value nobody told us.

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

/// Every beginning, and what it leads to.
fn beginnings() -> impl Iterator<Item = (&'static str, Start)> {
    let shapes = SHAPES.iter().enumerate().map(|(number, shape)| (shape.start, Start::Shape(number)));
    shapes.chain([(PEM, Start::Pem), (JWT, Start::Jwt)])
}

/// The first three bytes of texts, a bit for each by a number that few others share. Made when this is compiled: an automaton for the same
/// takes longer to make than a short run has text for it.
struct StartSet([u64; 1024]);

impl StartSet {
    const NONE: Self = Self([0; 1024]);

    /// Which bit it is.
    const fn number(first: u8, second: u8, third: u8) -> usize {
        (first as usize | (second as usize) << 8) ^ (third as usize) << 4
    }

    #[allow(clippy::indexing_slicing, reason = "an error of the compiler past the end")]
    const fn add(&mut self, first: u8, second: u8, third: u8) {
        let number = Self::number(first, second, third);
        self.0[number >> 6] |= 1 << (number & 63);
    }

    const fn add_start(&mut self, text: &str) {
        if let [first, second, third, ..] = text.as_bytes() {
            self.add(*first, *second, *third);
        }
    }

    const fn of_beginnings() -> Self {
        let mut set = Self::NONE;
        let mut rest = SHAPES;
        while let [shape, others @ ..] = rest {
            set.add_start(shape.start);
            rest = others;
        }
        set.add_start(PEM);
        set.add_start(JWT);
        set
    }

    /// Names in any letter case.
    const fn of_names() -> Self {
        let mut set = Self::NONE;
        let mut rest = AWS_NAMES;
        while let [name, others @ ..] = rest {
            if let [first, second, third, ..] = name.as_bytes() {
                let mut cases = 0;
                while cases < 8 {
                    let (one, two, three) = (cases & 1 != 0, cases & 2 != 0, cases & 4 != 0);
                    set.add(in_case(*first, one), in_case(*second, two), in_case(*third, three));
                    cases += 1;
                }
            }
            rest = others;
        }
        set
    }

    /// The first place from one on where one of them may begin.
    fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        let holds = |three: &[u8]| match three {
            [first, second, third] => {
                let number = Self::number(*first, *second, *third);
                self.0.get(number >> 6).is_some_and(|bits| bits >> (number & 63) & 1 != 0)
            }
            _ => false,
        };
        text.get(from..)?.windows(3).position(holds).map(|at| from + at)
    }
}

/// A letter as a capital, or as it is.
const fn in_case(letter: u8, capital: bool) -> u8 {
    if capital { letter.to_ascii_uppercase() } else { letter }
}

static BEGINNINGS: StartSet = StartSet::of_beginnings();
static NAMES: StartSet = StartSet::of_names();

/// Where something begins, and ends beginning: the longest at the foremost place, and none inside another.
fn starts(text: &[u8]) -> impl Iterator<Item = (usize, usize, Start)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = BEGINNINGS.find(text, from)?;
            let rest = text.get(at..)?;
            let here = beginnings().filter(|(start, _)| rest.starts_with(start.as_bytes()));
            if let Some((start, what)) = here.max_by_key(|(start, _)| start.len()) {
                from = at + start.len();
                return Some((at, from, what));
            }
            from = at + 1;
        }
    })
}

/// Where the names of AWS's keys end, in any letter case.
fn name_ends(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = NAMES.find(text, from)?;
            let ends = |name: &&str| {
                let there = text.get(at..at + name.len())?;
                there.eq_ignore_ascii_case(name.as_bytes()).then_some(at + name.len())
            };
            if let Some(end) = AWS_NAMES.iter().find_map(ends) {
                from = end;
                return Some(end);
            }
            from = at + 1;
        }
    })
}

/// Finds what has a known shape. Linear: what was once taken is not looked at again.
pub(super) fn find(text: &[u8], found: &mut Vec<SecretSpan>) {
    let mut done = 0;
    for (start, after, what) in starts(text) {
        if start < done {
            continue;
        }
        let span = match what {
            Start::Shape(index) => SHAPES.get(index).and_then(|shape| shape.at(text, start, after)),
            Start::Pem => pem(text, start, after),
            Start::Jwt => jwt(text, start),
        };
        if let Some(span) = span {
            done = span.end;
            found.push(span);
        }
    }
    for end in name_ends(text) {
        found.extend(aws_secret(text, end));
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
    let end = match position(rest, END) {
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

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
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

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use aho_corasick::{AhoCorasick, MatchKind};
    use proptest::prelude::*;

    use super::*;

    static STARTS_ORACLE: LazyLock<AhoCorasick> = LazyLock::new(|| {
        let words = beginnings().map(|(start, _)| start);
        AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words).unwrap()
    });
    static NAMES_ORACLE: LazyLock<AhoCorasick> =
        LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(AWS_NAMES).unwrap());

    /// An automaton finds the same.
    fn check(text: &[u8]) {
        let expected: Vec<_> = STARTS_ORACLE.find_iter(text).map(|hit| (hit.start(), hit.end())).collect();
        let found: Vec<_> = starts(text).map(|(start, end, _)| (start, end)).collect();
        assert_eq!(found, expected, "{}", text.escape_ascii());
        let expected: Vec<_> = NAMES_ORACLE.find_iter(text).map(|hit| hit.end()).collect();
        assert_eq!(name_ends(text).collect::<Vec<_>>(), expected, "{}", text.escape_ascii());
    }

    #[test]
    fn every_beginning_and_every_name_is_found_alone() {
        for (start, _) in beginnings() {
            assert!(start.len() > 2, "{start} is too short");
            check(start.as_bytes());
        }
        for name in AWS_NAMES {
            check(name.as_bytes());
            check(name.to_uppercase().as_bytes());
        }
        [&b""[..], b"s", b"k", b"-", b"aw"].into_iter().for_each(check);
    }

    proptest! {
        #[test]
        fn beginnings_and_names_are_where_an_automaton_finds_them(
            pieces in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(beginnings().map(|(start, _)| start).collect::<Vec<_>>()),
                    proptest::sample::select(AWS_NAMES.to_vec()),
                    proptest::sample::select(vec!["aws", "AWS_", "Secret", "key", "sk", "-", "_", "gh", "x", "e", "----", "so"]),
                ],
                0..12,
            ),
            cut in 0_usize..6,
        ) {
            let text = pieces.concat();
            check(text.as_bytes());
            // The beginnings of beginnings, one behind the other.
            check(pieces.iter().flat_map(|piece| piece.bytes().take(cut)).collect::<Vec<_>>().as_slice());
        }

        #[test]
        fn the_same_of_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            check(&bytes);
        }
    }
}
